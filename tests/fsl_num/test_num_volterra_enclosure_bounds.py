"""Bounds of errors against errors: one mode, whose worst case is known in closed form."""

from __future__ import annotations

import math

import pytest

from fsl_num.volterra.enclosure.bounds import ErrorBounds
from fsl_num.volterra.enclosure.modes import BallModes, Remainder

flint = pytest.importorskip("flint")


def _modes(rate: float, weight: float, remainder: Remainder | None = None) -> BallModes:
    one = flint.arb(1)
    return BallModes([one * rate], [one * weight], [one], flint.arb(0), flint.arb(0), remainder, [1])


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
        rest = push / width / left
        error = rest + (error + first - rest) * math.exp(-left * width)
        bounds.advance(
            width=flint.arb(width),
            end=flint.arb(panel * width),
            gamma=flint.arb(gamma),
            loss=flint.arb(1),
            jumps=[flint.arb(first)],
            sizes=[flint.arb(push)],
            slopes=[flint.arb(push)],
        )
        radius = float(bounds.radius)
        # 1e-12: rounding of the closed form in float64
        assert error * (1 - 1e-12) <= radius
        if panel < 20 and slope > 0.0:
            # between panels only the resolvent's factor 1/(1 - 0.9) and that of a jump that has faded are lost
            assert radius <= 21 * max(error, jump)


def test_what_is_left_out_acts_through_the_whole_past() -> None:
    remainder = Remainder(kernel=flint.arb(1e-3), signal=flint.arb(1e-2), rate=flint.arb(1), power=1)
    bounds = ErrorBounds(flint, _modes(1.0, 0.0, remainder))
    zero = [flint.arb(0)]
    for end in (1.0, 2.0):
        bounds.advance(
            width=flint.arb(1), end=flint.arb(end), gamma=flint.arb(0.5), loss=flint.arb(3), jumps=zero, sizes=zero,
            slopes=zero,
        )  # fmt: skip
        # signal t + kernel t int gamma |g|, with |g| = 3 and its error of about a hundredth
        least = 1e-2 * end + 1e-3 * end * 0.5 * 3 * end
        assert least < float(bounds.radius) < 1.02 * least


def test_too_strong_a_feedback_is_refused() -> None:
    bounds = ErrorBounds(flint, _modes(1.0, 1.0))
    zero = [flint.arb(0)]
    with pytest.raises(ArithmeticError, match="no bound follows"):
        bounds.advance(
            width=flint.arb(9), end=flint.arb(9), gamma=flint.arb(2), loss=flint.arb(1), jumps=zero, sizes=zero,
            slopes=zero,
        )  # fmt: skip
