r"""Discrete schedules of millions of steps: stretches of many steps where gamma is smooth, else single steps.

Where gamma is a smooth function of time but for being a staircase, and stays so for many steps, the steps are merged
into stretches (:mod:`fsl_num.volterra.steps.mixed_march`). The others are collocated one by one, in blocks
(:mod:`fsl_num.volterra.steps.march`): on a step gamma is constant, so that a jump between steps does no harm. Every run
of steps is collocated at as many Radau points as its longest step needs; then with one point more each, until two
solutions agree: the error of the coarser is claimed for the finer. Steps longer than the fastest mode's time are
divided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.schedules.discrete import Discrete
from fsl_num.validation import Array, positive
from fsl_num.volterra.linear_modes import LinearModes, linear_modes
from fsl_num.volterra.problem import Problem
from fsl_num.volterra.steps.march import march
from fsl_num.volterra.steps.mixed_march import Course, Floor, solve_mixed
from fsl_num.volterra.steps.refinement import refine_points
from fsl_num.volterra.steps.sampled_steps import SampledSteps
from fsl_num.volterra.steps.smooth_steps import LEAST_STEPS, Scales, find_stretches
from fsl_num.volterra.steps.step_rules import LONGEST, Segment, divide_long_steps

LEAST_TOLERANCE = 1e-13

STRETCH_ROUNDING = 2e-14
"""Relative rounding of the Radau points on a stretch, on short horizons, where it was measured for the panels."""


def rounding_floor(steps: int) -> float:
    """Return the relative rounding of ``steps`` steps, which no refinement shows.

    Against extended precision 60,000 steps rounded by 1e-15; the product of the decays of all blocks is a random walk,
    and ten times what was measured is claimed. On smooth schedules the decays of neighbouring blocks round alike, and a
    million steps are wrong by 1.4e-12 (seen by other sizes of the blocks): twice that is claimed.

    >>> rounding_floor(1) < 2e-14 < rounding_floor(10**6) < 1e-11
    True
    """
    return 1e-14 + 4e-17 * math.sqrt(steps) + 3e-18 * steps


@dataclass(frozen=True, eq=False)
class Pieces:
    """Steps cut at wanted times and divided where long: ``lengths``, ``gammas``, and the index of the piece that ends
    at each end of a step (``steps``) and at each wanted time (``wanted``, -1 for the start), which is that time but
    for a rounding of ``blur``."""

    lengths: Array
    gammas: Array
    steps: Any
    wanted: Any
    blur: Any


def cut_steps(plan: Discrete, fastest: float, t: Array) -> Pieces:
    """Return the steps of ``plan`` cut at the intrinsic times ``t`` and divided into parts of at most 1/``fastest``."""
    if t.size == 0 and plan.peak * fastest <= LONGEST:
        index = np.arange(plan.rates.size)
        return Pieces(plan.rates, plan.gammas, index, index[:0], t)
    starts = plan.intrinsic_time(np.arange(plan.steps))
    index = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, plan.rates.size - 1)
    offset = t - starts[index]
    # A time may be meant for the end of a step, whose place is a sum that was rounded.
    near = 8.0 * np.spacing(max(plan.total_intrinsic_time, 1e-300))
    inside = (offset > near) & (offset < plan.rates[index] - near)
    # Pieces start at the steps and at the cuts inside of them; each ends where the next of its step starts.
    step = np.concatenate([np.arange(plan.rates.size), index[inside]])
    begin = np.concatenate([np.zeros(plan.rates.size), offset[inside]])
    order = np.lexsort((begin, step))
    step, begin = step[order], begin[order]
    last = np.append(step[1:] != step[:-1], True)
    lengths = np.where(last, plan.rates[step], np.append(begin[1:], 0.0)) - begin
    whole = np.flatnonzero(last)
    wanted = np.where(offset <= near, index - 1, index)
    wanted = np.where(wanted >= 0, whole[wanted], -1)
    # a cut ends the piece before it
    wanted[inside] = np.argsort(order)[plan.rates.size :] - 1
    parts = divide_long_steps(lengths, fastest)
    ends = np.cumsum(parts) - 1
    return Pieces(
        np.repeat(lengths / parts, parts),
        np.repeat(plan.gammas[step], parts),
        ends[whole],
        np.where(wanted >= 0, ends[wanted], -1),
        near * (t > 0.0),
    )


def discrete_schedule(problem: Problem) -> Discrete:
    """Return the Discrete schedule of ``problem``; raise ValueError where it has another one."""
    if not isinstance(problem.gamma, Discrete):
        raise ValueError(
            f"the method for discrete schedules needs a Discrete schedule, got {type(problem.gamma).__name__}; use"
            " 'panels'"
        )
    return problem.gamma


def _course(plan: Discrete, pieces: Pieces) -> tuple[Course, Any]:
    """Return the pieces of the steps that take time, and which steps those are (None for all)."""
    moving = None if plan.rates.all() else np.flatnonzero(plan.rates)
    if moving is None and pieces.lengths.size == plan.rates.size:
        return Course(pieces.lengths, pieces.gammas, range(plan.rates.size + 1), None), None
    first = np.concatenate([[0], pieces.steps + 1])
    if moving is not None:
        # the pieces of no length belong to the step before them
        first = np.concatenate([[0], first[moving[1:]], first[-1:]])
    places = None
    if pieces.lengths.size > plan.rates.size:
        ends = np.cumsum(pieces.lengths)
        begins = np.repeat(np.concatenate([[0.0], ends[pieces.steps[:-1]]]), np.diff(pieces.steps, prepend=-1))
        lengths = np.repeat(plan.rates, np.diff(pieces.steps, prepend=-1))
        places = np.where(lengths > 0.0, (ends - begins) / np.where(lengths > 0.0, lengths, 1.0), 1.0)
        places[pieces.steps] = 1.0
    return Course(pieces.lengths, pieces.gammas, first, places), moving


def stretch_growth(accuracy: float) -> float:
    """Return how long a stretch may be by the time since the last break: a polynomial of degree 6 there misses a
    function with a singularity at the break by about rho^-7, rho of the ellipse through it. Measured on the losses of
    constant and falling gamma it misses a tenth of that or less, with and without noise."""
    rho = (15.0 / accuracy) ** (1.0 / 7.0)
    return float(2.0 / (0.5 * (rho + 1.0 / rho) - 1.0))


def stretch_floor(problem: Problem, system: LinearModes, steps: int) -> float:
    """Return the relative error of f that nothing shows on stretches, and on ``steps`` steps besides them."""
    rounding = STRETCH_ROUNDING * (1.0 + min(9.0, math.log1p(float(system.rates.max()) * problem.end)))
    return (rounding + rounding_floor(steps) + system.error) / max(1.0 - problem.stability, 1e-3)


def _on_stretches(
    problem: Problem, system: LinearModes, plan: Discrete, pieces: Pieces, at: Any, rtol: float
) -> tuple[Array, Array, dict[str, Any]] | None:
    """Return what :func:`_refined` does, on stretches of steps where there are any and they are good enough."""
    if system.self_feeding or not problem.stability < 0.99 or plan.rates.size < 2 * LEAST_STEPS:
        return None
    scales = Scales.of(system, problem.stability, rtol, problem.end)
    target = rtol - stretch_floor(problem, system, 0)
    if target < 0.5 * rtol:
        return None
    course, moving = _course(plan, pieces)
    rates, gammas = plan.rates, plan.gammas
    if moving is not None:
        rates, gammas = rates[moving], gammas[moving]
    steps = SampledSteps.of(rates, gammas, LEAST_STEPS, plan.batch_sizes.size == 1)
    stretches = find_stretches(steps, scales, 0.4 * target, stretch_growth(target))
    if not stretches:
        return None
    left = course.lengths.size - sum(int(course.first[one.high] - course.first[one.low]) for one in stretches)
    floor = stretch_floor(problem, system, left)
    target = rtol - floor
    if target < 0.5 * rtol:
        return None
    found = solve_mixed(system, scales, course, stretches, target, Floor(floor, 4e-16 * system.noise), at)
    if not found.difference + found.smooth <= target:
        return None
    values, error = found.values, found.errors
    if pieces.blur.any():
        # |f'| is at most the larger of what is forgotten and what is injected, on either side
        gamma = np.maximum(pieces.gammas[np.maximum(at - 1, 0)], pieces.gammas[np.minimum(at, pieces.gammas.size - 1)])
        error += pieces.blur * np.maximum(scales.fastest * values, scales.kernel * gamma * (values + system.noise))
    facts = {
        "modes": system.rates.size,
        "evaluations": found.evaluations,
        "points a step": found.points,
        "flops": found.flops,
        "steps in stretches": sum(one.high - one.low for one in stretches),
        "stretches": len(stretches),
        "tolerance reached": True,
    }
    return values, error, facts


def _refined(
    problem: Problem, system: LinearModes, plan: Discrete, pieces: Pieces, at: Any, rtol: float
) -> tuple[Array, Array, dict[str, Any]]:
    """Return f after ``at`` pieces (None: at the start and the ends of all), absolute errors and facts."""
    smooth = _on_stretches(problem, system, plan, pieces, at, rtol)
    return _step_by_step(problem, system, pieces, slice(None) if at is None else at, rtol) if smooth is None else smooth


def _step_by_step(
    problem: Problem, system: LinearModes, pieces: Pieces, at: Any, rtol: float
) -> tuple[Array, Array, dict[str, Any]]:
    """Return f after ``at`` pieces by collocation on each, absolute errors and facts."""
    fastest = float(system.rates.max())
    floor = (rounding_floor(pieces.lengths.size) + system.error) / max(1.0 - problem.stability, 1e-3)
    target = max(rtol - floor, 0.1 * rtol)
    flops: list[float] = []

    def marched(plan: list[Segment]) -> Array:
        found = march(system, pieces.lengths, pieces.gammas, plan)
        flops.append(found.flops)
        return np.concatenate([[system.delta + system.noise + system.start.sum()], found.ends])

    found = refine_points(marched, pieces.lengths, fastest, system.noise, target)
    fine, worst = found.values, found.worst
    values = fine[at] - system.noise
    error = (worst[at] + floor) * np.abs(values) + 4e-16 * system.noise
    if pieces.blur.any():
        error += pieces.blur * _slopes(fine, pieces.lengths)[at]
    facts = {
        "modes": system.rates.size,
        "evaluations": found.points,
        "points a step": max(run.points for run in found.plan),
        "flops": sum(flops),
        "steps in stretches": 0,
        "stretches": 0,
        "tolerance reached": bool(worst[-1] <= target),
    }
    return values, error, facts


def _slopes(values: Array, lengths: Array) -> Array:
    """Return a bound of |f'| at each end of a piece: twice the larger mean slope of the pieces beside it."""
    steep = np.abs(np.diff(values)) / np.where(lengths > 0.0, lengths, np.inf)
    return 2.0 * np.maximum(np.append(steep[:1], steep), np.append(steep, steep[-1:]))


