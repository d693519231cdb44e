"""What the statements about the model share, as symbolic values and in words, with what each assumes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from sympy import Expr, Function, Identity, Sum, Symbol, log

from fsl_num.claims.claim import Sample
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import FEATURES, PROJECTIONS, SPECTRUM
from fsl_num.paper.model.gradients import cases
from fsl_sym.model_identities import COVARIANCE, PHI, PROJECTION, THETA, WEIGHTS
from fsl_sym.proof import AllOf, Formula, Hypothesis, Mean, Property, equals
from fsl_sym.symbols import B, C, N, beta, j, t

Stated = tuple[Formula | AllOf, tuple[Hypothesis, ...]]
"""A formula, and the predicates that it assumes."""
H, W, V = COVARIANCE, PROJECTION, WEIGHTS
ONE = Identity(1)
ERROR = W.T * V - THETA
CURVATURE = W * H * W.T
SECOND: Final = equals(Mean(PHI * PHI.T), H)
LABELS: Final = (
    Property("epsilon", "a real number"),
    Property("epsilon", "of mean 0 and independent of the features"),
    Property("epsilon**2", "of mean sigma**2 and independent of the features"),
)
LEAST, MOST = Symbol(r"\rho_-", nonnegative=True), Symbol(r"\rho_+", positive=True)
"""The constants of hypercontractivity."""
ETA, H_STEP, GAMMA = Symbol("eta", positive=True), Symbol("h", positive=True), Symbol("gamma", positive=True)
rate, batch, size, slope = Symbol("phi"), Symbol("b", positive=True), Symbol("Sigma"), Symbol("dR")
phi_at, gamma_at, gradient_at = (Function(name) for name in ("phi", "gamma", "g"))
moment_at = Function("m", real=True)
r_any, step_number = Symbol("r", positive=True), Symbol("k", integer=True, nonnegative=True)
OF_SGD = ETA**2 * size / B
risk_at = Function("E")
KURTOSIS: Final = Symbol("kappa", positive=True)
x, mu, bias, e = Function("x"), Function("mu"), Function("b"), Function("e")
own_eigenvalue = j**-beta
best = Function("E_opt")
best_peak = Function("gamma_opt")
ALPHA = Symbol("alpha", positive=True)
spent = C / log(C)
falling_peak = spent ** (-(1 + ALPHA - beta) / (2 + ALPHA))
DELTA = Symbol("delta", positive=True)
TERMS = Symbol("J", integer=True, positive=True)
amplitude = Function("a")
KURTOSES = {"gaussian": 3.0, "uniform": 1.8, "rademacher": 1.0, "laplace": 6.0}
EXACT = 1e-10
"""Sums of at most 6e3 terms of order 1, with eigenvalues of at least 4^-6 in the smallest of them."""
SOLVED = 1e-6
"""What the integrator leaves between its steps (some 1e-8) and the quadrature of 30 nodes (less)."""


def _labels(sample: Sample) -> dict[str, Any]:
    """The labels' noise in the samples of one step: its variance among those with the same features, whatever these."""
    case = cases(sample)["uniform, random"]
    noise, chance = (part.reshape(2, -1) for part in (case.epsilon, case.chance))
    assert np.array_equal(*case.phi.reshape(2, -1, case.phi.shape[1]))
    mean, square = ((noise**power * chance).sum(axis=0) / chance.sum(axis=0) for power in (1, 2))
    return {"sigma": math.sqrt(case.problem.model.noise), "the variance of epsilon given phi": square - mean**2}


ANY = (SPECTRUM, Where("sigma^2 is the variance of epsilon given phi", _labels))
BOTH = PROJECTIONS("first", "random")
CASES = (*ANY, BOTH, FEATURES("gaussian", "uniform", "rademacher"), "N = 3 and 4, M = 2 and 3")
SOLUTIONS = (*ANY, "N = 4, M = 2")


def symmetric(*letters: object) -> tuple[Property, ...]:
    """That matrices are symmetric."""
    return tuple(Property(str(letter), "symmetric") for letter in letters)


def continuous(
    *letters: object, slopes: tuple[object, ...] = (), positive: tuple[object, ...] = ()
) -> tuple[Property, ...]:
    """That functions are continuous, some positive; those of ``slopes`` have a continuous derivative as well."""
    properties = tuple(Property(str(letter), "a continuous function") for letter in (*letters, *slopes))
    properties += tuple(Property(str(letter), "a positive continuous function") for letter in positive)
    return properties + tuple(Property(str(letter), "a continuously differentiable function") for letter in slopes)


def fixed(*letters: object) -> tuple[Property, ...]:
    """That letters are the same for every draw of the features and the labels."""
    return tuple(Property(str(letter), "not random") for letter in letters)


def constant(*letters: object) -> tuple[Property, ...]:
    """That letters do not move along a derivative."""
    return tuple(Property(str(letter), "constant in time") for letter in letters)


def _intrinsic_scheme() -> Stated:
    """The mean and the covariance of a step t = eta of the equation in intrinsic time, and of a step of SGD."""
    parts = AllOf((equals(slope * t, ETA * slope), equals(GAMMA * size * t, OF_SGD)))
    return parts, (equals(t, ETA), equals(GAMMA, ETA / B))


INTRINSIC_SCHEME: Final = _intrinsic_scheme()


def norm(order: Expr, capacity: Expr = beta) -> Sum:
    """The squared norm in H^order of a function with the coefficients a_j."""
    return Sum(amplitude(j) ** 2 / (j**-capacity) ** order, (j, 1, N))


def in_two_spaces(known: Mapping[Any, Any]) -> list[dict[Any, Any]]:
    """Values of letters, with the coefficients of two functions: e_1, whose norms are the same, and e_1 + e_2."""
    return [{**known, amplitude: lambda j: float(j == 1)}, {**known, amplitude: lambda j: float(j <= 2)}]
