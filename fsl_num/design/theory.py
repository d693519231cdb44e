"""The best schedule of the functional scaling law of a model under a data budget: shape, peak and horizon together.

It is free, with a bound on every other schedule, or a member of a family, with what that costs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from fsl_num.design.averaged_schedule import AveragedSchedule, best_together
from fsl_num.design.averaging import Average, best_average
from fsl_num.design.batches import batches_at
from fsl_num.design.exponents import optimal_exponents
from fsl_num.design.families import BASELINES, FAMILIES, shape_words
from fsl_num.design.members import Members
from fsl_num.design.model_water import ModelWater, model_water
from fsl_num.design.under_volterra import VolterraOptimum, under_volterra
from fsl_num.design.water_filling import Water, filled
from fsl_num.model import Model
from fsl_num.results import Result, html_table
from fsl_num.schedules.discrete import Discrete
from fsl_num.validation import Array, flag, instance_of, one_of, positive

_SHORTEST: Final = 1e-9  # of the longest horizon, at most
_CLOSE: Final = 1e-3  # of the excess risk
_UNPROVED: Final = 0.1  # of the excess risk: a design that may lie so far above the best is none
_BLOCKS: Final = 2000
_PEAKS: Final = 40  # tried for each baseline


@dataclass(frozen=True, eq=False, repr=False)
class TheoryDesign(Result):
    """The best gamma over time for a ``model`` and ``data`` samples, with gamma at most ``allowed``.

    ``gammas`` of blocks in time order, the ``samples`` of each, the intrinsic time ``horizon``, the ``excess_risk``, by
    how much it may at most lie above that of any other schedule (``gap``), and of the usual shapes at their best peaks
    the excess risks (``baselines``). ``compute``: the budget where the model size was chosen too, else None. Of a
    member of a ``family`` its ``parameters`` by name, and the excess risk of the best ``free`` gamma; else None.

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
    family: str | None = None
    parameters: Mapping[str, float] | None = None
    free: float | None = None

    def __repr__(self) -> str:
        size = "" if self.compute is None else f"{self.model.size:g} features, "
        return f"TheoryDesign({size}{self.data:g} samples, excess risk {self.excess_risk:.4g})"

    @property
    def peak(self) -> float:
        """The largest gamma."""
        return float(self.gammas.max())

    @property
    def exponents(self) -> Mapping[str, float] | None:
        """With which power of the budget each quantity of the best schedule of all grows in the theory.

        None for a member of a family, and for a data budget of finite models. See
        :func:`~fsl_num.design.exponents.optimal_exponents`.
        """
        if self.family is not None or (self.compute is None and not math.isinf(self.model.size)):
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

        Raises
        ------
        ValueError
            For rates below gamma, where a batch would be below one sample, for one at which single steps diverge, or
            where there would be none of them or more than 10^7.

        Examples
        --------
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
        water = model_water(self.model, self.data, self.allowed)
        return {name: Members(water, family).best().excess_risk for name, family in FAMILIES.items()}

    def under_volterra(self) -> VolterraOptimum:
        """Return the best gammas under the Volterra equation itself, whose risk feeds its own noise, and how far off
        the design is there; for the same data and bound, with rates that may rise. A second or so.

        Raises ValueError for a horizon outside [1, 1e6], and where the equation cannot be solved.

        >>> design = design_for_model(Model(s=0.5, beta=2.0, size=20, noise=1.0), 300.0)
        >>> design.under_volterra().excess_risk < 0.98 * design.under_volterra().of_design
        True
        """
        return under_volterra(self.model, self.gammas, self.samples, self.allowed)

    def with_average(self) -> AveragedSchedule:
        """Return the best gammas and the best mean of the weights together, for the same data and bound. A second.

        No mean of any schedule is known to be better: it is the better end of two searches. Raises ValueError where the
        single modes of the model are below what floats hold.

        >>> design = design_for_model(Model(s=1.0, beta=2.0, size=20, noise=1.0), 1e3)
        >>> design.with_average().excess_risk < design.average.excess_risk < design.excess_risk
        True
        """
        return best_together(self.model, self.gammas, self.samples, self.allowed, self.average)

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
            "family": self.family,
            "parameters": None if self.parameters is None else dict(self.parameters),
            "excess_risk": self.excess_risk,
            "free_excess_risk": self.free,
            "gap": self.gap,
            "baselines": {
                name: {"excess_risk": risk, "ratio": risk / self.excess_risk} for name, risk in self.baselines.items()
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
        rows = [
            (name, f"{risk:.4g}", f"{risk / self.excess_risk:.3f}")
            for name, risk in {"design": self.excess_risk, **self.baselines}.items()
        ]
        grows = [f"{name} ~ budget^{exponent:.3g}" for name, exponent in (self.exponents or {}).items()]
        head = ("schedule, at its best peak", "excess risk", "times")
        return html_table(head, rows, title=repr(self), items=grows)


def design_for_model(
    model: Model, data: float, *, gamma: float | None = None, falling: bool = False, family: str | None = None
) -> TheoryDesign:
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
    family
        A name of :data:`~fsl_num.design.families.FAMILIES`, of which the best member is taken, in the place of the best
        gamma of all.

    Returns
    -------
    TheoryDesign
        Rates, horizon, excess risk and how the usual shapes compare, each at its best peak.

    Raises
    ------
    ValueError
        For a gamma at which training is unstable, an unknown family, and budgets or noise so large that nothing proves
        the design found to be within a tenth of the best.

    Notes
    -----
    Source: eqn: fsl, eqn: FSL-optimization.

    Examples
    --------
    >>> task = Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0)
    >>> found = design_for_model(task, 1e4)
    >>> 0.0 <= found.gap < 0.01 * found.excess_risk, min(found.baselines.values()) > found.excess_risk
    (True, True)
    >>> cosine = design_for_model(task, 1e4, family="cosine")
    >>> cosine.free == found.excess_risk < cosine.excess_risk <= cosine.free + cosine.gap
    True
    """
    instance_of("model", model, Model)
    water = model_water(model, data, gamma, flag("falling", falling))
    budget, top = water.steps, water.high
    _, nodes, spent, bound = filled(water, _shortest(water), lambda risk: _CLOSE * risk)
    gammas, samples = 1.0 / spent[::-1], (spent * np.diff(nodes))[::-1]
    risk = water.risk(gammas, samples)
    if risk - bound > _UNPROVED * risk:
        raise ValueError(
            f"no design is found for data={budget:g} and noise={model.noise:g}: the best one tried leaves {risk:.3g},"
            f" and another may leave {min(risk - bound, risk):.3g} less, for floating-point numbers resolve the law no"
            " further; ask for fewer samples, or less noise"
        )
    blocks, gone = np.full(_BLOCKS, budget / _BLOCKS), np.arange(_BLOCKS) / _BLOCKS
    shapes = {name: FAMILIES[key].shape(gone, choices, budget) for name, (key, choices) in BASELINES.items()}
    peaks = top * np.geomspace(1e-6, 1.0, _PEAKS)
    baselines = {
        name: min(water.risk(np.maximum(peak * shape_of, 1e-12 * peak), blocks) for peak in peaks)
        for name, shape_of in shapes.items()
    }
    design = TheoryDesign(
        model, budget, top, gammas, samples, float(nodes[-1]), risk, max(risk - bound, 0.0), baselines
    )
    if family is None:
        return design
    member = _members(water, family).best()
    return replace(
        design, gammas=member.gammas, samples=member.samples, horizon=float(member.gammas @ member.samples),
        excess_risk=member.excess_risk, gap=max(member.excess_risk - bound, 0.0), family=family,
        parameters=member.parameters, free=risk,
    )  # fmt: skip


def _members(water: ModelWater, family: str) -> Members:
    unknown = f"there is no family {family!r}; choose {', '.join(FAMILIES)}"
    return Members(water, FAMILIES[one_of("family", family, FAMILIES, unknown)])


def least_risk(
    model: Model, data: float, gamma: float | None = None, falling: bool = False, family: str | None = None
) -> float:
    """Return the excess risk of a design, with neither bound nor baselines.

    Arguments of :func:`design_for_model`.

    >>> task = Model(s=0.5, beta=2.0, size=100, noise=1.0)
    >>> least_risk(task, 1e4) < least_risk(task, 1e4, family="linear")
    True
    """
    if family is None:
        return best_gammas(model, data, gamma, falling)[0]
    return _members(model_water(model, data, gamma, falling), family).best().excess_risk


def best_gammas(
    model: Model, data: float, gamma: float | None = None, falling: bool = False
) -> tuple[float, Array, Array]:
    """Return the least excess risk, and gamma on blocks of samples in time order, with neither bound nor baselines.

    Arguments of :func:`design_for_model`.

    >>> risk, gammas, samples = best_gammas(Model(s=0.5, beta=2.0, size=100, noise=1.0), 1e4)
    >>> bool(gammas[0] > 100 * gammas[-1]), round(float(samples.sum()))
    (True, 10000)
    """
    water = model_water(model, data, gamma, falling)
    risk, nodes, spent, _ = filled(water, _shortest(water), None)
    return risk, 1.0 / spent[::-1], (spent * np.diff(nodes))[::-1]


def _shortest(water: Water) -> float:
    """The least horizon that is tried, as a share of the longest: one that forgets nothing."""
    return min(_SHORTEST, 1.0 / (water.steps * water.high))
