"""Loss, gradient and one step of SGD, from sums over all values that the features and the labels' noise can take.

What is measured are means over the nodes of Gauss rules (:func:`fsl_num.paper.model.measurements.cloud`); what is
claimed are the formulas, each with the keywords that its mutants change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.model import Model
from fsl_num.paper.model.measurements import cloud
from fsl_num.paper.model.tables import Numbers
from fsl_num.simulate.noise_covariance import noise_covariance
from fsl_num.simulate.random_features import random_projection
from fsl_num.simulate.regression import Regression

Array = NDArray[np.float64]
NOISE = 0.49
"""sigma^2: sigma and its square differ, and neither is 1."""


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
    found = {}
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
        found[f"{family}, {kind}"] = Case(
            problem, drawn if kind == "random" else first, generator.standard_normal(size),
            np.concatenate([phi, phi]), epsilon, np.concatenate([chance, chance]) / 2,
        )  # fmt: skip
    return found


def mean_losses(sample: Sample) -> Numbers:
    """The mean of the loss."""
    return {name: np.array([case.chance @ case.losses(case.v)]) for name, case in cases(sample).items()}


def risk_formula(sample: Sample, *, half: float = 0.5, label: float = 0.5, power: float = 1.0) -> Numbers:
    """half ||W'v - theta||_H^2 + label sigma^2; ``power`` of H in the norm."""
    return {
        name: np.array([half * (case.problem.eigenvalues**power @ case.error**2) + label * NOISE])
        for name, case in cases(sample).items()
    }


def excess_losses(sample: Sample) -> Numbers:
    """Twice the mean loss of first features, without the labels' noise."""
    case = cases(sample)["gaussian, first"]
    return {"2E": np.array([2 * (case.chance @ case.losses(case.v)) - NOISE])}


def top_risk_formula(sample: Sample, *, shift: int = 0, tail: float = 1.0, power: float = 1.0) -> Numbers:
    """The sum over the first M features and the sum over the others, from M + 1 + shift on."""
    case = cases(sample)["gaussian, first"]
    own, theta, size = case.problem.eigenvalues, case.problem.theta, case.v.size
    head = own[:size] ** power @ (case.v - theta[:size]) ** 2
    return {"2E": np.array([head + tail * (own[size + shift :] @ theta[size + shift :] ** 2)])}


def differences(sample: Sample) -> Numbers:
    """Gradients of the losses of some samples, of the risk, and its second derivative, all by differences."""
    found = {}
    for name, case in cases(sample).items():
        unit = np.eye(case.v.size)

        def risk(v: Array, case: Case = case) -> float:
            return float(case.chance @ case.losses(v))

        found[f"{name}: loss"] = case.gradients[::17]
        found[f"{name}: risk"] = np.array([(risk(case.v + e) - risk(case.v - e)) / 2 for e in unit])
        second = [
            [risk(case.v + e + d) - risk(case.v + e) - risk(case.v + d) + risk(case.v) for e in unit] for d in unit
        ]
        found[f"{name}: second"] = np.array(second)
    return found


def gradient_formula(sample: Sample, *, sign: float = 1.0, label: float = 1.0, power: float = 1.0) -> Numbers:
    """W phi (phi'u - label epsilon), sign W H u and W H W', with a power of H."""
    found = {}
    for name, case in cases(sample).items():
        own = case.problem.eigenvalues**power
        slope = case.phi @ case.error - label * case.epsilon
        found[f"{name}: loss"] = ((case.phi @ case.projection.T) * slope[:, None])[::17]
        found[f"{name}: risk"] = sign * (case.projection * own) @ case.error
        found[f"{name}: second"] = (case.projection * own) @ case.projection.T
    return found


def noise_covariances(sample: Sample) -> Numbers:
    """The covariance of the gradient at batch size 1."""
    return {name: case.covariance for name, case in cases(sample).items()}


def noise_formula(sample: Sample, *, label: float = 1.0, mean: float = 0.0, fourth: float = 1.0) -> Numbers:
    """The formula of Sigma: with the kurtosis of each family, ``mean`` times the squared mean gradient added."""
    found = {}
    for name, case in cases(sample).items():
        noiseless = replace(case.problem, model=replace(case.problem.model, noise=0.0))
        curved = (case.projection * case.problem.eigenvalues) @ case.projection.T
        pull = (case.projection * case.problem.eigenvalues) @ case.error
        found[name] = fourth * noise_covariance(noiseless, case.v) + label * NOISE * curved
        found[name] = found[name] + mean * np.outer(pull, pull)
    return found


