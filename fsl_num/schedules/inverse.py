"""The inverse of an increasing function of time, computed numerically by bracketed Newton steps in logarithms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fsl_num.validation import Array

_STEPS = 200


def invert_increasing(
    function: Callable[[Array], Array], slope: Callable[[Array], Array], value: Array, peak: float, end: float
) -> Array:
    """Return x in [0, end] with function(x) = value, for an increasing function with function(0) = 0.

    ``slope`` is the derivative of ``function`` and at most ``peak``, which gives the lower bracket value/peak. The
    step is Newton's for log function against log x (exact for powers) and falls back on bisection outside the bracket.

    >>> round(float(invert_increasing(lambda x: x**3, lambda x: 3 * x**2, np.array([8.0]), 12.0, 2.0)[0]), 12)
    2.0
    """
    flat = value.ravel()
    result = np.zeros_like(flat)
    total = function(np.array([end]))[0]
    result[flat >= total] = end
    active = np.flatnonzero((flat > 0) & (flat < total))
    target = np.log(flat[active])
    low = np.minimum(target - np.log(peak), np.log(end)) - 1e-12
    high = np.full_like(low, np.log(end))
    x = np.clip(np.log(end) + target - np.log(total), low, high)
    change = high - low + 1.0
    for _ in range(_STEPS):
        point = np.exp(x)
        reached = function(point)
        with np.errstate(divide="ignore"):
            gap = np.log(reached) - target  # -inf where the function underflows: then only the bracket moves
        low = np.where(gap <= 0, x, low)
        high = np.where(gap >= 0, x, high)
        speed = point * slope(point)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            new = x - gap * reached / speed
        # A step that leaves the bracket, or is not half the last one, would wander between the flanks of a bend.
        good = (new >= low) & (new <= high) & (np.abs(new - x) <= 0.5 * change)
        new = np.where(good, new, 0.5 * (low + high))
        change = np.abs(new - x)
        result[active] = np.exp(new)
        going = change > 2e-16 * np.maximum(np.abs(new), 1.0)
        if not going.any():
            break
        active, target, low, high, change, x = (array[going] for array in (active, target, low, high, change, new))
    return result.reshape(value.shape)
