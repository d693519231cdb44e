"""What lies behind a verdict, folded away: point by point, path by path, and every mutant by name."""

from __future__ import annotations

from collections.abc import Iterator

from fsl_num.report.html.constants_map import spread
from fsl_num.report.html.context import Context
from fsl_num.report.html.drift_plot import curves
from fsl_num.report.html.elements import Html, element, interval, joined, number
from fsl_num.theorems.records import Hearing


def table(
    caption: str, headings: tuple[str, ...], rows: list[tuple[object, ...]], numeric: tuple[int, ...] = ()
) -> Html:
    """A table with its caption; the first cell of a row is the row's heading."""

    def style(column: int) -> str | None:
        return "n" if column in numeric else None

    head = element("tr", *(element("th", each, scope="col", class_=style(at)) for at, each in enumerate(headings)))
    body = [
        element(
            "tr", element("th", row[0], scope="row"),
            *(element("td", cell, class_=style(at)) for at, cell in enumerate(row[1:], 1)),
        )
        for row in rows
    ]  # fmt: skip
    whole = element("table", element("caption", caption), element("thead", head), element("tbody", *body))
    return element("div", whole, class_="scroll", tabindex=0, role="group", aria_label=caption)


def tables(context: Context, hearing: Hearing) -> Html | None:
    """The points heard and the paths kept, as tables."""
    if not hearing.regimes:
        return None
    parts = [
        table(
            "Regime by regime", ("regime", "verdict", "points", "constants", "drift", "what decided"),
            [
                (
                    regime.regime, "holds" if regime.holds else "fails", str(regime.samples),
                    interval(regime.constants), number(regime.drift), context.prose(regime.detail),
                )
                for regime in hearing.regimes
            ],
            (2, 3, 4),
        ),
        *_points(context, hearing), *_paths(context, hearing),
    ]  # fmt: skip
    count = sum(regime.samples for regime in hearing.regimes)
    summary = f"{count} points in {len(hearing.regimes)} {'regime' if len(hearing.regimes) == 1 else 'regimes'}"
    return element("details", element("summary", summary), *parts)


_MANY = 40
"""Above so many points only those that fail say what decided: the page must stay light enough to be sent."""


def _points(context: Context, hearing: Hearing) -> Iterator[Html]:
    many = sum(len(regime.points) for regime in hearing.regimes) > _MANY
    rows: list[tuple[object, ...]] = [
        (
            f"{point.s}, {point.beta}", regime.regime, "holds" if point.holds else "fails",
            interval(point.constants), number(spread(point)), number(point.drift),
            "" if many and point.holds else context.prose(point.detail),
        )
        for regime in hearing.regimes
        for point in regime.points
    ]  # fmt: skip
    if rows:
        headings = ("s, β", "regime", "verdict", "[c, C]", "C/c", "drift", "what decided")
        yield table("Point by point", headings, rows, (3, 4, 5))


def _paths(context: Context, hearing: Hearing) -> Iterator[Html]:
    rows: list[tuple[object, ...]] = [
        (
            context.prose(_once(curve.name)), regime,
            f"{_exponential(curve.scale[0])} to {_exponential(curve.scale[-1])}",
            _exponential(curve.ratio[0]), _exponential(curve.ratio[-1]),
            _exponential(min(curve.ratio)), _exponential(max(curve.ratio)),
        )
        for regime, curve in curves(hearing)
    ]  # fmt: skip
    if rows:
        headings = ("path", "regime", "scale", "first ratio", "last ratio", "least", "greatest")
        yield table("Measured over claimed, path by path", headings, rows, (2, 3, 4, 5, 6))


def mutants(context: Context, hearing: Hearing) -> Html | None:
    """Every wrong version that was heard; those that the check accepts come first, and in the open."""
    if not hearing.mutants_total:
        return None
    parts = []
    survivors = [
        (regime.regime, mutant) for regime in hearing.regimes for mutant in regime.mutants if not mutant.refuted
    ]
    if survivors:
        items = (element("li", context.prose(f"{regime}: {mutant.name}")) for regime, mutant in survivors)
        parts.append(element("p", "Mutants that the check accepts:", class_="kind"))
        parts.append(element("ul", *items))
    names = {name: None for regime in hearing.regimes for name in (mutant.name for mutant in regime.mutants)}
    items = (element("li", context.prose(name)) for name in names)
    summary = f"{len(names)} wrong versions heard, {hearing.mutants_refuted} of {hearing.mutants_total} refuted"
    parts.append(element("details", element("summary", summary), element("ul", *items, class_="columns")))
    return joined(parts)


def _once(name: str) -> str:
    """A name without a prefix that says the same.

    >>> _once("excess risk: excess risk"), _once("upper: t to infinity")
    ('excess risk', 'upper: t to infinity')
    """
    prefix, _, rest = name.partition(": ")
    return prefix if prefix == rest else name


def _exponential(logarithm: float) -> str:
    """exp of a natural logarithm, also where no float holds it.

    >>> _exponential(0.0), _exponential(4e6)
    ('1', 'exp(4 × 10⁶)')
    """
    from math import exp

    return number(exp(logarithm)) if abs(logarithm) < 650 else f"exp({number(logarithm)})"
