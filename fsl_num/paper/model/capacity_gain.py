"""sec:intro and sec: effect-lrs: what more capacity does to the least risk of one task."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Integer, Symbol, oo

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Equivalent, Joint, Ray, growth
from fsl_num.paper.allocation.forms import PROBLEMS, Vanishes
from fsl_num.paper.model.formulas import ALPHA, best, spent
from fsl_num.paper.model.tuned_laws import ONE_TASK, budgets_of, least_risk, richer
from fsl_sym.allocation import optimal_allocation
from fsl_sym.capacity_comparison import capacity_derivation
from fsl_sym.order import Order
from fsl_sym.proof import AllOf, less, order_at_most, same_order, tends
from fsl_sym.symbols import C, D, N, beta

RICHER = Symbol("beta'", positive=True)
_own_risk, _richer_risk = (best(ALPHA / capacity, capacity, N) for capacity in (beta, RICHER))
TWO = (less(1, RICHER), less(RICHER, beta), "E_opt(s, beta, N) is the least risk at the budget N")
CAPACITY_PRINTED: Final = tends(_richer_risk / _own_risk, N, oo, Integer(0))
CAPACITY: Final = order_at_most(_richer_risk, _own_risk)
CONSTANT_RATE: Final = AllOf(
    (same_order(best(D), D ** (-ALPHA / (ALPHA + beta))), same_order(best(C), C ** (-ALPHA / (1 + ALPHA + beta))))
)
EASY_DECAY, HARD_DECAY = (same_order(best(C), spent ** (-ALPHA / scale)) for scale in (2 + ALPHA, 1 + beta))


def capacity_ratios(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """Least risk at the higher capacity over that at the lower one."""
    rays_of = {}
    for schedule, budget in PROBLEMS:
        own = least_risk(schedule, budget, *sample.point, budgets=budgets_of(sample))
        for name, (difficulty, capacity) in richer(sample).items():
            other = least_risk(schedule, budget, float(difficulty), float(capacity), budgets=budgets_of(sample))
            logs = {**own.logs, str(RICHER): np.full(own.scale.size, math.log(capacity))}
            ray = Ray(f"{schedule}, {budget}, {name}", own.scale, logs, other.values - own.values, own.settled)
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
        return {name: NeverWorse(each) for name, each in self.order.mutants().items()}

    def neighbours(self, kind: str, size: float) -> list[NeverWorse]:
        """The order's neighbours."""
        return [NeverWorse(each) for each in self.order.neighbours(kind, size)]


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


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec:intro/capacity", "sec:intro", 184, "more capacity is consistently more efficient, as printed",
        "For one task (alpha = s beta fixed) a higher capacity (smaller beta) makes the optimal risk decay faster in "
        "data and in compute, for every schedule. In the easy regime under exponential decay it does not.",
        CAPACITY_PRINTED, (*ONE_TASK, *TWO),
        capacity_ratios, strictly_better, corrected_by="sec:intro/capacity-never-worse",
        family="capacities",
        quoted="Higher-capacity models are consistently more efficient in both compute and data",
    ),
    Claim(
        "sec:intro/capacity-never-worse", "sec:intro", 184, "more capacity is never worse, and where it is better",
        "A higher capacity never makes the optimal risk decay slower. It wins a power of the budget for constant rates "
        "and in the hard regime, a power of the logarithm for WSD in the easy regime, and nothing for exponential "
        "decay there.",
        CAPACITY, (*ONE_TASK, *TWO),
        capacity_ratios, never_worse, derive=capacity_derivation, family="capacities", role="corrected",
    ),
    Claim(
        "sec: effect-lrs/constant-rate-capacity", "sec: effect-lrs", 929,
        "more capacity at a constant rate",
        "For one task a higher capacity makes the optimal risk of a constant rate decay faster by a power, in data "
        "(alpha/(alpha + beta)) and in compute (alpha/(1 + alpha + beta)).",
        CONSTANT_RATE, ONE_TASK,
        partial(some_ratios, "constant"), partial(some_better, "constant"), derive=capacity_derivation,
        judged_by="judged by the quotient of the orders at two capacities",
        family="capacities",
        quoted="enhances  compute efficiency",
    ),
    Claim(
        "sec: effect-lrs/easy-no-gain", "sec: effect-lrs", 1000, "easy, exponential decay: no gain from capacity",
        "For one task in the easy regime a higher capacity leaves the order of the compute-optimal risk of exponential "
        "decay as it is.",
        EASY_DECAY, ONE_TASK,
        partial(some_ratios, "exp-decay, compute"), partial(no_gain, "exp-decay, compute"),
        derive=capacity_derivation, judged_by="judged by the quotient of the orders at two capacities",
        regimes=("easy",), family="capacities",
        quoted="increasing model capacity alone does not lead to asymptotic gains",
    ),
    Claim(
        "sec: effect-lrs/hard-gain", "sec: effect-lrs", 1009, "hard, exponential decay: a gain from capacity",
        "For one task in the hard regime a higher capacity makes the compute-optimal risk of exponential decay decay "
        "faster by a power, within the regime and beyond it.",
        HARD_DECAY, ONE_TASK,
        partial(some_ratios, "exp-decay, compute"), partial(some_better, "exp-decay, compute"),
        derive=capacity_derivation, judged_by="judged by the quotient of the orders at two capacities",
        regimes=("hard",), family="capacities",
        quoted="become strictly more compute‐efficient",
    ),
)  # fmt: skip
