"""What the claims after the paper's followers measure, against other ways to compute it."""

import math

import numpy as np
import pytest

from fsl_num import Model
from fsl_num.paper.random_features.diverging_phases import FEATURES, diverging_risk, summed
from fsl_num.paper.random_features.phases import features_risk, never_learned
from fsl_num.paper.scaling_laws.data_quality import functional_risk, volterra_risks
from fsl_num.paper.scaling_laws.horizon_free import averaged_risk
from fsl_num.paper.scaling_laws.momentum import momentum_risk
from fsl_num.paper.scaling_laws.weight_decay import decayed_risk, older_noise
from fsl_num.simulate.recursion import exact_risk
from fsl_num.simulate.regression import Regression
from fsl_num.spectrum import approximation_error, eigenvalues, forgetting_kernel


def averaged_by_steps(s, beta, fall, horizon, peak, modes=1000, parts=4):
    """The risk of the average, signal and noise, by ``parts`` explicit steps a step of the rates."""
    eigenvalue = eigenvalues(modes, beta)
    times = (np.arange(horizon * parts) + 0.5) / parts
    weight = np.where(1.0 + times > 0.5 * (1.0 + horizon), 2.0 / (1.0 + horizon) / parts, 0.0)
    kept, noise = np.zeros(modes), np.zeros(modes)  # what one unit adds to the average; what the noise does
    for rate, share in zip(peak * (1.0 + times[::-1]) ** -fall, weight[::-1], strict=True):
        noise += eigenvalue**2 * (rate * kept) ** 2 / parts
        kept = kept * (1.0 - rate / parts * eigenvalue) + share
    signal = np.arange(1.0, modes + 1.0) ** (-1.0 - s * beta) * kept**2
    return 0.5 * (signal.sum() + approximation_error(s, beta, modes)), 0.5 * noise.sum()


@pytest.mark.parametrize(("s", "beta", "fall"), [(0.5, 2.0, 0.0), (0.5, 2.0, 0.4), (1.0, 3.0, 0.6), (1.2, 2.0, 0.8)])
def test_the_averaged_risk_is_that_of_explicit_steps(s, beta, fall):
    peak, horizon = 0.2, 2000
    signal, noise = averaged_by_steps(s, beta, fall, horizon, peak)
    found = averaged_risk(s, beta, fall, math.log(horizon), peak, 0.0)
    with_noise = averaged_risk(s, beta, fall, math.log(horizon), peak, 1.0)
    # an explicit step is a lambda/8 from continuous time: 2.5 % in the first mode, which is a part of the whole
    assert found == pytest.approx(signal, rel=0.01)
    assert with_noise - found == pytest.approx(noise, rel=0.01)


def test_without_momentum_the_recursion_is_the_exact_one():
    model = Model(s=0.5, beta=2.0, size=3, noise=2.0)
    known = exact_risk(Regression(model), np.full(50, 0.3), 4).excess_risk[-1]
    found = momentum_risk((1.0, 1.0 / 4.0, 1.0 / 9.0), (1.0, 1.0, 1.0), 0.3, 0.0, 50, 2.0, 4.0)
    assert found == pytest.approx(known, rel=1e-12)


def test_momentum_adds_up_the_squares_of_its_impulse_response():
    """One mode, batches so large that only label noise is left: a noisy step is followed through both roots."""
    rate, mu, eigenvalue, steps, batch = 0.2, 0.8, 0.7, 200, 1e12
    step, response, speed, distance = rate * (1.0 - mu), [], 1.0, 0.0
    for count in range(steps):
        speed = speed if count == 0 else mu * speed + eigenvalue * distance
        distance -= step * speed
        response.append(distance)
    expected = 0.5 * eigenvalue**2 * sum(factor**2 for factor in response)
    assert momentum_risk((eigenvalue,), (0.0,), rate, mu, steps, batch, batch) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("s", "beta"), [(0.5, 2.0), (1.5, 3.0)])
def test_clean_data_at_the_end_by_steps_with_their_own_noise(s, beta):
    """The claim splits the Volterra equation by its linearity; here every step has the noise of its time."""
    rate, clean, time, modes = 0.1, 100.0, 1e4, 400
    steps, late = int(time / rate), int(clean / rate)
    eigenvalue = eigenvalues(modes, beta)
    state = np.zeros(modes)  # lambda_j E (w - theta)^2 that the noise leaves
    for step in range(steps):
        noise = 1.0 if step < steps - late else 0.0
        state = (1.0 - rate * eigenvalue) ** 2 * state + rate**2 * eigenvalue**2 * noise
    # Without the noise that noise injects, gamma tr(H)/2 of it, and a step is 1 + gamma lambda/2 from continuous time:
    # at 100 and beyond only modes below 1/100 are left.
    known = 0.5 * state.sum()
    functional = functional_risk(s, beta, time, clean, rate, 0.0) - functional_risk(s, beta, time, clean, 0.0, 0.0)
    assert functional == pytest.approx(known, rel=0.02)


