"""What to train under a budget: peak rate, model size, data, batch, schedule and decay, and what each rests on.

The exponents are those of the optimal allocation, derived from the law of a theorem. The values are the choices that
make the functional law of the model itself least, its sums included, or, where runs are at hand, the law fitted to
them. A constant is the value over its growth; its interval is what it is at budgets around.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

from rich.text import Text

from fsl_num.design.tuned import LARGEST, Tuned
from fsl_num.model import Model
from fsl_num.report.allocations import LABELS
from fsl_num.report.tables import table
from fsl_num.results import Result, html_table
from fsl_num.validation import one_of, positive
from fsl_sym.allocation import Allocation, AllocationRegime, optimal_allocation
from fsl_sym.laws import SCHEDULES
from fsl_sym.order import UNIT, Order

WITHIN: Final = 1.1
"""Choices whose loss comes within this factor of the least are as good: they make the interval."""

AROUND: Final = (0.01, 100.0)
"""Times the budget asked: there constants are measured too."""

_BASIS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "excess_risk": "the least value of the functional law under the budget",
        "peak_lr": "where the noise that the schedule leaves balances the signal that is left",
        "model_size": "where the approximation error falls to the rest of the law",
        "data_size": "what the model size leaves of the budget",
        "decay_fraction": "long enough to forget the noise of the stable phase",
        "steps": "the law depends on the batch size through the effective rate alone: one sample a step",
        "batch_size": "the law is the same up to the batch at which the peak rate itself is the largest stable one",
    }
)
_TITLES: Final = {**{name: title for name, (title, _) in LABELS.items()}, "loss": "final loss"}
_LEAST: Final = 2.0
_DRIFT: Final = 2.0
_SAME: Final = 1.001  # so near to the least the schedule with less to choose is taken


@dataclass(frozen=True)
class Recommendation:
    """One quantity: its ``value``, the interval [low, high] (inf where nothing bounds it), and what it rests on.

    ``order``: how it grows with the budget, in words, "" where the theory says nothing of it; ``constant``: the value
    over that growth with its own interval, where the order is a range the low end over the least growth; None where
    there is none. ``largest``: of a range the same of the high end. ``basis``: one sentence.

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
    largest: tuple[float, float, float] | None = None


@dataclass(frozen=True, eq=False, repr=False)
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
        """The advice of that name; KeyError where there is none."""
        for advice in self.recommendations:
            if advice.name == name:
                return advice
        raise KeyError(f"{name!r} is none of {', '.join(advice.name for advice in self.recommendations)}")

    def __repr__(self) -> str:
        values = ", ".join(f"{advice.name} {advice.value:.4g}" for advice in self.recommendations)
        return f"TrainingPlan({self.schedule}, {self.budget} {self.amount:.4g}: {values})"

    def _repr_html_(self) -> str:
        rows = [(*_cells(advice), advice.basis) for advice in self.recommendations]
        return html_table((), rows, title=f"{self.schedule}, {self.budget} {self.amount:.3g}")


