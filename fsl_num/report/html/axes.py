"""Axes of small drawings: where the ticks stand, and from values to places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """A linear map from ``low`` .. ``high`` to ``start`` .. ``end`` in the drawing's own units.

    >>> Axis(0.0, 2.0, 10.0, 30.0)(1.0)
    20.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value, kept inside the axis and rounded to a tenth."""
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + part * (self.end - self.start), 1)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers (1, 2 or 5 times a power of ten apart) inside an interval, at most ``most`` of them.

    >>> ticks(0.0, 10.0), ticks(3.0, 3.0)
    ([0.0, 5.0, 10.0], [3.0])
    """
    if not high > low:
        return [low]
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (size, 2 * size, 5 * size, 10 * size, 20 * size):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 <= most:
            return [0.0 if count == 0 else float(f"{count * step:.12g}") for count in range(first, last + 1)]
    return [low, high]


def ratio_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round ratios for an axis of natural logarithms from ``low`` to ``high``.

    >>> ratio_ticks(math.log(0.4), math.log(30))
    [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
    """
    if high - low < 1.2:  # within a factor of three round differences read better than round ratios
        return [value for value in ticks(math.exp(low), math.exp(high), most) if value > 0]
    decades = range(math.floor(low / math.log(10)), math.ceil(high / math.log(10)) + 1)
    for marks in ((1, 2, 5), (1,)):
        found = [mark * 10.0**power for power in decades for mark in marks]
        inside = [value for value in found if low - 1e-9 <= math.log(value) <= high + 1e-9]
        if 2 <= len(inside) <= most + 2:
            return inside
    powers = [power for power in decades if low <= power * math.log(10) <= high]
    stride = max(1, math.ceil(len(powers) / most))
    return [10.0**power for power in powers if power % stride == 0]


def widened(values: Sequence[float], least: float) -> tuple[float, float]:
    """The range of values with a little room, and at least ``least`` wide.

    >>> widened([1.0, 1.0], 0.5)
    (0.75, 1.25)
    """
    low, high = min(values), max(values)
    room = max((high - low) * 0.06, (least - (high - low)) / 2)
    return low - room, high + room