BATCHES = (1, 2, 3)


def batch_moments(sample: Sample) -> Numbers:
    """Mean and covariance of the gradient of a batch, over all batches of one, two and three samples."""
    case = cases(sample)["rademacher, random"]
    own = case.gradients
    found: dict[str, Array] = {}
    for batch in BATCHES:
        total, chance = np.zeros((1, case.v.size)), np.ones(1)
        for _ in range(batch):
            total = (total[:, None] + own[None]).reshape(-1, case.v.size)
            chance = np.multiply.outer(chance, case.chance).ravel()
        mean = chance @ total / batch
        left = total / batch - mean
        found[f"mean, B = {batch}"] = mean
        found[f"covariance, B = {batch}"] = (left.T * chance) @ left
    return found


def batch_formula(sample: Sample, *, power: float = 1.0, second: bool = False) -> Numbers:
    """grad R and Sigma/B^power; ``second``: the second moment of the gradient in place of the covariance."""
    case = cases(sample)["rademacher, random"]
    pull = (case.projection * case.problem.eigenvalues) @ case.error
    covariance = noise_covariance(case.problem, case.v) + (np.outer(pull, pull) if second else 0.0)
    found: dict[str, Array] = {}
    for batch in BATCHES:
        found[f"mean, B = {batch}"] = pull
        found[f"covariance, B = {batch}"] = covariance / batch**power
    return found


STEP, PHI, BATCH = 0.3, 0.7, 4
"""h, phi and b of one step: eta = h phi."""


def step_moments(sample: Sample) -> Numbers:
    """Mean and covariance of one step of SGD with eta = h phi and batch b: of the weights and of the residual u."""
    found: dict[str, Array] = {}
    for name, case in cases(sample).items():
        rate = STEP * PHI
        mean, covariance = -rate * case.mean, rate**2 / BATCH * case.covariance
        found |= {f"{name}: mean v": mean, f"{name}: covariance v": covariance}
        found[f"{name}: mean u"] = mean @ case.projection
        found[f"{name}: covariance u"] = case.projection.T @ covariance @ case.projection
    return found


def _pick(found: Mapping[str, Any], letter: str) -> Numbers:
    return {name: value for name, value in found.items() if name.endswith(letter)}


def weight_moments(sample: Sample) -> Numbers:
    """Those of the weights alone."""
    return _pick(step_moments(sample), " v")


def residual_moments(sample: Sample) -> Numbers:
    """Those of the residual alone; the covariance twice, for the two ways to drive it."""
    found = dict(_pick(step_moments(sample), " u"))
    return found | {f"{name}, M noises": value for name, value in found.items() if "covariance" in name}


def physical_formula(
    sample: Sample, *, sign: float = -1.0, rate: float = 2.0, step: float = 1.0, batch: float = 1.0
) -> Any:
    """A step h of Euler and Maruyama for the equation in physical time, with powers of phi, h and 1/b in the noise."""
    found = {}
    for name, case in cases(sample).items():
        pull = (case.projection * case.problem.eigenvalues) @ case.error
        found[f"{name}: mean v"] = sign * PHI * pull * STEP
        strength = PHI**rate * STEP**step / BATCH**batch
        found[f"{name}: covariance v"] = strength * noise_covariance(case.problem, case.v) * STEP
    return found


def intrinsic_formula(sample: Sample, *, gamma: float = 1.0, length: float = 1.0, sign: float = -1.0) -> Numbers:
    """A step eta of the scheme for the equation in intrinsic time, gamma = eta/B; both factors for mutants."""
    rate = STEP * PHI
    found = {}
    for name, case in cases(sample).items():
        pull = (case.projection * case.problem.eigenvalues) @ case.error
        found[f"{name}: mean v"] = sign * pull * rate * length
        found[f"{name}: covariance v"] = gamma * rate / BATCH * rate * noise_covariance(case.problem, case.v)
    return found


