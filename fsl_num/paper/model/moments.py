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
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.model import Model as PowerLaw
from fsl_num.paper.model.measurements import cloud
from fsl_num.paper.model.tables import Numbers
from fsl_num.simulate.random_features import random_projection
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression

Array = NDArray[np.float64]

FEATURES, MODEL = 4, 2
NOISE = 0.49
SOLVER = 1e-10
"""Relative tolerance of the integrator at its steps; between them it interpolates at a lower order, to some 1e-7."""
STEP = 0.2
TIMES = (0.5, 1.5, 4.0)
"""Physical times at which moments are compared."""
_PEAK, _FALL = 1.2, 0.5


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


@lru_cache(maxsize=64)
def models(sample: Sample) -> Mapping[str, Model]:
    """First and random features, normal, and random ones of uniform features."""
    s, beta = sample.point
    index = np.arange(1.0, FEATURES + 1.0)
    own, theta = index**-beta, index ** (-0.5 * (1.0 + beta * (s - 1.0)))
    generator = np.random.default_rng([sample.seed, 21])
    found = {}
    for name, family in (("first", "gaussian"), ("random", "gaussian"), ("random uniform", "uniform")):
        xi, chance = cloud(family, FEATURES)
        drawn = random_projection(MODEL, FEATURES, generator)
        projection = np.eye(MODEL, FEATURES) if name == "first" else drawn
        found[name] = Model(own, theta, projection, xi * np.sqrt(own), chance)
    return found


Path = Callable[[float], Array]


def solve(model: Model, drift: Callable[[float], float], strength: Callable[[float], float], upto: float) -> Path:
    """The path of P up to a time, by a Runge-Kutta method of order 8."""
    from scipy.integrate import solve_ivp

    def slope(time: float, state: Array) -> Array:
        return model.moves(state.reshape(FEATURES, FEATURES), drift(time), strength(time)).ravel()

    found = solve_ivp(
        slope, (0.0, upto), model.start.ravel(), "DOP853", dense_output=True, rtol=SOLVER, atol=1e-13, max_step=0.5
    )
    if not found.success:
        raise ArithmeticError(f"the moments could not be followed: {found.message}")
    path: Any = found.sol
    return lambda time: np.asarray(path(time).reshape(FEATURES, FEATURES))


@lru_cache(maxsize=64)
def physical_path(sample: Sample, name: str) -> Path:
    """P along physical time."""
    return solve(
        models(sample)[name], lambda tau: float(phi(tau)),
        lambda tau: float(phi(tau) ** 2 * STEP / batch(tau)), max(TIMES),
    )  # fmt: skip


def gamma(t: float, *, power: float = 1.0, step: float = 1.0, size: float = 1.0, own_time: bool = True) -> float:
    """gamma(t) = h phi/b at T^-1(t); the keywords are for mutants, ``own_time`` False takes phi and b at t."""
    tau = inverse_clock(t) if own_time else t
    return float(STEP**step * phi(tau) ** power / batch(tau) ** size)


@lru_cache(maxsize=256)
def intrinsic_path(sample: Sample, name: str, keywords: tuple[tuple[str, Any], ...] = (), factor: float = 1.0) -> Path:
    """P along intrinsic time."""
    upto = max(clock(max(TIMES)), max(TIMES))
    given = dict(keywords)
    return solve(models(sample)[name], lambda t: 1.0, lambda t: factor * gamma(t, **given), upto)


CLOCKED = ("first", "random uniform")
"""The models that are followed in both times."""


def physical_risks(sample: Sample) -> Numbers:
    """2E at physical times."""
    return {
        name: np.array([models(sample)[name].risk(physical_path(sample, name)(tau)) for tau in TIMES])
        for name in CLOCKED
    }


def intrinsic_risks(sample: Sample, *, factor: float = 1.0, clocked: bool = True, **keywords: Any) -> Numbers:
    """2E of the equation in intrinsic time at T(tau); ``clocked`` False reads it at tau."""
    found = {}
    for name in CLOCKED:
        model = models(sample)[name]
        path = intrinsic_path(sample, name, tuple(sorted(keywords.items())), factor)
        found[name] = np.array([model.risk(path(clock(tau) if clocked else tau)) for tau in TIMES])
    return found


NODES = 30
"""Gauss nodes of one integral: the integrands are smooth, on a length of at most 4."""


