r"""Few modes with any number of digits in place of a power law, up to a horizon, infinite models included.

The first indices are kept. Those of a block are a measure on an interval [c, 1] of x = lambda/lambda_first, and all
those behind the blocks one on (0, 1]; Gauss rules of n nodes, from moments that are sums of j^-(q + i beta), replace
them. A block has one rule for e_M and K_M, whose weights differ by a power of x; the last piece has one for each.

The error is bounded, not estimated. A rule with positive weights misses a function with |f| <= F on the ellipse of
foci c, 1 and sum rho of half axes (in units of (1 - c)/2) by at most 4 mass F rho^(1 - 2n)/(rho - 1). Here f is a power
of x, where the ellipse lies right of 0, times exp(-2 lambda tau + lambda^2 G), 0 <= G <= gamma_max tau (G = 0 in the
closure "volterra"), of modulus <= exp(-u (2 - gamma_max u) tau), u = Re lambda: largest at an end of the ellipse. What
the moments of a rule miss through rounding counts at most as often as the coefficients of Chebyshev's polynomial.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.exponential_sums_digits import private_context
from fsl_num.spectrum import approximation_error
from fsl_num.validation import Array
from fsl_num.volterra.digits.moment_rules import positive_rule, power_moments
from fsl_num.volterra.problem import Problem

_RATIOS = (3.0, 6.0)  # of the largest and the smallest rate of a block, whichever needs fewer modes
_MOST_NODES = 400
_GUARD = 10
_LOSSES = (1.0, 1.5, 3.0, 6.0)  # digits for each digit that Chebyshev's coefficients lose: more where modes lie apart
_SHARES = np.concatenate([np.geomspace(1e-6, 0.1, 12), np.linspace(0.15, 0.9, 12)])  # of c, left ends of ellipses
_WIDE = np.geomspace(0.02, 1e8, 120)  # rho - 1 where the ellipse may reach beyond 0


@dataclass(frozen=True)
class DigitModes:
    """K = sum w exp(-2 lambda t) and e = sum v exp(-2 lambda t) with ``eigenvalues``, ``kernel`` w >= 0, ``signals`` v.

    On [0, horizon] e is wrong by at most ``signal_error``, and K by a function of integral at most ``kernel_error``.
    """

    eigenvalues: tuple[Any, ...]
    kernel: tuple[Any, ...]
    signals: tuple[Any, ...]
    signal_error: Any
    kernel_error: Any


def not_learned(mp: Any, problem: Problem) -> Any:
    """Return delta_M = sum_{j>M} j^-(1 + s beta), or the tail of a given spectrum, at the precision of ``mp``."""
    if problem.model.spectrum is not None:
        return mp.mpf(problem.model.spectrum.tail)
    if math.isinf(problem.model.size):
        return mp.mpf(0)
    s, beta = problem.number("s", mp), problem.number("beta", mp)
    return mp.mpf(approximation_error(s, beta, problem.model.size, digits=mp.dps))


def all_modes(mp: Any, problem: Problem) -> tuple[list[Any], list[Any]]:
    """Return the eigenvalues and the signals of a given spectrum or of a finite power law, one by one, as mpf."""
    if problem.model.spectrum is not None:
        listed = problem.model.spectrum.rates, problem.model.spectrum.weights_signal
        return [mp.mpf(x) for x in listed[0]], [mp.mpf(x) for x in listed[1]]
    s, beta, indices = problem.number("s", mp), problem.number("beta", mp), range(1, int(problem.model.size) + 1)
    return [mp.mpf(j) ** -beta for j in indices], [mp.mpf(j) ** -(1 + s * beta) for j in indices]


@dataclass(frozen=True)
class _Law:
    """The power law in floats, its ``end`` of time and gamma_max (0 for the closure "volterra")."""

    s: float
    beta: float
    size: float
    end: float
    gamma: float

    @property
    def powers(self) -> tuple[float, float]:
        """Of j in the signal and in the kernel."""
        return 1.0 + self.s * self.beta, 2.0 * self.beta


def _ellipses(law: _Law, first: int, left: float) -> tuple[Array, Array, Array, Array]:
    """Return rho, the right end, and the logs of the bounds of exp and of its integral, for several ellipses."""
    half, centre = 0.5 * (1.0 - left), 0.5 * (1.0 + left)
    if left > 0.0:
        axis = (centre - left * _SHARES) / half
        rho = axis + np.sqrt(axis**2 - 1.0)
    else:
        rho = 1.0 + _WIDE
        axis = 0.5 * (rho + 1.0 / rho)
    ends = np.array([centre - half * axis, centre + half * axis]) * float(first) ** -law.beta
    fastest = (-ends * (2.0 - law.gamma * ends)).max(axis=0)
    growth = np.maximum(fastest, 0.0) * law.end
    length = np.where(fastest * law.end < -1.0, 1.0 / np.maximum(-fastest, 1e-300), law.end)
    return rho, centre + half * axis, growth, growth + np.log(length)


def _log_masses(law: _Law, first: int, shared: bool) -> list[tuple[float, float]]:
    """Return for signal and kernel the log of a bound of the mass, and the power of x."""
    masses, least = [], min(law.powers)
    for power in law.powers:
        q = least if shared else power
        masses.append((math.log1p(first / (q - 1.0)) - power * math.log(first), (power - q) / law.beta))
    return masses


def _nodes(law: _Law, first: int, left: float, digits: int) -> tuple[int, int]:
    """Return how many nodes signal and kernel need; for a block (``left`` > 0) both have the larger number."""
    rho, right, signal, kernel = _ellipses(law, first, left)
    counts = []
    for (mass, power), growth in zip(_log_masses(law, first, left > 0.0), (signal, kernel), strict=True):
        log = math.log(4.0) + mass + power * np.log(right) + growth + digits * math.log(10.0)
        need = (log + np.log(rho / (rho - 1.0))) / (2.0 * np.log(rho))
        counts.append(max(1, math.ceil(float(need.min()))))
    return (max(counts), max(counts)) if left > 0.0 else (counts[0], counts[1])


@dataclass(frozen=True)
class _Plan:
    """The first ``kept`` modes, blocks (first index, index behind, nodes), ``last`` (first, nodes, nodes) if any."""

    kept: int
    blocks: tuple[tuple[int, int, int], ...]
    last: tuple[int, int, int] | None
    count: float


def _plan(law: _Law, digits: int, ratio: float) -> _Plan:
    """Return the plan with the fewest modes for blocks of that ratio of rates."""
    best = _Plan(0, (), None, math.inf)
    blocks: tuple[tuple[int, int, int], ...] = ()
    first, kept, count = 1, 0, 0
    while count < best.count:
        if first > law.size:
            return _Plan(kept, blocks, None, count)
        nodes = _nodes(law, first, 0.0, digits)
        if max(nodes) <= _MOST_NODES and count + sum(nodes) < best.count:
            best = _Plan(kept, blocks, (first, *nodes), count + sum(nodes))
        after = min(math.ceil(first * ratio ** (1.0 / law.beta)), law.size + 1)
        size = _nodes(law, first, ((after - 1) / first) ** -law.beta, digits)[0] if after - first > 4 else 5
        if blocks or size < after - first:
            blocks += ((first, int(after), min(size, int(after) - first)),)
            count += min(size, int(after) - first)
            first = int(after)
        else:
            first, kept, count = first + 1, kept + 1, count + 1
    return best


def few_modes(problem: Problem, digits: int, gamma_max: float) -> DigitModes:
    """Return modes with errors of about 10^-digits up to the horizon; all modes of a finite model where these are few.

    ``gamma_max``: the largest gamma, which the closure "gaussian" needs. Results are cached.

    Raises ArithmeticError where a rule cannot be computed, ValueError for a given spectrum.

    >>> from fsl_num.model import Model
    >>> infinite = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=0.3, horizon=2.0**14)
    >>> modes = few_modes(infinite, 30, 0.3)
    >>> len(modes.eigenvalues) < 110 and bool(modes.signal_error < 1e-29)
    True
    """
    if problem.model.spectrum is not None:
        raise ValueError("few modes stand for a power law, but a spectrum was given: use its own modes")
    exact = [problem.model.exact.get(name, getattr(problem.model, name)) for name in ("s", "beta")]
    gamma = float(gamma_max) if problem.closure == "gaussian" else 0.0
    return _built(exact[0], exact[1], float(problem.model.size), problem.end, gamma, int(digits))


@lru_cache(maxsize=16)
def _built(s: Any, beta: Any, size: float, end: float, gamma: float, digits: int) -> DigitModes:
    law = _Law(float(s), float(beta), size, end, gamma)
    plan = min((_plan(law, digits, ratio) for ratio in _RATIOS), key=lambda plan_tried: plan_tried.count)
    mp = private_context(digits + _GUARD)
    s_, beta_ = mp.convert(s), mp.convert(beta)
    powers = (1 + s_ * beta_, 2 * beta_)
    kept = range(1, plan.kept + 1)
    eigen, signals, kernel = ([mp.mpf(j) ** -q for j in kept] for q in (beta_, *powers))
    errors = [mp.mpf(0), mp.mpf(0)]
    pieces: list[tuple[int, float, int, tuple[int, ...]]] = [(*block, (0, 1)) for block in plan.blocks]
    if plan.last is not None:
        first, *numbers = plan.last
        pieces += [(first, size + 1, n, (index,)) for index, n in enumerate(numbers)]
    for first, after, n, indices in pieces:
        q = min(powers[i] for i in indices)
        x, w, mass, defect = _rule(digits, s, beta, first, after, n, q == powers[0])
        unit = mp.mpf(first)
        eigen += [unit**-beta_ * node for node in x]
        for i, row in enumerate((signals, kernel)):
            if i not in indices:
                row += [mp.mpf(0)] * len(x)
                continue
            shape = (powers[i] - q) / beta_
            row += [unit ** -powers[i] * weight * node**shape for node, weight in zip(x, w, strict=True)]
            errors[i] += unit ** -powers[i] * _remainder(mp, law, first, after, n, i, indices, mass, defect)
    return DigitModes(tuple(eigen), tuple(kernel), tuple(signals), errors[0], errors[1])


def _left(beta: float, first: int, after: float, indices: tuple[int, ...]) -> float:
    """Return the left end of the interval: 0 for the last piece, whose rule is for one sum."""
    return ((after - 1) / first) ** -beta if len(indices) == 2 else 0.0


def _rule(
    digits: int, s: Any, beta: Any, first: int, after: float, n: int, of_signal: bool
) -> tuple[list[Any], list[Any], Any, Any]:
    """Return nodes, weights, the mass and the largest defect of a moment times Chebyshev's coefficients."""
    if after - first <= n:  # no fewer: the indices themselves
        mp = private_context(digits + _GUARD)
        indices = [mp.mpf(j) / first for j in range(first, int(after))]
        q = 1 + mp.convert(s) * mp.convert(beta) if of_signal else 2 * mp.convert(beta)
        return [j ** -mp.convert(beta) for j in indices], [j**-q for j in indices], mp.mpf(0), mp.mpf(0)
    left = _left(float(beta), first, after, (0, 1)) if math.isfinite(after) else 0.0
    # coefficients of Chebyshev's polynomial on [c, 1]: their moduli sum to its value at -1
    log = (2 * n - 1) * math.acosh((3.0 + left) / (1.0 - left)) / math.log(10.0)
    reason: ArithmeticError | None = None
    for loss in _LOSSES:
        mp = private_context(digits + 2 * _GUARD + math.ceil((1.0 + loss) * log))
        beta_ = mp.convert(beta)
        q = 1 + mp.convert(s) * beta_ if of_signal else 2 * beta_
        moments = power_moments(mp, q, beta_, first, after, 2 * n)
        try:
            nodes, weights, defect = positive_rule(mp, moments, digits + _GUARD + math.ceil(log))
        except ArithmeticError as failed:
            reason = failed
            continue
        counted = defect * mp.mpf(10) ** log * 2
        if counted <= moments[0] * mp.mpf(10) ** -(digits + _GUARD // 2):
            return nodes, weights, moments[0], counted
        reason = ArithmeticError(f"the moments of {n} nodes were met to {mp.nstr(defect, 3)} only")
    raise ArithmeticError(f"no rule of {n} nodes was found for the modes from {first} on: {reason}")


def _remainder(
    mp: Any, law: _Law, first: int, after: float, n: int, i: int, indices: tuple[int, ...], mass: Any, defect: Any
) -> Any:
    """Return the bound of what a rule misses of e (i = 0) or of the integral of K (i = 1), in units of the first."""
    if not mass:
        return mp.mpf(0)
    rho, right, *growths = _ellipses(law, first, _left(law.beta, first, after, indices))
    shape = (law.powers[i] - min(law.powers[k] for k in indices)) / law.beta
    log = float(
        (shape * np.log(right) + growths[i] + np.log(rho / (rho - 1.0)) - 2 * n * np.log(rho)).min() + math.log(4.0)
    )
    length = 1.0 if i == 0 else law.end
    return mp.exp(log) * mass * (1 + mp.mpf(10) ** -9) + defect * length
