r"""The Volterra equation of the loss, as data.

    f(t) = delta_M + e_M(t) + int_0^t K_M(t - z) gamma(z) (f(z) + sigma^2) dz

(equation labelled eqn: volterra-equation of the paper, with equality: the hypercontractivity constants both set to 1).
f = 2 E is the unknown, E = risk - sigma^2/2 the excess risk that users are given.

A second closure keeps what the first drops, the noise that a mode's own error feeds into that mode. For Gaussian
features the second moments m_j of the intrinsic-time SDE are exactly

    m_j' = -2 lambda_j m_j + gamma(t) (lambda_j (f + sigma^2) + lambda_j^2 m_j),    f = delta_M + sum_j lambda_j m_j.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from fsl_num.model import Model
from fsl_num.schedules import Constant, Schedule
from fsl_num.spectrum import exponential_sum
from fsl_num.validation import (
    Array,
    context_of_digits,
    entries,
    finite_array,
    instance_of,
    one_of,
    positive,
    real_number,
)

CLOSURES = ("volterra", "gaussian")

_DIRECT = 1000  # modes of an infinite model that the stability number sums one by one


class UnstableProblemError(ValueError):
    """The learning rate is so large that the solution grows: gamma_max tr(H)/2 >= 1.

    >>> unstable = Problem(Model(0.5, 2.0, 10, 1.0), gamma=2.0, horizon=9.0)
    >>> unstable.require_stable()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    fsl_num.volterra.problem.UnstableProblemError: gamma_max tr(H)/2 = 1.54977 must be below 1 ...
    """


@dataclass(frozen=True)
class Problem:
    """One instance of the equation.

    ``model``: a :class:`~fsl_num.model.Model`. ``gamma``: a :class:`~fsl_num.schedules.Schedule`, or a number, or a
    function that maps an array of intrinsic times to the array of gamma(t) >= 0. ``horizon``: the last intrinsic time;
    by default the schedule's own, needed otherwise. ``breaks``: intrinsic times where a function gamma is not smooth
    (jumps and kinks, taken as exact; a schedule knows its own). ``closure``: "volterra" (the equation of the paper) or
    "gaussian" (the exact second moments above).

    A Fraction given for gamma is kept in ``exact``, as those of the model are, for methods with a chosen number of
    digits (:meth:`number`); a float stands for its binary value.

    >>> model = Model(s=0.5, beta=2.0, size=100, noise=1.0)
    >>> Problem(model, gamma=0.1, horizon=50.0).stability < 1
    True
    >>> problem = Problem(model, gamma=lambda t: 0.2 * np.exp(-t), horizon=1.0)
    >>> problem.gamma_on(np.array([0.0, 1.0]), np.array([1.0, 0.0])).round(4).tolist()
    [0.2, 0.0736]
    >>> problem.require_stable()  # passes
    >>> import mpmath
    >>> Problem(model, gamma=Fraction(1, 3), horizon=1.0).number("gamma", mpmath.mp) == mpmath.mpf(1) / 3
    True
    """

    model: Model
    _: KW_ONLY
    gamma: Schedule | float | Callable[[Array], Any]
    horizon: float | None = None
    breaks: tuple[float, ...] = ()
    closure: str = "volterra"
    exact: Mapping[str, Fraction] = field(default_factory=dict, repr=False, hash=False)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        if not isinstance(self.model, Model):
            raise TypeError(f"model must be a Model(s, beta, size, noise), got {type(self.model).__name__}")
        one_of("closure", self.closure, CLOSURES)
        instance_of("exact", self.exact, Mapping)
        # What was kept exactly is forgotten where dataclasses.replace changed the number.
        kept = {name: value for name, value in self.exact.items() if float(value) == self.gamma}
        set_field(self, "exact", kept | ({"gamma": self.gamma} if isinstance(self.gamma, Fraction) else {}))
        if not isinstance(self.gamma, Schedule):
            if not callable(self.gamma):
                set_field(self, "gamma", positive("gamma", self.gamma, zero=True))
            if self.horizon is None:
                raise ValueError("horizon is needed (the last intrinsic time) unless gamma is a schedule")
        if isinstance(self.gamma, Schedule):
            total = self.gamma.total_intrinsic_time
            horizon = total if self.horizon is None else positive("horizon", self.horizon)
            if horizon > total * (1 + 1e-12):
                raise ValueError(f"horizon must be at most the schedule's intrinsic time {total!r}, got {horizon!r}")
            set_field(self, "horizon", min(horizon, total))
            set_field(self, "breaks", tuple(b for b in self.gamma.breaks if b < self.end))
            return
        set_field(self, "horizon", positive("horizon", self.horizon))
        cuts = sorted({real_number("breaks", cut) for cut in entries("breaks", self.breaks)})
        if cuts and not (cuts[0] > 0.0 and cuts[-1] < self.end):
            raise ValueError(f"breaks must lie strictly inside (0, horizon={self.end!r}), got {cuts}")
        set_field(self, "breaks", tuple(cuts))

    def number(self, name: str, mp: Any) -> Any:
        """Return s, beta, noise or a constant gamma as mpf of the context ``mp`` (mpmath.mp): just as given."""
        if one_of("name", name, ("s", "beta", "noise", "gamma")) != "gamma":
            return self.model.number(name, mp)
        context_of_digits("mp", mp)
        return mp.convert(self.exact[name]) if name in self.exact else mp.mpf(self.peak_gamma)

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
        t, remaining = finite_array("t", t), finite_array("remaining", remaining)
        if isinstance(self.gamma, float):
            return np.full_like(t, self.gamma)
        if isinstance(self.gamma, Schedule):
            total = self.gamma.total_intrinsic_time
            left = np.maximum(remaining, 0.0) + (total - self.end)
            return np.asarray(self.gamma.gamma_before_end(left, rounding=np.spacing(total)), dtype=np.float64)
        t = np.clip(t, 0.0, self.end)
        values = np.asarray(self.gamma(t), dtype=np.float64)
        if values.shape != t.shape:
            if values.ndim > 0 and values.shape != (1,):
                raise ValueError(
                    f"gamma must return a number or an array of the shape of the times, {t.shape}, got {values.shape}"
                )
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
        """The largest amount that an injected impulse brings back: below 1 the loss stays bounded.

        For the closure "volterra" gamma_max int_0^inf K_M = gamma_max tr(H_M)/2. For "gaussian" the mode forgets at the
        rate 2 lambda_j - gamma lambda_j^2 only, which gives sum_j gamma_max lambda_j/(2 - gamma_max lambda_j), infinite
        for gamma_max lambda_1 >= 2.
        """
        gamma = self.peak_gamma
        if self.closure == "volterra":
            return 0.5 * gamma * self.model.trace
        model = self.model
        if gamma * model.fastest >= 2.0:
            return math.inf
        if model.spectrum is not None:
            eigenvalues = model.eigenvalues
        else:
            eigenvalues = np.arange(1.0, min(model.size, _DIRECT) + 1.0) ** -model.beta
        total = math.fsum(gamma * eigenvalues / (2.0 - gamma * eigenvalues))
        if model.spectrum is None and model.size > _DIRECT:
            # The rest as the geometric series in gamma lambda/2 < 1000^-beta.
            for k in range(1, 13):
                tail = exponential_sum(k * model.beta, 0.0, model.beta, model.size, start=_DIRECT + 1)
                total += (0.5 * gamma) ** k * tail
        return total

    def require_stable(self) -> None:
        """Raise :class:`UnstableProblemError` where ``stability`` >= 1."""
        number = self.stability
        if number >= 1.0:
            formula = (
                "gamma_max tr(H)/2"
                if self.closure == "volterra"
                else "the sum over j of gamma_max lambda_j/(2 - gamma_max lambda_j)"
            )
            raise UnstableProblemError(
                f"{formula} = {number:.6g} must be below 1 (gamma_max = {self.peak_gamma:.6g}): beyond it the"
                " loss may grow without bound; lower the learning rate, or pass allow_unstable=True to see it"
            )
