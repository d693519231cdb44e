"""Logs of runs that were resumed from a checkpoint: what was done again counts once."""

from __future__ import annotations

import numpy as np

from fsl_num.curves.columns import plain
from fsl_num.curves.curve import CurveError
from fsl_num.curves.runs import Series
from fsl_num.curves.tables import numbers

_DISORDER = 0.1  # of the rows have a step below that of the row before: no resumed run, but rows in disorder


def kept_last(series: Series) -> tuple[Series, int]:
    """Return a series without what a resumed run did again, and how many rows were dropped: the last ones count.

    >>> from fsl_num.curves.tables import Table
    >>> table = Table({}, [])
    >>> again = Series("loss", np.array([1.0, 2, 3, 2, 3]), np.array([5.0, 4, 3, 4, 2]), np.arange(5), None, table)
    >>> [part.tolist() for part in (kept_last(again)[0].step, kept_last(again)[0].values)]
    [[1.0, 2.0, 3.0], [5.0, 4.0, 2.0]]
    """
    later = np.minimum.accumulate(np.append(series.step, np.inf)[::-1])[::-1][1:]
    kept = series.step < later
    return series.keep(kept), int((~kept).sum())


def check_resumed(series: Series) -> None:
    """Raise CurveError where steps fall that no resumed run did again: in rows in disorder, or anew in every epoch.

    >>> from fsl_num.curves.tables import Table
    >>> table = Table({}, [])
    >>> check_resumed(Series("loss", np.array([1.0, 2, 3, 2, 3]), np.ones(5), np.arange(5), None, table))
    """
    step = series.step
    falls = np.flatnonzero(np.diff(step) < 0.0)
    if falls.size > max(_DISORDER * step.size, 1):
        raise CurveError(
            f"the steps fall at {falls.size} of {step.size} rows, more often than runs are resumed: sort the rows by"
            " their steps",
            int(series.rows[falls[0] + 1]),
        )
    anew = falls[step[falls + 1] <= step[0]]
    if not anew.size:
        return
    epochs = next((name for name in series.table.columns if plain(name) == "epoch"), None)
    grows = False
    if epochs is not None:
        count = numbers(series.table, epochs, "epoch", missing=True)[np.isin(series.table.rows, series.rows)]
        grows = count.size == step.size and bool((np.diff(count)[anew] > 0.0).all())
    if grows or (anew.size > 1 and np.ptp(step[anew]) == 0.0):
        raise CurveError(
            f"the steps begin anew {anew.size} times, with each epoch: nothing was done again, and the last epoch alone"
            " is no run; add the steps of the epochs before to those of each",
            int(series.rows[anew[0] + 1]),
        )
