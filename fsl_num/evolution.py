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
from functools import cache

import numpy as np
import numpy.typing as npt

from fsl_num.compiled import compiled
from fsl_num.validation import Array

_SWEEPS = 30
"""Rounds of rotations, at most: six are enough for any matrix of numbers."""
Rows = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


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
    single = 2 / ((n + 1.3) ** 2 + mass)
    many = min(1 - single, 2 * (mass - 2 + 1 / mass) / ((n + 2) ** 2 + mass))
    damping = 1 + 2 * max(0.0, math.sqrt((mass - 1) / (n + 1)) - 1) + sigma_rate
    return weights, mass, sigma_rate, path_rate, single, many, damping


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
    weights, mass, sigma_rate, path_rate, single, many, damping = _strategy(n, offspring)
    roots, place, adapt = _compiled()
    mean, sigma = start.copy(), step.copy()
    covariance = np.broadcast_to(np.eye(n), (searches, n, n)).copy()
    path_sigma, path = np.zeros((searches, n)), np.zeros((searches, n))
    best = start.copy()
    best_value = value(start[:, None, :], np.arange(searches))[:, 0].copy()
    evaluations = searches
    longest = (upper - lower).max(axis=1) + 1e-300
    rates = (mass, sigma_rate, path_rate, single, many, damping)
    running = np.arange(searches)
    for generation in range(generations):
        r = running
        root, inverse = np.empty((r.size, n, n)), np.empty((r.size, n, n))
        roots(covariance[r], root, inverse)
        x = generator.standard_normal((r.size, offspring, n))
        place(x, root, mean[r], sigma[r], lower[r], upper[r])
        values = np.ascontiguousarray(value(x, r))
        evaluations += values.size
        fading = math.sqrt(1 - (1 - sigma_rate) ** (2 * (generation + 1)))
        going = adapt(
            x, values, inverse, r, weights, rates, fading, tolerance,
            longest, mean, sigma, path_sigma, path, covariance, best, best_value,
        )  # fmt: skip
        running = r[going]
        if running.size == 0:
            break
    return Found(best, best_value, evaluations)


@cache
def _compiled() -> tuple[Callable[..., None], Callable[..., None], Callable[..., Flags]]:
    return compiled(_roots), compiled(_place), compiled(_adapt)


def _roots(matrices: Array, root: Array, inverse: Array) -> None:
    """The symmetric square root of each covariance, and its inverse.

    Jacobi's rotations, in place: of matrices as small as these they take a quarter of the time of LAPACK.
    """
    n = matrices.shape[1]
    for i in range(matrices.shape[0]):
        matrix, axes = matrices[i], np.eye(n)
        for _ in range(_SWEEPS):
            turning = False
            for a in range(n - 1):
                for b in range(a + 1, n):
                    if abs(matrix[a, b]) <= 1e-14 * math.sqrt(abs(matrix[a, a] * matrix[b, b])):
                        continue
                    turning = True
                    slope = (matrix[b, b] - matrix[a, a]) / (2.0 * matrix[a, b])
                    tangent = math.copysign(1.0, slope) / (abs(slope) + math.sqrt(slope * slope + 1.0))
                    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
                    sine = tangent * cosine
                    for columns in (matrix, axes):
                        for k in range(n):
                            left, right = columns[k, a], columns[k, b]
                            columns[k, a], columns[k, b] = cosine * left - sine * right, sine * left + cosine * right
                    for k in range(n):
                        left, right = matrix[a, k], matrix[b, k]
                        matrix[a, k], matrix[b, k] = cosine * left - sine * right, sine * left + cosine * right
                    matrix[a, b] = matrix[b, a] = 0.0
            if not turning:
                break
        largest = 0.0
        for a in range(n):
            largest = max(largest, matrix[a, a])
        root[i], inverse[i] = 0.0, 0.0
        for axis in range(n):
            length = math.sqrt(max(matrix[axis, axis], 1e-30 * largest))
            for a in range(n):
                for b in range(n):
                    root[i, a, b] += axes[a, axis] * axes[b, axis] * length
                    inverse[i, a, b] += axes[a, axis] * axes[b, axis] / length


