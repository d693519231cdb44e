"""Pictures of curves, predictions and residuals; matplotlib is loaded when one is drawn.

Figures are made without pyplot, so that no global state is touched; a notebook shows them all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fsl_num.results import axes_to_draw_on, how_well

if TYPE_CHECKING:
    from fsl_num.curves.compare import Comparison
    from fsl_num.curves.curve import LossCurve
    from fsl_num.curves.forecast import Forecast
    from fsl_num.curves.next_run import NextRun
    from fsl_num.curves.plan import Plan
    from fsl_num.curves.predict import Prediction
    from fsl_num.curves.size_result import FinalLossFit

_SHOWN_FROM: Final = 0.1  # of the last step: by the losses from there on the height of a picture is chosen


def as_drawn(name: str) -> str:
    """A name as a picture shows it: a dollar begins no formula there, and a first underscore does not hide it.

    >>> as_drawn("$x"), as_drawn("_run"), as_drawn("run")
    ('\\\\$x', ' _run', 'run')
    """
    shown = "".join(letter if letter.isprintable() else "?" for letter in name).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def draw_curve(curve: LossCurve, ax: Any = None) -> Any:
    """Draw losses and learning rate over the steps; return the axes of the losses.

    >>> callable(draw_curve)
    True
    """
    axes = axes_to_draw_on(ax)
    axes.plot(curve.step, curve.loss, ".", markersize=3, label=as_drawn(curve.name))
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.legend(loc="upper right")
    _draw_rate(curve.plan, axes)
    return axes


def draw_fit(pairs: Any, ax: Any = None) -> Any:
    """Draw measured and predicted losses, in a new figure with the residuals below them; return the axes of the losses.

    ``pairs``: of (curve, losses, lower, upper), the last two None where there is no interval.

    >>> callable(draw_fit)
    True
    """
    above, below = axes_to_draw_on(rows=2) if ax is None else (axes_to_draw_on(ax), None)
    for index, (curve, losses, lower, upper) in enumerate(pairs):
        color = f"C{index % 10}"
        steps = curve.plan.recorded
        above.plot(steps, curve.observed, ".", markersize=3, color=color, alpha=0.5)
        above.plot(steps, losses, color=color, linewidth=1, label=as_drawn(curve.name))
        if lower is not None:
            above.fill_between(steps, lower, upper, color=color, alpha=0.2, linewidth=0)
        if below is not None:
            below.plot(steps, curve.observed - losses, ".", markersize=2, color=color)
        if below is not None and lower is not None:
            below.fill_between(steps, lower - losses, upper - losses, color=color, alpha=0.15, linewidth=0)
    above.set_ylabel("loss")
    above.legend(loc="upper right", fontsize="small")
    if below is not None:
        below.axhline(0.0, color="0.5", linewidth=0.5)
        below.set_ylabel("measured $-$ law")
    (above if below is None else below).set_xlabel("step")
    return above


def draw_prediction(prediction: Prediction, ax: Any = None) -> Any:
    """Draw predicted losses with their interval, rows that were measured and fitted, and the rate; return the axes.

    >>> from fsl_num.curves.plan import Plan
    >>> from fsl_num.curves.predict import Prediction
    >>> ends = np.array([2.9]), np.array([3.1])
    >>> axes = draw_prediction(Prediction(Plan([0.1]), np.array([3.0]), *ends, 0.9, 1.0, 1.0, 0.01))
    >>> axes.get_ylabel(), axes.get_legend_handles_labels()[1]
    ('loss', ['schedule: 3.00 +-1 %'])
    """
    axes = axes_to_draw_on(ax)
    _draw_rate(prediction.plan, axes)
    shown = _draw_fitted(prediction, int(prediction.step[-1]), axes)
    if prediction.measured is not None:
        axes.plot(prediction.step, prediction.measured.observed, ".", markersize=3, color="C1", label="measured")
        shown.append((prediction.step, prediction.measured.observed))
    mean = "" if prediction.mean_half_width is None else f" {how_well(prediction.mean_half_width)}"
    name = as_drawn(prediction.plan.name or "predicted")
    _draw_predicted(prediction, axes, "C0", f"{name}: {prediction.in_digits(prediction.final)}{mean}")
    _show_the_end(axes, shown, [prediction])
    return axes


def draw_predictions(predictions: Mapping[str, Prediction], ax: Any = None) -> Any:
    """Draw the predicted losses of several schedules of one fit, with the rows fitted; return the axes.

    >>> draw_predictions({}).get_xlabel()
    ''
    """
    axes, every = axes_to_draw_on(ax), list(predictions.values())
    if not every:
        return axes
    last = max(int(prediction.step[-1]) for prediction in every)
    shown = _draw_fitted(every[0], last, axes)
    for index, (name, prediction) in enumerate(predictions.items()):
        _draw_predicted(prediction, axes, f"C{index}", f"{as_drawn(name)}: {prediction.in_digits(prediction.final)}")
    _show_the_end(axes, shown, every)
    return axes


def draw_forecast(forecast: Forecast, target: float | None = None, ax: Any = None) -> Any:
    """Draw a run under way and its endings with their intervals, and a loss to be reached; return the axes.

    >>> callable(draw_forecast)
    True
    """
    axes = axes_to_draw_on(ax)
    run = forecast.fitted.curves[0]
    axes.plot(run.plan.recorded, run.observed, ".", markersize=3, color="0.4", label=as_drawn(run.name))
    for index, (name, prediction) in enumerate(forecast.predictions.items()):
        label = f"{as_drawn(name)}: {prediction.in_digits(prediction.final)}"
        _draw_predicted(prediction, axes, f"C{index}", label)
    shown = [(run.plan.recorded, run.observed)]
    if target is not None:
        axes.axhline(target, color="0.3", linewidth=0.8, linestyle="--", label=f"target {target:g}")
        if 0.5 < target / forecast.main.final < 2.0:  # one far off would leave the losses a line
            shown.append((forecast.main.step[-1:], np.array([target])))
        for index, (name, step) in enumerate(forecast.reaches(target).items()):
            if step is not None:
                reached = forecast.predictions[name]
                height = reached.loss[reached.step == step]
                axes.plot([step], height, "o", markersize=5, color=f"C{index}", markerfacecolor="none")
    _show_the_end(axes, shown, list(forecast.predictions.values()))
    return axes


def _draw_rate(plan: Plan, axes: Any) -> None:
    """The learning rate in grey behind the losses, on an axis of its own."""
    rate = axes.twinx()
    rate.plot(np.arange(plan.rates.size), plan.rates, color="0.75", linewidth=1)
    rate.set_ylabel("learning rate", color="0.45")
    rate.set_ylim(bottom=0.0)
    axes.set_zorder(rate.get_zorder() + 1)
    axes.patch.set_visible(False)


def _draw_fitted(prediction: Prediction, last: int, axes: Any) -> list[tuple[Any, Any]]:
    """The rows fitted up to the step ``last``, in grey; return them."""
    shown = [(curve.plan.recorded, curve.observed) for curve in prediction.fitted]
    shown = [(step[step <= last], loss[step <= last]) for step, loss in shown]
    for index, (step, loss) in enumerate(shown):
        axes.plot(step, loss, ".", markersize=2.5, color="0.6", label=None if index else "rows fitted")
    return shown


def _draw_predicted(prediction: Prediction, axes: Any, color: str, label: str) -> None:
    """A predicted loss as a line, or as a point where it is of one step alone, with its interval."""
    lower, upper, only = prediction.lower, prediction.upper, prediction.step.size == 1
    axes.plot(prediction.step, prediction.loss, "o" if only else "-", color=color, linewidth=1.4, label=label)
    if lower is not None and upper is not None and prediction.level is not None:
        if only:
            axes.vlines(prediction.step, lower, upper, color=color, linewidth=1.4)
        else:
            axes.fill_between(prediction.step, lower, upper, color=color, alpha=0.15, linewidth=0)


def _show_the_end(axes: Any, rows: Sequence[tuple[Any, Any]], predictions: Sequence[Prediction]) -> None:
    """Choose the losses that are shown by those of the later steps: the first ones would hide all differences."""
    last = max(int(prediction.step[-1]) for prediction in predictions)
    lines = [*rows, *((prediction.step, prediction.loss) for prediction in predictions)]
    late = np.concatenate([np.asarray(loss)[np.asarray(step) >= _SHOWN_FROM * last] for step, loss in lines])
    low, high = float(late.min()), float(late.max())
    room = max(high - low, 1e-3 * high)
    bands = [
        (prediction.lower[-1], prediction.upper[-1])
        for prediction in predictions
        if prediction.lower is not None and prediction.upper is not None
    ]
    for bottom, top in bands:  # an interval of several times what is drawn would hide it
        low, high = min(low, max(float(bottom), low - room)), max(high, min(float(top), high + room))
    axes.set_ylim(low - 0.05 * room, high + 0.05 * room)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    levels = sorted({prediction.level for prediction in predictions if prediction.level is not None})
    title = f"{100 * levels[0]:g} % of single rows in each band" if levels else None
    axes.legend(loc="upper right", fontsize="small", title=title, title_fontsize="small")


def draw_comparison(comparison: Comparison, ax: Any = None) -> Any:
    """Draw the root mean square error of every law on every run, and its mean as a line; return the axes.

    >>> callable(draw_comparison)
    True
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes = axes_to_draw_on(ax)
    means = sorted(comparison.means.items(), key=lambda pair: pair[1].rmse)
    for index, (law, mean) in enumerate(means):
        errors = {run: score.rmse for run, score in comparison.scores[law].items()}
        places = [place + 0.8 * (index + 0.5) / len(means) - 0.4 for place in range(len(errors))]
        label = f"{law}: {mean.rmse:.2g}"
        axes.plot(list(errors.values()), places, "o", markersize=4, color=f"C{index}", label=label)
        axes.axvline(mean.rmse, color=f"C{index}", linewidth=0.8, alpha=0.6)
    runs = list(next(iter(comparison.scores.values()), {}))
    axes.set_yticks(range(len(runs)), [as_drawn(run) for run in runs])
    axes.set_ylim(len(runs) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("root mean square error of the predicted loss")
    axes.grid(axis="x", which="both", linewidth=0.3)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=max(len(means), 1), fontsize="small", frameon=False)
    return axes


