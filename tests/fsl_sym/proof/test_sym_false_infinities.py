"""False statements about what is infinite or has no value: integrals through poles, sums over poles, oo - oo, oo/oo."""

from __future__ import annotations

import pytest
from sympy import Expr, Integer, Integral, Rational, Sum, Symbol, exp, gamma, log, lowergamma, oo, polygamma, sqrt, zeta

from fsl_sym.proof import (
    Antiderivative,
    Derivation,
    FirstTerm,
    Identity,
    Induction,
    Instance,
    Limit,
    Linear,
    OrderBetween,
    Rewrite,
    SameDerivative,
    Smaller,
    Step,
    Substitution,
    Termwise,
)
from fsl_sym.symbols import M, T, j, s, t, z

ZERO, ONE, HALF = Integer(0), Integer(1), Rational(1, 2)
u, v = Symbol("u", positive=True), Symbol("v", positive=True)
n = Symbol("n", integer=True, nonnegative=True)


def lemma(before: Expr, after: Expr, rule: object) -> Derivation:
    return Derivation("lemma", "A lemma", (Step(before, after, rule, "as its rule says"),))  # type: ignore[arg-type]


THROUGH = Integral((t - T) ** -2, (t, 0, 2 * T))
ENDLESS = Integral(1, (t, 0, oo)), Integral(2, (z, 0, oo))
SCALED = lemma(*ENDLESS, Substitution(t, z, 2 * z))
AT_ZERO = Integral(1 / t, (t, 0, 1)), Integral(1 / z, (z, 0, 2))

