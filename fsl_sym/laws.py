"""The scaling law of each schedule, up to constants, and the same law in the hyperparameters that a budget ties.

The law of a schedule is M^-(s beta) + T^-s + (sigma^2/B) N with the noise integral N replaced by its growth order, as
:mod:`fsl_sym.functional` finds it. In hyperparameters, gamma = a/B is the effective peak learning rate, D = B K the
data, b = a/K the final learning rate. Then a - b is of the order of a, and log(a/b) = log K of the order of the
logarithm of the budget: the allocation shows that it is, every optimal K grows like a positive power of the budget.

Where the learning rate vanishes like a power the order depends on the side of a resonance on which the capacity
exponent lies: such a law has several :attr:`ScalingLaw.cases`, one a side.

>>> scaling_law("exp-decay").expression
Min(T**(-1 + 1/beta)*sigma**2*(a - b)/B, M*sigma**2*(a - b)/(B*T)) + T**(-s) + M**(-beta*s) + b*sigma**2/B
>>> scaling_law("wsd").label
'thm: wsd'
>>> for case in scaling_law("linear").cases:
...     print(case.side.condition, case.expression)
beta < 2 Min(T**(-1 + 1/beta)*a*sigma**2/B, M**(1 - beta/2)*a*sigma**2/(B*sqrt(T))) + T**(-s) + M**(-beta*s)
Eq(beta, 2) Min(a*sigma**2*log(M)/(B*sqrt(T)), a*sigma**2*log(T)/(B*sqrt(T))) + T**(-s) + M**(-beta*s)
beta > 2 T**(-s) + M**(-beta*s) + a*sigma**2/(B*sqrt(T))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from sympy import Add, Dummy, Eq, Expr, Integer, Min, Mul, Piecewise, Symbol, log, oo, sqrt

from fsl_sym.algebra.printing import latex
from fsl_sym.domain import REGIMES, Regime
from fsl_sym.functional import FunctionalScalingLaw, functional_scaling_law
from fsl_sym.integrals import GrowthOrder
from fsl_sym.power_regimes import PowerRegime, Side, Threshold, sides
from fsl_sym.schedules import Schedule
from fsl_sym.schedules.own import end_power
from fsl_sym.symbols import K0, K1, K2, RANGES, T1, T2, B, C, D, K, M, T, a, b, beta, gamma, r, sigma
from fsl_sym.symbols import s as difficulty
from fsl_sym.values import as_expression, flag, letter

SCHEDULES: Final = ("constant", "exp-decay", "wsd")
"""The schedules of the paper's theorems."""
WITH_LAST_RATE: Final = ("exp-decay", "wsd")
"""The schedules whose last rate is b = a/K in the theorems, and may be free."""
BUDGETS: Final = MappingProxyType({"data": D, "compute": C})

STABLE_FRACTION: Final = Symbol("q", positive=True)
"""The fraction 1 - r of the steps spent in the stable phase, or in the first of two."""
FINAL_OVER_PEAK: Final = Symbol("rho", positive=True)
"""The ratio b/a of the last rate to the first, where it is a choice of its own."""
TIMESCALE_FRACTION: Final = Symbol("kappa", positive=True)
"""The ratio K_0/K of the timescale of the inverse square root to the number of steps."""

ONE_DROP: Final = Threshold((beta - 1) / (2 * beta - 1), (beta - 1) / (2 * beta - 1))
"""One drop to a rate b of choice: b/a ~ T_2^(1/beta - 1) with T_2 = b K_2, and the noise T^-(beta - 1)/(2 beta - 1)."""
FREE_TIMESCALE: Final = Threshold(Integer(1), Integer(0))
"""With K_0 of choice the inverse square root is as good as a constant rate; s = 1 bounds its peak, not the risk."""

_LABELS: Final = MappingProxyType({"constant": "thm:chinchilla", "exp-decay": "thm:geometric", "wsd": "thm: wsd"})


