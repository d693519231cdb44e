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


@dataclass(frozen=True)
class Match:
    """Arguments of the scheduler ``name``, and how far its rates lie off at most, as a share of the peak, at a step.

    ``off`` at most :data:`EXACT` means that they are equal.

    >>> Match("linear", {}, 0.0, 0).exact
    True
    """

    name: str
    arguments: Mapping[str, Any]
    off: float
    step: int

    @property
    def exact(self) -> bool:
        """Whether all rates are equal."""
        return self.off <= EXACT


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Where rates, as ``shares`` of their peak, stop to rise, begin to fall, and stop to fall.

    >>> Landmarks.of(np.array([0.5, 1.0, 1.0, 0.5, 0.2, 0.2]))
    Landmarks(first=1, last=2, end=4)
    """

    shares: Array = field(repr=False)
    first: int
    last: int
    end: int

    @staticmethod
    def of(shares: Array) -> Landmarks:
        """Return them; ``shares``: of every update, 1 the largest."""
        top = np.flatnonzero(shares >= 1.0 - _CLOSE)
        moving = np.flatnonzero(np.abs(shares - shares[-1]) > _CLOSE)
        return Landmarks(shares, int(top[0]), int(top[-1]), int(moving[-1]) + 1 if moving.size else 0)

    def values(self, role: str) -> list[Any]:
        """What an argument of that role may be; conventions differ by one step."""
        size = self.shares.size
        warmups = [0] if self.first == 0 else []
        warmups += [self.first, self.first + 1]
        # the likeliest first: they look as they were meant
        starts = list(dict.fromkeys((self.last, self.last + 1, max(self.last - 1, 0), self.first)))
        ends = (size, size - 1, size + 1, self.end, self.end + 1)
        decays = list(dict.fromkeys(end - start for end in ends for start in starts if 0 < end - start <= size))
        known: dict[str, list[Any]] = {
            "warmup": warmups,
            "start": starts,
            "decay": [*decays, 0],
            "warmup share": [value for count in warmups for value in _shares(count, size)],
            "decay share": [value for count in decays for value in _shares(count, size)],
            "power": [1.0, 2.0, 0.5, *self._power()],
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
        for arguments in _candidates(framework, scheduler, landmarks, peak):
            match = _compared(framework, name, arguments, landmarks.shares, peak, closest)
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
) -> Iterator[dict[str, Any]]:
    names = [name for name, role in scheduler.roles.items() if landmarks.values(role)]
    floors = [name for name, role in scheduler.roles.items() if role in ("floor", "floor rate")]
    counted = {role for role in scheduler.roles.values() if role in ("warmup", "decay")}
    names = [name for name in names if scheduler.roles[name].removesuffix(" share") not in counted
             or not scheduler.roles[name].endswith(" share")]  # fmt: skip
    tried = [*(landmarks.values(scheduler.roles[name]) for name in names), *scheduler.choices.values()]
    size = landmarks.shares.size
    last = np.array([size - 1.0]) + framework.first_step
    for values in product(*tried):
        arguments = dict(zip([*names, *scheduler.choices], values, strict=True)) | dict(scheduler.fixed)
        if not floors:
            yield arguments
            continue
        name, unit = floors[-1], peak if scheduler.roles[floors[-1]] == "floor rate" else 1.0
        try:
            fallen = float(scheduler.shares(last, size, peak, {**arguments, name: 0.0})[0])
        except (ValueError, ZeroDivisionError):
            continue
        floor = (float(landmarks.shares[-1]) - fallen) / (1.0 - fallen) if fallen < 1.0 else 0.0
        yield {**arguments, name: min(tidy(floor * unit), unit) if floor > _CLOSE else 0.0}


def _compared(
    framework: Framework, name: str, arguments: Mapping[str, Any], shares: Array, peak: float, best: Match | None
) -> Match | None:
    """The match, None where it is no better than the ``best`` so far."""
    size = shares.size
    some = np.unique(np.linspace(0, size - 1, min(_LOOK, size)).astype(int))
    scheduler = framework.schedulers[name]
    for steps in (some, np.arange(size)):
        try:
            theirs = scheduler.shares((steps + framework.first_step).astype(np.float64), size, peak, arguments)
        except (ValueError, ZeroDivisionError):
            return None
        apart = np.nan_to_num(np.abs(theirs - shares[steps]), nan=np.inf)
        worst = int(np.argmax(apart))
        if best is not None and apart[worst] >= best.off:
            return None
    return Match(name, arguments, float(apart[worst]), int(steps[worst]))
