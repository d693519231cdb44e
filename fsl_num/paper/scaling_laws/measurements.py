"""The excess risk of a schedule measured along rays to infinity in model size, intrinsic times, rates, batch and noise.

Two measuring instruments: the Volterra equation of the loss, and, where intrinsic times reach 1e40, the parts of the
functional scaling law (signal, approximation error, noise integral) by quadrature. Neither knows a scaling law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.functional import noise_functional, scaling_functional
from fsl_num.model import Model
from fsl_num.schedules import Constant, Cosine, ExponentialDecay, Schedule, StableDecay
from fsl_num.spectrum import approximation_error, signal, trace
from fsl_num.volterra import Problem, solve

Array = NDArray[np.float64]

LONGEST = 40.0
"""Rays end at intrinsic times of 1e40 (constants of the smallest s and beta have settled there)."""
AFTER = 3.0
"""Where the model size decides t = M^(3 beta), up to 1e120: then t^-s, which the law still holds and the loss no longer
does, is below M^-(s beta) by M^(2 s beta), which for s = 0.02 takes that long to be large."""
SILENT = 150.0
"""log10 of a batch size at which noise is negligible, and of a label noise beside which the signal is."""
STABILITY = 0.1
"""gamma_max tr(H)/2 at the start of training: below 1, where the loss would grow."""


def peak_rate(beta: float) -> float:
    """The peak learning rate with gamma_max tr(H)/2 = STABILITY at batch size 1."""
    return 2.0 * STABILITY / trace(beta)


@dataclass(frozen=True)
class Training:
    """One run: model size, intrinsic times of the phases, rates, batch size and label noise sigma^2.

    ``stable`` is T_1 (0: no stable phase), ``decay`` is T_2 (0: constant rate). ``peak`` multiplies the default rate.
    """

    size: float
    stable: float = 0.0
    decay: float = 0.0
    final_over_peak: float = 1.0
    batch: float = 1.0
    noise: float = 1.0
    peak: float = 1.0

    def schedule(self, beta: float) -> Schedule:
        """The learning-rate schedule whose phases have these intrinsic times."""
        rate = self.peak * peak_rate(beta)
        first = self.stable / rate
        if self.decay == 0.0:
            return Constant(peak=rate, steps=first, batch_size=self.batch)
        final = self.final_over_peak * rate
        ratio = math.log(1.0 / self.final_over_peak)
        # K_2 = T_2 log(a/b)/(a - b), which tends to T_2/a as b tends to a.
        second = self.decay / rate * (ratio / -math.expm1(-ratio) if ratio else 1.0)
        if self.stable == 0.0:
            return ExponentialDecay(peak=rate, final=final, steps=second, batch_size=self.batch)
        steps = first + second
        return StableDecay(peak=rate, final=final, steps=steps, decay_fraction=second / steps, batch_size=self.batch)

    def logs(self, beta: float) -> dict[str, float]:
        """Natural logarithms of the variables that the laws may depend on."""
        rate, ratio = self.peak * peak_rate(beta), self.final_over_peak
        found = {
            "M": math.log(self.size), "T": math.log(self.stable + self.decay), "a": math.log(rate),
            "b": math.log(rate) + math.log(ratio), "B": math.log(self.batch), "sigma^2": math.log(self.noise),
        }  # fmt: skip
        if self.decay > 0.0:
            found["T_2"] = math.log(self.decay)
        # log(a - b); a - b = 0 for a constant rate, where it is left out
        return found if ratio == 1.0 else found | {"a - b": math.log(rate) + math.log(-math.expm1(math.log(ratio)))}


def functional_risk(training: Training, s: float, beta: float) -> float:
    """Half of delta_M + e_M(T) + sigma^2 N/B, by quadrature: the simplified functional scaling law."""
    plan = training.schedule(beta)
    # Drifts are judged to 1e-2 per unit of log(scale): 1e-4 in each value, hundreds of units apart, cannot be seen.
    return scaling_functional(Model(s, beta, training.size, training.noise), plan, rtol=1e-4).total


def volterra_risk(training: Training, s: float, beta: float) -> float:
    """The excess risk by the Volterra equation at the end of training."""
    plan = training.schedule(beta)
    problem = Problem(Model(s, beta, training.size, training.noise), gamma=plan)
    return float(solve(problem, problem.end, rtol=1e-8).excess_risk[0])


Risk = Callable[[Training, float, float], float]


def risk_ray(name: str, scale: Array, runs: Sequence[Training], sample: Sample, risk: Risk) -> Ray:
    """The excess risk of each run; ``scale`` is log10 of the variable that grows."""
    s, beta = sample.point
    every = [run.logs(beta) for run in runs]
    shared = set(every[0]).intersection(*every)
    logs = {key: np.array([each[key] for each in every]) for key in sorted(shared)}
    values = np.log([risk(run, s, beta) for run in runs])
    return Ray(name, math.log(10.0) * scale, logs, values)


def _grid(end: float, sample: Sample) -> Array:
    return np.linspace(0.0, end, 7 + 6 * sample.effort)


def _whole(log10_size: float) -> float:
    return float(math.floor(10.0**log10_size))


@lru_cache(maxsize=64)
def constant_rays(sample: Sample) -> tuple[Ray, ...]:
    """A constant rate: model size, time or noise decide, eta, B and sigma^2 vary each alone; time 1, M = 1 included."""
    beta = sample.point[1]
    model, time = _grid(LONGEST / beta, sample), _grid(LONGEST, sample)
    noise = _grid(20.0, sample)
    runs: dict[str, tuple[Array, list[Training]]] = {
        "M decides, t = M^(3 beta)": (
            model,
            [Training(size, size ** (AFTER * beta), batch=10**SILENT) for size in map(_whole, model)],
        ),
        "t decides, M = t^(4/beta)": (
            time,
            [Training(_whole(4 * u / beta), 10**u, batch=10**SILENT) for u in time],
        ),
        "noise decides: eta, B and sigma^2 vary": (
            noise,
            [Training(1e6, 1e6, batch=10**u, noise=10 ** (SILENT - 2 * u), peak=10 ** (-0.5 * u)) for u in noise],
        ),
        "noise decides, t and M grow": (noise, [Training(_whole(u), 10**u, noise=10**SILENT) for u in noise]),
        "noise decides, eta alone varies": (
            noise,
            [Training(1e6, 1e6, noise=10**SILENT, peak=10**-u) for u in noise],
        ),
        "noise decides, B alone varies": (noise, [Training(1e6, 1e6, batch=10**u, noise=10**SILENT) for u in noise]),
        "noise decides, sigma^2 alone varies": (
            noise,
            # from 1e4 on, where the noise leads: on from 1e150 the logarithm of sigma^2 would hardly grow
            [Training(1e6, 1e6, noise=10 ** (4 + 2 * u)) for u in noise],
        ),
    }
    return tuple(risk_ray(name, *pair, sample, functional_risk) for name, pair in runs.items())


@lru_cache(maxsize=64)
def exponential_rays(sample: Sample) -> tuple[Ray, ...]:
    """Exponential decay: every term decides in turn; the crossover T = M^beta, b near a and T = 1 included."""
    return _decay_rays(sample, lambda decay: 0.0, {})


@lru_cache(maxsize=64)
def stable_decay_rays(sample: Sample) -> tuple[Ray, ...]:
    """A stable phase first: the same, with T_1 >> T_2 and T_1 << T_2, and T_2 = 1."""
    beta = sample.point[1]
    grid, model = _grid(LONGEST / 1.4, sample), _grid(LONGEST / (1.5 * beta), sample)
    more = {
        "T_1 decides": (
            grid, [Training(_whole(5.6 * u / beta), 10 ** (1.4 * u), 10**u, 1e-3, 10**SILENT) for u in grid],
        ),
        "noise, T_1 = T_2^1.4, M large": (
            grid, [Training(_whole(2 * u / beta), 10 ** (1.4 * u), 10**u, 1e-200, noise=10**SILENT) for u in grid],
        ),
        "noise, T_1 = M^(2 beta) > T_2 = M^(3 beta/2)": (
            model, [Training(m, m ** (2 * beta), m ** (1.5 * beta), 1e-200, noise=10**SILENT)
                    for m in map(_whole, model)],
        ),
        "noise, T_2 = 1, T_1 grows": (grid, [Training(1e6, 10**u, 1.0, 1e-3, noise=10**SILENT) for u in grid]),
    }  # fmt: skip
    return _decay_rays(sample, lambda decay: decay**0.6, more)


def _decay_rays(
    sample: Sample, stable: Callable[[float], float], more: Mapping[str, tuple[Array, list[Training]]]
) -> tuple[Ray, ...]:
    s, beta = sample.point
    model, time, alone = _grid(LONGEST / (1.5 * beta), sample), _grid(LONGEST, sample), _grid(LONGEST / beta, sample)
    gap = 1.0 - 1.0 / beta
    # b/a >> T^(1/beta - 1) while b falls by 10^u: T grows to 10^(4 u) or faster
    final = _grid(min(10.0, 0.5 * LONGEST * gap), sample)
    near, loud = _grid(8.0, sample), 10**SILENT
    runs: dict[str, tuple[Array, list[Training]]] = {
        "M decides, T = M^(3 beta)": (
            alone, [_run(m, m ** (AFTER * beta), stable, 1e-3, 10**SILENT, 1.0) for m in map(_whole, alone)],
        ),
        # M so large that delta_M is below T^-s by T^(3 s): for small s that is little, and must not look like a drift.
        "T decides, M = T^(4/beta)": (
            time, [_run(_whole(4 * u / beta), 10**u, stable, 1e-3, 10**SILENT, 1.0) for u in time],
        ),
        "b decides; b, B and sigma^2 vary": (
            final, [_run(1e12, 10 ** (2 * u / gap), stable, 0.5 * 10**-u, 10**u, loud * 10 ** (-2 * u)) for u in final],
        ),
        "a - b decides, M large": (
            time, [_run(_whole(2 * u / beta), 10**u, stable, 1e-200, 10 ** (0.5 * u), loud, 10 ** (-0.5 * u))
                   for u in time],
        ),
        "a - b decides, T = M^(3 beta/2)": (
            model, [_run(m, m ** (1.5 * beta), stable, 1e-200, 1.0, loud) for m in map(_whole, model)],
        ),
        "a - b decides, T = M^beta": (
            model, [_run(m, m**beta, stable, 1e-200, 1.0, loud) for m in map(_whole, model)],
        ),
        # One variable at a time: where two always move together their exponents can be wrong together.
        "b decides, b alone varies": (
            final, [_run(1e12, 10 ** (2 * final[-1] / gap), stable, 0.5 * 10**-u, 1.0, loud) for u in final],
        ),
        "a - b decides, a alone varies": (
            near, [_run(1e6, 1e6, stable, 1e-200, 1.0, loud, 10**-u) for u in near],
        ),
        "a - b decides, B alone varies": (near, [_run(1e6, 1e6, stable, 1e-200, 10**u, loud) for u in near]),
        "a - b decides, sigma^2 alone varies": (
            time, [_run(1e6, 1e6, stable, 1e-200, 1.0, 10 ** (12 + u)) for u in time],
        ),
        "a - b decides, M alone varies": (
            model, [_run(m, 10**LONGEST, stable, 1e-200, 1.0, loud) for m in map(_whole, model)],
        ),
        "a - b decides, T alone varies, M = 10": (
            time, [_run(10.0, 10 ** (1.5 * beta + u), stable, 1e-200, 1.0, loud) for u in time],
        ),
        "b tends to a": (near, [_run(1e6, 1e4, stable, 1.0 - 0.5 * 10**-u, 1.0, loud) for u in near]),
        **more,
    }  # fmt: skip
    return tuple(risk_ray(name, *pair, sample, functional_risk) for name, pair in runs.items())


def _run(
    size: float, decay: float, stable: Callable[[float], float], final: float, batch: float, noise: float,
    peak: float = 1.0,
) -> Training:  # fmt: skip
    return Training(size, stable(decay), decay, final, batch, noise, peak)


@lru_cache(maxsize=64)
def short_rays(sample: Sample) -> tuple[Ray, ...]:
    """A constant rate at intrinsic times from 1 down to 1e-12, by the Volterra equation; the noise is negligible."""
    times = np.linspace(0.0, 12.0, 7)
    runs = [Training(100.0, 10**-u, batch=10**SILENT) for u in times]
    return (risk_ray("t tends to 0", times, runs, sample, volterra_risk),)


@lru_cache(maxsize=64)
def short_decay_rays(sample: Sample) -> tuple[Ray, ...]:
    """Exponential decay at intrinsic times from 1 down to 1e-12, by the Volterra equation; the noise is negligible."""
    times = np.linspace(0.0, 12.0, 7)
    runs = [Training(100.0, 0.0, 10**-u, 1e-3, batch=10**SILENT) for u in times]
    return (risk_ray("T tends to 0", times, runs, sample, volterra_risk),)


@lru_cache(maxsize=64)
def tied_rays(sample: Sample) -> tuple[Ray, ...]:
    """The Volterra loss against the parts of the functional law: signal, approximation error and noise decide in turn.

    The variables are "signal" (e_M(T)), "approximation" (delta_M) and "noise" (N/B, sigma^2 apart), all measured.
    """
    s, beta = sample.point
    count = 4 + 2 * sample.effort
    grid = np.linspace(2.0, 6.0 + 2.0 * sample.effort, count)
    sizes = sorted({max(2.0, _whole(u)) for u in np.linspace(0.5, 7.0 / beta, count)})
    sizes = sizes if len(sizes) >= 4 else [2.0, 3.0, 4.0, 5.0]
    # so large that delta_M is negligible, and not below the smallest float
    large = _whole(min(300.0, 250.0 / (s * beta)))
    rays = [
        _tied("signal decides, exponential decay", sample, "signal",
              [(Training(large, 0.0, 10**u, 1e-3, 10**SILENT).schedule(beta), large, 1.0) for u in grid]),
        _tied("approximation decides, stable phase first", sample, "approximation",
              # ever later in units of M^beta, where the signal is gone: its share must not stand in for delta_M
              [(Training(m, 3 * k * m**beta, 2 * m**beta, 1e-3, 10**SILENT).schedule(beta), m, 1.0)
               for k, m in enumerate(sizes, 1)]),
    ]  # fmt: skip
    kinds = ("constant", "stable phase first", "cosine to zero", "exponential decay")
    for kind in kinds if sample.effort else kinds[:3]:
        runs = [(_loud_schedule(kind, u, beta), 1e12, 10 ** (SILENT + 0.5 * u)) for u in grid]
        rays.append(_tied(f"noise decides, {kind}", sample, "noise", runs))
    steady = Training(1.0, 1e2).schedule(beta)
    runs = [(steady, 1e12, 10.0**power) for power in np.linspace(4.0, 44.0, 2 * count)]
    rays.append(_tied("noise decides, sigma^2 alone varies", sample, "sigma^2", runs))
    return tuple(rays)


def _loud_schedule(kind: str, u: float, beta: float) -> Schedule:
    """A schedule whose intrinsic time is of the order 10^u and whose noise falls as u grows."""
    rate = peak_rate(beta)
    if kind == "constant":
        return Constant(peak=rate * 10 ** (2 - u), steps=10 ** (2 * u - 2) / rate)
    if kind == "cosine to zero":
        return Cosine(peak=rate, steps=2 * 10**u / rate)
    return Training(1.0, 0.0 if kind == "exponential decay" else 10**u, 10**u, 1e-9).schedule(beta)


def _tied(name: str, sample: Sample, growing: str, runs: Sequence[tuple[Schedule, float, float]]) -> Ray:
    """The scale is the log of sigma^2 where this grows, else minus the log of the part that decides."""
    s, beta = sample.point
    logs: dict[str, list[float]] = {"signal": [], "approximation": [], "noise": [], "sigma^2": []}
    values = []
    for plan, size, noise in runs:
        problem = Problem(Model(s=s, beta=beta, size=size, noise=noise), gamma=plan)
        values.append(math.log(float(solve(problem, problem.end, rtol=1e-8).excess_risk[0])))
        logs["signal"].append(math.log(signal(problem.end, s, beta, size)))
        logs["approximation"].append(math.log(approximation_error(s, beta, size)))
        logs["noise"].append(math.log(noise_functional(problem.model, plan).value / plan.batch_size))
        logs["sigma^2"].append(math.log(noise))
    arrays = {key: np.array(each) for key, each in logs.items()}
    scale = arrays[growing] if growing == "sigma^2" else -arrays[growing]
    return Ray(name, scale, arrays, np.array(values))
