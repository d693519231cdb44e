"""The adjoint gradient against central finite differences."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem
from fsl_num.volterra.discrete import losses_of_steps
from fsl_num.volterra.gradient import final_loss_gradient

_STEP = 1e-3


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**31), st.floats(0.3, 2.0), st.floats(1.5, 3.0))
def test_rates_agree_with_finite_differences(seed, s, beta):
    generator = np.random.default_rng(seed)
    rates, batches = generator.uniform(0.05, 0.4, 8), generator.uniform(1.0, 3.0, 8)

    def problem(values):
        return Problem(s=s, beta=beta, model_size=6, noise=1.0, gamma=Discrete(rates=values, batch_sizes=batches))

    gradient = final_loss_gradient(problem(rates))
    differences = []
    for k in range(8):
        change = _STEP * np.eye(8)[k]
        above, below = (losses_of_steps(problem(rates + d), 1e-12)[0][-1] for d in (change, -change))
        differences.append((above - below) / (2.0 * _STEP))
    # central differences err by step^2/6 times the third derivative, which is at most about (2 lambda_1)^3 f = 20
    assert (np.abs(gradient.rates - differences) <= gradient.rates_error + 20.0 * _STEP**2).all()
    assert np.abs(gradient.rates - differences).max() < 2e-5