def losses_of_steps(problem: Problem, rtol: float = 1e-8) -> tuple[Array, Array, dict[str, Any]]:
    """Return f (TWICE the excess risk) at the start and after every step, its absolute error, and facts.

    ``problem``: one whose gamma is a :class:`~fsl_num.schedules.Discrete`, either closure; ``rtol`` in [1e-13, 1).
    The facts say whether the tolerance was reached, how many "stretches" of many steps there are and how many "steps in
    stretches", the most "points a step" on the others, all "evaluations" of the loss, the number of "modes", and the
    "flops" of all matrix products. Raises ValueError for other problems.

    >>> plan = Discrete(rates=[0.3] * 50)
    >>> problem = Problem(s=0.5, beta=2.0, model_size=10, noise=1.0, gamma=plan)
    >>> values, error, facts = losses_of_steps(problem)
    >>> len(values), bool(values[-1] < values[0])
    (51, True)
    """
    plan = discrete_schedule(problem)
    if not LEAST_TOLERANCE <= positive("rtol", rtol) < 1:
        raise ValueError(f"rtol must lie in [{LEAST_TOLERANCE:g}, 1), got {rtol!r}")
    total = float(plan.rates.sum())
    # but for rounding the problem knows it: then its modes are already there
    system = linear_modes(problem, problem.end if total <= problem.end * (1.0 + 1e-12) else total)
    pieces = cut_steps(plan, float(system.rates.max()), np.empty(0))
    whole = pieces.lengths.size == plan.rates.size
    at = None if whole else np.concatenate([[0], pieces.steps + 1])
    return _refined(problem, system, plan, pieces, at, rtol)


def solve_discrete(problem: Problem, t: Array, rtol: float) -> tuple[Array, Array, dict[str, Any]]:
    """Return f at the sorted times ``t`` in [0, horizon], an absolute error for each, and facts about the run.

    Arguments and errors as in :func:`losses_of_steps`; the times may lie inside steps.

    >>> problem = Problem(s=0.5, beta=2.0, model_size=10, noise=1.0, gamma=Discrete(rates=[0.3] * 50))
    >>> bool(solve_discrete(problem, np.array([0.1]), 1e-9)[0] < losses_of_steps(problem)[0][0])
    True
    """
    plan = discrete_schedule(problem)
    system = linear_modes(problem, plan.total_intrinsic_time)
    pieces = cut_steps(plan, float(system.rates.max()), t)
    return _refined(problem, system, plan, pieces, pieces.wanted + 1, rtol)
