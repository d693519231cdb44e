"""What a command gives out: tables and texts on the terminal, JSON, and files that are written whole or not at all."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from fsl_num.cli.inputs import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES: Final = (".png", ".svg", ".pdf")


def show(*parts: Any, width: int = 120) -> None:
    """Print texts as they are and tables as wide as the terminal (``width`` where there is none).

    Colours are for terminals alone, and not with ``--no-color`` or the variable ``NO_COLOR``.
    """
    from fsl_num.report.tables import rendered

    context = click.get_current_context(silent=True)
    coloured = sys.stdout.isatty() and (context is None or context.color is not False)
    columns = shutil.get_terminal_size((width, 24)).columns
    print(rendered(*parts, width=columns, coloured=coloured))


def show_json(value: Any) -> None:
    """Print JSON-ready values."""
    print(as_json(value))


def as_json(value: Any) -> str:
    """JSON-ready values as text."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def check_targets(targets: dict[str, str | None], pictures: tuple[str, ...] = ("--plot",)) -> None:
    """Refuse any of {option: path} that could not be written, and two options that name one file."""
    from fsl_num.writing import check_writable

    given = {option: path for option, path in targets.items() if path is not None and path != "-"}
    if len(set(given.values())) < len(given):
        raise InputError(f"{', '.join(given)} must name different files")
    for option, path in given.items():
        if option in pictures and Path(path).suffix.lower() not in PICTURES:
            raise InputError(f"{option} must name a file that ends in {', '.join(PICTURES)}, not {path!r}")
        try:
            check_writable(path)
        except (OSError, ValueError) as error:
            raise unwritable(option, path, error) from error
        if option in pictures:
            try:
                import matplotlib  # noqa: F401
            except ImportError as error:
                raise InputError(f"{option} needs matplotlib: install the extra `plot`") from error


def write_picture(option: str, path: str, figure: Figure) -> None:
    """Write ``figure`` to ``path``, whole or not at all, in the format that its name ends in."""
    from io import BytesIO

    stream = BytesIO()
    figure.savefig(stream, format=Path(path).suffix[1:].lower())
    write_content(option, path, stream.getvalue())


def write_content(option: str, path: str, content: str | bytes) -> None:
    """Write text or bytes to ``path``, whole or not at all."""
    from fsl_num.writing import write_atomically

    try:
        write_atomically(path, content)
    except OSError as error:
        raise unwritable(option, path, error) from error


def model_title(arguments: Any) -> str:
    """Task and model as the title of a picture."""
    size = r"\infty" if arguments.model_size == float("inf") else f"{arguments.model_size}"
    return rf"$s$ = {arguments.s}, $\beta$ = {arguments.beta}, $M = {size}$, $\sigma^2$ = {arguments.noise}"


def unwritable(option: str, path: str, error: Exception) -> InputError:
    """One sentence on a file that cannot be written."""
    return InputError(f"{option} cannot write to {path!r}: {getattr(error, 'strerror', None) or error}")
