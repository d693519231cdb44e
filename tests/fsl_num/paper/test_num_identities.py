"""What the claims about identities are measured with: tables, steps, moments, partial sums and tuned laws."""

import math

import numpy as np
import pytest
from sympy import Rational

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import NothingCompared
from fsl_num.model import Model
from fsl_num.paper.allocation.numeric_laws import measure_risk
from fsl_num.paper.model import gradients, moments, spaces, tuned_laws
from fsl_num.paper.model.risk_evolution import OneFunction
from fsl_num.paper.model.rotations import rotated_paths
from fsl_num.paper.model.tables import Interval, Table, table
from fsl_num.simulate.noise_covariance import noise_covariance
from fsl_num.simulate.regression import Regression

HARD = Sample("hard", Rational(1, 2), Rational(4))
EASY = Sample("easy", Rational(3, 2), Rational(2))


# ---- statements ------------------------------------------------------------------------------------------------------


def test_a_table_compares_every_entry_with_the_largest_of_its_array():
    claimed = Table({"x": [1.0, 100.0], "zero": [0.0]}, 1e-3)
    assert claimed.judge({"x": [1.05, 100.0], "zero": [5e-4]}).holds
    assert not claimed.judge({"x": [1.2, 100.0], "zero": [0.0]}).holds
    assert not claimed.judge({"x": [1.0, 100.0], "zero": [2e-3]}).holds
    with pytest.raises(ValueError, match="not finite"):
        claimed.judge({"x": [math.nan, 100.0], "zero": [0.0]})
    for measured in ({"x": [1.0, 100.0]}, {"x": [1.0], "zero": [0.0]}):
        with pytest.raises(NothingCompared):
            claimed.judge(measured)
    assert claimed.neighbours("power", 0.1) == ()


def test_the_mutants_of_a_table_are_its_formula_with_other_keywords():
    def formula(sample, *, factor=1.0):
        return {"x": np.array([factor * sample.point[0]])}

    made = table(formula, 1e-9, {"twice": {"factor": 2.0}})(HARD)
    assert made.judge(formula(HARD)).holds
    assert not made.mutants()["twice"].judge(formula(HARD)).holds


def test_an_interval_that_is_attained_moves_neither_way():
    attained, open_ = Interval(2.0, 4.0), Interval(-math.inf, 1.0, attained=False)
    assert attained.judge([2.0, 3.0, 4.0]).holds and open_.judge([0.3]).holds
    assert (
        not attained.judge([2.0, 3.0]).holds and not attained.judge([1.9, 4.0]).holds and not open_.judge([1.1]).holds
    )
    assert set(attained.mutants()) == {"low raised", "high lowered", "low lowered", "high raised"}
    assert set(open_.mutants()) == {"high lowered"}
    assert not any(mutant.judge([2.0, 4.0]).holds for mutant in attained.mutants().values())
    with pytest.raises(NothingCompared):
        attained.judge([])


def test_means_of_one_function_over_a_short_time_are_close():
    claimed = OneFunction()
    assert claimed.judge(([3.0, 3.1], 0.02)).holds
    assert not claimed.judge(([3.7, 2.2], 0.02)).holds
    assert not claimed.mutants()["half the factor"].judge(([3.0, 3.0], 0.02)).holds


# ---- steps -----------------------------------------------------------------------------------------------------------


def test_the_gradient_by_differences_is_that_of_samples_drawn():
    case = gradients.cases(HARD)["gaussian, random"]
    generator = np.random.default_rng(5)
    phi = generator.standard_normal((40_000, 4)) * np.sqrt(case.problem.eigenvalues)
    epsilon = math.sqrt(gradients.NOISE) * generator.standard_normal(40_000)
    drawn = (phi @ case.projection.T) * (phi @ case.error - epsilon)[:, None]
    # the mean of 40,000 draws is within 5 standard errors, and covariances of normal fourth moments within 5 %
    error = drawn.std(axis=0) / math.sqrt(40_000)
    assert (np.abs(drawn.mean(axis=0) - case.mean) < 5 * error).all()
    assert np.abs(np.cov(drawn.T) - case.covariance).max() < 0.05 * case.covariance.max()


def test_rotated_paths_end_below_where_they_began():
    paths = rotated_paths(EASY)
    assert all(path[-1] < path[0] for path in paths.values())
    kept = rotated_paths(EASY, kept=True)
    assert np.allclose(kept["all"], paths["all"]) and not np.allclose(kept["first"], paths["first"], rtol=0.05)


# ---- moments ---------------------------------------------------------------------------------------------------------


def test_the_mean_noise_at_one_point_is_the_covariance_there():
    model = moments.models(HARD)["random"]
    problem = Regression(Model(s=0.5, beta=4.0, size=2, noise=gradients.NOISE), features=4, projection=model.projection)
    v = np.array([0.3, -0.2])
    error = v @ model.projection - model.theta
    assert np.allclose(model.noise(np.outer(error, error)), noise_covariance(problem, v), rtol=1e-12)


def test_the_clock_and_its_inverse():
    for tau in (0.0, 0.4, 3.0):
        assert moments.inverse_clock(moments.clock(tau)) == pytest.approx(tau, abs=1e-14)
        slope = (moments.clock(tau + 1e-6) - moments.clock(tau - 1e-6)) / 2e-6
        assert slope == pytest.approx(moments.phi(tau), rel=1e-8)


def test_without_noise_the_moments_are_those_of_gradient_flow():
    model = moments.models(EASY)["first"]
    second = moments.solve(model, lambda t: 1.0, lambda t: 0.0, 1.0)(1.0)
    expected = model.theta[:2] ** 2 * np.exp(-2 * model.own[:2])
    assert np.allclose(np.diag(second)[:2], expected, rtol=1e-8)


# ---- partial sums and tuned laws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0.7, 1.0, 1.3, 4.0])
def test_partial_sums_far_out_are_those_term_by_term(power):
    last = 200_000
    direct = math.log(float((np.arange(1.0, last + 1.0) ** -power).sum()))
    # the midpoint rule ends half a unit earlier here than the sum does: half of the last term is between them
    assert spaces.log_sums(power, [math.log(last + 0.5)])[0] == pytest.approx(direct, abs=1e-9)


@pytest.mark.parametrize(
    ("schedule", "budget", "point"),
    [("constant", "data", (1.5, 2.0)), ("exp-decay", "compute", (0.48, 5.8)), ("wsd", "data", (0.59, 1.43))],
)
def test_the_least_risk_is_that_of_the_other_search(schedule, budget, point):
    found, by_brute_force = (
        search(schedule, budget, *point).values for search in (tuned_laws.least_risk, measure_risk)
    )
    # a decay fraction of 1/2 for the best one costs a constant factor, below 2
    gap = found - by_brute_force
    assert (gap > -1e-3).all() and (gap < math.log(2.0)).all() and np.ptp(gap) < 1e-3


def test_a_given_peak_rate_costs_at_least_the_best():
    best = tuned_laws.least_risk("exp-decay", "compute", 1.5, 2.0).values
    for power in (0.0, -0.4, -0.7):
        peaks = tuple(power * log_budget for log_budget in tuned_laws.LOG_BUDGETS)
        assert (tuned_laws.least_risk("exp-decay", "compute", 1.5, 2.0, peaks).values >= best - 1e-3).all()


def test_higher_capacities_keep_the_task():
    for sample in (HARD, EASY):
        for s, beta in tuned_laws.richer(sample).values():
            assert s * beta == sample.s * sample.beta and 1 < beta < sample.beta
