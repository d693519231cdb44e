"""The derivation of an optimal allocation: from the noise integral to the law, from the law to the optimum.

Each part is a theorem: the noise integral is of its order, with explicit constants; the law in hyperparameters is of
the order of the law in learning rates and intrinsic times; its least value under the budget is of the order of the
optimum, all over a regime, by a certificate whose multipliers are shown to be nonnegative there. Signs are decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sympy import Add, Expr, Integer, Symbol, log

from fsl_sym.domain import Regime
from fsl_sym.exponents.solve import Region
from fsl_sym.integrals.orders import i1_order, i2_order
from fsl_sym.integrals.stable_phase import stable_order
from fsl_sym.laws import FINAL_OVER_PEAK, STABLE_FRACTION, ScalingLaw
from fsl_sym.power_regimes import PowerRegime
from fsl_sym.proof import (
    Assumed,
    Defined,
    Derivation,
    Optimal,
    OrderBetween,
    OrderIn,
    Smaller,
    Step,
    Turned,
    lemma,
    same_order,
)
from fsl_sym.symbols import K1, K2, T1, T2, B, D, K, a, b, gamma, r, sigma
from fsl_sym.values import as_expression

_BEYOND = Symbol("w", positive=True)
_ABOVE = Symbol("w'", positive=True)
_DROP = Symbol("x", positive=True)
"""a/b where the last rate b is free; else it is K."""


@cache
def noise_order(law: ScalingLaw) -> Derivation:
    """The noise integral of the constant schedule or of exponential decay is of the order that its law states.

    >>> from fsl_sym.laws import scaling_law
    >>> noise_order(scaling_law("exp-decay")).verify().holds
    True
    """
    noise = law.functional.noise
    orders = {"constant": (i1_order(),), "exp-decay": (i1_order(), i2_order())}[law.schedule]
    stated = Add(*(order.expression for order in noise.order))
    step = Step(noise.exact, stated, OrderIn(orders), "each sum is of its order")
    title = f"The order of the noise of the {law.schedule} schedule"
    return Derivation(f"{law.schedule} noise order", title, (*noise.derivation.steps, step), law.label)


def noise_derivations(law: ScalingLaw) -> tuple[Derivation, ...]:
    """On what the noise in a law rests; with a stable phase its three parts, off the paper its exact value alone."""
    if law.label == "":
        return (law.functional.noise.derivation,)
    if law.schedule == "wsd":
        return (law.functional.noise.derivation, i1_order(), i2_order(), stable_order())
    return (noise_order(law),)


def _large(drop: Symbol) -> tuple[tuple[Symbol, Expr], ...]:
    return ((drop, 2 + _BEYOND),)


def _nearly_one(drop: Symbol) -> Derivation:
    """1 - b/a is of order 1 for a drop a/b of the rate above 2."""
    share, half = 1 - 1 / drop, Integer(1) / 2
    above = lemma(share, Integer(1), Smaller(ranges=_large(drop)), f"at most 1: 1/{drop} > 0")
    low = lemma(half, share, Smaller(ranges=_large(drop)), f"at least 1/2: 1/{drop} < 1/2")
    below = lemma(share, half, Turned(low), "at least 1/2: read backwards")
    step = Step(share, Integer(1), OrderBetween(above, below), "between 1/2 and 1")
    return Derivation("share", f"{share} is of order 1", (step,))


def law_in_hyperparameters(law: ScalingLaw, budget: Symbol) -> Derivation:
    """The law is of the order of its form in hyperparameters: b = a/K, a = gamma B, B = D/K, and its intrinsic times.

    What is assumed is printed: K > 2, sigma = 1, and that log K is of the order of the logarithm of the budget, which
    the optimum confirms: every optimal K grows like a positive power of the budget. Where the last rate is free, the
    same of x = a/b in the place of K.

    >>> from fsl_sym.laws import scaling_law
    >>> law_in_hyperparameters(scaling_law("exp-decay"), D).verify().holds
    True
    """
    budget, peak = as_expression(budget), gamma * D / K
    drop = _DROP if law.free_final else K
    grown = (*_large(drop), (budget, 1 + _ABOVE))
    put = ((a, peak), (b, peak / drop), (B, D / K), (sigma, Integer(1)), (K1, STABLE_FRACTION * K), (K2, r * K))
    share, nearly_one = 1 - 1 / drop, _nearly_one(drop)

    def step(before: Expr, after: Expr, why: str, names: Sequence[tuple[Expr, Expr]] = put) -> Step:
        used = tuple(pair for pair in names if before.has(pair[0]) or after.has(pair[0]))
        return Step(before, after, Defined(used), why)

    logs = same_order(log(drop), log(budget))
    assumed = lemma(logs.left, logs.right, Assumed(logs), f"the logarithm of {drop}: assumed")
    orders = []
    for name, total in law.functional.intrinsic_times.items():
        known: tuple[Step, ...] = (Step(name, total, Defined(((name, total),)), "the intrinsic time"),)
        length = {T1: STABLE_FRACTION, T2: r}.get(name, Integer(1))
        if not total.has(b):
            known = (*known, step(total, gamma * D * length, "in hyperparameters"))
        else:
            exact = gamma * D * length * share / log(drop)
            order = OrderIn((nearly_one, assumed), grown)
            why = f"{drop} > 2, log {drop} of the order of log N"
            known = (*known, step(total, exact, "in hyperparameters"),
                     Step(exact, gamma * D * length / log(budget), order, why))  # fmt: skip
        orders.append(Derivation(f"{name}", "An intrinsic time in hyperparameters", known))
    if law.schedule != "constant":
        halved = Step(a * share, a, OrderIn((nearly_one,), _large(drop)), f"{drop} > 2")
        dropped = step(a - b, a * share, f"b = a/{drop}", ((b, a / drop),))
        orders.append(Derivation("a - b", "The drop of the rate", (dropped, halved)))
    plain = law.expression.subs(sigma, 1)
    middle = plain.xreplace({derivation.conclusion.left: derivation.conclusion.right for derivation in orders})
    ratio, substituted = (FINAL_OVER_PEAK, 1 / drop), law.in_hyperparameters(budget)
    steps = (
        step(law.expression, plain, "noise of order 1"),
        Step(plain, middle, OrderIn(tuple(orders), grown), "intrinsic times and the drop of the rate"),
        step(middle, substituted.subs(*ratio), "the hyperparameters put in"),
        *((Step(substituted.subs(*ratio), substituted, Defined((ratio,)), "rho = b/a"),) if law.free_final else ()),
    )
    title = f"The law of the {law.schedule} schedule in hyperparameters"
    return Derivation(f"{law.schedule} law in hyperparameters", title, steps, law.label)


def optimum(law: ScalingLaw, budget: Symbol, regime: Regime | PowerRegime, region: Region) -> Derivation:
    """The least value of the law under the budget, all over a regime."""
    budget = as_expression(budget)
    loss = region.loss if law.side is None else region.loss.subs(law.side.back)
    rule = Optimal(region.certificates, regime, law.variables, budget, law.constraints(budget), loss)
    step = Step(law.in_hyperparameters(budget), loss.as_expr(budget), rule, f"{regime.name}: {regime.condition}")
    title = f"The optimum of the {law.schedule} schedule, {regime.name}"
    return Derivation(f"{law.schedule} optimum, {regime.name}", title, (step,), law.label)


def allocation_derivations(
    law: ScalingLaw, budget: Symbol, optima: Sequence[tuple[Regime | PowerRegime, Region]]
) -> tuple[Derivation, ...]:
    """All of one allocation: noise integral, law in hyperparameters, optimum in each regime."""
    return (
        *noise_derivations(law),
        *((law_in_hyperparameters(law, budget),) if law.label else ()),
        *(optimum(law, budget, regime, region) for regime, region in optima),
    )
