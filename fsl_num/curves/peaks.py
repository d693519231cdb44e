"""The peak rates of the runs fitted: how they enter the law, and the law of one peak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import numpy as np

from fsl_num.curves.laws.base import Law
from fsl_num.curves.laws.functional import FunctionalLaw
from fsl_num.curves.laws.shared import rescaled, shortened
from fsl_num.curves.laws.weights import WeightsLaw
from fsl_num.curves.plan import Plan
from fsl_num.validation import Array


def with_peaks(law: Law, plans: Sequence[Plan]) -> Law:
    """Return the law of adaptive updates with steps that shorten with the peak; the largest one is its reference.

    Where all peaks are equal the losses do not say by how much; what is expected does, so that another peak is
    predicted in an interval that knows it. The law of plain stochastic gradient descent is returned as it is, as any
    other that knows no peaks.

    >>> with_peaks(FunctionalLaw(), [Plan([0.1]), Plan([0.4])])
    FunctionalLaw(free_amplitude=True, signal_noise=False, sizes=False, reference_rate=0.001, batches=False,
    reference_batch=1.0, adaptive=True, peaks=True, reference_peak=0.4)
    """
    largest = max(plan.peak for plan in plans)
    if isinstance(law, WeightsLaw):
        return replace(law, peaks=True, reference_rate=largest)
    if isinstance(law, FunctionalLaw) and law.adaptive:
        return replace(law, peaks=True, reference_peak=largest)
    return law


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
