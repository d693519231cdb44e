"""Whether a formula is true as it is printed, where numbers, matrices and functions are put in for all of its letters.

What is put in comes from where the claim is measured; the formula is evaluated by the printers of sympy alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np
from sympy import (
    Derivative,
    Expr,
    Function,
    Identity,
    Integral,
    MatrixExpr,
    MatrixSymbol,
    S,
    Sum,
    Symbol,
    Trace,
    lambdify,
    oo,
)
from sympy.core.function import AppliedUndef, UndefinedFunction

from fsl_num.claims.printed_values import value_of
from fsl_num.validation import Array
from fsl_sym.proof import Formula
from fsl_sym.proof.bound_letters import canonical

SAME: Final = 1e-6
"""Relative, of sums and matrix products that are good to 1e-8."""
ROUNDING: Final = 1e-9
"""Of the largest instance, or of 1 where one side is 0 everywhere: what rounding leaves of it."""
NEAR: Final = 0.1
"""Of its size, or of the first distance: so near the last instance comes to a limit."""

Values = Mapping[Any, Any]
"""A number, an array or a function for each letter; or for a whole part of a formula, such as a mean, as measured."""


def holds_at(formula: Formula, instances: Sequence[Values]) -> bool | None:
    """Whether an equation holds, a bound holds and is attained, or a limit is approached, at instances.

    Parameters
    ----------
    formula
        With the relation ``=``, ``<``, ``<=``, ``within`` or ``->``.
    instances
        Values of all letters; a bound must hold at each, and be attained at one; a limit be near at the last.

    Returns
    -------
    bool or None
        None for another relation, or where a letter has no value. False also where a part of the formula is measured
        to be something else than what it says.

    Examples
    --------
    >>> from sympy import Sum, symbols
    >>> from fsl_sym.proof import at_most, equals, tends
    >>> j, n = symbols("j n", integer=True)
    >>> holds_at(equals(Sum(j, (j, 1, n)), n * (n + 1) / 2), [{n: 5}, {n: 6}])
    True
    >>> holds_at(at_most(Sum(j, (j, 1, n)), n * (n + 2) / 2), [{n: 5}, {n: 6}])  # it holds, and is not attained
    False
    >>> holds_at(tends(Sum(j, (j, 1, n)) / n**2, n, oo, S.Half), [{n: 5}, {n: 60}])
    True
    >>> holds_at(equals(n, j), [{n: 5}]) is None
    True
    """
    if formula.relation not in ("=", "<", "<=", "within", "->") or not instances:
        return None
    error_of = S.Zero if formula.error is None else formula.error
    instances = [_written(values) for values in instances]
    sides = []
    for values in instances:
        left, right, error = (_value(part, values) for part in (formula.left, formula.right, error_of))
        if left is None or right is None or error is None:
            return None
        sides.append((left, right, error))
    if any(_otherwise(formula, values) for values in instances):
        return False
    sizes = [max(float(np.max(np.abs(left))), float(np.max(np.abs(right)))) for left, right, _ in sides]
    if formula.relation == "->":
        first, last = (float(np.max(np.abs(sides[place][0] - sides[place][1]))) for place in (0, -1))
        return last <= NEAR * (sizes[-1] if formula.right != 0 else first)
    attained, rounding = False, ROUNDING * (max(sizes) if any(np.any(right) for _, right, _ in sides) else 1.0)
    for (left, right, error), size in zip(sides, sizes, strict=True):
        # what is allowed beside an error is a share of that: of sides that are far larger it could be all of it
        allowed = SAME * (size if formula.error is None else float(np.max(error))) + rounding
        above, below = float(np.max(left - right - error)), float(np.max(right - left - error))
        if not (
            above <= allowed and (formula.relation in ("<", "<=") or below <= allowed)
        ):  # a nan agrees with nothing
            return False
        if formula.relation == "<" and not below > 0.0:
            return False
        attained |= below <= allowed
    return attained or formula.relation != "<="


def measured_at(order: Formula, instances: Sequence[Values]) -> bool | None:
    """Whether the sides of an order are what is measured at instances: each that is made of sums and integrals has
    there a value that is its own; None where one has none.

    >>> from sympy import Sum, symbols
    >>> from fsl_sym.proof import same_order
    >>> j, n = symbols("j n", integer=True)
    >>> order = same_order(Sum(j, (j, 1, n)), n**2)
    >>> [measured_at(order, [{n: 5, order.left: value}]) for value in (15, 16)], measured_at(order, [{n: 5}]) is None
    ([True, False], True)
    """
    instances = [_written(values) for values in instances]
    known = set.intersection(*(set(values) for values in instances)) if instances else set()
    if not {order.left, order.right} & known or not made_sides(order) <= known:
        return None
    return not any(_otherwise(order, values) for values in instances)


def mended(formula: Formula, mends: Mapping[Any, Any]) -> Formula:
    """A formula with other parts in the place of some of its own, bound letters aside.

    >>> from sympy import Sum, symbols
    >>> from fsl_sym.proof import equals
    >>> i, j, n = symbols("i j n", integer=True)
    >>> str(mended(equals(Sum(j, (j, 1, n)), n**2), {Sum(i, (i, 1, n)): Sum(2 * i - 1, (i, 1, n))}))
    'Sum(2*j_0 - 1, (j_0, 1, n)) = n**2'
    """
    places = _written(mends)
    error = None if formula.error is None else formula.error.xreplace(places)
    return replace(formula, left=formula.left.xreplace(places), right=formula.right.xreplace(places), error=error)


def is_whole(order: Formula, instances: Sequence[Values]) -> bool:
    """Whether no side of an order that is measured at instances is left to be compared: the others have a name alone.

    >>> from sympy import Function, Sum, symbols
    >>> from fsl_sym.proof import same_order
    >>> j, n = symbols("j n", integer=True)
    >>> order = same_order(Sum(j, (j, 1, n)), Function("e")(n))
    >>> [is_whole(same_order(order.left, right), [{order.left: 15}]) for right in (order.right, n * order.right, n)]
    [True, False, False]
    """
    known = {part for part in _written(instances[0]) if not isinstance(part, Symbol)}
    named = isinstance(order.left, Symbol | AppliedUndef), isinstance(order.right, AppliedUndef)
    return (order.left in known or named[0]) and (order.right in known or named[1])


def made_sides(order: Formula) -> set[Any]:
    """The sides of an order that are made of sums and integrals, and not of quantities with a name alone."""
    return {side for side in (order.left, order.right) if side.has(Sum, Integral)}


def _written(values: Values) -> Values:
    """The same with bound letters as formulas have them."""
    return {canonical(part) if isinstance(part, Expr) and part.args else part: value for part, value in values.items()}


def _otherwise(formula: Formula, values: Values) -> bool:
    """Whether a part of a formula that is measured as a whole is something else by its own letters."""
    for part, given in values.items():
        if (
            isinstance(part, Expr)
            and not isinstance(part, Symbol | MatrixExpr)
            and formula.left.has(part) | formula.right.has(part)
        ):
            own = _value(part, {letter: value for letter, value in values.items() if letter != part})
            if own is not None and not np.allclose(own, given, SAME, 0.0):
                return True
    return False


def _value(expression: Any, values: Values) -> Array | None:
    """The expression in numbers; None where a letter has no value."""
    for trace in expression.atoms(Trace):
        if (inside := _value(trace.arg, values)) is None:
            return None
        values = {**values, trace: np.trace(inside)}
    units = [unit for unit in expression.atoms(Identity) if unit.shape[0] in values]
    values = {**values, **{unit: np.eye(values[unit.shape[0]]) for unit in units}}
    # the names of letters need not be names in Python
    letters = {part: _letter(part, f"value_{number}") for number, part in enumerate(values) if expression.has(part)}
    plain = expression.xreplace(letters)
    for part, letter in letters.items():
        if isinstance(part, UndefinedFunction):
            plain = plain.replace(part, letter)
    known = set(letters.values())
    plain = plain.replace(Derivative, lambda *parts: Derivative(*parts).doit())
    if plain.free_symbols - known or {part.func for part in plain.atoms(AppliedUndef)} - known:
        return None
    if any(oo in series.limits[0] for series in plain.atoms(Sum)):
        return np.asarray(value_of(plain, {letters[part]: values[part] for part in letters}, np.nan))
    evaluated = _compiled(plain, tuple(letters.values()))
    return np.asarray(evaluated(*(values[part] for part in letters)), dtype=np.float64)


@lru_cache(maxsize=1024)  # instances differ in values alone
def _compiled(expression: Any, letters: tuple[Any, ...]) -> Callable[..., Any]:
    return cast("Callable[..., Any]", lambdify(letters, expression, modules=["scipy", "numpy"]))


def _letter(part: Any, name: str) -> Any:
    if isinstance(part, UndefinedFunction):
        return Function(name)
    return MatrixSymbol(name, *part.shape) if isinstance(part, MatrixExpr) else Symbol(name)
