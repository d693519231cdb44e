"""Files of loss curves as they are typed, with what the files do not say; the same options for every command."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from fsl_num.cli.inputs import STANDARD, InputError, real_number, refused
from fsl_num.cli.options import REAL, Arguments, Names, Option, Read, columns_option, restarts_option, whole
from fsl_num.cli.rates import columns_of, rates_of_file
from fsl_num.writing import identity

if TYPE_CHECKING:
    from fsl_num.curves.curve import LossCurve
    from fsl_num.curves.logs import LogOptions
    from fsl_num.curves.reading import Source


def curve_options() -> list[Option]:
    """What is said of all files at once."""
    section = "the files: step, lr, loss, and perhaps batch_size or tokens"
    shapes, between = Names("fsl_num.curves.rates:WARMUP_SHAPES"), Names("fsl_num.curves.rates:BETWEEN")
    units = Names("fsl_num.curves.columns:UNITS")
    options: list[tuple[str, dict[str, Any]]] = [
        ("--warmup", {"type": whole(0), "help": "updates of warmup (default: where the rate rises at the start)"}),
        ("--warmup-shape", {"type": shapes, "default": "linear",
                            "help": "how the rate rises before the first row (default: linear, from 0)"}),
        ("--between", {"type": between, "default": "auto", "help": "the rate between two rows (default: auto)"}),
        ("--loss-unit", {"type": units, "default": "auto",
                         "help": "of the losses (default: by the name of the column)"}),
        ("--rates", {"metavar": "FILE",
                     "help": "the rate of every update, one a row, of all logs that hold none; of one: LOG+FILE"}),
        ("--tokens-per-step", {"type": REAL, "help": "of one update, where the steps of a log count tokens"}),
        ("--branch-of", {"metavar": "FILE[@STEP]", "help": "the run from which logs that begin late near it went on"}),
        ("--drop-missing", {"is_flag": True, "help": "leave out the rows in which a column is empty or nan"}),
        ("--smooth", {"type": whole(1, "ROWS"), "help": "centred median of so many rows (odd)"}),
        ("--first-step", {"type": whole(0), "help": "leave out the rows before this step"}),
        ("--last-step", {"type": whole(1), "help": "leave out the rows behind this step"}),
        ("--batch-size", {"type": REAL, "help": "of all files (default: their column, or 1)"}),
        ("--model-size", {"type": Read("M", real_number), "several": True,
                          "help": "parameters: one for all files, or one a file"}),
    ]  # fmt: skip
    made = [Option(name, section=section, **settings) for name, settings in options]
    log = [columns_option("step=A,loss=B", section=section), restarts_option(section=section)]
    return [*made[:3], *log, *made[3:]]


def read_files(arguments: Arguments, *groups: Sequence[str]) -> list[dict[str, LossCurve]]:
    """The curves of each group of files, by what was typed; each named by the part of its path that tells it apart.

    Where a file holds several runs, the name of the run is added to what was typed. A file of a folder that is typed by
    itself too is left out of the folder: each run counts once. What was decided in reading a log is said, a line a
    curve.
    """
    paths = [path for group in groups for path in group]
    sizes = list(arguments.model_size) or [None]
    if len(sizes) not in (1, len(paths)):
        raise InputError(f"--model-size needs one number, or one for each of the {len(paths)} files, not {len(sizes)}")
    sizes = sizes * len(paths) if len(sizes) == 1 else sizes
    if "" in paths:
        raise InputError("a file has an empty name: is a variable of the shell empty?")
    with refused(OSError):
        files = [path if path == STANDARD else identity(path) or path for path in paths]
    doubled = [path for path, file in zip(paths, files, strict=True) if files.count(file) > 1]
    if doubled:
        raise InputError(f"{doubled[-1]!r} is named twice; each file counts once, for training or for prediction")
    if arguments.smooth is not None and arguments.smooth % 2 == 0:
        raise InputError(f"--smooth must be odd, so that the window has a middle row, not {arguments.smooth}")
    from fsl_num.curves.branches import with_branches

    options = _options(arguments)
    parent, branch_step = _parent(arguments, options)
    named = dict(zip(paths, zip(short_names(paths), sizes, strict=True), strict=True))
    with refused():
        read = [_read_group(group, named, options) for group in groups]
        curves = [curve for group in read for curve in group.values()]
        if options.schedule is not None and not any(curve.schedule is options.schedule for curve in curves):
            raise InputError(
                "--rates: each log holds its own learning rates; LOG+FILE puts those of a file in their place"
            )
        curves = with_branches(curves, parent, branch_step)
        _say_notes(curves)
        cut = iter([_cut(curve, arguments) for curve in curves])
        return [dict(zip(group, cut, strict=False)) for group in read]


def _say_notes(curves: Sequence[LossCurve]) -> None:
    """Say what was decided on the way, each decision in one line."""
    said = dict[str, list[str]]()
    for curve in curves:
        for note in curve.notes:
            said.setdefault(note, []).append(curve.name)
    for note, names in said.items():
        _say(names, note)


def _say(names: Sequence[str], note: str) -> None:
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    click.echo(f"fsl: {shown}: {note}", err=True)


def _cut(curve: LossCurve, arguments: Arguments) -> LossCurve:
    """The rows that are wanted, smoothed as it was typed."""
    if arguments.first_step is not None or arguments.last_step is not None:
        last = arguments.last_step if arguments.last_step is not None else int(curve.step[-1])
        curve = curve.between_steps(arguments.first_step or 0, last)
    return curve if arguments.smooth is None else curve.smoothed(arguments.smooth)


def _read_group(
    paths: Sequence[str],
    named: Mapping[str, tuple[str, Any]],
    options: LogOptions,
) -> dict[str, LossCurve]:
    from fsl_num.curves.reading import together

    typed = {path: _joined(path) for path in paths}
    curves, doubled = {}, []
    alone = {_place(part) for path in named for part in _joined(path)}
    for source in together(list(typed.values()), options):
        path = next(path for path, parts in typed.items() if source.paths[0] in parts)
        if source.inside and Path(path).resolve() / source.inside in alone:
            doubled.append(source.inside)
            continue
        name, size = named[path]
        rates = None if _holds_rates(source, options) else options.schedule
        model_size = None if size is None else float(size)
        read = source.curves(replace(options, name=name, model_size=model_size, schedule=rates))
        for curve in read:
            label = path if len(read) == 1 and not source.inside else curve.name
            curves[label] = curve
    if doubled:
        _say(doubled, "left out of its folder: it is named itself, and counts once")
    if paths and not curves:
        raise InputError(f"{paths[0]!r} holds no run but those that are named themselves")
    return curves


def _holds_rates(source: Source, options: LogOptions) -> bool:
    """Whether a log says its learning rates itself."""
    from fsl_num.curves.runs import lacks

    said = "lr" in (options.columns or {})
    return said or not any("lr" in lacks(tables) for tables in source.runs().values())


def _place(path: str) -> Path:
    """Where a file is, without the ending of its name: as a run inside a folder is named."""
    return Path(os.path.splitext(os.path.realpath(path))[0])


def _options(arguments: Arguments) -> LogOptions:
    from fsl_num.curves.logs import LogOptions

    file, restarts = arguments.rates, arguments.restarts
    with refused():
        rates = None if file is None else rates_of_file(file, "--rates", restarts=restarts)
        return LogOptions(
            columns=columns_of(arguments.columns),
            loss_unit=arguments.loss_unit,
            drop_missing=arguments.drop_missing,
            restarts=restarts,
            tokens_per_step=None if arguments.tokens_per_step is None else float(arguments.tokens_per_step),
            schedule=rates,
            batch_size=None if arguments.batch_size is None else float(arguments.batch_size),
            warmup=arguments.warmup,
            warmup_shape=arguments.warmup_shape,
            between=arguments.between,
            last_step=arguments.last_step,
        )


def _parent(arguments: Arguments, options: LogOptions) -> tuple[LossCurve | None, int | None]:
    """The run of ``--branch-of FILE[@STEP]``, and the step."""
    from fsl_num.curves.logs import single

    if arguments.branch_of is None:
        return None, None
    path, at, step = arguments.branch_of.rpartition("@")
    if not at or not step.isascii() or not step.isdigit():
        path, step = arguments.branch_of, ""
    with refused():
        read = _read_group([path], {path: (short_names([path])[0], None)}, options)
        return single(list(read.values()), path, "name the log of one"), int(step) if step else None


def files_of(paths: Sequence[str]) -> list[str]:
    """The files that are read for such paths, those of one run one by one.

    >>> files_of(["a.csv", "loss.csv+lr.csv"])
    ['a.csv', 'loss.csv', 'lr.csv']
    """
    return [file for path in paths for file in _joined(path)]


def _joined(path: str) -> list[str]:
    """The files of one run, typed with + between them; a file whose own name holds one is itself."""
    files = [path] if os.path.exists(path) or "+" not in path else path.split("+")
    if len(files) > 1 and not all(files):
        raise InputError(f"a file is missing beside the + of {path!r}: a run in two files is typed loss.csv+lr.csv")
    return files


def short_names(paths: Sequence[str]) -> list[str]:
    """The ends of paths, as short as keeps them apart, and without their endings where that does.

    >>> short_names(["runs/25M/cosine.csv", "runs/100M/cosine.csv"]), short_names(["a/run.csv", "b/other.csv"])
    (['25M/cosine', '100M/cosine'], ['run', 'other'])
    """
    parts = [PurePath(path).parts for path in paths]
    longest = max(map(len, parts))
    names = list(paths)
    for count in range(1, longest + 1):
        last = [PurePath(*part[-count:]).as_posix() for part in parts]
        bare = [PurePath(name).with_suffix("").as_posix() if PurePath(name).name else name for name in last]
        for names in (bare, last):
            if len(set(names)) == len(names):
                return names
    return names
