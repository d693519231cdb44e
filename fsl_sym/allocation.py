"""Law and budget in, optimal hyperparameters out: the derived Table 1 of the paper.

>>> allocation = optimal_allocation("exp-decay", "data")
>>> [regime.name for regime in allocation.regimes]
['easy', 'edge', 'hard']
>>> allocation.at(s="1/2", beta=4).quantities["excess_risk"].lower
Order(power=-1/2, log_power=1/2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Final

from sympy import Symbol, factor

from fsl_sym.algebra.printing import latex
from fsl_sym.allocation_derivation import allocation_derivations
from fsl_sym.domain import REGIMES, Regime, regime_of
from fsl_sym.exponents.solve import ExponentSolution, Region, optimal_exponents
from fsl_sym.laws import BUDGETS, SCHEDULES, ScalingLaw, scaling_law
from fsl_sym.order import Order, OrderRange
from fsl_sym.proof import Derivation
from fsl_sym.symbols import RANGES, B, D, K, M, N, beta, gamma, r, s
from fsl_sym.values import FrozenMapping, exact, fields_only

QUANTITIES: Final = MappingProxyType(
    {"peak_lr": gamma, "model_size": M, "data_size": D, "decay_fraction": r, "steps": K, "batch_size": B}
)
"""Name of a quantity -> its symbol; peak_lr is the effective one, learning rate over batch size."""

EDGE_POINT: Final = MappingProxyType({s: 1 - 1 / beta})


@dataclass(frozen=True)
class AllocationRegime:
    """The optimal allocation in one regime: name, condition on (s, beta), and the order or range of every quantity.

    >>> optimal_allocation("wsd", "data").regime("edge").excess_risk.log_power
    (beta - 1)**2/beta**2
    """

    name: str
    condition: Any
    quantities: Mapping[str, OrderRange]

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantities", FrozenMapping(self.quantities))

    @property
    def excess_risk(self) -> Order:
        """The order of the least excess risk."""
        return self.quantities["excess_risk"].order


@dataclass(frozen=True, repr=False)
class Allocation:
    """The optimal allocation of one schedule under one budget, in the regimes easy, edge and hard.

    ``base`` is the symbol of the budget (D or C) whose powers the orders are; ``solution`` is the engine's answer with
    its regions and certificates, in which the stable fraction appears as well.

    >>> allocation = optimal_allocation("constant", "compute")
    >>> allocation.base, allocation.regimes[0].quantities["model_size"].lower.power
    (C, 1/(beta*s + beta + 1))
    """

    schedule: str
    budget: str
    base: Symbol
    law: ScalingLaw
    regimes: tuple[AllocationRegime, ...]
    solution: ExponentSolution

    __getstate__ = fields_only

    def regime(self, name: str) -> AllocationRegime:
        """The regime called ``name``; ValueError for another name."""
        for each in self.regimes:
            if each.name == name:
                return each
        raise ValueError(f"unknown regime {name!r}: there are {', '.join(each.name for each in self.regimes)}")

    @cached_property
    def derivations(self) -> tuple[Derivation, ...]:
        """From the noise integral through the law to the optimum of every regime, each a theorem of its own."""
        optima = [(each, _region_of(self.solution, each)) for each in REGIMES]
        return allocation_derivations(self.law, _grown(self.base), optima)

    def at(self, s: Any, beta: Any) -> AllocationRegime:
        """The allocation at an exact point, with numbers for exponents.

        Args:
            s: relative task difficulty, a positive rational (integer, Fraction, sympy Rational or a string "1/2").
            beta: capacity exponent, a rational above 1.

        Raises TypeError for a float (the edge s = 1 - 1/beta needs exactness), ValueError outside s > 0, beta > 1.
        """
        point = {_S: exact(s), _BETA: exact(beta)}
        regime = regime_of(point[_S], point[_BETA])
        found = self.regime(regime.name)
        return AllocationRegime(
            found.name, found.condition, {name: each.subs(point) for name, each in found.quantities.items()}
        )

    def __repr__(self) -> str:
        return f"<Allocation of the {self.schedule} schedule, {self.budget} given>"

    def _repr_latex_(self) -> str:
        names = list(self.regimes[0].quantities)
        head = " & ".join([r"\text{regime}", *(_heading(name) for name in names)])
        cells = [[regime.quantities[name].as_latex(self.base) for name in names] for regime in self.regimes]
        titles = [rf"\text{{{regime.name}: }} {latex(regime.condition)}" for regime in self.regimes]
        if all(row == cells[0] for row in cells):
            titles, cells = [r"\text{every } s, \beta"], cells[:1]
        rows = [" & ".join([title, *row]) for title, row in zip(titles, cells, strict=True)]
        columns = "l" * (1 + len(names))
        return rf"$\begin{{array}}{{{columns}}}{head} \\ \hline " + r" \\[4pt] ".join(rows) + r"\end{array}$"


def _heading(name: str) -> str:
    words = rf"\text{{{name.replace('_lr', ' rate').replace('_', ' ')}}}"
    return rf"{words}\ {latex(QUANTITIES[name])}" if name in QUANTITIES else words


_S, _BETA = s, beta


@cache
def optimal_allocation(schedule: str, budget: str) -> Allocation:
    """Minimise a schedule's scaling law under a data or a compute budget.

    Args:
        schedule: "constant", "exp-decay" or "wsd".
        budget: "data" (D = B K given) or "compute" (C = M D given).

    Returns:
        The orders of excess risk, effective peak learning rate, model size, data size, (for wsd) decay fraction,
        number of steps and batch size in each regime; a quantity whose optimum is not a point is a range. On the edge,
        s = 1 - 1/beta is substituted.

    Source: Section "Learning Rate Schedules Impact Scaling Efficiency" and Table 1, derived and not copied.
    Raises ValueError for an unknown schedule or budget.

    >>> optimal_allocation("wsd", "data").at(s="1/2", beta=4).quantities["decay_fraction"].lower
    Order(power=-1/3, log_power=1)
    """
    law = scaling_law(schedule)
    if budget not in BUDGETS:
        raise ValueError(f"unknown budget {budget!r}: choose {' or '.join(BUDGETS)}")
    base = BUDGETS[budget]
    grown = _grown(base)
    loss, constraints = law.in_hyperparameters(grown), law.constraints(grown)
    solution = optimal_exponents(loss, law.variables, grown, constraints, dict(RANGES))
    regimes = tuple(_regime(solution, regime) for regime in REGIMES)
    return Allocation(schedule, budget, base, law, regimes, solution)


def _grown(base: Symbol) -> Symbol:
    """The symbol that grows in the law: under a data budget D is a variable tied to it, and it is called N."""
    return N if base == D else base


def _regime(solution: ExponentSolution, regime: Regime) -> AllocationRegime:
    region = _region_of(solution, regime)
    values: dict[Any, Any] = dict(EDGE_POINT) if regime.sign == 0 and region.conditions else {}

    def simplified(each: OrderRange) -> OrderRange:
        ends = (None if end is None else end.subs(values) for end in (each.lower, each.upper))
        return OrderRange(*(None if end is None else Order(factor(end.power), factor(end.log_power)) for end in ends))

    quantities = {"excess_risk": simplified(OrderRange(region.loss, region.loss))}
    for name, symbol in QUANTITIES.items():
        if symbol in region.variables:
            quantities[name] = simplified(region.variables[symbol])
    return AllocationRegime(regime.name, regime.condition, quantities)


def _region_of(solution: ExponentSolution, regime: Regime) -> Region:
    """The one region of the engine that holds the whole regime; AssertionError if the regime is cut."""
    points = [{s: s_value, beta: beta_value} for s_value, beta_value in regime.samples(6)]
    homes = [region for region in solution.regions if all(region.contains(point) for point in points)]
    assert len(homes) == 1, (
        f"the regime {regime.name} is cut by the regions {[each.condition for each in solution.regions]}"
    )
    return homes[0]


def table() -> tuple[tuple[Allocation, Allocation], ...]:
    """Table 1: for each schedule the data-optimal and the compute-optimal allocation.

    >>> [data.schedule for data, compute in table()]
    ['constant', 'exp-decay', 'wsd']
    """
    return tuple(
        (optimal_allocation(schedule, "data"), optimal_allocation(schedule, "compute")) for schedule in SCHEDULES
    )
