"""What may stand in a statement: functions whose poles the kernel knows, exact numbers, letters of one meaning each.

The language is closed, as the rules are: a kind of expression that is not listed here cannot be spoken of, and neither
can a class of somebody's own that says of itself what it likes.

>>> from sympy import Float, Piecewise
>>> from fsl_sym.symbols import t
>>> foreign(t**2), foreign(Piecewise((t, t < 1), (1, True)))
('', 'Piecewise is no part of the language of statements')
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Final

from sympy import (
    Abs,
    Add,
    Basic,
    Derivative,
    Dummy,
    Function,
    Identity,
    Integral,
    MatAdd,
    MatMul,
    MatPow,
    MatrixExpr,
    MatrixSymbol,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    Sum,
    Symbol,
    Trace,
    Transpose,
    Tuple,
    ZeroMatrix,
    cos,
    erf,
    exp,
    gamma,
    log,
    loggamma,
    lowergamma,
    oo,
    polygamma,
    sin,
    stieltjes,
    uppergamma,
    zeta,
)
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.core.numbers import NumberSymbol
from sympy.core.relational import Relational
from sympy.core.symbol import Str
from sympy.logic.boolalg import Boolean

from fsl_sym.values import FrozenMapping

_HEADS: Final = frozenset(
    {Abs, Add, Derivative, Dummy, Integral, MatrixSymbol, Max, Min, Mul, Pow, Str, Sum, Symbol, Trace, Tuple}
    | {cos, erf, exp, gamma, log, loggamma, lowergamma, polygamma, sin, stieltjes, uppergamma, zeta}
)
_MATRICES: Final = frozenset({Identity, MatAdd, MatMul, MatrixSymbol, Transpose, ZeroMatrix})
_OWN: Final = "fsl_sym.proof.rules.matrices"


def foreign(side: Basic) -> str:
    """Why an expression is none that a statement may be made of; "" where it is."""
    # by hand: what sympy offers does not enter the letters of a sum as letters
    waiting: list[Any] = [side]
    letters: dict[str, Any] = {}
    for letter in side.free_symbols:
        if isinstance(letter, Symbol | MatrixSymbol) and letters.setdefault(letter.name, letter) != letter:
            return f"two letters are named {letter}: give one of them another name"
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if fault := _fault(item, kind):
            return fault
        waiting += item.args
    return ""


def _fault(item: Basic, kind: Any) -> str:
    """Why an expression is none of the language, whatever its parts are; "" where it is."""
    if isinstance(item, Symbol):
        if kind not in (Symbol, Dummy):
            return f"{item} is a letter of a class of its own"
        return "" if _is_number(item) else f"{item} is not declared to be a finite number of the complex plane"
    if isinstance(item, AppliedUndef):
        plain = type(kind) is UndefinedFunction and _as_made(kind) == _as_made(Function(item.name, **kind._kwargs))
        if not plain or kind.__bases__ != (AppliedUndef,):
            return f"{item.func} is a function with methods or properties of its own"
        return "" if _is_number(Symbol("value", **kind._kwargs)) else f"the values of {item.func} need not be numbers"
    return (
        "" if kind in _HEADS or _is_known(item, kind) else f"{kind.__name__} is no part of the language of statements"
    )


def _is_number(letter: Symbol) -> bool:
    """Whether a letter stands for a finite number: not for an infinity, nor for what does not commute, nor for a point
    of the surface on which logarithms have one value."""
    known = letter.assumptions0
    extended = any(value for name, value in known.items() if name.startswith("extended_"))
    infinite = known.get("infinite") or extended and not known.get("finite")
    return bool(known["commutative"] and not known.get("polar") and not infinite)


def _as_made(function: Any) -> dict[str, Any]:
    """What a function without a definition has of its own, the number of its arguments aside."""
    return {name: value for name, value in vars(function).items() if name != "_nargs"}


def _is_known(item: Basic, kind: type) -> bool:
    if isinstance(item, Rational | NumberSymbol):
        return kind.__module__ == "sympy.core.numbers"
    if isinstance(item, MatPow):  # an inverse need not be there
        return kind is MatPow and bool(item.exp.is_Integer and item.exp >= 0)
    if isinstance(item, MatrixExpr):
        return kind in _MATRICES or kind.__module__ == _OWN
    return item in (oo, -oo)


def strange(value: Any, known: frozenset[type]) -> str:
    """Why something that a rule holds is of a kind that the kernel does not know; "" where all of it is."""
    waiting: list[Any] = [value]
    # what stands in a thousand places is looked at once; kept, so that its place stays its own
    seen: dict[int, Any] = {}
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen[id(item)], kind = item, type(item)
        if isinstance(item, Basic):
            relation = isinstance(item, Relational | Boolean) and (kind.__module__ or "").startswith("sympy.")
            if not relation and (fault := _fault(item, kind)):
                return fault
            waiting += item.args
        elif kind in (tuple, FrozenMapping):  # what may change could be one thing when asked and another when checked
            waiting += (*item, *item.values()) if kind is FrozenMapping else item
        elif item is not None and kind not in (int, bool):
            if kind not in known:
                return f"a {kind.__name__} is nothing that a rule may hold"
            # text stands where a class says so, a name or a reason, and nowhere else: sympy would evaluate it
            parts = ((getattr(item, part.name), part.type) for part in fields(item)) if is_dataclass(item) else ()
            waiting += [part for part, declared in parts if not (declared == "str" and type(part) is str)]
    return ""
