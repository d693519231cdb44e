"""Equalities between expressions, and signs of differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sympy import Derivative, Dummy, Expr, Function, Integer, Integral, Sum, Symbol, diff, expand, oo
from sympy.core.function import AppliedUndef

from fsl_sym.algebra.equality import RANGED, sign, worked_out
from fsl_sym.algebra.limits import is_continuous
from fsl_sym.proof.bound_letters import canonical, put
from fsl_sym.proof.formulas import Formula, Hypothesis, equals, less
from fsl_sym.proof.rules.base import (
    FromLemma,
    StepVerdict,
    accept,
    compare,
    first_difference,
    is_any_positive,
    may_be,
    refuse,
)
from fsl_sym.proof.rules.infinities import holds_infinity
from fsl_sym.proof.rules.sums import continuous_up_to_the_ends

Pairs = tuple[tuple[Expr, Expr], ...]


def moved(pairs: Pairs, *statement: Expr) -> tuple[dict[Expr, Expr], tuple[Hypothesis, ...]]:
    """The replacements of letters by affine functions of new positive letters, and the ranges that they mean.

    A letter x is replaced by ``A + B y`` with y > 0 new and B of one sign: then x ranges over all that is above or
    below A, and this is the hypothesis. The new letter stands in this one replacement alone, so that the hypothesis
    does not contain it. Raises ValueError for any other replacement.
    """
    swaps: dict[Expr, Expr] = {}
    hypotheses: list[Hypothesis] = []
    free = set().union(*(side.free_symbols for side in statement))
    taken = set().union(*(side.atoms(Symbol) for side in statement))
    for place, (letter, expression) in enumerate(pairs):
        elsewhere = set().union(*(side.free_symbols for pair in (*pairs[:place], *pairs[place + 1 :]) for side in pair))
        fresh = sorted(filter(is_any_positive, expression.free_symbols - taken - elsewhere), key=str)
        slopes = {new: expand(diff(expression, new), log=False) for new in fresh}
        new = next((new for new, slope in slopes.items() if not slope.has(new) and sign(slope) in (1, -1)), None)
        bound = expression.free_symbols & taken - free  # letters over which a sum or an integral runs
        if new is None or not isinstance(letter, Symbol) or letter in expression.free_symbols or bound:
            raise ValueError(f"{letter} = {expression} is no affine function of one new positive letter")
        direction = sign(slopes[new])
        start = expression.subs(new, 0)
        swaps[letter] = expression
        hypotheses.append(less(start, letter) if direction == 1 else less(letter, start))
    return swaps, tuple(hypotheses)


@dataclass(frozen=True, slots=True)
class Identity:
    """Both sides are the same function.

    ``ranges`` holds pairs (letter, affine function of a new positive letter), for example ``(t, T (1 - y))`` where the
    positivity of T - t has to be seen; what they mean, t < T, is a hypothesis of the step.
    """

    ranges: Pairs = ()
    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare both sides."""
        swaps, hypotheses = moved(self.ranges, before, after)
        return compare(put(before, swaps), put(after, swaps), hypotheses)


