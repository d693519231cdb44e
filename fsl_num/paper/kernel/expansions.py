"""Sums over modes with their sharp constants: the proved expansion, held against the sum with many digits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from sympy import Expr, Rational, gamma

from fsl_num.claims.claim import Sample
from fsl_num.claims.evaluation import DIGITS, Point, number, sharp, smooth_sum_error
from fsl_num.claims.statements import Sharp
from fsl_sym.integrals.stable_phase import stable_asymptotics
from fsl_sym.spectrum import kernel_asymptotics, signal_asymptotics
from fsl_sym.symbols import T2, beta, t

ROUNDING = 10.0 ** (2 - DIGITS)
"""Relative error of a sum at DIGITS digits, with two to spare."""
TIMES = (10**10, 10**13)
"""At the first the exponentially small rest is visible for large beta; at the second 20 digits stand for beta <= 6."""
KERNEL, SIGNAL, STABLE = cache(kernel_asymptotics), cache(signal_asymptotics), cache(stable_asymptotics)
"""The expansions, derived once, when first asked for."""


def _wrong_constants(expression: Expr, time: Any, power: Expr) -> dict[str, Any]:
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
        bound = smooth_sum_error(float(weight), float(point[name]), sample.point[1])
        return factor * bound / value + ROUNDING

    return allowed


def sharp_sum(sample: Sample, expression: Expr, power: Expr, weight: Any, factor: float, name: str) -> Sharp:
    """``factor`` sum_j j^-weight exp(-2 lambda_j time) is the expression, Gamma(power)/beta (2 time)^-power."""
    time = t if name == "t" else T2
    parameters = {"s": sample.s, "beta": sample.beta}
    remainder = _remainder(factor, weight, sample, expression, name)
    return sharp(expression, parameters, remainder, _wrong_constants(expression, time, power), scale=name)


def point_with_digits(sample: Sample) -> tuple[Any, Any]:
    """(s, beta) to more digits than the sums use: a fraction like 17/12 is no float."""
    return tuple(number(value, {}, DIGITS + 30) for value in (sample.s, sample.beta))
