"""The compute-optimal exponents of random features in the phases of the followers that have a finite trace. Ours.

The engine derives the exponents from the terms of the law; here the sums behind those terms are minimised over the
size, one budget after another. Followers of the paper write alpha for beta/2 and beta for (1 + s beta - beta)/2.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Rational, oo

from fsl_num.claims.claim import ALL_REGIMES, Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.hypotheses import NOTHING
from fsl_num.claims.statements import Joint, Ray, Statement
from fsl_num.paper.hypotheses import MODEL, ORDER_OF_LAW
from fsl_num.spectrum import exponential_sum, forgetting_kernel, kernel_integral, signal
from fsl_num.validation import Array
from fsl_sym.feature_phases import phase_optimum, phases
from fsl_sym.proof import Formula, same_order
from fsl_sym.symbols import E, beta

_BUDGETS: Final = (30.0, 60.0)
"""log10 of the compute, from and to: terms that meet have settled there."""
_NODES: Final = 250
"""Values of log v for the integral of exp(-v) against powers of v: good to a per cent where they are two apart."""
_LEAST: Final = 600.0
"""-log of the least kappa that is tried: below, floats end."""


def never_learned(s: float, beta: float, size: float) -> float:
    """kappa sum_j lambda_j theta_j^2/(lambda_j + kappa) with sum_j lambda_j/(lambda_j + kappa) = M, for large M.

    1/(lambda + kappa) is the integral of exp(-u (lambda + kappa)), so that this is that of exp(-v) e(v/(2 kappa)); the
    sum for kappa is M = kappa^(-1/beta) (pi/beta)/sin(pi/beta).
    """
    kappa = (math.pi / beta / math.sin(math.pi / beta) / size) ** beta
    logs = np.linspace(math.log(kappa) - 20.0, math.log(40.0), _NODES)
    v = np.exp(logs)
    return float(np.sum(np.exp(-v) * v * signal(v / (2.0 * kappa), s, beta)) * (logs[1] - logs[0]))


def features_risk(s: float, beta: float, size: float, time: float) -> float:
    """Twice the excess risk of M random features at the time T, up to constants, at gamma = 1 and without label noise.

    The target of feature j is theta_j^2 and the mean of those before it: for s < 1 this changes no order, for s > 1 it
    tends to (1/M) sum theta_i^2. The convolution with the kernel is split at T/2: each half is the monotone factor that
    changes by a constant over it, times the integral of the other (what leaks is remembered less than it is left).
    """
    from scipy.special import zeta

    left = float(signal(time, s, beta, size))
    if s > 1.0:
        mean = float(zeta(1.0 + beta * (s - 1.0))) / size
        left += mean * float(exponential_sum(beta, time, beta, size))
        power = 1.0 + beta * (s - 1.0)
        start, end = exponential_sum(power, np.array([0.0, 0.5 * time]), beta, size)
        early = 0.5 * float(start - end)
    else:
        early = 0.5 * time * float(signal(0.5 * time, s, beta, size))
    remembered = float(forgetting_kernel(time, beta, size)) * early
    late = left * float(kernel_integral(0.0, 0.5 * time, beta, size))
    return never_learned(s, beta, size) + left + late + remembered


@lru_cache(maxsize=256)
def _least(task: float, beta: float, log_compute: float) -> float:
    """log of the least risk over the size under a budget."""

    from scipy.optimize import minimize_scalar

    def risk(log_size: float) -> float:
        size = float(math.floor(math.exp(log_size)))
        return math.log(features_risk(task, beta, size, math.exp(log_compute) / size))

    bounds = (0.05 * log_compute, min(0.95 * log_compute, _LEAST / beta))
    return float(minimize_scalar(risk, bounds=bounds, method="bounded", options={"xatol": 1e-2}).fun)


def _tasks(name: str, capacity: Any) -> tuple[Any, ...]:
    """Tasks inside of the range of s that a phase says, away from its ends, where two terms meet."""
    ends = phases()[name].condition.subs(beta, capacity).as_set()
    low, high = (0 if ends.inf == -oo else ends.inf), ends.sup
    if high == oo:
        return low + Rational(1, 2), low + 1
    return low + (high - low) / 3, low + 2 * (high - low) / 3


def _rays(name: str, sample: Sample) -> dict[str, tuple[Ray, ...]]:
    logs: Array = math.log(10.0) * np.linspace(*_BUDGETS, 3 + 3 * sample.effort)
    quiet = {"sigma^2": np.full(logs.size, NOTHING), "gamma": np.zeros(logs.size)}
    rays_of: dict[str, tuple[Ray, ...]] = {}
    for task in _tasks(name, sample.beta):
        values = [_least(float(task), float(sample.beta), log_samples) for log_samples in logs]
        rays_of[f"s = {task}"] = (Ray("C to infinity", logs, {"C": logs, **quiet}, np.array(values), 0),)
    return rays_of


def _says(name: str, sample: Sample, of: str = "") -> Joint:
    """The exponent of the phase ``of``, by default its own, at the tasks of a phase."""
    order = same_order(E, formula(of or name).right)
    return Joint({f"s = {task}": order_statement(order, replace(sample, s=task))
                  for task in _tasks(name, sample.beta)})  # fmt: skip


def _mutants(name: str, sample: Sample) -> dict[str, Statement]:
    """The exponents of the other phases of beta > 1."""
    phases_beside = [phase_name for phase_name, phase in phases().items() if phase.finite_trace and phase_name != name]
    return {f"the exponent of phase {phase_name}": _says(name, sample, phase_name) for phase_name in phases_beside}


def formula(name: str) -> Formula:
    """The least excess risk of a phase, as the engine derives it."""
    return phases()[name].formula


def _claim(name: str, remark: str, regimes: tuple[str, ...], proved: bool = True) -> Claim:
    phase = name.rpartition("/")[2]
    return Claim(
        name, "thm: fsl-random", 627, f"random features, phase {phase}",
        partial(formula, phase),
        (MODEL, "sigma = 0, gamma = 1", ORDER_OF_LAW), partial(_rays, phase),
        partial(_says, phase), partial(_mutants, phase),
        derive=partial(phase_optimum, phase) if proved else None, regimes=regimes,
        own=lambda s, beta: [(task, beta) for task in _tasks(phase, beta)], role="own",
        depends=("thm: fsl-random/corrected",), remark=remark, also_in=("features",),
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _claim(
        "feature-phases/Ia",
        "What is never learned meets the signal.",
        ALL_REGIMES,
    ),
    _claim(
        "feature-phases/II",
        "The signal meets what leaks into later features.",
        ("easy",), proved=False,
    ),
    _claim(
        "feature-phases/III",
        "What leaks meets the remembered noise of the start.",
        ("easy",),
    ),
)  # fmt: skip
