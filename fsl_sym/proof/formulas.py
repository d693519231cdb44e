r"""What a theorem states: one formula, as a symbolic value.

A :class:`Formula` is ``left relation right``; what else a relation needs (the error of an approximation, the variable
of a limit, the budget of an optimum) is part of the value. Formulas are equal when they are the same statement written
the same way; bound letters do not count. LaTeX, words, numbers and wrong versions are all made from the value.

>>> from fsl_sym.symbols import M, T, beta
>>> bound = at_most(M / T, T ** (1 / beta - 1))
>>> bound.relation, str(bound)
('<=', 'M/T <= T**(-1 + 1/beta)')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from sympy import And, Basic, Symbol

from fsl_sym.algebra import printing
from fsl_sym.proof.bound_letters import canonical
from fsl_sym.symbols import RANGES, p
from fsl_sym.values import as_expression

RELATIONS: Final = {
    "=": ("=", "equals"),
    "<=": (r"\le", "is at most"),
    ">=": (r"\ge", "is at least"),
    "<": ("<", "is less than"),
    "!=": (r"\ne", "is not"),
    "~": (r"\asymp", "is of the order of"),
    "<~": (r"\lesssim", "is at most of the order of"),
    "within": (r"\approx", "differs from"),
    "->": (r"\longrightarrow", "tends to"),
    "expands": (r"\sim", "has the asymptotic expansion"),
    "optimum": (r"\asymp", "has least values of the order of"),
    "near-optimal at": (r"\asymp", "is, where near-optimal, of the order of"),
    "near-optimal from": (r"\asymp", "has least near-optimal values of the order of"),
    "near-optimal up to": (r"\asymp", "has largest near-optimal values of the order of"),
}
"""Relation -> (LaTeX, words). ``~`` and ``<~`` hide constants that depend on s and beta only.

