r"""The signal and the forgetting kernel as two short sums of decaying exponentials on the same rates.

    K_M(t) = sum_k w_k exp(-2 mu_k t),        e_M(t) = sum_k v_k exp(-2 mu_k t),        w_k, v_k >= 0.

Both are sums over j of smooth functions of log j. The first indices are kept. Blocks of the later ones are replaced by
the Gauss rules of their counting measure (discrete Chebyshev polynomials), and all of these together by one Gauss rule
in y = log lambda (stretched near j = M) for the measure with mass dy/dj at j: positive weights, and a relative error
that does not grow with t, since on a strip around the real axis of y each summand is bounded by about its own sum.
Modes that hardly decay within the horizon are replaced by one Gauss rule for each of the two sums.

What is proved: the weights are not negative, and each block rule is exact for polynomials of degree 31. What is only
verified: the error, on a grid of times eight times finer than a factor e, over the whole range of times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.exponential_sums import exponential_sum_float
from fsl_num.gauss_rules import BLOCK_NODES, block_rules, gauss_rule
from fsl_num.validation import Array, capacity_exponent, give_back, positive, times, whole_size

SMALLEST = 1e-300
"""Relative accuracy is promised only while a sum is at least this large."""

_HEAD = 16  # indices that are always kept
_TAIL_NODES = 6  # the remainder for rates with 2 lambda T <= 1 is 4^-12/12! = 1e-16
_TAIL_DOUBLINGS = 26  # beyond them the variance of 2 lambda T, which one node drops, is below 1e-16
_PIECE = 60.0  # longest range of y for one Gauss rule
_PER_FACTOR_E = 8
_REFERENCE = 3e-14  # relative rounding of the sums that the modes are compared with
_UNDERFLOW = 700.0


@dataclass(frozen=True, eq=False)
class Modes:
    """Few exponentials that stand for e_M and K_M on [0, horizon].

    ``rates`` mu_k >= 0; ``kernel_weights`` w_k >= 0 and ``signal_weights`` v_k >= 0 (not both 0);
    ``error``: relative error of both sums on [0, horizon] where they are above 1e-300, twice the largest one found on
    the grid of the check plus the rounding of the check itself.
    """

    rates: Array
    kernel_weights: Array
    signal_weights: Array
    error: float
    horizon: float

    def signal(self, t: Any) -> Any:
        """Return e_M at times in [0, horizon], a number or an array."""
        return self._sum(t, self.signal_weights)

    def kernel(self, t: Any) -> Any:
        """Return K_M at times in [0, horizon], a number or an array."""
        return self._sum(t, self.kernel_weights)

    def signal_integral(self, lower: Any, upper: Any) -> Any:
        """Return the integral of e_M over [lower, upper] within [0, horizon]; numbers or arrays that broadcast."""
        return self._integral(lower, upper, self.signal_weights)

    def kernel_integral(self, lower: Any, upper: Any) -> Any:
        """Return the integral of K_M over [lower, upper] within [0, horizon]; numbers or arrays that broadcast."""
        return self._integral(lower, upper, self.kernel_weights)

    def _sum(self, t: Any, weights: Array) -> Any:
        array, scalar = times("t", t, upper=self.horizon)
        result = np.exp(-2.0 * np.multiply.outer(array, self.rates)) @ weights
        return give_back(np.asarray(result), scalar)

    def _integral(self, lower: Any, upper: Any, weights: Array) -> Any:
        low, low_scalar = times("lower", lower, upper=self.horizon)
        high, high_scalar = times("upper", upper, upper=self.horizon)
        if (high < low).any():
            raise ValueError(f"upper must be at least lower, got lower={lower!r}, upper={upper!r}")
        low, high = np.broadcast_arrays(low, high)
        # exp(-2 mu a) (1 - exp(-2 mu (b - a)))/(2 mu): positive terms, and b - a in the limit mu (b - a) -> 0
        turn = 2.0 * np.multiply.outer(high - low, self.rates)
        length = (high - low)[..., None]
        share = np.where(turn > 1e-300, -np.expm1(-turn) / np.maximum(turn, 1e-300), 1.0)
        result = (np.exp(-2.0 * np.multiply.outer(low, self.rates)) * share * length) @ weights
        return give_back(np.asarray(result), low_scalar and high_scalar)


def _edges(beta: float, after: float, last: float, horizon: float) -> Array:
    """Return block edges from the first index behind the head to ``after``, finer towards M where M rules late times.

    ``last`` is M where the blocks end there, else infinite.
    """
    ratio = 2.0 ** min(1.0, 2.0 / beta)
    count = math.ceil(math.log(after / (_HEAD + 1.0)) / math.log(ratio))
    edges = np.ceil((_HEAD + 1.0) * ratio ** np.arange(count, dtype=np.float64))
    if math.isfinite(last):
        decay = min(2.0 * horizon * last**-beta, _UNDERFLOW)
        # Within a block the slowest decay changes by a factor e^4 at most, or the block is kept index by index.
        smallest = max(2.0 * last / max(beta * decay, 2.0), 0.5 * BLOCK_NODES)
        distance = last * (1.0 - 1.0 / ratio) * 0.5 ** np.arange(40, dtype=np.float64)
        edges = np.concatenate([edges, np.floor(last - distance[distance > smallest]) + 1.0])
    edges = edges[(edges > _HEAD + 1.0) & (edges < after)]
    return np.unique(np.concatenate([[_HEAD + 1.0], edges, [after]]))


def _tail(power: float, beta: float, first: float, last: float) -> tuple[Array, Array]:
    """Return rates and weights for sum_{j=first}^{last} j^-power exp(-2 j^-beta t) while 2 first^-beta t <= 1."""
    edges = first * 2.0 ** np.arange(_TAIL_DOUBLINGS + 1, dtype=np.float64)
    edges = np.concatenate([edges[edges < last + 1.0], [last + 1.0]]) if edges[-1] > last else edges
    x, w = block_rules(edges)
    # in units of the first index, so that nothing underflows
    nodes, masses = (x / first) ** -beta, w * (x / first) ** -power
    behind = edges[-1]
    if behind <= last:
        zero = np.zeros(1)
        rest = float(exponential_sum_float(power, zero, beta, last, behind)[0]) * first**power
        if rest > 0.0:
            mean = float(exponential_sum_float(power + beta, zero, beta, last, behind)[0]) * first ** (power + beta)
            nodes, masses = np.append(nodes, mean / rest), np.append(masses, rest)
    nodes, masses = gauss_rule(nodes, masses, _TAIL_NODES)
    return np.maximum(nodes, 0.0) * first**-beta, masses * first**-power


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

    def backward(self, y: Array) -> Array:
        """Return x: Newton's iteration from the right for q = log(z + eps), of the convex beta e^q + q = r."""
        if not self.eps:
            return np.asarray(np.exp(y / self.beta))
        r = self.beta * self.eps - y
        q = np.where(r > self.beta, np.log(np.maximum(r, self.beta) / self.beta), np.minimum(r, 0.0))
        for _ in range(40):
            step = (self.beta * np.exp(q) + q - r) / (self.beta * np.exp(q) + 1.0)
            q = q - step
            if np.abs(step).max() < 1e-15:
                break
        return np.asarray(self.size * np.exp(-np.maximum(np.exp(q) - self.eps, 0.0)))


