r"""How a schedule is remembered: sums over its past of changes of the learning rate, weighted by a fading memory.

Every law of this family needs, at each recorded step k, sums over the changes q_i before it of the form

    sum_i q_i (1 - exp(-mu (T(k) - T(i))))

for many rates mu at once: a power-law memory 1 - (1 + c t)^-g is an average of such exponentials, and the weights of
the average are all that depends on c and g. The sums are carried from recorded step to recorded step, so that the cost
is that of one pass over the schedule, and the table of exponentials is made once for all evaluations.

Where a schedule has many more steps than matter, neighbouring changes between two recorded steps are merged into one at
their mean time. Jumps are never merged. A prediction merges nothing below 200,000 steps; a fit merges more, which moves
its losses by less than 1e-5 (tests), and the search for its start more still.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fsl_num.curves.plan import Plan, Steps
from fsl_num.validation import Array

DETAILS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {"coarse": (256, 4), "fit": (2048, 8), "exact": (200_000, 16)}
)
"""How finely a schedule is merged: at least so many groups, and so many between two recorded steps."""

_JUMP = 0.01  # of the peak: a larger change is a jump
_WIDTH = 32  # groups in one row of the table
_TABLE = 4_000_000  # numbers kept, 32 MB
_SPACING = 0.25  # of log mu: the trapezoidal rule errs by |Gamma(g + 2 pi i/h)|/Gamma(g), below 2e-6 for g <= 20
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

    def only(self, wanted: Any) -> Changes:
        """Return some of the groups (a mask)."""
        count = np.concatenate([[0], np.cumsum(wanted)])
        return Changes(
            self.before[wanted], self.after[wanted], self.time[wanted], self.position[wanted], count[self.seen]
        )

    def of(self, values: Array) -> Array:
        """Return the change of a quantity given for every update; it is 0 before the first."""
        start = np.where(self.before >= 0, values[np.maximum(self.before, 0)], 0.0)
        return np.asarray(values[self.after] - start)


def changes(plan: Plan, first: int = 0, detail: str = "exact") -> Changes:
    """Return the changes of the learning rate from update ``first`` on, merged as ``detail`` says (:data:`DETAILS`).

    >>> found = changes(Plan([0.1, 0.1, 0.4], recorded=[2, 3]))
    >>> found.of(np.array([0.1, 0.1, 0.4])).round(12).tolist(), found.seen.tolist()
    ([0.1, 0.0, 0.3], [2, 3])
    """
    groups, per_gap = DETAILS[detail]
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
    total, moment, place = plan.sums
    mass = total[stops] - total[starts]
    known = mass > 1e-12 * plan.peak
    safe = np.where(known, mass, 1.0)
    low, high = plan.times[starts], plan.times[stops - 1]
    # the mean time of the changes; where nothing changes, what is remembered may (the signal): the middle
    time = np.where(known, (moment[stops] - moment[starts]) / safe, 0.5 * (low + high))
    position = np.where(known, (place[stops] - place[starts]) / safe, 0.5 * (starts + stops - 1))
    seen = np.searchsorted(stops, plan.recorded, side="right").astype(np.int64)
    return Changes(starts - 1, stops - 1, np.clip(time, low, high), np.clip(position, starts, stops - 1), seen)


def mode_rates(plans: Any, fastest: float) -> Array:
    """Return the rates mu that stand for every memory with c up to ``fastest`` over the length of the plans.

    >>> mode_rates([Plan([0.1] * 10)], 100.0).size
    90
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
        self.past, self.rates, self.obs = past, rates, obs
        seen = np.concatenate([[0], past.seen])
        self.width = int(np.clip(np.ceil(seen[-1] / obs.size), 1, _WIDTH))
        # stops: the recorded steps before which something changed, and more of them where much did
        ends = [np.unique(seen[1:][np.diff(seen) > 0])]
        for low, high in zip(seen[:-1], seen[1:], strict=True):
            if high - low > self.width:
                ends.append(np.arange(low + self.width, high, self.width))
        self.ends = np.unique(np.concatenate(ends)).astype(np.int64)
        self.begins = np.concatenate([[0], self.ends[:-1]])[: self.ends.size].astype(np.int64)
        reach = np.maximum.accumulate(past.time) if past.time.size else past.time
        self.times = reach[self.ends - 1]
        self.stop_of = np.searchsorted(self.ends, past.seen, side="right") - 1  # -1: nothing has changed yet
        self._chunk = max(1, _TABLE // (rates.size * self.width))
        self._rows = max(1, _TABLE // rates.size)
        self._kept = list(self._tables()) if max(self.ends.size / self._chunk, obs.size / self._rows) <= 1 else None

    def _tables(self) -> Iterator[tuple[slice, Array, Array, Array, Any, slice, Array]]:
        gap = np.diff(self.times, prepend=0.0)
        for low in range(0, max(self.ends.size, 1), self._chunk):
            part = slice(low, low + self._chunk)
            index = self.begins[part, None] + np.arange(self.width)
            inside = index < self.ends[part, None]
            index = np.where(inside, index, 0)
            ages = np.where(inside, self.times[part, None] - self.past.time[index], np.inf)
            table = np.exp(-ages[:, :, None] * self.rates)
            first, last = np.searchsorted(self.stop_of, [low, low + self._chunk])
            for begin in range(int(first), max(int(last), int(first) + 1), self._rows):
                rows = slice(begin, min(begin + self._rows, int(last)))
                since = self.obs[rows] - self.times[self.stop_of[rows]]
                aged = np.exp(-since[:, None] * self.rates)
                yield part, table, *self._decays(gap[part]), index, rows, aged

    def _decays(self, gap: Array) -> tuple[Array, Array]:
        """Return the decays from stop to stop in blocks of about the root of their number, and their products."""
        length = max(1, int(np.sqrt(gap.size)))
        blocks = -(-gap.size // length)
        padded = np.concatenate([gap, np.zeros(blocks * length - gap.size)]).reshape(blocks, length)
        rates = self.rates
        return np.exp(-padded[:, :, None] * rates), np.exp(-np.cumsum(padded, axis=1)[:, :, None] * rates)

    def response(self, sources: Array, weights: Array) -> Array:
        """Return sum_m W[w, m] sum_i q[c, i] (1 - exp(-mu_m (T(k) - T(i)))), shape (recorded, channels, weights)."""
        return self._passes(sources, weights, faded=False)

    def held(self, sources: Array, weights: Array) -> Array:
        """Return the same sums with exp(-mu_m (T(k) - T(i))) in the place of 1 - exp(...)."""
        return self._passes(sources, weights, faded=True)

    def _passes(self, sources: Array, weights: Array, *, faded: bool) -> Array:
        channels = sources.shape[0]
        found = np.zeros((self.obs.size, channels, weights.shape[0]))
        if not self.ends.size:
            return found
        state = np.zeros((channels, self.rates.size))
        running = np.concatenate([np.zeros((channels, 1)), np.cumsum(sources, axis=1)], axis=1)
        whole = weights.sum(axis=1)
        done, states = -1, state
        for part, table, decay, product, index, rows, aged in self._kept if self._kept is not None else self._tables():
            if part.start != done:
                fresh = np.matmul(sources[:, index].transpose(1, 0, 2), table)  # the table is 0 outside its row
                states, state = _carried(fresh, decay, product, state)
                done = part.start
            kept = (states[self.stop_of[rows] - part.start] * aged[:, None, :]) @ weights.T
            if not faded:
                kept = running[:, self.past.seen[rows]].T[:, :, None] * whole - kept
            found[rows] = kept
        return found


def _carried(fresh: Array, decay: Array, product: Array, state: Array) -> tuple[Array, Array]:
    """Return the states after every stop, shape (stops, channels, modes), and the last one.

    state <- decay state + fresh, within all blocks at once and then from block to block: twice the root of the number
    of stops in Python, in the place of all of them.
    """
    blocks, length, modes = decay.shape
    held = np.zeros((blocks * length, *fresh.shape[1:]))
    held[: fresh.shape[0]] = fresh
    held = held.reshape(blocks, length, -1, modes)
    for place in range(1, length):
        held[:, place] += held[:, place - 1] * decay[:, place, None]
    before = np.empty((blocks, *state.shape))
    for block in range(blocks):
        before[block] = state
        state = held[block, -1] + product[block, -1] * state
    held += product[:, :, None] * before[:, None]
    return held.reshape(blocks * length, -1, modes), state
