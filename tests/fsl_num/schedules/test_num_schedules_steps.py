"""Learning rates step by step: of schedules at the start of each step, and those that are given one a step."""

import math

import numpy as np
import pytest

from fsl_num import Model, Problem, Regression, exact_risk, ladder, loss_dynamics, solve
from fsl_num.functional import noise_functional
from fsl_num.schedules import SCHEDULES, Constant, Discrete, batch_sizes_of, from_function, schedule, step_rates
from fsl_num.schedules.phases import Backwards, Consecutive
from fsl_num.spectrum import kernel_integral

GAPS = Discrete(rates=[0.0, 0.5, 0.25, 0.0, 0.0, 1.0, 0.0], batch_sizes=[1.0, 2.0, 5.0, 1.0, 1.0, 8.0, 3.0])


# ---- rates of schedules ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_rate_of_a_step_is_that_at_its_start(name):
    for parameters in ({}, {"warmup": 10, "floor": 0.03}):
        rates = step_rates(name, peak=0.3, steps=100, **parameters)
        plan = schedule(name, peak=0.3, steps=100, **parameters)
        assert rates.tolist() == plan.learning_rate(np.arange(100)).tolist()
        assert step_rates(plan).tolist() == rates.tolist() == step_rates(plan.learning_rate, steps=100).tolist()
        assert rates.shape == (100,) and rates.max() <= 0.3 * (1 + 1e-15) and (rates >= 0.0).all()
    assert rates[:11] == pytest.approx(0.03 * np.arange(11) if name != "cyclic" else [*0.03 * np.arange(10), 0.03])
    assert rates[10:].min() >= 0.03


def test_names_and_their_defaults():
    k = np.arange(20.0)
    rates = {name: step_rates(name, peak=2.0, steps=20) for name in SCHEDULES}
    fall = np.maximum((k - 16.0) / 4.0, 0.0)  # of the last fifth
    wave = np.tile(0.2 + 1.8 * np.array([0.0, 0.4, 0.8, 0.8, 0.4]), 4)  # four triangles of five steps from a tenth
    expected = {
        "constant": 2.0 + 0.0 * k,
        "exp-decay": 2.0 * 0.01 ** (k / 20.0),
        "wsd": 2.0 * 0.1**fall,
        "power-decay": 2.0 * (1.0 - k / 20.0),
        "linear": 2.0 * (1.0 - k / 20.0),
        "cosine": 1.0 + np.cos(math.pi * k / 20.0),
        "1-sqrt": 2.0 * (1.0 - np.sqrt(fall)),
        "inverse-sqrt": 2.0 / np.sqrt(1.0 + k / 0.2),
        "multi-step": np.array([2.0] * 10 + [0.2] * 5 + [0.02] * 5),
        "8-1-1": np.array([2.0] * 16 + [2.0 * 0.1**0.5] * 2 + [0.2] * 2),
        "cyclic": wave,
    }
    assert list(expected) == list(SCHEDULES)
    for name, values in expected.items():
        assert rates[name] == pytest.approx(values, rel=1e-14, abs=0.0)
    assert step_rates("linear", peak=2.0, steps=4, final=None).tolist() == [2.0, 1.5, 1.0, 0.5]


@pytest.mark.parametrize(("steps", "at_peak", "between"), [(1, 1, 0), (9, 8, 1), (10, 8, 1), (205, 164, 21)])
def test_how_many_steps_8_1_1_has_at_each_rate(steps, at_peak, between):
    last = steps - at_peak - between
    expected = [2.0] * at_peak + [2.0 * math.sqrt(0.1)] * between + [2.0 * 0.1] * last
    assert step_rates("8-1-1", peak=2.0, steps=steps).tolist() == expected


def test_a_milestone_is_a_step_whatever_its_share_rounds_to():
    for steps in range(10, 2000, 10):
        for tenth in range(1, 10):
            rates = step_rates("multi-step", peak=1.0, steps=steps, milestones=[tenth / 10], factors=[0.5])
            assert (rates == 1.0).sum() == steps * tenth // 10


def test_cycles_that_fit_the_steps_and_that_do_not():
    assert step_rates("cyclic", peak=1.0, steps=4, final=0.5, cycles=1).tolist() == [0.5, 0.75, 1.0, 0.75]
    assert step_rates("cyclic", peak=0.5, steps=8, final=0, cycles=2).tolist() == [0.0, 0.25, 0.5, 0.25] * 2
    assert step_rates("cyclic", peak=1.0, steps=4, final=0.5, cycles=4).tolist() == [0.5] * 4
    assert step_rates("cyclic", peak=3.0, steps=5, final=1.0, cycles=2) == pytest.approx([1.0, 2.6, 1.8, 1.8, 2.6])


