"""Texts of hypotheses, and what of each can be compared with numbers: a relation, a list of values, an order of size.

>>> [str(relation) for relation in relations_of("0 < s <= 2 - 1/beta")]
['0 < s', 's <= 2 - 1/beta']
>>> [str(listed) for listed in lists_of("N = 3 and 4, M = 2, 8, 24")]
['N = 3 and 4', 'M = 2, 8 and 24']
>>> relations_of("M infinite"), lists_of("M infinite")
((), ())
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final

from sympy import Expr, Symbol, sympify
from sympy.core.function import AppliedUndef

from fsl_num.claims.words import Assumed, Setting, Where, joined
from fsl_sym import symbols
from fsl_sym.proof import Formula
from fsl_sym.proof import Hypothesis as Property

CONSTRAINT: Final = "constraint: "
"""How the text of a relation begins that holds for all that is chosen, and is no end of a range of the claim."""
_SIGNS: Final = ("<=", ">=", "!=", "<", ">", "=")
_WORD: Final = re.compile(r"[A-Za-z]+(?:_[A-Za-z0-9]+)?|\d+(?:\.\d+)?(?:e-?\d+)?|[-+*/^() ]")
_FIXED: Final = " the same along a ray"
OF_ORDER: Final = " of order 1"
_QUANTITY: Final = r"[A-Za-z]\w*(?:'|\(\w\)|\^2)?"
_LETTERS: Final = {letter.name: letter for letter in vars(symbols).values() if isinstance(letter, Symbol)}


@cache
def relations_of(hypothesis: str | Property) -> tuple[Formula, ...]:
    """The relations that a hypothesis is, all of numbers; none where it is another property, or holds a word."""
    if isinstance(hypothesis, Formula):
        comparable = hypothesis.relation in _SIGNS and all(
            isinstance(side, Expr) and side.is_commutative and not side.has(AppliedUndef)
            for side in (hypothesis.left, hypothesis.right)
        )
        return (hypothesis,) if comparable else ()
    if not isinstance(hypothesis, str) or isinstance(hypothesis, Where | Setting | Assumed):
        return ()
    clauses = [_chain(clause) for clause in re.split("[,;] ", hypothesis)]
    return tuple(relation for clause in clauses for relation in clause) if all(clauses) else ()


def _chain(text: str) -> tuple[Formula, ...]:
    """The relations between neighbours of a chain such as 0 < b < a; none of prose."""
    parts = re.split(r"\s(<=|>=|!=|<|>|=)\s", text.removeprefix(CONSTRAINT))
    sides = [expression_of(side) for side in parts[::2]]
    if len(sides) < 2 or None in sides:
        return ()
    return tuple(_ordered(left, sign, right) for (left, right), sign in zip(pairwise(sides), parts[1::2], strict=True))


def _ordered(left: Any, sign: str, right: Any) -> Formula:
    return Formula(right, {">": "<", ">=": "<="}[sign], left) if sign in (">", ">=") else Formula(left, sign, right)


def expression_of(text: str) -> Expr | None:
    """A text as an expression in known letters, a blank between two of them for their product; None for prose."""
    words = _WORD.findall(text)
    if "".join(words) != text or any(word[0].isalpha() and word not in (*_LETTERS, "sqrt", "oo") for word in words):
        return None
    written = re.sub(r"(?<=[\w)]) +(?=[\w(])|(?<=\d)(?!e-?\d)(?=[A-Za-z(])", "*", text).replace("^", "**")
    try:
        return sympify(written, locals=_LETTERS, rational=True)
    except (SyntaxError, TypeError, ValueError):
        return None


@dataclass(frozen=True)
class Listed:
    """All values of a quantity where a claim is measured."""

    quantity: Expr
    values: tuple[Expr, ...]
    text: str

    def __str__(self) -> str:
        return self.text


@cache
def lists_of(hypothesis: str | Property) -> tuple[Listed, ...]:
    """The lists of values that a text is, one for each quantity; none of another."""
    if not isinstance(hypothesis, str) or isinstance(hypothesis, Where | Setting | Assumed):
        return ()
    clauses = [_list(clause) for clause in re.split(rf", (?={_QUANTITY} = )", hypothesis)]
    lists = tuple(clause for clause in clauses if clause is not None)
    return lists if len(lists) == len(clauses) and not relations_of(hypothesis) else ()


@cache
def of_order_one(hypothesis: str | Property) -> tuple[Expr, ...]:
    """The quantities of which a text says that they are of order 1; none of another.

    >>> of_order_one("sigma^2/B and a of order 1")
    (sigma**2/B, a)
    """
    if not isinstance(hypothesis, str) or not hypothesis.endswith(OF_ORDER):
        return ()
    quantities = hypothesis.removesuffix(OF_ORDER).split(" and ")
    return tuple(quantity for quantity in map(_quantity, quantities) if quantity is not None)


def _quantity(text: str) -> Expr | None:
    """An expression in known letters, or any letter."""
    return expression_of(text) or (Symbol(text) if re.fullmatch(_QUANTITY, text) else None)


def _list(clause: str) -> Listed | None:
    quantity, _, values = clause.partition(" = ")
    texts = re.split(", | and ", values)
    read = [expression_of(re.sub(r"(?<=\d),(?=\d{3})", "", text)) for text in texts]
    letter = _quantity(quantity) if re.fullmatch(_QUANTITY, quantity) else None
    if not values or None in read or letter is None:
        return None
    return Listed(letter, tuple(read), f"{quantity} = {joined(texts)}")


def same_along(hypothesis: str | Property) -> list[str]:
    """The letters of which a text says that they do not vary along a ray; none of another text.

    >>> same_along("sigma and B the same along a ray")
    ['sigma', 'B']
    """
    text = str(hypothesis)
    return text.removesuffix(_FIXED).split(" and ") if text.endswith(_FIXED) else []


def compared(hypothesis: str | Property) -> bool:
    """Whether a hypothesis is more than words: a text of which something measured can differ, or no text.

    >>> compared("0 < t <= M^beta"), compared("t <= M^beta, roughly"), compared("the worst target")
    (True, False, False)
    """
    if not isinstance(hypothesis, str) or isinstance(hypothesis, Where | Setting | Assumed):
        return True
    return bool(relations_of(hypothesis) or lists_of(hypothesis) or of_order_one(hypothesis) or same_along(hypothesis))
