"""What is said of a log that was read: which loss and which rate were taken where there are several, in which unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from fsl_num.curves.columns import is_noise_scale, is_smoothed, meaning, plain, split_run
from fsl_num.curves.curve import CurveError
from fsl_num.curves.runs import Series
from fsl_num.curves.tables import Table, filled, numbers
from fsl_num.results import percent, times
from fsl_num.validation import Array

LARGEST_RATE: Final = 1.5
"""Of an update: above, a rate is in other units, or a multiplier."""

_UNIT = re.compile(r"(?<![\d.])1(?:\.0*)?e[+-]?\d+|(?<!\d)10\^[+-]?\d+|%|per ?cent", re.IGNORECASE)
_ALMOST = 1.0 - 1e-3  # of a multiplier: what a cosine loses until its first row
_SPIKE, _ROWS = 10.0, 10  # a row so many times above all others, of so many rows at least, is an error of the log
_ALONE = 0.25  # of log loss: by so much a row stands out
_BESIDE, _EQUAL = 5.0, 1.5  # times above the two rows beside it, which differ by less than the other factor
_JUMP, _OTHERS, _STAYS = 0.25, 10.0, 5  # of log loss; times all other changes; for so many rows
_PROPORTIONAL = 0.01  # rounded to two digits
_ALIKE = 1e-6  # rates of groups of parameters that differ by less are one
_LEVELS = 20  # rates in so many units at most: what lies between them matters
_FALLS, _STILL = 3, 0.02  # so many falls of one unit, or so large a share of a run at the rate 0, no schedule has


def place(series: Series) -> str:
    """Return the name of a series, and where it stands.

    >>> table = Table({}, [], name="run.csv")
    >>> place(Series("loss", np.zeros(1), np.zeros(1), np.zeros(1), None, table))
    "'loss' in run.csv"
    """
    return f"{series.name!r}" + (f" in {series.table.name}" if series.table.name not in ("table", series.name) else "")


def of_losses(tables: Sequence[Table], loss: Series) -> list[str]:
    """Return which loss was taken, where there were others, and that it is a running mean.

    >>> table = Table({"step": [1], "loss": [3.0]}, [2])
    >>> of_losses([table], Series("loss", np.ones(1), np.ones(1), [2], meaning("loss"), table))
    []
    """
    passed_over = {
        name: means
        for table in tables
        for name in table.columns
        if (means := meaning(name)) is not None and means.role == "loss" and name != loss.name
        if filled(table.columns[name]).any()
    }
    said = []
    if is_smoothed(loss.name):
        said = [f"the loss {place(loss)} is a running mean, which lags behind the rates: give the losses themselves"]
    if not passed_over:
        return said
    kind = "of validation" if loss.meaning.held_out else "of training"
    shown = ", ".join(map(repr, list(passed_over)[:4]))
    return [*said, f"the loss is {place(loss)}, {kind}, {loss.step.size} rows; there too: {shown} (--columns loss=...)"]


def of_spike(rows: Sequence[int], losses: Array) -> list[str]:
    """Return which loss stands alone above those of the rows beside it, by ten times what half of the rows do.

    >>> of_spike([2, 3, 4], np.array([3.1, 310.0, 3.0]))
    ['row 3: the loss 310 is 100 times those beside it: leave the row out if it is an error or a spike']
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.log(losses[1:-1] / np.maximum(losses[:-2], losses[2:]))
    few = losses.size < _ROWS
    least = np.log(_BESIDE) if few else max(_ALONE, _OTHERS * float(np.nanmedian(np.abs(above))))
    spikes = np.flatnonzero(above > least) + 1
    if not spikes.size:
        return []
    at, count_words = int(spikes[0]), f" ({spikes.size} such rows)" if spikes.size > 1 else ""
    return [
        f"row {rows[at]}: the loss {losses[at]:g} is {times(float(np.exp(above[at - 1])))} times those beside it: leave"
        f" the row out if it is an error or a spike{count_words}"
    ]