A choice of the variables of a law is near-optimal where the law is at most C times its least value under the budget,
constraints up to constants; what is said of it holds for every C large enough, with constants that depend on C too.
"""

NEAR_OPTIMAL: Final = ("near-optimal at", "near-optimal from", "near-optimal up to")
"""Of every near-optimal choice, and of the least and the largest that are near-optimal."""

NEEDS: Final = {
    "->": ("variable", "point"),
    "expands": ("variable", "point"),
    "within": ("error",),
    "optimum": ("program",),
    **dict.fromkeys(NEAR_OPTIMAL, ("program",)),
}
"""Relation -> what else it needs; the others need nothing."""


@dataclass(frozen=True)
class Formula:
    """``left relation right``.

    Attributes
    ----------
    left, right
        Expressions, scalar or matrix.
    relation
        A key of :data:`RELATIONS`.
    variable, point
        Of a limit or an expansion: the variable and what it tends to.
    error
        Of "within": ``|left - right| <= error``.
    program
        Of "optimum": variables, budget and constraints, as one tuple; of what is near-optimal the law and the order of
        its least value before them.
    where
        The part of the plane of s > 0 and beta > 1, with p > 0 of the space of all three, that the formula is about, as
        a relation; None for all of it.

    Raises
    ------
    ValueError
        If the relation is unknown, or what it needs is missing or too much.

    Examples
    --------
    >>> from fsl_sym.symbols import t
    >>> formula = equals(t + t, 2 * t)
    >>> formula.is_true_by_notation, formula.latex(), formula.words()
    (True, '2 t = 2 t', '$2 t$ equals $2 t$')
    """

    left: Any
    relation: str
    right: Any
    variable: Symbol | None = None
    point: Any = None
    error: Any = None
    program: tuple[Any, ...] = ()
    where: Any = None

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"unknown relation {self.relation!r}; the relations are {', '.join(RELATIONS)}")
        needed = set(NEEDS.get(self.relation, ()))
        present = {name for name in ("variable", "point", "error") if getattr(self, name) is not None}
        present |= {"program"} if self.program else set()
        if needed != present:
            raise ValueError(f"a formula with {self.relation!r} needs {sorted(needed)}, not {sorted(present)}")
        for name in ("left", "right", "error", "point"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, canonical(as_expression(getattr(self, name))))

    @property
    def is_true_by_notation(self) -> bool:
        """Whether both sides are written the same way, so that nothing is said."""
        return bool(self.relation in ("=", "<=", ">=", "~", "<~") and self.left == self.right)

    @property
    def free_symbols(self) -> set[Any]:
        """The letters for all of whose values the formula is said; of ``where`` those that are not of the plane."""
        sides = [side for side in (self.left, self.right, self.error) if side is not None]
        free = set().union(*(side.free_symbols for side in sides))
        return (free | self._beside) - {self.variable}

    @property
    def _beside(self) -> set[Any]:
        """The letters of ``where`` and of the program that are not s, beta or p, nor chosen, nor the budget."""
        constraints = self.program[-1] if self.program else ()
        conditions = [part for part in (self.where, *self.program[:-3], *constraints) if isinstance(part, Basic)]
        return set().union(*(condition.free_symbols for condition in conditions)) - {*RANGES, p} - self.running

    @property
    def running(self) -> set[Symbol]:
        """The letters that take no value: what tends to a point, or what is chosen under which budget."""
        letters = (*self.program[-3], self.program[-2]) if self.program else (self.variable,)
        return {letter for letter in letters if letter is not None}

    def __str__(self) -> str:
        text = f"{self.left} {self.relation} {self.right}"
        if self.error is not None:
            text += f" up to {self.error}"
        if self.variable is not None:
            text += f" as {self.variable} -> {self.point}"
        return text if self.where is None else f"{text} where {self.where}"

    def latex(self, write: Callable[[Any], str] = printing.latex) -> str:
        """The formula in LaTeX, without delimiters; ``write`` says how an expression is written."""
        left, right = write(self.left), write(self.right)
        if self.relation in NEAR_OPTIMAL:
            near = rf"{write(self.program[0])} \lesssim {write(self.program[1])}"
            end = {NEAR_OPTIMAL[1]: r"\min", NEAR_OPTIMAL[2]: r"\max"}.get(self.relation)
            left = rf"{near} \Rightarrow {left}" if end is None else rf"{end}_{{{near}}} {left}"
        elif self.program:
            left = rf"\min_{{{','.join(map(write, self.program[0]))}}} \left[{left}\right]"
        body = f"{left} {RELATIONS[self.relation][0]} {right}"
        if self.error is not None:
            right = rf"\left({right}\right)" if self.right.is_Add or right.startswith("-") else right
            return rf"\left|{left} - {right}\right| \le {write(self.error)}"
        if self.variable is not None:
            body += rf"\quad ({write(self.variable)} \to {write(self.point)})"
        if self.where is not None:
            body += rf"\quad ({write(self.where)})"
        return body

    def words(self, write: Callable[[Any], str] = printing.latex) -> str:
        """The formula as a sentence, its expressions in LaTeX between dollar signs."""
        body = f"${write(self.left)}$ {RELATIONS[self.relation][1]} ${write(self.right)}$"
        if self.relation in NEAR_OPTIMAL:
            law, least, variables = (*self.program[:2], self.program[-3])
            chosen = ", ".join(map(write, variables))
            body += f", where ${write(law)}$, chosen ${chosen}$, is of the order of ${write(least)}$"
        elif self.program:
            chosen = ", ".join(map(write, self.program[0]))
            body = body.replace(" has least values", f" has, over ${chosen}$, least values")
        if self.error is not None:
            body += f" by at most ${write(self.error)}$"
        if self.variable is not None:
            body += f" as ${write(self.variable)}$ tends to ${write(self.point)}$"
        conditions = () if self.where is None else And.make_args(self.where)
        return body + " and".join(f" ${write(condition)}$" for condition in conditions).replace(" ", " where ", 1)

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"


@dataclass(frozen=True)
class AllOf:
    """Several formulas that all hold.

    >>> from fsl_sym.symbols import t
    >>> len(AllOf((equals(t, t), equals(t + t, 2 * t))).parts)
    2
    """

    parts: tuple[Formula | AllOf, ...]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise ValueError("a conjunction needs at least two formulas; one formula stands by itself")

    @property
    def free_symbols(self) -> set[Any]:
        """The letters of all parts."""
        return set().union(*(part.free_symbols for part in self.parts))

    def __str__(self) -> str:
        return "; ".join(str(part) for part in self.parts)

    def latex(self, write: Callable[[Any], str] = printing.latex) -> str:
        """The parts in LaTeX, one beside the other; ``write`` says how an expression is written."""
        return r",\quad ".join(part.latex(write) for part in self.parts)

    def words(self, write: Callable[[Any], str] = printing.latex) -> str:
        """The parts as one sentence."""
        return "; and ".join(part.words(write) for part in self.parts)

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"


Statement = Formula | AllOf


@dataclass(frozen=True)
class Property:
    """A hypothesis that is no formula: what a letter stands for, in the words of the field.

    >>> print(Property("H", "symmetric"))
    H is symmetric
    """

    letter: str
    says: str

    def __str__(self) -> str:
        return f"{self.letter} is {self.says}"

    @property
    def names(self) -> set[str]:
        """The names that occur in it; not that of a letter for whose every value it is said."""
        return set(re.findall(r"[A-Za-z]\w*'*", self.letter)) - {self.says.partition(_EVERYWHERE)[2]}

    def latex(self) -> str:
        """The hypothesis as text."""
        return rf"\text{{{self}}}"


Hypothesis = Formula | Property
_EVERYWHERE: Final = "true for every "


def everywhere(formula: Formula, letter: Symbol) -> Property:
    """That a formula about functions holds at every value of a letter, and not at one that may be put in for it.

    >>> from sympy import Function
    >>> from fsl_sym.symbols import t
    >>> print(everywhere(equals(Function("f")(t), t), t))
    f(t) = t is true for every t
    """
    return Property(str(formula), f"{_EVERYWHERE}{letter}")


def equals(left: Any, right: Any) -> Formula:
    """``left = right``.

    >>> from fsl_sym.symbols import t
    >>> str(equals(t, 2))
    't = 2'
    """
    return Formula(left, "=", right)


def at_most(left: Any, right: Any) -> Formula:
    """``left <= right``."""
    return Formula(left, "<=", right)


def at_least(left: Any, right: Any) -> Formula:
    """``left >= right``, which is said as ``right <= left``."""
    return Formula(right, "<=", left)


def less(left: Any, right: Any) -> Formula:
    """``left < right``."""
    return Formula(left, "<", right)


def same_order(left: Any, right: Any) -> Formula:
    """``c right <= left <= C right`` with constants that depend on s and beta only."""
    return Formula(left, "~", right)


def order_at_most(left: Any, right: Any) -> Formula:
    """``left <= C right`` with a constant that depends on s and beta only."""
    return Formula(left, "<~", right)


def within(left: Any, right: Any, error: Any) -> Formula:
    """``|left - right| <= error``."""
    return Formula(left, "within", right, error=error)


def tends(left: Any, variable: Symbol, point: Any, right: Any) -> Formula:
    """``left`` tends to ``right`` as ``variable`` tends to ``point``."""
    return Formula(left, "->", right, variable=variable, point=point)


def all_of(parts: Iterable[Statement]) -> Statement:
    """The conjunction of the parts; one part stands by itself."""
    listed = tuple(parts)
    return listed[0] if len(listed) == 1 else AllOf(listed)


def joined(first: Formula, second: Formula) -> Formula | None:
    """What two formulas say together, where the second begins with what the first ends with; None where nothing.

    >>> from fsl_sym.symbols import M, T, t
    >>> str(joined(equals(t, T), at_most(T, M)))
    't <= M'
    >>> joined(at_most(t, T), Formula(T, ">=", M)) is None
    True
    """
    if first.right != second.left or (first.where is not None and second.where is not None):
        return None
    if first.relation == "=" and first.where is None and second.relation not in NEAR_OPTIMAL:
        return replace(second, left=first.left)
    if second.relation == "=" and second.where is None:
        return replace(first, right=second.right)
    if first.where is not None or second.where is not None:
        return None
    if first.relation == second.relation == "within":
        return within(first.left, second.right, first.error + second.error)
    pair = {first.relation, second.relation}
    if pair in ({"<="}, {">="}, {"~"}, {"<~"}):
        return Formula(first.left, first.relation, second.right)
    if pair <= {"<=", "~", "<~"}:
        return order_at_most(first.left, second.right)
    return None
