"""sec: effect-lrs: the peak rate that minimises the functional itself, constants included, under exponential decay.

The law up to constants leaves the peak rate free from the printed order up to order 1. The functional does not: its
least value lies at the printed order, but by a per cent or so only.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import numpy as np

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import growth
from fsl_num.claims.statements import Joint, Ray
from fsl_num.claims.words import Where
from fsl_num.paper.model.formulas import best_peak, falling_peak
from fsl_num.validation import Array
from fsl_sym.proof import same_order
from fsl_sym.symbols import C

MINIMISER: Final = same_order(best_peak(C), falling_peak)
BEST: Final = Where("gamma_opt(C) is where the risk without noise from the signal is least over M and gamma <= 1")

SIZES: Final = np.geomspace(30.0, 3000.0, 9)
"""About these are the best model sizes: the budget is their power 2 + s beta."""
SETTLED: Final = 4
_WIDTH = 1e-4  # of log gamma, to which the minimiser is searched
_GRID = 13
_ORDER_ONE = 0.9  # a rate of order 1, below the bound of stability


def _risks(s: float, beta: float, size: int, steps: float, peaks: Array) -> Array:
    """Twice the functional under label noise 1 alone, with b = a/K, at many peak rates."""
    from scipy.special import zeta

    j = np.arange(1.0, size + 1.0)
    rates = j**-beta
    peak = peaks[:, None]
    last, slope = peak / steps, np.log(steps) / steps
    x = 2.0 * rates * (peak - last) / slope
    left = np.exp(-x)
    # the second integral is x^2/2 at first, where the difference would cancel
    forgotten = np.where(x < 1e-3, 0.5 * x**2, 1.0 - (1.0 + x) * left)
    noise = 0.5 * last * (1.0 - left) * rates + 0.25 * slope * forgotten
    return np.asarray(zeta(1.0 + s * beta, size + 1) + (j ** (-1.0 - s * beta) * left + noise).sum(axis=1))


def _best_rate(s: float, beta: float, size: int, steps: float) -> tuple[float, float]:
    """The least value over the peak rate, and the log of the rate."""
    low, high = -float(np.log(steps)), 0.0
    while True:
        grid = np.linspace(low, high, _GRID)
        values = _risks(s, beta, size, steps, np.exp(grid))
        place = int(np.argmin(values))
        if high - low < _WIDTH:
            return float(values[place]), float(grid[place])
        low, high = grid[max(place - 1, 0)], grid[min(place + 1, _GRID - 1)]


def _least(s: float, beta: float, budget: float) -> tuple[int, float, float]:
    """The best model size under a compute budget, the least value, and the log of the peak rate there."""
    best_of_size: dict[int, tuple[float, float]] = {}

    def value(size: int) -> float:
        if size not in best_of_size:
            best_of_size[size] = _best_rate(s, beta, size, budget / size)
        return best_of_size[size][0]

    low, high = 2, int(3 * budget ** (1 / (2 + s * beta)))
    while high - low > 8:  # it falls and then rises with the size
        first, second = low + (high - low) * 2 // 5, low + (high - low) * 3 // 5
        low, high = (low, second) if value(first) < value(second) else (first, high)
    best = min(range(low, high + 1), key=value)
    return best, *best_of_size[best]


@lru_cache(maxsize=32)
def minimisers(s: float, beta: float) -> tuple[Array, Array, Array, Array]:
    """Logs: budgets, minimising peak rates, what a rate of order 1 costs beyond the least, best model sizes."""
    logs, peaks, costs, sizes = [], [], [], []
    for budget in SIZES ** (2.0 + s * beta):
        size, least, peak = _least(s, beta, budget)
        logs.append(float(np.log(budget)))
        peaks.append(peak)
        sizes.append(float(np.log(size)))
        costs.append(float(np.log(_risks(s, beta, size, budget / size, np.array([_ORDER_ONE]))[0] / least)))
    return np.array(logs), np.array(peaks), np.array(costs), np.array(sizes)


def minimising_rates(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """The minimising peak rate over growing budgets, and the loss at a rate of order 1 over the least."""
    scale, peaks, costs, sizes = minimisers(float(sample.s), float(sample.beta))
    steps, zeros = scale - sizes, np.zeros(scale.size)
    logs = {"N": scale, "a": peaks, "K": steps, "b": peaks - steps, "sigma^2": zeros}
    return {
        "peak rate": (Ray("minimiser", scale, logs, peaks, SETTLED),),
        "order 1 over the least": (Ray("a rate of order 1", scale, logs, costs, SETTLED),),
    }


def minimising_statement(sample: Sample) -> Joint:
    """The printed order of the minimiser, (C/log C) to a power; and a loss that stays of one order up to order 1."""
    alpha = float(sample.s * sample.beta)
    power = (1.0 + alpha - float(sample.beta)) / (2.0 + alpha)
    return Joint({"peak rate": growth(-power, power), "order 1 over the least": growth(0.0, 0.0)})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec: effect-lrs/minimising-peak-rate", "sec: effect-lrs", 1005,
        "the minimiser of the functional has the printed order",
        MINIMISER, ("sigma = 1", "b = a/K", BEST),
        minimising_rates, minimising_statement, regimes=("easy",), role="own",
    ),
)  # fmt: skip
