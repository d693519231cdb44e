r"""The least excess risk over all rates, as an order: a variational argument, then the exponent engine.

With w = 1/gamma samples a unit of intrinsic time, the noise int_0^T K(T - t)/w dt is convex in w and the data int w dt
are linear in it, so that stationarity of noise + mu data (Euler and Lagrange, with one multiplier) is sufficient: at
every time k gamma + mu/gamma is a square above 2 sqrt(mu k), and gamma = sqrt(mu/k). Summed up, the least noise of D
samples is (int_0^T sqrt K)^2/D: of the order min(M, T^(1/beta))/D, since sqrt K falls like t^-(1 - 1/(2 beta)) until
M^beta. What is left is a law in T, and M, whose least order the exponent engine finds with a certificate.

Where the bound on the rate holds all but a last R of intrinsic time, T is D less the order of R, a loss of D^(-s-1) R
of signal, and the noise is R^-(1 - 1/beta): the least of both is what the optimum keeps above D^-s.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from sympy import Eq, Expr, Integral, Min, Symbol, sqrt

from fsl_sym.domain import EDGE, HARD, REGIMES, Regime
from fsl_sym.exponents.solve import Region, optimal_exponents
from fsl_sym.near_optimal import near_optimal
from fsl_sym.order import Order, OrderRange
from fsl_sym.proof import Antiderivative, Derivation, Identity, Optimal, Step
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
LATE: Final = Symbol("R", positive=True)
"""The intrinsic time at the end in which the rate lies below its bound."""
DECAY: Final = (LATE * D ** (-s - 1) + LATE ** (1 / beta - 1), (LATE,), D, (LATE <= D,))
"""What a late decay leaves above the signal of the largest rate throughout, in the hard regime; and so on as above."""


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
def _regions(program: tuple[Any, ...]) -> tuple[Region, ...]:
    law, chosen, grown, constraints = program
    return optimal_exponents(law, chosen, grown, constraints, {s: RANGES[s], beta: RANGES[beta]}).regions


def _region(program: tuple[Any, ...], regime: Regime) -> Region:
    return next(region for region in _regions(program) if all(region.contains(point) for point in regime.points(6)))


def _least(program: tuple[Any, ...], name: str, regime: Regime) -> Derivation:
    law, chosen, grown, constraints = program
    region = _region(program, regime)
    least = region.loss.subs(regime.edge) if regime is EDGE else region.loss
    order = least.factored()
    rule = Optimal(region.certificates, regime, chosen, grown, constraints, order)
    step = Step(law, order.as_expr(grown), rule, f"{regime.name}: {regime.condition}")
    return Derivation(f"least risk, {name}, {regime.name}", "The least risk of all rates", (step,))


@cache
def least_orders(budget: str) -> tuple[Derivation, ...]:
    """Regime by regime the order of the least excess risk under a ``budget``, "data" or "compute".

    >>> [str(derivation.conclusion.right) for derivation in least_orders("data")]
    ['D**(-beta*s/(beta*s + 1))', 'D**(-(beta - 1)/beta)', 'D**(-s)']
    """
    return tuple(_least(LAWS[budget], budget, regime) for regime in REGIMES)


@cache
def least_of_decay() -> Derivation:
    """In the hard regime, the order of what the best schedule of D samples leaves above the signal D^-s.

    >>> str(least_of_decay().conclusion.right)
    'D**(-(beta - 1)*(s + 1)/(2*beta - 1))'
    """
    return _least(DECAY, "decay", HARD)


def samples_spent() -> Derivation:
    """What rates in proportion to 1/sqrt(K), for K = (1 + R)^-(2 - 1/beta), take of samples over an intrinsic time T.

    In units of the last rate, which therefore is 2 beta ((1 + T)^(1/(2 beta)) - 1)/D, and the first
    (1 + T)^(1 - 1/(2 beta)) times that: of the orders T^(1/(2 beta))/D and T/D.

    >>> print(samples_spent().prove().conclusion)
    Integral((x_0 + 1)**(-1 + 1/(2*beta)), (x_0, 0, T)) = 2*beta*((T + 1)**(1/(2*beta)) - 1)
    """
    power = 1 / (2 * beta)
    step = Step(
        Integral((1 + LATE) ** (power - 1), (LATE, 0, T)), 2 * beta * ((1 + T) ** power - 1),
        Antiderivative(2 * beta * (1 + LATE) ** power), "antiderivative",
    )  # fmt: skip
    return Derivation("samples spent", "The samples of rates in proportion to 1/sqrt(K)", (step,))


@cache
def best_quantity(name: str, regime: Regime, quantity: Expr, order: Order, end: str = "at") -> Derivation:
    """The order of a quantity, or of the least ("from") or largest it may be ("up to"), where a law is near its least.

    ``name`` is that of one of :data:`LAWS`, or "decay". Another order than the derived one gives no proof.

    >>> print(best_quantity("data", HARD, T, Order(1)).prove().conclusion)
    T near-optimal at D where s < 1 - 1/beta
    """
    program = DECAY if name == "decay" else LAWS[name]
    orders = OrderRange(None if end == "up to" else order, None if end == "from" else order)
    (derivation,) = near_optimal(_least(program, name, regime), quantity, orders, regime, (end,))
    return derivation


def best_choices(program: tuple[Any, ...], regime: Regime) -> dict[Symbol, OrderRange]:
    """The orders between which each variable of a law may lie, all over a regime, where the law is of its least order.

    ``program`` is one of :data:`LAWS`, or :data:`DECAY`; at the edge the orders are those of the easy regime.

    >>> from fsl_sym.domain import HARD
    >>> print({str(name): str(order) for name, order in best_choices(DECAY, HARD).items()})
    {'R': 'N^(beta*(s + 1)/(2*beta - 1))'}
    """
    return dict(_region(program, regime).variables)
