"""Letters that are bound in sums and integrals: their names do not count, and no letter that is put in gets bound."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from sympy import Basic, Derivative, Dummy, Expr, Integral, MatrixExpr, Sum, Symbol
from sympy.core.function import AppliedUndef

_SHOWN: Final[Mapping[type, str]] = {Sum: "jikl", Integral: "zyxu"}
"""How bound letters are called where people read them."""


def canonical(expression: Any) -> Any:
    """The expression with the letters of its sums and integrals named by their depth, so that names do not count.

    A name that stands free in the expression is not given to a letter that is bound in it.

    >>> from sympy import Integral
    >>> from fsl_sym.symbols import T, t, z
    >>> canonical(Integral(t, (t, 0, T))) == canonical(Integral(z, (z, 0, T)))
    True
    """
    if not isinstance(expression, Expr) or isinstance(expression, MatrixExpr) or not expression.has(Sum, Integral):
        return expression
    taken = [int(match[1]) for symbol in expression.free_symbols if (match := re.fullmatch(r"[jx]_(\d+)", str(symbol)))]
    first = max(taken, default=-1) + 1

    def name(item: Any, place: int) -> str:
        return ("j" if isinstance(item, Sum) else "x") + f"_{first + _depth(item.function) + place}"

    return _renamed(expression, name, Symbol)


def put(expression: Any, values: Mapping[Expr, Expr]) -> Any:
    """The expression with values put in for its free letters, all at once; no letter of a value gets bound.

    >>> from sympy import Integral
    >>> from fsl_sym.symbols import T, a, t
    >>> put(Integral(a * t, (t, 0, T)), {a: t}).free_symbols == {t, T}
    True
    """
    if not values:
        return expression
    for item in expression.atoms(Derivative):
        taken, free = set(item.variables), item.expr.free_symbols.difference(item.variables)
        if any(value.free_symbols & taken for name, value in values.items() if name.free_symbols & free):
            raise ValueError(f"in {item} no value may hold a letter by which the derivative is taken")
    bound = {limits[0] for item in expression.atoms(Sum, Integral) for limits in item.limits}
    entering = {letter for value in values.values() for letter in value.free_symbols}
    if bound & (entering | set(values)):
        expression = _renamed(expression, lambda item, place: "bound", Dummy)
    return expression.subs(values, simultaneous=True)


def readable(expression: Any) -> Any:
    """The expression with the letters of its sums and integrals called j and z, as people do, or what else is free.

    >>> from sympy import Integral
    >>> from fsl_sym.symbols import T, t
    >>> readable(canonical(Integral(t, (t, 0, T))))
    Integral(z, (z, 0, T))
    """
    if not isinstance(expression, Expr) or isinstance(expression, MatrixExpr) or not expression.has(Sum, Integral):
        return expression
    taken = {str(letter) for letter in expression.free_symbols} | {
        str(function.func) for function in expression.atoms(AppliedUndef)
    }
    letters = {kind: [letter for letter in names if letter not in taken] for kind, names in _SHOWN.items()}

    def name(item: Any, place: int) -> str:
        kind = Sum if isinstance(item, Sum) else Integral
        return letters[kind][_depth(item.function, kind) + place]

    return _renamed(expression, name, Symbol)


def _depth(expression: Basic, kind: Any = Sum | Integral) -> int:
    inner = max((_depth(part, kind) for part in expression.args), default=0)
    return inner + len(expression.limits) if isinstance(expression, kind) else inner


def _renamed(expression: Any, name: Callable[[Any, int], str], kind: Callable[..., Symbol]) -> Any:
    """Every bound letter renamed, from the inside out: what is inside has its new names before those around it get
    theirs."""
    if not isinstance(expression, Basic) or not expression.args or isinstance(expression, MatrixExpr):
        return expression
    if not isinstance(expression, Sum | Integral):
        parts = [_renamed(part, name, kind) for part in expression.args]
        changed = any(new is not old for new, old in zip(parts, expression.args, strict=True))
        return expression.func(*parts) if changed else expression
    function = _renamed(expression.function, name, kind)
    limits = [(limit[0], *(_renamed(end, name, kind) for end in limit[1:])) for limit in expression.limits]
    for place, (letter, *ends) in enumerate(limits):
        new = kind(name(expression, place), **letter.assumptions0)
        function = function.xreplace({letter: new})
        limits[place] = (new, *ends)
        for inner in range(place):
            limits[inner] = (limits[inner][0], *(end.xreplace({letter: new}) for end in limits[inner][1:]))
    return expression.func(function, *limits)
