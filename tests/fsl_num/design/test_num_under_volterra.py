"""The best rates under the Volterra equation: conditions of optimality, rivals, and the law at small rates."""

import numpy as np
import pytest

from fsl_num import Discrete, Model, Problem, design_for_model, final_risk_gradient
from fsl_num.volterra import solve

CASES = [(0.3, 2.0, float("inf"), 1e4), (0.5, 2.0, 20, 300.0), (1.0, 2.0, float("inf"), 1e5)]


def optimum(s, beta, size, data, noise=1.0):
    design = design_for_model(Model(s, beta, size, noise), data)
    return design, design.under_volterra()


@pytest.mark.parametrize("case", CASES)
def test_one_price_in_all_samples(case):
    """Independent of the search: by the gradient of the solver that bounds its errors, on the blocks returned."""
    design, found = optimum(*case)
    plan = Discrete(rates=found.gammas * found.samples, batch_sizes=found.samples)
    slope = final_risk_gradient(Problem(design.model, gamma=plan), 1e-6)
    # what a sample saves: gamma^2/length dE/dgamma, one number where gamma is inside
    prices = slope.gammas * found.gammas / found.samples
    inside = found.gammas < 0.999 * design.allowed
    price = np.average(prices[inside], weights=found.samples[inside])
    spread = np.average(np.abs(prices[inside] / price - 1.0), weights=found.samples[inside])
    assert found.kkt_residual < 1e-6 and spread < 0.05  # cells of the search are a third longer each
    assert found.samples.sum() == pytest.approx(case[3], rel=1e-9) and found.gammas.max() <= design.allowed


@pytest.mark.parametrize("case", CASES)
def test_no_rates_near_it_are_better(case):
    design, found = optimum(*case)
    draw, count = np.random.default_rng(5), found.gammas.size
    for _ in range(12):
        bump = np.exp(0.3 * draw.normal() * np.exp(-(((np.arange(count) / count - draw.random()) / 0.1) ** 2)))
        gammas = np.minimum(found.gammas * bump, design.allowed)
        lengths = found.gammas * found.samples
        samples = lengths / gammas * (case[3] / (lengths / gammas).sum())
        plan = Discrete(rates=gammas * samples, batch_sizes=samples)
        rival = float(solve(Problem(design.model, gamma=plan), [plan.total_intrinsic_time]).excess_risk[0])
        assert rival > found.excess_risk * (1.0 - 1e-4)  # gamma between the cells of the search is interpolated


def test_large_rates_cost_more_than_the_law_says_and_small_ones_do_not():
    """At rates near their bound the best peak is lower than the law's; where they are small both agree."""
    design, found = optimum(0.5, 2.0, float("inf"), 1e4)
    assert found.excess_risk < 0.97 * found.of_design and found.gammas.max() < 0.9 * design.peak
    design, found = optimum(1.0, 2.0, float("inf"), 1e6)
    assert found.excess_risk == pytest.approx(found.of_design, rel=1e-3)
    assert found.horizon == pytest.approx(design.horizon, rel=0.02)


@pytest.mark.parametrize("data", [1.0, 1e9])
def test_next_to_nothing_and_what_takes_minutes_are_refused(data):
    with pytest.raises(ValueError, match="must lie in"):
        design_for_model(Model(0.3, 2.0, float("inf"), 1.0), data).under_volterra()
