r"""gamma(t) to any number of digits, evaluated from the definition of the schedule and not from floats.

In intrinsic time, with r = T - t left, the linear schedule is sqrt(final^2 + 2 (peak - final) r/K)/B and power decay
peak (r/T)^(p/(p+1))/B. The cosine schedule has no such form: its intrinsic time is inverted by Newton's iteration. What
is a polynomial between breaks is so in :mod:`fsl_num.volterra.pieces`. The parameters are the binary values of the
floats that were given; T and the breaks are exact, not rounded.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fsl_num.schedules import Cosine, Linear, PowerDecay, Schedule
from fsl_num.volterra.pieces import Piece, schedule_pieces
from fsl_num.volterra.problem import Problem

_CLOSE = 1e-6  # relative error of an angle in floats: far more than was ever met, and enough for its series


@dataclass(frozen=True)
class ExactGamma:
    """gamma as ``value(t, r)`` with r = ``end`` - t, its ``breaks``, and where it is singular at or after the end.

    ``depth``: None where gamma is entire between the breaks, else the distance r from the end below which panels need
    not shrink any more. ``steps``: whether gamma is constant between the breaks. At a break ``value`` is the limit from
    below, or both limits are the same.
    """

    value: Callable[[Any, Any], Any]
    end: Any
    breaks: list[Any]
    depth: Any | None
    steps: bool = False


def _of_schedule(mp: Any, plan: Schedule, depth: Any) -> tuple[Any, Callable[[Any, Any], Any], list[Any], Any | None]:
    """Return T, gamma as a function of (t, r before T), the breaks and the depth."""
    parts = schedule_pieces(plan, mp.mpf, mp.log)
    if parts is not None:
        return _of_pieces(mp, parts)
    raised = isinstance(plan, PowerDecay) and plan.power != 0 and plan.final > 0.0  # no closed form in intrinsic time
    if raised or type(plan) not in (Cosine, Linear, PowerDecay):  # a subclass may be anything
        raise ValueError(
            f"gamma of {type(plan).__name__} is not available to more than float precision; pass gamma as a function"
            " of one mpf t, or use method 'panels'"
        )
    peak, steps, batch = mp.mpf(plan.peak), mp.mpf(plan.steps), mp.mpf(plan.batch_size)
    if isinstance(plan, Linear):
        final = mp.mpf(plan.final)
        total = steps * (peak + final) / 2
        slope = 2 * (peak - final) / steps
        if slope == 0:
            return total, lambda t, r: peak / batch, [], None
        return total, lambda t, r: mp.sqrt(final**2 + slope * r) / batch, [], max(depth, final**2 / slope)
    if isinstance(plan, PowerDecay):
        power = mp.mpf(plan.power)
        total = peak * steps / (power + 1)
        if power == 0:
            return total, lambda t, r: peak / batch, [], None
        share = power / (power + 1)
        return total, lambda t, r: peak * (r / total) ** share / batch if r > 0 else mp.mpf(0), [], depth
    assert isinstance(plan, Cosine)
    return _cosine(mp, plan, depth)


def _of_pieces(mp: Any, parts: list[Piece]) -> tuple[Any, Callable[[Any, Any], Any], list[Any], Any | None]:
    """Return the same for polynomials."""
    breaks = [part.start for part in parts[1:]]

    def value(t: Any, r: Any) -> Any:
        part = parts[bisect_left(breaks, t)]
        return mp.polyval(part.coefficients[::-1], t - part.start)

    return parts[-1].start + parts[-1].length, value, breaks, None


def _cosine(mp: Any, plan: Cosine, depth: Any) -> tuple[Any, Callable[[Any, Any], Any], list[Any], Any | None]:
    """Return the same for the cosine schedule.

    With x = pi (steps left)/K the rate is a + b (1 - cos x), and r = (K/pi) (a x + b (x - sin x)).
    """
    final, batch = mp.mpf(plan.final), mp.mpf(plan.batch_size)
    half, unit = (mp.mpf(plan.peak) - final) / 2, mp.mpf(plan.steps) / mp.pi
    total = unit * mp.pi * (final + half)
    if half == 0:
        return total, lambda t, r: final / batch, [], None

    def gap(x: Any, sine: Any) -> Any:
        if x > 0.05:
            return x - sine  # at the cost of four digits, which the caller has to spare
        term = series = x**3 / 6
        square, k = -(x**2), 1
        while abs(term) > series * mp.eps:
            term *= square / ((2 * k + 2) * (2 * k + 3))
            series += term
            k += 1
        return series

    def value(t: Any, r: Any) -> Any:
        level = r / unit
        if level <= 0:
            return final / batch
        x = mp.mpf(_float_angle(float(level), float(final), float(half)))
        # one sine and one cosine: the rest is the Taylor series of a x + b (x - sin x) - level about the float x
        cosine, sine = mp.cos_sin(x / 2)
        rate, waves = final + 2 * half * sine**2, (2 * half * sine * cosine, half * (1 - 2 * sine**2))
        series = [final * x + half * gap(x, 2 * sine * cosine) - level, rate]
        move = -series[0] / rate
        if not abs(move) < x * _CLOSE:
            raise ArithmeticError(f"the intrinsic time of the cosine schedule was not inverted at r = {mp.nstr(r, 8)}")
        factor, terms = mp.mpf(1), 3 + math.ceil(mp.prec / -math.log2(max(float(abs(move) / x), 1e-16)))
        for k in range(2, terms):
            factor = (-factor if k % 2 == 0 and k > 2 else factor) / k  # sin, cos, -sin, -cos, ...
            series.append(factor * waves[k % 2])
        known = 2  # coefficients that the move so far is worth: twice as many after each of Newton's steps
        while known < terms:
            known = min(2 * known, terms)
            total, slope = mp.mpf(0), mp.mpf(0)
            for coefficient in reversed(series[:known]):
                slope = slope * move + total
                total = total * move + coefficient
            move -= total / slope
        slope = mp.mpf(0)
        for k in range(terms - 1, 0, -1):
            slope = slope * move + k * series[k]
        return slope / batch

    # the rate vanishes at x = i y, where gamma has a branch point
    y = 2 * mp.asinh(mp.sqrt(final / (2 * half)))
    return total, value, [], max(depth, unit * abs(final * y - half * (mp.sinh(y) - y)))


def _float_angle(level: float, final: float, half: float) -> float:
    """Return about the root x in (0, pi] of final x + half (x - sin x) = level by Newton's steps in floats."""
    # x - sin x >= x^3/pi^2 on [0, pi]: a start above the root of a convex function, from which Newton's steps fall
    x = min(math.cbrt(math.pi**2 * level / half), math.pi)
    if final > 0.0:
        x = min(x, level / final)
    for _ in range(60):
        gap = x - math.sin(x) if x > 0.01 else x**3 / 6.0 * (1.0 - x * x / 20.0)
        step = (final * x + half * gap - level) / (final + 2.0 * half * math.sin(0.5 * x) ** 2)
        if not abs(step) > 1e-12 * x:
            break
        x = max(x - step, 0.1 * x)
    return x