@pytest.mark.parametrize(
    ("given", "parameters", "kind", "text"),
    [
        ("sawtooth", {"peak": 1, "steps": 2}, ValueError, "unknown schedule"),
        ("8-1-1", {"peak": 1, "steps": 2, "final": 0.1}, TypeError, "has no final"),
        ("cyclic", {"peak": 1, "steps": 2, "final": 2.0}, ValueError, "at most peak"),
        ("constant", {"peak": math.inf, "steps": 2}, ValueError, "peak must be finite"),
        ("constant", {"peak": 1, "steps": 2.5}, ValueError, "steps must be a whole number"),
        (Constant(peak=1, steps=2.5), {}, ValueError, "steps must be a whole number"),
        (np.cos, {"steps": 9}, ValueError, "at least 0, got -.* at step 2.0"),
        (np.ones(3), {"steps": 3}, TypeError, "takes no steps="),
    ],
)
def test_what_cannot_be_is_refused(given, parameters, kind, text):
    with pytest.raises(kind, match=text):
        step_rates(given, **parameters)


def test_a_schedule_of_ones_own_wherever_a_name_is_taken():
    model = Regression(Model(s=0.5, beta=2.0, size=16, noise=1.0))

    def halving(tau):
        return 0.1 * 2.0 ** (-np.asarray(tau) / 50.0)

    rates = halving(np.arange(100))
    exact = exact_risk(model, rates, every=10).excess_risk
    plan = schedule("exp-decay", peak=0.1, final=0.025, steps=100)
    for own in (halving, rates, plan):
        counted = {"steps": 100} if own is halving else {}
        found = ladder(model, own, every=10, thresholds=(), **counted)
        # the class computes the rates from their end: to rounding
        assert found.curve("expected").excess_risk == pytest.approx(exact, rel=1e-12)
    batches = ladder(model, Constant(peak=0.1, steps=20, batch_size=4), thresholds=())
    assert batches.curve("expected").excess_risk[-1] == exact_risk(model, [0.1] * 20, 4).excess_risk[-1]
    assert batch_sizes_of(GAPS) is GAPS.batch_sizes
    several = {"function": halving, "array": rates, "class": plan, "name": "1-sqrt"}
    runs = loss_dynamics(model_size=16, steps=100, schedules=several).runs
    assert [run.name for run in runs] == list(several)
    for run in runs[:3]:
        assert run.rates == pytest.approx(rates, rel=1e-13)
    for wrong, text in ((rates[1:], "100 steps"), (Constant(peak=1, steps=100, batch_size=2), "batch size 1")):
        with pytest.raises(ValueError, match=f"the schedule 'mine' must have {text}"):
            loss_dynamics(model_size=16, steps=100, schedules={"mine": wrong})


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
@pytest.mark.parametrize("name", ["multi-step", "8-1-1"])
def test_a_piecewise_constant_schedule_is_solved_as_its_steps_are(name, closure):
    plan = schedule(name, peak=0.3, steps=40, batch_size=2)
    steps = Discrete(rates=step_rates(plan), batch_sizes=2)
    model = Model(s=0.5, beta=2.0, size=50, noise=1.0)
    times = [0.3, plan.breaks[0], 0.5 * plan.total_intrinsic_time, plan.total_intrinsic_time]
    found, expected = (solve(Problem(model, gamma=gamma, closure=closure), times) for gamma in (plan, steps))
    assert (found.method, expected.method) == ("panels", "discrete")
    assert (np.abs(found.excess_risk - expected.excess_risk) <= found.error + expected.error).all()
    assert (found.error < 1e-11 * found.excess_risk).all()
    digits, exact = (solve(Problem(model, gamma=gamma, closure=closure), times, digits=20) for gamma in (plan, steps))
    assert [float(value) for value in digits.excess_risk] == pytest.approx(
        [float(value) for value in exact.excess_risk], rel=1e-15
    )
    assert [float(value) for value in digits.excess_risk] == pytest.approx(found.excess_risk, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("1-sqrt", {"decay_fraction": 0.5}),
        ("inverse-sqrt", {"timescale": 0.5}),
        ("cyclic", {"final": 0.0, "cycles": 2}),
        ("wsd", {"warmup": 20, "floor": 0.06}),
    ],
)
def test_schedules_with_roots_in_their_midst_are_solved_to_what_is_claimed(name, parameters):
    """The same schedule as a function, whose panels know nothing of the closed forms."""
    plan = schedule(name, peak=0.3, steps=100, **parameters)
    model = Model(s=0.5, beta=2.0, size=50, noise=1.0)
    cuts = plan.physical_breaks
    own = Problem(model, gamma=plan)
    by_function = Problem(model, gamma=from_function(plan.learning_rate, steps=100, breaks=cuts))
    found, expected = (solve(plan, [0.4 * own.end, by_function.end * (1 - 1e-14)]) for plan in (own, by_function))
    assert (found.error < 1e-11 * found.excess_risk).all()
    # polynomials agree with the rate to 1e-13 of the peak
    assert (
        np.abs(found.excess_risk - expected.excess_risk) <= found.error + expected.error + 1e-12 * found.excess_risk
    ).all()


