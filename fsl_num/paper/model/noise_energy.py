"""sec: proof_sketch: the noise in a direction, and that of one coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from sympy import MatrixSymbol, Max, Min, Trace

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint, Statement
from fsl_num.paper.hypotheses import FEATURES, PROJECTIONS, located
from fsl_num.paper.model import formulas
from fsl_num.paper.model.gradients import cases, of_cases
from fsl_num.paper.model.hypercontractivity import MEANS, best_constants
from fsl_num.paper.model.measurements import gradient_noises, of_noises
from fsl_num.paper.model.noise_covariance import noise_instances
from fsl_num.paper.model.statements import Bracket, Operator
from fsl_num.paper.model.tables import Numbers, table
from fsl_num.simulate.noise_covariance import noise_covariance
from fsl_sym import stochastic_identities as stochastic
from fsl_sym.model_identities import DIRECTION, SIGMA, SIZE
from fsl_sym.proof import AllOf, at_most, equals
from fsl_sym.symbols import E, sigma


def _noise_energy() -> AllOf:
    """The noise in a direction d between multiples of risk times curvature; the risk is E + sigma^2/2."""
    own, curved = Trace(DIRECTION.T * SIGMA * DIRECTION), Trace(DIRECTION.T * formulas.CURVATURE * DIRECTION)
    risk = E + sigma**2 / 2
    return AllOf(
        (
            at_most(Min(2, 2 * formulas.LEAST) * risk * curved, own),
            at_most(own, Max(2, 2 * formulas.MOST) * risk * curved),
        )
    )


def _row() -> formulas.Stated:
    half, row = MatrixSymbol(r"\sqrt{\Sigma}", SIZE, SIZE), MatrixSymbol("e_j", SIZE, 1)
    stated = equals(Trace((half * row).T * (half * row)), Trace(row.T * SIGMA * row))
    return stated, (equals(half * half, SIGMA), *formulas.symmetric(half))


ROW: Final = _row()
NOISE_ENERGY: Final = _noise_energy()


def row_sums(sample: Sample) -> Numbers:
    """The squares of the rows of the root of Sigma, added up."""
    from scipy.linalg import sqrtm

    return {name: (np.real(sqrtm(case.covariance)) ** 2).sum(axis=1) for name, case in cases(sample).items()}


def row_formula(sample: Sample, *, diagonal: bool = False, power: float = 1.0) -> Numbers:
    """e_j'Sigma e_j; ``diagonal``: the squared diagonal of the root alone."""
    from scipy.linalg import sqrtm

    energies = {}
    for name, case in cases(sample).items():
        covariance = noise_covariance(case.problem, case.v)
        energies[name] = np.diag(np.real(sqrtm(covariance))) ** 2 if diagonal else np.diag(covariance) ** power
    return energies


def _energies(family: str, sample: Sample) -> Sequence[Operator]:
    """Sigma against R W H W', with labels as given and without noise, and with noise alone."""
    operators = []
    for gradient in gradient_noises(family, sample):
        operators.append(Operator(gradient.value, gradient.base, 0.5 * (gradient.size + gradient.noise)))
        operators.append(Operator(gradient.value - gradient.noise * gradient.base, gradient.base, 0.5 * gradient.size))
        operators.append(Operator(gradient.noise * gradient.base, gradient.base, 0.5 * gradient.noise))
    return operators


def _energy_instances(sample: Sample) -> list[dict[Any, Any]]:
    """Of the features alone: of normal ones the upper constant is reached, of uniform ones the lower."""
    families = ("gaussian", "uniform")
    return [known for family in families for known in noise_instances(sample, family, labels=False)]


def _energy_statement(sample: Sample) -> Joint:
    parts: dict[str, Statement] = {}
    for family in ("gaussian", "uniform"):
        low, high = best_constants(formulas.KURTOSES[family])
        parts[family] = Bracket(min(2.0, 2.0 * low), max(2.0, 2.0 * high))
    return Joint(parts)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec: proof_sketch/noise-energy", "sec: proof_sketch", 669, "the noise in a direction: risk times curvature",
        NOISE_ENERGY,
        (*formulas.ANY, PROJECTIONS("all", "random"), *MEANS, FEATURES("gaussian", "uniform"),
         "N = 4", "sigma = 0 and 1"),
        located({"sigma": (0.0, 1.0)})(of_noises(
            lambda sample: {family: _energies(family, sample) for family in ("gaussian", "uniform")})),
        _energy_statement,
        depends=("lemma: noise-covariance-main",), family="gradient-noise",
        instances=_energy_instances,
        quoted=r"\cR(\bv)\,\bm{n}^\top \nabla^2 \cR(\bv)\bm{n}",
    ),
    Claim(
        "sec: proof_sketch/single-noise", "sec: proof_sketch", 688, "the variance of the noise of one coordinate",
        ROW[0],
        (*formulas.CASES, *ROW[1]), of_cases(row_sums),
        table(row_formula, 1e-7, {
            "the diagonal of the root alone": {"diagonal": True}, "the square of Sigma_jj": {"power": 2.0}}),
        derive=stochastic.row_derivation, family="gradients",
        quoted="the summation of white noises is equivalent to a single stochastic term",
    ),
)  # fmt: skip
