r"""Random features: projections W with normal entries, and what training without noise leaves of the target.

Without noise the risk after time t is half of u_0'A_t'H A_t u_0 with A_t = exp(-W'W H t) and u_0 = theta*, which is

    B(t) = sum_j b_j exp(-2 mu_j t) + |rho|^2,

mu_j the eigenvalues of W H W', b_j the signal that each learns and |rho|^2 what W does not reach. The lemmas
labelled lem:bias_upper_bound and lem:bias_lower_bound compare it with M^(-s beta) and with

    e(t) = sum_j mu_j theta_j^2 exp(-2 mu_j t).

For a fixed theta* the proof of the lower bound takes WH theta* (WH theta*)', of rank one, for a matrix of full rank;
:func:`rank_one_bound` is what its argument gives, and :func:`mean_bias` the average over theta*, for which it holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from fsl_num.model import Model
from fsl_num.simulate.random_tasks import one_per_size, over_runs, sizes_of
from fsl_num.simulate.regression import Regression
from fsl_num.validation import Array, affordable, capacity_exponent, one_of, positive, whole_count, whole_seed

_VARIANCES: Final[Mapping[str, Callable[[int, int], float]]] = MappingProxyType(
    {
        "unit": lambda size, features: 1.0,
        "model-size": lambda size, features: 1.0 / size,
        "features": lambda size, features: 1.0 / features,
    }
)
NORMALISATIONS: Final = tuple(_VARIANCES)
"""Names of the variances of the entries of W: 1 (the main text), 1/M (the appendix's bound ||W|| <= c, and the lemma on
eigenvalues) and 1/N (the appendix's lemma labelled lem:T_estimate).

>>> NORMALISATIONS
('unit', 'model-size', 'features')
"""
TARGETS: Final = ("fixed", "random signs", "normal")
"""theta*_j = r_j with r_j^2 = j^-1 lambda_j^(s-1); r_j with random signs; and normal ones of variance r_j^2.

>>> TARGETS
('fixed', 'random signs', 'normal')
"""


def variance(normalisation: str, model_size: int, features: int) -> float:
    """Return the variance of the entries of W; raise ValueError for an unknown normalisation.

    >>> variance("features", 4, 16)
    0.0625
    """
    unknown = f"unknown normalisation {normalisation!r}; the names are {', '.join(NORMALISATIONS)}"
    return _VARIANCES[one_of("normalisation", normalisation, NORMALISATIONS, unknown)](model_size, features)


def random_projection(
    model_size: int, features: int, seed: int | np.random.Generator, normalisation: str = "model-size"
) -> Array:
    """Return W with independent normal entries, shape (M, N).

    ``model_size`` M <= ``features`` N, whole. ``seed``: whole, or a generator to draw from. ``normalisation``: the
    variance of the entries, "unit" (1), "model-size" (1/M) or "features" (1/N). Only with 1/M are the eigenvalues of
    W H W' near those of H. Raises ValueError where an argument does not fit.

    >>> W = random_projection(4, 100, 0, "unit")
    >>> W.shape, bool(abs(W.std() - 1.0) < 0.2)
    ((4, 100), True)
    """
    size = whole_count("model_size", model_size)
    total = whole_count("features", features)
    if total < size:
        raise ValueError(f"features must be at least model_size = {size}, got {features!r}: W would lack rank")
    affordable("entries of W", float(size) * total, 8, "take fewer features")
    scale = math.sqrt(variance(normalisation, size, total))
    if not isinstance(seed, np.random.Generator):
        seed = np.random.default_rng(whole_seed(seed))
    projection = seed.standard_normal((size, total))
    projection *= scale
    return projection


def bias(problem: Regression, times: Any) -> Array:
    """Return B(t), twice the risk that training without noise has at ``times`` >= 0; inf gives what is never learned.

    >>> problem = Regression(Model(s=0.5, beta=2.0, size=2, noise=0.0))
    >>> bias(problem, [0.0, float("inf")]).tolist()
    [1.25, 0.0]
    """
    spectrum = problem.spectrum
    return np.asarray(_decay(spectrum.eigenvalues, times) @ spectrum.signals + spectrum.tail)


def mean_bias(problem: Regression, times: Any) -> Array:
    """Return the mean of B(t) over targets with independent coordinates of mean 0 and the squares of ``problem``'s.

    >>> problem = Regression(Model(s=0.5, beta=2.0, size=2, noise=0.0))
    >>> mean_bias(problem, [0.0]).tolist()
    [1.25]
    """
    root = np.sqrt(problem.eigenvalues)
    size = int(problem.model.size)
    weights = np.eye(size, root.size) if problem.projection is None else problem.projection
    _, singular, rows = np.linalg.svd(weights * root, full_matrices=False)
    energy = (root * problem.theta) ** 2
    share = rows**2  # of feature j in mode i
    left = energy @ np.maximum(1.0 - share.sum(axis=0), 0.0)
    return np.asarray(_decay(singular**2, times) @ (share @ energy) + left)


def rank_one_bound(problem: Regression, times: Any) -> Array:
    """Return what von Neumann's trace inequality gives below B(t) for the one target of ``problem``.

    WH theta* (WH theta*)' has one eigenvalue that is not 0, and the inequality pairs it with the least eigenvalue of
    the other factor: exp(-2 mu_1 t)/mu_1 |WH theta*|^2. The same argument bounds the part that is never learned by 0.

    >>> problem = Regression(Model(s=0.5, beta=2.0, size=2, noise=0.0))
    >>> rank_one_bound(problem, [0.0]).tolist(), bias(problem, [0.0]).tolist()
    ([1.0625], [1.25])
    """
    spectrum = problem.spectrum
    first = float(spectrum.eigenvalues.max())
    size = float(spectrum.eigenvalues @ spectrum.signals)
    return np.asarray(_decay(np.array([first]), times)[..., 0] * (size / first))


def predicted(problem: Regression, times: Any) -> Array:
    """Return e(t) = sum_j mu_j theta_j^2 exp(-2 mu_j t), the paper's, with its j-th eigenvalue beside the j-th target.

    >>> predicted(Regression(Model(s=0.5, beta=2.0, size=2, noise=0.0)), [0.0]).tolist()
    [1.25]
    """
    own = np.sort(problem.spectrum.eigenvalues)[::-1]
    return np.asarray(_decay(own, times) @ (own * problem.theta[: own.size] ** 2))


def _decay(eigenvalues: Array, times: Any) -> Array:
    t = np.asarray(times, dtype=np.float64)
    if np.isnan(t).any() or (t < 0).any():
        raise ValueError("times must be at least 0")
    return np.asarray(np.exp(np.multiply.outer(t, -2.0 * eigenvalues)))


@dataclass(frozen=True, eq=False)
class BiasRatios:
    """B(t) against the two lemmas in many runs, for each of ``model_sizes``.

    ``lower``: the smallest B(t)/max(e(t), M^(-s beta)) over all t, infinity included; ``upper``: the largest
    B(t)/(e(t) + M^(-s beta)); ``floor``: B(infinity) M^(s beta). One array of runs a model size.

    >>> found = bias_ratios(s=0.5, beta=2.0, model_sizes=[8], runs=5)
    >>> bool((found.lower[0] > 0.0).all())
    True
    """

    s: float
    beta: float
    target: str
    model_sizes: tuple[int, ...]
    lower: tuple[Array, ...]
    upper: tuple[Array, ...]
    floor: tuple[Array, ...]


def bias_ratios(
    *,
    s: float,
    beta: float,
    model_sizes: Any,
    features_per_model: Any = 4,
    target: str = "fixed",
    runs: Any = 20,
    seed: int = 0,
    executor: Executor | None = None,
) -> BiasRatios:
    """Return how B(t) compares with the lemmas for many random W with entries of variance 1/M.

    Source: lemmas labelled lem:bias_upper_bound and lem:bias_lower_bound.

    ``target``: one of :data:`TARGETS`, drawn afresh in every run. The other arguments are those of
    :func:`~fsl_num.simulate.concentration.eigenvalue_ratios`. Raises ValueError or TypeError where one does not fit.

    >>> found = bias_ratios(s=0.5, beta=2.0, model_sizes=[8, 16], runs=3, target="normal")
    >>> [part.shape for part in found.upper]
    [(3,), (3,)]
    """
    source, exponent = positive("s", s), capacity_exponent(beta)
    sizes = sizes_of("model_sizes", model_sizes)
    one_of("target", target, TARGETS, f"unknown target {target!r}; the names are {', '.join(TARGETS)}")
    if max(sizes) ** (-source * exponent) == 0.0:
        raise ValueError(f"s beta = {source * exponent:g} is so large that M^-(s beta) is no number that floats hold")
    multiples = one_per_size("features_per_model", features_per_model, sizes)
    ratios = over_runs(
        _bias_ratios,
        [(source, exponent, size, size * multiple, target) for size, multiple in zip(sizes, multiples, strict=True)],
        one_per_size("runs", runs, sizes),
        seed=seed,
        executor=executor,
        name="bias",
    )
    lower, upper, floor = (tuple(part[:, side] for part in ratios) for side in range(3))
    return BiasRatios(source, exponent, target, sizes, lower, upper, floor)


def _bias_ratios(s: float, beta: float, size: int, features: int, target: str, generator: np.random.Generator) -> Array:
    projection = random_projection(size, features, generator)
    theta = np.arange(1.0, features + 1.0) ** (-0.5 * (1.0 + beta * (s - 1.0)))
    if target == "random signs":
        theta = theta * (2.0 * generator.integers(0, 2, features) - 1.0)
    elif target == "normal":
        theta = theta * generator.standard_normal(features)
    problem = Regression(
        Model(s=s, beta=beta, size=size, noise=0.0), features=features, projection=projection, target=theta
    )
    # 200 times over all scales: e-folds of the fastest mode to a thousand of the slowest, and the end
    times = np.append(np.geomspace(1e-2, 1e3 * size**beta, 200), math.inf)
    measured, own, least = bias(problem, times), predicted(problem, times), size ** (-s * beta)
    return np.array([(measured / np.maximum(own, least)).min(), (measured / (own + least)).max(), measured[-1] / least])
