"""Schedules in the words of training frameworks: read safely, and equal to the frameworks themselves at every step.

Where a framework is installed its own scheduler is asked; the values by hand hold without.
"""

import math

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.schedules import as_schedule, parameters_of, schedule, step_rates
from fsl_num.schedules.frameworks import FRAMEWORKS, called, from_framework, read, written
from fsl_num.schedules.frameworks.base import SHAPES, Scheduler, shape, three_phases
from fsl_num.schedules.frameworks.names import Call

PEAK, STEPS = 3e-4, 173
EXACT = 1e-12 * PEAK  # of the peak; both sides evaluate one formula in double precision
ROUNDED = 1e-10 * PEAK  # torch multiplies a cosine up step by step, and its rounding grows with the steps

BY_HAND = {
    # the first update at rate 0, the last one a step before the end
    "hf:linear(num_warmup_steps=2)": [0.0, 0.5, 1.0, 0.75, 0.5, 0.25],
    "hf:constant_with_warmup(num_warmup_steps=2)": [0.0, 0.5, 1.0, 1.0, 1.0, 1.0],
    # its warmup begins at the floor
    "hf:warmup_stable_decay(num_warmup_steps=2, num_decay_steps=2, decay_type='linear', min_lr_ratio=0.5)": [
        0.5, 0.75, 1.0, 1.0, 1.0, 0.75],
    "megatron:WSD(lr_wsd_decay_iters=2, lr_warmup_iters=2, lr_wsd_decay_style='minus_sqrt')": [
        0.0, 0.5, 1.0, 1.0, 1.0, 1.0 - math.sqrt(0.5)],
    "megatron:WSD(lr_wsd_decay_iters=2)": [1.0, 1.0, 1.0, 1.0, 1.0, 2.0 * math.sqrt(0.5) - 1.0],
    # the first update has a rate already
    "torchtitan:lr_scheduler(warmup_steps=2, decay_ratio=0.5)": [0.5, 1.0, 1.0, 1.0, 2 / 3, 1 / 3],
    # so it has here, and the last update has the rate 0
    "olmo:WSD(warmup=2, decay=2, decay_fraction=None)": [0.5, 1.0, 1.0, 1.0, 0.5, 0.0],
    "olmo:WSDS(period_lengths=[3, 3], warmup=1, decay=1)": [1.0, 1.0, 0.0, 1.0, 1.0, 0.0],
    "nanotron:lr_scheduler(lr_warmup_steps=2)": [0.0, 0.5, 1.0, 0.75, 0.5, 0.25],
    # the last update has the final rate
    "maxtext:wsd(warmup_steps_fraction=0.34, wsd_decay_steps_fraction=0.5, learning_rate_final_fraction=0)": [
        0.0, 0.5, 1.0, 1.0, 0.5, 0.0],
    "torch:MultiStepLR(milestones=[2, 4], gamma=0.5)": [1.0, 1.0, 0.5, 0.5, 0.25, 0.25],
    "optax:polynomial_schedule(end_value=0, power=2, transition_steps=4)": [1.0, 9 / 16, 0.25, 1 / 16, 0.0, 0.0],
    "optax:linear_schedule(end_value=0.5, transition_steps=4)": [1.0, 0.875, 0.75, 0.625, 0.5, 0.5],
    # its end is the least rate of a decay and the largest of a growth
    "optax:exponential_decay(transition_steps=1, decay_rate=0.5, end_value=0.2)": [1.0, 0.5, 0.25, 0.2, 0.2, 0.2],
    "optax:exponential_decay(transition_steps=1, decay_rate=2, end_value=5)": [1.0, 2.0, 4.0, 5.0, 5.0, 5.0],
    "optax:exponential_decay(transition_steps=1, decay_rate=0)": [1.0] * 6,
    # behind total_steps the decay goes on
    "torchtitan:lr_scheduler(warmup_steps=0, total_steps=4, decay_type='cosine')": [
        1.0, *(0.5 + 0.5 * math.cos(0.25 * math.pi * step) for step in range(1, 6))],
    "olmo:HalfCosWithWarmup(warmup=2, alpha_f=0)": [
        0.25, 0.5, *(0.5 - 0.5 * math.sin(0.125 * math.pi * step) for step in range(1, 4)), 0.0],
    "olmo:CosWithWarmupAndLinearDecay(warmup=2, alpha_f=0, decay=2, decay_fraction=None)": [
        0.5, 1.0, 0.5 + 0.5 * math.cos(0.25 * math.pi), 0.5, 0.25, 0.0],
    # the first update has a rate already, the last one the lowest
    "hf:cosine_warmup_with_min_lr(num_warmup_steps=2, min_lr_rate=0.5)": [
        0.5, 1.0, 0.75 + 0.125 * math.sqrt(2), 0.75, 0.75 - 0.125 * math.sqrt(2), 0.5],
    "hf:cosine_warmup_with_min_lr(num_warmup_steps=3, num_training_steps=6, min_lr=0, warmup_lr_rate=0.5)": [
        0.5, 0.75, 1.0, 0.75, 0.25, 0.0],
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_the_conventions_of_each_framework_by_hand(name):
    assert np.abs(from_framework(name, peak=1.0, steps=6) - BY_HAND[name]).max() < 1e-15
    assert np.array_equal(schedule(name, peak=1.0, steps=6).rates, from_framework(name, peak=1.0, steps=6))


TRANSFORMERS = {
    "linear": {"num_warmup_steps": 20},
    "cosine": {"num_warmup_steps": 20, "num_cycles": 1.5},
    "cosine_with_restarts": {"num_warmup_steps": 20, "num_cycles": 3},
    "cosine_with_min_lr": {"num_warmup_steps": 20, "min_lr": 1e-5},
    "cosine_with_min_lr/share": {"num_warmup_steps": 20, "min_lr_rate": 0.1, "num_cycles": 1.5},
    "cosine_warmup_with_min_lr": {"num_warmup_steps": 20, "min_lr_rate": 0.1},
    "cosine_warmup_with_min_lr/from": {"num_warmup_steps": 20, "min_lr": 1e-5, "warmup_lr_rate": 0.3},
    "polynomial": {"num_warmup_steps": 20, "lr_end": 2e-5, "power": 2.5},
    "constant": {},
    "constant_with_warmup": {"num_warmup_steps": 20},
    "inverse_sqrt": {"num_warmup_steps": 20, "timescale": 35},
    **{
        f"warmup_stable_decay/{rise}/{fall}": {
            "num_warmup_steps": 20, "num_decay_steps": 50, "warmup_type": rise, "decay_type": fall, "min_lr_ratio": 0.1}
        for rise in ("linear", "cosine", "1-sqrt") for fall in ("linear", "cosine", "1-sqrt")
    },
}  # fmt: skip


def stepped(scheduler, optimizer, steps):
    """The rate of each update, as a training loop has it."""
    rates = []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return np.array(rates)


def optimizer_of(torch):
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK)


