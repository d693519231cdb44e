"""Constant gamma in float64 by the secular equation, against contours and matrix exponentials."""

import math

import mpmath
import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from models import loss_of, problem_of
from volterra_exponential import exact_losses

from fsl_num.model import Model
from fsl_num.schedules import schedule
from fsl_num.spectrum import trace
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.secular import secular_zeros, solve_secular


@examples(20)
@given(
    st.integers(0, 2**31),
    st.integers(1, 12),
    st.floats(0.0, 0.95),
    st.floats(0.0, 9.0),
    st.sampled_from(["volterra", "gaussian"]),
    st.booleans(),
)
def test_given_spectra_against_matrix_exponentials(seed, size, share, noise, closure, repeated):
    generator = np.random.default_rng(seed)
    lam = generator.uniform(0.01, 1.0, size)
    if repeated:
        lam[-1] = lam[0]
    signals = generator.uniform(0.0, 1.0, size)
    spectrum = Spectrum(lam.tolist(), signals.tolist(), tail=0.01)
    gamma = share * 2.0 / (lam.sum() * (1.0 if closure == "volterra" else 1.0 + lam.max()))
    problem = Problem(Model(noise=noise, spectrum=spectrum), gamma=gamma, horizon=50.0, closure=closure)
    t = np.array([0.0, 1e-3, 0.3, 7.0, 50.0])
    values, error, _ = solve_secular(problem, t, 1e-12)
    exact = np.array([float(x) for x in exact_losses(problem, t, 20)])
    assert (np.abs(values - exact) <= error + 1e-15 * exact).all()
    assert (error <= 1e-11 * (values + noise)).all()


@pytest.mark.parametrize(
    ("s", "beta", "size", "noise", "gamma", "horizon", "closure"),
    [
        (0.5, 2.0, math.inf, 1.0, 0.3, 2.0**20, "gaussian"),
        (0.05, 1.1, math.inf, 9.0, 0.05, 1e4, "volterra"),
        (0.05, 5.0, math.inf, 0.0, 0.5, 1e8, "volterra"),  # so steep that far modes have a signal and nearly no kernel
        (1.0, 1.5, 1e6, 1.0, 0.4, 1e7, "volterra"),
        (0.5, 4.0, 64, 1.0, 0.7, 1e3, "gaussian"),
    ],
)
def test_the_secular_equation_and_the_panels_agree_with_contours(s, beta, size, noise, gamma, horizon, closure):
    problem = Problem(Model(s=s, beta=beta, size=size, noise=noise), gamma=gamma, horizon=horizon, closure=closure)
    t = np.array([0.0, 0.01, 1.0, 0.1 * horizon, horizon])
    truth = loss_of(problem, t, method="laplace", digits=16)
    for method in ("secular", "panels"):
        found = loss_of(problem, t, method=method)
        assert (np.abs(found.values - truth.values.astype(float)) <= found.error + truth.error).all()
        # the worst of the claims: compression, over the distance from instability
        assert (found.error <= 2e-11 * found.values).all()


def test_near_and_beyond_the_edge_of_stability():
    for gamma in (1.99, 2.0, 2.2):
        problem = Problem(Model(noise=1.0, spectrum=Spectrum([1.0], [0.5], tail=0.1)), gamma=gamma, horizon=20.0)
        found = loss_of(problem, [0.5, 20.0], allow_unstable=True)
        assert found.method == "secular"
        exact = np.array([float(x) for x in exact_losses(problem, [0.5, 20.0], 20)])
        assert (np.abs(found.values - exact) <= found.error + 1e-15 * exact).all()
    with pytest.raises(ArithmeticError, match="grows beyond"):
        loss_of(
            Problem(Model(noise=1.0, spectrum=Spectrum([1.0], [0.5])), gamma=9.0, horizon=1e4), 1e4, allow_unstable=True
        )


