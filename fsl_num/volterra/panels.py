r"""The fast solver: collocation on panels that grow geometrically from every break and shrink towards the end.

With K(t) = sum_k w_k exp(-2 mu_k t) the equation is the linear system y_k' = -2 mu_k y_k + w_k gamma (f + sigma^2),
f = delta + e(t) + sum_k y_k. On each panel it is collocated at the six Radau IIA points (order 11 at the panel's
end, damping the fast modes). The modes are eliminated by the eigenvectors of the Radau matrix, so that a panel costs
one 6 x 6 solve. Every time asked for is the end of a panel. The panels are refined until two solutions agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fsl_num.validation import Array
from fsl_num.volterra.modes import Modes, kernel_modes
from fsl_num.volterra.problem import Problem

_STAGES = 6
_FIRST = 0.25  # first panel after a break, in units of the fastest time scale 1/(2 lambda_1) = 1/2
_PROBES = 32
_LAST = 1e-12  # last panel before the end
_ROUNDING = 2e-13  # relative, measured against 40 digits (tests): the eigenvectors cost a factor 300


@dataclass(frozen=True)
class _Radau:
    nodes: Array
    eigenvalues: npt.NDArray[np.complex128]
    vectors: npt.NDArray[np.complex128]
    inverse: npt.NDArray[np.complex128]


@lru_cache(maxsize=1)
def _radau() -> _Radau:
    from scipy.special import roots_jacobi

    x = np.append(roots_jacobi(_STAGES - 1, 1.0, 0.0)[0], 1.0)
    legendre = np.polynomial.legendre
    integrals = np.stack([legendre.legval(x, 0.5 * legendre.legint(row, lbnd=-1)) for row in np.eye(_STAGES)], axis=1)
    matrix = np.linalg.solve(legendre.legvander(x, _STAGES - 1).T, integrals.T).T
    eigenvalues, vectors = np.linalg.eig(matrix)
    return _Radau(0.5 * (x + 1.0), eigenvalues, vectors, np.linalg.inv(vectors))


def _edges(problem: Problem, wanted: Array, ratio: float) -> tuple[Array, Array]:
    """Return the panel ends twice, as t and as end - t: the smaller of the two is exact, the other its complement."""
    end = problem.end
    cuts = [0.0, *problem.breaks, end]
    early, late = [np.array([0.0]), wanted[wanted < 0.5 * end]], [np.array([0.0]), end - wanted[wanted >= 0.5 * end]]
    for low, high in zip(cuts[:-1], cuts[1:], strict=True):
        width = high - low
        # grow from the break: the loss relaxes from it on all time scales
        count = max(0, math.ceil(math.log(max(width / _FIRST, 1.0)) / math.log(ratio)))
        grown = _FIRST * ratio ** np.arange(count, dtype=np.float64)
        # and no panel of a short segment may be long compared with the segment itself
        grown = np.concatenate([grown, width * np.array([0.0, 0.25, 0.5, 0.75])])
        if high == end and not problem.is_constant:
            # shrink towards the end: gamma may vanish there like a power of the remaining time
            grown = grown[grown <= 0.5 * width]
            smallest = _LAST * min(width, 1.0)
            count = math.ceil(math.log(0.5 * width / smallest) / math.log(ratio))
            shrunk = 0.5 * width * ratio ** -np.arange(count + 1, dtype=np.float64)
            late.append(shrunk[shrunk <= 0.5 * end])
            early.append(end - shrunk[shrunk > 0.5 * end])
        grown = low + grown[grown < width]
        early.append(grown[grown < 0.5 * end])
        late.append(end - grown[grown >= 0.5 * end])
    first, last = np.unique(np.concatenate(early)), np.unique(np.concatenate(late))[::-1]
    return np.concatenate([first, end - last]), np.concatenate([end - first, last])


def _march(problem: Problem, modes: Modes, times: Array, remaining: Array) -> Array:
    """Return f at every panel end, given twice as :func:`_edges` does."""
    radau = _radau()
    is_early = times[1:] < 0.5 * problem.end
    widths = np.where(is_early, np.diff(times), -np.diff(remaining))
    steps = widths[:, None] * radau.nodes
    by_time, by_rest = times[:-1, None] + steps, np.maximum(remaining[:-1, None] - steps, 0.0)
    t = np.where(is_early[:, None], by_time, problem.end - by_rest)
    left = np.where(is_early[:, None], problem.end - by_time, by_rest)
    left[:, -1], t[:, -1] = remaining[1:], times[1:]
    forcing = problem.forcing(np.clip(t.ravel(), 0.0, problem.end)).reshape(left.shape)
    # The last point of a panel may be a jump of gamma, and the panel needs the value from its own side.
    t[:, -1] = np.nextafter(t[:, -1], 0.0)
    gamma = problem.gamma_on(t.ravel(), left.ravel()).reshape(left.shape)
    rates, weights = 2.0 * modes.rates, modes.weights
    state = np.zeros_like(rates)
    values = np.empty(len(times))
    values[0] = float(problem.forcing(np.zeros(1))[0])
    ones = radau.inverse.sum(axis=1)
    unit = np.eye(_STAGES)
    for i, h in enumerate(widths):
        # 1/(1 + z) is written as 1 - z/(1 + z), so that the thousands of tiny panels add no rounding of their own.
        turn = h * radau.eigenvalues
        damp = 1.0 / (1.0 + turn[:, None] * rates)
        history = state.sum() - (radau.vectors @ ((damp @ (rates * state)) * (turn * ones))).real
        response = ((radau.vectors * (turn * (damp @ weights))) @ radau.inverse).real
        known = forcing[i] + history + response @ (gamma[i] * problem.noise)
        f = np.linalg.solve(unit - response * gamma[i], known)
        source = radau.inverse @ (gamma[i] * (f + problem.noise))
        # the last Radau point is the end of the panel: its row of the eigenvectors gives the modes there
        row = radau.vectors[-1]
        lost = rates * ((row * turn * ones) @ damp).real
        state = state - lost * state + ((row * turn * source) @ damp).real * weights
        values[i + 1] = f[-1]
    return values


def solve_panels(problem: Problem, t: Array, rtol: float) -> tuple[Array, Array, dict[str, Any]]:
    """Return f at the sorted times ``t``, an absolute error bound for each, and facts about the run."""
    modes = kernel_modes(problem.beta, problem.model_size, problem.end)
    gap = max(1.0 - problem.stability, 1e-3)
    # Two solutions may agree at one time by chance while an earlier error still decays, so they are compared at probes
    # over the whole range too, and the error at t is the largest relative difference up to t.
    probes = np.geomspace(min(0.1, 0.1 * problem.end), problem.end, _PROBES)
    wanted = np.unique(np.concatenate([t, probes]))
    ratio, previous = 1.35, None
    difference = np.full_like(wanted, np.inf)
    for _ in range(5):
        times, remaining = _edges(problem, wanted, ratio)
        everything = _march(problem, modes, times, remaining)
        late = np.searchsorted(-remaining, -(problem.end - wanted))
        values = everything[np.where(wanted < 0.5 * problem.end, np.searchsorted(times, wanted), late)]
        if previous is not None:
            difference = np.maximum.accumulate(np.abs(values / previous - 1.0))
            if difference[-1] <= max(0.3 * rtol, _ROUNDING):
                break
        previous = values
        ratio = math.sqrt(ratio)
    # A relative change of the kernel changes the loss by at most that over 1 - gamma_max tr(H)/2 (positive resolvent).
    error = (difference + (_ROUNDING + modes.error) / gap) * np.abs(values)
    asked = np.searchsorted(wanted, t)
    return values[asked], error[asked], {"panels": len(times) - 1, "modes": len(modes.rates)}
