"""Schedules of K steps that minimise a law of the final loss, found by numerical optimisation, and how they are shaped.

A schedule is a list of blocks of steps, each at one rate in (0, 1] (the largest rate is the unit), geometric in the
steps left, so that 1e20 steps need some hundred blocks. The functional of such a schedule is exact.

>>> found = best_rates(functional(0.5, 2.0), blocks(1e4, 8))
>>> bool(found.rates[0] == 1.0 and found.rates[-1] < 0.1)
True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.functional import noise_functional
from fsl_num.model import Model
from fsl_num.schedules import PowerDecay

Array = NDArray[np.float64]
Objective = Callable[[Array, Array], Any]
"""(rates, steps of each block) -> loss, gradient by the rates."""

LOWEST = 1e-60
"""Rates are not followed below this by the optimisation."""
LEAST = -300.0
"""Nor below the exponential of this by the closed form, which serves up to 1e100 steps."""
NOISE = 0.1
"""Weight of the noise of the largest rate beside the signal T^-s: gamma_max tr(H)/2 where that is small."""
MOST = 200
AT_REST = 1e-12


@dataclass(frozen=True, eq=False)
class Best:
    """The best schedule found: the rates of the blocks, their steps, and the loss."""

    rates: Array
    steps: Array
    loss: float

    @property
    def decaying(self) -> float:
        """The share of the steps whose rate is below 99 % of the largest."""
        return float(self.steps[self.rates < 0.99 * self.rates.max()].sum() / self.steps.sum())

    @property
    def last_unit(self) -> float:
        """The mean rate over the last unit of intrinsic time, over the largest: the end that the loss can see."""
        time_left = np.cumsum((self.rates * self.steps)[::-1])
        steps_left = np.cumsum(self.steps[::-1])
        place = int(np.searchsorted(time_left, 1.0))
        before = (0.0, 0.0) if place == 0 else (time_left[place - 1], steps_left[place - 1])
        return float(1.0 / (before[1] + (1.0 - before[0]) / self.rates[::-1][place]) / self.rates.max())

    @property
    def last_over_peak(self) -> float:
        """The last rate over the largest."""
        return float(self.rates[-1] / self.rates.max())


def blocks(steps: float, per_decade: int, shortest: float = 1.0) -> Array:
    """The steps of blocks, the longest first, so that the steps left at their starts grow geometrically."""
    left = np.geomspace(shortest, steps, 1 + max(8, round(per_decade * math.log10(steps / shortest))))
    return np.asarray(np.diff(np.concatenate([[0.0], left]))[::-1])


def _share(x: Array, scale: float, power: float) -> Array:
    return np.asarray(-np.expm1(-power * np.log1p(scale * x)))


def _time_gradient(by_rate: Array, by_start: Array, by_whole: float, steps: Array) -> Array:
    """Add what the rates do through the intrinsic times at which later blocks start, and through the whole."""
    later = np.concatenate([np.cumsum(by_start[::-1])[::-1][1:], [0.0]])
    return by_rate + steps * (later + by_whole)


def functional(s: float, beta: float, *, scale: float = 1.0, noise: float = NOISE) -> Objective:
    """T^-s + noise int K(T - t) gamma(t) dt, label noise alone, with the power kernel of integral 1."""
    power = 1.0 - 1.0 / beta

    def loss(rates: Array, steps: Array) -> tuple[float, Array]:
        left = np.concatenate(
            [np.cumsum((rates * steps)[::-1])[::-1], [0.0]]
        )  # at the start of each block, and the end
        gone = _share(left, scale, power)
        kernel = scale * power * (1.0 + scale * left) ** (-1.0 - power)
        # as differences of what is left unforgotten, the early blocks keep their digits
        kept = -np.diff((1.0 + scale * left[::-1]) ** -power)[::-1]
        parts = np.where(gone[:-1] < 0.5, gone[:-1] - gone[1:], kept)
        by_left = noise * kernel[:-1] * np.diff(np.concatenate([[0.0], rates])) * 1.0
        by_left[0] = noise * kernel[0] * rates[0] - s * left[0] ** (-s - 1.0)
        # d/d left_b of sum_b eta_b (G(left_b) - G(left_{b+1})) is K(left_b) (eta_b - eta_{b-1})
        gradient = noise * parts + steps * np.cumsum(by_left)
        return float(left[0] ** -s + noise * (rates @ parts)), gradient

    return loss


def ansatz(s: float, level: float, *, scale: float, power: float, signal: float, gain: float, at: str) -> Objective:
    """signal T^-s - gain sum (eta_{i-1} - eta_i) (level + T^-s) G, the fitted law less its constant.

    ``at``: the T of the bracket is T(i) as printed ("the drop") or T(k), in which case the noise of the first rate
    through the signal is kept ("the end"). The drop of a block acts in its first step.
    """

    def loss(rates: Array, steps: Array) -> tuple[float, Array]:
        value, gradient = _ansatz_value(rates, steps), np.empty_like(rates)
        tiny = 1e-30
        moved = rates + 1j * tiny * np.eye(rates.size)  # complex steps: derivatives to rounding
        gradient[:] = np.imag(_ansatz_value(moved, steps)) / tiny
        return float(np.real(value)), gradient

    def _ansatz_value(rates: Any, steps: Array) -> Any:
        times = np.cumsum(rates * steps, axis=-1)
        whole, starts = times[..., -1:], times - rates * steps
        drops = np.concatenate([np.ones_like(rates[..., :1]), rates[..., :-1]], axis=-1) - rates
        at_drop = starts + rates
        since = whole - (at_drop if at == "the drop" else starts)
        share = 1.0 - (1.0 + scale * since) ** -power
        bracket = level + (at_drop if at == "the drop" else whole) ** -s
        found = signal * whole[..., 0] ** -s - gain * (drops * bracket * share).sum(axis=-1)
        if at == "the end":
            found = found + gain * whole[..., 0] ** -s * (1.0 - (1.0 + scale * whole[..., 0]) ** -power)
        return found

    return loss


def best_rates(objective: Objective, steps: Array, *, start: Array | None = None) -> Best:
    """The best rates in (0, 1] without any other constraint, in their logarithms.

    A quasi-Newton method with bounds finds which rates stay at 1, Newton's method moves the others until nothing is
    gained: the last rates are worth little and a quasi-Newton method leaves them early.
    """
    from scipy.optimize import minimize

    logs = np.log(np.full(steps.size, 0.5) if start is None else start)

    def at(point: Array) -> tuple[float, Array]:
        rates = np.exp(point)
        value, gradient = objective(rates, steps)
        # of the logarithm of the loss, which falls over many decades with the number of steps
        return math.log(value), gradient * rates / value

    rough = minimize(
        at, logs, jac=True, method="L-BFGS-B", bounds=[(math.log(LOWEST), 0.0)] * steps.size,
        options={"maxiter": 10 * MOST, "maxfun": 20 * MOST, "ftol": 1e-13, "gtol": 1e-9, "maxcor": 30},
    )  # fmt: skip
    logs = rough.x
    value, gradient = at(logs)
    shift = 1e-5
    for _ in range(MOST):
        free = np.flatnonzero(~((logs >= 0.0) & (gradient <= 0.0)))
        if np.abs(gradient[free]).max(initial=0.0) <= AT_REST:
            break
        moved = [(at(logs + shift * e)[1] - at(logs - shift * e)[1]) / (2 * shift) for e in np.eye(steps.size)[free]]
        hessian = np.array([row[free] for row in moved])
        spread, axes = np.linalg.eigh(0.5 * (hessian + hessian.T))
        curvature = np.maximum(np.abs(spread), 1e-14 * np.abs(spread).max())
        step = np.zeros_like(logs)
        step[free] = np.clip(-axes @ ((axes.T @ gradient[free]) / curvature), -2.0, 2.0)
        for halving in range(40):
            trial = np.clip(logs + 0.5**halving * step, math.log(LOWEST), 0.0)
            new_value, new_gradient = at(trial)
            if new_value < value:
                break
        else:
            break
        logs, value, gradient = trial, new_value, new_gradient
    return Best(np.exp(logs), steps, math.exp(value))


def best_monotone(objective: Objective, steps: Array, start: Array, *, floor: float = 1e-6) -> Best:
    """The best rates among those that never rise, from 1 at most, by sequential quadratic programming."""
    from scipy.optimize import minimize

    falls = (np.eye(steps.size) - np.eye(steps.size, k=1))[:-1]
    found: Any = minimize(  # type: ignore[call-overload]
        lambda rates: objective(rates, steps)[0], start, jac=lambda rates: objective(rates, steps)[1], method="SLSQP",
        bounds=[(floor, 1.0)] * steps.size, options={"maxiter": 400, "ftol": 1e-12},
        constraints=[{"type": "ineq", "fun": lambda rates: falls @ rates, "jac": lambda rates: falls}],
    )  # fmt: skip
    return Best(np.asarray(found.x), steps, float(found.fun))


@dataclass(frozen=True)
class Shape:
    """The best schedule in closed form: the last rate, the steps of the decay, the whole intrinsic time, the loss."""

    last: float
    decay_steps: float
    whole: float
    loss: float
    peak: float


def closed_form(s: float, beta: float, steps: float, *, scale: float = 1.0, noise: float = NOISE) -> Shape:
    """The minimiser of the functional: a (1 + c a y/(2 beta))^(2 beta - 1) with y steps left, cut at the bound 1.

    One equation is left, for the last rate a: what a little more intrinsic time is worth, s T^(-s-1), is what it costs,
    noise and steps at the price a^2 of the kernel's beginning.
    """
    from scipy.optimize import brentq

    rise, power, normal = 1.0 - 0.5 / beta, 1.0 - 1.0 / beta, scale * (1.0 - 1.0 / beta)

    def shape(last: float) -> tuple[float, float, float, float]:
        """Steps and intrinsic time of the decay, the whole intrinsic time, the largest rate."""
        at_cap = math.expm1(-math.log(last) / rise) / scale
        decay = 2.0 * beta / (scale * last) * math.expm1(math.log1p(scale * at_cap) / (2.0 * beta))
        if decay < steps:
            return decay, at_cap, at_cap + steps - decay, 1.0
        grown = math.log1p(scale * last * steps / (2.0 * beta))
        whole = math.expm1(2.0 * beta * grown) / scale
        return steps, whole, whole, last * math.exp((2.0 * beta - 1.0) * grown)

    def balance(log_last: float) -> float:
        last = math.exp(log_last)
        _, _, whole, peak = shape(last)
        early = math.log(peak) - (1.0 + power) * math.log1p(scale * whole)
        cost = math.log(noise * normal) + float(np.logaddexp(early, 2.0 * log_last - math.log(peak)))
        return math.log(s) - (s + 1.0) * math.log(whole) - cost

    if balance(0.0) >= 0.0:
        return Shape(1.0, 0.0, steps, steps**-s + noise * float(_share(np.array(steps), scale, power)), 1.0)
    last = math.exp(brentq(balance, LEAST, 0.0, xtol=1e-13))
    decay, cut, whole, peak = shape(last)
    # int_0^cut K gamma dx = a c (1 - 1/beta) int (1 + c x)^(-1 + 1/(2 beta)) dx, and the stable phase before it
    decaying = last * power * 2.0 * beta * math.expm1(math.log1p(scale * cut) / (2.0 * beta))
    stable = peak * ((1.0 + scale * cut) ** -power - (1.0 + scale * whole) ** -power)
    return Shape(last, decay, whole, whole**-s + noise * (decaying + stable), peak)


@dataclass(frozen=True)
class Fitted:
    """The ansatz as fitted to a curve of a language model, in units of the peak rate; ``gain`` is c_2 c_3."""

    signal: float
    gain: float
    scale: float
    s: float
    power: float

    def objective(self, level: float, at: str) -> Objective:
        """The law to be minimised: c_3 = ``level`` with c_2 c_3 held."""
        return ansatz(
            self.s, level, scale=self.scale, power=self.power, signal=self.signal, gain=self.gain / level, at=at
        )


FITTED = {
    "25M": Fitted(31.4, 0.136, 0.0772, 0.506, 0.39),
    "100M": Fitted(22.3, 0.145, 0.0089, 0.445, 1.385),
}
"""Fits of the printed ansatz to three curves each of two language models (cosine, constant, and a step down, 24,000
steps each), rounded: sizes to be expected. c_3 ran off to 1e7 in both, so that the fits see no term T(i)^-s."""
FITTED_STEPS = 33907.0
"""Training steps of the paper's experiment."""


