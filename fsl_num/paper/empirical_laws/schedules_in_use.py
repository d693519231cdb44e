"""sec:CLRS: the cosine schedule and 8-1-1, as the paper defines them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from sympy import Expr, Piecewise, Rational, cos, pi, sqrt

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Sharp
from fsl_num.claims.words import joined
from fsl_num.paper.empirical_laws.formulas import peak, rho
from fsl_num.paper.empirical_laws.measurements import Measured, by_step
from fsl_num.paper.hypotheses import located
from fsl_num.schedules import step_rates
from fsl_sym.ansatz import k, rate
from fsl_sym.proof import AllOf, Formula, equals
from fsl_sym.symbols import K

EIGHT_ONE_ONE: Final = equals(
    rate(k),
    Piecewise((peak, k <= K * Rational(4, 5)), (peak / sqrt(10), k <= K * Rational(9, 10)), (peak / 10, True)),
)
RATIO = 0.1
LENGTHS, DIVIDED = (2, 11, 1000, 33907), (10, 130, 33900)
ENDS = ("rho = 0.1", f"{LENGTHS[0]} <= K <= {LENGTHS[-1]}")
_located = located({"rho": RATIO, "K": np.array(LENGTHS)})
ROUNDING = 1e-12
"""A cosine near -1 loses half of its digits of the angle, not of itself."""


def _cosine(angle: Expr) -> AllOf:
    """The cosine schedule, and that it ends at rho times the peak."""
    shape = (1 + rho) / 2 * peak + (1 - rho) / 2 * peak * cos(angle)
    return AllOf((equals(rate(k), shape), equals(rate(1), peak), equals(rate(K), rho * peak)))


COSINE_PRINTED, COSINE = _cosine((k - 1) / (K - 1)), _cosine(pi * (k - 1) / (K - 1))


def rate_by(formula: Formula | AllOf, step: int, steps: int) -> float:
    """eta_k/eta_max by the formula of a schedule, rho = 0.1 where it has one.

    >>> round(rate_by(EIGHT_ONE_ONE, 9, 10), 12), rate_by(EIGHT_ONE_ONE, 10, 10)
    (0.316227766017, 0.1)
    """
    assert isinstance(formula, Formula)
    return float(formula.right.subs({k: step, K: steps, peak: 1, rho: RATIO}))


def ends_of(stated: AllOf) -> Measured:
    """eta_k/eta_max at both ends by the first formula of a claim."""
    return [((step, steps), rate_by(stated.parts[0], step, steps)) for steps in LENGTHS for step in (1, steps)]


def _ends(sample: Sample) -> Sharp:
    wrong: dict[str, Callable[[Any], float]] = {
        "ends at half": lambda point: 1.0 if point[0] == 1 else 0.5,
        "ends at 0": lambda point: 1.0 if point[0] == 1 else 1e-9,
        "begins at the tenth": lambda point: RATIO if point[0] == 1 else 1.0,
    }
    return Sharp(lambda point: 1.0 if point[0] == 1 else RATIO, ROUNDING, wrong)


def _eight_one_one(sample: Sample) -> Measured:
    return [
        ((k, steps), float(step_rates("8-1-1", peak=1.0, steps=steps)[k - 1]))
        for steps in DIVIDED
        for k in sorted(
            {1, steps // 2, steps * 4 // 5, steps * 4 // 5 + 1, steps * 9 // 10, steps * 9 // 10 + 1, steps}
        )
    ]


def _eight_one_one_instances(sample: Sample) -> list[dict[Any, Any]]:
    """The rates of our schedule at every step of a run: where a stage ends decides one step alone."""
    known = {K: 130, peak: 1.0, rate: by_step(step_rates("8-1-1", peak=1.0, steps=130).tolist())}
    return [{**known, k: step} for step in range(1, 131)]


def _cosine_instances(sample: Sample) -> list[dict[Any, Any]]:
    """Half a cosine as the square of a quarter of one, at both ends and between."""

    def rate_at(step: int, steps: int) -> float:
        return float(RATIO + (1.0 - RATIO) * math.cos(0.5 * math.pi * (step - 1) / (steps - 1)) ** 2)

    return [{k: step, K: steps, peak: 1.0, rho: RATIO, rate: partial(rate_at, steps=steps)}
            for steps in LENGTHS[1:] for step in (1, steps // 3, steps)]  # fmt: skip


def _stages(first: float = 0.8, second: float = 0.9, drop: float = math.sqrt(10.0), shift: int = 0) -> Any:
    def rate(point: Any) -> float:
        k, steps = point
        passed = [end for end in (first * steps, second * steps) if k + shift > end + 1e-9 * steps]
        return float(drop ** -len(passed))

    return rate


def _eight_one_one_statement(sample: Sample) -> Sharp:
    wrong = {
        "a drop by 10 each": _stages(drop=10.0),
        "at 70 and 80 %": _stages(0.7, 0.8),
        "one step early": _stages(shift=1),
        "one step late": _stages(shift=-1),
    }
    return Sharp(lambda point: rate_by(EIGHT_ONE_ONE, *point), ROUNDING, wrong)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec:CLRS/cosine", "sec:CLRS", 1207, "the cosine schedule, as printed",
        COSINE_PRINTED, ENDS,
        _located(lambda sample: ends_of(COSINE_PRINTED)), _ends, regimes=("easy",),
        corrected_by="sec:CLRS/cosine/corrected", instances=_cosine_instances,
        mends={(k - 1) / (K - 1): pi * (k - 1) / (K - 1)},
        quoted=r"such that the minimum learning rate is $\eta_{\operatorname{max}}/10$",
    ),
    Claim(
        "sec:CLRS/cosine/corrected", "sec:CLRS", 1207, "the cosine schedule",
        COSINE, ENDS,
        _located(lambda sample: ends_of(COSINE)), _ends, regimes=("easy",),
        instances=_cosine_instances,
        role="corrected",
    ),
    Claim(
        "sec:CLRS/8-1-1", "sec:CLRS", 1211, "the schedule 8-1-1",
        EIGHT_ONE_ONE, (f"K = {joined(DIVIDED)}",),
        located({"K": DIVIDED})(_eight_one_one),
        _eight_one_one_statement, instances=_eight_one_one_instances, regimes=("easy",),
        quoted=r"$\eta_{K_3}=\eta_{\max}/10$, and $K_1=0.8 K, K_2=0.9K$",
    ),
)  # fmt: skip
