"""The pass over a schedule's past, compiled: the memory of every mode carried from change to change."""

from __future__ import annotations

from functools import partial

import numpy as np

from fsl_num.compiled import compiled
from fsl_num.curves.plan import Steps
from fsl_num.validation import Array


@compiled
def summed_up_to(sources: Array, seen: Steps) -> Array:
    """The sums of the first ``seen`` of the sources, (channels, changes), for each recorded step: (recorded, channels).

    In the order of the changes, as the cumulative sum of numpy; ``seen`` must not fall.
    """
    sums = np.empty((seen.size, sources.shape[0]))
    for channel in range(sources.shape[0]):
        total, done = 0.0, 0
        for row in range(seen.size):
            for change in range(done, seen[row]):
                total += sources[channel, change]
            done = seen[row]
            sums[row, channel] = total
    return sums


@partial(compiled, reordered=True)
def add_held(sources: Array, weights: Array, seen: Steps, decay: Array, aged: Array, state: Array, sums: Array) -> None:
    """Add to ``sums`` (recorded, channels, weights) what these modes still hold of the sources at the recorded steps.

    ``sources``: (channels, changes); ``weights``: (weights, modes); ``seen``: changes before each recorded step;
    ``decay``: (changes, modes), over the time before each change; ``aged``: (recorded, modes), over the time since the
    last change before it; ``state``: (channels, modes), zeros.
    """
    channels, modes = state.shape
    held = np.empty(modes)
    done = 0
    for row in range(seen.size):
        for change in range(done, seen[row]):
            for channel in range(channels):
                source = sources[channel, change]
                for mode in range(modes):
                    state[channel, mode] = state[channel, mode] * decay[change, mode] + source
        done = seen[row]
        for channel in range(channels):
            for mode in range(modes):
                held[mode] = state[channel, mode] * aged[row, mode]
            for index in range(weights.shape[0]):
                total = 0.0
                for mode in range(modes):
                    total += weights[index, mode] * held[mode]
                sums[row, channel, index] += total
