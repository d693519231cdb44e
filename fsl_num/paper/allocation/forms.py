"""How a claim about an optimal allocation is built: from formulas by regime to statement, mutants, text and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Protocol

from sympy import Expr, Integer, Symbol, oo

from fsl_num.claims.claim import ALL_REGIMES, Claim, Role, Sample
from fsl_num.claims.formula_laws import growth
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Equivalent, Joint, Ray, Statement
from fsl_num.paper.allocation.numeric_laws import measure_allocation, measure_risk
from fsl_num.paper.hypotheses import ORDER_OF_LAW
from fsl_sym.allocation import QUANTITIES, Allocation, optimal_allocation
from fsl_sym.domain import REGIMES, Regime
from fsl_sym.laws import BUDGETS, SCHEDULES, scaling_law
from fsl_sym.near_optimal import ENDS, in_all_regimes, least_value, near_optimal, vanishing
from fsl_sym.near_optimal import written as as_derived
from fsl_sym.order import Order, OrderRange
from fsl_sym.power_regimes import PowerRegime
from fsl_sym.proof import AllOf, Derivation, Formula, all_of, tends
from fsl_sym.symbols import C, D, M, N, beta, s

FREE_END = ("s > 0", "beta > 1", "sigma^2 of order 1", "constraint: a <= 1", ORDER_OF_LAW)
HYPOTHESES = (*FREE_END, "b = a/K")
PROBLEMS = tuple((schedule, budget) for schedule in SCHEDULES for budget in BUDGETS)
UNCAPPED, SLOW = "without a <= 1", "b = a/K^(1/20)"
MEASURED = ("excess_risk", "peak_lr", "model_size", "data_size", "decay_fraction")
"""The quantities of an allocation that its claim is about."""
Printed = Callable[[Any, Any], Mapping[str, OrderRange]]
_NAMES = (*MEASURED[1:], "steps", "final_over_peak", "timescale_fraction")
LETTERS = {"data_over_model": D / M, **{name: QUANTITIES[name] for name in _NAMES}}
"""Name of a quantity -> what it is in letters; the peak rate is the effective one, learning rate over batch size."""
Quantities = dict[str, OrderRange]
"""Name of a quantity -> the orders between which it is optimal."""
Rays = tuple[Ray, ...]


@dataclass(frozen=True)
class End:
    """One end of the near-optimal set of a hyperparameter: of a given order, or (None) not bounded at all."""

    order: Equivalent | None

    def judge(self, measured: Any) -> Judgement:
        """Compare with the measured end: rays, or None where only the artificial search bound stopped it."""
        if self.order is None or measured is None:
            holds = self.order is None and measured is None
            return Judgement(
                holds, 0.0 if holds else 99.0, None, None, f"measured {'no end' if measured is None else 'an end'}"
            )
        return self.order.judge(measured)

    def mutants(self) -> Mapping[str, End]:
        """The mutants of the order; where there is no end, an end at the budget itself."""
        if self.order is None:
            return {"ends at the budget": End(growth(1.0, 0.0))}
        return {name: End(order) for name, order in self.order.mutants().items()}

    def neighbours(self, kind: str, size: float) -> list[End]:
        """The neighbours of the order."""
        return [] if self.order is None else [End(order) for order in self.order.neighbours(kind, size)]


def point(power: Any, log_power: Any = 0) -> OrderRange:
    """A quantity whose optimum is N^power (log N)^log_power."""
    return OrderRange(Order(power, log_power), Order(power, log_power))


def at_least(power: Any, log_power: Any = 0, upper: Order | None = None) -> OrderRange:
    """A quantity whose optimum is everything of at least this order (up to ``upper``)."""
    return OrderRange(Order(power, log_power), upper)


def statement_of(quantities: Mapping[str, OrderRange], budget: str) -> Statement:
    """The statement that the optima and the ends of the near-optimal sets have these orders."""
    parts: dict[str, Statement] = {}
    for name, orders in quantities.items():
        if name == "excess_risk":
            assert orders.lower is not None
            parts[name] = growth(float(orders.lower.power), float(orders.lower.log_power))
        elif not (name == "data_size" and budget == "data"):
            for end, order in (("lower", orders.lower), ("upper", orders.upper)):
                parts[f"{name} {end}"] = End(
                    None if order is None else growth(float(order.power), float(order.log_power))
                )
    return Joint(parts)


def measure(schedule: str, budget: str, infinite_model: bool, free_steps: bool, sample: Sample) -> Any:
    """Brute-force optima at the sample's point."""
    measured = measure_allocation(
        schedule,
        budget,
        *sample.point,
        free_steps=free_steps,
        infinite_model=infinite_model,
        settled=sample.effort == 0,
    )
    return Located(measured, {"M": math.inf}) if infinite_model else measured


