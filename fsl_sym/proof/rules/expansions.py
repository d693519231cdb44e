"""Asymptotic expansions by residues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, Symbol, oo

from fsl_sym.algebra.equality import equal
from fsl_sym.asymptotics.contour import contour_disagreement
from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.proof.formulas import Formula, less
from fsl_sym.proof.rules.base import StepVerdict, accept, refuse
from fsl_sym.proof.rules.sums import Termwise


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
        given = [less(condition.lts, condition.gts) for condition in again.conditions]
        given += [Formula(resonance.lhs, "!=", resonance.rhs) for resonance in again.resonances]
        return accept(f"residues by Laurent series, confirmed on circles; {again.remainder}", tuple(given))
