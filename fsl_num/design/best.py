"""The best rates of all steps under one law: certified for the functional laws, from several starts for others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.curves.laws import FunctionalLaw, Law, MomentumLaw
from fsl_num.curves.laws.shared import shortened
from fsl_num.curves.peaks import at_peak
from fsl_num.curves.sizes import constant_loss
from fsl_num.design.families import best_member, family_rates, step_blocks
from fsl_num.design.final_loss import MOST, final_loss
from fsl_num.design.newton import linear_gap, newton
from fsl_num.design.objectives import Objective
from fsl_num.design.water_filling import Filling, water_filling
from fsl_num.validation import Array

SHAPES: Final = ("free", "non-increasing")
"""What rates may be besides members of a family."""

_BLOCKS: Final = 48  # of a law without a certificate
_LOWEST: Final = 1e-6  # of the peak, where a search moves in logarithms
_SAME: Final = 1e-8
_TRIED: Final = 6  # peaks
_ABOVE: Final = 1.001  # of the floor: the least peak of a schedule that is not constant


@dataclass(frozen=True, eq=False)
class Past:
    """The steps that are fixed: their ``rates``, how many of them are ``warmup``, and the ``model_size``.

    ``lengths``: where neighbouring steps were merged, how many each rate stands for; None for one each.
    """

    rates: Array
    warmup: int
    model_size: float | None = None
    lengths: Array | None = None

    def objective(self, law: Law, theta: Array) -> Objective:
        """The final loss of a law by the rates that follow."""
        return final_loss(law, theta, self.rates, self.warmup, self.model_size, self.lengths)

    def at_peak(self, law: FunctionalLaw, theta: Array, peak: float) -> tuple[FunctionalLaw, Array]:
        """The law, and its parameters, of a run that goes on with rates up to ``peak``."""
        return at_peak(law, theta, max(peak, float(self.rates.max(initial=0.0))))


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best ``rates`` found and their ``loss``.

    ``kkt_residual``: how much the loss could still fall if it were linear, over all rates allowed, in nats; nan of a
    family. ``gap``: how far below it, in nats, a schedule may be at most; None where nothing is proved. ``agreed`` of
    ``starts`` ended within 1e-8 of it. ``parameters``: of the member of a family.
    """

    rates: Array
    loss: float
    kkt_residual: float
    gap: float | None
    starts: int = 1
    agreed: int = 1
    parameters: dict[str, float] | None = None


def optimum(law: Law, theta: Array, past: Past, steps: int, floor: float, peak: float, family: str) -> Optimum:
    """Return the best ``steps`` rates in [``floor``, ``peak``] that follow the ``past``.

    ``family``: "free", "non-increasing" or a name of :data:`~fsl_num.design.families.FAMILIES`. Under a functional law
    the first two are certified (:mod:`~fsl_num.design.water_filling`). The momentum law is linear in the rates but for
    its signal, a convex function of their sum: convex, so that the linear gap is a certificate. Of the other laws
    minima are many; the least from several starts is returned, on blocks of steps.
    """
    objective, ones = past.objective(law, theta), np.ones(steps)
    if floor == peak:  # there is one schedule
        rates = np.full(steps, peak)
        return Optimum(rates, objective(rates, ones)[0], 0.0, 0.0)
    if family not in SHAPES:
        rates, parameters = best_member(family, objective, steps, floor, peak)
        return Optimum(rates, objective(rates, ones)[0], float("nan"), None, parameters=parameters)
    falling = family == "non-increasing"
    starts, agreed = 1, 1
    bound = -np.inf
    if isinstance(law, FunctionalLaw):
        rates, peak, bound = _of_functional(law, theta, past, steps, floor, peak, family)
    else:
        least = 0.5 * constant_loss(law, theta, past.model_size)
        rates, starts, agreed = _from_starts(objective, steps, floor, peak, falling, least)
    loss, gradient = objective(rates, ones)
    residual = linear_gap(rates, gradient, floor, peak, falling)
    if isinstance(law, MomentumLaw):
        bound = loss - residual
    gap = max(loss - bound, 0.0) if np.isfinite(bound) else None
    return Optimum(rates, loss, residual, gap, starts, agreed)


def _of_functional(
    law: FunctionalLaw, theta: Array, past: Past, steps: int, floor: float, allowed: float, family: str
) -> tuple[Array, float, float]:
    """The best rates, the largest of the runs among which they are, and a bound on the loss of all others.

    Runs of a peak above P_c learn less a step; but their floor, too, counts for less.
    """
    falling, ones = family == "non-increasing", np.ones(steps)
    fresh = law.peaks and past.rates.size == 0
    fastest = float(theta[law.names.index("P_c")]) if fresh else np.inf
    most = max(fastest, floor * _ABOVE)
    peak, beyond = min(allowed, most), 0.0 < floor and most < allowed
    if beyond:
        peak = best_peak(lambda tried: least_loss(law, theta, past, steps, floor, tried, family), most, allowed)
    unit_law, scaled = past.at_peak(law, theta, peak)
    of_peak = past.objective(unit_law, scaled)

    def filled(low: float, high: float) -> Filling:
        return water_filling(unit_law, scaled, past.rates, steps, low, high, falling)

    best = filled(floor, peak)
    rates, bound = best.rates, best.bound
    # of more steps the rates of the cells, joined by straight lines, are the best to 1e-11 nats
    for together in (True, falling) if steps <= MOST else ():  # rates that do not rise are a start for those that may
        start = np.minimum.accumulate(rates) if together else rates
        moved = newton(unit_law, scaled, past.rates, of_peak, start, floor, peak, together)
        if of_peak(moved, ones)[0] <= of_peak(rates, ones)[0]:
            rates = moved
    if beyond:  # of all peaks between two: the largest rate counts as of one, the floor as of the other
        peaks = np.geomspace(max(fastest, floor), allowed, _TRIED)
        longer = shortened(peak, fastest, law.reference_peak)[0] - shortened(peaks, fastest, law.reference_peak)[0]
        counts = peaks * np.exp(longer)
        floors = counts * floor / peaks
        bound = min(
            filled(low, high).bound for low, high in zip(floors[1:].tolist(), counts[:-1].tolist(), strict=True)
        )
    if fresh and rates.max() < peak <= fastest:
        rates = np.maximum(rates * _longer_steps(float(rates.max()), peak, fastest), floor)
    return rates, peak, bound + constant_loss(unit_law, scaled, past.model_size)