def uncapped(schedule: str, budget: str, sample: Sample, power: float | None = None) -> Mapping[str, Rays]:
    """The least risk where a may be larger than 1, up to N over the batch size."""
    return {"excess_risk": (measure_risk(schedule, budget, *sample.point, settled=True, power=power, capped=False),)}


def outside(schedule: str, budget: str, sample: Sample) -> Mapping[str, Mapping[str, Rays]]:
    """The least risk without the bound of a; and where the last rate of exponential decay or WSD hardly falls."""
    slow = {} if schedule == "constant" else {
        SLOW: {"excess_risk": (measure_risk(schedule, budget, *sample.point, settled=True, last_power=0.05),)}
    }  # fmt: skip
    return {UNCAPPED: uncapped(schedule, budget, sample), **slow}


def family_of(schedule: str, budget: str, *, infinite_model: bool = False, free_steps: bool = False) -> str:
    """The claims that share a measurement: of one problem, or of both budgets of WSD, which one claim compares.

    >>> family_of("wsd", "data") == family_of("wsd", "compute")
    True
    """
    is_shared = schedule == "wsd" and not (infinite_model or free_steps)
    return "wsd/allocations" if is_shared else f"{schedule}/{budget}/{infinite_model}/{free_steps}"


def printed_claim(
    name: str,
    label: str,
    line: int,
    title: str,
    problem: tuple[str, str],
    easy: Printed,
    hard: Printed,
    *,
    edge_is: str = "easy",
    regimes: tuple[str, ...] = ALL_REGIMES,
    infinite_model: bool = False,
    free_steps: bool = False,
    corrected_by: str | None = None,
    role: Role = "printed",
    quoted: str = "",
) -> Claim:
    """A claim from two formulas, one for the easy and one for the hard regime, and which of them the edge belongs to.

    The same formulas give the numbers and the LaTeX; the other regime's formula is a mutant.
    """
    schedule, budget = problem
    formulas = {"easy": easy, "hard": hard, "edge": easy if edge_is == "easy" else hard}
    facing = {"easy": hard, "hard": easy, "edge": hard if edge_is == "easy" else easy}

    def statement(sample: Sample) -> Statement:
        return statement_of(formulas[sample.regime](sample.s, sample.beta), budget)

    def mutants(sample: Sample) -> Mapping[str, Statement]:
        mine, swapped_in = (family[sample.regime](sample.s, sample.beta) for family in (formulas, facing))
        swapped = {key: (swapped_in[key] if key in swapped_in else value) for key, value in mine.items()}
        return {} if _same(mine, swapped) else {"the other regime's formula": statement_of(swapped, budget)}

    def choices() -> list[Chosen]:
        orders = {regime: formulas[regime](s, beta) for regime in regimes}
        return printed_choices(problem, orders, infinite_model=infinite_model)

    return Claim(
        name, label, line, title,
        lambda: formula_of(choices()),
        (*(FREE_END if schedule == "constant" else HYPOTHESES), *(("M = oo",) if infinite_model else ())),
        partial(measure, schedule, budget, infinite_model, free_steps), statement, mutants,
        derive=None if corrected_by else lambda: derivations_of(choices()),
        regimes=regimes, corrected_by=corrected_by, role=role, quoted=quoted,
        family=family_of(schedule, budget, infinite_model=infinite_model, free_steps=free_steps),
        beyond=partial(outside, schedule, budget),
    )  # fmt: skip


