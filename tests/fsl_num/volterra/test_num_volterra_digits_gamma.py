"""Gamma at many digits: schedules, functions, steps, and how close to its end it is singular."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from models import problem_of

from fsl_num.exponential_sums_digits import private_context
from fsl_num.schedules import Cosine, Discrete, schedule
from fsl_num.volterra import Problem
from fsl_num.volterra.digits.gamma import ExactGamma, exact_gamma

MP = private_context(40)
WIDE = private_context(60)


def _problem(**changes: Any) -> Problem:
    values: dict[str, Any] = {"s": 0.5, "beta": 2.0, "size": math.inf, "noise": 1.0, "gamma": 0.3, "horizon": 100.0}
    return problem_of(**(values | changes))


def test_how_close_to_the_end_gamma_is_singular() -> None:
    depth = MP.mpf(10) ** -20

    def found(name: str, horizon: float | None = None, **numbers: float) -> ExactGamma:
        return exact_gamma(MP, _problem(gamma=schedule(name, peak=0.5, steps=40.0, **numbers), horizon=horizon), depth)

    assert found("wsd", final=0.1, decay_fraction=0.5).depth is None
    assert found("linear").depth == depth and found("power-decay", power=2.0).depth == depth
    assert found("cosine").depth == depth
    # gamma^2 = final^2 + slope r, slope = 2 (0.5 - 0.1)/40, vanishes behind the end
    assert float(found("linear", final=0.1).depth) == pytest.approx(0.1**2 / 0.02)
    # there the angle is i y with final cosh-like rate 0: final + half (1 - cosh y) = 0
    y = math.acosh(1.0 + 0.1 / 0.2)
    assert float(found("cosine", final=0.1).depth) == pytest.approx(
        40.0 / math.pi * abs(0.1 * y - 0.2 * (math.sinh(y) - y))
    )
    # a horizon before the end keeps its distance from it
    total = 10.0
    assert float(found("linear", horizon=7.0).depth) == pytest.approx(total - 7.0)
    early = found("wsd", horizon=6.0, final=0.1, decay_fraction=0.5)
    assert early.breaks == [] and not early.steps and early.end == 6
    assert len(found("wsd", final=0.1, decay_fraction=0.5).breaks) == 1


def test_a_function_is_asked_just_before_its_end() -> None:
    asked: list[Any] = []
    gamma = exact_gamma(MP, _problem(gamma=lambda t: asked.append(t) or 0.25, breaks=(3.0,)), None)
    asked.clear()
    assert gamma.value(MP.mpf(100), MP.mpf(0)) == 0.25 and gamma.value(MP.mpf(5), MP.mpf(95)) == 0.25
    assert 0 < 100 - asked[0] < MP.mpf(10) ** -36 and asked[1] == 5
    assert gamma.breaks == [3] and gamma.end == 100 and not gamma.steps
    with pytest.raises(FrozenInstanceError):
        gamma.end = 3  # type: ignore[misc]


def test_a_schedule_by_steps_is_constant_between_its_breaks() -> None:
    problem = _problem(gamma=Discrete(rates=[0.5, 0.25, 0.25], batch_sizes=[1.0]), horizon=None)
    gamma = exact_gamma(MP, problem, None)
    assert gamma.steps and gamma.breaks == [MP.mpf("0.5")] and gamma.end == 1
    assert [float(gamma.value(MP.mpf(t), None)) for t in (0.1, 0.5, 0.6, 1.0, 1.1)] == [0.5, 0.5, 0.25, 0.25, 0.25]
    assert (
        exact_gamma(MP, _problem(), None).steps
        and not exact_gamma(MP, _problem(gamma=Cosine(peak=0.3, steps=9.0), horizon=None), 0).steps
    )


@pytest.mark.parametrize("name", ["constant", "linear", "exp-decay", "wsd", "cosine", "power-decay"])
@pytest.mark.parametrize("flat", [True, False])
def test_gamma_is_the_rate_over_the_batch_size(name: str, flat: bool) -> None:
    """At the step x of K: the rate, and the intrinsic time that is left as its integral over the steps left."""
    peak, final, steps, batch = 0.5, 0.5 if flat else 0.125, 40.0, 4.0
    numbers: dict[str, float] = {"constant": {}, "power-decay": {"power": 0.0 if flat else 1.5}}.get(
        name, {"final": final}
    )
    if name == "wsd":
        numbers = {**numbers, "decay_fraction": 0.25}
    plan = schedule(name, peak=peak, steps=steps, batch_size=batch, **numbers)
    gamma = exact_gamma(MP, _problem(gamma=plan, horizon=None), MP.mpf(10) ** -30)
    share = 0.25 if name == "wsd" else 1.0

    def rate(x: Any) -> Any:
        y = MP.mpf(x) / steps
        if name == "constant" or (flat and name != "power-decay"):
            return MP.mpf(peak)
        if name == "power-decay":
            return peak * (1 - y) ** MP.mpf(numbers["power"])
        if name == "linear":
            return peak + (final - peak) * y
        if name == "cosine":
            return final + (MP.mpf(peak) - final) * (1 + MP.cospi(y)) / 2
        return peak * (MP.mpf(final) / peak) ** (max(y - (1 - share), 0) / share)

    for x in (1.0, 20.0, 33.0, 39.5):
        pieces = [x, max(x, 30.0), steps] if name == "wsd" else [x, steps]
        left = MP.quad(rate, pieces)
        # the quadrature is good to all digits for such functions, a power at the end to ten
        digits = 9 if name == "power-decay" and not flat else 30
        assert abs(gamma.value(gamma.end - left, left) * batch / rate(x) - 1) < MP.mpf(10) ** -digits
    assert abs(gamma.end - MP.quad(rate, [0, 30, 40])) < MP.mpf(10) ** (-9 if name == "power-decay" else -30)
    assert gamma.breaks == ([15] if name == "wsd" and not flat else [])


@pytest.mark.parametrize("bad", [-1e-9, -0.5, math.inf, math.nan])
def test_functions_below_zero_are_refused(bad: float) -> None:
    # the problem itself looks at some times, of which this is none
    problem = _problem(gamma=lambda t: bad if t == 0.123 else 0.25)
    value = exact_gamma(MP, problem, None).value
    assert value(MP.mpf("0.2"), None) == 0.25
    with pytest.raises(ValueError, match="finite and at least 0 on"):
        value(MP.mpf(0.123), None)
    assert exact_gamma(MP, _problem(gamma=lambda t: 0.0 if t == 0.123 else 0.25), None).value(MP.mpf(0.123), None) == 0


@pytest.mark.parametrize("angle", ["1e-30", "1e-12", "0.04", "0.06", "1", "3"])
@pytest.mark.parametrize("final", [0.0, 1e-3, 0.3])
def test_the_cosine_schedule_is_inverted_to_all_digits(angle: str, final: float) -> None:
    problem = _problem(gamma=schedule("cosine", peak=0.6, steps=400.0, final=final), horizon=None)
    exact = exact_gamma(WIDE, problem, WIDE.mpf("1e-90"))
    wide = private_context(160)  # x - sin x loses 60 digits at 1e-30
    x, low, half = wide.mpf(angle), wide.mpf(final), (wide.mpf(0.6) - wide.mpf(final)) / 2
    left = WIDE.mpf(400 / wide.pi * (low * x + half * (x - wide.sin(x))))
    found = exact.value(exact.end - left, left)
    # 60 digits, of which x - sin x may lose four
    assert abs(found / (low + half * (1 - wide.cos(x))) - 1) < WIDE.mpf(10) ** -54
