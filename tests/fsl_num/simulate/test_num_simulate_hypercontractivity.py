"""The best constants of the families, and the statement as the paper prints it."""

import math

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st

from fsl_num.simulate.families import FAMILIES, Family, family
from fsl_num.simulate.hypercontractivity import (
    hypercontractivity_constants,
    hypercontractivity_slack,
    mode_constants,
)

INDEPENDENT = ["gaussian", "rademacher", "uniform"]


class Heavy(Family):
    """Laplace features: independent, symmetric, of kurtosis 6."""

    name = "laplace"
    kurtosis = 6.0

    def draw(self, generator, count, size, dtype=np.float64):
        return generator.laplace(0.0, math.sqrt(0.5), (count, size)).astype(dtype)


def fourth_product(kind, a, b):
    """E[(a'xi)^2 (b'xi)^2] - (a'b)^2."""
    moment = family(kind).fourth_moment(np.ones(a.size), np.outer(a, a))
    return float(b @ moment @ b - (a @ b) ** 2)


def searched(kind, size, sign):
    """The extreme of g by a search that knows nothing of the derivation: random starts, then scipy's minimiser."""
    from scipy.optimize import minimize

    def objective(flat):
        a, b = flat[:size], flat[size:]
        return sign * fourth_product(kind, a / np.linalg.norm(a), b / np.linalg.norm(b))

    generator = np.random.default_rng(3)
    runs = [minimize(objective, generator.standard_normal(2 * size), method="BFGS").fun for _ in range(8)]
    return sign * min(runs)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("kind", [*INDEPENDENT, Heavy()], ids=[*INDEPENDENT, "laplace"])
def test_derived_constants_are_what_a_search_finds(kind, size):
    constants = hypercontractivity_constants(kind, size)
    # minima of a smooth function by finite differences: gradients below 1e-5
    assert searched(kind, size, 1.0) == pytest.approx(constants.lower, abs=1e-6)
    assert searched(kind, size, -1.0) == pytest.approx(constants.upper, abs=1e-6)
    assert fourth_product(kind, *constants.lower_vectors) == pytest.approx(constants.lower, abs=1e-14)
    assert fourth_product(kind, *constants.upper_vectors) == pytest.approx(constants.upper, abs=1e-14)


def test_trigonometric_constants_come_from_a_search_that_another_confirms():
    constants = hypercontractivity_constants("trigonometric", 3)
    assert not constants.exact
    assert searched("trigonometric", 3, 1.0) >= constants.lower - 1e-6
    assert searched("trigonometric", 3, -1.0) <= constants.upper + 1e-6
    assert constants.upper <= constants.upper_limit


def test_the_sobolev_kernel_has_no_constants_that_serve_every_number_of_features():
    found = {size: hypercontractivity_constants("trigonometric", size, searches=6) for size in (4, 8, 16, 32, 64)}
    # A product of squares of trigonometric polynomials of degree N/2 reaches some 0.69 N: rho_+ is not bounded. What is
    # attained is a proven lower bound of rho_+, and N - 1 an upper one.
    for size, constants in found.items():
        assert constants.upper > 0.3 * size
        assert constants.upper == pytest.approx(fourth_product("trigonometric", *constants.upper_vectors), rel=1e-12)
        assert constants.upper <= size - 1 + 1e-9
    assert (found[64].upper - found[32].upper) / 32 == pytest.approx(0.686, abs=0.01)
    # and rho_- falls to nothing: two polynomials that hardly overlap. What is attained bounds it from above.
    assert found[4].lower == pytest.approx(0.25, abs=1e-9)
    assert found[8].lower < 3e-4
    assert found[16].lower < 1e-9


def test_the_sobolev_kernel_has_them_in_the_directions_of_its_features():
    for kind, lower, upper in (("gaussian", 1.0, 2.0), ("uniform", 0.8, 1.0), (Heavy(), 1.0, 5.0)):
        assert mode_constants(kind, 5) == pytest.approx((lower, upper), abs=1e-12)  # 1 and kurtosis - 1
    found = {size: mode_constants("trigonometric", size) for size in (4, 8, 16, 32, 64)}
    # the squares of its functions are at most 2: that bounds the upper one for every number of features
    assert all(0.99 < upper < 2.0 for _, upper in found.values())
    # the lower one falls, but like a power: two more features at a time around a zero of the cosine
    lower = [low for low, _ in found.values()]
    ratios = np.array(lower[1:]) / np.array(lower[:-1])
    assert (ratios > 0.15).all()
    assert (ratios < 0.5).all()
    generator = np.random.default_rng(0)
    for size in (4, 8):
        a = generator.standard_normal((50, size))
        a /= np.linalg.norm(a, axis=1)[:, None]
        sampled = [fourth_product("trigonometric", row, unit) for row in a for unit in np.eye(size)]
        assert found[size][0] - 1e-12 <= min(sampled)
        assert max(sampled) <= found[size][1] + 1e-12


