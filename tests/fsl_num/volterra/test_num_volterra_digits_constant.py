"""Constant gamma by its zeros against the matrix exponential: stable or not, at the edge, and with equal rates."""

from __future__ import annotations

from fractions import Fraction

import pytest
from volterra_exponential import exact_losses

from fsl_num.exponential_sums_digits import private_context
from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.digits.constant import solve_constant

MP = private_context(60)


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
    times = [0.0, 0.5, 7.0]
    values, errors, facts = solve_constant(problem, times, 25)
    assert facts["modes"] == len(set(rates)) == facts["evaluations"]
    for value, error, exact in zip(values, errors, exact_losses(problem, [*times, 10.0])[:-1], strict=True):
        # the exponential itself is good to 1e-50; the rounding to 25 digits, and some times that where zeros are close
        assert abs(MP.mpf(value) - exact) <= error
        assert MP.mpf(10) ** -25 * exact * (1 - MP.mpf(10) ** -9) <= error
        assert error <= MP.mpf(10) ** (-24 if gamma != 0.9999999 else -23) * exact


def test_how_many_modes_there_may_be() -> None:
    larger = Problem(Model(s=0.5, beta=2.0, size=2001, noise=1.0), gamma=0.3, horizon=10.0)
    with pytest.raises(ValueError, match="needs model_size <= 2000, got 2001"):
        solve_constant(larger, [1.0], 15)
    varying = Problem(Model(s=0.5, beta=2.0, size=2, noise=1.0), gamma=lambda t: 0.3 / (1 + t), horizon=10.0)
    with pytest.raises(ValueError, match="needs a constant gamma"):
        solve_constant(varying, [1.0], 15)


def test_the_power_law_has_its_own_numbers() -> None:
    problem = Problem(Model(s=0.5, beta=2.0, size=4, noise=1.0), gamma=0.3, horizon=10.0)
    values, errors, _ = solve_constant(problem, [0.0, 3.0], 14)
    assert abs(values[0] - MP.zeta(2)) <= errors[0] and abs(values[1] - exact_losses(problem, [3.0])[0]) <= errors[1]


@pytest.mark.parametrize(("times", "double"), [(0, True), (900, True), (1020, True), (1030, False), (3000, False)])
def test_how_near_the_edge_of_stability_a_zero_is_taken_for_zero(times: int, double: bool) -> None:
    """Within 2^10 roundings of the edge f is the one at the edge to all digits; beyond, the digits are gone."""
    mp = private_context(20 + 25)
    eps = Fraction(2) ** (1 - mp.prec)
    assert mp.mpf(eps.numerator) / eps.denominator == mp.eps
    found = []
    for gamma in (Fraction(2), 2 - 2 * times * eps):
        # one mode: gamma lambda/2 = 1 at the edge
        problem = Problem(Model(noise=1.0, spectrum=Spectrum([1.0], [0.5], tail=0.125)), gamma=gamma, horizon=9.0)
        found.append(solve_constant(problem, [3.0], 20))
    (edge, sharp, _), (near, error, _) = found
    # u' = 2 (delta + sigma^2) at the edge
    assert abs(edge[0] - (0.625 + 2 * 1.125 * 3)) <= sharp[0] < 1e-18
    assert (error[0] < 1e-18) == double
    if double:
        assert abs(near[0] - edge[0]) <= error[0] + sharp[0]
