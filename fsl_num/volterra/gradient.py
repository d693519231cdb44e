r"""The gradient of the final loss with respect to a discrete schedule, by the adjoint: two solves, whatever the steps.

The adjoint q(T - r), what an impulse of noise at T - r adds to f(T), solves the same equation backwards, with the
kernel in place of the signal. Then df(T)/dgamma_k = I_k, the integral of q (f + sigma^2) over the step, and
df(T)/deta_k = H_k + I_k/B_k, where H = p . x' (p the adjoint of the modes) is constant on a step and changes between
steps by q (f + sigma^2) times the jump of gamma: f and q are all that is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.discrete import LinearModes, divided, linear_modes, march
from fsl_num.volterra.problem import Problem

_PARTS = 4


@dataclass(frozen=True, eq=False)
class Gradient:
    """df(T)/deta_k in ``rates`` (batch sizes kept), df(T)/dgamma_k in ``gammas`` (lengths kept); their estimated
    absolute errors in ``rates_error`` and ``gammas_error``. f is TWICE the excess risk."""

    rates: Array
    gammas: Array
    rates_error: Array
    gammas_error: Array


def _on_parts(system: LinearModes, rates: Array, gammas: Array, parts: int) -> tuple[Array, Array]:
    """Return H_k and I_k from steps divided into an even number of ``parts``."""
    lengths, strengths = divided(rates / parts, parts), divided(gammas, parts)
    loss, state = march(system, lengths, strengths)
    adjoint = replace(system, start=system.weights, delta=0.0, noise=0.0)
    back = march(adjoint, lengths[::-1].copy(), strengths[::-1].copy())[0][::-1]
    product = back * (loss + system.noise)
    simpson = np.ones(parts + 1)
    simpson[1:-1:2], simpson[2:-1:2] = 4.0, 2.0
    points = parts * np.arange(rates.size)[:, None] + np.arange(parts + 1)
    integral = rates / (3.0 * parts) * (product[points] @ simpson)
    last = gammas[-1] * product[-1] - system.rates @ state
    jumps = (gammas[:-1] - gammas[1:]) * product[parts:-1:parts]
    return last + np.append(np.cumsum(jumps[::-1])[::-1], 0.0), integral


def final_loss_gradient(problem: Problem) -> Gradient:
    """Return the gradient of f(T) with respect to the steps of ``problem.gamma``, a Discrete schedule.

    At a rate of 0 it is the derivative from the right. Raises ValueError for other schedules.

    >>> from fsl_num.schedules import Discrete
    >>> plan = Discrete(rates=[0.2, 0.1])
    >>> gradient = final_loss_gradient(Problem(s=0.5, beta=2.0, model_size=5, noise=0.0, gamma=plan))
    >>> bool((gradient.rates < 0).all() and (gradient.gammas > 0).all())
    True
    """
    from fsl_num.schedules.discrete import Discrete

    plan = problem.gamma
    if not isinstance(plan, Discrete):
        raise ValueError(f"the gradient needs a Discrete schedule, got {type(plan).__name__}")
    system = linear_modes(problem, plan.total_intrinsic_time)
    rough_h, rough = _on_parts(system, plan.rates, plan.gammas, _PARTS)
    fine_h, fine = _on_parts(system, plan.rates, plan.gammas, 2 * _PARTS)
    coarse_sum, fine_sum = rough_h + rough / plan.batch_sizes, fine_h + fine / plan.batch_sizes
    floor = 1e-12 * float(np.abs(fine_sum).max() + np.abs(fine).max())
    return Gradient(
        fine_sum + (fine_sum - coarse_sum) / 3.0,
        fine + (fine - rough) / 3.0,
        np.abs(fine_sum - coarse_sum) + floor,
        np.abs(fine - rough) + floor,
    )
