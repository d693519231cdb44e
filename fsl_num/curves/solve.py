"""Robust least squares for a law bound to curves: Levenberg and Marquardt's method in bounds, from several starts.

Its valleys are narrow and bent. A step that goes up is tried again with what it has shown of the bend (a correction of
second order), and only then shortened; a step that would leave the bounds is the best one inside them.

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
_DAMPED = 1e-2  # at least, after a step that went up
_BENT = 0.3  # of a step: how far it may be moved by what the law was seen to bend along it
_LONGEST = 3.0  # of a step, over one plus the coordinate


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


@dataclass(frozen=True, eq=False)
class _Point:
    """Coordinates, the losses there with their derivatives by the parameters, and the objective."""

    u: Array
    values: Array
    jacobian: Array
    objective: float


class _Around:
    """The quadratic function that is like the objective about a point, in a box of the coordinates that may move."""

    def __init__(self, point: _Point, target: Target, chart: Chart, pull: Pull, moving: Array) -> None:
        u = point.u
        self.residual = target.residual(point.values)
        self.weight = target.influence(self.residual)
        self.slopes = (point.jacobian * target.slope(point.values)[:, None]) @ chart.slopes(u)
        self.gradient = self.slopes.T @ (self.weight * self.residual) + pull.strength * (u - pull.centre)
        self.matrix = (self.slopes * self.weight[:, None]).T @ self.slopes + np.diag(pull.strength)
        stuck = ((u <= chart.low) & (self.gradient > 0.0)) | ((u >= chart.high) & (self.gradient < 0.0))
        self.free = moving & ~stuck
        self.regular = bool(np.isfinite(self.matrix).all())
        longest = _LONGEST * (1.0 + np.abs(u))
        self.low, self.high = np.maximum(chart.low - u, -longest), np.minimum(chart.high - u, longest)
        if self.free.any() and self.regular:
            size = np.diag(self.matrix)
            self.scale = np.maximum(size, 1e-14 * max(float(size[self.free].max()), 1e-300))

    def step(self, damping: float, bend: Array | float = 0.0) -> Array:
        """Return the damped step to the least value, the residuals being off the straight by ``bend``.

        Coordinates are held one after another as they leave the box, and not let go again.
        """
        matrix = self.matrix + damping * np.diag(self.scale)
        gradient = self.gradient + self.slopes.T @ (self.weight * bend)
        step, inside = np.zeros(gradient.size), self.free.copy()
        while inside.any():
            held = gradient + matrix @ np.where(inside, 0.0, step)
            step[inside] = -np.linalg.solve(matrix[np.ix_(inside, inside)], held[inside])
            out = inside & ((step < self.low) | (step > self.high))
            if not out.any():
                break
            step[out] = np.clip(step[out], self.low[out], self.high[out])
            inside &= ~out
        return step

    def bent(self, damping: float, step: Array, residual: Array) -> Array | None:
        """Return the step with what its ``residual`` showed of the bend; None where that moves it far."""
        bent = self.step(damping, residual - self.residual - self.slopes @ step)
        near = self.scale @ (bent - step) ** 2 <= _BENT**2 * (self.scale @ step**2)
        return bent if near else None


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
    start = np.clip(chart.forward(start), chart.low, chart.high)
    expected = Pull(start, np.zeros(start.size)) if pull is None else pull

    def tried(at: Array) -> _Point:
        u = np.clip(at, chart.low, chart.high)
        values, jacobian = bound(chart.back(u))
        return _Point(u, values, jacobian, target.objective(values) + expected.energy(u))

    best = tried(start)
    # a pull makes the directions that the curves do not see safe to go along at once; damping would hold them back
    damping, settled, quiet, taken = (1e-3 if pull is None else 1e-9), False, 0, 0
    moving = np.ones(start.size, dtype=bool)
    moving[list(fixed)] = False
    while taken < iterations:
        taken += 1
        around, before = _Around(best, target, chart, expected, moving), best.objective
        if not around.free.any() or not around.regular:
            settled = around.regular
            break
        while damping < 1e12:
            step = around.step(damping)
            trial = tried(best.u + step)
            if not trial.objective <= before and np.isfinite(trial.values).all():
                bent = around.bent(damping, step, target.residual(trial.values))
                trial = trial if bent is None else tried(best.u + bent)
            if trial.objective <= before:
                best, damping = trial, max(damping * 0.2, 1e-12)
                break
            damping = max(6.0 * damping, _DAMPED)
        else:
            settled = True  # no step however short goes down
            break
        quiet = quiet + 1 if before - best.objective <= settled_below * max(best.objective, 1e-300) else 0
        if quiet >= 2 or best.objective < 1e-28 * target.observed.size:
            settled = True
            break
    return Minimum(chart.back(best.u), best.objective, taken, settled)
