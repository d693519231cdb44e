r"""Radau IIA collocation with any number of stages to any number of digits, diagonalised.

With s stages the method integrates with order 2s - 1 at the end of a panel and damps fast modes. Its matrix A is
A = V diag(alpha) V^-1. For N = P_s(2x - 1) - P_{s-1}(2x - 1), whose zeros are the nodes, an eigenvector is the values
at the nodes of p = sum_n alpha^(n-1) N^(n), and alpha solves sum_n alpha^n N^(n)(0) = 0: N has whole coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

from fsl_num.exponential_sums_digits import private_context


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


def _float_matrix(stages: int) -> tuple[Any, Any]:
    """Return nodes and collocation matrix in float64, where the iterations start."""
    from scipy.special import roots_jacobi

    x = np.append(roots_jacobi(stages - 1, 1.0, 0.0)[0], 1.0) if stages > 1 else np.ones(1)
    legendre = np.polynomial.legendre
    integrals = np.stack([legendre.legval(x, 0.5 * legendre.legint(row, lbnd=-1)) for row in np.eye(stages)], axis=1)
    return 0.5 * (x + 1.0), np.linalg.solve(legendre.legvander(x, stages - 1).T, integrals.T).T


def _newton(mp: Any, coefficients: list[Any], start: Any) -> Any:
    """Return the zero of the polynomial (highest power first) near ``start``."""
    x, moved = start, mp.inf
    for _ in range(60):
        value, slope = mp.polyval(coefficients, x, derivative=1)
        step = value / slope
        if abs(step) <= abs(x) * mp.eps * 2**10 or (abs(step) >= moved and moved < mp.mpf(10) ** (-mp.dps // 2)):
            return x - step
        moved = abs(step)
        x -= step
    raise ArithmeticError(f"Newton's iteration did not converge at {mp.dps} digits")


def _eigenvalues(mp: Any, secular: list[Any], matrix: Any) -> tuple[list[Any], list[Any]]:
    """Return the eigenvalues with positive imaginary part, and the real one of an odd number of stages."""
    stages = len(matrix)
    guesses = [mp.mpc(complex(z)) for z in np.linalg.eigvals(matrix)]
    trace = -secular[1] / secular[0]
    close = mp.mpf(10) ** (-mp.dps // 3)

    def parts(found: list[Any]) -> tuple[list[Any], list[Any]] | None:
        upper, real = [z for z in found if z.imag > close], [mp.mpc(z.real) for z in found if abs(z.imag) <= close]
        apart = all(abs(a - b) > close for i, a in enumerate(upper) for b in upper[:i])
        whole = 2 * len(upper) + len(real) == stages and len(real) == stages % 2
        total = 2 * mp.fsum(z.real for z in upper) + mp.fsum(z.real for z in real)
        return (upper, real) if apart and whole and abs(total - trace) < close else None

    # The float eigenvalues start Newton's iteration well up to about 30 stages; beyond, all zeros at once are safer.
    for find in (
        lambda: [_newton(mp, secular, z) for z in guesses if z.imag >= 0],
        lambda: mp.polyroots(
            [c / secular[0] for c in secular], maxsteps=200, extraprec=4 * mp.prec, roots_init=guesses
        ),
    ):
        try:
            found = parts([mp.mpc(z) for z in find()])
        except (ArithmeticError, mp.NoConvergence):
            continue
        if found is not None:
            return found
    raise ArithmeticError(f"the eigenvalues of {stages} Radau stages were not separated at {mp.dps} digits")


@lru_cache(maxsize=16)
def radau_table(stages: int, digits: int) -> RadauTable:
    """Return the table of ``stages`` >= 1 stages to ``digits`` digits, less about 0.9 digits for each stage.

    Raises ArithmeticError where its eigenvalues cannot be separated (far above 60 stages).

    >>> [float(x) for x in radau_table(2, 30).nodes]
    [0.3333333333333333, 1.0]
    """
    mp = private_context(digits)
    rough, matrix = _float_matrix(stages)
    sign = [(-1) ** (stages + k) for k in range(stages + 1)]
    low = [sign[k] * comb(stages, k) * comb(stages + k, k) for k in range(stages + 1)]
    for k in range(stages):
        low[k] += sign[k] * comb(stages - 1, k) * comb(stages - 1 + k, k)
    node_polynomial = [mp.mpf(c) for c in reversed(low)]
    nodes = [_newton(mp, node_polynomial, mp.mpf(float(x))) for x in rough[:-1]] + [mp.mpf(1)]
    secular = [mp.mpf(c) * mp.factorial(n) for n, c in enumerate(low)][::-1]
    upper, real = _eigenvalues(mp, secular, matrix)
    found = [*upper, *real, *(mp.conj(z) for z in upper)]
    derivatives, rows = low, []
    for _ in range(stages):
        derivatives = [k * c for k, c in enumerate(derivatives)][1:]
        rows.append([mp.polyval([mp.mpf(c) for c in reversed(derivatives)], x) for x in nodes])
    vectors = mp.matrix(stages, stages)
    for i, alpha in enumerate(found):
        powers = [alpha**n for n in range(stages)]
        column = [mp.fdot(powers, [row[j] for row in rows]) for j in range(stages)]
        size = max(abs(x) for x in column)
        for j in range(stages):
            vectors[j, i] = column[j] / size
    inverse = vectors**-1
    kept = range(len(upper) + len(real))
    return RadauTable(
        nodes=nodes,
        eigenvalues=[found[i] for i in kept],
        vectors=[[vectors[j, i] for i in kept] for j in range(stages)],
        inverse=[[(2 if i < len(upper) else 1) * inverse[i, j] for j in range(stages)] for i in kept],
    )
