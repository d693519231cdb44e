"""Statements about tables of numbers: that two ways to compute them agree, and that numbers lie in an interval.

>>> table = Table({"x": [1.0, 2.0]}, 1e-9, {"doubled": {"x": [2.0, 4.0]}})
>>> table.judge({"x": [1.0, 2.0]}).holds, table.mutants()["doubled"].judge({"x": [1.0, 2.0]}).holds
(True, False)"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import NothingCompared, WithoutExponents

Numbers = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Table:
    """Every entry measured is the one claimed, to ``tolerance`` times the largest entry of its array.

    An array whose claimed entries are all 0 is compared with 1. ``wrong`` are the tables of the mutants.
    """

    claimed: Numbers
    tolerance: float
    wrong: Mapping[str, Numbers] = field(default_factory=dict)

    def judge(self, measured: Numbers) -> Judgement:
        """The judgement of the worst array."""
        if not self.claimed or set(measured) != set(self.claimed):
            raise NothingCompared(f"{sorted(self.claimed)} are claimed, {sorted(measured)} measured")
        worst, note = -1.0, ""
        for name, value in self.claimed.items():
            claimed, compared = np.asarray(value, dtype=np.float64), np.asarray(measured[name], dtype=np.float64)
            if claimed.shape != compared.shape or not claimed.size:
                raise NothingCompared(f"{name}: the shape {claimed.shape} is claimed, {compared.shape} measured")
            if not (np.isfinite(claimed).all() and np.isfinite(compared).all()):
                raise ValueError(f"{name}: the numbers are not finite, nothing can be judged")
            size = float(np.abs(claimed).max())
            error = float(np.abs(claimed - compared).max()) / (size if size > 0 else 1.0)
            if error > worst:
                worst, note = error, f"{name}: relative error {error:.1e}, allowed {self.tolerance:.0e}"
        return Judgement(worst <= self.tolerance, worst / self.tolerance, None, None, note)

    def neighbours(self, kind: str, size: float) -> Sequence[Table]:
        """The numbers of one array times 1 + size and 1 - size; zeros moved by it."""
        if kind != "constant":
            return ()
        moved = []
        for name, value in self.claimed.items():
            numbers = np.asarray(value, dtype=np.float64)
            step = size * (numbers if numbers.any() else np.ones_like(numbers))
            moved += [{name: numbers + step}, {name: numbers - step}]
        return [replace(self, claimed={**self.claimed, **change}) for change in moved]

    def mutants(self) -> Mapping[str, Table]:
        """The wrong tables."""
        return {name: replace(self, claimed=table) for name, table in self.wrong.items()}


def table(
    formula: Callable[..., Numbers], tolerance: float, wrong: Mapping[str, Mapping[str, Any]]
) -> Callable[[Sample], Table]:
    """The statement ``formula(sample)``, its mutants being the formula with other keywords."""
    return partial(_table, formula, tolerance, wrong)


def _table(
    formula: Callable[..., Numbers], tolerance: float, wrong: Mapping[str, Mapping[str, Any]], sample: Sample
) -> Table:
    return Table(formula(sample), tolerance, {name: formula(sample, **keywords) for name, keywords in wrong.items()})


@dataclass(frozen=True)
class Interval(WithoutExponents):
    """All numbers measured lie in [low, high]; where ``attained``, both ends are reached up to ``tolerance``."""

    low: float
    high: float
    tolerance: float = 1e-9
    attained: bool = True
    step: float = 0.05

    def judge(self, measured: Sequence[float]) -> Judgement:
        """What is left of the inequalities, and how far the ends are."""
        values = np.asarray(measured, dtype=np.float64)
        if not values.size:
            raise NothingCompared("no number was measured")
        if not np.isfinite(values).all():
            raise ValueError("the numbers are not finite: nothing can be judged")
        least, most = float(values.min()), float(values.max())
        beyond = max(self.low - least, most - self.high, 0.0)
        if self.attained:
            beyond = max(beyond, abs(least - self.low), abs(most - self.high))
        note = f"from {least:.6g} to {most:.6g}, claimed [{self.low:g}, {self.high:g}]"
        constants = (least, most) if least > 0 else None
        return Judgement(beyond <= self.tolerance, beyond / self.tolerance, constants, None, note)

    def tightened(self, size: float) -> Sequence[Interval]:
        """Each end drawn in by this share of the width, or of itself where the other end is infinite."""
        width = self.high - self.low
        by = size * (width if math.isfinite(width) else abs(self.low if math.isfinite(self.low) else self.high))
        drawn = [replace(self, low=self.low + by), replace(self, high=self.high - by)]
        return [interval for interval in drawn if interval != self]

    def mutants(self) -> Mapping[str, Interval]:
        """Either end that is finite moved inwards, and outwards too where the ends are reached."""
        mutants = {}
        for sign, raised, lowered in ((1, "low raised", "high lowered"), (-1, "low lowered", "high raised")):
            if sign < 0 and not self.attained:
                continue
            if math.isfinite(self.low):
                mutants[raised] = replace(self, low=self.low + sign * self.step)
            if math.isfinite(self.high):
                mutants[lowered] = replace(self, high=self.high - sign * self.step)
        return mutants
