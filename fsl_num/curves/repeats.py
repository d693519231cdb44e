"""Runs that were trained alike, up to some update, and still differ: what no law of the schedule can predict."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

from fsl_num.curves.curve import LossCurve
from fsl_num.validation import Array

_ROWS: Final = 8  # of both runs, that the mean of their difference is of more than noise
_SAME: Final = 1e-6  # relative: rates written with seven digits
_ONE_RUN: Final = 0.5  # of the rows alike to the last digit: branches of one run, which say nothing of another


def seed_variance(curves: Sequence[LossCurve]) -> tuple[float, tuple[tuple[str, str], ...]]:
    """Return the variance of log loss by which runs trained alike differ as a whole, and the pairs that show it.

    Two curves are compared up to the update where their learning rates, batches or model sizes part, over the rows that
    both have in the last half of it; the mean difference squared is twice the variance. Curves with the same losses
    there are branches of one run. 0 and no pair where no two runs were trained alike.

    >>> rates, steps = [0.1] * 40, np.arange(1, 41)
    >>> first, second = (LossCurve(steps, 2 + c / steps, lr=rates, name=f"{c}") for c in (1.0, 1.1))
    >>> variance, pairs = seed_variance([first, second])
    >>> round(variance**0.5, 4), pairs
    (0.0012, (('1.0', '1.1'),))
    """
    differences = {(i, j): _difference(curves[i], curves[j]) for i, j in combinations(range(len(curves)), 2)}
    run = list(range(len(curves)))
    for (i, j), difference in differences.items():
        if difference.size and (difference == 0.0).mean() > _ONE_RUN:
            run = [run[i] if index == run[j] else index for index in run]
    longest: dict[frozenset[int], tuple[int, int]] = {}
    for pair, difference in sorted(differences.items(), key=lambda entry: entry[1].size):
        runs = frozenset(run[i] for i in pair)
        if difference.size >= _ROWS and len(runs) == 2:
            longest[runs] = pair
    squares = [0.5 * float(differences[pair].mean()) ** 2 for pair in longest.values()]
    return float(np.mean(squares or [0.0])), tuple((curves[i].name, curves[j].name) for i, j in longest.values())


def _difference(first: LossCurve, second: LossCurve) -> Array:
    """Log loss of one less that of the other, at the rows of both in the last half of what they share."""
    a, b = first.plan, second.plan
    updates = min(a.rates.size, b.rates.size)
    alike = np.isclose(a.rates[:updates], b.rates[:updates], rtol=_SAME, atol=0.0)
    alike &= (
        np.broadcast_to(a.batch_sizes, a.rates.shape)[:updates]
        == np.broadcast_to(b.batch_sizes, b.rates.shape)[:updates]
    )
    shared = updates if alike.all() else int(alike.argmin())
    if a.model_size != b.model_size or shared == 0:
        return np.zeros(0)
    steps, i, j = np.intersect1d(a.recorded, b.recorded, return_indices=True)
    kept = np.flatnonzero((steps <= shared) & (a.times[steps] >= 0.5 * a.times[shared]))
    if shared < updates:
        kept = kept[:-1]  # rates that are known at rows alone may part a row before they are seen to
    return np.asarray(np.log(first.observed[i[kept]]) - np.log(second.observed[j[kept]]))
