"""The search for the best parameters of a law: many starts on a thinned problem, the distinct ends on the whole one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.laws.base import Bound, Law
from fsl_num.curves.laws.chart import Chart
from fsl_num.curves.plan import Plan
from fsl_num.curves.score import residual_spread
from fsl_num.curves.solve import LOSSES, Minimum, Pull, Target, descend, linear_start
from fsl_num.validation import Array, one_of, positive

REDUCTIONS: Final = ("average", "thin")
"""What is done to curves of too many rows."""

_ROWS = 64  # of each curve in the search for starts, and for what it leaves open
_ROWS_OF_ALL = 3200  # beyond, fewer of each: the covariance of all takes memory as their square
_COARSE_STEPS = 60
_SAME = 1.001  # objectives within a thousandth are the same minimum
_NEAR = 1.5  # starts that end above this many times the best are not followed on the whole problem
_FOLLOWED = 3
_TURNS = 3
_FADING = 4
_TURN_STEPS = 30
_OUTLYING, _STEADY = 4.0, np.array([1e-3, 0.01, 0.03, 0.1, 0.3, 1.0])
_UNCORRELATED = 0.05
_EXACT = 2e-5  # of log loss: by so much merging the steps moves the law
FOLLOWED: Final = 6e-7
"""The variance of log loss, over the number of curves, that parameters may follow of the misfit of a law: (.08 %)^2."""
GUESS: Final = 1e-5
"""The dispersion before any residual is known: errors of a thousandth that ten rows share."""


@dataclass(frozen=True)
class Settings:
    """How a law is fitted.

    ``loss``: "log-huber" (the paper's), "log-squares", "huber" or "squares". ``delta`` > 0: where the Huber function
    turns from square to straight, in its own residuals. ``early`` in [0, 1): rows before this share of the intrinsic
    time of their curve weigh less, with its fourth power; by default as the law says, of which most err there whatever
    their parameters.
    ``prior_width`` > 0: by how much to widen what is expected of the parameters (inf: expect nothing).
    ``starts``: how many starts, at most those of the law. ``max_rows``: longer curves are brought to so many rows, as
    ``reduce`` says: "average" over ranges of updates (:mod:`~fsl_num.curves.averages`), or "thin": rows picked evenly.

    >>> Settings().delta
    0.001
    """

    loss: str = "log-huber"
    delta: float = 1e-3
    early: float | None = None
    prior_width: float = 1.0
    starts: int = 3
    max_rows: int = 200
    reduce: str = "average"

    def reduced(self, curve: LossCurve) -> LossCurve:
        """Return the curve with at most ``max_rows`` rows.

        >>> Settings(max_rows=16).reduced(LossCurve(range(1, 99), [3.0] * 98, lr=[0.1] * 98)).counts.sum()
        np.float64(98.0)
        """
        if curve.plan.recorded.size <= self.max_rows:
            return curve
        return curve.averaged(self.max_rows) if self.reduce == "average" else curve.thinned(self.max_rows)

    def __post_init__(self) -> None:
        one_of("loss", self.loss, LOSSES)
        one_of("reduce", self.reduce, REDUCTIONS)
        positive("delta", self.delta)
        if self.early is not None and not positive("early", self.early, zero=True) < 1.0:
            raise ValueError(f"early must lie in [0, 1), as in 0.08, got {self.early!r}")
        if self.prior_width != float("inf"):
            positive("prior_width", self.prior_width)
        for name, least in (("starts", 1), ("max_rows", 3)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


@dataclass(frozen=True, eq=False)
class Task:
    """A law bound to curves, with what is to be minimised."""

    law: Law
    curves: tuple[LossCurve, ...]
    plans: tuple[Plan, ...]
    bound: Bound
    target: Target
    chart: Chart
    widening: float = 1.0

    def counted(self, theta: Array) -> float:
        """Return how much of its weight a row keeps in the mean: less than 1 where residuals exceed delta."""
        residual = self.target.residual(self.bound.losses(theta))
        return float(self.target.influence(residual).sum() / self.target.weights.sum())

    def pull(self, dispersion: float) -> Pull:
        """Return what is expected of the coordinates, in units of the objective.

        ``dispersion``: the variance of a row's residual, times how many rows say as much as one independent row.
        """
        return Pull(self.chart.centre, dispersion / (self.widening * self.chart.width) ** 2)


def last_row(curve: LossCurve) -> LossCurve:
    """Return the curve with its last row alone, for laws of final losses.

    >>> last_row(LossCurve([1, 2], [3.0, 2.5], lr=[0.1, 0.1])).step.tolist()
    [2]
    """
    return curve.keep([len(curve) - 1])


def task(law: Law, curves: Sequence[LossCurve], settings: Settings, *, coarse: bool = False) -> Task:
    """Return the law bound to the rows of the curves that count; ``coarse``: to few of them, with steps merged.

    >>> from fsl_num.curves.laws import law
    >>> curve = LossCurve([100, 200], [3.0, 2.5], lr=[0.1, 0.1])
    >>> task(law("momentum"), [curve], Settings()).target.observed.tolist()
    [3.0, 2.5]
    """
    rows = settings.max_rows
    if coarse:
        rows = min(_ROWS, rows, max(_ROWS_OF_ALL // len(curves), 3))
    used = tuple(last_row(curve) if law.final_only else curve.thinned(rows) for curve in curves)
    plans = tuple(curve.plan for curve in used)
    early = law.late if settings.early is None else settings.early
    weights = [_shares(curve) * _lateness(curve.plan, early) for curve in used]
    target = Target(
        np.concatenate([curve.observed for curve in used]), np.concatenate(weights), settings.loss, settings.delta
    )
    level = float(np.median([curve.observed[-1] for curve in curves]))
    chart = law.chart([curve.plan for curve in curves], level)
    return Task(law, used, plans, law.bind(plans, "coarse" if coarse else "fit"), target, chart, settings.prior_width)


def _lateness(plan: Plan, early: float) -> Array:
    """The weights of rows by their intrinsic time, see Settings."""
    if early == 0.0:
        return np.ones(plan.recorded.size)
    return np.asarray(np.minimum(1.0, plan.intrinsic_time / (early * plan.times[-1])) ** _FADING)


def _shares(curve: LossCurve) -> Array:
    """The weights of rows that are averages: by how many losses, 1 in the mean; a long log counts as max_rows rows."""
    if curve.counts is None:
        return np.ones(curve.plan.recorded.size)
    counts = curve.counts[curve.used]
    return np.asarray(counts / counts.mean())


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found: the best minimum, how many starts there were, how many ended there, and the objectives.

    ``objectives``: of all starts on the thinned problem, the best first. ``scatter``: the largest difference of any
    parameter, in its fitting scale, among the starts that ended within a thousandth of the best objective.
    """

    best: Minimum
    starts: int
    agreed: int
    objectives: tuple[float, ...]
    scatter: float


def search(whole: Task, thinned: Task, starts: Any) -> Found:
    """Return the best of the minima that the starts reach.

    ``starts``: nonlinear parameters, shape (starts, nonlinear), or whole vectors of parameters.
    """
    ends: list[Minimum] = []
    for start in np.atleast_2d(starts):
        full = start if start.size == len(whole.law.parameters) else linear_start(thinned.bound, start, thinned.target)
        ends.append(
            descend(thinned.bound, thinned.target, thinned.chart, full, _COARSE_STEPS, pull=thinned.pull(GUESS))
        )
    ends.sort(key=lambda end: end.objective)
    floor = max(ends[0].objective, 1e-300)
    same = [end for end in ends if end.objective <= _SAME * floor]
    charts = np.array([thinned.chart.forward(end.theta) for end in same])
    followed = [ends[0]]
    for end in ends[1:]:
        if len(followed) < _FOLLOWED and _SAME * followed[-1].objective < end.objective <= _NEAR * floor:
            followed.append(end)
    minima = [settle(whole, end.theta) for end in followed]
    best = _least(whole, minima) if len(minima) > 1 else minima[0]
    objectives = tuple(end.objective for end in ends)
    return Found(best, len(ends), len(same), objectives, float(np.ptp(charts, axis=0).max()))


def _least(whole: Task, minima: Sequence[Minimum]) -> Minimum:
    """The best of minima, with what is expected weighing the same in all: each settled beside residuals of its own."""
    pull = whole.pull(min(_spread(whole, end.theta) for end in minima))

    def objective(end: Minimum) -> float:
        return whole.target.objective(whole.bound.losses(end.theta)) + pull.energy(whole.chart.forward(end.theta))

    return min(minima, key=objective)


def _spread(whole: Task, theta: Array) -> float:
    """The variance of a row's residual there, times how many rows say as much as one independent row."""
    return Residuals.of(whole, theta).dispersion * whole.counted(theta)


def settle(whole: Task, start: Array) -> Minimum:
    """Return the minimum near ``start``; what is expected weighs against the residuals of the fit itself.

    How much these residuals say depends on the fit, and the fit on it: in turns, until neither moves.
    """
    minimum = descend(whole.bound, whole.target, whole.chart, start, _TURN_STEPS, pull=whole.pull(GUESS))
    if np.isinf(whole.chart.width).all():
        return minimum
    for _ in range(_TURNS):
        pull = whole.pull(_spread(whole, minimum.theta))
        minimum = descend(whole.bound, whole.target, whole.chart, minimum.theta, _TURN_STEPS, pull=pull)
    return minimum


@dataclass(frozen=True)
class Residuals:
    """What the residuals of a fit say: the ``noise`` of a row (of log loss), and how many rows are independent.

    ``seeds``: the variance of log loss by which runs that were trained alike differ as a whole, 0 where none were.
    ``turbulence``: the variance of log loss by which rows scatter from one to the next, over the learning rate;
    ``steady``: the share of it, at the peak, that does not fall with the rate; ``carried``, in [0, 1): the correlation
    of the scatter of neighbouring rows.

    >>> Residuals(1e-3, 50.0, 200).dispersion
    4.6e-06
    """

    noise: float
    effective: float
    rows: int
    curves: int = 1
    seeds: float = 0.0
    turbulence: float = 0.0
    steady: float = 0.0
    carried: float = 0.0

    @property
    def dispersion(self) -> float:
        """The variance of a residual, times how many rows say as much as one independent row.

        With what parameters have followed of what the law misses, which residuals do not show: most with a single run.
        """
        return self.noise**2 * self.rows / self.effective + FOLLOWED / self.curves

    @staticmethod
    def of(task: Task, theta: Array, seeds: float = 0.0) -> Residuals:
        """Return what the residuals of a law with the parameters ``theta`` say, curve by curve."""
        values = task.bound.losses(theta)
        off = np.log(task.target.observed) - np.log(np.maximum(values, 1e-300))
        residual = off * np.sqrt(task.target.weights)
        ends = np.cumsum([plan.recorded.size for plan in task.plans])[:-1]
        effective = sum(independent_rows(part) for part in np.split(residual, ends))
        noise = max(residual_spread(residual), _EXACT)
        rough, steady = scattering(np.split(off, ends), task.plans)
        rough = max(rough, _EXACT**2 / max(plan.peak for plan in task.plans))
        return Residuals(noise, effective, residual.size, len(task.plans), seeds, rough, steady)

    def rates(self, plan: Plan) -> Array:
        """Return the learning rate of the last update before each recorded row, with the steady share of the peak.

        >>> Residuals(1e-3, 9, 9, steady=0.5).rates(Plan([0.1, 0.0], [1, 2])).round(3).tolist()
        [0.1, 0.05]
        """
        last = plan.rates[np.maximum(plan.recorded - 1, 0)]
        return np.asarray(self.steady * plan.peak + (1.0 - self.steady) * last)


def scattering(residuals: Sequence[Array], plans: Sequence[Plan]) -> tuple[float, float]:
    """Return ``turbulence`` and ``steady`` of :class:`Residuals`, from differences of neighbouring rows.

    >>> stream, plan = np.random.default_rng(0), Plan(np.linspace(1.0, 0.01, 9000))
    >>> noise = stream.normal(size=9000)
    >>> [round(size, 3) for size in scattering([0.1 * np.sqrt(plan.rates) * noise], [plan])]
    [0.01, 0.001]
    >>> [round(size, 3) for size in scattering([0.1 * noise], [plan])]
    [0.01, 1.0]
    """
    fits = []
    for steady in _STEADY:
        squares, logs = [], 0.0
        for residual, plan in zip(residuals, plans, strict=True):
            rates = Residuals(0.0, 1.0, 1, steady=steady).rates(plan)
            apart = np.diff(residual / np.sqrt(rates))
            squares.append(0.5 * clipped(apart) ** 2)
            logs += 0.5 * float(np.log(rates[1:]).sum())
        variance = max(float(np.concatenate(squares).mean()), 1e-300) if sum(map(len, squares)) else 1e-300
        fits.append((variance, logs + 0.5 * sum(map(len, squares)) * math.log(variance)))
    variances, costs = np.array(fits).T
    steady = float(np.exp(costs.min() - costs) @ _STEADY / np.exp(costs.min() - costs).sum())
    return float(np.interp(steady, _STEADY, variances)), steady


def clipped(values: Array) -> Array:
    """Return numbers about 0, those that lie further off than four standard deviations brought there.

    The deviation is that of normal numbers with the same median distance from 0.

    >>> clipped(np.array([1.0, -1.0, 1.0, 50.0])).round(2).tolist()
    [1.0, -1.0, 1.0, 5.93]
    """
    far = _OUTLYING * 1.4826 * float(np.median(np.abs(values))) if values.size else 0.0
    return np.clip(values, -far, far)


def independent_rows(residual: Array) -> float:
    """Return how many independent residuals say as much as these, from the sum of their autocorrelations.

    >>> independent_rows(np.ones(50)) < 2 < 25 < independent_rows(np.resize([1.0, -1.0, -1.0, 1.0], 50))
    True
    """
    power, total = float(residual @ residual), 1.0
    if power == 0.0:
        return float(residual.size)
    for lag in range(1, residual.size // 2):
        correlation = float(residual[lag:] @ residual[:-lag]) / power
        if correlation <= _UNCORRELATED:
            break
        total += 2.0 * correlation
    return max(residual.size / total, 1.0)
