"""Schedules at their edges: steps of no length, the ends, names with their defaults, and the numerical inverse."""

import math

import numpy as np
import pytest

from fsl_num.schedules import SCHEDULES, Constant, Cosine, Discrete, ExponentialDecay, Linear, PowerDecay, StableDecay
from fsl_num.schedules.base import final_rate
from fsl_num.schedules.cosine import _x_minus_sin
from fsl_num.schedules.discrete import step_values, steps_and_batches
from fsl_num.schedules.inverse import invert_increasing
from fsl_num.schedules.steps import STEP_SCHEDULES, cyclic, eight_one_one, parameters_of, step_rates

GAPS = Discrete(rates=[0.0, 0.5, 0.25, 0.0, 0.0, 1.0, 0.0], batch_sizes=[1.0, 2.0, 5.0, 1.0, 1.0, 8.0, 3.0])


def test_a_time_is_first_reached_at_the_end_of_the_step_that_reaches_it():
    times = {0.0: 0.0, 0.25: 1.5, 0.5: 2.0, 0.625: 2.5, 0.75: 3.0, 1.0: 5.25, 1.75: 6.0}
    assert GAPS.total_intrinsic_time == 1.75
    assert GAPS.physical_time(list(times)).tolist() == list(times.values())
    # seen from the end: the last step has no length, so that what is left reaches back over the one before it
    rest = {0.0: 0.0, 0.5: 1.5, 1.0: 2.0, 1.125: 4.5, 1.25: 5.0, 1.5: 5.5, 1.75: 6.0}
    assert GAPS.remaining_steps(list(rest)).tolist() == list(rest.values())


def test_the_rate_and_gamma_of_every_step():
    inside = np.arange(7) + 0.5
    assert GAPS.learning_rate(inside).tolist() == GAPS.rates.tolist()
    # at a jump that of the step that begins there, at the end of all that of the last step
    assert GAPS.learning_rate([0.0, 1.0, 2.0, 5.0, 6.0, 7.0]).tolist() == [0.0, 0.5, 0.25, 1.0, 0.0, 0.0]
    last = Discrete(rates=[0.1, 0.2, 0.3])
    assert last.learning_rate(3.0) == 0.3 and last.final_learning_rate == 0.3
    assert last.learning_rate(0.0) == 0.1
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


def test_integrals_of_steps():
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
    ("call", "error", "text"),
    [
        (lambda: step_values("rates", [1.0, -1.0], zero=True), ValueError, "at least 0, got -1.0 at position 1"),
        (lambda: step_values("rates", [1.0, 0.0, 0.0], zero=False), ValueError, r"position 1 \(2 such values\)"),
        (lambda: step_values("rates", [math.nan, 1.0], zero=True), ValueError, "got nan at position 0"),
        (lambda: step_values("rates", [1.0, math.inf], zero=True), ValueError, "got inf at position 1"),
        (lambda: step_values("rates", [], zero=True), ValueError, "at least one step"),
        (lambda: step_values("rates", 1.0, zero=True), TypeError, "array of real numbers"),
        (lambda: step_values("rates", [True], zero=True), TypeError, "array of real numbers"),
        (lambda: steps_and_batches([[0.1]], 1.0), ValueError, "one dimension"),
        (lambda: steps_and_batches([0.1, 0.2], [1.0, 1.0, 1.0]), ValueError, "one dimension"),
        (lambda: Discrete(rates=[0.0, 0.0]), ValueError, "no training"),
        (lambda: Constant(peak=1e200, steps=1e200), ValueError, "must be below 1.8e308"),
        (lambda: final_rate(-0.1, 1.0, zero=True), ValueError, "final must be at least 0"),
        (lambda: final_rate(1.1, 1.0, zero=True), ValueError, "at most peak"),
        (lambda: final_rate(1e-251, 1.0, zero=False), ValueError, "1e-250 peak"),
        (lambda: cyclic_of("cosine"), TypeError, "has no cycles"),
        (lambda: cyclic_of("warmup"), ValueError, "unknown schedule 'warmup'"),
        (lambda: step_rates("cyclic", peak=0.1, steps=4, final=0.2), ValueError, "final must be at most peak"),
        (lambda: step_rates("constant", peak=0.1, steps=2.5), ValueError, "steps must be a whole number"),
    ],
)
def test_bad_steps_are_refused_in_words(call, error, text):
    with pytest.raises(error, match=text):
        call()


def cyclic_of(name):
    return step_rates(name, peak=0.1, steps=4, cycles=2)


