"""The solvers of the Volterra equation against a named baseline of the same run; the whole table: volterra_table.py.

python -m pytest tests/bench -n 0 --benchmark-enable
"""

import math
from dataclasses import replace

import numpy as np
import pytest
import volterra_table as table
from volterra_timing import matmul_speed, seconds, worst

from fsl_num.model import Model
from fsl_num.schedules import Discrete
from fsl_num.volterra import Problem, solve
from fsl_num.volterra.steps.discrete import losses_of_steps

MODEL = Model(s=0.5, beta=2.0, size=128, noise=1.0)
CONSTANT = Problem(MODEL, gamma=0.3, horizon=100.0)
INFINITE = Problem(Model(s=0.5, beta=2.0, size=math.inf, noise=1.0), gamma=0.0, horizon=1.0)


def report(benchmark, name, baseline):
    """Say how many times the baseline the benchmark took."""
    if benchmark.enabled:
        ratio = benchmark.stats.stats.min / baseline()
        benchmark.extra_info[name] = round(ratio, 3)
        print(f"{name}: {ratio:.3g}")


def test_constant_gamma_against_a_solver_of_convolution_equations(benchmark):
    voles = pytest.importorskip("voles")
    t = np.linspace(0.0, CONSTANT.end, 4097)
    kernel, forcing = 0.3 * MODEL.kernel(t), MODEL.forcing(t) + MODEL.noise

    def theirs():
        return voles.solve_VIE_2(
            kernel_values=kernel, g_values=forcing, time_step=t[1], coll_divs=12, coll_choices=[1, 3, 7, 10, 12]
        )

    found = benchmark.pedantic(solve, (CONSTANT, t[256::256]), {"rtol": 1e-8}, rounds=3)
    # its rule of order six on steps of 100/4096: 6e-10 was measured
    assert worst(found.excess_risk, 0.5 * (theirs()[256::256] - MODEL.noise)) < 1e-8
    report(benchmark, "panels over voles", lambda: seconds(theirs)[0])


def test_smooth_gamma_against_direct_quadrature(benchmark):
    problem = replace(INFINITE, gamma=lambda t: 0.3 / (1.0 + 0.1 * t), horizon=50.0)
    found = benchmark.pedantic(solve, (problem, problem.end), rounds=3)
    plain = 0.5 * table.trapezoid(problem, 512)[-1]
    # second order on steps of 0.1: the constant of the rule is about 1
    assert found.excess_risk[0] == pytest.approx(plain, rel=1e-2)
    report(benchmark, "panels over a trapezoid of 512 steps", lambda: seconds(lambda: table.trapezoid(problem, 512))[0])


def test_discrete_steps_against_the_flops_of_the_plain_recursion(benchmark):
    steps = 20_000
    problem = replace(INFINITE, gamma=Discrete(rates=np.full(steps, 0.1)), horizon=None)
    values, error, facts = benchmark.pedantic(losses_of_steps, (problem, 1e-8), rounds=3, warmup_rounds=1)
    smooth = solve(replace(INFINITE, gamma=0.1, horizon=problem.end), problem.end)
    # the two sums of 20,000 steps differ by their rounding, 1e-12 of the time
    allowed = 0.5 * error[-1] + smooth.error[0] + 0.5e-11 * values[-1]
    assert abs(0.5 * values[-1] - smooth.excess_risk[0]) <= allowed
    flops = 4.0 * facts.modes * steps
    report(benchmark, "discrete steps over the flops of the recursion at full speed", lambda: flops / matmul_speed())


def test_the_rows_of_the_table_are_lines_of_markdown():
    rows = list(table.growth(True))
    assert len(rows) == 4
    assert all(len(row.cells()) == len(table.HEAD) for row in rows)
    assert all(row.ratio > 0 for row in rows)
