"""Gauss rules from moments: tails of zeta functions by their own series, and Legendre's rule to all digits."""

from __future__ import annotations

import math
from typing import Any

import pytest

from fsl_num.exponential_sums_digits import private_context
from fsl_num.volterra.digits.moment_rules import positive_rule, power_moments, zeta_tails

WIDE = private_context(80)


def _tail(q: Any, first: int) -> Any:
    """sum_{j >= first} (first/j)^q by 300 terms and Euler-Maclaurin to order 60 behind them."""
    q, end = WIDE.mpf(q), first + 300
    head = WIDE.fsum((WIDE.mpf(first) / j) ** q for j in range(first, end))
    x = WIDE.mpf(end)
    terms = [
        WIDE.bernoulli(2 * k) / WIDE.factorial(2 * k) * WIDE.rf(q, 2 * k - 1) / x ** (2 * k - 1) for k in range(1, 31)
    ]
    return head + (first / x) ** q * (x / (q - 1) + WIDE.mpf(1) / 2 + WIDE.fsum(terms))


@pytest.mark.parametrize("first", [1, 2, 40, 5000])
@pytest.mark.parametrize(("q", "beta"), [("1.0525", "1.05"), ("2", "2"), ("12", "6"), ("1.5", "12")])
@pytest.mark.parametrize("digits", [20, 45])
def test_tails_of_zeta_functions(q: str, beta: str, first: int, digits: int) -> None:
    mp = private_context(digits)
    found = zeta_tails(mp, mp.mpf(q), mp.mpf(beta), first, 9)
    assert len(found) == 9
    for i in (0, 1, 4, 8):
        power = WIDE.mpf(mp.mpf(q)) + i * WIDE.mpf(mp.mpf(beta))
        # the terms are added at twenty bits more; two digits for the powers
        assert abs(WIDE.mpf(found[i]) / _tail(power, first) - 1) < WIDE.mpf(10) ** (2 - digits)


@pytest.mark.parametrize(("first", "after"), [(1, 2.0), (3, 40.0), (1000, 1500.0), (7, math.inf)])
def test_moments_of_a_block(first: int, after: float) -> None:
    mp = private_context(40)
    found = power_moments(mp, mp.mpf(2), mp.mpf("1.5"), first, after, 6)
    for i, moment in enumerate(found):
        q = 2 + WIDE.mpf("1.5") * i
        if math.isinf(after):
            exact = _tail(q, first)
        else:
            exact = WIDE.fsum((WIDE.mpf(first) / j) ** q for j in range(first, int(after)))
        # a difference of two tails, each of them at most 3000 times the block
        assert abs(WIDE.mpf(moment) - exact) < WIDE.mpf(10) ** -34 * exact


@pytest.mark.parametrize("digits", [20, 35])
@pytest.mark.parametrize("size", [1, 9])
def test_the_rule_of_legendre_to_all_digits(size: int, digits: int) -> None:
    mp = private_context(60)
    nodes, weights, defect = positive_rule(mp, [1 / mp.mpf(k + 1) for k in range(2 * size)], digits)
    assert len(nodes) == len(weights) == size and list(nodes) == sorted(nodes)
    for x, w in zip(nodes, weights, strict=True):
        z = 2 * mp.mpf(x) - 1
        assert abs(mp.legendre(size, z)) < mp.mpf(10) ** (1 - digits)
        slope = size * (z * mp.legendre(size, z) - mp.legendre(size - 1, z)) / (z**2 - 1)
        # half of 2/((1 - z^2) P'^2): the interval has length one
        assert abs(w * (1 - z**2) * slope**2 - 1) < mp.mpf(10) ** (2 - digits)
    truth = max(
        abs(mp.fsum(w * x**k for x, w in zip(nodes, weights, strict=True)) - 1 / mp.mpf(k + 1)) for k in range(2 * size)
    )
    # the defect is that of the numbers themselves, measured with five digits more than were asked for
    assert truth <= defect * 2 + mp.mpf(10) ** (-digits - 4) and defect < mp.mpf(10) ** (-digits - 3)


@pytest.mark.parametrize("moments", [[1.0, 0.5, 0.2, 0.1], [1.0, -0.5, 0.5, -0.4], [1.0, 0.5, 0.25, 0.125]])
def test_numbers_that_are_no_moments_are_refused(moments: list[float]) -> None:
    mp = private_context(30)
    # the second moment is at least the square of the first; nodes are positive; and one point has no rule of two
    with pytest.raises(ArithmeticError, match="not known well enough for 2 nodes"):
        positive_rule(mp, [mp.mpf(x) for x in moments], 20)


def test_nodes_beyond_one_are_refused() -> None:
    mp = private_context(30)
    with pytest.raises(ArithmeticError, match="not separated"):
        positive_rule(mp, [mp.mpf(2) ** k * (1 + mp.mpf(4) ** -k) for k in range(4)], 20)  # points 2 and 1/2
    exact = positive_rule(mp, [1 + mp.mpf(2) ** -k for k in range(4)], 20)[0]  # points 1 and 1/2
    assert [float(x) for x in exact] == pytest.approx([0.5, 1.0], rel=1e-15, abs=0.0)
