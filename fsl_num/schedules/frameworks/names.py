"""Calls as text, read without running anything: ``WSD(warmup=200, decay=900)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fsl_num.minus import with_plain_minus

_LONGEST: Final = 2000
_CALL: Final = re.compile(r"\s*(\w[\w-]*)\s*(\(.*\))?\s*", re.DOTALL)
_EXAMPLE: Final = "as in linear(decay_fraction=0.2) or hf:linear(num_warmup_steps=200)"


@dataclass(frozen=True)
class Call:
    """A name with its arguments: numbers, texts, None, True or False, lists of them, or calls.

    >>> Call("WSD", {"warmup": 2})
    WSD(warmup=2)
    """

    name: str
    arguments: Mapping[str, Any]

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self.arguments.items())
        return f"{self.name}({inside})"


def read(text: str) -> Call:
    """Return the call that a text spells; ValueError for anything else.

    >>> read("MultiStepLR(milestones=[30, 80], gamma=0.1)").arguments
    {'milestones': [30, 80], 'gamma': 0.1}
    >>> read("inverse-square-root").name
    'inverse-square-root'
    >>> read("f(__import__('os'))")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: "f(__import__('os'))": each argument needs its name, as in ...
    """
    match = _CALL.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise ValueError(f"{text[:80]!r} is no scheduler with its arguments, {_EXAMPLE}")
    try:
        parsed = ast.parse("f" + (match[2] or "()"), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError) as error:
        plain = with_plain_minus(text)
        why = "its minus sign is that of a printed text" if plain != text else getattr(error, "msg", error)
        meant = f"{plain[:80]!r}, with that of the keyboard" if plain != text else f"it {_EXAMPLE}"
        raise ValueError(f"{text[:80]!r} cannot be read: {why}; write {meant}") from error
    if not isinstance(parsed, ast.Call) or not isinstance(parsed.func, ast.Name):
        raise ValueError(f"{text[:80]!r} is more than one call; write it {_EXAMPLE}")
    return Call(match[1], _arguments(parsed, text))


def _arguments(call: ast.Call, text: str) -> dict[str, Any]:
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        raise ValueError(f"{text[:80]!r}: each argument needs its name, {_EXAMPLE}")
    return {keyword.arg: _value(keyword.value, text) for keyword in call.keywords if keyword.arg is not None}


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(element, text) for element in node.elts]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return Call(node.func.id, _arguments(node, text))
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(f"{text[:80]!r}: {ast.unparse(node)[:40]} is no number and no text in quotes") from error
    if not isinstance(value, (int, float, str, type(None))):
        raise ValueError(f"{text[:80]!r}: {ast.unparse(node)[:40]} is no number and no text in quotes")
    return value


def written(framework: str, name: str, arguments: Mapping[str, Any]) -> str:
    """Return the text that :func:`read` reads, behind the name of the framework.

    >>> written("olmo", "WSD", {"warmup": 2, "decay_fraction": None})
    'olmo:WSD(warmup=2, decay_fraction=None)'
    """
    return f"{framework}:{Call(name, arguments)!r}".removesuffix("()")
