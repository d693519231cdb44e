r"""Brute-force minimisation of a scaling law over its hyperparameters, at any budget, in logarithms.

A law is given as ``log_law(point)``: natural logarithms of the hyperparameters in, shape (..., n), logarithm of the
loss out, shape (...). The budget enters only through its logarithm, so that 10^(4e6) is an ordinary budget. A
hyperparameter x is searched as x = budget^u with u inside given bounds. Nothing about the law is assumed: it may be
piecewise, with minima inside a term; points where it is +inf are infeasible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.evolution import Rows, search
from fsl_num.validation import Array, as_array, entries, instance_of, positive, real_number, whole_count, whole_seed

LogLaw = Callable[[Array], Any]
_Points = tuple[Array, Array]

_END_ATTEMPTS = 6
_ATTEMPTS = 4
_DISTANCES = 10.0 ** -np.arange(0.5, 8.0)
_STARTS_A_DISTANCE = 3
_FLAT = 4.0
_GRID = {1: 257, 2: 41, 3: 17, 4: 9}


@dataclass(frozen=True)
class Minimum:
    """The minimum of a law at one budget.

    ``log_value``: log of the smallest loss found. ``log_point``: logs of the hyperparameters there (one of them, where
    the minimum is not unique). ``evaluations``: points at which the law was evaluated. ``spread``: by how much the
    second-best of the independent searches ended above the best one, restarts included (in log units). A spread of
    1e-3 or more means that the searches disagree: then more ``starts`` are needed.
    """

    log_value: float
    log_point: Array
    evaluations: int
    spread: float


@dataclass(frozen=True)
class NearOptimalInterval:
    """The values of one hyperparameter for which tuning the others still comes within a factor of the optimum.

    ``log_low``, ``log_high``: logs of the extreme such values (they bound the union if there are several pieces);
    ``hits_lower_bound``, ``hits_upper_bound``: whether the search bound itself is near-optimal.
    """

    log_low: float
    log_high: float
    hits_lower_bound: bool
    hits_upper_bound: bool


class _Problem:
    """A checked law in units of the log budget."""

    def __init__(self, log_law: LogLaw, bounds: Sequence[tuple[float, float]], log_budget: float) -> None:
        if not callable(log_law):
            raise TypeError(f"log_law must be a function of points of shape (..., n), got {log_law!r}")
        self.log_budget = positive("log_budget", log_budget)
        pairs_given = entries("bounds", bounds)
        for pair in pairs_given:
            if as_array("bounds", pair).shape != (2,):
                raise TypeError(f"bounds must be pairs (low, high), got {pair!r}")
        pairs = [(real_number("bounds", low), real_number("bounds", high)) for low, high in pairs_given]
        self.n = len(pairs)
        if not 1 <= self.n <= 4:
            raise ValueError(f"bounds must list 1 to 4 variables, got {self.n}")
        if not all(math.isfinite(low) and math.isfinite(high) and low <= high for low, high in pairs):
            raise ValueError(f"bounds must be finite pairs low <= high in units of log_budget, got {pairs}")
        self.lower = np.array([low for low, _ in pairs])
        self.upper = np.array([high for _, high in pairs])
        self.width = np.maximum(self.upper - self.lower, 1e-300)
        self.log_law = log_law
        self.evaluations = 0

    def value(self, u: Array) -> Array:
        """Return the log of the loss at the points budget^u."""
        point = u * self.log_budget
        values = np.asarray(self.log_law(point), dtype=np.float64)
        if values.shape != u.shape[:-1]:
            raise ValueError(
                f"log_law must map shape (..., {self.n}) to (...): it was given {u.shape} and returned {values.shape}"
            )
        if not values.min(initial=np.inf) > -np.inf:  # so it is where one of them is nan
            if (wrong := np.isnan(values)).any():
                first = point[wrong][0].tolist()
                raise ValueError(f"log_law returned nan at log point {first}; return +inf where a point is infeasible")
            first = point[np.isneginf(values)][0].tolist()
            raise ValueError(f"log_law returned -inf at log point {first}: a loss of 0 has no logarithm to minimise")
        self.evaluations += values.size
        return values

    def grid(self) -> tuple[Array, Array, float]:
        """Return the points of a grid over the box, best first, their values, and the relative cell size."""
        count = _GRID[self.n]
        sides = [np.linspace(a, b, count if b > a else 1) for a, b in zip(self.lower, self.upper, strict=True)]
        points = np.stack([side.ravel() for side in np.meshgrid(*sides, indexing="ij")], axis=-1)
        values = self.value(points)
        order = np.argsort(values, kind="stable")
        return points[order], values[order], 1.0 / (count - 1)

    def tolerance(self, value: float) -> float:
        """Return the agreement asked of a finished search, in log units: 1e-9, or rounding of the law itself."""
        return max(1e-9, 1e-14 * abs(value), 1e-15 * self.log_budget)

    def refine(self, start: Array, step: Array, tolerance: float, seed: int) -> _Points:
        """Search from every row of ``start`` with first steps ``step`` (in units of the box)."""
        free = [i for i in range(self.n) if self.upper[i] > self.lower[i]]
        if not free:
            return start, self.value(start)
        low, width = self.lower[free], self.width[free]

        def value(x: Array, rows: Rows) -> Array:
            inside = np.minimum(low + width * x, self.upper[free])
            if len(free) == self.n:
                return self.value(inside)
            full = np.repeat(start[rows][:, None, :], x.shape[1], axis=1)
            full[..., free] = inside
            return self.value(full)

        unit = np.clip((start[:, free] - low) / width, 0.0, 1.0)
        box = np.ones_like(unit)
        generator = np.random.default_rng(np.random.SeedSequence(seed))
        minimum = search(value, unit, 0 * box, box, step, generator=generator, tolerance=tolerance)
        points = start.copy()
        points[:, free] = np.minimum(low + width * minimum.points, self.upper[free])
        return points, minimum.values


def _apart(points: Array, cell: Array, count: int) -> Array:
    """Return the first ``count`` rows that are pairwise more than one grid cell apart (so: other basins too)."""
    kept: list[Array] = []
    for point in points[:4000]:
        if all(np.abs((point - neighbour) / cell).max() > 1.5 for neighbour in kept):
            kept.append(point)
            if len(kept) == count:
                break
    return np.array(kept)


def minimise_law(
    log_law: LogLaw, bounds: Sequence[tuple[float, float]], *, log_budget: float, starts: int = 14, seed: int = 0
) -> Minimum:
    """Minimise a law over its hyperparameters inside bounds.

    ``log_law``: see the module; called with arrays of shape (..., n), n at most 4. ``bounds``: (low, high) per
    variable, in units of ``log_budget`` (low == high holds the variable). ``log_budget``: natural log of the budget,
    > 0, tried up to 2.3e7. ``starts``: independent searches from the best separated points of a grid. ``seed``: of
    their random steps; equal seeds give equal results.

    Returns :class:`Minimum`; the value agrees with the exact minimum to about 1e-6 log units, or 1e-13 of its size
    (tests, on laws whose minimum a linear programme knows). Raises ValueError where the law is +inf on the whole grid,
    returns nan, or changes shape.

    >>> law = lambda x: np.logaddexp(-x[..., 0], x[..., 0] - 10.0)     # 1/x + x e^-10, least at x = e^5
    >>> round(minimise_law(law, [(0.0, 1.0)], log_budget=20.0).log_value - (math.log(2.0) - 5.0), 8)
    0.0
    """
    problem = _Problem(log_law, bounds, log_budget)
    count, seed = whole_count("starts", starts), whole_seed(seed)
    if count < 2:
        raise ValueError(f"starts must be at least 2 (their agreement is the error check), got {starts!r}")
    points, values, cell = problem.grid()
    finite = np.isfinite(values)
    if not finite.any():
        raise ValueError("log_law is infinite on the whole grid: no feasible point found; narrow the bounds")
    first = _apart(points[finite], problem.width * cell, count)
    tolerance = problem.tolerance(float(values[0]))
    refined, reached = problem.refine(first, np.full(len(first), cell), tolerance, seed)
    order = np.argsort(reached, kind="stable")
    best, log_value = refined[order[0]], float(reached[order[0]])
    opinions = list(reached)
    for attempt in range(_ATTEMPTS):
        ends, again = _restart(problem, best, log_value, tolerance, seed + 1 + attempt)
        opinions.append(float(again.min()))
        gained = log_value - float(again.min())
        if gained > 0:
            best, log_value = ends[int(np.argmin(again))], float(again.min())
        if gained <= tolerance:
            break
    # Each round of restarts counts as one more search, so the second-best value is an opinion of its own.
    ranked = np.sort(opinions)
    return Minimum(log_value, best * problem.log_budget, problem.evaluations, float(ranked[1] - ranked[0]))


def _restart(problem: _Problem, best: Array, log_value: float, tolerance: float, seed: int) -> _Points:
    """Search anew at every distance from the best point and from the ends of the flat set around it.

    Two branches of a law that differ by a power of the logarithm meet within log(log_budget) / log_budget of each
    other, often at an end of the set on which the higher branch is flat: a search from afar steps over the lower one,
    and only a start close to that end finds it.
    """
    centres = np.concatenate([best[None], _ends(problem, best, log_value + math.log(_FLAT), seed)])
    starts, steps = _around(problem, centres, _DISTANCES, _STARTS_A_DISTANCE, np.random.SeedSequence(seed))
    return problem.refine(starts, steps, tolerance, seed)


def _around(problem: _Problem, centres: Array, distances: Array, copies: int, seed: np.random.SeedSequence) -> _Points:
    """Return starts at every distance (relative to the box) from every centre, ``copies`` at each, and first steps.

    The first start at a distance is the centre itself: a search there learns the shape of its surroundings.
    """
    scales = np.tile(np.repeat(distances, copies), len(centres))
    moves = scales[:, None] * np.random.default_rng(seed).standard_normal((scales.size, problem.n))
    moves[::copies] = 0.0
    middle = np.repeat(centres, distances.size * copies, axis=0)
    return np.clip(middle + problem.width * moves, problem.lower, problem.upper), 0.3 * scales


def _ends(problem: _Problem, best: Array, threshold: float, seed: int) -> Array:
    """Return points below the threshold where one variable is as small or as large as searches from the best find."""
    free = np.flatnonzero(problem.upper > problem.lower)
    pushes = [(int(index), sign, step) for index in free for sign in (1.0, -1.0) for step in (0.1, 1e-3)]
    starts = np.repeat(best[None], len(pushes), axis=0)
    indices = np.array([index for index, _, _ in pushes], dtype=np.intp)
    signs = np.array([sign for _, sign, _ in pushes])
    steps = np.array([step for _, _, step in pushes])
    pushed, inside = _pushed(problem, starts, indices, signs, steps, threshold, seed)
    reached = np.where(inside, signs * pushed[np.arange(len(pushed)), indices], np.inf).reshape(-1, 2)
    ends: Array = pushed[2 * np.arange(len(reached)) + np.argmin(reached, axis=1)]
    return ends


def _pushed(
    problem: _Problem, starts: Array, indices: NDArray[np.intp], signs: Array, steps: Array, threshold: float, seed: int
) -> tuple[Array, NDArray[np.bool_]]:
    """Search from every start for the least value of sign * variable among points below the threshold.

    Returns the points and whether each one is below the threshold.
    """

    def value(x: Array, rows: Rows) -> Array:
        loss = problem.value(np.minimum(problem.lower + problem.width * x, problem.upper))
        along = signs[rows, None] * x[np.arange(rows.size), :, indices[rows]]
        return np.where(loss <= threshold, along, 2.0 + np.maximum(loss - threshold, 0.0))

    unit = np.clip((starts - problem.lower) / problem.width, 0.0, 1.0)
    box = (problem.upper > problem.lower) * np.ones_like(unit)
    generator = np.random.default_rng(np.random.SeedSequence(seed))
    resolution = min(1e-9, 1e-4 / problem.log_budget)
    minimum = search(value, unit, 0 * box, box, steps, generator=generator, tolerance=resolution)
    points = np.minimum(problem.lower + problem.width * minimum.points, problem.upper)
    return points, minimum.values <= 1.5


def near_optimal_interval(
    log_law: LogLaw,
    bounds: Sequence[tuple[float, float]],
    index: int,
    *,
    log_budget: float,
    factor: float = 4.0,
    optimum: Minimum | None = None,
    seed: int = 0,
) -> NearOptimalInterval:
    """Return which values of variable ``index`` keep the tuned loss within ``factor`` of the optimum.

    One of the :func:`near_optimal_intervals`, whose arguments these are.

    >>> law = lambda x: np.abs(x[..., 0] - 5.0)
    >>> found = near_optimal_interval(law, [(0.0, 1.0)], 0, log_budget=20.0, factor=math.e)
    >>> round(found.log_low, 2), round(found.log_high, 2), found.hits_lower_bound
    (4.0, 6.0, False)
    """
    intervals = near_optimal_intervals(
        log_law, bounds, [index], log_budget=log_budget, factor=factor, optimum=optimum, seed=seed
    )
    return intervals[0]


def near_optimal_intervals(
    log_law: LogLaw,
    bounds: Sequence[tuple[float, float]],
    indices: Sequence[int] | None = None,
    *,
    log_budget: float,
    factor: float = 4.0,
    optimum: Minimum | None = None,
    seed: int = 0,
) -> tuple[NearOptimalInterval, ...]:
    """Return, for each variable, which of its values keep the tuned loss within ``factor`` of the optimum.

    A variable is pushed outwards among the points whose loss stays below ``factor`` times the optimum, in rounds of
    searches at every distance until a round gains less than 1e-3 log units. They start at the optimum, at the ends of
    every other variable (a thin arm of the set may leave from there) and at the outermost grid point below the
    threshold (a piece that does not touch the optimum is found where it is wider than a grid cell). Both ends of all
    variables are searched side by side. ``indices``: of the variables, all by default; ``factor`` > 1; ``optimum``
    saves the first minimisation; the rest as in :func:`minimise_law`. Raises ValueError for other indices or factors.

    >>> law = lambda x: np.logaddexp(np.abs(x[..., 0] - 5.0), x[..., 1])
    >>> [round(ends.log_high, 2) for ends in near_optimal_intervals(law, [(0, 1), (0, 1)], log_budget=20.0, factor=2.0)]
    [6.1, 1.1]
    """
    problem = _Problem(log_law, bounds, log_budget)
    chosen = list(range(problem.n)) if indices is None else entries("indices", indices, least=1)
    seed = whole_seed(seed)
    for index in chosen:
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)) or not 0 <= index < problem.n:
            raise ValueError(f"index must be a whole number from 0 to {problem.n - 1} (in bounds), got {index!r}")
    if real_number("factor", factor) <= 1.0:
        raise ValueError(f"factor must exceed 1, got {factor!r}")
    if optimum is not None:
        instance_of("optimum", optimum, Minimum)
    best = optimum or minimise_law(log_law, bounds, log_budget=log_budget, seed=seed)
    threshold = best.log_value + math.log(factor)
    here = np.clip(best.log_point / problem.log_budget, problem.lower, problem.upper)
    points, values, cell = problem.grid()
    scattered = points[values <= threshold]
    arms = _ends(problem, here, threshold, seed)
    ends = []
    for index in chosen:
        for sign in (1.0, -1.0):
            outer = scattered[np.argsort(sign * scattered[:, index])[:1]]
            centres = _along(problem, np.concatenate([here[None], arms, outer]), index, sign, threshold)
            ends.append(_End(index, sign, centres, float((sign * centres[:, index]).min())))
    _push_out(problem, ends, threshold, cell, seed)
    return tuple(_interval(problem, low, high) for low, high in zip(ends[::2], ends[1::2], strict=True))


def _interval(problem: _Problem, low: _End, high: _End) -> NearOptimalInterval:
    scale, slack = problem.log_budget, 1e-9 * float(problem.width[low.index])
    least, most = low.reached, -high.reached
    hits = (bool(least <= problem.lower[low.index] + slack), bool(most >= problem.upper[low.index] - slack))
    return NearOptimalInterval(least * scale, most * scale, *hits)


def _along(problem: _Problem, centres: Array, index: int, sign: float, threshold: float) -> Array:
    """Move every centre along one variable alone, as far out as it stays below the threshold.

    An arm of the set along an axis can be a million times longer than wide: no search that must first learn its shape
    walks to its end, a scan does.
    """
    near = centres[:, index].copy()
    far = np.full_like(near, problem.lower[index] if sign > 0 else problem.upper[index])
    shares = np.linspace(0.0, 1.0, 33)
    rows = np.arange(len(centres))
    for _ in range(4):
        places = near[:, None] + (far - near)[:, None] * shares
        points = np.repeat(centres[:, None, :], shares.size, axis=1)
        points[..., index] = places
        inside = problem.value(points) <= threshold
        inside[:, 0] = True  # the centre itself, or what the round before reached
        last = shares.size - 1 - np.argmax(inside[:, ::-1], axis=1)
        near, far = places[rows, last], places[rows, np.minimum(last + 1, shares.size - 1)]
    moved = centres.copy()
    moved[:, index] = near
    return moved


@dataclass
class _End:
    """One end of one variable on its way out: where the next round starts, and sign * variable ``reached`` so far."""

    index: int
    sign: float
    centres: Array
    reached: float


def _push_out(problem: _Problem, ends: Sequence[_End], threshold: float, cell: float, seed: int) -> None:
    """Move every end as far out as rounds of searches at every distance find points below the threshold."""
    distances = np.append(_DISTANCES, cell)
    waiting = list(ends)
    for attempt in range(_END_ATTEMPTS):
        starts, steps, owners = [], [], []
        for number, end in enumerate(waiting):
            copies = 1 if len(end.centres) > 1 else _STARTS_A_DISTANCE
            around = _around(problem, end.centres, distances, copies, np.random.SeedSequence([seed, attempt]))
            starts.append(around[0])
            steps.append(around[1])
            owners.append(np.full(len(around[0]), number))
        owner = np.concatenate(owners)
        indices = np.array([end.index for end in waiting], dtype=np.intp)[owner]
        signs = np.array([end.sign for end in waiting])[owner]
        pushed, inside = _pushed(
            problem, np.concatenate(starts), indices, signs, np.concatenate(steps), threshold, seed
        )
        reached = np.where(inside, signs * pushed[np.arange(len(pushed)), indices], np.inf)
        going = []
        for number, end in enumerate(waiting):
            mine = np.flatnonzero(owner == number)
            winner = mine[np.argmin(reached[mine])]
            gained = end.reached - float(reached[winner])
            if gained > 0:
                end.reached, end.centres = float(reached[winner]), pushed[winner][None]
            if gained > 1e-3 / problem.log_budget:
                going.append(end)
        waiting = going
        if not waiting:
            break
