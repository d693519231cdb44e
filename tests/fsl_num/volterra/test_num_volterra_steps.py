"""Discrete schedules of every kind against solvers that share nothing with the compiled march: no claim too small."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from models import loss_of, problem_of
from volterra_steps_truth import KINDS, by_eigenvectors, in_long_doubles, schedule_of

from fsl_num import Discrete, Model, Problem, Spectrum, final_risk_gradient, risks_of_schedules
from fsl_num.volterra.steps.discrete import losses_of_steps

NOISES = (0.0, 1e-3, 1.0, 1e6, 1e12)


@st.composite
def problems(draw, sizes=(1, 2, 7, 60, 300), steps=60):
    """Problems of all sizes, units of time, noises, schedules and closures, stable by a share that is drawn."""
    size, kind = draw(st.sampled_from(sizes)), draw(st.sampled_from(KINDS))
    s, beta = draw(st.floats(0.05, 3.0)), draw(st.floats(1.05, 6.0))
    rates, batches = schedule_of(kind, draw(st.integers(1, steps)), draw(st.integers(0, 2**31)))
    scale = draw(st.sampled_from([1e-3, 1.0, 1e3]))
    rates = rates * draw(st.sampled_from([0.01, 0.3, 1.0, 4.0])) / scale
    lam = scale * np.arange(1.0, min(size, 300) + 1.0) ** -beta
    signals = lam * np.arange(1.0, lam.size + 1.0) ** -1.0 * lam ** (s - 1.0)
    stable = 0.5 * lam.sum() if math.isfinite(size) else 0.5 * (1.0 + 1.0 / (beta - 1.0))
    batches = batches * ((rates / batches).max() * stable / draw(st.floats(0.02, 0.95)))
    model = {"noise": draw(st.sampled_from(NOISES)), "closure": draw(st.sampled_from(["volterra", "gaussian"]))}
    if math.isfinite(size):
        model["spectrum"] = Spectrum(lam, signals, draw(st.sampled_from([0.0, 1e-6, 0.3])))
    else:
        model |= {"s": s, "beta": beta, "size": size}
    return problem_of(**model, gamma=Discrete(rates=rates, batch_sizes=batches))


def parts_of(problem):
    spectrum, plan = problem.model.spectrum, problem.gamma
    details = (plan.rates, plan.batch_sizes, problem.closure == "gaussian")
    return spectrum.eigenvalues, spectrum.signals, spectrum.tail, problem.model.noise, *details


tolerances = st.sampled_from([1e-4, 1e-6, 1e-8, 1e-10, 1e-12])


@examples(40)
@given(problems(), tolerances)
def test_no_claim_is_below_the_true_error(problem, rtol):
    if problem.stability >= 1.0:
        return
    values, errors, facts = losses_of_steps(problem, rtol)
    truth = in_long_doubles(*parts_of(problem))
    assert (np.abs(values - truth) <= errors).all()
    # what is said of the tolerance is what the claims say, and ordinary problems reach it
    assert facts.success == bool((errors <= rtol * values)[values > 0.0].all())
    if problem.stability < 0.9 and values.min() > 1e-3 * values.max() > 0.0:
        assert facts.success


@examples(10)
@given(problems(sizes=(1, 2, 5), steps=6), tolerances)
def test_no_claim_is_below_the_error_of_forty_digits(problem, rtol):
    if problem.stability >= 1.0:
        return
    values, errors, _ = losses_of_steps(problem, rtol)
    assert abs(by_eigenvectors(*parts_of(problem)) - values[-1]) <= errors[-1]


@examples(6)
@given(problems(sizes=(math.inf,), steps=25), tolerances)
def test_infinite_models_agree_with_the_panels(problem, rtol):
    if problem.stability >= 0.99:
        return
    steps, panels = (loss_of(problem, problem.end, method=name, rtol=rtol) for name in ("discrete", "panels"))
    assert abs(steps.values[0] - panels.values[0]) <= steps.error[0] + panels.error[0]


def test_thousands_of_steps_round_like_a_few():
    rates, batches = schedule_of("random", 8000, 4)
    lam = np.geomspace(1.0, 1e-5, 40)
    spectrum = Spectrum(lam, lam**1.5, 0.01)
    problem = Problem(Model(noise=1.0, spectrum=spectrum), gamma=Discrete(rates=0.3 * rates, batch_sizes=4.0 * batches))
    values, errors, facts = losses_of_steps(problem, 3e-13)
    away = np.abs(values / in_long_doubles(*parts_of(problem)) - 1.0)
    # 6e-16 to 9e-16 was measured; without compensation it grows with the root of the number of steps
    assert facts.success and away.max() < 4e-15 and (away <= errors / values).all()


@examples(10)
@given(st.sampled_from(KINDS), st.integers(0, 2**31), tolerances, st.sampled_from(NOISES), st.integers(1, 200))
def test_many_schedules_are_each_within_its_claim(kind, seed, rtol, noise, steps):
    rates = 0.4 * schedule_of(kind, steps, seed)[0]
    batches = np.random.default_rng(seed).uniform(2.0 * rates.max() + 0.1, 5.0 * rates.max() + 1.0, (300, steps))
    lam = np.arange(1.0, 21.0) ** -1.5
    model = Model(noise=noise, spectrum=Spectrum(lam, lam**2, 0.1))
    found = risks_of_schedules(model, rates, batches, at=[0, steps // 2, steps] if steps > 1 else [0, 1], rtol=rtol)
    for row in (0, 255, 256, 299):
        truth = in_long_doubles(lam, lam**2, 0.1, noise, rates, batches[row], False)[found.at] / 2
        assert (np.abs(found.excess_risk[row] - truth) <= found.error[row]).all()
    assert "miss" not in found.message


@examples(15)
@given(problems(sizes=(1, 7, 60), steps=20), st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6), tolerances)
def test_times_within_steps_are_as_if_the_steps_were_cut_there(problem, shares, rtol):
    if problem.stability >= 1.0:
        return
    plan, t = problem.gamma, np.unique(np.array(shares) * problem.end)
    found = loss_of(problem, t, method="discrete", rtol=rtol)
    starts = np.concatenate([[0.0], np.cumsum(plan.rates.astype(np.longdouble))])
    asked = np.minimum(t.astype(np.longdouble), starts[-1])  # the end in double precision may lie beyond the sum
    cuts = np.unique(np.concatenate([starts, asked]))
    step = np.clip(np.searchsorted(starts, cuts[:-1], side="right") - 1, 0, plan.rates.size - 1)
    lengths, gammas = np.diff(cuts), (plan.rates.astype(np.longdouble) / plan.batch_sizes)[step]
    spectrum = problem.model.spectrum
    known = (spectrum.eigenvalues, spectrum.signals, spectrum.tail, problem.model.noise)
    truth = in_long_doubles(*known, lengths, lengths / gammas, problem.closure == "gaussian")
    at = np.searchsorted(cuts, asked)
    assert (np.abs(found.values - truth[at]) <= found.error).all()
    worst = float((found.error / np.maximum(found.values, 5e-324)).max())
    assert found.success == (worst <= rtol)


def test_the_end_of_a_schedule_is_as_sharp_as_its_last_step():
    rates = 0.1 + 0.05 * np.cos(np.linspace(0.0, 3.0, 20_000))
    problem = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=Discrete(rates=rates))
    found, (values, errors, _) = loss_of(problem, problem.end), losses_of_steps(problem, 1e-12)
    assert found.method == "discrete" and found.success
    assert found.values[0] == values[-1] and found.error[0] == errors[-1]
    # just before it the sum of the rates is known to one rounding of 2,000 only
    assert loss_of(problem, np.nextafter(problem.end, 0.0)).error[0] > errors[-1]


def test_steps_of_no_length_cost_nothing_and_add_no_error():
    rates = np.zeros(300_000)
    rates[[7, 200_000]] = 0.3, 0.2
    few = Problem(Model(s=0.5, beta=2.0, size=100, noise=1.0), gamma=Discrete(rates=[0.3, 0.2]))
    many = replace(few, gamma=Discrete(rates=rates), horizon=None)
    (value, error, _), (values, errors, facts) = losses_of_steps(few, 1e-12), losses_of_steps(many, 1e-12)
    assert values[-1] == value[-1] and errors[-1] == pytest.approx(error[-1], rel=1e-6)
    assert facts.evaluations < 100
    assert loss_of(many, [0.3, many.end]).values == pytest.approx(value[1:], rel=1e-15)


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_a_loss_that_is_zero_stays_zero_without_error(closure):
    spectrum = Spectrum([1.0, 0.3], [0.0, 0.0])
    problem = Problem(Model(noise=0.0, spectrum=spectrum), gamma=Discrete(rates=[0.1] * 50), closure=closure)
    found, (values, errors, facts) = loss_of(problem, [0.0, 0.33, problem.end]), losses_of_steps(problem)
    assert not found.values.any() and not found.error.any() and found.success
    assert not values.any() and not errors.any() and facts.success
    many = risks_of_schedules(problem.model, [0.1] * 50, [[1.0], [2.0]], closure=closure)
    assert not many.excess_risk.any() and not many.error.any() and "miss" not in many.message


def test_losses_below_the_smallest_floats_have_an_absolute_error():
    problem = Problem(
        Model(noise=0.0, spectrum=Spectrum([1.0], [1.0])), gamma=Discrete(rates=[1.0] * 400, batch_sizes=100.0)
    )
    values, errors, facts = losses_of_steps(problem)
    truth = np.exp(np.longdouble(-1.99) * np.arange(401))  # of the whole range of extended precision
    assert 0.0 < values[370] < 1e-318 and values[-1] < 1e-323 < errors[-1] and not facts.success
    # the rate 0.01 w - 2 is not a float: it is known to one rounding, some 800 times
    assert (np.abs(values - truth) <= errors + 2e-13 * truth).all()


def test_underflow_is_claimed_in_every_unit_of_time():
    # weights of 1e6 magnify what the smallest floats lose
    rates, batches = np.random.default_rng(0).uniform(0.0, 0.008, 400), np.full(400, 20.0)
    spectrum = Spectrum([1000.0, 366.0], [459.0, 2.66])
    plan = Discrete(rates=rates, batch_sizes=batches)
    problem = Problem(Model(noise=0.0, spectrum=spectrum), gamma=plan, closure="gaussian")
    values, errors, _ = losses_of_steps(problem, 1e-5)
    assert (np.abs(values - in_long_doubles(*parts_of(problem))) <= errors).all() and values[-1] < 1e-310


def one_mode(rate, signal, delta, noise, eta, batch, steps):
    """f after equal steps of one mode, to 50 digits: all numbers are the given floats."""
    mp = mpmath.mp.clone()
    mp.dps = 50
    rate, signal, delta, noise, eta, batch = (mp.mpf(value) for value in (rate, signal, delta, noise, eta, batch))
    slope, push = eta / batch * rate**2 - 2 * rate, eta / batch * rate**2 * (delta + noise)
    return delta + signal * mp.exp(slope * eta * steps) + push * mp.expm1(slope * eta * steps) / slope


@pytest.mark.parametrize("eta", [0.1, 1e-4])
def test_a_million_steps_round_like_one(eta):
    model = Model(noise=1.0, spectrum=Spectrum([0.3], [1.0], 0.01))
    plan, at = Discrete(rates=np.full(10**6, eta)), [1000, 10**5, 10**6]
    alone = 0.5 * losses_of_steps(Problem(model, gamma=plan), 1e-13)[0][at]
    many = risks_of_schedules(model, plan.rates, [[1.0], [2.0]], at=at, rtol=1e-13).excess_risk
    for batch, risks in ((1.0, alone), (1.0, many[0]), (2.0, many[1])):
        for value, steps in zip(risks, at, strict=True):
            truth = one_mode(0.3, 1.0, 0.01, 1.0, eta, batch, steps) / 2
            # 2.5e-16 was measured, and 5e-15 without compensation
            assert abs(value - truth) < 6e-16 * truth


def test_a_loss_that_grows_is_known_to_a_rounding_for_every_factor():
    problem = Problem(
        Model(noise=1.0, spectrum=Spectrum([1.0], [1.0], 0.01)), gamma=Discrete(rates=[0.5] * 2000, batch_sizes=0.2)
    )
    values, errors, _ = losses_of_steps(problem, 1e-13)
    truth = one_mode(1.0, 1.0, 0.01, 1.0, 0.5, 0.2, 2000)
    assert values[-1] > 1e217 and 3.0 * abs(values[-1] - truth) < errors[-1] < 1e-11 * values[-1]


def test_a_loss_that_grows_beyond_floats_is_refused():
    problem = Problem(Model(noise=0.1, spectrum=Spectrum([1.0, 0.5], [1.0, 1.0])), gamma=Discrete(rates=[2.0] * 4000))
    with pytest.raises(ArithmeticError, match="grows beyond 1.8e308 by step"):
        losses_of_steps(replace(problem, gamma=Discrete(rates=[2.0] * 4000, batch_sizes=0.5), horizon=None))
    with pytest.raises(ArithmeticError, match="grows beyond 1.8e308 by step"):
        plan = Discrete(rates=[2.0] * 4000, batch_sizes=0.5)
        loss_of(replace(problem, gamma=plan, horizon=None), 1.0, method="discrete", allow_unstable=True)


def test_near_instability_a_tolerance_is_missed_and_that_is_said():
    lam = [1.0, 0.5]
    plan = Discrete(rates=[0.1] * 50, batch_sizes=0.1 * 0.75 / 0.995)
    found = loss_of(
        Problem(Model(noise=1.0, spectrum=Spectrum(lam, lam)), gamma=plan), [1.0, plan.total_intrinsic_time], rtol=1e-13
    )
    assert 1e-13 < (found.error / found.values).max() < 1e-11
    assert not found.success and "misses rtol = 1e-13" in found.message
    many = risks_of_schedules(Model(noise=1.0, spectrum=Spectrum(lam, lam)), plan.rates, plan.batch_sizes, rtol=1e-13)
    assert "1 of 1 miss rtol = 1e-13" in many.message


@examples(15)
@given(st.sampled_from(KINDS), st.integers(2, 8), st.integers(0, 2**31), st.sampled_from([1e-4, 1e-8, 1e-11]))
def test_no_claim_of_a_gradient_is_too_small(kind, steps, seed, rtol):
    rates, batches = schedule_of(kind, steps, seed)
    batches = batches * (2.0 * (rates / batches).max())
    spectrum = Spectrum([1.0, 0.4, 0.03], [0.5, 0.2, 0.3], 0.05)
    problem = Problem(Model(noise=0.7, spectrum=spectrum), gamma=Discrete(rates=rates, batch_sizes=batches))
    found = final_risk_gradient(problem, rtol)
    assert "misses" not in found.message
    known = (spectrum.eigenvalues, spectrum.signals, 0.05, 0.7)
    scale = np.abs(found.rates).max(), np.abs(found.gammas).max()
    for k in np.flatnonzero(rates > 1e-2):
        # differences of f = 2E in extended numbers: wrong by the square of the step, and by 1e-19 over it
        far = np.longdouble(1e-6) * rates[k]
        unit = np.eye(steps)[k].astype(np.longdouble)
        ends = [in_long_doubles(*known, rates + by * unit, batches, False)[-1] for by in (far, -far)]
        slope = float((ends[0] - ends[1]) / (4.0 * far))
        assert abs(found.rates[k] - slope) <= found.rates_error[k] + 1e-9 * scale[0]
        gamma = rates[k] / batches[k]
        moved = [batches + unit * (rates[k] / (gamma + by * gamma) - batches[k]) for by in (1e-6, -1e-6)]
        ends = [in_long_doubles(*known, rates, rates_moved, False)[-1] for rates_moved in moved]
        slope = float((ends[0] - ends[1]) / (4e-6 * gamma))
        assert abs(found.gammas[k] - slope) <= found.gammas_error[k] + 1e-9 * scale[1]
