"""Equalities: numbers refute, rewriting proves, and rounded numbers settle nothing that is not plain."""

from __future__ import annotations

import pytest
from sympy import Integer, Sum, Symbol, exp, gamma, pi, sin, sqrt

from fsl_sym import verification
from fsl_sym.symbols import M, beta, j
from fsl_sym.algebra.equality import equal

T = Symbol("T", positive=True)
SUM = Sum(exp(-2 * T / j**beta) / j**beta, (j, 1, M))


def test_sums_up_to_a_symbol_are_summed_before_they_are_compared() -> None:
    # Where the first terms are tiny the library rounds the whole sum to 0: all such sums would then agree.
    point = {M: Integer(7), T: Integer(100), beta: Integer(2)}
    assert SUM.evalf(30, subs=point) == 0
    assert verification._quick_number(SUM, point) is None and verification._quick_number(1 + SUM, point) is None
    exact = verification._number(SUM, point)
    assert exact is not None and 0 < exact < 1
    assert equal(SUM, 2 * SUM).refuted
    assert equal(2 * SUM, SUM + SUM).proved


def test_a_difference_that_cancels_is_decided_with_the_point_inserted_exactly() -> None:
    tiny = Integer(10) ** -60
    assert equal((beta + tiny) - beta, tiny).proved
    assert equal((beta + tiny) * (beta - tiny) - beta**2, -2 * tiny**2).refuted


def test_what_rounded_numbers_refute_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = gamma(beta + 1), beta * gamma(beta)
    assert equal(left, right).proved
    monkeypatch.setattr(verification, "_quick_number", lambda expression, point: Integer(hash(expression) % 97 + 1))
    assert equal(left, right).proved
    monkeypatch.setattr(verification, "_number", lambda expression, point: Integer(hash(expression) % 97 + 1))
    assert equal(left, right).refuted


@pytest.mark.parametrize("wrong", [gamma(beta), beta * gamma(beta) * (1 + Integer(10) ** -25)])
def test_a_wrong_value_is_refuted(wrong: object) -> None:
    assert equal(gamma(beta + 1), wrong).refuted


def test_agreement_alone_proves_nothing() -> None:
    # sin^2 at symbolic arguments agrees at every point and is proved; a constant identity beyond the rules is not.
    assert equal(sin(pi * beta) ** 2, 1 - (1 - sin(pi * beta) ** 2)).proved
    assert not equal(sqrt(2) + sqrt(3), sqrt(5 + 2 * sqrt(6))).refuted
