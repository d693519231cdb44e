r"""The least excess risk over all rates, as an order: a variational argument, then the exponent engine.

With w = 1/gamma samples a unit of intrinsic time, the noise int_0^T K(T - t)/w dt is convex in w and the data int w dt
are linear in it, so that stationarity of noise + mu data (Euler and Lagrange, with one multiplier) is sufficient: at
every time k gamma + mu/gamma is a square above 2 sqrt(mu k), and gamma = sqrt(mu/k). Summed up, the least noise of D
samples is (int_0^T sqrt K)^2/D: of the order min(M, T^(1/beta))/D, since sqrt K falls like t^-(1 - 1/(2 beta)) until
M^beta. What is left is a law in T, and M, whose least order the exponent engine finds with a certificate.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from sympy import Eq, Expr, Min, Symbol, factor, sqrt

from fsl_sym.domain import EDGE, REGIMES
from fsl_sym.exponents.solve import optimal_exponents
from fsl_sym.order import Order
from fsl_sym.proof import Derivation, Identity, Optimal, Step
from fsl_sym.symbols import RANGES, C, D, M, T, beta, gamma, s
from fsl_sym.values import as_expression

KERNEL: Final = Symbol("k", positive=True)
"""The value of the kernel at one time."""
PRICE: Final = Symbol("mu", positive=True)
"""Of a sample, in noise."""

LAWS: Final = {
    "data": (T**-s + T ** (1 / beta) / D, (T,), D, (T <= D,)),
    "compute": (M ** (-s * beta) + T**-s + Min(M, T ** (1 / beta)) / D, (M, T, D), C, (Eq(M * D, C), T <= D)),
}
"""Budget -> what the best rates of intrinsic time T leave, what is chosen, what grows, and under which constraints."""


LEAST_PRICE: Final = 2 * sqrt(PRICE * KERNEL)
BEST_RATE: Final = sqrt(PRICE / KERNEL)


def price(rate: Expr) -> Expr:
    """The noise of a unit of intrinsic time at one rate, and its samples at their price.

    >>> price(BEST_RATE).equals(LEAST_PRICE)
    True
    """
    rate = as_expression(rate)
    return KERNEL * rate + PRICE / rate


def above_least_price(rate: Expr) -> Expr:
    """What a rate costs more than the best one: a square.

    >>> above_least_price(BEST_RATE)
    0
    """
    rate = as_expression(rate)
    return (sqrt(KERNEL * rate) - sqrt(PRICE / rate)) ** 2


def stationary_rate() -> Derivation:
    """No rate has a lower price than sqrt(mu/k), whatever the kernel is: what lies above it is a square.

    >>> stationary_rate().verify().holds
    True
    """
    step = Step(price(gamma), above_least_price(gamma) + LEAST_PRICE, Identity(), "complete the square")
    return Derivation("stationary rate", "The rate of least noise for its samples", (step,), "eqn: FSL-optimization")


@cache
def least_orders(budget: str) -> tuple[Derivation, ...]:
    """Regime by regime the order of the least excess risk under a ``budget``, "data" or "compute".

    >>> [str(each.conclusion.right) for each in least_orders("data")]
    ['D**(-beta*s/(beta*s + 1))', 'D**(-(beta - 1)/beta)', 'D**(-s)']
    """
    law, chosen, grown, constraints = LAWS[budget]
    regions = optimal_exponents(law, chosen, grown, constraints, {s: RANGES[s], beta: RANGES[beta]}).regions
    derivations = []
    for regime in REGIMES:
        region = next(each for each in regions if all(each.contains(point) for point in regime.points(6)))
        least = region.loss.subs(regime.edge) if regime is EDGE else region.loss
        order = Order(factor(least.power), factor(least.log_power))
        rule = Optimal(region.certificates, regime, chosen, grown, constraints, order)
        step = Step(law, order.as_expr(grown), rule, f"{regime.name}: {regime.condition}")
        derivations.append(Derivation(f"least risk, {budget}, {regime.name}", "The least risk of all rates", (step,)))
    return tuple(derivations)
