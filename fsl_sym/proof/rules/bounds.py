"""Bounds: maxima, monotone functions, sums against integrals, and bounds made of other bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import Expr, Integer, Sum, Symbol, diff, oo

from fsl_sym.algebra.equality import equal, sign, simplified
from fsl_sym.algebra.limits import is_continuous, limit_value, maximum_on_half_line
from fsl_sym.algebra.linear_combinations import one_integral, summands
from fsl_sym.proof.rules.base import StepVerdict, accept, compare, freely_positive, is_any_positive, refuse


@dataclass(frozen=True, slots=True)
class Maximum:
    """``before`` as a function ``c v^A exp(-B v)`` of v > 0 is at most its exact maximum, which ``after`` must be."""

    variable: Symbol
    relation: ClassVar[str] = "<="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare with the exact maximum."""
        freed = freely_positive(self.variable, before)
        if freed is None:
            return refuse(f"{self.variable} is not declared positive")
        peak = maximum_on_half_line(freed[1][0], freed[0])
        if peak is None:
            return refuse("not of the form c v^A exp(-B v) with A, B, c > 0")
        verdict = compare(peak, after)
        return StepVerdict(verdict.holds, verdict.method, f"one critical point, a maximum; {verdict.detail}")


@dataclass(frozen=True, slots=True)
class Monotone:
    """``before`` is monotone in ``variable``, so it is at most its limit at 0 or infinity, which ``after`` must be.

    The variable must be one that ranges over all of (0, oo).

    ``derivative`` is the derivative in a form whose sign can be read off, once the factor ``positive`` is taken out of
    it: a function that is 0 at 0 and has a positive derivative.
    """

    variable: Symbol
    derivative: Expr
    positive: Expr = Integer(1)
    relation: ClassVar[str] = "<="

    def direction(self) -> int | None:
        """The sign of the derivative, if it is decided for every positive value of the variable."""
        freed = freely_positive(self.variable, self.derivative, self.positive)
        return None if freed is None else _direction(freed[0], *freed[1])

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare with the supremum."""
        freed = freely_positive(self.variable, before, self.derivative)
        if freed is None:
            return refuse(f"{self.variable} is not declared to range over positive numbers alone")
        x, (function, derivative) = freed
        given = equal(diff(function, x), derivative)
        if not given.proved:
            return refuse(f"the derivative is not the one given: {given.detail}")
        direction = self.direction()
        if direction not in (1, -1):
            return refuse("the sign of the derivative is not decided")
        if not is_continuous(function, x, Integer(0), oo):
            return refuse("the function is not shown to be continuous for every positive value of its variable")
        end = limit_value(function, x, oo if direction == 1 else Integer(0))
        if end is None:
            return refuse("the supremum could not be decided")
        return compare(end, after)


def _direction(x: Symbol, derivative: Expr, positive: Expr) -> int | None:
    if positive != 1 and (limit_value(positive, x, Integer(0)) != 0 or sign(simplified(diff(positive, x))) != 1):
        return None
    return sign(simplified(derivative / positive))


@dataclass(frozen=True, slots=True)
class Rises:
    """``f(start) <= f(start + w)`` for w > 0: f rises for every positive value of its variable.

    ``before`` is f at the start, ``after`` f at ``start + more`` with ``more`` a letter of its own.
    """

    variable: Symbol
    function: Expr
    start: Expr
    more: Symbol
    relation: ClassVar[str] = "<="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Decide the sign of the derivative, compare both values."""
        freed = freely_positive(self.variable, self.function)
        if freed is None or not is_any_positive(self.more) or self.function.has(self.more) or self.start.has(self.more):
            return refuse("the variable and what is added to the start must be positive letters of their own")
        x, (function,) = freed
        rises = is_continuous(function, x, Integer(0), oo) and sign(simplified(diff(function, x))) in (0, 1)
        if sign(self.start) != 1 or not rises:
            return refuse("the function is not shown to rise from a positive start")
        for end, side in ((self.start, before), (self.start + self.more, after)):
            same = equal(function.subs(x, end), side)
            if not same.proved:
                return refuse(f"{side} is not the function at {end}: {same.detail}", same.method)
        return accept("the derivative is nonnegative")


