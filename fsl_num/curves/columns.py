"""Which column of a table is the step, the learning rate, the loss; and its cells as numbers, faults named by row."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from fsl_num.curves.curve import CurveError, LossCurve
from fsl_num.validation import Array, positive

NAMES: Mapping[str, tuple[str, ...]] = {
    "step": ("step", "steps", "globalstep", "trainstep", "trainingstep", "iteration", "iterations", "iter", "iters",
             "update", "updates", "trainerglobalstep"),
    "lr": ("lr", "learningrate", "lrs", "learningrates", "trainlr", "trainlearningrate", "eta"),
    "loss": ("loss", "valloss", "validationloss", "evalloss", "testloss", "trainloss", "trainingloss", "losses",
             "crossentropy", "celoss", "lmloss", "nll", "perplexity", "ppl", "valppl", "valperplexity"),
    "batch_size": ("batchsize", "batch", "globalbatchsize", "bs"),
    "tokens": ("tokens", "tokensseen", "ntokens", "numtokens", "consumedtokens", "totaltokens"),
}  # fmt: skip
"""Names by which a column is known, without case, spaces, dots, slashes or underscores; the first found counts."""

UNITS = ("auto", "nats", "bits", "perplexity")
_PERPLEXITY = frozenset({"perplexity", "ppl", "valppl", "valperplexity"})
_LARGEST_LOSS = 20.0
"""A loss in nats begins near the log of the vocabulary, at most 14 for a million words; a perplexity lies above."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_EMPTY = frozenset({"", "na", "n/a", "none", "null", "-", "nil"})


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of cells, text or numbers, and the numbers by which errors name their rows."""

    columns: Mapping[str, Sequence[Any]]
    rows: Sequence[int]
    name: str = "table"
    decimal_comma: bool = False


def curve_from(table: Any, *, columns: Mapping[str, Any] | None = None, **known: Any) -> LossCurve:
    """Return the loss curve in a mapping of columns, a pandas DataFrame, or a list of records.

    Args:
        table: {column name: values}, a DataFrame, a structured array, or a sequence of {name: value}.
        columns: which column is what, {"step": ..., "lr": ..., "loss": ..., "batch_size": ..., "tokens": ...}, by
            name or by position; those not said are found by their names (:data:`NAMES`).
        known: what the table does not say, as in :func:`~fsl_num.curves.reading.read_curve`.

    Raises :class:`~fsl_num.curves.curve.CurveError` naming the row, or TypeError for another kind of table.

    >>> curve_from({"Step": [1, 2], "learning_rate": [0.1, 0.1], "val/loss": [3.0, 2.5]}).loss.tolist()
    [3.0, 2.5]
    """
    return curve_of(_as_table(table), columns=columns, **known)


def curve_of(
    table: Table,
    *,
    columns: Mapping[str, Any] | None = None,
    loss_unit: str = "auto",
    drop_missing: bool = False,
    schedule: Any = None,
    batch_size: Any = None,
    tokens_per_step: Any = None,
    **known: Any,
) -> LossCurve:
    """Return the loss curve in a table; see :func:`curve_from` and :func:`~fsl_num.curves.reading.read_curve`.

    >>> curve_of(Table({"step": ["1", "2"], "lr": ["1e-3", "1e-3"], "ppl": ["8", "4"]}, [2, 3])).loss.round(3).tolist()
    [2.079, 1.386]
    """
    if loss_unit not in UNITS:
        raise ValueError(f"loss_unit must be one of {', '.join(UNITS)}, got {loss_unit!r}")
    chosen = find_columns(table, columns, needs_rates=schedule is None)
    values = {role: numbers(table, name, role, missing=drop_missing) for role, name in chosen.items()}
    rows = np.asarray(table.rows)
    if rows.size == 0:
        raise CurveError(f"{table.name}: a header and no rows; a curve needs at least one step with its loss")
    if drop_missing:
        whole = ~np.any([np.isnan(column) for column in values.values()], axis=0)
        if not whole.any():
            raise CurveError(f"{table.name}: every row lacks a value in one of {', '.join(chosen.values())}")
        values, rows = {role: column[whole] for role, column in values.items()}, rows[whole]
    if tokens_per_step is not None:
        values["step"] = np.round(values["step"] / positive("tokens_per_step", tokens_per_step))
    loss = _in_nats(values["loss"], chosen["loss"], loss_unit, rows)
    if schedule is None:
        _check_swapped(values["lr"], loss, chosen)
    batch = batch_size if batch_size is not None else values.get("batch_size")
    if batch is None and "tokens" in values:
        batch = _batch_of_tokens(values["tokens"], values["step"], rows)
    return LossCurve(
        values["step"],
        loss,
        None if schedule is not None else values["lr"],
        schedule,
        1.0 if batch is None else batch,
        rows=rows,
        **{"name": table.name, **known},
    )


def find_columns(table: Table, given: Mapping[str, Any] | None = None, *, needs_rates: bool = True) -> dict[str, str]:
    """Return {"step": name, "loss": name, "lr": name, ...}: what the caller says, and for the rest what names tell.

    Raises CurveError where a column is missing or several could be meant.

    >>> find_columns(Table({"Iteration": [], "Train Loss": [], "LR": []}, []))
    {'step': 'Iteration', 'lr': 'LR', 'loss': 'Train Loss'}
    """
    names = list(table.columns)
    said = dict(given or {})
    unknown = sorted(set(said) - set(NAMES))
    if unknown:
        raise ValueError(f"columns may name {', '.join(NAMES)}; not {', '.join(map(repr, unknown))}")
    found: dict[str, str] = {}
    for role, aliases in NAMES.items():
        if role in said:
            found[role] = _said(role, said[role], names, table.name)
            continue
        taken = {*found.values(), *(each for each in said.values() if isinstance(each, str))}
        matches = [name for alias in aliases for name in names if _plain(name) == alias and name not in taken]
        if role == "loss" and len(matches) > 1 and _plain(matches[0]) != "loss":
            raise CurveError(
                f"{table.name}: the columns {', '.join(matches)} could each be the loss; say which one, for example"
                f" columns={{'loss': {matches[0]!r}}} (--columns loss={matches[0]})"
            )
        if len({_plain(name) for name in matches}) < len(matches):
            raise CurveError(f"{table.name}: more than one column is called {matches[0]!r} but for case; say which one")
        if matches:
            found[role] = matches[0]
    needed = ("step", "lr", "loss") if needs_rates else ("step", "loss")
    missing = [role for role in needed if role not in found]
    if missing:
        raise CurveError(
            f"{table.name}: no column for {' and '.join(missing)} among {', '.join(map(repr, names)) or 'none'}; say"
            f" which one it is, for example columns={{{missing[0]!r}: 'NAME'}} (--columns {missing[0]}=NAME)"
            + ("; learning rates can also come from a schedule" if "lr" in missing else "")
        )
    doubled = [name for name in set(found.values()) if list(found.values()).count(name) > 1]
    if doubled:
        raise CurveError(f"{table.name}: column {doubled[0]!r} is named for two things; each needs its own")
    return found


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
                count = sum(each is None or str(each).strip().lower() in _EMPTY for each in cells)
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
        try:
            values[index] = number_of(text)
        except (ValueError, OverflowError):
            raise CurveError(
                f"column {name!r} holds {text[:40]!r}, which is not a number; repair the cell or drop the row",
                table.rows[index],
            ) from None
    return values


def number_of(cell: Any) -> float:
    """Return the number that a cell is or spells, as other programs spell it: no 1_0, no digits of other scripts.

    Raises ValueError for other text, TypeError for what is neither text nor a number.

    >>> number_of(" 2.50e1 "), number_of(3)
    (25.0, 3.0)
    """
    if isinstance(cell, str) and not (cell.isascii() and "_" not in cell):
        raise ValueError(f"{cell!r} is not a number")
    return float(cell)


def _as_table(table: Any) -> Table:
    if isinstance(table, Table):
        return table
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):  # a DataFrame; pandas itself is not needed
        names = [str(name) for name in table.columns]
        if len(set(names)) < len(names):
            raise CurveError("the table has two columns of one name; rename one")
        columns = {str(name): table[name].to_numpy() for name in table.columns}
        return Table(columns, range(len(table)))
    if isinstance(table, np.ndarray) and table.dtype.names:
        return Table({name: table[name] for name in table.dtype.names}, range(table.size))
    if isinstance(table, Mapping):
        columns = {str(name): np.atleast_1d(np.asarray(values)) for name, values in table.items()}
        sizes = {name: values.size for name, values in columns.items()}
        if len(set(sizes.values())) > 1:
            raise CurveError(f"the columns must have one length, got {sizes}")
        return Table(columns, range(next(iter(sizes.values()), 0)))
    if isinstance(table, Sequence) and not isinstance(table, str) and all(isinstance(row, Mapping) for row in table):
        names = list(dict.fromkeys(str(name) for row in table for name in row))
        return Table({name: [row.get(name) for row in table] for name in names}, range(len(table)))
    raise TypeError(
        f"a table must be a mapping of columns, a DataFrame, a structured array or a list of records, not"
        f" {type(table).__name__}; a file is read by read_curve"
    )


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _said(role: str, wanted: Any, names: Sequence[str], table: str) -> str:
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        if not 0 <= wanted < len(names):
            raise CurveError(f"{table}: there is no column {wanted} for {role}; there are {len(names)}, the first is 0")
        return names[wanted]
    exact = [name for name in names if name.strip() == str(wanted).strip()]
    if exact:
        return exact[0]
    near = get_close_matches(str(wanted), names, 3, 0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise CurveError(
        f"{table}: there is no column {wanted!r} for {role}; {hint}The columns are {', '.join(map(repr, names))}"
    )


def _in_nats(loss: Array, name: str, unit: str, rows: Any) -> Array:
    unit = ("perplexity" if _plain(name) in _PERPLEXITY else "auto") if unit == "auto" else unit
    if unit == "bits":
        return loss * math.log(2.0)
    if unit == "perplexity":
        bad = ~(loss > 1.0) & ~np.isnan(loss)
        if bad.any():
            at = int(np.argmax(bad))
            raise CurveError(f"a perplexity must be above 1, got {loss[at]:g}", int(rows[at]))
        return np.asarray(np.log(loss))
    if unit == "auto" and loss.size and np.isfinite(loss).all() and np.median(loss) > _LARGEST_LOSS:
        raise CurveError(
            f"the loss is {np.median(loss):g} in the middle, more than any loss in nats a token: is it a perplexity?"
            " Say loss_unit='perplexity' (--loss-unit perplexity), or 'nats' to take it as it is"
        )
    return loss


def _check_swapped(lr: Array, loss: Array, chosen: Mapping[str, str]) -> None:
    if np.isfinite(lr).all() and np.isfinite(loss).all() and lr.min() > 1.0 and 0.0 <= loss.max() < 0.1:
        raise CurveError(
            f"the learning rates ({chosen['lr']!r}) are all above 1 and the losses ({chosen['loss']!r}) all below 0.1:"
            " the two columns look swapped; if so, say columns={'lr': ..., 'loss': ...} (--columns lr=...,loss=...)"
        )


def _batch_of_tokens(tokens: Array, step: Array, rows: Any) -> Any:
    """Tokens a step between rows, from the tokens seen so far; the first row's from the start of the run."""
    if not (np.isfinite(tokens).all() and np.isfinite(step).all()) or (np.diff(step) <= 0).any():
        return 1.0  # the curve itself says what is wrong with its steps
    falls = np.diff(tokens) <= 0.0
    if falls.any():
        at = int(np.argmax(falls)) + 1
        raise CurveError(
            f"the tokens seen so far must grow, got {tokens[at]:g} after {tokens[at - 1]:g}; a number of tokens a step"
            " belongs in a column batch_size",
            int(rows[at]),
        )
    if tokens.size == 1:
        return float(tokens[0] / step[0]) if step[0] > 0 and tokens[0] > 0 else 1.0
    between = np.diff(tokens) / np.diff(step)
    return np.append(between, between[-1])
