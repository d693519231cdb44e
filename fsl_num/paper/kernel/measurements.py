"""The signal, the forgetting kernel and what is made of them, measured along rays to infinity.

Rays know the hypotheses of the claims (where t lies against M^beta) and nothing of what is claimed there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.functional import integrate_graded
from fsl_num.spectrum import approximation_error, exponential_sum, forgetting_kernel, kernel_integral, signal

Array = NDArray[np.float64]
Quantity = Callable[[float, float], float]
"""(t, M) -> a positive number."""

DECADES = 100.0
"""Rays end at most there: far enough for s = 0.02, whose finite-M corrections fall like (t/M^beta)^s."""
SMALLEST = 270.0
"""No measured value is asked for below 1e-270."""


def decades(power: float) -> float:
    """Natural logarithm of the last time at which t^-power can still be held."""
    return math.log(10.0) * min(DECADES, SMALLEST / power)


def the_signal(sample: Sample) -> Quantity:
    """e_M(t)."""
    s, beta = sample.point
    return lambda t, size: float(signal(t, s, beta, size))


def the_kernel(sample: Sample) -> Quantity:
    """K_M(t)."""
    beta = sample.point[1]
    return lambda t, size: float(forgetting_kernel(t, beta, size))


def whole_sizes(last_log: float, count: int) -> Array:
    """``count`` (or fewer) distinct whole sizes from 1 to exp(last_log), evenly spread in the logarithm."""
    return np.unique(np.floor(np.exp(np.linspace(0.0, last_log, count))))


def joined_ray(
    quantity: Quantity, beta: float, power: float, multiple: float, end: float, *, clock: str = "t", count: int = 24
) -> Ray:
    """Along t = multiple M^(power beta) until log t = ``end``; the scale is log t, or log M where clock is "M"."""
    sizes = whole_sizes(end / (power * beta), count)
    log_size = np.log(sizes)
    log_t = math.log(multiple) + power * beta * log_size
    values = np.log([quantity(math.exp(a), b) for a, b in zip(log_t, sizes, strict=True)])
    name = f"t = {multiple:g} M^({power:g} beta)"
    return Ray(name, log_t if clock == "t" else log_size, {"t": log_t, "M": log_size}, values)


def alone_ray(quantity: Quantity, size: float, start: float, end: float, count: int = 24) -> Ray:
    """Along t alone, log t from ``start`` to ``end`` (falling: towards t = 0), at one model size."""
    log_t = np.linspace(start, end, count)
    values = np.log([quantity(math.exp(each), size) for each in log_t])
    logs = {"t": log_t} if math.isinf(size) else {"t": log_t, "M": np.full(count, math.log(size))}
    return Ray(f"M = {size:g}, log t to {end:.0f}", np.abs(log_t - start) + 1.0, logs, values)


def window_rays(quantity: Quantity, sample: Sample, power: float) -> list[Ray]:
    """Inside and at the edge of 1 <= t <= c M^beta."""
    beta, end = sample.point[1], decades(power)
    return [joined_ray(quantity, beta, *each, end) for each in ((0.5, 1.0), (1.0, 0.25), (1.0, 1.0), (1.0, 4.0))]


def everywhere_rays(quantity: Quantity, sample: Sample, power: float) -> list[Ray]:
    """All t > 0: infinite M, t to 0, beyond t = M^beta at a fixed M, and t = M^beta."""
    beta, end = sample.point[1], decades(power)
    # exp(-2 t/M^beta) stays above 1e-220 for t below 250 M^beta.
    beyond = math.log(250.0) + beta * math.log(100.0)
    return [
        alone_ray(quantity, math.inf, 0.0, end),
        alone_ray(quantity, math.inf, 0.0, -40.0),
        alone_ray(quantity, 100.0, 0.0, beyond),
        joined_ray(quantity, beta, 1.0, 1.0, end),
    ]


def infinite_rays(quantity: Quantity, power: float) -> list[Ray]:
    """M infinite, t from 0 to infinity, with the variable 1 + t."""
    rays = []
    for end in (decades(power), -30.0):
        ray = alone_ray(quantity, math.inf, 0.0, end)
        rays.append(Ray(ray.name, ray.scale, {"1 + t": np.logaddexp(0.0, ray.logs["t"])}, ray.values))
    return rays


def approximation_rays(sample: Sample) -> list[Ray]:
    """delta_M for N infinite, N = 2 M and N = M^(3/2) (N - M >= M once M >= 4)."""
    s, beta = sample.point
    log_size = np.linspace(math.log(4.0), math.log(10.0) * min(60.0, 200.0 / (1 + s * beta)), 20)
    sizes = np.floor(np.exp(log_size))
    every: dict[str, Callable[[float], float]] = {
        "N infinite": lambda size: math.inf,
        "N = 2 M": lambda size: 2.0 * size,
        "N = M^(3/2)": lambda size: math.floor(size**1.5),
    }
    return [
        Ray(
            name,
            np.log(sizes),
            {"M": np.log(sizes)},
            np.log([approximation_error(s, beta, size, features=features(size)) for size in sizes]),
        )
        for name, features in every.items()
    ]


def one_feature_more_rays(sample: Sample) -> list[Ray]:
    """delta_M for N = M + 1, where N - M is not of the order of M."""
    s, beta = sample.point
    sizes = np.floor(np.logspace(2.0, 12.0, 20))
    values = np.log([approximation_error(s, beta, size, features=size + 1) for size in sizes])
    return [Ray("N = M + 1", np.log(sizes), {"M": np.log(sizes)}, values)]


def gap_rays(sample: Sample) -> list[Ray]:
    """e_infinity(t) - e_M(t), summed from M + 1 on, at t = 0 and at multiples of M^beta."""
    s, beta = sample.point
    end = math.log(10.0) * min(DECADES / beta, SMALLEST / (1 + s * beta))
    sizes = whole_sizes(end, 24)
    rays = []
    for multiple in (0.0, 0.1, 1.0, 10.0):
        gaps = [exponential_sum(1 + s * beta, multiple * size**beta, beta, start=int(size) + 1) for size in sizes]
        rays.append(Ray(f"t = {multiple:g} M^beta", np.log(sizes), {"M": np.log(sizes)}, np.log(gaps)))
    return rays


def completed_signal_rays(sample: Sample) -> list[Ray]:
    """e_M(t) + delta_M against t from inside the window to far beyond; the variables are M and e_infinity(t)."""
    s, beta = sample.point
    # Far beyond the window e_infinity must be small against M^-(s beta): below it by (t/M^beta)^s, t up to 1e260. For
    # small s that takes t = M^(4 beta); for large s M would stay so small that delta_M shows its next term.
    far = 4.0 if s < 0.3 else 2.0
    end = math.log(10.0) * SMALLEST / (s + 1.0)
    rays = []
    for power in (0.5, 1.0, far):
        sizes = whole_sizes(min(end / (power * beta), math.log(10.0) * DECADES), 24)
        t = sizes ** (power * beta)
        both = [signal(a, s, beta, m) + approximation_error(s, beta, m) for a, m in zip(t, sizes, strict=True)]
        logs = {"M": np.log(sizes), "e_infinity": np.log(signal(t, s, beta))}
        rays.append(Ray(f"t = M^({power:g} beta)", np.log(sizes), logs, np.log(both)))
    return rays


def half_scale(sample: Sample) -> Quantity:
    """K_M(t/2)/K_M(t)."""
    beta = sample.point[1]
    return lambda t, size: float(forgetting_kernel(0.5 * t, beta, size) / forgetting_kernel(t, beta, size))


def self_convolution(t: float, beta: float, size: float) -> float:
    """(K_M * K_M)(t) by graded quadrature of one half, doubled (the integrand is symmetric about t/2)."""

    def integrand(z: Array) -> Array:
        return np.asarray(forgetting_kernel(z, beta, size) * forgetting_kernel(t - z, beta, size))

    return 2.0 * integrate_graded(integrand, 0.5 * t).value


def convolution_ratio(sample: Sample) -> Quantity:
    """(K_M * K_M)(t)/K_M(t)."""
    beta = sample.point[1]
    return lambda t, size: self_convolution(t, beta, size) / float(forgetting_kernel(t, beta, size))


def convolution_rays(sample: Sample, ends: Sequence[tuple[float, float]]) -> list[Ray]:
    """The ratio along t = multiple M^(power beta) up to t = 1e40."""
    ratio, end = convolution_ratio(sample), math.log(1e40)
    return [joined_ray(ratio, sample.point[1], *each, end, count=8) for each in ends]


def beyond_window_rays(sample: Sample) -> list[Ray]:
    """log(K_M(t/2)/K_M(t)) for t >> M^beta: t alone at M = 1000, and M alone at t = 250 M^beta and M^(1/4) M^beta."""
    beta, ratio = sample.point[1], half_scale(sample)
    rays = []
    for name, sizes, multiples in (
        ("M = 1000, t to 300 M^beta", np.full(12, 1e3), np.geomspace(60.0, 300.0, 12)),
        ("t = 250 M^beta", np.floor(np.geomspace(30.0, 3e4, 12)), np.full(12, 250.0)),
    ):
        log_t = np.log(multiples) + beta * np.log(sizes)
        values = np.log(np.log([ratio(math.exp(a), m) for a, m in zip(log_t, sizes, strict=True)]))
        scale = log_t if name.startswith("M") else np.log(sizes)
        rays.append(Ray(name, scale, {"t": log_t, "M": np.log(sizes)}, values))
    return rays


def single_mode_rays(sample: Sample) -> list[Ray]:
    """(K_1 * K_1)(t)/K_1(t): one feature, t growing far beyond M^beta = 1."""
    ratio = convolution_ratio(sample)
    log_t = np.linspace(0.0, math.log(250.0), 12)
    return [Ray("M = 1", log_t, {"t": log_t}, np.log([ratio(math.exp(each), 1.0) for each in log_t]))]


def kernel_mass(sample: Sample) -> list[tuple[Any, Any]]:
    """2 int_0^infinity K_M by quadrature up to t = 60 M^beta (the rest is below exp(-120) of it)."""
    return [({"M": size}, 2.0 * _kernel_from(0.0, sample.point[1], size)) for size in (1, 7, 200)]


def _kernel_from(start: float, beta: float, size: int) -> float:
    def shifted(t: Array) -> Array:
        return np.asarray(forgetting_kernel(start + t, beta, size))

    return integrate_graded(shifted, 60.0 * size**beta).value


def stable_phase_integral(sample: Sample) -> list[tuple[Any, Any]]:
    """int_0^infinity K_M(T_2 + t) dt by quadrature up to t = 60 M^beta."""
    pairs = ((1, 0.5), (7, 4.0), (30, 0.25), (30, 64.0))
    return [({"M": size, "T_2": time}, _kernel_from(time, sample.point[1], size)) for size, time in pairs]


def stable_phase(sample: Sample) -> Quantity:
    """int_0^infinity K_M(T_2 + t) dt."""
    beta = sample.point[1]
    return lambda t, size: float(kernel_integral(t, math.inf, beta, size))
