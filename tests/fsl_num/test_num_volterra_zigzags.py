"""What a staircase adds to the loss of a smooth gamma, order by order in the step, against exact perturbations."""

import math

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from fsl_num.volterra.linear_modes import LinearModes
from fsl_num.volterra.panels import radau_rule
from fsl_num.volterra.steps.smooth_steps import DEGREE, Stretch, polynomial
from fsl_num.volterra.steps.stretches import (
    Moments,
    curve,
    panel_maps,
    panel_places,
    smooth_staircase,
    staircase_of,
    values_at,
    zigzag_of_modes,
)

TWO = LinearModes(np.array([2.0, 0.7]), np.array([1.0, 0.4]), np.array([1.0, 0.5]), 0.1, 0.3, 0.0)
ONE = LinearModes(np.array([1.3]), np.array([0.8]), np.array([2.0]), 0.0, 1.0, 0.0)
GAMMA = 0.4
SPAN = 2.0


class Flow:
    """x' = (A + gamma B) x with a constant gamma, the constant part of u carried as one more number."""

    def __init__(self, system):
        self.size = system.rates.size
        self.push = np.zeros((self.size + 1, self.size + 1))
        self.push[: self.size] = system.weights[:, None]
        self.push[: self.size, -1] *= system.delta + system.noise
        matrix = GAMMA * self.push
        matrix[np.arange(self.size), np.arange(self.size)] -= system.rates
        self.values, self.vectors = np.linalg.eig(matrix)
        self.inverse = np.linalg.inv(self.vectors)
        self.start = np.append(system.start, 1.0)

    def across(self, time):
        return ((self.vectors * np.exp(self.values * time)) @ self.inverse).real

    def at(self, time):
        return self.across(time) @ self.start

    def staircase_less_slope(self, eta, end):
        """The derivative by s at s = 0 of the state at ``end``, of the staircase through gamma + s t less gamma + s t
        itself: the integral of (middle of the step - t) over the flow."""
        nodes, weights = np.polynomial.legendre.leggauss(12)
        total = np.zeros(self.size + 1)
        for low in np.arange(0.0, end - 1e-9, eta):
            high = min(low + eta, end)
            for node, weight in zip(nodes, weights, strict=True):
                t = 0.5 * (low + high) + 0.5 * (high - low) * node
                driven = self.across(end - t) @ (self.push @ self.at(t))
                total += 0.5 * (high - low) * weight * (low + 0.5 * eta - t) * driven
        return total[: self.size]


def zigzag(system, state, eta):
    return zigzag_of_modes(system, Moments.of(system), state, GAMMA, eta**2, eta)


@pytest.mark.parametrize("system", [ONE, TWO])
def test_the_zigzag_of_the_modes_is_right_to_the_fourth_order_of_the_step(system):
    flow, missed, size = Flow(system), [], []
    for eta in (0.5, 0.25, 0.125):
        exact = flow.staircase_less_slope(eta, SPAN)
        # what differs at the start is carried to the end by the flow without its constant
        carried = flow.across(SPAN)[:-1, :-1] @ zigzag(system, system.start, eta)
        found = zigzag(system, flow.at(SPAN)[:-1], eta) - carried
        missed.append(float(np.abs(found - exact).max()))
        size.append(float(np.abs(exact).max()))
    # the next term has the sixth power of the step, 2^6 = 64 for a halved one; a wrong fourth order would give 16
    assert missed[0] / missed[1] == pytest.approx(64.0, rel=0.1, abs=0.0)
    assert missed[1] / missed[2] == pytest.approx(64.0, rel=0.1, abs=0.0)
    # relative to the first order, 1/12, it is about 12/30240 (rate eta)^4 times a few
    assert missed[0] < 0.01 * size[0]


def test_many_states_have_the_zigzags_of_each():
    rng = np.random.default_rng(1)
    states, gammas, heights = rng.uniform(0.1, 1.0, (2, 3)), rng.uniform(0.1, 0.4, 3), rng.uniform(-1.0, 1.0, 3)
    moments = Moments.of(TWO)
    found = zigzag_of_modes(TWO, moments, states, gammas, heights, 0.3)
    each = [zigzag_of_modes(TWO, moments, states[:, i], gammas[i], heights[i], 0.3) for i in range(3)]
    assert found.T == pytest.approx(np.array(each), rel=1e-14, abs=0.0)  # the same sums of two numbers


