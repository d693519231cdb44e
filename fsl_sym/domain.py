"""Where parameters live: open boxes of parameters, signs of polynomials on them, and the paper's regimes of (s, beta).

A sign is decided only by proof: a polynomial whose coefficients are all non-negative after every parameter is mapped
from its open range to (0, oo) is positive. Where that proof fails the answer is None, never a guess.

>>> from fsl_sym.domain import PLANE, REGIMES, regime_of
>>> from sympy import Rational
>>> regime_of(Rational(1, 2), 4).name
'hard'
>>> [regime.name for regime in REGIMES]
['easy', 'edge', 'hard']
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from math import prod
from operator import or_
from types import MappingProxyType
from typing import Any, Final

from sympy import QQ, Eq, Expr, Float, Gt, Integer, Lt, Rational, Symbol
from sympy import sign as sympy_sign
from sympy.core.relational import Relational
from sympy.polys.orderings import grlex
from sympy.polys.rings import PolyElement, PolyRing

from fsl_sym.symbols import RANGES, beta, s
from fsl_sym.values import FrozenMapping, as_expression, as_fraction, exact, fields_only, instance_of, whole

Point = Mapping[Symbol, Fraction]
Bound = Any
Ratio = tuple[PolyElement, Mapping[PolyElement, int]]
"""A numerator, and the factors of a denominator with their powers."""


@dataclass(frozen=True)
class Domain:
    """An open box of parameters: symbol -> (lower, upper), each a rational or None for no bound.

    >>> from sympy import Symbol
    >>> x = Symbol("x")
    >>> box = Domain({x: (1, None)})
    >>> box.sign(x**2 - x), box.sign(x - 2)
    (1, None)
    >>> box.contains({x: 1}), all(map(box.contains, box.sample(3, seed=1)))
    (False, True)
    """

    ranges: Mapping[Symbol, tuple[Bound, Bound]]

    def __post_init__(self) -> None:
        if not isinstance(self.ranges, Mapping):
            raise TypeError(f"parameters must be a mapping symbol -> (lower, upper), not {self.ranges!r}")
        cleaned: dict[Symbol, tuple[Rational | None, Rational | None]] = {}
        for symbol, bounds in self.ranges.items():
            if not isinstance(symbol, Symbol):
                raise TypeError(
                    f"a parameter must be a sympy Symbol, not {symbol!r}: give a mapping symbol -> (lower, upper)"
                )
            try:
                lower, upper = (None if bound is None else exact(bound) for bound in bounds)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"the range of {symbol} must be (lower, upper) with exact rationals or None, not {bounds!r}"
                ) from error
            if lower is not None and upper is not None and not lower < upper:
                raise ValueError(f"the range of {symbol} is empty: {lower} is not below {upper}")
            cleaned[symbol] = (lower, upper)
        object.__setattr__(self, "ranges", FrozenMapping(cleaned))

    __getstate__ = fields_only

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The parameters, in the order given."""
        return tuple(self.ranges)

    @cached_property
    def ends(self) -> tuple[tuple[Fraction | None, Fraction | None], ...]:
        """The ranges of the parameters, in the order given, as fractions."""
        return tuple(
            (None if lower is None else as_fraction(lower), None if upper is None else as_fraction(upper))
            for lower, upper in self.ranges.values()
        )

    def contains(self, point: Point) -> bool:
        """Whether the point lies strictly inside every range."""
        instance_of("point", point, Mapping)
        coordinates = {symbol: value if type(value) is Fraction else exact(value) for symbol, value in point.items()}
        if missing := [str(symbol) for symbol in self.ranges if symbol not in coordinates]:
            raise ValueError(f"the point {point} gives no value to {', '.join(missing)}")
        return all(
            (lower is None or coordinates[symbol] > lower) and (upper is None or coordinates[symbol] < upper)
            for symbol, (lower, upper) in zip(self.ranges, self.ends, strict=True)
        )

    def sign(self, expression: Any, swaps: Mapping[Symbol, Expr] = MappingProxyType({})) -> int | None:
        """The sign (1, -1, 0) that a rational function of the parameters has on the whole box; None without a proof.

        ``swaps`` are put in for other letters: functions of the parameters. Raises ValueError where symbols are left
        that are no parameters.

        >>> x, y = Symbol("x"), Symbol("y")
        >>> Domain({x: (0, None)}).sign(y - 1, {y: 1 + x})
        1
        """
        expression = as_expression(expression)
        strangers = expression.free_symbols.difference(self.ranges, swaps)
        strangers = strangers.union(*(swap.free_symbols for swap in swaps.values())) - set(self.ranges)
        if strangers:
            raise ValueError(f"{expression} contains {strangers}: only the parameters {self.symbols} have a range")
        values = dict(self._orthant)
        for letter, swap in swaps.items():
            put = _ratio(swap, self._orthant, self._ring.one)
            if put is None:
                return None
            values[letter] = put
        ratio = _ratio(expression, values, self._ring.one)
        if ratio is None:
            return None
        top, bottom = ratio
        signs = [self._polynomial_sign(factor) for factor, count in bottom.items() for _ in range(count)]
        if None in signs:  # factors of unknown signs may have a product of one sign
            signs = [self._polynomial_sign(_multiplied(bottom, self._ring.one))]
        signs.append(self._polynomial_sign(top))
        return None if None in signs else prod(signs)  # type: ignore[arg-type]

    @cached_property
    def _ring(self) -> PolyRing:
        return PolyRing(self.symbols or (s,), QQ, grlex)

    @cached_property
    def _orthant(self) -> dict[Symbol, Ratio]:
        """Every parameter as a ratio of polynomials that maps the positive numbers onto its range."""
        unit = self._ring.one
        mapped: dict[Symbol, Ratio] = {}
        for (symbol, (lower, upper)), x in zip(self.ranges.items(), self._ring.gens, strict=False):
            low, high = (None if end is None else unit * QQ(end.p, end.q) for end in (lower, upper))
            if low is not None and high is not None:
                mapped[symbol] = (low + high * x, {unit + x: 1})
            else:
                mapped[symbol] = (low + x if low is not None else x if high is None else high - x, {})
        return mapped

    def _polynomial_sign(self, polynomial: PolyElement) -> int | None:
        if not polynomial:
            return 0
        for x, bounds in zip(self._ring.gens, self.ranges.values(), strict=False):
            if bounds == (None, None) and polynomial.degree(x) > 0:
                return None
        signs = {coefficient > 0 for coefficient in polynomial.itercoeffs()}
        return None if len(signs) > 1 else 1 if True in signs else -1

    def sample(self, count: int, seed: int = 0) -> list[dict[Symbol, Fraction]]:
        """``count`` rational points of the box over several scales, the same for a seed."""
        generator = random.Random(whole("seed", seed, least=0, most=2**63))
        count = whole("count", count, least=0)
        return [self._draw(generator) for _ in range(count)]

    def _draw(self, generator: random.Random) -> dict[Symbol, Fraction]:
        point: dict[Symbol, Fraction] = {}
        for symbol, (lower, upper) in zip(self.ranges, self.ends, strict=True):
            unit = Fraction(generator.randint(1, 96), 97)
            step = unit / (1 - unit) * generator.choice((Fraction(1, 2), 1, 3))
            if lower is not None and upper is not None:
                point[symbol] = lower + (upper - lower) * unit
            elif lower is not None:
                point[symbol] = lower + step
            elif upper is not None:
                point[symbol] = upper - step
            else:
                point[symbol] = step * generator.choice((-1, 1))
        return point


