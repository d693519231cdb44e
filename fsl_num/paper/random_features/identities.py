"""Identities for random features on small matrices: matrix exponentials and roots by general routines, no spectra."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample

Array = NDArray[np.float64]
Point = tuple[Any, ...]
Table = list[tuple[Point, float]]

SIZE, FEATURES = 3, 5
CASES = 3
TIMES = (0.3, 2.0, 20.0)
ROUNDING = 1e-8
"""Entries of order 1, conditioned by the least eigenvalue of W H W', which is at least 1e-6 in these cases."""


@lru_cache(maxsize=64)
def case(sample: Sample, number: int) -> tuple[Array, Array, Array]:
    """W, the eigenvalues of H and theta*."""
    s, beta = sample.point
    index = np.arange(1.0, FEATURES + 1.0)
    generator = np.random.default_rng([sample.seed, 21, number])
    projection = generator.standard_normal((SIZE, FEATURES)) / np.sqrt(SIZE)
    return projection, index ** -min(beta, 3.0), index ** (-0.5 * (1.0 + min(beta, 3.0) * (min(s, 1.5) - 1.0)))


def forgetting(projection: Array, eigenvalues: Array, time: float) -> Array:
    """A_t = exp(-W'W H t)."""
    from scipy.linalg import expm

    return np.asarray(expm(-time * (projection.T @ projection) * eigenvalues))


def _entries(sample: Sample, matrix: Callable[[int, float], Array]) -> Table:
    found: Table = []
    for number in range(CASES):
        for time in TIMES:
            value = matrix(number, time)
            found += [
                ((number, time, i, j), float(value[i, j])) for i in range(value.shape[0]) for j in range(value.shape[1])
            ]
    return found


def entry(matrix: Callable[[int, float], Array]) -> Callable[[Point], float]:
    """The claimed entry at a point (case, time, i, j)."""
    return lambda point: float(matrix(point[0], point[1])[point[2], point[3]])


def noise_traces(sample: Sample) -> Table:
    """tr(S A_t'H A_t S) by matrix roots and exponentials."""
    from scipy.linalg import sqrtm

    found: Table = []
    for number in range(CASES):
        projection, eigenvalues, _ = case(sample, number)
        outer = projection.T @ projection
        root = np.real(sqrtm((outer * eigenvalues) @ outer))
        for time in TIMES:
            decayed = forgetting(projection, eigenvalues, time)
            found.append(((number, time), float(np.trace(root @ (decayed.T * eigenvalues) @ decayed @ root))))
    return found


def kernel_of(sample: Sample, power: float = 2.0, rate: float = 2.0, *, own: bool = True) -> Callable[[Point], float]:
    """sum_j mu_j^power exp(-rate mu_j t), mu_j the eigenvalues of W H W' (of H where not ``own``)."""

    def claimed(point: Point) -> float:
        projection, eigenvalues, _ = case(sample, point[0])
        spectrum = np.linalg.eigvalsh((projection * eigenvalues) @ projection.T) if own else eigenvalues[:SIZE]
        return float((spectrum**power) @ np.exp(-rate * spectrum * point[1]))

    return claimed


def left_of(sample: Sample, number: int, time: float) -> Array:
    """A_t'H A_t."""
    projection, eigenvalues, _ = case(sample, number)
    decayed = forgetting(projection, eigenvalues, time)
    return np.asarray((decayed.T * eigenvalues) @ decayed)


def left_entries(sample: Sample) -> Table:
    """All entries of A_t'H A_t."""
    return _entries(sample, lambda number, time: left_of(sample, number, time))


def split(sample: Sample, number: int, time: float, *, never: float = 1.0, printed_series: bool = False) -> Array:
    """H^(1/2) [``never`` (I - P'(PP')^-1 P) + P'(PP')^-1 exp(-2 PP't) P] H^(1/2), P = W H^(1/2).

    ``printed_series``: the series I + sum (-t)^(a+b)/(a! b!) P'(PP')^-1 P of line 2812 in place of the bracket.
    """
    projection, eigenvalues, _ = case(sample, number)
    root = np.sqrt(eigenvalues)
    rows = projection * root
    gram = rows @ rows.T
    span = rows.T @ np.linalg.solve(gram, rows)
    if printed_series:
        inner = np.eye(FEATURES) + (np.exp(-2.0 * time) - 1.0) * span
    else:
        values, vectors = np.linalg.eigh(gram)
        decayed = (vectors * np.exp(-2.0 * values * time)) @ vectors.T
        inner = never * (np.eye(FEATURES) - span) + rows.T @ np.linalg.solve(gram, decayed @ rows)
    return np.asarray(root[:, None] * inner * root)


