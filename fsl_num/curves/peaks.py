"""The law of one peak rate that equals one with steps that shorten with the peak."""

from __future__ import annotations

from dataclasses import replace
from typing import overload

import numpy as np

from fsl_num.curves.laws.base import Law
from fsl_num.curves.laws.functional import FunctionalLaw
from fsl_num.curves.laws.shared import rescaled, shortened
from fsl_num.validation import Array


@overload
def at_peak(law: FunctionalLaw, theta: Array, peak: float) -> tuple[FunctionalLaw, Array]: ...
@overload
def at_peak(law: Law, theta: Array, peak: float) -> tuple[Law, Array]: ...
def at_peak(law: Law, theta: Array, peak: float) -> tuple[Law, Array]:
    """Return a law without P_c that equals ``law`` for runs of one peak rate, and its parameters, (..., parameters).

    A law whose steps do not shorten with the peak is returned as it is.

    >>> law = FunctionalLaw(peaks=True, reference_peak=0.1)
    >>> single, scaled = at_peak(law, np.array([2, 0.5, 0.4, 0.5, 8, 0.5, 4, 1.0, 0.1]), 0.3)
    >>> single.names, scaled.round(12).tolist()
    (('L0', 'A', 'B', 's', 'c', 'gamma', 'c_e', 'p'), [2.0, 0.5, 0.1, 0.5, 2.0, 0.5, 1.0, 1.0])
    """
    if not isinstance(law, FunctionalLaw) or not law.peaks:
        return law, theta
    values = dict(zip(law.names, np.moveaxis(np.asarray(theta), -1, 0), strict=True))
    shorter = shortened(peak, values["P_c"], law.reference_peak)[0]
    return replace(law, peaks=False), rescaled(law, theta, -values.get("p", 1.0) * shorter, -shorter, "P_c")
