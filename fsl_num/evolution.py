"""Covariance-adapting evolution search, many problems at once.

The landscapes here are sums and minima of power laws seen in logarithms at budgets up to 10^(4e6): nearly piecewise
affine, with valleys that run askew to the axes and bend within one part in 1e6. Grids and coordinate steps stall in
such valleys. The covariance matrix adaptation strategy (N. Hansen and A. Ostermeier, Evolutionary Computation 9, 2001)
learns the valley's direction, needs only the order of the values, and is invariant under scale, so one search goes from
the whole box to one part in 1e12. All searches run side by side in one array, so the law is called once a generation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fsl_num.validation import Array

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Found:
    """Best points (searches, n) and values (searches,) found, with the number of points evaluated."""

    points: Array
    values: Array
    evaluations: int


def _strategy(n: int, offspring: int) -> tuple[Array, float, float, float, float, float, float]:
    """Return the standard recombination weights and learning rates for n variables."""
    parents = offspring // 2
    weights = math.log(parents + 0.5) - np.log(np.arange(1, parents + 1))
    weights /= weights.sum()
    mass = 1.0 / float((weights**2).sum())
    sigma_rate = (mass + 2) / (n + mass + 5)
    path_rate = (4 + mass / n) / (n + 4 + 2 * mass / n)
    one = 2 / ((n + 1.3) ** 2 + mass)
    many = min(1 - one, 2 * (mass - 2 + 1 / mass) / ((n + 2) ** 2 + mass))
    damping = 1 + 2 * max(0.0, math.sqrt((mass - 1) / (n + 1)) - 1) + sigma_rate
    return weights, mass, sigma_rate, path_rate, one, many, damping


def search(
    value: Callable[[Array, Rows], Array],
    start: Array,
    lower: Array,
    upper: Array,
    step: Array,
    *,
    generator: np.random.Generator,
    tolerance: float,
    generations: int = 250,
    offspring: int = 28,
) -> Found:
    """Minimise ``value`` from every row of ``start`` (searches, n) inside the boxes ``lower``..``upper`` (searches, n).

    ``value(points, rows)`` takes points (rows, offspring, n) of the searches numbered ``rows`` and returns their values
    (rows, offspring). ``step`` (searches,) is the first step length. A search ends when its better half agrees within
    ``tolerance``; all end after ``generations``.
    """
    searches, n = start.shape
    weights, mass, sigma_rate, path_rate, one, many, damping = _strategy(n, offspring)
    mean, sigma = start.copy(), step.copy()
    covariance = np.broadcast_to(np.eye(n), (searches, n, n)).copy()
    path_sigma, path = np.zeros((searches, n)), np.zeros((searches, n))
    best = start.copy()
    best_value = value(start[:, None, :], np.arange(searches))[:, 0]
    evaluations = searches
    longest = (upper - lower).max(axis=1) + 1e-300
    normal_length = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
    running = np.arange(searches)
    for generation in range(generations):
        r = running
        scale, basis = np.linalg.eigh(covariance[r])
        scale = np.sqrt(np.maximum(scale, 1e-30 * scale[:, -1:]))
        z = generator.standard_normal((r.size, offspring, n))
        y = z @ np.swapaxes(basis * scale[:, None, :], 1, 2)
        x = np.clip(mean[r, None, :] + sigma[r, None, None] * y, lower[r, None, :], upper[r, None, :])
        values = value(x, r)
        evaluations += values.size
        order = np.argsort(values, axis=1, kind="stable")[:, : weights.size]
        chosen = np.take_along_axis(x, order[:, :, None], axis=1)
        sorted_values = np.take_along_axis(values, order, axis=1)
        better = sorted_values[:, 0] < best_value[r]
        best[r[better]], best_value[r[better]] = chosen[better, 0], sorted_values[better, 0]
        moved = (chosen - mean[r, None, :]) / sigma[r, None, None]
        shift = weights @ moved
        mean[r] += sigma[r, None] * shift
        whitened = (basis @ ((np.swapaxes(basis, 1, 2) @ shift[:, :, None]) / scale[:, :, None]))[:, :, 0]
        path_sigma[r] = (1 - sigma_rate) * path_sigma[r] + math.sqrt(sigma_rate * (2 - sigma_rate) * mass) * whitened
        length = np.linalg.norm(path_sigma[r], axis=1)
        fading = math.sqrt(1 - (1 - sigma_rate) ** (2 * (generation + 1)))
        fresh = (length / fading < (1.4 + 2 / (n + 1)) * normal_length).astype(float)
        path[r] = (1 - path_rate) * path[r] + (fresh * math.sqrt(path_rate * (2 - path_rate) * mass))[:, None] * shift
        lost = (1 - fresh) * path_rate * (2 - path_rate)
        covariance[r] = (
            (1 - one - many + one * lost)[:, None, None] * covariance[r]
            + one * path[r, :, None] * path[r, None, :]
            + many * np.swapaxes(moved, 1, 2) @ (weights[:, None] * moved)
        )
        growth = np.minimum(sigma_rate / damping * (length / normal_length - 1), 1.0)
        spread = np.sqrt(np.trace(covariance[r], axis1=1, axis2=2))
        sigma[r] = np.maximum(np.minimum(sigma[r] * np.exp(growth), longest[r] / spread), 1e-290)
        # Agreement of the better half, finite: where all are infinite the search has found no feasible point yet.
        agreed = np.isfinite(sorted_values[:, -1])
        agreed[agreed] = sorted_values[agreed, -1] - sorted_values[agreed, 0] <= tolerance
        running = r[~agreed]
        if running.size == 0:
            break
    return Found(best, best_value, evaluations)
