"""Small parts of the solvers one by one: step rules, local modes, refinement and the series."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem, Spectrum, neumann
from fsl_num.volterra.linear_modes import linear_modes
from fsl_num.volterra.steps import refinement
from fsl_num.volterra.steps.local_modes import LocalBasis, _points_needed
from fsl_num.volterra.steps.step_rules import (
    MOST_POINTS,
    OwnKernel,
    Segment,
    divide_long_steps,
    radau_step_rule,
    segments,
    step_inverses,
)

SMALL = Problem(s=0.5, beta=2.0, model_size=5, noise=1.0, gamma=0.3, horizon=20.0)


@pytest.mark.parametrize("size", range(1, MOST_POINTS + 1))
def test_a_rule_integrates_polynomials_on_a_step_and_to_its_points(size):
    rule = radau_step_rule(size)
    for power in range(2 * size - 1):
        assert rule.weights @ rule.points**power == pytest.approx(1.0 / (power + 1.0), rel=1e-13, abs=0.0)
    matrix = rule.coupling * rule.weights
    for power in range(size):
        assert matrix @ rule.points**power == pytest.approx(rule.points ** (power + 1) / (power + 1.0), abs=1e-14)
    assert rule.points[-1] == 1.0
    back = rule.reversed()
    # the adjoint of the step: q_j b_j a*_ji = q_i b_i a_ij read from its end
    assert back.points == pytest.approx(1.0 - rule.points[::-1], abs=1e-16)
    adjoint = rule.weights[:, None] * rule.coupling * rule.weights
    turned = back.weights[:, None] * back.coupling * back.weights
    assert turned[::-1, ::-1].T == pytest.approx(adjoint, abs=1e-16)


def test_runs_of_steps_have_the_points_of_their_longest_step():
    lengths = np.concatenate([np.full(1024, 1e-3), np.full(1024, 0.02), [0.5], np.full(99, 1e-3)])
    for fastest in (1.0, 2.0):
        found = segments(lengths, fastest, 1e-8)
        assert [(one.low, one.high) for one in found] == [(0, 1024), (1024, 2048), (2048, 2148)]
        for one, longest in zip(found, (1e-3, 0.02, 0.5), strict=True):
            alone = segments(np.array([fastest * longest]), 1.0, 1e-8)
            assert alone == [Segment(0, 1, one.points)]
        assert found[0].points < found[1].points < found[2].points
    most = [segments(np.array([1.0]), 1.0, accuracy)[0].points for accuracy in (1.0, 1e-2, 1e-4, 1e-15, 1e-30)]
    assert most == sorted(most) and most[-1] == MOST_POINTS
    assert [segments(np.array([0.1]), 1.0, 1e-2, extra)[0].points for extra in (0, 1, 20)] == [2, 3, MOST_POINTS]


def error_of_one_step(eta, points):
    """x' = -2 x + gamma (x + delta) on one step by a rule of so many points, relative."""
    plan = Discrete(rates=[eta], batch_sizes=eta / 0.8)
    problem = Problem(s=0.5, beta=2.0, model_size=1, noise=0.0, gamma=plan)
    rule, base = radau_step_rule(points), linear_modes(problem, eta).delta
    matrix = rule.coupling * rule.weights
    kernel = np.exp(-2.0 * eta * (rule.points[:, None] - rule.points))
    u = np.linalg.solve(np.eye(points) - 0.8 * eta * matrix * kernel, base + np.exp(-2.0 * eta * rule.points))
    slope = 0.8 - 2.0
    rest = 0.8 * base / slope
    exact = base + (1.0 + rest) * math.exp(slope * eta) - rest
    return abs(u[-1] / exact - 1.0)


