"""The catalogue of schedules: their names, their parameters with defaults, and what else is taken for a schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fsl_num.schedules.base import Schedule, share_of_steps
from fsl_num.schedules.compose import with_floor, with_stable, with_warmup
from fsl_num.schedules.constant import Constant
from fsl_num.schedules.cosine import Cosine
from fsl_num.schedules.cyclic import Cyclic
from fsl_num.schedules.discrete import Discrete
from fsl_num.schedules.exponential import ExponentialDecay, StableDecay
from fsl_num.schedules.frameworks import called, from_framework, read
from fsl_num.schedules.function import from_function, values_of
from fsl_num.schedules.linear import Linear
from fsl_num.schedules.multi_step import EightOneOne, MultiStep, step_of_share
from fsl_num.schedules.power import PowerDecay
from fsl_num.schedules.square_root import InverseSqrt, OneMinusSqrt
from fsl_num.validation import Array, affordable, instance_of, positive, whole_count, whole_size

SCHEDULES: Final[Mapping[str, type[Schedule]]] = MappingProxyType(
    {
        "constant": Constant,
        "exp-decay": ExponentialDecay,
        "wsd": StableDecay,
        "power-decay": PowerDecay,
        "linear": Linear,
        "cosine": Cosine,
        "1-sqrt": OneMinusSqrt,
        "inverse-sqrt": InverseSqrt,
        "multi-step": MultiStep,
        "8-1-1": EightOneOne,
        "cyclic": Cyclic,
    }
)
"""Name -> class."""

BYTES_OF_A_STEP: Final = 64
"""What a step takes in memory: its rate, and the sums over the steps that those who use it keep."""

COMPOSED: Final = ("warmup", "floor")
"""Parameters that every name takes."""

_SHARES_OF_PEAK: Final = MappingProxyType(
    {("exp-decay", "final"): 0.01, ("wsd", "final"): 0.1, ("cyclic", "final"): 0.1}
)
_FALLS: Final = MappingProxyType({"linear": 1.0, "cosine": 1.0, "power-decay": 1.0, "1-sqrt": 0.2})
"""Decays before which a stable phase may stand -> the share of the steps that decay, unless it is given."""

_DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType(
    {"decay_fraction": 0.2, "cycles": 4, "power": 1.0, "milestones": (0.5, 0.75), "factors": (0.1, 0.01)}
)
_TIMESCALE: Final = 0.01  # of inverse-sqrt, as a share of the steps: it ends at about a tenth of the peak

_OTHER_SPELLINGS: Final = MappingProxyType(
    {"wsd-like": "wsd", "exponential-decay": "exp-decay", "linear-decay": "linear", "cosine-to-zero": "cosine"}
)


def spelling(name: str) -> str | None:
    """Return the name in the catalogue that another spelling means, None where none is known.

    >>> spelling("WSD-like"), spelling("power decay"), spelling("811"), spelling("sawtooth")
    ('wsd', 'power-decay', '8-1-1', None)
    """

    def bare(text: str) -> str:
        return "".join(letter for letter in text.lower() if letter.isalnum())

    known = {bare(schedule): schedule for schedule in SCHEDULES} | {
        bare(old): new for old, new in _OTHER_SPELLINGS.items()
    }
    return known.get(bare(name))


def is_name(text: str) -> bool:
    """Whether a text names a schedule: one of the catalogue, perhaps with parameters, or the scheduler of a framework.

    Raises ValueError where it names a framework, but no scheduler of it, or parameters that cannot be read.

    >>> is_name("cosine"), is_name("hf:linear(num_warmup_steps=9)"), is_name("cosine.csv")
    (True, True, False)
    >>> is_name("linear(decay_fraction=0.2)"), is_name("linear(2).csv")
    (True, False)
    """
    return _with_parameters(text)[0] in SCHEDULES or called(text) is not None


def _with_parameters(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of ``linear(decay_fraction=0.2)``, and any other text as it is."""
    name, opened, _ = text.partition("(")
    if name not in SCHEDULES or not opened or not text.endswith(")"):
        return text, {}
    return name, dict(read(text).arguments)


def parameters_of(name: str) -> tuple[str, ...]:
    """Return what the schedule called ``name`` takes besides peak and steps; raise ValueError for an unknown name.

    What stands in the name itself, ``linear(decay_fraction=0.2)``, is not taken besides. The scheduler of a framework
    (:mod:`fsl_num.schedules.frameworks`) has all its arguments in its name.

    >>> parameters_of("wsd"), parameters_of("8-1-1")
    (('final', 'decay_fraction', 'warmup', 'floor'), ('warmup', 'floor'))
    >>> parameters_of("linear(decay_fraction=0.2)")
    ('final', 'warmup', 'floor')
    """
    text = name
    if isinstance(name, str) and called(name) is not None:
        return ()
    name, fixed = _with_parameters(name) if isinstance(name, str) else (name, {})
    instance_of("name", name, str)
    if name not in SCHEDULES:
        meant = spelling(name) if isinstance(name, str) else None
        hint = f"it is called {meant!r}" if meant else f"the names are {', '.join(SCHEDULES)}"
        raise ValueError(f"unknown schedule {name!r}; {hint}")
    own = [field.name for field in fields(SCHEDULES[name]) if field.name not in ("peak", "steps", "batch_size")]
    known = (*own, *(["decay_fraction"] if name in _FALLS else []), *COMPOSED)
    if vain := [parameter for parameter in fixed if parameter not in known]:
        raise ValueError(f"{text!r}: {name} has no {', '.join(vain)}; in parentheses it takes {', '.join(known)}")
    return tuple(parameter for parameter in known if parameter not in fixed)


