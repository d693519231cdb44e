"""Exact points of the parameters with given signs of walls: a search, whose every find is checked.

Walls that have to vanish are solved for a parameter in which they are linear, where there is one; then points move
along the axes of the other parameters, to a place between the roots of the walls, or on one, with fewer wrong signs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from sympy import Poly, Symbol

from fsl_sym.exponents.clock import Clock
from fsl_sym.exponents.walls import ANY, Box, Point, Walls, value_at
from fsl_sym.values import as_fraction

STARTS = 6
ROUNDS = 3
MOST_POINTS = 400
_X = Symbol("x")


@dataclass(frozen=True)
class _Solved:
    """A parameter as a quotient of two polynomials in the others."""

    place: int
    top: Any
    bottom: Any


class Points:
    """The points known of one domain, and the search for others."""

    def __init__(self, walls: Walls, clock: Clock, count: int) -> None:
        self.walls, self.clock = walls, clock
        self.domain = walls.domain
        self.symbols = self.domain.symbols
        self.known: list[Point] = []
        self._met: dict[tuple[Fraction, ...], Point] = {}
        self._random = random.Random(0)
        for sample in self.domain.sample(count if self.symbols else 1):
            self.add(tuple(sample.values()))

    def add(self, coordinates: tuple[Fraction, ...]) -> Point:
        """The point, kept for later."""
        if coordinates not in self._met:
            self._met[coordinates] = Point(coordinates)
            if len(self.known) < MOST_POINTS:
                self.known.append(self._met[coordinates])
        return self._met[coordinates]

    def among_known(self, box: Box) -> Point | None:
        """A known point of the box; the latest first."""
        return next((point for point in reversed(self.known) if point.inside(self.walls, box)), None)

    def find(self, box: Box) -> Point | None:
        """A point of the box, or None where the search meets none."""
        asked = {wall: signs for wall, signs in box.items() if signs != ANY}
        if not self.symbols:
            return self.known[0]
        solved = self._solve([wall for wall, signs in asked.items() if signs == {0}])
        free = [k for k in range(len(self.symbols)) if k not in {solution.place for solution in solved}]
        ranked = sorted(self.known, key=lambda point: self._wrong(point, asked))
        drawn = (Point(tuple(values.values())) for values in self.domain.sample(2, len(self.known)))
        starts = [*ranked[:STARTS], *drawn]
        for start in starts:
            here = self._completed(start.coordinates, solved)
            best = None if here is None else self._score(here, asked)
            if best == 0:
                return self.add(here)  # type: ignore[arg-type]
            for _ in range(ROUNDS):
                improved = False
                for place in free:
                    self.clock.check()
                    base = here if here is not None else start.coordinates
                    for candidate in self._along(base, place, solved, asked):
                        score = self._score(candidate, asked)
                        if score == 0:
                            return self.add(candidate)
                        if score is not None and (best is None or score < best):
                            here, best, improved = candidate, score, True
                if not improved:
                    break
        return None

    def _wrong(self, point: Point, asked: Box) -> int:
        return sum(point.sign(self.walls, wall) not in signs for wall, signs in asked.items())

    def _score(self, coordinates: tuple[Fraction, ...], asked: Box) -> int | None:
        """How many signs are wrong; None outside the domain."""
        if not self.domain.contains(dict(zip(self.symbols, coordinates, strict=True))):
            return None
        return self._wrong(Point(coordinates), asked)

    def _solve(self, vanishing: list[int]) -> list[_Solved]:
        """Walls solved for a parameter each, one after the other, where one is linear in it."""
        solved: list[_Solved] = []
        for wall in vanishing:
            polynomial = self.walls.polynomials[wall]
            for solution in solved:
                polynomial = _put(polynomial, solution)
            for place in range(len(self.symbols)):
                if polynomial and polynomial.degree(polynomial.ring.gens[place]) == 1:
                    bottom, constant = _linear(polynomial, place)
                    solved.append(_Solved(place, -constant, bottom))
                    break
        return solved

    def _completed(self, coordinates: Sequence[Fraction], solved: Sequence[_Solved]) -> tuple[Fraction, ...] | None:
        """The point with its solved parameters put right, the last solved first; None at a pole."""
        values = list(coordinates)
        for solution in reversed(solved):
            bottom = value_at(solution.bottom, tuple(values))
            if not bottom:
                return None
            values[solution.place] = value_at(solution.top, tuple(values)) / bottom
        return tuple(values)

    def _along(
        self, base: Sequence[Fraction], place: int, solved: Sequence[_Solved], asked: Box
    ) -> Iterator[tuple[Fraction, ...]]:
        """Points on a line parallel to an axis: on the rational roots of the walls asked for, and between all roots."""
        lower, upper = self.domain.ends[place]
        roots: set[Fraction] = set()
        bounds = [
            self.walls.polynomials[0].ring.gens[solution.place] - end
            for solution in solved
            for end in self.domain.ends[solution.place]
            if end is not None
        ]
        for polynomial in (*(self.walls.polynomials[wall] for wall in asked), *bounds):
            for solution in solved:
                polynomial = _put(polynomial, solution)
            roots.update(_roots(_on_line(polynomial, base, place)))
        inside = sorted(root for root in roots if (lower is None or root > lower) and (upper is None or root < upper))
        values = list(inside)
        ends: list[Any] = [lower, *inside, upper]
        for left, right in zip(ends, ends[1:], strict=False):
            if left is None and right is None:
                values.append(base[place])
            elif left is None:
                values.extend((right - 1, right - 64))
            elif right is None:
                values.extend((left + 1, left + 64))
            elif right > left:
                values.append(_simple_between(left, right))
        for value in values:
            moved = [*base]
            moved[place] = value
            candidate = self._completed(moved, solved)
            if candidate is not None:
                yield candidate


def _simple_between(left: Fraction, right: Fraction) -> Fraction:
    """A point well inside an interval, with a small denominator."""
    middle, size = (left + right) / 2, (right - left) / 4
    denominator = 1
    while True:
        rounded = Fraction(round(middle * denominator), denominator)
        if abs(rounded - middle) <= size:
            return rounded
        denominator *= 2


def _linear(polynomial: Any, place: int) -> tuple[Any, Any]:
    """The coefficient of a parameter in a polynomial that is linear in it, and the rest."""
    generator = polynomial.ring.gens[place]
    slope = polynomial.diff(generator)
    return slope, polynomial - slope * generator


def _put(polynomial: Any, solved: _Solved) -> Any:
    """The polynomial with a parameter replaced by its quotient, times a power of the quotient's denominator."""
    ring = polynomial.ring
    parts: dict[int, Any] = {}
    for monomial, coefficient in polynomial.terms():
        exponent = monomial[solved.place]
        exponents = (*monomial[: solved.place], 0, *monomial[solved.place + 1 :])
        parts[exponent] = parts.get(exponent, ring.zero) + ring({exponents: coefficient})
    degree = max(parts, default=0)
    powers = [(ring.one, ring.one)]
    for _ in range(degree):
        powers.append((powers[-1][0] * solved.top, powers[-1][1] * solved.bottom))
    total = ring.zero
    for exponent, part in parts.items():
        total += part * powers[exponent][0] * powers[degree - exponent][1]
    return total


