"""lem:bias_lower_bound: the two trace inequalities of the proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Sum, Symbol, exp

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Joint, Statement
from fsl_num.claims.words import Kinds, Where
from fsl_num.paper.hypotheses import SPECTRUM, TARGET
from fsl_num.paper.random_features.draws import FEATURES_PER_MODEL, Draw, features, sizes_of, variance
from fsl_num.paper.random_features.formulas import PROBABLE, RANDOM, bias, e, mu, nu, pi
from fsl_num.paper.random_features.laws import Exponents, Logs
from fsl_num.paper.random_features.letters import SIGNAL
from fsl_num.paper.random_features.risks import SIZES
from fsl_num.paper.random_features.statements import DrawnRay, OverDraws, Within
from fsl_num.paper.random_features.terms import signal_term
from fsl_num.simulate.random_features import random_projection
from fsl_num.validation import Array
from fsl_sym.proof import AllOf, at_least, order_at_most, same_order
from fsl_sym.symbols import M, N, beta, s, t

_i = Symbol("i", integer=True, positive=True)
_TRACES = Sum(exp(-2 * t * mu(_i)) / mu(_i) * bias(_i), (_i, 1, M))
ONE_TARGET: Final = order_at_most(e(t), _TRACES)
ONE_TARGET_FLOOR: Final = order_at_most(M ** (-s * beta), Sum(mu(_i) * nu(N + 1 - _i), (_i, 1, N)))
AVERAGED: Final = AllOf(
    (
        same_order(_TRACES, e(t)),
        at_least(Sum(pi(_i) * nu(N + 1 - _i), (_i, 1, N)), Sum(_i ** (-1 - s * beta), (_i, M + 1, N))),
    )
)
RUNS = ((24, 20, 16, 12), (48, 40, 32, 24), (96, 80, 64, 48))
SPANS = (1 / 4, 1 / 2)
"""The trace inequalities are checked at t = (c M)^beta for these c, where e(t) is not small."""


@lru_cache(maxsize=64)
def _trace_bounds(s: float, beta: float, effort: int, seed: int) -> dict[str, list[DrawnRay]]:
    columns: dict[tuple[str, float], list[Array]] = {}
    signals: dict[float, list[Array]] = {span: [] for span in SPANS}
    for place, size in enumerate(SIZES):
        eigenvalues, squares = features(s, beta, size)
        root = np.random.SeedSequence([seed, 31, size])
        rows: list[dict[tuple[str, float], float]] = []
        shown: dict[float, list[float]] = {span: [] for span in SPANS}
        for stream in root.spawn(RUNS[effort][place]):
            projection = random_projection(size, eigenvalues.size, np.random.default_rng(stream))
            own, single, mean = _weighed(projection, eigenvalues, squares)
            draw = Draw(size, own, own, 0.0, own, 0.0)
            row: dict[tuple[str, float], float] = {}
            for span in SPANS:
                time = (span * size) ** beta
                row["one", span] = _trace_bound(time, own, single)
                row["mean", span] = _trace_bound(time, own, mean)
                shown[span].append(float(np.log(signal_term(draw, s, beta, np.array([time]))[0])))
            rows.append(row)
        for key in rows[0]:
            columns.setdefault(key, []).append(np.array([row[key] for row in rows]))
        for span in SPANS:
            signals[span].append(np.array(shown[span]))
    rays_of: dict[str, list[DrawnRay]] = {"one": [], "mean": []}
    for (name, span), values in columns.items():
        logs = {**sizes_of(SIZES), "signal": tuple(signals[span])}
        rays_of[name].append(DrawnRay(f"t = ({span:g} M)^beta", SIZES, tuple(values), logs))
    return rays_of


def _weighed(projection: Array, eigenvalues: Array, squares: Array) -> tuple[Array, Array, Array]:
    """The eigenvalues of W H W', and of WH u_0u_0'HW' for one target and in the mean over its signs."""
    aim = eigenvalues * np.sqrt(squares)
    single = np.zeros(len(projection))
    single[0] = np.sum((projection @ aim) ** 2)
    own, mean = (np.linalg.svd(projection * root, compute_uv=False) ** 2 for root in (np.sqrt(eigenvalues), aim))
    return np.asarray(own, dtype=np.float64), single, np.asarray(mean, dtype=np.float64)


def _trace_bound(time: float, own: Array, weights: Any) -> float:
    """The logarithm of sum_i exp(-2 t mu_i)/mu_i b_i."""
    from scipy.special import logsumexp

    return float(logsumexp(-2.0 * time * own - np.log(own), b=weights))


