"""The power-law spectrum: lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), and the sums that are made of it.

Exact sums, sharp asymptotics for infinitely many features (residues), the finite-M forms with incomplete gamma
functions, and the explicit error of those. All are up to nothing: constants included.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, count, islice
from typing import Final

from sympy import (
    Add,
    And,
    Expr,
    Ge,
    Integer,
    Integral,
    Le,
    Mul,
    Sum,
    Symbol,
    bernoulli,
    exp,
    expand,
    factorial,
    oo,
    rf,
    uppergamma,
    zeta,
)
from sympy.logic.boolalg import Boolean

from fsl_sym.algebra.equality import simplified
from fsl_sym.algebra.printing import latex
from fsl_sym.asymptotics.mellin import Expansion, harmonic_sum_asymptotics
from fsl_sym.proof import (
    Antiderivative,
    Derivation,
    Instance,
    IntegralTest,
    Interchange,
    Maximum,
    Monotone,
    Step,
    Substitution,
    SumOfBounds,
    SumToIntegral,
    lemma,
)
from fsl_sym.symbols import M, beta, j, s, t
from fsl_sym.values import as_expression, whole

X = Symbol("x", positive=True)
"""The crossover variable t/M^beta."""

_U = Symbol("u", positive=True)
_V = Symbol("v", positive=True)
_Y = Symbol("y_M", positive=True)


def eigenvalue(index: Expr = j) -> Expr:
    """lambda_j = j^-beta."""
    return as_expression(index) ** -beta


LAM: Final = eigenvalue()
"""lambda_j."""


def target_square() -> Expr:
    """theta_j^2 = j^-1 lambda_j^(s-1)."""
    return eigenvalue() ** (s - 1) / j


def decay(time: Expr) -> Expr:
    """exp(-2 lambda_j t): what is left of a mode after an intrinsic time."""
    return exp(-2 * LAM * as_expression(time))


def over_modes(summand: Expr, size: Expr = M) -> Sum:
    """The sum over the modes j = 1..M; ``size=oo`` for all.

    >>> over_modes(LAM)
    Sum(j**(-beta), (j, 1, M))
    """
    return Sum(as_expression(summand), (j, 1, as_expression(size)))


def signal(time: Expr = t, size: Expr = M) -> Sum:
    """e_M(t) = sum_{j<=M} lambda_j theta_j^2 exp(-2 lambda_j t); ``size=oo`` for e_infinity.

    Examples
    --------
    >>> from sympy import oo
    >>> signal(size=oo).limits
    ((j, 1, oo),)
    """
    return over_modes(j ** (-1 - s * beta) * decay(time), size)


def forgetting_kernel(time: Expr = t, size: Expr = M) -> Sum:
    """K_M(t) = sum_{j<=M} lambda_j^2 exp(-2 lambda_j t); ``size=oo`` for K_infinity."""
    return over_modes(j ** (-2 * beta) * decay(time), size)


def approximation_error(size: Expr = M) -> Expr:
    """delta_M = sum_{j>M} lambda_j theta_j^2 = zeta(1 + s beta, M + 1), a Hurwitz zeta function."""
    return zeta(1 + s * beta, as_expression(size) + 1)


def trace(size: Expr = oo) -> Expr:
    """tr(H): the sum of the eigenvalues, zeta(beta) for infinitely many."""
    return zeta(beta) if size == oo else over_modes(LAM, size)


def kernel_asymptotics() -> Expansion:
    """K_infinity(t) as t tends to infinity, with its sharp constant and nothing algebraic after it.

    Source: lemma labelled lemma:ke-power, with its constant.

    Examples
    --------
    >>> kernel_asymptotics().terms[0].coefficient
    2**(-2 + 1/beta)*gamma(2 - 1/beta)/beta
    """
    return harmonic_sum_asymptotics(exp(-2 * _U), _U, 2 * beta, beta, t)


def signal_asymptotics() -> Expansion:
    """e_infinity(t) as t tends to infinity: Gamma(s)/beta (2 t)^-s and nothing algebraic after it.

    Source: lemma labelled lemma:ke-power, with its constant.

    Examples
    --------
    >>> signal_asymptotics().terms[0].power
    -s
    """
    return harmonic_sum_asymptotics(exp(-2 * _U), _U, 1 + s * beta, beta, t)


@dataclass(frozen=True, slots=True)
class FiniteSize:
    """A finite-M sum against its incomplete-gamma form: ``|exact - approximation| <= error`` for every M and t > 0.

    Attributes
    ----------
    exact, approximation, error
        The sum, the integral that replaces it, and the supremum of the summand.
    window
        Where the approximation is of the order of the power law in t.
    derivation
        The steps that lead to it.
    also
        What else is shown of it.
    """

    exact: Expr
    approximation: Expr
    error: Expr
    window: Boolean
    derivation: Derivation
    also: tuple[Derivation, ...] = ()

    def crossover(self, power: Expr) -> Expr:
        """``M^power`` times the approximation, as a function of x = t/M^beta.

        Raises
        ------
        ValueError
            If M does not drop out: the power is not the one of the scaling.
        """
        scaled = simplified((self.approximation * M**power).subs(t, X * M**beta))
        if scaled.has(M):
            raise ValueError(f"M^{power} is not the scale of this sum: {scaled} still holds M")
        return scaled


def exponential_sum(order: Expr, name: str, time: Symbol, factor: Expr, source: str) -> FiniteSize:
    """``factor sum_{j<=M} j^(-1 - beta order) exp(-2 t j^-beta)`` for finite M, in three steps.

    ``order`` is the exponent of its power law in t: s for the signal, 2 - 1/beta for the kernel.

    With v = y^-beta the summand is ``v^(order + 1/beta) exp(-2 t v)``, which rises to one peak and falls, so the sum
    is the integral within that peak; with u = 2 t y^-beta the integral is an incomplete gamma function.
    """
    order, time, factor = map(as_expression, (order, time, factor))
    half = order + 1 / beta
    in_v = factor * _V**half * exp(-2 * time * _V)
    summand = factor * j ** expand(-1 - beta * order) * exp(-2 * j**-beta * time)
    exact = over_modes(summand)
    smooth = Integral(summand.subs(j, _Y), (_Y, 0, M))
    error = factor * (half / (2 * time)) ** half * exp(-half)
    lower = 2 * time * M**-beta
    scaled = Integral(factor * (2 * time) ** -order / beta * _U ** (order - 1) * exp(-_U), (_U, lower, oo))
    closed = factor * (2 * time) ** -order / beta * uppergamma(order, lower)
    primitive = -factor * (2 * time) ** -order / beta * uppergamma(order, _U)
    steps = (
        Step(
            exact,
            smooth,
            SumToIntegral(in_v, _V, _Y**-beta, Maximum(_V), error),
            f"one peak in v = y^-beta: the error is at most {error}",
        ),
        Step(smooth, scaled, Substitution(_Y, _U, (_U / (2 * time)) ** (-1 / beta)), "u = 2 t y^-beta"),
        Step(scaled, closed, Antiderivative(primitive), "the upper incomplete gamma function"),
    )
    derivation = Derivation(f"{name} finite M", f"{name} for finite M", steps, source)
    return FiniteSize(exact, closed, error, And(Ge(time, 1), Le(time, M**beta)), derivation)


def finite_kernel() -> FiniteSize:
    """K_M(t) with the crossover at t = M^beta, and its explicit error e^-2 t^-2.

    Examples
    --------
    >>> finite_kernel().approximation
    (2*t)**(-2 + 1/beta)*uppergamma(2 - 1/beta, 2*t/M**beta)/beta
    """
    return exponential_sum(2 - 1 / beta, "forgetting kernel", t, Integer(1), "lemma:ke-power")


def finite_signal() -> FiniteSize:
    """e_M(t) with the crossover at t = M^beta, and its explicit error of order t^-(s + 1/beta)."""
    return exponential_sum(s, "signal", t, Integer(1), "lemma:ke-power")


@dataclass(frozen=True, slots=True)
class TwoSided:
    """``lower <= exact <= upper``, with the common ``leading`` behaviour of both bounds."""

    exact: Expr
    lower: Expr
    upper: Expr
    leading: Expr
    from_above: Derivation
    from_below: Derivation

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {latex(self.lower)} \le {latex(self.exact)} \le {latex(self.upper)}$"


def approximation_error_asymptotics() -> TwoSided:
    """delta_M between two integrals: (M+1)^-(s beta)/(s beta) and M^-(s beta)/(s beta); both are M^-(s beta)/(s beta).

    Source: the term M^-(s beta) of the equation labelled eqn: fsl, with its constant.

    Examples
    --------
    >>> approximation_error_asymptotics().upper
    1/(M**(beta*s)*beta*s)
    """
    exponent = 1 + s * beta
    lower, upper = ((M + 1) ** (-s * beta) / (s * beta), M ** (-s * beta) / (s * beta))
    primitive = -(_Y ** (-s * beta)) / (s * beta)
    tail = _Y**-exponent
    total = Sum(j**-exponent, (j, M + 1, oo))
    above, below = Integral(tail, (_Y, M, oo)), Integral(tail, (_Y, M + 1, oo))
    below_value = lemma(below, lower, Antiderivative(primitive), "the integral from M + 1: a power of y")
    from_above = (
        Step(total, above, IntegralTest(), "the summand falls"),
        Step(above, upper, Antiderivative(primitive), "a power of y"),
    )
    from_below = (
        Step(lower, below, Instance(below_value), "a power of y"),
        Step(below, total, IntegralTest(), "the summand falls"),
    )
    title = "delta_M between two integrals"
    return TwoSided(
        approximation_error(),
        lower,
        upper,
        upper,
        Derivation("approximation error, upper bound", title, from_above, "approximation-error"),
        Derivation("approximation error, lower bound", title, from_below, "approximation-error"),
    )


def approximation_error_expansion(terms: int) -> tuple[Expr, Expr]:
    """delta_M to so many terms in 1/M by the formula of Euler and Maclaurin, and a bound of the error.

    Source: the term M^-(s beta) of the equation labelled eqn: fsl, with its constants.

    All derivatives of ``y^-(1 + s beta)`` have one sign, so that the error is at most the first term left out.

    Parameters
    ----------
    terms
        How many, at least 1.

    Returns
    -------
    expression, error
        ``|delta_M - expression| <= error`` for every M >= 1, s > 0 and beta > 1.

    Raises
    ------
    ValueError
        The number of terms is not a whole number from 1 on.

    Examples
    --------
    >>> expression, error = approximation_error_expansion(2)
    >>> print(expression, "+-", error)
    -M**(-beta*s - 1)/2 + 1/(M**(beta*s)*beta*s) +- M**(-beta*s - 2)*(beta*s/12 + 1/12)
    """
    terms = whole("terms", terms, most=1000)
    power = 1 + s * beta
    first = (M ** (-s * beta) / (s * beta), -(M**-power) / 2)
    corrections = (
        bernoulli(2 * k) / factorial(2 * k) * rf(power, 2 * k - 1) * M ** (1 - power - 2 * k) for k in count(1)
    )
    *kept, left_out = islice(chain(first, corrections), terms + 1)
    return Add(*kept), abs(left_out)


def signal_gap() -> Derivation:
    """e_infinity(t) - e_M(t), the sum of the modes beyond M, is at most M^-(s beta)/(s beta) at every t.

    >>> str(signal_gap().conclusion.right)
    '1/(M**(beta*s)*beta*s)'
    """
    fall = exp(-2 * _V * t)
    mode = lemma(fall, Integer(1), Monotone(t, -2 * _V * fall), "A mode falls from 1: it falls")
    weight = j ** (-1 - s * beta)
    decayed = weight * decay(t)
    term = lemma(decayed, weight, Instance(mode, ((_V, LAM),), weight), "the mode j")
    gap, start = (Sum(summand, (j, M + 1, oo)) for summand in (decayed, weight))
    steps = (
        Step(gap, start, SumOfBounds(term), "each mode has fallen since t = 0"),
        *approximation_error_asymptotics().from_above,
    )
    return Derivation("signal gap", "e_infinity - e_M is at most of the order of delta_M", steps, "lemma:em-gap")


def kernel_mass() -> Derivation:
    """2 int_0^infinity K_M = sum_{j<=M} lambda_j.

    >>> str(kernel_mass().conclusion.right)
    'Sum(j_0**(-beta), (j_0, 1, M))'
    """
    factors = (Integer(2), j ** (-2 * beta), decay(t))
    by_mode = over_modes(Integral(Mul(*factors), (t, 0, oo)))
    primitive = -LAM * decay(t)
    steps = (
        Step(Integral(2 * forgetting_kernel(), (t, 0, oo)), by_mode, Interchange(factors), "nonnegative terms"),
        Step(by_mode, over_modes(LAM), Antiderivative(primitive), "a mode forgets at rate 2 lambda_j"),
    )
    return Derivation("kernel mass", "The mass of the kernel", steps, "lemma:convolution-kernel")
