"""Many schedules of shared lengths on stretches of many steps: side by side, as columns of matrices.

The stretches (:mod:`fsl_num.volterra.steps.smooth_steps`) are those of the mean of a few schedules. On each of them
every gamma of every schedule is compared with a polynomial, and what it misses is part of the error: a schedule that is
not as smooth as the others is told apart by its error, and is the caller's to solve step by step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes
from fsl_num.volterra.steps.column_march import march_columns
from fsl_num.volterra.steps.local_modes import LocalBasis
from fsl_num.volterra.steps.mixed_march import Gap, halves, layout
from fsl_num.volterra.steps.sampled_steps import APART, INTERPOLATION, SampledSchedules, eighth_difference
from fsl_num.volterra.steps.smooth_steps import (
    BENDS,
    DEGREE,
    MISSED,
    PLACES,
    SEEN_BETWEEN,
    SLOPES,
    Scales,
    Stretch,
    find_stretches,
    fit_stretch,
    joint_error,
    places_of_nodes,
)
from fsl_num.volterra.steps.step_rules import divide_long_steps, segments
from fsl_num.volterra.steps.stretches import Moments, Staircase, curve, panel_maps, staircase_of, zigzag_of_modes

_LEVELS = 6
_CHUNK = 16384  # numbers that are compared at once
_SEEN = 8  # schedules whose mean tells where the stretches are
_PROBES = 9  # places in a gap where two solutions are compared


def fit_columns(shared: Stretch, schedules: SampledSchedules) -> Stretch:
    """Return the stretch ``shared`` with the polynomials of all ``schedules``, and what they miss at the worst step."""
    length = schedules.lengths[shared.low : shared.high]
    scale = 2.0 / shared.time
    rows = shared.rows
    if rows is None:
        seen = schedules.gammas(slice(shared.low, shared.high))
        x = (np.cumsum(length) - 0.5 * length) * scale - 1.0
    else:
        first = shared.low // rows.spacing
        of_rows = slice(first, first + rows.starts.size - 1)
        seen = schedules.samples[:, of_rows]
        x = (rows.starts[:-1] + 0.5 * length[:: rows.spacing]) * scale - 1.0
    at = places_of_nodes(x)
    of_gamma: Array = np.asarray(np.linalg.solve(np.vander(x[at], increasing=True), seen[:, at].T))
    wrong = _missed(of_gamma, x, seen)
    slope = scale * np.abs(SLOPES @ of_gamma).max(axis=0)
    if rows is not None:
        ragged = schedules.ragged[:, of_rows]
        apart = np.zeros(ragged.shape[1], dtype=bool)
        apart[rows.index // rows.spacing] = True
        alone = apart | np.isinf(ragged).all(axis=0)
        bent = [eighth_difference(power, APART) for power in np.vander(x, DEGREE + 1, increasing=True).T]
        wrong = SEEN_BETWEEN * wrong + INTERPOLATION * (np.abs(of_gamma).T @ np.array(bent))
        wrong += (ragged[:, ~alone] if alone.any() else ragged).max(axis=1, initial=0.0)
        wrong += slope * (rows.spacing * rows.uneven)
        if alone.any():
            steps = np.flatnonzero(np.repeat(alone, rows.spacing)[: length.size])
            middle = (np.cumsum(length) - 0.5 * length)[steps] * scale - 1.0
            wrong = np.maximum(wrong, _missed(of_gamma, middle, schedules.gammas(shared.low + steps)))
    polynomials = np.vander(PLACES, DEGREE + 1, increasing=True) @ of_gamma
    # between the places where it is seen a polynomial moves by at most its slope, and gamma by what it misses
    between = 0.5 * (PLACES[1] - PLACES[0]) / scale * slope + wrong
    least, largest = polynomials.min(axis=0) - between, polynomials.max(axis=0) + between
    growing = scale * float(np.abs(SLOPES @ shared.length).max())
    return replace(
        shared,
        gamma=of_gamma,
        misfit=np.where(least > 0.0, wrong / np.where(least > 0.0, least, 1.0), np.inf),
        slope=slope,
        bend=scale**2 * np.abs(BENDS @ of_gamma).max(axis=0),
        largest=largest,
        change=slope * shared.longest / largest + growing,
    )


def _missed(coefficients: Array, x: Array, values: Array) -> Array:
    """Return how far polynomials at ``x`` are from ``values`` at the worst place, shape (schedules,)."""
    powers = np.ascontiguousarray(np.vander(x, DEGREE + 1, increasing=True).T)
    found = np.empty(values.shape[0])
    group = max(1, _CHUNK // x.size)
    for low in range(0, found.size, group):
        rows = slice(low, low + group)
        away = coefficients[:, rows].T @ powers
        away -= values[rows]
        found[rows] = np.maximum(away.max(axis=1), -away.min(axis=1))
    return found


def _eliminated(response: Array, gamma: Array, known: Array) -> Array:
    """Return the solutions v of v = R (gamma v) + known for many systems side by side, by elimination without pivoting.

    ``response`` R: shape (p, p); ``gamma``, ``known``: shape (p, n). The row sums of R gamma are below 1: they are the
    share of an impulse that comes back.
    """
    size = response.shape[0]
    rows = np.empty((size, size + 1, gamma.shape[1]))
    np.multiply(response[:, :, None], -gamma, out=rows[:, :size])
    index = np.arange(size)
    rows[index, index] += 1.0
    rows[:, size] = known
    for k in range(size):
        rows[k, k + 1 :] /= rows[k, k]
        rows[k + 1 :, k + 1 :] -= rows[k + 1 :, k, None] * rows[k, None, k + 1 :]
    for k in range(size - 1, 0, -1):
        rows[:k, size] -= rows[:k, k] * rows[k, size]
    return rows[:, size]


@dataclass(frozen=True, eq=False)
class _Panels:
    """What a stretch gave: the sum of the ``modes``, shape (parts, 7, schedules), and the ``stairs`` it was on."""

    modes: Array
    stairs: Staircase


def _on_panels(
    system: LinearModes, moments: Moments, state: Array, one: Stretch, parts: int, before: Any, accuracy: float
) -> tuple[_Panels, Any]:
    """Solve one stretch; ``state``, in the order of Fortran, becomes the modes at its end, for the smooth gamma.
    ``before``: the zigzag before; returned with what was found is that at the end."""
    from scipy.linalg.blas import dgemm

    base = system.delta + system.noise
    stairs = _stairs(one, parts)
    maps = panel_maps(system, np.array([one.time / parts]))
    history, response, left = maps.history[0], maps.response[0], np.asfortranarray(maps.left[0].T)
    decay = history[-1]
    eta = float(stairs.eta[0, 0, 0])
    _move(system, moments, state, stairs.gamma[0, 0], before - stairs.zigzag[0, 0], eta, accuracy)
    sums = np.empty(stairs.gamma.shape)
    for part in range(parts):
        sums[part, 0] = sums[part - 1, -1] if part else state.sum(axis=0)
        gamma = stairs.gamma[part, 1:]
        found = _eliminated(response, gamma, history @ state + response @ (gamma * base))
        sums[part, 1:] = found
        driven = np.asfortranarray((found + base) * gamma)
        state *= decay[:, None]
        dgemm(1.0, left, driven, 1.0, state, overwrite_c=1)
    return _Panels(sums, stairs), stairs.zigzag[-1, -1]


def _on_stretches(
    system: LinearModes, moments: Moments, state: Array, run: list[Stretch], parts: int, accuracy: float
) -> list[_Panels]:
    """Solve stretches that follow each other; ``state``, in the order of Fortran, becomes the modes after the last."""
    found: list[_Panels] = []
    zigzag = np.zeros(state.shape[1])
    for one in run:
        panels, zigzag = _on_panels(system, moments, state, one, parts, zigzag, accuracy)
        found.append(panels)
    last = found[-1].stairs
    _move(system, moments, state, last.gamma[-1, -1], zigzag, float(last.eta[-1, -1, 0]), accuracy)
    return found


def _stairs(one: Stretch, parts: int) -> Staircase:
    """Return what staircase_of does: with shared lengths gamma and its zigzag are linear in the coefficients."""
    unit = staircase_of(np.eye(DEGREE + 1), one.length[:, None], 2.0 / one.time, parts)
    return Staircase(unit.gamma @ one.gamma, unit.zigzag @ one.gamma, unit.eta)


def _move(
    system: LinearModes, moments: Moments, state: Array, gamma: Any, zigzag: Array, eta: float, accuracy: float
) -> None:
    """Add zigzags to the modes, an array in the order of Fortran. Their third correction, whose share of u is a few
    720ths of what the ``accuracy`` is compared with, is left out where it does not count."""
    from scipy.linalg.blas import dger

    largest = float(np.abs(zigzag).max(initial=0.0)) * moments.zeroth
    if largest <= 1e-17:
        return
    if largest * (float(system.rates.max()) * eta) ** 2 > max(1e-14, 1e-3 * accuracy):
        state += zigzag_of_modes(system, moments, state, gamma, zigzag, eta)
        return
    # from one stretch to the next the change is so small that the first correction is enough
    u = system.delta + system.noise + state.sum(axis=0)
    dger(-1.0 / 12.0, system.weights, u * zigzag, a=state, overwrite_a=1)


@dataclass(frozen=True, eq=False)
class _Steps:
    """Steps ``low`` to ``high`` (not included) that are solved one by one, all their ``pieces``, and those of them,
    counted from the first, where f is ``seen``: at the records ``here``, as ``rows`` say, and where it is compared."""

    low: int
    high: int
    pieces: slice
    seen: Any
    here: Any
    rows: Any

    @staticmethod
    def of(gap: Gap, records: Any, first: Any) -> _Steps:
        here = np.flatnonzero((records > gap.low) & (records <= gap.high))
        compared = np.linspace(gap.low + 1, gap.high, _PROBES).astype(np.int64)
        steps = np.unique(np.concatenate([records[here], compared]))
        begin, end = int(first[gap.low]), int(first[gap.high])
        rows = np.searchsorted(steps, records[here])
        return _Steps(gap.low, gap.high, slice(begin, end), first[steps] - 1 - begin, here, rows)


@dataclass(frozen=True, eq=False)
class Columns:
    """``values`` of f and its relative ``errors``, shape (records, schedules), but for rounding; ``worst``: the largest
    error of each schedule on the way."""

    values: Array
    errors: Array
    worst: Array


def solve_columns(
    system: LinearModes, scales: Scales, schedules: SampledSchedules, records: Any, accuracy: float, growth: float
) -> Columns | None:
    """Return f after so many steps as ``records`` say, rising; None where the schedules have too few smooth stretches.

    ``accuracy``: of f, relative; ``growth``: of the stretches, as for a schedule alone.
    """
    count, size = schedules.samples.shape[0], schedules.lengths.size
    steps = schedules.mean(np.unique(np.linspace(0, count - 1, _SEEN).astype(np.int64)))
    shared = find_stretches(steps, scales, accuracy, growth)
    if 2 * sum(one.high - one.low for one in shared) < size:
        return None
    fitted = [fit_columns(one, schedules) for one in shared]
    for number, one in enumerate(fitted):
        before = fitted[number - 1] if number and fitted[number - 1].high == one.low else None
        if before is None and one.low:
            row = one.low // steps.spacing
            single = fit_stretch(steps, row - 1, row)
            before = None if single is None else fit_columns(single, schedules)
        fitted[number] = replace(one, joint=joint_error(before, one, scales.fastest))
    smooth = np.max([one.misfit + one.joint for one in fitted], axis=0) * scales.sensitivity <= accuracy
    if not smooth.all():
        if not smooth.any():
            return None
        # the others are not even tried
        fitted = [_taken(one, smooth) for one in fitted]
        some = _solved(system, scales, schedules.only(smooth), records, accuracy, fitted)
        values, errors = (np.full((records.size, count), np.nan) for _ in range(2))
        worst = np.full(count, np.inf)
        values[:, smooth], errors[:, smooth], worst[smooth] = some.values, some.errors, some.worst
        return Columns(values, errors, worst)
    return _solved(system, scales, schedules, records, accuracy, fitted)


def _taken(one: Stretch, chosen: Any) -> Stretch:
    names = ("misfit", "slope", "bend", "largest", "change", "joint")
    return replace(one, gamma=one.gamma[:, chosen], **{name: getattr(one, name)[chosen] for name in names})


def _solved(
    system: LinearModes,
    scales: Scales,
    schedules: SampledSchedules,
    records: Any,
    accuracy: float,
    fitted: list[Stretch],
) -> Columns:
    """Return what :func:`solve_columns` does, on the stretches ``fitted``."""
    lengths = schedules.lengths
    count, size = schedules.samples.shape[0], lengths.size
    parts_of = divide_long_steps(lengths, scales.fastest)
    pieces, piece_of = np.repeat(lengths / parts_of, parts_of), np.repeat(np.arange(size), parts_of)
    first = np.concatenate([[0], np.cumsum(parts_of)])
    blocks = [_Steps.of(one, records, first) if isinstance(one, Gap) else one for one in layout(fitted, size)]
    moments, basis = Moments.of(system), LocalBasis(system.rates)
    start = system.delta + float(system.start.sum())
    previous: list[Any] = []
    for level in range(_LEVELS):
        state = np.asfortranarray(np.repeat(system.start[:, None], count, axis=1))
        found: list[Any] = []
        differences: list[Array] = []
        for number, block in enumerate(blocks):
            if isinstance(block, _Steps):
                rows = block.pieces
                plan = segments(pieces[rows], scales.fastest, 0.15 * accuracy, level)
                columns = np.ascontiguousarray(schedules.gammas(slice(block.low, block.high)).T)
                of = piece_of[rows] - block.low
                f = march_columns(system, pieces[rows], columns, of, plan, block.seen, state, basis)
                f -= system.noise
                found.append(f)
                if previous:
                    differences.append(np.abs(previous[number] / f - 1.0))
                continue
            found.append(_on_stretches(system, moments, state, block, 2**level, accuracy))
            for old, new in zip(previous[number], found[number], strict=True) if previous else ():
                coarse = np.matmul(halves().T, old.modes).reshape(new.modes.shape)
                difference = np.abs(coarse - new.modes) / (new.modes + system.delta)
                differences.append(difference.max(axis=(0, 1))[None])
        previous = found
        if differences:
            claims = _claims(system, scales, blocks, found, start)
            worst = np.max([each.max(axis=0) for each in differences], axis=0)
            # most of the schedules are enough: a few that are not are not worth another solution of all
            if (worst + np.max([0.0 * worst, *claims], axis=0) <= accuracy).mean() > 0.95:
                break
    return _collected(system, lengths, records, blocks, previous, differences, claims)


def _claims(system: LinearModes, scales: Scales, blocks: list[Any], found: list[Any], start: float) -> list[Array]:
    """Return the errors of the stretches that no refinement shows, as for a schedule alone."""
    claims = []
    for block, run in zip(blocks, found, strict=True):
        for one, panels in zip(block, run, strict=True) if isinstance(block, list) else ():
            least = panels.modes.min(axis=(0, 1)) + system.delta
            fallen = np.maximum((start + system.noise) / (least + system.noise), 1.0)
            wrong = MISSED * one.misfit + one.joint + (1.0 + system.noise / least) * scales.staircase(one)
            claims.append(scales.sensitivity * (1.0 + np.log(fallen)) * wrong)
    return claims


def _collected(
    system: LinearModes,
    lengths: Array,
    records: Any,
    blocks: list[Any],
    found: list[Any],
    differences: list[Array],
    claims: list[Array],
) -> Columns:
    """Return what was found at the records, and the largest error so far."""
    moments, count = Moments.of(system), differences[0].shape[1]
    values, errors = np.empty((records.size, count)), np.zeros((records.size, count))
    values[records == 0] = system.delta + float(system.start.sum())
    worst, smooth = np.zeros(count), np.zeros(count)
    left, claim = iter(differences), iter(claims)
    base = system.delta + system.noise
    for number, block in enumerate(blocks):
        if isinstance(block, _Steps):
            difference = np.maximum.accumulate(np.maximum(next(left), worst), axis=0)
            here, rows = block.here, block.rows
            values[here], errors[here] = found[number][rows], difference[rows] + smooth
            worst = difference[-1]
            continue
        for one, panels in zip(block, found[number], strict=True):
            worst = np.maximum(worst, next(left)[0])
            smooth = np.maximum(smooth, next(claim))
            here = np.flatnonzero((records > one.low) & (records <= one.high))
            parts = panels.modes.shape[0]
            ends = np.cumsum(lengths[one.low : one.high]) if here.size else lengths[:0]
            for row in here:
                place = float(ends[records[row] - one.low - 1]) * parts / one.time
                part = min(int(place), parts - 1)
                stairs = panels.stairs
                eta = np.broadcast_to(stairs.eta[part], panels.modes[part].shape)
                panel = np.full(count, one.time / parts)
                columns = (panels.modes[part].T, base, panel, stairs.gamma[part].T, stairs.zigzag[part].T, eta.T)
                powers = (2.0 * (place - part) - 1.0) ** np.arange(panels.modes.shape[1])
                values[row] = curve(moments, *columns).at_ends() @ powers + system.delta
            errors[here] = worst + smooth
    return Columns(values, errors, worst + smooth)
