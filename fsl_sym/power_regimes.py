"""The regimes of a schedule whose learning rate ends like (1 - tau/K)^p, and so gamma like (1 - t/T)^q, q = p/(p+1).

Two things compete for the noise: how the rate vanishes, T^-q, and what the spectrum remembers, T^(1/beta - 1). The
smaller of q and 1 - 1/beta decides, and tasks are easy or hard for the schedule as s is above or below it:

>>> from sympy import Integer
>>> [regime.name for regime in sides(Integer(1))[0].regimes]
['easy, beta < 2', 'edge, beta < 2', 'hard, beta < 2']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Final

from sympy import And, Eq, Expr, Gt, Integer, Lt, Rational, Symbol, expand, factor

from fsl_sym.domain import Domain
from fsl_sym.symbols import beta, p, s
from fsl_sym.values import as_expression, exact

_RELATIONS: Final = {-1: Lt, 0: Eq, 1: Gt}
_SIGNS: Final = {-1: "<", 0: "=", 1: ">"}
_TASKS: Final = {1: "easy", 0: "edge", -1: "hard"}
_ALONG, _BESIDE = Symbol("u"), Symbol("w")


@dataclass(frozen=True)
class Side:
    """On which side of the resonance beta = p + 1 the capacity exponent lies.

    ``power`` is a nonnegative rational, or the symbol p; ``sign`` is that of beta - p - 1. At -1 the memory of the
    spectrum decides, at 1 the way in which the rate vanishes, at 0 both do, with a logarithm.

    >>> Side(Integer(1), 1).exponent, Side(Integer(1), -1).exponent
    (1/2, 1 - 1/beta)
    """

    power: Expr
    sign: int

    def __post_init__(self) -> None:
        power = as_expression(self.power)
        if power != p and not (power.is_Rational and power >= 0):
            raise ValueError(f"the power p = {power} must be a nonnegative rational or the symbol p")
        if self.sign not in _RELATIONS or (power == 0 and self.sign != 1):
            raise ValueError(f"the sign {self.sign} of beta - p - 1 must be -1, 0 or 1; for p = 0 it is 1: beta > 1")
        object.__setattr__(self, "power", power)

    @property
    def exponent(self) -> Expr:
        """min(q, 1 - 1/beta): the noise at the end of training falls like T to minus this."""
        by_memory = self.sign < 0 or (self.sign == 0 and self.power == p)
        return 1 - 1 / beta if by_memory else self.power / (self.power + 1)

    @property
    def edge(self) -> Expr:
        """The s between easy and hard tasks."""
        return self.exponent

    @property
    def condition(self) -> Any:
        """The relation between beta and p + 1."""
        return _RELATIONS[self.sign](beta, self.power + 1)

    @property
    def regimes(self) -> tuple[PowerRegime, ...]:
        """Easy, edge and hard on this side; one regime where the rate does not vanish."""
        return tuple(PowerRegime(self, sign) for sign in ((1,) if self.power == 0 else (1, 0, -1)))

    def implies(self, condition: Any) -> bool:
        """Whether a relation between beta - 1 and p, or true, holds on this side.

        Raises ValueError for another relation.

        >>> Side(Integer(1), 1).implies(beta - 1 > 1), Side(Integer(1), 0).implies(beta - 1 > 1)
        (True, False)
        """
        if condition == True:  # noqa: E712  (sympy's true)
            return True
        gap = expand(condition.lhs - condition.rhs)
        for turn in (1, -1):
            if expand(gap - turn * (beta - 1 - self.power)) == 0:
                return bool(condition.func(Integer(turn * self.sign), 0))
        raise ValueError(f"{condition} is no relation between beta - 1 and p = {self.power}")

    @property
    def where(self) -> Mapping[Symbol, Expr]:
        """What is replaced so that the side becomes an open box; nothing where it is one."""
        if self.power == p:
            return {p: {-1: beta - 1 + _BESIDE, 0: beta - 1, 1: (beta - 1) * _BESIDE}[self.sign]}
        return {beta: self.power + 1} if self.sign == 0 else {}

    @property
    def back(self) -> Mapping[Symbol, Expr]:
        """What undoes :attr:`where`."""
        return {_BESIDE: p + 1 - beta if self.sign < 0 else p / (beta - 1)} if self.power == p else {}

    @property
    def ranges(self) -> Mapping[Symbol, tuple[Expr | None, Expr | None]]:
        """The open ranges of the parameters that are left, s aside."""
        if self.power == p:
            beside = {-1: (Integer(0), None), 0: None, 1: (Integer(0), Integer(1))}[self.sign]
            return {beta: (Integer(1), None)} | ({} if beside is None else {_BESIDE: beside})
        turn = self.power + 1
        return {} if self.sign == 0 else {beta: (Integer(1), turn) if self.sign < 0 else (turn, None)}


@dataclass(frozen=True)
class Threshold:
    """All capacities at once, where a choice of its own (a final rate, a timescale) takes the place of the end.

    ``edge`` is the s between easy and hard tasks, positive for every beta > 1, ``exponent`` that of the tuned noise.

    >>> [str(regime.condition) for regime in Threshold(Integer(1), Integer(0)).regimes]
    ['s > 1', 'Eq(s, 1)', 's < 1']
    """

    edge: Expr
    exponent: Expr
    condition = Gt(beta, 1, evaluate=False)
    where: ClassVar[Mapping[Symbol, Expr]] = MappingProxyType({})
    back: ClassVar[Mapping[Symbol, Expr]] = MappingProxyType({})
    ranges: ClassVar[Mapping[Symbol, tuple[Expr | None, Expr | None]]] = MappingProxyType({beta: (Integer(1), None)})

    def __post_init__(self) -> None:
        for name in ("edge", "exponent"):
            object.__setattr__(self, name, as_expression(getattr(self, name)))
        if Domain(self.ranges).sign(self.edge) != 1:
            raise ValueError(f"the edge {self.edge} is not shown to be positive for every beta > 1")

    @property
    def regimes(self) -> tuple[PowerRegime, ...]:
        """Easy, edge and hard."""
        return tuple(PowerRegime(self, sign) for sign in (1, 0, -1))

    def implies(self, condition: Any) -> bool:
        """Whether an order is there whatever beta is; the others are not."""
        return bool(condition == True)  # noqa: E712  (sympy's true)


@dataclass(frozen=True)
class PowerRegime:
    """Tasks that are easy (sign 1), on the edge (0) or hard (-1) for a schedule, on one side of its resonance.

    >>> from sympy import Rational
    >>> PowerRegime(Side(Integer(1), 1), -1).contains("1/4", 3)
    True
    """

    side: Side | Threshold
    sign: int

    def __post_init__(self) -> None:
        # exact types: a regime is what the kernel believes signs on
        if type(self.side) not in (Side, Threshold) or self.sign not in _TASKS:
            raise ValueError(f"a regime needs a side and a sign, -1, 0 or 1, not {self.side!r} and {self.sign!r}")
        if self._always and self.sign != 1:
            raise ValueError("a rate that does not vanish, p = 0, has one regime: every s > 0 is above q = 0")

    @property
    def _always(self) -> bool:
        return bool(self.side.edge == 0)

    @property
    def name(self) -> str:
        """easy, edge or hard, and the side."""
        if self._always:
            return "every task"
        where = f", beta {_SIGNS[self.side.sign]} {self.side.power + 1}" if isinstance(self.side, Side) else ""
        return _TASKS[self.sign] + where

    @property
    def condition(self) -> Any:
        """On s, beta and, where it is a symbol, p."""
        if self._always:
            return And(Gt(s, 0, evaluate=False), self.side.condition, evaluate=False)
        task = _RELATIONS[self.sign](s, self.side.edge, evaluate=False)
        return task if isinstance(self.side, Threshold) else And(task, self.side.condition, evaluate=False)

    def contains(self, s_value: Any, beta_value: Any, p_value: Any = None) -> bool:
        """Whether an exact point lies in the regime; ``p_value`` where p is a symbol.

        Raises ValueError where p is a symbol and no value is given.
        """
        values = {s: exact(s_value), beta: exact(beta_value)}
        gaps, signs = [], [self.sign]
        if isinstance(self.side, Side):
            if self.side.power == p:
                if p_value is None:
                    raise ValueError("the power p of the schedule is a symbol: give its value")
                values[p] = exact(p_value)
            gaps, signs = [values[beta] - self.side.power.subs(values) - 1], [self.side.sign, self.sign]
        gaps.append(values[s] - self.side.edge.subs(values))
        return [int(gap.is_positive) - int(gap.is_negative) for gap in gaps] == signs

    def sign_of(self, expression: Any) -> int | None:
        """The sign (1, -1, 0) that a rational function has all over the regime; None without a proof."""
        return _sign_in(self, as_expression(expression))

    @property
    def edge(self) -> Mapping[Symbol, Expr]:
        """What s is between easy and hard tasks."""
        return {s: self.side.edge}

    def points(self, count: int, seed: int = 0) -> list[dict[Symbol, Rational]]:
        """``count`` exact points of the regime, in s and the parameters of :attr:`Side.ranges`."""
        swap, box = _box(self)
        points = []
        for drawn in box.sample(count, seed) if box.symbols else [{}] * count:
            values = {symbol: Rational(value) for symbol, value in drawn.items()}
            task = exact(swap[s].subs(values))
            points.append({s: task, **{extent: values[extent] for extent in self.side.ranges}})
        return points


@lru_cache(maxsize=256)  # with the box the ring is kept in which it reads its parameters
def _box(regime: PowerRegime) -> tuple[Mapping[Symbol, Expr], Domain]:
    """What is put in for s, and for letters of the side, so that a regime is an open box, and that box."""
    edge = factor(regime.side.edge.subs(regime.side.where))
    ranges: dict[Symbol, Any] = dict(regime.side.ranges)
    if regime.sign != 0:
        ranges[_ALONG] = (0, None) if regime.sign > 0 else (0, 1)
    task = {1: edge + _ALONG, 0: edge, -1: edge * _ALONG}[regime.sign]
    return {**regime.side.where, s: task}, Domain(ranges)


@lru_cache(maxsize=4096)  # certificates ask for the same signs again and again
def _sign_in(regime: PowerRegime, expression: Expr) -> int | None:
    swap, box = _box(regime)
    return box.sign(expression, swap)


def sides(power: Expr) -> tuple[Side, ...]:
    """The sides of the resonance of a rate that ends like (1 - tau/K)^power; one where it does not vanish.

    >>> [side.condition for side in sides(Integer(1))]
    [beta < 2, Eq(beta, 2), beta > 2]
    """
    return tuple(Side(power, sign) for sign in ((1,) if power == 0 else (-1, 0, 1)))