def of_jump(rows: Sequence[int], losses: Array) -> list[str]:
    """Return from which row on the losses stand on another level, where one change is far above all others.

    >>> of_jump(range(2, 14), np.array([3.0] * 6 + [4.3] * 6))[0][:61]
    'from row 8 on the losses stand 43 % above those before: is it'
    """
    if not (losses > 0.0).all() or losses.size < 2 * _STAYS + 2:
        return []
    logs = np.log(losses)
    changes = np.abs(np.diff(logs))
    at = int(np.argmax(changes[_STAYS:-_STAYS])) + _STAYS
    largest = changes[at]
    others = np.delete(changes, at)[_STAYS - 2 :]  # the first losses of a run fall fast
    by = float(np.median(logs[at + 1 : at + 1 + _STAYS]) - np.median(logs[at + 1 - _STAYS : at + 1]))
    if largest < max(_JUMP, _OTHERS * others.max()) or abs(by) < _JUMP:
        return []
    level = f"{percent(abs(float(np.expm1(by))))} {'above' if by > 0.0 else 'below'}"
    return [
        f"from row {rows[at + 1]} on the losses stand {level} those before: is it one"
        " run, in one unit, that neither diverged nor was merged with another?"
    ]


def check_spike(rate: Series) -> None:
    """Raise CurveError where a single rate, within the log, is more than ten times all others.

    >>> check_spike(Series("lr", np.arange(9.0), np.ones(9), np.arange(2, 11), meaning("lr"), Table({}, [])))
    """
    values = np.nan_to_num(rate.values)
    if values.size < _ROWS:
        return
    at = int(np.argmax(values))
    largest = float(np.delete(values, at).max())
    if 0 < at < values.size - 1 and values[at] > _SPIKE * largest > 0.0:
        raise CurveError(
            f"the rate {values[at]:g} stands in this row alone, more than {_SPIKE:g} times all others (up to"
            f" {largest:g}); repair the cell or drop the row",
            int(rate.rows[at]),
        )


def check_no_time(rate: Series) -> None:
    """Raise CurveError where "eta" is the time that is left, which no rate of an update is as large as.

    >>> check_no_time(Series("eta", np.arange(3.0), np.full(3, 0.1), np.arange(3), meaning("eta"), Table({}, [])))
    """
    if plain(rate.name) == "eta" and np.nanmax(rate.values, initial=0.0) > LARGEST_RATE:
        raise CurveError(
            f"{place(rate)} reaches {np.nanmax(rate.values):g}: the time that is left, it seems, and no column names a"
            " learning rate; say which one it is with columns={'lr': 'NAME'} (--columns lr=NAME), or give the rates in"
            " another file of the run (LOG+RATES)"
        )


def of_noise_scales(tables: Sequence[Table]) -> list[str]:
    """Return that a gradient-noise scale is not used: without the norm of the gradient it gives no noise of the loss.

    >>> of_noise_scales([Table({"step": [1]}, [2])])
    []
    """
    return [
        f"the noise scale {name!r} is not used: the law learns the noise from the losses"
        for name in dict.fromkeys(name for table in tables for name in table.columns)
        if is_noise_scale(name)
    ]