TARGETS = Kinds("u_0", {"one": "one fixed", "mean": "the mean over the signs of"})


def trace_bounds(name: str, sample: Sample) -> Located:
    """sum_i exp(-2 t mu_i)/mu_i nu_i, nu_i the eigenvalues of WH u_0u_0'HW' ("one") or of its mean ("mean")."""
    rays = _trace_bounds(*sample.point, sample.effort, sample.seed)[name]
    return Located(rays, {TARGETS.name: name})


def _floor_features(sample: Sample, size: int) -> tuple[Array, Array, Array]:
    """lambda_j, theta_j^2 and W."""
    eigenvalues, squares = features(*sample.point, size)
    return eigenvalues, squares, random_projection(size, squares.size, np.random.default_rng([sample.seed, 32, size]))


def _floor_eigenvalues(sample: Sample, size: int, mean: bool) -> tuple[Array, Array]:
    """Those of I - Pi, and of H^(1/2) u_0u_0'H^(1/2) or its mean, each from the largest on."""
    eigenvalues, squares, drawn = _floor_features(sample, size)
    aim, root = np.sqrt(eigenvalues * squares), drawn * np.sqrt(eigenvalues)
    rows = np.linalg.svd(root, full_matrices=False)[2]
    # eigenvalues of a projection are 0 and 1, and rounding must not weigh the large ones of the other factor
    projection = np.round(np.linalg.eigvalsh(np.eye(aim.size) - rows.T @ rows))[::-1]
    singular = np.linalg.svd(np.diag(aim) if mean else aim[:, None], compute_uv=False)
    return projection.astype(np.float64), np.pad(singular**2, (0, aim.size - singular.size))


def floor_bounds(sample: Sample, *, mean: bool) -> Located:
    """sum_i mu_i(I - Pi) mu_{N+1-i}(H^(1/2) u_0u_0'H^(1/2)) M^(s beta), of one target or of the mean over its signs."""
    s, beta = sample.point
    bounds = []
    for size in SIZES[:2]:
        projection, energy = _floor_eigenvalues(sample, size, mean)
        bounds.append((f"M = {size}", float(projection @ energy[::-1]) * size ** (s * beta)))
    sizes = np.array(SIZES[:2])
    known = {"M": sizes, "N": FEATURES_PER_MODEL * sizes, "v": np.array([variance(size) for size in SIZES[:2]])}
    return Located(bounds, {**known, TARGETS.name: "mean" if mean else "one"})


def _averaged(sample: Sample) -> Joint:
    def law(exponents: Exponents, logs: Logs) -> Any:
        return logs["signal"] - (exponents["s"] - sample.point[0]) * sample.point[1] * logs["M"]

    return Joint({"e(t)": OverDraws(law, {"s": sample.point[0]}), "floor": Within(_least_floor(sample), np.inf)})


def _least_floor(sample: Sample) -> float:
    """The least of delta_M M^(s beta) over the sizes measured, from an integral below the sum."""
    power = sample.point[0] * sample.point[1]
    ends = [(size + 1.0, 4.0 * size + 1.0, size) for size in SIZES[:2]]
    return float(min((low**-power - high**-power) / power * size**power for low, high, size in ends))


def _averaged_mutants(sample: Sample) -> dict[str, Statement]:
    parts = _averaged(sample).parts
    return {"twice the floor": Joint({**parts, "floor": Within(2.0 * _least_floor(sample), np.inf)})}


def _trace_instances(sample: Sample, *, mean: bool) -> list[dict[Any, Any]]:
    """Eigenvalues, how they weigh, and the first sum as it is measured, all of one size."""
    size, time, drawn = SIZES[0], 3.0, _floor_features(sample, SIZES[0])
    own, single, averaged = _weighed(drawn[2], *drawn[:2])
    weights = averaged if mean else single
    projection, energy = _floor_eigenvalues(sample, size, mean)
    known = {t: time, M: size, N: energy.size, nu: _listed(energy), pi: _listed(projection)}
    return [{**known, mu: _listed(own), bias: _listed(weights), _TRACES: math.exp(_trace_bound(time, own, weights))}]


