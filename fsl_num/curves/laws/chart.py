"""Coordinates in which a fit moves, and what is expected of them before any loss is seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fsl_num.validation import Array

if TYPE_CHECKING:
    from fsl_num.curves.laws.base import Parameter


class Chart:
    """Coordinates of parameters: logarithms where these say so, with their bounds.

    ``low``, ``high``: the bounds of the coordinates. ``centre``, ``width``: mean and standard deviation that are
    expected of them; a width of inf expects nothing.

    >>> from fsl_num.curves.laws import law
    >>> from fsl_num.curves.plan import Plan
    >>> chart = law("momentum").chart([Plan([0.1] * 9)])
    >>> chart.back(chart.forward(np.array([2.0, 0.5, 1.0, 0.5, 0.99]))).round(12).tolist()
    [2.0, 0.5, 1.0, 0.5, 0.99]
    """

    def __init__(self, parameters: Sequence[Parameter], low: Array, high: Array) -> None:
        self.logs = np.array([parameter.scale == "log" for parameter in parameters])
        self.gaps = np.array([parameter.scale == "gap" for parameter in parameters])
        ends = np.stack([Chart.forward(self, low), Chart.forward(self, high)])
        self.low, self.high = ends.min(axis=0), ends.max(axis=0)
        self.centre, self.width = np.zeros(self.low.size), np.full(self.low.size, np.inf)

    def forward(self, theta: Array) -> Array:
        """Return the coordinates of parameters."""
        u = np.array(theta, dtype=np.float64)
        u[self.logs] = np.log(np.maximum(u[self.logs], 1e-300))
        u[self.gaps] = np.log(np.maximum(1.0 - u[self.gaps], 1e-300))
        return u

    def back(self, u: Array) -> Array:
        """Return the parameters at coordinates."""
        theta = np.array(u)
        theta[self.logs] = np.exp(u[self.logs])
        theta[self.gaps] = 1.0 - np.exp(u[self.gaps])
        return theta

    def slopes(self, u: Array) -> Array:
        """Return d parameter/d coordinate, shape (parameters, coordinates)."""
        theta = Chart.back(self, u)
        return np.diag(np.where(self.logs, theta, np.where(self.gaps, theta - 1.0, 1.0)))
