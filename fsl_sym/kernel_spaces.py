r"""Capacity, source and the spaces H^r: finite traces, coefficients of the target, nesting, the reproducing kernel.

H^r holds the functions sum_j a_j e_j for which sum_j a_j^2/lambda_j^r is finite; lambda_j = j^-beta, and the target has
a_j^2 = lambda_j theta_j^2 = j^-1 lambda_j^s.
"""

from __future__ import annotations

from typing import Final

from sympy import Expr, Identity, Integer, Integral, MatrixSymbol, Sum, Symbol, Trace, exp, log, sqrt

from fsl_sym.proof import (
    Antiderivative,
    Derivation,
    Instance,
    IntegralTest,
    MatrixIdentity,
    Mean,
    Monotone,
    Step,
    Termwise,
    chains,
    lemma,
)
from fsl_sym.proof import Identity as Same
from fsl_sym.spectrum import eigenvalue, target_square
from fsl_sym.symbols import beta, j, s

DELTA: Final = Symbol("delta", positive=True)
LAST: Final = Symbol("J", integer=True, positive=True)
_Y = Symbol("y_J", positive=True)
_X = Symbol("x", positive=True)
_FEATURES = Symbol("N", integer=True, positive=True)
VALUES, INVERSE = (MatrixSymbol(name, _FEATURES, _FEATURES) for name in (r"\Lambda", "L"))
"""diag(lambda_j), and its inverse."""
AT, DRAWN, FUNCTION = (MatrixSymbol(name, _FEATURES, 1) for name in ("e_x", "e", "c"))
"""The standardised features at a point x and at a random one, and the coefficients of a function in them."""


def coefficient_derivation() -> Derivation:
    """The coefficient of the target on the standardised feature, up to its sign.

    >>> coefficient_derivation().conclusion.right
    j**(-beta*s/2 - 1/2)
    """
    own = sqrt(target_square()) * sqrt(eigenvalue())
    steps = (
        Step(own, eigenvalue() ** (s / 2) / sqrt(j), Same(), "phi_j = lambda_j^(1/2) times a standardised feature"),
        Step(
            eigenvalue() ** (s / 2) / sqrt(j),
            j ** (-s * beta / 2 - Integer(1) / 2),
            Same(),
            "powers of j are collected",
        ),
    )
    return Derivation("coefficients", "The coefficients of the target", steps, "ass:source")


def _falling_sum(exponent: Expr) -> tuple[Step, ...]:
    """sum_{j=2}^J j^-(1 + exponent) <= 1/exponent, for a positive exponent."""
    tail = Sum(j ** (-1 - exponent), (j, 2, LAST))
    integral = Integral(_Y ** (-1 - exponent), (_Y, 1, LAST))
    value = 1 / exponent - LAST ** (-exponent) / exponent
    return (
        Step(tail, integral, IntegralTest(), "the summand falls"),
        Step(integral, value, Antiderivative(-(_Y**-exponent) / exponent), "a power"),
        Step(value, 1 / exponent, Monotone(LAST, LAST ** (-exponent - 1)), "whatever the number of terms"),
    )


def _harmonic_sum() -> tuple[Step, ...]:
    """log(J + 1) <= sum_{j<=J} 1/j, which has no bound."""
    integral = Integral(1 / _Y, (_Y, 1, LAST + 1))
    value = lemma(integral, log(LAST + 1), Antiderivative(log(_Y)), "the integral of 1/y: a logarithm")
    return (
        Step(log(LAST + 1), integral, Instance(value), "a logarithm has no bound"),
        Step(integral, Sum(1 / j, (j, 1, LAST)), IntegralTest(), "the summand falls"),
    )


def trace_derivation() -> tuple[Derivation, ...]:
    """tr H <= 1 + 1/(beta - 1) for every number of features, and at beta = 1 it is at least log(N + 1).

    >>> all(derivation.verify().holds for derivation in trace_derivation())
    True
    """
    excess = Symbol("beta'", positive=True)
    steps = (
        *_falling_sum(excess),
        *_harmonic_sum(),
    )
    return chains("trace", "The trace without its first term", steps, "ass:capacity")


def source_derivation() -> tuple[Derivation, ...]:
    """f* lies in H^r for r = s - delta, with a squared norm of at most 1 + 1/(beta delta), and not in H^s.

    >>> [derivation.conclusion.relation for derivation in source_derivation()]
    ['<=', '<=']
    """
    below, at = (eigenvalue() * target_square() / eigenvalue() ** order for order in (s - DELTA, s))
    falling, harmonic = _falling_sum(beta * DELTA), _harmonic_sum()
    steps = (
        Step(Sum(below, (j, 2, LAST)), falling[0].before, Termwise(), "r = s - delta"),
        *falling,
        *harmonic,
        Step(harmonic[-1].after, Sum(at, (j, 1, LAST)), Termwise(), "r = s"),
    )
    return chains("source", "The target in H^r", steps, "assump:source-kernel")


def nesting_derivation() -> tuple[Derivation, ...]:
    """A norm of lower order is at most lambda_1^(difference of the orders) times one of higher order, term by term."""
    low, size, value = Symbol("r_2", nonnegative=True), Symbol("a_j", positive=True), Symbol("lambda_j", positive=True)
    mode = exp(-DELTA * _X)
    steps = (
        Step(size**2 / value**low, value**DELTA * (size**2 / value ** (low + DELTA)), Same(), "r_1 = r_2 + delta"),
        Step(mode, Integer(1), Monotone(_X, -DELTA * mode), "(lambda_j/lambda_1)^delta at lambda_j = lambda_1 exp(-x)"),
    )
    return chains("nesting", "H^r_1 inside H^r_2 for r_1 > r_2", steps, "appendix_rkhs")


def kernel_derivation() -> tuple[Derivation, ...]:
    """The kernel of the features reproduces, and its operator has the eigenvalues lambda_j.

    >>> all(derivation.verify().holds for derivation in kernel_derivation())
    True
    """
    identity = Identity(INVERSE.shape[0])
    reproduced = MatrixIdentity(symmetric=(VALUES, INVERSE), relations=(((INVERSE, VALUES), identity),))
    drawn = MatrixIdentity(symmetric=(VALUES,), random=(DRAWN,), moments=(((DRAWN, DRAWN.T), identity),))
    steps = (
        Step(
            Trace(FUNCTION.T * INVERSE * (VALUES * AT)),
            Trace(AT.T * FUNCTION),
            reproduced,
            "<f, K(x,.)> with <f, g> = sum_j c_j d_j/lambda_j is f(x)",
        ),
        Step(
            Mean(AT.T * VALUES * DRAWN * DRAWN.T * FUNCTION),
            AT.T * (VALUES * FUNCTION),
            drawn,
            "E K(.,x) f(x) multiplies the coefficients by lambda_j",
        ),
    )
    return chains("kernel", "The kernel of the features", steps, "appendix_rkhs")


def richer_derivation() -> tuple[Derivation, ...]:
    """A slower decay of the eigenvalues gives a larger H_K: lambda_j^-1 = j^beta falls with beta.

    >>> all(derivation.verify().holds for derivation in richer_derivation())
    True
    """
    energy, slower = Symbol("a_j", positive=True) ** 2, Symbol("delta", positive=True)
    weight = exp(-slower * _X)
    steps = (
        Step(energy * j**beta, j**-slower * (energy * j ** (beta + slower)), Same(), "beta against beta + delta"),
        Step(weight, Integer(1), Monotone(_X, -slower * weight), "j^-delta at j = exp(x)"),
    )
    return chains("richer", "A smaller beta gives a larger space", steps, "assump:capacity-kernel")
