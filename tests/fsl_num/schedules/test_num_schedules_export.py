"""Exports of schedules: equal at every step, or refused; what is written gives the same rates, run or read."""

import math
import re
import shlex
import tomllib

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from notebook_views import as_html

from fsl_num.schedules import SCHEDULES, Discrete, schedule, step_rates
from fsl_num.schedules.export import EXPORTS, ExportError, export
from fsl_num.schedules.frameworks import FRAMEWORKS, from_framework, written
from fsl_num.schedules.frameworks.arguments import EXACT, matches, tidy
from fsl_num.schedules.recognise import recognised
from fsl_num.schedules.source import closed_form, knots, number, source

PEAK, STEPS = 3e-3, 997
OTHERS = sorted(set(EXPORTS) - {"torch", "optax"})
EQUAL = EXACT * PEAK


def run(text):
    """The functions of a file for torch."""
    space = {}
    exec(compile(text, "schedule.py", "exec"), space)
    return space


COMPOSED = {
    name: parameters
    for plan in SCHEDULES
    for name, parameters in (
        (f"{plan}", {}),
        (f"{plan} with warmup", {"warmup": 91}),
        (f"{plan} with warmup and floor", {"warmup": 91, "floor": 0.2 * PEAK}),
    )
}


@pytest.mark.parametrize("case", COMPOSED)
def test_every_schedule_becomes_a_function_for_torch_with_its_rates(case):
    name, parameters = case.partition(" with")[0], COMPOSED[case]
    rates = step_rates(name, peak=PEAK, steps=STEPS, **parameters)
    made = export(name, "torch", peak=PEAK, steps=STEPS, **parameters)
    space = run(made.text)
    assert np.abs([space["learning_rate"](step) for step in range(STEPS)] - rates).max() <= EQUAL
    assert np.abs([space["multiplier"](step) * rates.max() for step in range(STEPS)] - rates).max() <= EQUAL
    assert space["learning_rate"](STEPS + 5) == pytest.approx(rates[-1], rel=1e-12, abs=EQUAL)
    assert [made.learning_rate(step) for step in range(STEPS)] == rates.tolist()
    assert made.learning_rate(np.arange(STEPS + 3))[:-3].tolist() == rates.tolist()
    assert "KNOTS" not in made.text  # every named schedule has a closed form


def test_the_rate_of_an_update_is_asked_for_by_number_list_or_array():
    made = export([0.3, 0.2, 0.1], "torch")
    for steps in ([-1, 0, 1.9, 7], (-1, 0, 1, 7), np.array([-1.0, 0.5, 1.0, 7.0])):
        assert made.learning_rate(steps).tolist() == [0.3, 0.3, 0.2, 0.1]
        assert made.multiplier(steps).tolist() == pytest.approx([1, 1, 2 / 3, 1 / 3])
    assert (made.learning_rate(2), made.learning_rate(np.int64(2)), made.learning_rate(1.5)) == (0.1, 0.1, 0.2)
    with pytest.raises(ValueError, match="step must be finite numbers, got nan"):
        made.learning_rate(float("nan"))
    with pytest.raises(TypeError, match="step must be real numbers, got str"):
        made.learning_rate("3")


