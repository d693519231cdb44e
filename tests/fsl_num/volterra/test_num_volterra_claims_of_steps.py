"""Gradients in closed form, and the evolution search."""

import mpmath
import numpy as np
import pytest

from fsl_num.evolution import search
from fsl_num.model import Model
from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.gradient import final_risk_gradient

MODEL = {"s": 0.5, "beta": 2.0, "model_size": 3, "noise": 0.7}
TRACE = 1.0 + 0.25 + 1.0 / 9.0
KERNEL = 1.0 + 2.0**-4 + 3.0**-4


def closed_form(lengths, gammas, rate, signal, delta, noise, mp):
    """E = (delta + x)/2 at the end: x' = (gamma w - r) x + gamma w (delta + noise), w = rate^2, r = 2 rate."""
    x = mp.mpf(signal)
    for eta, gamma in zip(lengths, gammas, strict=True):
        slope = gamma * mp.mpf(rate) ** 2 - 2 * mp.mpf(rate)
        push = gamma * mp.mpf(rate) ** 2 * (mp.mpf(delta) + mp.mpf(noise))
        x = x * mp.exp(slope * eta) + push * mp.expm1(slope * eta) / slope
    return (x + mp.mpf(delta)) / 2


@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
@pytest.mark.parametrize("longest", [0.3, 3.0])
def test_gradients_of_one_mode_in_closed_form(rtol, longest):
    rng = np.random.default_rng(2)
    rates, batches = rng.uniform(0.2, 1.0, 6) * longest, rng.uniform(1.0, 4.0, 6) * longest
    problem = Problem(
        Model(noise=0.7, spectrum=Spectrum([0.8], [1.5], 0.2)), gamma=Discrete(rates=rates, batch_sizes=batches)
    )
    found = final_risk_gradient(problem, rtol)
    mp = mpmath.mp.clone()
    mp.dps = 40
    lengths, sizes = ([mp.mpf(each) for each in of.tolist()] for of in (rates, batches))
    gammas = [mp.mpf(each) for each in problem.gamma.gammas.tolist()]
    far = mp.mpf(10) ** -12  # central differences of 40 digits: wrong by 1e-24

    def risk(lengths, gammas):
        return closed_form(lengths, gammas, 0.8, 1.5, 0.2, 0.7, mp)

    def moved(values, k, by):
        return [each + (by if i == k else 0) for i, each in enumerate(values)]

    by_rate, by_gamma = [], []
    for k in range(6):
        ends = []
        for by in (far, -far):
            new = moved(lengths, k, by)
            ends.append(risk(new, moved(gammas, k, by / sizes[k])))
        by_rate.append(float((ends[0] - ends[1]) / (2 * far)))
        by_gamma.append(
            float((risk(lengths, moved(gammas, k, far)) - risk(lengths, moved(gammas, k, -far))) / (2 * far))
        )
    assert (np.abs(found.rates - by_rate) <= found.rates_error).all()
    assert (np.abs(found.gammas - by_gamma) <= found.gammas_error).all()
    assert found.excess_risk == pytest.approx(float(risk(lengths, gammas)), rel=10.0 * rtol)
    # of the largest component, and what rounding adds
    for errors, exact in ((found.rates_error, by_rate), (found.gammas_error, by_gamma)):
        assert errors.max() <= (rtol + 1e-12) * np.abs(exact).max()
    assert found.message.endswith(" terms a step, 1 modes")


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
