r"""What more capacity does to one task: the optimal orders with alpha = s beta held fixed, as functions of beta.

The easy regime is beta < 1 + alpha, the edge beta = 1 + alpha, the hard one beta > 1 + alpha. A higher capacity is a
smaller beta.

>>> fixed_task_order("exp-decay", "data", "easy").power, fixed_task_order("exp-decay", "data", "hard").power
(-alpha/(alpha + 1), -alpha/beta)
"""

from __future__ import annotations

from typing import Final

from sympy import Expr, Integer, Symbol, factor

from fsl_sym.algebra.equality import sign, simplified
from fsl_sym.allocation import optimal_allocation
from fsl_sym.laws import BUDGETS, SCHEDULES
from fsl_sym.order import Order
from fsl_sym.proof import Derivation, Smaller, Step, chains
from fsl_sym.symbols import beta, s

ALPHA: Final = Symbol("alpha", positive=True)
MORE: Final = Symbol("x", positive=True)
_BEYOND: Final = Symbol("y", positive=True)


def fixed_task_order(
    schedule: str, budget: str, regime: str, quantity: str = "excess_risk", end: str = "lower"
) -> Order:
    """The order of an optimal quantity with s = alpha/beta; ``end`` "lower" or "upper" where the optimum is a range.

    Raises ValueError for unknown names, KeyError for a quantity that the schedule does not have.
    """
    order = getattr(optimal_allocation(schedule, budget).regime(regime).quantities[quantity], end)
    fixed = {s: ALPHA / beta}
    return Order(factor(simplified(order.power.subs(fixed))), factor(simplified(order.log_power.subs(fixed))))


def _at(expression: Expr, regime: str, more: Expr) -> Expr:
    """At beta + more, with beta beyond 1 + alpha in the hard regime, and 1 + alpha beyond beta + more in the easy."""
    moved = expression.subs(beta, beta + more)
    if regime == "hard":
        return moved.subs(beta, 1 + ALPHA + _BEYOND)
    return moved.subs(ALPHA, beta - 1 + MORE + _BEYOND)


def capacity_derivation() -> tuple[Derivation, ...]:
    """A smaller beta never gives a larger order of risk; where it gives a smaller one, and where the same.

    Powers first, then powers of the logarithm where the powers are equal.

    >>> all(each.verify().holds for each in capacity_derivation())
    True
    """
    steps: list[Step] = []

    def compared(name: str, regime: str, what: Expr) -> None:
        first, second = (_at(what, regime, more) for more in (Integer(0), MORE))
        strict = sign(second - first) != 0
        why = f"{name}, {regime}: beta against beta + x" if strict else f"{name}, {regime}: beta does not enter"
        steps.append(Step(first, second, Smaller(strict), why))

    for schedule in SCHEDULES:
        for budget in BUDGETS:
            for regime in ("easy", "hard"):
                order = fixed_task_order(schedule, budget, regime)
                compared(f"{schedule}, {budget}", regime, order.power)
                if not order.power.has(beta):
                    compared(f"{schedule}, {budget}, log power", regime, order.log_power)
            easy, hard = (fixed_task_order(schedule, budget, regime).power for regime in ("easy", "hard"))
            across = _at(hard, "hard", Integer(0))
            steps.append(
                Step(
                    easy.subs(beta, 1 + ALPHA),
                    across,
                    Smaller(strict=True),
                    f"{schedule}, {budget}: from hard to the edge",
                )
            )
    return chains("capacity", "The optimal risk of one task against capacity", tuple(steps), "sec: effect-lrs")


def peak_rate_derivation() -> tuple[Derivation, ...]:
    """Exponential decay, easy, compute: the power of the smallest optimal gamma is smaller for a smaller beta.

    >>> print(peak_rate_derivation()[0].prove().conclusion)
    -(alpha - beta + 1)/(alpha + 2) < (-alpha + beta + x - 1)/(alpha + 2)
    """
    power = fixed_task_order("exp-decay", "compute", "easy", "peak_lr").power
    step = Step(power, factor(power.subs(beta, beta + MORE)), Smaller(strict=True), "beta against beta + x")
    return (Derivation("peak rate", "The optimal peak rate of one task", (step,), "sec: effect-lrs"),)