@pytest.mark.parametrize("case", TRANSFORMERS)
def test_transformers_itself_gives_these_rates(case):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    name, arguments = case.partition("/")[0], TRANSFORMERS[case]
    optimizer = optimizer_of(torch)
    own = {key: value for key, value in arguments.items() if key != "num_warmup_steps"}
    scheduler = transformers.get_scheduler(
        name, optimizer, arguments.get("num_warmup_steps"), STEPS, scheduler_specific_kwargs=own
    )
    found = from_framework(written("hf", name, arguments), peak=PEAK, steps=STEPS)
    assert np.abs(found - stepped(scheduler, optimizer, STEPS)).max() < EXACT


TORCH = {
    "ConstantLR": {"factor": 0.25, "total_iters": 30},
    "LinearLR": {"start_factor": 0.1, "end_factor": 0.8, "total_iters": 60},
    "PolynomialLR": {"total_iters": 120, "power": 1.7},
    "ExponentialLR": {"gamma": 0.98},
    "StepLR": {"step_size": 40, "gamma": 0.3},
    "MultiStepLR": {"milestones": [30, 80], "gamma": 0.1},
    "CosineAnnealingLR": {"T_max": STEPS, "eta_min": 1e-5},
    "CosineAnnealingWarmRestarts": {"T_0": 20, "T_mult": 2, "eta_min": 1e-5},
    "OneCycleLR": {"total_steps": STEPS, "pct_start": 0.2},
    "OneCycleLR/three": {"total_steps": STEPS, "pct_start": 0.2, "three_phase": True, "anneal_strategy": "linear"},
}


