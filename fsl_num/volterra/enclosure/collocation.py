r"""Radau IIA collocation in Legendre coefficients, diagonalised by Arb: a fast guess, to be proven afterwards.

On [0, 1], in P_n(2y - 1), collocation at the Radau nodes is arithmetic modulo P_s - P_(s-1), whose zeros they are:
integration from 0 and multiplication become s x s matrices. Nothing here is rigorous or needs to be. It is not the
table of :mod:`fsl_num.volterra.radau`, which needs no python-flint: Arb's eigenvalues take a half to a seventh of the
time, and a proof needs the coefficients of a polynomial and not values at nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any


@dataclass(frozen=True)
class Collocation:
    """The matrix of integration A = V diag(alpha) V^-1; of every conjugate pair one, its row of V^-1 doubled.

    ``vectors``: V as the real matrix (Re V, -Im V), which Arb multiplies several times faster than a complex one.
    ``primitive``: likewise integration from 0 without the reduction, times V. ``inverse``: V^-1. ``times``:
    multiplication by x = 2y - 1. ``start``: V^-1 applied to the constant 1.
    """

    stages: int
    alphas: list[Any]
    vectors: Any
    inverse: Any
    primitive: Any
    times: Any
    start: list[Any]


def integration(flint: Any, size: int) -> list[list[Any]]:
    """Return the (size + 1) x size matrix that integrates Legendre coefficients from 0 in y, as rational numbers.

    >>> import flint
    >>> [[str(x) for x in row] for row in integration(flint, 2)]
    [['1/2', '-1/6'], ['1/2', '0'], ['0', '1/6']]
    """
    rows = [[flint.fmpq(0)] * size for _ in range(size + 1)]
    rows[0][0] = rows[1][0] = flint.fmpq(1, 2)
    for n in range(1, size):
        rows[n - 1][n], rows[n + 1][n] = flint.fmpq(-1, 4 * n + 2), flint.fmpq(1, 4 * n + 2)
    return rows


def _reduced(rows: list[list[Any]]) -> list[list[Any]]:
    """Return the square matrix that is left modulo P_s = P_(s-1)."""
    last = [a + b for a, b in zip(rows[-2], rows[-1], strict=True)]
    return [*rows[:-2], last]


def _beside(flint: Any, matrix: Any) -> Any:
    """Return (Re, -Im) of a complex matrix, midpoints only."""
    return flint.arb_mat([[x.real for x in row] + [-x.imag for x in row] for row in matrix.tolist()]).mid()


@lru_cache(maxsize=16)
def collocation(stages: int, bits: int) -> Collocation:
    """Return the tables for ``stages`` >= 2 at ``bits`` bits, of which about 3 for each stage are lost."""
    import flint

    with flint.ctx.workprec(bits):
        whole = integration(flint, stages)
        matrix = flint.acb_mat([[flint.acb(flint.arb(x)) for x in row] for row in _reduced(whole)])
        eigenvalues, vectors = matrix.eig(right=True, algorithm="approx")
        # not inv(): above ten bits a row it eliminates in balls, whose radii swallow half of the digits
        unit = flint.acb_mat([[int(i == j) for j in range(stages)] for i in range(stages)])
        inverse = vectors.mid().solve(unit, algorithm="approx")
        close = flint.arb(2) ** (-bits // 4)
        upper = [i for i, z in enumerate(eigenvalues) if z.imag.mid() > close]
        real = [i for i, z in enumerate(eigenvalues) if abs(z.imag.mid()) <= close]
        if 2 * len(upper) + len(real) != stages or len(real) != stages % 2:
            raise ArithmeticError(f"the eigenvalues of {stages} stages were not separated at {bits} bits")
        kept = [*upper, *real]
        multiply = [[flint.fmpq(0)] * stages for _ in range(stages + 1)]
        for n in range(stages):
            multiply[n + 1][n] = flint.fmpq(n + 1, 2 * n + 1)
            if n > 0:
                multiply[n - 1][n] = flint.fmpq(n, 2 * n + 1)
        chosen = flint.acb_mat([[vectors[i, j].mid() for j in kept] for i in range(stages)])
        back = flint.acb_mat([[(2 if j in upper else 1) * inverse[j, i].mid() for i in range(stages)] for j in kept])
        return Collocation(
            stages=stages,
            alphas=[eigenvalues[i].mid() for i in kept],
            vectors=_beside(flint, chosen),
            inverse=back,
            primitive=_beside(flint, flint.acb_mat([[flint.acb(flint.arb(x)) for x in row] for row in whole]) * chosen),
            times=flint.arb_mat([[flint.arb(x) for x in row] for row in _reduced(multiply)]),
            start=[back[i, 0] for i in range(len(kept))],
        )
