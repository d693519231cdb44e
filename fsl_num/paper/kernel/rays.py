"""Signal and kernel along rays to infinity, and the statements about them that several lemmas share.

Rays know the hypotheses of the claims (where t lies against M^beta) and nothing of what is claimed there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Equivalent, Ray
from fsl_num.functional import integrate_graded
from fsl_num.paper.block_constants import PERIOD, Constants, given_constants
from fsl_num.spectrum import forgetting_kernel, signal
from fsl_num.validation import Array
from fsl_sym.proof import Formula
from fsl_sym.symbols import M, t

Quantity = Callable[[float, float], float]
"""(t, M) -> a positive number."""
DECADES = 100.0
"""Rays end at most there: far enough for s = 0.02, whose finite-M corrections fall like (t/M^beta)^s."""
SMALLEST = 270.0
"""No measured value is asked for below 1e-270."""
QUADRATURE = 1e-10
"""The quadrature's own error bound is below this, relative."""


def at_places(order: Formula, quantity: Quantity, time: Any = t) -> list[dict[Any, Any]]:
    """What a quantity is at two places, as the left side of an order in t, or in a ``time`` of another name, and M."""
    return [{order.left: quantity(at, size), time: at, M: size} for at, size in ((0.4, 2), (3.0, 5))]


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


def since_one(ray: Ray) -> Ray:
    """The part of a ray with t >= 1."""
    kept = ray.logs["t"] >= 0.0
    return replace(
        ray, scale=ray.scale[kept], logs={name: log[kept] for name, log in ray.logs.items()}, values=ray.values[kept]
    )


def repeating_sizes(beta: float, power: float, end: float, count: int = 9) -> Array:
    """Sizes along t = M^(power beta), log t <= ``end``, where spectra up to constants repeat themselves.

    The smaller of t and M^beta, which decides, takes whole powers of PERIOD.
    """
    last = math.floor(end / (math.log(PERIOD) * max(power, 1.0)))
    periods = np.unique(np.linspace(0.0, last, min(count, last + 1)).round())
    return np.asarray(np.floor(PERIOD ** (periods / (beta * min(power, 1.0))) * (1.0 + 1e-12)))


def repeating_rays(
    quantity: Callable[[Constants], Quantity], sample: Sample, power: float, multiple: float, end: float,
    *, clock: str = "t",
) -> list[Ray]:  # fmt: skip
    """The ray of :func:`joined_ray` over each of the spectra up to constants, in their whole periods."""
    beta = sample.point[1]
    sizes = repeating_sizes(beta, power, end)
    return [
        replace(ray, name=f"{ray.name}, {constants.name}")
        for constants in given_constants(sample.seed)
        for ray in (joined_ray(quantity(constants), beta, power, multiple, end, clock=clock, sizes=sizes),)
    ]


def joined_ray(
    quantity: Quantity, beta: float, power: float, multiple: float, end: float, *, clock: str = "t", count: int = 24,
    sizes: Array | None = None,
) -> Ray:  # fmt: skip
    """Along t = multiple M^(power beta) until log t = ``end``; the scale is log t, or log M where clock is "M".

    M takes ``count`` whole sizes, or those given.
    """
    sizes = whole_sizes(end / (power * beta), count) if sizes is None else sizes
    log_size = np.log(sizes)
    log_t = math.log(multiple) + power * beta * log_size
    values = np.log([quantity(math.exp(a), b) for a, b in zip(log_t, sizes, strict=True)])
    name = f"t = {multiple:g} M^({power:g} beta)"
    return Ray(name, log_t if clock == "t" else log_size, {"t": log_t, "M": log_size}, values)


def alone_ray(quantity: Quantity, size: float, start: float, end: float, count: int = 24) -> Ray:
    """Along t alone, log t from ``start`` to ``end`` (falling: towards t = 0), at one model size."""
    log_t = np.linspace(start, end, count)
    values = np.log([quantity(math.exp(log_time), size) for log_time in log_t])
    logs = {"t": log_t} if math.isinf(size) else {"t": log_t, "M": np.full(count, math.log(size))}
    return Ray(f"M = {size:g}, log t to {end:.0f}", np.abs(log_t - start) + 1.0, logs, values)


WINDOW = 1e6
"""Largest C/c of what is measured up to t = 4 M^beta: there the slowest mode has fallen by exp(-8), and the powers by
4^-s and 4^-2 more than at M^beta; 9e4 was found at s = 1.1, beta = 5.9."""


def window_law(formula: Formula, sample: Sample) -> Equivalent:
    """The order that a formula says, with the constants that the window needs."""
    return replace(order_statement(formula, sample), constants=WINDOW)


def window_rays(quantity: Quantity, sample: Sample, power: float) -> list[Ray]:
    """Inside and at the edge of 1 <= t <= M^beta."""
    beta, end = sample.point[1], decades(power)
    return [since_one(joined_ray(quantity, beta, *path, end)) for path in ((0.5, 1.0), (1.0, 0.25), (1.0, 1.0))]


def outside_window(quantity: Quantity, sample: Sample) -> dict[str, list[Ray]]:
    """Before t = 1, and after t = M^beta at one M up to where exp(-2 t/M^beta) can still be held."""
    window = sample.point[1] * math.log(100.0)
    return {
        "t to 0": [alone_ray(quantity, 100.0, 0.0, -40.0)],
        "t beyond M^beta": [alone_ray(quantity, 100.0, window, window + math.log(250.0))],
    }


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


def kernel_from(start: float, beta: float, size: int) -> float:
    """int_start^infinity K_M by quadrature up to t = 60 M^beta (the rest is below exp(-120) of it)."""

    def shifted(t: Array) -> Array:
        return np.asarray(forgetting_kernel(start + t, beta, size))

    return integrate_graded(shifted, 60.0 * size**beta).value


def kernel_power(sample: Sample) -> float:
    """2 - 1/beta."""
    return 2.0 - 1.0 / sample.point[1]
