"""Schedules at the ends of what they take: names, exact limits, the cost of the inverse, jumps within rounding."""

import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from fsl_num.schedules import (
    SCHEDULES,
    Constant,
    Cosine,
    Discrete,
    ExponentialDecay,
    Linear,
    PowerDecay,
    StableDecay,
    schedule,
)
from fsl_num.schedules.base import final_rate
from fsl_num.schedules.cosine import _x_minus_sin
from fsl_num.schedules.exponential import _relative_growth, _relative_logarithm
from fsl_num.schedules.inverse import invert_increasing
from fsl_num.schedules.steps import STEP_SCHEDULES, cyclic, eight_one_one, step_rates

PLANS = [
    Constant(peak=0.4, steps=5.0),
    Linear(peak=0.4, final=0.1, steps=5.0),
    Cosine(peak=0.4, final=0.1, steps=5.0),
    PowerDecay(peak=0.4, power=1.5, steps=5.0),
    ExponentialDecay(peak=0.4, final=0.1, steps=5.0),
    StableDecay(peak=0.4, final=0.1, steps=5.0, decay_fraction=0.4),
]
OWN = {"final": 0.1, "decay_fraction": 0.4, "power": 1.5}


@pytest.mark.parametrize("plan", [*PLANS, Discrete(rates=[0.1])], ids=lambda plan: type(plan).__name__)
def test_fields_have_names_and_cannot_be_changed(plan):
    kind = type(plan)
    with pytest.raises(TypeError):
        kind(0.4, 5.0)
    own = [name for name in OWN if name in kind.__dataclass_fields__]
    for name in own:  # nor is any one of them taken by its place
        others = {"peak": 0.4, "steps": 5.0} | {each: OWN[each] for each in own if each != name}
        with pytest.raises(TypeError):
            kind(OWN[name], **others)
    if kind is Discrete:
        with pytest.raises(TypeError):
            kind([0.1])
    for name in ("peak", *own):
        with pytest.raises(FrozenInstanceError):
            setattr(plan, name, 1.0)
    assert isinstance(hash(plan), int) and (plan == plan) is True


def test_plans_of_equal_fields_are_equal():
    for plan in PLANS:
        same = type(plan)(**{name: getattr(plan, name) for name in type(plan).__dataclass_fields__})
        assert plan == same and hash(plan) == hash(same) and "peak=0.4" in repr(plan)


def test_defaults_of_all_schedules():
    for name in SCHEDULES:
        needed = {
            "exp-decay": {"final": 0.1},
            "wsd": {"final": 0.1, "decay_fraction": 0.5},
            "power-decay": {"power": 2},
        }
        plan = schedule(name, peak=1, steps=4, **needed.get(name, {}))
        assert plan.batch_size == 1.0 and type(plan.peak) is float and type(plan.steps) is float
        assert plan.learning_rate(0.0) == pytest.approx(1.0, rel=1e-15, abs=0.0)
        assert schedule(name, peak=1, steps=4, batch_size=5, **needed.get(name, {})).gamma(0.0) == pytest.approx(0.2)
    assert Linear(peak=1.0, steps=4).final == 0.0 and Cosine(peak=1.0, steps=4).final == 0.0
    # a power 0 is a constant; what is left falls with the first power then
    flat = PowerDecay(peak=0.4, steps=5.0, power=0)
    assert flat.learning_rate([0.0, 2.0, 5.0]).tolist() == [0.4] * 3
    assert flat.total_intrinsic_time == pytest.approx(2.0, rel=1e-15, abs=0.0)


def test_limits_themselves_are_allowed():
    assert final_rate(0.4, 0.4, zero=True) == 0.4
    assert StableDecay(peak=1.0, final=0.1, steps=8.0, decay_fraction=1.0).physical_breaks == ()
    assert StableDecay(peak=1.0, final=0.1, steps=8.0, decay_fraction=1e-9).decay_steps == pytest.approx(8e-9)
    assert Constant(peak=1e154, steps=1e154).total_intrinsic_time == pytest.approx(1e308)
    for value in (5.0, np.nextafter(5.0, 6.0)):
        if value > 5.0:
            with pytest.raises(ValueError, match="tau must be"):
                PLANS[1].learning_rate(value)
        else:
            assert PLANS[1].learning_rate(value) == pytest.approx(0.1, rel=1e-15)
    # a caller's rounding of the whole is forgiven to one part in 1e12
    for plan in PLANS:
        total = plan.total_intrinsic_time
        assert plan.physical_time(total * (1.0 + 0.9e-12)) == pytest.approx(5.0, rel=1e-15)
        assert plan.gamma(total * (1.0 + 0.9e-12)) == plan.final_learning_rate
        for call in (plan.physical_time, plan.gamma, plan.gamma_before_end, plan.remaining_steps):
            with pytest.raises(ValueError, match="must be finite and in"):
                call(total * (1.0 + 1.1e-12))
            assert call(np.array([0.3, 0.1])).shape == (2,) and type(call(0.1)) is float


