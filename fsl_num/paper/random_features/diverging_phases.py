"""The phases of random features in which the trace diverges, beta < 1, and what a tuned rate does there. Ours.

As in :mod:`fsl_num.paper.random_features.phases` the sums behind the terms of the law are minimised over the size; the
rate is the largest that is stable, as the followers take it, or tuned with the size. Capacities beta < 1 lie outside of
the plane of the paper: they are drawn from those of the samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Rational

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.hypotheses import NOTHING
from fsl_num.claims.statements import Joint, Ray, Statement
from fsl_num.paper.hypotheses import ORDER_OF_LAW
from fsl_num.paper.random_features.phases import formula
from fsl_num.validation import Array
from fsl_sym.proof import same_order
from fsl_sym.symbols import E

BUDGETS: Final = (60.0, 120.0)
"""log10 of the compute, from and to: of exponents that differ by less than in the plane beta > 1."""
FEATURES: Final = 2.0
"""N over M: with beta < 1 the number of features that W mixes must be finite."""
_FIRST: Final = 200
"""So many terms are summed one by one; the others are an integral in log j."""
_NODES: Final = 601
_LEAST_RATE: Final = 0.3
"""The smallest rate that is tried, as the power of the compute by which it is below the largest."""


def summed(term: Callable[[Array], Array], size: float) -> float:
    """sum of term(j) over j <= size, for a term that is smooth in log j; an integral beyond the first terms.

    >>> abs(summed(lambda j: j**-2.0, 1e9) / (math.pi**2 / 6) - 1) < 1e-6
    True
    """
    from scipy.integrate import simpson

    first = np.arange(1.0, min(size, _FIRST) + 1.0)
    total = float(term(first).sum())
    if size <= _FIRST:
        return total
    logs = np.linspace(math.log(_FIRST + 0.5), math.log(size + 0.5), _NODES)
    return total + float(simpson(term(np.exp(logs)) * np.exp(logs), x=logs))


@cache
def _share(beta: float) -> float:
    """x = kappa N^beta with sum_{j <= N} 1/(1 + kappa j^beta) = M: the mean of 1/(1 + x u^beta) over u is M/N."""
    from scipy.optimize import brentq
    from scipy.special import hyp2f1

    return float(brentq(lambda x: hyp2f1(1.0, 1.0 / beta, 1.0 + 1.0 / beta, -x) - 1.0 / FEATURES, 1e-6, 1e6))


def diverging_risk(s: float, beta: float, size: float, time: float, rate: float) -> float:
    """Twice the excess risk of M features of N = 2 M at the time T, up to constants, for beta < 1, no label noise.

    What is never learned is kappa sum lambda theta^2/(lambda + kappa) over the N features. The convolution with the
    kernel is split at T/2, as for beta > 1.
    """
    kappa = _share(beta) * (FEATURES * size) ** -beta
    floor = summed(lambda j: kappa * j ** (beta - 1.0 - s * beta) / (1.0 + kappa * j**beta), FEATURES * size)

    def at(power: float, when: float) -> float:
        return summed(lambda j: j**-power * np.exp(-2.0 * when * j**-beta), size)

    left = at(1.0 + s * beta, time)
    if s > 1.0:
        power = 1.0 + beta * (s - 1.0)
        left += summed(lambda j: j**-power, size) / size * at(beta, time)
        early = 0.5 * summed(lambda j: -(j**-power) * np.expm1(-time * j**-beta), size)
    else:
        early = 0.5 * time * at(1.0 + s * beta, 0.5 * time)
    late = left * 0.5 * summed(lambda j: -(j**-beta) * np.expm1(-time * j**-beta), size)
    return floor + left + rate * (late + at(2.0 * beta, time) * early)


@lru_cache(maxsize=256)
def _least(task: float, beta: float, log_compute: float, tuned: bool) -> tuple[float, float]:
    """log of the least risk over the size under a budget, and over the rate if it is tuned; log of that size."""
    from scipy.optimize import minimize_scalar

    def least(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
        minimum = minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": 1e-2})
        return float(minimum.fun), float(minimum.x)

    def risk(log_size: float, below: float) -> float:
        size = float(math.floor(math.exp(log_size)))
        rate = 0.25 * size ** (beta - 1.0) * math.exp(-below)
        return math.log(diverging_risk(task, beta, size, rate * math.exp(log_compute) / size, rate))

    def of_size(log_size: float) -> float:
        return least(partial(risk, log_size), 0.0, _LEAST_RATE * log_compute)[0] if tuned else risk(log_size, 0.0)

    return least(of_size, 0.05 * log_compute, 0.95 * log_compute)


def _points(name: str, s: Any, beta: Any) -> tuple[tuple[Any, Any], ...]:
    """(s, beta) inside a phase, away from its ends, where two terms meet."""
    low, share = 1 / beta, s / (1 + s)
    return {
        "Ib": ((share, low), ((1 + share) / 2, (1 + low) / 2)),
        "Ic": ((2 + share, Rational(1, 4) + low / 6), (3 + share, Rational(1, 4))),
        "IVa": ((2 + share, (3 + low) / 4), (3 + share, Rational(3, 4))),
        "IVb": ((3 + share, Rational(54, 100)),),
        "IV, tuned": ((2 + share, (3 + low) / 4), (3 + share, Rational(3, 4))),
    }[name]


def _rays(name: str, sample: Sample) -> dict[str, tuple[Ray, ...]]:
    logs: Array = math.log(10.0) * np.linspace(*BUDGETS, 3 + 3 * sample.effort)
    rays_of: dict[str, tuple[Ray, ...]] = {}
    for task, capacity in _points(name, sample.s, sample.beta):
        values, sizes = np.transpose(
            [_least(float(task), float(capacity), log_samples, "tuned" in name) for log_samples in logs]
        )
        own = {"C": logs, "M": sizes, "N": math.log(FEATURES) + sizes, "B": np.zeros(logs.size),
               "sigma^2": np.full(logs.size, NOTHING)}  # fmt: skip
        rays_of[f"s = {task}, beta = {capacity}"] = (Ray("C to infinity", logs, own, values, 0),)
    return rays_of


def _says(name: str, sample: Sample, of: str = "") -> Joint:
    """The exponent of the phase ``of``, by default its own, at the points of a phase."""
    order = same_order(E, formula(of or name).right)
    return Joint(
        {f"s = {task}, beta = {capacity}": order_statement(order, replace(sample, s=task, beta=capacity))
         for task, capacity in _points(name, sample.s, sample.beta)}
    )  # fmt: skip


def _mutants(name: str, sample: Sample) -> dict[str, Statement]:
    """The exponents of the other phases with a diverging trace."""
    return {f"the exponent of phase {phase}": _says(name, sample, phase) for phase in _PHASES if phase != name}


_PHASES: Final = {
    "Ib": "At the largest stable rate what is never learned meets the signal.",
    "Ic": "What is never learned meets the signal: the kernel remembers less than is never learned.",
    "IVa": "At the largest stable rate what is never learned meets the remembered noise.",
    "IVb": "At the largest stable rate the signal meets the remembered noise, and what is never learned is below both.",
    "IV, tuned": "The largest stable rate is too large here; tuned, what is never learned, signal and remembered noise "
    "meet.",
}
"""What meets where the least risk is."""


def _claim(claim_id: str, name: str) -> Claim:
    return Claim(
        claim_id, "thm: fsl-random", 627, f"random features, phase {name}",
        partial(formula, name),
        ("s > 0", "beta < 1", "N = 2 M", "sigma = 0, B = 1", ORDER_OF_LAW),
        partial(_rays, name), partial(_says, name), partial(_mutants, name),
        regimes=("easy",), own=partial(_points, name), role="own", depends=("thm: fsl-random/corrected",),
        remark=_PHASES[name], also_in=("features",),
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _claim("feature-phases/Ib", "Ib"),
    _claim("feature-phases/Ic", "Ic"),
    _claim("feature-phases/IVa", "IVa"),
    _claim("feature-phases/IVb", "IVb"),
    _claim("feature-phases/IV-tuned", "IV, tuned"),
)
