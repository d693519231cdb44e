"""The plain solver: trapezoid rule on a uniform grid, cost n^2, nothing clever. It exists to check the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.moment_modes import full_modes
from fsl_num.volterra.problem import Problem

_LARGEST = 1e5


def trapezoid(problem: Problem, steps: int) -> Array:
    """Return f = 2E on the uniform grid of ``steps`` intervals over [0, horizon].

    Second order where gamma is smooth between breaks that lie on the grid, on which each interval takes gamma from its
    own side. The closure "gaussian" is not a convolution: the same rule for its kernel, a sum over the modes of
    exponentials of (t, int gamma), is carried along mode by mode; its size must be at most 1e5.
    """
    t = np.linspace(0.0, problem.end, steps + 1)
    before, behind = _two_sided_gamma(problem, t)
    if problem.closure == "gaussian":
        return _second_moments(problem, t, before, behind)
    h = problem.end / steps
    kernel = problem.model.kernel(h * np.arange(steps + 1.0))
    forcing = problem.model.forcing(t)
    f = np.empty(steps + 1)
    injected = np.empty(steps + 1)
    f[0] = forcing[0]
    injected[0] = behind[0] * (f[0] + problem.model.noise)
    for n in range(1, steps + 1):
        past = kernel[n] * 0.5 * injected[0] + kernel[n - 1 : 0 : -1] @ injected[1:n]
        own = 0.5 * h * kernel[0] * before[n]
        f[n] = (forcing[n] + h * past + own * problem.model.noise) / (1.0 - own)
        injected[n] = 0.5 * (before[n] + behind[n]) * (f[n] + problem.model.noise)
    return f


def _two_sided_gamma(problem: Problem, t: Array) -> tuple[Array, Array]:
    """Return gamma at the grid as limits from below and from above."""
    near = 1e-9 * t[1]  # far above rounding, and a part 1e-9 of a step changes a smooth gamma by less than that
    low, high = np.maximum(t - near, 0.0), np.minimum(t + near, problem.end)
    before, behind = (problem.gamma_on(at, problem.end - at) for at in (low, high))
    return before, behind


def _second_moments(problem: Problem, t: Array, before: Array, behind: Array) -> Array:
    """Return f of the Gaussian closure on the grid: x_j' = (gamma lambda_j^2 - 2 lambda_j) x_j + gamma lambda_j^2 u."""
    if problem.model.size > _LARGEST:
        raise ValueError(
            f"method 'reference' keeps every mode of the closure 'gaussian' and needs model_size <= {_LARGEST:g}, got"
            f" {problem.model.size:g}; use 'panels'"
        )
    modes = full_modes(problem)
    rates, squares, state = modes.rates, modes.kernel_weights, modes.signal_weights
    delta, h = problem.model.approximation_error, float(t[1])
    f = np.empty(t.size)
    f[0] = delta + state.sum()
    for n in range(1, t.size):
        mean = 0.5 * h * (behind[n - 1] + before[n])
        decay = np.exp(squares * mean - 2.0 * h * rates)
        state = decay * (state + 0.5 * h * behind[n - 1] * (f[n - 1] + problem.model.noise) * squares)
        own = 0.5 * h * before[n] * squares
        total = float(own.sum())
        f[n] = (delta + state.sum() + total * problem.model.noise) / (1.0 - total)
        state += own * (f[n] + problem.model.noise)
    return f


def solve_reference(problem: Problem, t: Array, steps: int = 2048) -> tuple[Array, Array, dict[str, Any]]:
    """Return f = 2E at ``t`` by Richardson extrapolation of three grids, with a rough error, and facts about the run.

    The error is the difference of the last two extrapolations; between grid points f is interpolated by a cubic
    spline, checked on the coarser grid. Where a break of gamma lies beside the grid nothing is extrapolated, and the
    error is the largest difference of the grids so far. Raises ValueError where the steps of the finest grid are longer
    than the fastest mode's time 1/lambda_1: the differences of the grids say nothing there.
    """
    if problem.end * problem.model.fastest > 4.0 * steps:
        raise ValueError(
            f"method 'reference' has {4 * steps} equal steps of at most the fastest mode's time: it needs horizon <="
            f" {4.0 * steps / problem.model.fastest:g}, got {problem.end:g}; use 'panels'"
        )
    from scipy.interpolate import CubicSpline

    levels = []
    for level in (1, 2, 4):
        fine = trapezoid(problem, level * steps)
        levels.append(fine[::level])
    first, second = levels[1] + (levels[1] - levels[0]) / 3.0, levels[2] + (levels[2] - levels[1]) / 3.0
    grid = np.linspace(0.0, problem.end, steps + 1)
    places = np.array(problem.breaks) * (steps / problem.end)
    if places.size and np.abs(places - np.round(places)).max() > 1e-9:
        # Each jump is misplaced by a part of a step: the error is of first order, of either sign, and fades slowly.
        second = levels[2]
        apart = np.abs(levels[2] - levels[1]) + np.abs(levels[1] - levels[0])
        first = second + np.maximum.accumulate(apart)
    values = CubicSpline(grid, second)(t)
    error = CubicSpline(grid, np.abs(second - first) + 1e-15 * np.abs(second))(t)
    coarse = CubicSpline(grid[::2], second[::2])(t)
    return values, np.abs(error) + np.abs(values - coarse), {"steps": 4 * steps, "evaluations": 7 * steps + 3}
