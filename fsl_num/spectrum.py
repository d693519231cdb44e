r"""The spectrum of the model and the sums over it.

The model (power-law kernel regression, Assumptions "Model capacity" and "Task difficulty"): eigenvalues
lambda_j = j^-beta, beta > 1, of the feature covariance, and a target with theta_j^2 = j^-1 lambda_j^(s-1), s > 0, so
that lambda_j theta_j^2 = j^-(1 + s beta). A model of size M uses the first M features. Then

    e_M(t)  = sum_{j<=M} lambda_j theta_j^2 exp(-2 lambda_j t)   the signal not yet learned at intrinsic time t,
    K_M(t)  = sum_{j<=M} lambda_j^2 exp(-2 lambda_j t)           the forgetting kernel,
    delta_M = sum_{j>M}  lambda_j theta_j^2                      the approximation error,

so that training without gradient noise has the excess risk (delta_M + e_M(t))/2. Sizes may be infinite or huge; sums
are exact to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fsl_num.exponential_sums import HEAD, exponential_sum_float
from fsl_num.gauss_rules import legendre_rule
from fsl_num.validation import (
    Array,
    broadcast,
    capacity_exponent,
    give_back,
    positive,
    real_number,
    times,
    whole_count,
    whole_size,
)

_MOST_EIGENVALUES = 50_000_000
_MOST_DIGITS = 2000
_LATEST = 8e307  # twice that is a float


def exponential_sum(
    power: Any, t: Any, beta: Any, model_size: Any = math.inf, *, start: int = 1, digits: int | None = None
) -> Any:
    r"""Return sum_{j=start}^{M} j^-power exp(-2 j^-beta t).

    Arguments: ``power`` > 1 when M is infinite (else the sum diverges) and > 1 in general; ``t`` >= 0, a number or an
    array (intrinsic time, at most 8e307); ``beta`` > 1; ``model_size`` M, a whole number or inf; ``start`` the first
    index; ``digits`` None for float64, else the number of digits (>= 10, arbitrary precision, one t at a time). At
    ``digits``, ``power``, ``t`` and ``beta`` may be anything mpmath reads (ints, strings, mpf); a float is its binary
    value.

    Returns a float or an array of t's shape: relative error about 1e-14, plus 2e-16 u where the slowest term decays
    as exp(-u); 0 only where the value is below the smallest float. With ``digits``: an mpf whose context has that
    precision, or a list of them. An empty sum (``start`` > M) is 0.

    Raises ValueError or TypeError for arguments outside these ranges.

    >>> exponential_sum(2, 0.0, 2) - math.pi**2 / 6 < 1e-15
    True
    >>> exponential_sum(2, 0, 2, digits=25)
    mpf('1.644934066848226436472415159')
    """
    beta_float = capacity_exponent(beta if digits is None else _number_of_digits("beta", beta))
    power_float = real_number("power", power if digits is None else _number_of_digits("power", power))
    if not 1.0 < power_float < math.inf:
        raise ValueError(f"power must lie in (1, inf), got {power!r}: the sum over an infinite spectrum would diverge")
    last = whole_size("model_size", model_size)
    first = whole_size("start", start, infinite=False)
    if digits is None:
        array, scalar = times("t", t, upper=_LATEST)
        result = exponential_sum_float(power_float, array.ravel(), beta_float, last, first).reshape(array.shape)
        return give_back(result, scalar)
    from fsl_num.exponential_sums_digits import exponential_sum_digits

    precision = whole_count("digits", digits, least=10, most=_MOST_DIGITS)
    many = np.ndim(t) > 0
    values = list(t) if many else [t]
    times("t", [_number_of_digits("t", value) for value in values])
    exact_last = last if math.isinf(last) else int(model_size)
    sums = [exponential_sum_digits(power, value, beta, exact_last, int(start), precision) for value in values]
    return sums if many else sums[0]


def _number_of_digits(name: str, value: Any) -> float:
    """A number that may be one of mpmath, or text, as a float."""
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be one real number, got {value!r}") from error


def _signal_power(s: Any, beta: Any, digits: int | None) -> Any:
    positive("s", s if digits is None else _number_of_digits("s", s))
    if digits is None:
        return 1.0 + float(s) * capacity_exponent(beta)
    from fsl_num.exponential_sums_digits import private_context

    mp = private_context(whole_count("digits", digits, least=10, most=_MOST_DIGITS) + 10)
    return 1 + mp.mpf(s) * mp.mpf(beta)


def signal(t: Any, s: Any, beta: Any, model_size: Any = math.inf, *, digits: int | None = None) -> Any:
    """Return the signal e_M(t) = sum_{j<=M} lambda_j theta_j^2 exp(-2 lambda_j t) = sum j^-(1 + s beta) exp(...).

    ``t`` >= 0 intrinsic time, ``s`` > 0, ``beta`` > 1, ``model_size`` whole or inf; ``digits`` as in
    :func:`exponential_sum`. Half of it is excess risk not yet learned. Source: e_M of the equation labelled eqn: fsl.

    >>> signal(0.0, 1.0, 2.0) > signal(10.0, 1.0, 2.0) > 0
    True
    """
    return exponential_sum(_signal_power(s, beta, digits), t, beta, model_size, digits=digits)


def forgetting_kernel(t: Any, beta: Any, model_size: Any = math.inf, *, digits: int | None = None) -> Any:
    """Return the forgetting kernel K_M(t) = sum_{j<=M} lambda_j^2 exp(-2 lambda_j t).

    ``t`` >= 0 intrinsic time since the noise was injected; other arguments as in :func:`exponential_sum`. Source: K_M
    in equation labelled eqn: fsl of the paper.

    >>> forgetting_kernel([0.0, 1.0], 2.0, 1).round(6).tolist()
    [1.0, 0.135335]
    """
    power = 2.0 * capacity_exponent(beta) if digits is None else _twice(beta, digits)
    return exponential_sum(power, t, beta, model_size, digits=digits)


def _twice(beta: Any, digits: int) -> Any:
    from fsl_num.exponential_sums_digits import private_context

    kept = whole_count("digits", digits, least=10, most=_MOST_DIGITS)
    _number_of_digits("beta", beta)
    return 2 * private_context(kept + 10).mpf(beta)


def approximation_error(
    s: Any, beta: Any, model_size: Any, *, features: Any = math.inf, digits: int | None = None
) -> Any:
    """Return delta_M = sum_{M < j <= N} lambda_j theta_j^2, the error that no training removes, N = ``features``.

    Source: the term M^-(s beta) of the equation labelled eqn: fsl.

    It is summed from M + 1 on and never obtained by a subtraction. ``model_size`` may be inf (then 0). Raises
    ValueError where ``features`` < ``model_size``.

    >>> approximation_error(1.0, 2.0, 10) < approximation_error(1.0, 2.0, 5)
    True
    """
    size, total = whole_size("model_size", model_size), whole_size("features", features)
    if total < size:
        raise ValueError(f"features must be at least model_size, got features={features!r} < model_size={model_size!r}")
    power = _signal_power(s, beta, digits)
    if math.isinf(size):
        return exponential_sum(power, 0, beta, 1, start=2, digits=digits)
    return exponential_sum(power, 0, beta, features, start=int(model_size) + 1, digits=digits)


def eigenvalues(model_size: Any, beta: Any) -> Array:
    """Return lambda_1 .. lambda_M = j^-beta as an array; ``model_size`` finite.

    Source: assumption labelled ass:capacity, with constants of 1.

    >>> eigenvalues(2, 2.0).tolist()
    [1.0, 0.25]
    """
    size = whole_size("model_size", model_size, infinite=False)
    if size > _MOST_EIGENVALUES:
        raise ValueError(
            f"model_size must be at most {_MOST_EIGENVALUES} to list its eigenvalues, got {model_size!r};"
            " the sums in this module take any size"
        )
    return np.arange(1, int(size) + 1, dtype=np.float64) ** -capacity_exponent(beta)


def trace(beta: Any, model_size: Any = math.inf) -> float:
    """Return tr H_M = sum_{j<=M} lambda_j.

    Source: assumption labelled ass:capacity, with constants of 1.

    >>> round(trace(2.0), 6)
    1.644934
    """
    return float(exponential_sum(capacity_exponent(beta), 0.0, beta, model_size))


def _integral_by_terms(a: Array, b: Array, beta: float, model_size: Any) -> Array:
    """The integral of K_M over [a, b], the first features one by one: each term is positive."""
    last = int(min(model_size, HEAD))
    rates = np.arange(1.0, last + 1.0) ** -beta
    left = np.exp(-2.0 * np.multiply.outer(a, rates)) * -np.expm1(-2.0 * np.multiply.outer(b - a, rates))
    ends = exponential_sum(beta, np.stack([a, b]), beta, model_size, start=last + 1)
    return np.asarray(0.5 * (left @ rates + ends[0] - ends[1]))


def kernel_integral(lower: Any, upper: Any, beta: Any, model_size: Any = math.inf) -> Any:
    r"""Return int_lower^upper K_M(t) dt = sum_j lambda_j/2 (exp(-2 lambda_j lower) - exp(-2 lambda_j upper)).

    Source: K_M of the equation labelled eqn: fsl.

    ``lower`` >= 0 and ``upper`` >= ``lower`` (inf allowed), numbers or arrays that broadcast. Where the interval is
    short (upper <= 2 lower + 1) and the two sums within a factor 2, Gauss-Legendre quadrature of the positive K_M is
    used, so that nothing cancels; elsewhere their difference, in a long interval term by term for the first 100
    features, which lie far apart where beta is large. It costs at most a factor 1/(1 - 2^(1/beta - 1)).

    >>> abs(kernel_integral(0.0, math.inf, 2.0) - trace(2.0) / 2) < 1e-15
    True
    """
    beta = capacity_exponent(beta)
    low, low_scalar = times("lower", lower)
    raw = np.asarray(upper)
    if raw.dtype.kind not in "fiu":
        raise TypeError(f"upper must be a real number (inf allowed) or an array of them, got {upper!r}")
    high = raw.astype(np.float64)
    low, high = broadcast(lower=low, upper=high)
    if np.isnan(high).any() or (high < low).any():
        raise ValueError(f"upper must be at least lower, got lower={lower!r}, upper={upper!r}")
    a, b = low.ravel(), high.ravel()
    at_lower = 0.5 * np.asarray(exponential_sum(beta, a, beta, model_size))
    at_upper = np.zeros_like(at_lower)
    finite = np.isfinite(b)
    at_upper[finite] = 0.5 * exponential_sum(beta, b[finite], beta, model_size)
    result = at_lower - at_upper
    near = finite & (at_upper > 0.5 * at_lower)
    short = near & (b <= 2.0 * a + 1.0)
    if (long := near & ~short).any():
        result[long] = _integral_by_terms(a[long], b[long], beta, model_size)
    if short.any():
        nodes, weights = legendre_rule(40)
        half = 0.5 * (b - a)[short]
        points = a[short][:, None] + half[:, None] * (1.0 + nodes)
        result[short] = half * (forgetting_kernel(points, beta, model_size) @ weights)
    return give_back(result.reshape(low.shape), low_scalar and high.ndim == 0)
