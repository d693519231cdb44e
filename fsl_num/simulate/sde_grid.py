r"""The steps of Euler and Maruyama in the two clocks, and what their scheme expects exactly.

In physical time a step of training is cut into equal parts of physical time; with phi = eta/h on it, a part of length
h/n advances the intrinsic time by phi h/n = eta/n and adds noise of the strength phi^2 (h/b) (h/n) = (eta/n) eta/B,
whatever h. In intrinsic time the clock itself is cut into equal parts, which know nothing of the steps of training,
and gamma is integrated over each. So a step is known by ``lengths`` dt and ``variances`` int gamma dt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.schedules.discrete import steps_and_batches
from fsl_num.validation import Array, one_of, whole_count

CLOCKS = ("physical", "intrinsic")
"""The names of the two times."""


@dataclass(frozen=True, eq=False)
class Grid:
    """``lengths``: intrinsic time of each step of the scheme; ``variances``: the integral of gamma over it;
    ``records``: after how many of them each recorded step of training is over."""

    lengths: Array
    variances: Array
    records: Any

    @property
    def ends(self) -> Array:
        """The intrinsic times between the steps, from 0 on."""
        return np.concatenate([[0.0], np.cumsum(self.lengths)])


def checked_steps(rates: Any, batch_sizes: Any) -> tuple[Array, Array]:
    """Return learning rates eta_k >= 0 and batch sizes B_k > 0 as arrays of one length.

    Raises ValueError or TypeError where they are out of range, of another shape, or where every rate is 0.

    >>> checked_steps([0.1, 0.2], 4)[1].tolist()
    [4.0, 4.0]
    """
    eta, batches = steps_and_batches(rates, batch_sizes)
    if not eta.any():
        raise ValueError("rates must hold a positive one: with all of them 0 neither clock moves")
    return eta, np.broadcast_to(batches, eta.shape)


def checked_clock(time: Any) -> str:
    """Return ``time`` where it is "physical" or "intrinsic"; raise ValueError otherwise.

    >>> checked_clock("intrinsic")
    'intrinsic'
    """
    return one_of("time", time, CLOCKS)


def scheme_grid(time: str, rates: Array, batches: Array, substeps: Any, recorded: Any) -> Grid:
    """Return the steps of the scheme in one clock; ``recorded``: the steps to record of training, from 0 to the last.

    ``substeps`` n: each step of training in n parts, or in intrinsic time parts of at most the largest rate over n.

    >>> rates, ones = np.array([0.4, 0.1, 0.1]), np.ones(3)
    >>> scheme_grid("physical", rates, ones, 2, np.array([0, 3])).lengths.tolist()
    [0.2, 0.2, 0.05, 0.05, 0.05, 0.05]
    >>> grid = scheme_grid("intrinsic", rates, ones, 2, np.array([0, 3]))
    >>> grid.lengths.round(12).tolist(), grid.variances.round(12).tolist(), grid.records.tolist()
    ([0.2, 0.2, 0.2], [0.08, 0.08, 0.02], [0, 3])
    """
    count = whole_count("substeps", substeps)
    if time == "physical":
        return Grid(
            np.repeat(rates / count, count), np.repeat(rates / count * (rates / batches), count), recorded * count
        )
    starts = np.concatenate([[0.0], np.cumsum(rates)])
    noise = np.concatenate([[0.0], np.cumsum(rates**2 / batches)])
    at = starts[recorded]
    longest = float(rates.max()) / count
    # a whole number of parts but for rounding is not given one part more
    parts = np.ceil(np.diff(at) / longest * (1.0 - 1e-12)).astype(np.int64)
    records = np.concatenate([[0], np.cumsum(parts)])
    used = parts > 0
    lengths = np.repeat(np.diff(at)[used] / parts[used], parts[used])
    index = np.arange(lengths.size) - np.repeat(records[:-1][used], parts[used])
    begin = np.repeat(at[:-1][used], parts[used])
    edges = np.append(begin + index * lengths, starts[-1])
    variances = np.diff(np.interp(edges, starts, noise))
    return Grid(lengths, variances, records)
