"""What a command gives out: tables and texts on the terminal, JSON, and files that are written whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from fsl_num.cli.inputs import STANDARD, InputError
from fsl_num.cli.streams import OutputError, emit, emit_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")

PICTURES: Final = (".png", ".svg", ".pdf")
PICTURE_HELP: Final = f"({', '.join(PICTURES)}; needs the extra plot)"


def terminal_width() -> int:
    """Columns of what is printed: those of the terminal (or the variable ``COLUMNS``), 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def show(*parts: Any) -> None:
    """Print texts as they are and tables as wide as the terminal.

    Colours are for terminals alone, and not with ``--no-color`` or the variable ``NO_COLOR``.
    """
    from fsl_num.report.tables import rendered

    context = click.get_current_context(silent=True)
    terminal = sys.stdout is not None and sys.stdout.isatty()
    coloured = terminal and (context is None or context.color is not False)
    emit_text(rendered(*parts, width=terminal_width(), coloured=coloured), coloured=coloured)


def show_json(value: Any) -> None:
    """Print JSON-ready values."""
    text = as_json(value)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2, allow_nan=False)
    emit(text + "\n")


def as_json(value: Any) -> str:
    """JSON-ready values as text; ValueError where one of them is no finite number."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


class Outputs:
    """Where the results of one command go. All is checked before the work; files are written before all is printed.

    ``targets``: {option: path, or None where it was not given}; the path "-" is standard output, which then takes
    nothing else. ``inputs``: {option: the paths that it reads}. ``pictures``: the options that name pictures.
    ``json``: whether JSON is to be printed.

    Raises InputError where a file cannot be written, or would replace what is read or another output.
    """

    def __init__(
        self,
        targets: Mapping[str, str | None],
        *,
        inputs: Mapping[str, Sequence[str | None]] | None = None,
        pictures: tuple[str, ...] = ("--plot",),
        json: bool = False,
    ) -> None:
        self._targets = {option: path for option, path in targets.items() if path is not None}
        self._pictures = pictures
        printed = [f"{option} {path}" for option, path in self._targets.items() if path == STANDARD]
        self.silent = bool(printed)
        if len(printed) + json > 1:
            raise InputError(f"{' and '.join([*printed, *['--json'] * json])} both need standard output")
        named = {option: path for option, path in self._targets.items() if path != STANDARD}
        for option, path in named.items():
            if option in pictures and Path(path).suffix.lower() not in PICTURES:
                raise InputError(f"{option} must name a file that ends in {', '.join(PICTURES)}, not {path!r}")
        for option in pictures:
            if option in self._targets:
                _require_matplotlib(option)
        _check_files(named, inputs or {})

    def write(self, option: str, content: Callable[[], str | bytes]) -> None:
        """Write what ``content`` makes to where the option says, if it was given.

        Raises OutputError where that fails although it was possible before the work, for want of room say.
        """
        path = self._targets.get(option)
        if path == STANDARD:
            emit(content())
        elif path is not None:
            from fsl_num.writing import write_atomically

            made = content()
            try:
                write_atomically(path, made)
            except OSError as error:
                raise OutputError(f"{option} cannot write to {path!r}: {error.strerror or error}") from error

    def draw(self, option: str, figure: Callable[[], Figure]) -> None:
        """Write a picture, in the format that its name ends in (on standard output as PNG)."""

        def content() -> bytes:
            from io import BytesIO

            stream, path = BytesIO(), self._targets[option]
            # of letters in a name that the font lacks: no fault
            with warnings.catch_warnings(action="ignore", category=UserWarning):
                figure().savefig(stream, format="png" if path == STANDARD else Path(path).suffix[1:].lower())
            return stream.getvalue()

        self.write(option, content)

    def show(self, *parts: Any) -> None:
        """Print as :func:`show` does, unless standard output was asked for by an option."""
        if not self.silent:
            show(*parts)


def _check_files(named: Mapping[str, str], inputs: Mapping[str, Sequence[str | None]]) -> None:
    from fsl_num.writing import check_writable, identity

    taken: dict[object, str] = {}
    for option, paths in inputs.items():
        for path in paths:
            if path is not None and path != STANDARD:
                with _unwritable(option, path, "read"):
                    taken.setdefault(identity(path), f"{option} reads")
    taken.setdefault(_file_of_standard_output(), "standard output goes to (give - in its place)")
    taken.pop(None, None)
    for option, path in named.items():
        with _unwritable(option, path, "write to"):
            check_writable(path)
            same = identity(path)
        if same in taken:
            raise InputError(f"{option} would replace {path!r}, which {taken[same]}: give it another name")
        if same is not None:
            taken[same] = f"{option} writes"


def _file_of_standard_output() -> object:
    """The identity of the file that standard output was sent to; None where it is no file."""
    try:
        status = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


@contextmanager
def _unwritable(option: str, path: str, verb: str) -> Iterator[None]:
    """One sentence on a file that cannot be used."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise InputError(f"{option} cannot {verb} {path!r}: {getattr(error, 'strerror', None) or error}") from error


def _require_matplotlib(option: str) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        advice = "install the extra `plot` (in the clone: pip install '.[plot]')"
        raise InputError(f"{option} needs matplotlib: {advice}") from error


def progress_bar(label: str, unit: str, total: int | None = None) -> Any:
    """A live bar (of tqdm, for ``with``) on standard error, wiped at the end; none where nobody sits at a terminal."""
    from tqdm import tqdm

    nobody = None if sys.stderr is not None else True
    return tqdm(desc=label, unit=unit, total=total, file=sys.stderr, leave=False, dynamic_ncols=True, disable=nobody)


def counted(label: str, unit: str, things: Sequence[T]) -> Iterator[T]:
    """The things one after another, with a live bar that says how many are done."""
    with progress_bar(label, unit, len(things)) as bar:
        for entry in things:
            yield entry
            bar.update()


def model_title(arguments: Any) -> str:
    """Task and model as the title of a picture."""
    size = r"\infty" if arguments.model_size == float("inf") else f"{arguments.model_size}"
    return rf"$s$ = {arguments.s}, $\beta$ = {arguments.beta}, $M = {size}$, $\sigma^2$ = {arguments.noise}"
