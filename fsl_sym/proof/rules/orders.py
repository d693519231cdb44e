"""Orders of growth: from two-sided bounds, of sums, and of the least value of a law under a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

from sympy import Add, Dummy, Expr, Integer, Le, Max, Min, Mul, Pow, Symbol, oo

from fsl_sym import symbols
from fsl_sym.algebra.equality import sign, simplified
from fsl_sym.domain import PLANE, REGIMES, Domain, Regime
from fsl_sym.exponents.certificate import Certificate, branches_of, proves
from fsl_sym.exponents.law import Law
from fsl_sym.order import Order
from fsl_sym.power_regimes import PowerRegime
from fsl_sym.proof.bound_letters import canonical, put
from fsl_sym.proof.formulas import Formula
from fsl_sym.proof.rules.algebra import Pairs, moved
from fsl_sym.proof.rules.base import FromLemma, StepVerdict, accept, first_difference, freely_positive, refuse

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
        if {lemma.relation for lemma in known} - {"~", "<~", "="}:
            return refuse("the lemmas must be orders")
        sides_known = (side for lemma in known for side in (lemma.left, lemma.right))
        swaps, hypotheses = moved(self.ranges, before, after, *sides_known)

        # what is between constants times something positive is positive
        parts = {lemma.left: Dummy("part", positive=True) for lemma in known if lemma.relation == "~"}

        def positive(side: Expr) -> bool:
            return sign(put(side.xreplace(parts), swaps)) == 1

        # of what is only bounded from above the left side may have any sign
        sides = [side for lemma in known for side in ((lemma.left,) * (lemma.relation != "<~") + (lemma.right,))]
        if not all(map(positive, sides)):
            return refuse("a side of a lemma is not shown to be positive")
        whole = canonical(before)
        for lemma in known:
            if not whole.has(lemma.left):
                return refuse(f"{lemma.left} does not stand in {whole}")
            fault = _keeps_orders(whole, lemma.left, lemma.relation == "<~", positive)
            if fault:
                return refuse(fault)
            whole = whole.xreplace({lemma.left: lemma.right})
        differs = first_difference((whole, canonical(after), f"with the orders put in it is {whole}, not {after}"))
        return differs or accept("orders put into sums, products, minima and powers of positive terms", hypotheses)


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
        if self.formula.where is not None:
            return refuse(f"what holds where {self.formula.where} alone is not assumed: other rules do not ask where")
        return accept("assumed", (self.formula,))


@lru_cache(maxsize=256)
def _rows(law: Law) -> tuple[Any, ...]:
    """The branches of a law, which is written out once for all of its regimes."""
    return branches_of(law)


def _fault(regime: Regime | PowerRegime, program: tuple[Any, ...], *sides: Expr) -> str:
    """Why nothing is said of a law in a regime: it is none that is known, a variable may be negative, or constants
    would depend on other letters than s, beta and p; "" where none of these is so."""
    variables, budget, constraints = program
    signless = [variable for variable in (*variables, budget) if not variable.is_positive]
    if signless:
        return f"{signless[0]} is not declared to be positive: a law of growth is one of positive variables"
    if whole := [variable for variable in variables if variable.is_integer]:
        return f"{whole[0]} is a whole number: a law of growth is least over all positive numbers, near 0 too"
    letters = set().union(*(expression.free_symbols for expression in (*sides, *constraints)))
    letters -= {*variables, budget, *CONSTANTS, symbols.p}
    if letters:
        return f"the least value depends on {', '.join(sorted(map(str, letters)))}, which is no constant"
    return "" if type(regime) is PowerRegime or regime in REGIMES else f"{regime} is none of the regimes"


def _box(regime: Regime | PowerRegime) -> tuple[Mapping[Symbol, Expr], Domain]:
    """What is put in for the parameters so that a regime's side is an open box, and that box."""
    if type(regime) is not PowerRegime:
        return {}, PLANE
    return regime.side.where, Domain({symbols.s: symbols.RANGES[symbols.s], **regime.side.ranges})


def _unproved(
    law: Law, claimed: tuple[Any, ...], regime: Regime | PowerRegime, certificates: tuple[Certificate, ...]
) -> str:
    """Why no certificate shows that a law has the value claimed all over a regime; "" where one does."""
    own = [certificate for certificate in certificates
           if tuple((branch.coefficients, branch.right) for branch in certificate.branches) == _rows(law)]  # fmt: skip
    if not own:
        return "the certificate is that of another law"
    for certificate in own:
        value = all(regime.sign_of(x - y) == 0 for x, y in zip(certificate.value, claimed, strict=True))
        if value and proves(certificate, regime.sign_of):
            return ""
    return f"no certificate with this value could be proved on the whole {regime.name} regime"


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
        fault = _fault(self.regime, self.program, before)
        if not fault:
            claimed = (Integer(0), self.order.power, self.order.log_power)
            fault = _unproved(self.law(before), claimed, self.regime, self.certificates)
        return refuse(fault) if fault else accept("every branch bounded by its multipliers")

    def law(self, loss: Expr) -> Law:
        """The law that is to be proved optimal, in the parameters of the regime."""
        swap, domain = _box(self.regime)
        return Law(loss.subs(swap), self.variables, self.budget, self.constraints, domain)