@pytest.mark.parametrize("short_of_the_edge", [1e-3, 1e-6])
def test_what_late_times_make_of_a_rounded_rate_is_claimed(short_of_the_edge):
    """The loss falls like exp(-p t) with a small p, which is known to a rounding: its error grows with t."""
    model = Model(noise=0.0, spectrum=Spectrum([1.0, 0.25], [1.0, 0.5]))
    problem = Problem(model, gamma=(1.0 - short_of_the_edge) * 2.0 / 1.25, horizon=10.0 / short_of_the_edge)
    times = np.geomspace(1.0, problem.end, 7)
    found, exact = (loss_of(problem, times, **options) for options in ({"method": "secular"}, {"digits": 25}))
    true = np.array([abs(float(value - float(own))) for value, own in zip(exact.values, found.values, strict=True)])
    assert (true <= found.error).all() and (found.error < 1e-7 * found.values).all()
    assert (np.diff(found.error / found.values) > 0.0).all()


def test_a_signal_without_weight_beside_a_zero_costs_few_digits():
    # a pole of the signal alone 5e-9 from a zero: two terms that nearly cancel
    gamma = 1.0 / trace(3.0, 40)
    problem = Problem(Model(s=1.0, beta=3.0, size=40, noise=0.0), gamma=gamma, horizon=10.0)
    values, error, _ = solve_secular(problem, np.array([1e-3, 10.0]), 1e-12)
    truth = loss_of(problem, [1e-3, 10.0], method="laplace", digits=20)
    assert (np.abs(values - truth.values.astype(float)) <= error + truth.error).all()
    assert (error < 1e-12 * values).all()


def test_no_gamma_is_the_signal_alone_and_others_are_refused():
    problem = Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=0.0, horizon=9.0)
    values, error, _ = solve_secular(problem, np.array([2.0]), 1e-12)
    assert abs(values[0] - problem.model.forcing(np.array([2.0]))[0]) <= error[0]
    varying = Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=schedule("linear", peak=0.1, steps=9.0))
    for solver in (lambda: loss_of(varying, 0.1, method="secular"), lambda: solve_secular(varying, np.ones(1), 1e-9)):
        with pytest.raises(ValueError, match="constant gamma"):
            solver()
    many = Spectrum(np.linspace(0.1, 1.0, 2001).tolist(), [0.0] * 2001)
    large = Problem(Model(noise=1.0, spectrum=many), gamma=1e-4, horizon=1.0)
    assert loss_of(large, 1.0).method == "panels"
    with pytest.raises(ValueError, match="at most 2000 modes"):
        loss_of(large, 1.0, method="secular")


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"noise": 0.0, "size": 1, "s": 2.0, "gamma": 0.0},
        {"closure": "gaussian", "size": 7},
        {"size": math.inf, "beta": 1.3, "gamma": 0.05, "horizon": 1e6},
    ],
)
def test_times_of_equal_distances_have_the_loss_that_each_has_alone(changed):
    base = {"s": 0.5, "beta": 2.0, "size": 128, "noise": 1.0, "gamma": 0.3, "horizon": 100.0}
    problem = problem_of(**{**base, **changed})
    for t in (np.linspace(0.0, problem.end, 5001)[1:], np.linspace(problem.end / 3, problem.end, 700)):
        blocks = loss_of(problem, t)
        single = loss_of(problem, np.append(t, 0.77 * t[1] + 0.23 * t[0]))  # one more time: not of equal distances
        assert (np.abs(blocks.values - single.values[:-1]) <= single.error[:-1]).all()
        # both claim nearly the same: two roundings of the times more
        assert (blocks.error <= 1.2 * single.error[:-1]).all() and (blocks.error >= single.error[:-1]).all()


@pytest.mark.parametrize("gamma", [1e-6, 0.3, 1.2])
def test_zeros_of_the_secular_equation_in_thirty_digits(gamma):
    rates = np.array([0.01, 0.0101, 0.4, 2.0])
    weights = np.array([0.5, 1e-3, 0.2, 1.0])
    found, error = secular_zeros(rates, weights, gamma)
    mp = mpmath.mp.clone()
    mp.dps = 30
    r, w = ([mp.mpf(value) for value in of.tolist()] for of in (rates, weights))
    for k in range(4):
        x, wrong = mp.mpf(float(found[k])), mp.mpf(float(error[k]))
        # 1 - gamma sum_j w_j/(p + r_j) changes its sign within the error: there is the zero
        low, high = (
            1 - mp.mpf(gamma) * mp.fsum(a / (place - r[k] + b) for a, b in zip(w, r, strict=True))
            for place in (x - wrong, x + wrong)
        )
        assert low < 0 < high
        assert error[k] <= 1e-13 * found[k]
