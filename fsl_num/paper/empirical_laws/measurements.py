"""The noise functional under the power kernel, measured: over the steps, over intrinsic time, and along rays.

Nothing here knows integration by parts, Abel summation, or the closed form of the kernel's integral.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Sharp
from fsl_num.claims.words import Where
from fsl_num.functional import integrate_graded
from fsl_num.gauss_rules import legendre_rule
from fsl_num.paper.empirical_laws.loops import Function, gauss, power_kernel, step_noise
from fsl_num.paper.hypotheses import SCHEDULES
from fsl_num.schedules import Schedule, schedule, step_rates
from fsl_num.validation import Array

Curve = Callable[[Array], Array]
PEAK = 0.3
SCALE = 0.7
"""c of the power kernel: no special value."""
SMOOTH = ("constant", "cosine", "linear", "exp-decay", "wsd")
STEPWISE = ("constant", "cosine", "wsd", "8-1-1", "cyclic")
NOISES = (0.0, 9.0)
"""sigma^2: none, and that of the paper's experiments."""
RTOL = 1e-11
LOG10 = math.log(10.0)
WHOLE = 200.0
DECADES = np.linspace(2.0, 40.0, 20)
FITTED_STEPS = 33907.0
"""Training steps of the paper's experiment."""
Measured = list[tuple[Any, float]]
Value = Callable[[Any], float]
STEPPED = SCHEDULES(*STEPWISE[1:])
ALL_STEPWISE, ALL_SMOOTH = SCHEDULES(*STEPWISE), SCHEDULES(*SMOOTH)
LINEAR_WSD = SCHEDULES("linear-wsd")
LONG = 120
"""Steps of the schedules on which laws are compared with their loops."""
ONE_PASS = 1e-9
"""The one-pass laws sum powers as exponentials to 1e-11, and the double sums of the loops round at 1e-13."""
SIGNAL = 0.7
"""A, c_1: the signal after a unit of intrinsic time, in the definitions."""
QUADRATURE = 1e-8
"""Quadratures are asked for 1e-11; differences of them lose at most two digits and a derivative by differences one."""
STEPS = 400.0


def decay_kernel(beta: float) -> Curve:
    """K(x) = (1 + c x)^-(2 - 1/beta)."""
    return lambda x: (1.0 + SCALE * x) ** -(2.0 - 1.0 / beta)


def noise_source(s: float, noise: float) -> Curve:
    """g(t) = sigma^2 + (1 + t)^-s."""
    return lambda t: noise + (1.0 + t) ** -s


POWERS = Where(
    "K(t) = (1 + c t)^-(2 - 1/beta); e(t) = (1 + t)^-s",
    lambda sample: {"K": decay_kernel(sample.point[1]), "e": noise_source(sample.point[0], 0.0), "c": SCALE},
)


def plan(name: str, steps: float) -> Schedule:
    """The schedule of that name, from the peak down to a tenth of it."""
    ends = {} if name == "constant" else {"final": 0.1 * PEAK}
    if name == "wsd":
        ends["decay_fraction"] = 0.2
    return schedule(name, peak=PEAK, steps=steps, batch_size=4.0, **ends)


def integral(function: Curve, low: float, high: float, breaks: Sequence[float] = ()) -> float:
    """The integral over [low, high]; the function may bend at both ends and at the breaks."""
    cuts = [low, *sorted(cut for cut in breaks if low < cut < high), high]
    total = 0.0
    for start, stop in zip(cuts, cuts[1:], strict=False):
        half = 0.5 * (stop - start)
        if half > 0.0:
            total += integrate_graded(lambda x, a=start: function(a + x), half, rtol=RTOL).value  # type: ignore[misc]
            total += integrate_graded(lambda x, b=stop: function(b - x), half, rtol=RTOL).value  # type: ignore[misc]
    return total


def over_intrinsic_time(schedule: Schedule, beta: float, gain: Curve) -> float:
    """int_0^T K(T - t) g(t) gamma(t) dt."""
    whole = schedule.total_intrinsic_time
    return integral(lambda t: decay_kernel(beta)(whole - t) * gain(t) * schedule.gamma(t), 0.0, whole, schedule.breaks)


def over_steps(schedule: Schedule, beta: float, gain: Curve, *, power: int = 2, weight: Curve | None = None) -> float:
    """int_0^K K(T(K) - T(u)) g(T(u)) phi(u)^power weight(u) du/b."""
    whole = schedule.total_intrinsic_time

    def integrand(u: Array) -> Array:
        time = schedule.intrinsic_time(u)
        noise = decay_kernel(beta)(whole - time) * gain(time) * schedule.learning_rate(u) ** power / schedule.batch_size
        return np.asarray(noise if weight is None else noise * weight(u))

    return integral(integrand, 0.0, schedule.steps, schedule.physical_breaks)


