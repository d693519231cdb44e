r"""Panels with proof: a collocation solution, its defect in balls, and what the defect can do at most.

The modes u_k' = -r_k u_k + w_k gamma g, g = delta + sigma^2 + sum_k u_k (+ what the modes leave out) are followed on
panels a + h y, 0 <= y <= 1, each by an exact polynomial. Its integrated defect

    R_k(y) = u_k(y) - u_k(0) + h int_0^y (r_k u_k - w_k gamma g),    |R_k| <= sum of |Legendre coefficients|,

is computed in balls, and :mod:`fsl_num.volterra.enclosure.bounds` says what it can do at most. The other marches keep
the ends of panels alone, and numpy's is one of products of whole arrays: none gives the polynomials that a defect has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fsl_num.volterra.enclosure.bounds import BITS, ErrorBounds
from fsl_num.volterra.enclosure.collocation import Collocation, integration
from fsl_num.volterra.enclosure.modes import BallModes
from fsl_num.volterra.pieces import Piece

_DENSE = 4  # coefficients of gamma up to which products of whole matrices are faster


@dataclass(frozen=True)
class Panel:
    """One panel: its ``width`` h as a ball, gamma(y) = sum_i gamma[i] (2y - 1)^i, its ``end`` as a ball.

    ``time`` is the end as a rational number, where it is one, else None.
    """

    width: Any
    gamma: list[Any]
    end: Any
    time: Any


def cut(flint: Any, piece: Piece, breaks: list[Any], first: float, ratio: float) -> list[Panel]:
    """Return the panels of a piece: the first of width ``first``, ends growing by ``ratio``, cut at ``breaks`` too.

    ``breaks``: rational offsets strictly inside (0, length).
    """
    length = float(flint.arb(piece.length))
    count = math.ceil(math.log(length / first) / math.log(ratio)) if length > first else 0
    offsets = [length * (first / length) ** (i / count) for i in range(count, 0, -1)]
    marks = [float(flint.arb(x)) for x in breaks]
    # an end in the near neighbourhood of a break only costs a panel
    kept = [x for x in offsets if not any(abs(x - mark) < 0.02 * x for mark in marks)]
    inner = sorted({*breaks, *(flint.fmpq(*x.as_integer_ratio()) for x in kept)})
    edges = [flint.fmpq(0), *inner, piece.length]
    polynomial = flint.arb_poly([flint.arb(c) for c in piece.coefficients])
    panels = []
    for low, high in zip(edges[:-1], edges[1:], strict=True):
        half = flint.arb(high - low) / 2
        moved = polynomial(flint.arb_poly([flint.arb(low) + half, half])).coeffs() or [flint.arb(0)]
        time = piece.start + high
        panels.append(Panel(2 * half, list(moved), flint.arb(time), time if isinstance(time, flint.fmpq) else None))
    return panels


def _times_gamma(flint: Any, gamma: list[Any], series: list[Any]) -> list[Any]:
    """Return the Legendre coefficients of gamma times a series, by Horner's rule in x = 2y - 1."""
    total = [gamma[-1] * c for c in series]
    for c in reversed(gamma[:-1]):
        moved = [flint.arb(0)] * (len(total) + 1)
        for n, value in enumerate(total):
            moved[n + 1] += value * (n + 1) / (2 * n + 1)
            if n > 0:
                moved[n - 1] += value * n / (2 * n + 1)
        for n, value in enumerate(series):
            moved[n] += c * value
        total = moved
    return total


def _primitive(flint: Any, series: list[Any]) -> list[Any]:
    """Return the integral from 0 in y of Legendre coefficients."""
    total = [flint.arb(0)] * (len(series) + 1)
    total[0], total[1] = series[0] / 2, series[0] / 2
    for n, value in enumerate(series[1:], start=1):
        part = value / (4 * n + 2)
        total[n - 1] -= part
        total[n + 1] += part
    return total