@dataclass(frozen=True, slots=True)
class Defined:
    """Both sides are the same once letters and functions are what they stand for; the definitions are hypotheses.

    ``definitions`` holds pairs (letter or applied function, expression).
    """

    definitions: Pairs
    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Put the definitions in and compare."""
        for name, value in self.definitions:
            if not isinstance(name, Symbol | AppliedUndef) or value.has(name):
                return refuse(
                    f"{name} = {value} is no definition: the left side must be a letter or an unnamed function"
                )
            if not (before.has(name) or after.has(name)):
                return refuse(f"{name} stands on neither side")
            if isinstance(name, Symbol) and not may_be(name, value):
                return refuse(f"{name} is declared to be more than {value} is shown to be")
            if isinstance(name, AppliedUndef) and value.free_symbols - name.free_symbols & _bound(before, after):
                return refuse(f"{value} holds a letter that is bound in the statement")
        definitions = tuple(equals(name, value) for name, value in self.definitions)
        letters = {name: value for name, value in self.definitions if isinstance(name, Symbol)}
        functions = {name: value for name, value in self.definitions if not isinstance(name, Symbol)}
        left, right = (put(side, letters).subs(functions, simultaneous=True) for side in (before, after))
        return compare(left, right, definitions)


def _moves_by_its_ends(item: Integral, variables: set[Symbol]) -> bool:
    """Whether the derivative of an integral is what stands at its ends, by the fundamental theorem."""
    (running, lower, upper), *outer = item.limits
    inside = item.function.free_symbols - {running}
    return not outer and not inside & variables and continuous_up_to_the_ends(item.function, running, lower, upper)


def _bound(*sides: Expr) -> set[Symbol]:
    """The letters over which sums and integrals run."""
    return {limits[0] for side in sides for item in side.atoms(Sum, Integral) for limits in item.limits}


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Both sides are the same function once their derivatives are taken.

    An integral is differentiated by its ends alone, where what is integrated is continuous; endless sums are not.
    """

    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Take derivatives, compare."""
        for item in before.atoms(Derivative) | after.atoms(Derivative):
            variables = {variable for variable, _ in item.variable_count}
            if not all(_moves_by_its_ends(part, variables) for part in item.atoms(Integral)):
                return refuse(f"{item} is the derivative of an integral that does not move by its ends alone")
            if any({oo, -oo} & {*limits} for part in item.atoms(Sum) for limits in part.limits):
                return refuse(f"{item} is the derivative of an endless sum")
        sides = [side.replace(Derivative, lambda *parts: Derivative(*parts, evaluate=True)) for side in (before, after)]
        difference = expand(sides[0] - sides[1])
        if difference != 0:
            return refuse(f"differs by {difference}")
        return accept("derivatives taken; the difference expands to 0")


@dataclass(frozen=True, slots=True)
class Rewrite(FromLemma):
    """Part of an expression is replaced by what it equals, by a lemma; its letters may not be bound around it."""

    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr, known: Formula) -> StepVerdict:
        """Replace and compare."""
        if known.relation != "=":
            return refuse(f"only equals are replaced by equals, not {known}")
        whole = canonical(before)
        if _bound(before, whole) & (known.left.free_symbols | known.right.free_symbols):
            return refuse("a letter of the lemma is bound in the expression")
        if not whole.has(known.left):
            return refuse(f"{known.left} does not stand there")
        letters = known.left.free_symbols | known.right.free_symbols
        if any(item.has(known.left) and letters & {*item.variables} for item in whole.atoms(Derivative)):
            return refuse(f"{known} may hold at one value alone of a letter by which a derivative is taken")
        return compare(whole.subs(known.left, known.right), canonical(after))


@dataclass(frozen=True, slots=True)
class SameDerivative:
    """Two functions of ``variable`` > 0 agree: they do at the place ``at`` > 0, and their derivatives are the same.

    ``given`` holds pairs (applied function or its derivative, value): T' = phi, say. They are hypotheses. Both sides
    must be shown to be continuous, for two functions with one derivative may jump against each other.
    """

    variable: Symbol
    at: Expr
    given: Pairs = ()
    relation: ClassVar[str] = "="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare the values at the one place and the derivatives everywhere."""
        if not self.variable.is_nonnegative or self.variable.is_integer:
            return refuse(f"{self.variable} is not declared to be nonnegative: where the functions live is not known")
        if sign(self.at) != 1 or not self.at.is_finite and self.at.is_finite is not None or self.at.has(self.variable):
            return refuse(f"the place {self.at} is not shown to be a positive number")
        for name, value in self.given:
            of_function = isinstance(name, AppliedUndef) or (
                isinstance(name, Derivative) and isinstance(name.expr, AppliedUndef)
            )
            if not of_function or value.has(name):
                return refuse(f"{name} = {value} says nothing about a function without a name of its own")
        for side in (before, after):
            if not _is_continuous_with_integrals(side, self.variable):
                return refuse(f"{side} is not shown to be continuous for all {self.variable} > 0")
        if self.variable in RANGED:
            return refuse(f"{self.variable} does not range over all positive numbers")
        (left, slope), (right, right_slope) = (
            (
                worked_out(self._known(side.subs(self.variable, self.at))),
                self._known(expand(self._known(diff(side, self.variable)))),
            )
            for side in (before, after)
        )
        definitions = tuple(equals(name, value) for name, value in self.given)
        differs = first_difference((left, right, f"at {self.variable} = {self.at}"))
        return differs or compare(slope, right_slope, definitions, "derivatives")

    def _known(self, side: Expr) -> Expr:
        for expression, value in self.given:
            side = side.subs(expression, value)
        return side


def _is_continuous_with_integrals(side: Expr, variable: Symbol) -> bool:
    """Whether a function is shown to be continuous for ``variable`` > 0, as integrals of continuous functions are.

    Functions without a name of their own, and their derivatives, are: the kernel lists it among the hypotheses.
    """

    def some_function(item: Expr) -> Expr:
        # each with a name of its own: two of one name could cancel, and with them the pole of a common factor
        return Function(Dummy().name)(*sorted(item.free_symbols, key=str))

    def is_slope(item: Expr) -> bool:
        return isinstance(item, Derivative) and isinstance(item.expr, AppliedUndef)

    side = side.replace(is_slope, some_function)
    while inmost := [item for item in side.atoms(Integral) if not item.function.has(Integral)]:
        for item in inmost:
            (running, *ends), *outer = item.limits
            # up to the ends too: ever closer to them, an integrand may pile up and make the integral jump
            if outer or not continuous_up_to_the_ends(item.function, running, *ends):
                return False
            inside = (item.function, *(item.function.subs(running, end) for end in ends))
            if not all(is_continuous(part, variable, Integer(0), oo) for part in (*inside, *ends)):
                return False
        side = side.xreplace({item: some_function(item) for item in inmost})
    return is_continuous(side, variable, Integer(0), oo)


@dataclass(frozen=True, slots=True)
class Smaller:
    """``before`` is at most ``after`` for all values of the letters: the sign of the difference is decided.

    With ``strict`` it must be below. ``ranges`` as in :class:`Identity`.
    """

    strict: bool = False
    ranges: Pairs = ()

    @property
    def relation(self) -> str:
        """``<`` or ``<=``."""
        return "<" if self.strict else "<="

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Decide the sign of the difference."""
        swaps, hypotheses = moved(self.ranges, before, after)
        decided = sign(put(after - before, swaps))
        if self.strict and (holds_infinity(before) or holds_infinity(after)):
            return refuse("a side may be infinite, and nothing is above that")
        if decided == 1 or (decided == 0 and not self.strict):
            return accept(f"the difference has the sign {decided}", hypotheses)
        return refuse(f"the sign of the difference {after - before} is {decided}")
