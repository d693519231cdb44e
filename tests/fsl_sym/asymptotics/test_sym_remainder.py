"""What sums differ from their expansions by, against sums evaluated without them."""

from __future__ import annotations

import math

import pytest
from sym_reference import Series, exponential_series, harmonic_sum, incomplete_series, remaining_series
from sympy import Expr, Integer, Rational, Symbol, exp, gamma, lowergamma, oo

from fsl_sym.asymptotics.mellin import harmonic_sum_asymptotics
from fsl_sym.symbols import M, T, beta, p, t

u = Symbol("u", positive=True)
REST = 1 - exp(-2 * u) * (1 + 2 * u)
ORDER = p / (p + 1) + 1


def from_the_second(n: int) -> tuple[Expr, Expr]:
    """1 - exp(-2 u)."""
    power, coefficient = exponential_series(n + 1)
    return power, -coefficient


def over_u(n: int) -> tuple[Expr, Expr]:
    """lowergamma(2, 2 u)/u."""
    power, coefficient = incomplete_series(Integer(2))(n)
    return power - 1, coefficient


@pytest.mark.parametrize(
    ("f", "series", "power", "height", "reached"),
    [
        (1 - exp(-2 * u), from_the_second, 0, Integer(1), Rational(3, 4)),  # by peaks
        (lowergamma(2, 2 * u) / u, over_u, -1, Rational(1, 2), Rational(2, 3)),
        (1 - exp(-2 * u), from_the_second, 0, Integer(0), Rational(1, 4)),  # by slopes
        (REST, remaining_series, 0, Integer(0), Rational(1, 10)),
        (lowergamma(2, 2 * u), incomplete_series(Integer(2)), 0, Integer(0), Rational(1, 10)),
    ],
)
def test_what_is_left_of_several_poles_is_within_its_bound(
    f: Expr, series: Series, power: int, height: Expr, reached: Expr
) -> None:
    """``reached``: the largest share of the bound that is true; one smaller by more than that is refused here."""
    shares = []
    for capacity, time in ((2, Rational(1, 4)), (3, Rational(1, 2)), (6, Integer(2)), (20, Rational(1, 2))):
        w = capacity * (height - power)
        expansion = harmonic_sum_asymptotics(f, u, w, Integer(capacity), T)
        true = harmonic_sum(f, u, series, w, Integer(capacity), time)
        shares.append((abs(true - expansion.expression.subs(T, time)) / expansion.error.subs(T, time)).evalf(20))
    assert reached < max(shares) < 1


def test_a_sum_of_powers_has_the_bound_of_what_decays() -> None:
    two = harmonic_sum_asymptotics(exp(-2 * u) + 3 * u * exp(-u), u, 2 * beta, beta, t)
    decay = harmonic_sum_asymptotics(lowergamma(ORDER, 2 * u), u, beta / (p + 1), beta, T)
    assert (two.error - (exp(-2) / t**2 + 81 * exp(-3) / t**2)).equals(0)
    assert (decay.error - gamma(ORDER + 1 / (p + 1)) * (2 * T) ** (-1 / (p + 1))).equals(0)
    with pytest.raises(ValueError, match="must be shown not to grow"):
        _ = harmonic_sum_asymptotics((1 - exp(-u)) / u, u, Integer(0) + beta / 2, beta, t).error


@pytest.mark.parametrize("size", [oo, math.inf])
def test_of_infinitely_many_modes_nothing_is_beyond(size: object) -> None:
    kernel = harmonic_sum_asymptotics(exp(-2 * u), u, 2 * beta, beta, t)
    assert kernel.error_of_first(size) == kernel.error != kernel.error_of_first(M)
    # sum_j (1 - exp(-2 u)) converges as a whole, though the sum of its 1 does not
    whole = harmonic_sum_asymptotics(1 - exp(-2 * u), u, Integer(0), beta, t)
    assert whole.error_of_first(size) == whole.error
    with pytest.raises(ValueError, match="not known to converge"):
        whole.error_of_first(M)


@pytest.mark.parametrize("size", [0, -3, -oo, Symbol("N"), Symbol("N", nonnegative=True)])
def test_a_number_of_modes_is_positive(size: object) -> None:
    with pytest.raises(ValueError, match="size must be a number of modes"):
        harmonic_sum_asymptotics(exp(-2 * u), u, 2 * beta, beta, t).error_of_first(size)
