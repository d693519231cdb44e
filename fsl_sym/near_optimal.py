"""What every choice has that is as good as the best up to a constant: theorems about a law under a budget.

The least value of a law is one theorem; where the law is near it, each hyperparameter has an order, or a range whose
ends have orders. Certificates are sought here and proved by the kernel, which writes out every law anew.

>>> from fsl_sym.domain import EASY
>>> from fsl_sym.order import Order, OrderRange
>>> from fsl_sym.symbols import D, gamma, s
>>> risk = Order(-s / (s + 1))
>>> least = least_value(gamma + (D * gamma) ** -s, ((gamma,), D, (gamma <= 1,)), EASY, risk)
>>> for derivation in near_optimal(least, gamma, OrderRange(risk, risk), EASY):
...     print(derivation.prove().conclusion)
gamma near-optimal at D**(-s/(s + 1)) where s > 1 - 1/beta
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from sympy import Expr, Integer, Symbol, oo

from fsl_sym.domain import Regime
from fsl_sym.exponents.certificate import Certificate, certificate_at, proves
from fsl_sym.exponents.law import Law
from fsl_sym.order import Order, OrderRange
from fsl_sym.power_regimes import PowerRegime
from fsl_sym.proof import AllCases, Derivation, NearOptimal, Optimal, OptimalAt, Step, Vanishing
from fsl_sym.proof.bound_letters import put
from fsl_sym.values import as_fraction

ENDS: Final = ("at", "from", "up to")
"""What may be said of a quantity: the one order of all near-optimal choices, the least, the largest."""
_POINTS: Final = 8
"""Of a regime, at which a certificate is sought that proves all of it: for the laws of the catalogue the first does."""


@lru_cache(maxsize=256)  # claims compare the least values of others
def least_value(loss: Expr, program: tuple[Any, ...], regime: Regime | PowerRegime, order: Order) -> Derivation:
    """The least value of a law all over a regime; ``program`` are its variables, its budget and its constraints.

    A derivation of another order than that of the least value proves nothing.
    """
    variables, budget, constraints = program
    rule = Optimal((), regime, variables, budget, constraints, written(order))
    rule = replace(rule, certificates=_certificates((rule.law(loss),), regime))
    step = Step(loss, rule.order.as_expr(budget), rule, f"{regime.name}: {regime.condition}")
    return Derivation(f"least value, {regime.name}", "The least value of a law", (step,))


def in_all_regimes(
    least: Sequence[Derivation], regimes: Sequence[Regime | PowerRegime], order: Expr, title: str = "in all regimes"
) -> Derivation:
    """The least value of a law in all regimes of the plane, or of one side of it, as one order.

    ``least`` are those regime by regime; ``order`` may say by a minimum or maximum of exponents which one is meant.

    >>> from sympy import Min
    >>> from fsl_sym.domain import REGIMES
    >>> from fsl_sym.optimal_rates import least_orders
    >>> from fsl_sym.symbols import D, beta, s
    >>> print(in_all_regimes(least_orders("data"), REGIMES, D ** -Min(s, s * beta / (1 + s * beta))).prove().conclusion)
    T**(-s) + T**(1/beta)/D optimum D**(-Min(s, beta*s/(beta*s + 1)))
    """
    step = Step(least[0].conclusion.left, order, AllCases(tuple(least), tuple(regimes)), title)
    return Derivation(f"least value, {title}", "The least value of a law in all regimes", (step,))


def at_values(least: Derivation, values: Mapping[Symbol, Expr], order: Expr) -> Derivation:
    """A least value at values of s and beta, as of one task: s = alpha/beta; ``order`` is that of the lemma there.

    >>> from sympy import Symbol
    >>> from fsl_sym.optimal_rates import least_orders
    >>> from fsl_sym.symbols import D, beta, s
    >>> alpha = Symbol("alpha", positive=True)
    >>> print(at_values(least_orders("data")[2], {s: alpha / beta}, D ** (-alpha / beta)).prove().conclusion)
    T**(-alpha/beta) + T**(1/beta)/D optimum D**(-alpha/beta) where alpha/beta < 1 - 1/beta
    """
    rule = OptimalAt(least, tuple(values.items()))
    where = ", ".join(f"{letter} = {value}" for letter, value in values.items())
    step = Step(put(least.conclusion.left, values), order, rule, where)
    return Derivation(f"{least.name}, at {step.why}", "The least value of a law at these values", (step,))


def near_optimal(
    least: Derivation, quantity: Expr, orders: OrderRange, regime: Regime | PowerRegime, ends: Sequence[str] = ENDS
) -> tuple[Derivation, ...]:
    """The orders between which a quantity lies where a law is near its least value: a theorem an end, one if they meet.

    An order that is None is no bound: on that side the quantity is as near 0, or as large, as one likes. Derivations of
    orders that are not those of the ends prove nothing. Of :data:`ENDS` those named in ``ends``.
    """
    said = {"at": orders.lower} if orders.is_point else {"from": orders.lower, "up to": orders.upper}
    derivations = []
    for end, order in ((end, order) for end, order in said.items() if end in ends):
        rule = NearOptimal(least, (), regime, None if order is None else written(order), end)
        rule = replace(rule, certificates=_certificates(rule.laws(quantity).values(), regime))
        unbounded = oo if end == "up to" else Integer(0)
        after = unbounded if rule.order is None else rule.order.as_expr(rule.program[3])
        step = Step(quantity, after, rule, f"{regime.name}: {regime.condition}")
        name = f"near-optimal {quantity}, {end}, {regime.name}"
        derivations.append(Derivation(name, f"{quantity} where a law is near its least value", (step,)))
    return tuple(derivations)


def vanishing(order: Order, base: Symbol, regime: Regime | PowerRegime | None = None) -> Derivation:
    """That an order tends to 0 all over a regime, or for all values of its letters; of one that does not, a derivation
    that proves nothing.

    >>> from fsl_sym.domain import HARD
    >>> from fsl_sym.symbols import N, s
    >>> print(vanishing(Order(-s, 1), N, HARD).prove().conclusion)
    log(N)/N**s -> 0 as N -> oo where s < 1 - 1/beta
    """
    rule = Vanishing(written(order), regime, base)
    name = "all values" if regime is None else regime.name
    step = Step(rule.order.as_expr(base), Integer(0), rule, name if regime is None else f"{name}: {regime.condition}")
    return Derivation(f"vanishing, {name}", "An order that tends to 0", (step,))


@lru_cache(maxsize=4096)  # of every end it is asked for the formula, and for the proof
def written(order: Order) -> Order:
    """An order with its exponents written the one way in which those of the engine are.

    >>> from fsl_sym.symbols import s
    >>> written(Order(-(1 + s) / 2)), written(Order(s**2 / (s + s**2)))
    (Order(power=-s/2 - 1/2, log_power=0), Order(power=s/(s + 1), log_power=0))
    """
    # sympy multiplies a number into a sum wherever it evaluates, and factoring takes it out again
    factors = order.factored()
    exponents = (factors.power, factors.log_power)
    return Order(*(exponent.func(*exponent.args) if exponent.args else exponent for exponent in exponents))


def _certificates(laws: Iterable[Law], regime: Regime | PowerRegime) -> tuple[Certificate, ...]:
    """One of each law that proves its value all over the regime, where there is one at a point tried."""
    proved = []
    for law in laws:
        for point in regime.points(_POINTS):
            # no choice may be left where the least value of a lemma is too small: then nothing is proved
            with suppress(ValueError):
                known = {letter: as_fraction(value) for letter, value in point.items() if letter in law.domain.symbols}
                certificate = certificate_at(law, known)
                if proves(certificate, regime.sign_of):
                    proved.append(certificate)
                    break
    return tuple(proved)
