"""The section lr_scheduler of torchtitan: its warmup ends one update early, its decay one update late."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsl_num.schedules.frameworks.base import Framework, Scheduler, shape
from fsl_num.validation import Array

_DECAYS = {"linear": "linear", "sqrt": "1-sqrt", "cosine": "cosine"}


def _formula(
    k: Array,
    steps: int,
    peak: float,
    *,
    warmup_steps: int = 200,
    total_steps: Any = None,
    decay_ratio: Any = None,
    decay_type: str = "linear",
    min_lr_factor: float = 0.0,
) -> Array:
    total = total_steps or steps
    warmup = min(warmup_steps, total)
    decay = total - warmup if decay_ratio is None else min(round(total * decay_ratio), total - warmup)
    done = np.maximum(k - (total - decay), 0.0) / decay if decay else np.zeros_like(k)  # goes on behind total_steps
    after = min_lr_factor + (1.0 - min_lr_factor) * shape(decay_type, _DECAYS)(done)
    return np.where(k < warmup, (k + 1.0) / max(warmup, 1), after)


def _write(name: str, arguments: Mapping[str, Any], peak: float, steps: int) -> str:
    lines = [f"{key} = {_toml(value)}" for key, value in arguments.items() if value is not None]
    return "\n".join(
        ["[optimizer]", f"lr = {peak!r}", "", "[training]", f"steps = {steps}", "", f"[{name}]", *lines, ""]
    )


def _toml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


_ROLES = {"warmup_steps": "warmup", "total_steps": "total", "decay_ratio": "decay share", "min_lr_factor": "floor"}
TORCHTITAN = Framework({"lr_scheduler": Scheduler(_formula, _ROLES, {"decay_type": tuple(_DECAYS)})}, _write)
