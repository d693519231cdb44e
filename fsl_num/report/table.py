"""Table 1 of the paper, from allocations: the optimal excess risk of each schedule, budget and regime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from rich.table import Table

from fsl_num.report.allocations import condition_text, order_range_json
from fsl_num.report.tables import latex_table, markdown_table, table
from fsl_sym.algebra.printing import latex
from fsl_sym.allocation import Allocation, AllocationRegime

Row = tuple[Allocation, Allocation]
"""One schedule: its data-optimal and its compute-optimal allocation."""


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


def long_table(rows: Sequence[Row]) -> Table:
    """One line a formula: on a terminal two of them do not fit beside each other."""
    cells = [
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
    ]
    return table(("schedule", "budget", "regime", "condition", "excess risk"), cells)


def paired(rows: Sequence[Row]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The paper's layout: the two budgets side by side, and its schedules and regimes below each other."""
    cells: list[tuple[str, ...]] = [
        (data.schedule, f"{_task(regime)}: ${latex(regime.condition)}$", _risk(data, regime), _risk(compute, opposite))
        for data, compute in rows
        for regime, opposite in zip(data.regimes, compute.regimes, strict=True)
        if _same_regime(regime, opposite)
    ]
    return ("schedule", "regime", "data-optimal", "compute-optimal"), cells


def _task(regime: AllocationRegime) -> str:
    """Its name without the capacities, which its condition says."""
    return regime.name.partition(",")[0]


def _risk(allocation: Allocation, regime: AllocationRegime) -> str:
    return f"${regime.quantities['excess_risk'].as_latex(allocation.base)}$"


def _same_regime(left: AllocationRegime, right: AllocationRegime) -> bool:
    if left.name != right.name:
        raise ValueError(f"the budgets have different regimes, {left.name!r} and {right.name!r}: use the text table")
    return True


FORMATS: Final[Mapping[str, Callable[[Sequence[Row]], Any]]] = MappingProxyType(
    {
        "text": long_table,
        "markdown": lambda rows: markdown_table(*paired(rows)),
        "latex": lambda rows: latex_table(*paired(rows)),
    }
)
"""Name of a format -> what makes the table in it."""
