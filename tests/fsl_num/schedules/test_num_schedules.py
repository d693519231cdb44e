"""Schedules: the intrinsic time against quadrature of the learning rate, the inverse against the intrinsic time."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest
from conftest import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from fsl_num.schedules import (
    SCHEDULES,
    Consecutive,
    Constant,
    Cosine,
    Discrete,
    ExponentialDecay,
    MultiStep,
    Schedule,
    StableDecay,
    as_schedule,
    from_function,
    parameters_of,
    schedule,
    spelling,
    with_floor,
    with_warmup,
)
from fsl_num.schedules.inverse import invert_increasing

NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


@st.composite
def schedules(draw: Any, largest: float = 12.0, composed: bool = False) -> Schedule:
    name = draw(st.sampled_from(sorted(SCHEDULES)))
    peak, steps = 10.0 ** draw(st.floats(-4, 2)), 10.0 ** draw(st.floats(0, largest))
    shares = sorted(draw(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=3, unique=True)))
    parameters = {
        "final": peak * 10.0 ** draw(st.floats(-8, 0)),
        "decay_fraction": draw(st.floats(0.01, 1.0)),
        "power": draw(st.floats(0.0, 8.0)),
        "timescale": steps * 10.0 ** draw(st.floats(-4, 1)),
        "milestones": shares,
        "factors": [0.5 ** (k + 1) for k in range(len(shares))],
        "cycles": draw(st.integers(1, 5)),
    }
    if composed:
        parameters["warmup"] = steps * draw(st.sampled_from([0.0, 0.1, 0.7]))
        parameters["floor"] = peak * draw(st.sampled_from([0.0, 0.01, 0.3, 1.0]))
    chosen = {key: value for key, value in parameters.items() if key in parameters_of(name)}
    return schedule(name, peak=peak, steps=steps, batch_size=draw(st.sampled_from([1.0, 7.0])), **chosen)


def quadrature(rate: Any, low: float, high: float) -> float:
    """Gauss-Legendre on panels that halve towards both ends: a power decay, an inverse root vary fast there."""
    shares = 0.5 ** np.arange(1, 60)
    middle = 0.5 * (low + high)
    edges = np.concatenate([[low], low + (middle - low) * shares[::-1], high - (high - middle) * shares, [high]])
    half = 0.5 * np.diff(edges)
    points = edges[:-1, None] + half[:, None] * (1 + NODES)
    return math.fsum(half * (rate(points) @ WEIGHTS))


@examples(60)
@given(schedules(composed=True), st.floats(0.0, 1.0))
def test_intrinsic_time_is_the_integral_of_the_learning_rate(plan: Schedule, share: float) -> None:
    tau = share * plan.steps
    cuts = [0.0, *(b for b in plan.physical_breaks if b < tau), tau]
    integral = sum(quadrature(plan.learning_rate, a, b) for a, b in zip(cuts[:-1], cuts[1:], strict=True))
    # 60 nodes on halving panels integrate every family to rounding; the sum of 120 panels loses a few digits more, and
    # the place of a crossing with the floor is known to the rounding of the steps
    assert plan.intrinsic_time(tau) == pytest.approx(integral, rel=1e-12, abs=1e-15 * plan.peak * plan.steps)
    left = plan.remaining_intrinsic_time(plan.steps - tau)
    assert plan.intrinsic_time(tau) + left == pytest.approx(plan.total_intrinsic_time, rel=2e-14)


@examples(60)
@given(schedules(30.0), st.floats(-30.0, 0.0))
def test_the_inverse_returns_near_both_ends(plan: Schedule, log_share: float) -> None:
    r = plan.total_intrinsic_time * 10.0**log_share
    steps = plan.remaining_steps(r)
    # rounding of exp(log) at |log| < 140, times the slope d log T / d log tau <= power + 1 = 9
    assert plan.remaining_intrinsic_time(steps) == pytest.approx(r, rel=1e-12)
    assert plan.intrinsic_time(plan.physical_time(r)) == pytest.approx(r, rel=1e-12)
    rate = plan.remaining_intrinsic_time(min(plan.steps, steps * (1 + 1e-6))) - r  # int of phi over 1e-6 steps
    if steps * (1 + 1e-6) < plan.steps and not plan.physical_breaks:
        # one-sided difference: relative error 1e-6 (power) / 2 in the slope, 1e-12 / 1e-6 / 9 from the rounding above
        assert plan.gamma_before_end(r) * plan.batch_size == pytest.approx(rate / (1e-6 * steps), rel=2e-5)


def test_a_floor_that_is_reached_within_rounding_of_the_end_is_reached():
    # (1 - tau/K)^(1/256) is .01 where 1 - tau/K is 1e-512
    plan = with_floor(schedule("power-decay", peak=1.0, steps=1.0, power=1 / 256), 0.01)
    assert plan.gamma_before_end(0.0) == plan.final_learning_rate == plan.learning_rate(1.0) == 0.01
    assert plan.learning_rate(0.5) == 0.5 ** (1 / 256)


@examples(60)
@given(schedules(composed=True), st.floats(0.0, 1.0))
def test_gamma_at_intrinsic_time_is_the_rate_there(plan: Schedule, share: float) -> None:
    tau = share * plan.steps
    assume(all(abs(tau - cut) > 1e-9 * plan.steps for cut in plan.physical_breaks))
    rate = plan.learning_rate(tau)
    # where the rate vanishes gamma is a root of the intrinsic time at least, and so loses half of the digits: of a rise
    # within a hundredth of T the root of 100 units in the last place
    close = {"rel": 1e-9, "abs": 3e-7 * plan.peak}
    assert plan.gamma(plan.intrinsic_time(tau)) * plan.batch_size == pytest.approx(rate, **close)
    late = plan.gamma_before_end(plan.remaining_intrinsic_time(plan.steps - tau))
    assert late * plan.batch_size == pytest.approx(rate, **close)


def test_a_rate_that_falls_to_nothing_is_known_however_little_time_remains():
    """gamma^2 = 2 r peak/K with r of the intrinsic time left: also where r/K is less than the least double."""
    left = np.array([1e-3, 1e-300, 5e-324])
    found = schedule("linear", peak=1.0, steps=900.0).gamma_before_end(left)
    np.testing.assert_allclose(found, np.sqrt(2.0 / 900.0) * np.sqrt(left), rtol=1e-12)


@examples(40)
@given(schedules(composed=True))
def test_ends_breaks_and_bounds(plan: Schedule) -> None:
    total = plan.total_intrinsic_time
    assert plan.physical_time(0.0) == 0.0 and plan.physical_time(total) == pytest.approx(plan.steps, rel=1e-12)
    assert plan.gamma(0.0) * plan.batch_size == pytest.approx(plan.learning_rate(0.0), rel=1e-12)
    assert plan.gamma_before_end(0.0) == plan.final_learning_rate / plan.batch_size
    grid = np.linspace(0.0, total, 50)
    values = plan.gamma(grid) * plan.batch_size
    assert values.shape == grid.shape and (values >= 0.0).all() and (values <= plan.peak * (1 + 1e-12)).all()
    assert all(0 < t <= total for t in plan.breaks) and list(plan.breaks) == sorted(plan.breaks)
    assert all(a + b == pytest.approx(total) for a, b in zip(plan.breaks, plan.breaks_before_end, strict=True))
    assert list(plan.physical_breaks) == sorted(plan.physical_breaks) and len(plan.physical_breaks) <= len(plan.breaks)


def test_definitions_at_points_worked_out_by_hand() -> None:
    assert schedule("cosine", peak=2.0, steps=8.0, final=1.0).learning_rate(2.0) == pytest.approx(
        1.5 + 0.5 * math.sqrt(0.5), rel=1e-15
    )
    assert schedule("power-decay", peak=2.0, steps=4.0, power=0.5).learning_rate(3.0) == 1.0
    assert schedule("exp-decay", peak=4.0, final=1.0, steps=2.0).learning_rate([0, 1, 2]) == pytest.approx([4, 2, 1])
    wsd = StableDecay(peak=4.0, final=1.0, steps=4.0, decay_fraction=0.5)
    assert wsd.learning_rate([0, 2, 3, 4]) == pytest.approx([4, 4, 2, 1], rel=1e-15)
    assert (wsd.stable_steps, wsd.decay_steps, wsd.physical_breaks) == (2.0, 2.0, (2.0,))
    whole = StableDecay(peak=4.0, final=1.0, steps=4.0, decay_fraction=1.0)
    plain = ExponentialDecay(peak=4.0, final=1.0, steps=4.0)
    assert whole.breaks == () and whole.total_intrinsic_time == plain.total_intrinsic_time
    flat = StableDecay(peak=0.4, final=0.4, steps=10.0, decay_fraction=0.3)
    assert flat.physical_breaks == () and flat.total_intrinsic_time == 4.0
    assert Constant(peak=0.3, steps=10, batch_size=3).gamma(1.0) == pytest.approx(0.1, rel=1e-15)
    assert schedule("inverse-sqrt", peak=6.0, steps=8.0, timescale=1.0).learning_rate([0, 3, 8]).tolist() == [6, 3, 2]
    fall = schedule("1-sqrt", peak=4.0, steps=20.0, decay_fraction=0.8)
    assert fall.learning_rate([3, 4, 8, 13, 20]).tolist() == [4.0, 4.0, 2.0, 1.0, 0.0]
    # 4 steps at the peak, and a third of 16 more
    assert fall.total_intrinsic_time == pytest.approx(16 + 64 / 3, rel=1e-15)
    steps = schedule("multi-step", peak=2.0, steps=10.0, milestones=[0.3, 0.7], factors=[0.5, 0.25])
    assert steps.learning_rate([0, 2.9, 3, 6.9, 7, 10]).tolist() == [2, 2, 1, 1, 0.5, 0.5]
    assert steps.breaks == (6.0, 10.0) and steps.breaks_before_end == (5.5, 1.5)
    # at a jump in intrinsic time that of the phase that ends there
    assert steps.gamma([6.0, 10.0, 11.5]).tolist() == [2.0, 1.0, 0.5]
    assert steps.gamma_before_end([5.5, 1.5, 0.0]).tolist() == [2.0, 1.0, 0.5]
    waves = schedule("cyclic", peak=3.0, steps=8.0, final=1.0, cycles=2)
    assert waves.learning_rate([0, 1, 2, 3, 4, 6]).tolist() == [1, 2, 3, 2, 1, 3] and waves.final_learning_rate == 1.0
    assert waves.total_intrinsic_time == 16.0 and waves.gamma(8.0) == 1.0


def test_resolution_before_the_end_of_a_very_long_training() -> None:
    # gamma^2 = 2 peak r / steps for a line that ends at 0: worked out by hand from the triangle
    assert schedule("linear", peak=1.0, steps=1e30).gamma_before_end(1e-3) == pytest.approx(math.sqrt(2e-33), rel=1e-12)
    # the fall 1 - sqrt(x) is phi^2/2 phi' at its end, with phi' = 1/(2 steps of it): phi^2 = r/steps of it
    fall = schedule("1-sqrt", peak=1.0, steps=1e30, decay_fraction=0.5)
    assert fall.gamma_before_end(1e-3) == pytest.approx(math.sqrt(2e-33), rel=1e-12)
    waves = schedule("cyclic", peak=1.0, steps=1e30, final=0.0, cycles=1)
    assert waves.gamma_before_end(1e-3) == pytest.approx(math.sqrt(4e-33), rel=1e-12)
    assert schedule("constant", peak=1e154, steps=1e154).total_intrinsic_time == pytest.approx(1e308)


def test_defaults_are_written_once() -> None:
    ends = {name: schedule(name, peak=2.0, steps=100).final_learning_rate for name in SCHEDULES}
    falling = {"exp-decay": 0.02, "wsd": 0.2, "inverse-sqrt": 2.0 / math.sqrt(101), "multi-step": 0.02, "8-1-1": 0.2}
    assert ends == pytest.approx({name: 0.0 for name in SCHEDULES} | {"constant": 2.0, "cyclic": 0.2} | falling)
    assert schedule("wsd", peak=2.0, steps=100).physical_breaks == (80.0,)
    assert schedule("multi-step", peak=2.0, steps=100).physical_breaks == (50.0, 75.0)
    assert schedule("cyclic", peak=2.0, steps=100, final=None).learning_rate(12.5) == 2.0
    assert schedule("linear", peak=2.0, steps=100, final=None) == schedule("linear", peak=2, steps=100)


@pytest.mark.parametrize("name", SCHEDULES)
def test_fields_have_names_and_cannot_be_changed(name: str) -> None:
    plan = schedule(name, peak=0.4, steps=5.0)
    with pytest.raises(TypeError):
        type(plan)(0.4, 5.0)
    for field in type(plan).__dataclass_fields__:
        with pytest.raises(FrozenInstanceError):
            setattr(plan, field, 1.0)
    same = type(plan)(**{field.name: getattr(plan, field.name) for field in fields(plan) if field.init})
    assert plan == same and hash(plan) == hash(same) and "peak=0.4" in repr(plan)
    # a caller's rounding of the whole is forgiven to one part in 1e12
    total = plan.total_intrinsic_time
    assert plan.gamma(total * (1.0 + 0.9e-12)) == plan.final_learning_rate
    for call in (plan.physical_time, plan.gamma, plan.gamma_before_end, plan.remaining_steps):
        with pytest.raises(ValueError, match="must be finite and in"):
            call(total * (1.0 + 1.1e-12))
        assert call(np.array([0.3, 0.1])).shape == (2,) and type(call(0.1)) is float


# ---- warmup, floor, and schedules one after another ------------------------------------------------------------------


@examples(40)
@given(schedules(), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_floor_is_the_larger_of_both(plan: Schedule, share: float, part: float) -> None:
    floor, tau = share * plan.peak, part * plan.steps
    assert with_floor(plan, floor).learning_rate(tau) == pytest.approx(max(plan.learning_rate(tau), floor), rel=1e-12)
    assert with_floor(plan, floor).steps == pytest.approx(plan.steps, rel=1e-15)


@examples(40)
@given(schedules(), st.floats(0.01, 10.0), st.floats(0.0, 1.0))
def test_a_warmup_comes_before_and_has_no_floor(plan: Schedule, share: float, part: float) -> None:
    first, floor = share * plan.steps, 0.5 * plan.peak
    whole = with_floor(with_warmup(plan, first), floor)
    assert whole == with_warmup(with_floor(plan, floor), first) and whole.batch_size == plan.batch_size
    assert whole.learning_rate(part * first * (1 - 1e-9)) == pytest.approx(plan.peak * part, rel=1e-8)
    assert whole.final_learning_rate == max(floor, plan.final_learning_rate)
    area = 0.5 * first * plan.peak + with_floor(plan, floor).total_intrinsic_time
    assert whole.total_intrinsic_time == pytest.approx(area, rel=1e-13)


def test_warmup_and_floor_of_rates_given_step_by_step() -> None:
    plan = Discrete(rates=[0.4, 0.2], batch_sizes=[2, 4])
    warm = with_warmup(plan, 2)
    assert isinstance(warm, Discrete) and warm.rates.tolist() == [0.0, 0.2, 0.4, 0.2]
    assert warm.batch_sizes.tolist() == [2, 2, 2, 4] and with_warmup(plan, 0) is plan is with_floor(plan, 0)
    assert with_floor(plan, 0.3).rates.tolist() == [0.4, 0.3]
    with pytest.raises(ValueError, match="whole number of steps"):
        with_warmup(plan, 1.5)


def test_schedules_one_after_another() -> None:
    parts = (Cosine(peak=0.4, steps=10), Constant(peak=0.1, steps=5), Cosine(peak=0.2, steps=10))
    plan = Consecutive(of=parts, batch_size=2)
    assert (plan.peak, plan.steps, plan.total_intrinsic_time) == (0.4, 25.0, pytest.approx(3.5, rel=1e-15))
    assert plan.learning_rate([9, 10, 15]).tolist() == [parts[0].learning_rate(9), 0.1, 0.2]
    assert plan.gamma(2.25) == 0.05 and plan.gamma(2.5) == 0.05
    # towards the zero of the first cosine the breaks close in, so that gamma is smooth on the scale of their gaps
    assert min(2.0 - t for t in plan.breaks if t < 2.0) < 1e-14 < min(abs(t - 2.5) for t in plan.breaks if t != 2.5)
    with pytest.raises(ValueError, match="a list of schedules, at least 1 of them"):
        Consecutive(of=())


# ---- a function as a schedule ----------------------------------------------------------------------------------------


@examples(30)
@given(schedules(4.0), st.floats(0.0, 1.0))
def test_a_function_is_the_schedule_whose_rate_it_is(plan: Schedule, share: float) -> None:
    found = from_function(plan.learning_rate, steps=plan.steps, breaks=plan.physical_breaks)
    tau = share * plan.steps
    area = plan.peak * plan.steps
    assert found.error < 1e-11 * area
    assert abs(found.intrinsic_time(tau) - plan.intrinsic_time(tau)) <= found.error + 1e-14 * area
    assert found.peak == pytest.approx(plan.peak, rel=1e-3)  # the largest of samples
    t = share * found.total_intrinsic_time
    assume(all(abs(t - cut) > 1e-9 * found.total_intrinsic_time for cut in plan.breaks))
    # near a zero of the rate gamma is a root of the intrinsic time, or a power of its eighth part
    assert found.gamma(t) == pytest.approx(plan.gamma(t) * plan.batch_size, rel=1e-6, abs=1e-4 * plan.peak)


def test_jumps_that_nobody_told_of_are_closed_in_on() -> None:
    plan = from_function(lambda tau: np.where(tau < math.pi, 0.3, 0.1), steps=10)
    assert abs(plan.total_intrinsic_time - (0.3 * math.pi + 0.1 * (10 - math.pi))) <= plan.error < 1e-13
    assert plan.learning_rate([3.14159, 3.1416]) == pytest.approx([0.3, 0.1], rel=1e-12)
    ramp = from_function(lambda tau: np.maximum(1.0 - tau, 0.0), steps=4, breaks=[1.0])
    assert ramp.total_intrinsic_time == pytest.approx(0.5, rel=1e-14) and ramp.gamma(0.5) < 1e-7
    assert ramp.physical_time(0.5) == pytest.approx(1.0, rel=1e-7)


def test_what_stands_for_a_schedule() -> None:
    plan = schedule("cosine", peak=0.1, steps=5)
    assert as_schedule("cosine", peak=0.1, steps=5) == plan and as_schedule(plan) is plan
    assert as_schedule([0.1, 0.2], batch_size=[1, 2]) == Discrete(rates=[0.1, 0.2], batch_sizes=[1, 2])
    warm = as_schedule(lambda tau: 0.5 - 0.1 * tau, steps=6, warmup=2, floor=0.2, batch_size=4)
    assert warm.learning_rate([0, 1, 2, 4, 6]) == pytest.approx([0.0, 0.25, 0.5, 0.3, 0.2], rel=1e-12)
    assert warm.steps == 6.0 and warm.batch_size == 4.0


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: schedule("sawtooth", peak=1, steps=1), ValueError, "the names are constant"),
        (lambda: schedule("WSD-like", peak=1, steps=1), ValueError, "it is called 'wsd'"),
        (lambda: schedule("cosine", peak=1, steps=1, power=2), TypeError, "has no power; besides peak and steps"),
        (lambda: schedule("cosine", peak=1, steps=5, warmup=5), ValueError, "warmup must be less than the steps"),
        (lambda: schedule("cosine", peak=1, steps=5, floor=2), ValueError, "floor must be at most the peak"),
        (lambda: Constant(peak=0.0, steps=1), ValueError, "peak must be positive"),
        (lambda: Constant(peak=1.0, steps=math.inf), ValueError, "steps must be finite"),
        (lambda: Constant(peak=True, steps=1), TypeError, "peak must be one real number"),
        (lambda: Constant(peak=1e200, steps=1e200), ValueError, "must be below 1.8e308"),
        (lambda: ExponentialDecay(peak=1.0, steps=1, final=2.0), ValueError, "final must be at most peak"),
        (lambda: ExponentialDecay(peak=1.0, steps=1, final=0.0), ValueError, "final must be positive"),
        (lambda: ExponentialDecay(peak=1.0, steps=1, final=1e-251), ValueError, "1e-250 peak"),
        (lambda: Cosine(peak=1.0, steps=1, final=-0.1), ValueError, "final must be at least 0"),
        (lambda: StableDecay(peak=1.0, steps=1, final=0.1, decay_fraction=0.0), ValueError, "decay_fraction must lie"),
        (lambda: schedule("1-sqrt", peak=1, steps=1, decay_fraction=1.1), ValueError, "decay_fraction must lie"),
        (lambda: schedule("inverse-sqrt", peak=1, steps=1, timescale=0), ValueError, "timescale must be positive"),
        (lambda: schedule("inverse-sqrt", peak=1, steps=1, timescale=1e-310), ValueError, "timescale must be above"),
        (lambda: schedule("cyclic", peak=1, steps=1, cycles=1.5), ValueError, "cycles must be a whole number"),
        (lambda: schedule("cyclic", peak=1, steps=1, final=2), ValueError, "final must be at most peak"),
        (lambda: MultiStep(peak=1, steps=9, milestones=[0.5], factors=[]), ValueError, "as many, at least one each"),
        (lambda: MultiStep(peak=1, steps=9, milestones=[0.5, 0.5], factors=[1, 1]), ValueError, "must rise within"),
        (lambda: MultiStep(peak=1, steps=9, milestones=[1.0], factors=[1]), ValueError, "must rise within"),
        (lambda: MultiStep(peak=1, steps=9, milestones=[0.5], factors=[0]), ValueError, "factors must lie in"),
        (lambda: MultiStep(peak=1, steps=9, milestones=0.5, factors=[1]), TypeError, "must be a list of numbers"),
        (lambda: Constant(peak=1.0, steps=1).learning_rate(2.0), ValueError, "tau must be finite and in"),
        (lambda: Constant(peak=1.0, steps=1).gamma(math.nan), ValueError, "t must be finite and in"),
        (lambda: as_schedule("wsd", peak=1), TypeError, "needs peak= and steps="),
        (lambda: as_schedule(Constant(peak=1, steps=1), steps=2), TypeError, "a Schedule .* takes no steps="),
        (lambda: as_schedule([0.1], power=2), TypeError, "an array .* takes no power="),
        (lambda: as_schedule([0.1, -0.1]), ValueError, "at least 0, got -0.1 at position 1"),
        (lambda: as_schedule(3.0), TypeError, "must be an array of real numbers, got float of dtype float64$"),
        (lambda: Discrete(rates=Constant(peak=1.0, steps=3)), TypeError, r"step_rates\(it\) has a schedule's rate of"),
        (lambda: as_schedule(np.cos), TypeError, "needs steps="),
        (lambda: as_schedule(np.cos, steps=5, warmup=9), ValueError, "warmup must be less than the steps, got 9 of 5"),
        (lambda: as_schedule(np.cos, steps=9, peak=1), TypeError, "a function .* takes no peak="),
        (lambda: as_schedule(np.cos, steps=9), ValueError, "must be finite and at least 0, got -"),
        (lambda: as_schedule(lambda tau: tau / 0.0 if tau[0] else tau, steps=9), ValueError, "got inf"),
        (lambda: as_schedule(lambda tau: 0.0 * tau, steps=9), ValueError, "positive somewhere"),
        (lambda: as_schedule(lambda tau: tau[:2], steps=9), TypeError, "numpy.vectorize"),
        (lambda: as_schedule(np.cos, steps=1, breaks=[2]), ValueError, "strictly inside"),
        (lambda: as_schedule(lambda tau: 1 + np.cos(1e5 * tau), steps=9e3), ValueError, "varies too fast"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_input_is_refused_in_words(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_other_spellings_name_the_schedule() -> None:
    found = {text: spelling(text) for text in ("exponential decay", "power_decay", "Linear decay", "8_1_1", "1 - sqrt")}
    assert list(found.values()) == ["exp-decay", "power-decay", "linear", "8-1-1", "1-sqrt"]
    assert spelling("step") is None and all(spelling(name) == name for name in SCHEDULES)


# ---- the numerical inverse -------------------------------------------------------------------------------------------


def test_the_inverse_at_the_ends_and_where_newton_leaves_the_bracket() -> None:
    # slope 1e-6 until 1, then 1: from the flat part Newton's steps overshoot
    def bent(x: Any) -> Any:
        return 1e-6 * x + np.maximum(x - 1.0, 0.0)

    value = np.array([0.0, 1e-12, 5e-7, 1e-6, 1e-5, 0.3, 1.0 + 2e-6, 5.0])
    found = invert_increasing(bent, lambda x: 1e-6 + (x > 1.0), value, 1.0 + 1e-6, 2.0)
    assert found[0] == 0.0 and found[-2:].tolist() == [2.0, 2.0]
    assert bent(found[:-1]) == pytest.approx(value[:-1], rel=1e-9, abs=0.0)
    assert found[1:3] == pytest.approx([1e-6, 0.5], rel=1e-12, abs=0.0)


@pytest.mark.parametrize(("power", "most"), [(1.0, 2), (3.0, 4), (9.0, 7)])
def test_a_power_is_inverted_by_few_steps_of_newton(power: float, most: int) -> None:
    asked = []

    def raised(x: Any) -> Any:
        asked.append(x)
        return x**power

    value = np.array([1e-30, 1e-3, 0.5, 1.9]) ** power
    found = invert_increasing(raised, lambda x: power * x ** (power - 1.0), value, power * 2.0**power, 2.0)
    assert found == pytest.approx([1e-30, 1e-3, 0.5, 1.9], rel=1e-13, abs=0.0)
    # the whole, the first guess, its correction and the check; a guess of slope 1 for slope 9 first halves its bracket
    assert len(asked) <= most


def test_a_wrong_slope_or_an_underflow_costs_steps_but_no_digits() -> None:
    for factor in (0.1, 0.5, 2.0, 10.0):
        value = np.array([1e-8, 0.09, 0.25])
        found = invert_increasing(lambda x: x**2, lambda x, factor=factor: factor * 2.0 * x, value, 2.0, 1.0)
        assert found == pytest.approx([1e-4, 0.3, 0.5], rel=1e-13, abs=0.0)
    # x^40 is 0 below 1e-8.1; its value 1e-300 is reached at 10^-7.5
    found = invert_increasing(lambda x: x**40, lambda x: 40.0 * x**39, np.array([1e-300]), 40.0, 1.0)
    assert found == pytest.approx([10.0**-7.5], rel=1e-13, abs=0.0)


@pytest.mark.parametrize("power", [0.3, 1.0, 5.0])
def test_a_power_decay_to_zero_inverts_its_time_in_closed_form(power):
    plan = schedule("power-decay", peak=0.3, steps=1e4, power=power)
    left = plan.steps * np.array([0.0, 1e-9, 1e-3, 0.4, 1.0])
    assert plan.remaining_steps(plan.remaining_intrinsic_time(left)) == pytest.approx(left, rel=1e-13)
    early = plan.steps * np.array([0.0, 1e-12, 1e-3, 0.2])
    assert plan.physical_time(plan.intrinsic_time(early)) == pytest.approx(early, rel=1e-13)