@pytest.mark.parametrize("system", [ONE, TWO])
def test_the_curve_is_right_inside_of_the_steps(system):
    flow, missed = Flow(system), []
    width = 0.05  # of the panel: a part of a step, for derivatives by interpolation
    for eta in (0.5, 0.25, 0.125):
        begin = SPAN + 0.3 * eta
        times = begin + 0.5 * width * eta * (panel_places(1)[0] + 1.0)
        sums = np.array([[flow.at(t)[:-1].sum() for t in times]])
        flat = np.ones_like(sums)
        of = curve(
            Moments.of(system),
            sums,
            system.delta + system.noise,
            np.array([width * eta]),
            GAMMA * flat,
            eta**2 * flat,
            eta * flat,
        )
        places = np.array([0.2, 0.7]) * width * eta
        inside = (0.3 * eta + places) / eta
        found = values_at(of, 1, width * eta, places, inside)
        for place, value in zip(places.tolist(), found.tolist(), strict=True):
            end = begin + place
            carried = flow.across(end)[:-1, :-1] @ zigzag(system, system.start, eta)
            exact = flow.at(end)[:-1].sum() + (flow.staircase_less_slope(eta, end) + carried).sum()
            missed.append(abs(value - exact))
    halved = [missed[i] / missed[i + 2] for i in range(4)]
    # the next term has the fifth power of the step and the sixth: 32 to 64; a wrong term of the fourth gives 16 or less
    assert min(halved) > 26.0


def test_the_curve_at_the_ends_of_steps_is_that_of_the_modes():
    flow, eta = Flow(TWO), 0.4
    times = 1.0 + 0.02 * (panel_places(1)[0] + 1.0)
    sums = np.array([[flow.at(t)[:-1].sum() for t in times]])
    flat = np.ones_like(sums)
    of = curve(Moments.of(TWO), sums, 0.4, np.array([0.04]), GAMMA * flat, 0.3 * eta**2 * flat, eta * flat)
    x = np.array([-1.0, -0.3, 0.8])
    exact = []
    for place in x:
        state = flow.at(1.0 + 0.02 * (place + 1.0))[:-1]
        exact.append(float((state + 0.3 * zigzag(TWO, state, eta)).sum()))
    # the second derivative by interpolation on a panel of 0.04: rounding 1e-16 50^2 36, times eta^4/720 = 4e-5
    assert polynomial(of.at_ends()[0], x) == pytest.approx(np.array(exact), rel=1e-13, abs=0.0)
    ends = values_at(of, 1, 0.04, 0.02 * (x + 1.0), None)
    assert ends == pytest.approx(np.array(exact), rel=1e-13, abs=0.0)
    assert values_at(of, 1, 0.04, 0.02 * (x + 1.0), np.zeros(3)) == pytest.approx(np.array(exact), rel=1e-13, abs=0.0)
    assert values_at(of, 1, 0.04, 0.02 * (x + 1.0), np.ones(3)) == pytest.approx(np.array(exact), rel=1e-13, abs=0.0)


def test_a_curve_on_some_panels_is_a_part_of_it():
    rng = np.random.default_rng(3)
    shape = (4, 7)
    sums, gamma, jump, eta = (rng.uniform(0.5, 1.0, shape) for _ in range(4))
    whole = curve(Moments.of(TWO), sums, 0.4, np.full(4, 0.5), gamma, jump, eta)
    part = whole.on(slice(1, 3))
    places = np.linspace(0.0, 1.0, 9)
    of_two = values_at(part, 2, 1.0, places, None)
    later = values_at(whole, 4, 2.0, np.concatenate([[0.1], 0.5 + places, [1.9]]), None)
    # a panel may be left at its end or at the start of the next, where these random curves differ
    assert np.delete(later[1:-1], [0, 4, 8]) == pytest.approx(np.delete(of_two, [0, 4, 8]), rel=1e-12, abs=0.0)


@pytest.mark.parametrize("parts", [1, 3])
def test_places_of_panels_are_their_start_and_radau_points(parts):
    found = panel_places(parts)
    width = 2.0 / parts
    for part in range(parts):
        low = -1.0 + part * width
        assert found[part] == pytest.approx(np.append(low, low + width * radau_rule().nodes), abs=1e-15)