def test_final_rates_at_their_limits():
    assert final_rate(1.0, 1.0, zero=False) == 1.0 and final_rate(0.0, 1.0, zero=True) == 0.0
    assert final_rate(1e-250, 1.0, zero=False) == 1e-250
    assert steps_and_batches([0.1], [2.0])[1].tolist() == [2.0]


def test_the_difference_of_an_angle_and_its_sine():
    x = np.array([0.0, 1e-8, 1e-3, 0.3, 0.49999, 0.5, 0.50001, 2.0, 3.0])
    exact = [sum((-1) ** k * v ** (2 * k + 3) / math.factorial(2 * k + 3) for k in range(20)) for v in x.tolist()]
    # above 1/2 the difference itself: x - sin x is 0.02 there, so that rounding counts 25 times
    assert _x_minus_sin(x) == pytest.approx(np.array(exact), rel=1e-14, abs=0.0)


def line(tau):
    return 0.3 + 0.1 * (1.0 - tau / 5.0)


@pytest.mark.parametrize(
    ("plan", "rate"),
    [
        (Linear(peak=0.4, final=0.3, steps=5.0), line),
        (Cosine(peak=0.4, final=0.2, steps=5.0), lambda tau: 0.3 + 0.1 * math.cos(math.pi * tau / 5.0)),
        (PowerDecay(peak=0.4, power=1.5, steps=5.0), lambda tau: 0.4 * (1.0 - tau / 5.0) ** 1.5),
        (ExponentialDecay(peak=0.4, final=0.1, steps=5.0), lambda tau: 0.4 * 0.25 ** (tau / 5.0)),
        (ExponentialDecay(peak=0.4, final=0.4, steps=5.0), lambda tau: 0.4),
        (Constant(peak=0.4, steps=5.0), lambda tau: 0.4),
    ],
)
def test_rates_by_hand_and_back_from_what_is_left(plan, rate):
    for tau in (0.0, 0.7, 2.5, 4.9, 5.0):
        assert plan.learning_rate(tau) == pytest.approx(rate(tau), rel=1e-13, abs=1e-16)
        rest = plan.remaining_intrinsic_time(5.0 - tau)
        assert plan.remaining_steps(rest) == pytest.approx(5.0 - tau, rel=1e-12, abs=1e-15)
        assert plan.physical_time(plan.intrinsic_time(tau)) == pytest.approx(tau, rel=1e-11, abs=1e-12)
    # a whole that was rounded upwards is the first step, no more
    assert plan.remaining_steps(plan.total_intrinsic_time * (1.0 + 1e-13)) <= 5.0
    with pytest.raises(ValueError, match="remaining_intrinsic_time must be"):
        plan.remaining_steps(plan.total_intrinsic_time * (1.0 + 1e-11))


def test_a_stable_phase_and_its_decay():
    plan = StableDecay(peak=0.4, final=0.1, steps=10.0, decay_fraction=0.3)
    assert (plan.stable_steps, plan.decay_steps) == (7.0, 3.0)
    assert plan.physical_breaks == (7.0,) and plan.breaks == (pytest.approx(2.8, rel=1e-9, abs=0.0),)
    # a decay by a factor 4 in 3 steps has the integral (0.4 - 0.1) 3/log 4
    decay = 0.9 / math.log(4.0)
    assert plan.total_intrinsic_time == pytest.approx(2.8 + decay, rel=1e-9, abs=0.0)
    assert plan.remaining_steps([decay, decay + 0.4, 2.8 + decay]) == pytest.approx([3.0, 4.0, 10.0], rel=1e-9, abs=0.0)
    flat = StableDecay(peak=0.4, final=0.4, steps=10.0, decay_fraction=0.3)
    assert flat.physical_breaks == () and flat.total_intrinsic_time == pytest.approx(4.0, rel=1e-9, abs=0.0)
    for fraction in (0.0, 1.0 + 1e-12, math.inf):
        with pytest.raises(ValueError, match="decay_fraction"):
            StableDecay(peak=0.4, final=0.1, steps=10.0, decay_fraction=fraction)


