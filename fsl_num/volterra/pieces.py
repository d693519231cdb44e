r"""gamma as polynomials on pieces of intrinsic time, from the parameters of a schedule and not from its floats.

With phi = peak exp(-zeta tau) the intrinsic time is t = (peak - phi)/zeta, so that gamma = (peak - zeta t)/B is linear:
exponential decay and warmup-stable-decay are piecewise linear, schedules by steps and multi-step piecewise constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fsl_num.schedules import Constant, Discrete, ExponentialDecay, Phased, Schedule, StableDecay


@dataclass(frozen=True)
class Piece:
    """gamma(start + x) = sum_i coefficients[i] x^i for 0 <= x <= length; ``start`` is a sum of exact numbers."""

    start: Any
    length: Any
    coefficients: list[Any]


def schedule_pieces(plan: Schedule, number: Callable[[float], Any], log: Callable[[Any], Any]) -> list[Piece] | None:
    """Return the pieces of a schedule in numbers of any kind, neighbours of one gamma as one; None for other schedules.

    ``number``: the exact value of a float. ``log``: of a quotient of two.

    >>> import math
    >>> plan = StableDecay(peak=0.5, final=0.125, steps=40.0, decay_fraction=0.25)
    >>> [(piece.start, piece.coefficients[0]) for piece in schedule_pieces(plan, float, math.log)]
    [(0.0, 0.5), (15.0, 0.5)]
    """
    known = type(plan) in (Constant, Discrete, ExponentialDecay, StableDecay)  # a subclass may be anything
    if isinstance(plan, (ExponentialDecay, StableDecay)) and known and plan.final != plan.peak:
        peak, final, steps, batch = (number(x) for x in (plan.peak, plan.final, plan.steps, plan.batch_size))
        share = number(plan.decay_fraction) if isinstance(plan, StableDecay) else number(1.0)
        zeta = log(peak / final) / (steps * share)
        stable = peak * steps * (1 - share)
        falling = Piece(stable, (peak - final) / zeta, [peak / batch, -zeta / batch])
        return [Piece(number(0.0), stable, [peak / batch]), falling] if stable > 0 else [falling]
    if isinstance(plan, Discrete) and known:
        batches = np.broadcast_to(plan.batch_sizes, plan.rates.shape)
        levels = [(rate, 1.0, batch) for rate, batch in zip(plan.rates, batches, strict=True) if rate > 0.0]
    elif known:
        levels = [(plan.peak, plan.steps, plan.batch_size)]
    elif isinstance(plan, Phased) and plan.is_piecewise_constant:
        levels = [(phase.peak, phase.steps, plan.batch_size) for phase in plan.phases]
    else:
        return None
    pieces: list[Piece] = []
    start = number(0.0)
    for rate, count, batch in levels:
        length, gamma = number(rate) * number(count), number(rate) / number(batch)
        if pieces and pieces[-1].coefficients[0] == gamma:
            pieces[-1] = Piece(pieces[-1].start, pieces[-1].length + length, [gamma])
        else:
            pieces.append(Piece(start, length, [gamma]))
        start += length
    return pieces
