"""Newton's steps where rates are 0: nothing is divided by them, and the point is no worse after."""

import numpy as np
import pytest

from fsl_num.curves.laws import law
from fsl_num.design.final_loss import final_loss
from fsl_num.design.newton import newton

PEAK = 1e-3
THETA = np.array([2.7, 0.59, 0.5, 0.0, 0.73, 199.0, 2.4, 300.0, 0.3])


@pytest.mark.parametrize("lowest", [0.0, 1e-170, 1e-3 * PEAK])
@pytest.mark.parametrize("falling", [True, False])
def test_rates_of_nothing_are_no_fault(lowest, falling):
    rates = np.maximum(PEAK * np.linspace(1.0, 0.0, 400) ** 2, lowest)
    rates[-5:] = lowest
    objective = final_loss(law("fsl-full"), THETA, np.array([]), 0)
    found = newton(law("fsl-full"), THETA, np.array([]), objective, rates, 0.0, PEAK, falling)
    ones = np.ones(rates.size)
    assert np.isfinite(found).all() and objective(found, ones)[0] <= objective(rates, ones)[0]
