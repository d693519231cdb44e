"""What the paper states about random features, as symbolic values, with what each statement assumes.

>>> print(TAIL_RATIO)
mu(M/2, k)/mu(M, k) <= c
"""

from __future__ import annotations

from typing import Final

from sympy import Expr, Function, Identity, Integral, MatrixSymbol, Max, Sum, Symbol, Trace, exp, oo

from fsl_num.paper.model.formulas import symmetric
from fsl_sym.proof import AllOf, Formula, Hypothesis, at_least, at_most, equals, order_at_most, same_order
from fsl_sym.random_features import (
    COLUMNS,
    FEATURES,
    GAP,
    HEAD,
    HEAD_INVERSE,
    LARGER,
    MIDDLE,
    MIDDLE_INVERSE,
    ORDER,
    REST,
    REST_INVERSE,
    SIZE,
    SMALLER,
    WEIGHT,
    WHOLE_INVERSE,
)
from fsl_sym.symbols import HALF, M, N, beta, j, s, sigma, t, z

_mu, _nu, _pi, _risk, _bias, _returned, _gamma = (Function(name) for name in ("mu", "nu", "pi", "E", "b", "G", "gamma"))
_small, _large, _most = (Symbol(name, positive=True) for name in ("c_1", "c_2", "c"))
_i = Symbol("i", integer=True, positive=True)

# ---- eigenvalues -----------------------------------------------------------------------------------------------------

MU = "mu(j) is the eigenvalue number j of W H W'"
MU_TAIL = "mu(j, k) is the eigenvalue number j of A_k = W_k:oo H_k:oo W_k:oo'"
SPLIT: Final = Symbol("k", positive=True)
EIGENVALUES: Final = AllOf((at_most(_small * j**-beta, _mu(j)), at_most(_mu(j), _large * j**-beta)))
TAIL_RATIO: Final = at_most(_mu(M / 2, SPLIT) / _mu(M, SPLIT), _most)
COLUMN_EIGENVALUE: Final = Symbol("mu_M", nonnegative=True)
_first, _second, _norm, _rest = (Symbol(name, positive=True) for name in ("T_1", "T_2", "u_0", "u_1"))
TWO_FORMS: Final = AllOf(
    (
        at_most(_first, _most * _norm**2 / t * (_mu(M / 2, SPLIT) / _mu(M, SPLIT)) ** 2),
        at_most(_second, _rest**2),
    )
)

# ---- identities between matrices -------------------------------------------------------------------------------------

DECAYED = "A_t = exp(-W'W H t)"
LEARNED = "G = (W H W')^-1, M_t = W H W' exp(-2 t W H W')"


def _square(name: str, size: Symbol = FEATURES) -> MatrixSymbol:
    return MatrixSymbol(name, size, size)


_A, _H, _S, _R = (_square(name) for name in ("A_t", "H", "S", "R"))
_W, _G, _M_t = MatrixSymbol("W", SIZE, FEATURES), _square("G", SIZE), _square("M_t", SIZE)
_u, _one = MatrixSymbol("u", FEATURES, 1), Identity(FEATURES)
_LEFT = _A.T * _H * _A
_REACHED = _H * _W.T * _G * _M_t * _G * _W * _H
TRACE: Final = equals(Trace(_S * _LEFT * _S), Sum(_mu(j) ** 2 * exp(-2 * _mu(j) * t), (j, 1, SIZE)))
PRINTED_SERIES: Final = equals(_LEFT, _REACHED)
SERIES: Final = equals(_LEFT, _REACHED + _H - _H * _W.T * _G * _W * _H)
_PI, _E = _square(r"\Pi"), _square("E")
NOT_REACHED: Final = AllOf(
    (
        equals(_LEFT, _R * (_one - _PI + _PI * _E * _E * _PI) * _R),
        at_most(Trace(_u.T * _R * (_one - _PI) * (_one - _PI) * _R * _u), Trace(_u.T * _LEFT * _u)),
    )
)


def _first_columns() -> tuple[Formula, tuple[Hypothesis, ...]]:
    """(WHW')^-1 W_0:k H_0:k = A_k^-1 W_0:k (H_0:k^-1 + W_0:k'A_k^-1 W_0:k)^-1."""
    one, small = Identity(SIZE), Identity(ORDER)
    given = (
        equals(REST * REST_INVERSE, one),
        equals(HEAD * HEAD_INVERSE, small),
        equals(MIDDLE * MIDDLE_INVERSE, small),
        equals(COLUMNS.T * REST_INVERSE * COLUMNS, MIDDLE - HEAD_INVERSE),
        equals(WHOLE_INVERSE * REST, one - WHOLE_INVERSE * COLUMNS * HEAD * COLUMNS.T),
    )
    shapes = symmetric(REST, REST_INVERSE, HEAD, HEAD_INVERSE, MIDDLE, MIDDLE_INVERSE)
    return equals(WHOLE_INVERSE * COLUMNS * HEAD, REST_INVERSE * COLUMNS * MIDDLE_INVERSE), (*given, *shapes)


