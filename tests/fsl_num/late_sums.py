"""Sums over all features at late times, in closed form and far more digits than any solver has."""

from typing import Any

import mpmath

WIDE = mpmath.mp.clone()
WIDE.dps = 130


def late(power: Any, t: Any, beta: Any) -> Any:
    """The infinite sum at late times: the integral of x^-p exp(-2 t x^-beta) over (0, inf).

    The summand is flat at 0 with all its derivatives, and at infinity, so that the sum differs by less than any power
    of t: by about exp(-c t^(1/(1 + beta))).
    """
    power, t, beta = WIDE.mpf(power), WIDE.mpf(t), WIDE.mpf(beta)
    shape = (power - 1) / beta
    return (2 * t) ** -shape * WIDE.gamma(shape) / beta
