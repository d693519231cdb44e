"""sec:intro and sec: effect-lrs: what more capacity does to the least risk of one task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Integer, Symbol, oo

from fsl_num.claims.claim import ALL_REGIMES, Claim, Sample
from fsl_num.claims.formula_laws import growth
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Equivalent, Joint, Ray
from fsl_num.claims.words import Where
from fsl_num.paper.allocation.forms import PROBLEMS, Falls, Vanishes, derivations_of, formula_of, written
from fsl_num.paper.hypotheses import ORDER_OF_LAW
from fsl_num.paper.model.formulas import ALPHA, best
from fsl_num.paper.model.tuned_laws import ONE_TASK, budgets_of, least_risk, richer
from fsl_sym.allocation import optimal_allocation
from fsl_sym.capacity_comparison import ONE_TASK as AT_TASK
from fsl_sym.capacity_comparison import least_of_task
from fsl_sym.domain import REGIMES
from fsl_sym.laws import BUDGETS, scaling_law
from fsl_sym.order import Order
from fsl_sym.proof import Derivation, Formula, less, tends
from fsl_sym.symbols import C, N, beta

RICHER = Symbol("beta'", positive=True)
"""The higher capacity, in the quotient that is printed."""
MORE, BEYOND = (Symbol(name, positive=True) for name in "xy")
"""A lower capacity is beta + x; of one for which the task is hard it is 1 + alpha + y."""
_own_risk, _richer_risk = (best(ALPHA / capacity, capacity, N) for capacity in (beta, RICHER))
TWO = (
    less(1, RICHER),
    less(RICHER, beta),
    Where("E_opt(s, beta, N) is the least risk over M and gamma at the budget N"),
)
CAPACITY_PRINTED: Final = tends(_richer_risk / _own_risk, N, oo, Integer(0))
ALL: Final = "all"
"""In the place of a regime."""
CONDITIONS: Final = {regime.name: regime.condition for regime in REGIMES}


def least_order(schedule: str, budget: str, regime: str) -> Order:
    """The least risk of one task; at the edge alpha is beta - 1.

    >>> least_order("exp-decay", "compute", "easy")
    Order(power=-alpha/(alpha + 2), log_power=alpha/(alpha + 2))
    """
    sized = int(budget == "compute")
    easy, hard = ALPHA / (1 + sized + ALPHA), ALPHA / (sized + beta)
    if schedule == "constant":
        return Order(-ALPHA / (sized + ALPHA + beta))
    power = hard if regime == "hard" else easy
    logarithm = power if schedule == "exp-decay" else 0 if regime == "hard" else easy * (beta - 1) / beta
    return Order(-power, logarithm).subs({ALPHA: beta - 1} if regime == "edge" else {})


@dataclass(frozen=True)
class OfTask:
    """The least risk of one task in a regime, or in all of them."""

    schedule: str
    budget: str
    regime: str = ALL

    def formulas(self) -> list[Formula]:
        """The optimum of the law at s = alpha/beta."""
        base = N if self.budget == "data" else C
        loss, (variables, _, constraints) = scaling_law(self.schedule).under(base)
        where = None if self.regime == ALL else CONDITIONS[self.regime].subs(AT_TASK)
        order = written(least_order(self.schedule, self.budget, self.regime), base)
        return [Formula(loss.subs(AT_TASK), "optimum", order, program=(variables, base, constraints), where=where)]

    def derivations(self) -> list[Derivation]:
        """From the least values for all s and beta."""
        return [least_of_task(self.schedule, self.budget, "" if self.regime == ALL else self.regime)]


def gain(schedule: str, budget: str, better: str, worse: str) -> Falls:
    """That the least risk at beta falls faster than that at a lower capacity: of one regime, or easy against hard."""
    lower = {beta: beta + MORE if better == worse else 1 + ALPHA + BEYOND}
    quotient = least_order(schedule, budget, better) / least_order(schedule, budget, worse).subs(lower)
    return Falls(quotient, N if budget == "data" else C)


GAINS: Final = {
    "constant": ((ALL, ALL),),
    "exp-decay": (("hard", "hard"), ("easy", "hard")),
    "wsd": (("easy", "easy"), ("hard", "hard"), ("easy", "hard")),
}
"""Where a higher capacity wins: regimes of the higher and of the lower one. Of easy tasks under exponential decay the
order has no beta."""


def compared(problems: Sequence[tuple[str, str]] = PROBLEMS, regimes: Sequence[str] = ALL_REGIMES) -> list[Any]:
    """The least risks of one task, and where they fall faster at a higher capacity, as far as regimes are named."""
    stated: list[Any] = []
    for problem in problems:
        own = (ALL,) if problem[0] == "constant" else regimes
        stated += [OfTask(*problem, regime) for regime in own]
        stated += [gain(*problem, *pair) for pair in GAINS[problem[0]] if {*pair} <= {*own}]
    return stated


constant_rate = partial(compared, [("constant", budget) for budget in BUDGETS])
easy_decay, hard_decay = (
    partial(compared, [("exp-decay", "compute")], regimes) for regimes in (("easy",), ("easy", "hard"))
)


def capacity_ratios(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """Least risk at the higher capacity over that at the lower one."""
    rays_of = {}
    for schedule, budget in PROBLEMS:
        own = least_risk(schedule, budget, *sample.point, budgets=budgets_of(sample))
        for name, (difficulty, capacity) in richer(sample).items():
            higher = least_risk(schedule, budget, float(difficulty), float(capacity), budgets=budgets_of(sample))
            logs = {**own.logs, str(RICHER): np.full(own.scale.size, math.log(capacity))}
            ray = Ray(f"{schedule}, {budget}, {name}", own.scale, logs, higher.values - own.values, own.settled)
            rays_of[ray.name] = (ray,)
    return rays_of


@lru_cache(maxsize=64)
def _orders(sample: Sample) -> Mapping[str, Order]:
    orders = {}
    for schedule, budget in PROBLEMS:
        own = optimal_allocation(schedule, budget).at(sample.s, sample.beta).excess_risk
        for name, (difficulty, capacity) in richer(sample).items():
            orders[f"{schedule}, {budget}, {name}"] = (
                optimal_allocation(schedule, budget).at(difficulty, capacity).excess_risk / own
            )
    return orders


def _growth(order: Order) -> Equivalent:
    return growth(float(order.power), float(order.log_power))


def strictly_better(sample: Sample) -> Joint:
    """As printed: the ratio tends to 0 for every schedule and budget."""
    return Joint({name: Vanishes(_growth(order)) for name, order in _orders(sample).items()})


@dataclass(frozen=True)
class NeverWorse:
    """The measured ratio has the given order, which does not grow."""

    order: Equivalent

    def judge(self, measured: tuple[Ray, ...]) -> Judgement:
        """The order's judgement, refused where the order grows."""
        judged = self.order.judge(measured)
        if (self.order.exponents["power"], self.order.exponents["log power"]) > (0.0, 0.0):
            return Judgement(False, 99.0, judged.constants, judged.drift, "the order of the ratio grows")
        return judged

    def mutants(self) -> Mapping[str, NeverWorse]:
        """The order's mutants."""
        return {name: NeverWorse(order) for name, order in self.order.mutants().items()}

    def neighbours(self, kind: str, size: float) -> list[NeverWorse]:
        """The order's neighbours."""
        return [NeverWorse(neighbour) for neighbour in self.order.neighbours(kind, size)]


