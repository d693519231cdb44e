r"""The Volterra equation of the loss, as data.

    f(t) = delta_M + e_M(t) + int_0^t K_M(t - z) gamma(z) (f(z) + sigma^2) dz

(equation labelled eqn: volterra-equation of the paper, with equality: the hypercontractivity constants both set to 1).
Everywhere in this package f is TWICE the excess risk: f = 2 E, E = risk - sigma^2/2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.schedules import Constant, Schedule
from fsl_num.spectrum import approximation_error, signal, trace
from fsl_num.validation import Array, capacity_exponent, positive, real_number, whole_size


class UnstableProblemError(ValueError):
    """The learning rate is so large that the solution grows: gamma_max tr(H)/2 >= 1."""


@dataclass(frozen=True)
class Problem:
    """One instance of the equation.

    ``s`` > 0, ``beta`` > 1, ``model_size`` M (whole or inf), ``noise`` sigma^2 >= 0. ``gamma``: a
    :class:`~fsl_num.schedules.Schedule`, or a number, or a function that maps an array of intrinsic times to the
    array of gamma(t) >= 0. ``horizon``: the last intrinsic time; by default the schedule's own, needed otherwise.
    ``breaks``: intrinsic times where a function gamma is not smooth (jumps and kinks; a schedule knows its own).

    >>> Problem(s=0.5, beta=2.0, model_size=100, noise=1.0, gamma=0.1, horizon=50.0).stability < 1
    True
    """

    s: float
    beta: float
    model_size: float
    noise: float
    gamma: Schedule | float | Callable[[Array], Any]
    horizon: float | None = None
    breaks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "s", positive("s", self.s))
        set_field(self, "beta", capacity_exponent(self.beta))
        set_field(self, "model_size", whole_size("model_size", self.model_size))
        set_field(self, "noise", positive("noise", self.noise, zero=True))
        if isinstance(self.gamma, Schedule):
            total = self.gamma.total_intrinsic_time
            horizon = total if self.horizon is None else positive("horizon", self.horizon)
            if horizon > total * (1 + 1e-12):
                raise ValueError(f"horizon must be at most the schedule's intrinsic time {total!r}, got {horizon!r}")
            set_field(self, "horizon", min(horizon, total))
            set_field(self, "breaks", tuple(b for b in self.gamma.breaks if b < self.end))
            return
        if not callable(self.gamma):
            set_field(self, "gamma", positive("gamma", self.gamma, zero=True))
        if self.horizon is None:
            raise ValueError("horizon is needed (the last intrinsic time) unless gamma is a schedule")
        set_field(self, "horizon", positive("horizon", self.horizon))
        cuts = sorted({real_number("breaks", cut) for cut in self.breaks})
        if cuts and not (cuts[0] > 0.0 and cuts[-1] < self.end):
            raise ValueError(f"breaks must lie strictly inside (0, horizon={self.end!r}), got {cuts}")
        set_field(self, "breaks", tuple(cuts))

    @property
    def end(self) -> float:
        """The last intrinsic time, as a float."""
        assert self.horizon is not None
        return self.horizon

    @property
    def is_constant(self) -> bool:
        """Whether gamma is known to be one number."""
        return isinstance(self.gamma, (float, Constant))

    def gamma_on(self, t: Array, remaining: Array) -> Array:
        """Return gamma at the times ``t``, given also as ``remaining`` = end - t, which is what a schedule resolves."""
        if isinstance(self.gamma, float):
            return np.full_like(t, self.gamma)
        if isinstance(self.gamma, Schedule):
            late = self.gamma.total_intrinsic_time - self.end
            return np.asarray(self.gamma.gamma_before_end(np.maximum(remaining, 0.0) + late), dtype=np.float64)
        t = np.clip(t, 0.0, self.end)
        values = np.asarray(self.gamma(t), dtype=np.float64)
        if values.shape != t.shape:
            values = np.broadcast_to(values, t.shape)
        if not (np.isfinite(values).all() and (values >= 0).all()):
            bad = t[~(np.isfinite(values) & (values >= 0))][0]
            raise ValueError(f"gamma must be finite and at least 0 on [0, horizon], which fails at t = {float(bad)!r}")
        return values

    @property
    def peak_gamma(self) -> float:
        """The largest gamma: exact for numbers and schedules, the largest of 4001 samples for a function."""
        if isinstance(self.gamma, float):
            return self.gamma
        if isinstance(self.gamma, Schedule):
            return self.gamma.peak / self.gamma.batch_size
        cuts = np.array([0.0, *self.breaks, self.end])
        shares = np.linspace(0.0, 1.0, 4001)[:, None]
        t = (cuts[:-1] + np.diff(cuts) * shares).ravel()
        return float(self.gamma_on(t, self.end - t).max())

    @property
    def stability(self) -> float:
        """gamma_max tr(H_M)/2 = gamma_max int_0^inf K_M: below 1 the loss stays bounded."""
        return 0.5 * self.peak_gamma * trace(self.beta, self.model_size)

    def require_stable(self) -> None:
        """Raise :class:`UnstableProblemError` where ``stability`` >= 1."""
        number = self.stability
        if number >= 1.0:
            raise UnstableProblemError(
                f"gamma_max tr(H)/2 = {number:.6g} must be below 1 (gamma_max = {self.peak_gamma:.6g}): beyond it the"
                " loss may grow without bound; lower the learning rate, or pass allow_unstable=True to see it"
            )

    def forcing(self, t: Array) -> Array:
        """Return delta_M + e_M(t), the loss of noiseless full-batch training."""
        return np.asarray(self.approximation + signal(t, self.s, self.beta, self.model_size))

    @property
    def approximation(self) -> float:
        """delta_M, the part that no training removes."""
        return float(approximation_error(self.s, self.beta, self.model_size))
