"""assumption: hypercontractivity and lem:4th_moment_estim: the fourth moments of the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Expr, MatrixSymbol, Max, Min, Symbol, Trace

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Joint, Sharp, Statement
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import FEATURES as FEATURE_LAWS
from fsl_num.paper.hypotheses import SPECTRUM, located, of_family
from fsl_num.paper.model.formulas import KURTOSES, KURTOSIS, LEAST, MOST, H
from fsl_num.paper.model.measurements import FEATURE_COUNT, cloud, eigenvalues, extreme_vectors, last_risk
from fsl_num.paper.model.statements import Bracket, Operator, extreme_directions
from fsl_num.validation import Array
from fsl_sym.model_identities import FEATURES, PHI
from fsl_sym.proof import AllOf, Mean, Property, at_most, equals

_A = MatrixSymbol("A", FEATURES, FEATURES)
_along = MatrixSymbol("d", FEATURES, 1)
_MEAN = Mean(PHI * PHI.T * _A * PHI * PHI.T)
_FOURTH = _MEAN - H * _A * H
INDEPENDENT = ("uniform", "rademacher", "laplace")
NORMAL = FEATURE_LAWS("gaussian")
ENTRY_ROUNDING = 1e-8
"""Entries are sums of 81 terms, each at most lambda_4^-1 < 5e3 times as large as the entry, and then some."""


def _hypercontractive(base: MatrixSymbol, least: Expr | int, most: Expr | int) -> AllOf:
    """least tr(HA) base <= E[phi phi'A phi phi'] - HAH <= most tr(HA) base, in every direction d."""
    own, unit = Trace(_along.T * _FOURTH * _along), Trace(H * _A) * Trace(_along.T * base * _along)
    return AllOf((at_most(least * unit, own), at_most(own, most * unit)))


NORMAL_CONSTANTS: Final = (1, 2)
"""rho_- and rho_+ of normal features: those that are printed, and judged."""
HYPERCONTRACTIVITY_PRINTED = _hypercontractive(_A, LEAST, MOST)
HYPERCONTRACTIVITY = _hypercontractive(H, *NORMAL_CONSTANTS)
_positive, _negative = Symbol("p_A", nonnegative=True), Symbol("m_A", nonnegative=True)
_size = Trace(_along.T * H * _along)
_SIGNED: Final = (_positive - 2 * _negative, 2 * _positive - _negative)
INDEFINITE: Final = AllOf((
    at_most(_SIGNED[0] * _size, Trace(_along.T * _FOURTH * _along)),
    at_most(Trace(_along.T * _FOURTH * _along), _SIGNED[1] * _size),
))  # fmt: skip
FOURTH_MOMENTS: Final = AllOf((equals(_FOURTH, Trace(H * _A) * H + H * _A * H), *HYPERCONTRACTIVITY.parts))


BEST_CONSTANTS: Final = AllOf(
    (equals(LEAST, Min(1, (KURTOSIS - 1) / 2)), equals(MOST, Max(KURTOSIS - 1, 2 - (3 - KURTOSIS) / FEATURES)))
)


def best_constants(kurtosis: float, size: int = FEATURE_COUNT) -> tuple[float, float]:
    """rho_- and rho_+ of ``size`` >= 2 independent symmetric features: min(1, (k-1)/2) and max(k-1, 2-(3-k)/size).

    >>> best_constants(3.0), best_constants(1.0, 4)
    ((1.0, 2.0), (0.0, 1.5))
    """
    values = {KURTOSIS: kurtosis, FEATURES: size}
    least, most = (float(part.right.subs(values)) for part in BEST_CONSTANTS.parts)  # type: ignore[union-attr]
    return least, most


def _quotients(sample: Sample) -> dict[str, Any]:
    """The constants of normal features, and the least and largest of what they bound that a search finds."""
    quotients = [
        float((d.T @ operator.value @ d)[0, 0] / (operator.size * (d.T @ operator.base @ d)[0, 0]))
        for operator in fourth_moments("gaussian", sample) for d in extreme_directions(operator)
    ]  # fmt: skip
    least, most = best_constants(KURTOSES["gaussian"])
    return {"rho_-": least, "rho_+": most, "(d'E[phi phi'A phi phi']d - d'HAHd)/(tr(HA) d'Hd)": np.array(quotients)}


MEANS = (
    Where("rho_- is the least of (d'E[phi phi'A phi phi']d - d'HAHd)/(tr(HA) d'Hd); "
          "rho_+ is the largest of (d'E[phi phi'A phi phi']d - d'HAHd)/(tr(HA) d'Hd)", _quotients),
    Where("E is u' H u/2", last_risk),
)  # fmt: skip


def matrix_bound(operator: Operator, rho: float) -> Array:
    """rho size matrix: rho tr(HA) A."""
    assert operator.matrix is not None
    return rho * operator.size * operator.matrix


@lru_cache(maxsize=64)
def fourth_moments(family: str, sample: Sample) -> tuple[Operator, ...]:
    """E[(phi'A phi) phi phi'] - HAH at the extreme A = aa' that a search finds, at e_1 e_1', and at four random A."""
    own = eigenvalues(sample)
    root = np.sqrt(own)
    generator = np.random.default_rng([sample.seed, 1])
    factors = [*(a[:, None] / root[:, None] for a in extreme_vectors(family, FEATURE_COUNT, sample.seed))]
    factors += [
        np.eye(FEATURE_COUNT)[:, :1],
        *(generator.standard_normal((FEATURE_COUNT, k)) for k in range(1, FEATURE_COUNT + 1)),
    ]
    return _moments_of(family, own, [factor @ factor.T for factor in factors])


def _moments_of(family: str, own: Array, matrices: Sequence[Array]) -> tuple[Operator, ...]:
    xi, weights = cloud(family, FEATURE_COUNT)
    phi = xi * np.sqrt(own)
    operators = []
    for matrix in matrices:
        inner = ((phi @ matrix) * phi).sum(axis=1)
        value = (phi.T * (weights * inner)) @ phi - own[:, None] * matrix * own
        operators.append(Operator(value, np.diag(own), float(own @ np.diag(matrix)), matrix))
    return tuple(operators)


@lru_cache(maxsize=64)
def indefinite_moments(sample: Sample) -> tuple[Operator, ...]:
    """The same for normal features and A of both signs, two diagonal and four random; their size is p + m."""
    generator = np.random.default_rng([sample.seed, 2])
    drawn = generator.standard_normal((4, FEATURE_COUNT, FEATURE_COUNT))
    diagonal = [np.diag([1.0, -0.5, *[0.0] * (FEATURE_COUNT - 2)]), np.diag([-0.5, 1.0, *[0.0] * (FEATURE_COUNT - 2)])]
    operators = _moments_of("gaussian", eigenvalues(sample), [*diagonal, *(matrix + matrix.T for matrix in drawn)])
    return tuple(replace(operator, size=sum(_signed_parts(operator))) for operator in operators)


def _of_both_signs(sample: Sample) -> Located:
    """The bounds of the lemma where A has both signs: their size is tr(HA), here of either sign, without its own."""
    measured, matrices = [], []
    for operator in indefinite_moments(sample):
        assert operator.matrix is not None
        matrices.append(operator.matrix)
        measured.append(replace(operator, size=abs(float(np.trace(operator.base @ operator.matrix)))))
    return Located({"bounds": measured}, {"A": matrices, FEATURE_LAWS.name: "gaussian"})


def _signed_parts(operator: Operator) -> tuple[float, float]:
    """The sums p and m of the positive and of the negative eigenvalues of H^(1/2) A H^(1/2)."""
    assert operator.matrix is not None
    root = np.sqrt(np.diag(operator.base))
    parts = np.linalg.eigvalsh(root[:, None] * operator.matrix * root)
    return float(parts[parts > 0].sum()), float(-parts[parts < 0].sum())


def signed_bound(operator: Operator, rho: float) -> Array:
    """The two bounds for A of both signs, with rho = 1 and 2, and what lies between them and beyond."""
    values = dict(zip((_positive, _negative), _signed_parts(operator), strict=True))
    low, high = (float(bound.subs(values)) for bound in _SIGNED)
    return np.asarray((low + (rho - 1.0) * (high - low)) * operator.base)


def trace_bound(operator: Operator, rho: float) -> Array:
    """rho tr(HA) H, as the lemma has it for A without negative eigenvalues."""
    positive, negative = _signed_parts(operator)
    return rho * (positive - negative) * operator.base


def fourth_moment_entries(sample: Sample) -> list[tuple[tuple[str, int, int], float]]:
    """The entries of E[x x'A x x'] - HAH for normal x and two matrices without zeros, by (matrix, i, j)."""
    own = eigenvalues(sample)
    xi, weights = cloud("gaussian", FEATURE_COUNT)
    phi = xi * np.sqrt(own)
    entries = []
    for name, matrix in dense_matrices().items():
        value = (phi.T * (weights * ((phi @ matrix) * phi).sum(axis=1))) @ phi - own[:, None] * matrix * own
        entries += [((name, i, j), float(value[i, j])) for i in range(FEATURE_COUNT) for j in range(i, FEATURE_COUNT)]
    return entries


def dense_matrices() -> dict[str, Array]:
    """Positive definite matrices without a zero entry."""
    index = np.arange(1.0, FEATURE_COUNT + 1.0)
    return {
        "ones": np.ones((FEATURE_COUNT, FEATURE_COUNT)) + np.eye(FEATURE_COUNT),
        "Hilbert": 1.0 / (np.add.outer(index, index) - 1),
    }


def _instances(operators: Sequence[Operator]) -> list[dict[Any, Any]]:
    """What the letters of the bounds are in the extreme directions of operators."""
    instances = []
    for operator in operators:
        assert operator.matrix is not None
        mean = operator.value + operator.base @ operator.matrix @ operator.base
        known = {_MEAN: mean, H: operator.base, _A: operator.matrix}
        known |= dict(zip((_positive, _negative), _signed_parts(operator), strict=True))
        instances += [{**known, _along: direction} for direction in extreme_directions(operator)]
    return instances


def _independent(sample: Sample) -> Joint:
    return Joint(
        {name: Bracket(*best_constants(KURTOSES[name]), formulas=BEST_CONSTANTS.parts) for name in INDEPENDENT}
    )


def _independent_mutants(sample: Sample) -> dict[str, Statement]:
    normal = Bracket(*best_constants(KURTOSES["gaussian"]))
    parts = _independent(sample).parts
    return {f"{name}: the constants of normal features": Joint({**parts, name: normal}) for name in INDEPENDENT}


def _entry(bilinear: Callable[[Array, Array], Array], sample: Sample) -> Callable[[Any], float]:
    eigenvalues = np.arange(1.0, FEATURE_COUNT + 1.0) ** -sample.point[1]
    tables = {name: bilinear(np.diag(eigenvalues), matrix) for name, matrix in dense_matrices().items()}
    return lambda point: float(tables[point[0]][point[1], point[2]])


def _fourth_moment(sample: Sample) -> Joint:
    wrong: dict[str, Callable[[Array, Array], Array]] = {
        "HAH twice": lambda h, a: np.trace(h @ a) * h + 2 * h @ a @ h,
        "half of HAH": lambda h, a: np.trace(h @ a) * h + 0.5 * h @ a @ h,
        "tr(A) for tr(HA)": lambda h, a: np.trace(a) * h + h @ a @ h,
    }
    identity = Sharp(
        _entry(lambda h, a: np.trace(h @ a) * h + h @ a @ h, sample),
        ENTRY_ROUNDING,
        {name: _entry(moment, sample) for name, moment in wrong.items()},
    )
    return Joint({"identity": identity, "bounds": Bracket(*NORMAL_CONSTANTS)})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "assumption: hypercontractivity", "assumption: hypercontractivity", 277, "hypercontractivity as printed",
        HYPERCONTRACTIVITY_PRINTED, (SPECTRUM, NORMAL, Property("A", "positive semidefinite")),
        of_family(fourth_moments, "gaussian"),
        lambda sample: Bracket(*NORMAL_CONSTANTS, matrix_bound, attained=False),
        corrected_by="assumption: hypercontractivity/corrected", family="fourth-moments",
        instances=lambda sample: [{**known, **dict(zip((LEAST, MOST), NORMAL_CONSTANTS, strict=True))}
                                  for known in _instances(fourth_moments("gaussian", sample))],
        mends={Trace(_along.T * _A * _along): Trace(_along.T * H * _along)},
        quoted=r"\rho_{-}\,\tr(\bH\bA)\,\bA \;\preceq\;",
        remark="The outer terms are of the second degree in A and the middle is of the first, so that no "
               "constants serve A and all its multiples.",
    ),
    Claim(
        "assumption: hypercontractivity/corrected", "assumption: hypercontractivity", 277,
        "hypercontractivity with H outside",
        HYPERCONTRACTIVITY, (SPECTRUM, NORMAL, Property("A", "positive semidefinite")),
        of_family(fourth_moments, "gaussian"),
        lambda sample: Bracket(*best_constants(KURTOSES["gaussian"]), wrong={"A where H stands outside": matrix_bound}),
        family="fourth-moments", instances=lambda sample: _instances(fourth_moments("gaussian", sample)),
        role="corrected",
    ),
    Claim(
        "assumption: hypercontractivity/independent-features", "assumption: hypercontractivity", 277,
        "the best constants of independent features",
        BEST_CONSTANTS, (SPECTRUM, FEATURE_LAWS(*INDEPENDENT), equals(FEATURES, FEATURE_COUNT)),
        located({"N": FEATURE_COUNT})(lambda sample: {name: fourth_moments(name, sample) for name in INDEPENDENT}),
        _independent, _independent_mutants, family="fourth-moments",
        role="own",
        remark="Features that are signs do not satisfy the assumption.",
    ),
    Claim(
        "lem:4th_moment_estim", "lem:4th_moment_estim", 3808, "the fourth moments of normal features",
        FOURTH_MOMENTS, (SPECTRUM, NORMAL, Property("A", "positive semidefinite")),
        located({FEATURE_LAWS.name: "gaussian"})(
            lambda sample: {"identity": fourth_moment_entries(sample), "bounds": fourth_moments("gaussian", sample)}),
        _fourth_moment, family="fourth-moments",
        instances=lambda sample: _instances(fourth_moments("gaussian", sample)),
        beyond=lambda sample: {"A of both signs": _of_both_signs(sample)},
        quoted=r"\tr(\bH \bA)\bH  \preceq"
               r" \EE \left[\bx\bx^\top \bA \bx\bx^\top - \bH \bA\bH \right] = \tr(\bH \bA) \bH + \bH \bA\bH"
               r" \preceq 2\tr(\bH \bA)\bH",
    ),
    Claim(
        "lem:4th_moment_estim/indefinite", "lem:4th_moment_estim", 3808, "the fourth moments for A of both signs",
        INDEFINITE,
        (SPECTRUM, NORMAL, Property("A", "symmetric"),
         Where("p_A is the sum of the positive part of the eigenvalues of H^(1/2) A H^(1/2); "
               "m_A is the sum of the positive part of the eigenvalues of (-H^(1/2) A H^(1/2))")),
        located({FEATURE_LAWS.name: "gaussian"})(indefinite_moments),
        lambda sample: Bracket(1.0, 2.0, signed_bound, wrong={"the lemma for every symmetric A": trace_bound}),
        family="fourth-moments", role="own", instances=lambda sample: _instances(indefinite_moments(sample)),
        remark="The bounds of the lemma fail there.",
    ),
)  # fmt: skip
