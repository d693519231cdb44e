r"""Sums of decaying exponentials over a power-law spectrum, at any number of digits.

The same sum and the same idea as :mod:`fsl_num.exponential_sums` (direct head, Euler-Maclaurin tail, the integral by a
power series where u = 2 x^-beta t <= 1 and by quadrature where u > 1), but every part is adapted to the digits asked
for and checked: the head grows until the Euler-Maclaurin terms fall below the tolerance, and the quadrature reports its
own error. The library's Hurwitz zeta is not used: ``mpmath.zeta(48, 143)`` at 30 digits is wrong by 1e-10.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import mpmath
from mpmath.calculus.quadrature import GaussLegendre

DIRECT = 100_000
_GUARD = 15


def private_context(digits: int) -> Any:
    """Return an mpmath context of its own, so that no global precision is read or changed.

    >>> private_context(40).dps
    40
    """
    context = mpmath.mp.clone()
    context.dps = digits
    return context


def _direct(mp: Any, power: Any, t: Any, beta: Any, indices: range) -> Any:
    if t == 0:
        return mp.fsum(mp.mpf(j) ** -power for j in indices)
    return mp.fsum(mp.mpf(j) ** -power * mp.exp(-2 * t * mp.mpf(j) ** -beta) for j in indices)


def _end_terms(mp: Any, power: Any, t: Any, beta: Any, x: Any, sign: int, tolerance: Any) -> Any | None:
    """Return g(x)/2 and the derivative terms of Euler-Maclaurin at x, or None where they do not reach tolerance."""
    u = 2 * t * x**-beta
    value = x**-power * mp.exp(-u)
    taylor, slope = [mp.mpf(1)], []
    total, binomial, previous = mp.mpf(1) / 2, mp.mpf(1), mp.inf
    for n in range(1, 400):
        binomial *= (-beta - (n - 1)) / n
        slope.append(-power * (-1) ** (n - 1) - u * binomial * n)
        taylor.append(mp.fsum(slope[i] * taylor[n - 1 - i] for i in range(n)) / n)
        if n % 2 == 0:
            continue
        term = mp.bernoulli(n + 1) / (n + 1) * taylor[n] * x**-n
        total += sign * term
        size = abs(value * term)
        if size <= tolerance and previous <= 1000 * tolerance:
            return value * total
        if n > 20 and size > previous * 100:
            return None
        previous = size
    return None


def _small_rates(mp: Any, power: Any, u: Any, beta: Any, x: Any, last: Any) -> Any:
    """Return int_x^last y^-power exp(-2 t y^-beta) dy for u = 2 t x^-beta <= 1 by the power series in u."""
    log_size = mp.inf if mp.isinf(last) else mp.log(last / x)
    total, factor, k = mp.mpf(0), mp.mpf(1), 0
    while abs(factor) > mp.eps:
        decay = power - 1 + k * beta
        total += factor * (1 if mp.isinf(log_size) else -mp.expm1(-decay * log_size)) / decay
        k += 1
        factor *= -u / k
    return total * x ** (1 - power)


@lru_cache(maxsize=64)
def _legendre_nodes(degree: int, precision: int) -> tuple[tuple[Any, Any], ...]:
    """Return the library's nodes and weights as plain numbers of no context, which any context and thread may read."""
    context = mpmath.mp.clone()
    context.prec = precision + 20
    return tuple((x._mpf_, weight._mpf_) for x, weight in GaussLegendre(context).calc_nodes(degree, precision))


class _GaussLegendre(GaussLegendre):  # type: ignore[misc]  # the library has no types
    """The library's rule; its nodes, which cost more than most integrals here, are found once for all contexts."""

    def calc_nodes(self, degree: int, prec: int, verbose: bool = False) -> list[tuple[Any, Any]]:
        """Return the nodes and weights on [-1, 1] as numbers of the context that asks."""
        make = self.ctx.make_mpf
        return [(make(x), make(weight)) for x, weight in _legendre_nodes(degree, prec)]


