"""What the schedulers of training frameworks have in common: a formula for each step, and arguments with a meaning."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from fsl_num.validation import Array, real_number, whole_size

SHAPES: Final[Mapping[str, Callable[[Array], Array]]] = {
    "linear": lambda x: 1.0 - x,
    "cosine": lambda x: 0.5 * (1.0 + np.cos(np.pi * x)),
    "1-sqrt": lambda x: 1.0 - np.sqrt(x),
    "exponential": lambda x: 2.0 * 0.5**x - 1.0,
}
"""Shape of a decay -> what is left of it after a share x of its steps: from 1 to 0."""

COUNTS: Final = ("warmup", "decay", "start", "total")
"""Roles of arguments that count steps."""
_SHARES: Final = ("floor", "floor before", "warmup share", "decay share")

Formula = Callable[..., Array]
"""formula(k, steps, peak, **arguments): rate at each step k of ``steps``, as a share of the peak."""


def shape(name: Any, also: Mapping[str, str] | None = None, known: Iterable[str] = tuple(SHAPES)) -> Any:
    """Return the decay of that name; ``also``: how a framework spells some, ``known``: those that it has.

    >>> float(shape("sqrt", {"sqrt": "1-sqrt"})(np.array(0.25)))
    0.5
    >>> shape("square", known=("linear", "cosine"))
    Traceback (most recent call last):
    ValueError: there is no decay 'square' here: choose linear or cosine
    """
    spelled = {name: name for name in known} if also is None else dict(also)
    if name not in spelled:
        raise ValueError(f"there is no decay {name!r} here: choose {' or '.join(spelled)}")
    return SHAPES[spelled[name]]


def three_phases(
    k: Array, warmup: int, start: int, decay: int, fall: Callable[[Array], Array], floor: float = 0.0
) -> Array:
    """Return the shares of the peak of a warmup, a stable phase, and a decay that begins at step ``start``.

    ``warmup``: its steps, linear from 0; ``decay``: its steps, after which the share is ``floor``;
    ``fall``: its shape. Raises ValueError where the decay begins within the warmup.

    >>> three_phases(np.arange(7.0), 2, 4, 2, SHAPES["linear"], 0.5).tolist()
    [0.0, 0.5, 1.0, 1.0, 1.0, 0.75, 0.5]
    """
    if start < warmup:
        raise ValueError(f"the decay would begin at step {start}, within the {warmup} steps of the warmup")
    rise = np.minimum(k / max(warmup, 1), 1.0)
    left = fall(np.clip((k - start) / decay, 0.0, 1.0)) if decay else np.zeros_like(k)
    return np.where(k < warmup, rise, np.where(k < start, 1.0, floor + (1.0 - floor) * left))


@dataclass(frozen=True)
class Scheduler:
    """A scheduler of a framework.

    ``roles``: what an argument means: a count of steps ("warmup", "decay", "start" of the decay, "total"), a share of
    them ("warmup share", "decay share"), the floor as a "floor" share of the peak or a "floor rate", that of what a
    straight line cuts short ("floor before"), a "power", one of the number of the step ("power of step"), or a
    "timescale"; arguments without a role keep their default in exports. ``choices``: texts, and those tried in exports.
    ``fixed``: what exports always give. ``top``: where with a floor of 0 the warmup ends, as a share of the base rate.
    """

    formula: Formula
    roles: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    top: float = 1.0

    @property
    def arguments(self) -> Mapping[str, inspect.Parameter]:
        """What it takes besides step, steps and peak."""
        return {
            name: parameter
            for name, parameter in inspect.signature(self.formula).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }

    def shares(self, k: Array, steps: int, peak: float, arguments: Mapping[str, Any]) -> Array:
        """Return the rates at steps ``k`` as shares of the peak; ValueError or TypeError for arguments out of range.

        >>> from fsl_num.schedules.frameworks import FRAMEWORKS
        >>> linear = FRAMEWORKS["transformers"].schedulers["linear"]
        >>> linear.shares(np.arange(4.0), 4, 0.1, {"num_warmup_steps": 2}).tolist()
        [0.0, 0.5, 1.0, 0.5]
        """
        self._check(arguments)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(self.formula(k, steps, peak, **arguments), dtype=np.float64)
        return np.broadcast_to(values, k.shape)

    def _check(self, arguments: Mapping[str, Any]) -> None:
        known = self.arguments
        unknown = [name for name in arguments if name not in known]
        required = [name for name, parameter in known.items() if parameter.default is parameter.empty]
        missing = [name for name in required if name not in arguments]
        if unknown or missing:
            fault = f"has no {', '.join(unknown)}" if unknown else f"needs {', '.join(missing)}"
            raise TypeError(f"it {fault}; its arguments are {', '.join(known) or 'none'}")
        for name, value in arguments.items():
            role = self.roles.get(name, "")
            if value is None or name in self.choices:
                continue
            if role in COUNTS:
                whole_size(name, value, infinite=False, least=0)
            elif role in _SHARES and not 0.0 <= real_number(name, value) <= 1.0:
                raise ValueError(f"{name} must lie in [0, 1], got {value!r}")


@dataclass(frozen=True)
class Framework:
    """A framework: its ``schedulers`` by name, how its arguments are written, and which step it counts first.

    ``write(name, arguments, peak, steps)`` gives the text that a user pastes, None for a framework that takes a
    function; ``first_step``: the number that it gives to the first update, 0 or 1; ``aliases``: other names of it.
    """

    schedulers: Mapping[str, Scheduler]
    write: Callable[[str, Mapping[str, Any], float, int], str] | None = None
    first_step: int = 0
    aliases: tuple[str, ...] = ()

    def rates(self, name: str, peak: float, steps: int, arguments: Mapping[str, Any]) -> Array:
        """Return the learning rate of every update.

        >>> from fsl_num.schedules.frameworks import FRAMEWORKS
        >>> FRAMEWORKS["olmo"].rates("WSD", 1.0, 5, {"warmup": 2, "decay": 2, "decay_fraction": None}).tolist()
        [0.5, 1.0, 1.0, 0.5, 0.0]
        """
        k = np.arange(steps, dtype=np.float64) + self.first_step
        return peak * self.schedulers[name].shares(k, steps, peak, arguments)


def share_of(floor_rate: Any, peak: float) -> float:
    """Return a lowest rate as a share of the peak, checked.

    >>> share_of(0.25, 0.5)
    0.5
    """
    rate = real_number("the lowest rate", floor_rate)
    if not 0.0 <= rate <= peak:
        raise ValueError(f"the lowest rate must lie between 0 and the peak {peak:g}, got {rate:g}")
    return rate / peak
