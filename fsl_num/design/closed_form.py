"""The schedule that minimises the functional scaling law under label noise and the power kernel, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fsl_num.design.objectives import NOISE
from fsl_num.validation import capacity_exponent, positive

LEAST = -300.0
"""Logarithm of the smallest last rate that is followed: it serves up to 1e100 steps."""


@dataclass(frozen=True)
class ClosedForm:
    """The best schedule: its ``last`` and its largest rate, ``peak``, in units of the bound on the rate; the steps of
    its decay, ``decay_steps``; its intrinsic time ``whole``; its ``loss``."""

    last: float
    decay_steps: float
    whole: float
    loss: float
    peak: float


def closed_form(s: float, beta: float, steps: float, *, scale: float = 1.0, noise: float = NOISE) -> ClosedForm:
    """The minimiser of the functional: a (1 + c a y/(2 beta))^(2 beta - 1) with y steps left, cut at the bound 1.

    One equation is left, for the last rate a: what a little more intrinsic time is worth, s T^(-s-1), is what it costs,
    noise and steps at the price a^2 of the kernel's beginning.

    Arguments as for :func:`~fsl_num.design.objectives.functional_objective`; ``steps`` > 0 in all, up to 1e100. Raises
    ValueError for parameters outside their ranges. Source: eqn: FSL-optimization; the derivation is
    ``fsl_sym.ansatz.optimal_rate``.

    >>> best = closed_form(0.5, 4.0, 33907.0)
    >>> best.peak, best.last < 0.01, 0.0 < best.decay_steps < 33907.0
    (1.0, True, True)
    """
    from scipy.optimize import brentq

    s, beta, steps = positive("s", s), capacity_exponent(beta), positive("steps", steps)
    scale, noise = positive("scale", scale), positive("noise", noise)
    if steps > 1e100:
        raise ValueError(f"steps must be at most 1e100, beyond which the last rate leaves the floats, got {steps}")
    rise, power, normal = 1.0 - 0.5 / beta, 1.0 - 1.0 / beta, scale * (1.0 - 1.0 / beta)

    def shape(last: float) -> tuple[float, float, float, float]:
        """Steps and intrinsic time of the decay, the whole intrinsic time, the largest rate."""
        at_cap = math.expm1(-math.log(last) / rise) / scale
        decay = 2.0 * beta / (scale * last) * math.expm1(math.log1p(scale * at_cap) / (2.0 * beta))
        if decay < steps:
            return decay, at_cap, at_cap + steps - decay, 1.0
        grown = math.log1p(scale * last * steps / (2.0 * beta))
        whole = math.expm1(2.0 * beta * grown) / scale
        return steps, whole, whole, last * math.exp((2.0 * beta - 1.0) * grown)

    def balance(log_last: float) -> float:
        last = math.exp(log_last)
        _, _, whole, peak = shape(last)
        early = math.log(peak) - (1.0 + power) * math.log1p(scale * whole)
        cost = math.log(noise * normal) + float(np.logaddexp(early, 2.0 * log_last - math.log(peak)))
        return math.log(s) - (s + 1.0) * math.log(whole) - cost

    if balance(0.0) >= 0.0:
        noise_of_constant = -noise * math.expm1(-power * math.log1p(scale * steps))
        return ClosedForm(1.0, 0.0, steps, steps**-s + noise_of_constant, 1.0)
    last = math.exp(brentq(balance, LEAST, 0.0, xtol=1e-13))
    decay, cut, whole, peak = shape(last)
    # int_0^cut K gamma dx = a c (1 - 1/beta) int (1 + c x)^(-1 + 1/(2 beta)) dx, and the stable phase before it
    decaying = last * power * 2.0 * beta * math.expm1(math.log1p(scale * cut) / (2.0 * beta))
    stable = peak * ((1.0 + scale * cut) ** -power - (1.0 + scale * whole) ** -power)
    return ClosedForm(last, decay, whole, whole**-s + noise * (decaying + stable), peak)
