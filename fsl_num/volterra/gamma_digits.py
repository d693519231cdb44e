r"""gamma(t) to any number of digits, evaluated from the definition of the schedule and not from floats.

In intrinsic time, with r = T - t left: exponential decay is linear in r, gamma = (final + zeta r)/B; the linear
schedule is sqrt(final^2 + 2 (peak - final) r/K)/B; power decay is peak (r/T)^(p/(p+1))/B. The parameters are the
binary values of the floats that were given; T and the breaks are exact, not rounded to floats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fsl_num.schedules import Constant, ExponentialDecay, Linear, PowerDecay, Schedule, StableDecay
from fsl_num.volterra.problem import Problem


@dataclass(frozen=True)
class ExactGamma:
    """gamma as ``value(t, r)`` with r = ``end`` - t, its ``breaks``, and where it is singular at or after the end.

    ``depth``: None where gamma is entire between the breaks, else the distance r from the end below which panels need
    not shrink any more.
    """

    value: Callable[[Any, Any], Any]
    end: Any
    breaks: list[Any]
    depth: Any | None


def _of_schedule(mp: Any, plan: Schedule, depth: Any) -> tuple[Any, Callable[[Any, Any], Any], list[Any], Any | None]:
    """Return T, gamma as a function of (t, r before T), the breaks and the depth."""
    peak, steps, batch = mp.mpf(plan.peak), mp.mpf(plan.steps), mp.mpf(plan.batch_size)
    if isinstance(plan, Constant):
        return peak * steps, lambda t, r: peak / batch, [], None
    if isinstance(plan, (ExponentialDecay, StableDecay)):
        final = mp.mpf(plan.final)
        share = mp.mpf(plan.decay_fraction) if isinstance(plan, StableDecay) else mp.mpf(1)
        if final == peak:
            return peak * steps, lambda t, r: peak / batch, [], None
        zeta = mp.log(peak / final) / (steps * share)
        decay = (peak - final) / zeta
        stable = peak * steps * (1 - share)

        def falling(t: Any, r: Any) -> Any:
            return (final + zeta * r) / batch if r < decay else peak / batch

        return stable + decay, falling, [stable] if stable > 0 else [], None
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
    raise ValueError(
        f"gamma of {type(plan).__name__} is not available to more than float precision (it needs a root of the"
        " intrinsic time); pass gamma as a function of one mpf t, or use method 'panels'"
    )


def exact_gamma(mp: Any, problem: Problem, depth: Any) -> ExactGamma:
    """Return the gamma of ``problem`` at the precision of ``mp``; ``depth`` as in :class:`ExactGamma`, for power ends.

    Numbers, the schedules constant, exponential decay, warmup-stable-decay, linear and power decay, and functions of
    one mpf. A horizon that equals the float of the schedule's T stands for T itself.

    Raises ValueError for other schedules, and (on evaluation) ValueError or TypeError where a function does not return
    finite real numbers >= 0.
    """
    if isinstance(problem.gamma, float):
        number = problem.number("gamma", mp)
        return ExactGamma(lambda t, r: number, mp.mpf(problem.end), [], None)
    if isinstance(problem.gamma, Schedule):
        plan = problem.gamma
        total, value, breaks, needed = _of_schedule(mp, plan, depth)
        if problem.end >= plan.total_intrinsic_time * (1 - 1e-15):
            return ExactGamma(value, total, breaks, needed)
        end = mp.mpf(problem.end)
        late = total - end
        inside = [b for b in breaks if b < end]
        return ExactGamma(lambda t, r: value(t, r + late), end, inside, None if needed is None else max(needed, late))
    function: Callable[[Any], Any] = problem.gamma

    def called(t: Any, r: Any) -> Any:
        try:
            raw = function(t)
            number = mp.mpf(raw)
        except (TypeError, ValueError) as reason:
            raise TypeError(
                f"gamma must map one mpf to a real number for this method, which fails at t = {mp.nstr(t, 8)}: {reason}"
            ) from reason
        if not (mp.isfinite(number) and number >= 0):
            raise ValueError(f"gamma must be finite and at least 0 on [0, horizon], got {raw!r} at t = {mp.nstr(t, 8)}")
        return number

    return ExactGamma(called, mp.mpf(problem.end), [mp.mpf(b) for b in problem.breaks], depth)
