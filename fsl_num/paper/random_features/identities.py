"""Identities for random features on small matrices: matrix exponentials and roots by general routines, no spectra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Sharp
from fsl_num.paper.hypotheses import PROJECTIONS, located
from fsl_num.validation import Array
from fsl_sym.model_identities import COVARIANCE, PROJECTION
from fsl_sym.symbols import t

Point = tuple[Any, ...]
Table = list[tuple[Point, float]]
ROWS, COLUMNS = 3, 5
CASES = 3
TIMES = (0.3, 2.0, 20.0)
ROUNDING = 1e-8
"""Entries of order 1, conditioned by the least eigenvalue of W H W', which is at least 1e-6 in these cases."""


def of_projections(measure: Callable[[Sample], Any]) -> Callable[[Sample], Located]:
    """A measurement of the cases, which names their projections."""
    return located(
        lambda sample: {PROJECTIONS.name: "random", "W": [case(sample, number)[0] for number in range(CASES)]}
    )(measure)


def of_cases(measure: Callable[[Sample], Any]) -> Callable[[Sample], Located]:
    """A measurement of the cases at these times, which names them."""
    return located({"M": ROWS, "N": COLUMNS, "t": TIMES})(of_projections(measure))


@lru_cache(maxsize=64)
def case(sample: Sample, number: int) -> tuple[Array, Array, Array]:
    """W, the eigenvalues of H and theta*."""
    s, beta = sample.point
    index = np.arange(1.0, COLUMNS + 1.0)
    generator = np.random.default_rng([sample.seed, 21, number])
    projection = generator.standard_normal((ROWS, COLUMNS)) / np.sqrt(ROWS)
    return projection, index ** -min(beta, 3.0), index ** (-0.5 * (1.0 + min(beta, 3.0) * (min(s, 1.5) - 1.0)))


def forgetting(projection: Array, eigenvalues: Array, time: float) -> Array:
    """A_t = exp(-W'W H t)."""
    from scipy.linalg import expm

    return np.asarray(expm(-time * (projection.T @ projection) * eigenvalues))


def entries(sample: Sample, matrix: Callable[[int, float], Array]) -> Table:
    """All entries of a matrix that depends on the case and the time."""
    table: Table = []
    for number in range(CASES):
        for time in TIMES:
            value = matrix(number, time)
            table += [
                ((number, time, i, j), float(value[i, j])) for i in range(value.shape[0]) for j in range(value.shape[1])
            ]
    return table


def entry(matrix: Callable[[int, float], Array]) -> Callable[[Point], float]:
    """The claimed entry at a point (case, time, i, j)."""
    return lambda point: float(matrix(point[0], point[1])[point[2], point[3]])


def left_of(sample: Sample, number: int, time: float) -> Array:
    """A_t'H A_t."""
    projection, eigenvalues, _ = case(sample, number)
    decayed = forgetting(projection, eigenvalues, time)
    return np.asarray((decayed.T * eigenvalues) @ decayed)


def instances(sample: Sample, values: Callable[[Array, Array, Array, float], dict[Any, Any]]) -> list[dict[Any, Any]]:
    """What letters are, W and the time beside those made of W, the root of H, A_t and the time, in every case."""
    return [
        {PROJECTION: projection, t: time, COVARIANCE: np.diag(eigenvalues)}
        | values(projection, np.diag(np.sqrt(eigenvalues)), forgetting(projection, eigenvalues, time), time)
        for projection, eigenvalues, _ in (case(sample, number) for number in range(CASES)) for time in TIMES
    ]  # fmt: skip


def sharp_identity(claimed: Any, wrong: Mapping[str, Any]) -> Sharp:
    """An identity between matrices, exact up to rounding."""
    return Sharp(claimed, ROUNDING, wrong)
