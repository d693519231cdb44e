"""Exponential decay taken apart: clock, noise integral, its two parts I1 and I2, and the printed proof lines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Integer, Integral, Min, Rational, Sum, exp, gamma, log, oo, uppergamma, zeta

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import Point, number, sharp, smooth_sum_error
from fsl_num.claims.statements import Equivalent, Joint, Sharp
from fsl_num.paper.scaling_laws import decay_measurements as measured
from fsl_sym.harmonic_sums import expansion_derivation
from fsl_sym.integrals.exponential_decay import (
    corrected_third_line,
    exponential_decay_noise,
    i1_asymptotics,
    i1_finite,
    i1_sum,
    i2_asymptotics,
    i2_finite,
    i2_sum,
    printed_lines,
    remaining,
    third_line_derivation,
)
from fsl_sym.integrals.orders import i2_order
from fsl_sym.proof import AllOf, Derivation, Formula, at_least, equals, less, same_order, within
from fsl_sym.schedules import schedule
from fsl_sym.spectrum import forgetting_kernel
from fsl_sym.symbols import K, M, T, a, b, beta, j, lam, t, tau, z
from fsl_sym.symbols import zeta_rate as rate

Array = NDArray[np.float64]
Logs = Mapping[str, Array]
CAPACITY = "lambda_j = j^-beta, beta > 1"
QUADRATURE = 1e-10
"""Relative accuracy that the quadrature asks for and reports."""

I1, I2 = cache(i1_asymptotics), cache(i2_asymptotics)
"""The expansions, derived once, when first asked for."""


def _quadrature(point: Point) -> float:
    return QUADRATURE


DECAY_NOISE = Integral((a - (a - b) * t / T) * forgetting_kernel(T - t), (t, 0, T))
"""The noise integral of exponential decay, whose rate falls linearly in intrinsic time."""
TOTAL = (a - b) * K / log(a / b)
"""The whole intrinsic time of exponential decay."""
CLOCK = AllOf(
    (
        equals(
            Integral(a * exp(-z * log(a / b) / K), (z, 0, tau)), a * K / log(a / b) * (1 - exp(-tau * log(a / b) / K))
        ),
        equals(K * a * (1 - b / a) / log(a / b), TOTAL),
        equals(a * (1 - t * log(a / b) / (K * a)), a - t * log(a / b) / K),
    )
)
"""Intrinsic time, its total, and the rate at an intrinsic time."""


BOUNDING = Integral(remaining(T * z**-beta), (z, 0, oo)) / (4 * T)
MELLIN = Integral((1 - (1 + z) * exp(-z)) * z ** (-1 - 1 / beta), (z, 0, oo))
"""The integral that bounds I2, and the one that it becomes after u = 2 T x^-beta."""


def _clock_derivations() -> tuple[Derivation, ...]:
    elapsed, total, _, rate_at, _ = schedule("exp-decay").derivation()
    return elapsed, total, rate_at


def _clock(sample: Sample) -> Joint:
    zeta_value = log(a / b) / K
    total, elapsed, linear = (a - b) * K / log(a / b), a / zeta_value * (1 - exp(-zeta_value * tau)), a - zeta_value * t
    return Joint(
        {
            "total intrinsic time": sharp(total, {}, _quadrature, {"a for a - b": total * a / (a - b), "a K": a * K}),
            "intrinsic time": sharp(elapsed, {}, _quadrature, {"b for a": elapsed * b / a}),
            "b = a/K": sharp(a * (K - 1) / log(K), {}, _quadrature, {"a K/log K": a * K / log(K)}),
            "learning rate": sharp(linear, {}, _quadrature, {"a + zeta t": a + zeta_value * t, "peak": a + 0 * t}),
        }
    )


def _noise(sample: Sample) -> Sharp:
    found = b * i1_sum() + (a - b) * i2_sum()
    wrong = {
        "minus (a - b) I2": b * i1_sum() - (a - b) * i2_sum(),
        "a I1": a * i1_sum() + (a - b) * i2_sum(),
        "twice": 2 * found,
        "I1 and I2 exchanged": b * i2_sum() + (a - b) * i1_sum(),
    }
    return sharp(found, {"beta": sample.beta}, _quadrature, wrong)


def _summed(line: Expr) -> Expr:
    """A proof line about one mode, with zeta = (a - b)/T, summed over the modes."""
    return Sum(line.subs(rate, (a - b) / T).subs(lam, j**-beta), (j, 1, M))


def _third_line(sample: Sample) -> Sharp:
    printed = _summed(printed_lines()[1].printed)
    return sharp(printed, {"beta": sample.beta}, _quadrature, {"twice": 2 * printed})


def _corrected_third_line(sample: Sample) -> Sharp:
    right, printed = corrected_third_line().printed, printed_lines()[1].printed
    fade = (1 - (1 + 2 * lam * T) * exp(-2 * lam * T)) / 4
    wrong = {
        "as printed": _summed(printed),
        "only b for a": _summed(right - 2 * rate * fade),
        "only plus for minus": _summed(printed + 2 * rate * fade),
    }
    return sharp(_summed(right), {"beta": sample.beta}, _quadrature, wrong)


def _flat_law(power: Mapping[str, float], logs: Logs) -> Array:
    return power["T"] * logs["t"] + power["M"] * logs["M"]


def _rest_law(power: Mapping[str, float], logs: Logs) -> Array:
    return np.asarray(np.logaddexp(power["T"] * logs["t"], power["M"] * logs["M"]))


def _flat(sample: Sample) -> Joint:
    capacity = sample.point[1]
    rest = {"T": 1.0 / capacity - 1.0, "M": 1.0 - capacity}
    return Joint({"I1": Equivalent(_flat_law, {"T": 0.0, "M": 0.0}), "rest": Equivalent(_rest_law, rest)})


def _infinite_flat(sample: Sample) -> Sharp:
    second = gamma(1 - 1 / beta) / (2 * beta) * (2 * T) ** (1 / beta - 1)
    right = I1().expression
    wrong = {
        "tr(H) for its half": right + zeta(beta) / 2,
        "next term dropped": right + second,
        "next term with the other sign": right + 2 * second,
        "Gamma argument off by 1/2": right + second * (1 - gamma(Rational(3, 2) - 1 / beta) / gamma(1 - 1 / beta)),
    }

    def allowed(point: Point) -> float:
        # I1 is at least half its limit, tr(H)/2 >= 1/2.
        return QUADRATURE + 2.0 * smooth_sum_error(sample.point[1], point["T"], sample.point[1])

    return sharp(right, {"beta": sample.beta}, allowed, wrong)


def _infinite_linear(sample: Sample) -> Sharp:
    right, next_term = I2().expression, 1 / (8 * T)
    leading = right + next_term
    wrong = {
        "next term dropped": leading,
        "next term with the other sign": leading + next_term,
        "-1/(4 T)": right - next_term,
        "2^(1/beta) dropped": leading * 2 ** (-1 / beta) - next_term,
        "Gamma argument off by 1/2": leading * gamma(Rational(5, 2) - 1 / beta) / gamma(2 - 1 / beta) - next_term,
    }

    def allowed(point: Point) -> float:
        time = float(point["T"])
        rest = sum(smooth_sum_error(0.0, time, sample.point[1], order) for order in (0.0, 1.0)) / (4 * time)
        return QUADRATURE + rest / float(number(right, {"beta": sample.beta, **point}))

    return sharp(right, {"beta": sample.beta}, allowed, wrong, scale="T")


def _crossing(sample: Sample) -> Sharp:
    form = i2_finite()
    parameters = {"beta": sample.beta}

    def allowed(point: Point) -> float:
        values = {**parameters, **point}
        return QUADRATURE + float(number(form.error, values) / number(form.approximation, values))

    wrong = {
        "M infinite": I2().expression,
        "M/(4 T) throughout": M / (4 * T),
        "the crossover at 2 M^beta": form.approximation.subs(M, M * 2 ** (1 / beta)),
        "Gamma argument off by 1/2": form.approximation.replace(
            uppergamma, lambda order, start: uppergamma(order + Rational(1, 2), start)
        ),
    }
    return sharp(form.approximation, parameters, allowed, wrong)


def _bounding(sample: Sample, factor: Expr) -> Sharp:
    # int_0^infinity (1 - exp(-u) - u exp(-u)) u^(-1 - 1/beta) du = beta Gamma(2 - 1/beta), by parts
    value = factor * 2 ** (1 / beta) / (4 * T ** (1 - 1 / beta)) * beta * gamma(2 - 1 / beta)
    wrong = {"twice": 2 * value, "Gamma(1 - 1/beta)": value * gamma(1 - 1 / beta) / gamma(2 - 1 / beta)}
    wrong |= {"without 1/beta": value / factor} if factor != 1 else {}
    return sharp(value, {"beta": sample.beta}, _quadrature, wrong, scale="T")


def _infinite_linear_derivation() -> Derivation:
    return expansion_derivation("I2", "I2 for M infinite", I2(), "exp-decay/I2", i2_sum(size=oo))


DECAY_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "exp-decay/intrinsic-time", "sub:proof_for_the_exponential_decay_lrs", 3108, "the clock of exponential decay",
        "T(tau) = (a/zeta)(1 - exp(-zeta tau)), T = (a-b) K/log(a/b), and the rate at intrinsic time t is a - zeta t. "
        "With b = a/K, T = a (K-1)/log K.",
        CLOCK, ("0 < b < a", less(tau, K), less(t, TOTAL)), measured.clock, _clock,
        derive=_clock_derivations,
    ),
    Claim(
        "lemma: N-exp-decay", "lemma: N-exp-decay", 3125, "the noise integral of exponential decay in closed form",
        "int_0^T K_M(T-t) gamma(t) dt = b I1 + (a-b) I2, for every T > 0 and M.",
        equals(DECAY_NOISE, b * i1_sum() + (a - b) * i2_sum()),
        (CAPACITY, "0 < b < a", "T > 0 (T >= 1 is not needed)", "M finite"),
        measured.decay_noise, _noise, derive=lambda: exponential_decay_noise().derivation,
        depends=("exp-decay/intrinsic-time",),
    ),
    Claim(
        "lemma: N-exp-decay/third-line", "lemma: N-exp-decay", 3148, "the third line of the proof, as printed",
        "N = sum_j [a (1 - exp(-2 lambda_j T)) lambda_j/2 - zeta (1 - (1 + 2 lambda_j T) exp(-2 lambda_j T))/4].",
        lambda: equals(DECAY_NOISE, _summed(printed_lines()[1].printed)),
        (CAPACITY, "0 < b < a", "M finite"), measured.decay_noise, _third_line,
        corrected_by="lemma: N-exp-decay/third-line-corrected",
        role="argument",
    ),
    Claim(
        "lemma: N-exp-decay/third-line-corrected", "lemma: N-exp-decay", 3148, "the third line of the proof, corrected",
        "N = sum_j [b (1 - exp(-2 lambda_j T)) lambda_j/2 + zeta (1 - (1 + 2 lambda_j T) exp(-2 lambda_j T))/4], "
        "b = a - zeta T.",
        lambda: equals(DECAY_NOISE, _summed(corrected_third_line().printed)),
        (CAPACITY, "0 < b < a", "M finite"), measured.decay_noise, _corrected_third_line,
        derive=third_line_derivation,
        role="corrected",
    ),
    Claim(
        "exp-decay/I1", "sub:proof_for_the_exponential_decay_lrs", 3157, "I1 tends to a constant",
        "I1 = tr(H)/2 - o(1); what is missing is of the order T^(1/beta-1) + M^(1-beta).",
        AllOf((same_order(i1_sum(), 1), same_order(zeta(beta) / 2 - i1_sum(), T ** (1 / beta - 1) + M ** (1 - beta)))),
        (CAPACITY, "T and M tend to infinity"), measured.flat_rays, _flat, derive=lambda: i1_finite().derivation,
    ),
    Claim(
        "exp-decay/I1-sharp", "sub:proof_for_the_exponential_decay_lrs", 3157, "I1 with its next term",
        "For M infinite I1 = tr(H)/2 - Gamma(1-1/beta)/(2 beta) (2T)^(1/beta-1), with an exponentially small rest.",
        Formula(
            i1_sum(size=oo), "expands",
            zeta(beta) / 2 - 2 ** (1 / beta - 2) * T ** (1 / beta - 1) * gamma(1 - 1 / beta) / beta, T, oo,
        ), (CAPACITY, "M infinite"), measured.infinite_flat, _infinite_flat,
        derive=lambda: expansion_derivation("I1", "I1 for M infinite", I1(), "exp-decay/I1", i1_sum(size=oo)),
        role="own",
    ),
    Claim(
        "exp-decay/I2", "sub:proof_for_the_exponential_decay_lrs", 3231, "I2 is of the order min{M, T^(1/beta)}/T",
        "I2 is of the order min{M, T^(1/beta)}/T for all M and T >= 1, on both sides of T = M^beta and at it.",
        same_order(i2_sum(), Min(M, T ** (1 / beta)) / T), (CAPACITY, at_least(M, 1), at_least(T, 1)),
        measured.linear_rays, derive=i2_order,
    ),
    Claim(
        "exp-decay/I2-sharp", "sub:proof_for_the_exponential_decay_lrs", 3231, "I2 with its next term",
        "For M infinite I2 = 2^(1/beta-2) Gamma(2-1/beta) T^(1/beta-1) - 1/(8T), with an exponentially small rest.",
        Formula(
            i2_sum(size=oo), "expands",
            2 ** (1 / beta - 2) * gamma(2 - 1 / beta) * T ** (1 / beta - 1) - 1 / (8 * T), T, oo,
        ), (CAPACITY, "M infinite"),
        measured.infinite_linear, _infinite_linear, derive=_infinite_linear_derivation,
        role="own",
    ),
    Claim(
        "exp-decay/I2-crossover", "sub:proof_for_the_exponential_decay_lrs", 3231, "I2 around T = M^beta",
        "4 T I2 is within 1 of M Phi, Phi(x) = 1 - (1+2x) exp(-2x) + (2x)^(1/beta) Gamma(2-1/beta, 2x) at "
        "x = T/M^beta.",
        within(
            4 * T * i2_sum(),
            M * remaining(T * M**-beta) + (2 * T) ** (1 / beta) * uppergamma(2 - 1 / beta, 2 * T * M**-beta), 1,
        ), (CAPACITY, "T > 0, any M"),
        measured.crossing_linear, _crossing, derive=lambda: i2_finite().derivation,
        role="stronger", strengthens="exp-decay/I2",
    ),
    Claim(
        "exp-decay/I2/printed-integral", "sub:proof_for_the_exponential_decay_lrs", 3268,
        "the bounding integral as printed",
        "After u = 2 T x^-beta the integral that bounds I2 is 2^(1/beta) T^(1/beta-1)/4 int q(u) du.",
        equals(BOUNDING, 2 ** (1 / beta) / (4 * T ** (1 - 1 / beta)) * MELLIN),
        (CAPACITY, "T > 0"), measured.bounding_integral, lambda sample: _bounding(sample, Integer(1)),
        corrected_by="exp-decay/I2/integral",
        role="argument",
    ),
    Claim(
        "exp-decay/I2/integral", "sub:proof_for_the_exponential_decay_lrs", 3268, "the bounding integral, corrected",
        "After u = 2 T x^-beta the integral that bounds I2 is 2^(1/beta) T^(1/beta-1)/(4 beta) int q(u) du: the factor "
        "1/beta comes from dx.",
        equals(BOUNDING, 2 ** (1 / beta) / (4 * beta * T ** (1 - 1 / beta)) * MELLIN),
        (CAPACITY, "T > 0"), measured.bounding_integral, lambda sample: _bounding(sample, 1 / beta),
        role="corrected",
    ),
)  # fmt: skip
"""In the order of the paper."""
