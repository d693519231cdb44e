"""Definitions that are equations, in numbers: what "(W'W H W'W)^(1/2)" is where W and H are matrices.

Two letters beside each other are multiplied, W' is W transposed and tr the trace; powers and exp of matrices are those
of matrices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

_TOKEN: Final = re.compile(r"\s*([A-Za-z]\w*(?::\w+)?|\d+(?:\.\d+)?|[-+/^()'])")


def value_of(text: str, values: Mapping[str, Any]) -> Any:
    """What an equation's right side is; None where it is no such expression, or one of its letters has no value.

    >>> value_of("2 (W' W)^-1 + exp(-t)", {"W": np.array([[2.0]]), "t": 0.0}).tolist()
    [[1.5]]
    >>> value_of("the roots of W", {"W": np.eye(2)}) is None
    True
    """
    reader = _Reader(_TOKEN.findall(text), values)
    if "".join(reader.tokens) != re.sub(r"\s", "", text):
        return None
    try:
        value = reader.sum()
    except (KeyError, IndexError, ValueError, TypeError):
        return None
    return value if not reader.tokens else None


class _Reader:
    """Tokens of an expression, read from the front."""

    def __init__(self, tokens: list[str], values: Mapping[str, Any]) -> None:
        self.tokens, self._values = tokens, values

    def sum(self) -> Any:
        value = -self.product() if self._takes("-") else self.product()
        while self.tokens and self.tokens[0] in "+-":
            sign = 1.0 if self.tokens.pop(0) == "+" else -1.0
            value = value + sign * self.product()
        return value

    def product(self) -> Any:
        value = self.power()
        while self.tokens and self.tokens[0] not in "+-)":
            value = value / self.power() if self._takes("/") else _times(value, self.power())
        return value

    def power(self) -> Any:
        value = self.atom()
        while self.tokens and self.tokens[0] in "'^":
            value = np.transpose(value) if self._takes("'") else self._raised(value)
        return value

    def atom(self) -> Any:
        token = self.tokens.pop(0)
        if token in _FUNCTIONS and self.tokens[:1] == ["("]:
            return _FUNCTIONS[token](self.atom())
        if token == "(":
            value = self.sum()
            if self.tokens.pop(0) != ")":
                raise ValueError("a parenthesis is open")
            return value
        return float(token) if token[0].isdigit() else self._values[token]

    def _raised(self, base: Any) -> Any:
        from scipy.linalg import sqrtm

        self.tokens.pop(0)
        exponent = -self.atom() if self._takes("-") else self.atom()
        if np.ndim(base) < 2:
            return base**exponent
        return np.real(sqrtm(base)) if exponent == 0.5 else np.linalg.matrix_power(base, int(exponent))

    def _takes(self, token: str) -> bool:
        return bool(self.tokens) and self.tokens[0] == token and bool(self.tokens.pop(0))


def _times(left: Any, right: Any) -> Any:
    return left @ right if np.ndim(left) == np.ndim(right) == 2 else left * right


def _exp(value: Any) -> Any:
    from scipy.linalg import expm

    return expm(value) if np.ndim(value) == 2 else np.exp(value)


_FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {"exp": _exp, "tr": np.trace}
