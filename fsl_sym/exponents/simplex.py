"""Exact linear programming over the ordered field of exponents.

A right-hand side is a triple (o, p, q) read as o * Omega + p + q * epsilon: Omega is larger than every number and only
bounds the box that keeps each programme bounded, epsilon is smaller than every positive number and carries the power of
log N. Triples are compared lexicographically; the matrix is rational.

The programme is: minimise one coordinate of x (or maximise it) subject to A x >= right. Row i < n is x_i >= -Omega and
row n + i is -x_i >= -Omega, so that a dual feasible basis is known at once and the dual simplex method needs no first
phase. The most violated row enters first, which is short; after some turns Bland's rule makes sure that it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

Triple = tuple[Fraction, Fraction, Fraction]
ZERO: Triple = (Fraction(0), Fraction(0), Fraction(0))
GREEDY_TURNS = 40


@dataclass(frozen=True)
class Optimum:
    """The optimal basis (row numbers); where the programme is infeasible, the basis and the row that refutes it."""

    basis: tuple[int, ...]
    infeasible_row: int | None = None


def solve(
    matrix: Sequence[Sequence[Fraction]], right: Sequence[Triple], coordinate: int, maximise: bool = False
) -> Optimum:
    """The optimal basis of: minimise (or maximise) x[coordinate] subject to matrix x >= right, rows as said above.

    >>> one = Fraction(1)
    >>> box = (-one, 0 * one, 0 * one)
    >>> solve([[one], [-one], [one]], [box, box, (0 * one, 3 * one, one)], 0).basis
    (2,)
    """
    size = len(matrix[0])
    basis = list(range(size))
    table = [list(row) for row in matrix]
    dual = [Fraction(0)] * size
    dual[coordinate] = Fraction(1)
    if maximise:
        basis[coordinate] = size + coordinate
        for row in table:
            row[coordinate] = -row[coordinate]
    # Every row of the first basis has the right-hand side (-1, 0, 0).
    slack: list[Triple] = [
        (-sum(row) - bound[0], -bound[1], -bound[2]) for row, bound in zip(table, right, strict=True)
    ]
    for turn in count():
        violated = [index for index, value in enumerate(slack) if value < ZERO]
        if not violated:
            break
        entering = min(violated, key=slack.__getitem__) if turn < GREEDY_TURNS else violated[0]
        row = table[entering]
        candidates = [(dual[k] / row[k], basis[k], k) for k in range(size) if row[k] > 0]
        if not candidates:
            return Optimum(tuple(basis), entering)
        _, _, leaving = min(candidates)
        _pivot(table, slack, dual, entering, leaving)
        basis[leaving] = entering
    return Optimum(tuple(basis))


def _pivot(table: list[list[Fraction]], slack: list[Triple], dual: list[Fraction], entering: int, leaving: int) -> None:
    pivot_row = list(table[entering])
    pivot = pivot_row[leaving]
    step = dual[leaving] / pivot
    for k, entry in enumerate(pivot_row):
        dual[k] = step if k == leaving else dual[k] - step * entry
    pivot_slack = slack[entering]
    nonzero = [(k, entry) for k, entry in enumerate(pivot_row) if entry and k != leaving]
    for index, row in enumerate(table):
        if not row[leaving]:
            continue
        factor = row[leaving] / pivot
        row[leaving] = factor
        for k, entry in nonzero:
            row[k] -= factor * entry
        mine = slack[index]
        slack[index] = (
            mine[0] - factor * pivot_slack[0],
            mine[1] - factor * pivot_slack[1],
            mine[2] - factor * pivot_slack[2],
        )
