"""Parts of the exponent engine: arithmetic over the field of the parameters, reading a law, points near the walls."""

from __future__ import annotations

from fractions import Fraction

import pytest
from sympy import QQ, Eq, Expr, Max, Min, Rational, Symbol, log, symbols

from fsl_sym.domain import Domain
from fsl_sym.exponents.cells import Explorer
from fsl_sym.exponents.law import Affine, Law, _reduced
from fsl_sym.exponents.programme import Arithmetic, Row, Values, lexicographic_sign

M, D, N = symbols("M D N", positive=True)
a, b = symbols("a b")
FIELD = QQ.frac_field(a, b)
A, B = FIELD.gens
ONE, ZERO = FIELD.one, FIELD.zero


def law(loss: Expr, *constraints: object, parameters: object = None) -> Law:
    return Law(loss, (M, D), N, constraints, Domain(parameters or {a: (0, None), b: (0, None)}))


def forms(found: Law) -> set[frozenset[tuple[object, ...]]]:
    """The branches of a loss as sets of (power of M, power of D, power of N, power of log N)."""
    return {
        frozenset(tuple(each.as_expr() for each in (*form.coefficients, form.power, form.log_power)) for form in branch)
        for branch in found.loss_branches
    }


M1, D1, N1 = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)


@pytest.mark.parametrize(
    ("loss", "branches"),
    [
        (M, [[M1]]),
        (3 * M + D, [[M1, D1]]),
        (Max(M, D) + N, [[M1, D1, N1]]),
        (Min(M, D), [[M1], [D1]]),
        (Min(M, M + D), [[M1]]),  # M + D is never less
        (Min(M, D) + N, [[M1, N1], [D1, N1]]),
        (M**-a * N**b * log(N) ** 2 / D, [[(-a, -1, b, 2)]]),
        ((M + D) ** 2, [[(2, 0, 0, 0), (0, 2, 0, 0)]]),
        ((M + D) ** -1, [[(-1, 0, 0, 0)], [(0, -1, 0, 0)]]),  # 1/max is the least of 1/M and 1/D
        (Min(M, D) ** -a, [[(-a, 0, 0, 0), (0, -a, 0, 0)]]),
        ((M + D) * Min(M, N), [[(2, 0, 0, 0), (1, 1, 0, 0)], [(1, 0, 1, 0), (0, 1, 1, 0)]]),
        ((1 + a) * M, [[M1]]),
    ],
    ids=str,
)
def test_a_law_is_the_least_over_branches_of_the_greatest_monomial(loss: Expr, branches: list[list[tuple]]) -> None:
    assert forms(law(loss)) == {frozenset(branch) for branch in branches}


def test_constraints_are_read_as_ratios() -> None:
    (choice,) = law(M, M <= N, D >= N**a, Eq(M * D, N)).constraint_choices
    shown = [
        ([tuple(each.as_expr() for each in (*form.coefficients, form.power)) for form in one.forms], one.equality)
        for one in choice
    ]
    assert shown[0] == ([(1, 0, -1)], False)  # M/N is at most 1
    assert shown[1] == ([(0, -1, a)], False)  # N^a/D is at most 1
    assert shown[2] in (([(1, 1, -1)], True), ([(-1, -1, 1)], True))
    # M + D = N: both are at most N, and one of them is at least N
    both = law(M, Eq(M + D, N)).constraint_choices
    assert len(both) == 2 and all(len(each[0].forms) == 3 and not each[0].equality for each in both)


def test_branches_that_are_never_less_are_dropped_and_equal_ones_kept_once() -> None:
    p, q, r = (Affine((Fraction(k),), Fraction(0), Fraction(0)) for k in (1, 2, 3))
    assert _reduced([(p, q), (q, p)]) == ((p, q),)
    assert _reduced([(p, q), (p,), (p, q, r)]) == ((p,),)
    assert _reduced([(p, p, q), (r,)]) == ((p, q), (r,))
    assert _reduced([(p, q), (q, r)]) == ((p, q), (q, r))
    assert (p + q).coefficients == (3,) and q.scaled(Fraction(3)).coefficients == (6,)


MATRIX = [[A, ONE, ZERO], [ZERO, B, ONE - A], [ONE, A + B, ONE]]


def test_an_inverse_over_the_field_is_an_inverse() -> None:
    arithmetic = Arithmetic(FIELD)
    for matrix in (MATRIX, MATRIX[::-1], [[ZERO, ONE], [A, ZERO]], [[ONE, ZERO], [ZERO, ONE]]):
        inverse = arithmetic.inverse(matrix)
        for i, line in enumerate(inverse):
            for k, column in enumerate(zip(*matrix, strict=True)):
                assert sum((x * y for x, y in zip(line, column, strict=True)), ZERO) == (ONE if i == k else ZERO)


