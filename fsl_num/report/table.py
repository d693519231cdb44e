"""Table 1 of the paper, from allocations: the optimal excess risk of each schedule, budget and regime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import latex

from fsl_num.report.grid import Grid
from fsl_num.report.orders import condition_text, order_range_json
from fsl_sym.allocation import Allocation, AllocationRegime, order_range_latex

Row = tuple[Allocation, Allocation]
"""One schedule: its data-optimal and its compute-optimal allocation."""


def table(rows: Sequence[Row], form: str) -> str:
    """The table as ``text``, ``markdown`` or ``latex``.

    Raises ValueError for another form.
    """
    if form == "text":
        return _long(rows).text(120)
    if form == "markdown":
        return _paired(rows).markdown()
    if form == "latex":
        return _paired(rows).latex()
    raise ValueError(f"a table is 'text', 'markdown' or 'latex', not {form!r}")


def table_json(rows: Sequence[Row]) -> dict[str, Any]:
    """The table as JSON-ready values, one entry a schedule, budget and regime."""
    entries = [
        {
            "schedule": allocation.schedule,
            "budget": allocation.budget,
            "regime": regime.name,
            "condition": str(regime.condition),
            "excess_risk": order_range_json(regime.quantities["excess_risk"]),
        }
        for row in rows
        for allocation in row
        for regime in allocation.regimes
    ]
    return {"rows": entries}


def _long(rows: Sequence[Row]) -> Grid:
    """One line a formula: on a terminal two of them do not fit beside each other."""
    cells = tuple(
        (
            allocation.schedule,
            allocation.budget,
            regime.name,
            condition_text(regime.condition),
            regime.quantities["excess_risk"].as_text(allocation.base),
        )
        for row in rows
        for allocation in row
        for regime in allocation.regimes
    )
    return Grid(("schedule", "budget", "regime", "condition", "excess risk"), cells)


def _paired(rows: Sequence[Row]) -> Grid:
    """The paper's layout: the two budgets side by side, and its schedules and regimes below each other."""
    cells = tuple(
        (data.schedule, f"{regime.name}: ${latex(regime.condition)}$", _risk(data, regime), _risk(compute, other))
        for data, compute in rows
        for regime, other in zip(data.regimes, compute.regimes, strict=True)
        if _same_regime(regime, other)
    )
    return Grid(("schedule", "regime", "data-optimal", "compute-optimal"), cells)


def _risk(allocation: Allocation, regime: AllocationRegime) -> str:
    return f"${order_range_latex(regime.quantities['excess_risk'], allocation.base)}$"


def _same_regime(left: AllocationRegime, right: AllocationRegime) -> bool:
    if left.name != right.name:
        raise ValueError(f"the budgets have different regimes, {left.name!r} and {right.name!r}: use the text table")
    return True
