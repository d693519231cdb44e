"""The constant schedule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsl_num.schedules.base import Schedule
from fsl_num.validation import Array


@dataclass(frozen=True, kw_only=True)
class Constant(Schedule):
    """phi(tau) = peak. Source: Theorem labelled thm:chinchilla (where the learning rate is eta).

    >>> Constant(peak=0.5, steps=10).total_intrinsic_time
    5.0
    """

    def _rate(self, remaining: Array) -> Array:
        return np.full_like(remaining, self.peak)

    def _elapsed(self, tau: Array) -> Array:
        return self.peak * tau

    def _left(self, remaining: Array) -> Array:
        return self.peak * remaining

    def _steps_after(self, elapsed: Array) -> Array:
        return self._steps_left(elapsed)

    def _steps_left(self, remaining: Array) -> Array:
        return np.minimum(remaining / self.peak, self.steps)