_ENDS: Final = {"at": (False, True), "from": (False,), "up to": (True,)}
"""What is said of near-optimal choices -> whether the largest is meant: of one order where both are."""


@dataclass(frozen=True, slots=True)
class NearOptimal(FromLemma):
    """Where a law is near its least value, ``before`` is of the order of ``after``, or the least or largest of it is.

    The lemma is the least value of the law under its budget, by :class:`Optimal`, over the same regime. Where the law
    is at most C times that, so is each of its terms, and as many bounds on monomials multiplied with nonnegative powers
    bound ``before``: the least of ``before`` is the optimum of one more law, with the law itself among the constraints,
    the largest that of its inverse. ``end`` is "from" for the least, "up to" for the largest, "at" where both must be
    of one order. Without an ``order`` there is no such end: ``after`` is 0 or infinity.
    """

    certificates: tuple[Certificate, ...]
    regime: Regime | PowerRegime
    order: Order | None
    end: str

    @property
    def relation(self) -> str:
        """The end that is spoken of."""
        return f"near-optimal {self.end}"

    @property
    def program(self) -> tuple[Any, ...]:
        """The law, its least value, and the program of that."""
        least = self.lemma.conclusion
        return (least.left, least.right, *least.program)

    @property
    def where(self) -> Any:
        """The condition of the regime."""
        return self.regime.condition

    def check(self, before: Expr, after: Expr, least: Formula) -> StepVerdict:
        """Write out the law of each end, find a certificate of it, prove that on the regime."""
        if least.relation != "optimum" or least.where != self.where:
            return refuse(f"{least} is no least value all over the regime {self.regime.name}")
        if self.end not in _ENDS or (self.order is None and self.end == "at"):
            return refuse(f"there is no end {self.end!r} with the order {self.order}")
        unbounded = oo if self.end == "up to" else Integer(0)
        order = unbounded if self.order is None else self.order.as_expr(least.program[1])
        if after != order:
            return refuse(f"{after} is not {order}")
        fault = _fault(self.regime, least.program, before, least.left)
        if fault:
            return refuse(fault)
        for largest, law in self.laws(before).items():
            claimed = (Integer(-1), Integer(0), Integer(0))
            if self.order is not None:
                turn = -1 if largest else 1
                claimed = (Integer(0), turn * self.order.power, turn * self.order.log_power)
            fault = _unproved(law, claimed, self.regime, self.certificates)
            if fault:
                return refuse(f"{'largest' if largest else 'least'}: {fault}")
        return accept("every branch bounded by its multipliers, the law near its least value among its rows")

    def laws(self, quantity: Expr) -> dict[bool, Law]:
        """Whether the largest is meant -> the law of that end of a quantity, in the parameters of the regime."""
        swap, domain = _box(self.regime)
        loss, least, variables, budget, constraints = self.program
        near, quantity = Le(loss.subs(swap), least.subs(swap), evaluate=False), quantity.subs(swap)
        return {
            largest: Law(1 / quantity if largest else quantity, variables, budget, (*constraints, near), domain)
            for largest in _ENDS[self.end]
        }


@dataclass(frozen=True, slots=True)
class Vanishing:
    """A power of a letter and of its logarithm tends to 0 as the letter grows, all over a regime of (s, beta[, p]).

    Its power must be negative all over the regime, or 0 and that of the logarithm negative; without a regime, for all
    values of their letters.
    """

    order: Order
    regime: Regime | PowerRegime | None
    variable: Symbol
    point: ClassVar[Expr] = oo
    relation: ClassVar[str] = "->"

    @property
    def where(self) -> Any:
        """The condition of the regime."""
        return None if self.regime is None else self.regime.condition

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare the sides, decide the signs."""
        if before != self.order.as_expr(self.variable) or after != 0:
            return refuse(f"{before} and {after} are not {self.order.as_expr(self.variable)} and 0")
        freely_positive(self.variable)
        powers = (self.order.power, self.order.log_power)
        if any(power.has(self.variable) for power in powers):
            return refuse(f"{self.variable} stands in an exponent")
        if self.regime is not None:
            fault = _fault(self.regime, ((self.variable,), self.variable, ()), before)
            if fault:
                return refuse(fault)
        signs = map(sign if self.regime is None else self.regime.sign_of, powers)
        if next((power_sign for power_sign in signs if power_sign != 0), 0) != -1:
            where = "for all values" if self.regime is None else f"all over the {self.regime.name} regime"
            return refuse(f"{before} is not shown to fall {where}")
        return accept("the first power that is not 0 is negative")