def _ratio(expression: Expr, values: Mapping[Symbol, Ratio], unit: PolyElement) -> Ratio | None:
    """Numerator and factors of the denominator of a rational function at ``values``; None where it is none, or divides
    by 0.

    Denominators are brought together and nothing is cancelled: what the function divides by stays to be seen.
    """
    if expression.is_Symbol:
        return values[expression]
    if expression.is_Rational:
        return unit * QQ(expression.p, expression.q), {}
    if expression.is_Pow and expression.exp.is_Integer:
        inner = _ratio(expression.base, values, unit)
        if inner is None or (expression.exp < 0 and not inner[0]):
            return None
        top, bottom = inner if expression.exp > 0 else _over(*inner, unit)
        power = abs(int(expression.exp))
        return top**power, {factor: power * count for factor, count in bottom.items()}
    if not (expression.is_Add or expression.is_Mul):
        return None
    parts = [_ratio(argument, values, unit) for argument in expression.args]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if expression.is_Mul:
        return prod((top for top, _ in known), start=unit), dict(sum((Counter(below) for _, below in known), Counter()))
    common = dict(reduce(or_, (Counter(below) for _, below in known)))
    # a greatest common divisor is dear: factors are those that were written
    lacking = [{factor: count - below.get(factor, 0) for factor, count in common.items()} for _, below in known]
    return sum((top * _multiplied(more, unit) for (top, _), more in zip(known, lacking, strict=True)), 0 * unit), common


def _over(top: PolyElement, bottom: Mapping[PolyElement, int], unit: PolyElement) -> Ratio:
    """The inverse of a ratio, its denominator with the leading coefficient 1."""
    return _multiplied(bottom, unit) * (1 / top.LC), {} if top.is_ground else {top.monic(): 1}


def _multiplied(factors: Mapping[PolyElement, int], unit: PolyElement) -> PolyElement:
    """The product of factors to their powers."""
    return prod((factor**count for factor, count in factors.items() if count), start=unit)


PLANE: Final = Domain(RANGES)
"""The (s, beta) plane of the paper: s > 0, beta > 1."""

EASINESS: Final = 1 + s * beta - beta
"""beta (s - (1 - 1/beta)): positive in the easy regime, zero on the edge, negative in the hard regime."""