def _exact(s: float, beta: float, size: float, t: Array) -> tuple[Array, Array]:
    with np.errstate(divide="ignore"):  # the logarithm of a sum that has underflowed: exp gives back 0
        kernel = exponential_sum_float(2.0 * beta, t, beta, size, 1.0)
        return kernel, exponential_sum_float(1.0 + s * beta, t, beta, size, 1.0)


def _errors(rates: Array, weights: tuple[Array, Array], exact: tuple[Array, Array], t: Array, u: Array) -> Array:
    """Return the largest relative error of both sums at the times ``t``, and the same without what rounding explains.

    Where the slowest term has decayed like exp(-u), rounding of its rate alone costs u times 2e-16, on both sides.
    """
    worst = np.zeros(2)
    for low in range(0, t.size, 1000):
        part = slice(low, low + 1000)
        factors = np.exp(-2.0 * np.multiply.outer(t[part], rates))
        for weight, value in zip(weights, exact, strict=True):
            seen = value[part] > SMALLEST
            if seen.any():
                found = np.abs((factors[seen] @ weight) / value[part][seen] - 1.0)
                worst = np.maximum(worst, [found.max(), (found - 5e-16 * u[part][seen]).max()])
    return worst


def check_times(s: float, beta: float, size: float, horizon: float) -> Array:
    """Return the times of the check: 0, and eight to a factor e until the horizon or until both sums underflow."""
    # Above 1e-300 the slowest mode has decayed by at most 1e-300, or, before it rules, t^-s or t^-(2 - 1/beta) has.
    power = min(s, 2.0 - 1.0 / beta)
    latest = min(math.log(horizon) if horizon < math.inf else math.inf, 690.0 / power, 700.0)
    if math.isfinite(size):
        latest = min(latest, math.log(0.5 * _UNDERFLOW) + beta * math.log(size))
    first = min(math.log(1e-2), latest)
    grid = np.exp(np.linspace(first, latest, 2 + math.ceil(_PER_FACTOR_E * (latest - first))))
    return np.concatenate([[0.0], np.minimum(grid, horizon)])


