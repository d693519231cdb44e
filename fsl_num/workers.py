"""Processes of this machine that work for this one: none outlives it, and the work of a lost one is done again."""

from __future__ import annotations

import multiprocessing
import multiprocessing.reduction
import multiprocessing.resource_tracker
import os
import signal
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Final

TRIES: Final = 2
"""How often a task is begun whose process is lost."""


class LostWorkersError(RuntimeError):
    """Workers were lost again and again over the same work.

    >>> str(LostWorkersError("three times"))
    'three times'
    """


class Processes(Executor):
    """An executor of ``jobs`` processes, each with one task at a time.

    They end with the process that made them, even when it is killed, and take no notice of Ctrl-C: that is for their
    maker. A task whose process is lost (killed, for want of memory say) is begun once more in a new one; then its
    future raises :class:`LostWorkersError`. Left by an exception, the executor ends its processes at once.

    >>> with Processes(1) as executor:
    ...     executor.submit(abs, -3).result()
    3
    """

    def __init__(self, jobs: int) -> None:
        # A thread for each process waits for it, so that the loss of one is known at once, and which task it had.
        self._threads = ThreadPoolExecutor(jobs)
        self._own = threading.local()
        self._workers: list[_Worker] = []
        self._starting = threading.Lock()
        self._ended = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Schedule a call; both it and its result must be such that pickle takes them."""
        return self._threads.submit(self._answer, (fn, args, kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when what was begun is done, and with ``cancel_futures`` nothing else."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for worker in self._workers:
            worker.end()

    def abandon(self) -> None:
        """End the processes now, whatever they do."""
        with self._starting:
            self._ended = True
            for worker in self._workers:
                worker.process.kill()
        self.shutdown(cancel_futures=True)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> bool | None:
        """Wait for what was begun, but not after an exception."""
        self.shutdown() if kind is None else self.abandon()
        return None

    def _answer(self, call: tuple[Any, ...]) -> Any:
        for _ in range(TRIES):
            worker = self._worker()
            try:
                worker.connection.send(call)
                fine, answer = worker.connection.recv()
            except (EOFError, OSError):
                self._own.worker = None
                worker.end()
                continue
            if fine:
                return answer
            raise answer
        raise LostWorkersError(
            f"a worker process was lost {TRIES} times over the same work, killed perhaps for want of memory; give it"
            " fewer processes or more memory"
        )

    def _worker(self) -> _Worker:
        """The process of this thread."""
        with self._starting:  # none is started once they are being ended
            if self._ended:
                raise CancelledError
            if getattr(self._own, "worker", None) is None:
                self._own.worker = _Worker()
                self._workers.append(self._own.worker)
            worker: _Worker = self._own.worker
            return worker


class _Worker:
    """A process, started anew (not forked: no lock of a numerical library is copied while it is held)."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        multiprocessing.resource_tracker.ensure_running()  # which starts with the first process, and unblocks signals
        _leave_interrupts_to_the_main_thread()
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()  # else the end of the process would not be seen here

    def end(self) -> None:
        """Close the connection, at which an idle process ends."""
        self.connection.close()
        self.process.join(5)
        self.process.kill()
        self.process.join()


def _serve(connection: Connection) -> None:
    """Do what comes, until nobody is there to ask."""
    from tqdm import tqdm

    tqdm.set_lock(threading.RLock())  # its own is a semaphore of the system: a process that is killed leaves it behind
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            task = connection.recv_bytes()
            try:
                function, args, kwargs = multiprocessing.reduction.ForkingPickler.loads(task)
                answer = True, function(*args, **kwargs)
            except Exception as error:
                error.add_note("in a worker process:\n" + traceback.format_exc())
                answer = False, error
            try:
                sent = multiprocessing.reduction.ForkingPickler.dumps(answer)
            except Exception as error:
                answer = False, TypeError(f"what came out cannot be sent to another process: {error}")
                sent = multiprocessing.reduction.ForkingPickler.dumps(answer)
            connection.send_bytes(sent)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _leave_interrupts_to_the_main_thread() -> None:
    """Processes inherit which signals the thread that starts them blocks: Ctrl-C never reaches them, not even as they
    import, when Python would print where."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
