"""Fits of exponents: least squares, how much they depend on any one point, and what is refused."""

import math

import numpy as np
import pytest

from fsl_num.growth import growth_exponents


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
        growth = growth_exponents(LOGS[: least + 1], NOISY[: least + 1], power=power)
        assert growth.log_power_uncertainty < math.inf
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