# ---- rates given one a step ------------------------------------------------------------------------------------------


def test_a_time_is_first_reached_at_the_end_of_the_step_that_reaches_it():
    times = {0.0: 0.0, 0.25: 1.5, 0.5: 2.0, 0.625: 2.5, 0.75: 3.0, 1.0: 5.25, 1.75: 6.0}
    assert GAPS.total_intrinsic_time == 1.75
    assert GAPS.physical_time(list(times)).tolist() == list(times.values())
    # seen from the end: the last step has no length, so that what is left reaches back over the one before it
    steps_left = {0.0: 0.0, 0.5: 1.5, 1.0: 2.0, 1.125: 4.5, 1.25: 5.0, 1.5: 5.5, 1.75: 6.0}
    assert GAPS.remaining_steps(list(steps_left)).tolist() == list(steps_left.values())


def test_the_rate_and_gamma_of_every_step():
    inside = np.arange(7) + 0.5
    assert GAPS.learning_rate(inside).tolist() == GAPS.rates.tolist()
    # at a jump that of the step that begins there, at the end of all that of the last step
    assert GAPS.learning_rate([0.0, 1.0, 2.0, 5.0, 6.0, 7.0]).tolist() == [0.0, 0.5, 0.25, 1.0, 0.0, 0.0]
    middles = [0.25, 0.6, 1.0]
    assert GAPS.gamma(middles).tolist() == [0.25, 0.05, 0.125]
    assert GAPS.gamma_before_end([1.75 - t for t in middles]).tolist() == [0.25, 0.05, 0.125]
    # at a jump in intrinsic time that of the step that ends there
    assert GAPS.gamma([0.5, 0.75, 1.75]).tolist() == [0.25, 0.05, 0.125]
    assert GAPS.gamma(0.0) == 0.25
    assert GAPS.breaks == (0.5, 0.75) and GAPS.breaks_before_end == (1.25, 1.0)
    assert GAPS.physical_breaks == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert GAPS.peak == 1.0 and GAPS.steps == 7.0 and GAPS.batch_size == 1.0 / 0.25
    assert repr(GAPS) == "Discrete(7 steps, peak=1.0)"
    tau = [0.5, 1.5, 2.5, 4.5, 5.5, 7.0]
    assert GAPS.intrinsic_time(tau).tolist() == [0.0, 0.25, 0.625, 0.75, 1.25, 1.75]
    assert GAPS.remaining_intrinsic_time(tau).tolist() == [0.0, 0.5, 1.0, 1.125, 1.25 + 0.25, 1.75]


def test_arrays_of_steps_cannot_be_changed():
    rates = np.array([0.1, 0.2])
    plan = Discrete(rates=rates)
    rates[0] = 9.0
    assert plan.rates.tolist() == [0.1, 0.2]
    for array in (plan.rates, plan.batch_sizes, plan.gammas):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_places_of_many_steps_are_sums_of_more_bits():
    rates = np.full(300_000, 0.1)
    # of 64 bits, rounded 3e5 times by at most 5.4e-20; with the 53 bits of floats it is 5e-12
    assert Discrete(rates=rates).total_intrinsic_time == pytest.approx(math.fsum(rates.tolist()), rel=1.7e-14, abs=0.0)


@pytest.mark.parametrize(
    ("rates", "batches", "error", "text"),
    [
        ([1.0, -1.0], 1, ValueError, "at least 0, got -1.0 at position 1"),
        ([1.0, 1.0, 1.0], [1.0, 0.0, 0.0], ValueError, r"batch_sizes .* position 1 \(2 such values\)"),
        ([math.nan, 1.0], 1, ValueError, "got nan at position 0"),
        ([1.0, math.inf], 1, ValueError, "got inf at position 1"),
        ([], 1, ValueError, "at least one step"),
        (1.0, 1, TypeError, "array of real numbers"),
        ([True], 1, TypeError, "array of real numbers"),
        ([[0.1]], 1, ValueError, "one dimension"),
        ([0.1, 0.2], [1.0, 1.0, 1.0], ValueError, "one dimension"),
        ([0.0, 0.0], 1, ValueError, "no training"),
    ],
)
def test_bad_steps_are_refused_in_words(rates, batches, error, text):
    with pytest.raises(error, match=text):
        Discrete(rates=rates, batch_sizes=batches)


