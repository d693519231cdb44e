"""Asymptotic expansions by residues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, Symbol, oo

from fsl_sym.algebra.equality import equal, sign
from fsl_sym.asymptotics.contour import contour_disagreement
from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.proof.formulas import Formula, less
from fsl_sym.proof.rules.base import StepVerdict, accept, freely_positive, refuse
from fsl_sym.proof.rules.sums import Termwise
from fsl_sym.symbols import j


@dataclass(frozen=True, slots=True)
class Residues:
    """``before`` is the harmonic sum of the expansion and ``after`` the sum of its residues, derived anew."""

    expansion: Expansion
    relation: ClassVar[str] = "expands"
    point: ClassVar[Any] = oo

    @property
    def variable(self) -> Symbol:
        """What tends to infinity."""
        return self.expansion.x

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Sum, residues (by Laurent series) and contour integrals are all compared."""
        x, parts = self.variable, self.expansion.parts
        freely_positive(x)
        orders = [self.expansion.w, self.expansion.beta]
        orders += [exponent for part in parts for exponent in (part.coefficient, part.power, part.rate, part.order)]
        if x == j or self.expansion.prefactor.has(j) or any(order is not None and order.has(x, j) for order in orders):
            return refuse(
                f"what is expanded may hold {x}, which tends to infinity, in the argument of f alone, and {j} not"
            )
        if any(part.rate is not None and sign(part.rate) != 1 for part in parts):
            return refuse("a rate is not shown to be positive: the transform does not converge")
        summand = Termwise().check(before, self.expansion.sum)
        if not summand.holds:
            return refuse(f"the sum is not the one expanded: {summand.detail}", summand.method)
        again = self.expansion.at({})
        verdict = equal(again.expression, after)
        if not verdict.proved:
            return refuse(f"not the sum of the residues: {verdict.detail}", verdict.method)
        clash = contour_disagreement(again)
        if clash is not None:
            return refuse(clash, "numeric")
        conditions = [less(condition.lts, condition.gts) for condition in again.conditions]
        conditions += [Formula(resonance.lhs, "!=", resonance.rhs) for resonance in again.resonances]
        return accept(f"residues by Laurent series, confirmed on circles; {again.remainder}", tuple(conditions))
