"""Discrete schedules: the schedule itself, and exponential time differencing against independent methods."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem
from fsl_num.volterra.discrete import linear_modes, losses_of_steps, march
from fsl_num.volterra.panels import solve_panels


def _random(seed, steps=40):
    generator = np.random.default_rng(seed)
    rates = generator.uniform(0.0, 0.4, steps)
    rates[generator.integers(1, steps - 1, 3)] = 0.0
    return Discrete(rates=rates, batch_sizes=generator.integers(1, 4, steps))


def test_schedule_values_at_and_between_jumps():
    plan = Discrete(rates=[0.1, 0.0, 0.3, 0.0, 0.0, 0.2], batch_sizes=[1, 1, 3, 1, 1, 1])
    # at a jump the value of the step that ends there; 1e-15 is the rounding of one division
    assert plan.gamma([0.05, 0.1, 0.2, 0.4, 0.5, 0.6]) == pytest.approx([0.1, 0.1, 0.1, 0.1, 0.2, 0.2], rel=1e-15)
    assert plan.gamma_before_end([0.1, 0.3]) == pytest.approx([0.2, 0.1], rel=1e-15)
    # a few roundings of numbers of size 6
    assert plan.physical_time([0.05, 0.1, 0.25, 0.5]) == pytest.approx([0.5, 1.0, 2.5, 5.5], rel=1e-14)
    assert plan.intrinsic_time([1.0, 2.0, 3.0, 6.0]) == pytest.approx([0.1, 0.1, 0.4, 0.6], rel=1e-14)
    assert plan.learning_rate([0.0, 2.5, 5.0]).tolist() == [0.1, 0.3, 0.2]
    assert plan.breaks == pytest.approx((0.1, 0.4), rel=1e-14)
    assert plan.peak / plan.batch_size == pytest.approx(0.2, rel=1e-15)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"rates": 0.1}, TypeError, "array"),
        ({"rates": []}, (TypeError, ValueError), "rates"),
        ({"rates": [0.1, math.nan]}, ValueError, "position 1"),
        ({"rates": [0.1, -0.1]}, ValueError, "at least 0"),
        ({"rates": [0.0, 0.0]}, ValueError, "no training"),
        ({"rates": [[0.1]]}, ValueError, "dimension"),
        ({"rates": [0.1, 0.2, 0.3], "batch_sizes": [1, 2]}, ValueError, "one for every step"),
        ({"rates": [0.1], "batch_sizes": 0}, ValueError, "positive"),
    ],
)
def test_bad_schedules_are_refused(arguments, kind, text):
    with pytest.raises(kind, match=text):
        Discrete(**arguments)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([3, 10, math.inf]), st.floats(0.2, 2.0), st.floats(1.5, 4.0))
def test_agrees_with_panels_within_its_error(seed, size, s, beta):
    plan = _random(seed)
    problem = Problem(s=s, beta=beta, model_size=size, noise=1.0, gamma=plan)
    values, error, _ = losses_of_steps(problem)
    at, first = np.unique(np.concatenate([[0.0], np.cumsum(plan.rates)]), return_index=True)
    panels, claimed, _ = solve_panels(problem, np.minimum(at, problem.end), 1e-12)
    assert (np.abs(values[first] - panels) <= error[first] + claimed).all()
    # 16 parts of steps of 0.4 at fourth order: 1e-10 was measured, the fast mode of the start allowed for
    assert np.abs(values[first] / panels - 1.0).max() < 1e-7


def test_agrees_with_an_integrator_of_every_mode():
    plan = _random(5, 12)
    problem = Problem(s=0.5, beta=2.0, model_size=8, noise=0.5, gamma=plan)
    values, error, _ = losses_of_steps(problem)
    system = linear_modes(problem, problem.end)
    state, found = system.start, [system.delta + system.start.sum()]
    for rate, gamma in zip(plan.rates, plan.gammas, strict=True):
        if rate > 0.0:

            def slope(t, x, gamma=gamma):
                return -system.rates * x + system.weights * gamma * (system.delta + x.sum() + system.noise)

            state = solve_ivp(slope, (0.0, rate), state, method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
        found.append(system.delta + state.sum())
    # 1e-11: the integrator's tolerance times twelve steps
    assert (np.abs(values - found) <= error + 1e-11).all()


def test_order_is_two():
    plan = _random(7)
    system = linear_modes(Problem(s=0.5, beta=2.0, model_size=10, noise=1.0, gamma=plan), plan.total_intrinsic_time)
    ends = [march(system, np.repeat(plan.rates / n, n), np.repeat(plan.gammas, n))[0][-1] for n in (4, 8, 16)]
    # differences of a second-order method shrink by 4, up to terms of the next order in the step 0.1
    assert math.log2(abs((ends[0] - ends[1]) / (ends[1] - ends[2]))) == pytest.approx(2.0, abs=0.1)


def test_long_steps_with_large_batches_do_not_overflow():
    plan = Discrete(rates=[1e4, 3.0, 1e3], batch_sizes=1e6)
    problem = Problem(s=0.5, beta=2.0, model_size=4, noise=1.0, gamma=plan)
    values, error, _ = losses_of_steps(problem)
    panels, claimed, _ = solve_panels(problem, np.array([0.0, 1e4, 1e4 + 3.0, problem.end]), 1e-12)
    assert (np.abs(values - panels) <= error + claimed).all()


def test_other_schedules_are_refused():
    with pytest.raises(ValueError, match="Discrete"):
        losses_of_steps(Problem(s=0.5, beta=2.0, model_size=4, noise=1.0, gamma=0.1, horizon=1.0))


def test_the_facts_say_whether_the_tolerance_was_reached():
    problem = Problem(s=0.5, beta=2.0, model_size=10, noise=1.0, gamma=Discrete(rates=[0.3] * 40))
    values, error, facts = losses_of_steps(problem, rtol=1e-4)
    assert facts["tolerance reached"] and (error[-1] <= 1.1e-4 * values[-1])
    values, error, facts = losses_of_steps(problem, rtol=1e-12)
    assert not facts["tolerance reached"] and error[-1] > 1e-12 * values[-1]