FALSE: dict[str, tuple[Expr, Expr, object]] = {
    # integrals through a pole: sympy has a value, and where nothing else looks at them no number can refute it
    "through a pole, negative": (THROUGH, ZERO, Smaller()),
    "through a pole, without an end": (Integral((t - T) ** -2, (t, 0, oo)), ZERO, Smaller()),
    "through a pole, inside another": (
        Integral(Integral((t - T) ** -2, (t, 0, 2 * T)), (z, 0, 1)), ZERO, Smaller(),
    ),
    "through a pole, found": (THROUGH, -2 / T, Identity()),
    "through a pole, odd": (Integral((t - 1) ** -3, (t, 0, 2)), ZERO, Identity()),
    "through the pole of a parameter": (Integral(1 / (t - s), (t, 1, 2)), log(2 - s) - log(1 - s), Identity()),
    "through one of two poles": (
        Integral(1 / (t**2 - s), (t, 1, 2)),
        (log((2 - sqrt(s)) / (2 + sqrt(s))) - log((1 - sqrt(s)) / (1 + sqrt(s)))) / (2 * sqrt(s)), Identity(),
    ),
    "through a pole, by induction": (THROUGH, -2 / T, Induction(n)),
    "through a pole, by derivatives": (THROUGH * v, -2 * v / T, SameDerivative(v, ONE)),
    "through a pole, in every term": (
        Sum(Integral((t - j) ** -2, (t, 0, 2 * j)), (j, 1, M)), Sum(-2 / j, (j, 1, M)), Termwise(),
    ),
    "through a pole, terms called nonnegative": (
        Sum(-Integral((t - j) ** -2, (t, 0, 2 * j)), (j, 1, M)), -Integral((t - 1) ** -2, (t, 0, 2)), FirstTerm(),
    ),
    "through a pole, beside an integral": (
        THROUGH + Integral(u, (u, 0, 1)), HALF - 2 / T, Antiderivative(u**2 / 2),
    ),
    "through a pole, an order": (
        THROUGH + 4 / T, 1 / T, OrderBetween(*(lemma(THROUGH + 4 / T, THROUGH + 4 / T, Identity()),) * 2),
    ),
    "through a pole, a factor": (
        -u * THROUGH, -2 * u * THROUGH, Instance(lemma(u, 2 * u, Smaller()), (), -THROUGH),
    ),
    # special functions at their poles
    "a digamma function at 0": (
        Sum((j - 1) * (polygamma(0, j) - polygamma(0, j - 1)), (j, 1, M)), Sum(1, (j, 1, M)), Termwise(),
    ),
    "an incomplete gamma function of order 0": (
        Sum((j - 2) * lowergamma(j - 2, t), (j, 1, M)),
        Sum(lowergamma(j - 1, t) + t ** (j - 2) * exp(-t), (j, 1, M)), Termwise(),
    ),
    "gamma functions below 0": (Sum(gamma(1 - j) / gamma(-j), (j, 1, M)), Sum(-j, (j, 1, M)), Termwise()),
    "a zeta function at 1": (Sum(zeta(j), (j, 1, M)), Sum(zeta(j), (j, 1, M)), Termwise()),
    "a zeta function from 0 on": (Sum(zeta(2, j - 1), (j, 1, M)), Sum(zeta(2, j - 1), (j, 1, M)), Termwise()),
    # infinities against each other
    "a difference of infinite integrals": (
        ZERO, ENDLESS[1] - ENDLESS[0], Linear(((ONE, SCALED), (-ONE, lemma(ENDLESS[0], ENDLESS[0], Identity())))),
    ),
    "a difference of infinite integrals, rewritten": (ENDLESS[1] - ENDLESS[0], ZERO, Rewrite(SCALED)),
    "a quotient of infinite integrals": (ENDLESS[1] / ENDLESS[0], ONE, Rewrite(SCALED)),
    "a difference of integrals that are infinite at 0": (
        AT_ZERO[1] - AT_ZERO[0], ZERO, Rewrite(lemma(*AT_ZERO, Substitution(t, z, z / 2))),
    ),
    "a difference of endless sums": (
        Sum(2, (j, 1, oo)) - Sum(1, (j, 1, oo)), Sum(1, (j, 1, oo)),
        Rewrite(lemma(Sum(2, (j, 1, oo)), 2 * Sum(1, (j, 1, oo)), Termwise())),
    ),
    # there is no sequence of whole numbers that are positive
    "a whole number that tends to 0": (exp(-j), ONE, Limit(j, ZERO)),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_what_has_no_value_is_refused(name: str) -> None:
    before, after, rule = FALSE[name]
    assert Step(before, after, rule, "a false statement").verify().holds is False  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        # infinite on both sides, and where nothing is subtracted
        (*ENDLESS, Substitution(t, z, 2 * z)),
        (Sum(2, (j, 1, oo)), 2 * Sum(1, (j, 1, oo)), Termwise()),
        # beside the pole, and with a pole at an end
        (Integral((t - T) ** -2, (t, 2 * T, 3 * T)), 1 / (2 * T), Identity()),
        (ZERO, Integral((t + T) ** -2, (t, 0, oo)), Smaller()),
        (Sum(gamma(j) / gamma(j + 1), (j, 1, M)), Sum(1 / j, (j, 1, M)), Termwise()),
        (Sum(zeta(j + 1) + zeta(2, j), (j, 1, M)), Sum(zeta(2, j), (j, 1, M)) + Sum(zeta(j + 1), (j, 1, M)),
         Termwise()),
        # integrals of finite sums are finite, and may be subtracted
        (Integral(Sum(j * t, (j, 1, M)), (t, 0, 1)) - Integral(t, (t, 0, 1)),
         Integral(Sum(j * t, (j, 1, M)), (t, 0, 1)) - HALF,
         Rewrite(lemma(Integral(t, (t, 0, 1)), HALF, Antiderivative(t**2 / 2)))),
    ],
    ids=str,
)  # fmt: skip
def test_what_has_a_value_is_not_hindered(before: Expr, after: Expr, rule: object) -> None:
    verdict = Step(before, after, rule, "a true statement").verify()  # type: ignore[arg-type]
    assert verdict.holds, verdict.detail
