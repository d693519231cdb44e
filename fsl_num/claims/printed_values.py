"""A bound that is printed as a number: sums over modes, integrals over intrinsic time.

What these come to is computed here from the expression alone, by another way than where claims are measured: the
sums from zeta functions term by term in time, the integrals by a Gauss rule.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from sympy import Expr, Integral, Mul, Pow, Sum, Symbol, exp
from sympy.core.function import AppliedUndef

TERMS: Final = np.arange(40)
"""Powers of x in a sum over exp(-x j^-fall), of the modes at which x j^-fall <= 2: those left out are below 1e-36."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
"""Exact up to degree 47: the integrands are entire, and at t <= 1 of no higher degree in double precision."""
DOUBLINGS: Final = 8
"""Panels of an integral without end, each twice as long as the one before it: up to 255 from its start."""
NOTHING: Final = 1e-12
"""Of an integral without end, what its last panel may add."""


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


def value_of(expression: Expr, letters: Mapping[Any, Any], rate: float) -> float:
    """The value of a symbolic expression in double precision.

    Parameters
    ----------
    expression
        Made of sums, products, powers, exponentials, ``Sum`` of powers and exponentials of an index, ``Integral`` and
        functions.
    letters
        Values of its letters, and functions for its undefined functions; an integral that ends is at most 1 long.
    rate
        The value of every undefined function that is none of the letters.

    Raises
    ------
    TypeError
        For anything else in the expression.
    ValueError
        Where an integral without end has not come to its value 255 after its start.

    Examples
    --------
    >>> from sympy import oo
    >>> from fsl_sym.spectrum import signal
    >>> from fsl_sym.symbols import beta, s, t
    >>> round(value_of(signal(t, oo), {s: 1.0, beta: 2.0, t: 0.0}, 0.1), 12)  # the zeta function of 3
    1.20205690316
    """
    if expression.is_number:
        return float(expression)
    if isinstance(expression, Symbol):
        return float(letters[expression])
    if isinstance(expression, AppliedUndef):
        arguments = (value_of(argument, letters, rate) for argument in expression.args)
        return float(letters[expression.func](*arguments)) if expression.func in letters else rate
    if isinstance(expression, Sum):
        return _sum(expression, letters, rate)
    if isinstance(expression, Integral):
        ((variable, start, end),) = expression.limits
        low, high = (value_of(end, letters, rate) for end in (start, end))
        edges = [low, high] if math.isfinite(high) else (low - 1.0 + 2.0 ** np.arange(DOUBLINGS + 1)).tolist()
        panels = [_panel(expression, variable, *ends, letters, rate) for ends in pairwise(edges)]
        if math.isinf(high) and abs(panels[-1]) > NOTHING * abs(math.fsum(panels)):
            raise ValueError(f"{expression} has not come to its value at {edges[-1]:g}")
        return math.fsum(panels)
    parts = [value_of(argument, letters, rate) for argument in expression.args]
    if expression.is_Add:
        return math.fsum(parts)
    if expression.is_Mul:
        return math.prod(parts)
    if isinstance(expression, exp):
        return math.exp(parts[0])
    if isinstance(expression, Pow):
        return float(parts[0] ** parts[1])
    raise TypeError(f"{expression.func.__name__} has no value here: only sums, products, powers, Sum and Integral have")


def _panel(
    integral: Integral, variable: Symbol, low: float, high: float, letters: Mapping[Any, Any], rate: float
) -> float:
    times = low + (high - low) * (NODES + 1.0) / 2.0
    values = [value_of(integral.function, {**letters, variable: float(time)}, rate) for time in times]
    return float((high - low) / 2.0 * (WEIGHTS @ values))


def _sum(expression: Sum, letters: Mapping[Any, Any], rate: float) -> float:
    """The sum of j^power exp(-x j^-fall), term by term in x: sum_k (-x)^k/k! (zeta(k fall - power, first) - ...).

    Modes with x j^-fall > 2, of which the series would lose digits, are added one by one.
    """
    from scipy.special import factorial, zeta

    ((index, first, last),) = expression.limits
    power, x, fall = 0.0, 0.0, 0.0
    for factor in Mul.make_args(expression.function):
        if isinstance(factor, exp):
            constant, mode = factor.args[0].as_independent(index)
            x, fall = -value_of(constant, letters, rate), -value_of(mode.as_base_exp()[1], letters, rate)
        else:
            power += value_of(factor.as_base_exp()[1], letters, rate)
    begin, end = value_of(first, letters, rate), value_of(last, letters, rate)
    middle = max(begin, min(math.ceil((x / 2.0) ** (1.0 / fall)) if x > 2.0 else begin, end + 1.0))
    alone = np.arange(begin, middle)
    falls = TERMS * fall - power
    sums = zeta(falls, middle) - (zeta(falls, end + 1.0) if math.isfinite(end) else 0.0)
    return float(alone**power @ np.exp(-x * alone**-fall) + ((-x) ** TERMS / factorial(TERMS)) @ sums)
