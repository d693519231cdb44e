"""The derivation of an optimal allocation: from the noise integral to the law, from the law to the optimum.

Each optimum is proved on its whole regime: the multipliers of the linear programme are shown to be non-negative there,
their combination of the rows to bound the loss, and a feasible point to attain it. Signs are decided, not sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sympy import Add, Eq, Expr, Ge, Gt, Integer, Integral, Sum, Symbol, exp, log, simplify, zeta

from fsl_sym.bounds import IntegralTest, Monotone
from fsl_sym.derivation import Derivation, Step
from fsl_sym.domain import Regime, decide
from fsl_sym.exponents.certificate import Certificate
from fsl_sym.exponents.solve import Region
from fsl_sym.integrals import Bound
from fsl_sym.integrals.exponential_decay import i1_sum, i2_bound, i2_sum
from fsl_sym.integrals.stable_phase import LAM, stable_bound, stable_sum
from fsl_sym.justifications import Identity, StepVerdict, Termwise, refuse
from fsl_sym.laws import ScalingLaw
from fsl_sym.symbols import D, K, M, a, b, beta, gamma, j, s

ASSUMPTIONS: Final = ("s > 0", "beta > 1", "sigma^2 of order 1", "b = a/K", "a <= 1")

_U = Symbol("u", positive=True)
_Y = Symbol("y", positive=True)


@dataclass(frozen=True)
class Between:
    """``before`` stays between ``lower`` and ``upper`` times ``after``, by a bound with a derivation of its own.

    A bound without a lower side shows only that ``before`` is of at most the order of ``after``.
    """

    bound: Bound
    rule: str = field(default="order", init=False)

    @property
    def relation(self) -> str:
        """``~``, or ``<~`` for a bound from above only."""
        return "<~" if self.bound.lower is None else "~"

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Compare the bounded quotient, and verify the bound's derivation."""
        quotient = Termwise().check(before, self.bound.quantity * after)
        if not quotient.holds:
            return refuse(f"the bound is about another quotient: {quotient.detail}")
        for side in (self.bound.lower, self.bound.upper):
            if side is not None and side.free_symbols - {beta}:
                return refuse(f"the bound {side} is not a constant")
        inner = self.bound.derivation.verify()
        return StepVerdict(inner.holds, "exact", f"between {self.bound.lower} and {self.bound.upper}: {inner.detail}")


@dataclass(frozen=True)
class Optimal:
    """``after`` is the least growth of ``before`` all over a regime, by the certificates of a region of the engine."""

    region: Region
    regime: Regime
    budget: Symbol
    rule: str = field(default="optimum", init=False)

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Prove one certificate on the regime and compare its value with ``after``."""
        claimed = self.region.loss.as_expr(self.budget)
        if simplify(after / claimed) != 1:
            return refuse(f"the region's optimum is {claimed}")
        for certificate in self.region.certificates:
            if proves(certificate, self.regime):
                return StepVerdict(True, "exact", f"{len(certificate.branches)} branches bounded by their multipliers")
        return refuse(f"no certificate of the region could be proved on the whole {self.regime.name} regime")


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
    return bool(simplify(expression) == 0) or decide(Eq(expression, 0), regime) is True


def _sign(triple: Sequence[Expr], regime: Regime) -> int | None:
    """The lexicographic sign of a triple on a regime; None where it is not decided."""
    for part in triple:
        if _zero(part, regime):
            continue
        if decide(Gt(part, 0), regime):
            return 1
        return -1 if decide(Gt(-part, 0), regime) else None
    return 0


def i1_bound() -> Bound:
    """I1 between the first mode at T = 1 and half the trace: of order 1 for every M >= 1 and T >= 1.

    >>> i1_bound().derivation.verify().holds
    True
    """
    mode = (1 - exp(-2 * _U)) / 2
    steps = (
        Step(mode, Integer(1) / 2, "bound", "a mode rises with T, from its value at T = 1 to 1/2",
             Monotone(_U, exp(-2 * _U)), begins=True),
        Step(Sum(LAM, (j, 2, M)), Integral(_Y**-beta, (_Y, 1, M)), "bound", "the trace is finite", IntegralTest(),
             begins=True),
    )  # fmt: skip
    derivation = Derivation("I1 bound", "I1 is of order 1", steps, ("beta > 1", "M >= 1", "T >= 1"))
    return Bound(i1_sum(), (1 - exp(-2)) / 2, zeta(beta) / 2, ("M >= 1", "T >= 1"), derivation)


def allocation_derivation(
    law: ScalingLaw, budget_name: str, budget: Symbol, base: Symbol, optima: Sequence[tuple[Regime, Region, Any]]
) -> Derivation:
    """The steps of one allocation: noise integral, orders of its parts, hyperparameters, optimum in each regime.

    ``budget`` is the symbol that grows in the law, ``base`` the one it is shown as, ``optima`` the engine's region of
    each regime with the order of its loss.
    """
    steps = [*law.functional.noise.derivation.steps, _order_step(i1_sum(), Integer(1), i1_bound())]
    if law.schedule != "constant":
        order = _quotient_order(i2_sum(), i2_bound())
        steps.append(_order_step(i2_sum(), order, i2_bound()))
    if law.schedule == "wsd":
        steps.append(_order_step(stable_sum(), _quotient_order(stable_sum(), stable_bound()), stable_bound()))
    if law.schedule != "constant":
        total = law.functional.schedule.phases[-1].total
        length = law.functional.schedule.phases[-1].length
        inserted = total.subs(b, a / K).subs(a, gamma * D / K)
        shown = gamma * D / K * (1 - 1 / K) * length / log(K)
        steps.append(Step(inserted, shown, "identity", "b = a/K, a = gamma D/K in the decay time", Identity(), True))
    for regime, region, loss in optima:
        steps.append(
            Step(
                law.in_hyperparameters(budget),
                loss.as_expr(budget),
                "optimum",
                f"{regime.name}: {_relation(regime)}",
                Optimal(region, regime, budget),
                begins=True,
            )
        )
    return Derivation(
        f"{law.schedule} {budget_name}",
        f"Optimal allocation of the {law.schedule} schedule, {budget_name} given",
        tuple(steps),
        (*ASSUMPTIONS, *((f"{budget} stands for {base}",) if budget != base else ())),
        law.label,
    )


def _relation(regime: Regime) -> str:
    left, right = regime.condition.args
    return f"s {'<=>'[1 + regime.sign]} {right if left == s else left}"


def _order_step(quantity: Expr, order: Expr, bound: Bound) -> Step:
    side = "of order" if bound.lower is not None else "of at most the order"
    return Step(quantity, order, "order", f"{side} of this, with explicit constants", Between(bound), begins=True)


def _quotient_order(quantity: Expr, bound: Bound) -> Expr:
    """The order that a bound is about: the bounded quantity over the bounded quotient."""
    return simplify(quantity / bound.quantity)
