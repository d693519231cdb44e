"""The rules by which a step of a derivation may be taken, each with its own verifier.

A justification carries what its rule needs (an antiderivative, a substitution, the shape of a function) and checks
``before`` against ``after``. A wrong sign, factor or term is refuted or left unproved; it never holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from sympy import Expr, Integer, Integral, Mul, Pow, Sum, Symbol, diff, nan, oo, sympify, zoo

from fsl_sym.limits import is_continuous, limit_value
from fsl_sym.linear_combinations import merged, one_integral, summands, sums_apart
from fsl_sym.verification import equal, sign


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """``holds`` only where an exact method succeeded; ``method`` is ``exact`` or ``numeric``; ``detail`` says how."""

    holds: bool
    method: str
    detail: str


class Justification(Protocol):
    """What a rule needs in order to be checked."""

    @property
    def rule(self) -> str:
        """The name of the rule."""
        ...

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Whether ``before`` and ``after`` stand to each other as the rule says."""
        ...


def refuse(detail: str, method: str = "exact") -> StepVerdict:
    """The verdict that a step does not hold, with the reason."""
    return StepVerdict(False, method, detail)


def compare(left: Expr, right: Expr) -> StepVerdict:
    """The verdict on whether two expressions are the same function."""
    verdict = equal(left, right)
    return StepVerdict(verdict.proved, verdict.method, verdict.detail)


def _one_letter_each(swaps: dict[Symbol, Expr], *statement: Expr) -> bool:
    """Whether each letter that is replaced leaves another letter free, one that nothing else of the statement holds."""
    kept = set().union(*(side.free_symbols for side in statement)) - set(swaps)

    def assigned(expressions: list[Expr], taken: set[Symbol]) -> bool:
        return not expressions or any(
            assigned(expressions[1:], taken | {letter}) for letter in expressions[0].free_symbols - kept - taken
        )

    return assigned(list(swaps.values()), set())


@dataclass(frozen=True, slots=True)
class Identity:
    """Both sides are the same function.

    ``reparametrise`` holds pairs (symbol, expression) that map the range of the symbol one to one, for example
    ``(t, T (1 - y))`` with y in (0, 1), where the positivity of a base has to be seen. Each expression must hold a new
    letter of its own. ``definitions`` holds pairs (symbol, expression) under which the sides are the same: what a
    symbol of the statement stands for.
    """

    reparametrise: tuple[tuple[Symbol, Expr], ...] = ()
    definitions: tuple[tuple[Symbol, Expr], ...] = ()
    rule: str = field(default="identity", init=False)

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare both sides."""
        swaps = dict(self.reparametrise)
        if not _one_letter_each(swaps, before, after):
            return refuse("each letter must be replaced by an expression with a letter of its own")
        swaps |= dict(self.definitions)
        return compare(before.subs(swaps, simultaneous=True), after.subs(swaps, simultaneous=True))


@dataclass(frozen=True, slots=True)
class Termwise:
    """Two linear combinations of sums agree because the summands over each range do.

    Where one of several sums over an infinite range has terms that may be negative, one may converge only together
    with another: nothing is shown.
    """

    rule: str = field(default="sum", init=False)

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare the summands over each range."""
        (first, left_rest), (second, right_rest) = sums_apart(before), sums_apart(after)
        for found in (first, second):
            endless = [summand for limits, summand in found if not all(end.is_finite for end in limits[1:])]
            if len(endless) > 1 and not all(summand.is_nonnegative for summand in endless):
                return refuse("several infinite sums are one only where their terms are shown to be nonnegative")
        left, right = merged(first), merged(second)
        details = []
        for limits in sorted(set(left) | set(right), key=str):
            verdict = compare(left.get(limits, Integer(0)), right.get(limits, Integer(0)))
            if not verdict.holds:
                return verdict
            details.append(f"summands over {limits}: {verdict.detail}")
        verdict = compare(left_rest, right_rest)
        return StepVerdict(verdict.holds, verdict.method, "; ".join([*details, verdict.detail]))


