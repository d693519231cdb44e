r"""Capacity, source and the spaces H^r: finite traces, coefficients of the target, nesting, the reproducing kernel.

H^r holds the functions sum_j a_j e_j for which sum_j a_j^2/lambda_j^r is finite; lambda_j = j^-beta, and the target has
a_j^2 = lambda_j theta_j^2 = j^-1 lambda_j^s.
"""

from __future__ import annotations

from typing import Final

from sympy import Expr, Identity, Integer, Integral, MatrixSymbol, Sum, Symbol, Trace, exp, log, sqrt

from fsl_sym.bounds import IntegralTest, Monotone
from fsl_sym.derivation import Derivation, Step
from fsl_sym.justifications import Antiderivative
from fsl_sym.justifications import Identity as Same
from fsl_sym.matrix_words import MatrixIdentity, Mean
from fsl_sym.spectrum import eigenvalue, target_square
from fsl_sym.symbols import beta, j, s

DELTA: Final = Symbol("delta", positive=True)
LAST: Final = Symbol("J", integer=True, positive=True)
_Y = Symbol("y_J", positive=True)
_X = Symbol("x", positive=True)


def coefficient_derivation() -> Derivation:
    """The coefficient of the target on the standardised feature, up to its sign.

    >>> coefficient_derivation().conclusion
    j**(-beta*s/2 - 1/2)
    """
    own = sqrt(target_square()) * sqrt(eigenvalue())
    steps = (
        Step(own, eigenvalue() ** (s / 2) / sqrt(j), "identity", "phi_j = lambda_j^(1/2) times a standardised feature",
             Same()),
        Step(eigenvalue() ** (s / 2) / sqrt(j), j ** (-s * beta / 2 - Integer(1) / 2), "identity",
             "powers of j are collected", Same()),
    )  # fmt: skip
    return Derivation("coefficients", "The coefficients of the target", steps, ("s > 0", "beta > 1"), "ass:source")


def _falling_sum(exponent: Expr) -> tuple[Step, ...]:
    """sum_{j=2}^J j^-(1 + exponent) <= 1/exponent, for a positive exponent."""
    tail = Sum(j ** (-1 - exponent), (j, 2, LAST))
    integral = Integral(_Y ** (-1 - exponent), (_Y, 1, LAST))
    value = 1 / exponent - LAST ** (-exponent) / exponent
    return (
        Step(tail, integral, "bound", "the summand falls", IntegralTest(), True),
        Step(integral, value, "integral", "a power", Antiderivative(-(_Y**-exponent) / exponent)),
        Step(value, 1 / exponent, "bound", "whatever the number of terms", Monotone(LAST, LAST ** (-exponent - 1))),
    )


def trace_derivation() -> Derivation:
    """tr H <= 1 + 1/(beta - 1) for every number of features, and at beta = 1 it is at least log(N + 1).

    >>> trace_derivation().verify().holds
    True
    """
    excess = Symbol("beta'", positive=True)
    at_one = Integral(1 / _Y, (_Y, 1, LAST + 1))
    steps = (
        *_falling_sum(excess),
        Step(at_one, Sum(1 / j, (j, 1, LAST)), "bound", "beta = 1: the summand falls", IntegralTest(), True),
        Step(at_one, log(LAST + 1), "integral", "which has no bound", Antiderivative(log(_Y)), True),
    )
    return Derivation("trace", "The trace without its first term", steps, ("beta = 1 + beta'", "beta' > 0"),
                      "ass:capacity")  # fmt: skip


