"""The mesh against the solvers of the package, its gradient, and what the search for bad schedules finds."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from models import loss_of

from fsl_num.model import Model
from fsl_num.paper.functional.adversary import Worst, worst_schedule
from fsl_num.paper.functional.instrument import (
    Array,
    Instrument,
    cell_weights,
    few_modes,
    gaussian_parts,
    graded_mesh,
    infinite_parts,
    instrument,
)
from fsl_num.paper.functional.measurements import bound
from fsl_num.paper.functional.shapes import SHAPES, shape
from fsl_num.spectrum import forgetting_kernel, signal
from fsl_num.volterra import Problem

POINT = (0.7, 1.8, 200.0, 2e4)


def _problem(device: Instrument, gammas: Array, noise: float) -> Problem:
    t = device.mesh.t
    jumps = t[np.flatnonzero(np.diff(gammas)) + 1]

    def gamma(times: Array) -> Array:
        return gammas[np.clip(np.searchsorted(t, times, side="left") - 1, 0, gammas.size - 1)]

    return Problem(
        Model(s=device.s, beta=device.beta, size=device.size, noise=noise),
        gamma=gamma,
        horizon=float(t[-1]),
        breaks=tuple(jumps),
    )


@pytest.mark.parametrize("name", ["constant", "step down", "long zero phase"])
def test_the_mesh_agrees_with_the_solver_under_both_closures(name: str) -> None:
    device = instrument(*POINT)
    gammas = bound(device, 0.2) * shape(name, device)
    parts = device.parts(gammas)
    for closure, found in (("volterra", parts), ("gaussian", gaussian_parts(device, [gammas])[0])):
        loss = found["loss_e"] + parts["delta"] * found["loss_one"] + found["noise_one"]
        problem = replace(_problem(device, gammas, 1.0), closure=closure)
        expected = float(loss_of(problem, problem.end, rtol=1e-8).values[0])
        # Linear interpolation of u on cells 1.35 times longer each: 1e-3 of the noise, measured on 15 problems.
        assert loss == pytest.approx(expected, rel=3e-3), closure


def test_the_law_is_the_first_order_of_the_loss() -> None:
    device = instrument(*POINT)
    gammas = np.full(device.mesh.lengths.size, 1e-7)
    parts = device.parts(gammas)
    # The second order is gamma tr(H) times the first, below 1e-6.
    assert parts["noise_one"] == pytest.approx(parts["label"], rel=1e-6)
    assert parts["loss_e"] - parts["e"] == pytest.approx(parts["batch"], rel=1e-6)
    wide = infinite_parts(device, gammas)
    assert wide["label_inf"] > parts["label"] and wide["batch_inf"] > wide["batch_mixed"] > parts["batch"]


@pytest.mark.parametrize("infinite", [False, True])
def test_the_gradient_is_that_of_finite_differences(infinite: bool) -> None:
    device = instrument(*POINT)
    gammas = bound(device, 0.2) * np.clip(shape("cosine", device), 0.1, 0.9)
    value, slope = device.excess(gammas, 0.5, infinite=infinite)
    for cell in (0, gammas.size // 2, gammas.size - 2):
        step = 1e-4 * gammas[cell]
        moved = gammas.copy()
        moved[cell] += step
        # Second differences are of the order of the step.
        assert (device.excess(moved, 0.5, infinite=infinite)[0] - value) / step == pytest.approx(slope[cell], rel=1e-2)


def test_cell_weights_join_their_series_smoothly() -> None:
    left, right = cell_weights(np.array([0.999e-2, 1.001e-2, 3.0]))
    assert left[0] == pytest.approx(left[1], rel=2e-5) and right[0] == pytest.approx(right[1], rel=1e-5)
    assert left[2] + right[2] == pytest.approx(-math.expm1(-3.0) / 3.0, rel=1e-12)


@pytest.mark.parametrize(("size", "horizon"), [(1.0, 30.0), (200.0, 2e4), (200.0, 1e30), (1e40, 1e7), (math.inf, 1e6)])
def test_few_modes_serve_all_times_of_their_range(size: float, horizon: float) -> None:
    modes = few_modes(0.7, 1.8, size, horizon)
    times = np.geomspace(1e-2, horizon, 30)
    times = times[2.0 * size**-1.8 * times < 300.0]  # below e^-300 nothing is compared
    decays = np.exp(-np.multiply.outer(times, modes.rates))
    # The sums claim ACCURACY = 1e-8.
    assert decays @ modes.weights == pytest.approx(forgetting_kernel(times, 1.8, size), rel=2e-8)
    assert decays @ modes.start == pytest.approx(signal(times, 0.7, 1.8, size), rel=2e-8)
    assert few_modes(0.7, 1.8, size, 0.9 * horizon) is modes


def test_a_mesh_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="must exceed four first cells"):
        graded_mesh(0.1)


def test_the_search_finds_the_constant_rate_and_no_loss_below_the_law() -> None:
    device = instrument(*POINT)
    limit = bound(device, 0.2)
    constant = device.excess(np.full(device.mesh.lengths.size, limit), 1.0)[0]
    worst = worst_schedule(device, limit, 1.0, searches=2)
    assert constant - 1e-9 <= worst.excess <= constant + 1e-3
    assert math.exp(worst.excess) == pytest.approx(1.25, rel=5e-3)  # 1/(1 - c)
    least = worst_schedule(device, limit, 1.0, largest=False, searches=1)
    assert 0.0 <= least.excess < 1e-3
    assert (worst.gammas >= 0.0).all() and (worst.gammas <= limit).all()


def test_against_the_law_with_infinite_kernel_the_search_finds_the_forgotten_burst() -> None:
    device = instrument(0.5, 2.0, 100.0, 1e6)
    found = worst_schedule(device, bound(device), 1e6, largest=False, infinite=True, searches=1)
    assert math.exp(found.excess) < 1e-2
    late = device.mesh.rest[:-1] < 3e3
    assert found.gammas[late].max() < 0.05 * found.gammas.max()  # silence at the end


def test_words_and_refusals() -> None:
    device = instrument(*POINT)
    assert Worst(np.zeros(device.mesh.lengths.size), 0.0, "constant").words(device) == "zero throughout"
    burst = Worst(shape("burst then zero", device), 0.0, "burst then zero").words(device)
    assert burst.startswith("high from 0 to") and "low from" in burst
    with pytest.raises(ValueError, match="must be positive"):
        worst_schedule(device, 0.0, 1.0)
    with pytest.raises(ValueError, match="no schedule is called"):
        shape("sawtooth", device)


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_a_share_of_the_largest_rate(name: str) -> None:
    share = shape(name, instrument(*POINT))
    assert (share >= 0.0).all() and (share <= 1.0).all() and share.max() > 0.0
