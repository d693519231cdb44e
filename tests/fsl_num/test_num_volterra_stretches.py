"""Stretches of many steps: convergence, limit, the staircase, the way back to single steps, honesty, and mutants."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from fsl_num.schedules import Discrete
from fsl_num.spectrum import approximation_error, trace
from fsl_num.volterra import Problem
from fsl_num.volterra.linear_modes import linear_modes
from fsl_num.volterra.panels import solve_panels
from fsl_num.volterra.steps import discrete as discrete_module
from fsl_num.volterra.steps import mixed_march, smooth_steps
from fsl_num.volterra.steps.discrete import losses_of_steps, solve_discrete
from fsl_num.volterra.steps.mixed_march import march_stretches
from fsl_num.volterra.steps.sampled_steps import SampledSteps
from fsl_num.volterra.steps.smooth_steps import Scales, find_stretches, fit_stretch
from fsl_num.volterra.steps.stretches import Moments

MODELS = {
    "infinite": {"s": 0.5, "beta": 2.0, "model_size": math.inf, "noise": 1.0},
    "no noise": {"s": 3.0, "beta": 1.1, "model_size": math.inf, "noise": 0.0},
    "large noise": {"s": 0.5, "beta": 2.0, "model_size": math.inf, "noise": 1e6},
    "one mode": {"s": 2.5, "beta": 4.0, "model_size": 1, "noise": 0.0},
}


def wave(steps, last=1.5):
    return 0.1 * np.cos(np.linspace(0.0, last, steps)) ** 2


def plans(steps):
    """Adversarial schedules: learning rates and batch sizes."""
    rng = np.random.default_rng(5)
    share, count = np.linspace(0.0, 1.0, steps), np.arange(steps)
    spike, small, moved, zeros = wave(steps), wave(steps), wave(steps), wave(steps)
    spike[steps // 3] *= 3.0
    small[steps // 3] *= 1.0 + 1e-7
    moved[steps // 3 :] *= 1.0 + 1e-7
    zeros[rng.integers(0, steps, 9)] = 0.0
    ragged = 0.1 * rng.uniform(0.2, 1.0, steps)
    place = np.cumsum(ragged)
    return {
        "one jump": (np.where(count < steps // 2 + 7, 0.1, 0.03), 1.0),
        "alternating": (0.1 * np.where(count % 2, 1.0, 0.5), 1.0),
        "spike of one step": (spike, 1.0),
        "small spike": (small, 1.0),
        "small jump": (moved, 1.0),
        "random walk": (0.05 * np.exp(np.clip(np.cumsum(rng.normal(0.0, 0.01, steps)), -2.0, 0.7)), 1.0),
        "some rates zero": (zeros, 1.0),
        "long steps": (np.where(share < 0.5, 3.0, 1.2), 30.0),
        "exponential": (0.1 * 10.0 ** (-6.0 * share), 1.0),
        "8-1-1": (np.where(share < 0.8, 0.1, np.where(share < 0.9, 0.0316, 0.01)), 1.0),
        "warmup and cosine": (np.minimum(1.0, (count + 1) / (steps / 50)) * wave(steps, 1.57), 1.0),
        "linear to nothing": (0.1 * (1.0 - count / steps), 1.0),
        "growing batches": (wave(steps), 1.0 + 9.0 * share),
        "whole batches": (np.full(steps, 0.1), np.round(1.0 + 30.0 * share)),
        "ragged lengths of one gamma": (ragged, ragged / 0.05),
        "ragged lengths of a smooth gamma": (ragged, ragged / (0.1 * np.cos(1.4 * place / place[-1]) ** 2)),
        "kink": (0.1 * (0.2 + np.abs(share - 0.4)), 1.0),
    }


def problem_of(model, rates, batches):
    batches = np.atleast_1d(batches)
    stability = 0.5 * (rates / batches).max() * trace(model["beta"], model["model_size"])
    return Problem(**model, gamma=Discrete(rates=rates, batch_sizes=batches * max(1.0, stability / 0.8)))


def single_steps(problem, rtol=1e-13):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discrete_module, "_on_stretches", lambda *_: None)
        return losses_of_steps(problem, rtol)


def dishonesty(problem, rtol, truth):
    """Return the largest true error by what is claimed, and the share of the steps in stretches."""
    values, errors, facts = losses_of_steps(problem, rtol)
    beyond = np.maximum(np.abs(values - truth[0]) - truth[1], 0.0)
    return float((beyond / errors).max()), facts["steps in stretches"] / problem.gamma.rates.size


@pytest.mark.parametrize("model", MODELS)
def test_no_smaller_error_is_claimed_than_the_true_one(model):
    used = 0
    for name, (rates, batches) in plans(1000).items():
        problem = problem_of(MODELS[model], rates, batches)
        truth = single_steps(problem)
        for rtol in (1e-4, 1e-8, 1e-11):
            ratio, share = dishonesty(problem, rtol, truth)
            used += share > 0.0
            assert ratio < 1.0, (name, rtol)
    assert used >= 12  # of 51: the others are solved step by step


def high_precision(problem, size):
    """Return f after every step, by the exponential of a matrix in 30 digits."""
    mp = mpmath.mp.clone()
    mp.dps = 30
    rates = [mp.mpf(j) ** -mp.mpf(problem.beta) for j in range(1, size + 1)]
    delta = mp.mpf(approximation_error(problem.s, problem.beta, size, digits=30))
    state = mp.matrix([mp.mpf(j) ** -(1 + mp.mpf(problem.s) * mp.mpf(problem.beta)) for j in range(1, size + 1)] + [1])
    found = [float(delta + sum(state[i] for i in range(size)))]
    for length, gamma in zip(problem.gamma.rates.tolist(), problem.gamma.gammas.tolist(), strict=True):
        system = mp.matrix(size + 1, size + 1)
        for i, rate in enumerate(rates):
            for k in range(size):
                system[i, k] = gamma * rate**2 - (2 * rate if i == k else 0)
            system[i, size] = gamma * rate**2 * (delta + mp.mpf(problem.noise))
        # twelve terms: the norm is below 0.3, and 0.3^13/13! is 3e-17
        state = mp.expm(system * mp.mpf(length), method="taylor") * state
        found.append(float(delta + sum(state[i] for i in range(size))))
    return np.array(found)


@pytest.mark.parametrize(("name", "steps"), [("one jump", 300), ("exponential", 400)])
def test_the_truth_in_thirty_digits_lies_within_the_error(name, steps):
    rates, batches = plans(steps)[name]
    problem = problem_of({"s": 1.0, "beta": 2.0, "model_size": 2, "noise": 0.5}, rates, batches)
    exact = high_precision(problem, 2)
    for rtol in (1e-4, 1e-7, 1e-11):
        values, errors, _ = losses_of_steps(problem, rtol)
        assert (np.abs(values - exact) <= errors).all()
    assert losses_of_steps(problem, 1e-4)[2]["steps in stretches"] > 150


def ends_of(parts, rates, gammas):
    plan = Discrete(rates=rates, batch_sizes=rates / gammas)
    problem = Problem(s=0.5, beta=2.0, model_size=20, noise=1.0, gamma=plan)
    system = linear_modes(problem, problem.end)
    stretch = fit_stretch(SampledSteps.of(rates, plan.gammas, rates.size, False), 0, 1)
    run, state = march_stretches(system, Moments.of(system), system.start, [stretch], parts)
    return float(run.modes[0, -1, -1] + system.delta), system.delta + state.sum(), single_steps(problem)[0][-1]


FLAT = np.full(64, 0.1), np.full(64, 0.1)


def test_halved_panels_gain_their_order():
    # from the start on, where the fast modes are not settled: panels of 6.4 to 0.8 times the slowest of them
    errors = [abs(smooth / exact - 1.0) for smooth, _, exact in (ends_of(parts, *FLAT) for parts in (2, 4, 8))]
    # order 11 for modes that are resolved, the stage order 6 at least
    assert errors[0] > 2**6 * errors[1] > 2**12 * errors[2] > 0.0


def test_fine_panels_reach_the_limit_of_rounding():
    smooth, _, exact = ends_of(64, *FLAT)
    # measured 1e-15; the panels' own rounding is 2e-14
    assert smooth == pytest.approx(exact, rel=2e-14)


def test_the_staircase_is_found_again_to_the_fourth_order_of_its_steps():
    plain, corrected = [], []
    for steps in (20, 40, 80):
        shape = 1.0 + 0.5 * np.cos(0.3 + (np.arange(steps) + 0.5) * (0.7 / steps))
        smooth, after, exact = ends_of(16, 4.0 / steps * shape, 0.3 * shape)
        plain.append(abs(smooth / exact - 1.0))
        corrected.append(abs(after / exact - 1.0))
    # a zigzag has the height jump times step, like 1/steps^2; its square and the changes of the jumps, like 1/steps^4
    orders = [math.log2(a[i] / a[i + 1]) for a in (plain, corrected) for i in (0, 1)]
    assert orders[:2] == pytest.approx([2.0, 2.0], abs=0.3)
    assert min(orders[2:]) > 3.5
    assert corrected[-1] < 1e-3 * plain[-1]


@pytest.mark.parametrize("name", ["alternating", "random walk"])
def test_rough_schedules_are_solved_step_by_step(name):
    problem = problem_of(MODELS["infinite"], *plans(600)[name])
    values, errors, facts = losses_of_steps(problem, 1e-8)
    alone = single_steps(problem, 1e-8)
    assert facts["stretches"] == 0
    assert np.array_equal(values, alone[0]) and np.array_equal(errors, alone[1])


def test_a_jump_ends_a_stretch():
    rates = wave(4000)
    rates[2000:] *= 0.5
    problem = problem_of(MODELS["infinite"], rates, 1.0)
    system = linear_modes(problem, problem.end)
    scales = Scales.of(system, problem.stability, 1e-8, problem.end)
    found = find_stretches(SampledSteps.of(rates, rates, 32, True), scales, 1e-9, 0.4)
    assert sum(one.high - one.low for one in found) > 3000
    # a stretch may end at the jump, but not contain it, and the next one is as short as one from the start
    assert all(one.high <= 2000 or one.low >= 2000 for one in found)
    assert min(one.low for one in found if one.low >= 2000) < 2500
    first, again = (next(one for one in found if one.low >= low) for low in (0, 2000))
    assert again.high - again.low <= 2 * (first.high - first.low)


def boundary_of(rates):
    problem = problem_of(MODELS["one mode"], rates, 1.0)
    system = linear_modes(problem, problem.end)
    scales = Scales.of(system, problem.stability, 1e-8, problem.end)
    steps = SampledSteps.of(rates, problem.gamma.gammas, 32, True)
    found = find_stretches(steps, scales, 5e-9, discrete_module.stretch_growth(1e-8))
    return next(one.high for one in found if one.high > 1500)


@pytest.mark.parametrize(("size", "bend"), [(1e-5, 0.0), (0.0, 1e-5), (0.0, 1e-7)])
def test_a_jump_or_a_kink_where_two_stretches_would_meet(size, bend):
    rates, count = np.full(4000, 0.1), np.arange(4000)
    place = boundary_of(rates)
    rates = rates * (1.0 + size * (count >= place) + bend * np.maximum(count - place, 0))
    problem = problem_of({**MODELS["one mode"], "noise": 1.0}, rates, 1.0)
    truth = single_steps(problem)
    for rtol in (1e-5, 1e-7, 1e-8, 1e-10):
        ratio, share = dishonesty(problem, rtol, truth)
        assert share > 0.0 and ratio < 1.0


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_both_ways_agree_within_their_errors(rtol):
    for name in ("growing batches", "8-1-1", "kink"):
        problem = problem_of(MODELS["infinite"], *plans(3000)[name])
        values, errors, facts = losses_of_steps(problem, rtol)
        others, their_errors, their_facts = single_steps(problem, rtol)
        assert (np.abs(values - others) <= errors + their_errors).all()
        assert facts["steps in stretches"] > 1500 and facts["tolerance reached"]
        assert facts["evaluations"] < 0.5 * their_facts["evaluations"]


def test_times_inside_the_steps_of_a_stretch():
    rates = wave(6000)
    problem = problem_of(MODELS["infinite"], rates, 1.0 + np.linspace(0.0, 1.0, 6000))
    ends = np.cumsum(rates)
    t = np.sort(np.concatenate([[0.0], ends[400:404] - 0.3 * rates[400:404], ends[900:902], [ends[1000] - 0.07]]))
    values, errors, facts = solve_discrete(problem, t, 1e-8)
    assert facts["steps in stretches"] > 5000
    exact, claimed, _ = solve_discrete(problem, t, 1e-13)
    assert (np.abs(values - exact) <= errors + claimed).all()
    panels, theirs, _ = solve_panels(replace(problem, horizon=float(t[2])), t[:3], 1e-12)
    assert (np.abs(values[:3] - panels) <= errors[:3] + theirs).all()


def test_long_steps_that_are_divided_are_stretches_too():
    problem = problem_of(MODELS["infinite"], *plans(1200)["long steps"])
    values, errors, facts = losses_of_steps(problem, 1e-8)
    exact, claimed, _ = single_steps(problem)
    assert facts["steps in stretches"] > 600
    assert (np.abs(values - exact) <= errors + claimed).all()


class TestMutants:
    """Wrong versions, which the test of honesty must refute."""

    @staticmethod
    def refuted(name, rtol, steps=3000):
        problem = problem_of(MODELS["infinite"], *plans(steps)[name])
        truth = single_steps(problem)
        right, share = dishonesty(problem, rtol, truth)
        assert share > 0.5 and right < 1.0
        return lambda: dishonesty(problem, rtol, truth)[0] > 1.0

    @pytest.mark.parametrize(("name", "rtol"), [("small jump", 1e-8), ("small spike", 1e-8)])
    def test_stretches_that_ignore_a_jump(self, monkeypatch, name, rtol):
        refuted = self.refuted(name, rtol)
        right = smooth_steps.fit_stretch

        def blind(steps, low, high, accuracy=math.inf):
            found = right(steps, low, high)
            return None if found is None else replace(found, misfit=0.0)

        monkeypatch.setattr(smooth_steps, "fit_stretch", blind)
        monkeypatch.setattr(smooth_steps, "joint_error", lambda *_: 0.0)
        assert refuted()

    def test_stretches_without_zigzags(self, monkeypatch):
        refuted = self.refuted("growing batches", 1e-7)
        right = mixed_march.smooth_staircase

        def without(*arguments):
            found = right(*arguments)
            return replace(found, zigzag=0.0 * found.zigzag)

        monkeypatch.setattr(mixed_march, "smooth_staircase", without)
        assert refuted()

    def test_a_second_solution_that_is_the_first_again(self, monkeypatch):
        refuted = self.refuted("8-1-1", 1e-5)
        right = mixed_march.march_stretches

        def copied(system, moments, state, stretches, parts):
            run, state = right(system, moments, state, stretches, 1)
            for _ in range(parts.bit_length() - 1):
                each = (getattr(run, name) for name in ("modes", "gamma", "zigzag", "eta"))
                run = type(run)(*((one @ mixed_march.halves()).reshape(len(stretches), -1, 7) for one in each))
            return run, state

        monkeypatch.setattr(discrete_module, "stretch_growth", lambda _: 50.0)
        assert not refuted()  # stretches that are too long are seen and halved
        monkeypatch.setattr(mixed_march, "march_stretches", copied)
        assert refuted()
