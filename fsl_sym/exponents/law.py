"""A law as the engine reads it: the minimum over branches of the largest of some monomials, all in exponents.

Write every variable as N^(x_i). Up to constants a sum is its largest term, so the logarithm of a law built with
+, *, powers, Min and Max of monomials is a piecewise linear function of x over the field Q(parameters). It is kept in
the form "least over branches of the greatest of affine forms"; each branch is then one linear programme. A factor
(log N)^q is an infinitesimal: exponents are compared first by their power of N, then by their power of log N.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from itertools import product
from typing import Any

from sympy import QQ, Abs, Add, And, Dummy, Eq, Expr, Float, Ge, Gt, Le, Lt, Max, Min, Mul, Pow, Symbol, exp, log
from sympy.core.relational import Relational
from sympy.polys.polyerrors import PolynomialError
from sympy.simplify.simplify import nsimplify

from fsl_sym.domain import Domain
from fsl_sym.exponents.clock import Clock
from fsl_sym.values import as_expression, fields_only

Element = Any  # an element of the field Q(parameters)


@dataclass(frozen=True)
class Affine:
    """A monomial in exponents: coefficients of the variables, power of the budget and power of its logarithm."""

    coefficients: tuple[Element, ...]
    power: Element
    log_power: Element

    def __add__(self, other: Affine) -> Affine:
        return Affine(
            tuple(mine + theirs for mine, theirs in zip(self.coefficients, other.coefficients, strict=True)),
            self.power + other.power,
            self.log_power + other.log_power,
        )

    def scaled(self, factor: Element) -> Affine:
        """The monomial raised to a power."""
        return Affine(
            tuple(factor * coefficient for coefficient in self.coefficients),
            factor * self.power,
            factor * self.log_power,
        )


Branch = tuple[Affine, ...]  # greatest of its members
Branches = tuple[Branch, ...]  # least over its members


@dataclass(frozen=True)
class Constraint:
    """One way to satisfy a constraint: every form is at most 0, and exactly 0 where ``equality``."""

    forms: Branch
    equality: bool


@dataclass(frozen=True)
class Law:
    """A loss, its variables, its budget, its constraints and the domain of its parameters, as given by the user.

    Parameters are read as real numbers of their ranges, whatever the assumptions on their symbols say. Raises
    ValueError or TypeError, naming the offending piece, where the loss has no growth order: a difference, a
    logarithm of anything but the budget, an exponent that varies or is a float, a sum under a power of unknown sign.
    """

    loss: Expr
    variables: tuple[Symbol, ...]
    budget: Symbol
    constraints: tuple[Any, ...]
    domain: Domain

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", as_expression(self.loss))
        for constraint in self.constraints:
            if isinstance(constraint, bool):
                raise TypeError(f"{constraint!r} is not a constraint: give a relation such as M*D <= N or Eq(M*D, N)")
        object.__setattr__(self, "constraints", tuple(map(as_expression, self.constraints)))
        if not isinstance(self.loss, Expr):
            raise TypeError(f"{self.loss!r} is not a law: give one sympy expression, for example M**-a + D**-b")
        if not self.variables:
            raise ValueError("no variables given: name the symbols that may be chosen, for example variables=[M, D]")
        for symbol in (*self.variables, self.budget):
            if not isinstance(symbol, Symbol):
                raise TypeError(f"{symbol!r} is not a sympy Symbol: variables and budget must be symbols")
        names = [*self.variables, self.budget, *self.domain.symbols]
        if len(set(names)) != len(names):
            raise ValueError(f"a symbol is used twice among variables, budget and parameters: {names}")
        declared = {symbol.name: symbol for symbol in names}
        for piece in (self.loss, *self.constraints):
            for symbol in piece.free_symbols:
                if declared.get(symbol.name, symbol) != symbol:
                    raise ValueError(
                        f"{piece} uses a symbol {symbol} that is not the {symbol} among variables, budget and "
                        f"parameters {names}, because their assumptions differ: make it once and use it everywhere"
                    )

    __getstate__ = fields_only

    @cached_property
    def _own(self) -> dict[Symbol, Dummy]:
        """Symbols of the engine's own for the parameters: they are what their range says, and nothing else."""
        return {symbol: _own_symbol(symbol, *ends) for symbol, ends in self.domain.ranges.items()}

    @cached_property
    def field(self) -> Any:
        """The field Q(parameters); one unused generator stands in where a law has no parameters."""
        return QQ.frac_field(*(self._own.values() or (_NO_PARAMETER,)))

    def expression(self, element: Element) -> Expr:
        """An element of the field in the user's symbols."""
        if element not in self._written:
            self._written[element] = element.as_expr(*self.domain.symbols) if self.domain.symbols else element.as_expr()
        return self._written[element]

    @cached_property
    def _written(self) -> dict[Element, Expr]:
        """Elements met before: the rows of a law hold a few of them, again and again."""
        return {}

    def branches(self, clock: Clock) -> Branches:
        """The loss: least over branches of the greatest of monomials."""
        return _Reader(self, clock).loss()

    def choices(self, clock: Clock) -> tuple[tuple[Constraint, ...], ...]:
        """Every way to satisfy all constraints; the feasible set is the union over the choices."""
        return _Reader(self, clock).choices()

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is allowed, but hardly meant: a constant term in the loss, a variable taken for a constant."""
        moving = {*self.variables, self.budget}
        sentences = []
        constants = [term for term in Add.make_args(self.loss) if not term.free_symbols & moving]
        if constants:
            sentences.append(
                f"the loss has the constant term {Add(*constants)} and cannot fall below it: its order is at least 1. "
                "Leave the term out to see how fast the rest falls"
            )
        for constraint in self.constraints:
            free = constraint.free_symbols
            if self.budget in free:
                for symbol in sorted(free - moving - set(self.domain.symbols), key=str):
                    sentences.append(
                        f"{symbol} stands with the budget in {constraint} but is not among the variables: it is taken "
                        "as a constant"
                    )
        return tuple(dict.fromkeys(sentences))


_NO_PARAMETER = Dummy("no_parameter")


@cache  # never dropped: elements of fields over it are kept as well
def _own_symbol(symbol: Symbol, lower: Any, upper: Any) -> Dummy:
    """The engine's own symbol for a parameter of such a range, the same in all laws: what they share is read once."""
    return Dummy(
        symbol.name,
        real=True,
        **({"positive": True} if lower is not None and lower >= 0 else {}),
        **({"negative": True} if upper is not None and upper <= 0 else {}),
    )


