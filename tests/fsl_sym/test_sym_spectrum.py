"""Sharp constants of the sums over the spectrum, for infinite and finite M, against the sums themselves."""

from __future__ import annotations

import pytest
from sym_reference import exponential_series, harmonic_sum
from sympy import Expr, Integer, Rational, Symbol, diff, exp, gamma, limit, oo, zeta

from fsl_sym.asymptotics.mellin import Expansion
from fsl_sym.domain import EASY
from fsl_sym.spectrum import (
    FiniteSize,
    X,
    approximation_error,
    approximation_error_asymptotics,
    approximation_error_expansion,
    finite_kernel,
    finite_signal,
    forgetting_kernel,
    kernel_asymptotics,
    signal,
    signal_asymptotics,
    trace,
)
from fsl_sym.symbols import M, beta, s, t


def test_the_sharp_constants_are_those_of_the_gamma_function() -> None:
    kernel = (2 * t) ** (1 / beta - 2) * gamma(2 - 1 / beta) / beta
    assert (kernel_asymptotics().expression / kernel).equals(1)
    assert (signal_asymptotics().expression / ((2 * t) ** -s * gamma(s) / beta)).equals(1)


def test_infinite_sums_agree_to_25_digits() -> None:
    u = Symbol("u", positive=True)
    # the neglected part is e^-66 here: 2 pi (1 + 1/beta) sin(pi/(2 beta + 2)) (beta t/pi)^(1/(beta + 1)) = 66
    point = {beta: Rational(5, 4), t: Integer(400), s: Rational(3, 7)}
    for expansion, w in ((kernel_asymptotics(), 2 * beta), (signal_asymptotics(), 1 + s * beta)):
        exact = harmonic_sum(exp(-2 * u), u, exponential_series, w.subs(point), point[beta], point[t])
        assert abs(expansion.expression.subs(point).evalf(40) / exact - 1) < Rational(1, 10**25)


def number(value: Expr) -> Expr:
    return value.doit().evalf(30)


@pytest.mark.parametrize("form", [finite_kernel(), finite_signal()])
@pytest.mark.parametrize("time", [Rational(1, 2), 3, 40, 1000])
def test_finite_sums_stay_within_the_stated_error(form: FiniteSize, time: Expr) -> None:
    point = {beta: Rational(3, 2), s: Rational(2, 5), M: Integer(30), t: Integer(0) + time}
    gap = number(form.exact.subs(point)) - number(form.approximation.subs(point))
    assert abs(gap) <= number(form.error.subs(point))


def test_the_stated_error_is_not_idle() -> None:
    # it is exceeded once the order is wrong by 0.05
    form, point = finite_kernel(), {beta: Rational(3, 2), M: Integer(100), t: Integer(100)}
    drifted = number((form.approximation * t ** Rational(1, 20)).subs(point))
    assert abs(number(form.exact.subs(point)) - drifted) > number(form.error.subs(point))


def test_the_crossover_function_has_lost_m() -> None:
    kernel = finite_kernel().crossover(2 * beta - 1)
    assert kernel.free_symbols == {X, beta}
    assert finite_signal().crossover(s * beta).free_symbols == {X, beta, s}
    with pytest.raises(ValueError, match="not the scale"):
        finite_kernel().crossover(beta)
    # M infinite is x = 0: there the incomplete gamma function is complete
    tiny = {X: Rational(1, 10**30), beta: 2}
    assert (
        abs((kernel * (2 * X) ** (2 - 1 / beta)).subs(tiny).evalf(30) - (gamma(2 - 1 / beta) / beta).subs(beta, 2))
        < 1e-20
    )


def test_the_approximation_error_is_enclosed() -> None:
    bounds = approximation_error_asymptotics()
    for difficulty, capacity, size in ((Rational(1, 3), 2, 5), (Integer(6), 4, 40)):
        values = {s: difficulty, beta: Integer(capacity), M: Integer(size)}
        exact, low, high = (number(e.subs(values)) for e in (bounds.exact, bounds.lower, bounds.upper))
        assert low < exact < high
        assert abs(exact / number(approximation_error().subs(values)) - 1) < 1e-25
    # independent: the tail as zeta minus a partial sum
    small = {s: Rational(1, 2), beta: Integer(2), M: Integer(4)}
    assert (
        abs(number(bounds.exact.subs(small)) - (zeta(2) - sum(Rational(1, k**2) for k in range(1, 5))).evalf(30))
        < 1e-25
    )
    assert limit((bounds.lower / bounds.upper).subs({s: 1, beta: 2}), M, oo) == 1


@pytest.mark.parametrize(
    ("expansion", "power"), [(kernel_asymptotics(), 2 * beta), (signal_asymptotics(), 1 + s * beta)]
)
def test_infinite_sums_come_near_the_stated_error_and_stay_within(expansion: Expansion, power: Expr) -> None:
    u, parts = Symbol("u", positive=True), []
    for capacity, time in ((20, Integer(1)), (20, Rational(1, 3)), (Rational(5, 2), Integer(2)), (6, Integer(30))):
        point = {s: Rational(1, 2), beta: capacity, t: time}
        true = harmonic_sum(exp(-2 * u), u, exponential_series, power.subs(point), Integer(0) + capacity, time)
        parts.append((abs(true - expansion.expression.subs(point)) / expansion.error.subs(point)).evalf(20))
    assert Rational(3, 4) < max(parts) < 1


@pytest.mark.parametrize("point", [{s: Rational(1, 2), beta: 2}, {s: 3, beta: Rational(3, 2)}])
@pytest.mark.parametrize("size", [1, 5])
def test_what_is_left_out_is_at_most_the_next_term(point: dict[Symbol, Expr], size: int) -> None:
    true = approximation_error(size).subs(point).evalf(30)
    for terms in (1, 2, 3, 4, 6):
        kept, error = (expression.subs({**point, M: size}) for expression in approximation_error_expansion(terms))
        assert error / 10 < abs(true - kept).evalf(30) < error
    with pytest.raises(ValueError, match="a whole number from 1 to 1000, not 0"):
        approximation_error_expansion(0)


def test_exact_sums_are_sums_over_the_spectrum() -> None:
    assert finite_kernel().exact == forgetting_kernel()
    assert finite_signal().exact == signal()
    assert trace() == zeta(beta)
    # 2 int_0^infinity K = tr(H): the time derivative of the trace sum
    values = {beta: Integer(2), M: Integer(3)}
    lost = diff(sum(Rational(1, k**2) * exp(-2 * t / k**2) for k in (1, 2, 3)), t) / -2
    assert (lost - forgetting_kernel().subs(values).doit()).equals(0)
    assert trace(M).subs(values).doit() == Rational(49, 36)


def test_a_whole_number_of_sympy_is_one() -> None:
    assert approximation_error_expansion(Integer(2)) == approximation_error_expansion(2)
    assert EASY.points(Integer(2), Integer(1)) == EASY.points(2, 1)
