"""The claims about the signal e_M, the forgetting kernel K_M and what they leave: orders, windows and hypotheses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Integral, Min, Sum, exp, log, oo, zeta

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import sharp
from fsl_num.claims.statements import Direction, Equivalent, Joint, Statement
from fsl_num.paper.kernel import measurements as measured
from fsl_num.paper.kernel.constants import SHARP_CLAIMS
from fsl_sym.integrals.stable_phase import stable_order, stable_phase_noise, stable_sum
from fsl_sym.proof import AllOf, Derivation, at_least, at_most, equals, order_at_most, same_order
from fsl_sym.spectrum import (
    approximation_error_asymptotics,
    eigenvalue,
    finite_kernel,
    finite_signal,
    forgetting_kernel,
    kernel_mass,
    signal,
    signal_gap,
)
from fsl_sym.symbols import T2, M, N, beta, j, s, t, z

Array = NDArray[np.float64]
MODEL = "lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), s > 0, beta > 1"
CONVOLUTION = Integral(forgetting_kernel(t - z) * forgetting_kernel(z), (z, 0, t))
WINDOW = (at_least(t, 1), at_most(t, M**beta), "tested up to 4 M^beta")
QUADRATURE = 1e-10
"""The quadrature's own error bound is below this, relative."""


def approximation_bounds() -> tuple[Derivation, ...]:
    """delta_M from below and from above, for N infinite."""
    both = approximation_error_asymptotics()
    return both.from_below, both.from_above


