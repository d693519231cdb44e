r"""A dictionary of notations: the exponents of this paper and of its neighbours, converted both ways, exactly.

Every notation names the same two facts, how fast the eigenvalues fall, lambda_j = j^-beta, and how fast the energy of
the target does, lambda_j theta_j^2 = j^-(1 + s beta). A conversion goes through (s, beta).

>>> convert({"s": "1/2", "beta": 4}, "fsl", "features")
{'alpha': 2, 'beta': -1/2}
>>> convert({"alpha": 2, "beta": "-1/2"}, "features", "fsl")
{'s': 1/2, 'beta': 4}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from sympy import Expr, Gt, Lt, Pow, Symbol, expand, factor
from sympy.logic.boolalg import And, Boolean

from fsl_sym.algebra.printing import latex
from fsl_sym.symbols import beta, s
from fsl_sym.values import FrozenMapping, as_expression, instance_of


@dataclass(frozen=True)
class Notation:
    """One way to write the two exponents.

    Attributes
    ----------
    name
        What :func:`convert` calls it.
    letters
        Its two letters, in the order of its authors.
    forward
        Each letter in (s, beta).
    back
        s and beta in its letters.
    meaning
        What its letters are, with j the index of a mode.
    used_by
        Whose it is.

    Examples
    --------
    >>> NOTATIONS["kernel"].condition
    (alpha > 1) & (r > 0)
    """

    name: str
    letters: tuple[Symbol, Symbol]
    forward: Mapping[Symbol, Expr]
    back: Mapping[Symbol, Expr]
    meaning: str
    used_by: str

    def __post_init__(self) -> None:
        for field in ("forward", "back"):
            object.__setattr__(self, field, FrozenMapping(getattr(self, field)))

    @property
    def condition(self) -> Boolean:
        """The range s > 0, beta > 1 in its letters."""
        return _RANGES[self.name]

    @property
    def eigenvalue(self) -> Expr:
        """x in lambda_j = j^-x, in its letters."""
        return self.back[beta]

    @property
    def energy(self) -> Expr:
        """x in lambda_j theta_j^2 = j^-x, in its letters."""
        return expand(1 + self.back[s] * self.back[beta])


def _letters(first: str, second: str) -> tuple[Symbol, Symbol]:
    return Symbol(first, real=True), Symbol(second, real=True)


_AL, _BE = _letters("alpha", "beta")
_A, _B = _letters("a", "b")
_P, _Q = _letters("p", "q")
_R, _K = _letters("r", "q_K")
_S = Symbol("s", real=True)
_ENERGY: Final = 1 + s * beta

NOTATIONS: Final[Mapping[str, Notation]] = MappingProxyType(
    {
        notation.name: notation
        for notation in (
            Notation(
                "fsl", (_S, _BE), {_S: s, _BE: beta}, {s: _S, beta: _BE},
                "relative difficulty s, capacity exponent beta", "this paper",
            ),
            Notation(
                "features", (_AL, _BE), {_AL: beta / 2, _BE: (_ENERGY - beta) / 2},
                {s: (2 * _AL + 2 * _BE - 1) / (2 * _AL), beta: 2 * _AL},
                "eigenvalues j^-2alpha, squared target coefficients j^-2beta", "power-law random features (4+3 phases)",
            ),
            Notation(
                "capacity-source", (_A, _B), {_A: beta, _B: _ENERGY}, {s: (_B - 1) / _A, beta: _A},
                "capacity a: eigenvalues j^-a; source b: energies j^-b", "linear regression, horizon-free schedules",
            ),
            Notation(
                "control", (_A, _B), {_A: _ENERGY, _B: beta}, {s: (_A - 1) / _B, beta: _B},
                "target a: energies j^-a; spectrum b: eigenvalues j^-b", "optimal control of SGD",
            ),
            Notation(
                "kernel", (_R, _AL), {_R: s / 2, _AL: beta}, {s: 2 * _R, beta: _AL},
                "source r: target coefficients lambda_j^(r - 1/2) j^-1/2; capacity alpha", "kernel regression",
            ),
            Notation(
                "quadratic", (_P, _Q), {_P: _ENERGY, _Q: beta}, {s: (_P - 1) / _Q, beta: _Q},
                "risks of the modes j^-p, eigenvalues j^-q", "noisy quadratic systems",
            ),
            Notation(
                "forgetting", (_S, _K), {_S: s, _K: 2 - 1 / beta}, {s: _S, beta: 1 / (2 - _K)},
                "signal t^-s and kernel t^-q_K in intrinsic time", "schedules from spectra",
            ),
        )
    }
)  # fmt: skip
"""Name of a notation -> what it means."""

_RANGES: Final[Mapping[str, Boolean]] = MappingProxyType(
    {
        "fsl": And(Gt(_S, 0), Gt(_BE, 1)),
        "features": And(Gt(2 * _AL, 1), Gt(2 * _AL + 2 * _BE, 1)),
        "capacity-source": And(Gt(_A, 1), Gt(_B, 1)),
        "control": And(Gt(_A, 1), Gt(_B, 1)),
        "kernel": And(Gt(_R, 0), Gt(_AL, 1)),
        "quadratic": And(Gt(_P, 1), Gt(_Q, 1)),
        "forgetting": And(Gt(_S, 0), Gt(_K, 1), Lt(_K, 2)),
    }
)


def _named(name: str) -> Notation:
    if name not in NOTATIONS:
        raise ValueError(f"unknown notation {name!r}: choose {', '.join(NOTATIONS)}")
    return NOTATIONS[name]


def in_notation(expression: Any, name: str) -> Any:
    """An expression in s and beta, or a relation of such, in the letters of another notation.

    Raises
    ------
    ValueError
        If there is no such notation.

    Examples
    --------
    >>> from fsl_sym.symbols import C, beta, s
    >>> in_notation(C ** (-s * beta / (1 + beta)), "features")
    C**(-(2*alpha + 2*beta - 1)/(2*alpha + 1))
    """
    put_in = as_expression(expression).subs(dict(_named(name).back), simultaneous=True)
    return put_in.replace(lambda part: isinstance(part, Pow), lambda power: Pow(power.base, factor(power.exp)))


def convert(values: Mapping[str, Any], source: str, target: str) -> dict[str, Expr]:
    """The exponents of one notation in another.

    Parameters
    ----------
    values
        Letter, or a symbol of that name, -> value, one for each letter of the source: a number (exact as an integer, a
        fraction or text such as "1/2"; of a float the result is a float), or a sympy expression.
    source, target
        Names in :data:`NOTATIONS`.

    Returns
    -------
    dict
        Letter of the target -> value, as sympy has it.

    Raises
    ------
    TypeError
        If a value is neither a number nor an expression, or is not real.
    ValueError
        If a notation is unknown, a letter is missing or strange, or the point lies outside the range s > 0, beta > 1.

    Examples
    --------
    >>> convert({"a": "3/2", "b": 3}, "capacity-source", "kernel")
    {'r': 2/3, 'alpha': 3/2}
    >>> from fsl_sym.symbols import beta, s
    >>> convert({"s": s, "beta": beta}, "fsl", "capacity-source")
    {'a': beta, 'b': beta*s + 1}
    """
    instance_of("values", values, Mapping)
    instance_of("source", source, str)
    instance_of("target", target, str)
    known, asked = _named(source), _named(target)
    names = [letter.name for letter in known.letters]
    named = {key.name if isinstance(key, Symbol) else key: value for key, value in values.items()}
    if set(named) != set(names):
        raise ValueError(
            f"the notation {source!r} has the letters {' and '.join(names)}, not {', '.join(map(str, values))}"
        )
    numbers = {letter: as_expression(named[letter.name]) for letter in known.letters}
    for letter, value in numbers.items():
        if not isinstance(value, Expr) or value.is_extended_real is False or value.is_finite is False:
            raise TypeError(f"{letter} = {value} is no finite real number")
    held = known.condition.subs(numbers, simultaneous=True)
    if held == False:  # noqa: E712  (sympy's false)
        raise ValueError(
            f"{dict(values)} lies outside the range of {source!r}: it needs {known.condition}, "
            "which is s > 0 and beta > 1"
        )
    middle = {letter: expression.subs(numbers, simultaneous=True) for letter, expression in known.back.items()}
    exponents = {letter.name: asked.forward[letter].subs(middle, simultaneous=True) for letter in asked.letters}
    return {name: value if value.is_number else factor(value) for name, value in exponents.items()}


@dataclass(frozen=True)
class NotationTable:
    """All notations beside each other; it shows itself as text, Markdown, LaTeX and HTML.

    >>> print(notation().markdown().splitlines()[2].replace("relative difficulty s, capacity exponent beta", "..."))
    | fsl | s, beta | $j^{- \\beta}$ | $j^{- \\beta s - 1}$ | ... | this paper |
    """

    notations: tuple[Notation, ...]

    @property
    def head(self) -> tuple[str, ...]:
        """The titles of the columns."""
        return ("name", "letters", "eigenvalues", "energies", "meaning", "used by")

    def rows(self, formula: str = "${}$") -> list[tuple[str, ...]]:
        """The cells, formulas in LaTeX between what ``formula`` puts around them."""
        j = Symbol("j")
        return [
            (
                notation.name,
                ", ".join(letter.name for letter in notation.letters),
                *(formula.format(latex(j**-power)) for power in (notation.eigenvalue, notation.energy)),
                notation.meaning,
                notation.used_by,
            )
            for notation in self.notations
        ]

    def markdown(self) -> str:
        """As a Markdown table."""
        lines = [self.head, ("---",) * len(self.head), *self.rows()]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def __str__(self) -> str:
        wide = [
            f"{notation.name}: {' and '.join(letter.name for letter in notation.letters)}, "
            f"lambda_j = j^-({notation.eigenvalue}), lambda_j theta_j^2 = j^-({notation.energy}): "
            f"{notation.meaning} ({notation.used_by})"
            for notation in self.notations
        ]
        return "\n".join(wide)

    def _repr_latex_(self) -> str:
        lines = [
            " & ".join((rf"\text{{{name}}}", r",\ ".join(map(latex, notation.letters)), first, second))
            for notation, (name, _, first, second, _, _) in zip(self.notations, self.rows("{}"), strict=True)
        ]
        head = r"\text{notation} & \text{letters} & \lambda_j & \lambda_j \theta_j^2"
        return rf"$\begin{{array}}{{llll}}{head} \\ \hline " + r" \\ ".join(lines) + r"\end{array}$"

    def _repr_html_(self) -> str:
        cells = ["".join(f"<td>{cell}</td>" for cell in row) for row in self.rows()]
        head = "".join(f"<th>{title}</th>" for title in self.head)
        return f"<table><tr>{head}</tr>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


def notation() -> NotationTable:
    """The table of all notations that :func:`convert` knows.

    >>> len(notation().notations)
    7
    """
    return NotationTable(tuple(NOTATIONS.values()))
