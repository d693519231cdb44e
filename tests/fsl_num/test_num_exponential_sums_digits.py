"""The parts of the sums over the spectrum at many digits, each against its own definition at more."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import pytest

from fsl_num import exponential_sums_digits
from fsl_num.exponential_sums_digits import (
    _direct,
    _end_terms,
    _from_the_end,
    _large_rates,
    _legendre_nodes,
    _small_rates,
    _smooth,
    exponential_sum_digits,
    private_context,
)

WIDE = mpmath.mp.clone()
WIDE.dps = 90


def _brute(power: Any, t: Any, beta: Any, first: int, last: int) -> Any:
    power, t, beta = WIDE.mpf(power), WIDE.mpf(t), WIDE.mpf(beta)
    return WIDE.fsum(WIDE.mpf(j) ** -power * WIDE.exp(-2 * t * WIDE.mpf(j) ** -beta) for j in range(first, last + 1))


def _close(found: Any, exact: Any, digits: float) -> bool:
    return bool(abs(WIDE.mpf(found) - exact) <= abs(exact) * WIDE.mpf(10) ** -digits)


@pytest.mark.parametrize("t", [0, 3, 10**6])
def test_the_terms_are_summed_as_they_stand(t: int) -> None:
    mp = private_context(30)
    found = _direct(mp, mp.mpf(4), mp.mpf(t), mp.mpf(2), range(5, 30))
    assert _close(found, _brute(4, t, 2, 5, 29), 28)


@pytest.mark.parametrize(("t", "first", "last"), [(10**9, 1, 1000), (2, 1, 30), (10**14, 900, 1000)])
def test_the_sum_from_the_end(t: int, first: int, last: int) -> None:
    mp = private_context(30)
    found = _from_the_end(mp, mp.mpf(4), mp.mpf(t), mp.mpf(2), first, last)
    # exponents up to 2e8 are known to thirty digits
    assert _close(found, _brute(4, t, 2, first, last), 28 - math.log10(max(2.0 * t / last**2, 1.0)))


def test_a_sum_from_the_end_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mp = private_context(20)
    monkeypatch.setattr(exponential_sums_digits, "DIRECT", 300)
    # three hundred and one indices are as many as may be looked at
    whole = _from_the_end(mp, mp.mpf(2), mp.mpf(0), mp.mpf(2), 700, 1000)
    assert _close(whole, _brute(2, 0, 2, 700, 1000), 18)
    with pytest.raises(ArithmeticError, match="needs more than 300 terms directly"):
        _from_the_end(mp, mp.mpf(2), mp.mpf(0), mp.mpf(2), 699, 1000)
    with pytest.raises(ArithmeticError, match="needs more than 300 terms directly"):
        _from_the_end(mp, mp.mpf(2), mp.mpf(0), mp.mpf(2), 1, 10**6)


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
    both = [exponential_sum_digits(3, 0, 2, math.inf, first, digits + 20) for first in (7, 10**7 + 1)]
    assert _close(exponential_sum_digits(3, 0, 2, 10**7, 7, digits), WIDE.mpf(both[0]) - both[1], digits - 0.1)


@pytest.mark.parametrize("digits", [20, 45])
def test_sums_at_times_are_those_of_the_power_series(digits: int) -> None:
    """sum_j j^-2 exp(-2 t/j^2) term by term: sum_n (-2 t)^n zeta(2 + 2n)/n! converges for all t; 8^110/110! < 1e-79."""
    for t in ("0.25", "0.5", "4"):
        x = -2 * WIDE.mpf(t)
        exact = WIDE.fsum(x**n / WIDE.factorial(n) * WIDE.zeta(2 + 2 * n) for n in range(110))
        assert _close(exponential_sum_digits(2, t, 2, math.inf, 1, digits), exact, digits - 0.1)


@pytest.mark.parametrize("last", ["inf", "300"])
@pytest.mark.parametrize(("power", "beta"), [("1.05", "1.05"), ("4", "2"), ("19", "6")])
@pytest.mark.parametrize("u", ["0", "0.001", "1"])
def test_the_integral_where_rates_are_small(u: str, power: str, beta: str, last: str) -> None:
    mp = private_context(40)
    p, b, x = mp.mpf(power), mp.mpf(beta), mp.mpf(50)
    found = _small_rates(mp, p, mp.mpf(u), b, x, mp.mpf(last))
    wide = [WIDE.mpf(each) for each in (p, b, u)]
    ends = [WIDE.mpf(0) if last == "inf" else (50 / WIDE.mpf(300)) ** wide[1], WIDE.mpf(1)]
    # in v = (x/y)^beta: x^(1 - p)/beta int v^(shape - 1) exp(-u v) dv
    shape = (wide[0] - 1) / wide[1]
    if wide[2] == 0:
        integral = (1 - ends[0] ** shape) / shape
    else:
        integral = WIDE.gammainc(shape, wide[2] * ends[0], wide[2]) * wide[2] ** -shape
    assert _close(found, integral * WIDE.mpf(50) ** (1 - wide[0]) / wide[1], 37)


@pytest.mark.parametrize("digits", [20, 50])
@pytest.mark.parametrize(("low", "high"), [(1, "1.5"), (1, 80), (200, 400)])
@pytest.mark.parametrize(("power", "beta"), [("1.05", "1.05"), ("4", "2"), ("19", "6")])
def test_the_integral_where_rates_are_large(power: str, beta: str, low: int, high: Any, digits: int) -> None:
    mp = private_context(digits + 15)
    p, b, t = mp.mpf(power), mp.mpf(beta), mp.mpf(10**5)
    found = _large_rates(mp, p, t, b, mp.mpf(low), mp.mpf(high))
    shape = (WIDE.mpf(p) - 1) / WIDE.mpf(b)
    exact = WIDE.gammainc(shape, low, WIDE.mpf(mp.mpf(high))) * (2 * WIDE.mpf(t)) ** -shape / WIDE.mpf(b)
    # the quadrature may miss seven of the fifteen digits more, and is refused beyond
    assert _close(found, exact, digits + 7)


@pytest.mark.parametrize("power", [3, 12, 40])
def test_large_powers_take_few_nodes(power: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To 30 digits the sum is the integral over all indices, Gamma(q) (2 t)^-q/beta with q = (power - 1)/beta."""
    asked = []

    def counted(degree: int, precision: int) -> Any:
        asked.append(degree)
        return _legendre_nodes(degree, precision)

    monkeypatch.setattr(exponential_sums_digits, "_legendre_nodes", counted)
    found = exponential_sum_digits(power, 1e8, 1.3, math.inf, 1, 30)
    shape = (WIDE.mpf(power) - 1) / WIDE.mpf(1.3)
    assert _close(found, WIDE.gamma(shape) * WIDE.mpf(2e8) ** -shape / WIDE.mpf(1.3), 29)
    # 3 2^(degree - 1) nodes a panel: 96 are enough, where all 768 took half a minute to find
    assert max(asked) <= 6


