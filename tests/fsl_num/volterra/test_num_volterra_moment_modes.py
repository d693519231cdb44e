"""Few modes in place of many for the Gaussian closure, and what no refinement of panels shows."""

import math

import pytest
from models import with_model

from fsl_num.model import Model
from fsl_num.volterra import Problem
from fsl_num.volterra.moment_modes import full_modes, mode_errors, moment_modes


@pytest.mark.parametrize("size", [12, 150])
def test_nodes_are_compared_with_all_modes(size):
    problem = Problem(Model(s=0.5, beta=2.0, size=size, noise=1.0), gamma=0.3, horizon=50.0)
    modes = full_modes(problem)
    model = (0.5, 2.0, size, 50.0, 0.3)
    assert mode_errors(modes.rates, (modes.kernel_weights, modes.signal_weights), *model) < 1e-13
    # a weight that is wrong by one part in a million, of either sum
    for wrong in ((1.0 + 1e-6, 1.0), (1.0, 1.0 - 1e-6)):
        weights = modes.kernel_weights * wrong[0], modes.signal_weights * wrong[1]
        assert mode_errors(modes.rates, weights, *model) == pytest.approx(1e-6, rel=1e-6, abs=0.0)
    # rates that are wrong by d shift the first mode by 2 d tau at the end: there the slowest mode is left
    slowest = float(modes.rates.min())
    late = mode_errors(modes.rates * (1.0 + 1e-9), (modes.kernel_weights, modes.signal_weights), *model)
    fastest_at_end = 2.0 * 50.0 * 1e-9
    assert 2.0 * 50.0 * slowest * 1e-9 < late < fastest_at_end
    # only at a large G, the integral of gamma, do the squares of the rates show
    assert mode_errors(modes.rates, (modes.kernel_weights, modes.signal_weights), 0.5, 2.0, size, 50.0, 0.0) < 1e-13


def test_few_modes_claim_what_they_miss():
    problem = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=0.3, horizon=1e4, closure="gaussian")
    found = moment_modes(problem)
    weights = found.kernel_weights, found.signal_weights
    worst = mode_errors(found.rates, weights, 0.5, 2.0, math.inf, 1e4, 0.3)
    assert 2.0 * worst + 2e-14 <= found.error < 1e-12
    assert moment_modes(with_model(problem, size=100)).rates.size == 100
    assert moment_modes(with_model(problem, size=101)).error > 0.0
