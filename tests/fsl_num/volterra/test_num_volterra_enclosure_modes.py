"""Few modes in balls: as few as the bound allows, and a remainder that holds the truth and is close to it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from models import problem_of

from fsl_num.exponential_sums_digits import exponential_sum_digits
from fsl_num.model import Model
from fsl_num.volterra import Problem, Spectrum
from fsl_num.volterra.enclosure.modes import BallModes, ball_modes, parameter

flint = pytest.importorskip("flint")
MP = mpmath.mp.clone()
MP.dps = 60


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": math.inf, "noise": 1.0, "gamma": 0.3}
    return problem_of(**(values | {"horizon": 100.0} | changes))


def _mp(x: Any) -> Any:
    mantissa, exponent = flint.arb(x).mid().man_exp()
    return MP.ldexp(MP.mpf(int(mantissa)), int(exponent))


def test_parameters_are_exactly_what_was_given() -> None:
    problem = _problem(s=Fraction(1, 3), beta=1.7)
    with flint.ctx.workprec(200):
        third = parameter(flint, problem, "s")
        assert third.overlaps(flint.arb(1) / 3) and not third.is_exact() and float(third.rad()) < 1e-59
        assert parameter(flint, problem, "beta") == flint.arb(1.7) and parameter(flint, problem, "noise") == 1


def _left_out(problem: Problem, found: BallModes, t: Any) -> list[tuple[Any, Any]]:
    """For kernel and signal what the modes leave out of the sum at a time, and the bound of it."""
    s, beta = MP.mpf(problem.model.s), MP.mpf(problem.model.beta)
    size = math.inf if math.isinf(problem.model.size) else int(problem.model.size)
    left, rows = found.remainder, []
    assert left is not None
    for power, row, most in ((2 * beta, found.weights, left.kernel), (1 + s * beta, found.signals, left.signal)):
        full = MP.mpf(exponential_sum_digits(power, t, beta, size, 1, 60))
        short = MP.fsum(_mp(w) * MP.exp(-_mp(r) * t) for w, r in zip(row, found.rates, strict=True))
        rows.append((full - short, _mp(most) * (t * _mp(left.rate)) ** left.power))
    return rows


@pytest.mark.parametrize(
    ("changes", "digits"), [({}, 12), ({"beta": 1.5, "s": 1.0}, 15), ({"size": 1e4}, 12), ({"horizon": 1e4}, 15)]
)
def test_the_remainder_holds_what_is_left_out_and_is_close_to_it(changes: dict[str, Any], digits: int) -> None:
    problem = _problem(**changes)
    with flint.ctx.workprec(220):
        found = ball_modes(flint, problem, digits)
    assert found.remainder is not None and found.multiplicities == [1] * len(found.rates)
    scale = 2 / _mp(found.remainder.rate)  # of the first mode that is not kept
    for share in (1.0, 0.2):
        t = MP.mpf(share) * MP.mpf(problem.end)
        for missed, bound in _left_out(problem, found, t):
            # exp(-tau x) lies between exp(-tau) and 1, and so does the derivative against its bound
            tau = 2 * t / scale
            assert 0 < missed <= bound and missed >= bound * MP.exp(-tau)
        # a digit or two below what was asked for: the estimate (1/4)^(2n) is that of a smooth measure
    worst = max(float(bound) for _, bound in _left_out(problem, found, MP.mpf(problem.end)))
    assert 10.0 ** (-digits - 8) < worst < 10.0**-digits


@pytest.mark.parametrize("size", [1.0, 5.0, 160.0])
def test_small_models_keep_their_modes(size: float) -> None:
    problem = _problem(size=size, s=0.7)
    with flint.ctx.workprec(150):
        found = ball_modes(flint, problem, 20)
        assert found.multiplicities == [1] * len(found.rates)  # j^-beta differ
        assert found.remainder is None and len(found.rates) == size
        for j, (rate, weight, signal) in enumerate(zip(found.rates, found.weights, found.signals, strict=True), 1):
            power = 1 + flint.arb(0.7) * 2
            assert rate.overlaps(2 / flint.arb(j) ** 2) and weight.overlaps(1 / flint.arb(j) ** 4)
            assert signal.overlaps(flint.arb(j) ** -power)
            assert max(float(x.rad()) for x in (rate, weight, signal)) < 1e-40
    exact = exponential_sum_digits(1 + MP.mpf(0.7) * 2, 0, 2, math.inf, int(size) + 1, 40)
    assert abs(_mp(found.delta) - exact) < MP.mpf(10) ** -38 and found.noise == 1


def test_how_many_modes_are_followed_one_by_one() -> None:
    many = _problem(size=1e4, horizon=1e5)
    with flint.ctx.workprec(200):
        assert ball_modes(flint, many, 20).remainder is not None
        whole = ball_modes(flint, _problem(size=300.0), 20, whole=True)
    assert whole.remainder is None and len(whole.rates) == 300
    with pytest.raises(ValueError, match="need 1501 of the model_size = 1501"):
        ball_modes(flint, _problem(size=1501.0), 12, whole=True)
    spectrum = Spectrum(rates=[1.0] * 1501, weights_signal=[1.0] * 1501)
    with pytest.raises(ValueError, match="at most 1500 modes, got 1501"):
        ball_modes(flint, Problem(Model(noise=0.0, spectrum=spectrum), gamma=0.01, horizon=1.0), 12)
    with pytest.raises(ValueError, match="of the model_size = inf"):
        ball_modes(flint, _problem(horizon=1e30), 12)


def test_equal_rates_of_a_spectrum_are_one_mode() -> None:
    spectrum = Spectrum(rates=[1.0, 0.5, 0.5, 0.25], weights_signal=[0.1, 0.25, 0.5, 0.75], tail=0.125)
    found = ball_modes(flint, Problem(Model(noise=0.5, spectrum=spectrum), gamma=0.1, horizon=2.0), 20)
    assert [float(x) for x in found.rates] == [2.0, 1.0, 0.5] and found.multiplicities == [1, 2, 1]
    assert [float(x) for x in found.weights] == [1.0, 0.5, 0.0625]
    assert [float(x) for x in found.signals] == [0.1, 0.75, 0.75]
    assert found.delta == 0.125 and found.noise == 0.5 and found.remainder is None


def test_rules_that_need_more_bits_get_them() -> None:
    """Of a steep spectrum no rule is found at first, and then one that is not as sharp as what it is to be used for."""
    with flint.ctx.workprec(108):
        found = ball_modes(flint, _problem(s=5.0, beta=30.0, horizon=10.0, gamma=0.01), 12)
        numbers = [x for x in (*found.rates, *found.weights, *found.signals) if x != 0]
        assert len(numbers) > 5 and min(x.rel_accuracy_bits() for x in numbers) >= 100
