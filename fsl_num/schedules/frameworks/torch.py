"""The schedulers of torch.optim.lr_scheduler: the base rate of the optimiser is the peak."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fsl_num.schedules.frameworks.base import Framework, Scheduler, share_of
from fsl_num.validation import Array, entries, finite_array

Nested = Callable[[Array], Array]


def _constant(k: Array, steps: int, peak: float, *, factor: float = 1 / 3, total_iters: int = 5) -> Array:
    return np.where(k < total_iters, factor, 1.0)


def _linear(
    k: Array, steps: int, peak: float, *, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5
) -> Array:
    return start_factor + (end_factor - start_factor) * np.minimum(k / total_iters, 1.0)


def _polynomial(k: Array, steps: int, peak: float, *, total_iters: int = 5, power: float = 1.0) -> Array:
    return np.maximum(1.0 - k / total_iters, 0.0) ** power


def _exponential(k: Array, steps: int, peak: float, *, gamma: float) -> Array:
    return gamma**k


def _step(k: Array, steps: int, peak: float, *, step_size: int, gamma: float = 0.1) -> Array:
    return gamma ** np.floor(k / step_size)


def _multi_step(k: Array, steps: int, peak: float, *, milestones: Sequence[int], gamma: float = 0.1) -> Array:
    places = finite_array("milestones", entries("milestones", milestones))
    return gamma ** np.searchsorted(np.sort(places), k, side="right").astype(np.float64)


def _wave(part: Array, eta_min: float, peak: float) -> Array:
    low = share_of(eta_min, peak)
    return low + (1.0 - low) * 0.5 * (1.0 + np.cos(np.pi * part))


def _cosine(k: Array, steps: int, peak: float, *, T_max: int, eta_min: float = 0.0) -> Array:
    return _wave(k / T_max, eta_min, peak)


def _warm_restarts(k: Array, steps: int, peak: float, *, T_0: int, T_mult: int = 1, eta_min: float = 0.0) -> Array:
    if T_mult == 1:
        return _wave((k % T_0) / T_0, eta_min, peak)
    ends = np.cumsum(T_0 * float(T_mult) ** np.arange(64.0))
    cycle = np.searchsorted(ends, k, side="right")
    begin = np.concatenate([[0.0], ends])[cycle]
    return _wave((k - begin) / (T_0 * float(T_mult) ** cycle), eta_min, peak)


def _one_cycle(
    k: Array,
    steps: int,
    peak: float,
    *,
    total_steps: Any = None,
    pct_start: float = 0.3,
    anneal_strategy: str = "cos",
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
    three_phase: bool = False,
) -> Array:
    """The rate that rises from 1/div_factor to the peak and falls to a share 1/final_div_factor of where it began."""
    total, first = total_steps or steps, 1.0 / div_factor
    if anneal_strategy not in ("cos", "linear"):
        raise ValueError(f"anneal_strategy must be cos or linear, got {anneal_strategy!r}")
    places, values = [0.0, pct_start * total - 1, total - 1.0], [first, 1.0, first / final_div_factor]
    if three_phase:
        places, values = [*places[:2], 2.0 * pct_start * total - 2, total - 1.0], [first, 1.0, first, values[-1]]
    at = np.clip(np.searchsorted(places, k, side="left"), 1, len(places) - 1)
    low, high = np.array(places)[at - 1], np.array(places)[at]
    part = (k - low) / (high - low)
    left = 1.0 - part if anneal_strategy == "linear" else 0.5 * (1.0 + np.cos(np.pi * part))
    begin, end = np.array(values)[at - 1], np.array(values)[at]
    return np.where(k > total, np.nan, end + (begin - end) * left)  # behind its end torch refuses to go on


def _sequential(k: Array, steps: int, peak: float, *, schedulers: Sequence[Nested], milestones: Sequence[int]) -> Array:
    places = finite_array("milestones", entries("milestones", milestones))
    if len(entries("schedulers", schedulers)) != places.size + 1 or not all(
        callable(scheduler) for scheduler in schedulers
    ):
        raise ValueError(
            f"one scheduler more than milestones is needed, got {len(schedulers)} and {places.size}, as in"
            " SequentialLR(schedulers=[LinearLR(total_iters=9), CosineAnnealingLR(T_max=90)], milestones=[9])"
        )
    at = np.searchsorted(places, k, side="right")
    shares = [scheduler(k - begin) for scheduler, begin in zip(schedulers, [0.0, *places], strict=True)]
    return np.stack(shares)[at, np.arange(k.size)]


TORCH = Framework(
    {
        "ConstantLR": Scheduler(_constant, {"total_iters": "total"}),
        "LinearLR": Scheduler(_linear, {"total_iters": "total"}),
        "PolynomialLR": Scheduler(_polynomial, {"total_iters": "total"}),
        "ExponentialLR": Scheduler(_exponential),
        "StepLR": Scheduler(_step, {"step_size": "total"}),
        "MultiStepLR": Scheduler(_multi_step),
        "CosineAnnealingLR": Scheduler(_cosine, {"T_max": "total"}),
        "CosineAnnealingWarmRestarts": Scheduler(_warm_restarts, {"T_0": "total"}),
        "OneCycleLR": Scheduler(_one_cycle, {"total_steps": "total"}),
        "SequentialLR": Scheduler(_sequential),
    },
    aliases=("pytorch",),
)
