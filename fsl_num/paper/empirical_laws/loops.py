"""What laws of steps are made of, by plain loops over the steps: nothing shared or skipped.

A schedule is a list ``rates`` of eta_1 .. eta_k with ``first`` = eta_0, the rate before the first step.

>>> intrinsic_times([0.5, 0.25])
[0.0, 0.5, 0.75]
"""

from __future__ import annotations

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
    times = [0.0]
    for rate in rates:
        times.append(times[-1] + rate)
    return times


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
