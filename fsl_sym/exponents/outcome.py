"""The optimum of a law at one exact point of its parameters, as formulas and with every condition they rest on.

Little is asked of a branch that loses: multipliers that bound it from below. Only what attains the optimum, or the end
of a range on the optimal set, has to be feasible. The fewer conditions, the larger the cells of the parameter space.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sympy import Symbol

from fsl_sym.exponents.clock import Clock
from fsl_sym.exponents.law import Element, Law
from fsl_sym.exponents.programme import (
    AT_LEAST_ZERO,
    POSITIVE,
    Arithmetic,
    Basis,
    ElementTriple,
    Programme,
    Values,
    lexicographic_sign,
    programmes,
)
from fsl_sym.exponents.walls import Box, Condition, Walls

Range = tuple[ElementTriple, ElementTriple]


@dataclass(frozen=True)
class Formulas:
    """Loss exponent and the range of every variable on the optimal set, as triples over the field."""

    loss: ElementTriple
    ranges: tuple[Range, ...]

    def elements(self) -> Iterator[Element]:
        """Every component, in a fixed order."""
        yield from self.loss
        for lower, upper in self.ranges:
            yield from lower
            yield from upper


@dataclass(frozen=True, eq=False)
class Outcome:
    """Formulas that hold, with their certificate, wherever all ``conditions`` hold; solved at ``point``."""

    formulas: Formulas
    conditions: tuple[Condition, ...]
    programmes: tuple[tuple[Programme, Basis], ...]
    winner: int
    point: Mapping[Symbol, Fraction]

    def holds(self, box: Box) -> bool | None:
        """Whether all conditions hold all over a box (True), one of them nowhere (False), or neither (None)."""
        answer: bool | None = True
        for condition in self.conditions:
            held = condition.holds(box)
            if held is False:
                return False
            if held is None:
                answer = None
        return answer


class Optimiser:
    """Solves a law at exact points; what one point taught is kept for the next."""

    def __init__(self, law: Law, clock: Clock | None = None) -> None:
        self.law = law
        self.clock = clock or Clock()
        self.walls = Walls(law.domain)
        self.arithmetic = Arithmetic.of(law.field)
        self._programmes = list(programmes(law, self.arithmetic, self.clock))
        self._capped: dict[tuple[int, ElementTriple], Programme] = {}
        self.outcomes: list[Outcome] = []

    def outcome(self, point: Mapping[Symbol, Fraction]) -> Outcome:
        """The optimum at an exact point.

        Raises ValueError where the constraints contradict each other or the loss can be made as small as one likes.
        """
        values = Values(self.law, point, self.walls)
        for known in self.outcomes:
            if known.holds(values.box):
                return known
        outcome = self._solve(values)
        self.outcomes.append(outcome)
        return outcome

    def _solve(self, values: Values) -> Outcome:
        bases, winner = optimal_bases(self._programmes, values, self.clock)
        feasible = [index for index, basis in enumerate(bases) if basis.infeasible is None]
        best = bases[winner].point[0]
        if values(best[0]) != 0:
            raise ValueError(
                f"the loss {self.law.loss} can be made as small as one likes at {_shown(values)}: a constraint that "
                f"ties the variables {self.law.variables} to the budget {self.law.budget} is missing, or one that "
                f"bounds them (as {self.law.variables[0]} >= 1: they may fall below 1)"
            )
        conditions: list[Condition | None] = list(bases[winner].attains(self.walls))
        for basis in bases:
            conditions.extend(basis.bounds(self.walls))
        tied = []
        for index in feasible:
            gap = self._gap(bases[index].point[0], best)
            if lexicographic_sign(gap, values) == 0:
                tied.append(index)
            # Where a tied branch loses it cannot reach the optimum, and has no say in the ranges.
            conditions.append(self.walls.condition(gap, AT_LEAST_ZERO if index in tied else POSITIVE))
        ranges = []
        for coordinate in range(1, len(self.law.variables) + 1):
            ends = []
            for maximise in (False, True):
                self.clock.check()
                candidates = [self._end(index, bases[index], best, values, coordinate, maximise) for index in tied]
                extreme = max if maximise else min
                pick = extreme(candidates, key=lambda candidate: values.triple(candidate.point[coordinate]))
                end = pick.point[coordinate]
                conditions.extend(pick.attains(self.walls))
                for candidate in candidates:
                    conditions.extend(candidate.bounds(self.walls))
                    gap = self._gap(candidate.point[coordinate], end)
                    inward = self._gap(end, candidate.point[coordinate]) if maximise else gap
                    conditions.append(self.walls.condition(inward, AT_LEAST_ZERO))
                ends.append(end)
            ranges.append((ends[0], ends[1]))
        return Outcome(
            Formulas(best, tuple(ranges)),
            tuple(condition for condition in dict.fromkeys(conditions) if condition is not None),
            tuple(zip(self._programmes, bases, strict=True)),
            winner,
            values.point,
        )

    def _end(
        self, index: int, least: Basis, best: ElementTriple, values: Values, coordinate: int, maximise: bool
    ) -> Basis:
        key = (index, best)
        if key not in self._capped:
            self._capped[key] = self._programmes[index].capped(best)
        return self._capped[key].optimum(values, coordinate, maximise, least)

    def _gap(self, left: ElementTriple, right: ElementTriple) -> ElementTriple:
        parts = [self.arithmetic.minus(mine, theirs) for mine, theirs in zip(left, right, strict=True)]
        return (parts[0], parts[1], parts[2])


def optimal_bases(listed: Sequence[Programme], values: Values, clock: Clock) -> tuple[list[Basis], int]:
    """The optimal basis of each programme of a law at an exact point, and the place of the best.

    Raises ValueError where the constraints contradict each other.
    """
    bases = []
    for programme in listed:
        clock.check()
        bases.append(programme.optimum(values))
    feasible = [index for index, basis in enumerate(bases) if basis.infeasible is None]
    if not feasible:
        raise ValueError(
            f"no choice of the variables satisfies the constraints {listed[0].law.constraints} at {_shown(values)}: "
            "drop one, or narrow the ranges of the parameters"
        )
    return bases, min(feasible, key=lambda index: values.triple(bases[index].point[0]))


def _shown(values: Values) -> str:
    return ", ".join(f"{symbol} = {value}" for symbol, value in values.point.items()) or "all points"
