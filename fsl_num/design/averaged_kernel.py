"""The two passes over the blocks of a schedule with a mean of its weights, compiled: back for the values, then on."""

from __future__ import annotations

import numpy as np

from fsl_num.compiled import compiled
from fsl_num.validation import Array


@compiled
def carried_into_the_mean(shares: Array, mean: Array, kept: Array) -> Array:
    """What the modes carry into the mean from the beginning of every block and from the end: (blocks + 1, modes).

    ``shares``: of the mean on each block; ``mean``, ``kept``: (blocks, modes), what is left of a mode on the average
    over a block, and at its end.
    """
    blocks, modes = mean.shape
    carried = np.empty((blocks + 1, modes))
    carried[blocks] = 1.0 - shares.sum()
    for back in range(blocks):
        block = blocks - 1 - back
        for mode in range(modes):
            carried[block, mode] = shares[block] * mean[block, mode] + kept[block, mode] * carried[block + 1, mode]
    return carried


@compiled
def slopes_of_what_is_carried(slope: Array, pulls: Array, mean: Array, kept: Array, sources: Array) -> Array:
    """The derivatives by the width of every block and by its share of the mean: (2, blocks).

    ``slope``: by what is carried from the beginning, (modes), left as that by what is carried from the end. Each of the
    others is (blocks, modes): ``pulls`` are what is carried by the width of a block, ``sources`` the derivatives by
    what is carried from the end of a block that its own noise adds.
    """
    blocks, modes = mean.shape
    slopes = np.zeros((2, blocks))
    for block in range(blocks):
        for mode in range(modes):
            slopes[0, block] += slope[mode] * pulls[block, mode]
            slopes[1, block] += slope[mode] * mean[block, mode]
            slope[mode] = slope[mode] * kept[block, mode] + sources[block, mode]
    return slopes
