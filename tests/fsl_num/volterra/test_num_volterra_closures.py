"""The second moments of the SDE for Gaussian features, and spectra given as lists."""

from fractions import Fraction

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from models import loss_of, problem_of, with_model

from fsl_num.model import Model
from fsl_num.schedules import schedule
from fsl_num.spectrum import approximation_error, trace
from fsl_num.volterra import Problem, Spectrum, UnstableProblemError


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


def power_law(size, s=0.5, beta=2.0):
    index = np.arange(1.0, size + 1)
    return Spectrum(index**-beta, index ** -(1 + s * beta), approximation_error(s, beta, size))


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
@pytest.mark.parametrize("gamma", [0.3, schedule("wsd", peak=0.3, final=1e-3, steps=1e4, decay_fraction=0.1)])
def test_a_spectrum_that_is_the_power_law_gives_its_loss(closure, gamma):
    fields = {"noise": 1.0, "gamma": gamma, "horizon": 3000.0, "closure": closure}
    if gamma != 0.3:
        fields["horizon"] = None
    law, given_one = problem_of(s=0.5, beta=2.0, size=20, **fields), problem_of(spectrum=power_law(20), **fields)
    t = law.end * np.array([0.0, 1e-4, 0.3, 1.0])
    first, second = loss_of(law, t), loss_of(given_one, t)
    assert (np.abs(first.values - second.values) <= first.error + second.error).all()
    assert law.stability == pytest.approx(given_one.stability, rel=1e-14)


def test_rates_only_set_the_unit_of_time():
    slow = power_law(6)
    fast = Spectrum(1e4 * slow.eigenvalues, slow.signals, slow.tail)
    slow_loss = loss_of(Problem(Model(noise=1e-2, spectrum=slow), gamma=0.4, horizon=300.0), 300.0)
    fast_loss = loss_of(Problem(Model(noise=1e-2, spectrum=fast), gamma=0.4e-4, horizon=300e-4), 300e-4)
    assert fast_loss.values[0] == pytest.approx(slow_loss.values[0], rel=2e-12)


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
