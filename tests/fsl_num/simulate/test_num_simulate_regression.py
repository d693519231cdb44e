"""The regression problem: eigenvalues, target, tail, and the modes of a projection."""

import math

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from models import regression_of

from fsl_num.model import Model
from fsl_num.simulate.families import FAMILIES, family
from fsl_num.simulate.regression import Regression


@examples(20)
@given(st.floats(0.1, 2.0), st.floats(1.2, 4.0), st.integers(1, 20), st.integers(0, 30))
def test_risk_is_the_mean_squared_error_of_the_features(s, beta, size, more):
    problem = Regression(Model(s=s, beta=beta, size=size, noise=1.0), features=size + more)
    v = np.random.default_rng(0).standard_normal((3, size))
    padded = np.concatenate([v, np.zeros((3, more))], axis=1)
    direct = 0.5 * ((padded - problem.theta) ** 2) @ problem.eigenvalues
    # the tail is summed another way; a few roundings
    assert problem.excess_risk(v) == pytest.approx(direct, rel=1e-12)
    assert problem.theta**2 == pytest.approx(
        np.arange(1.0, size + more + 1) ** -1.0 * problem.eigenvalues ** (s - 1.0), rel=1e-12
    )


def test_infinitely_many_features_are_summed():
    problem = Regression(Model(s=0.5, beta=2.0, size=10, noise=1.0), features=math.inf)
    j = np.arange(1.0, 3e5)
    # zeta(2, 11) by its sum and the integral of the rest
    assert problem.tail == pytest.approx(float((j[10:] ** -2.0).sum()) + 1.0 / (3e5 - 0.5), rel=1e-9)
    assert Regression(Model(s=0.5, beta=2.0, size=math.inf, noise=0.0)).initial_risk == pytest.approx(
        math.pi**2 / 12, rel=1e-12
    )
    with pytest.raises(ValueError, match="exact"):
        _ = problem.eigenvalues


def test_modes_before_an_infinite_tail():
    spectrum = Regression(Model(s=0.5, beta=2.0, size=3, noise=1.0), features=math.inf).spectrum
    assert spectrum.eigenvalues == pytest.approx([1.0, 1 / 4, 1 / 9])
    assert spectrum.signals == pytest.approx([1.0, 1 / 4, 1 / 9])  # j^-(1 + s beta)
    assert spectrum.tail == pytest.approx(math.pi**2 / 6 - 1.0 - 1 / 4 - 1 / 9, rel=1e-12)


@examples(15)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(0, 6))
def test_modes_of_a_projection(seed, size, more):
    matrix = np.random.default_rng(seed).standard_normal((size, size + more))
    problem = Regression(Model(s=0.7, beta=1.5, size=size, noise=1.0), features=size + more, projection=matrix)
    covariance = (matrix * problem.eigenvalues) @ matrix.T
    spectrum = problem.spectrum
    # relative to the largest: small eigenvalues of a matrix of condition 1e4 lose as many digits
    assert np.sort(spectrum.eigenvalues) == pytest.approx(np.linalg.eigvalsh(covariance), abs=1e-12 * covariance.max())
    best = np.linalg.solve(covariance, matrix @ (problem.eigenvalues * problem.theta))
    assert problem.excess_risk(best) == pytest.approx(0.5 * spectrum.tail, abs=1e-9)
    assert problem.excess_risk(np.zeros(size)) == pytest.approx(
        0.5 * (spectrum.signals.sum() + spectrum.tail), rel=1e-12
    )


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"features": 2}, ValueError, "features must be at least"),
        ({"family": "cauchy"}, ValueError, "unknown family"),
        ({"projection": np.ones((4, 5))}, ValueError, "shape"),
        ({"projection": np.ones((4, 4))}, ValueError, "full rank"),
        ({"target": [1.0]}, ValueError, "target"),
        ({"noise": -1.0}, ValueError, "noise"),
        ({"beta": 1.0}, ValueError, "beta"),
    ],
)
def test_what_cannot_be_is_refused(change, kind, text):
    with pytest.raises(kind, match=text):
        regression_of(**{"s": 0.5, "beta": 2.0, "size": 4, "noise": 1.0, **change})


@pytest.mark.parametrize("name", FAMILIES)
def test_families_have_their_moments(name):
    kind = family(name)
    draws = kind.draw(np.random.default_rng(5), 200_000, 2)
    # five standard errors of 200,000 draws of variables of variance at most 105 - 9
    assert np.abs(draws.mean(axis=0)).max() < 5 / 447
    assert np.abs(draws.T @ draws / 2e5 - np.eye(2)).max() < 5 * math.sqrt(2) / 447
    if kind.kurtosis is not None:
        assert np.abs((draws**4).mean(axis=0) - kind.kurtosis).max() < 5 * math.sqrt(96) / 447
    matrix = np.array([[1.0, 0.4], [0.4, 0.7]])
    eigenvalues = np.array([1.0, 0.3])
    phi = draws * np.sqrt(eigenvalues)
    sampled = np.einsum("n,ni,nj->ij", np.einsum("ni,ij,nj->n", phi, matrix, phi), phi, phi) / 2e5
    assert np.abs(sampled - kind.fourth_moment(eigenvalues, matrix)).max() < 0.15
    assert kind.draw(np.random.default_rng(5), 3, 2, np.float32).dtype == np.float32
