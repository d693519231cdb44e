"""All rules by which a step may be taken, in one place: the kernel accepts these and no others.

>>> sorted(rule.__name__ for rule in RULES)[:4]
['AllCases', 'Antiderivative', 'Assumed', 'AtMostBoth']
"""

from __future__ import annotations

from typing import Any, Final

from fsl_sym.asymptotics.mellin import Expansion, Term
from fsl_sym.asymptotics.mellin_transform import Piece
from fsl_sym.domain import Regime
from fsl_sym.exponents.certificate import BranchProof, Certificate
from fsl_sym.order import Order
from fsl_sym.power_regimes import PowerRegime, Side, Threshold
from fsl_sym.proof.rules import (
    algebra,
    bounds,
    calculus,
    cases,
    composition,
    expansions,
    linear,
    matrices,
    orders,
    sums,
)

RULES: Final[frozenset[type[Any]]] = frozenset(
    {algebra.Defined, algebra.Evaluated, algebra.Identity, algebra.Rewrite, algebra.SameDerivative, algebra.Smaller}
    | {bounds.IntegralTest, bounds.Maximum, bounds.Monotone, bounds.Rises, bounds.SumToIntegral}
    | {calculus.Antiderivative, calculus.Limit, calculus.Substitution}
    | {cases.AllCases, cases.OptimalAt}
    | {
        composition.AtMostBoth,
        composition.FirstTerm,
        composition.HeadOfSum,
        composition.Instance,
        composition.MoreTerms,
        composition.SumOfBounds,
        composition.Turned,
        composition.WithinError,
    }
    | {expansions.Residues}
    | {linear.Linear}
    | {matrices.MatrixIdentity}
    | {orders.Assumed, orders.NearOptimal, orders.Optimal, orders.OrderBetween, orders.OrderIn, orders.Vanishing}
    | {sums.Counted, sums.Induction, sums.Interchange, sums.Termwise, sums.ZetaSeries}
)
"""The rules of the kernel."""

HELD: Final[frozenset[type[Any]]] = frozenset(
    {BranchProof, Certificate, Expansion, Order, Piece, PowerRegime, Regime, Side, Term, Threshold}
)
"""What rules hold besides expressions and lemmas."""
