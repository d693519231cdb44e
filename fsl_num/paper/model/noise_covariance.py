"""lemma: noise-covariance: the covariance of the gradient noise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np
from sympy import Expr, Trace

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint, Statement
from fsl_num.paper.hypotheses import FEATURES, PROJECTIONS, SPECTRUM, TARGET
from fsl_num.paper.model.formulas import (
    ANY,
    CASES,
    CURVATURE,
    EXACT,
    KURTOSES,
    LABELS,
    LEAST,
    MOST,
    SECOND,
    H,
    Stated,
    W,
    fixed,
    symmetric,
)
from fsl_num.paper.model.gradients import NOISE, cases, of_cases
from fsl_num.paper.model.hypercontractivity import MEANS, best_constants
from fsl_num.paper.model.measurements import FEATURE_COUNT, gradient_noises, of_noises
from fsl_num.paper.model.statements import Bracket, Operator, base_bound, extreme_directions
from fsl_num.paper.model.tables import Numbers, table
from fsl_num.simulate.noise_covariance import noise_covariance
from fsl_num.validation import Array
from fsl_sym import model_identities as identities
from fsl_sym.model_identities import CURVED, DIRECTION, EPSILON, PHI, RESIDUAL, SIGMA
from fsl_sym.proof import AllOf, Mean, at_most, equals
from fsl_sym.symbols import E, sigma

U = RESIDUAL


def _covariance() -> Stated:
    noise = W * PHI * PHI.T * U - EPSILON * W * PHI - W * H * U
    fourth = equals(Mean(PHI * PHI.T * U * U.T * PHI * PHI.T), CURVED)
    stated = equals(Mean(noise * noise.T), W * (CURVED - H * U * U.T * H) * W.T + sigma**2 * W * H * W.T)
    return stated, (SECOND, fourth, *LABELS, *symmetric(H, CURVED), *fixed(W, H, U, CURVED, sigma))


def _factor(rho: Expr | float) -> Expr:
    """2 rho E + sigma^2: of the formula, and of what is judged."""
    return 2 * rho * E + sigma**2


def _noise_bounds() -> AllOf:
    """(2 rho_- E + sigma^2) WHW' <= Sigma <= (2 rho_+ E + sigma^2) WHW', in every direction d."""
    own, curved = Trace(DIRECTION.T * SIGMA * DIRECTION), Trace(DIRECTION.T * CURVATURE * DIRECTION)
    return AllOf((at_most(_factor(LEAST) * curved, own), at_most(own, _factor(MOST) * curved)))


COVARIANCE_OF_NOISE: Final = _covariance()
NOISE_BOUNDS: Final = _noise_bounds()


def noise_bound(operator: Operator, rho: float) -> Array:
    """(rho size + noise) base: (2 rho E + sigma^2) W H W'."""
    return float(_factor(rho).subs({E: operator.size / 2, sigma: math.sqrt(operator.noise)})) * operator.base


def halved_noise_bound(operator: Operator, rho: float) -> Array:
    """(rho E + sigma^2) W H W'."""
    return (0.5 * rho * operator.size + operator.noise) * operator.base


def noise_covariances(sample: Sample) -> Numbers:
    """The covariance of the gradient at batch size 1."""
    return {name: case.covariance for name, case in cases(sample).items()}


def noise_formula(sample: Sample, *, label: float = 1.0, mean: float = 0.0, fourth: float = 1.0) -> Numbers:
    """The formula of Sigma: with the kurtosis of each family, ``mean`` times the squared mean gradient added."""
    covariances = {}
    for name, case in cases(sample).items():
        noiseless = replace(case.problem, model=replace(case.problem.model, noise=0.0))
        curved = (case.projection * case.problem.eigenvalues) @ case.projection.T
        pull = (case.projection * case.problem.eigenvalues) @ case.error
        covariances[name] = fourth * noise_covariance(noiseless, case.v) + label * NOISE * curved
        covariances[name] = covariances[name] + mean * np.outer(pull, pull)
    return covariances


