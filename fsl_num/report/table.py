"""Table 1 of the paper, from allocations: the optimal excess risk of each schedule, budget and regime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fsl_num.report.allocations import condition_latex
from fsl_num.report.grid import Grid
from fsl_num.report.growth import growth_json, growth_latex, growth_text

HEADINGS = ("schedule", "budget", "regime", "condition", "excess risk")


def table(allocations: Sequence[Any], form: str) -> str:
    """The table as ``text``, ``markdown`` or ``latex``, one row a regime."""
    if form == "text":
        return Grid(HEADINGS, _rows(allocations, str, growth_text)).text(120)
    if form == "markdown":
        return Grid(HEADINGS, _rows(allocations, _dollars(condition_latex), _dollars(growth_latex))).markdown()
    if form == "latex":
        return Grid(HEADINGS, _rows(allocations, _dollars(condition_latex), _dollars(growth_latex))).latex()
    raise ValueError(f"a table is 'text', 'markdown' or 'latex', not {form!r}")


def table_json(allocations: Sequence[Any]) -> dict[str, Any]:
    """The table as JSON-ready values."""
    rows = [
        {
            "schedule": allocation.schedule,
            "budget": allocation.budget,
            "regime": regime.name,
            "condition": str(regime.condition),
            "excess_risk": growth_json(regime.quantities["excess_risk"]),
        }
        for allocation in allocations
        for regime in allocation.regimes
    ]
    return {"rows": rows}


def _rows(
    allocations: Sequence[Any], condition: Callable[[Any], str], growth: Callable[[Any, str], str]
) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            allocation.schedule,
            allocation.budget,
            regime.name,
            condition(regime.condition),
            growth(regime.quantities["excess_risk"], allocation.base),
        )
        for allocation in allocations
        for regime in allocation.regimes
    )


def _dollars(write: Callable[..., str]) -> Callable[..., str]:
    return lambda *arguments: f"${write(*arguments)}$"
