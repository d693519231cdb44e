"""The scaling laws of :mod:`fsl_num.paper.allocation.numeric_laws` at one point after another, compiled."""

from __future__ import annotations

import math
from typing import NamedTuple

from fsl_num.compiled import compiled
from fsl_num.validation import Array

SCHEDULES = ("constant", "exp-decay", "wsd", "multi-step", "inverse-sqrt", "cyclic", "power-decay")
"""Their places stand for them here."""
FAR = 40.0
"""1 + exp(-40) is 1 in double precision."""
CONSTANT, EXP_DECAY, WSD, MULTI_STEP, INVERSE_SQRT = range(5)


class Numbers(NamedTuple):
    """A law in numbers: ``schedule`` is its place in :data:`SCHEDULES`; of a variable its place in a point, -1 where it
    is not searched. ``spent``: 1 where log M is taken from the budget. ``log_noise``: log sigma^2.
    """

    schedule: int
    s: float
    beta: float
    log_budget: float
    spent: float
    capped: bool
    power: float
    last_power: float
    log_noise: float
    model_size: int
    decay_fraction: int
    final_over_peak: int
    timescale_fraction: int
    steps: int


@compiled
def log_sum(left: float, right: float) -> float:
    """log(e^left + e^right), where -inf is the log of nothing, in one of them at most."""
    apart = abs(left - right)
    return max(left, right) if apart > FAR else max(left, right) + math.log(1.0 + math.exp(-apart))


@compiled
def log_rest(log_share: float) -> float:
    """log(1 - x) of the log of x < 1."""
    return 0.0 if log_share < -FAR else math.log(-math.expm1(log_share))


@compiled
def vanishing_end(law: Numbers, model: float, time: float) -> float:
    """Log of the noise over gamma of (1 - tau/K)^p: T^-q, times a logarithm at p = beta - 1, or the slower one.

    The logarithm is that of min{M^beta, T}, a sum of 1/j: of the order of min{log M, log T} up to the factor beta.
    """
    ending = -law.power / (law.power + 1.0) * time
    gap = law.beta - 1.0 - law.power
    if abs(gap) < 1e-12 * law.beta:
        return ending + math.log(max(min(law.beta * model, time), 1.0))
    if gap > 0:
        return ending
    return min(ending + (1.0 - law.beta / (law.power + 1.0)) * model, (1.0 / law.beta - 1.0) * time)


@compiled
def fill_log_risks(law: Numbers, points: Array, risks: Array) -> None:
    """Fill ``risks`` with the logs of the law at ``points``, a row each; +inf where a hypothesis fails."""
    for place in range(points.shape[0]):
        point = points[place]
        gamma = point[0]
        model = point[law.model_size] if law.model_size >= 0 else math.inf
        data = law.log_budget - (model if law.spent > 0.0 else 0.0)
        steps = point[law.steps] if law.steps >= 0 else data
        feasible = steps <= data and (gamma + data - steps <= 0.0 or not law.capped) and steps > math.log(2.0)
        risks[place] = math.inf
        if not feasible:
            continue
        time, noise = gamma + data, gamma
        if law.schedule == MULTI_STEP:
            # what the first rate injected, 1/T_2 at a time, is forgotten like exp(-2 T_2 M^-beta)
            share, last = min(point[law.decay_fraction], -1e-300), point[law.final_over_peak]
            first, second = gamma + data + log_rest(share), gamma + data + share + last
            forgotten = 2.0 * math.exp(min(second - law.beta * model, 700.0))
            kept = min(first - second, 0.0) + min(model, second / law.beta) - second - forgotten
            time, noise = log_sum(first, second), gamma + log_sum(last, kept)
            feasible = second >= 0.0
        elif law.schedule == INVERSE_SQRT:
            # T = 2 a K_0 (sqrt(1 + K/K_0) - 1); beside its last rate the noise of its first steps, remembered
            scale = point[law.timescale_fraction]
            ending = 0.5 * log_sum(0.0, -scale)
            time = gamma + data + math.log(2.0) - log_sum(0.0, ending)
            early = min(model, time / law.beta) - time + scale + ending + math.log1p(ending)
            noise = gamma + log_sum(-ending, early)
            feasible = scale + steps >= 0.0
        elif law.schedule == EXP_DECAY or law.schedule == WSD:
            # a - b = a (1 - 1/K) and T = (a - b) K / log(a/b) with log(a/b) = log K, where b is not free.
            last = point[law.final_over_peak] if law.final_over_peak >= 0 else -law.last_power * steps
            last = min(last, -1e-300)
            difference = log_rest(last)
            decay = gamma + data + difference - math.log(-last)
            time = decay
            if law.schedule == WSD:
                fraction = min(point[law.decay_fraction], -1e-300)
                decay += fraction
                time = log_sum(gamma + data + log_rest(fraction), decay)
            fading = gamma + difference + min(model, decay / law.beta) - decay
            noise = log_sum(gamma + last, fading)
            feasible = decay >= 0.0
        elif law.schedule != CONSTANT:
            falling = time + (point[law.decay_fraction] if law.decay_fraction >= 0 else 0.0)
            noise = gamma + vanishing_end(law, model, falling)  # b = a/K never decides beside it: T_2 <= K
            feasible = falling >= 0.0
        if feasible and time >= 0.0:
            signal = log_sum(-law.s * law.beta * model, -law.s * time)
            risks[place] = log_sum(signal, noise + law.log_noise)