def _floor_instances(sample: Sample) -> list[dict[Any, Any]]:
    """The eigenvalues of one size, and the second sum as it is measured."""
    projection, energy = _floor_eigenvalues(sample, SIZES[0], mean=False)
    return [{N: energy.size, mu: _listed(projection), nu: _listed(energy),
             M: SIZES[0], ONE_TARGET_FLOOR.left: SIZES[0] ** -math.prod(sample.point),
             ONE_TARGET_FLOOR.right: float(projection @ energy[::-1])}]  # fmt: skip


def _listed(values: Array) -> Callable[[Any], float]:
    return lambda place: float(values[int(place) - 1])


def _matrices(eigenvalues: Array, squares: Array, projection: Array) -> dict[str, Any]:
    target, unit = -np.sqrt(squares)[:, None], np.eye(squares.size)
    return {"H": np.diag(eigenvalues), "W": projection, "u_0": target, "theta_j": np.sqrt(squares), "I": unit,
            "j": np.arange(1.0, squares.size + 1.0), "lambda_j": eigenvalues}  # fmt: skip


def _weights(sample: Sample, *, mean: bool = False) -> dict[str, Any]:
    """Of the smallest size, the matrices and what is measured of them."""
    drawn = _floor_features(sample, SIZES[0])
    own, single, averaged = _weighed(drawn[2], *drawn[:2])
    return {**_matrices(*drawn), "mu": _listed(own), "b": _listed(averaged if mean else single)}


def _floors(sample: Sample, *, mean: bool = False) -> dict[str, Any]:
    """Of so few features that the inverse of W H W' keeps its digits."""
    projection, energy = _floor_eigenvalues(sample, 4, mean)
    missed = "pi" if mean else "mu"
    return {**_matrices(*_floor_features(sample, 4)), missed: _listed(projection), "nu": _listed(energy)}


_MODES: Final = "mu(i) are the eigenvalues of W H W'; b(i) are the eigenvalues of W H "
_REACHED: Final = "Pi = H^(1/2) W' (W H W')^-1 W H^(1/2); "
WEIGHTED: Final = (Where(f"{_MODES}u_0 u_0' H W'", _weights), SIGNAL)
WEIGHTED_MEAN: Final = (Where(f"{_MODES}diag(theta_j^2) H W'", partial(_weights, mean=True)), SIGNAL)
MISSED: Final = Where(
    f"{_REACHED}mu(i) are the eigenvalues of (I - Pi); nu(i) are the eigenvalues of H^(1/2) u_0 u_0' H^(1/2)", _floors
)
MISSED_MEAN: Final = Where(
    f"{_REACHED}pi(i) are the eigenvalues of (I - Pi); nu(i) are the eigenvalues of H^(1/2) diag(theta_j^2) H^(1/2)",
    partial(_floors, mean=True),
)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem:bias_lower_bound/argument", "lem:bias_lower_bound", 2725, "the trace inequality for one target",
        ONE_TARGET, (SPECTRUM, TARGET, *WEIGHTED, TARGETS("one"), *RANDOM),
        partial(trace_bounds, "one"),
        lambda sample: OverDraws(lambda exponents, logs: logs["signal"], {}, "lower"),
        corrected_by="lem:bias_lower_bound/averaged", family="random-steps", role="argument", probability=PROBABLE,
        instances=partial(_trace_instances, mean=False),
        remark="For one target the matrix has rank one.",
    ),
    Claim(
        "lem:bias_lower_bound/argument-floor", "lem:bias_lower_bound", 2760, "the trace inequality for what is left",
        ONE_TARGET_FLOOR,
        (SPECTRUM, TARGET, MISSED, TARGETS("one"), *RANDOM),
        partial(floor_bounds, mean=False),
        lambda sample: Within(_least_floor(sample), np.inf),
        corrected_by="lem:bias_lower_bound/averaged", family="random-steps", role="argument",
        instances=_floor_instances, probability="certain: the matrix has rank one for every W",
        remark="For one target the matrix has rank one, and the sum vanishes.",
    ),
    Claim(
        "lem:bias_lower_bound/averaged", "lem:bias_lower_bound", 2725, "both trace inequalities for the mean target",
        AVERAGED,
        (SPECTRUM, TARGET, *WEIGHTED_MEAN, TARGETS("mean"), MISSED_MEAN, *RANDOM),
        lambda sample: {"e(t)": trace_bounds("mean", sample),
                        "floor": floor_bounds(sample, mean=True)},
        _averaged, _averaged_mutants, family="random-steps", role="corrected", probability=PROBABLE,
        instances=partial(_trace_instances, mean=True),
        remark="So the proof holds for the mean over targets with uncorrelated coordinates.",
    ),
)  # fmt: skip
