"""Loss, gradient and one step of SGD, from sums over all values that the features and the labels' noise can take.

What is measured are means over the nodes of Gauss rules (:func:`fsl_num.paper.model.measurements.cloud`); what is
claimed are the formulas, each with the keywords that its mutants change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.model import Model
from fsl_num.paper.hypotheses import located
from fsl_num.paper.model.measurements import cloud
from fsl_num.paper.model.tables import Numbers
from fsl_num.simulate.random_features import random_projection
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array

NOISE = 0.49
"""sigma^2: sigma and its square differ, and neither is 1."""
STEP, PHI, BATCH = 0.3, 0.7, 4
"""h, phi and b of one step: eta = h phi."""


@dataclass(frozen=True, eq=False)
class Case:
    """A regression, weights of its model, and all values of a sample: features, label noise and probabilities."""

    problem: Regression
    projection: Array
    v: Array
    phi: Array
    epsilon: Array
    chance: Array

    @property
    def error(self) -> Array:
        """u = W'v - theta*."""
        return np.asarray(self.v @ self.projection - self.problem.theta)

    @property
    def gradients(self) -> Array:
        """The gradient of the loss of each sample, by differences of the loss: exact for a function of degree 2."""
        return np.stack([(self.losses(self.v + e) - self.losses(self.v - e)) / 2 for e in np.eye(self.v.size)], axis=1)

    def losses(self, v: Array) -> Array:
        """The loss (f(x; v) - y)^2/2 of each sample."""
        labels = self.phi @ self.problem.theta + self.epsilon
        return np.asarray(0.5 * (self.phi @ self.projection.T @ v - labels) ** 2)

    @property
    def mean(self) -> Array:
        """The mean gradient."""
        return np.asarray(self.chance @ self.gradients)

    @property
    def covariance(self) -> Array:
        """The covariance of the gradient."""
        left = self.gradients - self.mean
        return np.asarray((left.T * self.chance) @ left)


@lru_cache(maxsize=64)
def cases(sample: Sample) -> Mapping[str, Case]:
    """First and random features of three families, at random weights."""
    generator = np.random.default_rng([sample.seed, 11])
    by_name = {}
    for family, kind, size, features in (
        ("gaussian", "first", 2, 4),
        ("gaussian", "random", 2, 4),
        ("uniform", "random", 3, 4),
        ("rademacher", "random", 2, 3),
    ):
        drawn = random_projection(size, features, generator)
        first = np.eye(size, features)
        projection = drawn if kind == "random" else None
        model = Model(*sample.point, size, NOISE)
        problem = Regression(model, features=features, family=family, projection=projection)
        xi, chance = cloud(family, features)
        phi = xi * np.sqrt(problem.eigenvalues)
        sigma = math.sqrt(NOISE)
        epsilon = np.repeat([-sigma, sigma], phi.shape[0])
        by_name[f"{family}, {kind}"] = Case(
            problem, drawn if kind == "random" else first, generator.standard_normal(size),
            np.concatenate([phi, phi]), epsilon, np.concatenate([chance, chance]) / 2,
        )  # fmt: skip
    return by_name


def _sizes(sample: Sample) -> dict[str, Array]:
    every = cases(sample).values()
    return {"N": np.array([case.phi.shape[1] for case in every]), "M": np.array([case.v.size for case in every])}


of_cases = located(_sizes)
"""A measurement of the cases, which names their sizes."""


def step_moments(sample: Sample) -> Numbers:
    """Mean and covariance of one step of SGD with eta = h phi and batch b: of the weights and of the residual u."""
    moments: dict[str, Array] = {}
    for name, case in cases(sample).items():
        rate = STEP * PHI
        mean, covariance = -rate * case.mean, rate**2 / BATCH * case.covariance
        moments |= {f"{name}: mean v": mean, f"{name}: covariance v": covariance}
        moments[f"{name}: mean u"] = mean @ case.projection
        moments[f"{name}: covariance u"] = case.projection.T @ covariance @ case.projection
    return moments


def pick(numbers: Mapping[str, Any], letter: str) -> Numbers:
    """What bears a name that ends with the letter."""
    return {name: value for name, value in numbers.items() if name.endswith(letter)}


def weight_moments(sample: Sample) -> Located:
    """Those of the weights alone, with the letters of the step: phi and b of physical time, t of intrinsic time."""
    rate = STEP * PHI
    step = {"h": STEP, "phi": PHI, "eta": rate, "t": rate, "b": BATCH, "B": BATCH, "gamma": rate / BATCH}
    return Located(pick(step_moments(sample), " v"), step)
