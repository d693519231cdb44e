"""Exponential decay measured by quadrature: its clock, its noise integral, and the two parts I1 and I2 of that."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.functional import integrate_graded, noise_functional
from fsl_num.model import Model
from fsl_num.paper.kernel.measurements import decades, joined_ray
from fsl_num.schedules import ExponentialDecay
from fsl_num.spectrum import exponential_sum, forgetting_kernel, kernel_integral

Array = NDArray[np.float64]

LONGEST = math.log(1e20)
RATES = ((0.5, 0.05), (0.3, 0.299), (1.0, 1e-4))
"""Peak and final learning rates (a, b)."""


def flat_integral(time: float, beta: float, size: float) -> float:
    """I1 = int_0^T K_M(r) dr: the noise of a rate of 1, r the remaining time."""
    return integrate_graded(lambda r: np.asarray(forgetting_kernel(r, beta, size)), time).value


def linear_integral(time: float, beta: float, size: float) -> float:
    """I2 = int_0^T K_M(r) r/T dr: the noise of a rate that falls linearly from 1 to 0."""
    return integrate_graded(lambda r: np.asarray(forgetting_kernel(r, beta, size) * r / time), time).value


def clock(sample: Sample) -> dict[str, list[tuple[Any, Any]]]:
    """Intrinsic time as the integral of the learning rate, and the rate at given intrinsic times."""
    total, elapsed, rate, to_a_over_k = [], [], [], []
    for a, b in RATES:
        plan = ExponentialDecay(peak=a, final=b, steps=1000.0)

        def phi(tau: Array, plan: ExponentialDecay = plan) -> Array:
            return np.asarray(plan.learning_rate(tau))

        known = {"a": a, "b": b, "K": 1000}
        total.append((known, integrate_graded(phi, 1000.0, rtol=1e-12).value))
        elapsed.append((known | {"tau": 300}, integrate_graded(phi, 300.0, rtol=1e-12).value))
        t = integrate_graded(phi, 700.0, rtol=1e-12).value
        rate.append((known | {"t": t}, plan.gamma(t)))
        slowest = ExponentialDecay(peak=a, final=a / 1000.0, steps=1000.0)
        to_a_over_k.append(({"a": a, "K": 1000}, integrate_graded(slowest.learning_rate, 1000.0, rtol=1e-12).value))
    return {
        "total intrinsic time": total,
        "intrinsic time": elapsed,
        "learning rate": rate,
        "b = a/K": to_a_over_k,
    }


def decay_noise(sample: Sample) -> list[tuple[Any, Any]]:
    """N = int_0^T K_M(T - t) gamma(t) dt of the schedule, by quadrature."""
    found = []
    for (a, b), size, time in zip(RATES, (1, 12, 30), (3.0, 40.0, 2000.0), strict=True):
        plan = ExponentialDecay(peak=a, final=b, steps=time * math.log(a / b) / (a - b))
        point = {"a": a, "b": b, "M": size, "T": plan.total_intrinsic_time}
        found.append((point, noise_functional(Model(*sample.point, size, 1.0), plan).value))
    return found


def _rays(sample: Sample, quantity: Callable[[float, float], float], end: float = LONGEST) -> list[Ray]:
    """T to infinity with M = T^(2/beta), and M to infinity with T = M^beta and M^(3 beta/2); constants at T = 1."""
    beta = sample.point[1]
    return [
        joined_ray(quantity, beta, 0.5, 1.0, end, count=9),
        joined_ray(quantity, beta, 1.0, 1.0, end, clock="M", count=9),
        joined_ray(quantity, beta, 1.5, 1.0, end, clock="M", count=9),
    ]


def flat_rays(sample: Sample) -> dict[str, list[Ray]]:
    """I1 itself, and what is missing to tr(H)/2: features beyond M, and noise that is not yet forgotten."""
    beta = sample.point[1]

    def rest(time: float, size: float) -> float:
        unseen = exponential_sum(beta, 0.0, beta, start=int(size) + 1)
        return 0.5 * float(unseen) + float(kernel_integral(time, math.inf, beta, size))

    return {
        "I1": _rays(sample, lambda time, size: flat_integral(time, beta, size)),
        "rest": _rays(sample, rest, decades(1.0)),
    }


def linear_rays(sample: Sample) -> list[Ray]:
    """I2 on both sides of T = M^beta and at it, and for M alone at a time when all features are learned."""
    beta = sample.point[1]
    rays = _rays(sample, lambda time, size: linear_integral(time, beta, size))
    late = math.exp(LONGEST)
    sizes = np.unique(np.floor(np.geomspace(1.0, late ** (1.0 / (1.5 * beta)), 9)))
    values = np.log([linear_integral(late, beta, float(size)) for size in sizes])
    alone = Ray("M alone, T = 1e20", np.log(sizes), {"M": np.log(sizes), "t": np.full(sizes.size, LONGEST)}, values)
    return [replace(ray, logs={"M": ray.logs["M"], "T": ray.logs["t"]}) for ray in (*rays, alone)]


def infinite_flat(sample: Sample) -> list[tuple[Any, Any]]:
    """I1 for M infinite."""
    return [({"T": time}, flat_integral(time, sample.point[1], math.inf)) for time in (1e4, 1e8)]


def infinite_linear(sample: Sample) -> list[tuple[Any, Any]]:
    """I2 for M infinite, at times with T^(1/beta) = 100 and 10^4: the next term is then 1e-3 and 1e-5 of it."""
    beta = sample.point[1]
    times = [float(round(10.0 ** (power * beta))) for power in (2, 4)]
    return [({"T": time}, linear_integral(time, beta, math.inf)) for time in times]


def crossing_linear(sample: Sample) -> list[tuple[Any, Any]]:
    """I2 around T = M^beta for large M."""
    beta = sample.point[1]
    pairs = [(size, multiple * float(size) ** beta) for size in (10**4, 10**6) for multiple in (0.02, 1.0, 20.0)]
    return [({"M": size, "T": time}, linear_integral(time, beta, size)) for size, time in pairs]


def bounding_integral(sample: Sample) -> list[tuple[Any, Any]]:
    """(1/(4 T)) int_0^infinity g(2 T x^-beta) dx, g(u) = 1 - exp(-u) - u exp(-u), up to 1e9 T^(1/beta).

    Beyond, g <= u^2/2 leaves less than (1e9)^(1 - 2 beta) T^(1/beta), 1e-15 of it for beta >= 4/3.
    """
    from scipy.special import gammainc

    beta = sample.point[1]
    found = []
    for time in (1.0, 1e6):

        def integrand(x: Array, time: float = time) -> Array:
            with np.errstate(divide="ignore"):
                return np.asarray(gammainc(2.0, 2.0 * time * x**-beta))  # 1 - (1 + u) exp(-u)

        found.append(({"T": time}, integrate_graded(integrand, 1e9 * time ** (1 / beta)).value / (4 * time)))
    return found
