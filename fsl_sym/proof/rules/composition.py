"""Bounds made of other bounds: lemmas put to values, summed, combined, and read from their other end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, Integer, Min, Sum, Symbol, diff, oo

from fsl_sym.algebra.equality import sign, simplified
from fsl_sym.algebra.limits import is_continuous, limit_value
from fsl_sym.algebra.linear_combinations import one_sum
from fsl_sym.proof.bound_letters import canonical, put
from fsl_sym.proof.formulas import Formula, at_least
from fsl_sym.proof.rules.algebra import Pairs, moved
from fsl_sym.proof.rules.base import (
    FromLemma,
    StepVerdict,
    accept,
    compare,
    first_difference,
    freely_positive,
    is_any_positive,
    may_be,
    refuse,
)
from fsl_sym.proof.rules.infinities import holds_infinity


@dataclass(frozen=True, slots=True)
class Instance(FromLemma):
    """A lemma for all values of some letters, at values of them: each must be shown to be what its letter is declared.

    ``values`` holds pairs (letter, expression); with a positive ``factor`` both sides are multiplied by it; ``ranges``
    as in :class:`~fsl_sym.proof.rules.algebra.Identity`.
    """

    values: tuple[tuple[Symbol, Expr], ...] = ()
    factor: Expr = Integer(1)
    ranges: Pairs = ()

    @property
    def numbers(self) -> tuple[Expr, ...]:
        """The factor and the values."""
        return (self.factor, *(value for _, value in self.values))

    @property
    def relation(self) -> str:
        """That of the lemma."""
        return str(self.lemma.conclusion.relation)

    def check(self, before: Expr, after: Expr, known: Formula) -> StepVerdict:
        """Put the values in, compare both sides."""
        if known.relation not in ("=", "<=", ">=", "<"):
            return refuse(f"a lemma with the relation {known.relation!r} is not put to values")
        if infinite := next(filter(holds_infinity, self.numbers), None):
            return refuse(f"{infinite} may be infinite: no letter stands for that")
        ranged, hypotheses = moved(self.ranges, before, after)
        for letter, value in self.values:
            if not may_be(letter, put(value, ranged)):
                return refuse(f"{value} is not shown to be what {letter} is declared to be")
        if sign(self.factor) != 1:
            return refuse(f"the factor {self.factor} is not shown to be positive")
        swaps = dict(self.values)
        left, right = (self.factor * put(mine, swaps) for mine in (known.left, known.right))
        if known.relation == "=" and canonical(left) == canonical(after):
            left, right = right, left
        pairs = ((left, before, "left"), (right, after, "right"))
        sides = ((canonical(mine), canonical(side), f"on the {name}") for mine, side, name in pairs)
        return first_difference(*sides) or accept("the lemma at these values", hypotheses, self.values)


@dataclass(frozen=True, slots=True)
class SumOfBounds(FromLemma):
    """A sum is at most the sum of the bounds of its terms, over one range."""

    relation: ClassVar[str] = "<="

    def check(self, before: Expr, after: Expr, known: Formula) -> StepVerdict:
        """Compare both sums with the lemma, term by term."""
        if known.relation not in ("<=", "="):
            return refuse(f"the lemma is no upper bound: {known}")
        left, right = one_sum(before), one_sum(after)
        if left is None or right is None or left[1] != right[1]:
            return refuse("both sides must be sums over one range")
        terms = ((known.left, canonical(left[0]), "smaller term"), (known.right, canonical(right[0]), "larger term"))
        return first_difference(*terms) or accept("term by term", puts=((left[1][0], None),))


@dataclass(frozen=True, slots=True)
class FirstTerm:
    """A sum from 1 to M >= 1 of nonnegative terms is at least its first term."""

    relation: ClassVar[str] = ">="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Decide the sign of the terms, compare the first."""
        parts = one_sum(before)
        if parts is None or parts[1][1] != 1:
            return refuse("expected one sum that begins at 1")
        summand, (index, _, last) = parts
        if sign(summand) not in (0, 1):
            return refuse(f"the terms {summand} are not shown to be nonnegative")
        if sign(last) != 1 and last != oo:
            return refuse(f"the sum is not shown to have a first term: it ends at {last}")
        return compare(summand.subs(index, 1), after)


