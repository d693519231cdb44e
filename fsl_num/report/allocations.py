"""An optimal allocation as text, LaTeX and JSON: every quantity in every regime, and the derivation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from sympy import latex

from fsl_num.report.grid import Grid
from fsl_num.report.growth import growth_json, growth_latex, growth_text

LABELS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "excess_risk": ("excess risk", r"\mathcal{E}"),
        "peak_lr": ("peak learning rate", r"\gamma"),
        "model_size": ("model size", "M"),
        "data_size": ("data size", "D"),
        "decay_fraction": ("decay fraction", "r"),
    }
)
"""Name of a quantity -> what it is called, and its symbol in LaTeX; also the order in which they are shown."""


def allocation_json(allocation: Any, regimes: Sequence[Any]) -> dict[str, Any]:
    """The allocation in the given regimes (all of its own, or the one at a point) as JSON-ready values."""
    return {
        "schedule": allocation.schedule,
        "budget": allocation.budget,
        "regimes": [
            {
                "name": regime.name,
                "condition": str(regime.condition),
                "quantities": {name: growth_json(regime.quantities[name]) for name in _names(regime)},
            }
            for regime in regimes
        ],
    }


def allocation_text(allocation: Any, regimes: Sequence[Any]) -> str:
    """The allocation in the given regimes as text, one block a regime."""
    base = allocation.base
    blocks = [
        f"{allocation.schedule} schedule, {allocation.budget}-optimal: growth with the budget {base}, up to constants"
    ]
    for regime in regimes:
        rows = tuple((LABELS[name][0], growth_text(regime.quantities[name], base)) for name in _names(regime))
        blocks.append(f"{regime.name}: {regime.condition}\n" + Grid(("quantity", "grows as"), rows).text(120))
    return "\n\n".join(blocks)


def allocation_latex(allocation: Any, regimes: Sequence[Any]) -> str:
    """The allocation in the given regimes as one LaTeX table."""
    if tuple(regimes) == tuple(allocation.regimes):
        return str(allocation._repr_latex_())
    base = allocation.base
    rows = tuple(
        (regime.name, rf"${LABELS[name][1]}$", f"${growth_latex(regime.quantities[name], base)}$")
        for regime in regimes
        for name in _names(regime)
    )
    return Grid(("regime", "quantity", "growth"), rows).latex()


def derivation_text(allocation: Any) -> str:
    """The steps of the allocation's derivation as text, each with its rule and its reason."""
    lines = [f"Derivation ({len(allocation.derivation.steps)} steps)"]
    for number, step in enumerate(allocation.derivation.steps, 1):
        lines += [f"{number}. {step.rule}: {step.why}", f"   {step.before}", f"   = {step.after}"]
    return "\n".join(lines)


def derivation_latex(allocation: Any) -> str:
    """The derivation as LaTeX."""
    return str(allocation.derivation._repr_latex_())


def condition_latex(condition: Any) -> str:
    r"""A regime's condition as LaTeX.

    >>> from sympy.abc import beta, s
    >>> condition_latex(s > 1 - 1 / beta)
    's > 1 - \\frac{1}{\\beta}'
    """
    return str(latex(condition))


def _names(regime: Any) -> list[str]:
    unknown = sorted(set(regime.quantities) - set(LABELS))
    if unknown:
        raise ValueError(f"the regime {regime.name!r} has quantities that have no label: {', '.join(unknown)}")
    return [name for name in LABELS if name in regime.quantities]
