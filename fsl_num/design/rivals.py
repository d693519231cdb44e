"""The usual schedules beside each other under a fit, as long as the longest run and at its peak: which one to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.pictures import draw_predictions
from fsl_num.curves.plan import Plan
from fsl_num.curves.predict import Prediction, check_peak, said_once
from fsl_num.curves.result import FitResult
from fsl_num.curves.usual import HEADINGS, as_rows, head, predicted
from fsl_num.design.best import past_of
from fsl_num.design.draws import FinalLoss, final_loss_of, half_width_of_difference
from fsl_num.results import Result, html_table
from fsl_num.schedules.catalogue import BYTES_OF_A_STEP
from fsl_num.validation import affordable, entries, instance_of, positive, proper_share, whole_count


@dataclass(frozen=True, eq=False, repr=False)
class Rivals(Result):
    """What the usual schedules would give: ``predictions`` by their names, in the order of
    :data:`~fsl_num.curves.transfer.USUAL`.

    ``alike``: those whose final loss the fit cannot tell from that of :attr:`best`; None where it has no intervals for
    differences. ``reasons``: why others are not predicted, by name. :func:`rivals` makes one.

    >>> Rivals({}, (), {"cosine": "too long"}).sentences
    ('cosine is not predicted: too long',)
    """

    predictions: Mapping[str, Prediction]
    alike: tuple[str, ...] | None
    reasons: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name} {prediction.in_digits(prediction.final)}" for name, prediction in self.predictions.items()
        )
        return f"Rivals({shown})"

    @property
    def best(self) -> str:
        """The name of the schedule with the least predicted final loss; "" where none is predicted."""
        return min(self.predictions, key=lambda name: self.predictions[name].final, default="")

    @property
    def head(self) -> str:
        """For which steps and peak they are predicted, in words; "" where none is."""
        return head(self.predictions)

    @property
    def advice(self) -> str:
        """Which schedule to try, and from which others the fit cannot tell it; "" where none is predicted."""
        if len(self.predictions) < 2:
            return ""
        if self.alike is None:
            return f"Try {self.best}: the least loss predicted, without an interval to say how surely."
        rivals_left = [name for name in self.predictions if name != self.best]
        if not self.alike:
            return f"Try {self.best}: its loss is the least, and the fit can tell it from the others."
        if len(self.alike) == len(rivals_left):
            return f"Try {self.best}: the least loss predicted, but the fit can tell it from none of the others."
        return f"Try {self.best}: the least loss predicted, though the fit cannot tell it from {', '.join(self.alike)}."

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which schedule to try, how far to trust the predictions, and which are missing."""
        trust = said_once({name: prediction.sentences for name, prediction in self.predictions.items()})
        missing = [f"{name} is not predicted: {reason}" for name, reason in self.reasons.items()]
        return (*[self.advice] * bool(self.advice), *trust, *missing)

    def as_rows(self) -> list[tuple[str, str, str, str]]:
        """Return for each schedule its words, its final loss, how well that is known, and where single rows lie."""
        return as_rows(self.predictions)

    def plot(self, ax: Any = None) -> Any:
        """Draw the predicted losses of all over the steps, with the rows fitted; return the axes (needs matplotlib)."""
        return draw_predictions(self.predictions, ax)

    def _repr_html_(self) -> str:
        return html_table(HEADINGS, self.as_rows(), title=self.head, items=self.sentences)


def rivals(
    fit: FitResult,
    steps: int | None = None,
    peak: float | None = None,
    level: float = 0.9,
    *,
    runs: Sequence[LossCurve] | None = None,
) -> Rivals:
    """Return what the usual schedules would give, as long as the longest run fitted and at its peak and warmup.

    Parameters
    ----------
    fit
        To runs of one model.
    steps, peak
        Others than those of the longest run: a number of updates and a learning rate.
    level
        Nominal level of the intervals; a fit without draws has none.
    runs
        The runs fitted as they were read, where their schedules are known beyond their last rows.

    Returns
    -------
    Rivals
        The predictions, which one is the least, and from which others the fit cannot tell it. A schedule for which the
        law gives no loss is among its ``reasons``.

    Raises
    ------
    ValueError
        For a law of final losses alone, which knows no schedules; or a peak rate of which no run fitted says anything.

    Notes
    -----
    Source: eqn: fsl, with the constants that were fitted.

    Examples
    --------
    >>> from fsl_num import LossCurve, fit
    >>> curve = LossCurve(range(1, 9), [3, 2.5, 2.3, 2.2, 2.15, 2.1, 2.08, 2.06], lr=[0.1] * 8)
    >>> found = rivals(fit(curve, "momentum", starts=1))
    >>> list(found.predictions), found.best == min(found.predictions, key=lambda name: found.predictions[name].final)
    (['constant', 'cosine', 'linear', 'wsd'], True)
    >>> found.plot().get_ylabel(), len(found.as_rows())
    ('loss', 4)
    """
    instance_of("fit", fit, FitResult)
    level = proper_share("level", level)
    if peak is not None:
        check_peak(peak := positive("peak", peak), fit.peaks)
    if steps is not None:
        affordable("steps", whole_count("steps", steps), 2 * BYTES_OF_A_STEP, "compare fewer")
    if fit.law.final_only:
        raise ValueError(f"the law {fit.law.name} is one of final losses: it knows no schedules")
    runs_fitted = fit.curves if runs is None else entries("runs", runs, LossCurve, least=1)
    predictions, reasons = predicted(fit, runs_fitted, level, steps, peak)
    return Rivals(predictions, _alike(fit, predictions, level), reasons)


def _alike(fit: FitResult, predictions: Mapping[str, Prediction], level: float) -> tuple[str, ...] | None:
    """The schedules whose final loss a fit cannot tell from the least; None where it has no interval of differences."""
    if fit.drawn is None:
        return None
    ends = {name: _final_loss(fit, prediction.plan) for name, prediction in predictions.items()}
    best = min(ends, key=lambda name: predictions[name].final, default="")
    return tuple(
        name
        for name, end in ends.items()
        if name != best and end.loss - ends[best].loss <= half_width_of_difference(fit, end, ends[best], level)
    )


def _final_loss(fit: FitResult, plan: Plan) -> FinalLoss:
    changes = np.flatnonzero(plan.new_batches())
    done = min(max(plan.warmup, *changes[-1:].tolist(), 0), plan.rates.size - 1)
    return final_loss_of(fit, past_of(plan, done), plan.rates[done:])
