"""Learning rate against batch size: one control of the noise in the functional law, and nearly so in steps. Ours.

In intrinsic time the noise holds gamma = eta/B alone: half the rate over twice the steps is twice the batch, for every
statistic of the Volterra equation. Steps of a finite rate differ by a factor that is measured here. Followers of the
paper call the exchange a finite-sample equivalence; with normalised gradients theirs is eta/sqrt 2 against 2 B.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Rational, oo, sqrt

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.evaluation import sharp
from fsl_num.claims.statements import Joint
from fsl_num.model import Model
from fsl_num.paper.block_constants import MODE_BY_MODE, exact_powers
from fsl_num.paper.hypotheses import MODEL, located
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_sym.proof import at_least, at_most, tends
from fsl_sym.spectrum import LAM, over_modes
from fsl_sym.symbols import B, E, K, M, a, sigma

_STEADY: Final = over_modes(LAM / (2 - a * LAM))
"""The excess risk that label noise leaves at a constant rate, over a sigma^2/(2 B)."""
_LEFT: Final = tends(2 * B * E / (a * sigma**2), K, oo, _STEADY)
_EXCHANGE: Final = over_modes(LAM**2) / (4 * over_modes(LAM))
"""By how much two batches at the rate a are noisier than one at a/2: relative, over a."""
_LARGE: Final = 1e9
"""Samples a step, and sigma^2: the noise of the features is a/B of the label noise, the start exp(-32)/a of it."""
_FORGOTTEN: Final = 16.0
"""The slowest mode has lost exp(-2 * 16) of its start."""
_ROUNDING: Final = 1e-8
"""What B, the start and the rounding of a million steps leave, relative."""


@lru_cache(maxsize=64)
def _left(s: float, beta: float, size: int, rate: float, batch_size: float) -> float:
    """The exact excess risk of stochastic gradient descent where training stands still."""
    problem = Regression(Model(s, beta, size, _LARGE))
    steps = math.ceil(_FORGOTTEN * size**beta / rate)
    return float(exact_risk(problem, np.full(steps, rate), batch_size).excess_risk[-1])


def _measured(sample: Sample) -> dict[str, list[tuple[dict[str, Any], float]]]:
    s, beta = sample.point
    sizes = (1, 2) if sample.effort == 0 else (1, 2, 3)
    large, small = (Rational(1), Rational(1, 2), Rational(1, 10)), (Rational(1, 100), Rational(1, 400))

    def noise(rate: Any, size: int) -> float:
        return 2 / float(rate) * _left(s, beta, size, float(rate), _LARGE)

    def exchanged(rate: Any, size: int) -> float:
        double, half = (_left(s, beta, size, float(value), n * _LARGE) for value, n in ((rate, 2), (rate / 2, 1)))
        return (double / half - 1) / float(rate)

    return {
        "noise left": [({"a": rate, "M": size}, noise(rate, size)) for rate in large for size in sizes],
        "exchange": [({"a": rate, "M": size}, exchanged(rate, size)) for rate in small for size in sizes],
    }


def _still(sample: Sample) -> list[dict[Any, Any]]:
    """Two features at half of the largest rate, where training stands still, and the quotient as it is measured."""
    risk, rate = _left(*sample.point, 2, 0.5, _LARGE), 0.5
    known = {E: risk, a: rate, M: 2, B: _LARGE, sigma: math.sqrt(_LARGE), K: math.ceil(_FORGOTTEN * 2.0 / rate)}
    return [{**known, _LEFT.left: 2.0 / rate * risk}]


def _says(sample: Sample) -> Joint:
    """The noise left by steps of every rate; the exchange to its next order, below a of it (lambda_1 = 1)."""
    parameters = {"beta": sample.beta}
    first_order = over_modes(LAM / 2)
    wrong_noise = {
        "the functional law, at every rate": first_order,
        "half of the correction": over_modes(LAM / (2 - a * LAM / 2)),
        "twice the correction": over_modes(LAM / (2 - Rational(3, 2) * a * LAM)),
    }
    wrong_exchange = {
        "the exchange twice as far off": 2 * _EXCHANGE,
        "the exchange half as far off": _EXCHANGE / 2,
        "the rate over sqrt 2 against twice the batch": (sqrt(2) - 1) / a,
        "the rate halved against four times the batch": Rational(-1, 2) / a,
        "an exchange that is exact to second order": a * _EXCHANGE,
    }
    return Joint({
        "noise left": sharp(_STEADY, parameters, _ROUNDING, wrong_noise),
        "exchange": sharp(
            _EXCHANGE, parameters, lambda point: float(point["a"]) + _ROUNDING / float(point["a"]), wrong_exchange
        ),
    })  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "batch-and-rate/steps", "eqn: fsl-simplified", 883, "batch against rate, in steps",
        _LEFT,
        (MODEL, exact_powers(MODE_BY_MODE), at_most(a, 1), at_least(M, 1), "B = 1e9"),
        located({"B": _LARGE})(_measured), _says, instances=_still, role="own", depends=("eqn: fsl-simplified",),
        remark="By the functional law halving the rate over twice the steps is doubling the batch; in steps the "
               "doubled batch is the noisier one.",
    ),
)  # fmt: skip
