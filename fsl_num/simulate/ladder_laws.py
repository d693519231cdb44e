r"""The last two rungs for learning rates given step by step: the functional scaling law, and its asymptotic form.

The law (equation labelled eqn: fsl), in units of f = 2E and with every constant 1, is

    delta_M + e_M(t) + int_0^t K_M(t - z) gamma(z) (e_M(z) + sigma^2) dz.

Its asymptotic form puts the sharp powers in place of the sums: with m = M + 1/2 and the incomplete Gamma function,
which for an infinite model is the complete one,

    e_M(t) ~ Gamma(s, 2t/m^beta)/beta (2t)^-s,    K_M(t) ~ Gamma(p, 2t/m^beta)/beta (2t)^-p,  p = 2 - 1/beta,
    delta_M ~ m^-(s beta)/(s beta).

Powers have no value at time 0. There the first keeps e_M(0), and the second is held constant below a time that makes
int_0^inf K_M = tr(H)/2, as it is: at constant gamma the noise has the right limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.gauss_rules import legendre_rule
from fsl_num.simulate.regression import Regression
from fsl_num.spectrum import exponential_sum
from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes

_BLOCK = 64  # steps at once
_PER_E_FOLD = 40  # of the table of int K: cubic, so its error is about 1e-8
_AT_ONCE = 2_000_000


def law_of_steps(modes: LinearModes, lengths: Array, gammas: Array) -> Array:
    """Return the functional scaling law at the start and after every step, in units of f = 2E.

    ``modes``: of the model (:func:`~fsl_num.volterra.linear_modes.linear_modes`). On a step gamma is constant and the
    integrand a product of exponentials, which Gauss points integrate to rounding.

    >>> modes = LinearModes(np.array([2.0]), np.array([1.0]), np.array([1.0]), 0.0, 1.0, 0.0)
    >>> law = law_of_steps(modes, np.full(3, 0.1), np.full(3, 0.1))
    >>> closed = np.exp(-0.6) + 0.1 * (0.3 * np.exp(-0.6) + 0.5 * (1 - np.exp(-0.6)))
    >>> bool(abs(law[3] - closed) < 1e-15)
    True
    """
    fastest = float(modes.rates.max()) * float(lengths.max())
    points, weights = legendre_rule(6 + math.ceil(fastest))
    points, weights = 0.5 * (points + 1.0), 0.5 * weights
    risks = np.empty(lengths.size + 1)
    risks[0] = modes.delta + modes.start.sum()
    # no more than an exponent of 300 within a block, whose inverse is needed
    steps = max(1, min(_BLOCK, int(300.0 / fastest)))
    signal, injected = modes.start.copy(), np.zeros_like(modes.start)
    for low in range(0, lengths.size, steps):
        part = lengths[low : low + steps]
        ends = np.cumsum(part)
        inside = np.exp(np.multiply.outer((ends - part)[:, None] + points * part[:, None], -modes.rates))
        after = np.exp(np.multiply.outer(part[:, None] * (1.0 - points), -modes.rates))
        driven = (inside @ signal + modes.noise) * weights * (gammas[low : low + steps] * part)[:, None]
        gained = np.einsum("kp,kpj->kj", driven, after) * modes.weights
        decay = np.exp(np.multiply.outer(ends, -modes.rates))
        state = decay * (injected + np.cumsum(gained / decay, axis=0))
        risks[low + 1 : low + 1 + part.size] = modes.delta + decay @ signal + state.sum(axis=1)
        signal, injected = signal * decay[-1], state[-1]
    return risks


def _gamma_tail(power: float, t: Array, beta: float, end: float) -> Array:
    """Return Gamma(power, 2t/end^beta)/beta (2t)^-power: the integral of j^-(1 + power beta) exp(-2 j^-beta t) over
    0 < j < ``end``, what the sum over j tends to."""
    from scipy.special import gamma, gammaincc

    upper = 0.0 if math.isinf(end) else gammaincc(power, 2.0 * t * end**-beta)
    share = gamma(power) if math.isinf(end) else gamma(power) * upper
    return np.asarray(share / beta * (2.0 * t) ** -power)


@dataclass(frozen=True)
class SharpPowers:
    """The asymptotic forms for s, beta, M (``size``) and N (``features``), both possibly infinite.

    >>> powers = SharpPowers(0.5, 2.0, math.inf, math.inf)
    >>> bool(abs(powers.signal(np.array([50.0]))[0] - math.sqrt(math.pi) / 20) < 1e-15)
    True
    """

    s: float
    beta: float
    size: float
    features: float

    @property
    def approximation(self) -> float:
        """m^-(s beta)/(s beta), less the same for N."""
        alpha = self.s * self.beta
        ends = [0.0 if math.isinf(n) else (n + 0.5) ** -alpha / alpha for n in (self.size, self.features)]
        return ends[0] - ends[1]

    def signal(self, t: Array) -> Array:
        """The power that e_M tends to, and e_M(0) where it would be larger."""
        start = exponential_sum(1.0 + self.s * self.beta, 0.0, self.beta, self.size)
        with np.errstate(divide="ignore"):
            return np.asarray(np.minimum(_gamma_tail(self.s, t, self.beta, self.size + 0.5), start))

    @property
    def trace(self) -> float:
        """tr H of the model."""
        return float(exponential_sum(self.beta, 0.0, self.beta, self.size))

    def kernel(self, t: Array) -> Array:
        """The power that K_M tends to."""
        return _gamma_tail(2.0 - 1.0 / self.beta, t, self.beta, self.size + 0.5)

    def kernel_after(self, t: Array) -> Array:
        """The integral of the kernel's power from t on, which is half that of j^-beta exp(-2 j^-beta t) over j."""
        return 0.5 * _gamma_tail(1.0 - 1.0 / self.beta, t, self.beta, self.size + 0.5)

    @property
    def onset(self) -> float:
        """The time below which the kernel's power is held constant."""
        from scipy.optimize import brentq

        def excess(log_time: float) -> float:
            t = np.exp(np.array([log_time]))
            return float((t * self.kernel(t) + self.kernel_after(t))[0]) - 0.5 * self.trace

        return math.exp(brentq(excess, -60.0, 5.0, xtol=1e-13))

    def kernel_integral(self, horizon: float) -> Any:
        """Return the function x -> int_0^x K for arrays of x in [0, ``horizon``], from a table."""
        from scipy.interpolate import CubicSpline

        onset = self.onset
        level = float(self.kernel(np.array([onset]))[0])
        folds = max(math.log(max(horizon, onset) / onset), 1e-3) * (1.0 + 1e-9)
        logs = math.log(onset) + np.linspace(0.0, folds, 2 + math.ceil(_PER_E_FOLD * folds))
        table = CubicSpline(logs, 0.5 * self.trace - self.kernel_after(np.exp(logs)))

        def integral(x: Array) -> Array:
            late = table(np.log(np.maximum(x, onset)))
            return np.asarray(np.where(x < onset, level * x, late))

        return integral