@pytest.mark.parametrize("case", TORCH)
def test_torch_itself_gives_these_rates(case):
    torch = pytest.importorskip("torch")
    name, arguments = case.partition("/")[0], TORCH[case]
    optimizer = optimizer_of(torch)
    if name == "OneCycleLR":
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK, cycle_momentum=False, **arguments)
    else:
        scheduler = getattr(torch.optim.lr_scheduler, name)(optimizer, **arguments)
    found = from_framework(written("torch", name, arguments), peak=PEAK, steps=STEPS)
    assert np.abs(found - stepped(scheduler, optimizer, STEPS)).max() < ROUNDED


def test_a_sequence_of_torch_schedulers_gives_these_rates():
    torch = pytest.importorskip("torch")
    optimizer, module = optimizer_of(torch), torch.optim.lr_scheduler
    parts = [module.LinearLR(optimizer, 0.1, total_iters=20), module.CosineAnnealingLR(optimizer, T_max=STEPS - 20)]
    scheduler = module.SequentialLR(optimizer, parts, milestones=[20])
    name = (
        "torch:SequentialLR(schedulers=[LinearLR(start_factor=0.1, total_iters=20),"
        f" CosineAnnealingLR(T_max={STEPS - 20})], milestones=[20])"
    )
    found = from_framework(name, peak=PEAK, steps=STEPS)
    assert np.abs(found - stepped(scheduler, optimizer, STEPS)).max() < ROUNDED


OPTAX = {
    "cosine_decay_schedule": {"decay_steps": 150, "alpha": 0.1, "exponent": 1.3},
    "warmup_cosine_decay_schedule": {"warmup_steps": 20, "decay_steps": 160, "end_value": 1e-5, "init_value": 1e-6},
    "polynomial_schedule": {"end_value": 1e-5, "power": 2, "transition_steps": 100, "transition_begin": 30},
    "linear_schedule": {"end_value": 1e-5, "transition_steps": 100, "transition_begin": 30},
    "exponential_decay": {"transition_steps": 10, "decay_rate": 0.9, "staircase": True},
    "exponential_decay/falling": {"transition_steps": 10, "decay_rate": 0.9, "end_value": 1e-4},
    "exponential_decay/constant": {"transition_steps": 90, "decay_rate": 0.0},
    "exponential_decay/growing": {"transition_steps": 100, "decay_rate": 1.5, "end_value": 4e-4},
}


@pytest.mark.parametrize("case", OPTAX)
def test_optax_itself_gives_these_rates(case):
    jax, optax = pytest.importorskip("jax"), pytest.importorskip("optax")
    name, arguments = case.partition("/")[0], OPTAX[case]
    peak = {"peak_value" if name.startswith("warmup") else "init_value": PEAK}
    with jax.enable_x64(True):
        made = getattr(optax, name)(**peak, **arguments)
        expected = np.array([float(made(jax.numpy.asarray(step))) for step in range(STEPS)])
    found = from_framework(written("optax", name, arguments), peak=PEAK, steps=STEPS)
    assert np.abs(found - expected).max() < EXACT


