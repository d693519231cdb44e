"""sec: effect-lrs: what more capacity does to the optimal peak rate of one task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import growth, parts_of
from fsl_num.claims.statements import Joint, Ray
from fsl_num.paper.allocation.forms import Chosen, Falls, derivations_of, formula_of, point, printed_choices
from fsl_num.paper.allocation.numeric_laws import measure_allocation
from fsl_num.paper.hypotheses import ORDER_OF_LAW
from fsl_num.paper.model.formulas import ALPHA, best_peak, falling_peak
from fsl_num.paper.model.tuned_laws import ONE_TASK, budgets_of, least_risk, richer
from fsl_num.validation import Array
from fsl_sym.allocation import optimal_allocation
from fsl_sym.capacity_comparison import MORE, peak_rate_derivation
from fsl_sym.domain import EASY
from fsl_sym.order import UNIT, Order, OrderRange
from fsl_sym.proof import all_of, less, same_order
from fsl_sym.symbols import C, beta, s

PEAK_PRINTED: Final = same_order(best_peak(C), falling_peak)
EXPONENTIAL = ("exp-decay", "compute")
_fall = (1 + s * beta - beta) / (2 + s * beta)
SMALLEST: Final = Order(-_fall, _fall)
"""The smallest optimal peak rate."""
_HIGHER: Final = less(-((1 + ALPHA - beta) / (2 + ALPHA)), (beta + MORE - 1 - ALPHA) / (2 + ALPHA))
"""Its power, for one task and beta against beta + x."""


def peak_range() -> list[Chosen | Falls]:
    """The least risk and the range of optimal peak rates of easy tasks; and that the smallest falls with C."""
    alpha = s * beta
    risk = point(-alpha / (2 + alpha), alpha / (2 + alpha))
    quantities = {"excess_risk": risk, "peak_lr": OrderRange(SMALLEST, UNIT)}
    return [*printed_choices(EXPONENTIAL, {EASY.name: quantities}), Falls(SMALLEST, C, EASY)]


def _priced(s: Any, beta: Any, peaks: Array, budgets: tuple[float, ...]) -> tuple[Ray, ...]:
    """The risk at given logs of the peak rate, one a budget, over the least risk."""
    best = least_risk(*EXPONENTIAL, float(s), float(beta), budgets=budgets)
    own = least_risk(*EXPONENTIAL, float(s), float(beta), tuple(peaks.tolist()), budgets)
    return (Ray(own.name, own.scale, own.logs, own.values - best.values, own.settled),)


def _least_optimal(s: Any, beta: Any, sample: Sample) -> tuple[Ray, ...]:
    """The smallest rate that is optimal up to constants, by brute force."""
    rays = measure_allocation(*EXPONENTIAL, float(s), float(beta), settled=sample.effort == 0, only=("peak_lr",))[
        "peak_lr lower"
    ]
    assert rays is not None
    return rays


def peak_rate_costs(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """Exponential decay under a compute budget: the smallest optimal peak rates, and what others cost."""
    own, higher = (sample.s, sample.beta), richer(sample)["within"]
    budgets = budgets_of(sample)
    low, lower = _least_optimal(*own, sample), _least_optimal(*higher, sample)
    zeros = np.zeros(len(budgets))
    return {
        "least risk": (least_risk(*EXPONENTIAL, *sample.point, budgets=budgets),),
        "order 1": _priced(*own, zeros, budgets),
        "order 1, higher capacity": _priced(*higher, zeros, budgets),
        "the smallest": low,
        "the smallest, higher capacity": lower,
        "that of the higher capacity at the lower one": _priced(*own, lower[0].values, budgets),
    }


def _derived(sample: Sample) -> tuple[tuple[Any, Any], Order, Order]:
    """The task, and the derived order of the smallest optimal rate at its capacity and at the higher one."""
    own, orders = (sample.s, sample.beta), []
    for place in (own, richer(sample)["within"]):
        lower = optimal_allocation(*EXPONENTIAL).at(*place).quantities["peak_lr"].lower
        assert lower is not None
        orders.append(lower)
    return own, orders[0], orders[1]


def peak_rate_statement(sample: Sample) -> Joint:
    """Corrected: order 1 is optimal, the smallest falls with C; that of the higher capacity is too small for the lower.

    With too small a rate bias and approximation decide, (gamma C/(M log C))^-s and M^-alpha, at their balance (gamma
    C/log C)^(-alpha/(1 + beta)): a rate smaller by a factor costs the power -alpha/(1 + beta) of it.
    """
    own, low, lower = _derived(sample)
    lost = -own[0] * own[1] / (1 + own[1])
    free, risk = growth(0.0, 0.0), optimal_allocation(*EXPONENTIAL).at(*own).excess_risk
    power, log_power = (float(lost * (exponent - exponent_higher)) for exponent, exponent_higher in (
        (lower.power, low.power), (lower.log_power, low.log_power)))  # fmt: skip
    return Joint(
        {
            "least risk": growth(float(risk.power), float(risk.log_power)),
            "order 1": free,
            "order 1, higher capacity": free,
            "the smallest": growth(float(low.power), float(low.log_power)),
            "the smallest, higher capacity": growth(float(lower.power), float(lower.log_power)),
            "that of the higher capacity at the lower one": growth(power, log_power),
        }
    )


def printed_peak_rate(sample: Sample) -> Joint:
    """One optimal rate: gamma_opt must fall with C, so that a rate of order 1 costs more and more, at either capacity.

    By how much is not printed: as much as a rate that is too small by the same factor.
    """
    own, low, lower = _derived(sample)
    higher, alpha = richer(sample)["within"], own[0] * own[1]
    bad = {
        "order 1": -low.power * alpha / (1 + own[1]),
        "order 1, higher capacity": -lower.power * alpha / (1 + higher[1]),
    }
    parts = dict(peak_rate_statement(sample).parts)
    return Joint(parts | {name: growth(float(power), 0.0) for name, power in bad.items()})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec: effect-lrs/peak-rate-and-capacity", "sec: effect-lrs", 1005,
        "the law up to constants has one optimal peak rate, which falls with C and with a smaller beta",
        PEAK_PRINTED, ONE_TASK,
        peak_rate_costs, printed_peak_rate, regimes=("easy",),
        corrected_by="sec: effect-lrs/smallest-peak-rate-and-capacity", family="capacity-peak-rates",
        role="argument",
        remark="By the law up to constants a rate of order one is as good at every budget and every capacity; the "
               "functional itself is least at the printed order.",
    ),
    Claim(
        "sec: effect-lrs/smallest-peak-rate-and-capacity", "sec: effect-lrs", 1005,
        "the smallest optimal gamma falls with C and with a smaller beta",
        lambda: all_of((*parts_of(formula_of(peak_range())), _HIGHER)), (*ONE_TASK, ORDER_OF_LAW),
        peak_rate_costs, peak_rate_statement,
        derive=lambda: (*derivations_of(peak_range()), *peak_rate_derivation()), regimes=("easy",),
        family="capacity-peak-rates", role="corrected",
        remark="At a lower rate than the smallest optimal one a run is undertrained.",
    ),
)  # fmt: skip
