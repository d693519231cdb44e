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
from fsl_num.volterra import Problem, Spectrum, UnstableProblemError, solve
from fsl_num.volterra.neumann import neumann_series


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 8, "noise": 1.0, "gamma": 0.3, "horizon": 1e3}
    values |= changes
    return problem_of(**values)


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


def of_three_modes(**changes):
    return _problem(**({"size": 3, "horizon": 30.0} | changes))


@pytest.mark.parametrize("terms", [2, 3, 5])
def test_the_rest_of_the_law_is_a_geometric_series(terms):
    problem = of_three_modes(noise=0.0, s=2.0, size=math.inf, horizon=1e3)
    found = neumann_series(problem, 1e3, terms=terms)
    last = float(found.ratios[-1])
    share = last / (1.0 - last)
    ends = found.terms[:, -1]
    # a supremum of a product is at most the product of the suprema, and at least what it is at the end
    assert ends[-1] / ends[0] * share <= found.law_excess_error * (1.0 + 1e-9)
    assert found.law_excess_error <= np.prod(found.ratios) * share * (1.0 + 1e-9)
    many = neumann_series(problem, 1e3, terms=60)
    assert many.law_excess_error < 1e-9
    assert found.law_excess <= many.law_excess * (1.0 + 1e-9) <= found.law_excess + found.law_excess_error
    assert found.law_excess >= ends[1:].sum() / ends[0] * (1.0 - 1e-9)
    assert found.remainder == pytest.approx(ends[-1] * share, rel=1e-12, abs=0.0)
    assert found.partial_sums.shape == (terms + 1, 1)
    assert found.partial_sums[-1, 0] - found.partial_sums[0, 0] == pytest.approx(ends.sum(), rel=1e-12, abs=0.0)


def test_terms_that_underflow_are_refused_and_times_just_beyond_the_end_are_the_end():
    with pytest.raises(ValueError, match="12 terms underflow"):
        neumann_series(of_three_modes(gamma=1e-40), 1.0)
    found = neumann_series(of_three_modes(), [30.0 * (1.0 + 5e-13), 2.0, 2.0])
    assert found.t.tolist() == [2.0, 30.0]
    assert neumann_series(of_three_modes(), 30.0, terms=2).terms.shape == (2, 1)
    with pytest.raises(ValueError, match="t must be finite and in"):
        neumann_series(of_three_modes(), 30.0 * (1.0 + 2e-12))


def test_terms_of_the_series_for_one_mode():
    # T^n of the constant delta + sigma^2 = 2, halved: int K gamma, and int K gamma of that
    problem = Problem(Model(noise=1.5, spectrum=Spectrum([1.0], [0.0], 0.5)), gamma=0.3, horizon=4.0)
    found = neumann_series(problem, [0.5, 4.0], terms=3)
    x = 2.0 * np.array([0.5, 4.0])
    first = 0.15 * (1.0 - np.exp(-x))
    second = 0.15**2 * (1.0 - np.exp(-x) * (1.0 + x))
    third = 0.15**3 * (1.0 - np.exp(-x) * (1.0 + x + 0.5 * x**2))
    assert found.terms == pytest.approx(np.array([first, second, third]), abs=1e-12)  # the error of a term
    sums = 0.25 + np.cumsum([0.0 * x, first, second, third], axis=0)
    assert found.partial_sums == pytest.approx(sums, abs=5e-12)
    # the ratios rise with t: the largest are those at the end
    assert found.contraction == pytest.approx(second[1] / first[1], rel=1e-10, abs=0.0)
    assert found.ratios[1] == pytest.approx(third[1] / second[1], rel=1e-10, abs=0.0)
    assert found.largest == pytest.approx([first[1], second[1], third[1]], rel=1e-10, abs=0.0)
    factor = found.ratios[1] / (1.0 - found.ratios[1])
    assert found.remainder == pytest.approx(third * factor, rel=1e-9, abs=0.0)
    assert found.law_excess == pytest.approx((second + third)[1] / first[1], rel=1e-9, abs=0.0)
    assert found.law_excess_error == pytest.approx(third[1] / first[1] * factor, rel=1e-9, abs=0.0)