@pytest.mark.parametrize("x", [-700.0, -3.0, -1e-9, 0.0, 1e-300, 1e-8, 0.5, 2.0, 700.0])
def test_growth_and_logarithm_in_units_of_their_argument(x):
    grown = 1.0 if x == 0.0 else math.expm1(x) / x
    assert _relative_growth(np.array([x])) == pytest.approx([grown], rel=1e-15, abs=0.0)
    if x > -1.0:
        wanted = 1.0 if x == 0.0 else math.log1p(x) / x
        assert _relative_logarithm(np.array([x])) == pytest.approx([wanted], rel=1e-15, abs=0.0)


def test_the_angle_and_its_sine_at_the_place_where_the_series_ends():
    # nine terms: at 1/2 the tenth is (1/2)^21/21! = 1e-26 of a sum 0.02; the quotient with x^3/6 is near 1
    x = np.array([1e-100, 1e-5, 0.1, np.nextafter(0.5, 0.0)])
    assert _x_minus_sin(x) / (x**3 / 6.0) == pytest.approx(
        [sum((-1) ** k * v ** (2 * k) * 6.0 / math.factorial(2 * k + 3) for k in range(15)) for v in x.tolist()],
        rel=1e-15, abs=0.0,
    )  # fmt: skip


# The inverse


def counted(function):
    """The function, and the list of what it was asked."""
    asked = []

    def called(x):
        asked.append(np.array(x))
        return function(x)

    return called, asked


@pytest.mark.parametrize(("power", "most"), [(1.0, 2), (3.0, 4), (9.0, 7)])
def test_a_power_is_inverted_by_one_step_of_newton(power, most):
    function, asked = counted(lambda x: x**power)
    value = np.array([1e-30, 1e-3, 0.5, 1.9]) ** power
    found = invert_increasing(function, lambda x: power * x ** (power - 1.0), value, power * 2.0**power, 2.0)
    assert found == pytest.approx([1e-30, 1e-3, 0.5, 1.9], rel=1e-13, abs=0.0)
    # the whole, the first guess, its correction and the check; a guess of slope 1 for slope 9 first halves its bracket
    assert len(asked) <= most and asked[0].tolist() == [2.0]
    assert len(asked[-1]) == 4


@pytest.mark.parametrize("plan", [PLANS[2], PLANS[3]], ids=lambda plan: type(plan).__name__)
def test_newton_needs_few_steps_from_either_end(plan, monkeypatch):
    """Bisection alone would need fifty: with the slope at the wrong place no step of Newton would be taken."""
    steps = []
    for name in ("_elapsed", "_left"):
        plain = getattr(type(plan), name)

        def called(self, x, plain=plain):
            if np.size(x) > 1:
                steps.append(len(x))
            return plain(self, x)

        monkeypatch.setattr(type(plan), name, called)
    tau = np.array([0.1, 1.0, 2.0])
    back = plan.physical_time(np.concatenate([plan.intrinsic_time(tau)]))
    assert back == pytest.approx(tau, rel=1e-13, abs=0.0)
    early = len(steps)
    late = plan.remaining_steps(plan.remaining_intrinsic_time(tau))
    assert late == pytest.approx(tau, rel=1e-13, abs=0.0)
    # Newton in logarithms doubles the digits: six steps at most, and one that sees no change, for each of two halves
    assert early <= 14 and len(steps) - early <= 8


def test_the_inverse_of_a_function_that_is_flat_in_its_middle():

    def stairs(x):
        return np.minimum(x, 1.0) + 1e-9 * np.clip(x - 1.0, 0.0, 1.0) + np.maximum(x - 2.0, 0.0)

    function, asked = counted(stairs)
    value = stairs(np.array([0.5, 1.5, 2.5]))
    found = invert_increasing(function, lambda x: np.where((x > 1.0) & (x < 2.0), 1e-9, 1.0), value, 1.0, 3.0)
    # 1 + 5e-10 has the place 1.5 to 2e-16/1e-9
    assert found == pytest.approx([0.5, 1.5, 2.5], rel=3e-7, abs=0.0)
    assert found[[0, 2]] == pytest.approx([0.5, 2.5], rel=1e-14, abs=0.0)
    assert len(asked) <= 8  # each piece is a line, which one step of Newton meets


def test_a_wrong_slope_costs_steps_but_no_digits():
    for factor in (0.1, 0.5, 2.0, 10.0):
        found = invert_increasing(
            lambda x: x**2, lambda x, factor=factor: factor * 2.0 * x, np.array([1e-8, 0.09, 0.25]), 2.0, 1.0
        )
        assert found == pytest.approx([1e-4, 0.3, 0.5], rel=1e-13, abs=0.0)


def test_a_function_that_underflows_is_inverted_by_its_bracket():
    # x^40 is 0 below 1e-8.1; its value 1e-300 is reached at 10^-7.5
    found = invert_increasing(lambda x: x**40, lambda x: 40.0 * x**39, np.array([1e-300]), 40.0, 1.0)
    assert found == pytest.approx([10.0**-7.5], rel=1e-13, abs=0.0)


# Steps


