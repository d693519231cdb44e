"""The noise integral of power decay a (1 - tau/K)^p, linear decay included.

``gamma(t) = a (1 - t/T)^q`` with ``q = p/(p + 1)``: every mode is a lower incomplete gamma function. Two poles compete:
``T^-q`` leads for p < beta - 1, ``T^(1/beta - 1)`` for p > beta - 1, and at the resonance p = beta - 1 they meet in
``T^(1/beta - 1) log T``.
"""

from __future__ import annotations

from sympy import Eq, Expr, Gt, Integer, Integral, Sum, Symbol, exp, log, lowergamma

from fsl_sym.derivation import Derivation, Step
from fsl_sym.integrals.closed_form import ClosedForm, GrowthOrder
from fsl_sym.integrals.stable_phase import LAM
from fsl_sym.justifications import Antiderivative, Identity, Interchange, Substitution, Termwise
from fsl_sym.mellin import Expansion, harmonic_sum_asymptotics, residue_step
from fsl_sym.schedules import FRACTION, schedule
from fsl_sym.spectrum import forgetting_kernel
from fsl_sym.symbols import K, M, T, a, beta, j, p, t, z

_U = Symbol("u", positive=True)


def _rate_exponent(power: Expr) -> Expr:
    return power / (power + 1)


def power_sum(power: Expr = p, size: Expr = M) -> Expr:
    """The sum over modes: ``a 2^(-q-1) T^-q sum_{j<=M} lambda_j^(1-q) lowergamma(q + 1, 2 lambda_j T)``."""
    q = _rate_exponent(power)
    summand = j ** (-beta / (power + 1)) * lowergamma(q + 1, 2 * LAM * T)
    return a * Integer(2) ** (-q - 1) * T**-q * Sum(summand, (j, 1, size))


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
    name = "power decay" if power == p else "linear decay"
    found = schedule(name).gamma
    assert found is not None
    rate = a * (1 - t / T) ** q
    mode = j ** (-2 * beta) * a
    from_start = Sum(Integral(mode * rate / a * _forget(T - t), (t, 0, T)), (j, 1, M))
    from_end = Sum(Integral(mode * (z / T) ** q * _forget(z), (z, 0, T)), (j, 1, M))
    primitive = mode * T**-q * (2 * LAM) ** (-q - 1) * lowergamma(q + 1, 2 * LAM * z)
    value = Sum(mode * T**-q * (2 * LAM) ** (-q - 1) * lowergamma(q + 1, 2 * LAM * T), (j, 1, M))
    return (
        Step(found.subs(K, T * (power + 1) / a), rate, "identity", "K = (p + 1) T/a",
             Identity(((t, T * (1 - FRACTION)),))),
        Step(Integral(forgetting_kernel(T - t) * rate, (t, 0, T)), from_start, "interchange",
             "the integral of a finite sum", Interchange(), begins=True),
        Step(from_start, from_end, "substitution", "z = T - t, the time that is left", Substitution(t, z, T - z)),
        Step(from_end, value, "integral", "the lower incomplete gamma function", Antiderivative(primitive)),
        Step(value, power_sum(power), "sum", "powers of j are collected", Termwise()),
    )  # fmt: skip


def _forget(time: Expr) -> Expr:
    return exp(-2 * LAM * time)


def _orders(power: Expr) -> tuple[GrowthOrder, ...]:
    """Finite M included: where the sum over modes diverges it is cut at M or at T^(1/beta), whichever is less."""
    q = _rate_exponent(power)
    front = {a: Integer(1), T: -q}
    return (
        GrowthOrder((front,), Gt(beta - 1, power)),
        GrowthOrder(({**front, M: 1 - beta / (power + 1)}, {a: Integer(1), T: 1 / beta - 1}), Gt(power, beta - 1)),
        GrowthOrder(({**front, log(M): Integer(1)}, {**front, log(T): Integer(1)}), Eq(power, beta - 1)),
    )


def power_decay_noise() -> ClosedForm:
    """N of a (1 - tau/K)^p, exact for every M and T; of the three orders the one whose condition holds applies.

    Examples
    --------
    >>> [order.condition for order in power_decay_noise().order]
    [beta - 1 > p, p > beta - 1, Eq(p, beta - 1)]
    """
    return _closed_form(p, "power decay")


def linear_decay_noise() -> ClosedForm:
    """N of a (1 - tau/K): the power decay with p = 1, resonant at beta = 2.

    Examples
    --------
    >>> linear_decay_noise().resonances
    (Eq(beta - 2, 0),)
    """
    return _closed_form(Integer(1), "linear decay")


def _closed_form(power: Expr, name: str) -> ClosedForm:
    expansion = power_asymptotics(power)
    steps = _steps(power)
    derivation = Derivation(f"{name} noise", f"Noise of {name}", steps, ("M finite",))
    return ClosedForm(name, power_sum(power), derivation, _orders(power), expansion, None, expansion.conditions,
                      expansion.resonances)  # fmt: skip


def power_decay_limits() -> Derivation:
    """M infinite: the residues off the resonance, and the double pole at it."""
    generic = power_asymptotics()
    steps = (
        residue_step(generic, "two simple poles: p is not beta - 1", begins=True),
        residue_step(generic.at({p: beta - 1}), "the resonance p = beta - 1: one double pole", begins=True),
    )
    return Derivation("power decay asymptotics", "Noise of power decay for M infinite", steps, ("beta > 1", "p > 0"))
