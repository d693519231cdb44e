"""The functional scaling law in numbers, its exponents and which of its terms are there: what the claims assert."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Expr, Pow, Rational

from fsl_num.claims.claim import Sample
from fsl_num.claims.hypotheses import NOTHING
from fsl_num.claims.printed_terms import measured_terms
from fsl_num.claims.statements import Direction, Equivalent, Statement
from fsl_num.claims.words import Where
from fsl_num.model import Model
from fsl_num.paper.block_constants import UP_TO_CONSTANTS
from fsl_num.paper.functional.formulas import LAW, MEASURED, POWERS, functional, risk_is
from fsl_num.paper.functional.runs import STABILITY, Run, records
from fsl_num.paper.hypotheses import MODEL
from fsl_num.validation import Array
from fsl_sym.proof import Formula, at_most
from fsl_sym.symbols import E, M, gamma, t
from fsl_sym.symbols import beta as capacity
from fsl_sym.symbols import s as difficulty

FAMILY = "functional law of the first M features"
SHOWN = 30.0
"""The model size at which the letters of the law are tried."""


def _approximation(sample: Sample) -> dict[str, Any]:
    """What stands on the rays in the place of M^-(s beta), and what the first M features leave."""
    logs = records(*sample.point, SHOWN, SHOWN, [Run("constant", 0.0)])[0]
    model = Model(*sample.point, SHOWN, 0.0)
    shown = np.exp(logs[MEASURED[M ** (-difficulty * capacity)]])
    return {"M^-(s beta)": shown, "delta_M of infinitely many features": model.approximation_error}


DELTA = Where("M^-(s beta) is delta_M of infinitely many features", _approximation)
EXACT = (
    MODEL,
    DELTA,
    # a sum of j^-beta up to M is at least its first term and this integral, and the trace of a spectrum up to constants
    # half of the sum
    at_most(
        gamma * (1 + (2 ** (1 - capacity) - (M + 1) ** (1 - capacity)) / (capacity - 1)), 4 * Rational(str(STABILITY))
    ),
)
GIVEN = (*EXACT, UP_TO_CONSTANTS)


WHOLE = risk_is(LAW)
"""Every noise, in the window and beyond it."""


def law(
    sample: Sample, order: Expr = LAW, *, lacking: str = ""
) -> Callable[[Mapping[str, float], Mapping[str, Array]], Array]:
    """The log of a law, or of what it is without one term; an exponent that is off tilts its term by a power."""
    terms = [term for term in measured_terms(order, MEASURED) if term != lacking]
    claimed = exponents(sample)

    def total(powers: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        log_sum = np.full_like(np.asarray(logs["M"], dtype=np.float64), NOTHING)
        for term in terms:
            kind = {"d": "M", "e": "signal"}.get(term[0], "kernel")
            tilt = (powers[kind] - claimed[kind]) * logs["M" if kind == "M" else "t"]
            log_sum = np.logaddexp(log_sum, logs[term] + tilt)
        return log_sum

    return total


def exponents(sample: Sample) -> dict[str, float]:
    """-s beta of M, -s of t in the signal, -(2 - 1/beta) of t in the kernel."""
    s, beta = sample.point
    return {"M": -s * beta, "signal": -s, "kernel": -(2.0 - 1.0 / beta)}


@lru_cache(maxsize=256)
def _printed(s: Any, beta: Any) -> tuple[float, float, float]:
    (size,) = (power.exp for power in functional(POWERS).atoms(Pow) if power.base == M)
    signal, kernel = (term.as_base_exp()[1] for term in POWERS.at(t))
    return tuple(float(exponent.subs({difficulty: s, capacity: beta})) for exponent in (size, signal, kernel))  # type: ignore[return-value]


def printed_exponents(sample: Sample) -> dict[str, float]:
    """Those of the formula of the law with powers: what :func:`exponents` are, unless the formula is wrong."""
    return dict(zip(("M", "signal", "kernel"), _printed(sample.s, sample.beta), strict=True))


def functional_law(sample: Sample, formula: Formula = WHOLE, *, kernel: bool = True) -> Equivalent:
    """What a formula says of the risk, in numbers; ``kernel``: the rays show the kernel's exponent.

    The terms of the order and their exponents are those of the formula: an exponent that is off tilts its term.
    """
    powers, whole = printed_exponents(sample), law(sample, _order(formula))
    if kernel:
        return Equivalent(whole, powers, direction=_direction(formula), formulas=(formula,))
    fixed = powers.pop("kernel")
    return Equivalent(
        lambda moved, logs: whole({**moved, "kernel": fixed}, logs), powers,
        direction=_direction(formula), formulas=(formula,),
    )  # fmt: skip


def _order(formula: Formula) -> Expr:
    return formula.right if formula.left == E else formula.left


def _direction(formula: Formula) -> Direction:
    """From which sides the risk is bounded."""
    return "both" if formula.relation == "~" else "upper" if formula.left == E else "lower"


def without(sample: Sample, term: str, formula: Formula = WHOLE) -> Equivalent:
    """The law with one of its terms left out: a mutant."""
    return Equivalent(law(sample, _order(formula), lacking=term), exponents(sample), direction=_direction(formula))


def power_of_size(power: float, direction: Direction = "both", *, fixed: bool = False) -> Equivalent:
    """M^power; ``fixed``: no exponent of it is put to the test."""

    def law(powers: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        return powers.get("M", power) * logs["M"]

    return Equivalent(law, {} if fixed else {"M": power}, direction=direction)


def dropped(*terms: str) -> Callable[[Sample], Mapping[str, Statement]]:
    """Mutants: the law without one of the terms, and with constants that depend on the largest rate."""
    return lambda sample: {
        **{f"without {term}": without(sample, term) for term in terms},
        **{f"times gamma_max to the power {power}": with_rate(sample, power) for power in (0.05, -0.05)},
    }


def with_rate(sample: Sample, power: float) -> Equivalent:
    """The law times a power of the largest learning rate over batch size: a mutant."""
    plain = law(sample)

    def times(powers: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
        return plain(powers, logs) + power * logs["gamma"]

    return Equivalent(times, exponents(sample))
