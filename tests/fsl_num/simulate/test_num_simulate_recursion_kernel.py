"""The compiled recursion of SGD's second moments against the same recursion in extended precision."""

import math

import mpmath
import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num import Regression, exact_risk
from fsl_num.model import Model
from fsl_num.simulate.recursion_kernel import march_moments


def in_long_doubles(problem, rates, batches):
    real = np.longdouble
    size = int(problem.model.size)
    lam, noise = problem.eigenvalues[:size].astype(real), real(problem.model.noise)
    x, surplus, found = lam * problem.theta[:size].astype(real) ** 2, real(problem.family.kurtosis - 2.0), []
    tail = real(problem.tail)
    for eta, batch in zip(rates.astype(real), batches.astype(real), strict=True):
        found.append(tail + x.sum())
        turn = eta * lam
        x = x * ((1.0 - turn) ** 2 + surplus / batch * turn**2) + eta**2 / batch * lam**2 * (found[-1] + noise)
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
    problem = Regression(Model(s=0.5, beta=beta, size=size, noise=noise), features=size + 5, family=kind)
    rates, batches = peak * generator.random(300), generator.integers(1, 6, 300).astype(float)
    rates[generator.integers(0, 300, 5)] = 0.0
    found = exact_risk(problem, rates, batches, every=7)
    truth = in_long_doubles(problem, rates, batches)[found.step].astype(float)
    assert found.excess_risk == pytest.approx(truth, rel=2e-14)
    assert not found.standard_error.any() and found.method == "exact"


def test_a_million_steps_round_like_one():
    eta = 1e-3
    mp = mpmath.mp.clone()
    mp.dps = 50
    problem = Regression(Model(s=0.5, beta=2.0, size=1, noise=1.0), features=2)
    found = exact_risk(problem, np.full(10**6, eta), every=50_000)
    turn, tail = mp.mpf(eta), mp.mpf(problem.tail)
    # x <- ((1 - eta)^2 + 2 eta^2) x + eta^2 (tail + 1): its own fourth moment and its own share of the loss
    factor = (1 - turn) ** 2 + 2 * turn**2
    limit = turn**2 * (tail + 1) / (1 - factor)
    for step, risk in zip(found.step.tolist(), found.excess_risk, strict=True):
        truth = (tail + limit + (1 - limit) * factor**step) / 2
        assert abs(risk - truth) < 6e-16 * truth


def test_one_step_in_closed_form():
    losses, state, ends = np.empty(2), np.array([0.5, 0.25]), np.array([0, 1])
    eigenvalues = np.array([1.0, 0.5])
    march_moments(
        np.array([0.2]), np.array([0.5]), np.array([2.0]), eigenvalues, eigenvalues**2, state, 3.0, 0.25, ends, losses
    )
    after = 0.5 * (0.64 + 0.5 * 0.04) + 0.02 * 4.0, 0.25 * (0.81 + 0.5 * 0.01) + 0.02 * 0.25 * 4.0
    assert losses.tolist() == pytest.approx([1.0, 0.25 + sum(after)], rel=1e-15) and math.isclose(state[0], after[0])
