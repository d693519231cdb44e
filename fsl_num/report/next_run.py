"""What to train next, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from fsl_num.report.tables import table
from fsl_num.results import percent

if TYPE_CHECKING:
    from fsl_num.curves.next_run import NextRun

_SHOWN = 20  # candidates on a terminal


def next_run_text(proposal: NextRun) -> list[Any]:
    """The proposal, and the candidates that leave the narrowest intervals."""
    rows = [
        (
            row["name"],
            f"{row['peak_lr']:.4g}",
            f"+-{percent(row['half_width'])}",
            f"{100 * row['learnt']:.0f} %",
            f"{1e6 * row['gain_per_step']:.3g}",
        )
        for row in proposal.as_rows()[:_SHOWN]
    ]
    head = ("next run", "peak lr", "interval after it", "parameters learnt", "gain (1e-6 a step)")
    unlisted = len(proposal.candidates) - len(rows)
    words = map(Text, (proposal.sentence, *proposal.extrapolated))
    parts: list[Any] = [*words, "", table(head, rows, right=range(1, 5))]
    return [*parts, f"and {unlisted} more that leave wider intervals"] if unlisted > 0 else parts


def next_run_json(proposal: NextRun) -> dict[str, Any]:
    """The candidates as JSON-ready values, the narrowest interval first."""
    return {
        "proposed": proposal.proposed.name,
        "sentence": proposal.sentence,
        "extrapolated": list(proposal.extrapolated),
        "before": proposal.before,
        "level": proposal.level,
        "candidates": proposal.as_rows(),
    }
