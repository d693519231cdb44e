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

_JUMP = 0.01  # of the peak, or of a batch size: a larger change is a jump
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

    def only(self, chosen: Any) -> Changes:
        """Return some of the groups (a mask)."""
        count = np.concatenate([[0], np.cumsum(chosen)])
        return Changes(
            self.before[chosen], self.after[chosen], self.time[chosen], self.position[chosen], count[self.seen]
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
    for jump in (step > _JUMP * plan.peak, plan.new_batches(_JUMP)):
        jumps = np.flatnonzero(jump)
        jumps = jumps[jumps >= first]
        if jumps.size <= groups:  # a schedule that jumps all the time is merged like any other
            edges += [jumps, jumps + 1]
    cut = np.zeros(size + 1, dtype=bool)
    cut[np.concatenate(edges)] = True
    cuts = np.flatnonzero(cut[: max(int(plan.recorded[-1]), first) + 1])
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
        self.past, self.rates = past, rates
        times = np.concatenate([[0.0], past.time])
        self.gaps, self.since = np.diff(times), obs - times[past.seen]
        self._chunk = max(1, _TABLE // max(obs.size + past.time.size, 1))
        self._kept = list(self._tables()) if rates.size <= self._chunk else None

    def _tables(self) -> Iterator[tuple[slice, Array, Array]]:
        """Return for so many modes at a time how they decay between changes, and since the last one."""
        for low in range(0, self.rates.size, self._chunk):
            part = slice(low, low + self._chunk)
            yield part, np.exp(-self.gaps[:, None] * self.rates[part]), np.exp(-self.since[:, None] * self.rates[part])

    def response(self, sources: Array, weights: Array) -> Array:
        """Return sum_m W[w, m] sum_i q[c, i] (1 - exp(-mu_m (T(k) - T(i)))), shape (recorded, channels, weights)."""
        from fsl_num.curves.laws.memory_kernel import summed_up_to

        whole = summed_up_to(sources, self.past.seen)[:, :, None] * weights.sum(axis=1)
        return np.asarray(whole - self.held(sources, weights))

    def held(self, sources: Array, weights: Array) -> Array:
        """Return the same sums with exp(-mu_m (T(k) - T(i))) in the place of 1 - exp(...)."""
        from fsl_num.curves.laws.memory_kernel import add_held

        channels = sources.shape[0]
        sums = np.zeros((self.since.size, channels, weights.shape[0]))
        sources, weights = (np.ascontiguousarray(array, dtype=np.float64) for array in (sources, weights))
        for part, decay, aged in self._kept if self._kept is not None else self._tables():
            state = np.zeros((channels, decay.shape[1]))
            add_held(sources, np.ascontiguousarray(weights[:, part]), self.past.seen, decay, aged, state, sums)
        return sums
