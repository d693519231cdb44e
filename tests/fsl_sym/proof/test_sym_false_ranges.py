"""False statements at the edges of rules: ends, ranges of symbols, letters that are bound, poles of what is put in."""

from __future__ import annotations

import pytest
from sympy import Integer, Integral, Sum, Symbol, cos, diff, exp, gamma, lowergamma, oo, pi, sqrt, uppergamma

from fsl_sym.proof import (
    Antiderivative,
    Identity,
    IntegralTest,
    Interchange,
    Limit,
    Maximum,
    Monotone,
    Step,
    Substitution,
    SumToIntegral,
)
from fsl_sym.symbols import M, T, a, b, beta, j, r, s, t, z

k = Symbol("k", integer=True)
v, y = Symbol("v", positive=True), Symbol("y", positive=True)
ROOT = (1 + exp(t)) ** (1 / t)
SEEN = T * 2 ** cos(v) * exp(-T * 2 ** cos(v))

FALSE = {
    # diverges: lowergamma(-s, t) is like -t^-s/s at 0, where sympy has the value 0
    "a lower incomplete gamma function of negative order at 0": (
        Integral(t ** (-s - 1) * exp(-t), (t, 0, 1)), lowergamma(-s, 1), Antiderivative(lowergamma(-s, t)),
    ),
    # tends to e; sympy puts in infinity as oo**0 = 1
    "a power whose value at infinity is not its limit": (
        Integral(diff(ROOT, t), (t, 1, oo)), 1 - ROOT.subs(t, 1), Antiderivative(ROOT),
    ),
    # infinite; with z + 3 for t nothing is left to be continuous in
    "a reparametrisation of the variable of the integral": (
        Integral((t - 1) ** -2, (t, 0, 2)), Integer(-2), Antiderivative(-1 / (t - 1), ((t, z + 3),)),
    ),
    "a reparametrisation by a constant": (t, Integer(1), Identity(((t, Integer(1)),))),
    # -1.49 against a positive number
    "a substitution across its pole": (
        Integral(exp(-(t**2)), (t, 1, -1)), Integral(exp(-1 / z**2) / z**2, (z, -1, 1)), Substitution(t, z, 1 / z),
    ),
    # minus against plus sqrt(pi)/2
    "minus infinity for infinity": (
        Integral(exp(-(t**2)), (t, oo, 0)), Integral(exp(-(z**2)), (z, 0, oo)), Substitution(t, z, -z),
    ),
    # 2 z against 4/3
    "the new letter stands free in the old integral": (
        Integral(z * t, (t, 0, 2)), Integral(4 * z**2, (z, 0, 1)), Substitution(t, z, 2 * z),
    ),
    # 0 against a positive number: sqrt(z^2) is z for positive z alone
    "a positive letter over a range that is not": (
        Integral(sqrt(t) * exp(-t), (t, 1, 1)), Integral(2 * z**2 * exp(-(z**2)), (z, -1, 1)),
        Substitution(t, z, z**2),
    ),
    # the partial sums are (N + 1) t^N - 1: -1 on the left, 0 on the right
    "an infinite sum that begins at minus infinity": (
        Integral(Sum((1 - k) * t**-k + k * t ** (-k - 1), (k, -oo, -1)), (t, 0, 1)),
        Sum(Integral((1 - k) * t**-k + k * t ** (-k - 1), (t, 0, 1)), (k, -oo, -1)),
        Interchange(),
    ),
    "the range of the sum moves with the integral": (
        Integral(Sum(j * t, (j, 1, t)), (t, 0, T)), Sum(Integral(j * t, (t, 0, T)), (j, 1, t)), Interchange(),
    ),
    # M j^2/2 against the sum of j^2/2
    "the range of the integral holds the letter of the sum": (
        Integral(Sum(j * t, (j, 1, M)), (t, 0, j)), Sum(Integral(j * t, (t, 0, j)), (j, 1, M)), Interchange(),
    ),
    # 0 against -oo + oo
    "a finite sum of divergent integrals": (
        Integral(Sum((-1) ** j / (1 + t), (j, 1, 2)), (t, 0, oo)),
        Sum(Integral((-1) ** j / (1 + t), (t, 0, oo)), (j, 1, 2)),
        Interchange(),
    ),
    # at a = 3 b/2: -b^2/8 is more than -b^2/2; it falls for a > b alone, and 0 is no end of that range
    "monotone on the named range alone": (-((a - b) ** 2) / 2, -(b**2) / 2, Monotone(a, b - a)),
    # at beta = 3/2: -1/4 is more than -1
    "monotone in beta above 1 alone": (-((beta - 1) ** 2), Integer(-1), Monotone(beta, -2 * (beta - 1))),
    # M = 0: 1 against 0.747; the summand falls for positive arguments alone
    "an integral test that begins below 0": (
        Sum(exp(-(j**2)), (j, 0, M)), Integral(exp(-(y**2)), (y, -1, M)), IntegralTest(),
    ),
    # M = 2, beta = 2: an empty sum against -1/4
    "a sum that ends before it begins": (
        Sum(j**-beta, (j, 5, 2)), Integral(y**-beta, (y, 4, 2)), IntegralTest(),
    ),
    # the summand -j exp(j) is unbounded: v = -y leaves the half line on which the maximum is one
    "v is negative": (
        Sum(-j * exp(j), (j, 1, M)), Integral(-y * exp(y), (y, 0, M)),
        SumToIntegral(v * exp(-v), v, -y, Maximum(v), exp(-1)),
    ),
    # the difference grows like M: the peak is one in T, not in v
    "the shape of another variable": (
        Sum(2 * T * exp(-2 * T), (j, 1, M)), Integral(SEEN.subs(v, 2 * pi * y), (y, 0, M)),
        SumToIntegral(SEEN, v, -2 * pi * y, Maximum(T), exp(-1)),
    ),
    # like -t^(s - 1 + r)/r: infinite at s = 1/4, r = 1/2
    "a power of unknown sign beside an incomplete gamma function": (
        t ** (s - 1) * (uppergamma(r, t) - gamma(r)), Integer(0), Limit(t, Integer(0)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_a_false_statement_is_refused(name: str) -> None:
    before, after, rule = FALSE[name]
    assert Step(before, after, rule, "a false statement").verify().holds is False


def test_a_side_that_sympy_cannot_evaluate_is_declined_and_does_not_raise() -> None:
    for diverges in (Integral(t**-2, (t, -1, 1)), Integral(y**-2, (y, 0, 1))):
        assert Step(diverges, Integer(-2), Identity(), "across the pole").verify().holds is False
