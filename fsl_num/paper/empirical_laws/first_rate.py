"""eq:numerical_const_term: the noise of the first rate, held."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Integral, Min

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Ray, Sharp
from fsl_num.functional import integrate_graded
from fsl_num.paper.empirical_laws import measurements
from fsl_num.paper.empirical_laws.formulas import CLOCK, GAIN, Stated, e, injected, noise_from
from fsl_sym import ansatz
from fsl_sym.ansatz import clock, end, kernel, phi, source, u, whole
from fsl_sym.proof import at_most, equals, same_order
from fsl_sym.symbols import T, beta, s, sigma, z

FIRST_RATE: Final[Stated] = (
    equals(phi(0) * Integral(injected(u) * phi(u), (u, 0, end)), phi(0) * noise_from(0)), (*CLOCK, GAIN)
)  # fmt: skip
FIRST_RATE_PRINTED: Final = equals(
    phi(0) * Integral(kernel(whole - clock(u)) * source(whole) * phi(u), (u, 0, end)), phi(0) * noise_from(0)
)
_FIRST_NOISE = Integral(kernel(T - z) * (sigma**2 + e(z)), (z, 0, T))
FIRST_RATE_ORDER: Final = same_order(_FIRST_NOISE, sigma**2 + T**-s)
FIRST_RATE_EVERY_S: Final = same_order(_FIRST_NOISE, sigma**2 + T ** -Min(s, 2 - 1 / beta))


@lru_cache(maxsize=64)
def constant_noise_rays(sample: Sample) -> tuple[Ray, ...]:
    """int_0^T K(T - t) (sigma^2 + e(t)) dt for T up to 1e40, label noise from none to large."""
    s, beta = sample.point
    rays = []
    for level in (-math.inf, -24.0, -10.0, -3.0, 0.0, 3.0):
        noise = 10.0**level
        values = [math.log(_constant_noise(10.0**decade, s, beta, noise)) for decade in measurements.DECADES]
        scale = measurements.DECADES * measurements.LOG10
        logs = {"T": scale, "sigma^2": np.full_like(scale, max(level, -1e6) * measurements.LOG10)}
        rays.append(Ray(f"sigma^2 = {noise:g}", scale, logs, np.array(values)))
    levels = np.linspace(0.0, 20.0, 11)
    strong = [math.log(_constant_noise(1e3, s, beta, 10.0**level)) for level in levels]
    logs = {"T": np.full(levels.size, 3.0 * measurements.LOG10), "sigma^2": levels * measurements.LOG10}
    rays.append(Ray("T = 1e3", levels * measurements.LOG10, logs, np.array(strong)))
    return tuple(rays)


def _constant_noise(whole: float, s: float, beta: float, noise: float) -> float:
    half = 0.5 * whole
    late = integrate_graded(
        lambda r: measurements.decay_kernel(beta)(r) * measurements.noise_source(s, noise)(whole - r), half, rtol=1e-8
    ).value
    return (
        late
        + integrate_graded(
            lambda t: measurements.decay_kernel(beta)(whole - t) * measurements.noise_source(s, noise)(t),
            half,
            rtol=1e-8,
        ).value
    )


def _held(sample: Sample) -> list[dict[Any, Any]]:
    """The integral up to T = 3 with some label noise, and what it is made of."""
    own, capacity = sample.point
    return [{_FIRST_NOISE: _constant_noise(3.0, own, capacity, 0.5), T: 3.0, sigma: math.sqrt(0.5),
             kernel: measurements.decay_kernel(capacity), e: measurements.noise_source(own, 0.0)}]  # fmt: skip


def _const_term(sample: Sample) -> Sharp:
    wrong = {"the signal at the end": {"signal at the end over steps": 1.0}, "half": {"first rate over steps": 0.5}}
    return measurements.exactly({"held at the first rate": 1.0}, wrong, sample)


def _cosine(sample: Sample) -> list[dict[Any, Any]]:
    """What the integrals are made of, under a cosine."""
    plan, (own, capacity) = measurements.plan("cosine", measurements.STEPS), sample.point
    return [{phi: plan.learning_rate, clock: plan.intrinsic_time, end: plan.steps, whole: plan.total_intrinsic_time,
             kernel: measurements.decay_kernel(capacity), source: measurements.noise_source(own, 9.0)}]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "eq:numerical_const_term", "eq:numerical_const_term", 1457, "the noise of the first rate, as printed",
        FIRST_RATE_PRINTED, (measurements.POWERS, GAIN, measurements.ALL_SMOOTH),
        lambda sample: measurements.measured_at("signal at the end over steps", sample), _const_term,
        corrected_by="eq:numerical_const_term/corrected", family="ansatz-quadrature", instances=_cosine,
        # with the signal held at the end on the right too
        mends={noise_from(0): noise_from(0).replace(source, lambda time: source(whole))},
        quoted=r"\int_{0}^{k} \mathcal{K}(T(k)-T(u))(\sigma^2 + e(T(k))"
               r" \cdot \varphi(u)\varphi(0)\dd u = \varphi(0) \int_{0}^{T(k)} \mathcal{K}(T(k)-t)(\sigma^2 +"
               r" e(t))\dd t",
    ),
    Claim(
        "eq:numerical_const_term/corrected", "eq:numerical_const_term", 1457, "the noise of the first rate",
        FIRST_RATE[0], (measurements.POWERS, measurements.ALL_SMOOTH, *FIRST_RATE[1]),
        lambda sample: measurements.measured_at("first rate over steps", sample),
        _const_term,
        derive=ansatz.first_rate, role="corrected", family="ansatz-quadrature",
        remark="It is the noise of a constant schedule of the first rate.",
    ),
    Claim(
        "eq:numerical_const_term/order", "eq:numerical_const_term", 1467, "the order of the noise of the first rate",
        FIRST_RATE_ORDER,
        (measurements.POWERS, at_most(s, 1 - 1 / beta), "0 <= sigma^2 <= 1e20", "1e2 <= T <= 1e40"),
        constant_noise_rays, regimes=("edge", "hard"), instances=_held,
        family="constant-noise",
        quoted=r"\eqsim \varphi(0)(\sigma^2 + e(T(k)))",
    ),
    Claim(
        "eq:numerical_const_term/every-difficulty", "eq:numerical_const_term", 1467,
        "the order of the noise of the first rate for every s",
        FIRST_RATE_EVERY_S, (measurements.POWERS, "0 <= sigma^2 <= 1e20", "1e2 <= T <= 1e40"),
        constant_noise_rays, instances=_held, role="stronger", strengthens="eq:numerical_const_term/order",
        family="constant-noise",
        remark="On easier tasks what was injected at the start decides.",
    ),
)  # fmt: skip
