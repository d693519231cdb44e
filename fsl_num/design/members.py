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
_LEAST: Final = 1e-6  # of the peak over the samples: a rate of 0 has no samples
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
        self.blocks = blocks

    def gammas(self, point: Any) -> tuple[Array, Array]:
        """Return gamma on every block, and its samples; what lies outside the ranges is taken at their ends."""
        peak, *choices = np.clip(point, self.low, self.high).tolist()
        ends = self.family.ends(tuple(choices), self.blocks)
        shape = self.family.shape(0.5 * (ends[1:] + ends[:-1]), tuple(choices), self.water.steps)
        gammas = self.water.high * math.exp(peak) * np.maximum(shape, _LEAST / self.water.steps)
        return gammas, self.water.steps * np.diff(ends)

    def risk(self, point: Any) -> float:
        """Return the excess risk of a member."""
        return self.water.risk(*self.gammas(point))

    def best(self, start: Any = None, fixed: Mapping[int, float] | None = None, *, settled: float = _SETTLED) -> Member:
        """Return the best member; ``fixed``: coordinates that are held; ``settled``: to which the others are sought.

        All of the family's table are tried at all peaks, and from the best a simplex descends; from ``start`` where it
        is given.
        """
        from scipy.optimize import Bounds, minimize

        held = {} if fixed is None else dict(fixed)
        if start is None:
            peaks = np.linspace(self.low[0], 0.0, _PEAKS)
            start = min(((peak, *choices) for choices in self.family.tried for peak in peaks), key=self.risk)
        point = np.clip(np.array(start, dtype=np.float64), self.low, self.high)
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
                options={"xatol": settled, "fatol": 0.1 * settled**2, "maxfev": _EVALUATIONS},
            )  # fmt: skip
            point = at(minimum.x)
        return self.at(point)

    def at(self, point: Any) -> Member:
        """Return the member at a point."""
        gammas, samples = self.gammas(point)
        inside = np.clip(point, self.low, self.high).tolist()
        peak = self.water.high * math.exp(inside[0])
        named = dict(zip(self.family.ranges, inside[1:], strict=True))
        if "final" in named:
            named["final"] *= peak
        return Member(peak, named, gammas, samples, self.water.risk(gammas, samples), tuple(inside))
