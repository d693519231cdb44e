"""Words of matrices: equal ones are found equal, different ones are not, and nothing is taken for granted."""

import pytest
from sympy import Identity, Integer, MatrixSymbol, Symbol, Trace

from fsl_sym.proof import MatrixIdentity, Mean, Rate, Step

m, n = (Symbol(name, integer=True, positive=True) for name in "mn")
A, H = MatrixSymbol("A", n, n), MatrixSymbol("H", n, n)
W = MatrixSymbol("W", m, n)
x, y = MatrixSymbol("x", n, 1), MatrixSymbol("y", n, 1)
c, eps = Symbol("c"), Symbol("eps")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (A * (H + A), A * H + A * A),
        ((A * H).T, H * A.T),
        (Trace(A * H * x * y.T), Trace(y.T * A * H * x)),
        (Trace(x.T * A * y), Trace(y.T * A.T * x)),
        (Trace(x * y.T * A * x * y.T), Trace(y.T * x) * Trace(y.T * A * x)),
        (x * y.T * A * x * y.T, Trace(y.T * A * x) * x * y.T),
        (c * A / (c + 1) + A / (c + 1), A),
        (Trace(Identity(1)) / 2 + c, c + Integer(1) / 2),
    ],
)
def test_equal_words(left, right):
    assert MatrixIdentity(symmetric=(H,)).check(left, right).holds


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (A * H, H * A),
        (A.T, A),
        (Trace(A * A.T), Trace(A * A)),
        (Trace(A * H * A), Trace(A.T * H * A)),
        (A * A, A),
        (A + H, A - H),
        (c * A, A),
        (Trace(A) ** 2, Trace(A * A)),
        (W.T * W * H, H * W.T * W),
        (W * H, Trace(H)),
        (W, H),
    ],
)
def test_different_words(left, right):
    assert not MatrixIdentity(symmetric=(H,)).check(left, right).holds


def test_the_product_rule_meets_transposes():
    rules = MatrixIdentity(derivatives=((A, A * H),))
    assert rules.check(Rate(A * A.T), A * H * A.T + A * H.T * A.T).holds
    assert not rules.check(Rate(A * A.T), 2 * A * H * A.T).holds


def test_a_mean_that_is_not_given_is_refused():
    rules = MatrixIdentity(symmetric=(H,), random=(x,), moments=(((x, x.T), H),), scalar_moments=((eps**2, c),))
    assert rules.check(Mean(eps**2 * A * x * x.T * W.T), c * A * H * W.T).holds
    for unknown in (x, x * x.T * x * x.T, eps * x * x.T):
        assert not Step(Mean(unknown), Mean(unknown), "identity", "unknown", rules).verify().holds
