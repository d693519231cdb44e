"""Least values of one law: put together from the regimes in which they were found, and put to values of s and beta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, Max, Min, Symbol, log

from fsl_sym import symbols
from fsl_sym.algebra.equality import sign
from fsl_sym.domain import REGIMES, Regime
from fsl_sym.power_regimes import PowerRegime
from fsl_sym.proof.bound_letters import canonical, put
from fsl_sym.proof.formulas import Formula
from fsl_sym.proof.rules.algebra import Pairs
from fsl_sym.proof.rules.base import FromLemma, StepVerdict, accept, first_difference, refuse


@dataclass(frozen=True, slots=True)
class AllCases:
    """The least value of ``before`` is of the order of ``after`` in every regime of the plane, or of a side of it.

    The lemmas are the least values regime by regime; in ``after`` minima and maxima may say which exponent is meant.
    """

    least: tuple[Any, ...]
    regimes: tuple[Regime | PowerRegime, ...]
    relation: ClassVar[str] = "optimum"

    @property
    def lemmas(self) -> tuple[Any, ...]:
        """The least values, in the order of the regimes."""
        return self.least

    @property
    def program(self) -> tuple[Any, ...]:
        """Over which variables, in which budget, under which constraints."""
        return tuple(self.least[0].conclusion.program)

    @property
    def where(self) -> Any:
        """The condition of the side; None for the plane."""
        first = self.regimes[0]
        return first.side.condition if isinstance(first, PowerRegime) else None

    def check(self, before: Expr, after: Expr, *known: Formula) -> StepVerdict:
        """Whether no regime is left out, and the order is that of the lemma in each."""
        first = self.regimes[0]
        whole: tuple[Regime | PowerRegime, ...] = first.side.regimes if type(first) is PowerRegime else REGIMES
        if self.regimes != whole:
            return refuse("these are not all regimes of the plane, or of one side of it")
        if len(known) != len(whole):
            return refuse(f"{len(whole)} regimes need as many least values, not {len(known)}")
        base = self.program[1]
        for regime, lemma in zip(whole, known, strict=True):
            if lemma.relation != "optimum" or lemma.where != regime.condition:
                return refuse(f"{lemma} is no least value all over the regime {regime.name}")
            if (lemma.left, lemma.program) != (canonical(before), self.program):
                return refuse(f"{lemma} is about another law")
            mine, own = (_powers(side, base) for side in (_chosen(after, regime), lemma.right))
            if not (mine and own and all(regime.sign_of(a - b) == 0 for a, b in zip(mine, own, strict=True))):
                return refuse(f"{after} is not shown to be {lemma.right} all over the regime {regime.name}")
        return accept("regime by regime")


def _chosen(expression: Any, regime: Regime | PowerRegime) -> Any:
    """An expression with each minimum and maximum as the member that it is all over a regime; ValueError unproved."""
    if not expression.has(Min, Max):
        return expression
    members = [_chosen(argument, regime) for argument in expression.args]
    if not isinstance(expression, Min | Max):
        return expression.func(*members)
    signs = (-1, 0) if isinstance(expression, Min) else (1, 0)
    for member in members:
        if all(regime.sign_of(member - rival) in signs for rival in members):
            return member
    raise ValueError(f"which of {', '.join(map(str, members))} it is in the regime {regime.name} is not shown")


def _powers(order: Expr, base: Symbol) -> tuple[Expr, Expr] | None:
    """The powers of a letter and of its logarithm of which an order is the product; None of another expression."""
    powers = dict(order.as_powers_dict())
    power, log_power = (powers.pop(scale, order * 0) for scale in (base, log(base)))
    return None if set(powers) - {1} else (power, log_power)


@dataclass(frozen=True, slots=True)
class OptimalAt(FromLemma):
    """A least value for all s and beta, or for all in a regime, at values of these: s = alpha/beta, as it may be.

    ``values`` holds pairs (s or beta, expression), which must be shown to lie in the plane.
    """

    values: Pairs
    relation: ClassVar[str] = "optimum"

    @property
    def program(self) -> tuple[Any, ...]:
        """That of the lemma, at the values."""
        variables, budget, constraints = self.lemma.conclusion.program
        return (variables, budget, tuple(constraint.subs(self.values, simultaneous=True) for constraint in constraints))

    @property
    def where(self) -> Any:
        """The condition of the lemma, at the values; None where it always holds."""
        condition = self.lemma.conclusion.where
        condition = None if condition is None else condition.subs(self.values, simultaneous=True)
        return None if condition == True else condition  # noqa: E712  (sympy's true)

    def check(self, before: Expr, after: Expr, least: Formula) -> StepVerdict:
        """Whether the values lie in the plane; put them in and compare."""
        if least.relation != "optimum":
            return refuse(f"{least} is no least value")
        if len(dict(self.values)) != len(self.values):
            return refuse("a letter has two values")
        least_allowed = {symbols.s: 0, symbols.beta: 1}
        for letter, value in self.values:
            if letter not in least_allowed or sign(value - least_allowed[letter]) != 1:
                return refuse(f"{value} is not shown to be a value of {letter}")
            if value.free_symbols & {*least.program[0], least.program[1]}:
                return refuse(f"{value} holds a letter over which the law is minimised, or its budget")
        swaps = dict(self.values)
        pairs = ((put(least.left, swaps), before, "law"), (put(least.right, swaps), after, "order"))
        return first_difference(*pairs) or accept("the least value at these values", puts=self.values)