def compress(s: Any, beta: Any, model_size: Any, horizon: Any = math.inf, *, rtol: float = 1e-13) -> Modes:
    """Return few modes that give e_M and K_M on [0, horizon] with a relative error of about ``rtol``.

    ``s`` > 0, ``beta`` > 1, ``model_size`` M >= 1 whole or inf, ``horizon`` > 0 an intrinsic time; inf only with a
    finite M, when t >> M^beta, where the slowest mode rules alone, is included. ``rtol`` in [1e-13, 1e-3]. Results are
    cached. What was reached is in :attr:`Modes.error`; it may exceed ``rtol`` by a small factor.

    Raises ValueError or TypeError for arguments outside these ranges, and for horizon = M = inf, where no finite number
    of modes is enough. Source: e_M and K_M in equation eqn: fsl of the paper, in units of twice the excess risk.

    >>> modes = compress(0.5, 2.0, math.inf, 2.0**20)
    >>> len(modes.rates) < 200 and modes.error < 1e-12
    True
    >>> abs(modes.kernel_integral(0.0, 1e6) - 0.5 * math.pi**2 / 6) < 1e-3
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
    return _compress(positive("s", s), capacity_exponent(beta), size, end, tolerance)


@lru_cache(maxsize=64)
def _compress(s: float, beta: float, size: float, horizon: float, rtol: float) -> Modes:
    powers = (2.0 * beta, 1.0 + s * beta)
    reach = (2.0 * horizon) ** (1.0 / beta)  # from this index on 2 lambda T <= 1
    resolved = reach >= size
    knee = size + 1.0 if resolved else max(math.ceil(reach), _HEAD + 1.0)
    whole = size <= 2 * _HEAD
    head = np.arange(1.0, (size if whole else _HEAD) + 1.0)
    t = check_times(s, beta, size, horizon)
    exact = _exact(s, beta, size, t)

    slowest = 2.0 * t * size**-beta if math.isfinite(size) else np.zeros_like(t)

    def with_middle(x: Array, counts: Array) -> tuple[float, Modes]:
        x, counts = np.concatenate([head, x]), np.concatenate([np.ones_like(head), counts])
        rates = np.concatenate([x**-beta, *(part[0] for part in tails)])
        weights = []
        for k, power in enumerate(powers):
            rest = [part[1] if i == k else np.zeros_like(part[1]) for i, part in enumerate(tails)]
            weights.append(np.concatenate([(counts / x) * x ** (1.0 - power), *rest]))
        worst, unexplained = _errors(rates, (weights[0], weights[1]), exact, t, slowest)
        for array in (rates, *weights):
            array.setflags(write=False)
        return float(unexplained), Modes(rates, weights[0], weights[1], float(2.0 * worst + _REFERENCE), horizon)

    tails = [_tail(power, beta, knee, size) for power in powers] if not resolved and not whole and knee <= size else []
    if whole or knee <= _HEAD + 1.0:
        return with_middle(np.zeros(0), np.zeros(0))[1]
    x, counts = block_rules(_edges(beta, knee, size if resolved else math.inf, horizon))
    if len(x) <= BLOCK_NODES:
        return with_middle(x, counts)[1]
    scale = _Scale(beta, size, horizon) if resolved else _Scale(beta)
    y, slopes = scale.forward(x)
    length = float(y.max() - y.min())
    cuts = y.min() + length * np.linspace(0.0, 1.0, 1 + math.ceil(length / _PIECE))
    piece = np.clip(np.searchsorted(cuts, y, side="right"), 1, len(cuts) - 1)
    parts = [np.flatnonzero(piece == k) for k in range(1, len(cuts))]
    # Analytic in y on a strip of half-width pi/2: a rule of n points errs by about exp(-2 pi n/length).
    density = math.log(1.0 / rtol) / (2.0 * math.pi)
    best, least, growth = None, math.inf, 0.6
    while growth < 3.0:
        points = 4 + math.ceil(growth * density * length / len(parts))
        if points * len(parts) >= len(x):
            break
        rules = [gauss_rule(y[part], counts[part] * slopes[part], points) for part in parts]
        nodes, masses = np.concatenate([r[0] for r in rules]), np.concatenate([r[1] for r in rules])
        positions = scale.backward(nodes)
        unexplained, found = with_middle(positions, masses / scale.forward(positions)[1])
        if unexplained < least:
            best, least = found, unexplained
        if least <= rtol + 5e-16 * length:  # y itself is rounded
            return found
        growth *= 1.15
    unexplained, everything = with_middle(x, counts)
    return everything if best is None or unexplained < 0.5 * least else best
