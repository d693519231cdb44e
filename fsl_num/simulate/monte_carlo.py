"""Monte Carlo of one-pass stochastic gradient descent: many runs at once, their mean risk and its standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

import numpy as np

from fsl_num.schedules.discrete import steps_and_batches
from fsl_num.simulate.checkpoint import Checkpoint, digest
from fsl_num.simulate.curve import RiskCurve, record_steps
from fsl_num.simulate.normals import fingerprint
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.runs import Finished, Job, checked_runs, chunk_sizes
from fsl_num.simulate.runs_workers import Workers
from fsl_num.simulate.streams import samples_of
from fsl_num.validation import Array, flag, instance_of, known_executor, path_like, seed_sequence

_PATIENCE = 2.0  # seconds before a bar is shown


def simulate_sgd(
    problem: Regression,
    rates: Any,
    batch_sizes: Any = 1,
    *,
    runs: int,
    seed: int | np.random.SeedSequence,
    every: int | None = None,
    dtype: Any = "float64",
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> RiskCurve:
    """Return the mean excess risk of ``runs`` independent runs of one-pass SGD from v = 0, with its standard error.

    Every step takes fresh data: v <- v - (eta/B) sum over the batch of (<v, W phi> - y) W phi (equation labelled
    eqn: sgd). ``rates``: eta_0 .. eta_{K-1} >= 0; ``batch_sizes``: whole numbers, one or one a step; ``runs``: from
    2 to 10^8; ``seed``: a whole number of at least 0, or a SeedSequence; ``every``: record after so many steps (by
    default before the first and after the last only); ``dtype``: "float64" or "float32", of the weights. Features and
    label noise of normal law have single precision in both, and are the same; the risk has double precision in both.

    Runs are computed in chunks whose bits depend on the arguments alone. ``executor``: any
    ``concurrent.futures.Executor`` computes them, here without one; the result has the same bits on any number of
    workers (of one version of numpy on one kind of processor: they round logarithms). Lost workers are replaced, and
    :attr:`RiskCurve.message` says so. ``checkpoint``: a file that is kept up to date as chunks finish; the same call
    goes on from it after an interruption, to the same bits. ``progress``: a bar on standard error, by default in
    a terminal and after two seconds; True always, False never.

    Raises ValueError or TypeError where an argument does not fit (a checkpoint of other arguments included),
    OverflowError where training diverges, OSError where a checkpoint cannot be written from the beginning, and
    :class:`~fsl_num.workers.LostWorkersError` where workers are lost again and again.

    >>> from fsl_num.model import Model
    >>> problem = Regression(Model(s=0.5, beta=2.0, size=3, noise=0.1))
    >>> curve = simulate_sgd(problem, [0.1] * 20, runs=200, seed=1, every=10)
    >>> curve.step.tolist(), bool(curve.excess_risk[-1] < curve.excess_risk[0]), curve.standard_error[0].item()
    ([0, 10, 20], True, 0.0)
    """
    instance_of("problem", problem, Regression)
    known_executor(executor)
    eta, batches = _steps(rates, batch_sizes)
    count = checked_runs(runs)
    try:
        kind = np.dtype(dtype).name
    except (TypeError, ValueError) as error:
        raise TypeError(f"dtype must be 'float32' or 'float64', got {dtype!r}") from error
    if kind not in ("float32", "float64"):
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    root = seed_sequence(seed)
    samples = samples_of(problem)
    job = Job(samples, eta, batches, record_steps(eta.size, every), kind)
    sizes = chunk_sizes(samples, count)
    file = None
    finished = Finished()
    if checkpoint is not None:
        file = Checkpoint(path_like("checkpoint", checkpoint), _identity(job, root, sizes))
        finished = file.load(job.recorded.size, len(sizes))
    resumed = finished.chunks
    workers = Workers(job, sizes, root, executor)
    missing = [chunk for chunk in range(len(sizes)) if not finished.has(chunk)]
    per_run = job.samples_of_a_run
    with _bar(per_run * count, per_run * sum(sizes[c] for c in range(len(sizes)) if finished.has(c)), progress) as bar:
        try:
            for chunk, moments in workers.results(missing, bar.update):
                finished = finished.with_chunk(chunk, moments)
                if file is not None:
                    file.save(finished)
        finally:
            if file is not None and missing:
                file.save(finished, now=True)
    assert finished.merged == len(sizes), "every chunk has come"
    notes = [f"{count} runs, {kind}"]
    if resumed:
        notes.append(f"{resumed} of {len(sizes)} chunks from the checkpoint")
    if workers.lost:
        notes.append(f"workers were lost and their chunks computed again ({workers.lost} times)")
    if file is not None and file.error:
        notes.append(file.error)
    total = finished.total
    return RiskCurve(job.recorded, total.mean, total.standard_error(), "monte-carlo", "; ".join(notes))


def _steps(rates: Any, batch_sizes: Any) -> tuple[Array, Any]:
    eta, sizes = steps_and_batches(rates, batch_sizes)
    bad = (sizes != np.floor(sizes)) | (sizes > 2.0**53)
    if bad.any():
        raise ValueError(f"batch_sizes must be whole numbers up to 2^53 to be sampled, got {float(sizes[bad][0])!r}")
    return eta, sizes.astype(np.int64)


def _identity(job: Job, root: np.random.SeedSequence, sizes: list[int]) -> dict[str, str]:
    """The arguments by name: what a checkpoint belongs to."""
    samples = job.samples
    matrix = samples.matrix if samples.matrix is not None else "first"
    return {
        "problem": digest(repr(samples.family), samples.eigenvalues, samples.theta, samples.noise, samples.tail),
        "projection": digest(matrix, samples.start.size),
        "rates": digest(job.rates),
        "batch_sizes": digest(np.broadcast_to(job.batches, job.rates.shape)),
        "recorded steps": digest(job.recorded),
        "runs": str(sum(sizes)),
        "size of a chunk": str(sizes[0]),
        "seed": str((root.entropy, root.spawn_key)),
        "dtype": job.dtype,
        "rounding of this machine's numpy": fingerprint(),
    }


@contextmanager
def _bar(total: int, done: int, shown: bool | None) -> Iterator[Any]:
    from tqdm import tqdm

    hidden = None if shown is None else not flag("progress", shown)  # None: shown in a terminal only
    with tqdm(
        total=total,
        initial=done,
        unit="sample",
        unit_scale=True,
        desc="SGD runs",
        delay=0.0 if shown else _PATIENCE,
        disable=hidden,
        file=sys.stderr,
        leave=False,
        dynamic_ncols=True,
    ) as bar:
        yield bar