def derived_claim(
    name: str, label: str, line: int, title: str, problem: tuple[str, str], role: Role = "corrected"
) -> Claim:
    """The derived allocation of a problem as a claim, its quantities and ranges checked in every regime."""

    def formula(regime: str, s_value: Any, beta_value: Any) -> Mapping[str, OrderRange]:
        values = {s: s_value, beta: beta_value}
        quantities = optimal_allocation(*problem).regime(regime).quantities
        return {key: quantities[key].subs(values) for key in MEASURED if key in quantities}

    return printed_claim(
        name, label, line, title, problem, partial(formula, "easy"), partial(formula, "hard"), role=role
    )


def _same(left: Mapping[str, OrderRange], right: Mapping[str, OrderRange]) -> bool:
    return all(
        (mine is None) == (theirs is None) and (mine is None or theirs is None or mine.equals(theirs))
        for key in left
        for mine, theirs in ((left[key].lower, right[key].lower), (left[key].upper, right[key].upper))
    )


def written(order: Order, base: Symbol) -> Any:
    """An order with its exponents written the one way in which the derived ones are."""
    return as_derived(order).as_expr(base)


@dataclass(frozen=True)
class Chosen:
    """The optimum of a law in one regime: its least value, and of near-optimal choices the ends of each quantity.

    ``loss`` and ``program`` are those of :meth:`~fsl_sym.laws.ScalingLaw.under`. The budget itself is no choice. Of a
    range both ends are stated, or ``ends``.

    >>> from fsl_sym.domain import EASY
    >>> from fsl_sym.symbols import s
    >>> law = scaling_law("constant").under(N)
    >>> chosen = Chosen(*law, EASY, {"excess_risk": point(-s / (s + 1)), "peak_lr": point(-s / (s + 1))})
    >>> print(chosen.formulas()[1])
    gamma near-optimal at N**(-s/(s + 1)) where s > 1 - 1/beta
    >>> all_of(derivation.prove().conclusion for derivation in derivations_of([chosen])) == formula_of([chosen])
    True
    """

    loss: Expr
    program: tuple[Any, ...]
    regime: Regime | PowerRegime
    quantities: Mapping[str, OrderRange]
    ends: tuple[str, ...] = ENDS

    @property
    def chosen(self) -> dict[Expr, OrderRange]:
        """The quantities beside the risk, in letters, with their orders."""
        letters = {LETTERS[name]: orders for name, orders in self.quantities.items() if name in LETTERS}
        return {letter: orders for letter, orders in letters.items() if (letter, self.program[1]) != (D, N)}

    def formulas(self) -> list[Formula]:
        """What is stated: an optimum, and of each quantity one order, or one for each end."""
        where, grown = self.regime.condition, self.program[1]
        least = written(self.quantities["excess_risk"].order, grown)
        near = (self.loss, least, *self.program)
        stated = [Formula(self.loss, "optimum", least, program=self.program, where=where)]
        for letter, orders in self.chosen.items():
            lower = Integer(0) if orders.lower is None else written(orders.lower, grown)
            upper = oo if orders.upper is None else written(orders.upper, grown)
            ends = {"at": lower} if orders.is_point else {"from": lower, "up to": upper}
            stated += [Formula(letter, f"near-optimal {end}", order, program=near, where=where)
                       for end, order in ends.items() if end in self.ends]  # fmt: skip
        return stated

    def least(self) -> Derivation:
        """That of the optimum."""
        return least_value(self.loss, self.program, self.regime, self.quantities["excess_risk"].order)

    def derivations(self) -> list[Derivation]:
        """The theorems that are to be what is stated."""
        near = [near_optimal(self.least(), quantity, orders, self.regime, self.ends)
                for quantity, orders in self.chosen.items()]  # fmt: skip
        return [self.least(), *chain.from_iterable(near)]


