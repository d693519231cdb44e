"""Cells put together: as few regions as simple conditions allow, each covered by cells of one set of formulas.

A region is a box of signs. It may be larger than the cells that it was made from, as long as it is shown to meet no
cell of other formulas and no unresolved one; all cells together are the domain, so that nothing else can be in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fsl_sym.exponents.cells import Cell, Explorer
from fsl_sym.exponents.outcome import Formulas, Outcome
from fsl_sym.exponents.walls import ANY, Box, Point


@dataclass(frozen=True, eq=False)
class Patch:
    """A region before it is written out: its box, its formulas, the cells that it meets, and a point inside."""

    box: Box
    formulas: Formulas
    cells: list[Cell]
    point: Point | None


@dataclass(frozen=True)
class _Part:
    """A cell, or a part of one, with the signs that its walls can have there."""

    box: Box
    cell: Cell


class Assembly:
    """Puts the cells of one explorer together."""

    def __init__(self, explorer: Explorer, cells: Sequence[Cell]) -> None:
        self.emptiness, self.walls, self.points = explorer.emptiness, explorer.walls, explorer.points
        self.cells = cells
        self._order = sorted(
            range(len(self.walls.polynomials)), key=lambda wall: -len(list(self.walls.polynomials[wall].terms()))
        )

    def patches(self) -> list[Patch]:
        """The regions, with the cells that certify each."""
        parts = [self._tightened(cell) for cell in self.cells]
        classes: list[tuple[Formulas, list[_Part]]] = []
        for part in sorted(parts, key=lambda part: _equalities(part.cell.box)):
            if part.cell.outcome is not None:
                self._class_of(part.cell.box, part.cell.outcome, classes).append(part)
        patches = []
        for formulas, members in classes:
            outside = [part for part in parts if part not in members]
            for box in self._boxes(members, outside):
                inside = [part.cell for part in members if self._meets(part, box)]
                point = self._point(box, inside)
                if point is not None or not self.emptiness.impossible(box):
                    patches.append(Patch(box, formulas, list(dict.fromkeys(inside)), point))
        return patches

    def _point(self, box: Box, cells: Sequence[Cell]) -> Point | None:
        """A point of the region, off the walls where one is known."""
        known = (cell.point for cell in sorted(cells, key=lambda cell: _equalities(cell.box)))
        inside = (point for point in known if point is not None and point.inside(self.walls, box))
        return next(inside, None) or self.points.among_known(box) or self.points.find(box)

    def single(self) -> list[Patch]:
        """Every certified cell as a region of its own, where there is no time for more."""
        return [
            Patch(cell.box, cell.outcome.formulas, [cell], cell.point)
            for cell in self.cells
            if cell.outcome is not None
        ]

    def _class_of(self, box: Box, outcome: Outcome, classes: list[tuple[Formulas, list[_Part]]]) -> list[_Part]:
        """The parts with the same formulas, up to multiples of the walls that vanish in this one."""
        vanishing = [self.walls.polynomials[wall] for wall, signs in box.items() if signs == {0}]
        for known, members in classes:
            pairs = zip(outcome.formulas.elements(), known.elements(), strict=True)
            gaps = [mine - theirs for mine, theirs in pairs if mine is not theirs]
            if all(not gap or any(not gap.numer.rem(wall) for wall in vanishing) for gap in gaps):
                return members
        classes.append((outcome.formulas, []))
        return classes[-1][1]

    def _tightened(self, cell: Cell) -> _Part:
        box = dict(cell.box)
        for wall in range(len(self.walls.polynomials)):
            left = frozenset(
                sign
                for sign in box.get(wall, ANY)
                if not self.emptiness.pairwise({**cell.box, wall: frozenset((sign,))}, wall)
            )
            if left and left != ANY:
                box[wall] = left
        return _Part(box, cell)

    def _boxes(self, members: Sequence[_Part], outside: Sequence[_Part]) -> Iterator[Box]:
        hull = {
            wall: frozenset().union(*(part.box.get(wall, ANY) for part in members))
            for wall in range(len(self.walls.polynomials))
        }
        against = self._against(hull, outside)
        if against is None:
            yield self._widened(hull, outside)
            return
        wall = self._where_to_cut(hull, members, against)
        if wall is None:
            yield from (part.box for part in members)
            return
        for sign in sorted(hull[wall], reverse=True):
            side = {wall: frozenset((sign,))}
            inside = [_Part({**part.box, **side}, part.cell) for part in members if self._meets(part, side)]
            if inside:
                yield from self._boxes(inside, outside)

    def _where_to_cut(self, hull: Box, members: Sequence[_Part], against: _Part) -> int | None:
        """The wall that parts most members from a cell of other formulas; None where nothing is parted."""

        def parted(wall: int) -> int:
            return sum(not part.box.get(wall, ANY) & against.box.get(wall, ANY) for part in members)

        wall = max((wall for wall, signs in hull.items() if len(signs) > 1), key=parted, default=None)
        return None if wall is None or not parted(wall) else wall

    def _widened(self, box: Box, outside: Sequence[_Part]) -> Box:
        """The box with every condition dropped that parts it from no other cell; long polynomials go first."""
        for wall in self._order:
            trial = {**box, wall: ANY}
            if self._against(trial, outside) is None:
                box = trial
        return {wall: signs for wall, signs in box.items() if signs != ANY}

    def _against(self, box: Box, outside: Sequence[_Part]) -> _Part | None:
        """A cell that is not shown to lie outside the box; those with a point inside, which are many, come first."""
        near = [part for part in outside if self._compatible(part, box)]
        return next((part for part in near if self._has_point(part, box)), None) or next(
            (part for part in near if self._meets(part, box)), None
        )

    def _compatible(self, part: _Part, box: Box) -> bool:
        return all(signs & part.box.get(wall, ANY) for wall, signs in box.items())

    def _has_point(self, part: _Part, box: Box) -> bool:
        return part.cell.point is not None and part.cell.point.inside(self.walls, box)

    def _meets(self, part: _Part, box: Box) -> bool:
        if not self._compatible(part, box):
            return False
        meeting = {**part.cell.box, **{wall: signs & part.box.get(wall, ANY) for wall, signs in box.items()}}
        return self._has_point(part, box) or not self.emptiness.impossible(meeting)


def _equalities(box: Box) -> int:
    return sum(signs == {0} for signs in box.values())
