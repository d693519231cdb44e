"""LaTeX of an expression is that of sympy, and comes in bounded time."""

from __future__ import annotations

import pytest
from sympy import MatrixSymbol, Sum, Symbol, exp
from sympy import latex as sympy_latex

from fsl_sym.algebra.printing import latex
from fsl_sym.symbols import M, T, beta, j, s, t

LETTERS = [Symbol(name) for name in ("M", "s", "beta")]


def test_signs_of_exponents_are_read_as_sympy_reads_them_without_assumptions() -> None:
    size, task, capacity = LETTERS
    assert latex(M ** (-s * beta)) == sympy_latex(size ** (-task * capacity)) == r"M^{- \beta s}"
    assert latex(T**-s / M) == r"\frac{T^{- s}}{M}"


def test_a_power_of_powers_takes_no_time() -> None:
    """sympy alone tries random numbers in the exponent, whose powers have millions of digits."""
    tower = M ** (-((M ** (beta**s)) ** T))
    assert latex(tower).startswith("M^{-")


@pytest.mark.parametrize(
    "expression", [exp(-2 * t), Sum(j, (j, 1, M)), MatrixSymbol("X", 2, 3), MatrixSymbol("X", 2, 3).T]
)
def test_what_has_no_such_exponent_looks_as_in_sympy(expression: object) -> None:
    assert latex(expression) == sympy_latex(expression)  # type: ignore[arg-type]
