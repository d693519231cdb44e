r"""Sums of decaying exponentials over a power-law spectrum, in float64.

The one object is

    S(t) = sum_{j=start}^{M} j^-power exp(-2 j^-beta t),

from which the signal e_M, the forgetting kernel K_M, the approximation error (t = 0) and the trace all come. M may be
infinite or as large as 1e300. Nothing is ever subtracted: the head is summed directly, and the tail beyond an index
``J`` is, by the Euler-Maclaurin formula, the integral of the smooth summand plus derivatives at the two ends.

The integral is computed in two pieces. Where u = 2 x^-beta t is at most 1 the exponential is expanded in powers of u
and every power integrated exactly; where u exceeds 1 Gauss-Legendre nodes in log u are used. All is vectorised over t.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from fsl_num.validation import Array

HEAD = 100
"""Number of terms summed directly before Euler-Maclaurin starts; its relative error there is below 1e-15 (tests)."""

DIRECT = 20_000
"""A finite sum of at most this many terms is summed directly where its last terms vary too fast for Euler-Maclaurin."""

_ORDER = 10
_SERIES = 20
_CHUNK = 4_000_000
_NEGLIGIBLE = 46.0  # exp(-46) = 1e-20


@lru_cache(maxsize=1)
def _bernoulli_weights() -> tuple[float, ...]:
    """Return B_2k/(2k)! * (2k-1)! = B_2k/(2k), the weight of the Taylor coefficient 2k-1, for k = 1.._ORDER."""
    from scipy.special import bernoulli

    numbers = bernoulli(2 * _ORDER)
    return tuple(float(numbers[2 * k]) / (2 * k) for k in range(1, _ORDER + 1))


@lru_cache(maxsize=1)
def _factorials() -> Array:
    return np.cumprod(np.maximum(np.arange(float(_SERIES)), 1.0))


@lru_cache(maxsize=1)
def _legendre() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(40)
    return nodes, weights


def _direct(power: float, t: Array, beta: float, first: float, last: float) -> Array:
    """Sum the terms first..last directly, the slowest decay taken out so that only the result can underflow."""
    ratio = np.arange(int(last - first) + 1, dtype=np.float64) / first + 1.0
    rates, weights = 2.0 * (first * ratio) ** -beta, ratio**-power
    scaled = np.empty_like(t)
    step = max(1, _CHUNK // ratio.size)
    for low in range(0, t.size, step):
        scaled[low : low + step] = np.exp(-np.outer(t[low : low + step], rates - rates[-1])) @ weights
    return np.asarray(np.exp(np.log(scaled) - power * math.log(first) - rates[-1] * t), dtype=np.float64)


@lru_cache(maxsize=256)
def _taylor(power: float, beta: float) -> tuple[Array, ...]:
    """The Taylor coefficients at z = 0 of g(x (1 + z))/g(x), as polynomials in u: see :func:`_end_polynomial`."""
    size = 2 * _ORDER
    # slope[n]: the n-th Taylor coefficient of the derivative of that logarithm, taylor[n]: that of g; constant first
    slope, binomial = [], 1.0
    for n in range(size):
        binomial *= (-beta - n) / (n + 1)
        slope.append(np.array([-power * (-1.0) ** n, -binomial * (n + 1)]))
    taylor: list[Array] = [np.ones(1)]
    for n in range(1, size):
        products = [np.convolve(slope[i], np.append(taylor[n - 1 - i], np.zeros(i))) for i in range(n)]
        taylor.append(np.sum(products, axis=0) / n)
    return tuple(taylor)


@lru_cache(maxsize=1024)
def _end_polynomial(power: float, beta: float, x: float, sign: float) -> Array:
    """The coefficients, by powers of u, of what Euler-Maclaurin adds at the end x, divided by the summand g(x) there.

    That is 1/2 and the derivatives at z = 0 of g(x (1 + z)), whose logarithm is -power log(1 + z) - u ((1 + z)^-beta
    - 1), u = 2 t x^-beta: polynomials in u, each coefficient a sum of terms of one sign. ``sign``: +1 at the upper end.
    """
    taylor = _taylor(power, beta)
    total = np.zeros(2 * _ORDER)
    total[0] = 0.5
    for k, weight in enumerate(_bernoulli_weights(), start=1):
        total[: 2 * k] += sign * weight * x ** (1.0 - 2 * k) * taylor[2 * k - 1]
    return total


def _end_terms(power: float, u: Array, beta: float, x: float, sign: float) -> Array:
    """Return what Euler-Maclaurin adds at x, divided by g(x): see :func:`_end_polynomial`."""
    return np.asarray(_end_polynomial(power, beta, x, sign) @ _powers(u, 2 * _ORDER))


def _powers(u: Array, count: int) -> Array:
    """1, u, u^2, ..., a row each."""
    rows, known = np.ones((count, u.size)), 1
    while known < count:  # the powers known times u^known are as many more
        rows[known : 2 * known] = rows[: min(known, count - known)] * u
        known, u = 2 * known, u * u
    return rows


def _small_rate_integral(power: float, u: Array, log_x: Array, beta: float, ratio: Array) -> Array:
    """Return int_x^{x e^ratio} y^-power exp(-2 t y^-beta) dy for u = 2 t x^-beta <= 1, by the power series in u."""
    rates = power - 1.0 + np.arange(_SERIES) * beta
    terms = _powers(-u, _SERIES) * np.expm1(np.multiply.outer(-rates, ratio))
    return np.asarray((-1.0 / (rates * _factorials())) @ terms * np.exp((1.0 - power) * log_x))


def _large_rate_integral(power: float, low: Array, high: Array, u_first: Array, beta: float) -> Array:
    """Return e^low int y^-power exp(-u) dy over the y with low <= u <= high, u = u_first y^-beta, by nodes in log u."""
    nodes, weights = _legendre()
    shape = (power - 1.0) / beta
    ends, places = np.unique(low + 1j * high, return_inverse=True)  # late times have the same ends
    start, stop = ends.real, ends.imag
    middle = np.minimum(start + 6.0 + shape, stop)
    total = np.zeros_like(low)
    for left, right in ((start, middle), (middle, stop)):
        # log(right/left) without the cancellation that two logarithms of close numbers would bring
        half = 0.5 * np.log1p((right - left) / left)
        w = half[:, None] * (1.0 + nodes)
        excess = left[:, None] * np.expm1(w) + (left - start)[:, None]
        inside = half * (np.exp(shape * w - excess) @ weights)
        total += inside[places] * np.exp(shape * np.log(left[places] / u_first))
    return total / beta


def _smooth(power: float, t: Array, beta: float, first: float, last: float) -> Array:
    """Return the Euler-Maclaurin sum over first..last; everything inside is in units of first^(1-power)."""
    u_first = 2.0 * t * first**-beta
    u_last = 2.0 * t * last**-beta if math.isfinite(last) else np.zeros_like(t)
    scaled = np.zeros_like(t)
    # Beyond this the first term is negligible beside the last one, and its derivatives would only overflow.
    near = u_first - u_last < 700.0
    scaled[near] = np.exp(u_last[near] - u_first[near]) / first * _end_terms(power, u_first[near], beta, first, -1.0)
    log_size = math.inf
    if math.isfinite(last):
        log_size = math.log1p((last - first) / first)
        scaled += math.exp(-power * log_size) / first * _end_terms(power, u_last, beta, last, 1.0)
    gentle = u_last < 1.0
    if gentle.any():
        log_x = np.log(np.maximum(u_first[gentle], 1.0)) / beta
        ratio = np.maximum(log_size - log_x, 0.0)
        part = _small_rate_integral(power, np.minimum(u_first[gentle], 1.0), log_x, beta, ratio)
        scaled[gentle] += part * np.exp(u_last[gentle])
    steep = u_first > 1.0
    if steep.any():
        low = np.maximum(u_last[steep], 1.0)
        high = np.minimum(u_first[steep], low + _NEGLIGIBLE + 4.0 * (power - 1.0) / beta)
        scaled[steep] += _large_rate_integral(power, low, high, u_first[steep], beta) * np.exp(u_last[steep] - low)
    with np.errstate(divide="ignore"):  # a sum below the smallest float is 0, and its logarithm -inf
        logarithm = np.log(scaled)
    return np.asarray(np.exp(logarithm + (1.0 - power) * math.log(first) - u_last), dtype=np.float64)


def _felt(power: float, t: Array, beta: float, end: float, last: float) -> Array:
    """Where the terms up to ``end`` are more than exp(-46) of the whole, which is at least one of its later terms.

    That term is the one with 2 j^-beta t = 1, or the last one.
    """
    leading = np.log(np.maximum(2.0 * t, 1.0)) / beta
    if math.isfinite(last):
        leading = np.minimum(leading, math.log(last))
    left = np.maximum(2.0 * t * np.exp(-beta * leading), 1.0)
    return np.asarray(2.0 * t * end**-beta - left < _NEGLIGIBLE + math.log(end) + power * leading)


_STEEP = 100.0


def exponential_sum_float(power: float, t: Array, beta: float, last: float, first: float) -> Array:
    """Return S(t) for a one-dimensional array of times; arguments are taken as checked (see :mod:`fsl_num.spectrum`).

    Relative error about 1e-14, plus u times 2e-16 where the slowest term decays like exp(-u) (rounding of the rate).
    """
    if last < first:
        return np.zeros_like(t)
    if power > _STEEP:  # no Euler-Maclaurin sum is near, and the terms that do not underflow are few
        index = np.arange(first, min(last, math.ceil(10.0 ** (324.0 / power))) + 1.0)
        return np.asarray(np.exp(-power * np.log(index) - 2.0 * np.multiply.outer(t, index**-beta)).sum(axis=-1))
    u_last = 2.0 * t * last**-beta if math.isfinite(last) else np.zeros_like(t)
    if last - first < 2 * HEAD:
        fast = np.ones(t.shape, dtype=bool)
    else:
        fast = (u_last > 0.5 * _NEGLIGIBLE) & (last - first <= DIRECT)
    # A sum whose slowest term is exp(-800) times a power lies below the smallest float: it stays 0.
    alive = u_last < 800.0
    result = np.zeros_like(t)
    if (direct := fast & alive).any():
        result[direct] = _direct(power, t[direct], beta, first, last)
    if (calm := ~fast & alive).any():
        start = max(first, float(HEAD))
        total = _smooth(power, t[calm], beta, start, last)
        if start > first and (felt := _felt(power, t[calm], beta, start - 1.0, last)).any():
            total[felt] += _direct(power, t[calm][felt], beta, first, start - 1.0)
        result[calm] = total
    return result
