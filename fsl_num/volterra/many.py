r"""Many schedules at once: as columns of matrices where they share the lengths of their steps, else one by one.

Schedules on a common grid of intrinsic time (the same learning rates with other batch sizes, or gamma itself given on
the grid, as the design of schedules does) differ in gamma only. The kernel between any two points is then the same for
all, so that history, interactions within a block and modes at its end are products of one matrix with one column a
schedule. Schedules whose steps have lengths of their own are marched one after the other, or side by side by any
executor.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.schedules.discrete import Discrete, step_values
from fsl_num.validation import Array, positive
from fsl_num.volterra.discrete import LEAST_TOLERANCE, losses_of_steps, rounding_floor
from fsl_num.volterra.linear_modes import LinearModes, linear_modes
from fsl_num.volterra.local_modes import LocalBasis
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.refinement import refine_points
from fsl_num.volterra.step_rules import Segment, divide_long_steps, radau_step_rule

_BLOCK = 64  # points in a block
_GROUP = 16  # points whose effect on the rest of the block is added at once
_COLUMNS = 1024  # schedules marched together
_PROBES = 33


@dataclass(frozen=True, eq=False)
class Losses:
    """``values`` f (TWICE the excess risk) and absolute ``error``, shape (schedules, recorded steps); ``at``: after how
    many steps each was recorded; ``message``: which way was taken, and whether the tolerance was reached."""

    values: Array
    error: Array
    at: Any
    message: str


def losses_of_schedules(
    problem: Problem,
    rates: Any,
    batch_sizes: Any = 1.0,
    *,
    at: Any = None,
    rtol: float = 1e-8,
    allow_unstable: bool = False,
    executor: Executor | None = None,
) -> Losses:
    """Return the losses of many schedules of one model.

    ``problem``: the model and the noise; its gamma and horizon are not used. ``rates``: learning rates eta >= 0, shape
    (schedules, steps), or (steps,) for all of them; ``batch_sizes``: positive, a number, or shape (schedules, 1),
    (steps,) or (schedules, steps). gamma is their quotient. ``at``: after how many steps to record, rising whole
    numbers in [0, steps]; by default only after the last. ``rtol`` in [1e-13, 1). ``executor``: any
    ``concurrent.futures.Executor``, used where the schedules do not share the lengths of their steps.

    Raises ValueError for arrays that do not fit and UnstableProblemError where a schedule lets the loss grow, unless
    ``allow_unstable``.

    >>> model = Problem(s=0.5, beta=2.0, model_size=float("inf"), noise=1.0, gamma=0.0, horizon=1.0)
    >>> losses = losses_of_schedules(model, [0.1] * 50, [[1.0], [2.0], [4.0]])
    >>> losses.values.shape, bool((np.diff(losses.values[:, 0]) < 0).all())
    ((3, 1), True)
    """
    if not LEAST_TOLERANCE <= positive("rtol", rtol) < 1:
        raise ValueError(f"rtol must lie in [{LEAST_TOLERANCE:g}, 1), got {rtol!r}")
    lengths = step_values("rates", rates, zero=True)
    batches = step_values("batch_sizes", np.atleast_1d(np.asarray(batch_sizes)), zero=False)
    if lengths.ndim not in (1, 2) or batches.ndim > 2:
        raise ValueError(f"rates must have the shape (steps,) or (schedules, steps), got {lengths.shape}")
    try:
        shape = np.broadcast_shapes(lengths.shape, batches.shape, (1, lengths.shape[-1]))
    except ValueError:
        shape = (0, 0)
    if shape[-1] != lengths.shape[-1]:
        raise ValueError(f"batch_sizes of the shape {batches.shape} do not fit rates of the shape {lengths.shape}")
    records = _records(at, shape[1])
    shared = lengths if lengths.ndim == 1 else lengths[0]
    if lengths.ndim == 2 and not (lengths == shared).all():
        return _one_by_one(problem, np.broadcast_to(lengths, shape), batches, records, rtol, allow_unstable, executor)
    gammas = np.broadcast_to(np.atleast_2d(lengths / batches), shape)
    peak = replace(problem, gamma=float(gammas.max()), horizon=max(float(shared.sum()), 5e-324), breaks=())
    if not allow_unstable:
        peak.require_stable()
    if problem.closure != "volterra":
        return _one_by_one(problem, np.broadcast_to(lengths, shape), batches, records, rtol, allow_unstable, executor)
    return _shared(peak, shared, gammas, records, rtol)


def _records(at: Any, steps: int) -> Any:
    """Check ``at``: rising whole numbers in [0, steps]."""
    given = np.atleast_1d(np.asarray(steps if at is None else at))
    whole = given.ndim == 1 and given.size > 0 and given.dtype.kind in "iu"
    if not (whole and (np.diff(given) > 0).all() and 0 <= given[0] and given[-1] <= steps):
        raise ValueError(f"at must be rising whole numbers in [0, {steps}], got {at!r}")
    return given


def _recorded(problem: Problem, rates: Array, batches: Array, records: Any, rtol: float, unstable: bool) -> Any:
    single = replace(problem, gamma=Discrete(rates=rates, batch_sizes=batches), horizon=None, breaks=())
    if not unstable:
        single.require_stable()
    values, error, facts = losses_of_steps(single, rtol)
    return values[records], error[records], facts["tolerance reached"]


def _one_by_one(
    problem: Problem, rates: Array, batches: Array, records: Any, rtol: float, unstable: bool, executor: Any
) -> Losses:
    count = rates.shape[0]
    each = np.broadcast_to(batches, rates.shape)
    run = map if executor is None else executor.map
    columns = zip(*([problem] * count, rates, each, [records] * count, [rtol] * count, [unstable] * count), strict=True)
    found = list(run(_recorded, *zip(*columns, strict=True)))
    missed = sum(not reached for _, _, reached in found)
    message = "steps of their own lengths, one schedule after the other"
    if missed:
        message += f"; {missed} of {count} miss rtol = {rtol:g}"
    values, errors = (np.array([one[i] for one in found]) for i in (0, 1))
    return Losses(values, errors, records, message)


def _shared(problem: Problem, lengths: Array, gammas: Array, records: Any, rtol: float) -> Losses:
    """Return the losses of schedules with the same ``lengths``; ``gammas`` has the shape (schedules, steps)."""
    system = linear_modes(problem, problem.end)
    fastest = float(system.rates.max())
    parts = divide_long_steps(lengths, fastest)
    pieces = np.repeat(lengths / parts, parts)
    piece_of = np.repeat(np.arange(lengths.size), parts)
    ends = np.cumsum(parts) - 1
    wanted = np.where(records > 0, ends[records - 1], -1)
    # Two solutions may agree by chance where they are recorded: they are compared on the way there too.
    seen = np.unique(np.concatenate([wanted, np.linspace(0, max(wanted[-1], 0), _PROBES).astype(np.int64)]))
    shown = np.searchsorted(seen, wanted)
    floor = (rounding_floor(pieces.size) + system.error) / max(1.0 - problem.stability, 1e-3)
    values, errors = (np.empty((gammas.shape[0], records.size)) for _ in range(2))
    missed = 0
    for low in range(0, gammas.shape[0], _COLUMNS):
        group = slice(low, low + _COLUMNS)
        columns = np.ascontiguousarray(gammas[group].T)

        def marched(plan: list[Segment], columns: Array = columns) -> Array:
            return _march_columns(system, pieces, columns, piece_of, plan, seen)

        found = refine_points(marched, pieces, fastest, system.noise, rtol)
        fine, worst = found.values, found.worst
        missed += int((worst.max(axis=0) > rtol).sum())
        values[group] = fine[shown].T - system.noise
        errors[group] = (worst[shown].T + floor) * values[group] + 4e-16 * system.noise
    message = f"steps of shared lengths, {gammas.shape[0]} schedules as columns, {system.rates.size} modes"
    return Losses(values, errors, records, message + (f"; {missed} miss rtol = {rtol:g}" if missed else ""))


def _march_columns(
    system: LinearModes, lengths: Array, gammas: Array, piece_of: Any, plan: list[Segment], wanted: Any
) -> Array:
    """Return u = f + sigma^2 at the ends of the pieces ``wanted`` (-1: at the start), shape (wanted, schedules).

    ``gammas``: shape (steps, schedules); ``piece_of``: which step each piece of ``lengths`` belongs to.
    """
    basis = LocalBasis(system.rates)
    base = system.delta + system.noise
    state = np.repeat(system.start[:, None], gammas.shape[1], axis=1)
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
