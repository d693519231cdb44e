"""The stable phase of a WSD-like schedule: what its noise has become after the decay phase.

``int_0^inf K_M(T_2 + t) dt = sum_j (lambda_j/2) exp(-2 lambda_j T_2)``, and the same with a stable phase of finite
length.
"""

from __future__ import annotations

from functools import cache

from sympy import Expr, Integer, Integral, Min, Mul, Sum, Symbol, exp, gamma, log, oo, uppergamma

from fsl_sym.asymptotics.mellin import Expansion, harmonic_sum_asymptotics
from fsl_sym.integrals.closed_form import ClosedForm, cut_order
from fsl_sym.proof import (
    Antiderivative,
    AtMostBoth,
    Counted,
    Derivation,
    Identity,
    Instance,
    Interchange,
    Linear,
    Maximum,
    Monotone,
    OrderBetween,
    Smaller,
    Step,
    SumOfBounds,
    WithinError,
    lemma,
)
from fsl_sym.spectrum import LAM, FiniteSize, decay, exponential_sum, forgetting_kernel, over_modes
from fsl_sym.symbols import HALF, T1, T2, M, a, beta, j, t
from fsl_sym.values import as_expression

_U = Symbol("u", positive=True)
_V = Symbol("v", positive=True)
_Y = Symbol("y_M", positive=True)


def stable_sum(time: Expr = T2, size: Expr = M) -> Sum:
    """sum_{j<=M} (lambda_j/2) exp(-2 lambda_j time)."""
    return over_modes(LAM * decay(time) / 2, size)


def stable_asymptotics(time: Symbol = T2) -> Expansion:
    """M infinite: Gamma(1 - 1/beta)/(2 beta) (2 time)^(1/beta - 1), and nothing algebraic after it.

    Examples
    --------
    >>> stable_asymptotics().terms[0].coefficient
    2**(-2 + 1/beta)*gamma(1 - 1/beta)/beta
    """
    return harmonic_sum_asymptotics(exp(-2 * _U) / 2, _U, beta, beta, time)


def finite_stable(time: Symbol = T2) -> FiniteSize:
    """Finite M, with the crossover at time = M^beta and an explicit error 1/(4 e time)."""
    return exponential_sum(1 - 1 / beta, "stable phase", time, HALF, "lem: wsd-stable-noise")


def _identity(upper: Expr, value: Expr, name: str, factor: Expr, t: Symbol = t) -> Derivation:
    t = as_expression(t)
    kernel = forgetting_kernel(T2 + t)
    factors = (factor, j ** (-2 * beta), decay(T2 + t))
    mode = Mul(*factors)
    steps = (
        Step(
            Integral(factor * kernel, (t, 0, upper)),
            over_modes(Integral(mode, (t, 0, upper))),
            Interchange(factors),
            "the integral of nonnegative terms",
        ),
        Step(
            over_modes(Integral(mode, (t, 0, upper))),
            value,
            Antiderivative(-factor * LAM * decay(T2 + t) / 2),
            "each mode forgets at rate 2 lambda_j",
        ),
    )
    return Derivation(name, "Noise of the stable phase", steps, "lem: wsd-stable-noise")


def stable_phase_noise() -> ClosedForm:
    """int_0^infinity K_M(T_2 + t) dt: the stable phase of infinite length.

    Source: lemma labelled lem: wsd-stable-noise.

    Examples
    --------
    >>> stable_phase_noise().derivation.verify().holds
    True
    """
    derivation = _identity(oo, stable_sum(), "stable phase", Integer(1))
    return ClosedForm("stable phase", stable_sum(), derivation, (cut_order(T2),), stable_asymptotics(), finite_stable())


def finite_stable_phase_noise(clock: Symbol = t) -> ClosedForm:
    """a int_0^T1 K_M(T_2 + t) dt: the exact version, for a stable phase of intrinsic length T_1 at rate a.

    ``clock`` is the variable of integration: the time to the end of the stable phase.
    """
    value = over_modes(a * LAM * (decay(T2) - decay(T1 + T2)) / 2)
    order = cut_order(T2).times(a)
    return ClosedForm("finite stable phase", value, _identity(T1, value, "finite stable phase", a, clock), (order,))


