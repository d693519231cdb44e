r"""A statement about optima as tables, one for each law: a column a regime, a row a quantity.

>>> from fsl_num.claims.registry import claim
>>> [law], _ = optima(claim("thm: wsd/data").formula)
>>> law.wheres
('$s \\geq 1 - \\frac{1}{\\beta}$', '$s < 1 - \\frac{1}{\\beta}$')
>>> [row[0] for row in law.rows]
['least $L$', 'peak lr $\\gamma$', 'decay fraction $r$']
>>> print(law.rows[2][1], "|", law.rows[2][2])
$1$ | from $N^{\frac{\beta s - \beta + 1}{\beta - 1}} \log{\left(N \right)}$ to $1$
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sympy import And, Eq, Ge, Gt, Le, Lt, oo

from fsl_num.claims.formula_laws import parts_of
from fsl_sym.algebra.printing import latex
from fsl_sym.allocation import QUANTITIES
from fsl_sym.proof import AllOf, Formula

_FEWEST = 3
"""Of fewer statements about optima a table says no more than they do."""
_NAMES = {letter: name.replace("_", " ") for name, letter in QUANTITIES.items()}
_TOGETHER: dict[frozenset[Any], Any] = {
    frozenset({Gt, Eq}): Ge,
    frozenset({Lt, Eq}): Le,
    frozenset({Ge, Lt}): None,
    frozenset({Gt, Le}): None,
}
"""Two relations of the same sides, and that which holds where one of them does; None where it always does."""


@dataclass(frozen=True)
class LawOptima:
    """A law in LaTeX, what is chosen under which constraints, and the table of its optima.

    ``wheres`` are the headings of the columns, ``rows`` begin with the name of a quantity; in these, as in ``under``,
    formulas stand between dollar signs.
    """

    law: str
    under: str
    wheres: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def optima(statement: Formula | AllOf | str) -> tuple[list[LawOptima], list[Formula]]:
    """The tables of a statement, and what else it says; no table where the statement says as much itself.

    That a choice is near-optimal refers to the least value of its law: where that is not said, there is no table.
    """
    parts = parts_of(statement)
    about = [part for part in parts if part.program]
    least = {(_law(part), part.where): part.right for part in about if part.relation == "optimum"}
    if len(about) < _FEWEST or not all(_refers(part, least.get((_law(part), part.where))) for part in about):
        return [], list(parts)
    laws = list(dict.fromkeys(map(_law, about)))
    names = ["L"] if len(laws) == 1 else [f"L_{{{number}}}" for number in range(1, len(laws) + 1)]
    made = [
        _table(name, law, [part for part in about if _law(part) == law]) for name, law in zip(names, laws, strict=True)
    ]
    return made, [part for part in parts if not part.program]


def in_words(statement: Formula | AllOf | str, write: Callable[[Any], str]) -> str:
    """A statement as a sentence, its expressions between dollar signs; optima by law and regime.

    >>> from fsl_num.claims.registry import claim
    >>> print(in_words(claim("lem: half-scale/beyond").formula, latex).partition(" is ")[2])
    of the order of $M^{- \\beta} t$
    """
    if isinstance(statement, str):
        return f"${statement}$"
    laws, others = optima(statement)
    sentences = [
        f"${law.law}$, {law.under}: " + "; ".join(_column(law, number) for number in range(len(law.wheres)))
        for law in laws
    ]  # fmt: skip
    return "; and ".join([*sentences, *(other.words(write) for other in others)])


def _column(law: LawOptima, number: int) -> str:
    cells = [(row[0], row[number + 1]) for row in law.rows if row[number + 1]]
    values = ", ".join(f"{name} {'of the order of ' if cell.startswith('$') else ''}{cell}" for name, cell in cells)
    return f"where {law.wheres[number]}, {values}".replace("where everywhere, ", "")


def _table(name: str, law: tuple[Any, tuple[Any, ...]], parts: Sequence[Formula]) -> LawOptima:
    """The table of one law; regimes in which all is the same share a column."""
    letters = list(dict.fromkeys(part.left for part in parts if part.relation != "optimum"))
    cases: dict[tuple[str, ...], list[Any]] = {}
    for least in (part for part in parts if part.relation == "optimum"):
        here = [part for part in parts if part.where == least.where]
        cells = (_cell([part for part in here if part.left == letter]) for letter in letters)
        cases.setdefault((f"${latex(least.right)}$", *cells), []).append(least.where)
    headings = (f"least ${name}$", *map(_heading, letters))
    rows = tuple(zip(headings, *cases, strict=True))
    return LawOptima(f"{name} = {latex(law[0])}", _under(law[1]), tuple(map(_condition, cases.values())), rows)


def _law(part: Formula) -> tuple[Any, tuple[Any, ...]]:
    """The law that a formula is about, and its variables, budget and constraints."""
    return part.left if part.relation == "optimum" else part.program[0], part.program[-3:]


def _refers(part: Formula, least: Any) -> bool:
    """Whether what a formula calls the least value stands in its row."""
    return bool(least == (part.right if part.relation == "optimum" else part.program[1]))


def _cell(parts: Sequence[Formula]) -> str:
    """The order of a quantity, or those of the ends of its range."""
    ends = {part.relation.removeprefix("near-optimal "): part.right for part in parts}
    if "at" in ends:
        return f"${latex(ends['at'])}$"
    low, high = (None if ends.get(end) in (None, oo) else f"${latex(ends[end])}$" for end in ("from", "up to"))
    if low and high:
        return f"from {low} to {high}"
    return f"at least {low}" if low else f"at most {high}" if high else ""


def _heading(letter: Any) -> str:
    return f"{_NAMES.get(letter, '')} ${latex(letter)}$".strip()


def _under(program: tuple[Any, ...]) -> str:
    variables, budget, constraints = program
    under = ", ".join(f"${latex(constraint)}$" for constraint in constraints)
    return f"chosen ${', '.join(map(latex, variables))}$ with {under}, up to constants, for large ${latex(budget)}$"


def _condition(wheres: Iterable[Any]) -> str:
    """Where one of the conditions holds."""
    cases = {frozenset() if where is None else frozenset(And.make_args(where)) for where in wheres}
    while joined := next(((first, second) for first, second in combinations(cases, 2) if _joined(first, second)), ()):
        cases = (cases - {*joined}) | _joined(*joined)
    if frozenset() in cases:
        return "everywhere"
    return " or ".join(
        ", ".join(f"${latex(relation)}$" for relation in sorted(case, key=_letter)) for case in sorted(cases, key=str)
    )


def _letter(relation: Any) -> str:
    return str(relation.args[0])


def _joined(case: frozenset[Any], opposite: frozenset[Any]) -> set[frozenset[Any]]:
    """One condition for two that differ in one relation between the same sides; none where they differ in more."""
    if len(case - opposite) != 1 or len(opposite - case) != 1:
        return set()
    (first,), (second,) = case - opposite, opposite - case
    kinds = frozenset({type(first), type(second)})
    if first.args != second.args or kinds not in _TOGETHER:
        return set()
    together = _TOGETHER[kinds]
    return {(case & opposite) | (frozenset() if together is None else {together(*first.args)})}
