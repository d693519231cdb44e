"""What the exact recursion costs, as multiples of what was measured beside it in the same run: step by step on the same
modes, and sampled runs of the same error.

python -m pytest tests/bench -n 0 --benchmark-enable
"""

import math
import time

import numpy as np

from fsl_num.schedules.steps import step_rates
from fsl_num.simulate import recursion
from fsl_num.simulate.curve import record_steps
from fsl_num.simulate.monte_carlo import simulate_sgd
from fsl_num.simulate.regression import Regression

STEPS = 100_000
ERROR = 1e-3  # relative, the standard error that sampled runs shall reach; the recursion is exact


def once(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def test_blocks_against_single_steps(benchmark):
    problem = Regression(s=0.5, beta=2.0, model_size=math.inf, noise=1.0)
    rates = step_rates("cosine", peak=0.1, steps=STEPS)
    curve = benchmark.pedantic(recursion.exact_risk, (problem, rates), rounds=3, warmup_rounds=1)
    system = recursion.moments(problem, float(rates.sum()))
    wanted, share = record_steps(STEPS // 10, None), 10
    single = share * once(lambda: recursion._one_by_one(system, rates[: STEPS // 10], np.ones(STEPS // 10), wanted))
    assert curve.excess_risk[-1] < 0.01 * curve.excess_risk[0]
    if benchmark.enabled:
        ratio = single / benchmark.stats.stats.min
        benchmark.extra_info["single steps over blocks"] = round(ratio, 1)
        print(f"{STEPS} steps, {system.eigenvalues.size} modes: blocks are {ratio:.1f} times faster than single steps")


def test_sampled_runs_of_equal_error(benchmark):
    problem = Regression(s=0.5, beta=2.0, model_size=128, noise=1.0)
    rates = step_rates("cosine", peak=0.1, steps=1000)
    exact = benchmark.pedantic(recursion.exact_risk, (problem, rates), rounds=5, warmup_rounds=1)
    found = {}

    def sample():
        found["curve"] = simulate_sgd(problem, rates, runs=256, seed=1, progress=False)

    taken = once(sample)
    curve = found["curve"]
    spread = curve.standard_error[-1] / curve.excess_risk[-1]
    # six standard errors: a false alarm once in 5e8
    assert abs(curve.excess_risk[-1] - exact.excess_risk[-1]) < 6.0 * curve.standard_error[-1]
    if benchmark.enabled:
        # the error of a mean falls like the root of the number of runs
        ratio = taken * (spread / ERROR) ** 2 / benchmark.stats.stats.min
        benchmark.extra_info["sampled runs of a relative error of 1e-3 over the recursion"] = round(ratio)
        print(f"runs with a standard error of {ERROR:g} cost {ratio:.0f} times the recursion, which has none")
