"""What is claimed for jumps at rounded places, for rounding, and for few modes in place of many."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from models import with_model

from fsl_num.model import Model
from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra import moment_modes as moment_modes_module
from fsl_num.volterra.moment_modes import full_modes, full_sum, mode_errors, moment_modes
from fsl_num.volterra.panels import jump_error, problem_modes, relative_floor, solve_panels
from fsl_num.volterra.second_moments import solve_second_moments

SMALL = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=0.3, horizon=20.0)


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


def test_the_places_of_steps_are_wrong_by_the_rounding_of_their_sum():
    rates = np.random.default_rng(13).uniform(10.0, 1000.0, 40)
    plan = Discrete(rates=rates, batch_sizes=rates * np.where(np.arange(40) % 2, 4.0, 9.0))
    problem = Problem(Model(s=0.5, beta=2.0, size=1, noise=1.0), gamma=plan)
    from fsl_num.volterra.panels import _misplaced

    breaks = np.asarray(problem.breaks)
    found = _misplaced(problem, breaks) - np.spacing(breaks)
    total, exact, plain = Fraction(0), [], 0.0
    for rate in rates.tolist():
        total, plain = total + Fraction(rate), plain + rate
        exact.append((plain, float(abs(Fraction(plain) - total))))
    of_place = dict(exact)
    known = [of_place.get(place, 0.0) for place in breaks.tolist()]
    assert found == pytest.approx(np.array(known), abs=1e-25) and max(known) > 0.0


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


def test_what_no_refinement_shows():
    short, long = replace(SMALL, horizon=1e-9), replace(SMALL, horizon=1e30)
    stable = 1.0 - SMALL.stability
    assert relative_floor(short, 1e-15, 1e-14) == pytest.approx((1e-15 + 1e-14) / stable, rel=1e-9, abs=0.0)
    # longer panels are worse conditioned, up to ten times
    assert relative_floor(long, 1e-15, 0.0) == pytest.approx(1e-14 / stable, rel=1e-9, abs=0.0)
    assert relative_floor(replace(SMALL, horizon=0.5), 1e-15, 0.0) == pytest.approx(
        (1.0 + math.log(2.0)) * 1e-15 / stable, rel=1e-9, abs=0.0
    )
    assert relative_floor(replace(SMALL, gamma=5.0), 0.0, 1e-14) == pytest.approx(1e-11, rel=1e-9, abs=0.0)


def test_sums_of_moments_are_those_of_all_modes():
    tau, growth, size, beta = np.array([0.0, 0.3, 5.0, 200.0]), np.array([0.0, 0.1, 2.0, 40.0]), 300, 1.5
    j = np.arange(1.0, size + 1.0)
    rates = j**-beta
    from fsl_num.volterra.moment_modes import _power_sums

    for power in (3.0, 1.75):
        exact = np.exp(np.multiply.outer(growth, rates**2) - 2.0 * np.multiply.outer(tau, rates)) @ j**-power
        powers = _power_sums(power, beta, size, tau, 0.4)
        assert full_sum(power, beta, size, tau, growth, powers) == pytest.approx(exact, rel=5e-14, abs=0.0)
        few = _power_sums(power, beta, 16, tau, 0.4)
        exact = np.exp(np.multiply.outer(growth, rates[:16] ** 2) - 2.0 * np.multiply.outer(tau, rates[:16])) @ (
            j[:16] ** -power
        )
        assert few == [] and full_sum(power, beta, 16, tau, growth, few) == pytest.approx(exact, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("size", [12, 150])
def test_nodes_are_compared_with_all_modes(size):
    problem = Problem(Model(s=0.5, beta=2.0, size=size, noise=1.0), gamma=0.3, horizon=50.0)
    modes = full_modes(problem)
    model = (0.5, 2.0, size, 50.0, 0.3)
    assert mode_errors(modes.rates, (modes.kernel_weights, modes.signals), *model) < 1e-13
    # a weight that is wrong by one part in a million, of either sum
    for wrong in ((1.0 + 1e-6, 1.0), (1.0, 1.0 - 1e-6)):
        weights = modes.kernel_weights * wrong[0], modes.signals * wrong[1]
        assert mode_errors(modes.rates, weights, *model) == pytest.approx(1e-6, rel=1e-6, abs=0.0)
    # rates that are wrong by d shift the first mode by 2 d tau at the end: there the slowest mode is left
    slowest = float(modes.rates.min())
    late = mode_errors(modes.rates * (1.0 + 1e-9), (modes.kernel_weights, modes.signals), *model)
    fastest_at_end = 2.0 * 50.0 * 1e-9
    assert 2.0 * 50.0 * slowest * 1e-9 < late < fastest_at_end
    # only at a large G, the integral of gamma, do the squares of the rates show
    assert mode_errors(modes.rates, (modes.kernel_weights, modes.signals), 0.5, 2.0, size, 50.0, 0.0) < 1e-13


def test_few_modes_claim_what_they_miss():
    problem = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=0.3, horizon=1e4, closure="gaussian")
    found = moment_modes(problem)
    weights = found.kernel_weights, found.signals
    worst = mode_errors(found.rates, weights, 0.5, 2.0, math.inf, 1e4, 0.3)
    assert 2.0 * worst + 2e-14 <= found.error < 1e-12
    assert moment_modes(with_model(problem, size=100)).rates.size == 100
    assert moment_modes(with_model(problem, size=101)).error > 0.0


@pytest.mark.parametrize(("size", "last"), [(math.inf, 1e4), (150, 350.0 * 150.0**2)])
def test_sums_are_compared_at_three_times_in_every_factor_e_and_up_to_the_largest_growth(monkeypatch, size, last):
    seen, right = [], moment_modes_module.full_sum

    def spy(power, beta, size, tau, growth, powers):
        seen.append((tau, growth))
        return right(power, beta, size, tau, growth, powers)

    monkeypatch.setattr(moment_modes_module, "full_sum", spy)
    horizon = 1e4 if math.isinf(size) else 1e9
    few = np.ones(1)
    mode_errors(few, (few, few), 0.5, 2.0, size, horizon, 0.3)
    shares = set()
    for tau, growth in seen:
        # from 0 and 1/100 of the fastest mode's time, to the horizon or where a finite model has fallen by exp(-700)
        assert tau[0] == 0.0 and tau[1] == pytest.approx(0.01) and tau[-1] == pytest.approx(last)
        steps = np.diff(np.log(tau[1:]))
        assert 0.25 < steps.min() and steps.max() <= 1.0 / 3.0
        shares.add(round(float(growth[-1] / (0.3 * tau[-1])), 9))
    # the integral of gamma lies between 0 and the largest gamma by the time
    assert max(shares) == 1.0 and 0.0 < min(shares) <= 0.1 and len(shares) >= 3