def _quadrature(upto: float) -> tuple[Array, Array]:
    points, weights = np.polynomial.legendre.leggauss(NODES)
    return 0.5 * upto * (points + 1.0), 0.5 * upto * weights


@lru_cache(maxsize=64)
def _history(sample: Sample, name: str, upto: float) -> tuple[Array, Array, tuple[Array, ...], tuple[Array, ...]]:
    """Nodes, weights, and gamma times the mean of Sigma, and P, at the nodes."""
    model, path = models(sample)[name], intrinsic_path(sample, name)
    points, weights = _quadrature(upto)
    seconds = tuple(path(float(z)) for z in points)
    noises = tuple(gamma(float(z)) * model.noise(second) for z, second in zip(points, seconds, strict=True))
    return points, weights, noises, seconds


def coordinate_moments(sample: Sample) -> Numbers:
    """E (nu_j - theta_j)^2 of first features, from the solved moments."""
    path = intrinsic_path(sample, "first")
    return {f"t = {t:g}": np.diag(path(t))[:MODEL] for t in TIMES}


def _forgotten(sample: Sample, t: float, rate: float, lag: bool, start: float, noise: float, shift: int) -> Array:
    model = models(sample)["first"]
    points, weights, noises, _ = _history(sample, "first", t)
    own, theta = model.own[:MODEL], model.theta[:MODEL]
    found = start * theta**2 * np.exp(-rate * own * t)
    for z, weight, each in zip(points, weights, noises, strict=True):
        q = np.roll(np.diag(each), shift)
        found = found + noise * weight * np.exp(-rate * own * (t - z if lag else z)) * q
    return np.asarray(found)


def coordinate_formula(
    sample: Sample, *, rate: float = 2.0, lag: bool = True, start: float = 1.0, noise: float = 1.0, shift: int = 0
) -> Numbers:
    """theta_j^2 exp(-2 lambda_j t) + int exp(-2 lambda_j (t-z)) gamma E q_j dz; the keywords are for mutants."""
    return {f"t = {t:g}": _forgotten(sample, t, rate, lag, start, noise, shift) for t in TIMES}


def first_risks(sample: Sample) -> Numbers:
    """2E of first features at intrinsic times."""
    model, path = models(sample)["first"], intrinsic_path(sample, "first")
    return {"2E": np.array([model.risk(path(t)) for t in TIMES])}


def risk_sum(
    sample: Sample, *, half: float = 1.0, tail: float = 1.0, rate: float = 2.0, power: float = 1.0, noise: float = 1.0
) -> Numbers:
    """The three sums of the risk of first features; the keywords are for mutants."""
    model = models(sample)["first"]
    own, theta = model.own, model.theta
    left = tail * own[MODEL:] @ theta[MODEL:] ** 2
    sums = [own[:MODEL] ** power @ _forgotten(sample, t, rate, True, 1.0, noise, 0) + left for t in TIMES]
    return {"2E": half * np.array(sums)}


def _decay(model: Model, time: float, swapped: bool = False) -> Array:
    from scipy.linalg import expm

    return np.asarray(expm(-time * (model.pull.T if swapped else model.pull)))


def evolution_risks(sample: Sample) -> Numbers:
    """2E under every projection at intrinsic times."""
    return {
        name: np.array([model.risk(intrinsic_path(sample, name)(t)) for t in TIMES])
        for name, model in models(sample).items()
    }


def evolution_formula(
    sample: Sample, *, swapped: bool = False, half: float = 1.0, noise: float = 1.0, inside: bool = True
) -> Numbers:
    """u_0'A'HAu_0 + int tr(A'HA gamma W'Sigma W); ``swapped``: HW'W for W'WH; ``inside`` False: A H A' for A'HA."""
    found = {}
    for name, model in models(sample).items():
        values = []
        for t in TIMES:
            total = 0.0
            for place, z, weight in _starts(sample, name, t):
                left = _decay(model, t - z, swapped)
                seen = (left.T * model.own) @ left if inside else (left * model.own) @ left.T
                if place is None:
                    total += float(model.theta @ seen @ model.theta)
                else:
                    total += noise * weight * float(np.trace(seen @ model.projection.T @ place @ model.projection))
            values.append(half * total)
        found[name] = np.array(values)
    return found


