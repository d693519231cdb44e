"""The plain solver: its rule as one triangular system, second order, and what is claimed for it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from models import loss_of, problem_of, with_model

from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.reference import solve_reference, trapezoid

SPECTRUM = Spectrum([1.0, 0.4, 0.1], [0.3, 0.2, 0.7], tail=0.05)


def jumping(t):
    return np.where(t < 1.0, 0.8 - 0.1 * t, 0.3 + 0.1 * t)


def _problem(**changes):
    values = {"spectrum": SPECTRUM, "noise": 0.6, "gamma": jumping, "horizon": 4.0, "breaks": (1.0,)}
    return problem_of(**(values | changes))


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
@pytest.mark.parametrize("steps", [4, 8, 12])
def test_the_rule_is_a_triangular_system(closure, steps):
    """f(t_n) = forcing + sum of h/2 (K gamma (f + sigma^2)) at both ends of each interval, from the interval's side."""
    problem = _problem(closure=closure)
    t, h = np.linspace(0.0, 4.0, steps + 1), 4.0 / steps
    lam, signals = np.array([1.0, 0.4, 0.1]), np.array([0.3, 0.2, 0.7])
    # gamma at both ends of each interval, from within
    from_right, from_left = jumping(t[:-1] + 1e-12), jumping(t[1:] - 1e-12)
    growth = np.concatenate([[0.0], np.cumsum(0.5 * h * (from_right + from_left))])
    if closure == "volterra":
        growth = 0.0 * growth

    def decay(n, i):
        return np.exp(-2.0 * lam * (t[n] - t[i]) + lam**2 * (growth[n] - growth[i]))

    matrix, right = np.eye(steps + 1), np.zeros(steps + 1)
    for n in range(steps + 1):
        right[n] = 0.05 + signals @ decay(n, 0)
        for i in range(n):
            for place, gamma in ((i, from_right[i]), (i + 1, from_left[i])):
                weight = 0.5 * h * gamma * float(lam**2 @ decay(n, place))
                matrix[n, place] -= weight
                right[n] += weight * 0.6
    # gamma beside the grid points is taken a part 1e-9 of a step away
    assert trapezoid(problem, steps) == pytest.approx(np.linalg.solve(matrix, right), rel=1e-9, abs=0.0)


def test_gamma_is_never_asked_for_outside():
    seen = []

    def watched(t):
        seen.extend(np.atleast_1d(t).tolist())
        return jumping(t)

    problem = _problem(gamma=watched)
    seen.clear()
    trapezoid(problem, 4)
    assert min(seen) == 0.0 and max(seen) == 4.0


def test_extrapolation_leaves_an_error_of_fourth_order_and_claims_it():
    problem, t = _problem(gamma=0.3, breaks=()), np.array([0.5, 1.0, 4.0])
    exact = loss_of(problem, t).values
    missed = []
    for steps in (64, 128, 256):
        values, error, facts = solve_reference(problem, t, steps)
        missed.append(np.abs(values - exact))
        assert (missed[-1] <= error).all() and facts["steps"] == 4 * steps
    # 2^4 with a fifth of room for the next order
    assert all(12.8 < a / b < 19.2 for a, b in zip(missed[0], missed[1], strict=True))
    assert all(12.8 < a / b < 19.2 for a, b in zip(missed[1], missed[2], strict=True))


def test_too_many_modes_of_the_gaussian_closure_are_refused():
    large = Problem(Model(s=0.5, beta=2.0, size=10**5 + 1, noise=1.0), gamma=0.3, horizon=4.0, closure="gaussian")
    with pytest.raises(ValueError, match="needs model_size <= 100000, got 100001"):
        trapezoid(large, 4)
    assert trapezoid(replace(with_model(large, size=math.inf), closure="volterra"), 4).size == 5


@pytest.mark.parametrize("cut", [1.23456, 3.14159, 9.87])
@pytest.mark.parametrize("steps", [64, 256])
def test_the_reference_claims_enough_where_a_jump_lies_beside_its_grid(cut: float, steps: int) -> None:
    def gamma(t: Any) -> Any:
        return np.where(t <= cut, 0.5, 0.02)

    t = np.array([3.0, 5.0, 7.0, 10.0, 20.0, 40.0])
    problem = Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=gamma, horizon=40.0, breaks=(cut,))
    values, error, _ = solve_reference(problem, t, steps)
    true = np.abs(values - loss_of(problem, t, rtol=1e-12).values)
    assert (true <= error).all()
    # A jump that is half a step out of place is an error of the first order: it is not claimed a hundredfold.
    assert error.max() < 100.0 * 0.5 * problem.end / (4 * steps)
