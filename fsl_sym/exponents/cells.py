"""The parameter space taken apart: cells, each with an outcome whose certificate holds all over it.

The search begins with the whole domain as one box. A box in which some outcome is shown to hold is a cell. Another is
split at a wall on which the outcome of one of its points rests, and its parts are searched in turn; parts shown to be
empty are dropped. What can neither be certified nor shown to be empty remains and is said, so that nothing is taken for
granted: the cells, the empty boxes and the unresolved ones make up the domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sympy import Symbol

from fsl_sym.exponents.clock import Clock, OutOfTime
from fsl_sym.exponents.emptiness import Emptiness
from fsl_sym.exponents.law import Law
from fsl_sym.exponents.outcome import Optimiser, Outcome
from fsl_sym.exponents.points import Points
from fsl_sym.exponents.walls import ANY, Box, Point, Walls

OPEN_SAMPLES = 16
MOST_BOXES = 20_000
MOST_BLIND_CUTS = 8


@dataclass(frozen=True, eq=False)
class Cell:
    """A box with the outcome that holds all over it (None: unresolved) and a point in it (None: none was met)."""

    box: Box
    outcome: Outcome | None
    point: Point | None


@dataclass(frozen=True)
class _Task:
    box: Box
    point: Point | None
    share: float
    blind: int = 0  # cuts since a search for points failed


class Explorer:
    """Finds the cells of one law."""

    def __init__(self, law: Law, clock: Clock) -> None:
        self.law, self.clock = law, clock
        self.optimiser = Optimiser(law, clock)
        self.walls: Walls = self.optimiser.walls
        self.emptiness = Emptiness(self.walls, clock)
        self.points = Points(self.walls, clock, OPEN_SAMPLES)
        self.in_time = True

    def cells(self) -> list[Cell]:
        """All cells; where the time is over, what is left of the domain is unresolved."""
        cells: list[Cell] = []
        tasks = [_Task({}, self.points.known[0], 1.0)]
        certified, share, done = 0, 0.0, 0
        while tasks:
            task = tasks.pop()
            try:
                self.clock.check()
                if done == MOST_BOXES:
                    raise OutOfTime
                step = self._step(task)
            except OutOfTime:
                self.in_time = False
                return [*cells, *(Cell(remaining.box, None, remaining.point) for remaining in (task, *tasks))]
            done += 1
            if isinstance(step, Cell):
                cells.append(step)
                certified += step.outcome is not None
            else:
                tasks.extend(step)
            if not (isinstance(step, list) and step):
                share += task.share
                self.clock.report(min(share, 1.0), certified, len(cells) - certified)
        return cells

    def _step(self, task: _Task) -> Cell | list[_Task]:
        """The cell that a box is, or its parts; no parts where it is shown to be empty."""
        box, point = task.box, task.point
        holding = next((outcome for outcome in self.optimiser.outcomes if outcome.holds(box)), None)
        if point is None:
            point = self.points.among_known(box)
        if point is None:
            if self.emptiness.impossible(box):
                return []
            if holding is None and not task.blind:
                point = self.points.find(box)
        if holding is not None:
            return Cell(box, holding, point)
        if point is not None:
            return self._parts(task, self.optimiser.outcome(self._named(point)), point)
        undecided = [outcome for outcome in self.optimiser.outcomes if outcome.holds(box) is None]
        if not undecided or task.blind == MOST_BLIND_CUTS:
            return Cell(box, None, None)
        simplest = min(
            undecided, key=lambda outcome: sum(condition.holds(box) is None for condition in outcome.conditions)
        )
        return self._parts(task, simplest, None)

    def _parts(self, task: _Task, outcome: Outcome, point: Point | None) -> Cell | list[_Task]:
        """The box split at a wall on which the outcome rests; that with the point comes last, to be taken first."""
        condition = next((condition for condition in outcome.conditions if condition.holds(task.box) is None), None)
        if condition is None:
            return Cell(task.box, outcome, point)
        wall = condition.undecided(task.box)
        groups: dict[bool | None | int, set[int]] = {}
        for sign in task.box.get(wall, ANY):
            answer = condition.holds({**task.box, wall: frozenset((sign,))})
            groups.setdefault(sign + 5 if answer is None else answer, set()).add(sign)
        if len(groups) == 1:
            groups = {sign: {sign} for sign in task.box.get(wall, ANY)}
        parts = []
        for signs in groups.values():
            box = {**task.box, wall: frozenset(signs)}
            if not self.emptiness.pairwise(box, wall):
                inside = point is not None and point.inside(self.walls, box)
                parts.append((inside, box))
        parts.sort(key=lambda part: part[0])
        blind = task.blind + 1 if point is None else 0
        return [_Task(box, point if inside else None, task.share / len(parts), blind) for inside, box in parts]

    def _named(self, point: Point) -> dict[Symbol, Fraction]:
        return dict(zip(self.law.domain.symbols, point.coordinates, strict=False))
