"""Growth orders N^a (log N)^b up to two-sided constants, and sums of them, compared regime by regime.

>>> from sympy import Symbol
>>> from fsl_sym.order import Order
>>> from fsl_sym.symbols import s
>>> Order(-s, 0).compare(Order(-s, s)) is not None
True
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sympy import Expr, Float, Integer, Symbol, factor, log

from fsl_sym.algebra.equality import simplified
from fsl_sym.algebra.printing import latex
from fsl_sym.domain import REGIMES, Regime
from fsl_sym.values import as_expression, assigned, entries, instance_of, letter

_factored = lru_cache(maxsize=4096)(factor)  # the tables of many laws have the same exponents


@dataclass(frozen=True)
class Order:
    """N^power (log N)^log_power as N grows, up to constants; exponents are rational functions of the parameters.

    Raises TypeError for a float, because exponents are compared exactly, and for what is infinite or not real.

    >>> Order(1, -1) * Order(0, 1) == Order(1, 0), Order(1).equals(Order("2/2"))
    (True, True)
    >>> from fsl_sym.symbols import s
    >>> Order(-s, 1).subs({s: "1/2"})
    Order(power=-1/2, log_power=1)
    """

    power: Expr
    log_power: Expr

    def __init__(self, power: Any = 0, log_power: Any = 0) -> None:
        for name, exponent in (("power", as_expression(power)), ("log_power", as_expression(log_power))):
            if exponent.has(Float):
                raise TypeError(
                    f"the {name} {exponent} contains a float: write an exact one, for example Rational(1, 2)"
                )
            if exponent.is_real is False:
                raise TypeError(f"the {name} {exponent} is no real number, and a growth order has real exponents")
            object.__setattr__(self, name, exponent)

    def __mul__(self, other: Order) -> Order:
        instance_of("other", other, Order)
        return Order(self.power + other.power, self.log_power + other.log_power)

    def __pow__(self, exponent: Any) -> Order:
        exponent = as_expression(exponent)
        return Order(exponent * self.power, exponent * self.log_power)

    def __truediv__(self, other: Order) -> Order:
        instance_of("other", other, Order)
        return self * other**-1

    def __str__(self) -> str:
        """As text in N.

        >>> print(Order("-1/2", 1))
        N^(-1/2) (log N)
        """
        return self.as_text(Symbol("N"))

    def equals(self, other: Order) -> bool:
        """Whether both exponents agree identically."""
        instance_of("other", other, Order)
        return bool(simplified(self.power - other.power) == 0 == simplified(self.log_power - other.log_power))

    def subs(self, values: Any) -> Order:
        """The order with parameters replaced."""
        return Order(*(exponent.subs(assigned(values)) for exponent in (self.power, self.log_power)))

    def factored(self) -> Order:
        """The same with its exponents as products.

        >>> from fsl_sym.symbols import s
        >>> Order(1 / s - 1).factored()
        Order(power=-(s - 1)/s, log_power=0)
        """
        return Order(_factored(self.power), _factored(self.log_power))

    def compare(self, other: Order, regime: Regime | None = None) -> int | None:
        """1, 0 or -1 as this order grows faster than, like, or slower than the other all over the regime.

        Without a regime all three are asked, and None is returned unless they agree. None also means that the sign
        could not be proved: it is never guessed from a limit with symbolic exponents.

        >>> from fsl_sym.domain import EASY, HARD
        >>> from fsl_sym.symbols import s, beta
        >>> Order(-s).compare(Order(1 / beta - 1), HARD), Order(-s).compare(Order(1 / beta - 1), EASY)
        (1, -1)
        """
        instance_of("other", other, Order)
        if regime is None:
            answers = {self.compare(other, case) for case in REGIMES}
            return answers.pop() if len(answers) == 1 else None
        instance_of("regime", regime, Regime)
        for gap in (self.power - other.power, self.log_power - other.log_power):
            sign = 0 if simplified(gap) == 0 else regime.sign_of(gap)
            if sign != 0:
                return sign
        return 0

    def as_expr(self, base: Symbol) -> Expr:
        """The order as a sympy expression in ``base``.

        >>> Order("-1/2", 2).as_expr(Symbol("D"))
        log(D)**2/sqrt(D)
        """
        base = letter("base", base)
        return base**self.power * log(base) ** self.log_power

    def as_text(self, base: Symbol) -> str:
        """The order as plain text.

        >>> Order("-1/2", 1).as_text(Symbol("D"))
        'D^(-1/2) (log D)'
        """
        letter("base", base)
        factors = [_power_text(str(base), self.power), _power_text(f"(log {base})", self.log_power)]
        return " ".join(factor for factor in factors if factor) or "1"

    def as_latex(self, base: Symbol) -> str:
        """The order in LaTeX: powers with their signs, and no fraction of powers.

        >>> Order(-1, 2).as_latex(Symbol("D"))
        'D^{-1} (\\\\log D)^{2}'
        """
        name = latex(letter("base", base))
        factors = [_power_latex(name, name, self.power)]
        factors.append(_power_latex(rf"\log {name}", rf"(\log {name})", self.log_power))
        return r" ".join(factor for factor in factors if factor) or "1"

    def _repr_latex_(self) -> str:
        return f"${self._latex(None)}$"

    def _latex(self, printer: Any) -> str:
        return self.as_latex(Symbol("N", positive=True))


def _power_text(base: str, power: Expr) -> str:
    if power == 0 or power == 1:
        return base if power == 1 else ""
    text = str(power).replace("**", "^")
    return f"{base}^{text}" if text.isalnum() else f"{base}^({text})"


def _power_latex(alone: str, raised: str, exponent: Expr) -> str:
    if exponent == 0 or exponent == 1:
        return alone if exponent == 1 else ""
    return f"{raised}^{{{latex(exponent)}}}"


def dominant(orders: Iterable[Order], regime: Regime) -> tuple[Order, ...]:
    """The orders of a sum that no other order of it dominates in the regime (equal ones once).

    A sum of orders grows like its dominant ones, up to constants. More than one is returned only where the comparison
    of two could not be decided.

    >>> from fsl_sym.domain import EASY
    >>> from fsl_sym.symbols import s, beta
    >>> dominant([Order(-s), Order(1 / beta - 1)], EASY)[0].power
    -1 + 1/beta
    """
    kept: list[Order] = []
    instance_of("regime", regime, Regime)
    for order in entries("orders", orders):
        instance_of("each of orders", order, Order)
        comparisons = [order.compare(rival, regime) for rival in kept]
        kept = [rival for rival, answer in zip(kept, comparisons, strict=True) if answer != 1]
        if not any(answer in (0, -1) for answer in comparisons):
            kept.append(order)
    return tuple(kept)


UNIT = Order(Integer(0), Integer(0))
"""The order of a constant."""


@dataclass(frozen=True)
class OrderRange:
    """The growth of an optimal variable: from ``lower`` to ``upper``, None where nothing bounds it on that side.

    >>> OrderRange(Order(1), Order(1)).is_point, OrderRange(Order(1), None).is_point
    (True, False)
    >>> from fsl_sym.symbols import s
    >>> OrderRange(Order(s), None).subs({s: 2}).lower.power
    2
    """

    lower: Order | None
    upper: Order | None

    def __post_init__(self) -> None:
        for name, end in (("lower", self.lower), ("upper", self.upper)):
            if end is not None:
                instance_of(name, end, Order)

    def __str__(self) -> str:
        return self.as_text(Symbol("N"))

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
        letter("base", base)
        lower, upper = (None if end is None else end.as_text(base) for end in (self.lower, self.upper))
        if lower is None:
            return "anything" if upper is None else f"at most {upper}"
        if upper is None:
            return f"at least {lower}"
        return lower if self.is_point else f"from {lower} to {upper}"

    def as_latex(self, base: Symbol) -> str:
        r"""The order or the range in LaTeX: powers of ``base`` and of its logarithm.

        >>> print(OrderRange(Order(1), None).as_latex(Symbol("D")))
        \gtrsim D
        """
        letter("base", base)
        lower, upper = (None if end is None else end.as_latex(base) for end in (self.lower, self.upper))
        if lower is None:
            return r"\text{any}" if upper is None else rf"\lesssim {upper}"
        if upper is None:
            return rf"\gtrsim {lower}"
        return lower if self.is_point else rf"\text{{from }} {lower} \text{{ to }} {upper}"

    def _repr_latex_(self) -> str:
        return f"${self._latex(None)}$"

    def _latex(self, printer: Any) -> str:
        return self.as_latex(Symbol("N", positive=True))

    def subs(self, values: Any) -> OrderRange:
        """The range with parameters replaced."""
        return OrderRange(*(None if end is None else end.subs(values) for end in (self.lower, self.upper)))
