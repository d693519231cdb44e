r"""The functional scaling law itself, its noise kept as a convolution: the law this package recommends.

    L(k) = L0 + A e(T(k)) + B sum_{i<=k} (eta_i/eta_ref)^p [ G(T(k) - T(i-1)) - G(T(k) - T(i)) ],
    e(t) = (1 + c_e t)^-s,    G(t) = 1 - (1 + c t)^-gamma.

It is the law of the equation labelled eqn: fsl in physical time with its constants renamed. The bracket is the integral
of the forgetting kernel K(t) = c gamma (1 + c t)^-(1 + gamma), of mass 1, over the intrinsic time of update i, with
gamma = 1 - 1/beta; a constant rate eta would end with the noise B (eta/eta_ref)^p. Signal and kernel begin to fall
after the times 1/c_e and 1/c, which in the paper are 1, as e and K are defined up to constants: in theory their ratio
is of the order 1, and what is expected of it says so.

In the paper p = 1: the noise of plain stochastic gradient descent on a quadratic loss is proportional to the learning
rate. Adaptive, normalised or clipped updates do not have to obey that (their noise falls more slowly than the rate), so
that p is a parameter, which is identifiable only from two levels of the learning rate. Summed by parts this is the
paper's ansatz with the changes of eta^p in the place of those of eta, with e(t) from the first update on, and without
the shortcut that takes e(t) out of the convolution at the time of a change.

With ``signal_noise`` the noise has the second source of the functional, the part of the signal that is not yet learnt:
sigma^2 + e(T(i)). With ``sizes`` the model size enters as D M^-(s beta). With ``batches`` the noise of update i is
multiplied with (B_i/B_ref)^-q of its batch size B_i: q = 1 in the paper, where rate and batch enter as eta/B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final

import numpy as np

from fsl_num.curves.laws.base import Bound, Law, Parameter, linear, power
from fsl_num.curves.laws.chart import Chart
from fsl_num.curves.laws.memory import Memory, changes, mode_rates, power_memory
from fsl_num.curves.laws.shared import (
    FASTEST,
    GAMMA,
    SIGNAL_EXPONENT,
    SIGNAL_SPEED,
    SPEED,
    memory_bounds,
    memory_starts,
    size_column,
)
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array

AMPLITUDE = Parameter(
    "p", "p", "1", "how the noise grows with the learning rate; 1 in the paper", 0.05, 2.5, scale="log"
)

BATCH_POWER = Parameter(
    "q", "q", "1", "how the noise falls with the batch size; 1 in the paper", 0.02, 5.0, scale="log"
)


@dataclass(frozen=True)
class FunctionalLaw(Law):
    """The convolution form of the functional scaling law; see the module.

    ``free_amplitude``: p is a parameter (else 1). ``signal_noise``: noise from the signal not yet learnt, coefficient
    E. ``sizes``: the term D M^-(s beta). ``batches``: the noise falls with the batch size. ``reference_rate`` and
    ``reference_batch``: eta_ref and B_ref, at which B is the noise. A plan whose batch sizes are all 1, as where none
    is said, is taken at the reference.

    >>> constant = FunctionalLaw(reference_rate=0.1).predict(
    ...     [0.1] * 1000, {"L0": 2, "A": 0, "B": 0.5, "s": 0.5, "c": 100, "gamma": 1, "c_e": 9, "p": 1}
    ... )
    >>> bool(abs(constant[-1] - 2.5) < 1e-3)
    True
    """

    free_amplitude: bool = True
    signal_noise: bool = False
    sizes: bool = False
    reference_rate: float = 1e-3
    batches: bool = False
    reference_batch: float = 1.0

    late: ClassVar[float] = 0.0
    title: ClassVar[str] = "Functional scaling law, convolution form"
    formula: ClassVar[str] = (
        r"L_0 + A\,(1 + c_e T(k))^{-s} + B \sum_{i\le k} (\eta_i/\eta_{\rm ref})^p"
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
        return base + "-sizes" * self.sizes + "-batches" * self.batches

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters: L0, A, B, [E, D], s, c, gamma, c_e, [p, q, beta]."""
        parameters = [
            linear("L0", "L_0", "loss that no training of this model removes"),
            linear("A", "A", "signal: the loss to be learnt at the start"),
            linear("B", "B", f"noise that a constant learning rate of {self.reference_rate:g} leaves"),
        ]
        if self.signal_noise:
            parameters.append(linear("E", "E", "noise from the signal not yet learnt, at the start"))
        if self.sizes:
            parameters.append(linear("D", "D", "what a model of one parameter cannot represent"))
        parameters += [SIGNAL_EXPONENT, SPEED, GAMMA, SIGNAL_SPEED]
        if self.free_amplitude:
            parameters.append(AMPLITUDE)
        if self.batches:
            parameters.append(BATCH_POWER)
        if self.sizes:
            parameters.append(Parameter("beta", r"\beta", "1", "capacity exponent", 0.01, 20.0, scale="log"))
        return tuple(parameters)

    @property
    def size_term(self) -> tuple[str, ...]:
        """L0, its coefficient and its exponent."""
        return ("L0", "D", "beta") if self.sizes else ()

    def bounds(self, plans: Sequence[Plan]) -> tuple[Array, Array]:
        """The bounds of the parameters; those of c and c_e from the length of the plans and their largest rate."""
        return memory_bounds(self.parameters, plans, "c", "c_e")

    def chart(self, plans: Sequence[Plan], level: float = 1.0) -> Chart:
        """The coordinates in which the theory's expectations are independent: :data:`EXPECTED`."""
        return NoiseChart(self, plans, level)

    def start_grid(self, plans: Sequence[Plan]) -> Array:
        """Ten starts: three memory times and shapes, three exponents of the signal."""
        rest = [0.8] * self.free_amplitude + [0.8] * self.batches + [1.0] * self.sizes
        return np.array([[s, c, gamma, 0.5 * c * (1.0 + gamma), *rest] for s, c, gamma in memory_starts(plans)])

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
            p = theta[4] if self.free_amplitude else 1.0
            q = theta[4 + self.free_amplitude] if self.batches else 0.0
            weights = power_memory(mu, c, gamma)
            x, slopes = np.ones((size, count)), np.zeros((size, nonlinear, count))
            low = 0
            for part in parts:
                rows = slice(low, low + part.size)
                part.fill(x[rows], slopes[rows], theta, p, q, weights)
                low += part.size
            if sizes is not None:
                last = -1
                value, by_exponent = power(sizes, s * theta[-1])
                x[:, last], slopes[:, 0, last], slopes[:, -1, last] = value, by_exponent * theta[-1], by_exponent * s
            return x, slopes

        return Bound(columns, count)


