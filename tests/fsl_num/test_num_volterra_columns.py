"""Many schedules of shared lengths on stretches: against single steps, rough ones among smooth ones, and mutants."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem
from fsl_num.volterra.steps import many, smooth_columns
from fsl_num.volterra.steps.discrete import losses_of_steps
from fsl_num.volterra.steps.many import losses_of_schedules
from fsl_num.volterra.steps.sampled_steps import SampledSchedules, SampledSteps
from fsl_num.volterra.steps.smooth_columns import fit_columns
from fsl_num.volterra.steps.smooth_steps import fit_stretch

MODELS = [
    Problem(s=0.5, beta=2.0, model_size=math.inf, noise=1.0, gamma=0.0, horizon=1.0),
    Problem(s=0.5, beta=2.0, model_size=math.inf, noise=1e6, gamma=0.0, horizon=1.0),
    Problem(s=3.0, beta=1.3, model_size=7, noise=0.0, gamma=0.0, horizon=1.0),
]


def family(count, steps, seed=3):
    """Learning rates of all, and batches that grow for each schedule in its own way."""
    rng = np.random.default_rng(seed)
    rates = 0.1 * np.cos(np.linspace(0.0, 1.5, steps)) ** 2
    grow = np.linspace(0.0, 1.0, steps) * rng.uniform(0.0, 3.0, (count, 1))
    return rates, rng.uniform(1.0, 10.0, (count, 1)) * (1.0 + grow)


def step_by_step(model, rates, batches, **options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many, "_on_stretches", lambda *_: None)
        return losses_of_schedules(model, rates, batches, **options)


def dishonesty(model, rates, batches, rtol, truth=None):
    """Return the largest true error by the claimed one, over all schedules and records, and the losses."""
    at = [0, 40, rates.size // 3, rates.size // 2 + 3, rates.size]
    truth = step_by_step(model, rates, batches, at=at, rtol=1e-12) if truth is None else truth
    found = losses_of_schedules(model, rates, batches, at=at, rtol=rtol)
    beyond = np.maximum(np.abs(found.values - truth.values) - truth.error, 0.0)
    return float((beyond / found.error).max()), found, truth


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rtol", [1e-4, 1e-8, 1e-10])
def test_no_smaller_error_is_claimed_than_the_true_one(model, rtol):
    rates, batches = family(6, 2500)
    rates[7] = 0.0
    ratio, found, _ = dishonesty(model, rates, batches, rtol)
    assert ratio < 1.0
    if rtol >= 1e-8:
        assert "6 on stretches" in found.message
        # the tolerance, and the rounding of a large noise
        assert (found.error <= rtol * found.values + 1e-15 * model.noise).all()


def test_rough_schedules_among_smooth_ones_are_solved_step_by_step():
    model = MODELS[0]
    rates, batches = family(40, 2500)
    rng = np.random.default_rng(1)
    batches[3, 1000] *= 1.001  # one step
    batches[17, 1300:] *= 2.0  # a jump
    batches[30] *= rng.uniform(1.0, 2.0, 2500)
    ratio, found, _ = dishonesty(model, rates, batches, 1e-7)
    assert ratio < 1.0 and "37 on stretches" in found.message
    alone = step_by_step(model, rates, batches[[3, 17, 30]], at=found.at, rtol=1e-7)
    assert found.values[[3, 17, 30]] == pytest.approx(alone.values, rel=1e-13)


def test_each_is_the_one_that_is_solved_alone():
    rates, batches = family(3, 3000)
    found = losses_of_schedules(MODELS[0], rates, batches, at=[1500, 3000], rtol=1e-8)
    for k in range(3):
        plan = Discrete(rates=rates, batch_sizes=batches[k])
        values, errors, facts = losses_of_steps(replace(MODELS[0], gamma=plan, horizon=None), 1e-8)
        assert facts["stretches"] > 0
        assert (np.abs(values[found.at] - found.values[k]) <= errors[found.at] + found.error[k]).all()


def test_long_steps_and_a_jump_that_all_share():
    rates = np.where(np.arange(1500) < 700, 1.7, 0.1)
    batches = np.linspace(20.0, 60.0, 4)[:, None]
    ratio, found, _ = dishonesty(MODELS[0], rates, batches, 1e-8)
    assert ratio < 1.0 and "4 on stretches" in found.message


def test_a_jump_of_one_schedule_where_stretches_meet(monkeypatch):
    rates, batches = family(20, 2500)
    right, ends = smooth_columns.find_stretches, []

    def checked(*arguments):
        found = right(*arguments)
        ends.append([one.high for one in found])
        return found

    monkeypatch.setattr(smooth_columns, "find_stretches", checked)
    losses_of_schedules(MODELS[0], rates, batches, rtol=1e-8)
    place = next(high for high in ends[0] if high > 600)
    batches[6, place:] *= 1.0 + 1e-6  # not one of those that are looked at first
    at = [place, place + 3, place + 30, 2500]
    found = losses_of_schedules(MODELS[0], rates, batches, at=at, rtol=1e-8)
    truth = step_by_step(MODELS[0], rates, batches, at=at, rtol=1e-12)
    assert "19 on stretches" in found.message
    assert (np.abs(found.values - truth.values) <= found.error + truth.error).all()


@pytest.mark.parametrize("high", [25, 50])
def test_what_the_polynomials_of_all_schedules_miss(high):
    rates, batches = family(5, 8000)
    rates, batches = rates[:800], batches[:, :800]
    batches[2, 333] *= 1.0 - 1e-6
    schedules = SampledSchedules.of(rates, batches, 16)
    alone = [SampledSteps.of(rates, rates / each, 16, False) for each in batches]
    shared = fit_stretch(alone[0], 0, high)
    assert (shared.rows is None) == (high == 25)
    found = fit_columns(shared, schedules)
    for k in range(5):
        one = fit_stretch(alone[k], 0, high)
        assert found.misfit[k] == pytest.approx(one.misfit, rel=0.1, abs=2e-14)
        assert found.slope[k] == pytest.approx(one.slope, rel=1e-6)
    assert found.misfit[2] > 5e-7 > 100.0 * found.misfit[1]


def test_mutants_that_ignore_jumps_or_the_zigzags_are_refuted(monkeypatch):
    model = MODELS[0]
    rates, batches = family(20, 2500)
    batches[6, 1251:1270] *= 1.0 + 1e-6  # one that is not among those that are looked at first
    right, _, truth = dishonesty(model, rates, batches, 1e-8)
    assert right < 1.0
    with monkeypatch.context() as patch:
        fit = smooth_columns.fit_columns

        def blind(*arguments):
            found = fit(*arguments)
            return replace(found, misfit=0.0 * found.misfit)

        patch.setattr(smooth_columns, "fit_columns", blind)
        patch.setattr(smooth_columns, "joint_error", lambda *_: np.zeros(20))
        assert dishonesty(model, rates, batches, 1e-8, truth)[0] > 1.0
    rates, batches = family(3, 2500)
    right, _, truth = dishonesty(model, rates, batches, 1e-7)
    assert right < 1.0
    stairs = smooth_columns._stairs

    def flat(*arguments):
        found = stairs(*arguments)
        return replace(found, zigzag=0.0 * found.zigzag)

    monkeypatch.setattr(smooth_columns, "_stairs", flat)
    assert dishonesty(model, rates, batches, 1e-7, truth)[0] > 1.0
