"""Gauss rules of discrete measures, and the bounds of what a block of indices loses, against forty digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from fsl_num.gauss_rules import block_remainders, block_rules, gauss_rule, jacobi_matrix, rule_of_matrix

MP = mpmath.mp.clone()
MP.dps = 40


def test_blocks_of_sixteen_are_kept_and_longer_ones_are_replaced() -> None:
    x, w = block_rules(np.array([5.0, 21.0]))
    assert x.tolist() == list(range(5, 21)) and w.tolist() == [1.0] * 16
    x, w = block_rules(np.array([5.0, 22.0]))
    assert len(x) == 16 and not (x == np.round(x)).all()
    assert w.sum() == pytest.approx(17.0, rel=1e-14, abs=0.0) and 5.0 < x.min() < x.max() < 21.0
    # the rule is symmetric about the middle of 5 .. 21
    assert np.sort(26.0 - x) == pytest.approx(np.sort(x), rel=1e-14, abs=0.0)


@pytest.mark.parametrize("edges", [(1.0, 18.0), (1.0, 40.0), (300.0, 420.0), (5000.0, 9000.0)])
@pytest.mark.parametrize(("power", "beta"), [(1.05, 1.05), (6.0, 2.0), (12.0, 6.0)])
def test_the_bounds_on_ellipses_hold_on_them_and_are_not_far_from_what_is_there(
    edges: tuple[float, float], power: float, beta: float
) -> None:
    bound, slowest = block_remainders(np.array(edges), power, beta)
    assert bound.shape == slowest.shape == (1, 7)
    first, last, count = edges[0], edges[1] - 1.0, edges[1] - edges[0]
    theta = np.linspace(0.0, math.pi, 4001)
    for rho, most, rate in zip((1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0), bound[0], slowest[0], strict=True):
        z = 0.5 * (first + last) + 0.25 * (last - first) * (rho * np.exp(1j * theta) + np.exp(-1j * theta) / rho)
        # an ellipse around 0 proves nothing, and one that nearly touches it next to nothing
        assert math.isinf(most) == (z.real.min() <= 0.001 * z.real.max() / 2.0)
        if math.isinf(most):
            continue
        # Polynomials of degree 31 come within 2 Mx rho^-31/(rho - 1), sum and rule each take that as often as they
        # have mass. 1e-12: rounding of powers.
        largest = (np.abs(z) ** -power).max()
        assert most == pytest.approx(2.0 * count * 2.0 * largest * rho**-31.0 / (rho - 1.0), rel=1e-12, abs=0.0)
        # 24 arcs: modulus and angle are taken at different ends of an arc
        truth = (z**-beta).real.min()
        assert rate <= truth + 1e-12 * abs(truth)
        size = (np.abs(z) ** -beta).max()
        assert truth - rate <= 0.3 * beta * size


@pytest.mark.parametrize(
    ("power", "length", "most"),
    # of blocks as long as those in use little is lost (measured: 18, 1.3, 1.7), of longer ones at most two digits more
    [
        (2.0, 0.4, 30.0),
        (6.0, 0.4, 2.0),
        (12.0, 0.4, 3.0),
        *((p, x, 3e3) for p in (2.0, 6.0) for x in (0.7, 1.0, 1.4, 2.4)),
    ],
)
def test_the_ellipses_lie_close_enough(power: float, length: float, most: float) -> None:
    """Of all ellipses the best is not much better than the best of those in use."""
    edges = np.array([1000.0, math.ceil(1000.0 * math.exp(length))])
    least = block_remainders(edges, power, 1.5)[0].min()
    count = edges[1] - edges[0]
    half, centre = 0.5 * (count - 1.0), edges[0] + 0.5 * (count - 1.0)
    rho = np.linspace(1.2, 12.0, 4000)
    wide = half * 0.5 * (rho + 1.0 / rho)
    rho, wide = rho[wide < 0.999 * centre], wide[wide < 0.999 * centre]
    best = (4.0 * count * rho**-31.0 / (rho - 1.0) * (centre - wide) ** -power).min()
    assert best <= least * (1.0 + 1e-9) and least <= most * best  # 1e-9: the same formula, rounded


def test_the_jacobi_matrix_of_legendre() -> None:
    nodes, weights = np.polynomial.legendre.leggauss(40)
    diagonal, beside = jacobi_matrix(nodes, weights, 20)
    k = np.arange(1.0, 20.0)
    # 40 points integrate products up to degree 79 exactly
    assert np.abs(diagonal).max() < 1e-14 and beside == pytest.approx(k / np.sqrt(4.0 * k**2 - 1.0), rel=1e-13, abs=0.0)
    for size in (1, 5, 20, 99):
        x, w = rule_of_matrix(diagonal, beside, size)
        exact, masses = np.polynomial.legendre.leggauss(min(size, 20))
        # 1e-14: eigenvalues of a matrix of norm one
        assert np.abs(x - exact).max() < 1e-14 and np.abs(2.0 * w - masses).max() < 1e-14


def test_a_measure_of_few_points_ends_its_jacobi_matrix() -> None:
    nodes, weights = np.array([-0.5, 0.25, 0.75, 0.25]), np.array([1.0, 2.0, 3.0, 4.0])
    diagonal, beside = jacobi_matrix(nodes, weights, 4)
    assert len(diagonal) == 3 and len(beside) == 2
    x, w = gauss_rule(nodes, weights, 4)
    # 1e-13: the rule of as many points as there are is the measure itself
    assert x == pytest.approx([-0.5, 0.25, 0.75], rel=1e-13, abs=0.0) and w == pytest.approx(
        [1.0, 6.0, 3.0], rel=1e-13, abs=0.0
    )
    for points, masses in (([3.0], [2.0]), ([3.0, 3.0], [2.0, 5.0])):
        x, w = gauss_rule(np.array(points), np.array(masses), 5)
        assert x.tolist() == [3.0] and w == pytest.approx([sum(masses)], rel=1e-15, abs=0.0)
    assert [len(entries) for entries in jacobi_matrix(np.array([0.5]), np.array([2.0]), 3)] == [1, 0]


def test_the_jacobi_matrix_of_points_that_pile_up_keeps_its_digits() -> None:
    nodes = 2.0 * np.arange(1.0, 400.0) ** -2.0 - 1.0
    weights = np.arange(1.0, 400.0) ** -3.0
    diagonal, beside = jacobi_matrix(nodes, weights, 12)
    x, w = [MP.mpf(float(value)) for value in nodes], [MP.mpf(float(value)) for value in weights]
    low, now = [MP.mpf(0)] * len(x), [MP.mpf(1)] * len(x)
    norms = [MP.fsum(w)]
    for k in range(12):  # Stieltjes' procedure in 40 digits, monic polynomials
        centre = MP.fsum(c * y**2 * z for c, y, z in zip(w, now, x, strict=True)) / norms[-1]
        share = norms[-1] / norms[-2] if k else MP.mpf(0)
        # 1e-14: rounding of numbers of size one
        assert abs(diagonal[k] - centre) < 1e-14
        low, now = now, [(z - centre) * a - share * b for z, a, b in zip(x, now, low, strict=True)]
        norms.append(MP.fsum(c * y**2 for c, y in zip(w, now, strict=True)))
        if k < 11:
            assert abs(beside[k] - MP.sqrt(norms[-1] / norms[-2])) < 1e-14


def test_blocks_that_are_kept_have_no_remainder() -> None:
    alone = block_remainders(np.array([21.0, 60.0]), 4.0, 2.0)
    among = block_remainders(np.array([1.0, 5.0, 21.0, 60.0]), 4.0, 2.0)  # 4, 16 and 39 indices
    for single, block in zip(alone, among, strict=True):
        assert single.shape == (1, 7) and (single == block).all()


@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1e-20), (1e15, 8.0), (-1e15, 8.0), (0.0, 1e200), (3.0, 1.0)])
def test_a_rule_moves_with_its_measure(shift: float, scale: float) -> None:
    nodes, weights = np.array([0.0, 0.25, 0.5, 1.0]), np.array([1.0, 2.0, 1.0, 3.0])
    plain, masses = gauss_rule(nodes, weights, 2)
    found, moved = gauss_rule(shift + scale * nodes, weights, 2)
    # 1e-13 of the length, and the rounding of a place
    assert np.abs(found - (shift + scale * plain)).max() <= 1e-13 * scale + 2.0**-52 * abs(shift)
    assert moved == pytest.approx(masses, rel=1e-1 if shift > 10.0 else 1e-12) and moved.sum() == pytest.approx(7.0)


def test_blocks_with_rules_and_without_are_ordered_apart() -> None:
    x, w = block_rules(np.array([1.0, 18.0, 20.0, 60.0]))
    # the two indices that are kept come first, then the two rules of sixteen
    assert x[:2].tolist() == [18.0, 19.0] and w[:2].tolist() == [1.0, 1.0] and len(x) == 34
    for low, high, part in ((1, 18, slice(2, 18)), (20, 60, slice(18, 34))):
        j = np.arange(float(low), float(high))
        centre = j.mean()
        for degree in range(32):
            exact = float(MP.fsum(((MP.mpf(v) - MP.mpf(centre)) / MP.mpf(len(j))) ** degree for v in j.tolist()))
            # thirty-one powers of numbers below one
            assert ((x[part] - centre) / len(j)) ** degree @ w[part] == pytest.approx(exact, rel=1e-12, abs=1e-13)
