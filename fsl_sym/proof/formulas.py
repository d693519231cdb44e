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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sympy import Basic, Derivative, Dummy, Expr, Integral, MatrixExpr, Sum, Symbol

from fsl_sym.algebra.printing import latex
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
    "within": (r"\approx", "differs by at most the error from"),
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
    (True, '2 t = 2 t', '2*t equals 2*t')
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

    def latex(self) -> str:
        """The formula in LaTeX, without delimiters."""
        left, right = latex(self.left), latex(self.right)
        if self.relation in NEAR_OPTIMAL:
            near = rf"{latex(self.program[0])} \lesssim {latex(self.program[1])}"
            end = {NEAR_OPTIMAL[1]: r"\min", NEAR_OPTIMAL[2]: r"\max"}.get(self.relation)
            left = rf"{near} \Rightarrow {left}" if end is None else rf"{end}_{{{near}}} {left}"
        elif self.program:
            left = rf"\min_{{{','.join(map(latex, self.program[0]))}}} \left[{left}\right]"
        body = f"{left} {RELATIONS[self.relation][0]} {right}"
        if self.error is not None:
            right = rf"\left({right}\right)" if self.right.is_Add or right.startswith("-") else right
            return rf"\left|{left} - {right}\right| \le {latex(self.error)}"
        if self.variable is not None:
            body += rf"\quad ({latex(self.variable)} \to {latex(self.point)})"
        if self.where is not None:
            body += rf"\quad ({latex(self.where)})"
        return body

    def words(self) -> str:
        """The formula as a sentence, its sides as they are typed."""
        body = f"{self.left} {RELATIONS[self.relation][1]} {self.right}"
        if self.error is not None:
            body += f"; the error is {self.error}"
        if self.variable is not None:
            body += f" as {self.variable} tends to {self.point}"
        return body if self.where is None else f"{body} where {self.where}"

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

    def latex(self) -> str:
        """The parts in LaTeX, one beside the other."""
        return r",\quad ".join(part.latex() for part in self.parts)

    def words(self) -> str:
        """The parts as one sentence."""
        return "; and ".join(part.words() for part in self.parts)

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
    return _renamed(
        expression, lambda item, depth: ("j" if isinstance(item, Sum) else "x") + f"_{first + depth}", Symbol
    )


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
        expression = _renamed(expression, lambda item, depth: "bound", Dummy)
    return expression.subs(values, simultaneous=True)


def _depth(expression: Basic) -> int:
    inner = max((_depth(part) for part in expression.args), default=0)
    return inner + len(expression.limits) if isinstance(expression, Sum | Integral) else inner


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
    taken = _depth(function)
    for place, (letter, *ends) in enumerate(limits):
        new = kind(name(expression, taken + place), **letter.assumptions0)
        function = function.xreplace({letter: new})
        limits[place] = (new, *ends)
        for inner in range(place):
            limits[inner] = (limits[inner][0], *(end.xreplace({letter: new}) for end in limits[inner][1:]))
    return expression.func(function, *limits)
