r"""The paper's names for its sums over modes: e_M(t) of the signal, K_M(t) of the noise, delta_M of what is left out.

A formula is stated with the sums, so that nothing about it hides in a name, and is read with the names.

>>> from fsl_sym.spectrum import forgetting_kernel, signal
>>> from fsl_sym.symbols import T, t
>>> print(named(signal(T - t) + 2 * forgetting_kernel(t, oo)))
2*K_\infty(t) + e_M(T - t)
"""

from __future__ import annotations

from itertools import product
from typing import Any, Final

from sympy import Expr, Function, MatrixExpr, Mul, Sum, Symbol, exp, oo

from fsl_sym.algebra.printing import latex
from fsl_sym.proof.bound_letters import canonical, readable
from fsl_sym.spectrum import forgetting_kernel, signal
from fsl_sym.symbols import M, N, beta, j, s, t

_OF_TIME: Final = tuple(
    (Function(f"{letter}_{subscript}"), made, size)
    for (letter, made), (subscript, size) in product(
        (("e", signal), ("K", forgetting_kernel)), (("M", M), (r"\infty", oo))
    )
)
_LEFT_OUT: Final = Symbol(r"\delta_M", positive=True)
_TAILS: Final = tuple(canonical(Sum(j ** (-beta * s - 1), (j, M + 1, size))) for size in (N, oo))


def named(expression: Any) -> Any:
    """The expression with the paper's names for the sums in it that have one, and its bound letters called j and z."""
    return readable(_named(expression, {}))


def written(expression: Any) -> str:
    r"""The expression in LaTeX, with the paper's names.

    >>> from fsl_sym.spectrum import signal
    >>> print(written(signal()))
    e_{M}{\left(t \right)}
    """
    return latex(named(expression))


def definitions(expression: Any) -> dict[str, str]:
    r"""The names that :func:`named` gives, and the sums that they stand for, in LaTeX.

    >>> from fsl_sym.spectrum import signal
    >>> for name, defined in definitions(signal() ** 2).items():
    ...     print(name, "=", defined)
    e_{M}{\left(t \right)} = \sum_{j=1}^{M} j^{- \beta s - 1} e^{- 2 j^{- \beta} t}
    """
    sums: dict[Expr, Sum] = {}
    _named(expression, sums)
    return {latex(name): latex(readable(defined)) for name, defined in sums.items()}


def _named(expression: Any, sums: dict[Expr, Sum]) -> Any:
    """The expression with names; what they stand for is added to ``sums``."""
    if not isinstance(expression, Expr) or isinstance(expression, MatrixExpr) or not expression.has(Sum):
        return expression
    if isinstance(expression, Sum):
        own = canonical(expression)
        if own in _TAILS:
            sums[_LEFT_OUT] = own
            return _LEFT_OUT
        time = _time(expression)
        for name, made, size in _OF_TIME:
            if time is not None and canonical(made(time, size)) == own:
                sums[name(t)] = made(t, size)
                return name(time)
    return expression.func(*(_named(part, sums) for part in expression.args))


def _time(over_modes: Sum) -> Any:
    """The time in the only exponential of a sum over modes; None where there is no one time."""
    index = over_modes.limits[0][0]
    exponentials = [factor for factor in Mul.make_args(over_modes.function) if isinstance(factor, exp)]
    times = [-exponential.args[0] * index**beta / 2 for exponential in exponentials]
    return times[0] if len(times) == 1 and not times[0].has(index) else None
