r"""Collocation on single steps: Radau IIA with 1 to 8 points, and how many points a step needs.

On a step of length eta the noise is integrated with the rule's weights b, and the input at its points c solves

    u_i = (what came before the step) + gamma eta sum_j a_ij K((c_i - c_j) eta) u_j,

the collocation of the Volterra equation by Radau points, of order 2p - 1 at the ends of the steps. ``coupling`` holds
a_ij/b_j, so that within a step the matrix is that of all other pairs of points times the coupling. The adjoint equation
runs backwards over the same points: it is the same scheme with the rule reversed, coupling transposed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.validation import Array

MOST_POINTS = 8

LONGEST = 1.0
"""Longest step in units of the fastest mode's time; longer ones are divided into equal parts."""

# Relative error of f with p = 1, 2, ... points for steps of the length LONGEST at gamma tr(H)/2 about 0.4, measured and
# doubled; it falls with the power 2p - 1 of the length. Only how many points are tried first depends on it, never an
# error claim.
_FIRST_GUESS = (1.2, 3e-3, 3e-5, 1e-7, 2e-10, 1e-12, 1e-14, 1e-15)

_SEGMENT = 1024  # steps that share a rule

_TERMS = 19  # of the power series of the kernel within a step: the next one is 1/19! = 8e-18


@dataclass(frozen=True, eq=False)
class StepRule:
    """Points c in [0, 1], weights b, and coupling a_ij/b_j of the points of one step."""

    points: Array
    weights: Array
    coupling: Array

    @property
    def size(self) -> int:
        """The number of points."""
        return self.points.size

    def reversed(self) -> StepRule:
        """Return the rule of the adjoint equation, whose time runs backwards."""
        return StepRule(1.0 - self.points[::-1], self.weights[::-1].copy(), self.coupling.T[::-1, ::-1].copy())


@lru_cache(maxsize=MOST_POINTS)
def radau_step_rule(size: int) -> StepRule:
    """Return the Radau IIA rule of ``size`` points, 1 to 8, the last of them the end of the step.

    >>> radau_step_rule(2).points.round(12).tolist()
    [0.333333333333, 1.0]
    """
    from scipy.special import roots_jacobi

    x = np.append(roots_jacobi(size - 1, 1.0, 0.0)[0], 1.0) if size > 1 else np.ones(1)
    legendre = np.polynomial.legendre
    integrals = np.stack([legendre.legval(x, 0.5 * legendre.legint(row, lbnd=-1)) for row in np.eye(size)], axis=1)
    matrix = np.linalg.solve(legendre.legvander(x, size - 1).T, integrals.T).T
    return StepRule(0.5 * (x + 1.0), matrix[-1].copy(), matrix / matrix[-1])


@dataclass(frozen=True)
class Segment:
    """Steps ``low`` to ``high`` (not included), collocated at ``points`` points each."""

    low: int
    high: int
    points: int


def segments(lengths: Array, fastest: float, accuracy: float, extra: int = 0) -> list[Segment]:
    """Return runs of steps with the points that their longest step needs for ``accuracy``, and ``extra`` more.

    ``lengths``: of the steps, at most LONGEST / ``fastest``.
    """
    found = []
    for low in range(0, lengths.size, _SEGMENT):
        high = min(low + _SEGMENT, lengths.size)
        turn = fastest * float(lengths[low:high].max())
        enough = (p for p, c in enumerate(_FIRST_GUESS, 1) if c * turn ** (2 * p - 1) <= accuracy)
        found.append(Segment(low, high, min(next(enough, MOST_POINTS) + extra, MOST_POINTS)))
    return found


def divide_long_steps(lengths: Array, fastest: float) -> Any:
    """Return into how many equal parts each step must be divided, at least 1.

    Raises ValueError where that makes more than 1e8 steps.
    """
    parts = np.maximum(np.ceil(lengths * (fastest / LONGEST) * (1.0 - 1e-12)), 1.0)
    if (total := float(parts.sum())) > 1e8:
        raise ValueError(
            f"the steps are so long that they would be divided into {total:.3g} parts; use the method 'panels', which"
            " grows its panels within a long step"
        )
    return parts.astype(np.int64)


def step_inverses(matrices: Array) -> Array:
    """Return (I - S)^-1 for the small matrices S, shape (n, p, p): elimination over all n at once where S is small."""
    size = matrices.shape[-1]
    if math.isfinite(bound := float(np.abs(matrices).sum(axis=-1).max(initial=0.0))) and bound >= 0.9:
        return np.asarray(np.linalg.inv(np.eye(size) - matrices))
    # Gauss and Jordan in place, the matrices side by side
    work = np.ascontiguousarray(-matrices.transpose(1, 2, 0))
    index = np.arange(size)
    work[index, index] += 1.0
    for k in range(size):
        pivot = 1.0 / work[k, k]
        work[k, k] = 1.0
        work[k] *= pivot
        for i in range(size):
            if i != k:
                factor = work[i, k].copy()
                work[i, k] = 0.0
                work[i] -= factor * work[k]
    return np.ascontiguousarray(work.transpose(2, 0, 1))


class OwnKernel:
    """gamma eta b_j (a_ij/b_j) K((c_i - c_j) eta) for every step: the power series of K, whose argument is at most
    1 in units of the fastest mode."""

    def __init__(self, rates: Array, weights: Array) -> None:
        powers = np.arange(_TERMS)
        # (-r)^n/n! without overflow for any unit of time: the steps are measured in units of the fastest mode
        self._unit = float(rates.max())
        moments = (rates / self._unit) ** powers[:, None] @ weights
        self._series = moments * (-1.0) ** powers / np.cumprod(np.maximum(powers, 1.0))
        self._of: dict[tuple[int, float], Array] = {}

    def of(self, rule: StepRule, lengths: Array, gammas: Array) -> Array:
        """Return the matrices, shape (n, p, p), for n steps of the ``lengths`` and ``gammas``."""
        key = (rule.size, float(rule.points[0]))  # the rule or its reverse
        if key not in self._of:
            differences = (rule.points[:, None] - rule.points).ravel()
            own = (rule.coupling * rule.weights).ravel()
            self._of[key] = self._series[:, None] * differences ** np.arange(_TERMS)[:, None] * own
        scaled = lengths * self._unit
        powers = np.empty((_TERMS, lengths.size))
        powers[0] = gammas * lengths
        for n in range(1, _TERMS):
            np.multiply(powers[n - 1], scaled, out=powers[n])
        return np.asarray((powers.T @ self._of[key]).reshape(-1, rule.size, rule.size))
