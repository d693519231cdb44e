"""The mesh against the solvers of the package, and its gradient."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from models import loss_of

from fsl_num.design.shapes import shape
from fsl_num.model import Model
from fsl_num.spectrum import forgetting_kernel, signal
from fsl_num.validation import Array
from fsl_num.volterra import Problem
from fsl_num.volterra.mesh import (
    MeshEquation,
    cell_weights,
    few_modes,
    gaussian_parts,
    graded_mesh,
    infinite_parts,
    mesh_equation,
)

POINT = (0.7, 1.8, 200.0, 2e4)


def bound(equation: MeshEquation, stability: float) -> float:
    """The rate with gamma tr(H)/2 = stability."""
    return 2.0 * stability / equation.trace


def _problem(equation: MeshEquation, gammas: Array, noise: float) -> Problem:
    t = equation.mesh.t
    jumps = t[np.flatnonzero(np.diff(gammas)) + 1]

    def gamma(times: Array) -> Array:
        return gammas[np.clip(np.searchsorted(t, times, side="left") - 1, 0, gammas.size - 1)]

    return Problem(
        Model(s=equation.s, beta=equation.beta, size=equation.size, noise=noise),
        gamma=gamma,
        horizon=float(t[-1]),
        breaks=tuple(jumps),
    )


@pytest.mark.parametrize("name", ["constant", "step down", "long zero phase"])
def test_the_mesh_agrees_with_the_solver_under_both_closures(name: str) -> None:
    equation = mesh_equation(*POINT)
    gammas = bound(equation, 0.2) * shape(name, equation)
    parts = equation.parts(gammas)
    for closure, found in (("volterra", parts), ("gaussian", gaussian_parts(equation, [gammas])[0])):
        loss = found["loss_e"] + parts["delta"] * found["loss_one"] + found["noise_one"]
        problem = replace(_problem(equation, gammas, 1.0), closure=closure)
        expected = float(loss_of(problem, problem.end, rtol=1e-8).values[0])
        # Linear interpolation of u on cells 1.35 times longer each: 1e-3 of the noise, measured on 15 problems.
        assert loss == pytest.approx(expected, rel=3e-3), closure


def test_the_law_is_the_first_order_of_the_loss() -> None:
    equation = mesh_equation(*POINT)
    gammas = np.full(equation.mesh.lengths.size, 1e-7)
    parts = equation.parts(gammas)
    # The second order is gamma tr(H) times the first, below 1e-6.
    assert parts["noise_one"] == pytest.approx(parts["label"], rel=1e-6)
    assert parts["loss_e"] - parts["e"] == pytest.approx(parts["batch"], rel=1e-6)
    wide = infinite_parts(equation, gammas)
    assert wide["label_inf"] > parts["label"] and wide["batch_inf"] > wide["batch_mixed"] > parts["batch"]


@pytest.mark.parametrize("infinite", [False, True])
def test_the_gradient_is_that_of_finite_differences(infinite: bool) -> None:
    equation = mesh_equation(*POINT)
    gammas = bound(equation, 0.2) * np.clip(shape("cosine", equation), 0.1, 0.9)
    value, slope = equation.excess(gammas, 0.5, infinite=infinite)
    for cell in (0, gammas.size // 2, gammas.size - 2):
        step = 1e-4 * gammas[cell]
        moved = gammas.copy()
        moved[cell] += step
        # Second differences are of the order of the step.
        assert (equation.excess(moved, 0.5, infinite=infinite)[0] - value) / step == pytest.approx(
            slope[cell], rel=1e-2
        )


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
