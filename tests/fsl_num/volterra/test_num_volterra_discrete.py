"""Discrete schedules: the schedule itself, and collocation in blocks against independent methods."""

from dataclasses import replace

import numpy as np
import pytest
from models import loss_of

from fsl_num.model import Model
from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem, UnstableProblemError
from fsl_num.volterra.panels import solve_panels
from fsl_num.volterra.steps.discrete import losses_of_steps


def test_long_steps_with_large_batches_do_not_overflow():
    plan = Discrete(rates=[1e4, 3.0, 1e3], batch_sizes=1e6)
    problem = Problem(Model(s=0.5, beta=2.0, size=4, noise=1.0), gamma=plan)
    values, error, _ = losses_of_steps(problem)
    panels, claimed, _ = solve_panels(problem, np.array([0.0, 1e4, 1e4 + 3.0, problem.end]), 1e-12)
    assert (np.abs(values - panels) <= error + claimed).all()
    assert loss_of(problem, problem.end).method == "panels"
    with pytest.raises(ValueError, match="use the method 'panels'"):
        losses_of_steps(replace(problem, gamma=Discrete(rates=[1e12], batch_sizes=1e14), horizon=None))


def test_other_schedules_are_refused():
    problem = Problem(Model(s=0.5, beta=2.0, size=4, noise=1.0), gamma=0.1, horizon=1.0)
    with pytest.raises(ValueError, match="Discrete"):
        losses_of_steps(problem)
    with pytest.raises(ValueError, match="Discrete"):
        loss_of(problem, 1.0, method="discrete")


def test_it_is_the_default_for_discrete_schedules():
    problem = Problem(Model(s=0.5, beta=2.0, size=4, noise=1.0), gamma=Discrete(rates=[0.1] * 5))
    found = loss_of(problem, [0.5, 0.05])
    assert found.method == "discrete" and found.success and "many steps" in found.message
    assert found.values[0] < found.values[1]
    with pytest.raises(UnstableProblemError):
        loss_of(replace(problem, gamma=Discrete(rates=[3.0])), 1.0)