def monomial(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    """Log of a product of powers, one for each exponent."""
    terms = [power * logs[name] for name, power in exponents.items()]
    return np.asarray(sum(terms[1:], terms[0]), dtype=np.float64)


def power_law(direction: Direction = "both", **exponents: float) -> Equivalent:
    """The statement that a quantity is a product of powers, up to constants."""
    return Equivalent(monomial, exponents, direction=direction)


def kernel_power(sample: Sample) -> float:
    """2 - 1/beta."""
    return 2.0 - 1.0 / sample.point[1]


def _completed_law(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    return np.asarray(np.logaddexp(exponents["M"] * logs["M"], logs["e_infinity"]))


def _only_signal(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    return exponents["M"] * 0.0 * logs["M"] + logs["e_infinity"]


def _infinite(sample: Sample) -> Joint:
    return Joint(
        {
            "signal": Equivalent(monomial, {"1 + t": -sample.point[0]}),
            "kernel": Equivalent(monomial, {"1 + t": -kernel_power(sample)}),
        }
    )


def _infinite_measured(sample: Sample) -> dict[str, Any]:
    return {
        "signal": measured.infinite_rays(measured.the_signal(sample), sample.point[0]),
        "kernel": measured.infinite_rays(measured.the_kernel(sample), kernel_power(sample)),
    }


def _gap(sample: Sample) -> Joint:
    s, capacity = sample.point
    completed = Equivalent(_completed_law, {"M": -s * capacity})
    return Joint({"gap": power_law("upper", M=-s * capacity), "consequence": completed})


def _gap_mutants(sample: Sample) -> dict[str, Statement]:
    statement = _gap(sample)
    dropped = Equivalent(_only_signal, {"M": 0.0})
    return {"consequence without M^-(s beta)": Joint({**statement.parts, "consequence": dropped})}


def _stable(sample: Sample) -> Joint:
    capacity = sample.point[1]
    model = Equivalent(monomial, {"M": 1.0, "t": -1.0}, direction="upper")
    return Joint({"M/T_2": model, "T_2^(1/beta - 1)": power_law("upper", t=1.0 / capacity - 1.0)})


def _stable_measured(sample: Sample) -> dict[str, Any]:
    capacity, quantity = sample.point[1], measured.stable_phase(sample)
    end = measured.decades(1.0)
    return {
        "M/T_2": [measured.joined_ray(quantity, capacity, power, 1.0, end, clock="M") for power in (1.0, 0.5)],
        "T_2^(1/beta - 1)": measured.everywhere_rays(quantity, sample, 1.0),
    }


def _mass(sample: Sample) -> Statement:
    total = Sum(eigenvalue(), (j, 1, M))
    wrong = {"half of it": total / 2, "twice it": 2 * total, "M infinite": zeta(beta) + 0 * M}
    return sharp(total, {"beta": sample.beta}, lambda point: QUADRATURE, wrong)


def _stable_identity(sample: Sample) -> Statement:
    found = stable_sum()
    wrong = {
        "without the half": 2 * found,
        "lambda_j^2 for lambda_j": Sum(eigenvalue() * found.function, *found.limits),
        "the rate lambda_j": found.replace(exp, lambda exponent: exp(exponent / 2)),
    }
    return sharp(found, {"beta": sample.beta}, lambda point: QUADRATURE, wrong)


def _convolution_bound(sample: Sample) -> Statement:
    return power_law("upper", t=0.0)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lemma:ke-power/signal-window", "lemma:ke-power", 1959, "the signal falls like t^-s inside the window",
        "e_M(t) is of the order of t^-s for 1 <= t <= c M^beta, uniformly in M.",
        same_order(signal(), t**-s), (MODEL, *WINDOW),
        lambda sample: measured.window_rays(measured.the_signal(sample), sample, sample.point[0]),
        derive=lambda: finite_signal().derivation,
    ),
    Claim(
        "lemma:ke-power/kernel-window", "lemma:ke-power", 1959, "the kernel falls like t^-(2-1/beta) inside the window",
        "K_M(t) is of the order of t^-(2-1/beta) for 1 <= t <= c M^beta, uniformly in M.",
        same_order(forgetting_kernel(), t ** (1 / beta - 2)), (MODEL, *WINDOW),
        lambda sample: measured.window_rays(measured.the_kernel(sample), sample, kernel_power(sample)),
        derive=lambda: finite_kernel().derivation,
    ),
    Claim(
        "lemma:ke-power/signal-bound", "lemma:ke-power", 1953, "the signal is at most of the order t^-s at all times",
        "e_M(t) <= C t^-s for every t > 0 and every M, C depending on s and beta only.",
        order_at_most(signal(), t**-s), (MODEL, "t > 0, any M"),
        lambda sample: measured.everywhere_rays(measured.the_signal(sample), sample, sample.point[0]),
        derive=lambda: finite_signal().derivation,
    ),
    Claim(
        "lemma:ke-power/kernel-bound", "lemma:ke-power", 1953, "the kernel is at most t^-(2-1/beta) at all times",
        "K_M(t) <= C t^-(2-1/beta) for every t > 0 and every M, C depending on beta only.",
        order_at_most(forgetting_kernel(), t ** (1 / beta - 2)), (MODEL, "t > 0, any M"),
        lambda sample: measured.everywhere_rays(measured.the_kernel(sample), sample, kernel_power(sample)),
        derive=lambda: finite_kernel().derivation,
    ),
    Claim(
        "lemma:ke-power/infinite", "lemma:ke-power", 544, "infinitely many features: powers of 1 + t from t = 0 on",
        "e_infinity(t) is of the order (1+t)^-s and K_infinity(t) of the order (1+t)^-(2-1/beta) for all t >= 0.",
        AllOf((same_order(signal(size=oo), (1 + t) ** -s),
               same_order(forgetting_kernel(size=oo), (1 + t) ** (1 / beta - 2)))),
        (MODEL, "M infinite", "t >= 0"), _infinite_measured, _infinite,
    ),
    Claim(
        "approximation-error", "approximation-error", 845, "the approximation error is of the order M^-(s beta)",
        "delta_M is of the order M^-(s beta) as long as N - M is at least of the order of M.",
        same_order(Sum(j ** (-1 - s * beta), (j, M + 1, N)), M ** (-s * beta)), (MODEL, "N - M >= c M"),
        measured.approximation_rays, derive=approximation_bounds,
    ),
    Claim(
        "approximation-error/one-more", "approximation-error", 845, "without N - M >~ M the order is another",
        "With N = M + 1 the approximation error is of the order M^-(1 + s beta): the hypothesis N - M >~ M is needed.",
        same_order(Sum(j ** (-1 - s * beta), (j, M + 1, M + 1)), M ** (-1 - s * beta)), (MODEL, equals(N, M + 1)),
        measured.one_feature_more_rays,
        mutants=lambda sample: {"M^-(s beta)": power_law(M=-sample.point[0] * sample.point[1])},
        role="own",
    ),
    Claim(
        "lemma:em-gap", "lemma:em-gap", 2027, "the features beyond M carry at most M^-(s beta) of the signal",
        "e_infinity(t) - e_M(t) <= C M^-(s beta) at every t, and so e_M + delta_M is of the order "
        "e_infinity + M^-(s beta).",
        AllOf((order_at_most(Sum(j ** (-1 - s * beta) * exp(-2 * j**-beta * t), (j, M + 1, oo)), M ** (-s * beta)),
               same_order(signal() + M ** (-s * beta), signal(size=oo) + M ** (-s * beta)))),
        (MODEL, "t >= 0, any M"),
        lambda sample: {"gap": measured.gap_rays(sample), "consequence": measured.completed_signal_rays(sample)},
        _gap, _gap_mutants, derive=lambda: (signal_gap(), *approximation_bounds()),
        depends=("approximation-error",),
    ),
    Claim(
        "lem: half-scale", "lem: half-scale", 739, "the kernel at half the time is of its own order",
        "K_M(t/2)/K_M(t) lies between positive constants for all t <= c M^beta.",
        same_order(forgetting_kernel(t / 2) / forgetting_kernel(), 1),
        (MODEL, "t <= c M^beta (tested up to c = 4, and t to 0)"),
        lambda sample: [
            *measured.window_rays(measured.half_scale(sample), sample, kernel_power(sample)),
            measured.alone_ray(measured.half_scale(sample), 1e6, 0.0, -30.0),
        ],
        lambda sample: power_law(t=0.0), depends=("lemma:ke-power/kernel-window",),
    ),
    Claim(
        "lem: half-scale/beyond", "lem: half-scale", 739, "beyond the window the ratio grows exponentially",
        "log(K_M(t/2)/K_M(t)) is of the order t M^-beta for t >> M^beta: the hypothesis t <~ M^beta is needed.",
        same_order(log(forgetting_kernel(t / 2) / forgetting_kernel()), t * M**-beta),
        (MODEL, "t >> M^beta (tested from 60 to 300 M^beta)"),
        measured.beyond_window_rays,
        mutants=lambda sample: {"bounded, as inside the window": Equivalent(monomial, {"t": 0.0, "M": 0.0})},
        role="own",
    ),
    Claim(
        "lemma:convolution-kernel", "lemma:convolution-kernel", 2129, "the kernel convolved with itself, t <= M^beta",
        "(K_M * K_M)(t) <= C K_M(t) for all t <= M^beta, with C independent of t and M.",
        order_at_most(CONVOLUTION, forgetting_kernel()), (MODEL, at_most(t, M**beta)),
        lambda sample: measured.convolution_rays(sample, ((0.5, 1.0), (1.0, 1.0))),
        _convolution_bound, depends=("lem: half-scale", "lemma:convolution-kernel/mass"),
    ),
    Claim(
        "cor: contraction", "cor: contraction", 769, "subconvolution up to multiples of M^beta",
        "(K_M * K_M)(t) <= C K_M(t) for t <= c M^beta, with C independent of t and M (checked for c = 1/4 and 8).",
        order_at_most(CONVOLUTION, forgetting_kernel()),
        (MODEL, "t <= c M^beta"),
        lambda sample: measured.convolution_rays(sample, ((1.0, 0.25), (1.0, 8.0))),
        _convolution_bound, depends=("lem: half-scale",),
    ),
    Claim(
        "lemma:convolution-kernel/beyond", "lemma:convolution-kernel", 2129, "one feature: the bound fails beyond",
        "With M = 1 the ratio (K_M * K_M)(t)/K_M(t) is t, which no constant bounds: the hypothesis t <= M^beta is "
        "needed.",
        same_order(Integral(exp(-2 * z) * exp(-2 * (t - z)), (z, 0, t)) / exp(-2 * t), t), (MODEL, "M = 1, all t"),
        measured.single_mode_rays,
        mutants=lambda sample: {"bounded": _convolution_bound(sample)},
        role="own",
    ),
    Claim(
        "lemma:convolution-kernel/mass", "lemma:convolution-kernel", 2160, "the mass of the kernel is half the trace",
        "2 int_0^infinity K_M = sum_{j<=M} lambda_j, which is at most tr(H).",
        equals(Integral(2 * forgetting_kernel(), (t, 0, oo)), Sum(eigenvalue(), (j, 1, M))),
        (MODEL, "M finite (tr(H) - the sum is the positive rest)"), measured.kernel_mass, _mass,
        derive=kernel_mass,
        role="argument",
    ),
    Claim(
        "lem: wsd-stable-noise", "lem: wsd-stable-noise", 3489, "what the decay phase leaves of the stable phase",
        "int_0^infinity K_M(T_2 + t) dt, the sum over the modes that it is, is at most C min{M, T_2^(1/beta)}/T_2 for "
        "every T_2 > 0 and M.",
        order_at_most(stable_sum(), Min(M / T2, T2 ** (1 / beta - 1))), (MODEL, "T_2 > 0, any M"),
        _stable_measured, _stable, derive=stable_order,
    ),
    Claim(
        "lem: wsd-stable-noise/identity", "lem: wsd-stable-noise", 3499, "the stable phase as a sum over modes",
        "int_0^infinity K_M(T_2 + t) dt = sum_j (lambda_j/2) exp(-2 lambda_j T_2).",
        equals(Integral(forgetting_kernel(T2 + t), (t, 0, oo)), stable_sum()),
        (MODEL, "T_2 > 0, M finite"), measured.stable_phase_integral, _stable_identity,
        derive=lambda: stable_phase_noise().derivation,
        role="argument",
    ),
    *SHARP_CLAIMS,
)  # fmt: skip
