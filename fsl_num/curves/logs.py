"""From the tables of training logs to loss curves: the loss of one series, at the learning rate of another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np

from fsl_num.curves.columns import UNITS, plain
from fsl_num.curves.curve import CurveError, LossCurve
from fsl_num.curves.log_notes import (
    check_no_time,
    check_spike,
    of_jump,
    of_losses,
    of_noise_scales,
    of_rates,
    of_spike,
    place,
)
from fsl_num.curves.loss_units import check_losses, in_nats
from fsl_num.curves.plan import as_plan
from fsl_num.curves.rates import unseen_updates, warmup_in, warmup_of
from fsl_num.curves.resumed import check_resumed, kept_last
from fsl_num.curves.runs import Series, by_run, series_of
from fsl_num.curves.tables import Table, as_table
from fsl_num.validation import Array, known_options, one_of, positive

RESTARTS: Final = ("refuse", "keep-last")
"""What to do with steps that come again, as after a restart from a checkpoint."""

_COUNTS = 4  # rows at least, most of them above the one before: a count
_CONSTANT = 0.02  # batch sizes from rounded counts of tokens that differ by less are one batch size


@dataclass(frozen=True)
class LogOptions:
    """What a log does not say, and what is to be taken otherwise than it says.

    Parameters
    ----------
    columns
        Which column is what, {"step": ..., "lr": ..., "loss": ..., "batch_size": ..., "tokens": ...}, by name
        or by position from 0; those not said are found by their names. A file without a header needs positions.
    loss_unit
        "nats", "bits" or "perplexity"; "auto": by the name of the column.
    drop_missing
        Leave out the rows in which a column is empty, instead of refusing them. A column that is recorded
        more seldom than others needs no word.
    restarts
        "refuse" steps that come again, or "keep-last".
    tokens_per_step
        Tokens (or samples) of one update, where the steps of the log count them.
    schedule
        The learning rate of every update in place of a column, see :class:`~fsl_num.curves.curve.LossCurve`.
    batch_size
        One number in place of a column.
    warmup
        Updates of warmup; None: where the rate rises at the start to its largest value, it is a warmup.
    last_step
        Leave out the rows behind it, unread.
    branch_of
        The curve of the run from which this one branched: its rates are those of the updates before.
    branch_step
        The update at which it branched, where the log counts its steps from there.
    warmup_shape, between, model_size, name, smoothing
        As in :class:`~fsl_num.curves.curve.LossCurve`.

    Examples
    --------
    >>> LogOptions(loss_unit="dits")
    Traceback (most recent call last):
    ValueError: loss_unit must be one of auto, nats, bits, perplexity, got 'dits'
    """

    columns: Mapping[str, Any] | None = None
    loss_unit: str = "auto"
    drop_missing: bool = False
    restarts: str = "refuse"
    tokens_per_step: float | None = None
    schedule: Any = None
    batch_size: Any = None
    warmup: int | None = None
    last_step: int | None = None
    branch_of: LossCurve | None = None
    branch_step: int | None = None
    warmup_shape: str = "linear"
    between: str = "auto"
    model_size: float | None = None
    name: str | None = None
    smoothing: str = "none"

    def __post_init__(self) -> None:
        if not isinstance(self.columns, Mapping | None):
            raise TypeError(f"columns must say which column is what, as {{'loss': 'val/loss'}}, got {self.columns!r}")
        for name, allowed in (("loss_unit", UNITS), ("restarts", RESTARTS)):
            one_of(name, getattr(self, name), allowed)
        if self.tokens_per_step is not None and positive("tokens_per_step", self.tokens_per_step) < 1e-100:
            raise ValueError(f"tokens_per_step must be at least 1e-100, got {self.tokens_per_step!r}: steps overflow")
        if self.branch_step is not None and self.branch_of is None:
            raise ValueError("branch_step needs branch_of, the curve of the run from which this one branched")


def log_options(**options: Any) -> LogOptions:
    """Return the options that were given; TypeError for a name that none has, with the nearest one.

    >>> log_options(warmpu=3)
    Traceback (most recent call last):
    TypeError: there is no option 'warmpu' of a log; did you mean 'warmup'?
    """
    known_options("of a log", options, [field.name for field in fields(LogOptions)])
    return LogOptions(**options)


def curve_from(table: Any, **options: Any) -> LossCurve:
    """Return the loss curve in a mapping of columns, a pandas DataFrame, or a list of records.

    Raises :class:`~fsl_num.curves.curve.CurveError` naming the row, or TypeError for another kind of table.

    Parameters
    ----------
    table
        {column name: values}, a DataFrame, a structured array, or a sequence of {name: value}.
    options
        What the table does not say, see :class:`LogOptions`.

    Examples
    --------
    >>> curve_from({"Step": [1, 2], "learning_rate": [0.1, 0.1], "val/loss": [3.0, 2.5]}).loss.tolist()
    [3.0, 2.5]
    """
    remedy = "give the rows of one alone"
    return single(curves_of([as_table(table)], log_options(**options)), "the table", remedy)


def single(curves: Sequence[LossCurve], where: str, remedy: str = "take all of them with read_curves") -> LossCurve:
    """Return the one curve of a log; CurveError where there are several.

    >>> single([], "run.csv")
    Traceback (most recent call last):
    fsl_num.curves.curve.CurveError: run.csv holds 0 runs (); take all of them with read_curves
    """
    if len(curves) != 1:
        shown = ", ".join(curve.name for curve in curves[:6])
        raise CurveError(f"{where} holds {len(curves)} runs ({shown}); {remedy}")
    return curves[0]


def curves_of(tables: Sequence[Table], options: LogOptions) -> list[LossCurve]:
    """Return the loss curve of every run in the tables of one log, or of logs that belong together.

    >>> table = Table({"run": ["a", "a", "b"], "step": [1, 2, 1], "lr": [0.1] * 3, "loss": [3.0, 2.0, 1.0]}, [2, 3, 4])
    >>> [curve.name for curve in curves_of([table], LogOptions())]
    ['table: a', 'table: b']
    """
    runs = by_run(tables)
    curves = []
    for run, parts in runs.items():
        base = options.name or parts[0].name
        name = base if len(runs) == 1 else f"{base}: {run}"
        curves.append(curve_of(parts, replace(options, name=name)))
    return curves


def curve_of(tables: Sequence[Table], options: LogOptions) -> LossCurve:
    """Return the loss curve of one run.

    >>> table = Table({"step": ["1", "2"], "lr": ["1e-3", "1e-3"], "ppl": ["8", "4"]}, [2, 3])
    >>> curve_of([table], LogOptions()).loss.round(3).tolist()
    [2.079, 1.386]
    """
    name = options.name or tables[0].name
    if not any(len(table.rows) for table in tables):
        raise CurveError(f"{name}: a header and no rows; a curve needs at least one step with its loss")
    series = series_of(
        tables,
        name,
        options.columns or {},
        needs=("lr", "loss") if options.schedule is None else ("loss",),
        drop_missing=options.drop_missing,
        per_step=options.tokens_per_step,
    )
    notes = [*_drop_counter(series, options.columns), *_keep_wanted(series, options, name)]
    loss, rate = series["loss"], series.get("lr") if options.schedule is None else None
    together = rate is not None and rate.table is loss.table and np.array_equal(rate.rows, loss.rows)
    if not (options.columns or {}).get("loss"):
        notes += of_losses(tables, loss)
    notes += of_noise_scales(tables)
    values, unit = in_nats(loss, options.loss_unit)
    check_losses(loss, values, options.loss_unit)
    notes += [*of_spike(loss.rows, values), *of_jump(loss.rows, values)]
    if unit != "nats":
        notes.append(f"the loss is in {unit} and was turned into nats")
    if rate is not None:
        if "lr" not in (options.columns or {}):
            check_no_time(rate)
        _check_swapped(rate, loss)
        check_spike(rate)
        notes += of_rates(rate)
    if loss.table.interval_means and not loss.meaning.held_out:
        gap = np.diff(loss.step, prepend=0.0)
        loss = replace(loss, step=loss.step - np.maximum(gap, 0.0) // 2)
        notes.append("each training loss is a mean since the row before, and stands in the middle of these updates")
        together = False
    known = {key: getattr(options, key) for key in ("warmup_shape", "between", "model_size", "smoothing")}
    warmup, unseen = options.warmup, None
    if warmup is None and rate is not None:
        warmup = warmup_of(rate.step, rate.values) or None
        unseen = 0 if warmup else unseen_updates(rate.step)
    elif warmup is None:
        plan = as_plan(options.schedule)
        rising = plan.warmup or warmup_in(plan.rates)
        warmup = rising if 0 < rising < loss.step[-1] else None
    if warmup and options.warmup is None:
        notes.append(f"the rate rises over the first {warmup} updates: taken for warmup (--warmup says otherwise)")
    schedule, lr = options.schedule, None
    if rate is not None and together:
        lr = rate.values
    elif rate is not None:
        schedule = _carried(rate, loss, known, warmup or 0, name)
        notes.insert(0, f"the rates of {place(rate)} ({rate.step.size} rows) are carried to the steps of the losses")
    curve = LossCurve(
        loss.step, values, lr, schedule, _batch_sizes(series, loss, options),
        rows=loss.rows, warmup=warmup, name=name, notes=tuple(notes), unseen=unseen, **known,
    )  # fmt: skip
    return curve if options.branch_of is None else curve.branched(options.branch_of, options.branch_step)


def _drop_counter(series: dict[str, Series], columns: Mapping[str, Any] | None) -> list[str]:
    """Leave out what is called "batch" and counts batches, which no ramp of their size does; return what to say."""
    batch = series.get("batch_size")
    if batch is None or plain(batch.name) != "batch" or "batch_size" in (columns or {}) or batch.values.size < _COUNTS:
        return []
    if np.mean(np.diff(batch.values) > 0.0) <= 0.5:
        return []
    del series["batch_size"]
    return [f"{place(batch)} grows from row to row: taken for a count, not for batch sizes (--columns batch_size=...)"]


def _keep_wanted(series: dict[str, Series], options: LogOptions, name: str) -> list[str]:
    """Leave out the rows that were done again, and those behind the last step that is wanted; return what to say."""
    notes, main = [], "loss" if "loss" in series else "lr"
    if options.restarts == "keep-last":
        for role, before in series.items():
            check_resumed(before)
            series[role], dropped = kept_last(before)
            if dropped and role == main:
                notes.append(f"{dropped} rows that a resumed run did again: the last ones kept")
                if not np.isin(before.rows[0], series[role].rows):
                    notes[-1] += "; of the first ones none: where the run went on and counts anew, add the steps before"
    cut = {part.table.name for part in series.values() if part.table.unfinished and part.rows.size}
    notes += [f"the last line of {log_name} has no end: its last number may be cut" for log_name in sorted(cut)]
    if options.last_step is not None:  # what lies behind it is not even looked at: a run may have diverged there
        for role, part in series.items():
            series[role] = part.keep(part.step <= options.last_step)
        if not series[main].rows.size:
            raise CurveError(f"{name}: no row with step <= {options.last_step}")
    return notes


def _check_swapped(rate: Series, loss: Series) -> None:
    lr, values = rate.values, loss.values
    least, most = lr.min(), values.max()
    if np.isfinite(lr).all() and np.isfinite(values).all() and lr.max() > 1.0 and 0.0 <= most < min(0.1, least):
        raise CurveError(
            f"the learning rates ({rate.name!r}) are all at least {least:.3g} and the losses ({loss.name!r}) at most"
            f" {most:.3g}: the two columns look swapped; if so, say columns={{'lr': ..., 'loss': ...}}"
            " (--columns lr=...,loss=...)"
        )


@dataclass(frozen=True)
class RatesOfLog:
    """The learning rates of a run, as its log says them.

    ``rates``: of every update. ``warmup``: how many of the first rise. ``batch_sizes``: one an update, or 1 where the
    log says none. ``unseen``: the first updates of which it says nothing: the rate of the first row is theirs here.
    ``notes``: what was decided, in sentences.

    >>> RatesOfLog(np.ones(2), 0, 1.0, 0, ()).unseen
    0
    """

    rates: Array
    warmup: int
    batch_sizes: Any
    unseen: int
    notes: tuple[str, ...]


def rates_of(tables: Sequence[Table], columns: Mapping[str, Any] | None = None, restarts: str = "refuse") -> RatesOfLog:
    """Return the learning rates of one run from a log with or without losses.

    ``columns``: which one is the step or "lr", where their names do not say it. ``restarts``: "refuse" steps that come
    again, or "keep-last". Raises CurveError.

    >>> rates_of([Table({"Step": [0, 2, 4], "learning_rate": [0.2, 0.1, 0.0]}, [2, 3, 4])]).rates.round(3).tolist()
    [0.2, 0.15, 0.1, 0.05]
    """
    name = tables[0].name
    series = series_of(tables, name, columns or {}, needs=("lr",))
    series.pop("loss", None)
    notes = [*_drop_counter(series, columns), *_keep_wanted(series, LogOptions(restarts=restarts), name)]
    rate = series["lr"]
    warmup = warmup_of(rate.step, rate.values)
    rates = _own_rates(rate, {}, warmup, name)[0]
    updates = replace(rate, step=np.arange(float(rates.size)), rows=np.arange(0))
    notes += of_rates(rate)
    if warmup:
        notes.append(f"the rate rises over the first {warmup} updates: taken for warmup")
    unseen = 0 if warmup else unseen_updates(rate.step)
    return RatesOfLog(rates, warmup, _batch_sizes(series, updates, log_options()), unseen, tuple(notes))


def _own_rates(rate: Series, known: Mapping[str, Any], warmup: int, name: str) -> tuple[Array, Array, Array]:
    """The rate of every update of a series of rates; and the steps and rates of its rows, none twice."""
    twice = np.concatenate([[False], (np.diff(rate.step) == 0) & (np.diff(rate.values) == 0)])
    step, values, rows = rate.step[~twice], rate.values[~twice], rate.rows[~twice]
    # checked as the rows of a curve are: whole steps that increase, rates that are finite and not negative
    return LossCurve(step, np.ones(step.size), values, rows=rows, name=name, **known).rates(warmup), step, values


def _carried(rate: Series, loss: Series, known: Mapping[str, Any], warmup: int, name: str) -> Array:
    """The rate of every update up to the last loss, from a series of its own."""
    rates, step, values = _own_rates(rate, known, warmup, name)
    missing = int(loss.step[-1]) - rates.size
    spacing = float(np.median(np.diff(step))) if step.size > 1 else math.inf
    if missing > 2 * spacing:
        raise CurveError(
            f"{name}: the learning rates {rate.name!r} end at step {step[-1]:g}, the losses {loss.name!r} at"
            f" {loss.step[-1]:g}; give the rates of all updates (schedule=, LOG+FILE), or leave"
            " the rows behind out (--last-step)"
        )
    return np.append(rates, np.full(max(missing, 0), values[-1]))


def _batch_sizes(series: Mapping[str, Series], loss: Series, options: LogOptions) -> Any:
    """One number, or the batch size at each row of the losses."""
    if options.batch_size is not None:
        return options.batch_size
    batch, tokens = series.get("batch_size"), series.get("tokens")
    if tokens is not None and "sample" in tokens.name.lower() and "tokens" not in (options.columns or {}):
        tokens = None  # of the validation, perhaps
    if batch is None and tokens is not None and options.tokens_per_step is None and tokens.step.size:
        batch = _batch_of_tokens(tokens)
    if batch is None:
        return 1.0
    if batch.table is loss.table and np.array_equal(batch.rows, loss.rows):
        return batch.values
    row = np.searchsorted(batch.step, loss.step, side="right") - 1
    return batch.values[np.clip(row, 0, None)]


def _batch_of_tokens(tokens: Series) -> Series | None:
    """Tokens a step between rows, from the tokens seen so far; the first row's from the start of the run."""
    step, seen = tokens.step, tokens.values
    if not (np.isfinite(seen).all() and np.isfinite(step).all()) or (np.diff(step) <= 0).any():
        return None  # the curve itself says what is wrong with its steps
    falls = np.diff(seen) <= 0.0
    if falls.any() and (np.diff(seen) >= 0.0).all() and not falls.all():
        return None  # rounded to a few digits
    if falls.any():
        at = int(np.argmax(falls)) + 1
        raise CurveError(
            f"the tokens seen so far must grow, got {seen[at]:g} after {seen[at - 1]:g}; a number of tokens a step"
            " belongs in a column batch_size",
            int(tokens.rows[at]),
        )
    if seen.size == 1:
        return replace(tokens, values=seen / step) if step[0] > 0 and seen[0] > 0 else None
    between = np.diff(seen) / np.diff(step)
    if np.ptp(between) < _CONSTANT * between.mean():
        between = np.full(between.size, np.median(between))
    return replace(tokens, values=np.append(between, between[-1]))
