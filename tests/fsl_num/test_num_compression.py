"""The short sums of exponentials against the full ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fsl_num.compression import SMALLEST, Modes, compress
from fsl_num.gauss_rules import block_rules, gauss_rule
from fsl_num.spectrum import forgetting_kernel, kernel_integral, signal

S = (0.05, 0.5, 3.0)
BETA = (1.05, 1.5, 2.0, 4.0, 6.0)
SIZES = (1.0, 10.0, 17.0, 100.0, 1e3, 1e6, 1e30, math.inf)
HORIZONS = (1.0, 2.0**20, 1e14)


def _assert_close(modes: Modes, s: float, beta: float, size: float, latest: float) -> None:
    """Both sums at times that are not those of the check, each against its full sum, within the stated error."""
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


@pytest.mark.parametrize("s", S)
@pytest.mark.parametrize("beta", BETA)
@pytest.mark.parametrize("size", SIZES)
def test_finite_horizons(s: float, beta: float, size: float) -> None:
    for horizon in HORIZONS:
        modes = compress(s, beta, size, horizon)
        _assert_close(modes, s, beta, size, horizon)
        # The goal is 1e-13 for the sums; twice that and rounding at exponents up to 700 is 5e-13. Measured: 3.4e-13.
        assert modes.error < 5e-13
        assert len(modes.rates) <= min(size, 240)  # measured: at most 231


@pytest.mark.parametrize("beta", BETA)
@pytest.mark.parametrize("size", [1.0, 10.0, 17.0, 100.0, 1e3, 1e6])
def test_no_horizon_includes_the_times_of_the_slowest_mode_alone(beta: float, size: float) -> None:
    modes = compress(0.5, beta, size)
    # At this time the slowest mode has decayed like exp(-600) unless its weight is so small that 1e-300 comes earlier.
    _assert_close(modes, 0.5, beta, size, 300.0 * size**beta)
    assert modes.error < 5e-13
    assert len(modes.rates) <= size


@given(
    s=st.floats(0.05, 3.0),
    beta=st.floats(1.05, 6.0),
    size=st.one_of(st.just(math.inf), st.floats(0.0, 30.0).map(lambda x: float(math.floor(10.0**x)))),
    horizon=st.floats(-3.0, 14.0).map(lambda x: 10.0**x),
)
@settings(max_examples=40, deadline=None)
def test_any_problem(s: float, beta: float, size: float, horizon: float) -> None:
    modes = compress(s, beta, size, horizon)
    _assert_close(modes, s, beta, size, horizon)
    assert modes.error < 6e-13  # the bound of the grid, and a fifth more for what the grid does not hold


def test_rules_are_exact_for_polynomials() -> None:
    x, w = block_rules(np.array([1.0, 10.0, 60.0, 500.0]))
    assert len(x) == 9 + 16 + 16 and (w > 0.0).all()
    j = np.arange(1.0, 500.0)
    few, masses = gauss_rule(j, np.ones_like(j), 7)
    for degree in range(14):
        exact = ((j / 500.0) ** degree).sum()
        # positive terms: rounding only, and that of the nodes (a few 1e-16) times the degree
        assert ((x / 500.0) ** degree) @ w == pytest.approx(exact, rel=1e-13)
        assert ((few / 500.0) ** degree) @ masses == pytest.approx(exact, rel=1e-13)
    assert abs((few / 500.0) ** 20 @ masses / ((j / 500.0) ** 20).sum() - 1.0) > 1e-9  # and not beyond its degree


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
