"""Integrals, substitutions and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import Expr, Integral, Sum, Symbol, diff, nan, oo, zoo

from fsl_sym.algebra.equality import equal, sign
from fsl_sym.algebra.limits import is_continuous, limit_value
from fsl_sym.algebra.linear_combinations import one_integral
from fsl_sym.proof.bound_letters import put
from fsl_sym.proof.rules.algebra import Pairs, moved
from fsl_sym.proof.rules.base import StepVerdict, compare, freely_positive, refuse
from fsl_sym.proof.rules.infinities import holds_infinity
from fsl_sym.proof.rules.sums import Termwise


@dataclass(frozen=True, slots=True)
class Antiderivative:
    """An integral is the difference of an antiderivative at the ends; its derivative is compared with the integrand.

    Infinite ends and the end 0 are taken as limits by :func:`fsl_sym.algebra.limits.limit_value`. Between the ends the
    antiderivative must be continuous; ``ranges`` as in :class:`Identity` where the range of an end has to be
    seen for that.
    """

    primitive: Expr
    ranges: Pairs = ()
    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Differentiate the antiderivative and compare the values at the ends."""
        integrals = before.atoms(Integral)
        if len(integrals) != 1:
            return refuse(f"expected one integral, found {len(integrals)}")
        (integral,) = integrals
        if len(integral.limits) != 1:
            return refuse("a double integral is taken one variable after the other")
        variable, lower, upper = integral.limits[0]
        derivative = equal(diff(self.primitive, variable), integral.function)
        if not derivative.proved:
            return refuse(f"the derivative of the antiderivative is not the integrand: {derivative.detail}")
        swaps, hypotheses = moved(self.ranges, before, after, self.primitive)
        if variable in swaps:
            return refuse("only letters of the ends are replaced")
        seen = [put(side, swaps) for side in (self.primitive, lower, upper)]
        if not is_continuous(seen[0], variable, seen[1], seen[2]):
            return refuse("the antiderivative is not shown to be continuous between the ends of the range")
        ends = [self._at(variable, end) for end in (lower, upper)]
        if ends[0] is None or ends[1] is None:
            return refuse("the antiderivative has no limit that could be decided at an end of the range")
        replaced = before.xreplace({integral: ends[1] - ends[0]})
        verdict = Termwise().check(replaced, after)
        return StepVerdict(
            verdict.holds, verdict.method, f"antiderivative differentiated; {verdict.detail}", hypotheses
        )

    def _at(self, variable: Symbol, end: Expr) -> Expr | None:
        if end in (oo, 0) and not self.primitive.subs(variable, end).is_finite:
            return limit_value(self.primitive, variable, end)
        return self.primitive.subs(variable, end)


@dataclass(frozen=True, slots=True)
class Substitution:
    """A monotone change of variable ``old = expression(new)`` in an integral; derivative and ends are compared."""

    old: Symbol
    new: Symbol
    expression: Expr
    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare Jacobian, ends and integrand."""
        if isinstance(before, Sum) and isinstance(after, Sum) and before.limits == after.limits:
            before, after = before.function, after.function  # mode by mode
        if any(
            side.xreplace({integral: integral.limits[0][0] for integral in side.atoms(Integral)}).has(Sum)
            for side in (before, after)
        ):
            return refuse("a substitution is made in one integral, or mode by mode in two sums over the same range")
        left, right = one_integral(before), one_integral(after)
        if left is None or right is None:
            return refuse("each side must hold exactly one integral")
        (f, (old, lower, upper)), (g, (new, new_lower, new_upper)) = left, right
        if old != self.old or new != self.new:
            return refuse(f"the integrals are over {old} and {new}, the substitution is from {self.old} to {self.new}")
        if f.has(new) and new != old:
            return refuse(f"the integrand holds {new}, over which the other integral runs")
        if new.is_positive and not all(end == oo or sign(end) in (0, 1) for end in (new_lower, new_upper)):
            return refuse(f"{new} is positive, and its range is not shown to be")
        if not is_continuous(self.expression, new, new_lower, new_upper):
            return refuse("the substitution is not shown to be continuous between the ends of the range")
        slope = diff(self.expression, self.new)
        direction = sign(slope)
        if direction not in (1, -1):
            return refuse(f"the substitution is not shown to be monotone: its derivative is {slope}")
        ends = [new_lower, new_upper] if direction == 1 else [new_upper, new_lower]
        for end, image in zip(ends, (lower, upper), strict=True):
            if not self._maps(end, image):
                return refuse(f"the end {end} is not mapped to {image}")
        return compare(f.subs(self.old, self.expression) * slope * direction, g, said=f"Jacobian {slope}")

    def _maps(self, end: Expr, image: Expr) -> bool:
        value = self.expression.subs(self.new, end)
        if image != oo and not value.has(oo, -oo, zoo, nan):
            return equal(value, image).proved
        if image == oo:
            value = limit_value(1 / self.expression, self.new, end)
            return value == 0 and sign(self.expression) == 1
        value = limit_value(self.expression, self.new, end)
        return value is not None and equal(value, image).proved


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit of ``before`` as ``variable`` tends to ``point`` (0+ or infinity), read off term by term."""

    variable: Symbol
    point: Expr
    relation: ClassVar[str] = "->"

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare with the limit that is read off."""
        if self.variable.is_integer and self.point != oo:
            return refuse(f"{self.variable} is a whole number, which tends to nothing but infinity")
        if holds_infinity(before):
            return refuse("what may be infinite at every place need have no limit")
        x, function = freely_positive(self.variable, before)
        value = limit_value(function, x, self.point)
        if value is None:
            return refuse("a term of the expression has no limit that could be decided over the whole parameter range")
        return compare(value, after, said="term by term")
