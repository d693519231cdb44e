"""Parts one by one: growth orders at numbers, poles, phases, default ends."""

from __future__ import annotations

import pytest
from mpmath import MPContext
from sympy import (
    Add,
    EulerGamma,
    Float,
    Integer,
    Le,
    Piecewise,
    Rational,
    Symbol,
    cos,
    exp,
    log,
    lowergamma,
    stieltjes,
    zeta,
)

from fsl_sym.derivation import Derivation, Step
from fsl_sym.integrals.closed_form import GrowthOrder
from fsl_sym.integrals.power_decay import _orders
from fsl_sym.justifications import Identity
from fsl_sym.mellin import Expansion, Term, harmonic_sum_asymptotics, zeta_laurent
from fsl_sym.mellin_transform import EPSILON, orders_at_zero, pieces
from fsl_sym.schedules import Phase, schedule
from fsl_sym.symbols import K1, M, T, a, beta, p, s, tau

X, Y = Symbol("x"), Symbol("y")


def noise_by_modes(power: float, steep: float, size: int, time: float) -> float:
    """The sum over modes of lambda^2 times the integral of (1 - t/T)^q exp(-2 lambda (T - t)), for a = 1."""
    context = MPContext()
    q = power / (power + 1)
    total = context.mpf(0)
    for k in range(1, size + 1):
        rate = context.mpf(k) ** -steep
        total += rate**2 * time**-q * (2 * rate) ** (-q - 1) * context.gammainc(q + 1, 0, 2 * rate * time)
    return float(total)


@pytest.mark.parametrize(
    ("place", "power", "steep"),
    [(0, Rational(1, 2), Integer(3)), (1, Integer(4), Integer(2)), (2, Integer(1), Integer(2))],
    ids=["below", "above", "resonant"],
)
def test_orders_of_power_decay_grow_like_the_sum_over_the_modes(place, power, steep) -> None:
    """Four times as many modes, and sixteen times as long: the exact noise and its order grow alike.

    Past every mode (T >> M^beta), where each order is its part in M. By Euler and Maclaurin the sum of j^-w to M is
    its power times 1 + (1 - w) zeta(w) M^(w - 1): at w = 2/5 and M = 50 this is 6 percent less, at 200 less than 3.
    At the resonance it is log M + 0.577: 5.876/4.489 against 5.298/3.912, a twentieth apart. Wrong exponents by one
    in their fractions change the quotient by a tenth and more.
    """
    order = _orders(p)[place]
    assert order.condition.subs({p: power, beta: steep}) == True  # noqa: E712
    shown = order.expression.subs({a: 1, p: power, beta: steep})
    few, many, time = 50, 200, Integer(10) ** 9

    def both(size, clock):
        return noise_by_modes(float(power), float(steep), size, float(clock)), float(shown.subs({M: size, T: clock}))

    start = both(few, time)
    for later in (both(many, time), both(few, 16 * time)):
        assert later[0] / start[0] == pytest.approx(later[1] / start[1], rel=0.05)


def test_orders_of_power_decay_in_time_alone() -> None:
    """With more modes than are learned, above the resonance: T^(1/beta - 1) alone."""
    order = _orders(p)[1].expression.subs({a: 3, p: 4, beta: 2})
    assert order.subs({M: 10**9, T: 100}) == Rational(3, 10)
    resonant = _orders(p)[2].expression.subs({a: 3, p: 1, beta: 2})
    assert resonant.subs({M: 10**9, T: 100}) == 3 * log(100) / 10
    assert resonant.subs({M: 10, T: 10**9}) == 3 * log(10) / Integer(10**9) ** Rational(1, 2)


def test_a_factor_raises_its_own_power_only() -> None:
    order = GrowthOrder(({M: 2, T: -1}, {T: 3}))
    assert order.times(M).expression == GrowthOrder(({M: 3, T: -1}, {T: 3, M: 1})).expression
    assert order.times(T, -3).expression == GrowthOrder(({M: 2, T: -4}, {})).expression


def test_zeta_beside_its_pole() -> None:
    """slope epsilon zeta(1 + slope epsilon) to the second order; the next Stieltjes constant is below 0.01."""
    for slope in (-2, 3):
        regular, poles = zeta_laurent(Integer(1), Integer(slope))
        assert poles == 1
        for small in (Rational(1, 1000), -Rational(1, 700)):
            step = slope * small
            true = small * zeta(1 + step).evalf(30)
            assert abs(regular.subs(EPSILON, small).evalf(30) - true) < Float("0.01") * abs(step) ** 3
    assert stieltjes(1).evalf(10) != 0 and EulerGamma.evalf(10) != 0
    assert zeta_laurent(Integer(3), Integer(2)) == (zeta(3 + 2 * EPSILON), 0)


def expansion(*terms) -> Expansion:
    """An expansion that has only terms."""
    return Expansion((), Integer(2), beta, T, Integer(1), terms, (), (), "")


