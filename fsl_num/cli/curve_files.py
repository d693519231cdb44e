"""Files of loss curves as they are typed, with what the files do not say; the same options for every command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from fsl_num.cli.inputs import STANDARD, InputError, real_number, refused
from fsl_num.cli.options import REAL, Arguments, Names, Option, Read, whole
from fsl_num.writing import identity

if TYPE_CHECKING:
    from fsl_num.curves.curve import LossCurve


def curve_options() -> list[Option]:
    """What is said of all files at once."""
    section = "the files: step, lr, loss, and perhaps batch_size or tokens"
    shapes, between = Names("fsl_num.curves.rates:WARMUP_SHAPES"), Names("fsl_num.curves.rates:BETWEEN")
    pairs, units = "which column is what, by name or position from 0", Names("fsl_num.curves.columns:UNITS")
    options: list[tuple[str, dict[str, Any]]] = [
        ("--warmup", {"type": whole(0), "default": 0, "help": "updates of warmup (default: 0)"}),
        ("--warmup-shape", {"type": shapes, "default": "linear", "help": "(default: linear, from 0)"}),
        ("--between", {"type": between, "default": "auto", "help": "the rate between two rows (default: auto)"}),
        ("--columns", {"metavar": "step=A,loss=B", "help": pairs}),
        ("--tokens-per-step", {"type": REAL, "help": "the steps are tokens, so many of which make an update"}),
        ("--loss-unit", {"type": units, "default": "auto", "help": "(default: by the name of the column)"}),
        ("--drop-missing", {"is_flag": True, "help": "leave out the rows in which a column is empty"}),
        ("--smooth", {"type": whole(1, "ROWS"), "help": "centred median of so many rows (odd)"}),
        ("--first-step", {"type": whole(0), "help": "leave out the rows before this step"}),
        ("--last-step", {"type": whole(1), "help": "leave out the rows behind this step"}),
        ("--batch-size", {"type": REAL, "help": "of all files (default: their column, or 1)"}),
        ("--model-size", {"type": Read("M", real_number), "several": True,
                          "help": "parameters: one for all files, or one a file"}),
    ]  # fmt: skip
    return [Option(name, section=section, **more) for name, more in options]


def read_files(arguments: Arguments, paths: Sequence[str]) -> list[LossCurve]:
    """The curves of the files, in their order, each named by the part of its path that tells it from the others."""
    from fsl_num.curves.reading import read_curve

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
    columns = _columns(arguments.columns)
    curves = []
    for path, name, size in zip(paths, short_names(paths), sizes, strict=True):
        with refused():
            curve = read_curve(
                path,
                columns=columns,
                loss_unit=arguments.loss_unit,
                drop_missing=arguments.drop_missing,
                batch_size=None if arguments.batch_size is None else float(arguments.batch_size),
                tokens_per_step=None if arguments.tokens_per_step is None else float(arguments.tokens_per_step),
                warmup=arguments.warmup,
                warmup_shape=arguments.warmup_shape,
                between=arguments.between,
                model_size=None if size is None else float(size),
                name=name,
            )
            if arguments.first_step is not None or arguments.last_step is not None:
                last = arguments.last_step if arguments.last_step is not None else int(curve.step[-1])
                curve = curve.between_steps(arguments.first_step or 0, last)
            curves.append(curve if arguments.smooth is None else curve.smoothed(arguments.smooth))
    return curves


def short_names(paths: Sequence[str]) -> list[str]:
    """The paths without the folder that all share, and without their endings where names stay apart.

    >>> short_names(["runs/25M/cosine.csv", "runs/100M/cosine.csv"])
    ['25M/cosine', '100M/cosine']
    """
    parts = [PurePath(path).parts for path in paths]
    shared = 0
    while min(map(len, parts)) > shared + 1 and len({each[shared] for each in parts}) == 1:
        shared += 1
    names = [PurePath(*each[shared:]).as_posix() for each in parts]
    bare = [PurePath(name).with_suffix("").as_posix() if PurePath(name).name else name for name in names]
    return bare if len(set(bare)) == len(bare) else names


def _columns(text: str | None) -> dict[str, Any] | None:
    """{"step": "A", "loss": 2} for step=A,loss=2."""
    if text is None:
        return None
    roles: dict[str, Any] = {}
    for part in text.split(","):
        role, equals, name = part.partition("=")
        if not equals or not role.strip() or not name.strip():
            raise InputError(f"--columns takes pairs such as step=A,lr=B,loss=C, but {part!r} is none")
        roles[role.strip()] = int(name) if re.fullmatch(r"\s*\d{1,9}\s*", name, re.ASCII) else name.strip()
    return roles
