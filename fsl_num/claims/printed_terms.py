"""The terms of a printed law by the names under which they are measured: what is judged is read from the formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sympy import Add, Expr, Integral

from fsl_sym.proof.bound_letters import canonical


def measured_terms(order: Expr, names: Mapping[Expr, str]) -> tuple[str, ...]:
    """The names of the terms whose sum an expression is.

    Parameters
    ----------
    order
        A term, or a sum of terms. The integral of a sum is the sum of its integrals, unless the whole has a name.
    names
        Term -> name; the letters of sums and integrals do not count.

    Raises
    ------
    ValueError
        If a term has no name: the formula says what is not measured.

    Examples
    --------
    >>> from sympy import Function, symbols
    >>> x, y, z = symbols("x y z")
    >>> e, f = Function("e"), Function("f")
    >>> measured_terms(x + Integral(y * (e(y) + 1), (y, 0, x)), {
    ...     x: "time", Integral(z, (z, 0, x)): "noise", Integral(z * e(z), (z, 0, x)): "signal"})
    ('time', 'noise', 'signal')
    >>> measured_terms(x + f(x), {x: "time"})
    Traceback (most recent call last):
    ValueError: f(x) is printed, and measured are only x
    """
    return tuple(_names(order, {canonical(term): name for term, name in names.items()}))


def _names(order: Expr, names: Mapping[Expr, str]) -> Iterator[str]:
    if (name := names.get(canonical(order))) is not None:
        yield name
        return
    inside = order.function.expand(deep=False) if isinstance(order, Integral) else order
    if not isinstance(inside, Add):
        raise ValueError(f"{order} is printed, and measured are only {', '.join(map(str, names))}")
    for term in inside.args:
        yield from _names(Integral(term, *order.limits) if isinstance(order, Integral) else term, names)
