r"""Gauss rules from moments, in numbers of any kind: mpmath's, or the balls of Arb.

The monic orthogonal polynomials follow p_(k+1) = (x - a_k) p_k - b_k p_(k-1), b_0 = int 1, whose coefficients are found
by Chebyshev's algorithm. Who calls proves, or refines, the zeros of p_n.
"""

from __future__ import annotations

from typing import Any


def recurrence(moments: list[Any]) -> tuple[list[Any], list[Any], Any]:
    """Return a_0 .. a_(n-1), b_0 .. b_(n-1), and int p_n^2, for which 2n + 1 moments int x^i are needed and not 2n.

    Raises ArithmeticError where a square is not known to be positive.

    >>> recurrence([1.0, 0.5, 0.25 + 1 / 12])
    ([0.5], [1.0], 0.08333333333333331)
    """
    size = len(moments) // 2
    before, now = [moments[0] * 0] * len(moments), list(moments)  # int p_(k-1) x^i and int p_k x^i
    a, b = [moments[1] / moments[0]], [moments[0]]
    for k in range(1, size + 1):
        later = list(now)
        for i in range(k, len(moments) - k):
            later[i] = now[i + 1] - a[-1] * now[i] - b[-1] * before[i]
        before, now = now, later
        if k < size:
            if not now[k] > 0:
                raise ArithmeticError(f"the moments are not known well enough for {size} nodes; more bits are needed")
            a.append(now[k + 1] / now[k] - before[k] / before[k - 1])
            b.append(now[k] / before[k - 1])
    return a, b, now[size]


def value_and_slope(a: list[Any], b: list[Any], x: Any) -> tuple[Any, Any]:
    """Return p_n(x) and its derivative.

    >>> value_and_slope([0.5], [1.0], 0.75)
    (0.25, 1.0)
    """
    low, value, low_slope, slope = 0, 1, 0, 0
    for centre, share in zip(a, b, strict=True):
        gap = x - centre
        low, value, low_slope, slope = (
            value, gap * value - share * low, slope, value + gap * slope - share * low_slope
        )  # fmt: skip
    return value, slope


def weight_of(a: list[Any], b: list[Any], node: Any) -> Any:
    """Return the weight of a zero of p_n: one over the sum of the squares there of the normalised polynomials below it.

    >>> weight_of([0.5], [1.0], 0.5)
    1.0
    """
    low, value, square, total = 0, 1, b[0], 1 / b[0]
    for k in range(len(a) - 1):
        low, value = value, (node - a[k]) * value - b[k] * low
        square = square * b[k + 1]
        total += value**2 / square
    return 1 / total
