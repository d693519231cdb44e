"""Schedules of K steps that minimise a law of the final loss, found by numerical optimisation.

A schedule is a list of blocks of steps, each at one rate in (0, 1] (the largest rate is the unit), geometric in the
steps left, so that 1e20 steps need some hundred blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.design.objectives import Objective
from fsl_num.validation import Array, positive, whole_size

LOWEST = 1e-60
"""Rates are not followed below this."""
MOST = 200
"""Newton's steps at most."""
AT_REST = 1e-12
"""The largest derivative of log(loss) by log(rate) at which the search ends."""


@dataclass(frozen=True, eq=False)
class BestSchedule:
    """The best schedule found: the ``rates`` of the blocks, in units of the largest one allowed, their ``steps``, and
    the ``loss``."""

    rates: Array
    steps: Array
    loss: float

    @property
    def decaying(self) -> float:
        """The share of the steps whose rate is below 99 % of the largest."""
        return float(self.steps[self.rates < 0.99 * self.rates.max()].sum() / self.steps.sum())

    @property
    def last_over_peak(self) -> float:
        """The last rate over the largest."""
        return float(self.rates[-1] / self.rates.max())


def blocks(steps: float, per_decade: int, shortest: float = 1.0) -> Array:
    """The lengths of blocks of steps, the longest first: the steps left at their starts grow geometrically.

    ``steps`` in all, ``per_decade`` blocks for each factor of ten (8 blocks at least), the last of ``shortest`` steps.
    Raises ValueError unless 0 < shortest < steps.

    >>> lengths = blocks(1e4, 8)
    >>> float(lengths[-1]), round(float(lengths.sum()))
    (1.0, 10000)
    """
    shortest, count = positive("shortest", shortest), whole_size("per_decade", per_decade, infinite=False)
    if not positive("steps", steps) > shortest:
        raise ValueError(f"steps must exceed shortest = {shortest}, the last block of them, got {steps}")
    left = np.geomspace(shortest, steps, 1 + max(8, round(count * math.log10(steps / shortest))))
    return np.asarray(np.diff(np.concatenate([[0.0], left]))[::-1])


def best_rates(objective: Objective, steps: Array) -> BestSchedule:
    """The best rates in (0, 1] without any other constraint: they may rise.

    Parameters
    ----------
    objective
        The loss and its gradient, as :func:`~fsl_num.design.objectives.functional_objective` gives it; positive.
    steps
        Steps of the blocks in time order, all positive, as :func:`blocks` gives them.

    A quasi-Newton method with bounds, in the logarithms of the rates, finds which rates stay at 1, Newton's method
    moves the others until nothing is gained: the last rates are worth little and a quasi-Newton method leaves them
    early. What is found is a local minimum. Raises ValueError for steps that are not positive.

    Examples
    --------
    >>> from fsl_num.design.objectives import functional_objective
    >>> best = best_rates(functional_objective(0.5, 2.0), blocks(1e4, 8))
    >>> bool((np.diff(best.rates) <= 1e-6).all())  # not asked for
    True
    """
    from scipy.optimize import minimize

    steps = _checked(steps)
    logs = np.log(np.full(steps.size, 0.5))

    def at(point: Array) -> tuple[float, Array]:
        rates = np.exp(point)
        value, gradient = objective(rates, steps)
        # of the logarithm of the loss, which falls over many decades with the number of steps
        return math.log(value), gradient * rates / value

    rough = minimize(
        at, logs, jac=True, method="L-BFGS-B", bounds=[(math.log(LOWEST), 0.0)] * steps.size,
        options={"maxiter": 10 * MOST, "maxfun": 20 * MOST, "ftol": 1e-13, "gtol": 1e-9, "maxcor": 30},
    )  # fmt: skip
    logs = rough.x
    value, gradient = at(logs)
    shift = 1e-5
    for _ in range(MOST):
        free = np.flatnonzero(~((logs >= 0.0) & (gradient <= 0.0)))
        if np.abs(gradient[free]).max(initial=0.0) <= AT_REST:
            break
        moved = [(at(logs + shift * e)[1] - at(logs - shift * e)[1]) / (2 * shift) for e in np.eye(steps.size)[free]]
        hessian = np.array([row[free] for row in moved])
        spread, axes = np.linalg.eigh(0.5 * (hessian + hessian.T))
        curvature = np.maximum(np.abs(spread), 1e-14 * np.abs(spread).max())
        step = np.zeros_like(logs)
        step[free] = np.clip(-axes @ ((axes.T @ gradient[free]) / curvature), -2.0, 2.0)
        for halving in range(40):
            trial = np.clip(logs + 0.5**halving * step, math.log(LOWEST), 0.0)
            new_value, new_gradient = at(trial)
            if new_value < value:
                break
        else:
            break
        logs, value, gradient = trial, new_value, new_gradient
    return BestSchedule(np.exp(logs), steps, math.exp(value))


def best_falling_rates(objective: Objective, steps: Array, start: Array, *, floor: float = 1e-6) -> BestSchedule:
    """The best rates among those that never rise, from 1 at most to ``floor`` at least.

    By sequential quadratic programming from ``start``: a local minimum. Arguments and errors as for :func:`best_rates`.

    >>> from fsl_num.design.objectives import functional_objective
    >>> lengths = blocks(1e3, 4)
    >>> best = best_falling_rates(functional_objective(0.5, 2.0), lengths, np.full(lengths.size, 0.5))
    >>> bool((np.diff(best.rates) <= 1e-9).all())
    True
    """
    from scipy.optimize import minimize

    steps = _checked(steps)
    # Rates that never rise are within bounds where the first and the last are.
    sides = np.vstack([-np.eye(1, steps.size), np.eye(steps.size) - np.eye(steps.size, k=1)])
    least = np.concatenate([[-1.0], np.zeros(steps.size - 1), [floor]])

    def at(rates: Array) -> tuple[float, Array]:
        # On the way a step may leave the bounds, where the loss may have no value.
        return objective(np.clip(rates, floor, 1.0), steps)

    minimum: Any = minimize(  # type: ignore[call-overload]
        at, start, jac=True, method="SLSQP", options={"maxiter": 400, "ftol": 1e-12},
        constraints=[{"type": "ineq", "fun": lambda rates: sides @ rates - least, "jac": lambda rates: sides}],
    )  # fmt: skip
    return BestSchedule(np.clip(np.asarray(minimum.x), floor, 1.0), steps, at(minimum.x)[0])


def _checked(steps: Array) -> Array:
    lengths = np.asarray(steps, dtype=np.float64)
    if lengths.ndim != 1 or not lengths.size or not (np.isfinite(lengths) & (lengths > 0.0)).all():
        raise ValueError("steps must be a list of positive numbers, the lengths of the blocks: see blocks()")
    return lengths
