"""The ratio measured / claimed along the paths that drift most, reach lowest and reach highest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fsl_num.report.html.axes import Axis, ratio_ticks, ticks, widened
from fsl_num.report.html.elements import Html, element, number, raised
from fsl_num.theorems.records import Curve, Hearing

_WIDTH, _HEIGHT = 340, 236
_FARTHEST = 650.0
"""Natural logarithms beyond this have no float."""

CLASSES = {"easy": "easy", "edge": "edge-regime", "hard": "hard"}


def curves(hearing: Hearing) -> list[tuple[str, Curve]]:
    """The regime and the curve of every path that was kept, of those that can be drawn."""
    found = [(regime.regime, curve) for regime in hearing.regimes for point in regime.points for curve in point.curves]
    return [(name, curve) for name, curve in found if _drawable(curve)]


def drift_plot(hearing: Hearing) -> Html | None:
    """The drawing with its legend; None where no curve was kept."""
    found = curves(hearing)
    if not found:
        return None
    # Budgets may grow beyond any float; then the axis shows the logarithm of the scale, itself on a log scale.
    deep = max(curve.scale[-1] for _, curve in found) > 2000 and min(curve.scale[0] for _, curve in found) > 0
    inner = [[math.log(each) if deep else each / math.log(10) for each in curve.scale] for _, curve in found]
    outer = [[min(max(each, -_FARTHEST), _FARTHEST) for each in curve.ratio] for _, curve in found]
    low, high = widened([each for ratios in outer for each in ratios], 0.4)
    x = Axis(min(map(min, inner)), max(map(max, inner)), 44, _WIDTH - 18)
    y = Axis(low, high, _HEIGHT - 32, 8)
    lines = [
        element(
            "path", element("title", f"{regime}: {curve.name}"),
            d=_path([(x(a), y(b)) for a, b in zip(scales, ratios, strict=True)]),
            class_=f"line {CLASSES.get(regime, 'axis')}",
        )
        for (regime, curve), scales, ratios in zip(found, inner, outer, strict=True)
    ]  # fmt: skip
    label = (
        f"measured over claimed along {len(found)} paths, from {number(math.exp(min(map(min, outer))))} "
        f"to {number(math.exp(max(map(max, outer))))}; the values are in the table below"
    )
    svg = element(
        "svg", *_frame(x, y, deep), *lines, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=label
    )  # fmt: skip
    regimes = dict.fromkeys(regime for regime, _ in found)
    return element("figure", svg, element("figcaption", "Measured over claimed, along each path.", _legend(regimes)))


def _path(places: Sequence[tuple[float, float]]) -> str:
    """A line through the places, without those inside a level stretch.

    >>> _path([(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 2.0)])
    'M0 1L2 1L3 2'
    """
    heights = [y for _, y in places]
    kept = [
        at
        for at in range(len(places))
        if at in {0, len(places) - 1} or not heights[at - 1] == heights[at] == heights[at + 1]
    ]
    return "M" + "L".join(f"{places[at][0]:g} {places[at][1]:g}" for at in kept)


def _drawable(curve: Curve) -> bool:
    numbers = (*curve.scale, *curve.ratio)
    return len(curve.scale) == len(curve.ratio) >= 2 and all(map(math.isfinite, numbers)) and _spans(curve.scale)


def _spans(scale: Sequence[float]) -> bool:
    return max(scale) > min(scale)


def _frame(x: Axis, y: Axis, deep: bool) -> list[Html]:
    bottom = y.start
    parts = [element("path", d=f"M{x.start:g} {y.end:g}V{bottom:g}H{x.end:g}", class_="axis")]
    if y.low < 0 < y.high:
        parts.append(element("path", d=f"M{x.start:g} {y(0.0):g}H{x.end:g}", class_="rule"))
    for tick in ratio_ticks(y.low, y.high):
        parts.append(
            element("text", number(tick), x=x.start - 5, y=y(math.log(tick)) + 4, class_="soft", text_anchor="end")
        )
    if deep:
        shown = [power for power in range(-9, 300) if x.low <= power * math.log(10) <= x.high]
        marks = [(power * math.log(10), f"10{raised(power)}") for power in shown[:: max(1, len(shown) // 5)]]
    else:
        marks = [(tick, f"10{raised(int(tick))}" if tick == int(tick) else "") for tick in ticks(x.low, x.high)]
    for at, text in marks:
        parts.append(element("text", text, x=x(at), y=bottom + 14, class_="soft", text_anchor="middle"))
    name = "log of the scale" if deep else "scale"
    parts.append(element("text", name, x=x.end, y=_HEIGHT - 4, class_="soft", text_anchor="end"))
    return parts


def _legend(regimes: Sequence[str] | dict[str, None]) -> Html:
    items = []
    for name in regimes:
        stroke = element("path", d="M1 6H27", class_=f"line {CLASSES.get(name, 'axis')}")
        items.append(element("li", element("svg", stroke, width=28, height=12, class_="key", aria_hidden="true"), name))
    return element("ul", *items, class_="legend")
