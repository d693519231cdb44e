r"""Gauss rules of a positive measure on [0, 1] in ball arithmetic, from enclosed moments.

A node is proven by a change of sign of the n-th polynomial: n disjoint intervals with one each hold all its zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.volterra.moment_recurrence import recurrence, value_and_slope, weight_of

_NEWTON = 10  # steps from float64 nodes: the digits double each time


@dataclass(frozen=True)
class GaussRule:
    """``nodes`` and ``weights`` as balls, and ``norm``, the integral of the squared monic polynomial of the nodes.

    For f with |f^(2n)| <= c the rule of n nodes misses the integral by at most c norm/(2n)!.
    """

    nodes: list[Any]
    weights: list[Any]
    norm: Any


def gauss_rule_of_moments(flint: Any, moments: list[Any]) -> GaussRule:
    """Return the rule of n nodes for the 2n + 1 ``moments`` of a measure on [0, 1] (balls), int x^i from i = 0.

    Raises ArithmeticError where the precision is too low to prove the nodes: the moments lose about 1.6 n digits.
    """
    size = len(moments) // 2
    a, b, norm = recurrence(moments)
    if not all(x > 0 for x in (*b, norm)):
        raise ArithmeticError(f"the moments are not known well enough for {size} nodes; more bits are needed")

    beside = [float(x) ** 0.5 for x in b[1:]]
    matrix = np.diag([float(x) for x in a]) + np.diag(beside, 1) + np.diag(beside, -1)
    nodes: list[Any] = []
    for start in np.linalg.eigvalsh(matrix):
        x = flint.arb(float(start))
        for _ in range(_NEWTON):
            value, slope = value_and_slope(a, b, x)
            step = value / slope
            x = (x - step).mid()
        width = (4 * abs(step) + flint.arb(2) ** -flint.ctx.prec).upper()
        low, high = x - width, x + width
        signs = value_and_slope(a, b, low)[0], value_and_slope(a, b, high)[0]
        if not ((signs[0] < 0 and signs[1] > 0) or (signs[0] > 0 and signs[1] < 0)):
            raise ArithmeticError(f"node {len(nodes)} of {size} was not proven; more bits are needed")
        nodes.append(low.union(high))
    if not (nodes[0] > 0 and all(x < y for x, y in zip(nodes[:-1], nodes[1:], strict=True))):
        raise ArithmeticError(f"the {size} nodes were not proven to be apart; more bits are needed")
    return GaussRule(nodes, [weight_of(a, b, x) for x in nodes], norm)
