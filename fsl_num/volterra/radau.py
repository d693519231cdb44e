r"""Radau IIA collocation with any number of stages to any number of digits, diagonalised.

With s stages the method integrates with order 2s - 1 at the end of a panel and damps fast modes. Its matrix A is
A = V diag(alpha) V^-1. In the basis of the orthonormal Legendre polynomials p_k it is tridiagonal (the W-transformation
of Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.5): the integral of p_k is
xi_{k+1} p_{k+1} - xi_k p_{k-1} with xi_k = 1/(2 sqrt(4 k^2 - 1)), and p_s is a multiple of p_{s-1} at the nodes. So an
eigenvector follows from its eigenvalue by a recurrence; the left one differs from it in signs only; and W, the values
of the p_k at the nodes, has the inverse W^T B with the weights of the quadrature. Nothing is inverted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fsl_num.exponential_sums_digits import private_context

_SURE = 22  # stages up to which eigenvalues found in floats have digits enough to start from
_FEWER = 16


@dataclass(frozen=True)
class RadauTable:
    """The nodes in (0, 1], and of each conjugate pair of eigenvalues alpha one, with its eigenvector.

    For any function g with g(conj z) = conj g(z): g(A)[j][l] = Re sum_i vectors[j][i] g(alpha_i) inverse[i][l]; the
    rows of ``inverse`` that stand for a pair are doubled.
    """

    nodes: list[Any]
    eigenvalues: list[Any]
    vectors: list[list[Any]]
    inverse: list[list[Any]]


def _newton(mp: Any, function: Any, start: Any) -> Any:
    """Return the zero of ``function``, which returns its value and derivative, near ``start``."""
    x, moved = start, mp.inf
    for _ in range(60):
        value, slope = function(x)
        step = value / slope
        if abs(step) <= abs(x) * mp.eps * 2**10 or (abs(step) >= moved and moved < mp.mpf(10) ** (-mp.dps // 2)):
            return x - step
        moved = abs(step)
        x -= step
    raise ArithmeticError(f"Newton's iteration did not converge at {mp.dps} digits")


def _legendre(x: Any, count: int) -> list[Any]:
    """Return P_0 ... P_count at 2 x - 1."""
    y = 2 * x - 1
    values = [y**0, y]
    for k in range(1, count):
        values.append(((2 * k + 1) * y * values[k] - k * values[k - 1]) / (k + 1))
    return values


def _nodes(mp: Any, stages: int) -> list[Any]:
    """Return the zeros of P_s - P_{s-1} at 2 x - 1; the last one is 1."""
    from scipy.special import roots_jacobi

    def gap(x: Any) -> tuple[Any, Any]:
        values, y = _legendre(x, stages), 2 * x - 1
        # (1 - y^2) P_k' = k (P_{k-1} - y P_k), and dy/dx = 2
        slopes = [k * (values[k - 1] - y * values[k]) for k in (stages, stages - 1)]
        return values[stages] - values[stages - 1], 2 * (slopes[0] - slopes[1]) / (1 - y**2)

    rough = 0.5 * (roots_jacobi(stages - 1, 1.0, 0.0)[0] + 1.0) if stages > 1 else np.zeros(0)
    return [_newton(mp, gap, mp.mpf(float(x))) for x in rough] + [mp.mpf(1)]


def _eigenvector(mp: Any, xi: list[Any], corner: Any, alpha: Any) -> tuple[list[Any], Any, Any]:
    """Return the vector that fulfils all rows of the tridiagonal matrix but the last, what that row leaves, and the
    derivative of this by ``alpha``. ``xi``: xi_1 ... xi_{s-1}."""
    vector, slopes = [mp.mpc(1)], [mp.mpc(0)]
    for k in range(len(xi)):
        above, above_slope = (vector[k - 1] * xi[k - 1], slopes[k - 1] * xi[k - 1]) if k else (vector[0] / 2, mp.mpc(0))
        vector.append((above - alpha * vector[k]) / xi[k])
        slopes.append((above_slope - alpha * slopes[k] - vector[k]) / xi[k])
    last = vector[-2] * xi[-1] if xi else vector[0] / 2
    last_slope = slopes[-2] * xi[-1] if xi else mp.mpc(0)
    return (
        vector,
        last + (corner - alpha) * vector[-1],
        last_slope + (corner - alpha) * slopes[-1] - vector[-1],
    )


def _float_eigenvalues(stages: int) -> npt.NDArray[np.complex128]:
    """Return the eigenvalues in floats, by increasing imaginary part of 1/alpha; for many stages to two digits only."""
    if stages <= _SURE:
        xi = [1.0 / (2.0 * np.sqrt(4.0 * k * k - 1.0)) for k in range(1, stages)]
        matrix = np.diag(xi, -1) - np.diag(xi, 1)
        matrix[0, 0] += 0.5
        matrix[-1, -1] += 1.0 / (4 * stages - 2)
        inverse = 1.0 / np.linalg.eigvals(matrix)
        return np.asarray(1.0 / inverse[np.argsort(inverse.imag)], dtype=np.complex128)
    from scipy.interpolate import CubicSpline

    # In floats the eigenvalues are ill conditioned. But those of s stages, as 1/(s alpha), lie on a curve that hardly
    # depends on s, and on it as evenly as the half whole numbers: a smooth function of (i + 1/2)/s and of 1/s.
    place = (np.arange(stages) + 0.5) / stages
    curves = [CubicSpline((np.arange(n) + 0.5) / n, 1.0 / (n * _float_eigenvalues(n)))(place) for n in (_FEWER, _SURE)]
    slope = (curves[0] - curves[1]) / (1.0 / _FEWER - 1.0 / _SURE)
    return np.asarray(1.0 / (stages * (curves[1] + slope * (1.0 / stages - 1.0 / _SURE))), dtype=np.complex128)


def _all_at_once(mp: Any, xi: list[Any], corner: Any, guesses: list[Any]) -> list[Any]:
    """Return better guesses of all eigenvalues by Aberth's iteration, in which they repel each other."""
    zeros = [mp.mpc(z) for z in guesses]
    for _ in range(60):
        moved = mp.mpf(0)
        for i, z in enumerate(zeros):
            value, slope = _eigenvector(mp, xi, corner, z)[1:]
            newton = value / slope
            step = newton / (1 - newton * mp.fsum(1 / (z - x) for k, x in enumerate(zeros) if k != i))
            zeros[i] = z - step
            moved = max(moved, abs(step / z))
        if moved < mp.mpf(10) ** -12:
            break
    return zeros


