"""Linear combinations of sums, and multiples of an integral, taken apart: what stands in front never holds the letter
that the sum or the integral runs over."""

from __future__ import annotations

from sympy import Add, Dummy, Expr, Integer, Integral, Mul, Sum, diff, expand

_Limits = tuple[Expr, ...]


def summands(expression: Expr) -> tuple[dict[_Limits, Expr], Expr]:
    """A linear combination of sums as {limits: summand} and the part without sums, as :func:`sums_apart` finds them."""
    sums, remainder = sums_apart(expression)
    return merged(sums), remainder


def merged(sums: list[tuple[_Limits, Expr]]) -> dict[_Limits, Expr]:
    """Sums over one range as one sum."""
    parts: dict[_Limits, Expr] = {}
    for limits, summand in sums:
        parts[limits] = parts.get(limits, Integer(0)) + summand
    return parts


def sums_apart(expression: Expr) -> tuple[list[tuple[_Limits, Expr]], Expr]:
    """The sums of a linear combination as (limits, summand with the factor in front), and the part without sums.

    Where a factor in front of a sum holds the letter of its index, the index gets another name.

    Raises
    ------
    ValueError
        If a sum does not enter linearly.
    """
    parts: list[tuple[_Limits, Expr]] = []
    remainder: Expr = Integer(0)
    for term in Add.make_args(_distribute(expression)):
        sums = [item for item in Mul.make_args(term) if isinstance(item, Sum)]
        if not sums:
            if term.has(Sum):
                raise ValueError(f"{term} holds a sum that does not enter linearly; write it as a multiple of the sum")
            remainder += term
            continue
        factors = [item for item in Mul.make_args(term) if not isinstance(item, Sum)]
        if len(sums) > 1 or any(item.has(Sum) for item in factors):
            raise ValueError(f"{term} is a product of sums; only linear combinations of sums are compared")
        (limits,), summand, front = sums[0].limits, sums[0].function, Mul(*factors)
        if front.has(limits[0]):
            index = Dummy(limits[0].name, **limits[0].assumptions0)
            limits, summand = (index, *limits[1:]), summand.subs(limits[0], index)
        parts.append((limits, front * summand))
    return parts, remainder


def _distribute(expression: Expr) -> Expr:
    """Multiply out brackets that hold sums, without touching the summands."""
    masks = {item: Dummy("sum") for item in expression.atoms(Sum)}
    opened = expand(expression.xreplace(masks), power_base=False, power_exp=False)
    return opened.xreplace({mask: item for item, mask in masks.items()})


def one_sum(expression: Expr) -> tuple[Expr, _Limits] | None:
    """A multiple of one sum as (summand, limits); None for anything else.

    Examples
    --------
    >>> from fsl_sym.symbols import M, j, s
    >>> one_sum(s * Sum(j, (j, 1, M)))
    (j*s, (j, 1, M))
    """
    parts, remainder = summands(expression)
    if remainder != 0 or len(parts) != 1:
        return None
    ((limits, summand),) = parts.items()
    return summand, limits


def one_integral(expression: Expr) -> tuple[Expr, _Limits] | None:
    """A multiple of one integral as (integrand, limits); None for anything else.

    Examples
    --------
    >>> from fsl_sym.symbols import s, t
    >>> one_integral(s * Integral(t, (t, 0, 1)))
    (s*t, (t, 0, 1))
    """
    integrals = expression.atoms(Integral)
    if len(integrals) != 1:
        return None
    (inner,) = integrals
    mark = Dummy()
    front = diff(expression.xreplace({inner: mark}), mark)
    if front.has(mark) or expression.xreplace({inner: Integer(0)}) != 0:
        return None  # not a multiple of the integral
    if len(inner.limits) != 1 or front.has(inner.limits[0][0]):
        return None  # a double integral, or the same letter inside and outside
    return expand(front * inner.function), inner.limits[0]
