"""The search for the best rates of all steps under one law: certified for the functional laws, from many starts else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from fsl_num.curves.laws import FunctionalLaw, Law, MomentumLaw
from fsl_num.design.families import best_member, family_rates, step_blocks
from fsl_num.design.final_loss import constant_loss, final_loss
from fsl_num.design.newton import linear_gap, newton
from fsl_num.design.objectives import Objective
from fsl_num.design.optimise import best_falling_rates, best_rates
from fsl_num.design.water_filling import water_filling
from fsl_num.validation import Array

SHAPES: Final = ("free", "non-increasing")
"""What rates may be besides members of a family."""

_BLOCKS: Final = 48  # of a law without a certificate
_LOWEST: Final = 1e-6  # of the peak, where a search moves in logarithms
_SAME: Final = 1e-8


@dataclass(frozen=True, eq=False)
class Past:
    """The steps that are fixed: their ``rates``, how many of them are ``warmup``, and the ``model_size``.

    ``lengths``: where neighbouring steps were merged, how many each rate stands for; None for one each.
    """

    rates: Array
    warmup: int
    model_size: float | None = None
    lengths: Array | None = None

    def objective(self, law: Law, theta: Array) -> Objective:
        """The final loss of a law by the rates that follow."""
        return final_loss(law, theta, self.rates, self.warmup, self.model_size, self.lengths)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best ``rates`` found and their ``loss``.

    ``kkt_residual``: how much the loss could still fall if it were linear, over all rates allowed, in nats; nan of a
    family. ``gap``: how far below it, in nats, a schedule may be at most; None where nothing is proved. ``agreed`` of
    ``starts`` ended within 1e-8 of it. ``parameters``: of the member of a family.
    """

    rates: Array
    loss: float
    kkt_residual: float
    gap: float | None
    starts: int = 1
    agreed: int = 1
    parameters: dict[str, float] | None = None


def optimum(law: Law, theta: Array, past: Past, steps: int, floor: float, peak: float, family: str) -> Optimum:
    """Return the best ``steps`` rates in [``floor``, ``peak``] that follow the ``past``.

    ``family``: "free", "non-increasing" or a name of :data:`~fsl_num.design.families.FAMILIES`. Under a functional law
    the first two are certified (:mod:`~fsl_num.design.water_filling`). The momentum law is linear in the rates but for
    its signal, a convex function of their sum: convex, so that the linear gap is a certificate. Of the other laws
    minima are many; the least from several starts is returned, on blocks of steps.
    """
    objective, ones = past.objective(law, theta), np.ones(steps)
    if family not in SHAPES:
        rates, parameters = best_member(family, objective, steps, floor, peak)
        return Optimum(rates, objective(rates, ones)[0], float("nan"), None, parameters=parameters)
    falling = family == "non-increasing"
    starts, agreed = 1, 1
    bound = -np.inf
    if isinstance(law, FunctionalLaw):
        filled = water_filling(law, theta, past.rates, past.warmup, steps, floor, peak, falling)
        rates = filled.rates
        for together in (True, falling):  # rates that do not rise are a start for those that may
            if not together or (np.diff(rates) <= 0.0).all():
                rates = newton(law, theta, past.rates, objective, rates, floor, peak, together)
        bound = filled.bound + constant_loss(law, theta, past.model_size)
    else:
        rates, starts, agreed = _from_starts(objective, steps, floor, peak, falling)
    loss, gradient = objective(rates, ones)
    residual = linear_gap(rates, gradient, floor, peak, falling)
    if isinstance(law, MomentumLaw):
        bound = loss - residual
    gap = max(loss - bound, 0.0) if np.isfinite(bound) else None
    return Optimum(rates, loss, residual, gap, starts, agreed)


def _from_starts(
    objective: Objective, steps: int, floor: float, peak: float, falling: bool
) -> tuple[Array, int, int]:
    """The best rates from several starts on blocks of steps, how many starts there were, and how many ended there."""
    first, lengths = step_blocks(steps, _BLOCKS)
    lowest = max(floor / peak, _LOWEST)

    def scaled(shares: Array, widths: Array) -> tuple[float, Array]:
        value, gradient = objective(shares * peak, widths)
        return value, gradient * peak

    members = [("linear", (0.2, 0.0)), ("linear", (1.0, 0.0)), ("cosine", (0.1,)), ("1-sqrt", (0.5, 0.0)),
               ("linear", (1.0, 1.0))]  # fmt: skip
    ends = []
    for name, given in members:
        member = family_rates(name, given, steps, floor, peak) / peak
        start = np.clip(np.add.reduceat(member, first) / lengths, lowest, 1.0)
        if falling:
            ends.append(best_falling_rates(scaled, lengths, start, floor=lowest))
        else:
            ends.append(best_rates(scaled, lengths, start=start, floor=lowest, polish=False))
    best = min(ends, key=lambda end: end.loss)
    agreed = sum(end.loss <= best.loss + _SAME for end in ends)
    stairs = np.clip(np.repeat(best.rates, lengths.astype(int)) * peak, floor, peak)
    middle = first + 0.5 * (lengths - 1.0)
    smooth = np.clip(np.interp(np.arange(steps), middle, best.rates) * peak, floor, peak)
    candidates = [stairs, smooth]
    candidates += [best_member(name, objective, steps, floor, peak)[0] for name in ("wsd", "multi-step")]
    if falling:
        candidates = [np.minimum.accumulate(each) for each in candidates]
    return min(candidates, key=lambda rates: objective(rates, np.ones(steps))[0]), len(ends), agreed

