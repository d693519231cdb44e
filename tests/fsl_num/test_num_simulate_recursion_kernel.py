"""The compiled recursion of SGD's second moments against the same recursion in extended precision."""

import math

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num import Regression, exact_risk
from fsl_num.simulate.recursion_kernel import march_moments


def in_long_doubles(problem, rates, batches):
    real = np.longdouble
    size = int(problem.model_size)
    lam, noise = problem.eigenvalues[:size].astype(real), real(problem.noise)
    x, more, found = lam * problem.theta[:size].astype(real) ** 2, real(problem.family.kurtosis - 2.0), []
    tail = real(problem.tail)
    for eta, batch in zip(rates.astype(real), batches.astype(real), strict=True):
        found.append(tail + x.sum())
        turn = eta * lam
        x = x * ((1.0 - turn) ** 2 + more / batch * turn**2) + eta**2 / batch * lam**2 * (found[-1] + noise)
    return np.array([*found, tail + x.sum()]) / 2


@examples(20)
@given(
    st.sampled_from([1, 3, 40, 700]),
    st.sampled_from(["gaussian", "rademacher", "uniform"]),
    st.floats(1.1, 4.0),
    st.sampled_from([0.0, 1.0, 1e6, 1e12]),
    st.floats(1e-3, 1.0),
    st.integers(0, 2**31),
)
def test_the_risk_is_right_to_a_few_roundings_however_large_the_noise(size, kind, beta, noise, peak, seed):
    generator = np.random.default_rng(seed)
    problem = Regression(s=0.5, beta=beta, model_size=size, features=size + 5, noise=noise, family=kind)
    rates, batches = peak * generator.random(300), generator.integers(1, 6, 300).astype(float)
    found = exact_risk(problem, rates, batches, every=1).excess_risk
    assert found == pytest.approx(in_long_doubles(problem, rates, batches).astype(float), rel=2e-14)


def test_a_hundred_thousand_steps_round_like_a_few():
    problem = Regression(s=0.5, beta=2.0, model_size=20, features=25, noise=1.0)
    rates = 0.3 * np.cos(np.linspace(0.0, 1.5, 100_000)) ** 2
    found = exact_risk(problem, rates, every=1000)
    truth = in_long_doubles(problem, rates, np.ones(rates.size))[found.step].astype(float)
    # 5e-16 was measured; plain sums are wrong by 1e-13
    assert np.abs(found.excess_risk / truth - 1.0).max() < 5e-15


def test_one_step_in_closed_form():
    losses, state, wanted = np.empty(2), np.array([0.5, 0.25]), np.array([0, 1])
    eigenvalues = np.array([1.0, 0.5])
    march_moments(
        np.array([0.2]), np.array([0.5]), np.array([2.0]), eigenvalues, eigenvalues**2, state, 3.0, 0.25, wanted, losses
    )
    after = 0.5 * (0.64 + 0.5 * 0.04) + 0.02 * 4.0, 0.25 * (0.81 + 0.5 * 0.01) + 0.02 * 0.25 * 4.0
    assert losses.tolist() == pytest.approx([1.0, 0.25 + sum(after)], rel=1e-15) and math.isclose(state[0], after[0])
