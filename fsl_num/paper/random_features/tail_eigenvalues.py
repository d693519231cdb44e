"""lem:eig_concentration_appendix and lem:eig_ratio: the eigenvalues of W H W' and of the tails of W."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Function

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint
from fsl_num.claims.words import Where
from fsl_num.paper.hypotheses import SPECTRUM
from fsl_num.paper.model.statements import FailureRate
from fsl_num.paper.random_features.draws import FEATURES_PER_MODEL, features, sizes_of
from fsl_num.paper.random_features.formulas import EDGES, PROBABLE, RANDOM, RATE, SPLIT, large, most, mu, small
from fsl_num.paper.random_features.laws import Exponents, Logs
from fsl_num.paper.random_features.letters import MODES
from fsl_num.paper.random_features.statements import DrawnRay, OverDraws
from fsl_num.simulate.random_features import random_projection
from fsl_num.validation import Array
from fsl_sym.proof import AllOf, at_most, equals
from fsl_sym.symbols import M, N, beta, j

_of_all = Function("mu_N")
EIGENVALUES: Final = AllOf((at_most(small * j**-beta, mu(j)), at_most(mu(j), large * j**-beta)))
TAIL_RATIO: Final = at_most(mu(M / 2, SPLIT) / mu(M, SPLIT), most)
SIZES = (12, 24, 48, 96)
"""Whole thirds and halves of each."""
RUNS = ((150, 120, 120, 140), (150, 120, 120, 140), (600, 400, 400, 300))
"""So many that no failure at M = 96 shows a probability below exp(-0.03 M)."""
LARGE_SIZES = (64, 128, 256)
"""Those of the slopes: extreme eigenvalues come to their limits slowly."""
LARGE_RUNS = ((64, 48, 24), (96, 64, 40), (200, 120, 64))
SHARES = {"k = 1": 0.0, "k = M/3": 1 / 3, "k = M": 1.0, "k = 2M = N - 2M": 2.0}
SQUARE = "k = N - M"


def generators(seed: int, size: int, runs: int, salt: int) -> Iterator[np.random.Generator]:
    """A random stream for every run; ``salt`` tells measurements apart."""
    root = np.random.SeedSequence([seed, salt, size])
    return (np.random.default_rng(stream) for stream in root.spawn(runs))


def tail_ratio(weighted: Array, first: int) -> float:
    """mu_{M/2}/mu_M of A_k = W_k:oo H_k:oo W_k:oo', where ``weighted`` is W H^(1/2) and k = ``first``."""
    tail = weighted[:, first:]
    # rounding leaves 1e-16 lambda_k/lambda_M of the least eigenvalue, at most 1e-3 for beta = 6
    own = np.maximum(np.linalg.eigvalsh(tail @ tail.T), np.finfo(np.float64).tiny)
    return float(own[own.size - own.size // 2] / own[0])


def eigenvalue_ratios(sample: Sample, *, large: bool = False) -> dict[str, DrawnRay]:
    """mu_{M/2}(A_k)/mu_M(A_k) along M, for every kind of k; along the large M without the square one."""
    sizes, runs = (LARGE_SIZES, LARGE_RUNS) if large else (SIZES, RUNS)
    return _eigenvalue_ratios(sample.point[1], sizes, runs[sample.effort], sample.seed, not large)


@lru_cache(maxsize=64)
def _eigenvalue_ratios(
    beta: float, sizes: tuple[int, ...], runs: tuple[int, ...], seed: int, square: bool
) -> dict[str, DrawnRay]:
    columns: dict[str, list[Array]] = {name: [] for name in (*SHARES, *([SQUARE] if square else []))}
    for size, count in zip(sizes, runs, strict=True):
        root = np.sqrt(features(1.0, beta, size)[0])
        ratios: dict[str, list[float]] = {name: [] for name in columns}
        for generator in generators(seed, size, count, 11):
            weighted = random_projection(size, root.size, generator) * root
            for name, share in SHARES.items():
                ratios[name].append(np.log(tail_ratio(weighted, _first(share, size))))
            if square:
                ratios[SQUARE].append(np.log(tail_ratio(weighted, root.size - size)))
        for name, values in ratios.items():
            columns[name].append(np.array(values))
    logs = sizes_of(sizes)
    shares = {**SHARES, SQUARE: FEATURES_PER_MODEL - 1.0}
    split = {name: {"k": tuple(np.log(_first(share, size)) for size in sizes)} for name, share in shares.items()}
    return {name: DrawnRay(name, sizes, tuple(values), logs | split[name]) for name, values in columns.items()}


def _first(share: float, size: int) -> int:
    """k, the columns left out: a share of M, and at least one."""
    return max(1, round(share * size))


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
def least_eigenvalues(sample: Sample, ratio: int) -> DrawnRay:
    """The least mu_j/lambda_j, j <= M, of W with N = ``ratio`` M columns, along M."""
    _, beta = sample.point
    values = []
    for place, size in enumerate(SIZES):
        eigenvalues = features(1.0, beta, size)[0][: ratio * size]
        ratios = []
        for generator in generators(sample.seed, size, RUNS[sample.effort][place], 14):
            weighted = random_projection(size, eigenvalues.size, generator) * np.sqrt(eigenvalues)
            own = np.linalg.svd(weighted, compute_uv=False) ** 2
            ratios.append(np.log((own / eigenvalues[:size]).min()))
        values.append(np.array(ratios))
    return DrawnRay(f"N = {ratio} M", SIZES, tuple(values), sizes_of(SIZES, ratio))


def _power(exponents: Exponents, logs: Logs) -> Any:
    return 0.0 * logs["M"]


def _tails(sample: Sample) -> dict[str, Any]:
    large = eigenvalue_ratios(sample, large=True)
    rays: dict[str, Any] = {name: [ray] for name, ray in large.items()}
    return rays | {"failures": ratio_failures(sample)}


def _tail_law(sample: Sample) -> Joint:
    bounded = OverDraws(_power, {}, "upper", finite_size=0.5 * EDGES, slack={"k = 1": EDGES})
    return Joint({**dict.fromkeys(SHARES, bounded), "failures": FailureRate(RATE)})


def _draw(sample: Sample) -> Array:
    """W H^(1/2) of one W of the smallest model."""
    size = SIZES[0]
    root = np.sqrt(features(1.0, sample.point[1], size)[0])
    return random_projection(size, root.size, next(generators(sample.seed, size, 1, 15))) * root


def _own(weighted: Array, first: int = 0, last: int | None = None) -> Array:
    """The eigenvalues of W H W' with the columns from the first to the last."""
    return np.asarray(np.linalg.svd(weighted[:, first:last], compute_uv=False) ** 2)


def _square_instances(sample: Sample) -> list[dict[Any, Any]]:
    """Of one W the modes from the second on with N = M columns, and with all; c_1 and c_2 bound these."""
    weighted = _draw(sample)
    square, wide = _own(weighted, 0, SIZES[0]), _own(weighted)
    places = np.arange(2, wide.size + 1)
    ratios = wide[1:] * places ** sample.point[1]
    return [{j: place, small: ratios.min(), large: ratios.max(), mu: lambda j: square[int(j) - 1],
             _of_all: lambda j: wide[int(j) - 1]} for place in places.tolist()]  # fmt: skip


def _ratio_instances(sample: Sample) -> list[dict[Any, Any]]:
    """The eigenvalues of the tails of one W at every k, c their largest ratio."""
    weighted, size = _draw(sample), SIZES[0]
    ratios = {first: tail_ratio(weighted, first) for first in (_first(share, size) for share in SHARES.values())}
    return [{M: size, SPLIT: first, mu: lambda j, k: _own(weighted, int(k))[int(j) - 1], TAIL_RATIO.left: ratio,
             most: max(ratios.values())} for first, ratio in ratios.items()]  # fmt: skip


def _last_tail(sample: Sample) -> list[dict[Any, Any]]:
    """The eigenvalues of the tails of one W, at k = N - M; c is the ratio at k = N - 2M."""
    weighted, size = _draw(sample), SIZES[0]
    columns = weighted.shape[1]
    return [{M: size, N: columns, SPLIT: columns - size, mu: lambda j, k: _own(weighted, int(k))[int(j) - 1],
             most: tail_ratio(weighted, columns - 2 * size)}]  # fmt: skip


def _tail_letters(sample: Sample) -> dict[str, Any]:
    """The eigenvalues of the tail of one W after its first column, with the matrices."""
    eigenvalues, known = features(1.0, sample.point[1], SIZES[0])[0], _ratio_instances(sample)[0]
    projection = _draw(sample) / np.sqrt(eigenvalues)
    first = int(known[SPLIT])
    return {"mu": known[mu], "k": first, "W_k:oo": projection[:, first:], "H_k:oo": np.diag(eigenvalues[first:])}


MU_TAIL: Final = Where("A_k = W_k:oo H_k:oo W_k:oo'; mu(j, k) are the eigenvalues of A_k", _tail_letters)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem:eig_concentration_appendix", "lem:eig_concentration_appendix", 2530, "eigenvalues of W H W', any N",
        EIGENVALUES, (SPECTRUM, *RANDOM[:2], "N = M", MODES),
        lambda sample: [least_eigenvalues(sample, 1)],
        lambda sample: OverDraws(_power, {}, "lower", finite_size=EDGES),
        corrected_by="lem: random_eigen/corrected", family="random-tails",
        instances=_square_instances, mends={mu(j): _of_all(j)},
        probability=PROBABLE,
        quoted=r"c_1 \lambda_j \le \mu_j(\bW \bH \bW ^\top) \le c_2\lambda_j",
        remark="As printed it has no condition on N; with as many features as weights the least ratio falls.",
    ),
    Claim(
        "lem:eig_ratio", "lem:eig_ratio", 2540, "eigenvalues of the tails of W, every k",
        TAIL_RATIO, (SPECTRUM, *RANDOM, MU_TAIL, equals(SPLIT, N - M)),
        lambda sample: [eigenvalue_ratios(sample)[SQUARE]],
        lambda sample: OverDraws(_power, {}, "upper", finite_size=EDGES),
        corrected_by="lem:eig_ratio/corrected", family="random-tails", probability=PROBABLE,
        instances=_last_tail, mends={SPLIT: N - 2 * M},
        quoted=r"for all $k\ge 1$, the ratio between the $\frac{M}{2}$-th",
        remark="Where the tail of W is square the ratio grows; beyond, its denominator vanishes.",
    ),
    Claim(
        "lem:eig_ratio/corrected", "lem:eig_ratio", 2540, "eigenvalues of the tails of W that are wide enough",
        TAIL_RATIO, (SPECTRUM, *RANDOM, MU_TAIL, at_most(SPLIT, N - 2 * M)),
        _tails, _tail_law, family="random-tails", role="corrected", instances=_ratio_instances,
        beyond=lambda sample: {SQUARE: {"k = 2M = N - 2M": [eigenvalue_ratios(sample)[SQUARE]]}},
        probability=PROBABLE,
    ),
)  # fmt: skip
