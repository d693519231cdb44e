r"""Many schedules at once: as columns where they share the lengths of their steps, else one by one.

Schedules on a common grid of intrinsic time (the same learning rates with other batch sizes, or gamma itself given on
the grid, as the design of schedules does) differ in gamma only: what a step does to the modes is then the same for all,
and the compiled code takes hundreds of schedules at a time. Schedules whose steps have lengths of their own are marched
one after the other, or side by side by any executor (threads do: the compiled code releases the lock).
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fsl_num.model import Model
from fsl_num.results import Result
from fsl_num.schedules.discrete import step_values
from fsl_num.validation import Array, as_array, flag, instance_of, known_executor
from fsl_num.volterra.linear_modes import LinearModes, linear_modes
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.steps.discrete import (
    checked_tolerance,
    plan_steps,
    rounding,
    rounding_margin,
    solve_steps,
    underflow,
)

_COLUMNS = 256  # schedules marched together


@dataclass(frozen=True, eq=False)
class Risks(Result):
    """``excess_risk`` E and its absolute ``error``, shape (schedules, recorded steps); ``at``: after how
    many steps each was recorded; ``message``: which way was taken, and whether the tolerance was reached."""

    excess_risk: Array
    error: Array
    at: Any
    message: str


def risks_of_schedules(
    model: Model,
    rates: Any,
    batch_sizes: Any = 1.0,
    *,
    at: Any = None,
    rtol: float = 1e-8,
    closure: str = "volterra",
    allow_unstable: bool = False,
    executor: Executor | None = None,
) -> Risks:
    """Return the excess risks of many schedules of one model.

    Source: equation labelled eqn: volterra-equation.

    ``closure``: as that of a :class:`~fsl_num.volterra.Problem`. ``rates``: learning rates eta >= 0, shape
    (schedules, steps), or (steps,) for all of them; ``batch_sizes``: positive, a number, or shape (schedules, 1),
    (steps,) or (schedules, steps). gamma is their quotient. ``at``: after how many steps to record, rising whole
    numbers in [0, steps]; by default only after the last. ``rtol`` in [1e-13, 1). ``executor``: any
    ``concurrent.futures.Executor``, used where the schedules do not share the lengths of their steps.

    Raises ValueError for arrays that do not fit and UnstableProblemError where a schedule lets the loss grow, unless
    ``allow_unstable``.

    >>> model = Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0)
    >>> risks = risks_of_schedules(model, [0.1] * 50, [[1.0], [2.0], [4.0]])
    >>> risks.excess_risk.shape, bool((np.diff(risks.excess_risk[:, 0]) < 0).all())
    ((3, 1), True)
    """
    instance_of("model", model, Model)
    checked_tolerance(rtol)
    known_executor(executor)
    lengths = step_values("rates", rates, zero=True)
    batches = _batches(batch_sizes)
    if lengths.ndim not in (1, 2) or batches.ndim > 2:
        raise ValueError(f"rates must have the shape (steps,) or (schedules, steps), got {lengths.shape}")
    try:
        shape = np.broadcast_shapes(lengths.shape, batches.shape, (1, lengths.shape[-1]))
    except ValueError:
        shape = (0, 0)
    if shape[-1] != lengths.shape[-1]:
        raise ValueError(f"batch_sizes of the shape {batches.shape} do not fit rates of the shape {lengths.shape}")
    records = _records(at, shape[1])
    first = lengths if lengths.ndim == 1 else lengths[0]
    same = lengths.ndim == 1 or bool((lengths == first).all())
    smallest = batches if batches.ndim == 1 else batches.min(axis=0)
    peaks = first / smallest if same else (lengths / batches).max(axis=0)
    longest = float(first.sum()) if same else float(lengths.sum(axis=1).max())
    peak = Problem(model, gamma=float(peaks.max()), horizon=max(longest, 5e-324), closure=closure)
    if not flag("allow_unstable", allow_unstable):
        peak.require_stable()
    system, columns = linear_modes(peak, peak.end), np.broadcast_to(np.atleast_2d(batches), shape)
    if same and closure == "volterra":
        values, errors = _as_columns(system, peak.stability, first, peaks, columns, records, rtol)
        message = f"steps of shared lengths, {shape[0]} schedules as columns, {system.rates.size} modes"
    else:
        run = map if executor is None else executor.map
        alone = partial(_alone, system, peak.stability, records, rtol)
        results = np.array(list(run(alone, np.broadcast_to(lengths, shape), columns)))
        values, errors = results[:, 0], results[:, 1]
        message = f"one schedule after the other, {system.rates.size} modes"
    missed = int(((errors > rtol * values) & (values > 0.0)).any(axis=1).sum())
    if missed:
        message += f"; {missed} of {shape[0]} miss rtol = {rtol:g}"
    return Risks(0.5 * values, 0.5 * errors, records, message)  # of f = 2E


def _batches(batch_sizes: Any) -> Array:
    """Check batch sizes; those of many steps of many schedules are not copied."""
    sizes = np.atleast_1d(as_array("batch_sizes", batch_sizes))
    if sizes.dtype == np.float64 and sizes.size and sizes.min() > 0.0 and sizes.max() < np.inf:
        return sizes
    return step_values("batch_sizes", sizes, zero=False)


def _records(at: Any, steps: int) -> Any:
    """Check ``at``: rising whole numbers in [0, steps]."""
    asked = np.atleast_1d(as_array("at", steps if at is None else at))
    whole = asked.ndim == 1 and asked.size > 0 and asked.dtype.kind in "iu"
    if not (whole and (np.diff(asked) > 0).all() and 0 <= asked[0] and asked[-1] <= steps):
        raise ValueError(f"at must be rising whole numbers in [0, {steps}], got {at!r}")
    return asked.astype(np.int64)


def _alone(
    system: LinearModes, stability: float, records: Any, rtol: float, rates: Array, batches: Array
) -> tuple[Array, Array]:
    """Return the losses and errors of one schedule at the ``records``."""
    values, errors, _ = solve_steps(system, stability, rates, rates / batches, rtol)
    return values[records], errors[records]


def _as_columns(
    system: LinearModes, stability: float, lengths: Array, peaks: Array, batches: Array, records: Any, rtol: float
) -> tuple[Array, Array]:
    """Return the losses and errors, (schedules, records), of schedules with the same ``lengths``."""
    from fsl_num.volterra.steps.kernel import march_columns

    plan = plan_steps(system, stability, lengths, peaks, rounding_margin(system, stability, rtol))
    values, highest = np.empty((2, batches.shape[0], records.size))
    base = system.delta + system.noise
    for low in range(0, batches.shape[0], _COLUMNS):
        some = slice(low, low + _COLUMNS)
        gammas = np.divide(lengths[:, None], batches[some].T, order="C")
        state = np.repeat(plan.start[:, None], gammas.shape[1], axis=1)
        columns = np.empty((2, records.size, gammas.shape[1]))
        steps = (np.array(lengths), gammas, plan.parts, plan.turns)
        march_columns(*steps, plan.tables, state, base, system.delta, records, *columns)
        values[some], highest[some] = columns.transpose(0, 2, 1)
    first = system.delta + float(system.start.sum())
    parts = np.concatenate([[0], np.cumsum(plan.moving(lengths))])[records]
    relative = rounding(system, values, highest, first, stability) + plan.truncation(parts, values)
    return values, relative * values + np.where(parts > 0, underflow(system, int(plan.moving(lengths).sum())), 0.0)
