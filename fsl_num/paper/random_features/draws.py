"""Draws of random features: the spectrum of W H W', what each mode learns of the target, what none reaches.

Entries of W are normal of variance 1/M, lambda_j = j^-beta and theta_j^2 = j^-1 lambda_j^(s-1) for j <= N = 4M. Signs
of theta are signs of the columns of W, which are symmetric: over W the fixed target and one with random signs are the
same in law. The mean over these signs (``mean_signals``, ``mean_tail``) has the mean of the fixed target and far less
noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from fsl_num.simulate.random_features import random_projection
from fsl_num.simulate.random_tasks import over_runs
from fsl_num.validation import Array

FEATURES_PER_MODEL = 4
_WELL_CONDITIONED = 1e-9
"""Smallest lambda_M for the eigenvectors of the M x M product: its rounding, 1e-16/lambda_M, is then 1e-7 of a mode."""


@dataclass(frozen=True, eq=False)
class Draw:
    """One W: ``eigenvalues`` of W H W' (decreasing), what each learns of the target, and the ``tail`` out of reach."""

    model_size: int
    eigenvalues: Array
    signals: Array
    tail: float
    mean_signals: Array
    mean_tail: float

    @property
    def width(self) -> int:
        """How many features there are, N."""
        return FEATURES_PER_MODEL * self.model_size

    def left(self, times: Array, *, mean: bool = True) -> Array:
        """What training without noise leaves at ``times``, u_0'A_t'H A_t u_0: of the mean target or the fixed one."""
        signals, tail = (self.mean_signals, self.mean_tail) if mean else (self.signals, self.tail)
        return np.asarray(decay(self.eigenvalues, times) @ signals + tail)


def decay(eigenvalues: Array, times: Array) -> Array:
    """exp(-2 lambda_j t), shape (times, modes); 0 at t = inf."""
    return np.asarray(np.exp(-2.0 * np.multiply.outer(np.minimum(times, 1e300), eigenvalues)))


def features(s: float, beta: float, model_size: int) -> tuple[Array, Array]:
    """lambda_j and theta_j^2 for j <= N = 4M."""
    index = np.arange(1.0, FEATURES_PER_MODEL * model_size + 1.0)
    return index**-beta, index ** (-1.0 - beta * (s - 1.0))


def sizes_of(sizes: Sequence[int], per_model: float = FEATURES_PER_MODEL) -> dict[str, tuple[float, ...]]:
    """The logarithms of M, of N, ``per_model`` times as large, and of the variance of W, as a ray of draws names them.

    >>> [round(float(np.exp(log)), 9) for log in sizes_of((2, 3))["N"]]
    [8.0, 12.0]
    """
    letters = {"M": sizes, "N": [per_model * size for size in sizes], "v": [variance(size) for size in sizes]}
    return {name: tuple(np.log(numbers)) for name, numbers in letters.items()}


@cache
def variance(model_size: int) -> float:
    """v, the variance of the entries of W: what a normal number is multiplied by there, squared.

    >>> round(variance(4), 12)
    0.25
    """
    drawn_entry, normal = (np.random.default_rng(0) for _ in range(2))
    return float(random_projection(model_size, model_size, drawn_entry)[0, 0] / normal.standard_normal()) ** 2


@lru_cache(maxsize=4)
def drawn(
    s: float, beta: float, sizes: tuple[int, ...], runs: tuple[int, ...], seed: int
) -> tuple[tuple[Draw, ...], ...]:
    """``runs`` draws at each of the model sizes ``sizes``, every draw with a random stream of its own."""
    root = int(np.random.SeedSequence([seed, 7]).generate_state(1)[0])
    tables = over_runs(
        draw, [(s, beta, size) for size in sizes], runs, seed=root, executor=None, name="random features"
    )
    return tuple(
        tuple(_as_draw(size, row) for row in table) for size, table in zip(sizes, tables, strict=True)
    )


def draw_of(s: float, beta: float, size: int, generator: np.random.Generator) -> Draw:
    """One W, as a draw."""
    return _as_draw(size, draw(s, beta, size, generator))


def _as_draw(size: int, row: Array) -> Draw:
    learned, mean = row[size : 2 * size], row[2 * size : 3 * size]
    return Draw(size, row[:size], learned, float(row[-2]), mean, float(row[-1]))


def draw(s: float, beta: float, size: int, generator: np.random.Generator) -> Array:
    """One random projection: its eigenvalues, its signals, its tail and that of random signs of the target."""
    eigenvalues, squares = features(s, beta, size)
    root = np.sqrt(eigenvalues)
    weighted = random_projection(size, eigenvalues.size, generator) * root
    own, rows = modes(weighted, smallest=float(eigenvalues[size - 1]))
    aim = root * np.sqrt(squares)
    learned = rows @ aim
    unlearned = aim - rows.T @ learned
    shares = rows**2
    energy = eigenvalues * squares
    unseen = np.maximum(1.0 - shares.sum(axis=0), 0.0)
    return np.concatenate([own, learned**2, shares @ energy, [unlearned @ unlearned, unseen @ energy]])


def modes(weighted: Array, *, smallest: float) -> tuple[Array, Array]:
    """The eigenvalues of Y Y' (decreasing) and the right singular vectors of Y, as rows.

    ``smallest``: about the least eigenvalue; where it is small the triangular factor of Y' keeps more digits.
    """
    if smallest > _WELL_CONDITIONED:
        values, vectors = np.linalg.eigh(weighted @ weighted.T)
        values, vectors = values[::-1], vectors[:, ::-1]
        return values, np.asarray((vectors.T @ weighted) / np.sqrt(values)[:, None])
    basis, triangle = np.linalg.qr(weighted.T)
    _, singular, rows = np.linalg.svd(triangle.T)
    return singular**2, np.asarray(rows @ basis.T)
