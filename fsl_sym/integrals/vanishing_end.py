"""The order of the noise of a schedule, from how its learning rate ends.

Where gamma vanishes like a (remaining/T)^q the noise integral is, up to constants, a T^-q int_0^T K_M(u) u^q du with
the kernel of the order u^(1/beta - 2) for 1 <= u <= M^beta: the integral converges for q < 1 - 1/beta, is a logarithm
at q = 1 - 1/beta, and grows like min{T, M^beta}^(q + 1/beta - 1) beyond. With q = p/(p + 1) the resonance is
beta = p + 1. For the power decays themselves the first case is a theorem with explicit constants for every M
(:func:`fsl_sym.integrals.power_decay.power_decay_bounds`), and for M infinite all three are
(:func:`fsl_sym.integrals.power_decay.power_decay_limits`).
"""

from __future__ import annotations

from sympy import Eq, Expr, Gt, Integer, Lt, Rational, log

from fsl_sym.integrals.closed_form import GrowthOrder
from fsl_sym.schedules import Schedule
from fsl_sym.schedules.own import end_power
from fsl_sym.symbols import K0, T2, K, M, T, a, b, beta


def end_orders(power: Expr, time: Expr = T) -> tuple[GrowthOrder, ...]:
    """The order of the noise of a rate that ends like (1 - tau/K)^power: one for each side of beta = power + 1.

    Finite M included: where the sum over modes diverges it is cut at M or at T^(1/beta), whichever is less.

    >>> [order.expression for order in end_orders(Integer(1))][-1]
    a/sqrt(T)
    """
    if power == 0:
        return (GrowthOrder(({a: Integer(1)},)),)
    q = power / (power + 1)
    front = {a: Integer(1), time: -q}
    return (
        GrowthOrder(({**front, M: 1 - beta / (power + 1)}, {a: Integer(1), time: 1 / beta - 1}), Lt(beta, power + 1)),
        GrowthOrder(({**front, log(M): Integer(1)}, {**front, log(time): Integer(1)}), Eq(beta, power + 1)),
        GrowthOrder((front,), Gt(beta, power + 1)),
    )


def last_time(known: Schedule) -> Expr:
    """The intrinsic time of what decides the noise: T_2 after a first phase, T where the shares are fixed."""
    return T2 if len(known.phases) == 2 else T


def noise_orders(known: Schedule) -> tuple[GrowthOrder, ...]:
    """The growth orders of the noise integral of a schedule: their sum, each where its condition holds.

    >>> from fsl_sym.schedules import schedule
    >>> [order.expression for order in noise_orders(schedule("multi-step"))]
    [b, T_2**(-1 + 1/beta)*a]

    Of two constant phases it is the order for 1 <= T_2 <= min{T_1, M^beta} and a bound beyond: there what the first
    injects is forgotten exponentially fast, or is less, and no run is better than one of constant rate.
    """
    last, time = known.phases[-1], last_time(known)
    power = end_power(last)
    floor = (GrowthOrder(({b: Integer(1)},)),) if last.phi.has(b) else ()
    if floor and power == 0:
        return (*floor, GrowthOrder(({a: Integer(1), time: 1 / beta - 1},)))
    if last.phi.has(K0):
        return (GrowthOrder(({a: Integer(1), K0: Rational(1, 2), K: -Rational(1, 2)},)),)
    return (*floor, *end_orders(power, time))