def least_surplus(sample: Sample) -> list[tuple[str, float]]:
    """The least eigenvalue of A_t'H A_t - H^(1/2) (I - P'(PP')^-1 P)^2 H^(1/2), and minus that of twice the latter."""
    found = []
    for number in range(CASES):
        for time in TIMES:
            rest = split(sample, number, np.inf)
            surplus = left_of(sample, number, time) - rest
            found.append((f"case {number}, t = {time:g}", float(np.linalg.eigvalsh(surplus)[0])))
    return found


def first_columns(sample: Sample) -> Table:
    """(W H W')^-1 W_0:k H_0:k for k = 1, 2."""
    found: Table = []
    for number in range(CASES):
        projection, eigenvalues, _ = case(sample, number)
        gram = (projection * eigenvalues) @ projection.T
        for count in (1, 2):
            value = np.linalg.solve(gram, projection[:, :count] * eigenvalues[:count])
            found += [((number, count, i, j), float(value[i, j])) for i in range(SIZE) for j in range(count)]
    return found


def split_columns(sample: Sample, number: int, count: int, *, inverse: float = 1.0, tail: bool = True) -> Array:
    """A_k^-1 W_0:k [H_0:k^-1 + W_0:k'A_k^-1 W_0:k]^-1; ``inverse`` scales H^-1, A_k has all of W if not ``tail``."""
    projection, eigenvalues, _ = case(sample, number)
    first = projection[:, :count]
    start = count if tail else 0
    rest = (projection[:, start:] * eigenvalues[start:]) @ projection[:, start:].T
    solved = np.linalg.solve(rest, first)
    middle = inverse * np.diag(1.0 / eigenvalues[:count]) + first.T @ solved
    return np.asarray(np.linalg.solve(middle.T, solved.T).T)


@lru_cache(maxsize=8)
def ordered_pair(seed: int, number: int) -> tuple[Array, Array, Array]:
    """P <= Q and U, all positive semidefinite and dense."""
    generator = np.random.default_rng([seed, 22, number])
    parts = [generator.standard_normal((4, 4)) for _ in range(3)]
    low, gap, weight = (part @ part.T for part in parts)
    return low, low + gap, weight


def trace_gaps(sample: Sample) -> Table:
    """tr(Q^(1/2) U Q^(1/2)) - tr(P^(1/2) U P^(1/2)) for P <= Q."""
    from scipy.linalg import sqrtm

    found: Table = []
    for number in range(6):
        low, high, weight = ordered_pair(sample.seed, number)
        first, second = np.real(sqrtm(low)), np.real(sqrtm(high))
        gap = float(np.trace(second @ weight @ second) - np.trace(first @ weight @ first))
        found.append(((number,), gap))
    return found


def squared_norm(sample: Sample, *, swapped: bool = False, unweighted: bool = False) -> Callable[[Point], float]:
    """|(Q - P)^(1/2) U^(1/2)|_F^2, a sum of squares; ``swapped`` with the opposite sign, ``unweighted`` without U."""

    def claimed(point: Point) -> float:
        from scipy.linalg import sqrtm

        low, high, weight = ordered_pair(sample.seed, point[0])
        factor = np.eye(4) if unweighted else np.real(sqrtm(weight))
        value = float(np.linalg.norm(np.real(sqrtm(high - low)) @ factor) ** 2)
        return -value if swapped else value

    return claimed


def sign_risks(sample: Sample) -> Table:
    """theta'S A_t'H A_t S theta with W, for signs S."""
    return _signed(sample, on_target=True)


def sign_claim(sample: Sample, *, flipped: bool = True) -> Callable[[Point], float]:
    """theta'A_t'H A_t theta with W S; without the signs where not ``flipped``."""
    table = dict(_signed(sample, on_target=False, flipped=flipped))
    return lambda point: table[point]


def _signed(sample: Sample, *, on_target: bool, flipped: bool = True) -> Table:
    found: Table = []
    signs = np.array([1.0, -1.0, -1.0, 1.0, -1.0]) if flipped else np.ones(FEATURES)
    for number in range(CASES):
        projection, eigenvalues, theta = case(sample, number)
        matrix, target = (projection, signs * theta) if on_target else (projection * signs, theta)
        for time in TIMES:
            decayed = forgetting(matrix, eigenvalues, time) @ target
            found.append(((number, time), float(eigenvalues @ decayed**2)))
    return found
