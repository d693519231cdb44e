"""What the gradient does with two solutions: when it stops, what it returns, and what it claims."""

from typing import Any

import numpy as np
import pytest

from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem, Spectrum, gradient
from fsl_num.volterra.gradient import final_loss_gradient
from fsl_num.volterra.steps.discrete import rounding_floor
from fsl_num.volterra.steps.step_rules import segments

RATES, BATCHES = np.array([0.3, 0.2, 0.1]), np.array([2.0, 4.0, 5.0])
PROBLEM = Problem(
    spectrum=Spectrum([1.0, 0.25], [1.0, 0.5], tail=0.125),
    noise=1.0,
    gamma=Discrete(rates=RATES, batch_sizes=BATCHES),
)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The solutions to be found, (slopes, integrals, value) each, then the plans with which they were asked for."""
    answers: list[Any] = []

    def scripted(system: Any, lengths: Any, gammas: Any, plan: Any) -> Any:
        asked.append(plan)
        return tuple(np.asarray(part) for part in answers[min(len(asked), len(answers)) - 1])

    asked: list[Any] = []
    monkeypatch.setattr(gradient, "_pass", scripted)
    answers.append(asked)
    return answers


def test_the_better_of_two_solutions_is_returned_with_their_difference(passes: list[Any]) -> None:
    asked = passes.pop()
    passes.append(([-0.2, -0.4, -0.8], [0.5, 1.0, 2.0], 7.0))
    passes.append(([-0.2, -0.4, -0.8001], [0.5, 1.0001, 2.0], 3.0))
    found = final_loss_gradient(PROBLEM, 1e-3)
    by_gamma = np.array([0.5, 1.0001, 2.0])
    by_rate = np.array([-0.2, -0.4, -0.8001]) + by_gamma / BATCHES
    assert found.gammas == pytest.approx(by_gamma, rel=1e-15) and found.rates == pytest.approx(by_rate, rel=1e-15)
    assert found.value == 3.0
    # rounding: of the largest component, for the rates also of the terms that the slopes are sums of
    floor = rounding_floor(3) / (1.0 - PROBLEM.stability)
    terms = float(by_gamma @ (RATES / BATCHES)) + 3.0
    of_rates = np.array([0.0, 2.5e-5, 1e-4]) + floor * (np.abs(by_rate).max() + terms)
    of_gammas = np.array([0.0, 1e-4, 0.0]) + floor * 2.0
    # differences of numbers about 1 are rounded by 2e-16, which the least of these claims shows
    assert found.rates_error == pytest.approx(of_rates, rel=1e-9, abs=4e-16)
    assert found.gammas_error == pytest.approx(of_gammas, rel=1e-9, abs=4e-16)
    assert found.rates_error[0] == pytest.approx(of_rates[0], rel=1e-9, abs=0.0)
    assert found.gammas_error[0] == pytest.approx(of_gammas[0], rel=1e-9, abs=0.0)
    assert found.message == f"{asked[-1][0].points} points a step, 2 modes"
    # a point more each time, from what an error of three tenths of the tolerance needs
    assert [plan[0].points for plan in asked] == [segments(RATES, 1.0 * 2.0, 3e-4, extra)[0].points for extra in (0, 1)]
    assert [(plan[0].low, plan[0].high) for plan in asked] == [(0, 3)] * 2


@pytest.mark.parametrize("which", ["rates", "gammas"])
@pytest.mark.parametrize(("miss", "solutions"), [(0.9e-3, 2), (1.1e-3, 3)])
def test_both_gradients_must_agree_to_the_tolerance_of_their_largest_component(
    passes: list[Any], which: str, miss: float, solutions: int
) -> None:
    asked = passes.pop()
    # neither gradient's scale is 1: slopes are -8 and more, integrals 4 and less
    slopes, integrals = np.array([-8.0, -4.0, -2.0]), np.array([4.0, 0.0, 0.0])
    largest = {"rates": 6.0, "gammas": 4.0}[which]
    first = np.array([0.0, miss * largest, 0.0])
    if which == "rates":
        passes.append((slopes + first, integrals, 1.0))
    else:
        # the slope takes back what the integral adds: by_rate is the same
        passes.append((slopes - first / BATCHES, integrals + first, 1.0))
    passes.append((slopes, integrals, 1.0))
    found = final_loss_gradient(PROBLEM, 1e-3)
    assert len(asked) == solutions and "misses" not in found.message


def test_a_tolerance_that_is_met_exactly_is_met(passes: list[Any]) -> None:
    asked = passes.pop()
    passes.append(([-4.0, -0.5, -0.25], [2.0, 1.0, 0.5], 1.0))
    passes.append(([-4.0, -0.5, -0.25], [2.0, 1.0, 0.5 + 2.0 * 2.0**-10], 1.0))
    assert "misses" not in final_loss_gradient(PROBLEM, 2.0**-10).message and len(asked) == 2


def test_solutions_that_never_agree_end_with_the_most_points_and_the_number(passes: list[Any]) -> None:
    asked = passes.pop()
    passes.extend(([-1.0, -0.5, -0.25], [2.0 + 0.5 * k, 1.0, 0.5], 1.0) for k in range(9))
    found = final_loss_gradient(PROBLEM, 1e-6)
    points = [plan[0].points for plan in asked]
    assert points == list(range(points[0], 9)) and points[-1] == 8
    last = 2.0 + 0.5 * (len(points) - 1)
    miss = max(0.5 / last, 0.25 / abs(-1.0 + last / 2.0))
    assert found.message == (f"8 points a step, 2 modes; the relative error estimate {miss:.2g} misses rtol = 1e-06")
    assert found.gammas_error[0] == pytest.approx(0.5, rel=1e-9)


def test_a_gradient_of_nothing_is_no_division_by_zero(passes: list[Any]) -> None:
    asked = passes.pop()
    passes.append(([0.0] * 3, [0.0] * 3, 0.0))
    found = final_loss_gradient(PROBLEM, 1e-6)
    assert len(asked) == 2 and not found.rates.any() and not found.gammas_error.any()


def test_steps_that_are_divided_have_one_slope_and_the_sum_of_their_integrals(passes: list[Any]) -> None:
    asked = passes.pop()
    plan = Discrete(rates=[0.3, 1.2, 0.0, 0.1], batch_sizes=[2.0, 4.0, 8.0, 5.0])
    problem = Problem(spectrum=PROBLEM.spectrum, noise=1.0, gamma=plan)
    # 1.2 is 2.4 of the fastest mode's times: three parts; a step of no length stays
    passes.append(([-1.0, -2.0, -2.0, -2.0, -3.0, -4.0], [0.1, 0.2, 0.3, 0.4, 0.0, 0.5], 1.0))
    found = final_loss_gradient(problem, 1e-6)
    assert asked[0][-1].high == 6
    assert found.gammas == pytest.approx(np.array([0.1, 0.9, 0.0, 0.5]), rel=1e-15)
    slopes = np.array([-1.0, -2.0, -3.0, -4.0])
    assert found.rates == pytest.approx(slopes + found.gammas / [2.0, 4.0, 8.0, 5.0], rel=1e-15)


@pytest.mark.parametrize("gamma", [0.5, 1.9, 1.9999, 2.5])
def test_rounding_is_raised_towards_the_edge_of_stability_a_thousand_times_at_most(
    passes: list[Any], gamma: float
) -> None:
    passes.pop()
    passes.append(([0.0], [2.0], 1.0))
    problem = Problem(
        spectrum=Spectrum([1.0], [1.0]), noise=1.0, gamma=Discrete(rates=[0.1], batch_sizes=[0.1 / gamma])
    )
    found = final_loss_gradient(problem, 1e-6)
    raised = 1.0 / max(1.0 - 0.5 * gamma, 1e-3)
    assert found.gammas_error[0] == pytest.approx(2.0 * rounding_floor(1) * raised, rel=1e-9, abs=0.0)


def test_which_tolerances_can_be_asked_for(passes: list[Any]) -> None:
    passes.pop()
    passes.append(([-1.0] * 3, [1.0] * 3, 1.0))
    for rtol in (1e-13, 0.999):
        final_loss_gradient(PROBLEM, rtol)
    for rtol in (0.99e-13, 1.0, 2.0):
        with pytest.raises(ValueError, match=rf"must lie in \[1e-13, 1\), got {rtol}"):
            final_loss_gradient(PROBLEM, rtol)


def test_the_modes_of_a_large_model_are_as_good_as_their_compression_says(passes: list[Any]) -> None:
    passes.pop()
    passes.append(([0.0] * 3, [2.0] * 3, 1.0))
    law = Problem(s=0.5, beta=2.0, model_size=10**5, noise=1.0, gamma=PROBLEM.gamma)
    from fsl_num.volterra.linear_modes import linear_modes

    system = linear_modes(law, 0.6)
    found = final_loss_gradient(law, 1e-6)
    claimed = 2.0 * (rounding_floor(3) + system.error) / (1.0 - law.stability)
    assert system.error > 0.0 and found.gammas_error[0] == pytest.approx(claimed, rel=1e-9, abs=0.0)
    assert found.message.endswith(f"{system.rates.size} modes")