def test_remembered_sums_and_products_are_those_of_the_field() -> None:
    arithmetic = Arithmetic(FIELD)
    values = [ZERO, ONE, -ONE, A, B, A / (A + B), ONE - A]
    for _ in range(2):  # computed, then remembered
        for x in values:
            for y in values:
                assert arithmetic.times(x, y) == x * y
                assert arithmetic.plus(x, y) == x + y and arithmetic.minus(x, y) == x - y
    assert arithmetic.dot([A, B, ONE], [B, ONE, ZERO]) == A * B + B
    triples = [(ONE, A, B), (ZERO, B, ONE)]
    assert arithmetic.weighted([A, B], triples) == (A, A * A + B * B, A * B + B)
    row = Row((A, ONE), (ZERO, ONE, B))
    assert arithmetic.slack(row, [(ZERO, ONE, A), (ZERO, B, ONE)]) == (ZERO, A + B - 1, A * A + 1 - B)
    # a component that is a number other than 0 decides: what follows is not computed
    assert arithmetic.slack(row, [(ZERO, ZERO, A), (ONE, B, ONE)]) == (ONE, ZERO, ZERO)


def test_values_at_a_point_and_the_first_component_that_is_not_zero() -> None:
    values = Values(law(M), {a: Fraction(1, 2), b: Fraction(3)})
    assert values((A * A - B) / (A + 1)) == Fraction(-11, 6)
    assert values.triple((A, B, ONE)) == (Fraction(1, 2), 3, 1)
    with pytest.raises(ZeroDivisionError, match="singular"):
        values(ONE / (B - 6 * A))
    for triple, sign in (
        ((ZERO, A, -B), 1), ((ZERO, ZERO, -B), -1), ((-A, B, B), -1), ((ZERO, ZERO, ZERO), 0),
        ((B - 6 * A, ZERO, A), 1), ((ZERO, A - 1, B), -1),
    ):  # fmt: skip
        assert lexicographic_sign(triple, values) == sign


def test_points_lie_on_a_wall_and_close_to_both_sides() -> None:
    explorer = Explorer(law(M + 1 / D))
    wall = (A * B - 2).numer
    points = explorer._points_near(wall)
    gaps = [point[a] * point[b] - 2 for point in points]
    assert min(gaps) < 0 < max(gaps) and sum(gap == 0 for gap in gaps) >= 4
    assert all(abs(gap) <= Fraction(1, 16) for gap in gaps)  # two parts of one sixty-fourth, at most
    assert all(explorer.law.domain.contains(point) for point in points)
    # a^2 = 2 has no rational points: both sides are met, within a sixty-fourth in a
    beside = explorer._points_near((A * A - 2).numer)
    assert {point[a] ** 2 > 2 for point in beside} == {True, False}
    assert all(abs(float(point[a]) - 2**0.5) <= 1 / 64 for point in beside)


def test_points_on_two_walls_lie_on_both() -> None:
    explorer = Explorer(law(M + 1 / D))
    found = explorer._points_on_both((A - 2 * B).numer, (A * B - 2).numer)
    assert found and all(point[a] == 2 * point[b] and point[a] * point[b] == 2 for point in found)
    assert explorer._points_on_both((A - B).numer, (A - B - 1).numer) == []  # parallel


def test_signs_of_walls_that_exclude_each_other() -> None:
    explorer = Explorer(law(M + 1 / D))
    explorer.walls = [(A - B).numer, (A - 2 * B).numer, (A + B - 1).numer]
    assert explorer._refuted(0, -1, 1, 1)  # a < b and a > 2 b
    assert explorer._refuted(0, 0, 1, 0) and explorer._refuted(0, 0, 1, 1)  # a = b > 0 is below 2 b
    assert not explorer._refuted(0, 1, 1, 1) and not explorer._refuted(0, 1, 1, -1)
    assert not explorer._refuted(0, 1, 2, 0)
    at = {a: Fraction(3), b: Fraction(1)}
    assert explorer._signs(at) == (1, 1, 1)
    assert explorer._signs({a: Fraction(1, 2), b: Fraction(1, 2)}) == (0, -1, 0)
    # a < b, b < c and c < a
    c = Symbol("c")
    three = Explorer(Law(M, (M,), N, (), Domain({each: (0, None) for each in (a, b, c)})))
    x, y, z = three.law.field.gens
    three.walls = [(x - y).numer, (y - z).numer, (z - x).numer]
    assert three._refuted_by_three((-1, -1, -1)) and three._refuted_by_three((0, -1, -1))
    assert not three._refuted_by_three((-1, -1, 1)) and not three._refuted_by_three((0, 0, 0))


def test_a_domain_without_parameters_has_one_field() -> None:
    bare = Law(M + D, (M, D), N, (Eq(M * D, N),), Domain({}))
    assert bare.element(Rational(1, 2)) == bare.field.from_sympy(Rational(1, 2))
    assert Values(bare, {})(bare.field.one / 3) == Fraction(1, 3)
