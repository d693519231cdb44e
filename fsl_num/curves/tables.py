"""A table of cells as it stood in a log, and its cells as numbers, faults named by row."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.curves.columns import meaning
from fsl_num.curves.curve import CurveError
from fsl_num.minus import with_plain_minus
from fsl_num.validation import Array, as_array

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}([,' \xa0\u2009\u2019\u202f])\d{3}(?:\1\d{3})*")
_POINTED = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
_WRAPPED = re.compile(r"\b(?:np\.\w+|tensor)\(([^(),]*)[^()]*\)")
_MARKED = re.compile(r"([+-]?\d+(?:\.\d*)?) ?([%kKmMbB])")  # a share in percent, or thousands, millions, billions
_EMPTY = frozenset({"", "na", "n/a", "none", "null", "-", "nil"})


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of cells, text or numbers, and the numbers by which errors name their rows.

    ``run``: the run to which all rows belong, "" where the table does not say. ``interval_means``: whether a training
    loss is the mean over the updates since the row before it (so in the logs of the transformers Trainer).
    ``unfinished``: whether the last line of the file has no end, so that its last cell may be cut short.
    """

    columns: Mapping[str, Any]
    rows: Any
    name: str = "table"
    decimal_comma: bool = False
    run: str = ""
    interval_means: bool = False
    unfinished: bool = False


def as_table(table: Any) -> Table:
    """Return a Table for a mapping of columns, a DataFrame, a structured array or a list of records.

    Raises CurveError for columns of several lengths or of one name, TypeError for anything else.

    >>> as_table([{"step": 1, "loss": 3.0}, {"step": 2}]).columns["loss"]
    [3.0, None]
    """
    if isinstance(table, Table):
        return table
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):  # a DataFrame; pandas itself is not needed
        if any(name is not None for name in getattr(getattr(table, "index", None), "names", ())):
            table = table.reset_index()  # as set_index("step") or set_index(["run", "step"]) makes it
        names = [str(name) for name in table.columns]
        if len(set(names)) < len(names):
            raise CurveError("the table has two columns of one name; rename one")
        return Table({str(name): _of_series(table[name]) for name in table.columns}, range(len(table)))
    if isinstance(table, np.ndarray) and table.dtype.names:
        table = {name: table[name] for name in table.dtype.names}
    if isinstance(table, Mapping):
        columns = {str(name): np.atleast_1d(as_array(f"the column {name!r}", values)) for name, values in table.items()}
        sizes = {name: values.size if values.ndim == 1 else values.shape for name, values in columns.items()}
        if len(set(sizes.values())) > 1 or any(values.ndim > 1 for values in columns.values()):
            raise CurveError(f"the columns must have one length, got {sizes}")
        masks = map(np.ma.getmaskarray, table.values())
        cells = {name: _without(columns[name], np.atleast_1d(mask)) for name, mask in zip(columns, masks, strict=True)}
        return Table(cells, range(next(iter(columns.values()), np.empty(0)).size))
    if isinstance(table, Sequence) and not isinstance(table, str) and all(isinstance(row, Mapping) for row in table):
        names = list(dict.fromkeys(str(name) for row in table for name in row))
        return Table({name: [row.get(name) for row in table] for name in names}, range(len(table)))
    raise TypeError(
        f"a table must be a mapping of columns, a DataFrame, a structured array or a list of records, not"
        f" {type(table).__name__}; a file is read by read_curve"
    )


def _of_series(series: Any) -> Any:
    """The cells of a column of a DataFrame, of pandas or polars; it writes nan for a cell that is empty."""
    return _without(series.to_numpy(), np.asarray(series.is_null() if hasattr(series, "is_null") else series.isna()))


def _without(cells: Any, empty: Any) -> Any:
    """Cells with None for those that are empty."""
    return cells if not empty.any() else [None if gone else cell for cell, gone in zip(cells, empty, strict=True)]


