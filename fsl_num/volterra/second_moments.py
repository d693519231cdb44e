r"""The Gaussian closure on the panels of :mod:`fsl_num.volterra.panels`: the exact second moments of the SDE.

With x_j = lambda_j m_j and f = delta + sum_j x_j the moments obey

    x_j' = -2 lambda_j x_j + gamma(t) (lambda_j^2 (f + sigma^2) + lambda_j^2 x_j),    x_j(0) = lambda_j theta_j^2.

The last term makes the decay of a mode depend on gamma, so that for a gamma that varies nothing is a convolution and
the signal is a part of the state. On a panel each mode is one 6 x 6 system, all of them solved at once; the modes
meet only in f, at its six values. A large or infinite model has few modes (:mod:`fsl_num.volterra.moment_modes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fsl_num.compression import Modes
from fsl_num.validation import Array
from fsl_num.volterra.moment_modes import moment_modes
from fsl_num.volterra.panels import collocation_points, jump_error, radau_rule, refined, relative_floor
from fsl_num.volterra.problem import Problem

_ROUNDING = 3e-15  # relative; measured against 18 and 40 digits in the tests


def march_moments(problem: Problem, modes: Modes, times: Array, remaining: Array) -> Array:
    """Return f = 2E at every panel end."""
    rates, state = modes.rates, modes.signal_weights
    widths, _, gamma = collocation_points(problem, times, remaining)
    delta, matrix = problem.model.approximation_error, radau_rule().matrix
    unit = np.eye(len(matrix))
    squares, weights = rates**2, modes.kernel_weights[:, None, None]
    values = np.empty(len(times))
    values[0] = delta + state.sum()
    for i, h in enumerate(widths):
        # the stages of mode j are x_j + z: z = h A (gamma w (f + sigma^2) - damping (x_j + z)); only z is solved for,
        # so that the thousands of tiny panels add no rounding of their own
        damping = 2.0 * rates[:, None] - np.multiply.outer(squares, gamma[i])
        systems = unit + h * matrix * damping[:, None, :]
        decay = damping @ matrix.T * (-h * state[:, None])
        source = np.broadcast_to(h * matrix * gamma[i], systems.shape) * weights
        solved = np.linalg.solve(systems, np.concatenate([decay[:, :, None], source], axis=2))
        from_state, response = solved[:, :, 0], solved[:, :, 1:]
        total = response.sum(axis=0)
        known = delta + state.sum() + from_state.sum(axis=0) + total.sum(axis=1) * problem.model.noise
        f = np.linalg.solve(unit - total, known)
        state = state + from_state[:, -1] + response[:, -1, :] @ (f + problem.model.noise)
        values[i + 1] = f[-1]
    return values


def solve_second_moments(problem: Problem, t: Array, rtol: float) -> tuple[Array, Array, dict[str, Any]]:
    """Return f = 2E of the Gaussian closure at the sorted times ``t``, an absolute error for each, and facts.

    Any size, M infinite included, any gamma.

    >>> from fsl_num.model import Model
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=1, noise=1.0), gamma=0.5, horizon=9.0, closure="gaussian")
    >>> values, error, facts = solve_second_moments(problem, np.array([9.0]), 1e-12)
    >>> limit = 0.5 * (problem.model.approximation_error + 1.0)
    >>> bool(abs(values[0] - (problem.model.approximation_error + limit + (1.0 - limit) * np.exp(-9.0))) < error[0])
    True
    """
    modes = moment_modes(problem)
    floor = relative_floor(problem, _ROUNDING, modes.error)
    # the slowest forgetting, at the largest gamma (below 0 only for unstable problems)
    decays = np.maximum(2.0 * modes.rates - problem.peak_gamma * modes.rates**2, 0.0)
    moved = jump_error(problem, t, decays, modes.kernel_weights)
    values, error, facts = refined(
        problem, lambda *ends: march_moments(problem, modes, *ends), t, rtol, floor, modes.rates.size
    )
    return values, error + moved * (values + problem.model.noise), facts
