"""In which unit the losses of a log stand: nats, bits or perplexities."""

from __future__ import annotations

import math

import numpy as np

from fsl_num.curves.columns import meaning, plain
from fsl_num.curves.curve import CurveError
from fsl_num.curves.runs import Series
from fsl_num.curves.tables import numbers
from fsl_num.validation import Array

_LARGEST_LOSS = 20.0
"""A loss in nats begins near the log of the vocabulary, at most 14 for a million words; a perplexity lies above."""
_SAME = 0.02  # two losses of one row that differ by less are one, in two units


def in_nats(loss: Series, unit: str) -> tuple[Array, str]:
    """Return the losses in nats, and the unit in which they stood; ``unit``: "auto" as names and columns tell it.

    Raises CurveError for a perplexity that is not above 1.

    >>> from fsl_num.curves.tables import Table
    >>> ppl = Series("ppl", np.ones(1), np.array([8.0]), [2], meaning("ppl"), Table({}, []))
    >>> in_nats(ppl, "auto")[0].round(3).tolist(), in_nats(ppl, "auto")[1]
    ([2.079], 'perplexity')
    """
    values = loss.values
    if unit == "auto":
        unit = loss.meaning.unit
        if unit == "nats":
            unit = _unit_beside(loss) or unit
    if unit == "bits":
        return values * math.log(2.0), unit
    if unit == "perplexity":
        bad = ~(values > 1.0) & ~np.isnan(values)
        if bad.any():
            at = int(np.argmax(bad))
            raise CurveError(f"a perplexity must be above 1, got {values[at]:g}", int(loss.rows[at]))
        return np.asarray(np.log(values)), unit
    return values, unit


def _unit_beside(loss: Series) -> str | None:
    """The unit of a loss that has its perplexity beside it, or that fairseq wrote (base 2)."""
    table = loss.table
    for name in table.columns:
        means = meaning(name)
        if means is None or means.unit != "perplexity" or means.held_out != loss.meaning.held_out:
            continue
        beside = numbers(table, name, "loss", missing=True)[np.isin(np.asarray(table.rows), loss.rows)]
        comparable = (beside > 1.0) & (loss.values > 0.0)
        if comparable.any():
            ratio = float(np.median(np.log(beside[comparable]) / loss.values[comparable]))
            if abs(ratio / math.log(2.0) - 1.0) < _SAME:
                return "bits"
            if abs(ratio - 1.0) < _SAME:
                return "nats"
    return "bits" if any(plain(name).endswith("numupdates") for name in table.columns) else None


def check_losses(loss: Series, values: Array, unit: str) -> None:
    """Raise CurveError for losses that are too large for nats, where nobody said that they are.

    ``values``: in nats; ``unit``: what was said.

    >>> from fsl_num.curves.tables import Table
    >>> seen = np.array([50.0, 49.0])
    >>> check_losses(Series("loss", np.arange(2.0), seen, [2, 3], meaning("loss"), Table({}, [])), seen, "nats")
    """
    if unit != "auto" or values.size == 0 or not np.isfinite(values).all():
        return
    middle, first = float(np.median(values)), float(values[0])
    at_start = loss.step[0] < loss.step[-1] / 10
    if middle > _LARGEST_LOSS or (at_start and first > _LARGEST_LOSS and first == values.max()):
        raise CurveError(
            f"the loss is {first:g} at first and {middle:g} in the middle, more than any loss in nats a token: is it a"
            " perplexity? Say loss_unit='perplexity' (--loss-unit perplexity), or 'nats' to take it as it is",
            int(loss.rows[0]) if middle <= _LARGEST_LOSS else None,
        )
