"""Exact linear programmes over pairs (power, log power), sharing nothing with the engine under test.

The primal simplex method in two phases on an integer tableau (Edmonds' fraction-free pivots, one common denominator),
with Bland's rule. Right-hand sides are pairs p + q e compared lexicographically: e is positive and below every positive
rational, so an optimum first minimises powers and then, on that optimal face, powers of the logarithm.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key
from math import lcm

AT_LEAST, EQUAL = ">=", "=="


class Face:
    """The optimal set of: minimise objective . x subject to rows, x free; ``value`` is the least pair."""

    def __init__(self, rows, objective):
        self.size = len(objective)
        self._build(rows)
        self.feasible = self._first_phase()
        if not self.feasible:
            return
        self.open = [True] * self.columns
        lifted, scale = self._lifted(objective)
        reduced = self._minimise(lifted)
        self.bounded = reduced is not None
        if self.bounded:
            self.value = self._value(lifted, scale)
            # On the optimal face a column with a positive reduced cost stays at zero.
            self.open = [cost == 0 for cost in reduced]

    def extremes(self, coefficients):
        """The least and the greatest pair of coefficients . x on the face, None where unbounded."""
        ends = []
        for sign in (1, -1):
            lifted, scale = self._lifted([sign * coefficient for coefficient in coefficients])
            reached = self._minimise(lifted)
            ends.append(None if reached is None else tuple(sign * part for part in self._value(lifted, scale)))
        return tuple(ends)

    def _build(self, rows):
        # x_k = y_k - w with y, w >= 0; then one surplus per inequality; then one artificial per row.
        surpluses = sum(sense == AT_LEAST for _, sense, _ in rows)
        self.columns = self.size + 1 + surpluses
        self.width = self.columns + len(rows)
        self.table, place = [], self.size + 1
        for number, (coefficients, sense, right) in enumerate(rows):
            scale = lcm(*(Fraction(number).denominator for number in (*coefficients, *right)))
            whole = [int(Fraction(number) * scale) for number in coefficients]
            ends = [int(Fraction(number) * scale) for number in right]
            line = [*whole, -sum(whole), *([0] * surpluses)]
            if sense == AT_LEAST:
                line[place] = -1
                place += 1
            if tuple(ends) < (0, 0):
                line, ends = [-number for number in line], [-number for number in ends]
            artificial = [int(k == number) for k in range(len(rows))]
            self.table.append(line + artificial + ends)
        self.basis = list(range(self.columns, self.width))
        self.denominator = 1

    def _first_phase(self):
        cost = [0] * self.columns + [1] * len(self.table)
        self.open = [True] * self.columns + [False] * len(self.table)
        self._minimise(cost)
        if self._value(cost) != (0, 0):
            return False
        for number in range(len(self.table) - 1, -1, -1):
            if self.basis[number] >= self.columns:
                entering = next((k for k in range(self.columns) if self.table[number][k]), None)
                if entering is None:
                    del self.table[number], self.basis[number]
                    continue
                if self.table[number][entering] < 0:
                    self.table[number] = [-entry for entry in self.table[number]]
                self._pivot(number, entering)
        self.table = [line[: self.columns] + line[self.width :] for line in self.table]
        self.width = self.columns
        return True

    def _lifted(self, coefficients):
        """The costs of all columns times their common denominator, and this."""
        scale = lcm(*(Fraction(number).denominator for number in coefficients))
        whole = [int(Fraction(number) * scale) for number in coefficients]
        return [*whole, -sum(whole), *([0] * (self.columns - self.size - 1))], scale

    def _value(self, cost, scale=1):
        totals = [
            sum(cost[column] * line[self.width + part] for column, line in zip(self.basis, self.table, strict=True))
            for part in (0, 1)
        ]
        return tuple(Fraction(total, self.denominator * scale) for total in totals)

    def _reduced(self, cost):
        paid = [(cost[column], line) for column, line in zip(self.basis, self.table, strict=True) if cost[column]]
        return [
            cost[k] * self.denominator - sum(price * line[k] for price, line in paid) if self.open[k] else 1
            for k in range(self.columns)
        ]

    def _minimise(self, cost):
        """Pivot to the optimum over the open columns; its reduced costs (times the denominator), None if unbounded."""
        while True:
            reduced = self._reduced(cost)
            entering = next((k for k, cost_left in enumerate(reduced) if cost_left < 0), None)
            if entering is None:
                return reduced
            ratios = [
                ((line[self.width], line[self.width + 1]), line[entering], self.basis[number], number)
                for number, line in enumerate(self.table)
                if line[entering] > 0
            ]
            if not ratios:
                return None
            self._pivot(min(ratios, key=cmp_to_key(_smaller_ratio))[3], entering)

    def _pivot(self, number, entering):
        pivot_line, denominator = self.table[number], self.denominator
        pivot = pivot_line[entering]
        for row, line in enumerate(self.table):
            if row != number:
                factor = line[entering]
                if factor:
                    line[:] = [
                        (pivot * mine - factor * theirs) // denominator
                        for mine, theirs in zip(line, pivot_line, strict=True)
                    ]
                elif pivot != denominator:
                    line[:] = [pivot * mine // denominator for mine in line]
        self.basis[number] = entering
        self.denominator = pivot


def _smaller_ratio(left, right):
    (first, second), (other_first, other_second) = left[0], right[0]
    mine = (first * right[1], second * right[1], left[2])
    theirs = (other_first * left[1], other_second * left[1], right[2])
    return (mine > theirs) - (mine < theirs)


def optimum(branches, objective, quantities):
    """The least pair over a union of programmes, and the ranges of linear quantities over the union of optimal sets.

    ``branches`` is a list of row lists. Returns ``(value, [(lower, upper), ...])``; value is None where every branch is
    infeasible and "unbounded" where one is unbounded below.
    """
    faces = [face for face in (Face(rows, objective) for rows in branches) if face.feasible]
    if not faces:
        return None, []
    if not all(face.bounded for face in faces):
        return "unbounded", []
    value = min(face.value for face in faces)
    best = [face for face in faces if face.value == value]
    ranges = []
    for coefficients in quantities:
        ends = [face.extremes(coefficients) for face in best]
        lowers, uppers = zip(*ends, strict=True)
        ranges.append((None if None in lowers else min(lowers), None if None in uppers else max(uppers)))
    return value, ranges