def _large_rates(mp: Any, power: Any, t: Any, beta: Any, low: Any, high: Any) -> Any:
    """Return int y^-power exp(-u) dy over low <= u <= high, u = 2 t y^-beta, by Gauss-Legendre in u - low, low >= 1."""
    shape = (power - 1) / beta
    breaks, width = [mp.mpf(0)], mp.mpf(1)
    while breaks[-1] < high - low:
        breaks.append(min(breaks[-1] + width, high - low))
        width = min(2 * width, breaks[-1] + 1)

    def integrand(v: Any) -> Any:
        return (1 + v / low) ** (shape - 1) * mp.exp(-v)

    # The library asks for an absolute error: for large powers the integral, not divided by its peak, is far above 1.
    peak = integrand(min(max(shape - 1 - low, mp.mpf(0)), breaks[-1]))
    total, error = mp.quad(lambda v: integrand(v) / peak, breaks, method=_GaussLegendre, error=True, maxdegree=9)
    if error > abs(total) * mp.mpf(10) ** (-mp.dps + _GUARD // 2):
        raise ArithmeticError(f"the quadrature reached only {mp.nstr(error / total, 3)} of {mp.dps} digits")
    return total * peak * low ** (shape - 1) * mp.exp(-low) * (2 * t) ** -shape / beta


def _smooth(mp: Any, power: Any, t: Any, beta: Any, start: int, last: Any, scale: Any) -> Any | None:
    """Return the Euler-Maclaurin sum over start..last, or None where a derivative series misses the tolerance."""
    x = mp.mpf(start)
    u_first = 2 * t * x**-beta
    u_last = mp.mpf(0) if mp.isinf(last) else 2 * t * last**-beta
    reach = max(u_last, 1) + mp.dps * 2.4 + 5 * (power - 1) / beta + 10
    integral = mp.mpf(0)
    if u_last < 1:
        knee = x if u_first <= 1 else (2 * t) ** (1 / beta)
        integral += _small_rates(mp, power, min(u_first, mp.mpf(1)), beta, knee, last)
    if u_first > 1:
        integral += _large_rates(mp, power, t, beta, max(u_last, mp.mpf(1)), min(u_first, reach))
    tolerance = mp.eps * 100 * max(abs(integral), scale)
    # The first term is left out only where it and its derivatives are below tolerance: exp(-u) u^(2k) at u = reach.
    ends = mp.mpf(0)
    if u_first < 3 * reach:
        lower = _end_terms(mp, power, t, beta, x, -1, tolerance)
        if lower is None:
            return None
        ends += lower
    if not mp.isinf(last):
        upper = _end_terms(mp, power, t, beta, last, 1, tolerance)
        if upper is None:
            return None
        ends += upper
    return integral + ends


def _from_the_end(mp: Any, power: Any, t: Any, beta: Any, first: int, last: int) -> Any:
    """Sum downwards from the last index until the terms are negligible: for t so large that the last terms rule."""
    total, j = mp.mpf(0), last
    while j >= first and last - j <= DIRECT:
        term = mp.mpf(j) ** -power * mp.exp(-2 * t * mp.mpf(j) ** -beta)
        total += term
        if term < total * mp.eps:
            return total
        j -= 1
    if j < first:
        return total
    raise ArithmeticError(f"the sum up to {last} at t = {mp.nstr(t, 5)} needs more than {DIRECT} terms directly")


def exponential_sum_digits(power: Any, t: Any, beta: Any, last: float, first: int, digits: int) -> Any:
    """Return S(t) to ``digits`` digits as an mpf of its own context (see :mod:`fsl_num.spectrum` for arguments)."""
    mp = private_context(digits + _GUARD)
    # The slowest term decays as exp(-u): u must be known to an absolute 10^-digits, so its own digits come on top.
    infinite = last == float("inf")
    u_last = mp.mpf(0) if infinite else 2 * mp.mpf(t) * mp.mpf(int(last)) ** -mp.mpf(beta)
    if u_last > 1:
        mp = private_context(digits + _GUARD + int(mp.log10(u_last)) + 1)
    power, t, beta = mp.mpf(power), mp.mpf(t), mp.mpf(beta)
    out = private_context(digits)
    if last < first:
        return out.mpf(0)
    if not infinite and last - first <= 50 * digits:
        return out.mpf(_direct(mp, power, t, beta, range(first, int(last) + 1)))
    if not infinite and beta * u_last * 1000 > last * mp.dps:  # neighbouring terms differ by e^-(beta u/last)
        return out.mpf(_from_the_end(mp, power, t, beta, first, int(last)))
    head, start = mp.mpf(0), first
    size = max(first, 2 * digits + 20)
    while size - first <= DIRECT and (infinite or size < last / 2):
        head += _direct(mp, power, t, beta, range(start, size))
        start = size
        tail = _smooth(mp, power, t, beta, start, mp.inf if infinite else mp.mpf(int(last)), head)
        if tail is not None:
            return out.mpf(head + tail)
        size *= 2
    if infinite:
        raise ArithmeticError(f"Euler-Maclaurin did not reach {digits} digits at t = {mp.nstr(t, 5)}")
    return out.mpf(_from_the_end(mp, power, t, beta, first, int(last)))
