"""Power decay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fsl_num.schedules.base import Schedule, final_rate
from fsl_num.validation import Array, positive


@dataclass(frozen=True, kw_only=True)
class PowerDecay(Schedule):
    """phi(tau) = final + (peak - final)(1 - tau/steps)^power, power >= 0, final >= 0 (default 0).

    A power of 0 is constant at the peak.

    >>> PowerDecay(peak=1.0, steps=100, power=2).learning_rate(50.0)
    0.25
    """

    power: float
    final: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "power", positive("power", self.power, zero=True))
        object.__setattr__(self, "final", final_rate(self.final, self.peak, zero=True))

    def _rate(self, remaining: Array) -> Array:
        return self.final + (self.peak - self.final) * (remaining / self.steps) ** self.power

    def _elapsed(self, tau: Array) -> Array:
        inside = np.minimum(tau / self.steps, 1.0)
        with np.errstate(divide="ignore"):
            logs = np.log1p(-inside)  # -inf at the end, where expm1 is -1 as it should be
        return self.final * tau + self._fallen * -np.expm1((self.power + 1.0) * logs)

    def _left(self, remaining: Array) -> Array:
        return self.final * remaining + self._fallen * (remaining / self.steps) ** (self.power + 1.0)

    def _steps_after(self, elapsed: Array) -> Array:
        if self.final > 0.0:
            return super()._steps_after(elapsed)
        with np.errstate(divide="ignore"):
            logs = np.log1p(-np.minimum(elapsed / self._fallen, 1.0))
        return np.asarray(-self.steps * np.expm1(logs / (self.power + 1.0)))

    def _steps_left(self, remaining: Array) -> Array:
        if self.final > 0.0:
            return super()._steps_left(remaining)
        return np.asarray(self.steps * (remaining / self._fallen) ** (1.0 / (self.power + 1.0)))

    @property
    def _fallen(self) -> float:
        """The intrinsic time above that of the final rate."""
        return (self.peak - self.final) * self.steps / (self.power + 1.0)
