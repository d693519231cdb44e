"""Orders of growth: from two-sided bounds, of sums, and of the least value of a law under a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Add, Dummy, Eq, Expr, Ge, Gt, Integer, Max, Min, Mul, Pow, Symbol

from fsl_sym import symbols
from fsl_sym.algebra.equality import equal, sign, simplified
from fsl_sym.domain import PLANE, REGIMES, Regime, decide
from fsl_sym.exponents.branches import branches_of
from fsl_sym.exponents.certificate import Certificate
from fsl_sym.exponents.law import Law
from fsl_sym.order import Order
from fsl_sym.proof.formulas import Formula, canonical, put
from fsl_sym.proof.rules.algebra import Pairs, moved
from fsl_sym.proof.rules.base import StepVerdict, accept, refuse

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
        swapped = moved(self.ranges, before, after, *(side for each in known for side in (each.left, each.right)))
        if swapped is None:
            return refuse("each letter must be replaced by an affine function of one new positive letter")

        # what is between constants times something positive is positive
        parts = {each.left: Dummy("part", positive=True) for each in known if each.relation == "~"}

        def positive(side: Expr) -> bool:
            return sign(put(side.xreplace(parts), swapped[0])) == 1

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
        if whole != canonical(after) and not (same := equal(whole, canonical(after))).proved:
            return refuse(f"with the orders put in it is {whole}, not {after}: {same.detail}")
        return accept("orders put into sums, products, minima and powers of positive terms", swapped[1])


def _keeps_orders(whole: Expr, part: Expr, sums_alone: bool, positive: Callable[[Expr], bool]) -> str:
    """Why the way from an expression to a part of it need not keep orders; "" where it does."""
    if whole == part or not whole.has(part):
        return ""
    if isinstance(whole, Add | Mul | Min | Max):
        unclear = [each for each in whole.args if not each.has(part) and not positive(each)]
        if unclear:
            return f"{unclear[0]} is not shown to be positive"
        twice = isinstance(whole, Mul) and sum(each.has(part) for each in whole.args) > 1
        if sums_alone and (twice or isinstance(whole, Min | Max)):
            return f"in {whole} an upper bound need not give one, for {part} may be negative"
    elif isinstance(whole, Pow):
        if sums_alone or whole.exp.has(part) or whole.exp.free_symbols - CONSTANTS:
            return f"the exponent of {whole} is not constant, or an upper bound stands under a power"
    else:
        return f"{whole.func.__name__} need not keep orders"
    return next((fault for each in whole.args if (fault := _keeps_orders(each, part, sums_alone, positive))), "")


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


@dataclass(frozen=True, slots=True)
class Optimal:
    """The least value of ``before`` under a budget is of the order of ``after``, all over a regime of (s, beta).

    The programmes of the law are written out anew and compared with those of the certificates; one certificate must
    hold on the whole regime, and its value must be the exponents of ``after``.
    """

    certificates: tuple[Certificate, ...]
    regime: Regime
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
        others = before.free_symbols.union(*(each.free_symbols for each in self.constraints))
        others -= {*self.variables, self.budget, *CONSTANTS}
        if others:
            return refuse(f"the least value depends on {', '.join(sorted(map(str, others)))}, which is no constant")
        if self.regime not in REGIMES:
            return refuse(f"{self.regime} is none of the regimes")
        claimed = (Integer(0), self.order.power, self.order.log_power)
        rows = branches_of(Law(before, self.variables, self.budget, self.constraints, PLANE))
        for certificate in self.certificates:
            mine = tuple((each.coefficients, each.right) for each in certificate.branches)
            if mine != rows:
                return refuse("the certificate is that of another law")
            value = all(_zero(have - want, self.regime) for have, want in zip(certificate.value, claimed, strict=True))
            if value and proves(certificate, self.regime):
                return accept(f"{len(certificate.branches)} branches bounded by their multipliers")
        return refuse(f"no certificate with this value could be proved on the whole {self.regime.name} regime")


def proves(certificate: Certificate, regime: Regime) -> bool:
    """Whether a certificate holds at every point of a regime: identities exactly, signs by :func:`decide`.

    >>> from fsl_sym.allocation import optimal_allocation
    >>> from fsl_sym.domain import HARD
    >>> region = optimal_allocation("constant", "data").solution.regions[0]
    >>> proves(region.certificate, HARD)
    True
    """
    size = len(certificate.point)
    for proof in certificate.branches:
        used = [place for place, weight in enumerate(proof.multipliers) if weight != 0]
        weights = [proof.multipliers[place] for place in used]
        wanted = [0 if proof.infeasible else int(k == 0) for k in range(size)]
        rows = [proof.coefficients[place] for place in used]
        combined = [Add(*(weight * row[k] for weight, row in zip(weights, rows, strict=True))) for k in range(size)]
        if not all(_zero(total - goal, regime) for total, goal in zip(combined, wanted, strict=True)):
            return False
        if not all(decide(Ge(weight, 0), regime) for weight in weights):
            return False
        bound = [Add(*(w * proof.right[i][k] for w, i in zip(weights, used, strict=True))) for k in range(3)]
        goal = (Integer(0),) * 3 if proof.infeasible else certificate.value
        if _sign([mine - theirs for mine, theirs in zip(bound, goal, strict=True)], regime) not in (
            (1,) if proof.infeasible else (0, 1)
        ):
            return False
    best = certificate.branches[certificate.winner]
    for row, right in zip(best.coefficients, best.right, strict=True):
        reached = [Add(*(row[k] * certificate.point[k][part] for k in range(size))) for part in range(3)]
        if _sign([mine - theirs for mine, theirs in zip(reached, right, strict=True)], regime) not in (0, 1):
            return False
    return certificate.point[0] == certificate.value


def _zero(expression: Expr, regime: Regime) -> bool:
    return bool(simplified(expression) == 0) or decide(Eq(expression, 0), regime) is True


def _sign(triple: Sequence[Expr], regime: Regime) -> int | None:
    """The lexicographic sign of a triple on a regime; None where it is not decided."""
    for part in triple:
        if _zero(part, regime):
            continue
        if decide(Gt(part, 0), regime):
            return 1
        return -1 if decide(Gt(-part, 0), regime) else None
    return 0