def asymptotic_of_steps(problem: Regression, lengths: Array, gammas: Array, recorded: Any) -> Array:
    """Return the law with sharp powers after the steps ``recorded``, in units of f = 2E.

    int K over a step is exact; what drives it is averaged over the step. Raises ValueError for a problem with a
    projection or a target of its own, which has no powers.

    >>> from fsl_num.model import Model
    >>> model = Regression(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0))
    >>> law = asymptotic_of_steps(model, np.full(10**4, 0.3), np.full(10**4, 0.3), np.array([10**4]))
    >>> bool(0.3 * math.pi**2 / 12 < law[0] < 0.6)
    True
    """
    if problem.projection is not None or problem.target is not None:
        raise ValueError("the asymptotic law is that of power-law modes: a projection or another target has none")
    assert problem.features is not None
    powers = SharpPowers(problem.model.s, problem.model.beta, problem.model.size, problem.features)
    ends = np.concatenate([[0.0], np.cumsum(lengths)])
    x, w = legendre_rule(3)
    inside = ends[:-1, None] + 0.5 * (x + 1.0) * lengths[:, None]
    driven = gammas * (powers.signal(inside) @ (0.5 * w) + problem.model.noise)
    integral = powers.kernel_integral(max(float(ends[-1]), 1e-300))
    risks = powers.approximation + powers.signal(ends[recorded])
    rows = max(1, _AT_ONCE // ends.size)
    for low in range(0, recorded.size, rows):
        some = recorded[low : low + rows]
        upto = int(some[-1])
        passed = integral(np.maximum(np.subtract.outer(ends[some], ends[: upto + 1]), 0.0))
        risks[low : low + rows] += (passed[:, :-1] - passed[:, 1:]) @ driven[:upto]
    return np.asarray(risks)
