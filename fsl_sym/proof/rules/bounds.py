"""Bounds: maxima, monotone functions, sums against integrals, and bounds made of other bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import Expr, Integer, Sum, Symbol, diff, oo

from fsl_sym.algebra.equality import sign, simplified
from fsl_sym.algebra.limits import is_continuous, limit_value, maximum_on_half_line
from fsl_sym.algebra.linear_combinations import one_integral, one_sum
from fsl_sym.proof.rules.base import (
    StepVerdict,
    accept,
    compare,
    first_difference,
    freely_positive,
    is_any_positive,
    refuse,
)


@dataclass(frozen=True, slots=True)
class Maximum:
    """``before`` as a function ``c v^A exp(-B v)`` of v > 0 is at most its exact maximum, which ``after`` must be."""

    variable: Symbol
    relation: ClassVar[str] = "<="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare with the exact maximum."""
        x, function = freely_positive(self.variable, before)
        peak = maximum_on_half_line(function, x)
        if peak is None:
            return refuse("not of the form c v^A exp(-B v) with A, B, c > 0")
        return compare(peak, after, said="one critical point, a maximum")


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
        x, derivative, positive = freely_positive(self.variable, self.derivative, self.positive)
        if positive != 1 and (limit_value(positive, x, Integer(0)) != 0 or sign(simplified(diff(positive, x))) != 1):
            return None
        return sign(simplified(derivative / positive))

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare with the supremum."""
        x, function, derivative = freely_positive(self.variable, before, self.derivative)
        verdict = compare(diff(function, x), derivative, said="the derivative is not the one given")
        if not verdict.holds:
            return verdict
        direction = self.direction()
        if direction not in (1, -1):
            return refuse("the sign of the derivative is not decided")
        if not is_continuous(function, x, Integer(0), oo):
            return refuse("the function is not shown to be continuous for every positive value of its variable")
        end = limit_value(function, x, oo if direction == 1 else Integer(0))
        if end is None:
            return refuse("the supremum could not be decided")
        return compare(end, after)


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
        x, function = freely_positive(self.variable, self.function)
        if not is_any_positive(self.more) or self.function.has(self.more) or self.start.has(self.more):
            return refuse("what is added to the start must be a positive letter of its own")
        rises = is_continuous(function, x, Integer(0), oo) and sign(simplified(diff(function, x))) in (0, 1)
        if sign(self.start) != 1 or not rises:
            return refuse("the function is not shown to rise from a positive start")
        ends = ((self.start, before), (self.start + self.more, after))
        values = ((function.subs(x, end), side, f"{side} is not the function at {end}") for end, side in ends)
        return first_difference(*values) or accept("the derivative is nonnegative")


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
        total, integral = one_sum(before if upper else after), one_integral(after if upper else before)
        if total is None or integral is None:
            return refuse("expected one sum and one integral")
        (summand, (index, first, last)), (integrand, (y, low, high)) = total, integral
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
        total, integral = one_sum(before), one_integral(after)
        if total is None or integral is None:
            return refuse("expected one sum and one integral")
        (summand, (index, first, last)), (integrand, (y, lower, upper)) = total, integral
        if any(self.h.has(expression) for expression in (index, y) if expression != self.v):
            return refuse(f"h is a function of {self.v}, and may hold neither {index} nor {y}")
        if first != 1 or lower != 0 or last != upper or last == oo:  # of two that are infinite nothing is the error
            return refuse("the sum must run over 1..M and the integral over 0..M, for a finite M")
        if type(self.shape) not in (Maximum, Monotone) or self.shape.variable != self.v:
            return refuse(f"the shape must be one in {self.v}")
        if (
            sign(self.v_of_y) != 1
            or not is_continuous(self.v_of_y, y, Integer(0), oo)
            or sign(diff(self.v_of_y, y)) != -1
        ):
            return refuse("v must be positive and fall as y grows, without a jump")
        along = self.h.subs(self.v, self.v_of_y)
        differs = first_difference(
            (along.subs(y, index), summand, "the summand is not h(v)"), (along, integrand, "the integrand is not h(v)")
        )
        if differs is not None:
            return differs
        if isinstance(self.shape, Monotone):
            least = limit_value(self.h, self.v, Integer(0))
            if self.shape.direction() != 1 or least is None or sign(least) not in (0, 1):
                return refuse("h is not shown to be nonnegative and increasing in v")
        verdict = self.shape.check(self.h, self.error)
        return StepVerdict(verdict.holds, verdict.method, f"difference at most {self.error}: {verdict.detail}")
