"""What to train under a budget: peak rate, model size, data, batch, schedule and decay, and what each rests on.

The exponents are those of the optimal allocation, derived from the law of a theorem. The constants come from the same
law with all its constants 1, minimised at the budget itself, or, where runs are at hand, from the law fitted to them.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rich.text import Text
from sympy import lambdify

from fsl_num.curves.plan import Plan
from fsl_num.minimise import minimise_law, near_optimal_intervals
from fsl_num.paper.allocation.numeric_laws import BudgetedLaw
from fsl_num.report.allocations import LABELS
from fsl_num.report.tables import table
from fsl_num.results import Result
from fsl_num.schedules import step_rates
from fsl_num.validation import Array, positive
from fsl_sym.allocation import Allocation, AllocationRegime, optimal_allocation
from fsl_sym.laws import SCHEDULES
from fsl_sym.order import Order, OrderRange
from fsl_sym.symbols import beta as beta_symbol
from fsl_sym.symbols import s as s_symbol

if TYPE_CHECKING:
    from fsl_num.curves.result import FitResult

WITHIN: Final = 1.1
"""Choices whose loss comes within this factor of the least are as good: they make the interval."""

_BASIS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "excess_risk": "the least value of the law of {label} under the budget",
        "peak_lr": "where the noise that the schedule leaves balances the signal that is left, in the law of {label}",
        "model_size": "where the approximation error M^(-s beta) falls to the rest of the law of {label}",
        "data_size": "what the model size leaves of the budget, in the law of {label}",
        "decay_fraction": "long enough to forget the noise of the stable phase, by the law of {label}",
        "steps": "the law of {label} depends on the batch size through the effective rate alone: one sample a step",
        "batch_size": "the law of {label} is the same up to the batch at which the peak rate itself reaches 1",
    }
)
_TITLES: Final = {**{name: title for name, (title, _) in LABELS.items()}, "loss": "final loss"}
_FRACTIONS: Final = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_AT_BOUND: Final = 0.99
_PEAKS: Final = 5
_SIZES: Final = 17
_SHORTEST: Final = 10  # updates behind the warmup


@dataclass(frozen=True)
class Recommendation:
    """One quantity: its ``value``, the interval [low, high] (inf where nothing bounds it), and what it rests on.

    ``order``: how it grows with the budget, in words, "" where the theory says nothing of it; ``constant``: the value
    over that growth, with its own interval, None where the order is a range. ``basis``: one sentence.

    >>> Recommendation("model_size", 10.0, 8.0, 12.0, "", None, "").value
    10.0
    """

    name: str
    value: float
    low: float
    high: float
    order: str
    constant: tuple[float, float, float] | None
    basis: str


@dataclass(frozen=True, eq=False)
class TrainingPlan(Result):
    """What to train: the ``schedule``, and a :class:`Recommendation` for each quantity, by name.

    ``budget``: "data" or "compute"; ``amount``: how much of it. ``regime``: easy, edge or hard, or why it is not known.
    ``losses``: what each schedule would reach, by name. ``notes``: what else to know.
    """

    budget: str
    amount: float
    schedule: str
    regime: str
    recommendations: tuple[Recommendation, ...]
    losses: Mapping[str, float]
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Recommendation:
        """The recommendation of that name; KeyError where there is none."""
        for each in self.recommendations:
            if each.name == name:
                return each
        raise KeyError(f"{name!r} is none of {', '.join(each.name for each in self.recommendations)}")

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{_TITLES[each.name]}</td><td>{each.value:.3g}</td><td>{_range(each)}</td>"
            f"<td>{html.escape(each.order)}</td><td>{html.escape(each.basis)}</td></tr>"
            for each in self.recommendations
        )
        return f"<h4>{html.escape(self.schedule)}, {self.budget} {self.amount:.3g}</h4><table>{rows}</table>"


def plan_run(
    *, data: Any = None, compute: Any = None, s: Any = None, beta: Any = None, noise: Any = 1.0, schedule: Any = None
) -> TrainingPlan:
    """Return what to train under a budget, for a task of which s and beta are known.

    ``data``: the samples D, or ``compute``: C = M D, one of the two, above 2. ``s``, ``beta``: exact (whole numbers,
    Fractions, or text such as "1/2"). ``noise``: the variance of the labels, positive. ``schedule``: one of those with
    a law ("constant", "exp-decay", "wsd"); by default the one whose law has the least value.

    The peak is the effective one, learning rate over batch size. The values minimise the law of the schedule's theorem
    with its constants 1: they show how the quantities balance, not what they are for another task with the same s and
    beta; the intervals are where the loss stays within 1.1 of the least. Source: Table 1, derived.

    Raises ValueError where no choice meets the law's conditions, or the budget is none, and what the exponents raise.

    >>> found = plan_run(data=10**9, s="1/2", beta=4)
    >>> found.schedule, found.regime, found["decay_fraction"].order
    ('wsd', 'hard', 'from D^(-1/3) (log D) to 1')
    """
    if (data is None) == (compute is None):
        raise ValueError("give one budget: data=, the samples D, or compute=, model size times samples")
    budget, amount = ("data", data) if compute is None else ("compute", compute)
    size, variance = positive(budget, amount), positive("noise", noise)
    if size <= 2.0:
        raise ValueError(
            f"a {budget} budget of {size:g} is below two steps of batch size 1 (and one feature): raise it"
        )
    chosen = SCHEDULES if schedule is None else (schedule,)
    allocations = {name: optimal_allocation(name, budget) for name in chosen}
    regimes = {name: allocation.at(s, beta) for name, allocation in allocations.items()}
    point = float(Fraction(str(s))), float(Fraction(str(beta)))
    minima = {}
    for name in chosen:
        law = BudgetedLaw(name, budget, *point, math.log(size), noise=variance)
        minima[name] = law, minimise_law(law.log_risk, law.bounds, log_budget=law.log_budget)
    losses = {name: math.exp(minimum.log_value) for name, (_, minimum) in minima.items()}
    best = min(losses, key=lambda name: losses[name])
    if not math.isfinite(losses[best]):
        raise ValueError(
            f"a {budget} budget of {size:g} is too small: no peak rate up to 1 lets the intrinsic time of"
            f" {' or '.join(chosen)} reach 1, which the law of {allocations[best].law.label} needs"
        )
    law, minimum = minima[best]
    intervals = near_optimal_intervals(
        law.log_risk, law.bounds, log_budget=law.log_budget, factor=WITHIN, optimum=minimum
    )
    found: dict[str, tuple[float, float, float]] = {"excess_risk": (losses[best], losses[best], WITHIN * losses[best])}
    for name, at, ends in zip(law.variables, minimum.log_point, intervals, strict=True):
        low, high = _power_of_e(ends.log_low), _power_of_e(ends.log_high)
        value = _power_of_e(float(at))
        if budget == "data" and name == "model_size":  # more never harms: the least that suffices
            value, high = low, math.inf
        found[name] = value, low, high
    if budget == "compute":
        value, low, high = found["model_size"]
        found["data_size"] = size / value, size / high, size / low
    else:
        found["data_size"] = size, size, size
    samples = found["data_size"][0]
    largest = max(1.0 / found["peak_lr"][0], 1.0)
    found["steps"] = samples, max(samples / largest, 1.0), samples
    found["batch_size"] = 1.0, 1.0, largest
    recommended = [
        _recommended(name, found[name], regimes[best], allocations[best], size) for name in LABELS if name in found
    ]
    notes = ("Values with all constants of the law 1; the exponents hold whatever the constants are.",)
    return TrainingPlan(budget, size, best, regimes[best].name, tuple(recommended), MappingProxyType(losses), notes)


def _power_of_e(exponent: float) -> float:
    """e to a power, inf beyond the floats."""
    return math.exp(exponent) if exponent < 709.0 else math.inf


def _recommended(
    name: str, found: tuple[float, float, float], regime: AllocationRegime, allocation: Allocation, size: float
) -> Recommendation:
    order = regime.quantities.get(name)
    words = order.as_text(allocation.base) if order is not None else ""
    constant = _constant(found, order, size)
    at_bound = name == "peak_lr" and found[0] > _AT_BOUND
    basis = "the largest that stability allows in the law of {label}: a peak rate of 1" if at_bound else _BASIS[name]
    return Recommendation(name, *found, words, constant, basis.format(label=allocation.law.label))


def _constant(found: tuple[float, ...], order: OrderRange | None, size: float) -> tuple[float, float, float] | None:
    """The values over the growth at this budget, None where there is no single growth."""
    if order is None or not order.is_point or order.lower is None:
        return None
    growth = size ** float(order.lower.power) * math.log(size) ** float(order.lower.log_power)
    value, low, high = (each / growth for each in found)
    return value, low, high


def plan_from_fit(
    fit: FitResult,
    *,
    data: Any = None,
    compute: Any = None,
    batch_size: Any = 1.0,
    model_sizes: Sequence[float] = (),
    warmup: int = 0,
    level: float = 0.9,
) -> TrainingPlan:
    """Return what to train under a budget, from a fit to runs at hand: a stable phase and a 1-sqrt decay.

    ``data``: samples or tokens in the unit of ``batch_size`` (of an update, positive), or ``compute``: model size times
    that, for a law with a term for the model size. ``model_sizes``: those to choose from (default: about those of the
    curves fitted, which a saved fit does not hold). ``warmup``: updates of it. ``level``: of the intervals, over the
    fit's draws of the parameters; without draws they are the values themselves.

    The peaks asked are those between the lowest and the highest fitted, for a law says little of others. Raises
    ValueError for a budget that leaves no update behind the warmup, or a compute budget for a law without model size.

    >>> from fsl_num.curves.curve import LossCurve
    >>> from fsl_num.curves.fit import fit
    >>> from fsl_num.curves.laws import law
    >>> run = Plan(step_rates("8-1-1", peak=0.01, steps=400), range(20, 401, 5))
    >>> loss = law("momentum").predict(run, [2.0, 0.3, 0.5, 0.5, 0.95])
    >>> found = plan_from_fit(fit(LossCurve(run.recorded, loss, schedule=run), "momentum", starts=1), data=800)
    >>> found["steps"].value, round(found["peak_lr"].value, 6)
    (800.0, 0.01)
    """
    if (data is None) == (compute is None):
        raise ValueError("give one budget: data=, samples or tokens, or compute=, model size times these")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie in (0, 1), got {level!r}")
    budget, amount = ("data", data) if compute is None else ("compute", compute)
    size, batch = positive(budget, amount), positive("batch_size", batch_size)
    draws = fit.theta[None] if fit.drawn is None else np.vstack([fit.theta, fit.drawn.samples])
    known = (_fitted_peak(fit),) if fit.drawn is None else fit.drawn.peaks
    peaks = np.unique(np.geomspace(min(known), max(known), _PEAKS)) if _several(known) else (max(known),)
    sizes = _model_sizes(fit, budget, model_sizes)
    options: list[tuple[float, float, float, float]] = []
    losses: list[Array] = []
    for model in sizes:
        steps = int(size / batch / (model or 1.0))
        if steps < warmup + _SHORTEST:
            continue
        for peak in peaks:
            for share in _FRACTIONS:
                rates = step_rates("1-sqrt", peak=peak, steps=steps, decay_fraction=share,
                                   **({"warmup": warmup} if warmup else {}))  # fmt: skip
                bound = fit.law.bind([Plan(rates, [steps], warmup, batch, model)], "coarse")
                losses.append(np.array([float(bound(theta)[0][0]) for theta in draws]))
                options.append((float(peak), model or math.nan, share, float(steps)))
    if not options:
        raise ValueError(
            f"a {budget} budget of {size:g} with updates of {batch:g} leaves fewer than {_SHORTEST} updates behind the"
            f" warmup of {warmup}: raise it, or make the updates smaller"
        )
    choices = np.array(options)
    at = np.array(losses).argmin(axis=0)  # the best option under each draw, that of the fit first
    task, tail = fit.task, 0.5 * (1.0 - level)
    label = "the law fitted to the runs"
    orders = _orders(task.regime, budget)

    def recommended(name: str, values: Array, basis: str) -> Recommendation:
        low, high = np.quantile(values[1:], [tail, 1.0 - tail]) if values.size > 1 else (values[0], values[0])
        spread = float(values[0]), float(min(low, values[0])), float(max(high, values[0]))
        order = orders.get(name)
        words = "" if order is None or task.s is None or task.beta is None else order.as_text(_base(budget))
        return Recommendation(name, *spread, words, _fitted_constant(spread, order, fit, size), basis)

    least = np.array(losses)[at, np.arange(at.size)]
    found = [
        recommended("loss", least, f"the final loss that {label} predicts, what cannot be learnt included"),
        recommended("peak_lr", choices[at, 0], _peak_words(label, known)),
    ]
    if budget == "compute":
        found.append(recommended("model_size", choices[at, 1], f"where {label}, with its term for the size, is least"))
    found += [
        recommended("data_size", choices[at, 3] * batch, "the updates times the batch"),
        recommended("decay_fraction", choices[at, 2], f"where {label} is least; thm: wsd says how it may shrink"),
        recommended("steps", choices[at, 3], "the budget over the batch (and the model size)"),
        recommended("batch_size", np.full(at.size, batch), "as given: the runs fitted say nothing of other batches"),
    ]
    chosen = choices[at[0]]
    same = (choices[:, 0] == chosen[0]) & (choices[:, 3] == chosen[3])
    by_share = {f"decay of {share:g}": float(losses[k][0]) for k, share in enumerate(choices[:, 2]) if same[k]}
    return TrainingPlan(budget, size, "1-sqrt", task.regime, tuple(found), MappingProxyType(by_share), (task.sentence,))


def _fitted_peak(fit: FitResult) -> float:
    if not fit.curves:
        raise ValueError("this fit has neither intervals nor curves: fit again with intervals to have its peak rates")
    return max(curve.plan.peak for curve in fit.curves)


def _model_sizes(fit: FitResult, budget: str, given: Sequence[float]) -> list[float | None]:
    """The sizes asked: under a compute budget those given, or about the ones fitted."""
    if given and fit.law.size_term:
        return [positive("model_sizes", each) for each in given]
    known = sorted({curve.plan.model_size for curve in fit.curves if curve.plan.model_size is not None})
    if budget == "data":
        return [known[-1] if known and fit.law.size_term else None]
    if not fit.law.size_term or not known:
        raise ValueError(
            "a compute budget needs a fit to runs of several model sizes, and, where it was saved, the sizes to choose"
            " from (--model-size, model_sizes=); this one says nothing of other sizes: give a data budget"
        )
    return [float(each) for each in np.geomspace(0.25 * known[0], 16.0 * known[-1], _SIZES)]


def _several(peaks: tuple[float, ...]) -> bool:
    """Whether there is more than one peak rate; a cosine loses a little of it before its first row."""
    return max(peaks) > 1.02 * min(peaks)


def _peak_words(label: str, known: tuple[float, ...]) -> str:
    if not _several(known):
        return "that of the runs fitted, which have one peak rate alone: train a run at another to choose among them"
    return f"where {label} is least, between the lowest and the highest peak of the runs"


def _base(budget: str) -> Any:
    return optimal_allocation("wsd", budget).base


def _orders(regime: str, budget: str) -> Mapping[str, OrderRange]:
    """The orders of the optimal warmup-stable-decay in a regime, {} where it is not known."""
    known = [each for each in optimal_allocation("wsd", budget).regimes if each.name == regime]
    return known[0].quantities if known else {}


def _fitted_constant(
    spread: tuple[float, float, float], order: OrderRange | None, fit: FitResult, size: float
) -> tuple[float, float, float] | None:
    """The values over the growth with the exponents fitted."""
    task = fit.task
    if order is None or not order.is_point or order.lower is None or task.s is None or task.beta is None:
        return None
    growth = size ** _at(order.lower, "power", task) * math.log(size) ** _at(order.lower, "log_power", task)
    return spread[0] / growth, spread[1] / growth, spread[2] / growth


def _at(order: Order, part: str, task: Any) -> float:
    """A power of an order at the middle of the intervals of s and beta."""
    middle = [0.5 * sum(task.s), 0.5 * sum(task.beta)]
    return float(lambdify((s_symbol, beta_symbol), getattr(order, part), "math")(*middle))


def _range(each: Recommendation) -> str:
    return f"{each.low:.3g} .. {each.high:.3g}" if math.isfinite(each.high) else f"{each.low:.3g} or more"


def training_plan_text(plan: TrainingPlan) -> list[Any]:
    """The plan as a table, what each schedule would reach, and the notes."""
    rows = [
        (_TITLES[each.name], f"{each.value:.4g}", _range(each), each.order, each.basis) for each in plan.recommendations
    ]
    reached = ", ".join(f"{name} {loss:.4g}" for name, loss in plan.losses.items())
    return [
        Text(f"{plan.schedule}, {plan.budget} budget {plan.amount:.6g}; regime: {plan.regime}"),
        "",
        table(("quantity", "value", "as good", "grows as", "rests on"), rows, right=(1,)),
        "",
        Text(f"would reach: {reached}"),
        *map(Text, plan.notes),
    ]


def training_plan_json(plan: TrainingPlan) -> dict[str, Any]:
    """The plan as JSON-ready values; an end that nothing bounds is None."""

    def finite(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return {
        "schedule": plan.schedule,
        "budget": plan.budget,
        "amount": plan.amount,
        "regime": plan.regime,
        "losses": dict(plan.losses),
        "quantities": {
            each.name: {
                "value": finite(each.value),
                "low": finite(each.low),
                "high": finite(each.high),
                "order": each.order,
                "constant": None if each.constant is None else [finite(value) for value in each.constant],
                "basis": each.basis,
            }
            for each in plan.recommendations
        },
        "notes": list(plan.notes),
    }
