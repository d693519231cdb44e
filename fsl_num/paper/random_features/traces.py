"""lem:trace_analysis_appendix and lem:spd_matrix_trace: what one mode returns of its noise, and how traces grow."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Sum, Trace, exp

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Sharp
from fsl_num.claims.words import Where
from fsl_num.paper.model.formulas import symmetric
from fsl_num.paper.random_features.formulas import DECAYED, SMALL, A, H, S, left_at, mu
from fsl_num.paper.random_features.identities import (
    CASES,
    ROWS,
    TIMES,
    Point,
    Table,
    case,
    forgetting,
    instances,
    of_cases,
    sharp_identity,
)
from fsl_num.validation import Array
from fsl_sym import random_features as derivations
from fsl_sym.proof import AllOf, Hypothesis, Property, at_most, equals
from fsl_sym.random_features import GAP, LARGER, SIZE, SMALLER, WEIGHT
from fsl_sym.symbols import j, t

TRACE: Final = equals(Trace(S * left_at * S), Sum(mu(j) ** 2 * exp(-2 * mu(j) * t), (j, 1, SIZE)))
_SMALL_TRACE, _LARGE_TRACE = (Trace(root * WEIGHT * WEIGHT * root) for root in (SMALLER, LARGER))
TRACE_ORDER: Final = AllOf(
    (
        at_most(_SMALL_TRACE, _LARGE_TRACE),
        equals(_LARGE_TRACE - _SMALL_TRACE, Trace((GAP * WEIGHT).T * (GAP * WEIGHT))),
    )
)
ROOTS: Final[tuple[Hypothesis, ...]] = (
    equals(LARGER * LARGER, SMALLER * SMALLER + GAP * GAP),
    *symmetric(SMALLER, LARGER, GAP, WEIGHT),
)


def noise_traces(sample: Sample) -> Table:
    """tr(S A_t'H A_t S) by matrix roots and exponentials."""
    from scipy.linalg import sqrtm

    table: Table = []
    for number in range(CASES):
        projection, eigenvalues, _ = case(sample, number)
        outer = projection.T @ projection
        root = np.real(sqrtm((outer * eigenvalues) @ outer))
        for time in TIMES:
            decayed = forgetting(projection, eigenvalues, time)
            table.append(((number, time), float(np.trace(root @ (decayed.T * eigenvalues) @ decayed @ root))))
    return table


def kernel_of(sample: Sample, power: float = 2.0, rate: float = 2.0, *, own: bool = True) -> Callable[[Point], float]:
    """sum_j mu_j^power exp(-rate mu_j t), mu_j the eigenvalues of W H W' (of H where not ``own``)."""

    def claimed(point: Point) -> float:
        projection, eigenvalues, _ = case(sample, point[0])
        spectrum = np.linalg.eigvalsh((projection * eigenvalues) @ projection.T) if own else eigenvalues[:ROWS]
        return float((spectrum**power) @ np.exp(-rate * spectrum * point[1]))

    return claimed


def _trace_values(projection: Array, root: Array, decayed: Array, time: float) -> dict[Any, Any]:
    from scipy.linalg import sqrtm

    outer = projection.T @ projection
    spectrum = np.linalg.eigvalsh(projection @ root**2 @ projection.T)
    return {
        S: np.real(sqrtm(outer @ root**2 @ outer)),
        H: root**2,
        A: decayed,
        t: time,
        SIZE: ROWS,
        mu: lambda number: spectrum[-number],
    }


def _traces(sample: Sample) -> Sharp:
    kernel = partial(kernel_of, sample)
    wrong = {"mu_j once": kernel(1.0), "exp(-mu_j t)": kernel(2.0, 1.0), "eigenvalues of H": kernel(own=False)}
    return sharp_identity(kernel(), wrong)


@lru_cache(maxsize=8)
def ordered_pair(seed: int, number: int) -> tuple[Array, Array, Array]:
    """P <= Q and U, all positive semidefinite and dense."""
    generator = np.random.default_rng([seed, 22, number])
    parts = [generator.standard_normal((4, 4)) for _ in range(3)]
    low, gap, weight = (part @ part.T for part in parts)
    return low, low + gap, weight


def trace_gaps(sample: Sample) -> Table:
    """tr(Q^(1/2) U Q^(1/2)) - tr(P^(1/2) U P^(1/2)) for P <= Q."""
    from scipy.linalg import sqrtm

    table: Table = []
    for number in range(6):
        low, high, weight = ordered_pair(sample.seed, number)
        first, second = np.real(sqrtm(low)), np.real(sqrtm(high))
        gap = float(np.trace(second @ weight @ second) - np.trace(first @ weight @ first))
        table.append(((number,), gap))
    return table


def squared_norm(sample: Sample, *, swapped: bool = False, unweighted: bool = False) -> Callable[[Point], float]:
    """|(Q - P)^(1/2) U^(1/2)|_F^2, a sum of squares; ``swapped`` with the opposite sign, ``unweighted`` without U."""

    def claimed(point: Point) -> float:
        from scipy.linalg import sqrtm

        low, high, weight = ordered_pair(sample.seed, point[0])
        factor = np.eye(4) if unweighted else np.real(sqrtm(weight))
        value = float(np.linalg.norm(np.real(sqrtm(high - low)) @ factor) ** 2)
        return -value if swapped else value

    return claimed


def _order_instances(sample: Sample) -> list[dict[Any, Any]]:
    from scipy.linalg import sqrtm

    instances: list[dict[Any, Any]] = []
    for low, high, weight in (ordered_pair(sample.seed, number) for number in range(6)):
        small, large, gap, factor = (np.real(sqrtm(matrix)) for matrix in (low, high, high - low, weight))
        instances.append({SMALLER: small, LARGER: large, GAP: gap, WEIGHT: factor})
    attained = {SMALLER: small, LARGER: small, GAP: 0.0 * gap, WEIGHT: factor}
    return [*instances, attained]


def _ordered(sample: Sample) -> dict[Any, Any]:
    """Roots, and the matrices of which they are."""
    return {**_order_instances(sample)[0], **dict(zip("PQU", ordered_pair(sample.seed, 0), strict=True))}


ROOTS_OF = Where("R_1 = P^(1/2); R_2 = Q^(1/2); L = (Q - P)^(1/2); V = U^(1/2)", _ordered)


def _trace_gap(sample: Sample) -> Sharp:
    norm = partial(squared_norm, sample)
    return sharp_identity(norm(), {"the other way round": norm(swapped=True), "without U": norm(unweighted=True)})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem:trace_analysis_appendix", "lem:trace_analysis_appendix", 2556, "what one mode returns of its noise",
        TRACE,
        (Property("H", "positive semidefinite"), DECAYED, Where("S = (W'W H W'W)^(1/2)"),
         Where("mu(j) are the eigenvalues of W H W'"), *SMALL),
        of_cases(noise_traces), _traces, instances=partial(instances, values=_trace_values),
        derive=derivations.trace_derivation, family="random-identities",
        probability="certain: an identity for every W",
        quoted=r"e^{-2(t-\tau)\hlambda_j} \hlambda_j^2",
        remark="It holds for every W, and no probability is needed.",
    ),
    Claim(
        "lem:spd_matrix_trace", "lem:spd_matrix_trace", 3856, "a trace grows with its matrix",
        TRACE_ORDER,
        (ROOTS_OF, *ROOTS),
        trace_gaps, _trace_gap, instances=_order_instances,
        derive=derivations.trace_order_derivation, family="random-identities",
        quoted=r"\le \tr(\sqrt{\mathbf{Q}}\mathbf{U}\sqrt{\mathbf{Q}})",
    ),
)  # fmt: skip
