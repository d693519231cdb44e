"""Which schedule of the catalogue has rates that are given one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fsl_num.schedules.base import Schedule
from fsl_num.schedules.catalogue import schedule, step_rates
from fsl_num.schedules.frameworks.arguments import EXACT, Landmarks, tidy
from fsl_num.validation import Array

_LEAST_POWER, _LARGEST_POWER = 1e-3, 100.0


def recognised(rates: Array) -> Schedule | None:
    """Return the schedule of the catalogue whose rates, to 1e-12 of the peak, these are; None where there is none.

    ``rates``: of every update, one of them positive. Floors, steps and waves are not looked for.

    >>> found = recognised(step_rates("wsd", peak=0.1, steps=500, warmup=20, final=0.003))
    >>> [type(phase).__name__ for phase in found.phases]
    ['Backwards', 'Constant', 'ExponentialDecay']
    """
    peak, steps = tidy(float(rates.max())), rates.size
    for name, parameters in _candidates(rates / peak, peak):
        try:
            candidate = schedule(name, peak=peak, steps=steps, **parameters)
        except ValueError:  # a parameter out of its range
            continue
        if float(np.abs(step_rates(candidate) - rates).max()) <= EXACT * peak:
            return candidate
    return None


def _candidates(shares: Array, peak: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names with the parameters that the first, the last and the highest rates leave."""
    marks, steps, last = Landmarks.of(shares), shares.size, float(shares[-1])
    warmup = {"warmup": marks.first}
    remaining = steps - marks.first
    yield "constant", warmup
    for decay in sorted({remaining, steps - marks.last, steps - marks.last - 1}, reverse=True):
        if 1 < decay <= remaining:
            done = (decay - 1) / decay  # of the decay, at the last update
            falling = {**warmup, "decay_fraction": decay / remaining}
            for name, left in (
                ("linear", 1.0 - done),
                ("cosine", 0.5 * (1.0 + np.cos(np.pi * done))),
                ("1-sqrt", 1.0 - np.sqrt(done)),
            ):
                yield name, {**falling, "final": peak * max(tidy(float((last - left) / (1.0 - left))), 0.0)}
            if last > 0.0:
                yield "wsd", {**falling, "final": peak * tidy(last ** (1.0 / done))}
            half = decay // 2
            for power, least in _powers(1.0 - half / decay, float(shares[steps - decay + half]), 1.0 - done, last):
                yield "power-decay", {**falling, "power": tidy(power), "final": peak * tidy(least)}
    for timescale in marks.values("timescale"):
        yield "inverse-sqrt", {**warmup, "timescale": timescale}


def _powers(left: float, share: float, least_left: float, last: float) -> list[tuple[float, float]]:
    """The power and the final share of a decay final + (1 - final) left^power through two of its points, if any.

    What has fallen at the two points is in a ratio that falls with the power: from that of their logarithms to 1.
    """
    from scipy.optimize import brentq

    if not (least_left < left < 1.0 and share < 1.0):
        return []
    ratio = (1.0 - last) / (1.0 - share)

    def above(power: float) -> float:
        return float(np.expm1(power * np.log(least_left)) / np.expm1(power * np.log(left)) - ratio)

    if above(_LEAST_POWER) <= 0.0 or above(_LARGEST_POWER) >= 0.0:
        return []
    power = float(brentq(above, _LEAST_POWER, _LARGEST_POWER, xtol=1e-15, rtol=1e-15))
    final = 1.0 - (1.0 - share) / -float(np.expm1(power * np.log(left)))
    return [(power, final if final > EXACT else 0.0)]
