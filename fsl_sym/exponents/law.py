"""A law as the engine reads it: the minimum over branches of the largest of some monomials, all in exponents.

Write every variable as N^(x_i). Up to constants a sum is its largest term, so the logarithm of a law built with
+, *, powers, Min and Max of monomials is a piecewise linear function of x over the field Q(parameters). It is kept in
the form "least over branches of the greatest of affine forms"; each branch is then one linear programme. A factor
(log N)^q is an infinitesimal: exponents are compared first by their power of N, then by their power of log N.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from sympy import QQ, Add, Eq, Expr, Float, Ge, Gt, Le, Lt, Max, Min, Mul, Pow, Symbol, exp, log, sympify
from sympy.core.relational import Relational
from sympy.polys.polyerrors import PolynomialError

from fsl_sym.domain import Domain

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
        return Affine(tuple(factor * each for each in self.coefficients), factor * self.power, factor * self.log_power)


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

    Raises ValueError or TypeError, naming the offending piece, where the loss has no growth order: a difference, a
    logarithm of anything but the budget, an exponent that varies or is a float, a sum under a power of unknown sign.
    """

    loss: Expr
    variables: tuple[Symbol, ...]
    budget: Symbol
    constraints: tuple[Any, ...]
    domain: Domain

    def __post_init__(self) -> None:
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
            if isinstance(piece, str):
                raise TypeError(
                    f"{piece!r} is text, not a constraint or a law: write it with the sympy symbols themselves"
                )
            for symbol in sympify(piece).free_symbols:
                if declared.get(symbol.name, symbol) != symbol:
                    raise ValueError(
                        f"{piece} uses a symbol {symbol} that is not the {symbol} among variables, budget and "
                        f"parameters {names}, because their assumptions differ: make it once and use it everywhere"
                    )

    @cached_property
    def field(self) -> Any:
        """The field Q(parameters); one unused generator stands in where a law has no parameters."""
        return QQ.frac_field(*(self.domain.symbols or (Symbol("no_parameter"),)))

    @cached_property
    def loss_branches(self) -> Branches:
        """The loss: least over branches of the greatest of monomials."""
        return self._parse(sympify(self.loss))

    @cached_property
    def constraint_choices(self) -> tuple[tuple[Constraint, ...], ...]:
        """Every way to satisfy all constraints; the feasible set is the union over the choices."""
        return tuple(product(*(self._parse_constraint(each) for each in self.constraints)))

    def element(self, expression: Any) -> Element:
        """A rational function of the parameters as an element of the field."""
        expression = sympify(expression)
        if expression.has(Float):
            raise TypeError(
                f"the exponent {expression} contains a float: regions and ties need exact exponents, write for example "
                "Rational(1, 2)"
            )
        try:
            element = self.field.from_sympy(expression)
        except (PolynomialError, ValueError, TypeError) as error:
            raise ValueError(
                f"the exponent {expression} is not a rational function of the parameters {self.domain.symbols} with "
                "rational coefficients: declare every symbol of an exponent as a parameter with its range"
            ) from error
        if not element.denom.is_ground and self.domain.sign(element.denom.as_expr()) is None:
            raise ValueError(
                f"the exponent {expression} may be infinite on the given parameter ranges: narrow them so that "
                f"{element.denom.as_expr()} has one sign"
            )
        return element

    def _constant(self, power: Any = 0, log_power: Any = 0) -> Affine:
        zero = self.field.zero
        return Affine((zero,) * len(self.variables), self.element(power), self.element(log_power))

    def _parse(self, expression: Expr) -> Branches:
        if expression == self.budget:
            return ((self._constant(1),),)
        if expression in self.variables:
            unit = [self.field.zero] * len(self.variables)
            unit[self.variables.index(expression)] = self.field.one
            return ((Affine(tuple(unit), self.field.zero, self.field.zero),),)
        if isinstance(expression, Add | Max):
            return _greatest([self._parse(term) for term in expression.args])
        if isinstance(expression, Min):
            return tuple(branch for term in expression.args for branch in self._parse(term))
        if isinstance(expression, Mul):
            if expression.as_coeff_Mul()[0].is_negative:
                raise ValueError(
                    f"the term {expression} is negative: differences have no growth order, because large terms may "
                    "cancel (for 1 - r take a new variable q with the constraint Eq(q + r, 1))"
                )
            parsed = [self._parse(factor) for factor in expression.args]
            return _reduced(
                tuple(_sum_of_forms(forms) for forms in product(*branches)) for branches in product(*parsed)
            )
        if isinstance(expression, Pow | exp):
            return self._power(*expression.as_base_exp())
        if expression == log(self.budget):
            return ((self._constant(0, 1),),)
        return self._coefficient(expression)

    def _power(self, base: Expr, exponent: Expr) -> Branches:
        if not (base.free_symbols & {*self.variables, self.budget}):
            return self._coefficient(base**exponent)
        if exponent.free_symbols & {*self.variables, self.budget}:
            raise ValueError(
                f"{base**exponent} has an exponent that varies with the budget: only power laws have a growth order"
            )
        branches = self._parse(base)
        factor = self.element(exponent)
        sign = self.domain.sign(exponent)
        if len(branches) == len(branches[0]) == 1:
            return ((branches[0][0].scaled(factor),),)
        if sign is None:
            raise ValueError(
                f"the sign of the exponent {exponent} of the sum or minimum {base} is not known on the given parameter "
                "ranges, and with it what dominates: narrow the ranges of the parameters"
            )
        scaled = tuple(tuple(form.scaled(factor) for form in branch) for branch in branches)
        if sign >= 0:
            return scaled
        # 1 / min of max = max of min: distribute it back into a minimum of maxima.
        return _reduced(product(*scaled))

    def _coefficient(self, expression: Expr) -> Branches:
        moving = expression.free_symbols & {*self.variables, self.budget}
        if moving:
            raise ValueError(
                f"{expression} has no growth order: only sums, products, powers, Min and Max of {self.variables}, "
                f"{self.budget} and log({self.budget}) have one"
            )
        known = expression.free_symbols <= set(self.domain.symbols)
        real = known and expression.is_rational_function() and expression.is_real is not False
        sign = self.domain.sign(expression) if real else None
        if sign != 1 and not expression.is_positive:
            raise ValueError(
                f"the coefficient {expression} is not known to be positive: a growth order needs positive terms "
                "(declare the symbol positive, or give its range)"
            )
        return ((self._constant(),),)

    def _parse_constraint(self, relation: Any) -> tuple[Constraint, ...]:
        if relation == True:  # noqa: E712  (sympy's true)
            return (Constraint((), False),)
        if not isinstance(relation, Relational):
            raise TypeError(f"{relation!r} is not a constraint: give a relation such as M*D <= N or Eq(M*D, N)")
        if isinstance(relation, Le | Lt):
            ratios = [relation.lhs / relation.rhs]
        elif isinstance(relation, Ge | Gt):
            ratios = [relation.rhs / relation.lhs]
        elif isinstance(relation, Eq):
            ratios = [relation.lhs / relation.rhs, relation.rhs / relation.lhs]
        else:
            raise TypeError(f"{relation} is not a constraint of growth: use <=, >= or Eq")
        parsed = [self._parse(ratio) for ratio in ratios]
        if isinstance(relation, Eq) and len(parsed[0]) == len(parsed[0][0]) == 1:
            return (Constraint(parsed[0][0], True),)
        return tuple(
            Constraint(tuple(form for branch in choice for form in branch), False) for choice in product(*parsed)
        )


def _sum_of_forms(forms: Sequence[Affine]) -> Affine:
    total = forms[0]
    for form in forms[1:]:
        total = total + form
    return total


def _greatest(parsed: Sequence[Branches]) -> Branches:
    return _reduced(tuple(form for branch in choice for form in branch) for choice in product(*parsed))


def _reduced(branches: Iterable[Iterable[Affine]]) -> Branches:
    """Branches without repeated forms, and without a branch that contains all forms of another (it is never less)."""
    sets = [tuple(dict.fromkeys(branch)) for branch in branches]
    sets = list(dict.fromkeys(sets))
    return tuple(
        mine
        for index, mine in enumerate(sets)
        if not any(
            set(other) < set(mine) or (set(other) == set(mine) and place < index) for place, other in enumerate(sets)
        )
    )
