"""Write a file whole or not at all: beside its place first, then renamed onto it.

>>> import tempfile
>>> from pathlib import Path
>>> with tempfile.TemporaryDirectory() as folder:
...     target = Path(folder) / "report.json"
...     write_atomically(target, "{}")
...     target.read_text(), [path.name for path in Path(folder).iterdir()]
('{}', ['report.json'])
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], text: str | bytes) -> None:
    """Write ``text`` to ``path`` so that a reader finds the old file or the new one, never a part of it.

    Args:
        path: the file to make or replace; its folder must exist.
        text: the whole new content, a string (written as UTF-8) or bytes.

    Raises:
        OSError: the folder does not exist or cannot be written to, or ``path`` is a folder. Nothing is left behind.
    """
    target = Path(path)
    beside = _open_beside(target)
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_TRUNC), "wb") as stream:
            stream.write(text if isinstance(text, bytes) else text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())  # the rename must never reach the disk before the content
        beside.chmod(_mode(target))
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise the ``OSError`` that :func:`write_atomically` would raise, before the work whose result is to be written.

    >>> check_writable("no-such-folder/report.json")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no-such-folder'
    """
    _open_beside(Path(path)).unlink()


def _open_beside(target: Path) -> Path:
    """An empty file in the target's folder: the same file system, so that the rename is atomic."""
    if not target.parent.exists():
        raise FileNotFoundError(2, "No such file or directory", str(target.parent))
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(target))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    os.close(handle)
    return Path(name)


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced; of a new one, those that ``open`` would have given it."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
