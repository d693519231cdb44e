r"""The loss as a linear system of modes with one common input, for gamma that is constant on every step.

x_k' = -2 lambda_k x_k + w_k gamma (f + sigma^2)  [+ gamma lambda_k^2 x_k for the Gaussian closure],
f = delta + sum_k x_k,    w_k = lambda_k^2 summed over the modes that one rate stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fsl_num.compression import compress
from fsl_num.validation import Array
from fsl_num.volterra.moment_modes import moment_modes
from fsl_num.volterra.problem import Problem


@dataclass(frozen=True, eq=False)
class LinearModes:
    """The system: ``rates`` 2 lambda_k, ``weights`` w_k of the kernel, ``start`` x_k(0), ``delta``, ``noise`` sigma^2,
    the relative ``error`` of the two sums, and whether a mode feeds itself (the Gaussian closure)."""

    rates: Array
    weights: Array
    start: Array
    delta: float
    noise: float
    error: float
    self_feeding: bool = False

    @property
    def feedback(self) -> Array:
        """What gamma takes from each rate: lambda_k^2 for the Gaussian closure, else 0."""
        return 0.25 * self.rates**2 if self.self_feeding else np.zeros_like(self.rates)


def linear_modes(problem: Problem, horizon: float) -> LinearModes:
    """Return the modes of ``problem`` for intrinsic times up to ``horizon`` (a given spectrum keeps all of its own).

    >>> from fsl_num.model import Model
    >>> linear_modes(Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=0.1, horizon=9.0), 9.0).rates.size
    3
    """
    feeds = problem.closure == "gaussian"
    delta, noise = problem.model.approximation_error, problem.model.noise
    if problem.model.spectrum is not None:
        rates = problem.model.spectrum.eigenvalues
        return LinearModes(2.0 * rates, rates**2, problem.model.spectrum.signals, delta, noise, 0.0, feeds)
    if feeds:
        of = moment_modes(replace(problem, horizon=horizon))
        return LinearModes(2.0 * of.rates, of.kernel_weights, of.signal_weights, delta, noise, of.error, True)
    modes = compress(problem.model.s, problem.model.beta, problem.model.size, horizon)
    return LinearModes(2.0 * modes.rates, modes.kernel_weights, modes.signal_weights, delta, noise, modes.error)
