"""lemma: N-exp-decay: the clock of exponential decay, its noise integral, and the printed lines of the proof."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sympy import Expr, Integral, Sum, exp, log

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import sharp
from fsl_num.claims.statements import Joint, Sharp
from fsl_num.functional import integrate_graded, noise_functional
from fsl_num.model import Model
from fsl_num.paper.block_constants import MODE_BY_MODE, NO_SPECTRUM, exact_powers
from fsl_num.paper.hypotheses import SPECTRUM
from fsl_num.paper.scaling_laws.decay_integrals import QUADRATURE
from fsl_num.schedules import ExponentialDecay
from fsl_num.validation import Array
from fsl_sym.integrals.exponential_decay import (
    corrected_third_line,
    exponential_decay_noise,
    i1_sum,
    i2_sum,
    printed_lines,
    third_line_derivation,
)
from fsl_sym.proof import AllOf, Derivation, equals, less
from fsl_sym.schedules import schedule
from fsl_sym.spectrum import forgetting_kernel
from fsl_sym.symbols import K, M, T, a, b, beta, j, lam, t, tau, z
from fsl_sym.symbols import zeta_rate as rate

RATES = ((0.5, 0.05), (0.3, 0.299), (1.0, 1e-4))
"""Peak and final learning rates (a, b)."""
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


def clock(sample: Sample) -> dict[str, list[tuple[Any, Any]]]:
    """Intrinsic time as the integral of the learning rate, and the rate at given intrinsic times."""
    total, elapsed, rate, to_a_over_k = [], [], [], []
    for peak, final in RATES:
        plan = ExponentialDecay(peak=peak, final=final, steps=1000.0)

        def phi(tau: Array, plan: ExponentialDecay = plan) -> Array:
            return np.asarray(plan.learning_rate(tau))

        known = {"a": peak, "b": final, "K": 1000}
        total.append((known, integrate_graded(phi, 1000.0, rtol=1e-12).value))
        elapsed.append((known | {"tau": 300}, integrate_graded(phi, 300.0, rtol=1e-12).value))
        t = integrate_graded(phi, 700.0, rtol=1e-12).value
        rate.append((known | {"t": t}, plan.gamma(t)))
        slowest = ExponentialDecay(peak=peak, final=peak / 1000.0, steps=1000.0)
        to_a_over_k.append(({"a": peak, "K": 1000}, integrate_graded(slowest.learning_rate, 1000.0, rtol=1e-12).value))
    return {
        "total intrinsic time": total,
        "intrinsic time": elapsed,
        "learning rate": rate,
        "b = a/K": to_a_over_k,
    }


def decay_noise(sample: Sample) -> list[tuple[Any, Any]]:
    """N = int_0^T K_M(T - t) gamma(t) dt of the schedule, by quadrature."""
    noises = []
    for (peak, final), size, time in zip(RATES, (1, 12, 30), (3.0, 40.0, 2000.0), strict=True):
        steps = time * math.log(peak / final) / (peak - final)
        plan = ExponentialDecay(peak=peak, final=final, steps=steps)
        point = {"a": peak, "b": final, "M": size, "T": plan.total_intrinsic_time}
        noises.append((point, noise_functional(Model(*sample.point, size, 1.0), plan).value))
    return noises


def _clock_derivations() -> tuple[Derivation, ...]:
    elapsed, total, _, rate_at, _ = schedule("exp-decay").derivation()
    return elapsed, total, rate_at


def _clock(sample: Sample) -> Joint:
    zeta_value = log(a / b) / K
    total, elapsed, linear = (a - b) * K / log(a / b), a / zeta_value * (1 - exp(-zeta_value * tau)), a - zeta_value * t
    return Joint(
        {
            "total intrinsic time": sharp(total, {}, QUADRATURE, {"a for a - b": total * a / (a - b), "a K": a * K}),
            "intrinsic time": sharp(elapsed, {}, QUADRATURE, {"b for a": elapsed * b / a}),
            "b = a/K": sharp(a * (K - 1) / log(K), {}, QUADRATURE, {"a K/log K": a * K / log(K)}),
            "learning rate": sharp(linear, {}, QUADRATURE, {"a + zeta t": a + zeta_value * t, "peak": a + 0 * t}),
        }
    )


def _noise(sample: Sample) -> Sharp:
    total = b * i1_sum() + (a - b) * i2_sum()
    wrong = {
        "minus (a - b) I2": b * i1_sum() - (a - b) * i2_sum(),
        "a I1": a * i1_sum() + (a - b) * i2_sum(),
        "twice": 2 * total,
        "I1 and I2 exchanged": b * i2_sum() + (a - b) * i1_sum(),
    }
    return sharp(total, {"beta": sample.beta}, QUADRATURE, wrong)


def _summed(line: Expr) -> Expr:
    """A proof line about one mode, with zeta = (a - b)/T, summed over the modes."""
    return Sum(line.subs(rate, (a - b) / T).subs(lam, j**-beta), (j, 1, M))


def _third_line(sample: Sample) -> Sharp:
    printed = _summed(printed_lines()[1].printed)
    return sharp(printed, {"beta": sample.beta}, QUADRATURE, {"twice": 2 * printed})


def _corrected_third_line(sample: Sample) -> Sharp:
    right, printed = corrected_third_line().printed, printed_lines()[1].printed
    fade = (1 - (1 + 2 * lam * T) * exp(-2 * lam * T)) / 4
    wrong = {
        "as printed": _summed(printed),
        "only b for a": _summed(right - 2 * rate * fade),
        "only plus for minus": _summed(printed + 2 * rate * fade),
    }
    return sharp(_summed(right), {"beta": sample.beta}, QUADRATURE, wrong)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "exp-decay/intrinsic-time", "sub:proof_for_the_exponential_decay_lrs", 3108, "the clock of exponential decay",
        CLOCK, ("0 < b < a", less(tau, K), less(t, TOTAL), exact_powers(NO_SPECTRUM)), clock, _clock,
        derive=_clock_derivations,
        quoted=r"\frac{a}{\zeta} \left(1-e^{-\zeta \tau}\right)",
    ),
    Claim(
        "lemma: N-exp-decay", "lemma: N-exp-decay", 3125, "the noise integral of exponential decay in closed form",
        equals(DECAY_NOISE, b * i1_sum() + (a - b) * i2_sum()),
        (SPECTRUM, "0 < b < a", "T > 0", "M < oo", exact_powers(MODE_BY_MODE)),
        decay_noise, _noise, derive=lambda: exponential_decay_noise().derivation,
        depends=("exp-decay/intrinsic-time",),
        quoted=r"\int_{0}^T \cK_M(T-t)\gamma(t)\dd t = b I_1 + (a-b) I_2",
    ),
    Claim(
        "lemma: N-exp-decay/third-line", "lemma: N-exp-decay", 3148, "the third line of the proof, as printed",
        lambda: equals(DECAY_NOISE, _summed(printed_lines()[1].printed)),
        (SPECTRUM, "0 < b < a", "M < oo", exact_powers(MODE_BY_MODE)), decay_noise, _third_line,
        corrected_by="lemma: N-exp-decay/third-line-corrected",
        # a and b are exchanged: the third line is the noise of a rate that rises from b to a
        mends={DECAY_NOISE: DECAY_NOISE.xreplace({forgetting_kernel(T - t): forgetting_kernel(t)})},
        role="argument",
    ),
    Claim(
        "lemma: N-exp-decay/third-line-corrected", "lemma: N-exp-decay", 3148, "the third line of the proof, corrected",
        lambda: equals(DECAY_NOISE, _summed(corrected_third_line().printed)),
        (SPECTRUM, "0 < b < a", "M < oo", exact_powers(MODE_BY_MODE)), decay_noise, _corrected_third_line,
        derive=third_line_derivation,
        role="corrected",
    ),
)  # fmt: skip
