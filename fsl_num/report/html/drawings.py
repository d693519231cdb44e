"""The two small plots of a claim as numbers for the template: a map of the constants, and ratios along paths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fsl_num.claims.records import Curve, Outcome, PointOutcome
from fsl_num.report.html.texts import interval, number, raised

WIDTH, HEIGHT = 340, 236
_BOUNDS = (1.5, 3.0, 10.0, 100.0)
"""Where the colours of the map change, in C/c."""
_SHARP = 1.001
"""A claim with a sharp constant is within a thousandth of it everywhere: nothing for a map to show."""
_FARTHEST = 650.0
"""Natural logarithms beyond this have no float."""


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


_RATIOS = 5  # about so many ratios at an axis


def ratio_ticks(low: float, high: float) -> list[float]:
    """Round ratios for an axis of natural logarithms from ``low`` to ``high``.

    >>> ratio_ticks(math.log(0.4), math.log(30))
    [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
    """
    if high - low < 1.2:  # within a factor of three round differences read better than round ratios
        return [value for value in ticks(math.exp(low), math.exp(high), _RATIOS) if value > 0]
    decades = range(math.floor(low / math.log(10)), math.ceil(high / math.log(10)) + 1)
    for marks in ((1, 2, 5), (1,)):
        values = [mark * 10.0**power for power in decades for mark in marks]
        inside = [value for value in values if low - 1e-9 <= math.log(value) <= high + 1e-9]
        if 2 <= len(inside) <= _RATIOS + 2:
            return inside
    powers = [power for power in decades if low <= power * math.log(10) <= high]
    stride = max(1, math.ceil(len(powers) / _RATIOS))
    return [10.0**power for power in powers if power % stride == 0]


def spread(point: PointOutcome) -> float | None:
    """C/c at a point, None where there are no two positive constants.

    >>> spread(PointOutcome("1/2", "4", True, (0.5, 2.0), None, ""))
    4.0
    """
    if point.constants is None or not 0 < point.constants[0] <= point.constants[1]:
        return None
    return point.constants[1] / point.constants[0]


def level(ratio: float) -> int:
    """The colour of a ratio C/c, from 1 to 5.

    >>> level(1.0), level(1e6)
    (1, 5)
    """
    return 1 + sum(ratio > bound for bound in _BOUNDS)


def constants_map(record: Outcome) -> dict[str, Any] | None:
    """Where in the plane of (s, beta) a claim was checked, and how far apart its constants lie there.

    None where no point has two positive constants that differ.
    """
    points = [point for regime in record.regimes for point in regime.points]
    if not any((spread(point) or 1.0) > _SHARP for point in points):
        return None
    where = [(float(Fraction(point.beta)), float(Fraction(point.s))) for point in points]
    x = Axis(1.0, max(6.0, 1.04 * max(beta for beta, _ in where)), 34, WIDTH - 8)
    y = Axis(0.0, max(1.5, 1.08 * max(s for _, s in where)), HEIGHT - 32, 8)
    betas = [1 + (x.high - 1) * (part / 40) ** 2 for part in range(41)]
    return {
        "label": f"{len(points)} points of the plane of beta and s with the ratio C over c of the constants measured "
        "there; the values are in the table below",
        "edge": _line([(x(beta), y(1 - 1 / beta)) for beta in betas]),
        "edge_y": y(1 - 1 / x.high) - 5,
        "x": x,
        "y": y,
        "x_ticks": [(x(tick), f"{tick:g}") for tick in ticks(1.0, x.high, 6)],
        "y_ticks": [(y(tick), f"{tick:g}") for tick in ticks(0.0, y.high, 4)],
        "dots": [
            {
                "x": x(beta),
                "y": y(s),
                "level": None if (ratio := spread(point)) is None else level(ratio),
                "holds": point.holds,
                "title": f"s = {point.s}, β = {point.beta}: {interval(point.constants)}",
            }
            for point, (beta, s) in zip(points, where, strict=True)
        ],
    }


def curves(record: Outcome) -> list[tuple[str, Curve]]:
    """The regime and the curve of every path that was kept, of those that can be drawn."""
    kept = [(regime.regime, curve) for regime in record.regimes for point in regime.points for curve in point.curves]
    return [(name, curve) for name, curve in kept if _is_drawable(curve)]


def drift_plot(record: Outcome) -> dict[str, Any] | None:
    """The ratio measured / claimed along the paths that drift most, reach lowest and highest; None without curves."""
    paths = curves(record)
    if not paths:
        return None
    # Budgets may grow beyond any float; then the axis shows the logarithm of the scale, itself on a log scale.
    deep = max(curve.scale[-1] for _, curve in paths) > 2000 and min(curve.scale[0] for _, curve in paths) > 0
    inner = [[math.log(scale) if deep else scale / math.log(10) for scale in curve.scale] for _, curve in paths]
    outer = [[min(max(ratio, -_FARTHEST), _FARTHEST) for ratio in curve.ratio] for _, curve in paths]
    least, greatest = min(map(min, outer)), max(map(max, outer))
    room = max((greatest - least) * 0.06, (0.4 - (greatest - least)) / 2)
    x = Axis(min(map(min, inner)), max(map(max, inner)), 44, WIDTH - 18)
    y = Axis(least - room, greatest + room, HEIGHT - 32, 8)
    if deep:
        powers = [power for power in range(-9, 300) if x.low <= power * math.log(10) <= x.high]
        marks = [(power * math.log(10), f"10{raised(power)}") for power in powers[:: max(1, len(powers) // 5)]]
    else:
        marks = [(tick, f"10{raised(int(tick))}" if tick == int(tick) else "") for tick in ticks(x.low, x.high)]
    return {
        "label": f"measured over claimed along {len(paths)} paths, from {number(math.exp(least))} "
        f"to {number(math.exp(greatest))}; the values are in the table below",
        "x": x,
        "y": y,
        "one": y(0.0) if y.low < 0 < y.high else None,
        "x_ticks": [(x(at), text) for at, text in marks],
        "y_ticks": [(y(math.log(tick)), number(tick)) for tick in ratio_ticks(y.low, y.high)],
        "axis": "log of the scale" if deep else "scale",
        "lines": [
            (regime, curve.name, _line([(x(a), y(b)) for a, b in zip(scales, ratios, strict=True)]))
            for (regime, curve), scales, ratios in zip(paths, inner, outer, strict=True)
        ],
        "regimes": list(dict.fromkeys(regime for regime, _ in paths)),
    }


def _line(places: Sequence[tuple[float, float]]) -> str:
    """A line through the places, without those inside a level stretch.

    >>> _line([(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 2.0)])
    'M0 1L2 1L3 2'
    """
    heights = [y for _, y in places]
    last = len(places) - 1
    kept = [at for at in range(last + 1) if at in {0, last} or len(set(heights[at - 1 : at + 2])) > 1]
    return "M" + "L".join(f"{places[at][0]:g} {places[at][1]:g}" for at in kept)


def _is_drawable(curve: Curve) -> bool:
    numbers = (*curve.scale, *curve.ratio)
    enough = len(curve.scale) == len(curve.ratio) >= 2 and all(map(math.isfinite, numbers))
    return enough and max(curve.scale) > min(curve.scale)
