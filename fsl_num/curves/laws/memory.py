r"""How a schedule is remembered: sums over its past of changes of the learning rate, weighted by a fading memory.

Every law of this family needs, at each recorded step k, sums over the changes q_i before it of the form

    sum_i q_i (1 - exp(-mu (T(k) - T(i))))

for many rates mu at once: a power-law memory 1 - (1 + c t)^-g is an average of such exponentials, and the weights of
the average are all that depends on c and g. The sums are carried from recorded step to recorded step, so that the cost
is that of one pass over the schedule, and the table of exponentials is made once for all evaluations.

Where a schedule has many more steps than matter, neighbouring changes between two recorded steps are merged into one at
their mean time. Jumps are never merged. At least :data:`GROUPS` groups are kept, which leaves errors below 1e-6 of the
memory term (tests).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fsl_num.curves.plan import Plan, Steps
from fsl_num.validation import Array

GROUPS: Final = 4096
"""A schedule is never merged into fewer groups than this, unless the caller asks for fewer."""

_PER_GAP = 16  # groups between two recorded steps
_JUMP = 0.01  # of the peak: a larger change is a jump
_WIDTH = 32  # groups in one row of the table
_TABLE = 4_000_000  # numbers kept, 32 MB
_SPACING = 0.4  # of log mu: the trapezoidal rule errs by |Gamma(g + 2 pi i/h)|/Gamma(g), below 1e-6 for g <= 5
_SLOWEST = 1e-6  # in units of 1/T: what is left out below it is a millionth of the memory
_LAST = 36.0  # exp(-36) of the average lies above


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes of the learning rate, merged: where each group lies, and the steps right before and at its end.

    ``before`` and ``after``: indices of updates, -1 for none, so that the change of f(eta) in a group is f(eta[after])
    - f(eta[before]). ``position``: an index between updates (not whole), and ``time`` the intrinsic time of the change.
    ``seen``: for every recorded step, how many groups lie before it.
    """

    before: Steps
    after: Steps
    time: Array
    position: Array
    seen: Steps

    def of(self, values: Array) -> Array:
        """Return the change of a quantity given for every update; it is 0 before the first."""
        start = np.where(self.before >= 0, values[np.maximum(self.before, 0)], 0.0)
        return np.asarray(values[self.after] - start)