@dataclass(frozen=True, repr=False)
class ScalingLaw:
    """The law of one schedule.

    ``functional`` is the functional scaling law with the exact noise integral, ``expression`` the right-hand side of
    the theorem: the sum of its growth orders in model size, intrinsic times, learning rates and batch size. ``label``
    is the theorem's label in the paper, "" for a schedule that the paper does not treat. ``side`` is the side of the
    resonance on which this law holds, None where it has none or where all of :attr:`cases` are meant. ``free_final``:
    the last rate b of exponential decay is a hyperparameter of its own, and not a/K.

    >>> scaling_law("exp-decay").variables, scaling_law("exp-decay").constraints(D)[1:3]
    ((gamma, M, D, K, B), (gamma <= 1, M >= 1))
    """

    functional: FunctionalScalingLaw
    side: Side | Threshold | None = None
    free_final: bool = False

    def __post_init__(self) -> None:
        if self.free_final and self.schedule not in WITH_LAST_RATE:
            raise ValueError(
                f"free_final is for {' and '.join(WITH_LAST_RATE)}, whose last rate is a/K without it: it means "
                f"nothing for {self.schedule!r}"
            )

    def __hash__(self) -> int:
        return hash((self.schedule, self.side, self.free_final))

    def __repr__(self) -> str:
        """The order, and where it holds; of a law of several forms each of them."""
        where = "" if self.side is None else f" where {self.side.condition}"
        forms = [f"{self.expression}{where}"] if len(self.cases) == 1 else [str(case)[1:-1] for case in self.cases]
        return f"<{'; '.join(forms)}>"

    @property
    def schedule(self) -> str:
        """The name of the schedule."""
        return self.functional.schedule.name

    @property
    def label(self) -> str:
        """The theorem's label in the paper, "" for a schedule that is not treated there."""
        return _LABELS.get(self.schedule, "")

    @property
    def cases(self) -> tuple[ScalingLaw, ...]:
        """The law on each side of the resonance beta = p + 1; itself where there is one form only.

        >>> [case.noise_exponent for case in scaling_law("cosine-to-zero").cases]
        [1 - 1/beta, 2/3, 2/3]
        """
        if self.side is not None or self.schedule in SCHEDULES:
            return (self,)
        own = {FINAL_OVER_PEAK: ONE_DROP, TIMESCALE_FRACTION: FREE_TIMESCALE}
        chosen = [own[variable] for variable in self.variables if variable in own]
        return tuple(
            replace(self, side=side) for side in chosen or sides(end_power(self.functional.schedule.phases[-1]))
        )

    @property
    def regimes(self) -> tuple[Regime | PowerRegime, ...]:
        """The regimes of tasks on the side of this law, or of the plane; ValueError for a law of several cases."""
        if len(self.cases) > 1:
            self._refuse()
        return REGIMES if self.side is None else self.side.regimes

    @property
    def noise_exponent(self) -> Expr:
        """What the noise falls like, T to minus this, M large and logarithms aside: min(q, 1 - 1/beta) for an end.

        Raises ValueError where it depends on the side, for the law as a whole.
        """
        if self.side is not None:
            return self.side.exponent
        if len(self.cases) > 1:
            self._refuse()
        side = self.cases[0].side
        return side.exponent if side is not None else Integer(0) if self.schedule == "constant" else 1 - 1 / beta

    def _refuse(self) -> None:
        raise ValueError(
            f"the law of {self.schedule!r} has {len(self.cases)} forms, by the side of its resonance on which beta "
            "lies: take one of its cases"
        )

    @property
    def orders(self) -> tuple[GrowthOrder, ...]:
        """The growth orders whose conditions hold on the side of this law."""
        orders = self.functional.orders
        return orders if self.side is None else tuple(order for order in orders if self.side.implies(order.condition))

    @cached_property
    def expression(self) -> Expr:
        """The sum of the growth orders; a choice by the side of the resonance where there are several cases."""
        if len(self.cases) > 1:
            return Piecewise(*((case.expression, case.side.condition) for case in self.cases if case.side is not None))
        return Add(*(order.expression for order in self.orders))

    def in_hyperparameters(self, budget: Symbol) -> Expr:
        """The law with b = a/K (or rho a, where that is free) and gamma = a/B, up to constants, in the variables.

        Raises ValueError for a law of several cases.

        >>> scaling_law("constant").in_hyperparameters(D)
        gamma + (D*gamma)**(-s) + M**(-beta*s)
        """
        if len(self.cases) > 1:
            self._refuse()
        known = self._bases(letter("budget", budget))

        def monomial(order: GrowthOrder, place: int) -> Expr:
            return Mul(*(known[base] ** exponent for base, exponent in order.alternatives[place].items()))

        return Add(*(Min(*(monomial(order, k) for k in range(len(order.alternatives)))) for order in self.orders))

    def _bases(self, budget: Symbol) -> dict[Expr, Expr]:
        """What each base of a growth order is in hyperparameters, up to constants.

        The logarithms of M and of T are of the order of that of the budget: at an optimum the risk falls like a power
        of the budget, so both grow like one.
        """
        peak = gamma * D / K
        last = FINAL_OVER_PEAK * peak if FINAL_OVER_PEAK in self.variables else peak / K
        known: dict[Expr, Expr] = {a: peak, b: last, a - b: peak, B: D / K, sigma: Integer(1), M: M, K: K}
        known[K0] = TIMESCALE_FRACTION * K
        known |= {log(scale): log(budget) for scale in (M, T, T2)}
        times = self.intrinsic_times(budget)
        return {**known, **times, T1 + T2: times.get(T1, Integer(0)) + times.get(T2, Integer(0))}

    def intrinsic_times(self, budget: Symbol) -> dict[Expr, Expr]:
        """The intrinsic times of the phases in hyperparameters, up to constants; log K is written as log(budget).

        >>> scaling_law("exp-decay").intrinsic_times(D)
        {T: D*gamma/log(D)}
        >>> scaling_law("inverse-sqrt").intrinsic_times(D)
        {T: D*gamma*sqrt(kappa)}
        """
        budget, lengths = letter("budget", budget), {K1: STABLE_FRACTION * K, K2: r * K}
        if self.schedule in SCHEDULES:
            return {
                name: total.subs(log(a / b), log(budget)).subs(a - b, a).subs({a: gamma * D / K, **lengths})
                for name, total in self.functional.intrinsic_times.items()
            }
        # a shape of tau/length has an intrinsic time of the order of its length times its largest rate
        if len(self.functional.schedule.phases) == 2:
            last = FINAL_OVER_PEAK if FINAL_OVER_PEAK in self.variables else Integer(1)
            return {T1: gamma * D * STABLE_FRACTION, T2: gamma * D * r * last}
        return {T: gamma * D * (sqrt(TIMESCALE_FRACTION) if TIMESCALE_FRACTION in self.variables else 1)}

    @property
    def variables(self) -> tuple[Symbol, ...]:
        """The hyperparameters that the law leaves to choose, the steps K and the batch size B of the run among them."""
        plan = self.functional.schedule
        shares = (r, STABLE_FRACTION) if len(plan.phases) == 2 else ()
        last = plan.phases[-1].phi
        own = (FINAL_OVER_PEAK,) if last == b or self.free_final else (TIMESCALE_FRACTION,) if last.has(K0) else ()
        return (gamma, M, D, *shares, *own, K, B)

    @property
    def ranges(self) -> Mapping[Symbol, tuple[Any, Any]]:
        """The open ranges of the parameters on the side of this law; those of the paper where it has none."""
        return RANGES if self.side is None else {difficulty: RANGES[difficulty], **self.side.ranges}

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
        if r in self.variables:
            common = (*common, r <= 1, STABLE_FRACTION <= 1, Eq(r + STABLE_FRACTION, 1))
        if FINAL_OVER_PEAK in self.variables:
            common = (*common, FINAL_OVER_PEAK <= 1)
        if TIMESCALE_FRACTION in self.variables:
            common = (*common, TIMESCALE_FRACTION <= 1, TIMESCALE_FRACTION * K >= 1)
        return (*common, Eq(B * K, D))

    def under(self, budget: Symbol, *, infinite_size: bool = False) -> tuple[Expr, tuple[Any, ...]]:
        """The law in hyperparameters, and its program: variables, budget and constraints; at M = oo without M.

        >>> from fsl_sym.symbols import N
        >>> law, (variables, *_) = scaling_law("exp-decay").under(N, infinite_size=True)
        >>> law, variables
        (gamma*(D*gamma/log(N))**(-1 + 1/beta) + (D*gamma/log(N))**(-s) + gamma/K, (gamma, D, K, B))
        """
        loss, variables, constraints = self.in_hyperparameters(budget), self.variables, self.constraints(budget)
        if infinite_size:
            grown = Dummy(positive=True)  # sympy does not know that the logarithm of a budget is positive
            loss = loss.xreplace({log(budget): grown}).subs(M, oo).xreplace({grown: log(budget)})
            variables = tuple(variable for variable in variables if variable != M)
            constraints = tuple(constraint for constraint in constraints if not constraint.has(M))
        return loss, (variables, budget, constraints)

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle \mathcal{{E}}_K \asymp {latex(self.expression)}$"


