"""The tables of collocation: integration and multiplication at the Radau nodes, and their eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import legendre

from fsl_num.volterra.enclosure.collocation import collocation, integration

flint = pytest.importorskip("flint")


def _nodes(stages: int) -> Any:
    """The zeros of P_s - P_(s-1) in x = 2y - 1, one of them 1."""
    return np.sort(legendre.legroots([0.0] * (stages - 1) + [-1.0, 1.0]))


def _real(matrix: Any) -> Any:
    return np.array([[float(x) for x in row] for row in matrix.tolist()])


def _applied(table: Any, factors: Any) -> Any:
    """V diag(factors) V^-1, one of each conjugate pair."""
    inverse = np.array([[complex(x) for x in row] for row in table.inverse.tolist()])
    whole = _real(table.vectors)
    count = len(table.alphas)
    vectors = whole[:, :count] - 1j * whole[:, count:]
    return (vectors @ (np.asarray(factors)[:, None] * inverse)).real


@pytest.mark.parametrize("size", [1, 2, 7])
def test_integration_of_legendre_series(size: int) -> None:
    found = np.array([[float(x.p) / float(x.q) for x in row] for row in integration(flint, size)])
    for n in range(size):
        # dy = dx/2
        exact = np.zeros(size + 1)
        exact[: n + 2] = legendre.legint([0.0] * n + [1.0], lbnd=-1.0) / 2.0
        assert np.abs(found[:, n] - exact).max() < 1e-15


@pytest.mark.parametrize("stages", [2, 5, 8])
def test_the_tables_are_integration_and_multiplication_at_the_nodes(stages: int) -> None:
    table = collocation(stages, 200)
    nodes = _nodes(stages)
    alphas = [complex(x) for x in table.alphas]
    assert len(alphas) == (stages + 1) // 2 and table.stages == stages
    assert min(x.imag for x in alphas) > -1e-30
    whole = _applied(table, alphas)
    for n in range(stages):
        unit = np.eye(stages)[n]
        # 1e-13: float64 roots and values
        at_nodes = legendre.legval(nodes, whole @ unit)
        exact = legendre.legval(nodes, legendre.legint(unit, lbnd=-1.0)) / 2.0
        assert np.abs(at_nodes - exact).max() < 1e-13
        turned = legendre.legval(nodes, _real(table.times) @ unit)
        assert np.abs(turned - nodes * legendre.legval(nodes, unit)).max() < 1e-13
    assert np.abs(_applied(table, np.ones(len(alphas))) - np.eye(stages)).max() < 1e-13
    # start is V^-1 of the constant 1, and primitive V without the reduction
    inverse = np.array([[complex(x) for x in row] for row in table.inverse.tolist()])
    assert np.abs(np.array([complex(x) for x in table.start]) - inverse[:, 0]).max() == 0.0
    count, rows = len(alphas), _real(table.primitive)
    full = ((rows[:, :count] - 1j * rows[:, count:]) @ inverse).real
    exact_rows = np.array([[float(x.p) / float(x.q) for x in row] for row in integration(flint, stages)])
    assert full.shape == (stages + 1, stages) and np.abs(full - exact_rows).max() < 1e-13


def test_too_few_bits_for_the_eigenvalues_are_noticed() -> None:
    with pytest.raises(ArithmeticError, match="were not separated at 12 bits"):
        collocation(40, 12)
