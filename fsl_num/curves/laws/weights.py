r"""The functional scaling law of weights that grow with the rate, its noise fed by the whole loss.

    L(k) = L0 + f(T(k)),    f(T) = A (1 + c_e T)^-s + int_0^T K(T - t) (a B + h(a) f(t)) dt,
    K(t) = c gamma (1 + c t)^-(1 + gamma),
    h(a) = m a/(1 + m max(a - 1.5, 0)),
    dT = eta/sqrt(w),   a = (eta/(eta_ref sqrt(w)))^p,   dw = x eta (eta/eta_ref - w) an update,   w = 1/2 at first.

It has two terms more than :class:`~fsl_num.curves.laws.functional.FunctionalLaw` without E, which it is for x = 0 and
m = 0, its rates counted sqrt(2) times.

Under weight decay lambda squared weights w relax to a multiple of the rate, over the intrinsic time 1/x = 1/(2 lambda),
and a step counts by what it is of the weights. The unit of w is where the rate eta_ref would keep it.

Noise is in proportion to the whole loss in the paper's Volterra equation, f(t) on both sides: that equation is solved
here, where the functional of the paper expands it once. There h(a) = m a. So it is as far as runs of the reference rate
come; beyond it tends to 1, so that no rate makes the loss grow without bound.

With ``peaks`` rates of a run whose largest is P are shortened by P_c as in the functional law, behind w.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from fsl_num.curves.laws.base import Bound, Law, Parameter, linear
from fsl_num.curves.laws.functional import AMPLITUDE
from fsl_num.curves.laws.memory import changes, mode_rates, power_memory
from fsl_num.curves.laws.noise_chart import EXPECTED
from fsl_num.curves.laws.shared import (
    FASTEST,
    FASTEST_PEAK,
    GAMMA,
    LIMIT,
    SIGNAL_EXPONENT,
    SIGNAL_SPEED,
    SPEED,
    memory_bounds,
    memory_starts,
    peak_bounds,
    shortened,
)
from fsl_num.curves.laws.weights_chart import FOLLOWED, WeightsChart
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array

AT_FIRST: Final = 0.5
"""The squared weights at first, over those that the reference rate would keep."""

LARGE: Final = 1.5
"""Noise, over that of the reference rate, beyond which it feeds less: above what it makes at first for p < 1.17."""

_FEW = 3.0  # of gamma: up to it every other mode, with twice the weight, errs by less than 2e-6
_GROUPS = 256  # followed at a time
_NOTHING = 1e-16  # of the largest weight of a mode
_RANGE = 1e-3, 1e3  # of x, in units of 1/T

_FED = Parameter("m", "m", "1", "the share of the loss, above L0, that noise of the reference rate feeds on", 0.0, 1.0)
_SPEED = Parameter("x", "x", "1/intrinsic time", "how fast squared weights follow the rate", 0.0, np.inf, scale="log")


@dataclass(frozen=True)
class WeightsLaw(Law):
    """The functional law of weights that grow with the rate, its noise fed by the whole loss; see the module.

    ``reference_rate``: eta_ref, and P_ref. ``peaks``: steps shorten with the largest rate of a run. Batch sizes and
    model sizes do not enter.

    >>> given = {"L0": 2, "A": 0, "B": 0.5, "s": 0.5, "c": 100, "gamma": 1, "c_e": 9, "p": 1, "m": 0.5, "x": 2}
    >>> constant = WeightsLaw(reference_rate=0.1).predict([0.1] * 1000, given)
    >>> bool(abs(constant[-1] - (2.0 + 0.5 / (1 - 0.5))) < 1e-2)  # w = 1, a = 1: f = B + f/2
    True
    """

    reference_rate: float = 1e-3
    peaks: bool = False

    late: ClassVar[float] = 0.0
    title: ClassVar[str] = "Functional scaling law of weights that grow with the rate"
    formula: ClassVar[str] = (
        r"L_0 + f(T),\ f(T) = A\,(1 + c_e T)^{-s} + \int_0^T \frac{c\gamma}{(1 + c(T-t))^{1+\gamma}}"
        r"\big(a B + h(a) f(t)\big) dt,\ h = \frac{m a}{1 + m (a - 3/2)^+},"
        r"\ a = (\eta/\eta_{\rm ref}\sqrt{w})^p,\ dT = \eta/\sqrt{w},\ dw = x \eta (\eta/\eta_{\rm ref} - w)"
    )
    source: ClassVar[str] = "the paper's Volterra equation, time and noise by weights that relax to the rate"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name in the table of laws."""
        return "fsl-weights" + "-peaks" * self.peaks

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters: L0, A, B, s, c, gamma, c_e, p, m, x, [P_c]."""
        return (
            LIMIT,
            linear("A", "A", "signal: the loss to be learnt at the start"),
            linear("B", "B", f"noise, not fed by the loss, that a learning rate of {self.reference_rate:g} leaves"),
            SIGNAL_EXPONENT,
            SPEED,
            GAMMA,
            SIGNAL_SPEED,
            AMPLITUDE,
            _FED,
            _SPEED,
            *[FASTEST_PEAK] * self.peaks,
        )

    def with_peaks(self, largest: float) -> WeightsLaw:
        """With P_c, and ``largest`` as the reference of the weights too."""
        return replace(self, peaks=True, reference_rate=largest)

    def bounds(self, plans: Sequence[Plan]) -> tuple[Array, Array]:
        """The bounds of the parameters; those of c, c_e and x from the length of the plans and their largest rate."""
        low, high = memory_bounds(self.parameters, plans, "c", "c_e")
        longest, speed = max(float(plan.times[-1]) for plan in plans), self.names.index("x")
        low[speed], high[speed] = (bound / longest for bound in _RANGE)
        if self.peaks:
            low[-1], high[-1] = peak_bounds(self.reference_rate)
        return low, high

    def chart(self, plans: Sequence[Plan], level: float = 1.0) -> WeightsChart:
        """The coordinates in which what theory expects is independent: :class:`WeightsChart`."""
        return WeightsChart(self, plans, level, self.reference_rate)

    def start_grid(self, plans: Sequence[Plan]) -> Array:
        """Ten starts: those of the functional law, with little noise from the loss; the rest as is expected of it."""
        longest = max(float(plan.times[-1]) for plan in plans)
        expected = [np.exp(EXPECTED["p"][0]), 0.02, np.exp(FOLLOWED[0]) / longest]
        expected += [np.exp(EXPECTED["P_c"][0]) * self.reference_rate] * self.peaks
        return np.array([[s, c, gamma, 0.5 * c * (1.0 + gamma), *expected] for s, c, gamma in memory_starts(plans)])

    def bind(self, plans: Sequence[Plan], detail: str = "exact") -> Bound:
        """Return the law on these plans."""
        plans = list(plans)
        mu = mode_rates(plans, FASTEST / min(plan.peak for plan in plans))
        return _WeightsBound([_Part(self, plan, mu, detail) for plan in plans])


class _WeightsBound(Bound):
    """The law bound to plans; its derivatives are those of the whole loss, not column by column."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        def columns(theta: Array) -> Array:
            x = np.concatenate([part.losses(theta) for part in parts], axis=1)
            return np.column_stack([np.ones(x.shape[1]), *x])

        def sloped(theta: Array) -> tuple[Array, Array]:
            parts_of = [[part.losses(theta, level)[2:] for part in parts] for level in np.eye(2)]
            slopes = np.stack([np.concatenate(group, axis=1).T for group in parts_of], axis=-1)
            return columns(theta), np.concatenate([np.zeros((*slopes.shape[:2], 1)), slopes], axis=-1)

        super().__init__(sloped, 3, columns)
        object.__setattr__(self, "parts", parts)

    def __call__(self, theta: Array) -> tuple[Array, Array]:
        rows = np.concatenate([part.losses(theta[3:], theta[1:3]) for part in self.parts], axis=1)
        return theta[0] + theta[1:3] @ rows[:2], np.column_stack([np.ones(rows.shape[1]), *rows])

    parts: Sequence[_Part]


