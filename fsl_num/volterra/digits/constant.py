r"""Constant gamma, exactly, to any number of digits.

For constant gamma and finite M the Laplace transform of the equation is a ratio of sums over the M modes, whose poles
are 0 and the M roots p of the secular equation

    1 = gamma sum_j lambda_j^2 / (p + 2 lambda_j),

one in each interval between neighbouring -2 lambda_j and one to the right of -2 lambda_M. The solution is the sum of
the residues, sum_k R_k exp(p_k t) + R_0. Roots are found by bisection and Newton steps in the distance from the pole.
The closure "gaussian" is the same with the rates 2 lambda_j - gamma lambda_j^2 in the place of 2 lambda_j.
"""

from __future__ import annotations

from typing import Any

from fsl_num.exponential_sums_digits import private_context
from fsl_num.volterra.digits.modes import all_modes, not_learned
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.secular import balance_at_pole, residue, zero_starts

LARGEST = 2000

_GUARD = 25


def _root(mp: Any, gamma: Any, rates: list[Any], weights: list[Any], k: int, start: float) -> Any:
    """Return x > 0 with p = -rates[k] + x a root, between the pole rates[k] and the next one to the right.

    ``start``: about x, or 0.
    """
    balance = balance_at_pole(gamma, weights, [rate - rates[k] for rate in rates], k)
    low = mp.mpf(0)
    high = rates[k] - rates[k - 1] if k > 0 else gamma * mp.fsum(weights)
    x = mp.mpf(start) if 0 < start < high else min(gamma * weights[k], high / 2)
    right = high
    for _ in range(40 + 8 * mp.prec):
        value, slope = balance(x)
        if value < 0:
            low = x
        else:
            high = x
        step = value / slope
        # Newton's step leaves about its square over the distance from the nearest pole; beyond is only rounding
        near = min(x, right - x) if k > 0 else x
        if step**2 <= mp.eps * x * near:
            return x - step
        new = x - step
        x = new if low < new < high else (low + high) / 2
    raise ArithmeticError(f"the secular equation of mode {k} did not converge at {mp.dps} digits")


def solve_constant(problem: Problem, times: list[Any], digits: int) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Return f = 2E at ``times`` to about ``digits`` digits (mpf of one context), errors, and facts about the run.

    Constant gamma, M finite, at most 2000; a power law or a given spectrum; both closures, stable or not.

    Raises ValueError where the problem is not of that kind.

    >>> from fsl_num.model import Model
    >>> problem = Problem(Model(s=1.0, beta=2.0, size=1, noise=0.0), gamma=0.5, horizon=9.0, closure="gaussian")
    >>> value, error, facts = solve_constant(problem, [0.0], 20)
    >>> round(float(value[0]), 12)  # zeta(3)
    1.20205690316
    """
    if not problem.is_constant:
        raise ValueError("method 'constant' needs a constant gamma (a number or a Constant schedule); use 'panels'")
    if problem.model.size > LARGEST:
        raise ValueError(f"method 'constant' needs model_size <= {LARGEST}, got {problem.model.size!r}; use 'panels'")
    mp = private_context(digits + _GUARD)
    gamma, sigma2 = problem.number("gamma", mp), problem.number("noise", mp)
    (rates, weights, signals), delta = _modes(mp, problem, gamma), not_learned(mp, problem)
    size = len(rates)
    facts = {"modes": size, "evaluations": size}
    out = private_context(digits)

    if gamma == 0:
        roots = [-rate for rate in rates]
        constant_part, slope, residues, edge = delta, mp.mpf(0), signals, mp.mpf(1)
    else:
        starts = zero_starts(gamma, rates, weights)
        distances = [_root(mp, gamma, rates, weights, k, start) for k, start in enumerate(starts)]
        roots = [x - rate for x, rate in zip(distances, rates, strict=True)]
        limit = mp.inf if 0 in rates else gamma * mp.fsum(w / r for w, r in zip(weights, rates, strict=True))
        edge, double = abs(1 - limit), None
        if edge <= size * mp.eps * 2**10:  # the root nearest to 0 is 0 itself, a double pole: f grows like t
            edge, double = mp.mpf(1), min(range(size), key=lambda k: abs(roots[k]))
            first, second = (gamma * mp.fsum(w / r**n for w, r in zip(weights, rates, strict=True)) for n in (2, 3))
            start = mp.fsum(c / r for c, r in zip(signals, rates, strict=True)) - sigma2 * first
            constant_part, slope = start / first + (delta + sigma2) * second / first**2, (delta + sigma2) / first
        else:
            constant_part, slope = -sigma2 if limit == mp.inf else (delta + limit * sigma2) / (1 - limit), mp.mpf(0)
        residues = [
            mp.mpf(0) if k == double else residue(gamma, rates, weights, signals, delta + sigma2, k, x)
            for k, x in enumerate(distances)
        ]
    values, errors = [], []
    for time in times:
        t = mp.convert(time)
        parts = [constant_part, slope * t, *(r * mp.exp(p * t) for r, p in zip(residues, roots, strict=True))]
        exact = mp.fsum(parts)
        # what was rounded in each residue (more near the edge of stability), and in the result
        lost = mp.fsum(abs(x) for x in parts) * size * mp.eps * 2**10 / edge
        values.append(out.mpf(exact))
        errors.append(out.mpf(abs(exact) * mp.mpf(10) ** -digits + lost))
    return values, errors, facts


def _modes(mp: Any, problem: Problem, gamma: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the distinct rates from the slowest (the next pole to the right is the previous entry), and the kernel
    weights and signals of all modes that share each."""
    own = gamma if problem.closure == "gaussian" else mp.mpf(0)
    shared: dict[Any, tuple[Any, Any]] = {}
    for x, signal in zip(*all_modes(mp, problem), strict=True):
        rate = x * (2 - own * x)
        weight, signals = shared.get(rate, (mp.mpf(0), mp.mpf(0)))
        shared[rate] = (weight + x**2, signals + signal)
    rates = sorted(shared)
    return rates, [shared[rate][0] for rate in rates], [shared[rate][1] for rate in rates]