def never_worse(sample: Sample) -> Joint:
    """Corrected: the ratio has the derived order, which is at most 1."""
    return Joint({name: NeverWorse(_growth(order)) for name, order in _orders(sample).items()})


def _only(named: Mapping[str, Any], start: str) -> dict[str, Any]:
    return {name: value for name, value in named.items() if name.startswith(start)}


def some_ratios(start: str, sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """The ratios of the schedules and budgets whose names begin so."""
    return _only(capacity_ratios(sample), start)


def some_better(start: str, sample: Sample) -> Joint:
    """Their ratios tend to 0, by the derived orders."""
    return Joint({name: Vanishes(_growth(order)) for name, order in _only(_orders(sample), start).items()})


def no_gain(start: str, sample: Sample) -> Joint:
    """Their ratios are of order 1."""
    return Joint({name: growth(0.0, 0.0) for name in _only(_orders(sample), start)})


FIXED_TASK: Final = (*ONE_TASK, ORDER_OF_LAW)
QUOTIENT: Final = "judged by the quotient of the orders at two capacities"


def _quotients(sample: Sample) -> list[dict[Any, Any]]:
    """The least risks of exponential decay under a data budget at both capacities, at the ends of the budgets, in units
    of twice the one at the lower capacity."""
    difficulty, capacity = map(float, richer(sample)["within"])
    risks = [least_risk("exp-decay", "data", *at, budgets=budgets_of(sample)).values
             for at in (sample.point, (difficulty, capacity))]  # fmt: skip

    def at_place(place: int, s: float, beta: float, budget: float) -> float:
        for point, values in zip((sample.point, (difficulty, capacity)), risks, strict=True):
            if np.allclose((s, beta), point):
                return 0.5 * math.exp(values[place] - risks[0][place])
        return math.nan

    return [{ALPHA: sample.point[0] * sample.point[1], RICHER: capacity, N: math.inf, best: partial(at_place, place)}
            for place in (0, -1)]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec:intro/capacity", "sec:intro", 184, "more capacity is consistently more efficient, as printed",
        CAPACITY_PRINTED, (*ONE_TASK, *TWO),
        capacity_ratios, strictly_better, corrected_by="sec:intro/capacity-never-worse",
        family="capacities", regimes=("easy",), instances=_quotients, mends={Integer(0): Integer(1)},
        quoted="Higher-capacity models are consistently more efficient in both compute and data",
    ),
    Claim(
        "sec:intro/capacity-never-worse", "sec:intro", 184, "more capacity is never worse, and where it is better",
        lambda: formula_of(compared()), FIXED_TASK,
        capacity_ratios, never_worse, derive=lambda: derivations_of(compared()), judged_by=QUOTIENT,
        family="capacities", role="corrected",
    ),
    Claim(
        "sec: effect-lrs/constant-rate-capacity", "sec: effect-lrs", 929,
        "more capacity at a constant rate",
        lambda: formula_of(constant_rate()), FIXED_TASK,
        partial(some_ratios, "constant"), partial(some_better, "constant"),
        derive=lambda: derivations_of(constant_rate()), judged_by=QUOTIENT,
        family="capacities",
        quoted="enhances  compute efficiency",
    ),
    Claim(
        "sec: effect-lrs/easy-no-gain", "sec: effect-lrs", 1000, "easy, exponential decay: no gain from capacity",
        lambda: formula_of(easy_decay()), FIXED_TASK,
        partial(some_ratios, "exp-decay, compute"), partial(no_gain, "exp-decay, compute"),
        derive=lambda: derivations_of(easy_decay()), judged_by=QUOTIENT,
        regimes=("easy",), family="capacities",
        quoted="increasing model capacity alone does not lead to asymptotic gains",
    ),
    Claim(
        "sec: effect-lrs/hard-gain", "sec: effect-lrs", 1009, "hard, exponential decay: a gain from capacity",
        lambda: formula_of(hard_decay()), FIXED_TASK,
        partial(some_ratios, "exp-decay, compute"), partial(some_better, "exp-decay, compute"),
        derive=lambda: derivations_of(hard_decay()), judged_by=QUOTIENT,
        regimes=("hard",), family="capacities",
        quoted="become strictly more compute‐efficient",
    ),
)  # fmt: skip