def test_the_inverse_at_the_ends_and_where_newton_leaves_the_bracket():
    # slope 1e-6 until 1, then 1: from the flat part Newton's steps overshoot
    def bent(x):
        return 1e-6 * x + np.maximum(x - 1.0, 0.0)

    def slope(x):
        return 1e-6 + (x > 1.0)

    value = np.array([0.0, 1e-12, 5e-7, 1e-6, 1e-5, 0.3, 1.0 + 2e-6, 5.0])
    found = invert_increasing(bent, slope, value, 1.0 + 1e-6, 2.0)
    assert found[0] == 0.0 and found[-2:].tolist() == [2.0, 2.0]
    assert bent(found[:-1]) == pytest.approx(value[:-1], rel=1e-9, abs=0.0)
    assert found[1:3] == pytest.approx([1e-6, 0.5], rel=1e-12, abs=0.0)
    assert invert_increasing(bent, slope, np.full((2, 1), 1e-7), 1.0 + 1e-6, 2.0).shape == (2, 1)


def test_names_of_schedules_of_steps_and_their_defaults():
    assert STEP_SCHEDULES == (*SCHEDULES, "cyclic", "8-1-1")
    assert parameters_of("cyclic") == ("final", "cycles") and parameters_of("power-decay") == ("power",)
    with pytest.raises(ValueError, match="unknown schedule 'warmup'"):
        parameters_of("warmup")
    k = np.arange(20.0)
    rates = {name: step_rates(name, peak=2.0, steps=20) for name in STEP_SCHEDULES}
    assert rates["constant"].tolist() == [2.0] * 20
    assert rates["exp-decay"] == pytest.approx(2.0 * 0.01 ** (k / 20.0), rel=1e-9, abs=0.0)
    # wsd: the last fifth, down to a tenth
    assert rates["wsd"] == pytest.approx(np.where(k < 16, 2.0, 2.0 * 0.1 ** ((k - 16.0) / 4.0)), rel=1e-9, abs=0.0)
    assert rates["power-decay"] == pytest.approx(2.0 * (1.0 - k / 20.0), rel=1e-9, abs=0.0)
    assert rates["linear"] == pytest.approx(2.0 * (1.0 - k / 20.0), rel=1e-9, abs=0.0)
    assert rates["cosine"] == pytest.approx(1.0 + np.cos(math.pi * k / 20.0), rel=1e-9, abs=0.0)
    # four triangles of five steps from a tenth
    wave = 0.2 + 1.8 * np.array([0.0, 0.4, 0.8, 0.8, 0.4])
    assert rates["cyclic"] == pytest.approx(np.tile(wave, 4), rel=1e-9, abs=0.0)
    assert rates["8-1-1"] == pytest.approx([2.0] * 16 + [2.0 * 0.1**0.5] * 2 + [0.2] * 2, rel=1e-9, abs=0.0)
    assert step_rates("linear", peak=2.0, steps=4, final=None).tolist() == [2.0, 1.5, 1.0, 0.5]
    assert step_rates("linear", peak=2.0, steps=4, final=1.0).tolist() == [2.0, 1.75, 1.5, 1.25]
    assert step_rates("cyclic", peak=2.0, steps=4, final=2.0, cycles=1).tolist() == [2.0] * 4


@pytest.mark.parametrize("steps", [5, 10, 25, 64])
def test_8_1_1_changes_at_eight_and_nine_tenths(steps):
    rates = eight_one_one(1.0, steps)
    share = np.arange(steps) / steps
    assert (rates[share < 0.8 - 1e-9] == 1.0).all() and (rates[share > 0.9 - 1e-9] == 0.1).all()
    between = rates[(share > 0.8 - 1e-9) & (share < 0.9 - 1e-9)]
    assert between == pytest.approx(np.full(between.size, 0.1**0.5), rel=1e-9, abs=0.0)


def test_cycles_that_do_not_fit_the_steps():
    assert cyclic(3.0, 5, 1.0, 2) == pytest.approx([1.0, 2.6, 1.8, 1.8, 2.6], rel=1e-9, abs=0.0)


def test_plans_of_other_steps_differ():
    plan = Discrete(rates=[0.1, 0.2], batch_sizes=2)
    assert plan == Discrete(rates=(0.1, 0.2), batch_sizes=[2.0, 2.0])
    assert hash(plan) == hash(Discrete(rates=[0.1, 0.2], batch_sizes=[2, 2]))
    # the same peak, number of steps and batch size at the peak
    others = [Discrete(rates=[0.2, 0.1], batch_sizes=2), Discrete(rates=[0.1, 0.2], batch_sizes=[1, 2])]
    assert all(plan != other for other in others) and len({plan, *others}) == 3
    # the same gamma on every step, in steps of other lengths
    assert Discrete(rates=[0.1, 0.2], batch_sizes=[1, 2]) != Discrete(rates=[0.2, 0.1], batch_sizes=[2, 1])
    assert plan != Constant(peak=0.2, steps=2.0, batch_size=2.0) and plan != [0.1, 0.2]
