"""One pass over many schedules of shared lengths, side by side as columns of matrices, by collocation on single steps.

The kernel between any two points is the same for all schedules, so that history, interactions within a block and modes
at its end are products of one matrix with one column a schedule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes
from fsl_num.volterra.steps.local_modes import LocalBasis
from fsl_num.volterra.steps.step_rules import Segment, radau_step_rule

_BLOCK = 64  # points in a block
_GROUP = 16  # points whose effect on the rest of the block is added at once


def march_columns(
    system: LinearModes,
    lengths: Array,
    gammas: Array,
    piece_of: Any,
    plan: list[Segment],
    wanted: Any,
    state: Array,
    basis: LocalBasis,
) -> Array:
    """Return u = f + sigma^2 at the ends of the pieces ``wanted`` (-1: at the start), shape (wanted, schedules).

    ``gammas``: shape (steps, schedules); ``piece_of``: which step each piece of ``lengths`` belongs to; ``state``: the
    modes at the start, shape (modes, schedules), which becomes those at the end; ``basis``: of the system's rates.
    """
    base = system.delta + system.noise
    found = np.empty((wanted.size, gammas.shape[1]))
    found[wanted < 0] = base + state.sum(axis=0)
    for run in plan:
        rule = radau_step_rule(run.points)
        size = rule.size
        steps = max(1, _BLOCK // size)
        for low in range(run.low, run.high, steps):
            high = min(low + steps, run.high)
            part = lengths[low:high]
            length = float(part.sum())
            local = basis.of(length)
            times = (np.cumsum(part) - part)[:, None] + rule.points * part[:, None]
            forward = np.exp(-np.multiply.outer(times.ravel() - 0.5 * length, local.rates))
            columns = (part[:, None] * rule.weights).reshape(-1, 1) / forward
            kernel = (forward * (system.weights @ local.transfer)) @ columns.T
            half = np.exp(-0.5 * length * local.rates)[:, None]
            inputs = _solve_block(
                base + forward @ (half * (local.transfer.T @ state)), kernel, gammas[piece_of[low:high]], rule.coupling
            )
            for row in np.flatnonzero((wanted >= low) & (wanted < high)):
                step = wanted[row] - low
                # the last point of a step is its end
                found[row] = inputs[0][(step + 1) * size - 1]
            left = half * (columns.T @ inputs[1])
            state *= np.exp(-length * system.rates)[:, None]
            state += (system.weights[:, None] * local.transfer) @ left
    return found


def _resolvents(matrices: Array) -> tuple[Array, Array]:
    """Return (I - gamma S)^-1 of matrices S, shape (n, p, p), as polynomials in gamma by the method of Faddeev and
    LeVerrier: numerator matrices, shape (n, p, p, p), lowest power first, and denominators, shape (n, p + 1)."""
    count, size = matrices.shape[:2]
    unit = np.eye(size)
    numerators, denominators = np.empty((count, size, size, size)), np.ones((count, size + 1))
    power = np.broadcast_to(unit, matrices.shape)
    for k in range(size):
        numerators[:, k] = power
        power = matrices @ power
        denominators[:, k + 1] = -np.trace(power, axis1=1, axis2=2) / (k + 1)
        power = power + denominators[:, k + 1, None, None] * unit
    return numerators, denominators


def _solve_block(history: Array, kernel: Array, gammas: Array, coupling: Array) -> tuple[Array, Array]:
    """Return u and gamma u at the points of a block, one column a schedule; ``history`` is overwritten by u."""
    size = coupling.shape[0]
    steps = gammas.shape[0]
    index = np.arange(steps)
    own = kernel.reshape(steps, size, steps, size)[index, :, index, :] * coupling
    numerators, denominators = _resolvents(own)
    numerators = numerators.reshape(steps, size * size, size)
    driven = np.empty_like(history)
    group = max(1, _GROUP // size) * size
    for first in range(0, history.shape[0], group):
        after = min(first + group, history.shape[0])
        for low in range(first, after, size):
            rows = slice(low, low + size)
            here = history[rows]
            if low > first:
                here += kernel[rows, first:low] @ driven[first:low]
            step = low // size
            gamma, bottom = gammas[step], denominators[step]
            below = bottom[size] * gamma
            for coefficient in bottom[size - 1 : 0 : -1]:
                below += coefficient
                below *= gamma
            below += 1.0
            top = (numerators[step] @ here).reshape(size, size, -1)
            total = top[size - 1]
            for k in range(size - 2, -1, -1):
                total *= gamma
                total += top[k]
            np.divide(total, below, out=here)
            np.multiply(here, gamma, out=driven[rows])
        if after < history.shape[0]:
            history[after:] += kernel[after:, first:after] @ driven[first:after]
    return history, driven
