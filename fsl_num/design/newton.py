r"""Newton's method for the rates of all steps under a functional law: linear in their number.

In the intrinsic times left R_i the noise of a step depends on R_i, R_{i+1} and, through e, on R_0 alone, so that the
second derivatives are three diagonals and one row. Steps at a bound keep their rates; neighbours that must have one
rate, where rates never rise, move together.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from fsl_num.curves.laws import FunctionalLaw
from fsl_num.design.final_loss import falling_signal
from fsl_num.design.objectives import Objective
from fsl_num.validation import Array

_ITERATIONS: Final = 15
_PINNINGS: Final = 4
_AT_REST: Final = 1e-12  # nats
_SAME: Final = 1e-10  # relative: neighbours so near have one rate
_NOTHING: Final = 1e-100  # of the peak: a rate so low is 0


def linear_gap(rates: Array, gradient: Array, low: float, high: float, falling: bool) -> float:
    """Return how much the loss could still fall if it were linear: 0 where the conditions of Kuhn and Tucker hold.

    In nats, over all rates in [low, high], and where ``falling`` among those that never rise, whose extreme points jump
    once from high to low. Of a convex loss it bounds what is lost.

    >>> linear_gap(np.array([1.0, 0.5]), np.array([-1.0, 0.2]), 0.0, 1.0, False)
    0.1
    """
    if not falling:
        return float(np.maximum(gradient * (rates - low), gradient * (rates - high)).sum())
    extreme = (high - low) * min(0.0, float(np.cumsum(gradient).min()))
    return float(gradient @ (rates - low)) - extreme


def newton(
    law: FunctionalLaw, theta: Array, before: Array, objective: Objective, rates: Array, low: float,
    high: float, falling: bool, noise: Array | float = 1.0,
) -> Array:  # fmt: skip
    """Return rates near ``rates``, a point close to a minimum, where the conditions of Kuhn and Tucker hold closely.

    ``objective``: the final loss of the law after the steps ``before``, as :func:`~fsl_num.design.final_loss.final_loss`
    gives it; of the rest see :func:`~fsl_num.design.water_filling.water_filling`. The loss never rises.
    """  # noqa: E501
    ones = np.ones(rates.size)
    value, gradient = objective(rates, ones)
    gap = linear_gap(rates, gradient, low, high, falling)
    for _ in range(_ITERATIONS):
        base, slope = rates, gradient
        held = _held(rates, gradient, low, high, falling)
        for _ in range(_PINNINGS):  # what Newton's step takes over a bound stays at it, and the others move anew
            try:
                move = _move(law, theta, before, base, slope, held, falling, noise)
            except np.linalg.LinAlgError:  # of several steps at 0 the second derivatives are singular
                return rates
            over = (base + move >= high) & ~held, (base + move <= low) & ~held
            if not (over[0] | over[1]).any():
                break
            base = np.where(over[0], high, np.where(over[1], low, base))
            base = np.minimum.accumulate(base) if falling else base
            held |= over[0] | over[1]
            slope = objective(base, ones)[1]
        for halving in range(4):
            trial = np.clip(base + 0.5**halving * move, low, high)
            trial = np.minimum.accumulate(trial) if falling else trial
            new_value, new_gradient = objective(trial, ones)
            new_gap = linear_gap(trial, new_gradient, low, high, falling)
            if new_value < value - 1e-12 or (new_gap < gap and new_value <= value + 1e-14 * abs(value)):
                break
        else:
            return rates
        rates, value, gradient, gap = trial, new_value, new_gradient, new_gap
        if gap < _AT_REST:
            return rates
    return rates


def _held(rates: Array, gradient: Array, low: float, high: float, falling: bool) -> Any:
    """The steps that a bound holds: one whose rate cannot rise (fall) and would, where rates never rise together with
    all after (before) it that are at the bound."""
    at_high, at_low = rates >= high, rates <= low
    if falling:
        pushed = np.cumsum(np.where(at_high, gradient, 0.0)[::-1])[::-1]
        gone = np.cumsum(np.where(at_low, gradient, 0.0))
        return (at_high & (pushed <= 0.0)) | (at_low & (gone >= 0.0))
    return (at_high & (gradient <= 0.0)) | (at_low & (gradient >= 0.0))


def _move(
    law: FunctionalLaw, theta: Array, before: Array, rates: Array, gradient: Array, held: Any,
    falling: bool, noise: Array | float,
) -> Array:  # fmt: skip
    """Newton's step for the steps that are not ``held``."""
    from scipy.linalg import solve_banded

    # cells: runs of steps that move together; a step that is held belongs to the next cell, and does not move
    joined = np.zeros(rates.size, dtype=bool)
    if falling:  # equal neighbours stay together where the one before would fall below the one after
        equal = np.append(False, np.abs(np.diff(rates)) <= _SAME * rates[1:]) & ~held & ~np.append(True, held[:-1])
        before_it = np.append(0.0, np.cumsum(gradient)[:-1])
        since = before_it - before_it[np.maximum.accumulate(np.where(equal, 0, np.arange(rates.size)))]
        joined = equal & (since > 0.0)
    start = ~held & ~joined
    count = int(start.sum())
    if not count:
        return np.zeros_like(rates)
    cell = np.where(held, np.cumsum(start), np.cumsum(start) - 1)
    size = np.bincount(cell[~held], minlength=count + 1)
    place = np.arange(rates.size) - np.flatnonzero(start)[np.minimum(np.cumsum(start) - 1, count - 1).clip(0)]
    share = np.where(held, 0.0, 1.0 / np.maximum(size[cell], 1))
    late = np.where(held, 0.0, place) * share
    later = late + share
    part = _second_derivatives(law, theta, before, rates, noise)

    def total(weights: Array) -> Array:
        return np.bincount(cell, weights, minlength=count + 1).astype(np.float64)

    aa, ab, bb, a_s, b_s, s_s = part
    first = total(aa * (1 - late) ** 2 + 2 * ab * (1 - late) * (1 - later) + bb * (1 - later) ** 2)
    second = total(aa * late**2 + 2 * ab * late * later + bb * later**2)
    cross = total(aa * late * (1 - late) + ab * ((1 - late) * later + late * (1 - later)) + bb * later * (1 - later))
    diagonal = first + np.append(0.0, second[:-1])
    row = total(a_s * (1 - late) + b_s * (1 - later)) + np.append(0.0, total(a_s * late + b_s * later)[:-1])
    diagonal[0] += s_s + 2.0 * row[0]
    row[0] = 0.0
    # the gradient by the times left at the starts of the cells
    by_rate = np.bincount(cell[~held], gradient[~held], minlength=count + 1) / np.maximum(size, 1)
    slope = np.diff(by_rate[:count], prepend=0.0)
    banded = np.zeros((3, count))
    banded[1], banded[0, 1:], banded[2, :-1] = diagonal[:count], cross[: count - 1], cross[: count - 1]
    border = np.stack([slope, row[:count], np.eye(1, count)[0]], axis=1)
    solved: Any = solve_banded((1, 1), banded, border)
    bordered = border[:, 1:].T @ solved[:, 1:] + np.array([[0.0, 1.0], [1.0, 0.0]])
    left = -(solved[:, 0] - solved[:, 1:] @ np.linalg.solve(bordered, border[:, 1:].T @ solved[:, 0]))
    left = np.append(left, 0.0)
    return np.where(held, 0.0, -np.diff(np.append(left, 0.0))[cell] * share)


