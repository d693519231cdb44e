"""The schedulers of OLMo-core, which counts the first update as step 1: the last update has the lowest rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fsl_num.schedules.frameworks.base import SHAPES, Formula, Framework, Scheduler, share_of, three_phases
from fsl_num.validation import Array


def _steps_of(name: str, count: Any, fraction: Any, total: int) -> int:
    if (count is None) == (fraction is None):
        raise ValueError(f"exactly one of {name} and {name}_fraction must be given, the other be None")
    return round(total * fraction) if count is None else int(count)


def _constant(k: Array, steps: int, peak: float) -> Array:
    return np.ones_like(k)


def _with_warmup(fall: Callable[[Array], Array]) -> Formula:
    """A scheduler with a warmup, whose rest falls with the share done of it; the warmup ends where that begins."""

    def formula(
        k: Array,
        steps: int,
        peak: float,
        *,
        warmup: Any = None,
        warmup_fraction: Any = None,
        alpha_f: float = 0.1,
        t_max: Any = None,
        warmup_min_lr: float = 0.0,
    ) -> Array:
        total = t_max or steps
        count = _steps_of("warmup", warmup, warmup_fraction, total)
        done = np.clip((k - count) / max(total - count, 1), 0.0, 1.0)
        after, top = (alpha_f + (1.0 - alpha_f) * fall(share) for share in (done, np.array(0.0)))
        rise = top * _rise(k, count, warmup_min_lr, peak * float(top))
        return np.where(k < count, rise, np.where(k >= total, alpha_f, after))

    return formula


_cosine = _with_warmup(SHAPES["cosine"])


def _cosine_and_linear(
    k: Array,
    steps: int,
    peak: float,
    *,
    warmup: Any = None,
    warmup_fraction: Any = None,
    alpha_f: float = 0.1,
    t_max: Any = None,
    warmup_min_lr: float = 0.0,
    decay: Any = None,
    decay_fraction: Any = 0.1,
    decay_min_lr: float = 0.0,
) -> Array:
    """The cosine, cut short where the decay begins: from there the rate falls linearly."""
    last = _steps_of("decay", decay, decay_fraction, steps)
    own = {"warmup": warmup, "warmup_fraction": warmup_fraction, "alpha_f": alpha_f, "t_max": t_max}
    shares: Array = _cosine(np.append(k, steps - last), steps, peak, warmup_min_lr=warmup_min_lr, **own)
    low, top = share_of(decay_min_lr, peak), shares[-1]
    tail = low + (top - low) * (steps - k) / max(last, 1)
    return np.where(k >= steps - last, tail, shares[:-1])


def _rise(k: Array, warmup: int, warmup_min_lr: float, peak: float) -> Array:
    low = share_of(warmup_min_lr, peak)
    return low + (1.0 - low) * np.minimum(k / max(warmup, 1), 1.0)


def _constant_with_warmup(
    k: Array, steps: int, peak: float, *, warmup: Any = None, warmup_fraction: Any = None, warmup_min_lr: float = 0.0
) -> Array:
    count = _steps_of("warmup", warmup, warmup_fraction, steps)
    return np.where(k <= count, _rise(k, count, warmup_min_lr, peak), 1.0)


def _inverse_sqrt(
    k: Array,
    steps: int,
    peak: float,
    *,
    warmup: Any = None,
    warmup_fraction: Any = None,
    alpha_f: float = 0.1,
    warmup_min_lr: float = 0.0,
) -> Array:
    count = _steps_of("warmup", warmup, warmup_fraction, steps)
    after = alpha_f + (1.0 - alpha_f) * np.sqrt(count / k)
    return np.where(k < count, _rise(k, count, warmup_min_lr, peak), after)


def _wsd(
    k: Array,
    steps: int,
    peak: float,
    *,
    warmup: Any = None,
    warmup_fraction: Any = None,
    decay: Any = None,
    decay_fraction: Any = 0.1,
    warmup_min_lr: float = 0.0,
    decay_min_lr: float = 0.0,
) -> Array:
    first = _steps_of("warmup", warmup, warmup_fraction, steps)
    last = _steps_of("decay", decay, decay_fraction, steps)
    phases = three_phases(k, first, steps - last, last, SHAPES["linear"], share_of(decay_min_lr, peak))
    return np.where(k <= first, _rise(k, first, warmup_min_lr, peak), phases)


def _power(
    k: Array,
    steps: int,
    peak: float,
    *,
    b: float = -0.51,
    warmup: Any = None,
    warmup_fraction: Any = None,
    decay: Any = None,
    decay_fraction: Any = 0.1,
    warmup_min_lr: float = 0.0,
    decay_min_lr: float = 0.0,
) -> Array:
    first = _steps_of("warmup", warmup, warmup_fraction, steps)
    last, low = _steps_of("decay", decay, decay_fraction, steps), share_of(decay_min_lr, peak)
    if first == 0:
        raise ValueError("PowerLR falls with the steps over those of its warmup, which must be at least 1, got 0")
    slow = (np.minimum(k, steps - last) / first) ** b
    left = np.minimum((steps - k) / max(last, 1), 1.0)
    return np.where(
        k <= first, _rise(k, first, warmup_min_lr, peak), np.where(k < steps - last, slow, low + (slow - low) * left)
    )


def _periods(
    k: Array,
    steps: int,
    peak: float,
    *,
    period_lengths: Sequence[int],
    period_lr_multipliers: Any = None,
    warmup: Any = None,
    warmup_fraction: Any = None,
    decay: Any = None,
    decay_fraction: Any = None,
    warmup_min_lr: float = 0.0,
    decay_min_lr: float = 0.0,
) -> Array:
    """Several stable phases, each with its decay; the warmup belongs to the first."""
    low = share_of(decay_min_lr, peak)
    tops = [1.0] * len(period_lengths) if period_lr_multipliers is None else list(period_lr_multipliers)
    first = _steps_of("warmup", warmup, warmup_fraction, period_lengths[0])
    shares, end = np.full_like(k, low), 0
    for number, (length, top) in enumerate(zip(period_lengths, tops, strict=True)):
        begin, end = end, end + length
        last = _steps_of("decay", decay, decay_fraction, length)
        if last + (first if number == 0 else 0) > length:
            raise ValueError(f"a period of {length} steps has no room for its warmup and its decay of {last} steps")
        left = np.clip((end - k) / max(last, 1), 0.0, 1.0)
        inside = (k > begin) & (k <= end) & (k < sum(period_lengths))
        shares = np.where(inside, np.where(k < end - last, top, low + (top - low) * left), shares)
    return np.where(k < first, tops[0] * _rise(k, first, warmup_min_lr, peak * tops[0]), shares)


def _write(name: str, arguments: Mapping[str, Any], peak: float, steps: int) -> str:
    inside = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"lr={peak!r}  # of the optimizer\nmax_duration=Duration.steps({steps})\nscheduler={name}({inside})\n"


_WARMUP = {"warmup": "warmup", "warmup_fraction": "warmup share", "warmup_min_lr": "rate"}
_ALPHA = {**_WARMUP, "alpha_f": "floor", "t_max": "total"}
_DECAY = {**_WARMUP, "decay": "decay", "decay_fraction": "decay share", "decay_min_lr": "floor rate"}
_COUNTED = {"decay_fraction": None}
OLMO = Framework(
    {
        "ConstantScheduler": Scheduler(_constant),
        "ConstantWithWarmup": Scheduler(_constant_with_warmup, _WARMUP),
        "LinearWithWarmup": Scheduler(_with_warmup(SHAPES["linear"]), _ALPHA),
        "CosWithWarmup": Scheduler(_cosine, _ALPHA),
        "WSD": Scheduler(_wsd, _DECAY, fixed=_COUNTED),
        "InvSqrtWithWarmup": Scheduler(_inverse_sqrt, {**_WARMUP, "alpha_f": "floor"}),
        "PowerLR": Scheduler(_power, {**_DECAY, "b": "power of step"}, fixed=_COUNTED),
        "HalfCosWithWarmup": Scheduler(
            _with_warmup(lambda done: 0.5 * (1.0 - np.sin(0.5 * np.pi * done))), _ALPHA, top=0.5
        ),
        "CosWithWarmupAndLinearDecay": Scheduler(
            _cosine_and_linear, {**_ALPHA, **_DECAY, "alpha_f": "floor before"}, fixed=_COUNTED
        ),
        "WSDS": Scheduler(_periods, _DECAY),
    },
    _write,
    first_step=1,
    aliases=("olmo-core",),
)
