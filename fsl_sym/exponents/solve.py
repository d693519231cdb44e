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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from sympy import And, Eq, Expr, Ge, Gt, Le, Lt, Ne, Rational, Symbol, factor, latex

from fsl_sym.domain import Domain, exact
from fsl_sym.exponents.cells import Cell, Explorer, Signs
from fsl_sym.exponents.certificate import Certificate
from fsl_sym.exponents.law import Law
from fsl_sym.exponents.outcome import Formulas
from fsl_sym.exponents.programme import ElementTriple, Values
from fsl_sym.order import Order

_RELATIONS = {(1,): Gt, (0,): Eq, (-1,): Lt, (0, 1): Ge, (-1, 0): Le, (-1, 1): Ne}


@dataclass(frozen=True)
class OrderRange:
    """The growth of an optimal variable: from ``lower`` to ``upper``, None where nothing bounds it on that side.

    >>> OrderRange(Order(1), Order(1)).is_point, OrderRange(Order(1), None).is_point
    (True, False)
    """

    lower: Order | None
    upper: Order | None

    @property
    def is_point(self) -> bool:
        """Whether the optimum leaves the variable no freedom, constants aside."""
        return self.lower is not None and self.upper is not None and self.lower.equals(self.upper)

    @property
    def order(self) -> Order:
        """The order of an optimum that is a point; ValueError where it is a range.

        >>> OrderRange(Order(1), Order(1)).order
        Order(power=1, log_power=0)
        """
        if not self.is_point or self.lower is None:
            raise ValueError(f"the optimum is no point but a range, {self}: take its lower or its upper end")
        return self.lower

    @property
    def power(self) -> Expr:
        """The power of the budget of an optimum that is a point; ValueError where it is a range."""
        return self.order.power

    @property
    def log_power(self) -> Expr:
        """The power of the budget's logarithm of an optimum that is a point; ValueError where it is a range."""
        return self.order.log_power

    def as_text(self, base: Symbol) -> str:
        """The order or the range as plain text.

        >>> OrderRange(Order(1), None).as_text(Symbol("D"))
        'at least D'
        """
        lower, upper = (None if end is None else end.as_text(base) for end in (self.lower, self.upper))
        if lower is None:
            return "anything" if upper is None else f"at most {upper}"
        if upper is None:
            return f"at least {lower}"
        return lower if self.is_point else f"from {lower} to {upper}"

    def subs(self, values: Any) -> OrderRange:
        """The range with parameters replaced."""
        return OrderRange(*(None if end is None else end.subs(values) for end in (self.lower, self.upper)))


@dataclass(frozen=True)
class Region:
    """A region of the parameters in which one set of formulas holds.

    ``conditions`` are polynomial relations (none: everywhere), ``loss`` the growth of the optimal loss, ``variables``
    that of every variable, ``witness`` an exact point inside, ``certificates`` one proof per cell of the region.

    >>> from sympy import Eq, symbols
    >>> x, N = symbols("x N", positive=True)
    >>> optimal_exponents(x + N / x, [x], N).regions[0].condition
    True
    """

    conditions: tuple[Any, ...]
    loss: Order
    variables: Mapping[Symbol, OrderRange]
    witness: Mapping[Symbol, Rational]
    certificates: tuple[Certificate, ...]

    @property
    def condition(self) -> Any:
        """All conditions as one sympy relation."""
        return And(*self.conditions)

    @property
    def certificate(self) -> Certificate:
        """The proof on the region's first cell."""
        return self.certificates[0]

    def contains(self, point: Mapping[Symbol, Any]) -> bool:
        """Whether an exact point satisfies the conditions."""
        return bool(self.condition.subs({symbol: exact(value) for symbol, value in point.items()}))


