r"""What more capacity does to one task: the optimal orders with alpha = s beta held fixed, as functions of beta.

The easy regime is beta < 1 + alpha, the edge beta = 1 + alpha, the hard one beta > 1 + alpha. A higher capacity is a
smaller beta.

>>> fixed_task_order("exp-decay", "data", "easy").power, fixed_task_order("exp-decay", "data", "hard").power
(-alpha/(alpha + 1), -alpha/beta)
"""

from __future__ import annotations

from functools import cache
from typing import Final

from sympy import Symbol, factor

from fsl_sym.algebra.equality import simplified
from fsl_sym.allocation import optimal_allocation
from fsl_sym.domain import REGIMES
from fsl_sym.laws import scaling_law
from fsl_sym.near_optimal import at_values, in_all_regimes, least_value
from fsl_sym.order import Order
from fsl_sym.proof import Derivation, Smaller, Step
from fsl_sym.symbols import C, N, beta, s

ALPHA: Final = Symbol("alpha", positive=True)
MORE: Final = Symbol("x", positive=True)
ONE_TASK: Final = {s: ALPHA / beta}
"""The relative difficulty of a task of which alpha = s beta is given."""


def fixed_task_order(
    schedule: str, budget: str, regime: str, quantity: str = "excess_risk", end: str = "lower"
) -> Order:
    """The order of an optimal quantity with s = alpha/beta; ``end`` "lower" or "upper" where the optimum is a range.

    Raises ValueError for unknown names, KeyError for a quantity that the schedule does not have.
    """
    order = getattr(optimal_allocation(schedule, budget).regime(regime).quantities[quantity], end)
    return Order(*(simplified(exponent.subs(ONE_TASK)) for exponent in (order.power, order.log_power))).factored()


@cache  # several claims compare the same risks
def least_of_task(schedule: str, budget: str, regime: str = "") -> Derivation:
    """The least risk of one task: the theorem of the schedule's law at s = alpha/beta, in a regime or in all of them.

    >>> print(least_of_task("exp-decay", "compute", "easy").prove().conclusion.right)
    log(C)**(alpha/(alpha + 2))/C**(alpha/(alpha + 2))
    """
    law, base = optimal_allocation(schedule, budget), N if budget == "data" else C
    loss, program = scaling_law(schedule).under(base)
    least = {regime.name: least_value(loss, program, regime, law.regime(regime.name).excess_risk) for regime in REGIMES}
    order = fixed_task_order(schedule, budget, regime or "easy").as_expr(base)
    if regime:
        return at_values(least[regime], ONE_TASK, order)
    plane = in_all_regimes(tuple(least.values()), REGIMES, law.regime("easy").excess_risk.as_expr(base))
    return at_values(plane, ONE_TASK, order)


def peak_rate_derivation() -> tuple[Derivation, ...]:
    """Exponential decay, easy, compute: the power of the smallest optimal gamma is smaller for a smaller beta.

    >>> print(peak_rate_derivation()[0].prove().conclusion)
    -(alpha - beta + 1)/(alpha + 2) < (-alpha + beta + x - 1)/(alpha + 2)
    """
    power = fixed_task_order("exp-decay", "compute", "easy", "peak_lr").power
    step = Step(power, factor(power.subs(beta, beta + MORE)), Smaller(strict=True), "beta against beta + x")
    return (Derivation("peak rate", "The optimal peak rate of one task", (step,), "sec: effect-lrs"),)