class March:
    """The state after some panels: midpoints of the modes, bounds of their errors. ``advance`` takes one panel more.

    ``rates``, ``weights``, ``signals`` in :class:`~fsl_num.volterra.enclosure.modes.BallModes`.
    """

    def __init__(self, flint: Any, modes: BallModes, table: Collocation) -> None:
        self._flint, self._modes, self._table = flint, modes, table
        self._constant = modes.delta + modes.noise
        self._state = list(modes.signals)
        self._errors = ErrorBounds(flint, modes)
        self._integration = flint.arb_mat([[flint.arb(x) for x in row] for row in integration(flint, table.stages + 1)])

    def value(self) -> Any:
        """Return f = 2E at the end of the last panel: a ball that holds it."""
        radius = self._errors.radius
        total = sum(self._state, self._modes.delta)
        return (total - radius).union(total + radius)

    def collocate(self, panel: Panel) -> list[list[Any]]:
        """Return exact Legendre coefficients of all modes on the panel, [n][k]: the guess."""
        flint, modes, table = self._flint, self._modes, self._table
        h, start = panel.width.mid(), [u.mid() for u in self._state]
        scaled = [(h * r).mid() for r in modes.rates]
        damp = [[1 / (1 + z * x) for x in scaled] for z in table.alphas]
        matrix = flint.acb_mat(damp).mid()
        sums = matrix * flint.acb_mat([[u, w.mid()] for u, w in zip(start, modes.weights, strict=True)])
        count = len(table.alphas)
        known = table.vectors * _stacked(flint, [[sums[i, 0] * table.start[i]] for i in range(count)])
        factors = [h * table.alphas[i] * sums[i, 1] for i in range(count)]
        rows = zip(factors, table.inverse.tolist(), strict=True)
        answer = table.vectors * _stacked(flint, [[x * factor for x in row] for factor, row in rows])
        gamma = _horner(flint, [c.mid() for c in panel.gamma], table)
        identity = flint.arb_mat([[int(i == j) for j in range(table.stages)] for i in range(table.stages)])
        right = [[known[i, 0].mid() + (self._constant.mid() if i == 0 else 0)] for i in range(table.stages)]
        solved = (identity - answer * gamma).mid().solve(flint.arb_mat(right), algorithm="approx").mid()
        noise = (gamma * solved).tolist()
        driving = table.inverse * flint.acb_mat([[flint.acb(row[0].mid())] for row in noise])
        pushes = [(h * w).mid() for w in modes.weights]
        losses = [(x * u).mid() for x, u in zip(scaled, start, strict=True)]
        slopes = [
            [d * (b * push - a * loss) for d, push, loss in zip(row, pushes, losses, strict=True)]
            for row, b, a in zip(damp, (driving[i, 0].mid() for i in range(count)), table.start, strict=True)
        ]
        values: list[list[Any]] = (table.primitive * _stacked(flint, slopes)).mid().tolist()
        values[0] = [(x + u).mid() for x, u in zip(values[0], start, strict=True)]
        return values

    def advance(self, panel: Panel) -> None:
        """Follow the modes over one more panel and add what its defect can do to the bounds.

        Raises ArithmeticError where gamma is so large that the panel itself does not contract.
        """
        flint = self._flint
        rows = self.collocate(panel)
        sizes, slopes = self.defects(panel, rows)
        total = [sum(row, flint.arb(0)) for row in rows]
        total[0] += self._constant
        begins = _alternating(rows)
        jumps = [abs(new - old) for new, old in zip(begins, self._state, strict=True)]
        self._state = [sum(column[1:], column[0]) for column in zip(*rows, strict=True)]
        with flint.ctx.workprec(BITS):
            self._errors.advance(
                width=panel.width,
                end=panel.end,
                gamma=sum((abs(c) for c in panel.gamma), flint.arb(0)),
                loss=sum((abs(c) for c in total), flint.arb(0)),
                jumps=jumps,
                sizes=sizes,
                slopes=slopes,
            )

    def defects(self, panel: Panel, rows: list[list[Any]]) -> tuple[list[Any], list[Any]]:
        """Return for every mode bounds of |R| and of |R'| on the panel, R as in the head of this file."""
        flint, modes = self._flint, self._modes
        series = [sum(row, flint.arb(0)) for row in rows]
        series[0] += self._constant
        driving = _primitive(flint, _times_gamma(flint, panel.gamma, series))
        lost = (self._integration * flint.arb_mat(rows)).tolist()
        sizes, slopes = [], []
        stages = len(rows)
        for k, (rate, weight) in enumerate(zip(modes.rates, modes.weights, strict=True)):
            turn, push = rate * panel.width, weight * panel.width
            defect = [-push * q for q in driving]
            for n in range(1, stages):
                defect[n] += rows[n][k] + turn * lost[n][k]
            defect[stages] += turn * lost[stages][k]
            with flint.ctx.workprec(BITS):
                # R vanishes at y = 0, which fixes its coefficient 0
                first = abs(sum(defect[2::2], flint.arb(0)) - sum(defect[1::2], flint.arb(0)))
                sizes.append(sum((abs(x) for x in defect[1:]), first))
                slopes.append(_slope(flint, defect) if turn > stages else 2 * len(defect) ** 2 * sizes[-1])
        return sizes, slopes


