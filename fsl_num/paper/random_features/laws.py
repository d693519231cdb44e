"""The laws of random features as logarithms: the paper's and ours, in the variables of the measurements.

The terms of a law are those of its formula; variables are the logarithms of the terms of
:mod:`fsl_num.paper.random_features.terms` for one draw and time, and the integrals of
:mod:`fsl_num.paper.random_features.risks`. The exponents are what a check must resolve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from sympy import Expr, Integer

from fsl_num.claims.claim import Sample
from fsl_num.claims.printed_terms import measured_terms
from fsl_num.claims.statements import Statement
from fsl_num.paper.random_features.formulas import MEASURED
from fsl_num.paper.random_features.statements import FINITE_SIZE, Law, OverDraws
from fsl_sym.proof import Formula

Logs = Mapping[str, Any]
Exponents = Mapping[str, float]
SOURCE = "s in M^(-s beta)"
FLOOR = "floor M^(-s beta)"
SIGNAL_POWER = "s in (1+t)^-s"
KERNEL_POWER = "2 - 1/beta"
SATURATED = "min(s, 1)"
SHARE = "1 - 1/beta (of t in the leak)"


def total(*parts: Any) -> Any:
    """The logarithm of a sum of terms given by their logarithms."""
    return reduce(np.logaddexp, parts)


def law_of(sample: Sample, order: Expr, **instead: str) -> Law:
    """A printed sum of terms; an exponent that is off tilts its term by a power of M, kappa or t.

    ``instead``: for wrong versions, what is taken for the measured term of a name ("" for nothing).
    """
    names = [name for term in measured_terms(order, MEASURED) for name in term.split(" and ")]
    taken = {name: instead.get(name, name) for name in names}

    def law(exponents: Exponents, logs: Logs) -> Any:
        return total(*(_term(sample, name, kept, exponents, logs) for name, kept in taken.items() if kept))

    return law


def _term(sample: Sample, name: str, taken: str, exponents: Exponents, logs: Logs) -> Any:
    s, beta = sample.point

    def off(exponent: str, known: float) -> float:
        return exponents.get(exponent, known) - known

    match name:
        case "M^(-s beta)":
            return exponents.get(FLOOR, -exponents.get(SOURCE, s) * beta) * logs["M"]
        case "(1 + t)^-s":
            return -exponents.get(SIGNAL_POWER, s) * logs["1 + t"]
        case "power":
            return logs[taken] - off(KERNEL_POWER, 2.0 - 1.0 / beta) * logs["1 + t"]
        case "floor":
            return logs[taken] + off(SATURATED, min(1.0, s)) * logs["kappa"]
        case "leak":
            return logs[taken] + off(SHARE, 1.0 - 1.0 / beta) * logs["kappa"]
    return logs[taken]


def corrected_exponents(sample: Sample, *, share: bool = False) -> dict[str, float]:
    """min(s, 1), and where asked for the power of t in the leak (in the easy regime: elsewhere it decides nothing)."""
    exponents = {SATURATED: min(1.0, sample.point[0])}
    return exponents | ({SHARE: 1.0 - 1.0 / sample.point[1]} if share and sample.regime == "easy" else {})


def to_one(s: Any, beta: Any) -> tuple[Any, Any]:
    """Where a claim about s <= 1 is tested: at s = 1, the end of its range, in place of an easy task."""
    return (Integer(1) if s > 1 - 1 / beta else s), beta


def finite_size(sample: Sample) -> float:
    """The slope that counts as none: the kernel's integral reaches its limit like t^-(1-1/beta), as M^-(beta-1)."""
    return float(FINITE_SIZE + 0.15 * 32.0 ** (1.0 - sample.point[1]))


def risk_law(formula: Formula, exponents: Callable[[Sample], Mapping[str, float]], sample: Sample) -> OverDraws:
    """What a formula says of the order of the risk, with the exponents that are put to the test."""
    law = law_of(sample, formula.right)
    return OverDraws(law, exponents(sample), finite_size=finite_size(sample), formulas=(formula,))


def source_exponent(sample: Sample) -> dict[str, float]:
    """s, of the printed laws."""
    return {SOURCE: sample.point[0]}


def hard_exponents(sample: Sample) -> dict[str, float]:
    """The three exponents of the hard regime."""
    s, beta = sample.point
    return {SOURCE: s, SIGNAL_POWER: s, KERNEL_POWER: 2.0 - 1.0 / beta}


def corrected_law_mutants(formula: Formula, sample: Sample) -> dict[str, Statement]:
    """The corrected law without its integral, or that of the first M features where the two differ."""
    statement = risk_law(formula, corrected_exponents, sample)
    if sample.point[0] <= 1.0:
        (noise,) = (
            name for name in measured_terms(formula.right, MEASURED) if name not in ("floor", "signal and leak")
        )
        return {"no noise returns": replace(statement, law=law_of(sample, formula.right, **{noise: ""}))}
    first = law_of(sample, formula.right, floor="top", leak="")
    return {"the law of the first M features": replace(statement, law=first)}
