r"""Fresh data for many runs at once: one sample for every run at a time, from one stream a chunk of runs.

A sample is a pair (x, y), x of shape (runs, M) and y of shape (runs,), such that with a state z of the same shape as x

    gradient = (<z, x> - y) x.

For the first M features z = v - theta and x = phi, so that y is the label noise and what the unseen features add to
it; normal unseen features are independent of the seen ones, and are drawn as the noise of variance delta that they
are. For a projection z = v and x = W phi, and y is the label; all N features are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.simulate.families import Family, Gaussian
from fsl_num.simulate.normals import NormalBlocks
from fsl_num.simulate.regression import MOST_LISTED, Regression
from fsl_num.validation import Array

BLOCK = 2**16
"""Numbers drawn at once: few enough to stay in cache, many enough that a call of numpy costs little beside them."""

_LEAST = 1e-37  # single precision ends at 1.2e-38
_PRODUCT = 2**18  # multiplications in one product of matrices: below, no library divides it among threads


@dataclass(frozen=True, eq=False)
class Samples:
    """How the data of a problem is drawn, and what a state means.

    ``family``: of the features. ``eigenvalues`` and ``theta``: of those that are drawn. ``noise``: the variance of
    what is added to the label. ``matrix``: W, or None for the first ``model_size`` features. ``start``: the state of
    v = 0. ``tail``: delta of the first M features, 0 for a projection, whose risk is computed from all features.

    >>> from fsl_num.model import Model
    >>> samples = samples_of(Regression(Model(s=0.5, beta=2.0, size=3, noise=1.0), features=5))
    >>> bool(abs(samples.risk(samples.start[None])[0] - 0.5 * (1 + 2**-2 + 3**-2 + 4**-2 + 5**-2)) < 1e-15)
    True
    """

    family: Family
    eigenvalues: Array
    theta: Array
    noise: float
    matrix: Array | None
    start: Array
    tail: float

    def risk(self, states: Any) -> Array:
        """Return the excess risk of each state, in double precision."""
        exact = np.asarray(states, dtype=np.float64)
        size = self.start.size
        if self.matrix is None:
            return np.asarray(0.5 * (np.einsum("rm,rm,m->r", exact, exact, self.eigenvalues[:size]) + self.tail))
        errors = _product(exact, self.matrix) - self.theta
        return np.asarray(0.5 * np.einsum("rn,rn,n->r", errors, errors, self.eigenvalues))

    def stream(self, seed: np.random.SeedSequence, runs: int, dtype: Any) -> Iterator[tuple[Any, Any]]:
        """Yield samples (x, y) without end; both are overwritten when the next is asked for, and may be before."""
        if isinstance(self.family, Gaussian) and self.matrix is None:
            return _normal_samples(self, seed, runs, dtype)
        return _drawn_samples(self, seed, runs, dtype)


def samples_of(problem: Regression) -> Samples:
    """Return how the data of ``problem`` is drawn; raise ValueError for features too many or too small to draw."""
    kind = problem.family
    assert isinstance(kind, Family)
    if not math.isfinite(problem.model.size):
        raise ValueError("model_size must be finite for sampled runs, got inf; the exact recursion takes any size")
    size = int(problem.model.size)
    noise, tail, drawn = problem.model.noise, 0.0, size
    if problem.projection is None:
        tail = problem.tail
    if problem.projection is not None or not isinstance(kind, Gaussian):
        drawn = problem.listed_features
    else:
        noise += tail
    if drawn > MOST_LISTED:
        raise ValueError(f"model_size must be at most {MOST_LISTED} for sampled runs, got {size}")
    index = np.arange(1.0, drawn + 1.0)
    eigenvalues = index**-problem.model.beta
    if eigenvalues[-1] < _LEAST:
        raise ValueError(
            f"the smallest eigenvalue, {drawn}^-{problem.model.beta:g}, must be at least {_LEAST:g} for sampled runs"
            " (the features are drawn in single precision); take fewer features, or the exact recursion"
        )
    if problem.target is None:
        theta = np.asarray(index ** (-0.5 * (1.0 + problem.model.beta * (problem.model.s - 1.0))))
    else:
        theta = problem.theta[:drawn]
    start = -theta[:size] if problem.projection is None else np.zeros(size)
    return Samples(kind, eigenvalues, theta, noise, problem.projection, start, tail)


def _normal_samples(samples: Samples, seed: Any, runs: int, dtype: Any) -> Iterator[tuple[Any, Any]]:
    size = samples.start.size
    pairs = -(-BLOCK // (2 * runs * (size + 1)))
    features = pairs * runs * size
    variances = np.full(features + pairs * runs, samples.noise)
    variances[:features].reshape(-1, size)[:] = samples.eigenvalues
    blocks = NormalBlocks(seed, variances, dtype)
    while True:
        for half in blocks.draw():
            yield from zip(
                half[:features].reshape(pairs, runs, size), half[features:].reshape(pairs, runs), strict=True
            )


def _drawn_samples(samples: Samples, seed: Any, runs: int, dtype: Any) -> Iterator[tuple[Any, Any]]:
    """The same for any family and projection: every feature is drawn."""
    size, total = samples.start.size, samples.eigenvalues.size
    of_features, of_noise = (child(seed, k) for k in range(2))
    steps = -(-BLOCK // (2 * runs * total))
    noise = NormalBlocks(of_noise, np.full(steps * runs, samples.noise), dtype)
    features = _features(samples, of_features, steps * runs, dtype)
    theta = samples.theta.astype(dtype)
    matrix = None if samples.matrix is None else np.ascontiguousarray(samples.matrix.T, dtype=dtype)
    while True:
        for half in noise.draw():
            drawn = next(features)
            if matrix is None:
                if total > size:
                    half += np.einsum("rn,n->r", drawn[:, size:], theta[size:])
                seen = drawn[:, :size]
            else:
                half += np.einsum("rn,n->r", drawn, theta)
                seen = _product(drawn, matrix)
            yield from zip(seen.reshape(steps, runs, size), half.reshape(steps, runs), strict=True)


def _features(samples: Samples, seed: Any, rows: int, dtype: Any) -> Iterator[Any]:
    """Features phi, shape (rows, N), without end."""
    total = samples.eigenvalues.size
    if isinstance(samples.family, Gaussian):
        blocks = NormalBlocks(seed, np.tile(samples.eigenvalues, rows), dtype)
        while True:
            for half in blocks.draw():
                yield half.reshape(rows, total)
    generator = np.random.Generator(np.random.SFC64(seed))
    roots = np.sqrt(samples.eigenvalues).astype(dtype)
    while True:
        drawn = samples.family.draw(generator, rows, total, dtype)
        drawn *= roots
        yield drawn


def child(seed: np.random.SeedSequence, index: int) -> np.random.SeedSequence:
    """Return the stream number ``index`` below ``seed``: the same whenever it is asked for, unlike ``spawn``.

    >>> child(np.random.SeedSequence(7), 2).spawn_key
    (2,)
    """
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, index), pool_size=seed.pool_size)


def _product(left: Any, right: Any) -> Any:
    """left @ right in parts so small that no library divides one among threads: the number of threads, which differs
    between workers, must not reach the bits."""
    inner = min(left.shape[1], 4096)
    columns = min(right.shape[1], max(8, _PRODUCT // (8 * inner)))
    rows = max(8, _PRODUCT // (inner * columns))
    product = np.zeros((left.shape[0], right.shape[1]), np.result_type(left, right))
    for i in range(0, product.shape[0], rows):
        for j in range(0, product.shape[1], columns):
            part = product[i : i + rows, j : j + columns]
            for k in range(0, left.shape[1], inner):
                a, b = left[i : i + rows, k : k + inner], right[k : k + inner, j : j + columns]
                # vectors go to routines that divide much smaller work
                part += a @ b if min(part.shape) > 1 else np.einsum("rk,kc->rc", a, b)
    return product
