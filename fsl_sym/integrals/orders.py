"""The orders of I1 and I2 with explicit constants, for every model size and every time from 1 on."""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, Integral, Min, Symbol, exp, gamma, oo, uppergamma, zeta

from fsl_sym.integrals.exponential_decay import crossover_derivations, i1_sum, i2_sum, remaining, to_crossover
from fsl_sym.proof import (
    AtMostBoth,
    Counted,
    Derivation,
    FirstTerm,
    HeadOfSum,
    Instance,
    IntegralTest,
    Linear,
    Monotone,
    MoreTerms,
    OrderBetween,
    Rises,
    Smaller,
    Step,
    SumOfBounds,
    Termwise,
    Turned,
    ZetaSeries,
    lemma,
)
from fsl_sym.spectrum import LAM, X, over_modes
from fsl_sym.symbols import M, T, beta

_U = Symbol("u", positive=True)
_V = Symbol("v", positive=True)
_W = Symbol("w", positive=True)
_Y = Symbol("y_M", positive=True)


def _order_at_least(quantity: Expr, lower: Derivation, upper: Derivation, order: Expr, name: str) -> Derivation:
    step = Step(quantity, order, OrderBetween(upper, lower), "between constants times this")
    return Derivation(f"{name} order", f"The order of {name}", (step,), f"exp-decay/{name}")


@cache
def i1_order() -> Derivation:
    """I1 is of order 1 for M >= 1 and T > 1: at least its first mode at T = 1, at most half the trace.

    >>> print(i1_order().prove().conclusion.right)
    1
    """
    fade = (1 - exp(-2 * _U)) / 2
    half = lemma(fade, Integer(1) / 2, Monotone(_U, exp(-2 * _U)), "A mode is at most 1/2: it rises")
    mode = i1_sum().function
    term = lemma(mode, LAM / 2, Instance(half, ((_U, LAM * T),), LAM), "A mode of I1: u = lambda_j T")
    trace, endless = over_modes(LAM / 2), over_modes(LAM / 2, oo)
    upper = Derivation(
        "I1 upper bound",
        "I1 is at most half the trace",
        (
            Step(i1_sum(), trace, SumOfBounds(term), "each mode is at most lambda_j/2"),
            Step(trace, endless, MoreTerms(), "all modes"),
            Step(endless, zeta(beta) / 2, ZetaSeries(), "half the trace of infinitely many modes"),
        ),
    )
    start = (1 - exp(-Integer(2))) / 2
    grown = lemma(start, fade.subs(_U, 1 + _V), Rises(_U, fade, Integer(1), _V), "it rises")
    first = (1 - exp(-2 * T)) / 2
    at_time = lemma(start, first, Instance(grown, ((_V, T - 1),), ranges=((T, 1 + _W),)), "w = T - 1")
    lower = Derivation(
        "I1 lower bound",
        "I1 is at least its first mode",
        (
            Step(i1_sum(), first, FirstTerm(), "the other terms are positive"),
            Step(first, start, Turned(at_time), "and that rises with T"),
        ),
    )
    return _order_at_least(i1_sum(), lower, upper, Integer(1), "I1")


@cache
def i2_bounds() -> tuple[Derivation, Derivation]:
    """I2 from below and from above by multiples of min{M, T^(1/beta)}/T, for every M >= 1 and T >= 1.

    Above: a sum of a falling summand is at most its integral M Phi(x), and Phi is at most a multiple of x^(1/beta);
    and each of the M terms is at most 1. Below: the modes j <= min{M, T^(1/beta)} each have lambda_j T >= 1, hence
    g >= g(1), and there are at least half as many as that minimum (its integer part).
    """
    reduced = over_modes(remaining(T * LAM))
    smooth = Integral(remaining(T * _Y**-beta), (_Y, 0, M))
    closed = M * remaining(T * M**-beta) + (2 * T) ** (1 / beta) * uppergamma(2 - 1 / beta, 2 * T * M**-beta)
    g = remaining(_U)
    whole = lemma(g, Integer(1), Monotone(_U, 4 * _U * exp(-2 * _U)), "g is at most 1: g rises")
    term = lemma(remaining(T * LAM), Integer(1), Instance(whole, ((_U, T * LAM),)), "u = lambda_j T")
    number = over_modes(Integer(1))
    constant = Integer(2) ** (1 / beta) * gamma(2 - 1 / beta)
    factor = 1 + constant
    by_size = Derivation(
        "4 T I2 by size",
        "M terms, each at most 1",
        (
            Step(reduced, number, SumOfBounds(term), "each term is at most 1"),
            Step(number, M, Counted(), "M terms"),
            Step(M, factor * M, Smaller(), "a larger constant"),
        ),
    )
    flat = crossover_derivations()[3]
    place = T * M**-beta
    spread = M * place ** (1 / beta)
    by_time = Derivation(
        "4 T I2 by time",
        "The sum is at most its integral",
        (
            Step(reduced, smooth, IntegralTest(), "the summand falls"),
            *to_crossover(smooth, closed),
            Step(closed, constant * T ** (1 / beta), Instance(flat, ((X, place),), spread), "Phi x^(-1/beta) falls"),
            Step(constant * T ** (1 / beta), factor * T ** (1 / beta), Smaller(), "a larger constant"),
        ),
    )
    least = Min(M, T ** (1 / beta))
    upper_bound = lemma(reduced, factor * least, AtMostBoth(by_size, by_time, factor), "both bounds")
    rises = lemma(remaining(Integer(1)), remaining(1 + _V), Rises(_U, g, Integer(1), _V), "its derivative is positive")
    head = lemma(reduced, remaining(Integer(1)) * least / 2, HeadOfSum(rises, _U, g, T, beta), "modes j <= T^(1/beta)")
    own = Step(i2_sum(), reduced / (4 * T), Termwise(), "4 T I2 is a sum of g(lambda_j T)")
    share = 1 / (4 * T)
    below, above = (
        Derivation(
            f"I2 {side} bound",
            "I2 against min{M, T^(1/beta)}/T",
            (own, Step(own.after, share * bound.conclusion.right, Linear(((share, bound),)), "divided by 4 T")),
        )
        for side, bound in (("lower", head), ("upper", upper_bound))
    )
    return below, above


@cache
def i2_order() -> Derivation:
    """I2 is of order min{M, T^(1/beta)}/T for every M >= 1 and T >= 1.

    >>> i2_order().verify().holds
    True
    """
    lower, upper = i2_bounds()
    return _order_at_least(i2_sum(), lower, upper, Min(M, T ** (1 / beta)) / T, "I2")
