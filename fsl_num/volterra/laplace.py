r"""Constant gamma by the Laplace transform: a method independent of all others, for M finite or infinite, any digits.

With Khat(p) = sum_j lambda_j^2/(p + 2 lambda_j) and E(p) = sum_j lambda_j theta_j^2/(p + 2 lambda_j) the transform is

    F(p) = (delta_M/p + E(p) + gamma sigma^2 Khat(p)/p) / (1 - gamma Khat(p)),

analytic away from the half line p <= 0 while gamma tr(H)/2 < 1. It is inverted on Talbot's contour with the parameters
of Weideman (2006), whose error falls like exp(-1.36 N) with the number N of points.

Sums beyond an index J are Euler-Maclaurin sums at complex p. Their integral is a hypergeometric function, and each pole
x of the summand in the right half plane adds its residue: without it p close to the negative axis would be wrong.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from fsl_num.exponential_sums_digits import DIRECT as _LARGEST_HEAD
from fsl_num.exponential_sums_digits import _smooth, private_context
from fsl_num.spectrum import approximation_error, exponential_sum
from fsl_num.validation import whole_size
from fsl_num.volterra.problem import Problem

DIRECT = 600
"""Models up to this size are summed directly."""

_RATE = 1.358 / math.log(10.0)  # digits gained by each point of the contour
_GUARD = 15
_FINER = 1.2  # the second contour against the first


@lru_cache(maxsize=64)
def _bernoulli_over_even(digits: int, k: int) -> Any:
    """Return B_2k/(2k)."""
    return private_context(digits).bernoulli(2 * k) / (2 * k)


def _end_terms(mp: Any, q: Any, beta: Any, p: Any, x: Any, tolerance: Any) -> Any | None:
    """Return g(x)/2 minus the derivative terms of Euler-Maclaurin, g = x^-q/(p + 2 x^-beta); None if they diverge."""
    # g(x(1+z)) = x^-q (1+z)^-q / (p + 2 x^-beta (1+z)^-beta): the quotient of two power series in z
    rate = 2 * x**-beta
    top, bottom, quotient = mp.mpf(1), rate, [1 / (p + rate)]
    lower = []
    total = quotient[0] / 2
    before = mp.inf
    for n in range(1, 40 + 4 * mp.dps):
        top *= (1 - q - n) / n
        bottom *= (1 - beta - n) / n
        lower.append(bottom)
        quotient.append((top - mp.fdot(lower, reversed(quotient))) * quotient[0])
        if n % 2 == 0:
            continue
        term = _bernoulli_over_even(mp.dps, (n + 1) // 2) * quotient[n] * x**-n
        total -= term
        size = abs(term)
        if size <= tolerance * abs(quotient[0]) and before <= 1000 * tolerance * abs(quotient[0]):
            return total * x**-q
        if n > 20 and size > 100 * before:
            return None
        before = size
    return None


def _residues(mp: Any, q: Any, beta: Any, p: Any, first: Any) -> Any:
    """Return what the poles x^beta = -2/p with Re x > first add to integral and end terms."""
    total = mp.mpc(0)
    modulus, angle = (2 / abs(p)) ** (1 / beta), mp.arg(-2 / p)
    for turn in range(-int(beta) - 2, int(beta) + 3):
        argument = (angle + 2 * turn * mp.pi) / beta
        if abs(argument) >= mp.pi / 2:
            continue
        x = modulus * mp.expj(argument)
        if x.real <= first or 2 * mp.pi * abs(x.imag) > 2.5 * mp.dps + 20:
            continue
        sign = 1 if x.imag > 0 else -1
        total += sign * 2j * mp.pi * x ** (1 - q) / (p * beta) / mp.expm1(-2j * sign * mp.pi * x)
    return total


def _tail(mp: Any, q: Any, beta: Any, p: Any, first: int) -> Any | None:
    """Return sum_{j >= first} j^-q/(p + 2 j^-beta), or None where ``first`` is too small for the digits."""
    x = mp.mpf(first)
    ends = _end_terms(mp, q, beta, p, x, mp.eps)
    if ends is None:
        return None
    shape = (q - 1) / beta
    integral = x ** (1 - q) / (q - 1) / p * mp.hyp2f1(1, shape, shape + 1, -2 * x**-beta / p)
    return integral + ends + _residues(mp, q, beta, p, x)


def _transforms(mp: Any, problem: Problem, p: Any) -> tuple[Any, Any]:
    """Return Khat(p) and E(p)."""
    if problem.spectrum is not None:
        eigen = [mp.mpf(x) for x in problem.spectrum.rates]
        inverses = [1 / (p + 2 * x) for x in eigen]
        signals = [mp.mpf(x) for x in problem.spectrum.weights_signal]
        return mp.fdot([x**2 for x in eigen], inverses), mp.fdot(signals, inverses)
    size, beta = problem.model_size, problem.number("beta", mp)
    powers = (2 * beta, 1 + problem.number("s", mp) * beta)

    def head(first: int, after: int) -> list[Any]:
        logs = [mp.log(j) for j in range(first, after)]
        inverse = [1 / (p + 2 * mp.exp(-beta * x)) for x in logs]
        return [mp.fdot([mp.exp(-q * x) for x in logs], inverse) for q in powers]

    if size <= DIRECT:
        first, second = head(1, int(size) + 1)
        return first, second
    totals, start, after = [mp.mpc(0), mp.mpc(0)], 1, mp.dps
    while after <= 100 * mp.dps:
        if after > size:
            first, second = head(1, int(size) + 1)
            return first, second
        totals = [a + b for a, b in zip(totals, head(start, after), strict=True)]
        start = after
        tails = [_tail(mp, q, beta, p, start) for q in powers]
        if None not in tails:
            totals = [a + b for a, b in zip(totals, tails, strict=True)]
            if not math.isinf(size):
                beyond = [_tail(mp, q, beta, p, int(size) + 1) for q in powers]
                if None in beyond:
                    break
                totals = [a - b for a, b in zip(totals, beyond, strict=True)]
            return totals[0], totals[1]
        after *= 2
    raise ArithmeticError(f"the sums over the spectrum did not reach {mp.dps} digits at p = {mp.nstr(p, 5)}")


def approximation_error_at(mp: Any, problem: Problem) -> Any:
    """Return delta_M = sum_{j>M} j^-(1 + s beta), or the tail of a given spectrum, at the precision of ``mp``."""
    if problem.spectrum is not None:
        return mp.mpf(problem.spectrum.tail)
    if math.isinf(problem.model_size):
        return mp.mpf(0)
    s, beta = problem.number("s", mp), problem.number("beta", mp)
    if problem.model_size <= _LARGEST_HEAD:
        return mp.mpf(approximation_error(s, beta, problem.model_size, digits=mp.dps))
    zero = mp.mpf(0)
    value = _smooth(mp, 1 + s * beta, zero, beta, int(problem.model_size) + 1, mp.inf, zero)
    if value is None:
        raise ArithmeticError(f"delta_M did not reach {mp.dps} digits")
    return value


def _at_start(mp: Any, problem: Problem) -> Any:
    """Return f(0) = sum of lambda theta^2 over all features, learned or not."""
    if problem.spectrum is not None:
        return mp.fsum([problem.spectrum.tail, *problem.spectrum.weights_signal])
    beta = problem.number("beta", mp)
    return exponential_sum(1 + problem.number("s", mp) * beta, 0, beta, digits=mp.dps)


def _invert(mp: Any, problem: Problem, delta: Any, t: Any, points: int) -> Any:
    """Return f(t) from ``points`` points of the contour (an even number), half of them by symmetry."""
    gamma, sigma2 = problem.number("gamma", mp), problem.number("noise", mp)
    total = mp.mpf(0)
    for k in range(points // 2):
        theta = (2 * k + 1) * mp.pi / points
        angle = mp.mpf("0.6407") * theta
        cot = mp.cot(angle)
        z = points * (mp.mpf("0.5017") * theta * cot - mp.mpf("0.6122") + mp.mpc(0, "0.2645") * theta)
        slope = points * (mp.mpf("0.5017") * (cot - angle * (1 + cot**2)) + mp.mpc(0, "0.2645"))
        p = z / t
        kernel, signal = _transforms(mp, problem, p)
        transform = (delta / p + signal + gamma * sigma2 * kernel / p) / (1 - gamma * kernel)
        total += (mp.exp(z) * transform * slope).imag
    return 2 * total / (points * t)


def solve_laplace(problem: Problem, times: list[Any], digits: int) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Return f at ``times`` (numbers or mpf, >= 0), an absolute error for each, and facts about the run.

    ``digits`` >= 10. Constant gamma with gamma tr(H)/2 < 1; M finite or infinite. The error is the difference of two
    contours of which the finer is returned, at least the rounding to ``digits``. Raises ValueError where gamma is not
    constant or the problem unstable (its pole would lie outside the contour), ArithmeticError where the sums over the
    spectrum cannot reach the digits.

    >>> problem = Problem(s=0.5, beta=2.0, model_size=float("inf"), noise=1.0, gamma=0.3, horizon=100.0)
    >>> values, errors, facts = solve_laplace(problem, [100.0], 15)
    >>> bool(errors[0] < 1e-14 * values[0])
    True
    """
    if problem.closure != "volterra":
        raise ValueError(f"method 'laplace' solves the closure 'volterra' only, got {problem.closure!r}")
    if not problem.is_constant:
        raise ValueError("method 'laplace' needs a constant gamma (a number or a Constant schedule)")
    problem.require_stable()
    digits = int(whole_size("digits", digits, infinite=False, least=10))
    coarse = 2 * math.ceil((digits + 2) / _RATE / 2) + 2
    fine = 2 * math.ceil(_FINER * coarse / 2)
    # exp(z) is as large as exp(0.171 N) at the right end of the contour
    working = digits + _GUARD + math.ceil(0.0743 * fine)
    mp = private_context(working)
    delta = approximation_error_at(mp, problem)
    out = private_context(digits)
    values, errors = [], []
    for time in times:
        t = mp.convert(time)
        if not (mp.isfinite(t) and t >= 0):
            raise ValueError(f"times must be finite and at least 0, got {time!r}")
        if t == 0:
            values.append(out.mpf(_at_start(mp, problem)))
            errors.append(out.mpf(values[-1] * mp.mpf(10) ** -digits))
            continue
        first, second = (_invert(mp, problem, delta, t, points) for points in (coarse, fine))
        values.append(out.mpf(second))
        errors.append(out.mpf(abs(second - first) + abs(second) * mp.mpf(10) ** -digits))
    evaluations = (coarse + fine) // 2 * sum(1 for time in times if time != 0)
    return values, errors, {"contour points": fine, "working digits": working, "evaluations": evaluations}
