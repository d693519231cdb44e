"""Few modes at many digits: against full sums, and the solutions with them against three other methods."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from models import loss_of, problem_of

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.schedules import Discrete, schedule
from fsl_num.spectrum import exponential_sum
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits.high_precision import solve_high_precision
from fsl_num.volterra.digits.laplace import solve_laplace
from fsl_num.volterra.digits.modes import DigitModes, few_modes

MP = private_context(90)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": math.inf, "noise": 0.5, "gamma": 0.3}
    return problem_of(**(values | {"horizon": 2.0**14} | changes))


def _sums(modes: DigitModes, tau: Any, growth: Any = 0) -> tuple[Any, Any]:
    decays = [MP.exp(-2 * x * tau + x**2 * growth) for x in map(MP.mpf, modes.eigenvalues)]
    return MP.fdot(modes.signals, decays), MP.fdot(modes.kernel, decays)


@pytest.mark.parametrize(
    ("case", "digits", "most"),
    [
        ({"beta": 1.2, "horizon": 2.0**16}, 16, 150),  # with blocks
        ({"beta": Fraction(21, 20), "s": Fraction(1, 20), "horizon": 10.0}, 30, 60),
        ({"beta": 6.0, "s": 3.0}, 40, 30),
        ({"beta": 1.5, "size": 600, "s": 2.0, "horizon": 1e6}, 16, 150),  # long after the last mode settled
        ({"beta": 1.2, "size": 101, "horizon": 1e4}, 60, 101),  # nothing to be saved, nor in a block
    ],
)
def test_the_sums_are_the_full_sums_within_the_bound(case: dict[str, Any], digits: int, most: int) -> None:
    problem = _problem(**case)
    modes = few_modes(problem, digits, 0.3)
    assert len(modes.eigenvalues) <= most and min(modes.kernel) >= 0 and min(modes.signals) >= 0
    # what was asked for, and ten pieces at most
    assert max(modes.signal_error, modes.kernel_error) <= 10 * MP.mpf(10) ** -digits
    s, beta = problem.number("s", MP), problem.number("beta", MP)
    rounding = MP.mpf(10) ** -(digits + 8)  # the numbers have ten digits more
    for share in (0, 1e-4, 0.02, 0.3, 1):
        t = MP.mpf(share) * MP.mpf(problem.end)
        signal, kernel = _sums(modes, t)
        full = [MP.mpf(exponential_sum(q, t, beta, problem.model.size, digits=digits + 15)) for q in _powers(s, beta)]
        assert abs(signal - full[0]) <= modes.signal_error + rounding * full[0]
        # K falls, and so does its error but for one that grows to the end
        assert abs(kernel - full[1]) * MP.mpf(problem.end) <= 2 * digits * modes.kernel_error + 1e9 * rounding


def _powers(s: Any, beta: Any) -> tuple[Any, Any]:
    return 1 + s * beta, 2 * beta


@pytest.mark.parametrize(
    ("case", "digits"),
    [
        ({"horizon": 12.0, "closure": "gaussian", "gamma": 0.7}, 16),
        ({"horizon": 2.0, "gamma": 2.5, "closure": "gaussian"}, 16),
        ({"horizon": 4.0, "gamma": 2.5, "s": 1.5}, 16),  # unstable: no bound, the two rounds have other modes
    ],
)
def test_constant_gamma_agrees_with_the_contour(case: dict[str, Any], digits: int) -> None:
    pytest.importorskip("flint")
    problem = _problem(**case)
    t = [0.1 * problem.end, problem.end]
    exact, sharp, _ = solve_laplace(problem, t, digits + 6)
    values, errors, facts = solve_high_precision(problem, t, digits)
    assert facts["digits reached"] == digits
    for value, error, truth, bound in zip(values, errors, exact, sharp, strict=True):
        assert abs(MP.mpf(value) - truth) <= error + bound < MP.mpf(10) ** (1 - digits) * truth


def test_a_spectrum_has_its_own_modes() -> None:
    problem = Problem(Model(noise=0.0, spectrum=Spectrum([1.0], [1.0])), gamma=0.1, horizon=1.0)
    with pytest.raises(ValueError, match="a spectrum was given"):
        few_modes(problem, 20, 0.1)


def test_a_schedule_agrees_with_the_enclosure() -> None:
    pytest.importorskip("flint")
    plan = schedule("wsd", peak=0.4, steps=60.0, final=0.01, decay_fraction=0.3)
    problem = _problem(gamma=plan, horizon=None, beta=1.5)
    t = [0.5 * problem.end, problem.end]
    proven = loss_of(problem, t, method="enclosure", digits=24)
    found = loss_of(problem, t, method="high_precision", digits=20)
    assert found.modes < 100
    for value, error, truth, radius in zip(found.values, found.error, proven.values, proven.error, strict=True):
        assert abs(MP.mpf(value) - truth) <= error + radius < MP.mpf(10) ** -19 * truth


def test_few_modes_solve_as_all_modes_do() -> None:
    pytest.importorskip("flint")
    steps = Discrete(rates=[0.5, 1.0, 0.25], batch_sizes=[1.0, 2.0, 1.0])
    problem = _problem(beta=1.5, size=1000, horizon=None, closure="gaussian", gamma=steps)
    rates, signals = ([j**-power for j in range(1, 1001)] for power in (1.5, 1.75))
    written_out = replace(
        problem, model=Model(noise=0.5, spectrum=Spectrum(rates, signals, problem.model.approximation_error))
    )
    times = [0.3 * problem.end, problem.end]
    few, errors, facts = solve_high_precision(problem, times, 15)
    every, errors_of_all, whole = solve_high_precision(written_out, times, 15)
    assert whole["modes"] == 1000 > 2 * facts["modes"]
    for a, b, c, d in zip(few, every, errors, errors_of_all, strict=True):
        assert c + d < MP.mpf(10) ** -13.5 * b
        # rates and weights are rounded to 2^-53 of themselves, of which 2 lambda t <= 4 makes four times as much
        assert abs(MP.mpf(a) - b) <= c + d + 5 * MP.mpf(2) ** -53 * b