FIRST_COLUMNS: Final = _first_columns()
_SMALL_TRACE, _LARGE_TRACE = (Trace(root * WEIGHT * WEIGHT * root) for root in (SMALLER, LARGER))
TRACE_ORDER: Final = AllOf(
    (
        at_most(_SMALL_TRACE, _LARGE_TRACE),
        equals(_LARGE_TRACE - _SMALL_TRACE, Trace((GAP * WEIGHT).T * (GAP * WEIGHT))),
    )
)
ROOTS: Final[tuple[Hypothesis, ...]] = (
    equals(LARGER * LARGER, SMALLER * SMALLER + GAP * GAP),
    *symmetric(SMALLER, LARGER, GAP, WEIGHT),
)

_X, _Y = _square("X"), _square("Y")
SIGNS: Final = equals(Trace((_X * _S * _u).T * _H * (_X * _S * _u)), Trace((_Y * _u).T * _H * (_Y * _u)))
"""The risk that X leaves of S u, and Y of u."""

# ---- trace inequalities ----------------------------------------------------------------------------------------------

WEIGHTED = "mu(i) are the eigenvalues of W H W', b(i) those of W H u_0u_0'H W', e(t) = e^_M(t)"
_e = Function("e")
_TRACES = Sum(exp(-2 * t * _mu(_i)) / _mu(_i) * _bias(_i), (_i, 1, M))
ONE_TARGET: Final = order_at_most(_e(t), _TRACES)
ONE_TARGET_FLOOR: Final = order_at_most(M ** (-s * beta), Sum(_mu(_i) * _nu(N + 1 - _i), (_i, 1, N)))
AVERAGED: Final = AllOf(
    (
        same_order(_TRACES, _e(t)),
        at_least(Sum(_pi(_i) * _nu(N + 1 - _i), (_i, 1, N)), Sum(_i ** (-1 - s * beta), (_i, M + 1, N))),
    )
)

# ---- risks -----------------------------------------------------------------------------------------------------------

HATS = "e(t) and K(t) have the eigenvalues of W H W' for lambda_j"
LEFT = (
    "F is kappa sum_j lambda_j theta_j^2/(lambda_j + kappa), "
    "e~ has theta_j^2 + (1/M) sum_{i<=j} theta_i^2 for theta_j^2"
)
_kernel, _leaky, _floor = Function("K"), Function("etilde"), Symbol("F", positive=True)


def _law(left: Expr | int, signal: Expr, kernel: Expr, source: Expr) -> Formula:
    """E(t) of the order of what is left, the signal, and the noise that the source injects."""
    noise = Integral(kernel * (source + sigma**2) * _gamma(z), (z, 0, t))
    return same_order(_risk(t), left + signal + noise)


HARD: Final = _law(M ** (-s * beta), (1 + t) ** -s, (1 + t - z) ** (1 / beta - 2), (1 + z) ** -s)
PRINTED_LAW: Final = _law(M ** (-s * beta), _e(t), _kernel(t - z), _e(z))
LAW: Final = _law(_floor, _leaky(t), _kernel(t - z), _leaky(z))
PRINTED_VOLTERRA: Final = _law(M ** (-s * beta), _e(t), _kernel(t - z), _risk(z))
VOLTERRA: Final = _law(_floor, _leaky(t), _kernel(t - z), _risk(z))
RECURSION: Final = _law(0, _bias(t), _returned(t - z), _risk(z))
FORCING: Final = same_order(_bias(t), _floor + _leaky(t))
_random, _top = Symbol("R_random", positive=True), Symbol("R_top", positive=True)
EASIER: Final = same_order(_random / _top, M ** (beta * Max(0, s - 1)))
_kappa, _rho = Symbol("kappa", positive=True), Symbol("rho", positive=True)
_theta_square = j ** (-1 - beta * (s - 1))
FLOOR: Final = Formula(
    _rho**2 / (_kappa * Sum(j**-beta * _theta_square / (j**-beta + _kappa), (j, 1, N))), "->", 1, M, oo
)
RIDGE: Final = (equals(Sum(j**-beta / (j**-beta + _kappa), (j, 1, N)), M),)
_spread = Function("d")
SPREAD: Final = AllOf(
    (
        same_order(_spread(s, M), M**-HALF),
        order_at_most(M ** (-1 / (2 * (1 + beta * (s - 1)))), _spread(s, M)),
    )
)
"""The first for s <= 1, the second for s > 1."""
