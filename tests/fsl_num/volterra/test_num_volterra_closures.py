"""The second moments of the SDE for Gaussian features, and spectra given as lists."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from models import loss_of, problem_of, with_model
from scipy.integrate import solve_ivp

from fsl_num.model import Model
from fsl_num.schedules import schedule
from fsl_num.spectrum import approximation_error, trace
from fsl_num.volterra import Problem, Spectrum, UnstableProblemError
from fsl_num.volterra.reference import trapezoid


def moments_by_a_library(rates, signals, delta, noise, learning_rate, batch_size, cuts):
    """f at the last of the physical times ``cuts``, from m_j' as it stands in the definition."""

    def motion(tau, m):
        phi = learning_rate(min(tau, cuts[-1]))
        f = delta + rates @ m
        return phi * (-2 * rates * m + phi / batch_size * (rates * (f + noise) + rates**2 * m))

    m = signals / rates
    for low, high in zip(cuts[:-1], cuts[1:], strict=True):
        m = solve_ivp(motion, (low, high), m, method="DOP853", rtol=1e-12, atol=1e-15).y[:, -1]
    return delta + rates @ m


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("constant", {}),
        ("exp-decay", {"final": 1e-4}),
        ("wsd", {"final": 1e-3, "decay_fraction": 0.25}),
        ("cosine", {}),
        ("power-decay", {"power": 3.0}),
    ],
)
def test_the_moments_agree_with_an_ode_library(name, parameters):
    plan = schedule(name, peak=0.9, steps=200.0, batch_size=2.0, **parameters)
    s, beta, noise, size = 0.5, 1.6, 0.5, 8
    problem = Problem(Model(s=s, beta=beta, size=size, noise=noise), gamma=plan, closure="gaussian")
    index = np.arange(1.0, size + 1)
    delta = approximation_error(s, beta, size)
    cuts = [0.0, *plan.physical_breaks, plan.steps]
    exact = moments_by_a_library(index**-beta, index ** -(1 + s * beta), delta, noise, plan.learning_rate, 2.0, cuts)
    found = loss_of(problem, plan.total_intrinsic_time)
    # The library's local tolerance 1e-12 adds up over some hundred steps: 1e-10.
    assert found.values[0] == pytest.approx(exact, rel=1e-10)
    assert found.error[0] < 2e-12 * found.values[0]


@pytest.mark.parametrize(
    ("s", "beta", "size", "gamma", "horizon", "noise"),
    [
        (0.5, 2.0, 5, 0.4, 1e3, 1.0),
        (1.0, 1.2, 9, 0.2, 1e5, 0.0),
        (2.5, 5.0, 4, 0.9, 30.0, 1e-6),
        (0.1, 1.7, 2, 0.3, 1e-3, 2.0),
    ],
)
def test_the_error_bounds_the_distance_to_the_matrix_exponential(s, beta, size, gamma, horizon, noise):
    mp = mpmath.mp.clone()
    mp.dps = 40
    problem = Problem(Model(s=s, beta=beta, size=size, noise=noise), gamma=gamma, horizon=horizon, closure="gaussian")
    t = np.concatenate([[0.0], np.geomspace(1e-3 * horizon, horizon, 7)])
    found = loss_of(problem, t)
    rates = [mp.mpf(j) ** -mp.mpf(beta) for j in range(1, size + 1)]
    delta = mp.mpf(approximation_error(s, beta, size, digits=40))
    system = mp.matrix(size + 1, size + 1)  # of m_j and the constant 1
    for i, rate in enumerate(rates):
        for k in range(size):
            system[i, k] = gamma * rate * rates[k] + ((gamma * rate**2 - 2 * rate) if i == k else 0)
        system[i, size] = gamma * rate * (delta + noise)
    start = mp.matrix([mp.mpf(j) ** -(1 + mp.mpf(s) * beta) / rate for j, rate in enumerate(rates, 1)] + [mp.mpf(1)])
    for time, value, error in zip(found.t, found.values, found.error, strict=True):
        m = mp.expm(system * mp.mpf(time)) * start
        exact = delta + mp.fsum(rate * m[i] for i, rate in enumerate(rates))
        assert abs(mp.mpf(value) - exact) <= error < 5e-12 * value


@examples(8)
@given(st.floats(1.1, 4.0), st.floats(0.1, 2.0), st.integers(1, 40), st.floats(0.05, 0.6), st.sampled_from([0.0, 1.0]))
def test_gaussian_features_only_add_to_the_loss(beta, s, size, stability, noise):
    gamma = 2 * stability / trace(beta, size)
    model = {"s": s, "beta": beta, "size": size, "noise": noise, "horizon": 50.0}
    t = np.array([0.0, 0.5, 10.0, 50.0])
    if problem_of(**model, gamma=gamma, closure="gaussian").stability >= 1:
        gamma /= 4
    paper = loss_of(problem_of(**model, gamma=gamma), t)
    moments = loss_of(problem_of(**model, gamma=gamma, closure="gaussian"), t)
    assert (moments.values + moments.error >= paper.values - paper.error).all()
    assert (moments.values[1:] > paper.values[1:]).all()


