r"""Schedules with a square root: 1/sqrt(1 + x) and 1 - sqrt(x)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fsl_num.schedules.base import Schedule, final_rate
from fsl_num.validation import Array, positive


@dataclass(frozen=True, kw_only=True)
class InverseSqrt(Schedule):
    r"""phi(tau) = peak/sqrt(1 + tau/timescale), ``timescale`` > 0 in steps.

    With c = 2 peak timescale, T = c (sqrt(1 + tau/timescale) - 1) and gamma = peak/(1 + t/c) before the batch size.

    >>> InverseSqrt(peak=1.0, steps=30, timescale=10).learning_rate(30.0)
    0.5
    """

    timescale: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "timescale", positive("timescale", self.timescale))
        if not self.steps / self.timescale < 1e300:
            raise ValueError(f"timescale must be above 1e-300 steps, got {self.timescale!r} of {self.steps!r} steps")

    @property
    def _last(self) -> float:
        """The peak over the final rate."""
        return math.sqrt(1.0 + self.steps / self.timescale)

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        """Places that close in on the timescale, before which the rate is smooth."""
        count = math.ceil(max(math.log(self.steps / self.timescale, 4.0), 0.0))
        return tuple(place for place in (self.timescale * 4.0 ** np.arange(count)).tolist() if place < self.steps)

    def _rate(self, remaining: Array) -> Array:
        return self._rate_after(self.steps - remaining)

    def _rate_after(self, tau: Array) -> Array:
        return self.peak / np.sqrt(1.0 + tau / self.timescale)

    def _elapsed(self, tau: Array) -> Array:
        return 2.0 * self.peak * tau / (1.0 + np.sqrt(1.0 + tau / self.timescale))

    def _left(self, remaining: Array) -> Array:
        now = np.sqrt(1.0 + (self.steps - remaining) / self.timescale)
        return 2.0 * self.peak * remaining / (self._last + now)

    def _steps_after(self, elapsed: Array) -> Array:
        return elapsed / self.peak * (1.0 + elapsed / (4.0 * self.peak * self.timescale))

    def _steps_left(self, remaining: Array) -> Array:
        steps = remaining / self.peak
        return np.minimum(steps * (self._last - steps / (4.0 * self.timescale)), self.steps)


@dataclass(frozen=True, kw_only=True)
class OneMinusSqrt(Schedule):
    r"""phi(tau) = peak - (peak - final) sqrt(tau/steps), final >= 0 (default 0).

    With u = sqrt(tau/steps), v = 1 - u and a = 1 - final/peak, the intrinsic time elapsed is
    peak steps (u^2 - 2 a u^3/3) and what is left steps (final (1 - u^2) + (peak - final)(v^2 - 2 v^3/3)).

    >>> OneMinusSqrt(peak=1.0, steps=4, final=0.5).learning_rate([0, 1, 4]).tolist()
    [1.0, 0.75, 0.5]
    """

    final: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "final", final_rate(self.final, self.peak, zero=True))

    def _rate(self, remaining: Array) -> Array:
        return self.final + (self.peak - self.final) * self._share_left(remaining)

    def _rate_after(self, tau: Array) -> Array:
        return self.peak - (self.peak - self.final) * np.sqrt(np.minimum(tau / self.steps, 1.0))

    def _share_left(self, remaining: Array) -> Array:
        share = np.minimum(remaining / self.steps, 1.0)
        return np.asarray(share / (1.0 + np.sqrt(1.0 - share)))

    def _elapsed(self, tau: Array) -> Array:
        return tau * (self.peak - (self.peak - self.final) * np.sqrt(tau / self.steps) * (2.0 / 3.0))

    def _left(self, remaining: Array) -> Array:
        v = self._share_left(remaining)
        return self.final * remaining + (self.peak - self.final) * self.steps * v**2 * (1.0 - v * (2.0 / 3.0))

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        """Places that close in on the start, where the root is not smooth: down to 1e-12 of the steps."""
        return tuple((self.steps * 4.0 ** -np.arange(20.0, 0.0, -1.0)).tolist())