def rivals(steps: Array) -> dict[str, Array]:
    """Cosine, WSD (linear decay of the last fifth) and 8-1-1, all down to a tenth, at the starts of the blocks."""
    gone = 1.0 - np.cumsum(steps[::-1])[::-1] / steps.sum()
    return {
        "cosine": 0.55 + 0.45 * np.cos(math.pi * gone),
        "WSD": np.interp(gone, [0.8, 1.0], [1.0, 0.1]),
        "8-1-1": np.where(gone < 0.8, 1.0, np.where(gone < 0.9, math.sqrt(0.1), 0.1)),
    }


@lru_cache(maxsize=16)
def fitted_shapes(level: float, at: str) -> tuple[tuple[str, float], ...]:
    """What the best schedules that never rise look like under the fitted law: shares and ratios, by model.

    "decaying": share of steps below 99 % of the largest rate; "end": last rate over the largest; "peak": the largest;
    "gain": loss of the best rival less that of the schedule found.
    """
    steps = blocks(FITTED_STEPS, 14, 20.0)
    found: dict[str, float] = {}
    for model, fit in FITTED.items():
        objective = fit.objective(level, at)
        starts = [*rivals(steps).values(), np.full(steps.size, 0.5)]
        best = min((best_monotone(objective, steps, start) for start in starts), key=lambda each: each.loss)
        found[f"{model} decaying"] = best.decaying
        found[f"{model} end"] = best.last_over_peak
        found[f"{model} peak"] = float(best.rates.max())
        found[f"{model} gain"] = min(objective(each, steps)[0] for each in rivals(steps).values()) - best.loss
    return tuple(found.items())


