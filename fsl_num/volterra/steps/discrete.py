r"""Discrete schedules of millions of steps, marched by compiled code (:mod:`fsl_num.volterra.steps.kernel`).

The error that is claimed is proved but for rounding. A step of turn z = h (r_1 + gamma K(0)) <= 1, divided where it is
longer, with a series of P terms leaves out at most the part e^(2z) z^P/(P + 1)! of what it injects into any mode, for
|u^(m)| <= (z/h)^m u and u falls by e^-z at most; powers (rho_k h)^m/m! below a small part of that are left out too. All
terms of the system are positive. So an error of the part a of every decay, n times, changes f by (1 + a)^n - 1 at
most, and one of the part b of everything injected by no more than gamma times 1 + b does. Now log f is convex in log
gamma (f is a power series in gamma without negative terms), and the loss for c gamma is at most (f(0) + S sigma^2)/(1 -
S) with its stability S < 1: hence a factor 1 + b in gamma is one of at most (1 + b)^E in f with E = log(that/f)/log c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsl_num.schedules.discrete import Discrete
from fsl_num.validation import Array, positive
from fsl_num.volterra.linear_modes import LinearModes, linear_modes
from fsl_num.volterra.problem import Problem

if TYPE_CHECKING:  # the compiler is imported where a schedule is solved
    from fsl_num.volterra.steps.kernel import Tables

LEAST_TOLERANCE = 1e-13

_MOST_PARTS = 1e8
_LEVELS = 140  # of steps, each shorter than the one before by 2^(1/2)
_PADDED = 4  # numbers that a processor takes at once
_NONE = np.empty(0)


@dataclass(frozen=True)
class StepFacts:
    """What a march took: the number of ``modes``, the highest ``order`` of a series, all ``evaluations`` of a
    derivative of the loss; and whether it was a ``success``: every claimed error within the tolerance."""

    modes: int
    order: int
    evaluations: int
    success: bool


@dataclass(frozen=True)
class Elasticity:
    """A bound of d log f/d log gamma: the logarithm of ``top``/f over ``length``, which is 0 where none is known."""

    top: float
    length: float

    @classmethod
    def of(cls, system: LinearModes, stability: float) -> Elasticity:
        """Return the bound for the modes of ``system``, either closure."""
        if stability >= 1.0:
            return cls(1.0, 0.0)
        # with c = (1 + S)/(S + S^(1/2)) the stability of c gamma is at most S^(1/2), for both closures
        root = math.sqrt(stability)
        top = (system.delta + float(system.start.sum()) + root * system.noise) / (1.0 - root)
        return cls(top, math.log((1.0 + stability) / max(stability + root, 1e-300)))

    def __call__(self, losses: Array) -> Array:
        """Return the bound for ``losses``."""
        if self.length == 0.0:
            return np.full(np.shape(losses), np.inf)
        fallen = math.log(max(self.top, 1e-300)) - np.log(np.maximum(losses, 1e-300))
        return np.asarray(np.maximum(fallen, 0.0) / self.length + 1e-9)


@dataclass(frozen=True, eq=False)
class Plan:
    """The steps as the kernel takes them: ``parts`` of ``turns`` at most 1, ``tables``, the modes' ``start``, the part
    of every ``decay`` and of everything ``injected`` that may be wrong, and the ``elasticity`` of losses."""

    parts: Any
    turns: Array
    tables: Tables
    start: Array
    decay: float
    injected: float
    elasticity: Elasticity

    def truncation(self, parts: Any, losses: Array) -> Array:
        """Return the relative error of ``losses`` after so many ``parts`` of steps."""
        return np.asarray(np.expm1(self.decay * parts + self.injected * np.minimum(parts, self.elasticity(losses))))

    def moving(self, lengths: Array) -> Any:
        """Return into how many parts each step is divided, 0 for one that takes no time."""
        return np.where(lengths > 0.0, self.parts, 0)

    @property
    def order(self) -> int:
        """The most terms that any of the steps takes."""
        from fsl_num.volterra.steps.kernel import level_of

        return int(self.tables.orders[level_of(float(self.turns.max()), _LEVELS)])


def plan_steps(system: LinearModes, stability: float, lengths: Array, gammas: Array, tolerance: float) -> Plan:
    """Return how to march steps of the ``lengths`` and (the largest) ``gammas`` with the truncation ``tolerance``.

    Raises ValueError where long steps would be divided into more than 1e8 parts.
    """
    from fsl_num.volterra.steps.kernel import TERMS, Tables

    order = np.argsort(-system.rates, kind="stable")
    size = -(-order.size // _PADDED) * _PADDED
    rates, weights, start, feedback = (np.zeros(size) for _ in range(4))
    for padded, values in ((rates, system.rates), (weights, system.weights), (start, system.start)):
        padded[: order.size] = values[order]
    feedback[: order.size] = system.feedback[order]
    unit = float(rates[0])
    with np.errstate(under="ignore"):
        rows = (rates / unit) ** np.arange(TERMS)[:, None]
    turns = lengths * (unit + gammas * (float(weights.sum()) + float(feedback.max())))
    parts = np.maximum(np.ceil(turns), 1.0)
    moving = float(parts[lengths > 0.0].sum())
    if moving > _MOST_PARTS:
        raise ValueError(
            f"the steps are so long that they would be divided into {moving:.3g} parts; use the method 'panels', which"
            " grows its panels within a long step"
        )
    elasticity = Elasticity.of(system, stability)
    # full-batch training is the least that the loss can be
    least = system.delta + system.start @ np.exp(-system.rates * float(lengths.sum()))
    counted = max(min(moving, float(elasticity(least))), 1.0)
    # terms of the decays cost less: they serve all schedules, and steps of one length
    decay, injected = 0.1 * tolerance / max(moving, 1.0), 0.9 * tolerance / counted
    factorials = np.array([float(math.factorial(m)) for m in range(TERMS + 1)])
    z, m = 2.0 ** (-0.5 * np.arange(_LEVELS))[:, None], np.arange(1, TERMS)
    left_out = np.exp(2.0 * z) * z**m / factorials[2:] / (1.0 - z / (m + 2.0))

    def terms(missed: Array, allowed: float) -> tuple[Any, Any]:
        """Return how many terms each level needs, and how many modes keep each power."""
        least = (allowed / 64.0 * factorials[:-1]) ** (1.0 / np.maximum(np.arange(TERMS), 1))
        reach = np.searchsorted(-rates / unit, -least / z)
        reach[:, 0] = size
        return np.argmax(missed <= 0.5 * allowed, axis=1) + 1, np.minimum(-(-reach // _PADDED) * _PADDED, size)

    own = feedback if system.self_feeding else _NONE
    series = (*terms(left_out, injected), *terms(left_out * z, decay), 1.0 / factorials)
    tables = Tables(unit, rates, weights, own, rows, rows @ weights, *series)
    return Plan(parts.astype(np.int64), turns / parts, tables, start, decay, injected, elasticity)


def march(
    system: LinearModes, plan: Plan, lengths: Array, gammas: Array, slopes: Array = _NONE, series: Array | None = None
) -> tuple[Array, Array]:
    """Return f = 2E at the start and after every step, and the modes at the end, from the fastest on.

    ``slopes``, unless empty, gets f' at the start of each step and at the end; ``series`` the terms of the series of f
    + sigma^2 on each part of a step that takes time, a row each. Raises ArithmeticError where the loss grows beyond the
    range of floats.
    """
    from fsl_num.volterra.steps.kernel import march_one

    values, state = np.empty(lengths.size + 1), plan.start.copy()
    # copies, for arrays that cannot be written are another type to the compiler
    steps = (np.array(lengths), np.array(gammas), plan.parts, plan.turns)
    terms = np.empty((0, 0)) if series is None else series
    march_one(*steps, plan.tables, state, system.delta + system.noise, system.delta, values, slopes, terms)
    if not np.isfinite(values[-1]):
        first = int(np.argmin(np.isfinite(values)))
        raise ArithmeticError(f"the loss grows beyond 1.8e308 by step {first}; lower the learning rates")
    return values, state


def rounding(system: LinearModes, values: Array, highest: Array, first: float, stability: float) -> Array:
    """Return the relative error of the losses ``values`` by rounding and by that of the modes.

    A change of all rates and weights by one rounding changes f by about that over |1 - stability|, times how many
    factors e it has fallen from the ``highest`` before (or risen from the ``first``, where it is not stable). Some
    twenty roundings are claimed, ten times what was measured.
    """
    top = np.log(np.maximum(highest, 1e-300))
    factors = 1.0 + top - np.log(np.maximum(values, 1e-300))
    if stability >= 1.0:
        factors += top - math.log(max(first, 1e-300))
    own = 2.0**-52 * (16.0 + math.sqrt(system.rates.size)) * factors
    return np.asarray((own + system.error) / min(max(abs(1.0 - stability), 1e-3), 1.0))


def rounding_margin(system: LinearModes, stability: float, rtol: float) -> float:
    """Return the part of the tolerance ``rtol`` that rounding leaves to the truncation of series.

    >>> from fsl_num.model import Model
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=0.1, horizon=9.0)
    >>> 0.8e-8 < rounding_margin(linear_modes(problem, 9.0), problem.stability, 1e-8) < 1e-8
    True
    """
    unit = np.ones(1)
    return max(0.9 * (rtol - 2.0 * float(rounding(system, unit, unit, 1.0, stability)[0])), 0.1 * rtol)


def underflow(system: LinearModes, parts: int) -> float:
    """Return the absolute error of losses near the smallest floats, 0 for a loss that is 0 for ever.

    On each part of a step the terms of a mode, and what the weights make of them, are wrong by the smallest float.
    """
    if not (system.start.any() or system.delta + system.noise):
        return 0.0
    return 5e-322 * system.rates.size * max(float(system.weights.sum()), 1.0) * (parts + 1.0)


def discrete_schedule(problem: Problem) -> Discrete:
    """Return the Discrete schedule of ``problem``; raise ValueError where it has another one."""
    if not isinstance(problem.gamma, Discrete):
        raise ValueError(
            f"the method for discrete schedules needs a Discrete schedule, got {type(problem.gamma).__name__}; use"
            " 'panels'"
        )
    return problem.gamma


def checked_tolerance(rtol: float) -> float:
    """Return ``rtol``; raise ValueError unless it lies in [1e-13, 1)."""
    if not LEAST_TOLERANCE <= positive("rtol", rtol) < 1:
        raise ValueError(f"rtol must lie in [{LEAST_TOLERANCE:g}, 1), got {rtol!r}")
    return rtol


def solve_steps(
    system: LinearModes, stability: float, lengths: Array, gammas: Array, rtol: float, slopes: Array = _NONE
) -> tuple[Array, Array, StepFacts]:
    """Return f = 2E at the start and after every step, absolute errors and facts; ``slopes`` as in :func:`march`."""
    plan = plan_steps(system, stability, lengths, gammas, rounding_margin(system, stability, rtol))
    values, _ = march(system, plan, lengths, gammas, slopes)
    moving = plan.moving(lengths)
    relative = rounding(system, values, np.maximum.accumulate(values), float(values[0]), stability)
    relative[1:] += plan.truncation(np.cumsum(moving), values[1:])
    errors = relative * values
    errors[1:] += underflow(system, int(moving.sum()))
    order, success = plan.order, bool((errors <= rtol * values).all())
    return values, errors, StepFacts(system.rates.size, order, order * int(moving.sum()), success)


def losses_of_steps(problem: Problem, rtol: float = 1e-8) -> tuple[Array, Array, StepFacts]:
    """Return f = 2E at the start and after every step, its absolute error, and facts.

    Parameters
    ----------
    problem
        One whose gamma is a :class:`~fsl_num.schedules.Discrete`; either closure.
    rtol
        Relative tolerance in [1e-13, 1).

    Returns
    -------
    values, errors
        Arrays with one number more than there are steps.
    facts
        A :class:`StepFacts`: ``modes``, ``order``, ``evaluations`` and ``success``.

    Raises
    ------
    ValueError
        For other schedules and tolerances, and for steps so long that they would be divided into 1e8 parts.
    ArithmeticError
        Where the loss grows beyond 1.8e308.

    Examples
    --------
    >>> from fsl_num.model import Model
    >>> plan = Discrete(rates=[0.3] * 50)
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=10, noise=1.0), gamma=plan)
    >>> values, errors, facts = losses_of_steps(problem)
    >>> len(values), bool(values[-1] < values[0]), facts.success
    (51, True, True)
    """
    plan = discrete_schedule(problem)
    checked_tolerance(rtol)
    total = float(plan.rates.sum())
    # but for rounding the problem knows it: then its modes are already there
    system = linear_modes(problem, problem.end if total <= problem.end * (1.0 + 1e-12) else total)
    return solve_steps(system, problem.stability, plan.rates, plan.gammas, rtol)


def solve_discrete(problem: Problem, t: Array, rtol: float) -> tuple[Array, Array, dict[str, Any]]:
    """Return f = 2E at the sorted times ``t`` in [0, horizon], an absolute error for each, and facts about the run.

    Arguments and errors as in :func:`losses_of_steps`; the times may lie inside steps. The end of the schedule is the
    end of its last step; any other time is compared with the sum of the rates, rounded to a float, where a step starts.

    >>> from fsl_num.model import Model
    >>> problem = Problem(Model(s=0.5, beta=2.0, size=10, noise=1.0), gamma=Discrete(rates=[0.3] * 50))
    >>> bool(solve_discrete(problem, np.array([0.1]), 1e-9)[0] < losses_of_steps(problem)[0][0])
    True
    """
    plan = discrete_schedule(problem)
    system = linear_modes(problem, plan.total_intrinsic_time)
    moving = np.flatnonzero(plan.rates)
    rates, starts = plan.rates[moving], np.asarray(plan.intrinsic_time(moving))
    index = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, rates.size - 1)
    offsets = t - starts[index]
    blur = np.where((t > 0.0) & (t < plan.total_intrinsic_time), np.spacing(t), 0.0)
    inside = (offsets > blur) & (offsets < rates[index] - blur)
    # a step that is cut ends at its first cut, and so on
    ends = np.insert(rates, index[inside], offsets[inside])
    step = np.insert(np.arange(rates.size), index[inside], index[inside])
    lengths = ends - np.where(np.diff(step, prepend=-1) > 0, 0.0, np.roll(ends, 1))
    gammas = plan.gammas[moving][step]
    at_end = ~inside & (offsets >= rates[index] - blur) & (t > 0.0)
    places = index + at_end + np.searchsorted(index[inside], index + at_end, side="left")
    places[inside] = index[inside] + np.arange(1, int(inside.sum()) + 1)
    slopes = np.empty(lengths.size + 1 if blur.any() else 0)
    values, errors, facts = solve_steps(system, problem.stability, lengths, gammas, rtol, slopes)
    values, errors = values[places], errors[places]
    if blur.any():
        # f' changes by the jump of gamma times K(0) (f + sigma^2)
        jump = np.abs(np.append(gammas, gammas[-1])[places] - gammas[np.maximum(places - 1, 0)])
        steepest = np.abs(slopes[places]) + jump * float(system.weights.sum()) * (values + problem.model.noise)
        errors = errors + 2.0 * blur * steepest
    return values, errors, {"modes": facts.modes, "evaluations": facts.evaluations}