def reduction_as_defined(schedule: Schedule, beta: float, gain: Curve) -> float:
    """-(1/B) int_0^K K(T(K) - T(u)) g(T(u)) phi(u) (phi(u) - phi(0)) du, the first line of the reduction by decay."""
    return -over_steps(schedule, beta, gain, power=1, weight=lambda u: schedule.learning_rate(u) - schedule.peak)


def reduction_by_parts(
    schedule: Schedule, beta: float, gain: Curve, *, from_zero: bool = False, slope_power: int = 1
) -> float:
    """-(1/B) int_0^K phi'(r) int_{T(r)}^{T(K)} K(T(K) - t) g(t) dt dr, by differences of phi on a fine grid.

    Gauss's rule needs phi' nowhere: dphi is integrated over panels of r, in which the inner integral is smooth.
    ``from_zero`` starts the inner integral at 0, ``slope_power`` 2 multiplies by phi: wrong versions.
    """
    whole = schedule.total_intrinsic_time
    nodes, weights = legendre_rule(12)
    edges = _graded_edges(schedule)
    total, inner = 0.0, 0.0
    for low, high in zip(edges[-2::-1], edges[:0:-1], strict=True):
        times = schedule.intrinsic_time(np.array([low, high]))
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        places = middle + half * nodes
        ends = schedule.intrinsic_time(places)
        inside = _panels(decay_kernel(beta), gain, whole, ends, times[1])
        if from_zero:
            inside = _panels(decay_kernel(beta), gain, whole, np.zeros_like(ends), whole) - inner
        slope = _slope(schedule, places)
        if slope_power == 2:
            slope = slope * schedule.learning_rate(places)
        total -= half * float(weights @ (slope * (inside + inner)))
        inner += float(_panels(decay_kernel(beta), gain, whole, times[:1], times[1])[0])
    return total / schedule.batch_size


def _graded_edges(schedule: Schedule) -> Array:
    """Panels of one step at both ends, where kernel and signal vary over a few steps, and longer ones between."""
    near = np.concatenate([[0.0], np.geomspace(1.0, 0.5 * schedule.steps, 14)])
    return np.unique(np.concatenate([near, schedule.steps - near, schedule.physical_breaks]))


def _slope(schedule: Schedule, places: Array) -> Array:
    """phi' by the central difference of fourth order: errors of 1e-10 for schedules smooth over hundreds of steps."""
    step = 1e-3 * np.minimum(1.0, np.minimum(places, schedule.steps - places))
    near = schedule.learning_rate(places + step) - schedule.learning_rate(places - step)
    far = schedule.learning_rate(places + 2 * step) - schedule.learning_rate(places - 2 * step)
    return np.asarray((8.0 * near - far) / (12.0 * step))


def _panels(decay: Curve, gain: Curve, whole: float, lows: Array, high: float) -> Array:
    """The integrals of K(T - t) g(t) from each of ``lows`` to ``high``: 16 nodes on 5 units of time at most, 1e-11."""
    nodes, weights = legendre_rule(16)
    length = high - lows
    cuts = np.linspace(0.0, 1.0, 2 + int(length.max() / 5.0))
    middle, half = 0.5 * (cuts[1:] + cuts[:-1]), 0.5 * np.diff(cuts)
    places = (middle[:, None] + half[:, None] * nodes).ravel()
    t = lows[:, None] + length[:, None] * places
    return np.asarray(length * ((decay(whole - t) * gain(t)) @ np.outer(half, weights).ravel()))


def step_plan(name: str, steps: int) -> list[float]:
    """eta_1 .. eta_K of the schedule of that name."""
    ends = {} if name in ("constant", "8-1-1") else {"final": 0.1 * PEAK}
    return [float(rate) for rate in step_rates(name, peak=PEAK, steps=steps, **ends)]


def _gain(s: float, noise: float, t: float) -> float:
    """sigma^2 + e(t) for plain loops; s = inf leaves the signal out."""
    return noise if math.isinf(s) else noise + float((1.0 + t) ** -s)


def _injected(beta: float, gain: Function, end: float, t: float) -> float:
    return power_kernel(beta, SCALE)(end - t) * gain(t)