@cache
def _bounds() -> tuple[Derivation, Derivation]:
    """The stable phase is at most M/(4 e T_2), and at most a constant times T_2^(1/beta - 1) where T_2 > 1.

    Each mode is at most 1/(4 e T_2), the peak of v exp(-2 v T_2)/2; and the sum is at most its integral and one peak.

    """
    peak = exp(-1) / (4 * T2)
    peak_of_mode = lemma(_V * exp(-2 * _V * T2) / 2, peak, Maximum(_V), "the peak of a mode: one critical point")
    mode = LAM * decay(T2) / 2
    term = lemma(mode, peak, Instance(peak_of_mode, ((_V, LAM),)), "A mode of the stable phase: v = lambda_j")
    number = over_modes(peak)
    by_size = Derivation(
        "stable bound by size",
        "M modes, each at most its peak",
        (
            Step(stable_sum(), number, SumOfBounds(term), "each mode is at most its peak"),
            Step(number, M * peak, Counted(), "M equal terms"),
        ),
        "lem: wsd-stable-noise",
    )
    form = finite_stable()
    assert form.error == peak
    front = (2 * T2) ** (1 / beta - 1) / (2 * beta)
    tail = uppergamma(1 - 1 / beta, _U)
    whole = lemma(tail, gamma(1 - 1 / beta), Monotone(_U, -(_U ** (-1 / beta)) * exp(-_U)), "it falls")
    smooth = lemma(
        form.approximation,
        front * gamma(1 - 1 / beta),
        Instance(whole, ((_U, 2 * T2 * M**-beta),), front),
        "the incomplete gamma function at its place",
    )
    order = T2 ** (1 / beta - 1)
    later = exp(-_U / beta)
    shrinks = lemma(later, Integer(1), Monotone(_U, -later / beta), "A power below 1: it falls from 1")
    beyond = ((T2, 1 + _V),)
    error = lemma(
        peak,
        exp(-1) / 4 * order,
        Instance(shrinks, ((_U, log(T2)),), exp(-1) / 4 * order, beyond),
        "T_2^(-1/beta) = exp(-log(T_2)/beta) is at most 1",
    )
    constant = gamma(1 - 1 / beta) * Integer(2) ** (1 / beta - 1) / (2 * beta) + exp(-1) / 4
    by_time = Derivation(
        "stable bound by time",
        "The sum is at most its integral and one peak",
        (
            Step(form.exact, form.approximation + peak, WithinError(form.derivation), "sum against integral"),
            Step(
                form.approximation + peak,
                front * gamma(1 - 1 / beta) + exp(-1) / 4 * order,
                Linear(((Integer(1), smooth), (Integer(1), error))),
                "both parts",
            ),
            Step(front * gamma(1 - 1 / beta) + exp(-1) / 4 * order, constant * order, Identity(), "collected"),
        ),
        "lem: wsd-stable-noise",
    )
    return by_size, by_time


@cache
def stable_bound() -> Derivation:
    """The stable phase is at most a constant of beta times min{M, T_2^(1/beta)}/T_2 where T_2 > 1.

    >>> stable_bound().verify().holds
    True
    """
    by_size, by_time = _bounds()
    order = T2 ** (1 / beta - 1)
    share = by_time.conclusion.right / order
    factor = share + exp(-1) / 4
    first, second = (
        Derivation(
            f"wider {derivation.name}",
            derivation.title,
            (*derivation.steps, Step(derivation.conclusion.right, factor * growth, Smaller(), "a larger constant")),
        )
        for derivation, growth in ((by_size, M / T2), (by_time, order))
    )
    smaller = Min(M / T2, order)
    step = Step(stable_sum(), factor * smaller, AtMostBoth(first, second, factor), "both bounds")
    return Derivation("stable bound", "The stable phase is bounded", (step,), "lem: wsd-stable-noise")


@cache
def stable_order() -> Derivation:
    """The stable phase is of at most the order of min{M, T_2^(1/beta)}/T_2 where T_2 > 1.

    >>> print(stable_order().conclusion.right)
    Min(T_2**(-1 + 1/beta), M/T_2)
    """
    smaller = Min(M / T2, T2 ** (1 / beta - 1))
    step = Step(stable_sum(), smaller, OrderBetween(stable_bound()), "of at most this order, with an explicit constant")
    return Derivation("stable order", "The order of the stable phase", (step,), "lem: wsd-stable-noise")


@cache
def finite_stable_order() -> Derivation:
    """A stable phase of any length leaves at most the order of a T_2^(1/beta - 1) where T_2 > 1, for every M.

    >>> print(finite_stable_order().conclusion.right)
    T_2**(-1 + 1/beta)*a
    """
    exact, bound = finite_stable_phase_noise().derivation, _bounds()[1]
    label = "lem: wsd-stable-noise"
    mode, whole = a * LAM * (decay(T2) - decay(T1 + T2)) / 2, a * LAM * decay(T2) / 2
    term = lemma(mode, whole, Smaller(), "a phase without end leaves more")
    steps = (
        *exact.steps,
        Step(over_modes(mode), over_modes(whole), SumOfBounds(term), "each mode"),
        Step(over_modes(whole), a * stable_sum(), Identity(), "the rate before the sum"),
        Step(a * stable_sum(), a * bound.conclusion.right, Linear(((a, bound),)), "the bound of the endless phase"),
    )
    bounded = Derivation("finite stable bound", "A stable phase of any length is bounded", steps, label)
    order = a * T2 ** (1 / beta - 1)
    step = Step(exact.conclusion.left, order, OrderBetween(bounded), "of at most this order")
    return Derivation("finite stable order", "The order of a stable phase of any length", (step,), label)
