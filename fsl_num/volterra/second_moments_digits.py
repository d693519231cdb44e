r"""A panel of the Gaussian closure to any number of digits, where gamma varies.

With A the Radau matrix and D_j the diagonal matrix of 2 lambda_j - gamma lambda_j^2 at the points of the panel, the
values of mode j there are R_j (x_j + h w_j A Gamma (f + sigma^2)) with R_j = (1 + h A D_j)^-1. The modes meet in f,

    f + sigma^2 = delta + sigma^2 + sum_j R_j x_j + h (sum_j w_j R_j) A Gamma (f + sigma^2).
"""

from __future__ import annotations

from typing import Any

from fsl_num.volterra.arithmetic import Arithmetic
from fsl_num.volterra.radau import RadauTable


class OwnSystems:
    """The step over one panel for the ``system`` of all modes (rates, squares, weights, delta and noise as mpf)."""

    def __init__(self, kind: Arithmetic, system: dict[str, Any], radau: RadauTable) -> None:
        self._kind = kind
        self._rates, self._squares, self._weights = (
            [kind.number(x) for x in system[name]] for name in ("rates", "squares", "weights")
        )
        self._delta, self._noise = kind.number(system["delta"]), kind.number(system["noise"])
        self._stages = len(radau.nodes)
        turned = [[alpha * x for x in row] for alpha, row in zip(radau.eigenvalues, radau.inverse, strict=True)]
        self._matrix = kind.trim(kind.real_part(kind.complex(radau.vectors) * kind.complex(turned)))

    def step(self, h: Any, gamma: list[Any], state: list[Any]) -> tuple[list[Any], Any]:
        """Return the modes and f at the end of a panel of width ``h`` with ``gamma`` at its points."""
        kind, size = self._kind, self._stages
        each = range(size)
        scaled = [[h * self._matrix[i, k] for k in each] for i in each]
        history = [self._delta + self._noise for _ in each]
        summed, last_rows = None, []
        for rate, fed, weight, x in zip(self._rates, self._squares, self._weights, state, strict=True):
            damping = [rate - fed * g for g in gamma]
            rows = [[(1 if i == k else 0) + scaled[i][k] * damping[k] for k in each] for i in each]
            inverse = kind.inverse(kind.real(rows))
            weighted = inverse * weight
            summed = weighted if summed is None else summed + weighted
            sums = [sum((inverse[i, k] for k in range(1, size)), inverse[i, 0]) for i in each]
            history = [a + b * x for a, b in zip(history, sums, strict=True)]
            last_rows.append((sums[-1] * x, [weighted[size - 1, k] for k in each]))
        driving = kind.real([[scaled[i][k] * gamma[k] for k in each] for i in each])
        answer = summed * driving
        matrix = [[(1 if i == k else 0) - answer[i, k] for k in each] for i in each]
        found = kind.solve(kind.real(matrix), kind.real([[x] for x in history]))
        injected = kind.trim(driving * found)
        after = [
            left + sum((row[k] * injected[k, 0] for k in range(1, size)), row[0] * injected[0, 0])
            for left, row in last_rows
        ]
        after = [kind.trim(kind.real([[x]]))[0, 0] for x in after]
        return after, sum(after, self._delta)
