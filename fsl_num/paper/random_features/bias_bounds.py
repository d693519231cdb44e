"""lem:bias_upper_bound, lem:bias_lower_bound, thm:const_lrs_law: what random features leave without noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
from sympy import Rational

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Direction, Statement
from fsl_num.paper.hypotheses import SPECTRUM, TARGET, located
from fsl_num.paper.random_features import forcing
from fsl_num.paper.random_features.formulas import AT_ONE, OF_SIGNS, RANDOM, bias, e
from fsl_num.paper.random_features.laws import FLOOR, law_of, to_one
from fsl_num.paper.random_features.letters import LEFT_AT, SIGNAL
from fsl_num.paper.random_features.statements import DrawnRay, Law, OverDraws
from fsl_sym.proof import AllOf, Formula, at_most, less, order_at_most, same_order
from fsl_sym.symbols import M, beta, s, t

_floor = M ** (-s * beta)
BIAS_ABOVE: Final = order_at_most(bias(t), _floor + e(t))
BIAS_BELOW: Final = (order_at_most(_floor, bias(t)), order_at_most(e(t), bias(t)))
BIAS_RESTATED: Final = same_order(bias(t), _floor + e(t))
SLOPES: Final = {**forcing.EARLY, forcing.LARGER: forcing.SETTLED}
FAR_BELOW_ONE: Final = (Rational(1, 2), Rational(3, 2))
"""Near s = 1 the floor shows its power, without the logarithm of s = 1, only for models far larger than these."""
BELOW_ONE = {"hard": ((Rational(2, 3), Rational(6)),)}


def _law(sample: Sample, direction: Direction, *formulas: Formula) -> OverDraws:
    """The sum of what the formulas compare with what is left, of the order of the largest. For s >= 1 a larger floor is
    true as well, at s = 1 one larger by log M."""
    source, capacity = sample.point
    law = law_of(sample, sum(formula.left if direction == "lower" else formula.right for formula in formulas))
    return OverDraws(
        law, {FLOOR: -source * capacity} if source < 1.0 else {}, direction, slack=SLOPES, formulas=formulas
    )


def _without_logarithm(law: Law, exponents: Mapping[str, float], logs: Mapping[str, Any]) -> Any:
    return law(exponents, logs) - np.log(logs["M"])


def _above(sample: Sample) -> OverDraws:
    """From above; a bound smaller by log M is refused."""
    stated = _law(sample, "upper", BIAS_ABOVE)
    return replace(stated, wrong={"over log M": partial(_without_logarithm, stated.law)})


def _above_mutants(sample: Sample) -> dict[str, Statement]:
    """The floor alone smaller by M^-0.02, which the larger sizes resolve."""
    stated = _above(sample)
    return {
        "a floor over M^0.02": replace(stated, exponents={key: power - 0.02 for key, power in stated.exponents.items()})
    }


def _below(sample: Sample) -> OverDraws:
    return _law(sample, "lower", *BIAS_BELOW)


def _below_mutants(sample: Sample) -> dict[str, Statement]:
    """That it is of that order is true for s < 1 (lem:bias_upper_bound), false from s = 1 on."""
    return {"of that order": replace(_below(sample), direction="both")} if sample.point[0] >= 1.0 else {}


def _left(sample: Sample) -> list[DrawnRay]:
    return [*forcing.rays(sample), forcing.never_learned_ray(sample)]


def _to_the_edge(s: Any, beta: Any) -> tuple[Any, Any]:
    """Between 1 - 1/beta and 1 the floor's second term, M^-beta, fades too slowly beside M^-(s beta) to be seen."""
    edge = 1 - 1 / Rational(beta)
    return (edge, beta) if edge < s < 1 else (s, beta)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem:bias_upper_bound", "lem:bias_upper_bound", 2587, "what random features leave, from above, as printed",
        BIAS_ABOVE, (SPECTRUM, TARGET, LEFT_AT, SIGNAL, at_most(s, 1), *RANDOM),
        forcing.rays, _above, corrected_by="lem:bias_upper_bound/corrected",
        depends=("lem: random_eigen/corrected",), family="random-left",
        probability=OF_SIGNS, extra_points=AT_ONE, moved=to_one,
        quoted=r"for $0 < s\le 1$ we have",
        remark="It fails at the end of its range, where a logarithm is missing from what is left at the end.",
    ),
    Claim(
        "lem:bias_upper_bound/corrected", "lem:bias_upper_bound", 2587, "what random features leave, from above",
        BIAS_ABOVE, (SPECTRUM, TARGET, LEFT_AT, SIGNAL, less(s, 1), *RANDOM),
        _left, _above, _above_mutants, regimes=("edge", "hard"), role="corrected",
        depends=("lem: random_eigen/corrected",), family="random-left",
        probability=OF_SIGNS, extra_points=BELOW_ONE, moved=_to_the_edge,
    ),
    Claim(
        "lem:bias_lower_bound", "lem:bias_lower_bound", 2663, "what random features leave, from below",
        AllOf(BIAS_BELOW), (SPECTRUM, TARGET, LEFT_AT, SIGNAL, *RANDOM),
        _left, _below, _below_mutants,
        depends=("lem: random_eigen/corrected",), family="random-left",
        probability=OF_SIGNS, extra_points={
            "easy": (FAR_BELOW_ONE, *AT_ONE["easy"], (Rational(6, 5), Rational(5)), (Rational(2), Rational(3)))},
        quoted=r"\bA_t \bu_0 \gtrsim \max\{\widehat{e}_M(t)",
        remark="The argument of the paper does not show it.",
    ),
    Claim(
        "thm:const_lrs_law/random-features", "thm:const_lrs_law", 2997, "the restated laws, with random features",
        BIAS_RESTATED, (SPECTRUM, TARGET, LEFT_AT, SIGNAL, "s > 0", "sigma = 0", *RANDOM),
        located({"sigma": 0.0})(forcing.rays), lambda sample: _law(sample, "both", BIAS_RESTATED),
        corrected_by="prop:volterra-random/forcing",
        depends=("lem: random_eigen/corrected",), family="random-left",
        probability=OF_SIGNS, extra_points={"easy": ((Rational(3, 2), Rational(2)),)},
        quoted="or for the random case with probability at least",
    ),
)  # fmt: skip
