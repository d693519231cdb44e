"""Signs of rational functions of the parameters, read off the signs of a few irreducible polynomials: the walls.

Every element of the field Q(parameters) is a constant times a product of irreducible polynomials. Those of one sign all
over the domain count as constants; the others are walls, numbered as they are met. A box allows every wall some of the
signs -1, 0, 1; in a box the possible signs of any element are known, up to what walls have to do with each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from fsl_sym.domain import Domain
from fsl_sym.values import as_fraction

Element = Any  # of the field Q(parameters)
Signs = frozenset[int]
Box = Mapping[int, Signs]  # wall -> the signs allowed; a wall that is not named may have any

ANY: Signs = frozenset((-1, 0, 1))
_SINGLE = {sign: frozenset((sign,)) for sign in (-1, 0, 1)}
POLE = 2
"""Stands for a sign where an element has a pole."""


@dataclass(frozen=True)
class Signature:
    """The sign of an element: a constant times the signs of walls; ``powers`` are (wall, exponent), poles negative."""

    constant: int
    powers: tuple[tuple[int, int], ...]

    def possible(self, box: Box) -> Signs:
        """The signs that the element may have in a box; :data:`POLE` among them where a denominator may vanish."""
        if not self.powers:
            return _SINGLE[self.constant]
        options = []
        for wall, exponent in self.powers:
            signs = {sign if exponent % 2 else abs(sign) for sign in box.get(wall, ANY)}
            options.append({POLE if exponent < 0 and not sign else sign for sign in signs})
        totals = set()
        for choice in product(*options):
            total = self.constant
            for sign in choice:
                total = POLE if POLE in (sign, total) else total * sign
            totals.add(total)
        return frozenset(totals)


@dataclass(frozen=True)
class Condition:
    """The first of ``parts`` that is not zero has one of the signs ``allowed`` (0: all are zero), and none a pole."""

    parts: tuple[Signature, ...]
    allowed: Signs

    def holds(self, box: Box) -> bool | None:
        """Whether it holds all over a box (True), nowhere in it (False), or not the same everywhere (None)."""
        signs: set[int] = set()
        for part in self.parts:
            possible = part.possible(box)
            signs |= possible - {0}
            if 0 not in possible:
                break
            # What follows counts only where this part is zero.
            vanishing = [wall for wall, exponent in part.powers if exponent > 0 and 0 in box.get(wall, ANY)]
            if len(vanishing) == 1 and box.get(vanishing[0], ANY) != _SINGLE[0]:
                box = {**box, vanishing[0]: _SINGLE[0]}
        else:
            signs.add(0)
        if signs <= self.allowed:
            return True
        return None if signs & self.allowed else False

    def undecided(self, box: Box) -> int:
        """The first wall that may still have several signs in the box."""
        return next(wall for part in self.parts for wall, _ in part.powers if len(box.get(wall, ANY)) > 1)


class Walls:
    """The walls of one law, and the signatures of the elements met."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.polynomials: list[Any] = []
        self._factors: dict[Any, tuple[int, int | None]] = {}
        self._signatures: dict[Element, Signature] = {}
        self._terms: list[list[tuple[float, list[tuple[int, int]]]]] = []

    def signature(self, element: Element) -> Signature:
        """The sign of a field element as constant and walls."""
        known = self._signatures.get(element)
        if known is None:
            known = self._signatures[element] = self._read(element)
        return known

    def _read(self, element: Element) -> Signature:
        if not element:
            return Signature(0, ())
        constant = 1
        powers: list[tuple[int, int]] = []
        for polynomial, side in ((element.numer, 1), (element.denom, -1)):
            leading, factors = (polynomial.LC, []) if polynomial.is_ground else polynomial.factor_list()
            constant *= 1 if leading > 0 else -1
            for factor, exponent in factors:
                sign, wall = self._factor(factor)
                constant *= sign**exponent
                if wall is not None:
                    powers.append((wall, side * exponent))
        return Signature(constant, tuple(powers))

    def _factor(self, factor: Any) -> tuple[int, int | None]:
        """The constant sign of an irreducible polynomial, or its wall with the sign of the orientation."""
        turned = 1 if factor.LC > 0 else -1
        if turned < 0:
            factor = -factor
        if factor not in self._factors:
            definite = self.domain.sign(factor.as_expr(*self.domain.symbols))
            if definite is None:
                self._factors[factor] = (1, len(self.polynomials))
                self.polynomials.append(factor)
            else:
                self._factors[factor] = (definite, None)
        sign, wall = self._factors[factor]
        return turned * sign, wall

    def rounded_sign(self, wall: int, coordinates: list[float]) -> int:
        """The sign of a wall at a point given in floating point; 0 where rounding could change it."""
        for polynomial in self.polynomials[len(self._terms) :]:
            self._terms.append([
                (int(value.numerator) / int(value.denominator), [(k, n) for k, n in enumerate(exponents) if n])
                for exponents, value in polynomial.terms()
            ])  # fmt: skip
        total = size = 0.0
        try:
            for value, powers in self._terms[wall]:
                for k, exponent in powers:
                    value *= coordinates[k] ** exponent
                total += value
                size += abs(value)
        except OverflowError:
            return 0
        # A term is wrong by some hundred roundings at most.
        if not 1e-250 < size < 1e250 or abs(total) <= 1e-12 * size:
            return 0
        return 1 if total > 0 else -1

    def condition(self, parts: tuple[Element, ...], allowed: Signs) -> Condition | None:
        """The condition that a lexicographic sign is allowed; None where it holds all over the domain."""
        condition = Condition(tuple(self.signature(part) for part in parts), allowed)
        return None if condition.holds({}) else condition


class Point:
    """An exact point of the parameters that knows the signs of walls there, each found once."""

    def __init__(self, coordinates: tuple[Fraction, ...]) -> None:
        self.coordinates = coordinates
        self.rounded = [float(coordinate) for coordinate in coordinates]
        self._signs: dict[int, int] = {}

    def sign(self, walls: Walls, wall: int) -> int:
        """The sign of one wall at the point."""
        if wall not in self._signs:
            self._signs[wall] = walls.rounded_sign(wall, self.rounded) or sign_at(
                walls.polynomials[wall], self.coordinates
            )
        return self._signs[wall]

    def inside(self, walls: Walls, box: Box) -> bool:
        """Whether the point lies in a box."""
        return all(self.sign(walls, wall) in allowed for wall, allowed in box.items())


class AtPoint(Mapping[int, Signs]):
    """The box of one point: every wall has the sign that it has there."""

    def __init__(self, walls: Walls, point: Point) -> None:
        self.walls, self.point = walls, point

    def __getitem__(self, wall: int) -> Signs:
        return _SINGLE[self.point.sign(self.walls, wall)]

    def __iter__(self) -> Any:
        return iter(range(len(self.walls.polynomials)))

    def __len__(self) -> int:
        return len(self.walls.polynomials)


def value_at(polynomial: Any, coordinates: tuple[Fraction, ...]) -> Fraction:
    """The value of a polynomial of the ring at a point."""
    total = Fraction(0)
    for exponents, coefficient in polynomial.terms():
        value = as_fraction(coefficient)
        for coordinate, exponent in zip(coordinates, exponents, strict=True):
            if exponent:
                value *= coordinate**exponent
        total += value
    return total


def sign_at(polynomial: Any, coordinates: tuple[Fraction, ...]) -> int:
    """The sign of a polynomial of the ring at a point."""
    value = value_at(polynomial, coordinates)
    return (value > 0) - (value < 0)
