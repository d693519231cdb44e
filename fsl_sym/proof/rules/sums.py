"""Equalities between linear combinations of sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import (
    Expr,
    Integer,
    Integral,
    Mul,
    Pow,
    Sum,
    Symbol,
    expand,
    log,
    lowergamma,
    nan,
    oo,
    powsimp,
    uppergamma,
    zeta,
    zoo,
)

from fsl_sym.algebra.equality import equal, sign, worked_out
from fsl_sym.algebra.limits import is_continuous
from fsl_sym.algebra.linear_combinations import merged, one_integral, one_sum, summands, sums_apart
from fsl_sym.proof.rules.base import StepVerdict, accept, compare, first_difference, refuse
from fsl_sym.values import as_expression


@dataclass(frozen=True, slots=True)
class Termwise:
    """Two linear combinations of sums agree because the summands over each range do.

    Where one of several sums over an infinite range has terms that may be negative, one may converge only together
    with another: nothing is shown.
    """

    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare the summands over each range."""
        (first, left_rest), (second, right_rest) = sums_apart(before), sums_apart(after)
        for sums in (first, second):
            endless = [summand for limits, summand in sums if not all(end.is_finite for end in limits[1:])]
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
    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare the integrands of each term."""
        integrals = before.atoms(Integral)
        if len(integrals) != 1:
            return refuse(f"expected one integral of a sum, found {len(integrals)}")
        (outer,) = integrals
        inner = one_sum(outer.function)
        if inner is None:
            return refuse("the integrand is not one sum")
        summand, limits = inner
        if limits[2] == oo or not all(continuous_up_to_the_ends(summand, *limit) for limit in outer.limits):
            product = equal(Mul(*self.nonnegative), summand)
            if not product.proved or not all(item.is_nonnegative for item in self.nonnegative):
                return refuse(
                    "a sum that is infinite, or whose terms are not shown to be continuous on the whole of a finite"
                    " range, may be interchanged only where its terms are shown to be nonnegative"
                )
        bound = {limits[0], *(limit[0] for limit in outer.limits)}
        ends = [*limits[1:], *(end for limit in outer.limits for end in limit[1:])]
        if limits[1] == -oo or any(end.free_symbols & bound for end in ends):
            return refuse("the sum must begin at a number, and no range may hold a letter over which the other runs")
        expected = before.xreplace({outer: Sum(Integral(summand, *outer.limits), limits)})
        return _compare_integrands(expected, after)


def continuous_up_to_the_ends(expression: Expr, x: Symbol, lower: Expr, upper: Expr) -> bool:
    """Whether an expression is shown to be a continuous function of x on a finite range with its ends."""
    expression, x, lower, upper = map(as_expression, (expression, x, lower, upper))
    # each part by itself too: in x (x + x^2)^(s - 3) the factor x hides at 0 what stands beside it
    special = [item for item in _special(expression) if item.has(x)]
    values = [item.subs(x, end) for item in (expression, *special) for end in (lower, upper)]
    regular = not any(value.has(oo, -oo, zoo, nan) or special and not _inside(value) for value in values)
    return regular and not {oo, -oo} & {lower, upper} and is_continuous(expression, x, lower, upper)


def _inside(value: Expr) -> bool:
    """Whether no power, logarithm or incomplete gamma function is taken at 0, where it need not be continuous."""
    ends = {item.args[0] if isinstance(item, Pow | log) else item.args[-1] for item in _special(value)}
    return all(sign(end) in (1, -1) or not end.free_symbols and end != 0 for end in ends)


def _special(expression: Expr) -> set[Expr]:
    """The powers, logarithms and incomplete gamma functions of an expression, but not the powers 1, 2, 3, ..."""
    items = expression.atoms(Pow, log, uppergamma, lowergamma)
    return {item for item in items if not (item.is_Pow and item.exp.is_integer and item.exp.is_positive)}


def _compare_integrands(expected: Expr, after: Expr) -> StepVerdict:
    (left, left_rest), (right, right_rest) = summands(expected), summands(after)
    if set(left) != set(right) or left_rest != right_rest:
        return refuse("the ranges of the sums differ")
    for limits in left:
        expected_integral, integral = one_integral(left[limits]), one_integral(right[limits])
        if expected_integral is None or integral is None or expected_integral[1] != integral[1]:
            return refuse("the ranges of the integrals differ")
        if (differs := first_difference((expected_integral[0], integral[0], f"integrands over {limits}"))) is not None:
            return differs
    return accept("the integrands of each term agree")


@dataclass(frozen=True, slots=True)
class Induction:
    """Two expressions in sums up to ``index`` agree: they do at ``base``, and they grow alike from n to n + 1."""

    index: Symbol
    base: int = 0
    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare both sides at the base, and their increments summand by summand."""
        if not self.index.is_integer or not self.index.is_nonnegative:
            return refuse(f"{self.index} must be declared a nonnegative whole number")
        if self.base != (1 if self.index.is_positive else 0):  # of a positive n nothing is seen from 0 to 1
            return refuse(f"an induction over {self.index} cannot begin at {self.base}")
        left, right = (worked_out(side.subs(self.index, self.base)) for side in (before, after))
        if (differs := first_difference((left, right, f"at {self.index} = {self.base}"))) is not None:
            return differs
        verdict = Termwise().check(*(expand(self._advanced(side) - side) for side in (before, after)))
        return StepVerdict(verdict.holds, verdict.method, f"base and increments: {verdict.detail}")

    def _advanced(self, side: Expr) -> Expr:
        """The side at n + 1, each sum up to n + 1 split into the sum up to n and its last term."""
        following = self.index + 1
        side = side.subs(self.index, following)
        while longer := [candidate for candidate in side.atoms(Sum) if candidate.limits[-1][2] == following]:
            *inner, (running, first, _) = longer[0].limits
            last = longer[0].function.subs(running, following)
            last = (
                Sum(last, *[tuple(part.subs(running, following) for part in limits) for limits in inner])
                if inner
                else last
            )
            side = side.xreplace({longer[0]: Sum(longer[0].function, *inner, (running, first, self.index)) + last})
        return side


@dataclass(frozen=True, slots=True)
class Counted:
    """A sum of equal terms is their number times the term."""

    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Count and compare."""
        total = one_sum(before)
        if total is None or total[0].has(total[1][0]):
            return refuse("expected one sum of terms that do not hold its index")
        term, (_, first, last) = total
        if last == oo or sign(last - first + 1) not in (0, 1):
            return refuse(f"the number of terms from {first} to {last} is not shown to be nonnegative")
        return compare((last - first + 1) * term, after)


@dataclass(frozen=True, slots=True)
class ZetaSeries:
    """``sum_{j>=m} c j^-p = c zeta(p, m)`` for p > 1: the definition of the zeta function of Riemann and Hurwitz."""

    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Take the summand apart, compare."""
        total = one_sum(before)
        if total is None or total[1][2] != oo:
            return refuse("expected one endless sum")
        summand, (index, first, _) = total
        front, power = powsimp(expand(summand, power_base=True)).as_independent(index)
        base, exponent = power.as_base_exp()
        if base != index or exponent.has(index) or sign(-exponent - 1) != 1 or sign(first) != 1:
            return refuse(f"{summand} is not c {index}^-p with p > 1, or the sum does not begin at 1 or later")
        return compare(front * (zeta(-exponent) if first == 1 else zeta(-exponent, first)), after)
