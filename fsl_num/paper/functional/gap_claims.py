"""The claims that the proofs rest on: gaps between K_infinity and K_M, the reach of the subconvolution, the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from sympy import Integer, Integral, Max, Rational, Sum, Symbol, exp, log, oo, zeta

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import sharp
from fsl_num.claims.statements import Direction, Equivalent, Ray, Statement
from fsl_num.paper.functional import gaps
from fsl_num.paper.functional.formulas import GAMMA, gap
from fsl_num.paper.functional.instrument import Array
from fsl_num.paper.kernel.measurements import decades, joined_ray, the_signal
from fsl_sym.best_constants import pair_of_modes, tail_mass
from fsl_sym.proof import equals, order_at_most, same_order
from fsl_sym.spectrum import forgetting_kernel, signal
from fsl_sym.symbols import M as SIZE
from fsl_sym.symbols import beta, j, s, t, z

MULTIPLE = Symbol("c", positive=True)

MODEL = "lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), s > 0, beta > 1"
QUADRATURE = 1e-8
"""The quadrature's own error and what it leaves beyond its last time, relative (asked for 1e-10)."""


def power_of_size(power: float, direction: Direction = "both", *, fixed: bool = False) -> Equivalent:
    """M^power; ``fixed``: no exponent of it is put to the test."""

    def law(given: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        return given.get("M", power) * logs["M"]

    return Equivalent(law, {} if fixed else {"M": power}, direction=direction)


def signal_gap_order(sample: Sample) -> float:
    """max(1 - beta - s beta, 1 - 2 beta)."""
    s, beta = sample.point
    return max(1.0 - beta - s * beta, 1.0 - 2.0 * beta)


def _printed_gap(sample: Sample) -> Equivalent:
    s, beta = sample.point
    return power_of_size(max(-s * beta, 1.0 - 2.0 * beta), "upper", fixed=True)


def _sharp_gap(sample: Sample) -> Equivalent:
    """M^(1 - 2 beta) int_1^M y^(beta - s beta - 1) dy: the two powers, and log M where they meet (s = 1)."""
    s, beta = sample.point
    order, rate = signal_gap_order(sample), beta * (1.0 - s)

    def law(given: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        turn = rate * logs["M"]
        inner = np.log(np.expm1(turn) / rate) if rate else np.log(logs["M"])
        return given["M"] * logs["M"] + inner - np.maximum(turn, 0.0)

    return Equivalent(law, {"M": order})


def at_one(sample: Sample) -> Sample:
    """The point s = 1 of the same beta, where the sum of the proof is harmonic."""
    return replace(sample, s=Integer(1))


def _reach(sample: Sample) -> Equivalent:
    def law(given: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        return np.logaddexp(logs["trace"], given["t"] * logs["t"] + given["M"] * logs["M"])

    return Equivalent(law, {"t": 1.0, "M": -2.0 * gaps.reach_exponent(sample)})


def _reach_mutants(sample: Sample) -> dict[str, Statement]:
    whole = _reach(sample)
    return {
        "bounded for all t": replace(whole, law=lambda given, logs: logs["trace"]),
        "bounded up to t = M^beta only": replace(whole, exponents={"t": 1.0, "M": -gaps.reach_exponent(sample)}),
    }


def _critical(sample: Sample) -> list[Ray]:
    s, beta = sample.point
    return [joined_ray(the_signal(sample), beta, 1.0, c, decades(s), clock="M") for c in (0.25, 1.0, 4.0)]


def _tail_mass(sample: Sample) -> Statement:
    total = zeta(sample.beta, SIZE + 1) / 2
    wrong = {"twice it": 2 * total, "from M on": zeta(sample.beta, SIZE) / 2, "the features up to M":
             (zeta(sample.beta) - zeta(sample.beta, SIZE + 1)) / 2}  # fmt: skip
    return sharp(total, {"beta": sample.beta}, lambda point: QUADRATURE, wrong)


def _above_four_thirds(sample: Sample) -> Sample:
    """Smaller beta raised to 4/3, where the quadrature to t = 1e60 M^beta leaves too much."""
    return replace(sample, beta=max(sample.beta, Rational(4, 3)))


def _size_mutant(sample: Sample) -> dict[str, Statement]:
    return {"0.05 below the true order": power_of_size(signal_gap_order(sample) - 0.05, "upper", fixed=True)}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eq:Ke-gap", "eq:Ke-gap", 2348, "what K_infinity adds to the noise of the signal",
        "int_0^t (K_infinity - K_M)(t-z) e_M(z) gamma dz is at most of the order M^max(-s beta, 1-2 beta).",
        order_at_most(gap(GAMMA(z), with_signal=True), SIZE ** Max(-s * beta, 1 - 2 * beta)),
        (MODEL, "gamma <= 1 (the gap is largest for gamma = 1)", "t = M^beta and 10 M^beta"), gaps.signal_gap_rays,
        _printed_gap, _size_mutant, family="gaps",
    ),
    Claim(
        "eq:Ke-gap/sharp", "eq:Ke-gap", 2348, "the true order of that gap",
        "The largest gap (gamma constant, t of the order M^beta) is of the order M^max(1-beta-s beta, 1-2 beta), with "
        "a factor log M at s = 1: smaller than the printed bound by M^(beta-1) for s <= 1.",
        same_order(gap(Integer(1), with_signal=True),
                   SIZE ** (1 - 2 * beta) * Integral(z ** (beta - s * beta - 1), (z, 1, SIZE))),
        (MODEL, "gamma = 1", "t = M^beta and 10 M^beta"), gaps.signal_gap_rays, _sharp_gap,
        lambda sample: {"the printed order": power_of_size(_printed_order(sample))}
        if _printed_order(sample) > signal_gap_order(sample) + 0.05 else {},
        role="stronger", strengthens="eq:Ke-gap", family="gaps",
    ),
    Claim(
        "eq:Ke-gap/argument", "eq:Ke-gap", 2371, "the middle line of the proof at s = 1",
        "M^(1-2 beta) sum_{j<=M} j^(beta-s beta-1) is at most of the order M^max(1-s beta-beta, 1-2 beta), for s = 1 "
        "as well.",
        order_at_most(SIZE ** (1 - 2 * beta) * Sum(j ** (beta - s * beta - 1), (j, 1, SIZE)),
                      SIZE ** Max(1 - s * beta - beta, 1 - 2 * beta)),
        (MODEL, "s = 1"), lambda sample: gaps.partial_sum_rays(sample.point[1]),
        lambda sample: power_of_size(signal_gap_order(at_one(sample)), "upper"), regimes=("easy",), role="argument",
        corrected_by="eq:Ke-gap/at-one", family="gaps",
    ),
    Claim(
        "eq:Ke-gap/at-one", "eq:Ke-gap", 2371, "the gap at s = 1 with its logarithm",
        "At s = 1 the gap is of the order M^(1-2 beta) log M, which is still below M^-(s beta) = M^-beta.",
        same_order(gap(Integer(1), with_signal=True), SIZE ** (1 - 2 * beta) * log(SIZE)),
        (MODEL, "s = 1", "gamma = 1"), lambda sample: gaps.signal_gap_rays(sample, 1.0),
        lambda sample: _sharp_gap(at_one(sample)),
        lambda sample: {"without the logarithm": power_of_size(signal_gap_order(at_one(sample)))},
        regimes=("easy",), role="corrected", family="gaps",
    ),
    Claim(
        "eq:Ksigma-gap", "eq:Ksigma-gap", 2400, "what K_infinity adds to the label noise",
        "int_0^t (K_infinity - K_M)(t-z) gamma dz is at most of the order gamma_max M^(1-beta).",
        order_at_most(gap(GAMMA(z), with_signal=False), SIZE ** (1 - beta)),
        (MODEL, "s <= 1 - 1/beta as printed (s does not enter)", "gamma <= 1"), gaps.noise_gap_rays,
        regimes=("edge", "hard"), family="gaps",
    ),
    Claim(
        "eq:Ksigma-gap/sharp", "eq:Ksigma-gap", 2400, "the same in both directions, for every s",
        "For constant gamma the gap is of the order gamma M^(1-beta) from t = M^beta on; no condition on s is needed.",
        same_order(gap(Integer(1), with_signal=False), SIZE ** (1 - beta)),
        (MODEL, "gamma = 1", "t >= M^beta"), gaps.noise_gap_rays,
        role="stronger", strengthens="eq:Ksigma-gap", family="gaps",
    ),
    Claim(
        "eq:Ksigma-gap/exact", "eq:Ksigma-gap", 2400, "the supremum of the gap in closed form",
        "The supremum over t and gamma <= 1 is half of the sum of the eigenvalues beyond M: zeta(beta, M + 1)/2.",
        equals(Integral(Sum(j ** (-2 * beta) * exp(-2 * t * j**-beta), (j, SIZE + 1, oo)), (t, 0, oo)),
               Sum(j**-beta / 2, (j, SIZE + 1, oo))),
        (MODEL, "beta >= 4/3 (smaller ones are tested there)"),
        lambda sample: gaps.total_gap(_above_four_thirds(sample)),
        lambda sample: _tail_mass(_above_four_thirds(sample)), derive=tail_mass, role="stronger",
        strengthens="eq:Ksigma-gap", family="gaps",
    ),
    Claim(
        "cor: contraction/longer", "cor: contraction", 769, "the subconvolution reaches to M^(2 beta)",
        "(K_M * K_M)(t)/K_M(t) is of the order tr(H_M) + t M^(-2 beta) for all t >= M^beta: it stays bounded up to "
        "t = M^(2 beta), not only up to M^beta, and grows like t beyond, where one mode is left.",
        same_order(Integral(forgetting_kernel(t - z) * forgetting_kernel(z), (z, 0, t)) / forgetting_kernel(),
                   Sum(j**-beta, (j, 1, SIZE)) + t * SIZE ** (-2 * beta)),
        (MODEL, "t from M^beta to 1e12 M^(2 beta)", "tested at max(beta, 2)"),
        gaps.reach_rays, _reach, _reach_mutants, derive=pair_of_modes,
        role="stronger", strengthens="cor: contraction", depends=("cor: contraction",), family="gaps",
    ),
    Claim(
        "critical-time", "thm: fsl-general-noise", 577, "at the critical time the signal has reached its limit",
        "e_M(c M^beta) is of the order M^-(s beta).",
        same_order(signal(MULTIPLE * SIZE**beta), SIZE ** (-s * beta)),
        (MODEL, "c = 1/4, 1, 4"), _critical, depends=("lemma:ke-power/signal-window",),
        family="gaps",
    ),
)  # fmt: skip


def _printed_order(sample: Sample) -> float:
    s, beta = sample.point
    return max(-s * beta, 1.0 - 2.0 * beta)
