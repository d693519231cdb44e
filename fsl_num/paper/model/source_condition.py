"""ass:source and assump:source-kernel: the coefficients of the target, and in which spaces it lies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sympy import Function, Sum, Symbol, log, sqrt

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint, Ray
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import SPECTRUM, TARGET, located
from fsl_num.paper.model.formulas import DELTA, EXACT, TERMS
from fsl_num.paper.model.spaces import FUNCTIONS, LAST, SIZE, basis, log_law, log_sums, of_functions, own_eigenvalues
from fsl_num.paper.model.tables import Numbers, table
from fsl_num.paper.statements import power_law
from fsl_num.simulate.sobolev import measured_source_exponent
from fsl_sym import kernel_spaces
from fsl_sym.proof import AllOf, at_most, equals
from fsl_sym.symbols import HALF, beta, j, s

difficulty = Function("alpha")
LISTED = 2**16
READ = 1e-3
"""An exponent read off two octaves of 2^16 amplitudes; measured within 2e-4 for alpha = 0.1 to 24."""
COEFFICIENT = sqrt(j**-1 * (j**-beta) ** (s - 1)) * sqrt(j**-beta)
"""|theta_j| lambda_j^(1/2): up to its sign the coefficient a_j of f* on the standardised feature."""
_f, _one, _other = (Symbol(name) for name in ("f", "phi", "psi"))


def coefficients(sample: Sample) -> Numbers:
    """The coefficients of f* = sum_j theta_j phi_j on the orthonormal functions, by means over points."""
    s, beta = sample.point
    _, functions = basis(SIZE)
    theta = np.arange(1.0, SIZE + 1.0) ** (-0.5 * (1.0 + beta * (s - 1.0)))
    values = (functions * np.sqrt(own_eigenvalues(sample))) @ theta
    return {"a_j": values @ functions / len(values)}


def coefficient_formula(sample: Sample, *, power: float = 0.5, index: float = 0.5, shift: float = 0.0) -> Numbers:
    """j^-index lambda_j^(power s + shift)."""
    j = np.arange(1.0, SIZE + 1.0)
    return {"a_j": j**-index * own_eigenvalues(sample) ** (power * sample.point[0] + shift)}


def source_sums(sample: Sample) -> Mapping[str, Any]:
    """Partial sums of a_j^2/lambda_j^r for r below, at and above s; and the summands for r = s - delta."""
    s, beta = sample.point
    logs = np.linspace(30.0, LAST, 24)
    delta = _delta(sample)
    sums: dict[str, Any] = {}
    for name, r in (("below", s - delta), ("at", s), ("above", s + delta)):
        values = log_sums(1.0 + beta * (s - r), [float(log) for log in logs])
        sums[name] = [Ray(name, logs, {"J": logs}, values)]
    a = coefficients(sample)["a_j"]
    sums["terms"] = {"a_j^2/lambda_j^r": a**2 / own_eigenvalues(sample) ** (s - delta)}
    return sums


def _delta(sample: Sample) -> float:
    return sample.point[0] / 3.0


_with_delta = located(lambda sample: {str(DELTA): _delta(sample)})


def source_terms(sample: Sample, *, printed: bool = False, sign: float = 1.0) -> Numbers:
    """j^(-1 - beta delta), or as printed j^(-1 - beta (s - delta)), which would be the same for delta = s/2."""
    s, beta = sample.point
    delta = s - _delta(sample) if printed else _delta(sample)
    return {"a_j^2/lambda_j^r": np.arange(1.0, SIZE + 1.0) ** (-1.0 - sign * beta * delta)}


def difficulties(sample: Sample, *, spread: bool) -> Numbers:
    """alpha read off one function in two orders of one orthonormal system: as it is, and with e_k at the place k^2."""
    alpha = sample.point[0] * sample.point[1]
    amplitudes = np.arange(1.0, LISTED + 1.0) ** (-0.5 * (1.0 + alpha))
    placed = amplitudes
    if spread:
        placed = np.zeros(LISTED)
        root = np.arange(1, math.isqrt(LISTED) + 1)
        placed[root**2 - 1] = amplitudes[: root.size]
    # the exponent beta = 1 reads off alpha itself, another one alpha/beta
    read = [measured_source_exponent(placed, beta) for beta in (1.0, 2.0, sample.point[1])]
    return {"alpha": np.array(read[:1]), "s": np.array(read[1:])}


def difficulty_formula(sample: Sample, *, half: float = 1.0, relative: bool = True) -> Numbers:
    """alpha, and s = alpha/beta for two capacities."""
    alpha = half * sample.point[0] * sample.point[1]
    return {
        "alpha": np.array([alpha]),
        "s": np.array([alpha / (divisor if relative else 1.0) for divisor in (2.0, sample.point[1])]),
    }


def _source_statement(sample: Sample) -> Joint:
    rise = sample.point[1] * sample.point[0] / 3.0
    return Joint(
        {
            "below": power_law("upper", J=0.0),
            "at": log_law("J"),
            "above": power_law(J=rise),
            "terms": table(source_terms, EXACT, {"as printed": {"printed": True}, "the sign": {"sign": -1.0}})(sample),
        }
    )


def _in_one_order(sample: Sample) -> list[dict[Any, Any]]:
    """alpha and two s as they are read off."""
    read = difficulties(sample, spread=False)
    return [{s: own, beta: capacity, difficulty: lambda f: read["alpha"][0], _f: 0}
            for own, capacity in zip(read["s"], (2.0, sample.point[1]), strict=True)]  # fmt: skip


def _in_two_orders(sample: Sample) -> list[dict[Any, Any]]:
    """alpha as it is read off in both orders."""
    read = [float(difficulties(sample, spread=spread)["alpha"][0]) for spread in (False, True)]
    return [{_f: 1, _one: 0, _other: 1, difficulty: lambda f, features: read[features] if f == 1 else math.nan}]


def _third(sample: Sample) -> list[dict[Any, Any]]:
    """The letters of the third coefficient."""
    return [{j: 3.0, s: sample.point[0], beta: sample.point[1], DELTA: _delta(sample)}]


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "ass:source", "ass:source", 356, "the coefficients of the target",
        equals(COEFFICIENT, j ** (-(s * beta + 1) / 2)),
        (SPECTRUM, TARGET, FUNCTIONS("trigonometric")), of_functions(coefficients),
        table(coefficient_formula, EXACT, {
            "lambda_j^s": {"power": 1.0}, "theta_j itself": {"shift": -0.5}, "j^-1": {"index": 1.0}}),
        derive=kernel_spaces.coefficient_derivation, family="spaces", instances=_third,
        quoted=r"\sum_{j=1}^N j^{-(s\beta+1)/2}\;\widehat{\phi}_j",
    ),
    Claim(
        "appendix_rkhs/coefficients", "appendix_rkhs", 1314, "the coefficients of the target, as the appendix prints",
        equals(COEFFICIENT, j ** -HALF * (j**-beta) ** s), (SPECTRUM, TARGET), coefficients,
        table(partial(coefficient_formula, power=1.0), EXACT, {}), corrected_by="ass:source", family="spaces",
        instances=_third, mends={(j**-beta) ** s: (j**-beta) ** (s / 2)},
        quoted=r"\sum_{j=1}^N j^{-1/2}\lambda_j^{\,s}\, \widehat{\phi}_j",
    ),
    Claim(
        "ass:source/only-the-target", "ass:source", 366, "alpha depends on the target alone, as printed",
        equals(difficulty(_f, _one), difficulty(_f, _other)),
        (SPECTRUM, TARGET, Where("f is the target; alpha(f, phi) is alpha read off its coefficients on phi"),
         Where("psi is phi in another order")),
        partial(difficulties, spread=True), table(difficulty_formula, READ, {}),
        corrected_by="ass:source/one-order", family="spaces", instances=_in_two_orders, mends={_other: _one},
        quoted="depends only on the target function itself and is independent of the model spectrum",
        remark="In another order of the same functions the same target has another number.",
    ),
    Claim(
        "ass:source/one-order", "ass:source", 366, "alpha for features of one order, whatever their spectrum",
        equals(s, difficulty(_f) / beta),
        (SPECTRUM, TARGET, Where("f is the target; alpha(f) is its alpha on features of one order")),
        partial(difficulties, spread=False),
        table(difficulty_formula, READ, {"alpha/2": {"half": 0.5}, "s = alpha": {"relative": False}}),
        family="spaces", role="corrected", instances=_in_one_order,
    ),
    Claim(
        "assump:source-kernel", "assump:source-kernel", 1288, "in which spaces of the scale the target lies",
        AllOf((
            at_most(Sum(COEFFICIENT**2 / (j**-beta) ** (s - DELTA), (j, 2, TERMS)), 1 / (beta * DELTA)),
            at_most(log(TERMS + 1), Sum(COEFFICIENT**2 / (j**-beta) ** s, (j, 1, TERMS))),
        )),
        (SPECTRUM, TARGET, "delta = s/3"),
        _with_delta(source_sums), _source_statement, derive=kernel_spaces.source_derivation, depends=("ass:source",),
        family="spaces",
        quoted=r"There exists some $s>0$ such that $f^* \in \mathcal{H}_K^s$",
        remark="So the source condition with the same s fails for this target.",
    ),
    Claim(
        "appendix_rkhs/source-sum", "appendix_rkhs", 1320, "the sum of the source condition, as printed",
        equals(COEFFICIENT**2 / (j**-beta) ** (s - DELTA), j ** (-1 - beta * (s - DELTA))),
        (SPECTRUM, TARGET, "delta = s/3"),
        _with_delta(lambda sample: source_sums(sample)["terms"]), table(partial(source_terms, printed=True), EXACT, {}),
        corrected_by="assump:source-kernel", family="spaces", instances=_third,
        mends={j ** (-1 - beta * (s - DELTA)): j ** (-1 - beta * DELTA)},
        quoted=r"= \sum_{j=1}^N j^{-1-\beta(s-\delta)}",
    ),
)  # fmt: skip