EXPECTED: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {
        "p": (float(np.log(0.8)), 0.25),
        "q": (float(np.log(0.8)), 0.5),
        "E": (0.0, 1.5),
        "s": (float(np.log(0.5)), 0.5),
        "gamma": (float(np.log(0.5)), 0.65),
        "c": (float(np.log(150.0)), 1.3),
        "B": (float(np.log(0.08)), 0.75),
        "c_e": (float(np.log(0.5)), 1.0),
    }
)
"""Mean and standard deviation that are expected of the coordinates of :class:`NoiseChart`.

The means are those of the theory where it has one: gamma = 1 - 1/beta about 1/2. Of p theory says 1, and the runs at
hand, all of adaptive updates, say .4 to .85: with .8 runs in which the rate has only begun to fall are forecast better,
and others about as well. Of q theory says 1 as well, and rules of thumb for adaptive updates half of p; no family with
several batch sizes was at hand. Of c_e it says the order of c. The mean of B and the widths were chosen over families
of training runs; where curves determine a coordinate they do not matter.
"""

_SHARES = (-14.0, 3.0)  # of the logarithm of the noise over the loss: from a millionth to twenty times
_RATIOS = (-6.0, 6.0)  # of the logarithm of c_e over c (1 + gamma)
_MOST_SIGNAL = 1e3  # of (E/A)/(B/level)


