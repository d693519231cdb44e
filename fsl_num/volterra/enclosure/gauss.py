r"""Gauss rules of a positive measure on [0, 1] in ball arithmetic, from enclosed moments.

The coefficients of the orthogonal polynomials follow from the moments by Chebyshev's algorithm. A node is proven by a
change of sign of the n-th polynomial: n disjoint intervals with one each hold all its zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_NEWTON = 10  # steps from float64 nodes: the digits double each time


@dataclass(frozen=True)
class GaussRule:
    """``nodes`` and ``weights`` as balls, and ``norm``, the integral of the squared monic polynomial of the nodes.

    For f with |f^(2n)| <= c the rule of n nodes misses the integral by at most c norm/(2n)!.
    """

    nodes: list[Any]
    weights: list[Any]
    norm: Any


def _recurrence(moments: list[Any]) -> tuple[list[Any], list[Any], Any]:
    """Return a_0 .. a_(n-1) and b_0 .. b_(n-1) of p_(k+1) = (x - a_k) p_k - b_k p_(k-1), and int p_n^2, b_0 = int 1."""
    size = len(moments) // 2
    before, now = [moments[0] * 0] * len(moments), list(moments)  # int p_(k-1) x^i and int p_k x^i
    a, b = [moments[1] / moments[0]], [moments[0]]
    for k in range(1, size + 1):
        later = list(now)
        for i in range(k, len(moments) - k):
            later[i] = now[i + 1] - a[-1] * now[i] - b[-1] * before[i]
        before, now = now, later
        if k < size:
            a.append(now[k + 1] / now[k] - before[k] / before[k - 1])
            b.append(now[k] / before[k - 1])
    return a, b, now[size]


def gauss_rule_of_moments(flint: Any, moments: list[Any]) -> GaussRule:
    """Return the rule of n nodes for the 2n + 1 ``moments`` of a measure on [0, 1] (balls), int x^i from i = 0.

    Raises ArithmeticError where the precision is too low to prove the nodes: the moments lose about 1.6 n digits.
    """
    size = len(moments) // 2
    a, b, norm = _recurrence(moments)
    if not all(x > 0 for x in (*b, norm)):
        raise ArithmeticError(f"the moments are not known well enough for {size} nodes; more bits are needed")

    def both(x: Any) -> tuple[Any, Any]:
        low, value, low_slope, slope = flint.arb(0), flint.arb(1), flint.arb(0), flint.arb(0)
        for k in range(size):
            new = (x - a[k]) * value - b[k] * low
            new_slope = value + (x - a[k]) * slope - b[k] * low_slope
            low, value, low_slope, slope = value, new, slope, new_slope
        return value, slope

    beside = [float(x) ** 0.5 for x in b[1:]]
    matrix = np.diag([float(x) for x in a]) + np.diag(beside, 1) + np.diag(beside, -1)
    nodes: list[Any] = []
    for start in np.linalg.eigvalsh(matrix):
        x = flint.arb(float(start))
        for _ in range(_NEWTON):
            value, slope = both(x)
            step = value / slope
            x = (x - step).mid()
        width = (4 * abs(step) + flint.arb(2) ** -flint.ctx.prec).upper()
        low, high = x - width, x + width
        signs = both(low)[0], both(high)[0]
        if not ((signs[0] < 0 and signs[1] > 0) or (signs[0] > 0 and signs[1] < 0)):
            raise ArithmeticError(f"node {len(nodes)} of {size} was not proven; more bits are needed")
        nodes.append(low.union(high))
    if not (nodes[0] > 0 and all(x < y for x, y in zip(nodes[:-1], nodes[1:], strict=True))):
        raise ArithmeticError(f"the {size} nodes were not proven to be apart; more bits are needed")
    weights = []
    for x in nodes:
        low, value, square, total = flint.arb(0), flint.arb(1), b[0], 1 / b[0]
        for k in range(size - 1):
            low, value = value, (x - a[k]) * value - (b[k] if k > 0 else 0) * low
            square = square * b[k + 1]
            total += value**2 / square
        weights.append(1 / total)
    return GaussRule(nodes, weights, norm)
