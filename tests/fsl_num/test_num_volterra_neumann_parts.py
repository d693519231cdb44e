"""The Neumann series part by part: one application of the operator, the error of two grids, and the rest."""

import math

import numpy as np
import pytest
from models import problem_of

from fsl_num.schedules import schedule
from fsl_num.volterra import neumann
from fsl_num.volterra.neumann import neumann_series
from fsl_num.volterra.panels import collocation_points, panel_ends


def _problem(**changes):
    values = {"s": 0.5, "beta": 2.0, "size": 3, "noise": 1.0, "gamma": 0.3, "horizon": 30.0}
    return problem_of(**(values | changes))


def test_each_term_is_the_operator_applied_to_the_one_before():
    """(T^n g)' mode by mode: y_k' = -2 lambda_k y_k + lambda_k^2 gamma T^(n-1) g, by fine trapezoids."""
    plan = schedule("linear", peak=0.4, steps=30.0, final=0.1)
    problem = _problem(gamma=plan, horizon=None)
    t = np.linspace(0.0, problem.end, 60001)
    lam = np.arange(1.0, 4.0) ** -2.0
    # gamma^2 is linear in intrinsic time for the linear schedule
    gamma = np.sqrt(0.4**2 + (0.1**2 - 0.4**2) * t / problem.end)
    before = (
        problem.model.approximation_error + (lam**1.0 * np.exp(-2.0 * np.multiply.outer(t, lam))) @ np.ones(3) + 1.0
    )
    ends, remaining = panel_ends(problem, np.array([problem.end]), 1.35)
    found = neumann._apply(problem, ends, remaining, 3)
    _, points, _ = collocation_points(problem, ends, remaining)
    for n in range(3):
        driven = gamma * before
        total = np.zeros(t.size)
        for x in lam.tolist():
            decay = math.exp(-2.0 * x * t[1])
            pieces = np.concatenate([[0.0], 0.5 * t[1] * (driven[1:] + decay * driven[:-1])])
            # y_(i+1) = decay y_i + piece, summed by powers that stay in range
            y = np.empty(t.size)
            state = 0.0
            for i, piece in enumerate(pieces.tolist()):
                state = decay * state + piece
                y[i] = state
            total += x**2 * y
        # the trapezoids are good to (2 t_1)^2/12 = 1e-8 relative, the inner points of a panel to order 7
        assert found[n, :, -1] == pytest.approx(np.interp(points[:, -1], t, total), rel=1e-5, abs=1e-7)
        before = total


def test_the_error_is_the_largest_difference_of_two_grids_relative_to_the_loss(monkeypatch):
    problem = _problem()
    t = np.array([0.5, 30.0])
    exact = neumann_series(problem, t, terms=4)
    loss = exact.forcing + exact.terms.sum(axis=0)
    calls, apply = [], neumann._apply

    def disturbed(*given):
        calls.append(given[1].size)
        return apply(*given) * (1.0 + 10.0 ** -len(calls))

    monkeypatch.setattr(neumann, "_apply", disturbed)
    found = neumann_series(problem, t, terms=4)
    # each time twice as many panels, four times at most
    assert len(calls) == 4 and all(b == 2 * a - 1 for a, b in zip(calls[:-1], calls[1:], strict=True))
    assert found.error == pytest.approx((9e-4 * exact.terms / loss).max(), rel=1e-3, abs=0.0)
    assert found.terms == pytest.approx(exact.terms * 1.0001, rel=1e-9, abs=0.0)
    # undisturbed, the second grid agrees with the first
    calls.clear()
    monkeypatch.setattr(neumann, "_apply", lambda *given: calls.append(1) or apply(*given))
    assert neumann_series(problem, t, terms=4).error <= 2e-12 and len(calls) <= 3


@pytest.mark.parametrize("terms", [2, 3, 5])
def test_the_rest_of_the_law_is_a_geometric_series(terms):
    problem = _problem(noise=0.0, s=2.0, size=math.inf, horizon=1e3)
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


def test_a_ratio_of_one_bounds_nothing():
    assert neumann._geometric(1.0) == math.inf and neumann._geometric(0.5) == 1.0


def test_terms_that_underflow_are_refused_and_times_just_beyond_the_end_are_the_end():
    with pytest.raises(ValueError, match="12 terms underflow"):
        neumann_series(_problem(gamma=1e-40), 1.0)
    found = neumann_series(_problem(), [30.0 * (1.0 + 5e-13), 2.0, 2.0])
    assert found.t.tolist() == [2.0, 30.0]
    assert neumann_series(_problem(), 30.0, terms=2).terms.shape == (2, 1)
    with pytest.raises(ValueError, match="t must be finite and in"):
        neumann_series(_problem(), 30.0 * (1.0 + 2e-12))