def test_a_quadrature_that_cannot_reach_its_digits_is_refused() -> None:
    mp = private_context(40)

    class Rough:
        """A context whose quadrature says that it has lost some digits."""

        def __init__(self, lost: int) -> None:
            self.lost = lost

        def __getattr__(self, name: str) -> Any:
            return getattr(mp, name)

        def quad(self, *arguments: Any, **options: Any) -> tuple[Any, Any]:
            total = mp.quad(*arguments, **(options | {"error": False}))
            return total, total * mp.mpf(10) ** (self.lost - 40)

    given = mp.mpf(4), mp.mpf(100), mp.mpf(2), mp.mpf(1), mp.mpf(50)
    # half of the fifteen digits that were added may be lost
    assert _close(_large_rates(Rough(6), *given), WIDE.mpf(_large_rates(mp, *given)), 39)
    with pytest.raises(ArithmeticError, match="reached only 1.0e-32 of 40 digits"):
        _large_rates(Rough(8), *given)


def test_the_nodes_are_those_of_legendre() -> None:
    found = _legendre_nodes(3, 150)
    nodes = [(WIDE.make_mpf(x), WIDE.make_mpf(w)) for x, w in found]
    for degree in range(2 * len(nodes)):
        exact = WIDE.mpf(2) / (degree + 1) if degree % 2 == 0 else WIDE.mpf(0)
        # 170 bits are 51 digits
        assert abs(WIDE.fsum(w * x**degree for x, w in nodes) - exact) < WIDE.mpf(10) ** -45


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("decay", ["0", "8"])
def test_end_terms_are_the_derivatives_of_the_summand(decay: str, sign: int) -> None:
    mp = private_context(35)
    x, power, beta = mp.mpf(200), mp.mpf("2.5"), mp.mpf("1.5")
    t = mp.mpf(decay) * x**beta / 2
    value = WIDE.mpf(200) ** WIDE.mpf("-2.5") * WIDE.exp(-WIDE.mpf(decay))
    tolerance = mp.mpf(10) ** -27 * mp.mpf(value)
    found = _end_terms(mp, power, t, beta, x, sign, tolerance)
    u = WIDE.mpf(decay)
    taylor = WIDE.taylor(lambda z: (1 + z) ** WIDE.mpf("-2.5") * WIDE.exp(u - u * (1 + z) ** WIDE.mpf("-1.5")), 0, 30)
    exact = value * (
        WIDE.mpf(1) / 2
        + sign
        * WIDE.fsum(
            WIDE.bernoulli(2 * k) / (2 * k) * taylor[2 * k - 1] * WIDE.mpf(200) ** (1 - 2 * k) for k in range(1, 16)
        )
    )
    # the terms stop below the tolerance
    assert abs(WIDE.mpf(found) - exact) <= 2 * WIDE.mpf(tolerance)


