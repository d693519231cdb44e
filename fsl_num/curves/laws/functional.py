r"""The functional scaling law itself, its noise kept as a convolution: the law this package recommends.

    L(k) = L0 + A T(k)^-s + B sum_{i<=k} (eta_i/eta_ref)^p [ G(T(k) - T(i-1)) - G(T(k) - T(i)) ],
    G(t) = 1 - (1 + c t)^-gamma.

It is the law of the equation labelled eqn: fsl in physical time with its constants renamed. The bracket is the integral
of the forgetting kernel K(t) = c gamma (1 + c t)^-(1 + gamma), of mass 1, over the intrinsic time of update i, with
gamma = 1 - 1/beta; a constant rate eta would end with the noise B (eta/eta_ref)^p. In the paper p = 1: the noise of
plain stochastic gradient descent on a quadratic loss is proportional to the learning rate. Adaptive, normalised or
clipped updates do not have to obey that (their noise falls more slowly than the rate), so that p is a parameter, which
is identifiable only from two levels of the learning rate. Summed by parts this is the paper's ansatz with the changes
of eta^p in the place of those of eta, and without the shortcut that takes e(t) out of the convolution at the time of a
change.

With ``signal_noise`` the noise has the second source of the functional, the part of the signal that is not yet learnt:
sigma^2 + e(T(i)) with e(t) = t^-s; warmup counts as its end there, where e would be infinite. With ``sizes`` the model
size enters as D M^-(s beta).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fsl_num.curves.laws.base import Bound, Law, Parameter, linear, power
from fsl_num.curves.laws.memory import Memory, changes, mode_rates, power_memory
from fsl_num.curves.laws.shared import (
    FASTEST,
    GAMMA,
    SIGNAL_EXPONENT,
    SPEED,
    memory_bounds,
    memory_starts,
    size_column,
)
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array

AMPLITUDE = Parameter("p", "p", "1", "how the noise grows with the learning rate; 1 in the paper", 0.05, 2.5)


@dataclass(frozen=True)
class FunctionalLaw(Law):
    """The convolution form of the functional scaling law; see the module.

    ``free_amplitude``: p is a parameter (else 1). ``signal_noise``: noise from the signal not yet learnt, coefficient
    E. ``sizes``: the term D M^-(s beta). ``reference_rate``: eta_ref, the learning rate at which B is the noise.

    >>> constant = FunctionalLaw(reference_rate=0.1).predict(
    ...     [0.1] * 1000, {"L0": 2, "A": 0, "B": 0.5, "s": 0.5, "c": 100, "gamma": 1, "p": 1}
    ... )
    >>> bool(abs(constant[-1] - 2.5) < 1e-3)
    True
    """

    free_amplitude: bool = True
    signal_noise: bool = False
    sizes: bool = False
    reference_rate: float = 1e-3

    title: ClassVar[str] = "Functional scaling law, convolution form"
    formula: ClassVar[str] = (
        r"L_0 + A\,T(k)^{-s} + B \sum_{i\le k} (\eta_i/\eta_{\rm ref})^p"
        r" \int_{T(i-1)}^{T(i)} \frac{c\gamma\,dt}{(1 + c(T(k)-t))^{1+\gamma}}"
    )
    source: ClassVar[str] = "eqn: fsl in physical time, constants renamed; p = 1 there"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name in the table of laws."""
        base = "fsl" if self.free_amplitude and not self.signal_noise else "fsl-convolution"
        if self.free_amplitude and self.signal_noise:
            base = "fsl-full"
        elif not self.free_amplitude and not self.signal_noise:
            base = "fsl-simplified"
        return base + ("-sizes" if self.sizes else "")

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters: L0, A, B, [E, D], s, c, gamma, [p, beta]."""
        found = [
            linear("L0", "L_0", "loss that no training of this model removes"),
            linear("A", "A", "signal: the loss still to be learnt at intrinsic time 1"),
            linear("B", "B", f"noise that a constant learning rate of {self.reference_rate:g} leaves"),
        ]
        if self.signal_noise:
            found.append(linear("E", "E", "noise from the signal not yet learnt, at intrinsic time 1"))
        if self.sizes:
            found.append(linear("D", "D", "what a model of one parameter cannot represent"))
        found += [SIGNAL_EXPONENT, SPEED, GAMMA]
        if self.free_amplitude:
            found.append(AMPLITUDE)
        if self.sizes:
            found.append(Parameter("beta", r"\beta", "1", "capacity exponent", 0.01, 20.0, scale="log"))
        return tuple(found)

    def wider(self) -> Law:
        """The law with a free amplitude and noise from the signal: the simpler forms set p = 1 and E = 0."""
        return replace(self, free_amplitude=True, signal_noise=True)

    def lifted(self, law: Law, theta: Array) -> Array:
        """The parameters of a simpler form in this one: p = 1 and E = 0 where it has none.

        >>> simple, full = FunctionalLaw(free_amplitude=False), FunctionalLaw(signal_noise=True)
        >>> full.lifted(simple, np.array([2.0, 0.4, 0.3, 0.5, 60.0, 0.6])).tolist()
        [2.0, 0.4, 0.3, 0.0, 0.5, 60.0, 0.6, 1.0]
        """
        known = {"p": 1.0, "E": 0.0, **dict(zip(law.names, theta, strict=True))}
        if not isinstance(law, FunctionalLaw) or set(known) - {"p", "E"} - set(self.names):
            raise ValueError(f"the law {self.name!r} does not contain the law {law.name!r}")
        return np.array([known[name] for name in self.names])

    @property
    def size_term(self) -> tuple[str, ...]:
        """L0, its coefficient and its exponent."""
        return ("L0", "D", "beta") if self.sizes else ()

    def bounds(self, plans: Sequence[Plan]) -> tuple[Array, Array]:
        """The bounds of the parameters; those of c from the length of the plans and their largest rate."""
        return memory_bounds(self.parameters, plans)

    def start_grid(self, plans: Sequence[Plan]) -> Array:
        """Ten starts: three memory times and shapes, three exponents of the signal."""
        rest = ([0.8] if self.free_amplitude else []) + ([1.0] if self.sizes else [])
        return np.array([[*start, *rest] for start in memory_starts(plans)])

    def bind(self, plans: Sequence[Plan], detail: str = "exact") -> Bound:
        """Return the law on these plans."""
        plans = list(plans)
        mu = mode_rates(plans, FASTEST / min(plan.peak for plan in plans))
        parts = [_Part(self, plan, mu, detail) for plan in plans]
        count = self.linear_count
        size = sum(plan.recorded.size for plan in plans)
        nonlinear = len(self.parameters) - count
        sizes = size_column(plans) if self.sizes else None

        def columns(theta: Array) -> tuple[Array, Array]:
            s, c, gamma = theta[:3]
            p = theta[3] if self.free_amplitude else 1.0
            weights = power_memory(mu, c, gamma)
            x, slopes = np.ones((size, count)), np.zeros((size, nonlinear, count))
            low = 0
            for part in parts:
                rows = slice(low, low + part.size)
                part.fill(x[rows], slopes[rows], s, p, weights)
                low += part.size
            if sizes is not None:
                last = -1
                value, by_exponent = power(sizes, s * theta[-1])
                x[:, last], slopes[:, 0, last], slopes[:, -1, last] = value, by_exponent * theta[-1], by_exponent * s
            return x, slopes

        return Bound(columns, count)


class _Part:
    """The columns of one plan."""

    def __init__(self, law: FunctionalLaw, plan: Plan, mu: Array, detail: str) -> None:
        self.law, self.size = law, plan.recorded.size
        self.log_time = np.log(plan.intrinsic_time)
        past = changes(plan, detail=detail)
        if not law.signal_noise:
            past = past.only(past.of(plan.rates) != 0.0)
        self.memory = Memory(plan.intrinsic_time, past, mu)
        before = np.maximum(past.before, 0)
        with np.errstate(divide="ignore"):  # a rate of 0 makes no noise: exp(p log 0) = 0
            self.after = np.log(plan.rates[past.after] / law.reference_rate)
            logs = np.log(plan.rates[before] / law.reference_rate)
        self.before = np.where(past.before >= 0, logs, -np.inf)
        # the signal of an update is that after it, and that of warmup the one at its end
        floor = np.log(plan.times[min(max(plan.warmup, 1), plan.rates.size)] or plan.intrinsic_time[0])
        with np.errstate(divide="ignore"):
            self.signal_after = np.maximum(np.log(plan.times[past.after + 1]), floor)
            self.signal_before = np.maximum(np.log(plan.times[before + 1]), floor)

    def fill(self, x: Array, slopes: Array, s: float, p: float, weights: Array) -> None:
        """Write the columns of the plan and their derivatives."""
        signal = np.exp(-s * self.log_time)
        x[:, 1], slopes[:, 0, 1] = signal, -signal * self.log_time
        after, before = np.exp(p * self.after), np.exp(p * self.before)
        slope_after = after * np.where(after > 0.0, self.after, 0.0)
        slope_before = before * np.where(before > 0.0, self.before, 0.0)
        sources = [after - before, slope_after - slope_before]
        if self.law.signal_noise:
            e_after, e_before = np.exp(-s * self.signal_after), np.exp(-s * self.signal_before)
            sources += [
                after * e_after - before * e_before,
                slope_after * e_after - slope_before * e_before,
                before * e_before * self.signal_before - after * e_after * self.signal_after,
            ]
        found = self.memory.response(np.stack(sources), weights)
        x[:, 2], slopes[:, 1, 2], slopes[:, 2, 2] = found[:, 0].T
        if self.law.free_amplitude:
            slopes[:, 3, 2] = found[:, 1, 0]
        if self.law.signal_noise:
            x[:, 3], slopes[:, 1, 3], slopes[:, 2, 3] = found[:, 2].T
            slopes[:, 0, 3] = found[:, 4, 0]
            if self.law.free_amplitude:
                slopes[:, 3, 3] = found[:, 3, 0]
