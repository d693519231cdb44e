r"""The best schedule of the functional scaling law of a model under a data budget: shape, peak and horizon together.

The law is half of delta_M + e_M(T) + int_0^T K_M(T - t) gamma(t) (e_M(t) + sigma^2) dt over intrinsic time, and with
gamma the learning rate over the batch size a unit of intrinsic time costs 1/gamma samples, whatever the batch: the
budget of D samples is int dt/gamma. That is the problem of :mod:`~fsl_num.design.water_filling`, with p = 1.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from fsl_num.design.averaging import Average, best_average, largest_gamma
from fsl_num.design.batches import batches_at
from fsl_num.design.exponents import optimal_exponents
from fsl_num.design.families import BASELINES, FAMILIES, Family, shape_words
from fsl_num.design.under_volterra import VolterraOptimum, under_volterra
from fsl_num.design.water_filling import Water, filled
from fsl_num.model import Model
from fsl_num.results import Result
from fsl_num.schedules.discrete import Discrete
from fsl_num.spectrum import kernel_integral
from fsl_num.validation import Array, positive

_POINTS: Final = 1500  # of K and e, interpolated
_SHORTEST: Final = 1e-9  # of the longest horizon, at most
_CLOSE: Final = 1e-3  # of the excess risk
_BLOCKS: Final = 2000
_PEAKS: Final = 40  # tried for each baseline
_PEAKS_OF_MEMBERS: Final = 13
_LOWEST_PEAK: Final = 1e-6  # of the largest
_ENDS: Final = 1e-6  # of the samples, the last block of a member


@dataclass(frozen=True, eq=False, repr=False)
class TheoryDesign(Result):
    """The best gamma over time for a ``model`` and ``data`` samples, with gamma at most ``allowed``.

    ``gammas`` of blocks in time order, the ``samples`` of each, the intrinsic time ``horizon``, the ``excess_risk``, by
    how much it may at most lie above that of any other schedule (``gap``), and of the usual shapes at their best peaks
    the excess risks (``baselines``). ``compute``: the budget where the model size was chosen too, else None.

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
    compute: float | None = None

    def __repr__(self) -> str:
        size = "" if self.compute is None else f"{self.model.size:g} features, "
        return f"TheoryDesign({size}{self.data:g} samples, excess risk {self.excess_risk:.4g})"

    @property
    def peak(self) -> float:
        """The largest gamma."""
        return float(self.gammas.max())

    @property
    def exponents(self) -> Mapping[str, float] | None:
        """With which power of the budget each quantity grows in the theory; None for a data budget of finite models.

        See :func:`~fsl_num.design.exponents.optimal_exponents`.
        """
        if self.compute is None and not math.isinf(self.model.size):
            return None
        return optimal_exponents(self.model.s, self.model.beta, "data" if self.compute is None else "compute")

    @cached_property
    def average(self) -> Average | None:
        """The best mean of the weights at a constant gamma, which needs no decay; for the same data and bound.

        None where the single modes of the model are below what floats hold.
        """
        try:
            return best_average(self.model, self.data, gamma=self.allowed)
        except ValueError:  # the model and the data are those of a design that was made
            return None

    @cached_property
    def _shape(self) -> tuple[float, str]:
        middle = (np.arange(_BLOCKS) + 0.5) * self.data / _BLOCKS
        place = np.minimum(np.searchsorted(np.cumsum(self.samples), middle), self.gammas.size - 1)
        return shape_words(self.gammas[place])

    @property
    def stable_fraction(self) -> float:
        """The share of the samples before gamma falls below 99 % of its peak for good."""
        return self._shape[0]

    @property
    def decay_shape(self) -> str:
        """The shape of what follows, by the nearest name: "linear", "power 1.8", ..."""
        return self._shape[1]

    def as_batches(self, learning_rate: Any, schedule: str = "constant", **parameters: Any) -> Discrete:
        """Return the design as batch sizes at a constant or scheduled learning rate, not as rates at a constant batch.

        The law knows gamma, rate over batch size, alone, and so does the price, 1/gamma samples for each unit of
        intrinsic time: all have one excess risk and one cost. So nothing is left to search over rates and batches
        together, every split of the best gamma is their joint optimum. In single steps a larger batch leaves more
        noise than a smaller rate (claim batch-and-rate/steps).

        Parameters
        ----------
        learning_rate
            The rate, or the peak of the schedule, raised so that the steps are a whole number: by one part in so many.
        schedule, parameters
            A name that :func:`fsl_num.schedules.schedule` takes, and what it takes besides peak and steps.

        Returns
        -------
        Discrete
            Steps whose rates add up to the horizon, and their batch sizes: whole numbers that add up to the data.

        Raises ValueError for rates below gamma, where a batch would be below one sample, for one at which single steps
        diverge, or where there would be none of them or more than 10^7.

        >>> design = design_for_model(Model(s=0.3, beta=2.0, size=float("inf"), noise=1.0), 1e4, gamma=0.5)
        >>> batches = design.as_batches(0.5).batch_sizes
        >>> batches.min(), batches.sum(), bool(batches[-1] > 100 * batches[0])
        (np.float64(1.0), np.float64(10000.0), True)
        >>> falling = design.as_batches(1.5, "cosine", floor=0.5)
        >>> falling.batch_sizes.sum(), bool(np.ptp(falling.rates) > 0.9)
        (np.float64(10000.0), True)
        """
        return batches_at(
            positive("learning_rate", learning_rate), schedule, parameters, self.gammas, self.samples,
            2.0 / self.model.fastest,
        )  # fmt: skip

    def best_members(self) -> Mapping[str, float]:
        """Return for each family of shapes the excess risk of its best member, at its best peak: what its shape costs.

        A second or so: all members of a table are tried at all peaks, and the best is refined.

        >>> design = design_for_model(Model(s=1.0, beta=2.0, size=float("inf"), noise=1.0), 1e4)
        >>> members = design.best_members()
        >>> design.excess_risk < members["wsd"] < members["cosine"] < members["linear"]
        True
        """
        water = _ModelWater(self.model, self.data, self.allowed, falling=False)
        return {name: _best_member(water, family) for name, family in FAMILIES.items()}

    def under_volterra(self) -> VolterraOptimum:
        """Return the best gammas under the Volterra equation itself, whose risk feeds its own noise, and how far off
        the design is there; for the same data and bound, with rates that may rise. A second or so.

        Raises ValueError for a horizon outside [1, 1e6], and where the equation cannot be solved.

        >>> design = design_for_model(Model(s=0.5, beta=2.0, size=20, noise=1.0), 300.0)
        >>> design.under_volterra().excess_risk < 0.98 * design.under_volterra().of_design
        True
        """
        return under_volterra(self.model, self.gammas, self.samples, self.allowed)

    def as_dict(self) -> dict[str, Any]:
        """Return the design as JSON-ready values."""
        return {
            "compute": self.compute,
            "model_size": None if math.isinf(self.model.size) else int(self.model.size),
            "data": self.data,
            "gamma_max": self.allowed,
            "peak_gamma": self.peak,
            "final_gamma": float(self.gammas[-1]),
            "horizon": self.horizon,
            "stable_fraction": self.stable_fraction,
            "decay_shape": self.decay_shape,
            "excess_risk": self.excess_risk,
            "gap": self.gap,
            "baselines": {
                name: {"excess_risk": each, "ratio": each / self.excess_risk} for name, each in self.baselines.items()
            },
            "average": None
            if self.average is None
            else {**self.average.as_dict(), "ratio": self.average.excess_risk / self.excess_risk},
            "exponents": None if self.exponents is None else dict(self.exponents),
        }

    def to_json(self) -> str:
        """Return :meth:`as_dict` as JSON text."""
        return json.dumps(self.as_dict(), indent=1, allow_nan=False)

    def plot(self, ax: Any = None) -> Any:
        """Draw gamma against the samples that are left, and the largest allowed; return the axes (needs matplotlib)."""
        from fsl_num.design.pictures import draw_theory

        return draw_theory(self, ax)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{each:.4g}</td><td>{each / self.excess_risk:.3f}</td></tr>"
            for name, each in {"design": self.excess_risk, **self.baselines}.items()
        )
        grows = "".join(f"<li>{name} ~ budget^{each:.3g}</li>" for name, each in (self.exponents or {}).items())
        return (
            f"<h4>{html.escape(repr(self))}</h4><table><tr><th>schedule, at its best peak</th><th>excess risk</th>"
            f"<th>times</th></tr>{rows}</table><ul>{grows}</ul>"
        )


