"""The public face of the engine: give a law, get its optimal exponents region by region.

>>> from sympy import Eq, symbols
>>> M, D, C, a, b = symbols("M D C a b", positive=True)
>>> solution = optimal_exponents(M**-a + D**-b, [M, D], C, [Eq(M * D, C)], {a: (0, None), b: (0, None)})
>>> solution.regions[0].loss.power
-a*b/(a + b)
>>> solution.regions[0].variables[M].lower.power
b/(a + b)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any

from sympy import And, Eq, Ge, Gt, Le, Lt, Ne, Rational, Symbol, true
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from fsl_sym.algebra.printing import latex
from fsl_sym.domain import Domain
from fsl_sym.exponents.cells import Explorer
from fsl_sym.exponents.certificate import Certificate, certificate_of
from fsl_sym.exponents.clock import Clock, OutOfTime, Progress
from fsl_sym.exponents.law import Law
from fsl_sym.exponents.outcome import Formulas, Optimiser, Outcome
from fsl_sym.exponents.programme import ElementTriple
from fsl_sym.exponents.regions import Assembly, Patch
from fsl_sym.exponents.walls import ANY, Box, Point, Walls
from fsl_sym.order import Order, OrderRange
from fsl_sym.values import FrozenMapping, as_fraction, entries, exact, fields_only, instance_of

_RELATIONS = {(1,): Gt, (0,): Eq, (-1,): Lt, (0, 1): Ge, (-1, 0): Le, (-1, 1): Ne}


@dataclass(frozen=True)
class Region:
    """A region of the parameters in which one set of formulas holds.

    ``conditions`` are polynomial relations (none: everywhere), ``loss`` the growth of the optimal loss, ``variables``
    that of every variable, ``witness`` an exact point inside. At every point of the region at least one of the
    ``certificates`` holds. ``budget`` is what they grow with.

    >>> from sympy import Eq, symbols
    >>> x, N = symbols("x N", positive=True)
    >>> region = optimal_exponents(x + N / x, [x], N).regions[0]
    >>> region.condition, region.growth(N), region.contains({})
    (True, 'loss N^(1/2), x N^(1/2)', True)
    """

    conditions: tuple[Any, ...]
    loss: Order
    variables: Mapping[Symbol, OrderRange]
    witness: Mapping[Symbol, Rational]
    certificates: tuple[Certificate, ...] = field(repr=False)
    budget: Symbol = Symbol("N")

    def __post_init__(self) -> None:
        for name in ("variables", "witness"):
            object.__setattr__(self, name, FrozenMapping(getattr(self, name)))

    def __str__(self) -> str:
        """Where, and how fast the loss and every variable grow with the budget.

        >>> from sympy import Eq, symbols
        >>> M, D, C = symbols("M D C", positive=True)
        >>> print(optimal_exponents(1 / M + 1 / D, [M, D], C, [Eq(M * D, C)]).regions[0])
        everywhere: loss C^(-1/2), M C^(1/2), D C^(1/2)
        """
        return f"{_where(self.condition)}: {self.growth(self.budget)}"

    def growth(self, budget: Symbol) -> str:
        """How fast the loss and every variable grow with the budget, as text."""
        orders = [f"{name} {orders.as_text(budget)}" for name, orders in self.variables.items()]
        return ", ".join([f"loss {self.loss.as_text(budget)}", *orders])

    @property
    def condition(self) -> Any:
        """All conditions as one sympy relation."""
        return _together(self.conditions)

    @property
    def certificate(self) -> Certificate:
        """The proof on the region's first cell."""
        return self.certificates[0]

    def contains(self, point: Mapping[Symbol, Any]) -> bool:
        """Whether an exact point satisfies the conditions."""
        instance_of("point", point, Mapping)
        values = {symbol: exact(value) for symbol, value in point.items()}
        if missing := [str(symbol) for symbol in self.witness if symbol not in values]:
            raise ValueError(
                f"the point {dict(point)} gives no value to {', '.join(missing)} (symbols, not their names)"
            )
        return all(bool(condition.func(condition.lhs.subs(values), condition.rhs)) for condition in self.conditions)


