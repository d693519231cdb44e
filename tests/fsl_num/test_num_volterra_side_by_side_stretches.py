"""Many schedules side by side on stretches of many steps, against each of them alone."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from fsl_num.volterra import Problem
from fsl_num.volterra.linear_modes import linear_modes
from fsl_num.volterra.steps import smooth_columns
from fsl_num.volterra.steps.discrete import stretch_growth
from fsl_num.volterra.steps.march import march
from fsl_num.volterra.steps.mixed_march import march_stretches
from fsl_num.volterra.steps.sampled_steps import SampledSchedules, SampledSteps
from fsl_num.volterra.steps.smooth_columns import fit_columns
from fsl_num.volterra.steps.smooth_steps import DEGREE, Scales, Stretch, fit_stretch, joint_error
from fsl_num.volterra.steps.step_rules import segments
from fsl_num.volterra.steps.stretches import Moments, zigzag_of_modes

MODEL = Problem(s=0.5, beta=2.0, model_size=40, noise=0.7, gamma=0.0, horizon=1.0)
SYSTEM = linear_modes(MODEL, 50.0)


# Stretches


def columns_of(gammas, lengths, spacing=5):
    """Schedules with the ``gammas``, and each of them alone."""
    schedules = SampledSchedules.of(lengths, lengths / gammas, spacing)
    return schedules, [SampledSteps.of(lengths, each, spacing, False) for each in gammas]


@pytest.mark.parametrize(("low", "high"), [(2, 7), (2, 40)])  # looked at step by step, and by samples
def test_all_that_is_said_of_a_gamma_beside_others(low, high):
    lengths = 0.05 + 1e-5 * np.arange(240.0)
    middles = np.cumsum(lengths) - 0.5 * lengths
    curves = [Polynomial([0.5, 0.03]), Polynomial([0.9, -0.02, -0.001]), Polynomial([0.7, 0.01, 0.002, 1e-4])]
    schedules, alone = columns_of(np.array([of(middles) for of in curves]), lengths)
    shared = fit_stretch(alone[1], low, high)
    assert (shared.rows is None) == (high == 7)
    found = fit_columns(shared, schedules)
    begin, time = float(lengths[: 5 * low].sum()), shared.time
    fine = np.linspace(begin, begin + time, 2001)
    x = np.linspace(-1.0, 1.0, 2001)
    for k, of in enumerate(curves):
        one = fit_stretch(alone[k], low, high)
        assert found.gamma[:, k] == pytest.approx(one.gamma, abs=1e-12)
        assert Polynomial(found.gamma[:, k])(x) == pytest.approx(of(fine), abs=1e-12)
        assert found.slope[k] == pytest.approx(np.abs(of.deriv()(fine)).max(), rel=1e-8)
        # rounding of the last coefficient, 1e-15, by 42 and the square of 2/time
        assert found.bend[k] == pytest.approx(np.abs(of.deriv(2)(fine)).max(), rel=1e-6, abs=1e-9)
        # a bound between the 33 places where it is seen, 1/16 of the half stretch apart: by the slope to the nearest
        between = found.slope[k] * time / 64.0
        assert found.largest[k] == pytest.approx(of(fine).max() + between, rel=1e-9)
        assert found.misfit[k] < 1e-9
        growing = one.change - one.slope * one.longest / one.largest
        assert found.change[k] == pytest.approx(found.slope[k] * found.longest / found.largest[k] + growing, rel=1e-9)
    # lines have a bend of rounding only
    assert found.bend[0] < 1e-9 < 1e-3 < found.bend[1]


def test_what_a_gamma_misses_counts_by_its_least():
    lengths = np.full(200, 0.05)
    middles = np.cumsum(lengths) - 0.025
    wave = 1e-6 * np.cos(40.0 * middles)
    schedules, _ = columns_of(np.array([0.5 + wave, 0.1 + wave, 0.1 + 0.05 * middles + wave]), lengths)
    shared = fit_stretch(SampledSteps.of(lengths, np.full(200, 0.3), 5, False), 2, 8)
    found = fit_columns(shared, schedules)
    assert found.misfit[0] * 0.5 == pytest.approx(found.misfit[1] * 0.1, rel=1e-4)
    assert found.misfit[0] >= 1e-6
    # the least is 0.1 + 0.05 of the time 0.5 at the begin, less what it falls between two places
    least = 0.125 - 0.05 * 1.5 / 64.0
    assert found.misfit[2] == pytest.approx(found.misfit[1] * 0.1 / least, rel=1e-3)
    # a gamma that may come down to nothing is never smooth enough
    falling, _ = columns_of(np.array([1.001 - 0.5 * middles[:40]]), lengths[:40])
    short = fit_stretch(SampledSteps.of(lengths[:40], np.full(40, 0.3), 5, False), 0, 8)
    assert fit_columns(short, falling).misfit[0] == np.inf
    less, _ = columns_of(np.array([1.05 - 0.5 * middles[:40]]), lengths[:40])
    assert fit_columns(short, less).misfit[0] < 1e-10


def smooth_stretch(rng, columns, time=3.0):
    gamma = rng.uniform(-0.02, 0.02, (DEGREE + 1, columns))
    gamma[0] = rng.uniform(0.2, 0.5, columns)
    length = np.zeros(DEGREE + 1)
    length[:3] = 0.1, 0.01, -0.004
    zeros = np.zeros(columns)
    return Stretch(0, 30, time, gamma, length, zeros, zeros, zeros, zeros, 0.11, 0.0, zeros, None, zeros)


@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("accuracy", [1e-4, 1e-12])
def test_a_run_of_stretches_of_many_schedules_is_that_of_each(parts, accuracy):
    rng = np.random.default_rng(5)
    run = [smooth_stretch(rng, 3), smooth_stretch(rng, 3, 4.0)]
    moments = Moments.of(SYSTEM)
    state = np.asfortranarray(np.repeat(SYSTEM.start[:, None], 3, axis=1))
    sums = [each.modes for each in smooth_columns._on_stretches(SYSTEM, moments, state, run, parts, accuracy)]
    for k in range(3):
        alone = [replace(one, gamma=one.gamma[:, k]) for one in run]
        theirs, after = march_stretches(SYSTEM, moments, SYSTEM.start, alone, parts)
        # rounding, and at a large accuracy the third corrections that do not count
        allowed = 1e-13 if accuracy < 1e-11 else 1e-3 * accuracy
        for row, modes in enumerate(sums):
            assert modes[:, :, k] == pytest.approx(theirs.modes[row], rel=allowed)
        assert state[:, k] == pytest.approx(after, rel=10.0 * allowed, abs=1e-2 * allowed)


def test_zigzags_of_many_schedules():
    rng = np.random.default_rng(6)
    moments, gamma = Moments.of(SYSTEM), rng.uniform(0.1, 0.4, 4)
    # so small that changes of 1e-17 are seen
    begin = np.asfortranarray(1e-6 * rng.uniform(0.1, 1.0, (SYSTEM.rates.size, 4)))
    u = SYSTEM.delta + SYSTEM.noise + begin.sum(axis=0)
    shapes = rng.uniform(-1.0, 1.0, 4)
    shapes[2] = 1.0
    full = left_out = 0
    for accuracy in (1e-13, 1e-8, 1e-3):
        for height in 10.0 ** np.arange(-19, -2, dtype=float):
            for eta in (1e-4, 0.02, 0.3):
                state = begin.copy(order="F")
                smooth_columns._move(SYSTEM, moments, state, gamma, height * shapes, eta, accuracy)
                exact = zigzag_of_modes(SYSTEM, moments, begin, gamma, height * shapes, eta)
                if np.array_equal(state, begin):
                    # left alone: a change below rounding
                    assert height * moments.zeroth <= 1e-17 * (1.0 + 1e-9)
                    continue
                assert height * moments.zeroth > 1e-17
                away = np.abs(state - begin - exact).sum(axis=0) / u
                # a part of the accuracy, or rounding
                assert away.max() <= max(1e-3 * accuracy * 20.0 / 720.0, 1e-14)
                large = height * moments.zeroth * (2.0 * eta) ** 2
                if large > max(1e-14, 1e-3 * accuracy) * (1.0 + 1e-9):
                    assert np.array_equal(state, begin + exact)
                    full += 1
                elif np.abs(exact).max() > 1e-12 and eta == 0.3:
                    # the correction of the third order is left out
                    first = -np.multiply.outer(SYSTEM.weights, height * shapes * u) / 12.0
                    assert state == pytest.approx(begin + first, rel=1e-15)
                    left_out += not np.array_equal(state, begin + exact)
    assert full > 10 and left_out > 3


@pytest.mark.parametrize("count", [2, 20])
def test_stretches_are_those_of_the_mean_of_eight(monkeypatch, count):
    lengths, seen = np.full(640, 0.1), []
    gammas = np.linspace(0.1, 0.3, count)[:, None] * np.linspace(1.0, 1.2, 640)
    schedules, _ = columns_of(gammas, lengths, 16)
    right = smooth_columns.find_stretches
    monkeypatch.setattr(
        smooth_columns, "find_stretches", lambda steps, *rest: seen.append(steps) or right(steps, *rest)
    )
    scales = Scales.of(SYSTEM, 0.5, 1e-6, 64.0)
    found = smooth_columns.solve_columns(SYSTEM, scales, schedules, np.array([640]), 1e-6, stretch_growth(1e-6))
    rows = np.unique(np.linspace(0, count - 1, 8).astype(int))
    assert rows.size == min(count, 8) and seen[0].gammas == pytest.approx(gammas[rows].mean(axis=0), rel=1e-14)
    assert found.worst.shape == (count,) and (found.worst <= 1e-6).all()


def test_joints_of_the_stretches_of_all_schedules(monkeypatch):
    lengths = np.full(960, 0.1)
    gammas = np.array([[0.1], [0.2]]) * (1.0 + 0.2 * np.cos(np.arange(960) / 300.0))
    schedules, _ = columns_of(gammas, lengths, 16)
    steps = schedules.mean([0, 1])
    shared = [fit_stretch(steps, *rows) for rows in ((2, 4), (4, 8), (10, 30), (30, 60))]
    monkeypatch.setattr(smooth_columns, "find_stretches", lambda *_: shared)
    taken = []
    monkeypatch.setattr(smooth_columns, "_solved", lambda *given: taken.append(given[5]))
    scales = Scales.of(SYSTEM, 0.5, 1e-6, 96.0)
    smooth_columns.solve_columns(SYSTEM, scales, schedules, np.array([960]), 10.0, 1.0)
    fitted = [fit_columns(one, schedules) for one in shared]
    row = [fit_columns(fit_stretch(steps, k, k + 1), schedules) for k in (1, 9)]
    # with the stretch before, or with the row before where there is none
    for one, before in zip(taken[0], (row[0], fitted[0], row[1], fitted[2]), strict=True):
        exact = joint_error(before, replace(one, joint=0.0), scales.fastest)
        assert one.joint == pytest.approx(exact, rel=1e-9) and (exact > 0.0).all()
    # fewer than half of the steps are not worth it
    few = [fit_stretch(steps, 0, 29)]
    monkeypatch.setattr(smooth_columns, "find_stretches", lambda *_: few)
    assert smooth_columns.solve_columns(SYSTEM, scales, schedules, np.array([960]), 10.0, 1.0) is None
    few[0] = fit_stretch(steps, 0, 30)
    smooth_columns.solve_columns(SYSTEM, scales, schedules, np.array([960]), 10.0, 1.0)
    assert len(taken) == 2


def test_schedules_that_miss_too_much_are_not_tried(monkeypatch):
    lengths = np.full(640, 0.1)
    gammas = np.full((20, 640), 0.2)
    gammas[6, 333] *= 1.0 + 1e-5  # not one of those whose mean is looked at
    schedules, _ = columns_of(gammas, lengths, 16)
    asked = []
    right = smooth_columns._solved
    monkeypatch.setattr(smooth_columns, "_solved", lambda *given: asked.append(given[2]) or right(*given))
    scales = Scales.of(SYSTEM, 0.5, 1e-6, 64.0)
    records = np.array([0, 640])
    found = smooth_columns.solve_columns(SYSTEM, scales, schedules, records, 1e-6, stretch_growth(1e-6))
    assert asked[0].samples.shape[0] == 19
    assert found.worst[6] == np.inf and np.isnan(found.values[:, 6]).all() and np.isnan(found.errors[:, 6]).all()
    assert (np.delete(found.worst, 6) <= 1e-6).all()
    assert np.delete(found.values, 6, axis=1) == pytest.approx(np.repeat(found.values[:, :1], 19, axis=1), rel=1e-14)
    alone = march(SYSTEM, lengths, gammas[0], segments(lengths, 2.0, 1e-12)).ends[-1] - SYSTEM.noise
    assert abs(found.values[1, 0] / alone - 1.0) <= found.errors[1, 0] + 1e-12
    assert found.values[0, 0] == pytest.approx(SYSTEM.delta + SYSTEM.start.sum(), rel=1e-14)
    # nothing is solved where none is smooth
    monkeypatch.setattr(smooth_columns, "joint_error", lambda before, after, _: 1e-6 * np.ones_like(after.misfit))
    rough, _ = columns_of(gammas, lengths, 16)
    assert smooth_columns.solve_columns(SYSTEM, scales, rough, records, 1e-6, stretch_growth(1e-6)) is None
    assert len(asked) == 1
