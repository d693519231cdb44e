"""An optimal allocation as text, LaTeX and JSON: every quantity in every regime, and the derivation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from sympy import And, Eq

from fsl_num.report.tables import latex_table, table
from fsl_sym.algebra.printing import latex
from fsl_sym.allocation import Allocation, AllocationRegime
from fsl_sym.order import OrderRange
from fsl_sym.proof import Derivation

LABELS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "excess_risk": ("excess risk", r"\mathcal{E}"),
        "peak_lr": ("effective peak learning rate", r"\gamma"),
        "model_size": ("model size", "M"),
        "data_size": ("data size", "D"),
        "decay_fraction": ("decay fraction", "r"),
        "final_over_peak": ("final over peak rate", r"\rho"),
        "timescale_fraction": ("timescale over steps", r"\kappa"),
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


def allocation_text(allocation: Allocation, regimes: Sequence[AllocationRegime]) -> list[Any]:
    """The allocation in the given regimes, one block a regime."""
    base = allocation.base
    parts: list[Any] = [
        f"{allocation.schedule} schedule, {allocation.budget}-optimal: growth with the budget {base}, up to constants"
    ]
    for regime in regimes:
        rows = [(LABELS[name][0], regime.quantities[name].as_text(base)) for name in _names(regime)]
        parts += ["", f"{regime.name}: {condition_text(regime.condition)}", table(("quantity", "grows as"), rows)]
    return parts


def allocation_latex(allocation: Allocation, regimes: Sequence[AllocationRegime]) -> str:
    """The allocation in the given regimes as one LaTeX table."""
    rows = tuple(
        (
            f"{regime.name}: ${latex(regime.condition)}$" if first else "",
            f"{LABELS[name][0]} ${LABELS[name][1]}$",
            f"${regime.quantities[name].as_latex(allocation.base)}$",
        )
        for regime in regimes
        for first, name in zip([True] + [False] * len(LABELS), _names(regime), strict=False)
    )
    return latex_table(("regime", "quantity", "growth"), rows)


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
        "conclusion": str(derivation.conclusion),
        "hypotheses": [str(hypothesis) for hypothesis in derivation.hypotheses],
        "verified": verdict.holds,
        "steps": [
            {
                "before": str(step.before),
                "relation": step.relation,
                "after": str(step.after),
                "rule": type(step.rule).__name__,
                "why": step.why,
                "verified": checked.holds,
            }
            for step, checked in zip(derivation, verdict.steps, strict=True)
        ],
    }


def derivation_text(derivation: Derivation) -> str:
    """A derivation as text, with what the verification of its steps found."""
    verdict = derivation.verify()
    return f"{derivation}\n\n{len(verdict.steps)} steps verified: {verdict.detail}"


def order_range_json(orders: OrderRange) -> dict[str, Any]:
    """An order as ``{"power", "log_power"}``, a range as ``{"lower", "upper"}``, None where nothing bounds it.

    Powers are strings that sympy parses.

    >>> from fsl_sym.order import Order
    >>> order_range_json(OrderRange(None, Order(1)))
    {'lower': None, 'upper': {'power': '1', 'log_power': '0'}}
    """
    lower, upper = (
        None if end is None else {"power": str(end.power), "log_power": str(end.log_power)}
        for end in (orders.lower, orders.upper)
    )
    return lower if orders.is_point and lower is not None else {"lower": lower, "upper": upper}


def condition_text(condition: Any) -> str:
    """A condition on the parameters as a person writes it.

    >>> from fsl_sym.symbols import beta, s
    >>> condition_text(Eq(s, 1 - 1 / beta)), condition_text(And(s > 1, beta < 3))
    ('s = 1 - 1/beta', 'beta < 3 and s > 1')
    """
    if isinstance(condition, And):
        return " and ".join(sorted(condition_text(part) for part in condition.args))
    if isinstance(condition, Eq):
        return f"{condition.lhs} = {condition.rhs}"
    return str(condition)