MEGATRON = {
    "constant": {"lr_warmup_iters": 20},
    "linear": {"lr_warmup_iters": 20, "min_lr": 1e-5, "lr_decay_iters": 150},
    "cosine": {"lr_warmup_iters": 20, "min_lr": 1e-5, "lr_warmup_init": 1e-6},
    "inverse-square-root": {"lr_warmup_iters": 20, "min_lr": 1e-4},
    **{
        f"WSD/{style}": {
            "lr_warmup_iters": 20, "min_lr": 1e-5, "lr_wsd_decay_iters": 50, "lr_wsd_decay_style": style}
        for style in ("linear", "cosine", "exponential", "minus_sqrt")
    },
}  # fmt: skip


@pytest.mark.parametrize("case", MEGATRON)
@pytest.mark.filterwarnings("ignore")  # of what is not installed beside it
def test_megatron_itself_gives_these_rates(case):
    module = pytest.importorskip("megatron.core.optimizer_param_scheduler", exc_type=ImportError)
    torch = pytest.importorskip("torch")
    style, arguments = case.partition("/")[0], MEGATRON[case]
    batch = 8  # it counts samples
    scheduler = module.OptimizerParamScheduler(
        optimizer_of(torch),
        init_lr=arguments.get("lr_warmup_init", 0.0),
        max_lr=PEAK,
        min_lr=arguments.get("min_lr", 0.0),
        lr_warmup_steps=batch * arguments["lr_warmup_iters"],
        lr_decay_steps=batch * arguments.get("lr_decay_iters", STEPS),
        lr_decay_style=style,
        start_wd=0.0,
        end_wd=0.0,
        wd_incr_steps=batch * STEPS,
        wd_incr_style="constant",
        wsd_decay_steps=batch * arguments.get("lr_wsd_decay_iters", 0),
        lr_wsd_decay_style=arguments.get("lr_wsd_decay_style"),
    )
    expected = []
    for _ in range(STEPS):
        expected.append(scheduler.optimizer.param_groups[0]["lr"])
        scheduler.step(batch)
    found = from_framework(written("megatron", style, arguments), peak=PEAK, steps=STEPS)
    assert np.abs(found - expected).max() < EXACT


TORCHTITAN = {
    style: {"warmup_steps": 20, "decay_ratio": ratio, "decay_type": style, "min_lr_factor": 0.1}
    for style, ratio in (("linear", None), ("sqrt", 0.31), ("cosine", 0.97))
}


@pytest.mark.parametrize("style", TORCHTITAN)
@pytest.mark.filterwarnings("ignore")
def test_torchtitan_itself_gives_these_rates(style):
    torch = pytest.importorskip("torch")
    module = pytest.importorskip("torchtitan.components.optimizer.lr_scheduler", exc_type=ImportError)
    optimizer = optimizer_of(torch)
    config = module.LRSchedulersContainer.Config(**TORCHTITAN[style])
    scheduler = config.build(optimizers=[optimizer], training_steps=STEPS)
    found = from_framework(written("torchtitan", "lr_scheduler", TORCHTITAN[style]), peak=PEAK, steps=STEPS)
    assert np.abs(found - stepped(scheduler, optimizer, STEPS)).max() < EXACT


OLMO = {
    "ConstantWithWarmup": {"warmup": 20, "warmup_min_lr": 1e-6},
    "WSD": {"warmup": 20, "decay": 50, "decay_fraction": None, "decay_min_lr": 1e-5},
    "WSD/fractions": {"warmup_fraction": 0.1, "decay_fraction": 0.33},
    "LinearWithWarmup": {"warmup": 20, "alpha_f": 0.2},
    "CosWithWarmup": {"warmup": 20, "t_max": 150},
    "HalfCosWithWarmup": {"warmup_fraction": 0.1, "t_max": 150, "warmup_min_lr": 1e-6},
    "CosWithWarmupAndLinearDecay": {"warmup": 20, "t_max": 150, "decay_min_lr": 1e-6},
    "ConstantScheduler": {},
    "InvSqrtWithWarmup": {"warmup": 20, "alpha_f": 0.1},
    "PowerLR": {"warmup": 20, "b": -0.4, "decay": 30, "decay_fraction": None},
    "WSDS": {"period_lengths": [80, 93], "warmup": 20, "decay_fraction": 0.2, "decay_min_lr": 1e-5,
             "period_lr_multipliers": [1.0, 0.8]},
}  # fmt: skip


