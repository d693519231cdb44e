"""Equalities and signs: numbers refute, rewriting proves, and what is not the same everywhere is not decided."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import (
    Expr,
    Integer,
    Integral,
    Rational,
    Sum,
    Symbol,
    cos,
    exp,
    gamma,
    log,
    lowergamma,
    pi,
    sin,
    sqrt,
    uppergamma,
)
from sympy import symbols as make

from fsl_sym.algebra.equality import FEW, equal, in_ranges, sample_points, sign, worked_out
from fsl_sym.symbols import K0, K, M, T, a, b, beta, j, p, s, t, tau, z

SUM = Sum(exp(-2 * T / j**beta) / j**beta, (j, 1, M))


def test_sums_up_to_a_symbol_are_summed_before_they_are_compared() -> None:
    # where the first terms are tiny the library rounds the whole sum to 0: all such sums would then agree
    assert SUM.evalf(30, subs={M: Integer(7), T: Integer(100), beta: Integer(2)}) == 0
    assert equal(SUM, 2 * SUM).refuted
    assert equal(2 * SUM, SUM + SUM).proved
    assert equal(Sum(1 / (j + z), (j, 1, M)), 2 * Sum(1 / (j + z), (j, 1, M))).refuted


def test_a_difference_that_cancels_is_decided_with_the_point_inserted_exactly() -> None:
    tiny = Integer(10) ** -60
    assert equal((beta + tiny) - beta, tiny).proved
    assert equal((beta + tiny) * (beta - tiny) - beta**2, -2 * tiny**2).refuted


@pytest.mark.parametrize("wrong", [gamma(beta), beta * gamma(beta) * (1 + Integer(10) ** -25)])
def test_a_wrong_value_is_refuted(wrong: Expr) -> None:
    assert equal(gamma(beta + 1), beta * gamma(beta)).proved
    assert equal(gamma(beta + 1), wrong).refuted


def test_a_relative_difference_of_1e_29_is_refuted_and_rounding_is_not() -> None:
    """Numbers are evaluated to 50 digits and compared to 30 of them."""
    for size in (beta, -beta, exp(100) * gamma(beta), Integer(10) ** -40 * beta):
        assert equal(size, size * (1 + Rational(1, 10**29))).refuted
        assert not equal(size, size * (1 + Rational(1, 10**35))).refuted
    for factor in (exp(70), exp(-70)):
        assert not equal(factor * sin(t) ** 2, factor * (1 - cos(t) ** 2)).refuted


def test_agreement_alone_proves_nothing() -> None:
    # sin^2 at symbolic arguments agrees at every point and is proved; a constant identity beyond the rules is not
    assert equal(sin(pi * beta) ** 2, 1 - (1 - sin(pi * beta) ** 2)).proved
    assert not equal(sqrt(2) + sqrt(3), sqrt(5 + 2 * sqrt(6))).refuted
    unknown = Integral(exp(-(t**2)) * sin(t * z), (t, 0, z))
    assert not equal(unknown, unknown + 0 * a).refuted


def test_a_root_of_a_square_is_the_letter_only_where_it_is_not_negative() -> None:
    free = Symbol("w", real=True)
    assert not equal((free**2) ** Rational(1, 2), free).proved
    assert not equal((free**2) ** s, free ** (2 * s)).proved
    assert equal((t**2) ** s, t ** (2 * s)).proved
    # a > b, and so is the sign of the base known
    assert equal(sqrt(a**2 - 2 * a * b + b**2), a - b).proved
    assert not equal(sqrt((b - a) ** 2), b - a).proved and not equal(sqrt((t - K) ** 2), K - t).proved


def test_the_verdict_says_where_numbers_differ() -> None:
    verdict = equal(beta, 2 * beta)
    assert verdict.refuted and not verdict.proved and verdict.method == "numeric"
    assert verdict.detail.startswith("at beta=5/2")
    same = equal(a * (a + b), a**2 + a * b)
    assert same.proved and not same.refuted and same.method == "exact" and "3 exact points" in same.detail
    # equal at the first point alone, where beta is 5/2
    assert equal((beta - Rational(5, 2)) + 1, Integer(1)).refuted


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (beta - 1, 1),
        (1 - beta, -1),
        (beta - beta, 0),
        (1 / beta - 1, -1),
        (2 - 1 / beta, 1),
        (beta - 2, None),
        (a - b, 1),
        (b - a, -1),
        (a / b - 1, 1),
        (a - 1, None),
        (M**-beta, 1),
        ((beta**2 - 1) / (1 - beta), -1),
        (uppergamma(s - 1, 2 * t), 1),  # an integral of a positive function, whatever the order
        (uppergamma(s, t - 1), None),
        (uppergamma(Symbol("k"), t), None),
        (lowergamma(beta - 1, t), 1),
        (lowergamma(s - 1, t), None),  # for s < 1 the continuation changes sign
        (sin(t) ** 2 + cos(t) ** 2 - 1, 0),
        (sin(t), None),
        (log(1 + t), 1),
        (-log(t / (1 + t)), 1),
        (log(1 - t), None),  # no real number for t > 1
        (log(-1 - t), None),
        (1 - exp(-t) - log(1 + exp(t)), None),
        (exp(t) - 1, 1),
        (Symbol("beta") - 1, None),  # ranges belong to the letters of the paper
        (Symbol("a", positive=True, integer=True) - Symbol("b", positive=True, integer=True), None),
    ],
    ids=str,
)
def test_a_sign_holds_over_the_whole_range_or_is_not_given(expression: Expr, expected: int | None) -> None:
    assert sign(expression) == expected
    assert sign(-expression) == (None if expected is None else -expected)


def test_ranges_are_put_in_for_the_letters_of_the_paper() -> None:
    ranged = in_ranges(a * beta + b)
    assert ranged.free_symbols.isdisjoint({a, beta}) and b in ranged.free_symbols
    assert in_ranges(a + s) == a + s and in_ranges(b + s) == b + s


FRESH = make("v:6", positive=True)
WHOLE = make("k:3", integer=True, positive=True)


def test_sample_points_are_inside_the_ranges_and_tell_symbols_apart() -> None:
    points = sample_points([s, beta, M, K, a, b, p, tau, t, T, j, z, *FRESH, *WHOLE])
    assert len(points) == 3 and len(sample_points([beta], 2)) == 2
    for point in points:
        assert all(value.is_Rational and value > 0 for value in point.values())
        assert all(point[symbol].is_Integer for symbol in (M, K, j, *WHOLE))
        assert point[beta] > 1 and point[a] > point[b] and point[tau] < point[K]
        assert point[p] != point[beta] - 1  # no resonance
        assert len({point[symbol] for symbol in FRESH}) == len(FRESH)
        assert len({point[symbol] for symbol in WHOLE}) == len(WHOLE)
    for symbol in points[0]:
        assert len({point[symbol] for point in points}) == 3, symbol
    assert sample_points([z, a]) == sample_points([a, z])


@given(
    st.fractions(-4, 4, max_denominator=9),
    st.fractions(-4, 4, max_denominator=9),
    st.fractions(0, 2, max_denominator=9),
)
def test_an_integral_stands_exactly_where_its_pole_lies_in_the_range(
    pole: Fraction, low: Fraction, more: Fraction
) -> None:
    high = low + more + 1
    standing = Integral(1 / (t - Rational(pole)) ** 2, (t, Rational(low), Rational(high)))
    if low < pole < high:
        assert worked_out(standing) == standing
    elif pole not in (low, high):
        assert worked_out(standing) == 1 / Rational(low - pole) - 1 / Rational(high - pole)


def test_what_is_worked_out_is_short_and_the_rest_stands() -> None:
    i = Symbol("i", integer=True, positive=True)
    assert worked_out(Sum(j, (j, 1, FEW))) == FEW * (FEW + 1) // 2 and worked_out(Sum(j, (j, 1, 0))) == 0
    assert worked_out(Sum(j, (j, M + 1, M + 2))) == 2 * M + 3
    assert worked_out(Sum(Sum(i * j, (i, 1, j)), (j, 1, 2))) == worked_out(Sum(i * j, (i, 1, j), (j, 1, 2))) == 7
    for downwards in (Sum(j**2, (j, 3, 0)), Sum(j**2, (j, 5, 1))):
        assert worked_out(downwards) == downwards.doit()
    for standing in (Sum(j, (j, 1, M)), Sum(j, (j, 0, FEW)), Sum(1 / j**2, (j, 1, pi))):
        assert worked_out(standing) == standing


def test_a_foreign_integral_is_not_searched_for() -> None:
    """Only its ends are looked at: the search of sympy for an antiderivative has no bound."""
    foreign = Integral(exp(-(t**3)) * cos(t**2) * log(1 + t) ** s / (1 + t**beta), (t, 0, T))
    assert worked_out(foreign + Integral(t, (t, 0, T))).has(foreign)
    assert worked_out(foreign.subs(T, 0)) == 0


def test_a_square_root_of_a_quotient_of_letters_is_read() -> None:
    assert equal(sqrt((1 + K / K0) ** 2), 1 + K / K0).proved
    assert not equal(sqrt(1 + K / K0), 1 + K / (2 * K0)).proved
