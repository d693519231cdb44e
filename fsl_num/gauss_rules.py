"""Gauss rules: of Legendre, of counting measures and of other discrete positive measures."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from fsl_num.validation import Array

BLOCK_NODES = 16
"""Points that stand for a block of indices; shorter blocks are kept as they are."""

_ELLIPSES = np.array([1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0])
_ANGLES = 24


@cache
def legendre_rule(size: int) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss and Legendre on [-1, 1], made once: one takes longer than many an integrand.

    >>> [part.round(6).tolist() for part in legendre_rule(2)]
    [[-0.57735, 0.57735], [1.0, 1.0]]
    """
    nodes, weights = np.polynomial.legendre.leggauss(size)
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights


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


def block_remainders(edges: Array, power: float, beta: float) -> tuple[Array, Array]:
    r"""Return C and kappa, of shape (blocks, ellipses): the error of :func:`block_rules` on x^-power exp(-2 t x^-beta).

    For every t >= 0 and each block it is at most the least of C exp(-2 t kappa) over the ellipses. Proof: on an ellipse
    with foci at the ends of a block and sum rho of its half axes the summand is at most Mx = max |x|^-power
    exp(-2 t min Re x^-beta), so that polynomials of degree 31 come within 2 Mx rho^-31/(rho - 1) of it; sum and rule
    are positive and have the mass of the block. Blocks that are kept index by index have no error and are left out.
    """
    count = np.diff(edges)
    first, count = edges[:-1][count > BLOCK_NODES][:, None], count[count > BLOCK_NODES][:, None]
    half = 0.5 * (count - 1.0)
    centre = first + half
    wide, high = half * 0.5 * (_ELLIPSES + 1.0 / _ELLIPSES), half * 0.5 * (_ELLIPSES - 1.0 / _ELLIPSES)
    inside = wide < 0.999 * centre
    wide = np.where(inside, wide, 0.0)
    degree = 2 * BLOCK_NODES - 1
    share = 4.0 * _ELLIPSES**-degree / (_ELLIPSES - 1.0)
    bound = np.where(inside, count * share * (centre - wide) ** -power, math.inf)
    slowest = np.full_like(bound, math.inf)
    angles = np.linspace(0.0, math.pi, _ANGLES + 1)
    for low, up in zip(angles[:-1], angles[1:], strict=True):
        # On this arc |x| falls with the angle; its argument is at most that of the corner that bounds the arc.
        tallest = high * (1.0 if low < 0.5 * math.pi < up else max(math.sin(low), math.sin(up)))
        longest = np.hypot(centre + wide * math.cos(low), high * math.sin(low))
        shortest = np.hypot(centre + wide * math.cos(up), high * math.sin(up))
        turn = beta * np.arctan2(tallest, centre + wide * math.cos(up))
        cosine = np.cos(np.minimum(turn, math.pi))
        slowest = np.minimum(slowest, np.where(cosine > 0.0, longest, shortest) ** -beta * cosine)
    return bound, slowest


def jacobi_matrix(nodes: Array, weights: Array, size: int) -> tuple[Array, Array]:
    """Return diagonal and off-diagonal of the Jacobi matrix of a discrete positive measure on [-1, 1].

    Lanczos, reorthogonalised twice; at most ``size`` rows, fewer where the measure has fewer points.
    """
    size = min(size, len(nodes))
    basis = np.zeros((size, len(nodes)))
    basis[0] = np.sqrt(weights / math.fsum(weights))
    diagonal, beside = np.zeros(size), np.zeros(max(size - 1, 0))
    for k in range(size):
        image = nodes * basis[k]
        diagonal[k] = image @ basis[k]
        for _ in range(2):
            image = image - (basis[: k + 1] @ image) @ basis[: k + 1]
        norm = float(np.linalg.norm(image))
        if k + 1 == size:
            break
        if norm < 1e-14:
            return diagonal[: k + 1], beside[:k]
        beside[k] = norm
        basis[k + 1] = image / norm
    return diagonal, beside


def rule_of_matrix(diagonal: Array, beside: Array, size: int) -> tuple[Array, Array]:
    """Return nodes and weights, of sum 1, of the Gauss rule of ``size`` points: a leading part of the Jacobi matrix."""
    size = min(size, len(diagonal))
    nodes, vectors = np.linalg.eigh(np.diag(diagonal[:size]) + np.diag(beside[: size - 1], -1))
    return nodes, vectors[0] ** 2


def gauss_rule(nodes: Array, weights: Array, size: int) -> tuple[Array, Array]:
    """Return the Gauss rule of ``size`` points for a discrete positive measure."""
    centre = 0.5 * (nodes.max() + nodes.min())
    scale = max(0.5 * (nodes.max() - nodes.min()), 1e-300)
    points, masses = rule_of_matrix(*jacobi_matrix((nodes - centre) / scale, weights, size), size)
    return centre + scale * points, math.fsum(weights) * masses
