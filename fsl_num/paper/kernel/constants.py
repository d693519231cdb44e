"""The claims about the kernels with their sharp constants: limits confirmed digit by digit."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from sympy import Expr, Integral, Rational, Sum, exp, gamma, oo, uppergamma, zeta

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import DIGITS, Point, number, sharp, smooth_sum_error
from fsl_num.claims.statements import Sharp
from fsl_num.paper.kernel.measurements import self_convolution
from fsl_num.spectrum import approximation_error, exponential_sum, forgetting_kernel, signal
from fsl_sym import spectrum as exact
from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.harmonic_sums import expansion_derivation
from fsl_sym.integrals.stable_phase import stable_asymptotics, stable_sum
from fsl_sym.proof import AllOf, Derivation, Formula, at_most, tends, within
from fsl_sym.spectrum import (
    approximation_error_asymptotics,
    finite_kernel,
    kernel_asymptotics,
    signal_asymptotics,
)
from fsl_sym.symbols import T2, M, beta, j, s, t, z

MODEL = "lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), s > 0, beta > 1"
ROUNDING = 10.0 ** (2 - DIGITS)
"""Relative error of a sum at DIGITS digits, with two to spare."""
TIMES = (10**10, 10**13)
"""At the first the exponentially small rest is visible for large beta; at the second 20 digits stand for beta <= 6."""
FLOAT_SUM = 3e-14
"""Relative error of the sums in floats."""


KERNEL, SIGNAL, STABLE = cache(kernel_asymptotics), cache(signal_asymptotics), cache(stable_asymptotics)
"""The expansions, derived once, when first asked for."""


def _wrong(expression: Expr, time: Any, power: Expr) -> dict[str, Any]:
    """Mutants of Gamma(power)/beta (2 t)^-power."""
    return {
        "the 2 of exp(-2 lambda t) dropped": expression * 2**power,
        "Gamma argument off by 1/2": expression * gamma(power + Rational(1, 2)) / gamma(power),
        "1/beta dropped": expression * beta,
        "a next term of relative order 1/t^(1/2)": expression * (1 + time ** Rational(-1, 2)),
    }


def _remainder(factor: float, weight: Any, sample: Sample, expression: Expr, name: str) -> Callable[[Point], float]:
    """Allowed relative error: the Poisson rest of factor sum j^-weight exp(-2 t j^-beta), and rounding."""

    def allowed(point: Point) -> float:
        value = float(number(expression, {"s": sample.s, "beta": sample.beta, **point}))
        rest = smooth_sum_error(float(weight), float(point[name]), sample.point[1])
        return factor * rest / value + ROUNDING

    return allowed


def _sharp_sum(sample: Sample, expression: Expr, power: Expr, weight: Any, factor: float, name: str) -> Sharp:
    time = t if name == "t" else T2
    parameters = {"s": sample.s, "beta": sample.beta}
    remainder = _remainder(factor, weight, sample, expression, name)
    return sharp(expression, parameters, remainder, _wrong(expression, time, power), scale=name)


def _signal_measured(sample: Sample) -> list[tuple[Any, Any]]:
    return [({"t": time}, signal(time, *_mp(sample), digits=DIGITS)) for time in TIMES]


def _kernel_measured(sample: Sample) -> list[tuple[Any, Any]]:
    return [({"t": time}, forgetting_kernel(time, _mp(sample)[1], digits=DIGITS)) for time in TIMES]


def _stable_measured(sample: Sample) -> list[tuple[Any, Any]]:
    capacity = _mp(sample)[1]
    return [({"T_2": time}, exponential_sum(capacity, time, capacity, digits=DIGITS) / 2) for time in TIMES]


def _mp(sample: Sample) -> tuple[Any, Any]:
    """(s, beta) to more digits than the sums use: a fraction like 17/12 is no float."""
    return tuple(number(value, {}, DIGITS + 30) for value in (sample.s, sample.beta))


def _approximation_measured(sample: Sample) -> list[tuple[Any, Any]]:
    return [({"M": size}, approximation_error(*_mp(sample), size, digits=DIGITS)) for size in (10**3, 5 * 10**4)]


def _approximation(sample: Sample) -> Sharp:
    leading = approximation_error_asymptotics().leading
    alpha = sample.point[0] * sample.point[1]
    wrong = {
        "half of it": leading / 2,
        "1/beta dropped": leading * beta,
        "1/(1 + s beta) for 1/(s beta)": leading * s * beta / (1 + s * beta),
    }
    # The two integrals differ by the factor (1 + 1/M)^-(s beta) >= 1 - s beta/M.
    parameters = {"s": sample.s, "beta": sample.beta}
    return sharp(leading, parameters, lambda point: alpha / point["M"], wrong, scale="M")


def _crossover_measured(sample: Sample) -> list[tuple[Any, Any]]:
    found = []
    for size in (10**4, 10**7):
        for multiple in (0.02, 1.0, 5.0):
            time = multiple * float(size) ** sample.point[1]
            found.append(({"M": size, "t": time}, forgetting_kernel(time, sample.point[1], size)))
    return found


def _crossover(sample: Sample) -> Sharp:
    form = finite_kernel()
    parameters = {"beta": sample.beta}
    infinite = KERNEL().expression

    def allowed(point: Point) -> float:
        """The proved bound on sum minus integral, and the rounding of a sum of floats and of the rate at its end."""
        values = {**parameters, **point}
        relative = float(number(form.error, values) / number(form.approximation, values))
        return float(relative + FLOAT_SUM + 1e-15 * float(point["t"]) * float(point["M"]) ** -sample.point[1])

    wrong = {
        "M infinite": infinite,
        "the crossover at 2 M^beta": form.approximation.subs(M, M * 2 ** (1 / beta)),
        "Gamma argument off by 1/2": form.approximation.replace(
            uppergamma, lambda order, start: uppergamma(order + Rational(1, 2), start)
        ),
    }
    return sharp(form.approximation, parameters, allowed, wrong)


def _convolution_measured(sample: Sample) -> list[tuple[Any, Any]]:
    capacity = sample.point[1]
    found = []
    for time in (1e8, 1e12):
        ratio = self_convolution(time, capacity, float("inf")) / forgetting_kernel(time, capacity)
        found.append(({"t": time}, ratio))
    return found


def _convolution(sample: Sample) -> Sharp:
    r"""tr(H) and the next two terms.

    The Laplace transform of K is tr(H)/2 + A p^alpha + p/8 + ..., alpha = 1 - 1/beta, A = kappa Gamma(-alpha) with
    kappa t^-(1+alpha) the limit of K; the coefficient of p is -zeta(0)/4, that of p^2 is zeta(-beta)/8. Its square,
    transformed back term by term and divided by K, is the expression; what is left begins with t^-2 (from p^(2+alpha)).
    """
    alpha = 1 - 1 / beta
    kappa = KERNEL().terms[0].coefficient
    second = kappa * gamma(-alpha) ** 2 / gamma(-2 * alpha) * t**-alpha
    third = -(1 + alpha) / (4 * t)
    capacity = sample.point[1]

    def allowed(point: Point) -> float:
        # Twice |zeta(-beta)|/4 (1 + alpha)(2 + alpha) t^-2 is below 10 t^-2 for beta <= 6; the quadrature asks 1e-10.
        kernel = float(number(KERNEL().expression, {"beta": sample.beta, "t": point["t"]}))
        time = float(point["t"])
        return 10.0 * time**-2 + 1e-10 + smooth_sum_error(2 * capacity, time, capacity) / kernel

    wrong = {
        "half the trace": zeta(beta) / 2 + second + third,
        "the next term dropped": zeta(beta) + third,
        "the next term with the other sign": zeta(beta) - second + third,
    }
    if sample.beta == 2:  # 1/Gamma(-2 alpha) vanishes there, and with it the next term
        wrong = {"half the trace": zeta(beta) / 2 + third, "twice the trace": 2 * zeta(beta) + third}
        return sharp(zeta(beta) + third, {"beta": sample.beta}, allowed, wrong, scale="t")
    return sharp(zeta(beta) + second + third, {"beta": sample.beta}, allowed, wrong, scale="t")


def _expansion(name: str, expansion: Expansion, label: str) -> Derivation:
    return expansion_derivation(name, name, expansion, label)


SHARP_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lemma:ke-power/signal-sharp", "lemma:ke-power", 1953, "the constant of the signal",
        "e_infinity(t) t^s tends to Gamma(s)/(beta 2^s), with an exponentially small rest.",
        Formula(exact.signal(size=oo), "expands", gamma(s) / (beta * 2**s * t**s), t, oo), (MODEL,), _signal_measured,
        lambda sample: _sharp_sum(sample, SIGNAL().expression, s, 1 + sample.s * sample.beta, 1.0, "t"),
        derive=lambda: _expansion("signal", SIGNAL(), "lemma:ke-power"),
        role="stronger", strengthens="lemma:ke-power/infinite",
    ),
    Claim(
        "lemma:ke-power/kernel-sharp", "lemma:ke-power", 1953, "the constant of the kernel",
        "K_infinity(t) t^(2-1/beta) tends to Gamma(2-1/beta)/(beta 2^(2-1/beta)), with an exponentially small rest.",
        Formula(exact.forgetting_kernel(size=oo), "expands",
                2 ** (1 / beta - 2) * t ** (1 / beta - 2) * gamma(2 - 1 / beta) / beta, t, oo), (MODEL,),
        _kernel_measured,
        lambda sample: _sharp_sum(sample, KERNEL().expression, 2 - 1 / beta, 2 * sample.beta, 1.0, "t"),
        derive=lambda: _expansion("kernel", KERNEL(), "lemma:ke-power"),
        role="stronger", strengthens="lemma:ke-power/infinite",
    ),
    Claim(
        "lemma:ke-power/crossover", "lemma:ke-power", 1959, "the kernel at the edge of the window",
        "K_M(t) is (2t)^(1/beta-2) Gamma(2-1/beta, 2t/M^beta)/beta within exp(-2) t^-2, for every M and t.",
        within(exact.forgetting_kernel(), (2 * t) ** (1 / beta - 2) * uppergamma(2 - 1 / beta, 2 * t * M**-beta) / beta,
               exp(-2) * t**-2),
        (MODEL, "t > 0, any M"), _crossover_measured, _crossover, derive=lambda: finite_kernel().derivation,
        role="stronger", strengthens="lemma:ke-power/kernel-window",
    ),
    Claim(
        "approximation-error/sharp", "approximation-error", 845, "the constant of the approximation error",
        "With N infinite, delta_M M^(s beta) tends to 1/(s beta), within a factor 1 - s beta/M.",
        AllOf((at_most((M + 1) ** (-s * beta) / (s * beta), Sum(j ** (-1 - s * beta), (j, M + 1, oo))),
               at_most(Sum(j ** (-1 - s * beta), (j, M + 1, oo)), M ** (-s * beta) / (s * beta)))),
        (MODEL,), _approximation_measured, _approximation,
        derive=lambda: (approximation_error_asymptotics().from_below, approximation_error_asymptotics().from_above),
        role="stronger", strengthens="approximation-error",
    ),
    Claim(
        "cor: contraction/sharp", "cor: contraction", 769, "the constant of the subconvolution is the trace",
        "For M infinite (K * K)(t)/K(t) tends to tr(H); the next terms are of the orders t^(1/beta-1) and 1/t.",
        tends(Integral(exact.forgetting_kernel(t - z, oo) * exact.forgetting_kernel(z, oo), (z, 0, t))
              / exact.forgetting_kernel(t, oo), t, oo, zeta(beta)),
        (MODEL, "M infinite"), _convolution_measured, _convolution,
        role="own",
    ),
    Claim(
        "lem: wsd-stable-noise/sharp", "lem: wsd-stable-noise", 3489, "the constant of the stable phase",
        "For M infinite the stable phase leaves Gamma(1-1/beta)/(2 beta) (2 T_2)^(1/beta-1), with an exponentially "
        "small rest.",
        Formula(stable_sum(size=oo), "expands",
                2 ** (1 / beta - 2) * T2 ** (1 / beta - 1) * gamma(1 - 1 / beta) / beta, T2, oo),
        (MODEL,), _stable_measured,
        lambda sample: _sharp_sum(sample, STABLE().expression, 1 - 1 / beta, sample.beta, 0.5, "T_2"),
        derive=lambda: _expansion("stable phase", STABLE(), "lem: wsd-stable-noise"),
        role="own",
    ),
)  # fmt: skip
"""Limits, with how far they may be from the measured number."""
