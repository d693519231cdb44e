"""The constants of spectra that are powers only up to constants: of c_j j^-beta and of d_j j^-1 lambda_j^(s-1).

Blocks of equal eigenvalues have one length in log j, and their constants repeat: see
:mod:`~fsl_num.paper.block_spectra`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fsl_num.claims.words import Kinds, Setting

PERIOD = 256.0
"""Every spectrum here repeats itself where lambda falls by this factor."""
SPECTRA = Kinds(
    "in [1/2, 2] as well: c_j in lambda_j = c_j j^-beta, d_j in theta_j^2 = d_j j^-1 lambda_j^(s-1), along M or T",
    {"constants in steps": "constants in steps", "random constants": "random constants"},
)
"""The spectra that are powers up to constants."""
UP_TO_CONSTANTS = SPECTRA("constants in steps", "random constants")
"""What claims that are measured over these spectra too say of them."""


EXACT_POWERS = "exact powers alone: "
"""How the claims begin to say why they are not measured over these spectra, or not true of them."""
OSCILLATE = "where they hold up to constants, constants go on oscillating with the logarithm of the scale"
DESIGNED = (
    "the designer takes sums over powers; the law that it minimises is measured over other spectra by "
    "optimal-batch/law-easy and law-hard, 1/gamma being the batch"
)
AS_A_POWER = "its proof takes K for a power of t at infinity, and its constants are measured for that alone"
TWO_CLOCKS = (
    "over others both times oscillate with the logarithm of their own, and their ratio by more than a drift may be; "
    "the terms that balance are measured over them by "
)
NO_SPECTRUM = "it is a step of calculus, in which no other spectrum could stand"
MODE_BY_MODE = "it holds mode by mode, whatever the eigenvalues, and is checked to the last digit for these"


def exact_powers(reason: str) -> Setting:
    """The hypothesis of a claim of exact powers alone.

    >>> exact_powers("the constant is theirs")
    'exact powers alone: the constant is theirs'
    """
    return SPECTRA.none(EXACT_POWERS + reason)


@dataclass(frozen=True)
class Constants:
    """c_j and d_j, all in [1/2, 2].

    In a block j^-beta falls by ``factor``; its eigenvalue is the middle of these times one of ``eigenvalues``, and d_j
    is one of ``targets``: they are taken in turn.
    """

    name: str
    factor: float
    eigenvalues: tuple[float, ...]
    targets: tuple[float, ...]


def given_constants(seed: int) -> tuple[Constants, ...]:
    """Those that the claims are checked with: in steps, and drawn at random.

    >>> [constants.name for constants in given_constants(0)]
    ['constants in steps', 'random constants']
    """
    drawn = 2.0 ** np.random.default_rng([seed, 43]).uniform(-1.0, 1.0, (2, 8))
    return (
        Constants("constants in steps", 4.0, (1.0,), (2.0, 0.5)),
        Constants("random constants", 2.0, tuple(np.sqrt(drawn[0]).tolist()), tuple(drawn[1].tolist())),
    )


def whole_periods(value: float) -> float:
    """The whole power of PERIOD that is nearest to a value >= 1 of t or M^beta.

    >>> whole_periods(1e5)
    65536.0
    """
    return float(PERIOD ** round(math.log(value, PERIOD)))
