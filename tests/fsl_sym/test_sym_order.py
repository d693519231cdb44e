"""Growth orders are compared regime by regime, by proof; what is not proved is not decided."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_views import as_latex
from sympy import Float, I, Rational, Symbol, latex, limit, oo

from fsl_sym.domain import EASY, EDGE, HARD, REGIMES
from fsl_sym.order import UNIT, Order, OrderRange, dominant
from fsl_sym.symbols import D, beta, s

NUMBERS = st.builds(Rational, st.integers(-6, 6), st.integers(1, 4))
ORDERS = st.builds(Order, NUMBERS, NUMBERS)
REGIME = st.sampled_from(REGIMES)


def as_pair(order):
    return Fraction(int(order.power.p), int(order.power.q)), Fraction(int(order.log_power.p), int(order.log_power.q))


@given(ORDERS, ORDERS, REGIME)
def test_numbers_are_compared_by_power_then_by_log_power(left, right, regime):
    first, second = as_pair(left), as_pair(right)
    assert left.compare(right, regime) == (first > second) - (first < second) == left.compare(right)
    assert left.equals(right) == (first == second)


@given(ORDERS, ORDERS, NUMBERS)
def test_orders_multiply_as_powers_do(left, right, exponent):
    assert (left * right).equals(right * left)
    assert (left / left).equals(UNIT)
    assert ((left * right) ** exponent).equals(left**exponent * right**exponent)


@given(st.lists(ORDERS, min_size=1, max_size=5), REGIME)
def test_a_sum_of_numbers_has_one_dominant_order(orders, regime):
    (largest,) = dominant(orders, regime)
    assert as_pair(largest) == max(as_pair(order) for order in orders)


def test_symbols_are_compared_in_a_regime():
    left, right = Order(-s), Order(1 / beta - 1)
    assert [left.compare(right, regime) for regime in (EASY, EDGE, HARD)] == [-1, 0, 1]
    assert left.compare(right) is None
    assert left.compare(Order(-2 * s)) == 1
    # On the edge the powers are equal, and the log powers decide.
    assert Order(-s, 1).compare(Order(1 / beta - 1), EDGE) == 1
    assert Order(-s, s).compare(Order(1 / beta - 1, 1), EDGE) == -1
    assert Order(-s, 1).compare(Order(1 / beta - 1), EASY) == -1


def test_the_same_power_written_twice_is_equal():
    assert Order(s * (beta + 1)).compare(Order(s * beta + s), EASY) == 0
    assert Order((beta**2 - 1) / (beta + 1)).equals(Order(beta - 1))


def test_a_limit_with_symbolic_exponents_is_not_trusted():
    """The limit below is 1 only for s < 1/2; elsewhere the other term dominates, and the easy regime has both."""
    half = Rational(-1, 2)
    assert limit((D**-s + D**half) * D**s, D, oo) == 1  # sympy's answer, right in half of the plane
    assert Order(-s).compare(Order(half), EASY) is None
    assert dominant([Order(-s), Order(half)], EASY) == (Order(-s), Order(half))
    assert dominant([Order(-s), Order(-2 * s), Order(half)], EASY) == (Order(-s), Order(half))
    assert dominant([Order(-s), Order(-1)], HARD) == (Order(-s),)


def test_dominant_forgets_what_a_later_order_dominates():
    # -s and -1/2 cannot be compared; 0 dominates both, whatever the order of the terms.
    terms = [Order(-s), Order(Rational(-1, 2)), UNIT]
    assert dominant(terms, EASY) == dominant(terms[::-1], EASY) == (UNIT,)
    # -s/2 dominates -s and is not comparable with -1/2.
    assert dominant([Order(-s), Order(Rational(-1, 2)), Order(-s / 2)], EASY) == (Order(Rational(-1, 2)), Order(-s / 2))


def test_dominant_of_one_and_of_equal_orders():
    assert dominant([UNIT], EASY) == (UNIT,)
    assert dominant([Order(1), Order(1)], EASY) == (Order(1),)
    assert dominant([], EASY) == ()


@pytest.mark.parametrize("exponent", [0.5, Float("0.5"), 0.5 * s])
def test_a_float_is_refused(exponent):
    with pytest.raises(TypeError, match="power .* contains a float"):
        Order(exponent)
    with pytest.raises(TypeError, match="log_power .* contains a float"):
        Order(0, exponent)


def test_an_order_shows_itself():
    base = Symbol("N", positive=True)
    assert Order(1, -1).as_expr(base) == base / Order(0, 1).as_expr(base)
    assert as_latex(Order(-s, 0)) == "$N^{- s}$" and latex(Order(-s, 0)) == "N^{- s}"
    assert as_latex(OrderRange(Order(1), None)) == r"$\gtrsim N$"
    assert Order(-s, beta).subs({s: 2, beta: 3}) == Order(-2, 3)


def test_what_is_no_real_order_is_refused():
    for exponent in (oo, I):
        with pytest.raises(TypeError, match="real exponents"):
            Order(exponent)
    for wrong in (lambda: Order(1) * 2, lambda: Order(1) / 2):
        with pytest.raises(TypeError, match="other must be a Order"):
            wrong()
