"""Expressions as LaTeX, in bounded time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sympy import Basic, Expr, Integer, Symbol
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE

_MOST_ZEROS: Final = 5
"""A whole number that ends with more zeros is written with a power of ten."""


@lru_cache(maxsize=16384, typed=True)  # a page of claims prints most formulas several times
def latex(expression: Basic) -> str:
    r"""Return an expression in LaTeX.

    Of a factor with a negative exponent sympy asks whether the exponent is constant, and tries random numbers, whose
    powers may take hours. Letters without assumptions have no sign to ask about, and look the same. An apostrophe is
    a prime, as beta' is a second beta. Large round numbers are counted in powers of ten.

    >>> from fsl_sym.symbols import M, beta, s
    >>> latex(M**(-s * beta))
    'M^{- \\beta s}'
    >>> latex(Symbol("beta'"))
    "{\\beta}'"
    >>> print(latex(20_000_000_000 / M), latex(Integer(10) ** 40), latex(5e11 * M))
    \frac{2 \cdot 10^{10}}{M} 10^{40} 5 \cdot 10^{11} M
    """
    letters = {
        name: Symbol(name.name.replace("'", "prime")) for name in expression.atoms(Symbol) if name.is_commutative
    }
    return str(_Printer().doprint(expression.xreplace(letters)))


class _Printer(LatexPrinter):  # type: ignore[misc] # sympy ships no types
    def parenthesize(self, item: Any, level: int, is_neg: bool = False, strict: bool = False) -> str:
        if level > PRECEDENCE["Mul"] and isinstance(item, Integer) and _zeros(item) > _MOST_ZEROS:
            return rf"\left({self._print(item)}\right)"
        return str(super().parenthesize(item, level, is_neg=is_neg, strict=strict))

    def _print_Integer(self, number: Expr) -> str:
        zeros = _zeros(number)
        if zeros <= _MOST_ZEROS:
            return str(number)
        digits = str(number)[:-zeros]
        power = f"10^{{{zeros}}}"
        return {"1": power, "-1": f"-{power}"}.get(digits, rf"{digits} \cdot {power}")

    def _print_Float(self, number: Expr) -> str:
        if number.is_finite and number % 1 == 0 and _zeros(int(number)) > _MOST_ZEROS:
            return self._print_Integer(Integer(int(number)))
        return str(super()._print_Float(number))


def _zeros(number: Any) -> int:
    return len(str(number)) - len(str(number).rstrip("0"))
