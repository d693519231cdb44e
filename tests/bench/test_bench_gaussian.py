"""The Gaussian closure: few modes against all of them, and an independent integrator, as ratios in the same run.

python -m pytest tests/bench -n 0 --benchmark-enable
"""

import time
from itertools import count

import numpy as np
from scipy.integrate import solve_ivp

from fsl_num.model import Model
from fsl_num.schedules import schedule
from fsl_num.spectrum import approximation_error
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.second_moments import solve_second_moments

SIZE = 1000
PLAN = schedule("wsd", peak=0.4, final=0.004, steps=2e4, decay_fraction=0.2)


PROBLEMS = (Problem(Model(s=0.5 + 1e-9 * k, beta=1.5, size=SIZE, noise=1.0), gamma=PLAN, closure="gaussian")
            for k in count())  # fmt: skip
"""Each of another spectrum, so that no modes are those kept from before."""


def by_few_modes(problem):
    """The loss at the end."""
    return solve_second_moments(problem, np.array([problem.end]), 1e-12)


def test_few_modes_against_all_and_an_integrator(benchmark):
    values, errors, facts = by_few_modes(next(PROBLEMS))
    benchmark.pedantic(by_few_modes, setup=lambda: ((next(PROBLEMS),), {}), rounds=3)
    problem = next(PROBLEMS)
    start = time.perf_counter()
    by_few_modes(problem)
    few = time.perf_counter() - start

    index = np.arange(1.0, SIZE + 1.0)
    rates, delta = index**-1.5, approximation_error(0.5, 1.5, SIZE)
    every = Problem(Model(noise=1.0, spectrum=Spectrum(rates, index**-1.75, delta)), gamma=PLAN, closure="gaussian")
    start = time.perf_counter()
    full, errors_of_all, _ = solve_second_moments(every, np.array([every.end]), 1e-12)
    all_modes = time.perf_counter() - start
    assert (np.abs(values - full) <= errors + errors_of_all).all()

    def motion(tau, x):
        phi = PLAN.learning_rate(min(tau, PLAN.steps))
        return phi * (-2.0 * rates * x + phi * rates**2 * (x + x.sum() + delta + 1.0))

    start, x = time.perf_counter(), index**-1.75
    for low, high in ((0.0, PLAN.physical_breaks[0]), (PLAN.physical_breaks[0], PLAN.steps)):
        x = solve_ivp(motion, (low, high), x, method="DOP853", rtol=1e-9, atol=1e-13).y[:, -1]
    integrator = time.perf_counter() - start
    assert abs(x.sum() + delta - values[0]) < 1e-6 * values[0]
    print(
        f"\n{facts['modes']} of {SIZE} modes: {all_modes / few:.1f} times as fast as all of them,"
        f" {integrator / few:.1f} times as fast as an explicit integrator of order 8 at 1e-9"
    )
