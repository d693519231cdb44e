"""Where named shapes stop gaining from capacity. Ours, not the paper's.

A rate that ends like (1 - tau/K)^p is R^q, q = p/(p + 1), with an intrinsic time R left. Of the noise int K(R) R^q dR
most is made where the power of K and this one say: throughout the decay where q > 1 - 1/beta, and then it falls like
T^-(1 - 1/beta), as the best rates' does; else in the last of R of order 1, whatever the spectrum, like T^-q. So a shape
serves a spectrum up to beta = p + 1: linear decay and 1 - sqrt (p = 1) up to 2, the cosine (p = 2) up to 3, and what
ends at a share of its peak (p = 0) has nothing from any spectrum.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
from sympy import Min, Rational

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import order_statement
from fsl_num.claims.hypotheses import logarithm
from fsl_num.claims.statements import POWER_DRIFT, Equivalent, Joint, Ray, Statement
from fsl_num.claims.words import Where
from fsl_num.functional import noise_functional
from fsl_num.model import Model
from fsl_num.paper.hypotheses import INFINITE, LABELS, MODEL, of_unit_noise
from fsl_num.paper.scaling_laws.training import peak_rate
from fsl_num.schedules import schedule
from fsl_num.validation import Array
from fsl_sym.proof import same_order
from fsl_sym.symbols import E, N, beta, p, s

_CAPACITY: Final = Min(beta, p + 1)
ORDER: Final = same_order(E, N ** -Min(s, s * _CAPACITY / (1 + s * _CAPACITY)))
"""The least risk under a data budget N of a shape that ends with the power p."""
SHAPES: Final[dict[str, tuple[int, str, dict[str, float]]]] = {
    "constant": (0, "constant", {}),
    "8-1-1": (0, "8-1-1", {}),
    "linear": (1, "linear", {}),
    "stable, then linear": (1, "linear", {"decay_fraction": 0.2}),
    "stable, then 1-sqrt": (1, "1-sqrt", {"decay_fraction": 0.2}),
    "cosine": (2, "cosine", {}),
    "stable, then cosine": (2, "cosine", {"decay_fraction": 0.2}),
}
"""Name -> the power p with which it ends, and the schedule of the catalogue."""
DIFFICULTIES: Final = {"a hard task": Rational(1, 8), "an easy task": Rational(5, 4)}
"""Hard and easy for every capacity from 4/3 on; what p = 0 ends with is easy for all."""
_APART: Final = 0.1
"""Of 1/beta and 1/(p + 1), at least: nearer than that the two powers of the noise are one at all budgets in reach."""
_LONGEST: Final = 30.0
_BUDGETS: Final = np.linspace(12.0, _LONGEST, 7)
_TRIED: Final = 4000
"""Peaks tried for each budget."""


_QUICK: Final = ("8-1-1", "linear", "stable, then 1-sqrt", "cosine")
"""The shapes of the quick profile: each power, with a stable phase before and without."""


def tried(sample: Sample) -> dict[str, int]:
    """The shapes whose power is not near the resonance beta = p + 1, with their powers."""
    names = _QUICK if sample.effort == 0 else tuple(SHAPES)
    powers = {name: SHAPES[name][0] for name in names}
    return {name: power for name, power in powers.items() if abs(1 / sample.point[1] - 1 / (power + 1)) > _APART}


@lru_cache(maxsize=64)
def _noise(name: str, capacity: float) -> tuple[float, Any]:
    """The mean of a shape over its peak, and the log of its noise over the peak along that of peak times steps."""
    from scipy.interpolate import PchipInterpolator

    _, kind, parameters = SHAPES[name]
    model, decades = Model(1.0, capacity, math.inf, 1.0), np.linspace(0.0, _LONGEST, 21)
    runs = [schedule(kind, peak=1.0, steps=10.0**decade, **parameters) for decade in decades]
    noise = [noise_functional(model, run, rtol=1e-5).value for run in runs]
    mean = runs[-1].total_intrinsic_time / 10.0**_LONGEST
    return float(mean), PchipInterpolator(decades, np.log(noise))


def _least(name: str, difficulty: float, capacity: float) -> Array:
    """The log of the least excess risk over all peaks up to the bound, along the data."""
    mean, noise = _noise(name, capacity)
    model, bound = Model(difficulty, capacity, math.inf, 1.0), peak_rate(capacity)
    decades = np.linspace(0.0, _LONGEST + math.log10(bound), _TRIED)
    signal = np.asarray(model.signal(mean * 10.0**decades))
    made = np.exp(noise(decades))
    risks = []
    for budget in _BUDGETS:
        peaks = 10.0 ** (decades - budget)
        risks.append(np.min(0.5 * (signal + peaks * made)[peaks <= bound]))
    return np.log(risks)


def measured(sample: Sample) -> dict[str, list[Ray]]:
    """Each shape on a hard and an easy task."""
    capacity, logs = sample.point[1], math.log(10.0) * _BUDGETS
    return {
        f"{name}, {task}": [
            Ray(
                "D to infinity",
                logs,
                {"N": logs, "p": np.full(logs.size, logarithm(power))},
                _least(name, float(difficulty), capacity),
            )
        ]
        for name, power in tried(sample).items()
        for task, difficulty in DIFFICULTIES.items()
    }


def _order(sample: Sample, task: str, power: int) -> Equivalent:
    return order_statement(ORDER, replace(sample, s=DIFFICULTIES[task]), p=power)


def statement(sample: Sample) -> Joint:
    """The order of the claim, with the power of each shape."""
    return Joint({
        f"{name}, {task}": _order(sample, task, power)
        for name, power in tried(sample).items()
        for task in DIFFICULTIES
    })  # fmt: skip


def mutants(sample: Sample) -> dict[str, Statement]:
    """The capacity of a shape one higher, where that changes the exponent."""
    wrong: dict[str, Statement] = {}
    for name, power in tried(sample).items():
        for task in DIFFICULTIES:
            claimed, higher = (_order(sample, task, capacity) for capacity in (power, power + 1))
            if any(abs(higher.exponents[key] - claimed.exponents[key]) > 2.0 * POWER_DRIFT for key in higher.exponents):
                wrong[f"{name}, {task}: a capacity one higher"] = Joint({f"{name}, {task}": higher})
    return wrong


POWERS = (0, 1, 2)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "vanishing-end/named-shapes", "sec: effect-lrs", 1005, "Where named shapes stop gaining from capacity",
        ORDER,
        (MODEL, Where("E is the least risk over peaks up to a bound; N is D, the data"), "p = 0, 1 and 2",
         "constraint: (1/beta - 1/(p + 1))^2 >= 1/100", INFINITE, LABELS),
        of_unit_noise(measured), statement, mutants, values={p: POWERS},
        depends=("vanishing-end/saturation",), role="own",
        own=lambda s, beta: [(task, beta) for task in DIFFICULTIES.values()],
        remark="The noise of a shape is made at its end, where the spectrum does not count.",
    ),
)  # fmt: skip
