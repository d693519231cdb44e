"""The exact expected risk against a plain loop, sampling, its continuous limit, and every mode kept."""

import math

import numpy as np
import pytest

from fsl_num.model import Model
from fsl_num.schedules import step_rates
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression


def plain(problem, rates, batches):
    """The recursion of the second moments as it is written."""
    lam, kurtosis = problem.eigenvalues[: int(problem.model.size)], problem.family.kurtosis
    m, risks = problem.theta[: lam.size] ** 2, []
    for eta, batch in zip(rates, batches, strict=True):
        total = lam @ m + problem.tail
        risks.append(0.5 * total)
        own = (kurtosis - 2.0) * lam**2 * m
        m = (1.0 - eta * lam) ** 2 * m + eta**2 / batch * (own + lam * (total + problem.model.noise))
    return np.array([*risks, 0.5 * (lam @ m + problem.tail)])


def test_factors_of_zero_and_below_are_taken_step_by_step():
    # at eta lambda = 1 a large batch forgets the first mode at once; with +1 and -1 the factor is 1 - 2 eta lambda
    for kind, batch in (("gaussian", 10**9), ("rademacher", 1)):
        problem = Regression(Model(s=0.5, beta=2.0, size=6, noise=1.0), family=kind)
        rates = np.array([0.3, 1.0, 0.9, 0.2])
        found = exact_risk(problem, rates, batch, every=1)
        assert found.excess_risk == pytest.approx(plain(problem, rates, [batch] * 4), rel=1e-13)


@pytest.mark.parametrize("beta", [1.2, 2.0, 4.0])
def test_compressed_modes_stand_for_all_of_them(beta):
    problem = Regression(Model(s=0.5, beta=beta, size=5000, noise=1.0))
    rates = step_rates("cosine", peak=0.3, steps=4000)
    few = exact_risk(problem, rates, every=500)
    assert int(few.message.split()[0]) < 200
    # 1e-13 is the claim of the compression, a few roundings are those of 4000 steps
    assert few.excess_risk == pytest.approx(plain(problem, rates, np.ones(rates.size))[::500], rel=1e-12)


def test_infinitely_many_features_continue_large_models():
    rates = step_rates("wsd", peak=0.2, steps=2000)
    risks = [
        exact_risk(Regression(Model(s=1.0, beta=2.0, size=size, noise=1.0), features=math.inf), rates).excess_risk[-1]
        for size in (10**4, 10**5, math.inf)
    ]
    # what the next modes bring to a risk of 1e-2 is sum_{j>M} j^-3 = M^-2/2, and their noise is smaller still
    assert risks[0] == pytest.approx(risks[2], abs=2e-8) and risks[1] == pytest.approx(risks[2], abs=2e-10)


def test_divergence_is_said_with_the_step():
    problem = Regression(Model(s=0.5, beta=1.5, size=10, noise=1.0))
    with pytest.raises(OverflowError, match="diverges"):
        exact_risk(problem, np.full(5000, 3.0), every=100)


@pytest.mark.parametrize(
    ("rates", "batches", "every", "text"),
    [
        ([0.1, -0.1], 1, None, "rates"),
        ([0.1], [1, 2], None, "one a step"),
        ([0.1], 0, None, "positive"),
        ([0.1], 1, 0, "every"),
        ([[0.1]], 1, None, "one number a step"),
    ],
)
def test_what_does_not_fit_is_refused(rates, batches, every, text):
    with pytest.raises(ValueError, match=text):
        exact_risk(Regression(Model(s=0.5, beta=2.0, size=3, noise=1.0)), rates, batches, every=every)
