"""What to train under a budget: least among all choices, growing as the theory says, and honest about the rest."""

import json
import math
import re
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from curves_runs import PEAK, TRAINING, TRUTH, WARMUP, rates, run
from notebook_views import as_html
from scipy.optimize import minimize

from fsl_num import Model, functional_scaling_law
from fsl_num.cli import main
from fsl_num.curves.curve import LossCurve
from fsl_num.curves.fit import fit
from fsl_num.curves.laws import law
from fsl_num.curves.plan import Plan
from fsl_num.report.planner import WITHIN, plan_run, training_plan_json, training_plan_text
from fsl_num.report.planner_from_fit import plan_from_fit
from fsl_num.report.tables import rendered
from fsl_num.schedules import schedule, step_rates
from fsl_sym.allocation import optimal_allocation

POINTS = [("1/2", 4), (2, 2), ("1/4", "3/2")]
SLOW = pytest.mark.slow


@cache
def planned(**asked):
    """The plan, made once for all tests of it."""
    return plan_run(**asked)


def wsd_risk(peak, size, share, data, s, beta, noise):
    """The functional law of the schedule itself, by quadrature of its smooth rates."""
    steps = round(data)
    plan = schedule("wsd", peak=peak, steps=steps, decay_fraction=share, final=peak / steps)
    return functional_scaling_law(Model(s, beta, size, noise), plan).total


@pytest.mark.parametrize(
    ("point", "noise"),
    [(POINTS[0], 1.0), pytest.param(POINTS[1], 0.01, marks=SLOW), pytest.param(POINTS[2], 1.0, marks=SLOW)],
    ids=str,
)
def test_no_choice_drawn_at_random_is_better(point, noise):
    s, beta = (float(Fraction(text)) for text in point)
    compute = 1e8
    found = plan_run(compute=compute, s=point[0], beta=point[1], noise=noise, schedule="wsd")
    assert repr(found).startswith(f"TrainingPlan(wsd, compute {compute:.4g}: excess_risk ")
    best = found["excess_risk"].value
    own = [found[name].value for name in ("peak_lr", "model_size", "decay_fraction", "data_size")]
    assert wsd_risk(*own, s, beta, noise) == pytest.approx(best, rel=3e-3)  # blocks, at whose middle e is taken
    draw = np.random.default_rng(0)
    for near in (0.02, 0.3, 3.0):
        for _ in range(60):
            peak, size, share = np.array(own[:3]) * np.exp(near * draw.normal(size=3))
            size = round(min(max(size, 1.0), compute / 3.0))
            peak, share = min(peak, 1.0 / Model(s, beta, size, noise).trace), min(max(share, 1e-6), 1.0)
            assert wsd_risk(peak, size, share, compute / size, s, beta, noise) >= best * (1.0 - 3e-3)


@pytest.mark.parametrize("point", POINTS[:2], ids=str)
@pytest.mark.parametrize("budget", ["data", pytest.param("compute", marks=SLOW)])
def test_values_grow_with_the_exponents_of_the_optimal_allocation(budget, point):
    """The constant over ten decades is one but for what is left of lower orders: .02 of an exponent."""
    amounts = 1e16, 1e26
    first, second = (plan_run(**{budget: amount}, s=point[0], beta=point[1]) for amount in amounts)
    assert first.schedule == second.schedule
    regime = optimal_allocation(first.schedule, budget).at(*point)
    compared = 0
    for name, order in regime.quantities.items():
        here_, there_ = first[name], second[name]
        assert here_.order == order.as_text(optimal_allocation(first.schedule, budget).base)
        for here, there in ((here_.constant, there_.constant), (here_.largest, there_.largest)):
            if here is not None and name != "decay_fraction":  # whose least end comes late: the note says so
                assert abs(math.log(there[0] / here[0]) / math.log(amounts[1] / amounts[0])) < 0.02
                compared += 1
    assert compared >= 5
    assert first.regime == regime.name


@pytest.mark.parametrize("asked", [{"data": 1e8, "s": "1/2", "beta": 4}, {"compute": 1e9, "s": 2, "beta": 2}], ids=str)
def test_the_interval_of_a_constant_holds_it_at_budgets_between(asked):
    """Measured at a hundredth and a hundred times the budget alone; elsewhere it is a value over its growth."""
    (budget, amount), *_ = asked.items()
    found = planned(**asked)
    for factor in (0.1, 10.0):
        elsewhere = plan_run(**{**asked, budget: factor * amount}, schedule=found.schedule)
        for advice in found.recommendations:
            there = elsewhere[advice.name]
            for mine, its in ((advice.constant, there.constant), (advice.largest, there.largest)):
                if mine is not None:  # whole features: a per cent or two of some fifty
                    assert mine[1] / 1.03 <= its[0] <= 1.03 * mine[2]
    drifting = any("decay fraction change" in note for note in found.notes)
    assert (
        drifting
        == (budget == "data")
        == any(advice.constant[2] > 2.0 * advice.constant[1] for advice in found.recommendations if advice.constant)
    )


