"""lem:bias_upper_bound and lm:matrix_analysis: the series of the bias, and what W does not reach."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
from sympy import MatrixSymbol, Trace

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.statements import Joint, Statement
from fsl_num.claims.words import Where
from fsl_num.paper.random_features import identities
from fsl_num.paper.random_features.formulas import DECAYED, SMALL, A, H, R, identity, left_at, square, u
from fsl_num.paper.random_features.statements import Within
from fsl_num.validation import Array
from fsl_sym import random_features as derivations
from fsl_sym.proof import AllOf, Property, at_most, equals
from fsl_sym.random_features import FEATURES, SIZE

RANK = Property("W", "of full rank")
LEARNED = Where("G = (W H W')^-1; M_t = W H W' exp(-2 t W H W')")
_W, _G, _M_t = MatrixSymbol("W", SIZE, FEATURES), square("G", SIZE), square("M_t", SIZE)
_REACHED = H * _W.T * _G * _M_t * _G * _W * H
PRINTED_SERIES: Final = equals(left_at, _REACHED)
SERIES: Final = equals(left_at, _REACHED + H - H * _W.T * _G * _W * H)
_PI, _E = square(r"\Pi"), square("E")
NOT_REACHED: Final = AllOf(
    (
        equals(left_at, R * (identity - _PI + _PI * _E * _E * _PI) * R),
        at_most(Trace(u.T * R * (identity - _PI) * (identity - _PI) * R * u), Trace(u.T * left_at * u)),
    )
)


def left_entries(sample: Sample) -> identities.Table:
    """All entries of A_t'H A_t."""
    return identities.entries(sample, lambda number, time: identities.left_of(sample, number, time))


def split_series(
    sample: Sample, number: int, time: float, *, never: float = 1.0, printed_series: bool = False
) -> Array:
    """H^(1/2) [``never`` (I - P'(PP')^-1 P) + P'(PP')^-1 exp(-2 PP't) P] H^(1/2), P = W H^(1/2).

    ``printed_series``: the series I + sum (-t)^(a+b)/(a! b!) P'(PP')^-1 P of line 2812 in place of the bracket.
    """
    projection, eigenvalues, _ = identities.case(sample, number)
    root = np.sqrt(eigenvalues)
    rows = projection * root
    gram = rows @ rows.T
    span = rows.T @ np.linalg.solve(gram, rows)
    if printed_series:
        inner = np.eye(identities.COLUMNS) + (np.exp(-2.0 * time) - 1.0) * span
    else:
        values, vectors = np.linalg.eigh(gram)
        decayed = (vectors * np.exp(-2.0 * values * time)) @ vectors.T
        inner = never * (np.eye(identities.COLUMNS) - span) + rows.T @ np.linalg.solve(gram, decayed @ rows)
    return np.asarray(root[:, None] * inner * root)


def split_statement(sample: Sample) -> Joint:
    """What training leaves, split into what W reaches and what it never learns; the second is a lower bound."""
    split = partial(split_series, sample)
    wrong = {
        "nothing is never learned": identities.entry(partial(split, never=0.0)),
        "half of it": identities.entry(partial(split, never=0.5)),
        "the printed series": identities.entry(partial(split, printed_series=True)),
    }
    return Joint(
        {
            "identity": identities.sharp_identity(identities.entry(split), wrong),
            "inequality": Within(0.0, np.inf, rounding=1e-12),
            "constant": Within(1.0, 1.0, rounding=identities.ROUNDING),
        }
    )


def _split_mutants(sample: Sample) -> dict[str, Statement]:
    """The bound with a constant that is a little too large."""
    parts = split_statement(sample).parts
    return {"1.02 times the bound": Joint({**parts, "constant": Within(1.02, np.inf)})}


def least_surplus(sample: Sample) -> list[tuple[str, float]]:
    """The least eigenvalue of A_t'H A_t - H^(1/2) (I - P'(PP')^-1 P)^2 H^(1/2)."""
    least = []
    for number in range(identities.CASES):
        for time in identities.TIMES:
            split = split_series(sample, number, np.inf)
            surplus = identities.left_of(sample, number, time) - split
            least.append((f"case {number}, t = {time:g}", float(np.linalg.eigvalsh(surplus)[0])))
    return least


def attained_share(sample: Sample) -> list[tuple[str, float]]:
    """The largest |H^(1/2) A_t u|^2/|(I - Pi) H^(1/2) u|^2 over the u for which W reaches nothing of H^(1/2) u."""
    from scipy.linalg import null_space

    shares = []
    for number in range(identities.CASES):
        projection, eigenvalues, _ = identities.case(sample, number)
        root = np.sqrt(eigenvalues)
        targets = null_space(projection * root) / root[:, None]
        for time in identities.TIMES:
            left = targets.T @ identities.left_of(sample, number, time) @ targets
            shares.append((f"case {number}, t = {time:g}", float(np.linalg.eigvalsh(left)[-1])))
    return shares


def _values(projection: Array, root: Array, decayed: Array, time: float) -> dict[Any, Any]:
    """At a target of which W reaches nothing."""
    from scipy.linalg import expm, null_space

    rows = projection @ root
    gram = rows @ rows.T
    inverse = np.linalg.inv(gram)
    return {
        A: decayed, H: root**2, R: root, FEATURES: identities.COLUMNS, _W: projection, _G: inverse,
        _M_t: gram @ expm(-2.0 * time * gram), _PI: rows.T @ inverse @ rows, _E: expm(-time * rows.T @ rows),
        u: np.linalg.solve(root, null_space(rows)[:, :1]),
    }  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "lem:bias_upper_bound/argument", "lem:bias_upper_bound", 2600, "the series of the bias without its first term",
        PRINTED_SERIES, (RANK, DECAYED, LEARNED, *SMALL),
        identities.of_cases(left_entries),
        lambda sample: identities.sharp_identity(
            identities.entry(partial(split_series, sample, never=0.0)), {}),
        instances=partial(identities.instances, values=_values),
        mends={_REACHED: _REACHED + H - H * _W.T * _G * _W * H},
        corrected_by="lem:bias_upper_bound/first-term", family="random-identities", role="argument",
        remark="The first term of the series is replaced by its part that W reaches.",
    ),
    Claim(
        "lem:bias_upper_bound/first-term", "lem:bias_upper_bound", 2600, "the series of the bias with its first term",
        SERIES, (RANK, DECAYED, LEARNED, *SMALL),
        identities.of_cases(left_entries), lambda sample: split_statement(sample).parts["identity"],
        instances=partial(identities.instances, values=_values),
        derive=derivations.lost_term_derivation, family="random-identities", role="corrected",
        remark="What is added is what W never learns.",
    ),
    Claim(
        "lm:matrix_analysis", "lm:matrix_analysis", 2783, "what W does not reach is a lower bound",
        NOT_REACHED,
        (RANK, DECAYED, Where("R = H^(1/2); P = W R; E = exp(-t P'P); Pi = P' (P P')^-1 P"),
         *SMALL),
        identities.of_cases(lambda sample: {
            "identity": left_entries(sample), "inequality": least_surplus(sample), "constant": attained_share(sample)}),
        split_statement, _split_mutants, instances=partial(identities.instances, values=_values),
        derive=derivations.matrix_analysis_derivation,
        family="random-identities",
        quoted=r"(\mathbf{I} - \bH ^{\frac{1}{2}} \bW ^\top (\bW \bH \bW ^\top)^{-1} \bW \bH ^{\frac{1}{2}})"
               r" \bH ^{\frac{1}{2}}\bu_0 \|^2",
    ),
)  # fmt: skip
