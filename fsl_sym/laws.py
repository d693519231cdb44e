"""The scaling law of each schedule, up to constants, and the same law in the hyperparameters that a budget ties.

The law of a schedule is M^-(s beta) + T^-s + (sigma^2 / B) N, with the noise functional N replaced by its order: the
integrals give I1 of order 1, I2 of order min(M, T^(1/beta)) / T, and a stable phase that a decay phase of intrinsic
length T_2 has made to fade to at most the order of (a I2)(T_2). In hyperparameters, gamma = a/B is the effective peak
learning rate, D = B K the data, b = a/K the final learning rate, and log K is of the order of the logarithm of the
budget (the allocation checks that: every optimal K grows like a positive power of the budget).

>>> scaling_law("exp-decay").expression
sigma**2*(b/B + (a - b)*Min(M, T**(1/beta))/(B*T)) + T**(-s) + M**(-beta*s)
>>> scaling_law("wsd").label
'thm: wsd'
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from sympy import Add, Eq, Expr, Max, Min, Symbol, latex, log

from fsl_sym.symbols import T1, T2, B, C, D, K, M, T, a, b, beta, gamma, r, s, sigma

SCHEDULES: Final = ("constant", "exp-decay", "wsd")
BUDGETS: Final = MappingProxyType({"data": D, "compute": C})

STABLE_FRACTION: Final = Symbol("q", positive=True)
"""The fraction 1 - r of the steps spent in the stable phase."""


def noise_order_of_decay(time: Expr) -> Expr:
    """The order of I2 at intrinsic decay time ``time``: min(M, time^(1/beta)) / time.

    >>> noise_order_of_decay(T)
    Min(M, T**(1/beta))/T
    """
    return Min(M, time ** (1 / beta)) / time


@dataclass(frozen=True)
class ScalingLaw:
    """The law of one schedule.

    ``expression`` is the theorem's right-hand side in model size, intrinsic times, peak and final learning rate and
    batch size; ``terms`` names its parts. ``label`` is the theorem's label in the paper.
    """

    schedule: str
    label: str
    expression: Expr
    assumptions: tuple[Any, ...]

    def in_hyperparameters(self, budget: Symbol) -> Expr:
        """The law with b = a/K and gamma = a/B, up to constants, as a function of (gamma, M, D, K, r)."""
        time, decay = self.intrinsic_times(budget)
        head = M ** (-s * beta) + time ** (-s)
        if self.schedule == "constant":
            return head + gamma
        return head + gamma / K + gamma * noise_order_of_decay(decay)

    def intrinsic_times(self, budget: Symbol) -> tuple[Expr, Expr]:
        """Total and decay-phase intrinsic time in hyperparameters, up to constants; log K is written as log(budget)."""
        if self.schedule == "constant":
            return gamma * D, gamma * D
        if self.schedule == "exp-decay":
            return gamma * D / log(budget), gamma * D / log(budget)
        decay = gamma * r * D / log(budget)
        return gamma * STABLE_FRACTION * D + decay, decay

    def variables(self) -> tuple[Symbol, ...]:
        """The hyperparameters that the law leaves to choose."""
        return {
            "constant": (gamma, M, D),
            "exp-decay": (gamma, M, D, K),
            "wsd": (gamma, M, D, r, STABLE_FRACTION, K),
        }[self.schedule]

    def constraints(self, budget: Symbol) -> tuple[Any, ...]:
        """What ties the hyperparameters: budget, learning rates at most 1 (stability), batch size and T at least 1."""
        tie = Eq(D, budget) if budget != C else Eq(M * D, budget)
        shared = (tie, gamma <= 1, M >= 1)
        if self.schedule == "constant":
            return (*shared, gamma * D >= 1)
        _, decay = self.intrinsic_times(budget)
        # The batch size is D/K >= 1, and the peak learning rate a = gamma D/K is at most 1.
        common = (*shared, K <= D, gamma * D <= K, decay >= 1)
        if self.schedule == "exp-decay":
            return common
        return (*common, r <= 1, STABLE_FRACTION <= 1, Eq(r + STABLE_FRACTION, 1))

    def _repr_latex_(self) -> str:
        return rf"$\mathcal{{E}}_K \asymp {latex(self.expression)}$"


def scaling_law(schedule: str) -> ScalingLaw:
    """The scaling law of "constant", "exp-decay" or "wsd".

    Source: the theorems labelled thm:chinchilla, thm:geometric and thm: wsd. Raises ValueError for another name.
    """
    if schedule not in SCHEDULES:
        raise ValueError(f"unknown schedule {schedule!r}: the scaling law is derived for {', '.join(SCHEDULES)}")
    model = M ** (-s * beta)
    if schedule == "constant":
        return ScalingLaw(schedule, "thm:chinchilla", Add(model, T ** (-s), a / B * sigma**2), (T >= 1,))
    if schedule == "exp-decay":
        noise = b / B + (a - b) * noise_order_of_decay(T) / B
        return ScalingLaw(schedule, "thm:geometric", model + T ** (-s) + sigma**2 * noise, (T >= 1, Max(a, b) <= 1))
    noise = b / B + (a - b) * noise_order_of_decay(T2) / B
    expression = model + (T1 + T2) ** (-s) + sigma**2 * noise
    return ScalingLaw(schedule, "thm: wsd", expression, (T1 >= 1, T2 >= 1, Max(a, b) <= 1))
