"""Limits, maxima and continuity: what is found is right, and what is not the same everywhere is left open.

Limits are facts of analysis, stated as exact values; where a method may answer or decline, the answer is compared with
the fact and declining is allowed.
"""

from __future__ import annotations

import pytest
from sympy import Expr, Integer, Rational, Sum, exp, gamma, log, lowergamma, oo, pi, sin, uppergamma

from fsl_sym.algebra.limits import limit_value, maximum_on_half_line
from fsl_sym.algebra.linear_combinations import summands
from fsl_sym.symbols import M, T, a, b, beta, j, lam, s, t

ONE, ZERO = Integer(1), Integer(0)

AT_INFINITY = [
    (3 + t ** (1 / beta - 1), Integer(3)),
    (t ** (1 - beta), ZERO),
    (t**s * exp(-lam * t), ZERO),
    (5 + t**3 * exp(-lam * t + 1), Integer(5)),
    (exp(lam * t), None),
    (t**-1 * exp(lam * t), None),
    (t ** (beta - 1), None),
    (t ** (s - 1), None),
    (uppergamma(s, 2 * t), ZERO),
    (t**5 * uppergamma(s, 2 * t), ZERO),
    (7 * lowergamma(s, 2 * t), 7 * gamma(s)),
    (lowergamma(s, 2 * t) / t, ZERO),
    (t * lowergamma(s, 2 * t), None),
    (uppergamma(s, 2 / t), None),
    (lowergamma(s, 2 / t), None),
    (exp(-t + 1 / t), None),
    (exp(-t - 1 / t), None),
    (sin(t), None),
    (exp(-t) * sin(t), None),
    (2 + 3 / (beta - 1) + exp(-t) / (beta - 1), 2 + 3 / (beta - 1)),
    (a * b, a * b),
]


@pytest.mark.parametrize(("expression", "expected"), AT_INFINITY, ids=str)
def test_limits_at_infinity(expression: Expr, expected: Expr | None) -> None:
    """None: the limit is infinite, depends on the parameters, or is beyond the rules."""
    value = limit_value(expression, t, oo)
    assert value is expected is None or (value - expected).simplify() == 0


AT_ZERO = [
    ((1 - exp(-2 * t)) / t, Integer(2)),
    ((exp(t) - 1 - t) / t**2, Rational(1, 2)),
    ((1 - exp(-2 * t) * (1 + 2 * t)) / t**2, Integer(2)),
    ((exp(-t) - 1 + t - t**2 / 2 + t**3 / 6) / t**4, Rational(1, 24)),
    ((exp(t) - 1) / t**2, None),
    (exp(t**2) * t + 1, ONE),
    ((exp(t**2) - 1) / t**2, ONE),
    (exp(-1 / t), None),
    (t**-s, None),
    (t**s, ZERO),
    (t ** (s - 1), None),
    (uppergamma(s, 2 * t), gamma(s)),
    (t * uppergamma(s, 2 * t), ZERO),
    (uppergamma(s, 2 * t) / t, None),
    (uppergamma(s - 1, 2 * t), None),
    (uppergamma(s, 2 / t), None),
    (lowergamma(s, 2 * t), ZERO),
    (lowergamma(s, 2 * t) * t**-s, 2**s / s),
    (3 * lowergamma(s, 2 * t) * t**-s + t, 3 * 2**s / s),
    (lowergamma(s, 2 * t) * t ** (-s - 1), None),
    (lowergamma(s, 2 * t) * t ** (Rational(1, 2) - s), ZERO),
    (lowergamma(s - 1, 2 * t), None),
    (log(t) * t, None),
    ((t + 1) / (beta - 1), 1 / (beta - 1)),
    (lowergamma(s, t**2) * t ** (-2 * s), None),
    (uppergamma(s, t) * exp(t) + 1, gamma(s) + 1),
    (uppergamma(1 - 1 / beta, t), gamma(1 - 1 / beta)),
    # five powers below 0 the remainder of the exponential counts
    ((exp(t) - 1 - t - t**2 / 2 - t**3 / 6 - t**4 / 24) / t**5, None),
    ((exp(t) - 1 - t - t**2 / 2 - t**3 / 6 - t**4 / 24) / t ** Rational(9, 2), ZERO),
]


