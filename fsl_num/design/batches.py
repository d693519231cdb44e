"""Batch sizes of given learning rates that together make a given gamma over intrinsic time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from fsl_num.schedules.catalogue import step_rates
from fsl_num.schedules.discrete import Discrete, running_sums
from fsl_num.validation import Array

_MOST_STEPS: Final = 10**7
_ROUNDED: Final = 1e-9


def batches_at(
    peak: float, schedule: str, parameters: Mapping[str, Any], gammas: Array, samples: Array, unstable: float
) -> Discrete:
    """Return steps of a schedule, as many as the horizon takes, with the batch sizes at which rate over batch is gamma.

    Parameters
    ----------
    peak, schedule, parameters
        The largest rate, and a name and parameters that :func:`~fsl_num.schedules.schedule` takes.
    gammas, samples
        Gamma on blocks of so many samples, in time order; the horizon is the sum of their products.
    unstable
        The rate from which on single steps diverge.

    Raises
    ------
    ValueError
        Where a batch would be below one sample, a step would diverge, or the steps would be none or more than 10^7.

    Examples
    --------
    >>> made = batches_at(0.5, "linear", {"floor": 0.25}, np.array([0.1, 0.05]), np.array([40.0, 80.0]), 2.0)
    >>> made.batch_sizes.sum(), bool(abs(made.rates.sum() - 8.0) < 1e-12)
    (np.float64(120.0), True)
    """
    time, seen = running_sums(gammas * samples), running_sums(samples)
    horizon = float(time[-1])
    if peak >= unstable:
        raise ValueError(
            f"learning_rate must be below 2 over the largest eigenvalue, {unstable:.6g}, got {peak:.6g}: single steps"
            " diverge, however large the batch"
        )
    if peak < gammas.max() * (1.0 - _ROUNDED):
        raise ValueError(
            f"learning_rate must be at least the largest gamma, {gammas.max():.6g}, got {peak:.6g}: its batches would"
            " be below one sample; design again with gamma at most that rate"
        )
    rates = _rates_for(horizon, peak, schedule, parameters)
    rates *= horizon / rates.sum()
    ends = np.minimum(running_sums(rates), horizon)
    seen_by_then = np.interp(ends, time, seen)
    needed = np.diff(seen_by_then)
    least = float(needed.min())
    if least < 1.0 - _ROUNDED:
        step = int(needed.argmin())
        enough = f"rates {1.0 / least:.4g} times as large" if least > 0.0 else "no warmup from 0"
        raise ValueError(
            f"the learning rate must be at least gamma, but at step {step} of {rates.size} that of {schedule} is"
            f" {rates[step]:.4g}, and its batch would be below one sample ({least:.3g}): give a floor, or {enough},"
            " or design again with a smaller gamma at most"
        )
    return Discrete(rates=rates, batch_sizes=np.maximum(np.diff(np.floor(seen_by_then + 0.5)), 1.0))


def _rates_for(horizon: float, peak: float, schedule: str, parameters: Mapping[str, Any]) -> Array:
    """The rates of as many steps as add up to at most the horizon."""
    shortest = int(min(horizon / peak * (1.0 + 1e-12), 2.0 * _MOST_STEPS))

    def rates(steps: int) -> Array:
        if not 1 <= steps <= _MOST_STEPS:
            raise ValueError(
                f"learning_rate = {peak:.6g} with {schedule} takes {horizon / peak:.4g} steps or more for the horizon"
                f" {horizon:.4g}; from 1 to {_MOST_STEPS:,} are needed"
            )
        return step_rates(schedule, peak=peak, steps=steps, **parameters)

    if schedule == "constant" and not any(parameters.values()):
        return rates(shortest)
    few = max(shortest, int(parameters.get("warmup") or 0) + 1)
    if rates(few).sum() > horizon * (1.0 + _ROUNDED):
        raise ValueError(
            f"the warmup of {few - 1} steps up to {peak:.6g} takes an intrinsic time beyond the horizon {horizon:.4g}:"
            " shorten it"
        )
    many = 2 * few
    while rates(min(many, _MOST_STEPS)).sum() <= horizon:
        if many >= _MOST_STEPS:
            rates(many + 1)
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (middle, many) if rates(middle).sum() <= horizon * (1.0 + 1e-12) else (few, middle)
    return rates(few)
