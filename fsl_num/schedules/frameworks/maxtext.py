"""The learning-rate schedules of MaxText: shares of the steps, cut down to whole ones, and the end at the last step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsl_num.schedules.frameworks.base import Framework, Scheduler, shape, three_phases
from fsl_num.validation import Array

_DECAYS = ("linear", "cosine")


def _cosine(
    k: Array,
    steps: int,
    peak: float,
    *,
    warmup_steps_fraction: float = 0.1,
    learning_rate_final_fraction: float = 0.1,
    learning_rate_schedule_steps: Any = None,
) -> Array:
    total = learning_rate_schedule_steps or steps
    warmup = int(total * warmup_steps_fraction)
    return _until(k, total, warmup, warmup, total - warmup - 1, "cosine", learning_rate_final_fraction)


def _wsd(
    k: Array,
    steps: int,
    peak: float,
    *,
    warmup_steps_fraction: float = 0.1,
    wsd_decay_steps_fraction: float = 0.1,
    wsd_decay_style: str = "linear",
    learning_rate_final_fraction: float = 0.1,
    learning_rate_schedule_steps: Any = None,
) -> Array:
    total = learning_rate_schedule_steps or steps
    warmup, decay = int(total * warmup_steps_fraction), int(total * wsd_decay_steps_fraction)
    stays = decay == 1 and wsd_decay_style == "linear"  # a decay of one step has no room to fall
    floor = 1.0 if stays else learning_rate_final_fraction
    return _until(k, total, warmup, total - decay, decay - 1, wsd_decay_style, floor)


def _until(k: Array, total: int, warmup: int, start: int, decay: int, style: str, floor: float) -> Array:
    phases = three_phases(k, warmup, start, max(decay, 0), shape(style, known=_DECAYS), floor)
    return np.where(k < total, phases, 0.0)


def _write(name: str, arguments: Mapping[str, Any], peak: float, steps: int) -> str:
    own = {"steps": steps, "learning_rate": peak, "lr_schedule_type": name, **arguments}
    return "".join(f"{key}: {value}\n" for key, value in own.items())


_ROLES = {
    "warmup_steps_fraction": "warmup share",
    "learning_rate_final_fraction": "floor",
    "learning_rate_schedule_steps": "total",
}
MAXTEXT = Framework(
    {
        "cosine": Scheduler(_cosine, _ROLES),
        "wsd": Scheduler(_wsd, {**_ROLES, "wsd_decay_steps_fraction": "decay share"}, {"wsd_decay_style": _DECAYS}),
    },
    _write,
)
"""In single precision, as MaxText runs, its rates differ from these by rounding."""
