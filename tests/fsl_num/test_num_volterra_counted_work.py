"""What a run of steps says that it took: points, evaluations, products; and how results are gathered by step."""

import math

import numpy as np
import pytest

from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem
from fsl_num.volterra.linear_modes import linear_modes
from fsl_num.volterra.steps import discrete as discrete_module
from fsl_num.volterra.steps import mixed_march
from fsl_num.volterra.steps.discrete import losses_of_steps, solve_discrete
from fsl_num.volterra.steps.march import march
from fsl_num.volterra.steps.mixed_march import Course, Floor, solve_mixed
from fsl_num.volterra.steps.sampled_steps import SampledSteps
from fsl_num.volterra.steps.smooth_steps import Scales, find_stretches
from fsl_num.volterra.steps.step_rules import Segment, segments

MODEL = {"s": 0.5, "beta": 2.0, "model_size": 3, "noise": 0.7}


def problem_of(steps, **given):
    rates = 0.1 + 0.02 * np.cos(np.linspace(0.0, 1.0, steps))
    return Problem(**MODEL, gamma=Discrete(rates=rates, **given))


@pytest.mark.parametrize(("points", "steps"), [(1, 64), (2, 32), (3, 21), (4, 33)])
def test_products_of_one_pass_are_counted(points, steps):
    problem = problem_of(steps)
    system, rates = linear_modes(problem, problem.end), problem.gamma.rates
    found = march(system, rates, rates, [Segment(0, steps, points)])
    in_block = max(1, 64 // points)
    n, size, blocks = 3, in_block * points, math.ceil(steps / in_block)
    # all three modes are kept. Two operations for each number of a product: between points, of the history, of what is
    # left, and twice within steps; the triangular solve; to and from the modes
    products = 2 * n * size**2 + 2 * n * size + 2 * n * size + 2 * (2 * n * size * points)
    assert found.flops == blocks * (products + size**2 + 2 * (2 * n * n))


def test_work_on_steps_and_stretches_is_added_up(monkeypatch):
    evaluations, points, flops, merged = [], [], [], []
    right, smooth = mixed_march.march, mixed_march.march_stretches

    def counted(system, lengths, gammas, plan, **given):
        found = right(system, lengths, gammas, plan, **given)
        evaluations.append(sum(run.points * (run.high - run.low) for run in plan))
        points.append(max(run.points for run in plan))
        flops.append(found.flops)
        return found

    def counted_stretches(system, moments, state, stretches, parts):
        panels = len(stretches) * parts
        evaluations.append(6 * panels)
        # a panel: from three modes to six points and back; a system of six; three modes by twelve parts of 6 x 6 maps
        flops.append(panels * (2 * 2 * 6 * 3 + 2 * 36 + 2 * 3 * 72))
        merged.append((parts, sum(one.high - one.low for one in stretches), len(stretches)))
        return smooth(system, moments, state, stretches, parts)

    monkeypatch.setattr(mixed_march, "march", counted)
    monkeypatch.setattr(mixed_march, "march_stretches", counted_stretches)
    _, _, facts = losses_of_steps(problem_of(900), 1e-8)
    assert facts["evaluations"] == sum(evaluations) and facts["points a step"] == max(points)
    assert facts["flops"] == pytest.approx(sum(flops), rel=1e-12)
    first = [each for each in merged if each[0] == 1]
    assert facts["steps in stretches"] == sum(steps for _, steps, _ in first)
    assert facts["stretches"] == sum(count for _, _, count in first)
    assert facts["modes"] == 3 and facts["tolerance reached"] is True
    # twice as many panels each time, at least two solutions
    parts = sorted({each[0] for each in merged})
    assert parts == [2**k for k in range(len(parts))] and len(parts) >= 2


def test_single_steps_are_counted_too(monkeypatch):
    plans, right, flops = [], discrete_module.march, []

    def counted(system, lengths, gammas, plan):
        found = right(system, lengths, gammas, plan)
        plans.append(plan)
        flops.append(found.flops)
        return found

    monkeypatch.setattr(discrete_module, "march", counted)
    _, _, facts = losses_of_steps(problem_of(50), 1e-8)
    assert facts["evaluations"] == sum(run.points * (run.high - run.low) for plan in plans for run in plan)
    assert facts["points a step"] == max(run.points for run in plans[-1]) and facts["flops"] == sum(flops)
    assert facts["stretches"] == facts["steps in stretches"] == 0 and facts["tolerance reached"] is True


def mixed(at=None, accuracy=1e-9, floor=None):
    problem = problem_of(900)
    system, rates = linear_modes(problem, problem.end), problem.gamma.rates
    scales = Scales.of(system, problem.stability, 1e-8, problem.end)
    stretches = find_stretches(SampledSteps.of(rates, rates, 32, True), scales, 1e-9, 0.5)
    course = Course(rates, rates, range(901), None)
    found = solve_mixed(system, scales, course, stretches, accuracy, Floor() if floor is None else floor, at)
    return found, problem, stretches


def test_all_steps_some_steps_and_what_is_claimed_for_them():
    whole, problem, stretches = mixed()
    exact, wrong, _ = losses_of_steps(problem, 1e-12)
    assert len(stretches) >= 3 and whole.values.size == 901
    assert (np.abs(whole.values - exact) <= whole.errors + wrong).all()
    # errors grow from the start, where there is none, as the relative ones do
    relative = whole.errors / whole.values
    assert relative[0] == 0.0 and (np.diff(relative) >= -1e-22).all()
    assert relative[-1] == pytest.approx(whole.difference + whole.smooth, rel=1e-12, abs=0.0)
    assert whole.difference + whole.smooth <= 1e-9
    at = np.array([0, 1, 7, stretches[0].low, stretches[0].low + 1, stretches[1].high - 1, stretches[1].high, 900])
    some, _, _ = mixed(at)
    # between rows the whole is interpolated: a part of what is claimed
    assert some.values == pytest.approx(whole.values[at], rel=1e-10, abs=0.0)
    assert (some.errors <= whole.errors[at] * (1.0 + 1e-9)).all()
    later, _, _ = mixed(at[1:])
    assert later.values.tolist() == some.values[1:].tolist()
    # what is added to every claim
    floored, _, _ = mixed(at, floor=Floor(1e-3, 0.5))
    assert floored.errors - some.errors == pytest.approx(1e-3 * some.values + 0.5, rel=1e-9)


def test_a_tolerance_that_claims_alone_pass_needs_no_more_panels(monkeypatch):
    parts, smooth = [], mixed_march.march_stretches

    def counted(system, moments, state, stretches, part):
        parts.append(part)
        return smooth(system, moments, state, stretches, part)

    monkeypatch.setattr(mixed_march, "march_stretches", counted)
    found, _, _ = mixed(accuracy=1e-15)
    # the claims for the staircase are larger: more than two solutions are no help
    assert found.smooth > 1e-15 and set(parts) == {1, 2}


def test_steps_of_no_length_between_others():
    rates = 0.1 + 0.02 * np.cos(np.linspace(0.0, 1.0, 900))
    holes = np.insert(rates, [0, 3, 400, 400, 900], 0.0)
    whole = losses_of_steps(Problem(**MODEL, gamma=Discrete(rates=rates)), 1e-8)
    found = losses_of_steps(Problem(**MODEL, gamma=Discrete(rates=holes)), 1e-8)
    at = np.cumsum(holes > 0.0)
    assert found[0].size == 906
    assert found[0][1:] == pytest.approx(whole[0][at], rel=1e-8) and found[0][0] == whole[0][0]
    assert (np.abs(found[0][1:] - whole[0][at]) <= found[1][1:] + whole[1][at]).all()
    # a step of no length changes nothing but for rounding
    assert found[0][[1, 403, 905]] == pytest.approx(found[0][[0, 402, 904]], rel=1e-15)


def test_times_inside_divided_steps():
    plan = Discrete(rates=np.full(80, 3.0), batch_sizes=60.0)
    problem = Problem(**MODEL, gamma=plan)
    t = np.array([0.0, 0.4, 3.0, 7.1, 100.0, 199.3, 240.0])
    values, errors, _ = solve_discrete(problem, t, 1e-9)
    exact, wrong, _ = solve_discrete(problem, t, 1e-13)
    assert (np.abs(values - exact) <= errors + wrong).all() and (errors <= 2e-9 * values).all()
    assert segments(np.full(80, 1.0), 1.0, 1e-9)[0].points > 1
