"""What a solution says of itself: success is what was asked for, and what is odd is refused in words."""

import math

import numpy as np
import pytest

from fsl_num import Problem, Spectrum, solve
from fsl_num.model import Model


def test_digits_that_are_not_reached_are_no_success():
    # a jump that no break tells of
    jump = Problem(Model(s=0.5, beta=2.0, size=3, noise=1.0), gamma=lambda t: 0.1 + 0.4 * (t < 3.1), horizon=9.0)
    hidden = solve(jump, 9.0, digits=20)
    assert hidden.error[0] > 1e-9 and not hidden.success and "misses the 20 digits" in hidden.message


@pytest.mark.parametrize("method", ["constant", "laplace", "high_precision"])
def test_digits_that_are_reached_are_a_success(method):
    problem = Problem(Model(s=0.5, beta=2.0, size=10, noise=1.0), gamma=0.3, horizon=50.0)
    assert solve(problem, [1.0, 50.0], method=method, digits=25).success
    assert solve(problem, [1.0, 50.0], method=method).success


def test_losses_below_the_smallest_floats_have_an_absolute_error():
    problem = Problem(Model(noise=0.0, spectrum=Spectrum([1.0], [1.0])), gamma=0.01, horizon=365.0)
    found = solve(problem, [365.0])
    truth = np.exp(np.longdouble(-1.99) * 365) / 2
    assert found.method == "secular" and found.error[0] > 0.0
    # the rate is known to a rounding, some 700 times
    assert abs(found.excess_risk[0] - truth) <= found.error[0] + 2e-13 * truth


@pytest.mark.parametrize("size", [20, math.inf])
def test_a_grid_that_is_too_coarse_to_claim_anything_is_refused(size):
    problem = Problem(Model(s=0.5, beta=2.0, size=size, noise=1.0), gamma=0.3, horizon=1e5)
    with pytest.raises(ValueError, match="needs horizon <= 8192, got 100000; use 'panels'"):
        solve(problem, 1e5, method="reference")


def test_a_gamma_of_another_shape_is_refused():
    problem = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=lambda t: np.full(7, 0.1), horizon=9.0)
    with pytest.raises(ValueError, match="gamma must return a number or an array of the shape of the times"):
        solve(problem, 9.0)
    constant = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=lambda t: [0.1], horizon=9.0)
    assert solve(constant, 9.0).success


def test_waves_that_the_panels_miss_are_said_to_need_breaks():
    problem = Problem(
        Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=lambda t: 0.3 + 0.2 * np.sin(4000.0 * t), horizon=100.0
    )
    found = solve(problem, 100.0)
    assert not found.success and "breaks where gamma turns" in found.message


@pytest.mark.parametrize(
    ("gamma", "options"),
    [
        (lambda t: 0.1 + 0.0 * t, {"method": "panels"}),
        (lambda t: 0.1 + 0.0 * t, {"digits": 20}),
        (0.1, {}),
    ],
)
def test_without_signal_and_noise_there_is_no_risk(gamma, options):
    nothing = Model(spectrum=Spectrum([1.0, 0.3], [0.0, 0.0]), noise=0.0)
    found = solve(Problem(nothing, gamma=gamma, horizon=9.0), [0.0, 0.53, 9.0], **options)
    assert [float(value) for value in found.excess_risk] == [0.0] * 3 == found.error.tolist() and found.success


def test_steep_sums_of_a_small_model_are_solved_to_what_is_claimed():
    problem = Problem(Model(s=100.0, beta=2.0, size=20, noise=1.0), gamma=0.3, horizon=100.0)
    found, exact = solve(problem, 100.0), solve(problem, 100.0, digits=30)
    assert abs(found.excess_risk[0] - float(exact.excess_risk[0])) <= found.error[0] < 1e-13
    with pytest.raises(ValueError, match="at most about 80 for a model of 1000 features"):
        solve(Problem(Model(s=20.0, beta=8.0, size=1000, noise=1.0), gamma=0.3, horizon=1e4), 1e4)


def test_eigenvalues_whose_squares_overflow_are_refused():
    with pytest.raises(ValueError, match="rates must be at most 1e\\+150"):
        Spectrum([1e151, 1.0], [1.0, 1.0])
