"""The linear schedule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsl_num.schedules.base import Schedule, final_rate
from fsl_num.validation import Array


@dataclass(frozen=True, kw_only=True)
class Linear(Schedule):
    """phi(tau) = peak + (final - peak) tau/steps, final >= 0 (default 0).

    >>> Linear(peak=1.0, steps=100).total_intrinsic_time
    50.0
    """

    final: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "final", final_rate(self.final, self.peak, zero=True))

    def _rate(self, remaining: Array) -> Array:
        return self.final + (self.peak - self.final) * (remaining / self.steps)

    def _elapsed(self, tau: Array) -> Array:
        return self.final * tau + (self.peak - self.final) * tau * (1.0 - 0.5 * (tau / self.steps))

    def _left(self, remaining: Array) -> Array:
        return remaining * (self.final + 0.5 * (self.peak - self.final) * (remaining / self.steps))

    def _steps_left(self, remaining: Array) -> Array:
        # The root of the quadratic _left in the form without cancellation, 0 at 0 also where final is 0. Roots come
        # first: what remains over the steps may be less than the least double.
        falling = np.sqrt(2.0 * (self.peak - self.final)) * (np.sqrt(remaining) / np.sqrt(self.steps))
        root = np.hypot(self.final, falling)
        left = np.divide(2.0 * remaining, self.final + root, out=np.zeros_like(remaining), where=remaining > 0.0)
        return np.asarray(np.minimum(left, self.steps))
