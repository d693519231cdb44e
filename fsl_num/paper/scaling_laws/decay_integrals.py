"""Exponential decay by quadrature: what its noise integral and the two parts of it share."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import Final

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Ray
from fsl_num.paper.block_constants import Constants
from fsl_num.paper.kernel.rays import Quantity, joined_ray, repeating_rays
from fsl_sym.integrals.exponential_decay import i1_asymptotics, i2_asymptotics

LONGEST = math.log(1e20)
QUADRATURE = 1e-10
"""Relative accuracy that the quadrature asks for and reports."""
I1, I2 = cache(i1_asymptotics), cache(i2_asymptotics)
"""The expansions, derived once, when first asked for."""


CROSSING: Final = {0.5: "t", 1.0: "M", 1.5: "M"}
"""Powers of M^beta that T takes, and the scale of each ray."""


def crossing_rays(sample: Sample, quantity: Callable[[float, float], float], end: float = LONGEST) -> list[Ray]:
    """T to infinity with M = T^(2/beta), and M to infinity with T = M^beta and M^(3 beta/2); constants at T = 1."""
    beta = sample.point[1]
    return [joined_ray(quantity, beta, power, 1.0, end, clock=clock, count=9) for power, clock in CROSSING.items()]


def repeating_crossing_rays(
    sample: Sample, quantity: Callable[[Constants], Quantity], end: float = LONGEST
) -> list[Ray]:
    """The same over spectra up to constants."""
    rays = [repeating_rays(quantity, sample, power, 1.0, end, clock=clock) for power, clock in CROSSING.items()]
    return list(chain.from_iterable(rays))
