"""Claims for discrete schedules: places of steps that are rounded, floors, gradients in closed form; and the search."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from fsl_num.evolution import search
from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.gradient import final_loss_gradient
from fsl_num.volterra.linear_modes import linear_modes
from fsl_num.volterra.steps.discrete import losses_of_steps, rounding_floor, solve_discrete, stretch_floor
from fsl_num.volterra.steps.many import losses_of_schedules

MODEL = {"s": 0.5, "beta": 2.0, "model_size": 3, "noise": 0.7}
TRACE = 1.0 + 0.25 + 1.0 / 9.0
KERNEL = 1.0 + 2.0**-4 + 3.0**-4


@pytest.mark.parametrize(("batch", "noise"), [(1.0, 0.7), (0.2, 50.0)])
def test_a_time_that_is_a_rounded_sum_counts_by_the_slope_of_the_loss(batch, noise):
    rates = 0.1 + 0.02 * np.cos(np.linspace(0.0, 1.0, 900))
    problem = Problem(**(MODEL | {"noise": noise}), gamma=Discrete(rates=rates, batch_sizes=batch))
    t = np.concatenate([[0.0], np.cumsum(rates)])
    plain, errors, facts = losses_of_steps(problem, 1e-8)
    values, more, _ = solve_discrete(problem, t, 1e-8)
    assert facts["steps in stretches"] > 500
    # sums of 900 numbers of size 1 and other points of the same polynomials
    assert values == pytest.approx(plain, rel=1e-13)
    near = 8.0 * np.spacing(t[-1])
    slope = (more - errors) / near
    gamma = np.concatenate([rates[:1], np.maximum(rates, np.append(rates[1:], 0.0))]) / batch
    forgotten, injected = 2.0 * values, KERNEL * gamma * (values + noise)
    assert slope[0] == 0.0
    # the errors are some 1e-9, and differ by 1e-13: three digits are left
    assert slope[1:] == pytest.approx(np.maximum(forgotten, injected)[1:], rel=1e-2)
    assert (injected > forgotten).any() == (noise > 1.0)


def test_a_rounded_time_among_single_steps_counts_by_their_mean_slopes():
    rates = np.random.default_rng(1).uniform(0.05, 0.3, 40)
    problem = Problem(**MODEL, gamma=Discrete(rates=rates))
    t = np.concatenate([[0.0], np.cumsum(rates)])
    plain, errors, _ = losses_of_steps(problem, 1e-8)
    _, more, _ = solve_discrete(problem, t, 1e-8)
    steep = np.abs(np.diff(plain)) / rates
    near = 8.0 * np.spacing(t[-1])
    larger = 2.0 * np.maximum(np.append(steep[:1], steep), np.append(steep, steep[-1:]))
    assert (more - errors)[1:] / near == pytest.approx(larger[1:], rel=1e-2)
    assert more[0] == errors[0]


def test_floors_of_stretches():
    problem = Problem(**MODEL, gamma=Discrete(rates=[0.1] * 10))
    system = linear_modes(problem, 1.0)
    stable = 1.0 - 0.05 * TRACE
    # the rounding of the points, more on long horizons, that of single steps, and that of the modes
    base = 2e-14 * (1.0 + math.log1p(2.0)) + rounding_floor(7) + system.error
    assert stretch_floor(problem, system, 7) == pytest.approx(base / stable, rel=1e-12, abs=0.0)
    long = replace(problem, gamma=0.1, horizon=1e30, breaks=())
    assert stretch_floor(long, system, 0) == pytest.approx((2e-13 + 1e-14 + system.error) / stable, rel=1e-12, abs=0.0)
    blurred = replace(system, error=1e-10)
    edge = replace(problem, gamma=2.0 / TRACE, horizon=1e-9, breaks=())
    assert stretch_floor(edge, blurred, 0) == pytest.approx((3e-14 + 1e-10) * 1e3, rel=1e-6, abs=0.0)


@pytest.mark.parametrize("steps", [12, 600])
def test_a_large_noise_is_rounded_in_the_claims(steps):
    problem = Problem(**(MODEL | {"noise": 1e9}), gamma=Discrete(rates=np.full(steps, 0.1), batch_sizes=1e12))
    _, errors, _ = losses_of_steps(problem, 1e-4)
    many = losses_of_schedules(problem, np.full(steps, 0.1), [[1e12]], rtol=1e-4)
    # f is a difference of numbers of 1e9: two roundings of it
    assert errors.min() >= 4e-16 * 1e9 and many.error.min() >= 4e-16 * 1e9


def closed_form(lengths, gammas, rate, signal, delta, noise, mp):
    """f at the end for one mode: x' = (gamma w - r) x + gamma w (delta + noise), w = rate^2, r = 2 rate."""
    x = mp.mpf(signal)
    for eta, gamma in zip(lengths, gammas, strict=True):
        slope = gamma * mp.mpf(rate) ** 2 - 2 * mp.mpf(rate)
        push = gamma * mp.mpf(rate) ** 2 * (mp.mpf(delta) + mp.mpf(noise))
        x = x * mp.exp(slope * eta) + push * mp.expm1(slope * eta) / slope
    return x + mp.mpf(delta)


