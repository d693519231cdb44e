"""Steps of the proofs of the bounds on the bias, measured: matrices of rank one, and the averages that mend them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fsl_num.claims.claim import Sample
from fsl_num.paper.random_features import terms
from fsl_num.paper.random_features.draws import Draw, features
from fsl_num.paper.random_features.statements import DrawnRay
from fsl_num.simulate.random_features import random_projection

Array = NDArray[np.float64]

SIZES = (16, 32, 64, 128)
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
            singular = np.linalg.svd(projection * np.sqrt(eigenvalues), compute_uv=False)
            own: Array = np.asarray(singular**2, dtype=np.float64)
            aim = projection @ (eigenvalues * np.sqrt(squares))
            one = np.zeros(size)
            one[0] = aim @ aim
            mean = np.linalg.svd(projection * (eigenvalues * np.sqrt(squares)), compute_uv=False) ** 2
            draw = Draw(size, own, own, 0.0, own, 0.0)
            row: dict[tuple[str, float], float] = {}
            for span in SPANS:
                time = (span * size) ** beta
                weights = -2.0 * time * own - np.log(own)
                row["one target", span] = float(weights[0] + np.log(one[0]))
                row["mean", span] = float(np.log(np.exp(weights) @ mean))
                shown[span].append(float(np.log(terms.signal(draw, s, beta, np.array([time]))[0])))
            rows.append(row)
        for key in rows[0]:
            columns.setdefault(key, []).append(np.array([row[key] for row in rows]))
        for span in SPANS:
            signals[span].append(np.array(shown[span]))
    scale = tuple(np.log(size) for size in SIZES)
    found: dict[str, list[DrawnRay]] = {"one target": [], "mean": []}
    for (name, span), values in columns.items():
        logs = {"M": scale, "signal": tuple(signals[span])}
        found[name].append(DrawnRay(f"t = ({span:g} M)^beta", SIZES, tuple(values), logs))
    return found


def trace_bounds(name: str, sample: Sample) -> list[DrawnRay]:
    """sum_i exp(-2 t mu_i)/mu_i nu_i, nu_i the eigenvalues of WH u_0u_0'HW' ("one target") or of its mean ("mean")."""
    return _trace_bounds(*sample.point, sample.effort, sample.seed)[name]


def floor_bounds(sample: Sample, *, mean: bool) -> list[tuple[str, float]]:
    """sum_i mu_i(I - Pi) mu_{N+1-i}(H^(1/2) u_0u_0'H^(1/2)) M^(s beta), of one target or of the mean over its signs."""
    s, beta = sample.point
    found = []
    for size in SIZES[:2]:
        eigenvalues, squares = features(s, beta, size)
        aim = np.sqrt(eigenvalues * squares)
        root = random_projection(size, aim.size, np.random.default_rng([sample.seed, 32, size])) * np.sqrt(eigenvalues)
        rows = np.linalg.svd(root, full_matrices=False)[2]
        # eigenvalues of a projection are 0 and 1, and rounding must not weigh the large ones of the other factor
        projection = np.round(np.linalg.eigvalsh(np.eye(aim.size) - rows.T @ rows))[::-1]
        factor = np.diag(aim) if mean else aim[:, None]
        energy = np.zeros(aim.size)
        singular = np.linalg.svd(factor, compute_uv=False)
        energy[aim.size - singular.size :] = singular[::-1] ** 2
        found.append((f"M = {size}", float(projection @ energy) * size ** (s * beta)))
    return found
