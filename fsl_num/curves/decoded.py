"""The text of a file, compressed or not, in any encoding that says what it is; other kinds of files are named."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import os
import stat
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any, Final

from fsl_num.curves.curve import CurveError

LARGEST: Final = 2**30
"""Bytes of text, after decompression, that are read at most: about thirty million rows."""

MOST_EXPANDED: Final = 200
"""Times its size to which a compressed file may unfold; numbers that differ unfold to ten."""

_BLOCK: Final = 2**22  # bytes read at once
_COMPRESSED: Final[Mapping[bytes, Callable[[IO[bytes]], Any]]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_FOREIGN: Final[Mapping[bytes, str]] = {
    b"PK\x03\x04": "a ZIP archive or a spreadsheet: unpack it, or save the sheet as CSV",
    b"\x93NUMPY": "a NumPy array: load it and pass its columns to LossCurve",
    b"\x28\xb5\x2f\xfd": "a file compressed with Zstandard: decompress it first",
    b"\x89HDF": "an HDF5 file: read it with pandas and pass the DataFrame to curve_from",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet: save the sheet as CSV",
    b"%PDF": "a PDF document: export the numbers as CSV",
    b'\x18\0\0\0\0\0\0\0\xa3\x7fK"': "a file of TensorBoard events: download its scalars as CSV, a tag a file",
    b":W&B": "a run as Weights & Biases keeps it: export its charts or its history as CSV",
    b"SQLite format 3": "a database: export the table as CSV",
}
_UNMARKED: Final = (("utf-16-le", 1), ("utf-16-be", 0))  # every second byte of plain text is zero there, from which on
_MARKS: Final[Mapping[bytes, str]] = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def text_of(path: Path, content: bytes) -> str:
    """Return the text that the bytes of a file are; CurveError where they are none.

    >>> text_of(Path("run.csv"), "step".encode("utf-16")), text_of(Path("run.csv"), "step".encode("utf-16-be"))
    ('step', 'step')
    """
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError as error:
                raise CurveError(f"{path}: begins like {encoding} but is not ({error}); save it as UTF-8") from error
    if b"\x00" in content:
        for encoding, first in _UNMARKED:
            if len(content) % 2 == 0 and not any(content[first::2]) and b"\x00" not in content[1 - first :: 2]:
                return content.decode(encoding)
        raise CurveError(f"{path}: holds zero bytes, so it is no text; save the table as CSV in UTF-8")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")  # every byte has a meaning there; digits are the same in both


def bytes_of(path: Path) -> bytes:
    """Return what is in a file, decompressed, or on standard input for "-"; CurveError where it cannot be a log.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "run.csv.gz").write_bytes(gzip.compress(b"step"))
    ...     bytes_of(Path(folder) / "run.csv.gz")
    b'step'
    """
    try:
        if path.is_dir():
            raise CurveError(f"{path} is a directory; give the file of one run")
        with _opened(path) as file:
            start = file.peek(16)[:16]  # what is read from a pipe cannot be read again
            for mark, kind in _FOREIGN.items():
                if start.startswith(mark):
                    raise CurveError(f"{path} is {kind}")
            opened = [kind for mark, kind in _COMPRESSED.items() if start.startswith(mark)]
            if opened:
                return _read(path, opened[0](file), _size(file))
            if LARGEST < _size(file) < math.inf:
                raise _too_large(path)
            return _read(path, file)
    except FileNotFoundError as error:
        if path.is_symlink():
            raise CurveError(f"{path} is a link to {path.readlink()}, and there is no such file") from error
        from fsl_num.schedules import SCHEDULES

        siblings = {file.stem: file.name for file in _siblings(path)}  # files of one kind are all alike at their ends
        near = [siblings[stem] for stem in get_close_matches(path.stem, siblings, 3, 0.6)]
        near += [f"the schedule {schedule}" for schedule in get_close_matches(str(path), SCHEDULES, 1, 0.6)]
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        if "=" in str(path):
            hint = "; if it says which column is what, put a comma and no space between the columns"
        raise CurveError(f"there is no file {path}{hint}") from error
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise CurveError(f"{path} is compressed and damaged or cut short ({error}); fetch it again") from error
    except OSError as error:
        hint = "; check its permissions" if isinstance(error, PermissionError) else ""
        raise CurveError(f"{path} cannot be read: {error.strerror or error}{hint}") from error


def _opened(path: Path) -> Any:
    """The file, or standard input for "-"."""
    if str(path) != "-":
        return path.open("rb")
    if sys.stdin is None:
        raise OSError(9, "standard input is closed")
    return sys.stdin.buffer


def _size(file: Any) -> float:
    """The bytes of a file; infinity of a pipe."""
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else math.inf


def _read(path: Path, reader: Any, compressed: float = math.inf) -> bytes:
    """The content, block by block: one call for all would reserve as much as the file may hold beforehand."""
    blocks: list[bytes] = []
    size = 0
    while block := reader.read(_BLOCK):
        blocks.append(block)
        size += len(block)
        if size > LARGEST:
            raise _too_large(path)
        if size > max(MOST_EXPANDED * compressed, 4 * _BLOCK):
            raise CurveError(f"{path} unfolds to more than {MOST_EXPANDED} times its size, as no log of numbers does")
    return b"".join(blocks)


def _too_large(path: Path) -> CurveError:
    return CurveError(f"{path} holds more than {LARGEST // 2**20} MiB of text; keep every tenth row, or fewer")


def _siblings(path: Path) -> Sequence[Path]:
    try:
        return list(path.parent.iterdir())
    except OSError:
        return ()
