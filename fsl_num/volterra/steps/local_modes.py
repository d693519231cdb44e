r"""Few modes for a short time: the slow ones are interpolated in their rate.

On a short block of steps exp(-r t) is a smooth function of the rate r where r t is moderate, so that its values at a
few Chebyshev points of r give it at all slow rates: exp(-r_k t) = sum_q A_kq exp(-rho_q t). The fast modes stay as they
are. The block is then solved with the rates rho, and only its ends touch the rates r. With the factor exp(r^2 G/4) of
the Gaussian closure the same interpolation holds, since r G is smaller than t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fsl_num.validation import Array

_ACCURACY = 1e-16  # of the interpolated exponentials, absolute; they are at most 1
_LONGEST_REACH = 100.0  # a mode that decays by more within a block is kept as it is


@dataclass(frozen=True, eq=False)
class LocalModes:
    """Local ``rates`` rho (q of them) and the ``transfer`` A, shape (rates of the system, q)."""

    rates: Array
    transfer: Array


def _points_needed(reach: float) -> float:
    """Return how many Chebyshev points interpolate exp(-x) on [0, reach]: the error is at most 2 (reach/4)^n/n!."""
    if reach > _LONGEST_REACH:
        return math.inf
    count, error = 1, 0.5 * reach
    while error > _ACCURACY:
        count += 1
        error *= 0.25 * reach / count
    return count


class LocalBasis:
    """The local modes of one system for every block length, each made once (lengths rounded up to a factor 2^(1/4))."""

    def __init__(self, rates: Array) -> None:
        self._rates = rates
        self._order = np.argsort(-rates)
        self._found: dict[int, LocalModes] = {}

    def of(self, length: float) -> LocalModes:
        """Return the local modes for blocks of at most ``length``."""
        key = math.ceil(4.0 * math.log2(max(length, 1e-300)))
        if key not in self._found:
            self._found[key] = self._make(2.0 ** (0.25 * key))
        return self._found[key]

    def _make(self, length: float) -> LocalModes:
        sorted_rates = self._rates[self._order]
        size = sorted_rates.size
        totals = [kept + _points_needed(rate * length) for kept, rate in enumerate(sorted_rates)]
        kept = int(np.argmin(totals))
        if totals[kept] >= size:
            return LocalModes(self._rates, np.eye(size))
        count, slow = int(totals[kept]) - kept, sorted_rates[kept:]
        angles = (2.0 * np.arange(count) + 1.0) * (math.pi / (2.0 * count))
        points = slow[0] * np.sin(0.5 * angles) ** 2  # (1 - cos)/2, exact near 0
        # barycentric formula
        distance = slow[:, None] - points
        hit = distance == 0.0
        shares = (-1.0) ** np.arange(count) * np.sin(angles) / np.where(hit, 1.0, distance)
        shares = np.where(hit.any(axis=1)[:, None], hit, shares)
        transfer = np.zeros((size, kept + count))
        transfer[self._order[:kept], np.arange(kept)] = 1.0
        transfer[self._order[kept:], kept:] = shares / shares.sum(axis=1, keepdims=True)
        return LocalModes(np.concatenate([sorted_rates[:kept], points]), transfer)
