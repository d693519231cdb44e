"""The empirical laws and the ansatz exactly as they are defined: plain loops over the steps, nothing shared or skipped.

A schedule is a list ``rates`` of eta_1 .. eta_k with ``first`` = eta_0, the rate before the first step.

>>> intrinsic_times([0.5, 0.25])
[0.0, 0.5, 0.75]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Function = Callable[[float], float]

NODES = (
    (0.18343464249564980494, 0.36268378337836198297),
    (0.52553240991632898582, 0.31370664587788728734),
    (0.79666647741362673959, 0.22238103445337447054),
    (0.96028985649753623168, 0.10122853629037625915),
)
"""The rule of Gauss with eight nodes on [-1, 1], one half of it; the other half is its mirror image."""


def intrinsic_times(rates: Sequence[float]) -> list[float]:
    """T(0) = 0, T(1), .., T(k)."""
    found = [0.0]
    for rate in rates:
        found.append(found[-1] + rate)
    return found


def power_kernel(beta: float, scale: float) -> Function:
    """K(x) = (1 + scale x)^-(2 - 1/beta)."""
    return lambda x: float((1.0 + scale * x) ** -(2.0 - 1.0 / beta))


def gauss(function: Function, low: float, high: float, panels: int = 1) -> float:
    """The integral from low to high by Gauss's rule with eight nodes on each of equal panels."""
    total, width = 0.0, (high - low) / panels
    for index in range(panels):
        middle = low + (index + 0.5) * width
        for node, weight in NODES:
            total += weight * (function(middle - 0.5 * width * node) + function(middle + 0.5 * width * node))
    return 0.5 * width * total


def step_noise(rates: Sequence[float], kernel: Function, source: Function) -> float:
    """int_0^T(k) K(T(k) - t) g(t) gamma(t) dt with gamma = eta_i on step i: step by step."""
    times = intrinsic_times(rates)
    total = 0.0
    for i in range(1, len(rates) + 1):
        total += rates[i - 1] * gauss(lambda t: kernel(times[-1] - t) * source(t), times[i - 1], times[i])
    return total


def forgotten(rates: Sequence[float], kernel: Function, source: Function) -> list[float]:
    """G(0) .. G(k): the integrals of K(T(k) - t) g(t) over [T(i), T(k)], summed from the end."""
    times = intrinsic_times(rates)
    found = [0.0]
    for i in range(len(rates), 0, -1):
        found.append(found[-1] + gauss(lambda t: kernel(times[-1] - t) * source(t), times[i - 1], times[i]))
    return found[::-1]


def reduction(rates: Sequence[float], first: float, gone: Sequence[float], shift: int = 1) -> float:
    """sum_{i=1}^k (eta_{i-1} - eta_i) G(i - shift): exact with shift 1, as printed with shift 0."""
    before, total = first, 0.0
    for i in range(1, len(rates) + 1):
        total += (before - rates[i - 1]) * gone[i - shift]
        before = rates[i - 1]
    return total


def momentum_sum(rates: Sequence[float], decay: float, *, start: int = 2, extra: int = 0) -> float:
    """S2 = sum_{i=2}^k sum_{j=2}^i (eta_{j-1} - eta_j) decay^(i-j), by its two loops.

    ``start`` and ``extra`` make wrong versions: another first j, another power of the decay.
    """
    total = 0.0
    for i in range(2, len(rates) + 1):
        for j in range(start, i + 1):
            total += (rates[j - 2] - rates[j - 1]) * decay ** (i - j + extra)
    return total


def multi_power(
    rates: Sequence[float],
    scale: float,
    power: float,
    *,
    since: str = "the drop",
    rate_power: float = 0.0,
    shift: int = 0,
) -> float:
    """sum_{i=2}^k (eta_{i-1} - eta_i) G(eta_i^-rate_power S_i), G(x) = 1 - (scale x + 1)^-power.

    ``since``: S_i = sum_{j=i}^k eta_j ("the drop"), or sum_{j=1}^i eta_j as printed ("the start"); ``shift`` moves i.
    """
    total = 0.0
    for i in range(2, len(rates) + 1):
        indices = range(i + shift, len(rates) + 1) if since == "the drop" else range(1, i + 1)
        elapsed = math.fsum(rates[j - 1] for j in indices)
        argument = rates[i - 1] ** -rate_power * elapsed
        total += (rates[i - 2] - rates[i - 1]) * (1.0 - (scale * argument + 1.0) ** -power)
    return total


def ansatz_reduction(
    rates: Sequence[float], first: float, level: float, s: float, scale: float, power: float, *, at: str = "the drop"
) -> float:
    """sum_{i=1}^k (eta_{i-1} - eta_i) (level + T^-s) (1 - (1 + scale (T(k) - T(i)))^-power), as printed.

    ``at``: the signal is frozen at T(i) ("the drop", as printed) or at T(k) ("the end").
    """
    times = intrinsic_times(rates)
    before, total = first, 0.0
    for i in range(1, len(rates) + 1):
        signal = (times[i] if at == "the drop" else times[-1]) ** -s
        share = 1.0 - (1.0 + scale * (times[-1] - times[i])) ** -power
        total += (before - rates[i - 1]) * (level + signal) * share
        before = rates[i - 1]
    return total
