"""The search for the best parameters of a law: many starts on a thinned problem, the distinct ends on the whole one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.laws.base import Bound, Law
from fsl_num.curves.plan import Plan
from fsl_num.curves.solve import LOSSES, Chart, Minimum, Target, descend, linear_start
from fsl_num.validation import Array, positive

REDUCTIONS: Final = ("average", "thin")
"""What is done to curves of too many rows."""

_ROWS = 64  # of each curve in the search for starts
_COARSE_STEPS = 60
_SAME = 1.001  # objectives within a thousandth are the same minimum
_NEAR = 1.5  # starts that end above this many times the best are not followed on the whole problem
_FOLLOWED = 3


@dataclass(frozen=True)
class Settings:
    """How a law is fitted.

    ``loss``: "log-huber" (the paper's), "log-squares", "huber" or "squares". ``delta`` > 0: where the Huber function
    turns from square to straight, in its own residuals. ``horizon_weight`` >= 0: rows weigh (step/last step)^this.
    ``starts``: how many starts, at most those of the law. ``max_rows``: longer curves are brought to so many rows, as
    ``reduce`` says: "average" over ranges of updates (:mod:`~fsl_num.curves.averages`), or "thin": rows picked evenly.

    >>> Settings().delta
    0.001
    """

    loss: str = "log-huber"
    delta: float = 1e-3
    horizon_weight: float = 0.0
    starts: int = 10
    max_rows: int = 1000
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
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {self.loss!r}")
        if self.reduce not in REDUCTIONS:
            raise ValueError(f"reduce must be one of {', '.join(REDUCTIONS)}, got {self.reduce!r}")
        positive("delta", self.delta)
        positive("horizon_weight", self.horizon_weight, zero=True)
        for name, least in (("starts", 1), ("max_rows", 3)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
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
    rows = min(_ROWS, settings.max_rows) if coarse else settings.max_rows
    used = tuple(last_row(curve) if law.final_only else curve.thinned(rows) for curve in curves)
    plans = tuple(curve.plan for curve in used)
    weights = [
        (plan.recorded / plan.recorded[-1]) ** settings.horizon_weight * _shares(curve)
        for curve, plan in zip(used, plans, strict=True)
    ]
    target = Target(
        np.concatenate([curve.observed for curve in used]), np.concatenate(weights), settings.loss, settings.delta
    )
    chart = Chart(law, *law.bounds([curve.plan for curve in curves]))
    return Task(law, used, plans, law.bind(plans, "coarse" if coarse else "fit"), target, chart)


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
        ends.append(descend(thinned.bound, thinned.target, thinned.chart, full, _COARSE_STEPS))
    ends.sort(key=lambda end: end.objective)
    floor = max(ends[0].objective, 1e-300)
    same = [end for end in ends if end.objective <= _SAME * floor]
    charts = np.array([thinned.chart.forward(end.theta) for end in same])
    followed = [ends[0]]
    for end in ends[1:]:
        if len(followed) < _FOLLOWED and _SAME * followed[-1].objective < end.objective <= _NEAR * floor:
            followed.append(end)
    minima = [descend(whole.bound, whole.target, whole.chart, end.theta) for end in followed]
    best = min(minima, key=lambda end: end.objective)
    objectives = tuple(end.objective for end in ends)
    return Found(best, len(ends), len(same), objectives, float(np.ptp(charts, axis=0).max()))


def quick_fit(law: Law, curves: Sequence[LossCurve], settings: Settings, starts: Array | None = None) -> Array:
    """Return the best parameters alone, from some starts (default: the first two of the law).

    >>> from fsl_num.curves.laws import law
    >>> plan = Plan([0.1] * 40 + [0.01] * 40)
    >>> loss = law("momentum").predict(plan, [2.0, 0.5, 0.3, 0.5, 0.8])
    >>> curve = LossCurve(plan.recorded, loss, schedule=plan)
    >>> quick_fit(law("momentum"), [curve], Settings()).round(4).tolist()
    [2.0, 0.5, 0.3, 0.5, 0.8]
    """
    whole, thinned = (task(law, curves, settings, coarse=coarse) for coarse in (False, True))
    grid = law.start_grid(whole.plans)[: min(2, settings.starts)] if starts is None else starts
    return search(whole, thinned, grid).best.theta