def test_a_jump_is_met_within_eight_units_in_the_last_place_of_the_whole():
    steps = Discrete(rates=[1.0, 2.0**-40], batch_sizes=1)
    phases = schedule("multi-step", peak=1.0, steps=2, milestones=[0.5], factors=[2.0**-40])
    # the last step has the length 2^-40; so much before the end the first one has ended
    unit, jump = 2.0**-52, 2.0**-40
    assert np.spacing(steps.total_intrinsic_time) == unit
    times_left = [jump + 1e-14, jump, jump - 7.5 * unit, jump - 8.5 * unit, 0.5 * jump, 0.0]
    for plan in (steps, phases):
        assert plan.gamma_before_end(times_left, rounding=unit).tolist() == [1.0, 1.0, 1.0, jump, jump, jump]
        assert plan.gamma_before_end(times_left).tolist() == [1.0, 1.0, jump, jump, jump, jump]


@pytest.mark.parametrize("total", [1e10, 1e15, 1e16, 1e20])
@pytest.mark.parametrize("short", [1e-3, 10.0])
def test_a_phase_shorter_than_the_rounding_of_the_whole_is_kept_at_either_end(total, short):
    """Counted from its own end of the whole, its time is exact; so is the noise of the last one, the law's largest."""
    long, brief = Constant(peak=1.0, steps=total), Constant(peak=0.01, steps=100.0 * short)
    within, beyond = short * np.array([0.5, 0.99, 1.0]), short * np.array([1.01, 2.0])
    for plan in (Consecutive(of=(long, brief)), Consecutive(of=(Backwards(of=long), brief))):
        assert plan.gamma_before_end(within[:2]).tolist() == [0.01, 0.01]
        assert plan.gamma_before_end(beyond).tolist() == [1.0, 1.0]
        kernel = [kernel_integral(*bounds, 2.0) for bounds in ((0.0, short), (short, total + short))]
        noise = noise_functional(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), plan).value
        assert noise == pytest.approx(0.01 * kernel[0] + kernel[1], rel=1e-9)
    warmed = Consecutive(of=(brief, long))
    assert warmed.gamma(within).tolist() == [0.01, 0.01, 0.01] and warmed.gamma(beyond).tolist() == [1.0, 1.0]


def test_one_step_alone_and_steps_of_no_length_at_the_ends():
    single = Discrete(rates=[0.25], batch_sizes=2)
    assert single.breaks == single.breaks_before_end == single.physical_breaks == ()
    assert single.gamma([0.0, 0.1, 0.25]).tolist() == [0.125] * 3 and single.batch_size == 2.0
    assert single.physical_time([0.0, 0.125, 0.25]).tolist() == [0.0, 0.5, 1.0]
    assert single.remaining_steps([0.0, 0.125, 0.25]).tolist() == [0.0, 0.5, 1.0]
    ends = Discrete(rates=[0.0, 0.0, 0.5, 0.25, 0.0])
    assert ends.physical_time([0.0, 0.25, 0.5, 0.75]).tolist() == [0.0, 2.5, 3.0, 4.0]
    assert ends.remaining_steps([0.0, 0.125, 0.25, 0.75]).tolist() == [0.0, 1.5, 2.0, 3.0]
    assert ends.gamma([0.0, 0.5, 0.6, 0.75]).tolist() == [0.5, 0.5, 0.25, 0.25]
    assert ends.learning_rate([0.0, 2.0, 4.5, 5.0]).tolist() == [0.0, 0.5, 0.0, 0.0]
    assert ends.final_learning_rate == 0.0
    # batches of their own: the peak over the largest gamma
    mixed = Discrete(rates=[0.4, 0.2], batch_sizes=[4.0, 1.0])
    assert mixed.gammas.tolist() == [0.1, 0.2] and mixed.batch_size == 2.0 and mixed.peak == 0.4
    assert Discrete(rates=[0.4, 0.2], batch_sizes=[1.0, 2.0]).gammas.tolist() == [0.4, 0.1]


def test_plans_of_other_steps_differ():
    plan = Discrete(rates=[0.1, 0.2], batch_sizes=2)
    assert plan == Discrete(rates=(0.1, 0.2), batch_sizes=[2.0, 2.0])
    assert hash(plan) == hash(Discrete(rates=[0.1, 0.2], batch_sizes=[2, 2]))
    # the same peak, number of steps and batch size at the peak
    unlike = [Discrete(rates=[0.2, 0.1], batch_sizes=2), Discrete(rates=[0.1, 0.2], batch_sizes=[1, 2])]
    assert all(plan != changed for changed in unlike) and len({plan, *unlike}) == 3
    # the same gamma on every step, in steps of other lengths
    assert Discrete(rates=[0.1, 0.2], batch_sizes=[1, 2]) != Discrete(rates=[0.2, 0.1], batch_sizes=[2, 1])
    assert plan != Constant(peak=0.2, steps=2.0, batch_size=2.0) and plan != [0.1, 0.2]