def _starts(sample: Sample, name: str, t: float) -> list[tuple[Array | None, float, float]]:
    points, weights, noises, _ = _history(sample, name, t)
    later = [(each, float(z), float(weight)) for z, weight, each in zip(points, weights, noises, strict=True)]
    return [(None, 0.0, 1.0), *later]


def noise_ratios(sample: Sample, name: str) -> list[float]:
    """c with E tr(A'HA W'Sigma W) = (c E + sigma^2) tr(S A'HA S), for all times t and tau < t that are compared."""
    model = models(sample)[name]
    found: list[float] = []
    for t in TIMES:
        points, _, _, seconds = _history(sample, name, t)
        found += [_ratio(model, second, t - float(z)) for z, second in list(zip(points, seconds, strict=True))[::5]]
    return found


def _ratio(model: Model, second: Array, lag: float) -> float:
    left = _decay(model, lag)
    seen = (left.T * model.own) @ left
    spread = model.projection.T @ ((model.projection * model.own) @ model.projection.T) @ model.projection
    kernel = float(np.trace(spread @ seen))
    noise = model.projection.T @ model.noise(second) @ model.projection
    return (float(np.trace(seen @ noise)) - NOISE * kernel) / (kernel * 0.5 * model.risk(second))


def all_noise_ratios(sample: Sample) -> list[float]:
    """Those of first and random normal features, and two that reach the ends of their range.

    One is where nothing of what can be learned is left, one where all of it is in the slowest mode, long after.
    """
    found = [each for name in ("first", "random") for each in noise_ratios(sample, name)]
    first = models(sample)["first"]
    unlearned = np.diag(np.where(np.arange(FEATURES) < MODEL, 0.0, first.theta**2))
    slowest = np.diag(np.where(np.arange(FEATURES) == MODEL - 1, 1.0, 0.0))
    return [*found, _ratio(first, unlearned, 1.0), _ratio(first, slowest, 40.0)]


BURST = 0.02
"""Length of the burst of noise after which gamma is 0."""


def burst_constants(sample: Sample) -> tuple[list[float], float]:
    """What one function c(tau) would have to average to, for each mode, over a burst of noise; and the length of it.

    After the burst 2E is a sum of exponentials of different rates, so that the equation for all later t is one equation
    for each mode: the means of c under the weights exp(2 lambda_j tau) E gamma.
    """
    model = models(sample)["first"]
    path = solve(model, lambda t: 1.0, lambda t: 0.5, BURST)
    points, weights = _quadrature(BURST)
    own = model.own[:MODEL]
    above, below = np.zeros(MODEL), np.zeros(MODEL)
    for z, weight in zip(points, weights, strict=True):
        second = path(float(z))
        seen = np.exp(2.0 * own * z) * weight
        above += seen * (np.diag(model.noise(second)) / own - NOISE)
        below += seen * 0.5 * model.risk(second)
    return (above / below).tolist(), BURST


def grid_risks(sample: Sample) -> Numbers:
    """The excess risk of SGD with normal features and learning rates that fall, step by step, by its own recursion."""
    s, beta = sample.point
    problem = Regression(PowerLaw(s=s, beta=beta, size=MODEL, noise=NOISE), features=FEATURES)
    return {"E": exact_risk(problem, GRID_RATES, every=1).excess_risk[1:]}


GRID_RATES = tuple(0.4 * math.exp(-0.3 * k) for k in range(8))


def _scheme(sample: Sample, lengths: tuple[float, ...]) -> Array:
    """E after each step of length ``lengths``, with noise gamma = eta/B of the step."""
    model = models(sample)["first"]
    second, found = model.start, []
    for rate, length in zip(GRID_RATES, lengths, strict=True):
        turn = np.eye(FEATURES) - length * model.pull
        noise = model.projection.T @ model.noise(second) @ model.projection
        second = turn @ second @ turn.T + length * rate * noise
        found.append(0.5 * model.risk(second))
    return np.array(found)


def scheme_formula(sample: Sample, *, shift: int = 0) -> Numbers:
    """The scheme on the grid t_k = sum_{j < k + shift} eta_j, whose steps are eta_{k + shift}."""
    rates = (*GRID_RATES, 0.4 * math.exp(-0.3 * len(GRID_RATES)))
    ends = np.concatenate([[0.0], np.cumsum(rates)])[shift : shift + len(GRID_RATES) + 1]
    return {"E": _scheme(sample, tuple(np.diff(ends).tolist()))}
