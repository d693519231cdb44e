"""eqn: fsl-simplified: the loss under constant label noise, in three parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from sympy import Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Ray
from fsl_num.functional import noise_functional
from fsl_num.model import Model
from fsl_num.paper.hypotheses import MODEL
from fsl_num.paper.scaling_laws.laws import NOISE, STABLE
from fsl_num.paper.scaling_laws.training import SILENT, Training, peak_rate, whole
from fsl_num.schedules import Constant, Cosine, Schedule
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
    logs: dict[str, list[float]] = {"t": [], "signal": [], "approximation": [], "noise": [], "sigma^2": []}
    values = []
    for plan, size, noise in runs:
        problem = Problem(Model(s=s, beta=beta, size=size, noise=noise), gamma=plan)
        values.append(math.log(float(solve(problem, problem.end, rtol=1e-8).excess_risk[0])))
        logs["t"].append(math.log(problem.end))
        logs["signal"].append(math.log(signal(problem.end, s, beta, size)))
        logs["approximation"].append(math.log(approximation_error(s, beta, size)))
        logs["noise"].append(math.log(noise_functional(problem.model, plan).value / plan.batch_size))
        logs["sigma^2"].append(math.log(noise))
    arrays = {key: np.array(each) for key, each in logs.items()}
    scale = arrays[growing] if growing == "sigma^2" else -arrays[growing]
    return Ray(name, scale, arrays, np.array(values))


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eqn: fsl-simplified", "eqn: fsl-simplified", 883, "the loss under constant label noise, in three parts",
        "For t >= 1 and sigma^2 >= c the excess risk is of the order delta_M + e_M(t) + (sigma^2/B) int K_M phi(T^-1): "
        "the Volterra solution against its three parts, M^-(s beta) through delta_M.",
        same_order(E, APPROXIMATION + SIGNAL + NOISE_PART * sigma**2),
        (MODEL, "approximation is M^-(s beta) through delta_M, signal is e_M(t), "
         "noise is the integral of K_M(t - r) gamma(r) over r from 0 to t", "t >= 1", NOISE, STABLE),
        tied_rays,
        depends=("approximation-error",), family="loss",
        quoted=r"\eqsim M^{-s\beta} + e_M(t) + \frac{\sigma^2}{B}\int_0^t \cK_M(t-r)\varphi(T^{-1}(r))\dd r",
    ),
)  # fmt: skip
