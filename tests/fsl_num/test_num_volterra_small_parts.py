"""The series of Neumann, term by term."""

from dataclasses import replace

import numpy as np
import pytest

from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum, neumann

SMALL = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=0.3, horizon=20.0)


def test_the_series_is_refined_until_two_solutions_agree(monkeypatch):
    calls, right = [], neumann._apply
    monkeypatch.setattr(neumann, "_apply", lambda *given: calls.append(given[1].size) or right(*given))
    found = neumann.neumann_series(SMALL, [1.0, 20.0], terms=3)
    assert len(calls) == 3 and calls[1:] == [2 * calls[0] - 1, 4 * calls[0] - 3]
    assert found.error <= 2e-12
    with pytest.raises(ValueError, match="at least one time"):
        neumann.neumann_series(SMALL, [])
    with pytest.raises(ValueError, match="gamma must be positive"):
        neumann.neumann_series(replace(SMALL, gamma=0.0), 1.0)
    with pytest.raises(ValueError, match="closure 'volterra'"):
        neumann.neumann_series(replace(SMALL, closure="gaussian"), 1.0)


def test_terms_of_the_series_for_one_mode():
    # T^n of the constant delta + sigma^2 = 2, halved: int K gamma, and int K gamma of that
    problem = Problem(Model(noise=1.5, spectrum=Spectrum([1.0], [0.0], 0.5)), gamma=0.3, horizon=4.0)
    found = neumann.neumann_series(problem, [0.5, 4.0], terms=3)
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
    rest = found.ratios[1] / (1.0 - found.ratios[1])
    assert found.remainder == pytest.approx(third * rest, rel=1e-9, abs=0.0)
    assert found.law_excess == pytest.approx((second + third)[1] / first[1], rel=1e-9, abs=0.0)
    assert found.law_excess_error == pytest.approx(third[1] / first[1] * rest, rel=1e-9, abs=0.0)
