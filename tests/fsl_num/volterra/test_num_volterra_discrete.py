"""Discrete schedules: the schedule itself, and collocation in blocks against independent methods."""

import math
from dataclasses import replace

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from models import loss_of
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from fsl_num.model import Model
from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem, Spectrum, UnstableProblemError
from fsl_num.volterra.linear_modes import linear_modes
from fsl_num.volterra.panels import solve_panels
from fsl_num.volterra.steps.discrete import losses_of_steps, solve_discrete


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
        ({"rates": [0.1, 0.2, 0.3], "batch_sizes": [1, 2]}, ValueError, "one number or one a step"),
        ({"rates": [0.1], "batch_sizes": 0}, ValueError, "positive"),
    ],
)
def test_bad_schedules_are_refused(arguments, kind, text):
    with pytest.raises(kind, match=text):
        Discrete(**arguments)


@examples(6)
@given(st.integers(0, 2**31), st.sampled_from([3, 10, math.inf]), st.floats(0.2, 2.0), st.floats(1.5, 4.0))
def test_agrees_with_panels_within_its_error(seed, size, s, beta):
    plan = _random(seed)
    problem = Problem(Model(s=s, beta=beta, size=size, noise=1.0), gamma=plan)
    values, error, facts = losses_of_steps(problem, 1e-11)
    at, first = np.unique(np.concatenate([[0.0], np.cumsum(plan.rates)]), return_index=True)
    panels, claimed, _ = solve_panels(problem, np.minimum(at, problem.end), 1e-12)
    assert facts.success and (error <= 2e-11 * values).all()
    assert (np.abs(values[first] - panels) <= error[first] + claimed).all()
    # about 1e-14 was measured; the panels are good to 1e-12
    assert np.abs(values[first] / panels - 1.0).max() < 1e-12


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_agrees_with_the_matrix_exponential_of_every_step(closure):
    plan = _random(5, 30)
    eigen, signals = np.array([1.3, 0.6, 0.6, 0.1, 0.002]), np.array([0.2, 0.5, 0.1, 0.7, 0.4])
    spectrum = Spectrum(eigen, signals, tail=0.05)
    problem = Problem(Model(noise=0.5, spectrum=spectrum), gamma=plan, closure=closure)
    values, error, _ = losses_of_steps(problem, 1e-12)
    state, found = np.append(spectrum.signals, 1.0), [0.05 + spectrum.signals.sum()]
    for length, gamma in zip(plan.rates, plan.gammas, strict=True):
        rates = spectrum.eigenvalues
        system = np.zeros((6, 6))
        system[:5, :5] = np.diag(-2.0 * rates) + gamma * np.outer(rates**2, np.ones(5))
        system[:5, 5] = gamma * rates**2 * (0.05 + 0.5)
        if closure == "gaussian":
            system[:5, :5] += gamma * np.diag(rates**2)
        state = expm(length * system) @ state
        found.append(0.05 + state[:5].sum())
    # 30 matrix exponentials round by about 1e-15 each
    assert (np.abs(values - found) <= error + 3e-14).all()
    # and the other closure is another number
    other = losses_of_steps(replace(problem, closure="gaussian" if closure == "volterra" else "volterra"), 1e-12)[0]
    assert np.abs(other / values - 1.0).max() > 1e-3


def test_agrees_with_an_integrator_of_every_mode():
    plan = _random(5, 12)
    problem = Problem(Model(s=0.5, beta=2.0, size=8, noise=0.5), gamma=plan)
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


def test_long_steps_with_large_batches_do_not_overflow():
    plan = Discrete(rates=[1e4, 3.0, 1e3], batch_sizes=1e6)
    problem = Problem(Model(s=0.5, beta=2.0, size=4, noise=1.0), gamma=plan)
    values, error, _ = losses_of_steps(problem)
    panels, claimed, _ = solve_panels(problem, np.array([0.0, 1e4, 1e4 + 3.0, problem.end]), 1e-12)
    assert (np.abs(values - panels) <= error + claimed).all()
    assert loss_of(problem, problem.end).method == "panels"
    with pytest.raises(ValueError, match="use the method 'panels'"):
        losses_of_steps(replace(problem, gamma=Discrete(rates=[1e12], batch_sizes=1e14), horizon=None))


@examples(10)
@given(st.integers(0, 2**31), st.integers(1, 12))
def test_times_inside_steps(seed, count):
    plan = _random(seed, 25)
    problem = Problem(Model(s=0.7, beta=1.8, size=30, noise=1.0), gamma=plan)
    generator = np.random.default_rng(seed)
    ends = np.cumsum(plan.rates)
    t = np.unique(np.concatenate([generator.uniform(0, problem.end, count), ends[:3], [0.0, problem.end]]))
    t = np.minimum(t, problem.end)
    values, error, _ = solve_discrete(problem, t, 1e-11)
    panels, claimed, _ = solve_panels(problem, t, 1e-12)
    assert (np.abs(values - panels) <= error + claimed).all()
    at_ends = losses_of_steps(problem, 1e-11)[0]
    # cutting steps in two moves nothing: both are within 1e-11
    assert values[-1] == pytest.approx(at_ends[-1], rel=2e-11)
    assert values[0] == at_ends[0]


def test_other_schedules_are_refused():
    problem = Problem(Model(s=0.5, beta=2.0, size=4, noise=1.0), gamma=0.1, horizon=1.0)
    with pytest.raises(ValueError, match="Discrete"):
        losses_of_steps(problem)
    with pytest.raises(ValueError, match="Discrete"):
        loss_of(problem, 1.0, method="discrete")


def test_it_is_the_default_for_discrete_schedules():
    problem = Problem(Model(s=0.5, beta=2.0, size=4, noise=1.0), gamma=Discrete(rates=[0.1] * 5))
    found = loss_of(problem, [0.5, 0.05])
    assert found.method == "discrete" and found.success and "many steps" in found.message
    assert found.values[0] < found.values[1]
    with pytest.raises(UnstableProblemError):
        loss_of(replace(problem, gamma=Discrete(rates=[3.0])), 1.0)
