r"""Gauss rules of sums of powers to many digits, from moments that are tails of zeta functions.

The tails are summed here (first terms as they stand, the rest by Euler and Maclaurin): ``mpmath.zeta(48, 143)`` at 30
digits is wrong by 1e-10. Chebyshev's algorithm, by which the rule follows, loses many digits: how well the rule
returns the moments it came from is measured.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fsl_num.volterra.moment_recurrence import recurrence, value_and_slope, weight_of

_NEWTON = 60


def zeta_tails(mp: Any, q: Any, beta: Any, first: int, count: int) -> list[Any]:
    """Return sum_{j >= first} (first/j)^(q + i beta) for i = 0 .. count - 1, q > 1, to nearly all digits of ``mp``.

    >>> from fsl_num.exponential_sums_digits import private_context
    >>> float(zeta_tails(private_context(30), 2, 2, 1, 2)[1])  # pi^4/90
    1.0823232337111381
    """
    bits = mp.prec + 20
    scale = 1 << bits
    digits = mp.dps

    def starts(power: Any) -> int:
        # the end terms fall like ((power + 2 k)/(2 pi N))^2 each; terms below rounding are not needed at all
        euler = digits + math.ceil(power) + 10
        direct = int(first * mp.mpf(2) ** min(bits / power, 200)) + 2
        return int(max(first, min(euler, direct)))

    powers = [q + i * beta for i in range(count)]
    ends = [starts(power) for power in powers]
    logs = [mp.log(mp.mpf(first) / j) for j in range(first, max(ends))]
    # fixed point: all terms are at most 1 and the sums at least 1
    terms = [int(mp.ldexp(mp.exp(q * x), bits)) for x in logs]
    factors = [int(mp.ldexp(mp.exp(beta * x), bits)) for x in logs]
    bernoulli: list[Any] = []
    sums = []
    for i, (power, end) in enumerate(zip(powers, ends, strict=True)):
        if i:
            terms = [x * y >> bits for x, y in zip(terms, factors, strict=True)]
        total = mp.mpf(sum(terms[: end - first])) / scale
        x = mp.mpf(end)
        lead = (x / first) ** -power
        correction = x / (power - 1) + mp.mpf(1) / 2
        rising, k = power / x, 1
        while True:
            if len(bernoulli) < k:
                bernoulli.append(mp.bernoulli(2 * k) / mp.factorial(2 * k))
            term = bernoulli[k - 1] * rising
            correction += term
            if abs(term * lead) <= mp.eps or k > 4 * digits + 50:
                break
            rising *= (power + 2 * k - 1) * (power + 2 * k) / x**2
            k += 1
        if abs(term * lead) > mp.eps:
            raise ArithmeticError(f"Euler-Maclaurin did not reach {digits} digits from {end} on")
        sums.append(total + lead * correction)
    return sums


def power_moments(mp: Any, q: Any, beta: Any, first: int, after: float, count: int) -> list[Any]:
    """Return sum_{first <= j < after} (first/j)^(q + i beta), moments of x = (first/j)^beta; ``after`` may be inf."""
    moments = zeta_tails(mp, q, beta, first, count)
    if math.isinf(after):
        return moments
    tails = zeta_tails(mp, q, beta, int(after), count)
    ratio = mp.mpf(first) / int(after)
    lead, factor = ratio**q, ratio**beta
    for i, tail in enumerate(tails):
        moments[i] -= lead * tail
        lead *= factor
    return moments


def _starts(a: list[Any], b: list[Any]) -> list[Any]:
    """Return the eigenvalues of the Jacobi matrix in floats, the small ones as exact as the large: squares of the
    singular values of its bidiagonal factor (the measure lives on x > 0)."""
    q, matrix = a[0], np.zeros((len(a), len(a)))
    for k in range(len(a)):
        if not q > 0:
            raise ArithmeticError(f"the moments are not known well enough for {len(a)} nodes")
        matrix[k, k] = math.sqrt(q)
        if k + 1 < len(a):
            off = b[k + 1] / q
            matrix[k, k + 1] = math.sqrt(off)
            q = a[k + 1] - off
    return sorted(float(x) ** 2 for x in np.linalg.svd(matrix, compute_uv=False))


def _node(mp: Any, a: list[Any], b: list[Any], start: float, bits: int) -> Any:
    """Return the zero near ``start`` of the polynomial of the recurrence: Newton's steps, each with twice the bits."""
    x, moved, level = mp.mpf(start), mp.inf, min(128, bits)
    for _ in range(_NEWTON):
        with mp.workprec(level):
            value, slope = value_and_slope(a, b, x)
            step = value / slope
            x -= step
            # the next step is about the square of this one; where steps do not fall any more, rounding is reached
            settled = abs(step) <= abs(x) * mp.mpf(2) ** (-level // 2) or abs(step) >= moved < abs(x) * mp.mpf(2) ** -30
            moved = abs(step)
        if settled:
            if level == bits:
                return x
            level, moved = min(2 * level, bits), mp.inf
    raise ArithmeticError(f"Newton's iteration for the node near {start:.5g} did not converge")


def positive_rule(mp: Any, moments: list[Any], digits: int) -> tuple[list[Any], list[Any], Any]:
    """Return nodes in (0, 1], positive weights, and the largest error of a moment, of the Gauss rule of 2n moments.

    ``digits``: those that the rule shall have, fewer than those of ``mp``, in which the moments are.

    Raises ArithmeticError where the digits of ``mp`` are too few for it.

    >>> from fsl_num.exponential_sums_digits import private_context
    >>> mp = private_context(30)
    >>> nodes, weights, defect = positive_rule(mp, [1 / mp.mpf(k + 1) for k in range(4)], 25)  # of Legendre
    >>> [round(float(x), 9) for x in nodes], bool(defect < 1e-24)
    ([0.211324865, 0.788675135], True)
    """
    a, b, _ = recurrence(moments)
    size, starts = len(a), _starts(a, b)
    bits = math.ceil((digits + 5) / math.log10(2.0))
    with mp.workprec(bits):
        a, b = [+x for x in a], [+x for x in b]
    nodes = [_node(mp, a, b, start, bits) for start in starts]
    if not (0 < nodes[0] and nodes[-1] <= 1 and all(x < y for x, y in zip(nodes[:-1], nodes[1:], strict=True))):
        raise ArithmeticError(f"the {size} nodes were not separated")
    with mp.workprec(bits):
        weights = [weight_of(a, b, x) for x in nodes]
        powers, defect = list(weights), mp.zero
        for moment in moments:
            defect = max(defect, abs(mp.fsum(powers) - moment))
            powers = [w * x for w, x in zip(powers, nodes, strict=True)]
    return nodes, weights, defect
