"""What the letters of a statement are declared to be: hypotheses of each theorem, and what a range allows."""

from __future__ import annotations

from typing import Final

from sympy import (
    Add,
    Derivative,
    Expr,
    Integer,
    Integral,
    MatrixExpr,
    Pow,
    Sum,
    Symbol,
    gamma,
    oo,
    preorder_traversal,
    zeta,
)
from sympy.core.function import AppliedUndef

from fsl_sym import symbols
from fsl_sym.algebra.equality import sign
from fsl_sym.proof.formulas import Formula, Hypothesis, Property, Statement, less

_PLAIN: Final = frozenset(
    "commutative complex extended_negative extended_nonnegative extended_nonpositive extended_nonzero "
    "extended_positive extended_real finite hermitian imaginary infinite negative nonnegative nonpositive nonzero "
    "positive real zero integer rational algebraic transcendental irrational noninteger".split()
)
"""Assumptions of a letter that its sign, and its being whole, already say."""


def of_letters(statement: Statement) -> set[Hypothesis]:
    """The declared assumptions and the ranges of the letters of a statement, and where it is not 0/0, as hypotheses."""
    if not isinstance(statement, Formula):
        return {item for part in statement.parts for item in of_letters(part)}
    given: set[Hypothesis] = set()
    letters = {each for each in statement.free_symbols if isinstance(each, Symbol)}
    for letter in letters:
        given |= declared(letter)
    if symbols.a in letters and symbols.b in letters:
        given.add(less(symbols.b, symbols.a))
    for side in (statement.left, statement.right, statement.error):
        if side is not None and not isinstance(side, MatrixExpr):
            given |= _defined(side, letters)
    return given


def declared(letter: Symbol) -> set[Hypothesis]:
    """What a letter is declared to be, and the range that the paper gives it, as hypotheses."""
    given: set[Hypothesis] = set()
    if letter == symbols.beta:
        given.add(less(Integer(1), letter))
    elif letter.is_positive:
        given.add(less(Integer(0), letter))
    elif letter.is_nonnegative:
        given.add(Formula(Integer(0), "<=", letter))
    elif letter.is_negative:
        given.add(less(letter, Integer(0)))
    elif letter.is_real:
        given.add(Property(letter.name, "a real number"))
    if letter.is_integer:
        given.add(Property(letter.name, "a whole number"))
    unusual = {name for name, value in letter.assumptions0.items() if value is not None} - _PLAIN
    for name in sorted(unusual):
        given.add(Property(letter.name, f"{'' if letter.assumptions0[name] else 'not '}{name}"))
    return given


def _defined(side: Expr, letters: set[Symbol]) -> set[Hypothesis]:
    """Where numbers of terms are whole, denominators are not 0 and special functions have no pole."""
    given: set[Hypothesis] = set()
    continuous = side.has(Integral, Derivative)
    for item in preorder_traversal(side):
        if isinstance(item, Sum):
            ends = [end for limits in item.limits for end in limits[1:]]
            # M + 1 is a whole number where M is
            parts = {part for end in ends for part in Add.make_args(end) if part.free_symbols & letters}
            given |= {Property(str(part), "a whole number") for part in parts if not part.is_integer}
        elif isinstance(item, Pow) and item.base.free_symbols and item.base.free_symbols <= letters:
            if item.exp.is_negative is not False and not item.exp.is_nonnegative and sign(item.base) not in (1, -1):
                given.add(Formula(item.base, "!=", Integer(0)))
        elif isinstance(item, gamma) and item.args[0].free_symbols <= letters and sign(item.args[0]) != 1:
            if item.args[0].is_integer is not False:
                given.add(Property(str(item.args[0]), "none of 0, -1, -2, ..."))
        elif isinstance(item, zeta) and item.args[0].free_symbols <= letters and sign(item.args[0] - 1) not in (1, -1):
            given.add(Formula(item.args[0], "!=", Integer(1)))
        elif isinstance(item, AppliedUndef) and continuous:
            given.add(Property(str(item.func), f"a {'positive ' if item.is_positive else ''}continuous function"))
        elif isinstance(item, Derivative) and isinstance(item.expr, AppliedUndef):
            given.add(Property(str(item.expr.func), "a continuously differentiable function"))
    return given


def misdeclared(side: Expr) -> str:
    """Why a bound letter is declared to be more than its range says; "" where all are not."""
    for item in preorder_traversal(side):
        if not isinstance(item, Sum | Integral):
            continue
        for limits in item.limits:
            if len(limits) != 3:
                return f"{item} has no range for {limits[0]}: give both ends"
            letter, low, high = limits
            summed = isinstance(item, Sum)
            if bool(letter.is_integer) != summed:
                kind = "a whole number" if summed else "a real number that need not be whole"
                return f"{letter} runs over the range of a {type(item).__name__}: it must be declared {kind}"
            if not summed and letter.is_rational is not None:
                return f"{letter} is declared {'' if letter.is_rational else 'ir'}rational, and its range is not"
            if set(letter.assumptions0) - _PLAIN:
                return f"{letter} is declared to be more than a range can say"
            least = sign(low) if low != -oo else -1
            if letter.is_negative or letter.is_nonpositive or letter.is_zero:
                return f"{letter} is declared negative: ranges are written with nonnegative letters"
            nonnegative = least in (0, 1) or low.is_nonnegative
            if letter.is_positive and not (least == 1 if summed else nonnegative):
                return f"{letter} is declared positive, and its range begins at {low}"
            if letter.is_nonnegative and not nonnegative:
                return f"{letter} is declared nonnegative, and its range begins at {low}"
            if summed and low.is_number and not low.is_integer and low != -oo:
                return f"a sum over {letter} cannot begin at {low}, which is no whole number"
            if not summed and high != oo and sign(high - low) == -1:
                return f"the range of {letter} runs downwards, from {low} to {high}"
    return ""


def evaluated(side: Expr) -> Expr:
    """The same expression with every product, sum and power evaluated: none is left written out on purpose."""
    if isinstance(side, MatrixExpr) or not side.args or isinstance(side, Derivative):
        return side
    parts = [evaluated(part) if isinstance(part, Expr) else part for part in side.args]
    if isinstance(side, Add | Pow) or side.is_Mul:
        return side.func(*parts)
    return side if all(new is old for new, old in zip(parts, side.args, strict=True)) else side.func(*parts)