@dataclass(frozen=True, slots=True)
class IntegralTest:
    """A sum of a falling summand is at most the integral that begins one earlier, at least the one that ends one later.

    ``before`` is the sum over m..n and ``after`` the integral over m-1..n, or ``before`` is the integral over m..n+1
    and ``after`` the sum. That the sum does not run downwards, n >= m - 1, is a hypothesis unless it is seen.
    """

    relation: ClassVar[str] = "<="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare ranges and integrand, and decide the sign of the derivative."""
        upper = before.has(Sum)
        parts, rest = summands(before if upper else after)
        integral = one_integral(after if upper else before)
        if rest != 0 or len(parts) != 1 or integral is None:
            return refuse("expected one sum and one integral")
        (((index, first, last), summand),) = parts.items()
        integrand, (y, low, high) = integral
        if y != index and summand.has(y):
            return refuse(f"the summand holds {y}, over which the integral runs")
        if sign(low) not in (0, 1):
            return refuse("the summand is shown to fall for positive arguments: the integral must begin at 0 or above")
        ends = (first - 1, last) if upper else (first, last + 1)
        if simplified(low - ends[0]) != 0 or not (high == ends[1] or simplified(high - ends[1]) == 0):
            return refuse(f"the integral must run over {ends}")
        slope = simplified(diff(integrand, y))
        if sign(slope) != -1 or not is_continuous(integrand, y, low, high):
            return refuse(f"the summand is not shown to fall without a jump: its derivative is {slope}")
        return compare(summand.subs(index, y), integrand)


@dataclass(frozen=True, slots=True)
class SumToIntegral:
    """``sum_{j=1}^M F(j)`` differs from ``int_0^M F(y) dy`` by at most ``error``.

    F is a function h(v) of ``v = y^-beta``; F is nonnegative and either rises and then falls, or only falls. In both
    cases the sum and the integral differ by at most the supremum of F: compare each unit interval with its end points.
    ``shape`` proves the supremum: a :class:`Maximum` (F rises to one peak) or a :class:`Monotone` (F only falls).
    """

    h: Expr
    v: Symbol
    v_of_y: Expr
    shape: Maximum | Monotone
    error: Expr
    relation: ClassVar[str] = "within"

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare sum, integral, shape and error."""
        parts, rest = summands(before)
        right = one_integral(after)
        if rest != 0 or len(parts) != 1 or right is None:
            return refuse("expected one sum and one integral")
        (((index, first, last), summand),) = parts.items()
        integrand, (y, lower, upper) = right
        if any(self.h.has(each) for each in (index, y) if each != self.v):
            return refuse(f"h is a function of {self.v}, and may hold neither {index} nor {y}")
        if first != 1 or lower != 0 or last != upper:
            return refuse("the sum must run over 1..M and the integral over 0..M")
        if type(self.shape) not in (Maximum, Monotone) or self.shape.variable != self.v:
            return refuse(f"the shape must be one in {self.v}")
        if (
            sign(self.v_of_y) != 1
            or not is_continuous(self.v_of_y, y, Integer(0), oo)
            or sign(diff(self.v_of_y, y)) != -1
        ):
            return refuse("v must be positive and fall as y grows, without a jump")
        for side, name, variable in ((summand, "summand", index), (integrand, "integrand", y)):
            same = equal(self.h.subs(self.v, self.v_of_y).subs(y, variable), side)
            if not same.proved:
                return refuse(f"the {name} is not h(v): {same.detail}", same.method)
        if isinstance(self.shape, Monotone):
            least = limit_value(self.h, self.v, Integer(0))
            if self.shape.direction() != 1 or least is None or sign(least) not in (0, 1):
                return refuse("h is not shown to be nonnegative and increasing in v")
        verdict = self.shape.check(self.h, self.error)
        return StepVerdict(verdict.holds, verdict.method, f"difference at most {self.error}: {verdict.detail}")
