"""The laws of random features as logarithms: the paper's and ours, in the variables of the measurements.

Variables are the logarithms of the terms of :mod:`fsl_num.paper.random_features.terms` for one draw and time, and
the integrals of :mod:`fsl_num.paper.random_features.risks`. The exponents are what a check must resolve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from sympy import Integer

from fsl_num.claims.claim import Sample
from fsl_num.claims.statements import Statement
from fsl_num.paper.random_features.statements import FINITE_SIZE, Law, OverDraws

Logs = Mapping[str, Any]
Exponents = Mapping[str, float]
SOURCE = "s"
SATURATED = "min(s, 1)"
SHARE = "1 - 1/beta (of t in the leak)"


def total(*parts: Any) -> Any:
    """The logarithm of a sum of terms given by their logarithms."""
    return reduce(np.logaddexp, parts)


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
    exponents = {SATURATED: min(1.0, sample.point[0])}
    return exponents | ({SHARE: 1.0 - 1.0 / sample.point[1]} if share and sample.regime == "easy" else {})


def printed(beta: float, *integrals: str) -> Law:
    """M^(-s beta) + e(t), and the integrals named."""

    def law(exponents: Exponents, logs: Logs) -> Any:
        return total(-exponents[SOURCE] * beta * logs["M"], logs["signal"], *(logs[name] for name in integrals))

    return law


def to_one(s: Any, beta: Any) -> tuple[Any, Any]:
    """Where a claim about s <= 1 is tested: at s = 1, the end of its range, in place of an easy task."""
    return (Integer(1) if s > 1 - 1 / beta else s), beta


def finite_size(sample: Sample) -> float:
    """The slope that counts as none: the kernel's integral reaches its limit like t^-(1-1/beta), as M^-(beta-1)."""
    return float(FINITE_SIZE + 0.15 * 32.0 ** (1.0 - sample.point[1]))


def printed_law(integral: str, sample: Sample) -> OverDraws:
    """That the risk is of the order of the printed law with an integral, "functional" or "volterra"."""
    law = printed(sample.point[1], integral)
    return OverDraws(law, {SOURCE: sample.point[0]}, finite_size=finite_size(sample))


def corrected_law(integral: str, sample: Sample) -> OverDraws:
    """The same of the corrected law."""
    law = corrected(sample, integral)
    return OverDraws(law, corrected_exponents(sample), finite_size=finite_size(sample))


def corrected_law_mutants(integral: str, sample: Sample) -> dict[str, Statement]:
    """The corrected law without its integral, or that of the first M features where the two differ."""
    statement = corrected_law(integral, sample)
    if sample.point[0] <= 1.0:
        return {"no noise returns": replace(statement, law=corrected(sample))}
    first = corrected(sample, integral, floor="top", with_leak=False)
    return {"the law of the first M features": replace(statement, law=first)}
