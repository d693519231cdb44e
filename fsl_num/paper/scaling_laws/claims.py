"""The scaling laws of the three schedules, and what ties them to the loss."""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Min, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Statement
from fsl_num.paper.scaling_laws import measurements as measured
from fsl_num.paper.scaling_laws.decay_claims import DECAY_CLAIMS
from fsl_sym.allocation_derivation import noise_derivations
from fsl_sym.laws import scaling_law
from fsl_sym.proof import Derivation, Formula, at_least, at_most, equals, same_order
from fsl_sym.symbols import T1, T2, B, E, K, M, T, a, b, beta, s, sigma

MODEL = "lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), s > 0, beta > 1"
STABLE = "gamma_max tr(H) small enough (tested at 0.2)"
NOISE = "sigma^2 >= c, constants independent of sigma"
BY_PARTS = (
    "Tested at intrinsic times up to 1e40 (1e120 where M decides) on the parts of eqn: fsl-simplified, which its own "
    "claim ties to the loss."
)
LEARNED = M ** (-s * beta) + T**-s
"""What the model lacks, and what is not yet learned at the intrinsic time T."""
APPROXIMATION, SIGNAL, NOISE_PART = (Symbol(name, positive=True) for name in ("approximation", "signal", "noise"))


def _decay_law(time: Symbol) -> Formula:
    """The law with a decay phase of intrinsic length ``time``."""
    left = (a - b) * Min(M, time ** (1 / beta)) / time
    return same_order(E, LEARNED + sigma**2 / B * (b + left))


CONSTANT = same_order(E, LEARNED + a / B * sigma**2)
GEOMETRIC, WSD = _decay_law(T), _decay_law(T2)


def _stable_decay_mutants(sample: Sample) -> Mapping[str, Statement]:
    return {"T_1 + T_2 for T_2 in the noise": order_statement(GEOMETRIC, sample)}


def _derivations(schedule: str) -> tuple[Derivation, ...]:
    return noise_derivations(scaling_law(schedule))


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: fsl-simplified", "eqn: fsl-simplified", 883, "the loss under constant label noise, in three parts",
        "For t >= 1 and sigma^2 >= c the excess risk is of the order delta_M + e_M(t) + (sigma^2/B) int K_M phi(T^-1): "
        "the Volterra solution against its three parts, M^-(s beta) through delta_M.",
        same_order(E, APPROXIMATION + SIGNAL + NOISE_PART * sigma**2),
        (MODEL, "approximation is M^-(s beta) through delta_M, signal is e_M(t), "
         "noise is the integral of K_M(t - r) gamma(r) over r from 0 to t", "t >= 1", NOISE, STABLE),
        measured.tied_rays,
        depends=("approximation-error",), family="loss",
    ),
    Claim(
        "thm:chinchilla", "thm:chinchilla", 902, "the scaling law of a constant learning rate",
        "For eta K >= 1 the excess risk is of the order M^-(s beta) + (eta K)^-s + (eta/B) sigma^2. " + BY_PARTS,
        CONSTANT,
        (MODEL, equals(T, a * K), at_least(T, 1), NOISE, STABLE), measured.constant_rays,
        derive=lambda: _derivations("constant"), depends=("eqn: fsl-simplified",), family="constant",
    ),
    Claim(
        "thm:const_lrs_law", "thm:const_lrs_law", 2995, "the law of a constant rate as restated, without eta K >~ 1",
        "The restatement in the appendix asks nothing of eta K. As eta K tends to 0 the risk tends to a constant and "
        "(eta K)^-s to infinity.",
        CONSTANT,
        (MODEL, equals(T, a * K), NOISE, STABLE),
        lambda sample: [*measured.constant_rays(sample), *measured.short_rays(sample)],
        corrected_by="thm:chinchilla", family="constant",
    ),
    Claim(
        "thm:geometric", "thm:geometric", 944, "the scaling law of exponential decay",
        "For T >= 1 the excess risk is of the order M^-(s beta) + T^-s + sigma^2 (b + (a-b) min{M, T^(1/beta)}/T)/B. "
        + BY_PARTS,
        GEOMETRIC,
        (MODEL, at_least(T, 1), at_most(b, a), NOISE, STABLE), measured.exponential_rays,
        derive=lambda: _derivations("exp-decay"),
        depends=("eqn: fsl-simplified", "lemma: N-exp-decay", "exp-decay/I1", "exp-decay/I2"), family="geometric",
    ),
    Claim(
        "thm:geometric/restated", "thm:geometric", 3283, "the law of exponential decay as restated, without T >~ 1",
        "The restatement in the appendix asks nothing of T. As T tends to 0 the risk tends to a constant and T^-s to "
        "infinity.",
        GEOMETRIC,
        (MODEL, at_most(b, a), NOISE, STABLE),
        lambda sample: [*measured.exponential_rays(sample), *measured.short_decay_rays(sample)],
        corrected_by="thm:geometric", family="geometric",
    ),
    Claim(
        "thm: wsd", "thm: wsd", 1023, "the scaling law of a stable phase followed by exponential decay",
        "For T_1, T_2 >= 1 the excess risk is of the order M^-(s beta) + (T_1+T_2)^-s + "
        "sigma^2 (b + (a-b) min{M, T_2^(1/beta)}/T_2)/B. " + BY_PARTS,
        WSD,
        (MODEL, equals(T, T1 + T2), at_least(T1, 1), at_least(T2, 1), at_most(b, a), NOISE, STABLE),
        measured.stable_decay_rays, mutants=_stable_decay_mutants, derive=lambda: _derivations("wsd"),
        depends=("eqn: fsl-simplified", "lem: wsd-stable-noise", "thm:geometric"), family="wsd",
    ),
    *DECAY_CLAIMS,
)  # fmt: skip
