"""The cosine schedule."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fsl_num.schedules.base import Schedule, final_rate
from fsl_num.validation import Array


def _x_minus_sin(x: Array) -> Array:
    """Return x - sin x without cancellation for small x >= 0 (power series below 0.5, exact to rounding)."""
    small = np.minimum(x, 0.5)
    square = small * small
    term, series = small * square / 6.0, np.zeros_like(x)
    for k in range(9):
        series += term
        term = -term * square / ((2 * k + 4) * (2 * k + 5))
    return np.where(x < 0.5, series, x - np.sin(x))


@dataclass(frozen=True, kw_only=True)
class Cosine(Schedule):
    """phi(tau) = final + (peak - final) (1 + cos(pi tau/steps))/2, final >= 0 (default 0).

    >>> round(Cosine(peak=1.0, steps=100).learning_rate(50.0), 12)
    0.5
    """

    final: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "final", final_rate(self.final, self.peak, zero=True))

    def _rate(self, remaining: Array) -> Array:
        return self.final + (self.peak - self.final) * np.sin(0.5 * math.pi * remaining / self.steps) ** 2

    def _elapsed(self, tau: Array) -> Array:
        angle = math.pi * tau / self.steps
        return self.final * tau + (self.peak - self.final) * self.steps / (2 * math.pi) * (angle + np.sin(angle))

    def _left(self, remaining: Array) -> Array:
        angle = math.pi * remaining / self.steps
        return self.final * remaining + (self.peak - self.final) * self.steps / (2 * math.pi) * _x_minus_sin(angle)
