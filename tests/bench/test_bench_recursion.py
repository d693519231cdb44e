"""What the exact recursion costs, as multiples of what was measured in the same run: the recursion in numpy, on
the same modes, and sampled runs of the same error.

python -m pytest tests/bench -n 0 --benchmark-enable
"""

import math
import time

from fsl_num.model import Model
from fsl_num.schedules import step_rates
from fsl_num.simulate import recursion
from fsl_num.simulate.monte_carlo import simulate_sgd
from fsl_num.simulate.regression import Regression

STEPS = 100_000
ERROR = 1e-3  # relative, the standard error that sampled runs shall reach; the recursion is exact


def once(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def in_numpy(system, noise, rates):
    """2E after the steps, as the recursion is written."""
    x, lam = system.start, system.eigenvalues
    for eta in rates:
        u = system.tail + x.sum() + noise
        x = ((1.0 - eta * lam) ** 2 + system.excess * (eta * lam) ** 2) * x + eta**2 * u * system.weights
    return system.tail + x.sum()


def test_compiled_steps_against_numpy(benchmark):
    problem = Regression(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0))
    rates = step_rates("cosine", peak=0.1, steps=STEPS)
    curve = benchmark.pedantic(
        recursion.exact_risk, (problem, rates), {"every": STEPS // 10}, rounds=3, warmup_rounds=1
    )
    system = recursion.moments(problem, float(rates.sum()))
    found = []
    plain = 10 * once(lambda: found.append(in_numpy(system, problem.model.noise, rates[: STEPS // 10])))
    # a few roundings of ten thousand steps
    assert abs(2.0 * curve.excess_risk[1] - found[0]) < 1e-12 * found[0]
    if benchmark.enabled:
        ratio = plain / benchmark.stats.stats.min
        benchmark.extra_info["numpy over the compiled recursion"] = round(ratio, 1)
        print(f"{STEPS} steps, {system.eigenvalues.size} modes: {ratio:.1f} times faster than the recursion in numpy")


def test_sampled_runs_of_equal_error(benchmark):
    problem = Regression(Model(s=0.5, beta=2.0, size=128, noise=1.0))
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
