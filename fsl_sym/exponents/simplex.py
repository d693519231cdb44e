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
from math import lcm

Triple = tuple[Fraction, Fraction, Fraction]
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

    >>> unit = Fraction(1)
    >>> box = (-unit, 0 * unit, 0 * unit)
    >>> solve([[unit], [-unit], [unit]], [box, box, (0 * unit, 3 * unit, unit)], 0).basis
    (2,)
    """
    size = len(matrix[0])
    basis = list(range(size))
    # Whole numbers throughout: rows and slacks over one denominator, which every pivot replaces (Bareiss 1968).
    scale = lcm(*(number.denominator for numbers in (*matrix, *right) for number in numbers))
    table = [[_whole(entry, scale) for entry in row] for row in matrix]
    denominator = 1
    dual = [0] * size
    dual[coordinate] = 1
    if maximise:
        basis[coordinate] = size + coordinate
        for row in table:
            row[coordinate] = -row[coordinate]
    # A row ends with its slack; every row of the first basis has the right-hand side (-1, 0, 0).
    for row, bound in zip(table, right, strict=True):
        row += [-sum(row) - _whole(bound[0], scale), -_whole(bound[1], scale), -_whole(bound[2], scale)]
    dual += [0, 0, 0]
    for turn in count():
        violated = [index for index, row in enumerate(table) if row[size:] < [0, 0, 0]]
        if not violated:
            break
        entering = min(violated, key=lambda index: table[index][size:]) if turn < GREEDY_TURNS else violated[0]
        row = table[entering]
        candidates = [(Fraction(dual[k], row[k]), basis[k], k) for k in range(size) if row[k] > 0]
        if not candidates:
            return Optimum(tuple(basis), entering)
        _, _, leaving = min(candidates)
        denominator = _pivot((*table, dual), row, leaving, denominator)
        basis[leaving] = entering
    return Optimum(tuple(basis))


def _whole(number: Fraction, scale: int) -> int:
    return number.numerator * (scale // number.denominator)


def _pivot(rows: Sequence[list[int]], entering: list[int], leaving: int, denominator: int) -> int:
    """Exchange a row and a column; returns the new denominator, by which every division here is exact."""
    pivot_row = list(entering)
    pivot = pivot_row[leaving]
    for row in rows:
        factor = row[leaving]
        if factor:
            row[:] = [(pivot * x - factor * y) // denominator for x, y in zip(row, pivot_row, strict=True)]
            row[leaving] = factor
        elif pivot != denominator:
            row[:] = [pivot * x // denominator for x in row]
    return pivot
