"""One linear programme of a law: its rows over Q(parameters) and its optimum, first at a point, then symbolically.

The coordinates of x are (z, x_1, ..., x_n): z is the exponent of the loss, x_i that of variable i. A basis that is
optimal at one rational point is solved once over the field; its primal point, its multipliers and the conditions under
which it stays optimal are then rational functions of the parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import lcm
from typing import Any

from sympy import Symbol

from fsl_sym.exponents.clock import Clock
from fsl_sym.exponents.law import Affine, Element, Law
from fsl_sym.exponents.simplex import Optimum, Triple, solve
from fsl_sym.exponents.walls import AtPoint, Condition, Point, Signs, Walls, value_at

ElementTriple = tuple[Element, Element, Element]
AT_LEAST_ZERO: Signs = frozenset((0, 1))
POSITIVE: Signs = frozenset((1,))
NOT_ZERO: Signs = frozenset((-1, 1))


@dataclass(frozen=True, eq=False)
class Row:
    """One inequality: coefficients . x >= right."""

    coefficients: tuple[Element, ...]
    right: ElementTriple

    @cached_property
    def entries(self) -> tuple[tuple[int, Element], ...]:
        """The coefficients that are not 0, with their places."""
        return tuple((place, entry) for place, entry in enumerate(self.coefficients) if entry)


@dataclass(frozen=True, eq=False)
class Basis:
    """A basis solved over the field, by its inverse: multipliers of its rows; or a proof of infeasibility."""

    programme: Programme
    rows: tuple[int, ...]
    inverse: list[list[Element]]
    multipliers: tuple[Element, ...]
    infeasible: ElementTriple | None = None

    @cached_property
    def point(self) -> tuple[ElementTriple, ...]:
        """Where the rows of the basis are equalities."""
        rights = [self.programme.rows[index].right for index in self.rows]
        return tuple(self.programme.arithmetic.weighted(line, rights) for line in self.inverse)

    def holds(self, values: Values) -> bool:
        """Whether the basis is optimal (or the proof of infeasibility holds) at an exact point of the parameters."""
        try:
            if any(values(multiplier) < 0 for multiplier in self.multipliers):
                return False
            if self.infeasible is not None:
                return lexicographic_sign(self.infeasible, values) > 0
            point = [values.triple(triple) for triple in self.point]
        except ZeroDivisionError:
            # Its rows are dependent at this point: there it is no basis.
            return False
        denominator = lcm(*(number.denominator for triple in point for number in triple))
        whole = [tuple(int(number * denominator) for number in triple) for triple in point]
        return all(values.satisfied(row, whole, denominator) for row in self.programme.rows)

    def bounds(self, walls: Walls) -> Iterator[Condition | None]:
        """Where the multipliers prove the bound on the coordinate (or the infeasibility)."""
        for multiplier in self.multipliers:
            yield walls.condition((multiplier,), AT_LEAST_ZERO)
        if self.infeasible is not None:
            yield walls.condition(self.infeasible, POSITIVE)

    def attains(self, walls: Walls) -> Iterator[Condition | None]:
        """Where the point exists and satisfies every row."""
        for index, row in enumerate(self.programme.rows):
            if index not in self.rows:
                yield walls.condition(self.programme.arithmetic.slack(row, self.point), AT_LEAST_ZERO)
        for triple in self.point:
            for part in triple:
                yield walls.condition((part.raw_new(part.denom),), NOT_ZERO)


class Values:
    """Evaluates field elements at one exact point of the parameters, each element once."""

    def __init__(self, law: Law, point: Mapping[Symbol, Fraction], walls: Walls) -> None:
        self.point = point
        self.place = Point(tuple(point[symbol] for symbol in law.domain.symbols) or (Fraction(1),))
        self.box = AtPoint(walls, self.place)
        self._cache: dict[Element, Fraction] = {}
        self._rows: dict[Row, tuple[list[Fraction], Triple]] = {}
        self._whole: dict[Row, tuple[list[tuple[int, int]], list[int]]] = {}

    def __call__(self, element: Element) -> Fraction:
        """The element's value; ZeroDivisionError where it has a pole."""
        known = self._cache.get(element)
        if known is None:
            bottom = value_at(element.denom, self.place.coordinates)
            if not bottom:
                raise ZeroDivisionError(f"{element} is singular at {self.point}")
            known = self._cache[element] = value_at(element.numer, self.place.coordinates) / bottom
        return known

    def triple(self, triple: ElementTriple) -> Triple:
        """A triple evaluated component by component."""
        return (self(triple[0]), self(triple[1]), self(triple[2]))

    def row(self, row: Row) -> tuple[list[Fraction], Triple]:
        """The coefficients and the right side of a row."""
        known = self._rows.get(row)
        if known is None:
            known = self._rows[row] = [self(entry) for entry in row.coefficients], self.triple(row.right)
        return known

    def satisfied(self, row: Row, point: Sequence[tuple[int, ...]], denominator: int) -> bool:
        """Whether a row holds at a point, given as whole numbers over a denominator."""
        known = self._whole.get(row)
        if known is None:
            coefficients, right = self.row(row)
            scale = lcm(*(number.denominator for number in (*coefficients, *right)))
            entries = [(place, int(coefficients[place] * scale)) for place, _ in row.entries]
            known = self._whole[row] = entries, [int(bound * scale) for bound in right]
        entries, bounds = known
        for part, bound in enumerate(bounds):
            gap = sum(entry * point[place][part] for place, entry in entries) - bound * denominator
            if gap:
                return gap > 0
        return True


