"""Coordinates of the functional law that curves determine one by one, and what is expected of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from fsl_num.curves.laws.chart import Chart
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array

if TYPE_CHECKING:
    from fsl_num.curves.laws.base import Law

Expected = tuple[float, float]
"""Mean and standard deviation."""

EXPECTED: Final[Mapping[str, Expected]] = MappingProxyType(
    {
        "p": (float(np.log(0.8)), 0.25),
        "q": (float(np.log(0.8)), 0.2),
        "r": (0.5, 0.15),
        "P_c": (float(np.log(2.5)), 0.8),
        "E": (0.0, 1.5),
        "s": (float(np.log(0.5)), 0.5),
        "gamma": (float(np.log(0.5)), 0.65),
        "c": (float(np.log(150.0)), 1.3),
        "B": (float(np.log(0.08)), 0.75),
        "c_e": (float(np.log(0.5)), 1.0),
    }
)
"""Mean and standard deviation that are expected of the coordinates of :class:`NoiseChart`.

The means are those of the theory where it has one: gamma = 1 - 1/beta about 1/2. Of p theory says 1, and the runs at
hand, nearly all of adaptive updates, say .4 to .85: with .8 runs in which the rate has only begun to fall are forecast
better, and others about as well. Of adaptive updates whose noise dominates theory says r = 1/2, and q = 1 in all cases;
two networks trained with several batch sizes by Adam say .48 and .55 of r, .95 and .66 of q, one by plain descent .18
and .96 (examples/batches). Of c_e it says the order of c. The means of B and P_c and the widths were chosen over
families of training runs; where curves determine a coordinate they do not matter.
"""

PLAIN: Final[Mapping[str, Expected]] = MappingProxyType({"p": (0.0, 0.25), "q": (0.0, 0.25)})
"""The same for plain stochastic gradient descent: p = q = 1, up to what finite rates change."""

_SHARES = (-14.0, 3.0)  # of the logarithm of the noise over the loss: from a millionth to twenty times
_RATIOS = (-6.0, 6.0)  # of the logarithm of c_e over c (1 + gamma)
_MOST_SIGNAL = 1e3  # of (E/A)/(B/level)


class NoiseChart(Chart):
    """Coordinates of the functional law that curves determine one by one.

    In the place of B stands the logarithm of the noise that the largest rate leaves after the longest of the plans, as
    a share of ``level``: it stays finite where the memory becomes logarithmic (gamma to 0, B to infinity). In the place
    of c stands the logarithm of c (1 + gamma) T: it stays finite where the memory becomes exponential (gamma to
    infinity, c to 0). In the place of A stands the signal that is left at that time: it stays finite where c_e grows
    without bound. In the place of c_e stands the logarithm of its ratio to c (1 + gamma), the speed of memory at first.
    In the place of P_c stands the logarithm of its ratio to the reference peak. In the place of E stands
    (E/A)/(B/level): 0 where the noise does not feel the loss, 1 where it is in proportion to it. There is no such noise
    without a signal, so that it cannot take the signal's place; and the number stays the same when all learning rates,
    or all losses, are measured in other units.

    >>> from fsl_num.curves.laws import FunctionalLaw
    >>> law = FunctionalLaw(signal_noise=True, peaks=True, reference_peak=0.1)
    >>> chart = law.chart([Plan([0.1] * 9)], 3.0)
    >>> theta = np.array([2.0, 0.5, 0.1, 0.02, 0.5, 30.0, 0.6, 20.0, 0.8, 0.25])
    >>> chart.back(chart.forward(theta)).round(12).tolist() == theta.tolist()
    True
    """

    def __init__(
        self,
        law: Law,
        plans: Sequence[Plan],
        level: float,
        reference_rate: float,
        adaptive: bool,
        reference_peak: float = 1.0,
    ) -> None:
        super().__init__(law.parameters, *law.bounds(plans))
        place = {name: index for index, name in enumerate(law.names)}
        self.scale, self.noise, self.speed, self.gamma = (place[name] for name in ("A", "B", "c", "gamma"))
        self.signal_speed, self.exponent = place["c_e"], place["s"]
        self.signal, self.power = place.get("E"), place.get("p")
        self.longest = max(float(plan.times[-1]) for plan in plans)
        self.log_peak = float(np.log(max(plan.peak for plan in plans) / reference_rate))
        self.level = level
        self.units = np.ones(len(law.names))  # of parameters: that of P_c is the reference of the peak rates
        if "P_c" in place:
            self.units[place["P_c"]] = reference_peak
        self.low, self.high = self.low - np.log(self.units), self.high - np.log(self.units)
        self.low[self.speed] += np.log(self.longest)
        self.high[self.speed] += np.log(self.longest) + np.log1p(law.parameters[self.gamma].upper)
        self.low[self.noise], self.high[self.noise] = _SHARES
        self.low[self.signal_speed], self.high[self.signal_speed] = _RATIOS
        if self.signal is not None:
            self.high[self.signal] = _MOST_SIGNAL
        for name, (mean, deviation) in (EXPECTED if adaptive else {**EXPECTED, **PLAIN}).items():
            if name in place:
                self.centre[place[name]], self.width[place[name]] = mean, deviation

    def _remembered(self, speed: float, gamma: float) -> tuple[float, float, float]:
        """1 - (1 + cT)^-gamma and its derivatives by c and gamma."""
        base = float(np.log1p(speed * self.longest))
        lost = float(np.exp(-gamma * base))
        return -float(np.expm1(-gamma * base)), gamma * self.longest * lost / (1 + speed * self.longest), base * lost

    def _slowed(self, theta: Array) -> float:
        """1 + c_e T: the signal that is left at the end of the longest plan is its power -s."""
        return 1.0 + float(theta[self.signal_speed]) * self.longest

    def forward(self, theta: Array) -> Array:
        """Return the coordinates of parameters."""
        u = super().forward(theta) - np.log(self.units)
        power = self.log_peak * (1.0 if self.power is None else theta[self.power])
        kept = self._remembered(theta[self.speed], theta[self.gamma])[0]
        u[self.noise] = np.log(max(theta[self.noise] * kept / self.level, 1e-300)) + power
        u[self.speed] += np.log1p(theta[self.gamma]) + np.log(self.longest)
        u[self.signal_speed] -= u[self.speed] - np.log(self.longest)
        u[self.scale] *= self._slowed(theta) ** -theta[self.exponent]
        if self.signal is not None:
            unit = theta[self.scale] * theta[self.noise] / self.level
            u[self.signal] = min(theta[self.signal] / max(unit, 1e-300), self.high[self.signal])
        return u

    def back(self, u: Array) -> Array:
        """Return the parameters at coordinates."""
        theta = super().back(u) * self.units
        theta[self.signal_speed] *= theta[self.speed] / self.longest
        theta[self.speed] /= self.longest * (1.0 + theta[self.gamma])
        theta[self.scale] *= self._slowed(theta) ** theta[self.exponent]
        power = self.log_peak * (1.0 if self.power is None else theta[self.power])
        kept = self._remembered(theta[self.speed], theta[self.gamma])[0]
        theta[self.noise] = self.level * np.exp(u[self.noise] - power) / kept
        if self.signal is not None:
            theta[self.signal] = u[self.signal] * theta[self.scale] * theta[self.noise] / self.level
        return theta

    def slopes(self, u: Array) -> Array:
        """Return d parameter/d coordinate, shape (parameters, coordinates)."""
        theta, slopes = self.back(u), super().slopes(u) * self.units
        c, gamma, noise = theta[self.speed], theta[self.gamma], theta[self.noise]
        kept, by_speed, by_gamma = self._remembered(c, gamma)
        slopes[self.speed, self.speed], slopes[self.speed, self.gamma] = c, -c * gamma / (1.0 + gamma)
        slopes[self.signal_speed, [self.signal_speed, self.speed]] = theta[self.signal_speed]
        scale, s, slowed = theta[self.scale], theta[self.exponent], self._slowed(theta)
        slopes[self.scale] = scale * s * self.longest / slowed * slopes[self.signal_speed]
        slopes[self.scale, [self.scale, self.exponent]] = slowed**s, scale * s * np.log(slowed)
        slopes[self.noise] = -noise / kept * (by_speed * slopes[self.speed] + by_gamma * slopes[self.gamma])
        slopes[self.noise, self.noise] = noise
        if self.power is not None:
            slopes[self.noise, self.power] = -noise * self.log_peak * theta[self.power]
        if self.signal is not None:
            share = scale / self.level
            slopes[self.signal] = u[self.signal] * (
                share * slopes[self.noise] + noise / self.level * slopes[self.scale]
            )
            slopes[self.signal, self.signal] = noise * share
        return slopes
