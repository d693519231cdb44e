r"""The signal and the forgetting kernel as two short sums of decaying exponentials on the same rates.

    K_M(t) = sum_k w_k exp(-2 mu_k t),        e_M(t) = sum_k v_k exp(-2 mu_k t),        w_k, v_k >= 0.

Both are sums over j of smooth functions of log j. The first indices are kept. The later ones are a measure on the line
of y = log lambda (stretched near j = M) with mass dy/dj at j, which one Gauss rule replaces for both sums: positive
weights, and a relative error that does not grow with t, since on a strip around the real axis of y each summand is
bounded by about its own sum. The rule is not one for polynomials in y, whose ellipses leave much of the strip unused,
but in sin(a y), which maps the strip onto nearly an ellipse: fewer points by a factor of up to pi/2, and as few as the
best approximation of a power by exponentials has, about log(1/error)/pi^2 for each factor e. Modes that hardly decay
within the horizon are replaced by one Gauss rule for each of the two sums.

The error is not that of the construction, but proved afterwards for every time in [0, horizon], whatever the modes
(:mod:`fsl_num.mode_errors`); the number of modes is the least one tried whose proof reaches the tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.gauss_rules import block_rules, gauss_rule, jacobi_matrix, rule_of_matrix
from fsl_num.mode_errors import PowerLawSums, power_sums
from fsl_num.results import Result
from fsl_num.validation import Array, as_array, capacity_exponent, finite_array, give_back, positive, times, whole_size
from fsl_num.validation import broadcast as at_one_shape

_CHUNK = 4096  # times at once, so that the table of exponentials stays small


@dataclass(frozen=True, eq=False)
class Modes(Result):
    """Few exponentials that stand for K_M, and for e_M where ``signal_weights`` are given, on [0, horizon].

    ``rates`` mu_k >= 0; ``kernel_weights`` w_k >= 0; ``error``: proved bound of the relative error of both sums at any
    time in [0, ``horizon``] where they are above 1e-300, stated rounding included; ``signal_weights`` v_k >= 0, empty
    where the modes are those of a kernel alone; ``kernel_after`` and ``signal_after``: the integrals of the two sums
    from the horizon to infinity, inf where they diverge.

    Raises ValueError where the arrays differ in length, a number is negative or nan, or the horizon is 0.

    >>> mode = Modes(np.array([0.5]), np.array([0.25]), 0.0)
    >>> mode.kernel(0.0), mode.kernel_integral(0.0, math.inf)
    (0.25, 0.25)
    >>> modes = compress(0.5, 2.0, 10)
    >>> round(modes.signal(1.0), 6), round(modes.signal_integral(0.0, 1.0), 6)
    (0.550879, 0.910388)
    """

    rates: Array
    kernel_weights: Array
    error: float
    signal_weights: Array = field(default_factory=lambda: np.zeros(0))
    horizon: float = math.inf
    kernel_after: float = 0.0
    signal_after: float = 0.0

    def __post_init__(self) -> None:
        positive("horizon", self.horizon, infinite=True)
        for name in ("error", "kernel_after", "signal_after"):
            positive(name, getattr(self, name), infinite=name != "error", zero=True)
        for name in ("rates", "kernel_weights", "signal_weights"):
            array = np.atleast_1d(finite_array(name, getattr(self, name)))
            if name == "rates":
                count = array.size
            sizes = (0, count) if name == "signal_weights" else (count,)
            if np.ndim(getattr(self, name)) != 1 or array.size not in sizes or not count:
                raise ValueError(f"{name} must be one list of as many numbers as rates, got shape {np.shape(array)}")
            if (array < 0.0).any():
                raise ValueError(f"{name} must be finite and at least 0, got {array!r}")

    def signal(self, t: Any) -> Any:
        """Return e_M at times in [0, horizon], a number or an array."""
        return self._sum(t, self._signal_weights())

    def kernel(self, t: Any) -> Any:
        """Return K_M at times in [0, horizon], a number or an array."""
        return self._sum(t, self.kernel_weights)

    def signal_integral(self, lower: Any, upper: Any) -> Any:
        """Return the integral of e_M over [lower, upper]; numbers or arrays that broadcast.

        Both in [0, horizon], or ``upper`` = inf, which is refused with ValueError where the integral diverges: an
        infinite model with s <= 1.
        """
        return self._integral(lower, upper, self._signal_weights(), self.signal_after)

    def kernel_integral(self, lower: Any, upper: Any) -> Any:
        """Return the integral of K_M over [lower, upper], within [0, horizon] or ``upper`` = inf; numbers or arrays."""
        return self._integral(lower, upper, self.kernel_weights, self.kernel_after)

    def _signal_weights(self) -> Array:
        if not len(self.signal_weights):
            raise ValueError(
                "these modes stand for a forgetting kernel alone; compress(s, beta, M, T) has a signal too"
            )
        return self.signal_weights

    def _sum(self, t: Any, weights: Array) -> Any:
        array, scalar = times("t", t, upper=self.horizon)
        flat, result = array.ravel(), np.empty(array.size)
        for low in range(0, flat.size, _CHUNK):
            result[low : low + _CHUNK] = weights @ np.exp(
                -2.0 * np.multiply.outer(self.rates, flat[low : low + _CHUNK])
            )
        return give_back(result.reshape(array.shape), scalar)

    def _integral(self, lower: Any, upper: Any, weights: Array, after: float) -> Any:
        low, low_scalar = times("lower", lower, upper=self.horizon)
        raw = as_array("upper", upper)
        endless = raw == math.inf if raw.dtype.kind in "fO" else np.zeros(raw.shape, dtype=bool)
        if endless.any() and math.isinf(after):
            raise ValueError(
                "upper must be finite, got inf: the signal of an infinite model falls like t^-s, whose integral"
                " diverges for s <= 1 (that of a huge one exceeds 1e308); give a finite upper or a smaller model_size"
            )
        if endless.any() and math.isinf(self.horizon) and (weights[self.rates == 0.0] > 0.0).any():
            raise ValueError(
                "upper must be finite, got inf: a mode of rate 0 does not decay, and its integral diverges"
            )
        if raw.dtype.kind not in "fiuO":
            raise TypeError(f"upper must be a real number or an array of them, got {upper!r}")
        high = times("upper", np.where(endless, 0.0, raw), upper=self.horizon)[0]
        high = np.where(endless, self.horizon, high)
        low, high = at_one_shape(lower=low, upper=high)
        if (high < low).any():
            raise ValueError(f"upper must be at least lower, got lower={lower!r}, upper={upper!r}")
        endless = np.broadcast_to(endless, low.shape)
        flat, length = low.ravel(), (high - low).ravel()
        result = np.empty(low.size)
        least = max(float(self.rates.min()), 1e-300)
        for first in range(0, low.size, _CHUNK):
            part = slice(first, first + _CHUNK)
            # exp(-2 mu a) (1 - exp(-2 mu (b - a)))/(2 mu): positive terms, and b - a in the limit mu (b - a) -> 0
            width = np.minimum(length[part], 1e5 / least)  # an infinite one is as good as one of 1e5 times
            turn = 2.0 * np.multiply.outer(self.rates, width)
            share = np.where(turn > 1e-300, -np.expm1(-turn) / np.maximum(turn, 1e-300), 1.0) * width
            result[part] = weights @ (np.exp(-2.0 * np.multiply.outer(self.rates, flat[part])) * share)
        result = result.reshape(low.shape) + np.where(endless, after, 0.0)
        return give_back(result, low_scalar and raw.ndim == 0)


_TAIL_NODES = 6  # the remainder for rates with 2 lambda T <= 1 is 4^-12/12! = 1e-16
_TAIL_LENGTH = 18.0  # in log j
_PIECE = 45.0  # longest range of y for one Gauss rule
_UNDERFLOW = 700.0
_HEAD_PER_BETA = 3.0  # neighbours further apart in y than about 1/3 are cheaper one by one
_FEW = 8
_TRIALS = 5
_SPARE = 6


def _tail(sums: PowerLawSums, power: float) -> tuple[Array, Array]:
    """Return rates and weights for the indices from the knee on, for which 2 lambda T <= 1."""
    first, last, beta = sums.knee, sums.size, sums.beta
    # up to where the mass of the rest is below 1e-17, or the variance of its rates, which one node drops
    length = min(_TAIL_LENGTH, 40.0 / (power - 1.0)) if power > 1.0 else _TAIL_LENGTH
    steps = 1 + math.ceil(length / sums.block_length)
    edges = np.ceil(first * np.exp(sums.block_length * np.arange(steps)))
    edges = np.unique(np.concatenate([edges[edges < last + 1.0], [last + 1.0]])) if edges[-1] > last else edges
    x, w = block_rules(edges)
    # in units of the first index, so that nothing underflows
    nodes, masses = (x / first) ** -beta, w * (x / first) ** -power
    behind = edges[-1]
    if behind <= last:
        mass, mean = power_sums(np.array([power, power + beta]), behind, last) * (behind / first) ** -power
        nodes, masses = np.append(nodes, mean / mass * (behind / first) ** -beta), np.append(masses, mass)
    nodes, masses = gauss_rule(nodes, masses, _TAIL_NODES)
    return np.maximum(nodes, 0.0) * first**-beta, masses / first * first ** (1.0 - power)


class _Scale:
    """The variable y(x) of the joint Gauss rule: the log of the rate, stretched near M where M rules late times.

    y = beta log x - log(z + eps) with z = log(M/x): behind it exp(-u z) is as smooth as exp(-lambda t) is in log
    lambda, for all u up to 1/eps. Without M: y = beta log x.
    """

    def __init__(self, beta: float, size: float = math.inf, horizon: float = 0.0) -> None:
        self.beta, self.size, self.eps = beta, size, 0.0
        if math.isfinite(size):
            self.eps = 1.0 / (beta * max(min(2.0 * horizon * size**-beta, _UNDERFLOW), 1.0))

    def forward(self, x: Array) -> tuple[Array, Array]:
        """Return y and dy/dx."""
        if not self.eps:
            return self.beta * np.log(x), self.beta / x
        near = x > 0.5 * self.size  # where a quotient of close numbers would lose digits
        z = np.where(near, -np.log1p((np.where(near, x, self.size) - self.size) / self.size), np.log(self.size / x))
        return -self.beta * z - np.log(z + self.eps), (self.beta + 1.0 / (z + self.eps)) / x

    def backward(self, y: Array) -> tuple[Array, Array]:
        """Return x and x^-beta: Newton's iteration from the right for q = log(z + eps), of the convex beta e^q + q = r.

        The rate comes from z = log(M/x), so that near M it is as exact as that of M itself.
        """
        if not self.eps:
            x = np.asarray(np.exp(y / self.beta))
            return x, x**-self.beta
        r = self.beta * self.eps - y
        q = np.where(r > self.beta, np.log(np.maximum(r, self.beta) / self.beta), np.minimum(r, 0.0))
        for _ in range(40):
            step = (self.beta * np.exp(q) + q - r) / (self.beta * np.exp(q) + 1.0)
            q = q - step
            if np.abs(step).max() < 1e-15:
                break
        z = np.maximum(np.exp(q) - self.eps, 0.0)
        x = np.asarray(self.size * np.exp(-z))
        slowest = self.size**-self.beta
        return x, np.where(x > 0.5 * self.size, slowest + slowest * np.expm1(self.beta * z), x**-self.beta)


class _Rules:
    """Gauss rules of any size for the indices behind the head: for both sums, in the sine of the stretched variable."""

    def __init__(self, sums: PowerLawSums, head: int) -> None:
        x, counts = sums.positions[head:], sums.counts[head:]
        self.scale = _Scale(sums.beta, sums.size, sums.end) if sums.resolved else _Scale(sums.beta)
        y, slopes = self.scale.forward(x)
        low, length = float(y.min()), float(y.max() - y.min())
        self.pieces = []
        number = max(1, math.ceil(length / _PIECE))
        self.length = length / number
        cuts = low + self.length * np.arange(number + 1)
        piece = np.clip(np.searchsorted(cuts, y, side="right"), 1, number)
        # The image of the strip |Im y| < pi/2 is an ellipse of half axes cosh and sinh of this, foci -1 and 1, with
        # cuts from the foci on; the interval is as long as makes the largest ellipse inside reach the sides and cuts.
        width = 0.5 * math.pi * 1.4 / max(0.5 * self.length, 2.5)
        self.bend = math.asin(math.sqrt(max(1.0 - math.sinh(width) ** 2, 0.05)))
        for k in range(1, number + 1):
            part = piece == k
            self.pieces.append((0.5 * (cuts[k - 1] + cuts[k]), y[part], counts[part] * slopes[part]))
        self.matrices: list[tuple[Array, Array]] = []
        self.prepared = 0

    def prepare(self, points: int) -> None:
        """Compute the Jacobi matrices for up to ``points`` points a piece."""
        self.prepared = points
        half, stretch = 0.5 * self.length, math.sin(self.bend)
        self.matrices = [
            jacobi_matrix(np.sin(self.bend * (y - centre) / half) / stretch, masses, points)
            for centre, y, masses in self.pieces
        ]

    def rule(self, points: int) -> tuple[Array, Array, Array]:
        """Return positions x, counts and rates of the rules of ``points`` points a piece."""
        nodes, masses = [], []
        for (centre, _, mass), matrix in zip(self.pieces, self.matrices, strict=True):
            z, w = rule_of_matrix(*matrix, points)
            angle = np.arcsin(np.clip(z * math.sin(self.bend), -1.0, 1.0)) / self.bend
            nodes.append(centre + 0.5 * self.length * angle)
            masses.append(math.fsum(mass) * w)
        x, rates = self.scale.backward(np.concatenate(nodes))
        return x, np.concatenate(masses) / self.scale.forward(x)[1], rates


def compress(s: Any, beta: Any, model_size: Any, horizon: Any = math.inf, *, rtol: float = 1e-13) -> Modes:
    """Return few modes that give e_M and K_M on [0, horizon] with a proved relative error of about ``rtol``.

    ``s`` > 0, ``beta`` > 1, ``model_size`` M >= 1 whole or inf, ``horizon`` > 0 an intrinsic time; inf only with a
    finite M, when t >> M^beta, where the slowest mode rules alone, is included. ``rtol`` in [1e-13, 1e-3]. Results are
    cached. What was reached is in :attr:`Modes.error`; it exceeds ``rtol`` where float64 allows no better: to 3e-13
    where the slowest mode decays like exp(-700) within the horizon, and a few times ``rtol`` where M and T exceed 1e30.

    Raises ValueError or TypeError for arguments outside these ranges, for horizon = M = inf, where no finite number of
    modes is enough, and for models of more than 100 features with s beta above about 80, whose signal falls beyond what
    floats hold. Source: e_M and K_M in equation eqn: fsl of the paper.

    >>> modes = compress(0.5, 2.0, math.inf, 2.0**20)
    >>> len(modes.rates) < 100 and modes.error <= 1e-13
    True
    >>> abs(modes.kernel_integral(0.0, math.inf) - 0.5 * math.pi**2 / 6) < 1e-13
    True
    """
    size = whole_size("model_size", model_size)
    end = positive("horizon", horizon, infinite=True)
    if math.isinf(size) and math.isinf(end):
        raise ValueError(
            "horizon must be finite where model_size is inf, got both infinite: no finite number of exponentials"
            " follows a power law for ever; give the last time that is needed"
        )
    tolerance = positive("rtol", rtol)
    if not 1e-13 <= tolerance <= 1e-3:
        raise ValueError(f"rtol must lie in [1e-13, 1e-3], got {rtol!r}: float64 sums are not exact beyond 1e-13")
    return _compress(positive("s", s), capacity_exponent(beta), size, max(end, _SHORTEST), tolerance)


_USELESS = 0.1
"""No relative error of this size is handed on: what follows from it would be no answer."""

_STEEPEST = 300.0  # power of the index: beyond it the sums underflow within a few features
ALL_MODES = 100
"""Models up to this size may keep every mode: more are no gain."""

_SHORTEST = 1e-100  # horizon: what serves longer serves shorter, and 1/t^2 stays a float


@lru_cache(maxsize=256)
def _compress(s: float, beta: float, size: float, horizon: float, rtol: float) -> Modes:
    powers = (2.0 * beta, 1.0 + s * beta)
    if powers[1] == 1.0:
        raise ValueError(f"s beta = {s * beta:g} is so small that the power of the signal, 1 + s beta, rounds to 1")
    if max(powers) > _STEEPEST:
        return _every_mode(powers, beta, size, horizon)
    sums = PowerLawSums(powers, beta, size, horizon)
    tails = [_tail(sums, power) for power in powers] if sums.has_tail else []
    after = [sums.integral_after(power, horizon) for power in powers]

    def proved(x: Array, counts: Array, rates: Array) -> Modes:
        rates = np.concatenate([rates, *(part[0] for part in tails)])
        weights = np.zeros((2, len(rates)))
        for k, power in enumerate(powers):
            tail_weights = [part[1] if i == k else np.zeros_like(part[1]) for i, part in enumerate(tails)]
            weights[k] = np.concatenate([counts / x * x ** (1.0 - power), *tail_weights])
        error = float(sums.error(rates, weights).max())
        for array in (rates, weights):
            array.setflags(write=False)
        return Modes(rates, weights[0], error, weights[1], horizon, *after)

    x, counts = sums.positions, sums.counts
    all_rates = sums.slowest + sums.excess
    head = min(math.ceil(_HEAD_PER_BETA * beta), len(x))
    if len(x) <= head + _FEW:
        return _useful(proved(x, counts, all_rates), powers, beta, size)
    rules = _Rules(sums, head)
    target = max(0.75 * rtol - float(sums.rounding().max()), 0.5 * rtol)
    # Analytic in y on a strip of half-width pi/2: a rule of n points errs by about exp(-pi^2 n/length).
    per_point = math.pi**2 / max(rules.length, 5.0)
    points = math.ceil(math.log(10.0 / rtol) / per_point) + 14
    best: Modes | None = None
    reached = math.inf
    for _ in range(_TRIALS):
        if points * len(rules.pieces) >= len(x) - head:
            return _useful(proved(x, counts, all_rates), powers, beta, size)
        if points > rules.prepared:
            rules.prepare(points + _SPARE)
        positions, masses, rates = rules.rule(points)
        modes = proved(
            np.concatenate([x[:head], positions]),
            np.concatenate([counts[:head], masses]),
            np.concatenate([all_rates[:head], rates]),
        )
        reached, last = modes.error - float(sums.rounding().max()), reached
        best = modes if best is None or modes.error < best.error else best
        if reached <= target or reached > 0.7 * last:  # or rounding is all that is left
            break
        points += 1 + math.ceil(math.log(reached / target) / per_point)
    assert best is not None
    return _useful(best, powers, beta, size)


def _useful(modes: Modes, powers: tuple[float, float], beta: float, size: float) -> Modes:
    """Return the modes where something was proved of them, else every mode of the model."""
    return modes if modes.error <= _USELESS else _every_mode(powers, beta, size, modes.horizon)


def _every_mode(powers: tuple[float, float], beta: float, size: float, horizon: float) -> Modes:
    """Return every mode of a small model: nothing but rounding is then wrong, however steep its sums are."""
    if size > ALL_MODES:
        raise ValueError(
            f"beta and s beta must be at most about 80 for a model of {size:g} features in floats, got beta = {beta:g}"
            f" and s beta = {powers[1] - 1.0:g}: the sums over features fall below what floats hold; ask for digits,"
            f" or for at most {ALL_MODES} features"
        )
    index = np.arange(1.0, size + 1.0)
    rates = index**-beta
    kernel, signal = (index**-power for power in powers)
    # in units of 2^-53, as PowerLawSums states them: the weights, the rates after a decay by exp(-u), the evaluation
    decayed = min(2.0 * horizon * float(rates[-1]), 745.0)
    error = 2.0**-53 * (16.0 + 4.0 * max(powers) + 2.0 * decayed + (max(powers) - 1.0) / beta)
    left, moving = np.exp(-np.minimum(2.0 * rates * horizon, 745.0)), rates > 0.0
    after = (math.fsum((weight * left)[moving] / (2.0 * rates[moving])) for weight in (kernel, signal))
    return Modes(rates, kernel, error, signal, horizon, *after)


@lru_cache(maxsize=32)
def kernel_modes(beta: float, model_size: float, horizon: float) -> Modes:
    """Return modes of K_M alone on [0, horizon]; its relative error there is proved, 0 where every mode is kept.

    ``beta`` > 1, ``model_size`` M >= 1 or inf, ``horizon`` > 0 an intrinsic time, finite where M is infinite; raises
    ValueError as :func:`fsl_num.compression.compress` does. Source: K_M in equation eqn: fsl of the paper.

    >>> modes = kernel_modes(2.0, float("inf"), 1e6)
    >>> modes.error < 1e-13 and len(modes.rates) < 80
    True
    """
    if model_size <= ALL_MODES:
        rates = np.arange(1, int(model_size) + 1, dtype=np.float64) ** -beta
        return Modes(rates, rates**2, 0.0, horizon=horizon)
    # With this s the signal is the kernel, so that no mode is there for the signal alone.
    modes = compress(2.0 - 1.0 / beta, beta, model_size, horizon)
    used = modes.kernel_weights > 0.0
    return Modes(
        modes.rates[used], modes.kernel_weights[used], modes.error, horizon=horizon, kernel_after=modes.kernel_after
    )
