"""The parts of which the proof of a short sum is made: sums, ellipses, panels and stated roundings."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from fsl_num.exponential_sums_digits import exponential_sum_digits
from fsl_num.gauss_rules import block_remainders
from fsl_num.mode_errors import (
    _BERNOULLI,
    SMALLEST,
    UNIT,
    PowerLawSums,
    _chebyshev,
    _least_real_part,
    sum_of_decays,
)

MP = mpmath.mp.clone()
MP.dps = 30


def sums_of(s: float, beta: float, size: float, horizon: float) -> PowerLawSums:
    """The power-law sums of the kernel and of the signal."""
    return PowerLawSums((2.0 * beta, 1.0 + s * beta), beta, size, horizon)


# Sums, points and ellipses


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


def test_points_interpolate_polynomials_and_their_constant_is_below_four() -> None:
    points, fine, matrix = _chebyshev()
    assert (np.diff(points) > 0.0).all() and (np.diff(fine) > 0.0).all() and len(fine) == 6 * len(points) == 288
    for degree in (0, 1, 13, 47):
        wanted = np.cos(degree * np.arccos(fine))
        assert np.abs(matrix @ np.cos(degree * np.arccos(points)) - wanted).max() < 1e-13  # rounding, 48 terms
    assert np.abs(np.cos(48.0 * np.arccos(points))).max() < 1e-12  # the points are the zeros of the next one
    lebesgue = np.abs(matrix).sum(axis=1).max()
    # (2/pi) (log 48 + gamma + log(8/pi)) = 3.43 at the ends
    assert 3.2 < lebesgue < 3.45 < 4.0


@pytest.mark.parametrize("high", [0.2, 1.0, 1.35])
def test_the_least_real_part_on_an_ellipse(high: float) -> None:
    wide = np.array([1e-3, 0.5, 1.7, 4.0])
    found = _least_real_part(wide, np.full(4, high))
    theta = np.linspace(0.0, math.pi, 20001)
    for a, bound in zip(wide, found, strict=True):
        values = np.exp(a * np.cos(theta)) * np.cos(high * np.sin(theta))
        # 200 arcs of length pi/200: exponent and angle are off by at most that times the half axes
        slack = math.pi / 200.0 * (a + high * math.tan(high))
        assert values.min() * (1.0 - 1.5 * slack) <= bound <= values.min()


# The sums themselves


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


def test_each_part_of_the_stated_rounding_counts() -> None:
    early, late = sums_of(0.5, 2.0, 20.0, 2000.0), sums_of(0.5, 2.0, 20.0, 4000.0)
    # the slowest mode has decayed like exp(-10) and exp(-20): its rate and its exponent are rounded once each
    assert (late.rounding() - early.rounding()) / UNIT == pytest.approx([20.0, 20.0], rel=1e-9, abs=0.0)
    flat, steep = sums_of(0.5, 2.0, math.inf, 10.0), sums_of(2.0, 2.0, math.inf, 10.0)
    assert flat.powers == (4.0, 2.0) and steep.powers == (4.0, 5.0)
    # 4 p and (p - 1)/beta more, p = 2 and 5
    assert ((steep.rounding() - flat.rounding()) / UNIT)[1] == pytest.approx(4.0 * 3.0 + 1.5, rel=1e-9, abs=0.0)
    assert ((steep.noise - flat.noise) / UNIT)[1] == pytest.approx(1.5, rel=1e-9, abs=0.0)
    # each of the two evaluations has 8 units of its own, and without decay there is nothing else
    assert flat.noise / UNIT == pytest.approx([9.5, 8.5], rel=1e-9, abs=0.0)
    assert (flat.rounding() - flat.noise) / UNIT == pytest.approx([24.0, 16.0], rel=1e-9, abs=0.0)


def test_the_numbers_of_euler_maclaurin_are_those_of_bernoulli() -> None:
    assert len(_BERNOULLI) == 10
    for k, number in enumerate(_BERNOULLI, start=1):
        assert number == pytest.approx(float(MP.bernoulli(2 * k)), rel=1e-15, abs=0.0)


@pytest.mark.parametrize("size", [math.inf, 1e9])
def test_one_by_one_are_kept_all_indices_that_decay(size: float) -> None:
    """The indices behind the knee have 2 lambda T <= 1, and the one before it has more."""
    sums = sums_of(0.5, 2.0, size, 1e6)
    assert 2e6 * sums.knee**-2.0 <= 1.0 < 2e6 * (sums.knee - 1.0) ** -2.0
    assert sums.edges[0] == 1.0 and sums.edges[-1] == sums.knee and sums.counts.sum() == pytest.approx(sums.knee - 1.0)
    assert sums_of(0.5, 2.0, size, 1e-3).knee == 17.0  # and never fewer than a Gauss rule has
    # a model of a few indices more than that is kept whole
    assert sums_of(0.5, 2.0, 29.0, 1e-3).resolved and not sums_of(0.5, 2.0, 30.0, 1e-3).resolved
    assert sums_of(0.5, 2.0, 29.0, 1e-3).knee == 30.0


def test_blocks_are_finer_where_the_last_index_rules() -> None:
    geometric = 0.4  # the length of a block in log j for beta = 2
    early = sums_of(0.5, 2.0, 1e4, 0.5e8)  # the last index has decayed like exp(-1)
    assert early.resolved and len(early.edges) <= math.ceil(math.log(1e4) / geometric) + 2
    for size in (1e3, 1e6):
        late = sums_of(0.5, 2.0, size, math.inf)  # and now like exp(-700)
        assert late.resolved and late.edges[-1] == size + 1.0 and late.edges[0] == 1.0
        lengths = np.diff(late.edges)
        # within a block the slowest decay changes by e^4 at most, beta u (length/M) = 4, or its indices are few
        assert lengths[-1] <= max(4.0 * size / (2.0 * 700.0), 16.0) + 1.0
        assert lengths[-1] >= 0.4 * min(4.0 * size / (2.0 * 700.0), 16.0)
        # towards M they halve, so that no block is much longer than the way that is left
        left = size - late.edges[1:-1]
        near = late.edges[1:-1] > size * math.exp(-geometric)
        assert (lengths[:-1][near] <= 1.0 + left[near] + 1.0).all()
        assert (lengths / late.edges[:-1] <= math.expm1(geometric) + 1.0 / late.edges[:-1]).all()


def test_the_remainder_of_a_stretch_of_time_holds_at_every_time_of_it() -> None:
    sums = sums_of(0.5, 2.0, 3000.0, math.inf)
    low, high = 1e-3 * sums.end, 2e-3 * sums.end
    t = np.linspace(low, high, 9)
    each, whole = sums.remainder(t, t), sums.remainder(np.array([low]), np.array([high]))
    assert (each <= whole * (1.0 + 1e-12)).all()
    for k, power in enumerate(sums.powers):
        bound, rate = block_remainders(sums.edges, power, 2.0)
        for i in (0, 8):
            # the bound itself, scaled as the sums are
            with np.errstate(over="ignore", invalid="ignore"):
                plain = np.nan_to_num(bound * np.exp(-2.0 * t[i] * rate), nan=math.inf).min(axis=1).sum()
            assert each[k, i] == pytest.approx(plain * math.exp(2.0 * sums.slowest * t[i]), rel=1e-9, abs=0.0)


@pytest.mark.parametrize(("power", "beta", "size"), [(4.0, 2.0, math.inf), (3.25, 2.0, math.inf), (2.5, 2.0, 50.0)])
def test_integrals_after_a_time(power: float, beta: float, size: float) -> None:
    sums = PowerLawSums((4.0, power), beta, size, 1e3)
    for time in (0.0, 1.0, sums.end):
        exact = exponential_sum_digits(power - beta, time, beta, size, 1, 25) / 2
        assert sums.integral_after(power, time) == pytest.approx(float(exact), rel=1e-14, abs=0.0)
    assert sums.integral_after(power, sums.end * 1.001) == 0.0


def test_integrals_that_diverge() -> None:
    for power in (2.5, 3.0):  # t^-(p - 1)/beta is integrable for p - 1 > beta alone
        assert math.isinf(PowerLawSums((4.0, power), 2.0, math.inf, 1e3).integral_after(power, 10.0))


# Panels


@pytest.mark.parametrize("problem", [(0.5, 2.0, math.inf, 1e8), (0.7, 1.5, 30.0, math.inf), (3.0, 4.0, 1e6, 1e5)])
def test_panels_have_the_geometry_of_the_theorem(problem: tuple[float, float, float, float]) -> None:
    sums = sums_of(*problem)
    panels = sums.panels
    points = panels.times[:, 1:]
    assert (
        points[0, 0] > 0.0 and panels.ends[0] == 0.25 and panels.ends[-1] == pytest.approx(sums.end, rel=1e-12, abs=0.0)
    )
    assert (np.diff(panels.ends) > 0.0).all()
    half = 0.5 * np.diff(np.log(panels.ends))
    for k, share in enumerate(panels.share.tolist()):
        # with p = 47 the interpolant of T_48/rho^48, T_49/rho^49, ... is off by twice their sum, of size 2/rho^n each
        h = 1.0 if k == 0 else half[k - 1]
        high = 1.35 if k else None
        axis = 9.0 if k == 0 else math.hypot(h, 1.35) / h  # real half axis of the ellipse in units of the panel
        rho = MP.mpf(axis) + MP.sqrt(MP.mpf(axis) ** 2 - 1)
        if high is not None:
            assert h * float(rho - 1 / rho) / 2.0 == pytest.approx(high, rel=1e-12, abs=0.0) and high < math.pi / 2.0
            assert panels.wide[k] == pytest.approx(h * float(rho + 1 / rho) / 2.0, rel=1e-12, abs=0.0)
        else:  # in t itself, up to -1 on the left of [0, 1/4]
            assert 0.125 - 0.125 * axis == -1.0 == panels.times[0, 0]
        theorem = 2 * MP.nsum(lambda n, r=rho: 2 * r**-n, [48, MP.inf])
        # the half length is a difference of logarithms, of which the 48th power is taken
        assert share == pytest.approx(float(theorem), rel=1e-6, abs=0.0)
    for k, h in enumerate(half, start=1):
        y = np.log(panels.ends[k]) - h + h * np.cos(math.pi * (np.arange(48) + 0.5) / 48)[::-1]
        assert points[k] == pytest.approx(np.exp(y), rel=1e-12, abs=0.0)
        theta = np.linspace(0.0, math.pi, 20001)
        z = np.exp(np.log(panels.ends[k]) - h + panels.wide[k] * np.cos(theta) + 1.35j * np.sin(theta))
        # 200 arcs: the least real part is met to the part that the slope on an arc allows
        assert 0.8 * z.real.min() <= panels.times[k, 0] <= z.real.min()


@pytest.mark.parametrize("problem", [(0.5, 2.0, math.inf, 1e8), (0.7, 1.5, 30.0, math.inf), (3.0, 4.0, 1e6, 1e5)])
def test_panels_know_the_sums_on_them(problem: tuple[float, float, float, float]) -> None:
    sums = sums_of(*problem)
    panels = sums.panels
    starts = np.concatenate([[0.0], panels.ends[:-1]])
    for k, (low, high) in enumerate(zip(starts, panels.ends, strict=True)):
        t = np.linspace(low, high, 4001) if k == 0 else np.geomspace(low, high, 4001)
        values = sums.values(t)
        at_points = sums.values(panels.times[k, 1:])
        assert panels.values[:, k, 1:] == pytest.approx(at_points, rel=1e-13, abs=0.0)
        y = np.zeros_like(t) if k == 0 else np.log(t) - 0.5 * (math.log(low) + math.log(high))
        flat = values * np.exp(panels.slopes[:, k, None] * y)
        if k > 0:  # the slope makes the ends equal; 1e-9: rounding of logarithms
            assert flat[:, 0] == pytest.approx(flat[:, -1], rel=1e-9, abs=0.0)
        # between points 1/48 of the panel apart the sum may be a little lower or higher
        assert (panels.least[:, k] <= flat.min(axis=1) * (1.0 + 1e-12)).all()
        assert (panels.least[:, k] >= 0.9 * flat.min(axis=1)).all()
        assert (panels.largest[:, k] <= flat.max(axis=1) * (1.0 + 1e-9)).all()
        assert (panels.largest[:, k] >= 0.99 * flat.max(axis=1)).all()
        # on a panel no sum changes by much more than e^4
        assert (values[:, 0] / values[:, -1] < math.exp(5.0)).all()
        # at the left end of the first ellipse the sum is at most e^2 times that at 0
        outer = panels.values[:, k, 0]
        truth = sums.values(panels.times[k, :1])[:, 0]
        assert (truth <= outer * (1.0 + 1e-12)).all() and (outer <= (7.4 if k == 0 else 1.0 + 1e-9) * truth).all()
        real = np.log(values[:, 0]) - 2.0 * sums.slowest * low
        assert panels.seen[:, k].tolist() == (real > math.log(SMALLEST)).tolist()


def test_slow_sums_have_panels_of_the_longest_kind() -> None:
    # a signal t^-0.05 and a kernel t^-0.25 alone fall by 0.5 on a panel of length 2: the length decides
    sums = PowerLawSums((1.25, 1.05), 1.0, math.inf, 1e30)
    half = 0.5 * np.diff(np.log(sums.panels.ends))
    assert len(half) == math.ceil(math.log(4e30) / 2.0) and (half <= 1.0).all() and half[3:].min() > 0.95
    # a kernel t^-5.5 falls by e^4 within 0.73: so many panels and not many more
    steep = PowerLawSums((12.0, 12.0), 2.0, math.inf, 1e20)
    length = np.diff(np.log(steep.panels.ends))
    assert 0.6 < np.median(length) < 4.0 / 5.5


def test_no_proof_is_better_than_the_rounding_it_states() -> None:
    """The sum itself: what is left is the stated rounding, raised by interpolation and by the unevenness of a panel."""
    lebesgue = np.abs(_chebyshev()[2]).sum(axis=1).max()
    for problem in ((0.5, 2.0, 20.0, 2000.0), (0.5, 2.0, 400.0, 1e4)):
        sums = sums_of(*problem)
        error = sums.panels.error(sums.slowest + sums.excess, sums.weights) if sums.resolved else None
        if error is not None:
            assert (error >= lebesgue * sums.noise).all() and (error <= 4.0 * 4.0 * sums.noise).all()


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