def test_the_volterra_risk_is_linear_in_the_noise():
    silent, noisy, two = (volterra_risks(0.5, 2.0, 1e6, noise)[1] for noise in (0.0, 1.0, 2.0))
    np.testing.assert_allclose(two - silent, 2.0 * (noisy - silent), rtol=1e-9)  # the solver's own tolerance is 1e-12


@pytest.mark.parametrize(("s", "beta"), [(0.5, 2.0), (1.5, 3.0)])
def test_what_random_features_never_learn_by_its_own_sums(s, beta):
    size, modes = 200.0, np.arange(1.0, 2e6)
    kappa = (math.pi / beta / math.sin(math.pi / beta) / size) ** beta
    assert np.sum(modes**-beta / (modes**-beta + kappa)) == pytest.approx(size, rel=0.01)  # 1/2 and the end of the sum
    expected = kappa * np.sum(modes ** (-1.0 - s * beta) / (modes**-beta + kappa))
    assert never_learned(s, beta, size) == pytest.approx(expected, rel=2e-3)  # modes beyond 2e6
    assert features_risk(s, beta, size, 1e30) == pytest.approx(expected, rel=2e-3)  # all is learned that can be


@pytest.mark.parametrize(("s", "beta"), [(0.5, 2.0), (2.5, 3.0)])
def test_weight_decay_by_explicit_steps(s, beta):
    rate, omega, time, modes = 0.02, 0.01, 300.0, 400
    eigenvalue, steps = eigenvalues(modes, beta), int(time / rate)
    learned, noise = np.zeros(modes), np.zeros(modes)  # w over theta, and lambda_j times the variance
    for _ in range(steps):
        learned += rate * (eigenvalue * (1.0 - learned) - omega * learned)
        noise = (1.0 - rate * (eigenvalue + omega)) ** 2 * noise + rate * eigenvalue**2
    signal = np.arange(1.0, modes + 1.0) ** (-1.0 - s * beta) * (1.0 - learned) ** 2
    silent = 0.5 * (signal.sum() + approximation_error(s, beta, modes))
    # steps are rate lambda/2 = 1 % from continuous time; of the modes beyond 400 nothing is learned
    assert decayed_risk(s, beta, omega, time, 0.0) == pytest.approx(silent, rel=0.01)
    loud = decayed_risk(s, beta, omega, time, 1.0) - decayed_risk(s, beta, omega, time, 0.0)
    assert loud == pytest.approx(0.5 * noise.sum(), rel=0.015)


@pytest.mark.parametrize(("beta", "omega", "older"), [(2.0, 0.1, 30.0), (1.5, 1e-4, 5.0)])
def test_older_noise_by_quadrature_of_the_kernel(beta, omega, older):
    grown = np.concatenate([[0.0], np.geomspace(1e-4, 1e9, 20001)])
    kernel = forgetting_kernel(older + grown, beta) * np.exp(-2.0 * omega * grown)
    expected = 0.5 * ((kernel[1:] + kernel[:-1]) * np.diff(grown)).sum()
    assert older_noise(beta, omega, older) == pytest.approx(expected, rel=1e-4)  # the trapezoidal rule's own error


@pytest.mark.parametrize(("power", "size"), [(0.4, 5000), (0.9, 100), (1.0, 30000), (2.2, 777)])
def test_a_long_sum_is_that_of_its_terms(power, size):
    places = np.arange(1.0, size + 1.0)

    def term(j):
        return j**-power * np.exp(-0.01 * j**0.5)

    assert summed(term, float(size)) == pytest.approx(float(term(places).sum()), rel=1e-6)


@pytest.mark.parametrize(("s", "beta"), [(0.5, 0.5), (2.0, 0.75)])
def test_a_diverging_trace_leaves_what_drawn_features_never_learn(s, beta):
    """W of M rows over N = 2 M features: what no weights reach, averaged over signs of the target."""
    size, draws = 60, []
    features = int(FEATURES * size)
    places = np.arange(1.0, features + 1.0)
    eigenvalue, target = places**-beta, places ** (-1.0 + beta - s * beta)
    for seed in range(200):
        rows = np.random.default_rng(seed).standard_normal((size, features)) * np.sqrt(eigenvalue)
        hidden = np.eye(features) - rows.T @ np.linalg.solve(rows @ rows.T, rows)
        draws.append(float(np.diag(hidden) @ (eigenvalue * target)))
    late = diverging_risk(s, beta, float(size), 1e9, 0.0)
    # a draw of the hidden share of one feature scatters by sqrt(2/(N - M)) = 0.18 of it, the mean of 200 by 0.013
    assert late == pytest.approx(np.mean(draws), rel=0.04)
