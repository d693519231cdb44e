"""What composes with schedules: a linear warmup or a stable phase before, and a floor below the learning rate."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fsl_num.schedules.base import Schedule
from fsl_num.schedules.constant import Constant
from fsl_num.schedules.discrete import Discrete
from fsl_num.schedules.linear import Linear
from fsl_num.schedules.phases import Backwards, Consecutive, Part, Phased
from fsl_num.validation import Array, affordable, instance_of, positive

_GRID = 129  # points of each smooth stretch among which the rate is looked at for where it crosses the floor
_HALVINGS = 1100


@dataclass(frozen=True, kw_only=True)
class Warmup(Phased):
    """A linear rise from 0 to the peak of the schedule ``of`` within ``warmup`` > 0 steps, and then ``of``.

    >>> plan = Warmup(of=Constant(peak=0.4, steps=6), warmup=4)
    >>> plan.steps, plan.learning_rate([0, 1, 4]).tolist()
    (10.0, [0.0, 0.1, 0.4])
    """

    of: Schedule
    warmup: float
    peak: float = field(init=False, default=0.0)
    steps: float = field(init=False, default=0.0)
    batch_size: float = field(init=False, default=1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "warmup", positive("warmup", self.warmup))
        object.__setattr__(self, "peak", self.of.peak)
        object.__setattr__(self, "steps", self.warmup + self.of.steps)
        object.__setattr__(self, "batch_size", self.of.batch_size)
        super().__post_init__()

    @cached_property
    def phases(self) -> tuple[Schedule, ...]:
        """The rise, and the phases of the schedule."""
        rise = Backwards(of=Linear(peak=self.peak, steps=self.warmup))
        return (rise, *_phases(self.of))


def _phases(plan: Schedule) -> tuple[Schedule, ...]:
    return plan.phases if isinstance(plan, Phased) else (plan,)


def with_warmup(plan: Schedule, warmup: Any) -> Schedule:
    """Return ``plan`` after ``warmup`` more steps, in which the rate rises linearly from 0 to its peak; 0: none.

    ``warmup``: at least 0; whole before a :class:`~fsl_num.schedules.Discrete`, whose first batch size it takes.
    Raises ValueError otherwise.

    >>> with_warmup(Discrete(rates=[0.4, 0.2]), 2).rates.tolist()
    [0.0, 0.2, 0.4, 0.2]
    """
    instance_of("plan", plan, Schedule)
    count = positive("warmup", warmup, zero=True)
    if count == 0.0:
        return plan
    if not isinstance(plan, Discrete):
        return Warmup(of=plan, warmup=count)
    if count != int(count):
        raise ValueError(f"warmup must be a whole number of steps before rates given step by step, got {warmup!r}")
    affordable("steps of warmup", count, 64, "take fewer")
    rise = plan.peak * (np.arange(count) / count)
    batches = plan.batch_sizes
    if batches.size > 1:
        batches = np.concatenate([np.full(rise.size, batches[0]), batches])
    return Discrete(rates=np.concatenate([rise, plan.rates]), batch_sizes=batches)


def with_stable(fall: Schedule, stable: float) -> Schedule:
    """Return the schedule ``fall`` after ``stable`` >= 0 more steps at its peak.

    >>> with_stable(Linear(peak=0.4, steps=4), 2.0).learning_rate([0, 2, 4]).tolist()
    [0.4, 0.4, 0.2]
    """
    if stable == 0.0:
        return fall
    return Consecutive(of=(Constant(peak=fall.peak, steps=stable), fall), batch_size=fall.batch_size)


def with_floor(plan: Schedule, floor: Any) -> Schedule:
    """Return ``plan`` with a rate that never falls below ``floor``, max(phi, floor), but for its warmup; 0: none.

    ``floor``: from 0 to the peak. Raises ValueError otherwise.

    >>> plan = with_floor(Linear(peak=1.0, steps=10), 0.25)
    >>> plan.learning_rate([5, 9]).tolist(), plan.physical_breaks[-1]
    ([0.5, 0.25], 7.5)
    """
    instance_of("plan", plan, Schedule)
    least = positive("floor", floor, zero=True)
    if least > plan.peak:
        raise ValueError(f"floor must be at most the peak of the schedule, got {floor!r}, above {plan.peak!r}")
    if least == 0.0:
        return plan
    if isinstance(plan, Warmup):
        return Warmup(of=with_floor(plan.of, least), warmup=plan.warmup)
    if isinstance(plan, Discrete):
        return Discrete(rates=np.maximum(plan.rates, least), batch_sizes=plan.batch_sizes)
    phases = _phases(plan)
    raised = {phase: _raised(phase, least) for phase in dict.fromkeys(phases)}  # equal ones, as in cycles, once
    if all(raised[phase] == (phase,) for phase in phases):
        return plan
    parts = tuple(part for phase in phases for part in raised[phase])
    return Consecutive(of=parts, batch_size=plan.batch_size)


def _raised(phase: Schedule, floor: float) -> tuple[Schedule, ...]:
    """Return the parts of a phase: what lies above the floor, and the floor itself in between."""
    places = _crossings(phase, floor)
    if not places.size:
        middle = float(phase._rate(np.array([0.5 * phase.steps]))[0])
        return (phase,) if middle >= floor else (Constant(peak=floor, steps=phase.steps),)
    parts: list[Schedule] = []
    cuts = [phase.steps, *places[::-1].tolist(), 0.0]  # steps left
    for high, low in zip(cuts[:-1], cuts[1:], strict=True):
        is_long = high - low > np.spacing(phase.steps)
        if is_long and float(phase._rate(np.array([0.5 * (high + low)]))[0]) > floor:
            parts.append(Part(of=phase, skip=phase.steps - high, drop=low))
        else:
            parts.append(Constant(peak=floor, steps=high - low))
    return tuple(parts)


def _crossings(phase: Schedule, floor: float) -> Array:
    """Return the steps left, rising and inside the phase, at which its rate crosses the floor."""
    stretches = phase.steps - np.array([0.0, *phase.physical_breaks, phase.steps])[::-1]
    shares = np.linspace(0.0, 1.0, _GRID)
    grid = np.unique((stretches[:-1, None] + np.diff(stretches)[:, None] * shares).ravel())
    above = phase._rate(grid) > floor
    at = np.flatnonzero(above[:-1] != above[1:])
    low, high, side = grid[at], grid[at + 1], above[at]
    for _ in range(_HALVINGS):  # a slow power reaches the floor at the smallest of floats only
        middle = 0.5 * (low + high)
        same = (phase._rate(middle) > floor) == side
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    # closer to the end than rounding nothing lies: the floor holds for the last rounding of the steps at least
    high = np.maximum(high, np.spacing(phase.steps))
    return high[high < phase.steps]
