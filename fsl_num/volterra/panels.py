r"""The fast solver: collocation on panels that grow geometrically from every break and shrink towards the end.

With K(t) = sum_k w_k exp(-2 mu_k t) the equation is the linear system y_k' = -2 mu_k y_k + w_k gamma (f + sigma^2),
f = delta + e(t) + sum_k y_k. On each panel it is collocated at the six Radau IIA points (order 11 at the panel's
end, damping the fast modes). The modes are eliminated by the eigenvectors of the Radau matrix, so that a panel costs
one 6 x 6 solve. Every time asked for is the end of a panel. Panels on which gamma is no polynomial are halved first,
then all panels until two solutions agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fsl_num.compression import Modes, kernel_modes
from fsl_num.schedules import Discrete, Schedule
from fsl_num.validation import Array
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.radau import radau_table

_STAGES = 6
_DIGITS = 25  # of the rule before it is rounded to floats
_FIRST = 0.25  # first panel after a break, in units of 1/lambda_1
_RATIO = 1.35  # of neighbouring panels' ends, before any panel is halved
_LEVELS = 5
_RESOLVED = 1e-5  # of gamma by its values at the points of a panel; halving all panels four times gains 2^24
_LEVELS_OF_GAMMA = 40
_NEAR = 1e-6  # of a panel, behind its start
_MOST_PANELS = 2000  # before all are halved: 32,000 then, some seconds
_PROBES = 32
_LAST = 1e-12  # last panel before the end, in the same unit
_ROUNDING = 2e-14  # relative, measured against 40 digits (tests): the eigenvectors cost up to a factor 100
_AGREEMENT = 2e-13  # two solutions that agree so well are not refined any more


@dataclass(frozen=True)
class Radau:
    """The Radau IIA rule of :func:`~fsl_num.volterra.radau.radau_table` in floats, and its ``matrix`` of integrals."""

    nodes: Array
    matrix: Array
    eigenvalues: npt.NDArray[np.complex128]
    vectors: npt.NDArray[np.complex128]
    inverse: npt.NDArray[np.complex128]


@lru_cache(maxsize=1)
def radau_rule() -> Radau:
    """Return the rule of six points."""
    table = radau_table(_STAGES, _DIGITS)
    values, vectors, inverse = (
        np.array(part, dtype=object) for part in (table.eigenvalues, table.vectors, table.inverse)
    )
    exact = (vectors * values @ inverse, values, vectors, inverse)
    matrix, *parts = (part.astype(np.complex128) for part in exact)
    return Radau(np.array(table.nodes, dtype=np.float64), matrix.real, *parts)


def panel_ends(problem: Problem, asked: Array, ratio: float) -> tuple[Array, Array]:
    """Return the panel ends twice, as t and as end - t: the smaller of the two is exact, the other its complement."""
    end, unit = problem.end, 1.0 / problem.model.fastest
    cuts = [0.0, *problem.breaks, end]
    shares = np.array([0.0] if isinstance(problem.gamma, Discrete) else [0.0, 0.25, 0.5, 0.75])
    early, late = (
        [np.array([0.0]), asked[asked < 0.5 * end]],
        [np.array([0.0]), end - asked[asked >= 0.5 * end]],
    )
    for low, high in zip(cuts[:-1], cuts[1:], strict=True):
        width = high - low
        # grow from the break: the loss relaxes from it on all time scales
        count = max(0, math.ceil(math.log(max(width / (_FIRST * unit), 1.0)) / math.log(ratio)))
        grown = _FIRST * unit * ratio ** np.arange(count, dtype=np.float64)
        # and no panel of a short segment may be long compared with the segment itself, unless gamma is constant there
        grown = np.concatenate([grown, width * shares])
        if high == end and not problem.is_constant:
            # shrink towards the end: gamma may vanish there like a power of the remaining time
            grown = grown[grown <= 0.5 * width]
            smallest = _LAST * min(width, unit)
            count = math.ceil(math.log(0.5 * width / smallest) / math.log(ratio))
            shrunk = 0.5 * width * ratio ** -np.arange(count + 1, dtype=np.float64)
            late.append(shrunk[shrunk <= 0.5 * end])
            early.append(end - shrunk[shrunk > 0.5 * end])
        grown = low + grown[grown < width]
        early.append(grown[grown < 0.5 * end])
        late.append(end - grown[grown >= 0.5 * end])
    first, last = np.unique(np.concatenate(early)), np.unique(np.concatenate(late))[::-1]
    return np.concatenate([first, end - last]), np.concatenate([end - first, last])


def halved(problem: Problem, times: Array, remaining: Array, mask: Any = None) -> tuple[Array, Array]:
    """Return the ends of twice as many panels: every panel, however short, in two; or those of a mask ``mask``."""
    is_early = times[1:] < 0.5 * problem.end
    by_time, by_rest = 0.5 * (times[:-1] + times[1:]), 0.5 * (remaining[:-1] + remaining[1:])
    middle = np.where(is_early, by_time, problem.end - by_rest)
    remaining_middle = np.where(is_early, problem.end - by_time, by_rest)
    places = np.arange(1, len(times)) if mask is None else 1 + np.flatnonzero(mask)
    return np.insert(times, places, middle[places - 1]), np.insert(remaining, places, remaining_middle[places - 1])


def resolving(problem: Problem, times: Array, remaining: Array) -> tuple[Array, Array]:
    """Return the ends of panels, halved where gamma turns too often for a polynomial on the points of one panel."""
    if problem.is_constant or isinstance(problem.gamma, Discrete):
        return times, remaining
    nodes = radau_rule().nodes
    between = 0.5 * (nodes + np.concatenate([[0.0], nodes[:-1]]))
    between = np.append(_NEAR, between)  # a jump may lie in front of the first point
    vander = np.polynomial.legendre.legvander
    interpolation = vander(2.0 * between - 1.0, _STAGES - 1) @ np.linalg.inv(vander(2.0 * nodes - 1.0, _STAGES - 1))
    for _ in range(_LEVELS_OF_GAMMA):
        widths, _, gamma = collocation_points(problem, times, remaining)
        is_early = (times[1:] < 0.5 * problem.end)[:, None]
        steps = widths[:, None] * between
        t = np.where(is_early, times[:-1, None] + steps, problem.end - (remaining[:-1, None] - steps))
        remaining_there = np.where(is_early, problem.end - t, remaining[:-1, None] - steps)
        there = problem.gamma_on(t.ravel(), remaining_there.ravel()).reshape(t.shape)
        size = np.abs(gamma).max(axis=1) + 1e-6 * np.abs(gamma).max()
        missed = np.abs(gamma @ interpolation.T - there)
        missed[widths * _NEAR < _nudge(problem), 0] = 0.0  # that near, a break of gamma may be meant
        coarse = missed.max(axis=1) > _RESOLVED * size
        coarse &= widths > 64.0 * np.spacing(times[1:])
        if not coarse.any() or len(times) + coarse.sum() > _MOST_PANELS:
            break
        times, remaining = halved(problem, times, remaining, coarse)
    return times, remaining


def collocation_points(problem: Problem, times: Array, remaining: Array) -> tuple[Array, Array, Array]:
    """Return the panels' widths, and the Radau points of each as t and gamma there; ends as :func:`panel_ends` gives.

    Where a panel ends at a break of gamma, gamma there is its limit from within the panel.
    """
    nodes = radau_rule().nodes
    is_early = times[1:] < 0.5 * problem.end
    widths = np.where(is_early, np.diff(times), -np.diff(remaining))
    steps = widths[:, None] * nodes
    by_time, by_rest = times[:-1, None] + steps, np.maximum(remaining[:-1, None] - steps, 0.0)
    t = np.where(is_early[:, None], by_time, problem.end - by_rest)
    left = np.where(is_early[:, None], problem.end - by_time, by_rest)
    left[:, -1], t[:, -1] = remaining[1:], times[1:]
    # A function may jump at the very end, where no break says so, and points closer than rounding are the end itself.
    inside, remaining_inside = np.minimum(t, np.nextafter(problem.end, 0.0)), left.copy()
    inside[:, -1] = np.nextafter(t[:, -1], 0.0)
    jumps = _end_at_a_jump(problem, times[1:])
    nudge = np.where(jumps, np.minimum(_nudge(problem), 0.5 * widths), 0.0)
    inside[:, -1] -= nudge
    remaining_inside[:, -1] += nudge
    if jumps[-1]:  # the last panels are shorter than the rounding of the jump's place
        remaining_inside = np.maximum(remaining_inside, _nudge(problem))
    gamma = problem.gamma_on(inside.ravel(), remaining_inside.ravel()).reshape(left.shape)
    return widths, np.clip(t, 0.0, problem.end), gamma


def _nudge(problem: Problem) -> float:
    """Return how far from a break a point surely lies on its own side of it.

    A break is known to the rounding of the whole intrinsic time only, and a schedule's numerical inverse adds some
    more. One point of weight 1/36 moved by so little changes the loss by about the same rounding.
    """
    whole = problem.gamma.total_intrinsic_time if isinstance(problem.gamma, Schedule) else problem.end
    return float(64.0 * np.spacing(whole))


def _end_at_a_jump(problem: Problem, ends: Array) -> npt.NDArray[np.bool_]:
    """Return which of the panel ends are breaks of gamma, those at the very end of a shortened schedule included."""
    breaks = np.asarray(problem.gamma.breaks if isinstance(problem.gamma, Schedule) else problem.breaks)
    if breaks.size == 0:
        return np.zeros(ends.shape, dtype=np.bool_)
    reach = 0.5 * _nudge(problem)
    first = np.minimum(np.searchsorted(breaks, ends - reach), breaks.size - 1)
    return np.asarray(np.abs(breaks[first] - ends) <= reach)


def march_panels(problem: Problem, modes: Modes, times: Array, remaining: Array) -> Array:
    """Return f = 2E at every panel end, given twice as :func:`panel_ends` does."""
    radau = radau_rule()
    widths, t, gamma = collocation_points(problem, times, remaining)
    forcing = problem.model.forcing(t.ravel()).reshape(t.shape)
    rates, weights = 2.0 * modes.rates, modes.kernel_weights
    state = np.zeros_like(rates)
    values = np.empty(len(times))
    values[0] = float(problem.model.forcing(np.zeros(1))[0])
    ones = radau.inverse.sum(axis=1)
    unit = np.eye(_STAGES)
    for i, h in enumerate(widths):
        # 1/(1 + z) is written as 1 - z/(1 + z), so that the thousands of tiny panels add no rounding of their own.
        turn = h * radau.eigenvalues
        damp = 1.0 / (1.0 + turn[:, None] * rates)
        history = state.sum() - (radau.vectors @ ((damp @ (rates * state)) * (turn * ones))).real
        response = ((radau.vectors * (turn * (damp @ weights))) @ radau.inverse).real
        known = forcing[i] + history + response @ (gamma[i] * problem.model.noise)
        f = np.linalg.solve(unit - response * gamma[i], known)
        source = radau.inverse @ (gamma[i] * (f + problem.model.noise))
        # the last Radau point is the end of the panel: its row of the eigenvectors gives the modes there
        row = radau.vectors[-1]
        lost = rates * ((row * turn * ones) @ damp).real
        state = state - lost * state + ((row * turn * source) @ damp).real * weights
        values[i + 1] = f[-1]
    return values


def problem_modes(problem: Problem) -> Modes:
    """Return the modes of the forgetting kernel: those of a given spectrum, or those of the power law, shortened."""
    if problem.model.spectrum is not None:
        return Modes(problem.model.spectrum.eigenvalues, problem.model.spectrum.eigenvalues**2, 0.0)
    return kernel_modes(problem.model.beta, problem.model.size, problem.end)


def solve_panels(problem: Problem, t: Array, rtol: float) -> tuple[Array, Array, dict[str, Any]]:
    """Return f = 2E at the sorted times ``t``, an absolute error bound for each, and facts about the run."""
    modes = problem_modes(problem)
    floor = relative_floor(problem, _ROUNDING, modes.error)
    moved = jump_error(problem, t, 2.0 * modes.rates, modes.kernel_weights)
    values, error, facts = refined(
        problem, lambda *ends: march_panels(problem, modes, *ends), t, rtol, floor, len(modes.rates)
    )
    return values, error + moved * (values + problem.model.noise), facts


def jump_error(problem: Problem, t: Array, decays: Array, weights: Array) -> Array:
    """Return the error at the sorted ``t``, relative to f + sigma^2, of knowing the jumps of gamma only to rounding.

    A jump by d that is moved by x changes the loss tau later by d x K(tau) (f + sigma^2), and by what that injects
    again: that makes the loss forget more slowly, by about 1 - stability. ``decays`` and ``weights`` are those of K.
    """
    error, breaks = np.zeros(t.shape), np.asarray(problem.breaks)
    if breaks.size == 0:
        return error
    near = np.minimum(_nudge(problem), 0.25 * np.diff(np.concatenate([[0.0], breaks, [problem.end]])))
    remaining_then = problem.end - breaks
    before, after = (problem.gamma_on(breaks + x, np.maximum(remaining_then - x, 0.0)) for x in (-near[:-1], near[1:]))
    jumps, stable = np.abs(after - before) * _misplaced(problem, breaks), max(1.0 - problem.stability, 1e-3)
    slow, state, done, last = decays * stable, np.zeros_like(weights), 0, 0.0
    for i, count in enumerate(np.searchsorted(breaks, t + _nudge(problem), side="right")):
        while done < count:
            state = state * np.exp(-(breaks[done] - last) * slow) + jumps[done] * weights
            last, done = float(breaks[done]), done + 1
        error[i] = state @ np.exp(-max(t[i] - last, 0.0) * slow)
    return error / stable


def _misplaced(problem: Problem, breaks: Array) -> Array:
    """Return how far each of the breaks may be from its true place: a float for a sum of floats, or one rounding.

    An early break is held as it was given, a late one as what is left of the horizon.
    """
    rounding = np.spacing(breaks)
    if not isinstance(problem.gamma, Schedule):
        return np.asarray(np.where(breaks < 0.5 * problem.end, 0.0, rounding))
    if not isinstance(problem.gamma, Discrete):
        return np.asarray(2.0 * rounding)
    high, low = 0.0, 0.0
    by_place: dict[float, float] = {}
    for rate, start in zip(problem.gamma.rates.tolist(), np.cumsum(problem.gamma.rates).tolist(), strict=True):
        total = high + rate
        moved = total - high
        low += (high - (total - moved)) + (rate - moved)  # what the sum of two floats lost, exactly
        high = total
        by_place.setdefault(start, abs((start - high) - low))
    return np.asarray([by_place.get(place, 0.0) for place in breaks.tolist()] + rounding)


def relative_floor(problem: Problem, unit: float, modes: float) -> float:
    """Return the relative error that no refinement shows: of rounding, ``unit`` on short horizons, and of the modes.

    Long panels are systems of a larger condition, which stops growing once the fast modes have no inertia left. The
    resolvent is positive: a relative change of the kernel changes the loss by at most that over 1 - stability.
    """
    rounding = unit * (1.0 + min(9.0, math.log1p(2.0 * problem.model.fastest * problem.end)))
    return (rounding + modes) / max(1.0 - problem.stability, 1e-3)


def refined(
    problem: Problem,
    march: Callable[[Array, Array], Array],
    t: Array,
    rtol: float,
    floor: float,
    size: int,
) -> tuple[Array, Array, dict[str, Any]]:
    """Return what ``march`` finds at ``t`` on panels fine enough that two solutions agree, with error and facts.

    ``march`` maps panel ends (as :func:`panel_ends` gives them) to f there; ``floor`` is the relative error that no
    refinement shows; ``size`` the number of modes, for the facts.
    """
    # Two solutions may agree at one time by chance while an earlier error still decays, so they are compared at probes
    # over the whole range too, and the error at t is the largest relative difference up to t.
    probes = np.geomspace(min(0.1 / problem.model.fastest, 0.1 * problem.end), problem.end, _PROBES)
    at_times = np.unique(np.concatenate([t, probes]))
    times, remaining = resolving(problem, *panel_ends(problem, at_times, _RATIO))
    late = np.searchsorted(-remaining, -(problem.end - at_times))
    place = np.where(at_times < 0.5 * problem.end, np.searchsorted(times, at_times), late)
    previous, panels, level = None, 0, 1
    difference = np.full_like(at_times, np.inf)
    for _ in range(_LEVELS):
        panels += len(times) - 1
        values = march(times, remaining)[level * place]
        if previous is not None:
            # a loss that is 0 stays 0
            relative = np.divide(values, previous, out=np.ones_like(values), where=previous != 0.0)
            difference = np.maximum.accumulate(np.abs(relative - 1.0))
            if difference[-1] <= max(0.3 * rtol, _AGREEMENT):
                break
        previous = values
        if level < 2 ** (_LEVELS - 1):
            times, remaining = halved(problem, times, remaining)
            level *= 2
    error = (difference + floor) * np.abs(values)
    asked = np.searchsorted(at_times, t)
    return values[asked], error[asked], {"panels": len(times) - 1, "modes": size, "evaluations": _STAGES * panels}
