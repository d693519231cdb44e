"""The sums of the transfer function: derivatives, zeta values at large p, and what is done where a tail fails."""

from __future__ import annotations

import math
from typing import Any

import pytest
from models import problem_of

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits import laplace_sums
from fsl_num.volterra.digits.laplace_sums import DIRECT, TransferSums, _end_terms, _Series

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
@pytest.mark.parametrize("size", [1, 7, DIRECT, DIRECT + 1, 700, math.inf])
def test_both_sums_at_large_arguments(closure: str, size: float) -> None:
    p, gamma = MP.mpc(3, 2), MP.mpf(0.75)
    found = TransferSums(MP, _problem(size=size, closure=closure), gamma).at(p)
    exact = _expected(size, gamma if closure == "gaussian" else 0, p)
    for value, truth in zip(found, exact, strict=True):
        # 30 digits, a factor 1000 of which the integrals may lose
        assert abs(WIDE.mpc(value) - truth) < WIDE.mpf(10) ** -27 * abs(truth)


def test_the_numbers_of_the_series() -> None:
    series = _Series(MP, MP.mpf("1.7"), (MP.mpf(3), MP.mpf("0.4")))
    series.grow(4)
    series.grow(9)  # what is there stays
    assert len(series.rates) == len(series.tops[0]) == len(series.tops[1]) == 10
    for row, power in zip((series.rates, *series.tops), ("1.7", "3", "0.4"), strict=True):
        for k, value in enumerate(row):
            assert abs(value - MP.binomial(-MP.mpf(power), k)) < MP.mpf(10) ** -26 * abs(value)
    for k in range(1, len(series.bernoulli)):
        assert abs(series.bernoulli[k] - MP.bernoulli(2 * k) / (2 * k)) < MP.mpf(10) ** -28


@pytest.mark.parametrize("p", [3.0, 0.001 + 0.02j])
def test_end_terms_are_the_derivatives_of_the_summand(p: complex) -> None:
    x, beta, powers = 120, "1.7", ("3.4", "1.2")
    series = _Series(MP, MP.mpf(beta), tuple(MP.mpf(q) for q in powers))
    found = _end_terms(series, MP.mpc(p), MP.mpf(x))
    assert found is not None
    for value, q in zip(found, powers, strict=True):

        def g(z: Any, q: str = q) -> Any:
            y = x * (1 + z)
            return y ** -WIDE.mpf(q) / (WIDE.mpc(p) + 2 * y ** -WIDE.mpf(beta))

        taylor = WIDE.taylor(g, 0, 20)
        exact = taylor[0] / 2 - WIDE.fsum(
            WIDE.bernoulli(2 * k) / (2 * k) * taylor[2 * k - 1] * WIDE.mpf(x) ** (1 - 2 * k) for k in range(1, 11)
        )
        assert abs(WIDE.mpc(value) - exact) < WIDE.mpf(10) ** -27 * abs(exact)
    # at the second index the derivatives grow before they are below rounding
    assert _end_terms(series, MP.mpc(p), MP.mpf(2)) is None


@pytest.mark.parametrize("which", ["near", "far", "both"])
def test_a_tail_that_fails_on_one_side_is_no_tail(monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    """The two poles of the closure have a tail each, and the sum needs both."""
    sums = TransferSums(MP, _problem(closure="gaussian"), MP.mpf(0.5))
    exact = laplace_sums.tails

    def failing(series: Any, z: Any, first: int) -> Any:
        near = z.real > 0  # the other, -2 (1 + D)/gamma, is negative
        return None if which == "both" or near == (which == "near") else exact(series, z, first)

    assert sums._tails(MP.mpc(1), 90) is not None
    monkeypatch.setattr(laplace_sums, "tails", failing)
    assert sums._tails(MP.mpc(1), 90) is None


@pytest.mark.parametrize("failures", [0, 1, 3, 99])
def test_sums_start_later_where_a_tail_fails(monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
    starts: list[int] = []
    exact = laplace_sums.tails

    def late(series: Any, p: Any, first: int) -> Any:
        starts.append(first)
        return None if len(starts) <= failures else exact(series, p, first)

    monkeypatch.setattr(laplace_sums, "tails", late)
    mp = private_context(20)
    sums = TransferSums(mp, _problem(), mp.mpf(0))
    p = mp.mpc(3, 2)
    if failures == 99:
        with pytest.raises(ArithmeticError, match="did not reach 20 digits at p = "):
            sums.at(p)
        # from three times the digits, twice as many each time, up to a hundred times the digits
        assert starts == [60, 120, 240, 480, 960, 1920]
        return
    found = sums.at(p)
    assert starts == [60 * 2**k for k in range(failures + 1)]
    for value, truth in zip(found, _expected(math.inf, 0, p), strict=True):
        assert abs(WIDE.mpc(value) - truth) < WIDE.mpf(10) ** -17 * abs(truth)


def test_a_model_that_ends_before_the_tail_begins_is_summed_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    mp = private_context(110)  # the tail would begin at 330
    asked: list[int] = []
    exact = laplace_sums.tails
    monkeypatch.setattr(laplace_sums, "tails", lambda *a: asked.append(a[2]) or exact(*a))
    wide = private_context(130)
    for size in (329, 330):
        found = TransferSums(mp, _problem(size=size), mp.mpf(0)).at(mp.mpc(3, 2))[0]
        truth = wide.fsum(wide.mpf(j) ** -4 / (wide.mpc(3, 2) + 2 * wide.mpf(j) ** -2) for j in range(1, size + 1))
        assert abs(wide.mpc(found) - truth) < wide.mpf(10) ** -106
    assert asked == [330, 331]  # the shorter model has asked for none


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_the_sums_of_a_given_spectrum_are_written_out(closure: str) -> None:
    given = Spectrum([1.0, 0.5, 0.25], [0.3, 0.2, 0.7])
    problem = Problem(Model(noise=1.0, spectrum=given), gamma=0.5, horizon=9.0, closure=closure)
    own = 0.5 if closure == "gaussian" else 0.0
    rates = [x * (2 - own * x) for x in (1.0, 0.5, 0.25)]
    found = TransferSums(MP, problem, MP.mpf(0.5)).at(MP.mpc(2))
    kernel = sum(x**2 / (2 + r) for x, r in zip((1.0, 0.5, 0.25), rates, strict=True))
    signal = sum(w / (2 + r) for w, r in zip((0.3, 0.2, 0.7), rates, strict=True))
    assert [float(each.real) for each in found] == pytest.approx([kernel, signal], rel=1e-14)
