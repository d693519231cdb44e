"""ass:diagonal: rotations of the features."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from sympy import Identity, MatrixSymbol, Trace

from fsl_num.claims.claim import Claim, Sample
from fsl_num.paper.hypotheses import PROJECTIONS, located
from fsl_num.paper.model.formulas import ANY, ERROR, EXACT, LABELS, ONE, H, Stated, V, W, symmetric
from fsl_num.paper.model.tables import Numbers, table
from fsl_num.simulate.random_features import random_projection
from fsl_num.validation import Array
from fsl_sym import model_identities as identities
from fsl_sym.model_identities import EPSILON, FEATURES, PHI, RATE, ROTATION, THETA
from fsl_sym.proof import AllOf, Formula, equals

Q = ROTATION
ALL = PROJECTIONS("all", "first", "random")
ROTATED_STEPS, ROTATED_BATCH, ROTATED_RATE = 30, 2, 0.2


def _rotated() -> Stated:
    """The gradient of one sample and the excess risk with Q phi, Q theta, W Q'; the step for all features, W = I."""
    projection, phi, theta = W * Q.T, Q * PHI, Q * THETA
    error = projection.T * V - theta
    v = MatrixSymbol("v", FEATURES, 1)
    gradient = equals(projection * phi * (phi.T * error - EPSILON * ONE), W * PHI * (PHI.T * ERROR - EPSILON * ONE))
    risk = equals(Trace(error.T * (Q * H * Q.T) * error) / 2, Trace(ERROR.T * H * ERROR) / 2)
    turned = equals(
        Q * v - RATE * phi * (phi.T * (Q * v - theta) - EPSILON * ONE),
        Q * (v - RATE * PHI * (PHI.T * (v - THETA) - EPSILON * ONE)),
    )
    orthogonal = (equals(Q.T * Q, Identity(FEATURES)), equals(Q * Q.T, Identity(FEATURES)))
    return AllOf((gradient, risk, turned)), (*orthogonal, *symmetric(H), LABELS[0])


def _first_kept() -> Formula:
    """As printed: the risk with rotated features and target, and W as it was."""
    error = W.T * V - Q * THETA
    return equals(Trace(error.T * (Q * H * Q.T) * error) / 2, Trace(ERROR.T * H * ERROR) / 2)


ROTATED: Final = _rotated()
FIRST_KEPT: Final = _first_kept()


@lru_cache(maxsize=64)
def _stream(sample: Sample) -> tuple[Array, Array, Array, Array]:
    """A rotation, a random projection, and one stream of standardised features and label noise."""
    generator = np.random.default_rng([sample.seed, 12])
    rotation = np.linalg.qr(generator.standard_normal((4, 4)))[0]
    return (
        rotation, random_projection(2, 4, generator), generator.standard_normal((ROTATED_STEPS, ROTATED_BATCH, 4)),
        0.7 * generator.standard_normal((ROTATED_STEPS, ROTATED_BATCH)),
    )  # fmt: skip


def _path(sample: Sample, projection: Array, turn: Array, aim: Array) -> Array:
    """The excess risk along SGD on features turn phi, in batches; the aim is in the turned coordinates."""
    stream = _stream(sample)
    own = np.arange(1.0, 5.0) ** -sample.point[1]
    phi = (stream[2] * np.sqrt(own)) @ turn.T
    covariance = (turn * own) @ turn.T
    v, risks = np.zeros(projection.shape[0]), []
    for features, noise in zip(phi, stream[3], strict=True):
        slope = features @ (v @ projection) - (features @ aim + noise)
        v = v - ROTATED_RATE * (slope @ (features @ projection.T)) / ROTATED_BATCH
        error = v @ projection - aim
        risks.append(0.5 * error @ covariance @ error)
    return np.array(risks)


def _theta(sample: Sample) -> Array:
    s, beta = sample.point
    return np.asarray(np.arange(1.0, 5.0) ** (-0.5 * (1.0 + beta * (s - 1.0))))


def _projections(sample: Sample) -> Mapping[str, Array]:
    return {"all": np.eye(4), "first": np.eye(2, 4), "random": _stream(sample)[1]}


def rotated_paths(sample: Sample, *, kept: bool = False) -> Numbers:
    """Paths on rotated features; ``kept``: with the same W instead of W Q'."""
    turn = _stream(sample)[0]
    return {
        name: _path(sample, w if kept else w @ turn.T, turn, turn @ _theta(sample))
        for name, w in _projections(sample).items()
    }


def diagonal_paths(sample: Sample, *, projection: str = "own", aim: str = "own") -> Numbers:
    """Paths on the features of diagonal covariance; for mutants with W or theta* turned as well."""
    turn = _stream(sample)[0]
    turns = {"own": np.eye(4), "turned": turn, "turned back": turn.T}
    return {
        name: _path(sample, w @ turns[projection], np.eye(4), turns[aim] @ _theta(sample))
        for name, w in _projections(sample).items()
    }


def _kept(sample: Sample) -> list[dict[Any, Any]]:
    """The letters of both risks with W kept, at the weights 1."""
    own = np.diag(np.arange(1.0, 5.0) ** -sample.point[1])
    return [{Q: _stream(sample)[0], W: w, V: np.ones((len(w), 1)), THETA: _theta(sample)[:, None], H: own}
            for w in _projections(sample).values() if len(w) < 4]  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "ass:diagonal", "ass:diagonal", 291, "SGD under rotations of the features",
        ROTATED[0],
        (*ANY, ALL, "K = 30, B = 2", *ROTATED[1]),
        located({"K": ROTATED_STEPS, "B": ROTATED_BATCH})(rotated_paths),
        table(diagonal_paths, EXACT, {
            "W not turned": {"projection": "turned"}, "Q for Q'": {"projection": "turned back"},
            "theta* not turned": {"aim": "turned back"}}),
        derive=identities.rotation_derivation, family="gradients",
        quoted="SGD is invariant under orthogonal rotations of the feature space",
        remark="A diagonal covariance is thus the general case with W turned along.",
    ),
    Claim(
        "ass:diagonal/first-coordinates", "ass:diagonal", 296, "rotations with W kept, as printed",
        FIRST_KEPT, (*ANY, ALL, *ROTATED[1][:2]), partial(rotated_paths, kept=True),
        table(diagonal_paths, EXACT, {}), corrected_by="ass:diagonal", family="gradients", instances=_kept,
        mends={W.T * V - Q * THETA: Q * (W.T * V - THETA), V.T * W - THETA.T * Q.T: (V.T * W - THETA.T) * Q.T},
        quoted="the analysis under this assumption is equivalent to the general case up to rotation",
        remark="The first coordinates of rotated features are other features.",
    ),
)  # fmt: skip
