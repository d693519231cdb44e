"""The zeros of the secular equation in balls: one mode in closed form, and what is refused."""

from __future__ import annotations

import math

import pytest

from fsl_num.volterra.enclosure.modes import BallModes
from fsl_num.volterra.enclosure.secular import secular_values

flint = pytest.importorskip("flint")


@pytest.mark.parametrize(("eigen", "gamma"), [([1.0, 0.5], 3.0), ([1.0, 0.5], 2.0), ([0.5, 0.5], 0.3)])
def test_rates_that_are_not_positive_and_apart_are_refused(eigen: list[float], gamma: float) -> None:
    """2 - gamma is negative, or 0; or two modes are the same."""
    rates, weights = [flint.arb(2.0 * x) for x in eigen], [flint.arb(x * x) for x in eigen]
    modes = BallModes(rates, weights, [flint.arb(1)] * 2, flint.arb(0), flint.arb(0), None, [1, 1])
    with pytest.raises(ArithmeticError, match="could not be separated"):
        secular_values(flint, modes, flint.arb(gamma), "gaussian", [flint.arb(1)])


@pytest.mark.parametrize("closure", ["volterra", "gaussian"])
def test_one_mode_is_one_exponential(closure: str) -> None:
    gamma, delta, noise = 0.5, 0.25, 0.75
    modes = BallModes([flint.arb(2)], [flint.arb(1)], [flint.arb(3)], flint.arb(delta), flint.arb(noise), None, [1])
    found = secular_values(flint, modes, flint.arb(gamma), closure, [flint.arb(0), flint.arb(2)])
    # u' = -left u + gamma (delta + sigma^2)
    left = 2.0 - gamma * (2.0 if closure == "gaussian" else 1.0)
    limit = gamma * (delta + noise) / left
    for value, t in zip(found, (0.0, 2.0), strict=True):
        assert float(value) == pytest.approx(delta + limit + (3.0 - limit) * math.exp(-left * t), rel=1e-13, abs=0.0)


def test_a_mode_too_weak_for_floats_leaves_the_others_as_they_are() -> None:
    def at_one(eigen: list[float]) -> float:
        rates, weights = [flint.arb(2.0 * x) for x in eigen], [flint.arb(x) ** 2 for x in eigen]
        modes = BallModes(rates, weights, [flint.arb(1), flint.arb(1), flint.arb(0)][: len(eigen)], flint.arb(0),
                          flint.arb(0), None, [1] * len(eigen))  # fmt: skip
        return float(secular_values(flint, modes, flint.arb(0.8), "volterra", [flint.arb(1)])[0])

    with flint.ctx.workprec(200):
        assert at_one([1.0, 0.9, 1e-160]) == at_one([1.0, 0.9])