def changes(plan: Plan, first: int = 0, groups: int = GROUPS, per_gap: int = _PER_GAP) -> Changes:
    """Return the changes of the learning rate from update ``first`` on, merged where they are many.

    >>> found = changes(Plan([0.1, 0.1, 0.4], recorded=[2, 3]))
    >>> found.of(np.array([0.1, 0.1, 0.4])).round(12).tolist(), found.seen.tolist()
    ([0.1, 0.0, 0.3], [2, 3])
    """
    size = plan.rates.size
    step = np.abs(np.diff(plan.rates, prepend=0.0))
    edges = [
        np.arange(first, size + 1, max(1, (size - first) // groups)),
        plan.recorded[plan.recorded > first],
        [first],
    ]
    ends = np.concatenate([[first], plan.recorded[plan.recorded > first]])
    gaps = np.diff(ends)
    edges += [(ends[:-1] + gaps * i // per_gap) for i in range(1, per_gap)]
    jumps = np.flatnonzero(step > _JUMP * plan.peak)
    jumps = jumps[jumps >= first]
    if jumps.size <= groups:  # a schedule that jumps all the time is merged like any other
        edges += [jumps, jumps + 1]
    cuts = np.unique(np.concatenate(edges)).astype(np.int64)
    cuts = cuts[cuts <= max(int(plan.recorded[-1]), first)]
    starts, stops = cuts[:-1], cuts[1:]
    total = np.concatenate([[0.0], np.cumsum(step)])
    moment = np.concatenate([[0.0], np.cumsum(step * plan.times[:-1])])
    place = np.concatenate([[0.0], np.cumsum(step * np.arange(size))])
    mass = total[stops] - total[starts]
    told = mass > 1e-12 * plan.peak
    safe = np.where(told, mass, 1.0)
    low, high = plan.times[starts], plan.times[stops - 1]
    # the mean time of the changes; where nothing changes, what is remembered may (the signal): the middle
    time = np.where(told, (moment[stops] - moment[starts]) / safe, 0.5 * (low + high))
    position = np.where(told, (place[stops] - place[starts]) / safe, 0.5 * (starts + stops - 1))
    seen = np.searchsorted(stops, plan.recorded, side="right").astype(np.int64)
    return Changes(starts - 1, stops - 1, np.clip(time, low, high), np.clip(position, starts, stops - 1), seen)


def mode_rates(plans: Any, fastest: float) -> Array:
    """Return the rates mu that stand for every memory with c up to ``fastest`` over the length of the plans.

    >>> mode_rates([Plan([0.1] * 10)], 100.0).size
    57
    """
    longest = max(float(plan.times[-1]) for plan in plans)
    low, high = np.log(_SLOWEST / longest), np.log(_LAST * fastest)
    return np.asarray(np.exp(low + _SPACING * np.arange(int(np.ceil((high - low) / _SPACING)) + 1)))


def power_memory(rates: Array, c: float, g: float) -> Array:
    r"""Return weights W, dW/dc, dW/dg, shape (3, modes), with 1 - (1 + c t)^-g = sum W (1 - exp(-mu t)).

    From (1 + c t)^-g = 1/Gamma(g) int u^(g-1) exp(-u) exp(-u c t) du at the nodes u = mu/c.

    >>> mu = mode_rates([Plan([0.1] * 10)], 100.0)
    >>> W = power_memory(mu, 3.0, 0.5)[0]
    >>> bool(abs(W @ -np.expm1(-0.7 * mu) - (1 - 3.1**-0.5)) < 1e-6)
    True
    """
    from scipy.special import digamma, gammaln

    log_node = np.log(rates / c)
    node = rates / c
    weights = _SPACING * np.exp(g * log_node - node - gammaln(g))
    return np.stack([weights, weights * (node - g) / c, weights * (log_node - float(digamma(g)))])


class Memory:
    """The sums over the past at the recorded steps of one plan, for fixed rates mu.

    >>> plan = Plan([0.1, 0.3], recorded=[2])
    >>> memory = Memory(plan.intrinsic_time, changes(plan), np.array([2.0]))
    >>> found = memory.response(np.array([[1.0, 0.0]]), np.array([[1.0]]))
    >>> bool(abs(found[0, 0, 0] - (1 - np.exp(-0.8))) < 1e-12)
    True
    """

    def __init__(self, obs: Array, past: Changes, rates: Array) -> None:
        self.past, self.rates = past, rates
        seen = np.concatenate([[0], past.seen])
        width = int(np.clip(np.ceil(seen[-1] / obs.size), 1, _WIDTH))
        ends: list[int] = []
        rows: list[int] = []
        times: list[float] = []
        reach = np.maximum.accumulate(past.time) if past.time.size else past.time
        for index, (low, high) in enumerate(zip(seen[:-1], seen[1:], strict=True)):
            for stop in range(int(low) + width, int(high), width):
                ends.append(stop)
                rows.append(-1)
                times.append(float(reach[stop - 1]))
            ends.append(int(high))
            rows.append(index)
            times.append(float(obs[index]))
        self.ends, self.rows, self.times = np.array(ends), np.array(rows), np.array(times)
        self.begins = np.concatenate([[0], self.ends[:-1]])
        self.width, self.size = width, obs.size
        self._chunk = max(1, _TABLE // (rates.size * width))
        self._kept = list(self._tables()) if self.ends.size <= self._chunk else None

    def _tables(self) -> Iterator[tuple[int, Array, Array, Any]]:
        gap = np.diff(self.times, prepend=0.0)
        for low in range(0, self.ends.size, self._chunk):
            part = slice(low, low + self._chunk)
            index = self.begins[part, None] + np.arange(self.width)
            inside = index < self.ends[part, None]
            index = np.where(inside, index, 0)
            ages = np.where(inside, self.times[part, None] - self.past.time[index], np.inf)
            table = np.exp(-ages[:, :, None] * self.rates)
            yield low, table, np.exp(-gap[part, None] * self.rates), index

    def response(self, sources: Array, weights: Array) -> Array:
        """Return sum_m W[w, m] sum_i q[c, i] (1 - exp(-mu_m (T(k) - T(i)))), shape (recorded, channels, weights)."""
        return self._passes(sources, weights, faded=False)

    def held(self, sources: Array, weights: Array) -> Array:
        """Return the same sums with exp(-mu_m (T(k) - T(i))) in the place of 1 - exp(...)."""
        return self._passes(sources, weights, faded=True)

    def _passes(self, sources: Array, weights: Array, *, faded: bool) -> Array:
        channels = sources.shape[0]
        state = np.zeros((channels, self.rates.size))
        running = np.concatenate([np.zeros((channels, 1)), np.cumsum(sources, axis=1)], axis=1)
        found = np.empty((self.size, channels, weights.shape[0]))
        whole = weights.sum(axis=1)
        for low, table, decay, index in self._kept if self._kept is not None else self._tables():
            fresh = np.matmul(np.moveaxis(sources[:, index], 0, 1), table)  # the table is 0 outside its row
            for place in range(fresh.shape[0]):
                state *= decay[place]
                state += fresh[place]
                fresh[place] = state
            rows = self.rows[low : low + fresh.shape[0]]
            wanted = rows >= 0
            kept = fresh[wanted] @ weights.T
            if not faded:
                total = running[:, self.ends[low : low + fresh.shape[0]][wanted]].T
                kept = total[:, :, None] * whole - kept
            found[rows[wanted]] = kept
        return found
