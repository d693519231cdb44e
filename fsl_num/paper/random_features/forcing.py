"""What training without noise leaves of the target, draw by draw, beside the terms of the laws at the same times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.paper.random_features import terms
from fsl_num.paper.random_features.draws import Draw, drawn, features, sizes_of, variance
from fsl_num.paper.random_features.statements import DrawnRay
from fsl_num.simulate.random_features import random_projection
from fsl_num.validation import Array

SIZES = ((16, 32, 64, 128), (16, 32, 64, 128), (16, 32, 64, 128, 256))
RUNS = ((120, 100, 80, 48), (320, 240, 200, 128), (480, 400, 320, 192, 64))
"""Model sizes and draws of the quick, full and deep profiles."""
PILOT_SIZES = (8, 16, 32, 64)
PILOT_RUNS = (200, 120, 120, 120)
"""So many that no failure in them shows a probability below exp(-0.03 M)."""
RAYS: Mapping[str, float] = {"t = 1": 0.0, "t = (M/8)^beta": 1 / 8, "t = (M/2)^beta": 1 / 2, "t = (2M)^beta": 2.0}
END = "t = infinity"
AT_START = 0.1
EARLY = {"t = 1": AT_START}
"""Slopes allowed at t = 1, where the floor and the turned eigenvectors are terms of the relative order M^-(s beta) and
1/M: at s = 1/2, beta = 3/2 they leave 0.085 from M = 32 to 128, and -0.06 at s = 2, beta = 3."""

LARGER_SIZES = (64, 128, 256)
LARGER_RUNS = (96, 64, 24)
LARGER = "t = infinity, M from 64 on"
SETTLED = 0.012
"""Slope that counts as none from M = 64 to 256: terms of the relative order 1/M leave up to 0.011 there."""


def times_of(beta: float, size: int) -> Array:
    """The times of all rays, the last one infinity."""
    finite = [1.0 if share == 0.0 else (share * size) ** beta for share in RAYS.values()]
    return np.array([*finite, np.inf])


def logs_of(draw: Draw, s: float, beta: float, times: Array) -> dict[str, Array]:
    """log of every term of the laws at ``times``; -inf for what is gone."""
    size = draw.model_size
    constant = np.ones_like(times)
    positive = {
        "M": size * constant,
        "N": draw.width * constant,
        "v": variance(size) * constant,
        "signal": terms.signal_term(draw, s, beta, times),
        "reversed signal": terms.reversed_signal(draw, s, beta, times),
        "unit signal": terms.unit_signal(draw, s, beta, times),
        "leak": terms.leak_term(draw, s, beta, times),
        "kappa": terms.kappa(beta, size) * constant,
        "floor": terms.floor(s, beta, size) * constant,
        "top": terms.top_tail(s, beta, size) * constant,
    }
    with np.errstate(divide="ignore"):
        return {name: np.log(values) for name, values in positive.items()}


@lru_cache(maxsize=64)
def mean_rays(s: float, beta: float, effort: int, seed: int) -> tuple[DrawnRay, ...]:
    """The mean over the signs of the target, along M at each of the times of :data:`RAYS`."""
    sizes = SIZES[effort]
    table = drawn(s, beta, sizes, RUNS[effort], seed)
    values, logs = [], []
    for size, draws in zip(sizes, table, strict=True):
        times = times_of(beta, size)
        values.append(np.log([draw.left(times) for draw in draws]))
        logs.append(_stacked([logs_of(draw, s, beta, times) for draw in draws]))
    return tuple(
        DrawnRay(
            name,
            sizes,
            tuple(part[:, place] for part in values),
            {key: tuple(part[key][:, place] for part in logs) for key in logs[0]},
        )
        for place, name in enumerate((*RAYS, END))
    )


def rays(sample: Sample, *names: str) -> list[DrawnRay]:
    """The rays with these names (all where none is given) at a sample."""
    means = mean_rays(*sample.point, sample.effort, sample.seed)
    return [ray for ray in means if not names or ray.name in names]


@lru_cache(maxsize=64)
def missed_shares(beta: float, seed: int) -> tuple[Array, ...]:
    """What share of each feature W misses, for each larger size a draw a row."""
    shares = []
    for size, runs in zip(LARGER_SIZES, LARGER_RUNS, strict=True):
        eigenvalues = features(1.0, beta, size)[0]
        missed = np.empty((runs, eigenvalues.size))
        for place, stream in enumerate(np.random.SeedSequence([seed, 41, size]).spawn(runs)):
            projection = random_projection(size, eigenvalues.size, np.random.default_rng(stream))
            basis = np.linalg.qr((projection * np.sqrt(eigenvalues)).T)[0]
            missed[place] = np.maximum(1.0 - (basis**2).sum(axis=1), 0.0)
        shares.append(missed)
    return tuple(shares)


def never_learned_ray(sample: Sample) -> DrawnRay:
    """What is never learned of the mean target, along the larger sizes."""
    s, beta = sample.point
    values = []
    for size, missed in zip(LARGER_SIZES, missed_shares(beta, sample.seed), strict=True):
        eigenvalues, squares = features(s, beta, size)
        values.append(np.log(missed @ (eigenvalues * squares)))
    gone = tuple(-np.inf for _ in LARGER_SIZES)
    logs = {**sizes_of(LARGER_SIZES), "signal": gone}
    return DrawnRay(LARGER, LARGER_SIZES, tuple(values), logs)


@lru_cache(maxsize=64)
def fixed_grid(s: float, beta: float, seed: int) -> DrawnRay:
    """The fixed target at 24 times from 1 to beyond all scales, and at infinity; the first size is the pilot.

    For s > 1 from (M/2)^beta: before, single modes of the turned eigenvectors decide, and few draws are near the mean.
    """
    table = drawn(s, beta, PILOT_SIZES, PILOT_RUNS, seed + 1)
    values, logs = [], []
    for size, draws in zip(PILOT_SIZES, table, strict=True):
        first = (0.5 * size) ** beta if s > 1.0 else 1.0
        times = np.append(np.geomspace(first, (4.0 * size) ** beta, 24), np.inf)
        values.append(np.log([draw.left(times, mean=False) for draw in draws]))
        logs.append(_stacked([logs_of(draw, s, beta, times) for draw in draws]))
    return DrawnRay("fixed", PILOT_SIZES, tuple(values), {key: tuple(part[key] for part in logs) for key in logs[0]})


def _stacked(rows: Sequence[Mapping[str, Array]]) -> dict[str, Any]:
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}
