r"""The forgetting kernel as a short sum of decaying exponentials, K(t) = sum_k w_k exp(-2 mu_k t) on [0, horizon].

A model of moderate size is its own such sum. A large or infinite one is shortened by Gauss rules for the sum over j:
the first indices are kept, blocks of later ones are replaced by the nodes of the Gauss rule of their counting measure
(discrete Chebyshev polynomials), and all the modes that hardly decay within the horizon by one Gauss rule. All weights
are positive, and the result is checked against :func:`fsl_num.spectrum.forgetting_kernel`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fsl_num.spectrum import exponential_sum, forgetting_kernel
from fsl_num.validation import Array

ALL_MODES = 400
"""Models up to this size keep every mode."""

_BLOCK_NODES = 16
_TAIL_NODES = 9
_TAIL_DOUBLINGS = 20


@dataclass(frozen=True)
class Modes:
    """Rates mu_k and weights w_k > 0; ``error`` is the largest relative error of K found on a grid of times."""

    rates: Array
    weights: Array
    error: float


def _gauss(diagonal: Array, squares: Array) -> tuple[Array, Array]:
    """Return nodes and relative weights of the Gauss rule with these recurrence coefficients."""
    matrix = np.diag(diagonal) + np.diag(np.sqrt(squares), 1) + np.diag(np.sqrt(squares), -1)
    nodes, vectors = np.linalg.eigh(matrix)
    return np.asarray(nodes, dtype=np.float64), np.asarray(vectors[0] ** 2, dtype=np.float64)


def _block(first: float, last: float) -> tuple[Array, Array]:
    """Return positions and weights with sum_{j=first}^{last} p(j) = sum w p(x) for polynomials up to degree 31."""
    count = last - first + 1.0
    if count <= _BLOCK_NODES:
        return np.asarray(first + np.arange(int(count)), dtype=np.float64), np.ones(int(count))
    n = np.arange(1, _BLOCK_NODES, dtype=np.float64)
    squares = n**2 * (1.0 - (n / count) ** 2) / (4.0 * (4.0 * n**2 - 1.0))
    nodes, weights = _gauss(np.zeros(_BLOCK_NODES), squares)
    return first + 0.5 * (count - 1.0) + count * nodes, count * weights


def _lanczos(nodes: Array, weights: Array, size: int) -> tuple[Array, Array]:
    """Return the Gauss rule of ``size`` points for a discrete positive measure (Lanczos, fully reorthogonalised)."""
    total = math.fsum(weights)
    basis = [np.sqrt(weights / total)]
    diagonal, squares = [], []
    for k in range(size):
        image = nodes * basis[k]
        diagonal.append(float(image @ basis[k]))
        for _ in range(2):
            for vector in basis:
                image = image - (image @ vector) * vector
        norm = float(np.linalg.norm(image))
        if k + 1 == size or norm < 1e-14 * nodes.max():
            break
        squares.append(norm**2)
        basis.append(image / norm)
    found, relative = _gauss(np.array(diagonal), np.array(squares))
    return np.maximum(found, 0.0), total * relative


def _edges(beta: float, size: float, horizon: float, ratio: float) -> tuple[list[float], float]:
    """Return the block edges (first index of each) and the index from which modes hardly decay within the horizon."""
    edges = [33.0]
    while 2.0 * edges[-1] ** -beta * horizon > 1.0 and edges[-1] <= size:
        edges.append(math.ceil(edges[-1] * ratio))
    knee = edges[-1]
    if knee > size:
        # The last modes rule the latest times, so the blocks shrink towards the last index as well.
        distance = float(_BLOCK_NODES)
        while size - distance > edges[0]:
            edges.append(size - distance + 1.0)
            distance *= 2.0
        knee = size + 1.0
    return sorted({edge for edge in edges if edge < knee} | {knee}), knee


def _compressed(beta: float, size: float, horizon: float, ratio: float) -> tuple[Array, Array]:
    edges, knee = _edges(beta, size, horizon, ratio)
    x = [np.arange(1.0, 33.0)]
    w = [np.ones(32)]
    for first, after in zip(edges[:-1], edges[1:], strict=True):
        positions, counts = _block(first, after - 1.0)
        x.append(positions)
        w.append(counts)
    positions, counts = np.concatenate(x), np.concatenate(w)
    rates, weights = positions**-beta, counts * positions ** (-2.0 * beta)
    if knee <= size:
        tail_x, tail_w = [], []
        first = knee
        for _ in range(_TAIL_DOUBLINGS):
            after = min(2.0 * first, size + 1.0)
            positions, counts = _block(first, after - 1.0)
            tail_x.append(positions)
            tail_w.append(counts)
            first = after
            if first > size:
                break
        p, c = np.concatenate(tail_x), np.concatenate(tail_w)
        nodes, masses = p**-beta, c * p ** (-2.0 * beta)
        if first <= size and (rest := exponential_sum(2.0 * beta, 0.0, beta, size, start=int(first))) > 0.0:
            mean = exponential_sum(3.0 * beta, 0.0, beta, size, start=int(first)) / rest
            nodes, masses = np.append(nodes, mean), np.append(masses, rest)
        nodes, masses = _lanczos(nodes, masses, min(_TAIL_NODES, len(nodes)))
        rates, weights = np.concatenate([rates, nodes]), np.concatenate([weights, masses])
    return rates, weights


@lru_cache(maxsize=32)
def kernel_modes(beta: float, model_size: float, horizon: float) -> Modes:
    """Return modes of K_M on [0, horizon], with the relative error measured on 120 times.

    >>> modes = kernel_modes(2.0, math.inf, 1e6)
    >>> modes.error < 1e-12 and len(modes.rates) < 400
    True
    """
    if model_size <= ALL_MODES:
        rates = np.arange(1, int(model_size) + 1, dtype=np.float64) ** -beta
        return Modes(rates, rates**2, 0.0)
    t = np.concatenate([[0.0], np.geomspace(1e-2, horizon, 120)]) if horizon > 1e-2 else np.linspace(0, horizon, 20)
    exact = forgetting_kernel(t, beta, model_size)
    seen = exact > 1e-40 * exact[0]  # later, nothing of an impulse is left that a float loss could show
    ratio, best = 2.0 ** min(1.0, 2.0 / beta), Modes(np.ones(1), np.ones(1), math.inf)
    for _ in range(4):
        rates, weights = _compressed(beta, model_size, horizon, ratio)
        value = np.exp(-2.0 * np.outer(t[seen], rates)) @ weights
        error = float(np.abs(value / exact[seen] - 1.0).max())
        if error < best.error:
            best = Modes(rates, weights, error)
        if error < 1e-13:
            break
        ratio = math.sqrt(ratio)
    return best
