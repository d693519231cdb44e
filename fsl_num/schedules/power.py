"""Power decay to zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsl_num.schedules.base import Schedule
from fsl_num.validation import Array, positive


@dataclass(frozen=True, kw_only=True)
class PowerDecay(Schedule):
    """phi(tau) = peak (1 - tau/steps)^power, power >= 0; the learning rate ends at 0 unless power = 0.

    >>> PowerDecay(peak=1.0, steps=100, power=2).learning_rate(50.0)
    0.25
    """

    power: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "power", positive("power", self.power, zero=True))

    def _rate(self, remaining: Array) -> Array:
        return self.peak * (remaining / self.steps) ** self.power

    def _elapsed(self, tau: Array) -> Array:
        inside = np.minimum(tau / self.steps, 1.0)
        with np.errstate(divide="ignore"):
            logs = np.log1p(-inside)  # -inf at the end, where expm1 is -1 as it should be
        return self._whole * -np.expm1((self.power + 1.0) * logs)

    def _left(self, remaining: Array) -> Array:
        return self._whole * (remaining / self.steps) ** (self.power + 1.0)

    @property
    def _whole(self) -> float:
        return self.peak * self.steps / (self.power + 1.0)
