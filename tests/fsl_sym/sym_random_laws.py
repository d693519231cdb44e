"""Random laws told twice: as a sympy expression for the engine, and as linear programmes for the oracle.

An entry of an exponent is a pair (number, symbol or None), worth number * symbol. A law is worth nothing to the oracle
but numbers: it is read at a point of the symbols, without sympy.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from hypothesis import strategies as st
from sym_oracle_lp import AT_LEAST, EQUAL, optimum
from sympy import Add, Eq, Max, Min, Mul, Rational, Symbol, log

N = Symbol("N", positive=True)
VARIABLES = tuple(Symbol(name, positive=True) for name in ("M", "D", "gamma", "r", "x_5"))
PARAMETERS = tuple(Symbol(name) for name in ("alpha", "lambda", "S"))  # names that mean something elsewhere
JOIN = {"sum": Add, "max": Max, "min": Min}


def number(value):
    return Rational(value.numerator, value.denominator)


@dataclass(frozen=True)
class Monomial:
    exponents: tuple  # of entries, one a variable
    power: Fraction
    log_power: Fraction

    def expression(self, variables):
        factors = [v ** entry_expression(entry) for v, entry in zip(variables, self.exponents, strict=True)]
        return Mul(*factors, N ** number(self.power), log(N) ** number(self.log_power))

    def at(self, point):
        """(coefficients of the variables, power of N, power of log N) as numbers."""
        return [entry_at(entry, point) for entry in self.exponents], self.power, self.log_power


def entry_expression(entry):
    value, symbol = entry
    return number(value) * (symbol if symbol is not None else 1)


def entry_at(entry, point):
    value, symbol = entry
    return value * (point[symbol] if symbol is not None else 1)


@dataclass(frozen=True)
class Group:
    """A sum, maximum or minimum of monomials to a power."""

    kind: str
    members: tuple
    power: Fraction

    def expression(self, variables):
        return JOIN[self.kind](*(member.expression(variables) for member in self.members)) ** number(self.power)

    @property
    def is_least(self):
        return (self.kind == "min") == (self.power > 0)

    def forms(self, point):
        return [scaled(member.at(point), self.power) for member in self.members]


def scaled(form, factor):
    return [factor * coefficient for coefficient in form[0]], factor * form[1], factor * form[2]


def added(left, right):
    coefficients = [mine + theirs for mine, theirs in zip(left[0], right[0], strict=True)]
    return coefficients, left[1] + right[1], left[2] + right[2]


@dataclass(frozen=True)
class RandomLaw:
    count: int  # of variables
    terms: tuple  # of (Monomial, groups)
    bounds: tuple  # of (Monomial, equality): the monomial is at most, or exactly, of order 1
    joined: tuple  # of Groups with power 1 that are of the exact order 1

    @property
    def variables(self):
        return VARIABLES[: self.count]

    def loss(self):
        terms = [
            Mul(head.expression(self.variables), *(group.expression(self.variables) for group in groups))
            for head, groups in self.terms
        ]
        return Add(*terms)

    def constraints(self):
        relations = []
        for bound, equality in self.bounds:
            expression = bound.expression(self.variables)
            relations.append(Eq(expression, 1) if equality else expression <= 1)
        return [relation for relation in relations if relation != True] + [  # noqa: E712  (sympy's true)
            Eq(group.expression(self.variables), 1) for group in self.joined
        ]

    def programmes(self, point):
        """Every way to read the minima, as rows over (loss, variables)."""
        fixed = []
        for bound, equality in self.bounds:
            coefficients, power, log_power = bound.at(point)
            fixed.append(([0, *(-c for c in coefficients)], EQUAL if equality else AT_LEAST, (power, log_power)))
        ways = []
        for head, groups in self.terms:
            least = [group.forms(point) for group in groups if group.is_least]
            greatest = [group.forms(point) for group in groups if not group.is_least]
            ways.append(
                [
                    [total(head.at(point), (*chosen, *members)) for members in product(*greatest)]
                    for chosen in product(*least)
                ]
            )
        for choice in product(*ways):
            rows = list(fixed)
            for coefficients, power, log_power in (form for forms in choice for form in forms):
                rows.append(([1, *(-c for c in coefficients)], AT_LEAST, (power, log_power)))
            yield from self._with_joined(rows, point)

    def _with_joined(self, rows, point):
        """One member of each joined group has the exact order 1, the others at most (a minimum: at least)."""
        options = []
        for group in self.joined:
            forms = group.forms(point)
            sign = -1 if group.kind == "min" else 1
            options.append(
                [
                    [
                        (
                            [0, *(-sign * c for c in form[0])],
                            EQUAL if k == pick else AT_LEAST,
                            (sign * form[1], sign * form[2]),
                        )
                        for k, form in enumerate(forms)
                    ]
                    for pick in range(len(forms))
                ]
            )
        for picks in product(*options):
            yield rows + [row for pick in picks for row in pick]

    def oracle(self, point):
        """(value, ranges of the variables) at a point of the symbols."""
        size = self.count + 1
        units = [[int(k == index) for k in range(size)] for index in range(size)]
        return optimum([as_fractions(rows) for rows in self.programmes(point)], units[0], units[1:])


def as_fractions(rows):
    return [([Fraction(c) for c in left], sense, tuple(map(Fraction, right))) for left, sense, right in rows]


def total(form, members):
    for member in members:
        form = added(form, member)
    return form


SMALL = st.builds(Fraction, st.integers(-4, 4), st.integers(1, 3))
POSITIVE = st.builds(Fraction, st.integers(1, 4), st.integers(1, 3))
LOGS = st.one_of(st.just(Fraction(0)), SMALL)


def entries(symbols):
    plain = st.tuples(SMALL, st.none())
    if not symbols:
        return plain
    return st.one_of(plain, st.tuples(SMALL, st.sampled_from(symbols)))


def monomials(count, symbols=()):
    return st.builds(Monomial, st.tuples(*[entries(symbols)] * count), LOGS, LOGS)


def groups(count, symbols=(), powers=(1, -1, Fraction(1, 2), Fraction(-2, 3))):
    members = st.lists(monomials(count, symbols), min_size=2, max_size=2, unique=True).map(tuple)
    return st.builds(
        Group, st.sampled_from(("sum", "max", "min")), members, st.sampled_from([Fraction(power) for power in powers])
    )


@st.composite
def laws(draw, symbols=(), least=2, most=5, most_groups=2):
    """Laws with a tie to the budget and bounds on most variables, so that many of them have an optimum."""
    count = draw(st.integers(least, most))
    left = draw(st.integers(0, most_groups))
    terms = []
    for _ in range(draw(st.integers(2, 4))):
        mine = draw(st.lists(groups(count, symbols), max_size=min(1, left)))
        left -= len(mine)
        terms.append((draw(monomials(count, symbols)), tuple(mine)))
    bounds = [(draw(monomials(count, symbols)), draw(st.booleans())) for _ in range(draw(st.integers(0, 2)))]
    for variable in range(count):
        for sign in (1, -1):
            if draw(st.integers(0, 5)):
                unit = tuple((Fraction(sign * (k == variable)), None) for k in range(count))
                bounds.append((Monomial(unit, -draw(POSITIVE), Fraction(0)), False))
    joined = draw(st.lists(groups(count, symbols, powers=(1,)), max_size=1)) if draw(st.integers(0, 4)) == 0 else []
    return RandomLaw(count, tuple(terms), tuple(bounds), tuple(joined))
