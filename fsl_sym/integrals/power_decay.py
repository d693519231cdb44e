"""The noise integral of power decay a (1 - tau/K)^p, linear decay included.

``gamma(t) = a (1 - t/T)^q`` with ``q = p/(p + 1)``: every mode is a lower incomplete gamma function. Two poles compete:
``T^-q`` leads for p < beta - 1, ``T^(1/beta - 1)`` for p > beta - 1, and at the resonance p = beta - 1 they meet in
``T^(1/beta - 1) log T``.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, Integral, Symbol, gamma, lowergamma, oo, zeta

from fsl_sym.asymptotics.mellin import Expansion, harmonic_sum_asymptotics
from fsl_sym.harmonic_sums import expansion_derivation
from fsl_sym.integrals.closed_form import ClosedForm
from fsl_sym.integrals.vanishing_end import end_orders
from fsl_sym.proof import (
    Antiderivative,
    Derivation,
    FirstTerm,
    Instance,
    Interchange,
    Linear,
    Monotone,
    MoreTerms,
    Rises,
    Step,
    Substitution,
    SumOfBounds,
    Termwise,
    Turned,
    ZetaSeries,
    lemma,
)
from fsl_sym.spectrum import LAM, decay, forgetting_kernel, over_modes
from fsl_sym.symbols import M, T, a, beta, j, p, t, z

_U = Symbol("u", positive=True)
_V = Symbol("v", positive=True)
_W = Symbol("w", positive=True)
_EXCESS = Symbol("x", positive=True)
"""How far p lies below beta - 1: p = (beta - 1)/(1 + x)."""


def _rate_exponent(power: Expr) -> Expr:
    return power / (power + 1)


def power_sum(power: Expr = p) -> Expr:
    """The sum over modes: ``a 2^(-q-1) T^-q sum_{j<=M} lambda_j^(1-q) lowergamma(q + 1, 2 lambda_j T)``."""
    q = _rate_exponent(power)
    summand = j ** (-beta / (power + 1)) * lowergamma(q + 1, 2 * LAM * T)
    return a * Integer(2) ** (-q - 1) * T**-q * over_modes(summand, M)


def power_asymptotics(power: Expr = p) -> Expansion:
    """M infinite: both terms, the resonance p = beta - 1 among its ``resonances``.

    Examples
    --------
    >>> power_asymptotics().resonances
    (Eq(beta - p - 1, 0),)
    >>> [term.log_power for term in power_asymptotics().at({p: beta - 1}).terms]
    [1, 0]
    """
    q = _rate_exponent(p)
    prefactor = a * Integer(2) ** (-q - 1) * T**-q
    generic = harmonic_sum_asymptotics(lowergamma(q + 1, 2 * _U), _U, beta / (p + 1), beta, T, prefactor)
    # a special order such as 3/2 turns into an error function: set it in the pieces, not in the expression
    return generic if power == p else generic.at({p: power})


def _steps(power: Expr) -> tuple[Step, ...]:
    q = _rate_exponent(power)
    rate = a * (1 - t / T) ** q
    mode = j ** (-2 * beta) * a
    from_start = over_modes(Integral(mode * rate / a * decay(T - t), (t, 0, T)))
    from_end = over_modes(Integral(mode * (z / T) ** q * decay(z), (z, 0, T)))
    primitive = mode * T**-q * (2 * LAM) ** (-q - 1) * lowergamma(q + 1, 2 * LAM * z)
    value = over_modes(mode * T**-q * (2 * LAM) ** (-q - 1) * lowergamma(q + 1, 2 * LAM * T))
    return (
        Step(Integral(forgetting_kernel(T - t) * rate, (t, 0, T)), from_start, Interchange(), "a finite sum"),
        Step(from_start, from_end, Substitution(t, z, T - z), "z = T - t, the time that is left"),
        Step(from_end, value, Antiderivative(primitive), "the lower incomplete gamma function"),
        Step(value, power_sum(power), Termwise(), "powers of j are collected"),
    )


def power_decay_noise() -> ClosedForm:
    """N of a (1 - tau/K)^p, exact for every M and T; of the three orders the one whose condition holds applies.

    Examples
    --------
    >>> [order.condition for order in power_decay_noise().order]
    [beta < p + 1, Eq(beta, p + 1), beta > p + 1]
    """
    return _closed_form(p, "power-decay")


def linear_decay_noise() -> ClosedForm:
    """N of a (1 - tau/K): the power decay with p = 1, resonant at beta = 2.

    Examples
    --------
    >>> linear_decay_noise().resonances
    (Eq(beta - 2, 0),)
    """
    return _closed_form(Integer(1), "linear")


def _closed_form(power: Expr, name: str) -> ClosedForm:
    expansion = power_asymptotics(power)
    steps = _steps(power)
    derivation = Derivation(f"{name} noise", f"Noise of {name}", steps)
    return ClosedForm(
        name,
        power_sum(power),
        derivation,
        end_orders(power),
        expansion,
        None,
        expansion.conditions,
        expansion.resonances,
    )


@cache
def power_decay_limits() -> tuple[Derivation, Derivation]:
    """M infinite: the residues off the resonance, and the double pole at it.

    >>> [derivation.conclusion.relation for derivation in power_decay_limits()]
    ['expands', 'expands']
    """
    generic = power_asymptotics()
    title = "Noise of power decay for M infinite"
    return (
        expansion_derivation("power decay asymptotics", f"{title}, p is not beta - 1", generic),
        expansion_derivation("power decay at the resonance", f"{title}, p = beta - 1", generic.at({p: beta - 1})),
    )


@cache
def power_decay_bounds() -> tuple[Derivation, Derivation]:
    """The noise for p < beta - 1 between constants times a T^-q, from below and from above, for all M >= 1 and T > 1.

    p is (beta - 1)/(1 + x) with x > 0, which is every p between 0 and beta - 1. The constants are explicit: the first
    mode at T = 1, and all modes without what cuts them off.

    >>> [(bound.conclusion.relation, bound.conclusion.right.has(M)) for bound in power_decay_bounds()]
    [('>=', False), ('<=', False)]
    """
    power = (beta - 1) / (1 + _EXCESS)
    q, fall = (beta - 1) / (beta + _EXCESS), beta * (1 + _EXCESS) / (beta + _EXCESS)
    front = a * Integer(2) ** (-q - 1) * T**-q
    grown = lowergamma(q + 1, 2 * _U)
    modes = over_modes(j**-fall * lowergamma(q + 1, 2 * LAM * T))
    whole = lemma(grown, gamma(q + 1), Monotone(_U, grown.diff(_U)), "the lower incomplete gamma function rises")
    term = lemma(modes.function, gamma(q + 1) * j**-fall, Instance(whole, ((_U, LAM * T),), j**-fall), "u = lambda_j T")
    finite, endless = (over_modes(gamma(q + 1) * j**-fall, size) for size in (M, oo))
    above = Derivation(
        "modes from above",
        "All modes, none cut off",
        (
            Step(modes, finite, SumOfBounds(term), "each mode"),
            Step(finite, endless, MoreTerms(), "all modes"),
            Step(endless, gamma(q + 1) * zeta(fall), ZetaSeries(), "beta/(p + 1) > 1"),
        ),
    )
    start, first = lowergamma(q + 1, Integer(2)), lowergamma(q + 1, 2 * T)
    rises = lemma(start, grown.subs(_U, 1 + _V), Rises(_U, grown, Integer(1), _V), "it rises")
    later = lemma(start, first, Instance(rises, ((_V, T - 1),), ranges=((T, 1 + _W),)), "w = T - 1")
    below = Derivation(
        "modes from below",
        "The first mode at T = 1",
        (
            Step(modes, first, FirstTerm(), "the other terms are positive"),
            Step(first, start, Turned(later), "and that rises with T"),
        ),
    )
    own = Step(power_sum(power), front * modes, Termwise(), "a 2^(-q-1) T^-q in front")
    lower, upper = (
        Derivation(
            f"power decay noise, {side}",
            "The noise of power decay against a T^-q, p < beta - 1",
            (own, Step(own.after, front * bound.conclusion.right, Linear(((front, bound),)), "times what is in front")),
        )
        for side, bound in (("from below", below), ("from above", above))
    )
    return lower, upper
