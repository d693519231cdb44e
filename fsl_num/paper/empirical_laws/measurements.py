"""The noise functional under the power kernel, measured: over the steps, over intrinsic time, and along rays.

Nothing here knows integration by parts, Abel summation, or the closed form of the kernel's integral.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.functional import integrate_graded
from fsl_num.paper.empirical_laws import loops
from fsl_num.schedules import Schedule, schedule, step_rates
from fsl_num.spectrum import kernel_integral

Array = NDArray[np.float64]
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


def kernel(beta: float) -> Curve:
    """K(x) = (1 + c x)^-(2 - 1/beta)."""
    return lambda x: (1.0 + SCALE * x) ** -(2.0 - 1.0 / beta)


def source(s: float, noise: float) -> Curve:
    """g(t) = sigma^2 + (1 + t)^-s."""
    return lambda t: noise + (1.0 + t) ** -s


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


def over_intrinsic_time(each: Schedule, beta: float, gain: Curve, start: float = 0.0) -> float:
    """int_start^T K(T - t) g(t) gamma(t) dt."""
    whole = each.total_intrinsic_time
    return integral(lambda t: kernel(beta)(whole - t) * gain(t) * each.gamma(t), start, whole, each.breaks)


def over_steps(
    each: Schedule, beta: float, gain: Curve, *, power: int = 2, weight: Curve | None = None, start: float = 0.0
) -> float:
    """int_start^K K(T(K) - T(u)) g(T(u)) phi(u)^power weight(u) du/b."""
    whole = each.total_intrinsic_time

    def integrand(u: Array) -> Array:
        time = each.intrinsic_time(u)
        found = kernel(beta)(whole - time) * gain(time) * each.learning_rate(u) ** power / each.batch_size
        return np.asarray(found if weight is None else found * weight(u))

    return integral(integrand, start, each.steps, each.physical_breaks)


def reduction_as_defined(each: Schedule, beta: float, gain: Curve) -> float:
    """-(1/B) int_0^K K(T(K) - T(u)) g(T(u)) phi(u) (phi(u) - phi(0)) du, the first line of the reduction by decay."""
    return -over_steps(each, beta, gain, power=1, weight=lambda u: each.learning_rate(u) - each.peak)


def reduction_by_parts(
    each: Schedule, beta: float, gain: Curve, *, from_zero: bool = False, slope_power: int = 1
) -> float:
    """-(1/B) int_0^K phi'(r) int_{T(r)}^{T(K)} K(T(K) - t) g(t) dt dr, by differences of phi on a fine grid.

    Gauss's rule needs phi' nowhere: dphi is integrated over panels of r, in which the inner integral is smooth.
    ``from_zero`` starts the inner integral at 0, ``slope_power`` 2 multiplies by phi: wrong versions.
    """
    whole = each.total_intrinsic_time
    nodes, weights = np.polynomial.legendre.leggauss(12)
    edges = _graded_edges(each)
    total, inner = 0.0, 0.0
    for low, high in zip(edges[-2::-1], edges[:0:-1], strict=True):
        times = each.intrinsic_time(np.array([low, high]))
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        places = middle + half * nodes
        ends = each.intrinsic_time(places)
        inside = _panels(kernel(beta), gain, whole, ends, times[1])
        if from_zero:
            inside = _panels(kernel(beta), gain, whole, np.zeros_like(ends), whole) - inner
        slope = _slope(each, places)
        if slope_power == 2:
            slope = slope * each.learning_rate(places)
        total -= half * float(weights @ (slope * (inside + inner)))
        inner += float(_panels(kernel(beta), gain, whole, times[:1], times[1])[0])
    return total / each.batch_size


def _graded_edges(each: Schedule) -> Array:
    """Panels of one step at both ends, where kernel and signal vary over a few steps, and longer ones between."""
    near = np.concatenate([[0.0], np.geomspace(1.0, 0.5 * each.steps, 14)])
    return np.unique(np.concatenate([near, each.steps - near, each.physical_breaks]))


def _slope(each: Schedule, places: Array) -> Array:
    """phi' by the central difference of fourth order: errors of 1e-10 for schedules smooth over hundreds of steps."""
    step = 1e-3 * np.minimum(1.0, np.minimum(places, each.steps - places))
    near = each.learning_rate(places + step) - each.learning_rate(places - step)
    far = each.learning_rate(places + 2 * step) - each.learning_rate(places - 2 * step)
    return np.asarray((8.0 * near - far) / (12.0 * step))