@examples(40)
@given(st.sampled_from(sorted(FAMILIES)), st.integers(1, 5), st.integers(0, 2**31))
def test_both_inequalities_hold_for_every_matrix(name, size, seed):
    generator = np.random.default_rng(seed)
    factor = generator.standard_normal((size, generator.integers(1, size + 1)))
    matrix = factor @ factor.T
    eigenvalues = np.sort(generator.random(size) + 0.05)[::-1]
    constants = hypercontractivity_constants(name, size, searches=6)
    scale = eigenvalues.max() * float(eigenvalues @ np.diag(matrix))
    left = hypercontractivity_slack(name, eigenvalues, matrix, lower=constants.lower, upper=constants.upper)
    assert min(left) > -1e-10 * (1.0 + constants.upper) * scale  # roundings


@pytest.mark.parametrize("name", INDEPENDENT)
@pytest.mark.parametrize("size", [2, 5])
def test_better_constants_fail_at_the_extremal_matrix(name, size):
    eigenvalues = np.arange(1.0, size + 1.0) ** -2.0
    constants = hypercontractivity_constants(name, size)
    pairs = (constants.lower_vectors, constants.upper_vectors)
    low, high = (np.outer(a / np.sqrt(eigenvalues), a / np.sqrt(eigenvalues)) for a, _ in pairs)
    assert eigenvalues @ np.diag(low) == pytest.approx(1.0)
    assert hypercontractivity_slack(name, eigenvalues, low, lower=constants.lower, upper=constants.upper)[0] > -1e-12
    assert (
        hypercontractivity_slack(name, eigenvalues, low, lower=constants.lower + 0.05, upper=constants.upper)[0] < -1e-3
    )
    assert (
        hypercontractivity_slack(name, eigenvalues, high, lower=constants.lower, upper=constants.upper - 0.05)[1]
        < -1e-3
    )


@examples(40)
@given(st.sampled_from(sorted(FAMILIES)), st.integers(2, 5), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_the_assumption_as_printed_never_holds(name, size, lower, upper):
    eigenvalues = np.arange(1.0, size + 1.0) ** -1.5
    # It compares tr(HA) A, of degree 2 in A, with a middle of degree 1: scaling one A breaks either side, and
    matrix = np.eye(size) + 0.1
    for scale in (1e-9, 1e9):
        left = hypercontractivity_slack(name, eigenvalues, scale * matrix, lower=lower, upper=upper, printed=True)
        assert left[1 if scale < 1.0 else 0] < 0.0
    # with A of rank one the right side has rank one, while the middle reaches every direction of H: at A = e_1 e_1'
    single = np.zeros((size, size))
    single[0, 0] = 1.0
    for scale in (1.0, 1e6):
        assert (
            hypercontractivity_slack(name, eigenvalues, scale * single, lower=lower, upper=upper, printed=True)[1] < 0.0
        )


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: hypercontractivity_constants("cauchy", 2), "unknown family"),
        (lambda: hypercontractivity_constants("gaussian", 0), "features"),
        (lambda: hypercontractivity_slack("gaussian", [1.0, 0.5], np.eye(3), lower=1.0, upper=2.0), "symmetric"),
        (lambda: hypercontractivity_slack("gaussian", [1.0, 0.5], -np.eye(2), lower=1.0, upper=2.0), "semidefinite"),
        (lambda: hypercontractivity_slack("gaussian", [1.0, -0.5], np.eye(2), lower=1.0, upper=2.0), "positive"),
    ],
)
def test_what_cannot_be_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_a_family_without_kurtosis_must_know_its_moments():
    class Silent(Heavy):
        kurtosis = None

    with pytest.raises(NotImplementedError, match="its own fourth moment"):
        family(Silent()).fourth_moment(np.ones(2), np.eye(2))
