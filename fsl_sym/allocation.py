"""Law and budget in, optimal hyperparameters out: the derived Table 1 of the paper, and that of every schedule.

>>> allocation = optimal_allocation("exp-decay", "data")
>>> [regime.name for regime in allocation.regimes]
['easy', 'edge', 'hard']
>>> allocation.at(s="1/2", beta=4).quantities["excess_risk"].lower
Order(power=-1/2, log_power=1/2)
>>> for regime in optimal_allocation("linear", "data").regimes[::3]:
...     print(f"{regime.name}: {regime.excess_risk.as_text(D)}")
easy, beta < 2: D^(-beta*s/(beta*s + 1))
easy, beta = 2: D^(-2*s/(2*s + 1)) (log D)^(2*s/(2*s + 1))
easy, beta > 2: D^(-2*s/(2*s + 1))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Final

from sympy import Symbol

from fsl_sym.algebra.printing import latex
from fsl_sym.allocation_derivation import allocation_derivations
from fsl_sym.domain import Regime, regime_of
from fsl_sym.exponents.certificate import proves
from fsl_sym.exponents.solve import ExponentSolution, Region, optimal_exponents
from fsl_sym.laws import BUDGETS, FINAL_OVER_PEAK, SCHEDULES, TIMESCALE_FRACTION, ScalingLaw, scaling_law
from fsl_sym.order import Order, OrderRange
from fsl_sym.power_regimes import PowerRegime, Side
from fsl_sym.proof import Derivation
from fsl_sym.schedules import Schedule
from fsl_sym.schedules.own import as_schedule
from fsl_sym.symbols import B, D, K, M, N, beta, gamma, p, r, s
from fsl_sym.values import FrozenMapping, entries, exact, fields_only, flag, instance_of, letter

QUANTITIES: Final = MappingProxyType(
    {
        "peak_lr": gamma,
        "model_size": M,
        "data_size": D,
        "decay_fraction": r,
        "final_over_peak": FINAL_OVER_PEAK,
        "timescale_fraction": TIMESCALE_FRACTION,
        "steps": K,
        "batch_size": B,
    }
)
"""Name of a quantity -> its symbol; peak_lr is the effective one, learning rate over batch size."""


@dataclass(frozen=True, repr=False)
class AllocationRegime:
    """The optimal allocation in one regime: name, condition on (s, beta), and the order or range of every quantity.

    >>> edge = optimal_allocation("wsd", "data").regime("edge")
    >>> edge, edge.excess_risk.log_power
    (<AllocationRegime edge: Eq(s, 1 - 1/beta)>, (beta - 1)**2/beta**2)
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

    def as_text(self, base: Symbol) -> str:
        """The name, the condition and every quantity as plain text, a line each, in powers of ``base``.

        >>> print(optimal_allocation("constant", "data").at(s="1/2", beta=2).as_text(D))
        edge: Eq(s, 1 - 1/beta)
          excess_risk: D^(-1/3)
          peak_lr: D^(-1/3)
          model_size: at least D^(1/3)
          data_size: D
          steps: from D^(2/3) to D
          batch_size: from 1 to D^(1/3)
        """
        letter("base", base)
        lines = [f"  {name}: {orders.as_text(base)}" for name, orders in self.quantities.items()]
        return "\n".join([f"{self.name}: {self.condition}", *lines])

    def __repr__(self) -> str:
        return f"<AllocationRegime {self.name}: {self.condition}>"

    def __str__(self) -> str:
        return self.as_text(Symbol("budget"))

    def _repr_latex_(self) -> str:
        return _array((self,), N)


