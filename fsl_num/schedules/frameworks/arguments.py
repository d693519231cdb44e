"""Which arguments of a framework's schedulers give rates that are known step by step: found, and then checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

import numpy as np

from fsl_num.schedules.frameworks.base import Framework, Scheduler
from fsl_num.validation import Array

EXACT: Final = 1e-12
"""Of the peak: rates that differ by less, at every step, are the same."""

_LOOK = 64  # steps at which arguments are tried before all steps are compared
_CLOSE = 1e-13  # of the peak: what counts as being at the peak, or at the floor
_STRAIGHT = 1e-14  # of the peak: what counts as being on the line through its neighbours


@dataclass(frozen=True)
class Match:
    """Arguments of the scheduler ``name``, and how far its rates lie off at most, as a share of the peak, at a step.

    ``off`` at most :data:`EXACT` means that they are equal. ``base``: the base rate of the optimiser.

    >>> Match("linear", {}, 0.1, 0.0, 0).exact
    True
    """

    name: str
    arguments: Mapping[str, Any]
    base: float
    off: float
    step: int

    @property
    def exact(self) -> bool:
        """Whether all rates are equal."""
        return self.off <= EXACT


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Where rates, as ``shares`` of their peak, stop to rise, begin to fall, stop to fall, and bend for the last time.

    >>> Landmarks.of(np.array([0.5, 1.0, 1.0, 0.5, 0.2, 0.2]))
    Landmarks(first=1, last=2, end=4, bend=4)
    """

    shares: Array = field(repr=False)
    first: int
    last: int
    end: int
    bend: int

    @staticmethod
    def of(shares: Array) -> Landmarks:
        """Return them; ``shares``: of every update, 1 the largest."""
        top = np.flatnonzero(shares >= 1.0 - _CLOSE)
        moving = np.flatnonzero(np.abs(shares - shares[-1]) > _CLOSE)
        bends = np.flatnonzero(np.abs(np.diff(shares, 2)) > _STRAIGHT) + 1
        end, bend = (int(places[-1]) if places.size else 0 for places in (moving + 1, bends))
        return Landmarks(shares, int(top[0]), int(top[-1]), end, bend)

    def values(self, role: str) -> list[Any]:
        """What an argument of that role may be; conventions differ by one step."""
        size = self.shares.size
        warmups = [0] if self.first == 0 else []
        warmups += [self.first, self.first + 1]
        # the likeliest first: they look as they were meant
        starts = list(dict.fromkeys((self.last, self.last + 1, max(self.last - 1, 0), self.first, self.bend)))
        ends = (size, size - 1, size + 1, self.end, self.end + 1)
        decays = list(dict.fromkeys(end - start for end in ends for start in starts if 0 < end - start <= size))
        known: dict[str, list[Any]] = {
            "warmup": warmups,
            "start": starts,
            "decay": [*decays, 0],
            "warmup share": [value for count in warmups for value in _shares(count, size)],
            "decay share": [value for count in decays for value in _shares(count, size)],
            "power": [1.0, 2.0, 0.5, *self._power()],
            "power of step": self._power_of_step(),
            "timescale": self._timescale(),
        }
        return known.get(role, [])

    def _power(self) -> list[float]:
        """The power of a decay to 0 at the end of the steps."""
        size, warmup = self.shares.size, self.first
        middle = (warmup + size) // 2
        part = (size - middle) / max(size - warmup, 1)
        value = float(self.shares[middle])
        return [tidy(float(np.log(value) / np.log(part)))] if 0.0 < part < 1.0 and value > 0.0 else []

    def _power_of_step(self) -> list[float]:
        """The power of the steps done, the first being number 1, from the warmup to the last bend."""
        more, value = (self.bend + 1) / (self.first + 1), float(self.shares[self.bend])
        return [tidy(float(np.log(value) / np.log(more)))] if more > 1.0 and value > 0.0 else []

    def _timescale(self) -> list[float]:
        """That of 1/sqrt(1 + steps after the warmup/timescale)."""
        value, done = float(self.shares[-1]), self.shares.size - 1 - self.first
        if not 1e-100 < value < 1.0 or done < 1:
            return []
        scale = tidy(done / (value**-2 - 1.0))
        return [int(scale) if scale == int(scale) else scale]


