"""Sums over the spectrum where one way of summing takes over from another, and late, where they have a closed form."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from fsl_num import exponential_sums, exponential_sums_digits, spectrum
from fsl_num.exponential_sums import exponential_sum_float
from fsl_num.exponential_sums_digits import exponential_sum_digits
from fsl_num.spectrum import (
    approximation_error,
    eigenvalues,
    exponential_sum,
    forgetting_kernel,
    kernel_integral,
    signal,
    trace,
)

WIDE = mpmath.mp.clone()
WIDE.dps = 130


def late(power: Any, t: Any, beta: Any) -> Any:
    """The infinite sum at late times: the integral of x^-p exp(-2 t x^-beta) over (0, inf).

    The summand is flat at 0 with all its derivatives, and at infinity, so that the sum differs by less than any power
    of t: by about exp(-c t^(1/(1 + beta))).
    """
    power, t, beta = WIDE.mpf(power), WIDE.mpf(t), WIDE.mpf(beta)
    shape = (power - 1) / beta
    return (2 * t) ** -shape * WIDE.gamma(shape) / beta


@pytest.mark.parametrize("digits", [15, 50, 80])
@pytest.mark.parametrize(
    ("power", "beta", "t"),
    [("4", "2", "1e9"), ("1.05", "1.5", "1e8"), ("19", "6", "1e40"), ("6.5", "1.05", "3e7")],
)
def test_late_sums_have_their_digits(power: str, beta: str, t: str, digits: int) -> None:
    found = exponential_sum_digits(power, t, beta, math.inf, 1, digits)
    assert abs(WIDE.mpf(found) / late(power, t, beta) - 1) <= WIDE.mpf(10) ** (0.1 - digits)


@pytest.mark.parametrize(
    ("power", "beta"), [(4.0, 2.0), (1.05, 1.05), (1.3, 6.0), (19.0, 6.0), (40.0, 1.25), (12.0, 3.0)]
)
def test_late_sums_in_floats(power: float, beta: float) -> None:
    for t in (1e9, 3e12, 1e30) if beta < 4.0 else (1e40, 1e50):
        exact = late(power, t, beta)
        if exact > 1e-290:
            found = exponential_sum_float(power, np.array([t]), beta, math.inf, 1.0)[0]
            # 1e-14 as promised, and the power of 2 t, of which the logarithm is rounded
            assert abs(found / exact - 1) <= 1e-14 + 2.0**-52 * abs(math.log(float(exact)))


def test_an_exponent_that_is_no_short_number_has_digits_of_its_own() -> None:
    t = 33333333333333333333333333333333
    exact = WIDE.fsum(WIDE.mpf(j) ** -4 * WIDE.exp(-2 * t * WIDE.mpf(j) ** -2) for j in range(1, 11))
    found = exponential_sum_digits(4, t, 2, 10, 1, 30)
    assert abs(WIDE.mpf(found) / exact - 1) < WIDE.mpf(10) ** -29.9


# Which way is taken


class Ways:
    """Records which of the ways of a module have been taken, with one of their arguments each."""

    def __init__(self, patch: pytest.MonkeyPatch, module: Any, names: dict[str, int], refuse: str = "") -> None:
        self.taken: list[tuple[str, Any]] = []
        for name, place in names.items():
            plain = getattr(module, name)

            def called(*given: Any, name: str = name, place: int = place, plain: Any = plain) -> Any:
                self.taken.append((name, given[place]))
                return None if name == refuse else plain(*given)

            patch.setattr(module, name, called)


DIGITS = {"_direct": 4, "_smooth": 4, "_from_the_end": 4}


def test_fifty_terms_a_digit_are_summed_as_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = Ways(monkeypatch, exponential_sums_digits, DIGITS)
    exponential_sum_digits(2, 1, 2, 503, 3, 10)
    assert ways.taken == [("_direct", range(3, 504))]
    ways.taken.clear()
    exponential_sum_digits(2, 1, 2, 504, 3, 10)
    # the first 2 digits + 20 indices one by one, the others by the series, whose digits suffice there
    assert ways.taken == [("_direct", range(3, 40)), ("_smooth", 40)]
    ways.taken.clear()
    exponential_sum_digits(2, 1, 2, math.inf, 700, 10)
    assert ways.taken == [("_direct", range(700, 700)), ("_smooth", 700)]


def test_the_head_doubles_until_the_series_has_the_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = Ways(monkeypatch, exponential_sums_digits, DIGITS, refuse="_smooth")
    size = 1920  # twice 960, which is not below the half any more
    found = exponential_sum_digits(2, 0, 2, size, 1, 20)
    heads = [(1, 60), (60, 120), (120, 240), (240, 480)]
    wanted = [each for low, high in heads for each in (("_direct", range(low, high)), ("_smooth", high))]
    assert ways.taken == [*wanted, ("_from_the_end", 1)]
    assert abs(found - WIDE.fsum(WIDE.mpf(j) ** -2 for j in range(1, size + 1))) < 1e-19
    ways.taken.clear()
    exponential_sum_digits(2, 0, 2, size + 1, 1, 20)
    assert ways.taken[-2] == ("_smooth", 960)
    for most, last in ((959, 960), (958, 480)):
        ways.taken.clear()
        monkeypatch.setattr(exponential_sums_digits, "DIRECT", most)
        with pytest.raises(ArithmeticError, match="did not reach 20 digits"):
            exponential_sum_digits(2, 0, 2, math.inf, 1, 20)
        assert ways.taken[-1] == ("_smooth", last)


@pytest.mark.parametrize(("share", "way"), [(0.99, "_smooth"), (1.01, "_from_the_end")])
def test_sums_are_taken_from_the_end_where_neighbouring_terms_differ(
    monkeypatch: pytest.MonkeyPatch, share: float, way: str
) -> None:
    """Where exp(-beta u/M) is the ratio of the last terms: 1000 of them make the digits and those kept in reserve."""
    ways = Ways(monkeypatch, exponential_sums_digits, DIGITS)
    size = 2500
    for beta in (2, 4):
        ways.taken.clear()
        u = share * size * 37 / (1000 * beta)  # 20 digits and 15 more, and those of u itself, of three figures
        t = 0.5 * u * size**beta
        exact = WIDE.fsum(
            WIDE.mpf(j) ** -4 * WIDE.exp(-2 * WIDE.mpf(t) * WIDE.mpf(j) ** -beta) for j in range(1, size + 1)
        )
        found = exponential_sum_digits(4, t, beta, size, 1, 20)
        assert ways.taken[-1][0] == way and abs(WIDE.mpf(found) / exact - 1) < WIDE.mpf(10) ** -19.9


FLOATS = {"_direct": 3, "_smooth": 3}


@pytest.mark.parametrize(
    ("first", "last", "u", "ways"),
    [
        # a sum of less than twice the head is a direct one
        (1.0, 320.0, 0.0, [("_direct", 1.0)]),
        (1.0, 321.0, 0.0, [("_smooth", 160.0), ("_direct", 1.0)]),
        (5.0, 324.0, 0.0, [("_direct", 5.0)]),
        # what begins behind the head has none
        (159.0, 1e9, 0.0, [("_smooth", 160.0), ("_direct", 159.0)]),
        (160.0, 1e9, 0.0, [("_smooth", 160.0)]),
        (900.0, math.inf, 0.0, [("_smooth", 900.0)]),
        # of less than 20,000 terms, when all but exp(-23) has gone
        (1.0, 20_001.0, 22.9, [("_smooth", 160.0), ("_direct", 1.0)]),
        (1.0, 20_001.0, 23.1, [("_direct", 1.0)]),
        (1.0, 20_002.0, 23.1, [("_smooth", 160.0), ("_direct", 1.0)]),
        # and nothing at all
        (1.0, 50.0, 801.0, []),
        (4.0, 3.0, 0.0, []),
    ],
)
def test_which_way_a_float_sum_takes(
    monkeypatch: pytest.MonkeyPatch, first: float, last: float, u: float, ways: list[tuple[str, float]]
) -> None:
    taken = Ways(monkeypatch, exponential_sums, FLOATS).taken
    t = np.array([0.5 * u * last**2.0 if u else 0.0])
    exponential_sum_float(4.0, t, 2.0, last, first)
    assert taken == ways


def test_direct_sums_of_many_times_are_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    plain = np.outer

    def outer(a: Any, b: Any) -> Any:
        sizes.append((len(a), len(b)))
        return plain(a, b)

    monkeypatch.setattr(exponential_sums.np, "outer", outer)
    monkeypatch.setattr(exponential_sums, "_CHUNK", 700)
    t = np.linspace(0.0, 5.0, 20)
    found = exponential_sum_float(4.0, t, 2.0, 100.0, 1.0)
    j = np.arange(1.0, 101.0)
    assert sizes == [(7, 100), (7, 100), (6, 100)]
    assert found == pytest.approx(np.exp(-2.0 * np.multiply.outer(t, j**-2.0)) @ j**-4.0, rel=1e-14, abs=0.0)
    # a time alone is never cut
    sizes.clear()
    monkeypatch.setattr(exponential_sums, "_CHUNK", 7)
    assert exponential_sum_float(4.0, t[:2], 2.0, 100.0, 1.0) == pytest.approx(found[:2], rel=1e-15, abs=0.0)
    assert sizes == [(1, 100)] * 2


# The public sums


def test_digits_of_parameters_that_are_no_floats() -> None:
    """s = 0.1 and beta = 1.7 as text are those numbers, to all the digits asked for."""
    for digits in (12, 60):
        for t in (0, 5):
            whole = exponential_sum("1.17", t, "1.7", digits=digits + 10)
            assert abs(signal(t, "0.1", "1.7", digits=digits) / whole - 1) < mpmath.mpf(10) ** (0.5 - digits)
            kernel = exponential_sum("3.4", t, "1.7", digits=digits + 10)
            assert abs(forgetting_kernel(t, "1.7", digits=digits) / kernel - 1) < mpmath.mpf(10) ** (0.5 - digits)
        tail = exponential_sum("1.17", 0, "1.7", start=8, digits=digits + 10)
        assert abs(approximation_error("0.1", "1.7", 7, digits=digits) / tail - 1) < mpmath.mpf(10) ** (0.5 - digits)


def test_many_times_give_a_list_of_numbers_with_digits() -> None:
    found = exponential_sum(2, [0, 1], 2, 1, digits=15)
    assert isinstance(found, list) and found[0] == 1 and float(found[1]) == pytest.approx(math.exp(-2.0), rel=1e-15)
    assert exponential_sum(2, [3], 2, 1, digits=10) == [exponential_sum(2, 3, 2, 1, digits=10)]
    assert found[0].context.dps == 15
    with pytest.raises(ValueError, match="digits must be a whole number of at least 10"):
        exponential_sum(2, 0, 2, digits=9)
    with pytest.raises(ValueError, match="t must be finite"):
        exponential_sum(2, [0, -1], 2, digits=15)
    assert approximation_error(0.5, 2.0, math.inf, digits=15) == 0


def test_powers_and_sizes_at_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for power in (1.0, math.inf):
        with pytest.raises(ValueError, match="power must lie in"):
            exponential_sum(power, 0.0, 2.0, 5)
    above = float(np.nextafter(1.0, 2.0))
    assert exponential_sum(above, 0.0, 2.0, 5) == pytest.approx(137.0 / 60.0, rel=1e-14)
    with pytest.raises(ValueError, match="model_size must be a whole number of at least 1, got inf"):
        eigenvalues(math.inf, 2.0)
    with pytest.raises(ValueError, match="at most 50000000 to list"):
        eigenvalues(50_000_001, 2.0)
    monkeypatch.setattr(spectrum, "_MOST_EIGENVALUES", 3)
    assert eigenvalues(3, 2.0) == pytest.approx([1.0, 1 / 4, 1 / 9], rel=1e-15)
    with pytest.raises(ValueError, match="at most 3 to list"):
        eigenvalues(4, 2.0)
    assert exponential_sum(2.0, 0.0, 2.0, 5, start=5) == pytest.approx(0.04, rel=1e-15)
    assert exponential_sum(2.0, 0.0, 2.0, 5, start=6) == 0.0
    assert type(trace(2.0, 4)) is float and trace(2.0, 1) == 1.0


@pytest.mark.parametrize("low", [0.0, 0.3, 40.0, 1e6])
@pytest.mark.parametrize("width", [1e-9, 0.02, 1.0, 1.6, 41.0, 1e6, math.inf])
def test_short_integrals_of_the_kernel_keep_their_digits(low: float, width: float) -> None:
    rates = np.arange(1.0, 31.0) ** -1.5
    high = low + width
    exact = WIDE.mpf(0)
    for rate in rates.tolist():
        left = WIDE.exp(-2 * WIDE.mpf(rate) * high) if width < math.inf else 0
        exact += WIDE.mpf(rate) / 2 * (WIDE.exp(-2 * WIDE.mpf(rate) * low) - left)
    # sums to 1e-14, whose difference costs up to 1/(1 - 2^(1/beta - 1)) = 4.8 of it; rates rounded, of decays 2 r t
    slowest = 2.0 * low * 30.0**-1.5
    found = kernel_integral(low, high, 1.5, 30)
    assert abs(found - exact) <= (1e-13 + 4e-16 * slowest) * exact + 1e-300
    assert type(found) is float


@pytest.mark.parametrize(
    ("low", "high", "beta", "size", "by_quadrature"),
    # an interval is short up to twice its beginning and one more; and its sums are within a factor 2: exp(-2 w) > 1/2
    [
        (0.0, 1.0, 1.05, math.inf, True),
        (0.0, 1.01, 1.05, math.inf, False),
        (3.0, 7.0, 1.05, math.inf, True),
        (3.0, 7.01, 1.05, math.inf, False),
        (0.5, 0.5 + 0.346, 2.0, 1, True),
        (0.5, 0.5 + 0.347, 2.0, 1, False),
        (0.5, math.inf, 2.0, 1, False),
    ],
)
def test_short_integrals_are_quadratures(
    monkeypatch: pytest.MonkeyPatch, low: float, high: float, beta: float, size: float, by_quadrature: bool
) -> None:
    asked = []
    plain = spectrum.forgetting_kernel

    def kernel(t: Any, *rest: Any) -> Any:
        asked.append(np.shape(t))
        return plain(t, *rest)

    monkeypatch.setattr(spectrum, "forgetting_kernel", kernel)
    found = kernel_integral([low, low], [high, math.inf], beta, size)
    assert asked == ([(1, 40)] if by_quadrature else []) and 0.0 < found[0] <= found[1]


def test_integrals_of_the_kernel_take_arrays_and_refuse_what_is_no_time() -> None:
    table = kernel_integral([0.0, 1.0], np.array([[2], [3]]), 2.0, 7)
    assert table.shape == (2, 2) and table[1, 0] == pytest.approx(kernel_integral(0.0, 3.0, 2.0, 7), rel=1e-15)
    assert kernel_integral(0.0, [1.0, math.inf], 2.0, 7).shape == (2,)
    assert kernel_integral([1.0], 2.0, 2.0, 7).shape == (1,) and kernel_integral(2, 2, 2.0, 7) == 0.0
    for upper in ("2", [True], None):
        with pytest.raises(TypeError, match="upper must be a real number"):
            kernel_integral(0.0, upper, 2.0, 7)
    for upper in (math.nan, [0.5, math.nan], 0.1):
        with pytest.raises(ValueError, match="upper must be at least lower"):
            kernel_integral(0.2, upper, 2.0, 7)
