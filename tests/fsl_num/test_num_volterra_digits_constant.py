"""Constant gamma by its zeros against the matrix exponential: stable or not, at the edge, and with equal rates."""

from __future__ import annotations

from typing import Any

import pytest

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits import constant
from fsl_num.volterra.digits.constant import _root, _starts, solve_constant

MP = private_context(60)


def _exact(
    rates: list[float], signals: list[float], tail: float, noise: float, gamma: float, own: bool, t: float
) -> Any:
    """f(t) from (u, 1)' = A (u, 1), u_j = lambda_j m_j."""
    size = len(rates)
    matrix = MP.matrix(size + 1, size + 1)
    for i, x in enumerate(map(MP.mpf, rates)):
        for k in range(size):
            matrix[i, k] = gamma * x**2 * (2 if own and i == k else 1)
        matrix[i, i] -= 2 * x
        matrix[i, size] = gamma * x**2 * (MP.mpf(noise) + MP.mpf(tail))
    found = MP.expm(matrix * t) * MP.matrix([*signals, 1])
    return MP.mpf(tail) + MP.fsum(found[i] for i in range(size))


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
@pytest.mark.parametrize(
    ("rates", "gamma", "tail", "noise"),
    [
        ([1.0, 0.5, 0.25], 0.3, 0.125, 0.75),
        ([1.0, 0.5, 0.5, 0.25, 0.5], 0.3, 0.0, 0.5),  # three modes of one rate
        ([1.0, 0.5, 0.5], 1.0, 0.125, 0.25),  # gamma sum lambda/2 = 1: the edge, where f grows like t
        ([1.0, 0.5, 0.5], 0.9999999, 0.125, 0.25),  # next to it
        ([1.0, 0.5], 2.0, 0.125, 0.25),  # 2 lambda - gamma lambda^2 = 0 for the first mode of the closure "gaussian"
        ([1.0, 0.5, 0.25], 2.5, 0.125, 0.25),  # unstable
        ([1.0, 0.5, 0.25], 1e-200, 0.125, 0.25),  # too small for zeros in floats
        ([1.0], 0.7, 0.0, 1.0),
        ([1.0, 0.5], 0.0, 0.125, 0.25),  # no noise is injected
        ([1.0, 1.0 - 2.0**-50, 0.25], 0.3, 0.0, 1.0),  # floats hardly tell the first two apart
    ],
)
def test_the_zeros_give_the_matrix_exponential(
    closure: str, rates: list[float], gamma: float, tail: float, noise: float
) -> None:
    signals = [0.4, 0.3, 0.2, 0.6, 0.1][: len(rates)]
    spectrum = Spectrum(rates=sorted(rates, reverse=True), weights_signal=signals, tail=tail)
    problem = Problem(Model(noise=noise, spectrum=spectrum), gamma=gamma, horizon=10.0, closure=closure)
    ordered = sorted(rates, reverse=True)
    times = [0.0, 0.5, 7.0]
    values, errors, facts = solve_constant(problem, times, 25)
    assert facts["modes"] == len(set(rates)) == facts["evaluations"]
    for value, error, t in zip(values, errors, times, strict=True):
        exact = _exact(ordered, signals, tail, noise, gamma, closure == "gaussian", t)
        # the exponential itself is good to 1e-50; the rounding to 25 digits, and some times that where zeros are close
        assert abs(MP.mpf(value) - exact) <= error
        assert MP.mpf(10) ** -25 * exact * (1 - MP.mpf(10) ** -9) <= error
        assert error <= MP.mpf(10) ** (-24 if gamma != 0.9999999 else -23) * exact


@pytest.mark.parametrize("start", [0.0, 1e-30, 0.1, 0.374, 0.375, 5.0])
@pytest.mark.parametrize("gamma", ["1e-30", "0.3", "3"])
def test_a_zero_is_found_from_anywhere(start: float, gamma: str) -> None:
    mp = private_context(50)
    rates, weights = [mp.mpf(x) for x in ("0.125", "0.5", "2")], [mp.mpf(x) for x in ("0.004", "0.06", "1")]
    for k in range(3):
        x = _root(mp, mp.mpf(gamma), rates, weights, k, start)
        assert 0 < x < (rates[k] - rates[k - 1] if k else mp.inf)
        inside = mp.mpf(gamma) * mp.fsum(w / (x + (rate - rates[k])) for w, rate in zip(weights, rates, strict=True))
        assert abs(inside - 1) < mp.mpf(10) ** -46  # fifty digits, four of which the sum may lose


def test_a_zero_that_does_not_come_is_refused() -> None:
    mp = private_context(20)
    with pytest.raises(ArithmeticError, match="mode 0 did not converge at 20 digits"):
        _root(mp, mp.mpf("0.3"), [mp.mpf(1)], [mp.nan], 0, 0.0)


def test_zeros_start_where_floats_see_them() -> None:
    mp = private_context(30)
    rates, weights = [mp.mpf(x) for x in ("0.125", "0.5", "2")], [mp.mpf(x) for x in ("0.004", "0.06", "1")]
    for gamma in ("0.3", "1e-30", "1e-130"):
        for k, start in enumerate(_starts(mp.mpf(gamma), rates, weights)):
            assert start == pytest.approx(float(_root(mp, mp.mpf(gamma), rates, weights, k, 0.0)), rel=1e-9, abs=0.0)
    # where the least push is below what floats can follow, and where two rates are one float
    assert _starts(mp.mpf("1e-140"), rates, weights) == [0.0] * 3
    close = [mp.mpf("0.125"), mp.mpf("0.125") + mp.mpf(10) ** -20, mp.mpf(2)]
    assert _starts(mp.mpf("0.3"), close, weights) == [0.0] * 3


def test_how_many_modes_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constant, "LARGEST", 5)
    problem = Problem(Model(s=0.5, beta=2.0, size=5, noise=1.0), gamma=0.3, horizon=10.0)
    assert solve_constant(problem, [1.0], 15)[2]["modes"] == 5
    larger = Problem(Model(s=0.5, beta=2.0, size=6, noise=1.0), gamma=0.3, horizon=10.0)
    with pytest.raises(ValueError, match="needs model_size <= 5, got 6"):
        solve_constant(larger, [1.0], 15)
    varying = Problem(Model(s=0.5, beta=2.0, size=2, noise=1.0), gamma=lambda t: 0.3 / (1 + t), horizon=10.0)
    with pytest.raises(ValueError, match="needs a constant gamma"):
        solve_constant(varying, [1.0], 15)


def test_the_power_law_has_its_own_numbers() -> None:
    problem = Problem(Model(s=0.5, beta=2.0, size=4, noise=1.0), gamma=0.3, horizon=10.0)
    signals = [float(j) ** -2.0 for j in range(1, 5)]
    tail = MP.zeta(2) - MP.fsum(MP.mpf(j) ** -2 for j in range(1, 5))
    values, errors, _ = solve_constant(problem, [0.0, 3.0], 14)
    exact = _exact([float(j) ** -2.0 for j in range(1, 5)], signals, float(tail), 1.0, 0.3, False, 3.0)
    # 1e-15: here the rates and signals are floats
    assert abs(values[0] - MP.zeta(2)) <= errors[0] and abs(values[1] - exact) <= errors[1] + MP.mpf(10) ** -14
