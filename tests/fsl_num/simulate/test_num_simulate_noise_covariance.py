"""The covariance of the gradient noise: against samples."""

import math

import numpy as np
import pytest
from models import regression_of

from fsl_num.model import Model
from fsl_num.simulate.families import FAMILIES
from fsl_num.simulate.noise_covariance import curvature, noise_covariance
from fsl_num.simulate.regression import Regression

SIZES = {"size": 3, "features": 5}
PROJECTION = np.random.default_rng(1).standard_normal((3, 5))


@pytest.mark.parametrize("projection", [None, PROJECTION], ids=["first", "random"])
@pytest.mark.parametrize("name", FAMILIES)
def test_it_is_the_covariance_of_gradients(name, projection):
    problem = regression_of(s=0.5, beta=1.5, noise=0.5, family=name, projection=projection, **SIZES)
    weights = np.eye(3, 5) if projection is None else projection
    generator = np.random.default_rng(7)
    count = 100_000
    v = np.array([0.3, -1.0, 0.8])
    phi = problem.family.draw(generator, count, 5) * np.sqrt(problem.eigenvalues)
    residual = phi @ (weights.T @ v - problem.theta) - math.sqrt(0.5) * generator.standard_normal(count)
    gradients = (phi @ weights.T) * residual[:, None]
    products = (gradients - gradients.mean(axis=0))[:, :, None] * (gradients - gradients.mean(axis=0))[:, None, :]
    exact = noise_covariance(problem, v)
    assert curvature(problem) == pytest.approx((weights * problem.eigenvalues) @ weights.T, rel=1e-14)
    # 6 entries, each within 4.5 standard errors of its mean: a right covariance fails with probability 4e-5
    error = products.std(axis=0) / math.sqrt(count)
    assert (np.abs(products.mean(axis=0) - exact) < 4.5 * error).all()
    # The test refutes a covariance that keeps the mean gradient's square.
    mean = weights @ (problem.eigenvalues * (weights.T @ v - problem.theta))
    assert (np.abs(products.mean(axis=0) - exact - np.outer(mean, mean)) > 4.5 * error).any()


@pytest.mark.parametrize("target", [None, "given"])
def test_an_infinite_tail_of_independent_features(target):
    v = np.array([0.5, 0.1, -0.2])
    if target is None:
        infinite = Regression(Model(s=0.8, beta=2.5, size=3, noise=0.2), features=math.inf, family="uniform")
        finite = Regression(Model(s=0.8, beta=2.5, size=3, noise=0.2), features=3000, family="uniform")
    else:
        theta = np.random.default_rng(0).standard_normal(30)
        infinite = Regression(Model(s=0.8, beta=2.5, size=3, noise=0.2), features=30, family="uniform", target=theta)
        finite = Regression(
            Model(s=0.8, beta=2.5, size=3, noise=0.2),
            features=30,
            family="uniform",
            target=theta,
            projection=np.eye(3, 30),
        )
    # the tail beyond 3000 is 3000^-2/2 in the infinite one
    assert noise_covariance(infinite, v) == pytest.approx(noise_covariance(finite, v), abs=1e-7)


@pytest.mark.parametrize(
    ("v", "text"), [([1.0, 2.0], "model_size = 4"), ([1.0, 2.0, math.nan, 0.0], "finite"), (np.ones((2, 4)), "shape")]
)
def test_weights_that_do_not_fit_are_refused(v, text):
    problem = Regression(Model(s=0.5, beta=2.0, size=4, noise=1.0))
    with pytest.raises(ValueError, match=text):
        noise_covariance(problem, v)


def test_too_many_features_are_refused():
    many = Regression(Model(s=0.5, beta=2.0, size=2, noise=1.0), features=math.inf, family="trigonometric")
    with pytest.raises(ValueError, match="at most 4096"):
        noise_covariance(many, [0.0, 0.0])
