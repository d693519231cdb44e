"""Across the (s, beta) plane, points drawn by hypothesis: derived exponents against brute force on the theorem's law.

The checks take a few points of every regime; here hypothesis chooses them, the edge s = 1 - 1/beta as often as not.
"""

import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from sympy import Rational

from fsl_num.claims.formula_laws import growth
from fsl_num.paper.allocation.numeric_laws import measure_risk
from fsl_sym.allocation import optimal_allocation
from fsl_sym.laws import BUDGETS, SCHEDULES

betas = st.integers(16, 72).map(lambda n: Rational(n, 12))


@st.composite
def points(draw):
    """A point on the edge, in the hard regime or in the easy one, with s up to 3 and beta in [4/3, 6]."""
    beta = draw(betas)
    edge = 1 - 1 / beta
    part = Rational(draw(st.integers(3, 21)), 24)
    return draw(st.sampled_from([edge, edge * part, edge + (3 - edge) * part])), beta


@pytest.mark.parametrize("budget", list(BUDGETS))
@pytest.mark.parametrize("schedule", SCHEDULES)
@examples(4)  # about a second each
@given(point=points())
def test_brute_force_grows_as_derived(schedule, budget, point):
    order = optimal_allocation(schedule, budget).at(*point).excess_risk
    ray = measure_risk(schedule, budget, *(float(value) for value in point), settled=True)
    claimed = growth(float(order.power), float(order.log_power))
    assert claimed.judge((ray,)).holds
    assert not any(mutant.judge((ray,)).holds for mutant in claimed.mutants().values())
