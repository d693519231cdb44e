"""Runs of stochastic gradient descent side by side: one chunk of them, and the mean and spread of many chunks.

A chunk is the unit of work: its size depends on the problem alone and its stream is an argument, so that its bits
are the same wherever and whenever it is computed. Chunks are merged in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from fsl_num.simulate.streams import Samples
from fsl_num.validation import Array, whole_count

_CHUNK = 2**14  # numbers in the states of a chunk: few enough to stay in cache beside the draws
_FEWEST, _MOST = 16, 2048  # runs in a chunk: no fewer (calls cost too much), no more (there would be nothing to share)
_LARGEST = 2**21  # numbers in the states of so few runs: beyond, memory counts
_LISTED = 4096  # steps listed at once
_MOST_RUNS = 10**8
_TICK = 256  # samples between two signs of progress


def checked_runs(runs: Any) -> int:
    """Return how many runs or paths are asked for; ValueError or TypeError for fewer than 2, or more than 10^8.

    >>> checked_runs(10)
    10
    """
    count = whole_count("runs", runs, least=2)
    if count > _MOST_RUNS:
        raise ValueError(f"runs must be at most {_MOST_RUNS}, got {count}; the exact recursion needs none")
    return count


@dataclass(frozen=True, eq=False)
class Job:
    """Everything that a chunk needs but its stream: pickled once a chunk.

    ``rates``: one a step; ``batches``: likewise, or one for all; ``recorded``: steps after which to record the risk.
    """

    samples: Samples
    rates: Array
    batches: Any
    recorded: Any
    dtype: str

    @property
    def samples_of_a_run(self) -> int:
        """How much data one run takes."""
        return int(np.broadcast_to(self.batches, self.rates.shape).sum())

    def steps(self) -> Iterator[tuple[float, int]]:
        """Yield the learning rate and the batch size of every step: few at a time, as there may be millions."""
        batches = np.broadcast_to(self.batches, self.rates.shape)
        for low in range(0, self.rates.size, _LISTED):
            part = slice(low, low + _LISTED)
            yield from zip(self.rates[part].tolist(), batches[part].tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class Moments:
    """The mean of ``count`` runs at each recorded step and the sum of their squared deviations from it.

    >>> run = Moments(1, np.array([1.0]), np.array([0.0]))
    >>> runs = run.with_others(Moments(1, np.array([3.0]), np.array([0.0])))
    >>> runs.count, runs.mean.tolist(), runs.standard_error().tolist()
    (2, [2.0], [1.0])
    """

    count: int
    mean: Array
    squares: Array

    def with_others(self, moments: Moments) -> Moments:
        """Return the moments of both groups of runs together."""
        if self.count == 0:
            return moments
        count = self.count + moments.count
        gap = moments.mean - self.mean
        mean = self.mean + gap * (moments.count / count)
        return Moments(count, mean, self.squares + moments.squares + gap * gap * (self.count * moments.count / count))

    def standard_error(self) -> Array:
        """Return the standard error of the mean, from at least two runs."""
        return np.asarray(np.sqrt(self.squares / ((self.count - 1.0) * self.count)))


def chunk_sizes(samples: Samples, runs: int) -> list[int]:
    """Return how ``runs`` are divided into chunks: equal ones and what is left.

    >>> from fsl_num.model import Model
    >>> from fsl_num.simulate.regression import Regression
    >>> from fsl_num.simulate.streams import samples_of
    >>> chunk_sizes(samples_of(Regression(Model(s=0.5, beta=2.0, size=128, noise=1.0))), 300)
    [128, 128, 44]
    """
    features = samples.eigenvalues.size
    size = min(max(_CHUNK // features, min(_FEWEST, _LARGEST // features), 2), _MOST)
    return [min(size, runs - low) for low in range(0, runs, size)]


def run_chunk(job: Job, runs: int, seed: np.random.SeedSequence, tick: Callable[[int], Any] | None = None) -> Moments:
    """Train ``runs`` models on data of their own from the stream ``seed``; ``tick`` verifies how many samples are done.

    Raises OverflowError where training diverges.
    """
    size = job.samples.start.size
    states = np.empty((runs, size), job.dtype)
    states[:] = job.samples.start
    residuals = np.empty(runs, job.dtype)
    column = residuals[:, None]
    gradient = np.empty_like(states)
    means, squares = np.empty(job.recorded.size), np.zeros(job.recorded.size)
    # where all runs start the risk is known, better than from single-precision weights
    means[0] = job.samples.risk(job.samples.start[None])[0]
    record, following = 1, int(job.recorded[1])
    ticked = 0
    # overflow is seen in the risk
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        stream = job.samples.stream(seed, runs, job.dtype)
        for k, (rate, batch) in enumerate(chain(job.steps(), [(0.0, 0)])):
            if k == following:
                risk = job.samples.risk(states)
                # from the first run, so that equal risks have no spread
                means[record] = risk[0] + np.mean(risk - risk[0])
                squares[record] = np.sum((risk - means[record]) ** 2)
                if not np.isfinite(squares[record]):
                    raise OverflowError(
                        f"training diverges: the excess risk of a run is beyond the range of {job.dtype} by step {k};"
                        f" the largest learning rate is {float(job.rates.max())!r}, lower it"
                    )
                record += 1
                following = int(job.recorded[record]) if record < job.recorded.size else -1
            for taken in range(batch):
                x, y = next(stream)
                np.einsum("rm,rm->r", states, x, out=residuals)
                np.subtract(residuals, y, out=residuals)
                np.multiply(residuals, rate / batch, out=residuals)
                np.multiply(x, column, out=x)
                if batch == 1:
                    np.subtract(states, x, out=states)
                elif taken == 0:
                    gradient[:] = x
                else:
                    np.add(gradient, x, out=gradient)
            if batch > 1:
                np.subtract(states, gradient, out=states)
            ticked += batch
            if tick is not None and ticked >= _TICK:
                tick(ticked * runs)
                ticked = 0
    if tick is not None:
        tick(ticked * runs)
    return Moments(runs, means, squares)


def run_task(job: Job, runs: int, seed: np.random.SeedSequence, attempt: int) -> Moments | Exception:
    """Return :func:`run_chunk`, or the error that it raised: so that a future's own exception is the worker's.

    ``attempt`` changes nothing but the call: executors that remember calls must not answer with an old failure.
    """
    try:
        return run_chunk(job, runs, seed)
    except Exception as error:
        return error


@dataclass(frozen=True, eq=False)
class Finished:
    """What is known so far: the first ``merged`` chunks together, and ``waiting`` ones that came before their turn.

    >>> run = Moments(1, np.array([1.0]), np.array([0.0]))
    >>> early = Finished().with_chunk(1, run)
    >>> early.merged, early.with_chunk(0, run).merged
    (0, 2)
    """

    merged: int = 0
    total: Moments = Moments(0, np.zeros(0), np.zeros(0))
    waiting: tuple[tuple[int, Moments], ...] = ()

    def with_chunk(self, index: int, moments: Moments) -> Finished:
        """Return this with one more finished chunk; the order in which chunks come does not change the result."""
        waiting = dict(self.waiting) | {index: moments}
        merged, total = self.merged, self.total
        while merged in waiting:
            total = total.with_others(waiting.pop(merged))
            merged += 1
        return replace(self, merged=merged, total=total, waiting=tuple(sorted(waiting.items())))

    def has(self, index: int) -> bool:
        """Whether the chunk ``index`` is finished."""
        return index < self.merged or index in dict(self.waiting)

    @property
    def chunks(self) -> int:
        """How many chunks are finished."""
        return self.merged + len(self.waiting)
