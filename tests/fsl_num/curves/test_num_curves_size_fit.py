"""Laws of final losses over size, batch size and steps: against the exact recursion, and against each other."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from notebook_views import as_html

from fsl_num import FinalLossFit, Model, Regression, exact_risk, fit_final_losses, held_out_errors
from fsl_num.cli import main
from fsl_num.curves.curve import CurveError
from fsl_num.curves.size_laws import SIZE_LAWS, regression_risk
from fsl_num.curves.size_result import slopes

MEASURED = Path(__file__).parents[3] / "examples" / "language" / "sizes.csv"
TRUTH = {"s": 0.5, "beta": 2.0, "N0": 1e4, "rate": 0.2, "noise": 0.5, "A": 4.0, "L0": 1.5}
SIZES, BATCHES, STEPS = (1e5, 2e5, 4e5, 8e5), (4, 16, 64), (200, 800, 3200)
SCATTER = 0.003


def risks(size, batch):
    """The excess risk of the package's own recursion after each number of steps."""
    model = Model(s=TRUTH["s"], beta=TRUTH["beta"], size=size / TRUTH["N0"], noise=TRUTH["noise"])
    curve = exact_risk(Regression(model, features=math.inf), [TRUTH["rate"]] * STEPS[-1], batch, every=STEPS[0])
    return [curve.excess_risk[curve.step.tolist().index(steps)] for steps in STEPS]


@pytest.fixture(scope="module")
def table():
    """Runs with losses of the exact recursion and noise."""
    pairs = list(itertools.product(SIZES, BATCHES))
    size, batch = np.repeat(pairs, len(STEPS), axis=0).T
    loss = TRUTH["L0"] + TRUTH["A"] * np.concatenate([risks(*pair) for pair in pairs])
    noise = np.exp(SCATTER * np.random.default_rng(0).standard_normal(loss.size))
    steps = np.tile(STEPS, len(pairs)).astype(float)
    return {"model_size": size, "batch_size": batch, "steps": steps, "loss": loss * noise}


@pytest.fixture(scope="module")
def found(table):
    return fit_final_losses(table)


@pytest.mark.parametrize(
    ("s", "beta", "size", "rate", "batch", "noise"),
    [
        (0.5, 2.0, 10, 0.1, 1, 1.0),
        (0.3, 1.5, 3000, 0.3, 4, 1.0),
        (1.0, 3.0, 50, 0.5, 2, 0.1),
        (0.8, 1.3, 10**6, 0.5, 8, 9),
    ],
)
def test_the_law_is_the_risk_of_the_exact_recursion(s, beta, size, rate, batch, noise):
    problem = Regression(Model(s=s, beta=beta, size=size, noise=noise), features=math.inf)
    exact = exact_risk(problem, [rate] * 2000, batch, every=1000).excess_risk
    ones = np.ones(3)
    steps = np.array([1e-9, 1000.0, 2000.0])
    # 1e-4: the rule of midpoints for the features behind the 24th, as the docstring says
    risk = regression_risk(s, beta, size * ones, rate * ones, batch * ones, noise, steps)
    assert risk == pytest.approx(exact, rel=1e-4)


def test_many_runs_are_taken_in_parts():
    ones = np.ones(2500)
    risk = regression_risk(0.5, 2.0, 100 * ones, 0.1 * ones, ones, 1.0, np.geomspace(1, 1e6, 2500))
    assert risk.shape == (2500,) and risk[-1] == pytest.approx(
        regression_risk(0.5, 2.0, ones[:1] * 100, ones[:1] * 0.1, ones[:1], 1.0, ones[:1] * 1e6)[0], rel=1e-9
    )


def test_exponents_floor_and_scatter_are_found_with_intervals_that_hold_them(found):
    assert set(found.parameters) == set(TRUTH)
    # seven intervals of 90 % from one draw: by chance one or two miss; five hit with 97 % where they are independent
    hits = [low <= TRUTH[name] <= high for name, (low, high) in found.intervals.items()]
    assert sum(hits) >= 5
    for name in ("s", "beta", "L0"):
        assert found.parameters[name] == pytest.approx(TRUTH[name], rel=0.2) and found.identifiable[name]
    # 36 runs and about 7 parameters: a standard deviation is known to 1/sqrt(2 * 29) = 13 %, three of them
    assert found.scatter == pytest.approx(SCATTER, rel=0.4)


