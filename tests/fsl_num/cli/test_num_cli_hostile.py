"""Hostile and mistaken input: one sentence that names it, no memory without bound, no nonsense with exit status 0."""

import gzip
import json
import math
import time

import numpy as np
import pytest
import sympy
from typed import answer, refusal

from fsl_num import Discrete, LossCurve, Model, Problem, Regression, as_schedule, exact_risk, simulate_sgd, solve
from fsl_num.cli import main
from fsl_num.curves.curve import CurveError
from fsl_num.curves.reading import read_curve
from fsl_num.schedules import schedule, step_rates
from fsl_num.spectrum import signal
from fsl_num.volterra.neumann import neumann_series
from fsl_sym import Order
from fsl_sym.domain import decide

ROWS = range(1, 100)
FIT = ["--law", "momentum", "--no-intervals", "--starts", "1"]
SOLVE = ["solve", "--beta", "2", "--noise", "1", "--schedule", "constant"]


def log(*, width=10, head="step,lr,loss"):
    return head + "\n" + "".join(f"{width * k},0.001,{2 + 3 * k**-0.3}\n" for k in ROWS)


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.csv").write_text(log(), encoding="utf-8")
    assert main(["fit", "run.csv", *FIT, "--save", "fit.json"]) == 0
    capsys.readouterr()
    return tmp_path


# ---- memory and time -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [10**8, 10**10, 10**16, 10**18])
def test_steps_that_are_tokens_are_refused_with_the_option_that_helps(width, here, capsys):
    (here / "tokens.csv").write_text(log(width=width), encoding="utf-8")
    assert "--tokens-per-step" in refusal(["fit", "tokens.csv", *FIT], capsys)


def test_tokens_of_a_step_by_which_no_number_can_be_divided_are_refused(here, capsys):
    option = ["--tokens-per-step", "1e-320"]
    assert "--tokens-per-step must be at least" in refusal(["fit", "run.csv", *FIT, *option], capsys)


def test_steps_in_tokens_are_read_as_updates(here):
    (here / "tokens.csv").write_text(log(width=10 * 524288), encoding="utf-8")
    assert read_curve("tokens.csv", tokens_per_step=524288, name="run") == read_curve("run.csv")


@pytest.mark.parametrize("steps", ["100000000", "10000000000", "999999999999999999"])
def test_more_steps_than_memory_holds_are_refused_at_once(steps, here, capsys):
    begun = time.process_time()
    named = ["--schedule", "wsd", "--peak-lr", "0.001", "--steps", steps]
    assert "GiB of memory" in refusal(["predict", "--fit", "fit.json", *named], capsys)
    assert time.process_time() - begun < 5  # seconds: nothing is computed


def test_the_bound_on_memory_is_that_of_python_too():
    with pytest.raises(ValueError, match="steps take .* GiB of memory, and one call may take"):
        step_rates("linear", peak=0.1, steps=10**10)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda problem: solve(problem, 1.0, digits=100_000), "digits must be at most 1000"),
        (lambda problem: neumann_series(problem, 1.0, terms=1e6), "terms must be at most 1000"),
        (lambda problem: schedule("cyclic", peak=0.1, steps=10, cycles=10**11), "cycles must be at most 10,000"),
    ],
    ids=["digits", "terms", "cycles"],
)
def test_what_would_never_end_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call(Problem(Model(s=0.5, beta=2.0, size=4, noise=1.0), gamma=0.1, horizon=1.0))


def test_a_file_that_unfolds_without_end_is_refused_early(here):
    with gzip.open(here / "bomb.gz", "wb") as file:
        for _ in range(64):
            file.write(b"0" * 2**20)
    with pytest.raises(CurveError, match="unfolds to more than 200 times its size"):
        read_curve(here / "bomb.gz")


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("cell", "step,lr,loss\n1,0.1," + "9" * 200_000 + "\n", "no row of a log is so long"),
        ("late cell", log() + "2000,0.1," + "9" * 200_000 + "\n", "row 101"),
        ("list", "[" * 100_000, "begins like a JSON list"),
        # took minutes where a name in a line might be as long as the line
        ("words", "ab " * 40_000 + "\n", "this is no table"),
        ("records", '{"a":' * 100_000, "begins like a JSON object but is none"),
        ("digits", '{"step": ' + "9" * 5000 + "}\n", "not a JSON record"),
        ("underscore", "step,lr,loss\n1_0,0.1,2.0\n20,0.1,1.9\n", "'1_0', which is not a number"),
        ("full width", "step,lr,loss\n１０,0.1,2.0\n20,0.1,1.9\n", "'１０', which is not a number"),
        ("huge number", "step,lr,loss\n1,0.1,1e999\n", "must be finite"),
    ],
)
def test_a_log_that_cannot_be_used_is_one_sentence(name, text, said, here, capsys):
    (here / name).write_text(text, encoding="utf-8")
    assert said in refusal(["fit", name, *FIT], capsys)


