"""Chunks of runs computed here or by workers, some of which may be lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from threading import Thread
from typing import Any, Final

import numpy as np

from fsl_num.simulate.runs import Job, Moments, run_chunk, run_task
from fsl_num.simulate.streams import child
from fsl_num.workers import LostWorkersError

_TRIES: Final = 3  # times that a chunk is sent out before it is given up, and pools that replace a broken one
AHEAD: Final = 256  # chunks under way at once
_PATIENCE: Final = 2.0  # seconds for an executor to cancel


class Workers:
    """Computes chunks on an ``executor`` (None: in this process), and computes those of lost workers again.

    ``seed``: the stream below which every chunk has its own. ``lost``: how often a chunk was sent out again, or a pool
    replaced. A pool of processes that a lost worker broke is replaced by another of the same size, which ends with the
    work; the executor itself is left as it is.
    """

    def __init__(self, job: Job, sizes: list[int], seed: np.random.SeedSequence, executor: Executor | None) -> None:
        self._job, self._sizes, self._seed = job, sizes, seed
        self._executor = executor
        self.lost = 0

    def results(self, chunks: list[int], tick: Callable[[int], Any] | None = None) -> Iterator[tuple[int, Moments]]:
        """Yield every one of ``chunks`` with its result, as they come; ``tick`` verifies of samples done."""
        if self._executor is None:
            for chunk in chunks:
                yield chunk, run_chunk(self._job, self._sizes[chunk], child(self._seed, chunk), tick)
            return
        per_run = self._job.samples_of_a_run
        for chunk, moments in self._from_workers(self._executor, chunks):
            if tick is not None:
                tick(per_run * self._sizes[chunk])
            yield chunk, moments

    def _from_workers(self, executor: Executor, chunks: list[int]) -> Iterator[tuple[int, Moments]]:
        ahead = list(reversed(chunks))
        tries = dict.fromkeys(chunks, 0)
        pools = 0
        under_way: dict[Future[Any], int] = {}
        with ExitStack() as replacements:
            try:
                while ahead or under_way:
                    broken = False
                    while ahead and len(under_way) < AHEAD and not broken:
                        chunk = ahead.pop()
                        # the stream is an argument: executors that hold equal calls for one see different ones
                        call = (self._job, self._sizes[chunk], child(self._seed, chunk), self.lost)
                        try:
                            under_way[executor.submit(run_task, *call)] = chunk
                        except BrokenExecutor:
                            ahead.append(chunk)
                            broken = True
                    for future in wait(under_way, return_when=FIRST_COMPLETED).done if under_way else ():
                        chunk = under_way.pop(future)
                        error = future.exception() if not future.cancelled() else None
                        if error is None and not future.cancelled():
                            answer = future.result()
                            if isinstance(answer, Exception):
                                raise answer
                            yield chunk, answer
                            continue
                        ahead.append(chunk)
                        if isinstance(error, BrokenExecutor):
                            broken = True
                            continue
                        self.lost += 1
                        tries[chunk] += 1
                        if tries[chunk] >= _TRIES:
                            raise LostWorkersError(
                                f"a worker was lost {_TRIES} times over the same chunk of {self._sizes[chunk]} runs"
                                f" ({error!r}); are the workers alive, and have they memory enough?"
                            ) from error
                    if broken:
                        # all that a broken pool had is lost with it
                        ahead.extend(under_way.values())
                        under_way.clear()
                        pools += 1
                        self.lost += 1
                        executor = replacements.enter_context(_another(executor, pools))
            finally:
                _cancel(list(under_way))


def _cancel(futures: list[Future[Any]]) -> None:
    """Cancel what is under way, without waiting for an executor that does not answer: its cluster may be lost."""
    if futures:
        cancelling = Thread(target=lambda: [future.cancel() for future in futures], daemon=True)
        cancelling.start()
        cancelling.join(_PATIENCE)


def _another(executor: Executor, times: int) -> Executor:
    """A pool in the place of one that lost a worker, of its size and kind of process."""
    if times > _TRIES or not isinstance(executor, ProcessPoolExecutor):
        raise LostWorkersError(
            f"the executor {type(executor).__name__} lost a worker and takes no more work (time {times}); are the"
            " workers alive, and have they memory enough?"
        )
    size = getattr(executor, "_max_workers", None)
    return ProcessPoolExecutor(size, mp_context=getattr(executor, "_mp_context", None))
