"""eqn: sgd and eqn: sgd2: the gradients of loss and risk, and the noise of a batch."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from sympy import Trace, ZeroMatrix

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import parts_of
from fsl_num.claims.words import Kinds, Where, joined
from fsl_num.paper.hypotheses import PROJECTIONS, located
from fsl_num.paper.model import formulas
from fsl_num.paper.model.formulas import ANY, CASES, EXACT
from fsl_num.paper.model.gradients import Case, cases, of_cases
from fsl_num.paper.model.tables import Numbers, table
from fsl_num.simulate.noise_covariance import noise_covariance
from fsl_num.validation import Array
from fsl_sym import model_identities as identities
from fsl_sym.model_identities import DIRECTION, EPSILON, NOISE, PHI, SIGMA, SIZE, THETA
from fsl_sym.proof import AllOf, Hypothesis, Mean, Rate, equals
from fsl_sym.symbols import B

BATCHES: Final = AllOf(
    (equals(Mean(NOISE), ZeroMatrix(SIZE, 1)), equals(Mean(NOISE * NOISE.T), SIGMA / B)),
)
"""xi is the noise of the gradient of a batch of B samples."""
BATCH_SIZES = (1, 2, 3)
SAMPLES = Kinds("samples", {"independent": "independent", "distinct": "distinct"})
"""How those of a batch are drawn: each from all values, or without replacement."""


def _gradients() -> formulas.Stated:
    """Along a direction d: the gradient of the loss of one sample, its mean, that of the risk, its own derivative."""
    residual = PHI.T * formulas.ERROR - EPSILON * formulas.ONE
    gradient = formulas.W * PHI * PHI.T * formulas.ERROR - EPSILON * formulas.W * PHI
    parts = (
        equals(Trace(Rate(residual.T * residual)) / 2, Trace(DIRECTION.T * gradient)),
        equals(Mean(gradient), formulas.W * formulas.H * formulas.ERROR),
        equals(
            Trace(Rate(formulas.ERROR.T * formulas.H * formulas.ERROR)) / 2,
            Trace(DIRECTION.T * formulas.W * formulas.H * formulas.ERROR),
        ),
        equals(Rate(formulas.W * formulas.H * formulas.ERROR), formulas.CURVATURE * DIRECTION),
    )
    along: tuple[Hypothesis, ...] = (
        equals(Rate(formulas.V), DIRECTION),
        *formulas.constant(formulas.W, formulas.H, PHI, THETA, DIRECTION, EPSILON),
    )
    return AllOf(parts), (
        *along,
        formulas.SECOND,
        *formulas.LABELS[:2],
        *formulas.symmetric(formulas.H),
        *formulas.fixed(formulas.W, formulas.H, THETA, formulas.V),
    )


GRADIENTS: Final = _gradients()


def differences(sample: Sample) -> Numbers:
    """Gradients of the losses of some samples, of the risk, and its second derivative, all by differences."""
    gradients = {}
    for name, case in cases(sample).items():
        unit = np.eye(case.v.size)

        def risk(v: Array, case: Case = case) -> float:
            return float(case.chance @ case.losses(v))

        gradients[f"{name}: loss"] = case.gradients[::17]
        gradients[f"{name}: risk"] = np.array([(risk(case.v + e) - risk(case.v - e)) / 2 for e in unit])
        second = [
            [risk(case.v + e + d) - risk(case.v + e) - risk(case.v + d) + risk(case.v) for e in unit] for d in unit
        ]
        gradients[f"{name}: second"] = np.array(second)
    return gradients


def gradient_formula(sample: Sample, *, sign: float = 1.0, label: float = 1.0, power: float = 1.0) -> Numbers:
    """W phi (phi'u - label epsilon), sign W H u and W H W', with a power of H."""
    gradients = {}
    for name, case in cases(sample).items():
        own = case.problem.eigenvalues**power
        slope = case.phi @ case.error - label * case.epsilon
        gradients[f"{name}: loss"] = ((case.phi @ case.projection.T) * slope[:, None])[::17]
        gradients[f"{name}: risk"] = sign * (case.projection * own) @ case.error
        gradients[f"{name}: second"] = (case.projection * own) @ case.projection.T
    return gradients


def batch_moments(sample: Sample) -> Numbers:
    """Mean and covariance of the gradient of a batch, over all batches of one, two and three samples."""
    case = cases(sample)["rademacher, random"]
    own = case.gradients
    moments: dict[str, Array] = {}
    for batch in BATCH_SIZES:
        total, chance = np.zeros((1, case.v.size)), np.ones(1)
        for _ in range(batch):
            total = (total[:, None] + own[None]).reshape(-1, case.v.size)
            chance = np.multiply.outer(chance, case.chance).ravel()
        mean = chance @ total / batch
        left = total / batch - mean
        moments[f"mean, B = {batch}"] = mean
        moments[f"covariance, B = {batch}"] = (left.T * chance) @ left
    return moments


def batch_formula(sample: Sample, *, power: float = 1.0, second: bool = False) -> Numbers:
    """grad R and Sigma/B^power; ``second``: the second moment of the gradient in place of the covariance."""
    case = cases(sample)["rademacher, random"]
    pull = (case.projection * case.problem.eigenvalues) @ case.error
    covariance = noise_covariance(case.problem, case.v) + (np.outer(pull, pull) if second else 0.0)
    moments: dict[str, Array] = {}
    for batch in BATCH_SIZES:
        moments[f"mean, B = {batch}"] = pull
        moments[f"covariance, B = {batch}"] = covariance / batch**power
    return moments


def _batch_noises(sample: Sample) -> list[dict[Any, Any]]:
    """Mean and covariance of the noise as measured, and the covariance of the gradient of one sample."""
    case, moments = cases(sample)["rademacher, random"], batch_moments(sample)
    mean, covariance = (part.left for part in parts_of(BATCHES))
    return [{mean: (moments[f"mean, B = {size}"] - case.mean)[:, None], covariance: moments[f"covariance, B = {size}"],
             SIGMA: case.covariance, B: size, SIZE: case.v.size} for size in BATCH_SIZES]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: sgd", "eqn: sgd", 398, "the gradients of loss and risk",
        GRADIENTS[0],
        (*CASES, *GRADIENTS[1]), of_cases(differences),
        table(gradient_formula, EXACT, {
            "the sign of the mean": {"sign": -1.0}, "the sign of epsilon": {"label": -1.0},
            "H^2 for H": {"power": 2.0}, "twice the mean": {"sign": 2.0}}),
        derive=identities.gradient_derivation, family="gradients",
        quoted=r"\frac{\eta_k}{B_k}\sum_{\bz\in S_k}\nabla_{\bv}\ell(\bz,\bv_{k})",
    ),
    Claim(
        "eqn: sgd2", "eqn: sgd2", 412, "the gradient noise of a batch",
        BATCHES,
        (*ANY, Where("xi is the noise of the gradient of a batch"), PROJECTIONS("random"), SAMPLES("independent"),
         f"B = {joined(BATCH_SIZES)}"),
        located({SAMPLES.name: "independent", PROJECTIONS.name: "random", "B": BATCH_SIZES})(batch_moments),
        table(batch_formula, EXACT, {
            "Sigma without 1/B": {"power": 0.0}, "Sigma/B^2": {"power": 2.0},
            "the second moment of the gradient": {"second": True}}),
        derive=identities.minibatch_derivation, family="gradients", instances=_batch_noises,
        quoted=r"\EE[\bxi_k\bxi_k^\top] = \frac{1}{B_k}\bSigma(\bv_{k})",
    ),
)  # fmt: skip
