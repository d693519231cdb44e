"""Capacity, source, and the spaces of the kernel, measured: partial sums up to 1e300 terms, kernels at points.

Partial sums beyond ten thousand terms are continued by their integral, so that the number of terms is not limited.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Equivalent
from fsl_num.simulate.families import Trigonometric
from fsl_num.validation import Array

LAST = 690.0
"""log of the largest number of terms."""
SIZE = 12
"""Eigenfunctions of the kernel that is looked at in points."""


def log_sums(power: float, logs: Sequence[float]) -> Array:
    """log of sum_{j <= J} j^-power for log J >= 10: the first terms one by one, the others by the midpoint rule.

    Its error is below power/24 of the derivative at the start, some 1e-9 of the sum at most.
    """
    start = 10_000
    head, low = float((np.arange(1.0, start + 1.0) ** -power).sum()), math.log(start + 0.5)
    exponent = 1.0 - power
    values = []
    for log in logs:
        if abs(exponent) < 1e-12:
            values.append(math.log(head + log - low))
        elif exponent * log < 600.0:
            values.append(math.log(head + (math.exp(exponent * log) - math.exp(exponent * low)) / exponent))
        else:
            values.append(exponent * log - math.log(exponent))
    return np.array(values)


def log_law() -> Equivalent:
    """The statement that a quantity is of the order of log N."""
    return Equivalent(_power_of_log, {"log N": 1.0}, frozenset({"log N"}), logarithmic=True)


def _power_of_log(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    return np.asarray(exponents["log N"] * np.log(logs["N"]))


def basis(size: int) -> tuple[Array, Array]:
    """Points of the circle and the orthonormal functions at them: means over the points are exact."""
    points = np.arange(64) / 64.0
    return points, Trigonometric().values(points, size)


def own_eigenvalues(sample: Sample, beta: float | None = None) -> Array:
    """lambda_j = j^-beta of the small spaces, at the sample's capacity unless another is given."""
    return np.asarray(np.arange(1.0, SIZE + 1.0) ** -(sample.point[1] if beta is None else beta))
