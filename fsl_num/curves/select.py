"""The choice of a law for given curves, by these curves alone.

Each candidate is fitted to the first part of every curve, for several parts (:data:`~.uncertainty.SPLITS`), and
predicts the rest; its error is the root mean square of the relative errors held out, every curve and part counting the
same. With several curves each can also be left out and predicted by the others. The candidate with the least horizon
error wins, except that one with fewer parameters is preferred where it is at most five per cent worse.

The candidates of the default choice are the forms of the functional scaling law only: what holds beyond the data is
what has been derived, and a heuristic that follows the training curves more closely has no such claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.laws import law as law_of
from fsl_num.curves.laws.base import Law
from fsl_num.curves.search import Settings, quick_fit
from fsl_num.curves.uncertainty import SPLITS, horizon_errors

CANDIDATES: Final = ("fsl-simplified", "fsl", "fsl-full")
"""What law="auto" chooses from."""

_MARGIN = 1.05
_ROWS = 100


@dataclass(frozen=True)
class Trial:
    """How a candidate did on training curves: relative errors held out by horizon and by leaving curves out.

    ``left_out`` is nan where there is one curve only, or where it was not asked for.

    >>> Trial("fsl", 7, 0.002, 0.01).parameters
    7
    """

    law: str
    parameters: int
    horizon: float
    left_out: float


@dataclass(frozen=True)
class Selection:
    """All trials, and the name of the winner with the reason.

    >>> Selection((Trial("fsl", 7, 0.002, 0.01),), "fsl", "the only one").chosen
    'fsl'
    """

    trials: tuple[Trial, ...]
    chosen: str
    reason: str


def trial(candidate: Law, curves: Sequence[LossCurve], settings: Settings, *, leave_out: bool = False) -> Trial:
    """Return how a law predicts the hidden parts of the curves; nan where they are too short to be cut."""
    short = [curve.thinned(_ROWS) for curve in curves]
    squares = []
    for share in SPLITS:
        tried = horizon_errors(candidate, short, settings, None, share)
        if tried is not None:
            squares += [float((error**2).mean()) for error in tried[3] if error.size]
    horizon = math.sqrt(float(np.mean(squares))) if squares else math.nan
    left = math.nan
    if leave_out and len(short) > 1:
        errors = []
        for index, curve in enumerate(short):
            theta = quick_fit(candidate, [other for place, other in enumerate(short) if place != index], settings)
            predicted = np.maximum(candidate.bind([curve.plan], "fit")(theta)[0], 1e-12)
            errors.append(float(((np.log(predicted) - np.log(curve.observed)) ** 2).mean()))
        left = math.sqrt(float(np.mean(errors)))
    return Trial(candidate.name, len(candidate.parameters), horizon, left)


def choose(
    curves: Sequence[LossCurve],
    settings: Settings | None = None,
    candidates: Sequence[str | Law] = CANDIDATES,
    *,
    leave_out: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Selection:
    """Return the :class:`Selection` among the candidates for these curves.

    ``progress``: called with how many of how many candidates have been tried.

    Where the curves are too short to be cut, or the learning rate never leaves its peak, "fsl-simplified" is chosen:
    nothing in them could tell more parameters. Several model sizes take the law with a term for the size.
    """
    used = settings or Settings()
    laws = [law_of(candidate) for candidate in candidates]
    sizes = {curve.plan.model_size for curve in curves}
    if len(sizes - {None}) > 1:
        return Selection((), "fsl-sizes", "the curves are of several model sizes")
    if not any(_falls(curve) for curve in curves):
        simple = min(laws, key=lambda each: len(each.parameters)).name
        return Selection((), simple, "the rate does not change after warmup: the noise law is not identifiable")
    trials: tuple[Trial, ...] = ()
    for each in laws:
        if progress is not None:
            progress(len(trials), len(laws))
        trials += (trial(each, curves, used, leave_out=leave_out),)
    known = [each for each in trials if not math.isnan(each.horizon)]
    if not known:
        simple = min(trials, key=lambda each: each.parameters).law
        return Selection(trials, simple, "the curves are too short to hide a part of them")
    least = min(each.horizon for each in known)
    good = [each for each in known if each.horizon <= _MARGIN * least]
    best = min(good, key=lambda each: (each.parameters, each.horizon))
    return Selection(
        trials,
        best.law,
        f"fitted to the first part of each curve it predicts the rest to {100 * best.horizon:.2f} %,"
        f" the others to {', '.join(f'{100 * each.horizon:.2f} %' for each in known if each is not best) or '-'}",
    )


def _falls(curve: LossCurve) -> bool:
    """Whether the learning rate after warmup leaves its first value by more than 5 per cent."""
    rates = curve.plan.rates[min(curve.warmup, curve.plan.rates.size - 1) :]
    return bool(np.ptp(rates) > 0.05 * rates.max())
