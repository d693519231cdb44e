"""LaTeX of an expression is sympy's, without the random numbers that sympy tries on the way."""

import pytest
import sympy
from sympy import Expr, Function, MatrixSymbol, Sum, exp
from sympy.core.random import seed

from fsl_sym.algebra.printing import latex
from fsl_sym.symbols import M, beta, j, s, t, tau

FADING = Sum(j ** (-s * beta - 1) * exp(-2 * Function("T", positive=True)(tau) / j**beta), (j, 1, M))


@pytest.mark.parametrize(
    "expression",
    [FADING, M ** (-s * beta), t**-s + M / 2, sympy.sqrt(t) / s, s > 1 - 1 / beta, MatrixSymbol("X", 2, 3).T],
)
def test_it_reads_as_sympy_writes_it(expression):
    seed(1)  # of the numbers that sympy tries: others may take hours
    assert latex(expression) == sympy.latex(expression)


def test_no_random_number_is_tried(monkeypatch):
    """Powers of random numbers may take hours."""
    monkeypatch.setattr(Expr, "_random", lambda *_, **__: pytest.fail("a random number was tried"))
    with pytest.raises(pytest.fail.Exception):
        sympy.latex(FADING)
    assert latex(FADING)


@pytest.mark.parametrize(
    "expression, written",
    [
        (20_000_000_000 / M, r"\frac{2 \cdot 10^{10}}{M}"),
        (t - 5e11 * M, r"- 5 \cdot 10^{11} M + t"),
        (sympy.Integer(10) ** 40, "10^{40}"),
        (sympy.Integer(-(10**6)), "-10^{6}"),
        ((2 * sympy.Integer(10) ** 8) ** t, r"\left(2 \cdot 10^{8}\right)^{t}"),
        (sympy.Integer(100_000), "100000"),
        (sympy.Float("0.5"), "0.5"),
    ],
)
def test_large_round_numbers_are_counted_in_powers_of_ten(expression, written):
    assert latex(expression) == written
