"""Proven bounds: they hold the secular equation at many more digits, and the whole sum at the start."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from models import problem_of

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.schedules import Discrete, schedule
from fsl_num.spectrum import exponential_sum
from fsl_num.volterra import Problem, Spectrum, UnstableProblemError
from fsl_num.volterra.digits.constant import solve_constant
from fsl_num.volterra.digits.laplace import solve_laplace
from fsl_num.volterra.enclosure.solver import solve_enclosure

pytest.importorskip("flint")
MP = private_context(110)
WSD = schedule("wsd", peak=0.4, final=0.01, steps=30.0, decay_fraction=0.3)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 4, "noise": 1.0, "gamma": 0.3, "horizon": 100.0}
    values |= changes
    return problem_of(**values)


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"size": 1, "noise": 0.0},
        {"s": 0.1, "beta": 1.1, "size": 15, "noise": 1e-6, "gamma": 0.15, "horizon": 1e5},
        {"gamma": Fraction(1, 3), "s": Fraction(1, 3)},
        {"gamma": 0.5, "horizon": 7.0, "closure": "gaussian"},
    ],
)
def test_the_balls_hold_another_method_at_a_hundred_digits(case: dict[str, Any]) -> None:
    problem = _problem(**case)
    t = [0, 0.01 * problem.end, problem.end]
    values, radii, _ = solve_enclosure(problem, t, 40)
    found = solve_constant(problem, t, 100)
    truth = found[0] if isinstance(found, tuple) else found
    for value, radius, exact in zip(values, radii, truth, strict=True):
        # the truth's own rounding, 1e-100, is far below the radii, about 1e-65
        assert 0 < radius < MP.mpf(10) ** -40 * exact
        assert abs(MP.mpf(value) - exact) <= radius


def test_at_the_start_the_residues_add_up_to_the_whole_sum() -> None:
    problem = _problem(size=60, beta=1.5)
    values, radii, facts = solve_enclosure(problem, [0], 30)
    beta = MP.mpf(1.5)
    whole = exponential_sum(1 + MP.mpf(0.5) * beta, 0, beta, digits=80)
    assert abs(MP.mpf(values[0]) - whole) <= radii[0]
    assert facts["modes"] == 60


def test_the_laplace_side_lies_within_both_errors() -> None:
    problem = _problem(size=30, horizon=1e4)
    values, radii, _ = solve_enclosure(problem, [1e4], 30)
    by_contour, errors, _ = solve_laplace(problem, [1e4], 30)
    assert abs(MP.mpf(values[0]) - by_contour[0]) <= radii[0] + errors[0]


def test_a_time_that_is_a_fraction_is_that_time() -> None:
    third = Fraction(100, 3)
    values, radii, _ = solve_enclosure(_problem(), [third, float(third)], 30)
    exact = solve_constant(_problem(), [MP.mpf(100) / 3], 60)[0][0]
    assert abs(MP.mpf(values[0]) - exact) <= radii[0] < abs(values[0] - values[1])


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_a_given_spectrum_with_equal_rates(closure: str) -> None:
    spectrum = Spectrum(rates=[1.0, 0.1, 0.1, 1e-3, 0.1], weights_signal=[0.5, 0.0, 0.2, 0.3, 0.1], tail=0.01)
    problem = Problem(Model(noise=0.5, spectrum=spectrum), gamma=0.4, horizon=1e3, closure=closure)
    t = [0.0, 3.0, 1e3]
    values, radii, facts = solve_enclosure(problem, t, 30)
    truth = solve_constant(problem, t, 70)[0]
    assert facts["modes"] == 3 and facts["digits reached"] == 30
    for value, radius, exact in zip(values, radii, truth, strict=True):
        assert abs(MP.mpf(value) - exact) <= radius < MP.mpf(10) ** -30 * exact


@pytest.mark.parametrize(
    ("change", "t", "error", "text"),
    [
        ({"gamma": lambda t: 0.1 + 0 * t}, 1.0, ValueError, "piecewise polynomial in intrinsic time: a number, the"),
        ({"gamma": schedule("cosine", peak=0.1, steps=9.0), "horizon": None}, 1.0, ValueError, "got Cosine"),
        ({"gamma": WSD, "horizon": None, "closure": "gaussian"}, 1.0, ValueError, "constant gamma > 0 and at most 400"),
        ({"size": math.inf, "closure": "gaussian"}, 1.0, ValueError, "at most 400 modes"),
        ({"size": math.inf, "beta": 1.05, "gamma": 0.01, "horizon": 1e9}, 1.0, ValueError, "modes one by one"),
        ({"size": math.inf}, 101.0, ValueError, "times must lie"),
        ({"gamma": WSD, "horizon": None}, 101.0, ValueError, "times must lie"),
        ({"gamma": 3.0}, 1.0, UnstableProblemError, "must be below 1"),
        ({}, -1.0, ValueError, "at least 0"),
        ({}, math.inf, ValueError, "at least 0"),
    ],
)
def test_what_it_cannot_do_is_said(change: dict[str, Any], t: float, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        solve_enclosure(_problem(**change), [t], 20)


def test_too_many_digits_for_panels_are_refused() -> None:
    with pytest.raises(ValueError, match="digits must be at most 100"):
        solve_enclosure(_problem(gamma=WSD, horizon=None), [1.0], 101)
    assert solve_enclosure(_problem(), [1.0], 101)[2]["digits reached"] == 101


def test_without_the_extra_its_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(ModuleNotFoundError, match="`rigor`"):
        solve_enclosure(_problem(), [1.0], 20)


def test_more_pieces_of_gamma_than_are_followed_are_refused() -> None:
    steps = Discrete(rates=np.linspace(0.1, 0.2, 10_001))
    with pytest.raises(ValueError, match="at most 10000 pieces of gamma, got 10001"):
        solve_enclosure(_problem(gamma=steps, horizon=None), [1.0], 20)


def test_times_beyond_the_end_by_a_rounding_are_the_end() -> None:
    problem = _problem(size=1, gamma=WSD, horizon=None)
    end = problem.end
    found, radii, facts = solve_enclosure(problem, [0.0, end, end * (1.0 + 5e-13)], 15)
    assert found[1] == found[2] != found[0] and facts["evaluations"] == facts["stages"] * facts["panels"]
    assert facts["modes"] == 1 and max(r / v for r, v in zip(radii, found, strict=True)) <= 1e-15
    for late in (end * (1.0 + 3e-12), 2.0 * end):
        with pytest.raises(ValueError, match="times must lie in"):
            solve_enclosure(problem, [late], 15)
    for bad in (-1e-30, math.inf, math.nan):
        with pytest.raises(ValueError, match="times must be finite and at least 0"):
            solve_enclosure(problem, [bad], 15)
    function = _problem(size=401, horizon=2.0)
    with pytest.raises(ValueError, match="times must lie in"):
        solve_enclosure(function, [2.0 * (1.0 + 5e-13)], 15)
