"""The Neumann series: closed forms, the full solution, and the inequalities of a positive operator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from models import problem_of

from fsl_num.functional import functional_scaling_law
from fsl_num.model import Model
from fsl_num.schedules import SCHEDULES, schedule
from fsl_num.spectrum import trace
from fsl_num.volterra import Problem, UnstableProblemError, solve
from fsl_num.volterra.neumann import neumann_series


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 8, "noise": 1.0, "gamma": 0.3, "horizon": 1e3}
    values |= changes
    return problem_of(**values)


def test_one_mode_has_closed_forms() -> None:
    problem = _problem(size=1, horizon=30.0, gamma=0.4)
    t = np.array([0.3, 2.0, 30.0])
    level, decay = problem.model.approximation_error + 1.0, np.exp(-2 * t)
    # half of T g and of T^2 g
    first = 0.2 * (level * (1 - decay) / 2 + t * decay)
    second = 0.08 * (level * (1 - decay - 2 * t * decay) / 4 + t**2 / 2 * decay)
    series = neumann_series(problem, t, terms=3)
    for found, exact in zip(series.terms, (first, second), strict=False):
        assert (np.abs(found - exact) <= series.error * series.partial_sums[-1]).all()
    assert series.error < 3e-12  # the rounding it claims, and twice that for the difference of two grids


@pytest.mark.parametrize("noise", [1.0, 0.0])
@pytest.mark.parametrize("s", [0.5, 2.0])
def test_partial_sums_reach_the_secular_equation_within_the_remainder(noise: float, s: float) -> None:
    problem = _problem(noise=noise, s=s, gamma=0.6)
    t = np.array([0.01, 1.0, 500.0, 1e3])
    exact = np.array([float(x) for x in solve(problem, t, digits=20).excess_risk])
    for terms in (2, 5, 12, 40):
        series = neumann_series(problem, t, terms=terms)
        missing = exact - series.partial_sums[-1]
        rounding = terms * series.error * exact  # each term has that error
        assert (missing >= -rounding).all() and (missing <= series.remainder + rounding).all()
    assert (series.remainder < 1e-13 * exact).all() and (rounding < 1e-9 * exact).all()


@examples(8)
@given(
    st.sampled_from(sorted(SCHEDULES)),
    st.floats(1.1, 4.0),
    st.floats(0.1, 3.0),
    st.sampled_from([1.0, 40.0, 1e6, math.inf]),
    st.floats(0.0, 6.0),
    st.floats(0.02, 0.8),
    st.sampled_from([0.0, 1e-4, 1.0]),
)
def test_inequalities_of_any_schedule(
    name: str, beta: float, s: float, size: float, log_time: float, stability: float, noise: float
) -> None:
    peak = 2 * stability / trace(beta, size)
    parameters = {"final": 1e-3 * peak, "decay_fraction": 0.1, "power": 0.7}
    known = SCHEDULES[name].__dataclass_fields__
    plan = schedule(
        name, peak=peak, steps=10.0**log_time / peak, **{key: x for key, x in parameters.items() if key in known}
    )
    problem = Problem(Model(s=s, beta=beta, size=size, noise=noise), gamma=plan)
    t = np.array([0.1, 0.7, 1.0]) * problem.end
    series = neumann_series(problem, t, terms=6)
    full = solve(problem, t)
    # In the supremum norm T shrinks by gamma_max tr(H)/2; 1e-9 is far above the rounding of the terms near their sup.
    assert (series.largest[1:] <= problem.stability * series.largest[:-1] * (1 + 1e-9)).all()
    # T is positive: T^(n+1) g <= r T^n g for the ratio r of any two terms before, so it may be taken as falling with n.
    assert (series.terms[1:] <= series.ratios[:, None] * series.terms[:-1] + 2 * series.error * full.excess_risk).all()
    r = series.contraction
    if r < 1:
        assert series.law_excess <= r / (1 - r) * (1 + 1e-9)
    law = series.partial_sums[1]
    slack = full.error + 6 * series.error * full.excess_risk
    assert (full.excess_risk - law <= (series.law_excess + series.law_excess_error) * series.terms[0] + slack).all()
    assert (full.excess_risk >= law - slack).all()


def test_the_first_partial_sum_is_the_functional_scaling_law() -> None:
    # The law's noise term injects e + sigma^2; the part of T g that delta drives is gamma-linear, so model_size = inf.
    plan = schedule("wsd", peak=0.3, final=0.003, steps=3000.0, decay_fraction=0.2)
    problem = _problem(gamma=plan, size=math.inf, horizon=None)
    series = neumann_series(problem, problem.end)
    law = functional_scaling_law(problem.model, plan)
    assert series.partial_sums[1, 0] == pytest.approx(law.total, abs=law.error + series.error * law.total)


def test_without_label_noise_the_pointwise_ratio_exceeds_the_norm() -> None:
    # g falls like t^-s, so T g and T^2 g are fed by a larger past: no bound by gamma tr(H)/2 at single times.
    series = neumann_series(_problem(size=math.inf, s=2.0, noise=0.0), 1e3)
    problem = _problem(size=math.inf, s=2.0, noise=0.0)
    assert series.contraction > 1.5 * problem.stability
    assert series.law_excess > problem.stability / (1 - problem.stability)
    noisy = neumann_series(_problem(size=math.inf, s=2.0), 1e3)
    assert noisy.contraction <= problem.stability


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: neumann_series(_problem(gamma=0.0), 1.0), ValueError, "gamma must be positive"),
        (lambda: neumann_series(_problem(gamma=2.0), 1.0), UnstableProblemError, "must be below 1"),
        (lambda: neumann_series(_problem(), 1.0, terms=1), ValueError, "terms"),
        (lambda: neumann_series(_problem(), 1e9), ValueError, "t must be finite and in"),
        (lambda: neumann_series(_problem(), []), ValueError, "at least one time"),
        (lambda: neumann_series(_problem(closure="gaussian"), 1.0), ValueError, "closure"),
    ],
)
def test_bad_input_is_refused_in_words(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
