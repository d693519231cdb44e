"""What the measurements of the model share: means over features, their extreme vectors, the noise of the gradient.

Expectations over features are sums over the nodes of Gauss rules, exact for polynomials of degree 5 in each feature:
they are those of the definitions, and know nothing of the formulas that the claims state.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from itertools import product
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.gauss_rules import legendre_rule
from fsl_num.paper.hypotheses import PROJECTIONS, located
from fsl_num.paper.model.statements import Operator
from fsl_num.simulate.random_features import random_projection
from fsl_num.validation import Array

FEATURE_COUNT = 4
"""Features of the fourth moments: enough for the constants of every family, which depend on their number."""
SIZES = (8, 16, 32, 64)


@cache
def nodes(family: str) -> tuple[Array, Array]:
    """The Gauss rule of one standardised feature, exact to degree 5: nodes and weights that add up to 1."""
    if family == "gaussian":
        points, weights = np.polynomial.hermite_e.hermegauss(3)
    elif family == "uniform":
        points, weights = legendre_rule(3)
        points = points * math.sqrt(3.0)
    elif family == "rademacher":
        points, weights = np.array([-1.0, 1.0]), np.array([1.0, 1.0])
    elif family == "laplace":  # an exponential of either sign, of variance 1
        half, mass = np.polynomial.laguerre.laggauss(3)
        points, weights = np.concatenate([-half, half]) / math.sqrt(2.0), np.concatenate([mass, mass])
    else:
        raise ValueError(f"no rule for the family {family!r}")
    return points, weights / weights.sum()


@cache
def cloud(family: str, size: int) -> tuple[Array, Array]:
    """All points of ``size`` independent features, shape (points, size), and their probabilities."""
    points, weights = nodes(family)
    grid = np.array(list(product(range(points.size), repeat=size)))
    return points[grid], np.asarray(np.prod(weights[grid], axis=1))


def _middle(family: str, a: Array) -> Array:
    """E[(a'xi)^2 xi xi'] - aa'."""
    xi, weights = cloud(family, a.size)
    return np.asarray((xi.T * (weights * (xi @ a) ** 2)) @ xi - np.outer(a, a))


def extreme_vectors(family: str, size: int, seed: int) -> list[Array]:
    """Vectors a at which E[(a'xi)^2 (b'xi)^2] - (a'b)^2 is least and largest over unit a and b, as a search finds them.

    For fixed a the best b is an eigenvector, and both may change their roles: the two are exchanged until nothing more
    is gained, from eight random starts each way.
    """
    generator = np.random.default_rng([seed, size])
    extremes = []
    for sign in (1.0, -1.0):
        best, kept = math.inf, np.eye(size)[0]
        for _ in range(8):
            a = generator.standard_normal(size)
            a /= np.linalg.norm(a)
            last = math.inf
            for _ in range(500):
                values, vectors = np.linalg.eigh(sign * _middle(family, a))
                if values[0] < best:
                    best, kept = float(values[0]), a
                if last - values[0] < 1e-13:
                    break
                last, a = float(values[0]), vectors[:, 0]
        extremes.append(kept)
    return extremes


def eigenvalues(sample: Sample) -> Array:
    """lambda_j = j^-beta of the small models."""
    return np.asarray(np.arange(1.0, FEATURE_COUNT + 1.0) ** -sample.point[1])


def _noise_cases(family: str, sample: Sample) -> tuple[Array, list[tuple[Array, Array]]]:
    """theta, and W with the weights at which the covariance of the gradient is taken."""
    s, beta = sample.point
    theta = np.arange(1.0, FEATURE_COUNT + 1.0) ** (-0.5 * (1.0 + beta * (s - 1.0)))
    generator = np.random.default_rng([sample.seed, 2])
    everything, root = np.eye(FEATURE_COUNT), np.sqrt(eigenvalues(sample))
    cases = [(everything, theta + a / root) for a in extreme_vectors(family, FEATURE_COUNT, sample.seed)]
    cases += [(everything, generator.standard_normal(FEATURE_COUNT)) for _ in range(2)]
    cases += [(random_projection(2, FEATURE_COUNT, generator), generator.standard_normal(2)) for _ in range(3)]
    return theta, cases


def last_risk(sample: Sample) -> dict[str, Any]:
    """E as bounds have it, and W, v and theta of which it is one."""
    theta, cases = _noise_cases("gaussian", sample)
    projection, v = cases[-1]
    residual = (v @ projection - theta)[:, None]
    own = np.diag(eigenvalues(sample))
    return {"E": gradient_noises("gaussian", sample)[-1].size / 2.0, "u": residual, "H": own}


@lru_cache(maxsize=64)
def gradient_noises(family: str, sample: Sample) -> tuple[Operator, ...]:
    """The covariance of the gradient at weights of all kinds, for all features and for random W, with sigma^2 = 1.

    It is E[gg'] - E[g]E[g]' of g = W phi (phi'u - epsilon) over all points of the features and both signs of epsilon.
    """
    own, (theta, cases) = eigenvalues(sample), _noise_cases(family, sample)
    xi, weights = cloud(family, FEATURE_COUNT)
    phi = xi * np.sqrt(own)
    noises = []
    for projection, v in cases:
        error = v @ projection - theta
        seen = phi @ projection.T
        gradients = [seen * (phi @ error - label)[:, None] for label in (-1.0, 1.0)]
        mean = sum(0.5 * weights @ gradient for gradient in gradients)
        second = sum(0.5 * (gradient.T * weights) @ gradient for gradient in gradients)
        curved = (projection * own) @ projection.T
        noises.append(Operator(second - np.outer(mean, mean), curved, float(own @ error**2), noise=1.0))
    return tuple(noises)


of_noises = located({"N": FEATURE_COUNT, PROJECTIONS.name: ("all", "random")})
"""A measurement of them, which names the number of features and the projections."""
