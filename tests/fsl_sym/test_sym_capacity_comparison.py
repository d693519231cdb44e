"""Capacities compared for one task: orders that are right at points, and comparisons that cannot be turned round."""

from dataclasses import replace

import pytest
from sympy import Integer

from fsl_sym import capacity_comparison


@pytest.mark.parametrize("name", ["capacity_derivation", "peak_rate_derivation"])
def test_comparisons_hold_and_cannot_be_turned_round(name):
    derivation = getattr(capacity_comparison, name)()
    verdict = derivation.verify()
    assert verdict.holds, verdict.detail
    for step in derivation:
        turned = replace(step, before=step.after, after=step.before)
        assert turned.verify().holds == (not step.justification.strict), step.why


def test_capacity_at_points_agrees_with_the_allocation():
    alpha, beta = capacity_comparison.ALPHA, capacity_comparison.beta
    order = capacity_comparison.fixed_task_order("wsd", "compute", "easy")
    point = {alpha: 2, beta: 2}
    assert (order.power.subs(point), order.log_power.subs(point)) == (-Integer(1) / 2, Integer(1) / 4)
