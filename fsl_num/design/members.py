"""Families of schedules under the functional law of a model: the best member at its best peak, and what is as good."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.design.families import Family
from fsl_num.design.model_water import ModelWater
from fsl_num.validation import Array

_BLOCKS: Final = 2000
_ENDS: Final = 1e-6  # of the samples, the last block of a member
_PEAKS: Final = 13
_LOWEST_PEAK: Final = 1e-6  # of the largest; less where the samples are more
_EVALUATIONS: Final = 400
_SETTLED: Final = 1e-4  # of the logarithm of the peak, of every parameter


@dataclass(frozen=True, eq=False)
class Member:
    """A member of a family: its ``peak`` gamma, its ``parameters`` by name (``final`` as a gamma), the ``gammas`` of
    blocks of ``samples`` in time order, and its ``excess_risk``; ``point``: from which a search nearby starts.

    >>> Member(0.5, {}, np.array([0.5]), np.array([10.0]), 0.1, (0.0,)).peak
    0.5
    """

    peak: float
    parameters: Mapping[str, float]
    gammas: Array
    samples: Array
    excess_risk: float
    point: tuple[float, ...]


class Members:
    """The members of a ``family`` at all peaks, under the law of ``water``, on so many ``blocks``.

    A point is the logarithm of the peak over the largest allowed, then the parameters of the family, whose shape
    takes the samples as its number of steps.

    >>> from fsl_num.design.families import FAMILIES
    >>> from fsl_num.design.model_water import model_water
    >>> from fsl_num.model import Model
    >>> linear = Members(model_water(Model(s=1.0, beta=2.0, size=float("inf"), noise=1.0), 1e4, None), FAMILIES["linear"])
    >>> best = linear.best()
    >>> best.excess_risk <= linear.risk((0.0, 1.0, 0.0)), sorted(best.parameters)
    (True, ['decay_fraction', 'final'])
    """  # noqa: E501

    def __init__(self, water: ModelWater, family: Family, *, blocks: int = _BLOCKS) -> None:
        self.water, self.family = water, family
        lowest = min(_LOWEST_PEAK, 1.0 / (water.steps * water.high))
        self.low, self.high = np.array([(math.log(lowest), 0.0), *family.ranges.values()]).T
        left = np.append(np.geomspace(1.0, _ENDS, blocks // 2), 0.0)
        ends = np.unique(np.concatenate([1.0 - left, np.linspace(0.0, 1.0, blocks // 2)]))
        self._middle, self._samples = 0.5 * (ends[1:] + ends[:-1]), water.steps * np.diff(ends)

    def gammas(self, point: Any) -> Array:
        """Return gamma on every block; what lies outside the ranges is taken at their ends."""
        inside = np.clip(point, self.low, self.high)
        shape = self.family.shape(self._middle, tuple(inside[1:].tolist()), self.water.steps)
        return np.asarray(self.water.high * math.exp(inside[0]) * np.maximum(shape, 1e-12))

    def risk(self, point: Any) -> float:
        """Return the excess risk of a member."""
        return self.water.risk(self.gammas(point), self._samples)

    def best(self, start: Any = None, fixed: Mapping[int, float] | None = None) -> Member:
        """Return the best member; ``fixed``: coordinates that are held.

        All of the family's table are tried at all peaks, and from the best a simplex descends; from ``start`` where it
        is given, without the table.
        """
        from scipy.optimize import Bounds, minimize

        held = {} if fixed is None else dict(fixed)
        if start is None:
            peaks = np.linspace(self.low[0], 0.0, _PEAKS)
            start = min(((peak, *given) for given in self.family.tried for peak in peaks), key=self.risk)
        point = np.array(start, dtype=np.float64)
        point[list(held)] = list(held.values())
        free = [k for k in range(point.size) if k not in held]

        def at(values: Any) -> Array:
            moved = point.copy()
            moved[free] = values
            return moved

        def log_risk(values: Any) -> float:
            return math.log(self.risk(at(values)))

        if free:
            minimum: Any = minimize(
                log_risk, point[free], method="Nelder-Mead", bounds=Bounds(self.low[free], self.high[free]),
                options={"xatol": _SETTLED, "fatol": 1e-9, "maxfev": _EVALUATIONS},
            )  # fmt: skip
            point = at(minimum.x)
        return self.at(point)

    def at(self, point: Any) -> Member:
        """Return the member at a point."""
        gammas = self.gammas(point)
        inside = np.clip(point, self.low, self.high).tolist()
        peak = self.water.high * math.exp(inside[0])
        named = dict(zip(self.family.ranges, inside[1:], strict=True))
        if "final" in named:
            named["final"] *= peak
        return Member(peak, named, gammas, self._samples, self.water.risk(gammas, self._samples), tuple(inside))
