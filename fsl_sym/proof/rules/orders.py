"""Orders of growth: from two-sided bounds, of sums, and of the least value of a law under a budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from sympy import Add, Dummy, Expr, Integer, Max, Min, Mul, Pow, Symbol

from fsl_sym import symbols
from fsl_sym.algebra.equality import sign, simplified
from fsl_sym.domain import PLANE, REGIMES, Domain, Regime
from fsl_sym.exponents.certificate import Certificate, branches_of, proves
from fsl_sym.exponents.law import Law
from fsl_sym.order import Order
from fsl_sym.power_regimes import PowerRegime
from fsl_sym.proof.formulas import Formula, canonical, put
from fsl_sym.proof.rules.algebra import Pairs, moved
from fsl_sym.proof.rules.base import StepVerdict, accept, first_difference, refuse

CONSTANTS = frozenset({symbols.s, symbols.beta})
"""What the constants of an order may depend on."""


@dataclass(frozen=True, slots=True)
class OrderBetween:
    """``before`` is of the order of ``after`` because lemmas bound it from below and above by constants times that.

    Without ``lower`` it is shown to be of at most that order.
    """

    upper: Any
    lower: Any = None

    @property
    def lemmas(self) -> tuple[Any, ...]:
        """The upper bound, and the lower one where there is one."""
        return (self.upper,) if self.lower is None else (self.upper, self.lower)

    @property
    def relation(self) -> str:
        """``~``, or ``<~`` for a bound from above only."""
        return "<~" if self.lower is None else "~"

    def check(self, before: Expr, after: Expr, upper: Formula, lower: Formula | None = None) -> StepVerdict:
        """Compare what is bounded; the quotients of the bounds and ``after`` must be positive constants."""
        if sign(after) != 1:
            return refuse(f"the order {after} is not shown to be positive")
        constants = []
        for bound, allowed in ((upper, ("<=", "=")), (lower, (">=", "="))):
            if bound is None:
                continue
            if bound.relation not in allowed or bound.left != canonical(before):
                return refuse(f"{bound} is no bound of {before} on that side")
            constant = simplified(bound.right / canonical(after))
            if constant.free_symbols - CONSTANTS or sign(constant) != 1:
                return refuse(f"the bound is {constant} times the order, which is no positive constant")
            constants.append(str(constant))
        return accept(f"between constants times the order, from above: {', and from below: '.join(constants)}")


@dataclass(frozen=True, slots=True)
class OrderIn:
    """An expression is of the order of the same expression with parts of it replaced by their orders.

    ``orders`` are lemmas ``part ~ order``. On the way from the whole to a part only sums and products of positive
    terms, minima, maxima and powers with constant exponents may stand, which keep orders. A lemma that bounds from
    above only may stand in sums and products alone, and makes the conclusion one from above. ``ranges`` as in
    :class:`~fsl_sym.proof.rules.algebra.Identity`, for the signs.
    """

    orders: tuple[Any, ...]
    ranges: Pairs = ()

    @property
    def lemmas(self) -> tuple[Any, ...]:
        """The orders."""
        return self.orders

    @property
    def relation(self) -> str:
        """``~``, or ``<~`` where a lemma bounds from above only."""
        return "<~" if any(lemma.conclusion.relation == "<~" for lemma in self.orders) else "~"

    def check(self, before: Expr, after: Expr, *known: Formula) -> StepVerdict:
        """Replace the parts, compare."""
        if {each.relation for each in known} - {"~", "<~", "="}:
            return refuse("the lemmas must be orders")
        swaps, given = moved(self.ranges, before, after, *(side for each in known for side in (each.left, each.right)))

        # what is between constants times something positive is positive
        parts = {each.left: Dummy("part", positive=True) for each in known if each.relation == "~"}

        def positive(side: Expr) -> bool:
            return sign(put(side.xreplace(parts), swaps)) == 1

        # of what is only bounded from above the left side may have any sign
        sides = [side for each in known for side in ((each.left,) * (each.relation != "<~") + (each.right,))]
        if not all(map(positive, sides)):
            return refuse("a side of a lemma is not shown to be positive")
        whole = canonical(before)
        for each in known:
            if not whole.has(each.left):
                return refuse(f"{each.left} does not stand in {whole}")
            fault = _keeps_orders(whole, each.left, each.relation == "<~", positive)
            if fault:
                return refuse(fault)
            whole = whole.xreplace({each.left: each.right})
        differs = first_difference((whole, canonical(after), f"with the orders put in it is {whole}, not {after}"))
        return differs or accept("orders put into sums, products, minima and powers of positive terms", given)


def _keeps_orders(whole: Expr, part: Expr, sums_alone: bool, positive: Callable[[Expr], bool]) -> str:
    """Why the way from an expression to a part of it need not keep orders; "" where it does."""
    if whole == part or not whole.has(part):
        return ""
    if isinstance(whole, Add | Mul | Min | Max):
        unclear = [argument for argument in whole.args if not argument.has(part) and not positive(argument)]
        if unclear:
            return f"{unclear[0]} is not shown to be positive"
        twice = isinstance(whole, Mul) and sum(argument.has(part) for argument in whole.args) > 1
        if sums_alone and (twice or isinstance(whole, Min | Max)):
            return f"in {whole} an upper bound need not give one, for {part} may be negative"
    elif isinstance(whole, Pow):
        if sums_alone or whole.exp.has(part) or whole.exp.free_symbols - CONSTANTS:
            return f"the exponent of {whole} is not constant, or an upper bound stands under a power"
    else:
        return f"{whole.func.__name__} need not keep orders"
    return next(
        (fault for argument in whole.args if (fault := _keeps_orders(argument, part, sums_alone, positive))), ""
    )


@dataclass(frozen=True, slots=True)
class Assumed:
    """A formula that is assumed: it becomes a hypothesis of the theorem."""

    formula: Formula

    @property
    def relation(self) -> str:
        """That of the formula."""
        return self.formula.relation

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Whether the step is the formula."""
        if (canonical(before), canonical(after)) != (self.formula.left, self.formula.right):
            return refuse(f"{self.formula} was assumed, and nothing else")
        return accept("assumed", (self.formula,))


