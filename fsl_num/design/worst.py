"""Schedules that make the loss as large, or as small, as it can be against the functional scaling law.

Every cell of the mesh has a learning rate of its own between 0 and gamma_max: the hypothesis of the theorems and no
other. The search climbs log(loss/law) along its exact gradient (L-BFGS-B with bounds) from several starts, then tries
bang-bang schedules: cells whose gradient is positive at gamma_max, the others at 0, as long as that gains. Bursts of
every length at either end are tried as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

import numpy as np

from fsl_num.design.shapes import SHAPES, shape
from fsl_num.validation import Array, positive
from fsl_num.volterra.mesh import MeshEquation

STEPS = 30
POLISHES = 8


@dataclass(frozen=True, eq=False)
class WorstSchedule:
    """A schedule found: gamma on every cell, log(loss/law) there, and the start from which it was found."""

    gammas: Array
    excess: float
    start: str

    def words(self, equation: MeshEquation) -> str:
        """The schedule in words: stretches of one level each, from ... to (remaining time), longest differences first.

        >>> from fsl_num.volterra.mesh import mesh_equation
        >>> equation = mesh_equation(0.5, 2.0, 100.0, 1e3)
        >>> WorstSchedule(np.full(equation.mesh.lengths.size, 0.1), 0.0, "constant").words(equation)
        'high from 0 to 1e+03'
        """
        peak = float(self.gammas.max())
        if peak == 0.0:
            return "zero throughout"
        levels = np.select([self.gammas > 0.9 * peak, self.gammas < 0.1 * peak], [2, 0], 1)
        cuts = np.flatnonzero(np.diff(levels)) + 1
        starts, ends = np.concatenate([[0], cuts]), np.concatenate([cuts, [levels.size]])
        names = {2: "high", 1: "between", 0: "low"}

        def place(node: int) -> str:
            start, remaining = equation.mesh.t[node], equation.mesh.remaining[node]
            return f"T - {remaining:.2g}" if remaining < start and node < levels.size else f"{start:.2g}"

        pieces = [f"{names[int(levels[a])]} from {place(a)} to {place(b)}" for a, b in zip(starts, ends, strict=True)]
        return ", ".join(pieces)


def worst_schedule(
    equation: MeshEquation,
    bound: float,
    noise: float,
    *,
    largest: bool = True,
    infinite: bool = False,
    searches: int = 3,
    steps: int = STEPS,
) -> WorstSchedule:
    """The schedule with 0 <= gamma <= ``bound`` that makes loss/law largest (or smallest) at the horizon.

    ``noise``: sigma^2 >= 0. ``infinite``: against the law with K_infinity and e_infinity. ``searches``: how many of
    the shapes to start from, the worst ones first; ``steps``: of each search by gradients before rates are put to the
    bound or to 0 as the gradient says, possibly 0. Raises ValueError for a bound that is not positive and
    finite. What is found is a lower bound on the true supremum: a search proves no more.

    >>> from fsl_num.volterra.mesh import mesh_equation
    >>> equation = mesh_equation(0.5, 2.0, 100.0, 1e3)
    >>> found = worst_schedule(equation, 0.1, 1.0)
    >>> found.excess >= equation.excess(np.full(equation.mesh.lengths.size, 0.1), 1.0)[0]
    True
    """
    from scipy.optimize import minimize

    positive("bound", bound)
    sign = 1.0 if largest else -1.0

    def cost(share: Array) -> tuple[float, Array]:
        value, slope = equation.excess(bound * share, noise, infinite=infinite)
        return -sign * value, -sign * bound * slope

    def costed(name: str, share: Array) -> tuple[float, str, Array]:
        return cost(share)[0], name, share

    shapes = sorted((costed(name, shape(name, equation)) for name in SHAPES), key=itemgetter(0, 1))
    # Searches from the shapes end in a burst of some length at one size of the model, and in a worse one at the next.
    cells = np.arange(equation.mesh.lengths.size)
    first = (costed("burst then zero", (cells < length).astype(float)) for length in cells[1:])
    last = (costed("burst at the end", (cells >= length).astype(float)) for length in cells[1:])
    value, name, share = min(chain(shapes, first, last), key=itemgetter(0))
    best = WorstSchedule(bound * share, -sign * value, name)
    for _, name, share in shapes[:searches]:
        # Off the bounds a little: at a bound the gradient shows one side only.
        start = np.clip(share, 0.02, 0.98)
        share = start
        if steps > 0:
            share = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * start.size,
                             options={"maxiter": steps, "maxcor": 10}).x.clip(0.0, 1.0)  # fmt: skip
        value, slope = cost(share)
        for _ in range(POLISHES):
            trial = (slope < 0.0).astype(float)
            gained, after = cost(trial)
            if gained >= value - 1e-12:
                break
            share, value, slope = trial, gained, after
        if value < -sign * best.excess:
            best = WorstSchedule(bound * share, -sign * value, name)
    return best
