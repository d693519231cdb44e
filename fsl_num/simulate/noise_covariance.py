r"""The covariance of the gradient noise, exactly, for every family of features.

At batch size 1 the gradient is W phi (phi'u - epsilon) with u = W'v - theta*, and

    Sigma(v) = W (E[(phi'uu'phi) phi phi'] - H uu' H) W' + sigma^2 W H W'

(lemma labelled lemma: noise-covariance). At batch size B it is Sigma(v)/B.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fsl_num.simulate.families import Family
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array, finite_array, instance_of

_MOST = 4096  # features: a matrix of that size is 134 MB


def noise_covariance(problem: Regression, v: Any) -> Array:
    """Return Sigma(v) for weights ``v`` of shape (M,), shape (M, M), exactly up to rounding.

    Source: lemma labelled lemma: noise-covariance-main.

    Independent features may be infinitely many where the model has the first M. Raises ValueError where ``v`` does not
    fit, or where there are too many features to be listed.

    >>> from fsl_num.model import Model
    >>> problem = Regression(Model(s=0.5, beta=2.0, size=2, noise=0.0), family="rademacher")
    >>> noise_covariance(problem, problem.theta + [1.0, 0.0]).tolist()
    [[0.0, 0.0], [0.0, 0.25]]
    """
    instance_of("problem", problem, Regression)
    kind = problem.family
    assert isinstance(kind, Family) and problem.features is not None
    weights = _weights(problem, v)
    alone = problem.projection is None and kind.kurtosis is not None
    listed = problem.model.size if alone else problem.features
    if listed > _MOST:
        raise ValueError(f"the noise covariance lists at most {_MOST} features, got {listed:g}")
    size = weights.size
    if alone:
        # the features beyond M enter by the risk that they leave, delta = E[(tail' phi)^2]
        first = problem.spectrum.eigenvalues
        error = weights - (problem.theta[:size] if problem.target is not None else _first_theta(problem, size))
        covariance = kind.fourth_moment(first, np.outer(error, error)) - np.outer(first * error, first * error)
        covariance[np.arange(size), np.arange(size)] += (problem.tail + problem.model.noise) * first
        return covariance
    eigenvalues = problem.eigenvalues
    projection = np.eye(size, eigenvalues.size) if problem.projection is None else problem.projection
    error = weights @ projection - problem.theta
    inner = kind.fourth_moment(eigenvalues, np.outer(error, error))
    inner -= np.outer(eigenvalues * error, eigenvalues * error)
    covariance = projection @ inner @ projection.T + problem.model.noise * (projection * eigenvalues) @ projection.T
    return np.asarray(0.5 * (covariance + covariance.T))  # products of matrices are symmetric up to rounding only


def curvature(problem: Regression) -> Array:
    """Return W H W', the second derivative of the risk, shape (M, M).

    >>> from fsl_num.model import Model
    >>> curvature(Regression(Model(s=0.5, beta=2.0, size=2, noise=0.0))).tolist()
    [[1.0, 0.0], [0.0, 0.25]]
    """
    if problem.projection is None:
        return np.diag(problem.spectrum.eigenvalues)
    return np.asarray((problem.projection * problem.eigenvalues) @ problem.projection.T)


def _weights(problem: Regression, v: Any) -> Array:
    weights = finite_array("v", v)
    if not math.isfinite(problem.model.size) or weights.shape != (int(problem.model.size),):
        raise ValueError(f"v must be model_size = {problem.model.size:g} numbers, got the shape {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("v must be finite")
    return weights


def _first_theta(problem: Regression, size: int) -> Array:
    return np.asarray(np.arange(1.0, size + 1.0) ** (-0.5 * (1.0 + problem.model.beta * (problem.model.s - 1.0))))