@pytest.mark.parametrize("case", OLMO)
@pytest.mark.filterwarnings("ignore")
def test_olmo_core_itself_gives_these_rates(case):
    module = pytest.importorskip("olmo_core.optim.scheduler", exc_type=ImportError)
    name, arguments = case.partition("/")[0], OLMO[case]
    scheduler = getattr(module, name)(**arguments)
    expected = [scheduler.get_lr(PEAK, step + 1, STEPS) for step in range(STEPS)]  # its first update is step 1
    found = from_framework(written("olmo", name, arguments), peak=PEAK, steps=STEPS)
    assert np.abs(found - expected).max() < EXACT


@pytest.mark.parametrize("text", ["linear(decay_fraction=0.2, final=0.01)", "1-sqrt(final=0.01, warmup=20)",
                                  "8-1-1(floor=0.02)", "multi-step(milestones=[0.5], factors=[0.3])"])  # fmt: skip
def test_parameters_in_a_name_are_those_beside_it(text):
    name, _, inside = text.removesuffix(")").partition("(")
    parameters = eval(f"dict({inside})")
    rates = step_rates(name, peak=0.1, steps=200, **parameters)
    assert step_rates(text, peak=0.1, steps=200).tolist() == rates.tolist()
    assert set(parameters_of(text)) == set(parameters_of(name)) - set(parameters)
    with pytest.raises(TypeError, match=f"has no .*{next(iter(parameters))}"):
        step_rates(text, peak=0.1, steps=200, **parameters)


@pytest.mark.parametrize("text, error", [
    ("linear(0.2)", "each argument needs its name"), ("linear(fall=0.2)", "linear has no fall; in parentheses"),
    ("linear(final=)", "cannot be read"), ("lines(final=0.1)", "unknown schedule"), ("linear(final=0.1).csv", "unkno"),
    ("linear(final='x')", "final must be"), ("linear(decay_fraction=2)", r"decay_fraction must lie in \(0, 1\]"),
])  # fmt: skip
def test_parameters_in_a_name_are_checked(text, error):
    with pytest.raises((ValueError, TypeError), match=error):
        step_rates(text, peak=0.1, steps=200)


