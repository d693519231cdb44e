"""The best design under a compute budget: its model size is the best, and grows as the theory says."""

import numpy as np
import pytest
from notebook_views import as_html

from fsl_num import Model, design_for_compute, design_for_model
from fsl_num.design.exponents import optimal_exponents
from fsl_num.design.theory import best_gammas
from fsl_sym.allocation import optimal_allocation

TASK = Model(s=0.3, beta=2.0, size=float("inf"), noise=1.0)


@pytest.mark.slow
def test_no_other_size_is_better():
    """Every size of a small budget, and sizes around the best of a large one."""
    for compute in (30.0, 40.0):  # at 30 sizes 2 and 3 differ by a thousandth
        small, sizes = design_for_compute(TASK, compute), range(1, int(compute / 2))
        risks = {size: design_for_model(Model(0.3, 2.0, size, 1.0), compute / size).excess_risk for size in sizes}
        assert min(risks, key=risks.get) == small.model.size and min(risks.values()) == small.excess_risk
    large = design_for_compute(TASK, 1e9)
    for factor in (0.5, 0.9, 1.1, 2.0):
        size = round(factor * large.model.size)
        assert design_for_model(Model(0.3, 2.0, size, 1.0), 1e9 / size).excess_risk > large.excess_risk
    assert large.compute == 1e9 == pytest.approx(large.model.size * large.data, rel=1e-12)


def test_sizes_to_choose_from_and_the_largest_gamma():
    free = design_for_compute(TASK, 1e6)
    chosen = design_for_compute(TASK, 1e6, model_sizes=[10, 200, 5000])
    assert chosen.model.size == 200 and chosen.excess_risk > free.excess_risk
    bound = design_for_compute(TASK, 1e6, gamma=0.1)
    assert bound.peak <= 0.1 and bound.excess_risk > free.excess_risk
    cosine = design_for_compute(TASK, 1e6, family="cosine")
    for factor in (0.8, 1.25):
        size = round(factor * cosine.model.size)
        cosine_of_size = design_for_model(Model(0.3, 2.0, size, 1.0), 1e6 / size, family="cosine")
        assert cosine_of_size.excess_risk > cosine.excess_risk > free.excess_risk
    falling = design_for_compute(TASK, 1e6, falling=True)
    assert np.diff(falling.gammas).max() <= 1e-12 * falling.peak


@pytest.mark.parametrize("s, beta", [(0.5, 1.3), (2.0, 3.0)])
def test_its_exponents_are_those_of_the_theory(s, beta):
    """Between budgets of 1e12 and 1e15, in the easy regime: within .02; the claims go further and to hard tasks."""
    small, large = (design_for_compute(Model(s, beta, float("inf"), 1.0), compute) for compute in (1e12, 1e15))
    found = {
        name: np.log(value(large) / value(small)) / np.log(1e3)
        for name, value in {
            "excess_risk": lambda design: design.excess_risk,
            "peak_gamma": lambda design: design.peak,
            "horizon": lambda design: design.horizon,
            "model_size": lambda design: design.model.size,
            "data": lambda design: design.data,
        }.items()
    }
    assert all(abs(found[name] - large.exponents[name]) < 0.02 for name in found)


@pytest.mark.parametrize("s, beta, most", [(0.3, 2.0, 1e40), (0.5, 4.0, 1e40), (0.05, 2.0, 1e32)])
def test_hard_tasks_decay_late(s, beta, most):
    """The share of the decay falls as the theory says: within .01 over the last four decades of samples.

    For s = .05 it is 5e-10 at 1e32 samples; from 1e-11 on rounding moves it by more than the theory's next order.
    """
    task, shares = Model(s, beta, float("inf"), 1.0), []
    for data in (1e-4 * most, most):
        _, gammas, samples = best_gammas(task, data)
        last = np.flatnonzero(gammas >= 0.99 * gammas.max())[-1]
        shares.append(samples[last + 1 :].sum() / data)
    expected = optimal_exponents(s, beta, "data")["decay_share"]
    assert np.log10(shares[1] / shares[0]) / 4.0 == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("budget", ["data", "compute"])
@pytest.mark.parametrize("s, beta", [("1/4", "2"), ("1", "2"), ("1/2", "3"), ("3", "5/4")])
def test_the_exponents_are_those_that_the_engine_derives(budget, s, beta):
    """For the power decay 2 beta - 1, which the best schedule is once it falls."""
    number = [float(a) / float(b or 1) for a, _, b in (text.partition("/") for text in (s, beta))]
    found = optimal_exponents(*number, budget)
    orders = optimal_allocation("power-decay", budget).at(s, beta, str(2 * number[1] - 1)).quantities
    names = {"excess_risk": "excess_risk", "peak_gamma": "peak_lr"}
    names |= {"model_size": "model_size", "data": "data_size"} if budget == "compute" else {}
    for ours, derived in names.items():
        assert orders[derived].lower.log_power == 0
        assert found[ours] == pytest.approx(float(orders[derived].lower.power), abs=1e-12)  # rounding


@pytest.mark.parametrize(
    "asked, said",
    [
        ({"compute": 0.5}, "at least 1, one feature and one sample"),
        ({"compute": float("nan")}, "compute"),
        ({"compute": 100, "model_sizes": [10, 200]}, "of 200 features it leaves 0.5 samples"),
        ({"compute": 100, "gamma": 1.3}, "gamma must be below 2/tr"),
        ({"compute": 100, "gamma": 1.9, "model_sizes": [1, 2]}, "becomes unstable"),
    ],
)
def test_what_no_model_meets_is_refused(asked, said):
    with pytest.raises(ValueError, match=said):
        design_for_compute(TASK, **asked)


def test_an_unknown_budget_has_no_exponents():
    with pytest.raises(ValueError, match="'data' or 'compute'"):
        optimal_exponents(0.5, 2.0, "time")


def test_it_is_shown_drawn_and_written():
    pytest.importorskip("matplotlib")
    found = design_for_compute(TASK, 1e5)
    shown = as_html(found)
    assert f"{found.model.size:g} features" in shown and "model_size ~ budget^0.333" in shown
    axes = found.plot()
    assert axes.get_xlabel() == "samples left" and found.plot(axes) is axes
    assert f'"model_size": {found.model.size:g}' in found.to_json()
