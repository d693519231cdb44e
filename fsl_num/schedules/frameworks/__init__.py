"""Schedules as training frameworks name them: ``hf:warmup_stable_decay(num_warmup_steps=200, num_decay_steps=900)``.

Each framework has a file with the formula of its schedulers at every step, as the framework evaluates it; the first
update is step 0, where the framework itself does not count otherwise. ``peak`` is the base rate of the optimiser.

>>> from fsl_num.schedules.frameworks import from_framework
>>> from_framework("megatron:WSD(lr_wsd_decay_iters=2, lr_wsd_decay_style='linear')", peak=1.0, steps=4).tolist()
[1.0, 1.0, 1.0, 0.5]
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from fsl_num.schedules.frameworks.base import Framework, Scheduler
from fsl_num.schedules.frameworks.maxtext import MAXTEXT
from fsl_num.schedules.frameworks.megatron import MEGATRON
from fsl_num.schedules.frameworks.names import Call, read, written
from fsl_num.schedules.frameworks.nanotron import NANOTRON
from fsl_num.schedules.frameworks.olmo import OLMO
from fsl_num.schedules.frameworks.optax import OPTAX
from fsl_num.schedules.frameworks.torch import TORCH
from fsl_num.schedules.frameworks.torchtitan import TORCHTITAN
from fsl_num.schedules.frameworks.transformers import TRANSFORMERS
from fsl_num.validation import Array, affordable, positive, whole_count

FRAMEWORKS: Final[Mapping[str, Framework]] = MappingProxyType(
    {
        "torch": TORCH,
        "optax": OPTAX,
        "transformers": TRANSFORMERS,
        "megatron": MEGATRON,
        "torchtitan": TORCHTITAN,
        "olmo": OLMO,
        "nanotron": NANOTRON,
        "maxtext": MAXTEXT,
    }
)
"""Name -> framework."""

_PREFIXES: Final = {spelled: name for name, framework in FRAMEWORKS.items() for spelled in (name, *framework.aliases)}

_BYTES_OF_A_STEP: Final = 96  # a dozen numbers, of the parts of a formula

__all__ = ["FRAMEWORKS", "Call", "Framework", "Scheduler", "called", "from_framework", "read", "written"]


def called(text: str) -> tuple[str, Call] | None:
    """Return the framework and the call that a text such as ``hf:linear(num_warmup_steps=9)`` names; None where none.

    Raises ValueError where the framework is known, but no such scheduler, or where the rest is no call.

    >>> called("hf:linear(num_warmup_steps=9)")
    ('transformers', linear(num_warmup_steps=9))
    >>> called("cosine") is None
    True
    """
    prefix, colon, call_text = text.partition(":")
    framework = _PREFIXES.get(prefix.strip().lower())
    if not colon or framework is None:
        return None
    call = read(call_text)
    if call.name not in FRAMEWORKS[framework].schedulers:
        known = ", ".join(FRAMEWORKS[framework].schedulers)
        raise ValueError(f"{framework} has no scheduler {call.name!r} that is known here; the names are {known}")
    return framework, call


def from_framework(text: str, *, peak: float, steps: int) -> Array:
    """Return the learning rate of every update that the framework would use.

    ``text``: framework, scheduler and its arguments, as :func:`called` reads them; ``peak``: the base rate of the
    optimiser, positive; ``steps``: updates in all, a whole number. Raises ValueError or TypeError for a name or
    arguments that the framework does not have, and where it would give a negative rate or none.

    >>> from_framework("torchtitan:lr_scheduler(warmup_steps=2)", peak=1.0, steps=6).tolist()
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    """
    named = called(text)
    if named is None:
        raise ValueError(f"{text!r} names no framework; it begins with one of {', '.join(_PREFIXES)} and a colon")
    framework, call = named
    count, base = whole_count("steps", steps), positive("peak", peak)
    affordable("steps", count, _BYTES_OF_A_STEP, "take fewer steps, with a larger learning rate in each")
    try:
        rates = FRAMEWORKS[framework].rates(call.name, base, count, _nested(framework, call, base, count))
    except ZeroDivisionError as error:
        raise ValueError(f"{framework}:{call.name}: an argument is 0 that divides others") from error
    except (TypeError, ValueError) as error:
        raise type(error)(f"{framework}:{call.name}: {error}") from error
    bad = np.flatnonzero(~(np.isfinite(rates) & (rates >= 0.0)))
    if bad.size:
        raise ValueError(
            f"{framework}:{call.name} would give update {int(bad[0])} the rate {float(rates[bad[0]])!r}: are its"
            f" arguments made for {count} updates?"
        )
    return rates


def _nested(framework: str, call: Call, peak: float, steps: int) -> dict[str, object]:
    """The arguments, with a scheduler among them as the function of the step that it is."""

    def value(argument: object) -> object:
        if isinstance(argument, list):
            return [value(argument) for argument in argument]
        if not isinstance(argument, Call):
            return argument
        scheduler = FRAMEWORKS[framework].schedulers.get(argument.name)
        if scheduler is None:
            raise ValueError(f"there is no scheduler {argument.name!r}")
        inner = _nested(framework, argument, peak, steps)
        return lambda k: scheduler.shares(k, steps, peak, inner)

    return {name: value(argument) for name, argument in call.arguments.items()}
