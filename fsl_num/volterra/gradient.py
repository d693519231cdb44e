r"""The gradient of the final loss with respect to a discrete schedule, by the adjoint: two passes, whatever the steps.

The adjoint q(T - r), what an impulse of noise at T - r adds to f(T), solves the same equation backwards, with the
kernel in place of the signal. Then df(T)/dgamma_k = I_k, the integral of q (f + sigma^2) over the step, and
df(T)/deta_k = H_k + I_k/B_k, where H = p . x' (p the adjoint of the modes) is constant on a step and changes between
steps by q (f + sigma^2) times the jump of gamma: f and q are all that is needed. The backward pass runs over the same
points by the transposed rule, so that I_k is exactly the derivative of the computed loss.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fsl_num.validation import Array, positive
from fsl_num.volterra.linear_modes import LinearModes, linear_modes
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.steps.discrete import LEAST_TOLERANCE, cut_steps, discrete_schedule, rounding_floor
from fsl_num.volterra.steps.march import march
from fsl_num.volterra.steps.step_rules import MOST_POINTS, Segment, radau_step_rule, segments


@dataclass(frozen=True, eq=False)
class Gradient:
    """df(T)/deta_k in ``rates`` (batch sizes kept), df(T)/dgamma_k in ``gammas`` (lengths kept), each an array with one
    number a step; their estimated absolute errors in ``rates_error`` and ``gammas_error``; the final loss f(T) itself
    in ``value``. f is TWICE the excess risk. ``message``: what the run took, and whether the tolerance was reached."""

    rates: Array
    gammas: Array
    rates_error: Array
    gammas_error: Array
    value: float
    message: str


def _pass(system: LinearModes, lengths: Array, gammas: Array, plan: list[Segment]) -> tuple[Array, Array, float]:
    """Return H and I of every piece, and the final loss."""
    forward = march(system, lengths, gammas, plan, keep_points=True)
    adjoint = replace(system, start=system.weights, delta=0.0, noise=0.0)
    size = lengths.size
    turned = [Segment(size - run.high, size - run.low, run.points) for run in reversed(plan)]
    backward = march(adjoint, lengths[::-1].copy(), gammas[::-1].copy(), turned, keep_points=True, backwards=True)
    integrals = np.empty(size)
    for run, u, q in zip(plan, forward.points, reversed(backward.points), strict=True):
        weights = radau_step_rule(run.points).weights
        integrals[run.low : run.high] = lengths[run.low : run.high] * ((u * q[::-1, ::-1]) @ weights)
    # the first point of a reversed step is its end, where nothing of the step itself has been added yet
    at_ends = np.concatenate([first[::-1] for first in reversed(backward.firsts)])
    product = forward.ends * at_ends
    last = gammas[-1] * product[-1] - system.rates @ forward.state
    jumps = (gammas[:-1] - gammas[1:]) * product[:-1]
    return last + np.append(np.cumsum(jumps[::-1])[::-1], 0.0), integrals, float(forward.ends[-1] - system.noise)


def final_loss_gradient(problem: Problem, rtol: float = 1e-8) -> Gradient:
    """Return the gradient of f(T) with respect to the steps of ``problem.gamma``, a Discrete schedule.

    ``rtol`` in [1e-13, 1): of the largest component. At a rate of 0 the derivative is that from the right. The error is
    the difference of two solutions, of which the better is returned. Raises ValueError for other schedules, and for
    the closure "gaussian", whose modes have a jump of their own in H.

    >>> from fsl_num.schedules import Discrete
    >>> plan = Discrete(rates=[0.2, 0.1])
    >>> gradient = final_loss_gradient(Problem(s=0.5, beta=2.0, model_size=5, noise=0.0, gamma=plan))
    >>> bool((gradient.rates < 0).all() and (gradient.gammas > 0).all())
    True
    """
    plan = discrete_schedule(problem)
    if problem.closure != "volterra":
        raise ValueError(f"the gradient needs the closure 'volterra', got {problem.closure!r}")
    if not LEAST_TOLERANCE <= positive("rtol", rtol) < 1:
        raise ValueError(f"rtol must lie in [{LEAST_TOLERANCE:g}, 1), got {rtol!r}")
    system = linear_modes(problem, plan.total_intrinsic_time)
    fastest = float(system.rates.max())
    pieces = cut_steps(plan, fastest, np.empty(0))
    batches = plan.batch_sizes
    floor = (rounding_floor(pieces.lengths.size) + system.error) / max(1.0 - problem.stability, 1e-3)
    previous: Any = None
    for extra in range(MOST_POINTS):
        runs = segments(pieces.lengths, fastest, 0.3 * rtol, extra)
        slopes, integrals, value = _pass(system, pieces.lengths, pieces.gammas, runs)
        # a step divided into parts has the slope of any of them and the sum of their integrals
        by_gamma = np.add.reduceat(integrals, np.concatenate([[0], pieces.steps[:-1] + 1]))
        by_rate = slopes[pieces.steps] + by_gamma / batches
        if previous is not None:
            errors = [np.abs(new - old) for new, old in zip((by_rate, by_gamma), previous, strict=True)]
            scales = [float(np.abs(new).max()) for new in (by_rate, by_gamma)]
            worst = max(float(error.max()) / max(scale, 5e-324) for error, scale in zip(errors, scales, strict=True))
            if worst <= rtol or min(run.points for run in runs) == MOST_POINTS:
                break
        previous = (by_rate, by_gamma)
    reached = "" if worst <= rtol else f"; the relative error estimate {worst:.2g} misses rtol = {rtol:g}"
    total = float(by_gamma @ plan.gammas) + value  # of the terms that the slopes are sums of
    rounding = [floor * (scale + share) for scale, share in zip(scales, (total, 0.0), strict=True)]
    return Gradient(
        by_rate,
        by_gamma,
        errors[0] + rounding[0],
        errors[1] + rounding[1],
        value,
        f"{max(run.points for run in runs)} points a step, {system.rates.size} modes{reached}",
    )
