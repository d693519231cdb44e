"""The terms of the laws of random features, evaluated for one draw.

The paper's: e(t) = sum_j mu_j theta_j^2 exp(-2 mu_j t) with the j-th eigenvalue mu_j of W H W' beside the j-th
coordinate of the target, and M^(-s beta). Ours: the eigenvectors of W H W' are turned against those of H, so that mode
j also sees a share 1/M of each coordinate before it,

    leak(t) = (1/M) sum_j mu_j (sum_{i <= j} theta_i^2) exp(-2 mu_j t),

and the target loses what M rows do not reach of N features,

    floor = kappa sum_j lambda_j theta_j^2/(lambda_j + kappa),    sum_j lambda_j/(lambda_j + kappa) = M.

kappa is of the order of M^-beta, and the floor of the order of M^(-beta min(s, 1)), with a logarithm at s = 1.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from fsl_num.paper.random_features.draws import FEATURES_PER_MODEL, Draw, decay, features
from fsl_num.validation import Array


def signal_term(draw: Draw, s: float, beta: float, times: Array) -> Array:
    """e(t) of the paper at ``times``."""
    _, squares = features(s, beta, draw.model_size)
    return np.asarray(decay(draw.eigenvalues, times) @ (draw.eigenvalues * squares[: draw.model_size]))


def reversed_signal(draw: Draw, s: float, beta: float, times: Array) -> Array:
    """e(t) with the coordinates of the target in the reverse order."""
    _, squares = features(s, beta, draw.model_size)
    return np.asarray(decay(draw.eigenvalues, times) @ (draw.eigenvalues * squares[: draw.model_size][::-1]))


def unit_signal(draw: Draw, s: float, beta: float, times: Array) -> Array:
    """e(t) for entries of W of variance 1, as printed: every eigenvalue is M times as large."""
    _, squares = features(s, beta, draw.model_size)
    own = draw.model_size * draw.eigenvalues
    return np.asarray(decay(own, times) @ (own * squares[: draw.model_size]))


def leak_term(draw: Draw, s: float, beta: float, times: Array) -> Array:
    """(1/M) sum_j mu_j (sum_{i<=j} theta_i^2) exp(-2 mu_j t)."""
    size = draw.model_size
    before = np.cumsum(features(s, beta, size)[1])[:size] / size
    return np.asarray(decay(draw.eigenvalues, times) @ (draw.eigenvalues * before))


@cache
def kappa(beta: float, size: int) -> float:
    """The positive root of sum_{j <= N} lambda_j/(lambda_j + kappa) = M."""
    from scipy.optimize import brentq

    eigenvalues = np.arange(1.0, FEATURES_PER_MODEL * size + 1.0) ** -beta

    def balance(logarithm: float) -> float:
        return float((eigenvalues / (eigenvalues + np.exp(logarithm))).sum()) - size

    centre = -beta * np.log(size)
    return float(np.exp(brentq(balance, centre - 12.0 * beta, centre + 12.0 * beta, xtol=1e-13, rtol=1e-14)))


@cache
def floor(s: float, beta: float, size: int) -> float:
    """What M random features leave of the target for ever: kappa sum_j lambda_j theta_j^2/(lambda_j + kappa)."""
    eigenvalues, squares = features(s, beta, size)
    least = kappa(beta, size)
    return float((least * eigenvalues / (eigenvalues + least)) @ squares)


@cache
def top_tail(s: float, beta: float, size: int) -> float:
    """What the first M of N features leave of the target for ever: delta_M."""
    eigenvalues, squares = features(s, beta, size)
    return float(eigenvalues[size:] @ squares[size:])
