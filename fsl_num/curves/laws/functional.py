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
sigma^2 + e(T(i)). With ``sizes`` the model size enters as D M^-(s beta).

With ``batches`` a rate counts as eta_i (B_i/B_ref)^r in the intrinsic time T and in p = 1 noise over B_i: with other p
the noise of update i is multiplied with (B_i/B_ref)^-(q (1 - r)). In the paper, of plain stochastic gradient descent,
r = 0 and q = 1: rate and batch enter the noise as eta/B, and the time not at all. Adaptive updates are divided by the
size of noisy gradients, so that larger batches take longer steps, r = 1/2 where the noise dominates: a rate in
proportion to the root of the batch size then keeps the noise.

With ``peaks`` a rate of a run whose largest is P counts as eta_i ((1 + P_ref/P_c)/(1 + P/P_c))^2, in the intrinsic time
and in the noise. In the paper P_c is infinite. Weights grow with the rates at which they are trained, and a step counts
by what it is of them: runs far below P_c differ by their intrinsic times, near it by less, and none makes more of a
step than one of the peak P_c. The exponent 2 is that of a rate over the square of weights that grow with the rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fsl_num.curves.laws.base import Bound, Law, Parameter, linear, power
from fsl_num.curves.laws.chart import Chart
from fsl_num.curves.laws.memory import Changes, Memory, changes, mode_rates, power_memory
from fsl_num.curves.laws.noise_chart import EXPECTED, NoiseChart
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
    size_column,
)
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array

AMPLITUDE = Parameter(
    "p", "p", "1", "how the noise grows with the learning rate; 1 in the paper", 0.05, 2.5, scale="log"
)

BATCH_POWER = Parameter(
    "q", "q", "1", "how the noise falls with the batch size, over 1 - r; 1 in the paper", 0.02, 5.0, scale="log"
)

PLAIN_BATCH_POWER = replace(BATCH_POWER, meaning="how the noise falls with the batch size; 1 in the paper")
"""The same where steps do not lengthen, r = 0."""

BATCH_PACE = Parameter(
    "r", "r", "1", "how steps lengthen with the batch size; 0 in the paper, 1/2 for adaptive updates", -0.5, 0.95
)