def exact_gamma(mp: Any, problem: Problem, depth: Any) -> ExactGamma:
    """Return the gamma of ``problem`` at the precision of ``mp``; ``depth`` as in :class:`ExactGamma`, for power ends.

    Numbers, the schedules constant, exponential decay, warmup-stable-decay, linear, power decay, cosine, discrete and
    phases of constant rate, and functions of one mpf. A horizon that equals the float of the schedule's T stands for T
    itself.

    Raises ValueError for other schedules, and (on evaluation) ValueError or TypeError where a function does not return
    finite real numbers >= 0.
    """
    if isinstance(problem.gamma, float):
        number = problem.number("gamma", mp)
        return ExactGamma(lambda t, r: number, mp.mpf(problem.end), [], None, True)
    if isinstance(problem.gamma, Schedule):
        plan = problem.gamma
        total, value, breaks, needed = _of_schedule(mp, plan, depth)
        if problem.end >= plan.total_intrinsic_time * (1 - 1e-15):
            return ExactGamma(value, total, breaks, needed, plan.is_piecewise_constant)
        end = mp.mpf(problem.end)
        late = total - end
        inside = [b for b in breaks if b < end]
        needed = None if needed is None else max(needed, late)
        return ExactGamma(lambda t, r: value(t, r + late), end, inside, needed, plan.is_piecewise_constant)
    function: Callable[[Any], Any] = problem.gamma

    latest = mp.mpf(problem.end) * (1 - mp.eps)  # a function may jump at the very end, where no break says so

    def called(t: Any, r: Any) -> Any:
        try:
            raw = function(min(t, latest))
            number = mp.mpf(raw)
        except (TypeError, ValueError) as reason:
            raise TypeError(
                f"gamma must map one mpf to a real number for this method, which fails at t = {mp.nstr(t, 8)}: {reason}"
            ) from reason
        if not (mp.isfinite(number) and number >= 0):
            raise ValueError(f"gamma must be finite and at least 0 on [0, horizon], got {raw!r} at t = {mp.nstr(t, 8)}")
        return number

    return ExactGamma(called, mp.mpf(problem.end), [mp.mpf(b) for b in problem.breaks], depth)
