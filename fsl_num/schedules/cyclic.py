"""Triangular waves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from fsl_num.schedules.base import Schedule, final_rate
from fsl_num.schedules.constant import Constant
from fsl_num.schedules.linear import Linear
from fsl_num.schedules.phases import Backwards, Phased
from fsl_num.validation import whole_count

MOST_CYCLES: Final = 10_000


@dataclass(frozen=True, kw_only=True)
class Cyclic(Phased):
    """Triangular waves: in each of ``cycles`` from ``final`` straight up to the peak and down again.

    ``final`` in [0, peak]; ``cycles`` a whole number.

    >>> Cyclic(peak=1.0, steps=8, final=0.0, cycles=2).learning_rate([0, 1, 2, 3, 4]).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    final: float
    cycles: int

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "final", final_rate(self.final, self.peak, zero=True))
        object.__setattr__(self, "cycles", whole_count("cycles", self.cycles))
        if self.cycles > MOST_CYCLES:
            raise ValueError(
                f"cycles must be at most {MOST_CYCLES:,}, got {self.cycles:,}: each wave is solved for itself"
            )

    @cached_property
    def phases(self) -> tuple[Schedule, ...]:
        """Each rise and each fall."""
        if self.final == self.peak:
            return (Constant(peak=self.peak, steps=self.steps),)
        fall = Linear(peak=self.peak, final=self.final, steps=self.steps / (2 * self.cycles))
        return (Backwards(of=fall), fall) * self.cycles
