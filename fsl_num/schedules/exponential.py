"""Exponential decay, alone and after a stable phase."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fsl_num.schedules.base import Schedule, final_rate, share_of_steps
from fsl_num.schedules.constant import Constant
from fsl_num.schedules.phases import Phased
from fsl_num.validation import Array


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
class StableDecay(Phased):
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
        object.__setattr__(self, "decay_fraction", share_of_steps("decay_fraction", self.decay_fraction))

    @property
    def stable_steps(self) -> float:
        """Number of steps at the peak."""
        return self.steps * (1.0 - self.decay_fraction)

    @property
    def decay_steps(self) -> float:
        """Number of steps of the decay."""
        return self.steps * self.decay_fraction

    @cached_property
    def phases(self) -> tuple[Schedule, ...]:
        """The stable phase and the decay, where there are both."""
        if self.final == self.peak:
            return (Constant(peak=self.peak, steps=self.steps),)
        decay = ExponentialDecay(peak=self.peak, final=self.final, steps=self.decay_steps)
        return (Constant(peak=self.peak, steps=self.stable_steps), decay) if self.decay_fraction < 1.0 else (decay,)
