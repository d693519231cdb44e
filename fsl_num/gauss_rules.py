"""Gauss rules of counting measures and of other discrete positive measures: fewer points, positive weights."""

from __future__ import annotations

import math

import numpy as np

from fsl_num.validation import Array

BLOCK_NODES = 16
"""Points that stand for a block of indices; shorter blocks are kept as they are."""


def block_rules(edges: Array) -> tuple[Array, Array]:
    """Return positions and weights with sum_{j=a}^{b-1} p(j) = sum w p(x), degree 31, for the blocks between edges."""
    counts = np.diff(edges)
    x, w = [], []
    for first, count in zip(edges[:-1][counts <= BLOCK_NODES], counts[counts <= BLOCK_NODES], strict=True):
        x.append(first + np.arange(int(count)))
        w.append(np.ones(int(count)))
    first, count = edges[:-1][counts > BLOCK_NODES], counts[counts > BLOCK_NODES]
    if count.size:
        n = np.arange(1, BLOCK_NODES, dtype=np.float64)
        squares = n**2 * (1.0 - (n / count[:, None]) ** 2) / (4.0 * (4.0 * n**2 - 1.0))
        matrix = np.zeros((count.size, BLOCK_NODES, BLOCK_NODES))
        rows = np.arange(BLOCK_NODES - 1)
        matrix[:, rows + 1, rows] = np.sqrt(squares)
        nodes, vectors = np.linalg.eigh(matrix)
        x.append((first[:, None] + 0.5 * (count[:, None] - 1.0) + count[:, None] * nodes).ravel())
        w.append((count[:, None] * vectors[:, 0, :] ** 2).ravel())
    return np.concatenate(x), np.concatenate(w)


def gauss_rule(nodes: Array, weights: Array, size: int) -> tuple[Array, Array]:
    """Return the Gauss rule of ``size`` points for a discrete positive measure (Lanczos, reorthogonalised twice)."""
    total = math.fsum(weights)
    centre = 0.5 * (nodes.max() + nodes.min())
    scale = max(0.5 * (nodes.max() - nodes.min()), 1e-300)
    moved = (nodes - centre) / scale
    size = min(size, len(nodes))
    basis = np.zeros((size, len(nodes)))
    basis[0] = np.sqrt(weights / total)
    diagonal, beside = np.zeros(size), np.zeros(max(size - 1, 0))
    used = size
    for k in range(size):
        image = moved * basis[k]
        diagonal[k] = image @ basis[k]
        for _ in range(2):
            image = image - (basis[: k + 1] @ image) @ basis[: k + 1]
        norm = float(np.linalg.norm(image))
        if k + 1 == size:
            break
        if norm < 1e-14:
            used = k + 1
            break
        beside[k] = norm
        basis[k + 1] = image / norm
    matrix = np.diag(diagonal[:used]) + np.diag(beside[: used - 1], -1)
    found, vectors = np.linalg.eigh(matrix)
    return centre + scale * found, total * vectors[0] ** 2
