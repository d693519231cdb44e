"""The SDEs in both clocks: noise covariance, weak order, and the simulated mean."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from models import regression_of
from scipy.integrate import solve_ivp

from fsl_num.schedules import step_rates
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.sde import simulate_sde
from fsl_num.simulate.sde_grid import Grid, scheme_grid
from fsl_num.simulate.sde_moments import euler_maruyama_risk, exact_sde_risk
from fsl_num.simulate.sde_paths import System, advance, sde_system
from fsl_num.volterra.problem import UnstableProblemError

WARM = np.concatenate([np.linspace(0.05, 0.4, 8), np.full(6, 0.4), np.linspace(0.4, 0.0, 10, endpoint=False)])


def model(**changes):
    return regression_of(**{"s": 0.5, "beta": 2.0, "size": 6, "noise": 1.0, **changes})


@examples(30)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(0, 4), st.floats(0.0, 3.0), st.booleans())
def test_the_factor_squares_to_the_noise_covariance(seed, size, more, noise, projected):
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((size, size + more)) if projected else None
    problem = model(size=size, features=size + more, noise=noise, projection=matrix)
    system = sde_system(problem)
    x = generator.standard_normal(size)
    # one step of no length with unit vectors for the noise gives the columns of H^(1/2) L
    columns = np.tile(x, (size, 1))
    advance(system, columns, 0.0, np.eye(size))
    factor = (columns - x).T
    # Sigma(v) from the family's own fourth moment, in features: W (E[(u'phi)^2 phi phi'] - H u u' H) W' + sigma^2 WHW'
    weights = np.eye(size, size + more) if matrix is None else matrix
    covariance = (weights * problem.eigenvalues) @ weights.T
    if matrix is None:
        basis, values = np.eye(size), np.diag(covariance)
    else:
        left, singular, _ = np.linalg.svd(weights * np.sqrt(problem.eigenvalues), full_matrices=False)
        basis, values = left, singular**2
    best = np.linalg.solve(covariance, weights @ (problem.eigenvalues * problem.theta))
    v = best + basis @ (x / np.sqrt(values))
    u = weights.T @ v - problem.theta
    seen = problem.family.fourth_moment(problem.eigenvalues, np.outer(u, u))
    pushed = problem.eigenvalues * u
    sigma = weights @ (seen - np.outer(pushed, pushed)) @ weights.T + noise * covariance
    scale = np.sqrt(values)
    expected = scale[:, None] * (basis.T @ sigma @ basis) * scale
    # the condition of W W' (up to 1e6 here) times rounding
    assert factor @ factor.T == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())
    assert 0.5 * (x @ x + system.tail) == pytest.approx(float(problem.excess_risk(v)), rel=1e-8)


@pytest.mark.parametrize("clock", ["physical", "intrinsic"])
def test_grid_keeps_the_time_and_the_noise(clock):
    batches = np.where(np.arange(WARM.size) % 2, 3.0, 1.0)
    recorded = np.array([0, 5, 20, WARM.size])
    grid = scheme_grid(clock, WARM, batches, 3, recorded)
    times = np.concatenate([[0.0], np.cumsum(WARM)])[recorded]
    noise = np.concatenate([[0.0], np.cumsum(WARM**2 / batches)])[recorded]
    assert grid.ends[grid.records] == pytest.approx(times, rel=1e-13)
    assert np.concatenate([[0.0], np.cumsum(grid.variances)])[grid.records] == pytest.approx(noise, rel=1e-13)
    assert grid.lengths.max() <= WARM.max() / 3 * (1 + 1e-12)
    if clock == "intrinsic":
        for low, high in zip(grid.records, grid.records[1:], strict=False):
            assert np.ptp(grid.lengths[low:high]) < 1e-12  # equal parts between two records, whatever the steps


def test_expectation_of_the_sde_is_that_of_its_moment_equations():
    # an outside solver of the full second-moment matrix S' = -HS - SH + gamma ((2E + sigma^2) H + H S H)
    problem = model(size=3, features=5, noise=0.4)
    eigenvalues, theta = problem.eigenvalues[:3], problem.theta[:3]
    h = np.diag(eigenvalues)
    rates, batches = [0.5, 0.2, 0.6], [1.0, 2.0, 1.0]

    def slope(_, flat, gamma):
        s = flat.reshape(3, 3)
        loss = np.trace(h @ s) + problem.tail
        return (-h @ s - s @ h + gamma * ((loss + problem.model.noise) * h + h @ s @ h)).ravel()

    state = np.outer(theta, theta).ravel()
    for rate, batch in zip(rates, batches, strict=True):
        state = solve_ivp(slope, (0, rate), state, args=(rate / batch,), rtol=1e-12, atol=1e-14).y[:, -1]
    direct = 0.5 * (np.trace(h @ state.reshape(3, 3)) + problem.tail)
    curve = exact_sde_risk(problem, rates, batches)
    assert curve.excess_risk[-1] == pytest.approx(direct, rel=1e-9)  # the accuracy that the function states
    assert curve.excess_risk[0] == pytest.approx(problem.initial_risk, rel=1e-12)


def test_one_part_a_step_has_the_expected_risk_of_sgd():
    problem, batches = model(noise=0.3), np.where(np.arange(WARM.size) % 3, 2.0, 1.0)
    scheme = euler_maruyama_risk(problem, WARM, batches, every=4)
    # the same recursion; only the batch size is computed as dt^2/dG
    assert scheme.excess_risk == pytest.approx(exact_risk(problem, WARM, batches, every=4).excess_risk, rel=1e-12)


@pytest.mark.parametrize("clock", ["physical", "intrinsic"])
def test_weak_order_is_one(clock):
    problem = model(size=40)
    rates = step_rates("cosine", peak=0.3, steps=400)
    exact = exact_sde_risk(problem, rates, every=40).excess_risk[1:]
    parts = np.array([16, 32, 64])
    found = [euler_maruyama_risk(problem, rates, time=clock, substeps=n, every=40).excess_risk[1:] for n in parts]
    errors = np.array([np.abs(values / exact - 1.0).max() for values in found])
    orders = -np.diff(np.log2(errors))
    # errors a/n + b/n^2 have the order 1 + (b/a)/n: halved once more, the distance to 1 halves
    assert orders == pytest.approx(1.0, abs=0.03)
    assert abs(orders[1] - 1.0) < abs(orders[0] - 1.0)
    # what remains of order 1 vanishes by extrapolation: of the order 2
    extrapolated = [np.abs((2 * b - a) / exact - 1.0).max() for a, b in zip(found, found[1:], strict=False)]
    assert math.log2(extrapolated[0] / extrapolated[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("clock", ["physical", "intrinsic"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"noise": 0.0, "features": 12},
        {
            "size": 3,
            "projection": np.array([[1.0, 0.5, 0.2, 0.1], [0, 1, -1, 0.3], [0.2, 0, 1, 1]]),
            "features": 4,
        },
    ],
    ids=["first features", "no label noise", "projection"],
)
def test_simulated_mean_is_the_expectation_of_the_scheme(clock, changes):
    problem, rates = model(**changes), 0.5 * WARM
    options = {"time": clock, "substeps": 2, "every": 8}
    curve = simulate_sde(problem, rates, 2, runs=20_000, seed=7, **options)
    scheme = euler_maruyama_risk(problem, rates, 2, **options).excess_risk
    z = (curve.excess_risk[1:] - scheme[1:]) / curve.standard_error[1:]
    # three z-scores each of 6 tests, all within 4: a true scheme fails once in 900 times, and seeds are fixed
    assert np.abs(z).max() < 4.0
    # in law: the two clocks share the expectation of the equation within the bias that the message states
    exact = exact_sde_risk(problem, rates, 2, every=8).excess_risk
    bias = float(np.abs(scheme / exact - 1.0).max())
    assert f"{bias:.1e}" in curve.message
    assert curve.excess_risk[0] == pytest.approx(problem.initial_risk, rel=1e-12)


def test_the_z_scores_refute_a_scheme_without_its_rank_one_part():
    # the equation without H e e' H (the closure of the Volterra equation) is off by many standard errors
    problem, rates = model(size=2, noise=0.0), np.full(5, 0.2)
    curve = simulate_sde(problem, rates, runs=20_000, seed=8, substeps=4)
    system, grid = sde_system(problem), scheme_grid("physical", rates, np.ones(5), 4, np.array([0, 5]))
    x = system.start**2
    for dt, dg in zip(grid.lengths, grid.variances, strict=True):
        x = (1.0 - system.eigenvalues * dt) ** 2 * x + dg * system.eigenvalues**2 * x.sum()
    assert (curve.excess_risk[-1] - 0.5 * x.sum()) / curve.standard_error[-1] > 8.0
    assert abs(curve.excess_risk[-1] - euler_maruyama_risk(problem, rates, substeps=4).excess_risk[-1]) < (
        4.0 * curve.standard_error[-1]
    )


def test_bits_do_not_depend_on_the_workers():
    problem = model(size=1000)
    call = {"runs": 70, "seed": 9, "every": 2, "substeps": 1, "time": "intrinsic"}
    alone = simulate_sde(problem, WARM[:4], **call)
    with ThreadPoolExecutor(3) as threads:
        assert simulate_sde(problem, WARM[:4], executor=threads, **call).as_dict() == alone.as_dict()
    assert simulate_sde(problem, WARM[:4], **{**call, "seed": 10}).as_dict() != alone.as_dict()
    # a sequence is the number it was made from, also after others were spawned from it
    sequence = np.random.SeedSequence(9)
    sequence.spawn(3)
    assert simulate_sde(problem, WARM[:4], **{**call, "seed": sequence}).as_dict() == alone.as_dict()


def test_a_model_without_noise_or_error_stands_still():
    system = System(np.array([1.0, 0.5]), np.zeros(2), 0.0, 0.0)
    x = np.zeros((3, 2))
    advance(system, x, 0.1, np.ones((3, 2)))
    assert not x.any()
    assert Grid(np.ones(2), np.ones(2), np.array([0, 2])).ends.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: simulate_sde(model(family="uniform"), [0.1], runs=2, seed=0), "Gaussian features"),
        (lambda: simulate_sde(model(size=math.inf), [0.1], runs=2, seed=0), "exact_sde_risk"),
        (lambda: simulate_sde(model(), [0.1], runs=1, seed=0), "runs must be"),
        (lambda: simulate_sde(model(), [0.1], runs=10**17, seed=0), "runs must be at most"),
        (lambda: simulate_sde(model(), [0.1], runs=2, seed=-1), "seed must be"),
        (lambda: simulate_sde(model(), [0.1], runs=2, seed=0, time="tau"), "physical, intrinsic"),
        (lambda: simulate_sde(model(), [0.0, 0.0], runs=2, seed=0), "neither clock moves"),
        (lambda: simulate_sde(model(), [0.1], [1, 2], runs=2, seed=0), "one number a step"),
        (lambda: simulate_sde(model(), [0.1], runs=2, seed=0, substeps=0), "substeps must be"),
    ],
)
def test_what_does_not_fit_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_a_scheme_without_any_risk_is_not_off():
    still = simulate_sde(model(noise=0.0, target=np.zeros(6)), [0.1] * 4, runs=2, seed=0)
    assert not still.excess_risk.any() and still.message.endswith("within 0.0e+00 of the equation")


def test_growing_risk_is_refused_or_told():
    with pytest.raises(OverflowError, match="beyond all numbers"):
        simulate_sde(model(), [30.0] * 400, runs=2, seed=0, substeps=1)
    with pytest.raises(TypeError, match="SeedSequence"):
        simulate_sde(model(), [0.1], runs=2, seed=0.5)
    with pytest.raises(UnstableProblemError):
        exact_sde_risk(model(), [1.9] * 5)
    assert "without bound" in simulate_sde(model(), [1.9] * 5, runs=4, seed=0).message


def test_many_features_and_infinite_models_have_an_expectation():
    few = exact_sde_risk(model(size=100, features=math.inf), WARM).excess_risk
    many = exact_sde_risk(model(size=400, features=math.inf), WARM).excess_risk
    infinite = exact_sde_risk(model(size=math.inf), WARM).excess_risk
    # 400 modes go through the compression, 100 are listed. What the rest of the modes would have learned in t = 6 is
    # 2 t sum_{j>M} j^-4, 4e-6 and 6e-8 of a risk of order 1
    assert few[-1] == pytest.approx(infinite[-1], rel=1e-4)
    assert many[-1] == pytest.approx(infinite[-1], rel=1e-6)
    assert 0 < many[-1] - infinite[-1] < few[-1] - infinite[-1]