def tidy(number: float) -> float:
    """Return a number as it was probably meant: without the rounding of its last digits.

    >>> tidy(0.30000000000000004), tidy(1 / 3)
    (0.3, 0.3333333333333333)
    """
    short = float(f"{number:.10g}")
    return short if abs(short - number) <= 1e-13 * abs(number) else number


def _shares(count: int, size: int) -> list[float]:
    """Shares of ``size`` steps that frameworks round, or cut, to ``count``."""
    return [count / size, (count + 0.25) / size] if count < size else [count / size]


def matches(framework: Framework, rates: Array, peak: float) -> Iterator[Match]:
    """Yield for each scheduler of a framework the arguments that come closest to ``rates``, an exact match first.

    ``rates``: of every update, with the largest ``peak`` > 0. Nothing more is yielded behind an exact match.

    >>> from fsl_num.schedules.frameworks import FRAMEWORKS
    >>> found = next(matches(FRAMEWORKS["transformers"], np.array([0.0, 0.1, 0.2, 0.1]), 0.2))
    >>> found.name, found.arguments, found.exact
    ('linear', {'num_warmup_steps': 2}, True)
    """
    landmarks = Landmarks.of(rates / peak)
    exact = []
    for name, scheduler in framework.schedulers.items():
        known = {*scheduler.roles, *scheduler.choices, *scheduler.fixed}
        if any(
            parameter.default is parameter.empty and key not in known for key, parameter in scheduler.arguments.items()
        ):
            continue  # it needs what rates do not tell
        closest: Match | None = None
        for base, arguments in _candidates(framework, scheduler, landmarks, peak):
            match = _compared(framework, name, arguments, landmarks.shares, peak, base, closest)
            if match is not None:
                closest = match
                if match.exact:
                    yield match
                    return
        if closest is not None:
            exact.append(closest)
    yield from sorted(exact, key=lambda match: match.off)


def _candidates(
    framework: Framework, scheduler: Scheduler, landmarks: Landmarks, peak: float
) -> Iterator[tuple[float, dict[str, Any]]]:
    """Base rates and arguments."""
    size, top = landmarks.shares.size, scheduler.top
    names = [name for name, role in scheduler.roles.items() if landmarks.values(role)]
    last = [(name, size - 1) for name, role in scheduler.roles.items() if role in ("floor", "floor rate")][-1:]
    floors = [(name, landmarks.bend) for name, role in scheduler.roles.items() if role == "floor before"] + last
    counted = {role for role in scheduler.roles.values() if role in ("warmup", "decay")}
    names = [name for name in names if scheduler.roles[name].removesuffix(" share") not in counted
             or not scheduler.roles[name].endswith(" share")]  # fmt: skip
    tried = [*(landmarks.values(scheduler.roles[name]) for name in names), *scheduler.choices.values()]
    for values in product(*tried):
        arguments = dict(zip([*names, *scheduler.choices], values, strict=True)) | dict(scheduler.fixed)
        base = peak
        try:
            for name, place in floors:
                step = np.array([float(place + framework.first_step)])
                fallen = float(scheduler.shares(step, size, peak, {**arguments, name: 0.0})[0])
                share = float(landmarks.shares[place])
                floor = (share * top - fallen) / (1.0 - fallen - share * (1.0 - top)) if fallen < 1.0 else 0.0
                unit = peak if scheduler.roles[name] == "floor rate" else 1.0
                arguments[name] = min(tidy(floor * unit), unit) if floor > _CLOSE else 0.0
                base = tidy(peak / (floor + (1.0 - floor) * top))
        except (ValueError, ZeroDivisionError):
            continue
        yield base, arguments


def _compared(
    framework: Framework, name: str, arguments: Mapping[str, Any], shares: Array, peak: float, base: float,
    best: Match | None,
) -> Match | None:  # fmt: skip
    """The match, None where it is no better than the ``best`` so far."""
    size = shares.size
    some = np.unique(np.linspace(0, size - 1, min(_LOOK, size)).astype(int))
    scheduler = framework.schedulers[name]
    for steps in (some, np.arange(size)):
        try:
            theirs = scheduler.shares((steps + framework.first_step).astype(np.float64), size, base, arguments)
        except (ValueError, ZeroDivisionError):
            return None
        apart = np.nan_to_num(np.abs(theirs * (base / peak) - shares[steps]), nan=np.inf)
        worst = int(np.argmax(apart))
        if best is not None and apart[worst] >= best.off:
            return None
    return Match(name, arguments, base, float(apart[worst]), int(steps[worst]))
