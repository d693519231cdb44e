r"""Constant gamma with proven error bounds: the secular equation in ball arithmetic (python-flint, extra ``rigor``).

With w_j = lambda_j^2 and r_j = 2 lambda_j the function h(p) = 1 - gamma sum_j w_j/(p + r_j) increases from -inf to +inf
between neighbouring poles, and to 1 beyond the last one, so it has exactly one zero in each interval: a change of
sign, decided in ball arithmetic, is a proof. The solution is the sum of the residues there and at p = 0, every
operation of which encloses its rounding; delta_M is an enclosed Hurwitz zeta value.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fsl_num.exponential_sums_digits import private_context
from fsl_num.validation import whole_size
from fsl_num.volterra.problem import Problem

LARGEST = 400
_GUARD = 25


def _starts(gamma: float, eigenvalues: Any) -> list[float]:
    """Return the distances of the zeros from the pole left of each, in float64: bisection of all at once."""
    rates, weights = 2.0 * eigenvalues, eigenvalues**2
    gaps = rates[None, :] - rates[:, None]  # slowest mode first: negative to the left of the next pole
    high = np.append([gamma * weights.sum()], -gaps[np.arange(1, rates.size), np.arange(rates.size - 1)])
    low = np.zeros_like(high)
    own = np.eye(rates.size, dtype=bool)
    for _ in range(100):
        # bisection in the logarithm once both ends are known keeps the relative accuracy of tiny distances
        middle = np.where(low > 0.0, np.sqrt(low * high), high * 2.0**-40)
        middle = np.where((low == 0.0) & (high < 1e-280), 0.5 * high, middle)
        others = np.where(own, 0.0, weights[None, :] / np.where(own, 1.0, middle[:, None] + gaps)).sum(axis=1)
        below = middle * (1.0 - gamma * others) < gamma * weights
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return [float(x) for x in np.where(low > 0.0, 0.5 * (low + high), high)]


def _zero(flint: Any, gamma: Any, weights: list[Any], gaps: list[Any], k: int, start: float, bits: int) -> Any:
    """Return a ball around the zero's distance x > 0 from pole k, proven by a change of sign."""

    def balance(x: Any) -> tuple[Any, Any]:
        quotients = [w / (x + gap) for i, (w, gap) in enumerate(zip(weights, gaps, strict=True)) if i != k]
        squares = [q / (x + gap) for q, gap in zip(quotients, (g for i, g in enumerate(gaps) if i != k), strict=True)]
        rest = sum(quotients, flint.arb(0))
        return x * (1 - gamma * rest) - gamma * weights[k], 1 - gamma * rest + gamma * x * sum(squares, flint.arb(0))

    x = flint.arb(start)
    for _ in range(12):
        value, slope = balance(x)
        x = (x - value / slope).mid()
    width = x * flint.arb(2) ** -(bits - 30)
    low, high = x - width, x + width
    inside = low > 0 and (k == 0 or high < -gaps[k - 1])
    if not (inside and balance(low)[0] < 0 and balance(high)[0] > 0):
        raise ArithmeticError(f"the zero next to pole {k} was not enclosed at {bits} bits")
    return low.union(high)


def solve_enclosure(problem: Problem, times: list[Any], digits: int) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Return midpoints of f at ``times`` >= 0, radii that are PROVEN bounds of their errors, and facts about the run.

    Constant gamma > 0, model_size at most 400, power-law spectrum, closure "volterra"; ``digits`` from 15 on. Numbers
    given as floats stand for their binary values. Raises ValueError for other problems, ImportError without
    python-flint, ArithmeticError where a zero cannot be proven.

    >>> problem = Problem(s=0.5, beta=2.0, model_size=3, noise=1.0, gamma=0.3, horizon=10.0)
    >>> values, radii, facts = solve_enclosure(problem, [10.0], 30)
    >>> bool(radii[0] < 1e-29 * values[0])
    True
    """
    import flint

    if problem.closure != "volterra" or problem.spectrum is not None:
        raise ValueError("enclosures are for the closure 'volterra' and the power-law spectrum")
    if not problem.is_constant or not problem.peak_gamma > 0.0:
        raise ValueError("enclosures need a constant gamma > 0 (a number or a Constant schedule)")
    if problem.model_size > LARGEST:
        raise ValueError(f"enclosures need model_size <= {LARGEST}, got {problem.model_size!r}")
    problem.require_stable()
    digits = int(whole_size("digits", digits, infinite=False, least=15))
    size, mp = int(problem.model_size), private_context(digits + _GUARD)
    indices = range(size, 0, -1)
    with flint.ctx.workprec(mp.prec + 30):
        bits = mp.prec + 30

        def ball(name: str) -> Any:
            exact = problem.exact.get(name)
            if exact is not None:
                return flint.arb(flint.fmpq(exact.numerator, exact.denominator))
            return flint.arb(problem.peak_gamma if name == "gamma" else getattr(problem, name))

        s, beta, gamma, noise = (ball(name) for name in ("s", "beta", "gamma", "noise"))
        eigen = [flint.arb(j) ** -beta for j in indices]
        signals = [flint.arb(j) ** -(1 + s * beta) for j in indices]
        delta = flint.acb(1 + s * beta).zeta(flint.acb(size + 1)).real
        rates, weights = [2 * x for x in eigen], [x * x for x in eigen]
        starts = _starts(problem.peak_gamma, np.arange(size, 0, -1.0) ** -problem.beta)
        moments = []
        for t in times:
            number = mp.convert(t)
            if not (mp.isfinite(number) and number >= 0):
                raise ValueError(f"times must be finite and at least 0, got {t!r}")
            # a Fraction is enclosed itself, all other numbers are exact in binary
            exact = isinstance(t, Fraction)
            moments.append(flint.arb(flint.fmpq(t.numerator, t.denominator)) if exact else flint.arb(number))
        share = gamma * sum(eigen, flint.arb(0)) / 2
        totals = [(delta + share * noise) / (1 - share) for _ in moments]
        for k, start in enumerate(starts):
            gaps = [rate - rates[k] for rate in rates]
            x = _zero(flint, gamma, weights, gaps, k, start, bits)
            distances = [x if i == k else x + gap for i, gap in enumerate(gaps)]
            p = x - rates[k]
            top = sum((c / d for c, d in zip(signals, distances, strict=True)), (delta + noise) / p)
            slope = gamma * sum((w / d**2 for w, d in zip(weights, distances, strict=True)), flint.arb(0))
            totals = [total + top / slope * (p * t).exp() for total, t in zip(totals, moments, strict=True)]
        values, radii = [], []
        for total in totals:
            mantissa, exponent = total.mid().man_exp()
            values.append(mp.ldexp(mp.mpf(int(mantissa)), int(exponent)))
            # the midpoint is rounded to the digits of ``mp``: its rounding is added, and the bound rounded up
            bound = total.rad() + abs(flint.arb(values[-1]) - total.mid())
            mantissa, exponent = bound.upper().man_exp()
            radii.append(mp.ldexp(mp.mpf(int(mantissa)), int(exponent)) * (1 + 2 * mp.eps))
    return values, radii, {"modes": size, "proven": "bound"}