def plan_run(
    *, data: Any = None, compute: Any = None, s: Any = None, beta: Any = None, noise: Any = 1.0, schedule: Any = None
) -> TrainingPlan:
    """Return what to train under a budget, for a task of which s and beta are known.

    ``data``: the samples D, or ``compute``: C = M D, one of the two, above 2. ``s``, ``beta``: exact (whole numbers,
    Fractions, or text such as "1/2"). ``noise``: the variance of the labels, positive. ``schedule``: one of those with
    a law ("constant", "exp-decay", "wsd"); by default the one that leaves the least risk, of two alike the one with
    less to choose.

    The peak is the effective one, learning rate over batch size, up to 1/tr(H), half of what is stable. The values make
    the functional law of the paper's model least; those as good stay within 1.1 of the least. A constant is the value
    over its growth at this budget, and its interval what it is at budgets a hundredth to a hundred times as large.
    Source: Table 1, derived, and eqn: fsl.

    Raises ValueError for a budget of less than two steps or beyond 1e30, and what the exponents raise.

    >>> found = plan_run(data=10**9, s="1/2", beta=4)
    >>> found.schedule, found.regime, found["decay_fraction"].order
    ('wsd', 'hard', 'from D^(-1/3) (log D) to 1')
    >>> constant, low, high = found["excess_risk"].constant
    >>> 0.1 < low <= constant <= high < 0.4
    True
    """
    budget, size = _budget(data, compute)
    variance = positive("noise", noise)
    unknown = (
        f"plans are made for {', '.join(SCHEDULES)}, not for {schedule!r}: of others optimal_allocation knows orders"
    )
    chosen = SCHEDULES if schedule is None else (one_of("schedule", schedule, SCHEDULES, unknown),)
    allocations = {name: optimal_allocation(name, budget) for name in chosen}
    regimes = {name: allocation.at(s, beta) for name, allocation in allocations.items()}
    task = Model(float(Fraction(str(s))), float(Fraction(str(beta))), math.inf, variance)

    def tuned(name: str, amount: float) -> Tuned:
        order = regimes[name].quantities["model_size"].lower or UNIT
        return Tuned(task, name, budget, amount, _growth(order, amount))

    here = {name: tuned(name, size) for name in chosen}
    losses = {name: choice.best.excess_risk for name, choice in here.items()}
    least = min(losses.values())
    best = next(name for name in chosen if losses[name] <= _SAME * least)
    ends = {**here[best].as_good(WITHIN), "excess_risk": (losses[best], WITHIN * losses[best])}
    ranges = [name for name in ends if name in regimes[best].quantities and not regimes[best].quantities[name].is_point]
    values = _values(here[best], ends, ranges)
    around = (amount for amount in (size * factor for factor in AROUND) if _LEAST < amount <= LARGEST)
    by_budget = {
        amount: _values(there, there.as_good(WITHIN, ranges), ranges)
        for amount, there in ((amount, tuned(best, amount)) for amount in around)
    }
    recommended = tuple(
        _recommended(name, values[name], regimes[best], allocations[best], size,
                     {amount: there[name] for amount, there in by_budget.items()})
        for name in LABELS if name in values
    )  # fmt: skip
    further = f"The best schedule of any form: fsl design --s {s} --beta {beta} --budget {budget} {size:g}"
    notes = (*_notes(recommended), further + (f" --noise {variance:g}" if variance != 1.0 else ""))
    return TrainingPlan(budget, size, best, regimes[best].name, recommended, MappingProxyType(losses), notes)


def _budget(data: Any, compute: Any) -> tuple[str, float]:
    """Which budget was given, and how large it is; refused where no plan can be made for it."""
    if (data is None) == (compute is None):
        raise ValueError("give one budget: data=, the samples D, or compute=, model size times samples")
    budget, amount = ("data", data) if compute is None else ("compute", compute)
    size = positive(budget, amount)
    if size <= _LEAST:
        raise ValueError(
            f"a {budget} budget of {size:g} is below two steps of batch size 1 (and one feature): raise it"
        )
    if size > LARGEST:
        raise ValueError(
            f"a {budget} budget must be at most {LARGEST:g}, where the law is still summed to the digits that count,"
            f" got {size:g}: fsl exponents says how all of it grows"
        )
    return budget, size


def _values(
    tuned: Tuned, ends: Mapping[str, tuple[float, float]], ranges: Collection[str]
) -> dict[str, tuple[float, float, float]]:
    """Each quantity with the ends of what is as good, itself where they are not known; which optima are ``ranges``."""
    values = {name: (value, *ends.get(name, (value, value))) for name, value in tuned.values.items()}
    if tuned.budget == "compute":
        low, high = values["model_size"][1:]
        values["data_size"] = tuned.data, tuned.amount / high, tuned.amount / low
    else:  # more features never harm: the least that suffice
        values["model_size"] = (ends["model_size"][0], *ends["model_size"])
    least_peak = values["peak_lr"][1 if "peak_lr" in ranges else 0]
    samples, largest = tuned.data, tuned.best_allowed / least_peak
    values["steps"] = samples, max(samples / largest, 1.0), samples
    values["batch_size"] = 1.0, 1.0, largest
    return values


def _recommended(
    name: str, values: tuple[float, float, float], regime: AllocationRegime, allocation: Allocation, size: float,
    by_budget: Mapping[float, tuple[float, float, float]],
) -> Recommendation:  # fmt: skip
    order = regime.quantities.get(name)
    if order is None:
        return Recommendation(name, *values, "", None, _BASIS[name])
    value = 0 if order.is_point or order.upper is None else 1  # of a range its ends

    def constant(end: Order | None, place: int) -> tuple[float, float, float] | None:
        """The value over its growth here, and the least and the largest of all budgets."""
        if end is None:
            return None
        all_of_them = [triple[place] / _growth(end, amount) for amount, triple in {size: values, **by_budget}.items()]
        return all_of_them[0], min(all_of_them), max(all_of_them)

    at_bound = name == "peak_lr" and values[2] <= values[0] * (1.0 + 1e-6)
    basis = (
        "the largest allowed: half of the effective rate at which training is unstable" if at_bound else _BASIS[name]
    )
    return Recommendation(
        name, *values, order.as_text(allocation.base), constant(order.lower, value), basis,
        constant(order.upper, 2) if value else None,
    )  # fmt: skip