def _second_derivatives(
    law: FunctionalLaw, theta: Array, before: Array, rates: Array, noise: Array | float
) -> tuple[Array, Array, Array, Array, Array, float]:
    """Of the noise of each step by the times left at its start a and end b and by all of it S, and of the rest by S."""
    values = dict(zip(law.names, theta.tolist(), strict=True))
    c, gamma, s, p, unlearnt = values["c"], values["gamma"], values["s"], values.get("p", 1.0), values.get("E", 0.0)

    def kernels(left: Array) -> tuple[Array, Array, Array]:
        base = 1.0 + c * left
        kernel = c * gamma * base ** (-1.0 - gamma)
        return base**-gamma, kernel, -(1.0 + gamma) * c * kernel / base

    def signals(time: Any) -> tuple[Any, Any, Any]:
        signal, falls = falling_signal(time, s, values["c_e"])
        return signal, falls, (1.0 + 1.0 / s) * falls**2 / signal

    left = np.append(np.cumsum(rates[::-1])[::-1], 0.0)
    passed = float(before.sum())
    held, kernel, slope = kernels(left)
    gone, k_a, k_b, s_a, s_b = np.diff(held), kernel[:-1], kernel[1:], slope[:-1], slope[1:]
    amount = (rates / law.reference_rate) ** p
    # a step at 0 has no length and no noise; its derivatives are infinite for p < 1, and it is held where it is
    inverse = np.divide(1.0, rates, out=np.zeros_like(rates), where=rates > _NOTHING * rates.max())
    by, twice = p * amount * inverse, p * (p - 1.0) * amount * inverse**2
    ends = passed + left[0] - left[1:]
    level, level_1, level_2 = (unlearnt * signal for signal in signals(ends))
    level += values["B"]
    with_a, with_b = by * gone + amount * k_a, by * gone + amount * k_b
    aa = level * (twice * gone + 2 * by * k_a + amount * s_a)
    bb = level * (twice * gone + 2 * by * k_b - amount * s_b) + 2 * level_1 * with_b + level_2 * amount * gone
    ab = -level * (twice * gone + by * (k_a + k_b)) - level_1 * with_a
    a_s, b_s = level_1 * with_a, -level_1 * with_b - level_2 * amount * gone
    s_s = float((level_2 * amount) @ gone + values["A"] * signals(passed + left[0])[2])
    if before.size:
        earlier = kernels(left[0] + np.append(np.cumsum(before[::-1])[::-1], 0.0))[2]
        level = values["B"] + unlearnt * signals(np.cumsum(before))[0]
        s_s -= float(((before / law.reference_rate) ** p * level * noise) @ np.diff(earlier))
    return aa, ab, bb, a_s, b_s, s_s
