"""Linear combinations of what lemmas state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Abs, Add, Expr, Mul

from fsl_sym.algebra.equality import sign
from fsl_sym.proof.bound_letters import canonical
from fsl_sym.proof.formulas import Formula
from fsl_sym.proof.rules.base import StepVerdict, accept, refuse
from fsl_sym.proof.rules.infinities import holds_infinity, infinity_fault
from fsl_sym.proof.rules.sums import Termwise


@dataclass(frozen=True, slots=True)
class Linear:
    """``sum c_i left_i`` stands to ``sum c_i right_i`` as the lemmas say: equal, at most, or within the sum of errors.

    ``terms`` holds pairs (coefficient, lemma); the coefficients of bounds must be positive. Lemmas of equalities may
    stand beside bounds and approximations.
    """

    terms: tuple[tuple[Expr, Any], ...]

    @property
    def lemmas(self) -> tuple[Any, ...]:
        """The lemmas."""
        return tuple(lemma for _, lemma in self.terms)

    @property
    def numbers(self) -> tuple[Expr, ...]:
        """The coefficients."""
        return tuple(factor for factor, _ in self.terms)

    @property
    def relation(self) -> str:
        """The one relation of the lemmas that is no equality; ``=`` where all are."""
        kinds = {lemma.conclusion.relation for lemma in self.lemmas} - {"="}
        return str(kinds.pop()) if len(kinds) == 1 else "="

    @property
    def error(self) -> Expr:
        """The sum of the errors, each times the size of its coefficient."""
        return Add(*(Abs(factor) * (lemma.conclusion.error or 0) for factor, lemma in self.terms))

    def check(self, before: Expr, after: Expr, *known: Formula) -> StepVerdict:
        """Compare both sides with the combinations."""
        kinds = {lemma.relation for lemma in known} - {"="}
        if len(kinds) > 1 or kinds - {"<=", ">=", "within"}:
            return refuse(f"lemmas with the relations {sorted(kinds)} are not added")
        if kinds & {"<=", ">="} and not all(
            sign(factor) in (0, 1)
            for (factor, _), lemma in zip(self.terms, known, strict=True)
            if lemma.relation != "="
        ):
            return refuse("a bound is multiplied by what is not shown to be nonnegative")
        if infinite := next(filter(holds_infinity, self.numbers), None):
            return refuse(f"the coefficient {infinite} may be infinite")
        for name, side in (("left", before), ("right", after)):
            parts = [(factor, getattr(lemma, name)) for factor, lemma in zip(self.numbers, known, strict=True)]
            # looked at before infinities cancel
            fault = infinity_fault(Add(*(Mul(*pair, evaluate=False) for pair in parts), evaluate=False))
            if fault:
                return refuse(fault)
            whole = Add(*(factor * part for factor, part in parts))
            if canonical(whole) == canonical(side):
                continue
            verdict = Termwise().check(canonical(whole), canonical(side))
            if not verdict.holds:
                return verdict
        return accept("the lemmas added up")
