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
