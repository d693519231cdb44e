"""The parts of the sums over the spectrum in float64, each against its own definition in forty digits."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from fsl_num.exponential_sums import (
    DIRECT,
    HEAD,
    exponential_sum_float,
)
from fsl_num.spectrum import (
    exponential_sum,
)

MP = mpmath.mp.clone()
MP.dps = 40


def _brute(power: float, t: Any, beta: float, first: int, last: int) -> Any:
    t = MP.mpf(t)
    return MP.fsum(MP.mpf(j) ** -power * MP.exp(-2 * t * MP.mpf(j) ** -beta) for j in range(first, last + 1))


@pytest.mark.parametrize("decay", [22.0, 24.0, 300.0, 690.0])
@pytest.mark.parametrize("size", [2 * HEAD - 1, 2 * HEAD, 2 * HEAD + 1, 2 * HEAD + 2])
def test_the_sums_agree_where_one_way_takes_over_from_the_other(decay: float, size: int) -> None:
    for power, beta in ((1.5, 1.05), (4.0, 2.0), (19.0, 6.0)):
        t = 0.5 * decay * float(size) ** beta
        found = exponential_sum_float(power, np.array([0.0, t]), beta, float(size), 1.0)
        for value, time in zip(found, (0.0, t), strict=True):
            exact = _brute(power, time, beta, 1, size)
            # 1e-14, and 2e-16 for each unit of decay of the slowest term, as promised
            assert abs(value - exact) <= (1e-14 + 4e-16 * decay) * exact + 5e-324


@pytest.mark.parametrize("size", [DIRECT, DIRECT + 1, DIRECT + 2])
def test_the_sums_agree_where_direct_sums_end(size: int) -> None:
    beta, power, decay = 6.0, 12.0, 600.0
    t = 0.5 * decay * float(size) ** beta
    found = exponential_sum_float(power, np.array([t]), beta, float(size), 1.0)[0]
    exact = _brute(power, t, beta, size - 1500, size)  # exp(-6 600 1500/20000) = e^-270 of the terms before
    assert exact > 1e-320 and abs(found - exact) <= (1e-14 + 4e-16 * decay) * exact + 5e-324


def test_a_large_model_is_not_summed_term_by_term() -> None:
    """A list of 1e12 terms would not fit; so late, neighbouring terms hardly differ and Euler-Maclaurin will do."""
    beta, power, size = 2.0, 4.0, 1e12
    t = 0.5 * 30.0 * size**beta
    found = exponential_sum_float(power, np.array([t]), beta, size, 1.0)[0]
    # the integral over x in (0, M), whose first indices have long gone, and half of the last term
    exact = MP.gammainc(1.5, 30) * MP.mpf(30) ** -1.5 / 2 * MP.mpf(size) ** -3 + MP.mpf(size) ** -4 * MP.exp(-30) / 2
    assert abs(found - exact) <= (1e-14 + 2.5e-16 * 30.0) * exact


def test_a_sum_is_nothing_only_below_the_smallest_float() -> None:
    # K_1(t) = exp(-2 t): above the smallest float it is there, and at exp(-800) it is not
    found = exponential_sum_float(4.0, np.array([350.0, 371.0, 372.0, 373.0, 399.9, 400.0, 1e9]), 2.0, 1.0, 1.0)
    exact = [float(MP.exp(-700)), float(MP.exp(-742)), float(MP.exp(-744)), 0.0, 0.0, 0.0, 0.0]
    assert found.tolist() == pytest.approx(exact, rel=1e-12, abs=5e-324)
    assert found[1] > 0.0
    # no terms at all
    assert exponential_sum_float(2.0, np.array([0.0, 1.0]), 2.0, 3.0, 4.0).tolist() == [0.0, 0.0]
    assert exponential_sum_float(2.0, np.array([0.0]), 2.0, 4.0, 4.0)[0] == pytest.approx(
        1.0 / 16.0, rel=1e-15, abs=0.0
    )


@pytest.mark.parametrize("u", [0.999, 1.0, 1.001, 650.0, 699.9, 700.1, 3000.0, 1e9])
def test_infinite_sums_at_times_when_the_first_indices_have_gone(u: float) -> None:
    """Where u passes 1 the integral has two pieces, and from 700 on the first term is left out."""
    beta, power, first = 2.0, 4.0, 160
    t = 0.5 * u * first**beta
    found = exponential_sum_float(power, np.array([t]), beta, math.inf, float(first))[0]
    # the integral, half of the first term and four derivatives: the fifth is below 1e-16 at index 160
    mp = MP
    shape = mp.mpf(3) / 2
    whole = mp.gammainc(shape, 0, u) * mp.mpf(2 * t) ** -shape / 2
    taylor = mp.taylor(lambda z: (1 + z) ** -4 * mp.exp(u - u * (1 + z) ** -2), 0, 13) if u < 4.0 else [0] * 14
    lead = mp.mpf(first) ** -4 * mp.exp(-u)
    ends = mp.mpf(1) / 2 - mp.fsum(
        mp.bernoulli(2 * k) / (2 * k) * taylor[2 * k - 1] * mp.mpf(first) ** (1 - 2 * k) for k in range(1, 8)
    )
    exact = whole + lead * ends
    assert abs(found - exact) <= 2e-14 * exact


def test_numbers_as_text_need_digits() -> None:
    assert exponential_sum("2", "0", "2", digits=15) == pytest.approx(math.pi**2 / 6.0, rel=1e-14)
    with pytest.raises(TypeError, match="power"):
        exponential_sum("2", 0.0, 2.0)
    with pytest.raises(ValueError, match="start"):
        exponential_sum(2.0, 0.0, 2.0, start=math.inf)  # type: ignore[arg-type]


def test_a_sum_below_the_smallest_float_is_0_without_a_warning() -> None:
    # of the order of t^(-39/1.25): 1e-936
    assert exponential_sum(40.0, 1e30, 1.25) == 0.0


def test_steep_sums_are_their_few_terms() -> None:
    for t in (0.0, 0.3):
        exact = _brute(400.0, t, 3.0, 2, 8)  # 8^-400 is the smallest of them that is a float
        found = exponential_sum_float(400.0, np.array([t]), 3.0, math.inf, 2.0)[0]
        # the power times the rounding of a logarithm
        assert abs(found / exact - 1) <= 2.0**-52 * 400.0
