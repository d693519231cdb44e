"""Files that a command writes: refused before the work where they could not be written, then written whole or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from fsl_num.cli.inputs import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES: Final = (".png", ".svg", ".pdf")


def check_targets(targets: dict[str, str | None], pictures: tuple[str, ...] = ("--plot",)) -> None:
    """Refuse any of {option: path} that could not be written, and two options that name one file."""
    given = {option: path for option, path in targets.items() if path is not None and path != "-"}
    if len(set(given.values())) < len(given):
        raise InputError(f"{', '.join(given)} must name different files")
    for option, path in given.items():
        (check_picture if option in pictures else check_target)(option, path)


def check_target(option: str, path: str) -> None:
    """Refuse a file that could not be written, before the work whose result it is to hold."""
    from fsl_num.writing import check_writable

    try:
        check_writable(path)
    except (OSError, ValueError) as error:
        raise unwritable(option, path, error) from error


def check_picture(option: str, path: str) -> None:
    """Refuse a picture that could not be drawn or written."""
    if Path(path).suffix.lower() not in PICTURES:
        raise InputError(f"{option} must name a file that ends in {', '.join(PICTURES)}, not {path!r}")
    check_target(option, path)
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


def unwritable(option: str, path: str, error: Exception) -> InputError:
    """One sentence on a file that cannot be written."""
    return InputError(f"{option} cannot write to {path!r}: {getattr(error, 'strerror', None) or error}")
