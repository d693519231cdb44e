"""What the scaling laws of the three schedules have in common: hypotheses, and the shape of their formulas."""

from __future__ import annotations

from sympy import Min, Rational, Symbol, zeta

from fsl_sym.allocation_derivation import noise_derivations
from fsl_sym.laws import scaling_law
from fsl_sym.proof import Derivation, Formula, at_most, same_order
from fsl_sym.symbols import B, E, M, T, a, b, beta, s, sigma

STABLE = at_most(a * zeta(beta) / B, Rational(1, 5))
"""gamma_max tr(H) is small enough: at most 0.2 of exact powers, and twice that of spectra up to constants."""
NOISE = "sigma^2 >= 1, constants independent of sigma"
BY_PARTS = (
    "Tested at intrinsic times up to 1e40 (1e200 where M decides) on the parts of eqn: fsl-simplified, which its own "
    "claim ties to the loss."
)
LEARNED = M ** (-s * beta) + T**-s
"""What the model lacks, and what is not yet learned at the intrinsic time T."""


def decay_law(time: Symbol) -> Formula:
    """The law with a decay phase of intrinsic length ``time``."""
    left = (a - b) * Min(M, time ** (1 / beta)) / time
    return same_order(E, LEARNED + sigma**2 / B * (b + left))


def derivations(schedule: str) -> tuple[Derivation, ...]:
    """The proofs of the orders of the noise of a schedule, by its name."""
    return noise_derivations(scaling_law(schedule))
