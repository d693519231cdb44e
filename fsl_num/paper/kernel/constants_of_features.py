"""ass:capacity and ass:source up to constants: eigenvalues c_j j^-beta and targets d_j j^-1 lambda_j^(s-1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Function, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Joint, Ray
from fsl_num.claims.words import Kinds, Where
from fsl_num.validation import Array
from fsl_sym.proof import AllOf, at_least, same_order
from fsl_sym.symbols import M, beta, s, t

CONSTANTS: Final[Mapping[str, Callable[[Array, np.random.Generator], Array]]] = {
    "alternating": lambda j, generator: 2.0 ** (1.0 - 2.0 * (j % 2.0)),
    "log-periodic": lambda j, generator: 2.0 ** np.cos(math.pi * np.log2(j)),
    "in dyadic blocks": lambda j, generator: 2.0 ** (1.0 - 2.0 * (np.floor(np.log2(j)) % 2.0)),
    "random": lambda j, generator: 2.0 ** generator.uniform(-1.0, 1.0, j.size),
}
"""c_j and d_j between 1/2 and 2; the period of the second and third is 4, and rays take whole periods."""
FEATURES = 16
"""N/M, so that the tail beyond M holds two periods."""
LARGEST = 4**8
_signal, _kernel, _tail = Function("e", positive=True), Function("K", positive=True), Symbol("delta_M", positive=True)
_noise = Function("N", positive=True)
POWERS: Final = {
    "signal": same_order(_signal(t), t**-s),
    "kernel": same_order(_kernel(t), t ** (1 / beta - 2)),
    "noise of a falling rate": same_order(_noise(t), t ** (1 / beta - 1)),
    "approximation error": same_order(_tail, M ** (-s * beta)),
}
FREE = (
    Kinds(
        "c_j and d_j in [1/2, 2], of lambda_j = c_j j^-beta and theta_j^2 = d_j j^-1 lambda_j^(s-1)",
        {name: name for name in CONSTANTS},
    )(*CONSTANTS),
    Where("e(t) is that with the features beyond M, period by period like the last"),
    Where("N(t) is the integral over z from 0 to t of K(t - z) (1 - z/t)", lambda sample: _of_few(sample)),
)


@lru_cache(maxsize=16)
def features(name: str, s: float, beta: float, size: int, seed: int) -> tuple[Array, Array]:
    """lambda_j and lambda_j theta_j^2 of ``size`` features, whose constants are of one kind."""
    generator = np.random.default_rng([seed, 41])
    index = np.arange(1.0, size + 1.0)
    eigenvalues = CONSTANTS[name](index, generator) * index**-beta
    return eigenvalues, CONSTANTS[name](index, generator) / index * eigenvalues**s


def _falling(time: float, eigenvalues: Array) -> float:
    """int K(t - z) (1 - z/t) dz over [0, t], mode by mode."""
    fade = np.exp(-2.0 * time * eigenvalues)
    return float((-np.expm1(-2.0 * time * eigenvalues) / (4.0 * time) - 0.5 * eigenvalues * fade).sum())


def _of_few(sample: Sample) -> dict[str, Any]:
    """K and N of a few features."""
    own = features("alternating", *sample.point, 64, sample.seed)[0]
    kernel = lambda times: np.exp(-2.0 * np.multiply.outer(times, own)) @ own**2  # noqa: E731
    return {"t": 2.0, "K": kernel, "N": lambda time: _falling(time, own)}


@lru_cache(maxsize=64)
def power_rays(sample: Sample) -> Mapping[str, list[Ray]]:
    """e(t), K_M(t) and the noise of a falling rate along t up to (M/256)^beta for M = 4^10, and delta_M along M.

    The features beyond M, which nothing learns by then, belong to e(t): for small s they are the larger part of it, and
    without them it would fall faster than any power. Each period of theirs holds 4^(-s beta) of the one before.
    """
    s, beta = sample.point
    rays_of: dict[str, list[Ray]] = {name: [] for name in POWERS}
    for name in CONSTANTS:
        eigenvalues, energies = features(name, s, beta, FEATURES * LARGEST, sample.seed)
        log_t = beta * math.log(4.0) * np.arange(0.0, 7.0)
        period = 4.0 ** (-s * beta)
        beyond = float(energies[energies.size // 4 :].sum()) * period / (1.0 - period)
        left = [np.exp(-2.0 * math.exp(log_time) * eigenvalues) for log_time in log_t]
        values = {
            "signal": [fade @ energies + beyond for fade in left],
            "kernel": [fade @ eigenvalues**2 for fade in left],
            "noise of a falling rate": [_falling(time, eigenvalues) for time in np.exp(log_t)],
        }
        for key, measured in values.items():
            logs = {"t": log_t, "M": np.full(log_t.size, math.log(FEATURES * LARGEST))}
            rays_of[key].append(Ray(name, log_t, logs, np.log(np.array(measured))))
        log_size = math.log(4.0) * np.arange(1.0, 9.0)
        counts = [round(math.exp(log)) for log in log_size]
        tails = [float(energies[count : FEATURES * count].sum()) for count in counts]
        rays_of["approximation error"].append(Ray(name, log_size, {"M": log_size}, np.log(tails)))
    return rays_of


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "ass:capacity/powers-up-to-constants", "ass:capacity", 318, "the parts of the laws for spectra up to constants",
        AllOf(tuple(POWERS.values())), (*FREE, at_least(t, 1), "t <= (M/256)^beta"),
        power_rays, lambda sample: Joint({name: order_statement(formula, sample) for name, formula in POWERS.items()}),
        role="own",
        remark="Their constants need not converge: they may go on oscillating with the logarithm of time or of "
               "the model size.",
    ),
)  # fmt: skip
