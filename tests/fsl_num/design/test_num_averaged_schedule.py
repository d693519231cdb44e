"""The schedule and the mean of the weights together: both limits of the law, its slopes, and what is gained."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from fsl_num import Model, design_for_model
from fsl_num.design.averaged_schedule import MeanRisk
from fsl_num.design.averaging import averaged_risk, best_average


def task(s, beta=2.0, size=float("inf")):
    return Model(s, beta, size, 1.0)


def blocks_from_the_end(data, share, count=300):
    """Samples of blocks ever shorter towards the end, one of which begins at the share."""
    left = np.unique(np.concatenate([np.geomspace(1e-5, 1.0, count), [0.0, share]]))
    return data * np.diff(left)[::-1]


@pytest.mark.parametrize("seed", range(3))
def test_the_slopes_are_those_of_the_value(seed):
    draw = np.random.default_rng(seed)
    risk = MeanRisk(task(1.0, size=30), draw.uniform(1.0, 50.0, 7), 0.6)

    def value(x):
        return risk(x[:7], x[7:])[0]

    def slope(x):
        return np.concatenate(risk(x[:7], x[7:])[1:])

    point = np.append(draw.uniform(0.01, 0.5, 7), draw.dirichlet(np.ones(8))[:7])
    assert check_grad(value, slope, point) < 1e-6 * np.abs(slope(point)).max()  # of forward differences


@pytest.mark.parametrize("gamma, share", [(0.05, 0.5), (0.3, 0.1), (0.02, 1.0)])
def test_at_one_rate_it_is_the_mean_over_the_last_share(gamma, share):
    samples = blocks_from_the_end(1e4, share)
    late = np.cumsum(samples[::-1])[::-1] <= share * 1e4 * (1.0 + 1e-9)
    found = MeanRisk(task(1.0), samples, 0.6)(np.full(samples.size, gamma), late * samples / (share * 1e4))[0]
    assert found == pytest.approx(averaged_risk(task(1.0), 1e4, gamma, share), rel=2e-3)  # e in the middle of a block


def test_with_the_last_weights_alone_it_is_the_law_of_the_schedule():
    design = design_for_model(task(0.5, size=50), 2000.0)
    found = MeanRisk(design.model, design.samples, design.allowed)(design.gammas, np.zeros(design.samples.size))[0]
    assert found == pytest.approx(design.excess_risk, rel=1e-3)  # 1,500 points of K and e


@pytest.mark.parametrize("s, gain", [(0.3, (0.005, 0.02)), (1.0, (0.03, 0.06))])
def test_beside_the_best_mean_a_schedule_gains_little(s, gain):
    """Hard: the rate stays at its bound. Easy: it falls, and gains some per cent. Both far below a schedule alone."""
    design = design_for_model(task(s), 1e4)
    best = design.with_average()
    mean = best_average(design.model, design.data).excess_risk
    assert gain[0] < 1.0 - best.excess_risk / mean < gain[1]
    assert best.excess_risk < 0.95 * (design.excess_risk - design.gap)  # no schedule without a mean comes near
    assert best.shares.min() >= 0.0 and best.shares.sum() <= 1.0 and best.gammas.max() <= design.allowed * (1 + 1e-12)
    assert (best.gammas[-1] > 0.99 * design.allowed) == (s == 0.3)
    # no end of a search: neither all rates nor single ones can be moved for the better
    risk = MeanRisk(design.model, best.samples, design.allowed)
    assert risk(best.gammas, best.shares)[0] == pytest.approx(best.excess_risk, rel=1e-9)
    draw = np.random.default_rng(0)
    for spread in (0.01, 0.1):
        for _ in range(30):
            moved = np.minimum(best.gammas * np.exp(spread * draw.normal(size=best.gammas.size)), design.allowed)
            assert risk(moved, best.shares)[0] >= best.excess_risk * (1.0 - 1e-6)