def test_sizes_that_were_not_fitted_are_predicted_better_than_by_power_laws(table):
    errors = held_out_errors(table)
    assert set(errors) == set(SIZE_LAWS)
    # the noise alone leaves 0.003 on nine runs, up to 1/sqrt(18) of it, twice
    assert errors["regression"] < 2 * SCATTER
    assert errors["regression"] < 0.5 * min(errors["chinchilla"], errors["three-term"])


@pytest.mark.parametrize("law", ["chinchilla", "three-term"])
def test_power_laws_find_their_own_parameters(law, table):
    size, batch, steps = (table[name] for name in ("model_size", "batch_size", "steps"))
    if law == "chinchilla":
        truth = {"x": 0.4, "y": 0.3, "a": 60.0, "b": 9.0, "L0": 1.2}
        loss = 1.2 + 60 * size**-0.4 + 9 * (batch * steps) ** -0.3
    else:
        truth = {"x": 0.4, "y": 0.5, "z": 0.6, "a": 60.0, "b": 9.0, "c": 2.0, "L0": 1.2}
        loss = 1.2 + 60 * size**-0.4 + 9 * steps**-0.5 + 2 * batch**-0.6
    found = fit_final_losses(table | {"loss": loss}, law)
    # exact losses: what is left is the priors' pull, far below one per cent, and a fit that stops at 1e-8 of its cost
    assert found.parameters == pytest.approx(truth, rel=0.02)


@pytest.mark.slow
def test_the_peak_rate_is_a_column(table):
    twice = {name: np.concatenate([values, values]) for name, values in table.items()}
    peaks = np.repeat([0.1, 0.2], table["loss"].size)
    size, batch, steps = (twice[name] for name in ("model_size", "batch_size", "steps"))
    risk = regression_risk(0.5, 2.0, size / 1e4, peaks, batch, 0.5, steps)
    found = fit_final_losses(twice | {"loss": 1.5 + 4.0 * risk, "peak_lr": peaks})
    assert found.parameters == pytest.approx(TRUTH | {"rate": 1.0}, rel=0.05)  # exact losses again
    assert found.predict(1e5, 4, 200, 0.1).loss != pytest.approx(float(found.predict(1e5, 4, 200).loss), rel=1e-3)


def test_the_best_size_under_a_budget_is_the_least_of_a_grid(found):
    best = found.best(compute=1e9)
    assert best.model_size * best.batch_size * best.steps == pytest.approx(1e9)
    assert best.lower < best.loss < best.upper and best.beyond < 1.0 and not best.at_edge
    size, batch = (axis.ravel() for axis in np.meshgrid(np.geomspace(1e4, 1e7, 60), np.geomspace(4, 64, 20)))
    # no point of another grid lies below; the search is fine to a fraction of 1e-4 of its flat bottom
    assert best.loss <= found.predict(size, batch, 1e9 / size / batch).loss.min() * (1 + 1e-6)
    data = found.best(data=1e5, batch_size=8)
    assert (data.model_size, data.batch_size, data.steps) == pytest.approx((SIZES[-1], 8, 12500))
    for wrong in ({}, {"compute": 1e9, "data": 1e5}, {"data": 1e-3}, {"compute": -1}):
        with pytest.raises(ValueError):
            found.best(**wrong)