def test_gamma_without_its_zigzags_keeps_the_mean_of_every_step():
    # D1, the integral of the staircase less the smooth gamma, is -g' eta^2/12 at both ends of a step
    g, eta = Polynomial([0.7, 0.3, -0.2, 0.15, 0.05]), Polynomial([1.0, 0.4, 0.25, -0.1])
    left = []
    for size in (0.2, 0.1, 0.05):
        middle = 0.3
        length = size * eta(middle)
        # by x in [-1, 1] over the step itself
        step = Polynomial([middle, 0.5 * length])
        of_gamma, of_length = np.zeros(DEGREE + 1), np.zeros(DEGREE + 1)
        of_gamma[:5], of_length[:4] = g(step).coef, (size * eta(step)).coef
        found = staircase_of(of_gamma[:, None], of_length[:, None], np.array([2.0 / length]), 1)
        gamma, jump = found.gamma[0, :, 0], found.zigzag[0, :, 0]
        ends = middle + 0.5 * length * np.array([-1.0, 1.0])
        slope = g.deriv()(ends) * (size * eta(ends)) ** 2
        assert jump[[0, -1]] == pytest.approx(slope, rel=1e-13, abs=0.0)  # polynomials of degree 8
        assert found.eta[0, [0, -1], 0] == pytest.approx(size * eta(ends), rel=1e-14, abs=0.0)
        mean = float(radau_rule().matrix[-1] @ gamma[1:])
        left.append(abs(length * (g(middle) - mean) + (slope[1] - slope[0]) / 12.0))
    # the next Bernoulli number has the fourth power of the step, and its change over a step one more: 2^5
    assert [left[0] / left[1], left[1] / left[2]] == pytest.approx([32.0, 32.0], rel=0.05, abs=0.0)


def test_stretches_side_by_side_are_each_their_own():
    def stretch(time, gamma, length):
        return Stretch(0, 64, time, gamma, length, 0.0, 0.0, 0.0, 1.0, 0.1, 0.0, 0.0, None)

    rng = np.random.default_rng(4)
    given = [(3.0, *rng.uniform(0.1, 1.0, (2, DEGREE + 1))), (5.0, *rng.uniform(0.1, 1.0, (2, DEGREE + 1)))]
    both = smooth_staircase([stretch(*one) for one in given], 2)
    assert both.gamma.shape == both.zigzag.shape == both.eta.shape == (2, 2, 7)
    x = panel_places(2)
    for row, (time, gamma, length) in enumerate(given):
        g, eta = Polynomial(gamma), Polynomial(length)
        by_time = 2.0 / time
        slope, bend, growing = g.deriv()(x) * by_time, g.deriv(2)(x) * by_time**2, eta.deriv()(x) * by_time
        # gamma + g'' eta^2/24 + g' (eta^2)'/12
        smooth = g(x) + bend * eta(x) ** 2 / 24.0 + slope * 2.0 * eta(x) * growing / 12.0
        assert both.gamma[row] == pytest.approx(smooth, rel=1e-13, abs=0.0)
        assert both.zigzag[row] == pytest.approx(slope * eta(x) ** 2, rel=1e-13, abs=0.0)
        assert both.eta[row] == pytest.approx(eta(x), rel=1e-13, abs=0.0)


def test_maps_of_panels_are_those_of_the_radau_matrix():
    matrix, unit = radau_rule().matrix, np.eye(6)
    lengths = np.geomspace(0.01, 30.0, 70)  # more panels than are made at once
    maps = panel_maps(TWO, lengths)
    for i, h in enumerate(lengths.tolist()):
        response = np.zeros((6, 6))
        for k, (rate, weight) in enumerate(zip(TWO.rates.tolist(), TWO.weights.tolist(), strict=True)):
            # the stages y of y' = -r y + w v from y(0) = x are (1 + h r A)^-1 (x + h w A v)
            damped = np.linalg.inv(unit + h * rate * matrix)
            response += h * weight * damped @ matrix
            # rounding by the eigenvectors, whose condition is some hundreds
            assert maps.history[i, :, k] == pytest.approx(damped.sum(axis=1), abs=2e-13)
            assert maps.left[i, :, k] == pytest.approx((h * weight * damped @ matrix)[-1], abs=2e-13)
        assert maps.response[i] == pytest.approx(response, abs=5e-13)


def test_moments_are_derivatives_of_the_kernel():
    found = Moments.of(TWO)

    def kernel(t):
        return float(TWO.weights @ np.exp(-TWO.rates * t))

    h = 1e-3
    # central differences, wrong by h^2/6 of the third derivative, about 8, and 2 h^2/4! of the fourth
    assert found.zeroth == pytest.approx(kernel(0.0), rel=1e-14, abs=0.0)
    assert found.first == pytest.approx(-(kernel(h) - kernel(-h)) / (2.0 * h), rel=1e-5, abs=0.0)
    assert found.second == pytest.approx((kernel(h) - 2.0 * kernel(0.0) + kernel(-h)) / h**2, rel=1e-5, abs=0.0)
    assert math.isclose(found.first, 2.0 * 1.0 + 0.7 * 0.4)
