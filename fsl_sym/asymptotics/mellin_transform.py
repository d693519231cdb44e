"""Mellin transforms of powers, exponentials and lower incomplete gamma functions, and of their sums.

The table has two entries besides the pure power, whose continued transform is 0 because it only moves the strip:
``u^k exp(-c u)`` and ``u^k lowergamma(q, c u)``; a test derives both from their integrals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sympy import (
    Add,
    Expr,
    Integer,
    Mul,
    S,
    Symbol,
    erf,
    erfc,
    exp,
    expand,
    factorial,
    gamma,
    lowergamma,
    pi,
    powsimp,
    sqrt,
    uppergamma,
)

from fsl_sym.algebra.equality import sign, simplified
from fsl_sym.values import as_expression, assigned

EPSILON: Final = Symbol("epsilon_M")
"""The distance from a pole."""


@dataclass(frozen=True, slots=True)
class Piece:
    """``coefficient u^power`` times 1, ``exp(-rate u)``, or the lower incomplete gamma function of (order, rate u)."""

    coefficient: Expr
    power: Expr
    rate: Expr | None = None
    order: Expr | None = None

    def value(self, u: Expr) -> Expr:
        """The piece at u."""
        u = as_expression(u)
        front = self.coefficient * u**self.power
        if self.rate is None:
            return front
        return front * (exp(-self.rate * u) if self.order is None else lowergamma(self.order, self.rate * u))

    def at(self, values: Mapping[Symbol, Expr]) -> Piece:
        """The piece with parameters set."""
        fields, numbers = (self.coefficient, self.power, self.rate, self.order), assigned(values)
        return Piece(*[None if e is None else simplified(e.subs(numbers)) for e in fields])

    def transform(self, z: Expr) -> Expr:
        """The Mellin transform, continued: Gamma integrals; a pure power only moves the strip and contributes 0."""
        if self.rate is None:
            return Integer(0)
        shifted = as_expression(z) + self.power
        if self.order is None:
            return self.coefficient * self.rate**-shifted * gamma(shifted)
        return -self.coefficient * self.rate**-shifted * gamma(self.order + shifted) / shifted

    def laurent(self, at: Expr) -> tuple[Expr, int]:
        """(R, m) with ``transform(at + epsilon) = R(epsilon) epsilon^-m`` and R regular at 0."""
        if self.rate is None:
            return Integer(0), 0
        start = simplified(as_expression(at) + self.power)
        factor = self.coefficient * self.rate ** -(start + EPSILON)
        if self.order is None:
            regular, poles = _gamma_laurent(start)
            return factor * regular, poles
        regular, poles = _gamma_laurent(simplified(start + self.order))
        if start == 0:
            return -factor * regular, poles + 1
        return -factor * regular / (start + EPSILON), poles


def _gamma_laurent(start: Expr) -> tuple[Expr, int]:
    """Gamma(start + epsilon) with its pole at a nonpositive integer taken out by the recurrence."""
    if not (start.is_integer and start.is_nonpositive):
        return gamma(start + EPSILON), 0
    below = Mul(*[EPSILON - i for i in range(1, -int(start) + 1)])
    return gamma(1 + EPSILON) / below, 1


def pieces(f: Expr, u: Symbol) -> tuple[Piece, ...]:
    """The function as a sum of :class:`Piece`.

    Raises
    ------
    ValueError
        If a term is none of ``u^k``, ``u^k exp(-c u)``, ``u^k lowergamma(q, c u)`` with c > 0.
    """
    f, u = map(as_expression, (f, u))
    f = f.replace(uppergamma, lambda order, end: gamma(order) - lowergamma(order, end))
    f = expand(f.replace(erfc, lambda end: 1 - erf(end)), power_base=True)
    summands = []
    for term in Add.make_args(powsimp(f, combine="exp")):
        coefficient, power = S.One, S.Zero
        rate: Expr | None = None
        order: Expr | None = None
        for item in Mul.make_args(term):
            base, exponent = item.as_base_exp()
            if not item.has(u):
                coefficient *= item
            elif base == u and not exponent.has(u):
                power += exponent
            elif isinstance(item, exp) and rate is None:
                rate = simplified(-item.args[0] / u)
            elif isinstance(item, lowergamma) and rate is None and not item.args[0].has(u):
                order, rate = item.args[0], simplified(item.args[1] / u)
            elif isinstance(item, erf) and rate is None:  # as sympy writes lowergamma(1/2, c u)/sqrt(pi)
                order, rate = S.Half, simplified(item.args[0] ** 2 / u)
                coefficient /= sqrt(pi)
            else:
                rate = u
        if rate is not None and (rate.has(u) or sign(rate) != 1):
            raise ValueError(
                f"{term} is outside the class of functions whose Mellin transform is known here; "
                "give a sum of u^k, u^k exp(-c u) and u^k lowergamma(q, c u) with c > 0"
            )
        summands.append(Piece(coefficient, simplified(power), rate, order))
    return tuple(summands)


def _collect(terms: list[tuple[Expr, Expr]]) -> list[tuple[Expr, Expr]]:
    """(exponent, coefficient) pairs with equal exponents added and vanishing ones dropped."""
    groups: list[tuple[Expr, Expr]] = []
    for exponent, coefficient in terms:
        for i, (known, total) in enumerate(groups):
            if simplified(known - exponent) == 0:
                groups[i] = (known, total + coefficient)
                break
        else:
            groups.append((exponent, coefficient))
    return [(exponent, simplified(total)) for exponent, total in groups if simplified(total) != 0]


def powers_at_infinity(parts: tuple[Piece, ...]) -> list[tuple[Expr, Expr]]:
    """The (exponent, coefficient) pairs of the expansion at infinity, which is finite for this class."""
    powers = []
    for piece in parts:
        if piece.rate is None:
            powers.append((piece.power, piece.coefficient))
        elif piece.order is not None:
            powers.append((piece.power, piece.coefficient * gamma(piece.order)))
    return _collect(powers)


_SERIES: Final = 8
"""Terms of each power series at 0: cancellations in this class (1 - e^-u - u e^-u ...) end long before."""


def orders_at_zero(parts: tuple[Piece, ...]) -> list[Expr]:
    """Exponents of which the smallest is the order of the function at 0."""
    powers: list[tuple[Expr, Expr]] = []
    for piece in parts:
        if piece.rate is None:
            powers.append((piece.power, piece.coefficient))
            continue
        for n in range(_SERIES):
            term = piece.coefficient * (-piece.rate) ** n / factorial(n)
            if piece.order is None:
                powers.append((piece.power + n, term))
            else:
                powers.append((piece.power + piece.order + n, term * piece.rate**piece.order / (piece.order + n)))
    exponents = [exponent for exponent, _ in _collect(powers)]
    lowest = [e for e in exponents if not any(sign(e - exponent) == 1 for exponent in exponents)]
    if not lowest:
        raise ValueError("the function is zero")
    return lowest
