"""What may stand in a statement: functions whose poles the kernel knows, exact numbers, letters of one meaning each.

The language is closed, as the rules are: a kind of expression that is not listed here cannot be spoken of, and neither
can a class of somebody's own that says of itself what it likes.

>>> from sympy import Float, Piecewise
>>> from fsl_sym.symbols import t
>>> foreign(t**2), foreign(Piecewise((t, t < 1), (1, True)))
('', 'Piecewise is no part of the language of statements')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from sympy import (
    Abs,
    Add,
    Basic,
    Derivative,
    Dummy,
    Integral,
    MatrixExpr,
    MatrixSymbol,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    Subs,
    Sum,
    Symbol,
    Trace,
    Tuple,
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
from sympy.core.function import AppliedUndef
from sympy.core.numbers import NumberSymbol
from sympy.core.symbol import Str

_HEADS: Final = frozenset(
    {Abs, Add, Derivative, Dummy, Integral, MatrixSymbol, Max, Min, Mul, Pow, Str, Subs, Sum, Symbol, Trace, Tuple}
    | {cos, erf, exp, gamma, log, loggamma, lowergamma, polygamma, sin, stieltjes, uppergamma, zeta}
)
_OWN: Final = "fsl_sym.proof.rules.matrices"


def foreign(side: Basic) -> str:
    """Why an expression is none that a statement may be made of; "" where it is."""
    # by hand: what sympy offers does not enter the letters of a sum as letters
    waiting: list[Any] = [side]
    letters: dict[str, Symbol] = {}
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if isinstance(item, Symbol):
            known = letters.setdefault(item.name, item)
            if kind not in (Symbol, Dummy):
                return f"{item} is a letter of a class of its own"
            if known != item and {known, item} <= side.free_symbols:
                return f"two letters are named {item}: give one of them another name"
        if not (kind in _HEADS or _is_known(item, kind)):
            return f"{kind.__name__} is no part of the language of statements"
        waiting += item.args
    return ""


def _is_known(item: Basic, kind: type) -> bool:
    if isinstance(item, Rational | NumberSymbol):
        return kind.__module__ == "sympy.core.numbers"
    if isinstance(item, MatrixExpr):
        return kind.__module__.startswith("sympy.matrices.") or kind.__module__ == _OWN
    return item in (oo, -oo) or isinstance(item, AppliedUndef) and kind.__module__ is None


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
            if not (_is_of_sympy(kind) or isinstance(item, AppliedUndef) and kind.__module__ is None):
                return f"{kind.__name__} is a class of its own"
            waiting += item.args
        elif isinstance(item, tuple | list | Mapping):
            waiting += (*item, *item.values()) if isinstance(item, Mapping) else item
        elif item is not None and kind not in (int, bool):
            if kind not in known:
                return f"a {kind.__name__} is nothing that a rule may hold"
            # text stands where a class says so, a name or a reason, and nowhere else: sympy would evaluate it
            parts = ((getattr(item, part.name), part.type) for part in fields(item)) if is_dataclass(item) else ()
            waiting += [part for part, declared in parts if not (declared == "str" and type(part) is str)]
    return ""


def _is_of_sympy(kind: type) -> bool:
    return (kind.__module__ or "").startswith("sympy.") or kind.__module__ == _OWN
