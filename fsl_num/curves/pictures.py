"""Pictures of curves, predictions and residuals; matplotlib is loaded when one is drawn.

Figures are made without pyplot, so that no global state is touched; a notebook shows them all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fsl_num.results import axes_to_draw_on

if TYPE_CHECKING:
    from fsl_num.curves.compare import Comparison
    from fsl_num.curves.curve import LossCurve
    from fsl_num.curves.next_run import NextRun
    from fsl_num.curves.size_result import FinalLossFit


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
    rate = axes.twinx()
    rate.plot(np.arange(curve.plan.rates.size), curve.plan.rates, color="0.7", linewidth=1)
    rate.set_ylabel("learning rate")
    axes.set_zorder(rate.get_zorder() + 1)
    axes.patch.set_visible(False)
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


def draw_forecast(curve: LossCurve, forecast: Any, ax: Any = None) -> Any:
    """Draw a run under way and its endings with their intervals; return the axes.

    >>> callable(draw_forecast)
    True
    """
    axes = axes_to_draw_on(ax)
    axes.plot(curve.step, curve.loss, ".", markersize=3, color="0.4", label=as_drawn(curve.name))
    for index, (name, prediction) in enumerate(forecast.predictions.items()):
        axes.plot(
            prediction.step, prediction.loss, color=f"C{index}", linewidth=1.4,
            label=f"{name}: {prediction.in_digits(prediction.final)}",
        )  # fmt: skip
        if prediction.lower is not None:
            axes.fill_between(
                prediction.step, prediction.lower, prediction.upper, color=f"C{index}", alpha=0.15, linewidth=0
            )
    low, high = float(curve.observed[-1]), float(curve.observed[curve.observed.size // 4])
    axes.set_ylim(top=high + 0.1 * abs(high - low))
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.legend(loc="upper right", fontsize="small")
    return axes


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
