"""What the curves tell of each parameter, and what they do not: in numbers and in plain words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from fsl_num.curves.laws.base import Law
from fsl_num.curves.laws.chart import Chart
from fsl_num.curves.search import Found, Task
from fsl_num.curves.sizes import sizes_of, unidentified, unidentified_words
from fsl_num.curves.solve import descend
from fsl_num.results import Result
from fsl_num.validation import Array

ILL: Final = 1e4
"""A condition number above this means that a direction of the parameters is not identifiable from the curves."""

_WIDE = math.log(3.0)  # a 90 % interval of a positive parameter wider than a factor of 9 is no knowledge of it
_EDGE = 1e-6
_AGAINST_THE_THEORY: Final = MappingProxyType(
    {
        "gamma": "gamma is 1 or more: a power law of the theory has gamma = 1 - 1/beta < 1, so that this memory is"
        " closer to an exponential one and says nothing of beta.",
        "p": "p is above 1, the value at small rates: at finite rates the noise grows faster than the rate.",
    }
)
_SHARE = 0.05  # of the direction that the curves do not see: a parameter with more of it is not read


@dataclass(frozen=True, eq=False)
class Identifiability(Result):
    """How well the curves determine the parameters.

    ``condition``: condition number of the weighted Jacobian with columns of norm 1, inf where parameters do not act at
    all and nothing is expected of them. ``weakest``: the share of each parameter in the direction identified worst.
    ``on_bounds``: parameters at a bound. ``intervals``: for each parameter the 5 % and 95 % points of the draws.
    ``sentences``: all that in words. ``unidentified``: parameters of the model size that too few sizes identify; the
    condition number leaves them out.

    >>> Identifiability(10.0, {}, (), {}, ("all said",)).sentences
    ('all said',)
    """

    condition: float
    weakest: Mapping[str, float]
    on_bounds: tuple[str, ...]
    intervals: Mapping[str, tuple[float, float]]
    sentences: tuple[str, ...]
    unidentified: tuple[str, ...] = ()


def identifiability(task: Task, theta: Array, search: Found, samples: Array) -> Identifiability:
    """Return what is known of the parameters ``theta`` of a fit, from its Jacobian, its starts and draws of them."""
    names = task.law.names
    values, jacobian = task.bound(theta)
    weight = np.sqrt(task.target.influence(task.target.residual(values)))
    slopes = jacobian * (weight * task.target.slope(values))[:, None]
    u = task.chart.forward(theta)
    slopes = slopes @ task.chart.slopes(u)
    width = np.maximum(1.0, np.abs(u))
    low = np.isfinite(task.chart.low) & (u - task.chart.low <= _EDGE * width)
    high = np.isfinite(task.chart.high) & (task.chart.high - u <= _EDGE * width)
    on_bounds = tuple(name for name, touches in zip(names, low | high, strict=True) if touches)
    free = ~(low | high)
    size_term = unidentified(task.law, task.plans)
    # with two levels L0 and D stand for them, with one L0 alone
    for name in size_term[2 if len(sizes_of(task.plans)) == 2 else 1 :]:
        free[names.index(name)] = False
    norms = np.linalg.norm(slopes, axis=0)
    silent = (norms == 0.0) & np.isfinite(task.chart.width)  # what is expected of them stands
    free &= ~silent
    condition, weakest = math.inf, {}
    if free.any() and (norms[free] > 0.0).all():
        _, singular, directions = np.linalg.svd(slopes[:, free] / norms[free], full_matrices=False)
        condition = float(singular[0] / singular[-1]) if singular[-1] > 0.0 else math.inf
        free_names = [name for name, is_free in zip(names, free, strict=True) if is_free]
        weakest = {name: float(part) for name, part in zip(free_names, np.abs(directions[-1]), strict=True)}
    points = np.quantile(samples, [0.05, 0.95], axis=0)
    intervals = {name: (float(a), float(b)) for name, a, b in zip(names, *points, strict=True)}
    sentences = _words(task.law, theta, condition, weakest, on_bounds, intervals, search, size_term)
    if silent.any():
        shown = ", ".join(name for name, is_silent in zip(names, silent, strict=True) if is_silent)
        sentences += (f"Of {shown} the curves say nothing, alike in what these act on: what is expected stands.",)
    if size_term:
        sentences += (unidentified_words(task.law, task.plans, theta),)
    return Identifiability(
        condition, MappingProxyType(weakest), on_bounds, MappingProxyType(intervals), sentences, size_term
    )


def _words(
    law: Law,
    theta: Array,
    condition: float,
    weakest: Mapping[str, float],
    on_bounds: tuple[str, ...],
    intervals: Mapping[str, tuple[float, float]],
    search: Found,
    size_term: tuple[str, ...],
) -> tuple[str, ...]:
    said = []
    if search.starts > 1:
        said.append(f"{search.agreed} of {search.starts} starts end at the same minimum.")
        if 2 * search.agreed < search.starts:
            said.append("Most starts end elsewhere: more starts, more curves or a simpler law would make it surer.")
        if search.agreed > 1 and search.scatter > 0.1 and not size_term:
            said.append("Starts with equally good ends have different parameters: the curves do not separate them.")
    values = dict(zip(law.names, theta, strict=True))
    for name in on_bounds:
        if law.parameters[law.names.index(name)].linear and values[name] == 0.0:
            said.append(f"{name} is at its bound 0: the curves show nothing of its term.")
        else:
            said.append(f"{name} is at its bound {values[name]:.4g}: the curves do not determine it.")
    said += [words for name, words in _AGAINST_THE_THEORY.items() if name in values and intervals[name][0] >= 1.0]
    if condition > ILL:
        together = [name for name, share in sorted(weakest.items(), key=lambda entry: -entry[1]) if share > 0.3]
        said.append(
            f"The curves do not separate {' and '.join(together) or 'the parameters'}"
            f" (condition number {condition:.2g}): trust the predictions near the data, not these numbers."
        )
    for parameter in law.parameters:
        low, high = intervals[parameter.name]
        if parameter.scale == "log" and parameter.name not in (*on_bounds, *size_term) and low > 0.0:
            if 0.5 * math.log(high / low) > _WIDE:
                said.append(f"{parameter.name} is known only to lie between {low:.3g} and {high:.3g}.")
    if not any("not" in line or "known only" in line or "elsewhere" in line for line in said):
        subject = "All other parameters" if size_term else "All parameters"
        said.append(f"{subject} are determined by the curves (condition number {condition:.2g}).")
    return tuple(said)


@dataclass(frozen=True)
class TaskReading:
    """The exponents of the theory as far as the curves tell them.

    ``s``, ``beta``: 90 % intervals, None where they are not identifiable. ``regime``: "hard" (s < 1 - 1/beta), "easy"
    (s > 1 - 1/beta), or "cannot be identified from these curves". ``sentence``: the same in words.

    >>> TaskReading((0.4, 0.5), None, "hard", "hard").regime
    'hard'
    """

    s: tuple[float, float] | None
    beta: tuple[float, float] | None
    regime: str
    sentence: str


def read_task(law: Law, samples: Array | None, report: Identifiability) -> TaskReading:
    """Return intervals of s and of beta = 1/(1 - gamma), and the learning regime, from draws of the parameters."""
    unknown = "cannot be identified from these curves"
    if "s" not in law.names or "gamma" not in law.names:
        return TaskReading(
            None, None, unknown, f"The law {law.name} has no exponents s and beta: the regime {unknown}."
        )
    if samples is None:
        return TaskReading(None, None, unknown, f"Without intervals the regime {unknown}.")
    s, gamma = (tuple(np.quantile(samples[:, law.names.index(name)], [0.05, 0.95])) for name in ("s", "gamma"))
    vague = set(report.on_bounds)
    if report.condition > ILL:  # draws near a minimum do not wander along what the curves do not see
        vague |= {name for name in law.names if report.weakest.get(name, 1.0) > _SHARE}
    s_range = None if "s" in vague or s[1] > 9.0 * s[0] else s
    beta_range = None
    if "gamma" not in vague and gamma[1] < 1.0 and gamma[1] < 9.0 * gamma[0]:
        beta_range = (1.0 / (1.0 - gamma[0]), 1.0 / (1.0 - gamma[1]))
    regime = unknown
    if s_range is not None and "gamma" not in vague:
        if s[1] < min(gamma[0], 1.0):
            regime = "hard"
        elif s[0] > min(gamma[1], 1.0):
            regime = "easy"
    parts = [
        f"s lies in [{s[0]:.2f}, {s[1]:.2f}]" if s_range else f"s {unknown}",
        f"beta lies in [{beta_range[0]:.2f}, {beta_range[1]:.2f}]" if beta_range else f"beta {unknown}",
        f"the regime {unknown}" if regime == unknown else f"the task is {regime}",
    ]
    return TaskReading(s_range, beta_range, regime, "; ".join(parts) + ".")


def profile(task: Task, theta: Array, name: str, values: Array) -> Array:
    """Return the least objective with the parameter ``name`` held at each of ``values``: its profile likelihood.

    Neighbouring values start from each other's ends. Objectives are those of the curves alone, whatever is expected of
    the parameters; where the profile is flat the curves do not identify the parameter.

    >>> from fsl_num.curves.curve import LossCurve
    >>> from fsl_num.curves.laws import law
    >>> from fsl_num.curves.plan import Plan
    >>> from fsl_num.curves.search import Settings
    >>> from fsl_num.curves.search import task as bound_task
    >>> plan, momentum = Plan([0.1] * 40 + [0.01] * 40), law("momentum")
    >>> best = np.array([2.0, 0.5, 0.3, 0.5, 0.8])
    >>> curve = LossCurve(plan.recorded, momentum.predict(plan, best), schedule=plan)
    >>> found = profile(bound_task(momentum, [curve], Settings()), best, "decay", np.array([0.7, 0.8]))
    >>> bool(found[1] < 1e-12 < found[0])
    True
    """
    place = task.law.names.index(name)
    chart = Chart(task.law.parameters, *task.law.bounds(task.plans))
    order = np.argsort(np.abs(values - theta[place]))
    reached: dict[int, Array] = {}
    objectives = np.empty(len(values))
    for index in order:
        near = min(reached, key=lambda place: abs(values[place] - values[index]), default=None)
        start = np.array(theta if near is None else reached[near])
        start[place] = values[index]
        end = descend(task.bound, task.target, chart, start, fixed=[place])
        reached[int(index)], objectives[index] = end.theta, end.objective
    return objectives