@pytest.mark.parametrize(("expression", "expected"), AT_ZERO, ids=str)
def test_limits_at_zero(expression: Expr, expected: Expr | None) -> None:
    value = limit_value(expression, t, ZERO)
    assert value is expected is None or (value - expected).simplify() == 0


def test_a_limit_beyond_the_expansion_is_declined_and_never_wrong() -> None:
    # e^t less its first n terms is t^n/n! to the first order
    for n in range(1, 9):
        shown = sum((t**k / gamma(k + 1) for k in range(n)), ZERO)
        value = limit_value((exp(t) - shown) / t**n, t, ZERO)
        assert value == 1 / gamma(n + 1) if n <= 4 else value in (None, 1 / gamma(n + 1))
        below = limit_value((exp(t) - shown) / t ** (n - 1), t, ZERO)
        assert below == 0 if n <= 4 else below in (None, 0)
        assert limit_value((exp(t) - shown) / t ** (n + 1), t, ZERO) is None
    # the same for the incomplete gamma function: lowergamma(s, t) = t^s (1/s - t/(s + 1) + ...)
    function = (lowergamma(s, t) - t**s / s) / t ** (s + 1)
    assert limit_value(function, t, ZERO) is None


@pytest.mark.parametrize("power", [Rational(1, 3), ONE, 2 + s])
@pytest.mark.parametrize("rate", [Rational(1, 2), T])
def test_the_maximum_is_attained_and_nothing_exceeds_it(power: Expr, rate: Expr) -> None:
    bell = 3 * t**power * exp(-rate * t)
    peak = maximum_on_half_line(bell, t)
    assert peak is not None
    at = {s: Rational(2, 5), T: Rational(7, 3)}
    top, place = peak.subs(at), (power / rate).subs(at)
    # both are exact, evaluated to 30 digits
    assert abs((top / bell.subs(at).subs(t, place)).evalf(30) - 1) < Rational(1, 10**25)
    for factor in (Rational(1, 10), Rational(99, 100), Rational(101, 100), Integer(10)):
        assert bell.subs(at).subs(t, factor * place).evalf(30) < top.evalf(30)


@pytest.mark.parametrize(
    "expression",
    [
        -t * exp(-t),
        exp(-t),
        t**-1 * exp(-t),
        t ** (s - 1) * exp(-t),
        t * exp(t),
        t * exp(-(t**2)),
        t**2,
        (s - 1) * t * exp(-t),
        t * exp(-(s - 1) * t),
        t * exp(-t) * log(t),
        t * uppergamma(s, t),
        t * exp(-t) + t,
    ],
    ids=str,
)
def test_a_maximum_of_any_other_shape_is_declined(expression: Expr) -> None:
    assert maximum_on_half_line(expression, t) is None


def test_a_limit_is_taken_at_its_two_ends_alone() -> None:
    for point in (ONE, -oo, beta):
        with pytest.raises(ValueError, match="shift the variable first"):
            limit_value(t, t, point)
    assert limit_value(s, t, ONE) == s
    assert limit_value(t**s + t, t, oo) is None is limit_value(t ** (beta - 2), t, oo)


def test_sums_that_do_not_enter_linearly_are_named() -> None:
    powers, linear = Sum(j**-beta, (j, 1, M)), Sum(j, (j, 1, M))
    for product in (powers * Sum(j, (j, 1, T)), powers * exp(linear)):
        with pytest.raises(ValueError, match="product of sums"):
            summands(product)
    for term in (powers**2, exp(powers), 1 + 1 / powers):
        with pytest.raises(ValueError, match="does not enter linearly"):
            summands(term)
    parts, remainder = summands(a * (powers + b) - 2 * powers + linear)
    assert remainder == a * b and parts.keys() == {powers.limits[0]}
    # as a function of j: a j^-beta - 2 j^-beta + j
    assert parts[powers.limits[0]].subs({j: 4, beta: Rational(3, 2), a: 5}) == Rational(3, 8) + 4
    assert summands(a + pi) == ({}, a + pi)
