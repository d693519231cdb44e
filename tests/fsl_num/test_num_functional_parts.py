"""Quadrature of the functional law and fits of exponents: closed forms, claims, limits and refusals."""

import math

import numpy as np
import pytest

from fsl_num.functional import (
    FunctionalScalingLaw,
    Integral,
    _integrate,
    _panels,
    batch_noise_functional,
    functional_scaling_law,
    integrate_graded,
    noise_functional,
    scaling_functional,
)
from fsl_num.growth import growth_exponents
from fsl_num.model import Model
from fsl_num.schedules import Constant, Discrete, StableDecay
from fsl_num.spectrum import approximation_error, signal

ONE = Model(s=0.5, beta=2.0, size=1, noise=2.0)
WIDE = Model(s=0.5, beta=2.0, size=math.inf, noise=1.0)


def test_edges_of_panels_grow_by_the_ratio_at_most():
    for low, high, ratio in ((1e-18, 3.0, 4.0), (1.0, 1.5, 2.0), (1.0, 16.0, 2.0), (2.0, 2.0 + 1e-12, 4.0)):
        edges = _panels(low, high, ratio)
        assert edges[0] == low and edges[-1] == high
        growth = edges[1:] / edges[:-1]
        assert growth.max() <= ratio * (1.0 + 1e-12) and growth == pytest.approx(
            np.full(growth.size, growth[0]), rel=1e-9, abs=0.0
        )
        # and no panel more than that takes
        assert growth.size == 1 or growth[0] ** (growth.size / (growth.size - 1.0)) > ratio * (1.0 - 1e-12)


@pytest.mark.parametrize("nodes", [10, 16])
def test_nodes_of_gauss_on_panels(nodes):
    edges = np.array([0.0, 0.5, 2.0, 3.0])
    for power in (0, 1, 7, 2 * nodes - 1):
        value, count = _integrate(lambda x, power=power: x**power, edges, nodes)
        assert value == pytest.approx(3.0 ** (power + 1) / (power + 1), rel=1e-13, abs=0.0) and count == 3 * nodes


def test_what_is_below_the_first_panel_is_part_of_the_error():
    # all of it lies within 1e-18: no node sees it
    found = integrate_graded(lambda x: np.where(x < 5e-19, 1e18, 0.0), 1.0)
    assert found.error >= abs(found.value - 0.5) and found.error <= 3.0
    # the relative error of the integrand itself
    flat = integrate_graded(np.ones_like, 2.0)
    assert flat.value == pytest.approx(2.0, rel=1e-14, abs=0.0)
    assert 6e-14 <= flat.error <= 1.2e-13


def test_panels_end_at_breaks_and_are_refined_until_two_rules_agree():
    step = integrate_graded(lambda x: np.where(x < 0.3, 1.0, 2.0), 1.0, breaks=(0.3, 0.0, 1.0, 7.0))
    assert step.value == pytest.approx(1.7, rel=1e-13, abs=0.0) and step.error < 1e-12
    # about 30 panels by 26 nodes, and two at the ends
    smooth, rough = (integrate_graded(np.sqrt, 1.0, rtol=rtol) for rtol in (1e-2, 1e-13))
    assert 26 * 20 < smooth.evaluations < 26 * 40
    wave = integrate_graded(lambda x: 1.0 + np.cos(150.0 * x), 1.0, rtol=1e-12)
    assert wave.evaluations > 2 * smooth.evaluations
    assert abs(wave.value - 1.0 - math.sin(150.0) / 150.0) <= wave.error
    jump = integrate_graded(lambda x: np.where(x < 1 / 3, 0.0, 1.0), 1.0)
    assert abs(jump.value - 2 / 3) <= jump.error and jump.error > 1e-6
    assert jump.evaluations > 3 * smooth.evaluations and rough.evaluations >= smooth.evaluations


def test_the_functional_of_one_mode():
    # K = exp(-2 t): int_0^T exp(-2 (T - t)) dt is (1 - exp(-2 T))/2; the rate is the peak, whatever the batch size
    plan = Constant(peak=0.3, steps=10.0, batch_size=4.0)
    noise = noise_functional(ONE, plan)
    exact = 0.3 * 0.5 * (1.0 - math.exp(-6.0))
    assert abs(noise.value - exact) <= noise.error < 1e-12
    # e = exp(-2 t) too: their convolution is T exp(-2 T), by gamma
    batch = batch_noise_functional(ONE, plan)
    assert abs(batch.value - 0.3 / 4.0 * 3.0 * math.exp(-6.0)) <= batch.error < 1e-12
    # and the law is half of each
    law = functional_scaling_law(ONE, plan)
    assert law.approximation == approximation_error(0.5, 2.0, 1) / 2
    assert law.signal == pytest.approx(math.exp(-6.0) / 2, rel=1e-9, abs=0.0)
    assert law.label_noise == pytest.approx(2.0 / 4.0 * exact / 2, rel=1e-9, abs=0.0)
    assert law.batch_noise == pytest.approx(batch.value / 2, rel=1e-9, abs=0.0)
    assert law.total == pytest.approx(
        law.approximation + law.signal + law.label_noise + law.batch_noise, rel=1e-9, abs=0.0
    )
    simple = scaling_functional(ONE, plan)
    assert simple.batch_noise == 0.0 and law.error > simple.error > 0.0
    # of the sums 3e-14, of the functional its own error by sigma^2/(2B)
    rest = 3e-14 * (law.approximation + law.signal)
    assert simple.error == pytest.approx(2.0 / 4.0 / 2 * noise.error + rest, rel=1e-6, abs=0.0)
    assert law.error == pytest.approx(simple.error + batch.error / 2, rel=1e-6, abs=0.0)
    assert FunctionalScalingLaw(1.0, 2.0, 3.0, 4.0, 0.0).total == 10.0


