"""The Gaussian closure in every solver: few modes for large models, matrix exponentials, rates of convergence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from models import problem_of
from volterra_exponential import exact_losses

from fsl_num.model import Model
from fsl_num.schedules import schedule
from fsl_num.spectrum import trace
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits.constant import solve_constant
from fsl_num.volterra.moment_modes import full_modes, moment_modes
from fsl_num.volterra.panels import panel_ends
from fsl_num.volterra.second_moments import march_moments, solve_second_moments


def gaussian(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 5, "noise": 1.0, "gamma": 0.3, "horizon": 100.0}
    return problem_of(**{**values, "closure": "gaussian", **changes})


def test_rates_of_a_spectrum_that_coincide_are_one_pole() -> None:
    # 2 x - gamma x^2 is the same at x = 1 and x = 3 for gamma = 1/2, exactly; and one rate is listed twice
    spectrum = Spectrum([1.0, 3.0, 0.25, 0.25], [1.0, 0.5, 0.2, 0.3], 0.05)
    problem = Problem(Model(noise=0.4, spectrum=spectrum), gamma=0.5, horizon=2.0, closure="gaussian")
    values, errors, facts = solve_constant(problem, [2.0], 25)
    assert facts["modes"] == 2
    assert abs(exact_losses(problem, [2.0])[0] - values[0]) <= errors[0]


def test_random_problems_never_claim_too_little() -> None:
    generator = np.random.default_rng(20)
    shares = []
    for _ in range(25):
        beta, s, size = generator.uniform(1.05, 6.0), generator.uniform(0.05, 3.0), int(generator.integers(1, 12))
        gamma, horizon = 2 * generator.uniform(0.02, 0.6) / trace(beta, size), 10.0 ** generator.uniform(-3, 7)
        problem = gaussian(s=s, beta=beta, size=size, gamma=gamma, horizon=horizon, noise=generator.choice([0, 1]))
        if problem.stability >= 0.95:
            continue
        t = np.geomspace(1e-3, 1.0, 5) * horizon
        exact = np.array([float(x) for x in solve_constant(problem, list(t), 18)[0]])
        values, errors, _ = solve_second_moments(problem, t, 1e-12)
        shares.append(float((np.abs(values - exact) / errors).max()))
    assert len(shares) > 15
    assert max(shares) <= 1.0  # measured on 300 such problems: 0.22
    assert max(shares) > 0.01  # and not a hundred times too wide


LARGE: list[dict[str, Any]] = [
    {"size": math.inf, "horizon": 2.0**20},
    {"size": math.inf, "s": 3.0, "beta": 6.0, "gamma": 0.8, "horizon": 1e6},
    {"size": 1e4, "s": 0.3, "beta": 1.2, "horizon": 1e5},
]


@pytest.mark.parametrize("case", LARGE)
def test_few_modes_give_the_sums_over_times_and_integrals_of_gamma(case: dict[str, Any]) -> None:
    problem = gaussian(**case)
    modes = moment_modes(problem)
    assert modes.rates.size < 250 and modes.error < 1e-12
    # at points of one's own, with the tail of an infinite sum as an integral of the series in G
    size = min(problem.model.size, 20_000.0)
    j = np.arange(1.0, size + 1.0)
    rates = j**-problem.model.beta
    for power, weights in (
        (2.0 * problem.model.beta, modes.kernel_weights),
        (1.0 + problem.model.s * problem.model.beta, modes.signal_weights),
    ):
        for tau, share in ((0.37, 0.9), (53.0, 0.2), (1700.0, 1.0)):
            growth = share * problem.peak_gamma * tau
            exact = math.fsum(j**-power * np.exp(growth * rates**2 - 2.0 * tau * rates))
            if math.isinf(problem.model.size):
                # sum_{j > n}: Euler-Maclaurin at n + 1/2, where 2 tau lambda < 1e-4 for beta >= 2; checked only there
                n = size + 0.5
                if problem.model.beta < 2.0:
                    continue
                for k in range(4):
                    terms = (-2.0 * tau) ** k / math.factorial(k)
                    exact += (
                        terms * n ** (1.0 - power - k * problem.model.beta) / (power + k * problem.model.beta - 1.0)
                    )
            short = float(np.exp(growth * modes.rates**2 - 2.0 * tau * modes.rates) @ weights)
            # 1e-13 for the sum of 2e4 terms and for what the Euler-Maclaurin sum leaves, n^-power/24/n^2
            assert short == pytest.approx(exact, rel=modes.error + 1e-13)


def errors_on_panels(problem: Problem, exact: float, ratios: tuple[float, ...]) -> list[float]:
    times, modes = np.array([problem.end]), full_modes(problem)
    return [abs(march_moments(problem, modes, *panel_ends(problem, times, r))[-1] / exact - 1) for r in ratios]


def test_halved_panels_gain_the_order() -> None:
    problem = gaussian(gamma=schedule("power-decay", peak=0.5, power=2.0, steps=1e4), horizon=None)
    exact = float(solve_second_moments(problem, np.array([problem.end]), 1e-13)[0][0])
    coarse, fine = errors_on_panels(problem, exact, (4.0, 2.0))
    assert coarse > 2**6 * fine  # the stage order; measured 1400, order 11 being 2048
