"""Discrete schedules that are smooth in parts: stretches of many steps, and single steps where gamma is not smooth.

Both are solved twice or more often, the stretches on twice as many panels each time, the steps with one point more,
until two solutions agree. What no refinement shows, that a smooth gamma stands for the staircase, is bounded for every
stretch and added to the error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes
from fsl_num.volterra.steps.march import march, march_tools
from fsl_num.volterra.steps.sampled_steps import INTERPOLATION, Rows, between_samples, eighth_difference
from fsl_num.volterra.steps.smooth_steps import MISSED, Scales, Stretch
from fsl_num.volterra.steps.step_rules import segments
from fsl_num.volterra.steps.stretches import (
    Curve,
    Moments,
    curve,
    panel_maps,
    panel_places,
    smooth_staircase,
    values_at,
    zigzag_of_modes,
)

_LEVELS = 6
_PANELS = 256  # whose maps are kept at once


@dataclass(frozen=True)
class Gap:
    """Steps ``low`` to ``high`` (not included) that are solved one by one."""

    low: int
    high: int


def layout(stretches: Sequence[Stretch], steps: int) -> list[Gap | list[Stretch]]:
    """Return gaps and runs of stretches that follow each other, which together are all the ``steps``.

    >>> layout([], 5)
    [Gap(low=0, high=5)]
    """
    found: list[Gap | list[Stretch]] = []
    done = 0
    for one in stretches:
        if one.low > done:
            found.append(Gap(done, one.low))
        if found and isinstance(found[-1], list):
            found[-1].append(one)
        else:
            found.append([one])
        done = one.high
    return [*found, Gap(done, steps)] if done < steps else found


@lru_cache(maxsize=1)
def halves() -> Array:
    """Return what takes values at the places of a panel to those of its two halves."""
    places = panel_places(1)[0]
    both = np.vander(panel_places(2).ravel(), places.size, increasing=True)
    return np.asarray(np.linalg.solve(np.vander(places, increasing=True).T, both.T))


@dataclass(frozen=True, eq=False)
class _Run:
    """What a run of stretches gave, shape (stretches, parts, 7): the sum of the ``modes``, and what belongs to it."""

    modes: Array
    gamma: Array
    zigzag: Array
    eta: Array


def march_stretches(
    system: LinearModes, moments: Moments, state: Array, stretches: Sequence[Stretch], parts: int
) -> tuple[_Run, Array]:
    """Return what happens on a run of stretches of ``parts`` panels each, and the modes at its end; ``state``: at its
    start. u is never formed: where the noise is large, f would lose its digits in it."""
    base = system.delta + system.noise
    found, before = [], (0.0, 0.0, 0.0)
    group = max(1, _PANELS // parts)
    for low in range(0, len(stretches), group):
        some = stretches[low : low + group]
        stairs = smooth_staircase(some, parts)
        lengths = np.repeat([one.time / parts for one in some], parts)
        maps = panel_maps(system, lengths)
        gamma = np.ascontiguousarray(stairs.gamma[..., 1:].reshape(-1, maps.response.shape[-1]))
        inverses = np.linalg.inv(np.eye(gamma.shape[1]) - maps.response * gamma[:, None, :])
        left = np.multiply(maps.left, gamma[:, :, None], out=maps.left)
        driven = np.einsum("nij,nj->ni", maps.response, gamma) * base
        always = np.einsum("nik,ni->nk", left, np.full_like(gamma, base))
        sums = np.empty((len(some) * parts, gamma.shape[1] + 1))
        for i in range(sums.shape[0]):
            if i % parts == 0:
                one = i // parts
                here = (stairs.gamma[one, 0, 0], stairs.zigzag[one, 0, 0], stairs.eta[one, 0, 0])
                # from the staircase, or from the smooth gamma of the stretch before
                if abs(change := before[1] - here[1]) * moments.zeroth > 1e-17:
                    state = state + zigzag_of_modes(system, moments, state, here[0], change, here[2])
                before = (stairs.gamma[one, -1, -1], stairs.zigzag[one, -1, -1], stairs.eta[one, -1, -1])
            sums[i, 0] = state.sum()
            history = maps.history[i]
            known = history @ state
            known += driven[i]
            points = inverses[i] @ known
            sums[i, 1:] = points
            state = history[-1] * state
            state += points @ left[i]
            state += always[i]
        found.append(_Run(sums.reshape(stairs.gamma.shape), stairs.gamma, stairs.zigzag, stairs.eta))
    if before[1] != 0.0:
        state = state + zigzag_of_modes(system, moments, state, *before)
    names = ("modes", "gamma", "zigzag", "eta")
    return _Run(*(np.concatenate([getattr(one, name) for one in found]) for name in names)), state


@dataclass(frozen=True, eq=False)
class Mixed:
    """``values`` of f and the absolute ``errors`` of f where they are wanted; ``difference``: the largest of the last
    two solutions; ``smooth``: the largest error of the smooth gamma; ``evaluations``, ``points`` (most on a single
    step), ``flops`` of matrix products."""

    values: Array
    errors: Array
    difference: float
    smooth: float
    evaluations: int
    points: int
    flops: float


@dataclass(frozen=True, eq=False)
class Course:
    """Pieces of steps: ``lengths`` and ``gammas``; ``first``: the piece that each step begins with, and their number (a
    range or an array); ``places``: where in their step the pieces end, None where all pieces are steps."""

    lengths: Array
    gammas: Array
    first: Any
    places: Array | None


@dataclass(frozen=True)
class Floor:
    """What is added to every claimed error: ``relative`` to f, and ``absolute``."""

    relative: float = 0.0
    absolute: float = 0.0


def solve_mixed(
    system: LinearModes,
    scales: Scales,
    course: Course,
    stretches: Sequence[Stretch],
    accuracy: float,
    floor: Floor,
    at: Any = None,
) -> Mixed:
    """Return f after ``at`` pieces, rising whole numbers, or at the start and the ends of all.

    ``accuracy``: of f, relative, of which about half is for the difference of two solutions.
    """
    moments, tools = Moments.of(system), march_tools(system)
    parts_of_it = layout(stretches, len(course.first) - 1)
    base = system.delta + system.noise
    start = system.delta + float(system.start.sum())
    before: list[Any] = []
    evaluations, points, flops = 0, 1, 0.0
    for level in range(_LEVELS):
        parts, state = 2**level, system.start
        now: list[Any] = []
        differences: list[Array] = []
        for number, one in enumerate(parts_of_it):
            if isinstance(one, Gap):
                rows = slice(int(course.first[one.low]), int(course.first[one.high]))
                lengths = course.lengths[rows]
                plan = segments(lengths, scales.fastest, 0.15 * accuracy, level)
                found = march(replace(system, start=state), lengths, course.gammas[rows], plan, tools=tools)
                state, flops = found.state, flops + found.flops
                evaluations += sum(run.points * (run.high - run.low) for run in plan)
                points = max(points, *(run.points for run in plan))
                now.append(found.ends - system.noise)
                fine, coarse = found.ends - system.noise, before[number] if before else None
            else:
                run, state = march_stretches(system, moments, state, one, parts)
                panels = len(one) * parts
                evaluations += 6 * panels
                flops += panels * (24.0 * system.rates.size + 72.0) + 144.0 * panels * system.rates.size
                now.append(run)
                fine, coarse = run.modes + system.delta, None
                if before:
                    coarse = (before[number].modes @ halves()).reshape(fine.shape) + system.delta
            if coarse is not None:
                difference = np.abs(coarse - fine) / fine
                differences.append(difference if difference.ndim == 1 else difference.max(axis=(1, 2)))
        before = now
        if differences:
            claims = [
                stretch_error(scales, stretch, modes + system.delta, system.noise, start)
                for one, run in zip(parts_of_it, now, strict=True)
                for stretch, modes in (zip(one, run.modes, strict=True) if isinstance(one, list) else ())
            ]
            left = accuracy - max(claims)
            # if only a sixteenth is left the claims are too large: more panels are no help
            if max(float(each.max()) for each in differences) <= left or left < accuracy / 16.0:
                break
    answer = _Answer(course, np.empty(0) if at is None else at, at is None, start, floor)
    worst, smooth, claim = 0.0, 0.0, iter(claims)
    for one, solved, difference in zip(parts_of_it, before, differences, strict=True):
        if isinstance(one, Gap):
            rows = slice(int(course.first[one.low]), int(course.first[one.high]))
            difference = np.maximum.accumulate(np.maximum(difference, worst))
            worst = float(difference[-1])
            answer.put(rows, solved, difference + smooth)
            continue
        lengths = np.repeat([stretch.time / parts for stretch in one], parts)
        panels = (each.reshape(lengths.size, -1) for each in (solved.gamma, solved.zigzag, solved.eta))
        of = curve(moments, solved.modes.reshape(lengths.size, -1), base, lengths, *panels)
        for number, stretch in enumerate(one):
            smooth, worst = max(smooth, next(claim)), max(worst, float(difference[number]))
            here = of.on(slice(number * parts, (number + 1) * parts))
            answer.put_stretch(stretch, here, parts, worst + smooth, system.delta)
    return Mixed(answer.values, answer.errors, worst, smooth, evaluations, points, flops)


class _Answer:
    """f at the start and at the ends of the wanted pieces, and its absolute error, filled block by block."""

    def __init__(self, course: Course, at: Any, whole: bool, start: float, floor: Floor) -> None:
        self._course, self._at, self._whole, self._floor = course, at, whole, floor
        size = course.lengths.size + 1 if whole else at.size
        self.values, self.errors = np.empty(size), np.empty(size)
        first = slice(0, 1 if whole else int(np.searchsorted(at, 1)))
        self.values[first] = start
        self._claim(first, 0.0)

    def _claim(self, into: slice, error: Any) -> None:
        np.multiply(self.values[into], error + self._floor.relative, out=self.errors[into])
        self.errors[into] += self._floor.absolute

    def _wanted(self, rows: slice) -> tuple[slice, Any]:
        """Return where the pieces ``rows`` stand in the answer, and which of them are wanted."""
        into = slice(rows.start + 1, rows.stop + 1)
        if self._whole:
            return into, slice(None)
        into = slice(*np.searchsorted(self._at, [into.start, into.stop]).tolist())
        return into, self._at[into] - 1 - rows.start

    def put(self, rows: slice, found: Array, error: Array) -> None:
        """Fill in the pieces ``rows``: f at their ends, and its relative error."""
        into, pick = self._wanted(rows)
        self.values[into] = found[pick]
        self._claim(into, error[pick])

    def put_stretch(self, stretch: Stretch, of: Curve, parts: int, error: float, delta: float) -> None:
        """Fill in the pieces of a stretch of ``parts`` panels."""
        course = self._course
        rows = slice(int(course.first[stretch.low]), int(course.first[stretch.high]))
        into, pick = self._wanted(rows)
        if into.start == into.stop:
            return
        if self._whole and stretch.rows is not None and rows.stop - rows.start == stretch.high - stretch.low:
            error += _put_rows(stretch.rows, of, parts, stretch.time, delta, self.values[into])
        else:
            places = np.cumsum(course.lengths[rows])[pick]
            inside = None if course.places is None else course.places[rows][pick]
            self.values[into] = values_at(of, parts, stretch.time, places, inside)
            self.values[into] += delta
        self._claim(into, error)


def _put_rows(rows: Rows, of: Curve, parts: int, time: float, delta: float, out: Array) -> float:
    """Put f at the ends of steps into ``out``, from what it is where the rows begin; return the error of that."""
    full = out.size // rows.spacing
    samples = values_at(of, parts, time, rows.starts[: full + 1], None)
    samples += delta
    between_samples(samples, rows.spacing, out[: full * rows.spacing].reshape(full, rows.spacing))
    if rows.index.size:
        out[rows.index] = values_at(of, parts, time, rows.ends, None) + delta
    return INTERPOLATION * eighth_difference(samples) / float(samples.min())


def stretch_error(scales: Scales, stretch: Stretch, f: Array, noise: float, start: float) -> float:
    """Return the relative error of f that no refinement of a stretch shows.

    ``f``: on the stretch; ``start``: at the time 0. A relative change of gamma changes f by as much for every time that
    it was injected again on the way: about (1 + log(start/f), of f + sigma^2)/(1 - stability) times.
    """
    least = float(f.min())
    times = scales.sensitivity * (1.0 + math.log(max((start + noise) / (least + noise), 1.0)))
    return float((MISSED * stretch.misfit + stretch.joint + (1.0 + noise / least) * scales.staircase(stretch)) * times)