class NoiseChart(Chart):
    """Coordinates of the functional law that curves determine one by one.

    In the place of B stands the logarithm of the noise that the largest rate leaves after the longest of the plans, as
    a share of ``level``: it stays finite where the memory becomes logarithmic (gamma to 0, B to infinity). In the place
    of c stands the logarithm of c (1 + gamma) T: it stays finite where the memory becomes exponential (gamma to
    infinity, c to 0). In the place of A stands the signal that is left at that time: it stays finite where c_e grows
    without bound. In the place of c_e stands the logarithm of its ratio to c (1 + gamma), the speed of memory at
    first. In the place of E stands (E/A)/(B/level): 0 where the noise does not feel the loss, 1 where it is in
    proportion to it. There is no such noise without a signal, so that it cannot take the signal's place; and the number
    stays the same when all learning rates, or all losses, are measured in other units.

    >>> law = FunctionalLaw(signal_noise=True)
    >>> chart = law.chart([Plan([0.1] * 9)], 3.0)
    >>> theta = np.array([2.0, 0.5, 0.1, 0.02, 0.5, 30.0, 0.6, 20.0, 0.8])
    >>> chart.back(chart.forward(theta)).round(12).tolist() == theta.tolist()
    True
    """

    def __init__(self, law: FunctionalLaw, plans: Sequence[Plan], level: float) -> None:
        super().__init__(law.parameters, *law.bounds(plans))
        place = {name: index for index, name in enumerate(law.names)}
        self.scale, self.noise, self.speed, self.gamma = (place[name] for name in ("A", "B", "c", "gamma"))
        self.signal_speed, self.exponent = place["c_e"], place["s"]
        self.signal, self.power = place.get("E"), place.get("p")
        self.longest = max(float(plan.times[-1]) for plan in plans)
        self.log_peak = float(np.log(max(plan.peak for plan in plans) / law.reference_rate))
        self.level = level
        self.low[self.speed] += np.log(self.longest)
        self.high[self.speed] += np.log(self.longest) + np.log1p(law.parameters[self.gamma].upper)
        self.low[self.noise], self.high[self.noise] = _SHARES
        self.low[self.signal_speed], self.high[self.signal_speed] = _RATIOS
        if self.signal is not None:
            self.high[self.signal] = _MOST_SIGNAL
        for name, (mean, deviation) in EXPECTED.items():
            if name in place:
                self.centre[place[name]], self.width[place[name]] = mean, deviation

    def _remembered(self, speed: float, gamma: float) -> tuple[float, float, float]:
        """1 - (1 + cT)^-gamma and its derivatives by c and gamma."""
        base = float(np.log1p(speed * self.longest))
        lost = float(np.exp(-gamma * base))
        return -float(np.expm1(-gamma * base)), gamma * self.longest * lost / (1 + speed * self.longest), base * lost

    def _slowed(self, theta: Array) -> float:
        """1 + c_e T: the signal that is left at the end of the longest plan is its power -s."""
        return 1.0 + float(theta[self.signal_speed]) * self.longest

    def forward(self, theta: Array) -> Array:
        """Return the coordinates of parameters."""
        u = super().forward(theta)
        power = self.log_peak * (1.0 if self.power is None else theta[self.power])
        kept = self._remembered(theta[self.speed], theta[self.gamma])[0]
        u[self.noise] = np.log(max(theta[self.noise] * kept / self.level, 1e-300)) + power
        u[self.speed] += np.log1p(theta[self.gamma]) + np.log(self.longest)
        u[self.signal_speed] -= u[self.speed] - np.log(self.longest)
        u[self.scale] *= self._slowed(theta) ** -theta[self.exponent]
        if self.signal is not None:
            unit = theta[self.scale] * theta[self.noise] / self.level
            u[self.signal] = min(theta[self.signal] / max(unit, 1e-300), self.high[self.signal])
        return u

    def back(self, u: Array) -> Array:
        """Return the parameters at coordinates."""
        theta = super().back(u)
        theta[self.signal_speed] *= theta[self.speed] / self.longest
        theta[self.speed] /= self.longest * (1.0 + theta[self.gamma])
        theta[self.scale] *= self._slowed(theta) ** theta[self.exponent]
        power = self.log_peak * (1.0 if self.power is None else theta[self.power])
        kept = self._remembered(theta[self.speed], theta[self.gamma])[0]
        theta[self.noise] = self.level * np.exp(u[self.noise] - power) / kept
        if self.signal is not None:
            theta[self.signal] = u[self.signal] * theta[self.scale] * theta[self.noise] / self.level
        return theta

    def slopes(self, u: Array) -> Array:
        """Return d parameter/d coordinate, shape (parameters, coordinates)."""
        theta, slopes = self.back(u), super().slopes(u)
        c, gamma, noise = theta[self.speed], theta[self.gamma], theta[self.noise]
        kept, by_speed, by_gamma = self._remembered(c, gamma)
        slopes[self.speed, self.speed], slopes[self.speed, self.gamma] = c, -c * gamma / (1.0 + gamma)
        slopes[self.signal_speed, [self.signal_speed, self.speed]] = theta[self.signal_speed]
        scale, s, slowed = theta[self.scale], theta[self.exponent], self._slowed(theta)
        slopes[self.scale] = scale * s * self.longest / slowed * slopes[self.signal_speed]
        slopes[self.scale, [self.scale, self.exponent]] = slowed**s, scale * s * np.log(slowed)
        slopes[self.noise] = -noise / kept * (by_speed * slopes[self.speed] + by_gamma * slopes[self.gamma])
        slopes[self.noise, self.noise] = noise
        if self.power is not None:
            slopes[self.noise, self.power] = -noise * self.log_peak * theta[self.power]
        if self.signal is not None:
            share = scale / self.level
            slopes[self.signal] = u[self.signal] * (
                share * slopes[self.noise] + noise / self.level * slopes[self.scale]
            )
            slopes[self.signal, self.signal] = noise * share
        return slopes


