"""The adjoint gradient against central finite differences."""

import math

import numpy as np
import pytest

from fsl_num.model import Model
from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem
from fsl_num.volterra.gradient import final_risk_gradient
from fsl_num.volterra.steps.discrete import losses_of_steps


def _slope(risk, step):
    """Return the derivative by five points; its error is step^4/30 times the fifth derivative."""
    return (8.0 * (risk(step) - risk(-step)) - risk(2.0 * step) + risk(-2.0 * step)) / (12.0 * step)


def _risk(problem):
    """Return the final excess risk by the march."""
    return 0.5 * losses_of_steps(problem, 1e-13)[0][-1]


@pytest.mark.parametrize(
    ("seed", "s", "beta", "size", "longest"),
    [(0, 0.5, 2.0, 6, 0.4), (1, 0.3, 1.5, math.inf, 0.4), (2, 2.0, 3.0, 1, 0.4), (3, 1.0, 2.0, math.inf, 2.5)],
)
def test_both_gradients_agree_with_finite_differences(seed, s, beta, size, longest):
    generator = np.random.default_rng(seed)
    # the longest steps are divided into parts
    rates, batches = generator.uniform(0.05, longest, 6), generator.uniform(1.0, 3.0, 6) * max(1.0, 4.0 * longest)

    def risk(values, gammas):
        plan = Discrete(rates=values, batch_sizes=values / gammas)
        return _risk(Problem(Model(s=s, beta=beta, size=size, noise=1.0), gamma=plan))

    plan = Discrete(rates=rates, batch_sizes=batches)
    gradient = final_risk_gradient(Problem(Model(s=s, beta=beta, size=size, noise=1.0), gamma=plan), 1e-11)
    gammas = rates / batches
    assert gradient.excess_risk == pytest.approx(risk(rates, gammas), rel=1e-10)
    # five-point differences err by step^4/30 times the fifth derivative, at most (2 lambda_1)^5 E(0) < 75 here,
    # and by the rounding of the risks over the step, 1e-13
    step = min(4e-3, 0.3 * gammas.min())
    allowed = 75.0 / 30.0 * step**4 + 1e-13 / step
    for k, unit in enumerate(np.eye(6)):
        by_rate = _slope(lambda h, u=unit: risk(rates + h * u, (rates + h * u) / batches), step)
        by_gamma = _slope(lambda h, u=unit: risk(rates, gammas + h * u), step)
        assert abs(gradient.rates[k] - by_rate) <= gradient.rates_error[k] + allowed
        assert abs(gradient.gammas[k] - by_gamma) <= gradient.gammas_error[k] + allowed
    assert gradient.rates_error.max() < 1e-10 > gradient.gammas_error.max()


def test_a_step_of_no_length_has_the_derivative_from_the_right():
    rates = np.array([0.2, 0.0, 0.1])
    problem = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=Discrete(rates=rates))
    gradient = final_risk_gradient(problem)
    step = 1e-5
    risks = []
    for k in (0.0, step, 2.0 * step):
        plan = Discrete(rates=rates + [0.0, k, 0.0])
        risks.append(_risk(Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=plan)))
    one_sided = (-3.0 * risks[0] + 4.0 * risks[1] - risks[2]) / (2.0 * step)
    # second order in the step, and rounding over it
    assert gradient.rates[1] == pytest.approx(one_sided, abs=5e-10)


def test_only_discrete_schedules_of_the_volterra_closure():
    with pytest.raises(ValueError, match="Discrete"):
        final_risk_gradient(Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=0.1, horizon=1.0))
    plan = Discrete(rates=[0.1])
    with pytest.raises(ValueError, match="closure"):
        final_risk_gradient(Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=plan, closure="gaussian"))
    with pytest.raises(ValueError, match="rtol"):
        final_risk_gradient(Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=plan), rtol=0.0)


def test_the_message_says_when_the_tolerance_is_missed():
    problem = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=Discrete(rates=[0.3] * 30))
    assert "misses" not in final_risk_gradient(problem, 1e-9).message
    assert final_risk_gradient(problem, 1e-3).rates_error.max() > final_risk_gradient(problem, 1e-9).rates_error.max()
