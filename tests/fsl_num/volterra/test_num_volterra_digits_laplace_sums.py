"""The sums of the transfer function against zeta values and terms written out, beside poles and at large p."""

from __future__ import annotations

import math
from typing import Any

import pytest
from models import problem_of

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits.laplace_sums import DIRECT, Series, TransferSums, residues, tails
from fsl_num.volterra.digits.moment_rules import zeta_tails

MP = private_context(30)
WIDE = private_context(60)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": math.inf, "noise": 1.0, "gamma": 0.3, "horizon": 9.0}
    return problem_of(**(values | changes))


def _expected(size: float, own: Any, p: Any) -> list[Any]:
    """The two sums for |p| > 2: 1/(p + 2 x - own x^2) as a power series in x = j^-2, so that zeta values remain."""
    p, own = WIDE.mpc(p), WIDE.mpf(own)
    series = [1 / p]
    for k in range(1, 400):
        before = series[k - 2] if k > 1 else 0
        series.append((own * before - 2 * series[-1]) / p)
    totals = []
    for q in (4, 2):  # 2 beta and 1 + s beta
        if math.isinf(size):
            totals.append(WIDE.fsum(c * WIDE.zeta(q + 2 * k) for k, c in enumerate(series)))
        else:
            terms = [(WIDE.mpf(j) ** -2, WIDE.mpf(j) ** -q) for j in range(1, int(size) + 1)]
            totals.append(WIDE.fsum(w / (p + 2 * x - own * x**2) for x, w in terms))
    return totals


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
@pytest.mark.parametrize("size", [7, DIRECT, DIRECT + 1, math.inf])
def test_both_sums_at_large_arguments(closure: str, size: float) -> None:
    p, gamma = MP.mpc(3, 2), MP.mpf(0.75)
    found = TransferSums(MP, _problem(size=size, closure=closure), gamma).at(p)
    exact = _expected(size, gamma if closure == "gaussian" else 0, p)
    for value, truth in zip(found, exact, strict=True):
        # 30 digits, a factor 1000 of which the integrals may lose
        assert abs(WIDE.mpc(value) - truth) < WIDE.mpf(10) ** -27 * abs(truth)


def test_sums_of_steep_spectra_start_later_and_are_refused_where_even_that_fails() -> None:
    """Derivatives of j^-401 at the 60th term do not fall: the series begins at the 120th."""
    mp, p = private_context(20), MP.mpc(3, 2)
    for found, power in zip(
        TransferSums(mp, _problem(s=20, beta=20), mp.mpf(0)).at(mp.mpc(3, 2)), (40, 401), strict=True
    ):
        truth = WIDE.fsum(WIDE.mpf(j) ** -power / (p + 2 * WIDE.mpf(j) ** -20) for j in range(1, 400))
        assert abs(WIDE.mpc(found) - truth) < WIDE.mpf(10) ** -17 * abs(truth)
    with pytest.raises(ArithmeticError, match="did not reach 20 digits at p = "):
        TransferSums(mp, _problem(s=20, beta=1000), mp.mpf(0)).at(mp.mpc(3, 2))


def test_a_model_that_ends_before_its_tail_would_begin_is_summed_to_its_end() -> None:
    mp, size = private_context(110), 329  # the tail begins at three times the digits
    found = TransferSums(mp, _problem(size=size), mp.mpf(0)).at(mp.mpc(3, 2))[0]
    truth = mp.fsum(mp.mpf(j) ** -4 / (mp.mpc(3, 2) + 2 * mp.mpf(j) ** -2) for j in range(1, size + 1))
    assert abs(found - truth) < mp.mpf(10) ** -106


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_the_sums_of_a_given_spectrum_are_written_out(closure: str) -> None:
    spectrum = Spectrum([1.0, 0.5, 0.25], [0.3, 0.2, 0.7])
    problem = Problem(Model(noise=1.0, spectrum=spectrum), gamma=0.5, horizon=9.0, closure=closure)
    own = 0.5 if closure == "gaussian" else 0.0
    rates = [x * (2 - own * x) for x in (1.0, 0.5, 0.25)]
    found = TransferSums(MP, problem, MP.mpf(0.5)).at(MP.mpc(2))
    kernel = sum(x**2 / (2 + r) for x, r in zip((1.0, 0.5, 0.25), rates, strict=True))
    signal = sum(w / (2 + r) for w, r in zip((0.3, 0.2, 0.7), rates, strict=True))
    assert [float(value.real) for value in found] == pytest.approx([kernel, signal], rel=1e-14)


SHARP = private_context(25)