@dataclass(frozen=True, repr=False)
class ExponentSolution:
    """The optimal exponents of a law.

    Every region is certified: at each of its points one of its certificates holds, and regions that overlap agree.
    ``unresolved`` are conditions on the parameters that between them hold wherever no region was certified: because
    the time was over, or because a box of signs was neither met by an exact point nor shown to be empty. Where there
    is nothing unresolved the regions cover the domain and the solution is ``complete``. :meth:`at` solves afresh at
    one exact point and needs no region. ``notes`` say what is odd about the law.

    >>> from sympy import symbols
    >>> x, N = symbols("x N", positive=True)
    >>> optimal_exponents(x + N / x, [x], N).at().loss.power
    1/2
    """

    law: Law
    regions: tuple[Region, ...]
    unresolved: tuple[Any, ...] = ()

    __getstate__ = fields_only

    @property
    def complete(self) -> bool:
        """Whether the regions are proved to cover the whole domain of the parameters."""
        return not self.unresolved

    @property
    def notes(self) -> tuple[str, ...]:
        """What is allowed, but hardly meant: a constant term in the loss, a variable taken for a constant."""
        return self.law.notes

    @cached_property
    def _optimiser(self) -> Optimiser:
        return Optimiser(self.law)

    def at(self, point: Mapping[Symbol, Any] | None = None) -> Region:
        """The optimum at one exact point, with numbers for exponents, solved there and not looked up.

        Raises ValueError where the point lies outside the given ranges or does not name every parameter, TypeError for
        a float.
        """
        point = {} if point is None else point
        instance_of("point", point, Mapping)
        if set(point) != set(self.law.domain.symbols):
            raise ValueError(
                f"the point {dict(point)} must give a value to each of the parameters {self.law.domain.symbols} and to "
                "nothing else (symbols, not their names)"
            )
        values = {symbol: exact(point[symbol]) for symbol in self.law.domain.symbols}
        fractions = {symbol: as_fraction(value) for symbol, value in values.items()}
        if not self.law.domain.contains(fractions):
            raise ValueError(f"{values} lies outside the ranges {dict(self.law.domain.ranges)} of the parameters")
        outcome = self._optimiser.outcome(fractions)
        loss, ranges = _read(outcome.formulas, self.law)
        numbers = {symbol: orders.subs(values) for symbol, orders in ranges.items()}
        return Region((), loss.subs(values), numbers, values, (certificate_of(outcome, values),), self.law.budget)

    def __repr__(self) -> str:
        proved = "complete" if self.complete else f"not proved complete ({len(self.unresolved)} parts unresolved)"
        return f"<ExponentSolution of {self.law.loss}: {len(self.regions)} regions, {proved}>"

    def __str__(self) -> str:
        lines = [f"optimal exponents of {self.law.loss}"]
        places: dict[str, list[str]] = {}  # where each answer holds: regions with one answer may overlap
        for region in self.regions:
            places.setdefault(region.growth(self.law.budget), []).append(_where(region.condition))
        lines += [f"  {' or '.join(dict.fromkeys(where))}: {shown}" for shown, where in places.items()]
        lines += [f"  unresolved: {_where(condition)}" for condition in self.unresolved]
        lines += [] if self.complete else ["  not proved complete: nothing is said where it is unresolved"]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    def _repr_latex_(self) -> str:
        rows = []
        for region in self.regions:
            condition = latex(region.condition) if region.conditions else r"\text{everywhere}"
            cells = [condition, region.loss.as_latex(self.law.budget)]
            cells += [variable.as_latex(self.law.budget) for variable in region.variables.values()]
            rows.append(" & ".join(cells))
        head = " & ".join([r"\text{region}", r"\text{loss}", *(latex(symbol) for symbol in self.law.variables)])
        columns = "l" * (2 + len(self.law.variables))
        table = rf"\begin{{array}}{{{columns}}}{head} \\ \hline " + r" \\[4pt] ".join(rows) + r"\end{array}"
        lines = [rf"\text{{note: {_plain(note)}}}" for note in self.notes]
        if not self.complete:
            where = r" \text{ or } ".join(
                r"\text{everywhere}" if condition == True else latex(condition)  # noqa: E712  (sympy's true)
                for condition in self.unresolved[:SHOWN]
            )
            ellipsis = r" \text{ or } \dots" if len(self.unresolved) > SHOWN else ""
            lines.insert(0, rf"\text{{not proved complete; unresolved: }} {where}{ellipsis}")
        if not lines:
            return f"${table}$"
        return rf"$\begin{{array}}{{l}}{table} \\[4pt] " + r" \\ ".join(lines) + r"\end{array}$"