def source_derivation() -> Derivation:
    """f* lies in H^r for r = s - delta, with a squared norm of at most 1 + 1/(beta delta), and not in H^s.

    >>> source_derivation().steps[0].after
    j**(-beta*delta - 1)
    """
    energy = eigenvalue() * target_square()
    at_s = Integral(1 / _Y, (_Y, 1, LAST + 1))
    steps = (
        Step(energy / eigenvalue() ** (s - DELTA), j ** (-1 - beta * DELTA), "identity", "r = s - delta", Same()),
        *_falling_sum(beta * DELTA),
        Step(energy / eigenvalue() ** s, 1 / j, "identity", "r = s", Same(), True),
        Step(at_s, Sum(1 / j, (j, 1, LAST)), "bound", "the summand falls", IntegralTest(), True),
        Step(at_s, log(LAST + 1), "integral", "which has no bound", Antiderivative(log(_Y)), True),
    )
    return Derivation("source", "The target in H^r", steps, ("0 < delta <= s",), "assump:source-kernel")


def nesting_derivation() -> Derivation:
    """A norm of lower order is at most lambda_1^(difference of the orders) times one of higher order, term by term."""
    low, size, value = Symbol("r_2", nonnegative=True), Symbol("a_j", positive=True), Symbol("lambda_j", positive=True)
    mode = exp(-DELTA * _X)
    steps = (
        Step(size**2 / value**low, value**DELTA * (size**2 / value ** (low + DELTA)), "identity",
             "r_1 = r_2 + delta", Same()),
        Step(mode, Integer(1), "bound", "(lambda_j/lambda_1)^delta at lambda_j = lambda_1 exp(-x)",
             Monotone(_X, -DELTA * mode), True),
    )  # fmt: skip
    return Derivation("nesting", "H^r_1 inside H^r_2 for r_1 > r_2", steps, ("r_1 > r_2 >= 0",), "appendix_rkhs")


def kernel_derivation() -> Derivation:
    """The kernel of the features is positive semidefinite, reproduces, and its operator has the eigenvalues lambda_j.

    >>> kernel_derivation().verify().holds
    True
    """
    points, features = Symbol("n", integer=True, positive=True), Symbol("N", integer=True, positive=True)
    phi, scale = MatrixSymbol(r"\Phi", points, features), MatrixSymbol("a", points, 1)
    own, inverse = MatrixSymbol(r"\Lambda", features, features), MatrixSymbol("L", features, features)
    value, function = MatrixSymbol("e", features, 1), MatrixSymbol("c", features, 1)
    at = MatrixSymbol("e_x", features, 1)
    plain = MatrixIdentity()
    reproduced = MatrixIdentity(symmetric=(own, inverse), relations=(((inverse, own), Identity(features)),))
    drawn = MatrixIdentity(symmetric=(own,), random=(value,), moments=(((value, value.T), Identity(features)),))
    steps = (
        Step(Trace(scale.T * (phi * phi.T) * scale), Trace((phi.T * scale).T * (phi.T * scale)), "identity",
             "a square: the kernel is positive semidefinite", plain),
        Step(Trace(function.T * inverse * (own * at)), Trace(at.T * function), "identity",
             "<f, K(x,.)> with <f, g> = sum_j c_j d_j/lambda_j is f(x)", reproduced, True),
        Step(Mean(at.T * own * value * value.T * function), at.T * (own * function), "identity",
             "E K(.,x) f(x) multiplies the coefficients by lambda_j", drawn, True),
    )  # fmt: skip
    return Derivation("kernel", "The kernel of the features", steps, ("E e e' = I", "L Lambda = I"), "appendix_rkhs")


def richer_derivation() -> Derivation:
    """A slower decay of the eigenvalues gives a larger H_K: lambda_j^-1 = j^beta falls with beta.

    >>> richer_derivation().verify().holds
    True
    """
    energy, slower = Symbol("a_j", positive=True) ** 2, Symbol("delta", positive=True)
    weight = exp(-slower * _X)
    steps = (
        Step(energy * j**beta, j**-slower * (energy * j ** (beta + slower)), "identity", "beta against beta + delta",
             Same()),
        Step(weight, Integer(1), "bound", "j^-delta at j = exp(x)", Monotone(_X, -slower * weight), True),
    )  # fmt: skip
    return Derivation("richer", "A smaller beta gives a larger space", steps, ("one basis e_j",),
                      "assump:capacity-kernel")  # fmt: skip
