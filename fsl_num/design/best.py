"""The best rates of all steps under one law: certified for the functional laws, from several starts for others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, overload

import numpy as np

from fsl_num.curves.batches import at_batch, said_batches
from fsl_num.curves.laws import FunctionalLaw, Law, MomentumLaw
from fsl_num.curves.laws.shared import shortened
from fsl_num.curves.peaks import at_peak
from fsl_num.curves.plan import Plan
from fsl_num.curves.sizes import constant_loss
from fsl_num.design.families import FAMILIES, best_member, family_rates, step_blocks
from fsl_num.design.final_loss import MOST, evaluated, final_loss, has_gradient
from fsl_num.design.newton import linear_gap, newton
from fsl_num.design.objectives import Objective
from fsl_num.design.water_filling import water_filling
from fsl_num.validation import Array

SHAPES: Final = ("free", "non-increasing")
"""What rates may be besides members of a family."""

_BLOCKS: Final = 48  # of a law without a certificate
_LOWEST: Final = 1e-6  # of the peak, where a search moves in logarithms
_SAME: Final = 1e-8
_TRIED: Final = 6  # peaks
_ABOVE: Final = 1.001  # of the floor: the least peak of a schedule that is not constant
_NEAR: Final = 1.05  # of peaks whose ratio is less the ends alone are tried
_HALVINGS: Final = 4  # of ranges of peaks
_CLOSE: Final = 1e-5  # nats: a bound this near is enough


@dataclass(frozen=True, eq=False)
class Past:
    """The steps that are fixed: their ``rates``, how many of them are ``warmup``, and the ``model_size``.

    ``lengths``: where neighbouring steps were merged, how many each rate stands for; None for one each. ``batch_size``:
    of the steps that follow; ``batch_sizes``: of these, where they are others. For laws that know them; 1, and of these
    1 alone, says none: the law's reference.
    """

    rates: Array
    warmup: int
    model_size: float | None = None
    lengths: Array | None = None
    batch_size: float = 1.0
    batch_sizes: Array | None = None

    @property
    def peak(self) -> float:
        """The largest rate, 0 without any."""
        return float(self.rates.max(initial=0.0))

    def objective(self, law: Law, theta: Array) -> Objective:
        """The final loss of a law by the rates that follow; its gradient is that of a peak that stays, nan of a law
        without one."""
        if not has_gradient(law):
            sizes = self.batch_size if self.batch_sizes is None else self.batch_sizes
            return evaluated(law, theta, self.rates, self.warmup, self.model_size, self.lengths, sizes, self.batch_size)
        if isinstance(law, FunctionalLaw) and law.peaks:
            peaked = law

            def of_peak(rates: Array, steps: Array) -> tuple[float, Array]:
                return self.objective(*self.at_peak(peaked, theta, float(rates.max())))(rates, steps)

            return of_peak
        single, values, rates, noise = self.counted(law, theta)
        return final_loss(single, values, rates, self.warmup, self.model_size, self.lengths, noise)

    def at_peak(self, law: FunctionalLaw, theta: Array, peak: float) -> tuple[FunctionalLaw, Array]:
        """The law, and its parameters, of a run that goes on with rates up to ``peak``."""
        return at_peak(law, theta, max(peak, self.peak))

    @overload
    def counted(self, law: FunctionalLaw, theta: Array) -> tuple[FunctionalLaw, Array, Array, Array | float]: ...
    @overload
    def counted(self, law: Law, theta: Array) -> tuple[Law, Array, Array, Array | float]: ...
    def counted(self, law: Law, theta: Array) -> tuple[Law, Array, Array, Array | float]:
        """The law, and its parameters, of the batch size that follows; the rates as they count in its intrinsic time,
        and by what their noise is then multiplied."""
        single, values = at_batch(law, theta, self.batch_size)
        if self.batch_sizes is None or single is law or not isinstance(law, FunctionalLaw):
            return single, values, self.rates, 1.0
        larger = np.log(said_batches(law, self.batch_sizes) / said_batches(law, self.batch_size))
        named = dict(zip(law.names, theta.tolist(), strict=True))
        r, p = named.get("r", 0.0), named.get("p", 1.0)
        noise = np.exp(-(named["q"] * (1.0 - r) + r * p) * larger)
        return single, values, self.rates * np.exp(r * larger), noise


def past_of(plan: Plan, done: int) -> Past:
    """Return the first ``done`` steps of a plan, those that follow having its last batch size.

    >>> past_of(Plan([0.1] * 3, batch_sizes=[8, 8, 16]), 2).batch_sizes.tolist()
    [8.0, 8.0]
    """
    batch, sizes = float(plan.batch_sizes[-1]), np.broadcast_to(plan.batch_sizes, plan.rates.shape)[:done]
    others = None if (sizes == batch).all() else sizes
    return Past(plan.rates[:done], min(plan.warmup, done), plan.model_size, batch_size=batch, batch_sizes=others)


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
    minima are many; the least from several starts is returned, on blocks of steps. A law without a gradient has the
    families alone; ValueError else.
    """
    objective, ones = past.objective(law, theta), np.ones(steps)
    if floor == peak:  # there is one schedule
        rates = np.full(steps, peak)
        return Optimum(rates, objective(rates, ones)[0], 0.0, 0.0)
    if family in SHAPES and not has_gradient(law):
        raise ValueError(
            f"the law {law.name!r} has no gradient by the learning rates, and designs members of families alone: choose"
            f" one ({', '.join(FAMILIES)}), or fit a functional law (auto) for {family} rates"
        )
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

    A higher peak makes every rate of the run count for less, that of the floor and those of the past, too: where no
    peak is as good as any other, all are searched, and bounded part by part.
    """
    falling, ones = family == "non-increasing", np.ones(steps)
    least, most = _open_peaks(law, theta, past, floor, allowed)
    peak = most
    if least < most:
        lowest = min(max(least, floor * _ABOVE), most)

        def of_peak(tried: float) -> float:
            return least_loss(law, theta, past, steps, floor, tried, family)

        peak = best_peak(of_peak, lowest, most) if most > _NEAR * lowest else min((most, lowest), key=of_peak)
    rates, bound = _of_peak(law, theta, past, steps, floor, peak, falling, least == most)
    of_law, constant = past.objective(law, theta), constant_loss(law, theta, past.model_size)
    runs = _runs(rates, peak, floor, _fastest(law, theta), past.peak == 0.0)
    rates = min(runs, key=lambda run: of_law(run, ones)[0])
    if least < most:
        reached = of_law(rates, ones)[0] - constant
        bound = _bound_of_peaks(
            lambda low, high: _bound_between(law, theta, past, steps, floor, low, high, falling, reached),
            least,
            most,
            reached,
        )
    return rates, peak, bound + constant


def _of_peak(
    law: FunctionalLaw, theta: Array, past: Past, steps: int, floor: float, peak: float, falling: bool, certify: bool
) -> tuple[Array, float]:
    """The best rates of runs in which all count as those of a run of that peak do, and a bound on the loss of all
    others, what no rate changes left out."""
    unit = past.at_peak(law, theta, peak)
    objective, (unit_law, scaled, before, noise) = past.objective(*unit), past.counted(*unit)
    best = water_filling(unit_law, scaled, before, steps, floor, peak, falling, certify=certify, noise=noise)
    rates, ones = best.rates, np.ones(steps)
    # of more steps the rates of the cells, joined by straight lines, are the best to 1e-11 nats
    for together in (True, falling) if steps <= MOST else ():  # rates that do not rise are a start for those that may
        start = np.minimum.accumulate(rates) if together else rates
        moved = newton(unit_law, scaled, before, objective, start, floor, peak, together, noise)
        if objective(moved, ones)[0] <= objective(rates, ones)[0]:
            rates = moved
    return rates, best.bound


def _runs(rates: Array, peak: float, floor: float, fastest: float, fresh: bool) -> list[Array]:
    """The runs that rates may become that count as those of a run of that peak do.

    Where none of them is at the peak, they are no such run: one step at it makes them one, or, in a fresh run, all are
    as much smaller as they then count for more, though none is below the floor.
    """
    highest = float(rates.max())
    if highest == peak or fastest == np.inf:
        return [rates]
    runs = [rates, np.append(peak, rates[1:])]
    if fresh and highest > 0.0:
        runs.append(np.maximum(rates * _longer_steps(highest, peak, fastest), floor))
    return runs


def _bound_of_peaks(bound: Callable[[float, float], float], least: float, most: float, loss: float) -> float:
    """The bound of all peaks from that between two: ranges are halved, the lowest bound first, until it is close."""
    ranges = [(bound(least, most), least, most)]
    for _ in range(_HALVINGS):
        lowest, low, high = min(ranges)
        if lowest > loss - _CLOSE:
            break
        middle = float(np.sqrt(low * high))
        ranges.remove((lowest, low, high))
        ranges += [(bound(low, middle), low, middle), (bound(middle, high), middle, high)]
    return min(ranges)[0]


def _fastest(law: FunctionalLaw, theta: Array) -> float:
    """P_c, infinite where steps do not shorten with the peak."""
    return float(theta[law.names.index("P_c")]) if law.peaks else np.inf


def _open_peaks(law: FunctionalLaw, theta: Array, past: Past, floor: float, allowed: float) -> tuple[float, float]:
    """The least and the largest peak of runs among which the best may be; the same where one is as good as any.

    Of a fresh run the rates up to a peak below P_c count as rates up to a higher one do, up to P_c, and beyond it less.
    """
    fastest, done = _fastest(law, theta), past.peak
    if done > 0.0:
        return max(done, floor) if law.peaks and done < allowed else allowed, allowed
    least = max(fastest, floor)
    return min(least, allowed), allowed if 0.0 < floor else min(least, allowed)


def _bound_between(
    law: FunctionalLaw, theta: Array, past: Past, steps: int, floor: float, least: float, most: float, falling: bool,
    reached: float,
) -> float:  # fmt: skip
    """A bound on the loss of all schedules of runs whose peak lies in [least, most], what no rate changes left out; no
    nearer than it has to be where ``reached`` is the loss of one.

    Rates count as up to the largest that any of these peaks makes of itself, from the least that any makes of the floor
    on; the past has taken the time that it has at the least peak, and makes the noise that it has at the largest.
    """
    fastest = _fastest(law, theta)
    unit_law, scaled, before, noise = past.counted(*past.at_peak(law, theta, least))
    peaks = np.array([least, most, np.clip(fastest, least, most)])
    logs = shortened(peaks, fastest, law.reference_peak)[0]
    counts = np.exp(logs[0] - logs)  # of a rate, in units of those at the least peak
    power = 1.0 + dict(zip(unit_law.names, scaled.tolist(), strict=True)).get("p", 1.0)
    low, high = floor * float(counts[1]), float((counts * peaks).max())
    noise = noise * float(counts[1]) ** power
    return water_filling(unit_law, scaled, before, steps, low, high, falling, reached=reached, noise=noise).bound


def least_loss(law: Law, theta: Array, past: Past, steps: int, floor: float, peak: float, family: str) -> float:
    """Return the loss of :func:`optimum`, of a functional law without certificate and without the last digits: of runs
    of that peak, even where a lower one is better."""
    if not isinstance(law, FunctionalLaw) or family not in SHAPES or floor == peak:
        return optimum(law, theta, past, steps, floor, peak, family).loss
    falling = family == "non-increasing"
    unit_law, scaled, before, noise = past.counted(*past.at_peak(law, theta, peak))
    filled = water_filling(unit_law, scaled, before, steps, floor, peak, falling, certify=False, noise=noise)
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