def test_derivatives_that_do_not_fall_far_enough_say_so() -> None:
    mp = private_context(60)
    # near index 2 the series of derivatives diverges before it is below 1e-60
    assert _end_terms(mp, mp.mpf(4), mp.mpf(1), mp.mpf(2), mp.mpf(2), -1, mp.mpf(10) ** -60) is None
    assert _smooth(mp, mp.mpf(4), mp.mpf(1), mp.mpf(2), 2, mp.inf, mp.mpf(1)) is None
    assert _smooth(mp, mp.mpf(4), mp.mpf(0), mp.mpf(2), 300, mp.mpf(10) ** 6, mp.mpf(1)) is not None


@pytest.mark.parametrize("u", ["0.5", "1", "3", "170", "600"])
def test_the_smooth_part_of_a_sum(u: str) -> None:
    mp = private_context(40)
    start, beta, power = 400, mp.mpf(2), mp.mpf(4)
    t = mp.mpf(u) * start**2 / 2
    for last in (900, 4000):
        found = _smooth(mp, power, t, beta, start, mp.mpf(last), mp.mpf(0))
        assert found is not None
        # tolerance 100 eps of the largest part
        assert _close(found, _brute(4, WIDE.mpf(t), 2, start, last), 36)


def test_a_derivative_that_vanishes_is_not_the_end_of_the_series() -> None:
    def taylor(u: Any, order: int) -> list[Any]:
        return list(WIDE.taylor(lambda z: (1 + z) ** -4 * WIDE.exp(u - u * (1 + z) ** -2), 0, order))

    # the third coefficient in z changes its sign at u = 2.7, where the first is not zero and the fifth is large
    u = WIDE.findroot(lambda v: taylor(v, 3)[3], (1, 3), solver="anderson")
    mp = private_context(50)
    x = mp.mpf(50)
    found = _end_terms(mp, mp.mpf(4), mp.mpf(u) * x**2 / 2, mp.mpf(2), x, 1, mp.mpf(10) ** -32)
    row = taylor(WIDE.mpf(mp.mpf(u)), 24)
    assert abs(row[3]) < WIDE.mpf(10) ** -30 < abs(row[1]) * WIDE.mpf(10) ** -28
    parts = [WIDE.bernoulli(2 * k) / (2 * k) * row[2 * k - 1] * WIDE.mpf(50) ** (1 - 2 * k) for k in range(1, 13)]
    exact = WIDE.mpf(50) ** -4 * WIDE.exp(-WIDE.mpf(mp.mpf(u))) * (WIDE.mpf(1) / 2 + WIDE.fsum(parts))
    assert abs(WIDE.mpf(found) - exact) < 2 * WIDE.mpf(10) ** -32
