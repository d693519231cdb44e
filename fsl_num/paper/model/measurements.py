"""The model itself measured: fourth moments of features, gradient noise, SGD over all its paths, random features.

Expectations over features are sums over the nodes of Gauss rules, exact for polynomials of degree 5 in each feature:
they are those of the definitions, and know nothing of the formulas that the claims state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.experiments.final_loss import PEAK, PRINTED_POWERS, functional_risk
from fsl_num.model import Model
from fsl_num.paper.model.statements import Operator
from fsl_num.simulate.concentration import Concentration, eigenvalue_ratios
from fsl_num.simulate.random_features import BiasRatios, bias_ratios, random_projection
from fsl_num.simulate.regression import Regression
from fsl_sym.allocation import optimal_allocation

Array = NDArray[np.float64]

FEATURES = 4
"""Features of the fourth moments: enough for the constants of every family, which depend on their number."""
INDEPENDENT = ("uniform", "rademacher", "laplace")
DECAYING = ("exp-decay", "wsd")
BUDGETS = tuple(10.0**k for k in (16, 28, 40, 52))
SIZES = (8, 16, 32, 64)
DRAWS = (400, 200, 150, 120)
BIAS_DRAWS = (32, 24, 16, 12)
"""So many at each size that the upper end of the interval of no failure lies well below the bound that is shown."""


@cache
def nodes(family: str) -> tuple[Array, Array]:
    """The Gauss rule of one standardised feature, exact to degree 5: nodes and weights that add up to 1."""
    if family == "gaussian":
        points, weights = np.polynomial.hermite_e.hermegauss(3)
    elif family == "uniform":
        points, weights = np.polynomial.legendre.leggauss(3)
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
    found = []
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
        found.append(kept)
    return found


def _eigenvalues(sample: Sample) -> Array:
    return np.asarray(np.arange(1.0, FEATURES + 1.0) ** -sample.point[1])


@lru_cache(maxsize=64)
def fourth_moments(family: str, sample: Sample) -> tuple[Operator, ...]:
    """E[(phi'A phi) phi phi'] - HAH at the extreme A = aa' that a search finds, at e_1 e_1', and at four random A."""
    own = _eigenvalues(sample)
    root = np.sqrt(own)
    generator = np.random.default_rng([sample.seed, 1])
    factors = [*(a[:, None] / root[:, None] for a in extreme_vectors(family, FEATURES, sample.seed))]
    factors += [np.eye(FEATURES)[:, :1], *(generator.standard_normal((FEATURES, k)) for k in range(1, FEATURES + 1))]
    xi, weights = cloud(family, FEATURES)
    phi = xi * root
    found = []
    for factor in factors:
        matrix = factor @ factor.T
        inner = ((phi @ matrix) * phi).sum(axis=1)
        value = (phi.T * (weights * inner)) @ phi - own[:, None] * matrix * own
        found.append(Operator(value, np.diag(own), float(own @ np.diag(matrix)), matrix))
    return tuple(found)


def fourth_moment_entries(sample: Sample) -> list[tuple[tuple[str, int, int], float]]:
    """The entries of E[x x'A x x'] - HAH for normal x and two matrices without zeros, by (matrix, i, j)."""
    own = _eigenvalues(sample)
    xi, weights = cloud("gaussian", FEATURES)
    phi = xi * np.sqrt(own)
    found = []
    for name, matrix in dense_matrices().items():
        value = (phi.T * (weights * ((phi @ matrix) * phi).sum(axis=1))) @ phi - own[:, None] * matrix * own
        found += [((name, i, j), float(value[i, j])) for i in range(FEATURES) for j in range(i, FEATURES)]
    return found


def dense_matrices() -> dict[str, Array]:
    """Positive definite matrices without a zero entry."""
    index = np.arange(1.0, FEATURES + 1.0)
    return {"ones": np.ones((FEATURES, FEATURES)) + np.eye(FEATURES), "Hilbert": 1.0 / (np.add.outer(index, index) - 1)}


@lru_cache(maxsize=64)
def gradient_noises(family: str, sample: Sample) -> tuple[Operator, ...]:
    """The covariance of the gradient at weights of all kinds, for all features and for random W, with sigma^2 = 1.

    It is E[gg'] - E[g]E[g]' of g = W phi (phi'u - epsilon) over all points of the features and both signs of epsilon.
    """
    s, beta = sample.point
    own = _eigenvalues(sample)
    theta = np.arange(1.0, FEATURES + 1.0) ** (-0.5 * (1.0 + beta * (s - 1.0)))
    generator = np.random.default_rng([sample.seed, 2])
    everything = np.eye(FEATURES)
    cases = [(everything, theta + a / np.sqrt(own)) for a in extreme_vectors(family, FEATURES, sample.seed)]
    cases += [(everything, generator.standard_normal(FEATURES)) for _ in range(2)]
    cases += [(random_projection(2, FEATURES, generator), generator.standard_normal(2)) for _ in range(3)]
    xi, weights = cloud(family, FEATURES)
    phi = xi * np.sqrt(own)
    found = []
    for projection, v in cases:
        error = v @ projection - theta
        seen = phi @ projection.T
        gradients = [seen * (phi @ error - label)[:, None] for label in (-1.0, 1.0)]
        mean = sum(0.5 * weights @ each for each in gradients)
        second = sum(0.5 * (each.T * weights) @ each for each in gradients)
        curved = (projection * own) @ projection.T
        found.append(Operator(second - np.outer(mean, mean), curved, float(own @ error**2), noise=1.0))
    return tuple(found)


Plan = tuple[str, str, tuple[float, ...], tuple[int, ...]]
PLANS: tuple[Plan, ...] = tuple(
    (family, kind, rates, batches)
    for family in ("gaussian", "uniform", "rademacher")
    for kind, rates, batches in (
        ("first features", (0.3, 0.1, 0.2), (1, 1, 1)),
        ("first features", (0.4, 0.2), (2, 1)),
        ("random features", (0.3, 0.2), (1, 1)),
    )
)
"""Family, projection, learning rates and batch sizes of the runs that are taken over all of their paths."""


def small_problem(plan: Plan, sample: Sample) -> Regression:
    """Two weights and three features, with labels of noise 1."""
    s, beta = sample.point
    projection = None if plan[1] == "first features" else random_projection(2, 3, sample.seed)
    return Regression(Model(s=s, beta=beta, size=2, noise=1.0), features=3, family=plan[0], projection=projection)


@lru_cache(maxsize=64)
def risks_over_all_paths(sample: Sample) -> tuple[tuple[Plan, float], ...]:
    """The mean excess risk after the last step, with every value that the samples of every step can take.

    The weights after k steps are of degree 2 in each sample's features and the risk of degree 4: the rules are exact.
    """
    found = []
    for plan in PLANS:
        family, _, rates, batches = plan
        problem = small_problem(plan, sample)
        xi, chance = cloud(family, 3)
        phi = xi * np.sqrt(problem.eigenvalues)
        seen = phi[:, :2] if problem.projection is None else phi @ problem.projection.T
        labels = phi @ problem.theta
        target = np.concatenate([labels - 1.0, labels + 1.0])
        seen, chance = np.concatenate([seen, seen]), np.concatenate([chance, chance]) / 2.0
        weights, masses = np.zeros((1, 2)), np.ones(1)
        for rate, batch in zip(rates, batches, strict=True):
            # the mean gradient of a batch: one sample after the other, all at the weights before the step
            pulls, chances = np.zeros((weights.shape[0], 1, 2)), np.ones(1)
            for _ in range(batch):
                each = ((weights @ seen.T) - target)[:, :, None] * seen
                pulls = (pulls[:, :, None] + each[:, None]).reshape(weights.shape[0], -1, 2)
                chances = np.multiply.outer(chances, chance).ravel()
            weights = (weights[:, None] - rate / batch * pulls).reshape(-1, 2)
            masses = np.multiply.outer(masses, chances).ravel()
        found.append((plan, float(masses @ problem.excess_risk(weights))))
    return tuple(found)


def derived_peak(schedule: str, sample: Sample, budget: float) -> float:
    """0.05 times the order of the smallest data-optimal peak rate."""
    order = optimal_allocation(schedule, "data").at(sample.s, sample.beta).quantities["peak_lr"].lower
    assert order is not None
    return float(PEAK * budget ** float(order.power) * math.log(budget) ** float(order.log_power))


def printed_peak(schedule: str, sample: Sample, budget: float) -> float:
    """0.05 D^-1, as the appendix prints it for the decaying schedules."""
    return float(PEAK * budget ** -PRINTED_POWERS[schedule])


def final_risks(rule: Any, sample: Sample) -> Mapping[str, list[Ray]]:
    """The functional scaling law at the end of training as the budget grows, under ``rule`` for the peak rate."""
    s, beta = sample.point
    problem = Regression(Model(s=s, beta=beta, size=math.inf, noise=9.0))
    scale = np.log(np.array(BUDGETS))
    found = {}
    for name in DECAYING:
        values = [functional_risk(problem, name, rule(name, sample, budget), budget) for budget in BUDGETS]
        found[name] = [Ray(name, scale, {"D": scale}, np.log(values))]
    return found


@lru_cache(maxsize=64)
def drawn_ratios(sample: Sample) -> tuple[Concentration, Concentration]:
    """mu_j(W H W')/lambda_j with entries of variance 1/M and N = 4M; and draws at the least size to set bounds with."""
    seeds = np.random.SeedSequence([sample.seed, 3]).generate_state(2)
    beta = sample.point[1]
    drawn = eigenvalue_ratios(beta=beta, model_sizes=SIZES, runs=DRAWS, seed=int(seeds[0]))
    return drawn, eigenvalue_ratios(beta=beta, model_sizes=SIZES[:1], runs=DRAWS[0], seed=int(seeds[1]))


def eigenvalue_trends(sample: Sample, *, unit: bool = False) -> Mapping[str, Any]:
    """Medians of the least and of the largest ratio, and how many draws leave the bounds that draws at M = 8 set.

    These lie between the tenth and the ninetieth percent of other draws. ``unit``: entries of variance 1, for which
    every eigenvalue is M times as large.
    """
    drawn, pilot = drawn_ratios(sample)
    low, high = pilot.quantiles("least", 0.1)[0], pilot.quantiles("largest", 0.9)[0]
    scale = np.log(np.array(SIZES, dtype=np.float64))
    larger = scale if unit else np.zeros_like(scale)
    found: dict[str, Any] = {}
    for side in ("least", "largest"):
        values = np.log(drawn.quantiles(side, 0.5)) + larger
        found[side] = Ray(side, scale, {"M": scale}, values)
    counts = []
    for size, least, largest in zip(SIZES, drawn.least, drawn.largest, strict=True):
        factor = size / SIZES[0] if unit else 1.0
        outside = (least * factor < low) | (largest * factor > high)
        counts.append((size, int(outside.sum()), outside.size))
    found["failures"] = counts
    return found


@lru_cache(maxsize=64)
def drawn_biases(target: str, sample: Sample) -> BiasRatios:
    """What training without noise leaves of the target, against the two lemmas, for random W with N = 4M."""
    seed = int(np.random.SeedSequence([sample.seed, 4]).generate_state(1)[0])
    s, beta = sample.point
    return bias_ratios(s=s, beta=beta, model_sizes=SIZES, runs=BIAS_DRAWS, target=target, seed=seed)


def bias_trend(side: str, target: str, sample: Sample) -> Ray:
    """The median over draws of the ratio of ``side`` "lower" or "upper" as M grows."""
    drawn: Sequence[Array] = getattr(drawn_biases(target, sample), side)
    scale = np.log(np.array(SIZES, dtype=np.float64))
    return Ray(f"{side}, {target}", scale, {"M": scale}, np.log([float(np.median(part)) for part in drawn]))