def test_a_run_far_from_those_fitted_is_said_to_be(tmp_path, capsys):
    """The law is extrapolated, and its coefficient in units of one parameter is known to no order of magnitude."""
    size, batch, steps = (axis.ravel() for axis in np.meshgrid([1e6, 2e6, 4e6], [8, 32], [200, 800, 3200]))
    loss = (0.5 + 30 * size**-0.4 + 9 * (batch * steps) ** -0.4) * np.exp(
        0.05 * np.random.default_rng(0).standard_normal(size.size)
    )
    table = {"model_size": size, "batch_size": batch, "steps": steps, "loss": loss}
    fitted = fit_final_losses(table, "three-term")
    assert fitted.extrapolated(2e6, 16, 1000) == ""
    assert fitted.extrapolated(8e6, 2, 200) == (
        "Extrapolated: model_size 2 times above those fitted, batch_size 4 times below those fitted."
    )
    for name, (low, high) in fitted.intervals.items():
        assert name == "L0" or not fitted.identifiable[name] or high / low < 100  # known to e^2 at 90 %: a factor of 40
    assert not all(fitted.identifiable.values())
    rows = "".join(f"{n},{b},{k},{e}\n" for n, b, k, e in zip(size, batch, steps, loss, strict=True))
    (tmp_path / "runs.csv").write_text("model_size,batch_size,steps,loss\n" + rows)
    words = ["sizes", str(tmp_path / "runs.csv"), "--law", "three-term"]
    assert main([*words, "--predict", "1e9", "32", "3200"]) == 0
    assert "Extrapolated: model_size 250 times above those fitted." in capsys.readouterr().out
    assert main([*words, "--data", "1e8"]) == 0
    assert "Extrapolated: steps" in capsys.readouterr().out


def test_tables_that_determine_no_law_are_refused_with_the_parameters(table):
    single = {name: values[:9] for name, values in table.items()}
    with pytest.raises(CurveError, match="one value of model_size, which leaves N0, beta, L0 not identifiable"):
        fit_final_losses(single)
    few = {name: values[::6] for name, values in table.items()}
    with pytest.raises(CurveError, match="one value of steps"):
        fit_final_losses(few, "three-term")
    few = {name: values[[0, 10, 20, 30, 5]] for name, values in table.items()}
    with pytest.raises(CurveError, match="7 parameters .* takes at least 8 runs, got 5"):
        fit_final_losses(few)
    two = {name: values[:18] for name, values in table.items()}
    found = fit_final_losses(two, "chinchilla")
    assert not (found.identifiable["a"] or found.identifiable["x"] or found.identifiable["L0"])
    assert any("2 different values of model_size" in line for line in found.sentences)


@pytest.mark.slow
def test_the_law_is_the_one_that_predicts_the_largest_size_unseen_best(table, found, tmp_path, monkeypatch, capsys):
    assert found.law == "regression"
    size, batch, steps = (table[name][::2] for name in ("model_size", "batch_size", "steps"))
    scatter = np.exp(1e-3 * np.random.default_rng(1).standard_normal(size.size))
    loss = (1.5 + 80 * size**-0.3 + 90 * (batch * steps) ** -0.4) * scatter
    additive = {"model_size": size, "batch_size": batch, "steps": steps, "loss": loss}
    monkeypatch.chdir(tmp_path)
    rows = zip(*(additive[name].tolist() for name in additive), strict=True)
    lines = [",".join(additive), *(",".join(map(repr, row)) for row in rows)]
    (tmp_path / "runs.csv").write_text("\n".join(lines) + "\n")
    assert main(["sizes", "runs.csv"]) == 0 and capsys.readouterr().out.startswith("chinchilla: L0 + ")
    assert main(["sizes", "runs.csv", "--law", "three-term"]) == 0
    assert "chinchilla predicts the largest size, unseen, better" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [("loss", -1.0, "row 3: loss must be a positive"), ("steps", math.nan, "row 3"), ("batch_size", 0.0, "row 3")],
)
def test_rows_that_are_no_runs_are_named(table, column, value, message):
    bad = table[column].copy()
    bad[3] = value
    with pytest.raises(CurveError, match=message):
        fit_final_losses(table | {column: bad})
    with pytest.raises(CurveError, match=f"lacks {column}"):
        fit_final_losses({name: values for name, values in table.items() if name != column})


def test_arguments_out_of_range_are_refused(table, found):
    with pytest.raises(ValueError, match="law must be one of"):
        fit_final_losses(table, "linear")
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\)"):
        fit_final_losses(table, level=1.0)
    with pytest.raises(ValueError, match="steps must lie between"):
        found.predict(1e5, 4, [10, -1])
    with pytest.raises(ValueError, match="batch_size must lie between"):
        found.predict(1e5, 1e-320, 10)
    with pytest.raises(TypeError, match="batch_size"):
        found.predict(1e5, "many", 10)