@dataclass(frozen=True, slots=True)
class Interchange:
    """The integral of a sum is the sum of the integrals.

    In a finite sum each term must be continuous up to the ends of a finite range. An infinite one, and any other, needs
    nonnegative terms (Tonelli), which the caller states as ``nonnegative`` factors: the summand must be their product.
    """

    nonnegative: tuple[Expr, ...] = ()
    rule: str = field(default="interchange", init=False)

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare the integrands of each term."""
        integrals = before.atoms(Integral)
        if len(integrals) != 1:
            return refuse(f"expected one integral of a sum, found {len(integrals)}")
        (outer,) = integrals
        parts, rest = summands(outer.function)
        if rest != 0 or len(parts) != 1:
            return refuse("the integrand is not one sum")
        ((limits, summand),) = parts.items()
        if limits[2] == oo or not all(_continuous_up_to_the_ends(summand, *each) for each in outer.limits):
            product = equal(Mul(*self.nonnegative), summand)
            if not product.proved or not all(item.is_nonnegative for item in self.nonnegative):
                return refuse(
                    "a sum that is infinite, or whose terms are not shown to be continuous on the whole of a finite"
                    " range, may be interchanged only where its terms are shown to be nonnegative"
                )
        bound = {limits[0], *(each[0] for each in outer.limits)}
        ends = [*limits[1:], *(end for each in outer.limits for end in each[1:])]
        if limits[1] == -oo or any(end.free_symbols & bound for end in ends):
            return refuse("the sum must begin at a number, and no range may hold a letter over which the other runs")
        expected = before.xreplace({outer: Sum(Integral(summand, *outer.limits), limits)})
        return _compare_integrands(expected, after)


def _continuous_up_to_the_ends(expression: Expr, x: Symbol, lower: Expr, upper: Expr) -> bool:
    values = [expression.subs(x, end) for end in (lower, upper)]
    regular = not any(value.has(oo, -oo, zoo, nan) or Integer(0) in _bases(value) for value in values)
    return regular and not {oo, -oo} & {lower, upper} and is_continuous(expression, x, lower, upper)


def _bases(expression: Expr) -> set[Expr]:
    return {power.args[0] for power in expression.atoms(Pow)}


def _compare_integrands(expected: Expr, after: Expr) -> StepVerdict:
    (left, left_rest), (right, right_rest) = summands(expected), summands(after)
    if set(left) != set(right) or left_rest != right_rest:
        return refuse("the ranges of the sums differ")
    for limits in left:
        pair = [one_integral(side[limits]) for side in (left, right)]
        if pair[0] is None or pair[1] is None or pair[0][1] != pair[1][1]:
            return refuse("the ranges of the integrals differ")
        verdict = compare(pair[0][0], pair[1][0])
        if not verdict.holds:
            return verdict
    return StepVerdict(True, "exact", "the integrands of each term agree")


@dataclass(frozen=True, slots=True)
class Antiderivative:
    """An integral is the difference of an antiderivative at the ends; its derivative is compared with the integrand.

    Infinite ends and the end 0 are taken as limits by :func:`fsl_sym.limits.limit_value`. Between the ends the
    antiderivative must be continuous; ``reparametrise`` as in :class:`Identity` where the range of an end has to be
    seen for that.
    """

    primitive: Expr
    reparametrise: tuple[tuple[Symbol, Expr], ...] = ()
    rule: str = field(default="integral", init=False)

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
        swaps = dict(self.reparametrise)
        if variable in swaps or not _one_letter_each(swaps, before, after):
            return refuse("only letters of the ends are reparametrised, each with a letter of its own")
        seen = [each.subs(swaps, simultaneous=True) for each in (self.primitive, lower, upper)]
        if not is_continuous(seen[0], variable, seen[1], seen[2]):
            return refuse("the antiderivative is not shown to be continuous between the ends of the range")
        ends = [self._at(variable, end) for end in (lower, upper)]
        if ends[0] is None or ends[1] is None:
            return refuse("the antiderivative has no limit that could be decided at an end of the range")
        replaced = before.xreplace({integral: ends[1] - ends[0]})
        verdict = Termwise().check(replaced, after)
        return StepVerdict(verdict.holds, verdict.method, f"antiderivative differentiated; {verdict.detail}")

    def _at(self, variable: Symbol, end: Expr) -> Expr | None:
        if end in (oo, 0) and not self.primitive.subs(variable, end).is_finite:
            return limit_value(self.primitive, variable, sympify(end))
        return self.primitive.subs(variable, end)


@dataclass(frozen=True, slots=True)
class Substitution:
    """A monotone change of variable ``old = expression(new)`` in an integral; derivative and ends are compared."""

    old: Symbol
    new: Symbol
    expression: Expr
    rule: str = field(default="substitution", init=False)

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare Jacobian, ends and integrand."""
        if isinstance(before, Sum) and isinstance(after, Sum) and before.limits == after.limits:
            before, after = before.function, after.function  # mode by mode
        if any(
            side.xreplace({one: one.limits[0][0] for one in side.atoms(Integral)}).has(Sum) for side in (before, after)
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
        verdict = compare(f.subs(self.old, self.expression) * slope * direction, g)
        return StepVerdict(verdict.holds, verdict.method, f"Jacobian {slope}; {verdict.detail}")

    def _maps(self, end: Expr, image: Expr) -> bool:
        value = self.expression.subs(self.new, end)
        if image != oo and not value.has(oo, -oo, zoo, nan):
            return equal(value, image).proved
        if image == oo:
            value = limit_value(1 / self.expression, self.new, sympify(end))
            return value == 0 and sign(self.expression) == 1
        value = limit_value(self.expression, self.new, sympify(end))
        return value is not None and equal(value, image).proved


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit of ``before`` as ``variable`` tends to ``point`` (0+ or infinity), read off term by term."""

    variable: Symbol
    point: Expr
    rule: str = field(default="limit", init=False)

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare with the limit that is read off."""
        value = limit_value(before, self.variable, self.point)
        if value is None:
            return refuse("a term of the expression has no limit that could be decided over the whole parameter range")
        verdict = compare(value, after)
        return StepVerdict(verdict.holds, verdict.method, f"term by term; {verdict.detail}")
