"""Fits of loss curves, predictions and comparisons of laws, as text, as JSON, as CSV and as a picture."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fsl_num.curves.score import Score, mean_score, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsl_num.curves.predict import Prediction
    from fsl_num.curves.result import FitResult

_ROWS = 20  # rows of a prediction shown on a terminal
_WIDTH = 100


@dataclass(frozen=True)
class Compared:
    """One law of a comparison: its fit (None where it failed, ``reason`` then says why) and its scores by run."""

    law: str
    result: FitResult | None
    scores: Mapping[str, Score]
    reason: str

    @property
    def mean(self) -> Score | None:
        """The mean over the runs, None where the fit failed."""
        return mean_score(self.scores.values()) if self.result is not None else None


def fit_text(result: FitResult, scores: Mapping[str, Score], level: float) -> str:
    """The fit in words and numbers, and how well it predicts other runs."""
    lines = [
        line if "  " in line else textwrap.fill(line, _WIDTH)  # tables stay as they are
        for line in result.summary().splitlines()
    ]
    if scores:
        lines += ["", f"Predicted, with intervals of {100 * level:g} %:", _scores_text(scores)]
    return "\n".join(lines)


def _scores_text(scores: Mapping[str, Score]) -> str:
    shown = dict(scores) | ({"mean": mean_score(scores.values())} if len(scores) > 1 else {})
    return table(shown)


def fit_json(result: FitResult, fitted: Mapping[str, Score], predicted: Mapping[str, Score]) -> dict[str, Any]:
    """The fit as JSON-ready values: law, parameters with intervals, what can be told, scores by file."""
    task = result.task
    return {
        "law": result.law.name,
        "title": result.law.title,
        "formula": result.law.formula,
        "chosen": None if result.selection is None else result.selection.reason,
        "parameters": result.parameters,
        "intervals": {name: [_finite(each) for each in pair] for name, pair in result.report.intervals.items()}
        if result.measured is not None
        else None,
        "condition": _finite(result.report.condition),
        "on_bounds": list(result.report.on_bounds),
        "report": list(result.report.sentences),
        "task": task.sentence,
        "notes": list(result.notes),
        "train": {name: score_json(each) for name, each in fitted.items()},
        "predictions": {name: score_json(each) for name, each in predicted.items()},
    }


def score_json(score: Score) -> dict[str, Any]:
    """A score as JSON-ready values; what is not defined becomes None."""
    return {name: _finite(value) for name, value in score.as_dict().items()}


def prediction_text(result: FitResult, found: Prediction) -> str:
    """A table of at most some twenty steps, the final loss with its interval, and how far it reaches."""
    count = found.step.size
    shown = np.unique(np.linspace(0, count - 1, min(count, _ROWS)).round().astype(int))
    rates = found.plan.rates[found.step - 1]
    lower, upper = found.lower, found.upper
    lines = [f"{'step':>10}  {'lr':>11}  {'loss':>9}" + ("" if lower is None else f"  {'lower':>9}  {'upper':>9}")]
    for k in shown:
        line = f"{found.step[k]:>10}  {rates[k]:>11.4g}  {found.loss[k]:>9.5f}"
        lines.append(line if lower is None or upper is None else f"{line}  {lower[k]:>9.5f}  {upper[k]:>9.5f}")
    last = f"final loss {found.final:.5f}"
    if lower is not None and upper is not None and found.level is not None:
        last += f", {100 * found.level:g} % of such losses within [{lower[-1]:.5f}, {upper[-1]:.5f}]"
    lines += ["", f"{result.law.title} ({result.law.name}): {last}"]
    if found.beyond > 1.5:
        lines.append(
            f"The schedule reaches {found.beyond:.2g} times the intrinsic time (sum of the learning rates) of the runs"
            " fitted: nothing measured says that the law holds so far out."
        )
    return "\n".join(lines)


def prediction_json(result: FitResult, found: Prediction) -> dict[str, Any]:
    """The prediction as JSON-ready values."""
    lower, upper = found.lower, found.upper
    return {
        "law": result.law.name,
        "step": found.step.tolist(),
        "lr": found.plan.rates[found.step - 1].tolist(),
        "loss": found.loss.tolist(),
        "lower": None if lower is None else lower.tolist(),
        "upper": None if upper is None else upper.tolist(),
        "level": found.level,
        "final": found.final,
        "beyond": _finite(found.beyond),
    }


def prediction_csv(found: Prediction) -> str:
    """The prediction as CSV: step, lr, loss, and lower and upper where there is an interval."""
    columns = [found.step.tolist(), found.plan.rates[found.step - 1].tolist(), found.loss.tolist()]
    header = "step,lr,loss"
    if found.lower is not None and found.upper is not None:
        columns += [found.lower.tolist(), found.upper.tolist()]
        header += ",lower,upper"
    return "\n".join([header, *(",".join(map(repr, row)) for row in zip(*columns, strict=True))]) + "\n"


def prediction_figure(result: FitResult, found: Prediction) -> Figure:
    """Draw the predicted loss with its interval, and the learning rate."""
    from fsl_num.report.plots import new_figure

    figure = new_figure((6.8, 4.2))
    axes = figure.subplots()
    rate = axes.twinx()
    rate.plot(np.arange(found.plan.rates.size), found.plan.rates, color="0.75", linewidth=1.2)
    rate.set_ylabel("learning rate", color="0.45")
    rate.set_ylim(bottom=0.0)
    axes.set_zorder(rate.get_zorder() + 1)
    axes.patch.set_visible(False)
    if found.lower is not None and found.upper is not None and found.level is not None:
        label = f"{100 * found.level:g} % interval"
        axes.fill_between(found.step, found.lower, found.upper, color="#1f5f8b", alpha=0.2, linewidth=0, label=label)
    axes.plot(found.step, found.loss, color="#1f5f8b", linewidth=1.6, label="predicted loss")
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.set_title(f"{found.plan.name}: {result.law.title}, final loss {found.final:.4f}", fontsize=10)
    axes.legend(frameon=False)
    return figure


def comparison_json(rows: Sequence[Compared]) -> dict[str, Any]:
    """The comparison as JSON-ready values, one entry a law."""
    return {
        "laws": [
            {
                "law": row.law,
                "fitted": None if row.result is None else row.result.law.name,
                "parameters": None if row.result is None else row.result.parameters,
                "mean": None if row.mean is None else score_json(row.mean),
                "predictions": {name: score_json(each) for name, each in row.scores.items()},
                "reason": row.reason,
            }
            for row in rows
        ]
    }


def comparison_text(rows: Sequence[Compared], runs: Sequence[str], level: float) -> str:
    """The table of laws, the mean over the runs, best root mean square error first; then the RMSE run by run."""
    good = sorted((row for row in rows if row.mean is not None), key=lambda row: row.mean.rmse if row.mean else 0.0)
    titles = {row.law: row.law for row in good}
    titles |= {row.law: f"auto = {row.result.law.name}" for row in good if row.result is not None and row.law == "auto"}
    lines = [f"Mean over {len(runs)} predicted run(s), coverage of intervals of {100 * level:g} %:"]
    lines.append(table({titles[row.law]: row.mean for row in good if row.mean is not None}))
    if len(runs) > 1 and good:
        width = max(len(run) for run in runs)
        lines += ["", "Root mean square error run by run:"]
        lines.append(" " * width + "".join(f"  {row.law:>15}" for row in good))
        lines += [f"{run:<{width}}" + "".join(f"  {row.scores[run].rmse:>15.5f}" for row in good) for run in runs]
    lines += [f"{row.law}: not fitted: {row.reason}" for row in rows if row.result is None]
    return "\n".join(lines)


def _finite(value: float) -> float | None:
    return value if isinstance(value, int) or math.isfinite(value) else None