def optimised_losses(sample: Sample) -> list[tuple[int, float]]:
    """The least loss of 33,907 steps found numerically under the functional: (blocks a decade, loss)."""
    counts = (8, 32) if sample.effort < 2 else (8, 32, 64)
    objective = functional(*sample.point)
    return [(count, best_rates(objective, blocks(FITTED_STEPS, count)).loss) for count in counts]


DECADES = np.linspace(10.0, 100.0, 19)


def shape_rays(sample: Sample) -> dict[str, list[Ray]]:
    """The closed form along K: loss, share of decaying steps, last rate, largest rate, intrinsic time."""
    found = [closed_form(*sample.point, 10.0**decade) for decade in DECADES]
    scale = DECADES * math.log(10.0)
    values = {
        "loss": [each.loss for each in found],
        "decaying": [each.decay_steps / 10.0**decade for each, decade in zip(found, DECADES, strict=True)],
        "end": [each.last for each in found],
        "peak": [each.peak for each in found],
    }
    return {name: [Ray(name, scale, {"K": scale}, np.log(each))] for name, each in values.items()}


def power_decay_rays(sample: Sample) -> list[Ray]:
    """The noise that the model itself keeps of a power decay: along K at a fixed peak rate, and along the peak rate."""
    beta = sample.point[1]
    rays, model = [], Model(*sample.point, math.inf, 1.0)
    for name, power in (("2 beta - 1", 2.0 * beta - 1.0), ("3 beta", 3.0 * beta)):
        paths = {
            "K grows": (np.full(11, -1.0), np.linspace(4.0, 24.0, 11)),
            "a falls": (np.linspace(-1.0, -12.0, 12), np.full(12, 24.0)),
        }
        for path, (peaks, steps) in paths.items():
            plans = [PowerDecay(peak=10.0**a, steps=10.0**K, power=power) for a, K in zip(peaks, steps, strict=True)]
            values = [math.log(noise_functional(model, plan, rtol=1e-6).value) for plan in plans]
            logs = {"a": peaks * math.log(10.0), "K": steps * math.log(10.0)}
            scale = logs["K"] if path == "K grows" else -logs["a"]
            rays.append(Ray(f"power {name}, {path}", scale, logs, np.array(values)))
    return rays


def early_drop_ray(sample: Sample) -> list[Ray]:
    """What the printed ansatz gains from one step at a small first rate, as that rate goes to 0; then rate 1."""
    s, beta = sample.point
    steps = np.array([1.0, 999.0])
    objective = ansatz(s, 1.0, scale=1.0, power=1.0 - 1.0 / beta, signal=1.0, gain=1.0, at="the drop")
    # far enough down that the power of the first rate is large beside the rest, however small s is
    small = np.linspace(2.0, 8.0, 13) / min(s, 1.0) * math.log(10.0)
    values = [math.log(-objective(np.array([math.exp(-each), 1.0]), steps)[0]) for each in small]
    return [Ray("one small first step", small, {"r": -small}, np.array(values))]
