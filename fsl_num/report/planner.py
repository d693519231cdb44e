"""What to train under a budget: peak rate, model size, data, batch, schedule and decay, and what each rests on.

The exponents are those of the optimal allocation, derived from the law of a theorem. The constants come from the same
law with all its constants 1, minimised at the budget itself, or, where runs are at hand, from the law fitted to them.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from fsl_num.minimise import minimise_law, near_optimal_intervals
from fsl_num.paper.allocation.numeric_laws import BudgetedLaw
from fsl_num.report.allocations import LABELS
from fsl_num.report.tables import table
from fsl_num.results import Result
from fsl_num.validation import positive
from fsl_sym.allocation import Allocation, AllocationRegime, optimal_allocation
from fsl_sym.laws import SCHEDULES
from fsl_sym.order import OrderRange

if TYPE_CHECKING:
    pass

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
_AT_BOUND: Final = 0.99


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
        for recommendation in self.recommendations:
            if recommendation.name == name:
                return recommendation
        raise KeyError(
            f"{name!r} is none of {', '.join(recommendation.name for recommendation in self.recommendations)}"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{_TITLES[recommendation.name]}</td><td>{recommendation.value:.3g}</td><td>{_range(recommendation)}</td>"
            f"<td>{html.escape(recommendation.order)}</td><td>{html.escape(recommendation.basis)}</td></tr>"
            for recommendation in self.recommendations
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
    if schedule is not None and schedule not in SCHEDULES:
        raise ValueError(
            f"plans are made for {', '.join(SCHEDULES)}, not for {schedule!r}: of others optimal_allocation knows"
            " the orders"
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
    values: dict[str, tuple[float, float, float]] = {"excess_risk": (losses[best], losses[best], WITHIN * losses[best])}
    for name, at, ends in zip(law.variables, minimum.log_point, intervals, strict=True):
        low, high = _power_of_e(ends.log_low), _power_of_e(ends.log_high)
        value = _power_of_e(float(at))
        if budget == "data" and name == "model_size":  # more never harms: the least that suffices
            value, high = low, math.inf
        values[name] = value, low, high
    if budget == "compute":
        value, low, high = values["model_size"]
        values["data_size"] = size / value, size / high, size / low
    else:
        values["data_size"] = size, size, size
    samples = values["data_size"][0]
    largest = max(1.0 / values["peak_lr"][0], 1.0)
    values["steps"] = samples, max(samples / largest, 1.0), samples
    values["batch_size"] = 1.0, 1.0, largest
    recommended = [
        _recommended(name, values[name], regimes[best], allocations[best], size) for name in LABELS if name in values
    ]
    notes = ("Values with all constants of the law 1; the exponents hold whatever the constants are.",)
    return TrainingPlan(budget, size, best, regimes[best].name, tuple(recommended), MappingProxyType(losses), notes)


def _power_of_e(exponent: float) -> float:
    """e to a power, inf beyond the floats."""
    return math.exp(exponent) if exponent < 709.0 else math.inf


def _recommended(
    name: str, values: tuple[float, float, float], regime: AllocationRegime, allocation: Allocation, size: float
) -> Recommendation:
    order = regime.quantities.get(name)
    words = order.as_text(allocation.base) if order is not None else ""
    constant = _constant(values, order, size)
    at_bound = name == "peak_lr" and values[0] > _AT_BOUND
    basis = "the largest that stability allows in the law of {label}: a peak rate of 1" if at_bound else _BASIS[name]
    return Recommendation(name, *values, words, constant, basis.format(label=allocation.law.label))


def _constant(values: tuple[float, ...], order: OrderRange | None, size: float) -> tuple[float, float, float] | None:
    """The values over the growth at this budget, None where there is no single growth."""
    if order is None or not order.is_point or order.lower is None:
        return None
    growth = size ** float(order.lower.power) * math.log(size) ** float(order.lower.log_power)
    value, low, high = (each / growth for each in values)
    return value, low, high


def _range(each: Recommendation) -> str:
    return f"{each.low:.3g} .. {each.high:.3g}" if math.isfinite(each.high) else f"{each.low:.3g} or more"


def training_plan_text(plan: TrainingPlan) -> list[Any]:
    """The plan as a table, what each schedule would reach, and the notes."""
    rows = [
        (
            _TITLES[recommendation.name],
            f"{recommendation.value:.4g}",
            _range(recommendation),
            recommendation.order,
            recommendation.basis,
        )
        for recommendation in plan.recommendations
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
            recommendation.name: {
                "value": finite(recommendation.value),
                "low": finite(recommendation.low),
                "high": finite(recommendation.high),
                "order": recommendation.order,
                "constant": None
                if recommendation.constant is None
                else [finite(value) for value in recommendation.constant],
                "basis": recommendation.basis,
            }
            for recommendation in plan.recommendations
        },
        "notes": list(plan.notes),
    }
