"""Many independent random runs of one function: seeds of their own, any executor, a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, as_completed
from typing import Any

import numpy as np

from fsl_num.simulate.streams import child
from fsl_num.validation import Array, as_array, entries, known_executor, seed_sequence, whole_count

_PATIENCE = 2.0  # seconds before a progress bar appears
_MOST = 10**6  # runs, model sizes and features per model: more fit no memory
_PARTS = 16  # tasks that the runs of one size are split into, at most


def one_per_size(name: str, value: Any, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return ``value`` as whole numbers of at least 1, one for each of ``sizes``; a single number serves all.

    >>> one_per_size("runs", 3, (8, 16))
    (3, 3)
    """
    counts_given = [value] if np.ndim(as_array(name, value)) == 0 else entries(name, value)
    if len(counts_given) not in (1, len(sizes)):
        raise ValueError(f"{name} must be one number or {len(sizes)}, one a model size, got {len(counts_given)}")
    counts = [whole_count(name, count, most=_MOST) for count in counts_given]
    return tuple(counts if len(counts) == len(sizes) else counts * len(sizes))


def sizes_of(name: str, value: Any) -> tuple[int, ...]:
    """Return a list of distinct whole sizes, smallest first; raise ValueError for anything else.

    >>> sizes_of("model_sizes", [16, 8])
    (8, 16)
    """
    listed = [value] if np.ndim(as_array(name, value)) == 0 else entries(name, value)
    sizes = [whole_count(name, size, most=_MOST) for size in listed]
    if not sizes or len(set(sizes)) != len(sizes):
        raise ValueError(f"{name} must be distinct whole numbers, at least one, got {value!r}")
    return tuple(sorted(sizes))


def over_runs(
    task: Callable[..., Array],
    arguments: Sequence[tuple[Any, ...]],
    runs: Sequence[int],
    *,
    seed: int,
    executor: Executor | None,
    name: str,
) -> list[Array]:
    """Return for each of ``arguments`` the array of ``task(*arguments, generator)`` over its number of ``runs``.

    Every run has a random stream of its own, spawned from ``seed``: what it returns does not depend on ``executor``
    (any of :mod:`concurrent.futures`; None for this process), nor on how many workers it has. ``task`` must be a
    function at the top of a module where the executor starts processes.

    >>> found = over_runs(_example, [(2,), (3,)], [4, 5], seed=1, executor=None, name="drawing")
    >>> [part.shape for part in found]
    [(4, 2), (5, 3)]
    """
    from tqdm import tqdm

    root, executor = seed_sequence(seed), known_executor(executor)
    parts: list[tuple[int, int, tuple[Any, ...], list[np.random.SeedSequence]]] = []
    for index, (task_arguments, count) in enumerate(zip(arguments, runs, strict=True)):
        streams = child(root, index).spawn(count)
        step = -(-count // _PARTS)
        parts += [(index, low, task_arguments, streams[low : low + step]) for low in range(0, count, step)]
    results: list[list[Any]] = [[None] * count for count in runs]

    with tqdm(total=sum(runs), unit="run", desc=name, leave=False, delay=_PATIENCE, disable=None) as bar:

        def store(index: int, low: int, values: list[Array]) -> None:
            results[index][low : low + len(values)] = values
            bar.update(len(values))

        if executor is None:
            for index, low, task_arguments, streams in parts:
                for offset, stream in enumerate(streams):
                    store(index, low + offset, _run_part(task, task_arguments, [stream]))
        else:
            # the largest first: they take the longest
            waiting = {
                executor.submit(_run_part, task, task_arguments, streams): (index, low)
                for index, low, task_arguments, streams in reversed(parts)
            }
            for future in as_completed(waiting):
                store(*waiting[future], future.result())
    return [np.array(values) for values in results]


def _run_part(
    task: Callable[..., Array], arguments: tuple[Any, ...], streams: Sequence[np.random.SeedSequence]
) -> list[Array]:
    return [task(*arguments, np.random.default_rng(stream)) for stream in streams]


def _example(size: int, generator: np.random.Generator) -> Array:
    return generator.standard_normal(size)