def schedule(name: str, *, peak: Any, steps: Any, batch_size: Any = 1.0, **parameters: Any) -> Schedule:
    """Return the schedule called ``name``, a name of :data:`SCHEDULES` or the scheduler of a framework.

    ``peak``: the largest learning rate; ``steps``: their number in all, the warmup included; ``batch_size``. Where the
    schedule has them: ``final`` (of exp-decay peak/100, of wsd and cyclic peak/10, else 0, unless given);
    ``decay_fraction``, the share of the steps that decay after a stable phase at the peak, of wsd and 1-sqrt (0.2), of
    linear, cosine and power-decay (1: no stable phase); ``power`` of power-decay (1); ``timescale`` of
    inverse-sqrt in steps (a hundredth of them); ``milestones`` and ``factors`` of multi-step (0.5, 0.75 and 0.1, 0.01:
    shares of steps and peak); ``cycles`` of cyclic (4). For every name: ``warmup``, the number of first steps in which
    the rate rises linearly from 0 to the peak (0); ``floor``, the rate below which it never falls after them (0). None
    stands for the default. Parameters may stand in the name itself, ``linear(decay_fraction=0.2, final=0.001)``. A
    scheduler of a framework is written with its own arguments,
    ``hf:warmup_stable_decay(num_warmup_steps=200, num_decay_steps=900)``; the prefixes are hf, torch, optax, megatron,
    torchtitan, olmo, nanotron and maxtext. Its rates are those of the framework at every update (a :class:`Discrete`).

    Raises ValueError for an unknown name or a number out of range, TypeError for a parameter that it does not have.

    >>> schedule("linear", peak=0.1, steps=10).learning_rate(5)
    0.05
    >>> schedule("cosine", peak=0.1, steps=10, warmup=2, floor=0.01).learning_rate([1, 2, 10]).tolist()
    [0.05, 0.1, 0.01]
    >>> schedule("linear", peak=0.1, steps=10, decay_fraction=0.4, final=0.05).learning_rate([6, 8]).tolist()
    [0.1, 0.07500000000000001]
    >>> schedule("1-sqrt(decay_fraction=0.4)", peak=0.1, steps=10).learning_rate([6, 7]).tolist()
    [0.1, 0.05]
    >>> schedule("hf:linear(num_warmup_steps=2)", peak=0.1, steps=4).rates.tolist()
    [0.0, 0.05, 0.1, 0.05]
    """
    known = parameters_of(name)
    unknown = sorted(set(parameters) - set(known))
    if unknown and called(name) is not None:
        raise TypeError(f"{name!r} takes no {', '.join(unknown)} besides: write the framework's own arguments in it")
    if unknown:
        raise TypeError(f"schedule {name!r} has no {', '.join(unknown)}; besides peak and steps it takes {known}")
    chosen = {key: value for key, value in parameters.items() if value is not None}
    if called(name) is not None:
        return Discrete(rates=from_framework(name, peak=peak, steps=steps), batch_sizes=batch_size)
    text = name
    name, fixed = _with_parameters(text)
    try:
        return _composed(name, peak, steps, batch_size, chosen | fixed, (*known, *fixed))
    except (TypeError, ValueError) as error:
        if str(error).split(" ")[0] in fixed:  # what is wrong is wrong in the text, where no argument can mend it
            raise type(error)(f"{text!r}: {error}") from error
        raise


def _composed(
    name: str, peak: Any, steps: Any, batch_size: Any, chosen: dict[str, Any], known: tuple[str, ...]
) -> Schedule:
    """Return a schedule of the catalogue behind its warmup and stable phase, above its floor."""
    floor, warmup = chosen.pop("floor", 0.0), positive("warmup", chosen.pop("warmup", 0.0), zero=True)
    top, count = positive("peak", peak), positive("steps", steps)
    if warmup >= count:
        raise ValueError(f"warmup must be less than the steps, got {warmup:g} of {count:g}: none is left to {name!r}")
    count -= warmup
    defaults = dict(_DEFAULTS) | {"timescale": _TIMESCALE * count}
    defaults["decay_fraction"] = _FALLS.get(name, defaults["decay_fraction"])
    if (name, "final") in _SHARES_OF_PEAK:
        defaults["final"] = _SHARES_OF_PEAK[name, "final"] * top
    chosen = {key: value for key, value in defaults.items() if key in known} | chosen
    falling = count
    if name in _FALLS:
        falling = step_of_share(share_of_steps("decay_fraction", chosen.pop("decay_fraction")), count)
    plan = SCHEDULES[name](peak=top, steps=falling, batch_size=batch_size, **chosen)
    return with_warmup(with_floor(with_stable(plan, count - falling), floor), warmup)


