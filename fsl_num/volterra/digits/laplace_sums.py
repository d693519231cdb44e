r"""The two sums of the transfer function over a power-law spectrum, at complex p, to any number of digits.

    Khat(p) = sum_j lambda_j^2/(p + r_j),        E(p) = sum_j lambda_j theta_j^2/(p + r_j),

with r_j = 2 lambda_j for the equation of the paper and r_j = 2 lambda_j - gamma lambda_j^2 for the Gaussian closure
with constant gamma. Beyond an index they are Euler-Maclaurin sums of j^-q/(p + 2 j^-beta). Their integral is a
hypergeometric function, and each pole x of the summand in the right half plane adds its residue: without it p close to
the negative axis would be wrong. The Gaussian closure has two such poles in lambda where the other has one:

    1/(p + 2 lambda - gamma lambda^2) = (1/D) [1/(p_1 + 2 lambda) - 1/(p_2 + 2 lambda)],   D = sqrt(1 + gamma p),
    p_1 = 2 p/(1 + D),    p_2 = -2 (1 + D)/gamma.
"""

from __future__ import annotations

import math
from typing import Any

from fsl_num.volterra.problem import Problem

DIRECT = 300
"""Models up to this size are summed directly."""

_FIRST = 3  # the Euler-Maclaurin sums start at this many times the digits: more terms of the head, fewer derivatives
_MOST = 100  # and at most at this many times


