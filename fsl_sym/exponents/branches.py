"""The linear programmes of a law written out, so that a certificate can be held against the law it claims to solve."""

from __future__ import annotations

from typing import Any

from fsl_sym.exponents.clock import Clock
from fsl_sym.exponents.law import Law
from fsl_sym.exponents.programme import Arithmetic, Programme

Rows = tuple[tuple[tuple[Any, ...], ...], tuple[tuple[Any, ...], ...]]


def branches_of(law: Law) -> tuple[Rows, ...]:
    """(coefficients, right sides) of every way to resolve the minima and the constraints of a law.

    >>> from sympy import symbols
    >>> from fsl_sym.domain import Domain
    >>> x, N = symbols("x N", positive=True)
    >>> len(branches_of(Law(x + N / x, (x,), N, (), Domain({}))))
    1
    """
    arithmetic, clock = Arithmetic(law.field), Clock()
    programmes = (
        Programme(law, branch, choice, arithmetic) for branch in law.branches(clock) for choice in law.choices(clock)
    )
    return tuple(
        (
            tuple(tuple(map(law.expression, row.coefficients)) for row in programme.rows),
            tuple(tuple(map(law.expression, row.right)) for row in programme.rows),
        )
        for programme in programmes
    )