@dataclass(frozen=True, repr=False)
class Allocation:
    """The optimal allocation of one schedule under one budget, in the regimes easy, edge and hard.

    A schedule whose rate vanishes like a power has these three on each side of its resonance, named for example
    "easy, beta > 2". ``base`` is the symbol of the budget (D or C) whose powers the orders are; ``solutions`` are the
    engine's answers, one a case of the law, with their regions and certificates, in which the stable fraction appears
    as well.

    >>> allocation = optimal_allocation("constant", "compute")
    >>> allocation.base, allocation.regimes[0].quantities["model_size"].lower.power
    (C, 1/(beta*s + beta + 1))
    >>> allocation.at(s="1/2", beta=4).name, str(allocation.regime("edge").condition)
    ('hard', 'Eq(s, 1 - 1/beta)')
    """

    schedule: str
    budget: str
    base: Symbol
    law: ScalingLaw
    regimes: tuple[AllocationRegime, ...]
    solutions: tuple[ExponentSolution, ...]

    __getstate__ = fields_only

    def regime(self, name: str) -> AllocationRegime:
        """The regime called ``name``; ValueError for another name."""
        instance_of("name", name, str)
        for regime in self.regimes:
            if regime.name == name:
                return regime
        raise ValueError(f"unknown regime {name!r}: there are {', '.join(regime.name for regime in self.regimes)}")

    @property
    def solution(self) -> ExponentSolution:
        """The engine's answer where the law has one case; ValueError where it has several."""
        if len(self.solutions) > 1:
            raise ValueError(f"the law of {self.schedule!r} has {len(self.solutions)} cases: take one of the solutions")
        return self.solutions[0]

    @cached_property
    def derivations(self) -> tuple[Derivation, ...]:
        """From the noise integral through the law to the optimum of every regime, each a theorem of its own.

        An optimum for which no single certificate holds all over its regime has none.
        """
        grown = _grown(self.base)
        derivations: list[Derivation] = []
        for law, solution in zip(self.law.cases, self.solutions, strict=True):
            homes = [(regime, _region_of(solution, regime)) for regime in law.regimes]
            optima = [
                (regime, home) for regime, home in homes if any(proves(x, regime.sign_of) for x in home.certificates)
            ]
            derivations += allocation_derivations(law, grown, optima)
        return tuple(dict.fromkeys(derivations))

    def at(self, s: Any, beta: Any, p: Any = None) -> AllocationRegime:
        """The allocation at an exact point, with numbers for exponents.

        Parameters
        ----------
        s
            Relative task difficulty, a positive rational (integer, Fraction, sympy Rational or a string "1/2").
        beta
            Capacity exponent, a rational above 1.
        p
            The power of "power-decay", a positive rational; not for other schedules.

        Raises
        ------
        TypeError
            For a float: the edge s = 1 - 1/beta needs exactness.
        ValueError
            Outside s > 0, beta > 1, and where p is missing or given in vain.
        """
        point = {_S: exact(s), _BETA: exact(beta)}
        regime_of(point[_S], point[_BETA])  # refuses what is outside the plane
        free = any(isinstance(law.side, Side) and law.side.power == _P for law in self.law.cases)
        if free != (p is not None):
            raise ValueError(
                f"the power p of {self.schedule!r} is {'a symbol: give its value' if free else 'no symbol: leave it'}"
            )
        if free:
            point[_P] = exact(p)
            if point[_P] <= 0:
                raise ValueError(f"p = {p} is not positive: for p = 0 the schedule is 'constant'")
        regimes: list[Any] = [regime for law in self.law.cases for regime in law.regimes]
        places = [place for place, regime in enumerate(regimes) if regime.contains(*point.values())]
        assert len(places) == 1, f"{point} lies in {len(places)} regimes"
        regime = self.regimes[places[0]]
        return AllocationRegime(
            regime.name, regime.condition, {name: orders.subs(point) for name, orders in regime.quantities.items()}
        )

    def __repr__(self) -> str:
        return f"<Allocation of the {self.schedule} schedule, {self.budget} given>"

    def __str__(self) -> str:
        head = f"{self.schedule} schedule, {self.budget} given: growth with the budget {self.base}, up to constants"
        return "\n".join([head, *(regime.as_text(self.base) for regime in self.regimes)])

    def _repr_latex_(self) -> str:
        return _array(self.regimes, self.base)


def _array(regimes: Sequence[AllocationRegime], base: Symbol) -> str:
    """A row a regime, a column a quantity; one row where the regimes do not differ."""
    names = list(regimes[0].quantities)
    head = " & ".join([r"\text{regime}", *(_heading(name) for name in names)])
    cells = [[regime.quantities[name].as_latex(base) for name in names] for regime in regimes]
    titles = [rf"\text{{{regime.name}: }} {latex(regime.condition)}" for regime in regimes]
    if len(regimes) > 1 and all(row == cells[0] for row in cells):
        titles, cells = [r"\text{every } s, \beta"], cells[:1]
    rows = [" & ".join([title, *row]) for title, row in zip(titles, cells, strict=True)]
    columns = "l" * (1 + len(names))
    return rf"$\begin{{array}}{{{columns}}}{head} \\ \hline " + r" \\[4pt] ".join(rows) + r"\end{array}$"


def _heading(name: str) -> str:
    words = rf"\text{{{name.replace('_lr', ' rate').replace('_', ' ')}}}"
    return rf"{words}\ {latex(QUANTITIES[name])}" if name in QUANTITIES else words


