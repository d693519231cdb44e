r"""Schedules made of phases, one after another, each with closed forms of its own.

A phase is itself a schedule. What has elapsed is held from the start and what is left from the end, so that both ends
stay accurate however long the whole is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fsl_num.schedules.base import Schedule
from fsl_num.schedules.constant import Constant
from fsl_num.schedules.discrete import running_sums
from fsl_num.validation import Array, entries, positive

_AT_A_JUMP = 8.0  # roundings: who asks at a jump itself, up to the rounding of its time, means the phase that ends
_CLOSEST = 20  # halvings of a phase towards an end at which its rate vanishes
_EQUAL = 1e-12  # of the peak: rates closer than this are no jump, but rounding


class _Places:
    """Where the phases begin and end, in one clock: counted from the start, and counted from the end."""

    def __init__(self, lengths: list[float]) -> None:
        self.lengths = np.array(lengths)
        self.before = running_sums(lengths)[:-1]
        self.after = running_sums(lengths[::-1])[-2::-1]


@dataclass(frozen=True, kw_only=True)
class Phased(Schedule):
    """A schedule that is a sequence of ``phases``; a phase of rate 0 takes no intrinsic time.

    >>> from fsl_num.schedules import schedule
    >>> [type(phase).__name__ for phase in schedule("wsd", peak=1.0, steps=10).phases]
    ['Constant', 'ExponentialDecay']
    """

    @property
    @abstractmethod
    def phases(self) -> tuple[Schedule, ...]:
        """The phases in order; their batch sizes do not count."""

    @property
    def is_piecewise_constant(self) -> bool:
        """Whether the rate is constant in every phase."""
        return all(type(phase) is Constant for phase in self.phases)

    @cached_property
    def _kinds(self) -> tuple[Any, list[Schedule]]:
        """For each phase the number of its kind, and the kinds: phases that repeat are evaluated together."""
        kinds: dict[int, int] = {}
        numbers = np.array([kinds.setdefault(id(phase), len(kinds)) for phase in self.phases])
        return numbers, list({id(phase): phase for phase in self.phases}.values())

    @cached_property
    def _physical(self) -> _Places:
        return _Places([phase.steps for phase in self.phases])

    @cached_property
    def _intrinsic_places(self) -> _Places:
        numbers, kinds = self._kinds
        totals = [kind.total_intrinsic_time for kind in kinds]
        return _Places([totals[number] for number in numbers])

    @cached_property
    def _moving(self) -> Any:
        """Which phases take intrinsic time."""
        return np.flatnonzero(self._intrinsic_places.lengths > 0.0)

    def _evaluated(self, index: Any, local: Array, evaluate: Callable[[Schedule, Array], Array]) -> Array:
        """Evaluate the phase ``index`` of each point at its ``local`` time."""
        numbers, kinds = self._kinds
        values, chosen = np.empty(local.shape), numbers[index]
        for number in np.unique(chosen):
            at = chosen == number
            values[at] = evaluate(kinds[number], local[at])
        return values

    def _of_elapsed(self, places: _Places, time: Array) -> tuple[Any, Array]:
        """Return the phase at each time from the start, at a boundary the one that begins, and the time within it."""
        index = np.clip(np.searchsorted(places.before, time, side="right") - 1, 0, None)
        return index, np.minimum(time - places.before[index], places.lengths[index])

    def _of_left(self, places: _Places, time: Array) -> tuple[Any, Array]:
        """Return the same of times before the end."""
        index = len(places.after) - np.clip(np.searchsorted(places.after[::-1], time, side="left"), 1, None)
        return index, np.minimum(time - places.after[index], places.lengths[index])

    def _rate(self, remaining: Array) -> Array:
        index, local = self._of_left(self._physical, remaining)
        return self._evaluated(index, np.maximum(local, 0.0), lambda phase, time: phase._rate(time))

    def _rate_after(self, tau: Array) -> Array:
        index, local = self._of_elapsed(self._physical, tau)
        return self._evaluated(index, local, lambda phase, time: phase._rate_after(time))

    def _elapsed(self, tau: Array) -> Array:
        index, local = self._of_elapsed(self._physical, tau)
        inside = self._evaluated(index, local, lambda phase, time: phase._elapsed(time))
        return np.asarray(self._intrinsic_places.before[index] + inside)

    def _left(self, remaining: Array) -> Array:
        index, local = self._of_left(self._physical, remaining)
        inside = self._evaluated(index, np.maximum(local, 0.0), lambda phase, time: phase._left(time))
        return np.asarray(self._intrinsic_places.after[index] + inside)

    @property
    def total_intrinsic_time(self) -> float:
        """T(steps), the sum over the phases."""
        places = self._intrinsic_places
        return float(places.after[0] + places.lengths[0])

    def _steps_after(self, elapsed: Array) -> Array:
        index, local = self._phase_after(elapsed, 0.0)
        inside = self._evaluated(index, local, lambda phase, time: phase._steps_after(time))
        return np.asarray(np.minimum(self._physical.before[index] + inside, self.steps))

    def _steps_left(self, remaining: Array) -> Array:
        index, local = self._phase_left(remaining, 0.0)
        inside = self._evaluated(index, local, lambda phase, time: phase._steps_left(time))
        return np.asarray(np.minimum(self._physical.after[index] + inside, self.steps))

    def _gamma_after(self, elapsed: Array) -> Array:
        starts = self._intrinsic_places.before[self._moving]
        index, local = self._phase_after(elapsed, _AT_A_JUMP * np.spacing(starts))
        rates = self._evaluated(index, local, lambda phase, time: phase._rate_after(phase._steps_after(time)))
        return rates / self.batch_size

    def _gamma_left(self, remaining: Array, rounding: float) -> Array:
        ends = self._intrinsic_places.after[self._moving]
        index, local = self._phase_left(remaining, _AT_A_JUMP * np.maximum(np.spacing(ends), rounding))
        rates = self._evaluated(index, local, lambda phase, time: phase._rate(phase._steps_left(time)))
        return rates / self.batch_size

    def _phase_after(self, elapsed: Array, reach: Any) -> tuple[Any, Array]:
        """Return the phase that holds, or ends at, each intrinsic time, and the time within it.

        Where the rate jumps at its end, a phase reaches ``reach`` further (one number, or one for each phase that takes
        intrinsic time), but not over half of the next one.
        """
        places, moving = self._intrinsic_places, self._moving
        further = np.minimum(reach, 0.5 * places.lengths[moving])
        starts = places.before[moving] + further * np.append(False, self._jumps[:-1])
        index = moving[np.clip(np.searchsorted(starts, elapsed, side="left") - 1, 0, None)]
        return index, np.clip(elapsed - places.before[index], 0.0, places.lengths[index])

    def _phase_left(self, remaining: Array, reach: Any) -> tuple[Any, Array]:
        """Return the same of intrinsic times before the end."""
        places, moving = self._intrinsic_places, self._moving
        further = np.minimum(reach, 0.5 * np.append(places.lengths[moving][1:], 0.0))
        ends = (places.after[moving] - further * self._jumps)[::-1]
        index = moving[::-1][np.clip(np.searchsorted(ends, remaining, side="right") - 1, 0, None)]
        return index, np.clip(remaining - places.after[index], 0.0, places.lengths[index])

    @cached_property
    def _jumps(self) -> Any:
        """Whether the rate jumps at the end of each phase that takes intrinsic time."""
        numbers, kinds = self._kinds
        zero = np.zeros(1)
        first, last = (
            np.array([float(rate[0]) for rate in rates])[numbers][self._moving]
            for rates in ([kind._rate_after(zero) for kind in kinds], [kind._rate(zero) for kind in kinds])
        )
        return np.append(np.abs(last[:-1] - first[1:]) > _EQUAL * self.peak, False)

    @cached_property
    def _inside(self) -> list[Array]:
        """Breaks within each phase that takes intrinsic time, as steps from its start.

        Where the rate vanishes, or nearly so, gamma is not smooth in intrinsic time: there they close in on that end of
        the phase, but for the end of the whole, on which the solvers close in by themselves.
        """
        numbers, kinds = self._kinds
        inner: dict[tuple[int, bool], Array] = {}
        for index in self._moving.tolist():
            key = int(numbers[index]), bool(index == self._moving[-1])
            if key not in inner:
                phase = kinds[key[0]]
                own = np.array(phase.physical_breaks)
                ends = np.array([]) if key[1] else phase.steps - _closing_in(phase._rate, phase.steps)
                inner[key] = np.unique(np.concatenate([own, _closing_in(phase._rate_after, phase.steps), ends]))
        last = self._moving[-1]
        return [inner[int(numbers[index]), bool(index == last)] for index in self._moving.tolist()]

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        """Where phases meet, and the breaks within them."""
        starts = self._physical.before
        inside = [starts[index] + cuts for index, cuts in zip(self._moving, self._inside, strict=True)]
        return tuple(np.unique(np.concatenate([starts[1:], *inside])).tolist())

    @property
    def breaks(self) -> tuple[float, ...]:
        """Intrinsic times strictly inside (0, T) where phases meet, and the breaks within them."""
        return tuple(self._breaks(self._intrinsic_places.before, first=True).tolist())

    @property
    def breaks_before_end(self) -> tuple[float, ...]:
        """The same breaks, as remaining intrinsic time T - t."""
        return tuple(self._breaks(self._intrinsic_places.after, first=False).tolist())

    def _breaks(self, places: Array, *, first: bool) -> Array:
        """Return the breaks counted from the start, or from the end, from which ``places`` are counted too."""
        moving, phases, breaks = self._moving, self.phases, list[Array]()
        for position, (index, cuts) in enumerate(zip(moving.tolist(), self._inside, strict=True)):
            phase = phases[index]
            inner = phase._elapsed(cuts) if first else phase._left(phase.steps - cuts)
            meets = places[index] if first else places[moving[position - 1]]
            breaks += [np.array([meets]) if position else np.array([]), places[index] + inner]
        return np.concatenate(breaks)


def _closing_in(rate: Callable[[Array], Array], steps: float) -> Array:
    """Return places that halve towards 0 as long as the ``rate`` there is far above that at 0."""
    places = steps * 0.5 ** np.arange(1.0, _CLOSEST + 1.0)
    return places[rate(places) > 2.0 * rate(np.zeros(1))]


@dataclass(frozen=True, kw_only=True)
class Consecutive(Phased):
    """The schedules ``of`` one after another, at least one; ``peak`` and ``steps`` follow from them.

    The batch size is that of the whole; those of the phases do not count. Raises TypeError for what is no schedule.

    >>> from fsl_num.schedules import Constant, Cosine
    >>> plan = Consecutive(of=(Constant(peak=0.2, steps=10), Cosine(peak=0.1, steps=40)))
    >>> plan.steps, plan.learning_rate(10), plan.gamma(2.0)
    (50.0, 0.1, 0.2)
    """

    of: tuple[Schedule, ...]
    peak: float = field(init=False, default=0.0)
    steps: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        parts = tuple(entries("of", self.of, Schedule, least=1, needed="a list of schedules"))
        object.__setattr__(self, "of", parts)
        object.__setattr__(self, "peak", max(phase.peak for phase in parts))
        object.__setattr__(self, "steps", float(running_sums([phase.steps for phase in parts])[-1]))
        super().__post_init__()

    @property
    def phases(self) -> tuple[Schedule, ...]:
        """What it is made of."""
        return self.of


@dataclass(frozen=True, kw_only=True)
class Backwards(Schedule):
    """The schedule ``of`` run from its end to its start.

    >>> from fsl_num.schedules import Linear
    >>> Backwards(of=Linear(peak=1.0, steps=4)).learning_rate([0, 1, 4]).tolist()
    [0.0, 0.25, 1.0]
    """

    of: Schedule
    peak: float = field(init=False, default=0.0)
    steps: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "peak", self.of.peak)
        object.__setattr__(self, "steps", self.of.steps)
        super().__post_init__()

    def _rate(self, remaining: Array) -> Array:
        return self.of._rate_after(remaining)

    def _rate_after(self, tau: Array) -> Array:
        return self.of._rate(tau)

    def _elapsed(self, tau: Array) -> Array:
        return self.of._left(tau)

    def _left(self, remaining: Array) -> Array:
        return self.of._elapsed(remaining)

    def _steps_after(self, elapsed: Array) -> Array:
        return self.of._steps_left(elapsed)

    def _steps_left(self, remaining: Array) -> Array:
        return self.of._steps_after(remaining)

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        """Those of the schedule, from its end."""
        return tuple(self.steps - cut for cut in reversed(self.of.physical_breaks))


@dataclass(frozen=True, kw_only=True)
class Part(Schedule):
    """What is left of the schedule ``of`` without its first ``skip`` and its last ``drop`` steps.

    >>> from fsl_num.schedules import Linear
    >>> Part(of=Linear(peak=1.0, steps=4), drop=2.0).learning_rate([0, 1, 2]).tolist()
    [1.0, 0.75, 0.5]
    """

    of: Schedule
    skip: float = 0.0
    drop: float = 0.0
    peak: float = field(init=False, default=0.0)
    steps: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        for name in ("skip", "drop"):
            object.__setattr__(self, name, positive(name, getattr(self, name), zero=True))
        object.__setattr__(self, "peak", self.of.peak)
        object.__setattr__(self, "steps", self.of.steps - self.skip - self.drop)
        super().__post_init__()

    @cached_property
    def _skipped(self) -> float:
        return float(self.of._elapsed(np.array([self.skip]))[0])

    @cached_property
    def _dropped(self) -> float:
        return float(self.of._left(np.array([self.drop]))[0])

    def _rate(self, remaining: Array) -> Array:
        return self.of._rate(remaining + self.drop)

    def _rate_after(self, tau: Array) -> Array:
        return self.of._rate_after(tau + self.skip)

    def _elapsed(self, tau: Array) -> Array:
        return np.maximum(self.of._elapsed(tau + self.skip) - self._skipped, 0.0)

    def _left(self, remaining: Array) -> Array:
        return np.maximum(self.of._left(remaining + self.drop) - self._dropped, 0.0)

    def _steps_after(self, elapsed: Array) -> Array:
        return np.clip(self.of._steps_after(elapsed + self._skipped) - self.skip, 0.0, self.steps)

    def _steps_left(self, remaining: Array) -> Array:
        return np.clip(self.of._steps_left(remaining + self._dropped) - self.drop, 0.0, self.steps)

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        """Those of the schedule that are left."""
        return tuple(cut - self.skip for cut in self.of.physical_breaks if 0.0 < cut - self.skip < self.steps)
