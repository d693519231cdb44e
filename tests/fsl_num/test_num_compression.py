"""The short sums of exponentials against the full ones."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.compression import Modes, compress, kernel_modes
from fsl_num.mode_errors import SMALLEST
from fsl_num.spectrum import exponential_sum, forgetting_kernel, kernel_integral, signal, trace

BETA = (1.05, 2.0, 6.0)
SIZES = (1.0, 17.0, 1e3, 1e30, math.inf)


def _assert_close(modes: Modes, s: float, beta: float, size: float, latest: float) -> None:
    """Both sums, each against its full sum in float64, within the stated error."""
    t = np.concatenate([[0.0], np.geomspace(min(1e-3, 0.1 * latest), latest, 211)])
    # Rounding of the full sums: 3e-14, and 2e-16 u for each side where the slowest term has decayed like exp(-u).
    allowed = modes.error + 3e-14 + (5e-16 * 2.0 * t * size**-beta if math.isfinite(size) else 0.0)
    for short, full in (
        (modes.signal(t), signal(t, s, beta, size)),
        (modes.kernel(t), forgetting_kernel(t, beta, size)),
    ):
        seen = full > SMALLEST
        assert (np.abs(short[seen] / full[seen] - 1.0) <= np.broadcast_to(allowed, t.shape)[seen]).all()
    assert (modes.kernel_weights >= 0.0).all() and (modes.signal_weights >= 0.0).all() and (modes.rates >= 0.0).all()


@pytest.mark.parametrize("beta", BETA)
@pytest.mark.parametrize("size", [1.0, 17.0, 1e6])
def test_no_horizon_includes_the_times_of_the_slowest_mode_alone(beta: float, size: float) -> None:
    modes = compress(0.5, beta, size)
    # At this time the slowest mode has decayed like exp(-600) unless its weight is so small that 1e-300 comes earlier.
    _assert_close(modes, 0.5, beta, size, 300.0 * size**beta)
    # 1e-13, and 2^-53 for rates and exponents up to 700 each: 2.6e-13. Measured: 2.0e-13.
    assert modes.error < 2.6e-13
    assert len(modes.rates) <= size


@given(
    s=st.floats(0.05, 3.0),
    beta=st.floats(1.05, 6.0),
    size=st.one_of(st.sampled_from(SIZES), st.floats(0.0, 30.0).map(lambda x: float(math.floor(10.0**x)))),
    horizon=st.floats(-3.0, 12.0).map(lambda x: 10.0**x),
)
@examples(40)
def test_any_problem(s: float, beta: float, size: float, horizon: float) -> None:
    modes = compress(s, beta, size, horizon)
    _assert_close(modes, s, beta, size, horizon)
    assert modes.error < 2.6e-13  # 1e-13, and exponents up to 700 as above; the worst of 2,400 random cases: 2.1e-13
    assert len(modes.rates) <= 150  # the goal; the worst of 2,400 random cases: 133


@pytest.mark.parametrize("size", [5.0, 1e4, math.inf])
def test_integrals(size: float) -> None:
    modes = compress(0.7, 1.8, size, 1e6)
    low, high = np.array([0.0, 0.0, 3.0, 1e5, 7.0]), np.array([1e-9, 1e6, 4.0, 1e6, 7.0])
    # kernel_integral is a difference that costs a factor 1/(1 - 2^(1/beta - 1)) = 3.8 of 1e-14, plus the modes' error.
    expected = kernel_integral(low, high, 1.8, size)
    assert modes.kernel_integral(low, high) == pytest.approx(expected, rel=modes.error + 2e-13, abs=0.0)
    nodes, weights = np.polynomial.legendre.leggauss(30)
    by_quadrature = 0.5 * signal(3.5 + 0.5 * nodes, 0.7, 1.8, size) @ weights
    assert modes.signal_integral(3.0, 4.0) == pytest.approx(by_quadrature, rel=modes.error + 3e-14)
    assert isinstance(modes.signal_integral(3.0, 4.0), float) and modes.signal_integral(2.0, 2.0) == 0.0


@pytest.mark.parametrize("beta", [1.05, 6.0])
@pytest.mark.parametrize("size", [40.0, 1e4, math.inf])
@pytest.mark.parametrize("horizon", [1.0, math.inf])
def test_integrals_to_infinity(beta: float, size: float, horizon: float) -> None:
    if math.isinf(horizon) and size > 1e4:
        return
    s = 1.4
    modes = compress(s, beta, size, horizon)
    low = np.array([0.0, 0.3, 1.0])
    # Each term integrates to 1/(2 lambda) of itself. 3e-14: rounding of the full sums.
    for short, power in ((modes.kernel_integral, beta), (modes.signal_integral, 1.0 + (s - 1.0) * beta)):
        expected = 0.5 * exponential_sum(power, low, beta, size)
        assert short(low, math.inf) == pytest.approx(expected, rel=modes.error + 3e-14, abs=0.0)
    assert modes.kernel_integral(0.0, math.inf) == pytest.approx(0.5 * trace(beta, size), rel=modes.error + 3e-14)
    mixed = modes.kernel_integral([0.0, 0.0], [math.inf, 1.0])
    one_by_one = [modes.kernel_integral(0.0, math.inf), modes.kernel_integral(0.0, 1.0)]
    assert mixed == pytest.approx(one_by_one, rel=1e-14)  # the order of summation


def test_there_is_one_class_of_modes() -> None:
    assert Modes is Modes
    short = kernel_modes(2.0, math.inf, 1e6)
    assert short.kernel(3.0) == pytest.approx(forgetting_kernel(3.0, 2.0), rel=short.error + 1e-14)
    assert short.kernel_integral(0.0, math.inf) == pytest.approx(0.5 * trace(2.0), rel=short.error + 1e-14)
    with pytest.raises(ValueError, match="forgetting kernel alone"):
        short.signal(1.0)
    assert kernel_modes(2.0, 7, 5.0).rates.tolist() == [float(j) ** -2.0 for j in range(1, 8)]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"rates": np.array([-1.0, 0.5])}, "rates must be finite and at least 0"),
        ({"rates": np.zeros(0), "kernel_weights": np.zeros(0)}, "one list of as many numbers as rates"),
        ({"kernel_weights": np.array([1.0, math.nan])}, "kernel_weights must be finite"),
        ({"kernel_weights": np.ones((2, 2))}, "kernel_weights must be one list"),
        ({"signal_weights": np.ones(3)}, "signal_weights must be one list"),
        ({"kernel_after": -1.0}, "kernel_after"),
        ({"signal_after": math.nan}, "signal_after"),
        ({"error": -1.0}, "error must"),
        ({"error": math.inf}, "error must"),
        ({"horizon": 0.0}, "horizon must"),
    ],
)
def test_modes_are_checked(change: dict[str, Any], text: str) -> None:
    fields: dict[str, Any] = {"rates": np.array([1.0, 0.5]), "kernel_weights": np.ones(2), "error": 0.0}
    assert Modes(**fields, kernel_after=math.inf).kernel(0.0) == 2.0
    with pytest.raises(ValueError, match=text):
        Modes(**(fields | change))


def test_a_lower_tolerance_needs_fewer_modes_and_results_are_kept() -> None:
    rough, sharp = compress(0.5, 2.0, math.inf, 1e8, rtol=1e-5), compress(0.5, 2.0, math.inf, 1e8)
    assert len(rough.rates) < 0.7 * len(sharp.rates) and sharp.error < rough.error < 1e-4
    assert compress(0.5, 2.0, math.inf, 1e8) is sharp
    with pytest.raises(ValueError, match="read-only"):
        sharp.rates[0] = 2.0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: compress(0.5, 2.0, math.inf), "horizon must be finite where model_size is inf"),
        (lambda: compress(0.5, 2.0, 10, rtol=1e-15), "rtol must lie in"),
        (lambda: compress(-1.0, 2.0, 10), "s must"),
        (lambda: compress(0.5, 1.0, 10), "beta must"),
        (lambda: compress(0.5, 2.0, 10, -1.0), "horizon must"),
        (lambda: compress(0.5, 2.0, 10, 5.0).signal(6.0), "t must"),
        (lambda: compress(0.5, 2.0, 10, 5.0).kernel_integral(2.0, 1.0), "upper must be at least lower"),
        (lambda: compress(1.0, 2.0, math.inf, 5.0).signal_integral(0.0, math.inf), "whose integral diverges"),
        (lambda: Modes(np.zeros(1), np.ones(1), 0.0).kernel_integral(0.0, math.inf), "a mode of rate 0 does not decay"),
        (lambda: compress(0.5, 2.0, 10, 5.0).kernel_integral(math.inf, math.inf), "lower must be finite"),
        (lambda: compress(0.5, 2.0, 10, 5.0).kernel_integral(0.0, math.nan), "upper must be finite"),
        (
            lambda: compress(0.5, 2.0, 10, 5.0).signal_integral([], [1.0, math.inf]),
            r"one shape, got the shapes \(0,\) and",
        ),
        (
            lambda: kernel_integral([0.0, 1.0], [2.0, 3.0, 4.0], 2.0),
            "lower and upper must be numbers, or arrays of one",
        ),
    ],
)
def test_bad_input_is_refused_in_words(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize(("s", "beta", "size"), [(0.5, 2.0, 100), (0.05, 1.05, 1000), (3.0, 4.0, 1000)])
@pytest.mark.parametrize("decay", [1e-3, 5.0, 50.0, 500.0])
def test_error_is_honest_against_thirty_digits_until_the_slowest_mode_rules(
    s: float, beta: float, size: int, decay: float
) -> None:
    modes, t = compress(s, beta, size), 0.5 * decay * size**beta
    for short, full in (
        (modes.signal(t), signal(t, s, beta, size, digits=30)),
        (modes.kernel(t), forgetting_kernel(t, beta, size, digits=30)),
    ):
        assert abs(short / full - 1) <= modes.error  # measured: at most 0.15 of it


@pytest.mark.parametrize("horizon", [5e-324, 1e-200])
def test_a_horizon_whose_square_is_no_float(horizon: float) -> None:
    modes = compress(0.7, 2.0, math.inf, horizon)
    # nothing has decayed: the sums are those at the time 0
    assert modes.kernel_weights.sum() == pytest.approx(float(mpmath.zeta(4)), rel=1e-13)
    assert modes.signal_weights.sum() == pytest.approx(float(mpmath.zeta(mpmath.mpf(2.4))), rel=1e-13)
    assert 0.0 < modes.error <= 1e-13


MP = mpmath.mp.clone()
MP.dps = 40


@pytest.mark.parametrize(
    ("s", "beta", "size", "horizon", "rtol", "most"),
    # One for each of the first 3 beta indices, six for each tail, and log(10/rtol)/pi^2 for each factor e of the rates
    # between them, of which the sine saves up to a third.
    [
        (0.5, 2.0, math.inf, 2.0**20, 1e-13, 70),
        (0.5, 2.0, math.inf, 1e12, 1e-13, 119),
        (0.5, 2.0, math.inf, 1e12, 1e-6, 75),
        (0.05, 1.05, 1e6, math.inf, 1e-13, 93),
        (2.0, 4.0, 1000.0, math.inf, 1e-13, 117),
        (3.0, 6.0, math.inf, 1e12, 1e-13, 84),
        (0.5, 1.5, 1e6, 1e12, 1e-6, 67),
        (1.0, 2.0, 300.0, 1e6, 1e-6, 43),
    ],
)
def test_modes_are_few(s: float, beta: float, size: float, horizon: float, rtol: float, most: int) -> None:
    modes = compress(s, beta, size, horizon, rtol=rtol)
    assert len(modes.rates) <= most  # measured three fewer: what one more trial would add is more
    assert modes.error <= rtol + 2.0 * 2.0**-53 * 700.0


@pytest.mark.parametrize("rate", [0.0, 1e-310, 1e-200, 1e-9, 1.0, 1e5])
def test_integrals_of_one_mode(rate: float) -> None:
    modes = Modes(np.array([rate, 2.0]), np.array([3.0, 0.0]), 0.0, np.array([5.0, 0.0]))
    for low, high in ((0.0, 1.0), (0.5, 1e3), (2.0, 2.0 + 1e-9), (1e7, 2e7), (4.0, 4.0)):
        exact = MP.mpf(high) - MP.mpf(low)
        if rate > 0.0:
            turn = 2 * MP.mpf(rate)
            exact = MP.exp(-turn * MP.mpf(low)) * -MP.expm1(-turn * exact) / turn
        # the exponent is rounded, and an integral below the smallest float is 0
        allowed = (4e-16 + 4e-16 * 2.0 * rate * low) * exact + 1e-307
        assert abs(modes.kernel_integral(low, high) - 3 * exact) <= 3 * allowed
        assert abs(modes.signal_integral(low, high) - 5 * exact) <= 5 * allowed


def test_the_integral_to_infinity_has_what_comes_after_the_horizon() -> None:
    modes = Modes(
        np.array([0.5]), np.array([2.0]), 0.0, np.array([4.0]), horizon=3.0, kernel_after=7.0, signal_after=9.0
    )
    left = math.exp(-1.0) - math.exp(-3.0)
    assert modes.kernel_integral(1.0, math.inf) == pytest.approx(2.0 * left + 7.0, rel=1e-15, abs=0.0)
    assert modes.signal_integral(1.0, math.inf) == pytest.approx(4.0 * left + 9.0, rel=1e-15, abs=0.0)
    assert modes.kernel_integral(3.0, math.inf) == 7.0 and modes.kernel_integral(3.0, 3.0) == 0.0
    assert type(modes.kernel_integral(1.0, 2.0)) is float and type(modes.kernel_integral(1.0, math.inf)) is float
    mixed = modes.kernel_integral(1.0, np.array([math.inf, 3.0, 1.0]))
    assert mixed == pytest.approx([2.0 * left + 7.0, 2.0 * left, 0.0], rel=1e-15, abs=0.0)
    with pytest.raises(ValueError, match="upper must be"):
        modes.kernel_integral(1.0, 3.1)
    # a mode that stands still does not stop an integral that ends at a horizon
    still = Modes(np.array([0.0]), np.array([2.0]), 0.0, horizon=3.0, kernel_after=1.0)
    assert still.kernel_integral(1.0, math.inf) == 5.0
    # nor does one without weight
    empty = Modes(np.array([0.0, 1.0]), np.array([0.0, 2.0]), 0.0)
    assert empty.kernel_integral(0.0, math.inf) == pytest.approx(1.0, rel=1e-15, abs=0.0)


@pytest.mark.parametrize("size", [1.0, 6.0, 14.0, 15.0, 17.0])
def test_small_models_keep_their_modes(size: float) -> None:
    # the head of a model with beta = 2 has six modes, and up to eight more are no fewer as a rule
    modes = compress(0.5, 2.0, size, 10.0)
    if size <= 14.0:
        assert modes.rates == pytest.approx(np.arange(1.0, size + 1.0) ** -2.0, rel=1e-15, abs=0.0)
        assert modes.kernel_weights == pytest.approx(np.arange(1.0, size + 1.0) ** -4.0, rel=1e-15, abs=0.0)
    assert len(modes.rates) <= size
    t = np.array([0.0, 10.0])
    exact = np.exp(-2.0 * np.multiply.outer(t, np.arange(1.0, size + 1.0) ** -2.0)) @ np.arange(1.0, size + 1.0) ** -4.0
    assert modes.kernel(t) == pytest.approx(exact, rel=modes.error + 1e-15)


def test_modes_are_values_that_cannot_be_changed() -> None:
    first, second = (Modes(np.ones(1), np.ones(1), 0.0) for _ in range(2))
    assert {first, second} == {first} and first != Modes(np.ones(1), np.ones(1), 1e-9)
    modes = compress(0.5, 2.0, 30, 10.0)
    for array in (modes.rates, modes.kernel_weights, modes.signal_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2.0
    assert modes.horizon == 10.0 and compress(0.5, 2.0, 30).horizon == math.inf


def test_integrals_have_the_shape_of_their_ends() -> None:
    modes = compress(0.5, 2.0, 5, 10.0)
    for lower, upper, shape in ((1.0, [2.0], (1,)), ([1.0], 2.0, (1,)), (1, np.array([[2], [3]]), (2, 1))):
        assert modes.kernel_integral(lower, upper).shape == shape
    assert type(modes.kernel_integral(1, 2)) is float
    assert modes.kernel_integral(1, 2) == modes.kernel_integral(1.0, 2.0)
    assert modes.kernel_integral([1, 2], [3, 4])[1] == pytest.approx(modes.kernel_integral(2.0, 4.0), rel=1e-15)
    assert modes.kernel_integral(10.0, 10.0) == 0.0
    assert modes.kernel_integral([], []).shape == (0,) and modes.kernel([]).shape == (0,)


def test_steep_laws_keep_every_mode_of_a_small_model_and_large_ones_are_refused() -> None:
    modes = compress(0.5, 400.0, 5, 1e6)
    assert modes.rates == pytest.approx(np.arange(1.0, 6.0) ** -400.0, rel=1e-13, abs=0.0)
    assert modes.kernel(0.0) == pytest.approx(1.0, rel=1e-15) and modes.signal(3.0) == pytest.approx(
        math.exp(-6.0) + 2.0**-201.0, rel=modes.error
    )
    assert modes.error < 1e-12
    with pytest.raises(ValueError, match="at most about 80 for a model of 1000 features"):
        compress(0.5, 400.0, 1000, 1e6)


def test_every_mode_of_a_small_steep_model_claims_its_rounding() -> None:
    modes = compress(100.0, 2.0, 20, 1e3)
    exact = mpmath.mp.clone()
    exact.dps = 40
    for t in (0.0, 3.0, 700.0):
        for value, power in ((modes.signal(t), 201), (modes.kernel(t), 4)):
            true = exact.fsum(exact.mpf(j) ** -power * exact.exp(-2 * exact.mpf(t) / j**2) for j in range(1, 21))
            assert 0.0 < abs(exact.mpf(float(value)) / true - 1) <= modes.error < 1e-12 or value == float(true)
    assert modes.error > 201 * 2.0**-53
