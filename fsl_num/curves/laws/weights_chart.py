"""Coordinates of the law whose weights grow with the rate, and what is expected of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from fsl_num.curves.laws.noise_chart import EXPECTED, Expected, NoiseChart
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array

if TYPE_CHECKING:
    from fsl_num.curves.laws.base import Law

FOLLOWED: Final[Expected] = (float(np.log(2.0)), 1.0)
"""Mean and deviation expected of the logarithm of x T: a weight decay of 0.1 to 0.2 gives 1 to 8 in long runs."""

FED: Final[Expected] = EXPECTED["E"]
"""The same of the noise's share in itself: 0 where it does not feel the loss, 1 where it is in proportion to it."""

_STILL: Final = {"x": (float(np.log(0.01)), 0.5), "m": (0.0, 0.05)}
_FALLS = 0.5  # of the peak
_MOST_FED = 1e3


class WeightsChart(NoiseChart):
    """Coordinates of the law whose weights grow with the rate.

    Those of :class:`~fsl_num.curves.laws.noise_chart.NoiseChart`, but that of B is the noise with what it adds to
    itself, in the place of x stands the logarithm of x T, and in the place of m, at the largest rate, m/(1 - m) over
    that noise as a share of ``level``, in the Volterra equation 1. Where one run is fitted, or no rate falls below half
    of its peak, losses are to tell nothing of x and m, and the law is expected to be the functional one: bends of one
    curve would else be taken for noise.

    >>> from fsl_num.curves.laws import law
    >>> chart = law("fsl-weights").chart([Plan([0.1] * 5 + [0.01] * 4)], 3.0)
    >>> theta = np.array([2.0, 0.5, 0.1, 0.5, 30.0, 0.6, 20.0, 0.8, 0.001, 3.0])
    >>> chart.back(chart.forward(theta)).round(12).tolist() == theta.tolist()
    True
    """

    def __init__(self, law: Law, plans: Sequence[Plan], level: float, reference: float) -> None:
        super().__init__(law, plans, level, reference, True, reference)
        self.fed, self.follows = law.names.index("m"), law.names.index("x")
        self.low[self.fed], self.high[self.fed] = 0.0, _MOST_FED
        self.low[self.follows] += np.log(self.longest)
        self.high[self.follows] += np.log(self.longest)
        expected = {"x": FOLLOWED, "m": FED} if len(plans) > 1 and any(map(_falls, plans)) else _STILL
        for place, (mean, width) in ((self.follows, expected["x"]), (self.fed, expected["m"])):
            self.centre[place], self.width[place] = mean, width

    def forward(self, theta: Array) -> Array:
        """Return the coordinates of parameters."""
        u = super().forward(theta)
        fed = min(theta[self.fed] * np.exp(theta[self.power] * self.log_peak), 1.0 - 1e-9)
        share = fed / (1.0 - fed)
        u[self.noise] += np.log1p(share)
        u[self.fed] = min(share / np.exp(u[self.noise]), _MOST_FED)
        u[self.follows] += np.log(self.longest)
        return u

    def back(self, u: Array) -> Array:
        """Return the parameters at coordinates."""
        theta = super().back(u)
        share = u[self.fed] * np.exp(u[self.noise])
        theta[self.noise] /= 1.0 + share
        theta[self.fed] = share / (1.0 + share) * np.exp(-theta[self.power] * self.log_peak)
        theta[self.follows] /= self.longest
        return theta

    def slopes(self, u: Array) -> Array:
        """Return d parameter/d coordinate, shape (parameters, coordinates)."""
        slopes, theta = super().slopes(u), self.back(u)
        noise, at_peak = np.exp(u[self.noise]), np.exp(-theta[self.power] * self.log_peak)
        share = u[self.fed] * noise
        by_both = np.array([noise, share]) / (1.0 + share)
        slopes[self.noise, [self.fed, self.noise]] -= theta[self.noise] * by_both
        slopes[self.fed, [self.fed, self.noise]] = at_peak * by_both / (1.0 + share)
        slopes[self.fed, self.power] = -theta[self.fed] * self.log_peak * theta[self.power]
        slopes[self.follows, self.follows] = theta[self.follows]
        return slopes


def _falls(plan: Plan) -> bool:
    """Whether the rate falls below half of its peak before the last row."""
    rates = plan.rates[: int(plan.recorded[-1])]
    return bool(rates[int(rates.argmax()) :].min() < _FALLS * plan.peak)
