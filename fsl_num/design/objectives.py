"""Laws of the final loss as functions of the rates of blocks of steps, with their gradients.

The largest rate allowed is the unit. The functional of such a schedule is exact: nothing is discretised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fsl_num.validation import Array, capacity_exponent, positive

Objective = Callable[[Array, Array], tuple[float, Array]]
"""(rates, steps of each block) -> loss, gradient by the rates."""
NOISE = 0.1
"""Weight of the noise of the largest rate beside the signal T^-s: gamma_max tr(H)/2 where that is small."""


def functional_objective(s: float, beta: float, *, scale: float = 1.0, noise: float = NOISE) -> Objective:
    """T^-s + noise int_0^T K(T - t) gamma(t) dt: the functional scaling law under label noise and the power kernel.

    Parameters
    ----------
    s, beta
        Relative difficulty, s > 0, and capacity exponent, beta > 1.
    scale
        c > 0 of the kernel K(x) = c (1 - 1/beta) (1 + c x)^-(2 - 1/beta), whose integral is 1.
    noise
        Weight of the noise, at least 0; T^-s has the weight 1.

    Returns
    -------
    Objective
        (rates, steps), arrays of one length in time order, to (loss, gradient by the rates). Rates are positive, in
        units of the largest one allowed; T = sum rates steps.

    Raises
    ------
    ValueError
        For parameters outside their ranges.

    Notes
    -----
    Source: eqn: fsl-simplified, thm: fsl-general-noise.

    Examples
    --------
    >>> loss, gradient = functional_objective(0.5, 2.0, noise=0.0)(np.array([1.0, 0.5]), np.array([3.0, 2.0]))
    >>> loss == (3.0 + 1.0) ** -0.5, gradient.shape
    (True, (2,))
    """
    s, scale, noise = positive("s", s), positive("scale", scale), positive("noise", noise, zero=True)
    power = 1.0 - 1.0 / capacity_exponent(beta)

    def loss(rates: Array, steps: Array) -> tuple[float, Array]:
        # intrinsic time left at the start of each block, and at the end
        left = np.concatenate([np.cumsum((rates * steps)[::-1])[::-1], [0.0]])
        gone = -np.expm1(-power * np.log1p(scale * left))
        kernel = scale * power * (1.0 + scale * left) ** (-1.0 - power)
        # as differences of what is left unforgotten, the early blocks keep their digits
        kept = -np.diff((1.0 + scale * left[::-1]) ** -power)[::-1]
        parts = np.where(gone[:-1] < 0.5, gone[:-1] - gone[1:], kept)
        # d/d left_b of sum_b eta_b (G(left_b) - G(left_{b+1})) is K(left_b) (eta_b - eta_{b-1})
        by_left = noise * kernel[:-1] * np.diff(np.concatenate([[0.0], rates]))
        by_left[0] -= s * left[0] ** (-s - 1.0)
        gradient = noise * parts + steps * np.cumsum(by_left)
        return float(left[0] ** -s + noise * (rates @ parts)), gradient

    return loss


def ansatz_objective(
    s: float, level: float, *, scale: float, power: float, signal: float, gain: float, at: str
) -> Objective:
    """signal T^-s - gain sum (eta_{i-1} - eta_i) (level + T^-s) G: the ansatz for loss curves, less its constant.

    Parameters
    ----------
    s, level
        The exponent s > 0 of the signal, and c_3 > 0, what stands beside T^-s in the bracket.
    scale, power
        c and gamma of G(x) = 1 - (1 + c x)^-gamma, both positive.
    signal, gain
        c_1 and c_2, positive.
    at
        "the drop": T in the bracket is T(i), as printed. "the end": T is T(k), the shares run since T(i-1), and the
        noise of the first rate through the signal is kept. The drop of a block acts in its first step.

    Returns an :data:`Objective`; ValueError for parameters outside their ranges. Source: eqn: fsl-ansatz and
    eqn: FSL-optimization.

    Examples
    --------
    >>> law = ansatz_objective(0.5, 1.0, scale=1.0, power=0.5, signal=2.0, gain=1.0, at="the drop")
    >>> law(np.ones(2), np.array([3.0, 1.0]))[0] == 2.0 * 4.0**-0.5  # no drop: the signal alone
    True
    """
    if at not in ("the drop", "the end"):
        raise ValueError(f"at must be 'the drop' or 'the end', where the signal of the bracket is taken, got {at!r}")
    parameters = {"s": s, "level": level, "scale": scale, "power": power, "signal": signal, "gain": gain}
    s, level, scale, power, signal, gain = (positive(name, value) for name, value in parameters.items())

    def value(rates: Any, steps: Array) -> Any:
        times = np.cumsum(rates * steps, axis=-1)
        whole, starts = times[..., -1:], times - rates * steps
        drops = np.concatenate([np.ones_like(rates[..., :1]), rates[..., :-1]], axis=-1) - rates
        at_drop = starts + rates
        since = whole - (at_drop if at == "the drop" else starts)
        share = 1.0 - (1.0 + scale * since) ** -power
        bracket = level + (at_drop if at == "the drop" else whole) ** -s
        total = signal * whole[..., 0] ** -s - gain * (drops * bracket * share).sum(axis=-1)
        if at == "the end":
            total = total + gain * whole[..., 0] ** -s * (1.0 - (1.0 + scale * whole[..., 0]) ** -power)
        return total

    def loss(rates: Array, steps: Array) -> tuple[float, Array]:
        tiny = 1e-30
        moved = rates + 1j * tiny * np.eye(rates.size)  # complex steps: derivatives to rounding
        return float(np.real(value(rates, steps))), np.imag(value(moved, steps)) / tiny

    return loss
