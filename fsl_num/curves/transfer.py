"""Do the fitted curves tell the loss under other schedules? Asked of the usual ones, of the same length and peak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from fsl_num.curves.batches import last_batch
from fsl_num.curves.curve import LossCurve
from fsl_num.curves.laws.base import Law
from fsl_num.curves.plan import Plan
from fsl_num.curves.posterior import Posterior, half_width
from fsl_num.curves.predict import ENOUGH
from fsl_num.curves.rates import warmup_in
from fsl_num.results import percent
from fsl_num.schedules import parameters_of, step_rates
from fsl_num.validation import Array

_ROWS = 200


USUAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "constant": "constant",
        "cosine": "cosine to 0",
        "linear": "linear to 0",
        "wsd": "wsd, last fifth to 10 %",
    }
)
"""The usual schedules, by name, in words."""


def like_longest(curves: Sequence[LossCurve], name: str, steps: int | None = None, peak: float | None = None) -> Plan:
    """Return the named schedule with the length, peak, warmup and batch size of the longest curve, or with those given.

    >>> like_longest([LossCurve([50, 100], [3.0, 2.0], lr=[0.1, 0.1])], "linear", steps=4).rates.round(3).tolist()
    [0.1, 0.075, 0.05, 0.025]
    """
    curve = max(curves, key=lambda curve: float(curve.plan.times[-1]))
    longest = curve.plan
    size, rate = curve.updates if steps is None else steps, longest.peak if peak is None else peak
    warmup = min(longest.warmup, size - 1)
    own = "warmup" not in parameters_of(name)  # the name itself says it
    rates = step_rates(name, peak=rate, steps=size, **({"warmup": warmup} if warmup and not own else {}))
    warmup = warmup_in(rates) if own else warmup
    first = max(warmup, int(np.argmax(rates > 0.0))) + 1
    recorded = np.unique(np.linspace(first, size, min(_ROWS, size - first + 1)).astype(np.int64))
    return Plan(rates, recorded, warmup, last_batch(longest), longest.model_size, name)


def transfer(law: Law, curves: Sequence[LossCurve], theta: Array, posterior: Posterior) -> dict[str, float]:
    """Return, for each usual schedule, the relative half-width of the 90 % interval of the mean final loss."""
    plans = {name: like_longest(curves, name) for name in USUAL}
    return {
        name: float(half_width(posterior.spread(law, plan.at(plan.recorded[-1:]), theta), 0.9)[-1])
        for name, plan in plans.items()
    }


def transfer_words(widths: dict[str, float]) -> str:
    """Return in words under which of the usual schedules the curves determine the final loss.

    >>> transfer_words({"cosine": 0.002, "constant": 0.2})
    'The curves do not determine the final loss under these schedules: constant (90 % interval of +-20 %). Fit another run whose learning rate does what theirs does.'
    """  # noqa: E501
    vague = {name: width for name, width in widths.items() if width > ENOUGH}
    if not vague:
        return (
            "As far as the law holds, the curves determine the final loss under a constant rate, a cosine, a line and a"
            f" late decay of the same length to within {100 * max(widths.values()):.2g} % (90 % interval)."
        )
    shown = ", ".join(f"{name} (90 % interval of +-{percent(width)})" for name, width in vague.items())
    return (
        f"The curves do not determine the final loss under these schedules: {shown}."
        " Fit another run whose learning rate does what theirs does."
    )
