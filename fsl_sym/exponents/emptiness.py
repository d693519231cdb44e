"""Proofs that a box of signs of walls has no point in the domain, by sums that contradict themselves.

Every parameter is mapped from its open range to (0, oo); there a polynomial is positive where all its coefficients are.
A box is empty where a non-negative combination of what it asks for (times monomials, and for an equality with either
sign) has no positive coefficient: it would have to be at least 0 and is below, or above 0 and is at most 0. Such a
combination is looked for between two walls in closed form, and between all by a linear programme.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from fsl_sym.domain import Domain
from fsl_sym.exponents.clock import Clock
from fsl_sym.exponents.walls import ANY, Box, Signs, Walls
from fsl_sym.values import as_fraction

Monomial = tuple[int, ...]
Polynomial = dict[Monomial, Fraction]
MOST_COLUMNS = 200
MOST_PIVOTS = 120
ROUNDING = 1e-9


@dataclass(frozen=True)
class Demand:
    """What a box asks of one wall: the polynomial (on the orthant) is at least 0; above 0 where ``strict``."""

    polynomial: Polynomial
    strict: bool

    def times(self, factor: Monomial) -> Demand:
        """The demand times a monomial that is positive."""
        return Demand(_times(self.polynomial, factor), self.strict) if any(factor) else self

    @cached_property
    def signs(self) -> tuple[frozenset[Monomial], frozenset[Monomial]]:
        """The monomials with positive and those with negative coefficients."""
        positive = frozenset(monomial for monomial, coefficient in self.polynomial.items() if coefficient > 0)
        return positive, frozenset(self.polynomial) - positive


class Emptiness:
    """Refutes boxes of one law; what was shown of two walls, or of a box, is kept."""

    def __init__(self, walls: Walls, clock: Clock) -> None:
        self.walls, self.clock = walls, clock
        domain = walls.domain
        self._free = [index for index, ends in enumerate(domain.ranges.values()) if ends == (None, None)]
        self._count = len(domain.symbols)
        self._mapped: dict[int, Polynomial] = {}
        self._pairs: dict[tuple[int, Signs, int, Signs], bool] = {}
        self._boxes: dict[frozenset[tuple[int, Signs]], bool] = {}
        self._products: dict[tuple[int, Signs, Monomial], list[Demand]] = {}

    def pairwise(self, box: Box, changed: int) -> bool:
        """Whether the wall ``changed`` contradicts one other wall of the box."""
        mine = box[changed]
        return any(self._contradict(changed, mine, wall, signs) for wall, signs in box.items() if wall != changed)

    def impossible(self, box: Box) -> bool:
        """Whether the box is shown to have no point, by all its walls together."""
        asked = {wall: signs for wall, signs in box.items() if _side(signs) is not None}
        key = frozenset(asked.items())
        if key not in self._boxes:
            self._boxes[key] = self._refuted(asked)
        return self._boxes[key]

    def _contradict(self, first: int, a: Signs, second: int, b: Signs) -> bool:
        if _side(a) is None or _side(b) is None:
            return False
        key = (first, a, second, b) if first < second else (second, b, first, a)
        if key not in self._pairs:
            self.clock.check()
            self._pairs[key] = any(
                _opposed(first_demand, second_demand, self._free)
                for left, right in self._multipliers()
                for first_demand in self._raised(first, a, left)
                for second_demand in self._raised(second, b, right)
            )
        return self._pairs[key]

    def _raised(self, wall: int, signs: Signs, factor: Monomial) -> list[Demand]:
        key = (wall, signs, factor)
        if key not in self._products:
            self._products[key] = [demand.times(factor) for demand in self._demands(wall, signs)]
        return self._products[key]

    def _multipliers(self) -> Iterator[tuple[Monomial, Monomial]]:
        unit = self._unit()
        yield unit, unit
        for index in range(self._count):
            if index not in self._free:
                yield unit, self._unit(index)
                yield self._unit(index), unit

    def _unit(self, *indices: int) -> Monomial:
        return tuple(indices.count(k) for k in range(self._count))

    def _demands(self, wall: int, signs: Signs) -> list[Demand]:
        if wall not in self._mapped:
            self._mapped[wall] = on_orthant(self.walls.polynomials[wall], self.walls.domain)
        polynomial = self._mapped[wall]
        opposite = {monomial: -coefficient for monomial, coefficient in polynomial.items()}
        side = _side(signs)
        if side == 0:
            return [Demand(polynomial, False), Demand(opposite, False)]
        return [Demand(polynomial if side == 1 else opposite, 0 not in signs)]

    def _refuted(self, asked: Box) -> bool:
        """Whether some weights >= 0 of the demands give a sum without positive coefficients that is not just 0."""
        demands = [(demand, signs == {0}) for wall, signs in asked.items() for demand in self._demands(wall, signs)]
        monomials = {monomial for demand, _ in demands for monomial in demand.polynomial}
        units = [self._unit(), *(self._unit(k) for k in range(self._count))]
        columns = []
        for demand, equality in demands:
            # what brings one of its monomials to one that is there
            quotients = {_quotient(mine, theirs) for mine in monomials for theirs in demand.polynomial}
            for monomial in dict.fromkeys(
                [*units, *sorted(quotient for quotient in quotients if quotient is not None)]
            ):
                if equality or not any(monomial[k] for k in self._free):
                    columns.append(demand.times(monomial))
        columns = _useful(columns, self._free)
        return len(columns) <= MOST_COLUMNS and _has_contradiction(columns, self._free, self.clock)


def _side(signs: Signs) -> int | None:
    """1 where signs are at least 0, -1 where at most, 0 for equality, None where they say nothing of one side."""
    if signs == ANY or signs == {-1, 1}:
        return None
    return 0 if signs == {0} else (1 if 1 in signs else -1)


def _quotient(left: Monomial, right: Monomial) -> Monomial | None:
    powers = tuple(mine - theirs for mine, theirs in zip(left, right, strict=True))
    return None if min(powers) < 0 else powers


def _times(polynomial: Polynomial, factor: Monomial) -> Polynomial:
    return {
        tuple(mine + theirs for mine, theirs in zip(monomial, factor, strict=True)): coefficient
        for monomial, coefficient in polynomial.items()
    }


def _opposed(first: Demand, second: Demand, free: list[int]) -> bool:
    """Whether first + u second has no positive coefficient for some u > 0 (or second alone, or first alone).

    Each coefficient bounds u on one side. The sum must be negative somewhere, or one of the demands be strict.
    """
    (rising, falling), (others_rising, others_falling) = first.signs, second.signs
    if not (rising <= others_falling and others_rising <= falling):
        return False
    least = Fraction(0)
    most: Fraction | None = None
    for monomial in first.polynomial.keys() | second.polynomial.keys():
        mine, theirs = (demand.polynomial.get(monomial, Fraction(0)) for demand in (first, second))
        for sign in (1, -1) if any(monomial[k] % 2 for k in free) else (1,):
            a, b = sign * mine, sign * theirs
            if b > 0:
                most = -a / b if most is None else min(most, -a / b)
            elif b < 0:
                least = max(least, -a / b)
            elif a > 0:
                return False
    if most is not None and (most <= 0 or most < least):
        return False
    weight = least + 1 if most is None else (least + most) / 2
    if first.strict or second.strict:
        return True
    return any(
        first.polynomial.get(monomial, 0) + weight * second.polynomial.get(monomial, 0) < 0
        and not any(monomial[k] for k in free)
        for monomial in first.polynomial.keys() | second.polynomial.keys()
    )


def _useful(columns: list[Demand], free: list[int]) -> list[Demand]:
    """The demands without those that have a positive coefficient which no other can cancel."""
    rows = [
        [
            (monomial, coefficient > 0, odd)
            for monomial, coefficient in column.polynomial.items()
            for odd in [any(monomial[k] % 2 for k in free)]
        ]
        for column in columns
    ]
    while True:
        negative = {(monomial, up) for row in rows for monomial, up, _ in row}
        kept = [
            k
            for k, row in enumerate(rows)
            if all((monomial, not up) in negative for monomial, up, odd in row if up or odd)
        ]
        if len(kept) == len(rows):
            return columns
        rows, columns = [rows[k] for k in kept], [columns[k] for k in kept]


def _has_contradiction(columns: list[Demand], free: list[int], clock: Clock) -> bool:
    """Whether weights >= 0 exist: no coefficient of the sum positive, and a strict demand or a negative coefficient.

    The simplex method chooses in floating point which demands have a weight and which coefficients are to vanish; the
    weights are then solved for exactly, and what they prove is checked.
    """
    rows: dict[tuple[Monomial, int], int] = {}
    table: list[list[float]] = []
    gains = [float(column.strict) for column in columns]
    for k, column in enumerate(columns):
        for monomial, coefficient in column.polynomial.items():
            odd = any(monomial[i] % 2 for i in free)
            for sign in (1, -1) if odd else (1,):
                place = rows.setdefault((monomial, sign), len(table))
                if place == len(table):
                    table.append([0.0] * len(columns))
                table[place][k] += sign * float(coefficient)
            if not any(monomial[i] for i in free):
                gains[k] -= float(coefficient)
    chosen = _chosen(table, gains, clock)
    if chosen is None:
        return False
    weighted, vanishing, last = chosen
    names = list(rows)
    matrix = [
        [sign * columns[k].polynomial.get(monomial, Fraction(0)) for k in weighted]
        for monomial, sign in (names[row] for row in vanishing)
    ]
    if last < len(columns):
        right = [-sign * columns[last].polynomial.get(monomial, Fraction(0))
                 for monomial, sign in (names[row] for row in vanishing)]  # fmt: skip
    else:
        right = [Fraction(-int(row == last - len(columns))) for row in vanishing]
    solution = _solved(matrix, right)
    if solution is None or min(solution, default=Fraction(0)) < 0:
        return False
    weights = dict(zip(weighted, solution, strict=True))
    if last < len(columns):
        weights[last] = Fraction(1)
    return _contradiction([(columns[k], weight) for k, weight in weights.items() if weight], free)


def _contradiction(weighted: list[tuple[Demand, Fraction]], free: list[int]) -> bool:
    """Whether a sum of demands with positive weights cannot be what they ask: the proof, checked exactly."""
    total: Polynomial = {}
    for demand, weight in weighted:
        for monomial, coefficient in demand.polynomial.items():
            total[monomial] = total.get(monomial, Fraction(0)) + weight * coefficient
    total = {monomial: coefficient for monomial, coefficient in total.items() if coefficient}
    if any(coefficient > 0 or any(monomial[k] % 2 for k in free) for monomial, coefficient in total.items()):
        return False
    below = any(not any(monomial[k] for k in free) for monomial in total)
    return below or any(demand.strict for demand, _ in weighted)


def _chosen(table: list[list[float]], gains: list[float], clock: Clock) -> tuple[list[int], list[int], int] | None:
    """The basic columns, the rows that vanish, and the variable that may grow without end (a column, or a row after
    all columns); None where the floating-point simplex method meets none. Every right-hand side is 0.
    """
    size = len(gains)
    outside, inside = list(range(size)), [size + k for k in range(len(table))]
    for _ in range(MOST_PIVOTS):
        clock.check()
        entering = max(range(size), key=gains.__getitem__, default=None)
        if entering is None or gains[entering] < ROUNDING:
            return None
        # all ratios are 0: the largest pivot is the safest
        leaving = max(range(len(table)), key=lambda i: table[i][entering], default=None)
        if leaving is None or table[leaving][entering] < ROUNDING:
            vanishing = [column - size for k, column in enumerate(outside) if column >= size]
            return [column for column in inside if column < size], vanishing, outside[entering]
        line = table[leaving]
        pivot = line[entering]
        scaled = [entry / pivot for entry in line]
        scaled[entering] = 1 / pivot
        for row in (*table, gains):
            factor = row[entering]
            if row is not line and factor:
                row[entering] = 0.0
                row[:] = [mine - factor * theirs for mine, theirs in zip(row, scaled, strict=True)]
        line[:] = scaled
        outside[entering], inside[leaving] = inside[leaving], outside[entering]
    return None


def _solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """The solution of a square system; None where it is singular."""
    size = len(right)
    work = [[*row, constant] for row, constant in zip(matrix, right, strict=True)]
    for k in range(size):
        place = next((i for i in range(k, size) if work[i][k]), None)
        if place is None:
            return None
        work[k], work[place] = work[place], work[k]
        pivot = work[k][k]
        work[k] = [entry / pivot for entry in work[k]]
        for i in range(size):
            factor = work[i][k]
            if i != k and factor:
                work[i] = [mine - factor * theirs for mine, theirs in zip(work[i], work[k], strict=True)]
    return [row[-1] for row in work]


def on_orthant(polynomial: Any, domain: Domain) -> Polynomial:
    """The polynomial with every bounded parameter mapped to (0, oo), times a power of 1 + parameter for each interval.

    >>> from sympy import QQ, Symbol, ring
    >>> _, x = ring("x", QQ)
    >>> on_orthant(1 - x, Domain({Symbol("x"): (0, 1)}))
    {(0,): Fraction(1, 1)}
    """
    current = {monomial: as_fraction(coefficient) for monomial, coefficient in polynomial.terms()}
    for place, (lower, upper) in enumerate(domain.ends):
        degree = max((monomial[place] for monomial in current), default=0)
        if lower is not None and upper is not None:
            top, bottom = [lower, upper], [Fraction(1), Fraction(1)]
        elif lower is not None:
            top, bottom = [lower, Fraction(1)], [Fraction(1)]
        elif upper is not None:
            top, bottom = [upper, Fraction(-1)], [Fraction(1)]
        else:
            continue
        powers = [_product(_power(top, k), _power(bottom, degree - k)) for k in range(degree + 1)]
        mapped: Polynomial = {}
        for monomial, coefficient in current.items():
            for exponent, factor in enumerate(powers[monomial[place]]):
                key = (*monomial[:place], exponent, *monomial[place + 1 :])
                mapped[key] = mapped.get(key, Fraction(0)) + coefficient * factor
        current = {monomial: coefficient for monomial, coefficient in mapped.items() if coefficient}
    return current


def _product(left: list[Fraction], right: list[Fraction]) -> list[Fraction]:
    total = [Fraction(0)] * (len(left) + len(right) - 1)
    for i, mine in enumerate(left):
        for k, theirs in enumerate(right):
            total[i + k] += mine * theirs
    return total


def _power(base: list[Fraction], exponent: int) -> list[Fraction]:
    total = [Fraction(1)]
    for _ in range(exponent):
        total = _product(total, base)
    return total
