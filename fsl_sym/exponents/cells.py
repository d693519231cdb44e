"""The parameter space cut by the signs of polynomials: where each set of formulas of a law holds.

Every condition of a certificate is the sign of a product of irreducible polynomials. Those of one sign all over the
domain drop out; the others are walls. Exact points are drawn in the open, on each wall and close to its two sides, so
that thin cells (the edge of two regimes is one) are met on purpose and not by luck.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from sympy import Expr, Poly, Rational, Symbol, roots

from fsl_sym.exponents.law import Element, Law
from fsl_sym.exponents.outcome import Formulas, Optimiser, Outcome

Signs = tuple[int, ...]
OPEN_SAMPLES = 16
POINTS_ON_A_WALL = 4
NUDGE = Fraction(1, 64)
MOST_COMBINATIONS = 4096


@dataclass(frozen=True)
class Cell:
    """One cell met: signs of the kept walls, formulas, an exact point inside, the certified outcome."""

    signs: Signs
    formulas: Formulas
    point: dict[Symbol, Fraction]
    outcome: Outcome


@dataclass(frozen=True)
class Partition:
    """The walls that matter and the cells between them; ``complete`` when no cell can have been missed."""

    walls: tuple[Expr, ...]
    cells: tuple[Cell, ...]
    complete: bool


class Explorer:
    """Finds the partition of one law."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.optimiser = Optimiser(law)
        self._definite: dict[Any, bool] = {}
        self._read: set[Element] = set()
        self._outcomes_read = 0
        self._combined: dict[tuple[int, int, int], int | None] = {}
        self.walls: list[Any] = []
        self.visited: dict[tuple[Fraction, ...], tuple[dict[Symbol, Fraction], Outcome]] = {}

    def partition(self) -> Partition:
        """Explore until no new wall appears, then keep the walls that separate different formulas."""
        self._visit_all(self.law.domain.sample(OPEN_SAMPLES if self.law.domain.symbols else 1))
        done = 0
        while done < len(self.walls):
            wall = self.walls[done]
            done += 1
            self._visit_all(self._points_near(wall))
        # With one parameter two walls have no point in common.
        for left, right in combinations(self.walls if len(self.law.domain.symbols) > 1 else (), 2):
            self._visit_all(self._points_on_both(left, right))
        return self._assemble()

    def _visit_all(self, points: list[dict[Symbol, Fraction]]) -> None:
        for point in points:
            key = tuple(point.values())
            if key in self.visited:
                continue
            self.visited[key] = (point, self.optimiser.outcome(point))
            for outcome in self.optimiser.outcomes[self._outcomes_read :]:
                self._outcomes_read += 1
                for element in outcome.conditions():
                    if element not in self._read:
                        self._read.add(element)
                        self._add_walls(element)

    def _add_walls(self, element: Element) -> None:
        for polynomial in (element.numer, element.denom):
            if polynomial.is_ground:
                continue
            for factor, _ in polynomial.factor_list()[1]:
                if factor.LC < 0:
                    factor = -factor
                if factor not in self._definite:
                    self._definite[factor] = self.law.domain.sign(factor.as_expr()) is not None
                    if not self._definite[factor]:
                        self.walls.append(factor)

    def _points_near(self, wall: Any) -> list[dict[Symbol, Fraction]]:
        points: list[dict[Symbol, Fraction]] = []
        for point, symbol in self._points_on(wall.as_expr()):
            points.append(point)
            for step in (NUDGE, -NUDGE):
                moved = {**point, symbol: point[symbol] * (1 + step) + (step if not point[symbol] else 0)}
                if self.law.domain.contains(moved):
                    points.append(moved)
            if len(points) >= 3 * POINTS_ON_A_WALL:
                break
        return points or self._points_beside(wall.as_expr())

    def _points_beside(self, wall: Expr) -> list[dict[Symbol, Fraction]]:
        """Points close to both sides of a wall on which no rational point was found."""
        points = []
        for base, symbol, polynomial in self._lines_through(wall, POINTS_ON_A_WALL):
            for ends, _ in polynomial.intervals(eps=_rational(NUDGE)):
                moved = [{**base, symbol: Fraction(int(end.p), int(end.q))} for end in ends]
                points += [point for point in moved if self.law.domain.contains(point)]
        return points

    def _points_on(self, wall: Expr) -> Iterator[tuple[dict[Symbol, Fraction], Symbol]]:
        """Exact points of a wall, with the parameter that was solved for; none without rational points."""
        for base, symbol, polynomial in self._lines_through(wall, 4 * POINTS_ON_A_WALL):
            for root in _rational_roots(polynomial):
                point = {**base, symbol: root}
                if self.law.domain.contains(point):
                    yield point, symbol

    def _lines_through(self, wall: Expr, count: int) -> Iterator[tuple[dict[Symbol, Fraction], Symbol, Poly]]:
        """The wall on lines parallel to the axes: a base point, the free parameter and the polynomial in it."""
        for base in self.law.domain.sample(count, seed=1):
            for symbol in self.law.domain.symbols:
                if symbol in wall.free_symbols:
                    others = {other: _rational(value) for other, value in base.items() if other != symbol}
                    polynomial = Poly(wall.subs(others), symbol)
                    if polynomial.degree() > 0:
                        yield base, symbol, polynomial

    def _points_on_both(self, left: Any, right: Any) -> list[dict[Symbol, Fraction]]:
        points = []
        first, second = left.as_expr(), right.as_expr()
        for symbol in self.law.domain.symbols:
            poly = Poly(first, symbol)
            if poly.degree() != 1:
                continue
            solved = -poly.coeff_monomial(1) / poly.coeff_monomial(symbol)
            rest = second.subs(symbol, solved).together().as_numer_denom()[0]
            for base in self.law.domain.sample(2, seed=2):
                for other in sorted(rest.free_symbols, key=str):
                    fixed = {each: _rational(value) for each, value in base.items() if each not in (symbol, other)}
                    for root in _rational_roots(Poly(rest.subs(fixed), other)):
                        values = {**fixed, other: _rational(root)}
                        last = solved.subs(values)
                        if last.is_Rational:
                            point = {**base, other: root, symbol: Fraction(int(last.p), int(last.q))}
                            if self.law.domain.contains(point):
                                points.append(point)
            break
        return points[:2]

    def _signs(self, point: dict[Symbol, Fraction]) -> Signs:
        coordinates = [point[symbol] for symbol in self.law.domain.symbols]
        return tuple(_sign_at(wall, coordinates) for wall in self.walls)

    def _assemble(self) -> Partition:
        classes: list[Formulas] = []
        rows: list[tuple[Signs, int, dict[Symbol, Fraction], Outcome]] = []
        visits = sorted(((self._signs(point), point, outcome) for point, outcome in self.visited.values()), key=_zeros)
        for signs, point, outcome in visits:
            index = self._class_of(outcome.formulas, signs, classes)
            rows.append((signs, index, point, outcome))
        kept = list(range(len(self.walls)))
        for wall in sorted(kept, key=lambda index: -len(list(self.walls[index].terms()))):
            trial = [index for index in kept if index != wall]
            if _consistent(rows, trial):
                kept = trial
        if not _consistent(rows, kept):
            raise AssertionError("two points with the same signs of all walls have different formulas")
        cells: dict[Signs, Cell] = {}
        for signs, index, point, outcome in rows:
            key = tuple(signs[wall] for wall in kept)
            cells.setdefault(key, Cell(key, classes[index], point, outcome))
        walls = tuple(self.walls[index].as_expr() for index in kept)
        complete = self._nothing_missed({signs for signs, _, _, _ in rows})
        return Partition(walls, tuple(cells.values()), complete)

    def _class_of(self, formulas: Formulas, signs: Signs, classes: list[Formulas]) -> int:
        vanishing = [wall for wall, sign in zip(self.walls, signs, strict=True) if sign == 0]
        for index, known in enumerate(classes):
            gaps = [mine - theirs for mine, theirs in zip(formulas.elements(), known.elements(), strict=True)]
            if all(not gap or any(not gap.numer.rem(wall) for wall in vanishing) for gap in gaps):
                return index
        classes.append(formulas)
        return len(classes) - 1

    def _nothing_missed(self, observed: set[Signs]) -> bool:
        """Whether every combination of signs of all walls was observed or refuted; False too where the search is long.

        All walls count, also those dropped later: only then is every certificate known to hold where it is used.
        """
        pending: list[Signs] = [()]
        for _ in range(MOST_COMBINATIONS):
            if not pending:
                return True
            signs = pending.pop()
            if len(signs) == len(self.walls):
                if signs not in observed and not self._refuted_by_three(signs):
                    return False
                continue
            last = len(signs)
            pending.extend(
                (*signs, sign)
                for sign in (-1, 0, 1)
                if not any(self._refuted(other, signs[other], last, sign) for other in range(last))
            )
        return False

    def _refuted(self, first: int, a: int, second: int, b: int) -> bool:
        """Whether wall ``first`` cannot have sign a where wall ``second`` has sign b.

        With u, v > 0 the combination u a first + v b second would be positive there, or zero where both are; where a
        sign is zero its wall enters with either sign.
        """
        for left, right in product((a,) if a else (1, -1), (b,) if b else (1, -1)):
            if self._sign_of_combination(first, second, left * right) == -left:
                return True
        return False

    def _refuted_by_three(self, signs: Signs) -> bool:
        """Whether three walls contradict each other, as a < b, b < c and c < a do: their signed sum is not positive."""
        for three in combinations(range(len(signs)), 3):
            chosen = [signs[wall] for wall in three]
            if not any(chosen):
                continue
            for weights in product(*((sign,) if sign else (1, -1) for sign in chosen)):
                total = sum(weight * self.walls[wall].as_expr() for weight, wall in zip(weights, three, strict=True))
                if self.law.domain.sign(total) in (0, -1):
                    return True
        return False

    def _sign_of_combination(self, first: int, second: int, right: int) -> int | None:
        """The sign on the domain of u first + v right second, with the first simple u, v > 0 that make it definite."""
        key = (first, second, right)
        if key not in self._combined:
            positive = [symbol for symbol in self.law.domain.symbols if self.law.domain.sign(symbol) == 1]
            pairs = [(1, 1), (1, 2), (2, 1), *((1, each) for each in positive), *((each, 1) for each in positive)]
            one, other = self.walls[first].as_expr(), right * self.walls[second].as_expr()
            signs = (self.law.domain.sign(u * one + v * other) for u, v in pairs)
            self._combined[key] = next((sign for sign in signs if sign), None)
        return self._combined[key]


def _consistent(rows: list[tuple[Signs, int, dict[Symbol, Fraction], Outcome]], kept: list[int]) -> bool:
    seen: dict[Signs, int] = {}
    return all(seen.setdefault(tuple(signs[wall] for wall in kept), index) == index for signs, index, _, _ in rows)


def _zeros(visit: tuple[Signs, Any, Any]) -> int:
    return visit[0].count(0)


def _sign_at(polynomial: Any, coordinates: list[Fraction]) -> int:
    total = Fraction(0)
    for exponents, coefficient in polynomial.terms():
        value = Fraction(int(coefficient.numerator), int(coefficient.denominator))
        for coordinate, exponent in zip(coordinates, exponents, strict=True):
            value *= coordinate**exponent
        total += value
    return (total > 0) - (total < 0)


def _rational_roots(polynomial: Poly) -> list[Fraction]:
    return sorted(Fraction(int(root.p), int(root.q)) for root in roots(polynomial, filter="Q"))


def _rational(value: Any) -> Rational:
    return Rational(value.numerator, value.denominator)
