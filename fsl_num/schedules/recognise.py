"""Which schedule of the catalogue has rates that are given one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fsl_num.schedules.base import Schedule
from fsl_num.schedules.catalogue import schedule, step_rates
from fsl_num.schedules.frameworks.arguments import EXACT, Landmarks, tidy
from fsl_num.validation import Array


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
            found = schedule(name, peak=peak, steps=steps, **parameters)
        except ValueError:  # a parameter out of its range
            continue
        if float(np.abs(step_rates(found) - rates).max()) <= EXACT * peak:
            return found
    return None


def _candidates(shares: Array, peak: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names with the parameters that the first, the last and the highest rates leave."""
    marks, steps, last = Landmarks.of(shares), shares.size, float(shares[-1])
    warmup = {"warmup": marks.first}
    rest = steps - marks.first
    yield "constant", warmup
    for decay in sorted({rest, steps - marks.last, steps - marks.last - 1}, reverse=True):
        if 1 < decay <= rest:
            done = (decay - 1) / decay  # of the decay, at the last update
            falling = {**warmup, "decay_fraction": decay / rest}
            for name, left in (
                ("linear", 1.0 - done),
                ("cosine", 0.5 * (1.0 + np.cos(np.pi * done))),
                ("1-sqrt", 1.0 - np.sqrt(done)),
            ):
                yield name, {**falling, "final": peak * max(tidy(float((last - left) / (1.0 - left))), 0.0)}
            if last > 0.0:
                yield "wsd", {**falling, "final": peak * tidy(last ** (1.0 / done))}
    for power in marks.values("power"):
        yield "power-decay", {**warmup, "power": power}
    for timescale in marks.values("timescale"):
        yield "inverse-sqrt", {**warmup, "timescale": timescale}