def test_the_closures_meet_as_gamma_vanishes():
    model = {"s": 0.5, "beta": 2.0, "size": 30, "noise": 0.0, "horizon": 20.0}

    def gap(gamma):
        both = [
            loss_of(problem_of(**model, gamma=gamma, closure=name), 20.0).values[0] for name in ("volterra", "gaussian")
        ]
        return both[1] / both[0] - 1

    # The dropped term is gamma lambda^2 m, and without noise m does not vanish with gamma: the gap is of first order.
    assert gap(0.0) == pytest.approx(0.0, abs=1e-12)
    assert gap(0.3) > 0.001
    assert gap(1e-4) / gap(1e-5) == pytest.approx(10.0, rel=0.01)  # measured 10.03: the next order is gamma itself


@pytest.mark.parametrize(("beta", "size"), [(1.5, 3), (2.0, 100)])
def test_the_stability_number_is_where_the_frozen_system_turns(beta, size):
    rates = np.arange(1.0, size + 1) ** -beta
    model = {"s": 0.5, "beta": beta, "size": size, "noise": 1.0, "horizon": 1.0, "closure": "gaussian"}
    low, high = 0.0, 2.0
    for _ in range(60):
        gamma = 0.5 * (low + high)
        # eigenvalues of the symmetric form of the system; it turns unstable where the largest passes 0
        largest = np.linalg.eigvalsh(np.diag(-2 * rates + gamma * rates**2) + gamma * np.outer(rates, rates))[-1]
        low, high = (gamma, high) if largest < 0 else (low, gamma)
    assert problem_of(**model, gamma=low).stability == pytest.approx(1.0, rel=1e-9)
    with pytest.raises(UnstableProblemError, match="sum over j of gamma_max"):
        loss_of(problem_of(**model, gamma=1.001 * high), 1.0)
    grown = loss_of(problem_of(**{**model, "horizon": 400.0}, gamma=1.05 * high), 400.0, allow_unstable=True)
    assert grown.values[0] > 1.5 * problem_of(**model, gamma=0.1).model.forcing(np.zeros(1))[0]


@pytest.mark.parametrize("size", [1500, 1e5, math.inf])
def test_the_stability_number_of_large_models(size):
    model = {"s": 0.5, "beta": 1.7, "noise": 1.0, "horizon": 1.0, "closure": "gaussian"}
    last = 1e5 if math.isinf(size) else size
    index = np.arange(1.0, last + 1)
    gamma = 0.7
    direct = math.fsum(gamma * index**-1.7 / (2 - gamma * index**-1.7))
    if math.isinf(size):  # the integral of gamma/2 x^-beta from the last index plus one half, to second order
        direct += 0.5 * gamma * (last + 0.5) ** -0.7 / 0.7
    assert problem_of(**model, size=size, gamma=gamma).stability == pytest.approx(direct, rel=1e-11)
    assert problem_of(**model, size=size, gamma=2.0).stability == math.inf


def power_law(size, s=0.5, beta=2.0):
    index = np.arange(1.0, size + 1)
    return Spectrum(index**-beta, index ** -(1 + s * beta), approximation_error(s, beta, size))


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
@pytest.mark.parametrize("gamma", [0.3, schedule("wsd", peak=0.3, final=1e-3, steps=1e4, decay_fraction=0.1)])
def test_a_spectrum_that_is_the_power_law_gives_its_loss(closure, gamma):
    rest = {"noise": 1.0, "gamma": gamma, "horizon": 3000.0, "closure": closure}
    if gamma != 0.3:
        rest["horizon"] = None
    law, given_one = problem_of(s=0.5, beta=2.0, size=20, **rest), problem_of(spectrum=power_law(20), **rest)
    t = law.end * np.array([0.0, 1e-4, 0.3, 1.0])
    one, other = loss_of(law, t), loss_of(given_one, t)
    assert (np.abs(one.values - other.values) <= one.error + other.error).all()
    assert law.stability == pytest.approx(given_one.stability, rel=1e-14)