def test_a_jump_is_met_within_eight_units_in_the_last_place_of_the_whole():
    plan = Discrete(rates=[1.0, 2.0**-40], batch_sizes=1)
    unit = np.spacing(plan.total_intrinsic_time)
    assert unit == 2.0**-52
    # the last step has the length 2^-40; so much before the end the first one has ended
    jump = 2.0**-40
    rests = [jump + 1e-14, jump, jump - 7.5 * unit, jump - 8.5 * unit, 0.5 * jump, 0.0]
    assert plan.gamma_before_end(rests).tolist() == [1.0, 1.0, 1.0, jump, jump, jump]


def test_one_step_alone_and_steps_of_no_length_at_the_ends():
    one = Discrete(rates=[0.25], batch_sizes=2)
    assert one.breaks == one.breaks_before_end == one.physical_breaks == ()
    assert one.gamma([0.0, 0.1, 0.25]).tolist() == [0.125] * 3 and one.batch_size == 2.0
    assert one.physical_time([0.0, 0.125, 0.25]).tolist() == [0.0, 0.5, 1.0]
    assert one.remaining_steps([0.0, 0.125, 0.25]).tolist() == [0.0, 0.5, 1.0]
    ends = Discrete(rates=[0.0, 0.0, 0.5, 0.25, 0.0])
    assert ends.physical_time([0.0, 0.25, 0.5, 0.75]).tolist() == [0.0, 2.5, 3.0, 4.0]
    assert ends.remaining_steps([0.0, 0.125, 0.25, 0.75]).tolist() == [0.0, 1.5, 2.0, 3.0]
    assert ends.gamma([0.0, 0.5, 0.6, 0.75]).tolist() == [0.5, 0.5, 0.25, 0.25]
    assert ends.learning_rate([0.0, 2.0, 4.5, 5.0]).tolist() == [0.0, 0.5, 0.0, 0.0]
    assert ends.final_learning_rate == 0.0
    # batches of their own: the peak over the largest gamma
    mixed = Discrete(rates=[0.4, 0.2], batch_sizes=[4.0, 1.0])
    assert mixed.gammas.tolist() == [0.1, 0.2] and mixed.batch_size == 2.0 and mixed.peak == 0.4
    assert Discrete(rates=[0.4, 0.2], batch_sizes=[1.0, 1.0]).gammas.tolist() == [0.4, 0.2]
    assert Discrete(rates=[0.4, 0.2], batch_sizes=[1.0, 2.0]).gammas.tolist() == [0.4, 0.1]


@pytest.mark.parametrize(("steps", "at_peak", "between"), [(1, 1, 0), (9, 8, 1), (10, 8, 1), (11, 9, 1), (20, 16, 2)])
def test_how_many_steps_8_1_1_has_at_each_rate(steps, at_peak, between):
    rates = eight_one_one(2.0, steps)
    last = steps - at_peak - between
    assert rates == pytest.approx([2.0] * at_peak + [2.0 * math.sqrt(0.1)] * between + [0.2] * last, rel=1e-15)


def test_one_cycle_and_many():
    assert cyclic(1.0, 4, 0.5, 1).tolist() == [0.5, 0.75, 1.0, 0.75]
    assert cyclic(1.0, 4, 0.5, 2).tolist() == [0.5, 1.0, 0.5, 1.0]
    assert cyclic(1.0, 4, 0.5, 4).tolist() == [0.5] * 4


@pytest.mark.parametrize("name", STEP_SCHEDULES)
def test_every_parameter_that_is_given_is_taken_and_checked(name):
    one = step_rates(name, peak=0.5, steps=1)
    assert one == pytest.approx([0.05 if name == "cyclic" else 0.5], rel=1e-15)
    for steps in (0, 2.5, math.inf):
        with pytest.raises(ValueError, match="steps must be"):
            step_rates(name, peak=0.5, steps=steps)
    with pytest.raises(ValueError, match="peak must be"):
        step_rates(name, peak=math.inf, steps=4)
    if name in ("exp-decay", "wsd", "cosine", "linear", "cyclic"):
        low = step_rates(name, peak=0.5, steps=4, final=0.5)
        assert low == pytest.approx([0.5] * 4, rel=1e-15)
        with pytest.raises(ValueError, match="final must be"):
            step_rates(name, peak=0.5, steps=4, final=-0.1)
    if name == "cyclic":
        assert step_rates(name, peak=0.5, steps=4, final=0).tolist() == [0.0] * 4
        assert step_rates(name, peak=0.5, steps=8, final=0, cycles=2).tolist() == [0.0, 0.25, 0.5, 0.25] * 2
        for cycles in (0, 1.5, math.inf):
            with pytest.raises(ValueError, match="cycles must be"):
                step_rates(name, peak=0.5, steps=4, cycles=cycles)
    if name == "wsd":
        half = step_rates(name, peak=0.5, steps=4, final=0.125, decay_fraction=0.5)
        assert half == pytest.approx([0.5, 0.5, 0.5, 0.25], rel=1e-15)
    if name == "power-decay":
        assert step_rates(name, peak=0.5, steps=4, power=2.0).tolist() == [0.5, 0.28125, 0.125, 0.03125]