def _stacked(flint: Any, rows: list[list[Any]]) -> Any:
    """Return the real parts of complex rows above their imaginary parts, midpoints only."""
    return flint.arb_mat([[x.real for x in row] for row in rows] + [[x.imag for x in row] for row in rows]).mid()


def _slope(flint: Any, series: list[Any]) -> Any:
    """Return the sum of the moduli of the Legendre coefficients of the derivative by y."""
    total = flint.arb(0)
    above = [flint.arb(0), flint.arb(0)]
    for n in range(len(series) - 2, -1, -1):
        above = [above[1], above[0] + series[n + 1]]
        total += (4 * n + 2) * abs(above[1])
    return total


def _alternating(rows: list[list[Any]]) -> list[Any]:
    """Return the values at y = 0."""
    return [sum(column[2::2], column[0]) - sum(column[3::2], column[1]) for column in zip(*rows, strict=True)]


def _horner(flint: Any, gamma: list[Any], table: Collocation) -> Any:
    """Return multiplication by gamma modulo P_s - P_(s-1)."""
    size = table.stages
    if len(gamma) > _DENSE:
        return _by_columns(flint, gamma, size)
    identity = flint.arb_mat([[int(i == j) for j in range(size)] for i in range(size)])
    total = identity * gamma[-1]
    for c in reversed(gamma[:-1]):
        total = total * table.times + identity * c
    return total


def _by_columns(flint: Any, gamma: list[Any], size: int) -> Any:
    """Return the same for many coefficients: column n is gamma P_n, and the columns follow from Legendre's recurrence.

    (n + 1) P_(n+1) = (2n + 1) x P_n - n P_(n-1), in which x is applied to the few neighbours of each coefficient.
    """

    def turned(column: list[Any]) -> list[Any]:
        coefficients = [flint.arb(0)] * (size + 1)
        for n, value in enumerate(column):
            coefficients[n + 1] += value * (n + 1) / (2 * n + 1)
            if n > 0:
                coefficients[n - 1] += value * n / (2 * n + 1)
        coefficients[size - 1] += coefficients[size]  # P_s = P_(s-1)
        return [x.mid() for x in coefficients[:size]]

    first = [flint.arb(0)] * size
    for c in reversed(gamma):
        first = turned(first)
        first[0] += c
    columns = [first, turned(first)]
    for n in range(1, size - 1):
        above = turned(columns[n])
        columns.append([((2 * n + 1) * x - n * y) / (n + 1) for x, y in zip(above, columns[n - 1], strict=True)])
    return flint.arb_mat([[columns[j][i].mid() for j in range(size)] for i in range(size)])
