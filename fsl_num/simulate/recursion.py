r"""The exact expected risk of one-pass stochastic gradient descent, without sampling.

For independent symmetric features with fourth moment kappa (3 for normal ones) the second moments m_j = E[(v_j -
theta_j)^2] close, and with x_j = lambda_j m_j and u = delta + sum_j x_j + sigma^2 = 2E + sigma^2

    x_j <- ((1 - eta lambda_j)^2 + (kappa - 2) eta^2 lambda_j^2/B) x_j + (eta^2/B) lambda_j^2 u.

Steps are taken in blocks of about 64: the factors of a block are products that vary smoothly with lambda, so that few
local modes (:mod:`fsl_num.volterra.steps.local_modes`) stand for all, and u at its steps solves a triangular system.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.compression import compress
from fsl_num.schedules.discrete import steps_and_batches
from fsl_num.simulate.curve import RiskCurve, record_steps
from fsl_num.simulate.families import Family, Gaussian
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array
from fsl_num.volterra.steps.local_modes import LocalBasis

_BLOCK = 64  # steps in a block
_SPREAD = 200.0  # largest range of the logarithms within a block: its rounding is 200 * 1.1e-16
_CHUNK = 200_000  # numbers at once in an array over steps and local modes
_LISTED = 3000  # models up to this size keep every mode; beyond, a block's transfer would cost more than its steps


@dataclass(frozen=True, eq=False)
class Moments:
    """The system: ``eigenvalues``, ``start`` x_j(0), ``weights`` lambda^2 (of several modes that one stands for),
    ``base`` delta + sigma^2, ``noise`` sigma^2, and ``excess`` kappa - 2."""

    eigenvalues: Array
    weights: Array
    start: Array
    base: float
    noise: float
    excess: float


def moments(problem: Regression, horizon: float) -> Moments:
    """Return the system of ``problem`` for learning rates that add up to ``horizon``.

    >>> moments(Regression(s=0.5, beta=2.0, model_size=3, noise=1.0), 10.0).weights.tolist()[0]
    1.0
    """
    kind = problem.family
    assert isinstance(kind, Family) and kind.kurtosis is not None
    excess = kind.kurtosis - 2.0
    if problem.projection is not None or problem.model_size <= _LISTED or problem.target is not None:
        spectrum = problem.spectrum
        rates = spectrum.eigenvalues
        return Moments(rates, rates**2, spectrum.signals, spectrum.tail + problem.noise, problem.noise, excess)
    modes = compress(problem.s, problem.beta, problem.model_size, horizon)
    base = problem.tail + problem.noise
    return Moments(modes.rates, modes.kernel_weights, modes.signal_weights, base, problem.noise, excess)


def factors(eigenvalues: Array, rates: Array, excess: Array) -> Array:
    """Return (1 - eta lambda)^2 + excess eta^2 lambda^2, shape (*rates, eigenvalues); ``excess`` (kappa - 2)/B.

    >>> factors(np.array([1.0]), np.array([0.5]), np.array([1.0])).tolist()
    [[0.5]]
    """
    turn = np.multiply.outer(rates, eigenvalues)
    return np.asarray(1.0 + turn * ((1.0 + excess)[..., None] * turn - 2.0))


def _least_factor(fastest: float, rates: Array, excess: Array) -> float:
    """Return the smallest factor of any mode in any step: at the vertex of its parabola or at the largest rate."""
    turn = np.minimum(rates * fastest, 1.0 / np.maximum(1.0 + excess, 1e-300))
    return float((1.0 + turn * ((1.0 + excess) * turn - 2.0)).min())


def _in_blocks(system: Moments, rates: Array, batches: Array, wanted: Any, block: int) -> Array:
    """Return u before the first step and after the steps ``wanted``, by blocks of ``block`` steps."""
    from scipy.linalg.blas import dtrsv
    from tqdm import tqdm

    excess = system.excess / batches
    gains = rates**2 / batches
    # a product of steps decays a little faster than exp(-2 lambda t): the interpolation is given that much room
    basis = LocalBasis(2.0 * system.eigenvalues)
    state = system.start.copy()
    found = np.empty(wanted.size)
    per = max(1, _CHUNK // (block * 24))
    following = 0
    for low in tqdm(range(0, rates.size, per * block), desc="exact risk", delay=2.0, leave=False, disable=None):
        high = min(low + per * block, rates.size)
        rows = -(-(high - low) // block)

        def shaped(values: Array, low: int = low, high: int = high, rows: int = rows) -> Array:
            return np.concatenate([values[low:high], np.zeros(rows * block - (high - low))]).reshape(rows, block)

        eta, gain, more = shaped(rates), shaped(gains), shaped(excess)
        local = basis.of(1.5 * float(eta.sum(axis=1).max()))
        logs = np.log(factors(0.5 * local.rates, eta, more))
        after = np.cumsum(logs, axis=1)
        total = after[:, -1:]
        forward = np.exp(after - logs - 0.5 * total)
        columns = np.exp(0.5 * total - after) * -gain[..., None]
        kernel_weights = system.weights @ local.transfer
        lower = np.matmul(forward * kernel_weights, columns.transpose(0, 2, 1))
        half = np.exp(0.5 * total[:, 0])
        decay = (half**2) @ local.transfer.T
        to_local = np.ascontiguousarray(local.transfer.T)
        to_global = system.weights[:, None] * local.transfer
        unknown = np.empty((rows, block))
        for i in range(rows):
            history = forward[i] @ (half[i] * (to_local @ state))
            history += system.base
            u = dtrsv(lower[i].T, history, lower=0, trans=1, diag=1, overwrite_x=1)
            unknown[i] = u
            state *= decay[i]
            state -= to_global @ (half[i] * (u @ columns[i]))
        before = unknown.ravel()[: high - low]
        upto = int(np.searchsorted(wanted, high, side="left"))
        found[following:upto] = before[wanted[following:upto] - low]
        following = upto
    found[following:] = system.base + state.sum()
    return found


def _one_by_one(system: Moments, rates: Array, batches: Array, wanted: Any) -> Array:
    """Return the same step by step: for factors of 0 and below, which have no logarithm."""
    state = system.start.copy()
    found = np.empty(wanted.size)
    following = 0
    for k in range(rates.size + 1):
        u = system.base + state.sum()
        if following < wanted.size and wanted[following] == k:
            found[following] = u
            following += 1
        if k < rates.size:
            turn = rates[k] * system.eigenvalues
            state *= 1.0 + turn * ((1.0 + system.excess / batches[k]) * turn - 2.0)
            state += rates[k] ** 2 / batches[k] * u * system.weights
    return found


def exact_risk(problem: Regression, rates: Any, batch_sizes: Any = 1, *, every: int | None = None) -> RiskCurve:
    """Return the expected excess risk of one-pass SGD, exactly (up to rounding, and 1e-12 for compressed modes).

    ``rates``: eta_0 .. eta_{K-1} >= 0; ``batch_sizes``: positive, one number or one a step; ``every``: record after so
    many steps (by default before the first and after the last only). Independent features and Gaussian ones with any
    projection take the closed recursion, whose cost hardly depends on the model size; others
    :func:`~fsl_num.simulate.matrix_recursion.exact_risk_matrix`. Raises ValueError where an argument does not fit, and
    OverflowError where training diverges beyond the range of floats.

    >>> problem = Regression(s=0.5, beta=2.0, model_size=float("inf"), noise=1.0)
    >>> curve = exact_risk(problem, [0.1] * 1000, every=500)
    >>> curve.step.tolist(), bool(curve.excess_risk[0] > curve.excess_risk[-1])
    ([0, 500, 1000], True)
    """
    eta, given = steps_and_batches(rates, batch_sizes)
    kind = problem.family
    assert isinstance(kind, Family)
    if kind.kurtosis is None or (problem.projection is not None and not isinstance(kind, Gaussian)):
        from fsl_num.simulate.matrix_recursion import exact_risk_matrix

        return exact_risk_matrix(problem, eta, given, every=every)
    wanted = record_steps(eta.size, every)
    system = moments(problem, max(float(eta.sum()), 1.0))
    batches = np.broadcast_to(given, eta.shape)
    least = _least_factor(float(system.eigenvalues.max()), eta, system.excess / batches)
    block = _BLOCK if least >= 1.0 else int(min(_BLOCK, _SPREAD / -math.log(least))) if least > 0.0 else 0
    with np.errstate(over="ignore", invalid="ignore"):
        found = _in_blocks(system, eta, batches, wanted, block) if block else _one_by_one(system, eta, batches, wanted)
    if not np.isfinite(found).all():
        first = int(wanted[np.argmin(np.isfinite(found))])
        raise OverflowError(
            f"training diverges: the expected risk is beyond 1.8e308 by step {first}; the largest learning rate is"
            f" {float(eta.max())!r}, lower it"
        )
    risk = 0.5 * (found - problem.noise)
    # subtracting sigma^2 where it is much larger than the risk loses digits
    message = f"{system.eigenvalues.size} modes"
    return RiskCurve(wanted, risk, np.zeros(wanted.size), "exact", message)