def of_rates(rate: Series) -> list[str]:
    """Return in which unit the rates are, where it is not the usual one, and which of several groups was taken.

    >>> table = Table({"step": [1, 2], "lr/pg1": [0.1, 0.2], "lr/pg2": [0.01, 0.02]}, [2, 3])
    >>> of_rates(Series("lr/pg1", np.array([1, 2]), np.array([0.1, 0.2]), [2, 3], meaning("lr/pg1"), table))[0][:48]
    "the rate is 'lr/pg1'; that of 'lr/pg2' is 0.1 of"
    """
    said = []
    most = float(np.nanmax(rate.values, initial=0.0))
    own = split_run(rate.name)[1].rsplit("/", 1)[-1]  # a run may be named for its peak
    if (unit := _UNIT.search(own)) and "peak" not in own.lower():
        said.append(f"the name of the rate {place(rate)} says a unit, {unit[0].strip()}: predict in the same")
    elif _ALMOST <= most <= 1.0 or re.search("lrm(ult|$)", plain(rate.name)):
        said.append(f"the rate {place(rate)} is a multiplier, at most {most:g}: predict with multipliers")
    elif most > LARGEST_RATE:
        said.append(f"the rate {place(rate)} reaches {most:g}: in units of its own; predict in the same")
    said += [*_of_one_row(rate), *_of_two_units(rate), *_of_rounding(rate)]
    shares = []
    for name in rate.table.columns:
        means = meaning(name)
        if name != rate.name and means is not None and means.role == "lr" and means.rank == rate.meaning.rank:
            other = numbers(rate.table, name, "lr", missing=True)[np.isin(rate.table.rows, rate.rows)]
            share = float(np.nanmax(other, initial=0.0)) / max(most, 1e-300)
            if not np.allclose(
                other, share * rate.values, rtol=_PROPORTIONAL, atol=_PROPORTIONAL * share * most, equal_nan=True
            ):
                shares.append(f"that of {name!r} is no multiple of it")
            elif abs(share - 1.0) > _ALIKE:
                shares.append(f"that of {name!r} is {share:.4g} of it")
    if shares:
        tail = f" and {len(shares) - 3} more" if len(shares) > 3 else ""
        said.append(
            f"the rate is {rate.name!r}; {', '.join(shares[:3])}{tail}: peaks are meant in its unit (--columns lr=...)"
        )
    return said


def _of_one_row(rate: Series) -> list[str]:
    """That a single row has a rate far above those on both sides of it, which are alike."""
    values = rate.values
    before, after = values[:-2], values[2:]
    alike = (np.maximum(before, after) < _EQUAL * np.minimum(before, after)) & (before > 0.0)
    spikes = np.flatnonzero(alike & (values[1:-1] > _BESIDE * np.maximum(before, after))) + 1
    if spikes.size != 1 or values.size < _ROWS:
        return []
    at = int(spikes[0])
    return [f"row {rate.rows[at]}: the rate {values[at]:g} is more than {_BESIDE:g} times those beside it: an error?"]


def _of_two_units(rate: Series) -> list[str]:
    """That from one row to the next the rate rises far above all before, and stays: as where its unit changes."""
    values = rate.values
    largest = np.maximum.accumulate(values)[_STAYS - 1 : -_STAYS]
    least = np.array([values[at : at + _STAYS].min() for at in range(_STAYS, values.size - _STAYS + 1)])
    jumps = np.flatnonzero((largest > 0.0) & (least > _SPIKE * largest))
    if not jumps.size:
        return []
    at = int(jumps[0]) + _STAYS
    times = values[at] / values[at - 1] if values[at - 1] > 0.0 else np.inf
    return [f"from row {rate.rows[at]} on the rate is {times:.3g} times that before: is it in one unit throughout?"]


def _of_rounding(rate: Series) -> list[str]:
    """That rates are rounded to few digits, where they fall by one unit at a time and reach 0, or go on falling."""
    step, values = rate.step[np.isfinite(rate.values)], rate.values[np.isfinite(rate.values)]
    levels = np.unique(values)
    if levels.size < 2 or levels.size > _LEVELS:
        return []
    unit = float(np.diff(levels).min())
    counts, top = values / unit, int(np.argmax(values))
    changes = np.diff(np.round(counts))
    falls = changes[changes < 0.0]
    between = int(((values > levels[0]) & (values < levels[-1])).sum())
    staircase = between >= 2 * (levels.size - 2)  # of a straight line each level between its ends has one row
    if np.abs(counts - np.round(counts)).max() > _ALIKE or not falls.size or falls.min() < -1.0 or not staircase:
        return []
    resting = step[top:][counts[top:] < 0.5]
    still = bool(resting.size and step[-1] - resting[0] > _STILL * step[-1])
    if not still and falls.size < _FALLS:
        return []
    return [
        f"the rate {place(rate)} falls by {unit:g} at a time{', to 0' * still}: is it rounded? Then a staircase is"
        " fitted; give the rates of the schedule (schedule=, LOG+FILE)"
    ]
