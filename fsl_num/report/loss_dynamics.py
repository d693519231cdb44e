"""The paper's pictures of loss dynamics: SGD under several schedules, and the fitted functional scaling law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rich.text import Text

from fsl_num.report.plots import new_figure, plain_decimals
from fsl_num.report.tables import table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fsl_num.experiments.fitting import LawFit
    from fsl_num.experiments.loss_dynamics import LossDynamics, ScheduleRun

COLOURS: Final = {
    "cosine": "#0072b2",
    "wsd": "#d55e00",
    "cyclic": "#009e73",
    "8-1-1": "#aa4499",
    "exp-decay": "#8a6d00",
    "constant": "#444444",
}
"""Distinct also for readers who do not see red and green."""


def colour_of(name: str) -> str:
    """The colour of a schedule; of one that has none of its own, one of the others, always the same.

    >>> colour_of("wsd")
    '#d55e00'
    """
    return COLOURS.get(name) or list(COLOURS.values())[sum(name.encode()) % len(COLOURS)]


def title_of(name: str) -> str:
    """How a schedule is called in a picture.

    >>> title_of("wsd"), title_of("cosine")
    ('WSD', 'cosine')
    """
    return {"wsd": "WSD", "exp-decay": "exponential decay"}.get(name, name)


PRINTED: Final = "printed, T >= 1"
"""The fit that is drawn: the appendix's form of the law, where the law claims anything."""


def loss_dynamics_figure(dynamics: LossDynamics) -> Figure:
    """Draw the first figure (left): learning rates, the loss with the fitted law, and the error of the fits.

    Raises ImportError where matplotlib is not installed.
    """
    figure = new_figure((10.6, 5.4))
    from matplotlib.lines import Line2D
    from matplotlib.ticker import PercentFormatter

    axes = figure.subplot_mosaic([["loss", "rate"], ["loss", "error"]], width_ratios=[1.55, 1.0])
    loss, rate, error = axes["loss"], axes["rate"], axes["error"]
    for run in dynamics.runs:
        _draw_loss(loss, run)
        _draw_rate(rate, run)
        _draw_errors(error, run)
    start = dynamics.problem.initial_risk
    floor = min(float(run.exact.excess_risk.min()) for run in dynamics.runs)
    loss.set(xlabel="step $k$", ylabel=r"excess risk $\mathcal{E}_k$", ylim=(0.75 * floor, 1.25 * start))
    coloured = [_key(Line2D, colour_of(run.name), label=title_of(run.name)) for run in dynamics.runs]
    lines = [_key(Line2D, "black", label="SGD, exact expectation", linewidth=1.2)]
    if dynamics.sampled_runs:
        name = f"SGD, mean of {dynamics.sampled_runs:,} runs"
        lines.append(_key(Line2D, "black", label=name, linewidth=4.5, alpha=0.3))
    lines.append(_key(Line2D, "black", label="fitted law, powers as printed", linestyle="dashed"))
    lines.append(_key(Line2D, "black", label="fitted law, sums $e_M$ and $K_M$", linestyle="dotted"))
    style: dict[str, Any] = {"frameon": False, "fontsize": 9}
    loss.add_artist(loss.legend(handles=coloured, loc="lower left", **style))
    loss.legend(handles=lines, loc="upper right", **style)
    rate.set(ylabel=r"learning rate $\eta_k$", ylim=(0.0, 1.12 * dynamics.peak))
    rate.tick_params(labelbottom=False)
    error.set(xlabel="step $k$", ylabel="fitted law over SGD, less 1")
    error.yaxis.set_major_formatter(PercentFormatter(1.0))
    plain_decimals(loss)
    for ax, title in ((loss, _title(dynamics)), (rate, "learning rates"), (error, "relative error of the fits")):
        ax.set_title(title, fontsize=10)
        ax.set_xlim(0, dynamics.steps)
        ax.grid(alpha=0.25, which="major")
    return figure


