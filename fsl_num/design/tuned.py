"""The schedules of the theorems tuned under the functional law of a model and a budget, and which choices are as good.

Peak and decay fraction are chosen for every model size, and the size with them. The last rate is the peak over the
samples, as in the theorems on a budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import numpy as np

from fsl_num.design.families import Family
from fsl_num.design.members import Member, Members
from fsl_num.design.model_water import model_water
from fsl_num.model import Model
from fsl_num.validation import Array

LARGEST: Final = 1e30
"""Budgets end there: a decay fraction that falls like a power of them still differs from 0."""
CHOICES: Final = ("peak_lr", "decay_fraction")
"""Of a member, in the order of its point."""
_SHORTEST: Final = math.log(1e-9)  # decay
_BLOCKS: Final = 600
_START: Final = 1e-9
_ALL: Final = 3  # so many sizes are tried one by one
_SIZES: Final = 5  # between the ends of those as good, over which peaks and decays are taken
_CLOSE: Final = 3e-3  # of the logarithm of an end, of a size


@lru_cache(maxsize=64)
def _blocks(log_fraction: float, blocks: int) -> Array:
    """Ends even over the decay, ever longer away from it, and ever shorter towards the start."""
    fraction = math.exp(log_fraction)
    stable = 1.0 - np.geomspace(fraction, 1.0, blocks // 4)
    start = (1.0 - fraction) * np.geomspace(_START, 1.0, blocks // 4)
    return np.unique(np.concatenate([[0.0], start, stable, 1.0 - fraction * np.linspace(1.0, 0.0, blocks // 2)]))


def _decayed(gone: Array, log_fraction: float, steps: float) -> Array:
    fraction = math.exp(log_fraction)
    return np.asarray(steps ** -np.maximum((gone - 1.0 + fraction) / fraction, 0.0))


SCHEDULES: Final[Mapping[str, Family]] = MappingProxyType(
    {
        "constant": Family({}, ((),), lambda gone, choices, steps: np.ones_like(gone)),
        "exp-decay": Family(
            {},
            ((),),
            lambda gone, choices, steps: _decayed(gone, 0.0, steps),
            lambda choices, blocks: _blocks(0.0, blocks),
        ),
        "wsd": Family(
            {"log_decay_fraction": (_SHORTEST, 0.0)},
            tuple((float(start),) for start in np.linspace(_SHORTEST, 0.0, 13)),
            lambda gone, choices, steps: _decayed(gone, choices[0], steps),
            lambda choices, blocks: _blocks(choices[0], blocks),
        ),
    }
)
"""Name -> family: the schedules of the theorems, that decay exponentially down to the peak over the steps."""


class Tuned:
    """A ``schedule`` tuned for a ``task`` under a ``budget`` ("data" or "compute") of ``amount``.

    ``guess``: about how many features are best, or, under a data budget, suffice. Under a data budget the model is
    infinite.

    >>> tuned = Tuned(Model(s=1.0, beta=2.0, size=float("inf"), noise=1.0), "wsd", "compute", 1e6, 20.0)
    >>> low, high = tuned.as_good(1.1)["model_size"]
    >>> low < tuned.size < high, round(tuned.data * tuned.size)
    (True, 1000000)
    """

    def __init__(self, task: Model, schedule: str, budget: str, amount: float, guess: float) -> None:
        self.task, self.family, self.budget, self.amount = task, SCHEDULES[schedule], budget, amount
        self.members = lru_cache(maxsize=256)(self._members)
        self.at = lru_cache(maxsize=256)(self._at)
        self._guess = guess
        self._near: tuple[float, ...] | None = None
        self.size = math.inf if budget == "data" else self._best_size()
        self.data = self._data(self.size)
        self.best = self.at(self.size)

    @property
    def values(self) -> dict[str, float]:
        """The best choices and their excess_risk, by name; under a data budget without the model_size."""
        named = {"excess_risk": self.best.excess_risk, "peak_lr": self.best.peak, "data_size": self.data}
        if self.budget == "compute":
            named["model_size"] = self.size
        if self.family.ranges:
            named["decay_fraction"] = math.exp(self.best.point[1])
        return named

    def as_good(self, factor: float, names: Collection[str] = CHOICES) -> dict[str, tuple[float, float]]:
        """Return where each choice, with the best of the others, leaves at most ``factor`` times the least risk.

        ``names``: of those that are asked for, the model size always; a schedule without decay has no decay_fraction.
        """
        ends = {"model_size": self._sizes_as_good(factor)}
        sizes = [self.size]
        if self.budget == "compute":
            sizes = sorted({self.size, *(float(round(size)) for size in np.geomspace(*ends["model_size"], _SIZES))})
        for place, name in enumerate(CHOICES[: 1 + len(self.family.ranges)]):
            if name in names:
                ends[name] = self._ends(math.log(factor * self.best.excess_risk), place, sizes)
        return ends

    def _ends(self, threshold: float, place: int, sizes: list[float]) -> tuple[float, float]:
        """The ends of one coordinate of a member, over some sizes."""
        shift = {size: math.log(self.members(size).water.high) if place == 0 else 0.0 for size in sizes}
        start = self.best.point[place] + shift[self.size]

        def above(x: float) -> float:
            return math.log(min(
                self.members(size).best(self.at(size).point, {place: x - shift[size]}, settled=_CLOSE).excess_risk
                for size in sizes if x - shift[size] <= self.members(size).high[place]
            )) - threshold  # fmt: skip

        low = min(self.members(size).low[place] + shift[size] for size in sizes)
        high = max(self.members(size).high[place] + shift[size] for size in sizes)
        first = _crossing(above, start, float(low))
        return 0.0 if first == low else math.exp(first), math.exp(_crossing(above, start, float(high)))

    def _sizes_as_good(self, factor: float) -> tuple[float, float]:
        """The least and the largest size that leave at most ``factor`` times the least risk."""
        threshold = math.log(factor * self.best.excess_risk)

        def above(log_size: float) -> float:
            return math.log(self.at(float(round(math.exp(log_size)))).excess_risk) - threshold

        if self.budget == "compute":
            here, most = math.log(self.size), math.log(max(math.floor(0.5 * self.amount), 1.0))
            low, high = _crossing(above, here, 0.0), _crossing(above, here, most)
            return float(math.ceil(math.exp(low) - 1e-9)), float(round(math.exp(high)))
        enough = math.log(max(round(self._guess), 1.0))
        while above(enough) > 0.0:
            enough += 1.0
        return float(round(math.exp(_crossing(above, enough, 0.0)))), math.inf

    @property
    def best_allowed(self) -> float:
        """The largest gamma allowed at the best size."""
        return self.members(self.size).water.high

    def _data(self, size: float) -> float:
        return self.amount if self.budget == "data" else self.amount / size

    def _members(self, size: float) -> Members:
        return Members(model_water(replace(self.task, size=size), self._data(size), None), self.family, blocks=_BLOCKS)

    def _at(self, size: float) -> Member:
        best = self.members(size).best(self._near)
        self._near = best.point
        return best

    def _best_size(self) -> float:
        """The whole number of features of the least risk, downhill from the guess."""
        most = max(math.floor(0.5 * self.amount), 1.0)

        def log_risk(log_size: float) -> float:
            return math.log(self.at(float(min(max(round(math.exp(log_size)), 1.0), most))).excess_risk)

        middle = min(max(math.log(self._guess), 0.0), math.log(most))
        while True:
            tried = [min(max(middle + step, 0.0), math.log(most)) for step in (-1.0, 0.0, 1.0)]
            place = int(np.argmin([log_risk(size) for size in tried]))
            if tried[place] == middle:
                break
            middle = tried[place]
        low, high = round(math.exp(tried[0])), round(math.exp(tried[2]))
        while high - low > max(_ALL, _CLOSE * low):  # by thirds: one minimum
            first, second = low + (high - low) // 3, high - (high - low) // 3
            if self.at(float(first)).excess_risk <= self.at(float(second)).excess_risk:
                high = second
            else:
                low = first
        sizes = range(low, high + 1) if high - low <= _ALL else (low, (low + high) // 2, high)
        return float(min(sizes, key=lambda size: self.at(float(size)).excess_risk))


def _crossing(above: Callable[[float], float], inside: float, bound: float) -> float:
    """Between a point where ``above`` is at most 0 and a bound, where it gets above 0; the bound where it does not."""
    if above(bound) <= 0.0:
        return bound
    outside = bound
    while abs(outside - inside) > _CLOSE:
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if above(middle) <= 0.0 else (inside, middle)
    return inside