@pytest.mark.parametrize("asked", [{"data": 1e7, "noise": 3.0}, {"compute": 1e7}], ids=str)
def test_the_command_that_it_names_finds_a_schedule_at_least_as_good(asked, capsys):
    found = plan_run(**asked, s="1/2", beta=2)
    assert main([*found.notes[-1].rpartition("fsl ")[2].split(), "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["excess_risk"]
    # .69 and .88 were measured; with the noise forgotten .40
    assert 0.55 * found["excess_risk"].value < best <= found["excess_risk"].value


@pytest.mark.slow
def test_the_interval_is_where_the_loss_stays_within_its_factor():
    found = plan_run(compute=1e8, s=2, beta=2, schedule="wsd")
    best, size = found["excess_risk"].value, found["model_size"]
    for value, allowed in ((size.low, True), (size.high, True), (0.8 * size.low, False), (1.25 * size.high, False)):
        features = round(value)

        def loss(place, features=features):
            peak, share = min(np.exp(place[0]), 0.6), 1.0 / (1.0 + np.exp(-place[1]))
            return np.log(wsd_risk(peak, features, share, 1e8 / features, 2.0, 2.0, 1.0))

        start = np.log(found["peak_lr"].value), 0.0
        least = np.exp(minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-7}).fun)
        assert (least <= WITHIN * best * (1.0 + 1e-3)) == allowed


def test_the_schedule_whose_law_has_the_least_value_is_recommended():
    found = planned(data=1e9, s="1/2", beta=4)
    assert found.schedule == min(found.losses, key=found.losses.get) == "wsd"
    assert plan_run(data=1e9, s="1/2", beta=4, schedule="constant").schedule == "constant"
    easy = plan_run(data=1e9, s=2, beta=2)  # a decay from the start on is the best of wsd
    assert easy.schedule == "exp-decay" and easy.losses["wsd"] == pytest.approx(easy.losses["exp-decay"], rel=1e-3)
    assert found["model_size"].high == math.inf  # under a data budget more features never harm
    assert "forget the noise" in found["decay_fraction"].basis and "largest allowed" in found["peak_lr"].basis
    with pytest.raises(KeyError, match="'width' is none of"):
        found["width"]
    assert "decay fraction" in as_html(found)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"data": 1}, ValueError, "below two steps"),
        ({"data": 2.1, "noise": -1}, ValueError, "noise must be positive"),
        ({}, ValueError, "give one budget"),
        ({"data": 9, "compute": 9}, ValueError, "give one budget"),
        ({"data": 9, "s": -1}, ValueError, "s"),
        ({"data": 9, "beta": 1}, ValueError, "above 1"),
        ({"data": 9, "s": 0.5}, TypeError, "exact"),
        ({"data": math.inf}, ValueError, "finite"),
        ({"data": 1e31}, ValueError, "at most 1e.30.*fsl exponents"),
        (
            {"data": 9, "schedule": "cosine"},
            ValueError,
            "wsd, not for 'cosine'",
        ),
    ],
)
def test_impossible_budgets_and_tasks_are_refused(given, error, says):
    with pytest.raises(error, match=says):
        plan_run(**{"s": 1, "beta": 2, **given})


@pytest.fixture(scope="module")
def fitted():
    return fit(TRAINING)


def test_from_a_fit_no_other_decay_is_predicted_to_be_better(fitted):
    found = plan_from_fit(fitted, data=3000, warmup=WARMUP)
    steps, share = int(found["steps"].value), found["decay_fraction"]
    assert steps == 3000 and found["peak_lr"].value == pytest.approx(PEAK)
    for fraction in (0.5 * share.value, share.value, min(1.9 * share.value, 1.0)):
        plan = step_rates("1-sqrt", peak=PEAK, steps=steps, warmup=WARMUP, decay_fraction=fraction)
        loss = fitted.predict(Plan(plan, [steps], WARMUP), None).final
        # the law is bound coarsely for the search, and the shares asked are some 30 % apart
        assert loss >= found["loss"].value * (1.0 - 1e-4)
    assert share.low <= share.value <= share.high
    assert found["loss"].low < found["loss"].value < found["loss"].high
    assert min(found.losses.values()) == pytest.approx(found["loss"].value)


def test_from_a_fit_the_excess_risk_is_what_lies_above_L0_and_falls_as_the_signal_does():
    s, level = 0.4, 2.0
    plan = Plan(step_rates("cosine", peak=0.01, steps=600), range(20, 601, 5))
    loss = law("momentum").predict(plan, [level, 0.3, 0.0, s, 0.95])  # no term of the noise: the signal alone
    result = fit(LossCurve(plan.recorded, loss, schedule=plan), "momentum")
    excess = plan_from_fit(result, data=2000)["excess_risk"]
    best = step_rates("1-sqrt", peak=0.01, steps=2000, decay_fraction=0.02)
    assert excess.value == pytest.approx(0.3 * best.sum() ** -s, rel=0.05)
    power, low, high = map(float, re.search(r"power (-\S+) \((-\S+) \.\. (-[\d.]+)\)", excess.basis).groups())
    assert low <= power <= high and power == pytest.approx(-s, abs=0.01)


