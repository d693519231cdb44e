"""The excess risk of a schedule measured along rays to infinity in model size, intrinsic times, rates, batch and noise.

Two ways to measure it: the Volterra equation of the loss, and, where intrinsic times reach 1e40, the parts of the
functional scaling law (signal, approximation error, noise integral) by quadrature. Neither knows a scaling law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Self, TypeVar

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.functional import integrate_graded, scaling_functional
from fsl_num.model import Model
from fsl_num.paper.block_constants import PERIOD, Constants, given_constants, whole_periods
from fsl_num.paper.block_spectra import block_modes
from fsl_num.schedules import Constant, ExponentialDecay, Schedule, StableDecay
from fsl_num.spectrum import trace
from fsl_num.validation import Array
from fsl_num.volterra import Problem, solve

LONGEST = 40.0
"""Rays end at intrinsic times of 1e40 (constants of the smallest s and beta have settled there)."""
SILENT = 150.0
"""log10 of a batch size at which noise is negligible, and of a label noise beside which the signal is."""
STABILITY = 0.1
"""gamma_max tr(H)/2 at the start of training: below 1, where the loss would grow."""


@cache
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

    def repeating(self, beta: float) -> Self:
        """The run whose size and intrinsic times are the nearest at which spectra up to constants repeat themselves."""
        stable, decay = (whole_periods(time) if time else 0.0 for time in (self.stable, self.decay))
        return replace(self, size=repeating_size(self.size, beta), stable=stable, decay=decay)

    def logs(self, beta: float) -> dict[str, float]:
        """Natural logarithms of the variables that the laws may depend on."""
        rate, ratio = self.peak * peak_rate(beta), self.final_over_peak
        logs = {
            "M": math.log(self.size), "T": math.log(self.stable + self.decay), "a": math.log(rate),
            "b": math.log(rate) + math.log(ratio), "B": math.log(self.batch), "sigma^2": math.log(self.noise),
            "K": math.log(self.schedule(beta).steps),
        }  # fmt: skip
        phases = {"T_1": self.stable, "T_2": self.decay}
        logs |= {name: math.log(length) for name, length in phases.items() if length > 0.0}
        # log(a - b); a - b = 0 for a constant rate, where it is left out
        return logs if ratio == 1.0 else logs | {"a - b": math.log(rate) + math.log(-math.expm1(math.log(ratio)))}


def functional_risk(training: Training, s: float, beta: float) -> float:
    """Half of delta_M + e_M(T) + sigma^2 N/B, by quadrature: the simplified functional scaling law."""
    plan = training.schedule(beta)
    # Drifts are judged to 1e-2 per unit of log(scale): 1e-4 in each value, hundreds of units apart, cannot be seen.
    return scaling_functional(Model(s, beta, training.size, training.noise), plan, rtol=1e-4).total


def risk_up_to_constants(constants: Constants, training: Training, s: float, beta: float) -> float:
    """The same of a spectrum that is a power only up to constants."""
    end = training.schedule(beta).total_intrinsic_time
    modes, _ = block_modes(constants, s, beta, training.size, end)
    injected = noise_up_to_constants(constants, training, s, beta)
    return 0.5 * (modes.delta + float(np.exp(-modes.rates * end) @ modes.start) + training.noise * injected)


def noise_up_to_constants(constants: Constants, training: Training, s: float, beta: float) -> float:
    """The noise integral at the end of training, of such a spectrum."""
    plan = training.schedule(beta)
    end = plan.total_intrinsic_time
    modes, _ = block_modes(constants, s, beta, training.size, end)

    def noise(remaining: Array) -> Array:
        kernel = np.exp(-np.multiply.outer(remaining, modes.rates)) @ modes.weights
        return np.asarray(kernel * plan.gamma_before_end(remaining))

    return integrate_graded(noise, end, breaks=plan.breaks_before_end, rtol=1e-4).value


def volterra_risk(training: Training, s: float, beta: float) -> float:
    """The excess risk by the Volterra equation at the end of training."""
    plan = training.schedule(beta)
    problem = Problem(Model(s, beta, training.size, training.noise), gamma=plan)
    return float(solve(problem, problem.end, rtol=1e-8).excess_risk[0])


Risk = Callable[[Training, float, float], float]
AnyRun = TypeVar("AnyRun", bound=Training)


def risk_ray(name: str, scale: Array, runs: Sequence[Training], sample: Sample, risk: Risk) -> Ray:
    """The excess risk of each run; ``scale`` is log10 of the variable that grows."""
    s, beta = sample.point
    every = [run.logs(beta) for run in runs]
    shared = set(every[0]).intersection(*every)
    logs = {key: np.array([record[key] for record in every]) for key in sorted(shared)}
    values = np.log([risk(run, s, beta) for run in runs])
    return Ray(name, math.log(10.0) * scale, logs, values)


def functional_rays(runs: Mapping[str, tuple[Array, Sequence[Training]]], sample: Sample) -> tuple[Ray, ...]:
    """The parts of the law along rays, each a scale and its runs; and over spectra that are powers up to constants.

    Those oscillate for ever: their sizes and times are moved to the nearest whole periods.
    """
    rays = [risk_ray(name, *pair, sample, functional_risk) for name, pair in runs.items()]
    return (*rays, *repeating_runs(runs, sample, risk_up_to_constants))


def repeating_runs(
    runs: Mapping[str, tuple[Array, Sequence[Training]]], sample: Sample,
    measured: Callable[[Constants, Training, float, float], float],
) -> tuple[Ray, ...]:  # fmt: skip
    """The rays over spectra up to constants alone, of what is ``measured`` of a run."""
    beta, rays = sample.point[1], []
    for turn, constants in enumerate(given_constants(sample.seed)):
        risk = partial(measured, constants)
        for place, (name, (scale, along)) in enumerate(runs.items()):
            if sample.effort or place % 4 == 2 * turn:  # at the quick profile every second ray, over the two in turn
                moved = [run.repeating(beta) for run in along]
                rays.append(risk_ray(f"{name}, {constants.name}", scale, moved, sample, risk))
    return tuple(rays)


def repeating_size(size: float, beta: float) -> float:
    """The size M nearest to one, M^beta a whole power of the period."""
    period = math.log10(PERIOD) / beta  # of the size; its power beta may be beyond double precision
    return whole(period * round(math.log10(size) / period))


def long_after(size: float, sample: Sample) -> float:
    """An intrinsic time at which the model size decides: 10^(2/s) M^(3 beta), its first factor at most 1e80.

    Then t^-s, which the law still holds and the loss no longer does, is below M^-(s beta) by 100 M^(2 s beta); for
    small s the power of M alone would look like a drift.
    """
    s, beta = sample.point
    return float(size ** (3.0 * beta) * 10.0 ** min(2.0 / s, 80.0))


def even_grid(end: float, sample: Sample) -> Array:
    """Exponents of ten from 0 to ``end``, the more the more effort."""
    return np.linspace(0.0, end, 7 + 6 * sample.effort)


def silent(base: AnyRun, sample: Sample) -> tuple[Array, list[AnyRun]]:
    """The sizes and times of ``base``, with rates, batch sizes and label noise that vary where no noise is seen.

    What decides then is a term without them. No two vary alike, nor like a product or a quotient of others: a term
    cannot hold such a one and stay constant.
    """
    grid = even_grid(8.0, sample)[::2]
    return grid, [
        replace(
            base, peak=10**-u, batch=10 ** (SILENT + 1.7 * u), noise=10 ** (0.6 * u),
            final_over_peak=base.final_over_peak * (1.0 if base.final_over_peak == 1.0 else 10 ** (-0.4 * u)),
        )
        for u in grid
    ]  # fmt: skip


def whole(log10_size: float) -> float:
    """The whole number below a power of ten."""
    return float(math.floor(10.0**log10_size))


def decay_rays(
    sample: Sample, stable: Callable[[float], float], further: Mapping[str, tuple[Array, list[Training]]]
) -> tuple[Ray, ...]:
    """A decay phase: each term decides in turn, each variable varies alone; T_1 = stable(T_2), and ``further`` rays."""
    beta = sample.point[1]
    model, time, alone = (even_grid(LONGEST / factor, sample) for factor in (1.5 * beta, 1.0, beta))
    gap = 1.0 - 1.0 / beta
    # b/a >> T^(1/beta - 1) while b falls by 10^u: T grows to 10^(4 u) or faster
    final = even_grid(min(10.0, 0.5 * LONGEST * gap), sample)
    near, loud = even_grid(8.0, sample), 10**SILENT
    runs: dict[str, tuple[Array, list[Training]]] = {
        "M decides, T = 10^(2/s) M^(3 beta)": (
            alone, [_run(m, long_after(m, sample), stable, 1e-3, 10**SILENT, 1.0) for m in map(whole, alone)],
        ),
        # M so large that delta_M is below T^-s by T^(3 s): for small s that is little, and must not look like a drift.
        "T decides, M = T^(4/beta)": (
            time, [_run(whole(4 * u / beta), 10**u, stable, 1e-3, 10**SILENT, 1.0) for u in time],
        ),
        "b decides; b, B, sigma^2 and M vary": (
            final,
            [_run(whole(12.0 + u), 10 ** (2 * u / gap), stable, 0.5 * 10**-u, 10**u, loud * 10 ** (-2 * u))
             for u in final],
        ),
        "a - b decides, M large": (
            time, [_run(whole(2 * u / beta), 10**u, stable, 1e-200, 10 ** (0.5 * u), loud, 10 ** (-0.5 * u))
                   for u in time],
        ),
        "a - b decides, T = M^(3 beta/2)": (
            # the branch M of the minimum decides: it holds none of the letters that vary beside it
            model, [_run(whole(u), whole(u) ** (1.5 * beta), stable, 1e-200, 10 ** (1.7 * u), loud * 10 ** (-0.6 * u),
                         10**-u) for u in model],
        ),
        "a - b decides, T = M^beta": (
            model, [_run(m, m**beta, stable, 1e-200, 1.0, loud) for m in map(whole, model)],
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
            model, [_run(m, 10**LONGEST, stable, 1e-200, 1.0, loud) for m in map(whole, model)],
        ),
        "a - b decides, T alone varies, M = 10": (
            time, [_run(10.0, 10 ** (1.5 * beta + u), stable, 1e-200, 1.0, loud) for u in time],
        ),
        "b tends to a": (
            near, [_run(1e6, 1e4, stable, 1.0 - 0.5 * 10**-u, 1.0, loud, 10 ** (-2 * u)) for u in near],
        ),
        **further,
        **{
            f"{name} decides; a, b, B and sigma^2 vary": silent(_run(size, time, stable, 1e-3, 1.0, 1.0), sample)
            for name, size, time in (("M", 10.0, long_after(10.0, sample)), ("T", whole(40.0 / beta), 1e10))
        },
    }  # fmt: skip
    return functional_rays(runs, sample)


def _run(
    size: float, decay: float, stable: Callable[[float], float], final: float, batch: float, noise: float,
    peak: float = 1.0,
) -> Training:  # fmt: skip
    return Training(size, stable(decay), decay, final, batch, noise, peak)