@dataclass(frozen=True, slots=True)
class MoreTerms:
    """A sum of nonnegative terms to M is at most the sum to infinity."""

    relation: ClassVar[str] = "<="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Decide the sign of the terms, compare with the endless sum."""
        parts = one_sum(before)
        if parts is None:
            return refuse("expected one sum")
        summand, (index, first, _) = parts
        if sign(summand) not in (0, 1):
            return refuse(f"the terms {summand} are not shown to be nonnegative")
        if canonical(Sum(summand, (index, first, oo))) != canonical(after):
            return refuse(f"{after} is not the endless sum of the same terms")
        return accept("more nonnegative terms")


@dataclass(frozen=True, slots=True)
class AtMostBoth:
    """What is at most ``factor`` times each of two bounds is at most ``factor`` times the smaller."""

    first: Any
    second: Any
    factor: Expr = Integer(1)
    relation: ClassVar[str] = "<="

    @property
    def lemmas(self) -> tuple[Any, ...]:
        """Both bounds."""
        return (self.first, self.second)

    def check(self, before: Expr, after: Expr, first: Formula, second: Formula) -> StepVerdict:
        """Compare what is bounded, and the minimum."""
        if {first.relation, second.relation} - {"<=", "="}:
            return refuse("both lemmas must be upper bounds")
        quantity = canonical(before)
        if first.left != quantity or second.left != quantity:
            return refuse(f"the lemmas bound {first.left} and {second.left}, not {quantity}")
        if sign(self.factor) != 1:
            return refuse(f"the factor {self.factor} is not shown to be positive")
        smaller = Min(*(simplified(bound.right / self.factor) for bound in (first, second)))
        return compare(self.factor * smaller, canonical(after))


@dataclass(frozen=True, slots=True)
class HeadOfSum(FromLemma):
    """``sum_{j<=M} f(T j^-beta) >= f(1) min{M, T^(1/beta)}/2`` for T, M >= 1, where f is nonnegative and rises.

    The terms j <= N = floor(min{M, T^(1/beta)}) have T j^-beta >= 1, hence f >= f(1), and N >= min/2 because the
    minimum is at least 1. The lemma is ``f(1) <= f(1 + w)``.
    """

    variable: Symbol
    function: Expr
    time: Symbol
    exponent: Expr
    relation: ClassVar[str] = ">="

    def check(self, before: Expr, after: Expr, rises: Formula) -> StepVerdict:
        """Compare the summand, the lemma and the bound."""
        parts = one_sum(before)
        if parts is None or parts[1][1] != 1 or not self.time.is_positive or sign(self.exponent) != 1:
            return refuse("expected a sum from 1, a positive time and a positive exponent")
        summand, (index, _, last) = parts
        if index == self.variable or any(part.has(index) for part in (self.function, self.time, self.exponent)):
            return refuse(f"f, the time and the exponent may not hold {index}, over which the sum runs")
        at_one = self.function.subs(self.variable, 1)
        letters = rises.right.free_symbols - rises.left.free_symbols - self.function.free_symbols
        if rises.relation != "<=" or len(letters) != 1 or not is_any_positive(letter := letters.pop()):
            return refuse("the lemma must be f(1) <= f(1 + w) for every w > 0")
        mode = self.time * index**-self.exponent
        differs = first_difference(
            (self.function.subs(self.variable, mode), summand, "the summand is not f(T j^-beta)"),
            (at_one, rises.left, "the lemma does not begin with f(1)"),
            (self.function.subs(self.variable, 1 + letter), rises.right, "the lemma does not end with f(1 + w)"),
        )
        if differs is not None:
            return differs
        x, function = freely_positive(self.variable, self.function)
        if sign(function) not in (0, 1) and not self._begins_at_zero(x, function):
            return refuse("f is not shown to be nonnegative")
        verdict = compare(at_one * Min(last, self.time ** (1 / self.exponent)) / 2, after)
        hypotheses = (at_least(self.time, Integer(1)), at_least(last, Integer(1)))
        return StepVerdict(verdict.holds, verdict.method, verdict.detail, hypotheses, ((letter, None),))

    @staticmethod
    def _begins_at_zero(x: Symbol, function: Expr) -> bool:
        if not is_continuous(function, x, Integer(0), oo):
            return False
        return limit_value(function, x, Integer(0)) == 0 and sign(simplified(diff(function, x))) in (0, 1)


@dataclass(frozen=True, slots=True)
class WithinError(FromLemma):
    """What differs from a value by at most an error is at most their sum."""

    relation: ClassVar[str] = "<="

    def check(self, before: Expr, after: Expr, known: Formula) -> StepVerdict:
        """Compare the sum."""
        if known.relation != "within" or known.left != canonical(before):
            return refuse(f"{known} is no approximation of {before}")
        return compare(known.right + known.error, canonical(after))


@dataclass(frozen=True, slots=True)
class Turned(FromLemma):
    """A bound read from its other end."""

    @property
    def relation(self) -> str:
        """``>=`` for ``<=``, and the other way round."""
        return {"<=": ">=", ">=": "<="}.get(self.lemma.conclusion.relation, "=")

    def check(self, before: Expr, after: Expr, known: Formula) -> StepVerdict:
        """Compare crosswise."""
        if known.relation not in ("<=", ">=", "="):
            return refuse(f"{known} is no bound")
        if (known.right, known.left) != (canonical(before), canonical(after)):
            return refuse(f"{known} is about other sides")
        return accept("read from its other end")
