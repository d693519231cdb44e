"""gamma as exact polynomials: the pieces of a schedule in rational numbers and balls, or a PPoly, its sign proven."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fsl_num.schedules import Schedule
from fsl_num.volterra.pieces import Piece, schedule_pieces
from fsl_num.volterra.problem import Problem

_HALVINGS = 12


def rational(flint: Any, number: Any) -> Any:
    """Return the exact value of a float, an int or a Fraction as fmpq."""
    exact = Fraction(number)
    return flint.fmpq(exact.numerator, exact.denominator)


def _not_negative(flint: Any, coefficients: list[Any], length: Any, halvings: int = _HALVINGS) -> bool:
    """Whether Bernstein coefficients prove the polynomial to be at least 0 on [0, length], all in rational numbers."""
    degree = len(coefficients) - 1
    scaled = [c * length**i for i, c in enumerate(coefficients)]
    bernstein = []
    for k in range(degree + 1):
        total, ratio = flint.fmpq(0), flint.fmpq(1)
        for i in range(k + 1):
            total += ratio * scaled[i]
            ratio = ratio * (k - i) / (degree - i) if i < degree else ratio
        bernstein.append(total)
    if all(x >= 0 for x in bernstein):
        return True
    if halvings == 0 or bernstein[0] < 0 or bernstein[-1] < 0:
        return False
    half = length / 2
    return all(
        _not_negative(flint, _moved(flint, coefficients, shift), half, halvings - 1) for shift in (flint.fmpq(0), half)
    )


def _moved(flint: Any, coefficients: list[Any], shift: Any) -> list[Any]:
    """Return the coefficients of p(x + shift)."""
    polynomial = flint.fmpq_poly(coefficients)(flint.fmpq_poly([shift, 1]))
    coefficients_moved = list(polynomial.coeffs())
    return coefficients_moved + [flint.fmpq(0)] * (len(coefficients) - len(coefficients_moved))


def _polynomials(flint: Any, function: Any, end: Any) -> list[Piece]:
    edges = [rational(flint, x) for x in function.x.tolist()]
    table = np.asarray(function.c)
    if table.ndim != 2 or table.dtype.kind != "f" or not np.isfinite(table).all():
        raise ValueError(f"gamma as a PPoly must have real finite coefficients of one dimension, got {table.shape}")
    if not (edges[0] <= 0 and edges[-1] >= end):
        raise ValueError(
            f"gamma as a PPoly must cover [0, horizon={float(end.p) / float(end.q)!r}], got the breakpoints"
            f" {float(function.x[0])!r} to {float(function.x[-1])!r}"
        )
    pieces = []
    for i, (low, high) in enumerate(zip(edges[:-1], edges[1:], strict=True)):
        start, stop = max(low, flint.fmpq(0)), min(high, end)
        if start >= stop:
            continue
        coefficients = [rational(flint, x) for x in table[::-1, i].tolist()]
        coefficients = _moved(flint, coefficients, start - low)
        if not _not_negative(flint, coefficients, stop - start):
            raise ValueError(
                f"gamma must be at least 0 on [0, horizon], which could not be proven for the polynomial on"
                f" [{float(function.x[i])!r}, {float(function.x[i + 1])!r}]"
            )
        pieces.append(Piece(start, stop - start, coefficients))
    return pieces


def pieces(flint: Any, problem: Problem) -> list[Piece]:
    """Return gamma on [0, horizon]; where it varies, the float of the schedule's own T stands for T itself.

    Raises ValueError for a gamma that is not known as piecewise polynomial, or a PPoly that is negative somewhere.
    """
    end = rational(flint, problem.end)
    plan = problem.gamma
    if isinstance(plan, float):
        return [Piece(flint.fmpq(0), end, [rational(flint, problem.exact.get("gamma", plan))])]
    from scipy.interpolate import PPoly

    if isinstance(plan, PPoly):
        return _polynomials(flint, plan, end)
    whole = None
    if isinstance(plan, Schedule):
        whole = schedule_pieces(plan, lambda x: rational(flint, x), lambda x: flint.arb(x).log())
    if whole is None:
        raise ValueError(
            "enclosures need a gamma that is piecewise polynomial in intrinsic time: a number, the schedules Constant,"
            " ExponentialDecay, StableDecay, Discrete and phases of constant rate, and functions that are a"
            f" scipy.interpolate.PPoly; got {type(plan).__name__}"
        )
    assert isinstance(plan, Schedule)
    if problem.is_constant:
        return [Piece(flint.fmpq(0), end, whole[0].coefficients)]
    if problem.end >= plan.total_intrinsic_time * (1 - 1e-15):
        return whole
    kept = [piece for piece in whole if piece.start < end]
    last = kept[-1]
    length = end - last.start
    return [*kept[:-1], Piece(last.start, length, last.coefficients) if length < last.length else last]