@pytest.mark.parametrize("eta", [0.5, 0.3, 0.1, 0.02])
@pytest.mark.parametrize("digits", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
def test_the_points_of_a_run_are_about_enough(eta, digits):
    accuracy = 10.0**-digits
    points = segments(np.array([eta]), 2.0, accuracy)[0].points
    # the first guess was measured for other modes: within a factor of ten
    assert error_of_one_step(eta, points) <= 10.0 * accuracy
    # and with two points less it would not do, by an order each
    if points > 2:
        assert error_of_one_step(eta, points - 2) > accuracy


def test_long_steps_are_divided_into_parts_of_the_fastest_time_at_most():
    lengths = np.array([0.0, 0.1, 0.5, 0.5 * (1.0 + 1e-13), 0.500001, 1.2, 7.0])
    assert divide_long_steps(lengths, 2.0).tolist() == [1, 1, 1, 1, 2, 3, 14]
    assert divide_long_steps(np.array([1e8]), 1.0).tolist() == [100_000_000]
    with pytest.raises(ValueError, match=r"divided into 1e\+08 parts"):
        divide_long_steps(np.array([1e8 + 1.0]), 1.0)


@pytest.mark.parametrize("size", [0.05, 0.17, 0.25])
def test_inverses_of_small_matrices(size):
    rng = np.random.default_rng(11)
    matrices = size * rng.uniform(0.0, 1.0, (50, 4, 4))
    matrices[:, range(4), range(4)] *= -1.0
    left = (np.eye(4) - matrices) @ step_inverses(matrices) - np.eye(4)
    assert np.abs(left).max() < 1e-14  # well conditioned: sums of four products
    assert step_inverses(np.empty((0, 4, 4))).shape == (0, 4, 4)


def test_the_kernel_within_a_step_by_its_series():
    rates, weights = np.array([0.01, 3.0, 7.0]), np.array([0.2, 0.5, 1.0])
    lengths, gammas = np.array([0.14, 0.01, 0.0]), np.array([0.3, 2.0, 1.0])
    of = OwnKernel(rates, weights)
    for size in (1, 3, 8):
        for rule in (radau_step_rule(size), radau_step_rule(size).reversed(), radau_step_rule(size)):
            found = of.of(rule, lengths, gammas)
            for matrix, eta, gamma in zip(found, lengths.tolist(), gammas.tolist(), strict=True):
                apart = eta * (rule.points[:, None] - rule.points)
                kernel = np.exp(-np.multiply.outer(apart, rates)) @ weights
                # the next term of the series is 1/19!, 8e-18, and it is rounded
                assert matrix == pytest.approx(
                    gamma * eta * rule.coupling * rule.weights * kernel, rel=2e-15, abs=2e-16
                )


def test_so_many_chebyshev_points_are_needed():
    for reach in (1e-18, 1e-3, 0.7, 4.0, 20.0, 99.0):
        count = _points_needed(reach)
        bound = [2.0 * (reach / 4.0) ** n / math.factorial(n) for n in (count - 1, count)]
        assert bound[1] <= 1e-16 and (count == 1 or bound[0] > 1e-16)
    assert _points_needed(100.0) < math.inf and _points_needed(100.1) == math.inf


@pytest.mark.parametrize("length", [0.3, 1.0, 40.0])
def test_slow_modes_are_interpolated(length):
    rates = np.random.default_rng(12).permutation(np.concatenate([2.0 / np.arange(1.0, 200.0) ** 2, [0.0]]))
    basis = LocalBasis(rates)
    local = basis.of(length)
    assert local.rates.size < 60 and basis.of(0.999 * length).rates.size <= local.rates.size
    t = np.linspace(0.0, length, 7)
    exact, found = np.exp(-np.multiply.outer(t, rates)), np.exp(-np.multiply.outer(t, local.rates)) @ local.transfer.T
    # interpolation to 1e-16, and sums of some tens of numbers of size 1
    assert found == pytest.approx(exact, abs=3e-15)
    # blocks a little shorter have the same modes: the lengths are rounded up to a factor 2^(1/4)
    key = math.ceil(4.0 * math.log2(length))
    assert basis.of(2.0 ** (0.25 * key)) is local
    assert basis.of(2.0 ** (0.25 * key - 0.24)) is local and basis.of(2.0 ** (0.25 * key - 0.26)) is not local
    few = LocalBasis(rates[:3]).of(length)
    assert few.rates is not local.rates and np.array_equal(few.transfer, np.eye(3))


def marches(*answers):
    """A solver that gives one answer after the other, and the plans that it was given."""
    plans, left = [], iter(answers)

    def march(plan):
        plans.append(plan)
        return np.array(next(left))

    return march, plans


def test_points_are_added_until_two_solutions_agree():
    lengths = np.full(3, 0.1)
    march, plans = marches([3.0, 2.0, 5.0], [3.2, 2.0, 5.0], [3.2, 2.0 + 1e-9, 5.0], [0.0, 0.0, 0.0])
    found = refinement.refine_points(march, lengths, 2.0, 1.0, 1e-8)
    assert len(plans) == 3 and found.plan == plans[2]
    # of f = u - 1, the largest so far
    assert found.worst == pytest.approx([0.0, 1e-9, 1e-9], abs=1e-15)
    assert found.values.tolist() == [3.2, 2.0 + 1e-9, 5.0]
    points = [one.points for plan in plans for one in plan]
    assert points == [points[0], points[0] + 1, points[0] + 2] and found.points == 3 * sum(points)


def test_points_are_added_up_to_the_most():
    calls = iter(range(1, 100))
    found = refinement.refine_points(lambda plan: np.array([2.0 ** -next(calls)]), np.array([0.1]), 2.0, 0.0, 1e-8)
    assert [one.points for one in found.plan] == [MOST_POINTS]
    assert found.worst.tolist() == [1.0]  # half of what it was, by what it is


def test_the_series_is_refined_until_two_solutions_agree(monkeypatch):
    calls, right = [], neumann._apply
    monkeypatch.setattr(neumann, "_apply", lambda *given: calls.append(given[1].size) or right(*given))
    found = neumann.neumann_series(SMALL, [1.0, 20.0], terms=3)
    assert len(calls) == 3 and calls[1:] == [2 * calls[0] - 1, 4 * calls[0] - 3]
    assert found.error <= 2e-12
    with pytest.raises(ValueError, match="at least one time"):
        neumann.neumann_series(SMALL, [])
    with pytest.raises(ValueError, match="gamma must be positive"):
        neumann.neumann_series(replace(SMALL, gamma=0.0), 1.0)
    with pytest.raises(ValueError, match="closure 'volterra'"):
        neumann.neumann_series(replace(SMALL, closure="gaussian"), 1.0)


def test_terms_of_the_series_for_one_mode():
    # T^n of the constant delta + sigma^2, s0 exp(-2 t) aside: int K gamma, and int K gamma of that
    problem = Problem(spectrum=Spectrum([1.0], [0.0], 0.5), noise=1.5, gamma=0.3, horizon=4.0)
    found = neumann.neumann_series(problem, [0.5, 4.0], terms=3)
    x = 2.0 * np.array([0.5, 4.0])
    first = 2.0 * 0.15 * (1.0 - np.exp(-x))
    second = 2.0 * 0.15**2 * (1.0 - np.exp(-x) * (1.0 + x))
    third = 2.0 * 0.15**3 * (1.0 - np.exp(-x) * (1.0 + x + 0.5 * x**2))
    assert found.terms == pytest.approx(np.array([first, second, third]), abs=2e-12)  # the error of a term
    sums = 0.5 + np.cumsum([0.0 * x, first, second, third], axis=0)
    assert found.partial_sums == pytest.approx(sums, abs=1e-11)
    # the ratios rise with t: the largest are those at the end
    assert found.contraction == pytest.approx(second[1] / first[1], rel=1e-10, abs=0.0)
    assert found.ratios[1] == pytest.approx(third[1] / second[1], rel=1e-10, abs=0.0)
    assert found.largest == pytest.approx([first[1], second[1], third[1]], rel=1e-10, abs=0.0)
    rest = found.ratios[1] / (1.0 - found.ratios[1])
    assert found.remainder == pytest.approx(third * rest, rel=1e-9, abs=0.0)
    assert found.law_excess == pytest.approx((second + third)[1] / first[1], rel=1e-9, abs=0.0)
    assert found.law_excess_error == pytest.approx(third[1] / first[1] * rest, rel=1e-9, abs=0.0)
