"""What to train next, as text, as JSON and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from fsl_num.curves.pictures import as_drawn
from fsl_num.report.tables import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fsl_num.curves.next_run import NextRun

_SHOWN = 20  # candidates on a terminal and in a picture


def next_run_text(found: NextRun) -> list[Any]:
    """The proposal, and the candidates that leave the narrowest intervals."""
    rows = [
        (
            row["name"],
            f"{row['peak_lr']:.4g}",
            f"+-{100 * row['half_width']:.2g} %",
            f"{100 * row['learnt']:.0f} %",
            f"{1e6 * row['gain_per_step']:.3g}",
        )
        for row in found.as_rows()[:_SHOWN]
    ]
    head = ("next run", "peak lr", "interval after it", "parameters learnt", "gain (1e-6 a step)")
    more = len(found.candidates) - len(rows)
    parts: list[Any] = [Text(found.sentence), "", table(head, rows, right=range(1, 5))]
    return [*parts, f"and {more} more that leave wider intervals"] if more > 0 else parts


def next_run_json(found: NextRun) -> dict[str, Any]:
    """The candidates as JSON-ready values, the narrowest interval first."""
    return {
        "proposed": found.proposed.name,
        "sentence": found.sentence,
        "before": found.before,
        "level": found.level,
        "candidates": found.as_rows(),
    }


def next_run_figure(found: NextRun) -> Figure:
    """Draw the half-width that each candidate leaves against its updates, and the learning rates of the proposed."""
    from fsl_num.report.plots import new_figure

    figure = new_figure((7.6, 3.6))
    left, right = figure.subplots(1, 2)
    for each in found.candidates:
        colour = "#c0504d" if each is found.proposed else "#1f5f8b"
        left.plot([each.cost], [100 * each.half_width], "o", color=colour, alpha=0.8, markersize=5)
    left.axhline(100 * found.before, color="0.5", linewidth=1.0, linestyle="--", label="now")
    left.set_xlabel("updates of the next run")
    left.set_ylabel("half-width of the interval, %")
    left.set_ylim(bottom=0.0)
    left.legend(frameon=False)
    for plan in found.targets:
        right.plot(plan.rates, color="0.6", linewidth=1.2)
    right.plot(found.proposed.plan.rates, color="#c0504d", linewidth=1.6)
    right.set_xlabel("update")
    right.set_ylabel("learning rate (grey: target)")
    right.set_title(as_drawn(found.proposed.name), fontsize=9)
    return figure