def _panels(decay: Curve, gain: Curve, whole: float, lows: Array, high: float) -> Array:
    """The integrals of K(T - t) g(t) from each of ``lows`` to ``high``: 16 nodes on 5 units of time at most, 1e-11."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
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


def _injected(beta: float, gain: loops.Function, end: float, t: float) -> float:
    return loops.power_kernel(beta, SCALE)(end - t) * gain(t)


@lru_cache(maxsize=64)
def step_measurements(sample: Sample, with_signal: bool) -> tuple[tuple[tuple[str, int, float], float], ...]:
    """((schedule, k, sigma^2), reduction by decay after k steps): noise of eta_0 held, less the noise of the steps."""
    s, beta = sample.point
    found = []
    decay = loops.power_kernel(beta, SCALE)
    noises = NOISES if with_signal else (1.0,)
    for name in STEPWISE[1:]:
        rates = step_plan(name, 60)
        for k in (52, 60):
            for noise in noises:
                gain = partial(_gain, s if with_signal else math.inf, noise)
                first = PEAK if with_signal else rates[0]  # eta_0 is free; the Multi-Power Law begins with eta_1
                end = sum(rates[:k])
                held = first * loops.gauss(partial(_injected, beta, gain, end), 0.0, end, 200)
                found.append(((name, k, noise), held - loops.step_noise(rates[:k], decay, gain)))
    return tuple(found)


WHOLE = 200.0


def discretised_rays(sample: Sample) -> tuple[Ray, ...]:
    """How far the sum over K steps with T(i) is from the one with T(i-1), relative, at one intrinsic time for all K.

    The schedule is WSD with a linear decay of the last fifth to a tenth, in ever smaller steps.
    """
    s, beta = sample.point
    counts = np.array([2.0**j for j in range(9, 17)])
    rays = []
    for noise in NOISES:
        values = []
        for count in counts:
            rates = linear_wsd(int(count))
            rates *= WHOLE / rates.sum()
            gone = reversed_gone(np.concatenate([[0.0], np.cumsum(rates)]), s, beta, noise)
            drops = -np.diff(np.concatenate([rates[:1], rates]))
            exact, printed = float(drops @ gone[:-1]), float(drops @ gone[1:])
            values.append(abs(printed - exact) / exact)
        rays.append(Ray(f"sigma^2 = {noise:g}", np.log(counts), {"K": np.log(counts)}, np.log(values)))
    return tuple(rays)


def linear_wsd(steps: int) -> Array:
    """The peak for 80 % of the steps, then a straight line to a tenth of it."""
    k = np.arange(1, steps + 1) / steps
    return np.asarray(PEAK * np.interp(k, [0.8, 1.0], [1.0, 0.1]))


def reversed_gone(time: Array, s: float, beta: float, noise: float) -> Array:
    """The integrals of K(T(k) - t) g(t) over [T(i), T(k)], i = 0 .. k, by Gauss's rule in each step."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    middle, half = 0.5 * (time[1:] + time[:-1]), 0.5 * np.diff(time)
    t = middle[:, None] + half[:, None] * nodes
    parts = half * ((kernel(beta)(time[-1] - t) * source(s, noise)(t)) @ weights)
    return np.concatenate([np.cumsum(parts[::-1])[::-1], [0.0]])


DECADES = np.linspace(2.0, 40.0, 20)


