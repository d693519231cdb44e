"""A panel of the Gaussian closure against the collocation equations of all modes at once, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fsl_num.exponential_sums_digits import private_context
from fsl_num.volterra.digits.arithmetic import arithmetic
from fsl_num.volterra.digits.second_moments import OwnSystems
from fsl_num.volterra.radau import radau_table

DELTA, NOISE = 0.125, 0.5


def _system(mp: Any, eigen: list[float], weights: list[float]) -> dict[str, Any]:
    rows = {"rates": [2 * x for x in eigen], "squares": [x * x for x in eigen], "weights": weights}
    return {**{k: [mp.mpf(x) for x in row] for k, row in rows.items()}, "delta": mp.mpf(DELTA), "noise": mp.mpf(NOISE)}


def _written_out(
    eigen: list[float], weights: list[float], gamma: list[float], width: float, state: list[float], table: Any
) -> tuple[Any, float]:
    """y = y_0 + h A y' at the nodes with y_k' = -(2 lambda - gamma lambda^2) y_k + w_k gamma (f + sigma^2)."""
    nodes = np.array([float(x) for x in table.nodes])
    size, stages = len(eigen), len(nodes)
    # the integrals of Lagrange's polynomials, from the nodes alone
    powers = nodes[:, None] ** np.arange(stages)
    radau = (nodes[:, None] ** np.arange(1, stages + 1) / np.arange(1, stages + 1)) @ np.linalg.inv(powers)
    whole, right = np.eye(size * stages), np.zeros(size * stages)
    for k in range(size):
        rows = slice(k * stages, (k + 1) * stages)
        damping = 2.0 * eigen[k] - np.array(gamma) * eigen[k] ** 2
        whole[rows, rows] += width * radau * damping
        right[rows] += state[k] + width * weights[k] * radau @ (np.array(gamma) * (DELTA + NOISE))
        for i in range(size):
            whole[rows, i * stages : (i + 1) * stages] -= width * weights[k] * radau * np.array(gamma)
    found = np.linalg.solve(whole, right).reshape(size, stages)[:, -1]
    return found, DELTA + float(found.sum())


@pytest.mark.parametrize("library", ["flint", "mpmath"])
@pytest.mark.parametrize("width", [1e-3, 0.2, 30.0])
@pytest.mark.parametrize("gamma", [[0.4, 0.3, 0.2, 0.1], [0.25] * 4])
def test_a_step_solves_the_equations_of_collocation(library: str, width: float, gamma: list[float]) -> None:
    if library == "flint":
        pytest.importorskip("flint")
    mp = private_context(30)
    kind, table = arithmetic(mp, library), radau_table(4, 30)
    # weights that are not the squares, as few modes have them; slow modes and fast ones
    eigen = [1.0, 0.7, 0.03, 0.02, 0.015, 0.011, *(0.01 / (1.0 + k) for k in range(40 if library == "flint" else 6))]
    weights = [2.0 * x * x + 1e-3 * x for x in eigen]
    state = [1.0 / (1.0 + k) for k in range(len(eigen))]
    with kind.working():
        system = OwnSystems(kind, _system(mp, eigen, weights), table)
        modes, total = system.step(
            kind.number(mp.mpf(width)), [kind.number(mp.mpf(x)) for x in gamma], [kind.number(mp.mpf(x)) for x in state]
        )
        found = [float(kind.back(x)) for x in (*modes, total)]
    exact, loss = _written_out(eigen, weights, gamma, width, state, table)
    # 1e-11: the dense system in float64
    assert found == pytest.approx([*exact, loss], rel=1e-11, abs=0.0)
