"""The proof of the error of a short sum: it holds against forty digits, and it refutes sums that are wrong."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from fsl_num.compression import compress
from fsl_num.exponential_sums_digits import exponential_sum_digits
from fsl_num.gauss_rules import block_remainders, block_rules
from fsl_num.mode_errors import PowerLawSums, power_sums
from fsl_num.validation import Array

PROBLEMS = [
    (0.5, 2.0, math.inf, 1e12),
    (3.0, 1.05, 1e30, 1e9),
    (3.0, 6.0, math.inf, 1e12),
    (0.05, 1.05, 1e6, math.inf),
    (2.0, 4.0, 1000.0, math.inf),
    (1.0, 3.0, 1e16, 1e50),
    (0.3, 1.5, 50.0, 7.0),
    (0.3, 1.5, 1e5, 1e-3),
]


def sums_of(s: float, beta: float, size: float, horizon: float) -> PowerLawSums:
    """The power-law sums of the kernel and of the signal."""
    return PowerLawSums((2.0 * beta, 1.0 + s * beta), beta, size, horizon)


def largest_error(sums: PowerLawSums, rates: Array, weights: Array, times: list[float]) -> Array:
    """The largest relative error of both sums at some times, by 40 digits on both sides: no rounding in it."""
    mp = mpmath.mp.clone()
    mp.dps = 40
    found = np.zeros(2)
    for t in times:
        for k, power in enumerate(sums.powers):
            short = mp.fsum(
                mp.mpf(w) * mp.exp(-2 * mp.mpf(t) * mp.mpf(r)) for w, r in zip(weights[k], rates, strict=True)
            )
            full = exponential_sum_digits(power, t, sums.beta, sums.size, 1, 40)
            if full > 1e-300:
                found[k] = max(found[k], abs(float(short / full - 1)))
    return found


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_bound_holds_against_forty_digits(problem: tuple[float, float, float, float]) -> None:
    s, beta, size, horizon = problem
    modes, sums = compress(s, beta, size, horizon), sums_of(*problem)
    weights = np.stack([modes.kernel_weights, modes.signal_weights])
    end = min(sums.end, 300.0 * size**beta)
    times = [0.0, *(float(x) for x in np.geomspace(min(0.01, 0.1 * end), end, 5))]
    bound = sums.error(modes.rates, weights)
    assert modes.error == bound.max()
    assert (largest_error(sums, modes.rates, weights, times) <= bound).all()  # measured: at most 0.8 of it


def test_the_last_index_counts_where_the_next_one_is_no_float() -> None:
    # Of the 2^53 terms only about M/(beta u) = 2.5e12 are left at u = 600, so that one of them is a part 4e-13.
    beta, size = 6.0, 2.0**53
    modes, t = compress(0.05, beta, size), 300.0 * size**6
    full = exponential_sum_digits(1.0 + 0.05 * beta, t, beta, size, 1, 40)
    assert full > 1e-300 and abs(float(modes.signal(t) / full - 1)) <= modes.error < 3e-13


@pytest.mark.parametrize("problem", PROBLEMS[:5])
def test_the_bound_refutes_a_missing_mode_and_a_wrong_weight(problem: tuple[float, float, float, float]) -> None:
    s, beta, size, horizon = problem
    modes, sums = compress(s, beta, size, horizon), sums_of(*problem)
    weights = np.stack([modes.kernel_weights, modes.signal_weights])
    shares = (weights / weights.sum(axis=1)[:, None]).max(axis=0)
    for k in (0, len(modes.rates) // 2):
        fewer = np.delete(weights, k, axis=1)
        # At t = 0 the sum lacks the share of the mode; at its own time that is a good part of it, where that is seen.
        assert sums.error(np.delete(modes.rates, k), fewer).max() >= shares[k]
        assert sums.error(np.delete(modes.rates, k), fewer).max() > 100.0 * modes.error
        wrong = weights.copy()
        wrong[:, k] *= 1.0 + 1e-6
        assert sums.error(modes.rates, wrong).max() > 3.0 * modes.error
    # The bound is no larger than what is there: a common factor is its own relative error, and up to 1/cos(pi 47/576)
    # and the unevenness of a panel, which it is made to keep below 2.5, is added.
    assert 1e-6 <= sums.error(modes.rates, weights * (1.0 + 1e-6)).max() <= 2.8e-6


def test_the_bound_refutes_a_sum_that_is_right_on_a_grid_only() -> None:
    """Weights that fit ten times to rounding but not the times between: a check on those ten would accept them."""
    from scipy.optimize import nnls

    sums = sums_of(0.5, 2.0, math.inf, 1e4)
    grid = np.geomspace(0.1, 1e4, 10)
    rates = np.geomspace(1.0, 1e-6, 60)
    weights = np.zeros((2, 60))
    for k, power in enumerate(sums.powers):
        full = np.array([float(exponential_sum_digits(power, t, 2.0, math.inf, 1, 30)) for t in grid])
        table = np.exp(-2.0 * np.multiply.outer(grid, rates)) / full[:, None]
        weights[k] = nnls(table, np.ones(10))[0]
        assert np.abs(table @ weights[k] - 1.0).max() < 1e-8
    between = [float(t) for t in np.sqrt(grid[1:] * grid[:-1])]
    true = largest_error(sums, rates, weights, between)
    bound = sums.error(rates, weights)
    assert (true > 1e-5).all() and (bound >= true).all()


def test_the_bound_holds_at_every_time_between_its_own() -> None:
    """A slow signal is nearly constant on a panel, so that the bound has next to no slack: 1/cos(47 pi/576) = 1.034."""
    sums = sums_of(0.05, 2.0, math.inf, 100.0)
    modes = compress(0.05, 2.0, math.inf, 100.0)
    weights = np.stack([modes.kernel_weights, modes.signal_weights])
    t = np.concatenate([np.linspace(0.0, 0.25, 500), np.geomspace(0.25, 100.0, 2000)])
    full = modes.signal(t)
    for k in range(0, len(modes.rates) - 1, 2):
        wrong = weights.copy()
        # two neighbours changed against each other: the difference vanishes at 0 and peaks somewhere
        wrong[1, k] *= 1.0 + 1e-4
        wrong[1, k + 1] = max(0.0, wrong[1, k + 1] - 1e-4 * weights[1, k])
        difference = np.abs(np.exp(-2.0 * np.multiply.outer(t, modes.rates)) @ (wrong - weights)[1]) / full
        bound = sums.error(modes.rates, wrong)[1]
        # 1e-12: the modes themselves and the rounding of both sides
        assert difference.max() - 1e-12 <= bound <= 1.25 * difference.max() + 1e-12


def test_slower_modes_than_the_slowest_are_judged_too() -> None:
    sums = sums_of(0.5, 2.0, 20.0, 2000.0)
    rates, weights = sums.slowest + sums.excess, sums.weights
    # Every mode of its own, so rounding alone, in units of 2^-53: 8 + 4 p + 2 u = 44 at u = 10, 10 for the evaluation
    # and 4 times 10 for that of the proof, raised by a panel's unevenness of at most 2.5: 150 units, 1.7e-14.
    assert (sums.error(rates, weights) < 1.7e-14).all()
    slower = rates * (1.0 - 1e-9)
    # the slowest one has decayed like exp(-10) at the end: 1e-8 more is left of it, and a factor 2.8 as above
    assert (1e-8 <= sums.error(slower, weights)).all() and (sums.error(slower, weights) < 2.8e-8).all()
    with_constant = np.append(rates, 0.0), np.append(weights, [[1.0], [1.0]], axis=1)
    endless = sums_of(0.5, 2.0, 20.0, math.inf)
    assert (endless.error(*with_constant) > 1e100).all()


@pytest.mark.parametrize(("power", "beta"), [(1.0525, 1.05), (4.0, 2.0), (7.0, 2.0), (12.0, 6.0), (19.0, 6.0)])
def test_block_remainders_bound_what_a_block_misses(power: float, beta: float) -> None:
    mp = mpmath.mp.clone()
    mp.dps = 60
    first, last = 40, 95  # longer than the blocks in use, so that the error stands out from the rounding of the rule
    edges = np.array([float(first), last + 1.0])
    x, w = block_rules(edges)
    bound, rate = block_remainders(edges, power, beta)
    for decay in (0.0, 1.0, 30.0):
        t = mp.mpf(decay) * first**beta / 2
        full = mp.fsum(mp.mpf(j) ** -power * mp.exp(-2 * t * mp.mpf(j) ** -beta) for j in range(first, last + 1))
        rule = mp.fsum(
            mp.mpf(c) * mp.mpf(y) ** -power * mp.exp(-2 * t * mp.mpf(y) ** -beta) for y, c in zip(x, w, strict=True)
        )
        with np.errstate(over="ignore"):  # an ellipse that leaves the sector where the exponential decays
            proved = float((bound[0] * np.exp(-2.0 * float(t) * rate[0])).min())
        rounding = 2.0**-53 * (4.0 * power + 4.0 * decay * beta + 8.0) * float(full)  # of positions and weights
        assert abs(float(rule - full)) <= proved + rounding


def test_remainders_are_negligible_with_the_blocks_in_use() -> None:
    for problem in PROBLEMS:
        panels = sums_of(*problem).panels
        assert np.where(panels.seen, panels.remainder, 0.0).max() < 2.0**-53


@pytest.mark.parametrize("first", [1.0, 17.0, 500.0, 1e6])
@pytest.mark.parametrize("last", [3.0, 600.0, 1e7, 1e30, math.inf])
def test_sums_of_powers(first: float, last: float) -> None:
    powers = np.array([-2.5, 0.0, 1.0 - 1e-14, 1.0, 1.0525, 2.0, 7.0, 40.0, 130.0])
    powers = powers[powers > 1.0] if math.isinf(last) else powers
    if last < first:
        return
    mp = mpmath.mp.clone()
    mp.dps = 50

    def zeta(q: float, a: float) -> mpmath.mpf:
        """The sum of j^-q from a on, continued to q < 1: for large a by its own asymptotic series."""
        big = max(int(a), 400)
        direct = mp.fsum(mp.mpf(j) ** -q for j in range(int(a), big)) if a < 400 else mp.mpf(0)
        q_, x = mp.mpf(q), mp.mpf(big) if a < 400 else mp.mpf(int(a))
        series = [
            mp.bernoulli(2 * k) / mp.factorial(2 * k) * mp.rf(q_, 2 * k - 1) * x ** (1 - 2 * k) for k in range(1, 40)
        ]
        return direct + x**-q_ * (x / (q_ - 1) + mp.mpf(1) / 2 + mp.fsum(series))

    for q, found in zip(powers, power_sums(powers, first, last), strict=True):
        if q == 1.0:
            expected = (mp.digamma(mp.mpf(int(last)) + 1) - mp.digamma(mp.mpf(int(first)))) * first
        else:
            expected = (zeta(q, first) - (0 if math.isinf(last) else zeta(q, last + 1.0))) * mp.mpf(first) ** mp.mpf(q)
        # 2^-53 for each of the logarithm of last/first times the power, of the power itself, and a few additions
        log_size = math.log(last / first) if math.isfinite(last) else 0.0
        allowed = 2.0**-53 * (20.0 + 2.0 * abs(q) + 2.0 * max(0.0, 1.0 - q) * log_size)
        assert abs(float(found / expected - 1)) <= allowed
