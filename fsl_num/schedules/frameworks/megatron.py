"""The options of Megatron-LM (--lr-decay-style and those with it), in iterations of a constant global batch size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fsl_num.schedules.frameworks.base import Framework, Scheduler, shape, share_of, three_phases
from fsl_num.validation import Array

_WSD_DECAYS = {"linear": "linear", "cosine": "cosine", "exponential": "exponential", "minus_sqrt": "1-sqrt"}


def _first(k: Array, lr_warmup_iters: int, lr_warmup_init: float, peak: float, after: Array) -> Array:
    init = share_of(lr_warmup_init, peak)
    rise = init + (1.0 - init) * k / max(lr_warmup_iters, 1)
    return np.where((k <= lr_warmup_iters) & (lr_warmup_iters > 0), rise, after)


def _constant(k: Array, steps: int, peak: float, *, lr_warmup_iters: int = 0, lr_warmup_init: float = 0.0) -> Array:
    return _first(k, lr_warmup_iters, lr_warmup_init, peak, np.ones_like(k))


def _annealed(style: str) -> Any:
    def formula(
        k: Array,
        steps: int,
        peak: float,
        *,
        lr_warmup_iters: int = 0,
        lr_decay_iters: Any = None,
        min_lr: float = 0.0,
        lr_warmup_init: float = 0.0,
    ) -> Array:
        total, low = lr_decay_iters or steps, share_of(min_lr, peak)
        after = three_phases(k, lr_warmup_iters, lr_warmup_iters, total - lr_warmup_iters, shape(style), low)
        return _first(k, lr_warmup_iters, lr_warmup_init, peak, after)

    return formula


def _wsd(
    k: Array,
    steps: int,
    peak: float,
    *,
    lr_wsd_decay_iters: int,
    lr_wsd_decay_style: str = "exponential",
    lr_warmup_iters: int = 0,
    lr_decay_iters: Any = None,
    min_lr: float = 0.0,
    lr_warmup_init: float = 0.0,
) -> Array:
    start = (lr_decay_iters or steps) - lr_wsd_decay_iters
    fall = shape(lr_wsd_decay_style, _WSD_DECAYS)
    after = three_phases(k, lr_warmup_iters, start, lr_wsd_decay_iters, fall, share_of(min_lr, peak))
    return _first(k, lr_warmup_iters, lr_warmup_init, peak, after)


def _inverse(
    k: Array,
    steps: int,
    peak: float,
    *,
    lr_warmup_iters: int = 0,
    lr_decay_iters: Any = None,
    min_lr: float = 0.0,
    lr_warmup_init: float = 0.0,
) -> Array:
    low = share_of(min_lr, peak)
    after = np.maximum(np.sqrt(max(lr_warmup_iters, 1) / np.maximum(k, 1.0)), low)
    after = np.where(k > (lr_decay_iters or steps), low, after)
    return _first(k, lr_warmup_iters, lr_warmup_init, peak, after)


def _write(name: str, arguments: Mapping[str, Any], peak: float, steps: int) -> str:
    options = {"lr": peak, "train_iters": steps, "lr_decay_iters": steps, "lr_decay_style": name, **arguments}
    return " \\\n".join(f"--{key.replace('_', '-')} {value}" for key, value in options.items()) + "\n"


_ROLES = {"lr_warmup_iters": "warmup", "lr_decay_iters": "total", "min_lr": "floor rate"}
MEGATRON = Framework(
    {
        "constant": Scheduler(_constant, {"lr_warmup_iters": "warmup"}),
        "linear": Scheduler(_annealed("linear"), _ROLES),
        "cosine": Scheduler(_annealed("cosine"), _ROLES),
        "WSD": Scheduler(_wsd, {**_ROLES, "lr_wsd_decay_iters": "decay"}, {"lr_wsd_decay_style": tuple(_WSD_DECAYS)}),
        "inverse-square-root": Scheduler(_inverse, _ROLES),
    },
    _write,
    aliases=("megatron-lm",),
)
