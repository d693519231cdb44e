r"""Constant gamma in float64, exactly: the zeros of the secular equation of few modes, any model size, both closures.

With rates r_k and weights w_k the resolvent has the poles p with 1 = gamma sum_k w_k/(p + r_k), one to the right of
each -r_k. With d_kj = p_k + r_j and S_k = gamma sum_j w_j/d_kj^2

    f(t) = delta + sum_k (c_k exp(p_k t) + (delta + sigma^2) (exp(p_k t) - 1)/p_k)/S_k,    c_k = sum_j v_j/d_kj,

v_j the signal; the terms of the noise are all positive, so that nothing cancels there. A mode with a signal and no
weight has its own pole. What may cancel is summed in absolute value, and is the error that is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.validation import Array
from fsl_num.volterra.linear_modes import LinearModes, linear_modes
from fsl_num.volterra.problem import Problem

MOST_MODES = 2000
"""Given spectra of more modes are refused: the equations of all zeros together are a matrix of that size."""

_EPS = 2.0**-52
_LEAST_PUSH = 1e-140
_MANY = 256  # times from which on equal distances are looked for
_CHUNK = 50_000  # numbers at once: they stay in the cache


def _merged(system: LinearModes, gamma: float) -> tuple[Array, Array, Array]:
    """Return rates from the slowest on, each once, with their weights and signals."""
    rates = system.rates - gamma * system.feedback
    distinct, place = np.unique(rates, return_inverse=True)
    weights, signals = np.zeros_like(distinct), np.zeros_like(distinct)
    np.add.at(weights, place, system.weights)
    np.add.at(signals, place, system.start)
    return distinct, weights, signals


def secular_zeros(rates: Array, weights: Array, gamma: float) -> tuple[Array, Array]:
    """Return for each rate the distance x of the zero p = x - rate to its right, and an error of the distance.

    ``rates`` rise strictly; ``weights`` > 0 and ``gamma`` > 0. Raises ArithmeticError where Newton's iteration fails.

    >>> x, error = secular_zeros(np.array([2.0]), np.array([1.0]), 0.5)
    >>> float(x[0]), bool(error[0] < 1e-14)
    (0.5, True)
    """
    size = rates.size
    gaps = rates - rates[:, None]
    high = np.append(gamma * weights.sum(), rates[1:] - rates[:-1])
    high = np.minimum(high, gamma * weights.sum()) * (1.0 + 4.0 * _EPS)
    low = np.zeros(size)
    own = gamma * weights
    weights_beside = np.where(np.eye(size, dtype=bool), 0.0, own)
    # the pole itself, which has no weight here, is moved out of the way of the division
    np.fill_diagonal(gaps, 1.0)
    x = np.minimum(own, 0.5 * high)
    for _ in range(100):
        shares = weights_beside / (x[:, None] + gaps)
        total = shares.sum(axis=1)
        slope = 1.0 - total + x * (shares / (x[:, None] + gaps)).sum(axis=1)
        value = x * (1.0 - total) - own
        low, high = np.where(value < 0.0, x, low), np.where(value < 0.0, high, x)
        step = value / slope
        new = x - step
        arrived = (np.abs(step) <= 4.0 * _EPS * x) | (high - low <= 2.0 * _EPS * high)
        if arrived.all():
            break
        inside = arrived | ((new > low) & (new < high))
        x = np.where(arrived, x, np.where(inside, new, np.where(low > 0.0, np.sqrt(low * high), high / 16.0)))
    else:
        raise ArithmeticError("the secular equation did not converge; use method 'constant' with digits, or 'panels'")
    # rounding of the value, over the slope; that of the sums of thousands of terms grows like log2 of their number
    rounding = (4.0 + np.log2(size + 1.0)) * _EPS * (x + x * np.abs(shares).sum(axis=1) + own)
    return x, rounding / slope + 4.0 * _EPS * x


def zero_starts(gamma: Any, rates: list[Any], weights: list[Any]) -> list[float]:
    """Return about the distances of :func:`secular_zeros`, of any numbers; zeros where floats cannot tell the rates.

    >>> zero_starts(0.5, [2.0], [1.0]), zero_starts(0.5, [2.0, 2.0], [1.0, 1.0])
    ([0.5], [0.0, 0.0])
    """
    poles, pushes = np.array([float(x) for x in rates]), np.array([float(x) for x in weights])
    starts = float(gamma) * pushes
    driven = starts > _LEAST_PUSH
    if (np.diff(poles) <= 0.0).any():
        return [0.0] * len(rates)
    try:
        starts[driven] = secular_zeros(poles[driven], pushes[driven], float(gamma))[0]
    except ArithmeticError:
        return [0.0] * len(rates)
    return [float(x) for x in starts]


def balance_at_pole(gamma: Any, weights: list[Any], gaps: list[Any], k: int) -> Callable[[Any], tuple[Any, Any]]:
    """Return x -> (x h, its slope), h = 1 - gamma sum_i w_i/(x + gap_i): the secular equation without the pole x = 0.

    ``gaps`` are the rates less that of mode ``k``; numbers of any kind.

    >>> balance_at_pole(0.5, [1.0], [0.0], 0)(0.5)
    (0.0, 1.0)
    """
    beside = [(w, gap) for i, (w, gap) in enumerate(zip(weights, gaps, strict=True)) if i != k]

    def balance(x: Any) -> tuple[Any, Any]:
        shares = slope = 0 * x
        for w, gap in beside:
            inverse = 1 / (x + gap)
            share = w * inverse
            shares += share
            slope += share * inverse
        return x * (1 - gamma * shares) - gamma * weights[k], 1 - gamma * shares + gamma * x * slope

    return balance


def residue(gamma: Any, rates: list[Any], weights: list[Any], signals: list[Any], source: Any, k: int, x: Any) -> Any:
    """Return (sum_j v_j/d_j + source/p)/(gamma sum_j w_j/d_j^2) at the zero p = x - r_k, d_j = p + r_j; any numbers.

    ``source`` = delta + sigma^2. It is the share of exp(p t) in the loss.

    >>> residue(0.5, [2.0], [1.0], [3.0], 0.0, 0, 0.5)
    3.0
    """
    distances = [x if i == k else x + (rate - rates[k]) for i, rate in enumerate(rates)]
    inverses = [1 / distance for distance in distances]
    top = sum((v * y for v, y in zip(signals, inverses, strict=True)), source / (x - rates[k]))
    return top / (gamma * sum((w * y * y for w, y in zip(weights, inverses, strict=True)), 0 * x))


def solve_secular(problem: Problem, t: Array, rtol: float) -> tuple[Array, Array, dict[str, Any]]:
    """Return f = 2E at the times ``t``, an absolute error for each, and facts about the run.

    Constant gamma; a power law of any size or a given spectrum of at most 2000 modes; both closures, stable or not.
    ``rtol`` changes nothing: the result is as good as float64 gives it. Raises ValueError where the problem is not of
    that kind.

    >>> from fsl_num.model import Model
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0), gamma=0.3, horizon=1e6)
    >>> values, error, facts = solve_secular(problem, np.array([1.0, 1e6]), 1e-12)
    >>> bool((error < 1e-12 * values).all())
    True
    """
    if not problem.is_constant:
        raise ValueError("method 'secular' needs a constant gamma (a number or a Constant schedule); use 'panels'")
    if problem.model.spectrum is not None and problem.model.spectrum.size > MOST_MODES:
        raise ValueError(
            f"method 'secular' needs at most {MOST_MODES} modes, got {problem.model.spectrum.size}; use 'panels'"
        )
    gamma = problem.peak_gamma
    system = linear_modes(problem, problem.end)
    rates, weights, signals = _merged(system, gamma)
    # a smaller push would underflow when squared, and moves nothing that float64 shows
    driven = gamma * weights > _LEAST_PUSH
    terms = _terms(rates, weights, signals, driven, gamma, system)
    values, lost = np.empty(t.size), np.empty(t.size)
    rows = max(1, _CHUNK // rates.size)
    with np.errstate(over="ignore", invalid="ignore"):
        block = _equal_blocks(t)
        if block:
            values, lost = _evaluate_blocks(terms, t, block)
        for low in range(0, 0 if block else t.size, rows):
            part = slice(low, low + rows)
            values[part], lost[part] = _evaluate(terms, t[part])
    values += system.delta
    floor = (8.0 * _EPS + system.error) / max(1.0 - problem.stability, 1e-3)
    lost += floor * np.abs(values)
    if values.any():  # numbers near the smallest floats have an absolute error
        lost += 2e-323 * rates.size
    return values, lost, {"modes": rates.size, "evaluations": rates.size}


@dataclass(frozen=True, eq=False)
class _Terms:
    """sum_k leading exp(p t) + noise (exp(p t) - 1)/p; what is uncertain of each, and of p."""

    p: Array
    leading: Array
    noise: Array
    leading_error: Array
    noise_error: Array
    p_error: Array


def _terms(rates: Array, weights: Array, signals: Array, driven: Any, gamma: float, system: LinearModes) -> _Terms:
    own, alone = rates[driven], rates[~driven]
    none = np.zeros_like(alone)
    if own.size == 0:
        return _Terms(-rates, signals, none, none, none, _EPS * rates)
    x, error = secular_zeros(own, weights[driven], gamma)
    distances = x[:, None] + (own - own[:, None])
    np.fill_diagonal(distances, x)
    slopes = gamma * (weights[driven] / distances**2).sum(axis=1)
    shares = signals[driven] / distances
    p = x - own
    # a signal without weight: from its own pole, and from each zero
    apart = p[:, None] + alone
    apart_shares = signals[~driven] / apart
    leading = (shares.sum(axis=1) + apart_shares.sum(axis=1)) / slopes
    sizes = np.abs(shares).sum(axis=1) + np.abs(apart_shares).sum(axis=1)
    # a zero that moves by its error moves each distance by as much; the nearest pole is the own one
    relative = 3.0 * error / x + (6.0 + np.log2(rates.size + 1.0)) * _EPS
    moved = (np.abs(shares / distances).sum(axis=1) + np.abs(apart_shares / apart).sum(axis=1)) * error
    uncertain = (sizes * relative + moved + np.abs(apart_shares / apart) @ alone * _EPS) / slopes
    between = own - alone[:, None]
    coupling = np.abs(gamma * (weights[driven] / between))
    divisors = 1.0 - gamma * (weights[driven] / between).sum(axis=1)
    free = signals[~driven] / divisors
    blurred = 4.0 + (coupling * (2.0 + (own + alone[:, None]) / np.abs(between))).sum(axis=1)
    steady = (system.delta + system.noise) / slopes
    return _Terms(
        np.concatenate([p, -alone]),
        np.concatenate([leading, free]),
        np.concatenate([steady, none]),
        np.concatenate([uncertain, np.abs(free / divisors) * _EPS * blurred]),
        np.concatenate([steady * relative, none]),
        np.concatenate([error + 2.0 * _EPS * own, 2.0 * _EPS * alone]),
    )


def _evaluate(terms: _Terms, t: Array) -> tuple[Array, Array]:
    """Return the sum of all terms at ``t``, and how much of it may be rounding."""
    p, leading, noise = terms.p, terms.leading, terms.noise
    size = np.abs(leading)
    turn = np.multiply.outer(p, t)  # a row for each term: sums over terms are then products with wide matrices
    grown = np.exp(turn)
    known, first, second = np.stack([leading, terms.leading_error + 4.0 * _EPS * size, size * terms.p_error]) @ grown
    lost = first + t * second
    if noise.any():
        least = np.maximum(np.abs(p), 1e-300)
        flat = (least * t.min() <= 1.0)[:, None]
        raised = np.expm1(turn, out=turn, where=flat)
        np.subtract(grown, 1.0, out=raised, where=~flat)
        raised /= np.where(p == 0.0, 1.0, p)[:, None]
        gone = least * t.max() < 1e-290  # the quotient of such small numbers is no longer t
        raised[gone] = t
        # d/dp of (exp(p t) - 1)/p is at most t times it, and about 1/|p| times it for p t far below 0
        pushes = noise * terms.p_error
        added, blurred, early, late = (
            np.stack([noise, terms.noise_error + 8.0 * _EPS * noise, pushes, 2.0 * pushes / least]) @ raised
        )
        known = known + added
        lost = lost + blurred + np.minimum(t * early, late)
    return known, lost


def _equal_blocks(t: Array) -> int:
    """Return a length of blocks of ``t`` in which the times have the same distances from the first, or 0."""
    if t.size < _MANY:
        return 0
    size = math.isqrt(t.size)
    alike = np.add.outer(t[::size], t[:size] - t[0]).ravel()[: t.size]
    return size if (np.abs(t - alike) <= 2.0 * np.spacing(t)).all() else 0


def _evaluate_blocks(terms: _Terms, t: Array, size: int) -> tuple[Array, Array]:
    """Return the same as :func:`_evaluate` for blocks of ``size`` times: exp(p (a + b)) = exp(p a) exp(p b).

    The sums over all terms are then products of small matrices, and (exp(p (a + b)) - 1)/p, which is that of a plus
    exp(p a) times that of b, is a sum of numbers of one sign.
    """
    p, leading, noise = terms.p, terms.leading, terms.noise
    starts, offsets = t[::size], t[:size] - t[0]
    early, late = np.exp(np.multiply.outer(p, starts)), np.exp(np.multiply.outer(p, offsets))
    first, further = _raised(p, starts), _raised(p, offsets)

    def grown(weights: Array) -> Array:
        return np.asarray((early * weights[:, None]).T @ late).ravel()[: t.size]

    def raised(weights: Array) -> Array:
        values_there = (early * weights[:, None]).T @ further
        values_there += (weights @ first)[:, None]
        return np.asarray(values_there).ravel()[: t.size]

    p_error = terms.p_error + 4.0 * _EPS * np.abs(p)  # the times differ from those of the block by two roundings
    size_of = np.abs(leading)
    known = grown(leading)
    lost = grown(terms.leading_error + 8.0 * _EPS * size_of) + t * grown(size_of * p_error)
    if noise.any():
        pushes = noise * p_error
        known += raised(noise)
        lost += raised(terms.noise_error + 16.0 * _EPS * noise)
        lost += np.minimum(t * raised(pushes), raised(2.0 * pushes / np.maximum(np.abs(p), 1e-300)))
    return known, lost


def _raised(p: Array, t: Array) -> Array:
    """Return (exp(p t) - 1)/p, a row for each p; t where p t is 0 or nearly."""
    turn = np.multiply.outer(p, t)
    raised = np.expm1(turn) / np.where(p == 0.0, 1.0, p)[:, None]
    return np.where(np.abs(turn) < 1e-290, t, raised)
