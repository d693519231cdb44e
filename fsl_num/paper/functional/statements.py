"""A statement about numbers that must lie between two bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fsl_num.claims.records import Judgement

Bound = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Between:
    """Every measured number lies between its bounds, within a relative ``slack`` that the measurement itself needs.

    ``bounds``: name -> (low, high); ``wrong``: names of mutants and their bounds. A measurement is a sequence of
    (name, place, value).
    """

    bounds: Bound
    slack: float
    wrong: Mapping[str, Bound] = field(default_factory=dict)

    def judge(self, measured: Sequence[tuple[str, str, float]]) -> Judgement:
        """The worst number speaks; ValueError where there is none or one is not finite."""
        worst, detail, values = -math.inf, "", []
        for name, place, value in measured:
            low, high = self.bounds[name]
            if not math.isfinite(value):
                raise ValueError(f"{name} at {place} is {value}: nothing can be judged")
            over = max(value / high - 1.0, low / value - 1.0 if low > 0.0 else -1.0)
            values.append(value)
            if over > worst:
                worst, detail = over, f"{name} = {value:.6g} at {place}, bounds [{low:.6g}, {high:.6g}]"
        if not values:
            raise ValueError("no number was measured: nothing can be judged")
        excess = max(worst / self.slack, 0.0)
        return Judgement(worst <= self.slack, excess, (min(values), max(values)), None, detail)

    def mutants(self) -> Mapping[str, Between]:
        """The wrong bounds given."""
        return {name: replace(self, bounds={**self.bounds, **bounds}) for name, bounds in self.wrong.items()}

    def neighbours(self, kind: str, size: float) -> Sequence[Any]:
        """None: a bound has no exponents."""
        return []
