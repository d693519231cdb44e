"""Tables brought to one form, a column a quantity: from rows of a key and a value, and of training and validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fsl_num.curves.columns import meaning, of_held_out, plain
from fsl_num.curves.tables import Table


def widened(table: Table) -> Iterator[Table]:
    """Return a table of (key, value, step) as one table a key; others as they are.

    >>> long = Table({"key": ["lr", "loss"], "value": [0.1, 3.0], "step": [1, 1]}, [2, 3])
    >>> [list(table.columns) for table in widened(long)]
    [['lr', 'step'], ['loss', 'step']]
    """
    names = {plain(name): name for name in table.columns}
    key = next((names[candidate] for candidate in ("key", "metric", "tag", "metricname") if candidate in names), None)
    value = names.get("value", names.get("metricvalue"))
    if key is None or value is None:
        yield table
        return
    keys = np.array([str(cell) for cell in table.columns[key]])
    for metric in dict.fromkeys(keys.tolist()):
        part = some_rows(table, keys == metric)
        renamed = {metric if name == value else name: cells for name, cells in part.columns.items()}
        yield replace(part, columns={name: cells for name, cells in renamed.items() if name != key})


def by_split(table: Table) -> Iterator[Table]:
    """Return the rows of training and those of validation, where a column says which is which; else the table as it is.

    >>> splits = Table({"split": ["train", "val"], "step": [1, 1], "lr": [0.1, 0.1], "loss": [3.0, 3.5]}, [2, 3])
    >>> [list(table.columns) for table in by_split(splits)]
    [['split', 'step', 'lr', 'loss'], ['split', 'step', 'validation loss']]
    """
    for cells in table.columns.values():
        if not len(cells) or of_held_out(str(cells[0])) is None:
            continue
        known = {cell: of_held_out(cell) for cell in set(map(str, cells))}
        if None in known.values() or True not in known.values():
            continue
        held_out = np.array([known[str(cell)] for cell in cells])
        if not held_out.all():
            yield some_rows(table, ~held_out)
        columns = {}
        for column, values in some_rows(table, held_out).columns.items():
            means = meaning(column)
            if means is not None and means.role == "loss" and not means.held_out:
                column = f"validation {column}"
            if held_out.all() or means is None or means.role != "lr":  # the rate is that of the rows of training
                columns[column] = values
        yield replace(some_rows(table, held_out), columns=columns)
        return
    yield table


def some_rows(table: Table, rows: Any) -> Table:
    """Return some rows of a table; ``rows``: a mask.

    >>> some_rows(Table({"step": [1, 2]}, [2, 3]), [False, True]).columns
    {'step': [2]}
    """
    at = np.flatnonzero(rows)
    columns = {
        name: cells[at] if isinstance(cells, np.ndarray) else [cells[row] for row in at.tolist()]
        for name, cells in table.columns.items()
    }
    return replace(table, columns=columns, rows=np.asarray(table.rows)[at])