def test_where_the_fit_tells_the_regime_the_constants_come_with_the_orders(fitted):
    hard = fit([run(kind, {**TRUTH, "B": 0.6, "s": 0.15, "gamma": 0.8}) for kind in ("cosine", "constant", "drop")])
    found = plan_from_fit(hard, data=3000, warmup=WARMUP)
    assert found.regime == "hard" and found["data_size"].order == "D"
    assert found["data_size"].constant == pytest.approx((1.0, 1.0, 1.0))
    assert found["peak_lr"].order == "1" and found["peak_lr"].constant[0] == pytest.approx(found["peak_lr"].value)
    unknown = plan_from_fit(fitted, data=3000, warmup=WARMUP)
    shown = [
        any("times a constant" in str(part) for part in map(rendered, training_plan_text(plan)))
        for plan in (found, unknown)
    ]
    assert shown == [True, False]  # a column that would be empty is left out
    assert "cannot be identified" in unknown.regime and unknown["peak_lr"].constant is None
    assert unknown["peak_lr"].order.startswith("hard: 1; easy: D^(")


def test_from_a_fit_to_several_sizes_the_size_is_chosen_under_a_compute_budget():
    curves = []
    for size in (1e4, 1e5, 1e6):
        plan = Plan(rates("wsd"), np.arange(WARMUP + 25, 1501, 25), WARMUP, 1.0, size)
        loss = law("fsl").predict(plan, TRUTH) + 30.0 * size**-0.5
        curves.append(LossCurve(plan.recorded, loss, schedule=plan, warmup=WARMUP, model_size=size, name=f"{size:g}"))
    result = fit(curves, intervals=False)
    small, large = (plan_from_fit(result, compute=compute, warmup=WARMUP) for compute in (1e8, 1e9))
    for proposal, compute in ((small, 1e8), (large, 1e9)):
        assert proposal["model_size"].value * proposal["data_size"].value == pytest.approx(compute, rel=0.01)
    assert large["model_size"].value > small["model_size"].value
    again = plan_from_fit(result, compute=1e9, warmup=WARMUP, model_sizes=[1e5])
    assert again["model_size"].value == 1e5 and again["loss"].value >= large["loss"].value


def test_what_a_fit_cannot_answer_is_refused(fitted):
    with pytest.raises(ValueError, match="fewer than 10 updates behind the warmup of 100"):
        plan_from_fit(fitted, data=105, warmup=WARMUP)
    with pytest.raises(ValueError, match="several model sizes"):
        plan_from_fit(fitted, compute=1e9)
    with pytest.raises(ValueError, match="give one budget"):
        plan_from_fit(fitted)
    with pytest.raises(ValueError, match="level"):
        plan_from_fit(fitted, data=3000, level=1.0)


def test_without_draws_there_are_values_without_intervals():
    result = fit(TRAINING, intervals=False)
    share = plan_from_fit(result, data=3000, warmup=WARMUP)["decay_fraction"]
    assert share.low == share.value == share.high


def test_model_sizes_that_the_law_does_not_know_are_refused(fitted):
    with pytest.raises(ValueError, match="model_sizes has no use: this fit has no term for the size"):
        plan_from_fit(fitted, data=3000, model_sizes=[1e5])


def test_the_command(fitted, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fit.json").write_text(fitted.to_json())
    assert main(["plan", "--s", "2", "--beta", "2", "--compute", "1e9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(json.dumps(training_plan_json(planned(compute=1e9, s=2, beta=2))))
    assert main(["plan", "--fit", "fit.json", "--data", "3000", "--warmup", "100"]) == 0
    assert "decay fraction" in capsys.readouterr().out
    for words, says in (
        (["--data", "9"], "by exactly one of the two"),
        (["--s", "1", "--beta", "2"], "a budget is needed"),
        (["--s", "1", "--beta", "2", "--data", "9", "--warmup", "3"], "--warmup has no use without --fit"),
        (["--s", "1", "--beta", "2", "--data", "9", "--level", "0.9"], "--level has no use without --fit"),
        (["--fit", "fit.json", "--data", "9", "--noise", "3"], "--noise has no use with --fit"),
        (["--s", "1", "--beta", "2", "--data", "9", "--compute", "9"], "not allowed with"),
        (["--s", "1", "--beta", "2", "--data", "1"], "below two steps"),
    ):
        assert main(["plan", *words]) == 2
        assert says in capsys.readouterr().err
