"""Noise integrals: exact identities, sharp constants, crossovers and bounds, against direct sums and quadrature."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import mpmath
import pytest
from sym_reference import exponential_series, harmonic_sum, incomplete_series, remaining_series
from sympy import Expr, Float, Gt, Integer, Rational, Sum, Symbol, exp, gamma, lambdify, log, lowergamma, zeta

from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.integrals import I1, I2, GrowthOrder, noise_integral, stable_phase_noise
from fsl_sym.integrals.closed_form import ClosedForm, PrintedLine
from fsl_sym.integrals.exponential_decay import (
    corrected_third_line,
    crossover,
    i1_asymptotics,
    i1_sum,
    printed_lines,
    remaining,
)
from fsl_sym.integrals.orders import i1_order, i2_bounds, i2_order
from fsl_sym.integrals.power_decay import power_asymptotics, power_sum
from fsl_sym.integrals.stable_phase import stable_bound, stable_order
from fsl_sym.proof import Derivation
from fsl_sym.schedules import schedule
from fsl_sym.spectrum import X, forgetting_kernel, kernel_asymptotics
from fsl_sym.symbols import K1, K2, T1, T2, K, M, T, a, b, beta, p, t

U = Symbol("u", positive=True)
N = Symbol("n", positive=True, integer=True)


def number(value: Expr, digits: int = 40) -> Expr:
    """Sums added term by term in numbers: sympy would look for a closed form first."""

    def add_up(total: Sum) -> Expr:
        (index, first, last) = total.limits[0]
        term = lambdify(index, total.function, "mpmath")
        with mpmath.workdps(digits + 5):
            return Float(mpmath.fsum(term(mpmath.mpf(k)) for k in range(first, last + 1)), digits)

    return value.xreplace({total: add_up(total) for total in value.atoms(Sum)}).evalf(digits)


def integrated(integrand: Expr, last: Expr) -> Expr:
    """The integral over t from 0, by tanh-sinh quadrature."""
    with mpmath.workdps(25):
        return Float(mpmath.quad(lambdify(t, integrand, "mpmath"), [0, mpmath.mpmathify(last.evalf(25))]), 20)


QUADRATURE = Rational(1, 10**12)
"""Tanh-sinh quadrature asked for 20 digits; at the end point of a power decay it keeps about 15."""


@pytest.mark.parametrize("name", ["constant", "exp-decay", "power-decay", "linear"])
def test_noise_is_the_integral_over_the_schedule(name: str) -> None:
    plan = schedule(name)
    values = {a: Rational(3, 2), b: Rational(1, 4), K: Integer(20), p: Rational(7, 5)}
    set_ = plan.at({key: value for key, value in values.items() if key in plan.parameters})
    spectrum = {M: Integer(3), beta: Rational(3, 2)}
    total = set_.total
    kernel = sum(k ** (-Rational(3)) * exp(-2 * k ** (-Rational(3, 2)) * (total - t)) for k in map(Integer, (1, 2, 3)))
    direct = integrated(kernel * set_.gamma, total)
    exact = number(noise_integral(name).exact.subs({**values, **spectrum}).subs(T, total))
    assert abs(direct / exact - 1) < QUADRATURE


def test_noise_of_the_wsd_like_schedule_is_the_integral_over_it() -> None:
    values = {a: Rational(3, 2), b: Rational(1, 4), K1: Integer(6), K2: Integer(9)}
    set_ = schedule("wsd").at(values)
    first, second = (phase.total for phase in set_.phases)
    total = first + second

    def kernel(time: Expr) -> Expr:
        return sum(k ** (-Rational(3)) * exp(-2 * k ** (-Rational(3, 2)) * time) for k in map(Integer, (1, 2, 3)))

    stable = integrated(kernel(total - t) * set_.phases[0].gamma, first)
    decay = integrated(kernel(second - t) * set_.phases[1].gamma, second)
    exact = noise_integral("wsd").exact.subs({**values, M: Integer(3), beta: Rational(3, 2)})
    assert abs((stable + decay) / number(exact.subs({T1: first, T2: second})) - 1) < QUADRATURE


SHARP = Rational(1, 10**25)
"""At beta = 5/4, x = 400 e^-66 is neglected: 2 pi (1 + 1/beta) sin(pi/(2 beta + 2)) (beta x/pi)^(1/(beta + 1))."""

POINT = {beta: Rational(5, 4), T: Integer(400), T2: Integer(400)}


def test_sharp_constants_of_i1_i2_and_the_stable_phase_to_25_digits() -> None:
    capacity, time = POINT[beta], POINT[T]
    noise = harmonic_sum(remaining(U), U, remaining_series, Integer(0), capacity, time) / (4 * time)
    left = harmonic_sum(exp(-2 * U), U, exponential_series, capacity, capacity, time) / 2
    for form, exact in ((I2(), noise), (stable_phase_noise(), left), (I1(), zeta(capacity).evalf(50) / 2 - left)):
        assert form.asymptotics is not None
        assert abs(form.asymptotics.expression.subs(POINT).evalf(40) / exact - 1) < SHARP


def test_the_leading_terms_are_the_gamma_functions_of_the_theory() -> None:
    law = 2 ** (1 / beta - 2) * gamma(2 - 1 / beta) * T ** (1 / beta - 1) - 1 / (8 * T)
    expansion = I2().asymptotics
    assert expansion is not None and (expansion.expression - law).equals(0)
    stable = stable_phase_noise().asymptotics
    assert stable is not None
    assert (stable.expression / (gamma(1 - 1 / beta) / (2 * beta) * (2 * T2) ** (1 / beta - 1))).equals(1)


@pytest.mark.parametrize("power, capacity", [(Integer(1), Integer(2)), (Integer(1), Rational(5, 4))])
def test_power_decay_to_20_digits_at_and_off_the_resonance(power: Expr, capacity: Expr) -> None:
    # beta = 2, x = 4000 neglects e^-64
    time = {Integer(2): Integer(4000)}.get(capacity, Integer(400))
    q = power / (power + 1)
    sum_ = harmonic_sum(
        lowergamma(q + 1, 2 * U), U, incomplete_series(q + 1), capacity / (power + 1), capacity, time
    ) * (2 ** (-q - 1) * time**-q)
    expansion = power_asymptotics().at({p: power, beta: capacity, a: Integer(1)})
    assert bool(expansion.terms[0].log_power) == (power == capacity - 1)
    assert abs(expansion.expression.subs(T, time).evalf(40) / sum_ - 1) < Rational(1, 10**20)


def test_the_exponent_of_power_decay_follows_its_regime() -> None:
    regimes = {condition: term.power for condition, term in power_asymptotics().leading()}
    assert (regimes[Gt(beta - p - 1, 0)] + p / (p + 1)).equals(0)
    assert (regimes[Gt(p + 1 - beta, 0)] - (1 / beta - 1)).equals(0)


@pytest.mark.parametrize(
    "power, capacity", [(Rational(1, 2), Integer(3)), (Integer(2), Integer(2)), (Integer(1), Integer(2))]
)
def test_the_orders_of_power_decay_hold_for_finite_m(power: Expr, capacity: Expr) -> None:
    form = noise_integral("power-decay")
    values = {p: power, beta: capacity, a: Integer(1)}
    (order,) = [item for item in form.order if item.condition.subs(values) == True]  # noqa: E712
    ratios = []
    for size in (30, 120):
        for scale in (Rational(1, 10), 1, 10, 100):
            at = {**values, M: Integer(size), T: Integer(size) ** capacity * scale}
            ratios.append(number(form.exact.subs(at), 15) / number(order.expression.subs(at), 15))
    # two-sided: the constants 2^(-q-1) Gamma(q+1) and those of the Mellin terms lie within this ratio
    assert max(ratios) / min(ratios) < 6
    drift = [ratios[i + 4] / ratios[i] for i in range(4)]
    assert all(Rational(4, 5) < value < Rational(5, 4) for value in drift)


@pytest.mark.parametrize("integral", [I1, I2])
def test_finite_m_forms_stay_within_their_errors(integral: Callable[[], ClosedForm]) -> None:
    finite = integral().finite
    for size, time in ((5, Rational(1, 2)), (20, 3), (20, 90), (40, 5000)):
        at = {beta: Rational(3, 2), M: Integer(size), T: Integer(0) + time}
        gap = number(finite.exact.subs(at), 20) - number(finite.approximation.subs(at), 20)
        assert abs(gap) <= number(finite.error.subs(at), 20)


def test_the_crossover_of_i2() -> None:
    at = {beta: Rational(3, 2), M: Integer(600)}
    for x in (Rational(1, 100), Rational(1), Integer(20)):
        time = x * Integer(600) ** Rational(3, 2)
        exact = number(Sum(remaining(time * N ** Rational(-3, 2)), (N, 1, 600)), 15)
        # the sum is within 1 of M Phi(x), from below
        gap = at[M] * crossover().subs({**at, X: x}).evalf(15) - exact
        assert 0 <= gap <= 1


def test_bounds_hold_in_numbers() -> None:
    for bound, capacity in product([*i2_bounds(), stable_bound()], (Rational(6, 5), Integer(2), Integer(5))):
        formula = bound.conclusion
        for size in (1, 2, 30):
            for time in (1, 30, 10**5):
                at = {beta: capacity, M: Integer(size), T: Integer(time), T2: Integer(time)}
                left, right = (number(side.subs(at), 15) for side in (formula.left, formula.right))
                assert left >= right if formula.relation == ">=" else left <= right, bound.name


@pytest.mark.parametrize("order", [i1_order, i2_order, stable_order])
def test_orders_do_not_drift_from_their_sums(order: Callable[[], Derivation]) -> None:
    """From above and, where it is two-sided, from below; the constants belong to beta = 2."""
    formula = order().conclusion
    ratios = []
    for size in (1, 20, 60):
        for time in (1, 30, 10**3, 10**5):
            at = {beta: Integer(2), M: Integer(size), T: Integer(time), T2: Integer(time)}
            ratios.append(number(formula.left.subs(at), 15) / number(formula.right.subs(at), 15))
    assert max(ratios) < 2
    if formula.relation == "~":
        assert min(ratios) > Rational(1, 50)


def test_a_printed_line_is_judged_and_not_believed() -> None:
    right, wrong = PrintedLine("x", (a + b) ** 2, a**2 + 2 * a * b + b**2), PrintedLine("x", a + b, a - b)
    assert right.holds and not right.refuted
    assert wrong.refuted and not wrong.holds


def test_growth_orders_multiply_and_keep_their_condition() -> None:
    order = GrowthOrder(({M: 1, T: -1}, {T: Rational(1, 2)}), Gt(beta, 2))
    raised = order.times(T, 2).times(a)
    assert raised.alternatives == ({M: 1, T: 1, a: 1}, {T: Rational(5, 2), a: 1})
    assert raised.condition == Gt(beta, 2)
    assert order.expression.subs({M: 8, T: 4}) == 2 and order.expression.subs({M: 4, T: 4}) == 1


def test_the_third_printed_line_is_wrong_and_its_correction_right() -> None:
    second, third, fourth = printed_lines()
    assert second.holds and fourth.holds
    assert third.refuted and not third.holds
    assert corrected_third_line().holds


def test_growth_orders_and_errors() -> None:
    assert I1().order[0].expression == 1
    assert I2().order[0].alternatives[0] == {M: 1, T: -1}
    assert noise_integral("exp-decay").order[1].alternatives[1] == {T: 1 / beta - 1, a - b: 1}
    with pytest.raises(ValueError, match="at least one monomial"):
        GrowthOrder(())
    with pytest.raises(TypeError, match="a name or a Schedule"):
        noise_integral(3)
    with pytest.raises(ValueError, match="unknown schedule"):
        noise_integral("nothing")
    with pytest.raises(ValueError, match="no expansion"):
        noise_integral("wsd").at_resonance({beta: Integer(2)})
    resonant = noise_integral("linear").at_resonance({beta: Integer(2)})
    assert resonant.expression.has(log(T))


@pytest.mark.parametrize(
    ("expansion", "total"),
    [(power_asymptotics, power_sum), (i1_asymptotics, i1_sum), (kernel_asymptotics, lambda: forgetting_kernel(t))],
    ids=["power decay", "I1", "kernel"],
)
def test_a_finite_sum_is_within_the_bound_of_its_expansion_and_not_within_that_of_the_infinite_one(
    expansion: Callable[[], Expansion], total: Callable[[], Expr]
) -> None:
    """At the resonance of power decay and on both sides of it; a bound four times smaller is refused."""
    whole = total()
    shares, beyond = [], []
    for capacity, time in ((2, 1), (2, 30), (6, 8), (Rational(5, 4), 4), (Rational(5, 4), 100)):
        for size in (1, 2, 10):
            point = {beta: Integer(0) + capacity, p: 1, a: 1, T: time, t: time}
            there = expansion().at({beta: point[beta], p: Integer(1)})
            true = number(whole.subs(M, size).doit().subs(point), 20)
            off = abs(true - number(there.expression.subs(point), 20))
            shares.append(off / number(there.error_of_first(Integer(size)).subs(point), 20))
            beyond.append(off > number(there.error.subs(point), 20))
    assert Rational(1, 4) < max(shares) < 1 and any(beyond)