class Programme:
    """The rows of one branch of a law under one choice of its constraints, and the bases met so far."""

    def __init__(self, law: Law, rows: tuple[Row, ...], arithmetic: Arithmetic) -> None:
        self.law, self.rows, self.arithmetic = law, rows, arithmetic
        self._bases: dict[tuple[int, bool], list[Basis]] = {}

    def capped(self, ceiling: ElementTriple) -> Programme:
        """The same programme with a loss exponent of at most ``ceiling``."""
        coefficients = (-self.law.field.one, *(self.law.field.zero for _ in self.law.variables))
        cap = self.arithmetic.row(coefficients, (-ceiling[0], -ceiling[1], -ceiling[2]))
        return Programme(self.law, (*self.rows, cap), self.arithmetic)

    def optimum(self, values: Values, coordinate: int = 0, maximise: bool = False, least: Basis | None = None) -> Basis:
        """The optimal basis at an exact point, symbolic; bases met before are tried first.

        ``least``: the basis of the least loss there, where the last row caps the loss at it.
        """
        known = self._bases.setdefault((coordinate, maximise), [])
        for basis in known:
            if basis.holds(values):
                return basis
        beside = None if least is None else self._beside(least, values, coordinate, maximise)
        if beside is not None and (basis := self._symbolic(Optimum(beside), coordinate, maximise)).holds(values):
            known.append(basis)
            return basis
        matrix, right = zip(*map(values.row, self.rows), strict=True)
        basis = self._symbolic(solve(matrix, right, coordinate, maximise), coordinate, maximise)
        if not basis.holds(values):
            raise AssertionError(f"the optimal basis {basis.rows} fails its own conditions at {values.point}")
        known.append(basis)
        return basis

    def _beside(self, least: Basis, values: Values, coordinate: int, maximise: bool) -> tuple[int, ...] | None:
        """The basis of the least loss with the cap in the place of the row that keeps the multipliers from being < 0.

        It is optimal where the least loss has one place. With t of the cap the multiplier of row i is w_i + t p_i, with
        w and p the multipliers of the coordinate and of the loss; t is the least with which none is negative. None
        where no t is large enough: then the coordinate may have a range.
        """
        sign = -1 if maximise else 1
        weights, prices = ([values(entry) for entry in least.inverse[place]] for place in (coordinate, 0))
        low = [place for place, weight in enumerate(weights) if sign * weight < 0]
        if not all(prices[place] > 0 for place in low):
            return None
        leaving = max(low, key=lambda place: -sign * weights[place] / prices[place], default=None)
        cap = len(self.rows) - 1
        return tuple(cap if place == leaving else row for place, row in enumerate(least.rows))

    def _symbolic(self, optimum: Optimum, coordinate: int, maximise: bool) -> Basis:
        field, arithmetic = self.law.field, self.arithmetic
        inverse = arithmetic.inverse([self.rows[index].coefficients for index in optimum.basis])
        if optimum.infeasible_row is not None:
            row = self.rows[optimum.infeasible_row]
            weights = [arithmetic.along(row, column) for column in zip(*inverse, strict=True)]
            lower = arithmetic.weighted(weights, [self.rows[index].right for index in optimum.basis])
            gap = tuple(bound - reached for bound, reached in zip(row.right, lower, strict=True))
            multipliers = (*(-weight for weight in weights), field.one)
            return Basis(self, (*optimum.basis, optimum.infeasible_row), inverse, multipliers, gap)
        sign = -field.one if maximise else field.one
        return Basis(self, optimum.basis, inverse, tuple(sign * entry for entry in inverse[coordinate]))


