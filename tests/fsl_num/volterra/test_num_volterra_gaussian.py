"""The Gaussian closure in every solver: few modes for large models, matrix exponentials, rates of convergence."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from models import problem_of

from fsl_num.model import Model
from fsl_num.schedules import schedule
from fsl_num.spectrum import approximation_error, trace
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits.constant import solve_constant
from fsl_num.volterra.digits.laplace import solve_laplace
from fsl_num.volterra.moment_modes import full_modes, mode_errors, moment_modes
from fsl_num.volterra.panels import panel_ends
from fsl_num.volterra.reference import solve_reference, trapezoid
from fsl_num.volterra.second_moments import march_moments, solve_second_moments


def gaussian(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": 5, "noise": 1.0, "gamma": 0.3, "horizon": 100.0}
    return problem_of(**{**values, "closure": "gaussian", **changes})


def matrix_exponential(problem: Problem, t: float) -> Any:
    """f(t) for constant gamma by the exponential of the system of all x_j = lambda_j m_j, to 50 digits."""
    mp = mpmath.mp.clone()
    mp.dps = 50
    size, gamma, noise = int(problem.model.size), mp.mpf(problem.peak_gamma), mp.mpf(problem.model.noise)
    if problem.model.spectrum is None:
        s, beta = mp.mpf(problem.model.s), mp.mpf(problem.model.beta)
        rates = [mp.mpf(j) ** -beta for j in range(1, size + 1)]
        start = [mp.mpf(j) ** -(1 + s * beta) for j in range(1, size + 1)]
        delta = mp.mpf(approximation_error(problem.model.s, problem.model.beta, size, digits=50))
    else:
        rates, start = (
            [mp.mpf(x) for x in problem.model.spectrum.rates],
            [mp.mpf(x) for x in problem.model.spectrum.weights_signal],
        )
        delta = mp.mpf(problem.model.spectrum.tail)
    own = gamma if problem.closure == "gaussian" else mp.mpf(0)
    system = mp.matrix(size + 1, size + 1)
    for i, x in enumerate(rates):
        for k in range(size):
            system[i, k] = gamma * x**2
        system[i, i] += own * x**2 - 2 * x
        system[i, size] = gamma * x**2 * (delta + noise)
    end = mp.expm(system * mp.mpf(t)) * mp.matrix([*start, mp.mpf(1)])
    return delta + mp.fsum(end[i] for i in range(size))


CASES: list[dict[str, Any]] = [
    {"horizon": 30.0},
    {"s": 1.0, "beta": 1.2, "size": 7, "noise": 0.0, "horizon": 1e4, "gamma": 0.2},
    {"s": 2.5, "beta": 5.0, "size": 3, "noise": 1e-6, "gamma": 0.9},
    {"s": 1.8, "beta": 4.3, "size": 2, "noise": 0.0, "gamma": 0.02, "horizon": 5.0},
    {"s": 0.1, "beta": 1.7, "size": 2, "noise": 2.0, "horizon": 1e-3},
    {"size": 1, "gamma": 0.0, "horizon": 3.0},
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_the_secular_equation_is_the_matrix_exponential(closure: str, case: dict[str, Any]) -> None:
    problem = gaussian(**{**case, "closure": closure})
    t = [0.0, 0.1 * problem.end, problem.end]
    values, errors, _ = solve_constant(problem, t, 30)
    for time, value, error in zip(t, values, errors, strict=True):
        exact = matrix_exponential(problem, time)
        assert abs(exact - value) <= error <= 2e-30 * exact


@pytest.mark.parametrize(
    "case",
    [
        {"size": 1, "gamma": 2.0, "closure": "volterra"},  # exactly at the edge: f grows like t
        {"size": 1, "gamma": 1.0},
        {"size": 1, "gamma": 2.0},  # the mode does not decay at all by itself
        {"size": 3, "gamma": 1.6},  # two modes of one rate, up to rounding
        {"size": 4, "gamma": 2.5},
        {"size": 1, "gamma": 2.0 - 2.0**-40, "closure": "volterra"},  # two large residues nearly cancel
    ],
)
def test_the_secular_equation_at_and_beyond_the_edge_of_stability(case: dict[str, Any]) -> None:
    problem = gaussian(**case, horizon=3.0)
    (value,), (error,), _ = solve_constant(problem, [3.0], 30)
    exact = matrix_exponential(problem, 3.0)
    assert abs(exact - value) <= error <= 1e-28 * exact


def test_rates_of_a_spectrum_that_coincide_are_one_pole() -> None:
    # 2 x - gamma x^2 is the same at x = 1 and x = 3 for gamma = 1/2, exactly; and one rate is listed twice
    spectrum = Spectrum([1.0, 3.0, 0.25, 0.25], [1.0, 0.5, 0.2, 0.3], 0.05)
    problem = Problem(Model(noise=0.4, spectrum=spectrum), gamma=0.5, horizon=2.0, closure="gaussian")
    values, errors, facts = solve_constant(problem, [2.0], 25)
    assert facts["modes"] == 2
    assert abs(matrix_exponential(problem, 2.0) - values[0]) <= errors[0]


@pytest.mark.parametrize("case", CASES[:5])
def test_panels_are_honest_and_not_wide(case: dict[str, Any]) -> None:
    problem = gaussian(**case)
    t = np.concatenate([[0.0], np.geomspace(1e-3, 1.0, 9) * problem.end])
    exact = np.array([float(x) for x in solve_constant(problem, list(t), 20)[0]])
    values, errors, _ = solve_second_moments(problem, t, 1e-12)
    assert (np.abs(values - exact) <= errors + 1e-16 * exact).all()
    # rounding 3e-15, up to ten times that on long horizons, over 1 - stability; and the difference of two solutions
    assert (errors <= (6e-14 / (1 - problem.stability) + 4e-13) * exact).all()


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
    {"size": math.inf, "s": 0.05, "beta": 1.05, "horizon": 1e9},
    {"size": math.inf, "s": 3.0, "beta": 6.0, "gamma": 0.8, "horizon": 1e6},
    {"size": 1000, "s": 1.0, "beta": 1.5, "horizon": 1e7},
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
        (1.0 + problem.model.s * problem.model.beta, modes.signals),
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


def test_the_comparison_sees_wrong_modes() -> None:
    problem = gaussian(size=1000, horizon=1e4)
    modes = moment_modes(problem)
    weights = (modes.kernel_weights, modes.signals)
    arguments = (0.5, 2.0, 1000.0, 1e4, 0.3)
    assert mode_errors(modes.rates, weights, *arguments) < 1e-12
    # right at G = 0 for tau = 0 only: every rate a part in 1e6 too large
    assert mode_errors(modes.rates * (1 + 1e-6), weights, *arguments) > 1e-7
    every = full_modes(problem)
    assert mode_errors(every.rates, (every.kernel_weights, every.signals), *arguments) < 2e-14


@pytest.mark.parametrize("case", LARGE)
def test_compressed_panels_agree_with_the_contour(case: dict[str, Any]) -> None:
    problem = gaussian(**case)
    if problem.stability >= 1.0:
        problem = gaussian(**{**case, "gamma": 0.05})
    values, errors, facts = solve_second_moments(problem, np.array([0.01, 1.0]) * problem.end, 1e-12)
    exact, bounds, _ = solve_laplace(problem, [0.01 * problem.end, problem.end], 15)
    assert facts["modes"] < 250
    for value, error, truth, bound in zip(values, errors, exact, bounds, strict=True):
        assert abs(value - float(truth)) <= error + float(bound) and error < 1e-11 * value


def test_compression_does_not_change_what_a_schedule_gives() -> None:
    plan = schedule("wsd", peak=0.3, final=0.001, steps=1e4, decay_fraction=0.3)
    law = gaussian(beta=1.8, size=400, gamma=plan, horizon=None)
    index = np.arange(1.0, 401.0)
    listed = Spectrum(index**-1.8, index ** -(1.0 + 0.9), approximation_error(0.5, 1.8, 400))
    every = Problem(Model(noise=1.0, spectrum=listed), gamma=plan, closure="gaussian")
    t = plan.total_intrinsic_time * np.array([0.01, 0.7, 1.0])
    short, errors, facts = solve_second_moments(law, t, 1e-12)
    full, others, everything = solve_second_moments(every, t, 1e-12)
    assert facts["modes"] < 120 < everything["modes"]
    assert (np.abs(short - full) <= errors + others).all()


def errors_on_panels(problem: Problem, exact: float, ratios: tuple[float, ...]) -> list[float]:
    wanted, modes = np.array([problem.end]), full_modes(problem)
    return [abs(march_moments(problem, modes, *panel_ends(problem, wanted, r))[-1] / exact - 1) for r in ratios]


def test_halved_panels_gain_the_order() -> None:
    problem = gaussian(gamma=schedule("power-decay", peak=0.5, power=2.0, steps=1e4), horizon=None)
    exact = float(solve_second_moments(problem, np.array([problem.end]), 1e-13)[0][0])
    coarse, fine = errors_on_panels(problem, exact, (4.0, 2.0))
    assert coarse > 2**6 * fine  # the stage order; measured 1400, order 11 being 2048


def test_fine_panels_reach_the_limit() -> None:
    problem = gaussian(horizon=1e4)
    exact = float(solve_constant(problem, [1e4], 20)[0][0])
    assert errors_on_panels(problem, exact, (2**0.25,))[0] < 1e-14  # rounding; measured 2e-16


@pytest.mark.parametrize("gamma", [0.3, schedule("linear", peak=0.4, final=0.1, steps=40.0)])
def test_the_trapezoid_is_of_second_order_and_its_extrapolation_tends_to_the_panels(gamma: Any) -> None:
    problem = gaussian(gamma=gamma, horizon=10.0)
    exact = solve_second_moments(problem, np.array([10.0]), 1e-12)[0][0]
    misses = [abs(trapezoid(problem, steps)[-1] - exact) for steps in (200, 400)]
    assert misses[0] / misses[1] == pytest.approx(4.0, rel=0.02)
    plain, error, _ = solve_reference(problem, np.array([10.0]))
    assert abs(plain[0] - exact) <= error[0] < 1e-8 * exact  # fourth order on 2048 to 8192 steps


def test_a_model_too_large_for_the_reference_is_refused() -> None:
    with pytest.raises(ValueError, match="keeps every mode"):
        trapezoid(gaussian(size=math.inf), 10)


@pytest.mark.parametrize("gamma", [1e-9, 0.3])
def test_a_wrong_weight_is_seen_at_the_times_at_which_its_mode_rules(gamma: float) -> None:
    # The middle one of many modes counts for a decade or two of times, none of them near the ends of the grid.
    horizon = 1e10
    modes = moment_modes(gaussian(size=math.inf, gamma=gamma, horizon=horizon))
    wrong = modes.kernel_weights.copy()
    place = int(np.argmin(np.abs(np.log(modes.rates) + 0.5 * math.log(horizon))))
    wrong[place] *= 1.001
    tau = np.geomspace(1e-2, horizon, 2000)
    grown = gamma * np.multiply.outer(np.array([1.0, 0.5, 0.1]), tau)
    decays = np.exp(np.multiply.outer(grown, modes.rates**2) - 2.0 * np.multiply.outer(tau, modes.rates))
    change = (decays[..., place] * (wrong - modes.kernel_weights)[place] / (decays @ modes.kernel_weights)).max()
    found = mode_errors(modes.rates, (wrong, modes.signals), 0.5, 2.0, math.inf, horizon, gamma)
    # three times for each factor e see the largest change to within a few percent
    assert 1e-6 < change and found == pytest.approx(change, rel=0.1)
