r"""The functional law of a model in the place of a fitted one: what designs in the theory make least.

The law is half of delta_M + e_M(T) + int_0^T K_M(T - t) gamma(t) (e_M(t) + sigma^2) dt over intrinsic time, and with
gamma the learning rate over the batch size a unit of intrinsic time costs 1/gamma samples, whatever the batch: the
budget of D samples is int dt/gamma. That is the problem of :mod:`~fsl_num.design.water_filling`, with p = 1.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from fsl_num.design.averaging import largest_gamma
from fsl_num.design.water_filling import Water
from fsl_num.model import Model
from fsl_num.spectrum import kernel_integral
from fsl_num.validation import Array

_POINTS: Final = 1500  # at least, of K and e, interpolated
_A_DECADE: Final = 40  # at least: K falls exponentially beyond M^beta


class ModelWater(Water):
    """The functional law of a ``model`` over ``data`` samples with gamma at most ``gamma``.

    K, its integral and e stand on a fine grid and are interpolated.

    >>> water = ModelWater(Model(s=0.5, beta=2.0, size=20, noise=1.0), 100.0, 0.5, falling=False)
    >>> water.risk(np.array([0.5, 0.1]), np.array([50.0, 50.0])) < water.risk(np.array([0.5]), np.array([100.0]))
    True
    """

    def __init__(self, model: Model, data: float, gamma: float, falling: bool) -> None:
        self.p = self.unit = 1.0
        self.steps, self.low, self.high, self.falling = data, 0.0, gamma, falling  # type: ignore[assignment]
        self.passed, self.model, self.c = 0.0, model, 2.0
        self._never = model.approximation_error
        longest = 2.0 * data * gamma
        points = max(_POINTS, int(_A_DECADE * np.log10(longest / 1e-6)))
        time = np.append(0.0, np.geomspace(1e-6, longest, points))
        self._log = np.log1p(time)
        mass = np.asarray(kernel_integral(time, np.inf, model.beta, model.size))
        self._mass, self._k, self._e = (
            np.log(np.maximum(density, 1e-290)) for density in (mass, model.kernel(time), model.signal(time))
        )

    def _held(self, left: Array) -> Array:
        return np.asarray(np.exp(np.interp(np.log1p(left), self._log, self._mass)))

    def _kernel(self, left: Array) -> Array:
        return np.asarray(np.exp(np.interp(np.log1p(left), self._log, self._k)))

    def _signal(self, time: Any) -> Array:
        return np.asarray(np.exp(np.interp(np.log1p(time), self._log, self._e)))

    def past(self, horizon: float) -> float:
        """What is not learnt by then."""
        return 0.5 * (self._never + float(self._signal(horizon)))

    def past_slope(self, horizon: float) -> float:
        """Its derivative."""
        step = 1e-4 * horizon
        return (self.past(horizon + step) - self.past(horizon - step)) / (2.0 * step)

    def cells(self, horizon: float, cells: int = 1000) -> Array:
        """Times left at the ends of cells, close at both ends of training."""
        ends = np.geomspace(min(1e-3, 1e-3 * horizon), 0.5 * horizon, cells)
        starts = ends[ends > 1e-9 * horizon][-2::-1]  # closer they are lost in rounding
        return np.concatenate([[0.0], ends, horizon - starts, [horizon]])

    def kernel(self, nodes: Array, after: Array) -> tuple[Array, Array]:
        """The means of K over the cells, and half the noise sigma^2 + e there."""
        held = self._held(nodes)
        lost, middle = -np.diff(held), 0.5 * (nodes[1:] + nodes[:-1])  # of little, rounding is much: K hardly falls
        mean = np.where(lost > 1e-9 * held[:-1], lost / np.diff(nodes), self._kernel(middle))
        return mean, 0.5 * (self.model.noise + self._signal(np.maximum(after - self.high, 0.0)))

    def risk(self, gammas: Array, samples: Array) -> float:
        """The excess risk of blocks at one gamma each."""
        left = np.append(np.cumsum((gammas * samples)[::-1])[::-1], 0.0)
        level = 0.5 * (self.model.noise + self._signal(left[0] - 0.5 * (left[1:] + left[:-1])))
        return self.past(float(left[0])) + float((gammas * level) @ np.diff(self._held(left)))


def model_water(model: Model, data: float, gamma: float | None, falling: bool = False) -> ModelWater:
    """Return the problem of a model, of a data budget and a largest gamma that can be trained.

    Arguments and errors of :func:`~fsl_num.design.theory.design_for_model`.

    >>> model_water(Model(s=0.5, beta=2.0, size=1, noise=1.0), 100.0, None).high
    1.0
    """
    return ModelWater(model, *largest_gamma(model, data, gamma), falling)
