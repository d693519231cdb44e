"""Jumps of gamma and gamma that vanishes like a power: no convention and no singularity may cost digits or order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
from models import loss_of, problem_of

from fsl_num.model import Model
from fsl_num.schedules import Discrete, Schedule, schedule
from fsl_num.spectrum import approximation_error
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra import panels as panels_module
from fsl_num.volterra.digits.high_precision import solve_high_precision
from fsl_num.volterra.neumann import neumann_series
from fsl_num.volterra.panels import jump_error, problem_modes, solve_panels
from fsl_num.volterra.reference import trapezoid
from fsl_num.volterra.second_moments import solve_second_moments


@dataclass(frozen=True, kw_only=True)
class Drop(Schedule):
    """The peak until ``at``, then ``after``; at the jump itself the value of the step before or of the one behind."""

    after: float
    at: float
    late: bool

    def _rate(self, remaining: Any) -> Any:
        rest = self.steps - self.at
        return np.where(remaining > rest if self.late else remaining >= rest, self.peak, self.after)

    def _elapsed(self, tau: Any) -> Any:
        return self.peak * np.minimum(tau, self.at) + self.after * np.maximum(tau - self.at, 0.0)

    def _left(self, remaining: Any) -> Any:
        rest = self.steps - self.at
        return self.after * np.minimum(remaining, rest) + self.peak * np.maximum(remaining - rest, 0.0)

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        return (self.at,)


MODEL: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 3, "noise": 1.0}


def drop(steps: float, at: float, late: bool) -> Drop:
    return Drop(peak=0.4, after=0.05, at=at, steps=steps, late=late)


def truth(gammas: list[tuple[float, float]]) -> float:
    """f at the end of stretches (length, gamma), by matrix exponentials of 40 digits."""
    mp = mpmath.mp.clone()
    mp.dps = 40
    size = MODEL["size"]
    rates = [mp.mpf(j) ** -2 for j in range(1, size + 1)]
    delta = mp.mpf(approximation_error(0.5, 2.0, size, digits=40))
    state = mp.matrix([*rates, mp.mpf(1)])  # s = 1/2, beta = 2: the signal of a mode is j^-2
    for length, gamma in gammas:
        system = mp.matrix(size + 1, size + 1)
        for i, rate in enumerate(rates):
            for k in range(size):
                system[i, k] = mp.mpf(gamma) * rate**2 - (2 * rate if i == k else 0)
            system[i, size] = mp.mpf(gamma) * rate**2 * (delta + 1)
        state = mp.expm(system * mp.mpf(length)) * state
    return float(delta + sum(state[i] for i in range(size)))


@pytest.mark.parametrize(("steps", "at"), [(1000.0, 333.3), (1e5, 7777.7), (50.0, 49.3)])
@pytest.mark.parametrize("share", [1.0, 0.97, 0.0])
def test_the_convention_at_a_jump_does_not_matter(steps: float, at: float, share: float) -> None:
    early = drop(steps, at, False)
    cut = early.breaks[0]
    end = cut + share * (early.total_intrinsic_time - cut)  # share 0: the horizon is the jump itself
    breaks = (cut,) if share else ()
    rest: dict[str, Any] = {"horizon": end}
    plans: list[Any] = [early, drop(steps, at, True)]
    functions: list[Any] = [
        lambda t: np.where(t < cut, 0.4, 0.05),
        lambda t: np.where(t <= cut, 0.4, 0.05),
    ]
    problems = [problem_of(**MODEL, **rest, gamma=plan) for plan in plans]
    problems += [problem_of(**MODEL, **rest, gamma=function, breaks=breaks) for function in functions]
    exact = truth([(cut, 0.4), (end - cut, 0.05)])
    for problem in problems:
        found = loss_of(problem, [0.4 * end, cut, end])
        assert abs(found.values[2] / exact - 1) < 1e-12  # the goal of the panels; measured 1e-15
        assert abs(found.values[2] - exact) <= found.error[2]


def test_the_series_and_the_trapezoid_take_the_near_side_too() -> None:
    # a whole number of grid intervals on both sides of the jump, at 60 of 100
    plans = [Drop(peak=0.4, after=0.2, at=150.0, steps=350.0, late=late) for late in (False, True)]
    problems = [problem_of(**MODEL, gamma=plan) for plan in plans]
    sums = [neumann_series(problem, problem.end, terms=40).partial_sums[-1, 0] for problem in problems]
    exact = truth([(60.0, 0.4), (40.0, 0.2)]) / 2  # of f, and the series is of E
    assert sums == pytest.approx([exact, exact], rel=1e-10)  # 40 terms of rounding 1e-12 each, less in fact
    soon = truth([(60.0, 0.4), (2.0, 0.2)])  # while the jump is remembered
    misses = [abs(trapezoid(problems[1], steps)[62 * steps // 100] / soon - 1) for steps in (500, 1000)]
    assert misses[0] / misses[1] == pytest.approx(4.0, rel=0.1)  # second order through the jump
    assert trapezoid(problems[0], 500)[-1] == pytest.approx(trapezoid(problems[1], 500)[-1], rel=1e-13)


def test_steps_of_one_rate_are_one_stretch() -> None:
    plan = Discrete(rates=[0.3] * 7 + [0.05] * 5 + [0.2])
    found = loss_of(problem_of(**MODEL, gamma=plan), plan.total_intrinsic_time)
    exact = truth([(7 * 0.3, 0.3), (5 * 0.05, 0.05), (0.2, 0.2)])
    assert abs(found.values[0] - exact) <= found.error[0]
    assert found.values[0] == pytest.approx(exact, rel=1e-12)


def test_times_at_late_jumps_carry_the_rounding_of_their_place() -> None:
    # At t = 5e3 floats are 1e-12 apart, and right at a jump the loss moves by gamma (f + sigma^2) times that.
    pytest.importorskip("flint")
    rates = [817.3, 533.1, 901.7] * 3
    plan = Discrete(rates=rates, batch_sizes=[7000.0, 21000.0, 9000.0] * 3)
    problem = Problem(Model(s=2.5, beta=4.3, size=1, noise=9.0), gamma=plan)
    late = list(problem.breaks[-5:])
    t = sorted([*late, late[0] + 100.0, late[2] + 100.0])
    exact = [float(x) for x in solve_high_precision(problem, t, 20)[0]]
    values, errors, _ = panels_module.solve_panels(problem, np.array(t), 1e-12)
    assert (np.abs(values - exact) <= errors).all()
    away = [i for i, time in enumerate(t) if time not in late]
    assert (errors[away] < 1e-12 * values[away]).all()  # settled: only the other errors are left
    assert (errors < 1e-10 * values).all()  # 1e-12 for each of 9 sums, gamma 0.1, and 9/f with f about 0.5


PLANS = {
    "smooth": schedule("exp-decay", peak=0.6, final=0.01, steps=1e4),
    "jump": Drop(peak=0.6, after=0.05, at=3333.3, steps=1e4, late=True),
    "cosine": schedule("cosine", peak=0.6, steps=1e4),
    "square": schedule("power-decay", peak=0.6, power=2.0, steps=1e4),
    "root": schedule("power-decay", peak=0.6, power=0.3, steps=1e4),
}


def errors_on_panels(name: str, ratios: tuple[float, ...]) -> list[float]:
    """Relative errors at the end, on panels whose ends grow by these ratios: the root of a ratio halves the panels."""
    problem = problem_of(**{**MODEL, "size": 5}, gamma=PLANS[name])
    exact = loss_of(problem, problem.end, rtol=1e-13).values[0]
    modes, wanted = panels_module.problem_modes(problem), np.array([problem.end])
    found = []
    for ratio in ratios:
        ends = panels_module.panel_ends(problem, wanted, ratio)
        found.append(abs(panels_module.march_panels(problem, modes, *ends)[-1] / exact - 1))
    return found


@pytest.mark.parametrize("name", sorted(PLANS))
def test_halved_panels_gain_the_order_whatever_gamma_does(name: str) -> None:
    # Order 11 on a smooth solution, at least the stage order 6 on stiff modes: 2^6 at least. Measured 1400 to 1600
    # where gamma vanishes like a power, 270 through the jump, 1.2e4 for "smooth".
    coarse, fine = errors_on_panels(name, (4.0, 2.0) if name != "smooth" else (16.0, 4.0))
    assert coarse > 2**6 * fine


@pytest.mark.parametrize("name", sorted(PLANS))
def test_fine_panels_reach_the_limit_of_rounding(name: str) -> None:
    # against the solution on other panels; measured at most 7e-16
    assert errors_on_panels(name, (2**0.25,))[0] < 1e-14


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_infinite_models_do_not_see_the_convention(closure: str, late: bool) -> None:
    model: dict[str, Any] = {**MODEL, "size": math.inf if closure == "volterra" else 50, "closure": closure}
    plan = drop(3e4, 1e4, late)
    found = loss_of(problem_of(**model, gamma=plan), [4e3 + 1.0, plan.total_intrinsic_time])
    other = loss_of(
        problem_of(**model, gamma=lambda t: np.where(t < 4e3, 0.4, 0.05), horizon=5e3, breaks=(4e3,)), [4e3 + 1.0, 5e3]
    )
    assert (np.abs(found.values / other.values - 1) < 1e-12).all()


def moved_jump(place):
    return Problem(
        Model(s=0.5, beta=2.0, size=3, noise=0.5),
        gamma=lambda t: np.where(t < place, 0.5, 0.1),
        horizon=20.0,
        breaks=(place,),
    )


def test_a_jump_that_is_moved_changes_the_loss_by_what_is_claimed():
    """The claim is the misplacement times the derivative by the place of the jump, or some more."""
    t, place, far = np.array([9.0, 11.0, 11.5, 13.0, 16.0, 20.0]), 11.0, 1e-3  # in the late half
    problem = moved_jump(place)
    modes = problem_modes(problem)
    rounding = np.spacing(place)
    claim = jump_error(problem, t, 2.0 * modes.rates, modes.kernel_weights) / rounding
    late, early = (solve_panels(moved_jump(place + sign * far), t, 1e-12)[0] for sign in (1.0, -1.0))
    values = solve_panels(problem, t, 1e-12)[0]
    exact = np.abs(late - early) / (2.0 * far) / (values + 0.5)
    assert claim[0] == 0.0
    # at the jump itself K(0) times its height, with the feedback of later times
    height = 0.4 * (1.0 + 2.0**-4 + 3.0**-4)
    stable = 1.0 - problem.stability
    assert claim[1] == pytest.approx(height / stable, rel=1e-12, abs=0.0)
    # the quotient by 1 - stability, and a forgetting that is slower by as much
    assert (exact[2:] <= claim[2:]).all()
    slow = problem.stability * 2.0 * (t[2:] - place)
    assert (claim[2:] <= exact[2:] * np.exp(slow) / stable * 1.1).all()


def test_jumps_follow_each_other():
    plan = Discrete(rates=[3.0, 2.0, 4.0], batch_sizes=[9.0, 2.5, 40.0])
    problem = Problem(Model(noise=1.0, spectrum=Spectrum([0.5], [1.0])), gamma=plan)
    units = np.spacing([3.0, 5.0])  # sums of small whole numbers are exact, but for one rounding of each place
    stable = 1.0 - problem.stability
    found = jump_error(problem, np.array([1.0, 3.0, 4.0, 5.0, 9.0]), np.array([1.0]), np.array([0.25]))
    first, second = 0.25 * units * [abs(2.0 / 2.5 - 3.0 / 9.0), abs(4.0 / 40.0 - 2.0 / 2.5)]
    fade = [math.exp(-stable * time) for time in (1.0, 2.0, 4.0)]
    exact = [0.0, first, first * fade[0], first * fade[1] + second, (first * fade[1] + second) * fade[2]]
    assert found == pytest.approx(np.array(exact) / stable, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_a_misplaced_jump_is_part_of_the_claimed_error(closure):
    plan = Discrete(rates=[1e9 + 0.1, 1e9, 300.0], batch_sizes=[2e9, 8e9, 3000.0])
    problem = Problem(Model(noise=2.0, spectrum=Spectrum([1.0, 0.25], [1.0, 0.5])), gamma=plan, closure=closure)
    at = np.array([0.999e9, plan.breaks[1], plan.total_intrinsic_time])
    method = solve_panels if closure == "volterra" else solve_second_moments
    values, error, _ = method(problem, at, 1e-10)
    # near the jump from 1/8 to 1/10 at 2e9, where floats are 2.4e-7 apart: K(0) = 1 + 1/16
    moved = 0.025 * 1.0625 * np.spacing(2e9) * (values[1] + 2.0)
    assert error[1] >= moved > 1e-9
    assert 0.0 < error[0] < 1e-10 and 0.0 < error[2] < 1e-10


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_a_misplaced_jump_is_forgotten_like_the_modes_forget(closure):
    plan = Discrete(rates=[1e9 + 0.1, 1e9, 300.0], batch_sizes=[3e9, 1e11, 3000.0])
    method = solve_panels if closure == "volterra" else solve_second_moments
    later = {}
    for rate in (1.0, 0.05):
        problem = Problem(Model(noise=2.0, spectrum=Spectrum([rate], [1.0])), gamma=plan, closure=closure)
        jump = plan.breaks[1]
        _, error, _ = method(problem, np.array([jump, jump + 10.0]), 1e-10)
        later[rate] = error[1] / error[0]
        # exp(-2 rate 10), slower by what comes back: gamma rate/2 of it, or gamma rate^2 of the mode itself
        assert later[rate] >= math.exp(-20.0 * rate)
    assert later[1.0] < 1e-2 and later[0.05] > 0.3
