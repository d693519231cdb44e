"""The example runs are what their provenance says, and a law fitted to two of a size predicts the other two."""

import ast
import json
import math
from pathlib import Path

import numpy as np
import pytest

from fsl_num import fit, read_curve

FOLDER = Path(__file__).resolve().parents[1] / "examples"
PROVENANCE = json.loads((FOLDER / "curves" / "provenance.json").read_text(encoding="utf-8"))
SCHEDULES = ("constant", "wsd", "8-1-1", "cosine")


def run_of(size, schedule):
    return read_curve(FOLDER / "curves" / f"{size}_{schedule}.csv", warmup=PROVENANCE["warmup"])


def of_the_script(script, name):
    """A function of a training script, without PyTorch: that function and the numbers it goes by."""
    nodes = [
        node
        for node in ast.parse((FOLDER / script).read_text(encoding="utf-8")).body
        if (isinstance(node, ast.FunctionDef) and node.name == name)
        or (isinstance(node, ast.Assign) and any(name in ast.unparse(node.targets[0]) for name in ("STEPS", "WARMUP")))
    ]
    names = {"math": math, "np": np}
    exec(compile(ast.Module(nodes, []), script, "exec"), names)
    return names[name]


@pytest.mark.parametrize("size", PROVENANCE["sizes"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_run_has_the_steps_and_rates_of_its_schedule(size, schedule):
    curve, rate = run_of(size, schedule), of_the_script("train_language_models.py", "rate")
    every = PROVENANCE["record_every"]
    assert curve.step.tolist() == list(range(every, PROVENANCE["steps"] + 1, every))
    # six digits are written
    np.testing.assert_allclose(curve.lr, [rate(schedule, step) for step in curve.step.tolist()], rtol=1e-5)
    assert curve.loss[0] > 3.0 > 2.0 > curve.loss[-1]


@pytest.mark.parametrize("size", PROVENANCE["sizes"])
def test_runs_of_one_size_share_what_they_have_in_common(size):
    constant, dropped, decayed = (run_of(size, schedule).loss for schedule in ("constant", "8-1-1", "wsd"))
    shared = int(0.8 * constant.size)
    assert constant[:shared].tolist() == dropped[:shared].tolist() == decayed[:shared].tolist()
    assert (constant[shared + 1 :] != dropped[shared + 1 :]).all()


def test_a_larger_model_reaches_a_lower_loss():
    for schedule in SCHEDULES:
        assert run_of("large", schedule).loss[-1] < run_of("small", schedule).loss[-1]


@pytest.mark.parametrize("size", PROVENANCE["sizes"])
def test_two_runs_predict_the_other_two(size):
    curves = {schedule: run_of(size, schedule).between_steps(1000, 8000) for schedule in SCHEDULES}
    result = fit([curves["constant"], curves["8-1-1"]], "fsl-simplified", intervals=False)
    last = {schedule: run_of(size, schedule).loss[-1] for schedule in SCHEDULES}
    for schedule, score in result.scores([curves["wsd"], curves["cosine"]]).items():
        # to predict the runs fitted for the others would be wrong by their distance
        wrong = abs(last["constant"] - last[schedule.split("_")[1]])
        assert score.mean_relative_error < 0.015 and abs(score.final_error) < 0.3 * wrong


@pytest.mark.parametrize("kind", ["convolutions", "perceptron", "transformer"])
def test_a_run_of_a_small_network_has_the_rates_that_its_name_says(kind):
    shape, paths = of_the_script("train_networks.py", "shape"), sorted((FOLDER / "networks").glob(f"{kind}_*.csv"))
    assert len(paths) == 18
    peak = read_curve(min(path for path in paths if "constant" in path.name and path.stem.endswith("_1"))).lr.max()
    for path in paths:
        _, schedule, steps, factor = path.stem.split("_")
        curve = read_curve(path)
        every = int(steps) // 160
        assert curve.step.tolist() == list(range(every, int(steps) + 1, every))
        rates = peak * {"0.33": 1 / 3}.get(factor, float(factor)) * shape(schedule, int(steps))
        # six digits are written
        np.testing.assert_allclose(curve.lr, rates[curve.step - 1], rtol=1e-5, atol=1e-12, err_msg=path.name)


@pytest.mark.parametrize(
    ("kind", "usual", "steps"), [("convolutions", 32, 4000), ("perceptron", 32, 8000), ("transformer", 8, 3000)]
)
def test_a_run_with_other_batches_has_those_that_its_name_says(kind, usual, steps):
    shape, paths = of_the_script("train_networks.py", "shape"), sorted((FOLDER / "batches").glob(f"{kind}_*.csv"))
    assert len(paths) == 9
    peak = read_curve(FOLDER / "networks" / f"{kind}_constant_{steps}_1.csv").lr.max()
    for path in paths:
        _, schedule, batches = path.stem.split("_")
        curve, factor = read_curve(path), {"quarter": 0.25, "fourfold": 4.0}[batches.removeprefix("later-")]
        np.testing.assert_allclose(curve.lr, peak * shape(schedule, steps)[curve.step - 1], rtol=1e-5, atol=1e-12)
        first = 1.0 if batches.startswith("later-") else factor
        expected = usual * np.where(2 * np.arange(1, steps + 1) > steps, factor, first)
        assert curve.batch_size.tolist() == expected[curve.step - 1].tolist(), path.name


@pytest.mark.parametrize(
    ("folder", "peak", "windows", "count"),
    [("language", 2e-3, 32, 29), ("code", 1.5e-3, 32, 30), ("small-language", 4e-3, 128, 28)],
)
def test_a_language_model_has_the_rates_and_batches_that_its_name_says(folder, peak, windows, count):
    shape, paths = of_the_script("train_networks.py", "shape"), sorted((FOLDER / folder).glob("*_*_*.csv"))
    paths = [path for path in paths if not path.stem.startswith("design")]
    assert len(paths) == count
    for path in paths:
        schedule, length, factor, *batches = path.stem.split("_")
        curve, steps = read_curve(path), int(length)
        share = float(schedule.removeprefix("decay-")) if schedule.startswith("decay-") else None
        over_peak = (
            np.minimum(shape("constant", steps), shape("linear", steps) / share) if share else shape(schedule, steps)
        )
        rates = peak * float(factor) * over_peak
        np.testing.assert_allclose(curve.lr, rates[curve.step - 1], rtol=1e-5, atol=1e-12, err_msg=path.name)
        later = np.where(np.arange(steps) < steps // 2, 1, 4)
        times = {"fourfold": np.full(steps, 4), "later-fourfold": later}.get("".join(batches), np.ones(steps))
        assert curve.batch_size.tolist() == (windows * times[curve.step - 1]).tolist(), path.name


@pytest.mark.parametrize("folder", ["curves", "networks", "batches", "language", "code", "small-language"])
def test_the_examples_are_small(folder):
    assert sum(path.stat().st_size for path in (FOLDER / folder).iterdir()) < 300_000