class Series:
    """Numbers that the derivatives at all p share, computed when first needed."""

    def __init__(self, mp: Any, beta: Any, powers: tuple[Any, ...]) -> None:
        self.mp, self.beta, self.powers = mp, beta, powers
        self.rates: list[Any] = [mp.mpf(1)]  # binomials of (1 + z)^-beta
        self.tops: list[list[Any]] = [[mp.mpf(1)] for _ in powers]  # and of (1 + z)^-q
        self.bernoulli: list[Any] = [mp.mpf(0)]  # B_2k/(2k)

    def grow(self, n: int) -> None:
        """Have all of them up to order ``n``."""
        mp = self.mp
        for row, power in zip((self.rates, *self.tops), (self.beta, *self.powers), strict=True):
            for k in range(len(row), n + 1):
                row.append(row[-1] * (1 - power - k) / k)
        for k in range(len(self.bernoulli), n // 2 + 2):
            self.bernoulli.append(mp.bernoulli(2 * k) / (2 * k))


def _end_terms(series: Series, p: Any, x: Any) -> list[Any] | None:
    """Return g(x)/2 less the derivative terms, g = x^-q/(p + 2 x^-beta), for each power q; None if one diverges."""
    # g(x(1+z)) = x^-q (1+z)^-q R(z) with R = 1/(p + 2 x^-beta (1+z)^-beta), one power series in z for all q
    mp = series.mp
    rate = 2 * x**-series.beta
    inverse = [1 / (p + rate)]
    lead, tolerance = -rate * inverse[0], mp.eps * abs(inverse[0])
    totals = [inverse[0] / 2 for _ in series.powers]
    before, done = [mp.inf] * len(totals), [False] * len(totals)
    for n in range(1, 40 + 4 * mp.dps):
        series.grow(n)
        inverse.append(lead * mp.fdot(series.rates[1 : n + 1], reversed(inverse)))
        if n % 2 == 0:
            continue
        factor = series.bernoulli[(n + 1) // 2] * x**-n
        for i, tops in enumerate(series.tops):
            if done[i]:
                continue
            term = factor * mp.fdot(tops[: n + 1], reversed(inverse))
            totals[i] -= term
            size = abs(term)
            done[i] = size <= tolerance and before[i] <= 1000 * tolerance
            if n > 20 and size > 100 * before[i]:
                return None
            before[i] = size
        if all(done):
            return [total * x**-q for total, q in zip(totals, series.powers, strict=True)]
    return None


def residues(mp: Any, q: Any, beta: Any, p: Any, first: Any) -> Any:
    """Return what the poles x^beta = -2/p with Re x > first add to integral and end terms."""
    total = mp.mpc(0)
    modulus, angle = (2 / abs(p)) ** (1 / beta), mp.arg(-2 / p)
    for turn in range(-int(beta) - 2, int(beta) + 3):
        argument = (angle + 2 * turn * mp.pi) / beta
        if abs(argument) >= mp.pi / 2:
            continue
        x = modulus * mp.expj(argument)
        if x.real <= first or 2 * mp.pi * abs(x.imag) > 2.5 * mp.dps + 20:
            continue
        sign = 1 if x.imag > 0 else -1
        total += sign * 2j * mp.pi * x ** (1 - q) / (p * beta) / mp.expm1(-2j * sign * mp.pi * x)
    return total


def tails(series: Series, p: Any, first: int) -> list[Any] | None:
    """Return sum_{j >= first} j^-q/(p + 2 j^-beta) for each power q, or None where ``first`` is too small."""
    mp, beta = series.mp, series.beta
    x = mp.mpf(first)
    ends = _end_terms(series, p, x)
    if ends is None:
        return None
    sums = []
    for q, end in zip(series.powers, ends, strict=True):
        shape = (q - 1) / beta
        integral = x ** (1 - q) / (q - 1) / p * mp.hyp2f1(1, shape, shape + 1, -2 * x**-beta / p)
        sums.append(integral + end + residues(mp, q, beta, p, x))
    return sums


class TransferSums:
    """Khat and E of one problem at the precision of one context; ``gamma`` is its constant gamma.

    >>> from fsl_num.model import Model
    >>> from fsl_num.exponential_sums_digits import private_context
    >>> mp = private_context(20)
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=1, noise=1.0), gamma=0.5, horizon=9.0, closure="gaussian")
    >>> kernel, signal = TransferSums(mp, problem, mp.mpf("0.5")).at(mp.mpc(1))
    >>> float(kernel.real), float(signal.real)
    (0.4, 0.4)
    """

    def __init__(self, mp: Any, problem: Problem, gamma: Any) -> None:
        self._mp = mp
        self._own = gamma if problem.closure == "gaussian" else mp.mpf(0)
        self._size = problem.model.size
        self._listed = problem.model.spectrum is not None
        self._rates: list[Any] = []
        self._weights: tuple[list[Any], list[Any]] = ([], [])
        if problem.model.spectrum is not None:
            eigen = [mp.mpf(x) for x in problem.model.spectrum.rates]
            self._rates = [x * (2 - self._own * x) for x in eigen]
            self._weights = ([x**2 for x in eigen], [mp.mpf(x) for x in problem.model.spectrum.weights_signal])
            return
        self._beta = problem.number("beta", mp)
        self._powers = (2 * self._beta, 1 + problem.number("s", mp) * self._beta)
        self._series = Series(mp, self._beta, self._powers)

    def _head(self, p: Any, first: int, after: int) -> list[Any]:
        mp = self._mp
        for j in range(len(self._rates) + 1, after):
            log = mp.log(j)
            eigen = mp.exp(-self._beta * log)
            self._rates.append(eigen * (2 - self._own * eigen))
            for row, q in zip(self._weights, self._powers, strict=True):
                row.append(mp.exp(-q * log))
        inverse = [1 / (p + rate) for rate in self._rates[first - 1 : after - 1]]
        return [mp.fdot(row[first - 1 : after - 1], inverse) for row in self._weights]

    def _tails(self, p: Any, first: int) -> list[Any] | None:
        if not self._own:
            return tails(self._series, p, first)
        root = self._mp.sqrt(1 + self._own * p)
        near, far = (tails(self._series, z, first) for z in (2 * p / (1 + root), -2 * (1 + root) / self._own))
        return None if near is None or far is None else [(a - b) / root for a, b in zip(near, far, strict=True)]

    def at(self, p: Any) -> tuple[Any, Any]:
        """Return Khat(p) and E(p). Raises ArithmeticError where they do not reach the digits of the context."""
        mp = self._mp
        if self._listed or self._size <= DIRECT:
            first, second = self._head(p, 1, int(self._size) + 1)
            return first, second
        totals, start, after = [mp.mpc(0), mp.mpc(0)], 1, _FIRST * mp.dps
        while after <= _MOST * mp.dps:
            if after > self._size:
                first, second = self._head(p, 1, int(self._size) + 1)
                return first, second
            totals = [a + b for a, b in zip(totals, self._head(p, start, after), strict=True)]
            start = after
            tails = self._tails(p, start)
            if tails is not None:
                beyond = [mp.mpc(0), mp.mpc(0)] if math.isinf(self._size) else self._tails(p, int(self._size) + 1)
                if beyond is None:
                    break
                first, second = (a + b - c for a, b, c in zip(totals, tails, beyond, strict=True))
                return first, second
            after *= 2
        raise ArithmeticError(f"the sums over the spectrum did not reach {mp.dps} digits at p = {mp.nstr(p, 5)}")
