"""Many schedules side by side, part by part, against each of them alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem
from fsl_num.volterra.linear_modes import LinearModes, linear_modes
from fsl_num.volterra.steps import many, smooth_columns
from fsl_num.volterra.steps.column_march import march_columns
from fsl_num.volterra.steps.discrete import rounding_floor, stretch_floor, stretch_growth
from fsl_num.volterra.steps.local_modes import LocalBasis
from fsl_num.volterra.steps.many import losses_of_schedules
from fsl_num.volterra.steps.march import march
from fsl_num.volterra.steps.mixed_march import Gap
from fsl_num.volterra.steps.refinement import Refined
from fsl_num.volterra.steps.sampled_steps import SampledSchedules, SampledSteps, eighth_difference, missed
from fsl_num.volterra.steps.smooth_columns import Columns
from fsl_num.volterra.steps.smooth_steps import Scales
from fsl_num.volterra.steps.step_rules import Segment
from fsl_num.volterra.steps.stretches import Moments

MODEL = Problem(s=0.5, beta=2.0, model_size=40, noise=0.7, gamma=0.0, horizon=1.0)
SYSTEM = linear_modes(MODEL, 50.0)


# Single steps


def test_a_pass_over_many_schedules_is_that_over_each(monkeypatch):
    rng = np.random.default_rng(1)
    pieces = rng.uniform(0.0, 0.4, 150)
    piece_of = np.repeat(np.arange(75), 2)
    gammas = rng.uniform(0.1, 0.6, (75, 3))
    plan = [Segment(0, 70, 3), Segment(70, 150, 4)]
    seen = np.arange(-1, 150)
    lengths = []
    of = LocalBasis.of
    monkeypatch.setattr(LocalBasis, "of", lambda self, length: lengths.append(length) or of(self, length))
    state = np.repeat(SYSTEM.start[:, None], 3, axis=1)
    found = march_columns(SYSTEM, pieces, gammas, piece_of, plan, seen, state, LocalBasis(SYSTEM.rates))
    # the pieces of a block share about 64 points
    blocks = [slice(low, min(low + 21, 70)) for low in range(0, 70, 21)]
    blocks += [slice(low, min(low + 16, 150)) for low in range(70, 150, 16)]
    assert lengths == pytest.approx([pieces[block].sum() for block in blocks], rel=1e-14)
    for k in range(3):
        alone = march(SYSTEM, pieces, gammas[piece_of, k], plan)
        # the same collocation, eliminated in another order: some roundings of each of ten blocks
        assert found[1:, k] == pytest.approx(alone.ends, rel=1e-13)
        assert found[0, k] == pytest.approx(SYSTEM.delta + 0.7 + SYSTEM.start.sum(), rel=1e-14)
        assert state[:, k] == pytest.approx(alone.state, rel=1e-12, abs=1e-15)


def step_by_step(system, stability, worst, rtol=1e-8, noise=0.7):
    """What is made of two schedules of five steps, two of them long, whose solutions are 2 and differ by ``worst``."""
    asked = {}

    def refined(marched, lengths, fastest, of_noise, accuracy):
        seen = marched([Segment(0, lengths.size, 2)]).shape[0]
        asked.update(lengths=lengths, fastest=fastest, noise=of_noise, accuracy=accuracy, seen=seen)
        return Refined(np.full((seen, 2), 2.0 + noise), np.broadcast_to(worst, (seen, 2)), [], 0)

    lengths, gammas = np.array([0.1, 1.2, 0.4, 0.9, 0.2]), np.full((2, 5), 0.1)
    problem = replace(MODEL, gamma=2.0 * stability / MODEL_TRACE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many, "refine_points", refined)
        return many._step_by_step(problem, system, lengths, gammas, np.array([0, 2, 5]), rtol), asked


MODEL_TRACE = replace(MODEL, gamma=2.0).stability


@pytest.mark.parametrize(("stability", "grows"), [(0.5, 2.0), (0.75, 4.0), (1.0 - 1e-9, 1e3)])
def test_what_is_claimed_for_many_schedules_on_single_steps(stability, grows):
    system = replace(SYSTEM, error=1e-6)
    (values, errors, missed), asked = step_by_step(system, stability, np.array([3e-9, 5e-8]))
    assert values == pytest.approx(np.full((2, 3), 2.0), rel=1e-15)
    # the difference of two solutions, the modes, and the rounding of eight pieces, of f; and that of the noise
    floor = (rounding_floor(8) + 1e-6) * grows
    exact = 2.0 * (np.array([[3e-9], [5e-8]]) + floor) + 4e-16 * 0.7
    assert errors == pytest.approx(np.repeat(exact, 3, axis=1), rel=1e-12)
    assert missed == 1
    # 1.2 in three parts and 0.9 in two: a part is half a unit at most, the time of the fastest mode
    assert asked["lengths"] == pytest.approx([0.1, 0.4, 0.4, 0.4, 0.4, 0.45, 0.45, 0.2])
    assert asked["fastest"] == 2.0 and asked["noise"] == 0.7 and asked["accuracy"] == 1e-8
    # all of eight pieces, and the start
    assert asked["seen"] == 9


def test_a_difference_of_just_the_tolerance_is_no_miss():
    assert step_by_step(SYSTEM, 0.5, np.array([1e-8, 1e-8]))[0][2] == 0
    assert step_by_step(SYSTEM, 0.5, np.array([1.0000001e-8, 1e-7]))[0][2] == 2


def test_solutions_are_compared_on_the_way_too(monkeypatch):
    right, asked = many.march_columns, []

    def checked(*given):
        asked.append(given[5])
        return right(*given)

    monkeypatch.setattr(many, "march_columns", checked)
    losses_of_schedules(MODEL, [0.1, 0.2] * 500, np.array([[1.0], [2.0]]), at=[900])
    losses_of_schedules(MODEL, [0.1, 0.2] * 500, np.array([[1.0], [2.0]]), at=[0])
    # 33 places up to the record, from the first step on
    assert asked[0][0] == 0 and asked[0][-1] == 899 and np.ptp(np.diff(asked[0])) <= 1 and asked[0].size == 33
    assert asked[-1].tolist() == [-1, 0]


# Which way


@pytest.mark.parametrize(
    ("steps", "stability", "rtol", "merged"),
    [
        (32, 0.5, 1e-8, True),
        (31, 0.5, 1e-8, False),  # not two stretches of 16
        (32, 0.98, 1e-8, True),
        (32, 0.991, 1e-8, False),  # too near to the edge
        (32, 0.5, 4e-13, True),
        (32, 0.5, 1e-13, False),  # most of it is rounding
    ],
)
def test_when_stretches_are_tried(monkeypatch, steps, stability, rtol, merged):
    lengths = np.full(steps, 0.1)
    schedules = SampledSchedules.of(lengths, np.ones((3, steps)), 16)
    problem = replace(MODEL, gamma=2.0 * stability / MODEL_TRACE, horizon=0.1 * steps)
    worst = np.array([0.5 * rtol, 0.0, rtol])
    asked = []

    def solved(*given):
        asked.append(given)
        return Columns(np.full((1, 3), 2.0), np.full((1, 3), 1e-9), worst)

    monkeypatch.setattr(smooth_columns, "solve_columns", solved)
    monkeypatch.setattr(many, "solve_columns", solved)
    found = many._on_stretches(problem, SYSTEM, schedules, np.array([steps]), rtol)
    assert (found is not None) == bool(asked) == merged
    if merged:
        floor = stretch_floor(problem, SYSTEM, steps)
        assert found.errors == pytest.approx(np.full((3, 1), 2.0 * (1e-9 + floor) + 4e-16 * 0.7), rel=1e-12)
        assert found.values.tolist() == [[2.0]] * 3
        # what rounding leaves of the tolerance is asked for
        assert asked[0][4] == rtol - floor and asked[0][5] == stretch_growth(rtol - floor)
        assert found.good.tolist() == [bool(0.5 * rtol <= rtol - floor), True, False]


def test_two_stretches_have_sixteen_steps_each_at_least(monkeypatch):
    asked = []
    monkeypatch.setattr(many, "solve_columns", lambda *given: asked.append(given[2].lengths.size))
    for steps in (31, 32, 33):
        losses_of_schedules(MODEL, [0.1] * steps, [[1.0], [2.0]])
    assert asked == [32, 33]


def test_shapes_that_do_not_fit():
    for rates, batches, text in (
        ([0.1] * 4, np.ones((2, 3, 4)), "must have the shape"),
        (np.full((1, 1, 4), 0.1), 1.0, "must have the shape"),
        ([0.1], np.ones((1, 5)), "do not fit"),
        ([[0.1] * 4] * 2, np.ones((3, 4)), r"batch_sizes of the shape \(3, 4\) do not fit rates of the shape \(2, 4\)"),
    ):
        with pytest.raises(ValueError, match=text):
            losses_of_schedules(MODEL, rates, batches)
    one = losses_of_schedules(MODEL, [[0.1] * 4], 2.0)
    assert one.values.shape == (1, 1) and one.message.startswith("steps of shared lengths, 1 schedules")


def test_the_least_tolerance_is_allowed():
    found = losses_of_schedules(MODEL, [0.1] * 4, rtol=1e-13)
    assert found.error[0, 0] < 1e-12 * found.values[0, 0]


def test_steps_that_take_no_time_leave_the_start():
    found = losses_of_schedules(MODEL, [0.0] * 40, [[1.0], [2.0]], at=[0, 40])
    start = SYSTEM.delta + SYSTEM.start.sum()
    assert found.values == pytest.approx(np.full((2, 2), start), rel=1e-13)


def test_misses_are_told(monkeypatch):
    answers = iter([True, False, False])

    def losses(problem, rtol):
        return np.arange(5.0), np.ones(5), {"tolerance reached": next(answers)}

    monkeypatch.setattr(many, "losses_of_steps", losses)
    found = losses_of_schedules(MODEL, np.array([[0.1], [0.2], [0.3]]) * np.ones(4), at=[1, 3])
    assert found.message.endswith("one schedule after the other; 2 of 3 miss rtol = 1e-08")
    assert found.values.tolist() == [[1.0, 3.0]] * 3 and found.error.tolist() == [[1.0, 1.0]] * 3
    monkeypatch.setattr(many, "_step_by_step", lambda *given: (np.ones((5, 1)), np.ones((5, 1)), 2))
    found = losses_of_schedules(MODEL, [0.1] * 4, np.arange(1.0, 6.0)[:, None])
    modes = linear_modes(MODEL, 0.4).rates.size
    assert found.message.endswith(f"5 schedules as columns, {modes} modes; 2 miss rtol = 1e-08")


# Samples


def test_what_is_made_by_a_class_is_made_by_its_values_too():
    lengths, batches = np.linspace(0.1, 0.2, 40), np.ones((2, 40))
    for of, given in (
        (Moments, (SYSTEM,)),
        (Scales, (SYSTEM, 0.5, 1e-8, 9.0)),
        (SampledSteps, (lengths, lengths, 4, True)),
        (SampledSchedules, (lengths, batches, 4)),
        (smooth_columns._Steps, (Gap(4, 5), np.array([5, 6]), np.arange(9))),
    ):
        assert repr(of.of(*given).of(*given)) == repr(of.of(*given))


def test_samples_of_schedules_in_parts(monkeypatch):
    from fsl_num.volterra.steps import sampled_steps

    rng = np.random.default_rng(8)
    rates, batches = 0.1 + 0.01 * np.cos(np.arange(200) / 50.0), rng.uniform(1.0, 3.0, (5, 200))
    whole = SampledSchedules.of(rates, batches, 4)
    steps = SampledSteps.of(rates, rates / batches[0], 4, False)
    monkeypatch.setattr(sampled_steps, "_CHUNK", 400)  # two schedules at once, and a hundred rows
    again = SampledSchedules.of(rates, batches, 4)
    assert np.array_equal(again.samples, whole.samples) and np.array_equal(again.ragged, whole.ragged)
    assert again.largest == whole.largest == (rates / batches).max() and again.moving is None
    monkeypatch.setattr(sampled_steps, "_CHUNK", 28)  # seven rows
    rows, product = [], np.matmul

    def counted(*given, **named):
        rows.append(given[0].shape[-2])
        return product(*given, **named)

    monkeypatch.setattr(np, "matmul", counted)
    parts = SampledSteps.of(rates, rates / batches[0], 4, False)
    # of fifty rows three and four at the ends are not told: 43 of gamma, and 43 of the lengths
    assert rows == [7, 7, 7, 7, 7, 7, 1] * 2
    # the same sums in another order
    assert parts.ragged == pytest.approx(steps.ragged, rel=1e-12) and parts.uneven == pytest.approx(
        steps.uneven, abs=1e-15
    )


def test_the_mean_of_schedules_knows_its_lengths_by_themselves():
    # lengths with a kink, gammas without one: the batch sizes follow the lengths
    lengths = 0.1 + 0.01 * np.abs(np.arange(200) - 101.5)
    gammas = np.multiply.outer([0.1, 0.3], 1.0 + 1e-3 * np.arange(200))
    schedules = SampledSchedules.of(lengths, lengths / gammas, 4)
    mean = schedules.mean([0, 1])
    assert mean.gammas == pytest.approx(0.2 * (1.0 + 1e-3 * np.arange(200)), rel=1e-14)
    assert not mean.one_batch and mean.ragged[3:-4].max() < 1e-14 < 1e-3 < mean.uneven[22:28].max()
    assert mean.uneven[3:-4] == pytest.approx(missed(lengths, 4)[3:-4], abs=1e-15)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_eighth_differences_of_every_second_sample(sign):
    # that of x^8 is 8! for a distance of 1
    values = sign * np.arange(18.0) ** 8
    assert eighth_difference(values) == math.factorial(8) and eighth_difference(values, 2) == 2**8 * math.factorial(8)
    values[17] += 5e5 * sign
    assert eighth_difference(values, 2) == 2**8 * math.factorial(8) + 5e5


def test_where_gaps_of_many_schedules_are_seen_again():
    # a gap of one step is looked at once
    asked = smooth_columns._Steps.of(Gap(4, 5), np.array([5, 6]), np.arange(9))
    assert asked.seen.tolist() == [0] and asked.here.tolist() == [0] and asked.rows.tolist() == [0]


def test_one_mode_of_many_schedules_in_closed_form():
    model = Problem(s=0.5, beta=2.0, model_size=1, noise=0.7, gamma=0.0, horizon=1.0)
    system = linear_modes(model, 9.0)
    assert isinstance(system, LinearModes)
    batches = np.array([[1.0], [2.0]])
    at = np.array([1, 5, 640])
    found = losses_of_schedules(model, np.full(640, 0.1), batches * np.ones(640), at=at, rtol=1e-9)
    for k, gamma in enumerate((0.1, 0.05)):
        # x' = (gamma - 2) x + gamma (delta + noise)
        rest = gamma * (system.delta + 0.7) / (2.0 - gamma)
        exact = system.delta + rest + (1.0 - rest) * np.exp((gamma - 2.0) * 0.1 * at)
        assert (np.abs(found.values[k] - exact) <= found.error[k]).all()
        assert (found.error[k] <= 1e-9 * exact).all()
        plan = Discrete(rates=np.full(640, 0.1), batch_sizes=batches[k])
        assert plan.gammas[0] == pytest.approx(gamma)
