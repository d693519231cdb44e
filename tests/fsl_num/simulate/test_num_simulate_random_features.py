"""Random features: the projections, the bias that they leave, and the two lemmas about it with their arguments."""

import math
from itertools import product

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.model import Model
from fsl_num.simulate.random_features import (
    NORMALISATIONS,
    TARGETS,
    bias,
    bias_ratios,
    mean_bias,
    predicted,
    random_projection,
    rank_one_bound,
)
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression

TIMES = [0.0, 0.3, 2.0, 20.0, 500.0, math.inf]


def problem_of(size, features, seed=0, *, s=0.5, beta=2.0, target=None, noise=0.0):
    projection = random_projection(size, features, seed)
    return Regression(
        Model(s=s, beta=beta, size=size, noise=noise), features=features, projection=projection, target=target
    )


@pytest.mark.parametrize("name", NORMALISATIONS)
def test_entries_have_their_variance(name):
    drawn = random_projection(50, 400, 3, name)
    expected = {"unit": 1.0, "model-size": 1 / 50, "features": 1 / 400}[name]
    # 20,000 normal entries: the relative standard error of their variance is 1 %, five of them
    assert drawn.var() == pytest.approx(expected, rel=0.05)
    assert abs(drawn.mean()) < 5.0 * math.sqrt(expected / 20_000)
    assert random_projection(50, 400, 3, name).tolist() == drawn.tolist()
    assert random_projection(50, 400, np.random.default_rng(3), name).tolist() == drawn.tolist()
    assert random_projection(50, 400, 4, name)[0, 0] != drawn[0, 0]


@examples(20)
@given(st.integers(1, 5), st.integers(0, 5), st.integers(0, 2**31), st.floats(0.2, 2.0))
def test_bias_is_that_of_gradient_flow(size, more, seed, s):
    from scipy.linalg import expm

    problem = problem_of(size, size + more, seed, s=s)
    weights, lam, theta = problem.projection, np.diag(problem.eigenvalues), problem.theta
    for t in TIMES[:4]:
        flow = expm(-weights.T @ weights @ lam * t) @ theta
        # the exponential of a matrix of norm up to some 1e3, by squaring: some 1e3 roundings
        assert bias(problem, t) == pytest.approx(flow @ lam @ flow, rel=1e-9, abs=1e-12)
    assert bias(problem, 0.0) == pytest.approx(2.0 * problem.initial_risk, rel=1e-12)


def test_bias_is_the_risk_of_slow_training_without_noise():
    problem = problem_of(8, 32)
    steps, rate = 20_000, 1e-4
    risk = exact_risk(problem, [rate] * steps, 10**9).excess_risk[-1]  # batches that average all noise away
    # (1 - eta mu)^2K against exp(-2 mu eta K): relative mu^2 eta^2 K, 2e-4 for mu = 1
    assert 2.0 * risk == pytest.approx(float(bias(problem, rate * steps)), rel=1e-3)


@examples(10)
@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 2**31))
def test_mean_over_targets(size, more, seed):
    problem = problem_of(size, size + more, seed)
    signs = np.array(list(product([-1.0, 1.0], repeat=size + more)))
    found = [bias(problem_of(size, size + more, seed, target=sign * problem.theta), TIMES) for sign in signs]
    assert mean_bias(problem, TIMES) == pytest.approx(np.mean(found, axis=0), rel=1e-9, abs=1e-13)


def test_the_argument_for_the_lower_bound_is_about_a_matrix_of_rank_one():
    problem = problem_of(16, 64)
    aim = problem.projection @ (problem.eigenvalues * problem.theta)
    values = np.linalg.eigvalsh(np.outer(aim, aim))[::-1]
    # what von Neumann's inequality gives is a bound, but far below e(t) soon
    covariance = (problem.projection * problem.eigenvalues) @ problem.projection.T
    modes = np.sort(np.linalg.eigvalsh(covariance))[::-1]
    times = np.array([0.0, 0.5, 3.0, 10.0])
    direct = [values @ np.sort(np.exp(-2.0 * t * modes) / modes) for t in times]
    assert rank_one_bound(problem, times) == pytest.approx(direct, rel=1e-9)
    assert (rank_one_bound(problem, times) <= bias(problem, times)).all()
    assert rank_one_bound(problem, 10.0) < 1e-5 * predicted(problem, 10.0)
    assert bias(problem, math.inf) > 1.0 / 16  # M^(-s beta)


@pytest.mark.parametrize("target", TARGETS)
def test_the_lower_bound_holds_for_fixed_and_for_random_targets(target):
    found = bias_ratios(s=0.5, beta=2.0, model_sizes=[8, 32, 64], runs=[60, 30, 4], target=target, seed=9)
    # smallest over all times and runs: measured 0.4 for M = 8, 0.5 for 32, 0.6 for 64, and rising
    assert min(part.min() for part in found.lower) > 0.15
    assert found.lower[1].min() > 0.3
    assert found.lower[2].min() > 0.5
    # the upper bound as well, s < 1
    assert max(float(np.median(part)) for part in found.upper) < 3.0


SIZES, SEEDS = (8, 32, 128), (80, 40, 12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: random_projection(4, 3, 0), "lack rank"),
        (lambda: random_projection(4, 8, 0, "row"), "unknown normalisation"),
        (lambda: random_projection(4, 8, -1), "seed"),
        (lambda: bias_ratios(s=0.5, beta=2.0, model_sizes=[4], target="adversarial"), "unknown target"),
        (lambda: bias_ratios(s=0.5, beta=2.0, model_sizes=[4, 4]), "distinct"),
        (lambda: bias_ratios(s=0.5, beta=2.0, model_sizes=[4, 8], runs=[1, 2, 3]), "one number or 2"),
        (lambda: bias(problem_of(2, 4), [-1.0]), "times"),
    ],
)
def test_what_cannot_be_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
