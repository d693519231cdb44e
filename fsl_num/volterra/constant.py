r"""Constant gamma, exactly, to any number of digits.

For constant gamma and finite M the Laplace transform of the equation is a ratio of sums over the M modes, whose poles
are 0 and the M roots p of the secular equation

    1 = gamma sum_j lambda_j^2 / (p + 2 lambda_j),

one in each interval between neighbouring -2 lambda_j and one to the right of -2 lambda_M. The solution is the sum of
the residues, sum_k R_k exp(p_k t) + R_0. Roots are found by bisection and Newton steps in the distance from the pole.
"""

from __future__ import annotations

from typing import Any

from fsl_num.exponential_sums_digits import private_context
from fsl_num.volterra.problem import Problem

LARGEST = 2000


def _root(mp: Any, gamma: Any, rates: list[Any], weights: list[Any], k: int) -> Any:
    """Return x > 0 with p = -rates[k] + x a root, between the pole rates[k] and the next one to the right."""
    gaps = [rate - rates[k] for rate in rates]

    def balance(x: Any) -> tuple[Any, Any]:
        # x times (1 - gamma sum w/(x + gap)): free of the pole at x = 0
        rest = mp.fsum(w / (x + gap) for i, (w, gap) in enumerate(zip(weights, gaps, strict=True)) if i != k)
        slope = mp.fsum(w / (x + gap) ** 2 for i, (w, gap) in enumerate(zip(weights, gaps, strict=True)) if i != k)
        return x * (1 - gamma * rest) - gamma * weights[k], 1 - gamma * rest + gamma * x * slope

    low = mp.mpf(0)
    high = -gaps[k - 1] if k > 0 else gamma * mp.fsum(weights)
    x = min(gamma * weights[k], high / 2)
    for _ in range(40 + 8 * mp.prec):
        value, slope = balance(x)
        if value < 0:
            low = x
        else:
            high = x
        new = x - value / slope
        if not low < new < high:
            new = (low + high) / 2
        if abs(new - x) <= abs(x) * mp.eps * 16:
            return new
        x = new
    raise ArithmeticError(f"the secular equation of mode {k} did not converge at {mp.dps} digits")


def solve_constant(problem: Problem, times: list[Any], digits: int) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Return f at ``times`` to about ``digits`` digits (mpf of one context), errors, and facts about the run.

    Constant gamma, M finite, at most 2000; a power law or a given spectrum.

    Raises ValueError where the problem is not of that kind.
    """
    if not problem.is_constant:
        raise ValueError("method 'constant' needs a constant gamma (a number or a Constant schedule); use 'panels'")
    if problem.model_size > LARGEST:
        raise ValueError(f"method 'constant' needs model_size <= {LARGEST}, got {problem.model_size!r}; use 'panels'")
    extra = 25
    mp = private_context(digits + extra)
    gamma, sigma2 = problem.number("gamma", mp), problem.number("noise", mp)
    eigen, multiplicities, signals, delta = _modes(mp, problem, digits + extra)
    size = len(eigen)
    rates, weights = [2 * x for x in eigen], [n * x**2 for n, x in zip(multiplicities, eigen, strict=True)]
    facts = {"modes": size, "evaluations": size}
    out = private_context(digits)
    if gamma == 0:
        pairs = list(zip(signals, rates, strict=True))
        exact = [delta + mp.fsum(c * mp.exp(-r * mp.mpf(t)) for c, r in pairs) for t in times]
        return [out.mpf(value) for value in exact], [out.mpf(abs(x) * mp.mpf(10) ** (1 - digits)) for x in exact], facts
    terms = []
    for k in range(size):
        x = _root(mp, gamma, rates, weights, k)
        p = x - rates[k]
        distances = [x + (rate - rates[k]) for rate in rates]
        numerator = mp.fsum(c / d for c, d in zip(signals, distances, strict=True)) + (delta + sigma2) / p
        slope = gamma * mp.fsum(w / d**2 for w, d in zip(weights, distances, strict=True))
        terms.append((p, numerator / slope))
    limit = gamma * mp.fsum(w / r for w, r in zip(weights, rates, strict=True))
    rest = (delta + limit * sigma2) / (1 - limit)
    exact = [rest + mp.fsum(r * mp.exp(p * mp.mpf(t)) for p, r in terms) for t in times]
    return [out.mpf(value) for value in exact], [out.mpf(abs(x) * mp.mpf(10) ** (1 - digits)) for x in exact], facts


def _modes(mp: Any, problem: Problem, digits: int) -> tuple[list[Any], list[int], list[Any], Any]:
    """Return distinct eigenvalues from the slowest (the next pole to the right is the previous entry), how many modes
    share each, their signal, and delta."""
    if problem.spectrum is not None:
        shared: dict[float, list[float]] = {}
        for rate, weight in zip(problem.spectrum.eigenvalues.tolist(), problem.spectrum.signals.tolist(), strict=True):
            shared.setdefault(rate, []).append(weight)
        slowest_first = sorted(shared)
        return (
            [mp.mpf(rate) for rate in slowest_first],
            [len(shared[rate]) for rate in slowest_first],
            [mp.fsum(shared[rate]) for rate in slowest_first],
            mp.mpf(problem.spectrum.tail),
        )
    from fsl_num.spectrum import approximation_error

    s, beta, size = problem.number("s", mp), problem.number("beta", mp), int(problem.model_size)
    eigen = [mp.mpf(j) ** -beta for j in range(size, 0, -1)]
    signals = [mp.mpf(j) ** -(1 + s * beta) for j in range(size, 0, -1)]
    return eigen, [1] * size, signals, mp.mpf(approximation_error(s, beta, size, digits=digits))
