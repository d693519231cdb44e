r"""The modes of the Gaussian closure, kept or compressed.

Over a time tau, with G the integral of gamma over it, a mode forgets like exp(-2 lambda tau + lambda^2 G).
The average of exp(-2 lambda (tau - z sqrt(G/2))) over a normal z is just that: a Gaussian mixture of decaying
exponentials, nearly all of them within [0, tau], for lambda^2 G <= (gamma lambda/2) 2 lambda tau is a small part of the
decay in all but the first modes, which no compression touches. So nodes that serve the sums over exp(-2 lambda tau)
also serve

    K(tau, G) = sum_j lambda_j^2 exp(-2 lambda_j tau + lambda_j^2 G),
    e(tau, G) = sum_j lambda_j theta_j^2 exp(-2 lambda_j tau + lambda_j^2 G).

That is not taken on trust: both are compared with the full sums on a grid of (tau, G) before the nodes are used.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from fsl_num.compression import ALL_MODES, Modes, compress
from fsl_num.exponential_sums import exponential_sum_float
from fsl_num.validation import Array
from fsl_num.volterra.problem import Problem

_HEAD = 16  # terms of the full sums that are summed as they stand; the rest is a power series in G
_MOST_TERMS = 400
_REFERENCE = 2e-14  # relative rounding of the full sums
_PER_FACTOR_E = 3  # times of the comparison
_SMALLEST = 1e-300  # sums below (or above its inverse) are not compared
_SHARES = (1.0, 0.5, 0.1)  # of the largest G, gamma_max tau


def full_modes(problem: Problem) -> Modes:
    """Return every mode of a finite model: x_k' = -(2 mu_k - gamma mu_k^2) x_k + gamma w_k (f + sigma^2), x_k(0) = v_k.

    mu_k are the ``rates``, w_k the ``kernel_weights`` and v_k the ``signal_weights``.

    >>> from fsl_num.model import Model
    >>> full_modes(Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=0.1, horizon=9.0)).rates.size
    3
    """
    if problem.model.spectrum is not None:
        rates, signals = problem.model.spectrum.eigenvalues, problem.model.spectrum.signals
    else:
        index = np.arange(1.0, problem.model.size + 1.0)
        rates, signals = index**-problem.model.beta, index ** -(1.0 + problem.model.s * problem.model.beta)
    return Modes(rates, rates**2, 0.0, signals)


def moment_modes(problem: Problem) -> Modes:
    """Return few modes for a large or infinite model, every mode for a small one or a given spectrum.

    ``error`` is the relative error of the two sums over the times and learning rates of the problem.

    >>> from fsl_num.model import Model
    >>> infinite = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=0.3, horizon=1e6)
    >>> modes = moment_modes(infinite)
    >>> modes.rates.size < 100 and modes.error < 1e-12
    True
    """
    if problem.model.spectrum is not None or problem.model.size <= ALL_MODES:
        return full_modes(problem)
    return _compressed(problem.model.s, problem.model.beta, problem.model.size, problem.end, problem.peak_gamma)


@lru_cache(maxsize=32)
def _compressed(s: float, beta: float, size: float, horizon: float, gamma: float) -> Modes:
    modes = compress(s, beta, size, horizon)
    worst = mode_errors(modes.rates, (modes.kernel_weights, modes.signal_weights), s, beta, size, horizon, gamma)
    return replace(modes, error=max(modes.error, 2.0 * worst + _REFERENCE))  # twice: the grid is not the whole range


def mode_errors(
    rates: Array, weights: tuple[Array, Array], s: float, beta: float, size: float, horizon: float, gamma: float
) -> float:
    """Return the largest relative error of K(tau, G) and e(tau, G) for tau in [0, horizon] and G up to gamma tau.

    ``weights`` are those of K and of e. Where a sum is below 1e-300 or above 1e300 it is not looked at.
    """
    last = math.log(horizon) if math.isinf(size) else min(math.log(horizon), math.log(350.0) + beta * math.log(size))
    first = min(math.log(1e-2), last)
    tau = np.concatenate([[0.0], np.exp(np.linspace(first, last, 2 + math.ceil(_PER_FACTOR_E * (last - first))))])
    worst = 0.0
    for weight, power in zip(weights, (2.0 * beta, 1.0 + s * beta), strict=True):
        powers = _power_sums(power, beta, size, tau, gamma)
        for share in _SHARES:
            growth = share * gamma * tau
            with np.errstate(over="ignore", invalid="ignore"):
                short = np.exp(np.multiply.outer(growth, rates**2) - 2.0 * np.multiply.outer(tau, rates)) @ weight
                exact = full_sum(power, beta, size, tau, growth, powers)
                seen = np.isfinite(short) & (exact > _SMALLEST) & (exact < 1.0 / _SMALLEST)
                error = np.abs(short[seen] / exact[seen] - 1.0)
            worst = max(worst, float(error.max(initial=0.0)))
    return worst


def _power_sums(power: float, beta: float, size: float, tau: Array, gamma: float) -> list[Array]:
    """Return S_k(tau) = sum_{j>16} j^-(power + 2 k beta) exp(-2 j^-beta tau), as many as G up to gamma tau needs."""
    sums: list[Array] = []
    if size <= _HEAD:
        return sums
    factor = np.ones_like(tau)
    head = _head(power, beta, size, tau, np.zeros_like(tau))
    for k in range(_MOST_TERMS):
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            sums.append(exponential_sum_float(power + 2.0 * k * beta, tau, beta, size, _HEAD + 1.0))
            share = factor * sums[-1] / (head + sums[0])
            factor = factor * (gamma * tau) / (k + 1.0)
        if not (share[np.isfinite(share)] > 1e-17).any():
            return sums
    raise ArithmeticError(f"the power series in the integral of gamma did not end: gamma = {gamma:g} is too large")


def _head(power: float, beta: float, size: float, tau: Array, growth: Array) -> Array:
    j = np.arange(1.0, min(size, _HEAD) + 1.0)
    rates = j**-beta
    exponents = np.multiply.outer(growth, rates**2) - 2.0 * np.multiply.outer(tau, rates)
    return np.asarray(np.exp(exponents) @ j**-power)


def full_sum(power: float, beta: float, size: float, tau: Array, growth: Array, powers: list[Array]) -> Array:
    """Return sum_{j<=M} j^-power exp(-2 j^-beta tau + j^-(2 beta) G) with G = ``growth`` for each tau.

    ``powers``: the sums over j > 16 of j^-(power + 2 k beta) exp(-2 j^-beta tau), k = 0, 1, ...
    """
    total, factor = _head(power, beta, size, tau, growth), np.ones_like(tau)
    for k, sums in enumerate(powers):
        total = total + factor * sums
        factor = factor * growth / (k + 1.0)
    return total
