r"""The gradient of the final risk with respect to a discrete schedule, by the adjoint: two passes, whatever the steps.

The adjoint q(T - r), what an impulse of noise at T - r adds to f(T), solves the same equation backwards, with the
kernel in place of the signal: the same march, from the weights and without delta and noise. Then df(T)/dgamma_k = I_k,
the integral of q (f + sigma^2) over the step, and df(T)/deta_k = H_k + I_k/B_k, where H = p . x' (p the adjoint of the
modes) is constant on a step and changes between steps by q (f + sigma^2) times the jump of gamma: f and q are all that
is needed. On a step both are series, and the integral of s^m/m! (1 - s)^n/n! over [0, 1] is 1/(m + n + 1)!.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fsl_num.results import Result
from fsl_num.schedules.discrete import Discrete
from fsl_num.validation import Array, instance_of
from fsl_num.volterra.linear_modes import LinearModes, linear_modes
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.steps.discrete import (
    Plan,
    checked_tolerance,
    discrete_schedule,
    march,
    plan_steps,
    rounding,
    rounding_margin,
)

_PASSES = 3


@dataclass(frozen=True, eq=False)
class Gradient(Result):
    """dE(T)/deta_k in ``rates`` (batch sizes kept), dE(T)/dgamma_k in ``gammas`` (lengths kept), each an array with one
    number a step; their estimated absolute errors in ``rates_error`` and ``gammas_error``; the final excess risk E(T)
    itself in ``excess_risk``. ``message``: what the run took, and whether the tolerance was reached."""

    rates: Array
    gammas: Array
    rates_error: Array
    gammas_error: Array
    excess_risk: float
    message: str


def final_risk_gradient(problem: Problem, rtol: float = 1e-8) -> Gradient:
    """Return the gradient of the final excess risk E(T) in the steps of ``problem.gamma``, a Discrete schedule.

    Source: equation labelled eqn: volterra-equation, differentiated.

    ``rtol`` in [1e-13, 1): of the largest component. At a rate of 0 the derivative is that from the right. The errors
    follow from those of f and q. Raises ValueError for other schedules, and for the closure "gaussian", whose modes
    have a jump of their own in H.

    >>> from fsl_num.model import Model
    >>> from fsl_num.schedules import Discrete
    >>> plan = Discrete(rates=[0.2, 0.1])
    >>> gradient = final_risk_gradient(Problem(Model(s=0.5, beta=2.0, size=5, noise=0.0), gamma=plan))
    >>> bool((gradient.rates < 0).all() and (gradient.gammas > 0).all())
    True
    """
    instance_of("problem", problem, Problem)
    schedule = discrete_schedule(problem)
    if problem.closure != "volterra":
        raise ValueError(f"the gradient needs the closure 'volterra', got {problem.closure!r}")
    checked_tolerance(rtol)
    system, stability = linear_modes(problem, schedule.total_intrinsic_time), problem.stability
    tolerance = 0.05 * rounding_margin(system, stability, rtol)
    for _ in range(_PASSES):
        gradient = _gradient(schedule, system, stability, tolerance)
        scales = [max(float(np.abs(derivative).max()), 5e-324) for derivative in (gradient.rates, gradient.gammas)]
        errors = gradient.rates_error.max(), gradient.gammas_error.max()
        worst = max(float(error) / scale for error, scale in zip(errors, scales, strict=True))
        if worst <= rtol:
            return gradient
        # the slopes may be small differences: what they are sums of is then needed more sharply
        tolerance *= 0.5 * rtol / worst
    return replace(gradient, message=f"{gradient.message}; the relative error {worst:.2g} misses rtol = {rtol:g}")


def _gradient(schedule: Discrete, system: LinearModes, stability: float, tolerance: float) -> Gradient:
    """Return the gradient, with losses and adjoint to the relative ``tolerance``."""
    from scipy.special import factorial

    lengths, gammas = schedule.rates, schedule.gammas
    plan = plan_steps(system, stability, lengths, gammas, tolerance)
    losses, u, state, blurred = _pass(system, plan, lengths, gammas, stability)
    adjoint = replace(system, start=system.weights, delta=0.0, noise=0.0)
    turned = (plan_steps(adjoint, stability, lengths[::-1], gammas[::-1], tolerance), lengths[::-1], gammas[::-1])
    impulses, q, _, blurred_back = _pass(adjoint, *turned, stability)
    # at the start, between steps and at the end: q (f + sigma^2) and its relative error
    product = (losses + system.noise) * impulses[::-1]
    relative = blurred + blurred_back[::-1]
    orders = np.add.outer(np.arange(u.shape[1]), np.arange(q.shape[1]))
    integrals = ((u @ (1.0 / factorial(1 + orders))) * q[::-1]).sum(axis=1)
    moving = plan.moving(lengths)
    step = np.repeat(np.arange(lengths.size), moving)
    by_gamma: Array = np.bincount(step, integrals * (lengths / plan.parts)[step], lengths.size).astype(np.float64)
    gamma_error = (np.maximum(relative[1:], relative[:-1]) + 2.0 * plan.injected) * by_gamma
    injected, forgotten = gammas[-1] * product[-1], float(plan.tables.rates @ state)
    jumps = (gammas[:-1] - gammas[1:]) * product[1:-1]
    by_rate = injected - forgotten + _sums_from_the_end(jumps) + by_gamma / schedule.batch_sizes
    uncertain = relative[-1] * (injected + forgotten) + _sums_from_the_end(np.abs(jumps) * relative[1:-1])
    rate_error = uncertain + gamma_error / schedule.batch_sizes
    message = f"{u.shape[1]} terms a step, {system.rates.size} modes"
    slopes = (0.5 * by_rate, 0.5 * by_gamma, 0.5 * rate_error, 0.5 * gamma_error)  # of f = 2E
    return Gradient(*slopes, 0.5 * float(losses[-1]), message)


def _pass(
    system: LinearModes, plan: Plan, lengths: Array, gammas: Array, stability: float
) -> tuple[Array, Array, Array, Array]:
    """Return the losses before, between and after the steps, their series, the modes at the end, relative errors."""
    moving = plan.moving(lengths)
    series = np.zeros((int(moving.sum()), plan.order))
    values, state = march(system, plan, lengths, gammas, series=series)
    errors = rounding(system, values, np.maximum.accumulate(values), float(values[0]), stability)
    return values, series, state, errors + plan.truncation(np.concatenate([[0], np.cumsum(moving)]), values)


def _sums_from_the_end(jumps: Array) -> Array:
    """Return for each step the sum of what is at its end and later."""
    return np.append(np.cumsum(jumps[::-1])[::-1], 0.0)
