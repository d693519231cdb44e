"""Parts of the solver for steps at their limits: cuts, pieces, rules, few modes, levels, and what is claimed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem
from fsl_num.volterra.linear_modes import linear_modes
from fsl_num.volterra.steps import discrete, mixed_march
from fsl_num.volterra.steps.discrete import cut_steps, losses_of_steps, rounding_floor, stretch_floor
from fsl_num.volterra.steps.local_modes import LocalBasis, _points_needed
from fsl_num.volterra.steps.march import march
from fsl_num.volterra.steps.mixed_march import Course, Floor, _Answer, march_stretches, solve_mixed
from fsl_num.volterra.steps.refinement import Refined, refine_points
from fsl_num.volterra.steps.sampled_steps import SampledSteps
from fsl_num.volterra.steps.smooth_steps import Scales, fit_stretch
from fsl_num.volterra.steps.step_rules import MOST_POINTS, Segment, segments, step_inverses
from fsl_num.volterra.steps.stretches import Moments

MODEL = {"s": 0.5, "beta": 2.0, "model_size": 3, "noise": 0.7}


# Cuts and pieces


def test_times_that_are_those_of_an_end_but_for_rounding():
    plan = Discrete(rates=[1.0, 0.5], batch_sizes=4.0)
    near = 8.0 * np.spacing(1.5)
    # at most that far from an end it is that end
    for t, wanted in ((near, -1), (1.0 - near, 0), (1.0, 0), (1.0 + near, 0), (1.5 - near, 1), (1.5, 1)):
        found = cut_steps(plan, 1.0, np.array([t]))
        assert found.lengths.tolist() == [1.0, 0.5] and found.wanted.tolist() == [wanted]
    # twice as far it is a place in a step
    for t, step in ((2.0 * near, 0), (1.0 - 2.0 * near, 0), (1.0 + 2.0 * near, 1), (1.5 - 2.0 * near, 1)):
        found = cut_steps(plan, 1.0, np.array([t]))
        assert found.lengths.size == 3 and found.wanted.tolist() == [step]
        assert found.lengths[: step + 1].sum() == pytest.approx(t, rel=1e-15)


@pytest.mark.parametrize("t", [[], [0.25, 3.1, 3.15]])
def test_pieces_belong_to_the_steps_that_take_time(t):
    rates = np.array([0.0, 0.3, 0.0, 0.0, 2.5, 0.2, 0.4, 0.0])
    plan = Discrete(rates=rates, batch_sizes=np.arange(8.0, 16.0))
    pieces = cut_steps(plan, 1.0, np.array(t))
    course, moving = discrete._course(plan, pieces)
    assert moving.tolist() == [1, 4, 5, 6]
    assert course.first[0] == 0 and course.first[-1] == pieces.lengths.size and len(course.first) == 5
    for k, step in enumerate(moving.tolist()):
        own = slice(course.first[k], course.first[k + 1])
        assert course.lengths[own].sum() == pytest.approx(rates[step], rel=1e-14)
        times = course.lengths[own] > 0.0
        assert (course.gammas[own][times] == plan.gammas[step]).all()
        # where in their step the pieces end: the last of those that take time at its end
        inside = np.cumsum(course.lengths[own])[times] / rates[step]
        assert course.places[own][times] == pytest.approx(inside, rel=1e-14)
        assert course.places[own][times][-1] == 1.0 and (course.places[own][~times] == 1.0).all()
    # steps that all take time and are not divided are their own pieces
    simple = Discrete(rates=[0.3, 0.2])
    course, moving = discrete._course(simple, cut_steps(simple, 1.0, np.empty(0)))
    assert moving is None and course.places is None and list(course.first) == [0, 1, 2]


# Which way


@pytest.mark.parametrize(
    ("steps", "stability", "closure", "rtol", "asked"),
    [
        (64, 0.5, "volterra", 1e-8, True),
        (63, 0.5, "volterra", 1e-8, False),  # not two stretches of 32
        (64, 0.5, "gaussian", 1e-8, False),
        (64, 0.98, "volterra", 1e-8, True),
        (64, 0.991, "volterra", 1e-8, False),  # too near to the edge
        (64, 0.5, "volterra", 1e-13, False),  # most of it is rounding
    ],
)
def test_when_stretches_are_looked_for(monkeypatch, steps, stability, closure, rtol, asked):
    calls = []
    monkeypatch.setattr(discrete, "find_stretches", lambda *given: calls.append(given))
    trace = 1.0 + 0.25 + 1.0 / 9.0
    rates = np.full(steps, 0.1)
    plan = Discrete(rates=rates, batch_sizes=0.05 * trace / stability)
    problem = Problem(**MODEL, gamma=plan, closure=closure)
    system, pieces = linear_modes(problem, problem.end), cut_steps(plan, 2.0, np.empty(0))
    assert discrete._on_stretches(problem, system, plan, pieces, None, rtol) is None
    assert bool(calls) == asked
    if asked:
        # less than half of what rounding leaves, for the rest is for the difference of two solutions
        assert calls[0][2] == pytest.approx(0.4 * (rtol - stretch_floor(problem, system, 0)), rel=1e-12)


def test_the_rounding_of_the_steps_beside_stretches_is_claimed(monkeypatch):
    rates = np.where(np.arange(1200) < 600, 0.1, 0.05)
    rates[580:640] *= np.random.default_rng(1).uniform(0.5, 1.0, 60)
    problem = Problem(**MODEL, gamma=Discrete(rates=rates))
    right, checked = discrete.solve_mixed, []
    monkeypatch.setattr(discrete, "solve_mixed", lambda *given: checked.append(given) or right(*given))
    _, _, facts = losses_of_steps(problem, 1e-7)
    system, _, _, stretches, accuracy, floor, at = checked[0]
    left = 1200 - sum(one.high - one.low for one in stretches)
    assert left == 1200 - facts["steps in stretches"] and left > 60 and at is None
    assert floor.relative == pytest.approx(stretch_floor(problem, system, left), rel=1e-12)
    assert floor.absolute == pytest.approx(4e-16 * 0.7, rel=1e-12) and accuracy == 1e-7 - floor.relative


@pytest.mark.parametrize(("away", "reached"), [(0.0, True), (1e-12, False)])
@pytest.mark.parametrize(("rtol", "blur"), [(1e-6, 1e-9), (1e-6, 1e-3)])
def test_what_single_steps_claim(monkeypatch, away, reached, rtol, blur):
    problem = Problem(**MODEL, gamma=Discrete(rates=[0.1] * 4))
    system = replace(linear_modes(problem, 0.4), error=blur)
    pieces = cut_steps(problem.gamma, 2.0, np.empty(0))
    floor = (rounding_floor(4) + blur) / (1.0 - problem.stability)
    # the modes' own error cannot be made up for by points: at least a tenth is left for them
    target = max(rtol - floor, 0.1 * rtol)
    worst = np.linspace(0.0, target * (1.0 + away), 5)

    def refined(marched, lengths, fastest, noise, accuracy):
        assert (fastest, noise, accuracy) == (2.0, 0.7, target)
        marched([Segment(0, 4, 2)])
        return Refined(np.full(5, 2.7), worst, [Segment(0, 2, 3), Segment(2, 4, 2)], 17)

    monkeypatch.setattr(discrete, "refine_points", refined)
    values, errors, facts = discrete._step_by_step(problem, system, pieces, slice(None), rtol)
    assert values == pytest.approx(np.full(5, 2.0), rel=1e-15)
    assert errors == pytest.approx((worst + floor) * 2.0 + 4e-16 * 0.7, rel=1e-12)
    assert facts["tolerance reached"] is reached and facts["points a step"] == 3 and facts["evaluations"] == 17


@pytest.mark.parametrize("rtol", [1e-13])
def test_the_least_tolerance_is_allowed(rtol):
    values, errors, _ = losses_of_steps(Problem(**MODEL, gamma=Discrete(rates=[0.1] * 4)), rtol)
    assert (errors < 1e-12 * values).all()


# Rules and few modes


def test_how_inverses_are_found(monkeypatch):
    right, asked = np.linalg.inv, []
    monkeypatch.setattr(np.linalg, "inv", lambda given: asked.append(given) or right(given))
    # row sums below 0.9 are eliminated as they stand
    small = np.full((3, 2, 2), 0.4499)
    assert step_inverses(small) @ (np.eye(2) - small) == pytest.approx(np.broadcast_to(np.eye(2), (3, 2, 2)), abs=1e-14)
    step_inverses(np.zeros((0, 2, 2)))
    assert not asked
    step_inverses(np.full((3, 2, 2), 0.4501))
    assert len(asked) == 1
    # I - S has a 0 where an elimination as it stands would begin
    large = np.array([[[1.0, 0.5], [0.5, 0.0]]])
    assert step_inverses(large) @ (np.eye(2) - large) == pytest.approx(np.eye(2)[None], abs=1e-14)


@pytest.mark.parametrize("turn", [0.03, 0.1, 0.2, 0.4, 0.6, 0.9])
def test_the_first_of_two_solutions_is_for_a_third_of_the_accuracy(turn):
    for accuracy in 10.0 ** -np.arange(1.0, 13.0, 0.5):
        plans = []
        refine_points(lambda plan: plans.append(plan) or np.ones(1), np.array([turn]), 1.0, 0.0, accuracy)  # noqa: B023
        tighter, looser = (segments(np.array([turn]), 1.0, share * accuracy)[0].points for share in (0.25, 0.35))
        assert looser <= plans[0][0].points <= tighter


def test_a_difference_of_just_the_accuracy_is_enough():
    for accuracy, solutions in ((0.25, 2), (0.2499, 3)):
        answers = iter([2.5, 2.0, 2.0])
        plans = []

        def marched(plan, answers=answers, plans=plans):
            plans.append(plan)
            return np.array([next(answers)])

        refine_points(marched, np.array([0.1]), 1.0, 0.0, accuracy)
        assert len(plans) == solutions
    assert MOST_POINTS == 8


def test_modes_are_interpolated_only_where_that_makes_fewer():
    length = 1.0  # a power of two: not rounded up
    needed = _points_needed(1.0)
    for size, few in ((needed - 1, False), (needed, False), (needed + 1, True)):
        rates = np.linspace(1.0, 0.99, size)
        found = LocalBasis(rates).of(length)
        assert found.rates.size == min(size, needed) and np.array_equal(found.rates, rates) != few
    # a rate that is a point of interpolation has that point alone
    rates = np.linspace(1.0, 0.01, 60)
    points = LocalBasis(rates).of(length).rates
    more = np.append(rates, points[3])
    hit = LocalBasis(more).of(length)
    assert np.array_equal(hit.rates, points) and hit.transfer[60].tolist() == [float(k == 3) for k in range(needed)]
    assert LocalBasis(rates).of(0.0).rates.size == 1


@pytest.mark.parametrize("steps", [32, 200])
def test_few_modes_are_those_of_the_longest_block(steps):
    problem = Problem(s=0.5, beta=2.0, model_size=80, noise=1.0, gamma=0.1, horizon=40.0)
    system = linear_modes(problem, 40.0)
    lengths = np.linspace(0.02, 0.2, steps)
    found = march(system, lengths, np.full(steps, 0.1), [Segment(0, steps, 2)])
    blocks = [lengths[low : low + 32].sum() for low in range(0, steps, 32)]
    n, q = system.rates.size, LocalBasis(system.rates).of(max(blocks)).rates.size
    assert q < n
    # two operations for each number of the products, as for all modes kept
    assert found.flops == len(blocks) * (2 * q * 64**2 + 4 * q * 64 + 8 * q * 64 + 64**2 + 4 * q * n)


# Levels of panels


def flat_run(count, steps=64):
    plan = Discrete(rates=np.full(steps * count, 0.1), batch_sizes=np.full(steps * count, 0.5))
    problem = Problem(**MODEL, gamma=plan)
    system = linear_modes(problem, problem.end)
    tilted = plan.gammas * np.linspace(1.0, 1.3, steps * count) ** 2
    sampled = SampledSteps.of(plan.rates, tilted, 32, False)
    run = [fit_stretch(sampled, 2 * k, 2 * k + 2) for k in range(count)]
    return problem, system, run, tilted


def test_at_most_six_levels_of_panels(monkeypatch):
    problem, system, _, _ = flat_run(3)
    gammas = problem.gamma.gammas
    run = [fit_stretch(SampledSteps.of(problem.gamma.rates, gammas, 32, True), 0, 6)]
    parts, smooth = [], mixed_march.march_stretches
    monkeypatch.setattr(mixed_march, "march_stretches", lambda *given: parts.append(given[4]) or smooth(*given))
    scales = Scales.of(system, problem.stability, 1e-8, problem.end)
    course = Course(problem.gamma.rates, gammas, range(193), None)
    found = solve_mixed(system, scales, course, run, 1e-19, Floor())
    # a flat gamma takes nothing of the accuracy, which no solution reaches
    assert found.smooth == 0.0 and parts == [1, 2, 4, 8, 16, 32]
    assert found.evaluations == 6 * sum(parts) and found.points == 1
    # a polynomial of degree 6 misses exp(-x) on a panel of 16, [0, 2.4], by 2 (2.4/4)^7/7!; f is 0.6 at least
    assert found.difference < 2.0 * 0.6**7 / math.factorial(7) / 0.6


@pytest.mark.parametrize("panels", [1, 4, 6])
def test_stretches_are_solved_in_groups(monkeypatch, panels):
    _, system, run, _ = flat_run(5)
    moments = Moments.of(system)
    whole, end = march_stretches(system, moments, system.start, run, 2)
    sizes, right = [], mixed_march.panel_maps
    monkeypatch.setattr(mixed_march, "_PANELS", panels)
    monkeypatch.setattr(mixed_march, "panel_maps", lambda *given: sizes.append(given[1].size) or right(*given))
    again, after = march_stretches(system, moments, system.start, run, 2)
    assert again.modes == pytest.approx(whole.modes, rel=1e-14) and after == pytest.approx(end, rel=1e-13)
    # as many stretches of two panels at once as fit, one at least
    group = max(panels // 2, 1)
    assert sizes == [2 * min(group, 5 - low) for low in range(0, 5, group)]


def test_answers_are_filled_in_where_they_are_wanted():
    course = Course(np.full(6, 0.1), np.ones(6), range(7), None)
    at = np.array([0, 1, 4, 6])
    some, late = _Answer(course, at, False, 5.0, Floor(0.5, 2.0)), _Answer(course, at[1:], False, 5.0, Floor())
    whole = _Answer(course, np.empty(0), True, 5.0, Floor())
    for answer in (some, late, whole):
        answer.put(slice(0, 2), np.array([1.0, 2.0]), np.array([0.1, 0.2]))
        answer.put(slice(2, 6), np.array([3.0, 4.0, 7.0, 6.0]), np.array([0.3, 0.4, 0.5, 0.6]))
    assert whole.values.tolist() == [5.0, 1.0, 2.0, 3.0, 4.0, 7.0, 6.0]
    assert some.values.tolist() == [5.0, 1.0, 4.0, 6.0] and late.values.tolist() == [1.0, 4.0, 6.0]
    assert whole.errors == pytest.approx([0.0, 0.1, 0.4, 0.9, 1.6, 3.5, 3.6], rel=1e-14)
    # what is added to every claim, also at the start
    assert some.errors == pytest.approx([4.5, 2.6, 5.6, 8.6], rel=1e-14)
    assert late.errors == pytest.approx([0.1, 1.6, 3.6], rel=1e-14)


def test_loss_in_closed_form_on_steps_and_stretches():
    rates = np.full(2000, 0.05)
    rates[300:310] = 0.3
    problem = Problem(s=0.5, beta=2.0, model_size=1, noise=0.7, gamma=Discrete(rates=rates, batch_sizes=rates / 0.2))
    delta = problem.approximation
    rest = 0.2 * (delta + 0.7) / 1.8
    # x' = (gamma - 2) x + gamma (delta + noise) with gamma 0.2
    exact = delta + rest + (1.0 - rest) * np.exp(-1.8 * np.append(0.0, np.cumsum(rates)))
    for rtol in (1e-4, 1e-9, 1e-12):
        values, errors, _ = losses_of_steps(problem, rtol)
        assert (np.abs(values - exact) <= errors + 1e-15).all() and (errors <= rtol * values * 1.001).all()
    assert math.isclose(problem.stability, 0.1)
