"""eqn: fsl-simplified: the loss under constant label noise, in three parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from sympy import Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Ray
from fsl_num.claims.words import Where
from fsl_num.functional import noise_functional
from fsl_num.model import Model
from fsl_num.paper.block_constants import PERIOD, UP_TO_CONSTANTS, Constants, given_constants
from fsl_num.paper.functional.runs import equation_up_to_constants
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.scaling_laws.laws import NOISE, STABLE
from fsl_num.paper.scaling_laws.training import SILENT, Training, peak_rate, whole
from fsl_num.schedules import Constant, Cosine, ExponentialDecay, Schedule
from fsl_num.spectrum import approximation_error, signal
from fsl_num.volterra import Problem, solve
from fsl_sym.proof import same_order
from fsl_sym.symbols import E, sigma

APPROXIMATION, SIGNAL, NOISE_PART = (Symbol(name, positive=True) for name in ("approximation", "signal", "noise"))


@lru_cache(maxsize=64)
def tied_rays(sample: Sample) -> tuple[Ray, ...]:
    """The Volterra loss against the parts of the functional law: signal, approximation error and noise decide in turn.

    The variables are "signal" (e_M(T)), "approximation" (delta_M) and "noise" (N/B, sigma^2 apart), all measured.
    """
    s, beta = sample.point
    count = 4 + 2 * sample.effort
    grid = np.linspace(2.0, 6.0 + 2.0 * sample.effort, count)
    sizes = sorted({max(2.0, whole(u)) for u in np.linspace(0.5, 7.0 / beta, count)})
    sizes = sizes if len(sizes) >= 4 else [2.0, 3.0, 4.0, 5.0]
    # so large that delta_M is negligible, and not below the smallest float
    large = whole(min(300.0, 250.0 / (s * beta)))
    rays = [
        _tied("signal decides, exponential decay; sigma^2 grows", sample, "signal",
              [(Training(large, 0.0, 10**u, 1e-3, 10**SILENT).schedule(beta), large, 10 ** (s * u))
               for u in (0.0, *grid)]),
        _tied("approximation decides, stable phase first; sigma^2 grows", sample, "approximation",
              # ever later in units of M^beta, where the signal is gone: its share must not stand in for delta_M
              [(Training(m, 3 * k * m**beta, 2 * m**beta, 1e-3, 10**SILENT).schedule(beta), m, m ** (s * beta))
               for k, m in enumerate(sizes, 1)]),
    ]  # fmt: skip
    kinds = ("constant", "stable phase first", "cosine to zero", "exponential decay")
    for kind in kinds if sample.effort else kinds[:3]:
        # at the constant rate the size grows too: the noise must not depend on what the model lacks
        runs = [
            (_loud_schedule(kind, u, beta), whole(4.0 + 1.5 * u) if kind == "constant" else 1e12,
             10 ** (SILENT + 0.5 * u))
            for u in grid
        ]  # fmt: skip
        rays.append(_tied(f"noise decides, {kind}", sample, "noise", runs))
    steady = Training(1.0, 1e2).schedule(beta)
    runs = [(steady, 1e12, 10.0**power) for power in np.linspace(4.0, 44.0, 2 * count)]
    rays.append(_tied("noise decides, sigma^2 alone varies", sample, "sigma^2", runs))
    return (*rays, *_up_to_constants(sample))


def _outside(sample: Sample) -> dict[str, list[Ray]]:
    """A rate at which the loss grows, gamma tr(H)/2 = 1.5; and hardly any label noise."""
    s, beta = sample.point
    grid = np.linspace(0.3, 2.5, 6)
    rate, steady = 15.0 * peak_rate(beta), peak_rate(beta)
    return {
        "gamma tr(H)/2 = 1.5": [_tied("t grows", sample, "signal", [
            (Constant(peak=rate, steps=10**u / rate), 1e12, 1.0) for u in grid])],
        "sigma^2 to 0": [_tied("t grows", sample, "signal", [
            (Constant(peak=steady, steps=10 ** (2 * u) / steady), whole(250.0 / (s * beta)), 1e-200) for u in grid])],
    }  # fmt: skip


def _up_to_constants(sample: Sample) -> list[Ray]:
    """The same over spectra up to constants, at M^beta and t in their whole periods, by the equation on a mesh."""
    s, beta = sample.point
    periods = PERIOD ** np.arange(1.0, 6.0)
    sizes = np.floor(periods ** (1.0 / beta) * (1.0 + 1e-12)).tolist()
    # neither lambda_M nor delta_M is below the smallest float
    large, silent, loud = whole(200.0 / (beta * max(1.0, s))), 10**SILENT, 10**SILENT
    runs: dict[str, Sequence[Training]] = {
        "signal": [Training(large, 0.0, time, 1e-3, silent) for time in periods.tolist()],
        "approximation": [Training(m, 3 * k * m**beta, 2 * m**beta, 1e-3, silent) for k, m in enumerate(sizes, 2)],
        # a last rate so small that what it leaves, which does not fall with T, is not seen
        "noise": [Training(large, time, time, 1e-30, 1.0, loud) for time in periods.tolist()],
    }
    return [
        _ray(f"{growing} decides, {constants.name}", growing, [_on_mesh(constants, run, s, beta) for run in along])
        for constants, (growing, along) in product(given_constants(sample.seed), runs.items())
    ]


def _on_mesh(constants: Constants, run: Training, s: float, beta: float) -> dict[str, float]:
    plan = run.schedule(beta)
    end = plan.total_intrinsic_time
    equation = equation_up_to_constants(constants, s, beta, run.size, end)
    parts = equation.parts(plan.gamma_before_end(end * (1.0 - equation.mesh.middles)))
    loss = parts["delta"] * parts["loss_one"] + parts["loss_e"] + run.noise * parts["noise_one"]
    numbers = {"t": end, "a": run.peak * peak_rate(beta), "B": run.batch,
               "signal": parts["e"], "approximation": parts["delta"], "noise": parts["label"],
               "sigma^2": run.noise, "E": 0.5 * loss}  # fmt: skip
    return {name: math.log(value) for name, value in numbers.items()}


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
    measured = []
    for plan, size, noise in runs:
        problem = Problem(Model(s=s, beta=beta, size=size, noise=noise), gamma=plan)
        numbers = {
            "t": problem.end,
            "a": plan.peak,
            "B": plan.batch_size,
            "signal": signal(problem.end, s, beta, size),
            "approximation": approximation_error(s, beta, size),
            "noise": noise_functional(problem.model, plan).value / plan.batch_size,
            "sigma^2": noise,
            "E": float(solve(problem, problem.end, rtol=1e-8, allow_unstable=True).excess_risk[0]),
        }
        measured.append({key: math.log(value) for key, value in numbers.items()})
    return _ray(name, growing, measured)


def _parts(sample: Sample) -> dict[str, Any]:
    """The variables of a ray at its one place, and what the model has of them."""
    model, rate = Model(*sample.point, 20.0, 0.0), peak_rate(sample.point[1])
    plans = [ExponentialDecay(peak=rate, final=0.1 * rate, steps=steps / rate) for steps in (4.0, 5.0, 6.0, 7.0)]
    logs = _tied("", sample, "signal", [(plan, 20.0, 1.0) for plan in plans]).logs
    parts = {name: math.exp(logs[name][0]) for name in ("t", "approximation", "signal", "noise")}
    own = {"delta_M": model.approximation_error, "e_M": lambda t: float(model.signal(t)), "K_M": model.kernel}
    return {**parts, **own, "gamma": plans[0].gamma}


def _ray(name: str, growing: str, measured: Sequence[dict[str, float]]) -> Ray:
    logs = {key: np.array([record[key] for record in measured]) for key in measured[0]}
    values = logs.pop("E")
    return Ray(name, logs[growing] if growing == "sigma^2" else -logs[growing], logs, values)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: fsl-simplified", "eqn: fsl-simplified", 883, "the loss under constant label noise, in three parts",
        same_order(E, APPROXIMATION + SIGNAL + NOISE_PART * sigma**2),
        (MODEL, Where("approximation is delta_M; signal is e_M(t); "
         "noise is the integral over r from 0 to t of K_M(t - r) gamma(r)", _parts),
         "t >= 1", NOISE, STABLE, UP_TO_CONSTANTS),
        tied_rays, beyond=_outside,
        depends=("approximation-error",), family="loss",
        quoted=r"\eqsim M^{-s\beta} + e_M(t) + \frac{\sigma^2}{B}\int_0^t \cK_M(t-r)\varphi(T^{-1}(r))\dd r",
    ),
)  # fmt: skip