def filled(cells: Sequence[Any]) -> Any:
    """Return which cells hold anything at all; nan is something: a loss that has diverged.

    >>> filled(["1", "", None, "x", float("nan")]).tolist()
    [True, False, False, True, True]
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiub":
        return np.ones(cells.size, dtype=bool)
    return np.array([cell is not None and str(cell).strip().lower() not in _EMPTY for cell in cells], dtype=bool)


def numbers(table: Table, name: str, role: str, *, missing: bool = False) -> Array:
    """Return one column as floats; empty cells are nan where ``missing``, else refused, as is text.

    >>> numbers(Table({"loss": ["2,5", "2.25"]}, [2, 3], decimal_comma=True), "loss", "loss").tolist()
    [2.5, 2.25]
    """
    cells = table.columns[name]
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "fiu":
        return cells.astype(np.float64)
    values = np.empty(len(cells))
    for index, cell in enumerate(cells):
        text = str(cell).strip()
        if cell is None or text.lower() in _EMPTY:
            if not missing:
                count = sum(cell is None or str(cell).strip().lower() in _EMPTY for cell in cells)
                raise CurveError(
                    f"column {name!r} has no value here ({count} such rows); leave out rows without values on purpose"
                    " with drop_missing=True (--drop-missing)",
                    table.rows[index],
                )
            values[index] = math.nan
            continue
        if table.decimal_comma and _DECIMAL_COMMA.fullmatch(text):
            if role in ("step", "tokens"):
                raise CurveError(
                    f"column {name!r} holds {text!r}: a comma may part thousands or decimals; write it without",
                    table.rows[index],
                )
            text = text.replace(",", ".")
        elif role in ("step", "tokens") and _THOUSANDS.fullmatch(text):
            text = re.sub(r"\D", "", text)  # of whole numbers between commas no other meaning is left
        try:
            values[index] = number_of(unwrapped(text) if text.endswith(")") else text)
        except (ValueError, OverflowError):
            raise CurveError(
                f"column {name!r} holds {text[:40]!r}, which is not a number; {_mended(text)}",
                table.rows[index],
            ) from None
    return values


def decimal_commas(cells: Sequence[str], *, among_commas: bool) -> bool:
    """Return whether numbers are written with decimal commas, as far as these cells say: none has a decimal point.

    ``among_commas``: whether commas part the cells, too; then one must be seen within a cell that parts no thousands.
    Where one is seen, points that part thousands are no decimal ones.

    >>> decimal_commas(["1.000", "2,5"], among_commas=False), decimal_commas(["1.000", "2,500"], among_commas=False)
    (True, False)
    >>> decimal_commas(["20", "2,5"], among_commas=True), decimal_commas(["20", "2,500"], among_commas=True)
    (True, False)
    """
    seen = any(_DECIMAL_COMMA.fullmatch(cell) and not _THOUSANDS.fullmatch(cell) for cell in cells if "," in cell)
    pointed = [cell for cell in cells if "." in cell and _reads(cell)]
    return (seen or not (among_commas or pointed)) and all(map(_POINTED.fullmatch, pointed))


def without_points(cell: str) -> str:
    """Return a cell without the points that part thousands, where commas are decimal.

    >>> without_points("12.000"), without_points("12.50")
    ('12000', '12.50')
    """
    return cell.replace(".", "") if _POINTED.fullmatch(cell) else cell


def _reads(cell: str) -> bool:
    try:
        number_of(cell)
    except (ValueError, OverflowError):
        return False
    return True


def unwrapped(text: str) -> str:
    """Return a text with the numbers alone where Python printed what holds them.

    >>> unwrapped("loss=tensor(2.5, device='cuda:0') lr=np.float64(0.1)")
    'loss=2.5 lr=0.1'
    """
    return _WRAPPED.sub(r"\1", text)


def _mended(text: str) -> str:
    """What to do about a cell that holds no number."""
    if (plain := with_plain_minus(text)) != text:
        with suppress(ValueError, OverflowError):
            number_of(plain)
            return f"its minus sign is that of a printed text; write that of the keyboard, {plain[:40]}"
    if marked := _MARKED.fullmatch(text):
        power = {"%": "e-2", "k": "e3", "m": "e6", "b": "e9"}[marked[2].lower()]
        return f"it looks like {float(f'{marked[1]}{power}'):.12g}: write all cells of the column as plain numbers"
    if meaning(text) is not None:
        return "if a second header stands here, with other columns, its rows belong in a file of their own"
    return "repair the cell or drop the row"


def number_of(cell: Any) -> float:
    """Return the number that a cell is or spells, as other programs spell it: no 1_0, no digits of other scripts.

    Raises ValueError for other text, TypeError for what is neither text nor a number.

    >>> number_of(" 2.50e1 "), number_of(3)
    (25.0, 3.0)
    """
    if isinstance(cell, str) and not (cell.isascii() and "_" not in cell):
        raise ValueError(f"{cell!r} is not a number")
    return float(cell)
