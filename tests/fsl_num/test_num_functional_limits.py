"""The quadrature of the functional law: where its panels begin, how often they are refined, what its error holds."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from fsl_num.functional import (
    FunctionalScalingLaw,
    Integral,
    _rule,
    batch_noise_functional,
    integrate_graded,
    noise_functional,
)
from fsl_num.model import Model
from fsl_num.schedules import Constant, Discrete
from fsl_num.validation import Array


def recorded(function: Any) -> tuple[Any, list[Array]]:
    """The function, and the list of what it was asked."""
    asked: list[Array] = []

    def called(x: Array) -> Array:
        asked.append(np.array(x))
        return np.asarray(function(x))

    return called, asked


@pytest.mark.parametrize(
    ("upper", "breaks", "start"),
    # 1e-18 of the whole, of 1 where the whole is longer, or half of what lies in front of the first break
    [(3.0, (), 1e-18), (1.0, (), 1e-18), (1e30, (), 1e-18), (0.25, (), 2.5e-19), (3.0, (1e-20, 1.0), 5e-21)],
)
def test_where_the_first_panel_ends(upper: float, breaks: tuple[float, ...], start: float) -> None:
    function, asked = recorded(np.ones_like)
    found = integrate_graded(function, upper, breaks=breaks)
    assert asked[0] == pytest.approx([0.0, start], rel=1e-15, abs=0.0) and len(asked) == 3
    assert found.value == pytest.approx(upper, rel=1e-14, abs=0.0)
    assert asked[1].min() < start < np.sort(asked[1])[10]  # ten nodes in the first panel
    assert found.evaluations == sum(len(each) for each in asked)


def test_panels_are_halved_in_the_logarithm_four_times_at_most() -> None:
    function, asked = recorded(lambda x: np.where(x < 1 / 3, -1.0, 1.0))
    found = integrate_graded(function, 1.0)
    # ratios 4, 2, sqrt 2, ... between 1e-18 and 1, and the first panel; ten nodes and sixteen
    panels = [1 + math.ceil(18.0 * math.log(10.0) / (math.log(4.0) / 2.0**k)) for k in range(5)]
    # a jump inside of a panel is never met to 1e-10
    assert [len(each) for each in asked] == [2, *(nodes * count for count in panels for nodes in (10, 16))]
    assert found.evaluations == 2 + 26 * sum(panels)
    assert abs(found.value - 1 / 3) <= found.error


@pytest.mark.parametrize(("share", "times"), [(1.01, 1), (0.99, 2)])
def test_panels_are_refined_until_two_rules_agree_to_the_tolerance(share: float, times: int) -> None:
    """The second rule is off by one part in 1e6 at the first trial, and never after it."""
    calls = []

    def function(x: Array) -> Array:
        calls.append(len(x))
        return np.full_like(x, -1.0 - 1e-6 if len(calls) == 3 else -1.0)

    found = integrate_graded(function, 1.0, rtol=share * 1e-6 / (1.0 + 1e-6))
    assert len(calls) == 1 + 2 * times
    # the error is reported as it is at the end
    assert found.error == pytest.approx(1e-6 + 3e-14 if times == 1 else 3e-14, rel=0.05)


def test_the_error_is_twice_the_first_panel_and_rounding_and_the_difference_of_two_rules() -> None:
    # half of the first panel is seen by both rules alike
    spike = integrate_graded(lambda x: np.where(x < 5e-19, 1e18, 0.0), 1.0)
    assert spike.value == pytest.approx(0.5, rel=1e-13) and spike.error == pytest.approx(2.0, rel=1e-12)
    # at the end of the first panel too
    late = integrate_graded(lambda x: np.where((x >= 9.99999e-19) & (x <= 1e-18), -1e18, 0.0), 1.0)
    assert late.error == pytest.approx(2.0, rel=1e-9)
    flat = integrate_graded(lambda x: -np.ones_like(x), 1.0)
    # and 3e-14 of the value; its own rounding is 1e-16
    assert flat.value == pytest.approx(-1.0, rel=1e-15) and flat.error == pytest.approx(3e-14, rel=0.02)
    nothing = integrate_graded(np.zeros_like, 1.0)
    assert (nothing.value, nothing.error) == (0.0, 0.0)


@pytest.mark.parametrize("nodes", [1, 10, 16])
def test_the_rule_lies_in_the_unit_interval(nodes: int) -> None:
    x, w = _rule(nodes)
    assert len(x) == nodes and (np.diff(x) >= 0.0).all() and 0.0 < x.min() <= x.max() < 1.0
    for degree in range(2 * nodes):
        assert w @ x**degree == pytest.approx(1.0 / (degree + 1.0), rel=1e-14)


def test_breaks_outside_are_no_breaks() -> None:
    function, asked = recorded(np.ones_like)
    for breaks in ((), (0.0,), (-1.0, 2.0, 2.5), (2.0,)):
        asked.clear()
        integrate_graded(function, 2.0, breaks=breaks)
        assert len(asked[1]) == 10 * (1 + math.ceil(math.log(2e18) / math.log(4.0)))
    asked.clear()
    integrate_graded(function, 2.0, breaks=(1.0, 0.5, 1.0))
    # up to 1/2, to 1 and to 2
    assert len(asked[1]) == 10 * (1 + math.ceil(math.log(5e17) / math.log(4.0)) + 1 + 1)


@pytest.mark.parametrize("batch_size", [1.0, 4.0])
def test_both_halves_of_the_batch_noise_count(batch_size: float) -> None:
    """Two rates, one in each half: one mode gives exp(-2 T) times the integral of gamma."""
    plan = Discrete(rates=[0.5, 0.25], batch_sizes=batch_size)
    model = Model(s=0.5, beta=2.0, size=1, noise=0.0)
    found = batch_noise_functional(model, plan)
    gammas = (0.25 + 0.0625) / batch_size
    assert found.value == pytest.approx(math.exp(-1.5) * gammas, rel=1e-12, abs=0.0)
    assert abs(found.value - math.exp(-1.5) * gammas) <= found.error <= 1e-12
    noise = noise_functional(model, plan)
    # in front of the end 0.25 lies the second step: B gamma is the rate
    wanted = 0.25 * 0.5 * -math.expm1(-0.5) + 0.5 * 0.5 * (math.exp(-0.5) - math.exp(-1.5))
    assert noise.value == pytest.approx(wanted, rel=1e-12, abs=0.0)
    whole = Constant(peak=0.5, steps=3.0, batch_size=batch_size)
    each = batch_noise_functional(model, whole)
    assert each.evaluations == 2 * 2 + 2 * 26 * (1 + math.ceil(math.log(0.75e18) / math.log(4.0)))


def test_results_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Integral(1.0, 0.0, 2).value = 2.0  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        FunctionalScalingLaw(1.0, 2.0, 3.0, 4.0, 0.0).error = 2.0  # type: ignore[misc]
