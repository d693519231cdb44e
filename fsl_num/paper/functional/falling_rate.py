"""The functional of each pair and the risk under a rate that falls, where it matters at which time each is taken."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.functional import functional_scaling_law, integrate_graded
from fsl_num.model import Model
from fsl_num.paper.functional.formulas import GAMMA, INFINITE_PAIR, LAW, POWERS, functional
from fsl_num.schedules import ExponentialDecay
from fsl_num.validation import Array
from fsl_num.volterra import Problem, solve
from fsl_sym.symbols import E, M, sigma, t

PEAK, FINAL = 0.2, 0.05
PLAN: Final = ExponentialDecay(peak=PEAK, final=FINAL, steps=math.log(PEAK / FINAL) / (PEAK - FINAL))
"""Its whole intrinsic time is 1, in which it falls along a line."""
NOISE: Final = 0.7


def functionals(sample: Sample) -> list[dict[Any, Any]]:
    """At t = 1 for two sizes, by quadrature of the model's own sums, and of powers of 1 + t."""
    s, beta = sample.point
    end, instances = PLAN.total_intrinsic_time, []

    def of_powers(left: Array) -> Array:
        return np.asarray((1 + left) ** (1 / beta - 2) * (NOISE + (1 + end - left) ** -s) * PLAN.gamma_before_end(left))

    powers = (1 + end) ** -s + integrate_graded(of_powers, end).value
    for size in (2, 5):
        model, delta = Model(s=s, beta=beta, size=size, noise=NOISE), size ** (-s * beta)
        own, wide = (functional_scaling_law(known, PLAN) for known in (model, replace(model, size=math.inf)))
        risk = float(solve(Problem(model, gamma=PLAN), [end]).excess_risk[0])
        instances.append({
            M: size, t: end, sigma: math.sqrt(NOISE), GAMMA: lambda z: PEAK - (PEAK - FINAL) * z, E: risk,
            functional(POWERS): delta + powers,
            LAW: delta + 2.0 * (own.total - own.approximation),
            functional(INFINITE_PAIR) / E: (delta + 2.0 * wide.total) / risk,
        })  # fmt: skip
    return instances
