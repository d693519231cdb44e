"""The plain solver: trapezoid rule on a uniform grid, cost n^2, nothing clever. It exists to check the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.problem import Problem


def trapezoid(problem: Problem, steps: int) -> Array:
    """Return f on the uniform grid of ``steps`` intervals over [0, horizon]; second order where gamma is smooth."""
    t = np.linspace(0.0, problem.end, steps + 1)
    h = problem.end / steps
    kernel = problem.kernel(h * np.arange(steps + 1.0))
    gamma, forcing = problem.gamma_on(t, problem.end - t), problem.forcing(t)
    f = np.empty(steps + 1)
    injected = np.empty(steps + 1)
    f[0] = forcing[0]
    injected[0] = gamma[0] * (f[0] + problem.noise)
    for n in range(1, steps + 1):
        past = kernel[n] * 0.5 * injected[0] + kernel[n - 1 : 0 : -1] @ injected[1:n]
        own = 0.5 * h * kernel[0] * gamma[n]
        f[n] = (forcing[n] + h * past + own * problem.noise) / (1.0 - own)
        injected[n] = gamma[n] * (f[n] + problem.noise)
    return f


def solve_reference(problem: Problem, t: Array, steps: int = 2048) -> tuple[Array, Array, dict[str, Any]]:
    """Return f at ``t`` by Richardson extrapolation of three grids, with a rough error, and facts about the run.

    The error is the difference of the last two extrapolations; between grid points f is interpolated by a cubic
    spline, checked on the coarser grid. Breaks of gamma must lie on the grid for it to be smooth there.
    """
    from scipy.interpolate import CubicSpline

    levels = []
    for level in (1, 2, 4):
        fine = trapezoid(problem, level * steps)
        levels.append(fine[::level])
    first, second = levels[1] + (levels[1] - levels[0]) / 3.0, levels[2] + (levels[2] - levels[1]) / 3.0
    grid = np.linspace(0.0, problem.end, steps + 1)
    values = CubicSpline(grid, second)(t)
    error = CubicSpline(grid, np.abs(second - first) + 1e-15 * np.abs(second))(t)
    coarse = CubicSpline(grid[::2], second[::2])(t)
    return values, np.abs(error) + np.abs(values - coarse), {"steps": 4 * steps, "evaluations": 7 * steps + 3}
