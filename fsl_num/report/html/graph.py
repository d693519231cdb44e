"""The graph of the claims: what rests on what, from top to bottom, in layers no wider than the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from statistics import fmean
from typing import Any

from fsl_num.claims.claim import Claim

BOX = (184, 34)
_BETWEEN, _DOWN, _APART, _MARGIN = 8, 32, 12, 4
"""Room between boxes of a layer, between layers, between components, and around it all."""
_LINE = 10
"""The room that a line takes where it passes between boxes."""

Link = tuple[str, str]
Point = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """The upper left corners of the boxes, through which points each link passes their layers, and the whole size."""

    nodes: Mapping[str, Point]
    routes: Mapping[Link, Sequence[Point]]
    width: float
    height: float


def graph(claims: Sequence[Claim], across: int = 5) -> dict[str, Any]:
    """Boxes and arrows for the template: ``nodes`` maps an id to its corner, ``edges`` are (kind, path, from, to)."""
    known = {claim.id for claim in claims}
    links = [(base, claim.id, "") for claim in claims for base in claim.depends]
    links += [(claim.id, claim.corrected_by, "corrects") for claim in claims if claim.corrected_by]
    links += [(claim.strengthens, claim.id, "strengthens") for claim in claims if claim.strengthens]
    links = [link for link in dict.fromkeys(links) if link[0] in known and link[1] in known and link[0] != link[1]]
    layout = place([claim.id for claim in claims], [link[:2] for link in links], across)
    return {
        "width": layout.width,
        "height": layout.height,
        "box": BOX,
        "nodes": layout.nodes,
        "edges": [(kind, _path(layout, (source, target)), source, target) for source, target, kind in links],
    }


def _path(layout: Layout, link: Link) -> str:
    """A smooth line from the lower side of one box to the upper side of another."""
    (x, y), (to_x, to_y) = ((left + BOX[0] / 2, top) for left, top in map(layout.nodes.__getitem__, link))
    y += BOX[1]
    path = f"M{x:g} {y:g}"
    for x_next, y_next in (*layout.routes[link], (to_x, to_y)):
        bend = _DOWN * 0.6
        path += f"C{x:g} {y + bend:g} {x_next:g} {y_next - bend:g} {x_next:g} {y_next:g}"
        x, y = x_next, y_next + BOX[1]
        path += f"V{y:g}" if y_next != to_y else ""
    return path


def place(nodes: Sequence[str], links: Iterable[Link], across: int = 5) -> Layout:
    """Where each node stands, arrows going down wherever the links have no cycle.

    ``nodes`` are all different, in the order that ties follow. Layers have at most ``across`` boxes, fewer where many
    lines pass between them, and components stand side by side where there is room. Lines from one node run together.

    >>> layout = place(["a", "b", "c"], [("a", "b")], across=2)
    >>> layout.nodes["a"], layout.nodes["b"], layout.nodes["c"]
    ((4.0, 4.0), (4.0, 70.0), (196.0, 4.0))
    """
    links = list(dict.fromkeys(links))
    width = across * (BOX[0] + _BETWEEN)
    parts = [_component(part, [link for link in links if link[0] in part], width) for part in _components(nodes, links)]
    places: dict[str, Point] = {}
    routes: dict[Link, Sequence[Point]] = {}
    left = top = below = right = 0.0
    for part in sorted(parts, key=lambda component: (-len(component.layers), -component.width)):
        if left and left + part.width > width:
            left, top = 0.0, below
        stand = {node: (_MARGIN + left + x, _MARGIN + top + y) for node, (x, y) in part.stand().items()}
        places |= {node: stand[node] for node in part.nodes}
        routes |= {link: [stand[bend] for bend in bends] for link, bends in part.bends.items()}
        left += part.width
        right = max(right, left)
        below = max(below, top + len(part.layers) * (BOX[1] + _DOWN) - _DOWN + _APART)
    return Layout(places, routes, 2 * _MARGIN + right - _BETWEEN, 2 * _MARGIN + below - _APART)


def _component(nodes: Sequence[str], links: Sequence[Link], width: float) -> _Component:
    """The component with the most boxes a layer that leave room for the lines between them."""
    most = int(width // (BOX[0] + _BETWEEN))
    tried = (_Component(nodes, links, boxes) for boxes in range(most, 0, -1))
    return next((component for component in tried if component.width <= width), _Component(nodes, links, 1))


class _Component:
    """The layers of one component, with a bend wherever lines from a node pass a layer."""

    def __init__(self, nodes: Sequence[str], links: Sequence[Link], most: int) -> None:
        self.nodes = nodes
        level = _levels(nodes, links, most)
        self.layers: list[list[str]] = [[] for _ in range(max(level.values()) + 1)]
        for node in nodes:
            self.layers[level[node]].append(node)
        self.bends: dict[Link, list[str]] = {}
        near: dict[str, dict[str, None]] = {node: {} for node in nodes}
        for source, target in links:
            passed = range(level[source] + 1, level[target])
            self.bends[source, target] = [f"\0{source}\0{at}" for at in passed]
            for at, bend in zip(passed, self.bends[source, target], strict=True):
                if bend not in near:
                    self.layers[at].append(bend)
                    near[bend] = {}
            for upper, lower in pairwise([source, *self.bends[source, target], target]):
                near[upper][lower] = near[lower][upper] = None
        self.width = max(sum(map(_room, layer)) for layer in self.layers)
        for sweep in range(12):  # sort each layer by where the neighbours of its nodes stand, there and back
            middles = {node: _middle(node, x) for node, (x, _) in self.stand().items()}
            for layer in self.layers if sweep % 2 == 0 else self.layers[::-1]:
                means = {node: fmean(middles[neighbour] for neighbour in near[node] or [node]) for node in layer}
                layer.sort(key=means.__getitem__)
                middles |= {node: _middle(node, x) for node, x in self._beside(layer)}

    def stand(self) -> dict[str, Point]:
        """The upper left corners of boxes and the upper ends of bends, each layer in the middle of the width."""
        return {
            node: (round(x, 1), float(at * (BOX[1] + _DOWN)))
            for at, layer in enumerate(self.layers)
            for node, x in self._beside(layer)
        }

    def _beside(self, layer: Sequence[str]) -> Iterable[tuple[str, float]]:
        x = (self.width - sum(map(_room, layer))) / 2
        for node in layer:
            yield node, x
            x += _room(node)


def _room(node: str) -> float:
    return _LINE if node.startswith("\0") else BOX[0] + _BETWEEN


def _middle(node: str, x: float) -> float:
    return x + (_room(node) - _BETWEEN) / 2


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


def _levels(nodes: Sequence[str], links: Sequence[Link], most: int) -> dict[str, int]:
    """A layer for each node, below all that it rests on: in each the first nodes, at most so many, that can stand."""
    depth = _depths(nodes, links)
    before: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in links:
        if depth[source] < depth[target]:
            before[target].append(source)
    level: dict[str, int] = {}
    for layer in range(len(nodes)):
        ready = (node for node in nodes if node not in level and all(base in level for base in before[node]))
        level |= dict.fromkeys([*islice(ready, most)], layer)
    return level


def _depths(nodes: Sequence[str], links: Iterable[Link]) -> dict[str, int]:
    """The length of the longest path to each node; a link back to where a path comes from does not count."""
    before: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in links:
        before[target].append(source)
    depth: dict[str, int] = {}

    def visit(node: str, path: frozenset[str]) -> int:
        if node not in depth:
            depth[node] = 1 + max((visit(base, path | {base}) for base in before[node] if base not in path), default=-1)
        return depth[node]

    for node in nodes:
        visit(node, frozenset({node}))
    return depth
