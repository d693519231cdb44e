r"""Stretches of steps on which gamma is a smooth function of time but for being a staircase.

Through gamma at the middles m_i of the steps a polynomial g is laid, and compared with gamma at every step. For such a
staircase the jumps are those of g, and the loss after every step is that of a smooth gamma, up to corrections in powers
of the step (:mod:`fsl_num.volterra.steps.stretches`). Stretches grow with the time since the last place where gamma was
not smooth, for the loss relaxes from there on all time scales. Where no stretch of some steps is smooth enough, steps
are left over, and the stretches grow again from there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes
from fsl_num.volterra.steps.sampled_steps import INTERPOLATION, Rows, SampledSteps, eighth_difference

DEGREE = 7  # of the polynomials for gamma and for the lengths

LEAST_STEPS = 32  # in a stretch: fewer cost less one by one

MISSED = 1.5
"""What is claimed for gamma that a polynomial misses by 1: the bound is nearly reached where noise prevails."""

_MISFIT = 0.25
"""Part of the accuracy that gamma may miss: the loss bends as gamma does, and a panel of degree 6 misses more of it."""

_MOST_LEFT = 4096  # steps left over before a stretch is tried again
_FEW = 4 * DEGREE  # samples: a stretch with fewer is looked at step by step
SEEN_BETWEEN = 1.2  # what a polynomial misses is largest between samples, but by less than this: three in every wave
_LONGER = 1.4  # at most, than the stretch before, where that had to be made shorter
_FIRST = 0.25  # time since the last break, in units of the fastest mode's, that counts as none

_NODES = 0.5 - 0.5 * np.cos(np.arange(DEGREE + 1) * (np.pi / DEGREE))
PLACES = np.linspace(-1.0, 1.0, 33)
SLOPES, BENDS = (
    np.stack(
        [
            np.polynomial.polynomial.polyval(PLACES, np.polynomial.polynomial.polyder(row, m))
            for row in np.eye(DEGREE + 1)
        ],
        axis=1,
    )
    for m in (1, 2)
)


@dataclass(frozen=True)
class Scales:
    """The ``kernel`` K(0), the ``fastest`` rate, the least part of u = f + sigma^2 that f may be is about
    ``share`` gamma where there is noise; ``sensitivity``: how much a relative change of gamma grows; ``blur``:
    the relative error of derivatives of u; ``caution``: how much more an error may grow while the loss falls.
    """

    kernel: float
    fastest: float
    share: float
    sensitivity: float
    blur: float = 0.01
    caution: float = 1.0

    @staticmethod
    def of(system: LinearModes, stability: float, accuracy: float, horizon: float) -> Scales:
        """Return the scales of a system whose u is wanted with a relative ``accuracy`` up to the ``horizon``."""
        kernel, fastest = float(system.weights.sum()), float(system.rates.max())
        # the integral of K over ten times the fastest mode's time: before that the signal is left
        forgotten = -np.expm1(-10.0 * system.rates / fastest) / np.maximum(system.rates, 1e-300)
        share = float(system.weights @ forgotten) if system.noise > 0.0 else np.inf
        # two derivatives on a panel of the length 1/fastest or more take a factor of 1e4 from an error that is below
        # the accuracy: far less than the square root of it times 30
        blur = min(max(1e-3, 30.0 * math.sqrt(accuracy)), 0.1)
        # at the horizon u is at least what is left of the signal
        base = system.delta + system.noise
        left = base + float(system.start @ np.exp(-system.rates * horizon))
        caution = 1.0 + min(math.log((base + float(system.start.sum())) / max(left, 1e-300)), 30.0)
        return Scales(kernel, fastest, share, 1.0 / max(1.0 - stability, 1e-3), blur, caution)

    def allowed(self, accuracy: float) -> float:
        """Return the relative error that a stretch may add to gamma where f is wanted with an ``accuracy``."""
        return accuracy / (self.sensitivity * self.caution)

    def staircase(self, of: Stretch) -> Any:
        """Return the error, relative to u, of taking the smooth gamma for the staircase after all corrections.

        Its parts: the first correction, taken with a wrong length; four times the square of it; and of the last
        correction, whose successor is smaller by (rate step)^2/42, four times that and what its derivatives may
        be wrong by. The others are of the order of the change of the jumps from step to step: they count ten times.
        """
        turn = self.fastest * of.longest
        jump = self.kernel * of.slope * of.longest**2
        last = (4.0 + 2.0 * self.kernel * of.largest / self.fastest) * turn**2 * (self.blur + 0.1 * turn**2)
        varied = (self.kernel * of.bend * of.longest**3 + jump * of.change) * (turn + of.change)
        uneven = self.kernel * of.slope * of.longest * of.uneven
        return uneven / 3.0 + (jump * last + 10.0 * varied) / 720.0 + 4.0 * (jump / 12.0) ** 2


@dataclass(frozen=True, eq=False)
class Stretch:
    """Steps ``low`` to ``high`` (not included) of the length ``time`` altogether.

    ``gamma``, ``length``: coefficients of the polynomials through gamma and the lengths at the middles of the steps,
    by rising powers of the time in [-1, 1]; ``misfit`` of gamma, relative; ``slope``, ``bend``: the largest first and
    second derivative of gamma by time; ``largest`` gamma; ``longest`` step; ``uneven``: the misfit of the lengths;
    ``change`` of gamma and of the lengths from step to step, relative; ``rows`` of steps, None where there are so few
    that all steps were looked at; ``joint``: the error by a kink of gamma at the start, see :func:`joint_error`. Of
    many schedules of the same lengths, ``gamma`` has the shape (8, schedules), and what is said of gamma is an array
    with one number a schedule.
    """

    low: int
    high: int
    time: float
    gamma: Array
    length: Array
    misfit: Any
    slope: Any
    bend: Any
    largest: Any
    longest: float
    uneven: float
    change: Any
    rows: Rows | None
    joint: Any = 0.0


def polynomial(coefficients: Array, x: Array) -> Array:
    """Return the polynomial of rising ``coefficients`` at ``x``, in place and pass by pass.

    >>> polynomial(np.array([1.0, 2.0, 3.0]), np.array([2.0])).tolist()
    [17.0]
    """
    found = x * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        found += coefficient
        found *= x
    found += coefficients[0]
    return np.asarray(found)


def places_of_nodes(x: Array) -> Any:
    """Return which of the rising ``x`` are about where a polynomial is best interpolated."""
    return np.searchsorted(0.5 * (x[1:] + x[:-1]), x[0] + (x[-1] - x[0]) * _NODES)


def _interpolated(x: Array, values: Array) -> Array | None:
    """Return the polynomials, by rising powers, through some places of the rows of ``values`` at rising ``x``."""
    at = places_of_nodes(x)
    if not (at[1:] > at[:-1]).all():
        return None
    return np.asarray(np.linalg.solve(np.vander(x[at], increasing=True), values[:, at].T))


def fit_stretch(steps: SampledSteps, low: int, high: int, accuracy: float = np.inf) -> Stretch | None:
    """Return the stretch of the rows ``low`` to ``high`` (not included); None where a look at the samples tells that
    gamma is not within ``accuracy`` of a polynomial, relative.

    >>> lengths = np.linspace(0.1, 0.105, 500)
    >>> fit_stretch(SampledSteps.of(lengths, lengths, 5, True), 0, 100).misfit < 1e-13
    True
    """
    inside = steps.inside(low, high)
    length, gamma = steps.lengths[inside], steps.gammas[inside]
    time = float(steps.blocks[low:high].sum())
    if not time > 1e-100:
        return None  # derivatives by it would overflow
    scale = 2.0 / time
    sampled = high - low > _FEW
    every = slice(None, None, steps.spacing if sampled else 1)
    seen = np.array([gamma[every], length[every]])
    between = steps.blocks[low:high] if sampled else seen[1]
    x = np.cumsum(between) - between
    x += 0.5 * seen[1]
    x *= scale
    x -= 1.0
    least, largest = seen.min(axis=1), seen.max(axis=1)
    found = None if least[0] <= 0.25 * largest[0] else _interpolated(x, seen)
    if found is None:
        return None
    flat = least[0] == largest[0] == float(gamma.max()) == float(gamma.min())
    if flat:
        found[:, 0] = largest[0] * (np.arange(DEGREE + 1) == 0)
    wrong = 0.0 if flat else _misfit(found[:, 0], x, seen[0])
    if not wrong <= accuracy * least[0]:
        return None
    in_step = steps.one_batch and not flat
    uneven = wrong * largest[1] / largest[0] if in_step else _misfit(found[:, 1], x, seen[1])
    slope, growing = (scale * np.abs(SLOPES @ found).max(axis=0)).tolist()
    rows = steps.rows(low, high, 0.1 * accuracy * least) if sampled else None
    if rows is not None and not flat:
        wrong = SEEN_BETWEEN * wrong + INTERPOLATION * eighth_difference(polynomial(found[:, 0], x))
        wrong += rows.ragged + slope * rows.spacing * rows.uneven
        uneven = SEEN_BETWEEN * uneven + rows.uneven
        if rows.index.size:
            alone = (rows.ends - 0.5 * length[rows.index]) * scale - 1.0
            wrong = max(wrong, _misfit(found[:, 0], alone, gamma[rows.index]))
            uneven = max(uneven, _misfit(found[:, 1], alone, length[rows.index]))
        # up to the next sample, and after the last one, a smooth function moves by its slope at most
        away = time / (high - low)
        largest += wrong + slope * away, uneven + growing * away
        least -= wrong + slope * away
        if least[0] <= 0.0:
            return None
    highest, longest = largest.tolist()
    return Stretch(
        inside.start,
        inside.stop,
        time,
        found[:, 0].copy(),
        found[:, 1].copy(),
        wrong / float(least[0]),
        slope,
        scale**2 * float(np.abs(BENDS @ found[:, 0]).max()),
        highest,
        longest,
        uneven,
        slope * longest / highest + growing,
        rows,
    )


def _misfit(coefficients: Array, x: Array, values: Array) -> float:
    found = polynomial(coefficients, x)
    found -= values
    return max(float(found.max()), -float(found.min()))


def joint_error(before: Stretch | None, after: Stretch, fastest: float) -> Any:
    """Return the relative error of f by a kink or jump of gamma between two stretches; ``before`` None: any jump.

    The loss relaxes from there like exp(-x), x the time by 1/``fastest``, which a polynomial of degree 6 on [0, X]
    misses by about 2 (X/4)^7/7! at most: less than (X/12)^4. A kink counts as a jump by two fifths of what it makes in
    the time 1/``fastest``; one fifth was measured.
    """
    short = min((fastest * after.time / 12.0) ** 4, 1.0)
    if before is None:
        return short * np.ones_like(after.misfit)
    ones = np.ones(DEGREE + 1)
    turns = (-ones) ** np.arange(DEGREE + 1)
    powers = np.arange(DEGREE + 1)
    jump = np.abs(ones @ before.gamma - turns @ after.gamma)
    bend = np.abs(2.0 / before.time * (powers @ before.gamma) + 2.0 / after.time * ((powers * turns) @ after.gamma))
    return short * (jump + 0.4 * bend / fastest) / np.minimum(before.largest, after.largest)


def _fits(stretch: Stretch | None, scales: Scales, accuracy: float) -> bool:
    allowed = scales.allowed(accuracy)
    if stretch is None or MISSED * stretch.misfit > _MISFIT * allowed:
        return False
    if stretch.slope == 0.0:
        return True
    if scales.fastest * stretch.longest > 1.0:
        return False
    part = min(1.0, scales.share * stretch.largest)
    return bool(scales.staircase(stretch) <= allowed * part)


def find_stretches(steps: SampledSteps, scales: Scales, accuracy: float, growth: float) -> list[Stretch]:
    """Return stretches in rising order, which leave out the steps on which gamma is not smooth enough.

    ``accuracy``: what a stretch may add to the relative error of f; ``growth``: the length of a stretch by the time
    since the last break. The rows of ``steps`` are what may be a stretch at least.

    >>> lengths, scales = np.full(1000, 0.1), Scales(1.0, 2.0, 0.5, 1.0)
    >>> steps = SampledSteps.of(lengths, lengths, 32, True)
    >>> [(x.low, x.high) for x in find_stretches(steps, scales, 1e-9, 1.0)]
    [(32, 64), (64, 128), (128, 256), (256, 512), (512, 1000)]
    """
    starts = np.concatenate([[0.0], np.cumsum(steps.blocks)])
    found: list[Stretch] = []
    first = _FIRST / scales.fastest
    allowed = scales.allowed(accuracy)
    low, broken, left, last, most = 0, 0.0, 1, starts.size - 1, math.inf
    while low < last:
        here = float(starts[low])
        reach = growth * max(here - broken, first)
        high, shorter = np.searchsorted(starts, here + np.array([reach, most]) * (1.0 + 1e-12), side="right").tolist()
        high -= 1
        if high <= low:
            # too soon after a break
            enough = broken + float(starts[low + 1] - here) / growth
            low = max(low + 1, min(int(np.searchsorted(starts, enough)), 2 * low + 1))
            continue
        high, most, stretch = max(low + 1, min(high, shorter - 1)), math.inf, None
        while high > low:
            stretch = fit_stretch(steps, low, high, _MISFIT / MISSED * allowed)
            if _fits(stretch, scales, accuracy):
                break
            stretch, high = None, low + (high - low) // 2
            most = _LONGER * float(starts[high] - here)
        if stretch is None:
            low = min(low + left, last)
            broken, left, most = float(starts[low]), min(2 * left, _MOST_LEFT // steps.spacing), math.inf
            continue
        joint = 0.0
        if here > broken:
            before = found[-1] if found and found[-1].high == stretch.low else None
            before = before or fit_stretch(steps, low - 1, low)
            joint = float(joint_error(before, stretch, scales.fastest))
            if joint > 0.4 * allowed:
                broken = here
                continue
        found.append(replace(stretch, joint=joint))
        low, left = high, 1
    return found
