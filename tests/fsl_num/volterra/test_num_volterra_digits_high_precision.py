"""Any gamma at many digits: against the secular equation, integrating factors, and itself at more digits."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from models import loss_of, problem_of
from volterra_exponential import exact_losses

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.schedules import Constant, Discrete, schedule
from fsl_num.spectrum import approximation_error
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits.gamma import exact_gamma
from fsl_num.volterra.digits.high_precision import solve_high_precision
from fsl_num.volterra.radau import radau_table

MP = private_context(60)


class Halving(Constant):
    """A schedule of one's own, of which only floats are known."""

    def _rate(self, remaining: Any) -> Any:
        return 0.5 * self.peak * (1.0 + remaining / self.steps)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 1.6, "size": 4, "noise": 0.5, "gamma": 0.3, "horizon": 100.0}
    values |= changes
    return problem_of(**values)


LONG = Problem(
    Model(noise=0.5, spectrum=Spectrum([1.0] * 2001, [1.0] * 2001)), gamma=lambda t: 1e-4 / (1 + t), horizon=9.0
)


@pytest.mark.parametrize("stages", [1, 2, 16])
def test_collocation_integrates_polynomials_at_its_nodes(stages: int) -> None:
    mp = private_context(50 + stages // 2)  # what products of the table lose
    table = radau_table(stages, mp.dps)
    for k in range(stages):
        powers = [x**k for x in table.nodes]
        weights = [z * mp.fdot(row, powers) for z, row in zip(table.eigenvalues, table.inverse, strict=True)]
        for x, row in zip(table.nodes, table.vectors, strict=True):
            assert abs(mp.fdot(row, weights).real - x ** (k + 1) / (k + 1)) < mp.mpf(10) ** -48
    # the last row integrates over the whole panel, exactly up to degree 2 s - 2 and no further
    last = table.vectors[-1]
    for k in (2 * stages - 2, 2 * stages - 1):
        sums = [
            z * mp.fdot(row, [x**k for x in table.nodes])
            for z, row in zip(table.eigenvalues, table.inverse, strict=True)
        ]
        miss = abs(mp.fdot(last, sums).real * (k + 1) - 1)
        assert (miss < mp.mpf(10) ** -48) == (k == 2 * stages - 2)


def _one_mode(plan: Any, rate: Any, left: Any) -> Any:
    """f(T) for M = 1 by the integrating factor, from phi(rho) and its antiderivatives, rho steps before the end.

    ``left`` = -2 T + int gamma dT over the last rho steps for the equation of the paper, where the mode feeds itself
    through f; for the Gaussian closure it does so twice.
    """
    delta = MP.mpf(approximation_error(0.5, 1.6, 1, digits=60))
    injected = MP.quad(
        lambda rho: MP.exp(left(rho)) * rate(rho) ** 2,
        [0, *(plan.steps * MP.mpf(0.5) ** k for k in range(7, -1, -1))],
        method="gauss-legendre",
    )
    return delta + MP.exp(left(MP.mpf(plan.steps))) + (delta + MP.mpf(0.5)) * injected


@pytest.mark.parametrize(
    ("name", "closure"), [("linear", "volterra"), ("power-decay", "gaussian"), ("cosine", "gaussian")]
)
def test_one_mode_of_both_closures_is_the_integrating_factor(name: str, closure: str) -> None:
    pytest.importorskip("flint")  # mpmath gives the same numbers (above), in some seconds
    a, steps, fed, power = MP.mpf(0.5), MP.mpf(40), (2 if closure == "gaussian" else 1), (1 if name == "linear" else 2)
    plan = schedule(name, peak=0.5, steps=40.0, **({"power": 2.0} if name == "power-decay" else {}))

    def rate(rho: Any) -> Any:
        return a * (MP.sin(MP.pi * rho / (2 * steps)) ** 2 if name == "cosine" else (rho / steps) ** power)

    def left(rho: Any) -> Any:
        u, x = MP.pi * rho / (2 * steps), rho / steps
        if name == "cosine":
            squares, fourths = u / 2 - MP.sin(2 * u) / 4, 3 * u / 8 - MP.sin(2 * u) / 4 + MP.sin(4 * u) / 32
            return 2 * steps / MP.pi * (-2 * a * squares + fed * a**2 * fourths)
        once, twice = power + 1, 2 * power + 1
        return -2 * a * steps * x**once / once + fed * a**2 * steps * x**twice / twice

    exact = _one_mode(plan, rate, left)
    problem = _problem(size=1, gamma=plan, horizon=None, closure=closure)
    value, error, _ = solve_high_precision(problem, [problem.end], 15)
    assert abs(MP.mpf(value[0]) - exact) <= error[0] < MP.mpf(10) ** -14 * exact


@pytest.mark.parametrize("library", ["flint", pytest.param("mpmath", marks=pytest.mark.slow)])
def test_modes_that_feed_themselves_agree_with_the_panels(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a system of its own where gamma varies; of thirty modes most are slow and share a power series."""
    if library == "flint":
        pytest.importorskip("flint")
    else:
        monkeypatch.setitem(sys.modules, "flint", None)
    size, steps = (30, 8.0) if library == "flint" else (1, 0.5)  # mpmath is slow
    plan = schedule("wsd", peak=0.5, steps=steps, final=0.1, decay_fraction=0.5)
    problem = _problem(size=size, gamma=plan, horizon=None, closure="gaussian")
    times = [0.4 * problem.end, problem.end]
    values, errors, facts = solve_high_precision(problem, times, 15)
    assert facts["arithmetic"] == library
    panels = loss_of(problem, times, method="panels")
    for value, error, panel_value, bound in zip(values, errors, panels.values, panels.error, strict=True):
        assert abs(float(value) - panel_value) <= float(error) + bound < 1e-12 * panel_value


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_discrete_schedules_keep_their_digits(closure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("flint")
    # sums of the rates are not floats; neighbours with one rate are one stretch; a step of rate 0 takes no time
    plan = Discrete(rates=[0.4, 0.4, 0.1, 0.0, 0.7, 0.7], batch_sizes=[1.0, 1.0, 1.0, 2.0, 2.0, 7.0])
    problem = _problem(size=2, gamma=plan, horizon=None, closure=closure)
    exact = exact_losses(problem, [problem.end])[0]
    value, error, facts = solve_high_precision(problem, [problem.end], 30)
    assert abs(MP.mpf(value[0]) - exact) <= error[0] < MP.mpf(10) ** -29 * exact and facts["arithmetic"] == "flint"
    monkeypatch.setitem(sys.modules, "flint", None)
    value, error, facts = solve_high_precision(problem, [problem.end], 15)
    assert abs(MP.mpf(value[0]) - exact) <= error[0] and facts["arithmetic"] == "mpmath"
    assert len(exact_gamma(MP, problem, None).breaks) == 3
    early = exact_gamma(MP, replace(problem, horizon=1.0), None)
    assert early.value(MP.mpf(1.0), MP.mpf(0)) == MP.mpf(0.7) / 2 and len(early.breaks) == 2


def test_many_panels_do_not_use_up_the_digits() -> None:
    pytest.importorskip("flint")
    plan = Discrete(rates=[300.0, 500.0] * 6, batch_sizes=[8000.0, 4000.0] * 6)
    problem = _problem(size=1, noise=9.0, gamma=plan, horizon=None)
    value, error, facts = solve_high_precision(problem, [problem.end], 15)
    assert facts["digits reached"] == 15 and facts["panels"] > 250
    # the mode has settled on each step: x = gamma (delta + noise)/(2 - gamma), exp(-1000) away
    gamma = MP.mpf(0.125)
    delta = MP.mpf(approximation_error(0.5, 1.6, 1, digits=60))
    exact = delta + gamma * (delta + 9) / (2 - gamma)
    assert abs(MP.mpf(value[0]) - exact) <= error[0] < MP.mpf(10) ** -14 * exact


def test_panels_that_stop_early_leave_nothing_out_that_is_seen() -> None:
    # gamma vanishes like r^(2/3): the panels end where r gamma(r) is below the digits, far from where r is
    problem = Problem(Model(s=0.5, beta=2.0, size=2, noise=9.0), gamma=schedule("cosine", peak=0.3, steps=40.0))
    few, many = (loss_of(problem, problem.end, digits=digits) for digits in (15, 18))
    assert abs(few.values[0] / many.values[0] - 1) < 1e-15
    # with 1.45 between neighbours down to r = 1e-17 there are more than 100
    assert int(few.message.split(" panels")[0].split()[-1]) < 45


def _jump(t: Any) -> Any:
    return np.where(t < 10.3, 0.4, 0.05) if isinstance(t, np.ndarray) else (0.4 if t < 10.3 else 0.05)


def test_a_jump_needs_its_break_and_without_it_the_error_says_so() -> None:
    pytest.importorskip("flint")
    told = _problem(gamma=_jump, horizon=40.0, breaks=(10.3,), size=2)
    value, error, facts = solve_high_precision(told, [10.3, 40.0], 18)
    before = loss_of(_problem(gamma=0.4, horizon=10.3, size=2), 10.3, digits=30).values[0]
    to_the_jump = _problem(gamma=_jump, horizon=10.3, size=2)  # gamma(10.3) itself is the value behind the jump
    last, bound, _ = solve_high_precision(to_the_jump, [10.3], 18)
    assert abs(MP.mpf(last[0]) - before) <= bound[0]
    assert facts["digits reached"] == 18
    assert abs(MP.mpf(value[0]) - before) <= error[0] < MP.mpf(10) ** -16 * before
    hidden = _problem(gamma=_jump, horizon=40.0, size=2)
    rough, claimed, facts = solve_high_precision(hidden, [40.0], 18)
    assert facts["digits reached"] < 8
    assert abs(MP.mpf(rough[0]) - value[1]) <= claimed[0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: solve_high_precision(LONG, [1.0], 20), ValueError, "at most 2000 modes of a given"),
        (lambda: solve_high_precision(_problem(), [1.0], 8), ValueError, "digits"),
        (lambda: solve_high_precision(_problem(), [1.0], 300), ValueError, "at most 100"),
        (lambda: solve_high_precision(_problem(), [101.0], 20), ValueError, "times must lie"),
        (lambda: solve_high_precision(_problem(), [math.nan], 20), ValueError, "times must lie"),
        (
            lambda: solve_high_precision(_problem(gamma=Halving(peak=0.1, steps=10.0), horizon=None), [1.0], 20),
            ValueError,
            "Halving is not available",
        ),
        (
            lambda: solve_high_precision(_problem(gamma=lambda t: np.zeros(3) + 0.1), [1.0], 20),
            TypeError,
            "map one mpf",
        ),
        (lambda: solve_high_precision(_problem(gamma=lambda t: 1 - t), [1.0], 20), ValueError, "at least 0"),
    ],
)
def test_what_it_cannot_do_is_said(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_evaluations_are_counted() -> None:
    problem = _problem(size=1, horizon=2.0, gamma=lambda t: 0.3 / (1 + t))
    _, _, facts = solve_high_precision(problem, [2.0], 15)
    # fourteen stages, and then a quarter more
    assert facts["stages"] == 18 and facts["evaluations"] == (14 + 18) * facts["panels"] and facts["modes"] == 1
