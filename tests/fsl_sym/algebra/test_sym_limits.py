"""Signs, limits and maxima: what is decided is right, and what is not the same everywhere is left undecided.

Limits and signs are facts of analysis, stated as exact values; where a method may answer or decline, the answer is
compared with the fact and declining is allowed.
"""

from __future__ import annotations

import pytest
from sympy import Expr, Integer, Integral, Rational, Sum, Symbol, cos, exp, gamma, log, lowergamma, oo, sin, uppergamma
from sympy import symbols as make

from fsl_sym import verification
from fsl_sym.algebra.limits import limit_value, maximum_on_half_line
from fsl_sym.symbols import K, M, T, a, b, beta, j, lam, p, s, t, tau, z
from fsl_sym.algebra.equality import equal, in_ranges, sample_points, sign

ONE, ZERO = Integer(1), Integer(0)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (beta - 1, 1),
        (1 - beta, -1),
        (beta - beta, 0),
        (1 / beta - 1, -1),
        (2 - 1 / beta, 1),
        (beta - Rational(3, 2), None),
        (a - b, 1),
        (b - a, -1),
        (a / b - 1, 1),
        (a - 1, None),
        (s - 1, None),
        (M**-beta, 1),
        ((beta**2 - 1) / (1 - beta), -1),
        (uppergamma(s - 1, 2 * t), 1),  # an integral of a positive function, whatever the order
        (-uppergamma(s - 1, 2 * t), -1),
        (uppergamma(s, t - 1), None),
        (lowergamma(s, 2 * t), 1),
        (lowergamma(beta - 1, t), 1),
        (lowergamma(s - 1, t), None),  # for s < 1 the continuation changes sign
        (lowergamma(s, t - 1), None),
        (sin(t) ** 2 + cos(t) ** 2, 1),
        (sin(t) ** 2 + cos(t) ** 2 - 1, 0),
        (-(sin(t) ** 2) - cos(t) ** 2, -1),
        (sin(t), None),
    ],
    ids=str,
)
def test_a_sign_holds_over_the_whole_range_or_is_not_given(expression: Expr, expected: int | None) -> None:
    assert sign(expression) == expected


def test_the_ranges_belong_to_the_names() -> None:
    other = Symbol("beta")
    assert sign(other - 1) == 1
    assert sign(Symbol("a") - Symbol("b")) == 1  # b itself may have either sign, but a - b may not
    assert sign(Symbol("b")) is None
    ranged = in_ranges(a * beta + b)
    assert ranged.free_symbols.isdisjoint({a, beta}) and b in ranged.free_symbols
    assert in_ranges(a + s) == a + s
    assert in_ranges(b + s) == b + s


FRESH = make("v:6", positive=True)
WHOLE = make("k:3", integer=True, positive=True)


def test_sample_points_are_inside_the_ranges_and_tell_symbols_apart() -> None:
    points = sample_points([s, beta, M, K, a, b, p, tau, t, T, j, z, *FRESH, *WHOLE])
    assert len(points) == 3 and len(sample_points([beta])) == 3 and len(sample_points([beta], 2)) == 2
    for point in points:
        assert all(value.is_Rational and value > 0 for value in point.values())
        assert all(point[each].is_Integer for each in (M, K, j, *WHOLE))
        assert point[beta] > 1 and point[a] > point[b] and point[tau] < point[K]
        assert point[p] != point[beta] - 1  # no resonance
        assert len({point[each] for each in FRESH}) == len(FRESH)
        assert len({point[each] for each in WHOLE}) == len(WHOLE)
    for symbol in points[0]:
        assert len({point[symbol] for point in points}) == 3, symbol
    assert sample_points([z, a]) == sample_points([a, z])
    for alone in (FRESH[0], WHOLE[0]):
        seen = [point[alone] for point in sample_points([alone])]
        assert min(seen) > 0 and len(set(seen)) == 3


def test_a_relative_difference_of_1e_29_is_refuted_and_rounding_is_not() -> None:
    """Numbers are evaluated to 50 digits and compared to 30 of them."""
    assert equal(beta, beta * (1 + Rational(1, 10**29))).refuted
    assert equal(-beta, -beta * (1 - Rational(1, 10**29))).refuted
    big = exp(100) * gamma(beta)
    assert equal(big, big * (1 + Rational(1, 10**29))).refuted
    for factor in (exp(70), exp(-70)):
        assert not equal(factor * sin(t) ** 2, factor * (1 - cos(t) ** 2)).refuted


@pytest.mark.parametrize("name", [name for name, _ in verification._REWRITINGS])
def test_a_rewriting_changes_no_value(name: str) -> None:
    """A proof is a rewriting to 0: one that changed a value could prove what is false."""
    rewrite = dict(verification._REWRITINGS)[name]
    at = {a: Rational(7, 5), b: Rational(2, 3), s: Rational(2, 7), beta: Rational(7, 3), t: Rational(3, 4)}
    for expression in (
        (a + b) ** s * (a**2 + 2 * a * b + b**2) ** s + (a * b) ** beta,
        log(a * b**2) - 3 * log(a / b) * exp(s * log(t)),
        t * lowergamma(s, 2 * t) - uppergamma(s, 2 * t) / b + gamma(s),
        gamma(beta + 1) / gamma(beta - 1) + uppergamma(s + 1, t),
    ):
        gap = (rewrite(expression) - expression).subs(at).evalf(30)
        assert abs(gap) < Rational(1, 10**25), expression  # of order 1, to 30 digits


def test_the_verdict_says_where_numbers_differ() -> None:
    verdict = equal(beta, 2 * beta)
    assert verdict.refuted and not verdict.proved and verdict.method == "numeric"
    assert verdict.detail.startswith("at beta=5/2")
    same = equal(a * (a + b), a**2 + a * b)
    assert same.proved and not same.refuted and same.method == "exact" and "3 exact points" in same.detail
    # equal at the first point alone, where beta is 5/2
    assert equal((beta - Rational(5, 2)) + 1, ONE).refuted


def test_what_has_no_number_is_not_refuted() -> None:
    unknown = Integral(exp(-(t**2)) * sin(t * z), (t, 0, z))
    assert not equal(unknown, unknown + 0 * a).refuted
    assert equal(Sum(1 / (j + z), (j, 1, M)), 2 * Sum(1 / (j + z), (j, 1, M))).refuted


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
    rest = (lowergamma(s, t) - t**s / s) / t ** (s + 1)
    assert limit_value(rest, t, ZERO) is None


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
