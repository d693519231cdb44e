"""The graph of the claims: what rests on what, in the layers of its longest paths, components side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fsl_num.claims.claim import Claim

BOX = (196, 34)
_ACROSS, _DOWN, _MARGIN = 50, 9, 6
_BEND = 0.4
"""The room that a link takes where it passes between nodes, in rows."""

Link = tuple[str, str]


@dataclass(frozen=True)
class Place:
    """A column, and the row of the middle; rows need not be whole."""

    column: int
    row: float

    @property
    def corner(self) -> tuple[float, float]:
        """The upper left corner of the box, in the units of the drawing."""
        x, middle = _MARGIN + self.column * (BOX[0] + _ACROSS), _MARGIN + self.row * (BOX[1] + _DOWN)
        return x, round(middle - BOX[1] / 2, 1)


@dataclass(frozen=True)
class Layout:
    """Where the nodes stand, through which places each link passes, and how many columns and rows there are."""

    nodes: Mapping[str, Place]
    routes: Mapping[Link, Sequence[Place]]
    columns: int
    rows: float


def graph(claims: Sequence[Claim]) -> dict[str, Any]:
    """Boxes and arrows for the template: ``nodes`` maps an id to its corner, ``edges`` are (kind, path, from, to)."""
    known = {claim.id for claim in claims}
    links = [(other, claim.id, "") for claim in claims for other in claim.depends]
    links += [(claim.id, claim.corrected_by, "corrects") for claim in claims if claim.corrected_by]
    links += [(claim.strengthens, claim.id, "strengthens") for claim in claims if claim.strengthens]
    links = [link for link in dict.fromkeys(links) if link[0] in known and link[1] in known and link[0] != link[1]]
    layout = place([claim.id for claim in claims], [link[:2] for link in links])
    return {
        "width": 2 * _MARGIN + layout.columns * (BOX[0] + _ACROSS) - _ACROSS,
        "height": round(2 * _MARGIN + layout.rows * (BOX[1] + _DOWN)),
        "box": BOX,
        "nodes": {name: at.corner for name, at in layout.nodes.items()},
        "edges": [(kind, _path(layout, (source, target)), source, target) for source, target, kind in links],
    }


def _path(layout: Layout, link: Link) -> str:
    """A smooth line from the right side of one box to the left side of another."""
    stops = [layout.nodes[link[0]], *layout.routes[link], layout.nodes[link[1]]]
    bend, half = _ACROSS * 0.6, BOX[1] / 2
    x, y = stops[0].corner[0] + BOX[0], stops[0].corner[1] + half
    path = f"M{x:g} {y:g}"
    for stop in stops[1:]:
        to_x, to_y = stop.corner[0], stop.corner[1] + half
        path += f"C{x + bend:g} {y:g} {to_x - bend:g} {to_y:g} {to_x:g} {to_y:g}"
        x, y = to_x + BOX[0], to_y
        path += f"H{x:g}" if stop is not stops[-1] else ""
    return path


def place(nodes: Sequence[str], links: Iterable[Link], columns: int = 4) -> Layout:
    """Where each node stands, arrows going from left to right wherever the links have no cycle.

    ``nodes`` are all different, in the order that ties follow; deep components may make the drawing wider than
    ``columns``.

    >>> layout = place(["a", "b", "c"], [("a", "b")], columns=2)
    >>> layout.nodes["a"], layout.nodes["b"], layout.nodes["c"]
    (Place(column=0, row=0.5), Place(column=1, row=0.5), Place(column=0, row=1.85))
    """
    links = list(dict.fromkeys(links))
    parts = [_Component(part, [link for link in links if link[0] in part]) for part in _components(nodes, links)]
    width = max([columns, *(len(part.layers) for part in parts)])
    floors = [0.0] * width
    places: dict[str, Place] = {}
    routes: dict[Link, Sequence[Place]] = {}
    # The deep ones first, and the smaller ones beside each other in the room that is left.
    for part in sorted(parts, key=lambda each: (-len(each.layers), -each.height)):
        size = len(part.layers)
        tops = [max(floors[start : start + size]) for start in range(width - size + 1)]
        start = min(range(len(tops)), key=lambda at: (tops[at], at))
        stand = part.stand(start, tops[start])
        places |= {node: stand[node] for node in part.nodes}
        routes |= {link: [stand[bend] for bend in bends] for link, bends in part.bends.items()}
        floors[start : start + size] = [tops[start] + part.height + (0.35 if size > 1 else 0.0)] * size
    return Layout(places, routes, width, max(floors))


class _Component:
    """The layers of one component, with a bend wherever a link passes a layer."""

    def __init__(self, nodes: Sequence[str], links: Sequence[Link]) -> None:
        self.nodes = nodes
        depth = _depths(nodes, links)
        self.layers: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
        for node in nodes:
            self.layers[depth[node]].append(node)
        self.bends: dict[Link, list[str]] = {}
        near: dict[str, list[str]] = {node: [] for node in nodes}
        for number, (source, target) in enumerate(links):
            bends = [f"\0{number}/{at}" for at in range(depth[source] + 1, depth[target])]
            self.bends[source, target] = bends
            for at, bend in enumerate(bends, depth[source] + 1):
                self.layers[at].append(bend)
                near[bend] = []
            for left, right in pairwise([source, *bends, target]):
                near[left].append(right)
                near[right].append(left)
        self.height = max(sum(map(_room, layer)) for layer in self.layers)
        for sweep in range(8):  # sort each layer by where the neighbours of its nodes stand, there and back
            rows = {node: at.row for node, at in self.stand(0, 0.0).items()}
            for layer in self.layers if sweep % 2 == 0 else self.layers[::-1]:
                centres = {node: sum(rows[each] for each in near[node] or [node]) for node in layer}
                centres = {node: total / max(len(near[node]), 1) for node, total in centres.items()}
                layer.sort(key=centres.__getitem__)
                rows |= _stacked(layer, 0.0)

    def stand(self, start: int, floor: float) -> dict[str, Place]:
        """The places of nodes and bends, each layer in the middle of the component's height."""
        return {
            node: Place(start + at, round(row, 3))
            for at, layer in enumerate(self.layers)
            for node, row in _stacked(layer, floor + self.height / 2).items()
        }


def _room(node: str) -> float:
    return _BEND if node.startswith("\0") else 1.0


def _stacked(layer: Sequence[str], middle: float) -> dict[str, float]:
    top = middle - sum(map(_room, layer)) / 2
    rows: dict[str, float] = {}
    for node in layer:
        rows[node] = top + _room(node) / 2
        top += _room(node)
    return rows


def _components(nodes: Sequence[str], links: Iterable[Link]) -> list[list[str]]:
    """The nodes that links connect, in the order given."""
    members = {node: {node} for node in nodes}
    for source, target in links:
        if members[source] is not members[target]:
            members[source] |= members[target]
            members |= dict.fromkeys(members[target], members[source])
    parts: dict[int, list[str]] = {}
    for node in nodes:
        parts.setdefault(id(members[node]), []).append(node)
    return list(parts.values())


def _depths(nodes: Sequence[str], links: Iterable[Link]) -> dict[str, int]:
    """The length of the longest path to each node; a link back to where a path comes from does not count."""
    before: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in links:
        before[target].append(source)
    depth: dict[str, int] = {}

    def visit(node: str, path: frozenset[str]) -> int:
        if node not in depth:
            depth[node] = 1 + max((visit(each, path | {each}) for each in before[node] if each not in path), default=-1)
        return depth[node]

    for node in nodes:
        visit(node, frozenset({node}))
    return depth
