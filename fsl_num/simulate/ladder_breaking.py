"""The learning rate at which each approximation breaks: where a rung first leaves the one before by a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.simulate.ladder_rungs import largest_rate, rung_curve, rung_steps, rungs_of
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.sde_grid import checked_steps
from fsl_num.validation import Array, as_array, entries, flag, instance_of, positive

_LOWEST: Final = 1e-3  # of the largest rate that both rungs bear: the lowest that is tried
_FACTOR: Final = 2.0  # between the rates that are tried before one is searched for
_BELOW: Final = 1.0 - 1e-6  # of the limit itself
_PRECISION: Final = 1e-3


def relative_distance(first: Array, second: Array) -> Array:
    """Return by how much the larger of two risks exceeds the smaller, relative to the smaller.

    >>> relative_distance(np.array([1.0, 3.0]), np.array([2.0, 3.0])).tolist()
    [1.0, 0.0]
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    # two risks of 0 are equal; one of 0 alone is infinitely far from the other
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(high == low, 0.0, (high - low) / np.maximum(low, 0.0)))


@dataclass(frozen=True)
class BreakingRate:
    """Where the distance of ``rung`` to ``next_rung`` passes the ``threshold``, as the peak learning rate varies.

    ``above``: the lowest peak from which on it is larger, None where it never is below ``limit``, the largest constant
    rate that both rungs bear. ``below``: where the distance is larger already at the lowest peak that was tried
    (``lowest``), the peak from which on it is smaller, inf where it never is, None where it is smaller there.
    """

    rung: str
    next_rung: str
    threshold: float
    above: float | None
    below: float | None
    lowest: float
    limit: float

    @property
    def message(self) -> str:
        """The same in words."""
        if self.below == math.inf:
            return "at every learning rate tried"
        ends = [] if self.below is None else [f"below {self.below:.3g}"]
        if self.above is not None:
            ends.append(f"above {self.above:.3g}")
        if not ends:
            return f"never below the stability limit {self.limit:.3g}"
        return " and ".join(ends)


def breaking_rates(
    problem: Regression,
    rates: Any,
    threshold: float | tuple[float, ...] = 0.1,
    *,
    batch_sizes: Any = 1,
    every: int | None = None,
    at_end: bool = False,
) -> tuple[BreakingRate, ...]:
    """Return for each rung the peak learning rates at which its distance to the next passes ``threshold``.

    ``problem``, ``batch_sizes`` and ``every`` as in :func:`~fsl_num.simulate.ladder.ladder`. ``rates``: a schedule, one
    rate a step, of which only the shape counts: it is scaled to other peaks, from a thousandth of the largest constant
    rate that both rungs bear (:func:`~fsl_num.simulate.ladder_rungs.largest_rate`, with the smallest batch) up to it.
    ``threshold``: a relative distance (:func:`relative_distance`), or several; of the largest one over time, or with
    ``at_end`` of that after the last step. Peaks are found to 0.1% between neighbours a factor of 2 apart. Raises
    ValueError or TypeError for arguments that do not fit.

    >>> from fsl_num.model import Model
    >>> model = Regression(Model(s=0.5, beta=2.0, size=32, noise=1.0))
    >>> rows = breaking_rates(model, np.ones(500))
    >>> [row.rung for row in rows]
    ['expected', 'sde-physical', 'sde-intrinsic', 'volterra', 'fsl']
    >>> rows[1].message[:5], bool(0.1 < rows[0].above < 0.3)
    ('never', True)
    """
    instance_of("problem", problem, Regression)
    eta, batches = checked_steps(rates, batch_sizes)
    shape = eta / eta.max()
    recorded = rung_steps(eta.size, every)
    distances = [threshold] if np.ndim(as_array("threshold", threshold)) == 0 else entries("threshold", threshold)
    thresholds = list(dict.fromkeys(positive("threshold", distance) for distance in distances))
    at_end = flag("at_end", at_end)
    curves: dict[tuple[str, float], Array] = {}
    smallest = float(batches.min())

    def risks(name: str, peak: float) -> Array:
        key = ("sde-physical" if name == "sde-intrinsic" else name, peak)
        if key not in curves:
            try:
                curves[key] = rung_curve(key[0], problem, peak * shape, batches, recorded).excess_risk
            except OverflowError:
                curves[key] = np.full(1, np.inf)  # training diverges beyond all numbers: infinitely far from any other
        return curves[key]

    rungs = rungs_of(problem)
    bears = {name: _bears(name, problem, smallest) for name in rungs}
    rows: list[BreakingRate] = []
    for name, following in zip(rungs, rungs[1:], strict=False):
        limit = min(bears[name], bears[following])
        limit = bears["volterra"] if math.isinf(limit) else limit

        def distance(peak: float, name: str = name, following: str = following) -> float:
            coarser, finer = risks(name, peak), risks(following, peak)
            if np.isinf([coarser[-1], finer[-1]]).any():
                return math.inf
            apart = relative_distance(coarser, finer)
            return float(apart[-1] if at_end else apart.max())

        rows.extend(
            BreakingRate(name, following, threshold, *_crossings(distance, threshold, limit), limit)
            for threshold in thresholds
        )
    return tuple(rows)


def _bears(name: str, problem: Regression, batch_size: float) -> float:
    try:
        return largest_rate(name, problem, batch_size)
    except ValueError:
        return math.inf  # not known; the rung after it has one, and divergence is seen


def _crossings(
    distance: Callable[[float], float], threshold: float, limit: float
) -> tuple[float | None, float | None, float]:
    """Return from where on the distance is above the threshold, up to where it is from the start, and the start."""
    top, lowest = limit * _BELOW, limit * _LOWEST
    count = math.ceil(math.log(top / lowest) / math.log(_FACTOR))
    peaks = np.geomspace(lowest, top, count + 1).tolist()
    low, below = peaks[0], None
    larger = distance(low) > threshold
    if larger:
        below = math.inf
    for peak in peaks[1:]:
        if (distance(peak) > threshold) != larger:
            crossing = _search(distance, threshold, low, peak)
            if not larger:
                return crossing, below, lowest
            larger, below = False, crossing
        low = peak
    return None, below, lowest


def _search(distance: Callable[[float], float], threshold: float, low: float, high: float) -> float:
    """Return the peak in [low, high] where the distance is the threshold: about a power of the peak in between."""
    from scipy.optimize import brentq

    def excess(log_peak: float) -> float:
        # distances of 0 and inf have no logarithm
        return min(max(math.log(max(distance(math.exp(log_peak)), 1e-300) / threshold), -50.0), 50.0)

    a, b = math.log(low), math.log(high)
    # the ends themselves, not the exponentials of their logarithms, which may lie on the other side
    ends = {a: low, b: high}

    def at(log_peak: float) -> float:
        return excess(log_peak) if log_peak not in ends else _clipped(distance(ends[log_peak]), threshold)

    return math.exp(brentq(at, a, b, xtol=_PRECISION))


def _clipped(value: float, threshold: float) -> float:
    return min(max(math.log(max(value, 1e-300) / threshold), -50.0), 50.0)
