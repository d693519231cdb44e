"""appendix:experiment_details: the peak rates of the scaling experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Final

import numpy as np
from sympy import Rational, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Equivalent, Joint, Ray
from fsl_num.claims.words import Where
from fsl_num.experiments.final_loss import PEAK, PRINTED_POWERS, functional_risk, peak_parameters
from fsl_num.model import Model
from fsl_num.paper.experiments.shared import PEAK_RATE, setting_of
from fsl_num.paper.hypotheses import SPECTRUM, TARGET
from fsl_num.paper.model.formulas import best, best_peak, risk_at
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array
from fsl_sym.allocation import optimal_allocation
from fsl_sym.order import Order
from fsl_sym.proof import AllOf, at_most, equals, same_order
from fsl_sym.symbols import D

AT_PEAK: Final = same_order(risk_at(D), best(D))
"""The final risk with a peak rate, and the least one."""
LAST_RATE: Final = Symbol("eta_K", positive=True)
PRINTED_PEAK: Final = equals(PEAK_RATE, 1 / (20 * D))
TUNED: Final = AllOf((AT_PEAK, same_order(PEAK_RATE, best_peak(D))))
DECAYING = ("exp-decay", "wsd")
BUDGETS = tuple(10.0**k for k in (16, 28, 40, 52))
FINAL = Where("E(D) is the final risk with the peak rate eta_max; E_opt(D) is the data-optimal order")
SEARCHED = 0.1
"""Of the logarithm of a peak rate, to which the least risk is searched: over 83 units of log D no drift can be seen."""


def printed_peak(schedule: str, budget: float) -> float:
    """0.05 D^-1, as the appendix prints it for the decaying schedules."""
    return float(PEAK * budget ** -PRINTED_POWERS[schedule])


def experiment(sample: Sample) -> Regression:
    """The setting of the scaling experiment, with M infinite and the sample's exponents."""
    s, beta = sample.point
    return Regression(Model(s=s, beta=beta, size=math.inf, noise=9.0))


def final_risks(sample: Sample) -> Located:
    """The functional scaling law at the end of training as the budget grows, at the printed peak rate."""
    problem = experiment(sample)
    rays_of = {}
    for name in DECAYING:
        rates = [printed_peak(name, budget) for budget in BUDGETS]
        pairs = zip(rates, BUDGETS, strict=True)
        rays_of[name] = [_along(name, name, [functional_risk(problem, name, *pair) for pair in pairs], rates)]
    return Located(rays_of, setting_of(problem))


@lru_cache(maxsize=64)
def tuned(sample: Sample) -> Located:
    """The least of it over peak rates up to 0.05, and the rate at which it is least."""
    from scipy.optimize import minimize_scalar

    problem = experiment(sample)
    rays_of = {}
    for name in DECAYING:
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
        for along, values in ((name, risks), (f"{name}, peak rate", rates)):
            rays_of[along] = [_along(along, name, values, rates)]
    return Located(rays_of, setting_of(problem))


def _along(name: str, schedule: str, values: Sequence[float], rates: Sequence[float]) -> Ray:
    scale = np.log(np.array(BUDGETS))
    ends = [peak_parameters(schedule, rate, budget)["final"] for rate, budget in zip(rates, BUDGETS, strict=True)]
    logs = {"D": scale, str(PEAK_RATE): np.log(rates), str(LAST_RATE): np.log(ends)}
    return Ray(name, scale, logs, np.log(values))


def _final(exponents: Mapping[str, float], logs: Mapping[str, Array], log_power: float = 0.0) -> Array:
    return exponents["D"] * logs["D"] + log_power * np.log(logs["D"])


def _order(order: Order) -> Equivalent:
    return Equivalent(partial(_final, log_power=float(order.log_power)), {"D": float(order.power)})


def _final_risks(sample: Sample) -> Joint:
    return Joint(
        {name: _order(optimal_allocation(name, "data").at(sample.s, sample.beta).excess_risk) for name in DECAYING}
    )


def _tuned(sample: Sample) -> Joint:
    parts = dict(_final_risks(sample).parts)
    for name in DECAYING:
        order = optimal_allocation(name, "data").at(sample.s, sample.beta).quantities["peak_lr"].lower
        assert order is not None
        parts[f"{name}, peak rate"] = _order(order)
    return Joint(parts)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "appendix:experiment_details/peak-rate", "appendix:experiment_details", 1429,
        "the peak rates of the scaling experiment",
        "With the peak rate 0.05 D^-1, as printed for exponential decay and WSD, the final risk falls like the "
        "data-optimal law. The intrinsic time is at most 0.05 for every D: nothing is learned.",
        AT_PEAK,
        (SPECTRUM, TARGET, PRINTED_PEAK, FINAL, "M = N = oo", "sigma = 3, B = 1", equals(LAST_RATE, PEAK_RATE / D),
         "D <= 1e52"),
        final_risks, _final_risks,
        corrected_by="appendix:experiment_details/peak-rate-derived", family="peak-rates",
        quoted=r"and \( r = 1 \) for exponential decay",
    ),
    Claim(
        "appendix:experiment_details/peak-rate-derived", "appendix:experiment_details", 1429,
        "the best peak rates have the derived order and reach the law",
        "At the peak rate of at most 0.05 at which the functional is least, as a search finds it, the final risk "
        "follows the data-optimal law with its logarithms, and that rate has the derived data-optimal order (0.05 "
        "itself in the hard regime, where the experiment is).",
        TUNED,
        (SPECTRUM, TARGET, Where("eta_max is where E(D) is least"), at_most(PEAK_RATE, Rational(1, 20)), FINAL,
         "M = N = oo", "sigma = 3, B = 1", equals(LAST_RATE, PEAK_RATE / D), "D <= 1e52"),
        tuned, _tuned, family="peak-rates",
        role="corrected",
    ),
)  # fmt: skip
