"""Tails of the transfer sums where poles of the summand lie right of the first index: sums term by term."""

from __future__ import annotations

from typing import Any

import pytest

from fsl_num.exponential_sums_digits import private_context
from fsl_num.volterra.digits.laplace_sums import _Series, residues, tails
from fsl_num.volterra.digits.moment_rules import zeta_tails

MP = private_context(25)
WIDE = private_context(45)


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


@pytest.mark.parametrize("pole", [(120.0, 0.4), (120.0, -2.5), (90.5, 0.0), (75.25, -0.01)])
@pytest.mark.parametrize(("beta", "powers"), [("1.3", ("1.4", "2.6")), ("3.5", ("2.2", "7")), ("9", ("4", "18"))])
def test_tails_beside_a_pole(beta: str, powers: tuple[str, str], pole: tuple[float, float]) -> None:
    p = _with_pole(MP, beta, pole)
    series = _Series(MP, MP.mpf(beta), tuple(MP.mpf(q) for q in powers))
    found = tails(series, p, 60)
    assert found is not None
    for value, q in zip(found, powers, strict=True):
        exact = _written_out(MP.mpf(q), MP.mpf(beta), p, 60)
        # beside a pole the largest terms are about first/(beta |x - j|) times the sum: four digits at most
        assert abs(WIDE.mpmathify(value) - exact) < WIDE.mpf(10) ** -20 * abs(exact)
        # without the residue the tail would be wrong by far more
        share = residues(MP, MP.mpf(q), MP.mpf(beta), p, MP.mpf(60))
        assert abs(share) > MP.mpf(10) ** -12 * abs(value)


@pytest.mark.parametrize("turned", [1, -1])
def test_a_steep_spectrum_has_several_poles(turned: int) -> None:
    """At beta = 80 the poles stand 4.5 degrees apart: three of them count at 25 digits."""
    beta, first = MP.mpf(80), 40
    p = _with_pole(MP, "80", (60.5, 0.3 * turned))
    series = _Series(MP, beta, (MP.mpf(9), MP.mpf(160)))
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


@pytest.mark.parametrize("beta", ["1.05", "2", "7.3", "40"])
@pytest.mark.parametrize("pole", [(64.0, 0.7), (200.0, 3.0), (1e6, 0.2)])
def test_conjugate_arguments_have_conjugate_residues(beta: str, pole: tuple[float, float]) -> None:
    p = _with_pole(MP, beta, pole)
    for q in ("1.5", "4"):
        above = residues(MP, MP.mpf(q), MP.mpf(beta), p, MP.mpf(60))
        below = residues(MP, MP.mpf(q), MP.mpf(beta), MP.conj(p), MP.mpf(60))
        # x^(1 - q), an exponential of 2 pi x, and x of beta turns: the digits of 2 pi x are lost
        assert above != 0 and abs(MP.conj(above) - below) < MP.mpf(10) ** -16 * abs(above)


def test_only_poles_right_of_the_first_index_count() -> None:
    p = _with_pole(MP, "2", (80.0, 0.5))
    q, beta = MP.mpf(3), MP.mpf(2)
    assert residues(MP, q, beta, p, MP.mpf("80.001")) == 0
    counted = residues(MP, q, beta, p, MP.mpf("79.999"))
    assert counted != 0
    # what it adds moves from the tail to the integral, and the tails of both starts differ by the terms between
    series = _Series(MP, beta, (q,))
    early, late = tails(series, p, 70), tails(series, p, 90)
    assert early is not None and late is not None
    between = MP.fsum(MP.mpf(j) ** -q / (p + 2 * MP.mpf(j) ** -beta) for j in range(70, 90))
    assert abs(early[0] - late[0] - between) < MP.mpf(10) ** -21 * abs(between)
