"""Whether a formula is true as it is printed, where numbers, matrices and functions are put in for all of its letters.

What is put in comes from where the claim is measured; the formula is evaluated by the printers of sympy alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np
from sympy import Function, Identity, MatrixExpr, MatrixSymbol, S, Symbol, Trace, lambdify
from sympy.core.function import AppliedUndef, UndefinedFunction

from fsl_num.validation import Array
from fsl_sym.proof import Formula

SAME: Final = 1e-6
"""Relative, of sums and matrix products that are good to 1e-8."""
ROUNDING: Final = 1e-9
"""Of the largest instance: what rounding leaves of a side that is 0."""

Values = Mapping[Any, Any]
"""A number, an array or a function for each letter; or for a whole part of a formula, such as a mean."""


def holds_at(formula: Formula, instances: Sequence[Values]) -> bool | None:
    """Whether an equation holds, or a bound holds and is attained, at instances.

    Parameters
    ----------
    formula
        With the relation ``=``, ``<=`` or ``within``.
    instances
        Values of all letters; a bound must hold at each, and be attained at one.

    Returns
    -------
    bool or None
        None for another relation, or where a letter has no value.

    Examples
    --------
    >>> from sympy import Sum, symbols
    >>> from fsl_sym.proof import at_most, equals
    >>> j, n = symbols("j n", integer=True)
    >>> holds_at(equals(Sum(j, (j, 1, n)), n * (n + 1) / 2), [{n: 5}, {n: 6}])
    True
    >>> holds_at(at_most(Sum(j, (j, 1, n)), n * (n + 2) / 2), [{n: 5}, {n: 6}])  # it holds, and is not attained
    False
    >>> holds_at(equals(n, j), [{n: 5}]) is None
    True
    """
    if formula.relation not in ("=", "<=", "within") or not instances:
        return None
    error_of = S.Zero if formula.error is None else formula.error
    sides = []
    for values in instances:
        left, right, error = (_value(part, values) for part in (formula.left, formula.right, error_of))
        if left is None or right is None or error is None:
            return None
        sides.append((left, right, error))
    sizes = [max(float(np.max(np.abs(left))), float(np.max(np.abs(right)))) for left, right, _ in sides]
    attained = False
    for (left, right, error), size in zip(sides, sizes, strict=True):
        allowed = SAME * size + ROUNDING * max(sizes)
        above, below = float(np.max(left - right - error)), float(np.max(right - left - error))
        if not (above <= allowed and (formula.relation == "<=" or below <= allowed)):  # a nan agrees with nothing
            return False
        attained |= below <= allowed
    return attained or formula.relation != "<="


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
    if plain.free_symbols - known or {part.func for part in plain.atoms(AppliedUndef)} - known:
        return None
    evaluated = _compiled(plain, tuple(letters.values()))
    return np.asarray(evaluated(*(values[part] for part in letters)), dtype=np.float64)


@lru_cache(maxsize=1024)  # instances differ in values alone
def _compiled(expression: Any, letters: tuple[Any, ...]) -> Callable[..., Any]:
    return cast("Callable[..., Any]", lambdify(letters, expression, modules=["scipy", "numpy"]))


def _letter(part: Any, name: str) -> Any:
    if isinstance(part, UndefinedFunction):
        return Function(name)
    return MatrixSymbol(name, *part.shape) if isinstance(part, MatrixExpr) else Symbol(name)