def printed_choices(
    problem: tuple[str, str], regimes: Mapping[str, Mapping[str, OrderRange]], *, infinite_model: bool = False
) -> list[Chosen]:
    """The optimum of a problem in the regimes of the plane for which quantities are given."""
    schedule, budget = problem
    loss, program = scaling_law(schedule).under(N if budget == "data" else C, infinite_size=infinite_model)
    return [Chosen(loss, program, regime, regimes[regime.name]) for regime in REGIMES if regime.name in regimes]


def derived_choices(allocation: Allocation, names: Sequence[str]) -> list[Chosen]:
    """The optimum of an allocation in each of its regimes, as far as it has the quantities named."""
    grown, regimes, choices = N if allocation.budget == "data" else C, iter(allocation.regimes), []
    for law in allocation.law.cases:
        loss, program = law.under(grown)
        for regime in law.regimes:
            orders = next(regimes).quantities
            kept = {name: orders[name] for name in names if name in orders}
            choices.append(Chosen(loss, program, regime, kept))
    return choices


@dataclass(frozen=True)
class Falls:
    """That an order tends to 0 in a regime, or for all values of its letters, as a part of what is stated."""

    order: Order
    base: Symbol
    regime: Regime | None = None

    def formulas(self) -> list[Formula]:
        """The limit."""
        where = None if self.regime is None else self.regime.condition
        return [replace(tends(written(self.order, self.base), self.base, oo, 0), where=where)]

    def derivations(self) -> list[Derivation]:
        """From the signs of the powers."""
        return [vanishing(self.order, self.base, self.regime)]


@dataclass(frozen=True)
class Throughout:
    """The least value of a law in all regimes of the plane, or of one side of it, as one order.

    ``choices`` are those of the regimes, ``order`` says by a minimum of exponents which one is meant.
    """

    choices: tuple[Chosen, ...]
    order: Expr

    def formulas(self) -> list[Formula]:
        """The optimum."""
        first = self.choices[0]
        where = first.regime.side.condition if isinstance(first.regime, PowerRegime) else None
        return [Formula(first.loss, "optimum", self.order, program=first.program, where=where)]

    def derivations(self) -> list[Derivation]:
        """From the least values of the regimes."""
        regimes = [choice.regime for choice in self.choices]
        return [in_all_regimes([choice.least() for choice in self.choices], regimes, self.order)]


class Stated(Protocol):
    """A part of what a claim states, with its proof."""

    def formulas(self) -> list[Formula]:
        """What is stated."""
        ...

    def derivations(self) -> list[Derivation]:
        """The theorems that are to be that, in the same order."""
        ...


def formula_of(stated: Sequence[Stated]) -> Formula | AllOf:
    """All that is stated, as one value."""
    return all_of(formula for part in stated for formula in part.formulas())


def derivations_of(stated: Sequence[Stated]) -> list[Derivation]:
    """The theorems that are to be the parts of :func:`formula_of`, in their order."""
    return [derivation for part in stated for derivation in part.derivations()]


@dataclass(frozen=True)
class Vanishes:
    """The measured ratio has the given order, and that order tends to zero."""

    order: Equivalent

    def judge(self, measured: Rays) -> Judgement:
        """The order's judgement, refused where the order does not tend to zero."""
        judged = self.order.judge(measured)
        power, log_power = self.order.exponents["power"], self.order.exponents["log power"]
        if power < 0 or (power == 0 and log_power < 0):
            return judged
        return Judgement(
            False, 99.0, judged.constants, judged.drift, f"N^{power:g} (log N)^{log_power:g} does not vanish"
        )

    def mutants(self) -> Mapping[str, Vanishes]:
        """The order's mutants, and the comparison the other way round."""
        power, log_power = self.order.exponents["power"], self.order.exponents["log power"]
        mutants = {name: Vanishes(mutant) for name, mutant in self.order.mutants().items()}
        return {**mutants, "the other way round": Vanishes(growth(-power, -log_power))}

    def neighbours(self, kind: str, size: float) -> list[Vanishes]:
        """The order's neighbours."""
        return [Vanishes(neighbour) for neighbour in self.order.neighbours(kind, size)]
