"""False statements that a rule must not accept: letters inside and outside, squares, poles, leading terms."""

from sympy import (
    Integer,
    Integral,
    Rational,
    Sum,
    Symbol,
    atan,
    exp,
    floor,
    log,
    lowergamma,
    oo,
    pi,
    sin,
    sqrt,
    tan,
    uppergamma,
)

from fsl_sym.algebra.limits import is_continuous, limit_value
from fsl_sym.ansatz import u, v
from fsl_sym.integrals import I2
from fsl_sym.proof import Antiderivative, IntegralTest, Limit, SameDerivative, Step, Substitution, Termwise
from fsl_sym.symbols import M, beta, j, s, t, z


def held(rule, before, after):
    return Step(before, after, rule, "for all that is known").verify().holds


def test_square_of_an_integral_is_not_the_integral():
    assert not held(Substitution(t, z, 2 * z), Integral(exp(-t), (t, 0, 2)) ** 2, Integral(2 * exp(-2 * z), (z, 0, 1)))


def test_a_free_letter_is_not_the_variable_of_the_integral():
    # t * int_0^2 t dt = 2 t, not int_0^1 8 z^2 dz = 8/3
    assert not held(Substitution(t, z, 2 * z), t * Integral(t, (t, 0, 2)), Integral(8 * z**2, (z, 0, 1)))


def test_a_free_letter_is_not_the_index_of_the_sum():
    assert not held(Termwise(), j * Sum(j, (j, 1, M)), Sum(j**2, (j, 1, M)))


def test_a_free_letter_is_not_the_variable_of_the_integral_test():
    assert not held(IntegralTest(), Sum(z * j**-3, (j, 2, M)), Integral(z**-2, (z, 1, M)))


def test_a_double_integral_is_not_its_first():
    assert not held(Antiderivative(t**2 / 2), Integral(t, (t, 0, 1), (z, 0, 2)), Rational(1, 2))


def test_an_integral_across_a_pole():
    # the integrand is positive and the integral infinite
    assert not held(Antiderivative(-1 / (t - 1)), Integral((t - 1) ** -2, (t, 0, 2)), Integer(-2))


def test_exp_of_a_growing_polynomial_does_not_vanish():
    assert limit_value(exp(t**2 - t), t, oo) is None
    assert not held(Limit(t, oo), exp(t**2 - t), Integer(0))


def test_an_incomplete_gamma_function_of_a_falling_argument():
    assert limit_value(uppergamma(s, t - t**2), t, oo) is None


def test_the_window_of_i2_is_in_its_own_time():
    assert I2().finite.window.free_symbols <= I2().finite.exact.free_symbols


def test_a_sum_that_converges_is_not_two_that_do_not():
    telescoping = Sum(1 / j - 1 / (j + 1), (j, 1, oo))
    assert not held(Termwise(), telescoping, Sum(1 / j, (j, 1, oo)) - Sum(1 / (j + 1), (j, 1, oo)))
    assert not held(Termwise(), Sum(1 / j, (j, 1, oo)) + Sum(-1 / (j + 1), (j, 1, oo)), telescoping)
    # finitely many terms, terms of one sign, and one sum alone
    parts = Sum(1 / j, (j, 1, M)) - Sum(1 / (j + 1), (j, 1, M))
    assert held(Termwise(), Sum(1 / j - 1 / (j + 1), (j, 1, M)), parts)
    apart = Sum(j**-beta, (j, 1, oo)) + Sum(j**-3, (j, 1, oo))
    assert held(Termwise(), Sum(j**-beta + j**-3, (j, 1, oo)), apart)
    assert held(Termwise(), Sum(1 / j - 1 / (j + 1), (j, 1, oo)), Sum(1 / (j * (j + 1)), (j, 1, oo)))


def test_two_functions_with_one_derivative_may_jump_against_each_other():
    rule = SameDerivative(v, Integer(1))
    jumping = atan(1 / (v - 2)) + atan(v - 2)
    assert jumping.subs(v, 1) == -pi / 2 and not held(rule, jumping, -pi / 2)
    assert not held(rule, -pi / 2, jumping)
    # the pole of an integrand, in its own letter, in the variable, and at a moving end
    for wrong in (
        Integral(1 / (u - 2), (u, 1, v)),
        Integral(u / (v - 2), (u, 1, 2)),
        Integral(u, (u, 1, 1 / (v - 2))),
        Integral(Integral(z / (u - 2), (z, 0, 1)), (u, 1, v)),
        Integral(u, (u, 1, 2), (z, 1, v)),
        (Integral(u, (u, 1, v)) - Integral(u**2, (u, 1, v))) / (v - 2),
    ):
        assert not held(rule, wrong, wrong)
    # where the functions live must be known
    assert not held(SameDerivative(Symbol("w"), Integer(1)), jumping, jumping)
    assert held(rule, Integral(u / (v + 2), (u, 1, v)), (v**2 - 1) / (2 * v + 4))


def test_a_letter_in_front_does_not_hinder_what_is_true():
    # the same factor in front on both sides
    assert held(Termwise(), t * Sum(j, (j, 1, M)), Sum(t * j, (j, 1, M)))
    assert held(Substitution(t, z, 2 * z), s * Integral(t, (t, 0, 2)), Integral(4 * s * z, (z, 0, 1)))
    # across a range without the pole
    assert held(Antiderivative(-1 / (t - 1)), Integral((t - 1) ** -2, (t, 2, 3)), Rational(1, 2))


def test_limits_of_what_falls_or_fills_are_still_found():
    assert limit_value(exp(t - 3 * t**2), t, oo) == 0
    assert limit_value(lowergamma(s, 2 * t**3 - t) + uppergamma(s, t**2), t, oo).has(s)
    assert limit_value(uppergamma(t, t), t, oo) is None


def test_what_is_continuous_between_two_ends():
    assert is_continuous(sqrt(t) + log(t) + t**-beta, t, Integer(0), oo)
    assert not is_continuous(log(t - 1), t, Integer(0), oo)
    assert not is_continuous(sqrt(t - 1), t, Integer(0), Integer(2))
    assert is_continuous((t - 1) ** 3, t, Integer(0), Integer(2))
    assert is_continuous((t - 3) ** -1, t, Integer(0), Integer(2))
    assert not is_continuous((t - 3) ** Rational(1, 3), t, Integer(0), Integer(2))
    assert not is_continuous(tan(t), t, Integer(0), Integer(2))
    assert not is_continuous(uppergamma(t, Integer(1)), t, Integer(0), Integer(2))
    assert is_continuous(2**t, t, Integer(0), Integer(2))
    # sin(j t)/j summed jumps at 2 pi, though its terms do not
    assert not is_continuous(Sum(sin(j * t) / j, (j, 1, oo)), t, Integer(0), Integer(7))
    assert not is_continuous(t + floor(t), t, Integer(0), Integer(7))
