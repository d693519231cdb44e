"""Means of the weights at a constant rate: held against SGD itself and the law of the last weights alone."""

import numpy as np
import pytest

from fsl_num import Model, design_for_model
from fsl_num.design.averaging import averaged_risk, best_average, largest_gamma

TASK = Model(s=1.0, beta=2.0, size=float("inf"), noise=1.0)


@pytest.mark.parametrize("gamma, share", [(0.05, 0.5), (0.05, 0.9), (0.02, 1.0)])
def test_sgd_itself_has_that_mean(gamma, share):
    """One sample a step, 1,500 runs of ten features: within four standard errors and what the law leaves out."""
    model, draw, runs, data = Model(1.0, 2.0, 10, 1.0), np.random.default_rng(1), 1500, 600
    target = np.sqrt(np.arange(1.0, 11.0) ** -1)
    weights, mean, first = np.tile(-target, (runs, 1)), np.zeros((runs, 10)), round(data * (1.0 - share))
    for step in range(data):
        features = draw.normal(size=(runs, 10)) * np.sqrt(model.eigenvalues)
        wrong = (features * weights).sum(axis=1) - draw.normal(size=runs) * np.sqrt(1.0 + model.approximation_error)
        weights = weights - gamma * wrong[:, None] * features
        mean += weights * (step >= first) / (data - first)
    risks = 0.5 * (mean**2 @ model.eigenvalues + model.approximation_error)
    law = averaged_risk(model, data, gamma, share)
    # the law takes the noise at e + sigma^2 in the place of 2 E + sigma^2: a share of at most gamma tr(H)/2 more
    slack = 4.0 * risks.std() / np.sqrt(runs) + 0.5 * gamma * model.trace * law
    assert abs(risks.mean() - law) < slack < 0.1 * law


def test_a_mean_of_the_last_samples_alone_is_the_law_itself():
    design = design_for_model(TASK, 1e4)
    constant = min(averaged_risk(TASK, 1e4, float(gamma), 1e-9) for gamma in design.allowed * np.geomspace(1e-6, 1, 40))
    # the design takes the signal in blocks, and starts it a step late: 1e-3 of it
    assert constant == pytest.approx(design.baselines["constant"], rel=3e-3)


@pytest.mark.parametrize("s, data", [(0.3, 1e5), (1.0, 1e5), (3.0, 1e7)])
def test_no_other_mean_is_better(s, data):
    model = Model(s, 2.0, float("inf"), 1.0)
    best = best_average(model, data)
    for factor in (0.8, 0.97, 1.03, 1.25):
        gamma, share = min(best.gamma * factor, largest_gamma(model, data, None)[1]), min(best.share * factor, 1.0)
        assert averaged_risk(model, data, gamma, best.share) >= best.excess_risk * (1.0 - 1e-6)  # where the search ends
        assert averaged_risk(model, data, best.gamma, share) >= best.excess_risk * (1.0 - 1e-6)


def test_it_stands_beside_the_best_schedule():
    """It forgets more noise for the same data, in the easy regime: no schedule reaches it without a mean."""
    design = design_for_model(TASK, 1e6)
    assert 0.6 < design.average.excess_risk / design.excess_risk < 0.7
    assert design.as_dict()["average"]["ratio"] == design.average.excess_risk / design.excess_risk
    assert design_for_model(Model(50.0, 3.0, float("inf"), 1.0), 100.0).as_dict()["average"] is None


@pytest.mark.parametrize(
    "asked, said",
    [
        ((1e4, 0.1, 1.5), "share must be at most 1"),
        ((1e4, 0.1, 0.0), "share"),
        ((0.5, 0.1, 0.5), "at least 1 sample"),
        ((1e4, 2.0, 0.5), "below 2/tr"),
        ((1e4, 1e-20, 0.5), "an intrinsic time of 1e-16, in which nothing is learnt"),
    ],
)
def test_what_cannot_be_trained_is_refused(asked, said):
    with pytest.raises(ValueError, match=said):
        averaged_risk(TASK, *asked)
