"""The optimal allocations of a drop of the rate, a triangular wave and the inverse square root. Ours, not the paper's.

Each is derived from the law that :mod:`fsl_num.paper.scaling_laws.other_schedules` measures, and found again by brute
force: the least risk under both budgets, and the ends of the near-optimal set of what is the schedule's own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from fsl_num.claims.claim import Claim, Sample
from fsl_num.claims.hypotheses import Located
from fsl_num.claims.statements import Joint, Statement
from fsl_num.paper.allocation import forms
from fsl_num.paper.allocation.numeric_laws import measure_allocation, measure_risk
from fsl_sym.allocation import Allocation, AllocationRegime, optimal_allocation
from fsl_sym.laws import BUDGETS
from fsl_sym.order import OrderRange

OWN: Final[Mapping[str, tuple[str, ...]]] = {
    "multi-step": ("final_over_peak",), "cyclic": ("decay_fraction",), "inverse-sqrt": ("timescale_fraction",)
}  # fmt: skip
"""Schedule -> the hyperparameters of its own whose ends are measured."""
FULL: Final = "under a compute budget the ends by the full profile alone"
NAMES: Final = {"multi-step": "One drop of the rate", "cyclic": "A wave", "inverse-sqrt": "Inverse square root"}


def derived(schedule: str, regime: AllocationRegime) -> dict[str, OrderRange]:
    """The derived orders that are measured."""
    return {name: regime.quantities[name] for name in ("excess_risk", *OWN[schedule])}


def measured(schedule: str, sample: Sample) -> dict[str, Any]:
    """Brute-force optima: under a compute budget the ends of the schedule's own are left to the full profile."""
    power = 1.0 if schedule == "cyclic" else None
    optima = {}
    for budget in _ended(sample):
        optima[budget] = measure_allocation(
            schedule, budget, *sample.point, infinite_model=budget == "data", settled=sample.effort == 0, power=power,
            only=OWN[schedule],
        )  # fmt: skip
    for budget in BUDGETS.keys() - optima:
        optima[budget] = {"excess_risk": (measure_risk(schedule, budget, *sample.point, settled=True, power=power),)}
    return {**optima, "data": Located(optima["data"], {"M": math.inf})}


def uncapped(schedule: str, sample: Sample) -> dict[str, Any]:
    """The least risks under both budgets where a may be larger than 1."""
    power = 1.0 if schedule == "cyclic" else None
    return {forms.UNCAPPED: {budget: forms.uncapped(schedule, budget, sample, power) for budget in BUDGETS}}


def _ended(sample: Sample) -> tuple[str, ...]:
    """The budgets under which the ends are looked for."""
    return tuple(BUDGETS) if sample.effort else ("data",)


def statement(schedule: str, sample: Sample) -> Joint:
    """The derived orders under both budgets, those that are measured."""
    parts = {}
    for budget in BUDGETS:
        orders = derived(schedule, optimal_allocation(schedule, budget).at(sample.s, sample.beta))
        kept = orders if budget in _ended(sample) else {"excess_risk": orders["excess_risk"]}
        parts[budget] = forms.statement_of(kept, budget)
    return Joint(parts)


def mutants(schedule: str, sample: Sample) -> dict[str, Statement]:
    """The least risks of the two other schedules, and of exponential decay, where they differ."""
    wrong: dict[str, Statement] = {}
    for budget in BUDGETS:
        mine = optimal_allocation(schedule, budget).at(sample.s, sample.beta).excess_risk
        for rival in (*OWN, "exp-decay"):
            theirs = optimal_allocation(rival, budget).at(sample.s, sample.beta).quantities["excess_risk"]
            if not theirs.order.equals(mine):
                risk = forms.statement_of({"excess_risk": theirs}, budget)
                wrong[f"{budget}: that of {rival}"] = Joint({budget: risk})
    return wrong


def _allocations(schedule: str) -> list[Allocation]:
    return [optimal_allocation(schedule, budget) for budget in BUDGETS]


def choices(schedule: str) -> list[forms.Chosen]:
    """In each regime the least risk under each budget, and the orders of the schedule's own hyperparameters."""
    names = ("excess_risk", *OWN[schedule])
    return [choice for allocation in _allocations(schedule) for choice in forms.derived_choices(allocation, names)]


def _claim(claim_id: str, schedule: str, judged_by: str = "") -> Claim:
    return Claim(
        claim_id, "sec: effect-lrs", 1005, f"{NAMES[schedule]}: the optimal allocations, derived",
        lambda: forms.formula_of(choices(schedule)),
        (*forms.FREE_END, "M = oo"),
        partial(measured, schedule), partial(statement, schedule), partial(mutants, schedule),
        derive=lambda: forms.derivations_of(choices(schedule)), depends=(f"{schedule}/law",),
        judged_by=f"{judged_by}{FULL}", role="own", family="other-schedules/allocation",
        beyond=partial(uncapped, schedule),
    )  # fmt: skip


CLAIMS: tuple[Claim, ...] = (
    _claim("multi-step/allocation", "multi-step"),
    _claim("cyclic/allocation", "cyclic", "the decay alone where the end of its share is too near to a constant; "),
    _claim("inverse-sqrt/allocation", "inverse-sqrt"),
)