@lru_cache(maxsize=64)
def _rows(loss: Expr, variables: Any, budget: Symbol, constraints: Any, ranges: Any) -> tuple[Any, ...]:
    """The branches of a law, which is written out once for all of its regimes."""
    return branches_of(Law(loss, variables, budget, constraints, Domain(dict(ranges))))


@dataclass(frozen=True, slots=True)
class Optimal:
    """The least value of ``before`` under a budget is of the order of ``after``, all over a regime of (s, beta[, p]).

    The programmes of the law are written out anew and compared with those of the certificates; one certificate must
    hold on the whole regime, and its value must be the exponents of ``after``.
    """

    certificates: tuple[Certificate, ...]
    regime: Regime | PowerRegime
    variables: tuple[Symbol, ...]
    budget: Symbol
    constraints: tuple[Any, ...]
    order: Order
    relation: ClassVar[str] = "optimum"

    @property
    def program(self) -> tuple[Any, ...]:
        """Over which variables, in which budget, under which constraints."""
        return (self.variables, self.budget, self.constraints)

    @property
    def where(self) -> Any:
        """The condition of the regime."""
        return self.regime.condition

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Write out the law, find a certificate of it, prove that on the regime."""
        if after != self.order.as_expr(self.budget):
            return refuse(f"{after} is not {self.order.as_expr(self.budget)}")
        others = before.free_symbols.union(*(constraint.free_symbols for constraint in self.constraints))
        others -= {*self.variables, self.budget, *CONSTANTS, symbols.p}
        if others:
            return refuse(f"the least value depends on {', '.join(sorted(map(str, others)))}, which is no constant")
        if type(self.regime) is PowerRegime:
            side, before = self.regime.side, before.subs(self.regime.side.where)
            ranges = {symbols.s: symbols.RANGES[symbols.s], **side.ranges}
        elif self.regime in REGIMES:
            ranges = dict(PLANE.ranges)
        else:
            return refuse(f"{self.regime} is none of the regimes")
        claimed = (Integer(0), self.order.power, self.order.log_power)
        rows = _rows(before, self.variables, self.budget, self.constraints, tuple(ranges.items()))
        for certificate in self.certificates:
            mine = tuple((branch.coefficients, branch.right) for branch in certificate.branches)
            if mine != rows:
                return refuse("the certificate is that of another law")
            value = all(self.regime.sign_of(x - y) == 0 for x, y in zip(certificate.value, claimed, strict=True))
            if value and proves(certificate, self.regime.sign_of):
                return accept(f"{len(certificate.branches)} branches bounded by their multipliers")
        return refuse(f"no certificate with this value could be proved on the whole {self.regime.name} regime")
