"""The matrices in the proofs for random features: tails of W, the first columns, and identities on small matrices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.paper.random_features.draws import features
from fsl_num.paper.random_features.statements import DrawnRay
from fsl_num.simulate.random_features import random_projection

Array = NDArray[np.float64]

SIZES = (12, 24, 48, 96)
"""Whole thirds and halves of each."""
RUNS = ((150, 120, 120, 140), (150, 120, 120, 140), (600, 400, 400, 300))
"""So many that no failure at M = 96 shows a probability below exp(-0.03 M)."""
SHARES = {"k = 1": 0.0, "k = M/3": 1 / 3, "k = M": 1.0, "k = 2M = N - 2M": 2.0}
SQUARE = "k = N - M"
SPAN = 1 / 2
"""T_1 is measured at t = (M/2)^beta, where the first M/3 columns have just been learned."""


def _generators(seed: int, size: int, runs: int, salt: int) -> Iterator[np.random.Generator]:
    root = np.random.SeedSequence([seed, salt, size])
    return (np.random.default_rng(each) for each in root.spawn(runs))


def tail_ratio(weighted: Array, first: int) -> float:
    """mu_{M/2}/mu_M of A_k = W_k:oo H_k:oo W_k:oo', where ``weighted`` is W H^(1/2) and k = ``first``."""
    rest = weighted[:, first:]
    # rounding leaves 1e-16 lambda_k/lambda_M of the least eigenvalue, at most 1e-3 for beta = 6
    own = np.maximum(np.linalg.eigvalsh(rest @ rest.T), np.finfo(np.float64).tiny)
    return float(own[own.size - own.size // 2] / own[0])


def eigenvalue_ratios(sample: Sample) -> dict[str, DrawnRay]:
    """mu_{M/2}(A_k)/mu_M(A_k) along M, for every kind of k."""
    return _eigenvalue_ratios(sample.point[1], sample.effort, sample.seed)


@lru_cache(maxsize=64)
def _eigenvalue_ratios(beta: float, effort: int, seed: int) -> dict[str, DrawnRay]:
    columns: dict[str, list[Array]] = {name: [] for name in (*SHARES, SQUARE)}
    for place, size in enumerate(SIZES):
        root = np.sqrt(features(1.0, beta, size)[0])
        found: dict[str, list[float]] = {name: [] for name in columns}
        for generator in _generators(seed, size, RUNS[effort][place], 11):
            weighted = random_projection(size, root.size, generator) * root
            for name, share in SHARES.items():
                found[name].append(np.log(tail_ratio(weighted, max(1, round(share * size)))))
            found[SQUARE].append(np.log(tail_ratio(weighted, root.size - size)))
        for name, values in found.items():
            columns[name].append(np.array(values))
    scale = {"M": tuple(np.log(size) for size in SIZES)}
    return {name: DrawnRay(name, SIZES, tuple(values), scale) for name, values in columns.items()}


def ratio_failures(sample: Sample) -> list[tuple[int, int, int]]:
    """How many draws have some ratio, k <= 2M, above all the draws at M = 12: (M, failures, draws)."""
    rays = [ray for name, ray in eigenvalue_ratios(sample).items() if name != SQUARE]
    above = [float(ray.values[0].max()) for ray in rays]
    counts = []
    for place, size in enumerate(SIZES[1:], 1):
        pairs = zip(rays, above, strict=True)
        failed = np.any([ray.values[place] > bound for ray, bound in pairs], axis=0)
        counts.append((size, int(failed.sum()), failed.size))
    return counts


@lru_cache(maxsize=64)
def column_bounds(sample: Sample, share: float = 1 / 3) -> dict[str, Any]:
    """The largest T_1 t/|u|^2, and the largest T_2/|u|_H^2, over all targets, with the ratio of A_k, k = M ``share``.

    T_1 and T_2 are quadratic forms of the first k and of the other coordinates of the target: the largest value over
    all targets is a norm. ``first`` is T_1 at t = (M/2)^beta, ``failures`` how many draws (M, failures, draws) have a
    T_1 t/(|u|^2 ratio^2) above all the draws at M = 12, and ``second`` pairs (name, norm of T_2) at three times.
    """
    _, beta = sample.point
    values: list[Array] = []
    logs: dict[str, list[Any]] = {"t": [], "ratio": []}
    second: list[tuple[str, float]] = []
    for place, size in enumerate(SIZES):
        count = round(share * size)
        eigenvalues, _ = features(1.0, beta, size)
        time = (SPAN * size) ** beta
        found = []
        for generator in _generators(sample.seed, size, RUNS[sample.effort][place], 12):
            weighted = random_projection(size, eigenvalues.size, generator) * np.sqrt(eigenvalues)
            _, singular, rows = np.linalg.svd(weighted, full_matrices=False)
            head = (rows / singular[:, None])[:, :count] * np.sqrt(eigenvalues[:count])
            shrunk = np.exp(-time * singular**2)[:, None]
            norm = np.linalg.norm(shrunk * singular[:, None] * head, 2) ** 2
            found.append((np.log(norm), np.log(tail_ratio(weighted, count))))
            if place < 2:
                for when in (0.0, 1.0, time):
                    rest = np.exp(-when * singular**2)[:, None] * rows[:, count:]
                    second.append((f"M = {size}, t = {when:.3g}", float(np.linalg.norm(rest, 2)) ** 2))
        table = np.array(found)
        values.append(table[:, 0])
        logs["t"].append(np.log(time))
        logs["ratio"].append(table[:, 1])
    ray = DrawnRay("T_1", SIZES, tuple(values), {name: tuple(parts) for name, parts in logs.items()})
    scaled = [part + time - 2.0 * ratio for part, time, ratio in zip(values, logs["t"], logs["ratio"], strict=True)]
    above = float(scaled[0].max())
    failures = [(size, int((part > above).sum()), part.size) for size, part in zip(SIZES[1:], scaled[1:], strict=True)]
    return {"first": [ray], "failures": failures, "second": second}


def column_ratio_rounding(sample: Sample) -> list[tuple[str, float]]:
    """mu_M/mu_1 of W_0:k H_0:k W_0:k' as printed, k = M/3: what the printed bound divides by."""
    _, beta = sample.point
    found = []
    for size in SIZES[:2]:
        root = np.sqrt(features(1.0, beta, size)[0])[: size // 3]
        generator = next(_generators(sample.seed, size, 1, 13))
        head = random_projection(size, 4 * size, generator)[:, : root.size] * root
        own = np.linalg.svd(head, compute_uv=False)
        full = np.zeros(size)
        full[: own.size] = own**2
        found.append((f"M = {size}", float(full[-1] / full[0])))
    return found


@lru_cache(maxsize=64)
def least_eigenvalues(sample: Sample, ratio: int) -> DrawnRay:
    """The least mu_j/lambda_j, j <= M, of W with N = ``ratio`` M columns, along M."""
    _, beta = sample.point
    values = []
    for place, size in enumerate(SIZES):
        eigenvalues = features(1.0, beta, size)[0][: ratio * size]
        found = []
        for generator in _generators(sample.seed, size, RUNS[sample.effort][place], 14):
            weighted = random_projection(size, eigenvalues.size, generator) * np.sqrt(eigenvalues)
            own = np.linalg.svd(weighted, compute_uv=False) ** 2
            found.append(np.log((own / eigenvalues[:size]).min()))
        values.append(np.array(found))
    return DrawnRay(f"N = {ratio} M", SIZES, tuple(values), {"M": tuple(np.log(size) for size in SIZES)})
