"""What letters stand for where random features are drawn, and what they are for one small W."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.claims.words import Where
from fsl_num.paper.random_features.draws import Draw, draw_of, features, variance
from fsl_num.paper.random_features.risks import STRENGTH, rate_of, returned_by
from fsl_num.paper.random_features.terms import floor, kappa, leak_term, signal_term, top_tail
from fsl_num.simulate.concentration import ratios_of_draw
from fsl_num.simulate.random_features import random_projection
from fsl_num.validation import Array

SIZE: Final = 3


def _at(term: Callable[[Draw, Array], Array], draw: Draw) -> Callable[[float], float]:
    return lambda time: float(term(draw, np.array([time]))[0])


def _drawn(sample: Sample, *, unit: bool = False) -> dict[str, Any]:
    """Of W; ``unit``: with entries M times as large in the square."""
    eigenvalues, squares = features(*sample.point, SIZE)
    drawn, normal = (random_projection(SIZE, squares.size, sample.seed, kind) for kind in ("model-size", "unit"))
    scale = SIZE if unit else 1
    return {
        "W": drawn * np.sqrt(scale), "H": np.diag(eigenvalues), "v": scale * variance(SIZE),
        "independent standard normal numbers": normal, "u_0": -np.sqrt(squares)[:, None],
    }  # fmt: skip


def _trained(sample: Sample) -> dict[str, Any]:
    """What training on the features of W leaves and returns, with the first M features of H beside its modes."""
    s, beta = sample.point
    draw, (eigenvalues, squares) = draw_of(s, beta, SIZE, np.random.default_rng(sample.seed)), features(s, beta, SIZE)
    return {
        **_drawn(sample), "j": np.arange(1.0, SIZE + 1.0), "s": s, "beta": beta, "M": SIZE,
        "lambda_j": eigenvalues[:SIZE], "theta_j": np.sqrt(squares[:SIZE]), "mu_j": draw.eigenvalues,
        "the sums over i <= j of theta_i^2": np.cumsum(squares[:SIZE]),
        "c": STRENGTH, "gamma": rate_of(draw),
        "K": _at(returned_by, draw), "G": _at(returned_by, draw),
        "e": _at(lambda draw, times: signal_term(draw, s, beta, times), draw),
        "e~": _at(lambda draw, times: signal_term(draw, s, beta, times) + leak_term(draw, s, beta, times), draw),
    }  # fmt: skip


def _left(sample: Sample) -> dict[str, Any]:
    draw = draw_of(*sample.point, SIZE, np.random.default_rng(sample.seed))
    return {**_drawn(sample), "b": _at(partial(Draw.left, mean=False), draw)}


def _left_for_ever(sample: Sample) -> dict[str, Any]:
    """The floor, with all features."""
    s, beta = sample.point
    eigenvalues, squares = features(s, beta, SIZE)
    own = {"lambda_j": eigenvalues, "theta_j": np.sqrt(squares), "j": np.arange(1.0, eigenvalues.size + 1.0)}
    return {**own, "N": eigenvalues.size, "s": s, "beta": beta, "kappa": kappa(beta, SIZE), "F": floor(s, beta, SIZE)}


def _modes(sample: Sample) -> dict[str, Any]:
    """The eigenvalues of W H W', by their ratios to those of H."""
    beta, drawn = sample.point[1], _drawn(sample)
    generator = np.random.default_rng(sample.seed)
    ratios = ratios_of_draw(beta, SIZE, drawn["H"].shape[0], "model-size", generator)
    return {**drawn, "mu": lambda j: float(ratios[int(j) - 1] * j**-beta)}


def _missed(sample: Sample) -> dict[str, Any]:
    """What W does not reach of the target in the mean over its signs, and what the first features do not."""
    s, beta = sample.point
    draw, (eigenvalues, squares) = draw_of(s, beta, SIZE, np.random.default_rng(sample.seed)), features(s, beta, SIZE)
    number = np.arange(1.0, squares.size + 1.0)
    own = {"j": number, "lambda_j": eigenvalues, "theta_j": np.sqrt(squares), "I": np.eye(squares.size)}
    risks = {"rho": math.sqrt(draw.mean_tail), "R_random": draw.mean_tail, "R_top": top_tail(s, beta, SIZE)}
    return {**_drawn(sample), **own, **risks, "s": s, "beta": beta, "M": SIZE, "N": squares.size}


NORMAL, UNIT_NORMAL = (
    Where("W is v^(1/2) times independent standard normal numbers", partial(_drawn, unit=unit))
    for unit in (False, True)
)
STRENGTH_OF: Final = Where("c is gamma tr(W H W')", _trained)
DECAYED: Final = "A_t = exp(-W'W H t); "
LEFT_AT: Final = Where(f"{DECAYED}b(t) is u_0' A_t' H A_t u_0", _left)
RETURNED: Final = Where(f"{DECAYED}G(t) is tr(A_t' H A_t W'W H W'W)", _trained)
SIGNAL: Final = Where(
    "mu_j are the eigenvalues of W H W'; e(t) is the sum over j <= M of mu_j theta_j^2 exp(-2 t mu_j)", _trained
)
KERNEL: Final = Where("K(t) is the sum over j <= M of mu_j^2 exp(-2 t mu_j)", _trained)
LEAKY: Final = Where(
    "e~(t) is the sum over j <= M of mu_j (theta_j^2 + (the sums over i <= j of theta_i^2)/M) exp(-2 t mu_j)",
    _trained,
)
MODES: Final = Where("mu(j) are the eigenvalues of W H W'", _modes)
_MISSED: Final = "Pi = H^(1/2) W' (W H W')^-1 W H^(1/2); "
UNREACHED: Final = Where(f"{_MISSED}rho^2 is tr(H^(1/2) (I - Pi) H^(1/2) diag(theta_j^2))", _missed)
STAYING: Final = Where(
    f"{_MISSED}R_random is tr(H^(1/2) (I - Pi) H^(1/2) diag(theta_j^2)); "
    "R_top is (the sum over j <= N of lambda_j theta_j^2) - the sum over j <= M of lambda_j theta_j^2", _missed
)  # fmt: skip
FLOOR: Final = Where("F is kappa times the sum over j <= N of lambda_j theta_j^2/(lambda_j + kappa)", _left_for_ever)
