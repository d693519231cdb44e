"""sec: experiments: the final losses of schedules, with the exact risk of SGD."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Rational, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.words import Where
from fsl_num.experiments.final_loss import PEAK, final_risk, functional_risk
from fsl_num.model import Model
from fsl_num.paper.experiments.shared import (
    FINAL_RISK,
    FUNCTIONAL,
    HARD,
    NOISE,
    PEAK_RATE,
    POINT,
    RISK,
    SIZE,
    STEPS,
    at_its_point,
    law_by_pieces,
    setting_of,
)
from fsl_num.paper.hypotheses import SCHEDULES
from fsl_num.paper.statements import Ranges, multiple_of, quotients
from fsl_num.schedules import step_rates
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_sym.proof import AllOf, at_least, at_most, equals, less
from fsl_sym.symbols import D

BEST = (
    less(FINAL_RISK["wsd"], FINAL_RISK["exponential"]),
    less(FINAL_RISK["exponential"], FINAL_RISK["constant"]),
)
HALF = FUNCTIONAL(D) / 2
OF_LAW = (at_most(HALF, RISK(D)), at_most(RISK(D), Rational(51, 50) * HALF))
"""Half of the law from below, by 2 % at most."""
FINAL = {"risk over law": (multiple_of(OF_LAW[0].left, HALF), multiple_of(OF_LAW[1].right, HALF)), **quotients(*BEST)}
_WRONG_FINAL = {
    "half of the law": FINAL | {"risk over law": (1.98, 2.04)},
    **{f"{name} above 1": FINAL | {name: (1.0, 2.0)} for name in quotients(*BEST)},
}
BELOW_COSINE = less(FINAL_RISK["wsd"], FINAL_RISK["cosine"])
WSD_BELOW = {"before the decay": (1.0, 10.0), **quotients(BELOW_COSINE)}
_WRONG_WSD = {
    "lower before the decay": {"before the decay": (0.0, 1.0)},
    "higher at the end": dict.fromkeys(quotients(BELOW_COSINE), (1.0, 2.0)),
}


CONSTANT_RATE = Symbol("eta", positive=True)
"""The rate of the constant schedule; the others have their peaks at eta_max."""


def peak_rate(name: str, budget: float) -> float:
    """The data-optimal orders in the hard regime: D^(-s/(1+s)) for the constant schedule, D^0 for those that decay."""
    return PEAK * budget ** -(POINT[0] / (1.0 + POINT[0])) if name == "constant" else PEAK


@lru_cache(maxsize=4)
def _final_losses(largest: int) -> Located:
    problem = Regression(Model(s=POINT[0], beta=POINT[1], size=math.inf, noise=NOISE))
    numbers: dict[str, float] = {}
    budgets = [10**power for power in range(4, largest + 1)]
    for budget in budgets:
        risks = {}
        for name in ("constant", "exp-decay", "wsd"):
            peak = peak_rate(name, float(budget))
            risks[name] = final_risk(problem, name, peak, budget)[0]
            law = functional_risk(problem, name, peak, float(budget))
            numbers[f"{name}, D = {budget:.0e}: risk over law"] = risks[name] / law
        numbers[f"D = {budget:.0e}: E_wsd over E_exponential"] = risks["wsd"] / risks["exp-decay"]
        numbers[f"D = {budget:.0e}: E_exponential over E_constant"] = risks["exp-decay"] / risks["constant"]
    rates = {str(rate): np.array([peak_rate(name, float(budget)) for budget in budgets])
             for name, rate in (("wsd", PEAK_RATE), ("constant", CONSTANT_RATE))}  # fmt: skip
    return Located(tuple(numbers.items()), setting_of(problem) | rates | {"D": np.array(budgets)})


def final_losses(sample: Sample) -> Located:
    """The exact risk at the end over half of the law, and schedule over schedule, for D up to 1e5 (full: 1e6)."""
    return _final_losses(6 if sample.effort else 5)


@lru_cache(maxsize=4)
def wsd_over_cosine(*peaks: float) -> Located:
    """The exact risk under WSD over that under cosine, both down to a tenth: when the decay begins, and at the end."""
    problem = Regression(Model(s=POINT[0], beta=POINT[1], size=SIZE, noise=NOISE))
    numbers: dict[str, float] = {}
    for peak in peaks:
        curves = [
            exact_risk(problem, step_rates(name, peak=peak, steps=STEPS, final=0.1 * peak), every=STEPS // 5)
            for name in ("wsd", "cosine")
        ]
        wsd, cosine = (curve.excess_risk for curve in curves)
        numbers[f"peak {peak:g}: before the decay"] = float(wsd[-2] / cosine[-2])
        numbers[f"peak {peak:g}: E_wsd over E_cosine"] = float(wsd[-1] / cosine[-1])
    return Located(tuple(numbers.items()), setting_of(problem) | {"eta_max": np.array(peaks), "K": STEPS})


def _at_the_end(sample: Sample) -> dict[str, Any]:
    """The functional law of a short run, as it is measured and by its pieces."""
    problem = Regression(Model(s=POINT[0], beta=POINT[1], size=math.inf, noise=NOISE))
    law, pieces = (measured(problem, "wsd", PEAK, 100.0) for measured in (functional_risk, law_by_pieces))
    return {"D": 100.0, "F": lambda budget: law, "the functional law at the end": pieces}


AT_THE_END: Final = Where("F(D) is the functional law at the end", _at_the_end)
CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec: experiments/final-losses", "sec: experiments", 1096, "the final losses of three schedules",
        AllOf((*OF_LAW, *BEST)),
        (*HARD, "M = N = oo", AT_THE_END, SCHEDULES("constant", "exp-decay", "wsd"),
         equals(PEAK_RATE, Rational(1, 20)), equals(CONSTANT_RATE, PEAK_RATE / D ** Rational(1, 3)),
         at_least(D, 10**4)),
        final_losses, lambda sample: Ranges(FINAL, _WRONG_FINAL, formulas=(*OF_LAW, *BEST)), regimes=("hard",),
        moved=at_its_point,
        quoted="WSD yields the best scaling performance, followed by exponential decay, while the constant schedule "
        "performs the worst",
    ),
    Claim(
        "sec: experiments/wsd-against-cosine", "sec: experiments", 1081, "WSD ends below cosine at a small peak rate",
        BELOW_COSINE,
        (*HARD, equals(PEAK_RATE, Rational(1, 100)), "M = N = 128", "K = 10000"), lambda sample: wsd_over_cosine(0.01),
        lambda sample: Ranges(WSD_BELOW, _WRONG_WSD, formulas=(BELOW_COSINE,)),
        regimes=("hard",), moved=at_its_point, role="own",
        remark="The peak rate of the paper is not printed; at larger ones cosine ends lower.",
    ),
)  # fmt: skip