NAMED = {
    "constant": {},
    "linear": {"final": 0.1 * PEAK},
    "cosine": {"final": 0.05 * PEAK},
    "wsd": {"decay_fraction": 0.25, "final": 0.03 * PEAK},
    "exp-decay": {"final": 0.01 * PEAK},
    "1-sqrt": {"decay_fraction": 0.5},
    "power-decay": {"power": 2.5},
    "power-decay, a third": {"power": 1.7, "decay_fraction": 0.33, "final": 0.02 * PEAK},
    "linear, a fifth": {"decay_fraction": 0.2, "final": 0.1 * PEAK},
    "cosine, a half": {"decay_fraction": 0.5},
    "1-sqrt to a tenth": {"decay_fraction": 0.2, "final": 0.1 * PEAK},
    "inverse-sqrt": {"timescale": 70},
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("warmup", [0, 100])
def test_bare_rates_of_a_named_schedule_are_recognised(name, warmup):
    rates = step_rates(name.split(",")[0].split(" ")[0], peak=PEAK, steps=1100, warmup=warmup, **NAMED[name])
    found = recognised(rates)
    assert np.abs(step_rates(found) - rates).max() <= EQUAL
    made = export(rates, "torch")
    assert "KNOTS" not in made.text
    space = run(made.text)
    assert np.abs([space["learning_rate"](step) for step in range(1100)] - rates).max() <= EQUAL
    wrong = rates.copy()
    wrong[900] += 3e-12 * PEAK
    assert recognised(wrong) is None and "KNOTS" in export(wrong, "torch").text


def test_what_a_framework_shares_with_the_catalogue_is_recognised_and_no_more():
    cosine = from_framework("hf:cosine(num_warmup_steps=100)", peak=PEAK, steps=STEPS)
    assert np.abs(step_rates("cosine", peak=PEAK, steps=STEPS, warmup=100) - cosine).max() <= EQUAL
    assert recognised(cosine) is not None
    assert recognised(from_framework("olmo:CosWithWarmup(warmup=100)", peak=PEAK, steps=STEPS)) is None
    assert recognised(np.array([0.1])).peak == 0.1


def test_rates_by_themselves_become_a_table_of_straight_segments():
    bends = np.interp(np.arange(400.0), [0, 50, 51, 300, 399], [0.0, 0.1, 0.07, 0.07, 0.01])
    text = export(bends, "torch").text
    assert "KNOTS = [0, 50, 51, 300, 399]" in text
    space = run(text)
    assert np.abs([space["learning_rate"](step) for step in range(400)] - bends).max() <= EXACT * 0.1


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40).filter(any))
@examples(100)
def test_any_rates_survive_the_table(rates):
    given_rates = np.array(rates)
    space = run(export(given_rates, "torch").text)
    found = np.array([space["learning_rate"](step) for step in range(len(rates))])
    assert np.abs(found - given_rates).max() <= EXACT * given_rates.max()


OURS = {
    # schedule, parameters -> the frameworks whose own schedulers give the same rates
    ("constant", ()): {"transformers", "megatron", "torchtitan", "olmo", "maxtext", "nanotron"},
    # a straight line reaches a floor at its last step as well as 0 behind it
    ("linear", ()): {"transformers", "megatron", "torchtitan", "olmo", "maxtext", "nanotron"},
    ("linear", ("warmup",)): {"transformers", "megatron", "maxtext", "nanotron"},
    ("cosine", ("warmup",)): {"transformers", "megatron", "nanotron"},
    ("cosine", ("warmup", "final")): {"transformers", "megatron", "nanotron"},
    ("1-sqrt", ("warmup",)): {"transformers", "megatron", "nanotron"},
    ("1-sqrt", ()): {"transformers", "megatron", "torchtitan", "nanotron"},
    ("power-decay", ("warmup", "power")): {"transformers"},
    ("inverse-sqrt", ("warmup",)): {"transformers"},
    ("wsd", ()): set(),
    ("exp-decay", ("warmup",)): set(),
    ("8-1-1", ()): set(),
}
VALUES = {"warmup": 100, "final": 0.1 * PEAK, "power": 2.5}


@pytest.mark.parametrize("case", OURS, ids=str)
def test_a_framework_gets_arguments_exactly_where_its_own_scheduler_has_our_rates(case):
    name, chosen = case
    parameters = {key: VALUES[key] for key in chosen}
    rates = step_rates(name, peak=PEAK, steps=1100, **parameters)
    taken = set()
    for framework in OTHERS:
        try:
            made = export(name, framework, peak=PEAK, steps=1100, **parameters)
        except ExportError as error:
            assert "torch" in str(error) and "off by up to" in str(error)
            continue
        taken.add(framework)
        assert np.abs(schedule(made.name, peak=PEAK, steps=1100).rates - rates).max() <= EQUAL
        again = export(rates, framework)  # of the bare rates: the same arguments
        assert again.name == made.name
    assert taken == OURS[case]


