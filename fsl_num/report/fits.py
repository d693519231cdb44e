"""Fits of loss curves, predictions and comparisons of laws, as text, as JSON, as CSV and as a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from fsl_num.curves.predict import said_once
from fsl_num.curves.score import COLUMNS, Score, cell, mean_score
from fsl_num.curves.usual import HEADINGS
from fsl_num.report.tables import table
from fsl_num.results import as_loss

if TYPE_CHECKING:
    from fsl_num.curves.compare import Comparison
    from fsl_num.curves.forecast import Forecast
    from fsl_num.curves.predict import Prediction
    from fsl_num.curves.result import FitResult
    from fsl_num.design.rivals import Rivals

_MISSED = 0.5  # of the level: so few measured losses in their intervals, and the prediction has failed
_ROWS = 20  # rows of a prediction shown on a terminal


def fit_text(
    result: FitResult,
    scores: Mapping[str, Score],
    level: float,
    predictions: Mapping[str, Prediction],
    usual: Rivals | None,
    verbose: bool,
) -> list[Any]:
    """What makes the answer doubtful, if anything; final losses predicted, those of rivals, how far to trust them.

    Where nothing was asked for, the ``usual`` schedules are the answer.
    """
    parts: list[Any] = [Text(warning) for warning in result.warnings] if not verbose else []
    parts += [final_line(name, prediction) for name, prediction in predictions.items()]
    if usual is not None and not predictions:
        parts += [Text(f"{usual.head}:"), table(HEADINGS, usual.as_rows(), right=(1, 2, 3))] * bool(usual.head)
        parts += map(Text, usual.sentences)
    elif usual is not None and (
        rivals := {n: prediction for n, prediction in usual.predictions.items() if n not in predictions}
    ):
        shown = ", ".join(f"{name} {prediction.in_digits(prediction.final)}" for name, prediction in rivals.items())
        parts.append(Text(f"{usual.head}: {shown}"))
    parts += trust_lines(predictions, scores, level)
    if scores:
        shown_scores = dict(scores) | ({"mean": mean_score(scores.values())} if len(scores) > 1 else {})
        intervals = "" if result.drawn is None else f", with intervals of {100 * level:g} %"
        parts += ["", f"Predicted{intervals}:", score_table(shown_scores)]
    if verbose or (usual is None and not predictions):
        # tables stay as they are, and sentences are wrapped
        lines = result.summary().splitlines()
        parts += ["", *(line if "  " in line or not line else Text(line) for line in lines)]
    elif result.notes or result.report.on_bounds:
        parts.append(Text("What the runs determine of the law, and what not: --verbose"))
    return parts


def final_line(name: str, prediction: Prediction) -> Text:
    """The predicted final loss of one schedule or run, with its interval."""
    return Text(f"{name}: final loss {prediction.final_words(f' after {int(prediction.step[-1])} steps')}")


def trust_lines(
    predictions: Mapping[str, Prediction], scores: Mapping[str, Score] = MappingProxyType({}), level: float = 0.9
) -> list[Text]:
    """How far to trust the predictions, each sentence once, with the names that it holds for.

    Of a run that was measured the measurement comes first: where most of its losses lie outside of their intervals.
    """
    said: dict[str, tuple[str, ...]] = {}
    for name, prediction in predictions.items():
        inside = scores[name].coverage if name in scores else math.nan
        said[name] = prediction.sentences
        if inside < _MISSED * level:
            missed = (
                f"Measured, and missed: of its losses {100 * inside:.0f} % lie within their intervals of"
                f" {100 * level:g} %. The law fitted does not hold for this run, or its log does not say the rates that"
                " it had (a warmup, a run it branched from, batch sizes)."
            )
            said[name] = (prediction.unseen, missed) if prediction.unseen else (missed,)
    return [Text(sentence) for sentence in said_once(said)]


def forecast_text(forecast: Forecast, target: float | None) -> list[Any]:
    """Where a run ends, what decaying now would give, when it reaches a loss, and whether it is on track."""
    parts: list[Any] = [Text(warning) for warning in forecast.fitted.warnings]
    parts += [final_line(name, prediction) for name, prediction in forecast.predictions.items()]
    if target is not None:
        reached = {name: step for name, step in forecast.reaches(target).items() if step is not None}
        shown = ", ".join(f"{name} at step {step}" for name, step in reached.items()) or "under none of these"
        parts.append(Text(f"A loss of {target:g} is reached: {shown}"))
    return [*parts, *map(Text, forecast.sentences)]


def forecast_json(forecast: Forecast, target: float | None) -> dict[str, Any]:
    """The forecast as JSON-ready values."""
    return {
        "last": forecast.last,
        "surprise": _finite(forecast.surprise),
        "followed": forecast.followed or None,
        "endings": {
            name: prediction_json(forecast.fitted, prediction) for name, prediction in forecast.predictions.items()
        },
        "reaches": None if target is None else forecast.reaches(target),
        "warnings": list(forecast.fitted.warnings),
    }


def score_table(scores: Mapping[str, Score]) -> Table:
    """One line a name, with all measures."""
    headings = ("", *(name.replace("_relative_error", "_rel") for name in COLUMNS))
    rows = [(name, *(cell(getattr(score, column)) for column in COLUMNS)) for name, score in scores.items()]
    return table(headings, rows, right=range(1, len(headings)))


def fit_json(
    result: FitResult,
    fitted: Mapping[str, Score],
    predicted: Mapping[str, Score],
    schedules: Mapping[str, Prediction] = MappingProxyType({}),
    usual: Rivals | None = None,
) -> dict[str, Any]:
    """The fit as JSON-ready values: law, parameters with intervals, what can be determined, scores by file.

    ``schedules``: what was asked for, named schedules and runs; ``usual``: beside them.
    """
    task = result.task
    return {
        "law": result.law.name,
        "title": result.law.title,
        "formula": result.law.formula,
        "parameters": result.parameters,
        "intervals": {name: [_finite(end) for end in pair] for name, pair in result.report.intervals.items()}
        if result.drawn is not None
        else None,
        "condition": _finite(result.report.condition),
        "on_bounds": list(result.report.on_bounds),
        "report": list(result.report.sentences),
        "task": task.sentence,
        "warnings": list(result.warnings),
        "notes": list(result.notes),
        "train": {name: score_json(score) for name, score in fitted.items()},
        "predictions": {name: score_json(score) for name, score in predicted.items()},
        "schedules": {name: prediction_json(result, prediction) for name, prediction in schedules.items()},
        "rivals": {}
        if usual is None
        else {name: prediction_json(result, prediction) for name, prediction in usual.predictions.items()},
        "best_rival": None if usual is None else usual.best or None,
        "not_told_from_it": None if usual is None or usual.alike is None else list(usual.alike),
    }


def score_json(score: Score) -> dict[str, Any]:
    """A score as JSON-ready values; what is not defined becomes None."""
    return {name: _finite(value) for name, value in score.as_dict().items()}


def prediction_text(result: FitResult, prediction: Prediction) -> list[Any]:
    """The final loss with its interval, how far to trust it, and a table of at most some twenty steps."""
    count = prediction.step.size
    shown = np.unique(np.linspace(0, count - 1, min(count, _ROWS)).round().astype(int))
    rates = prediction.plan.rates[prediction.step - 1]
    lower, upper = prediction.lower, prediction.upper
    bounds = [bound for bound in (lower, upper) if bound is not None]
    rows = [
        (
            str(prediction.step[k]),
            f"{rates[k]:.4g}",
            *(as_loss(values[k], prediction.final) for values in (prediction.loss, *bounds)),
        )
        for k in shown
    ]
    headings = ("step", "lr", "loss", "lower", "upper")[: 3 + len(bounds)]
    head = Text(f"{result.law.title} ({result.law.name}): final loss {prediction.final_words()}")
    return [head, Text(prediction.trust), "", table(headings, rows, right=range(5))]


def prediction_json(result: FitResult, prediction: Prediction) -> dict[str, Any]:
    """The prediction as JSON-ready values."""
    lower, upper = prediction.lower, prediction.upper
    return {
        "law": result.law.name,
        "step": prediction.step.tolist(),
        "lr": prediction.plan.rates[prediction.step - 1].tolist(),
        "loss": prediction.loss.tolist(),
        "lower": None if lower is None else lower.tolist(),
        "upper": None if upper is None else upper.tolist(),
        "level": prediction.level,
        "final": prediction.final,
        "mean_half_width": prediction.mean_half_width,
        "beyond": _finite(prediction.beyond),
        "trust": prediction.trust,
    }


def prediction_csv(prediction: Prediction) -> str:
    """The prediction as CSV: step, lr, loss, and lower and upper where there is an interval."""
    columns = [prediction.step.tolist(), prediction.plan.rates[prediction.step - 1].tolist(), prediction.loss.tolist()]
    header = "step,lr,loss"
    if prediction.lower is not None and prediction.upper is not None:
        columns += [prediction.lower.tolist(), prediction.upper.tolist()]
        header += ",lower,upper"
    return "\n".join([header, *(",".join(map(repr, row)) for row in zip(*columns, strict=True))]) + "\n"


def comparison_json(comparison: Comparison, paths: Mapping[str, str]) -> dict[str, Any]:
    """The comparison as JSON-ready values, one entry a law; ``paths`` are the files of the runs by name."""
    fits, means = comparison.fits, comparison.means
    laws = [
        {
            "law": law,
            "fitted": fits[law].law.name,
            "parameters": fits[law].parameters,
            "mean": score_json(means[law]),
            "predictions": {paths[run]: score_json(score) for run, score in comparison.scores[law].items()},
            "doubts": list(comparison.doubts[law]),
            "reason": "",
        }
        for law in fits
    ]
    without: dict[str, Any] = {"fitted": None, "parameters": None, "mean": None, "predictions": {}, "doubts": []}
    return {"laws": [*laws, *({"law": law, **without, "reason": why} for law, why in comparison.reasons.items())]}


def comparison_text(comparison: Comparison, runs: Sequence[str], level: float) -> list[Any]:
    """The table of laws, the mean over the runs, best root mean square error first; then the RMSE run by run."""
    means = dict(sorted(comparison.means.items(), key=lambda pair: pair[1].rmse))
    # with the terms that the runs ask for the name of a law is longer
    fitted = {law: comparison.fits[law].law.name for law in means}
    titles = {law: law if law == name else f"{law} = {name}" for law, name in fitted.items()}
    parts: list[Any] = [f"Mean over {len(runs)} predicted run(s), coverage of intervals of {100 * level:g} %:"]
    parts.append(score_table({titles[law]: mean for law, mean in means.items()}))
    if len(runs) > 1 and means:
        rows = [(run, *(cell(comparison.scores[law][run].rmse) for law in means)) for run in runs]
        parts += ["", "Root mean square error run by run:", table(("", *means), rows, right=range(1, len(means) + 1))]
    return parts + [Text(sentence) for sentence in comparison.sentences]


def _finite(value: float) -> float | None:
    return value if isinstance(value, int) or math.isfinite(value) else None
