"""A law at one exact point of its parameters, read from its sympy expression and solved by the oracle's own simplex.

Nothing of the engine is used. Walls are taken from the conditions that a solution shows; exact points on one wall, or
on two, are found by solving them for a parameter in which they are linear.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import islice, product

from sym_oracle_lp import AT_LEAST, EQUAL, optimum
from sympy import Add, And, Eq, Ge, Gt, Max, Min, Mul, Poly, Pow, Rational, log, sympify


def fraction(value):
    number = sympify(value)
    assert number.is_Rational, value
    return Fraction(int(number.p), int(number.q))


class Reading:
    """Least over branches of the greatest of forms ((coefficients), power, log power), at numbers for parameters."""

    def __init__(self, variables, budget, point):
        self.variables, self.budget = tuple(variables), budget
        self.values = {symbol: Rational(value.numerator, value.denominator) for symbol, value in point.items()}

    def form(self, power=0, log_power=0, variable=None):
        return tuple(Fraction(name == variable) for name in self.variables), Fraction(power), Fraction(log_power)

    def branches(self, expression):
        if expression == self.budget:
            return [[self.form(1)]]
        if expression in self.variables:
            return [[self.form(variable=expression)]]
        if expression == log(self.budget):
            return [[self.form(0, 1)]]
        if not expression.free_symbols & {*self.variables, self.budget}:
            return [[self.form()]]
        if isinstance(expression, Min):
            return unique(branch for argument in expression.args for branch in self.branches(argument))
        parts = [self.branches(argument) for argument in expression.args] if not isinstance(expression, Pow) else []
        if isinstance(expression, Add | Max):
            return unique([form for branch in choice for form in branch] for choice in product(*parts))
        if isinstance(expression, Mul):
            return unique([total(forms) for forms in product(*choice)] for choice in product(*parts))
        base, exponent = expression.args
        factor = fraction(exponent.subs(self.values))
        scaled = [[times(form, factor) for form in branch] for branch in self.branches(base)]
        return scaled if factor >= 0 else unique(list(choice) for choice in product(*scaled))

    def at_most_one(self, expression):
        """Every way to read ``expression <= 1`` as rows over (loss, variables)."""
        for branch in self.branches(expression):
            yield [([Fraction(0), *(-c for c in form[0])], AT_LEAST, form[1:]) for form in branch]

    def rows(self, relation):
        if isinstance(relation, Eq):
            ways = [self.branches(relation.lhs / relation.rhs), self.branches(relation.rhs / relation.lhs)]
            if len(ways[0]) == len(ways[0][0]) == 1:
                form = ways[0][0][0]
                return [[([Fraction(0), *(-c for c in form[0])], EQUAL, form[1:])]]
            sides = (relation.lhs / relation.rhs, relation.rhs / relation.lhs)
            return [[*left, *right] for left, right in product(*map(self.at_most_one, sides))]
        if isinstance(relation, Ge | Gt):
            relation = relation.reversed
        return list(self.at_most_one(relation.lhs / relation.rhs))


def unique(branches):
    return [list(branch) for branch in dict.fromkeys(tuple(dict.fromkeys(branch)) for branch in branches)]


def total(forms):
    coefficients = tuple(sum(column) for column in zip(*(form[0] for form in forms), strict=True))
    return coefficients, sum(form[1] for form in forms), sum(form[2] for form in forms)


def times(form, factor):
    return tuple(factor * coefficient for coefficient in form[0]), factor * form[1], factor * form[2]


def truth(loss, variables, budget, constraints, point):
    """(least loss, ranges of the variables) as pairs (power, log power) at an exact point."""
    reading = Reading(variables, budget, point)
    choices = [reading.rows(constraint) for constraint in constraints if constraint != True]  # noqa: E712  (sympy's true)
    programmes = []
    for branch in reading.branches(sympify(loss)):
        rows = [([Fraction(1), *(-c for c in form[0])], AT_LEAST, form[1:]) for form in branch]
        programmes += [rows + [row for part in choice for row in part] for choice in product(*choices)]
    size = len(variables) + 1
    units = [[Fraction(k == index) for k in range(size)] for index in range(size)]
    return optimum(programmes, units[0], units[1:])


# ---- exact points on walls -------------------------------------------------------------------------------------------


def walls_of(solution):
    """The polynomials that the conditions of a solution are about."""
    conditions = [condition for region in solution.regions for condition in region.conditions]
    conditions += [part for condition in solution.unresolved for part in And.make_args(condition)]
    return list(dict.fromkeys(condition.lhs for condition in conditions if getattr(condition, "lhs", None) is not None))


def random_point(ranges, generator):
    point = {}
    for symbol, (lower, upper) in ranges.items():
        step = Fraction(generator.randint(1, 40), generator.randint(1, 24))
        if lower is not None and upper is not None:
            part = Fraction(generator.randint(1, 40), 41)
            point[symbol] = fraction(lower) + (fraction(upper) - fraction(lower)) * part
        elif lower is not None:
            point[symbol] = fraction(lower) + step
        elif upper is not None:
            point[symbol] = fraction(upper) - step
        else:
            point[symbol] = generator.choice((-1, 1)) * step
    return point


def inside(point, ranges):
    return all(
        (lower is None or point[symbol] > fraction(lower)) and (upper is None or point[symbol] < fraction(upper))
        for symbol, (lower, upper) in ranges.items()
    )


def solved(polynomial, symbols):
    """(symbol, its value) where the polynomial is linear in a symbol."""
    for symbol in symbols:
        if polynomial.has(symbol) and Poly(polynomial, symbol).degree() == 1:
            whole = Poly(polynomial, symbol)
            yield symbol, -whole.coeff_monomial(1) / whole.coeff_monomial(symbol)


def points_on(polynomials, ranges, generator, tries=20):
    """Exact points of the domain on all the polynomials."""
    replaced, left = {}, list(polynomials)
    while left:
        polynomial = left.pop(0).subs(replaced).together().as_numer_denom()[0].expand()
        symbols = [symbol for symbol in ranges if symbol not in replaced]
        generator.shuffle(symbols)
        first = next(solved(polynomial, symbols), None)
        if first is None:
            return
        replaced = {symbol: value.subs(*first) for symbol, value in replaced.items()} | dict([first])
    for _ in range(tries):
        base = random_point(ranges, generator)
        numbers = {symbol: Rational(value.numerator, value.denominator) for symbol, value in base.items()}
        values = {symbol: value.subs(numbers) for symbol, value in replaced.items()}
        if all(value.is_Rational for value in values.values()):
            point = base | {symbol: fraction(value) for symbol, value in values.items()}
            if inside(point, ranges):
                yield point


def points(solution, ranges, count, seed=0):
    """Random points, points on every wall, and points on pairs of walls."""
    generator = random.Random(seed)
    if not ranges:
        return [{}]
    found = [random_point(ranges, generator) for _ in range(count)]
    walls = walls_of(solution)
    for wall in walls:
        found += list(islice(points_on([wall], ranges, generator), 2))
    pairs = [(wall, second) for k, wall in enumerate(walls) for second in walls[:k]]
    for pair in generator.sample(pairs, min(len(pairs), count)):
        found += list(islice(points_on(pair, ranges, generator), 1))
    return found


def pair(order):
    return None if order is None else (fraction(order.power), fraction(order.log_power))


def faults(law, solution, where, check):
    """What is wrong with a solution at the points: a list of sentences."""
    loss, variables, budget, constraints = law
    wrong = []
    for point in where:
        numbers = {symbol: Rational(value.numerator, value.denominator) for symbol, value in point.items()}
        homes = [region for region in solution.regions if region.contains(numbers)]
        if not homes and solution.complete:
            wrong.append(f"{numbers} lies in no region")
        if not homes and not any(bool(condition.subs(numbers)) for condition in solution.unresolved):
            wrong.append(f"{numbers} lies in no region and is not among what is unresolved")
        if not homes:
            continue
        value, ranges = truth(loss, variables, budget, constraints, point)
        for region in homes:
            if pair(region.loss.subs(numbers)) != value:
                wrong.append(f"at {numbers} the loss is {value}, not {region.loss.subs(numbers)}")
            shown = [region.variables[variable].subs(numbers) for variable in variables]
            if [(pair(ends.lower), pair(ends.upper)) for ends in shown] != ranges:
                wrong.append(f"at {numbers} the variables are {ranges}, not {shown}")
            if not any(check(certificate, numbers) for certificate in region.certificates):
                wrong.append(f"at {numbers} no certificate holds")
    return wrong
