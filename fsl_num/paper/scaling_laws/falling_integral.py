"""I2 of exponential decay: the noise of a rate that falls linearly from 1 to 0."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sympy import Expr, Integer, Integral, Min, Rational, exp, gamma, oo, uppergamma

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import Point, number, sharp, smooth_sum_error
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Ray, Sharp
from fsl_num.functional import integrate_graded
from fsl_num.paper.block_constants import (
    NO_SPECTRUM,
    OSCILLATE,
    UP_TO_CONSTANTS,
    Constants,
    exact_powers,
    given_constants,
)
from fsl_num.paper.block_spectra import block_modes
from fsl_num.paper.hypotheses import INFINITE, SPECTRUM, of_infinite_size
from fsl_num.paper.kernel.rays import Quantity, at_places
from fsl_num.paper.scaling_laws.decay_integrals import I2, LONGEST, QUADRATURE, crossing_rays, repeating_crossing_rays
from fsl_num.spectrum import forgetting_kernel
from fsl_num.validation import Array
from fsl_sym.harmonic_sums import expansion_derivation
from fsl_sym.integrals.exponential_decay import i2_finite, i2_sum, remaining
from fsl_sym.integrals.orders import i2_order
from fsl_sym.proof import Formula, Substitution, at_least, equals, lemma, same_order, within
from fsl_sym.symbols import M, T, beta, z

BOUNDING = Integral(remaining(T * z**-beta), (z, 0, oo)) / (4 * T)
MELLIN = Integral((1 - (1 + z) * exp(-z)) * z ** (-1 - 1 / beta), (z, 0, oo))
"""The integral that bounds I2, and the one that it becomes after u = 2 T x^-beta."""


def linear_integral(time: float, beta: float, size: float) -> float:
    """I2 = int_0^T K_M(r) r/T dr: the noise of a rate that falls linearly from 1 to 0."""
    return integrate_graded(lambda r: np.asarray(forgetting_kernel(r, beta, size) * r / time), time).value


def _of_blocks(constants: Constants, beta: float, time: float, size: float) -> float:
    """The same of a spectrum up to constants."""
    from scipy.special import gammainc

    modes, _ = block_modes(constants, 1.0, beta, size, time)
    # int_0^T r exp(-rate r) dr = (1 - (1 + x) exp(-x))/rate^2 at x = rate T
    return float(gammainc(2.0, modes.rates * time) @ (modes.weights / modes.rates / modes.rates)) / time


def linear_rays(sample: Sample) -> list[Ray]:
    """I2 on both sides of T = M^beta and at it, and for M alone at a time when all features are learned."""
    beta = sample.point[1]
    rays = crossing_rays(sample, lambda time, size: linear_integral(time, beta, size))
    late = math.exp(LONGEST)
    sizes = np.unique(np.floor(np.geomspace(1.0, late ** (1.0 / (1.5 * beta)), 9)))
    values = np.log([linear_integral(late, beta, float(size)) for size in sizes])
    alone = Ray("M alone, T = 1e20", np.log(sizes), {"M": np.log(sizes), "t": np.full(sizes.size, LONGEST)}, values)

    repeating = repeating_crossing_rays(sample, lambda constants: partial(_of_blocks, constants, beta))
    return [replace(ray, logs={"M": ray.logs["M"], "T": ray.logs["t"]}) for ray in (*rays, alone, *repeating)]


def early_rays(sample: Sample) -> list[Ray]:
    """I2 from T = 1 down to 1e-10, with one feature and with many, and for M alone at T = 1/1000."""
    beta, times = sample.point[1], np.geomspace(1.0, 1e-10, 9)
    sizes = np.unique(np.floor(np.geomspace(1.0, 1e6, 9)))

    def exact(time: float, size: float) -> float:
        return linear_integral(time, beta, size)

    def ray(name: str, times: Array, sizes: Array, scale: Array, quantity: Quantity = exact) -> Ray:
        values = [quantity(*pair) for pair in zip(times.tolist(), sizes.tolist(), strict=True)]
        return Ray(name, scale, {"M": np.log(sizes), "T": np.log(times)}, np.log(values))

    down = 1.0 - np.log(times)
    runs = {
        "T to 0, M = 1": (times, np.ones(9), down),
        "T to 0, M = 1e6": (times, np.full(9, 1e6), down),
        "M alone, T = 1e-3": (np.full(9, 1e-3), sizes, np.log(sizes)),
    }
    repeating = [
        ray(f"{name}, {constants.name}", *arguments, partial(_of_blocks, constants, beta))
        for constants in given_constants(sample.seed)
        for name, arguments in runs.items()
    ]
    return [*(ray(name, *arguments) for name, arguments in runs.items()), *repeating]


def infinite_linear(sample: Sample) -> list[tuple[Any, Any]]:
    """I2 for M infinite, at times with T^(1/beta) = 100 and 10^4: the next term is then 1e-3 and 1e-5 of it."""
    beta = sample.point[1]
    times = [float(round(10.0 ** (power * beta))) for power in (2, 4)]
    return [({"T": time}, linear_integral(time, beta, math.inf)) for time in times]


def crossing_linear(sample: Sample) -> list[tuple[Any, Any]]:
    """I2 around the end of the window for large M."""
    beta = sample.point[1]
    pairs = [(size, multiple * float(size) ** beta) for size in (10**4, 10**6) for multiple in (0.02, 1.0, 20.0)]
    return [({"M": size, "T": time}, linear_integral(time, beta, size)) for size, time in pairs]


def bounding_integral(sample: Sample) -> list[tuple[Any, Any]]:
    """(1/(4 T)) int_0^infinity g(2 T x^-beta) dx, g(u) = 1 - exp(-u) - u exp(-u), up to 1e9 T^(1/beta).

    Beyond, g <= u^2/2 leaves less than (1e9)^(1 - 2 beta) T^(1/beta), 1e-15 of it for beta >= 4/3.
    """
    from scipy.special import gammainc

    beta = sample.point[1]
    integrals = []
    for time in (1.0, 1e6):

        def integrand(x: Array, time: float = time) -> Array:
            with np.errstate(divide="ignore"):
                return np.asarray(gammainc(2.0, 2.0 * time * x**-beta))  # 1 - (1 + u) exp(-u)

        integrals.append(({"T": time}, integrate_graded(integrand, 1e9 * time ** (1 / beta)).value / (4 * time)))
    return integrals


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
        error = sum(smooth_sum_error(0.0, time, sample.point[1], order) for order in (0.0, 1.0)) / (4 * time)
        return QUADRATURE + error / float(number(right, {"beta": sample.beta, **point}))

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
    return sharp(value, {"beta": sample.beta}, QUADRATURE, wrong, scale="T")


PRINTED = same_order(i2_sum(), Min(M, T ** (1 / beta)) / T)
EARLY = same_order(i2_sum(), T)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "exp-decay/I2", "sub:proof_for_the_exponential_decay_lrs", 3231, "the order of I2",
        PRINTED, (SPECTRUM, at_least(M, 1), at_least(T, 1), UP_TO_CONSTANTS),
        linear_rays, derive=i2_order, beyond=lambda sample: {"T to 0": early_rays(sample)},
        quoted=r"I_2 \eqsim \frac{\min(M,\,T^{1/\beta})}{T}",
    ),
    Claim(
        "exp-decay/I2-early", "sub:proof_for_the_exponential_decay_lrs", 3231, "the order of I2 at early times",
        EARLY, (SPECTRUM, at_least(M, 1), "0 < T <= 1", UP_TO_CONSTANTS), early_rays,
        beyond=lambda sample: {"T from 1 on": linear_rays(sample)},
        instances=lambda sample: at_places(EARLY, lambda *at: linear_integral(at[0], sample.point[1], at[1]), T),
        mutants=lambda sample: {
            "the printed order for every T": order_statement(PRINTED, sample),
            "M to a power of 0.05": order_statement(same_order(i2_sum(), M ** Rational(1, 20) * T), sample),
        },
        role="own",
        remark="The printed order does not vanish with the time, and begins at times of order one.",
    ),
    Claim(
        "exp-decay/I2-sharp", "sub:proof_for_the_exponential_decay_lrs", 3231, "I2 with its next term",
        Formula(
            i2_sum(size=oo), "expands",
            2 ** (1 / beta - 2) * gamma(2 - 1 / beta) * T ** (1 / beta - 1) - 1 / (8 * T), T, oo,
        ), (SPECTRUM, INFINITE, exact_powers(OSCILLATE)),
        of_infinite_size(infinite_linear), _infinite_linear,
        derive=lambda: expansion_derivation("I2", "I2 for M infinite", I2(), "exp-decay/I2", i2_sum(size=oo)),
        role="own",
        remark="Of a spectrum up to constants it may go on oscillating with the logarithm of time.",
    ),
    Claim(
        "exp-decay/I2-crossover", "sub:proof_for_the_exponential_decay_lrs", 3231, "I2 around the end of the window",
        within(
            4 * T * i2_sum(),
            M * remaining(T * M**-beta) + (2 * T) ** (1 / beta) * uppergamma(2 - 1 / beta, 2 * T * M**-beta), 1,
        ), (SPECTRUM, "T > 0", exact_powers("Phi is the sum over j^-beta as an integral over j")),
        crossing_linear, _crossing, derive=lambda: i2_finite().derivation,
        role="stronger", strengthens="exp-decay/I2",
    ),
    Claim(
        "exp-decay/I2/printed-integral", "sub:proof_for_the_exponential_decay_lrs", 3268,
        "the bounding integral as printed",
        equals(BOUNDING, 2 ** (1 / beta) / (4 * T ** (1 - 1 / beta)) * MELLIN),
        (SPECTRUM, "T > 0", exact_powers(NO_SPECTRUM)), bounding_integral, lambda sample: _bounding(sample, Integer(1)),
        corrected_by="exp-decay/I2/integral", mends={MELLIN: MELLIN / beta},
        role="argument",
    ),
    Claim(
        "exp-decay/I2/integral", "sub:proof_for_the_exponential_decay_lrs", 3268, "the bounding integral, corrected",
        equals(BOUNDING, 2 ** (1 / beta) / (4 * beta * T ** (1 - 1 / beta)) * MELLIN),
        (SPECTRUM, "T > 0", exact_powers(NO_SPECTRUM)), bounding_integral, lambda sample: _bounding(sample, 1 / beta),
        derive=lambda: lemma(
            BOUNDING, 2 ** (1 / beta) / (4 * beta * T ** (1 - 1 / beta)) * MELLIN,
            Substitution(z, z, (2 * T / z) ** (1 / beta)), "u = 2 T x^-beta",
        ),
        role="corrected",
        remark="The missing factor comes from the change of variable.",
    ),
)  # fmt: skip
