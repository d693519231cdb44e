"""The sides of the (s, beta) plane on which a formula has its several forms.

They part where a condition of one of its parts changes, and where members of a minimum or maximum of powers change
places. What is checked on one side says nothing about another.

>>> from sympy import Min
>>> from fsl_sym.proof import same_order
>>> from fsl_sym.symbols import E, N, beta, p, s
>>> saturated = Sides.of(same_order(E, N ** -Min(s, 2)))
>>> saturated.at((1, 3)), saturated.at((2, 3))
(('s < 2',), ('s = 2',))
>>> Sides.of(same_order(E, N ** -Min(beta, p + 1)), {p: (1, 2)}).at((1, 4))
('beta > 2', 'beta > 3')
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sympy import Eq, Expr, Max, Min, factor_list, true
from sympy.logic.boolalg import Boolean

from fsl_num.claims.formula_laws import parts_of
from fsl_sym.proof import AllOf, Formula
from fsl_sym.symbols import beta, s

Point = tuple[Any, Any]
"""Exact values of s and beta."""


@dataclass(frozen=True)
class Sides:
    """What parts the plane for a formula.

    ``conditions`` are those of its parts, ``everywhere`` whether a part has none; ``borders`` are expressions that
    vanish where members of a minimum are alike.
    """

    conditions: tuple[Boolean, ...] = ()
    borders: tuple[Expr, ...] = ()
    everywhere: bool = True

    @classmethod
    def of(cls, formula: Formula | AllOf | str, values: Mapping[Any, Sequence[Any]] | None = None) -> Sides:
        """Those of a formula (a text has none); conditions that hold a letter beside ``values`` are left out."""
        parts = parts_of(formula)
        if not parts:
            return cls()
        stated = [true if part.where is None else part.where for part in parts]
        conditions = dict.fromkeys(where for where in stated if where.free_symbols and where.free_symbols <= {s, beta})
        borders: dict[Expr, None] = {}
        for difference in _differences(parts, values or {}):
            for factor, _ in factor_list(difference.together().as_numer_denom()[0])[1]:
                if factor.free_symbols != {beta} or factor.subs(beta, 1) < 0:  # beta > 1 decides the others
                    borders.setdefault(-factor if factor.could_extract_minus_sign() else factor)
        return cls(tuple(conditions), tuple(borders), any(where not in conditions for where in stated))

    def at(self, point: Point) -> tuple[str, ...]:
        """What is so at a point: () where the formula has one form."""
        values = {s: point[0], beta: point[1]}
        so = [str(condition) for condition in self.conditions if bool(condition.subs(values))]
        for border in self.borders:
            value = border.subs(values)
            so.append(_shown(border, ">" if value > 0 else "<" if value < 0 else "="))
        return tuple(so)

    def silent(self, point: Point) -> bool:
        """Whether the formula says nothing at a point."""
        values = {s: point[0], beta: point[1]}
        return not (self.everywhere or any(condition.subs(values) for condition in self.conditions))

    def between(self, point: Point) -> bool:
        """Whether a point lies on a line between two sides."""
        values = {s: point[0], beta: point[1]}
        return any(condition.has(Eq) and condition.subs(values) for condition in self.conditions) or any(
            border.subs(values) == 0 for border in self.borders
        )

    def lines(self) -> tuple[Boolean, ...]:
        """The conditions that hold on a line alone."""
        return tuple(condition for condition in self.conditions if condition.has(Eq))


def _differences(parts: Sequence[Formula], values: Mapping[Any, Sequence[Any]]) -> Iterator[Expr]:
    """Of every two members of a minimum that depend on s and beta alone, the other letters at each of their values."""
    choices = [{letter: value} for letter, numbers in values.items() for value in numbers] or [{}]
    for part in parts:
        for written in (part.left, part.right):
            for chosen in written.atoms(Min, Max) if isinstance(written, Expr) else ():
                for first, second in combinations(chosen.args, 2):
                    for known in choices:
                        difference = (first - second).subs(known)
                        free = difference.free_symbols
                        if free and free <= {s, beta} and not difference.has(Min, Max):
                            yield difference


def _shown(border: Expr, sign: str) -> str:
    """A border, solved for its letter where it has one alone."""
    letters = border.free_symbols
    if len(letters) == 1 and border.diff(*letters) == 1:
        (letter,) = letters
        return f"{letter} {sign} {letter - border}"
    return f"{border} {sign} 0"
