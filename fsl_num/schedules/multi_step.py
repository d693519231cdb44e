"""Piecewise constant schedules: the rate drops at milestones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsl_num.schedules.base import Schedule
from fsl_num.schedules.constant import Constant
from fsl_num.schedules.phases import Phased
from fsl_num.validation import entries, real_number


def step_of_share(share: float, steps: float) -> float:
    """Return ``share`` of the steps; a whole number where it is one up to rounding, so that a milestone is a step.

    All of them are all, whatever they round to.

    >>> step_of_share(0.7, 10), step_of_share(0.25, 2), step_of_share(1.0, 1.0 + 4e-16)
    (7.0, 0.5, 1.0000000000000004)
    """
    if share == 1.0:
        return steps
    place = share * steps
    whole = float(round(place))
    return whole if abs(place - whole) <= 2.0 * np.spacing(place) else place


def _numbers(name: str, value: object) -> tuple[float, ...]:
    listed = entries(name, value, needed="a list of numbers, one for each drop")
    return tuple(real_number(name, number) for number in listed)


@dataclass(frozen=True, kw_only=True)
class MultiStep(Phased):
    """The peak, and from each of the ``milestones`` on the peak times the factor that belongs to it.

    ``milestones``: rising shares of the steps in (0, 1). ``factors``: as many numbers in (0, 1], of the peak and not of
    the rate before. Raises ValueError or TypeError for anything else.

    >>> plan = MultiStep(peak=1.0, steps=10, milestones=[0.5, 0.8], factors=[0.5, 0.1])
    >>> plan.learning_rate([4, 5, 8]).tolist(), round(plan.total_intrinsic_time, 12)
    ([1.0, 0.5, 0.1], 6.7)
    """

    milestones: Sequence[float]
    factors: Sequence[float]

    def __post_init__(self) -> None:
        super().__post_init__()
        milestones, factors = _numbers("milestones", self.milestones), _numbers("factors", self.factors)
        if not milestones or len(milestones) != len(factors):
            raise ValueError(
                f"milestones and factors must be as many, at least one each, got {len(milestones)} and {len(factors)}"
            )
        if not all(low < high for low, high in zip((0.0, *milestones), (*milestones, 1.0), strict=True)):
            raise ValueError(f"milestones must rise within (0, 1) (shares of the steps), got {list(milestones)}")
        if not all(0.0 < factor <= 1.0 for factor in factors):
            raise ValueError(f"factors must lie in (0, 1] (shares of the peak), got {list(factors)}")
        object.__setattr__(self, "milestones", milestones)
        object.__setattr__(self, "factors", factors)

    @cached_property
    def phases(self) -> tuple[Schedule, ...]:
        """The constant stretches."""
        places = [0.0, *(step_of_share(share, self.steps) for share in self.milestones), self.steps]
        rates = [self.peak, *(self.peak * factor for factor in self.factors)]
        lengths = np.diff(places).tolist()
        return tuple(Constant(peak=rate, steps=length) for rate, length in zip(rates, lengths, strict=True))


@dataclass(frozen=True, kw_only=True)
class EightOneOne(Phased):
    """The peak, from 80% of the steps on the peak over sqrt(10), and over 10 from 90% on.

    Source: Appendix, multi-step schedule (section labelled sec:CLRS).

    >>> EightOneOne(peak=1.0, steps=10).learning_rate([7, 8, 9]).round(3).tolist()
    [1.0, 0.316, 0.1]
    """

    @cached_property
    def phases(self) -> tuple[Schedule, ...]:
        """The three stretches."""
        factors = (math.sqrt(0.1), 0.1)
        return MultiStep(peak=self.peak, steps=self.steps, milestones=(0.8, 0.9), factors=factors).phases
