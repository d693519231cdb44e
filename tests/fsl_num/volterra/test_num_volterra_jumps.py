"""Jumps of gamma and gamma that vanishes like a power: no convention and no singularity may cost digits or order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from models import loss_of, problem_of
from volterra_exponential import losses

from fsl_num.model import Model
from fsl_num.schedules import Discrete, Schedule, schedule
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra import panels as panels_module
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
        left = self.steps - self.at
        return np.where(remaining > left if self.late else remaining >= left, self.peak, self.after)

    def _elapsed(self, tau: Any) -> Any:
        return self.peak * np.minimum(tau, self.at) + self.after * np.maximum(tau - self.at, 0.0)

    def _left(self, remaining: Any) -> Any:
        left = self.steps - self.at
        return self.after * np.minimum(remaining, left) + self.peak * np.maximum(remaining - left, 0.0)

    @property
    def physical_breaks(self) -> tuple[float, ...]:
        return (self.at,)


MODEL: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 3, "noise": 1.0}


def drop(steps: float, at: float, late: bool) -> Drop:
    return Drop(peak=0.4, after=0.05, at=at, steps=steps, late=late)


def truth(gammas: list[tuple[float, float]]) -> float:
    """f at the end of stretches (length, gamma)."""
    return float(losses(Model(**MODEL), gammas)[-1])


@pytest.mark.parametrize(("steps", "at", "share"), [(1000.0, 333.3, 1.0), (1e5, 7777.7, 0.97), (50.0, 49.3, 0.0)])
def test_the_convention_at_a_jump_does_not_matter(steps: float, at: float, share: float) -> None:
    early = drop(steps, at, False)
    cut = early.breaks[0]
    end = cut + share * (early.total_intrinsic_time - cut)  # share 0: the horizon is the jump itself
    breaks = (cut,) if share else ()
    settings: dict[str, Any] = {"horizon": end}
    plans: list[Any] = [early, drop(steps, at, True)]
    functions: list[Any] = [
        lambda t: np.where(t < cut, 0.4, 0.05),
        lambda t: np.where(t <= cut, 0.4, 0.05),
    ]
    problems = [problem_of(**MODEL, **settings, gamma=plan) for plan in plans]
    problems += [problem_of(**MODEL, **settings, gamma=function, breaks=breaks) for function in functions]
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


PLANS = {
    "jump": Drop(peak=0.6, after=0.05, at=3333.3, steps=1e4, late=True),
    "cosine": schedule("cosine", peak=0.6, steps=1e4),
    "root": schedule("power-decay", peak=0.6, power=0.3, steps=1e4),
}


def errors_on_panels(name: str, ratios: tuple[float, ...]) -> list[float]:
    """Relative errors at the end, on panels whose ends grow by these ratios: the root of a ratio halves the panels."""
    problem = problem_of(**{**MODEL, "size": 5}, gamma=PLANS[name])
    exact = loss_of(problem, problem.end, rtol=1e-13).values[0]
    modes, times = panels_module.problem_modes(problem), np.array([problem.end])
    found = []
    for ratio in ratios:
        ends = panels_module.panel_ends(problem, times, ratio)
        found.append(abs(panels_module.march_panels(problem, modes, *ends)[-1] / exact - 1))
    return found


@pytest.mark.parametrize("name", sorted(PLANS))
def test_halved_panels_gain_the_order_whatever_gamma_does(name: str) -> None:
    # Order 11 on a smooth solution, at least the stage order 6 on stiff modes: 2^6 at least. Measured 1400 to 1600
    # where gamma vanishes like a power, 270 through the jump. The finest differ from other panels by 7e-16 at most.
    coarse, fine, finest = errors_on_panels(name, (4.0, 2.0, 2**0.25))
    assert coarse > 2**6 * fine and finest < 1e-14


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
