"""Where in the plane of (s, beta) a claim was heard, and how far apart its two-sided constants lie there."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fsl_num.report.html.axes import Axis, ticks
from fsl_num.report.html.elements import Html, element, interval, joined
from fsl_num.theorems.records import Hearing, PointHearing

_WIDTH, _HEIGHT = 340, 236
_BOUNDS = (1.5, 3.0, 10.0, 100.0)
"""Where the colours change, in C/c."""

_SHARP = 1.001
"""A claim with a sharp constant is within a thousandth of it everywhere: nothing for a map to show."""


def spread(point: PointHearing) -> float | None:
    """C/c at a point, None where there are no two positive constants.

    >>> spread(PointHearing("1/2", "4", True, (0.5, 2.0), None, ""))
    4.0
    """
    if point.constants is None or not 0 < point.constants[0] <= point.constants[1]:
        return None
    return point.constants[1] / point.constants[0]


def constants_map(hearing: Hearing) -> Html | None:
    """The drawing with its legend; None where no point has two positive constants that differ."""
    points = [(regime.regime, point) for regime in hearing.regimes for point in regime.points]
    if not any((spread(point) or 1.0) > _SHARP for _, point in points):
        return None
    where = [(float(Fraction(point.beta)), float(Fraction(point.s))) for _, point in points]
    x = Axis(1.0, max(6.0, 1.04 * max(beta for beta, _ in where)), 34, _WIDTH - 8)
    y = Axis(0.0, max(1.5, 1.08 * max(s for _, s in where)), _HEIGHT - 32, 8)
    label = (
        f"{len(points)} points of the plane of beta and s with the ratio C over c of the constants measured there; "
        "the values are in the table below"
    )
    svg = element(
        "svg", *_frame(x, y), *(_dot(point, x(at[0]), y(at[1])) for (_, point), at in zip(points, where, strict=True)),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=label,
    )  # fmt: skip
    return element(
        "figure",
        svg,
        element(
            "figcaption", "Spread ", element("i", "C/c"), " of the constants.", _legend([point for _, point in points])
        ),
    )


def level(ratio: float) -> int:
    """The colour of a ratio C/c, from 1 to 5.

    >>> level(1.0), level(1e6)
    (1, 5)
    """
    return 1 + sum(ratio > bound for bound in _BOUNDS)


def _dot(point: PointHearing, x: float, y: float) -> Html:
    ratio = spread(point)
    title = element("title", f"s = {point.s}, β = {point.beta}: {interval(point.constants)}")
    cross = None
    if not point.holds:
        cross = element("path", title, d=f"M{x - 10:g} {y - 10:g}l20 20m0-20l-20 20", class_="cross")
    if ratio is None:
        return joined([element("circle", title, cx=x, cy=y, r=3.5, class_="axis"), cross])
    size = level(ratio)
    return joined([element("circle", title, cx=x, cy=y, r=3 + size, class_=f"dot m{size}"), cross])


def _frame(x: Axis, y: Axis) -> list[Html]:
    edge = "M" + "L".join(
        f"{x(beta):g} {y(1 - 1 / beta):g}" for beta in (1 + (x.high - 1) * (part / 40) ** 2 for part in range(41))
    )
    bottom, left = y.start, x.start
    parts = [
        element("path", d=edge, class_="axis", stroke_dasharray="6 3"),
        element("path", d=f"M{left:g} {y.end:g}V{bottom:g}H{x.end:g}", class_="axis"),
        element("text", "easy", x=left + 8, y=y.end + 12, class_="soft"),
        element("text", "hard", x=x.end - 4, y=bottom - 6, class_="soft", text_anchor="end"),
        element("text", "s = 1 − 1/β", x=x.end - 2, y=y(1 - 1 / x.high) - 5, class_="soft", text_anchor="end"),
        element("text", "β", x=x.end - 2, y=_HEIGHT - 4, text_anchor="end", font_style="italic"),
        element("text", "s", x=4, y=(y.start + y.end) / 2, font_style="italic"),
    ]
    for tick in ticks(1.0, x.high, 6):
        parts.append(element("text", f"{tick:g}", x=x(tick), y=bottom + 14, class_="soft", text_anchor="middle"))
    for tick in ticks(0.0, y.high, 4):
        parts.append(element("text", f"{tick:g}", x=left - 5, y=y(tick) + 4, class_="soft", text_anchor="end"))
    return parts


def _legend(points: Sequence[PointHearing]) -> Html:
    names = ["to 1.5", "to 3", "to 10", "to 100", "beyond"]
    keys = [
        (element("circle", cx=9, cy=9, r=3 + size, class_=f"dot m{size}"), name) for size, name in enumerate(names, 1)
    ]
    if any(spread(point) is None for point in points):
        keys.append((element("circle", cx=9, cy=9, r=3.5, class_="axis"), "not of one sign"))
    if not all(point.holds for point in points):
        keys.append((element("path", d="M3 3l12 12m0-12l-12 12", class_="cross"), "fails"))
    items = (
        element("li", element("svg", drawn, width=18, height=18, class_="key", aria_hidden="true"), name)
        for drawn, name in keys
    )
    return element("ul", *items, class_="legend")