def test_every_method_for_spectra_agrees_on_one_with_repeated_and_fast_rates():
    spectrum = Spectrum([7.0, 0.5, 0.5, 2.0, 0.01], [1.0, 0.2, 0.3, 0.0, 0.7], 0.05)
    problem = Problem(Model(noise=0.4, spectrum=spectrum), gamma=0.15, horizon=12.0)
    t = np.array([0.0, 0.02, 1.0, 12.0])
    exact = loss_of(problem, t, digits=25)
    assert exact.method == "constant"
    for method in ("laplace", "high_precision"):
        other = loss_of(problem, t, digits=25, method=method)
        assert (np.abs(other.values - exact.values) <= other.error + exact.error).all()
    fast = loss_of(problem, t)
    assert (np.abs(fast.values - exact.values.astype(float)) <= fast.error).all()
    assert (fast.error < 5e-12 * fast.values).all()
    plain = loss_of(problem, t, method="reference")
    assert plain.values == pytest.approx(fast.values, rel=1e-6)
    assert trapezoid(problem, 64)[0] == pytest.approx(2.25)  # all the signal, and the tail
    moments = loss_of(Problem(Model(noise=0.4, spectrum=spectrum), gamma=0.1, horizon=12.0, closure="gaussian"), 12.0)
    library = moments_by_a_library(spectrum.eigenvalues, spectrum.signals, 0.05, 0.4, lambda _: 1.0, 10.0, [0.0, 12.0])
    assert moments.values[0] == pytest.approx(library, rel=1e-10)


def test_rates_only_set_the_unit_of_time():
    slow = power_law(6)
    fast = Spectrum(1e4 * slow.eigenvalues, slow.signals, slow.tail)
    one = loss_of(Problem(Model(noise=1e-2, spectrum=slow), gamma=0.4, horizon=300.0), 300.0)
    other = loss_of(Problem(Model(noise=1e-2, spectrum=fast), gamma=0.4e-4, horizon=300e-4), 300e-4)
    assert other.values[0] == pytest.approx(one.values[0], rel=2e-12)


def test_exact_parameters_are_used_and_forgotten_when_replaced():
    from dataclasses import replace

    model = {"beta": 2, "size": 3, "noise": 1, "horizon": 10.0}
    exact = problem_of(s=Fraction(1, 3), gamma=Fraction(3, 10), **model)
    binary = problem_of(s=1 / 3, gamma=0.3, **model)
    # 0.3 and its float differ by 1e-17, which 30 digits see and floats do not.
    difference = abs(loss_of(exact, 10.0, digits=30).values[0] / loss_of(binary, 10.0, digits=30).values[0] - 1)
    assert 1e-19 < difference < 1e-16
    assert with_model(exact, noise=2.0).exact == exact.exact == {"gamma": Fraction(3, 10)}
    assert replace(exact, gamma=0.25).exact == {} and exact.model.exact == {"s": Fraction(1, 3)}
    assert loss_of(exact, 10.0).values[0] == loss_of(binary, 10.0).values[0]
    truth = loss_of(exact, [0, Fraction(1, 7)], digits=30, method="constant").values
    for method in ("laplace", "high_precision"):
        found = loss_of(exact, [0, Fraction(1, 7)], digits=30, method=method)
        assert all(abs(a - b) <= e for a, b, e in zip(found.values, truth, found.error, strict=True))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Spectrum([], []), TypeError, "rates must be a list of real numbers"),
        (lambda: Spectrum([[1.0]], [1.0]), TypeError, "rates must be a list"),
        (lambda: Spectrum([1.0, -1.0], [1.0, 1.0]), ValueError, "rates must be finite and positive, got -1.0"),
        (lambda: Spectrum([1.0, math.nan], [1.0, 1.0]), ValueError, "rates must be finite and positive, got nan"),
        (lambda: Spectrum([1.0], [-2.0]), ValueError, "weights_signal must be finite and at least 0"),
        (lambda: Spectrum([1.0], [1.0, 2.0]), ValueError, "of one length"),
        (lambda: Spectrum([1.0], [1.0], -1.0), ValueError, "tail must be at least 0"),
        (
            lambda: Problem(Model(noise=1.0), gamma=0.1, horizon=1.0),
            ValueError,
            "s, beta and size, or a spectrum",
        ),
        (
            lambda: Problem(Model(s=1.0, noise=1.0, spectrum=power_law(2)), gamma=0.1, horizon=1.0),
            ValueError,
            "both were",
        ),
        (lambda: Problem(Model(noise=1.0, spectrum=[1.0]), gamma=0.1, horizon=1.0), TypeError, "must be a Spectrum"),
        (
            lambda: Problem(Model(noise=1.0, spectrum=power_law(2)), gamma=0.1, horizon=1.0, closure="x"),
            ValueError,
            "closure",
        ),
    ],
)
def test_wrong_models_are_refused_in_words(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_enclosures_of_the_gaussian_closure_need_a_constant_gamma():
    pytest.importorskip("flint")
    plan = schedule("exp-decay", peak=0.1, final=0.01, steps=50.0)
    problem = Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=plan, closure="gaussian")
    with pytest.raises(ValueError, match="need a constant gamma"):
        loss_of(problem, 1.0, method="enclosure")
