r"""Constant gamma with proven error bounds: the secular equation in ball arithmetic.

With w_j = lambda_j^2 and r_j = 2 lambda_j the function h(p) = 1 - gamma sum_j w_j/(p + r_j) increases from -inf to +inf
between neighbouring poles, and to 1 beyond the last one, so it has exactly one zero in each interval: a change of
sign, decided in ball arithmetic, is a proof. The solution is the sum of the residues there and at p = 0, every
operation of which encloses its rounding. Equation and residues are those of the solvers with digits and in floats; only
how a zero is found differs. The closure "gaussian" only has other rates, 2 lambda_j - gamma lambda_j^2.
"""

from __future__ import annotations

from typing import Any

from fsl_num.volterra.enclosure.modes import BallModes
from fsl_num.volterra.secular import balance_at_pole, residue, zero_starts

LARGEST = 400
"""The most modes; the work grows with their square."""

_LOST = 30  # bits of a zero that its interval gives away


def _zero(flint: Any, gamma: Any, weights: list[Any], gaps: list[Any], k: int, start: float, bits: int) -> Any:
    """Return a ball around the zero's distance x > 0 from pole k, proven by a change of sign."""
    balance = balance_at_pole(gamma, weights, gaps, k)
    x = flint.arb(start)
    for _ in range(12):
        value, slope = balance(x)
        x = (x - value / slope).mid()
    width = x * flint.arb(2) ** -(bits - _LOST)
    low, high = x - width, x + width
    inside = low > 0 and (k == 0 or high < -gaps[k - 1])
    if not (inside and balance(low)[0] < 0 and balance(high)[0] > 0):
        raise ArithmeticError(f"the zero next to pole {k} was not enclosed at {bits} bits")
    return low.union(high)


def secular_values(flint: Any, modes: BallModes, gamma: Any, closure: str, times: list[Any]) -> list[Any]:
    """Return balls around f = 2E at ``times`` for a constant ``gamma`` > 0 (balls all) and modes of distinct rates.

    Raises ArithmeticError where a zero cannot be proven at the precision in use.
    """
    bits = flint.ctx.prec
    noisy = closure == "gaussian"
    triples = [
        (rate - gamma * weight / count if noisy else rate, weight, signal)
        for rate, weight, signal, count in zip(
            modes.rates, modes.weights, modes.signals, modes.multiplicities, strict=True
        )
    ]
    triples.sort(key=lambda triple: float(triple[0]))  # slowest first
    rates, weights, signals = (list(column) for column in zip(*triples, strict=True))
    if not (rates[0] > 0 and all(slow < fast for slow, fast in zip(rates[:-1], rates[1:], strict=True))):
        raise ArithmeticError(f"the rates of two modes could not be separated at {bits} bits; ask for more digits")
    starts = zero_starts(gamma, rates, weights)
    share = gamma * sum((w / r for w, r in zip(weights, rates, strict=True)), flint.arb(0))
    totals = [(modes.delta + share * modes.noise) / (1 - share) for _ in times]
    for k, start in enumerate(starts):
        gaps = [rate - rates[k] for rate in rates]
        x = _zero(flint, gamma, weights, gaps, k, start, bits)
        part, p = residue(gamma, rates, weights, signals, modes.delta + modes.noise, k, x), x - rates[k]
        totals = [total + part * (p * t).exp() for total, t in zip(totals, times, strict=True)]
    return totals
