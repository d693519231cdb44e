"""Robust least squares for a law bound to curves: Levenberg and Marquardt's method in bounds, from several starts.

What is minimised is the sum over all rows of weight * rho(residual), with the residual log(law) - log(loss), or
law - loss, and rho the Huber function: r^2/2 up to delta and delta (|r| - delta/2) beyond, or r^2/2 everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from fsl_num.curves.laws.base import Bound
from fsl_num.curves.laws.chart import Chart
from fsl_num.validation import Array

LOSSES: Final = ("log-huber", "log-squares", "huber", "squares")
"""What can be minimised."""

_ITERATIONS = 200
_SETTLED = 1e-9  # relative fall of the objective in one step
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Target:
    """What a law is fitted to: losses, weights of the rows, the loss function and its delta (of the residual).

    >>> target = Target(np.array([2.0]), np.array([1.0]))
    >>> target.objective(np.array([2.0]))
    0.0
    """

    observed: Array
    weights: Array
    loss: str = "log-huber"
    delta: float = 1e-3

    def residual(self, values: Array) -> Array:
        """Return the residuals of predicted losses; these must be positive for the logarithm."""
        if self.loss.startswith("log"):
            return np.asarray(np.log(np.maximum(values, _TINY)) - np.log(self.observed))
        return values - self.observed

    def slope(self, values: Array) -> Array:
        """Return the derivative of the residuals by the predicted losses."""
        return 1.0 / np.maximum(values, _TINY) if self.loss.startswith("log") else np.ones_like(values)

    def objective(self, values: Array) -> float:
        """Return what is minimised."""
        size = np.abs(self.residual(values))
        if self.loss.endswith("huber"):
            size = np.where(size <= self.delta, 0.5 * size**2, self.delta * (size - 0.5 * self.delta))
        else:
            size = 0.5 * size**2
        return float(self.weights @ size)

    def influence(self, residual: Array) -> Array:
        """Return the weights with which least squares has the same gradient."""
        if not self.loss.endswith("huber"):
            return self.weights
        return np.asarray(self.weights * np.minimum(1.0, self.delta / np.maximum(np.abs(residual), _TINY)))


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where one descent ended: parameters, objective, steps taken, and whether it settled."""

    theta: Array
    objective: float
    iterations: int
    settled: bool


def linear_start(bound: Bound, nonlinear: Array, target: Target) -> Array:
    """Return all parameters, the linear ones by robust non-negative least squares with the others given.

    >>> from fsl_num.curves.laws import law
    >>> from fsl_num.curves.plan import Plan
    >>> plan = Plan([0.1] * 50)
    >>> bound = law("momentum").bind([plan])
    >>> seen = bound(np.array([2.0, 0.5, 0.0, 0.5, 0.99]))[0]
    >>> linear_start(bound, np.array([0.5, 0.99]), Target(seen, np.ones(50))).round(9).tolist()
    [2.0, 0.5, 0.0, 0.5, 0.99]
    """
    from scipy.optimize import nnls

    x = bound.columns(nonlinear)[0]
    weight = np.ones(target.observed.size)
    scale = 1.0 / target.observed if target.loss.startswith("log") else np.ones_like(target.observed)
    coefficients = np.zeros(bound.linear)
    size = np.linalg.norm(x, axis=0)
    size[size == 0.0] = 1.0
    for _ in range(3):
        root = np.sqrt(weight * target.weights) * scale
        coefficients = nnls((x / size) * root[:, None], target.observed * root)[0] / size
        weight = target.influence((x @ coefficients - target.observed) * scale) / np.maximum(target.weights, _TINY)
    return np.concatenate([coefficients, nonlinear])


@dataclass(frozen=True, eq=False)
class Pull:
    """What is expected of coordinates: strength (u - centre)^2/2 is added to the objective.

    >>> Pull(np.array([1.0]), np.array([2.0])).energy(np.array([3.0]))
    4.0
    """

    centre: Array
    strength: Array

    def energy(self, u: Array) -> float:
        """Return what is added to the objective."""
        return float(0.5 * self.strength @ (u - self.centre) ** 2)


def descend(
    bound: Bound,
    target: Target,
    chart: Chart,
    start: Array,
    iterations: int = _ITERATIONS,
    fixed: Sequence[int] = (),
    pull: Pull | None = None,
    settled_below: float = _SETTLED,
) -> Minimum:
    """Return the minimum that Levenberg and Marquardt's method reaches from ``start``, within the bounds.

    ``fixed``: positions of coordinates that keep their value. ``pull``: its energy is part of the objective.
    ``settled_below``: two steps in turn that make the objective fall by less than this share of it end the descent.

    >>> from fsl_num.curves.laws import law
    >>> from fsl_num.curves.plan import Plan
    >>> plan = Plan([0.1] * 30 + [0.01] * 30)
    >>> momentum = law("momentum")
    >>> bound, chart = momentum.bind([plan]), momentum.chart([plan])
    >>> seen = bound(np.array([2.0, 0.5, 0.3, 0.5, 0.8]))[0]
    >>> found = descend(bound, Target(seen, np.ones(60)), chart, np.array([1.0, 1.0, 1.0, 0.3, 0.7]))
    >>> found.theta.round(6).tolist(), found.settled
    ([2.0, 0.5, 0.3, 0.5, 0.8], True)
    """
    u = np.clip(chart.forward(start), chart.low, chart.high)
    values, jacobian = bound(chart.back(u))
    expected = Pull(u, np.zeros(u.size)) if pull is None else pull
    best = target.objective(values) + expected.energy(u)
    # a pull makes the directions that the curves do not see safe to go along at once; damping would hold them back
    damping, settled, quiet, taken = (1e-3 if pull is None else 1e-9), False, 0, 0
    moving = np.ones(u.size, dtype=bool)
    moving[list(fixed)] = False
    while taken < iterations:
        taken += 1
        residual = target.residual(values)
        weight = target.influence(residual)
        slopes = (jacobian * target.slope(values)[:, None]) @ chart.slopes(u)
        gradient = slopes.T @ (weight * residual) + expected.strength * (u - expected.centre)
        matrix = (slopes * weight[:, None]).T @ slopes + np.diag(expected.strength)
        stuck = ((u <= chart.low) & (gradient > 0.0)) | ((u >= chart.high) & (gradient < 0.0))
        free = moving & ~stuck
        if not free.any() or not np.isfinite(matrix).all():
            settled = bool(np.isfinite(matrix).all())
            break
        inner = matrix[np.ix_(free, free)]
        diagonal = np.maximum(np.diag(inner), 1e-14 * max(float(np.diag(inner).max()), 1e-300))
        fall = 0.0
        while damping < 1e12:
            move = np.zeros_like(u)
            move[free] = -np.linalg.solve(inner + damping * np.diag(diagonal), gradient[free])
            trial = np.clip(u + np.clip(move, -3.0 * (1 + np.abs(u)), 3.0 * (1 + np.abs(u))), chart.low, chart.high)
            new_values, new_jacobian = bound(chart.back(trial))
            objective = target.objective(new_values) + expected.energy(trial)
            if np.isfinite(objective) and objective <= best:
                fall = best - objective
                u, values, jacobian, best = trial, new_values, new_jacobian, objective
                damping = max(damping * 0.2, 1e-12)
                break
            damping *= 6.0
        else:
            settled = True  # no step however short goes down
            break
        quiet = quiet + 1 if fall <= settled_below * max(best, 1e-300) else 0
        if quiet >= 2 or best < 1e-28 * target.observed.size:
            settled = True
            break
    return Minimum(chart.back(u), best, taken, settled)
