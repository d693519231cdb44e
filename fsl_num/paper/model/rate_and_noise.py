"""ass:fsl and assump: task-difficulty: how small the learning rate must be; constant noise and batch size."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from sympy import Function, Integral, Sum, Symbol

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Ray
from fsl_num.claims.words import Where, joined
from fsl_num.gauss_rules import legendre_rule
from fsl_num.model import Model
from fsl_num.paper.hypotheses import FEATURES, SPECTRUM, TARGET, located
from fsl_num.paper.model.tables import Numbers, table
from fsl_num.validation import Array
from fsl_sym.proof import at_least, equals, same_order
from fsl_sym.symbols import B, M, beta, j, sigma, t, z

critical_rate = Symbol("gamma_c", positive=True)
kernel_at, signal_at, gamma_of, rate_at = (Function(name) for name in ("K", "e", "gamma", "phi"))
NOISE_SHARE: Final = Integral(kernel_at(t - z) * (signal_at(z) + sigma**2) * gamma_of(z), (z, 0, t)) / Integral(
    kernel_at(t - z) * rate_at(z), (z, 0, t)
)
MODEL_SIZES = (2, 8, 24)


def _grow(own: Array, rate: float) -> bool:
    """Whether the second moments of normal features grow at a constant rate."""
    # x_j' = -2 lambda_j x_j + gamma lambda_j^2 (sum_k x_k + x_j) of x_j = lambda_j E (nu_j - theta_j)^2
    moves = -2.0 * np.diag(own) + rate * (np.outer(own**2, np.ones(own.size)) + np.diag(own**2))
    return float(np.linalg.eigvals(moves).real.max()) >= 0.0


def _rates_that_grow(sample: Sample) -> dict[str, Any]:
    """The critical rate, and those that are so of many on both sides of it."""
    own, rate = np.arange(1.0, MODEL_SIZES[0] + 1.0) ** -sample.point[1], float(_critical(sample)["M = 2"][0])
    tried = rate * (1.0 + np.array([-0.5, -1e-2, -1e-7, 1e-7, 1e-2, 0.5]))
    growing = np.array([rate for rate in tried if _grow(own, rate)])
    return {"gamma_c": rate, "the rates at which the second moments grow": growing}


def _critical(sample: Sample) -> Numbers:
    """The constant gamma at which the second moments of normal features begin to grow, by bisection of eigenvalues."""
    rates = {}
    for size in MODEL_SIZES:
        own = np.arange(1.0, size + 1.0) ** -sample.point[1]
        low, high = 0.0, 4.0
        for _ in range(45):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if _grow(own, middle) else (middle, high)
        rates[f"M = {size}"] = np.array([low])
    return rates


def _critical_formula(sample: Sample, *, twice: float = 2.0, total: float = 1.0) -> Numbers:
    """The gamma at which sum_j gamma lambda_j/(twice - gamma lambda_j) is ``total``."""
    rates = {}
    for size in MODEL_SIZES:
        own = np.arange(1.0, size + 1.0) ** -sample.point[1]
        low, high = 0.0, twice
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = float((middle * own / (twice - middle * own)).sum()) < total
            low, high = (middle, high) if below else (low, middle)
        rates[f"M = {size}"] = np.array([low])
    return rates


def _critical_instances(sample: Sample) -> list[dict[Any, Any]]:
    return [{critical_rate: float(rate[0]), M: size, beta: sample.point[1]}
            for size, rate in zip(MODEL_SIZES, _critical(sample).values(), strict=True)]  # fmt: skip


def _sums(sample: Sample) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """K_M and e_M as functions of times."""
    s, beta = sample.point
    j = np.arange(1.0, 41.0)
    own = j**-beta
    return (
        lambda time: np.exp(-2.0 * np.multiply.outer(time, own)) @ own**2,
        lambda time: np.exp(-2.0 * np.multiply.outer(time, own)) @ j ** (-1.0 - s * beta),
    )


def _varying(z: Any) -> Any:
    """A learning rate that rises and falls."""
    return 0.1 + 0.05 * np.cos(z)


def _letters(sample: Sample) -> dict[str, Any]:
    (kernel, signal), model = _sums(sample), Model(*sample.point, 40, 0.0)
    own = {"K_M": lambda t: float(model.kernel(t)), "e_M": lambda t: float(model.signal(t))}
    return {"K": kernel, "e": signal, **own, "B": 4.0, "phi": _varying, "gamma": lambda z: _varying(z) / 4.0}


def _noise_share(sample: Sample, t: float, noise: float, batch: float) -> float:
    """int K_M (e_M + sigma^2) gamma dz over int K_M phi dz with gamma = phi/B."""
    kernel, signal = _sums(sample)
    points, weights = legendre_rule(80)
    z, w = 0.5 * t * (points + 1.0), 0.5 * t * weights * kernel(t - 0.5 * t * (points + 1.0))
    return float(w @ ((signal(z) + noise) * _varying(z) / batch)) / float(w @ _varying(z))


def _share_instances(sample: Sample) -> list[dict[Any, Any]]:
    """The share at one time, and what it is made of."""
    kernel, signal = _sums(sample)
    known = {kernel_at: kernel, signal_at: signal, rate_at: _varying, gamma_of: lambda z: _varying(z) / 3.0}
    return [{**known, NOISE_SHARE: _noise_share(sample, 2.0, 1.5, 3.0), t: 2.0, sigma: math.sqrt(1.5), B: 3.0}]


def _noise_shares(sample: Sample) -> list[Ray]:
    """The share at t = 20, as sigma^2 and B grow from 1."""
    scale = np.linspace(0.0, 30.0, 16)
    ones = np.zeros(16)
    rays = []
    for name, noise, batches in (("sigma^2", scale, ones), ("B", ones, scale)):
        values = [np.log(_noise_share(sample, 20.0, np.exp(x), np.exp(y))) for x, y in zip(noise, batches, strict=True)]
        rays.append(Ray(name, scale, {"sigma^2": noise, "B": batches}, np.array(values)))
    return rays


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "ass:fsl", "ass:fsl", 472, "the assumptions can be met, and how small the learning rate must be",
        equals(Sum(critical_rate * j**-beta / (2 - critical_rate * j**-beta), (j, 1, M)), 1),
        (SPECTRUM, TARGET,
         Where("gamma_c is the least of the rates at which the second moments grow", _rates_that_grow),
         FEATURES("gaussian"),
         f"M = {joined(MODEL_SIZES)}"), located({"M": MODEL_SIZES, FEATURES.name: "gaussian"})(_critical),
        table(_critical_formula, 1e-8, {
            "sum gamma lambda_j/2 < 1": {"twice": 1e6, "total": 2e-6}, "1 for 2": {"twice": 1.0},
            "1/2 for 1": {"total": 0.5}}),
        family="spaces", instances=_critical_instances,
        quoted="for some sufficiently small constant $C > 0$",
    ),
    Claim(
        "assump: task-difficulty", "assump: task-difficulty", 876, "constant noise and batch size",
        same_order(NOISE_SHARE, sigma**2 / B),
        (SPECTRUM, TARGET, Where("K(t) is K_M(t); e(t) is e_M(t); phi(z) = B gamma(z)", _letters),
         Where("phi(z) is the learning rate at T^-1(z), and h is 1"),
         at_least(sigma**2, 1)), _noise_shares, family="spaces", instances=_share_instances,
        quoted=r"Assume constant label noise $\sigma^2 \gtrsim 1$ and batch size",
        remark="The constants depend neither on the noise nor on the batch size.",
    ),
)  # fmt: skip
