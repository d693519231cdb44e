"""The numeric law of a formula, and its wrong versions: both made from the symbolic value, nothing typed again.

A formula ``quantity ~ order`` (or ``<~``) becomes an :class:`~fsl_num.claims.statements.Equivalent`: every power in
the order is an exponent that mutants move, every term of a sum and every branch of a minimum one that they leave out.

>>> from types import SimpleNamespace
>>> from sympy import Min
>>> from fsl_sym.proof import same_order
>>> from fsl_sym.symbols import E, M, T, beta, s
>>> law = order_statement(same_order(E, M ** (-s * beta) + Min(M, T ** (1 / beta)) / T), SimpleNamespace(s=1, beta=2))
>>> law.exponents
{'M in M^(-beta*s)': -2.0, 'T in Min(M, T^(1/beta))/T': -1.0, 'M in the minimum': 1.0, 'T in the minimum': 0.5}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Add, Expr, Integer, Max, Min, Mul, Pow, Symbol, log

from fsl_num.claims.statements import Direction, Equivalent, Law
from fsl_sym.proof import AllOf, Formula
from fsl_sym.symbols import beta, s

Array = NDArray[np.float64]
Logs = Mapping[str, Array]
_Part = Callable[[Mapping[str, float], Logs], Array]


class _Compiled:
    """An order as a function of its exponents; each power gets a name when it is met.

    ``letters`` are those of the whole order; ``absent`` names their powers in the terms and branches that lack them.
    """

    def __init__(self, order: Expr, point: Mapping[Symbol, Any]) -> None:
        self.point = point
        self.letters = self.letters_of(order)
        self.exponents: dict[str, float] = {}
        self.logarithms: set[str] = set()
        self.absent: set[str] = set()

    def number(self, expression: Expr) -> float:
        return _number(expression, tuple(self.point.items()))

    def part(self, expression: Expr, where: str) -> _Part:
        """The log of an expression as a function of exponents and of the logs of its letters."""
        if isinstance(expression, Add) and not _is_difference(expression):
            terms = [self.with_absent(term, self.part(term, _shown(term))) for term in expression.args]
            return lambda powers, logs: _sum(*(term(powers, logs) for term in terms))
        if isinstance(expression, Min | Max):
            name = "the minimum" if isinstance(expression, Min) else "the maximum"
            branches = [self.with_absent(branch, self.part(branch, name)) for branch in expression.args]
            choose = np.minimum if isinstance(expression, Min) else np.maximum
            return lambda powers, logs: choose.reduce(
                np.broadcast_arrays(*(branch(powers, logs) for branch in branches))
            )
        if not expression.free_symbols - set(self.point):  # before products: 2**(3/2) is one, of 2 and 2**(1/2)
            constant = float(np.log(self.number(expression)))
            return lambda powers, logs: np.float64(constant)  # type: ignore[return-value]
        if isinstance(expression, Mul):
            # Two powers of one letter are one exponent: moved against each other they would change nothing.
            together: defaultdict[Expr, Expr] = defaultdict(lambda: Integer(0))
            for factor in expression.args:
                base, exponent = factor.as_base_exp()
                together[base] += exponent
            factors = [self.part(base**exponent, where) for base, exponent in together.items()]
            return lambda powers, logs: np.asarray(sum(factor(powers, logs) for factor in factors))
        base, exponent = expression.as_base_exp()
        if isinstance(base, Add) and not _is_difference(base):
            key, inner = self._named(_shown(base), where), self.part(base, where)
            self.exponents[key] = self.number(exponent)
            return lambda powers, logs: powers[key] * inner(powers, logs)
        return self._power(base, exponent, where)

    def with_absent(self, expression: Expr, part: _Part) -> _Part:
        """A term or branch with powers, all 0, of the letters of the order that it does not hold; not one of others."""
        if _has_terms(expression):
            return part
        keys = {f"{letter} in {_shown(expression)}": letter
                for letter in sorted(self.letters - self.letters_of(expression))}  # fmt: skip
        self.absent |= set(keys)

        def value(powers: Mapping[str, float], logs: Logs) -> Array:
            moved = (powers[key] * _log_of(letter, logs) for key, letter in keys.items() if key in powers)
            return part(powers, logs) + sum(moved)

        return value

    def letters_of(self, expression: Expr) -> frozenset[str]:
        """What powers are taken of, by name: letters, and differences of them."""
        if isinstance(expression, Symbol) or _is_difference(expression):
            return frozenset() if expression in self.point else frozenset({str(expression)})
        parts = expression.args[:1] if isinstance(expression, Pow) else expression.args
        return frozenset().union(*(self.letters_of(part) for part in parts))

    def _named(self, name: str, where: str) -> str:
        key = name if where == "" else f"{name} in {where}"
        while key in self.exponents:
            key += "'"
        return key

    def _power(self, base: Expr, exponent: Expr, where: str) -> _Part:
        if isinstance(base, log):
            return self._power_of_log(base.args[0], exponent, where)
        letter, squared = str(base), exponent == 2 and isinstance(base, Symbol)
        name = f"{letter}^2" if squared else letter
        key = self._named(name, where)
        self.exponents[key] = 1.0 if squared else self.number(exponent)

        def value(powers: Mapping[str, float], logs: Logs) -> Array:
            if squared:
                return powers[key] * (logs[name] if name in logs else 2 * logs[letter])
            return powers[key] * _log_of(letter, logs)

        return value

    def _power_of_log(self, inside: Expr, exponent: Expr, where: str) -> _Part:
        """A power of log(t) or of log(3 + t); another power of t inside changes a factor alone, and is none to move."""
        key = self._named(f"log {_shown(inside)}", where)
        self.exponents[key] = self.number(exponent)
        self.logarithms.add(key)
        own = _Compiled(inside, self.point)
        argument, fixed = own.part(inside, ""), own.exponents
        return lambda powers, logs: powers[key] * np.log(argument(fixed, logs))


@lru_cache(maxsize=4096)  # wrong versions share most of their exponents
def _number(expression: Expr, point: tuple[tuple[Symbol, Any], ...]) -> float:
    value = expression.subs(dict(point))
    if not value.is_number:
        raise ValueError(f"the exponent {expression} holds {value.free_symbols}: only s and beta have values")
    return float(value)


def _sum(*terms: Array) -> Array:
    return np.asarray(np.logaddexp.reduce(np.broadcast_arrays(*terms), axis=0))


def _log_of(letter: str, logs: Logs) -> Array:
    """The log of a letter, which may stand there as its square."""
    try:
        return logs[letter] if letter in logs else logs[f"{letter}^2"] / 2
    except KeyError:
        raise ValueError(
            f"the formula holds {letter}, and along what is measured only {', '.join(logs)} have values: "
            "name it in the logs of the ray, or take it out of the formula"
        ) from None


def _is_difference(expression: Expr) -> bool:
    """Whether a sum is one quantity with a name of its own, such as a - b."""
    return isinstance(expression, Add) and any(term.could_extract_minus_sign() for term in expression.args)


def _has_terms(expression: Expr) -> bool:
    """Whether there are terms or branches in it, which the exponents of powers are not."""
    if isinstance(expression, Min | Max) or (isinstance(expression, Add) and not _is_difference(expression)):
        return True
    return any(_has_terms(part) for part in (expression.args[:1] if isinstance(expression, Pow) else expression.args))


def _shown(term: Expr) -> str:
    return str(term).replace("**", "^")


def order_statement(formula: Formula, sample: Any, *, logarithmic: bool = False, **values: Any) -> Equivalent:
    """The statement that a measured quantity is of the order that a formula says, at the (s, beta) of a sample.

    Parameters
    ----------
    formula
        With the relation ``~`` or ``<~``; the rays measured must hold the log of every letter of its right side, and of
        every difference such as ``a - b``, under its name.
    sample
        Has ``s`` and ``beta``, exact.
    logarithmic
        Whether drifts are judged against the logarithm of the scale.
    values
        Other letters of exponents, name -> exact value.

    Raises
    ------
    ValueError
        If the formula is no order, or an exponent holds a letter without a value.
    """
    if formula.relation not in ("~", "<~"):
        raise ValueError(f"a law is made from an order, and {formula} is none")
    point: dict[Symbol, Any] = {s: sample.s, beta: sample.beta}
    point |= {letter: values[letter.name] for letter in formula.right.free_symbols if letter.name in values}
    law, exponents, logarithms, absent = compiled(formula.right, point)
    direction: Direction = "both" if formula.relation == "~" else "upper"
    return Equivalent(law, exponents, logarithms, direction, logarithmic, absent=absent, formulas=(formula,))


def compiled(order: Expr, point: Mapping[Symbol, Any]) -> tuple[Law, dict[str, float], frozenset[str], frozenset[str]]:
    """The log of an order as a law of its exponents; their names and values; which are powers of logarithms.

    Last the names of powers that are 0: those of the letters of the order, in terms and branches that lack them.
    """
    compiler = _Compiled(order, point)
    part = compiler.part(order, "")

    def law(powers: Mapping[str, float], logs: Logs) -> Array:
        return np.broadcast_to(part(powers, logs), np.shape(next(iter(logs.values())))).astype(np.float64)

    return law, compiler.exponents, frozenset(compiler.logarithms), frozenset(compiler.absent)


def order_mutants(formula: Formula, sample: Any, **values: Any) -> dict[str, Equivalent]:
    """Wrong versions of an order beside those with a moved exponent: a term or a branch of a minimum left out.

    For a bound from above only what makes it stricter is wrong, and that the bound is attained everywhere: where this
    is true the claim should be an equivalence.

    >>> from types import SimpleNamespace
    >>> from fsl_sym.proof import same_order
    >>> from fsl_sym.symbols import E, M, T, beta, s
    >>> sorted(order_mutants(same_order(E, M ** (-s * beta) + T**-s), SimpleNamespace(s=1, beta=2)))
    ['without M^(-beta*s)', 'without T^(-s)']
    """
    upper = formula.relation == "<~"
    wrong = {}
    if upper:
        attained = Formula(formula.left, "~", formula.right)
        wrong["of that order"] = order_statement(attained, sample, **values)
    for name, order in _shortened(formula.right, upper):
        shorter = Formula(formula.left, formula.relation, order)
        wrong[name] = order_statement(shorter, sample, **values)
    return wrong


def _shortened(order: Expr, upper: bool) -> Iterator[tuple[str, Expr]]:
    """The order without one of its terms or branches, wherever it stands."""
    if isinstance(order, Add | Min | Max) and not _is_difference(order):
        stricter = isinstance(order, Add | Max)
        for place, part in enumerate(order.args):
            if len(order.args) > 1 and (stricter or not upper):
                remainder = order.func(*(term for index, term in enumerate(order.args) if index != place))
                yield f"without {_shown(part)}", remainder
    for place, part in enumerate(order.args):
        if isinstance(order, Add | Min | Max | Mul) or (isinstance(order, Pow) and place == 0):
            for name, shorter in _shortened(part, upper):
                yield name, order.func(*(shorter if index == place else term for index, term in enumerate(order.args)))


def growth(power: float, log_power: float, *, direction: Direction = "both") -> Equivalent:
    """The statement N^power (log N)^log_power about rays whose only variable is "N", at scales where logs show."""
    return Equivalent(
        _growth_law, {"power": power, "log power": log_power}, frozenset({"log power"}), direction, logarithmic=True
    )


def _growth_law(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    return exponents["power"] * logs["N"] + exponents["log power"] * np.log(logs["N"])


def parts_of(formula: Formula | AllOf | str) -> tuple[Formula, ...]:
    """The single formulas of a statement; none of a text."""
    if isinstance(formula, AllOf):
        return tuple(part for statement in formula.parts for part in parts_of(statement))
    return (formula,) if isinstance(formula, Formula) else ()