def test_a_position_of_five_thousand_digits_is_a_name_that_no_column_has(here, capsys):
    assert "no column" in refusal(["fit", "run.csv", "--columns", "step=" + "9" * 5000, *FIT], capsys)


DAMAGE = {
    "law": lambda saved: saved.update(law={"kind": "Nothing", "options": {}}),
    "parameters": lambda saved: saved["parameters"].update({next(iter(saved["parameters"])): "x"}),
    "report": lambda saved: saved["report"].update(intervals=3.0),
    "settings": lambda saved: saved["settings"].update(unknown=1),
    "reach": lambda saved: saved.update(reach=10**400),
    "objective": lambda saved: saved.pop("objective"),
    "notes": lambda saved: saved.update(notes="text"),
    "posterior": lambda saved: saved.update(posterior={"samples": [["x"]]}),
}


@pytest.mark.parametrize("field", DAMAGE)
def test_a_damaged_fit_is_refused_with_its_field(field, here, capsys):
    saved = json.loads((here / "fit.json").read_text(encoding="utf-8"))
    DAMAGE[field](saved)
    (here / "fit.json").write_text(json.dumps(saved), encoding="utf-8")
    command = ["predict", "--fit", "fit.json", "--schedule", "wsd", "--peak-lr", "0.001", "--steps", "900"]
    assert f"damaged in its field '{field}'" in refusal(command, capsys)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_of_a_fit_are_finite(number, here, capsys):
    text = (here / "fit.json").read_text(encoding="utf-8").replace('"reach": ', f'"reach": {number}, "x": ')
    (here / "fit.json").write_text(text, encoding="utf-8")
    assert "is no finite number" in refusal(["predict", "--fit", "fit.json", "--schedule", "wsd"], capsys)


# ---- a run under way -------------------------------------------------------------------------------------------------

