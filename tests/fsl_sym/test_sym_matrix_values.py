"""Words of matrices against matrices of numbers: two expressions are called equal exactly where their values are."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import pytest
from sympy import (
    Add,
    Expr,
    Identity,
    ImmutableMatrix,
    Integer,
    MatAdd,
    MatMul,
    MatPow,
    MatrixSymbol,
    Mul,
    Pow,
    Rational,
    Symbol,
    Trace,
    Transpose,
    ZeroMatrix,
)

from fsl_sym.proof import MatrixIdentity, Mean, Rate

m, n = (Symbol(name, integer=True, positive=True) for name in "mn")
A, H = MatrixSymbol("A", n, n), MatrixSymbol("H", n, n)
W = MatrixSymbol("W", m, n)
x, y = MatrixSymbol("x", n, 1), MatrixSymbol("y", n, 1)
c = Symbol("c", positive=True)

NUMBERS = {
    A: ImmutableMatrix([[1, 2, 5], [-3, 4, 1], [2, -1, 3]]),
    H: ImmutableMatrix([[2, 1, -1], [1, 3, 4], [-1, 4, 7]]),
    W: ImmutableMatrix([[1, -2, 3], [4, 1, -7]]),
    x: ImmutableMatrix([1, 2, -3]),
    y: ImmutableMatrix([3, -1, 5]),
}
RULES = MatrixIdentity(symmetric=(H,))


@cache
def value(expression: Expr) -> Expr:
    """The matrix or the number of an expression, by the definitions of sum, product, transpose and trace."""
    if expression in NUMBERS:
        return NUMBERS[expression]
    if isinstance(expression, Identity):
        return ImmutableMatrix.eye({n: 3, m: 2, 1: 1}[expression.shape[0]])
    if isinstance(expression, ZeroMatrix):
        return ImmutableMatrix.zeros(*({n: 3, m: 2, 1: 1}[each] for each in expression.shape))
    if isinstance(expression, Transpose):
        return value(expression.arg).T
    if isinstance(expression, Trace):
        return value(expression.arg).trace()
    if isinstance(expression, MatPow | Pow):
        return value(expression.base) ** expression.exp
    if isinstance(expression, MatAdd | Add | MatMul | Mul):
        found, *rest = (value(each) for each in expression.args)
        for each in rest:
            found = found + each if isinstance(expression, MatAdd | Add) else found * each
        return found
    return expression.subs(c, Rational(2, 3))


SQUARES = [
    A, A.T, H, H.T, A * H, H * A, (A * H).T, H * A.T, A + H, (A + H).T, A * A, A**2, A**3, A * A * A.T,
    (A + H) * (A - H), A * A - A * H + H * A - H * H, c * A, A * c / 2 + c * A / 2, W.T * W, (W.T * W).T, H * W.T * W,
    x * y.T, y * x.T, x * y.T * A * x * y.T, Trace(y.T * A * x) * x * y.T, Trace(x.T * A * x) * x * y.T,
    x * y.T * A * x * y.T * H * x * y.T, Trace(y.T * A * x) * Trace(x.T * H * y) * x * y.T,
    Identity(n), 2 * Identity(n) - Identity(n), ZeroMatrix(n, n), A - A, -A, A * Identity(n),
]  # fmt: skip

SCALARS = [
    Trace(A), Trace(A.T), 2 * Trace(A), Trace(A) ** 2, Trace(A * A), Trace(A * A.T), Trace(A.T * A), Trace(A * H),
    Trace(H * A), Trace(A.T * H), Trace(A * H * A), Trace(A * A * H), Trace(A.T * H * A), Trace(A * A.T * H),
    Trace(x.T * A * y), Trace(y.T * A.T * x), Trace(y.T * A * x), Trace(A * y * x.T), Trace(x * y.T), Trace(x.T * y),
    Trace(x * y.T * A * x * y.T), Trace(x.T * y) * Trace(y.T * A * x), Trace(W.T * W), Trace(W * W.T),
    Trace(W * A * W.T),
    Trace(W * H * W.T * W * W.T), Trace(W.T * W * W.T * W * H), Trace((A + H) * (A + H)),
    Trace(A * A) + 2 * Trace(A * H) + Trace(H * H), Trace(x.T * A * y) - Trace(y.T * A * x), c + Integer(1) / 2,
    Trace(Identity(1)) / 2 + c, Trace(Identity(1)), Trace(x.T * H * x) * Trace(y.T * H * y), Trace(x.T * H * y) ** 2,
    Trace(x * x.T * H * y * y.T * H), Trace(x.T * y * y.T * H * x), Trace(c * A) / c,
]  # fmt: skip


@pytest.mark.parametrize("pool", [SQUARES, SCALARS], ids=["matrices", "scalars"])
def test_expressions_are_equal_exactly_where_their_values_are(pool: list[Expr]) -> None:
    equal = 0
    for left, right in combinations(pool, 2):
        same = value(left) == value(right)
        equal += bool(same)
        assert RULES.check(left, right).holds == same, (left, right)
    assert equal >= 10


def test_a_matrix_is_no_scalar_and_shapes_count() -> None:
    assert "the other a scalar" in RULES.check(A, Trace(A)).detail
    assert "shapes" in RULES.check(W, A).detail
    assert "differs by" in RULES.check(A, 2 * A).detail
    assert not RULES.check(ZeroMatrix(n, n), Identity(n)).holds


def test_relations_are_used_until_none_applies() -> None:
    rules = MatrixIdentity(relations=(((A, A), H), ((H, A), Identity(n)), ((W.T, W), 2 * A + H)))
    assert rules.check(A * A, H).holds
    assert rules.check(A * A * A, Identity(n)).holds  # A A A = H A = I
    assert rules.check(W * A * W.T * W, 2 * W * H + W * A * H).holds
    assert not rules.check(A * H, Identity(n)).holds
    turned = MatrixIdentity(relations=(((A.T, A), Identity(n)),))
    assert turned.check((A * W.T).T * (A * W.T), W * W.T).holds and not turned.check(A * A.T, Identity(n)).holds


def test_means_and_rates_are_linear_and_keep_what_is_fixed() -> None:
    eps = Symbol("eps")
    rules = MatrixIdentity(
        symmetric=(H,),
        random=(x,),
        moments=(((x, x.T), H), ((x,), ZeroMatrix(n, 1)), ((x.T, A, x), 5 * Identity(1))),
        scalar_moments=((eps**2, c), (eps, Integer(0))),
    )
    assert rules.check(Mean(A * x * x.T * A + c * A), A * H * A + c * A).holds
    assert not rules.check(Mean(A * x * x.T * A + c * A), A * A * H + c * A).holds
    assert rules.check(Mean((x + eps * y) * (x + eps * y).T), H + c * y * y.T).holds
    assert not rules.check(Mean((x + eps * y) * (x + eps * y).T), H + c**2 * y * y.T).holds
    assert rules.check(Mean(3 * x + y), y).holds
    assert rules.check(Mean(x.T * A * x), 5 * Identity(1)).holds
    assert rules.check(Mean(A), A).holds
    with pytest.raises(ValueError, match="the mean of .* is not given"):
        rules.check(Mean(eps**3 * A), A)
    with pytest.raises(ValueError, match="the mean of .* is not given"):
        rules.check(Mean(x * y.T * x * x.T), A)
    flow = MatrixIdentity(symmetric=(H,), derivatives=((A, A * H), (H, 2 * H), (x, y)))
    assert flow.check(Rate(A * H * x), A * H * H * x + 2 * A * H * x + A * H * y).holds
    assert flow.check(Rate(x.T * A.T), y.T * A.T + x.T * H * A.T).holds
    assert flow.check(Rate(c * W.T * W), ZeroMatrix(n, n)).holds
    assert not flow.check(Rate(A * A), 2 * A * A * H).holds
    assert flow.check(Rate(A * A), A * H * A + A * A * H).holds


@pytest.mark.parametrize("unknown", [A ** Symbol("k"), A**-1, Trace(A) ** Symbol("k") + Trace(Identity(n))])
def test_what_cannot_be_read_is_refused_in_words(unknown: Expr) -> None:
    with pytest.raises(ValueError, match="no sum or product|trace of the identity"):
        RULES.check(unknown, unknown)


def test_a_trace_inside_a_function_cannot_be_read() -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        RULES.check(2 ** Trace(A), Integer(1))
