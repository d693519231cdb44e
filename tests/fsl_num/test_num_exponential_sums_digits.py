"""The parts of the sums over the spectrum at many digits, each against its own definition at more."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import pytest
from late_sums import WIDE as WIDER
from late_sums import late

from fsl_num.exponential_sums_digits import exponential_sum_digits

WIDE = mpmath.mp.clone()
WIDE.dps = 90


def _brute(power: Any, t: Any, beta: Any, first: int, last: int) -> Any:
    power, t, beta = WIDE.mpf(power), WIDE.mpf(t), WIDE.mpf(beta)
    return WIDE.fsum(WIDE.mpf(j) ** -power * WIDE.exp(-2 * t * WIDE.mpf(j) ** -beta) for j in range(first, last + 1))


def _close(found: Any, exact: Any, digits: float) -> bool:
    return bool(abs(WIDE.mpf(found) - exact) <= abs(exact) * WIDE.mpf(10) ** -digits)


def test_a_sum_that_needs_too_many_terms_is_refused() -> None:
    with pytest.raises(ArithmeticError, match="did not reach 60000 digits"):
        exponential_sum_digits(2, 0, 2, math.inf, 1, 60_000)


@pytest.mark.parametrize("decay", ["1e5", "1e30"])
def test_an_exponent_has_digits_of_its_own(decay: str) -> None:
    """exp(-u) to thirty digits needs u to thirty digits behind the point: of one mode, and of ten."""
    t = WIDE.mpf(decay) / 2
    assert _close(exponential_sum_digits(2, t, 2, 1, 1, 30), WIDE.exp(-2 * t), 29.9)
    assert _close(exponential_sum_digits(4, 100 * t, 2, 10, 1, 30), _brute(4, 100 * t, 2, 1, 10), 29.9)


@pytest.mark.parametrize("digits", [30, 60])
def test_sums_with_a_closed_form(digits: int) -> None:
    for power, exact in (
        (2, WIDE.pi**2 / 6),
        (4, WIDE.pi**4 / 90),
        (6, WIDE.pi**6 / 945),
        ("1.5", WIDE.zeta(1.5)),
        ("30", WIDE.zeta(30)),
    ):
        assert _close(exponential_sum_digits(power, 0, 2, math.inf, 1, digits), exact, digits - 0.1)
    part = WIDE.zeta(3) - WIDE.fsum(WIDE.mpf(j) ** -3 for j in range(1, 1000))
    assert _close(exponential_sum_digits(3, 0, 2, math.inf, 1000, digits), part, digits - 0.1)
    assert exponential_sum_digits(3, 0, 2, 4, 5, digits) == 0
    # many terms of a finite sum: the difference of two infinite ones
    sums = [exponential_sum_digits(3, 0, 2, math.inf, first, digits + 20) for first in (7, 10**7 + 1)]
    assert _close(exponential_sum_digits(3, 0, 2, 10**7, 7, digits), WIDE.mpf(sums[0]) - sums[1], digits - 0.1)


@pytest.mark.parametrize("digits", [20, 45])
def test_sums_at_times_are_those_of_the_power_series(digits: int) -> None:
    """sum_j j^-2 exp(-2 t/j^2) term by term: sum_n (-2 t)^n zeta(2 + 2n)/n! converges for all t; 8^110/110! < 1e-79."""
    for t in ("0.25", "0.5", "4"):
        x = -2 * WIDE.mpf(t)
        exact = WIDE.fsum(x**n / WIDE.factorial(n) * WIDE.zeta(2 + 2 * n) for n in range(110))
        assert _close(exponential_sum_digits(2, t, 2, math.inf, 1, digits), exact, digits - 0.1)


@pytest.mark.parametrize("digits", [15, 50])
@pytest.mark.parametrize(
    ("power", "beta", "t"),
    [("4", "2", "1e9"), ("1.05", "1.5", "1e8"), ("19", "6", "1e40"), ("6.5", "1.05", "3e7")],
)
def test_late_sums_have_their_digits(power: str, beta: str, t: str, digits: int) -> None:
    found = exponential_sum_digits(power, t, beta, math.inf, 1, digits)
    assert abs(WIDER.mpf(found) / late(power, t, beta) - 1) <= WIDER.mpf(10) ** (0.1 - digits)


@pytest.mark.parametrize(
    ("power", "t", "last"),
    [(60, 0, math.inf), (300, 2, 600), (2000, 0, 700), (300, 2, 100_000), (300, 10**6, math.inf)],
)
def test_steep_sums_begin_their_series_late(power: int, t: int, last: float) -> None:
    """Near an index that is less than the power the series of derivatives diverges."""
    found = exponential_sum_digits(power, t, 2, last, 60, 12)
    # behind index 600 every term is below (60/600)^60 = 1e-60 of the first, and 1e6 of decay are 2e-3 there
    many = 600 if t < 10**6 else 20_000
    assert _close(found, _brute(power, t, 2, 60, min(many, int(min(last, 1e9)))), 11.9)
