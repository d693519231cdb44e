"""Places for the nodes of a graph: components side by side, in each the layers of its longest paths.

>>> layout = place(["a", "b", "c"], [("a", "b")], columns=2)
>>> layout.nodes["a"], layout.nodes["b"], layout.nodes["c"]
(Place(column=0, row=0.5), Place(column=1, row=0.5), Place(column=0, row=1.85))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Link = tuple[str, str]

_BEND = 0.4
"""The room that a link takes where it passes between nodes, in rows."""


@dataclass(frozen=True)
class Place:
    """A column, and the row of the middle; rows need not be whole."""

    column: int
    row: float


@dataclass(frozen=True)
class Layout:
    """Where the nodes stand, through which places each link passes, and how many columns and rows there are."""

    nodes: Mapping[str, Place]
    routes: Mapping[Link, Sequence[Place]]
    columns: int
    rows: float


def place(nodes: Sequence[str], links: Iterable[Link], columns: int = 4) -> Layout:
    """Where each node stands, arrows going from left to right wherever the links have no cycle.

    Args:
        nodes: all different, in the order that ties follow.
        links: pairs (from, to) of nodes.
        columns: how wide the drawing may be before it must be; deeper components make it wider.
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
        spans = [max(floors[start : start + size]) for start in range(width - size + 1)]
        start = min(range(len(spans)), key=lambda at: (spans[at], at))
        stand = part.stand(start, spans[start])
        places |= {node: stand[node] for node in part.nodes}
        routes |= {link: [stand[each] for each in bends] for link, bends in part.bends.items()}
        floors[start : start + size] = [spans[start] + part.height + (0.35 if size > 1 else 0.0)] * size
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
            chain = [source, *bends, target]
            for left, right in zip(chain, chain[1:], strict=False):
                near[left].append(right)
                near[right].append(left)
        self._untangle(near)
        self.height = max(sum(map(_room, layer)) for layer in self.layers)

    def _untangle(self, near: Mapping[str, list[str]]) -> None:
        """Sort each layer by where the neighbours of its nodes stand, there and back."""
        for sweep in range(8):
            rows = {node: place.row for node, place in self.stand(0, 0.0).items()}
            for layer in self.layers if sweep % 2 == 0 else self.layers[::-1]:
                centres = {
                    node: sum(rows[each] for each in near[node]) / len(near[node]) if near[node] else rows[node]
                    for node in layer
                }
                layer.sort(key=lambda node: centres[node])  # noqa: B023 - used at once
                rows |= _stacked(layer, 0.0)

    def stand(self, start: int, floor: float) -> dict[str, Place]:
        """The places of nodes and bends, each layer in the middle of the component's height."""
        height = max(sum(map(_room, layer)) for layer in self.layers)
        found: dict[str, Place] = {}
        for at, layer in enumerate(self.layers):
            rows = _stacked(layer, floor + height / 2)
            found |= {node: Place(start + at, round(row, 3)) for node, row in rows.items()}
        return found


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
    near: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in links:
        near[source].append(target)
        near[target].append(source)
    found: list[list[str]] = []
    seen: set[str] = set()
    for node in nodes:
        if node in seen:
            continue
        part, waiting = {node}, [node]
        while waiting:
            for other in near[waiting.pop()]:
                if other not in part:
                    part.add(other)
                    waiting.append(other)
        seen |= part
        found.append([each for each in nodes if each in part])
    return found


def _depths(nodes: Sequence[str], links: Iterable[Link]) -> dict[str, int]:
    """The length of the longest path to each node."""
    before: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in links:
        before[target].append(source)
    depth: dict[str, int] = {}
    open_nodes: set[str] = set()

    def visit(node: str) -> int:
        if node not in depth:
            open_nodes.add(node)
            # A link back to where we come from would close a cycle: it does not count.
            reached = [visit(each) for each in before[node] if each not in open_nodes]
            open_nodes.discard(node)
            depth[node] = 1 + max(reached, default=-1)
        return depth[node]

    for node in nodes:
        visit(node)
    return depth
