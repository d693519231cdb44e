"""LaTeX in bounded time: no letter is asked for its sign."""

import pytest
from sympy import Expr, Symbol

from fsl_sym.algebra.printing import latex
from fsl_sym.symbols import M, beta, s


def test_letters_look_the_same_and_no_random_number_is_tried(monkeypatch):
    monkeypatch.setattr(Expr, "_random", lambda *_, **__: pytest.fail("a random number was tried"))
    assert latex(M ** (-s * beta)) == r"M^{- \beta s}"
    assert latex(1 / (1 + M ** (-s * beta))) == r"\frac{1}{1 + M^{- \beta s}}"
    swapped = Symbol("A", commutative=False) * Symbol("B", commutative=False)
    assert latex(swapped) == "A B"
