"""Definitions that are equations, in numbers: what "(W'W H W'W)^(1/2)" is where W and H are matrices.

Two letters beside each other are multiplied, W' is W transposed and tr the trace; powers and exp of matrices are those
of matrices. Letters that are functions are applied, "K(T - t)", and so are words such as "the largest of"; what is
measured may have a name of several words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np

from fsl_num.gauss_rules import legendre_rule

_NODES: Final = 100
"""Of an integral in a definition."""
_OVER: Final = ("the sum over", "the integral over")
_TOKEN: Final = r"[A-Za-z]\w*(?::\w+)?|\d+(?:\.\d+)?|<=|[-+/^()',]"


def value_of(text: str, values: Mapping[str, Any]) -> Any:
    """What an equation's right side is; None where it is no such expression, or one of its letters has no value.

    >>> value_of("2 (W' W)^-1 + exp(-t)", {"W": np.array([[2.0]]), "t": 0.0}).tolist()
    [[1.5]]
    >>> value_of("the roots of W", {"W": np.eye(2)}) is None
    True
    >>> value_of("2 (the largest risk) + K(1, 2)", {"the largest risk": 3.0, "K": lambda t, z: t - z})
    5.0
    """
    pattern = _tokens(frozenset(name for name in values if not re.fullmatch(_TOKEN, name)))
    reader = _Reader(pattern.findall(text), values)
    if re.sub(r"\s", "", "".join(reader.tokens)) != re.sub(r"\s", "", text):
        return None
    try:
        value = reader.sum()
    except (ArithmeticError, KeyError, IndexError, ValueError, TypeError):
        return None
    return value if not reader.tokens else None


@lru_cache(maxsize=256)
def _tokens(names: frozenset[str]) -> re.Pattern[str]:
    """Of what a text is made: names that are no letters, the longest first, and functions in words, before letters."""
    words = sorted([*names, *_OVER, *(name for name in _FUNCTIONS if " " in name)], key=len, reverse=True)
    return re.compile(r"\s*(" + "|".join([*(re.escape(word) + r"(?!\w)" for word in words), _TOKEN]) + ")")


class _Reader:
    """Tokens of an expression, read from the front."""

    def __init__(self, tokens: list[str], values: Mapping[str, Any]) -> None:
        self.tokens, self._values, self._bound = tokens, values, dict[str, Any]()

    def sum(self) -> Any:
        value = -self.product() if self._takes("-") else self.product()
        while self.tokens and self.tokens[0] in "+-":
            sign = 1.0 if self.tokens.pop(0) == "+" else -1.0
            value = value + sign * self.product()
        return value

    def product(self) -> Any:
        value = self.power()
        while self.tokens and self.tokens[0] not in "+-),":
            value = value / self.power() if self._takes("/") else self._times(value)
        return value

    def power(self) -> Any:
        value = self.atom()
        while self.tokens and self.tokens[0] in "'^":
            value = np.transpose(value) if self._takes("'") else self._raised(value)
        return value

    def atom(self) -> Any:
        token = self.tokens.pop(0)
        if token in _FUNCTIONS and (" " in token or self.tokens[:1] == ["("]):
            return _FUNCTIONS[token](self.product() if " " in token else self.atom())
        if token in _OVER:
            return self._sum_over() if token == "the sum over" else self._integral_over()
        if token == "(":
            value = self.sum()
            if self.tokens.pop(0) != ")":
                raise ValueError("a parenthesis is open")
            return value
        if token[0].isdigit():
            return float(token)
        value = self._bound[token] if token in self._bound else self._values[token]
        return value(*self._arguments()) if callable(value) else value

    def _sum_over(self) -> Any:
        """The sum over j <= M of what has a value for each j."""
        numbers = np.asarray(self._values[self.tokens.pop(0)])
        if not self._takes("<="):
            raise ValueError("a sum has no end")
        end = self.power()
        if not self._takes("of") or numbers.max() < end:
            raise ValueError("not all terms of a sum are known")
        return np.sum(self.product()[numbers <= end])

    def _integral_over(self) -> Any:
        """The integral over t from 0 to T of what is smooth there, by Gauss's rule."""
        letter, ends = self.tokens.pop(0), []
        for word in ("from", "to"):
            if not self._takes(word):
                raise ValueError("an integral has no ends")
            ends.append(self.power())
        if not self._takes("of"):
            raise ValueError("nothing is integrated")
        points, weights = legendre_rule(_NODES)
        middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
        self._bound[letter] = middle + half * points
        value = half * (weights @ self.product())
        del self._bound[letter]
        return value

    def _arguments(self) -> list[Any]:
        if not self._takes("("):
            raise ValueError("a function is not applied")
        arguments = [self.sum()]
        while self._takes(","):
            arguments.append(self.sum())
        if not self._takes(")"):
            raise ValueError("a parenthesis is open")
        return arguments

    def _raised(self, base: Any) -> Any:
        from scipy.linalg import sqrtm

        self.tokens.pop(0)
        exponent = -self.atom() if self._takes("-") else self.atom()
        if np.ndim(base) < 2:
            return base**exponent
        return np.real(sqrtm(base)) if exponent == 0.5 else np.linalg.matrix_power(base, int(exponent))

    def _times(self, left: Any) -> Any:
        self._takes("times")
        right = self.power()
        return left @ right if np.ndim(left) == np.ndim(right) == 2 else left * right

    def _takes(self, token: str) -> bool:
        return bool(self.tokens) and self.tokens[0] == token and bool(self.tokens.pop(0))


def _exp(value: Any) -> Any:
    from scipy.linalg import expm

    return expm(value) if np.ndim(value) == 2 else np.exp(value)


def _eigenvalues(matrix: Any) -> Any:
    """From the largest on."""
    return np.linalg.eigvalsh(matrix)[::-1]


_FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "exp": _exp, "tr": np.trace, "diag": np.diag, "the eigenvalues of": _eigenvalues, "the inverse of": np.linalg.inv,
    "the least of": np.min, "the largest of": np.max, "the last of": lambda values: values[-1], "the sum of": np.sum,
    "the positive part of": lambda values: np.maximum(values, 0.0),
}  # fmt: skip
"""Those in words are of the product that follows: "the largest of x y + z" is (the largest of x y) + z."""
