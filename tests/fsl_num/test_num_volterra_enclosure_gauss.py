"""Gauss rules in balls: exact up to degree 2n - 1, and off by their norm at 2n."""

from __future__ import annotations

from typing import Any

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


def test_the_nodes_are_those_of_legendre() -> None:
    with flint.ctx.workprec(300):
        rule = gauss_rule_of_moments(flint, _moments("flat", 25))
        for i, x in enumerate(rule.nodes):
            assert x.overlaps((1 - flint.arb.legendre_p_root(12, i)) / 2)


def test_too_few_bits_are_noticed() -> None:
    with flint.ctx.workprec(60), pytest.raises(ArithmeticError, match="more bits are needed"):
        gauss_rule_of_moments(flint, _moments("flat", 61))
