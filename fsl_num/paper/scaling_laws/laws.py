"""What the scaling laws have in common: hypotheses, the shape of their formulas, and mutants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sympy import Min, Rational, Symbol, zeta

from fsl_num.claims.claim import Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Statement
from fsl_sym.allocation_derivation import noise_derivations
from fsl_sym.laws import scaling_law
from fsl_sym.proof import Derivation, Formula, at_most, same_order
from fsl_sym.symbols import B, E, M, T, a, b, beta, s, sigma

STABLE = at_most(a * zeta(beta) / B, Rational(1, 5))
"""gamma_max tr(H) is small enough: at most 0.2 of exact powers, and twice that of spectra up to constants."""
NOISE = "sigma^2 >= 1"
LEARNED = M ** (-s * beta) + T**-s
"""What the model lacks, and what is not yet learned at the intrinsic time T."""


def decay_law(time: Symbol) -> Formula:
    """The law with a decay phase of intrinsic length ``time``."""
    left = (a - b) * Min(M, time ** (1 / beta)) / time
    return same_order(E, LEARNED + sigma**2 / B * (b + left))


def derivations(schedule: str) -> tuple[Derivation, ...]:
    """The proofs of the orders of the noise of a schedule, by its name."""
    return noise_derivations(scaling_law(schedule))


def other_orders(formula: Formula, **wrong: Any) -> Callable[[Sample], dict[str, Statement]]:
    """Mutants that state another order, by their names."""

    def mutants(sample: Sample) -> dict[str, Statement]:
        return {name.replace("_", " "): order_statement(same_order(formula.left, order), sample)
                for name, order in wrong.items()}  # fmt: skip

    return mutants