SHOWN = 6
"""As many unresolved conditions are shown in LaTeX."""


def optimal_exponents(
    loss: Any,
    variables: Iterable[Symbol] | Symbol,
    budget: Symbol,
    constraints: Iterable[Any] | Relational = (),
    parameters: Mapping[Symbol, tuple[Any, Any]] | None = None,
    *,
    max_time: float | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> ExponentSolution:
    """Minimise a law over its variables as the budget grows, up to constants, for every value of its parameters.

    The law is a sympy expression built from the variables, the budget N and log(N) with sums, products, powers whose
    exponents are rational functions of the parameters, Min and Max; other positive symbols and numbers are constants.
    Constraints are relations between such expressions, read up to constants.

    Parameters
    ----------
    loss
        The law, for example ``M**(-s*beta) + (gamma*D)**-s + gamma``.
    variables
        The symbols that may be chosen; each is taken as N^x (log N)^y.
    budget
        The symbol N that grows.
    constraints
        For example ``[Eq(M*D, N), gamma <= 1]``.
    parameters
        Symbol -> (lower, upper), open ranges with None for no bound; signs are decided on them, and not
        by the assumptions on the symbols.
    max_time
        Seconds after which to stop; what was certified until then is returned, the rest is unresolved.
    progress
        Called with a :class:`Progress` while the regions are searched.

    Returns
    -------
    ExponentSolution
        The regions of the parameter space with, in each, the order N^p (log N)^q of the least loss and of every
        variable (a range where the optimum is not a point), and certificates of optimality.

    Raises
    ------
    ValueError
        The law has no growth order, contradicts itself, or can be made arbitrarily small.
    TypeError
        A float or a non-symbol where exactness is needed.

    How: exponents turn the law into linear programmes over the ordered field Q(parameters)(epsilon), one for each way
    to resolve the minima; they are solved exactly at rational points, each optimal basis is solved once symbolically,
    and the signs that its optimality rests on cut the parameter space into certified cells.

    Examples
    --------
    >>> from sympy import Min, symbols
    >>> x, y, N, a = symbols("x y N a", positive=True)
    >>> solution = optimal_exponents(x**-a + y**-1 + Min(x, y) / N, [x, y], N, [x * y <= N], {a: (0, None)})
    >>> [(region.condition, region.loss.power) for region in solution.regions]
    [(True, -a/(a + 1))]
    """
    law = _law(loss, variables, budget, constraints, parameters)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of one argument, or None, not {progress!r}")
    clock = Clock(_seconds(max_time), progress)
    try:
        explorer = Explorer(law, clock)
    except OutOfTime:
        return ExponentSolution(law, (), (true,))
    cells = explorer.cells()
    clock.end_of_search()
    assembly = Assembly(explorer, cells)
    try:
        patches = assembly.patches()
    except OutOfTime:
        patches = assembly.single()
    regions, unresolved = [], [cell.box for cell in cells if cell.outcome is None]
    for patch in patches:
        if patch.point is None:
            unresolved.append(patch.box)  # certified, but perhaps empty: there is no point to show
        else:
            regions.append(_region(law, explorer.walls, patch))
    return ExponentSolution(
        law, tuple(regions), tuple(_together(_relations(law, explorer.walls, box)) for box in unresolved)
    )


def optimal_exponents_at(
    loss: Any,
    variables: Iterable[Symbol] | Symbol,
    budget: Symbol,
    constraints: Iterable[Any] | Relational = (),
    parameters: Mapping[Symbol, tuple[Any, Any]] | None = None,
    point: Mapping[Symbol, Any] | None = None,
) -> Region:
    """The optimum at one exact point of the parameters, without the search for regions; see :func:`optimal_exponents`.

    >>> from sympy import Eq, symbols
    >>> M, D, C, a, b = symbols("M D C a b", positive=True)
    >>> ranges = {a: (0, None), b: (0, None)}
    >>> optimal_exponents_at(M**-a + D**-b, [M, D], C, [Eq(M * D, C)], ranges, {a: 1, b: "1/2"}).loss.power
    -1/3
    """
    return ExponentSolution(_law(loss, variables, budget, constraints, parameters), ()).at(point)


def _law(loss: Any, variables: Any, budget: Symbol, constraints: Any, parameters: Any) -> Law:
    if isinstance(variables, Symbol | str):
        variables = (variables,)
    if isinstance(constraints, Boolean | str | bool):
        constraints = (constraints,)
    listed = entries("variables", variables), entries("constraints", constraints)
    return Law(loss, listed[0], budget, listed[1], Domain({} if parameters is None else parameters))


def _seconds(max_time: Any) -> float | None:
    if max_time is None:
        return None
    if isinstance(max_time, bool) or not isinstance(max_time, Real) or not float(max_time) > 0:
        raise ValueError(f"max_time must be a positive number of seconds or None, not {max_time!r}")
    return float(max_time)


def _region(law: Law, walls: Walls, patch: Patch) -> Region:
    loss, ranges = _read(patch.formulas, law)
    certificates: dict[Outcome, Certificate] = {}
    for cell in sorted(patch.cells, key=lambda cell: cell.point is None):
        if cell.outcome is not None and cell.outcome not in certificates:
            where = cell.outcome.point if cell.point is None else _named(law, cell.point)
            certificates[cell.outcome] = certificate_of(
                cell.outcome, {symbol: exact(value) for symbol, value in where.items()}
            )
    assert patch.point is not None
    witness = {symbol: exact(value) for symbol, value in _named(law, patch.point).items()}
    return Region(_relations(law, walls, patch.box), loss, ranges, witness, tuple(certificates.values()), law.budget)


def _named(law: Law, point: Point) -> dict[Symbol, Fraction]:
    return dict(zip(law.domain.symbols, point.coordinates, strict=False))


def _relations(law: Law, walls: Walls, box: Box) -> tuple[Any, ...]:
    """The conditions of a box in the user's symbols, never evaluated by the assumptions on them."""
    return tuple(
        _RELATIONS[tuple(sorted(signs))](walls.polynomials[wall].as_expr(*law.domain.symbols), 0, evaluate=False)
        for wall, signs in sorted(box.items())
        if signs != ANY
    )


def _together(conditions: tuple[Any, ...]) -> Any:
    return conditions[0] if len(conditions) == 1 else And(*conditions, evaluate=not conditions)


def _where(condition: Any) -> str:
    return "everywhere" if condition == True else str(condition)  # noqa: E712  (sympy's true)


def _plain(text: str) -> str:
    """Text for LaTeX, with the signs taken away that mean something there."""
    return re.sub(r"([_&%#$])", r"\\\1", text)


def _read(formulas: Formulas, law: Law) -> tuple[Order, dict[Symbol, OrderRange]]:
    def order(triple: ElementTriple) -> Order | None:
        if triple[0]:
            return None
        return Order(*map(law.expression, triple[1:])).factored()

    loss = order(formulas.loss)
    assert loss is not None  # the optimiser refuses unbounded losses
    return loss, {
        symbol: OrderRange(order(lower), order(upper))
        for symbol, (lower, upper) in zip(law.variables, formulas.ranges, strict=True)
    }