def _place(x: Array, root: Array, mean: Array, sigma: Array, lower: Array, upper: Array) -> None:
    """Turn the normal numbers ``x`` (searches, offspring, n) into the offspring of each search, inside its box."""
    n = mean.shape[1]
    normal = np.empty(n)
    for i in range(x.shape[0]):
        for offspring in range(x.shape[1]):
            for a in range(n):
                normal[a] = x[i, offspring, a]
            for a in range(n):
                moved = 0.0
                for b in range(n):
                    moved += root[i, a, b] * normal[b]
                x[i, offspring, a] = min(max(mean[i, a] + sigma[i] * moved, lower[i, a]), upper[i, a])


def _adapt(
    x: Array, values: Array, inverse: Array, rows: Rows, weights: Array, rates: tuple[float, ...],
    fading: float, tolerance: float, longest: Array, mean: Array, sigma: Array, path_sigma: Array, path: Array,
    covariance: Array, best: Array, best_value: Array,
) -> Flags:  # fmt: skip
    """Adapt the searches ``rows`` to their offspring, in place, and return which of them go on."""
    mass, sigma_rate, path_rate, single, many, damping = rates
    n, parents = mean.shape[1], weights.size
    normal_length = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
    whitening = math.sqrt(sigma_rate * (2 - sigma_rate) * mass)
    straightening = math.sqrt(path_rate * (2 - path_rate) * mass)
    going = np.ones(rows.size, dtype=np.bool_)
    order = np.empty(parents, dtype=np.intp)
    moved, shift = np.empty((parents, n)), np.empty(n)
    for i in range(rows.size):
        r = rows[i]
        kept = 0  # the better half so far, in order; of equal values the first comes first
        for offspring in range(values.shape[1]):
            here = values[i, offspring]
            if kept == parents and not here < values[i, order[kept - 1]]:
                continue
            at = min(kept, parents - 1)
            while at > 0 and here < values[i, order[at - 1]]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = offspring
            kept = min(kept + 1, parents)
        first, last = values[i, order[0]], values[i, order[parents - 1]]
        if first < best_value[r]:
            best_value[r] = first
            for a in range(n):
                best[r, a] = x[i, order[0], a]
        for a in range(n):
            shift[a] = 0.0
            for p in range(parents):
                moved[p, a] = (x[i, order[p], a] - mean[r, a]) / sigma[r]
                shift[a] += weights[p] * moved[p, a]
            mean[r, a] += sigma[r] * shift[a]
        squares = 0.0
        for a in range(n):
            whitened = 0.0
            for b in range(n):
                whitened += inverse[i, a, b] * shift[b]
            path_sigma[r, a] = (1 - sigma_rate) * path_sigma[r, a] + whitening * whitened
            squares += path_sigma[r, a] ** 2
        length = math.sqrt(squares)
        fresh = 1.0 if length / fading < (1.4 + 2 / (n + 1)) * normal_length else 0.0
        for a in range(n):
            path[r, a] = (1 - path_rate) * path[r, a] + fresh * straightening * shift[a]
        remembered = 1 - single - many + single * (1 - fresh) * path_rate * (2 - path_rate)
        spread = 0.0
        for a in range(n):
            for b in range(a + 1):
                chosen = 0.0
                for p in range(parents):
                    chosen += weights[p] * moved[p, a] * moved[p, b]
                covariance[r, a, b] = (
                    remembered * covariance[r, a, b] + single * path[r, a] * path[r, b] + many * chosen
                )
                covariance[r, b, a] = covariance[r, a, b]
            spread += covariance[r, a, a]
        growth = min(sigma_rate / damping * (length / normal_length - 1), 1.0)
        sigma[r] = max(min(sigma[r] * math.exp(growth), longest[r] / math.sqrt(spread)), 1e-290)
        # Agreement of the better half, finite: where all are infinite the search has found no feasible point yet.
        going[i] = not (math.isfinite(last) and last - first <= tolerance)
    return going