ROUND = {
    "hf:linear(num_warmup_steps=40)": "transformers",
    "hf:warmup_stable_decay(num_warmup_steps=40, num_decay_steps=300, decay_type='1-sqrt', min_lr_ratio=0.1)":
        "transformers",
    "hf:warmup_stable_decay(num_warmup_steps=0, num_decay_steps=300)": "transformers",
    "hf:cosine_with_min_lr(num_warmup_steps=40, min_lr_rate=0.25)": "transformers",
    "hf:polynomial(num_warmup_steps=40)": "transformers",
    "hf:inverse_sqrt(num_warmup_steps=40)": "transformers",
    "megatron:WSD(lr_warmup_iters=40, lr_wsd_decay_iters=300, min_lr=0.0003)": "megatron",
    "megatron:WSD(lr_warmup_iters=40, lr_wsd_decay_iters=300, lr_wsd_decay_style='cosine')": "megatron",
    "megatron:cosine(lr_warmup_iters=40, min_lr=0.0003)": "megatron",
    "megatron:inverse-square-root(lr_warmup_iters=40)": "megatron",
    "torchtitan:lr_scheduler(warmup_steps=40, decay_ratio=0.3, decay_type='sqrt', min_lr_factor=0.1)": "torchtitan",
    "torchtitan:lr_scheduler(warmup_steps=40)": "torchtitan",
    "olmo:WSD(warmup=40, decay=300, decay_fraction=None, decay_min_lr=0.0003)": "olmo",
    "olmo:WSD(warmup_fraction=0.1, decay_fraction=0.2)": "olmo",
    "olmo:CosWithWarmup(warmup=40, alpha_f=0.1)": "olmo",
    "olmo:HalfCosWithWarmup(warmup=40, alpha_f=0.1)": "olmo",
    "olmo:CosWithWarmupAndLinearDecay(warmup=40)": "olmo",
    "olmo:CosWithWarmupAndLinearDecay(warmup=40, alpha_f=0.2, decay=300, decay_fraction=None, decay_min_lr=0.0001)":
        "olmo",
    "olmo:PowerLR(warmup=40, b=-0.3)": "olmo",
    "olmo:ConstantScheduler": "olmo",
    "olmo:LinearWithWarmup(warmup=40, alpha_f=0.0)": "olmo",
    "nanotron:lr_scheduler(lr_warmup_steps=40, lr_decay_starting_step=600, lr_decay_steps=397, min_decay_lr=0.0001)":
        "nanotron",
    "maxtext:wsd(warmup_steps_fraction=0.1, wsd_decay_steps_fraction=0.3, wsd_decay_style='cosine')": "maxtext",
    "maxtext:cosine()": "maxtext",
}  # fmt: skip


@pytest.mark.parametrize("name", ROUND)
def test_rates_of_a_framework_are_recognised_as_its_own(name):
    rates = from_framework(name, peak=PEAK, steps=STEPS)
    found = export(rates, ROUND[name])
    assert np.abs(schedule(found.name, peak=PEAK, steps=STEPS).rates - rates).max() <= EQUAL
    assert found.name.partition("(")[0] == name.partition("(")[0].replace("hf:", "transformers:")
    assert repr(PEAK) in found.text  # the base rate, of which the largest one may be a part
    named = export(name, ROUND[name], peak=PEAK, steps=STEPS)  # under its name the arguments stay as they are
    assert from_framework(named.name, peak=PEAK, steps=STEPS).tolist() == rates.tolist()


def test_a_change_of_one_rate_by_more_than_the_bound_is_noticed():
    rates = step_rates("cosine", peak=PEAK, steps=STEPS, warmup=100)
    wrong = rates.copy()
    wrong[700] += 3e-12 * PEAK
    assert export(rates, "megatron").name.startswith("megatron:cosine")
    with pytest.raises(ExportError, match=r"update 700\)"):
        export(wrong, "megatron")


def test_the_refusal_names_what_to_train_with_instead():
    with pytest.raises(ExportError, match="olmo:WSD") as refusal:
        export("1-sqrt", "olmo", peak=PEAK, steps=1000, warmup=100)
    assert "torch (a function for LambdaLR)" in str(refusal.value)
    closest = next(matches(FRAMEWORKS["torchtitan"], step_rates("linear", peak=1.0, steps=100, warmup=10), 1.0))
    # it begins at 1/11 of the peak where the schedule begins at 0
    assert not closest.exact and (closest.step, closest.off) == (0, pytest.approx(1 / 11))
    with pytest.raises(ExportError, match=r"train with that one, which fsl schedule (.*) writes") as near:
        export("linear", "torchtitan", peak=1.0, steps=100, warmup=10)
    name, *options = shlex.split(re.search(r"fsl schedule (.*) writes", str(near.value))[1])
    assert options == ["--peak-lr", "1", "--steps", "100", "--export", "torchtitan"]
    rates = schedule(name, peak=1.0, steps=100).rates
    assert np.abs(rates - step_rates("linear", peak=1.0, steps=100, warmup=10)).max() == pytest.approx(1 / 11)


