"""Theorems, made by a small closed kernel: formulas, rules, derivations.

A rule that is not in :data:`fsl_sym.proof.rules.RULES` makes no theorem, and a :class:`Theorem` is made by nothing but
a :class:`Derivation` whose every step was checked.
"""

from fsl_sym.proof.formulas import (
    AllOf,
    Formula,
    Hypothesis,
    Property,
    Statement,
    all_of,
    at_least,
    at_most,
    equals,
    everywhere,
    less,
    order_at_most,
    same_order,
    tends,
    within,
)
from fsl_sym.proof.kernel import Derivation, DerivationVerdict, ProofError, Step, Theorem, chains, lemma, together
from fsl_sym.proof.rules.algebra import Defined, Evaluated, Identity, Rewrite, SameDerivative, Smaller
from fsl_sym.proof.rules.base import StepVerdict
from fsl_sym.proof.rules.bounds import IntegralTest, Maximum, Monotone, Rises, SumToIntegral
from fsl_sym.proof.rules.calculus import Antiderivative, Limit, Substitution
from fsl_sym.proof.rules.cases import AllCases, OptimalAt
from fsl_sym.proof.rules.composition import (
    AtMostBoth,
    FirstTerm,
    HeadOfSum,
    Instance,
    MoreTerms,
    SumOfBounds,
    Turned,
    WithinError,
)
from fsl_sym.proof.rules.expansions import Residues
from fsl_sym.proof.rules.linear import Linear
from fsl_sym.proof.rules.matrices import MatrixIdentity, Mean, Rate
from fsl_sym.proof.rules.orders import Assumed, NearOptimal, Optimal, OrderBetween, OrderIn, Vanishing
from fsl_sym.proof.rules.sums import Counted, Induction, Interchange, Termwise, ZetaSeries

__all__ = [
    "AllCases",
    "AllOf",
    "Antiderivative",
    "Assumed",
    "AtMostBoth",
    "Counted",
    "Defined",
    "Derivation",
    "DerivationVerdict",
    "Evaluated",
    "FirstTerm",
    "Formula",
    "HeadOfSum",
    "Hypothesis",
    "Identity",
    "Induction",
    "Instance",
    "IntegralTest",
    "Interchange",
    "Limit",
    "Linear",
    "MatrixIdentity",
    "Maximum",
    "Mean",
    "Monotone",
    "MoreTerms",
    "NearOptimal",
    "Optimal",
    "OptimalAt",
    "OrderBetween",
    "OrderIn",
    "ProofError",
    "Property",
    "Rate",
    "Residues",
    "Rewrite",
    "Rises",
    "SameDerivative",
    "Smaller",
    "Statement",
    "Step",
    "StepVerdict",
    "Substitution",
    "SumOfBounds",
    "SumToIntegral",
    "Termwise",
    "Theorem",
    "Turned",
    "Vanishing",
    "WithinError",
    "ZetaSeries",
    "all_of",
    "at_least",
    "at_most",
    "chains",
    "equals",
    "everywhere",
    "lemma",
    "less",
    "order_at_most",
    "same_order",
    "tends",
    "together",
    "within",
]
