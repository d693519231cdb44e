r"""The best schedule of the functional scaling law of a model under a data budget: shape, peak and horizon together.

The law is half of delta_M + e_M(T) + int_0^T K_M(T - t) gamma(t) (e_M(t) + sigma^2) dt over intrinsic time, and with
gamma the learning rate over the batch size a unit of intrinsic time costs 1/gamma samples, whatever the batch: the
budget of D samples is int dt/gamma. That is the problem of :mod:`~fsl_num.design.water_filling`, with p = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.design.families import BASELINES, FAMILIES, shape_words
from fsl_num.design.water_filling import Water, filled
from fsl_num.model import Model
from fsl_num.results import Result
from fsl_num.schedules.discrete import Discrete
from fsl_num.spectrum import kernel_integral
from fsl_num.validation import Array, positive

_POINTS: Final = 1500  # of K and e, interpolated
_SHORTEST: Final = 1e-9  # of the longest horizon
_CLOSE: Final = 1e-3  # of the excess risk
_BLOCKS: Final = 2000
_PEAKS: Final = 40  # tried for each baseline
_SAFE: Final = 0.5  # of the rate at which gamma tr(H)/2 = 1
_MOST_STEPS: Final = 10**7


@dataclass(frozen=True, eq=False, repr=False)
class TheoryDesign(Result):
    """The best gamma over time for a ``model`` and ``data`` samples, with gamma at most ``allowed``.

    ``gammas`` of blocks in time order, the ``samples`` of each, the intrinsic time ``horizon``, the ``excess_risk``, by
    how much it may at most lie above that of any other schedule (``gap``), and of the usual shapes at their best peaks
    the excess risks (``baselines``).

    >>> callable(TheoryDesign.as_dict)
    True
    """

    model: Model
    data: float
    allowed: float
    gammas: Array
    samples: Array
    horizon: float
    excess_risk: float
    gap: float
    baselines: Mapping[str, float]

    def __repr__(self) -> str:
        return f"TheoryDesign({self.data:g} samples, excess risk {self.excess_risk:.4g})"

    @property
    def peak(self) -> float:
        """The largest gamma."""
        return float(self.gammas.max())

    def as_batches(self, learning_rate: Any) -> Discrete:
        """Return the design as batch sizes at a constant learning rate, in the place of rates at a constant batch.

        The law knows gamma alone, so that both have its excess risk: the exact trade between them. In single steps a
        larger batch leaves more noise than a smaller rate (claim batch-and-rate/steps).

        Parameters
        ----------
        learning_rate
            At least the largest gamma, at which the batch is one sample. It is raised so that the steps are a whole
            number: by one part in so many.

        Returns
        -------
        Discrete
            Steps of one rate, their batch sizes whole numbers whose sum is the data, rounded.

        Raises ValueError for a rate below the largest gamma, one at which single steps diverge, or at which there would
        be none of them or more than 10^7.

        >>> design = design_for_model(Model(s=0.3, beta=2.0, size=float("inf"), noise=1.0), 1e4, gamma=0.5)
        >>> batches = design.as_batches(0.5).batch_sizes
        >>> batches.min(), batches.sum(), bool(batches[-1] > 100 * batches[0])
        (np.float64(1.0), np.float64(10000.0), True)
        """
        rate = positive("learning_rate", learning_rate)
        if rate < self.peak * (1.0 - 1e-9):
            raise ValueError(
                f"learning_rate must be at least the largest gamma, {self.peak:.6g}, got {rate:.6g}: its batches would"
                " be below one sample; design again with gamma at most that rate"
            )
        if rate * self.model.fastest >= 2.0:
            raise ValueError(
                f"learning_rate must be below 2 over the largest eigenvalue, {2.0 / self.model.fastest:.6g}, got"
                f" {rate:.6g}: single steps diverge, however large the batch"
            )
        steps = int(min(self.horizon / rate * (1.0 + 1e-12), 2.0 * _MOST_STEPS))
        if not 1 <= steps <= _MOST_STEPS:
            raise ValueError(
                f"learning_rate = {rate:.6g} takes {self.horizon / rate:.4g} steps for the horizon {self.horizon:.4g};"
                f" from 1 to {_MOST_STEPS:,} are needed"
            )
        time, seen = (np.append(0.0, np.cumsum(each)) for each in (self.gammas * self.samples, self.samples))
        whole = np.round(np.interp(np.linspace(0.0, time[-1], steps + 1), time, seen))
        return Discrete(rates=np.full(steps, time[-1] / steps), batch_sizes=np.maximum(np.diff(whole), 1.0))

    def as_dict(self) -> dict[str, Any]:
        """Return the design as JSON-ready values."""
        middle = (np.arange(_BLOCKS) + 0.5) * self.data / _BLOCKS
        place = np.minimum(np.searchsorted(np.cumsum(self.samples), middle), self.gammas.size - 1)
        share, shape = shape_words(self.gammas[place])
        return {
            "data": self.data,
            "gamma_max": self.allowed,
            "peak_gamma": self.peak,
            "final_gamma": float(self.gammas[-1]),
            "horizon": self.horizon,
            "stable_fraction": share,
            "decay_shape": shape,
            "excess_risk": self.excess_risk,
            "gap": self.gap,
            "baselines": {
                name: {"excess_risk": each, "ratio": each / self.excess_risk} for name, each in self.baselines.items()
            },
        }


class _ModelWater(Water):
    """The functional law of a model in the place of a fitted one: K and e on a fine grid, interpolated."""

    def __init__(self, model: Model, data: float, gamma: float, falling: bool) -> None:
        self.p = self.unit = 1.0
        self.steps, self.low, self.high, self.falling = data, 0.0, gamma, falling  # type: ignore[assignment]
        self.passed, self.model, self.c = 0.0, model, 2.0
        time = np.append(0.0, np.geomspace(1e-6, 2.0 * data * gamma, _POINTS))
        self._log = np.log1p(time)
        mass = np.asarray(kernel_integral(time, np.inf, model.beta, model.size))
        self._mass, self._k, self._e = (
            np.log(np.maximum(each, 1e-290)) for each in (mass, model.kernel(time), model.signal(time))
        )

    def _held(self, left: Array) -> Array:
        return np.asarray(np.exp(np.interp(np.log1p(left), self._log, self._mass)))

    def _kernel(self, left: Array) -> Array:
        return np.asarray(np.exp(np.interp(np.log1p(left), self._log, self._k)))

    def _signal(self, time: Any) -> Array:
        return np.asarray(np.exp(np.interp(np.log1p(time), self._log, self._e)))

    def past(self, horizon: float) -> float:
        """What is not learnt by then."""
        return 0.5 * (self.model.approximation_error + float(self._signal(horizon)))

    def past_slope(self, horizon: float) -> float:
        """Its derivative."""
        step = 1e-4 * horizon
        return (self.past(horizon + step) - self.past(horizon - step)) / (2.0 * step)

    def cells(self, horizon: float, cells: int = 1000) -> Array:
        """Times left at the ends of cells, close at both ends of training."""
        ends = np.geomspace(min(1e-3, 1e-3 * horizon), 0.5 * horizon, cells)
        starts = ends[ends > 1e-12 * horizon][-2::-1]  # closer they are lost in rounding
        return np.concatenate([[0.0], ends, horizon - starts, [horizon]])

    def kernel(self, nodes: Array, after: Array) -> tuple[Array, Array]:
        """The means of K over the cells, and half the noise sigma^2 + e there."""
        mean = -np.diff(self._held(nodes)) / np.diff(nodes)
        return mean, 0.5 * (self.model.noise + self._signal(np.maximum(after - self.high, 0.0)))

    def risk(self, gammas: Array, samples: Array) -> float:
        """The excess risk of blocks at one gamma each."""
        left = np.append(np.cumsum((gammas * samples)[::-1])[::-1], 0.0)
        level = 0.5 * (self.model.noise + self._signal(left[0] - 0.5 * (left[1:] + left[:-1])))
        return self.past(float(left[0])) + float((gammas * level) @ np.diff(self._held(left)))


def design_for_model(model: Model, data: float, *, gamma: float | None = None, falling: bool = False) -> TheoryDesign:
    """Return the best schedule of gamma for a model and ``data`` samples under the functional scaling law.

    Parameters
    ----------
    model
        Task and model, with label noise; of any size.
    data
        How many samples are seen, at least 1.
    gamma
        The largest gamma allowed, below 2/tr(H), where an injected impulse brings itself back; half of that by default.
    falling
        Whether gamma must never rise.

    Returns
    -------
    TheoryDesign
        Rates, horizon, excess risk and how the usual shapes compare, each at its best peak.

    Raises ValueError for a gamma at which training is unstable. Source: eqn: fsl, eqn: FSL-optimization.

    >>> found = design_for_model(Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0), 1e4)
    >>> 0.0 <= found.gap < 0.01 * found.excess_risk, min(found.baselines.values()) > found.excess_risk
    (True, True)
    """
    budget = positive("data", data)
    if budget < 1.0:
        raise ValueError(f"data must be at least 1 sample, got {data!r}")
    stable = 2.0 / model.trace
    top = _SAFE * stable if gamma is None else positive("gamma", gamma)
    if top >= stable:
        raise ValueError(
            f"gamma must be below 2/tr(H) = {stable:.6g} for this model, where training becomes unstable, got {gamma!r}"
        )
    water = _ModelWater(model, budget, top, falling)
    _, nodes, spent, bound = filled(water, _SHORTEST, _CLOSE, relative=True)
    gammas, samples = 1.0 / spent[::-1], (spent * np.diff(nodes))[::-1]
    risk = water.risk(gammas, samples)
    blocks, gone = np.full(_BLOCKS, budget / _BLOCKS), np.arange(_BLOCKS) / _BLOCKS
    shapes = {name: FAMILIES[family].shape(gone, given, _BLOCKS) for name, (family, given) in BASELINES.items()}
    peaks = top * np.geomspace(1e-6, 1.0, _PEAKS)
    baselines = {
        name: min(water.risk(np.maximum(peak * each, 1e-12 * peak), blocks) for peak in peaks)
        for name, each in shapes.items()
    }
    return TheoryDesign(model, budget, top, gammas, samples, float(nodes[-1]), risk, max(risk - bound, 0.0), baselines)
