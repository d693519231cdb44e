r"""Hypercontractivity: the best constants of a family of features.

rho_- and rho_+ are the best constants in

    rho_- tr(HA) H <= E[(phi'A phi) phi phi'] - HAH <= rho_+ tr(HA) H    for every positive semidefinite A.

With X = H^(1/2) A H^(1/2) and phi = H^(1/2) xi this reads rho_- tr(X) I <= G(X) <= rho_+ tr(X) I, G(X) = E[(xi'X xi)
xi xi'] - X: H drops out. G is linear, so that the largest eigenvalue of G(X) is convex in X, the smallest concave, and
both are extreme at a matrix X = aa' of rank one. Hence the constants are the extremes over unit vectors of

    g(a, b) = E[(a'xi)^2 (b'xi)^2] - (a'b)^2.

For independent symmetric coordinates of kurtosis kappa, g = 1 + (a'b)^2 + (kappa - 3) sum_j a_j^2 b_j^2, which gives

    rho_- = min(1, (kappa - 1)/2),   rho_+ = max(kappa - 1, 2 - (3 - kappa)/N)    (N >= 2; both kappa - 1 for N = 1):

for kappa >= 3 both terms are least, 0, at a = e_1, b = e_2 and largest, 1, at a = b = e_1. For kappa < 3 write p_j =
a_j b_j, sum_j |p_j| <= 1. By sum p_j^2 >= (sum p_j)^2/N the largest value is at p = (1/N, ..., 1/N); and with P, Q the
sums of the positive and the negative p_j, (3 - kappa) sum p_j^2 - (sum p_j)^2 <= (3 - kappa)(P^2 + Q^2) - (P - Q)^2,
which is largest, (3 - kappa)/2, at P = Q = 1/2.

The assumption labelled assumption: hypercontractivity prints A where H stands on the outside, which no features
satisfy; :func:`hypercontractivity_slack` evaluates both statements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.simulate.families import Family, family
from fsl_num.validation import Array, affordable, positive, real_number, whole_count, whole_seed

_ROUNDS = 500  # alternations of one search; they stop when nothing more is gained


@dataclass(frozen=True, eq=False)
class HypercontractivityConstants:
    """The best constants of a family with ``features`` coordinates.

    ``lower`` rho_- and ``upper`` rho_+ are attained: by the direction b and the matrix A = H^(-1/2) aa' H^(-1/2), with
    (a, b) in ``lower_vectors`` and ``upper_vectors``. Where ``exact``, they are the constants; otherwise the best of a
    search, rho_- <= ``lower`` and rho_+ >= ``upper``, and ``upper_limit`` >= rho_+ is proven (inf beyond 36 features,
    where it is not computed).
    """

    name: str
    features: int
    lower: float
    upper: float
    lower_vectors: tuple[Array, Array]
    upper_vectors: tuple[Array, Array]
    upper_limit: float
    exact: bool


def hypercontractivity_constants(
    name: str | Family, features: int, *, searches: int = 16, seed: int = 0
) -> HypercontractivityConstants:
    """Return the best constants of the family called ``name`` for ``features`` coordinates, with what attains them.

    Source: assumption labelled assumption: hypercontractivity.

    Derived for independent symmetric coordinates. For others a local search from ``searches`` starting points drawn
    with ``seed``: for fixed a the best b is an eigenvector of G(aa'), and g is symmetric in both. Raises ValueError or
    TypeError where an argument does not fit.

    >>> uniform = hypercontractivity_constants("uniform", 3)
    >>> round(uniform.lower, 12), round(uniform.upper, 12), uniform.exact
    (0.4, 1.6, True)
    """
    kind = family(name)
    size = _listed(features)
    starts = whole_count("searches", searches)
    if kind.kurtosis is not None:
        return _independent(kind, size, kind.kurtosis)
    generator = np.random.default_rng(whole_seed(seed))
    lower = min((_search(kind, size, generator, 1.0) for _ in range(starts)), key=lambda extreme: extreme[0])
    upper = max((_search(kind, size, generator, -1.0) for _ in range(starts)), key=lambda extreme: extreme[0])
    return HypercontractivityConstants(
        kind.name, size, lower[0], upper[0], lower[1:], upper[1:], _limit(kind, size, upper[0]), exact=False
    )


def _listed(features: Any) -> int:
    """How many features, where their matrices fit into memory."""
    size = whole_count("features", features)
    affordable("entries of a matrix of the features", float(size) ** 2, 8, "take fewer features")
    return size


def mode_constants(name: str | Family, features: int) -> tuple[float, float]:
    """Return the best constants for the directions of the features alone, b = e_j: exactly, for every family.

    With the first M features the theory uses e_j'Sigma(v)e_j only, so that these suffice for it. They are extreme
    eigenvalues of G(e_j e_j'), j = 1 .. ``features``: g(a, e_j) is quadratic in a. Where |xi_j| is bounded by C the
    upper one is at most C^2, whatever the number of features. Raises ValueError or TypeError where an argument does
    not fit.

    >>> [mode_constants(name, 4) for name in ("gaussian", "rademacher")]
    [(1.0, 2.0), (0.0, 1.0)]
    """
    kind = family(name)
    size = _listed(features)
    ones, unit = np.ones(size), np.eye(size)
    extremes = []
    for direction in unit:
        outer = np.outer(direction, direction)
        values = np.linalg.eigvalsh(kind.fourth_moment(ones, outer) - outer)
        extremes.append((float(values[0]), float(values[-1])))
    return min(low for low, _ in extremes), max(high for _, high in extremes)


def hypercontractivity_slack(
    name: str | Family, eigenvalues: Any, matrix: Any, *, lower: float, upper: float, printed: bool = False
) -> tuple[float, float]:
    """Return the least eigenvalues of what each side of the two inequalities leaves: both hold where they are >= 0.

    ``matrix`` A positive semidefinite, ``eigenvalues`` of H, ``lower`` and ``upper`` the constants. ``printed``: with
    A on the outside, as the assumption is printed, instead of H. Raises ValueError where an argument does not fit.

    >>> matrix = np.diag([1.0, 0.0])
    >>> hypercontractivity_slack("gaussian", [1.0, 0.5], matrix, lower=1.0, upper=2.0)
    (0.0, 0.0)
    >>> hypercontractivity_slack("gaussian", [1.0, 0.5], matrix, lower=1.0, upper=2.0, printed=True)
    (0.5, -0.5)
    """
    own, form = _eigenvalues(eigenvalues), np.asarray(matrix, dtype=np.float64)
    if form.shape != (own.size, own.size) or not np.isfinite(form).all() or not np.allclose(form, form.T):
        raise ValueError(f"matrix must be symmetric and finite, {own.size} by {own.size}, got the shape {form.shape}")
    if np.linalg.eigvalsh(form)[0] < -1e-9 * np.abs(form).max():
        raise ValueError("matrix must be positive semidefinite")
    middle = family(name).fourth_moment(own, form) - own[:, None] * form * own
    outside = float(own @ np.diag(form)) * (form if printed else np.diag(own))
    least = real_number("lower", lower), real_number("upper", upper)
    return (
        float(np.linalg.eigvalsh(middle - least[0] * outside)[0]),
        float(np.linalg.eigvalsh(least[1] * outside - middle)[0]),
    )


def _eigenvalues(value: Any) -> Array:
    own = np.asarray(value, dtype=np.float64)
    if own.ndim != 1 or own.size == 0:
        raise ValueError(f"eigenvalues must be a list of positive numbers, got the shape {own.shape}")
    for eigenvalue in own:
        positive("eigenvalues", eigenvalue)
    return own


def _independent(kind: Family, size: int, kurtosis: float) -> HypercontractivityConstants:
    first, second = np.eye(size)[0], np.eye(size)[min(1, size - 1)]
    even = np.full(size, 1.0 / math.sqrt(size))
    if size == 1:
        low = high = (first, first)
    elif kurtosis >= 3.0:
        low, high = (first, second), (first, first)
    else:
        low, high = ((first + second) / math.sqrt(2.0), (first - second) / math.sqrt(2.0)), (even, even)
    lower = min(1.0, 0.5 * (kurtosis - 1.0)) if size > 1 else kurtosis - 1.0
    upper = max(kurtosis - 1.0, 2.0 - (3.0 - kurtosis) / size)
    return HypercontractivityConstants(kind.name, size, lower, upper, low, high, upper, exact=True)


def _search(kind: Family, size: int, generator: np.random.Generator, sign: float) -> tuple[float, Array, Array]:
    """Return a local minimum of sign * g by exchanging the vectors, each the best for the other."""
    ones = np.ones(size)
    a = generator.standard_normal(size)
    a /= np.linalg.norm(a)
    best, b = math.inf, a
    for _ in range(_ROUNDS):
        outer = np.outer(a, a)
        values, vectors = np.linalg.eigh(sign * (kind.fourth_moment(ones, outer) - outer))
        gain = best - float(values[0])
        best, a, b = float(values[0]), vectors[:, 0], a
        if gain < 1e-13 * max(1.0, abs(best)):
            break
    return sign * best, b, a


def _limit(kind: Family, size: int, largest: float) -> float:
    """Return an upper bound of rho_+: the largest eigenvalue of X -> E[(xi'X xi) xi xi'] - X on symmetric matrices.

    <bb', G(aa')> is at most that eigenvalue, for aa' and bb' have Frobenius norm 1.
    """
    rows, columns = np.triu_indices(size)
    if rows.size > 700:  # the matrix of that map would take longer than it is worth
        return math.inf
    ones = np.ones(size)
    operator = np.empty((rows.size, rows.size))
    weight = np.where(rows == columns, 1.0, math.sqrt(2.0))  # an orthonormal basis of the symmetric matrices
    for index, (i, j) in enumerate(zip(rows, columns, strict=True)):
        unit = np.zeros((size, size))
        unit[i, j] = unit[j, i] = 1.0 / weight[index]
        image = kind.fourth_moment(ones, unit) - unit
        operator[index] = image[rows, columns] * weight
    return max(largest, float(np.linalg.eigvalsh(operator)[-1]))
