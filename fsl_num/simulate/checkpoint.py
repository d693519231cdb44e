"""A file that holds what a simulation has finished, so that a killed one goes on where it was.

The file names what it belongs to, argument by argument: to go on with other arguments is refused. It is replaced as a
whole, so that a reader finds the old state or the new one.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from fsl_num.simulate.runs import Finished, Moments
from fsl_num.writing import write_atomically

SHARE: Final = 0.05  # of the time goes into writing, at most


def digest(*values: Any) -> str:
    """Return a short digest of arrays, numbers and strings: equal for equal ones only.

    >>> digest(np.arange(3.0)) == digest(np.arange(3.0)), digest(1.0) == digest(2.0)
    (True, False)
    """
    sha256 = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            sha256.update(f"{value.dtype.str}{value.shape}".encode())
            sha256.update(np.ascontiguousarray(value).tobytes())
        else:
            sha256.update(repr(value).encode())
        sha256.update(b"\0")
    return sha256.hexdigest()[:16]


class Checkpoint:
    """The file of one simulation.

    ``path``: where; ``identity``: the name of each argument and a number or digest that stands for its value. A
    ValueError says in which argument an existing file differs, or that it is no such file; an OSError, that the file
    cannot be read or written.
    """

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, str]) -> None:
        self.path = Path(path)
        self._identity = dict(identity)
        self._written = self._paused = 0.0
        self.error = ""

    def load(self, recorded: int | None = None, chunks: int | None = None) -> Finished:
        """Return what the file holds (of so many ``recorded`` steps and ``chunks``), or nothing finished.

        The file is written at once, so that trouble shows early.
        """
        finished = self._read(recorded, chunks) if self.path.exists() else Finished()
        try:
            self._write(finished)
        except OSError as error:
            text = f"the checkpoint cannot be written ({error.strerror or error}); nothing was simulated"
            raise OSError(error.errno, text, str(self.path)) from error
        return finished

    def save(self, finished: Finished, *, now: bool = False) -> None:
        """Write ``finished``, unless the last write is so recent that writing would take up the time (``now``: do).

        A disk that is full does not end the simulation: the old file stays whole, a RuntimeWarning and :attr:`error`
        say so, and the next time it is tried again.
        """
        start = time.monotonic()
        if not now and start < self._written + self._paused:
            return
        try:
            self._write(finished)
        except OSError as error:
            first = not self.error
            self.error = (
                f"the checkpoint {self.path.name} could not be brought up to date ({error.strerror or error}); it"
                " still holds an earlier state, whole"
            )
            if first:
                warnings.warn(self.error, RuntimeWarning, stacklevel=2)
        else:
            self.error = ""
        self._written = time.monotonic()
        self._paused = (self._written - start) / SHARE

    def _write(self, finished: Finished) -> None:
        waiting = [moments for _, moments in finished.waiting]
        buffer = io.BytesIO()
        np.savez(
            buffer,
            identity=np.array(json.dumps(self._identity)),
            merged=np.array([finished.merged, finished.total.count]),
            mean=finished.total.mean,
            squares=finished.total.squares,
            waiting=np.array([[index, moments.count] for index, moments in finished.waiting], dtype=np.int64),
            waiting_mean=np.array([moments.mean for moments in waiting]),
            waiting_squares=np.array([moments.squares for moments in waiting]),
        )
        write_atomically(self.path, buffer.getvalue())

    def _read(self, recorded: int | None, chunks: int | None) -> Finished:
        try:
            content = _arrays(self.path)
            identity = {str(name): str(value) for name, value in json.loads(str(content["identity"])).items()}
            names = sorted(identity.keys() | self._identity.keys())
            unlike = [name for name in names if identity.get(name) != self._identity.get(name)]
            finished = Finished() if unlike else _finished(content, recorded, chunks)
        except (zipfile.BadZipFile, ValueError, KeyError, EOFError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"{str(self.path)!r} is no checkpoint of a simulation, or damaged ({error or type(error).__name__});"
                " name a new file, or remove this one"
            ) from error
        if unlike:
            own = self._identity
            pairs = ", ".join(f"{name} ({identity.get(name)} there, {own.get(name)} here)" for name in unlike)
            raise ValueError(
                f"the checkpoint {str(self.path)!r} belongs to another simulation, which differs in {pairs}; name a new"
                " file, or remove this one to start afresh"
            )
        return finished


def _finished(content: Mapping[str, Any], recorded: int | None, chunks: int | None) -> Finished:
    """What the arrays of a file say, if it can be so."""
    lists = (content[name] for name in ("waiting", "waiting_mean", "waiting_squares"))
    waiting = tuple(
        (_count(index), Moments(_count(count), _numbers(mean, recorded), _numbers(squares, recorded)))
        for (index, count), mean, squares in zip(*lists, strict=True)
    )
    merged, count = (_count(value) for value in content["merged"])
    size = recorded if count else None  # before the first chunk there are no moments
    total = Moments(count, _numbers(content["mean"], size), _numbers(content["squares"], size))
    last = max([merged - 1, *(index for index, _ in waiting)])
    early = any(index < merged for index, _ in waiting)
    if (merged == 0) != (count == 0) or early or (chunks is not None and last >= chunks):
        raise ValueError("its counts do not fit together")
    return Finished(merged, total, waiting)


def _arrays(path: Path) -> dict[str, Any]:
    """The arrays of the file, none larger than it says of itself that it is."""
    stored = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(stored) as archive:
        if sum(member.file_size for member in archive.infolist()) > 2 * len(stored.getvalue()):  # nothing is compressed
            raise ValueError("it unfolds to more than it holds")
    with np.load(stored, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _count(value: Any) -> int:
    if np.asarray(value).dtype.kind not in "iu" or value < 0:
        raise ValueError(f"{value!r} is no count")
    return int(value)


def _numbers(values: Any, size: int | None) -> Any:
    """The values, if they are finite numbers, and ``size`` of them."""
    if values.dtype.kind != "f" or not np.isfinite(values).all() or (size is not None and values.shape != (size,)):
        raise ValueError(f"an array of shape {values.shape} and type {values.dtype} holds no means")
    return values