@dataclass(frozen=True)
class Regime:
    """One of the three regimes of the paper: its name, its condition and the sign of :data:`EASINESS` in it.

    >>> HARD.condition, HARD.contains("1/2", 4), HARD.points(1)
    (s < 1 - 1/beta, True, [{s: 29/60, beta: 35/6}])
    """

    name: str
    condition: Any
    sign: int

    def contains(self, s_value: Any, beta_value: Any) -> bool:
        """Whether an exact point of the plane lies in the regime."""
        value = EASINESS.subs({s: exact(s_value), beta: exact(beta_value)})
        return int(sympy_sign(value)) == self.sign

    def sign_of(self, expression: Any) -> int | None:
        """The sign (1, -1, 0) that a rational function of (s, beta) has all over the regime; None without a proof.

        The regime is parametrised by an open box (or, for the edge, by beta alone), and the sign is proved there.

        >>> EASY.sign_of(s * beta - beta + 1), HARD.sign_of(s - Rational(1, 2))
        (1, None)
        """
        return _sign_where(self.sign, as_expression(expression))

    @property
    def edge(self) -> Mapping[Symbol, Expr]:
        """What s is between easy and hard tasks."""
        return {s: _EDGE}

    def points(self, count: int, seed: int = 0) -> list[dict[Symbol, Rational]]:
        """The points of :meth:`samples`, by symbol."""
        return [dict(zip((s, beta), point, strict=True)) for point in self.samples(count, seed)]

    def samples(self, count: int, seed: int = 0) -> list[tuple[Rational, Rational]]:
        """``count`` exact rational points (s, beta) of the regime, with s in (0, 3) and beta in (1, 6].

        >>> all(REGIMES[1].contains(*point) for point in REGIMES[1].samples(5))
        True
        """
        count, seed = whole("count", count, least=0), whole("seed", seed, least=0, most=2**63)
        generator = random.Random(seed * 3 + self.sign + 1)
        points: list[tuple[Rational, Rational]] = []
        while len(points) < count:
            beta_value = 1 + Rational(generator.randint(4, 60), 12)
            edge = 1 - 1 / beta_value
            fraction_of_range = Rational(generator.randint(2, 22), 24)
            if self.sign > 0:
                s_value = edge + (3 - edge) * fraction_of_range
            elif self.sign < 0:
                s_value = edge * fraction_of_range
            else:
                s_value = edge
            points.append((s_value, beta_value))
        return points


EASY: Final = Regime("easy", Gt(s, 1 - 1 / beta), 1)
EDGE: Final = Regime("edge", Eq(s, 1 - 1 / beta), 0)
HARD: Final = Regime("hard", Lt(s, 1 - 1 / beta), -1)
REGIMES: Final = (EASY, EDGE, HARD)

_EDGE, _ALONG = 1 - 1 / beta, Symbol("u")
_BOXES: Final = {
    1: (_EDGE + _ALONG, Domain({_ALONG: (0, None), beta: (1, None)})),
    0: (_EDGE, Domain({beta: (1, None)})),
    -1: (_EDGE * _ALONG, Domain({_ALONG: (0, 1), beta: (1, None)})),
}
"""Sign of a regime -> s in a parameter of its own, and the box of the parameters."""


@lru_cache(maxsize=4096)  # certificates ask for the same signs again and again
def _sign_where(sign: int, expression: Expr) -> int | None:
    swap, box = _BOXES[sign]
    return box.sign(expression, {s: swap})


def regime_of(s_value: Any, beta_value: Any) -> Regime:
    """The regime of an exact point of the plane.

    Raises ValueError outside s > 0, beta > 1 and for numbers that are not exact rationals: on the edge
    s = 1 - 1/beta a rounded number would land in the wrong regime.

    >>> regime_of("3/4", 4).name
    'edge'
    """
    s_exact, beta_exact = exact(s_value), exact(beta_value)
    if s_exact <= 0:
        raise ValueError(f"s = {s_exact} is not positive: the source condition needs s > 0")
    if beta_exact <= 1:
        raise ValueError(f"beta = {beta_exact} is not above 1: the trace of H is finite only for beta > 1")
    return next(regime for regime in REGIMES if regime.contains(s_exact, beta_exact))


def decide(relation: Any, regime: Regime, samples: int = 24) -> bool | None:
    """Whether a relation between rational functions of (s, beta) holds all over a regime: True, False or None.

    False is returned with a counterexample among ``samples`` exact points, True only with a proof
    (:meth:`Regime.sign_of`). None means neither.
    Raises TypeError for anything but a relation and for a float, ValueError for other symbols than s and beta.

    >>> decide(s * beta > beta - 1, EASY), decide(s < 1, EASY), decide(s < 1, HARD)
    (True, False, True)
    """
    relation = relation if isinstance(relation, bool) else as_expression(relation)
    if not isinstance(regime, Regime):
        raise TypeError(f"regime must be a Regime such as EASY, got {type(regime).__name__}")
    if relation in (True, False):
        return bool(relation)
    if not isinstance(relation, Relational) or relation.has(Float):
        raise TypeError(f"{relation} cannot be decided: give one relation between exact expressions in s and beta")
    if strangers := relation.free_symbols - {s, beta}:
        raise ValueError(f"{relation} contains {strangers}: regimes are of s and beta alone")
    sign = regime.sign_of(relation.lhs - relation.rhs)
    if sign is not None:
        return bool(relation.func(Integer(sign), 0))
    for s_value, beta_value in regime.samples(samples):
        if not relation.subs({s: s_value, beta: beta_value}):
            return False
    return None
