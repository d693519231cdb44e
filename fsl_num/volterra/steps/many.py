r"""Many schedules at once: as columns of matrices where they share the lengths of their steps, else one by one.

Schedules on a common grid of intrinsic time (the same learning rates with other batch sizes, or gamma itself given on
the grid, as the design of schedules does) differ in gamma only. The kernel between any two points is then the same for
all. Where the gammas are smooth, steps are merged into stretches for all schedules at once
(:mod:`fsl_num.volterra.steps.smooth_columns`); otherwise history, interactions within a block and modes at its end are
products of one matrix with one column a schedule (:mod:`fsl_num.volterra.steps.column_march`). Schedules whose steps
have lengths of their own are marched one after the other, or side by side by any executor.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.schedules.discrete import Discrete, step_values
from fsl_num.validation import Array, positive
from fsl_num.volterra.linear_modes import LinearModes, linear_modes
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.steps.column_march import march_columns
from fsl_num.volterra.steps.discrete import (
    LEAST_TOLERANCE,
    losses_of_steps,
    rounding_floor,
    stretch_floor,
    stretch_growth,
)
from fsl_num.volterra.steps.local_modes import LocalBasis
from fsl_num.volterra.steps.refinement import refine_points
from fsl_num.volterra.steps.sampled_steps import SampledSchedules
from fsl_num.volterra.steps.smooth_columns import solve_columns
from fsl_num.volterra.steps.smooth_steps import Scales
from fsl_num.volterra.steps.step_rules import Segment, divide_long_steps

_COLUMNS = 1024  # schedules marched together
_PROBES = 33
_SPACING = 16  # of the samples, and steps in a stretch at least: single steps of many schedules cost more


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
    shared = lengths if lengths.ndim == 1 else lengths[0]
    if lengths.ndim == 2 and not (lengths == shared).all():
        return _one_by_one(problem, np.broadcast_to(lengths, shape), batches, records, rtol, allow_unstable, executor)
    if problem.closure != "volterra":
        return _one_by_one(problem, np.broadcast_to(lengths, shape), batches, records, rtol, allow_unstable, executor)
    schedules = SampledSchedules.of(shared, np.broadcast_to(np.atleast_2d(batches), shape), _SPACING)
    peak = _at_peak(problem, schedules.largest, float(shared.sum()))
    if not allow_unstable:
        peak.require_stable()
    return _shared(peak, shared, schedules, records, rtol)


def _batches(batch_sizes: Any) -> Array:
    """Check batch sizes, but for those of many steps of many schedules: these are looked at once, later."""
    given = np.atleast_1d(np.asarray(batch_sizes))
    if given.dtype == np.float64 and given.ndim == 2 and given.shape[1] > 1:
        return given
    return step_values("batch_sizes", given, zero=False)


def _records(at: Any, steps: int) -> Any:
    """Check ``at``: rising whole numbers in [0, steps]."""
    given = np.atleast_1d(np.asarray(steps if at is None else at))
    whole = given.ndim == 1 and given.size > 0 and given.dtype.kind in "iu"
    if not (whole and (np.diff(given) > 0).all() and 0 <= given[0] and given[-1] <= steps):
        raise ValueError(f"at must be rising whole numbers in [0, {steps}], got {at!r}")
    return given


def _at_peak(problem: Problem, gamma: float, horizon: float) -> Problem:
    """Return the problem of the largest gamma of all schedules."""
    return replace(problem, gamma=gamma, horizon=max(horizon, 5e-324), breaks=())


def _recorded(problem: Problem, rates: Array, batches: Array, records: Any, rtol: float) -> Any:
    single = replace(problem, gamma=Discrete(rates=rates, batch_sizes=batches), horizon=None, breaks=())
    values, error, facts = losses_of_steps(single, rtol)
    return values[records], error[records], facts["tolerance reached"]


def _one_by_one(
    problem: Problem, rates: Array, batches: Array, records: Any, rtol: float, unstable: bool, executor: Any
) -> Losses:
    count = rates.shape[0]
    each = np.broadcast_to(step_values("batch_sizes", batches, zero=False), rates.shape)
    if not unstable:  # before any of them is solved
        largest = max(float((one / batch).max()) for one, batch in zip(rates, each, strict=True))
        _at_peak(problem, largest, float(rates[0].sum())).require_stable()
    run = map if executor is None else executor.map
    found = list(run(_recorded, [problem] * count, rates, each, [records] * count, [rtol] * count))
    missed = sum(not reached for _, _, reached in found)
    message = "steps of their own lengths, one schedule after the other"
    if missed:
        message += f"; {missed} of {count} miss rtol = {rtol:g}"
    values, errors = (np.array([one[i] for one in found]) for i in (0, 1))
    return Losses(values, errors, records, message)


def _shared(problem: Problem, lengths: Array, schedules: SampledSchedules, records: Any, rtol: float) -> Losses:
    """Return the losses of ``schedules`` with the same ``lengths``."""
    system = linear_modes(problem, problem.end)
    count = schedules.samples.shape[0]
    values, errors = (np.empty((count, records.size)) for _ in range(2))
    missed = merged = 0
    for low in range(0, count, _COLUMNS):
        group = np.arange(low, min(low + _COLUMNS, count))
        smooth = _on_stretches(problem, system, schedules.only(slice(low, low + _COLUMNS)), records, rtol)
        if smooth is not None:
            good = smooth.good
            values[group[good]], errors[group[good]] = smooth.values[good], smooth.errors[good]
            merged += int(good.sum())
            group = group[~good]
        if group.size:
            gammas = lengths / schedules.batches[group]
            values[group], errors[group], few = _step_by_step(problem, system, lengths, gammas, records, rtol)
            missed += few
    message = f"steps of shared lengths, {count} schedules as columns, {system.rates.size} modes"
    if merged:
        message += f", {merged} on stretches of many steps"
    return Losses(values, errors, records, message + (f"; {missed} miss rtol = {rtol:g}" if missed else ""))


@dataclass(frozen=True, eq=False)
class _OnStretches:
    """f and its absolute error, shape (schedules, records), and for which schedules it is ``good``."""

    values: Array
    errors: Array
    good: Any


def _on_stretches(
    problem: Problem, system: LinearModes, schedules: SampledSchedules, records: Any, rtol: float
) -> _OnStretches | None:
    """Return the losses on stretches of many steps, where there are any."""
    floor = stretch_floor(problem, system, schedules.batches.shape[1])
    target = rtol - floor
    if not target >= 0.5 * rtol or not problem.stability < 0.99 or schedules.lengths.size < 2 * schedules.spacing:
        return None
    if schedules.moving is not None:
        records = np.searchsorted(schedules.moving, records)
    scales = Scales.of(system, problem.stability, rtol, problem.end)
    found = solve_columns(system, scales, schedules, records, target, stretch_growth(target))
    if found is None:
        return None
    errors = (found.errors + floor) * found.values + 4e-16 * system.noise
    return _OnStretches(found.values.T, errors.T, found.worst <= target)


def _step_by_step(
    problem: Problem, system: LinearModes, lengths: Array, gammas: Array, records: Any, rtol: float
) -> tuple[Array, Array, int]:
    """Return f and its absolute error, shape (schedules, records), and how many schedules miss the tolerance."""
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
    columns, basis = np.ascontiguousarray(gammas.T), LocalBasis(system.rates)

    def marched(plan: list[Segment]) -> Array:
        state = np.repeat(system.start[:, None], columns.shape[1], axis=1)
        return march_columns(system, pieces, columns, piece_of, plan, seen, state, basis)

    found = refine_points(marched, pieces, fastest, system.noise, rtol)
    values = found.values[shown].T - system.noise
    errors = (found.worst[shown].T + floor) * values + 4e-16 * system.noise
    return values, errors, int((found.worst.max(axis=0) > rtol).sum())
