"""Files of loss curves as they are typed, with what the files do not say; the same options for every command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from fsl_num.cli.inputs import InputError, real_number, whole_number

if TYPE_CHECKING:
    from fsl_num.curves.curve import LossCurve

WARMUP_SHAPES: Final = ("linear", "cosine", "constant")
BETWEEN: Final = ("auto", "hold", "straight")
UNITS: Final = ("auto", "nats", "bits", "perplexity")


def add_curve_options(parser: argparse.ArgumentParser) -> None:
    """Add what is said of all files at once."""
    files = parser.add_argument_group("the files: step, lr, loss, and perhaps batch_size or tokens")
    files.add_argument("--warmup", metavar="N", type=whole_number(0), default=0, help="updates of warmup (default: 0)")
    files.add_argument("--warmup-shape", choices=WARMUP_SHAPES, default="linear", help="(default: linear, from 0)")
    files.add_argument("--between", choices=BETWEEN, default="auto", help="the rate between two rows (default: auto)")
    files.add_argument("--columns", metavar="step=A,loss=B", help="which column is what, by name or position from 0")
    files.add_argument("--loss-unit", choices=UNITS, default="auto", help="(default: by the name of the column)")
    files.add_argument("--drop-missing", action="store_true", help="leave out the rows in which a column is empty")
    files.add_argument("--smooth", metavar="ROWS", type=whole_number(1), help="centred median of so many rows (odd)")
    files.add_argument("--first-step", metavar="N", type=whole_number(0), help="leave out the rows before this step")
    files.add_argument("--last-step", metavar="N", type=whole_number(1), help="leave out the rows behind this step")
    files.add_argument("--batch-size", metavar="X", type=real_number, help="of all files (default: their column, or 1)")
    files.add_argument(
        "--model-size", metavar="M", nargs="+", type=real_number, help="parameters: one for all files, or one a file"
    )


def read_files(arguments: argparse.Namespace, paths: Sequence[str]) -> list[LossCurve]:
    """The curves of the files, in their order, each named by the part of its path that tells it from the others."""
    from fsl_num.curves.reading import read_curve

    sizes = arguments.model_size or [None]
    if len(sizes) not in (1, len(paths)):
        raise InputError(f"--model-size needs one number, or one for each of the {len(paths)} files, not {len(sizes)}")
    sizes = sizes * len(paths) if len(sizes) == 1 else sizes
    doubled = sorted({path for path in paths if list(paths).count(path) > 1})
    if doubled:
        raise InputError(f"{doubled[0]!r} is named twice; each file counts once, for training or for prediction")
    if arguments.smooth is not None and arguments.smooth % 2 == 0:
        raise InputError(f"--smooth must be odd, so that the window has a middle row, not {arguments.smooth}")
    columns = _columns(arguments.columns)
    curves = []
    for path, name, size in zip(paths, short_names(paths), sizes, strict=True):
        try:
            curve = read_curve(
                path,
                columns=columns,
                loss_unit=arguments.loss_unit,
                drop_missing=arguments.drop_missing,
                batch_size=None if arguments.batch_size is None else float(arguments.batch_size),
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
        except ValueError as error:
            raise InputError(" ".join(str(error).split())) from error
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
    bare = [str(PurePath(name).with_suffix("").as_posix()) for name in names]
    return bare if len(set(bare)) == len(bare) else names


def _columns(text: str | None) -> dict[str, Any] | None:
    """{"step": "A", "loss": 2} for step=A,loss=2."""
    if text is None:
        return None
    found: dict[str, Any] = {}
    for part in text.split(","):
        role, equals, name = part.partition("=")
        if not equals or not role.strip() or not name.strip():
            raise InputError(f"--columns takes pairs such as step=A,lr=B,loss=C, but {part!r} is none")
        found[role.strip()] = int(name) if name.strip().isascii() and name.strip().isdigit() else name.strip()
    return found