def _eigenvalues(mp: Any, xi: list[Any], corner: Any) -> tuple[list[Any], list[Any]]:
    """Return the eigenvalues with positive imaginary part, and the real one of an odd number of stages."""
    stages = len(xi) + 1
    guesses = [mp.mpc(complex(z)) for z in _float_eigenvalues(stages)]
    if stages > _SURE:
        guesses = _all_at_once(private_context(15 + stages), xi, corner, guesses)
    guesses = [mp.mpc(z.real) if abs(z.imag) < 1e-6 * abs(z) else z for z in guesses]
    eigenvalues = [
        _newton(mp, lambda z: _eigenvector(mp, xi, corner, z)[1:], mp.mpc(z)) for z in guesses if z.imag >= 0
    ]
    close = mp.mpf(10) ** (-mp.dps // 3)
    upper, real = (
        [z for z in eigenvalues if z.imag > close],
        [mp.mpc(z.real) for z in eigenvalues if abs(z.imag) <= close],
    )
    apart = all(abs(a - b) > close for i, a in enumerate(upper) for b in upper[:i])
    total = 2 * mp.fsum(z.real for z in upper) + mp.fsum(z.real for z in real)
    # their sum is the trace
    if not apart or 2 * len(upper) + len(real) != stages or abs(total - corner - mp.mpf(0.5)) > close:
        raise ArithmeticError(f"the eigenvalues of {stages} Radau stages were not separated at {mp.dps} digits")
    return upper, real


@lru_cache(maxsize=32)
def radau_table(stages: int, digits: int) -> RadauTable:
    """Return the table of ``stages`` >= 1 stages to ``digits`` digits.

    Products of it lose half a digit for each stage, for that many digits the numbers in ``inverse`` are large.

    Raises ArithmeticError where its eigenvalues cannot be separated (far above 60 stages).

    >>> [float(x) for x in radau_table(2, 30).nodes]
    [0.3333333333333333, 1.0]
    """
    mp = private_context(digits + stages)  # the eigenvalues are ill conditioned
    nodes = _nodes(mp, stages)
    xi = [1 / (2 * mp.sqrt(mp.mpf(4 * k * k - 1))) for k in range(1, stages)]
    corner = mp.mpf(1) / (4 * stages - 2)
    upper, real = _eigenvalues(mp, xi, corner)
    scales = [mp.sqrt(mp.mpf(2 * k + 1)) for k in range(stages)]
    basis = [[a * b for a, b in zip(scales, _legendre(x, stages), strict=False)] for x in nodes]
    weights = [1 / mp.fsum(x**2 for x in row) for row in basis]
    vectors: list[list[Any]] = []
    inverse: list[list[Any]] = []
    for alpha in (*upper, *real):
        right = _eigenvector(mp, xi, corner, alpha)[0]
        left = [-x if k % 2 else x for k, x in enumerate(right)]
        values, values_left = ([mp.fdot(row, side) for row in basis] for side in (right, left))
        # a pair of eigenvalues has one row, doubled
        factor = (2 if len(vectors) < len(upper) else 1) / mp.fdot(left, right)
        vectors.append(values)
        inverse.append([factor * weight * x for weight, x in zip(weights, values_left, strict=True)])
    return RadauTable(nodes, [*upper, *real], [list(row) for row in zip(*vectors, strict=True)], inverse)