FORECAST = ["--no-intervals", "--starts", "1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run.csv", "--to", "990"], "has 990 updates already"),
        (["run.csv", "--to", "10000000000"], "GiB of memory"),
        (["run.csv", "--to", "999999999999999999"], "GiB of memory"),
        (["tokens.csv", "--to", "99999999999"], "--tokens-per-step"),
        (["short.csv", "--to", "100"], "1 row"),
        (["run.csv", "--to", "2000", "--target", "-1"], "--target is a loss"),
        (["run.csv", "--to", "2000", "--schedule", "decay"], "is none of hold, decay now"),
        (["run.csv", "--to", "2000", "--others", "./run.csv"], "named twice"),
        (["run.csv", "--to", "2000", "--watch", "--json"], "--watch writes one forecast after the other"),
        (["-", "--to", "2000", "--watch"], "--watch looks at a file that grows, and '-' is none"),
        (["missing.csv", "--to", "2000", "--watch"], "--watch looks at a file that grows, and 'missing.csv' is none"),
        ([".", "--to", "2000", "--watch"], "--watch looks at a file that grows, and '.' is none"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_forecast_of_what_cannot_be_is_refused(words, said, here, capsys):
    (here / "tokens.csv").write_text(log(width=10**8), encoding="utf-8")
    (here / "short.csv").write_text("step,lr,loss\n9,0.1,2.0\n", encoding="utf-8")
    assert said in refusal(["forecast", *words, *FORECAST], capsys)


def test_a_forecast_reads_standard_input(here, capsys, monkeypatch):
    words = ["--to", "2000", *FORECAST]
    from_file = answer(["forecast", "run.csv", *words], capsys)
    with open("run.csv", encoding="utf-8") as log_of_run:
        monkeypatch.setattr("sys.stdin", log_of_run)
        assert (
            answer(["forecast", "-", *words], capsys)["endings"]["hold"]["final"]
            == from_file["endings"]["hold"]["final"]
        )


# ---- nonsense --------------------------------------------------------------------------------------------------------


def test_a_prediction_of_what_no_curve_shows_is_refused_or_says_so(here, capsys):
    words = ["predict", "--fit", "fit.json", "--schedule", "wsd", "--steps", "1000", "--peak-lr"]
    assert "too short for what the curves fitted show" in refusal([*words, "1e-30"], capsys)
    assert main([*words, "1000000"]) == 0
    assert "nothing measured says that the law holds so far out" in " ".join(capsys.readouterr().out.split())


def test_intervals_promise_no_more_than_was_held_out(here, capsys):
    assert "at most 0.99" in refusal(["fit", "run.csv", *FIT, "--level", "0.9999999"], capsys)


def test_a_decimal_of_any_length_is_exact(capsys):
    typed = "0.299999999999999988897769753748434595763683319091796875"
    words = [*SOLVE, "--s", "1", "--model-size", "2", "--gamma", typed, "--time", "1"]
    assert answer(words, capsys) == answer([*words[:-3], "0.3", *words[-2:]], capsys)


@pytest.mark.parametrize("difficulty", ["120", "400", "1000", "1000000"])
def test_a_task_however_easy_has_a_finite_risk(difficulty, capsys):
    words = [*SOLVE, "--s", difficulty, "--model-size", "16", "--gamma", "0.1", "--time", "10"]
    (risk,) = answer(words, capsys)["excess_risk"]
    assert 0.01 < float(risk) < 0.1  # the label noise alone: half of gamma int K, with K(0) below 1.1


HIDDEN = np.ma.array([0.1, 0.2], mask=[False, True])


@pytest.mark.parametrize(
    "call",
    [
        lambda: signal(HIDDEN, 0.5, 2.0),
        lambda: Discrete(rates=HIDDEN, batch_sizes=1.0),
        lambda: LossCurve([1, 2], HIDDEN, lr=[0.1, 0.1]),
    ],
    ids=["times", "rates", "losses"],
)
def test_masked_numbers_are_not_read_as_if_they_were_there(call):
    with pytest.raises(ValueError, match="masked numbers"):
        call()


@pytest.mark.parametrize("value", [math.nan, np.float64("nan"), sympy.nan, sympy.zoo, {}, set()])
def test_what_is_no_number_is_no_exponent(value):
    with pytest.raises(TypeError):
        Order(value)


@pytest.mark.parametrize("regime", [None, "easy", 3])
def test_a_relation_that_is_true_is_still_decided_over_a_regime(regime):
    with pytest.raises(TypeError, match="regime must be a Regime"):
        decide(True, regime)


def broken(path, **changed):
    with np.load(path) as stored:
        content = {name: stored[name] for name in stored.files}
    np.savez(path, **(content | changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"identity": np.array("[]")},
        {"identity": np.array("3")},
        {"merged": np.array([-5, -3])},
        {"merged": np.array([10**6, 20])},
        {"mean": np.full(2, np.nan)},
        {"mean": np.array(["a", "b"])},
        {"mean": np.zeros(1)},
    ],
    ids=["list", "number", "negative counts", "more than there are", "nan", "text", "too short"],
)
def test_a_damaged_checkpoint_is_refused(changed, tmp_path):
    def simulate():
        problem = Regression(Model(s=0.5, beta=2.0, size=4, noise=1.0))
        return simulate_sgd(problem, [0.1] * 9, runs=20, seed=1, checkpoint=tmp_path / "runs.npz")

    simulate()
    broken(tmp_path / "runs.npz", **changed)
    with pytest.raises(ValueError, match="is no checkpoint of a simulation, or damaged"):
        simulate()


@pytest.mark.parametrize("name", ["x" * 300, f"{'x' * 300}.csv+lr.csv"], ids=["one file", "two"])
def test_a_name_longer_than_the_file_system_takes_is_refused(name, here, capsys):
    for words in (["fit", name, *FIT], ["predict", "--fit", "fit.json", "--schedule", name, "--steps", "100"]):
        assert len(refusal(words, capsys).splitlines()) == 1


def test_rates_whose_sum_no_float_holds_are_refused():
    for take in (as_schedule, lambda rates: exact_risk(Regression(Model(s=0.5, beta=2.0, size=8, noise=1.0)), rates)):
        with pytest.raises(ValueError, match="the sum of the rates, the intrinsic time, must be below 1.8e308"):
            take(np.full(3, 1e308))