def noise_instances(sample: Sample, family: str = "gaussian", *, labels: bool = True) -> list[dict[Any, Any]]:
    """What the letters of the bounds are in the extreme directions of features; of W H W' the root is W.

    ``labels``: with their noise.
    """
    least, most = best_constants(KURTOSES[family])
    operators = gradient_noises(family, sample)
    if not labels:
        operators = tuple(replace(operator, value=operator.value - operator.noise * operator.base, noise=0.0)
                          for operator in operators)  # fmt: skip
    return [
        {SIGMA: operator.value, W: np.linalg.cholesky(operator.base), H: np.eye(len(operator.base)), LEAST: least,
         MOST: most, E: operator.size / 2, sigma: math.sqrt(operator.noise), DIRECTION: direction}
        for operator in operators for direction in extreme_directions(operator)
    ]  # fmt: skip


def _noise(sample: Sample) -> Joint:
    wrong = {"E for 2E": halved_noise_bound, "without the labels' noise": base_bound}
    families = ("gaussian", "uniform", "rademacher")
    return Joint({name: Bracket(*best_constants(KURTOSES[name]), noise_bound, wrong=wrong) for name in families})


def _noise_mutants(sample: Sample) -> dict[str, Statement]:
    parts = _noise(sample).parts
    wrong = {
        "the term H e e'H dropped": (1.0, 1.0),
        "constants of signs": best_constants(KURTOSES["rademacher"]),
        "constants of uniform features": best_constants(KURTOSES["uniform"]),
    }
    return {
        f"normal features: {name}": Joint({**parts, "gaussian": Bracket(*pair, noise_bound)})
        for name, pair in wrong.items()
    }


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lemma: noise-covariance-main", "lemma: noise-covariance-main", 652, "the covariance of the gradient noise",
        NOISE_BOUNDS, (SPECTRUM, TARGET, *MEANS,
         FEATURES("gaussian", "uniform", "rademacher"), PROJECTIONS("all", "random"),
         f"N = {FEATURE_COUNT}"),
        of_noises(lambda sample: {
            name: gradient_noises(name, sample) for name in ("gaussian", "uniform", "rademacher")}),
        _noise, _noise_mutants, instances=noise_instances,
        depends=("assumption: hypercontractivity/corrected",), family="gradient-noise",
        quoted=r"(2\rho_{-}\cE(\bv) + \sigma^2)\, \nabla^2 \cR(\bv)",
    ),
    Claim(
        "lemma: noise-covariance", "lemma: noise-covariance", 1816, "the noise structure, as the appendix restates it",
        NOISE_BOUNDS,
        (*ANY, PROJECTIONS("all", "random"), *MEANS, FEATURES("gaussian", "rademacher"), f"N = {FEATURE_COUNT}"),
        of_noises(lambda sample: {name: gradient_noises(name, sample) for name in ("gaussian", "rademacher")}),
        lambda sample: Joint({name: Bracket(*best_constants(KURTOSES[name]), noise_bound)
                              for name in ("gaussian", "rademacher")}),
        depends=("assumption: hypercontractivity/corrected", "lemma: noise-covariance/formula"),
        family="gradient-noise", instances=noise_instances,
        quoted=r"(2\rho_{-}\cE(\bv) + \sigma^2)\, \bW\bH\bW^\top",
    ),
    Claim(
        "lemma: noise-covariance/formula", "lemma: noise-covariance", 1832, "the covariance of the gradient, exactly",
        COVARIANCE_OF_NOISE[0],
        (*CASES, *COVARIANCE_OF_NOISE[1]), of_cases(noise_covariances),
        table(noise_formula, EXACT, {
            "H u u'H not subtracted": {"mean": 1.0}, "subtracted twice": {"mean": -1.0},
            "without the labels' noise": {"label": 0.0}, "sigma for sigma^2": {"label": 1 / 0.7},
            "E for 2E": {"fourth": 0.5}}),
        derive=identities.noise_derivation, family="gradients",
        quoted=r"the covariance matrix of the noise $\bxi:=\nabla \ell(\bz;\bv) - \nabla \cR(\bv)$ is given by",
    ),
)  # fmt: skip
