"""Real and complex matrices of arbitrary precision: mpmath's, or Arb's through python-flint where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Arithmetic:
    """Matrices of one library: how to make real and complex ones from mpf rows, how to solve and invert, and back."""

    name: str
    real: Callable[[list[list[Any]]], Any]
    complex: Callable[[list[list[Any]]], Any]
    solve: Callable[[Any, Any], Any]
    inverse: Callable[[Any], Any]
    real_part: Callable[[Any], Any]
    number: Callable[[Any], Any]
    trim: Callable[[Any], Any]
    back: Callable[[Any], Any]
    working: Callable[[], AbstractContextManager[Any]]


def _mpmath_arithmetic(mp: Any) -> Arithmetic:
    def real_part(matrix: Any) -> Any:
        return matrix.apply(mp.re)

    def same(x: Any) -> Any:
        return x

    return Arithmetic(
        "mpmath", mp.matrix, mp.matrix, mp.lu_solve, mp.inverse, real_part, mp.mpf, same, same, lambda: nullcontext()
    )


def _flint_arithmetic(mp: Any) -> Arithmetic:
    import flint

    def real_part(matrix: Any) -> Any:
        return flint.arb_mat([[x.real for x in row] for row in matrix.tolist()])

    def back(x: Any) -> Any:
        mantissa, exponent = x.mid().man_exp()
        return mp.ldexp(mp.mpf(int(mantissa)), int(exponent))

    return Arithmetic(
        "flint",
        lambda rows: flint.arb_mat([[flint.arb(x) for x in row] for row in rows]),
        lambda rows: flint.acb_mat([[flint.acb(x) for x in row] for row in rows]),
        lambda matrix, right: matrix.solve(right, algorithm="approx"),  # of midpoints: radii would only be trimmed
        lambda matrix: matrix.inv().mid(),
        real_part,
        flint.arb,
        lambda matrix: matrix.mid(),
        back,
        lambda: flint.ctx.workprec(mp.prec),
    )


def arithmetic(mp: Any) -> Arithmetic:
    """Return flint's arithmetic where it is installed and mpmath's elsewhere, at the precision of the context ``mp``.

    >>> from fsl_num.exponential_sums_digits import private_context
    >>> arithmetic(private_context(30)).name in ("flint", "mpmath")
    True
    """
    try:
        return _flint_arithmetic(mp)
    except ImportError:
        return _mpmath_arithmetic(mp)
