"""From the tables of one or several logs to the series of one run: its losses, learning rates, batch sizes, tokens.

A table is taken apart into series (the filled cells of a column, with their steps); of all series of a run one is the
loss and one the learning rate, wherever they stand. What could be decided in two ways is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

import numpy as np

from fsl_num.curves.columns import NO_STEP, Meaning, meaning, plain, split_run
from fsl_num.curves.curve import CurveError
from fsl_num.curves.reshape import by_split, some_rows, widened
from fsl_num.curves.tables import Table, filled, numbers
from fsl_num.validation import Array

ROLES: Final = ("step", "lr", "loss", "batch_size", "tokens")

ENOUGH: Final = 16
"""A validation loss with fewer rows gives way to a training loss with more: a fit has up to eight parameters, and two
rows for each of them are little enough."""

_SPARSE = 0.5  # of the cells of a column empty: it is recorded more seldom than the others, on purpose
_COMPLEMENTARY = 0.1  # of them empty, each in a row that fills another such column; fewer where none fills both


@dataclass(frozen=True, eq=False)
class Series:
    """One column of a table at its filled cells: their steps, their values, and the rows by which errors name them."""

    name: str
    step: Array
    values: Array
    rows: Any
    meaning: Meaning
    table: Table

    def keep(self, rows: Any) -> Series:
        """Return the series with some of its rows."""
        return replace(self, step=self.step[rows], values=self.values[rows], rows=self.rows[rows])


@dataclass(frozen=True)
class _Column:
    """A column that may play a role."""

    table: Table
    name: str
    meaning: Meaning
    count: int  # of filled cells


def by_run(tables: Iterable[Table]) -> dict[str, list[Table]]:
    """Return the tables of each run, by its name ("" where the logs name none).

    Long tables (key, value) are made wide. Rows of training and of validation are parted where a column tells them
    apart, and so are charts with a column a run, and tables with a column that names the run of each row.

    >>> long = Table({"key": ["lr", "loss"], "value": [0.1, 3.0], "step": [1, 1]}, [2, 3])
    >>> [sorted(table.columns) for table in by_run([long])[""]]
    [['lr', 'step'], ['loss', 'step']]
    """
    runs: dict[str, list[Table]] = {}
    for table in tables:
        for split in (split for wide in widened(table) for split in by_split(wide)):
            for part in _of_runs(split):
                runs.setdefault(part.run, []).append(part)
    return runs


def lacks(tables: Sequence[Table]) -> tuple[str, ...]:
    """Return which of "lr" and "loss" no column of the tables can be.

    >>> lacks([Table({"Step": [1], "lr": [0.1]}, [2])])
    ('loss',)
    """
    roles = {means.role for table in tables for name in table.columns if (means := meaning(name))}
    return tuple(role for role in ("lr", "loss") if role not in roles)


def series_of(
    tables: Sequence[Table],
    name: str,
    columns: Mapping[str, Any],
    *,
    needs: Sequence[str] = ("lr", "loss"),
    drop_missing: bool = False,
    per_step: float | None = None,
) -> dict[str, Series]:
    """Return the series "loss" and "lr", and "batch_size" and "tokens" where there are such, of one run.

    ``columns``: which column plays which role, by name or position, where it is said; the others are known by name.
    ``needs``: those of "lr" and "loss" without which it is refused.
    ``per_step``: how much of what the steps count (tokens, samples) is one update. Raises CurveError.

    >>> table = Table({"step": [1, 2], "lr": [0.1, 0.1], "train/loss": [3.0, 2.0], "val/loss": [3.1, 2.1]}, [2, 3])
    >>> series_of([table], "run", {})["loss"].name
    'val/loss'
    """
    unknown = sorted(set(columns) - set(ROLES))
    if unknown:
        raise ValueError(f"columns may name {', '.join(ROLES)}; not {', '.join(map(repr, unknown))}")
    said = {role: said_column(tables, role, column, name) for role, column in columns.items()}
    taken = list(said.values())
    doubled = [column for column in taken if taken.count(column) > 1]
    if doubled:
        raise CurveError(f"{name}: column {doubled[0]!r} is named for two things; each needs its own")
    chosen: dict[str, _Column] = {}
    for role in ("lr", "loss", "batch_size", "tokens"):
        candidates = list(_candidates(tables, role, said))
        filled_ones = [column for column in candidates if column.count]
        if candidates:
            chosen[role] = _chosen(role, filled_ones or candidates, name)
    missing = [role for role in needs if role not in chosen]
    clocks = {role: _clock(column.table, said, per_step) for role, column in chosen.items()}
    of_quantities = [clocks[role] for role in ("lr", "loss") if role in chosen]
    if any(clock is None for clock in of_quantities or [_clock(table, said, per_step) for table in tables]):
        missing = ["step", *missing]
    if missing:
        _refuse_missing(tables, missing, name, "tokens" in chosen, needs)
    return {
        role: _series(column, role, clock, drop_missing)
        for role, column in chosen.items()
        if (clock := clocks[role]) is not None
    }


def _of_runs(table: Table) -> Iterator[Table]:
    prefixes = {name: split_run(name)[0] for name in table.columns if meaning(name) is not None}
    runs = list(dict.fromkeys(prefix for prefix in prefixes.values() if prefix))
    if runs:
        for run in runs:
            own = {name: cells for name, cells in table.columns.items() if prefixes.get(name, "") in ("", run)}
            yield replace(table, columns=own, run=run)
        return
    names = [name for name in table.columns if (means := meaning(name)) and means.role == "run"]
    clock = _clock(table, {}, None)
    if not names or clock is None or (np.diff(clock[~np.isnan(clock)]) > 0).all():
        yield table
        return
    labels = np.array([" ".join(str(table.columns[name][row]) for name in names) for row in range(len(table.rows))])
    for label in dict.fromkeys(labels.tolist()):
        yield replace(some_rows(table, labels == label), run=label)


def said_column(tables: Sequence[Table], role: str, column: Any, name: str) -> str:
    """Return the name of the column that was said to play a role, by its name or its position; CurveError for none.

    >>> said_column([Table({"it": [1], "L": [3.0]}, [2])], "loss", 1, "run")
    'L'
    """
    names = list(dict.fromkeys(heading for table in tables for heading in table.columns))
    if isinstance(column, int) and not isinstance(column, bool):
        if not 0 <= column < len(names):
            raise CurveError(f"{name}: there is no column {column} for {role}; there are {len(names)}, the first is 0")
        return names[column]
    exact = [heading for heading in names if heading.strip() == str(column).strip()]
    if exact:
        return exact[0]
    near = get_close_matches(str(column), names, 3, 0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise CurveError(
        f"{name}: there is no column {column!r} for {role}; {hint}the columns are {', '.join(map(repr, names))}"
    )


def _candidates(tables: Sequence[Table], role: str, said: Mapping[str, str]) -> Iterator[_Column]:
    for table in tables:
        for name in table.columns:
            means = meaning(name)
            if role in said:
                if name != said[role]:
                    continue
                means = means if means is not None and means.role == role else Meaning(role, -1)
            elif means is None or means.role != role or name in said.values():
                continue
            yield _Column(table, name, means, int(filled(table.columns[name]).sum()))


def _chosen(role: str, columns: list[_Column], name: str) -> _Column:
    """The one column of several that plays a role."""
    if role == "loss":
        kinds = {(column.meaning.held_out, column.meaning.unit) for column in columns}
        most = max(column.count for column in columns)
        seldom = [column for column in columns if column.count < min(ENOUGH, most)]
        if len(kinds) > 1 and len(seldom) < len(columns):
            columns = [column for column in columns if column not in seldom]
        units = ("nats", "bits", "perplexity")
        best = min((not column.meaning.held_out, units.index(column.meaning.unit)) for column in columns)
        columns = [c for c in columns if (not c.meaning.held_out, units.index(c.meaning.unit)) == best]
    if role == "lr" and len({column.table.name for column in columns}) > 1:  # rates beside a log are meant, not its own
        columns = [column for column in columns if "loss" in lacks([column.table])] or columns
    first = min(column.meaning.rank for column in columns)
    columns = [column for column in columns if column.meaning.rank == first]
    if len(columns) == 1:
        return columns[0]
    shown = list(dict.fromkeys(column.name for column in columns))
    if len({plain(column) for column in shown}) < len(shown):
        raise CurveError(f"{name}: more than one column is called {shown[0]!r} but for case; say which one")
    if role == "lr" and _proportional(columns):
        return columns[0]  # groups of parameters whose rates differ by a factor
    most = max(column.count for column in columns)
    fullest = [column for column in columns if column.count == most]
    if role in ("batch_size", "tokens") or (role == "loss" and len(fullest) == 1 and _one_loss(shown)):
        return fullest[0]
    quantity = "loss" if role == "loss" else "learning rate"
    if len(shown) == 1:
        raise CurveError(f"{name}: {shown[0]!r} stands in several of the files; give each run on its own")
    raise CurveError(
        f"{name}: the columns {', '.join(shown)} could each be the {quantity}; say which one, for example"
        f" columns={{{role!r}: {shown[0]!r}}} (--columns {role}={shown[0]})"
    )


def _one_loss(names: Sequence[str]) -> bool:
    """Whether names differ by what the loss is averaged over alone, such as train_loss_step and train_loss_epoch."""
    averages = ("step", "epoch", "avg", "average", "mean", "total")
    bare = set()
    for name in names:
        text = plain(name)
        for average in averages:
            text = text.removesuffix(average)
        bare.add(text)
    return len(bare) == 1


def _proportional(columns: Sequence[_Column]) -> bool:
    first = columns[0]
    if any(column.table is not first.table for column in columns):
        return False
    rates = [numbers(column.table, column.name, "lr", missing=True) for column in columns]
    if any(not np.array_equal(np.isnan(rate), np.isnan(rates[0])) for rate in rates):
        return False
    largest = [np.nanmax(rate) for rate in rates]
    scaled = [rate / most if most > 0 else rate for rate, most in zip(rates, largest, strict=True)]
    return all(np.allclose(rate, scaled[0], rtol=1e-6, atol=1e-9, equal_nan=True) for rate in scaled)


def _clock(table: Table, said: Mapping[str, str], per_step: float | None) -> Array | None:
    """The step of every row, nan where it has none; None where the table has no steps."""
    name = said.get("step")
    if name is not None and name in table.columns:
        names = [name]
    else:
        columns = list(_candidates([table], "step", {}))
        if not columns:
            return _tokens_as_steps(table, said, per_step)
        first = min(column.meaning.rank for column in columns)
        names = [column.name for column in columns if column.meaning.rank == first and column.name not in said.values()]
        if len({plain(name) for name in names}) < len(names):
            raise CurveError(f"{table.name}: more than one column is called {names[0]!r} but for case; say which one")
    step: Array = np.full(len(table.rows), np.nan)
    for column in names:  # counters of training and of validation, each in its own rows
        step = np.where(np.isnan(step), numbers(table, column, "step", missing=True), step)
    return step if per_step is None else _updates(table, step, per_step)


def _tokens_as_steps(table: Table, said: Mapping[str, str], per_step: float | None) -> Array | None:
    tokens = list(_candidates([table], "tokens", said))
    if not tokens:
        return None
    seen = numbers(table, tokens[0].name, "tokens", missing=True)
    if per_step is None:
        of_tokens = _counts_tokens(tokens[0])
        batches = [column for column in _candidates([table], "batch_size", said) if _counts_tokens(column) is of_tokens]
        if not batches:
            return None
        size = numbers(table, batches[0].name, "batch_size", missing=True)
        size = size[~np.isnan(size)]
        if not (size == size[0]).all() or size[0] <= 0:
            return None
        per_step = float(size[0])
    return _updates(table, seen, per_step)


def _counts_tokens(column: _Column) -> bool:
    return "token" in column.name.lower()


def _updates(table: Table, seen: Array, per_step: float) -> Array:
    """Numbers of updates from what they took; refused where rows that took more fall on one update."""
    step = np.asarray(np.rint(seen / per_step))
    merged = (np.diff(seen) > 0.0) & (np.diff(step) == 0.0)
    if merged.any():
        at = int(np.argmax(merged)) + 1
        raise CurveError(
            f"{per_step:g} tokens or samples an update put rows of {seen[at - 1]:g} and of {seen[at]:g} on one update,"
            f" {step[at]:g}: an update takes fewer (tokens_per_step=, --tokens-per-step)",
            table.rows[at],
        )
    return step


def _series(column: _Column, role: str, clock: Array, drop_missing: bool) -> Series:
    """The column at its filled cells; an empty cell among others is refused, where it is not one of many on purpose."""
    table, cells = column.table, column.table.columns[column.name]
    held = filled(cells)
    rows = np.asarray(table.rows)
    on_purpose = drop_missing or _on_purpose(table, column.name, held)
    values = numbers(table, column.name, role, missing=on_purpose)
    kept = held & ~(np.isnan(values) & drop_missing) if on_purpose else np.ones(rows.size, dtype=bool)
    if drop_missing and rows.size and not kept.any():
        raise CurveError(f"{table.name}: every row lacks a value in {column.name}")
    without = kept & np.isnan(clock)
    if without.any():
        at = int(np.argmax(without))
        raise CurveError(
            f"column {column.name!r} holds {values[at]:g} here, and no step is given ({int(without.sum())} such rows)",
            int(rows[at]),
        )
    series = Series(column.name, clock[kept], values[kept], rows[kept], column.meaning, table)
    newest_first = series.step.size > 2 and (np.diff(series.step) < 0.0).all()
    return series.keep(slice(None, None, -1)) if newest_first else series


def _on_purpose(table: Table, name: str, held: Any) -> bool:
    """Whether the empty cells of a column are those of a quantity that is recorded in some rows only."""
    empty = ~held
    share = float(empty.mean()) if held.size else 0.0
    places = np.flatnonzero(held)
    if empty.sum() < 2 or not held.any():
        return False  # one empty cell is an accident
    if held.size - 1 - places[-1] > 2 * np.diff(places, prepend=-1).max():
        return False  # empty at the end for longer than ever before: the column has ended, it is not seldom recorded
    if share >= _SPARSE:
        return True
    masks = [
        mask
        for column, cells in table.columns.items()
        if column != name and (means := meaning(column)) is not None and means.role in ("lr", "loss")
        # where few cells are empty, the others are of another record: no row holds both
        if not (mask := filled(cells)).all() and (share >= _COMPLEMENTARY or not (mask & held).any())
        if (~mask).mean() >= _COMPLEMENTARY
    ]
    return bool((empty <= np.any(masks, axis=0)).all()) if masks else False


def _refuse_missing(
    tables: Sequence[Table], missing: Sequence[str], name: str, tokens: bool, needs: Sequence[str]
) -> None:
    names = list(dict.fromkeys(column for table in tables for column in table.columns))
    if missing[0] == "step" and tokens:
        raise CurveError(
            f"{name}: there is no column of steps, but one of tokens or samples; say how many one update takes with"
            " tokens_per_step=... (--tokens-per-step)"
        )
    if not names:
        raise CurveError(f"{name}: there are no columns in it; steps, losses and learning rates are needed")
    asked, typed = "which one it is" if len(missing) == 1 else "which they are", [f"{role}=NAME" for role in missing]
    raise CurveError(
        f"{name}: no column for {' and '.join(missing)} among {', '.join(map(repr, names))}; say {asked}, for example"
        f" columns={dict.fromkeys(missing, 'NAME')} (--columns {','.join(typed)})"
        + (NO_STEP if "epoch" in names else "")
        + (
            "; learning rates can also come from another file of the run (LOG+RATES), as `fsl schedule NAME --peak-lr X"
            " --steps K --csv RATES` writes it, or for all logs that hold none from one (--rates RATES)"
            if "lr" in missing and "loss" in needs
            else ""
        )
    )