@lru_cache(maxsize=64)
def constant_noise_rays(sample: Sample) -> tuple[Ray, ...]:
    """int_0^T K(T - t) (sigma^2 + e(t)) dt for T up to 1e40, label noise from none to large."""
    s, beta = sample.point
    rays = []
    for level in (-math.inf, -24.0, -10.0, -3.0, 0.0, 3.0):
        noise = 10.0**level
        values = [math.log(_constant_noise(10.0**decade, s, beta, noise)) for decade in DECADES]
        scale = DECADES * LOG10
        logs = {"T": scale, "sigma^2": np.full_like(scale, max(level, -1e6) * LOG10)}
        rays.append(Ray(f"sigma^2 = {noise:g}", scale, logs, np.array(values)))
    levels = np.linspace(0.0, 20.0, 11)
    strong = [math.log(_constant_noise(1e3, s, beta, 10.0**level)) for level in levels]
    logs = {"T": np.full(levels.size, 3.0 * LOG10), "sigma^2": levels * LOG10}
    rays.append(Ray("T = 1e3", levels * LOG10, logs, np.array(strong)))
    return tuple(rays)


def _constant_noise(whole: float, s: float, beta: float, noise: float) -> float:
    half = 0.5 * whole
    late = integrate_graded(lambda r: kernel(beta)(r) * source(s, noise)(whole - r), half, rtol=1e-8).value
    return late + integrate_graded(lambda t: kernel(beta)(whole - t) * source(s, noise)(t), half, rtol=1e-8).value


@lru_cache(maxsize=64)
def frozen_rays(sample: Sample) -> tuple[Ray, ...]:
    """int_{T(i)}^{T(k)} K(T(k) - t) e(t) dt over the kernel's integral: the signal that the mean value stands for.

    Logs: "early" is 1 + T(i), "late" 1 + T(k). Along the rays T(i) is fixed, or a share of T(k), or near it.
    """
    s, beta = sample.point
    rays = []
    paths: dict[str, Callable[[float], tuple[float, float]]] = {
        "T(i) = 10": lambda x: (10.0, x),
        "T(i) = T(k)/2": lambda x: (0.5 * x, 0.5 * x),
        "T(k) - T(i) = 10": lambda x: (x, 10.0),
        "T(i) = T(k)^(1/2)": lambda x: (math.sqrt(x), x),
    }
    for name, path in paths.items():
        pairs = [path(10.0**decade) for decade in DECADES]
        values = [math.log(_mean_signal(low, length, s, beta)) for low, length in pairs]
        logs = {
            "t_i": np.log1p([low for low, _ in pairs]),
            "t_k": np.log1p([low + length for low, length in pairs]),
        }
        rays.append(Ray(name, DECADES * LOG10, logs, np.array(values)))
    return tuple(rays)


def _mean_signal(low: float, length: float, s: float, beta: float) -> float:
    half, decay, signal = 0.5 * length, kernel(beta), source(s, 0.0)
    late = integrate_graded(lambda r: decay(r) * signal(low + (length - r)), half, rtol=1e-8).value
    early = integrate_graded(lambda x: decay(length - x) * signal(low + x), half, rtol=1e-8).value
    whole = integrate_graded(lambda r: decay(r), length, rtol=1e-8).value
    return (late + early) / whole


def model_kernel_rays(sample: Sample) -> dict[str, Any]:
    """The kernel of the model with M infinite: what is forgotten after short times, and what is left after long "
    "ones."""
    beta = sample.point[1]
    whole = float(kernel_integral(0.0, math.inf, beta))
    short, long = np.linspace(-8.0, -2.0, 13), np.linspace(2.0, 14.0, 25)
    gone = [float(kernel_integral(0.0, 10.0**x, beta)) / whole for x in short]
    left = [float(kernel_integral(10.0**x, math.inf, beta)) / whole for x in long]
    return {
        "forgotten at once": [Ray("x -> 0", short * LOG10, {"x": short * LOG10}, np.log(gone))],
        "left for long": [Ray("x -> oo", long * LOG10, {"x": long * LOG10}, np.log(left))],
    }
