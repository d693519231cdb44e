"""The Laplace side against direct sums, the secular equation, the panels and itself."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from models import problem_of

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.schedules import Constant, schedule
from fsl_num.spectrum import signal
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits.constant import solve_constant
from fsl_num.volterra.digits.laplace import not_learned, solve_laplace
from fsl_num.volterra.digits.laplace_sums import TransferSums

MP = private_context(40)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": math.inf, "noise": 1.0, "gamma": 0.3, "horizon": 1e6}
    return problem_of(**{**values, **changes})


@pytest.mark.parametrize(
    ("gamma", "p"), [("0.9", 3 + 1j), ("1e-12", 1e-3 + 1e-4j), ("1.5", -0.01 + 0.0002j), ("0.3", -1.2 + 0.5j)]
)
def test_sums_of_the_gaussian_closure_are_the_direct_ones(p: complex, gamma: str) -> None:
    # 3000 terms, more than are summed directly, and some more by hand
    own, p_ = MP.mpf(gamma), MP.mpc(p)
    problems = [_problem(size=size, beta=1.7, s=0.6, closure="gaussian") for size in (3000, 3040)]
    first, later = (TransferSums(MP, problem, own).at(p_) for problem in problems)
    beta, s = MP.mpf(1.7), MP.mpf(0.6)
    for k, q in enumerate((2 * beta, 1 + s * beta)):
        terms = [(MP.mpf(j) ** -beta, MP.mpf(j) ** -q) for j in range(1, 3041)]
        between = MP.fsum(w / (p_ + 2 * x - own * x**2) for x, w in terms[3000:])
        whole = MP.fsum(w / (p_ + 2 * x - own * x**2) for x, w in terms)
        # 40 digits, less a factor 1000 for the rounding of integrals and sums that nearly cancel
        assert abs(later[k] - first[k] - between) < MP.mpf(10) ** -37 * abs(whole)
        assert abs(later[k] - whole) < MP.mpf(10) ** -37 * abs(whole)


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
@pytest.mark.parametrize(
    ("case", "digits"),
    [
        ({"size": 5, "horizon": Fraction(81, 2)}, 15),
        ({"size": 1, "gamma": 2.5, "horizon": 20.0}, 20),  # grows in both closures
        ({"size": 3, "gamma": 1.2, "horizon": 1e3, "noise": 0.0}, 20),  # unstable in one
        ({"size": 15, "s": 0.1, "beta": 1.1, "gamma": 0.15}, 30),
        ({"size": 4, "gamma": Constant(peak=0.6, steps=100.0, batch_size=2.0), "horizon": None}, 35),
    ],
)
def test_both_closures_stable_or_not_are_the_secular_equation(closure: str, case: dict[str, Any], digits: int) -> None:
    problem = _problem(**case, closure=closure)
    t = [0.0, Fraction(problem.end) / 300, problem.end]
    exact, bounds, _ = solve_constant(problem, t, digits + 10)
    values, errors, _ = solve_laplace(problem, t, digits)
    for value, error, truth, bound in zip(values, errors, exact, bounds, strict=True):
        # both numbers are rounded to their digits, the difference is taken at the digits of the sharper
        assert abs(MP.mpf(value) - truth) <= error + bound <= MP.mpf(10) ** (2 - digits) * truth


def test_an_infinite_model_without_noise_injection_is_the_signal_to_43_digits() -> None:
    # gamma = 0 leaves e(t), which Euler-Maclaurin sums at real arguments give by another road
    values, errors, _ = solve_laplace(_problem(gamma=0.0), [1000], 43)
    assert abs(values[0] - signal(1000, 0.5, 2.0, digits=60)) <= errors[0] < MP.mpf(10) ** -42 * values[0]


def test_a_huge_model_tends_to_the_infinite_one() -> None:
    # delta + e do not depend on M at t = 0, and K loses j^-4 beyond 1e12: 1e-36 (both sides are rounded to 30 digits)
    huge, infinite = (solve_laplace(_problem(size=size), [100.0], 30)[0][0] for size in (1e12, math.inf))
    assert abs(huge / infinite - 1) < MP.mpf(10) ** -28


@pytest.mark.parametrize("size", [7, 10**5 - 1, 10**6, 10**15])
def test_the_approximation_error_of_any_size(size: int) -> None:
    problem = _problem(size=size, s=0.7, beta=1.6)
    value = float(not_learned(MP, problem))
    assert value == pytest.approx(
        problem.model.approximation_error, rel=1e-13
    )  # what the float sums claim (spectrum: about 1e-14)


def test_what_it_cannot_do_is_said() -> None:
    with pytest.raises(ValueError, match="needs a constant gamma"):
        solve_laplace(_problem(gamma=schedule("cosine", peak=0.1, steps=10.0), horizon=None), [1.0], 20)
    for bad in (-1e-30, math.inf, math.nan):
        with pytest.raises(ValueError, match="times must be finite and at least 0"):
            solve_laplace(_problem(size=1), [bad], 12)
    assert solve_laplace(_problem(size=1), [1.0], 10)[0][0] > 0
    with pytest.raises(ValueError, match="digits"):
        solve_laplace(_problem(size=1), [1.0], 9)


def test_the_start_is_the_whole_sum_and_facts_are_counted() -> None:
    start, error, _ = solve_laplace(_problem(size=3), [0.0], 35)
    assert abs(start[0] - MP.zeta(2)) <= error[0] <= MP.mpf(10) ** -34  # 1 + s beta = 2
    problem = Problem(Model(noise=0.0, spectrum=Spectrum([1.0, 0.5], [0.25, 0.5], tail=0.125)), gamma=0.1, horizon=9.0)
    values, errors, facts = solve_laplace(problem, [0.0, 1.0, 9.0], 15)
    assert values[0] == MP.mpf("0.875") and 0 < errors[0] <= MP.mpf(10) ** -15
    points = facts["contour points"]
    assert points % 2 == 0 and facts["working digits"] > 15 + 15 and facts["evaluations"] % 2 == 0
    # two contours of 0.59 digits a point, seventeen digits and 1.2 times as many; half of the points by symmetry
    coarse = 2 * math.ceil(17.0 / 0.5898 / 2.0) + 2
    assert coarse <= points / 1.2 + 2 and points <= 1.2 * coarse + 2
    assert facts["evaluations"] == coarse + points


def test_what_is_not_learned() -> None:
    problem = Problem(Model(noise=0.0, spectrum=Spectrum([1.0, 0.5], [0.25, 0.5], tail=0.125)), gamma=0.1, horizon=9.0)
    assert not_learned(MP, problem) == MP.mpf("0.125")
    assert not_learned(MP, _problem(size=math.inf)) == 0
    assert abs(not_learned(MP, _problem(size=2)) - (MP.zeta(2) - MP.mpf(5) / 4)) < MP.mpf(10) ** -38


def test_digits_of_a_loss_that_has_fallen_by_fifty_orders():
    problem = problem_of(s=6.0, beta=4.0, size=101, noise=0.0, gamma=0.3, horizon=1e11)
    values, errors, _ = solve_laplace(problem, [1e11], 30)
    truth, _, _ = solve_constant(problem, [1e11], 30)
    assert errors[0] < 1e-29 * values[0]
    assert abs(values[0] - truth[0]) <= 2 * errors[0]
    # one contour of thirty digits has an error of some 1e-46, on a loss of 3e-50
    assert values[0] < 1e-49
