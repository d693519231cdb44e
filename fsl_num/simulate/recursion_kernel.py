"""The recursion of the second moments, compiled."""

from __future__ import annotations

from functools import partial
from typing import Any

from fsl_num.compiled import compiled
from fsl_num.validation import Array


@partial(compiled, reordered=True)
def total_of(values: Array) -> float:
    """Return the sum of all."""
    total = 0.0
    for k in range(values.size):
        total += values[k]
    return total


@compiled
def march_moments(
    rates: Array, excess: Array, batches: Array, eigenvalues: Array, weights: Array, state: Array,
    noise: float, tail: float, recorded: Any, losses: Array,
) -> None:  # fmt: skip
    """Fill ``losses`` with 2E = tail + sum x before the first step and after the steps ``recorded``, which rise.

    ``excess``: (kappa - 2)/B of each step. Increments are added with compensation, as their rounding would add up.
    """
    lost = 0.0 * state
    following = 0
    for k in range(rates.size + 1):
        loss = tail + total_of(state)
        if following < recorded.size and recorded[following] == k:
            losses[following] = loss
            following += 1
        if k == rates.size or rates[k] == 0.0:
            continue
        eta, factor, gain = rates[k], 1.0 + excess[k], rates[k] ** 2 / batches[k] * (loss + noise)
        for j in range(state.size):
            turn = eta * eigenvalues[j]
            change = (state[j] * (turn * (factor * turn - 2.0)) + gain * weights[j]) - lost[j]
            new = state[j] + change
            lost[j] = (new - state[j]) - change
            state[j] = new
