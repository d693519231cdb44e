"""What all regions of a law cost, as a multiple of its optimum at one exact point: the named baseline of the same run.

python -m pytest tests/bench -n 0 --benchmark-enable
"""

import time
from fractions import Fraction

import pytest

from fsl_sym import optimal_exponents, scaling_law
from fsl_sym.exponents.outcome import Optimiser
from fsl_sym.laws import BUDGETS, SCHEDULES
from fsl_sym.symbols import N, beta, s


def seconds_at_one_point(law):
    """The least of three runs that solve a law afresh at s = 1, beta = 2, ranges and certificate included."""
    runs = []
    for _ in range(3):
        start = time.perf_counter()
        Optimiser(law).outcome({s: Fraction(1), beta: Fraction(2)})
        runs.append(time.perf_counter() - start)
    return min(runs)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_all_regions_of_a_law(benchmark, schedule, budget):
    (case,) = scaling_law(schedule).cases
    grown = BUDGETS[budget] if budget == "compute" else N
    law = case.in_hyperparameters(grown), case.variables, grown, case.constraints(grown), dict(case.ranges)
    solution = benchmark.pedantic(optimal_exponents, law, rounds=3)
    assert solution.regions and solution.complete
    if benchmark.enabled:
        ratio = benchmark.stats.stats.min / seconds_at_one_point(solution.law)
        benchmark.extra_info["all regions over one exact point"] = round(ratio, 2)
        print(f"{schedule}, {budget}: all regions cost {ratio:.1f} times one exact point")
