"""Learning rates step by step, under the names that people use: what one run of stochastic gradient descent takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fsl_num.schedules import SCHEDULES
from fsl_num.validation import Array, positive, whole_size


def eight_one_one(peak: float, steps: int) -> Array:
    """Return the rates of the schedule 8-1-1: the peak, from 80% of the steps on the peak over sqrt(10), and over 10
    from 90% on (Appendix, multi-step schedule).

    >>> eight_one_one(1.0, 10).round(3).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.316, 0.1]
    """
    k = np.arange(steps)
    return np.asarray(peak * np.where(10 * k < 8 * steps, 1.0, np.where(10 * k < 9 * steps, math.sqrt(0.1), 0.1)))


def cyclic(peak: float, steps: int, final: float, cycles: int) -> Array:
    """Return triangular waves: in each of ``cycles`` cycles from ``final`` straight up to ``peak`` and down again.

    >>> cyclic(1.0, 8, 0.0, 2).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0, 0.5]
    """
    phase = (np.arange(steps) * (cycles / steps)) % 1.0
    return np.asarray(final + (peak - final) * (1.0 - np.abs(2.0 * phase - 1.0)))


_STEPWISE: Final[Mapping[str, Callable[..., Array]]] = MappingProxyType({"cyclic": cyclic, "8-1-1": eight_one_one})
_OF_STEPS: Final = MappingProxyType({"cyclic": ("final", "cycles"), "8-1-1": ()})

STEP_SCHEDULES: Final = (*SCHEDULES, *_STEPWISE)
"""The names that :func:`step_rates` accepts."""

_FINAL_SHARE: Final = MappingProxyType({"exp-decay": 0.01, "wsd": 0.1, "cyclic": 0.1})
_DEFAULTS: Final[Mapping[str, float]] = MappingProxyType({"decay_fraction": 0.2, "cycles": 4, "power": 1.0})


def parameters_of(name: str) -> tuple[str, ...]:
    """Return what the schedule called ``name`` takes besides peak and steps; raise ValueError for an unknown name.

    >>> parameters_of("wsd"), parameters_of("8-1-1")
    (('final', 'decay_fraction'), ())
    """
    if name in _STEPWISE:
        return _OF_STEPS[name]
    if name not in SCHEDULES:
        raise ValueError(f"unknown schedule {name!r}; the names are {', '.join(STEP_SCHEDULES)}")
    return tuple(field.name for field in fields(SCHEDULES[name]) if field.name not in ("peak", "steps", "batch_size"))


def step_rates(name: str, *, peak: Any, steps: Any, **parameters: Any) -> Array:
    """Return the learning rates eta_0 .. eta_{K-1} of the schedule called ``name``: phi at the start of each step.

    ``name``: constant, exp-decay, wsd, power-decay, cosine, linear, cyclic or 8-1-1. ``peak`` > 0 and ``steps`` (a
    whole number) always; ``final`` (of exp-decay peak/100, of wsd and cyclic peak/10, of cosine and linear 0, unless
    given), ``decay_fraction`` of wsd (0.2), ``power`` (1) and ``cycles`` (4) where the schedule has them. Raises
    ValueError for an unknown name or a number out of range, TypeError for a parameter that the schedule does not have.

    >>> step_rates("linear", peak=0.1, steps=4).tolist()
    [0.1, 0.07500000000000001, 0.05, 0.025]
    >>> step_rates("cyclic", peak=0.2, steps=4, final=0.0, cycles=1).tolist()
    [0.0, 0.1, 0.2, 0.1]
    """
    top, count = positive("peak", peak), int(whole_size("steps", steps, infinite=False))
    known = parameters_of(name)
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise TypeError(f"schedule {name!r} has no {', '.join(unknown)}; besides peak and steps it takes {known}")
    chosen = {key: value for key, value in parameters.items() if value is not None}
    if "final" in known and "final" not in chosen and name in _FINAL_SHARE:
        chosen["final"] = _FINAL_SHARE[name] * top
    for key, default in _DEFAULTS.items():
        if key in known and key not in chosen:
            chosen[key] = default
    if name not in _STEPWISE:
        kind = SCHEDULES[name]
        missing = [field.name for field in fields(kind) if field.default is MISSING and field.name in known]
        assert set(missing) <= set(chosen), "a default for every parameter of a named schedule"
        plan = kind(peak=top, steps=count, **chosen)
        return np.asarray(plan.learning_rate(np.arange(count, dtype=np.float64)))
    if "final" in chosen:
        chosen["final"] = positive("final", chosen["final"], zero=True)
        if chosen["final"] > top:
            raise ValueError(f"final must be at most peak, got final={chosen['final']!r}, peak={top!r}")
    if "cycles" in chosen:
        chosen["cycles"] = int(whole_size("cycles", chosen["cycles"], infinite=False))
    return _STEPWISE[name](top, count, **chosen)
