"""How long stretches of smooth steps are: by the time since the last break, by what fits, and in any unit of time."""

import numpy as np
import pytest

from fsl_num.volterra.steps.sampled_steps import SampledSteps
from fsl_num.volterra.steps.smooth_steps import Scales, find_stretches, fit_stretch, joint_error


def spans(lengths, gammas, scales, accuracy=1e-6, growth=1.0, spacing=16):
    steps = SampledSteps.of(lengths, gammas, spacing, False)
    return find_stretches(steps, scales, accuracy, growth)


@pytest.mark.parametrize("fastest", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("growth", [0.5, 1.0, 1.7])
def test_the_first_stretch_is_a_quarter_of_the_fastest_time(fastest, growth):
    lengths = np.full(12000, 0.025)
    found = spans(lengths, np.full(12000, 0.2), Scales(1.0, fastest, 0.5, 1.0), growth=growth)
    reach = growth * 0.25 / fastest
    row = 0.4
    if reach >= row:
        assert found[0].low == 0
        assert reach - row < found[0].time <= reach * (1.0 + 1e-9)
    # every other one is as long as the growth allows, to a row, and none is left out after the first
    assert found[-1].high == 12000
    for before, one in zip(found[:-1], found[1:], strict=True):
        assert one.low == before.high
        reach = growth * max(0.025 * one.low, 0.25 / fastest)
        assert one.time <= reach * (1.0 + 1e-9)
        assert one.time > reach - row or one.high == 12000


def test_too_soon_after_a_break_steps_are_left_out():
    # a first stretch of a row would need the time row/growth before it
    for growth in (0.5, 0.21):
        found = spans(np.full(1600, 0.025), np.full(1600, 0.2), Scales(1.0, 50.0, 0.5, 1.0), growth=growth)
        waited = 0.025 * found[0].low
        # the row itself may be the one that is too early: at most a row and the rounding to rows
        assert 0.4 / growth <= waited * (1.0 + 1e-9) and waited <= 0.4 / growth + 0.4
        assert found[-1].high == 1600


def wave(steps):
    share = np.linspace(0.0, 1.0, steps)
    lengths = 0.005 * (1.0 + 0.3 * np.cos(2.0 * share))
    gammas = 0.3 + 0.1 * np.cos(3.0 * share)
    gammas[steps // 2 :] += 1e-4
    gammas[7 * steps // 8 :] += np.linspace(0.0, 0.01, steps - 7 * steps // 8)
    return lengths, gammas


@pytest.mark.parametrize("fastest", [0.3, 3.0])
@pytest.mark.parametrize(("clock", "strength"), [(4.0, 1.0), (0.125, 1.0), (1.0, 8.0), (0.5, 0.25)])
def test_stretches_do_not_depend_on_the_units(fastest, clock, strength):
    """With time in other units K gamma dt keeps its value: K by 1/time^2, gamma by time; u and gamma by any factor."""
    lengths, gammas = wave(6400)
    scales = Scales(1.5, fastest, 0.5, 2.0, 0.01, 1.5)
    found = spans(lengths, gammas, scales, growth=0.7)
    others = Scales(1.5 / clock / strength, fastest / clock, 0.5 / strength, 2.0, 0.01, 1.5)
    again = spans(lengths * clock, gammas * strength, others, growth=0.7)
    assert [(one.low, one.high) for one in again] == [(one.low, one.high) for one in found]
    assert len(found) > 5
    for one, other in zip(found, again, strict=True):
        # rounding of the misfits, which are some 1e-16
        assert other.joint == pytest.approx(one.joint, rel=1e-6, abs=1e-12)
        assert others.staircase(other) == pytest.approx(scales.staircase(one), rel=1e-6, abs=1e-18)
        assert other.misfit == pytest.approx(one.misfit, rel=1e-6, abs=1e-12)


def test_a_break_starts_the_lengths_anew():
    lengths, gammas = wave(6400)
    scales = Scales(1.5, 3.0, 0.5, 2.0, 0.01, 1.5)
    found = spans(lengths, gammas, scales, growth=0.7)
    # no stretch holds the jump or the kink
    for place in (3200, 5600):
        assert all(one.high <= place or one.low >= place for one in found)
        before = max(one.time for one in found if one.high <= place)
        assert next(one for one in found if one.low >= place).time < 0.3 * before


@pytest.mark.parametrize("accuracy", [1e-4, 1e-7])
def test_what_a_stretch_adds_is_below_the_accuracy(accuracy):
    lengths, gammas = wave(6400)
    scales = Scales(1.5, 3.0, 0.5, 2.0, 0.01, 1.5)
    found = spans(lengths, gammas, scales, accuracy, growth=0.7)
    grows = scales.sensitivity * scales.caution
    for one in found:
        assert one.joint * grows <= 0.4 * accuracy
        assert one.misfit * grows <= accuracy
        assert scales.staircase(one) * grows <= accuracy * min(1.0, scales.share * one.largest)
    assert max(one.joint for one in found) > 0.0


def test_joints_are_those_of_the_stretches_beside_them():
    lengths, gammas = wave(6400)
    scales = Scales(1.5, 3.0, 0.5, 2.0, 0.01, 1.5)
    found = spans(lengths, gammas, scales, 1e-5, growth=0.7)
    pairs = [(a, b) for a, b in zip(found[:-1], found[1:], strict=True) if a.high == b.low and b.joint > 0.0]
    assert len(pairs) > 3
    for before, after in pairs:
        assert after.joint == joint_error(before, after, 3.0)
    # beside steps that are left out it is that with the row before
    steps = SampledSteps.of(lengths, gammas, 16, False)
    lonely = [b for a, b in zip(found[:-1], found[1:], strict=True) if a.high < b.low and b.joint > 0.0]
    for after in lonely:
        row = fit_stretch(steps, after.low // 16 - 1, after.low // 16)
        assert after.joint == joint_error(row, after, 3.0)


def test_stretches_that_had_to_be_shorter_grow_slowly():
    # a wave of a constant length: what fits has about the same length everywhere
    lengths = np.full(16000, 0.0125)
    gammas = 0.3 + 0.05 * np.cos(0.4 * np.cumsum(lengths))
    scales = Scales(1.0, 0.5, 0.5, 1.0)
    found = spans(lengths, gammas, scales, 1e-4)
    starts = np.concatenate([[0.0], np.cumsum(lengths)])
    assert found[0].low == 0 and len(found) > 10
    ratios = []
    for before, one in zip(found[:-1], found[1:], strict=True):
        reach = max(starts[before.low], 0.5)
        if before.high == one.low and before.time < reach - 0.2:  # made shorter, by more than a row
            ratios.append(one.time / before.time)
    assert len(ratios) > 5
    # by less than half as much again: twice as long would not fit
    assert max(ratios) <= 1.4 * (1.0 + 1e-9)
    assert max(ratios) > 1.2


def test_where_nothing_fits_all_steps_are_left_out_quickly(monkeypatch):
    calls = []
    rough = np.random.default_rng(2).uniform(0.1, 0.3, 40000)
    from fsl_num.volterra.steps import smooth_steps

    right = smooth_steps.fit_stretch
    monkeypatch.setattr(smooth_steps, "fit_stretch", lambda *given: calls.append(given[1]) or right(*given))
    assert spans(np.full(40000, 0.1), rough, Scales(1.0, 1.0, 0.5, 1.0), 1e-8) == []
    # after each failure twice as many rows of 16 are left out, up to 4096 steps, and the one that is too soon after it
    away = np.diff(sorted(set(calls)))
    assert away[:9].tolist() == [2, 3, 5, 9, 17, 33, 65, 129, 257] and away.max() == 257
