r"""What more capacity does to one task: the optimal orders with alpha = s beta held fixed, as functions of beta.

The easy regime is beta < 1 + alpha, the edge beta = 1 + alpha, the hard one beta > 1 + alpha. A higher capacity is a
smaller beta.

>>> fixed_task_order("exp-decay", "data", "easy").power, fixed_task_order("exp-decay", "data", "hard").power
(-alpha/(alpha + 1), -alpha/beta)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sympy import Expr, Symbol, factor, simplify

from fsl_sym.allocation import optimal_allocation
from fsl_sym.derivation import Derivation, Step
from fsl_sym.justifications import StepVerdict, refuse
from fsl_sym.laws import BUDGETS, SCHEDULES
from fsl_sym.order import Order
from fsl_sym.symbols import beta, s
from fsl_sym.verification import sign

ALPHA: Final = Symbol("alpha", positive=True)
MORE: Final = Symbol("x", positive=True)
_BEYOND: Final = Symbol("y", positive=True)


@dataclass(frozen=True, slots=True)
class Smaller:
    """``before`` is at most ``after`` for all values of the symbols, or below it where ``strict``.

    >>> Smaller(True).check(MORE / (1 + MORE), 1 + 0 * MORE).holds
    True
    """

    strict: bool = True
    rule: str = field(default="bound", init=False)

    def check(self, before: Expr, after: Expr) -> StepVerdict:
        """Decide the sign of the difference."""
        found = sign(after - before)
        if found == 1 or (found == 0 and not self.strict):
            return StepVerdict(True, "exact", f"the difference has the sign {found}")
        return refuse(f"the sign of the difference {simplify(after - before)} is {found}")


def fixed_task_order(
    schedule: str, budget: str, regime: str, quantity: str = "excess_risk", end: str = "lower"
) -> Order:
    """The order of an optimal quantity with s = alpha/beta; ``end`` "lower" or "upper" where the optimum is a range.

    Raises ValueError for unknown names, KeyError for a quantity that the schedule does not have.
    """
    found = getattr(optimal_allocation(schedule, budget).regime(regime).quantities[quantity], end)
    fixed = {s: ALPHA / beta}
    return Order(factor(simplify(found.power.subs(fixed))), factor(simplify(found.log_power.subs(fixed))))


def _at(expression: Expr, regime: str, more: Expr) -> Expr:
    """At beta + more, with beta beyond 1 + alpha in the hard regime, and 1 + alpha beyond beta + more in the easy."""
    moved = expression.subs(beta, beta + more)
    if regime == "hard":
        return moved.subs(beta, 1 + ALPHA + _BEYOND)
    return moved.subs(ALPHA, beta - 1 + MORE + _BEYOND)


def capacity_derivation() -> Derivation:
    """A smaller beta never gives a larger order of risk; where it gives a smaller one, and where the same.

    Powers first, then powers of the logarithm where the powers are equal.

    >>> capacity_derivation().verify().holds
    True
    """
    steps: list[Step] = []

    def compared(name: str, regime: str, what: Expr) -> None:
        first, second = (_at(what, regime, more) for more in (Symbol("zero") * 0, MORE))
        strict = sign(second - first) != 0
        why = f"{name}, {regime}: beta against beta + x" if strict else f"{name}, {regime}: beta does not enter"
        steps.append(Step(first, second, "bound", why, Smaller(strict), True))

    for schedule in SCHEDULES:
        for budget in BUDGETS:
            for regime in ("easy", "hard"):
                order = fixed_task_order(schedule, budget, regime)
                compared(f"{schedule}, {budget}", regime, order.power)
                if not order.power.has(beta):
                    compared(f"{schedule}, {budget}, log power", regime, order.log_power)
            easy, hard = (fixed_task_order(schedule, budget, regime).power for regime in ("easy", "hard"))
            across = _at(hard, "hard", Symbol("zero") * 0)
            steps.append(
                Step(easy.subs(beta, 1 + ALPHA), across, "bound", f"{schedule}, {budget}: from hard to the edge",
                     Smaller(), True)
            )  # fmt: skip
    return Derivation(
        "capacity", "The optimal risk of one task against capacity", tuple(steps),
        ("alpha = s beta fixed", "x > 0", "hard: beta = 1 + alpha + y", "easy: beta + x + y = 1 + alpha"),
        "sec: effect-lrs",
    )  # fmt: skip


def peak_rate_derivation() -> Derivation:
    """Exponential decay, easy, compute: the smallest optimal gamma falls with C and with a smaller beta.

    >>> peak_rate_derivation().verify().holds
    True
    """
    lower = fixed_task_order("exp-decay", "compute", "easy", "peak_lr")
    upper = fixed_task_order("exp-decay", "compute", "easy", "peak_lr", "upper")
    none = Symbol("zero") * 0
    steps = (
        Step(_at(lower.power, "easy", MORE), none, "bound", "it falls with C", Smaller()),
        Step(_at(lower.power, "easy", none), _at(lower.power, "easy", MORE), "bound", "beta against beta + x",
             Smaller(), True),
        Step(upper.power, none, "bound", "the largest optimal gamma is of order 1, whatever C and beta",
             Smaller(strict=False), True),
    )  # fmt: skip
    return Derivation("peak rate", "The optimal peak rate of one task", steps,
                      ("alpha = s beta fixed", "beta + x + y = 1 + alpha"), "sec: effect-lrs")  # fmt: skip
