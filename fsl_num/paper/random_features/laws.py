"""The laws of random features as logarithms: the paper's and ours, in the variables of the measurements.

Variables are the logarithms of the terms of :mod:`fsl_num.paper.random_features.terms` for one draw and time, and
the integrals of :mod:`fsl_num.paper.random_features.risks`. The exponents are what a check must resolve.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from fsl_num.claims.claim import Sample
from fsl_num.paper.random_features.statements import Law

Logs = Mapping[str, Any]
Exponents = Mapping[str, float]

SOURCE = "s"
SATURATED = "min(s, 1)"
SHARE = "1 - 1/beta (of t in the leak)"


def total(*parts: Any) -> Any:
    """The logarithm of a sum of terms given by their logarithms."""
    return reduce(np.logaddexp, parts)


def printed(beta: float, *integrals: str, signal: str = "signal") -> Law:
    """M^(-s beta) + e(t), and the integrals named."""

    def law(exponents: Exponents, logs: Logs) -> Any:
        return total(-exponents[SOURCE] * beta * logs["M"], logs[signal], *(logs[name] for name in integrals))

    return law


def corrected(
    sample: Sample, *integrals: str, signal: str = "signal", floor: str = "floor", with_leak: bool = True
) -> Law:
    """floor + e(t) + leak(t), and the integrals named; exponents are of kappa in the floor and the leak."""
    saturated = min(1.0, sample.point[0])

    def law(exponents: Exponents, logs: Logs) -> Any:
        parts = [logs[floor] + (exponents[SATURATED] - saturated) * logs["kappa"], logs[signal]]
        if with_leak:
            known = 1.0 - 1.0 / sample.point[1]
            parts.append(logs["leak"] + (exponents.get(SHARE, known) - known) * logs["kappa"])
        return total(*parts, *(logs[name] for name in integrals))

    return law


def corrected_exponents(sample: Sample, *, share: bool = False) -> dict[str, float]:
    """min(s, 1), and where asked for the power of t in the leak (in the easy regime: elsewhere it decides nothing)."""
    found = {SATURATED: min(1.0, sample.point[0])}
    return found | ({SHARE: 1.0 - 1.0 / sample.point[1]} if share and sample.regime == "easy" else {})


FLOOR_POWER = "s in M^(-s beta)"
SIGNAL_POWER = "s in (1+t)^-s"
KERNEL_POWER = "2 - 1/beta"


def hard(sample: Sample) -> Law:
    """M^(-s beta) + (1+t)^-s + the integral of (1+t-z)^-(2-1/beta) [(1+z)^-s + sigma^2] gamma."""
    _, beta = sample.point

    def law(exponents: Exponents, logs: Logs) -> Any:
        kernel = logs["power"] - (exponents[KERNEL_POWER] - (2.0 - 1.0 / beta)) * logs["t"]
        return total(-exponents[FLOOR_POWER] * beta * logs["M"], -exponents[SIGNAL_POWER] * logs["t"], kernel)

    return law


def hard_exponents(sample: Sample) -> dict[str, float]:
    """The three exponents of the hard regime."""
    s, beta = sample.point
    return {FLOOR_POWER: s, SIGNAL_POWER: s, KERNEL_POWER: 2.0 - 1.0 / beta}