def least_loss(law: Law, theta: Array, past: Past, steps: int, floor: float, peak: float, family: str) -> float:
    """Return the loss of :func:`optimum`, of a functional law without certificate and without the last digits: of runs
    of that peak, even where a lower one is better."""
    if not isinstance(law, FunctionalLaw) or family not in SHAPES or floor == peak:
        return optimum(law, theta, past, steps, floor, peak, family).loss
    falling = family == "non-increasing"
    unit_law, scaled = past.at_peak(law, theta, peak)
    filled = water_filling(unit_law, scaled, past.rates, steps, floor, peak, falling, certify=False)
    return filled.loss + constant_loss(unit_law, scaled, past.model_size)


def best_peak(best: Callable[[float], float], least: float, most: float) -> float:
    """Return the peak in [least, most] with the least loss: some are tried, and a golden section refines the best.

    >>> round(best_peak(lambda peak: (peak - 0.3) ** 2, 0.1, 1.0), 2)
    0.3
    """
    from scipy.optimize import minimize_scalar

    tried = np.geomspace(least, most, _TRIED)
    losses = [best(float(peak)) for peak in tried]
    place = int(np.argmin(losses))
    around = (float(np.log(tried[max(place - 1, 0)])), float(np.log(tried[min(place + 1, _TRIED - 1)])))
    minimum: Any = minimize_scalar(lambda x: best(float(np.exp(x))), bounds=around, method="bounded",
                                 options={"xatol": 1e-3, "maxiter": 10})  # fmt: skip
    return float(np.exp(minimum.x)) if minimum.fun < losses[place] else float(tried[place])


def _longer_steps(highest: float, peak: float, fastest: float) -> float:
    """What brings rates up to ``highest``, the best of a run whose largest is ``peak``, to those of a run of its own
    peak, whose steps are longer: z/(1 + z)^2 = (highest/fastest)/(1 + peak/fastest)^2 for z, its peak over ``fastest``.
    """
    same = highest / fastest / (1.0 + peak / fastest) ** 2
    own = 2.0 * same / (1.0 - 2.0 * same + np.sqrt(max(1.0 - 4.0 * same, 0.0)))
    return float(own * fastest / highest)


def _from_starts(
    objective: Objective, steps: int, floor: float, peak: float, falling: bool, least: float
) -> tuple[Array, int, int]:
    """The best rates from several starts on blocks of steps, how many starts there were, and how many ended there.

    Raises ValueError where a search reaches losses below ``least``.
    """
    from scipy.optimize import minimize

    first, lengths = step_blocks(steps, _BLOCKS)
    lowest = max(floor / peak, _LOWEST)
    span = 1.0 - lowest

    def at(point: Array) -> tuple[float, Array]:
        """Of the logarithms of what lies above the lowest; where rates must fall, of the falls of these."""
        above = span * np.exp(-np.cumsum(point) if falling else -point)
        value, gradient = objective(peak * (lowest + above), lengths)
        by_log = -gradient * peak * above
        return value, np.cumsum(by_log[::-1])[::-1] if falling else by_log

    members = [("linear", (0.2, 0.0)), ("linear", (1.0, 0.0)), ("cosine", (0.1,)), ("1-sqrt", (0.5, 0.0)),
               ("linear", (1.0, 1.0))]  # fmt: skip
    ends = []
    for name, choices in members:
        shares = np.add.reduceat(family_rates(name, choices, steps, floor, peak), first) / lengths / peak
        logs = -np.log(np.clip((shares - lowest) / span, 1e-6, 1.0))
        start = np.maximum(np.diff(logs, prepend=0.0), 0.0) if falling else logs
        minimum = minimize(at, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 30.0)] * start.size,
                         options={"maxiter": 500, "maxfun": 1000, "ftol": 1e-14, "maxcor": 20})  # fmt: skip
        if minimum.fun < least:
            raise ValueError(
                f"under this law rates of this kind reach losses below {least:.4g}, half of its L0: it credits drops"
                " more than it charges the rises between them, without end; ask for non-increasing rates or a family"
            )
        ends.append(minimum)
    best = min(ends, key=lambda end: end.fun)
    agreed = sum(end.fun <= best.fun + _SAME for end in ends)
    shares = lowest + span * np.exp(-np.cumsum(best.x) if falling else -best.x)
    stairs = np.repeat(shares, lengths.astype(int)) * peak
    smooth = np.interp(np.arange(steps), first + 0.5 * (lengths - 1.0), shares) * peak
    candidates = [
        np.clip(candidate, floor, peak)
        for candidate in (stairs, smooth, np.where(stairs > 2.0 * lowest * peak, stairs, floor))
    ]
    candidates += [best_member(name, objective, steps, floor, peak)[0] for name in ("wsd", "multi-step")]
    return min(candidates, key=lambda rates: objective(rates, np.ones(steps))[0]), len(ends), agreed