def residual_formula(sample: Sample, *, swapped: bool = False, sign: float = -1.0, rooted: bool = True) -> Numbers:
    """-W'WHu, and the squares of both noise matrices: the root of W'Sigma W, and W' times the root of Sigma.

    ``swapped``: HW'W for W'WH; ``rooted`` False: Sigma in place of its root.
    """
    from scipy.linalg import sqrtm

    rate, gamma = STEP * PHI, STEP * PHI / BATCH
    found = {}
    for name, case in cases(sample).items():
        w, own = case.projection, np.diag(case.problem.eigenvalues)
        pull = own @ w.T @ w if swapped else w.T @ w @ own
        found[f"{name}: mean u"] = sign * pull @ case.error * rate
        covariance = noise_covariance(case.problem, case.v)
        values, vectors = np.linalg.eigh(w.T @ covariance @ w)
        wide = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        narrow = w.T @ (np.real(sqrtm(covariance)) if rooted else covariance)
        found[f"{name}: covariance u"] = gamma * rate * wide @ wide.T
        found[f"{name}: covariance u, M noises"] = gamma * rate * narrow @ narrow.T
    return found


def row_sums(sample: Sample) -> Numbers:
    """The squares of the rows of the root of Sigma, added up."""
    from scipy.linalg import sqrtm

    return {name: (np.real(sqrtm(case.covariance)) ** 2).sum(axis=1) for name, case in cases(sample).items()}


def row_formula(sample: Sample, *, diagonal: bool = False, power: float = 1.0) -> Numbers:
    """e_j'Sigma e_j; ``diagonal``: the squared diagonal of the root alone."""
    from scipy.linalg import sqrtm

    found = {}
    for name, case in cases(sample).items():
        covariance = noise_covariance(case.problem, case.v)
        found[name] = np.diag(np.real(sqrtm(covariance))) ** 2 if diagonal else np.diag(covariance) ** power
    return found


ROTATED_STEPS, ROTATED_RATE = 30, 0.2


@lru_cache(maxsize=64)
def _stream(sample: Sample) -> tuple[Array, Array, Array, Array]:
    """A rotation, a random projection, and one stream of standardised features and label noise."""
    generator = np.random.default_rng([sample.seed, 12])
    rotation = np.linalg.qr(generator.standard_normal((4, 4)))[0]
    return (
        rotation, random_projection(2, 4, generator), generator.standard_normal((ROTATED_STEPS, 2, 4)),
        0.7 * generator.standard_normal((ROTATED_STEPS, 2)),
    )  # fmt: skip


def _path(sample: Sample, projection: Array, turn: Array, aim: Array) -> Array:
    """The excess risk along SGD on features turn phi, with batches of two; the aim is in the turned coordinates."""
    stream = _stream(sample)
    own = np.arange(1.0, 5.0) ** -sample.point[1]
    phi = (stream[2] * np.sqrt(own)) @ turn.T
    covariance = (turn * own) @ turn.T
    v, found = np.zeros(projection.shape[0]), []
    for features, noise in zip(phi, stream[3], strict=True):
        slope = features @ (v @ projection) - (features @ aim + noise)
        v = v - ROTATED_RATE * (slope @ (features @ projection.T)) / 2
        error = v @ projection - aim
        found.append(0.5 * error @ covariance @ error)
    return np.array(found)


def _theta(sample: Sample) -> Array:
    s, beta = sample.point
    return np.asarray(np.arange(1.0, 5.0) ** (-0.5 * (1.0 + beta * (s - 1.0))))


def _projections(sample: Sample) -> Mapping[str, Array]:
    return {"all": np.eye(4), "first": np.eye(2, 4), "random": _stream(sample)[1]}


def rotated_paths(sample: Sample, *, kept: bool = False) -> Numbers:
    """Paths on rotated features; ``kept``: with the same W instead of W Q'."""
    turn = _stream(sample)[0]
    return {
        name: _path(sample, w if kept else w @ turn.T, turn, turn @ _theta(sample))
        for name, w in _projections(sample).items()
    }


def diagonal_paths(sample: Sample, *, projection: str = "own", aim: str = "own") -> Numbers:
    """Paths on the features of diagonal covariance; for mutants with W or theta* turned as well."""
    turn = _stream(sample)[0]
    turns = {"own": np.eye(4), "turned": turn, "turned back": turn.T}
    return {
        name: _path(sample, w @ turns[projection], np.eye(4), turns[aim] @ _theta(sample))
        for name, w in _projections(sample).items()
    }
