"""The schedulers of transformers: multipliers of a LambdaLR, the first update at step 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsl_num.schedules.frameworks.base import Framework, Scheduler, shape, share_of, three_phases
from fsl_num.validation import Array

_DECAYS = ("linear", "cosine", "1-sqrt")


def _part(k: Array, warmup: int, total: int) -> Array:
    """The share of the steps after the warmup that is done."""
    return (k - warmup) / max(total - warmup, 1)


def _after_warmup(k: Array, warmup: int, after: Array) -> Array:
    return np.where(k < warmup, k / max(warmup, 1), after)


def _constant(k: Array, steps: int, peak: float) -> Array:
    return np.ones_like(k)


def _constant_with_warmup(k: Array, steps: int, peak: float, *, num_warmup_steps: int) -> Array:
    return _after_warmup(k, num_warmup_steps, np.ones_like(k))


def _linear(k: Array, steps: int, peak: float, *, num_warmup_steps: int, num_training_steps: Any = None) -> Array:
    left = 1.0 - _part(k, num_warmup_steps, num_training_steps or steps)
    return _after_warmup(k, num_warmup_steps, np.maximum(left, 0.0))


def _cosine(
    k: Array, steps: int, peak: float, *, num_warmup_steps: int, num_training_steps: Any = None, num_cycles: float = 0.5
) -> Array:
    part = _part(k, num_warmup_steps, num_training_steps or steps)
    return _after_warmup(k, num_warmup_steps, _wave(part, num_cycles, 0.0))


def _wave(part: Array, num_cycles: float, floor: float) -> Array:
    return floor + (1.0 - floor) * 0.5 * (1.0 + np.cos(2.0 * np.pi * num_cycles * part))


def _floor(min_lr: Any, min_lr_rate: Any, peak: float) -> float:
    if (min_lr is None) == (min_lr_rate is None):
        raise ValueError("exactly one of min_lr and min_lr_rate must be given, as the framework itself asks")
    return float(min_lr_rate) if min_lr is None else share_of(min_lr, peak)


def _cosine_with_min_lr(
    k: Array,
    steps: int,
    peak: float,
    *,
    num_warmup_steps: int,
    num_training_steps: Any = None,
    num_cycles: float = 0.5,
    min_lr: Any = None,
    min_lr_rate: Any = None,
) -> Array:
    part = _part(k, num_warmup_steps, num_training_steps or steps)
    return _after_warmup(k, num_warmup_steps, _wave(part, num_cycles, _floor(min_lr, min_lr_rate, peak)))


def _cosine_warmup_with_min_lr(
    k: Array,
    steps: int,
    peak: float,
    *,
    num_warmup_steps: int,
    num_training_steps: Any = None,
    num_cycles: float = 0.5,
    min_lr: Any = None,
    min_lr_rate: Any = None,
    warmup_lr_rate: Any = None,
) -> Array:
    """It counts the first update as step 1 but for a warmup from ``warmup_lr_rate``: the last has the lowest rate."""
    part = _part(k + 1.0, num_warmup_steps, num_training_steps or steps)
    if warmup_lr_rate is None:
        rise = (k + 1.0) / max(num_warmup_steps, 1)
    else:
        rise = warmup_lr_rate + (1.0 - warmup_lr_rate) * k / max(num_warmup_steps - 1, 1)
    return np.where(k < num_warmup_steps, rise, _wave(part, num_cycles, _floor(min_lr, min_lr_rate, peak)))


def _restarts(
    k: Array, steps: int, peak: float, *, num_warmup_steps: int, num_training_steps: Any = None, num_cycles: int = 1
) -> Array:
    part = _part(k, num_warmup_steps, num_training_steps or steps)
    wave = 0.5 * (1.0 + np.cos(np.pi * ((num_cycles * part) % 1.0)))
    return _after_warmup(k, num_warmup_steps, np.where(part >= 1.0, 0.0, wave))


def _polynomial(
    k: Array,
    steps: int,
    peak: float,
    *,
    num_warmup_steps: int,
    num_training_steps: Any = None,
    lr_end: float = 1e-7,
    power: float = 1.0,
) -> Array:
    floor = share_of(lr_end, peak)
    left = np.maximum(1.0 - _part(k, num_warmup_steps, num_training_steps or steps), 0.0)
    return _after_warmup(k, num_warmup_steps, floor + (1.0 - floor) * left**power)


def _inverse_sqrt(k: Array, steps: int, peak: float, *, num_warmup_steps: int, timescale: Any = None) -> Array:
    scale = timescale or num_warmup_steps or 10_000
    return _after_warmup(k, num_warmup_steps, 1.0 / np.sqrt(np.maximum(k - num_warmup_steps, 0.0) / scale + 1.0))


def _warmup_stable_decay(
    k: Array,
    steps: int,
    peak: float,
    *,
    num_warmup_steps: int,
    num_decay_steps: int,
    num_training_steps: Any = None,
    num_stable_steps: Any = None,
    warmup_type: str = "linear",
    decay_type: str = "cosine",
    min_lr_ratio: float = 0.0,
    num_cycles: float = 0.5,
) -> Array:
    if num_stable_steps is None:
        num_stable_steps = (num_training_steps or steps) - num_warmup_steps - num_decay_steps
    start = num_warmup_steps + num_stable_steps
    fall = shape(decay_type, known=_DECAYS)
    if decay_type == "cosine" and num_cycles != 0.5:

        def fall(x: Array) -> Array:
            return np.where(x < 1.0, 0.5 * (1.0 + np.cos(2.0 * np.pi * num_cycles * x)), 0.0)

    phases = three_phases(k, num_warmup_steps, start, num_decay_steps, fall, min_lr_ratio)
    rise = 1.0 - shape(warmup_type, known=_DECAYS)(np.minimum(k / max(num_warmup_steps, 1), 1.0))
    if warmup_type == "1-sqrt":  # runs backwards: slow at first
        rise = 1.0 - np.sqrt(1.0 - np.minimum(k / max(num_warmup_steps, 1), 1.0))
    return np.where(k < num_warmup_steps, min_lr_ratio + (1.0 - min_lr_ratio) * rise, phases)


def _write(name: str, arguments: Mapping[str, Any], peak: float, steps: int) -> str:
    own = {key: value for key, value in arguments.items() if key != "num_warmup_steps"}
    lines = [f"learning_rate={peak!r},", f"max_steps={steps},", f'lr_scheduler_type="{name}",']
    if "num_warmup_steps" in arguments:
        lines.append(f"warmup_steps={arguments['num_warmup_steps']},")
    if own:
        lines.append(f"lr_scheduler_kwargs={own!r},")
    return "TrainingArguments(\n" + "".join(f"    {line}\n" for line in lines) + ")\n"


_WARMUP = {"num_warmup_steps": "warmup"}
_TOTAL = {**_WARMUP, "num_training_steps": "total"}
_FLOORS = {**_TOTAL, "min_lr": "floor rate", "min_lr_rate": "floor"}
TRANSFORMERS = Framework(
    {
        "constant": Scheduler(_constant),
        "constant_with_warmup": Scheduler(_constant_with_warmup, _WARMUP),
        "linear": Scheduler(_linear, _TOTAL),
        "cosine": Scheduler(_cosine, _TOTAL),
        "cosine_with_restarts": Scheduler(_restarts, _TOTAL),
        "cosine_with_min_lr": Scheduler(_cosine_with_min_lr, _FLOORS),
        "cosine_warmup_with_min_lr": Scheduler(_cosine_warmup_with_min_lr, _FLOORS),
        "warmup_stable_decay": Scheduler(
            _warmup_stable_decay,
            {**_TOTAL, "num_decay_steps": "decay", "num_stable_steps": "stable", "min_lr_ratio": "floor"},
            {"decay_type": _DECAYS, "warmup_type": ("linear",)},
        ),
        "polynomial": Scheduler(_polynomial, {**_TOTAL, "lr_end": "floor rate", "power": "power"}),
        "inverse_sqrt": Scheduler(_inverse_sqrt, {**_WARMUP, "timescale": "timescale"}),
    },
    _write,
    aliases=("hf", "huggingface"),
)
"""Exact for the releases whose ``warmup_stable_decay`` starts its warmup at ``min_lr_ratio``."""
