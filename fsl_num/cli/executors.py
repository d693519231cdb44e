"""Where work is done that can be shared out: this process, processes of this machine, or a Dask cluster.

>>> check_executor("threads")
Traceback (most recent call last):
fsl_num.cli.inputs.InputError: --executor must be processes or dask://HOST:PORT, not 'threads'
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from fsl_num.cli.inputs import InputError
from fsl_num.workers import LostWorkersError

if TYPE_CHECKING:
    from concurrent.futures import Executor

_DASK: Final = re.compile(r"dask://(?P<host>[^\s:/]+|\[[\da-fA-F:]+\]):(?P<port>\d{1,5})", re.ASCII)
_SETTINGS: Final = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"), "SYMPY_CACHE_SIZE": "20000"
}  # fmt: skip
_PATIENCE = 10  # seconds for a scheduler to answer


def check_executor(where: str | None) -> None:
    """Refuse what names no executor; None (this process) is one."""
    if where is not None and where != "processes" and not _DASK.fullmatch(where):
        raise InputError(f"--executor must be processes or dask://HOST:PORT, not {where!r}")


def cores() -> int:
    """The cores that this process may use, where the system says so."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def executor_at(where: str | None, jobs: int | None = None) -> Iterator[Executor | None]:
    """The executor that was asked for, closed afterwards; None for this process.

    Parameters
    ----------
    where
        "processes", "dask://HOST:PORT", or None for this process.
    jobs
        How many processes, where they are this machine's; one a core by default.

    Raises
    ------
    InputError
        The scheduler does not answer, or Dask is not installed.
    """
    check_executor(where)
    if where is None:
        yield None
    elif where == "processes":
        from fsl_num.workers import Processes

        with suited_to_processes(), Processes(jobs or cores()) as pool:
            yield pool
    else:
        client = _cluster(where)
        shared = client.get_executor()
        try:
            with _watched(client, where):
                yield shared
        finally:
            if client.status == "running":
                shared.shutdown(wait=False)  # all is done by now, or nobody waits for it any more
                client.close(timeout=2)


@contextmanager
def suited_to_processes() -> Iterator[None]:
    """Set what numpy and sympy read when they are imported, in this process and in those that start meanwhile.

    Unless the user says otherwise. Matrix products use one thread: the matrices are small, and processes are as many as
    cores, so that threads that wait for each other take three times as long. Sympy remembers 20,000 results of each of
    its functions: of the 1,000 that it does otherwise most are gone before they are asked for again.
    """
    chosen = [name for name in _SETTINGS if name not in os.environ]
    os.environ.update({name: _SETTINGS[name] for name in chosen})
    try:
        yield
    finally:
        for name in chosen:
            os.environ.pop(name, None)


def _cluster(where: str) -> Any:
    try:
        dask: Any = import_module("distributed")
    except ImportError as error:
        raise InputError("--executor dask://HOST:PORT needs Dask: install the extra `dask`") from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said in one sentence, here
    address = "tcp://" + where.removeprefix("dask://")
    try:
        # A client that finds nobody would go on waiting when the interpreter ends: ask whether anybody is there.
        _knock(where)
        client = dask.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, OverflowError, ValueError) as error:
        raise InputError(f"--executor: no Dask scheduler answers at {address}") from error
    if not client.scheduler_info()["workers"]:
        client.close()
        raise InputError(f"--executor: the Dask scheduler at {address} has no workers; start some")
    return client


@contextmanager
def _watched(client: Any, where: str) -> Iterator[None]:
    """Notice when the scheduler or the last worker is gone: the futures would wait for ever."""
    over = Event()

    def watch() -> None:
        alone = 0.0
        while not over.wait(1.0):
            reached = client.status == "running" and client.scheduler_info()["workers"]
            alone = 0.0 if reached else alone + 1.0
            if alone >= _PATIENCE:
                client.close(timeout=1)
                return

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except Exception as error:
        if not isinstance(error, CancelledError) and client.status == "running":
            raise
        # what is asked of a client that is closed meanwhile fails in many ways
        raise LostWorkersError(
            f"the Dask cluster at {where} was lost: its scheduler does not answer or has no workers any more"
        ) from error
    finally:
        over.set()
        watcher.join(2.0)


def _knock(where: str) -> None:
    import socket

    address = _DASK.fullmatch(where)
    assert address is not None
    socket.create_connection((address["host"].strip("[]"), int(address["port"])), timeout=_PATIENCE).close()
