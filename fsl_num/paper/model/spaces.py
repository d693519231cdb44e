"""Capacity, source, and the spaces of the kernel, measured: partial sums up to 1e300 terms, kernels at points.

Partial sums beyond ten thousand terms are continued by their integral, so that the number of terms is not limited.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Equivalent
from fsl_num.claims.words import Kinds
from fsl_num.paper.hypotheses import located
from fsl_num.simulate.families import Trigonometric
from fsl_num.validation import Array

LAST = math.log(1e300)
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


def log_law(letter: str = "N") -> Equivalent:
    """The statement that a quantity is of the order of log N, or that of another letter."""
    name = f"log {letter}"
    return Equivalent(partial(_power_of_log, letter), {name: 1.0}, frozenset({name}), logarithmic=True)


def _power_of_log(letter: str, exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    return np.asarray(exponents[f"log {letter}"] * np.log(logs[letter]))


FAMILY = Trigonometric()
FUNCTIONS = Kinds("functions", {"trigonometric": "trigonometric"})
of_functions = located({FUNCTIONS.name: type(FAMILY).__name__.lower()})
"""A measurement at the values of orthonormal functions, which names them."""


def basis(size: int) -> tuple[Array, Array]:
    """Points of the circle and the orthonormal functions at them: means over the points are exact."""
    points = np.arange(64) / 64.0
    return points, FAMILY.values(points, size)


def own_eigenvalues(sample: Sample, beta: float | None = None) -> Array:
    """lambda_j = j^-beta of the small spaces, at the sample's capacity unless another is given."""
    return np.asarray(np.arange(1.0, SIZE + 1.0) ** -(sample.point[1] if beta is None else beta))