def fit_grid_figure(cells: Sequence[LossDynamics]) -> Figure:
    """Draw the appendix figure: the learning rates, then for each (s, beta) the loss and the fitted law.

    Raises ImportError where matplotlib is not installed, ValueError without cells.
    """
    if not cells:
        raise ValueError("there is nothing to draw: give at least one point (s, beta)")
    columns = min(4, len({cell.problem.model.beta for cell in cells}))
    rows = -(-len(cells) // columns)
    figure = new_figure((2.9 * columns + 0.4, 2.3 * rows + 2.2))
    from matplotlib.lines import Line2D

    parts: Any = figure.subfigures(2, 1, height_ratios=[2.0, 2.3 * rows])
    upper, lower = parts
    rate, key = upper.subplots(1, 2, width_ratios=[1.0, 1.0])
    for run in cells[0].runs:
        _draw_rate(rate, run)
    rate.set(xlabel="step $k$", ylabel=r"learning rate $\eta_k$", xlim=(0, cells[0].steps))
    rate.grid(alpha=0.25)
    key.set_axis_off()
    handles = [_key(Line2D, colour_of(run.name), label=title_of(run.name)) for run in cells[0].runs]
    handles.append(_key(Line2D, "black", label="SGD, exact expectation", linewidth=1.2))
    if cells[0].sampled_runs:
        name = f"SGD, mean of {cells[0].sampled_runs:,} runs"
        handles.append(_key(Line2D, "black", label=name, linewidth=4.0, alpha=0.3))
    handles.append(_key(Line2D, "black", label="fitted law, powers as printed", linestyle="dashed"))
    key.legend(handles=handles, loc="center", ncols=2, frameon=False, fontsize=9, title=_setting(cells[0]))
    panels = np.atleast_1d(lower.subplots(rows, columns, sharex=True, squeeze=False)).ravel()
    for ax, cell in zip(panels, cells, strict=False):
        for run in cell.runs:
            _draw_loss(ax, run, modes=False, thin=True)
        fits = [run.fits[PRINTED] for run in cell.runs]
        mean, worst = max(fit.mean_error for fit in fits), max(fit.worst_error for fit in fits)
        s, beta = cell.problem.model.s, cell.problem.model.beta
        edge = s - 1.0 + 1.0 / beta
        regime = "edge" if abs(edge) < 1e-12 else "hard" if edge < 0 else "easy"
        ax.set_title(rf"$s = {s:g}$, $\beta = {beta:g}$ ({regime})", fontsize=9.5)
        ax.text(
            0.97,
            0.95,
            f"error: mean ≤ {mean:.0%}, worst {worst:.0%}",
            transform=ax.transAxes,
            ha="right",
            va="top",
            fontsize=8,
        )
        ax.set(xlim=(0, cell.steps), xticks=[0, cell.steps // 2, cell.steps])
        ax.set_ylim(0.7 * min(float(run.exact.excess_risk.min()) for run in cell.runs), 2.2 * cell.problem.initial_risk)
        ax.grid(alpha=0.25)
    for ax in panels[len(cells) :]:
        ax.set_axis_off()
    lower.supxlabel("step $k$", fontsize=10)
    lower.supylabel(r"excess risk $\mathcal{E}_k$", fontsize=10)
    return figure


def loss_dynamics_text(dynamics: LossDynamics) -> list[Any]:
    """A table of the fits: constants, R squared, and the relative errors; then how far SGD is from the law itself.

    >>> from fsl_num.experiments.loss_dynamics import loss_dynamics
    >>> loss_dynamics_text(loss_dynamics(schedules=["wsd"], steps=100, model_size=8))[0]
    's = 0.5, beta = 4, M = N = 8, sigma^2 = 9, peak rate 0.05, 100 steps'
    """
    model = dynamics.problem.model
    title = (
        f"s = {model.s:g}, beta = {model.beta:g}, M = N = {model.size:g}, sigma^2 = {model.noise:g},"
        f" peak rate {dynamics.peak:g}, {dynamics.steps} steps"
    )
    rows, lines = [], []
    for run in dynamics.runs:
        averaged = {} if run.averaged_fit is None else {"averaged, T >= 1": run.averaged_fit}
        rows += [(run.name, name, *_cells(fit), str(fit.worst_step)) for name, fit in {**run.fits, **averaged}.items()]
        low, high = run.unfitted
        lines.append(f"{run.name}: SGD over the law with e_M, K_M and c1 = c2 = c3 = 1/2: {low:.4f} to {high:.4f}")
        if run.scatter is not None:
            rms, most = run.scatter
            lines.append(
                f"{run.name}: averaged runs: {rms:.2f} standard errors (rms) from the exact curve, {most:.1f} at most"
            )
    return [
        title,
        "",
        table(("schedule", "law", *_MEASURES, "at step"), rows, right=range(2, 9)),
        "",
        *map(Text, lines),
    ]


def fit_grid_text(cells: Sequence[LossDynamics]) -> list[Any]:
    """Two lines a point (s, beta) and schedule: the printed law from T = 1 on, and the law with the model's own sums.

    >>> from fsl_num.experiments.loss_dynamics import fit_grid
    >>> len(fit_grid_text(fit_grid([(0.5, 2.0)], steps=100, model_size=8))[0].rows)
    10
    """
    forms = {PRINTED: "powers as printed, fitted from T = 1 on", "modes": "sums e_M and K_M of the model"}
    rows = [
        (f"{cell.problem.model.s:g}", f"{cell.problem.model.beta:g}", run.name, title, *_cells(run.fits[form]))
        for cell in cells
        for run in cell.runs
        for form, title in forms.items()
    ]
    return [table(("s", "beta", "schedule", "law", *_MEASURES), rows, right=(0, 1, *range(4, 10)))]


_MEASURES = ("c1", "c2", "c3", "R^2", "mean error", "worst")


def _cells(fit: LawFit) -> tuple[str, ...]:
    constants = (f"{constant:.3f}" for constant in fit.constants)
    return (*constants, f"{fit.r_squared:.5f}", f"{fit.mean_error:.1%}", f"{fit.worst_error:.0%}")


def _draw_loss(ax: Axes, run: ScheduleRun, *, modes: bool = True, thin: bool = False) -> None:
    colour = colour_of(run.name)
    width = 0.9 if thin else 1.2
    if run.averaged is not None:
        mean = run.averaged
        ax.semilogy(mean.step, mean.excess_risk, color=colour, alpha=0.3, linewidth=3.2 * width)
    ax.semilogy(run.exact.step, run.exact.excess_risk, color=colour, linewidth=width)
    fit = run.fits[PRINTED]
    used = fit.used & (fit.predicted > 0)
    ax.semilogy(fit.step[used], fit.predicted[used], color=colour, linestyle="dashed", linewidth=1.25 * width)
    if modes:
        best = run.fits["modes"]
        ax.semilogy(best.step, best.predicted, color="black", linestyle=(0, (1, 2.5)), linewidth=1.6)


def _draw_rate(ax: Axes, run: ScheduleRun) -> None:
    ax.plot(np.arange(run.rates.size), run.rates, color=colour_of(run.name), linewidth=1.4, label=title_of(run.name))


def _draw_errors(ax: Axes, run: ScheduleRun) -> None:
    risk = run.exact.excess_risk[1:]
    for name, line, width in ((PRINTED, "dashed", 1.2), ("modes", "dotted", 1.6)):
        fit = run.fits[name]
        error = fit.predicted[fit.used] / risk[fit.used] - 1.0
        ax.plot(fit.step[fit.used], error, color=colour_of(run.name), linestyle=line, linewidth=width)


def _key(line: Any, colour: str, **style: Any) -> Any:
    return line([], [], color=colour, **{"linewidth": 1.6, **style})


def _setting(dynamics: LossDynamics) -> str:
    model = dynamics.problem.model
    return rf"$M = N = {model.size:g}$, $\sigma^2 = {model.noise:g}$, peak rate {dynamics.peak:g}, batch size 1"


def _title(dynamics: LossDynamics) -> str:
    return rf"$s = {dynamics.problem.model.s:g}$, $\beta = {dynamics.problem.model.beta:g}$, {_setting(dynamics)}"
