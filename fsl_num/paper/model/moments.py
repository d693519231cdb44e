"""Second moments of the stochastic equations, as matrices: solved in physical and in intrinsic time, and as formulas.

P = E[u u'] of the residual obeys dP = -GP - PG' + gamma W'Sigma W per unit of intrinsic time, G = W'WH, where the mean
of Sigma is linear in P. Its fourth moments are sums over the nodes of Gauss rules, whatever the features.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.gauss_rules import legendre_rule
from fsl_num.paper.hypotheses import FEATURES as FEATURE_LAWS
from fsl_num.paper.hypotheses import PROJECTIONS, located
from fsl_num.paper.model.gradients import NOISE
from fsl_num.paper.model.measurements import cloud
from fsl_num.simulate.random_features import random_projection
from fsl_num.validation import Array

FEATURES, MODEL = 4, 2
SOLVER = 1e-10
"""Relative tolerance of the integrator at its steps; between them it interpolates at a lower order, to some 1e-7."""
PHYSICAL_STEP = 0.2
TIMES = (0.5, 1.5, 4.0)
"""Physical times at which moments are compared."""
_PEAK, _FALL = 1.2, 0.5
Path = Callable[[float], Array]
NODES = 30
"""Gauss nodes of one integral: the integrands are smooth, on a length of at most 4."""


def phi(tau: float) -> float:
    """A learning rate that falls: phi = 1.2/(1 + tau/2)."""
    return _PEAK / (1.0 + _FALL * tau)


def clock(tau: float) -> float:
    """Its integral T(tau)."""
    return _PEAK / _FALL * math.log1p(_FALL * tau)


def inverse_clock(t: float) -> float:
    """The physical time of an intrinsic one."""
    return math.expm1(_FALL / _PEAK * t) / _FALL


def batch(tau: float) -> float:
    """A batch size that grows."""
    return 1.0 + 0.7 * tau


@dataclass(frozen=True, eq=False)
class Model:
    """One regression: eigenvalues, target, projection, and the nodes of its features."""

    own: Array
    theta: Array
    projection: Array
    nodes: Array
    chance: Array
    family: str

    @property
    def pull(self) -> Array:
        """G = W'WH."""
        return np.asarray(self.projection.T @ self.projection * self.own)

    @property
    def start(self) -> Array:
        """u_0 u_0' with u_0 = -theta*."""
        return np.outer(self.theta, self.theta)

    def noise(self, second: Array) -> Array:
        """The mean of Sigma, shape (M, M), for P = ``second``."""
        squares = ((self.nodes @ second) * self.nodes).sum(axis=1)
        inner = (self.nodes.T * (self.chance * squares)) @ self.nodes - np.outer(self.own, self.own) * second
        inner += NOISE * np.diag(self.own)
        return np.asarray(self.projection @ inner @ self.projection.T)

    def moves(self, second: Array, drift: float, strength: float) -> Array:
        """drift (-GP - PG') + strength W'Sigma W."""
        pull = self.pull
        noise = self.projection.T @ self.noise(second) @ self.projection
        return np.asarray(-drift * (pull @ second + second @ pull.T) + strength * noise)

    def risk(self, second: Array) -> float:
        """2E = tr(HP)."""
        return float(self.own @ np.diag(second))

    def excess(self, second: Array) -> float:
        """E."""
        return 0.5 * self.risk(second)


@lru_cache(maxsize=64)
def models(sample: Sample) -> Mapping[str, Model]:
    """First and random features, normal, and random ones of uniform features."""
    s, beta = sample.point
    index = np.arange(1.0, FEATURES + 1.0)
    own, theta = index**-beta, index ** (-0.5 * (1.0 + beta * (s - 1.0)))
    generator = np.random.default_rng([sample.seed, 21])
    by_name = {}
    for name, family in (("first", "gaussian"), ("random", "gaussian"), ("random uniform", "uniform")):
        xi, chance = cloud(family, FEATURES)
        drawn = random_projection(MODEL, FEATURES, generator)
        projection = np.eye(MODEL, FEATURES) if name == "first" else drawn
        by_name[name] = Model(own, theta, projection, xi * np.sqrt(own), chance, family)
    return by_name


def of_models(*names: str) -> Callable[[Callable[[Sample], Any]], Callable[[Sample], Located]]:
    """What makes of a measurement of some of these models one that names their sizes and features."""
    return located(
        lambda sample: {
            "N": FEATURES, "M": MODEL, FEATURE_LAWS.name: [models(sample)[name].family for name in names],
            PROJECTIONS.name: [name.split()[0] for name in names],
        }
    )  # fmt: skip


def solve(model: Model, drift: Callable[[float], float], strength: Callable[[float], float], upto: float) -> Path:
    """The path of P up to a time, by a Runge-Kutta method of order 8."""
    from scipy.integrate import solve_ivp

    def slope(time: float, state: Array) -> Array:
        return model.moves(state.reshape(FEATURES, FEATURES), drift(time), strength(time)).ravel()

    solution = solve_ivp(
        slope, (0.0, upto), model.start.ravel(), "DOP853", dense_output=True, rtol=SOLVER, atol=1e-13, max_step=0.5
    )
    if not solution.success:
        raise ArithmeticError(f"the moments could not be followed: {solution.message}")
    path: Any = solution.sol
    return lambda time: np.asarray(path(time).reshape(FEATURES, FEATURES))


def gamma(t: float, *, power: float = 1.0, step: float = 1.0, size: float = 1.0, own_time: bool = True) -> float:
    """gamma(t) = h phi/b at T^-1(t); the keywords are for mutants, ``own_time`` False takes phi and b at t."""
    tau = inverse_clock(t) if own_time else t
    return float(PHYSICAL_STEP**step * phi(tau) ** power / batch(tau) ** size)


@lru_cache(maxsize=256)
def intrinsic_path(sample: Sample, name: str, keywords: tuple[tuple[str, Any], ...] = (), factor: float = 1.0) -> Path:
    """P along intrinsic time."""
    upto = max(clock(max(TIMES)), max(TIMES))
    settings = dict(keywords)
    return solve(models(sample)[name], lambda t: 1.0, lambda t: factor * gamma(t, **settings), upto)


def quadrature(upto: float) -> tuple[Array, Array]:
    """Points and weights of Gauss's rule on [0, upto]."""
    points, weights = legendre_rule(NODES)
    return 0.5 * upto * (points + 1.0), 0.5 * upto * weights


@lru_cache(maxsize=64)
def history(sample: Sample, name: str, upto: float) -> tuple[Array, Array, tuple[Array, ...], tuple[Array, ...]]:
    """Nodes, weights, and gamma times the mean of Sigma, and P, at the nodes."""
    model, path = models(sample)[name], intrinsic_path(sample, name)
    points, weights = quadrature(upto)
    seconds = tuple(path(float(z)) for z in points)
    noises = tuple(gamma(float(z)) * model.noise(second) for z, second in zip(points, seconds, strict=True))
    return points, weights, noises, seconds
