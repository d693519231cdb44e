"""The sums over the spectrum against brute force in arbitrary precision."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.spectrum import (
    approximation_error,
    eigenvalues,
    exponential_sum,
    forgetting_kernel,
    kernel_integral,
    signal,
    trace,
)

# Rounding of the rates costs 2e-16 u (u = exponent of the slowest term); the rest measured at most 2e-14, times five.
TOLERANCE = 1e-13

betas = st.floats(1.05, 6.0)
difficulties = st.floats(0.05, 3.0)
log_times = st.floats(-4.0, 20.0)


def context(digits: int) -> mpmath.ctx_mp.MPContext:
    mp = mpmath.mp.clone()
    mp.dps = digits
    return mp


def brute(power: float, t: float, beta: float, last: int, first: int = 1, digits: int = 30) -> mpmath.mpf:
    mp = context(digits + 10)
    p, b, twice = mp.mpf(power), mp.mpf(beta), 2 * mp.mpf(t)
    return mp.fsum(mp.mpf(j) ** -p * mp.exp(-twice * mp.mpf(j) ** -b) for j in range(first, last + 1))


def allowed(t: float, beta: float, last: float) -> float:
    slowest = 0.0 if math.isinf(last) else 2.0 * t * last**-beta
    return TOLERANCE + 4e-16 * slowest


@examples(40)
@given(betas, difficulties, st.integers(1, 600), st.floats(-4.0, 2.4))
def test_float_matches_brute_force_for_finite_models(beta: float, s: float, size: int, relative_time: float) -> None:
    t = 10.0**relative_time * size**beta
    power = 1.0 + s * beta
    exact = brute(power, t, beta, size)
    value = signal(t, s, beta, size)
    if exact < 1e-290:
        assert value <= 1e-289
    else:
        assert abs(value / exact - 1) < allowed(t, beta, size)


@examples(25)
@given(betas, difficulties, st.one_of(st.just(math.inf), st.floats(0.0, 30.0)), log_times)
def test_float_matches_digits_for_huge_models_and_times(beta: float, s: float, log_size: float, log_t: float) -> None:
    size = math.inf if math.isinf(log_size) else float(int(10.0**log_size))
    t = 10.0**log_t
    power = 1.0 + s * beta
    exact = exponential_sum(power, t, beta, size, digits=20)
    value = exponential_sum(power, t, beta, size)
    if exact < 1e-290:
        assert value <= 1e-289
    else:
        assert abs(value / exact - 1) < allowed(t, beta, size)


@examples(10)
@given(betas, difficulties, st.integers(1, 3000), st.floats(-4.0, 2.4), st.integers(1, 200))
def test_digits_match_brute_force(beta: float, s: float, size: int, relative_time: float, start: int) -> None:
    t = 10.0**relative_time * size**beta
    power = 1.0 + s * beta
    exact = brute(power, t, beta, size, start, digits=40)
    value = exponential_sum(power, t, beta, size, start=start, digits=40)
    if size < start:
        assert value == 0
    else:
        assert abs(value / exact - 1) < 1e-39  # one unit in the last of 40 digits


@pytest.mark.parametrize(("t", "size"), [(10**40, 10**6), (10**14, 10**5), (10**7, 3 * 10**4), (10**40, 10**25)])
def test_digits_survive_times_far_beyond_the_slowest_mode(t: int, size: int) -> None:
    few, many = (forgetting_kernel(t, 2, size, digits=digits) for digits in (25, 50))
    assert many > 0 and abs(few / many - 1) < mpmath.mpf(10) ** -24
    if t / size**3 > 1e9:  # then the last term alone is the sum: the next one is exp(-4 t / size^3) smaller
        mp = context(120)
        last = mp.mpf(size) ** -4 * mp.exp(-2 * mp.mpf(t) / mp.mpf(size) ** 2)
        assert abs(many / last - 1) < mpmath.mpf(10) ** -49


def test_hurwitz_zeta_does_not_inherit_the_library_s_error() -> None:
    # Summing to 4000 leaves a tail below (143/4000)^47 = 1e-68 of the sum: an exact value that uses no zeta function.
    exact = brute(48.0, 0.0, 2.0, 4000, 143, digits=60)
    assert abs(exponential_sum(48, 0, 2, start=143, digits=50) / exact - 1) < mpmath.mpf(10) ** -49
    short = context(30)
    assert abs(short.zeta(48, 143) / exact - 1) > 1e-12  # the trap exists; if this fails the library was mended
    assert abs(approximation_error(47 / 2, 2.0, 142) / exact - 1) < TOLERANCE


@examples(25)
@given(betas, difficulties, st.integers(1, 10**30))
def test_approximation_error_is_positive_decreasing_and_never_a_difference(beta: float, s: float, size: int) -> None:
    value = approximation_error(s, beta, size)
    # Comparison of the sum with the integral of its decreasing summand: a bound that needs no summation at all.
    a = s * beta
    upper = math.exp(-a * math.log(size)) / a
    lower = math.exp(-a * math.log(size + 1)) / a
    assert lower * (1 - 1e-12) <= value <= upper * (1 + 1e-12)  # 1e-12: rounding of the powers at log(size) = 69


def test_approximation_error_of_finitely_many_features() -> None:
    assert approximation_error(0.5, 2.0, 10, features=12) == pytest.approx(11.0**-2 + 12.0**-2, rel=1e-15)
    assert approximation_error(0.5, 2.0, 10, features=10) == 0.0
    assert approximation_error(0.5, 2.0, math.inf) == 0.0
    exact = brute(2.5, 0.0, 1.5, 4000, 1001)
    assert abs(approximation_error(1.0, 1.5, 1000, features=4000) / exact - 1) < TOLERANCE
    with pytest.raises(ValueError, match="at least model_size"):
        approximation_error(0.5, 2.0, 10, features=9)


def test_underflow_is_rounded_correctly() -> None:
    assert signal(1e6, 1.0, 2.0, 10) == 0.0  # exp(-20000)
    assert signal(1e40, 3.0, 6.0) > 0.0
    assert 0.0 < signal(340.0 * 100, 1.0, 2.0, 10) < 1e-290


@examples(30)
@given(betas, st.one_of(st.just(math.inf), st.integers(1, 10**9).map(float)), st.floats(-3, 12), st.floats(-9, 12))
def test_kernel_integral_adds_up(beta: float, size: float, log_a: float, log_width: float) -> None:
    a, width = 10.0**log_a, 10.0**log_width
    b, c = a + width, a + 3 * width
    whole = kernel_integral(a, c, beta, size)
    parts = kernel_integral(a, b, beta, size) + kernel_integral(b, c, beta, size)
    # Exponential sums of relative error TOLERANCE, differences of which lose 1/(1 - 2^(1/beta - 1)); (c - a) itself is
    # rounded by a 2e-16 / width.
    spread = 4 * allowed(c, beta, size) / (1 - 2 ** (1 / beta - 1)) + 1e-15 * a / width
    assert abs(parts - whole) <= spread * whole + 1e-290
    total = kernel_integral(a, math.inf, beta, size)
    beyond = kernel_integral(c, math.inf, beta, size)
    # c is a rounded to 1e-16, so nothing but the three sums' own errors is left (cancellation as above, beta >= 1.05)
    assert total == pytest.approx(whole + beyond, rel=1e-12, abs=1e-290)


def test_trace_and_shapes() -> None:
    assert trace(2.0, 3) == pytest.approx(1 + 1 / 4 + 1 / 9, rel=1e-15)
    grid = np.geomspace(1e-2, 1e15, 12).reshape(3, 4)
    values = forgetting_kernel(grid, 2.0)
    assert values.shape == grid.shape and (np.diff(values.ravel()) < 0).all()
    assert isinstance(forgetting_kernel(1.0, 2.0), float)
    assert values[1, 1] == forgetting_kernel(float(grid[1, 1]), 2.0)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: signal(-1.0, 1.0, 2.0), ValueError, "t must be finite"),
        (lambda: signal(math.inf, 1.0, 2.0), ValueError, "t must be finite"),
        (lambda: signal(1e308, 1.0, 2.0), ValueError, "t must be finite and in .0, 8e.307"),  # 2 t is no float
        (lambda: kernel_integral(0.0, 1e308, 2.0), ValueError, "t must be finite"),
        (lambda: signal(1.0, 0.0, 2.0), ValueError, "s must be positive"),
        (lambda: signal(1.0, 1.0, 1.0), ValueError, "beta must lie in"),
        (lambda: signal(1.0, 1.0, 2.0, 2.5), ValueError, "model_size must be a whole number"),
        (lambda: signal(1.0, 1.0, 2.0, 0), ValueError, "model_size must be a whole number"),
        (lambda: signal("now", 1.0, 2.0), TypeError, "t must be a real number"),
        (lambda: exponential_sum(1.0, 1.0, 2.0), ValueError, "power must lie in"),
        (lambda: exponential_sum(2.0, 1.0, 2.0, digits=3), ValueError, "digits must be"),
        (lambda: eigenvalues(math.inf, 2.0), ValueError, "model_size must be"),
        (lambda: kernel_integral(2.0, 1.0, 2.0), ValueError, "upper must be at least lower"),
    ],
)
def test_bad_input_is_refused_in_words(call: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()  # type: ignore[operator]


WIDE = mpmath.mp.clone()
WIDE.dps = 130


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


def test_powers_and_sizes_at_their_limits() -> None:
    for power in (1.0, math.inf):
        with pytest.raises(ValueError, match="power must lie in"):
            exponential_sum(power, 0.0, 2.0, 5)
    above = float(np.nextafter(1.0, 2.0))
    assert exponential_sum(above, 0.0, 2.0, 5) == pytest.approx(137.0 / 60.0, rel=1e-14)
    with pytest.raises(ValueError, match="model_size must be a whole number of at least 1, got inf"):
        eigenvalues(math.inf, 2.0)
    with pytest.raises(ValueError, match="at most 50000000 to list"):
        eigenvalues(50_000_001, 2.0)
    assert eigenvalues(3, 2.0) == pytest.approx([1.0, 1 / 4, 1 / 9], rel=1e-15)
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


@pytest.mark.parametrize("size", [2, 100, 101, 3000])
@pytest.mark.parametrize(
    ("beta", "low", "high"), [(50.0, 100.0, 250.0), (30.0, 20.0, 50.0), (3.0, 1e3, 4e3), (1.1, 0.0, 2.0)]
)
def test_the_kernel_integral_keeps_its_digits_where_eigenvalues_lie_far_apart(beta, low, high, size) -> None:
    exact = WIDE.mpf(0)
    for j in range(1, size + 1):
        rate = WIDE.mpf(j) ** -WIDE.mpf(beta)
        exact += rate / 2 * (WIDE.exp(-2 * rate * low) - WIDE.exp(-2 * rate * high))
    cost = 1 / (1 - 2 ** (1 / beta - 1))  # as documented; once the modes that are not gone cancelled to 1 %
    assert abs(kernel_integral(low, high, beta, size) / exact - 1) <= 2e-14 * cost + 4e-16 * beta


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
