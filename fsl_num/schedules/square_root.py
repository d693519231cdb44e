r"""Schedules with a square root: inverse-sqrt, and 1 - sqrt(x) after a stable phase."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsl_num.schedules.base import Schedule, share_of_steps
from fsl_num.schedules.constant import Constant
from fsl_num.schedules.multi_step import step_of_share
from fsl_num.schedules.phases import Phased
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
class SqrtFall(Schedule):
    r"""phi(tau) = peak (1 - sqrt(tau/steps)), the decay of :class:`OneMinusSqrt`.

    With u = sqrt(tau/steps) and v = 1 - u = phi/peak, the intrinsic time elapsed is peak steps (u^2 - 2 u^3/3) and
    what is left peak steps (v^2 - 2 v^3/3): one cubic, whose root in [0, 1] is 2 sin(pi/3 + w) sin(w) at
    w = arcsin(sqrt(3 q))/3 for the value q in [0, 1/3].

    >>> SqrtFall(peak=1.0, steps=4).learning_rate([0, 1, 4]).tolist()
    [1.0, 0.5, 0.0]
    """

    def _rate(self, remaining: Array) -> Array:
        return self.peak * self._share_left(remaining)

    def _rate_after(self, tau: Array) -> Array:
        return self.peak * (1.0 - np.sqrt(np.minimum(tau / self.steps, 1.0)))

    def _share_left(self, remaining: Array) -> Array:
        share = np.minimum(remaining / self.steps, 1.0)
        return np.asarray(share / (1.0 + np.sqrt(1.0 - share)))

    def _elapsed(self, tau: Array) -> Array:
        return self._area(np.sqrt(tau / self.steps))

    def _left(self, remaining: Array) -> Array:
        return self._area(self._share_left(remaining))

    def _area(self, x: Array) -> Array:
        return self.peak * self.steps * x**2 * (1.0 - x * (2.0 / 3.0))

    def _root(self, area: Array) -> Array:
        """Return the inverse of :meth:`_area`."""
        w = np.arcsin(np.minimum(np.sqrt(3.0 * (area / self.peak) / self.steps), 1.0)) / 3.0
        return np.asarray(2.0 * np.sin(math.pi / 3.0 + w) * np.sin(w))

    def _steps_after(self, elapsed: Array) -> Array:
        return np.minimum(self.steps * self._root(elapsed) ** 2, self.steps)

    def _steps_left(self, remaining: Array) -> Array:
        v = self._root(remaining)
        return np.minimum(self.steps * v * (2.0 - v), self.steps)

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        """Places that close in on the start, where the root is not smooth: down to 1e-12 of the steps."""
        return tuple((self.steps * 4.0 ** -np.arange(20.0, 0.0, -1.0)).tolist())


@dataclass(frozen=True, kw_only=True)
class OneMinusSqrt(Phased):
    """The peak, then peak (1 - sqrt(x)) over the last ``decay_fraction`` in (0, 1] of the steps, x its share gone by.

    >>> OneMinusSqrt(peak=1.0, steps=20, decay_fraction=0.2).learning_rate([16, 17, 20]).tolist()
    [1.0, 0.5, 0.0]
    """

    decay_fraction: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "decay_fraction", share_of_steps("decay_fraction", self.decay_fraction))

    @cached_property
    def phases(self) -> tuple[Schedule, ...]:
        """The stable phase, where there is one, and the fall."""
        falling = step_of_share(self.decay_fraction, self.steps)
        fall = SqrtFall(peak=self.peak, steps=falling)
        return (Constant(peak=self.peak, steps=self.steps - falling), fall) if falling < self.steps else (fall,)