def test_a_name_of_a_framework_is_taken_wherever_a_schedule_is_named():
    name = "hf:cosine(num_warmup_steps=2)"
    assert np.array_equal(step_rates(name, peak=0.1, steps=9), as_schedule(name, peak=0.1, steps=9).rates)
    assert parameters_of(name) == ()
    with pytest.raises(TypeError, match="takes no warmup besides"):
        schedule(name, peak=0.1, steps=9, warmup=2)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("hf:sawtooth(num_warmup_steps=2)", "no scheduler 'sawtooth'"),
        ("hf:linear(warmup=2)", "has no warmup; its arguments are num_warmup_steps"),
        ("hf:linear", "needs num_warmup_steps"),
        ("hf:linear(2)", "each argument needs its name"),
        ("hf:linear(num_warmup_steps=2).real", "is no scheduler with its arguments"),
        ("hf:linear(num_warmup_steps=2)(1)", "more than one call"),
        ("hf:linear(num_warmup_steps=-1)", "at least 0"),
        ("hf:linear(num_warmup_steps=2.5)", "whole number"),
        ("hf:linear(num_warmup_steps=open('x'))", "each argument needs its name"),
        ("hf:linear(num_warmup_steps=x)", "no number and no text"),
        ("hf:linear(num_warmup_steps=[x for x in (1,)])", "no number and no text"),
        ("hf:linear(num_warmup_steps=)", "cannot be read"),
        ("hf:warmup_stable_decay(num_warmup_steps=6, num_decay_steps=6)", "within the 6 steps of the warmup"),
        ("hf:warmup_stable_decay(num_warmup_steps=1, num_decay_steps=2, decay_type='sqrt')", "no decay 'sqrt'"),
        ("hf:cosine_with_min_lr(num_warmup_steps=1, min_lr=5)", "between 0 and the peak"),
        ("hf:cosine_with_min_lr(num_warmup_steps=1)", "exactly one of min_lr and min_lr_rate"),
        ("hf:cosine_with_min_lr(num_warmup_steps=1, min_lr=0, min_lr_rate=0.1)", "exactly one of min_lr and"),
        ("torchtitan:lr_scheduler(warmup_steps=0, total_steps=4)", "would give update 5 the rate -0.25"),
        ("olmo:WSD(warmup=2, decay=2)", "exactly one of decay and decay_fraction"),
        ("torch:SequentialLR(schedulers=[LinearLR()], milestones=[2])", "one scheduler more than milestones"),
        ("torch:CosineAnnealingLR(T_max=0)", "torch:CosineAnnealingLR would give update 0 the rate nan"),
        ("torch:OneCycleLR(total_steps=4)", "torch:OneCycleLR would give update 5 the rate nan: are its arguments"),
        ("torch:MultiStepLR(milestones=['3'])", "milestones must be real numbers"),
        ("torch:MultiStepLR(milestones=3)", "milestones must be a list, got 3"),
        ("torch:SequentialLR(schedulers=[ConstantLR(), ConstantLR()], milestones=[None])", "milestones must be real"),
        ("torch:SequentialLR(schedulers=3, milestones=[])", "schedulers must be a list, got 3"),
        ("olmo:PowerLR(warmup=0)", "PowerLR falls with the steps over those of its warmup, which must be at least 1"),
        ("hf:" + "x" * 3000, "is no scheduler"),
        ("torch:SequentialLR(schedulers=[PlateauLR()], milestones=[])", "there is no scheduler 'PlateauLR'"),
    ],
)  # fmt: skip
def test_what_no_framework_does_is_refused_with_its_reason(name, says):
    with pytest.raises((TypeError, ValueError, ZeroDivisionError)) as refusal:
        schedule(name, peak=1.0, steps=9)
    assert says in str(refusal.value)


def test_schedulers_in_sequence_may_be_many():
    """More than numpy chooses from at once."""
    parts = ", ".join(["ConstantLR()"] * 69 + ["LinearLR()"])
    rates = schedule(f"torch:SequentialLR(schedulers=[{parts}], milestones={list(range(1, 70))})", peak=3.0, steps=72)
    assert rates.learning_rate(np.arange(72.0)).tolist() == pytest.approx([*[1.0] * 70, 1.4, 1.8])


@given(st.text(max_size=60))
@examples(200)
def test_no_text_makes_reading_fail_in_another_way(text):
    for candidate in (text, f"f({text})"):
        try:
            assert isinstance(read(candidate), Call)
        except ValueError as error:
            assert str(error)


def test_what_is_written_is_read_again():
    arguments = {"a": 1, "b": 0.25, "c": "x y", "d": None, "e": True, "f": [1, 2], "g": -1e-7}
    assert called(written("olmo", "WSD", arguments)) == ("olmo", Call("WSD", arguments))
    nested = {"schedulers": [Call("LinearLR", {}), Call("StepLR", {"step_size": 9})], "milestones": [5]}
    assert called(written("torch", "SequentialLR", nested)) == ("torch", Call("SequentialLR", nested))


def test_each_scheduler_has_roles_only_for_arguments_that_it_has():
    for framework in FRAMEWORKS.values():
        for name, scheduler in framework.schedulers.items():
            assert isinstance(scheduler, Scheduler)
            assert set(scheduler.roles) | set(scheduler.choices) | set(scheduler.fixed) <= set(scheduler.arguments), (
                name
            )


def test_a_decay_runs_from_all_to_nothing():
    for name in SHAPES:
        assert shape(name)(np.array([0.0, 1.0])).tolist() == [1.0, 0.0]
    assert three_phases(np.arange(3.0), 0, 1, 0, SHAPES["linear"], 0.25).tolist() == [1.0, 0.25, 0.25]
