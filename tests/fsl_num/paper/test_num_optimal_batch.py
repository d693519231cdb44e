"""The best batch sizes of the claims against batch sizes that a general optimiser finds."""

import numpy as np
import pytest
from scipy.optimize import minimize

from fsl_num.paper.scaling_laws.optimal_batch import best_plan
from fsl_num.spectrum import kernel_integral, signal


def least_of_cells(s, beta, horizon, data, cells=40):
    """The least excess risk over batch sizes >= 1 that are constant on cells, and the growth of the last."""
    left = np.concatenate([[0.0], np.geomspace(0.02, horizon, cells)])
    width = np.diff(left)
    weight = np.array([kernel_integral(a, b, beta) for a, b in zip(left[:-1], left[1:], strict=True)])
    start = np.full(cells, np.log(data / horizon))
    found = minimize(
        lambda x: np.log(weight @ np.exp(-x)), start, jac=lambda x: -weight * np.exp(-x) / (weight @ np.exp(-x)),
        method="SLSQP", bounds=[(0.0, 40.0)] * cells, options={"maxiter": 500, "ftol": 1e-12},
        constraints={"type": "eq", "fun": lambda x: np.log(width @ np.exp(x) / data),
                     "jac": lambda x: width * np.exp(x) / (width @ np.exp(x))},
    )  # fmt: skip
    assert found.success, found.message
    return 0.5 * (signal(horizon, s, beta) + np.exp(found.fun))


@pytest.mark.parametrize(("s", "beta"), [(0.3, 2.0), (1.0, 2.0), (0.9, 4.0)])
def test_no_horizon_and_no_batch_sizes_leave_less_than_the_best(s, beta):
    data = 3000.0
    best = best_plan(s, beta, data)
    # cells of a ratio of 1.35 lose a second-order share, below a per cent; the list of kernels is good to 1e-4
    assert least_of_cells(s, beta, best.horizon, data) == pytest.approx(best.excess_risk, rel=1e-2)
    for factor in (0.7, 1.4):
        if best.horizon * factor < data:
            assert least_of_cells(s, beta, best.horizon * factor, data) > best.excess_risk * (1 - 1e-4)


def test_the_batch_grows_throughout_in_the_easy_regime_and_late_in_the_hard_one():
    easy, hard = best_plan(1.0, 2.0, 1e12), best_plan(0.2, 2.0, 1e12)
    assert easy.growing == easy.horizon and hard.growing < 0.05 * hard.horizon
    assert hard.horizon == pytest.approx(1e12, rel=0.05)  # nearly every sample is a step
