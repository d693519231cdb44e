"""Mellin transforms and their Laurent series, piece by piece, against integrals and exact recurrences."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import pytest
from sympy import (
    Add,
    Expr,
    Gt,
    Integer,
    Integral,
    Rational,
    Symbol,
    exp,
    gamma,
    lambdify,
    log,
    lowergamma,
    oo,
    polygamma,
    sin,
    uppergamma,
    zeta,
)

from fsl_sym.asymptotics.contour import contour_disagreement
from fsl_sym.asymptotics.mellin import (
    Term,
    essential_factor,
    harmonic_sum_asymptotics,
    positive_gammas,
    zeta_laurent,
)
from fsl_sym.asymptotics.mellin_transform import EPSILON, Piece, orders_at_zero, pieces, powers_at_infinity
from fsl_sym.proof import Antiderivative, Derivation, Step
from fsl_sym.symbols import T, a, beta, p, s, t

U = Symbol("u", positive=True)
ONE, TWO, HALF = Integer(1), Integer(2), Rational(1, 2)

DAMPED = Piece(Integer(3), HALF, TWO)
GATHERED = Piece(Integer(3), HALF, TWO, Rational(7, 3))


@pytest.mark.parametrize(("piece", "at"), [(DAMPED, ONE), (DAMPED, Rational(1, 4)), (GATHERED, -ONE), (GATHERED, -TWO)])
def test_a_transform_is_its_integral_inside_the_strip(piece: Piece, at: Expr) -> None:
    """int_0^inf u^(z - 1) f(u) du: the strip of the first is z > -1/2, of the second -17/6 < z < -1/2."""
    integrand = lambdify(U, U ** (at - 1) * piece.value(U), modules="mpmath")
    # u = e^x keeps both ends smooth; double precision leaves 1e-10 after some hundred points
    found = mpmath.quad(lambda x: integrand(mpmath.exp(x)) * mpmath.exp(x), mpmath.linspace(-60, 60, 13))
    assert abs(found / float(piece.transform(at)) - 1) < 1e-9


C, Q, M = (Symbol(name, positive=True) for name in ("c", "q", "m"))
# with k absorbed in z (q = z + k); the second at z = -q < 0 of the function of order m + q, for -m - q < z < 0
TABLE = {
    "exponential": (
        U ** (Q - 1) * exp(-C * U),
        Piece(ONE, Integer(0), C).transform(Q),
        -(C**-Q) * uppergamma(Q, C * U),
    ),
    "incomplete": (
        U ** (-Q - 1) * lowergamma(M + Q, C * U),
        Piece(ONE, Integer(0), C, M + Q).transform(-Q),
        -(U**-Q) * lowergamma(M + Q, C * U) / Q + C**Q * lowergamma(M, C * U) / Q,
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_table_follows_from_its_integrals(name: str) -> None:
    integrand, transform, antiderivative = TABLE[name]
    whole = Integral(integrand, (U, 0, oo))
    for claimed, holds in ((transform, True), (2 * transform, False)):
        step = Step(whole, claimed, Antiderivative(antiderivative), "both ends vanish inside the strip")
        assert Derivation(name, "Mellin transform", (step,)).verify().holds is holds


def test_a_power_alone_only_moves_the_strip() -> None:
    power = Piece(TWO, s)
    assert power.value(U) == 2 * U**s
    assert power.transform(Integer(3)) == 0 and power.laurent(-s) == (0, 0)
    assert power.at({s: TWO}) == Piece(TWO, TWO)


@pytest.mark.parametrize(
    ("piece", "at", "poles"),
    [
        (DAMPED, ONE, 0),
        (DAMPED, -HALF, 1),
        (DAMPED, -Rational(3, 2), 1),
        (DAMPED, -Rational(9, 2), 1),
        (GATHERED, ONE, 0),
        (GATHERED, -HALF, 1),  # the pole of 1/(z + 1/2)
        (GATHERED, -Rational(17, 6), 1),  # the first pole of the gamma function
        (GATHERED, -Rational(29, 6), 1),
        (GATHERED, -TWO, 0),
    ],
)
@pytest.mark.parametrize("step", [Rational(1, 7), -Rational(1, 3)])
def test_a_pole_is_taken_out_exactly(piece: Piece, at: Expr, poles: int, step: Expr) -> None:
    """R(epsilon) epsilon^-m is the transform itself at every epsilon, not only near the pole."""
    regular, order = piece.laurent(at)
    assert order == poles
    value = regular.subs(EPSILON, step) / step**order
    # exact expressions at 30 digits
    assert abs((value / piece.transform(at + step)).evalf(30) - 1) < Rational(1, 10**25)
    assert regular.subs(EPSILON, 0).evalf(10).is_finite


@pytest.mark.parametrize("slope", [-TWO, -Rational(5, 4), ONE])
def test_the_zeta_function_around_its_pole(slope: Expr) -> None:
    """zeta(1 + x) = 1/x + gamma_0 - gamma_1 x + gamma_2 x^2/2 - ..., with |gamma_2/2| < 0.005."""
    regular, poles = zeta_laurent(ONE, slope)
    assert poles == 1
    for step in (Rational(1, 10**3), -Rational(1, 10**3)):
        gap = (regular.subs(EPSILON, step) / step - zeta(1 + slope * step)).evalf(30)
        assert abs(gap) < Rational(1, 200) * (slope * step) ** 2 * Rational(11, 10)
    regular, poles = zeta_laurent(Rational(3, 2), slope)
    assert poles == 0 and regular.subs(EPSILON, 1) == zeta(Rational(3, 2) + slope)
    assert zeta_laurent(2 - beta / beta, slope)[1] == 1


FUNCTIONS = {
    "a sum of all kinds": 3 * U**2 * exp(-2 * U) + 5 * U**s - lowergamma(s + 1, 2 * U) / U + 4,
    "an upper incomplete gamma function": 2 * uppergamma(s, 3 * U) * U,
    "a product of exponentials": U * exp(-U) * exp(-2 * U),
    "a bracket": (1 + U) ** 2 * exp(-U),
    "a half, which sympy writes by the error function": 3 * U * lowergamma(HALF, 2 * U) + uppergamma(HALF, 5 * U),
    "a scaled argument": exp(-U / 3) * (7 * U) ** HALF,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_the_sum_of_its_pieces(name: str) -> None:
    f = FUNCTIONS[name]
    whole = Add(*(piece.value(U) for piece in pieces(f, U)))
    for at in (Rational(1, 3), Integer(2)):
        point = {U: at, s: Rational(2, 5)}
        assert abs((whole - f).subs(point).evalf(30)) < Rational(1, 10**25)
    moved = [piece.at({s: Rational(2, 5)}) for piece in pieces(f, U)]
    assert all(s not in piece.value(U).free_symbols for piece in moved)


@pytest.mark.parametrize(
    "f",
    [
        exp(U),
        exp(-(U**2)),
        exp(-1 / U),
        exp(-U) * lowergamma(s, U),
        lowergamma(s, U) ** 2,
        lowergamma(U, U),
        lowergamma(s, U**2),
        log(U),
        sin(U) * exp(-U),
        U**U,
        exp(-(s - 1) * U),
        1 / (1 + U),
    ],
    ids=str,
)
def test_a_function_outside_the_class_is_refused(f: Expr) -> None:
    with pytest.raises(ValueError, match="outside the class"):
        pieces(f, U)


@pytest.mark.parametrize(
    ("f", "orders"),
    [
        (exp(-U), [0]),
        (1 - exp(-U), [1]),
        (1 - exp(-2 * U) * (1 + 2 * U), [2]),
        (1 - exp(-U) * (1 + U + U**2 / 2), [3]),
        (U**-s * exp(-U), [-s]),
        (lowergamma(s, 2 * U), [s]),
        (U**-s * lowergamma(s, U) - 1 / s, [1]),
        (U - 3 * U**2, [1]),
        (U**s + U**beta, [s, beta]),  # which is less is not known
        (U**beta + U, [1]),
    ],
    ids=str,
)
def test_the_order_at_zero_is_the_first_power_that_does_not_cancel(f: Expr, orders: list[Expr]) -> None:
    found = orders_at_zero(pieces(f, U))
    assert len(found) == len(orders)
    assert all(any((mine - order).equals(0) for mine in found) for order in orders)


def test_a_function_that_is_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="the function is zero"):
        orders_at_zero(pieces(exp(-U) - exp(-U), U))
    with pytest.raises(ValueError, match="the function is zero"):
        orders_at_zero((Piece(ONE, ONE, TWO), Piece(-ONE, ONE, TWO)))


def test_the_powers_at_infinity_are_what_is_left_there() -> None:
    f = 3 * U**2 * exp(-2 * U) + 5 * U**HALF - 2 * lowergamma(Rational(4, 3), 2 * U) / U + 4 - 4 * U**0
    found = powers_at_infinity(pieces(f, U))
    assert {exponent for exponent, _ in found} == {HALF, -ONE}
    far = Integer(40)
    shown = sum(coefficient * far**exponent for exponent, coefficient in found)
    # what is left out is of the order u^2 exp(-2 u) = 3e-32
    assert abs((f.subs(U, far) - shown).evalf(40)) < Rational(1, 10**30)
    assert powers_at_infinity(pieces(exp(-U), U)) == []


@pytest.mark.parametrize(
    ("expression", "factor"),
    [
        (beta - 1, ONE),
        (1 - beta, -ONE),
        (-(beta - p - 1) * a / (1 + p), p + 1 - beta),
        ((beta - 2) * (s - 1) / (1 - beta), -((beta - 2) * (s - 1)).expand()),
        (s - 1, s - 1),
    ],
    ids=str,
)
def test_only_factors_of_unknown_sign_are_kept(expression: Expr, factor: Expr) -> None:
    assert essential_factor(expression) == factor.expand()


@pytest.mark.parametrize(
    "expression",
    [
        gamma(-1 / beta),
        3 * gamma(-1 - 1 / beta) * zeta(beta) / gamma(1 - beta),
        (beta - 1) * gamma(1 - 1 / beta) / beta,
        gamma(s) * polygamma(0, s + 1),
        2 ** (1 / beta) * gamma(-1 / beta) / beta + gamma(s) * s,
    ],
    ids=str,
)
def test_gamma_functions_are_moved_and_not_changed(expression: Expr) -> None:
    shown = positive_gammas(expression)
    for point in ({beta: Rational(7, 3), s: Rational(2, 5)}, {beta: Rational(3, 2), s: Rational(9, 4)}):
        assert abs((shown / expression).subs(point).evalf(30) - 1) < Rational(1, 10**25)
    for factor in shown.atoms(gamma):
        assert factor.args[0].subs({beta: Rational(5, 4), s: Rational(1, 9)}) > 0 or factor.args[0].has(beta)
    assert gamma(-1 / beta) not in shown.atoms(gamma)


def test_a_term_is_a_power_times_a_power_of_the_logarithm() -> None:
    term = Term(Integer(3), -HALF, 2, HALF)
    assert term.expression(T).subs(T, exp(4)) == 3 * exp(-2) * 16


def test_a_prefactor_scales_and_shifts_every_term() -> None:
    f = 1 - exp(-2 * U) * (1 + 2 * U)
    plain = harmonic_sum_asymptotics(f, U, Integer(0), beta, t)
    scaled = harmonic_sum_asymptotics(f, U, Integer(0), beta, t, 3 * a * t**-2)
    at = {beta: Rational(5, 2), t: Integer(7), a: Integer(2)}
    assert abs((scaled.expression / (6 * plain.expression / 49)).subs(at).evalf(30) - 1) < Rational(1, 10**25)
    powers = [term.power.subs(beta, 2) for term in scaled.terms]
    assert powers == [HALF - 2, -TWO] == sorted(powers, reverse=True)
    for term in scaled.terms:
        assert term.pole in {known.pole for known in plain.terms}  # poles are those of the sum, not of the product
    assert scaled.function(U).equals(f)
    assert scaled.sum == 3 * a * t**-2 * plain.sum


def test_contours_ask_only_where_the_conditions_hold() -> None:
    kernel = harmonic_sum_asymptotics(exp(-2 * U), U, 2 * beta, beta, t)
    nowhere = replace(kernel, conditions=(Gt(beta, 100),))
    found = contour_disagreement(nowhere)
    assert found is not None and "nothing was checked" in found
    # 20 digits are compared: a constant off in the 19th is seen
    (term,) = kernel.terms
    off = replace(kernel, terms=(replace(term, coefficient=term.coefficient * (1 + Rational(1, 10**19))),))
    assert "by contour integration" in str(contour_disagreement(off))
