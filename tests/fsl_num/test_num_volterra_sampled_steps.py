"""Steps told by samples: what they miss, where they cannot tell, honesty of long stretches, and mutants."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem
from fsl_num.volterra.steps import discrete as discrete_module
from fsl_num.volterra.steps import mixed_march, sampled_steps
from fsl_num.volterra.steps.discrete import losses_of_steps
from fsl_num.volterra.steps.many import losses_of_schedules
from fsl_num.volterra.steps.sampled_steps import (
    SampledSchedules,
    SampledSteps,
    between_samples,
    eighth_difference,
    missed,
)

STEPS = 12003  # the last row is not whole


def smooth(steps=STEPS):
    return 0.1 * np.cos(np.linspace(0.0, 1.3, steps)) ** 2


def test_a_smooth_function_is_told_by_its_samples():
    values = smooth(3200)
    found = missed(values, 32)
    assert np.isinf(found[:3]).all() and np.isinf(found[-4:]).all()
    # rounding of a number of 0.1 and of a sum of eight, 32 times squared
    assert 0.0 < found[3:-4].max() < 32.0**0.5 * 10.0 * 2.0**-56
    ends = np.empty((99, 32))
    between_samples(values[::32], 32, ends)
    assert ends.ravel() == pytest.approx(values[1:3169], abs=1e-15)


@pytest.mark.parametrize("degree", [7, 8])
def test_eight_samples_give_a_polynomial_of_degree_seven_and_no_higher(degree):
    values = (np.arange(32.0 * 20.0) / 100.0) ** degree
    found = missed(values, 32)[3:-4] / values.max()
    worst = eighth_difference(values[::32]) / values.max()
    if degree == 7:
        assert found.max() < 1e-14 and worst < 1e-13
        return
    # the largest error in a row is 0.0011 of the eighth difference; the root of the sum of its squares is more
    largest = 0.5**2 * 1.5**2 * 2.5**2 * 3.5**2 / math.factorial(8)
    assert largest * worst < found.min() and found.max() < 32.0**0.5 * largest * worst
    ends = np.empty((19, 32))
    between_samples(values[::32], 32, ends)
    error = np.abs(ends.ravel() - values[1:609]).max() / values.max()
    assert 0.5 * sampled_steps.INTERPOLATION * worst < error < sampled_steps.INTERPOLATION * worst


def test_the_error_of_a_row_is_at_least_that_of_its_worst_step():
    values = smooth(3200)
    values[1000] += 1e-9
    values[2001:2003] += 1e-9, -1e-9
    found = missed(values, 32)
    assert found[1000 // 32] == pytest.approx(1e-9, rel=1e-6)
    assert found[2001 // 32] == pytest.approx(2.0**0.5 * 1e-9, rel=1e-6)
    assert np.delete(found, [1000 // 32, 2001 // 32])[3:-4].max() < 1e-15
    values[1600] += 1e-9  # a sample: all the rows that look at it
    assert (missed(values, 32)[47:53] > 1e-12).all()


def test_rows_whose_steps_are_told_one_by_one():
    lengths = smooth()
    lengths[1000] *= 1.0 + 1e-6
    steps = SampledSteps.of(lengths, 2.0 * lengths, 32, True)
    assert steps.uneven == pytest.approx(0.5 * steps.ragged)
    rows = steps.rows(20, steps.blocks.size, np.array([1e-10, 1e-8]))
    apart = 640 + rows.index
    # the row of the step that is odd, the last four whole rows and what is left
    assert apart.tolist() == [*range(992, 1024), *range(STEPS // 32 * 32 - 128, STEPS)]
    places = np.cumsum(lengths[640:])
    assert rows.ends == pytest.approx(places[rows.index], rel=1e-14)
    assert rows.starts == pytest.approx(np.append(0.0, places[31::32].tolist() + [places[-1]]), rel=1e-14)
    assert rows.ragged == 2.0 * rows.uneven < 1e-15
    # lengths add up over a row
    assert steps.rows(20, 40, np.array([1e-6, 1e-7 / 32.0])).index.tolist() == list(range(352, 384))
    assert steps.rows(20, 40, np.array([np.inf, np.inf])).index.size == 0


def test_schedules_are_looked_at_once():
    rates = smooth(800)
    rates[[5, 70]] = 0.0
    batches = np.random.default_rng(2).uniform(1.0, 4.0, (5, 1)) * np.linspace(1.0, 2.0, 800)
    found = SampledSchedules.of(rates, batches, 16)
    moving = np.flatnonzero(rates)
    gammas = (rates / batches)[:, moving]
    assert found.moving.tolist() == moving.tolist() and found.largest == gammas.max()
    assert np.array_equal(found.samples, gammas[:, ::16]) and np.array_equal(found.gammas(slice(3, 9)), gammas[:, 3:9])
    assert np.array_equal(found.gammas(np.array([1, 700])), gammas[:, [1, 700]])
    # 798 steps take time: 24 pairs of rows are whole, and each row has what its pair misses
    alone = np.append(np.repeat(missed(gammas[3, :768], 32), 2), [np.inf, np.inf])
    assert np.array_equal(found.ragged[3], alone) and np.array_equal(found.only([3]).ragged[0], alone)
    assert np.array_equal(found.mean([1, 4]).gammas, gammas[[1, 4]].mean(axis=0))


@pytest.mark.parametrize("odd", [3.0, 4.0])
def test_schedules_of_one_gamma_are_told_by_their_samples_up_to_the_end(odd):
    # one long stretch, which ends with the rows that have too few samples behind them
    model = Problem(s=0.5, beta=2.0, model_size=math.inf, noise=1.0, gamma=0.0, horizon=1.0)
    batches = np.array([[1.0], [3.0], [9.0]]) * np.ones(9001)
    batches[1, -3] = odd
    found = losses_of_schedules(model, np.full(9001, 0.1), batches, rtol=1e-6)
    assert "3 on stretches" in found.message
    for k in range(3):
        plan = Discrete(rates=np.full(9001, 0.1), batch_sizes=batches[k])
        exact = losses_of_steps(replace(model, gamma=plan, horizon=None), 1e-11)
        assert abs(found.values[k, 0] - exact[0][-1]) <= found.error[k, 0] + exact[1][-1]


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("place", [5, 6])
def test_batches_that_are_no_sizes_are_refused_wherever_they_stand(wrong, place):
    rates, batches = smooth(100), np.ones((3, 100))
    rates[5] = 0.0
    batches[2, place] = wrong
    with pytest.raises(ValueError, match="batch_sizes must be finite and positive"):
        SampledSchedules.of(rates, batches, 16)


def odd_schedules():
    """Schedules that are smooth but for what samples alone would not show, or show wrongly."""
    rng, count = np.random.default_rng(1), np.arange(STEPS)
    spike, pair, last = smooth(), smooth(), smooth()
    spike[STEPS // 2 + 17] *= 1.5
    pair[STEPS // 2 + 17] *= 1.5
    pair[STEPS // 2 + 18] *= 0.5
    last[-1] *= 3.0
    uneven = 0.1 * (1.0 + 1e-4 * rng.normal(size=STEPS))
    place = np.cumsum(uneven)
    return {
        "as smooth as it seems": (smooth(), 1.0),
        "one step in a row": (spike, 1.0),
        "two steps in a row": (pair, 1.0),
        "the last step": (last, 1.0),
        "as many to a wave as to a row": (smooth() * (1.0 + 1e-3 * np.sin(2.0 * np.pi * count / 32)), 1.0),
        "every other row": (smooth() * (1.0 + 1e-6 * ((count // 32) % 2)), 1.0),
        "noise": (smooth() * (1.0 + 1e-9 * rng.normal(size=STEPS)), 1.0),
        "uneven lengths of one gamma": (uneven, uneven / 0.05),
        "uneven lengths of a smooth gamma": (uneven, uneven / (0.1 * np.cos(1.2 * place / place[-1]) ** 2)),
        "a jump": (np.where(count < 9001, 0.1, 0.02), 1.0),
    }


def truth_of(problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discrete_module, "_on_stretches", lambda *_: None)
        return losses_of_steps(problem, 1e-13)[:2]


def dishonesty(problem, rtol, truth):
    values, errors, facts = losses_of_steps(problem, rtol)
    beyond = np.maximum(np.abs(values - truth[0]) - truth[1], 0.0)
    return float((beyond / errors).max()), facts["steps in stretches"] / STEPS


def problem_of(name):
    rates, batches = odd_schedules()[name]
    return Problem(s=0.5, beta=2.0, model_size=math.inf, noise=1.0, gamma=Discrete(rates=rates, batch_sizes=batches))


@pytest.mark.parametrize("name", odd_schedules())
def test_no_smaller_error_is_claimed_than_the_true_one(name):
    problem = problem_of(name)
    truth = truth_of(problem)
    found = [dishonesty(problem, rtol, truth) for rtol in (1e-2, 1e-5, 1e-8)]
    assert max(ratio for ratio, _ in found) < 1.0
    assert found[0][1] > 0.5  # most of the steps are on stretches


@pytest.mark.parametrize("name", ["one step in a row", "two steps in a row"])
def test_a_mutant_that_believes_its_samples_is_refuted(monkeypatch, name):
    problem = problem_of(name)
    truth = truth_of(problem)
    right = sampled_steps.SampledSteps.of

    def believed(*arguments):
        found = right(*arguments)
        blind = np.where(np.isfinite(found.ragged), 0.0, np.inf)
        return replace(found, ragged=blind, uneven=blind)

    monkeypatch.setattr(sampled_steps.SampledSteps, "of", staticmethod(believed))
    # for less, stretches are so short that every step is looked at where they end
    assert dishonesty(problem, 1e-2, truth)[0] > 1.0


def test_a_mutant_that_interpolates_over_uneven_lengths_is_refuted(monkeypatch):
    problem = problem_of("uneven lengths of one gamma")
    truth = truth_of(problem)
    right = sampled_steps.SampledSteps.rows

    def told(self, low, high, allowed):
        return right(self, low, high, np.array([allowed[0], np.inf]))

    monkeypatch.setattr(sampled_steps.SampledSteps, "rows", told)
    assert dishonesty(problem, 1e-8, truth)[0] > 1.0


def test_the_ends_of_steps_are_those_of_the_curve(monkeypatch):
    problem = problem_of("as smooth as it seems")
    values, errors, _ = losses_of_steps(problem, 1e-8)
    right = mixed_march._put_rows
    seen = []

    def one_by_one(rows, of, parts, time, delta, out):
        claimed = right(rows, of, parts, time, delta, out)
        quick = out.copy()
        every = replace(rows, index=np.arange(out.size), ends=np.cumsum(lengths[place : place + out.size]))
        right(every, of, parts, time, delta, out)
        seen.append((np.abs(quick / out - 1.0).max(), claimed))
        return claimed

    lengths = problem.gamma.rates
    for_place = mixed_march._Answer.put_stretch

    def put(self, stretch, *arguments):
        nonlocal place
        place = stretch.low
        for_place(self, stretch, *arguments)

    place = 0
    monkeypatch.setattr(mixed_march._Answer, "put_stretch", put)
    monkeypatch.setattr(mixed_march, "_put_rows", one_by_one)
    losses_of_steps(problem, 1e-6)
    assert len(seen) > 5
    # sums of 12,000 lengths, or of a few hundred rows, round differently
    assert all(error <= claimed + 1e-14 for error, claimed in seen)
