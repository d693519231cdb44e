"""The proof of the error of a short sum: it holds against forty digits, and it refutes sums that are wrong."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from fsl_num.compression import compress
from fsl_num.exponential_sums_digits import exponential_sum_digits
from fsl_num.gauss_rules import block_remainders, block_rules
from fsl_num.mode_errors import (
    SMALLEST,
    PowerLawSums,
    power_sums,
    sum_of_decays,
)
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


@pytest.mark.parametrize("problem", PROBLEMS[1:4] + PROBLEMS[5:7])
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


MP = mpmath.mp.clone()
MP.dps = 30


def test_sums_of_decays_of_all_sizes_at_all_times() -> None:
    rates = np.array([1.0, 0.3, 1e-3, 1e-9, 1e-17, 1e-30, 0.0])
    weights = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    t = np.concatenate([[-1.0], np.linspace(0.0, 5.0, 70), np.geomspace(6.0, 1e32, 90)])
    found = sum_of_decays(t, rates, weights)
    assert found.shape == (2, t.size)
    for k, row in enumerate(weights):
        for i in range(0, t.size, 7):
            exact = MP.fsum(w * MP.exp(-2 * MP.mpf(t[i]) * MP.mpf(r)) for r, w in zip(rates, row, strict=True))
            # 1e-18 for terms that are taken as constant; exponents up to 700 are rounded to 2^-53 each
            assert abs(found[k, i] - exact) <= 1e-15 * exact + 2.0**-53 * 700.0 * exact * k + 1e-300


@pytest.mark.parametrize(
    ("problem", "resolved"),
    [((0.5, 2.0, math.inf, 1e6), False), ((0.5, 2.0, 50.0, 1e6), True), ((1.0, 1.5, 1e9, 1e3), False)],
)
def test_the_sums_are_those_of_the_spectrum(problem: tuple[float, float, float, float], resolved: bool) -> None:
    sums = sums_of(*problem)
    assert sums.resolved is resolved and sums.has_tail is not resolved
    t = np.geomspace(1e-2, sums.end, 4)
    found = sums.values(t)
    for k, power in enumerate(sums.powers):
        for i, time in enumerate(t.tolist()):
            exact = exponential_sum_digits(power, time, sums.beta, sums.size, 1, 25)
            scaled = exact * MP.exp(2 * MP.mpf(sums.slowest) * MP.mpf(time))
            # the stated rounding, and that of the sum itself
            assert abs(float(found[k, i] / scaled - 1)) <= sums.rounding()[k] + 2.0**-52


def test_the_last_time_of_interest() -> None:
    assert sums_of(0.5, 2.0, math.inf, 1e6).end == 1e6
    # the slowest mode of a finite model: exp(-700) is below 1e-300
    finite = sums_of(0.5, 2.0, 100.0, math.inf)
    assert 2.0 * finite.end * finite.slowest == pytest.approx(700.0, rel=1e-12, abs=0.0) and math.exp(-700.0) < SMALLEST
    assert sums_of(0.5, 2.0, 100.0, 1e9).end == pytest.approx(finite.end, rel=1e-12, abs=0.0)
    assert sums_of(0.5, 2.0, 100.0, 1e5).end == 1e5
    # a power law falls below 1e-300 where t^-(p - 1)/beta does: p - 1 is the smaller of 2 beta - 1 = 3 and s beta = 6
    steep = sums_of(3.0, 2.0, math.inf, 1e290)
    assert math.log(steep.end) == pytest.approx(700.0 * 2.0 / 3.0, rel=1e-12, abs=0.0)
    assert steep.log_end == pytest.approx(math.log(steep.end), rel=1e-12, abs=0.0)
    assert exponential_sum_digits(4, steep.end, 2, math.inf, 1, 20) < SMALLEST
    # and no time is beyond the floats
    assert sums_of(0.01, 2.0, 1e300, math.inf).end < 1.8e308


@pytest.mark.parametrize("share", [2.0, 6.0])
def test_what_the_taylor_series_of_the_tail_leaves_out(share: float) -> None:
    sums = sums_of(0.5, 2.0, math.inf, 1e4)
    late = share * 1e4
    bound = sums.remainder(np.array([late]), np.array([late]))[:, 0]
    for k, power in enumerate(sums.powers):
        missed = MP.mpf(0)
        for j in range(int(sums.knee), 3 * int(sums.knee)):  # x^20 falls like j^-40
            x = 2 * MP.mpf(late) * MP.mpf(j) ** -2
            missed += MP.mpf(j) ** -power * abs(MP.exp(-x) - MP.fsum((-x) ** i / MP.factorial(i) for i in range(20)))
        # the bound takes each index as if it had the rate of the first, where x^20 is the largest: (p + 39)/(p - 1)
        assert missed <= bound[k] <= 2.5 * (power + 39.0) / (power - 1.0) * missed


def test_the_remainder_of_a_stretch_of_time_holds_at_every_time_of_it() -> None:
    sums = sums_of(0.5, 2.0, 3000.0, math.inf)
    low, high = 1e-3 * sums.end, 2e-3 * sums.end
    t = np.linspace(low, high, 9)
    remainders, whole = sums.remainder(t, t), sums.remainder(np.array([low]), np.array([high]))
    assert (remainders <= whole * (1.0 + 1e-12)).all()
    for k, power in enumerate(sums.powers):
        bound, rate = block_remainders(sums.edges, power, 2.0)
        for i in (0, 8):
            # the bound itself, scaled as the sums are
            with np.errstate(over="ignore", invalid="ignore"):
                plain = np.nan_to_num(bound * np.exp(-2.0 * t[i] * rate), nan=math.inf).min(axis=1).sum()
            assert remainders[k, i] == pytest.approx(plain * math.exp(2.0 * sums.slowest * t[i]), rel=1e-9, abs=0.0)


def test_integrals_that_diverge() -> None:
    for power in (2.5, 3.0):  # t^-(p - 1)/beta is integrable for p - 1 > beta alone
        assert math.isinf(PowerLawSums((4.0, power), 2.0, math.inf, 1e3).integral_after(power, 10.0))


def test_one_mode_is_proved_to_the_factor_between_points() -> None:
    """Without its decay the sum is the constant 1: a polynomial of degree 47 seen at 288 points, and the rounding."""
    sums = PowerLawSums((4.0, 2.0), 2.0, 1.0, 10.0)
    rates, weights = np.ones(1), np.ones((2, 1))
    exact = sums.panels.error(rates, weights)
    assert exact == pytest.approx(4.0 * sums.noise, rel=1e-6, abs=0.0)  # next to no remainder, 4 for interpolation
    wrong = sums.panels.error(rates, weights * (1.0 + 1e-6))
    assert wrong == pytest.approx(1e-6 / math.cos(0.5 * math.pi * 47.0 / 288.0) + exact, rel=1e-8, abs=0.0)


def test_sums_below_the_smallest_are_not_judged() -> None:
    sums = PowerLawSums((170.0, 1.6), 2.0, 50.0, math.inf)  # j^-170 is 1e-289 at the last index
    panels = sums.panels
    starts = np.concatenate([[0.0], panels.ends[:-1]])
    for k in range(2):
        with np.errstate(under="ignore"):
            logs = np.log(sums.values(starts)[k]) - 2.0 * sums.slowest * starts
        assert panels.seen[k].tolist() == (logs > math.log(SMALLEST)).tolist()
    assert not panels.seen[0].all() and panels.seen[1, :-1].all()
    panels.seen = np.zeros_like(panels.seen)  # and what is nowhere judged is nowhere wrong
    assert panels.error(np.ones(1), np.ones((2, 1))).tolist() == [0.0, 0.0]


def test_a_term_of_a_decay_counts_until_it_is_below_the_floats() -> None:
    # exp(-2 r t) at r t = 372 is about 6e-324, the last float before 0
    rates, weights = np.array([1.0]), np.array([[1e300]])
    for t in (350.0, 371.0, 372.0):
        exact = float(MP.exp(-2 * MP.mpf(t)))
        assert sum_of_decays(np.array([t]), rates, weights)[0, 0] == pytest.approx(1e300 * exact, rel=1e-12, abs=0.0)
    # a sum over no rates has no terms, and no time no sums
    assert sum_of_decays(np.array([1.0]), np.zeros(0), np.zeros((2, 0))).tolist() == [[0.0], [0.0]]
    assert sum_of_decays(np.zeros(0), rates, weights).shape == (1, 0)


@pytest.mark.parametrize(("beta", "size"), [(1.05, 1e6), (2.0, 1e4), (6.0, 1e12)])
def test_rates_above_the_slowest_keep_their_digits_near_the_last_index(beta: float, size: float) -> None:
    sums = sums_of(0.5, beta, size, math.inf)
    for x, excess in zip(sums.positions.tolist(), sums.excess.tolist(), strict=True):
        exact = MP.mpf(x) ** -MP.mpf(beta) - MP.mpf(size) ** -MP.mpf(beta)
        # the position is given; up to M/2 the slowest is at most 2^-beta of the rate, behind it the logarithm is exact
        assert abs(excess - exact) <= (4.0 + 2.0 * beta) * 2.0**-53 / (1.0 - 2.0**-beta) * abs(exact)
    assert sums.excess[-1] <= sums.excess.min() + 0.0 and (np.diff(sums.positions) > 0.0).all()


@pytest.mark.parametrize("time", [0.0, 3.0, 900.0])
def test_integrals_of_sums_with_many_blocks(time: float) -> None:
    for power, beta, size in ((4.0, 2.0, 1e9), (2.2, 1.5, 1e5), (2.2, 1.5, 40.0), (9.0, 4.0, math.inf)):
        sums = PowerLawSums((4.0, power), beta, size, 900.0)
        exact = exponential_sum_digits(power - beta, time, beta, size, 1, 25) / 2
        assert sums.integral_after(power, time) == pytest.approx(float(exact), rel=2e-14, abs=0.0)


def constant_sum() -> PowerLawSums:
    """One mode alone: without its decay the sum is 1 at all times."""
    return PowerLawSums((4.0, 2.0), 2.0, 1.0, 10.0)


@pytest.mark.parametrize("rate", [0.0, 0.5, 0.9])
def test_a_mode_slower_than_the_slowest_is_wrong_by_what_is_left_of_it(rate: float) -> None:
    sums = constant_sum()
    # exp(-2 r t) instead of exp(-2 t), worst at the end of time; 1/cos(pi 47/576) = 1.034 between the points
    worst = 0.5 * math.expm1(2.0 * (1.0 - rate) * sums.end)
    found = sums.panels.error(np.array([rate, 1.0]), np.full((2, 2), 0.5))
    assert (found >= worst).all() and (found <= 1.04 * worst).all() and sums.end == 10.0


def test_the_last_time_leaves_room_for_a_factor_e() -> None:
    log_end = sums_of(0.01, 2.0, 1e300, math.inf).log_end
    assert math.isfinite(math.exp(log_end + 1.0))
    with pytest.raises(OverflowError):
        math.exp(log_end + 2.0)