@dataclass(frozen=True)
class FunctionalLaw(Law):
    """The convolution form of the functional scaling law; see the module.

    ``free_amplitude``: p is a parameter (else 1). ``signal_noise``: noise from the signal not yet learnt, coefficient
    E. ``sizes``: the term D M^-(s beta). ``batches``: steps and noise depend on the batch size. ``peaks``: steps
    shorten with the largest rate of a run. ``reference_rate``, ``reference_batch`` and ``reference_peak``: eta_ref,
    B_ref and P_ref, at which B is the noise. ``adaptive``: for updates that are divided by the size of gradients, as in
    Adam; else, for plain stochastic gradient descent, r = 0, and p and q are expected to be 1.
    A plan whose batch sizes are all 1, as where none is said, is taken at the reference.

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
    adaptive: bool = True
    peaks: bool = False
    reference_peak: float = 1e-3

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
        if not self.adaptive:
            base = "fsl-sgd"
        return base + "-sizes" * self.sizes + "-batches" * self.batches + "-peaks" * self.peaks

    @property
    def paced(self) -> bool:
        """Whether the steps lengthen with the batch size."""
        return self.batches and self.adaptive

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters: L0, A, B, [E, D], s, c, gamma, c_e, [p, q, r, P_c, beta]."""
        parameters = [
            LIMIT,
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
            parameters += [BATCH_POWER, BATCH_PACE] if self.adaptive else [PLAIN_BATCH_POWER]
        if self.peaks:
            parameters.append(FASTEST_PEAK)
        if self.sizes:
            parameters.append(Parameter("beta", r"\beta", "1", "capacity exponent", 0.01, 20.0, scale="log"))
        return tuple(parameters)

    @property
    def size_term(self) -> tuple[str, ...]:
        """L0, its coefficient and its exponent."""
        return ("L0", "D", "beta") if self.sizes else ()

    def with_peaks(self, largest: float) -> FunctionalLaw:
        """With P_c; the law of plain stochastic gradient descent is returned as it is."""
        return replace(self, peaks=True, reference_peak=largest) if self.adaptive else self

    def bounds(self, plans: Sequence[Plan]) -> tuple[Array, Array]:
        """The bounds of the parameters; those of c and c_e from the length of the plans and their largest rate."""
        low, high = memory_bounds(self.parameters, plans, "c", "c_e")
        if self.peaks:
            place = self.names.index(FASTEST_PEAK.name)
            low[place], high[place] = peak_bounds(self.reference_peak)
        return low, high

    def chart(self, plans: Sequence[Plan], level: float = 1.0) -> Chart:
        """The coordinates in which what theory expects is independent: :class:`NoiseChart`."""
        return NoiseChart(self, plans, level, self.reference_rate, self.adaptive, self.reference_peak)

    def start_grid(self, plans: Sequence[Plan]) -> Array:
        """Ten starts: three memory times and shapes, three exponents of the signal; the rest as is expected of it."""
        p, q, r, peaks = (EXPECTED[name][0] for name in ("p", "q", "r", "P_c"))
        powers = [np.exp(p)] * self.free_amplitude + [np.exp(q)] * self.batches + [r] * self.paced
        powers += [np.exp(peaks) * self.reference_peak] * self.peaks + [1.0] * self.sizes
        return np.array([[s, c, gamma, 0.5 * c * (1.0 + gamma), *powers] for s, c, gamma in memory_starts(plans)])

    def bind(self, plans: Sequence[Plan], detail: str = "exact") -> Bound:
        """Return the law on these plans."""
        plans = list(plans)
        mu = mode_rates(plans, FASTEST / min(plan.peak for plan in plans))
        parts = [_Part(self, plan, mu, detail) for plan in plans]
        count = self.linear_count
        size = sum(plan.recorded.size for plan in plans)
        nonlinear = len(self.parameters) - count
        sizes = size_column(plans) if self.sizes else None

        names = self.names[count:]

        def columns(theta: Array, sloped: bool = True) -> tuple[Array, Array]:
            values = dict(zip(names, theta.tolist(), strict=True))
            powers = values.get("p", 1.0), values.get("q", 0.0), values.get("r", 0.0), values.get("P_c", np.inf)
            weights = power_memory(mu, theta[1], theta[2])
            x, slopes = np.ones((size, count)), np.zeros((size if sloped else 0, nonlinear, count))
            low = 0
            for part in parts:
                rows = slice(low, low + part.size)
                part.fill(x[rows], slopes[rows] if sloped else None, theta, powers, weights)
                low += part.size
            if sizes is not None:
                last = -1
                s = theta[0]
                value, by_exponent = power(sizes, s * theta[-1])
                x[:, last] = value
                if sloped:
                    slopes[:, 0, last], slopes[:, -1, last] = by_exponent * theta[-1], by_exponent * s
            return x, slopes

        return Bound(columns, count, lambda theta: columns(theta, sloped=False)[0])


@dataclass(frozen=True)
class _Clock:
    """The intrinsic time of a plan, in which larger batches may take longer steps, and its derivative by r.

    ``recorded``, ``after``, ``before``: at the recorded steps, and after the updates at the end of every group of
    changes and right before it: the time, and its derivative. ``slower``: the derivative at the changes.
    """

    recorded: tuple[Array, Array]
    after: tuple[Array, Array]
    before: tuple[Array, Array]
    slower: Array
    memory: Memory

    @staticmethod
    def of(plan: Plan, past: Changes, mu: Array, larger: Array | None = None, r: float = 0.0) -> _Clock:
        """``larger``: of every update the logarithm of its batch size over the reference; None where it is 0."""
        times, by_r, changed = plan.times, np.zeros(plan.times.size), past
        if larger is not None:
            steps = plan.rates * np.exp(r * larger)
            times, by_r = (np.append(0.0, np.cumsum(lengths)) for lengths in (steps, steps * larger))
            changed = replace(past, time=np.interp(past.time, plan.times, times))
        after, before = past.after + 1, np.maximum(past.before, 0) + 1
        recorded, last, first = ((times[updates], by_r[updates]) for updates in (plan.recorded, after, before))
        slower = np.interp(past.time, plan.times, by_r)
        return _Clock(recorded, last, first, slower, Memory(recorded[0], changed, mu))

    def moved(self, sources: Array, weights: Array, mu: Array) -> Array:
        """The derivatives by r, through the time, of responses to sources, shape (recorded, channels)."""
        pulled = self.memory.held(np.concatenate([sources, sources * self.slower]), (weights * mu)[None])[:, :, 0]
        count = len(sources)
        return np.asarray(self.recorded[1][:, None] * pulled[:, :count] - pulled[:, count:])


@dataclass(frozen=True)
class _Batches:
    """Of the updates from every group of changes to the next: two batch sizes that stand for theirs.

    ``values``: logarithms over the reference, ``shares`` of the intrinsic time, both of shape (2, groups): the two have
    the mean, the variance and the skewness of all, and lie between the smallest and the largest (they are the nodes of
    a Gauss rule). Batch sizes that change at every update, as where tokens are counted, are so taken as a whole.
    """

    values: Array
    shares: Array

    @staticmethod
    def of(plan: Plan, past: Changes, larger: Array) -> _Batches:
        """``larger``: of every update the logarithm of its batch size over the reference."""
        if past.position.size == 0:
            return _Batches(np.zeros((2, 0)), np.zeros((2, 0)))
        first, end = np.ceil(past.position).astype(np.int64), int(plan.recorded[-1])
        rates, larger = plan.rates[:end] / plan.peak, larger[:end]
        time = np.add.reduceat(rates, first)

        def mean(values: Array) -> Array:
            """Over the intrinsic time; 0 where no time passes, and so no noise comes."""
            return np.asarray(np.add.reduceat(rates * values, first) / np.where(time > 0.0, time, np.inf))

        middle, count = mean(larger), np.diff(np.append(first, end))
        off = larger - np.concatenate([np.zeros(first[0]), np.repeat(middle, count)])
        spread = np.sqrt(mean(off**2))
        lean = 0.5 * mean(off**3) / np.where(spread > 0.0, spread, np.inf) ** 3
        reach = np.hypot(1.0, lean)
        apart = np.stack([lean + reach, lean - reach])
        return _Batches(middle + spread * apart, 0.5 * (1.0 - np.array([[1.0], [-1.0]]) * lean / reach))

    def noise(self, power: float, r: float) -> tuple[Array, Array, Array]:
        """The logarithm of the mean of (B/B_ref)^-power over a time that passes by (B/B_ref)^r, and its derivatives by
        ``power`` and by r."""
        passed, noisy = self._mean(r), self._mean(r - power)
        return noisy[0] - passed[0], -noisy[1], noisy[1] - passed[1]

    def _mean(self, power: float) -> tuple[Array, Array]:
        """The logarithm of the mean of (B/B_ref)^power, and its derivative."""
        logs = power * self.values
        top = logs.max(axis=0)
        parts = self.shares * np.exp(logs - top)
        total = parts.sum(axis=0)
        return top + np.log(total), (parts * self.values).sum(axis=0) / total


class _Part:
    """The columns of one plan."""

    def __init__(self, law: FunctionalLaw, plan: Plan, mu: Array, detail: str) -> None:
        self.law, self.plan, self.mu, self.size = law, plan, mu, plan.recorded.size
        # the rate and the batch size of every update, as logarithms over the references
        batches = law.reference_batch if plan.batches_unsaid or not law.batches else plan.batch_sizes
        larger = np.broadcast_to(np.log(batches / law.reference_batch), plan.rates.shape)
        with np.errstate(divide="ignore"):  # a rate of 0 makes no noise: exp(p log 0) = 0
            rates = np.log(plan.rates / law.reference_rate)
        past = changes(plan, detail=detail)
        if not law.signal_noise:
            moves = np.cumsum(np.diff(larger, prepend=larger[:1]) != 0.0)  # how often the batch size has changed
            past = past.only((past.of(plan.rates) != 0.0) | (past.of(moves) != 0.0))
        before = np.maximum(past.before, 0)
        self.past, self.larger = past, larger if larger.any() else None
        self.other_peak = law.peaks and plan.peak != law.reference_peak
        self.rates = rates[past.after], np.where(past.before >= 0, rates[before], -np.inf)
        self.batches = None if self.larger is None else _Batches.of(plan, past, larger)
        self.none = np.zeros(past.after.size)  # where all batches are the reference
        # where there is no noise the logarithms do not matter
        self.finite = tuple(np.where(np.isfinite(rates), rates, 0.0) for rates in self.rates)
        self.clock = _Clock.of(plan, past, mu)

    def fill(
        self, x: Array, slopes: Array | None, theta: Array, powers: tuple[float, float, float, float], weights: Array
    ) -> None:
        """Write the columns, and slopes where they have a place; ``powers``: p, q, r, P_c; ``weights``: of memory."""
        p, q, r, fastest = powers
        shorter, by_peak = 0.0, 0.0
        if self.other_peak:  # shorter steps: a slower signal and memory, and the noise of smaller rates
            shorter, by_peak = shortened(self.plan.peak, fastest, self.law.reference_peak)
            pace, theta = np.exp(-shorter), theta.copy()
            theta[[1, 3]] *= pace
            weights = power_memory(self.mu, theta[1], theta[2])
        paced = self.law.paced and self.larger is not None  # else time passes by the rates alone, whatever r
        clock = _Clock.of(self.plan, self.past, self.mu, self.larger, r) if paced else self.clock
        sloped = slopes is not None
        x[:, 1], *by_signal = _signal(clock.recorded[0], theta, sloped)
        batches, by_power, by_pace = self.batches.noise(q * (1.0 - r), r) if self.batches else 3 * (self.none,)
        noise = [np.exp(p * (rate - shorter) + batch) for rate, batch in zip(self.rates, _around(batches), strict=True)]
        ends = (clock.after, clock.before)[: 2 * self.law.signal_noise]
        signals = [_signal(times, theta, sloped) for times, _ in ends]
        left = [weight * signal[0] for weight, signal in zip(noise, signals, strict=False)]
        if slopes is None:
            changes = [_change(factors) for factors in (noise, left) if factors]
            responses = clock.memory.response(np.stack(changes), weights[:1])
            x[:, 2 : 3 + self.law.signal_noise] = responses[:, :, 0]
            return
        slopes[:, 0, 1], slopes[:, 3, 1], by_time = by_signal
        # what moves the logarithm of the noise of an update
        moving = [(self.finite[0] - shorter, self.finite[1] - shorter)] * self.law.free_amplitude
        if self.law.batches:
            by_q, by_r = (1.0 - r) * by_power, by_pace - q * by_power
            moving += [_around(derivative) for derivative in (by_q, by_r)[: 1 + self.law.paced]]
        free = slice(4, 4 + len(moving))
        sources = [_change(noise), *(_change(noise, slope) for slope in moving)]
        if self.law.signal_noise:
            sources += [_change(left), *(_change(noise, [signal[place] for signal in signals]) for place in (1, 2))]
            sources += [_change(left, slope) for slope in moving]
            if self.law.paced:
                later = [signal[3] * by for signal, (_, by) in zip(signals, (clock.after, clock.before), strict=True)]
                sources[-1] = sources[-1] + _change(noise, later)
        responses = clock.memory.response(np.stack(sources), weights)
        count = 1 + len(moving)
        x[:, 2], slopes[:, 1, 2], slopes[:, 2, 2] = responses[:, 0].T
        slopes[:, free, 2] = responses[:, 1:count, 0]
        if self.law.signal_noise:
            x[:, 3], slopes[:, 1, 3], slopes[:, 2, 3] = responses[:, count].T
            slopes[:, 0, 3], slopes[:, 3, 3] = responses[:, count + 1 : count + 3, 0].T
            slopes[:, free, 3] = responses[:, count + 3 :, 0]
        if paced:
            noises = np.stack(sources[::count] if self.law.signal_noise else sources[:1])[:2]
            slopes[:, free.stop - 1, 1] = by_time * clock.recorded[1]
            slopes[:, free.stop - 1, 2 : 2 + len(noises)] += clock.moved(noises, weights[0], self.mu)
        if self.other_peak:
            by_log = slopes[:, [1, 3]] * theta[[1, 3], None]
            slopes[:, [1, 3]] *= pace
            slopes[:, free.stop] = -by_peak * by_log.sum(axis=1)
            slopes[:, free.stop, 2 : 3 + self.law.signal_noise] -= by_peak * p * x[:, 2 : 3 + self.law.signal_noise]


def _around(values: Array) -> tuple[Array, Array]:
    """What holds after every group of changes, and before it."""
    return values, np.concatenate([values[:1], values[:-1]])


def _change(values: Sequence[Array], factors: Sequence[Array | float] = (1.0, 1.0)) -> Array:
    """What comes at the end of each group of changes, less what was there before."""
    return np.asarray(values[0] * factors[0] - values[1] * factors[1])


def _signal(times: Array, theta: Array, sloped: bool) -> tuple[Array, ...]:
    """e(t); ``sloped``: and its derivatives by s and c_e, the first and fourth nonlinear parameters, and by t."""
    s, speed = theta[0], theta[3]
    base = 1.0 + speed * times
    signal = base**-s
    if not sloped:
        return (signal,)
    return signal, -signal * np.log(base), -s * signal * times / base, -s * signal * speed / base
