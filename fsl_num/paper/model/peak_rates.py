"""appendix:experiment_details: the peak rates of the scaling experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
from sympy import Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Equivalent, Joint, Ray
from fsl_num.experiments.final_loss import PEAK, PRINTED_POWERS, functional_risk
from fsl_num.model import Model
from fsl_num.paper.model.formulas import SPECTRUM, TARGET, best, best_peak, risk_at
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array
from fsl_sym.allocation import optimal_allocation
from fsl_sym.proof import equals, same_order
from fsl_sym.symbols import D

PEAK_RATE = Symbol("eta_max", positive=True)
AT_PEAK: Final = same_order(risk_at(D), best(D))
"""The final risk with a peak rate, and the least one."""
PRINTED_PEAK, DERIVED_PEAK = equals(PEAK_RATE, 1 / (20 * D)), equals(PEAK_RATE, best_peak(D) / 20)
DECAYING = ("exp-decay", "wsd")
BUDGETS = tuple(10.0**k for k in (16, 28, 40, 52))
FINAL = "E(D) is the final risk with the peak rate eta_max, E_opt(D) the data-optimal order"


def derived_peak(schedule: str, sample: Sample, budget: float) -> float:
    """0.05 times the order of the smallest data-optimal peak rate."""
    order = optimal_allocation(schedule, "data").at(sample.s, sample.beta).quantities["peak_lr"].lower
    assert order is not None
    return float(PEAK * budget ** float(order.power) * math.log(budget) ** float(order.log_power))


def printed_peak(schedule: str, sample: Sample, budget: float) -> float:
    """0.05 D^-1, as the appendix prints it for the decaying schedules."""
    return float(PEAK * budget ** -PRINTED_POWERS[schedule])


def final_risks(rule: Any, sample: Sample) -> Mapping[str, list[Ray]]:
    """The functional scaling law at the end of training as the budget grows, under ``rule`` for the peak rate."""
    s, beta = sample.point
    problem = Regression(Model(s=s, beta=beta, size=math.inf, noise=9.0))
    scale = np.log(np.array(BUDGETS))
    found = {}
    for name in DECAYING:
        values = [functional_risk(problem, name, rule(name, sample, budget), budget) for budget in BUDGETS]
        found[name] = [Ray(name, scale, {"D": scale}, np.log(values))]
    return found


def _final(exponents: Mapping[str, float], logs: Mapping[str, Array], log_power: float = 0.0) -> Array:
    return exponents["D"] * logs["D"] + log_power * np.log(logs["D"])


def _final_risks(sample: Sample) -> Joint:
    parts = {}
    for name in DECAYING:
        order = optimal_allocation(name, "data").at(sample.s, sample.beta).excess_risk
        law = partial(_final, log_power=float(order.log_power))
        parts[name] = Equivalent(law, {"D": float(order.power)})
    return Joint(parts)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "appendix:experiment_details/peak-rate", "appendix:experiment_details", 1429,
        "the peak rates of the scaling experiment",
        "With the peak rate 0.05 D^-1, as printed for exponential decay and WSD, the final risk falls like the "
        "data-optimal law. The intrinsic time is at most 0.05 for every D: nothing is learned.",
        AT_PEAK,
        (SPECTRUM, TARGET, PRINTED_PEAK, FINAL, "M infinite", "sigma = 3, B = 1", "final rate 1/D of the peak",
         "D up to 1e52"),
        partial(final_risks, printed_peak), _final_risks,
        corrected_by="appendix:experiment_details/peak-rate-derived", family="peak-rates",
        quoted=r"and \( r = 1 \) for exponential decay",
    ),
    Claim(
        "appendix:experiment_details/peak-rate-derived", "appendix:experiment_details", 1429,
        "the derived peak rates reach the law",
        "With 0.05 times the derived order of the data-optimal peak rate (in the hard regime, where the experiment is, "
        "the constant 0.05) the final risk follows the data-optimal law, with its logarithms.",
        AT_PEAK,
        (SPECTRUM, TARGET, DERIVED_PEAK, FINAL, "M infinite", "sigma = 3, B = 1", "final rate 1/D of the peak",
         "D up to 1e52"),
        partial(final_risks, derived_peak), _final_risks, family="peak-rates",
        role="corrected",
    ),
)  # fmt: skip
