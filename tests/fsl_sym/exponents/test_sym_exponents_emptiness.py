"""A box of signs that has a point is never called empty, and boxes that contradict themselves are."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import QQ, ring, symbols

from fsl_sym.domain import Domain
from fsl_sym.exponents.clock import Clock
from fsl_sym.exponents.emptiness import Emptiness
from fsl_sym.exponents.walls import Point, Walls, sign_at

A, B = symbols("a b")
RING, X, Y = ring("a, b", QQ)
RANGES = ((0, None), (0, 1), (None, 2), (Fraction(1, 2), 3), (None, None))
MONOMIALS = (RING.one, X, Y, X * Y, X**2, Y**2, X**2 * Y)
OPTIONS = {-1: ((-1,), (-1, 0)), 0: ((0,), (0, 1), (-1, 0)), 1: ((1,), (0, 1))}


def emptiness(ranges, polynomials):
    walls = Walls(Domain(dict(zip((A, B), ranges, strict=True))))
    walls.polynomials.extend(polynomials)
    return walls, Emptiness(walls, Clock())


def says_empty(tool, box):
    return tool.impossible(box) or any(tool.pairwise(box, wall) for wall in box)


@given(st.data())
def test_a_box_with_a_point_is_never_called_empty(data):
    ranges = [data.draw(st.sampled_from(RANGES)) for _ in range(2)]
    domain = Domain(dict(zip((A, B), ranges, strict=True)))
    point = tuple(domain.sample(1, data.draw(st.integers(0, 99)))[0].values())
    polynomials = []
    for _ in range(data.draw(st.integers(2, 5))):
        coefficients = data.draw(st.lists(st.integers(-2, 2), min_size=len(MONOMIALS), max_size=len(MONOMIALS)))
        polynomial = sum((c * m for c, m in zip(coefficients, MONOMIALS, strict=True)), RING.zero)
        if data.draw(st.booleans()):
            polynomial -= polynomial.evaluate(list(zip(RING.gens, map(QQ.convert, point), strict=True)))
        if polynomial and not polynomial.is_ground:
            polynomials.append(polynomial)
    walls, tool = emptiness(ranges, polynomials)
    box = {
        wall: frozenset(data.draw(st.sampled_from(OPTIONS[sign_at(polynomial, point)])))
        for wall, polynomial in enumerate(polynomials)
    }
    assert Point(point).inside(walls, box)
    assert not says_empty(tool, box)


@pytest.mark.parametrize(
    ("polynomials", "signs", "empty"),
    [
        ((X - Y, Y - X + 1), ((-1,), (-1,)), True),  # their sum is 1
        ((X - Y, Y - X + 1), ((0,), (0,)), True),
        ((X - Y, X - 2 * Y), ((-1, 0), (0, 1)), True),  # a <= b and a >= 2 b, with b > 0
        ((X - Y, Y - X), ((0, 1), (0, 1)), False),  # the line a = b
        ((X - Y, Y - 1, 1 - X), ((0, 1), (0, 1), (0, 1)), False),  # the point a = b = 1
        ((X - Y, Y - 1, 1 - X), ((0, 1), (0, 1), (1,)), True),
        ((X - Y, Y - 1, 1 - X), ((0,), (1,), (0, 1)), True),
        ((X * Y - 1, X - 2, Y - 2), ((-1, 0), (1,), (1,)), True),  # a product of both
        ((X**2 - 2 * X * Y + Y**2,), ((-1,),), False),  # true, but no sum of these shows it
    ],
)
def test_contradictions_are_seen(polynomials, signs, empty):
    _, tool = emptiness([(0, None), (0, None)], polynomials)
    assert says_empty(tool, {wall: frozenset(wall_signs) for wall, wall_signs in enumerate(signs)}) is empty


def test_the_ends_of_a_range_count():
    for ranges, polynomial, sign in (
        (((0, 1), (0, None)), X - 1, 1), (((0, 1), (0, 1)), X + Y - 2, 1), (((None, 2), (0, None)), X - 2, 1),
        (((Fraction(1, 2), 3), (0, 1)), 2 * X - Y, -1),
    ):  # fmt: skip
        _, tool = emptiness(ranges, [polynomial, X + 5])
        assert tool.impossible({0: frozenset((sign,))}) and not tool.impossible({0: frozenset((-sign,))})
