"""The mean of the weights at a constant rate: it has the order of the best schedule without any decay. Ours.

The mean over the last half of an intrinsic time T = gamma D keeps of a mode with lambda T > 1 the noise of the order
gamma/T = 1/D, whatever lambda is; there are T^(1/beta) of these modes, and the others have noise of no higher order.
That is the noise of the best rates over T (claim optimal-schedule/data), and the signal of the mean is still of the
order T^-s: what is left over T is the same law, but for constants, with gamma alone to be chosen.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.statements import Ray, Statement
from fsl_num.claims.words import Where
from fsl_num.design.averaging import best_average
from fsl_num.model import Model
from fsl_num.paper.block_constants import exact_powers
from fsl_num.paper.hypotheses import INFINITE, LABELS, MODEL, of_unit_noise
from fsl_num.paper.scaling_laws.optimal_rates import LEAST
from fsl_sym.domain import REGIMES
from fsl_sym.proof import AllOf, Formula, same_order
from fsl_sym.symbols import E

_DECADES: Final = (12.0, 24.0)
"""Of the budget: before them neither the sums over features nor the start of training are powers."""
_ORDERS: Final = dict(zip([regime.name for regime in REGIMES], LEAST["data"], strict=True))


def mean_rays(sample: Sample) -> list[Ray]:
    """The least risk of the mean over the last half of the samples, over constant rates, along the data."""
    task = Model(*sample.point, math.inf, 1.0)
    decades = np.linspace(*_DECADES, 4 + 2 * sample.effort)
    risks = [best_average(task, 10.0**decade, share=0.5).excess_risk for decade in decades]
    logs = math.log(10.0) * decades
    return [Ray("D to infinity", logs, {"D": logs}, np.log(risks))]


def _statement(sample: Sample) -> Statement:
    return order_statement(same_order(E, _ORDERS[sample.regime]), sample)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "averaging/data", "eqn: FSL-optimization", 1583, "the mean of the weights at a constant rate",
        lambda: AllOf(tuple(Formula(E, "~", _ORDERS[regime.name], where=regime.condition) for regime in REGIMES)),
        (MODEL, INFINITE, LABELS, Where("E is the least excess risk over constant rates, of the mean"),
         exact_powers("over other spectra the law of that mean is measured by horizon-free/law")),
        of_unit_noise(mean_rays), _statement, role="own", depends=("eqn: fsl-simplified", "optimal-schedule/data"),
        remark="Averaging the weights at a constant rate does what the best of all schedules does.",
    ),
)  # fmt: skip
