"""Schedules of optax; the peak is what they call peak_value or init_value, so these are not given as arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from fsl_num.schedules.frameworks.base import Framework, Scheduler, share_of
from fsl_num.validation import Array, real_number


def _cosine(k: Array, steps: int, peak: float, *, decay_steps: int, alpha: float = 0.0, exponent: float = 1.0) -> Array:
    left = 0.5 * (1.0 + np.cos(np.pi * np.minimum(k / decay_steps, 1.0)))
    return alpha + (1.0 - alpha) * left**exponent


def _warmup_cosine(
    k: Array,
    steps: int,
    peak: float,
    *,
    warmup_steps: int,
    decay_steps: int,
    init_value: float = 0.0,
    end_value: float = 0.0,
    exponent: float = 1.0,
) -> Array:
    """``decay_steps`` includes the warmup."""
    low, end = share_of(init_value, peak), share_of(end_value, peak)
    rise = low + (1.0 - low) * np.minimum(k / max(warmup_steps, 1), 1.0)
    after = _cosine(np.maximum(k - warmup_steps, 0.0), steps, peak, decay_steps=decay_steps - warmup_steps, alpha=end,
                   exponent=exponent)  # fmt: skip
    return np.where(k < warmup_steps, rise, after)


def _polynomial(
    k: Array,
    steps: int,
    peak: float,
    *,
    end_value: float,
    power: float,
    transition_steps: int,
    transition_begin: int = 0,
) -> Array:
    low = share_of(end_value, peak)
    left = 1.0 - np.clip(k - transition_begin, 0.0, transition_steps) / transition_steps
    return low + (1.0 - low) * left**power


def _linear(
    k: Array, steps: int, peak: float, *, end_value: float, transition_steps: int, transition_begin: int = 0
) -> Array:
    span = {"transition_steps": transition_steps, "transition_begin": transition_begin}
    return _polynomial(k, steps, peak, end_value=end_value, power=1.0, **span)


def _exponential(
    k: Array,
    steps: int,
    peak: float,
    *,
    transition_steps: int,
    decay_rate: float,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: Any = None,
) -> Array:
    """``end_value``: the least rate of a decay, the largest where the rates grow."""
    if transition_steps == 0 or decay_rate == 0.0:  # as it says itself, a constant rate
        return np.ones_like(k)
    part = np.maximum(k - transition_begin, 0.0) / transition_steps
    share = decay_rate ** (np.floor(part) if staircase else part)
    if end_value is None:
        return share
    end = real_number("end_value", end_value) / peak
    return np.maximum(share, end) if decay_rate < 1.0 else np.minimum(share, end)


OPTAX = Framework(
    {
        "cosine_decay_schedule": Scheduler(_cosine, {"decay_steps": "total", "alpha": "floor"}),
        "warmup_cosine_decay_schedule": Scheduler(_warmup_cosine, {"warmup_steps": "warmup", "decay_steps": "total"}),
        "polynomial_schedule": Scheduler(_polynomial, {"transition_steps": "total", "transition_begin": "start"}),
        "linear_schedule": Scheduler(_linear, {"transition_steps": "total", "transition_begin": "start"}),
        "exponential_decay": Scheduler(_exponential, {"transition_steps": "total", "transition_begin": "start"}),
    },
)
