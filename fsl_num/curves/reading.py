"""Read loss curves from files: a run a file, several runs in one, or one run in several files or a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from fsl_num.curves.branches import with_branches
from fsl_num.curves.contents import read_tables
from fsl_num.curves.curve import CurveError, LossCurve
from fsl_num.curves.logs import LogOptions, RatesOfLog, curves_of, log_options, rates_of, single
from fsl_num.curves.runs import by_run, lacks
from fsl_num.curves.tables import Table
from fsl_num.validation import described, entries, path_like

MOST_FILES: Final = 1000
"""Files of a folder that are read as the logs of one run, at most."""

_SHOWN = 4  # names of logs in a sentence


def read_curve(path: Any, **options: Any) -> LossCurve:
    """Return the loss curve of one run, in a file, a folder, or several of them that belong together.

    Parameters
    ----------
    path
        A CSV file (comma, semicolon, tab, bar or space between cells; the first row names the columns), JSON or
        JSON lines, Parquet (needs pyarrow), or the lines that a trainer printed; as it is or compressed with gzip,
        bzip2 or xz; "-" is standard input. A folder, or a list of paths, is one run whose loss and rate stand in
        several files; in a list a file may hold the rate of every update, one a row.
    options
        What the files do not say, see :class:`~fsl_num.curves.logs.LogOptions`: columns, loss_unit,
        drop_missing, restarts, tokens_per_step, schedule, batch_size, warmup, branch_of, model_size, name and more.

    Returns
    -------
    LossCurve
        The curve; its rows bear the numbers of the lines of the file, its ``notes`` say what was decided.

    Raises
    ------
    CurveError
        Naming the line, what was found there and what to do.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "run.csv").write_text("step,lr,loss\\n100,1e-3,3.0\\n200,1e-3,2.5\\n")
    ...     read_curve(Path(folder) / "run.csv", warmup=100)
    LossCurve('run', 2 rows, steps 100 to 200)
    """
    said = log_options(**options)
    _check_paths(path)
    return single([curve for source in together([path], said) for curve in source.curves(said)], str(path))


def read_curves(paths: Any, **options: Any) -> list[LossCurve]:
    """Return the loss curves of all runs in a file, a folder or a list of them, in their order.

    Several runs may stand in one table (a column that names the run, or a column a run as in a chart), and one run in
    several files: a file with losses and one with learning rates belong together where they name one run, or where
    there are no others. Of a folder with whole runs, logs that say no learning rates, or no losses, are left out; the
    ``notes`` of the curves name them. A log that begins where another of these runs was, in rate and loss, is a branch
    of it; of the run ``branch_of`` are those of the others that begin late near it
    (:func:`~fsl_num.curves.branches.with_branches`). ``options`` and errors as in :func:`read_curve`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "loss.csv").write_text("Step,a - loss,b - loss\\n1,3.0,3.5\\n2,2.0,2.5\\n")
    ...     _ = (Path(folder) / "lr.csv").write_text("Step,a - lr,b - lr\\n1,0.1,0.2\\n2,0.1,0.2\\n")
    ...     read_curves([Path(folder) / "loss.csv", Path(folder) / "lr.csv"])
    [LossCurve('loss: a', 2 rows, steps 1 to 2), LossCurve('loss: b', 2 rows, steps 1 to 2)]
    """
    said = log_options(**options)
    _check_paths(paths)
    listed = list(paths) if isinstance(paths, (list, tuple)) else [paths]
    alone = replace(said, branch_of=None, branch_step=None)
    curves = [curve for source in together(listed, alone) for curve in source.curves(alone)]
    return with_branches(curves, said.branch_of, said.branch_step)


def _check_paths(paths: Any) -> None:
    if hasattr(paths, "keys"):
        raise TypeError(f"a table that is in memory is read by curve_from(table), got {described(paths)}")
    for path in entries("path", paths, least=1) if isinstance(paths, (list, tuple)) else (paths,):
        path_like("path", path)


def read_rates(path: Any, columns: Mapping[str, Any] | None = None, restarts: str = "refuse") -> RatesOfLog:
    """Return the learning rates of the run in a log, with or without losses.

    ``path``, ``columns`` and ``restarts`` as in :func:`read_curve`; raises CurveError as it does.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "rates.csv").write_text("it,eta (peak 0.2),batch_size\\n0,0.2,8\\n2,0.1,16\\n4,0,16\\n")
    ...     said = read_rates(Path(folder) / "rates.csv", {"step": "it"})
    >>> said.rates.round(3).tolist(), said.warmup, said.batch_sizes.tolist()
    ([0.2, 0.15, 0.1, 0.05], 0, [8.0, 8.0, 16.0, 16.0])
    """
    with _located((path,)):
        runs = by_run(read_tables(path, header=_has_header(columns)))
        if len(runs) > 1:
            raise CurveError(f"it holds {len(runs)} runs ({', '.join(map(str, list(runs)[:6]))}); give a file with one")
        return rates_of(next(iter(runs.values())), columns, restarts)


def _has_header(columns: Mapping[str, Any] | None) -> bool:
    """Whether the first row names the columns: not where all are given by position."""
    return not (columns and all(isinstance(column, int) for column in columns.values()))


@dataclass(frozen=True)
class Source:
    """Tables that hold one or more whole runs, and the paths at which they stand.

    ``inside``: the file, where the path is that of a folder with several runs. ``beside``: what was left out there.
    """

    paths: tuple[Any, ...]
    tables: tuple[Table, ...]
    inside: str = ""
    beside: tuple[str, ...] = ()

    def runs(self) -> dict[str, list[Table]]:
        """Return the tables of each run."""
        with _located(self.paths):
            return by_run(self.tables)

    def curves(self, options: LogOptions) -> list[LossCurve]:
        """Return the curves, with the paths in every error.

        >>> Source(("run.csv",), (Table({"step": [1], "loss": [3.0], "lr": [0.1]}, [2]),)).curves(LogOptions(name="a"))
        [LossCurve('a', 1 rows, steps 1 to 1)]
        """
        named = replace(options, name=f"{options.name}/{self.inside}") if self.inside and options.name else options
        with _located(self.paths):
            curves = curves_of(self.tables, named)
        return [replace(curve, notes=(*curve.notes, *self.beside)) for curve in curves] if self.beside else curves


def together(paths: Sequence[Any], options: LogOptions) -> list[Source]:
    """Return what stands at the paths, the files of one run together.

    A path that is itself a list is the files of one run. Raises CurveError where it cannot be said what belongs
    together.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for role, value in (("loss", 3.0), ("lr", 0.1)):
    ...         _ = (Path(folder) / f"{role}.csv").write_text(f"Step,{role}\\n1,{value}\\n")
    ...     [source] = together([Path(folder) / "loss.csv", Path(folder) / "lr.csv"], LogOptions())
    >>> [path.name for path in source.paths]
    ['loss.csv', 'lr.csv']
    """
    sources = [source for path in paths for source in _sources(path, _has_header(options.columns))]
    if len(sources) == 1 or options.schedule is not None or options.columns:
        return sources
    runs = [source.runs() for source in sources]
    lacking = [{role for tables in run.values() for role in lacks(tables)} for run in runs]
    whole = [source for source, roles in zip(sources, lacking, strict=True) if not roles]
    waiting = {at: set(runs[at]) for at, roles in enumerate(lacking) if roles}
    while waiting:
        first, names = next(iter(waiting.items()))
        own = [at for at, names_there in waiting.items() if names & names_there]
        if sorted(map(sorted, (lacking[at] for at in own))) != [["loss"], ["lr"]]:
            half = all(any(_is_beside(source, sources[at]) for source in whole) for at in own)
            if not half or len(set.union(*(lacking[at] for at in own))) > 1:
                sources[first].curves(options)  # says which columns there are
                raise CurveError(f"{sources[first].paths[0]}: what it lacks stands in several other files, or in none")
            for at in own:
                whole = _without(sources[at], whole, *lacking[at])
        else:
            joined = [sources[at] for at in own]
            files = tuple(path for source in joined for path in source.paths)
            whole.append(Source(files, tuple(table for source in joined for table in source.tables)))
        waiting = {at: names_there for at, names_there in waiting.items() if at not in own}
    return whole


def _is_beside(source: Source, parts: Source) -> bool:
    """Whether it is a whole run of the folder in which the parts stand; never for a log that was named itself."""
    return bool(source.inside) and source.paths == parts.paths


def _without(parts: Source, whole: Sequence[Source], role: str) -> list[Source]:
    """The whole runs, those of the same folder with the word that its logs without this role are left out."""
    missing = "no learning rates (--rates FILE says them)" if role == "lr" else "no losses"
    note = _left_out(dict.fromkeys(table.name for table in parts.tables), missing)
    return [replace(source, beside=(*source.beside, note)) if _is_beside(source, parts) else source for source in whole]


def _left_out(logs: Iterable[str], why: str) -> str:
    """That logs of a folder are not read, and what they have."""
    names = list(logs)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"left out of the folder: {', '.join(names[:_SHOWN])}{more}, with {why}"


def _sources(path: Any, header: bool) -> list[Source]:
    files = tuple(path) if isinstance(path, (list, tuple)) else (path,)
    with _located(files):
        if len(files) > 1 or not os.path.isdir(files[0]):
            read = (read_tables(file, header=header, rates=len(files) > 1) for file in files)
            return [Source(files, tuple(table for tables in read for table in tables))]
        logs, beside = _logs_in(Path(files[0]))
        runs = {name: tables for name, tables in logs.items() if not any(map(lacks, by_run(tables).values()))}
    parts = tuple(table for name, tables in logs.items() if name not in runs for table in tables)
    sources = [Source(files, tuple(tables), name, beside) for name, tables in runs.items()]
    return [*sources, *([Source(files, parts)] if parts else [])]


@contextmanager
def _located(paths: Sequence[Any]) -> Iterator[None]:
    """Put the path before an error, in front of its row."""
    shown = " + ".join(map(str, paths))
    try:
        yield
    except CurveError as error:
        row = "" if error.row is None else f"row {error.row}: "
        said = str(error).removeprefix(row)
        own = next((f"{path}: " for path in paths if said.startswith(f"{path}: ")), f"{shown}: ")
        if not row and (any(said.startswith(str(path)) for path in paths) or f" {paths[0]}" in said):
            raise
        located = CurveError(f"{own}{row}{said.removeprefix(own)}")
        located.row = error.row
        raise located from error


def _logs_in(folder: Path) -> tuple[dict[str, list[Table]], tuple[str, ...]]:
    """The tables of the files of a folder that hold a loss or a learning rate, by the names of the files; and what is
    left out of others: among logs a single record is a configuration, or sums a run up."""
    every = (Path(inside, name) for inside, _, names in os.walk(folder) for name in names)
    files = sorted(islice((entry for entry in every if entry.is_file()), MOST_FILES + 1))
    if len(files) > MOST_FILES:
        raise CurveError(f"{folder}: a folder of more than {MOST_FILES} files; give those of the runs")
    logs, others = {}, ""
    for file in files:
        name = file.relative_to(folder).with_suffix("").as_posix()
        try:
            tables = read_tables(file, name=name)
        except CurveError as error:
            others = others or f" ({error})"
            continue  # of another kind
        if useful := [table for table in tables if len(lacks([table])) < 2]:
            logs[name] = useful
    if not logs:
        raise CurveError(f"{folder}: a folder with no log that names a loss or a learning rate; give the files{others}")
    single = [name for name, tables in logs.items() if all(len(table.rows) == 1 for table in tables)]
    if not 0 < len(single) < len(logs):
        return logs, ()
    return {name: logs[name] for name in logs if name not in single}, (_left_out(single, "a single record"),)