@dataclass(frozen=True, repr=False)
class ExponentSolution:
    """The optimal exponents of a law.

    ``regions`` cover the parameter space up to the cells that exploration did not meet; ``complete`` says that it was
    proved to have met all of them, so that one of the certificates of a region holds at each of its points. Where that
    proof was not found it is False, and regions may be missing or too large: check a certificate at the point of
    interest, or ask :meth:`at`, which solves afresh at one exact point and needs no region.

    >>> from sympy import symbols
    >>> x, N = symbols("x N", positive=True)
    >>> optimal_exponents(x + N / x, [x], N).at().loss.power
    1/2
    """

    law: Law
    regions: tuple[Region, ...]
    complete: bool

    @cached_property
    def _explorer(self) -> Explorer:
        return Explorer(self.law)

    def at(self, point: Mapping[Symbol, Any] | None = None) -> Region:
        """The optimum at one exact point, with numbers for exponents, solved there and not looked up.

        Raises ValueError where the point lies outside the given ranges or does not name every parameter, TypeError for
        a float.
        """
        given = point or {}
        if set(given) != set(self.law.domain.symbols):
            raise ValueError(
                f"the point {dict(given)} must give a value to each of the parameters {self.law.domain.symbols} and to "
                "nothing else (symbols, not their names)"
            )
        values = {symbol: exact(given[symbol]) for symbol in self.law.domain.symbols}
        fractions = {symbol: Fraction(int(value.p), int(value.q)) for symbol, value in values.items()}
        if not self.law.domain.contains(fractions):
            raise ValueError(f"{values} lies outside the ranges {dict(self.law.domain.ranges)} of the parameters")
        outcome = self._explorer.optimiser.outcome(fractions)
        loss, ranges = _read(outcome.formulas, self.law, Values(self.law, fractions))
        numbers = {symbol: each.subs(values) for symbol, each in ranges.items()}
        return Region((), loss.subs(values), numbers, values, (Certificate.of(outcome, values),))

    def __repr__(self) -> str:
        proved = "complete" if self.complete else "not proved complete"
        return f"<ExponentSolution of {self.law.loss}: {len(self.regions)} regions, {proved}>"

    def _repr_latex_(self) -> str:
        rows = []
        for region in self.regions:
            condition = latex(region.condition) if region.conditions else r"\text{everywhere}"
            cells = [condition, region.loss.as_latex(self.law.budget)]
            cells += [_range_latex(each, self.law.budget) for each in region.variables.values()]
            rows.append(" & ".join(cells))
        head = " & ".join([r"\text{region}", r"\text{loss}", *(latex(symbol) for symbol in self.law.variables)])
        columns = "l" * (2 + len(self.law.variables))
        return rf"$\begin{{array}}{{{columns}}}{head} \\ \hline " + r" \\[4pt] ".join(rows) + r"\end{array}$"


