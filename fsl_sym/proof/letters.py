"""What the letters of a statement are declared to be: hypotheses of each theorem, and what a range allows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from sympy import (
    Add,
    Basic,
    Derivative,
    Dummy,
    Expr,
    Integer,
    Integral,
    MatrixExpr,
    MatrixSymbol,
    Mul,
    Pow,
    Sum,
    Symbol,
    gamma,
    log,
    loggamma,
    lowergamma,
    oo,
    polygamma,
    preorder_traversal,
    zeta,
)
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from fsl_sym import symbols
from fsl_sym.algebra.equality import RANGED, sign
from fsl_sym.proof.bound_letters import put
from fsl_sym.proof.formulas import Formula, Hypothesis, Property, Statement, everywhere, less
from fsl_sym.proof.rules.infinities import infinity_fault

_KINDS: Final[tuple[dict[str, bool], ...]] = (
    {"positive": True},
    {"nonnegative": True},
    {"negative": True},
    {"real": True},
    {},
)
"""What a letter may be declared to be in one word, and beside that a whole number."""


def of_letters(statement: Statement) -> set[Hypothesis]:
    """The declared assumptions and the ranges of the letters of a statement, and where it is not 0/0, as hypotheses."""
    if not isinstance(statement, Formula):
        return {item for part in statement.parts for item in of_letters(part)}
    hypotheses: set[Hypothesis] = set()
    letters = {symbol for symbol in statement.free_symbols if isinstance(symbol, Symbol)}
    for letter in letters:
        hypotheses |= declared(letter)
    if symbols.a in letters and symbols.b in letters:
        hypotheses.add(less(symbols.b, symbols.a))
    for side in (statement.left, statement.right, statement.error):
        if side is not None and not isinstance(side, MatrixExpr):
            hypotheses |= _defined(side, letters)
    for condition in (statement.where, *(statement.program[-1] if statement.program else ())):
        for relation in condition.atoms(Relational) if isinstance(condition, Basic) else ():
            hypotheses |= {item for side in relation.args for item in _defined(side, letters | side.free_symbols)}
    return hypotheses


def of_numbers(numbers: Iterable[Expr]) -> set[Hypothesis]:
    """Where what a lemma is multiplied by, or put to, has a value: that may be seen nowhere else once it cancels."""
    hypotheses: set[Hypothesis] = set()
    for number in numbers:
        letters = {letter for letter in number.free_symbols if isinstance(letter, Symbol)}
        continuous = number.has(Integral, Derivative)
        # what a function is declared to be, the lemma says or the statement does
        functions = {item for function in number.atoms(AppliedUndef) for item in _of_function(function, continuous)}
        asked = _defined(number, letters) - functions
        hypotheses |= asked.union(*map(declared, letters)) if asked else set()
    return hypotheses


def declared(letter: Symbol) -> set[Hypothesis]:
    """What a letter is declared to be, and the range that the paper gives it, as hypotheses."""
    hypotheses: set[Hypothesis] = set()
    if letter == symbols.beta:
        hypotheses.add(less(Integer(1), letter))
    elif letter.is_positive:
        hypotheses.add(less(Integer(0), letter))
    elif letter.is_nonnegative:
        hypotheses.add(Formula(Integer(0), "<=", letter))
    elif letter.is_negative:
        hypotheses.add(less(letter, Integer(0)))
    elif letter.is_real:
        hypotheses.add(Property(letter.name, "a real number"))
    if letter.is_integer:
        hypotheses.add(Property(letter.name, "a whole number"))
    for name in sorted(_unusual(letter.assumptions0)):
        hypotheses.add(Property(letter.name, f"{'' if letter.assumptions0[name] else 'not '}{name}"))
    return hypotheses


def restrained(formula: Formula, hypotheses: Iterable[Hypothesis]) -> list[str]:
    """Which hypotheses keep a letter from running as a formula says: N = 1 where N tends to infinity.

    What tends to infinity may be asked to be large, what tends to 0 small.
    """
    faults = []
    if formula.relation == "->" and formula.right.has(formula.variable):
        faults = [f"{formula.variable} tends to {formula.point} and stands in the limit {formula.right}"]
    for item in hypotheses:
        if not isinstance(item, Formula) or item.relation == "!=":
            continue
        near, far = (item.right, item.left) if formula.point == oo else (item.left, item.right)
        for letter in formula.running & item.free_symbols:
            beyond = item.relation in ("<", "<=") and near == letter and not far.has(letter)
            if not (beyond and formula.point is not None) and item not in declared(letter):
                faults.append(f"{item} is assumed of {letter}, for which no value may be: {formula}")
    return sorted(faults)


def _unusual(known: Mapping[str, bool]) -> set[str]:
    """The assumptions that do not follow from the sign of a letter and from its being whole."""
    kind = next(kind for kind in _KINDS if all(known.get(name) for name in kind))
    whole = {"integer": True} if known.get("integer") else {}
    follow = Symbol("x", **kind, **whole).assumptions0
    return {name for name, value in known.items() if value is not None and follow.get(name) != value}


def _defined(side: Expr, letters: set[Symbol]) -> set[Hypothesis]:
    """Where numbers of terms are whole, denominators are not 0 and special functions have no pole."""
    hypotheses: set[Hypothesis] = set()
    continuous = side.has(Integral, Derivative)
    for item in preorder_traversal(side):
        inside = [
            argument for argument in item.args if not (argument.free_symbols and argument.free_symbols <= letters)
        ]
        if isinstance(item, Sum):
            hypotheses |= _counted(item, letters)
        elif isinstance(item, Derivative) and isinstance(item.expr, AppliedUndef):
            hypotheses.add(Property(str(item.expr.func), "a continuously differentiable function"))
        elif isinstance(item, AppliedUndef):
            hypotheses |= _of_function(item, continuous)
        elif isinstance(item, Pow) and not item.base.is_number and item.base not in inside:
            if item.exp.is_negative is not False and not item.exp.is_nonnegative and sign(item.base) not in (1, -1):
                hypotheses.add(Formula(item.base, "!=", Integer(0)))
        elif isinstance(item, log) and not inside and sign(item.args[0]) not in (1, -1):
            hypotheses.add(Formula(item.args[0], "!=", Integer(0)))
        elif isinstance(item, gamma | loggamma | lowergamma) and item.args[0] not in inside:
            hypotheses |= _off_the_poles(item.args[0])
        elif isinstance(item, polygamma) and item.args[1] not in inside:
            hypotheses |= _off_the_poles(item.args[1])
        elif isinstance(item, zeta):
            if item.args[0] not in inside and sign(item.args[0] - 1) not in (1, -1):
                hypotheses.add(Formula(item.args[0], "!=", Integer(1)))
            if len(item.args) == 2 and item.args[1] not in inside:
                hypotheses |= _off_the_poles(item.args[1])
    return hypotheses


def _off_the_poles(argument: Expr) -> set[Hypothesis]:
    if argument.is_number or sign(argument) == 1 or argument.is_integer is False:
        return set()
    return {Property(str(argument), "none of 0, -1, -2, ...")}


def _of_function(item: AppliedUndef, continuous: bool) -> set[Hypothesis]:
    """What a function without a definition is declared to be."""
    known = Symbol("x", **getattr(item.func, "_kwargs", {})).assumptions0
    words = ["positive"] if known.get("positive") else ["nonnegative"] if known.get("nonnegative") else []
    if known.get("real") and not words:
        words = ["real"]
    words += ["whole"] if known.get("integer") else []
    words += [f"{'' if known[name] else 'not '}{name}" for name in sorted(_unusual(known))]
    words += ["continuous"] if continuous and words in ([], ["positive"], ["real"]) else []
    name = str(item.func)
    return {Property(name, f"a {' '.join(words)} function")} if words else set()


def _counted(item: Sum, letters: set[Symbol]) -> set[Hypothesis]:
    """That the ends of a sum are whole, and that it does not run downwards; what is already known is left out."""
    hypotheses: set[Hypothesis] = set()
    for _, low, high in item.limits:
        ends = [end for end in (low, high) if end.free_symbols and end.free_symbols <= letters]
        # M + 1 is a whole number where M is
        parts = {part for end in ends for part in Add.make_args(end) if part.free_symbols}
        hypotheses |= {Property(str(part), "a whole number") for part in parts if not part.is_integer}
        # a positive letter that is whole is at least 1
        least = {letter: 1 + Dummy(integer=True, nonnegative=True) for letter in letters if letter.is_positive}
        free = (high - low).free_symbols <= letters
        if free and high != oo and low != -oo and sign((high - low + 1).subs(least)) not in (0, 1):
            hypotheses.add(Formula(low - 1, "<=", high))
    return hypotheses


def carried(lemma: Iterable[Hypothesis], values: Mapping[Symbol, Expr | None]) -> set[Hypothesis]:
    """The hypotheses of a lemma of which some letters got values (None: they run over a range).

    Raises
    ------
    ValueError
        If a hypothesis fails at the values, or says of them what cannot be asked.
    """
    kept: set[Hypothesis] = set()
    for item in lemma:
        named = {letter for letter in values if _speaks_of(item, letter)}
        if not named:
            kept.add(item)
        elif any(values[letter] is None for letter in named) or not isinstance(item, Formula):
            # what the letter is declared to be was asked of its value, or of its range, by the rule
            if not any(item in declared(letter) - {less(Integer(1), symbols.beta)} for letter in named):
                raise ValueError(f"the lemma holds where {item}, and that is not shown of what stands there instead")
        elif running := [letter for letter in named if _runs_in_functions(item, letter)]:
            # a proof may have used it at other values too: that the derivatives of two functions agree, say
            if len(running) > 1:
                raise ValueError(f"the lemma uses that {item} everywhere: put values in for one letter at a time")
            kept.add(everywhere(item, running[0]))
        else:
            swaps = {letter: value for letter, value in values.items() if value is not None}
            kept |= _left_of(replace(item, left=put(item.left, swaps), right=put(item.right, swaps)), item)
    return kept


def unneeded_left_out(lemma: Iterable[Hypothesis], gone: Iterable[Symbol]) -> set[Hypothesis]:
    """The hypotheses of a lemma without what letters are declared to be of which nothing else is asked: some value is.

    A letter that is declared positive, and of which x = -2 is assumed, has none.
    """
    kept = set(lemma)
    for letter in gone:
        own = declared(letter)
        if not any(_speaks_of(item, letter) for item in kept - own):
            kept -= own
    return kept


def _left_of(there: Formula, item: Formula) -> set[Hypothesis]:
    """The hypothesis at the values, unless it is seen to hold."""
    difference = sign(there.right - there.left) if there.error is None and there.variable is None else None
    holds = {"<": (1,), "<=": (0, 1), "!=": (1, -1), "=": (0,)}.get(there.relation)
    if holds is None or difference is None:
        return {there}
    if difference not in holds:
        raise ValueError(f"the lemma holds where {item}, and here {there} would have to hold")
    return set()


def _runs_in_functions(item: Formula, letter: Symbol) -> bool:
    """Whether a formula says something about functions without a definition along a letter."""
    applied = item.left.atoms(AppliedUndef) | item.right.atoms(AppliedUndef)
    return any(letter in function.free_symbols for function in applied)


def _speaks_of(item: Hypothesis, letter: Symbol) -> bool:
    if isinstance(item, Formula):
        return letter in item.free_symbols | {item.variable}
    return letter.name in item.names


def two_of_one_name(statement: Statement, hypotheses: Iterable[Hypothesis]) -> str:
    """Which name two letters of a theorem have: what is said of one would be read of the other; "" where none do."""
    letters = set().union(
        statement.free_symbols, *(item.free_symbols for item in hypotheses if isinstance(item, Formula))
    )
    names = [letter.name for letter in letters if isinstance(letter, Symbol | MatrixSymbol)]
    return next((name for name in sorted(names) if names.count(name) > 1), "")


def misdeclared(side: Expr) -> str:
    """Why a bound letter is declared to be more than its range says, or a sum is none; "" where nothing is wrong."""
    ranges: dict[Symbol, Expr] = {}
    for item in preorder_traversal(side):
        if not isinstance(item, Sum | Integral):
            continue
        for limits in item.limits:
            if len(limits) != 3:
                return f"{item} has no range for {limits[0]}: give both ends"
            fault = _sum_fault(*limits) if isinstance(item, Sum) else _integral_fault(*limits)
            if fault or (fault := _range_fault(*limits)):
                return fault
            if isinstance(item, Sum):
                if limits[1] != -oo:
                    ranges[limits[0]] = limits[1] + Dummy(integer=True, nonnegative=True)
        if isinstance(item, Sum) and (fault := _pole_fault(item, ranges)):
            return fault
    return next((fault for item in side.atoms(Add, Mul) if (fault := infinity_fault(item))), "")


def _range_fault(letter: Symbol, low: Expr, high: Expr) -> str:
    least = sign(low) if low != -oo else -1
    if letter in RANGED:
        return f"{letter} has the range that the paper gives it, and can run over no other"
    unusual = _unusual(letter.assumptions0)
    if unusual:
        return f"{letter} is declared to be more than a range can say: {', '.join(sorted(unusual))}"
    nonnegative = least in (0, 1) or low.is_nonnegative
    if letter.is_negative:
        return f"{letter} is declared negative: ranges are written with nonnegative letters"
    if letter.is_positive and not (least == 1 if letter.is_integer else nonnegative):
        return f"{letter} is declared positive, and its range begins at {low}"
    if letter.is_nonnegative and not nonnegative:
        return f"{letter} is declared nonnegative, and its range begins at {low}"
    return ""


def _sum_fault(letter: Symbol, low: Expr, high: Expr) -> str:
    if not letter.is_integer:
        return f"{letter} runs over the range of a Sum: it must be declared a whole number"
    for end in (low, high):
        if end.is_number and not end.is_integer and end not in (oo, -oo):
            return f"a sum over {letter} cannot run to or from {end}, which is no whole number"
    if high != oo and low != -oo and sign(high - low + 1) == -1:
        return f"the sum over {letter} runs downwards, from {low} to {high}"
    return ""


def _integral_fault(letter: Symbol, low: Expr, high: Expr) -> str:
    if letter.is_integer:
        return f"{letter} runs over the range of an Integral: it must be a real number that need not be whole"
    if high != oo and sign(high - low) == -1:
        return f"the range of {letter} runs downwards, from {low} to {high}"
    if letter.is_nonnegative and high != oo and not _is_nonnegative(high):
        return f"{letter} is declared not to be negative, and its range may end at {high} below 0"
    return ""


def _is_nonnegative(end: Expr) -> bool:
    if isinstance(end, Mul):
        return all(map(_is_nonnegative, end.args))
    root = end + 1
    if isinstance(end, Add) and isinstance(root, Pow) and sign(root.exp) == 1:  # x^p - 1, with x at least 1
        return sign(root.base - 1) in (0, 1)
    if isinstance(end, Integral) and len(end.limits) == 1:
        ((_, low, high),) = end.limits
        return _is_nonnegative(end.function) and _is_nonnegative(high - low)
    return bool(end.is_nonnegative or sign(end) in (0, 1))


def _without_a_pole(part: Expr) -> list[tuple[Expr, set[int | None]]]:
    """What must be of one of which signs, so that a power, a logarithm or a special function surely has a value."""
    if isinstance(part, Pow) and part.exp.is_negative is not False and not part.exp.is_nonnegative:
        return [(part.base, {1, -1})]
    if isinstance(part, log):
        return [(part.args[0], {1, -1})]
    if isinstance(part, gamma | loggamma | lowergamma):
        return [(part.args[0], {1})]
    if isinstance(part, polygamma):
        return [(part.args[1], {1})]
    if isinstance(part, zeta):
        return [(part.args[0] - 1, {1, -1})] + [(shift, {1}) for shift in part.args[1:]]
    return []


def _pole_fault(item: Sum, ranges: Mapping[Symbol, Expr]) -> str:
    """Why a summand may have a pole at one of the places over which its sum runs."""
    own = {limits[0] for limits in item.limits}
    for part in preorder_traversal(item.function):
        for base, allowed in _without_a_pole(part):
            signs = {sign(base), sign(base.subs(dict(ranges)))} if base.free_symbols & own else allowed
            if not signs & allowed:
                return f"{part} may have no value at a place over which the sum runs"
    return ""


def evaluated(side: Expr) -> Expr:
    """The same expression with every product, sum and power evaluated: none is left written out on purpose."""
    if isinstance(side, MatrixExpr) or not side.args or isinstance(side, Derivative):
        return side
    parts = [evaluated(part) if isinstance(part, Expr) else part for part in side.args]
    if isinstance(side, Add | Pow) or side.is_Mul:
        return side.func(*parts)
    return side if all(new is old for new, old in zip(parts, side.args, strict=True)) else side.func(*parts)
