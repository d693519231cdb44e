"""The usual schedules, and some unusual ones, as shares of gamma_max on the cells of a mesh."""

from __future__ import annotations

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.mesh import MeshEquation

BURST = 0.3
"""Bursts end at this multiple of min(M^beta, T)."""

SHAPES = (
    "constant", "exponential decay", "warmup-stable-decay", "cosine", "step up", "step down", "burst then zero",
    "burst at the end", "long zero phase", "oscillation",
)  # fmt: skip
"""Names of the shapes: the paper's schedules first."""


def shape(name: str, equation: MeshEquation) -> Array:
    """gamma/gamma_max on every cell; ValueError for a name that is not in :data:`SHAPES`.

    In intrinsic time exponential decay is a straight line (from 1 down to 1/100 here); the cosine is a parabola's
    square root, from phi = (1 + cos(pi tau/K))/2 and t the integral of phi.
    """
    share, mesh = equation.mesh.middles, equation.mesh
    middle = 0.5 * (mesh.t[:-1] + mesh.t[1:])
    late = 0.5 * (mesh.remaining[:-1] + mesh.remaining[1:])
    scale = min(equation.size**equation.beta, float(mesh.t[-1]))
    if name == "constant":
        return np.ones_like(share)
    if name == "exponential decay":
        return np.asarray(0.01 + 0.99 * late / mesh.t[-1])
    if name == "warmup-stable-decay":
        return np.asarray(np.minimum(1.0, 0.01 + 2.0 * late / mesh.t[-1]))
    if name == "cosine":
        # tau from t by bisection of tau + sin(pi tau)/pi = t (both as shares).
        low, high = np.zeros_like(share), np.ones_like(share)
        for _ in range(40):
            tau = 0.5 * (low + high)
            below = tau + np.sin(np.pi * tau) / np.pi < share
            low, high = np.where(below, tau, low), np.where(below, high, tau)
        return np.asarray(0.5 * (1.0 + np.cos(np.pi * low)))
    if name == "step up":
        return np.asarray(np.where(share < 0.5, 0.05, 1.0))
    if name == "step down":
        return np.asarray(np.where(share < 0.5, 1.0, 0.05))
    if name == "burst then zero":
        return np.asarray(middle < BURST * scale, dtype=np.float64)
    if name == "burst at the end":
        return np.asarray(late < 3.0, dtype=np.float64)
    if name == "long zero phase":
        return np.asarray((middle < BURST * scale) | (late < 3.0), dtype=np.float64)
    if name == "oscillation":
        return np.asarray(np.arange(share.size) % 2 == 0, dtype=np.float64)
    raise ValueError(f"no schedule is called {name!r}: choose one of {', '.join(SHAPES)}")
