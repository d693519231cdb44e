"""The periodic Sobolev kernel: closed form, Mercer expansion, exponents, and the regression that it defines."""

import math

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.simulate import sobolev
from fsl_num.simulate.families import Trigonometric
from fsl_num.simulate.sobolev import PeriodicSobolev, bernoulli_polynomial


@examples(30)
@given(st.integers(1, 12), st.integers(0, 2**31))
def test_fourth_moments_of_trigonometric_features_are_exact(size, seed):
    generator = np.random.default_rng(seed)
    matrix = generator.standard_normal((size, size))
    matrix += matrix.T
    eigenvalues = generator.random(size) + 0.1
    # a product of four functions has frequencies up to 4 * 6: that many equispaced points integrate it exactly
    points = np.arange(32) / 32
    phi = Trigonometric().values(points, size) * np.sqrt(eigenvalues)
    direct = (phi * np.einsum("ni,ij,nj->n", phi, matrix, phi)[:, None]).T @ phi / 32
    # roundings of sums of 32 terms of size up to some 1e3
    assert Trigonometric().fourth_moment(eigenvalues, matrix) == pytest.approx(direct, abs=1e-11)


@pytest.mark.parametrize("smoothness", [1, 2, 10])
def test_the_closed_form_is_its_mercer_expansion(smoothness):
    kernel = PeriodicSobolev(smoothness)
    generator = np.random.default_rng(3)
    x, y = generator.uniform(-2.0, 3.0, (2, 40))
    size = 4000
    values = kernel.eigenfunctions(x, size) * kernel.eigenfunctions(y, size)
    left_out = 2.0 / (2 * smoothness - 1) * (size / 2) ** (1.0 - 2 * smoothness)  # the integral of 2 k^-2m
    assert kernel(x, y) == pytest.approx(values @ kernel.eigenvalues(size), abs=left_out + 1e-12)
    # half the sum over integers is zeta(2m): pi^2/6 for m = 1
    if smoothness == 1:
        assert kernel.trace == pytest.approx(math.pi**2 / 3, rel=1e-15)
    gram = kernel(x[:, None], x[None, :])
    assert np.linalg.eigvalsh(gram).min() > -1e-12 * 40 * kernel.trace  # positive semidefinite up to rounding


@pytest.mark.parametrize("smoothness", [1, 3])
def test_the_trigonometric_functions_are_eigenfunctions(smoothness):
    kernel = PeriodicSobolev(smoothness)
    # Equispaced points: the sum over them of a kernel with coefficients c_k aliases k with k + n, an error of n^-2m.
    n = 512
    grid = np.arange(n) / n
    functions = kernel.eigenfunctions(grid, 6)
    applied = kernel(grid[:, None], grid[None, :]) @ functions / n
    assert applied == pytest.approx(functions * kernel.eigenvalues(6), abs=8.0 * n ** (-2.0 * smoothness) + 1e-13)
    assert functions.T @ functions / n == pytest.approx(np.eye(6), abs=1e-13)


def test_capacity_is_read_off():
    for smoothness in (1, 2, 3):
        kernel = PeriodicSobolev(smoothness)
        j = np.arange(1.0, 1001.0)
        ratio = kernel.eigenvalues(1000) * j**kernel.beta
        # (j/2)^-beta at even j, ((j + 1)/2)^-beta at odd ones
        assert ratio.max() == pytest.approx(2.0**kernel.beta)
        assert ratio.min() == pytest.approx(1.0)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_amplitudes_of_the_targets(order):
    n = 4096
    grid = (np.arange(n) + 0.5) / n  # midpoints: the jump of order 1 falls between two
    functions = Trigonometric().values(grid, 8)
    target = -((2.0 * math.pi) ** order) / (math.sqrt(2.0) * math.factorial(order)) * bernoulli_polynomial(order, grid)
    measured = functions.T @ target / n
    # aliasing again: the first alias of the coefficient k^-p has (n - k)^-p, with both signs for order 1
    assert measured == pytest.approx(sobolev.bernoulli_amplitudes(order, 8), abs=20.0 * n**-2.0)


@pytest.mark.parametrize(("smoothness", "order"), [(1, 1), (2, 3)])
def test_a_target_lies_below_its_source_exponent_and_not_at_it(smoothness, order):
    kernel = PeriodicSobolev(smoothness)
    s = sobolev.source_exponent(order, kernel.beta)
    size = 2**15
    amplitudes, own = sobolev.bernoulli_amplitudes(order, size), kernel.eigenvalues(size)
    assert sobolev.measured_source_exponent(amplitudes, kernel.beta) == pytest.approx(s, rel=1e-3)  # error 2^-13
    # at s the norm is the harmonic series: log n + Euler's constant, with 1/(2n) left
    at = np.cumsum(amplitudes**2 * own**-s)
    harmonic = math.log(size / 2) + float(np.euler_gamma)
    assert at[-1] == pytest.approx(harmonic, rel=1e-4)
    # below it by delta it is sum k^(-1 - beta delta): what is missing is n^(-beta delta)/(beta delta)
    for delta in (s, 0.7 * s, 0.5):
        if delta > s:
            continue
        rate = kernel.beta * delta
        from scipy.special import zeta

        below = np.cumsum(amplitudes**2 * own ** (delta - s))
        missing = (size / 2) ** -rate / rate
        assert below[-1] + missing == pytest.approx(float(zeta(1.0 + rate)), rel=1e-3)


@pytest.mark.parametrize("choice", [{"s": 0.7}, {"order": 2}])
def test_the_regression_is_that_of_the_kernel(choice):
    kernel = PeriodicSobolev(1)
    problem = kernel.regression(model_size=5, features=12, noise=0.5, **choice)
    own = kernel.eigenvalues(12)
    amplitudes = (
        sobolev.bernoulli_amplitudes(2, 12)
        if "order" in choice
        else np.arange(1.0, 13.0) ** -0.5 * own ** (0.5 * choice["s"])
    )
    v = np.random.default_rng(0).standard_normal(5)
    weights = np.zeros(12)
    weights[:5] = v * np.sqrt(own[:5])  # of the eigenfunctions in the model's function
    assert problem.excess_risk(v) == pytest.approx(0.5 * ((weights - amplitudes) ** 2).sum(), rel=1e-12)
    assert np.sort(problem.spectrum.eigenvalues)[::-1] == pytest.approx(own[:5], rel=1e-12)
    # the kernel of the model's features is the expansion cut off after M
    x = np.array([0.1, 0.37])
    phi = Trigonometric().values(x, 12) * np.sqrt(problem.eigenvalues) @ problem.projection.T
    assert phi @ phi.T == pytest.approx((kernel.eigenfunctions(x, 5) * own[:5]) @ kernel.eigenfunctions(x, 5).T)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: PeriodicSobolev(0), "smoothness"),
        (lambda: PeriodicSobolev(11), "at most 20"),
        (lambda: PeriodicSobolev(1).regression(model_size=2, features=4, noise=0.0), "either s or"),
        (lambda: PeriodicSobolev(1).regression(model_size=5, features=4, noise=0.0, s=1.0), "features"),
        (lambda: sobolev.bernoulli_polynomial(3, [math.inf]), "finite"),
        (lambda: sobolev.measured_source_exponent(np.ones(7), 2.0), "at least 8"),
        (lambda: sobolev.measured_source_exponent(np.eye(16)[0], 2.0), "no energy"),
    ],
)
def test_what_cannot_be_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
