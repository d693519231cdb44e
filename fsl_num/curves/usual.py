"""The usual schedules under a fit, as long as the longest run and at its peak: what each would have given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from fsl_num.curves.curve import LossCurve
from fsl_num.curves.predict import Prediction
from fsl_num.curves.transfer import USUAL, like_longest
from fsl_num.results import how_well

if TYPE_CHECKING:
    from fsl_num.curves.result import FitResult

HEADINGS: Final = ("schedule", "final loss", "known to", "single rows")
"""Of the columns of :func:`as_rows`."""


def predicted(
    fit: FitResult,
    runs: Sequence[LossCurve],
    level: float = 0.9,
    steps: int | None = None,
    peak: float | None = None,
) -> tuple[dict[str, Prediction], dict[str, str]]:
    """Return the prediction of each of :data:`~fsl_num.curves.transfer.USUAL`, and why others have none, by name.

    ``level``: of the intervals, where the fit has draws. ``steps``, ``peak``: others than those of the longest run.
    """
    runs = [fit.as_fitted(curve) for curve in runs]
    level_drawn = None if fit.drawn is None else level
    predictions: dict[str, Prediction] = {}
    reasons: dict[str, str] = {}
    for name in USUAL:
        try:
            predictions[name] = fit.predict(like_longest(runs, name, steps, peak), level_drawn)
        except ValueError as error:
            reasons[name] = str(error)
    return predictions, reasons


def head(predictions: Mapping[str, Prediction]) -> str:
    """Return for which steps and peak they are made, in words; "" where there is none.

    >>> head({})
    ''
    """
    plan = next((prediction.plan for prediction in predictions.values()), None)
    if plan is None:
        return ""
    size = "" if plan.model_size is None else f", with {plan.model_size:,.15g} parameters"
    return f"After {plan.rates.size} steps at the peak {plan.peak:g}{size}"


def as_rows(predictions: Mapping[str, Prediction]) -> list[tuple[str, str, str, str]]:
    """Return for each schedule its words, its final loss, how well that is known, and where single rows lie.

    >>> as_rows({})
    []
    """
    rows = []
    for name, prediction in predictions.items():
        known = "" if prediction.mean_half_width is None else how_well(prediction.mean_half_width)
        ends = (
            [] if prediction.lower is None or prediction.upper is None else [prediction.lower[-1], prediction.upper[-1]]
        )
        span = " .. ".join(prediction.in_digits(float(end)) for end in ends)
        rows.append((USUAL.get(name, name), prediction.in_digits(prediction.final), known, span))
    return rows
