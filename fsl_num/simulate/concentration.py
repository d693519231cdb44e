r"""How close the eigenvalues of W H W' are to those of H: the concentration of random features, measured.

Lemma random_eigen says: with probability at least 1 - exp(-Omega(M)), c_1 lambda_j <= mu_j(W H W') <= c_2 lambda_j for
all j <= M. Here the smallest and the largest ratio mu_j/lambda_j over j are drawn many times for each M, with their
quantiles, their drift in M, and how often they leave [c_1, c_2].
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.results import axes_to_draw_on, html_table
from fsl_num.simulate.random_features import random_projection, variance
from fsl_num.simulate.random_tasks import one_per_size, over_runs, sizes_of
from fsl_num.validation import Array, capacity_exponent, positive, whole_size

_WELL_CONDITIONED = 1e-7  # smallest lambda_M for the eigenvalues of the product: its rounding is M * 1e-16 of lambda_1

_STEEPEST = 600.0  # logarithm of lambda_1/lambda_M: floats end at 708, and a ratio may be small


@dataclass(frozen=True, eq=False)
class Failures:
    """How often the ratios leave the bounds: ``failures`` of ``runs`` for each of ``model_sizes``.

    ``low`` and ``high`` are the Clopper-Pearson interval of the probability at the ``confidence`` asked for.

    >>> Failures((8,), (100,), np.array([3]), np.array([0.006]), np.array([0.085]), 0.95).probability.tolist()
    [0.03]
    """

    model_sizes: tuple[int, ...]
    runs: tuple[int, ...]
    failures: Any
    low: Array
    high: Array
    confidence: float

    @property
    def probability(self) -> Array:
        """The share of runs that failed."""
        return np.asarray(self.failures / np.array(self.runs, dtype=np.float64))

    def _repr_html_(self) -> str:
        intervals = [f"{low:.2g} to {high:.2g}" for low, high in zip(self.low, self.high, strict=True)]
        rows = zip(self.model_sizes, self.failures.tolist(), self.runs, intervals, strict=True)
        return html_table(("M", "failures", "runs", f"{100 * self.confidence:g} % interval"), rows)


@dataclass(frozen=True, eq=False)
class Concentration:
    """The ratios mu_j(W H W')/lambda_j of many random projections.

    ``least`` and ``largest``: for each model size the smallest and the largest over j <= M in every run.

    >>> found = eigenvalue_ratios(beta=2.0, model_sizes=[8, 16], runs=20)
    >>> found.quantiles("least", [0.5]).shape, [part.size for part in found.least]
    ((2, 1), [20, 20])
    """

    beta: float
    normalisation: str
    model_sizes: tuple[int, ...]
    features: tuple[int, ...]
    least: tuple[Array, ...]
    largest: tuple[Array, ...]

    @property
    def runs(self) -> tuple[int, ...]:
        """The number of runs for each model size."""
        return tuple(part.size for part in self.least)

    def quantiles(self, side: str, probabilities: Any) -> Array:
        """Return the quantiles of ``side`` "least" or "largest", shape (model sizes, probabilities)."""
        return np.array([np.quantile(part, probabilities) for part in self._side(side)])

    def drift(self, side: str, *, least_size: int = 1) -> tuple[float, float]:
        """Return the exponent r of M^r in the median of ``side``, by least squares, and its standard error.

        Model sizes below ``least_size`` are left out. Where the lemma holds r tends to 0. Raises ValueError where fewer
        than three model sizes are left.
        """
        used = np.array(self.model_sizes, dtype=np.float64) >= whole_size("least_size", least_size, infinite=False)
        if used.sum() < 3:
            raise ValueError(f"a drift needs at least 3 model sizes, got {int(used.sum())}")
        x = np.log(np.array(self.model_sizes, dtype=np.float64))[used]
        y = np.log(self.quantiles(side, 0.5))[used]
        x = x - x.mean()
        slope = float(x @ y / (x @ x))
        residual = y - y.mean() - slope * x
        return slope, float(np.sqrt(residual @ residual / (x.size - 2) / (x @ x)))

    def failures(self, lower: float, upper: float, *, confidence: float = 0.95) -> Failures:
        """Return how often some ratio lies outside [``lower``, ``upper``]. Raises ValueError unless 0 <= lower < upper
        and the confidence lies in (0, 1)."""
        from scipy.special import betaincinv

        low, high = positive("lower", lower, zero=True), positive("upper", upper, infinite=True)
        level = positive("confidence", confidence)
        if not low < high:
            raise ValueError(f"lower must be below upper, got lower={lower!r}, upper={upper!r}")
        if not level < 1.0:
            raise ValueError(f"confidence must lie in (0, 1), got {confidence!r}")
        pairs = zip(self.least, self.largest, strict=True)
        counts = np.array([int(((least < low) | (largest > high)).sum()) for least, largest in pairs])
        runs = np.array(self.runs)
        outside = 0.5 * (1.0 - level)
        # the end is closed where all or none failed: the inverse has no such case
        below = np.where(counts > 0, betaincinv(np.maximum(counts, 1), runs - counts + 1, outside), 0.0)
        above = np.where(counts < runs, betaincinv(counts + 1, np.maximum(runs - counts, 1), 1.0 - outside), 1.0)
        return Failures(self.model_sizes, self.runs, counts, below, above, level)

    def plot(self, ax: Any = None) -> Any:
        """Draw the medians of both ratios against M, with the range of 90 % of the runs; return the axes."""
        ax = axes_to_draw_on(ax)
        for side, label in (("largest", "largest ratio"), ("least", "least ratio")):
            low, middle, high = self.quantiles(side, [0.05, 0.5, 0.95]).T
            (line,) = ax.loglog(self.model_sizes, middle, marker="o", markersize=3, label=label)
            ax.fill_between(self.model_sizes, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

        # few decades: plain numbers, at the sizes themselves
        ax.set_xticks(self.model_sizes)
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.yaxis.set_major_locator(LogLocator(subs=[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]))
        ax.yaxis.set_major_formatter(ScalarFormatter())
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel("model size $M$")
        ax.set_ylabel(r"$\mu_j(WHW^\top)/\lambda_j$, $j \leq M$")
        ax.legend(frameon=False)
        return ax

    def _side(self, side: str) -> tuple[Array, ...]:
        if side not in ("least", "largest"):
            raise ValueError(f"side must be 'least' or 'largest', got {side!r}")
        return self.least if side == "least" else self.largest


def eigenvalue_ratios(
    *,
    beta: float,
    model_sizes: Any,
    features_per_model: Any = 4,
    normalisation: str = "model-size",
    runs: Any = 100,
    seed: int = 0,
    executor: Executor | None = None,
) -> Concentration:
    """Return the extreme ratios mu_j(W H W')/lambda_j over j <= M for many random W, lambda_j = j^-beta.

    Source: lemma labelled lem: random_eigen.

    ``model_sizes``: distinct M. ``features_per_model``: N/M, at least 1, one number or one a model size; ``runs``
    likewise. ``normalisation``: the variance of the entries of W, see
    :func:`~fsl_num.simulate.random_features.random_projection`. ``seed``: whole; ``executor``: any of
    :mod:`concurrent.futures`, on which the result does not depend. In a terminal a progress bar appears after two
    seconds. Raises ValueError or TypeError where an argument does not fit.

    >>> found = eigenvalue_ratios(beta=2.0, model_sizes=[8, 32], runs=10, seed=3)
    >>> found.features, bool((found.least[0] < found.largest[0]).all())
    ((32, 128), True)
    """
    exponent = capacity_exponent(beta)
    sizes = sizes_of("model_sizes", model_sizes)
    features = tuple(
        size * multiple
        for size, multiple in zip(sizes, one_per_size("features_per_model", features_per_model, sizes), strict=True)
    )
    variance(normalisation, 1, 1)
    if exponent * math.log(max(sizes)) > _STEEPEST:
        raise ValueError(
            f"beta must be at most {_STEEPEST / math.log(max(sizes)):.3g} for {max(sizes)} features, whose least"
            f" eigenvalue is then no number that floats hold; got {beta!r}"
        )
    ratios = over_runs(
        _extreme_ratios,
        [(exponent, size, total, normalisation) for size, total in zip(sizes, features, strict=True)],
        one_per_size("runs", runs, sizes),
        seed=seed,
        executor=executor,
        name="eigenvalues",
    )
    least, largest = (tuple(part[:, side] for part in ratios) for side in (0, 1))
    return Concentration(exponent, normalisation, sizes, features, least, largest)


def _extreme_ratios(beta: float, size: int, features: int, normalisation: str, generator: np.random.Generator) -> Array:
    ratios = ratios_of_draw(beta, size, features, normalisation, generator)
    return np.array([ratios.min(), ratios.max()])


def ratios_of_draw(beta: float, size: int, features: int, normalisation: str, generator: np.random.Generator) -> Array:
    """Return mu_j(W H W')/lambda_j, j <= M = ``size``, of one W drawn from ``generator``, shape (M,).

    >>> ratios_of_draw(2.0, 4, 16, "model-size", np.random.default_rng(0)).shape
    (4,)
    """
    eigenvalues = np.arange(1.0, features + 1.0) ** -beta
    weighted = random_projection(size, features, generator, normalisation) * np.sqrt(eigenvalues)
    if eigenvalues[size - 1] > _WELL_CONDITIONED:
        own = np.linalg.eigvalsh(weighted @ weighted.T)[::-1]
    else:
        # singular values lose half as many digits; the triangular factor has the same ones and is smaller
        own = np.linalg.svd(np.linalg.qr(weighted.T, mode="r"), compute_uv=False) ** 2
    return np.asarray(own / eigenvalues[:size])
