"""Stretches of smooth steps part by part: scales, what is claimed for a staircase, joints, and the fit."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.integrate import quad

from fsl_num.volterra.linear_modes import LinearModes
from fsl_num.volterra.steps import smooth_steps
from fsl_num.volterra.steps.sampled_steps import SampledSteps
from fsl_num.volterra.steps.smooth_steps import (
    BENDS,
    DEGREE,
    PLACES,
    SLOPES,
    Scales,
    Stretch,
    fit_stretch,
    joint_error,
    places_of_nodes,
    polynomial,
)
from fsl_num.volterra.steps.stretches import Moments, zigzag_of_modes

SYSTEM = LinearModes(np.array([0.5, 4.0, 0.01]), np.array([0.3, 2.0, 0.05]), np.array([1.0, 2.0, 0.7]), 0.2, 0.6, 0.0)


def stretch(**given):
    base = Stretch(
        0, 64, 1.0, np.zeros(DEGREE + 1), np.zeros(DEGREE + 1), 0.0, 0.0, 0.0, 1.0, 0.01, 0.0, 0.0, None, 0.0
    )
    return replace(base, **given)


def test_scales_are_those_of_the_kernel_and_of_the_loss():
    found = Scales.of(SYSTEM, 0.75, 1e-8, 3.0)
    assert found.kernel == pytest.approx(2.35, rel=1e-9, abs=0.0) and found.fastest == 4.0

    def kernel(t):
        return float(SYSTEM.weights @ np.exp(-SYSTEM.rates * t))

    # what noise injects within ten times the fastest mode's time
    assert found.share == pytest.approx(quad(kernel, 0.0, 2.5)[0], rel=1e-10, abs=0.0)  # the accuracy of the quadrature
    assert found.sensitivity == pytest.approx(4.0, rel=1e-9, abs=0.0)
    # u falls from 0.8 + 3.7 to no less than what is left of the signal
    left = 0.8 + math.exp(-1.5) + 2.0 * math.exp(-12.0) + 0.7 * math.exp(-0.03)
    assert found.caution == pytest.approx(1.0 + math.log(4.5 / left), rel=1e-9, abs=0.0)


def test_scales_at_their_limits():
    # unless said otherwise nothing falls, and derivatives are known to a hundredth
    assert Scales(1.0, 2.0, 0.5, 1.0) == Scales(1.0, 2.0, 0.5, 1.0, 0.01, 1.0)
    silent = replace(SYSTEM, noise=0.0)
    assert Scales.of(silent, 0.75, 1e-8, 3.0).share == math.inf
    # near the limit of stability an error grows at most a thousandfold
    assert Scales.of(SYSTEM, 1.0 - 1e-9, 1e-8, 3.0).sensitivity == pytest.approx(1000.0, rel=1e-9, abs=0.0)
    assert Scales.of(SYSTEM, 1.0 - 2e-3, 1e-8, 3.0).sensitivity == pytest.approx(500.0, rel=1e-9, abs=0.0)
    empty = replace(silent, delta=0.0)
    # the loss falls by more than exp(30): no more than that counts
    assert Scales.of(empty, 0.5, 1e-8, 1e5).caution == pytest.approx(31.0, rel=1e-9, abs=0.0)
    assert Scales.of(empty, 0.5, 1e-8, 1e9).caution == pytest.approx(
        31.0, rel=1e-9, abs=0.0
    )  # where exp(-rate horizon) is 0
    slow = replace(SYSTEM, rates=np.array([0.5, 4.0, 0.0]))
    # a mode that does not decay gives its weight times the time
    without = float((slow.weights * (1.0 - np.exp(-2.5 * slow.rates)))[:2] @ (1.0 / slow.rates[:2]))
    assert Scales.of(slow, 0.5, 1e-8, 1.0).share - without < 1e-12


def test_derivatives_are_blurred_like_the_square_root_of_the_accuracy():
    blurs = {accuracy: Scales.of(SYSTEM, 0.5, accuracy, 1.0).blur for accuracy in (1e-13, 1e-8, 4e-8, 1e-3)}
    assert blurs[4e-8] == pytest.approx(2.0 * blurs[1e-8], rel=1e-9, abs=0.0)
    # an error e of u on places a panel apart becomes 1e4 e in two derivatives: far less than what is claimed
    assert 1e4 * 1e-8 < 0.1 * blurs[1e-8]
    assert blurs[1e-8] == pytest.approx(3e-3, rel=1e-9, abs=0.0)
    # and never nothing, nor more than a tenth
    assert blurs[1e-13] == pytest.approx(1e-3, rel=1e-9, abs=0.0) and blurs[1e-3] == pytest.approx(
        0.1, rel=1e-9, abs=0.0
    )


SCALES = Scales(2.35, 4.0, 0.5, 1.0, 1e-2)


def test_the_claim_for_a_staircase_holds_the_square_of_its_first_correction():
    # the first correction is K(0) g' eta^2 B2/2 = jump/12; slow modes leave its square alone: four times that
    slow = replace(SCALES, fastest=1e-9, kernel=3.0)
    for jump in (1e-3, 0.2):
        found = slow.staircase(stretch(slope=jump / 3.0 / 0.01**2, largest=0.0))
        assert found == pytest.approx(4.0 * (jump / 12.0) ** 2, rel=1e-6, abs=0.0)  # the last correction is 1e-16 of it


def test_the_claim_for_a_staircase_holds_lengths_that_are_not_known():
    # K(0) g' eta^2/12 with eta wrong by d is wrong by K(0) g' 2 eta d/12 = K(0) g' eta d/6: twice that
    for slope, longest, uneven in ((0.3, 0.01, 1e-4), (0.7, 0.02, 1e-3)):
        both = (SCALES.staircase(stretch(slope=slope, longest=longest, uneven=each)) for each in (uneven, 0.0))
        known = next(both) - next(both)
        assert known == pytest.approx(2.0 * 2.35 * slope * longest * uneven / 6.0, rel=1e-9, abs=0.0)


def test_the_claim_for_a_staircase_holds_its_last_correction():
    rng = np.random.default_rng(7)
    worst, eta = 0.0, 0.02
    for _ in range(300):
        rates = rng.choice([4.0, rng.uniform(0.0, 4.0)], 2)
        system = LinearModes(
            rates, rng.uniform(0.0, 2.0, 2), rng.exponential(1.0, 2) * rng.integers(0, 2, 2), 0.0, 0.1, 0
        )
        gamma, moments = float(rng.uniform(0.0, 1.0)), Moments.of(system)
        u = 0.1 + system.start.sum()
        change = zigzag_of_modes(system, moments, system.start, gamma, 1.0, eta)
        last = abs(float(change.sum()) + moments.zeroth / 12.0 * u) / u
        # K and gamma at once: (4 + 2 K gamma/r) (r eta)^2/720 of a jump K, where all of the correction is wrong
        claim = moments.zeroth * (4.0 + 2.0 * moments.zeroth * gamma / 4.0) * (4.0 * eta) ** 2 / 720.0
        worst = max(worst, last / claim)
        assert last <= claim
        scales = Scales(moments.zeroth, 4.0, 0.5, 1.0, 0.03)
        of = stretch(slope=1e-9, longest=eta, largest=gamma)
        # of it 3% is blurred, and the next correction is smaller by (r eta)^2/42: four times that, 0.095, is 0.1
        jump = 1e-9 * eta**2
        assert scales.staircase(of) == pytest.approx(
            jump * claim * (0.03 + 4.0 / 42.0 * (4.0 * eta) ** 2), rel=0.05 * (4.0 * eta) ** 2 / 0.03 + 1e-6, abs=0.0
        )
    # the bound adds what has opposite signs: no more than a factor of some
    assert worst > 0.15


def test_the_claim_for_a_staircase_grows_with_what_changes_from_step_to_step():
    def claim(**given):
        # slow: of the last correction itself nothing is left
        return Scales(3.0, 1e-3, 0.5, 1.0, 0.0).staircase(stretch(**{"slope": 0.0, "longest": 0.01, **given}))

    # the zigzag D3 with the next derivative of gamma: K(0) g'' eta^3 (r eta + change)/720, ten times
    assert claim(bend=2.0) == pytest.approx(10.0 * 3.0 * 2.0 * 1e-6 * 1e-5 / 720.0, rel=1e-9, abs=0.0)
    assert claim(bend=2.0, change=1e-3) == pytest.approx(
        10.0 * 3.0 * 2.0 * 1e-6 * (1e-5 + 1e-3) / 720.0, rel=1e-9, abs=0.0
    )
    # and that of a jump that changes by a part of itself
    tiny = 1e-6
    more = claim(slope=tiny, change=0.01) - claim(slope=tiny)
    assert more == pytest.approx(10.0 * 3.0 * tiny * 1e-4 * 0.01 * (0.01 + 1e-5) / 720.0, rel=1e-9, abs=0.0)


def random_stretch(rng, time, largest, columns=()):
    return stretch(
        gamma=rng.uniform(0.1, 1.0, (DEGREE + 1, *columns)),
        time=time,
        largest=largest,
        misfit=np.zeros(columns) if columns else 0.0,
    )


def test_a_joint_counts_a_jump_and_two_fifths_of_a_kink():
    rng = np.random.default_rng(8)
    for fastest in (0.5, 3.0):
        before, after = random_stretch(rng, 2.0, 0.7), random_stretch(rng, 1.5, 0.9)
        ends = Polynomial(before.gamma), Polynomial(after.gamma)
        jump = abs(ends[0](1.0) - ends[1](-1.0))
        kink = abs(ends[0].deriv()(1.0) - ends[1].deriv()(-1.0) * 2.0 / 1.5)
        short = (fastest * 1.5 / 12.0) ** 4
        found = joint_error(before, after, fastest)
        assert found == pytest.approx(short * (jump + 0.4 * kink / fastest) / 0.7, rel=1e-9, abs=0.0)
        assert joint_error(replace(before, largest=2.0), after, fastest) == pytest.approx(
            found * 0.7 / 0.9, rel=1e-9, abs=0.0
        )
        assert joint_error(None, after, fastest) == pytest.approx(short, rel=1e-9, abs=0.0)


def test_joints_of_many_schedules_are_those_of_each():
    rng = np.random.default_rng(9)
    before = random_stretch(rng, 2.0, np.array([0.5, 0.8]), (2,))
    after = random_stretch(rng, 1.5, np.array([0.6, 0.7]), (2,))

    def one(of, i):
        return replace(of, gamma=of.gamma[:, i], largest=float(of.largest[i]), misfit=0.0)

    each = [joint_error(one(before, i), one(after, i), 2.0) for i in (0, 1)]
    assert joint_error(before, after, 2.0) == pytest.approx(np.array(each), rel=1e-9, abs=0.0)
    assert joint_error(None, after, 2.0) == pytest.approx(np.full(2, 0.25**4), rel=1e-9, abs=0.0)


@pytest.mark.parametrize("reach", [0.5, 2.0, 5.0, 9.0, 11.9, 12.0, 40.0])
def test_after_a_jump_the_loss_is_missed_by_less_than_claimed(reach):
    claim = joint_error(None, stretch(time=0.5 * reach), 2.0)
    # the best polynomial of degree 6 for exp(-x) on [0, reach], but for a factor of about 1: at Chebyshev points
    places = 0.5 * reach * (1.0 - np.cos((np.arange(7) + 0.5) * (math.pi / 7)))
    fine = np.linspace(0.0, reach, 500)
    fit = np.polynomial.Polynomial.fit(places, np.exp(-places), 6)
    assert np.abs(fit(fine) - np.exp(-fine)).max() < claim
    # and it is below 2 (X/4)^7/7!, of which the claim is an upper bound, while that is below 1
    assert claim >= min(2.0 * (reach / 4.0) ** 7 / math.factorial(7), 1.0)
    assert (claim < 1.0) == (reach < 12.0)


def test_polynomials_and_their_derivatives():
    rng = np.random.default_rng(10)
    rows = rng.uniform(-1.0, 1.0, DEGREE + 1)
    of = Polynomial(rows)
    assert PLACES[[0, -1]].tolist() == [-1.0, 1.0] and PLACES.size == 33
    # sums of eight terms
    assert polynomial(rows, PLACES) == pytest.approx(of(PLACES), abs=1e-14)
    assert SLOPES @ rows == pytest.approx(of.deriv()(PLACES), abs=1e-13)
    assert BENDS @ rows == pytest.approx(of.deriv(2)(PLACES), abs=1e-12)
    assert polynomial(np.array([3.0, -2.0]), np.array([0.5, 2.0])).tolist() == [2.0, -1.0]


def test_the_nodes_are_the_places_nearest_to_those_of_chebyshev():
    x = np.linspace(2.0, 6.0, 101)
    chebyshev = 4.0 - 2.0 * np.cos(np.arange(DEGREE + 1) * math.pi / DEGREE)
    away = np.abs(x[places_of_nodes(x)] - chebyshev)
    assert (away <= 0.02 + 1e-12).all()  # half the distance of two places


TIME = Polynomial([0.05, 1e-4, -3e-7])  # length of a step by its number


def laid(steps, gamma, spacing=5, lengths=None):
    """Steps with gamma a function of the time in their middle."""
    lengths = TIME(np.arange(float(steps))) if lengths is None else lengths
    middles = np.cumsum(lengths) - 0.5 * lengths
    return SampledSteps.of(lengths, gamma(middles), spacing, False), middles, lengths


@pytest.mark.parametrize(("low", "high"), [(3, 8), (2, 40)])  # looked at step by step, and by samples
def test_a_polynomial_of_time_is_fitted_exactly(low, high):
    gamma = Polynomial([0.8, -0.05, 0.012, -0.0007])
    steps, middles, lengths = laid(200, gamma)
    found = fit_stretch(steps, low, high)
    inside = slice(5 * low, 5 * high)
    time = float(lengths[inside].sum())
    assert (found.low, found.high) == (5 * low, 5 * high) and found.time == pytest.approx(time, rel=1e-9, abs=0.0)
    assert (found.rows is None) == (high - low <= 28)
    begin = float(lengths[: 5 * low].sum())
    of = gamma(Polynomial([begin + 0.5 * time, 0.5 * time]))
    # the inverse of a matrix of powers at Chebyshev points of degree 7 has a condition of about 1e3
    assert found.gamma == pytest.approx(np.append(of.coef, np.zeros(4)), abs=1e-12)
    x = (middles[inside] - begin) * 2.0 / time - 1.0
    assert polynomial(found.length, x) == pytest.approx(
        lengths[inside], abs=1e-7
    )  # in time it is no polynomial, but nearly
    fine = np.linspace(begin, begin + time, 33)
    slope, bend = np.abs(gamma.deriv()(fine)).max(), np.abs(gamma.deriv(2)(fine)).max()
    assert found.slope == pytest.approx(slope, rel=1e-9, abs=0.0) and found.bend == pytest.approx(
        bend, rel=1e-7, abs=0.0
    )
    values = gamma(middles[inside])
    # what is seen is exact, what is between may be larger by the slope over a row of five steps
    largest, longest = float(values.max()), float(lengths[inside].max())
    assert largest * (1.0 - 1e-14) <= found.largest <= largest + (high - low > 28) * 5.1 * slope * longest
    assert longest * (1.0 - 1e-14) <= found.longest <= 1.01 * longest
    assert found.misfit < 1e-9
    growing = 2.0 / time * np.abs(SLOPES @ found.length).max()
    assert found.change == pytest.approx(slope * found.longest / found.largest + growing, rel=1e-6, abs=0.0)
    assert found.uneven < 1e-7


@pytest.mark.parametrize("one_batch", [True, False])
@pytest.mark.parametrize("size", [1e-9, 1e-6])
@pytest.mark.parametrize(
    "accuracy", [math.inf, 1e-5]
)  # 1e-6 is then so far from the samples that the row is told apart
@pytest.mark.parametrize(("low", "high", "at"), [(3, 9, 40), (2, 40, 100), (2, 40, 101), (2, 40, 17), (2, 40, 197)])
def test_a_step_beside_the_polynomial_is_part_of_the_misfit(one_batch, size, accuracy, low, high, at):
    rates = 0.1 * np.cos(np.linspace(0.0, 0.4, 220)) ** 2
    rates[at] *= 1.0 + size
    steps = SampledSteps.of(rates, 2.0 * rates, 5, one_batch)
    found = fit_stretch(steps, low, high, accuracy)
    inside = slice(5 * low, 5 * high)
    x = (np.cumsum(rates[inside]) - 0.5 * rates[inside]) * 2.0 / found.time - 1.0
    gamma, length = (polynomial(each, x) for each in (found.gamma, found.length))
    true = np.abs(gamma / (2.0 * rates[inside]) - 1.0).max()
    # no less than what is missed at any step, and not much more
    assert true <= found.misfit * (1.0 + 1e-9)
    assert found.misfit <= 3.0 * max(true, 1e-9)
    assert np.abs(length - rates[inside]).max() <= found.uneven * (1.0 + 1e-9)
    assert found.uneven <= 3.0 * max(np.abs(length - rates[inside]).max(), 1e-10)


@pytest.mark.parametrize(("low", "high"), [(3, 9), (2, 40)])
@pytest.mark.parametrize("flat", [True, False])
def test_a_length_beside_the_polynomial_is_uneven_whatever_gamma_is(low, high, flat):
    lengths = np.full(220, 0.1)
    lengths[30] = 0.1001
    middles = np.cumsum(lengths) - 0.5 * lengths
    found = fit_stretch(
        SampledSteps.of(lengths, np.full(220, 0.3) if flat else 0.3 + 1e-3 * middles, 5, False), low, high
    )
    # the step is a sample: the polynomial goes through it or misses it by 1e-4
    x = (middles[5 * low : 5 * high] - middles[5 * low] + 0.05) * 2.0 / found.time - 1.0
    missed = np.abs(polynomial(found.length, x) - lengths[5 * low : 5 * high]).max()
    assert 1e-5 < missed <= found.uneven * (1.0 + 1e-6) and found.uneven < 3e-4
    assert found.misfit < 1e-5  # gamma by time is bent by the step of another length


def test_rows_are_told_apart_where_they_miss_a_tenth_of_the_accuracy():
    gammas = 0.2 * np.cos(np.linspace(0.0, 0.4, 220)) ** 2
    gammas[101] *= 1.0 + 1e-6
    steps = SampledSteps.of(np.full(220, 0.1), gammas, 5, False)
    # 1e-6 of gamma there, by a tenth of the least gamma on the samples
    limit = 1e-6 * gammas[101] / (0.1 * gammas[195])
    for share, apart in ((0.9, True), (1.1, False), (100.0, False)):
        found = fit_stretch(steps, 3, 40, share * limit)
        assert (101 - 15 in found.rows.index) == apart
        assert found.misfit >= 0.9e-6


def test_steps_whose_places_are_not_told_by_the_samples():
    # gamma is a line by the number of the step, but within each row of five two lengths are changed, to and fro
    lengths = np.full(220, 0.1)
    lengths[1::5] += 1e-4
    lengths[2::5] -= 1e-4
    gammas = 0.3 - 5e-4 * np.arange(220)
    found = fit_stretch(SampledSteps.of(lengths, gammas, 5, False), 3, 40)
    inside = slice(15, 200)
    x = (np.cumsum(lengths[inside]) - 0.5 * lengths[inside]) * 2.0 / found.time - 1.0
    missed = np.abs(polynomial(found.gamma, x) / gammas[inside] - 1.0).max()
    # the middle of a step moves by half of 1e-4, where gamma falls by 5e-3 in a unit of time
    assert missed > 0.4e-4 * 5e-3 / 0.3
    # it may move by all lengths of the row, of which each is counted with the root of the squares of all
    assert missed <= found.misfit <= 5.0 * math.sqrt(2.0) * 2.0 * 2.0 * missed


def test_a_flat_gamma_misses_nothing():
    steps = SampledSteps.of(np.full(300, 0.1), np.full(300, 0.37), 5, False)
    for high in (20, 50):
        found = fit_stretch(steps, 3, high)
        assert found.gamma.tolist() == [0.37] + [0.0] * DEGREE
        assert found.misfit == found.slope == found.bend == 0.0 and found.largest == 0.37
        assert found.joint == 0.0  # not looked at yet
        assert found.length == pytest.approx([0.1] + [0.0] * DEGREE, abs=1e-15)
        assert found.change == pytest.approx(0.0, abs=1e-12)


def test_stretches_that_cannot_be_fitted():
    falling = np.geomspace(1.0, 1e-3, 100)
    # gamma falls to less than a quarter
    assert fit_stretch(SampledSteps.of(falling, falling, 5, True), 0, 20) is None
    assert fit_stretch(SampledSteps.of(np.full(100, 0.1), falling, 5, False), 0, 20) is None
    # however long the steps are
    rising, long = np.linspace(1.0, 1.1, 100), np.full(100, 10.0)
    assert fit_stretch(SampledSteps.of(long, rising, 5, False), 0, 20) is not None
    small = np.geomspace(1.0, 0.26, 100)
    assert fit_stretch(SampledSteps.of(small, small, 5, True), 0, 20) is not None
    assert fit_stretch(SampledSteps.of(np.full(100, 1e-103), np.ones(100), 5, False), 0, 20) is None
    # places so uneven that two of the eight nodes would be one
    lumpy = np.ones(20)
    lumpy[3] = 1e4
    assert fit_stretch(SampledSteps.of(lumpy, np.ones(20) + 0.1 * np.arange(20), 5, False), 0, 4) is None
    wavy = 1.0 + 0.1 * np.cos(np.arange(100.0))
    steps = SampledSteps.of(np.full(100, 0.1), wavy, 5, False)
    loose = fit_stretch(steps, 0, 20)
    assert loose is not None and fit_stretch(steps, 0, 20, 1.01 * loose.misfit) is not None
    assert fit_stretch(steps, 0, 20, 0.99 * loose.misfit) is None


def test_which_stretches_fit():
    scales = Scales(1.0, 2.0, 0.5, 3.0, 0.01, 2.0)
    fits = smooth_steps._fits
    assert not fits(None, scales, 1e-3)
    # an error of gamma, claimed with a factor, grows by the sensitivity and the caution; gamma may take a part of it
    most = smooth_steps._MISFIT * 1e-6 / (3.0 * 2.0) / smooth_steps.MISSED
    assert fits(stretch(misfit=0.999 * most), scales, 1e-6) and not fits(stretch(misfit=1.001 * most), scales, 1e-6)
    # without a slope there is no staircase, however long the steps
    assert fits(stretch(longest=50.0), scales, 1e-6)
    flat = {"slope": 1e-30, "largest": 4.0}
    assert fits(stretch(longest=0.5, **flat), scales, 1e-6) and not fits(stretch(longest=0.51, **flat), scales, 1e-6)
    steep = stretch(slope=2.0, longest=0.1, largest=4.0)
    least = 6.0 * scales.staircase(steep)
    assert fits(steep, scales, 1.001 * least) and not fits(steep, scales, 0.999 * least)
    # noise alone makes f only a part of u: half of gamma 0.4
    part = replace(steep, largest=0.4)
    least = 6.0 * scales.staircase(part) / (0.5 * 0.4)
    assert fits(part, scales, 1.001 * least) and not fits(part, scales, 0.999 * least)


def test_gamma_after_the_last_sample_belongs_to_the_stretch():
    lengths, rising = np.full(1920, 0.1), np.linspace(0.1, 0.2, 1920)
    assert fit_stretch(SampledSteps.of(lengths, rising, 32, False), 5, 50).largest >= rising[1599]
    falling = rising[::-1].copy()
    falling[700] += 1e-6
    found = fit_stretch(SampledSteps.of(lengths, falling, 32, False), 5, 50)
    assert found.misfit * falling[160:1600].min() >= 1e-6
