"""What sampled runs cost, as multiples of what was measured beside them in the same run: of the normal numbers alone,
and of a straightforward loop; and what a second process brings.

python -m pytest tests/bench -n 0 --benchmark-enable

A hundredth of 1,000 runs x 10,000 steps x M = 128 by default; all of it with BENCH_FULL=1.
"""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from fsl_num.model import Model
from fsl_num.simulate.monte_carlo import simulate_sgd
from fsl_num.simulate.normals import NormalBlocks
from fsl_num.simulate.regression import Regression
from fsl_num.simulate.streams import BLOCK

FULL = bool(os.environ.get("BENCH_FULL"))
RUNS, STEPS = (1000, 10_000) if FULL else (256, 400)
ROUNDS = 2 if FULL else 7
SIZE = 128
PROBLEM = Regression(Model(s=0.5, beta=2.0, size=SIZE, noise=1.0))


def seconds(*calls, clock=time.process_time):
    """The least time of each call over several rounds; the calls take turns, so that a busy machine slows all.

    Processor time by default: what else the machine does counts little.
    """
    least = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            start = clock()
            call()
            least[i] = min(least[i], clock() - start)
    return least


def fast_normals(runs, steps, dtype):
    """As many normals as the runs take, by the fastest generator found."""
    blocks = NormalBlocks(np.random.SeedSequence(1), np.ones(BLOCK // 2), dtype)
    for _ in range(-(-runs * steps * (SIZE + 1) // BLOCK)):
        blocks.draw()


def ziggurat(runs, steps, dtype):
    """As many normals from numpy's own generator, the faster of its bit generators."""
    generator = np.random.Generator(np.random.SFC64(1))
    out = np.empty(BLOCK, dtype)
    for _ in range(-(-runs * steps * (SIZE + 1) // BLOCK)):
        generator.standard_normal(out=out, dtype=dtype)


def plain_loop(runs, steps, dtype):
    """The loop that one writes first."""
    generator = np.random.default_rng(1)
    root = np.sqrt(PROBLEM.eigenvalues).astype(dtype)
    theta = PROBLEM.theta.astype(dtype)
    v = np.zeros((runs, SIZE), dtype)
    for _ in range(steps):
        phi = root * generator.standard_normal((runs, SIZE), dtype=dtype)
        y = phi @ theta + generator.standard_normal(runs, dtype=dtype)
        v -= 0.1 * ((v * phi).sum(axis=1) - y)[:, None] * phi
    return v


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_runs_cost_little_more_than_their_random_numbers(benchmark, dtype):
    def runs():
        return simulate_sgd(PROBLEM, np.full(STEPS, 0.1), runs=RUNS, seed=1, dtype=dtype, progress=False)

    curve = benchmark.pedantic(runs, rounds=1)
    assert curve.excess_risk[-1] < curve.excess_risk[0]
    if benchmark.enabled:
        kind = np.dtype(dtype).type
        ours, fast, numpys, loop = seconds(
            runs, *(lambda f=f: f(RUNS, STEPS, kind) for f in (fast_normals, ziggurat, plain_loop))
        )
        count = RUNS * STEPS * SIZE
        told = {
            "over the fastest normals": ours / fast,
            "over numpy's normals": ours / numpys,
            "plain loop over it": loop / ours,
            "nanoseconds a number": 1e9 * ours / count,
        }
        benchmark.extra_info.update({name: round(value, 2) for name, value in told.items()})
        print(f"{dtype}: " + ", ".join(f"{name} {value:.2f}" for name, value in told.items()))


def process_time(_):
    """The process that answers and its processor time; slow enough that every process of a pool gets a turn."""
    time.sleep(0.02)
    return os.getpid(), time.process_time()


def test_two_processes_share_the_work(benchmark):
    steps = STEPS if FULL else 4 * STEPS

    def runs(executor=None):
        return simulate_sgd(
            PROBLEM, np.full(steps, 0.1), runs=RUNS, seed=1, dtype="float32", executor=executor, progress=False
        )

    alone = benchmark.pedantic(runs, rounds=1)
    if benchmark.enabled:
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            shared = runs(pool)  # starts the processes, which is not what is measured
            assert shared.excess_risk.tolist() == alone.excess_risk.tolist()
            single, double = seconds(runs, lambda: runs(pool), clock=time.perf_counter)
            before = dict(pool.map(process_time, range(20)))
            start = time.process_time()
            runs(pool)
            here = time.process_time() - start
            busiest = max(after - before[process] for process, after in dict(pool.map(process_time, range(20))).items())
        (processor,) = seconds(runs)
        told = {
            "times as fast on two processes": single / double,
            # what the first would be if nothing else ran on the machine
            "processor time alone over that of the busier process and of this one": processor / (busiest + here),
        }
        benchmark.extra_info.update({name: round(value, 2) for name, value in told.items()})
        print(", ".join(f"{name} {value:.2f}" for name, value in told.items()))
    assert alone.excess_risk[-1] < alone.excess_risk[0]