@lru_cache(maxsize=64)
def step_measurements(sample: Sample, with_signal: bool) -> tuple[tuple[tuple[str, int, float], float], ...]:
    """((schedule, k, sigma^2), reduction by decay after k steps): noise of eta_0 held, less the noise of the steps."""
    s, beta = sample.point
    differences = []
    decay = power_kernel(beta, SCALE)
    noises = NOISES if with_signal else (1.0,)
    for name in STEPWISE[1:]:
        rates = step_plan(name, 60)
        for k in (52, 60):
            for noise in noises:
                gain = partial(_gain, s if with_signal else math.inf, noise)
                first = PEAK if with_signal else rates[0]  # eta_0 is free; the Multi-Power Law begins with eta_1
                end = sum(rates[:k])
                held = first * gauss(partial(_injected, beta, gain, end), 0.0, end, 200)
                differences.append(((name, k, noise), held - step_noise(rates[:k], decay, gain)))
    return tuple(differences)


def linear_wsd(steps: int) -> Array:
    """The peak for 80 % of the steps, then a straight line to a tenth of it."""
    k = np.arange(1, steps + 1) / steps
    return np.asarray(PEAK * np.interp(k, [0.8, 1.0], [1.0, 0.1]))


def reversed_gone(time: Array, s: float, beta: float, noise: float) -> Array:
    """The integrals of K(T(k) - t) g(t) over [T(i), T(k)], i = 0 .. k, by Gauss's rule in each step."""
    nodes, weights = legendre_rule(8)
    middle, half = 0.5 * (time[1:] + time[:-1]), 0.5 * np.diff(time)
    t = middle[:, None] + half[:, None] * nodes
    parts = half * ((decay_kernel(beta)(time[-1] - t) * noise_source(s, noise)(t)) @ weights)
    return np.concatenate([np.cumsum(parts[::-1])[::-1], [0.0]])


def by_step(values: Sequence[float] | Array, first: int = 1) -> Callable[[int], float]:
    """Values as a function of the step, the first at step ``first``; before it as at it."""
    return lambda step: values[max(int(step) - first, 0)]


def long_rates(name: str) -> list[float]:
    """The rates with which a law is compared with its loop."""
    return step_plan(name, LONG)


def schedules_and_noises() -> list[tuple[str, float]]:
    """Every smooth schedule with every label noise."""
    return [(name, noise) for name in SMOOTH for noise in NOISES]


@lru_cache(maxsize=256)
def named_value(quantity: str, name: str, noise: float, s: float, beta: float) -> float:
    """A quantity by its name: of that schedule over 400 steps, with that label noise."""
    schedule, gain = plan(name, STEPS), noise_source(s, noise)
    whole = schedule.total_intrinsic_time
    at_end = noise + (1.0 + whole) ** -s
    held = integral(lambda t: decay_kernel(beta)(whole - t) * gain(t), 0.0, whole)
    table: dict[str, Callable[[], float]] = {
        "noise over intrinsic time": lambda: over_intrinsic_time(schedule, beta, gain),
        "noise over steps": lambda: over_steps(schedule, beta, gain),
        "rate once": lambda: over_steps(schedule, beta, gain, power=1),
        "rate cubed": lambda: over_steps(schedule, beta, gain, power=3),
        "reduction as defined": lambda: reduction_as_defined(schedule, beta, gain),
        "reduction by parts": lambda: reduction_by_parts(schedule, beta, gain),
        "inner integral from 0": lambda: reduction_by_parts(schedule, beta, gain, from_zero=True),
        "slope times rate": lambda: reduction_by_parts(schedule, beta, gain, slope_power=2),
        "held at the first rate": lambda: schedule.peak * held / schedule.batch_size,
        "first rate over steps": lambda: schedule.peak * over_steps(schedule, beta, gain, power=1),
        "signal at the end over steps": lambda: (
            schedule.peak * at_end * over_steps(schedule, beta, lambda t: np.ones_like(t), power=1)
        ),
        "signal": lambda: whole**-s,
    }
    return table[quantity]()


def measured_at(quantity: str, sample: Sample, points: Sequence[tuple[str, float]] = ()) -> Measured:
    """The quantity of that name at points, a schedule and a label noise each: at all unless some are given."""
    return [(point, named_value(quantity, *point, *sample.point)) for point in points or schedules_and_noises()]


def exactly(terms: Mapping[str, float], wrong: Mapping[str, Mapping[str, float]], sample: Sample) -> Sharp:
    """A sum of quantities with factors, and its wrong versions."""

    def total(factors: Mapping[str, float]) -> Callable[[Any], float]:
        return lambda point: math.fsum(
            factor * named_value(name, *point, *sample.point) for name, factor in factors.items()
        )

    return Sharp(total(terms), QUADRATURE, {name: total(changed) for name, changed in wrong.items()})
