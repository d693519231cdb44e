"""What K_infinity adds to K_M inside the law: the two gaps of the paper's proofs, and the reach of the subconvolution.

The gaps are measured at gamma = 1, where they are largest: their integrands are positive.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.functional import integrate_graded
from fsl_num.paper.functional.instrument import Array
from fsl_num.spectrum import exponential_sum, signal, trace

MULTIPLES = (1.0, 10.0)
"""t/M^beta at which the gap with the signal is measured: it is largest near t = M^beta."""


def tail_kernel(t: Array, beta: float, size: float) -> Array:
    """K_infinity(t) - K_M(t), summed from M + 1 on."""
    return np.asarray(exponential_sum(2.0 * beta, t, beta, start=int(size) + 1))


def signal_gap(t: float, s: float, beta: float, size: float) -> float:
    """int_0^t (K_infinity - K_M)(t - z) e_M(z) dz by graded quadrature of both halves."""

    def late(rest: Array) -> Array:
        return np.asarray(tail_kernel(rest, beta, size) * signal(np.maximum(t - rest, 0.0), s, beta, size))

    def early(z: Array) -> Array:
        return np.asarray(tail_kernel(np.maximum(t - z, 0.0), beta, size) * signal(z, s, beta, size))

    # Drifts are judged to 1e-2 per unit of log M; 1e-6 cannot be seen.
    return sum(integrate_graded(half, 0.5 * t, rtol=1e-6).value for half in (late, early))


def noise_gap(t: float, beta: float, size: float) -> float:
    """int_0^t (K_infinity - K_M): half of the sum over j > M of lambda_j (1 - exp(-2 lambda_j t))."""
    start = int(size) + 1
    return 0.5 * float(exponential_sum(beta, 0.0, beta, start=start) - exponential_sum(beta, t, beta, start=start))


def gap_sizes(beta: float, count: int) -> Array:
    """Model sizes up to t = M^beta = 1e60 (M at most 1e15, where whole numbers end)."""
    return np.floor(np.geomspace(10.0, 10.0 ** min(15.0, 60.0 / beta), count))


@lru_cache(maxsize=128)
def signal_gap_rays(sample: Sample, s: float | None = None) -> tuple[Ray, ...]:
    """The gap with the signal along M at t = M^beta and 10 M^beta."""
    own, beta = sample.point
    sizes = gap_sizes(beta, 7 + 3 * min(sample.effort, 1))
    found = []
    for multiple in MULTIPLES:
        values = [signal_gap(multiple * size**beta, own if s is None else s, beta, size) for size in sizes]
        found.append(Ray(f"t = {multiple:g} M^beta", np.log(sizes), {"M": np.log(sizes)}, np.log(values)))
    return tuple(found)


def noise_gap_rays(sample: Sample) -> tuple[Ray, ...]:
    """The gap with constant noise along M at t = M^beta, 100 M^beta and for t to infinity."""
    beta = sample.point[1]
    sizes = gap_sizes(beta, 10)
    found = []
    for multiple in (1.0, 100.0, 1e30):
        values = [noise_gap(multiple * size**beta, beta, size) for size in sizes]
        found.append(Ray(f"t = {multiple:g} M^beta", np.log(sizes), {"M": np.log(sizes)}, np.log(values)))
    return tuple(found)


def partial_sum_rays(beta: float) -> tuple[Ray, ...]:
    """M^(1-2 beta) sum_{j<=M} j^(beta - s beta - 1) at s = 1, where the sum is harmonic: the middle line of a proof."""
    sizes = np.geomspace(10.0, 1e15, 12)
    harmonic = np.log(sizes) + float(np.euler_gamma) + 0.5 / sizes
    logs = np.log(sizes)
    return (Ray("s = 1", logs, {"M": logs}, (1.0 - 2.0 * beta) * logs + np.log(harmonic)),)


def total_gap(sample: Sample) -> list[tuple[dict[str, Any], float]]:
    """The gap with constant noise at t = 1e60 M^beta by quadrature of the tail kernel, for several M."""
    beta = sample.point[1]
    found = []
    for size in (1, 7, 200):

        def tail(t: Array, start: int = size) -> Array:
            return tail_kernel(t, beta, float(start))

        # What is left beyond 1e60 M^beta is below 1e-60^(1 - 1/beta), 1e-12 of the whole for beta >= 4/3.
        found.append(({"M": size}, integrate_graded(tail, 1e60 * size**beta).value))
    return found


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


def reach_exponent(sample: Sample) -> float:
    """The capacity exponent at which the reach of the subconvolution is checked: that of the sample, at least 2.

    What is left of the limit falls like M^-(beta-1) and changes its constant near t = M^(beta+1): for beta below 2 the
    sums over all pairs of at most a thousand modes still drift by up to 0.02, which says nothing of larger models.
    """
    return max(sample.point[1], 2.0)


@lru_cache(maxsize=64)
def reach_rays(sample: Sample) -> tuple[Ray, ...]:
    """The ratio along M at t from M^beta to 1e6 M^(2 beta), and far beyond along t and along M; logs of tr(H_M) too."""
    beta = reach_exponent(sample)
    sizes = np.unique(np.floor(np.geomspace(8.0, 1000.0 if sample.effort else 400.0, 8)))
    found = []
    for power, multiple in ((1.0, 1.0), (1.0, 10.0), (1.5, 1.0), (2.0, 0.1), (2.0, 1.0), (2.0, 1e6)):
        log_t = math.log(multiple) + power * beta * np.log(sizes)
        found.append(_reach_ray(f"t = {multiple:g} M^({power:g} beta)", beta, sizes, log_t, np.log(sizes)))
    log_t = np.log(np.geomspace(1e4, 1e12, 8)) + 2.0 * beta * math.log(40.0)
    found.append(_reach_ray("M = 40, t beyond M^(2 beta)", beta, np.full(8, 40.0), log_t, log_t))
    sizes = np.floor(np.geomspace(100.0, 400.0, 8))
    log_t = np.full(8, math.log(1e4) + 2.0 * beta * math.log(400.0))
    found.append(_reach_ray("t = 1e4 400^(2 beta), M alone", beta, sizes, log_t, np.log(sizes)))
    return tuple(found)


def _reach_ray(name: str, beta: float, sizes: Array, log_t: Array, scale: Array) -> Ray:
    multiples = np.exp(log_t - 2.0 * beta * np.log(sizes))
    values = [scaled_ratio(float(a), beta, int(size)) for a, size in zip(multiples, sizes, strict=True)]
    logs = {"M": np.log(sizes), "t": log_t, "trace": np.log([trace(beta, float(size)) for size in sizes])}
    return Ray(name, scale, logs, np.log(values))