def optimal_exponents(
    loss: Any,
    variables: Iterable[Symbol],
    budget: Symbol,
    constraints: Iterable[Any] = (),
    parameters: Mapping[Symbol, tuple[Any, Any]] | None = None,
) -> ExponentSolution:
    """Minimise a law over its variables as the budget grows, up to constants, for every value of its parameters.

    The law is a sympy expression built from the variables, the budget N and log(N) with sums, products, powers whose
    exponents are rational functions of the parameters, Min and Max; other positive symbols and numbers are constants.
    Constraints are relations between such expressions, read up to constants.

    Args:
        loss: the law, for example ``M**(-s*beta) + (gamma*D)**-s + gamma``.
        variables: the symbols that may be chosen; each is taken as N^x (log N)^y.
        budget: the symbol N that grows.
        constraints: for example ``[Eq(M*D, N), gamma <= 1]``.
        parameters: symbol -> (lower, upper), open ranges with None for no bound; signs are decided on them.

    Returns:
        The regions of the parameter space with, in each, the order N^p (log N)^q of the least loss and of every
        variable (a range where the optimum is not a point), and a certificate of optimality.

    Raises:
        ValueError: the law has no growth order, contradicts itself, or can be made arbitrarily small.
        TypeError: a float or a non-symbol where exactness is needed.

    How: exponents turn the law into linear programmes over the ordered field Q(parameters)(epsilon), one for each way
    to resolve the minima; they are solved exactly at rational points, each optimal basis is solved once symbolically,
    and the signs that its optimality rests on are the walls of the regions.

    >>> from sympy import Min, symbols
    >>> x, y, N, a = symbols("x y N a", positive=True)
    >>> solution = optimal_exponents(x**-a + y**-1 + Min(x, y) / N, [x, y], N, [x * y <= N], {a: (0, None)})
    >>> [(region.condition, region.loss.power) for region in solution.regions]
    [(True, -a/(a + 1))]
    """
    law = Law(loss, tuple(variables), budget, tuple(constraints), Domain(parameters or {}))
    partition = Explorer(law).partition()
    groups: dict[int, list[Cell]] = {}
    distinct: list[Formulas] = []
    for cell in partition.cells:
        if cell.formulas not in distinct:
            distinct.append(cell.formulas)
        groups.setdefault(distinct.index(cell.formulas), []).append(cell)
    observed = {cell.signs for cell in partition.cells}
    regions = []
    for members in groups.values():
        for box in _boxes({cell.signs for cell in members}, observed):
            inside = [cell for cell in members if _inside(cell.signs, box)]
            first = min(inside, key=lambda cell: cell.signs.count(0))
            loss_order, ranges = _read(first.formulas, law, Values(law, first.point))
            regions.append(
                Region(
                    tuple(
                        _relation(wall, allowed)
                        for wall, allowed in zip(partition.walls, box, strict=True)
                        if len(allowed) < 3
                    ),
                    loss_order,
                    ranges,
                    _exact_point(first),
                    tuple(Certificate.of(cell.outcome, _exact_point(cell)) for cell in inside),
                )
            )
    return ExponentSolution(law, tuple(regions), partition.complete)


def _exact_point(cell: Cell) -> dict[Symbol, Rational]:
    return {symbol: exact(value) for symbol, value in cell.point.items()}


Box = tuple[tuple[int, ...], ...]


def _inside(signs: Signs, box: Box) -> bool:
    return all(sign in allowed for sign, allowed in zip(signs, box, strict=True))


def _boxes(members: set[Signs], observed: set[Signs]) -> list[Box]:
    """The members as few products of allowed signs, none of which contains another observed cell."""
    if not members:
        return []
    hull = tuple(tuple(sorted({signs[wall] for signs in members})) for wall in range(len(next(iter(members)))))
    if all(signs in members for signs in observed if _inside(signs, hull)):
        return [_widened(hull, members, observed)]
    wall = next(index for index, allowed in enumerate(hull) if len(allowed) > 1)
    parts: list[Box] = []
    for sign in hull[wall]:
        parts += _boxes({signs for signs in members if signs[wall] == sign}, observed)
    return parts


def _widened(box: Box, members: set[Signs], observed: set[Signs]) -> Box:
    """The box with every condition dropped that no other cell needs."""
    for wall in range(len(box)):
        trial = (*box[:wall], (-1, 0, 1), *box[wall + 1 :])
        if all(signs in members for signs in observed if _inside(signs, trial)):
            box = trial
    return box


def _relation(wall: Expr, allowed: tuple[int, ...]) -> Any:
    return _RELATIONS[allowed](wall, 0)


def _read(formulas: Formulas, law: Law, values: Values) -> tuple[Order, dict[Symbol, OrderRange]]:
    def order(triple: ElementTriple) -> Order | None:
        if values(triple[0]) != 0:
            return None
        return Order(*(factor(part.as_expr()) for part in triple[1:]))

    loss = order(formulas.loss)
    assert loss is not None  # the optimiser refuses unbounded losses
    return loss, {
        symbol: OrderRange(order(lower), order(upper))
        for symbol, (lower, upper) in zip(law.variables, formulas.ranges, strict=True)
    }


def _range_latex(each: OrderRange, budget: Symbol) -> str:
    if each.is_point and each.lower is not None:
        return each.lower.as_latex(budget)
    lower = "(0" if each.lower is None else f"[{each.lower.as_latex(budget)}"
    upper = r"\infty)" if each.upper is None else f"{each.upper.as_latex(budget)}]"
    return rf"{lower},\ {upper}"
