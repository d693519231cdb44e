"""The last rate b of exponential decay as a hyperparameter of its own, where the paper sets b = a/K.

The words before the data-optimal allocation minimise over b; the theorem in the appendix fixes b = a/K. Both are right:
every b up to the order of the least risk over the effective peak rate is optimal, as long as log(a/b) is of the order
of log N, and a/K is among them. The same is derived for WSD: ``optimal_allocation("wsd", budget, free_final=True)``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.formula_laws import growth
from fsl_num.claims.statements import Joint, Statement
from fsl_num.paper.allocation import forms
from fsl_num.paper.allocation.numeric_laws import measure_allocation
from fsl_sym.allocation import Allocation, optimal_allocation
from fsl_sym.order import Order
from fsl_sym.symbols import beta, s

UPPER = "final_over_peak upper"
_QUANTITIES = ("excess_risk", "final_over_peak")


def free(budget: str) -> Allocation:
    """The allocation with the last rate free."""
    return optimal_allocation("exp-decay", budget, free_final=True)


def measured(budget: str, sample: Sample) -> dict[str, Any]:
    """The least risk, and the largest ratio b/a that is optimal, by brute force over b, too."""
    allocation = measure_allocation(
        "exp-decay", budget, *sample.point, settled=sample.effort == 0, free_final=True, only=("final_over_peak",)
    )
    return {name: allocation[name] for name in ("excess_risk", UPPER)}


def orders(budget: str, sample: Sample) -> tuple[Order, Order]:
    """The order of the least risk with b = a/K, and that up to which b/a is optimal."""
    values = {s: sample.s, beta: sample.beta}
    fixed, chosen = (
        optimal_allocation("exp-decay", budget, free_final=is_free).regime(sample.regime).quantities
        for is_free in (False, True)
    )
    upper = chosen["final_over_peak"].upper
    assert upper is not None
    return fixed["excess_risk"].order.subs(values), upper.subs(values)


def statement(budget: str, sample: Sample) -> Statement:
    """Both orders."""
    risk, ratio = orders(budget, sample)
    return Joint({"excess_risk": growth(float(risk.power), float(risk.log_power)), UPPER: _end(ratio)})


def mutants(budget: str, sample: Sample) -> dict[str, Statement]:
    """b as small as a/K, the choice of the paper, and b as large as the least risk."""
    risk, ratio = orders(budget, sample)
    wrong = {"b at most a/N": Order(-1), "b at most the least risk": risk}
    return {name: Joint({UPPER: _end(order)}) for name, order in wrong.items() if not order.equals(ratio)}


def _end(order: Order) -> forms.End:
    return forms.End(growth(float(order.power), float(order.log_power)))


def choices(budget: str) -> list[forms.Chosen]:
    """In each regime the least risk, and how large b/a may be: how small it may be, log(a/b) of order log N says."""
    return [replace(choice, ends=("up to",)) for choice in forms.derived_choices(free(budget), _QUANTITIES)]


def _claim(name: str, line: int, budget: str) -> Claim:
    return Claim(
        name, "thm:geometric", line, f"Exponential decay, {budget}-optimal with the last rate free",
        lambda: forms.formula_of(choices(budget)),
        forms.FREE_END,
        partial(measured, budget), partial(statement, budget), partial(mutants, budget),
        derive=lambda: forms.derivations_of(choices(budget)), role="own",
        beyond=lambda sample: {forms.UNCAPPED: forms.uncapped("exp-decay", budget, sample)},
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _claim("thm:geometric/final-rate-data", 957, "data"),
    _claim("thm:geometric/final-rate-compute", 973, "compute"),
)  # fmt: skip
