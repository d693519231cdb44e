r"""Constant gamma by the Laplace transform: a method independent of all others, for M finite or infinite, any digits.

With Khat(p) = sum_j lambda_j^2/(p + 2 lambda_j) and E(p) = sum_j lambda_j theta_j^2/(p + 2 lambda_j) the transform is

    F(p) = (delta_M/p + E(p) + gamma sigma^2 Khat(p)/p) / (1 - gamma Khat(p)).

In the closure "gaussian" the rates are 2 lambda_j - gamma lambda_j^2 instead. F is analytic away from a half line
p <= c, with c = 0 for a stable problem and otherwise the root of gamma Khat(c) = 1 at which the loss grows. It is
inverted on Talbot's contour around c with the parameters of Weideman (2006), whose error falls like exp(-1.36 N) with
the number N of points.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fsl_num.exponential_sums_digits import private_context
from fsl_num.spectrum import exponential_sum
from fsl_num.validation import whole_count
from fsl_num.volterra.digits.laplace_sums import TransferSums
from fsl_num.volterra.digits.modes import not_learned
from fsl_num.volterra.problem import Problem

_RATE = 1.358 / math.log(10.0)  # digits gained by each point of the contour
_GUARD = 15
_FINER = 1.2  # the second contour against the first
_TRIES = 6
_MOST_LOST = 400  # digits by which one try is made sharper than the one before


def _at_start(mp: Any, problem: Problem) -> Any:
    """Return f(0) = sum of lambda theta^2 over all features, learned or not."""
    if problem.model.spectrum is not None:
        return mp.fsum([problem.model.spectrum.tail, *problem.model.spectrum.weights_signal])
    beta = problem.number("beta", mp)
    return exponential_sum(1 + problem.number("s", mp) * beta, 0, beta, digits=mp.dps)


def _growth(problem: Problem, latest: Any) -> Any:
    """Return c >= 0, right of which F has no pole, or hardly: an error of c grows as exp(error times ``latest``)."""
    if problem.stability < 1.0:
        return 0
    mp = private_context(30)
    gamma = problem.number("gamma", mp)
    fastest = mp.mpf(problem.model.fastest)
    sums = TransferSums(mp, problem, gamma)
    low = max(mp.mpf(0), gamma * fastest**2 - 2 * fastest) if problem.closure == "gaussian" else mp.mpf(0)
    # Khat(p) is at most the sum of all lambda^2 over p - low
    high = low + gamma * mp.mpf(float(problem.model.kernel(np.zeros(1))[0])) * (1 + mp.mpf(10) ** -12)
    while (high - low) * latest > mp.mpf(10) ** -3 and high - low > high * mp.eps * 16:
        middle = (low + high) / 2
        if gamma * sums.at(mp.mpc(middle))[0].real > 1:
            low = middle
        else:
            high = middle
    return high


def _invert(mp: Any, problem: Problem, sums: TransferSums, delta: Any, growth: Any, t: Any, points: int) -> Any:
    """Return f(t) = 2E from ``points`` points of the contour (an even number), half of them by symmetry."""
    gamma, sigma2 = problem.number("gamma", mp), problem.number("noise", mp)
    total = mp.mpf(0)
    for k in range(points // 2):
        theta = (2 * k + 1) * mp.pi / points
        angle = mp.mpf("0.6407") * theta
        cot = mp.cot(angle)
        z = points * (mp.mpf("0.5017") * theta * cot - mp.mpf("0.6122") + mp.mpc(0, "0.2645") * theta)
        slope = points * (mp.mpf("0.5017") * (cot - angle * (1 + cot**2)) + mp.mpc(0, "0.2645"))
        p = z / t + growth
        kernel, signal = sums.at(p)
        transform = (delta / p + signal + gamma * sigma2 * kernel / p) / (1 - gamma * kernel)
        total += (mp.exp(z) * transform * slope).imag
    return 2 * total * mp.exp(growth * t) / (points * t)


def solve_laplace(problem: Problem, times: list[Any], digits: int) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Return f = 2E at ``times`` (numbers or mpf, >= 0), an absolute error for each, and facts about the run.

    ``digits`` >= 10. Constant gamma, stable or not; M finite or infinite; both closures. The error is the difference of
    two contours of which the finer is returned, at least the rounding to ``digits``; both are made finer until the
    digits are there, for a loss that has fallen by many orders. Raises ValueError where gamma is
    not constant, ArithmeticError where the sums over the spectrum cannot reach the digits.

    >>> from fsl_num.model import Model
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=float("inf"), noise=1.0), gamma=0.3, horizon=100.0)
    >>> values, errors, facts = solve_laplace(problem, [100.0], 15)
    >>> bool(errors[0] < 1e-14 * values[0])
    True
    """
    if not problem.is_constant:
        raise ValueError("method 'laplace' needs a constant gamma (a number or a Constant schedule)")
    digits = whole_count("digits", digits, least=10)
    asked, evaluations, contour = digits, 0, digits
    for _ in range(_TRIES):
        values, errors, facts = _on_contour(problem, times, contour)
        evaluations += facts["evaluations"]
        lost = max((_lost(value, error, asked) for value, error in zip(values, errors, strict=True)), default=0)
        if lost <= 0:
            break
        contour += lost + 2  # the error of the contour is absolute, and this loss has fallen far below what it was
    out = private_context(asked)
    least = out.mpf(10) ** -asked
    values = [out.mpf(value) for value in values]
    errors = [max(out.mpf(error), abs(value) * least) for value, error in zip(values, errors, strict=True)]
    return values, errors, {**facts, "evaluations": evaluations}


def _lost(value: Any, error: Any, digits: int) -> int:
    """Return how many of the digits the error takes; 0 where it takes none, or all of them for ever."""
    if not value or error <= abs(value) * value.context.mpf(10) ** -digits * 2:
        return 0
    return min(int(math.ceil(value.context.log10(error / abs(value)))) + digits, _MOST_LOST)


def _on_contour(problem: Problem, times: list[Any], digits: int) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Return what :func:`solve_laplace` does, with ``digits`` of the contour, whatever the loss has fallen to."""
    coarse = 2 * math.ceil((digits + 2) / _RATE / 2) + 2
    fine = 2 * math.ceil(_FINER * coarse / 2)
    # exp(z) is as large as exp(0.171 N) at the right end of the contour
    working = digits + _GUARD + math.ceil(0.0743 * fine)
    mp = private_context(working)
    delta, sums = not_learned(mp, problem), TransferSums(mp, problem, problem.number("gamma", mp))
    growth = mp.mpf(_growth(problem, problem.end))
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
        first, second = (_invert(mp, problem, sums, delta, growth, t, points) for points in (coarse, fine))
        values.append(out.mpf(second))
        errors.append(out.mpf(abs(second - first) + abs(second) * mp.mpf(10) ** -digits))
    evaluations = (coarse + fine) // 2 * sum(1 for time in times if time != 0)
    return values, errors, {"contour points": fine, "working digits": working, "evaluations": evaluations}