class _Part:
    """The losses of one plan."""

    def __init__(self, law: WeightsLaw, plan: Plan, mu: Array, detail: str) -> None:
        self.mu, self.peak, self.reference, self.peaks = mu, plan.peak, law.reference_rate, law.peaks
        past = changes(plan, detail=detail)
        starts, stops = past.before + 1, past.after + 1
        self.lengths = plan.times[stops] - plan.times[starts]  # of the groups, as rates count by themselves
        passed = self.lengths > 0.0
        early = past.time - plan.times[starts]
        self.early = np.divide(early, self.lengths, out=np.zeros(early.size), where=passed)  # the share before a change
        self.means = self.lengths / (stops - starts) / law.reference_rate
        with np.errstate(divide="ignore"):  # a rate of 0 makes no noise: exp(p log 0) = 0
            self.rates = np.log(plan.rates[past.after] / law.reference_rate)
        self.rows = past.seen - 1  # the group that ends with the row

    def losses(self, theta: Array, level: Array | None = None) -> Array:
        """The losses over A and over B, shape (2, recorded); with ``level``, A and B, also the derivatives of their sum
        by the nonlinear parameters, shape (2 + nonlinear, recorded)."""
        from fsl_num.curves.laws.weights_kernel import advance, relaxed

        s, c, gamma, c_e, p, m, x = theta[:7]
        shorter, by_peak = 0.0, 0.0
        if self.peaks and self.peak != self.reference:
            shorter, by_peak = shortened(self.peak, theta[7], self.reference)
        pace = np.exp(-shorter)
        c, c_e = c * pace, c_e * pace
        every = 2 if gamma <= _FEW else 1
        mu = self.mu[::every]
        memory = every * power_memory(mu, c, gamma)
        large = np.abs(memory) >= _NOTHING * np.abs(memory).max(axis=1, keepdims=True)
        modes = slice(int(np.flatnonzero(large.any(axis=0))[-1]) + 1)  # faster ones than these weigh nothing
        memory, mu = np.ascontiguousarray(memory[:, modes]), mu[modes]

        (end, end_by_x), (mean, mean_by_x) = relaxed(self.lengths, self.means, x, AT_FIRST)
        steps = self.lengths / np.sqrt(mean)
        slower = -0.5 * mean_by_x / mean * steps
        time, time_by_x = np.cumsum(steps), np.cumsum(slower)
        clock = np.stack([time_by_x - slower * (1.0 - self.early), time_by_x])
        rates = self.rates - 0.5 * np.log(end) - shorter
        noise = np.exp(p * rates)
        beyond = 1.0 + m * np.maximum(noise - LARGE, 0.0)
        by_noise = np.where(noise > LARGE, m * (1.0 - LARGE * m), m)
        fed = np.stack([m * noise, by_noise / beyond, noise / beyond]) / beyond
        base = 1.0 + c_e * time
        signal = base**-s
        sources, moved = (np.zeros((2 if level is None else 9 + self.peaks, noise.size)) for _ in range(2))
        sources[0] = signal
        if level is not None:
            falls = -s * level[0] * signal / base
            sources[2], sources[5] = -level[0] * signal * np.log(base), falls * time
            sources[8], moved[8] = falls * c_e * time_by_x, -0.5 * p * noise * end_by_x / end
            moved[9:] = -by_peak * p * noise
            moved[6] = noise * np.where(np.isfinite(rates), rates, 0.0)
        states, sums = np.zeros((len(sources) + 1, mu.size)), np.zeros((2, len(sources)))
        losses, weight = np.empty_like(sources), np.zeros(2) if level is None else np.array(level, dtype=np.float64)
        for first in range(0, noise.size, _GROUPS):
            part = slice(first, first + _GROUPS)
            early, late = (np.exp(-(share * steps)[part, None] * mu) for share in (self.early, 1.0 - self.early))
            advance(early, late, noise, fed, sources, moved, clock, memory, mu, weight, states, sums, first, losses)
        losses = losses[:, self.rows]
        if level is None:
            return losses
        losses[9:] -= by_peak * (c * losses[3] + c_e * losses[5])
        losses[[3, 5]] *= pace
        return losses