class _Reader:
    """Reads a law, in the engine's own symbols."""

    def __init__(self, law: Law, clock: Clock) -> None:
        self.law, self.clock = law, clock
        self.own = law._own
        self.shown = {own: symbol for symbol, own in self.own.items()}
        self.moving = {*law.variables, law.budget}
        self.domain = Domain({self.own[symbol]: ends for symbol, ends in law.domain.ranges.items()})

    def loss(self) -> Branches:
        return self._parse(self.law.loss.xreplace(self.own))

    def choices(self) -> tuple[tuple[Constraint, ...], ...]:
        scope = replace(self.law, loss=self.law.budget, constraints=())
        parsed = [
            _parsed(_Constrained(constraint, scope, scope.domain.symbols, self.clock))
            for constraint in _flat(self.law.constraints)
        ]
        choices = []
        for choice in product(*parsed):
            self.clock.check()
            choices.append(choice)
        return tuple(choices)

    def _shown(self, function: Expr) -> Expr:
        """An expression as the user wrote it, for messages."""
        return function.xreplace(self.shown)

    def element(self, function: Expr) -> Element:
        """A rational function of the parameters as an element of the field."""
        shown = self._shown(function)
        if function.has(Float):
            near = nsimplify(min(function.atoms(Float), key=str), rational=True)
            raise TypeError(
                f"the exponent {shown} contains a float: regions and ties need exact exponents, write for example "
                f"Rational({near.p}, {near.q})"
            )
        try:
            element = self.law.field.from_sympy(function)
        except (PolynomialError, ValueError, TypeError) as error:
            free = ", ".join(f"{symbol}: (0, None)" for symbol in sorted(map(str, shown.free_symbols)))
            hint = f"declare every symbol of an exponent as a parameter with its range, as in parameters={{{free}}}"
            if not free:
                hint = "put a parameter in the place of an irrational number, with a range that holds it"
            if function.has(Min, Max):
                hint = "for a base of at least 1, N**Min(a, b) is Min(N**a, N**b), and likewise for Max"
            raise ValueError(
                f"the exponent {shown} is not a rational function of the parameters {self.law.domain.symbols} with "
                f"rational coefficients: {hint}"
            ) from error
        if not element.denom.is_ground and self.domain.sign(element.denom.as_expr()) is None:
            raise ValueError(
                f"the exponent {shown} may be infinite on the given parameter ranges: narrow them so that "
                f"{self._shown(element.denom.as_expr())} has one sign"
            )
        return element

    def _constant(self, power: int = 0, log_power: int = 0) -> Affine:
        field = self.law.field
        return Affine((field.zero,) * len(self.law.variables), field(power), field(log_power))

    def _parse(self, expression: Expr) -> Branches:
        self.clock.check()
        variables, budget = self.law.variables, self.law.budget
        if expression == budget:
            return ((self._constant(1),),)
        if expression in variables:
            zero = self.law.field.zero
            unit = [zero] * len(variables)
            unit[variables.index(expression)] = self.law.field.one
            return ((Affine(tuple(unit), zero, zero),),)
        if isinstance(expression, Add | Max):
            return self._reduced(
                (form for branch in choice for form in branch)
                for choice in product(*(self._parse(term) for term in expression.args))
            )
        if isinstance(expression, Min):
            return self._reduced(branch for term in expression.args for branch in self._parse(term))
        if isinstance(expression, Mul):
            if expression.as_coeff_Mul()[0].is_negative:
                self._refuse_exponentials(expression)
                raise ValueError(
                    f"the term {self._shown(expression)} is negative: differences have no growth order, because large "
                    "terms may cancel (for 1 - r take a new variable q with the constraint Eq(q + r, 1))"
                )
            parsed = [self._parse(factor) for factor in expression.args]
            return self._reduced(
                (_sum_of_forms(forms) for forms in product(*branches)) for branches in product(*parsed)
            )
        if isinstance(expression, Pow | exp):
            return self._power(*expression.as_base_exp())
        if isinstance(expression, log):
            return self._logarithm(expression)
        if isinstance(expression, Abs) and expression.free_symbols & self.moving:
            return self._parse(expression.args[0])  # what has a growth order is positive
        return self._coefficient(expression)

    def _refuse_exponentials(self, expression: Expr) -> None:
        for power in expression.atoms(Pow, exp):
            if power.as_base_exp()[1].free_symbols & self.moving:
                raise ValueError(
                    f"{self._shown(power)} has an exponent that varies with the budget or the variables: only power "
                    "laws have a growth order, exponentials grow or fall faster than all of them (put a power law or "
                    "a Min of power laws in its place)"
                )

    def _power(self, base: Expr, exponent: Expr) -> Branches:
        self._refuse_exponentials(base**exponent)
        if not (base.free_symbols & self.moving):
            return self._coefficient(base**exponent)
        branches = self._parse(base)
        factor = self.element(exponent)
        sign = self.domain.sign(exponent)
        if len(branches) == len(branches[0]) == 1:
            return ((branches[0][0].scaled(factor),),)
        if sign is None:
            raise ValueError(
                f"the sign of the exponent {self._shown(exponent)} of the sum or minimum {self._shown(base)} is not "
                "known on the given parameter ranges, and with it what dominates: narrow the ranges of the parameters"
            )
        scaled = tuple(tuple(form.scaled(factor) for form in branch) for branch in branches)
        if sign >= 0:
            return scaled
        # 1 / min of max = max of min: distribute it back into a minimum of maxima.
        return self._reduced(product(*scaled))

    def _logarithm(self, expression: Expr) -> Branches:
        """log of what grows like a positive power of the budget, which is log of the budget up to constants."""
        (argument,) = expression.args
        if argument.free_symbols & self.moving == {self.law.budget}:
            branches = self._parse(argument)
            if all(any(self._sign(form.power) == 1 for form in branch) for branch in branches):
                return ((self._constant(0, 1),),)
        return self._coefficient(expression)

    def _sign(self, element: Element) -> int | None:
        return self.domain.sign(element.as_expr())

    def _coefficient(self, expression: Expr) -> Branches:
        if expression.free_symbols & self.moving:
            grown = f"log({self.law.budget})"
            hint = f"; of a power of {self.law.budget} it is {grown} up to constants: write that"
            raise ValueError(
                f"{self._shown(expression)} has no growth order: only sums, products, powers, Min and Max of "
                f"{self.law.variables}, {self.law.budget} and {grown} have one{hint if expression.func is log else ''}"
            )
        known = expression.free_symbols <= set(self.domain.symbols)
        real = known and expression.is_rational_function() and expression.is_real is not False
        sign = self.domain.sign(expression) if real else None
        if sign != 1 and not expression.is_positive:
            hint = "declare the symbol positive, or give its range"
            if expression.is_zero or expression.is_infinite:
                hint = "write Eq(M*D, N) for Eq(M*D - N, 0), and leave out that something is positive or finite"
            raise ValueError(
                f"the coefficient {self._shown(expression)} is not known to be positive: a growth order needs positive "
                f"terms ({hint})"
            )
        return ((self._constant(),),)

    def constraint(self, relation: Any) -> tuple[Constraint, ...]:
        if relation == True:  # noqa: E712  (sympy's true)
            return (Constraint((), False),)
        if not isinstance(relation, Relational):
            raise TypeError(f"{relation!r} is not a constraint: give a relation such as M*D <= N or Eq(M*D, N)")
        left, right = (side.xreplace(self.own) for side in (relation.lhs, relation.rhs))
        if isinstance(relation, Le | Lt):
            ratios = [left / right]
        elif isinstance(relation, Ge | Gt):
            ratios = [right / left]
        elif isinstance(relation, Eq):
            ratios = [left / right, right / left]
        else:
            raise TypeError(f"{relation} is not a constraint of growth: use <=, >= or Eq")
        parsed = [self._parse(ratio) for ratio in ratios]
        if isinstance(relation, Eq) and len(parsed[0]) == len(parsed[0][0]) == 1:
            return (Constraint(parsed[0][0], True),)
        return tuple(
            Constraint(tuple(form for branch in choice for form in branch), False) for choice in product(*parsed)
        )

    def _reduced(self, branches: Iterable[Iterable[Affine]]) -> Branches:
        """Branches without repeated forms, and without one that contains all forms of another (it is never less)."""
        sets: dict[frozenset[Affine], Branch] = {}
        for forms in branches:
            self.clock.check()
            branch = tuple(dict.fromkeys(forms))
            sets.setdefault(frozenset(branch), branch)
        kept: list[frozenset[Affine]] = []
        for mine in sorted(sets, key=len):
            self.clock.check()
            if not any(smaller <= mine for smaller in kept):
                kept.append(mine)
        chosen = set(kept)
        return tuple(branch for key, branch in sets.items() if key in chosen)


@dataclass(frozen=True)
class _Constrained:
    """A constraint, and a law with its variables, budget and parameters: laws that differ elsewhere read it alike."""

    relation: Any
    scope: Law
    parameters: tuple[Symbol, ...]  # in their order, of which equal domains know nothing
    clock: Clock = field(compare=False)


@lru_cache(maxsize=4096)
def _parsed(constrained: _Constrained) -> tuple[Constraint, ...]:
    return _Reader(constrained.scope, constrained.clock).constraint(constrained.relation)


def _flat(constraints: Iterable[Any]) -> Iterator[Any]:
    for constraint in constraints:
        if isinstance(constraint, And):
            yield from _flat(constraint.args)
        else:
            yield constraint


def _sum_of_forms(forms: Sequence[Affine]) -> Affine:
    total = forms[0]
    for form in forms[1:]:
        total = total + form
    return total