def _on_line(polynomial: Any, base: Sequence[Fraction], place: int) -> list[Fraction]:
    """The coefficients of the polynomial in one parameter, the others as at the base; the highest last."""
    coefficients: dict[int, Fraction] = {}
    for monomial, coefficient in polynomial.terms():
        value = as_fraction(coefficient)
        for k, exponent in enumerate(monomial):
            if k != place and exponent:
                value *= base[k] ** exponent
        coefficients[monomial[place]] = coefficients.get(monomial[place], Fraction(0)) + value
    degree = max((k for k, value in coefficients.items() if value), default=-1)
    return [coefficients.get(k, Fraction(0)) for k in range(degree + 1)]


def _roots(coefficients: list[Fraction]) -> Iterator[Fraction]:
    """The real roots of a polynomial in one variable: exact where rational, else closer than 2^-20."""
    while len(coefficients) > 1 and not coefficients[0]:
        yield Fraction(0)
        coefficients = coefficients[1:]
    if len(coefficients) == 2:
        yield -coefficients[0] / coefficients[1]
    elif len(coefficients) == 3:
        c, b, a = coefficients
        inside = b * b - 4 * a * c
        if inside >= 0:
            root = _square_root(inside)
            yield from {(-b - root) / (2 * a), (-b + root) / (2 * a)}
    elif len(coefficients) > 3:
        polynomial = Poly.from_list([*reversed(coefficients)], _X, domain="QQ")
        for left, right in (ends for ends, _ in polynomial.intervals(eps=Fraction(1, 2**20))):
            simple = as_fraction(left + right) / 2
            for denominator in (64, 4096):
                near = simple.limit_denominator(denominator)
                if sum(coefficient * near**k for k, coefficient in enumerate(coefficients)) == 0:
                    simple = near
            yield simple


def _square_root(value: Fraction) -> Fraction:
    """The square root: exact where rational, else closer than 2^-20 of it."""
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    scale = 1 << 40
    return Fraction(isqrt(value.numerator * value.denominator * scale), value.denominator * (1 << 20))