def test_which_terms_lead() -> None:
    """The larger power; at one power the larger power of the logarithm; both where the sign is open."""
    fast, slow = Term(Integer(1), -Integer(1), 0, Integer(1)), Term(Integer(1), -Integer(2), 3, Integer(2))
    with_log = Term(Integer(1), -Integer(1), 1, Integer(1))
    open_ = Term(Integer(1), -beta / 2, 0, beta / 2)
    for terms in ((fast, slow), (slow, fast)):
        assert expansion(*terms).leading() == ((True, fast),)
    for terms in ((fast, with_log), (with_log, fast)):
        assert expansion(*terms).leading() == ((True, with_log),)
    found = dict((term.power, condition) for condition, term in expansion(fast, open_).leading())
    assert found[-1].subs(beta, 3) == True and found[-1].subs(beta, Rational(3, 2)) == False  # noqa: E712
    assert found[-beta / 2].subs(beta, 3) == False and found[-beta / 2].subs(beta, Rational(3, 2)) == True  # noqa: E712


def test_orders_at_zero_after_cancellations() -> None:
    """1 - (1 + u) exp(-u) begins with u^2/2, and exp(-u) less seven terms of its series with u^7."""
    u = Symbol("u", positive=True)
    assert orders_at_zero(pieces(1 - (1 + u) * exp(-u), u)) == [2]
    seven = Add(*[(-u) ** k / Integer(max(1, _factorial(k))) for k in range(7)])
    assert orders_at_zero(pieces(exp(-u) - seven, u)) == [7]


def _factorial(k: int) -> int:
    return 1 if k < 2 else k * _factorial(k - 1)


def test_a_phase_shows_what_it_has() -> None:
    """Inverse and rate are shown together or not at all; a phase of the WSD-like schedule holds its own end."""
    whole = schedule("exponential decay").phases[0]
    parts = (whole.name, whole.length, whole.phi, whole.intrinsic_time, whole.total)
    assert len(whole.steps()) == 4
    assert len(Phase(*parts, whole.inverse, None, Integer(0)).steps()) == 2
    assert len(Phase(*parts, None, whole.gamma, Integer(0)).steps()) == 2
    rate = schedule("WSD-like").phi
    assert isinstance(rate, Piecewise) and {rate.args[0][1], rate.args[0][1].reversed} >= {Le(tau, K1)}


def test_what_is_left_of_a_cosine_near_its_end() -> None:
    """1 + cos(pi (1 - x)) falls like x^2 and what is left of its integral like x^3: the rate like the power 2/3."""
    small, smaller = Rational(1, 1000), Rational(1, 2000)

    def left(x):
        from sympy import pi, sin

        return (1 + cos(pi * (1 - x))).evalf(40), (x - sin(pi * x) / pi).evalf(40)

    (rate, time), (next_rate, next_time) = left(small), left(smaller)
    slope = log(rate / next_rate) / log(time / next_time)
    # the next terms are relative (pi x)^2/12 and (pi x)^2/20, below 1e-6
    assert abs(slope.evalf(20) - schedule("cosine to zero").end_exponent) < Float("1e-5")
    assert schedule("cosine").end_exponent == 0


def test_a_beginning_is_shown_once_in_latex() -> None:
    """Two steps from one beginning show it once; a step from another beginning shows that one."""
    first, second = Symbol("A"), Symbol("F")

    chain = Derivation("n", "T", (
        Step(first, 2 * X, "identity", "one", Identity()),
        Step(first, 3 * X, "identity", "two", Identity(), True),
        Step(second, 4 * X, "identity", "three", Identity(), True),
        Step(first, 5 * X, "identity", "four", Identity(), True),
    ))  # fmt: skip
    shown = chain._repr_latex_()
    assert [shown.count(rf"& {each} \\") for each in ("A", "F")] == [2, 1]


def test_poles_of_unknown_distance_are_resonances() -> None:
    """The pole of zeta at (w - 1)/beta may meet those at s and 0, which do not meet each other."""
    u, w = Symbol("u", positive=True), Symbol("w", positive=True)
    found = harmonic_sum_asymptotics(lowergamma(s + 1, u) * u**-s + 1 - exp(-u), u, w, beta, T).resonances
    assert {abs((each.lhs - each.rhs).subs({s: 2, beta: 3, w: 11})) for each in found} == {11 - 1 - 3 * 2, 11 - 1}


@pytest.mark.parametrize("w", [Integer(1), Rational(1, 2)])
def test_a_sum_that_diverges_is_refused_at_the_edge_and_beyond(w) -> None:
    u = Symbol("u", positive=True)
    with pytest.raises(ValueError, match="diverges"):
        harmonic_sum_asymptotics(exp(-u), u, w, beta, T)
    assert harmonic_sum_asymptotics(exp(-u), u, Rational(11, 10), beta, T).conditions == ()