_S, _BETA, _P = s, beta, p


def optimal_allocation(schedule: str | Schedule, budget: str, *, free_final: bool = False) -> Allocation:
    """Minimise a schedule's scaling law under a data or a compute budget.

    Source: table labelled tab: optimal-scaling, and the theorems from which it is made.

    Parameters
    ----------
    schedule
        A name of the catalogue, or a schedule of one's own.
    budget
        "data" (D = B K given) or "compute" (C = M D given).
    free_final
        For "exp-decay" and "wsd", choose the last rate, too; by default it is the peak rate over K.

    Returns
    -------
    Allocation
        The orders of excess risk, effective peak learning rate, model size, data size, number of steps, batch size and
        where there are two phases decay fraction in each regime; a quantity whose optimum is not a point is a range.
        On an edge, its s is substituted. Without ``free_final`` only "multi-step" chooses its final rate; only
        "inverse-sqrt" chooses its timescale.

    Raises
    ------
    ValueError
        For an unknown schedule or budget.

    Notes
    -----
    For "constant", "exp-decay" and "wsd" this is the section "Learning Rate Schedules Impact Scaling Efficiency" and
    Table 1, derived and not copied.

    Examples
    --------
    >>> optimal_allocation("wsd", "data").at(s="1/2", beta=4).quantities["decay_fraction"].lower
    Order(power=-1/3, log_power=1)
    >>> optimal_allocation("cosine-to-zero", "compute").at(s="1/2", beta=4).excess_risk
    Order(power=-2/5, log_power=0)
    """
    instance_of("budget", budget, str)
    if budget not in BUDGETS:
        raise ValueError(f"unknown budget {budget!r}: choose {' or '.join(BUDGETS)}")
    return _allocation(as_schedule(schedule), budget, flag("free_final", free_final))


@cache
def _allocation(plan: Schedule, budget: str, free_final: bool) -> Allocation:
    law, base = scaling_law(plan, free_final=free_final), BUDGETS[budget]
    grown = _grown(base)
    solutions, regimes = [], []
    for case in law.cases:
        where = {} if case.side is None else case.side.where
        loss = case.in_hyperparameters(grown).subs(where)
        solution = optimal_exponents(loss, case.variables, grown, case.constraints(grown), dict(case.ranges))
        solutions.append(solution)
        regimes += [_regime(solution, regime) for regime in case.regimes]
    return Allocation(plan.name, budget, base, law, tuple(regimes), tuple(solutions))


def _grown(base: Symbol) -> Symbol:
    """The symbol that grows in the law: under a data budget D is a variable tied to it, and it is called N."""
    return N if base == D else base


def _regime(solution: ExponentSolution, regime: Regime | PowerRegime) -> AllocationRegime:
    region = _region_of(solution, regime)
    on_edge = dict(regime.edge) if regime.sign == 0 and region.conditions else {}
    steps = ({}, on_edge) if isinstance(regime, Regime) else (regime.side.back, on_edge)

    def simplified(orders: OrderRange) -> OrderRange:
        for values in steps:
            orders = orders.subs(values) if values else orders
        return OrderRange(*(None if end is None else end.factored() for end in (orders.lower, orders.upper)))

    quantities = {"excess_risk": simplified(OrderRange(region.loss, region.loss))}
    for name, symbol in QUANTITIES.items():
        if symbol in region.variables:
            quantities[name] = simplified(region.variables[symbol])
    return AllocationRegime(regime.name, regime.condition, quantities)


def _region_of(solution: ExponentSolution, regime: Regime | PowerRegime) -> Region:
    """The one region of the engine that holds the whole regime; AssertionError if the regime is cut."""
    points = regime.points(6)
    homes = [region for region in solution.regions if all(region.contains(point) for point in points)]
    assert len(homes) == 1, (
        f"the regime {regime.name} is cut by the regions {[region.condition for region in solution.regions]}"
    )
    return homes[0]


def table(schedules: Iterable[str | Schedule] = SCHEDULES) -> tuple[tuple[Allocation, Allocation], ...]:
    """Table 1: for each schedule the data-optimal and the compute-optimal allocation.

    Source: table labelled tab: optimal-scaling.

    Parameters
    ----------
    schedules
        Names of the catalogue or schedules of one's own; the paper's three by default.

    Examples
    --------
    >>> [data.schedule for data, compute in table()]
    ['constant', 'exp-decay', 'wsd']
    """
    return tuple(
        (optimal_allocation(schedule, "data"), optimal_allocation(schedule, "compute"))
        for schedule in entries("schedules", schedules)
    )
