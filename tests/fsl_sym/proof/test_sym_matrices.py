"""Identities between matrices: expressions are equal exactly where their values are, and what was told is printed."""

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

from fsl_sym.proof import MatrixIdentity, Mean, Rate, Step

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
        return ImmutableMatrix.zeros(*({n: 3, m: 2, 1: 1}[size] for size in expression.shape))
    if isinstance(expression, Transpose):
        return value(expression.arg).T
    if isinstance(expression, Trace):
        return value(expression.arg).trace()
    if isinstance(expression, MatPow | Pow):
        return value(expression.base) ** expression.exp
    if isinstance(expression, MatAdd | Add | MatMul | Mul):
        found, *values_after = (value(argument) for argument in expression.args)
        for factor in values_after:
            found = found + factor if isinstance(expression, MatAdd | Add) else found * factor
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


def held(rule: MatrixIdentity, before: Expr, after: Expr) -> bool:
    return Step(before, after, rule, "for matrices of every size").verify().holds


@pytest.mark.parametrize("pool", [SQUARES, SCALARS], ids=["matrices", "scalars"])
def test_expressions_are_equal_exactly_where_their_values_are(pool: list[Expr]) -> None:
    equal = 0
    for left, right in combinations(pool, 2):
        same = value(left) == value(right)
        equal += bool(same)
        assert held(RULES, left, right) == same, (left, right)
    assert equal >= 10


def test_a_matrix_is_no_scalar_and_shapes_count() -> None:
    assert "the other a scalar" in Step(A, Trace(A), RULES, "by words").verify().detail
    assert "shapes" in Step(W, A, RULES, "by words").verify().detail
    assert "differs by" in Step(A, 2 * A, RULES, "by words").verify().detail
    assert not held(RULES, ZeroMatrix(n, n), Identity(n))


def test_relations_are_used_until_none_applies() -> None:
    rules = MatrixIdentity(relations=(((A, A), H), ((H, A), Identity(n)), ((W.T, W), 2 * A + H)))
    assert held(rules, A * A, H)
    assert held(rules, A * A * A, Identity(n))  # A A A = H A = I
    assert held(rules, W * A * W.T * W, 2 * W * H + W * A * H)
    assert not held(rules, A * H, Identity(n))
    turned = MatrixIdentity(relations=(((A.T, A), Identity(n)),))
    assert held(turned, (A * W.T).T * (A * W.T), W * W.T) and not held(turned, A * A.T, Identity(n))


def test_means_and_rates_are_linear_and_keep_what_is_fixed() -> None:
    eps = Symbol("eps")
    rules = MatrixIdentity(
        symmetric=(H,),
        random=(x,),
        moments=(((x, x.T), H), ((x,), ZeroMatrix(n, 1)), ((x.T, A, x), 5 * Identity(1))),
        scalar_moments=((eps**2, c), (eps, Integer(0))),
    )
    assert held(rules, Mean(A * x * x.T * A + c * A), A * H * A + c * A)
    assert not held(rules, Mean(A * x * x.T * A + c * A), A * A * H + c * A)
    assert held(rules, Mean((x + eps * y) * (x + eps * y).T), H + c * y * y.T)
    assert not held(rules, Mean((x + eps * y) * (x + eps * y).T), H + c**2 * y * y.T)
    assert held(rules, Mean(3 * x + y), y)
    assert held(rules, Mean(x.T * A * x), 5 * Identity(1))
    assert held(rules, Mean(A), A)
    for unknown in (Mean(eps**3 * A), Mean(x * y.T * x * x.T), Mean(x * x.T * x * x.T)):
        assert "is not given" in Step(unknown, A, rules, "not told").verify().detail
    flow = MatrixIdentity(symmetric=(H,), derivatives=((A, A * H), (H, 2 * H), (x, y)))
    assert held(flow, Rate(A * H * x), A * H * H * x + 2 * A * H * x + A * H * y)
    assert held(flow, Rate(x.T * A.T), y.T * A.T + x.T * H * A.T)
    assert held(flow, Rate(c * W.T * W), ZeroMatrix(n, n))
    assert not held(flow, Rate(A * A), 2 * A * A * H)
    assert held(flow, Rate(A * A), A * H * A + A * A * H)


@pytest.mark.parametrize("unknown", [Trace(A) ** Symbol("k") + Trace(Identity(n)), 2 ** Trace(A)])
def test_what_cannot_be_read_is_refused_in_words(unknown: Expr) -> None:
    verdict = Step(unknown, unknown, RULES, "unreadable").verify()
    assert not verdict.holds and "the rule could not be applied" in verdict.detail


