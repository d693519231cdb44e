"""The brute-force minimiser against linear programmes and against calculus done by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from fsl_num.minimise import minimise_law, near_optimal_interval, near_optimal_intervals

Array = np.ndarray[Any, np.dtype[np.float64]]


def programme(slopes: Array, offsets: Array) -> float:
    """Minimum over |u| <= 1 of max_i (slopes_i . u + offsets_i), by an exact linear programme."""
    m, n = slopes.shape
    cost = np.r_[np.zeros(n), 1.0]
    solved = linprog(
        cost, A_ub=np.c_[slopes, -np.ones(m)], b_ub=-offsets, bounds=[(-1, 1)] * n + [(None, None)], method="highs"
    )
    return float(solved.fun)


def tolerance(log_budget: float) -> float:
    # 1e-6 log units, or 1e-14 of the largest terms (coefficients up to 4 times log_budget): rounding of the law itself
    return max(1e-6, 4e-14 * log_budget * 10)


@pytest.mark.parametrize("log_budget", [30.0, 2.3e7])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_piecewise_affine_laws_reach_the_linear_programme(n: int, log_budget: float) -> None:
    generator = np.random.default_rng(np.random.SeedSequence([n, int(log_budget)]))
    for _ in range(1 + (n == 1)):  # each variable more makes a search several times longer
        slopes, offsets = generator.normal(size=(n + 3, n)), generator.normal(size=n + 3)
        slopes[0] *= 100.0  # one steep wall, so that the valley is skewed

        def law(x: Array, slopes: Array = slopes, offsets: Array = offsets) -> Array:
            return (x @ slopes.T + offsets * log_budget).max(axis=-1)

        found = minimise_law(law, [(-1, 1)] * n, log_budget=log_budget)
        exact = programme(slopes, offsets) * log_budget
        allowed = tolerance(100 * log_budget)
        assert abs(found.log_value - exact) < allowed
        assert found.spread < allowed
        assert law(found.log_point) == pytest.approx(found.log_value, abs=allowed)


@pytest.mark.parametrize("log_budget", [1e6])
def test_a_minimum_inside_a_term_is_the_better_of_two_programmes(log_budget: float) -> None:
    generator = np.random.default_rng(np.random.SeedSequence(7))
    for _ in range(2):
        slopes, offsets = generator.normal(size=(6, 3)), generator.normal(size=6)

        def law(x: Array, slopes: Array = slopes, offsets: Array = offsets) -> Array:
            terms = x @ slopes.T + offsets * log_budget
            return np.maximum(terms[..., :4].max(axis=-1), terms[..., 4:].min(axis=-1))

        exact = min(programme(slopes[[0, 1, 2, 3, k]], offsets[[0, 1, 2, 3, k]]) for k in (4, 5)) * log_budget
        found = minimise_law(law, [(-1, 1)] * 3, log_budget=log_budget)
        assert abs(found.log_value - exact) < tolerance(log_budget)


def test_smooth_sums_match_calculus_with_logarithms() -> None:
    # x^-2 D^-1 log D + x: minimised where 2 x^-3 D^-1 log D = 1, worked out by hand.
    for log_budget in (1e2, 1e4, 1e6):

        def law(x: Array, log_budget: float = log_budget) -> Array:
            return np.logaddexp(-2 * x[..., 0] - log_budget + math.log(log_budget), x[..., 0])

        best_x = (math.log(2 * log_budget) - log_budget) / 3
        exact = np.logaddexp(-2 * best_x - log_budget + math.log(log_budget), best_x)
        found = minimise_law(law, [(-1, 0)], log_budget=log_budget)
        assert abs(found.log_value - exact) < tolerance(log_budget)
        assert abs(found.log_point[0] - best_x) < 1e-3  # a smooth minimum: error in x is the root of that in the value


def valley(x: Array) -> Array:
    """log max(x/5, 5/x, y/x, x/y) in logarithms, least at x = y = e^5, one variable irrelevant."""
    return np.maximum(np.abs(x[..., 0] - 5.0), np.abs(x[..., 1] - x[..., 0])) + 0.0 * x[..., 2]


def test_near_optimal_intervals_by_hand() -> None:
    bounds = [(0.0, 1.0)] * 3
    found = near_optimal_interval(valley, bounds, 0, log_budget=20.0, factor=4.0)
    assert (found.hits_lower_bound, found.hits_upper_bound) == (False, False)
    assert found.log_low == pytest.approx(5 - math.log(4), abs=2e-3)  # refined to 1e-3 log units
    assert found.log_high == pytest.approx(5 + math.log(4), abs=2e-3)
    second = near_optimal_interval(valley, bounds, 1, log_budget=20.0, factor=4.0)
    assert second.log_low == pytest.approx(5 - 2 * math.log(4), abs=2e-3)
    assert second.log_high == pytest.approx(5 + 2 * math.log(4), abs=2e-3)
    free = near_optimal_interval(valley, bounds, 2, log_budget=20.0)
    assert (free.log_low, free.log_high, free.hits_lower_bound, free.hits_upper_bound) == (0.0, 20.0, True, True)


def test_the_intervals_of_all_variables_side_by_side_are_those_of_each_alone() -> None:
    bounds = [(0.0, 1.0)] * 3
    together = near_optimal_intervals(valley, bounds, log_budget=20.0, factor=4.0)
    assert len(together) == 3
    for index, found in enumerate(together):
        alone = near_optimal_interval(valley, bounds, index, log_budget=20.0, factor=4.0)
        assert found.log_low == pytest.approx(alone.log_low, abs=2e-3)  # each is refined to 1e-3 log units
        assert found.log_high == pytest.approx(alone.log_high, abs=2e-3)
        assert (found.hits_lower_bound, found.hits_upper_bound) == (alone.hits_lower_bound, alone.hits_upper_bound)
    last, first = near_optimal_intervals(valley, bounds, [2, 0], log_budget=20.0, factor=4.0)
    assert last.hits_upper_bound and not first.hits_upper_bound


def test_a_separate_near_optimal_piece_is_not_missed_and_a_thin_one_is_resolved() -> None:
    def two(x: Array) -> Array:
        return np.minimum(np.abs(x[..., 0] - 4.0), np.abs(x[..., 0] - 15.0) + 0.5)

    found = near_optimal_interval(two, [(0.0, 1.0)], 0, log_budget=20.0, factor=math.e)
    assert found.log_low == pytest.approx(3.0, abs=2e-3) and found.log_high == pytest.approx(15.5, abs=2e-3)

    def thin(x: Array) -> Array:
        return np.abs(x[..., 0] - 123456.0) * 3.0

    narrow = near_optimal_interval(thin, [(0.0, 1.0)], 0, log_budget=1e6, factor=math.e)
    assert narrow.log_low == pytest.approx(123456 - 1 / 3, abs=2e-3)
    assert narrow.log_high == pytest.approx(123456 + 1 / 3, abs=2e-3)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda law: minimise_law(law, [], log_budget=10.0), "1 to 4 variables"),
        (lambda law: minimise_law(law, [(1.0, 0.0)], log_budget=10.0), "low <= high"),
        (lambda law: minimise_law(law, [(0.0, 1.0)], log_budget=-1.0), "log_budget must be positive"),
        (lambda law: minimise_law(lambda x: x, [(0.0, 1.0)], log_budget=1.0), "must map shape"),
        (lambda law: minimise_law(lambda x: x[..., 0] * np.nan, [(0.0, 1.0)], log_budget=1.0), "returned nan"),
        (lambda law: minimise_law(lambda x: x[..., 0] + np.inf, [(0.0, 1.0)], log_budget=1.0), "no feasible point"),
        (lambda law: near_optimal_interval(law, [(0.0, 1.0)], 1, log_budget=1.0), "index must be"),
        (lambda law: near_optimal_interval(law, [(0.0, 1.0)], 0, log_budget=1.0, factor=1.0), "factor must exceed"),
    ],
)
def test_bad_input_is_refused_in_words(call: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call(lambda x: x[..., 0])
