"""Capacity, source, and the spaces of the kernel, measured: partial sums up to 1e300 terms, kernels at points.

Partial sums beyond ten thousand terms are continued by their integral, so that the number of terms is not limited.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Equivalent, Joint, Ray
from fsl_num.paper.model.measurements import cloud
from fsl_num.paper.model.tables import Numbers
from fsl_num.simulate.families import Trigonometric
from fsl_num.simulate.sobolev import measured_source_exponent

Array = NDArray[np.float64]

LAST = 690.0
"""log of the largest number of terms."""
CONSTANTS = (0.5, 2.0)
"""The eigenvalues are these multiples of j^-beta in turn, over blocks of indices: what two-sided bounds leave free."""
SIZE = 12
"""Eigenfunctions of the kernel that is looked at in points."""


def log_sums(power: float, logs: Sequence[float]) -> Array:
    """log of sum_{j <= J} j^-power for log J >= 10: the first terms one by one, the others by the midpoint rule.

    Its error is below power/24 of the derivative at the start, some 1e-9 of the sum at most.
    """
    start = 10_000
    head, low = float((np.arange(1.0, start + 1.0) ** -power).sum()), math.log(start + 0.5)
    rest = 1.0 - power
    found = []
    for log in logs:
        if abs(rest) < 1e-12:
            found.append(math.log(head + log - low))
        elif rest * log < 600.0:
            found.append(math.log(head + (math.exp(rest * log) - math.exp(rest * low)) / rest))
        else:
            found.append(rest * log - math.log(rest))
    return np.array(found)


def traces(sample: Sample) -> Mapping[str, list[Ray]]:
    """tr H as N grows, for eigenvalues between two multiples of j^-beta; and for beta = 1."""
    fine = np.linspace(30.0, LAST, 24 * 30)
    logs = fine[29::30]
    found = {}
    for name, beta in (("beta", sample.point[1]), ("one", 1.0)):
        whole = np.exp(log_sums(beta, [float(each) for each in fine]))
        parts = np.diff(np.concatenate([[0.0], whole]))
        constants = np.resize(CONSTANTS, fine.size)
        constants[0] = constants.mean()  # the first block is long in logarithms
        uneven = np.cumsum(parts * constants)
        found[name] = [
            Ray("one constant", logs, {"N": logs}, np.log(whole[29::30])),
            Ray("constants in turn", logs, {"N": logs}, np.log(uneven[29::30])),
        ]
    return found


def trace_statement(sample: Sample) -> Joint:
    """tr H is bounded in N; for beta = 1 it is of the order of log N."""
    bounded = Equivalent(power_law, {"N": 0.0}, direction="upper")
    log = Equivalent(log_law, {"log N": 1.0}, frozenset({"log N"}), logarithmic=True)
    return Joint({"beta": bounded, "one": log})


def power_law(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    """N^a, in logarithms."""
    return exponents["N"] * logs["N"]


def log_law(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    """(log N)^a, in logarithms."""
    return exponents["log N"] * np.log(logs["N"])


def basis(size: int) -> tuple[Array, Array]:
    """Points of the circle and the orthonormal functions at them: means over the points are exact."""
    points = np.arange(64) / 64.0
    return points, Trigonometric().values(points, size)


def _own(sample: Sample, beta: float | None = None) -> Array:
    return np.asarray(np.arange(1.0, SIZE + 1.0) ** -(sample.point[1] if beta is None else beta))


def coefficients(sample: Sample) -> Numbers:
    """The coefficients of f* = sum_j theta_j phi_j on the orthonormal functions, by means over points."""
    s, beta = sample.point
    _, functions = basis(SIZE)
    theta = np.arange(1.0, SIZE + 1.0) ** (-0.5 * (1.0 + beta * (s - 1.0)))
    values = (functions * np.sqrt(_own(sample))) @ theta
    return {"a_j": values @ functions / len(values)}


def coefficient_formula(sample: Sample, *, power: float = 0.5, index: float = 0.5, shift: float = 0.0) -> Numbers:
    """j^-index lambda_j^(power s + shift)."""
    j = np.arange(1.0, SIZE + 1.0)
    return {"a_j": j**-index * _own(sample) ** (power * sample.point[0] + shift)}


def kernel_numbers(sample: Sample) -> Numbers:
    """A kernel at points: quadratic forms, norms of f = sum_i c_i K(x_i, .), values, and its integral operator."""
    points, functions = basis(SIZE)
    own = _own(sample)
    kernel = (functions * own) @ functions.T
    generator = np.random.default_rng([sample.seed, 31])
    chosen = generator.integers(0, len(points), 5)
    weights = generator.standard_normal(5)
    gram = kernel[np.ix_(chosen, chosen)]
    function = weights @ kernel[chosen]
    eigenvalues = np.sort(np.linalg.eigvalsh(kernel / len(points)))[::-1]
    return {
        "squared norm": np.array([weights @ gram @ weights]),
        "values": function,
        "eigenvalues": eigenvalues[:SIZE],
    }


def kernel_formula(sample: Sample, *, power: float = 1.0, root: float = 1.0, rank: float = 1.0) -> Numbers:
    """sum_j a_j^2/lambda_j^power, sum_j a_j e_j(x), and lambda_j^root, with the a_j read off the function."""
    points, functions = basis(SIZE)
    own = _own(sample)
    generator = np.random.default_rng([sample.seed, 31])
    chosen = generator.integers(0, len(points), 5)
    weights = generator.standard_normal(5)
    amplitudes = own**rank * (weights @ functions[chosen])
    return {
        "squared norm": np.array([float(amplitudes**2 @ own**-power)]),
        "values": functions @ amplitudes,
        "eigenvalues": own**root,
    }


def source_sums(sample: Sample) -> Mapping[str, Any]:
    """Partial sums of a_j^2/lambda_j^r for r below, at and above s; and the summands for r = s - delta."""
    s, beta = sample.point
    logs = np.linspace(30.0, LAST, 24)
    delta = _delta(sample)
    found: dict[str, Any] = {}
    for name, r in (("below", s - delta), ("at", s), ("above", s + delta)):
        values = log_sums(1.0 + beta * (s - r), [float(each) for each in logs])
        found[name] = [Ray(name, logs, {"N": logs}, values)]
    a = coefficients(sample)["a_j"]
    found["terms"] = {"a_j^2/lambda_j^r": a**2 / _own(sample) ** (s - delta)}
    return found


def _delta(sample: Sample) -> float:
    return sample.point[0] / 3.0


def source_terms(sample: Sample, *, printed: bool = False, sign: float = 1.0) -> Numbers:
    """j^(-1 - beta delta), or as printed j^(-1 - beta (s - delta)), which would be the same for delta = s/2."""
    s, beta = sample.point
    delta = s - _delta(sample) if printed else _delta(sample)
    return {"a_j^2/lambda_j^r": np.arange(1.0, SIZE + 1.0) ** (-1.0 - sign * beta * delta)}


def nesting_ratios(sample: Sample) -> list[float]:
    """||f||_{r_2}^2/||f||_{r_1}^2 for random functions, for the first eigenfunction and for the last."""
    generator = np.random.default_rng([sample.seed, 32])
    own = _own(sample)
    found = []
    for amplitudes in (np.eye(SIZE)[0], *generator.standard_normal((6, SIZE))):
        low, high = sorted(generator.uniform(0.0, 2.0, 2))
        found.append(float((amplitudes**2 @ own**-low) / (amplitudes**2 @ own**-high)))
    return found


def orders_of_norms(sample: Sample) -> list[Ray]:
    """The same ratio for single eigenfunctions e_J as J grows, r_1 = 3/2 and r_2 = 1/2."""
    logs = np.linspace(1.0, 12.0, 12)
    own = np.exp(logs) ** -sample.point[1]
    return [Ray("one eigenfunction", logs, {"N": logs}, np.log(own**-0.5 / own**-1.5))]


def richer_ratios(sample: Sample) -> list[float]:
    """||f||_K^2 for beta over that for a larger beta, for the first eigenfunction and random functions."""
    generator = np.random.default_rng([sample.seed, 33])
    found = []
    for amplitudes in (np.eye(SIZE)[0], *generator.standard_normal((6, SIZE))):
        larger = _own(sample, sample.point[1] + generator.uniform(0.1, 2.0))
        found.append(float((amplitudes**2 @ (1.0 / _own(sample))) / (amplitudes**2 @ (1.0 / larger))))
    return found


def standardised(sample: Sample) -> Numbers:
    """Means of products of the standardised normal features; how far the product of two is from their span."""
    xi, chance = cloud("gaussian", 4)
    pair = xi[:, 0] * xi[:, 1]
    seen = (xi.T * chance) @ pair
    return {"products": (xi.T * chance) @ xi, "distance": np.array([chance @ (pair - xi @ seen) ** 2])}


def standardised_formula(sample: Sample, *, basis: bool = False, scale: float = 1.0) -> Numbers:
    """Orthonormal; ``basis``: nothing is left outside the span."""
    return {"products": scale * np.eye(4), "distance": np.array([0.0 if basis else 1.0])}


LISTED = 2**16


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
        "s": np.array([alpha / (each if relative else 1.0) for each in (2.0, sample.point[1])]),
    }