def test_what_is_written_is_what_the_framework_reads():
    flags = export("1-sqrt", "megatron", peak=PEAK, steps=1000, warmup=100, decay_fraction=0.5).text
    words = flags.replace("\\\n", " ").split()
    options = dict(zip(words[::2], words[1::2], strict=True))
    assert options["--lr-decay-style"] == "WSD" and options["--lr-wsd-decay-iters"] == "450"
    assert options["--lr-warmup-iters"] == "100" and options["--train-iters"] == "1000" == options["--lr-decay-iters"]
    text = export("torchtitan:lr_scheduler(warmup_steps=10, decay_ratio=0.5)", "torchtitan", peak=PEAK, steps=100).text
    assert tomllib.loads(text) == {
        "optimizer": {"lr": PEAK},
        "training": {"steps": 100},
        "lr_scheduler": {"warmup_steps": 10, "decay_ratio": 0.5},
    }
    called = run("from types import SimpleNamespace as TrainingArguments\narguments = " + export(
        "1-sqrt", "transformers", peak=PEAK, steps=1000, warmup=100, decay_fraction=0.5).text)["arguments"]  # fmt: skip
    assert called.lr_scheduler_type == "warmup_stable_decay" and called.warmup_steps == 100
    assert called.lr_scheduler_kwargs["num_decay_steps"] == 450


def test_an_export_shows_what_is_to_be_pasted():
    """Printed, and in a notebook, where < must not begin a tag; its own line names the scheduler."""
    torch, hf = export("wsd", "torch", peak=1.0, steps=10), export("cosine", "transformers", peak=1.0, steps=10)
    assert str(torch) == torch.text and str(hf) == hf.text
    assert repr(torch) == "Export(torch: a function of 10 steps)" and repr(hf) == f"Export(transformers: {hf.name})"
    assert as_html(torch) == f"<pre>{torch.text.replace('<', '&lt;').replace('>', '&gt;')}</pre>"


def test_what_cannot_be_exported_is_refused():
    with pytest.raises(ValueError, match="there is no export to 'tensorflow'"):
        export("linear", "tensorflow", peak=PEAK, steps=10)
    with pytest.raises(ValueError, match="unknown schedule"):
        export("zigzag", "torch", peak=PEAK, steps=10)


def test_a_lambda_lr_steps_through_these_rates():
    torch = pytest.importorskip("torch")
    rates = step_rates("wsd", peak=PEAK, steps=STEPS, warmup=50)
    made = export("wsd", "torch", peak=PEAK, steps=STEPS, warmup=50)
    for multiplier in (made.multiplier, run(made.text)["multiplier"]):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, multiplier)
        for rate in rates:
            assert abs(optimizer.param_groups[0]["lr"] - rate) <= EQUAL
            optimizer.step()
            scheduler.step()


@pytest.mark.parametrize("name", ["1-sqrt", "constant", "8-1-1", "hf:linear(num_warmup_steps=50)"])
def test_jax_traces_the_schedule(name):
    jax, optax = pytest.importorskip("jax"), pytest.importorskip("optax")
    with jax.enable_x64(True):
        rates = step_rates(name, peak=PEAK, steps=STEPS)
        made = export(name, "optax", peak=PEAK, steps=STEPS)
        for learning_rate in (made.learning_rate, run(made.text)["learning_rate"]):
            found = jax.jit(jax.vmap(learning_rate))(jax.numpy.arange(STEPS))
            assert float(np.abs(np.asarray(found) - rates).max()) <= EQUAL
            joined = optax.join_schedules([learning_rate, optax.constant_schedule(0.5)], [STEPS])
            assert abs(float(joined(3)) - rates[3]) <= EQUAL and float(joined(STEPS)) == 0.5


def test_transformers_takes_what_is_written():
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    made = export("1-sqrt", "transformers", peak=PEAK, steps=1000, warmup=100)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK)
    own = {key: value for key, value in made.arguments.items() if key != "num_warmup_steps"}
    kind = made.name.partition(":")[2].partition("(")[0]
    scheduler = transformers.get_scheduler(kind, optimizer, 100, 1000, scheduler_specific_kwargs=own)
    for rate in made.rates:
        assert abs(optimizer.param_groups[0]["lr"] - rate) <= EQUAL
        optimizer.step()
        scheduler.step()


def test_the_pieces():
    assert number(2e20) == "2e+20" and number(math.pi) == repr(math.pi)
    assert tidy(1.0 - 0.9) == 0.1
    assert knots(np.array([1.0])).tolist() == [0]
    assert closed_form(Discrete(rates=[0.1, 0.2])) is None
    assert "jnp" not in source(Discrete(rates=[0.1, 0.2]), np.array([0.1, 0.2]))
    assert written("olmo", "WSD", {}) == "olmo:WSD"


@pytest.mark.parametrize("title", ['a """ b', "C:\\new\\users", "two\nlines", 'ends with a quote"', "ends with \\"])
def test_whatever_the_title_the_file_is_a_program_that_says_it(title):
    space = {}
    exec(export([0.1, 0.05], "torch", title=title).text, space)
    assert " ".join(title.split()) in space["__doc__"]
    assert space["learning_rate"](1) == 0.05
