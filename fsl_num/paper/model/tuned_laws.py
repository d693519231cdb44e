"""The laws tuned at growing budgets for two capacities of one task, alpha = s beta fixed.

The laws are those of :mod:`fsl_num.paper.allocation.numeric_laws`, as printed. Their least values are searched here
on grids that close in, over the peak rate and the model size; the decay fraction of WSD is 1/2, which is optimal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.claims.words import Where
from fsl_num.paper.allocation.numeric_laws import LOG_BUDGETS, SETTLED, BudgetedLaw
from fsl_num.validation import Array

GRID, SIZES, CLOSE = 13, 17, 1e-2
"""Points of a grid of peak rates and of one of model sizes, and the width at which a search ends: the law is within
some 1e-5 of its least value there."""
PLATEAU, NARROW, FINE = 18.0, 2000.0, 401
"""Peak rates that lose at most a factor exp(18) may differ by powers of the log budget (whose logarithm is below 17)
alone. The ends of their range are searched as well, with so many points once they are known to that many units."""


def alpha_of(sample: Sample) -> Any:
    """alpha, of the sample's capacity and of a higher one, exactly."""
    return sample.s * sample.beta


ONE_TASK = (Where("alpha is s beta", lambda sample: {"alpha": alpha_of(sample)}), "sigma^2 of order 1")


def _over_sizes(function: Callable[[Array, Array], Array], peaks: Array, low: float, high: float) -> Array:
    """The least value over model sizes for each peak rate, of a function that falls and then rises with the size."""
    first, last, shares = np.full(peaks.shape, low), np.full(peaks.shape, high), np.linspace(0.0, 1.0, SIZES)
    while True:
        sizes = first[:, None] + (last - first)[:, None] * shares
        values = function(peaks[:, None], sizes)
        place = np.argmin(values, axis=-1)
        rows = np.arange(peaks.size)
        if float((last - first).max()) < SIZES * CLOSE:
            return np.asarray(values[rows, place])
        first = sizes[rows, np.maximum(place - 1, 0)]
        last = sizes[rows, np.minimum(place + 1, SIZES - 1)]


@lru_cache(maxsize=512)
def least_risk(
    schedule: str,
    budget: str,
    s: float,
    beta: float,
    peaks: tuple[float, ...] | None = None,
    budgets: tuple[float, ...] = LOG_BUDGETS,
) -> Ray:
    """The least risk over growing budgets; ``peaks``: at these logs of the peak rate, one a budget, not at the best."""
    values = []
    for place, log in enumerate(budgets):
        law = BudgetedLaw(schedule, budget, s, beta, log)

        def risk(peaks: Array, sizes: Array, law: BudgetedLaw = law) -> Array:
            points = np.full((*sizes.shape, len(law.variables)), -np.log(2.0))
            points[..., 0], points[..., 1] = peaks, sizes
            return law.log_risk(points)

        def tuned(peaks: Array, law: BudgetedLaw = law, log: float = log, risk: Any = risk) -> Array:
            low, high = law.bounds[1]
            return _over_sizes(risk, peaks, low * log, high * log)

        if peaks is not None:
            values.append(float(tuned(np.array([peaks[place]]))[0]))
            continue
        ends = (None,) if schedule == "constant" else (None, 0, -1)  # a constant rate has one best value
        values.append(min(_over_peaks(tuned, -log, end) for end in ends))
    scale = np.array(budgets)
    settled = len(budgets) - len(LOG_BUDGETS[SETTLED:])
    logs = {"N": scale, "sigma^2": np.full(scale.size, np.log(law.noise))}
    return Ray(f"{schedule}, {budget}", scale, logs, np.array(values), settled)


def budgets_of(sample: Sample) -> tuple[float, ...]:
    """The budgets of a profile: under the quick one those alone at which all is judged."""
    return LOG_BUDGETS if sample.effort else LOG_BUDGETS[SETTLED:]


def _over_peaks(tuned: Callable[[Array], Array], least: float, end: int | None) -> float:
    """The least value by grids, each around the best point of the last, or at an ``end`` of the plateau while wide."""
    low, high = least, 0.0
    while True:
        narrow = end is not None and high - low < NARROW
        peaks = np.linspace(low, high, FINE if narrow else GRID)
        values = tuned(peaks)
        place = int(np.argmin(values))
        cell = float(peaks[1] - peaks[0])
        end = None if narrow else end
        if not np.isfinite(values[place]) or cell < CLOSE:
            return float(values[place])
        if end is not None:
            place = int(np.flatnonzero(values <= values[place] + PLATEAU)[end])
        low, high = max(peaks[place] - 2 * cell, least), min(peaks[place] + 2 * cell, 0.0)


def richer(sample: Sample) -> dict[str, tuple[Any, Any]]:
    """Higher capacities for the same task, as exact (s, beta): half way to beta = 1, or to the edge, or across it."""
    alpha, beta = alpha_of(sample), sample.beta
    capacities = {"within": (1 + beta) / 2}
    if sample.regime == "hard":
        capacities = {"within": (1 + alpha + beta) / 2, "across": (2 + alpha) / 2}
    return {name: (alpha / capacity, capacity) for name, capacity in capacities.items()}
