"""Bounds of errors against errors: one mode, whose worst case is known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fsl_num.volterra.enclosure.bounds import ErrorBounds
from fsl_num.volterra.enclosure.modes import BallModes, Remainder

flint = pytest.importorskip("flint")


def _modes(rate: float, weight: float, remainder: Remainder | None = None) -> BallModes:
    unit = flint.arb(1)
    return BallModes([unit * rate], [unit * weight], [unit], flint.arb(0), flint.arb(0), remainder, [1])


def _advance(bounds: ErrorBounds, width: float, end: float, **values: float) -> None:
    """One panel of one mode; what is not given is 0, and the loss 1."""
    x = {name: flint.arb(values.get(name, 0.0)) for name in ("gamma", "jump", "size", "slope")}
    bounds.advance(
        width=flint.arb(width), end=flint.arb(end), gamma=x["gamma"], loss=flint.arb(values.get("loss", 1.0)),
        jumps=[x["jump"]], sizes=[x["size"]], slopes=[x["slope"]],
    )  # fmt: skip


@pytest.mark.parametrize("feedback", [0.01, 0.5, 0.9])
@pytest.mark.parametrize("width", [0.01, 1.0, 50.0])
@pytest.mark.parametrize(("jump", "slope"), [(1.0, 0.0), (0.0, 1.0), (0.3, 0.2)])
def test_one_mode_pushed_in_one_direction(feedback: float, width: float, jump: float, slope: float) -> None:
    rate, weight = 2.0, 4.0
    gamma = feedback * rate / weight
    bounds = ErrorBounds(flint, _modes(rate, weight))
    error, left = 0.0, rate - gamma * weight
    for panel in range(1, 40):
        first = jump if panel < 20 else 0.0
        push = slope if panel < 20 else 0.0
        # e' = -(r - gamma w) e + push/width after the jump
        limit = push / width / left
        error = limit + (error + first - limit) * math.exp(-left * width)
        _advance(bounds, width, panel * width, gamma=gamma, jump=first, size=push, slope=push)
        radius = float(bounds.radius)
        # 1e-12: rounding of the closed form in float64
        assert error * (1 - 1e-12) <= radius
        if panel < 20 and slope > 0.0:
            # between panels only the resolvent's factor 1/(1 - 0.9) and that of a jump that has faded are lost
            assert radius <= 21 * max(error, jump)


def test_what_is_left_out_acts_through_the_whole_past() -> None:
    remainder = Remainder(kernel=flint.arb(1e-3), signal=flint.arb(1e-2), rate=flint.arb(1), power=1)
    bounds = ErrorBounds(flint, _modes(1.0, 0.0, remainder))
    for end in (1.0, 2.0):
        _advance(bounds, 1, end, gamma=0.5, loss=3)
        # signal t + kernel t int gamma |g|, with |g| = 3 and its error of about a hundredth
        least = 1e-2 * end + 1e-3 * end * 0.5 * 3 * end
        assert least < float(bounds.radius) < 1.02 * least


def test_too_strong_a_feedback_is_refused() -> None:
    bounds = ErrorBounds(flint, _modes(1.0, 1.0))
    with pytest.raises(ArithmeticError, match="no bound follows"):
        _advance(bounds, 9, 9, gamma=2)


@pytest.mark.parametrize("part", ["kernel", "signal"])
def test_what_is_left_out_is_fed_back_through_the_modes(part: str) -> None:
    """One mode that is exact but for theta, which grows like t: e' = -r e + w gamma (e + theta)."""
    rate, weight, gamma, loss, sizes = 1.0, 1.0, 0.5, 3.0, {"kernel": 0.0, "signal": 0.0} | {part: 1e-3}
    remainder = Remainder(flint.arb(sizes["kernel"]), flint.arb(sizes["signal"]), flint.arb(1), 1)
    modes = BallModes(
        [flint.arb(rate)], [flint.arb(weight)], [flint.arb(1)], flint.arb(0), flint.arb(0), remainder, [1]
    )
    bounds = ErrorBounds(flint, modes)
    for end in (1.0, 2.0, 3.0):
        _advance(bounds, 1, end, gamma=gamma, loss=loss)
        # at least theta = signal t + kernel t int_0^t gamma |g|, |g| = 3, driven through the mode
        x = np.linspace(0.0, end, 2001)
        theta = sizes["signal"] * x + sizes["kernel"] * x * gamma * loss * x
        driven = weight * gamma * theta * np.exp(-(rate - gamma * weight) * (end - x))
        error = 0.5 * float((driven[1:] + driven[:-1]) @ np.diff(x)) + theta[-1]
        # theta at its end is taken for all of the past, and its feedback for an infinite time: 1/(1 - 1/2)
        assert error <= float(bounds.radius) <= 2.1 * (1.0 + 1.5 / end) * error


@pytest.mark.parametrize("width", [0.05, 1.5, 10.0])
def test_a_defect_adds_at_most_twice_its_size(width: float) -> None:
    """R = -S on the panel and S at its end adds S + S (1 - exp(-r h)), whatever its slope."""
    rate, size = 2.0, 1e-3
    modes = BallModes([flint.arb(rate)], [flint.arb(1)], [flint.arb(1)], flint.arb(0), flint.arb(0), None, [1])
    bounds = ErrorBounds(flint, modes)
    _advance(bounds, width, width, size=size, slope=1e6)
    # of r h the bound takes 1 where that is less; 1e-9: bounds of 64 bits
    most = size * (1.0 + min(rate * width, 1.0))
    assert size * (2.0 - math.exp(-rate * width)) <= float(bounds.radius) <= most * (1.0 + 1e-9)
    # and where the slope is small, the slope decides: int exp(-r (h - x)) R'/h dx
    bounds = ErrorBounds(flint, modes)
    _advance(bounds, width, width, size=size, slope=size / 2.0)
    average = -math.expm1(-rate * width) / (rate * width)
    assert float(bounds.radius) == pytest.approx(0.5 * size * average, rel=1e-9, abs=0.0)
