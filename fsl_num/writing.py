"""Write a file whole or not at all: beside its place first, then renamed onto it.

What is no ordinary file (a device, a pipe) is written to as it is, and so is a file with several names (hard links),
for renaming would leave the other names with the old content. Links are followed to what they name.

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
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], text: str | bytes) -> None:
    """Write ``text`` to ``path`` so that a reader finds the old file or the new one, never a part of it.

    A file that is replaced keeps its permissions and, where that is allowed, its owner. Only what is written in place
    (a device, a pipe, a file with hard links) can be left half written.

    Parameters
    ----------
    path
        The file to make or replace; its folder must exist. A link stands for what it names.
    text
        The whole new content, a string (written as UTF-8) or bytes.

    Raises
    ------
    OSError
        The folder does not exist or cannot be written to, or ``path`` is a folder or a file that may not be
        written. Nothing is left behind.
    """
    content = text if isinstance(text, bytes) else text.encode("utf-8")
    before = _status(path)
    if before is not None and _in_place(before):
        _check_allowed(path, before)
        with open(os.open(path, os.O_WRONLY | (os.O_TRUNC if stat.S_ISREG(before.st_mode) else 0)), "wb") as stream:
            stream.write(content)
        return
    beside, target = _open_beside(path, before)
    try:
        with open(beside, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())  # the rename must never reach the disk before the content
        if before is not None:
            with suppress(OSError, AttributeError):  # only root may give files away, and Windows knows no such thing
                os.chown(beside, before.st_uid, before.st_gid)
        beside.chmod(_mode(before))
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
    before = _status(path)
    if before is not None and _in_place(before):
        _check_allowed(path, before)
    else:
        _open_beside(path, before)[0].unlink()


def identity(path: str | os.PathLike[str]) -> object:
    """What is equal for two paths that name one ordinary file, however they are spelled; None for a device or a pipe.

    >>> identity("a.json") == identity("./a.json"), identity("a.json") == identity("b.json")
    (True, False)
    """
    status = _status(path)
    if status is None:
        return os.path.normcase(os.path.realpath(path))
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """What is there now, links followed; None where there is nothing."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _in_place(before: os.stat_result) -> bool:
    kind = before.st_mode
    return not stat.S_ISDIR(kind) and (not stat.S_ISREG(kind) or before.st_nlink > 1)


def _check_allowed(path: str | os.PathLike[str], before: os.stat_result) -> None:
    if stat.S_ISSOCK(before.st_mode):
        raise OSError(6, "A socket is no file", os.fspath(path))
    if not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied", os.fspath(path))


def _open_beside(path: str | os.PathLike[str], before: os.stat_result | None) -> tuple[Path, Path]:
    """An empty file in the folder of what ``path`` names (the same file system, so that the rename is atomic), and
    that."""
    target = Path(os.path.realpath(path))
    for folder in (Path(path).parent, target.parent):
        if not folder.exists():
            raise FileNotFoundError(2, "No such file or directory", str(folder))
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory", os.fspath(path))
    if before is not None:
        _check_allowed(path, before)
    # a short part of its name: one as long as names may be has no room for more
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent)
    os.close(handle)
    return Path(name), target


def _mode(before: os.stat_result | None) -> int:
    """The permissions of the file that is replaced; of a new one, those that ``open`` would have given it."""
    if before is not None:
        return stat.S_IMODE(before.st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
