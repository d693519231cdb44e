"""eqn: pop-risk and eqn: pop-risk-top-M: the risk of any features, and of the first M."""

from __future__ import annotations

from typing import Final

import numpy as np
from sympy import MatrixSymbol, Trace, ZeroMatrix

from fsl_num.claims.claim import Claim, Sample
from fsl_num.paper.hypotheses import PROJECTIONS, located
from fsl_num.paper.model import formulas
from fsl_num.paper.model.gradients import NOISE, cases, of_cases
from fsl_num.paper.model.tables import Numbers, table
from fsl_sym import model_identities as identities
from fsl_sym.model_identities import EPSILON, FEATURES, PHI, SIZE, THETA
from fsl_sym.proof import Mean, equals
from fsl_sym.symbols import sigma


def _projected_risk() -> formulas.Stated:
    residual = PHI.T * formulas.ERROR - EPSILON * formulas.ONE
    risk = equals(
        Trace(Mean(residual.T * residual)) / 2, Trace(formulas.ERROR.T * formulas.H * formulas.ERROR) / 2 + sigma**2 / 2
    )
    return risk, (
        formulas.SECOND,
        *formulas.LABELS,
        *formulas.symmetric(formulas.H),
        *formulas.fixed(formulas.W, formulas.H, THETA, formulas.V, sigma),
    )


def _first_features_risk() -> formulas.Stated:
    """2E in the blocks of H: v, theta_1, H_1 for the first M features, theta_2, H_2 for the rest."""
    size_beyond = FEATURES - SIZE
    first, last = MatrixSymbol("E_1", FEATURES, SIZE), MatrixSymbol("E_2", FEATURES, size_beyond)
    head, tail = MatrixSymbol("H_1", SIZE, SIZE), MatrixSymbol("H_2", size_beyond, size_beyond)
    theta, beyond = MatrixSymbol(r"\theta_1", SIZE, 1), MatrixSymbol(r"\theta_2", size_beyond, 1)
    error = first * formulas.V - first * theta - last * beyond
    risk = equals(
        Trace(error.T * formulas.H * error),
        Trace((formulas.V - theta).T * head * (formulas.V - theta)) + Trace(beyond.T * tail * beyond),
    )
    blocks = (
        equals(first.T * formulas.H * first, head),
        equals(last.T * formulas.H * last, tail),
        equals(first.T * formulas.H * last, ZeroMatrix(SIZE, size_beyond)),
        equals(last.T * formulas.H * first, ZeroMatrix(size_beyond, SIZE)),
    )
    return risk, (*blocks, *formulas.symmetric(formulas.H, head, tail))


PROJECTED_RISK: Final = _projected_risk()
FIRST_FEATURES_RISK: Final = _first_features_risk()


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


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: pop-risk", "eqn: pop-risk", 390, "the population risk",
        PROJECTED_RISK[0],
        (*formulas.CASES, *PROJECTED_RISK[1]), of_cases(mean_losses),
        table(risk_formula, formulas.EXACT, {
            "without the factor 1/2": {"half": 1.0}, "sigma^2 for sigma^2/2": {"label": 1.0},
            "the Euclidean norm": {"power": 0.0}, "without the labels' noise": {"label": 0.0}}),
        derive=identities.risk_derivation, family="gradients",
        quoted=r"\tfrac{1}{2}\|\bW^\top\bv-\btheta^*\|_{\bH}^2 + \tfrac{\sigma^2}{2}",
    ),
    Claim(
        "eqn: pop-risk-top-M", "eqn: pop-risk-top-M", 679, "the risk of the first M features",
        FIRST_FEATURES_RISK[0],
        (*formulas.ANY, PROJECTIONS("first"), *FIRST_FEATURES_RISK[1]),
        located({PROJECTIONS.name: "first"})(excess_losses),
        table(top_risk_formula, formulas.EXACT, {
            "the features beyond M dropped": {"tail": 0.0}, "the index shifted": {"shift": 1},
            "lambda_j^2": {"power": 2.0}, "half of the rest": {"tail": 0.5}}),
        derive=identities.top_risk_derivation, family="gradients",
        quoted=r"2\cE(\bv)=\sum_{j=1}^M \lambda_j (v_j-\theta^*_j)^2+\sum_{j=M+1}^N \lambda_j |\theta_j^*|^2",
    ),
)  # fmt: skip
