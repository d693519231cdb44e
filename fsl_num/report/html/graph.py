"""The graph of the claims: what rests on what, what corrects and what strengthens what, with the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fsl_num.report.html.elements import Html, element, joined
from fsl_num.report.html.layers import Layout, Place, place
from fsl_num.report.html.verdicts import SIGNS, css_class
from fsl_num.theorems.claim import Claim
from fsl_num.theorems.records import Hearing

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 196, 34, 50, 9, 6
_LETTERS = 27
"""What fits into a node."""

Link = tuple[str, str, str]


def links(claims: Sequence[Claim]) -> list[Link]:
    """(from, to, kind) with kind "edge" for a dependency, "corrects" or "strengthens", among the claims given."""
    known = {claim.id for claim in claims}
    found = [(other, claim.id, "edge") for claim in claims for other in claim.depends]
    found += [(claim.id, claim.corrected_by, "corrects") for claim in claims if claim.corrected_by]
    found += [(claim.strengthens, claim.id, "strengthens") for claim in claims if claim.strengthens]
    return [link for link in dict.fromkeys(found) if link[0] in known and link[1] in known and link[0] != link[1]]


def graph(claims: Sequence[Claim], hearings: Mapping[str, Hearing], anchors: Mapping[str, str]) -> Html:
    """The figure; every node is a link to its claim, and says its verdict by a mark and in words."""
    drawn = links(claims)
    layout = place([claim.id for claim in claims], [(source, target) for source, target, _ in drawn])
    width = round(2 * _MARGIN + layout.columns * (_WIDTH + _ACROSS) - _ACROSS)
    height = round(2 * _MARGIN + layout.rows * (_HEIGHT + _DOWN))
    arrow = element(
        "marker", element("path", d="M0 0 7 3.5 0 7z", class_="arrow"),
        id="arrow", viewBox="0 0 7 7", refX=7, refY=3.5, markerWidth=7, markerHeight=7, orient="auto",
    )  # fmt: skip
    svg = element(
        "svg", element("defs", arrow), *(_edge(layout, link) for link in drawn),
        *(_node(hearings[claim.id], layout.nodes[claim.id], anchors[claim.id]) for claim in claims),
        width=width, height=height, viewBox=f"0 0 {width} {height}",
        role="group", aria_label="graph of the claims: each node is a link to its claim",
    )  # fmt: skip
    scroll = element(
        "div", svg, class_="scroll graph", tabindex=0, role="region", aria_label="graph of the claims, may be scrolled"
    )
    return element("figure", scroll, element("figcaption", _caption()))


def _caption() -> Html:
    marks = joined((f"{sign.mark} {verdict.value.lower()}" for verdict, sign in SIGNS.items()), ", ")
    return joined(
        [
            "An arrow leads from a claim to one that rests on it; a dashed arrow from a claim as printed to its "
            "correction; a dotted one to a stronger statement. ",
            marks,
            ".",
        ]
    )


def _node(hearing: Hearing, at: Place, anchor: str) -> Html:
    x, y = _corner(at)
    name, slash, variant = hearing.claim_id.partition("/")
    lines = [name, slash + variant] if slash else [name]
    first = 14 if slash else 21
    texts = [
        element("text", _short(line), x=x + 24, y=y + first + 13 * index, class_="soft" if index else None)
        for index, line in enumerate(lines)
    ]
    return element(
        "a", element("title", f"{hearing.claim_id}: {hearing.verdict.value}. {hearing.title}"),
        element("rect", x=x, y=y, width=_WIDTH, height=_HEIGHT, rx=4, class_="box"),
        element(
            "text", SIGNS[hearing.verdict].mark, x=x + 12, y=y + 22, text_anchor="middle", font_weight=700,
            style="fill:currentColor;font-size:14px",
        ),
        *texts, href=f"#{anchor}", class_=css_class(hearing.verdict),
        aria_label=f"{hearing.claim_id}: {hearing.verdict.value}",
    )  # fmt: skip


def _edge(layout: Layout, link: Link) -> Html:
    source, target, kind = link
    x, y = _corner(layout.nodes[source])
    x, y = x + _WIDTH, y + _HEIGHT / 2
    path = f"M{x:g} {y:g}"
    for at in (*layout.routes[source, target], layout.nodes[target]):
        to_x, to_y = _corner(at)
        to_y += _HEIGHT / 2
        bend = _ACROSS * 0.6
        path += f"C{x + bend:g} {y:g} {to_x - bend:g} {to_y:g} {to_x:g} {to_y:g}"
        x, y = to_x + _WIDTH, to_y
        if at is not layout.nodes[target]:
            path += f"H{x:g}"
    return element("path", d=path, class_=f"edge {kind}" if kind != "edge" else "edge", marker_end="url(#arrow)")


def _corner(at: Place) -> tuple[float, float]:
    x, middle = _MARGIN + at.column * (_WIDTH + _ACROSS), _MARGIN + at.row * (_HEIGHT + _DOWN)
    return x, round(middle - _HEIGHT / 2, 1)


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
