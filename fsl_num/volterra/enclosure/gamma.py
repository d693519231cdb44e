r"""gamma as exact polynomials on pieces of intrinsic time, from the parameters of a schedule and not from its floats.

With phi = peak exp(-zeta tau) the intrinsic time is t = (peak - phi)/zeta, so that gamma = (peak - zeta t)/B is linear:
exponential decay and warmup-stable-decay are piecewise linear, schedules by steps and multi-step piecewise constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fsl_num.schedules import Constant, Discrete, ExponentialDecay, Phased, Schedule, StableDecay
from fsl_num.volterra.problem import Problem

ACCEPTED = (
    "a number, the schedules Constant, ExponentialDecay, StableDecay, Discrete and phases of constant rate, and"
    " functions that are a scipy.interpolate.PPoly"
)

_HALVINGS = 12


@dataclass(frozen=True)
class Piece:
    """gamma(start + x) = sum_i coefficients[i] x^i for 0 <= x <= length.

    ``start`` is a rational number; ``length`` and ``coefficients`` are rational or balls.
    """

    start: Any
    length: Any
    coefficients: list[Any]


def rational(flint: Any, number: Any) -> Any:
    """Return the exact value of a float, an int or a Fraction as fmpq."""
    exact = Fraction(number)
    return flint.fmpq(exact.numerator, exact.denominator)


def ball(flint: Any, number: Any) -> Any:
    """Return a ball around a rational number, and balls as they are."""
    return flint.arb(number)


def _decay(flint: Any, plan: ExponentialDecay | StableDecay) -> list[Piece]:
    peak, final, steps = (rational(flint, x) for x in (plan.peak, plan.final, plan.steps))
    batch = rational(flint, plan.batch_size)
    share = rational(flint, plan.decay_fraction) if isinstance(plan, StableDecay) else flint.fmpq(1)
    if final == peak:
        return [Piece(flint.fmpq(0), peak * steps, [peak / batch])]
    zeta = ball(flint, peak / final).log() / ball(flint, steps * share)
    stable = peak * steps * (1 - share)
    falling = Piece(stable, ball(flint, peak - final) / zeta, [ball(flint, peak / batch), -zeta / ball(flint, batch)])
    return [Piece(flint.fmpq(0), stable, [peak / batch]), falling] if stable > 0 else [falling]


def _steps(flint: Any, plan: Discrete | Phased) -> list[Piece]:
    """Return one piece for every run of steps of equal gamma; steps of rate 0 take no intrinsic time."""
    if isinstance(plan, Discrete):
        batches = np.broadcast_to(plan.batch_sizes, plan.rates.shape)
        steps = [(rate, 1.0, batch) for rate, batch in zip(plan.rates, batches, strict=True) if rate > 0.0]
    else:
        steps = [(phase.peak, phase.steps, plan.batch_size) for phase in plan.phases]
    pieces: list[Piece] = []
    start = flint.fmpq(0)
    for rate, count, batch in steps:
        length = rational(flint, rate) * rational(flint, count)
        gamma = rational(flint, rate) / rational(flint, batch)
        if pieces and pieces[-1].coefficients[0] == gamma:
            pieces[-1] = Piece(pieces[-1].start, pieces[-1].length + length, [gamma])
        else:
            pieces.append(Piece(start, length, [gamma]))
        start += length
    return pieces


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
    if isinstance(plan, Constant):
        return [Piece(flint.fmpq(0), end, [rational(flint, plan.peak) / rational(flint, plan.batch_size)])]
    constant = isinstance(plan, (Discrete, Phased)) and plan.is_piecewise_constant
    if constant or isinstance(plan, (ExponentialDecay, StableDecay)):
        whole = _steps(flint, plan) if constant else _decay(flint, plan)  # type: ignore[arg-type]
        assert isinstance(plan, Schedule)
        if problem.end >= plan.total_intrinsic_time * (1 - 1e-15):
            return whole
        kept = [piece for piece in whole if piece.start < end]
        last = kept[-1]
        length = end - last.start
        return [*kept[:-1], Piece(last.start, length, last.coefficients) if length < last.length else last]
    from scipy.interpolate import PPoly

    if isinstance(plan, PPoly):
        return _polynomials(flint, plan, end)
    raise ValueError(
        f"enclosures need a gamma that is piecewise polynomial in intrinsic time: {ACCEPTED}; got {type(plan).__name__}"
    )
