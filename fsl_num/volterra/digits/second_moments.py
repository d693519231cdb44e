r"""A panel of the Gaussian closure to any number of digits, where gamma varies.

With A the Radau matrix and D_j the diagonal matrix of 2 lambda_j - gamma lambda_j^2 at the points of the panel, the
values of mode j there are R_j (x_j + h w_j A Gamma (f + sigma^2)) with R_j = (1 + h A D_j)^-1. The modes meet in f,

    f + sigma^2 = delta + sigma^2 + sum_j R_j x_j + h (sum_j w_j R_j) A Gamma (f + sigma^2).

Modes that are slow on the panel share one power series, R_j = sum_p lambda_j^p C_p with C_0 = 1 and
C_p = h A (Gamma C_(p-2) - 2 C_(p-1)): powers of A fall like 1/p!. The others have an inverse each.
"""

from __future__ import annotations

import math
from typing import Any

from fsl_num.volterra.digits.arithmetic import Arithmetic
from fsl_num.volterra.radau import RadauTable

_STEEPEST = 0.4  # largest quotient of neighbouring terms of the series
_MOST_TERMS = 600


class OwnSystems:
    """The step over one panel for the ``system`` of all modes (rates, squares, weights, delta and noise as mpf)."""

    def __init__(self, kind: Arithmetic, system: dict[str, Any], radau: RadauTable) -> None:
        self._kind = kind
        self._rates, self._squares, self._weights = (
            [kind.number(x) for x in system[name]] for name in ("rates", "squares", "weights")
        )
        mp = system["noise"].context
        self._tiny, self._bits = kind.number(mp.eps), mp.prec
        self._floats = [(float(x), float(y)) for x, y in zip(system["rates"], system["squares"], strict=True)]
        self._radius = max(abs(complex(x)) for x in radau.eigenvalues)  # of A: the powers end like its own
        self._delta, self._noise = kind.number(system["delta"]), kind.number(system["noise"])
        self._stages = len(radau.nodes)
        turned = [[alpha * x for x in row] for alpha, row in zip(radau.eigenvalues, radau.inverse, strict=True)]
        self._matrix = kind.trim(kind.real_part(kind.complex(radau.vectors) * kind.complex(turned)))

    def step(self, h: Any, gamma: list[Any], state: list[Any]) -> tuple[list[Any], Any]:
        """Return the modes and f at the end of a panel of width ``h`` with ``gamma`` at its points."""
        kind, size = self._kind, self._stages
        indices = range(size)
        scaled = [[h * self._matrix[i, k] for k in indices] for i in indices]
        driving = kind.real([[scaled[i][k] * gamma[k] for k in indices] for i in indices])
        history = [self._delta + self._noise for _ in indices]
        summed = kind.real([[h * 0 for _ in indices] for _ in indices])
        slow = self._slow(float(h), max(float(x) for x in gamma))
        last_rows: dict[int, tuple[Any, list[Any]]] = {}
        for i in set(range(len(state))).difference(slow):
            damping = [self._rates[i] - self._squares[i] * g for g in gamma]
            rows = [[(1 if k == n else 0) + scaled[k][n] * damping[n] for n in indices] for k in indices]
            inverse = kind.inverse(kind.real(rows))
            weighted = inverse * self._weights[i]
            summed = summed + weighted
            sums = _row_sums(inverse, size)
            history = [a + b * state[i] for a, b in zip(history, sums, strict=True)]
            last_rows[i] = sums[-1] * state[i], [weighted[size - 1, k] for k in indices]
        # the same for all slow modes together: a power series in lambda, whose coefficients are matrices
        terms: list[tuple[Any, list[Any]]] = []
        shares: list[Any] = []
        if slow:
            unit = max(self._rates[i] for i in slow) / 2
            shares = [self._rates[i] / (2 * unit) for i in slow]
            weights, starts = [self._weights[i] for i in slow], [state[i] for i in slow]
            for matrix in self._series(kind.real(scaled) * (-2 * unit), driving * unit**2):
                summed = summed + matrix * sum(weights)
                sums, total = _row_sums(matrix, size), sum(starts)
                history = [a + b * total for a, b in zip(history, sums, strict=True)]
                terms.append((sums[-1], [matrix[size - 1, k] for k in indices]))
                weights, starts = ([x * y for x, y in zip(row, shares, strict=True)] for row in (weights, starts))
        answer = summed * driving
        matrix = [[(1 if i == k else 0) - answer[i, k] for k in indices] for i in indices]
        values = kind.solve(kind.real(matrix), kind.real([[x] for x in history]))
        injected = kind.trim(driving * values)
        column = [injected[k, 0] for k in indices]
        after = list(state)
        for i, (left, row) in last_rows.items():
            after[i] = left + _dot(row, column)
        series = [(own, _dot(row, column)) for own, row in reversed(terms)]
        for i, share in zip(slow, shares, strict=True):
            total = state[i] * 0
            for own, fed in series:
                total = total * share + own * state[i] + fed * self._weights[i]
            after[i] = total
        middles = kind.trim(kind.real([after]))
        after = [middles[0, i] for i in range(len(state))]
        return after, sum(after, self._delta)

    def _slow(self, h: float, peak: float) -> list[int]:
        """Return the modes for which the series costs less than their inverses, where a term costs as much as one."""
        turns = sorted((self._radius * h * (rate + peak * square), i) for i, (rate, square) in enumerate(self._floats))
        best, chosen = float(len(turns)), 0
        for count, (turn, _) in enumerate(turns, 1):
            if turn > _STEEPEST:
                break
            cost = len(turns) - count + self._bits / -math.log2(max(turn, 1e-300))
            if cost < best:
                best, chosen = cost, count
        return [i for _, i in turns[:chosen]]

    def _series(self, first: Any, second: Any) -> list[Any]:
        """Return C_0 = 1, C_p = first C_(p-1) + second C_(p-2), as many as are above rounding."""
        kind, indices = self._kind, range(self._stages)
        identity = kind.real([[self._delta * 0 + (1 if i == k else 0) for k in indices] for i in indices])
        terms = [identity, first]
        while len(terms) < _MOST_TERMS:
            terms.append(kind.trim(first * terms[-1] + second * terms[-2]))
            if len(terms) % 3 == 0 and all(
                abs(matrix[i, k]) < self._tiny for matrix in terms[-2:] for i in indices for k in indices
            ):
                return terms
        raise ArithmeticError(f"the series of slow modes did not end within {_MOST_TERMS} terms")


def _row_sums(matrix: Any, size: int) -> list[Any]:
    return [sum((matrix[i, k] for k in range(1, size)), matrix[i, 0]) for i in range(size)]


def _dot(row: list[Any], column: list[Any]) -> Any:
    return sum((x * y for x, y in zip(row[1:], column[1:], strict=True)), row[0] * column[0])
