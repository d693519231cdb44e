"""Exponential decay by quadrature: what its noise integral and the two parts of it share."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from fsl_num.claims.claim import Sample
from fsl_num.claims.evaluation import Point
from fsl_num.claims.statements import Ray
from fsl_num.paper.kernel.rays import joined_ray
from fsl_sym.integrals.exponential_decay import i1_asymptotics, i2_asymptotics

LONGEST = math.log(1e20)
CAPACITY = "lambda_j = j^-beta, beta > 1"
QUADRATURE = 1e-10
"""Relative accuracy that the quadrature asks for and reports."""
I1, I2 = cache(i1_asymptotics), cache(i2_asymptotics)
"""The expansions, derived once, when first asked for."""


def crossing_rays(sample: Sample, quantity: Callable[[float, float], float], end: float = LONGEST) -> list[Ray]:
    """T to infinity with M = T^(2/beta), and M to infinity with T = M^beta and M^(3 beta/2); constants at T = 1."""
    beta = sample.point[1]
    return [
        joined_ray(quantity, beta, 0.5, 1.0, end, count=9),
        joined_ray(quantity, beta, 1.0, 1.0, end, clock="M", count=9),
        joined_ray(quantity, beta, 1.5, 1.0, end, clock="M", count=9),
    ]


def quadrature(point: Point) -> float:
    """The allowed relative error, the same at every point."""
    return QUADRATURE
