r"""The best schedule of the functional laws over all rates between two bounds, with a lower bound on every other one.

In the rates the problem is not convex: of constant ones the noise goes as eta^p, concave for p < 1. In intrinsic time
it nearly is: with w(R) = 1/eta the steps spent where the intrinsic time R is left, the noise at the end is

    int_0^S k(R) (eta_ref w)^-p dR,   k(R) = K(R) (B + E e(T_0 + S - R)),   int_0^S w dR = the steps,

convex in w for given S, with bounds on w, and one linear constraint; rates that never rise are w that never rises in R,
a convex cone. So for every S the dual in the one multiplier gives the optimum: w is k^(1/(1+p)), cut at the bounds, of
one height (water filling); for rates that never rise k is first replaced by the slope of the least concave majorant of
its integral. S is one number, over which the whole range is searched.

Over S nothing is convex in general, and nothing has to be: the signal falls with S and what is spent on [0, S_1] is
spent on [0, S_2] too, so that a dual value bounds the loss from below on a whole interval [S_1, S_2]. Intervals are
halved until no bound lies far below the schedule found. A schedule of whole steps is among those with rates that change
at any time, so that the bound holds for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.curves.laws import FunctionalLaw
from fsl_num.design.final_loss import falling_signal
from fsl_num.validation import Array

_CELLS: Final = 1000
_SCAN: Final = 40  # intrinsic times tried before the best is refined
_HALVINGS: Final = 150
_NOTHING: Final = 1e-300  # a rate whose inverse has no float bounds nothing
_CLOSE: Final = 3e-6  # nats: a bound this near is enough
_SHARE: Final = 0.01  # of what lies below a loss that is reached: a bound that near is enough there
_MERGED: Final = 400  # groups of the steps before
_SHORTEST: Final = 1e-3  # of the longest intrinsic time
_GIVEN_AWAY: Final = 1e-14  # of the longest intrinsic time, at least, where any is


@dataclass(frozen=True, eq=False)
class Filling:
    """The best rates of every step, the least loss of rates that may change at any time, and a ``bound`` that no
    schedule goes below."""

    rates: Array
    loss: float
    bound: float


class Water:
    """A functional law after the steps ``before``, over ``steps`` more with rates in [low, high]."""

    def __init__(
        self, law: FunctionalLaw, values: dict[str, float], before: Array, steps: int, low: float, high: float,
        falling: bool, noise: Array | float = 1.0,
    ) -> None:  # fmt: skip
        self.c, self.gamma, self.p = values["c"], values["gamma"], values.get("p", 1.0)
        self.values, self.unit, self.steps, self.falling = values, law.reference_rate**-self.p, steps, falling
        self.low, self.high = low, high
        self.passed = float(before.sum())
        # times left and noise of the steps before, merged: neighbours are forgotten alike
        level = self._noise(np.cumsum(before))
        # of a unit of intrinsic time, times its length
        level = before ** (1.0 + self.p) * self.unit * level * noise
        cuts = np.unique(before.size - np.geomspace(1, before.size + 1, _MERGED).astype(int) + 1)
        left = np.append(np.cumsum(before[::-1])[::-1], 0.0)
        length = np.maximum(-np.diff(left[cuts]), 1e-300)
        self.earlier = left[cuts]
        self.level = np.diff(np.append(0.0, np.cumsum(level))[cuts]) / length

    def _signal(self, passed: Any) -> Any:
        return falling_signal(passed, self.values["s"], self.values["c_e"])[0]

    def _noise(self, passed: Array) -> Array:
        """The noise B + E e at intrinsic times."""
        return np.asarray(self.values["B"] + self.values.get("E", 0.0) * self._signal(passed))

    def _held(self, left: Array) -> Array:
        return np.asarray((1.0 + self.c * left) ** -self.gamma)

    def _kernel(self, left: Array) -> Array:
        return np.asarray(self.c * self.gamma * (1.0 + self.c * left) ** (-1.0 - self.gamma))

    def past(self, horizon: float) -> float:
        """The signal, and the noise of the steps before, ``horizon`` later; both fall with it, ever more slowly."""
        noise = float(self.level @ np.diff(self._held(horizon + self.earlier)))
        return noise + float(self.values["A"] * self._signal(self.passed + horizon))

    def past_slope(self, horizon: float) -> float:
        """The derivative of :meth:`past`."""
        noise = -float(self.level @ np.diff(self._kernel(horizon + self.earlier)))
        falls = falling_signal(self.passed + horizon, self.values["s"], self.values["c_e"])[1]
        return noise + float(self.values["A"] * falls)

    def cells(self, horizon: float, cells: int = _CELLS) -> Array:
        """Times left at the ends of cells, close at the end and, where the signal makes noise, at the start."""
        least = min(1.0 / self.c, horizon / self.steps, 0.1 * horizon) * 1e-3
        ends = powers(least, horizon, cells)
        if not self.values.get("E", 0.0):
            return np.append(0.0, ends)
        first = min(1e-3 * max(self.passed, self.high), 0.1 * horizon)
        starts = horizon - powers(first, 0.5 * horizon, cells // 3)[::-1]
        return np.concatenate([[0.0], ends[ends < 0.5 * horizon], starts, [horizon]])

    def kernel(self, nodes: Array, after: Array) -> tuple[Array, Array]:
        """The means of K over the cells, and the noise B + E e at intrinsic times ``after`` the start of all."""
        mean = -np.diff(self._held(nodes)) / np.diff(nodes)
        return mean * self.unit, self._noise(after)

    def fill(self, horizon: float, cells: int = _CELLS) -> tuple[float, Array, Array]:
        """The least loss for one horizon, the ends of cells, and the steps per intrinsic time in each."""
        nodes = self.cells(horizon, cells)
        width = np.diff(nodes)
        middle = 0.5 * (nodes[1:] + nodes[:-1])
        mean, level = self.kernel(nodes, self.passed + horizon - middle + 0.5 * self.high)  # at the end of a step
        noise = mean * level
        if self.falling:
            noise = never_rising(noise, width)
        density = (self.p * noise) ** (1.0 / (1.0 + self.p))
        spent = self._filled(density, self._height(density, width, self.steps))
        return self.past(horizon) + float((noise * width) @ spent**-self.p), nodes, spent

    def _filled(self, density: Array, height: float) -> Array:
        return np.clip(density * height, 1.0 / self.high, 1.0 / self.low if self.low else np.inf)

    def _height(self, density: Array, width: Array, steps: float) -> float:
        """The height at which so many steps are spent; the nearest where the bounds allow no height."""
        least = 1.0 / (self.high * density.max())
        most = max(2.0 / (density.min() * self.low), 2.0 * steps / (density @ width)) if self.low else np.inf
        if not np.isfinite(most):
            most = max(2.0 * steps / float(density @ width), 2.0 * least)

        def spent_at(height: float) -> tuple[float, float]:
            """The steps, and how many more a unit of height takes: those of the cells that are at no bound."""
            spent = self._filled(density, height)
            within = spent == density * height
            return float(spent @ width), float(density[within] @ width[within])

        if spent_at(least)[0] >= steps:
            return float(least)
        if spent_at(most)[0] <= steps:
            return float(most)
        height = steps / float(density @ width)
        while least < most * (1.0 - 1e-15):  # Newton's method, which ends once it knows the cells at bounds
            if not least < height < most:
                height = float(np.sqrt(least * most))
            spent, slope = spent_at(height)
            least, most = (height, most) if spent < steps else (least, height)
            step = (steps - spent) / slope if slope else np.inf
            if abs(step) <= 1e-14 * height or abs(steps - spent) <= 1e-15 * steps:
                break
            height += step
        return height

    def bound(self, first: float, last: float) -> float:
        """What no schedule whose steps take an intrinsic time S in [first, last] goes below.

        For one price of a step the dual adds up over the times left. In each cell it is concave in k, so that it is
        least where all of k lies at the two ends of its range; e is taken as late as it can be. Beyond ``first`` it
        grows with S at least as fast as its least density there, and the signal and the noise of the past are convex
        in S: above their tangent in the middle.
        """
        nodes = self.cells(first)
        width = np.diff(nodes)
        mean, level = self.kernel(nodes, self.passed + last - nodes[:-1] + self.high)
        noise, ends = mean * level, self._kernel(nodes) * self.unit
        above, below = ends[:-1] * level, ends[1:] * level
        if self.falling:
            pooled = never_rising(noise, width)
            joined = np.abs(pooled - noise) > 1e-12 * noise
            noise, above, below = pooled, np.where(joined, pooled, above), np.where(joined, pooled, below)
        height = self._height((self.p * noise) ** (1.0 / (1.0 + self.p)), width, self.steps)
        price = height ** -(1.0 + self.p)

        def dual(k: Array) -> Array:
            spent = self._filled((self.p * k) ** (1.0 / (1.0 + self.p)), height)
            return np.asarray(k * spent**-self.p + price * spent)

        share = np.clip((noise - below) / np.maximum(above - below, 1e-300), 0.0, 1.0)
        inside = float((share * dual(above) + (1.0 - share) * dual(below)) @ width) - price * self.steps
        beyond = self.kernel(np.array([last * (1 - 1e-9), last]), np.array([self.passed + last - first + self.high]))
        middle, half = 0.5 * (first + last), 0.5 * (last - first)
        least = float(dual(self._kernel(np.array([last])) * self.unit * beyond[1])[0])
        slope = self.past_slope(middle) + least
        return float(inside + least * half + self.past(middle) - abs(slope) * half)

    def bound_everywhere(self, low: float, high: float, loss: float, close: float) -> float:
        """What no schedule goes below: intervals of the intrinsic time are halved, the lowest bound first.

        A bound within ``close`` of the loss ``found`` is enough.
        """
        from heapq import heapify, heappop, heappush

        ends = np.unique(np.geomspace(low, high, 17))
        open_ones = [(self.bound(a, b), a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
        if not self.low:  # less than the shortest intrinsic time tried: the signal alone
            open_ones.append((self.past(low), low, low))
        heapify(open_ones)
        for _ in range(_HALVINGS):
            least, a, b = open_ones[0]
            if least >= loss - close or a == b:
                break
            heappop(open_ones)
            middle = 0.5 * (a + b)
            heappush(open_ones, (self.bound(a, middle), a, middle))
            heappush(open_ones, (self.bound(middle, b), middle, b))
        return min(open_ones[0][0], loss)


def powers(first: float, last: float, count: int) -> Array:
    """Return ``count`` numbers from ``first`` to ``last``, each as many times the one before: ``np.geomspace``, faster.

    >>> powers(1.0, 100.0, 3).round(12).tolist()
    [1.0, 10.0, 100.0]
    """
    numbers = first * np.exp(np.linspace(0.0, np.log(last / first), count))
    numbers[-1] = last
    return np.asarray(numbers)


def never_rising(values: Array, weights: Array) -> Array:
    """Return the sequence nearest to ``values`` among those that never rise: neighbours that do are averaged.

    >>> never_rising(np.array([3.0, 1.0, 2.0]), np.ones(3)).tolist()
    [3.0, 1.5, 1.5]
    """
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(values, weights=weights, increasing=False).x)


def water_filling(
    law: FunctionalLaw, theta: Array, before: Array, steps: int, low: float, high: float, falling: bool,
    *, certify: bool = True, reached: float | None = None, noise: Array | float = 1.0,
) -> Filling:  # fmt: skip
    """Return the best rates in [low, high] for ``steps`` steps that follow the steps ``before``.

    Parameters
    ----------
    law, theta
        A functional law and its parameters in order; what no rate changes, L0 and the term of the model size, is left
        out of the losses.
    before
        Rates of the steps before, one each.
    steps
        How many follow, at least 1.
    low, high
        Bounds of their rates, 0 <= low < high.
    falling
        Whether rates must never rise.
    certify
        Whether to look for the bound; it is -inf otherwise.
    reached
        A loss that another schedule reaches, of which these are to be bounded from below: the bound is looked for no
        further than up to it and, where these go below it, to a hundredth of how far they do.
    noise
        What the noise of the steps before is multiplied by, one number or one a step.

    Examples
    --------
    >>> from fsl_num.curves.laws import law
    >>> theta = np.array([2, 0.7, 0.3, 0.5, 20, 0.9, 10, 0.7])
    >>> best = water_filling(law("fsl"), theta, np.array([]), 9000, 0, 1e-3, True)
    >>> bool(best.rates[0] == 1e-3 and best.rates[-1] < 1e-4), bool(0 <= best.loss - best.bound < 1e-5)
    (True, True)
    """
    values = dict(zip(law.names, theta.tolist(), strict=True))
    low = low if low > _NOTHING else 0.0
    water = Water(law, values, before, steps, low, high, falling, noise)
    if values["B"] == values.get("E", 0.0) == 0.0:  # no noise: nothing is gained by a smaller rate
        loss = water.past(steps * high)
        return Filling(np.full(steps, high), loss, loss)

    def near(loss: float) -> float:
        return _CLOSE if reached is None else max(_CLOSE, loss - reached, _SHARE * (reached - loss))

    loss, nodes, spent, bound = filled(water, _SHORTEST, near if certify else None)
    gone = np.append(0.0, np.cumsum(spent * np.diff(nodes)))
    gone *= steps / gone[-1]
    if steps > nodes.size:  # cells of many steps: their rates hold in the middle
        rates = np.interp(np.arange(steps) + 0.5, 0.5 * (gone[1:] + gone[:-1]), 1.0 / spent)
    else:
        rates = np.diff(np.interp(np.arange(steps + 1), gone, nodes))
    rates = np.clip(rates[::-1], low, high)
    # rounding of differences near the bounds
    rates = np.where(rates > high * (1.0 - 1e-9), high, rates)
    rates = np.minimum.accumulate(rates) if falling else rates
    return Filling(rates, loss, bound)


def filled(water: Water, least: float, near: Callable[[float], float] | None) -> tuple[float, Array, Array, float]:
    """Return the least loss, the times left at the ends of cells, the steps per time in each, and the bound.

    Horizons are searched from ``least`` times the longest on; how ``near`` a bound has to be depends on the loss. With
    None there is none, and -inf is returned.
    """
    from scipy.optimize import minimize_scalar

    longest = water.steps * water.high
    shortest = max(water.steps * water.low, least * longest)
    tried = np.geomspace(shortest, longest, _SCAN)
    losses = np.array([water.fill(level)[0] for level in tried])
    place = int(losses.argmin())
    below, above = tried[max(place - 1, 0)], tried[min(place + 1, _SCAN - 1)]
    around = np.log(below), np.log(above)
    late = above == longest > below  # the time that the decay gives away is searched, however small it is
    if late:
        around = np.log(_GIVEN_AWAY), np.log1p(-below / longest)

    def horizon_of(x: float) -> float:
        return float(-longest * np.expm1(x) if late else np.exp(x))

    refined: Any = minimize_scalar(
        lambda x: water.fill(horizon_of(x))[0],
        bounds=around,
        method="bounded",
        options={"xatol": 1e-6 if late else 1e-9},
    )
    horizon = horizon_of(refined.x) if refined.fun < losses[place] else float(tried[place])
    loss, nodes, spent = water.fill(horizon, 4 * _CELLS)
    if near is None:
        return loss, nodes, spent, -np.inf
    return loss, nodes, spent, water.bound_everywhere(shortest, longest, loss, near(loss))
