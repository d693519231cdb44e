"""All rules by which a step may be taken, in one place: the kernel accepts these and no others.

>>> sorted(rule.__name__ for rule in RULES)[:4]
['Antiderivative', 'Assumed', 'AtMostBoth', 'Counted']
"""

from __future__ import annotations

from typing import Any, Final

from fsl_sym.asymptotics.mellin import Expansion, Term
from fsl_sym.asymptotics.mellin_transform import Piece
from fsl_sym.domain import Regime
from fsl_sym.exponents.certificate import BranchProof, Certificate
from fsl_sym.order import Order
from fsl_sym.proof.rules.algebra import Defined, Evaluated, Identity, Rewrite, SameDerivative, Smaller
from fsl_sym.proof.rules.bounds import IntegralTest, Maximum, Monotone, Rises, SumToIntegral
from fsl_sym.proof.rules.calculus import Antiderivative, Limit, Substitution
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
from fsl_sym.proof.rules.matrices import MatrixIdentity
from fsl_sym.proof.rules.orders import Assumed, Optimal, OrderBetween, OrderIn
from fsl_sym.proof.rules.sums import Counted, Induction, Interchange, Termwise, ZetaSeries

RULES: Final[frozenset[type[Any]]] = frozenset(
    {
        Antiderivative,
        Assumed,
        AtMostBoth,
        Counted,
        Defined,
        Evaluated,
        FirstTerm,
        HeadOfSum,
        Identity,
        Induction,
        Instance,
        IntegralTest,
        Interchange,
        Limit,
        Linear,
        MatrixIdentity,
        Maximum,
        Monotone,
        MoreTerms,
        Optimal,
        OrderBetween,
        OrderIn,
        Residues,
        Rewrite,
        Rises,
        SameDerivative,
        Smaller,
        Substitution,
        SumOfBounds,
        SumToIntegral,
        Termwise,
        Turned,
        WithinError,
        ZetaSeries,
    }
)
"""The rules of the kernel."""

HELD: Final[frozenset[type[Any]]] = frozenset({BranchProof, Certificate, Expansion, Order, Piece, Regime, Term})
"""What rules hold besides expressions and lemmas."""