def as_schedule(
    given: Any, *, peak: Any = None, steps: Any = None, batch_size: Any = None, **parameters: Any
) -> Schedule:
    """Return the schedule that ``given`` stands for.

    A name: with ``peak``, ``steps`` and its parameters (:func:`schedule`). A :class:`Schedule`: itself. A function
    phi(tau) of physical time: with ``steps`` and, where it has them, its ``breaks`` (:func:`from_function`). An array:
    one learning rate a step (:class:`Discrete`). Functions take ``warmup`` too, part of the ``steps`` (phi(0) comes
    after it), and functions and arrays ``floor``. ``batch_size``: 1 by default, of a Schedule its own.

    Raises TypeError for what is none of these, or comes with what it does not take, and ValueError for bad numbers.

    >>> as_schedule([0.1, 0.2]).steps, as_schedule("constant", peak=0.1, steps=5).steps
    (2.0, 5.0)
    >>> as_schedule(lambda tau: 0.1 + 0.0 * tau, steps=5).peak
    0.1
    """
    batch = 1.0 if batch_size is None else batch_size
    if isinstance(given, str):
        if peak is None or steps is None:
            raise TypeError(f"the schedule {given!r} needs peak= and steps=")
        return schedule(given, peak=peak, steps=steps, batch_size=batch, **parameters)
    if isinstance(given, Schedule):
        _refuse("a Schedule", peak=peak, steps=steps, batch_size=batch_size, **parameters)
        return given
    if callable(given):
        floor, warmup, breaks = (parameters.pop(key, None) for key in ("floor", "warmup", "breaks"))
        _refuse("a function", peak=peak, **parameters)
        if steps is None:
            raise TypeError("a schedule given as a function needs steps=")
        count, first = positive("steps", steps), positive("warmup", warmup or 0.0, zero=True)
        if first >= count:
            raise ValueError(f"warmup must be less than the steps, got {first:g} of {count:g}: none is left to phi")
        plan = from_function(given, steps=count - first, breaks=breaks or (), batch_size=batch)
        return with_warmup(with_floor(plan, floor or 0.0), first)
    floor = parameters.pop("floor", None)
    _refuse("an array of learning rates", peak=peak, steps=steps, **parameters)
    return with_floor(Discrete(rates=given, batch_sizes=batch), floor or 0.0)


def _refuse(reason: str, **parameters: Any) -> None:
    """Refuse what was given in vain."""
    vain = [f"{name}=" for name, value in parameters.items() if value is not None]
    if vain:
        raise TypeError(f"{reason} as the schedule takes no {' and no '.join(vain)}")


def step_rates(given: Any, *, peak: Any = None, steps: Any = None, **parameters: Any) -> Array:
    """Return the learning rates eta_0 .. eta_{K-1} of a schedule: phi at the start of each step, after a jump there.

    ``given`` and the rest as in :func:`as_schedule`: a name of :data:`SCHEDULES`, a Schedule, a function phi(tau) or
    the rates themselves; ``steps`` a whole number. Raises ValueError for an unknown name or a number out of range,
    TypeError for a parameter that the schedule does not have.

    >>> step_rates("linear", peak=0.1, steps=4).tolist()
    [0.1, 0.07500000000000001, 0.05, 0.025]
    >>> step_rates("cyclic", peak=0.2, steps=4, final=0.0, cycles=1).tolist()
    [0.0, 0.1, 0.2, 0.1]
    >>> step_rates(lambda tau: 1.0 / (1.0 + tau), steps=3).round(3).tolist()
    [1.0, 0.5, 0.333]
    """
    if steps is not None:
        steps = whole_size("steps", steps, infinite=False)
        affordable("steps", steps, BYTES_OF_A_STEP, "take fewer steps, with a larger learning rate in each")
    if callable(given) and not isinstance(given, Schedule) and steps is not None and not set(parameters) - {"breaks"}:
        _refuse("a function", peak=peak)
        return values_of(given, np.arange(steps)).copy()  # no polynomials where the function itself is asked
    plan = as_schedule(given, peak=peak, steps=steps, **parameters)
    if isinstance(plan, Discrete):
        return np.array(plan.rates)
    nearest = float(round(plan.steps))  # parts that were put together add up to the whole with rounding
    together = nearest if abs(nearest - plan.steps) <= 1e-13 * nearest else plan.steps
    count = whole_count("steps", together)
    affordable("steps", count, BYTES_OF_A_STEP, "take fewer steps, with a larger learning rate in each")
    return np.asarray(plan.learning_rate(np.arange(count, dtype=np.float64)))


def batch_sizes_of(given: Any) -> Any:
    """Return the batch size, or one a step, of a Schedule; 1 of anything else that :func:`as_schedule` takes.

    >>> batch_sizes_of(Constant(peak=0.1, steps=5, batch_size=4)), batch_sizes_of("constant")
    (4.0, 1.0)
    """
    if isinstance(given, Discrete):
        return given.batch_sizes
    return given.batch_size if isinstance(given, Schedule) else 1.0
