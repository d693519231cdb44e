"""sec: experiments: the simplified functional scaling law at the sizes of the paper's own experiments."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Integer, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Equivalent, Ray
from fsl_num.claims.words import Where
from fsl_num.functional import noise_functional
from fsl_num.model import Model
from fsl_num.paper.scaling_laws.training import peak_rate
from fsl_num.schedules import Constant, Cosine, ExponentialDecay, Schedule, StableDecay
from fsl_num.spectrum import approximation_error, signal, trace
from fsl_num.volterra import Problem, solve
from fsl_sym import spectrum as exact
from fsl_sym.proof import same_order
from fsl_sym.symbols import E, T

OWN_SIZE, OWN_NOISE = 128, 9.0
NOISE_INTEGRAL = Symbol("N(phi)", positive=True)
RUN_STEPS = (1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
"""The paper trains for 10,000 steps; shorter and longer runs show that nothing drifts."""
QUICK_STEPS = RUN_STEPS[2:]
"""The quick profile leaves out the shortest runs, and judges the drift over the same ones as the others."""


def _schedules(steps: float, beta: float) -> dict[str, Schedule]:
    peak = peak_rate(beta)
    return {
        "constant": Constant(peak=peak, steps=steps),
        "exponential decay": ExponentialDecay(peak=peak, final=peak / steps, steps=steps),
        "stable, then decay": StableDecay(peak=peak, final=peak / steps, steps=steps, decay_fraction=0.2),
        "cosine": Cosine(peak=peak, steps=steps),
    }


@lru_cache(maxsize=64)
def own_setting_rays(sample: Sample) -> tuple[Ray, ...]:
    """Excess risk by the Volterra equation as the number of steps grows, one ray a schedule.

    With N = M there is no approximation error. The equation without delta_M and with noise sigma^2 is the one with
    delta_M and noise sigma^2 - delta_M, its solution less delta_M.
    """
    s, beta = sample.point
    missing = approximation_error(s, beta, OWN_SIZE)
    rays = []
    for name in _schedules(RUN_STEPS[0], beta):
        logs: dict[str, list[float]] = {"T": [], "signal": [], "noise": []}
        values = []
        for steps in RUN_STEPS if sample.effort else QUICK_STEPS:
            plan = _schedules(steps, beta)[name]
            problem = Problem(Model(s=s, beta=beta, size=OWN_SIZE, noise=OWN_NOISE - missing), gamma=plan)
            solved = float(solve(problem, problem.end, rtol=1e-10).excess_risk[0])
            values.append(math.log(solved - 0.5 * missing))
            logs["T"].append(math.log(problem.end))
            # Long after M^beta the signal is exp(-2 T/M^beta), at last below the smallest float and beside the noise 0.
            logs["signal"].append(math.log(max(signal(problem.end, s, beta, OWN_SIZE), 1e-300)))
            logs["noise"].append(math.log(OWN_NOISE * noise_functional(problem.model, plan).value))
        arrays = {key: np.array(along) for key, along in logs.items()}
        rays.append(Ray(name, arrays["T"], arrays, np.array(values), len(values) - len(RUN_STEPS) // 2))
    return tuple(rays)


def own_setting(sample: Sample) -> Located:
    """The same with the letters that all rays share; no schedule gives a batch of more than one sample."""
    letters = {
        "M": OWN_SIZE,
        "N": OWN_SIZE,
        "sigma": math.sqrt(OWN_NOISE),
        "B": 1.0,
        "c": peak_rate(sample.point[1]) * trace(sample.point[1]) / 2.0,
    }
    return Located(own_setting_rays(sample), letters)


def _stability(sample: Sample) -> dict[str, Any]:
    """The largest rate of the schedules, and the trace of infinitely many features by another sum."""
    from scipy.special import zeta

    rate = max(plan.peak for plan in _schedules(RUN_STEPS[0], sample.point[1]).values())
    return {"c": own_setting(sample).letters["c"], "gamma_max": rate,
            "the trace of infinitely many features": float(zeta(sample.point[1]))}


OWN_LAW = exact.signal(T, Integer(OWN_SIZE)) + 9 * NOISE_INTEGRAL


def _first_sums(sample: Sample) -> list[dict[Any, Any]]:
    """The law at the first place of each ray."""
    return [{T: math.exp(ray.logs["T"][0]), NOISE_INTEGRAL: math.exp(ray.logs["noise"][0]) / OWN_NOISE,
             OWN_LAW: math.exp(ray.logs["signal"][0]) + math.exp(ray.logs["noise"][0])}
            for ray in own_setting_rays(sample)]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "sec: experiments/own-setting", "sec: experiments", 1371,
        "the functional scaling law at the sizes of the paper's experiments",
        same_order(E, OWN_LAW),
        ("M = N = 128", "sigma = 3", "B = 1",
         Where("N(phi) is the noise over sigma^2"),
         Where("c is gamma_max/2 times the trace of infinitely many features", _stability),
         "c = 0.1"), own_setting,
        lambda sample: Equivalent(
            lambda power, logs: power["risk"] * np.logaddexp(logs["signal"], logs["noise"]), {"risk": 1.0}
        ),
        lambda sample: {"noise dropped": Equivalent(lambda power, logs: power["risk"] * logs["signal"], {"risk": 1.0})},
        depends=("eqn: fsl-simplified",), family="own-setting", role="own", instances=_first_sums,
        remark="Here nothing is left for the approximation error, so that a hypothesis of the theorems does not "
               "hold; it is not needed.",
    ),
)  # fmt: skip
