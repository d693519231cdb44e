"""Exponential decay, alone and after a stable phase."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsl_num.schedules.base import Schedule, final_rate
from fsl_num.validation import Array, real_number


def _relative_growth(x: Array) -> Array:
    """Return (exp(x) - 1)/x, 1 at x = 0."""
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, np.expm1(safe) / safe)


def _relative_logarithm(x: Array) -> Array:
    """Return log(1 + x)/x, 1 at x = 0."""
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, np.log1p(safe) / safe)


@dataclass(frozen=True, kw_only=True)
class ExponentialDecay(Schedule):
    """phi(tau) = peak exp(-zeta tau) with phi(steps) = final > 0. Source: Theorem labelled thm:geometric (a, b).

    >>> round(ExponentialDecay(peak=1.0, final=0.01, steps=100).learning_rate(50.0), 12)
    0.1
    """

    final: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "final", final_rate(self.final, self.peak, zero=False))

    @property
    def _zeta(self) -> float:
        return math.log(self.peak / self.final) / self.steps

    def _rate(self, remaining: Array) -> Array:
        return self.final * np.exp(self._zeta * remaining)

    def _elapsed(self, tau: Array) -> Array:
        return self.peak * tau * _relative_growth(-self._zeta * tau)

    def _left(self, remaining: Array) -> Array:
        return self.final * remaining * _relative_growth(self._zeta * remaining)

    def _steps_left(self, remaining: Array) -> Array:
        # The inverse of _left in closed form; a caller's rounding of T may not lead past the first step.
        steps = remaining / self.final
        return np.minimum(steps * _relative_logarithm(self._zeta * steps), self.steps)


@dataclass(frozen=True, kw_only=True)
class StableDecay(Schedule):
    """Warmup-stable-decay without the warmup: peak for (1 - r) steps, then exponential decay to final > 0 in r steps.

    r = ``decay_fraction`` in (0, 1], as a fraction of ``steps``. Source: equation labelled eqn: wsd-1 of the paper.

    >>> StableDecay(peak=1.0, final=0.1, steps=100, decay_fraction=0.25).breaks
    (75.0,)
    """

    final: float
    decay_fraction: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "final", final_rate(self.final, self.peak, zero=False))
        fraction = real_number("decay_fraction", self.decay_fraction)
        if not 0.0 < fraction <= 1.0:
            raise ValueError(f"decay_fraction must lie in (0, 1] (share of the steps), got {self.decay_fraction!r}")
        object.__setattr__(self, "decay_fraction", fraction)

    @property
    def stable_steps(self) -> float:
        """Number of steps at the peak."""
        return self.steps * (1.0 - self.decay_fraction)

    @property
    def decay_steps(self) -> float:
        """Number of steps of the decay."""
        return self.steps * self.decay_fraction

    @cached_property
    def _decay(self) -> ExponentialDecay:
        return ExponentialDecay(peak=self.peak, final=self.final, steps=self.decay_steps)

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        """The end of the stable phase (nothing where there is none, or no decay)."""
        return (self.stable_steps,) if self.decay_fraction < 1.0 and self.final < self.peak else ()

    def _rate(self, remaining: Array) -> Array:
        return self._decay._rate(np.minimum(remaining, self.decay_steps))

    def _elapsed(self, tau: Array) -> Array:
        decaying = np.maximum(tau - self.stable_steps, 0.0)
        return self.peak * np.minimum(tau, self.stable_steps) + self._decay._elapsed(decaying)

    def _left(self, remaining: Array) -> Array:
        stable = np.maximum(remaining - self.decay_steps, 0.0)
        return self.peak * stable + self._decay._left(np.minimum(remaining, self.decay_steps))

    def _steps_left(self, remaining: Array) -> Array:
        decay = self._decay
        stable = np.maximum(remaining - decay.total_intrinsic_time, 0.0) / self.peak
        decaying = decay._steps_left(np.minimum(remaining, decay.total_intrinsic_time))
        return np.minimum(stable + decaying, self.steps)
