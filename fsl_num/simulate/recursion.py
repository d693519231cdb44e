r"""The exact expected risk of one-pass stochastic gradient descent, without sampling.

For independent symmetric features with fourth moment kappa (3 for normal ones) the second moments m_j = E[(v_j -
theta_j)^2] close, and with x_j = lambda_j m_j and u = delta + sum_j x_j + sigma^2 = 2E + sigma^2

    x_j <- ((1 - eta lambda_j)^2 + (kappa - 2) eta^2 lambda_j^2/B) x_j + (eta^2/B) lambda_j^2 u.

The loop over the steps is compiled (:mod:`fsl_num.simulate.recursion_kernel`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.compression import compress
from fsl_num.schedules.discrete import steps_and_batches
from fsl_num.simulate.curve import RiskCurve, record_steps
from fsl_num.simulate.families import Family, Gaussian
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array, instance_of

ALL_MODES = 1000  # models up to this size keep every mode


@dataclass(frozen=True, eq=False)
class Moments:
    """The system: ``eigenvalues``, ``start`` x_j(0), ``weights`` lambda^2 (of several modes that one stands for),
    ``tail`` delta, and ``excess`` kappa - 2."""

    eigenvalues: Array
    weights: Array
    start: Array
    tail: float
    excess: float


def moments(problem: Regression, horizon: float) -> Moments:
    """Return the system of ``problem`` for learning rates that add up to ``horizon``.

    >>> from fsl_num.model import Model
    >>> moments(Regression(Model(s=0.5, beta=2.0, size=3, noise=1.0)), 10.0).weights.tolist()[0]
    1.0
    """
    kind = problem.family
    assert isinstance(kind, Family) and kind.kurtosis is not None
    excess = kind.kurtosis - 2.0
    if problem.projection is not None or problem.model.size <= ALL_MODES or problem.target is not None:
        spectrum = problem.spectrum
        rates = spectrum.eigenvalues
        return Moments(rates, rates**2, spectrum.signals, spectrum.tail, excess)
    modes = compress(problem.model.s, problem.model.beta, problem.model.size, horizon)
    return Moments(modes.rates, modes.kernel_weights, modes.signal_weights, problem.tail, excess)


def exact_risk(problem: Regression, rates: Any, batch_sizes: Any = 1, *, every: int | None = None) -> RiskCurve:
    """Return the expected excess risk of one-pass SGD, exactly (up to rounding, and 1e-12 for compressed modes).

    Source: the update labelled eqn: sgd, averaged.

    ``rates``: eta_0 .. eta_{K-1} >= 0; ``batch_sizes``: positive, one number or one a step; ``every``: record after so
    many steps (by default before the first and after the last only). Independent features and Gaussian ones with any
    projection take the closed recursion, compiled, with few modes for large models; others
    :func:`~fsl_num.simulate.matrix_recursion.exact_risk_matrix`. Raises ValueError where an argument does not fit, and
    OverflowError where training diverges beyond the range of floats.

    >>> from fsl_num.model import Model
    >>> problem = Regression(Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0))
    >>> curve = exact_risk(problem, [0.1] * 1000, every=500)
    >>> curve.step.tolist(), bool(curve.excess_risk[0] > curve.excess_risk[-1])
    ([0, 500, 1000], True)
    """
    instance_of("problem", problem, Regression)
    eta, sizes = steps_and_batches(rates, batch_sizes)
    kind = problem.family
    assert isinstance(kind, Family)
    if kind.kurtosis is None or (problem.projection is not None and not isinstance(kind, Gaussian)):
        from fsl_num.simulate.matrix_recursion import exact_risk_matrix

        return exact_risk_matrix(problem, eta, sizes, every=every)
    recorded = record_steps(eta.size, every)
    system = moments(problem, max(float(eta.sum()), 1.0))
    from fsl_num.simulate.recursion_kernel import march_moments  # which imports the compiler

    batches, losses = np.array(np.broadcast_to(sizes, eta.shape)), np.empty(recorded.size)
    sums = (system.eigenvalues, system.weights, system.start.copy())
    march_moments(eta, system.excess / batches, batches, *sums, problem.model.noise, system.tail, recorded, losses)
    if not np.isfinite(losses).all():
        first = int(recorded[np.argmin(np.isfinite(losses))])
        raise OverflowError(
            f"training diverges: the expected risk is beyond 1.8e308 by step {first}; the largest learning rate is"
            f" {float(eta.max())!r}, lower it"
        )
    message = f"{system.eigenvalues.size} modes"
    return RiskCurve(recorded, 0.5 * losses, np.zeros(recorded.size), "exact", message)