@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
@pytest.mark.parametrize("longest", [0.3, 3.0])
def test_gradients_of_one_mode_in_closed_form(rtol, longest):
    rng = np.random.default_rng(2)
    rates, batches = rng.uniform(0.2, 1.0, 6) * longest, rng.uniform(1.0, 4.0, 6) * longest
    problem = Problem(spectrum=Spectrum([0.8], [1.5], 0.2), noise=0.7, gamma=Discrete(rates=rates, batch_sizes=batches))
    found = final_loss_gradient(problem, rtol)
    mp = mpmath.mp.clone()
    mp.dps = 40
    lengths, sizes = ([mp.mpf(each) for each in of.tolist()] for of in (rates, batches))
    gammas = [mp.mpf(each) for each in problem.gamma.gammas.tolist()]
    far = mp.mpf(10) ** -12  # central differences of 40 digits: wrong by 1e-24

    def loss(lengths, gammas):
        return closed_form(lengths, gammas, 0.8, 1.5, 0.2, 0.7, mp)

    def moved(values, k, by):
        return [each + (by if i == k else 0) for i, each in enumerate(values)]

    by_rate, by_gamma = [], []
    for k in range(6):
        ends = []
        for by in (far, -far):
            new = moved(lengths, k, by)
            ends.append(loss(new, moved(gammas, k, by / sizes[k])))
        by_rate.append(float((ends[0] - ends[1]) / (2 * far)))
        by_gamma.append(
            float((loss(lengths, moved(gammas, k, far)) - loss(lengths, moved(gammas, k, -far))) / (2 * far))
        )
    assert (np.abs(found.rates - by_rate) <= found.rates_error).all()
    assert (np.abs(found.gammas - by_gamma) <= found.gammas_error).all()
    assert found.value == pytest.approx(float(loss(lengths, gammas)), rel=10.0 * rtol)
    # of the largest component, and what rounding adds
    for errors, exact in ((found.rates_error, by_rate), (found.gammas_error, by_gamma)):
        assert errors.max() <= (rtol + 1e-12) * np.abs(exact).max()
    assert found.message.endswith(" points a step, 1 modes")


def test_a_search_finds_minima_inside_and_at_the_walls_and_counts_its_points():
    centres = np.array([[0.3, -0.2], [2.0, 0.1], [0.0, 0.9]])
    asked = []

    def value(points, rows):
        asked.append(points.shape[0] * points.shape[1])
        assert points.shape[0] == rows.size
        away = points - centres[rows][:, None, :]
        found = away[..., 0] ** 2 + 100.0 * (away[..., 1] + 0.5 * away[..., 0]) ** 2 + rows[:, None]
        return np.where(points[..., 0] < -0.9, np.inf, found)

    def run(**limits):
        start, walls = np.full((3, 2), -0.5), (np.full((3, 2), -1.0), np.ones((3, 2)))
        generator = np.random.default_rng(3)
        return search(value, start, *walls, np.full(3, 0.5), generator=generator, tolerance=1e-13, **limits)

    found = run()
    assert found.evaluations == sum(asked)
    # ends where the better half agrees: no search takes all of its 250 generations of 28 points
    assert found.evaluations < 3 * 150 * 28
    # values that agree to 1e-13 place the points within 1e-6
    assert found.points[[0, 2]] == pytest.approx(centres[[0, 2]], abs=2e-6)
    assert found.values[[0, 2]] == pytest.approx([0.0, 2.0], abs=1e-12)
    # the second centre lies beyond the wall at 1: there (x - 2)^2 = 1, and the valley gives the other number
    assert found.points[1] == pytest.approx([1.0, 0.6], abs=2e-6) and found.values[1] == pytest.approx(2.0, abs=1e-11)
    few = run(generations=4, offspring=10)
    assert few.evaluations == 3 + 3 * 4 * 10
