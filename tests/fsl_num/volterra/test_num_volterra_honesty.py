"""No solver claims less than its true error: on the grid of problems, for both closures, and where a goal is missed.

By default the cheap part of the grid is judged, with HYPOTHESIS_PROFILE=nightly the whole.
"""

import os
import statistics
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import volterra_evidence as evidence
from conftest import chosen_profile
from models import loss_of, problem_of
from volterra_grid import KINDS, cases

from fsl_num.model import Model
from fsl_num.schedules import Discrete
from fsl_num.spectrum import approximation_error
from fsl_num.volterra import METHODS, Problem, UnstableProblemError

WHOLE = chosen_profile(os.environ) == "nightly"
JUDGED = [name for name in (*METHODS, "panels 1e-9") if name not in ("auto", "high_precision")]


def chosen(kind):
    """All problems of a kind, or those with few modes, or the few of them whose truth takes a fraction of a second."""
    grid = [case for case in cases() if case.kind == kind and (WHOLE or case.problem.model.size <= 7)]
    if WHOLE or kind == "constant":
        return grid if WHOLE else grid[::2]
    one = [case for case in grid if case.problem.model.size == 1 and len(case.problem.breaks) < 60]
    return sorted(one or grid, key=lambda case: case.problem.end)[: 2 if kind in ("exp-decay", "wsd") else 1]


@pytest.mark.parametrize("kind", KINDS)
def test_no_method_lies_about_its_error(kind, record_property):
    judged = [outcome for outcome in (evidence.verify(case, JUDGED) for case in chosen(kind)) if outcome.digits >= 30]
    ratios = [
        ratio
        for outcome in judged
        for name, answer in outcome.answers.items()
        if answer.errors is not None
        for ratio in outcome.ratios(name)
    ]
    record_property("true/claimed, median and maximum", (statistics.median(ratios), max(ratios)) if ratios else None)
    assert evidence.lies(judged) == []
    assert len(ratios) >= 8


@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_not_claimed_wildly(kind):
    case = next(case for case in cases() if case.kind == kind and case.problem.model.size <= 7)
    found = loss_of(case.problem, case.times)
    # 2e-12: stability 0.9 multiplies the rounding of 2e-13 by ten
    assert (found.error <= 2e-12 * found.values).all(), found.message


def exponential_of_moments(problem, digits=40):
    """The Gaussian closure at the end of a piecewise constant gamma: a product of matrix exponentials."""
    mp = mpmath.mp.clone()
    mp.dps = digits
    size = int(problem.model.size)
    rates = [mp.mpf(j) ** -mp.mpf(problem.model.beta) for j in range(1, size + 1)]
    delta = mp.mpf(approximation_error(problem.model.s, problem.model.beta, size, digits=digits))
    state = [mp.mpf(j) ** -(1 + mp.mpf(problem.model.s) * mp.mpf(problem.model.beta)) for j in range(1, size + 1)] + [
        mp.mpf(1)
    ]
    state = mp.matrix(state)
    plan = problem.gamma
    pieces = zip(plan.rates, plan.gammas, strict=True) if isinstance(plan, Discrete) else [(problem.end, plan)]
    for length, gamma in pieces:
        system = mp.matrix(size + 1, size + 1)
        for i, rate in enumerate(rates):
            for k in range(size):
                # x_i' = -2 l x_i + gamma l^2 (f + sigma^2) + gamma l^2 x_i, with f = delta + sum x
                system[i, k] = gamma * rate**2 + ((gamma * rate**2 - 2 * rate) if i == k else 0)
            system[i, size] = gamma * rate**2 * (delta + mp.mpf(problem.model.noise))
        state = mp.expm(system * mp.mpf(float(length)), method="taylor") * state
    return delta + sum(state[i] for i in range(size))


@pytest.mark.parametrize("gamma", [0.4, "steps"])
@pytest.mark.parametrize(("s", "beta", "size", "noise"), [(0.5, 2.0, 1, 1.0), (0.3, 1.3, 5, 0.0), (2.0, 4.0, 3, 9.0)])
def test_the_gaussian_closure_keeps_its_promise(gamma, s, beta, size, noise):
    given = {"gamma": 0.4, "horizon": 60.0}
    if gamma == "steps":
        rng = np.random.default_rng(5)
        given = {"gamma": Discrete(rates=rng.uniform(0.5, 4.0, 12), batch_sizes=rng.uniform(10.0, 20.0, 12))}
    problem = problem_of(s=s, beta=beta, size=size, noise=noise, closure="gaussian", **given)
    truth = exponential_of_moments(problem)
    for name in ("panels", "discrete"):
        if name not in METHODS or (name == "discrete" and gamma != "steps"):
            continue
        found = loss_of(problem, problem.end, method=name)
        # the exponent of the last step is a sum of floats, which moves the end by its rounding
        assert abs(found.values[0] - truth) <= found.error[0] + 1e-15 * truth, name
        assert found.values[0] == pytest.approx(float(truth), rel=evidence.GOAL)


def test_an_unstable_problem_is_refused_and_then_solved_honestly():
    problem = Problem(Model(s=0.5, beta=2.0, size=7, noise=1.0), gamma=1.5, horizon=30.0)
    with pytest.raises(UnstableProblemError, match=rf"= {problem.stability:.6g} must be below 1"):
        loss_of(problem, problem.end)
    truth = loss_of(problem, problem.end, method="constant", digits=30, allow_unstable=True).values[0]
    found = loss_of(problem, problem.end, allow_unstable=True)
    assert truth > 100.0 and abs(found.values[0] - truth) <= found.error[0]


def test_a_loss_that_hardly_stays_bounded_is_solved_honestly():
    peak = 2.0 * (1.0 - 1e-7) / sum(j**-2.0 for j in range(1, 8))
    problem = Problem(Model(s=0.5, beta=2.0, size=7, noise=1.0), gamma=peak, horizon=1e5)
    truth = loss_of(problem, [1.0, 1e5], method="constant", digits=30).values
    found = loss_of(problem, [1.0, 1e5], rtol=1e-13)
    assert all(abs(x - y) <= error for x, y, error in zip(found.values, truth, found.error, strict=True))


def hidden_jumps(t):
    """Twenty jumps between two values, none of them named to the solver."""
    return np.where((0.37 * np.asarray(t)) % 1.0 < 0.5, 0.5, 0.1)


def test_jumps_that_nobody_named_are_found():
    end = 27.0
    hidden = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=hidden_jumps, horizon=end)
    cuts = np.arange(0.5, 0.37 * end, 0.5) / 0.37
    named = Problem(
        Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=hidden_jumps, horizon=end, breaks=tuple(cuts.tolist())
    )
    truth = loss_of(named, end)
    assert "misses" not in truth.message
    found = loss_of(hidden, end)
    assert "misses" not in found.message
    assert abs(found.values[0] - truth.values[0]) <= found.error[0] < 1e-12 * found.values[0]


@pytest.mark.parametrize(
    "name",
    [
        "panels",
        "discrete",
    ],
)
def test_no_method_lies_at_the_end_of_a_long_step(name):
    case = next(case for case in cases() if case.kind == "discrete" and case.name.startswith("111"))
    ends = np.cumsum(case.problem.gamma.rates)
    at = replace(case, times=(*(float(t) for t in ends[[0, 8, 26]]), case.problem.end))
    at = replace(at, times=tuple(sorted({*at.times, float(np.unique(ends)[int(0.9 * (np.unique(ends).size - 1))])})))
    outcome = evidence.verify(at, [name])
    assert evidence.lies([outcome]) == []
