"""Seconds the exponent engine takes for each law: python -m pytest tests/bench -n 0 --benchmark-enable."""

import pytest

from fsl_sym.allocation import optimal_allocation
from fsl_sym.laws import BUDGETS, SCHEDULES

SECONDS = 1.0
"""The promise for each law of the paper, on one otherwise idle core."""


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_allocation_takes_less_than_a_second(benchmark, schedule, budget):
    allocation = benchmark.pedantic(optimal_allocation.__wrapped__, (schedule, budget), rounds=3)
    assert len(allocation.regimes) == 3
    if benchmark.enabled:
        assert benchmark.stats.stats.min < SECONDS
