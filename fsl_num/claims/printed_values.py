"""A bound that is printed as a number: sums over modes, integrals over intrinsic time, at a constant rate.

What these come to is computed here from the expression alone, by another way than where claims are measured: the
sums from zeta functions term by term in time, the integrals by a Gauss rule.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from sympy import Expr, Integral, Mul, Pow, Sum, Symbol, exp, oo
from sympy.core.function import AppliedUndef

TERMS: Final = np.arange(40)
"""Powers of 2t in a sum: at t = 1 those left out are below 2^40/40! = 1e-36."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
"""Exact up to degree 47: the integrands are entire, and at t <= 1 of no higher degree in double precision."""


@dataclass(frozen=True)
class PrintedBound:
    """What is judged at a problem with a constant rate, intrinsic time at most 1.

    ``letters`` are s, beta, M, sigma, t and what else stands in the formula; ``rate`` is what its functions of time
    are; ``bounds`` what is judged to bound E in each of its inequalities, in their order, each good to ``rtol``.
    """

    letters: Mapping[Symbol, float]
    rate: float
    bounds: tuple[float, ...]
    rtol: float


def value_of(expression: Expr, letters: Mapping[Symbol, float], rate: float) -> float:
    """The value of a symbolic expression in double precision.

    Parameters
    ----------
    expression
        Made of sums, products, powers, ``Sum`` of powers and exponentials of an index, ``Integral`` and functions.
    letters
        Values of its letters; an intrinsic time is at most 1.
    rate
        The value of every undefined function.

    Raises
    ------
    TypeError
        For anything else in the expression.

    Examples
    --------
    >>> from fsl_sym.spectrum import signal
    >>> from fsl_sym.symbols import beta, s, t
    >>> round(value_of(signal(t, oo), {s: 1.0, beta: 2.0, t: 0.0}, 0.1), 12)  # the zeta function of 3
    1.20205690316
    """
    if expression.is_number:
        return float(expression)
    if isinstance(expression, Symbol):
        return letters[expression]
    if isinstance(expression, AppliedUndef):
        return rate
    if isinstance(expression, Sum):
        return _sum(expression, letters, rate)
    if isinstance(expression, Integral):
        ((variable, start, end),) = expression.limits
        low, high = (value_of(end, letters, rate) for end in (start, end))
        times = low + (high - low) * (NODES + 1.0) / 2.0
        values = [value_of(expression.function, {**letters, variable: float(time)}, rate) for time in times]
        return float((high - low) / 2.0 * (WEIGHTS @ values))
    parts = [value_of(argument, letters, rate) for argument in expression.args]
    if expression.is_Add:
        return math.fsum(parts)
    if expression.is_Mul:
        return math.prod(parts)
    if isinstance(expression, Pow):
        return float(parts[0] ** parts[1])
    raise TypeError(f"{expression.func.__name__} has no value here: only sums, products, powers, Sum and Integral have")


def _sum(expression: Sum, letters: Mapping[Symbol, float], rate: float) -> float:
    """The sum of j^power exp(-x j^-fall), term by term in x: sum_k (-x)^k/k! (zeta(k fall - power, first) - ...)."""
    from scipy.special import factorial, zeta

    ((index, first, last),) = expression.limits
    power, x, fall = 0.0, 0.0, 0.0
    for factor in Mul.make_args(expression.function):
        if isinstance(factor, exp):
            constant, mode = factor.args[0].as_independent(index)
            x, fall = -value_of(constant, letters, rate), -value_of(mode.as_base_exp()[1], letters, rate)
        else:
            power += value_of(factor.as_base_exp()[1], letters, rate)
    falls = TERMS * fall - power
    sums = zeta(falls, value_of(first, letters, rate))
    if last != oo:
        sums = sums - zeta(falls, value_of(last, letters, rate) + 1.0)
    return float(((-x) ** TERMS / factorial(TERMS)) @ sums)