class _ModelWater(Water):
    """The functional law of a model in the place of a fitted one: K and e on a fine grid, interpolated."""

    def __init__(self, model: Model, data: float, gamma: float, falling: bool) -> None:
        self.p = self.unit = 1.0
        self.steps, self.low, self.high, self.falling = data, 0.0, gamma, falling  # type: ignore[assignment]
        self.passed, self.model, self.c = 0.0, model, 2.0
        self._never = model.approximation_error
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
        return 0.5 * (self._never + float(self._signal(horizon)))

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
    water = _water(model, data, gamma, falling)
    budget, top = water.steps, water.high
    _, nodes, spent, bound = filled(water, _shortest(water), _CLOSE, relative=True)
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


def _best_member(water: _ModelWater, family: Family) -> float:
    """The least excess risk over the members of a family and their peaks."""
    from scipy.optimize import minimize

    left = np.append(np.geomspace(1.0, _ENDS, _BLOCKS // 2), 0.0)
    ends = np.unique(np.concatenate([1.0 - left, np.linspace(0.0, 1.0, _BLOCKS // 2)]))
    middle, blocks = 0.5 * (ends[1:] + ends[:-1]), water.steps * np.diff(ends)
    low, high = np.array([(math.log(_LOWEST_PEAK), 0.0), *family.ranges.values()]).T

    def risk(point: Any) -> float:
        peak = water.high * math.exp(min(point[0], 0.0))
        shape = family.shape(middle, tuple(np.clip(point[1:], low[1:], high[1:])), _BLOCKS)
        return water.risk(peak * np.maximum(shape, 1e-12), blocks)

    peaks = np.linspace(low[0], 0.0, _PEAKS_OF_MEMBERS)
    best = min(((peak, *given) for given in family.tried for peak in peaks), key=risk)
    return float(minimize(risk, best, method="Nelder-Mead", bounds=list(zip(low, high, strict=True)),
                          options={"xatol": 1e-4, "fatol": 0.0, "maxfev": 400}).fun)  # fmt: skip


def best_gammas(
    model: Model, data: float, gamma: float | None = None, falling: bool = False
) -> tuple[float, Array, Array]:
    """Return the least excess risk, and gamma on blocks of samples in time order, with neither bound nor baselines.

    Arguments of :func:`design_for_model`.

    >>> risk, gammas, samples = best_gammas(Model(s=0.5, beta=2.0, size=100, noise=1.0), 1e4)
    >>> bool(gammas[0] > 100 * gammas[-1]), round(float(samples.sum()))
    (True, 10000)
    """
    water = _water(model, data, gamma, falling)
    risk, nodes, spent, _ = filled(water, _shortest(water), None)
    return risk, 1.0 / spent[::-1], (spent * np.diff(nodes))[::-1]


def _shortest(water: Water) -> float:
    """The least horizon that is tried, as a share of the longest: one that forgets nothing."""
    return min(_SHORTEST, 1.0 / (water.steps * water.high))


def _water(model: Model, data: float, gamma: float | None, falling: bool) -> _ModelWater:
    """The problem of a model, of a data budget and a largest gamma that can be trained."""
    return _ModelWater(model, *largest_gamma(model, data, gamma), falling)
