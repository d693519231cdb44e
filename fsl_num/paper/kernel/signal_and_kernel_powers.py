"""lemma:ke-power: the powers of the signal e_M and of the forgetting kernel K_M, and their sharp constants."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from sympy import Rational, exp, gamma, oo, uppergamma

import fsl_num.spectrum as spectrum
from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import DIGITS, Point, number, sharp
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Joint, Ray, Sharp
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.kernel.expansions import KERNEL, SIGNAL, TIMES, point_with_digits, sharp_sum
from fsl_num.paper.kernel.rays import (
    Quantity,
    alone_ray,
    at_places,
    decades,
    everywhere_rays,
    kernel_power,
    outside_window,
    the_kernel,
    the_signal,
    window_law,
    window_rays,
)
from fsl_num.paper.statements import power_law
from fsl_sym.harmonic_sums import expansion_derivation
from fsl_sym.proof import AllOf, Formula, at_least, at_most, order_at_most, same_order, within
from fsl_sym.spectrum import finite_kernel, finite_signal, forgetting_kernel, signal
from fsl_sym.symbols import M, beta, s, t

FLOAT_SUM = 3e-14
"""Relative error of the sums in floats."""
SIGNAL_ORDER = same_order(signal(), t**-s)
KERNEL_ORDER = same_order(forgetting_kernel(), t ** (1 / beta - 2))
WINDOW = (at_least(t, 1), at_most(t, M**beta))


INFINITE_ORDERS = (
    same_order(signal(size=oo), (1 + t) ** -s), same_order(forgetting_kernel(size=oo), (1 + t) ** (1 / beta - 2)),
)  # fmt: skip


def _infinite_sums(sample: Sample) -> list[dict[Any, Any]]:
    """Both sums at a time."""
    quantities = (the_signal(sample), the_kernel(sample))
    sides = {order.left: quantity(0.7, math.inf) for order, quantity in zip(INFINITE_ORDERS, quantities, strict=True)}
    return [{**sides, t: 0.7}]


def infinite_rays(quantity: Quantity, power: float) -> list[Ray]:
    """M infinite, t from 0 to infinity, with the variable 1 + t."""
    rays = []
    for end in (decades(power), -30.0):
        ray = alone_ray(quantity, math.inf, 0.0, end)
        rays.append(Ray(ray.name, ray.scale, {**ray.logs, "1 + t": np.logaddexp(0.0, ray.logs["t"])}, ray.values))
    return rays


def _kernel_measured(sample: Sample) -> list[tuple[Any, Any]]:
    return [
        ({"t": time}, spectrum.forgetting_kernel(time, point_with_digits(sample)[1], digits=DIGITS)) for time in TIMES
    ]


def _crossover_measured(sample: Sample) -> list[tuple[Any, Any]]:
    kernels = []
    for size in (10**4, 10**7):
        for multiple in (0.02, 1.0, 5.0):
            time = multiple * float(size) ** sample.point[1]
            kernels.append(({"M": size, "t": time}, spectrum.forgetting_kernel(time, sample.point[1], size)))
    return kernels


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


def _infinite(sample: Sample) -> Joint:
    return Joint(
        {
            "signal": power_law(**{"1 + t": -sample.point[0]}),
            "kernel": power_law(**{"1 + t": -kernel_power(sample)}),
        }
    )


def _infinite_measured(sample: Sample) -> Located:
    measured = {
        "signal": infinite_rays(the_signal(sample), sample.point[0]),
        "kernel": infinite_rays(the_kernel(sample), kernel_power(sample)),
    }
    return Located(measured, {"M": math.inf})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lemma:ke-power/signal-window", "lemma:ke-power", 1959, "the power of the signal inside the window",
        SIGNAL_ORDER, (MODEL, *WINDOW),
        lambda sample: window_rays(the_signal(sample), sample, sample.point[0]), partial(window_law, SIGNAL_ORDER),
        instances=lambda sample: at_places(SIGNAL_ORDER, the_signal(sample)),
        derive=lambda: finite_signal().derivation, beyond=lambda sample: outside_window(the_signal(sample), sample),
        quoted=r"e_M(t) \eqsim t^{-s}, \quad",
    ),
    Claim(
        "lemma:ke-power/kernel-window", "lemma:ke-power", 1959, "the power of the kernel inside the window",
        KERNEL_ORDER, (MODEL, *WINDOW),
        lambda sample: window_rays(the_kernel(sample), sample, kernel_power(sample)), partial(window_law, KERNEL_ORDER),
        instances=lambda sample: at_places(KERNEL_ORDER, the_kernel(sample)),
        derive=lambda: finite_kernel().derivation, beyond=lambda sample: outside_window(the_kernel(sample), sample),
        quoted=r"t^{-(2-\frac{1}{\beta})}, \quad 1\lesssim t\lesssim M^{\beta}",
    ),
    Claim(
        "lemma:ke-power/signal-bound", "lemma:ke-power", 1953, "its power bounds the signal at all times",
        order_at_most(signal(), t**-s), (MODEL, "t > 0"),
        lambda sample: everywhere_rays(the_signal(sample), sample, sample.point[0]),
        instances=lambda sample: at_places(SIGNAL_ORDER, the_signal(sample)),
        derive=lambda: finite_signal().derivation,
        quoted=r"e_M(t) \lesssim t^{-s}",
    ),
    Claim(
        "lemma:ke-power/kernel-bound", "lemma:ke-power", 1953, "its power bounds the kernel at all times",
        order_at_most(forgetting_kernel(), t ** (1 / beta - 2)), (MODEL, "t > 0"),
        lambda sample: everywhere_rays(the_kernel(sample), sample, kernel_power(sample)),
        instances=lambda sample: at_places(KERNEL_ORDER, the_kernel(sample)),
        derive=lambda: finite_kernel().derivation,
        quoted=r"\mathcal{K}_M(t) \lesssim",
    ),
    Claim(
        "lemma:ke-power/infinite", "lemma:ke-power", 544, "infinitely many features: powers from the start on",
        AllOf(INFINITE_ORDERS), (MODEL, "M = oo", "t >= 0"), _infinite_measured, _infinite, instances=_infinite_sums,
        quoted=r"$e_\infty(t) \eqsim e(t)$ and $\cK_\infty(t) \eqsim \cK(t)$ for $t \geq 0$",
    ),
    Claim(
        "lemma:ke-power/signal-sharp", "lemma:ke-power", 1953, "the constant of the signal",
        Formula(signal(size=oo), "expands", gamma(s) / (beta * 2**s * t**s), t, oo), (MODEL,),
        lambda sample: [({"t": time}, spectrum.signal(time, *point_with_digits(sample), digits=DIGITS))
                        for time in TIMES],
        lambda sample: sharp_sum(sample, SIGNAL().expression, s, 1 + sample.s * sample.beta, 1.0, "t"),
        derive=lambda: expansion_derivation("signal", "signal", SIGNAL(), "lemma:ke-power"),
        role="stronger", strengthens="lemma:ke-power/infinite",
    ),
    Claim(
        "lemma:ke-power/kernel-sharp", "lemma:ke-power", 1953, "the constant of the kernel",
        Formula(forgetting_kernel(size=oo), "expands",
                2 ** (1 / beta - 2) * t ** (1 / beta - 2) * gamma(2 - 1 / beta) / beta, t, oo), (MODEL,),
        _kernel_measured,
        lambda sample: sharp_sum(sample, KERNEL().expression, 2 - 1 / beta, 2 * sample.beta, 1.0, "t"),
        derive=lambda: expansion_derivation("kernel", "kernel", KERNEL(), "lemma:ke-power"),
        role="stronger", strengthens="lemma:ke-power/infinite",
    ),
    Claim(
        "lemma:ke-power/crossover", "lemma:ke-power", 1959, "the kernel at the edge of the window",
        within(forgetting_kernel(), (2 * t) ** (1 / beta - 2) * uppergamma(2 - 1 / beta, 2 * t * M**-beta) / beta,
               exp(-2) * t**-2),
        (MODEL, "t > 0"), _crossover_measured, _crossover, derive=lambda: finite_kernel().derivation,
        role="stronger", strengthens="lemma:ke-power/kernel-window",
    ),
)  # fmt: skip
