"""The scaling law of each schedule, up to constants, and the same law in the hyperparameters that a budget ties.

The law of a schedule is M^-(s beta) + T^-s + (sigma^2/B) N with the noise integral N replaced by its growth order, as
:mod:`fsl_sym.functional` finds it from the closed forms I1, I2 and the stable phase. In hyperparameters, gamma = a/B is
the effective peak learning rate, D = B K the data, b = a/K the final learning rate. Then a - b is of the order of a,
and log(a/b) = log K of the order of the logarithm of the budget: the allocation shows that it is, every optimal K
grows like a positive power of the budget.

>>> scaling_law("exp-decay").expression
Min(T**(-1 + 1/beta)*sigma**2*(a - b)/B, M*sigma**2*(a - b)/(B*T)) + T**(-s) + M**(-beta*s) + b*sigma**2/B
>>> scaling_law("wsd").label
'thm: wsd'
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from sympy import Add, Eq, Expr, Integer, Min, Mul, Symbol, log

from fsl_sym.algebra.printing import latex
from fsl_sym.functional import FunctionalScalingLaw, functional_scaling_law
from fsl_sym.integrals import GrowthOrder
from fsl_sym.schedules import SCHEDULES as ALL_SCHEDULES
from fsl_sym.schedules import unknown
from fsl_sym.symbols import K1, K2, T1, T2, B, C, D, K, M, T, a, b, gamma, r, sigma
from fsl_sym.values import as_expression

SCHEDULES: Final = ("constant", "exp-decay", "wsd")
BUDGETS: Final = MappingProxyType({"data": D, "compute": C})

STABLE_FRACTION: Final = Symbol("q", positive=True)
"""The fraction 1 - r of the steps spent in the stable phase."""

_LABELS: Final = MappingProxyType({"constant": "thm:chinchilla", "exp-decay": "thm:geometric", "wsd": "thm: wsd"})


@dataclass(frozen=True)
class ScalingLaw:
    """The law of one schedule.

    ``functional`` is the functional scaling law with the exact noise integral, ``expression`` the theorem's right-hand
    side: the sum of its growth orders in model size, intrinsic times, learning rates and batch size. ``label`` is the
    theorem's label in the paper.

    >>> scaling_law("exp-decay").variables
    (gamma, M, D, K, B)
    """

    schedule: str
    functional: FunctionalScalingLaw

    def __hash__(self) -> int:
        return hash(self.schedule)

    def __reduce__(self) -> Any:
        return scaling_law, (self.schedule,)

    @property
    def label(self) -> str:
        """The theorem's label in the paper."""
        return _LABELS[self.schedule]

    @cached_property
    def expression(self) -> Expr:
        """The sum of the growth orders."""
        return Add(*(order.expression for order in self.functional.orders))

    def in_hyperparameters(self, budget: Symbol) -> Expr:
        """The law with b = a/K and gamma = a/B, up to constants, as a function of (gamma, M, D, K, r).

        >>> scaling_law("constant").in_hyperparameters(D)
        gamma + (D*gamma)**(-s) + M**(-beta*s)
        """
        known = self._bases(as_expression(budget))

        def monomial(order: GrowthOrder, place: int) -> Expr:
            return Mul(*(known[base] ** exponent for base, exponent in order.alternatives[place].items()))

        return Add(
            *(
                Min(*(monomial(order, place) for place in range(len(order.alternatives))))
                for order in self.functional.orders
            )
        )

    def _bases(self, budget: Symbol) -> dict[Expr, Expr]:
        """What each base of a growth order is in hyperparameters, up to constants."""
        peak = gamma * D / K
        known: dict[Expr, Expr] = {a: peak, b: peak / K, a - b: peak, B: D / K, sigma: Integer(1), M: M}
        times = self.intrinsic_times(budget)
        return {**known, **times, T1 + T2: times.get(T1, Integer(0)) + times.get(T2, Integer(0))}

    def intrinsic_times(self, budget: Symbol) -> dict[Expr, Expr]:
        """The intrinsic times of the phases in hyperparameters, up to constants; log K is written as log(budget).

        >>> scaling_law("exp-decay").intrinsic_times(D)
        {T: D*gamma/log(D)}
        """
        budget, lengths = as_expression(budget), {K1: STABLE_FRACTION * K, K2: r * K}
        return {
            name: total.subs(log(a / b), log(budget)).subs(a - b, a).subs({a: gamma * D / K, **lengths})
            for name, total in self.functional.intrinsic_times.items()
        }

    @property
    def variables(self) -> tuple[Symbol, ...]:
        """The hyperparameters that the law leaves to choose, the steps K and the batch size B of the run among them."""
        return {
            "constant": (gamma, M, D, K, B),
            "exp-decay": (gamma, M, D, K, B),
            "wsd": (gamma, M, D, r, STABLE_FRACTION, K, B),
        }[self.schedule]

    def constraints(self, budget: Symbol) -> tuple[Any, ...]:
        """What ties the hyperparameters: budget, learning rates at most 1 (stability), batch size and T at least 1."""
        budget = as_expression(budget)
        tie = Eq(M * D, budget) if budget == C else Eq(D, budget)
        shared = (tie, gamma <= 1, M >= 1)
        times = self.intrinsic_times(budget)
        if self.schedule == "constant":
            return (*shared, times[T] >= 1, Eq(B * K, D), B >= 1, K >= 1, gamma * B <= 1)
        # The batch size is D/K >= 1, and the peak learning rate a = gamma D/K is at most 1.
        common: tuple[Any, ...] = (*shared, K <= D, gamma * D <= K, times[T2 if T2 in times else T] >= 1)
        if self.schedule == "wsd":
            common = (*common, r <= 1, STABLE_FRACTION <= 1, Eq(r + STABLE_FRACTION, 1))
        return (*common, Eq(B * K, D))

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle \mathcal{{E}}_K \asymp {latex(self.expression)}$"


def scaling_law(schedule: str) -> ScalingLaw:
    """The scaling law of "constant", "exp-decay" or "wsd".

    Source: the theorems labelled thm:chinchilla, thm:geometric and thm: wsd. Raises ValueError for another name.

    >>> scaling_law("constant").expression
    T**(-s) + M**(-beta*s) + a*sigma**2/B
    """
    if schedule not in SCHEDULES:
        why = f"no law is derived for {schedule!r}" if schedule in ALL_SCHEDULES else unknown(schedule)
        raise ValueError(f"{why}: the scaling law is derived for {', '.join(SCHEDULES)}")
    return ScalingLaw(schedule, functional_scaling_law(schedule))
