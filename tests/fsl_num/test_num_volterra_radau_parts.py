"""The Radau table part by part: Newton's steps double the digits, and eigenvalues that are not apart are refused."""

import math

import numpy as np
import pytest

from fsl_num.exponential_sums_digits import private_context
from fsl_num.volterra import radau
from fsl_num.volterra.radau import _eigenvector, _legendre, _newton, _nodes


def rows_of(mp, stages):
    return [1 / (2 * mp.sqrt(mp.mpf(4 * k * k - 1))) for k in range(1, stages)], mp.mpf(1) / (4 * stages - 2)


def matrix_of(stages):
    """The integrals of the orthonormal Legendre polynomials of [0, 1], and what the nodes make of the last one."""
    xi = [0.5 / math.sqrt(4.0 * k * k - 1.0) for k in range(1, stages)]
    matrix = np.diag(xi, -1) - np.diag(xi, 1)
    matrix[0, 0] += 0.5
    matrix[-1, -1] += 1.0 / (4 * stages - 2)
    return matrix


def counted(function, calls):
    return lambda *given: calls.append(given[-1]) or function(*given)


@pytest.mark.parametrize("start", [1.5, 1.4142])
def test_newton_stops_when_the_digits_are_there(start):
    mp = private_context(100)
    calls = []
    found = _newton(mp, counted(lambda x: (x**2 - 2, 2 * x), calls), mp.mpf(start))
    assert abs(found / mp.sqrt(2) - 1) < mp.mpf(10) ** -98
    # 2.8 or 4.6 digits at first, twice as many after each step
    assert len(calls) == math.ceil(math.log2(98.0 / -math.log10(abs(start / math.sqrt(2.0) - 1.0)))) + 1
    # rounding of the function keeps the steps from falling further, and where they stand still the zero is found
    calls.clear()
    rough = _newton(
        mp, counted(lambda x: (x**2 - 2 + mp.mpf(10) ** -70 * (-1) ** len(calls), 2 * x), calls), mp.mpf(start)
    )
    assert abs(rough / mp.sqrt(2) - 1) < mp.mpf(10) ** -69 and len(calls) <= 9


def test_newton_without_a_zero_is_refused():
    mp = private_context(20)
    calls = []
    with pytest.raises(ArithmeticError, match="did not converge at 20 digits"):
        _newton(mp, counted(lambda x: (x**2 + 1, 2 * x), calls), mp.mpf("0.3"))
    assert len(calls) == 60
    # a step that does not fall is no end while it is large
    calls.clear()
    with pytest.raises(ArithmeticError, match="did not converge"):
        _newton(mp, counted(lambda x: (mp.mpf(10) ** -9, mp.mpf(1)), calls), mp.mpf(1))


@pytest.mark.parametrize("stages", [2, 5, 22])
def test_nodes_take_as_many_steps_as_digits_double(monkeypatch, stages):
    mp = private_context(60)
    calls = []
    monkeypatch.setattr(radau, "_legendre", counted(_legendre, calls))
    nodes = _nodes(mp, stages)
    # fifteen digits of floats, thirty, sixty, and one more to see it
    assert len(calls) <= 3.2 * (stages - 1) and len(nodes) == stages and nodes[-1] == 1
    for x in nodes:
        y = 2 * x - 1
        assert abs(mp.legendre(stages, y) - mp.legendre(stages - 1, y)) < mp.mpf(10) ** -55


def test_polynomials_of_legendre_on_the_unit_interval():
    mp = private_context(30)
    for x in ("0", "0.3", "1"):
        found = _legendre(mp.mpf(x), 7)
        assert len(found) == 8
        for k, value in enumerate(found):
            assert abs(value - mp.legendre(k, 2 * mp.mpf(x) - 1)) < mp.mpf(10) ** -27


@pytest.mark.parametrize("stages", [1, 2, 3, 9])
def test_a_vector_fulfils_all_rows_but_the_last(stages):
    mp = private_context(40)
    xi, corner = rows_of(mp, stages)
    alpha = mp.mpc("0.13", "0.21")
    vector, left, slope = _eigenvector(mp, xi, corner, alpha)
    rows = matrix_of(stages) @ np.array([complex(z) for z in vector])
    expected = [complex(alpha * z) for z in vector]
    size = max(abs(complex(z)) for z in vector)
    if stages > 1:
        # the first stages - 1 rows hold; the last leaves what is returned
        assert np.abs(rows[:-1] - np.array(expected[:-1])).max() < 1e-14 * size
        assert rows[-1] - expected[-1] == pytest.approx(complex(left), abs=1e-13 * size)
    else:
        assert abs(left - (mp.mpf(1) / 2 + corner - alpha)) < mp.mpf(10) ** -38
    step = mp.mpf(10) ** -12
    ahead, behind = (_eigenvector(mp, xi, corner, alpha + sign * step)[1] for sign in (1, -1))
    assert abs((ahead - behind) / (2 * step) / slope - 1) < mp.mpf(10) ** -18


@pytest.mark.parametrize(("stages", "most"), [(4, 1e-14), (22, 1e-4), (23, 2e-4), (30, 2e-3), (40, 4e-3)])
def test_eigenvalues_start_near_and_take_few_steps(monkeypatch, stages, most):
    mp = private_context(30 + stages)
    xi, corner = rows_of(mp, stages)
    calls = []
    monkeypatch.setattr(radau, "_eigenvector", counted(_eigenvector, calls))
    upper, real = radau._eigenvalues(mp, xi, corner)
    assert 2 * len(upper) + len(real) == stages and len(real) == stages % 2
    # up to three steps of Aberth's for all, three of Newton's for the upper half and one more to see it
    assert len(calls) <= (5.2 if stages > 22 else 3.2) * stages
    assert all(z.imag > 0 for z in upper) and all(z.imag == 0 for z in real)
    every = np.array([complex(z) for z in [*upper, *(mp.conj(z) for z in upper), *real]])
    starts = radau._float_eigenvalues(stages)
    # far less than the distance of two neighbours, a tenth or so; measured, and twice that
    assert max(np.abs(every - z).min() / abs(z) for z in starts) < most
    assert max(np.abs(starts - z).min() / abs(z) for z in every) < most
    assert (np.diff((1.0 / starts).imag) > 0.0).all()
    for z in (*upper, *real):
        vector, left, _ = _eigenvector(mp, xi, corner, z)
        assert abs(left) < mp.mpf(10) ** -20 * max(abs(x) for x in vector)


def test_eigenvalues_that_are_not_apart_are_refused(monkeypatch):
    mp = private_context(40)
    xi, corner = rows_of(mp, 6)
    exact = radau._float_eigenvalues(6)
    upper = exact[exact.imag > 0.0]
    for wrong in (
        [upper[0], upper[0], upper[1]],  # one twice, and the number is right
        [upper[0], upper[1]],  # one is missing
        [*upper, upper[0]],
    ):
        monkeypatch.setattr(radau, "_float_eigenvalues", lambda stages, wrong=wrong: np.array(wrong))
        with pytest.raises(ArithmeticError, match="of 6 Radau stages were not separated at 40 digits"):
            radau._eigenvalues(mp, xi, corner)
    monkeypatch.setattr(radau, "_float_eigenvalues", lambda stages: exact)
    assert len(radau._eigenvalues(mp, xi, corner)[0]) == 3
    # a matrix of another trace has other eigenvalues than the sum that is known
    with pytest.raises(ArithmeticError, match="not separated"):
        monkeypatch.setattr(radau, "_newton", lambda mp, function, start: start * (1 + mp.mpf(10) ** -8))
        radau._eigenvalues(mp, xi, corner)