@pytest.mark.parametrize("unknown", [A ** Symbol("k"), A**-1])
def test_an_inverse_need_not_be_there(unknown: Expr) -> None:
    verdict = Step(unknown, unknown, RULES, "unreadable").verify()
    assert not verdict.holds and "no part of the language" in verdict.detail


def test_the_product_rule_meets_transposes() -> None:
    rules = MatrixIdentity(derivatives=((A, A * H),))
    assert held(rules, Rate(A * A.T), A * H * A.T + A * H.T * A.T)
    assert not held(rules, Rate(A * A.T), 2 * A * H * A.T)


def given(rule: MatrixIdentity, before: Expr, after: Expr) -> set[str]:
    verdict = Step(before, after, rule, "as told").verify()
    assert verdict.holds, verdict.detail
    return set(map(str, verdict.hypotheses)) - {"0 < n", "n is a whole number"}


def test_all_that_a_rule_was_told_and_used_is_printed() -> None:
    """A relation may bring in a letter for which another relation was told; a mean may stand in a relation."""
    nothing = ZeroMatrix(n, n)
    assert given(MatrixIdentity(relations=(((H,), nothing), ((A,), H))), A, nothing) == {"A = H", "H = 0"}
    mean = MatrixIdentity(random=(x,), moments=(((x.T, A, x), 5 * Identity(1)),))
    assert given(mean, Mean(x.T * A * x), 5 * Identity(1)) == {"A is not random", "Mean(x.T*A*x) = 5*I"}
    hidden = MatrixIdentity(random=(x,), relations=(((A,), Mean(x * x.T)),), moments=(((x, x.T), H),))
    assert {"A = Mean(x*x.T)", "Mean(x*x.T) = H"} <= given(hidden, A, H)
    moved = MatrixIdentity(relations=(((H,), Rate(A)),), derivatives=((A, nothing),))
    assert {"H = Rate(A)", "Rate(A) = 0"} <= given(moved, H, nothing)
    assert given(MatrixIdentity(), Mean(c * A), c * A) == {"0 < c", "A is not random", "c is not random"}
    assert given(MatrixIdentity(), Rate(A), nothing) == {"A is constant in time"}


def test_means_of_two_scalars_are_not_multiplied() -> None:
    """Each has the mean 0, and with one equal to the other the mean of the product is a square."""
    first, second = Symbol("e_1"), Symbol("e_2")
    rules = MatrixIdentity(scalar_moments=((first, Integer(0)), (second, Integer(0))))
    assert held(rules, Mean(first * A), ZeroMatrix(n, n))
    assert not held(rules, Mean(first * second * A), ZeroMatrix(n, n))


def test_letters_that_look_alike_are_not_alike() -> None:
    k = Symbol("k", integer=True, positive=True)
    twin, product = MatrixSymbol("A", k, k), MatrixSymbol("A H", n, n)
    for left, right in ((Trace(twin), Trace(A)), (Trace(product), Trace(A * H)), (Symbol("Trace(A)"), Trace(A))):
        assert not held(MatrixIdentity(), left, right)
    # a trace that moves, and a trace of random letters
    assert not held(MatrixIdentity(derivatives=((A, H),)), Rate(Trace(A) * A), Trace(A) * H)
    random = MatrixIdentity(random=(x,), moments=(((x, x.T), H),))
    assert not held(random, Mean(Trace(x * x.T) * x * x.T), Trace(x * x.T) * H)


L = MatrixSymbol("L", n, n)


@pytest.mark.parametrize(
    ("before", "after", "given"),
    [
        (A, H, {"relations": (((A,), H), ((A,), L))}),
        (Mean(A), H, {"random": (A,), "moments": (((A,), H), ((A,), L))}),
        (Rate(A), H, {"derivatives": ((A, L), (A, H))}),
        (Mean(2 * A), 3 * A, {"scalar_moments": ((Integer(2), Integer(3)),)}),
        (Mean(n * A), 3 * A, {"scalar_moments": ((n, Integer(3)),)}),
        (A, H, {"relations": (((A,), A * A),)}),
        (A, H, {"relations": (((), H),)}),
    ],
)
def test_what_would_be_used_and_not_printed_is_refused(before: Expr, after: Expr, given: dict[str, object]) -> None:
    """A = H where A = C, 2 has the mean 3: what was used stood among no hypotheses; and what has no end is no rule."""
    assert not Step(before, after, MatrixIdentity(**given), "given twice").verify().holds  # type: ignore[arg-type]