def _written_out(q: Any, beta: Any, p: Any, first: int) -> Any:
    """sum_{j >= first} j^-q/(p + 2 j^-beta): terms up to where 2 j^-beta < |p|/3, a geometric series behind."""
    q, beta, p = WIDE.mpf(q), WIDE.mpf(beta), WIDE.mpmathify(p)
    end = first
    while 2 * WIDE.mpf(end) ** -beta > abs(p) / 3:
        end *= 2
    head = WIDE.fsum(WIDE.mpf(j) ** -q / (p + 2 * WIDE.mpf(j) ** -beta) for j in range(first, end))
    ratio = -2 * WIDE.mpf(end) ** -beta / p
    rows = zeta_tails(WIDE, q, beta, end, 75)  # 3^-75 = 2e-36
    return head + WIDE.mpf(end) ** -q / p * WIDE.fsum(ratio**k * row for k, row in enumerate(rows))


def _with_pole(mp: Any, beta: str, x: tuple[float, float]) -> Any:
    """The p whose pole x^beta = -2/p is the given one."""
    return -2 / mp.mpc(*x) ** mp.mpf(beta) if x[1] else -2 / mp.mpf(x[0]) ** mp.mpf(beta)


@pytest.mark.parametrize("pole", [(120.0, 0.4), (120.0, -2.5), (90.5, 0.0)])
@pytest.mark.parametrize(("beta", "powers"), [("1.3", ("1.4", "2.6")), ("9", ("4", "18"))])
def test_tails_beside_a_pole(beta: str, powers: tuple[str, str], pole: tuple[float, float]) -> None:
    p = _with_pole(SHARP, beta, pole)
    series = Series(SHARP, SHARP.mpf(beta), tuple(SHARP.mpf(q) for q in powers))
    found = tails(series, p, 60)
    assert found is not None
    for value, q in zip(found, powers, strict=True):
        exact = _written_out(SHARP.mpf(q), SHARP.mpf(beta), p, 60)
        # beside a pole the largest terms are about first/(beta |x - j|) times the sum: four digits at most
        assert abs(WIDE.mpmathify(value) - exact) < WIDE.mpf(10) ** -20 * abs(exact)
        # without the residue the tail would be wrong by far more
        share = residues(SHARP, SHARP.mpf(q), SHARP.mpf(beta), p, SHARP.mpf(60))
        assert abs(share) > SHARP.mpf(10) ** -12 * abs(value)


@pytest.mark.parametrize("turned", [1, -1])
def test_a_steep_spectrum_has_several_poles(turned: int) -> None:
    """At beta = 80 the poles stand 4.5 degrees apart: three of them count at 25 digits."""
    beta, first = SHARP.mpf(80), 40
    p = _with_pole(SHARP, "80", (60.5, 0.3 * turned))
    series = Series(SHARP, beta, (SHARP.mpf(9), SHARP.mpf(160)))
    found = tails(series, p, first)
    assert found is not None
    for value, q in zip(found, series.powers, strict=True):
        exact = _written_out(q, beta, p, first)
        assert abs(WIDE.mpmathify(value) - exact) < WIDE.mpf(10) ** -20 * abs(exact)


@pytest.mark.parametrize("digits", [25, 60])
def test_a_pole_is_left_out_only_where_it_is_below_rounding(digits: int) -> None:
    mp = private_context(digits)
    beta, q, first = mp.mpf(2), mp.mpf(3), mp.mpf(50)
    seen = 0
    for height in range(1, 30):
        x = mp.mpc(100, height)
        found = residues(mp, q, beta, -2 / x**beta, first)
        # 2 pi i times the residue of j^-q/(p + 2 j^-beta)/(exp(-2 pi i j) - 1) at x, whose modulus is at most
        bound = 2 * mp.pi * abs(x ** (1 - q) * x**beta) / (2 * beta) * mp.exp(-2 * mp.pi * height)
        # what is left out is below a rounding of x^(1 - q)/p
        if found:
            seen = height
            assert bound / 2 < abs(found) < 2 * bound
        else:
            assert bound < mp.eps * abs(x ** (1 - q) * x**beta)
    assert 2 * 3.14159 * (seen + 1) > digits * 2.30  # exp(-2 pi height) was above rounding up to there


def test_only_poles_right_of_the_first_index_count() -> None:
    p = _with_pole(SHARP, "2", (80.0, 0.5))
    q, beta = SHARP.mpf(3), SHARP.mpf(2)
    assert residues(SHARP, q, beta, p, SHARP.mpf("80.001")) == 0
    counted = residues(SHARP, q, beta, p, SHARP.mpf("79.999"))
    assert counted != 0
    # what it adds moves from the tail to the integral, and the tails of both starts differ by the terms between
    series = Series(SHARP, beta, (q,))
    early, late = tails(series, p, 70), tails(series, p, 90)
    assert early is not None and late is not None
    between = SHARP.fsum(SHARP.mpf(j) ** -q / (p + 2 * SHARP.mpf(j) ** -beta) for j in range(70, 90))
    assert abs(early[0] - late[0] - between) < SHARP.mpf(10) ** -21 * abs(between)
