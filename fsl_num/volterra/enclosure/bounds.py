r"""What the defects of a solution by panels can do at most, mode by mode and panel by panel, rounded upwards.

The errors satisfy e_k' = -r_k e_k + w_k gamma e - R_k'/h, R_k the integrated defect, e = sum_k e_k + theta, theta what
the modes leave out. Let |e_k| <= B_k at the start of a panel of width h, d_k be the most that R_k adds and
phi_k = int_0^h exp(-r_k x) dx. Then, on the panel and at its end,

    |e| <= E = (sum_k (B_k + d_k) + |theta|) / (1 - gamma_max sum_k w_k phi_k),
    |e_k| <= exp(-r_k h) B_k + d_k + gamma_max w_k phi_k E.

Thus early errors fade as the modes do. Where gamma is large and the panels long this may grow from panel to panel, and
the positive resolvent gives the better bound: with D_k the same without feedback, D_k <- exp(-r_k h) D_k + d_k,

    |e| <= F = sup (sum_k D_k + |theta|) / (1 - gamma_max sum_k w_k/r_k),    |e_k| <= D_k + gamma_max w_k/r_k F.
"""

from __future__ import annotations

from typing import Any

from fsl_num.volterra.enclosure.modes import BallModes

BITS = 64
"""Bounds need few digits, only their direction of rounding counts."""


class ErrorBounds:
    """Bounds of the errors at the end of the panels so far; exact at the start."""

    def __init__(self, flint: Any, modes: BallModes) -> None:
        zero = flint.arb(0)
        self._flint, self._modes = flint, modes
        self._bounds, self._plain = [zero for _ in modes.rates], [zero for _ in modes.rates]
        self._injected = zero  # bounds int |gamma g|
        self._left_out = zero  # bounds theta
        self._driven, self._gamma = zero, zero  # the largest of sum D_k + theta and of gamma
        with flint.ctx.workprec(BITS):
            self._returns = [w / r for w, r in zip(modes.weights, modes.rates, strict=True)]
            self._gain = sum(self._returns, zero)

    @property
    def radius(self) -> Any:
        """The bound of the error of f."""
        return sum(self._bounds, self._left_out).upper()

    def advance(
        self, *, width: Any, end: Any, gamma: Any, loss: Any, jumps: list[Any], sizes: list[Any], slopes: list[Any]
    ) -> None:
        """Take one panel more: its width and end, the largest gamma and |g| of the guess, and its defects.

        ``jumps``: |u_k| by which the guess differs from the last end. ``sizes`` and ``slopes``: bounds of R_k and R_k'.
        Raises ArithmeticError where gamma is so large that no bound follows.
        """
        flint, modes = self._flint, self._modes
        zero = flint.arb(0)
        with flint.ctx.workprec(BITS):
            added, fades, averages = [], [], []
            for rate, size, slope in zip(modes.rates, sizes, slopes, strict=True):
                turn = rate * width
                average = -((-turn).expm1()) / turn  # of exp(-r x) over the panel
                twice = size * (1 + min(turn.upper(), flint.arb(1)))
                added.append(min(twice.upper(), (slope * average).upper()))
                fades.append((-turn).exp())
                averages.append(average * width)
            bounds = [a + b for a, b in zip(self._bounds, jumps, strict=True)]
            plain = [a + b for a, b in zip(self._plain, jumps, strict=True)]
            kernel, signal = self._sizes_left_out(end)
            source, fresh = gamma * width, sum(added, zero)
            beyond = signal + kernel * (self._injected + source * loss)
            driven = sum(plain, zero) + fresh
            self._gamma = max(self._gamma, gamma.upper())
            within = sum((w * x for w, x in zip(modes.weights, averages, strict=True)), zero)
            margin = 1 - gamma * within - kernel * source
            whole = 1 - self._gamma * self._gain - kernel * source
            infinite = flint.arb.pos_inf()
            here = ((sum(bounds, zero) + fresh + beyond) / margin).upper() if margin > 0 else infinite
            everywhere = (max(self._driven, (driven + beyond).upper()) / whole).upper() if whole > 0 else infinite
            error = min(here, everywhere)
            if not error < infinite:
                raise ArithmeticError(
                    f"gamma = {float(gamma):.3g} feeds back {float(gamma * within):.3g} of the error within a panel of"
                    f" width {float(width):.3g}: no bound follows"
                )
            self._injected = (self._injected + source * (loss + error)).upper()
            self._left_out = (signal + kernel * self._injected).upper()
            self._driven = max(self._driven, (driven + self._left_out).upper())
            self._plain = [(f * x + y).upper() for f, x, y in zip(fades, plain, added, strict=True)]
            self._bounds = [
                (fade * bound + addition + gamma * weight * average * error).upper()
                for fade, bound, addition, weight, average in zip(
                    fades, bounds, added, modes.weights, averages, strict=True
                )
            ]
            if everywhere < infinite:
                self._bounds = [
                    min(bound, (x + self._gamma * back * everywhere).upper())
                    for bound, x, back in zip(self._bounds, self._plain, self._returns, strict=True)
                ]

    def _sizes_left_out(self, end: Any) -> tuple[Any, Any]:
        """Return bounds, up to the time ``end``, of what the modes leave out of kernel and signal."""
        left = self._modes.remainder
        if left is None:
            return self._flint.arb(0), self._flint.arb(0)
        share = (left.rate * end).upper() ** left.power
        return left.kernel * share, left.signal * share
