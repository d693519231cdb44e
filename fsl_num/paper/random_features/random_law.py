"""thm: fsl-random and thm: fsl-hard-regime: the law with random features; a fixed target is one with random signs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from sympy import Rational, Trace

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Sharp
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import PROJECTIONS, SPECTRUM, TARGET
from fsl_num.paper.random_features import formulas, laws
from fsl_num.paper.random_features.formulas import HATS, LEFT, H, S, e, floor_value, kernel, law, leaky, square, u
from fsl_num.paper.random_features.identities import (
    CASES,
    COLUMNS,
    ROUNDING,
    TIMES,
    Point,
    Table,
    case,
    forgetting,
    instances,
    of_projections,
)
from fsl_num.paper.random_features.risks import rays
from fsl_num.validation import Array
from fsl_sym.proof import Property, at_most, equals
from fsl_sym.random_features import sign_derivation
from fsl_sym.symbols import M, beta, s, t, z

HARD: Final = law(M ** (-s * beta), (1 + t) ** -s, (1 + t - z) ** (1 / beta - 2), (1 + z) ** -s)
PRINTED_LAW: Final = law(M ** (-s * beta), e(t), kernel(t - z), e(z))
LAW: Final = law(floor_value, leaky(t), kernel(t - z), leaky(z))
STEEP = {"edge": ((Rational(3, 4), Rational(4)),)}
_X, _Y = square("X"), square("Y")
SIGNS: Final = equals(Trace((_X * S * u).T * H * (_X * S * u)), Trace((_Y * u).T * H * (_Y * u)))
"""The risk that X leaves of S u, and Y of u."""


def sign_risks(sample: Sample) -> Table:
    """theta'S A_t'H A_t S theta with W, for signs S."""
    return _signed(sample, on_target=True)


def sign_claim(sample: Sample, *, flipped: bool = True) -> Callable[[Point], float]:
    """theta'A_t'H A_t theta with W S; without the signs where not ``flipped``."""
    table = dict(_signed(sample, on_target=False, flipped=flipped))
    return lambda point: table[point]


def _signed(sample: Sample, *, on_target: bool, flipped: bool = True) -> Table:
    table: Table = []
    signs = np.array([1.0, -1.0, -1.0, 1.0, -1.0]) if flipped else np.ones(COLUMNS)
    for number in range(CASES):
        projection, eigenvalues, theta = case(sample, number)
        matrix, target = (projection, signs * theta) if on_target else (projection * signs, theta)
        for time in TIMES:
            decayed = forgetting(matrix, eigenvalues, time) @ target
            table.append(((number, time), float(eigenvalues @ decayed**2)))
    return table


def _sign_values(projection: Array, root: Array, decayed: Array, time: float) -> dict[Any, Any]:
    signs = np.diag([1.0, -1.0, -1.0, 1.0, -1.0])
    other = forgetting(projection @ signs, np.diag(root) ** 2, time)
    return {_X: decayed, _Y: other, S: signs, H: root**2, u: np.arange(1.0, COLUMNS + 1.0)[:, None]}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "thm: fsl-hard-regime/random-features", "thm: fsl-hard-regime", 491,
        "the hard regime, with random features",
        HARD, (SPECTRUM, TARGET, at_most(s, 1 - 1 / beta), *formulas.RANDOM, *formulas.TRAINING),
        rays, partial(laws.risk_law, HARD, laws.hard_exponents),
        regimes=("edge", "hard"),
        depends=("lem: random_eigen/corrected", "prop:volterra-random/corrected"), family="random-risks",
        probability=formulas.OF_SIGNS, extra_points=STEEP,
        quoted=r"For the random-$M$ case, the same FSL holds with probability at least $1 - \exp\{-\Omega(M)\}$",
    ),
    Claim(
        "thm: fsl-random", "thm: fsl-random", 627, "the law of random features, as printed",
        PRINTED_LAW,
        (SPECTRUM, TARGET, at_most(s, 1), *HATS, *formulas.RANDOM,
         *formulas.TRAINING),
        rays, partial(laws.risk_law, PRINTED_LAW, laws.source_exponent),
        depends=("prop:volterra-random",), corrected_by="thm: fsl-random/corrected", family="random-risks",
        probability=formulas.OF_SIGNS, extra_points=formulas.AT_ONE, moved=laws.to_one,
        quoted=r"and $s\in(0,1]$",
        remark="It fails at the end of its range, where a logarithm is missing.",
    ),
    Claim(
        "thm: fsl-random/corrected", "thm: fsl-random", 627, "the law of random features, on every task",
        LAW, (SPECTRUM, TARGET, *HATS, *LEFT, "s > 0", *formulas.RANDOM, *formulas.TRAINING),
        rays,
        partial(laws.risk_law, LAW, laws.corrected_exponents),
        partial(laws.corrected_law_mutants, LAW),
        depends=("prop:volterra-random/corrected",), family="random-risks", role="corrected",
        probability=formulas.OF_SIGNS,
        extra_points=formulas.STEEPER,
        remark="Below the end of the printed range it is the law of the paper.",
    ),
    Claim(
        "thm: fsl-random/signs", "thm: fsl-random", 628, "a fixed target is one with random signs",
        SIGNS,
        (SPECTRUM, TARGET, Where("X is exp(-t W'W H); Y is exp(-t S W'W S H); S is S^-1"),
         PROJECTIONS("random"), Property("H", "diagonal"), Property("S", "diagonal")),
        of_projections(sign_risks),
        lambda sample: Sharp(sign_claim(sample), ROUNDING, {
            "the signs left out": sign_claim(sample, flipped=False)}),
        instances=partial(instances, values=_sign_values),
        derive=sign_derivation, family="random-identities", role="own",
        remark="Over W with symmetric columns the risks of a fixed target and of one with random signs are thus "
               "equal in law.",
    ),
)  # fmt: skip
