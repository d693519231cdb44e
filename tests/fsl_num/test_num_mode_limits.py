"""Where each rule of the proof of a short sum begins and ends: direct sums, knee, blocks, panels, outer ellipses."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

from fsl_num import mode_errors
from fsl_num.exponential_sums_digits import exponential_sum_digits
from fsl_num.mode_errors import PowerLawSums, _chebyshev, _least_real_part, _Panels, power_sums, sum_of_decays
from fsl_num.validation import Array

MP = mpmath.mp.clone()
MP.dps = 40


def sums_of(s: float, beta: float, size: float, horizon: float) -> PowerLawSums:
    """The power-law sums of the kernel and of the signal."""
    return PowerLawSums((2.0 * beta, 1.0 + s * beta), beta, size, horizon)


# Sums of powers and of decays


@pytest.mark.parametrize("first", [1.0, 5.0, 33.0, 34.0, 35.0])
@pytest.mark.parametrize("more", [0.0, 1.0, 2.0, 29.0, 30.0, 31.0, 40.0])
def test_sums_of_powers_that_end_about_where_the_direct_terms_do(first: float, more: float) -> None:
    """For a largest power 2 the terms up to 33 are summed as they stand; 40 indices behind any first one."""
    powers, last = np.array([-2.0, 0.0, 1.0, 2.0]), first + more
    j = [MP.mpf(k) for k in range(int(first), int(last) + 1)]
    for q, found in zip(powers.tolist(), power_sums(powers, first, last), strict=True):
        exact = MP.fsum((each / j[0]) ** -MP.mpf(q) for each in j)
        # 2^-53 for each of 40 terms at most, and for the difference of two powers of the last index
        assert abs(found - exact) <= 64.0 * 2.0**-53 * exact


@pytest.mark.parametrize("largest", [0.5, 2.0, 41.0])
def test_terms_are_summed_directly_up_to_twice_the_largest_power_and_thirty(
    monkeypatch: pytest.MonkeyPatch, largest: float
) -> None:
    asked = []
    plain = np.arange

    def arange(*bounds: Any) -> Array:
        asked.append(bounds)
        return np.asarray(plain(*bounds))

    monkeypatch.setattr(mode_errors.np, "arange", arange)
    power_sums(np.array([0.3, -largest]), 3.0, 1e5)
    power_sums(np.array([largest]), 200.0, 1e5)
    # at 200 all powers are small enough for the series at once
    assert asked == [(3.0, 2.0 * largest + 30.0)]


def test_powers_of_two_at_infinity_and_at_one_end() -> None:
    # psi'(x) is the sum of (x + k)^-2 from the index x on
    for first in (1.0, 34.0, 1000.0):
        found = power_sums(np.array([2.0]), first, math.inf)[0]
        assert found == pytest.approx(float(MP.psi(1, first) * first**2), rel=4e-16 * 30.0, abs=0.0)


def test_a_term_of_a_decay_counts_until_it_is_below_the_floats() -> None:
    # exp(-2 r t) at r t = 372 is about 6e-324, the last float before 0
    rates, weights = np.array([1.0]), np.array([[1e300]])
    for t in (350.0, 371.0, 372.0):
        exact = float(MP.exp(-2 * MP.mpf(t)))
        assert sum_of_decays(np.array([t]), rates, weights)[0, 0] == pytest.approx(1e300 * exact, rel=1e-12, abs=0.0)
    # a sum over no rates has no terms, and no time no sums
    assert sum_of_decays(np.array([1.0]), np.zeros(0), np.zeros((2, 0))).tolist() == [[0.0], [0.0]]
    assert sum_of_decays(np.zeros(0), rates, weights).shape == (1, 0)


@pytest.mark.parametrize(("count", "step"), [(5, 64), (100, 10), (400, 2), (2000, 1)])
def test_tables_of_decays_are_made_in_parts(monkeypatch: pytest.MonkeyPatch, count: int, step: int) -> None:
    """Of 64 times at most, and of as many as a table may hold; of one where even that is too many."""
    shapes: list[tuple[int, ...]] = []
    plain = np.exp

    def exp(x: Array) -> Array:
        shapes.append(np.shape(x))
        return np.asarray(plain(x))

    monkeypatch.setattr(mode_errors, "_CHUNK", 1000)
    monkeypatch.setattr(mode_errors.np, "exp", exp)
    t, rates = np.linspace(1.0, 2.0, 130), np.linspace(0.1, 1.0, count)
    found = sum_of_decays(t, rates, np.ones((1, count)))
    assert shapes == [(count, min(step, 130 - low)) for low in range(0, 130, step)]
    assert found[0, [0, 129]] == pytest.approx(
        [math.fsum(plain(-2.0 * rates * each)) for each in (1.0, 2.0)], rel=1e-14
    )


@pytest.mark.parametrize("high", [0.3, 1.0, 1.35])
@pytest.mark.parametrize("wide", [0.4, 1.7])
def test_the_bound_on_an_ellipse_is_as_close_as_two_hundred_arcs_make_it(wide: float, high: float) -> None:
    """With half as many arcs the bound would be twice as far below the truth: the distance is that of one arc."""
    theta = np.linspace(0.0, math.pi, 400_001)
    values = np.exp(wide * np.cos(theta)) * np.cos(high * np.sin(theta))
    place = theta[values.argmin()]
    # the cosines of one arc are taken at its far end and the sines at its higher one: the change of one factor
    slope = abs(wide * math.sin(place)) + abs(high * math.tan(high * math.sin(place)) * math.cos(place))
    bound = _least_real_part(np.array([wide]), np.array([high]))[0]
    gap = math.log(values.min() / bound)
    assert 0.0 <= gap <= 1.02 * slope * math.pi / 200.0 + 0.5 * (wide + 8.0 * high) * (math.pi / 200.0) ** 2


# The knee and the blocks


def test_the_last_time_leaves_room_for_a_factor_e() -> None:
    log_end = sums_of(0.01, 2.0, 1e300, math.inf).log_end
    assert math.isfinite(math.exp(log_end + 1.0))
    with pytest.raises(OverflowError):
        math.exp(log_end + 2.0)


@pytest.mark.parametrize("beta", [1.5, 2.0, 6.0])
def test_a_model_of_twelve_indices_more_than_decay_is_kept_whole(beta: float) -> None:
    horizon = 0.5 * 100.5**beta  # the index 100.5 has 2 lambda T = 1
    for size, whole in ((100.0, True), (101.0, True), (112.0, True), (113.0, False), (1e9, False)):
        sums = sums_of(0.5, beta, size, horizon)
        assert sums.resolved is whole and sums.has_tail is not whole
        assert sums.knee == (size + 1.0 if whole else 101.0)
        assert sums.slowest == (size**-beta if whole else 0.0)


@pytest.mark.parametrize(
    ("power", "beta", "length"),
    # 0.4 for moderate exponents; the rates change by beta and the terms by p for each unit of log j
    [(4.0, 2.0, 0.4), (4.0, 1.2, 0.4), (8.0, 2.0, 0.4), (4.0, 5.0, 0.16), (32.0, 2.0, 0.1), (16.0, 5.0, 0.16)],
)
def test_blocks_are_shorter_for_steep_sums(power: float, beta: float, length: float) -> None:
    sums = PowerLawSums((2.5, power), beta, math.inf, 0.5 * 1e6**beta)
    assert sums.block_length == pytest.approx(length, rel=1e-15, abs=0.0)
    steps = np.diff(np.log(sums.edges))
    # each edge is rounded up to an index
    assert np.abs(steps[:-1] - length).max() > 0.0 and len(sums.edges) <= math.log(1e6) / length + 2.0
    far = sums.edges[:-2] > 1e3
    assert np.abs(steps[:-1][far] - length).max() < 2e-3
    assert sums.edges[-1] == pytest.approx(1e6, abs=1.0) and steps[-1] <= length + 1e-5


@pytest.mark.parametrize(
    ("size", "decay", "halvings"),
    # from M (1 - exp(-0.4)) on the way to M is halved, as long as the decay over it exceeds e^2, or the first time
    # that it is more than 8 indices: M 0.33/2^k > 2 M/(2 u) or 8
    [(1e4, 1.5, 0), (1e4, 6.2, 2), (1e6, 30.0, 4), (1e5, 700.0, 8), (60.0, 700.0, 2)],
)
def test_blocks_halve_towards_the_last_index_as_its_decay_asks(size: float, decay: float, halvings: int) -> None:
    sums = sums_of(0.5, 2.0, size, 0.5 * decay * size**2)
    assert sums.edges[0] == 1.0 and sums.edges[-1] == size + 1.0 and (np.diff(sums.edges) >= 1.0).all()
    geometric = {math.ceil(math.exp(0.4 * k)) for k in range(1, 60)}
    ways = [size * (1.0 - math.exp(-0.4)) / 2.0**k for k in range(halvings)]
    wanted = {1.0, size + 1.0} | {math.floor(size - way) + 1.0 for way in ways}
    wanted |= {edge for edge in geometric if 1 < edge < size + 1.0}
    assert sums.edges.tolist() == sorted(wanted)


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


def test_the_tail_is_a_taylor_series_of_twenty_terms() -> None:
    """What it leaves out grows with the twentieth power of time, and is 1/20! of the tail where 2 lambda T = 1."""
    sums = sums_of(0.5, 2.0, math.inf, 1e4)
    late = np.array([0.5 * sums.knee**2.0, 6e4, 12e4])
    at_knee, early, later = sums.remainder(late, late).T
    assert sums.moments.shape == (2, 20) and 1.0 / math.factorial(20) < mode_errors.UNIT / 8.0
    assert later / early == pytest.approx([2.0**20] * 2, rel=1e-6, abs=0.0)
    tails = [float(MP.zeta(power) - MP.fsum(MP.mpf(j) ** -power for j in range(1, int(sums.knee)))) for power in (4, 2)]
    assert early == pytest.approx(
        [tail * (12e4 / sums.knee**2) ** 20 / math.factorial(20) for tail in tails], rel=1e-6, abs=0.0
    )
    assert (at_knee >= np.array(tails) / math.factorial(20)).all()


# Panels


def panels_of(log_sum: Callable[[Array], Array], first: float, last: float) -> tuple[Array, list[Array]]:
    """The logs of the edges of panels for a sum whose log is a function of that of time, and where it was asked."""
    asked: list[Array] = []

    def values(t: Array) -> Array:
        asked.append(np.log(t))
        return np.exp(log_sum(np.log(t)))[None]

    panels = object.__new__(_Panels)
    panels.sums = SimpleNamespace(log_end=last, values=values)  # type: ignore[assignment]
    return panels._log_edges(first), asked


@pytest.mark.parametrize(
    ("power", "wanted"),
    # at most 2 long in log t, and a fall by e^4 at most
    [(0.0, 10.0), (1.0, 10.0), (1.99, 10.0), (3.0, 15.0), (40.0, 200.0)],
)
def test_panels_of_a_power_of_time_are_equal(power: float, wanted: float) -> None:
    edges, asked = panels_of(lambda y: -power * y, -3.0, 16.99)
    assert edges[0] == -3.0 and edges[-1] == pytest.approx(16.99, rel=1e-15, abs=0.0)
    assert len(edges) - 1 == math.ceil(0.9995 * wanted)
    # the bends of a straight line are rounding, of which the square root is taken: 1e-7
    assert np.diff(edges) == pytest.approx(np.full(len(edges) - 1, 19.99 / (len(edges) - 1)), rel=1e-6, abs=0.0)
    # the sums are looked at four times for each unit of log t, and at both ends
    (grid,) = asked
    assert len(grid) == 83 and grid[0] == pytest.approx(-3.0) and grid[-1] == pytest.approx(16.99)


def test_panels_are_shorter_where_the_slope_changes() -> None:
    """A sum exp(-8 y^2): slope 16 y, second derivative 16; 4 y panels for each unit by the one, 2 by the other."""
    edges, _ = panels_of(lambda y: -8.0 * y**2, 0.0, 3.0)
    # the integral of max(4 y, 2) over [0, 3]: 1 + 2 (9 - 1/4) = 18.5
    assert len(edges) - 1 == 19
    middle = 0.5 * (edges[1:] + edges[:-1])
    assert 1.0 / np.diff(edges) == pytest.approx(np.maximum(4.0 * middle, 2.0) * 19.0 / 18.5, rel=0.06)
    assert edges[0] == 0.0 and edges[-1] == pytest.approx(3.0, rel=1e-12)


@pytest.mark.parametrize("place", [-0.9, -0.55, 0.05, 3.54, 3.8])
def test_a_kink_is_seen_by_the_panels_on_both_sides_of_it(place: float) -> None:
    """A sum that is constant and then t^-1: within a quarter of the kink the panels are shorter."""
    edges, asked = panels_of(lambda y: -np.maximum(y - place, 0.0), -1.0, 4.0)
    step = asked[0][1] - asked[0][0]
    bends = np.abs(np.diff(np.diff(np.maximum(asked[0] - place, 0.0))))
    # the quarter of 0.5 sqrt(bend) is more than that of a long panel, on the two or three intervals next to the kink
    lengths = np.full(len(asked[0]) - 1, 0.5 * step)
    for node, bend in enumerate(bends.tolist()):
        for interval in (node, node + 1):
            lengths[interval] = max(lengths[interval], 0.5 * math.sqrt(bend))
    assert len(edges) - 1 == math.ceil(lengths.sum()) and lengths.sum() > 2.52
    passed = np.concatenate([[0.0], np.cumsum(lengths)])
    at_edges = np.interp(edges, asked[0], passed)
    assert np.diff(at_edges) == pytest.approx(np.full(len(edges) - 1, passed[-1] / (len(edges) - 1)), rel=1e-9)


@pytest.mark.parametrize("horizon", [0.01, 0.25])
def test_times_up_to_a_quarter_have_one_panel(horizon: float) -> None:
    panels = sums_of(0.5, 2.0, 7.0, horizon).panels
    points = np.cos(math.pi * (np.arange(48) + 0.5) / 48)[::-1]
    assert panels.ends == pytest.approx([horizon], rel=1e-14, abs=0.0) and panels.times.shape == (1, 49)
    assert panels.times[0] == pytest.approx([-1.0, *(0.5 * horizon * (1.0 + points))], rel=1e-13, abs=0.0)
    # the ellipse reaches to -1: its half axis is 1 + 2/T of the half length
    rho = MP.mpf(1) + 2 / MP.mpf(horizon) + MP.sqrt((1 + 2 / MP.mpf(horizon)) ** 2 - 1)
    assert panels.share == pytest.approx([float(4 * rho**-47 / (rho - 1))], rel=1e-12, abs=0.0)
    assert panels_of(lambda y: 0.0 * y, 2.0, 2.0)[0].tolist() == [2.0]


# What the proof adds up


def constant_sum() -> PowerLawSums:
    """One mode alone: without its decay the sum is 1 at all times."""
    return PowerLawSums((4.0, 2.0), 2.0, 1.0, 10.0)


def test_a_mode_that_has_gone_at_every_point_is_judged_by_the_outer_ellipse() -> None:
    """On the first panel exp(-2 mu t) is large left of 0: 4 rho^-47/(rho - 1) of its value at -1 may be missed."""
    sums = constant_sum()
    panels = sums.panels
    mu, weight = 201.0, 1e-80
    found = panels.error(np.array([1.0, mu]), np.array([[1.0, weight]] * 2))
    rho = MP.mpf(9) + MP.sqrt(80)
    outside = 4 * rho**-47 / (rho - 1) * weight * MP.exp(2 * (mu - 1.0))
    assert outside > 1e30 and found == pytest.approx([float(outside)] * 2, rel=1e-9, abs=0.0)
    # the sum itself is e^2 at most there, and counts beside the other one: 1e-60 of it, next to a rounding of 4e-15
    assert panels.values[:, 0, 0] == pytest.approx([math.e**2] * 2, rel=1e-14, abs=0.0)
    panels.values[:, 0, 0] = 1e70
    assert panels.error(np.ones(1), np.ones((2, 1))) == pytest.approx(
        [float(1e70 * 4 * rho**-47 / (rho - 1))] * 2, rel=1e-9, abs=0.0
    )


def test_a_falling_sum_is_judged_on_its_ellipse_with_its_slope() -> None:
    """|exp(sigma y)| reaches exp(sigma a) on an ellipse of half axis a: of a mode that only the ellipses see."""
    sums = sums_of(2.0, 2.0, math.inf, 30.0)
    panels = sums.panels
    panels.seen[:, 0] = False  # at t = 0 every mode is seen
    mu, weight = 250.0, 1e80
    found = panels.error(np.append(sums.positions**-2.0, mu), np.append(sums.weights, [[weight], [weight]], axis=1))
    ends = np.log(panels.ends)
    half, expected = 0.5 * np.diff(ends), []
    for k, h in enumerate(half.tolist(), start=1):
        rho = math.hypot(1.0, 1.35 / h) + 1.35 / h  # of half axes cosh and sinh: the difference is its own inverse
        at = sums.values(np.exp(ends[k - 1 : k + 1]))
        slope = np.log(at[:, 0] / at[:, 1]) / (2.0 * h)
        low = weight * math.exp(-2.0 * mu * float(panels.times[k, 0]))
        missed = 4.0 * rho**-47 / (rho - 1.0) * np.exp(slope * h * math.hypot(1.0, 1.35 / h)) * low
        expected.append(missed / panels.least[:, k])
    assert len(expected) > 2 and np.max(expected, axis=0).min() > 1e3
    # 1e-4: 47 powers of a half length that is a difference of logarithms, and the mode itself at the points
    assert found == pytest.approx(np.max(expected, axis=0), rel=1e-4, abs=0.0)


def test_the_first_panel_begins_at_the_time_nothing() -> None:
    """No rate exceeds 1, so that e^2 times the sum at 0, where it is largest, bounds it at -1."""
    sums = sums_of(0.5, 2.0, 60.0, 4000.0)
    panels = sums.panels
    j = np.arange(1.0, 61.0)
    for k, power in enumerate((4.0, 2.0)):
        assert panels.values[k, 0, 0] == pytest.approx(math.e**2 * math.fsum(j**-power), rel=1e-13, abs=0.0)
    assert panels.slopes[:, 0].tolist() == [0.0, 0.0] and panels.seen.all()
    # and the least of the first panel is that at its end, scaled by the slowest decay
    decays = np.exp(-0.5 * (j**-2.0 - 60.0**-2.0))
    assert panels.least[:, 0] == pytest.approx([decays @ j**-4.0, decays @ j**-2.0], rel=1e-13, abs=0.0)


@pytest.mark.parametrize("rate", [0.0, 0.5, 0.9])
def test_a_mode_slower_than_the_slowest_is_wrong_by_what_is_left_of_it(rate: float) -> None:
    sums = constant_sum()
    # exp(-2 r t) instead of exp(-2 t), worst at the end of time; 1/cos(pi 47/576) = 1.034 between the points
    worst = 0.5 * math.expm1(2.0 * (1.0 - rate) * sums.end)
    found = sums.panels.error(np.array([rate, 1.0]), np.full((2, 2), 0.5))
    assert (found >= worst).all() and (found <= 1.04 * worst).all() and sums.end == 10.0


def test_errors_of_the_values_are_raised_by_interpolation_four_times() -> None:
    panels = constant_sum().panels
    plain = panels.error(np.ones(1), np.ones((2, 1)))
    panels.remainder = np.full_like(panels.remainder, 1e-6)
    assert panels.error(np.ones(1), np.ones((2, 1))) - plain == pytest.approx([4e-6] * 2, rel=1e-9, abs=0.0)
    panels.largest = 3.0 * panels.largest
    assert panels.error(np.ones(1), np.ones((2, 1))) == pytest.approx(3.0 * (plain + 4e-6), rel=1e-6, abs=0.0)


@pytest.mark.parametrize("horizon", [1e3, math.inf])
def test_long_blocks_are_paid_for_in_the_proof(monkeypatch: pytest.MonkeyPatch, horizon: float) -> None:
    """Of blocks that are too long the rules are wrong by far more than rounding, and the proof says so."""
    monkeypatch.setattr(mode_errors, "_BLOCK_LENGTH", 1.6)
    sums = sums_of(0.5, 2.0, 2000.0, horizon)
    panels = sums.panels
    starts = np.concatenate([[0.0], panels.ends[:-1]])
    # what C misses on a panel, in units of the sum at its end, where it is least
    assert panels.remainder == pytest.approx(
        sums.remainder(starts, panels.ends) / sums.values(panels.ends), rel=1e-12, abs=0.0
    )
    j = np.arange(1.0, 2001.0)
    t = np.unique(np.concatenate([starts, np.geomspace(0.01, 0.9 * sums.end, 80)]))
    weights = np.stack([j**-4.0, j**-2.0])
    rates = j**-2.0 - sums.slowest
    exact = np.stack([sum_of_decays(t, rates, each[None])[0] for each in weights])
    with np.errstate(invalid="ignore"):
        off = np.abs(sums.values(t) / exact - 1.0)
    seen = np.log(exact) - 2.0 * sums.slowest * t > math.log(mode_errors.SMALLEST)
    proved = panels.error(j**-2.0, weights)
    worst = np.where(seen, off, 0.0).max(axis=1)
    assert (proved >= worst).all() and worst.max() > 1e-14
    assert (proved < math.inf).all()


def test_points_of_panels_are_interpolated_to_the_finer_ones() -> None:
    points, fine, matrix = _chebyshev()
    # each row is that of Lagrange's polynomials, which sum to one; at a shared point it picks that one alone
    assert matrix.shape == (288, 48) and matrix.sum(axis=1) == pytest.approx(np.ones(288), rel=1e-13)
    assert np.abs(matrix @ points - fine).max() < 1e-13