def scaling_law(schedule: str | Schedule, *, free_final: bool = False) -> ScalingLaw:
    """The scaling law of a schedule.

    Source: theorems labelled thm:chinchilla, thm:geometric and thm: wsd; of other schedules derived here.

    Parameters
    ----------
    schedule
        A name of the catalogue, or a schedule of one's own (:func:`fsl_sym.schedules.own.own_schedule`).
    free_final
        For "exp-decay" and "wsd": the last rate is a hyperparameter of its own, and not the peak rate over K.

    Returns
    -------
    ScalingLaw
        For "constant", "exp-decay" and "wsd" that of the theorems labelled thm:chinchilla, thm:geometric and thm: wsd;
        for others the law that follows from how the rate ends.

    Raises
    ------
    TypeError
        If it is neither a name nor a schedule.
    ValueError
        If there is no schedule of that name, or ``free_final`` is asked of another.

    Examples
    --------
    >>> scaling_law("constant").expression
    T**(-s) + M**(-beta*s) + a*sigma**2/B
    >>> from fsl_sym.schedules.own import own_schedule
    >>> from fsl_sym.symbols import tau
    >>> scaling_law(own_schedule(a * (1 - (tau / K) ** 2))).cases[2].expression
    T**(-s) + M**(-beta*s) + a*sigma**2/(B*sqrt(T))
    """
    return ScalingLaw(functional_scaling_law(schedule), free_final=flag("free_final", free_final))
