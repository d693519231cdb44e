r"""A proof, for every time in a range, of how far a short sum of exponentials is from a power-law sum.

The true sum S(t) = sum_{j<=M} j^-p exp(-2 lambda_j t), lambda_j = j^-beta, is first written as C(t): indices one by
one, Gauss rules for blocks of indices, and moments for the indices with 2 lambda_j T <= 1, each with a proven remainder
(:func:`fsl_num.gauss_rules.block_remainders`; the classical one of Euler-Maclaurin for sums of j^-q; Taylor's for the
exponential). Then a given short sum A(t) = sum w_k exp(-2 mu_k t), w_k >= 0, is compared with it for all t at once:

1. With the least rate taken out of both, |A - S| at a complex time z is at most (A + S)(Re z): sums of positive terms.
2. On a panel of y = log t (of t itself next to t = 0) the difference, times exp(sigma y) to make S nearly constant, is
   analytic in an ellipse of y where Re exp(y) > 0. So its interpolant in n Chebyshev points is off by at most
   4 rho^(1-n)/(rho - 1) times the largest value on the ellipse, which 1 bounds.
3. The interpolant is a polynomial of degree d = n - 1, so between m Chebyshev points it exceeds their largest value
   by at most a factor 1/cos(pi d/(2m)).

What remains are roundings of float64, which are not proved but stated in :meth:`PowerLawSums.rounding`.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache

import numpy as np

from fsl_num.gauss_rules import block_remainders, block_rules
from fsl_num.validation import Array

SMALLEST = 1e-300
"""Relative accuracy is promised only while a sum is at least this large."""

UNIT = 2.0**-53
_UNDERFLOW = 700.0
_LARGEST_LOG = 709.0
_POINTS = 48  # Chebyshev points of a panel
_FINE = 6 * _POINTS
_HALF = 1.0  # half of the largest panel in log t
_OPENING = 1.35  # largest imaginary part of log t on an ellipse, below pi/2
_LINEAR = 0.25  # the first panel is [0, 0.25]: the largest rate is 1
_TAYLOR = 20
_BLOCK_LENGTH = 0.4  # length of a block in log j for moderate beta and p
_CHUNK = 1_000_000
_CONSTANT = 1e-18
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


def power_sums(powers: Array, first: float, last: float) -> Array:
    r"""Return sum_{j=first}^{last} (j/first)^-q for each q of ``powers``; ``last`` may be inf where q > 1.

    The first terms directly, then Euler-Maclaurin from x >= 2 max(q) on: what is left out is at most the next term,
    (q + 21)^22/(2 pi x)^22 of the first one, below 1e-17.
    """
    largest = float(np.abs(powers).max())
    start = max(first, math.ceil(2.0 * largest) + 30.0)
    direct = np.arange(first, min(start, last + 1.0)) / first if start > first else np.zeros(0)
    total = (direct ** -powers[:, None]).sum(axis=1)
    if start > last:
        return np.asarray(total)
    log_start, log_size = math.log(start / first), math.log(last / start) if math.isfinite(last) else math.inf
    at_start = np.exp(-powers * log_start)
    at_end = np.exp(-powers * (log_start + log_size)) if math.isfinite(last) else np.zeros_like(powers)
    decay = powers - 1.0
    if math.isfinite(last):
        safe = np.where(decay == 0.0, 1.0, decay)
        span = np.where(decay == 0.0, log_size, -np.expm1(-safe * log_size) / safe)
    else:
        span = 1.0 / decay
    tail = start * span * at_start + 0.5 * (at_start + at_end)
    factor = np.ones_like(powers)
    for k, weight in enumerate(_BERNOULLI, start=1):
        factor = powers if k == 1 else factor * (powers + 2 * k - 3) * (powers + 2 * k - 2)
        end = at_end * last ** (1.0 - 2 * k) if math.isfinite(last) else 0.0
        tail = tail + weight / math.factorial(2 * k) * factor * (at_start * start ** (1.0 - 2 * k) - end)
    return np.asarray(total + tail)


def sum_of_decays(t: Array, rates: Array, weights: Array) -> Array:
    """Return sum_k weights[i, k] exp(-2 rates[k] t), of shape (sums, times), for sorted ``t`` >= -1 in float64."""
    result = np.empty((len(weights), t.size))
    step = max(1, min(64, _CHUNK // max(rates.size, 1)))
    for low in range(0, t.size, step):
        part = t[low : low + step]
        # Terms below exp(-1500) are 0 in float64 and those that change by less than 1e-18 are constant.
        still = 2.0 * rates * max(abs(float(part[0])), abs(float(part[-1]))) < _CONSTANT
        moving = ~still & (2.0 * rates * float(part[0]) < 1500.0)
        values = weights[:, moving] @ np.exp(-2.0 * np.multiply.outer(rates[moving], part))
        result[:, low : low + step] = values + weights[:, still].sum(axis=1)[:, None]
    return result


@lru_cache(maxsize=1)
def _chebyshev() -> tuple[Array, Array, Array]:
    """Return the points of a panel, the finer ones, and the matrix that takes values at the former to the latter."""
    points = np.cos(math.pi * (np.arange(_POINTS) + 0.5) / _POINTS)[::-1]
    fine = np.cos(math.pi * (np.arange(_FINE) + 0.5) / _FINE)[::-1]
    order = np.arange(_POINTS)
    at_points, at_fine = np.cos(np.outer(np.arccos(points), order)), np.cos(np.outer(np.arccos(fine), order))
    return points, fine, at_fine @ (at_points * np.where(order > 0, 2.0, 1.0) / _POINTS).T


def _least_real_part(wide: Array, high: Array) -> Array:
    """Return lower bounds of Re exp(y) on ellipses of half axes ``wide`` and ``high`` < pi/2 around 0."""
    angle = np.linspace(0.0, math.pi, 201)
    sines = np.maximum(np.sin(angle[:-1]), np.sin(angle[1:]))
    sines[99:101] = 1.0
    on_arcs = np.exp(np.multiply.outer(wide, np.cos(angle[1:]))) * np.cos(np.multiply.outer(high, sines))
    return np.asarray(on_arcs.min(axis=1))


class PowerLawSums:
    """The sums of j^-p exp(-2 j^-beta t) for several ``powers`` p on [0, ``horizon``], with proven remainders.

    ``positions`` and ``counts`` of the indices below ``knee`` (an index one by one, or the Gauss rule of a block), and
    ``moments`` of the others, for which 2 lambda T <= 1. ``end`` is the last time of interest: the horizon, or when all
    sums have fallen below 1e-300. ``resolved``: whether the slowest of M modes decays within that time.
    """

    def __init__(self, powers: tuple[float, ...], beta: float, size: float, horizon: float) -> None:
        self.powers, self.beta, self.size = powers, beta, size
        # Above 1e-300 the slowest mode has decayed by at most 1e-300, or, before it rules, t^-(p - 1)/beta has.
        latest = min(_LARGEST_LOG - 1.0, 700.0 * beta / (min(powers) - 1.0))
        if math.isfinite(size):
            latest = min(latest, math.log(0.5 * _UNDERFLOW) + beta * math.log(size))
        self.log_end = min(math.log(horizon), latest) if math.isfinite(horizon) else latest
        self.end = horizon if math.isfinite(horizon) and math.log(horizon) <= latest else math.exp(latest)
        reach = (math.log(2.0) + self.log_end) / beta  # log of the index with 2 lambda T = 1
        # A few indices beyond are also kept, where two Gauss rules would be no fewer.
        self.resolved = math.isfinite(size) and (reach >= math.log(size) or size <= max(math.exp(reach), 17.0) + 12.0)
        self.knee = size + 1.0 if self.resolved else max(float(np.ceil(math.exp(reach))), 17.0)
        self.slowest = size**-beta if self.resolved else 0.0
        self.block_length = _BLOCK_LENGTH * min(1.0, 2.0 / beta, 8.0 / max(powers))
        self.edges = self._edges()
        self.positions, self.counts = block_rules(self.edges)
        order = np.argsort(self.positions)
        self.positions, self.counts = self.positions[order], self.counts[order]
        if self.resolved and self.knee == size:  # from 2^53 on M + 1 is no float, and the blocks stop short of M
            self.positions, self.counts = np.append(self.positions, size), np.append(self.counts, 1.0)
        x = self.positions
        self.weights = np.stack([self.counts / x * x ** (1.0 - p) for p in powers])  # the order that underflows last
        self.excess = x**-beta - self.slowest
        if self.resolved:  # without the cancellation of close rates
            near = x > 0.5 * size
            self.excess[near] = self.slowest * np.expm1(-beta * np.log1p((x[near] - size) / size))
        self.moments = np.zeros((len(powers), _TAYLOR))
        self.has_tail = not self.resolved and self.knee <= size
        if self.has_tail:
            k = np.arange(_TAYLOR, dtype=np.float64)
            for i, p in enumerate(powers):
                self.moments[i] = power_sums(p + k * beta, self.knee, size) * self.knee**-p

    def _edges(self) -> Array:
        """Return block edges from 1 to the knee, finer towards M where M rules late times."""
        length = self.block_length
        steps = math.ceil(math.log(self.knee) / length) if self.knee > 1.0 else 1
        edges = np.ceil(np.exp(length * np.arange(1, steps)))
        if self.resolved:
            decay = min(2.0 * self.end * self.size**-self.beta, _UNDERFLOW)
            # Within the last block the slowest decay changes by a factor e^4 at most, or it is kept index by index.
            smallest = max(2.0 * self.size / max(self.beta * decay, 2.0), 8.0)
            distance = self.size * -math.expm1(-length) * 0.5 ** np.arange(40, dtype=np.float64)
            edges = np.concatenate([edges, np.floor(self.size - distance[distance > smallest]) + 1.0])
        edges = edges[(edges > 1.0) & (edges < self.knee)]
        return np.unique(np.concatenate([[1.0], edges, [self.knee]]))

    def values(self, t: Array) -> Array:
        """Return exp(2 slowest t) C(t) at sorted times t >= -1, of shape (powers, times)."""
        result = sum_of_decays(t, self.excess, self.weights)
        if self.has_tail:
            turn = -2.0 * t * self.knee**-self.beta
            result += self.moments @ (turn ** np.arange(_TAYLOR)[:, None] / self._factorials[:, None])
        return result

    @cached_property
    def _factorials(self) -> Array:
        return np.array([math.factorial(k) for k in range(_TAYLOR)], dtype=np.float64)

    def remainder(self, early: Array, late: Array) -> Array:
        """Return a bound of exp(2 slowest t)|C(t) - S(t)| for t between ``early`` and ``late``, (powers, times)."""
        result = np.zeros((len(self.powers), early.size))
        for i, p in enumerate(self.powers):
            bound, rate = block_remainders(self.edges, p, self.beta)
            gap = (rate - self.slowest)[..., None]
            with np.errstate(over="ignore", invalid="ignore"):
                bounds = bound[..., None] * np.exp(-2.0 * np.where(gap > 0.0, early, late) * gap)
            result[i] = np.nan_to_num(bounds, nan=math.inf).min(axis=1).sum(axis=0)
            turn = 2.0 * late * self.knee**-self.beta
            result[i] += self.moments[i, 0] * turn**_TAYLOR / math.factorial(_TAYLOR)
        return result

    @cached_property
    def panels(self) -> _Panels:
        """The panels of the proof, with the values of the sums on them."""
        return _Panels(self)

    def integral_after(self, power: float, time: float) -> float:
        """Return the integral of the sum over [time, inf): inf where it is above 1e308, 0 from ``end`` on."""
        if time > self.end:
            return 0.0
        if math.isinf(self.size) and power - self.beta <= 1.0:
            return math.inf
        x = self.positions
        rates = self.slowest + self.excess
        total = float((self.counts / x * x ** (1.0 - power + self.beta)) @ np.exp(-2.0 * rates * time))
        if self.has_tail:
            k = np.arange(_TAYLOR, dtype=np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                moments = power_sums(power + (k - 1.0) * self.beta, self.knee, self.size)
            series = (-2.0 * time * self.knee**-self.beta) ** k / self._factorials
            total += float(moments @ series) * self.knee ** (self.beta - power)
        return 0.5 * total if math.isfinite(total) else math.inf

    def rounding(self) -> Array:
        """Return the stated rounding of float64, relative to each sum, at any time of interest.

        In units of 2^-53: 8 + 4 p for the nodes and weights of C, 2 u where the slowest mode has decayed like exp(-u)
        (for its rate and its exponent), and :attr:`noise` for the evaluation of A by whoever uses it.
        """
        powers = np.array(self.powers)
        decayed = 2.0 * self.end * self.slowest
        return np.asarray(UNIT * (8.0 + 4.0 * powers + 2.0 * decayed)) + self.noise

    @property
    def noise(self) -> Array:
        """The stated rounding of one evaluation of each scaled sum: 8 units, and (p - 1)/beta for its exponents."""
        return np.asarray(UNIT * (8.0 + (np.array(self.powers) - 1.0) / self.beta))

    def error(self, rates: Array, weights: Array) -> Array:
        """Return the proven relative error on [0, end] of each sum of ``weights`` (sums, rates) >= 0 where S > 1e-300.

        The stated rounding is included. Any rates >= 0 will do; inf where nothing can be proved.
        """
        return self.panels.error(rates, weights) + self.rounding()


class _Panels:
    """Chebyshev points of all panels; ``values`` of the sums there, scaled by exp(2 slowest t)."""

    def __init__(self, sums: PowerLawSums) -> None:
        self.sums = sums
        points, fine, _ = _chebyshev()
        first = min(_LINEAR, sums.end)
        edges = self._log_edges(math.log(first))
        half, centre = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
        # One row a panel, the first of them linear in t. In front of each, the least real part of t on its ellipse.
        slanted = np.concatenate([[1.0 + 2.0 / first], np.hypot(1.0, _OPENING / half)])
        rho = slanted + np.sqrt(slanted**2 - 1.0)
        self.share = 4.0 * rho ** (1.0 - _POINTS) / (rho - 1.0)
        self.wide = np.concatenate([[0.0], half * slanted[1:]])
        left = np.exp(centre) * _least_real_part(self.wide[1:], np.full_like(half, _OPENING))
        across = np.exp(centre[:, None] + half[:, None] * points)
        self.times = np.empty((len(rho), 1 + _POINTS))
        self.times[0, 0], self.times[0, 1:] = -1.0, 0.5 * first * (1.0 + points)
        self.times[1:, 0], self.times[1:, 1:] = left, across
        ends = np.concatenate([[0.0], np.exp(edges)])
        self.ends = ends[1:]
        self.values = self.evaluate(sums.excess, sums.weights, tail=True)
        at_ends = np.maximum(sums.values(ends), np.finfo(np.float64).tiny)  # a sum that small is not judged
        # S exp(sigma y) is the same at both ends of a panel.
        self.slopes = np.zeros((len(sums.powers), len(rho)))
        self.slopes[:, 1:] = np.log(at_ends[:, 1:-1] / at_ends[:, 2:]) / (2.0 * half)
        turn = self.slopes * np.concatenate([[0.0], half])
        self.tilt = np.exp(turn[..., None] * points)
        flat = self._fine(self.values[..., 1:] * self.tilt)
        self.largest, self.least = flat.max(axis=-1), flat.min(axis=-1) * np.exp(-turn * np.diff(fine).max())
        self.least = np.minimum(self.least, at_ends[:, 1:] * np.exp(turn))
        self.least[:, 0] = at_ends[:, 1]  # S falls, so that its end bounds the first panel
        self.values[:, 0, 0] = math.e**2 * at_ends[:, 0]  # no rate exceeds 1, so that S(-1) <= e^2 S(0)
        self.remainder = sums.remainder(ends[:-1], ends[1:]) / at_ends[:, 1:]
        self.seen = np.log(at_ends[:, :-1]) - 2.0 * sums.slowest * ends[:-1] > math.log(SMALLEST)

    def _log_edges(self, first: float) -> Array:
        """Return panel edges in log t: on a panel no sum changes by much more than e^4, nor its slope too much."""
        length = self.sums.log_end - first
        if length <= 0.0:
            return np.array([first])
        grid = first + length * np.linspace(0.0, 1.0, 3 + math.ceil(4.0 * length))
        step = grid[1] - grid[0]
        logs = np.log(np.maximum(self.sums.values(np.exp(grid)), np.finfo(np.float64).tiny))
        decay = -np.diff(logs)
        bend = np.abs(np.diff(decay)).max(axis=0)  # half of the square of the length times the second derivative
        bend = np.maximum(np.append(bend, bend[-1]), np.append(bend[0], bend))
        lengths = np.maximum(np.maximum(step / (2.0 * _HALF), decay.max(axis=0) / 4.0), 0.5 * np.sqrt(bend))
        passed = np.concatenate([[0.0], np.cumsum(lengths)])
        evenly = passed[-1] * np.linspace(0.0, 1.0, 1 + math.ceil(passed[-1]))
        return np.asarray(np.interp(evenly, passed, grid))

    def evaluate(self, rates: Array, weights: Array, *, tail: bool = False) -> Array:
        order = np.argsort(self.times, axis=None)
        flat = self.times.ravel()[order]
        values = np.empty((len(weights), flat.size))
        values[:, order] = self.sums.values(flat) if tail else sum_of_decays(flat, rates, weights)
        return values.reshape(len(weights), *self.times.shape)

    def _fine(self, values: Array) -> Array:
        return np.asarray(values @ _chebyshev()[2].T)

    def error(self, rates: Array, weights: Array) -> Array:
        """Return the largest relative error on all panels, for each sum."""
        excess = rates - self.sums.slowest
        below = min(float(excess.min()), 0.0)  # then that is the least rate, and both sums are scaled by it
        scale = np.exp(2.0 * below * self.times)
        short = self.evaluate(excess - below, weights)
        long = self.values * scale
        difference = self._fine((short - long)[..., 1:] * self.tilt)
        # |exp(sigma y)| on the ellipse, and the sums at the least real part of t there
        ellipse = np.exp(np.minimum(np.abs(self.slopes) * self.wide, _UNDERFLOW))
        outside = self.share * ellipse * (short + long)[..., 0]
        lowest = self.least * np.exp(2.0 * below * self.ends)
        errors = np.abs(difference).max(axis=-1) / math.cos(0.5 * math.pi * (_POINTS - 1) / _FINE) + outside
        # errors of the values themselves, raised by interpolation by less than 4, the Lebesgue constant of 48 points
        errors += 4.0 * (self.remainder + self.sums.noise[:, None]) * self.largest
        relative = np.where(self.seen, math.inf, 0.0)
        with np.errstate(over="ignore"):
            np.divide(errors, lowest, out=relative, where=self.seen & (lowest > 0.0))
        return np.asarray(relative.max(axis=1))