def test_the_functional_of_a_schedule_with_breaks():
    plan = Discrete(rates=[0.5, 0.25, 1.0])
    found = noise_functional(ONE, plan)

    def part(rate, low, high):
        return rate * 0.5 * (math.exp(-2.0 * (1.75 - high)) - math.exp(-2.0 * (1.75 - low)))

    exact = part(0.5, 0.0, 0.5) + part(0.25, 0.5, 0.75) + part(1.0, 0.75, 1.75)
    assert abs(found.value - exact) <= found.error < 1e-12
    batch = batch_noise_functional(ONE, plan)
    # K(T - t) e(t) is exp(-2 T) everywhere
    assert abs(batch.value - math.exp(-3.5) * (0.25 + 0.0625 + 1.0)) <= batch.error < 1e-12
    decay = StableDecay(peak=0.4, final=0.1, steps=10.0, decay_fraction=0.3)
    whole = batch_noise_functional(WIDE, decay)
    assert whole.error < 1e-10 * whole.value and isinstance(whole, Integral)
    assert signal(0.0, 0.5, 2.0, 1) == pytest.approx(1.0, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("rtol", [0.0, 9.9e-14, 1.0, math.nan])
def test_tolerances_out_of_range_are_refused(rtol):
    with pytest.raises(ValueError, match="rtol"):
        noise_functional(WIDE, Constant(peak=0.3, steps=10.0), rtol=rtol)
    assert noise_functional(WIDE, Constant(peak=0.3, steps=10.0), rtol=1e-13).value > 0.0


# Growth


def plain(logs, values, power=None):
    """The exponents by least squares without centring or scales."""
    columns = [np.ones_like(logs), np.log(logs)] if power is not None else [np.ones_like(logs), logs, np.log(logs)]
    target = values if power is None else values - power * logs
    found = np.linalg.lstsq(np.stack(columns, axis=1), target, rcond=None)[0]
    return found if power is None else np.array([found[0], power, found[1]])


LOGS = np.array([2.0, 3.0, 5.0, 9.0, 14.0, 20.0])
NOISY = 1.0 - 0.5 * LOGS + 2.0 * np.log(LOGS) + np.array([0.01, -0.02, 0.015, 0.0, -0.01, 0.02])


@pytest.mark.parametrize("power", [None, -0.45])
def test_a_fit_and_how_much_it_depends_on_any_one_point(power):
    found = growth_exponents(LOGS[::-1], NOISY[::-1], power=power)
    constant, slope, log_slope = plain(LOGS, NOISY, power)
    # least squares of six points, condition about 1e2
    assert (found.constant, found.power, found.log_power) == pytest.approx(
        (constant, slope, log_slope), rel=1e-9, abs=0.0
    )
    left = NOISY - constant - slope * LOGS - log_slope * np.log(LOGS)
    assert found.residual == pytest.approx(np.abs(left).max(), rel=1e-8, abs=0.0)
    subsets = [np.delete(np.arange(6), i) for i in range(6)] + [np.arange(3, 6)]
    changes = np.array([plain(LOGS[keep], NOISY[keep], power) - (constant, slope, log_slope) for keep in subsets])
    most = np.abs(changes).max(axis=0)
    assert found.log_power_uncertainty == pytest.approx(most[2], rel=1e-7, abs=0.0)
    assert found.power_uncertainty == (0.0 if power is not None else pytest.approx(most[1], rel=1e-7, abs=0.0))


def test_how_many_points_a_fit_needs():
    for power, least in ((None, 3), (0.5, 2)):
        logs, values = LOGS[:least], NOISY[:least]
        found = growth_exponents(logs, values, power=power)
        assert found.residual < 1e-12 and found.log_power_uncertainty == math.inf
        more = growth_exponents(LOGS[: least + 1], NOISY[: least + 1], power=power)
        assert more.log_power_uncertainty < math.inf
        with pytest.raises(ValueError, match=f"at least {least} different budgets are needed, got {least - 1}"):
            growth_exponents([*logs[:-1], logs[0]], values, power=power)
    # with five points the lower half is left out to three
    five = growth_exponents(LOGS[:5], NOISY[:5])
    halves = [np.delete(np.arange(5), i) for i in range(5)] + [np.arange(2, 5)]
    whole = plain(LOGS[:5], NOISY[:5])
    most = max(abs(plain(LOGS[keep], NOISY[keep])[1] - whole[1]) for keep in halves)
    assert five.power_uncertainty == pytest.approx(most, rel=1e-7, abs=0.0)


@pytest.mark.parametrize(
    ("logs", "values", "text"),
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0], "lists of one length"),
        ([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]], "lists of one length"),
        ([0.0, 2.0, 3.0], [1.0, 2.0, 3.0], "must be positive"),
        ([1.0, 2.0, math.inf], [1.0, 2.0, 3.0], "finite"),
        ([1.0, 2.0, 3.0], [1.0, math.nan, 3.0], "finite"),
    ],
)
def test_points_that_cannot_be_fitted_are_refused(logs, values, text):
    with pytest.raises(ValueError, match=text):
        growth_exponents(logs, values)
