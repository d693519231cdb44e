"""Statements about numbers that several sections make."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sympy import Add, Expr

from fsl_num.claims.records import Judgement
from fsl_num.claims.statements import Direction, Equivalent, NothingCompared, OfFormulas, WithoutExponents
from fsl_num.validation import Array
from fsl_sym.proof import Formula
from fsl_sym.proof.bound_letters import canonical

Bounds = Mapping[str, tuple[float, float]]


def multiple_of(order: Expr, unit: Expr) -> float:
    """The number of times that a unit is in an expression: the constant of a bound, as it is printed.

    >>> from fsl_sym.symbols import M, t
    >>> multiple_of(2 * M + 2 * t, M + t)
    2.0
    """
    order, own = canonical(order), canonical(unit)
    factor, term = Add.make_args(own)[0].as_coeff_Mul()
    number = order.coeff(term) / factor
    if order != number * own:
        raise ValueError(f"{order} is no multiple of {unit}")
    return float(number)


def power_law(direction: Direction = "both", /, **exponents: float) -> Equivalent:
    """The statement that a quantity is a product of powers, up to constants; ``exponents`` by the names of the rays.

    >>> power_law("upper", N=-1.0, **{"1 - c": 0.5}).exponents
    {'N': -1.0, '1 - c': 0.5}
    """
    return Equivalent(_monomial, exponents, direction=direction)


def _monomial(exponents: Mapping[str, float], logs: Mapping[str, Array]) -> Array:
    terms = [power * logs[name] for name, power in exponents.items()]
    return np.asarray(sum(terms[1:], terms[0]), dtype=np.float64)


def quotients(*comparisons: Formula) -> dict[str, tuple[float, float]]:
    """Of each comparison what numbers bear the name of: "left over right", and the range that it leaves them.

    >>> from sympy import Symbol
    >>> from fsl_sym.proof import at_most
    >>> quotients(at_most(Symbol("b"), Symbol("a") / 20))
    {'b over a': (0.0, 0.05)}
    """
    ranges = {}
    for comparison in comparisons:
        factor, letter = comparison.right.as_coeff_Mul()
        ranges[f"{comparison.left} over {letter}" if letter != 1 else str(comparison.left)] = (0.0, float(factor))
    return ranges


@dataclass(frozen=True)
class Ranges(OfFormulas, WithoutExponents):
    """Named numbers lie in ranges, ends included."""

    ranges: Bounds
    wrong: Mapping[str, Bounds] = field(default_factory=dict)

    def judge(self, measured: Sequence[tuple[str, float]]) -> Judgement:
        """Every number whose name ends with the name of a range; one that is out fails.

        Raises ValueError where a range has no number, or a number is nan.
        """
        out, said = [], []
        for ending, (low, high) in self.ranges.items():
            numbers = [(name, value) for name, value in measured if name.endswith(ending)]
            if not numbers:
                raise NothingCompared(f"no number measured bears the name {ending!r} of the statement")
            for name, value in numbers:
                if math.isnan(value):
                    raise ValueError(f"{name} is nan: nothing can be judged")
                said.append(f"{name} {value:.3g}")
                if not low <= value <= high:
                    out.append(f"{name} is {value:.3g}, outside [{low:g}, {high:g}]")
        return Judgement(not out, float(len(out)) + 0.5, None, None, "; ".join(out or said))

    def tightened(self, size: float) -> Sequence[Ranges]:
        """Each end of each range drawn in by this share of its width, or of itself where the other end is infinite."""
        drawn = []
        for name, (low, high) in self.ranges.items():
            width = high - low
            by = size * (width if math.isfinite(width) else abs(low if math.isfinite(low) else high))
            drawn += [{name: ends} for ends in ((low + by, high), (low, high - by)) if ends != (low, high)]
        return [replace(self, ranges={**self.ranges, **change}) for change in drawn]

    def mutants(self) -> Mapping[str, Ranges]:
        """The wrong ranges given."""
        return {name: replace(self, ranges=ranges) for name, ranges in self.wrong.items()}


@dataclass(frozen=True)
class Between(OfFormulas, WithoutExponents):
    """Every measured number lies between its bounds, within a relative ``slack`` that the measurement itself needs.

    ``bounds``: name -> (low, high); ``wrong``: names of mutants and their bounds. A measurement is a sequence of
    (name, place, value).
    """

    bounds: Bounds
    slack: float
    wrong: Mapping[str, Bounds] = field(default_factory=dict)

    def judge(self, measured: Sequence[tuple[str, str, float]]) -> Judgement:
        """The judgement of the worst number; ValueError where there is none or one is not finite."""
        worst, detail, values = -math.inf, "", []
        for name, place, value in measured:
            low, high = self.bounds[name]
            if not math.isfinite(value):
                raise ValueError(f"{name} at {place} is {value}: nothing can be judged")
            over = max(value / high - 1.0, low / value - 1.0 if low > 0.0 else -1.0)
            values.append(value)
            if over > worst:
                worst, detail = over, f"{name} = {value:.6g} at {place}, bounds [{low:.6g}, {high:.6g}]"
        if not values:
            raise ValueError("no number was measured: nothing can be judged")
        excess = max(worst / self.slack, 0.0)
        return Judgement(worst <= self.slack, excess, (min(values), max(values)), None, detail)

    def tightened(self, size: float) -> Sequence[Between]:
        """Each end of each range drawn in by this share of itself."""
        drawn = []
        for name, (low, high) in self.bounds.items():
            drawn += [{name: (low * (1.0 + size), high)}] if low > 0.0 else []
            drawn += [{name: (low, high / (1.0 + size))}] if math.isfinite(high) else []
        return [replace(self, bounds={**self.bounds, **change}) for change in drawn]

    def mutants(self) -> Mapping[str, Between]:
        """The wrong bounds given."""
        return {name: replace(self, bounds={**self.bounds, **bounds}) for name, bounds in self.wrong.items()}
