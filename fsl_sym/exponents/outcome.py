"""The optimum of a law at one exact point of its parameters, as formulas and with every condition they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy import Symbol

from fsl_sym.exponents.law import Constraint, Element, Law
from fsl_sym.exponents.programme import Arithmetic, Basis, ElementTriple, Programme, Values, lexicographic_sign

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


@dataclass(frozen=True)
class Outcome:
    """Formulas that hold wherever all ``bases`` hold and all ``comparisons`` keep their sign."""

    formulas: Formulas
    bases: tuple[Basis, ...]
    comparisons: tuple[tuple[ElementTriple, int], ...]
    programmes: tuple[tuple[Programme, Basis], ...]
    winner: int

    def holds(self, values: Values) -> bool:
        """Whether the formulas are certified at the point of ``values``."""
        return all(basis.holds(values) for basis in self.bases) and all(
            lexicographic_sign(triple, values) == sign for triple, sign in self.comparisons
        )

    def conditions(self) -> Iterator[Element]:
        """Every element of the field whose sign the certificate rests on."""
        for basis in self.bases:
            yield from basis.conditions()
        for triple, _ in self.comparisons:
            yield from triple


class Optimiser:
    """Solves a law at exact points; what one point taught is kept for the next."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.arithmetic = Arithmetic(law.field)
        self._choices: list[tuple[Any, tuple[Constraint, ...]]] = [
            (branch, choice) for branch in law.loss_branches for choice in law.constraint_choices
        ]
        self._programmes = [Programme(law, branch, choice, self.arithmetic) for branch, choice in self._choices]
        self._capped: dict[tuple[int, ElementTriple], Programme] = {}
        self.outcomes: list[Outcome] = []

    def outcome(self, point: dict[Symbol, Fraction]) -> Outcome:
        """The optimum at an exact point.

        Raises ValueError where the constraints contradict each other or the loss can be made as small as one likes.
        """
        values = Values(self.law, point)
        for known in self.outcomes:
            if known.holds(values):
                return known
        found = self._solve(values)
        self.outcomes.append(found)
        return found

    def _solve(self, values: Values) -> Outcome:
        bases = [programme.optimum(values) for programme in self._programmes]
        feasible = [index for index, basis in enumerate(bases) if basis.infeasible is None]
        where = ", ".join(f"{symbol} = {value}" for symbol, value in values.point.items()) or "all points"
        if not feasible:
            raise ValueError(
                f"no choice of the variables satisfies the constraints {self.law.constraints} at {where}: drop one, or "
                "narrow the ranges of the parameters"
            )
        winner = min(feasible, key=lambda index: values.triple(bases[index].point[0]))
        best = bases[winner].point[0]
        if values(best[0]) != 0:
            raise ValueError(
                f"the loss {self.law.loss} can be made as small as one likes at {where}: a constraint that ties "
                f"the variables {self.law.variables} to the budget {self.law.budget} is missing"
            )
        comparisons = []
        tied = []
        for index in feasible:
            gap = self._gap(bases[index].point[0], best)
            sign = lexicographic_sign(gap, values)
            if any(gap):
                comparisons.append((gap, sign))
            if sign == 0:
                tied.append(index)
        used = list(bases)
        ranges = []
        for coordinate in range(1, len(self.law.variables) + 1):
            ends = []
            for maximise in (False, True):
                candidates = [self._end(index, best, values, coordinate, maximise) for index in tied]
                used.extend(candidates)
                points = [basis.point[coordinate] for basis in candidates]
                pick = (max if maximise else min)(points, key=values.triple)
                for point in points:
                    gap = self._gap(point, pick)
                    if any(gap):
                        comparisons.append((gap, lexicographic_sign(gap, values)))
                ends.append(pick)
            ranges.append((ends[0], ends[1]))
        return Outcome(
            Formulas(best, tuple(ranges)),
            tuple(dict.fromkeys(used)),
            tuple(dict.fromkeys(comparisons)),
            tuple(zip(self._programmes, bases, strict=True)),
            winner,
        )

    def _end(self, index: int, best: ElementTriple, values: Values, coordinate: int, maximise: bool) -> Basis:
        key = (index, best)
        if key not in self._capped:
            branch, choice = self._choices[index]
            self._capped[key] = Programme(self.law, branch, choice, self.arithmetic, best)
        return self._capped[key].optimum(values, coordinate, maximise)

    def _gap(self, left: ElementTriple, right: ElementTriple) -> ElementTriple:
        parts = [self.arithmetic.minus(mine, theirs) for mine, theirs in zip(left, right, strict=True)]
        return (parts[0], parts[1], parts[2])
