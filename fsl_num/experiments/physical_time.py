r"""The functional scaling law in physical time: its three terms after every step of a run.

    E_k = c1 T(k)^-s + c2 sum_{i<=k} K(T(k)-T(i)) e(T(i)) eta_i^2/B_i + c3 sigma^2 sum_{i<=k} K(T(k)-T(i)) eta_i^2/B_i

with T(k) = eta_1 + .. + eta_k (appendix, "Fitting FSL on SGD Average-Risks"). K and e are taken in three forms:

- "printed": K(t) = (1+t)^-(2-1/beta), e(t) = (1+t)^-s, and T^-s itself as the first term, as the appendix prints it;
- "shifted": the same with (1+T)^-s as the first term, which is finite at T = 0;
- "modes": what these powers stand for, K_M(t) = sum_j lambda_j^2 exp(-2 lambda_j t) and delta + e_M(t) of the model.

In the last form the theory (equation labelled eqn: volterra-equation) has c1 = c2 = c3 = 1/2 up to higher orders of the
learning rate, and nothing is left to choose.

A power is an integral of exponentials, t^-p = (1/Gamma(p)) int x^(p-1) exp(-x t) dx, and a hundred nodes in log x give
it to rounding; so every form is a sum of exponentials, which is carried from step to step at the cost of its modes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.schedules.discrete import steps_and_batches
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array, positive

FORMS: Final = ("printed", "shifted", "modes")
"""The forms of the law that :func:`law_terms` knows."""

_STEP = 0.25  # in log x: the trapezoidal rule errs by 2 |Gamma(p + 2 pi i/h)|/Gamma(p), below 5e-15 for p <= 2
_AT_ONCE = 10**5  # numbers that are carried from step to step before they are summed
_DROPPED = 36.0  # exp(-36) = 2e-16 of the integral is left out on either side


@dataclass(frozen=True, eq=False)
class Exponentials:
    """The function sum_j masses_j exp(-rates_j t)."""

    rates: Array
    masses: Array

    def __call__(self, t: Array) -> Array:
        """Return its values at the times ``t``."""
        return np.asarray(np.exp(-np.multiply.outer(t, self.rates)) @ self.masses)


def power_as_exponentials(power: Any, horizon: Any) -> Exponentials:
    """Return exponentials that are (1+t)^-power on 0 <= t <= horizon, to a relative 1e-13.

    ``power`` in (1/4, 2]; ``horizon`` > 0. Raises ValueError outside.

    >>> kernel = power_as_exponentials(1.5, 100.0)
    >>> bool(abs(kernel(np.array([0.0, 99.0])) * [1.0, 1000.0] - 1.0).max() < 1e-13)
    True
    """
    exponent, last = positive("power", power), positive("horizon", horizon)
    if not 0.25 < exponent <= 2.0:
        raise ValueError(f"power must lie in (1/4, 2] (the rule is made for it), got {power!r}")
    low = -_DROPPED / exponent - math.log1p(last)
    nodes = np.arange(low, math.log(_DROPPED + 10.0 * exponent), _STEP)
    rates = np.exp(nodes)
    masses = _STEP / math.gamma(exponent) * np.exp(exponent * nodes - rates)
    return Exponentials(rates, masses)


def accumulated(kernel: Exponentials, rates: Array, sources: Array) -> Array:
    """Return sum_{i<=k} kernel(T(k) - T(i)) sources[:, i] for every step k, shape of ``sources``: (several, steps).

    >>> kernel = Exponentials(np.array([1.0]), np.array([2.0]))
    >>> accumulated(kernel, np.array([0.3, 0.5]), np.array([[1.0, 0.0]])).tolist() == [[2.0, 2.0 * math.exp(-0.5)]]
    True
    """
    held = np.zeros((sources.shape[0], kernel.rates.size))
    sums = np.empty(sources.shape)
    size = max(1, _AT_ONCE // held.size)
    for first in range(0, rates.size, size):
        part = slice(first, first + size)
        decays = np.exp(-np.multiply.outer(rates[part], kernel.rates))
        carried = np.empty((decays.shape[0], *held.shape))
        for decay, added, after in zip(decays, sources.T[part, :, None], carried, strict=True):
            np.multiply(held, decay, out=after)
            after += added
            held = after
        sums[:, part] = (carried @ kernel.masses).T
    return sums


def law_terms(problem: Regression, rates: Any, batch_sizes: Any = 1, *, form: str = "printed") -> Array:
    """Return the three terms after steps 1 .. K, without their constants: shape (K, 3).

    ``problem``: the first M features. ``rates``: eta_1 .. eta_K, at least 0. ``batch_sizes``: one
    number or one a step. ``form``: one of :data:`FORMS`; "printed" needs a first rate above 0. Raises ValueError for
    anything else.

    >>> from fsl_num.model import Model
    >>> problem = Regression(Model(s=0.5, beta=2.0, size=8, noise=9.0))
    >>> terms = law_terms(problem, [0.04, 0.21])
    >>> terms[:, 0].round(12).tolist(), terms[0, 2].round(12).tolist()
    ([5.0, 2.0], 0.0144)
    """
    eta, sizes = steps_and_batches(rates, batch_sizes)
    batches = np.broadcast_to(sizes, eta.shape)
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
    if form == "printed" and eta[0] == 0.0:
        raise ValueError("the first learning rate must be above 0: T^-s has no value before intrinsic time passes")
    if not eta.any():
        raise ValueError("the learning rates are all 0, so that no intrinsic time passes")
    time = np.cumsum(eta)
    kernel, unlearned = _kernel_and_signal(problem, float(time[-1]), form)
    injected = eta**2 / batches
    # The gradient noise of a step comes from what was unlearned after it in the appendix, and that is kept.
    signal = unlearned(time)
    noises = accumulated(kernel, eta, np.stack([injected * signal, injected]))
    first = time**-problem.model.s if form == "printed" else signal
    return np.stack([first, noises[0], problem.model.noise * noises[1]], axis=1)


def _kernel_and_signal(problem: Regression, horizon: float, form: str) -> tuple[Exponentials, Callable[[Array], Array]]:
    if form != "modes":
        return power_as_exponentials(2.0 - 1.0 / problem.model.beta, horizon), lambda t: (1.0 + t) ** -problem.model.s
    spectrum = problem.spectrum
    decay = 2.0 * np.asarray(spectrum.eigenvalues)
    signal = Exponentials(decay, np.asarray(spectrum.signals))
    kernel = Exponentials(decay, np.asarray(spectrum.eigenvalues) ** 2)
    return kernel, lambda t: spectrum.tail + _in_chunks(signal, t)


def _in_chunks(function: Exponentials, t: Array) -> Array:
    """Return the values of ``function`` at ``t`` without an array of all times and modes at once."""
    size = max(1, 10**6 // function.rates.size)
    return np.concatenate([function(t[k : k + size]) for k in range(0, t.size, size)])
