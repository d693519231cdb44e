"""An optimal allocation as text, LaTeX and JSON: every quantity in every regime, and the derivation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from sympy import latex

from fsl_num.report.grid import Grid
from fsl_num.report.orders import condition_text, order_range_json
from fsl_sym.allocation import Allocation, AllocationRegime, order_range_latex
from fsl_sym.derivation import Derivation

LABELS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "excess_risk": ("excess risk", r"\mathcal{E}"),
        "peak_lr": ("effective peak learning rate", r"\gamma"),
        "model_size": ("model size", "M"),
        "data_size": ("data size", "D"),
        "decay_fraction": ("decay fraction", "r"),
        "steps": ("number of steps", "K"),
        "batch_size": ("batch size", "B"),
    }
)
"""Name of a quantity -> what it is called, and its symbol in LaTeX; also the order in which they are shown."""


def allocation_json(allocation: Allocation, regimes: Sequence[AllocationRegime]) -> dict[str, Any]:
    """The allocation in the given regimes (all of its own, or the one at a point) as JSON-ready values."""
    return {
        "schedule": allocation.schedule,
        "budget": allocation.budget,
        "regimes": [
            {
                "name": regime.name,
                "condition": str(regime.condition),
                "quantities": {name: order_range_json(regime.quantities[name]) for name in _names(regime)},
            }
            for regime in regimes
        ],
    }


def allocation_text(allocation: Allocation, regimes: Sequence[AllocationRegime]) -> str:
    """The allocation in the given regimes as text, one block a regime."""
    base = allocation.base
    blocks = [
        f"{allocation.schedule} schedule, {allocation.budget}-optimal: growth with the budget {base}, up to constants"
    ]
    for regime in regimes:
        rows = tuple((LABELS[name][0], regime.quantities[name].as_text(base)) for name in _names(regime))
        title = f"{regime.name}: {condition_text(regime.condition)}"
        blocks.append(f"{title}\n{Grid(('quantity', 'grows as'), rows).text(120)}")
    return "\n\n".join(blocks)


def allocation_latex(allocation: Allocation, regimes: Sequence[AllocationRegime]) -> str:
    """The allocation in the given regimes as one LaTeX table."""
    rows = tuple(
        (
            f"{regime.name}: ${latex(regime.condition)}$" if first else "",
            f"{LABELS[name][0]} ${LABELS[name][1]}$",
            f"${order_range_latex(regime.quantities[name], allocation.base)}$",
        )
        for regime in regimes
        for first, name in zip([True] + [False] * len(LABELS), _names(regime), strict=False)
    )
    return Grid(("regime", "quantity", "growth"), rows).latex()


def _names(regime: AllocationRegime) -> list[str]:
    unknown = sorted(set(regime.quantities) - set(LABELS))
    if unknown:
        raise ValueError(f"the regime {regime.name!r} has quantities that have no label: {', '.join(unknown)}")
    return [name for name in LABELS if name in regime.quantities]


def derivation_json(derivation: Derivation) -> dict[str, Any]:
    """A derivation as JSON-ready values: every step with its rule, its reason and whether the machine verified it."""
    verdict = derivation.verify()
    return {
        "name": derivation.name,
        "verified": verdict.holds,
        "steps": [
            {
                "before": str(step.before),
                "relation": step.relation,
                "after": str(step.after),
                "rule": step.rule,
                "why": step.why,
                "verified": each.holds,
            }
            for step, each in zip(derivation, verdict.steps, strict=True)
        ],
    }


def derivation_text(derivation: Derivation) -> str:
    """A derivation as text, with what the verification of its steps found."""
    verdict = derivation.verify()
    return f"{derivation}\n\n{len(verdict.steps)} steps verified: {verdict.detail}"
