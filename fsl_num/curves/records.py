"""Logs as JSON: a list of records, or an object that holds such lists, or lists of numbers, at any depth."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fsl_num.curves.columns import meaning
from fsl_num.curves.curve import CurveError
from fsl_num.curves.tables import Table, unwrapped

_NOT_FINITE = re.compile(r"(: )(nan|-?inf)(?=[,}])")
_POINT = ("Wall time", "Step", "Value")  # of a scalar as TensorBoard writes it
_LINES = (("x", "y"), ("steps", "values"))  # of ClearML; of Sacred and Aim


def tables_of(value: Any, name: str) -> list[Table]:
    """Return the tables in a JSON value: lists of records, lists of points [wall time, step, value], lists of numbers.

    Names of nested columns are joined by "/"; lists of one object that have one length are one table, and take their
    steps from an object around them where they have none. Rows are counted from 1. Raises CurveError for a list that
    holds a record and something else.

    >>> [table] = tables_of({"val": {"iter": [1, 2], "loss": [3.0, 2.0]}}, "run")
    >>> table.columns
    {'val/iter': [1, 2], 'val/loss': [3.0, 2.0]}
    >>> tables_of([{"name": "lr", "x": [1, 2], "y": [0.2, 0.1]}], "run")[0].columns  # a chart of ClearML
    {'Step': [1, 2], 'lr': [0.2, 0.1]}
    >>> tables_of({"train.loss": {"steps": [1, 2], "values": [3.0, 2.5]}}, "metrics")[0].columns  # of Sacred
    {'Step': [1, 2], 'train.loss': [3.0, 2.5]}
    """
    return list(_tables(value, (), name, {}))


def record_in(text: str) -> Any:
    """Return what a line says as JSON, or as Python prints a dict; ValueError or RecursionError where it is neither.

    >>> record_in('{"step": 1}'), record_in("{'loss': np.float64(2.5), 'grad_norm': nan, 'epoch': 0.1}")
    ({'step': 1}, {'loss': 2.5, 'grad_norm': 'nan', 'epoch': 0.1})
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if not text.lstrip().startswith("{'"):
            raise
        try:
            return ast.literal_eval(_NOT_FINITE.sub(r"\1'\2'", unwrapped(text.strip())))
        except (ValueError, SyntaxError, TypeError, MemoryError):
            pass
        raise


def flat(record: Mapping[str, Any], path: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a record with the records in it written out, their names joined by "/"; those of a list by their numbers.

    A list of one number is this number: schedulers give their rate as the list over their groups of parameters.

    >>> flat({"step": 1, "train": {"loss": 3.0}, "lr": [0.1]})
    {'step': 1, 'train/loss': 3.0, 'lr': 0.1}
    >>> flat({"groups": [{"lr": 0.1}, {"lr": 0.2}]})
    {'groups/0/lr': 0.1, 'groups/1/lr': 0.2}
    """
    cells: dict[str, Any] = {}
    for key, value in record.items():
        place = (*path, str(key))
        if isinstance(value, list) and value and all(isinstance(entry, Mapping) for entry in value):
            value = {str(number): entry for number, entry in enumerate(value)}
        if isinstance(value, Mapping):
            cells.update(flat(value, place))
        else:
            cells["/".join(place)] = value[0] if isinstance(value, list) and len(value) == 1 else value
    return cells


def _tables(value: Any, path: tuple[str, ...], name: str, around: Mapping[int, tuple[str, Any]]) -> Iterator[Table]:
    """``around``: lists of steps of the objects around this one, by their length."""
    if isinstance(value, list):
        yield from _table_of_list(value, path, name)
        return
    if not isinstance(value, Mapping):
        return
    value = {key: list(cells.values()) if _of_pandas(cells) else cells for key, cells in value.items()}
    if ends := _line(value):
        steps, values = (value[end] for end in ends)
        context = value.get("context")  # of Aim: {"subset": "val"}
        about = context.values() if isinstance(context, Mapping) else ()
        metric = "/".join(map(str, (*about, value["name"]) if "name" in value else path or ("y",)))
        yield Table({"Step": steps, metric: values}, range(1, len(steps) + 1), name)
        return
    lists: dict[int, dict[str, Any]] = {}
    for key, cells in value.items():
        if _scalars(cells):
            lists.setdefault(len(cells), {})["/".join((*path, str(key)))] = cells
    steps = dict(around)
    for length, columns in lists.items():
        own = next((column for column in columns if (means := meaning(column)) and means.role == "step"), None)
        if own is not None:
            steps[length] = (own, columns[own])
    for length, columns in lists.items():
        if length in steps:
            columns.setdefault(*steps[length])
        yield Table(columns, range(1, length + 1), name)
    for key, part in value.items():
        if isinstance(part, Mapping) or (isinstance(part, list) and part and not _scalars(part)):
            yield from _tables(part, (*path, str(key)), name, steps)


def _table_of_list(rows: Sequence[Any], path: tuple[str, ...], name: str) -> Iterator[Table]:
    numbers = range(1, len(rows) + 1)
    if rows and all(map(_line, rows)):
        for line in rows:
            yield from _tables(line, path, name, {})
        return
    if rows and all(isinstance(row, list) and len(row) == len(_POINT) and _scalars(row) for row in rows):
        yield Table({column: [row[at] for row in rows] for at, column in enumerate(_POINT)}, numbers, name)
        return
    if path and not any(isinstance(row, Mapping) for row in rows):
        return
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise CurveError(f"{name}: a record of names and values is needed, not {str(row)[:40]!r}", number)
    records = [(number, flat(row)) for number, row in enumerate(rows, 1)]
    if means := path[-1:] == ("log_history",):  # of the transformers Trainer, whose last record sums up the run
        records = [(number, record) for number, record in records if "train_runtime" not in record]
    names = dict.fromkeys(key for _, record in records for key in record)
    columns = {column: [record.get(column) for _, record in records] for column in names}
    yield Table(columns, [number for number, _ in records], name, interval_means=means)


def _line(value: Any) -> tuple[str, str] | None:
    """How the steps and the values of a line of a chart are called: two lists of one length; None of anything else."""
    if isinstance(value, Mapping):
        lists = {key: len(cells) for key, cells in value.items() if _scalars(cells)}
        for ends in _LINES:
            if ends[0] in lists and lists[ends[0]] == lists.get(ends[1]) and not any(map(meaning, {*lists} - {*ends})):
                return ends
    return None


def _of_pandas(cells: Any) -> bool:
    """Whether a value is a column as ``DataFrame.to_json`` writes it: {"0": 3.0, "1": 2.5}."""
    return (
        isinstance(cells, Mapping)
        and [*cells] == [str(row) for row in range(len(cells))]
        and _scalars([*cells.values()])
    )


def _scalars(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and not any(isinstance(entry, (list, Mapping)) for entry in value)
