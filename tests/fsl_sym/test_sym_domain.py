"""Signs on a box are proved or not given; the regimes split the plane; decide() has three answers."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import Eq, Float, Ge, Gt, Integer, Le, Lt, Ne, Poly, Rational, Symbol, log, sqrt, symbols, true

from fsl_sym.domain import EASINESS, EASY, EDGE, HARD, PLANE, REGIMES, Domain, decide, regime_of
from fsl_sym.symbols import beta, s, t
from fsl_sym.values import exact

x, y = symbols("x y")
BOXES = [
    {x: (0, None), y: (1, None)},
    {x: (0, 1), y: (None, 2)},
    {x: (-1, 1), y: (None, None)},
    {x: (Fraction(-3, 2), None), y: (Rational(1, 3), Rational(1, 2))},
]
COEFFICIENTS = st.lists(st.integers(-3, 3), min_size=6, max_size=6)
MONOMIALS = [Integer(1), x, y, x * y, x**2, y**2]


@given(st.sampled_from(BOXES), COEFFICIENTS, COEFFICIENTS, st.integers(0, 10))
def test_a_sign_that_is_given_holds_at_every_point(ranges, top, bottom, seed):
    box = Domain(ranges)
    numerator = sum((c * m for c, m in zip(top, MONOMIALS, strict=True)), Integer(0))
    denominator = sum((c * m for c, m in zip(bottom, MONOMIALS, strict=True)), Integer(0))
    if denominator == 0:
        return
    sign = box.sign(numerator / denominator)
    for point in box.sample(8, seed):
        assert box.contains(point)
        values = {symbol: exact(value) for symbol, value in point.items()}
        if sign is not None and denominator.subs(values) != 0:
            assert (numerator / denominator).subs(values) * sign > 0 or sign == 0 == numerator.subs(values)


@pytest.mark.parametrize(
    ("ranges", "expression", "sign"),
    [
        ({x: (0, None)}, x**2 + x, 1),
        ({x: (0, 1)}, x - x**2, 1),
        ({x: (0, 1)}, x**2 - 1, -1),
        ({x: (0, 1)}, x / (x - 1), -1),
        ({x: (None, 2)}, 3 - x, 1),
        ({x: (2, None)}, x - 2, 1),
        ({x: (0, None)}, x - 1, None),
        ({x: (0, None)}, 1 / (x**2 - x + 1), None),
        ({x: (0, None)}, 1 / ((x**2 - x + 1) * (x + 1)), 1),  # 1/(x^3 + 1)
        ({x: (0, None)}, 1 / (x + 1) - 2 / (2 * x + 2), 0),
        ({x: (0, None)}, 1 / ((x + 1) ** 2 - x**2 - 2 * x - 1), None),
        ({x: (None, None)}, x**2 + 1, None),  # true, but this proof does not reach it
        ({x: (None, None)}, (x + 1) ** 2 - x**2 - 2 * x, 1),
        ({x: (0, None)}, (x + 1) ** 2 - x**2 - 2 * x - 1, 0),
        ({x: (0, None)}, sqrt(x) + 1, None),
        ({}, Rational(-1, 3), -1),
    ],
)
def test_signs_on_a_box(ranges, expression, sign):
    assert Domain(ranges).sign(expression) is sign or Domain(ranges).sign(expression) == sign


def test_a_domain_refuses_what_it_cannot_use():
    with pytest.raises(TypeError, match="must be a sympy Symbol, not 'x'"):
        Domain({"x": (0, 1)})
    with pytest.raises(TypeError, match="must be a mapping"):
        Domain([x])
    with pytest.raises(ValueError, match="range of x is empty: 1 is not below 1"):
        Domain({x: (1, 1)})
    for bounds in (3, (0.5, None), (0, 1, 2), ("a", None)):
        with pytest.raises(ValueError, match="range of x must be"):
            Domain({x: bounds})
    with pytest.raises(ValueError, match="contains {x}"):
        PLANE.sign(x)


NO_RATIONALS = [0.5, Float("0.5"), None, True, sqrt(2), x, "1e3", "x", "sqrt(4)", "1 + 1", "", "1/0", "nan", "oo"]


@pytest.mark.parametrize("value", NO_RATIONALS)
def test_only_exact_rationals_are_exact(value):
    with pytest.raises(TypeError, match="float|not an exact rational"):
        exact(value)


@pytest.mark.parametrize("value", ["1/2", Fraction(1, 2), Rational(1, 2), " 1/2", "0.5", ".5", "+2/4", "0.50"])
def test_exact_rationals(value):
    assert exact(value) == Rational(1, 2)


PLANE_POINTS = st.tuples(
    st.fractions(Fraction(1, 50), 4, max_denominator=50), st.fractions(Fraction(51, 50), 8, max_denominator=50)
)


@given(PLANE_POINTS)
def test_every_point_lies_in_one_regime(point):
    assert sum(regime.contains(*point) for regime in REGIMES) == 1
    edge = 1 - 1 / point[1]
    assert regime_of(*point).name == {1: "easy", 0: "edge", -1: "hard"}[(point[0] > edge) - (point[0] < edge)]
    assert regime_of(edge, point[1]) is EDGE


@pytest.mark.parametrize("regime", REGIMES, ids=lambda regime: regime.name)
@pytest.mark.parametrize("seed", [0, 1, 17])
def test_samples_are_exact_points_of_their_regime(regime, seed):
    points = regime.samples(30, seed)
    assert len(points) == 30 and len(set(points)) > 20
    for s_value, beta_value in points:
        assert regime.contains(s_value, beta_value) and s_value > 0 and beta_value > 1
        assert bool(regime.condition.subs({s: s_value, beta: beta_value}))


@pytest.mark.parametrize(
    ("relation", "easy", "edge", "hard"),
    [
        (EASINESS > 0, True, False, False),
        (Eq(EASINESS, 0), False, True, False),
        (Lt(s, 1), False, True, True),
        (Gt(s * beta, beta - 1), True, False, False),
        (Ge(s * beta, beta - 1), True, True, False),
        (Le(s, 1 - 1 / beta), False, True, True),
        (Ne(s, 1 - 1 / beta), True, False, True),
        (Gt(s, 0), True, True, True),
        (Lt(s, 0), False, False, False),
        (Gt(s / (s + 1), s / (s + 2)), True, True, True),
        (Gt(1 / (beta - 1), 0), True, True, True),
        (true, True, True, True),
    ],
)
def test_decide(relation, easy, edge, hard):
    assert [decide(relation, regime) for regime in (EASY, EDGE, HARD)] == [easy, edge, hard]


def test_decide_says_none_where_it_has_neither_proof_nor_counterexample():
    assert decide(Gt(log(beta), 0), EASY) is None  # true, but not a rational function
    far = s < 10**9  # false, but only far away
    assert decide(far, EASY) is None and decide(far, HARD) is True
    # (s - 7/2)^2 > 0 fails on a single line beyond the samples.
    assert decide((s - Rational(7, 2)) ** 2 > 0, EASY) is None


@given(st.lists(st.integers(-3, 3), min_size=4, max_size=4), PLANE_POINTS)
def test_what_is_decided_holds_at_every_point_of_the_regime(coefficients, point):
    regime = regime_of(*point)
    expression = sum((c * m for c, m in zip(coefficients, (1, s, beta, s * beta), strict=True)), Integer(0))
    answer = decide(Gt(expression, 0), regime)
    value = expression.subs({s: exact(point[0]), beta: exact(point[1])}) if expression else 0
    if answer is True:
        assert value > 0
    if value > 0 and answer is False:
        assert any(not expression.subs({s: a, beta: b}) > 0 for a, b in regime.samples(24)) or expression == 0


def test_decide_refuses_what_is_no_exact_relation():
    for relation in (s, s > 0.5, 3):
        with pytest.raises(TypeError, match="give one relation between exact expressions"):
            decide(relation, EASY)
    with pytest.raises(ValueError, match="contains {x}"):
        decide(Gt(x, s), EASY)


@pytest.mark.parametrize("ranges", BOXES)
def test_samples_reach_both_halves_of_every_range(ranges):
    points = Domain(ranges).sample(64, 0)
    for symbol, (low, high) in ranges.items():
        if low is None or high is None:
            middle = 0 if low is high else low + 1 if high is None else high - 1
        else:
            middle = Fraction(exact(low) + exact(high)) / 2
        values = [point[symbol] for point in points]
        assert min(values) < middle < max(values)


def test_the_same_seed_gives_the_same_sample():
    assert PLANE.sample(5, seed=3) == PLANE.sample(5, seed=3) != PLANE.sample(5, seed=4)
    assert Poly(EASINESS, s, beta).total_degree() == 2
    assert Symbol("s") not in PLANE.symbols


def test_what_is_asked_of_another_letter_names_it_and_the_two_that_there_are():
    with pytest.raises(ValueError, match="contains {t}: regimes are of s and beta alone"):
        decide(t < s, EASY)