def programmes(law: Law, arithmetic: Arithmetic, clock: Clock) -> Iterator[Programme]:
    """The programmes of a law, one for each way to resolve its minima and its constraints."""
    zero, unit = law.field.zero, law.field.one
    places = range(len(law.variables) + 1)
    box = [
        arithmetic.row(tuple(sign if k == place else zero for k in places), (-unit, zero, zero))
        for sign in (unit, -unit) for place in places
    ]  # fmt: skip
    branches = [[arithmetic.bound(unit, form) for form in branch] for branch in law.branches(clock)]
    choices = [
        [
            arithmetic.bound(zero, side)
            for constraint in choice for form in constraint.forms
            for side in ((form, form.scaled(-unit)) if constraint.equality else (form,))
        ]
        for choice in law.choices(clock)
    ]  # fmt: skip
    for branch, choice in product(branches, choices):
        clock.check()
        yield Programme(law, (*box, *branch, *choice), arithmetic)


def lexicographic_sign(triple: ElementTriple, values: Values) -> int:
    """The sign of a triple at the point of ``values``: that of its first component that is not zero."""
    for part in triple:
        value = values(part)
        if value:
            return 1 if value > 0 else -1
    return 0


_Line = tuple[Element, ...]


class Arithmetic:
    """Field operations remembered: a law meets the same few products again and again, and each costs a gcd."""

    def __init__(self, field: Any) -> None:
        self.zero, self.unit = field.zero, field.one
        self._minus_one = -field.one
        self._products: dict[tuple[Element, Element], Element] = {}
        self._sums: dict[tuple[Element, Element], Element] = {}
        self._elements: dict[Element, Element] = {}
        self._inverses: dict[frozenset[_Line], tuple[dict[_Line, int], list[list[Element]]]] = {}

    @staticmethod
    @lru_cache(maxsize=8)  # claims ask for the optima of many laws of one field
    def of(field: Any) -> Arithmetic:
        """That of a field, with what other laws of it have met."""
        return Arithmetic(field)

    def times(self, left: Element, right: Element) -> Element:
        """left * right."""
        if not left or not right:
            return self.zero
        key = (left, right)
        known = self._products.get(key)
        if known is None:
            known = self._products[key] = self._kept(left * right)
        return known

    def plus(self, left: Element, right: Element) -> Element:
        """left + right."""
        if not left:
            return right
        if not right:
            return left
        key = (left, right)
        known = self._sums.get(key)
        if known is None:
            known = self._sums[key] = self._kept(left + right)
        return known

    def _kept(self, element: Element) -> Element:
        """The one object that stands for all elements equal to this: a dictionary finds it without comparing it."""
        return self._elements.setdefault(element, element) if element else self.zero

    def row(self, coefficients: Iterable[Element], right: Iterable[Element]) -> Row:
        """A row of elements that are kept."""
        first, second, third = map(self._kept, right)
        return Row(tuple(map(self._kept, coefficients)), (first, second, third))

    def bound(self, scale: Element, form: Affine) -> Row:
        """That a monomial is at most the loss (``scale`` 1) or at most of order 1 (``scale`` 0)."""
        turned = (self.times(self._minus_one, entry) for entry in form.coefficients)
        return self.row((scale, *turned), (self.zero, form.power, form.log_power))

    def minus(self, left: Element, right: Element) -> Element:
        """left - right."""
        return self.plus(left, self.times(self._minus_one, right))

    def dot(self, left: Sequence[Element], right: Sequence[Element]) -> Element:
        """The sum of the products."""
        total = self.zero
        for mine, theirs in zip(left, right, strict=True):
            if mine and theirs:
                total = self.plus(total, self.times(mine, theirs))
        return total

    def along(self, row: Row, point: Sequence[Element]) -> Element:
        """The sum of the products of a row's coefficients with the coordinates of a point."""
        total = self.zero
        for place, entry in row.entries:
            total = self.plus(total, self.times(entry, point[place]))
        return total

    def weighted(self, weights: Sequence[Element], triples: Sequence[ElementTriple]) -> ElementTriple:
        """The sum of weighted triples."""
        parts = [self.dot(weights, [triple[part] for triple in triples]) for part in range(3)]
        return (parts[0], parts[1], parts[2])

    def slack(self, row: Row, point: Sequence[ElementTriple]) -> ElementTriple:
        """row . point - right; what follows a component that is a nonzero number cannot matter and is left zero."""
        slack = [self.zero, self.zero, self.zero]
        for part in range(3):
            slack[part] = self.minus(self.along(row, [triple[part] for triple in point]), row.right[part])
            if slack[part] and slack[part].numer.is_ground and slack[part].denom.is_ground:
                break
        return (slack[0], slack[1], slack[2])

    def inverse(self, matrix: Sequence[Sequence[Element]]) -> list[list[Element]]:
        """The inverse; that of the same rows in another order, met before, has its columns in that order."""
        rows = [tuple(row) for row in matrix]
        key = frozenset(rows)
        if key not in self._inverses:
            self._inverses[key] = {row: place for place, row in enumerate(rows)}, self._inverted(rows)
        places, inverse = self._inverses[key]
        return [[line[places[row]] for row in rows] for line in inverse]

    def _inverted(self, matrix: Sequence[Sequence[Element]]) -> list[list[Element]]:
        """The inverse by Gauss-Jordan elimination; the sparsest pivot row first keeps the entries small."""
        size = len(matrix)
        work = [
            [*row, *(self.unit if k == index else self.zero for k in range(size))] for index, row in enumerate(matrix)
        ]
        remaining = set(range(size))
        placed: dict[int, int] = {}
        for _ in range(size):
            candidates = [
                (sum(map(bool, work[i])), i, k)
                for i in remaining
                for k in range(size)
                if k not in placed and work[i][k]
            ]
            _, pivot_row, column = min(candidates)
            scale = self.unit / work[pivot_row][column]
            work[pivot_row] = [self.times(scale, entry) for entry in work[pivot_row]]
            for row in range(size):
                factor = work[row][column]
                if row != pivot_row and factor:
                    work[row] = [
                        self.minus(entry, self.times(factor, pivot)) if pivot else entry
                        for entry, pivot in zip(work[row], work[pivot_row], strict=True)
                    ]
            remaining.discard(pivot_row)
            placed[column] = pivot_row
        return [work[placed[column]][size:] for column in range(size)]
