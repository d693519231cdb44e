"""The section lr_scheduler of nanotron, with the decays of its release 0.4 and 1-sqrt, which came later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsl_num.schedules.frameworks.base import Framework, Scheduler, shape, share_of, three_phases
from fsl_num.validation import Array

_DECAYS = ("linear", "cosine", "1-sqrt")


def _formula(
    k: Array,
    steps: int,
    peak: float,
    *,
    lr_warmup_steps: int = 0,
    lr_warmup_style: str = "linear",
    lr_decay_style: str = "linear",
    lr_decay_steps: Any = None,
    lr_decay_starting_step: Any = None,
    min_decay_lr: float = 0.0,
) -> Array:
    if lr_warmup_style not in ("linear", "constant"):
        raise ValueError(f"lr_warmup_style must be linear or constant, got {lr_warmup_style!r}")
    start = lr_warmup_steps if lr_decay_starting_step is None else lr_decay_starting_step
    decay = steps - lr_warmup_steps - (lr_decay_starting_step or 0) if lr_decay_steps is None else lr_decay_steps
    low = share_of(min_decay_lr, peak)
    phases = three_phases(k, lr_warmup_steps, start, decay, shape(lr_decay_style, known=_DECAYS), low)
    return np.where(k <= lr_warmup_steps, 1.0, phases) if lr_warmup_style == "constant" else phases


def _write(name: str, arguments: Mapping[str, Any], peak: float, steps: int) -> str:
    own = {"learning_rate": peak, "lr_warmup_style": "linear", **arguments}
    lines = [f"    {key}: {value}" for key, value in own.items()]
    return "\n".join(["tokens:", f"  train_steps: {steps}", "optimizer:", "  learning_rate_scheduler:", *lines, ""])


_ROLES = {
    "lr_warmup_steps": "warmup",
    "lr_decay_steps": "decay",
    "lr_decay_starting_step": "start",
    "min_decay_lr": "floor rate",
}
NANOTRON = Framework({"lr_scheduler": Scheduler(_formula, _ROLES, {"lr_decay_style": _DECAYS})}, _write)