def draw_next_run(proposal: NextRun, ax: Any = None) -> Any:
    """Draw the half-width that each candidate leaves over its updates; return these axes.

    In a new figure with the rates proposed below.

    >>> callable(draw_next_run)
    True
    """
    above, below = axes_to_draw_on(rows=2) if ax is None else (axes_to_draw_on(ax), None)
    for candidate in proposal.candidates:
        colour = "C3" if candidate is proposal.proposed else "C0"
        above.plot([candidate.cost], [100 * candidate.half_width], "o", color=colour, markersize=5)
    above.axhline(100 * proposal.before, color="0.5", linewidth=1, linestyle="--", label="now")
    above.set_ylabel("half-width of the interval, %")
    above.set_ylim(bottom=0.0)
    above.legend(loc="lower right")
    if below is None:
        above.set_xlabel("updates")
        return above
    for plan in proposal.targets:
        below.plot(plan.rates, color="0.6", linewidth=1.2)
    below.plot(proposal.proposed.plan.rates, color="C3", linewidth=1.6, label=as_drawn(proposal.proposed.name))
    below.set_xlabel("updates")
    below.set_ylabel("learning rate (grey: target)")
    below.legend(loc="upper right")
    return above


def draw_final_losses(fitted: FinalLossFit, ax: Any = None) -> Any:
    """Draw final losses over the steps with the law through them, a colour for each model size; return the axes.

    >>> callable(draw_final_losses)
    True
    """
    axes = axes_to_draw_on(ax)
    runs = fitted.runs
    kinds = np.unique(np.stack([runs.model_size, runs.batch_size, runs.peak], axis=1), axis=0)
    sizes, named = np.unique(runs.model_size).tolist(), set()
    for size, batch, peak in kinds:
        own = (runs.model_size == size) & (runs.batch_size == batch) & (runs.peak == peak)
        color = f"C{sizes.index(size) % 10}"
        steps = np.geomspace(runs.steps[own].min(), runs.steps[own].max(), 40)
        axes.plot(runs.steps[own], fitted.loss[own], ".", markersize=5, color=color)
        label = None if size in named else f"{size:.4g} parameters"
        axes.plot(steps, fitted.predict(size, batch, steps, peak).loss, color=color, linewidth=0.8, label=label)
        named.add(size)
    axes.set_xscale("log")
    axes.set_xlabel("steps (a line a batch size)")
    axes.set_ylabel("final loss")
    axes.legend(loc="upper right", fontsize="small")
    return axes
