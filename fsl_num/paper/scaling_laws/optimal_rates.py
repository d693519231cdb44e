"""The best rates of the functional law under a data or a compute budget: how all of it grows. Ours, not the paper's.

With w = 1/gamma samples a unit of intrinsic time, the noise int K(T - t)/w dt is convex in w and the data int w dt
linear, so that the Karush-Kuhn-Tucker conditions decide: w is in proportion to sqrt(K(T - t)), cut where gamma reaches
its bound. Uncut, the noise is (int sqrt K)^2/D, of the order min(M, T^(1/beta))/D. In the easy regime it balances the
signal T^-s, and gamma ~ T/D falls with D; in the hard one that T would be beyond D, so that gamma stays at its bound
but for a last R at which the price of a sample, K(R) ~ R^-(2 - 1/beta), is what a sample learns, T^(-s-1). Under
C = M D the model is as large as T lets it learn, M ~ T^(1/beta). The measurement is the designer, which knows no law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Joint, Ray, Statement
from fsl_num.design.theory import best_gammas
from fsl_num.model import Model
from fsl_num.paper.hypotheses import MODEL
from fsl_sym.domain import REGIMES
from fsl_sym.optimal_rates import LAWS, LEAST_PRICE, above_least_price, least_orders, price, stationary_rate
from fsl_sym.proof import AllOf, Formula, equals, same_order
from fsl_sym.symbols import K2, C, D, E, K, M, T, a, beta, gamma, s

_LONGEST: Final = 40.0
"""Budgets end at 1e40, or beyond where horizons grow more slowly."""
_SETTLED: Final = {"data": 12.0, "compute": 18.0}
"""Decades of the least budget: before it neither the sums over features nor the start of training are powers."""
_FLAT, _AROUND = 0.05, 0.5
"""To so much, of its logarithm, the best model size is searched, and so far around where it is expected."""
_EASIER: Final = 1 + s * beta
DATA_EASY: Final = {
    "loss": same_order(E, D ** (-s * beta / _EASIER)),
    "horizon": same_order(T, D ** (beta / _EASIER)),
    "peak": same_order(a, D ** (beta / _EASIER - 1)),
}
DATA_HARD: Final = {
    "loss": same_order(E, D**-s),
    "horizon": same_order(T, D),
    "decay": same_order(K2 / K, D ** (-(beta - _EASIER) / (2 * beta - 1))),
}
COMPUTE_EASY: Final = {
    "loss": same_order(E, C ** (-s * beta / (1 + _EASIER))),
    "size": same_order(M, C ** (1 / (1 + _EASIER))),
    "horizon": same_order(T, C ** (beta / (1 + _EASIER))),
    "peak": same_order(a, C ** ((beta - _EASIER) / (1 + _EASIER))),
}
LEAST: Final = (D ** (-s * beta / _EASIER), D ** -((beta - 1) / beta), D**-s)
"""Of the excess risk, for easy tasks, at the edge, and for hard tasks."""
STATIONARY: Final = equals(price(gamma), above_least_price(gamma) + LEAST_PRICE)
"""At every rate gamma; what lies above the least price is a square that vanishes at sqrt(mu/k)."""
COMPUTE_HARD: Final = {
    "loss": same_order(E, C ** (-s * beta / (1 + beta))),
    "size": same_order(M, C ** (1 / (1 + beta))),
    "horizon": same_order(T, C ** (beta / (1 + beta))),
}


def _found(s: float, beta: float, size: float, data: float) -> dict[str, float]:
    """Of the best rates that never rise their excess risk, intrinsic time, largest gamma and share of the decay."""
    risk, gammas, samples = best_gammas(Model(s, beta, size, 1.0), data, falling=True)
    peak = float(gammas.max())
    return {"size": size, "loss": risk, "horizon": float(gammas @ samples), "peak": peak,
            "decay": float(samples[gammas < 0.99 * peak].sum()) / data}  # fmt: skip


def _budgets(sample: Sample, budget: str) -> Any:
    farther = max(1.0, float(sample.s + 1 / sample.beta))  # horizons of up to about 1e40, of easy tasks too
    return farther * np.linspace(_SETTLED[budget], _LONGEST, 4 + 2 * sample.effort)


@lru_cache(maxsize=16)
def data_rays(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """The designs of infinitely many features along the data."""
    decades = _budgets(sample, "data")
    optima = [_found(*sample.point, math.inf, 10.0**decade) for decade in decades]
    logs = math.log(10.0) * decades
    return {
        name: (Ray("D to infinity", logs, {"D": logs}, np.log([each[name] for each in optima])),)
        for name in DATA_EASY | DATA_HARD
    }


def _best_size(point: tuple[float, float], compute: float, before: list[float]) -> float:
    """The logarithm of the model size of the least excess risk; near where two of smaller budgets lead."""

    from scipy.optimize import minimize_scalar

    def log_risk(log_size: float) -> float:
        size = round(math.exp(log_size))
        return math.log(best_gammas(Model(*point, size, 1.0), compute / size)[0])

    low, high = before[-1], math.log(compute)
    if len(before) > 2:
        low, high = (2.0 * before[-1] - before[-2] + each for each in (-_AROUND, _AROUND))
    minimum: Any = minimize_scalar(log_risk, bounds=(low, high), method="bounded", options={"xatol": _FLAT})
    if len(before) > 2 and min(minimum.x - low, high - minimum.x) < 0.1 * _AROUND:
        return _best_size(point, compute, before[-1:])
    return float(minimum.x)


@lru_cache(maxsize=16)
def compute_rays(sample: Sample) -> Mapping[str, tuple[Ray, ...]]:
    """The designs along the compute, each at the model size of the least excess risk."""
    decades, sizes, optima = _budgets(sample, "compute"), [0.0], []
    for decade in decades:
        sizes.append(_best_size(sample.point, 10.0**decade, sizes))
        size = round(math.exp(sizes[-1]))
        optima.append(_found(*sample.point, size, 10.0**decade / size))
    logs = math.log(10.0) * decades
    return {
        name: (Ray("C to infinity", logs, {"C": logs}, np.log([each[name] for each in optima])),)
        for name in COMPUTE_EASY
    }


def _claim(
    name: str, title: str, text: str, orders: Mapping[str, Formula], regime: str,
    rays: Callable[[Sample], Mapping[str, tuple[Ray, ...]]], *hypotheses: str,
) -> Claim:  # fmt: skip
    def measured(sample: Sample) -> dict[str, Any]:
        rays_of = rays(sample)
        return {order: rays_of[order] for order in orders}

    def statement(sample: Sample) -> Statement:
        return Joint({each: order_statement(formula, sample) for each, formula in orders.items()})

    condition = "s > 1 - 1/beta" if regime == "easy" else "s < 1 - 1/beta"
    return Claim(
        name, "eqn: FSL-optimization", 1583, title, text, AllOf(tuple(orders.values())),
        (MODEL, condition, "E is the least excess risk over gamma that never rise, up to a bound, a the peak",
         "sigma^2 of order 1", *hypotheses),
        measured, statement, regimes=(regime,), role="own", depends=("eqn: fsl-simplified",),
    )  # fmt: skip


def _least() -> Claim:
    """The least risk of a data budget regime by regime, of the law that the best rates leave.

    Of a compute budget the designs are not settled near the edge, where this claim would ask for them.
    """
    law, *program = LAWS["data"]
    orders = dict(zip([regime.name for regime in REGIMES], LEAST, strict=True))
    optima = [
        Formula(law, "optimum", orders[regime.name], program=tuple(program), where=regime.condition)
        for regime in REGIMES
    ]

    def measured(sample: Sample) -> Any:
        return data_rays(sample)["loss"]

    def statement(sample: Sample) -> Statement:
        return order_statement(same_order(E, orders[sample.regime]), sample)

    return Claim(
        "optimal-schedule/data", "eqn: FSL-optimization", 1583, "the least risk of all schedules, data",
        "Ours: a unit of intrinsic time at the rate gamma costs the noise k gamma and 1/gamma samples; at every price "
        "mu sqrt(mu/k) is the cheapest rate. What that leaves over an intrinsic time T has the least order given, "
        "regime by regime, and the designer finds it.",
        AllOf((STATIONARY, *optima)),
        (MODEL, "sigma^2 of order 1", "the law is that of the best rates over T: T^-s and the noise (int sqrt K)^2/D, "
         "of the order min(M, T^(1/beta))/D"),
        measured, statement, derive=lambda: (stationary_rate(), *least_orders("data")), role="own",
        depends=("eqn: fsl-simplified", "lemma:ke-power/kernel-window"),
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _least(),
    _claim(
        "optimal-schedule/data-easy", "the best schedule of a data budget, easy regime",
        "Ours: for s > 1 - 1/beta and M infinite, of D samples the best schedule leaves D^(-s beta/(1 + s beta)), over "
        "an intrinsic time of the order D^(beta/(1 + s beta)): its peak falls like D^(beta/(1 + s beta) - 1). No fixed "
        "shape beats that order; a power decay with p > beta - 1 has it too.",
        DATA_EASY, "easy", data_rays, "M infinite",
    ),
    _claim(
        "optimal-schedule/data-hard", "the best schedule of a data budget, hard regime",
        "Ours: for s < 1 - 1/beta and M infinite, of D samples the best schedule leaves D^-s. Its peak is the bound, "
        "its intrinsic time of the order D, and the share of samples after the rate has left the bound falls like "
        "D^(-(beta - 1 - s beta)/(2 beta - 1)).",
        DATA_HARD, "hard", data_rays, "M infinite", "K_2 samples come after the rate has left its bound",
    ),
    _claim(
        "optimal-schedule/compute-easy", "the best schedule of a compute budget, easy regime",
        "Ours: for s > 1 - 1/beta and C = M D, the best model size is of the order C^(1/(2 + s beta)), the intrinsic "
        "time M^beta, the peak C^((beta - 1 - s beta)/(2 + s beta)), and C^(-s beta/(2 + s beta)) is left.",
        COMPUTE_EASY, "easy", compute_rays, "M of choice",
    ),
    _claim(
        "optimal-schedule/compute-hard", "the best schedule of a compute budget, hard regime",
        "Ours: for s < 1 - 1/beta and C = M D, the best model size is of the order C^(1/(1 + beta)), with the peak at "
        "its bound the intrinsic time is of the order D = M^beta, and C^(-s beta/(1 + beta)) is left.",
        COMPUTE_HARD, "hard", compute_rays, "M of choice",
    ),
)  # fmt: skip