def test_a_fit_is_a_value_that_shows_itself(found):
    assert isinstance(found, FinalLossFit) and "L0=" in repr(found) and "<td>beta</td>" in as_html(found)
    record = json.loads(found.to_json())
    assert record["law"] == "regression" and record["parameters"]["s"]["value"] == found.parameters["s"]
    assert found.plot().get_ylabel() == "final loss" and len(found.plot().lines) == 2 * len(SIZES) * len(BATCHES)
    # central differences of a square are exact but for rounding
    assert slopes(lambda theta: theta**2, np.array([3.0, 2.0]), 1.0) == pytest.approx(np.diag([6.0, 4.0]), abs=1e-9)


def test_the_command_answers_first(tmp_path, monkeypatch, capsys, table):
    monkeypatch.chdir(tmp_path)
    size, batch, steps = (table[name] for name in ("model_size", "batch_size", "steps"))
    loss = 1.2 + 60 * size**-0.4 + 9 * (batch * steps) ** -0.3
    rows = "".join(
        f"{n:.0f},{b:.0f},{k:.0f},{e!r}\n" for n, b, k, e in zip(size, batch, steps, loss.tolist(), strict=True)
    )
    (tmp_path / "runs.csv").write_text("model_size,batch_size,steps,loss\n" + rows)
    words = ["sizes", "runs.csv", "--law", "chinchilla", "--predict", "1e6", "64", "1000"]
    assert main([*words, "--compute", "1e10", "--plot", "runs.png"]) == 0
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert first.startswith("final loss 1.7") and second.startswith("best: ")
    assert (tmp_path / "runs.png").stat().st_size > 1000
    assert main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["predicted"]["loss"] == pytest.approx(1.2 + 60 * 1e6**-0.4 + 9 * 64e3**-0.3, rel=1e-3)
    assert set(record["laws"]) == {"chinchilla", "three-term"}
    assert main(["sizes", "runs.csv", "--predict", "1e6"]) == 2
    (tmp_path / "runs.csv").write_text("model_size,steps,loss\n1,2,3\n")
    assert main(["sizes", "runs.csv"]) == 2 and "lacks batch_size" in capsys.readouterr().err


def test_the_law_that_predicts_the_largest_model_measured_is_taken():
    """Measured: the largest of three sizes, unseen, is missed by 8, 14 and 26 %."""
    table = np.genfromtxt(MEASURED, delimiter=",", names=True)
    errors = held_out_errors(table)
    assert errors["three-term"] < 0.1 < 0.75 * errors["regression"] and errors["chinchilla"] > 0.2
    assert fit_final_losses(table).law == "three-term"


def test_arrays_of_unlike_shapes_are_refused_with_their_shapes(found):
    with pytest.raises(ValueError, match=r"got the shapes model_size \(3,\), steps \(2,\)"):
        found.predict([1e6, 1e7, 1e8], 64, [1e3, 1e4])
    assert found.predict(np.array([[1e6], [1e7], [1e8]]), 64, [1e3, 1e4]).loss.shape == (3, 2)


def test_columns_of_other_names_are_said(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = {"model_size": "N", "batch_size": "global bsz", "steps": "updates", "loss": "final"}
    other = {said[name]: values for name, values in table.items()}
    assert fit_final_losses(other, "three-term", columns=said) == fit_final_losses(table, "three-term")
    with pytest.raises(CurveError, match=r"lacks model_size, loss; .* \(--columns model_size=NAME,loss=NAME\)"):
        fit_final_losses(other, columns={"batch_size": "global bsz", "steps": 2})
    with pytest.raises(TypeError, match="no option 'model' of a table of runs; did you mean 'model_size'"):
        fit_final_losses(other, columns={"model": "N"})
    rows = zip(*(values.tolist() for values in other.values()), strict=True)
    (tmp_path / "runs.csv").write_text("\n".join([",".join(other), *(",".join(map(str, row)) for row in rows)]))
    typed = ",".join(f"{role}={name}" for role, name in said.items())
    assert main(["sizes", "runs.csv", "--law", "three-term", "--columns", typed]) == 0
    assert "fitted to" in capsys.readouterr().out
