"""The plain solver: its rule as one triangular system, what is extrapolated, and what is claimed for it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from models import problem_of, with_model

from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum, reference
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


def test_gamma_at_the_grid_is_taken_from_both_sides_and_never_outside():
    seen = []

    def watched(t):
        seen.extend(np.atleast_1d(t).tolist())
        return jumping(t)

    problem = _problem(gamma=watched)
    seen.clear()
    t = np.linspace(0.0, 4.0, 5)
    before, behind = reference._two_sided_gamma(problem, t)
    assert min(seen) == 0.0 and max(seen) == 4.0
    assert before == pytest.approx([0.8, 0.7, 0.5, 0.6, 0.7], abs=1e-8)
    assert behind == pytest.approx([0.8, 0.4, 0.5, 0.6, 0.7], abs=1e-8)
    # by a part 1e-9 of a step, far above rounding
    apart = sorted({round(abs(x - round(x)) / 1e-9, 3) for x in seen})
    assert apart == [0.0, 1.0]


def known(error):
    """Solutions whose error is a known function of the step, on grids of any size."""
    return lambda problem, steps: 3.0 + np.sin(np.linspace(0.0, 4.0, steps + 1)) + error(4.0 / steps)


def test_two_extrapolations_remove_the_second_order_and_show_the_fourth(monkeypatch):
    smooth = _problem(gamma=0.3, breaks=())
    t = np.linspace(0.0, 4.0, 65)
    monkeypatch.setattr(reference, "trapezoid", known(lambda h: 0.7 * h**2))
    values, error, facts = solve_reference(smooth, t, 64)
    assert values == pytest.approx(3.0 + np.sin(t), rel=1e-13, abs=0.0)
    # what the coarser grid's spline misses between its points, at most (h^4/384) 5 sin
    assert (error[::2] <= 1e-13).all() and 0.0 < error[1::2].max() < 5.0 * 0.125**4 / 384.0 * 4.0
    assert facts == {"steps": 256, "evaluations": 64 + 128 + 256 + 3}
    monkeypatch.setattr(reference, "trapezoid", known(lambda h: 2.0 * h**4))
    values, error, _ = solve_reference(smooth, t, 64)
    fine, rough = (2.0 * (x**4 + (x**4 - (2.0 * x) ** 4) / 3.0) for x in (1.0 / 64.0, 1.0 / 32.0))
    assert values == pytest.approx(3.0 + np.sin(t) + fine, rel=1e-13, abs=0.0)
    assert error[::2] == pytest.approx(np.full(33, abs(fine - rough)), rel=1e-6, abs=0.0)


def test_beside_the_grid_nothing_is_extrapolated(monkeypatch):
    t = np.linspace(0.0, 4.0, 65)
    monkeypatch.setattr(reference, "trapezoid", known(lambda h: 0.7 * h))
    for place, on_grid in (
        (1.0, True),
        (1.0 + 4.0 / 64.0 * 0.9e-9, True),
        (1.0 + 4.0 / 64.0 * 1.2e-9, False),
        (1.01, False),
    ):
        values, error, _ = solve_reference(_problem(breaks=(place,)), t, 64)
        steps = [0.7 / 16.0, 0.7 / 32.0, 0.7 / 64.0]
        if on_grid:
            # an error of first order is not removed, but halved less a third
            second, first = (b + (b - a) / 3.0 for a, b in ((steps[1], steps[2]), (steps[0], steps[1])))
            rest, apart = second, abs(second - first)
        else:
            rest, apart = steps[2], steps[0] - steps[2]
        assert values == pytest.approx(3.0 + np.sin(t) + rest, rel=1e-12, abs=0.0)
        assert error[::2] == pytest.approx(np.full(33, apart), abs=1e-11)


def test_a_difference_beside_a_jump_is_not_forgotten(monkeypatch):
    bump = np.where(np.linspace(0.0, 4.0, 65) == 1.5, 1.0, 0.0)

    def march(problem, steps):
        level = steps // 64
        values = np.full(steps + 1, 2.0)
        values[::level] += {1: 0.0, 2: 0.03, 4: 0.01}[level] * bump
        return values

    monkeypatch.setattr(reference, "trapezoid", march)
    t = np.linspace(0.0, 4.0, 65)[::2]
    _, error, _ = solve_reference(_problem(breaks=(1.01,)), t, 64)
    # 0.03 from the first grid to the second and 0.02 from there, at all later times
    assert error[t > 1.5] == pytest.approx(np.full(int((t > 1.5).sum()), 0.05), rel=0.3, abs=0.0)
    assert error[t == 1.5] == pytest.approx([0.05], rel=1e-9, abs=0.0)
    assert error[t < 1.0].max() < 1e-3


def test_rounding_is_part_of_the_rough_error(monkeypatch):
    def march(problem, steps):
        return np.full(steps + 1, 2.0**30 + (3.0 * 2.0**-20 if steps == 256 else 0.0))

    monkeypatch.setattr(reference, "trapezoid", march)
    _, error, _ = solve_reference(_problem(), np.array([1.0, 2.0]), 64)
    # four thirds of the last difference, and 1e-15 of the value; splines round by some 1e-7 here
    assert error == pytest.approx(np.full(2, 4.0 * 2.0**-20 + 1e-15 * 2.0**30), abs=3e-7)


def test_as_many_modes_as_are_allowed(monkeypatch):
    monkeypatch.setattr(reference, "_LARGEST", 3)
    allowed = Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=0.3, horizon=4.0, closure="gaussian")
    assert trapezoid(allowed, 4).size == 5
    with pytest.raises(ValueError, match="needs model_size <= 3, got 4"):
        trapezoid(with_model(allowed, size=4), 4)
    assert trapezoid(replace(with_model(allowed, size=math.inf), closure="volterra"), 4).size == 5
