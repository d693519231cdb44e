"""Infinite power-law sums to many digits, knowing nothing of Mellin transforms.

Terms up to an index J are added one by one; beyond it the summand is expanded in powers of ``x j^-beta <= 1/2`` and
each power is summed by the Euler-Maclaurin formula. Not by a library's Hurwitz zeta function: some lose ten
digits at large order, and sympy writes one of integer order as a difference of huge numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
from sympy import Expr, Float, Integer, Symbol, ceiling, gamma, lambdify

DIGITS = 50
"""Working digits: twice the 25 that the tests ask for."""

TERMS = 60
"""Terms of the series of the tail: 2^-60 / 60! is far below 1e-50."""

CORRECTIONS = 40
"""Bernoulli terms of Euler-Maclaurin: each is ((order + 2 k)/(2 pi first))^2 < 1/6 of the one before."""

Series = Callable[[int], tuple[Expr, Expr]]


def exponential_series(n: int) -> tuple[Expr, Expr]:
    """exp(-2 u) as pairs (exponent, coefficient)."""
    return Integer(n), Integer(-2) ** n / gamma(n + 1)


def remaining_series(n: int) -> tuple[Expr, Expr]:
    """1 - (1 + 2 u) exp(-2 u) = sum over n >= 2 of (-1)^n (n - 1) (2 u)^n / n!."""
    return Integer(n + 2), Integer(-2) ** (n + 2) * (n + 1) / gamma(n + 3)


def incomplete_series(order: Expr) -> Series:
    """The lower incomplete gamma function of (order, 2 u)."""

    def series(n: int) -> tuple[Expr, Expr]:
        power = order + n
        return power, Integer(-1) ** n * Integer(2) ** power / (gamma(n + 1) * power)

    return series


def in_numbers(value: Expr) -> Any:
    """The value as mpf at the digits of the moment."""
    return mpmath.mpmathify(value.evalf(mpmath.mp.dps))


def power_tail(order: Any, first: int) -> Any:
    """sum over j >= first of j^-order; with first >= 90 and order <= 150 the corrections fall fast."""
    start = mpmath.mpf(first)
    total = start ** (1 - order) / (order - 1) + start**-order / 2
    term = order * start ** (-order - 1)
    for k in range(1, CORRECTIONS):
        total += mpmath.bernoulli(2 * k) / mpmath.factorial(2 * k) * term
        term *= (order + 2 * k - 1) * (order + 2 * k) / start**2
    return total


def harmonic_sum(f: Expr, u: Symbol, series: Series, w: Expr, beta: Expr, x: Expr) -> Expr:
    """sum over j >= 1 of j^-w f(x j^-beta)."""
    last = max(int(ceiling((2 * x) ** (1 / beta))), 90)
    term = lambdify(u, f, "mpmath")
    with mpmath.workdps(DIGITS + 5):
        power, capacity, scale = (in_numbers(Integer(0) + value) for value in (w, beta, x))
        total = mpmath.fsum(
            mpmath.mpf(j) ** -power * term(scale * mpmath.mpf(j) ** -capacity) for j in range(1, last + 1)
        )
        for exponent, coefficient in map(series, range(TERMS)):
            index = in_numbers(exponent)
            total += in_numbers(coefficient) * scale**index * power_tail(power + capacity * index, last + 1)
        return Float(total, DIGITS)
