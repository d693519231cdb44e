"""cor: contraction/longer: how far the subconvolution reaches."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Expr, Integer, Integral, Sum, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.points import along_edge
from fsl_num.claims.statements import Equivalent, Ray, Statement
from fsl_num.paper.block_constants import exact_powers
from fsl_num.paper.hypotheses import MODEL
from fsl_num.spectrum import trace
from fsl_num.validation import Array
from fsl_sym.best_constants import pair_of_modes
from fsl_sym.proof import AllOf, equals, same_order
from fsl_sym.spectrum import forgetting_kernel
from fsl_sym.symbols import M as SIZE
from fsl_sym.symbols import beta, j, t, z


def scaled_ratio(multiple: float, beta: float, size: int) -> float:
    """(K_M * K_M)(t)/K_M(t) at t = multiple M^(2 beta), summed over all pairs of modes.

    Both are divided by exp(-2 lambda_M t), which lies far below the smallest number of double precision.
    """
    index = np.arange(1.0, size + 1.0)
    rates = index**-beta
    t = multiple * float(size) ** (2.0 * beta)
    fall = np.exp(-np.minimum(2.0 * t * (rates - rates[-1]), 745.0))
    kernel = float(rates**2 @ fall)
    difference = 2.0 * (rates[:, None] - rates[None, :])
    turn = np.abs(difference) * t
    # (exp(-2 b t) - exp(-2 a t))/(2 (a - b)) with the slower mode in front; t where the rates agree.
    share = np.where(turn > 1e-12, -np.expm1(-turn) / np.maximum(turn, 1e-300), 1.0)
    slower = np.maximum(fall[:, None], fall[None, :])
    squares = rates**2
    return float(squares @ (slower * share * t) @ squares) / kernel


def _from_two_on(s: Any, beta: Any) -> tuple[Any, Any]:
    """Smaller beta raised to 2, in the same regime.

    What is left of the limit falls like M^-(beta-1) and changes its constant near t = M^(beta+1): for beta below 2 the
    sums over all pairs of at most a thousand modes still drift by up to 0.02, which says nothing of larger models.
    """
    raised = max(beta, Integer(2))
    return along_edge(s, beta, raised), raised


@lru_cache(maxsize=64)
def reach_rays(sample: Sample) -> tuple[Ray, ...]:
    """The ratio along M at t from M^beta to 1e6 M^(2 beta), and far beyond along t and along M; logs of tr(H_M) too."""
    beta = sample.point[1]
    sizes = np.unique(np.floor(np.geomspace(8.0, 1000.0 if sample.effort else 400.0, 8)))
    rays = []
    for power, multiple in ((1.0, 1.0), (1.0, 10.0), (1.5, 1.0), (2.0, 0.1), (2.0, 1.0), (2.0, 1e6)):
        log_t = math.log(multiple) + power * beta * np.log(sizes)
        rays.append(_reach_ray(f"t = {multiple:g} M^({power:g} beta)", beta, sizes, log_t, np.log(sizes)))
    log_t = np.log(np.geomspace(1e4, 1e12, 8)) + 2.0 * beta * math.log(40.0)
    rays.append(_reach_ray("M = 40, t beyond M^(2 beta)", beta, np.full(8, 40.0), log_t, log_t))
    sizes = np.floor(np.geomspace(100.0, 400.0, 8))
    log_t = np.full(8, math.log(1e4) + 2.0 * beta * math.log(400.0))
    rays.append(_reach_ray("t = 1e4 400^(2 beta), M alone", beta, sizes, log_t, np.log(sizes)))
    return tuple(rays)


def _reach_ray(name: str, beta: float, sizes: Array, log_t: Array, scale: Array) -> Ray:
    multiples = np.exp(log_t - 2.0 * beta * np.log(sizes))
    values = [scaled_ratio(float(a), beta, int(size)) for a, size in zip(multiples, sizes, strict=True)]
    logs = {"M": np.log(sizes), "t": log_t, "trace": np.log([trace(beta, float(size)) for size in sizes])}
    return Ray(name, scale, logs, np.log(values))


_TRACE: Final = Symbol("trace", positive=True)
"""The sum of the eigenvalues: a number, with no power."""
_RATIO: Final = Integral(forgetting_kernel(t - z) * forgetting_kernel(z), (z, 0, t)) / forgetting_kernel()
_ORDER: Final = same_order(_RATIO, _TRACE + t * SIZE ** (-2 * beta))
LONGER: Final = AllOf((_ORDER, equals(_TRACE, Sum(j**-beta, (j, 1, SIZE)))))


def _reach(sample: Sample) -> Equivalent:
    return _stated(sample, _ORDER.right)


def _stated(sample: Sample, order: Expr) -> Equivalent:
    return order_statement(same_order(_RATIO, order), sample).of("t", "M")


def _reach_mutants(sample: Sample) -> dict[str, Statement]:
    return {
        "bounded for all t": _stated(sample, _TRACE),
        "bounded up to t = M^beta only": _stated(sample, _TRACE + t * SIZE**-beta),
    }


def _traces(sample: Sample) -> list[dict[Any, Any]]:
    """The quotient and the trace of three features."""
    capacity = sample.point[1]
    ratio = scaled_ratio(10.0 / 3 ** (2 * capacity), capacity, 3)
    return [{_RATIO: ratio, t: 10.0, _TRACE: trace(capacity, 3), SIZE: 3}]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "cor: contraction/longer", "cor: contraction", 769, "how far the subconvolution reaches",
        LONGER,
        (MODEL, "M^beta <= t <= 1e12 M^(2 beta)", "beta >= 2",
         exact_powers("where the last eigenvalues are equal a share of M of them is left, and t M^(1 - 2 beta) stands "
                      "for t M^(-2 beta)")),
        reach_rays, _reach, _reach_mutants, derive=pair_of_modes, moved=_from_two_on, instances=_traces,
        role="stronger", strengthens="cor: contraction", depends=("cor: contraction",), family="gaps",
        remark="It grows only where one mode is left.",
    ),
)  # fmt: skip
