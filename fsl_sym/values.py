"""Values that come in are numbers and expressions, never text to be evaluated; values that are kept cannot change.

sympy evaluates text as a program. What a caller gives therefore passes :func:`as_expression` before sympy sees it.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, Final, TypeVar

from sympy import Basic, Float, Rational, Symbol, nan, sympify, zoo

_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)|[+-]?\d+/\d*[1-9]\d*")


def _with_plain_minus(text: str) -> str:
    return text.strip().replace("\u2212", "-")


def exact(value: Any) -> Rational:
    """The value as an exact rational: an integer, a fraction, or text such as "1/2" or "0.25" that is read as a number.

    TypeError for a float or anything that is not a rational number; text is never evaluated.

    >>> exact("1/2"), exact("0.25")
    (1/2, 1/4)
    """
    if isinstance(value, float | Float):
        raise TypeError(
            f'{value!r} is a float: exact rationals are needed here, write for example "1/2" or Rational(1, 2)'
        )
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = Fraction(value.strip())
    if isinstance(value, Rational):
        return value
    if isinstance(value, numbers.Rational) and not isinstance(value, bool):
        return Rational(int(value.numerator), int(value.denominator))
    if isinstance(value, str) and _NUMBER.fullmatch(plain := _with_plain_minus(value)):
        raise TypeError(f"{value!r} has the minus sign of a printed text: write {plain!r}, with that of the keyboard")
    needed = 'an exact rational number: give an integer, a fraction, or text such as "1/2"'
    raise TypeError(f"{_shortened(value)} is not {needed}")


def instance_of(name: str, value: Any, kind: type) -> None:
    """Refuse a value that is not of the class that is needed: TypeError with what was given and where to get one.

    >>> instance_of("rates", 3, list)
    Traceback (most recent call last):
    TypeError: rates must be a list (see help(list)), got 3, of type int
    """
    if not isinstance(value, kind):
        needed = kind.__name__
        raise TypeError(f"{name} must be a {needed} (see help({needed})), got {_described(value)}")


def _described(value: Any) -> str:
    """What was given, in a line: cut short where it is long, with its type."""
    return f"{_shortened(value)}, of type {type(value).__name__}"


def _shortened(value: Any) -> str:
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 60 else shown[:57] + "..."


def flag(name: str, value: Any) -> bool:
    """Return True or False; TypeError for anything else.

    >>> flag("free_final", 1)
    Traceback (most recent call last):
    TypeError: free_final must be True or False, got 1, of type int
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {_described(value)}")
    return value


def whole(name: str, value: Any, *, least: int = 1, most: int = 10**6) -> int:
    """Return how many of something that is worked through one by one, from ``least`` to ``most``.

    >>> whole("terms", 0)
    Traceback (most recent call last):
    ValueError: terms must be a whole number from 1 to 1000000, not 0
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or not least <= int(value) <= most:
        raise ValueError(f"{name} must be a whole number from {least} to {most}, not {value!r}")
    return int(value)


def entries(name: str, value: Any) -> tuple[Any, ...]:
    """Return the entries of a list or another iterable; TypeError for a text, a mapping or what has none.

    >>> entries("variables", 3)
    Traceback (most recent call last):
    TypeError: variables must be a list, not 3: write for example [3]
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) == 0:
        shown = _described(value).rpartition(", of type")[0]
        raise TypeError(f"{name} must be a list, not {shown}: write for example [{shown}]")
    return tuple(value)


def letter(name: str, value: Any) -> Symbol:
    """Return a symbol; TypeError for anything else.

    >>> letter("base", "D")
    Traceback (most recent call last):
    TypeError: base must be a sympy Symbol such as those of fsl_sym.symbols, got 'D', of type str
    """
    if not isinstance(value, Symbol):
        raise TypeError(f"{name} must be a sympy Symbol such as those of fsl_sym.symbols, got {_described(value)}")
    return value


def as_expression(value: Any) -> Any:
    """The value as sympy has it: an expression or a relation as it is, a number as one of sympy.

    Text is read as an exact number, by :func:`exact`, and never evaluated.

    Raises
    ------
    TypeError
        For other text, and for whatever is neither a number nor made by sympy: a list may hold text.

    Examples
    --------
    >>> as_expression("1/2"), as_expression(2)
    (1/2, 2)
    >>> as_expression("1/M")
    Traceback (most recent call last):
    TypeError: '1/M' is text: write it with the sympy symbols themselves; only an exact number such as "1/2" is read
    """
    if value is nan or value is zoo or (isinstance(value, float) and value != value):
        raise TypeError(f"{value!r} is no number: look for a 0/0 upstream")
    if isinstance(value, Basic):
        return value
    if isinstance(value, str):
        if not _NUMBER.fullmatch(_with_plain_minus(value)):
            hint = 'only an exact number such as "1/2" is read'
            raise TypeError(f"{value!r} is text: write it with the sympy symbols themselves; {hint}")
        return exact(value)
    if isinstance(value, bool | complex):
        raise TypeError(f"{value!r} is no real number: give one, or an expression made of sympy symbols")
    if isinstance(value, numbers.Number):
        return sympify(value, strict=True)
    raise TypeError(f"{value!r} is no expression: give one made of sympy symbols, or a number")


def assigned(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Letters and their values, to be put into an expression: each as :func:`as_expression` reads it.

    >>> from sympy import Symbol
    >>> assigned({Symbol("x"): "1/2"})
    {x: 1/2}
    """
    instance_of("values", values, Mapping)
    return {as_expression(symbol): as_expression(value) for symbol, value in values.items()}


def as_fraction(number: Any) -> Fraction:
    """An exact rational number of sympy, or a coefficient of one of its rings, as a fraction of Python.

    >>> as_fraction(exact("3/6"))
    Fraction(1, 2)
    """
    return Fraction(int(number.numerator), int(number.denominator))


Key = TypeVar("Key")
Item = TypeVar("Item")


class FrozenMapping(Mapping[Key, Item]):
    """A mapping that cannot change: it hashes, pickles and equals a dict with the same items.

    >>> frozen = FrozenMapping({"a": 1})
    >>> frozen == {"a": 1}, hash(frozen) == hash(FrozenMapping(a=1)), frozen
    (True, True, {'a': 1})
    """

    __slots__ = ("_items",)

    def __init__(self, *items: Any, **named: Any) -> None:
        self._items: dict[Key, Item] = dict(*items, **named)

    def __getitem__(self, key: Key) -> Item:
        try:
            return self._items[key]
        except KeyError:
            raise KeyError(f"there is no {key!r}: there are {', '.join(map(str, self._items))}") from None

    def __iter__(self) -> Iterator[Key]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


def fields_only(value: Any) -> dict[str, Any]:
    """The state of a frozen dataclass for pickling: its fields, without what was computed from them and kept.

    Assigned to ``__getstate__`` in the class.
    """
    return {field.name: getattr(value, field.name) for field in fields(value)}
