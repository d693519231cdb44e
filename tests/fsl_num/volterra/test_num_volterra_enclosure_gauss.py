"""Gauss rules in balls: exact up to degree 2n - 1, and off by their norm at 2n."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fsl_num.volterra.enclosure.gauss import gauss_rule_of_moments

flint = pytest.importorskip("flint")


def _moments(measure: str, count: int) -> list[Any]:
    if measure == "flat":
        return [flint.arb(1) / (i + 1) for i in range(count)]
    # sum_j j^-(2 + 1.5 i) over j >= 1: points 1, 2^-1.5, ..., which pile up at 0
    return [flint.acb(2 + flint.arb(1.5) * i).zeta().real for i in range(count)]


@pytest.mark.parametrize("measure", ["flat", "zeta"])
@pytest.mark.parametrize("size", [1, 2, 7, 20])
def test_the_rule_is_exact_as_far_as_it_can_be(measure: str, size: int) -> None:
    with flint.ctx.workprec(500):
        moments = _moments(measure, 2 * size + 1)
        rule = gauss_rule_of_moments(flint, moments)
        assert len(rule.nodes) == len(rule.weights) == size
        for i, exact in enumerate(moments):
            found = sum((w * x**i for x, w in zip(rule.nodes, rule.weights, strict=True)), flint.arb(0))
            missing = exact - found
            if i < 2 * size:
                assert missing.contains(0) and missing.rad() < flint.arb(10) ** -60
            else:
                # the derivative of order 2n of x^(2n) is (2n)!, so that the bound is the error itself
                assert missing.overlaps(rule.norm) and missing > 0


def test_too_few_bits_are_noticed() -> None:
    with flint.ctx.workprec(60), pytest.raises(ArithmeticError, match="more bits are needed"):
        gauss_rule_of_moments(flint, _moments("flat", 61))


def test_nodes_of_a_measure_of_points_are_the_points() -> None:
    with flint.ctx.workprec(300):
        points = [flint.arb(x) for x in (0.125, 0.5, 0.75)]
        shares = [flint.arb(x) for x in (2, 1, 3)]
        # a little of the flat measure, so that the polynomial of the points has a norm
        tiny = flint.arb(2) ** -120
        moments = [
            sum((w * x**i for x, w in zip(points, shares, strict=True)), flint.arb(0)) + tiny / (i + 1)
            for i in range(7)
        ]
        rule = gauss_rule_of_moments(flint, moments)
        for x, w, at, share in zip(rule.nodes, rule.weights, points, shares, strict=True):
            assert abs(x - at) < flint.arb(10) ** -30 and abs(w - share) < flint.arb(10) ** -30
            assert x.rad() < flint.arb(10) ** -40
        # int (x - 1/8)^2 (x - 1/2)^2 (x - 3/4)^2 dx, of so little
        square = np.polynomial.Polynomial.fromroots([0.125, 0.5, 0.75]) ** 2
        assert float(rule.norm / tiny) == pytest.approx(float(square.integ()(1.0)), rel=1e-9, abs=0.0)


def test_a_measure_beside_zero_or_of_few_points_is_refused() -> None:
    with flint.ctx.workprec(200):
        # points 0 and 1/2: the first node is not proven to be positive
        at_zero = [flint.arb(1) + 1, *(flint.arb(2) ** -i for i in range(1, 5))]
        with pytest.raises(ArithmeticError, match="more bits are needed"):
            gauss_rule_of_moments(flint, at_zero)
        with pytest.raises(ArithmeticError, match="for 2 nodes; more bits"):
            gauss_rule_of_moments(flint, [flint.arb(2) ** -i for i in range(5)])
        # the second moment is below the square of the first
        with pytest.raises(ArithmeticError, match="not known well enough for 2 nodes"):
            gauss_rule_of_moments(flint, [flint.arb(x) for x in (1.0, 0.5, 0.2, 0.1, 0.05)])
