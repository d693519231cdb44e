"""Expressions as LaTeX, in bounded time."""

from __future__ import annotations

from sympy import Basic, Symbol
from sympy import latex as sympy_latex


def latex(expression: Basic) -> str:
    r"""Return an expression in LaTeX.

    Of a factor with a negative exponent sympy asks whether the exponent is constant, and tries random numbers, whose
    powers may take hours. Letters without assumptions have no sign to ask about, and look the same. An apostrophe is
    a prime, as beta' is a second beta.

    >>> from fsl_sym.symbols import M, beta, s
    >>> latex(M**(-s * beta))
    'M^{- \\beta s}'
    >>> latex(Symbol("beta'"))
    "{\\beta}'"
    """
    letters = {
        name: Symbol(name.name.replace("'", "prime")) for name in expression.atoms(Symbol) if name.is_commutative
    }
    return str(sympy_latex(expression.xreplace(letters)))
