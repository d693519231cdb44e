"""appendix:experiment_details: the peak rates of the scaling experiment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Rational, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement, parts_of
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Joint, Ray
from fsl_num.claims.words import Where
from fsl_num.experiments.final_loss import PEAK, PRINTED_POWERS, functional_risk, peak_parameters
from fsl_num.model import Model
from fsl_num.paper.allocation.forms import written
from fsl_num.paper.experiments.shared import PEAK_RATE, law_by_pieces, setting_of
from fsl_num.paper.hypotheses import SPECTRUM, TARGET
from fsl_num.simulate.regression import Regression
from fsl_sym.allocation import optimal_allocation
from fsl_sym.domain import REGIMES
from fsl_sym.proof import AllOf, Formula, at_most, equals, same_order
from fsl_sym.symbols import D, beta, s

LAST_RATE: Final = Symbol("eta_K", positive=True)
PRINTED_PEAK: Final = equals(PEAK_RATE, 1 / (20 * D))
DECAYING = {"exp-decay": "exponential", "wsd": "wsd"}
"""Schedule -> how letters name it."""


def data_optimal(letter: str, quantity: str) -> tuple[Formula, ...]:
    """The data-optimal orders of a quantity of both schedules in every regime, written of E_wsd, or of eta_wsd."""
    return tuple(
        replace(same_order(Symbol(f"{letter}_{name}", positive=True), written(orders.lower, D)), where=regime.condition)
        for schedule, name in DECAYING.items() for regime in REGIMES
        for orders in [optimal_allocation(schedule, "data").regime(regime.name).quantities[quantity]] if orders.lower
    )  # fmt: skip


@cache
def at_peak() -> AllOf:
    """The final risks with a peak rate are of the least order."""
    return AllOf(data_optimal("E", "excess_risk"))


@cache
def at_best_peak() -> AllOf:
    """So they are, and the best peak rates."""
    return AllOf((*at_peak().parts, *data_optimal("eta", "peak_lr")))


BUDGETS = tuple(10.0**k for k in (16, 28, 40, 52))
SEARCHED = 0.1
"""Of the logarithm of a peak rate, to which the least risk is searched: over 83 units of log D no drift can be seen."""


def printed_peak(schedule: str, budget: float) -> float:
    """0.05 D^-1, as the appendix prints it for the decaying schedules."""
    return float(PEAK * budget ** -PRINTED_POWERS[schedule])


def experiment(sample: Sample) -> Regression:
    """The setting of the scaling experiment, with M infinite and the sample's exponents."""
    s, beta = sample.point
    return Regression(Model(s=s, beta=beta, size=math.inf, noise=9.0))


def _at_the_end(sample: Sample) -> dict[str, Any]:
    """The functional law at the end of both schedules, as it is measured and by its pieces."""
    problem, letters = experiment(sample), dict[str, Any]()
    for name, letter in DECAYING.items():
        letters[f"E_{letter}"] = functional_risk(problem, name, PEAK, 100.0)
        words = {"exp-decay": "exponential decay", "wsd": "WSD"}[name]
        said = f"the functional law at the end of {words} from the peak rate eta_max"
        letters[said] = law_by_pieces(problem, name, PEAK, 100.0)
    return letters


FINAL = Where(
    "E_exponential is the functional law at the end of exponential decay from the peak rate eta_max; "
    "E_wsd is the functional law at the end of WSD from the peak rate eta_max", _at_the_end
)


def final_risks(sample: Sample) -> Located:
    """The functional scaling law at the end of training as the budget grows, at the printed peak rate."""
    problem = experiment(sample)
    rays_of = {}
    for name, letter in DECAYING.items():
        rates = [printed_peak(name, budget) for budget in BUDGETS]
        pairs = zip(rates, BUDGETS, strict=True)
        rays_of[f"E_{letter}"] = [_along(name, name, [functional_risk(problem, name, *pair) for pair in pairs], rates)]
    return Located(rays_of, setting_of(problem))


@lru_cache(maxsize=64)
def tuned(sample: Sample) -> Located:
    """The least of it over peak rates up to 0.05, and the rate at which it is least."""
    from scipy.optimize import minimize_scalar

    problem = experiment(sample)
    rays_of = {}
    for name, letter in DECAYING.items():
        risks, rates = [], []
        for budget in BUDGETS:
            best = minimize_scalar(
                lambda log_rate, name=name, budget=budget: math.log(
                    functional_risk(problem, name, math.exp(log_rate), budget)
                ),
                bounds=(-math.log(budget), math.log(PEAK)),
                method="bounded",
                options={"xatol": SEARCHED},
            )
            risks.append(math.exp(best.fun))
            rates.append(math.exp(best.x))
        for along, values in ((f"E_{letter}", risks), (f"eta_{letter}", rates)):
            rays_of[along] = [_along(along, name, values, rates)]
    return Located(rays_of, setting_of(problem))


def _along(name: str, schedule: str, values: Sequence[float], rates: Sequence[float]) -> Ray:
    scale = np.log(np.array(BUDGETS))
    ends = [peak_parameters(schedule, rate, budget)["final"] for rate, budget in zip(rates, BUDGETS, strict=True)]
    logs = {"D": scale, str(PEAK_RATE): np.log(rates), str(LAST_RATE): np.log(ends)}
    return Ray(name, scale, logs, np.log(values))


def _orders(stated: Callable[[], AllOf], sample: Sample) -> Joint:
    """Each order of the sample's regime, the power of the logarithm as derived: so few budgets do not tell it."""
    here = (part for part in parts_of(stated()) if part.where.subs({s: sample.s, beta: sample.beta}) == True)  # noqa: E712
    return Joint({part.left.name: order_statement(part, sample).of("D") for part in here})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "appendix:experiment_details/peak-rate", "appendix:experiment_details", 1429,
        "the peak rates of the scaling experiment",
        at_peak,
        (SPECTRUM, TARGET, PRINTED_PEAK, FINAL, "M = N = oo", "sigma = 3, B = 1", equals(LAST_RATE, PEAK_RATE / D),
         "D <= 1e52"),
        final_risks, partial(_orders, at_peak),
        corrected_by="appendix:experiment_details/peak-rate-derived", family="peak-rates",
        quoted=r"and \( r = 1 \) for exponential decay",
        remark="The intrinsic time stays bounded, so that nothing is learned.",
    ),
    Claim(
        "appendix:experiment_details/peak-rate-derived", "appendix:experiment_details", 1429,
        "the best peak rates have the derived order and reach the law",
        at_best_peak,
        (SPECTRUM, TARGET, Where("eta_exponential and eta_wsd are the rates eta_max where these are least"),
         at_most(PEAK_RATE, Rational(1, 20)), FINAL,
         "M = N = oo", "sigma = 3, B = 1", equals(LAST_RATE, PEAK_RATE / D), "D <= 1e52"),
        tuned, partial(_orders, at_best_peak), family="peak-rates",
        role="corrected",
        remark="In the hard regime, where the experiment is, the best rate is the bound itself.",
    ),
)  # fmt: skip
