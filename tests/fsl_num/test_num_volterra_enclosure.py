"""Proven bounds: they hold the secular equation at many more digits, and the whole sum at the start."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from fsl_num.exponential_sums_digits import private_context
from fsl_num.spectrum import exponential_sum
from fsl_num.volterra import Problem, UnstableProblemError
from fsl_num.volterra.constant import solve_constant
from fsl_num.volterra.enclosure import solve_enclosure
from fsl_num.volterra.laplace import solve_laplace

pytest.importorskip("flint")
MP = private_context(110)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "model_size": 4, "noise": 1.0, "gamma": 0.3, "horizon": 100.0}
    values |= changes
    return Problem(**values)


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"model_size": 1, "noise": 0.0},
        {"s": 3.0, "model_size": 9, "noise": 2.0, "gamma": 1.1, "horizon": 1e8},
        {"s": 0.1, "beta": 1.1, "model_size": 15, "noise": 1e-6, "gamma": 0.15, "horizon": 1e5},
        {"beta": 6.0, "model_size": 20, "noise": 0.0, "gamma": 1e-6, "horizon": 1e4},
        {"gamma": Fraction(1, 3), "s": Fraction(1, 3)},
    ],
)
def test_the_balls_hold_another_method_at_a_hundred_digits(case: dict[str, Any]) -> None:
    problem = _problem(**case)
    t = [0, 0.01 * problem.end, problem.end]
    values, radii, _ = solve_enclosure(problem, t, 40)
    found = solve_constant(problem, t, 100)
    truth = found[0] if isinstance(found, tuple) else found
    for value, radius, exact in zip(values, radii, truth, strict=True):
        # the truth's own rounding, 1e-100, is far below the radii, about 1e-65
        assert 0 < radius < MP.mpf(10) ** -40 * exact
        assert abs(MP.mpf(value) - exact) <= radius


def test_at_the_start_the_residues_add_up_to_the_whole_sum() -> None:
    problem = _problem(model_size=60, beta=1.5)
    values, radii, facts = solve_enclosure(problem, [0], 30)
    beta = MP.mpf(1.5)
    whole = exponential_sum(1 + MP.mpf(0.5) * beta, 0, beta, digits=80)
    assert abs(MP.mpf(values[0]) - whole) <= radii[0]
    assert facts["modes"] == 60


def test_the_laplace_side_lies_within_both_errors() -> None:
    problem = _problem(model_size=30, horizon=1e4)
    values, radii, _ = solve_enclosure(problem, [1e4], 30)
    others, errors, _ = solve_laplace(problem, [1e4], 30)
    assert abs(MP.mpf(values[0]) - others[0]) <= radii[0] + errors[0]


@pytest.mark.parametrize(
    ("change", "t", "error", "text"),
    [
        ({"model_size": math.inf}, 1.0, ValueError, "model_size <= 400"),
        ({"gamma": 0.0}, 1.0, ValueError, "gamma > 0"),
        ({"gamma": lambda t: 0.1 + 0 * t}, 1.0, ValueError, "constant gamma"),
        ({"gamma": 3.0}, 1.0, UnstableProblemError, "must be below 1"),
        ({"closure": "gaussian"}, 1.0, ValueError, "closure"),
        ({}, -1.0, ValueError, "at least 0"),
        ({}, math.inf, ValueError, "at least 0"),
    ],
)
def test_what_it_cannot_do_is_said(change: dict[str, Any], t: float, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        solve_enclosure(_problem(**change), [t], 20)