class _Part:
    """The columns of one plan."""

    def __init__(self, law: FunctionalLaw, plan: Plan, mu: Array, detail: str) -> None:
        self.law, self.size = law, plan.recorded.size
        self.time = plan.intrinsic_time
        # the rate and the batch size of every update, as logarithms over the references
        batches = law.reference_batch if plan.batches_unsaid or not law.batches else plan.batch_sizes
        smaller = np.broadcast_to(np.log(law.reference_batch / batches), plan.rates.shape)
        with np.errstate(divide="ignore"):  # a rate of 0 makes no noise: exp(p log 0) = 0
            rates = np.log(plan.rates / law.reference_rate)
        past = changes(plan, detail=detail)
        if not law.signal_noise:
            past = past.only((past.of(plan.rates) != 0.0) | (past.of(smaller) != 0.0))
        self.memory = Memory(plan.intrinsic_time, past, mu)
        before = np.maximum(past.before, 0)
        self.rates = rates[past.after], np.where(past.before >= 0, rates[before], -np.inf)
        self.batches = smaller[past.after], smaller[before]
        # those whose exponents are parameters; where there is no noise they do not matter
        self.moving = [self.rates] * law.free_amplitude + [self.batches] * law.batches
        self.moving = [tuple(np.where(np.isfinite(each), each, 0.0) for each in pair) for pair in self.moving]
        # the signal of an update is that after it
        self.after, self.before = plan.times[past.after + 1], plan.times[before + 1]

    def fill(self, x: Array, slopes: Array, theta: Array, p: float, q: float, weights: Array) -> None:
        """Write the columns of the plan and their derivatives."""
        x[:, 1], slopes[:, 0, 1], slopes[:, 3, 1] = _signal(self.time, theta)
        after, before = (
            np.exp(p * rates + q * batches) for rates, batches in zip(self.rates, self.batches, strict=True)
        )
        sources = [after - before, *(after * late - before * early for late, early in self.moving)]
        count = len(sources)
        if self.law.signal_noise:
            signals = list(zip(_signal(self.after, theta), _signal(self.before, theta), strict=True))
            sources += [after * late - before * early for late, early in signals]
            after, before = after * signals[0][0], before * signals[0][1]
            sources += [after * late - before * early for late, early in self.moving]
        responses = self.memory.response(np.stack(sources), weights)
        x[:, 2], slopes[:, 1, 2], slopes[:, 2, 2] = responses[:, 0].T
        slopes[:, 4 : 3 + count, 2] = responses[:, 1:count, 0]
        if self.law.signal_noise:
            x[:, 3], slopes[:, 1, 3], slopes[:, 2, 3] = responses[:, count].T
            slopes[:, 0, 3], slopes[:, 3, 3] = responses[:, count + 1 : count + 3, 0].T
            slopes[:, 4 : 3 + count, 3] = responses[:, count + 3 :, 0]


def _signal(times: Array, theta: Array) -> tuple[Array, Array, Array]:
    """e(t) and its derivatives by s and c_e, the first and the fourth of the nonlinear parameters."""
    s, speed = theta[0], theta[3]
    base = 1.0 + speed * times
    signal = base**-s
    return signal, -signal * np.log(base), -s * signal * times / base