def _growth(order: Order, size: float) -> float:
    return float(size ** float(order.power) * math.log(size) ** float(order.log_power))


def _notes(recommended: Sequence[Recommendation]) -> tuple[str, ...]:
    """What the constants are, and which drift so much that the budget is not yet where the exponent holds."""
    drifting = [
        _TITLES[advice.name]
        for advice in recommended
        if any(of is not None and of[2] > _DRIFT * of[1] for of in (advice.constant, advice.largest))
    ]
    notes = [
        "The constants are those of eigenvalues j^-beta and targets j^-1 lambda_j^(s-1) exactly, with their range over"
        " budgets a hundredth to a hundred times as large; the exponents hold for all spectra of these orders."
    ]
    if drifting:
        notes.append(
            f"Over these budgets the constants of {', '.join(drifting)} change more than {_DRIFT:g} times: there the"
            " exponents are not reached yet."
        )
    return tuple(notes)


def _number(value: float, digits: int) -> str:
    """A number rounded to so many digits, below ten millions without a power of ten."""
    rounded = f"{value:.{digits}g}"
    return f"{float(rounded):.0f}" if 10.0**digits <= value < 1e7 else rounded


def _range(advice: Recommendation) -> str:
    """What is as good; nothing where that is one value alone."""
    low, high = (_number(end, 3) for end in (advice.low, advice.high))
    if not math.isfinite(advice.high):
        return f"{low} or more"
    return f"{low} .. {high}" if low != high else ""


def _cells(advice: Recommendation) -> tuple[str, ...]:
    return _TITLES[advice.name], _number(advice.value, 4), _range(advice), advice.order, _constants(advice)


def _constants(advice: Recommendation) -> str:
    """The constant with its interval, of a range of both ends."""
    ends = [
        f"{value:.3g} ({low:.3g} .. {high:.3g})" for value, low, high in filter(None, (advice.constant, advice.largest))
    ]
    return " to ".join(ends)


def training_plan_text(plan: TrainingPlan) -> list[Any]:
    """The plan as a table, what each quantity rests on, what each schedule would reach, and the notes."""
    headings: Sequence[str] = ("quantity", "value", "as good", "grows as", "times a constant")
    rows: list[tuple[str, ...]] = [_cells(advice) for advice in plan.recommendations]
    if not any(constant for *_, constant in rows):  # a fit that leaves the regime open knows none
        headings, rows = headings[:4], [row[:4] for row in rows]
    reached = ", ".join(f"{name} {loss:.4g}" for name, loss in plan.losses.items())
    return [
        Text(f"{plan.schedule}, {plan.budget} budget {plan.amount:.6g}; regime: {plan.regime}"),
        "",
        table(headings, rows, right=(1,)),
        "",
        *(Text(f"{_TITLES[advice.name]}: {advice.basis}") for advice in plan.recommendations),
        "",
        Text(f"would reach: {reached}"),
        *map(Text, plan.notes),
    ]


def training_plan_json(plan: TrainingPlan) -> dict[str, Any]:
    """The plan as JSON-ready values; an end that nothing bounds is None."""

    def finite(value: float) -> float | None:
        return value if math.isfinite(value) else None

    def constant(of: tuple[float, float, float] | None) -> list[float | None] | None:
        return None if of is None else [finite(value) for value in of]

    return {
        "schedule": plan.schedule,
        "budget": plan.budget,
        "amount": plan.amount,
        "regime": plan.regime,
        "losses": dict(plan.losses),
        "quantities": {
            advice.name: {
                "value": finite(advice.value),
                "low": finite(advice.low),
                "high": finite(advice.high),
                "order": advice.order,
                "constant": constant(advice.constant),
                "largest_constant": constant(advice.largest),
                "basis": advice.basis,
            }
            for advice in plan.recommendations
        },
        "notes": list(plan.notes),
    }
