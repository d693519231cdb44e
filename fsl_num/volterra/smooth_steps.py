r"""Stretches of steps on which gamma is a smooth function of time but for being a staircase.

Through gamma at the middles m_i of the steps a polynomial g is laid, and compared with gamma at every step. For such a
staircase the jumps are those of g, and the loss after every step is that of a smooth gamma, up to corrections in powers
of the step (:mod:`fsl_num.volterra.stretches`). Stretches grow with the time since the last place where gamma was not
smooth, for the loss relaxes from there on all time scales. Where no stretch of some steps is smooth enough, steps are
left over, and the stretches grow again from there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes

DEGREE = 7  # of the polynomials for gamma and for the lengths

LEAST_STEPS = 32  # in a stretch: fewer cost less one by one

MISSED = 1.5
"""What is claimed for gamma that a polynomial misses by 1: the bound is nearly reached where noise prevails."""

_MOST_LEFT = 4096  # steps left over before a stretch is tried again
_MOST_STEPS = 15360  # in a stretch: arrays of more leave the caches, and the small blocks of memory
_FIRST = 0.25  # time since the last break, in units of the fastest mode's, that counts as none
_SUM = 64.0  # of gamma eta on a stretch at most: the polynomials are sums of that size

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
    ``change`` of gamma and of the lengths from step to step, relative; ``ends``: where the steps end; ``joint``: the
    error by a kink of gamma at the start, see :func:`joint_error`. Of many schedules of the same lengths, ``gamma`` has
    the shape (8, schedules), and what is said of gamma is an array with one number a schedule.
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
    ends: Array
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
    """Return the polynomials, by rising powers, through some of the columns of ``values`` at rising ``x``."""
    at = places_of_nodes(x)
    if not (np.diff(x[at]) > 0.0).all():
        return None
    return np.asarray(np.linalg.solve(x[at, None] ** np.arange(DEGREE + 1), values[at]))


def fit_stretch(
    lengths: Array,
    gammas: Array,
    low: int,
    high: int,
    *,
    one_batch: bool = False,
    accuracy: float = np.inf,
    places: Array | None = None,
    spacing: int = LEAST_STEPS,
) -> Stretch | None:
    """Return the stretch of the steps ``low`` to ``high``; None where a look at a few steps tells that gamma is not
    within ``accuracy`` of a polynomial, relative.

    ``one_batch``: whether the lengths are known to be a multiple of gamma; ``places``: where every ``spacing``-th of
    the steps begins, from any origin.

    >>> lengths = np.linspace(0.1, 0.105, 500)
    >>> fit_stretch(lengths, lengths, 0, 500).misfit < 1e-13
    True
    """
    length, gamma = lengths[low:high], gammas[low:high]
    if places is None or places.size <= 8 * DEGREE:
        ends = np.cumsum(length)
        x = ends - 0.5 * length
        few = slice(None)
    else:
        few = slice(None, None, spacing)
        x = (places - places[0]) + 0.5 * length[few]
    time = float(length.sum())
    if not time > 1e-100:
        return None  # derivatives by it would overflow
    seen = np.stack([gamma[few], length[few]], axis=1)
    scale = 2.0 / time
    x = x * scale - 1.0
    least, largest = seen.min(axis=0), seen.max(axis=0)
    flat = least[0] == largest[0] and float(gamma.max()) == largest[0] == float(gamma.min())
    pair = np.zeros((DEGREE + 1, 2))
    if flat:
        longest = float(length.max())
        pair[0] = largest[0], longest
        ends = np.cumsum(length)
        return Stretch(
            low, high, time, pair[:, 0], pair[:, 1], 0.0, 0.0, 0.0, float(largest[0]), longest, 0.0, 0.0, ends
        )
    found = None if least[0] <= 0.25 * largest[0] else _interpolated(x, seen)
    if found is None or not np.abs(polynomial(found[:, 0], x) - seen[:, 0]).max() <= accuracy * least[0]:
        return None
    if few.step is not None:
        ends = np.cumsum(length)
        x = length * -0.5
        x += ends
        x *= scale
        x -= 1.0
    lowest, highest = float(gamma.min()), float(gamma.max())
    if lowest <= 0.0:
        return None
    longest = float(length.max())
    wrong = _misfit(found[:, 0], x, gamma)
    slope, growing = (scale * np.abs(SLOPES @ found).max(axis=0)).tolist()
    bend = scale**2 * float(np.abs(BENDS @ found[:, 0]).max())
    change = slope * longest / highest + growing
    uneven = wrong * longest / highest if one_batch else _misfit(found[:, 1], x, length)
    polynomials = found[:, 0].copy(), found[:, 1].copy()
    return Stretch(low, high, time, *polynomials, wrong / lowest, slope, bend, highest, longest, uneven, change, ends)


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
    accuracy /= scales.sensitivity * scales.caution
    if stretch is None or MISSED * stretch.misfit > accuracy:
        return False
    if stretch.slope == 0.0:
        return True
    if scales.fastest * stretch.longest > 1.0:
        return False
    part = min(1.0, scales.share * stretch.largest)
    return bool(scales.staircase(stretch) <= accuracy * part)


def find_stretches(
    lengths: Array,
    gammas: Array,
    scales: Scales,
    accuracy: float,
    growth: float,
    one_batch: bool,
    least: int = LEAST_STEPS,
) -> list[Stretch]:
    """Return stretches in rising order, which leave out the steps on which gamma is not smooth enough.

    ``lengths``, ``gammas``: positive; ``accuracy``: what a stretch may add to the relative error of f; ``growth``: the
    length of a stretch by the time since the last break; ``least``: so many steps are worth a stretch.

    >>> lengths, scales = np.full(1000, 0.1), Scales(1.0, 2.0, 0.5, 1.0)
    >>> [(x.low, x.high) for x in find_stretches(lengths, lengths, scales, 1e-9, 1.0, True)]
    [(32, 64), (64, 128), (128, 256), (256, 512), (512, 1000)]
    """
    # places are known at every so many steps, where stretches begin and end
    blocks = np.add.reduceat(lengths, np.arange(0, lengths.size, least))
    starts = np.concatenate([[0.0], np.cumsum(blocks)])
    found: list[Stretch] = []
    first = _FIRST / scales.fastest
    low, broken, left, last = 0, 0.0, 1, starts.size - 1
    while low < last:
        here = float(starts[low])
        reach = growth * max(here - broken, first)
        high = int(np.searchsorted(starts, here + reach * (1.0 + 1e-12), side="right")) - 1
        high = min(
            high, low + _MOST_STEPS // least, int(np.searchsorted(starts, here + _SUM / float(gammas[low * least])))
        )
        if high <= low:
            # too soon after a break
            enough = broken + float(starts[low + 1] - here) / growth
            low = max(low + 1, min(int(np.searchsorted(starts, enough)), 2 * low + 1))
            continue
        stretch = None
        while high > low:
            end = min(high * least, lengths.size)
            stretch = fit_stretch(
                lengths,
                gammas,
                low * least,
                end,
                one_batch=one_batch,
                accuracy=accuracy / (MISSED * scales.sensitivity * scales.caution),
                places=starts[low:high],
                spacing=least,
            )
            if _fits(stretch, scales, accuracy):
                break
            stretch, high = None, low + (high - low) // 2
        if stretch is None:
            low = min(low + left, last)
            broken, left = float(starts[low]), min(2 * left, _MOST_LEFT // least)
            continue
        joint = 0.0
        if here > broken:
            before = found[-1] if found and found[-1].high == stretch.low else None
            before = before or fit_stretch(lengths, gammas, (low - 1) * least, low * least)
            joint = float(joint_error(before, stretch, scales.fastest))
            if joint * scales.sensitivity * scales.caution > 0.4 * accuracy:
                broken = here
                continue
        found.append(replace(stretch, joint=joint))
        low, left = high, 1
    return found
